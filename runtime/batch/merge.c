/*
 * merge: two passes over the parts: which axes are looped over in any of them, then the rows.
 */
#include "merge.h"

#include "../../base/file.h"
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

/* What spreadsheets take for the beginning of a formula; the last ones are the wide forms of the first ones. */
static const char *const FORMULA[] =
    {"=", "+", "-", "@", "\t", "\r", "\n", "\xEF\xBC\x9D", "\xEF\xBC\x8B", "\xEF\xBC\x8D", "\xEF\xBC\xA0"};

/*
 * Names of files are anybody's text.  One that a spreadsheet would run gets an apostrophe in front, which a
 * spreadsheet takes for text, and so does one that begins with an apostrophe, so that the first one can be taken off.
 */
static void put_image(Merged *m, const char *image)
{
    bool plain = strpbrk(image, ",;\t\"\r\n") == NULL, runs = image[0] == '\'';
    for (size_t i = 0; i < sizeof FORMULA / sizeof *FORMULA; i++) {
        runs = runs || strncmp(image, FORMULA[i], strlen(FORMULA[i])) == 0;
    }
    fputs(plain ? "" : "\"", m->to);
    fputs(runs ? "'" : "", m->to);
    for (; *image != '\0'; image++) {
        fputs(*image == '"' ? "\"\"" : "", m->to);
        if (*image != '"') {
            putc(*image, m->to);
        }
    }
    fputs(plain ? "" : "\"", m->to);
}

static void put_header(Merged *m, const char *columns, size_t n)
{
    fputs("image", m->to);
    for (int i = 0; i < LOOPS; i++) {
        if (m->looped[i]) {
            fprintf(m->to, ",%s", LOOP_NAMES[i]);
        }
    }
    fprintf(m->to, ",%.*s\n", (int)n, columns);
}

/* The rows from `line`, a line end, on.  They begin with a number for each axis in `looped`; what
 * another part has and this one has not is 0. */
static void put_rows(Merged *m, const char *image, const char *line, const bool looped[LOOPS])
{
    while (*line == '\n' && line[1] != '\0') {
        line++;
        put_image(m, image);
        for (int i = 0; i < LOOPS; i++) {
            size_t n = looped[i] ? strcspn(line, ",\n") : 0;
            if (m->looped[i]) {
                fprintf(m->to, ",%.*s", looped[i] ? (int)n : 1, looped[i] ? line : "0");
            }
            line += n + (looped[i] && line[n] == ',');
        }
        size_t rest = strcspn(line, "\n");
        fprintf(m->to, ",%.*s\n", (int)rest, line);
        line += rest;
    }
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
        put_header(m, header, n);
    }
    if (strlen(*columns) != n || strncmp(*columns, header, n) != 0) {
        return err_set(err, CODE_OUTPUT, "'%s' has other columns than the tables before it", part->text);
    }
    put_rows(m, part->image, header + n, looped);
    return true;
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

bool merge_tables(const char *path, const MergePart *parts, int n, Err *err)
{
    Merged m = {.path = path};
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

bool merge_values(const char *path, const char *header, const MergePart *parts, int n, Err *err)
{
    Merged m = {.path = path};
    TRY(begin(&m, err));
    for (int p = 0; p < n; p++) {
        for (int i = 0; i < LOOPS && parts[p].text[i] != '\0'; i++) {
            m.looped[i] = m.looped[i] || parts[p].text[i] == '1';
        }
    }
    put_header(&m, header, strlen(header));
    for (int p = 0; p < n; p++) {
        const bool all[LOOPS] = {true, true, true};
        put_rows(&m, parts[p].image, parts[p].text + strcspn(parts[p].text, "\n"), all);
    }
    return end(&m, true, err);
}
