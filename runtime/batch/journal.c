/*
 * journal: lines of fields, separated by tabs:
 *
 *     pipec-journal  3  KEY
 *     done  NAMES  2  /plate/A01.tif  STAMP  CONTENT  /flat.tif  STAMP  CONTENT  1  A01_labels.tif  STAMP  CONTENT  VALUES  .
 *
 * Inputs have the name that they have from everywhere, outputs below the journal's folder the one that they have from there,
 * so that results can be moved.  NAMES is a digest of the names that the image's outputs should have.
 * Tab, newline and backslash inside a field are escaped.  The dot ends a whole line: one that was
 * cut off when the machine went down is passed over.
 */
#define _XOPEN_SOURCE 700 /* realpath */
#include "journal.h"

#include "../../base/file.h"
#include "fields.h"
#include "../files/file_state.h"
#include "../files/image_path.h"
#include "../host/stopwatch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Syncing each record would be most of the time of small images. */
static const uint64_t SYNC_NS = 1000000000u;

/* What names of journals have at their ends, and those of shards before it (batch_list.c). */
static const char ENDING[] = ".journal", SHARD[] = ".shard-";

enum { HEAD = 100 /* characters of the first line */, FILE_FIELDS = 3 };

typedef struct Record {
    char **fields; /* after "done" */
    int n, order;
} Record;

/* An input that many images share is read once. */
typedef struct Shared {
    char *path;
    FileState state;
} Shared;

struct Journal {
    int fd;
    char *path, *text;
    char folder[PATH_MAX]; /* the one that it is in, with a slash, from everywhere; "" where nobody knows */
    char **fields;         /* of all records, into text */
    Record *records;
    int n;
    bool cut_off; /* the last line has no end */
    bool looks;   /* and does not write */
    uint64_t synced;
    pthread_mutex_t lock; /* of what is shared, and of appending */
    Shared *shared;       /* by input, from the second on */
    int n_shared;
};

/* ---- names and states ------------------------------------------------------------------- */

/* The folder that a path leads to with its slash, and the name in it, whatever links and dots are on the way. */
static bool real_place(const char *path, char to[PATH_MAX])
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    size_t n = (size_t)(name - path);
    if (n >= sizeof folder) {
        return false;
    }
    snprintf(folder, sizeof folder, "%.*s", n > 0 ? (int)n : 1, n > 0 ? path : ".");
    if (realpath(folder, to) == NULL) {
        return false;
    }
    size_t length = strlen(to);
    length -= to[length - 1] == '/'; /* of the root */
    return snprintf(to + length, PATH_MAX - length, "/%s", name) < (int)(PATH_MAX - length);
}

enum { INPUT_NAME = PATH_MAX + IMAGE_PART_BYTES + 2 };

/* "/home/me/plate/m31.fits[ERR]", also where the file is reached through a link. */
static void input_name(const char *path, char to[INPUT_NAME])
{
    char real[PATH_MAX];
    ImagePath image;
    bool known = image_path(path, &image) && realpath(image.file, real) != NULL;
    bool part = known && image.part[0] != '\0';
    snprintf(to, INPUT_NAME, "%s%s%s%s", known ? real : path, part ? "[" : "", part ? image.part : "", part ? "]" : "");
}

/* `real` has room for PATH_MAX bytes. */
static const char *output_name(const Journal *journal, const char *path, char *real)
{
    size_t n = strlen(journal->folder);
    bool known = n > 0 && real_place(path, real);
    return !known ? path : strncmp(real, journal->folder, n) == 0 ? real + n : real;
}

/* A path to open, from a name that output_name gave. */
static void output_path(const Journal *journal, const char *name, char *path, size_t size)
{
    snprintf(path, size, "%s%s", name[0] == '/' ? "" : journal->folder, name);
}

static void names_of(const Journal *journal, const JournalImage *image, char names[DIGEST_TEXT])
{
    char real[PATH_MAX];
    Digest digest;
    digest_begin(&digest);
    for (int i = 0; i < image->n_outputs; i++) {
        digest_add_text(&digest, image->outputs[i] != NULL ? output_name(journal, image->outputs[i], real) : NULL);
    }
    digest_end(&digest, names);
}

static void put_state(FILE *to, const FileState *state)
{
    fprintf(to, "%s\t%s\t", state->stamp, state->content);
}

static bool find_shared(Journal *journal, int i, const char *path, FileState *out)
{
    const Shared *s = i < journal->n_shared ? &journal->shared[i] : NULL;
    bool known = s != NULL && s->path != NULL && strcmp(s->path, path) == 0 && s->state.stamp[0] != '\0' &&
                 strcmp(s->state.stamp, out->stamp) == 0;
    if (known) {
        *out = s->state;
    }
    return known;
}

/* Without memory it is read again. */
static void keep_shared(Journal *journal, int i, const char *path, const FileState *state)
{
    if (i >= journal->n_shared) {
        Shared *more = realloc(journal->shared, (size_t)(i + 1) * sizeof *more);
        if (more == NULL) {
            return;
        }
        memset(more + journal->n_shared, 0, (size_t)(i + 1 - journal->n_shared) * sizeof *more);
        journal->shared = more;
        journal->n_shared = i + 1;
    }
    free(journal->shared[i].path);
    journal->shared[i] = (Shared){strdup(path), *state};
}

/* State of an input; those from the second on are often the same for many images. */
static bool input_state(Journal *journal, int i, const char *path, FileState *out)
{
    if (i == 0) { /* where the stamp proves something, the content is that of the bytes that will be read */
        out->content[0] = '\0';
        return file_state_stamp(path, out->stamp) && (out->stamp[0] != '\0' || file_state_content(path, out->content));
    }
    (void)pthread_mutex_lock(&journal->lock);
    bool ok = file_state_stamp(path, out->stamp);
    if (ok && !find_shared(journal, i - 1, path, out)) {
        ok = file_state_content(path, out->content);
        keep_shared(journal, i - 1, path, out);
    }
    (void)pthread_mutex_unlock(&journal->lock);
    return ok;
}

/* "NAMES \t 2 \t /plate/A01.tif \t ..." */
char *journal_begin(Journal *journal, const JournalImage *image)
{
    char *text = NULL, names[DIGEST_TEXT];
    size_t size;
    FILE *to = open_memstream(&text, &size);
    if (to == NULL) {
        return NULL;
    }
    names_of(journal, image, names);
    fprintf(to, "%s\t%d\t", names, image->n_inputs);
    bool ok = true;
    for (int i = 0; ok && i < image->n_inputs; i++) {
        FileState state;
        ok = input_state(journal, i, image->inputs[i], &state);
        if (ok) {
            char name[INPUT_NAME];
            input_name(image->inputs[i], name);
            fields_put(to, name);
            put_state(to, &state);
        }
    }
    if (fclose(to) != 0 || !ok) {
        free(text);
        return NULL;
    }
    return text;
}

char *journal_read(const JournalImage *image, char *begun, const char *content)
{
    char stamp[DIGEST_TEXT];
    const char *field = begun, *end;
    for (int i = 0; field != NULL && i < 3; i++) { /* behind names, count and the input's name */
        field = strchr(field, '\t');
        field += field != NULL;
    }
    end = field != NULL ? strchr(field, '\t') : NULL;
    bool open = end != NULL && end > field && end[1] == '\t',
         same = open && file_state_stamp(image->inputs[0], stamp) && strlen(stamp) == (size_t)(end - field) &&
                strncmp(stamp, field, (size_t)(end - field)) == 0;
    if (!same) {
        return begun;
    }
    size_t before = (size_t)(end + 1 - begun), size = strlen(begun) + strlen(content) + 1;
    char *text = malloc(size);
    if (text != NULL) {
        snprintf(text, size, "%.*s%s%s", (int)before, begun, content, end + 1);
    }
    free(begun);
    return text;
}

/* ---- reading --------------------------------------------------------------------------- */

/* By the first input, and then by the names of the outputs; the last one of those counts. */
static int compare_records(const void *a, const void *b)
{
    const Record *p = a, *q = b;
    int order = strcmp(p->fields[2], q->fields[2]);
    order = order != 0 ? order : strcmp(p->fields[0], q->fields[0]);
    return order != 0 ? order : p->order - q->order;
}

/* The count in a field, and whether so many files fit between it and the last field. */
static bool count_of_files(const Record *r, int at, int *count)
{
    *count = at < r->n ? atoi(r->fields[at]) : -1;
    return *count >= 0 && *count <= (r->n - at) / FILE_FIELDS;
}

/* True when the counts in a record fit its fields. */
static bool record_is_whole(const Record *r)
{
    int inputs, outputs;
    return r->n > 0 && strcmp(r->fields[r->n - 1], ".") == 0 && count_of_files(r, 1, &inputs) && inputs > 0 &&
           count_of_files(r, 2 + FILE_FIELDS * inputs, &outputs) && 3 + FILE_FIELDS * (inputs + outputs) + 2 == r->n;
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
        int n = fields_split(line, next, room);
        Record r = {next + 1, n - 1, j->n};
        if (strcmp(next[0], "done") == 0 && record_is_whole(&r)) {
            j->records[j->n++] = r;
        }
        next += n;
    }
    qsort(j->records, (size_t)j->n, sizeof *j->records, compare_records);
}

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
        return err_set(
            err, CODE_USAGE,
            "'%s' was written by another version of the pipeline, or with other parameters; without --resume "
            "everything is done again",
            j->path);
    }
    read_records(j, j->text + strlen(head));
    return true;
}

/* ---- opening --------------------------------------------------------------------------- */

/* The records of one journal that are whole. */
static bool copy_records(const char *path, const char *head, FILE *to, Err *err)
{
    char *text;
    size_t size;
    TRY(file_read(path, &text, &size, err));
    bool ok = strncmp(text, head, strlen(head)) == 0 ||
              err_set(err, CODE_USAGE, "'%s' is the journal of another batch", path);
    for (char *line = text + strcspn(text, "\n"), *end; ok && *line == '\n'; line = end) {
        end = line + 1 + strcspn(line + 1, "\n");
        if (*end == '\n') {
            fwrite(line + 1, 1, (size_t)(end - line), to);
        }
    }
    free(text);
    return ok;
}

/* Appends what others have left in the folder that do the same images: the whole batch, or its shards when they were of
 * another number. */
static void copy_others(const Journal *j, const char *head, FILE *to)
{
    const char *slash = strrchr(j->path, '/'), *own = slash != NULL ? slash + 1 : j->path, *mark = strstr(own, SHARD);
    const size_t n = mark != NULL ? (size_t)(mark - own) : strlen(own) - strlen(ENDING);
    const char *of = mark != NULL ? strstr(mark, "-of-") : NULL;
    char path[PATH_MAX];
    DIR *folder = opendir(j->folder);
    for (struct dirent *e; folder != NULL && (e = readdir(folder)) != NULL;) {
        const size_t length = strlen(e->d_name);
        bool alike = length >= n + strlen(ENDING) && strncmp(e->d_name, own, n) == 0 && strcmp(e->d_name, own) != 0 &&
                     strcmp(e->d_name + length - strlen(ENDING), ENDING) == 0 &&
                     (e->d_name[n] == '.' && (e->d_name + n == e->d_name + length - strlen(ENDING) ||
                                              strncmp(e->d_name + n, SHARD, strlen(SHARD)) == 0));
        bool now = of != NULL && strstr(e->d_name, of) != NULL; /* others of this run have other images */
        Err err = {0};
        if (alike && !now && snprintf(path, sizeof path, "%s%s", j->folder, e->d_name) < (int)sizeof path) {
            (void)copy_records(path, head, to, &err);
        }
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
}

/* A new journal; of a run that resumes it begins with what others have left. */
static bool write_head(Journal *j, const char *head, bool resume, size_t *size, Err *err)
{
    char *text = NULL;
    FILE *to = open_memstream(&text, size);
    bool ok = to != NULL && fputs(head, to) >= 0;
    if (ok && resume) {
        copy_others(j, head, to);
    }
    ok = (to == NULL || fclose(to) == 0) && ok;
    ok = ok ? (ftruncate(j->fd, 0) == 0 && file_put(j->fd, text, *size)) ||
                  file_err_set(err, CODE_OUTPUT, "write", j->path, errno)
            : err_set(err, CODE_MEMORY, "out of memory for '%s'", j->path);
    free(text);
    return ok;
}

static bool begin(Journal *j, const char *head, bool resume, Err *err)
{
    struct stat st;
    if (fstat(j->fd, &st) != 0) {
        return file_err_set(err, CODE_OUTPUT, "read", j->path, errno);
    }
    size_t size = (size_t)st.st_size;
    TRY((resume && size > 0) || write_head(j, head, resume, &size, err));
    if (!resume) {
        return true;
    }
    TRY(read_journal(j, size, head, err));
    /* a line that was cut off must not swallow the next */
    return !j->cut_off || file_put(j->fd, "\n", 1) || file_err_set(err, CODE_OUTPUT, "write", j->path, errno);
}

static void head_of(const char *key, char *head, size_t size)
{
    snprintf(head, size, "pipec-journal\t3\t%s\n", key);
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
    (void)pthread_mutex_init(&j->lock, NULL);
    if (real_place(path, j->folder)) {
        strrchr(j->folder, '/')[1] = '\0';
    } else {
        j->folder[0] = '\0';
    }
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
    j->fd = file_open_in_place(path);
    bool ok =
        j->fd >= 0 || (errno == ELOOP ? err_set(err, CODE_OUTPUT, "'%s' is a link, or no plain file; remove it", path)
                                      : file_err_set(err, CODE_OUTPUT, "write", path, errno));
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
    j->looks = true;
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

bool journal_join(const char *path, const char *key, const char *const *parts, int n, Err *err)
{
    char head[HEAD], *text = NULL;
    size_t size = 0;
    int found = 0;
    FILE *to = open_memstream(&text, &size);
    if (to == NULL) {
        return err_set(err, CODE_MEMORY, "out of memory for '%s'", path);
    }
    head_of(key, head, sizeof head);
    fputs(head, to);
    bool ok = true;
    for (int i = 0; ok && i < n; i++) {
        bool there = access(parts[i], F_OK) == 0; /* pipelines without an input have none */
        found += there;
        ok = !there || copy_records(parts[i], head, to, err);
    }
    ok = (fclose(to) == 0 || err_set(err, CODE_MEMORY, "out of memory for '%s'", path)) && ok;
    ok = ok && (found == 0 || file_write(path, text, size, err));
    free(text);
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
    for (int i = 0; i < journal->n_shared; i++) {
        free(journal->shared[i].path);
    }
    free(journal->shared);
    (void)pthread_mutex_destroy(&journal->lock);
    free(journal->path);
    free(journal->text);
    free(journal->fields);
    free(journal->records);
    free(journal);
}

/* ---- finding and adding ---------------------------------------------------------------- */

/* The last record of an image. */
static const Record *record_of(const Journal *journal, const JournalImage *image)
{
    char names[DIGEST_TEXT], count[20], input[INPUT_NAME], *fields[] = {names, count, input};
    names_of(journal, image, names);
    snprintf(count, sizeof count, "%d", image->n_inputs);
    input_name(image->inputs[0], input);
    const Record like = {.fields = fields, .order = INT_MAX};
    int lo = 0, hi = journal->n;
    while (lo < hi) { /* the first record behind those of this image */
        int middle = lo + (hi - lo) / 2;
        if (compare_records(&journal->records[middle], &like) < 0) {
            lo = middle + 1;
        } else {
            hi = middle;
        }
    }
    const Record *r = lo > 0 ? &journal->records[lo - 1] : NULL;
    bool same = r != NULL;
    for (int i = 0; same && i < 3; i++) {
        same = strcmp(r->fields[i], fields[i]) == 0;
    }
    return same ? r : NULL;
}

/* As file_state_is, but an input that many images share is read once. */
static bool input_is(Journal *journal, int i, const char *path, char *const *fields, bool *proved)
{
    char now[DIGEST_TEXT];
    FileState state;
    if (i == 0 || (file_state_stamp(path, now) && now[0] != '\0' && strcmp(now, fields[1]) == 0)) {
        return i > 0 || file_state_is(path, fields[1], fields[2], proved);
    }
    *proved = false;
    return input_state(journal, i, path, &state) && state.content[0] != '\0' && strcmp(state.content, fields[2]) == 0;
}

static JournalFate compare_files(Journal *journal, const JournalImage *image, const Record *r, bool *proved)
{
    for (int i = 0; i < image->n_inputs; i++) {
        if (!input_is(journal, i, image->inputs[i], r->fields + 2 + FILE_FIELDS * i, proved)) {
            return JOURNAL_OTHER_INPUT;
        }
    }
    int at = 2 + FILE_FIELDS * image->n_inputs, outputs = atoi(r->fields[at]);
    for (int i = 0; i < outputs; i++) {
        char path[2 * PATH_MAX];
        char *const *fields = r->fields + at + 1 + FILE_FIELDS * i;
        output_path(journal, fields[0], path, sizeof path);
        if (!file_state_is(path, fields[1], fields[2], proved)) {
            return JOURNAL_OTHER_OUTPUT;
        }
    }
    return JOURNAL_DONE;
}

/* The stamps of now; NULL when the first input has another content by now, too. */
static char *begin_again(Journal *journal, const JournalImage *image, const Record *r)
{
    char content[DIGEST_TEXT], *begun = journal_begin(journal, image);
    if (begun != NULL && file_state_content(image->inputs[0], content) && strcmp(content, r->fields[4]) == 0) {
        return journal_read(image, begun, content);
    }
    free(begun);
    return NULL;
}

/* Takes down once more what was found. */
static void add_again(Journal *journal, const JournalImage *image, const Record *r, const char *values)
{
    int at = 2 + FILE_FIELDS * image->n_inputs, n = atoi(r->fields[at]);
    char *begun = begin_again(journal, image, r), **files = calloc((size_t)n + 1, sizeof *files);
    bool ok = begun != NULL && files != NULL;
    for (int i = 0; ok && i < n; i++) {
        const char *name = r->fields[at + 1 + FILE_FIELDS * i];
        size_t size = strlen(journal->folder) + strlen(name) + 1;
        ok = (files[i] = malloc(size)) != NULL;
        if (ok) {
            output_path(journal, name, files[i], size);
        }
    }
    if (ok) {
        Err ignored = {0}; /* it costs time only */
        (void)journal_add(journal, begun, (const char *const *)files, n, values, &ignored);
        err_clear(&ignored);
    }
    for (int i = 0; files != NULL && i < n; i++) {
        free(files[i]);
    }
    free(files);
    free(begun);
}

JournalFate journal_find(Journal *journal, const JournalImage *image, const char **values)
{
    const Record *r = record_of(journal, image);
    bool proved = true;
    JournalFate fate = r == NULL ? JOURNAL_NEW : compare_files(journal, image, r, &proved);
    if (fate == JOURNAL_DONE) {
        *values = r->fields[r->n - 2];
        if (!proved && !journal->looks) {
            add_again(journal, image, r, *values);
        }
    }
    return fate;
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

/* Fields of a file that was written; what is gone again has no content, and counts as changed. */
static void put_output(FILE *to, const Journal *journal, const char *path)
{
    char real[PATH_MAX];
    FileState state;
    if (!file_state(path, &state)) {
        state = (FileState){.stamp = ""};
    }
    fields_put(to, output_name(journal, path, real));
    put_state(to, &state);
}

bool journal_add(Journal *journal, const char *begun, const char *const *files, int n, const char *values, Err *err)
{
    char *line = NULL;
    size_t size;
    if (begun == NULL) {
        return true;
    }
    FILE *to = open_memstream(&line, &size);
    if (to != NULL) {
        fprintf(to, "done\t%s%d\t", begun, n);
        for (int i = 0; i < n; i++) {
            put_output(to, journal, files[i]);
        }
        fields_put(to, values);
        fputs(".\n", to);
    }
    if (to == NULL || fclose(to) != 0) {
        free(line);
        return err_set(err, CODE_MEMORY, "out of memory for '%s'", journal->path);
    }
    (void)pthread_mutex_lock(&journal->lock);
    bool ok = file_put(journal->fd, line, size) && sync_sometimes(journal);
    int error = errno;
    (void)pthread_mutex_unlock(&journal->lock);
    free(line);
    return ok || file_err_set(err, CODE_OUTPUT, "write", journal->path, error);
}
