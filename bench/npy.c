/*
 * npy: a header of text with the type and the extents, then the elements as they are in memory.  No
 * machine that has both OpenCL and numpy is big-endian.
 */
#include "npy.h"

#include "runtime/batch/results.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PREFIX = 10, HEADER = 128 }; /* bytes: the magic and the header's length; all in front */

static FILE *open_in(const char *folder, const char *name, const char *suffix, Err *err)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s%s", folder, name, suffix);
    FILE *file = fopen(path, "wb");
    if (!file) {
        err_set(err, CODE_OUTPUT, "%s cannot be written", path);
    }
    return file;
}

/* Closes the file; false when anything of it could not be written. */
static bool closed(FILE *file, bool written, const char *name, Err *err)
{
    written = fclose(file) == 0 && written;
    return written || err_set(err, CODE_OUTPUT, "%s cannot be written", name);
}

static char kind_of(Elem elem)
{
    return elem == ELEM_F32 || elem == ELEM_F64 ? 'f' : elem_min(elem) < 0 ? 'i' : 'u';
}

bool npy_write(const char *folder, const char *name, Elem elem, const int64_t extent[4], const void *at, Err *err)
{
    static const char magic[PREFIX] = {'\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0, HEADER - PREFIX, 0};
    char header[HEADER + 1];
    memcpy(header, magic, PREFIX);
    int n_text = snprintf(header + PREFIX, sizeof header - PREFIX,
                          "{'descr': '<%c%zu', 'fortran_order': False, 'shape': (%lld, %lld, %lld, %lld)}",
                          kind_of(elem), elem_size(elem), (long long)extent[3], (long long)extent[2],
                          (long long)extent[1], (long long)extent[0]);
    assert(n_text < HEADER - PREFIX);
    memset(header + PREFIX + n_text, ' ', (size_t)(HEADER - PREFIX - n_text));
    header[HEADER - 1] = '\n';
    FILE *file = open_in(folder, name, ".npy", err);
    if (!file) {
        return false;
    }
    size_t n = (size_t)(extent[0] * extent[1] * extent[2] * extent[3]);
    bool written = fwrite(header, HEADER, 1, file) == 1 && fwrite(at, elem_size(elem), n, file) == n;
    return closed(file, written, name, err);
}

/* One row of elements for each column; what the columns are called, in a file of its own. */
static bool write_table(const char *folder, const char *name, const PrimTable *table, Err *err)
{
    TRY(npy_write(folder, name, ELEM_F64, (const int64_t[]){table->rows, table->columns, 1, 1}, table->at, err));
    FILE *file = open_in(folder, name, ".names", err);
    bool written = true;
    for (int c = 0; file && c < table->columns; c++) {
        written = fprintf(file, "%s\n", table->names[c]) > 0 && written;
    }
    return file && closed(file, written, name, err);
}

static bool write_output(const char *folder, const Results *results, int i, Err *err)
{
    const ProgOutput *output = &results->program->outputs[i];
    if (output->kind == OUT_TABLE) {
        return write_table(folder, output->name, &results->tables[output->table], err);
    }
    if (output->kind == OUT_VALUE) {
        return npy_write(folder, output->name, ELEM_F64, (const int64_t[]){1, 1, 1, 1}, &results->values[i], err);
    }
    const ExecGrid *grid = &results->grids[i];
    return npy_write(folder, output->name, results->elems[i], (const int64_t[]){grid->w, grid->h, grid->d, grid->c},
                     results->images[i], err);
}

static bool make_room(Results *results, Err *err)
{
    for (int i = 0; i < results->program->n_outputs; i++) {
        const ExecGrid *grid = &results->grids[i];
        if (results_is_image(&results->program->outputs[i])) {
            results->images[i] =
                malloc((size_t)grid->w * (size_t)grid->h * (size_t)grid->planes * elem_size(results->elems[i]));
            TRY(results->images[i] ||
                err_set(err, CODE_MEMORY, "no host memory for %s", results->program->outputs[i].name));
        }
    }
    return true;
}

bool npy_write_results(const char *folder, const Program *program, Exec *exec, Err *err)
{
    Results *results = NULL;
    bool ok = results_begin(exec, program, NULL, NULL, &results, err) && make_room(results, err) &&
              results_download(exec, results, err) && results_finish(exec, results, err);
    for (int i = 0; ok && i < program->n_outputs; i++) {
        ok = write_output(folder, results, i, err);
    }
    results_free(results);
    return ok;
}
