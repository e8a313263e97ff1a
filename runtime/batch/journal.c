/*
 * journal: lines of fields, separated by tabs:
 *
 *     pipec-journal  2  KEY
 *     done  2  A01.tif  SIZE  MTIME_NS  flat.tif  SIZE  MTIME_NS  1  out/A01_labels.tif  SIZE  VALUES  .
 *
 * Tab, newline and backslash inside a field are escaped.  The dot ends a whole line: one that was
 * cut off when the machine went down is passed over.
 */
#include "journal.h"

#include "../../base/file.h"
#include "../files/image_path.h"
#include "../host/stopwatch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Syncing each record would be most of the time of small images. */
static const uint64_t SYNC_NS = 1000000000u;

enum { HEAD = 100 }; /* characters of the first line */

typedef struct Record {
    char **fields; /* after "done" */
    int n, order;
} Record;

struct Journal {
    int fd;
    char *path, *text;
    char **fields; /* of all records, into text */
    Record *records;
    int n;
    bool cut_off; /* the last line has no end */
    uint64_t synced;
};

/* ---- fields ---------------------------------------------------------------------------- */

static void put_field(FILE *to, const char *text)
{
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '\t':
            fputs("\\t", to);
            break;
        case '\n':
            fputs("\\n", to);
            break;
        case '\\':
            fputs("\\\\", to);
            break;
        default:
            putc(*text, to);
        }
    }
    putc('\t', to);
}

static void unescape(char *text)
{
    char *to = text;
    for (; *text != '\0'; text++) {
        if (*text == '\\' && text[1] != '\0') {
            text++;
            *to++ = (char)(*text == 't' ? '\t' : *text == 'n' ? '\n' : *text);
        } else {
            *to++ = *text;
        }
    }
    *to = '\0';
}

/* Splits a line in place. */
static int split(char *line, char **fields, int room)
{
    int n = 0;
    while (n < room) {
        char *tab = strchr(line, '\t');
        fields[n++] = line;
        if (tab == NULL) {
            break;
        }
        *tab = '\0';
        line = tab + 1;
    }
    for (int i = 0; i < n; i++) {
        unescape(fields[i]);
    }
    return n;
}

/* Size and time of change of a file as fields; false when there is none. */
static bool put_file(FILE *to, const char *path)
{
    int64_t bytes, changed_ns;
    if (!image_path_stamp(path, &bytes, &changed_ns)) {
        return false;
    }
    put_field(to, path);
    fprintf(to, "%lld\t%lld\t", (long long)bytes, (long long)changed_ns);
    return true;
}

/* "2 \t A01.tif \t ..." */
char *journal_stamp(const char *const *inputs, int n)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    if (to == NULL) {
        return NULL;
    }
    fprintf(to, "%d\t", n);
    bool ok = true;
    for (int i = 0; i < n; i++) {
        ok = put_file(to, inputs[i]) && ok;
    }
    if (fclose(to) != 0 || !ok) {
        free(text);
        return NULL;
    }
    return text;
}

/* ---- reading --------------------------------------------------------------------------- */

static int compare_records(const void *a, const void *b)
{
    const Record *p = a, *q = b;
    int order = strcmp(p->fields[1], q->fields[1]);
    return order != 0 ? order : p->order - q->order;
}

/* True when the counts in a record fit its fields. */
static bool record_is_whole(const Record *r)
{
    if (r->n < 4 || strcmp(r->fields[r->n - 1], ".") != 0) {
        return false;
    }
    int inputs = atoi(r->fields[0]);
    if (inputs < 1 || inputs > r->n / 3) {
        return false;
    }
    int at = 1 + 3 * inputs;
    int outputs = at < r->n ? atoi(r->fields[at]) : -1;
    return outputs >= 0 && outputs <= r->n / 2 && at + 1 + 2 * outputs + 2 == r->n;
}

static void read_records(Journal *j, char *line)
{
    char **next = j->fields;
    for (char *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        *end = '\0';
        int room = 1;
        for (const char *c = line; *c != '\0'; c++) {
            room += *c == '\t';
        }
        int n = split(line, next, room);
        Record r = {next + 1, n - 1, j->n};
        if (strcmp(next[0], "done") == 0 && record_is_whole(&r)) {
            j->records[j->n++] = r;
        }
        next += n;
    }
    qsort(j->records, (size_t)j->n, sizeof *j->records, compare_records);
}

/* Reads through the open descriptor: closing a second one would give the lock up. */
static bool read_text(Journal *j, size_t size, Err *err)
{
    size_t done = 0;
    j->text = malloc(size + 1);
    if (j->text == NULL) {
        return err_set(err, CODE_MEMORY, "out of memory for '%s'", j->path);
    }
    while (done < size) {
        ssize_t n = pread(j->fd, j->text + done, size - done, (off_t)done);
        if (n <= 0 && !(n < 0 && errno == EINTR)) {
            return file_err_set(err, CODE_OUTPUT, "read", j->path, n < 0 ? errno : EIO);
        }
        done += n > 0 ? (size_t)n : 0;
    }
    j->text[size] = '\0';
    j->cut_off = size > 0 && j->text[size - 1] != '\n';
    return true;
}

static bool read_journal(Journal *j, size_t size, const char *head, Err *err)
{
    size_t fields = 1, lines = 1;
    TRY(read_text(j, size, err));
    for (const char *c = j->text; *c != '\0'; c++) {
        fields += *c == '\t' || *c == '\n';
        lines += *c == '\n';
    }
    j->fields = malloc(fields * sizeof *j->fields);
    j->records = malloc(lines * sizeof *j->records);
    if (j->fields == NULL || j->records == NULL) {
        return err_set(err, CODE_MEMORY, "out of memory for '%s'", j->path);
    }
    if (strncmp(j->text, head, strlen(head)) != 0) {
        return err_set(err, CODE_USAGE,
                       "'%s' was written by another version of the pipeline, with other parameters or, where "
                       "names have {index}, for other images; without --resume everything is done again",
                       j->path);
    }
    read_records(j, j->text + strlen(head));
    return true;
}

/* ---- opening --------------------------------------------------------------------------- */

static bool lock(const Journal *j, Err *err)
{
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(j->fd, F_SETLK, &all) == 0 || (errno != EACCES && errno != EAGAIN)) {
        return true; /* some network file systems have no locks */
    }
    return err_set(err, CODE_USAGE, "another run is writing to the same folder; see '%s'", j->path);
}

static bool begin(Journal *j, const char *head, bool resume, Err *err)
{
    struct stat st;
    TRY(lock(j, err));
    if (fstat(j->fd, &st) != 0) {
        return file_err_set(err, CODE_OUTPUT, "read", j->path, errno);
    }
    if (resume && st.st_size > 0) {
        TRY(read_journal(j, (size_t)st.st_size, head, err));
        /* a line that was cut off must not swallow the next */
        return !j->cut_off || file_put(j->fd, "\n", 1) ||
               file_err_set(err, CODE_OUTPUT, "write", j->path, errno);
    }
    if (ftruncate(j->fd, 0) != 0 || !file_put(j->fd, head, strlen(head))) {
        return file_err_set(err, CODE_OUTPUT, "write", j->path, errno);
    }
    return true;
}

static void head_of(const char *key, char *head, size_t size)
{
    snprintf(head, size, "pipec-journal\t2\t%s\n", key);
}

static Journal *journal_new(const char *path, Err *err)
{
    Journal *j = calloc(1, sizeof *j);
    if (j == NULL || (j->path = strdup(path)) == NULL) {
        free(j);
        err_set(err, CODE_MEMORY, "out of memory for '%s'", path);
        return NULL;
    }
    j->fd = -1;
    return j;
}

bool journal_open(const char *path, const char *key, bool resume, Journal **out, Err *err)
{
    char head[HEAD];
    head_of(key, head, sizeof head);
    Journal *j = *out = journal_new(path, err);
    if (j == NULL) {
        return false;
    }
    j->fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    bool ok = j->fd >= 0 || file_err_set(err, CODE_OUTPUT, "write", path, errno);
    if (!ok || !begin(j, head, resume, err)) {
        journal_close(j);
        *out = NULL;
        return false;
    }
    return true;
}

bool journal_look(const char *path, const char *key, Journal **out, Err *err)
{
    char head[HEAD];
    struct stat st;
    head_of(key, head, sizeof head);
    Journal *j = *out = journal_new(path, err);
    if (j == NULL) {
        return false;
    }
    j->fd = open(path, O_RDONLY | O_CLOEXEC);
    bool missing = j->fd < 0 && (errno == ENOENT || errno == ENOTDIR);
    bool ok = missing || (j->fd >= 0 && fstat(j->fd, &st) == 0) || file_err_set(err, CODE_FILES, "read", path, errno);
    ok = ok && (missing || st.st_size == 0 || read_journal(j, (size_t)st.st_size, head, err));
    if (!ok || missing) {
        journal_close(j);
        *out = NULL;
    }
    return ok;
}

void journal_close(Journal *journal)
{
    if (journal == NULL) {
        return;
    }
    if (journal->fd >= 0) {
        close(journal->fd);
    }
    free(journal->path);
    free(journal->text);
    free(journal->fields);
    free(journal->records);
    free(journal);
}

/* ---- finding and adding ---------------------------------------------------------------- */

static const Record *last_record(const Journal *journal, const char *input)
{
    int lo = 0, hi = journal->n;
    while (lo < hi) { /* the first record behind those of this input */
        int middle = lo + (hi - lo) / 2;
        if (strcmp(journal->records[middle].fields[1], input) <= 0) {
            lo = middle + 1;
        } else {
            hi = middle;
        }
    }
    const Record *r = lo > 0 ? &journal->records[lo - 1] : NULL;
    return r != NULL && strcmp(r->fields[1], input) == 0 ? r : NULL;
}

/* True when the record's inputs are those that `text` describes, a field before each tab. */
static bool same_inputs(const Record *r, char *text, int n)
{
    for (int i = 0; i < 1 + 3 * n; i++) {
        char *field = text, *tab = strchr(text, '\t');
        *tab = '\0';
        text = tab + 1;
        unescape(field);
        if (strcmp(field, r->fields[i]) != 0) {
            return false;
        }
    }
    return true;
}

/* False for an output that is gone or cut off, shorter than it was written.  What has grown is somebody's work. */
static bool is_whole(const char *output, const char *bytes)
{
    struct stat st;
    return stat(output, &st) == 0 && S_ISREG(st.st_mode) && st.st_size >= strtoll(bytes, NULL, 10);
}

bool journal_find(const Journal *journal, const char *const *inputs, int n, const char **values)
{
    const Record *r = last_record(journal, inputs[0]);
    char *text = r != NULL && atoi(r->fields[0]) == n ? journal_stamp(inputs, n) : NULL;
    bool found = text != NULL && same_inputs(r, text, n);
    free(text);
    if (!found) {
        return false;
    }
    int at = 1 + 3 * n, outputs = atoi(r->fields[at]);
    for (int i = 0; i < outputs; i++) {
        if (!is_whole(r->fields[at + 1 + 2 * i], r->fields[at + 2 + 2 * i])) {
            return false;
        }
    }
    *values = r->fields[at + 1 + 2 * outputs];
    return true;
}

static bool sync_sometimes(Journal *journal)
{
    uint64_t now = stopwatch_now();
    if (now - journal->synced < SYNC_NS) {
        return true;
    }
    journal->synced = now;
    return fdatasync(journal->fd) == 0;
}

bool journal_add(Journal *journal, const char *stamp, const char *const *outputs, int n_outputs,
                 const char *values, Err *err)
{
    char *line = NULL;
    size_t size;
    if (stamp == NULL) {
        return true;
    }
    FILE *to = open_memstream(&line, &size);
    if (to != NULL) {
        fprintf(to, "done\t%s%d\t", stamp, n_outputs);
        for (int i = 0; i < n_outputs; i++) {
            struct stat st;
            put_field(to, outputs[i]);
            fprintf(to, "%lld\t", stat(outputs[i], &st) == 0 ? (long long)st.st_size : 0);
        }
        put_field(to, values);
        fputs(".\n", to);
    }
    if (to == NULL || fclose(to) != 0) {
        free(line);
        return err_set(err, CODE_MEMORY, "out of memory for '%s'", journal->path);
    }
    bool ok = file_put(journal->fd, line, size) && sync_sometimes(journal);
    free(line);
    return ok || file_err_set(err, CODE_OUTPUT, "write", journal->path, errno);
}
