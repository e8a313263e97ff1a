/*
 * merge_zarr: what table_zarr.c writes is read back from the chunks of its arrays, which have the same names in both versions
 * of zarr.  Nothing in a folder is believed: the lengths of its arrays must agree.
 */
#include "merge_zarr.h"

#include "../../base/file.h"
#include "../files/image_format.h"
#include "../host/decimal.h"
#include "frames.h"
#include "table_zarr.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

typedef struct Part {
    char (*names)[64]; /* of columns */
    int columns;
    int64_t rows;
    bool looped[LOOPS];
    double *numbers;        /* [row][column] */
    int64_t *labels;        /* by row */
    int64_t *places[LOOPS]; /* by row: frame, channel, z; NULL: not looped over */
} Part;

static void part_free(Part *part)
{
    for (int i = 0; i < LOOPS; i++) {
        free(part->places[i]);
    }
    free(part->names);
    free(part->numbers);
    free(part->labels);
}

static bool no_memory(const char *path, Err *err)
{
    return err_set(err, CODE_MEMORY, "out of memory for '%s'", path);
}

static bool is_other(const char *folder, Err *err)
{
    return err_set(err, CODE_OUTPUT,
                   "'%s' is no table that was written by pipec on such a computer; without --resume it is "
                   "written again",
                   folder);
}

/* ---- reading --------------------------------------------------------------------------- */

static bool has(const char *folder, const char *name)
{
    char path[PATH_BYTES];
    return snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path && access(path, F_OK) == 0;
}

/* The only chunk of an array, which an array without elements lacks; *data is owned by the caller (free). */
static bool read_chunk(const char *folder, const char *name, void **data, size_t *size, Err *err)
{
    char path[PATH_BYTES], *text;
    *data = NULL;
    *size = 0;
    if (!has(folder, name)) {
        return true;
    }
    snprintf(path, sizeof path, "%s/%s", folder, name);
    TRY(file_read(path, &text, size, err));
    *data = text;
    return true;
}

static size_t take_count(const unsigned char *at)
{
    return at[0] | (size_t)at[1] << 8 | (size_t)at[2] << 16 | (size_t)at[3] << 24;
}

/* The texts of an array: how many, and each behind its length. */
static bool take_names(Part *part, const unsigned char *data, size_t size)
{
    size_t n = size >= 4 ? take_count(data) : 0, at = 4;
    if (n > size / 4) {
        return false;
    }
    part->names = calloc(n + 1, sizeof *part->names);
    part->columns = (int)n;
    for (size_t i = 0; part->names != NULL && i < n; i++) {
        size_t length = at + 4 <= size ? take_count(data + at) : sizeof *part->names;
        if (length >= sizeof *part->names || length > size - at - 4) {
            return false;
        }
        memcpy(part->names[i], data + at + 4, length);
        at += 4 + length;
    }
    return part->names != NULL;
}

/* The columns of a part, and which numbers of frames it has. */
static bool read_columns(const char *folder, Part *part, Err *err)
{
    void *data;
    size_t size;
    char name[40];
    TRY((has(folder, "var") && has(folder, "obs/label")) || is_other(folder, err));
    TRY(read_chunk(folder, "var/_index/0", &data, &size, err));
    bool ok = take_names(part, data, size) || is_other(folder, err);
    free(data);
    for (int i = 0; i < LOOPS; i++) {
        snprintf(name, sizeof name, "obs/%s", LOOP_NAMES[i]);
        part->looped[i] = has(folder, name);
    }
    return ok;
}

static bool read_rows(const char *folder, Part *part, Err *err)
{
    void *data;
    size_t size, of;
    char name[40];
    TRY(read_chunk(folder, "obs/label/0", &data, &size, err));
    part->labels = data;
    part->rows = (int64_t)(size / sizeof *part->labels);
    TRY(read_chunk(folder, "X/0.0", &data, &of, err));
    part->numbers = data;
    bool ok = size % sizeof *part->labels == 0 && of == size * (size_t)part->columns;
    for (int i = 0; ok && i < LOOPS; i++) {
        snprintf(name, sizeof name, "obs/%s/0", LOOP_NAMES[i]);
        if (part->looped[i]) {
            TRY(read_chunk(folder, name, &data, &of, err));
            part->places[i] = data;
            ok = of == size;
        }
    }
    return ok || is_other(folder, err);
}

/* ---- joining --------------------------------------------------------------------------- */

static bool same_columns(const Part *a, const Part *b)
{
    bool same = a->columns == b->columns;
    for (int i = 0; same && i < a->columns; i++) {
        same = strcmp(a->names[i], b->names[i]) == 0;
    }
    return same;
}

/* The columns of all parts: those of the first one, and numbers of frames where one of them has some. */
static bool find_columns(const MergePart *parts, int n, Part *all, Err *err)
{
    TRY(read_columns(parts[0].text, all, err));
    for (int p = 1; p < n; p++) {
        Part part = {0};
        bool ok = read_columns(parts[p].text, &part, err);
        ok = ok && (same_columns(all, &part) ||
                    err_set(err, CODE_OUTPUT, "'%s' has other columns than the tables before it", parts[p].text));
        for (int i = 0; i < LOOPS; i++) {
            all->looped[i] = all->looped[i] || part.looped[i];
        }
        part_free(&part);
        TRY(ok);
    }
    return true;
}

static bool append(ZarrTable *t, const MergePart *from, const Part *all, Err *err)
{
    Part part = {0};
    bool ok = read_columns(from->text, &part, err) && read_rows(from->text, &part, err);
    ok = ok && zarr_table_joins(t, from->image, from->fields, part.rows, err);
    for (int64_t row = 0; ok && row < part.rows; row++) {
        double *to = zarr_table_row(t);
        for (int i = 0; i < LOOPS; i++) {
            if (all->looped[i]) {
                *to++ = part.places[i] != NULL ? (double)part.places[i][row] : 0;
            }
        }
        for (int i = 0; i < all->columns; i++) {
            *to++ = part.numbers[row * all->columns + i];
        }
        *to = (double)part.labels[row];
    }
    part_free(&part);
    return ok;
}

bool merge_zarr(const char *path, const MergeColumns *with, const MergePart *parts, int n, Err *err)
{
    Part all = {0};
    ZarrTable *t = NULL;
    const char *front[LOOPS];
    int n_front = 0;
    bool ok = image_may_replace(path, "zarr") ||
              err_set(err, CODE_OUTPUT, "'%s' is there, and no folder of zarr; remove it", path);
    ok = ok && find_columns(parts, n, &all, err) &&
         zarr_table_open(path, has(parts[0].text, "zarr.json") ? OME_ZARR_0_5 : OME_ZARR_0_4, NULL, &t, err);
    for (int i = 0; i < LOOPS; i++) {
        if (all.looped[i]) {
            front[n_front++] = LOOP_NAMES[i];
        }
    }
    ok = ok && (zarr_table_columns(t, with->columns, front, n_front, all.names, all.columns) || no_memory(path, err));
    for (int p = 0; ok && p < n; p++) {
        ok = append(t, &parts[p], &all, err);
    }
    part_free(&all);
    if (!ok) {
        zarr_table_abort(t);
        return false;
    }
    return zarr_table_commit(t, err);
}

/* ---- as text --------------------------------------------------------------------------- */

bool merge_zarr_text(const char *folder, char **text, Err *err)
{
    Part part = {0};
    size_t size;
    *text = NULL;
    FILE *to = open_memstream(text, &size);
    bool ok =
        (to != NULL || no_memory(folder, err)) && read_columns(folder, &part, err) && read_rows(folder, &part, err);
    for (int i = 0; ok && i < part.columns; i++) {
        fprintf(to, "%s%s", i > 0 ? "," : "", part.names[i]);
    }
    for (int64_t row = 0; ok && row < part.rows; row++) {
        putc('\n', to);
        for (int i = 0; i < part.columns; i++) {
            char number[DECIMAL_BYTES];
            const double value = part.numbers[row * part.columns + i];
            decimal_shortest(value, number);
            fprintf(to, "%s%s", i > 0 ? "," : "", isnan(value) ? "" : number);
        }
    }
    if (ok) {
        putc('\n', to);
    }
    ok = (to == NULL || fclose(to) == 0 || no_memory(folder, err)) && ok;
    part_free(&part);
    return ok;
}
