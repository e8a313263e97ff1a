/*
 * merge: two passes over the parts: which axes are looped over in any of them, then the rows.
 */
#include "merge.h"

#include "../../base/file.h"
#include "csv.h"
#include "frames.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

typedef struct Merged {
    const char *path;
    char temp[PATH_BYTES];
    int fd;
    FILE *to;
    bool looped[LOOPS];
    const MergeColumns *with;
} Merged;

static bool begin(Merged *m, Err *err)
{
    TRY(file_temp(m->path, m->temp, sizeof m->temp, &m->fd, err));
    int copy = dup(m->fd);
    m->to = copy < 0 ? NULL : fdopen(copy, "w");
    if (m->to == NULL) {
        file_err_set(err, CODE_OUTPUT, "write", m->path, errno);
        if (copy >= 0) {
            close(copy);
        }
        file_discard(m->temp, m->fd);
        return false;
    }
    return true;
}

static bool end(Merged *m, bool ok, Err *err)
{
    errno = 0;
    bool written = ferror(m->to) == 0;
    written = fclose(m->to) == 0 && written;
    if (ok && !written) {
        ok = file_err_set(err, CODE_OUTPUT, "write", m->path, errno != 0 ? errno : EIO);
    }
    if (!ok) {
        file_discard(m->temp, m->fd);
        return false;
    }
    return file_commit(m->temp, m->path, m->fd, err);
}

static bool put_header(Merged *m, const char *columns, size_t n, Err *err)
{
    fputs("image", m->to);
    for (int i = 0; i < m->with->columns->n; i++) {
        fprintf(m->to, ",%s", m->with->columns->names[i]);
    }
    for (int i = 0; i < LOOPS; i++) {
        if (m->looped[i]) {
            fprintf(m->to, ",%s", LOOP_NAMES[i]);
        }
    }
    fprintf(m->to, ",%.*s\n", (int)n, columns);
    return m->with->summary == NULL || summary_columns(m->with->summary, columns, n, err);
}

static bool summarise(const Merged *m, const MergePart *part, const char *row, size_t n, Err *err)
{
    const char *key[COLUMNS_MOST];
    for (int i = 0; i < m->with->n_by; i++) {
        key[i] = part->fields[m->with->by[i]];
    }
    return m->with->summary == NULL || summary_row(m->with->summary, key, row, n, err);
}

/* What all rows of a part begin with, of *n bytes; owned by the caller (free). */
static char *front_of(const Merged *m, const MergePart *part, size_t *n)
{
    char *text = NULL;
    FILE *to = open_memstream(&text, n);
    if (to == NULL) {
        return NULL;
    }
    csv_put_text(part->image, to);
    for (int i = 0; i < m->with->columns->n; i++) {
        putc(',', to);
        csv_put_text(part->fields[i], to);
    }
    if (fclose(to) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

/* The rows from `line`, a line end, on.  They begin with a number for each axis in `looped`; what
 * another part has and this one has not is 0. */
static bool put_rows(Merged *m, const MergePart *part, const char *line, const bool looped[LOOPS], Err *err)
{
    size_t n_front;
    char *front = front_of(m, part, &n_front);
    bool ok = front != NULL || err_set(err, CODE_MEMORY, "out of memory for '%s'", m->path);
    while (ok && *line == '\n' && line[1] != '\0') {
        line++;
        fwrite(front, 1, n_front, m->to);
        for (int i = 0; i < LOOPS; i++) {
            size_t n = looped[i] ? strcspn(line, ",\n") : 0;
            if (m->looped[i]) {
                fprintf(m->to, ",%.*s", looped[i] ? (int)n : 1, looped[i] ? line : "0");
            }
            line += n + (looped[i] && line[n] == ',');
        }
        size_t rest = strcspn(line, "\n");
        putc(',', m->to);
        fwrite(line, 1, rest, m->to);
        putc('\n', m->to);
        ok = summarise(m, part, line, rest, err);
        line += rest;
    }
    free(front);
    return ok;
}

/* ---- tables ---------------------------------------------------------------------------- */

/* Takes the loop columns off the front of a header. */
static const char *skip_loops(const char *header, bool looped[LOOPS])
{
    for (int i = 0; i < LOOPS; i++) {
        size_t n = strlen(LOOP_NAMES[i]);
        looped[i] = strncmp(header, LOOP_NAMES[i], n) == 0 && header[n] == ',';
        header += looped[i] ? n + 1 : 0;
    }
    return header;
}

/* Rows of one table; `columns`: the header that all tables share, "" before the first. */
static bool put_table(Merged *m, const MergePart *part, const char *text, char **columns, Err *err)
{
    bool looped[LOOPS];
    const char *header = skip_loops(text, looped);
    size_t n = strcspn(header, "\n");
    if (*columns == NULL) {
        *columns = strndup(header, n);
        if (*columns == NULL) {
            return err_set(err, CODE_MEMORY, "out of memory for '%s'", m->path);
        }
        TRY(put_header(m, header, n, err));
    }
    if (strlen(*columns) != n || strncmp(*columns, header, n) != 0) {
        return err_set(err, CODE_OUTPUT, "'%s' has other columns than the tables before it", part->text);
    }
    return put_rows(m, part, header + n, looped, err);
}

static bool find_loops(Merged *m, const MergePart *parts, int n, Err *err)
{
    for (int p = 0; p < n; p++) {
        char header[256] = "";
        bool looped[LOOPS];
        FILE *from = fopen(parts[p].text, "r");
        if (from == NULL) {
            return file_err_set(err, CODE_OUTPUT, "read", parts[p].text, errno);
        }
        if (fgets(header, sizeof header, from) == NULL) {
            header[0] = '\0';
        }
        fclose(from);
        skip_loops(header, looped);
        for (int i = 0; i < LOOPS; i++) {
            m->looped[i] = m->looped[i] || looped[i];
        }
    }
    return true;
}

bool merge_tables(const char *path, const MergeColumns *with, const MergePart *parts, int n, Err *err)
{
    Merged m = {.path = path, .with = with};
    char *columns = NULL;
    TRY(find_loops(&m, parts, n, err));
    TRY(begin(&m, err));
    bool ok = true;
    for (int p = 0; ok && p < n; p++) {
        char *text;
        size_t size;
        ok = file_read(parts[p].text, &text, &size, err);
        if (ok) {
            ok = put_table(&m, &parts[p], text, &columns, err);
            free(text);
        }
    }
    free(columns);
    return end(&m, ok, err);
}

/* ---- values ---------------------------------------------------------------------------- */

bool merge_values(const char *path, const char *header, const MergeColumns *with, const MergePart *parts, int n,
                  Err *err)
{
    Merged m = {.path = path, .with = with};
    TRY(begin(&m, err));
    for (int p = 0; p < n; p++) {
        for (int i = 0; i < LOOPS && parts[p].text[i] != '\0'; i++) {
            m.looped[i] = m.looped[i] || parts[p].text[i] == '1';
        }
    }
    bool ok = put_header(&m, header, strlen(header), err);
    for (int p = 0; p < n && ok; p++) {
        const bool all[LOOPS] = {true, true, true};
        ok = put_rows(&m, &parts[p], parts[p].text + strcspn(parts[p].text, "\n"), all, err);
    }
    return end(&m, ok, err);
}
