/*
 * csv: tables as text, through a buffer into a temporary file that is renamed at the end.
 *
 * Nothing is quoted: names of columns are words, the rest is numbers.  A failure to write is kept
 * and reported once, by the call that notices it.
 */
#include "csv.h"

#include "../../base/file.h"
#include "../host/decimal.h"
#include "../host/stopwatch.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_BYTES = 4096, BUFFER_BYTES = 1 << 16 };

struct CsvWriter {
    char path[PATH_BYTES], temp[PATH_BYTES];
    int fd;
    int error;    /* errno of the first failure */
    int columns;  /* of the header, front included; -1: no header yet */
    size_t n;
    char buffer[BUFFER_BYTES];
};

static void flush(CsvWriter *writer)
{
    Phase before = stopwatch_begin(PHASE_WRITE);
    if (writer->error == 0 && !file_put(writer->fd, writer->buffer, writer->n)) {
        writer->error = errno;
    }
    writer->n = 0;
    stopwatch_end(before);
}

static void put(CsvWriter *writer, const char *text, size_t n)
{
    while (n > 0) {
        size_t room = BUFFER_BYTES - writer->n, part = n < room ? n : room;
        memcpy(writer->buffer + writer->n, text, part);
        writer->n += part;
        text += part;
        n -= part;
        if (writer->n == BUFFER_BYTES) {
            flush(writer);
        }
    }
}

static void put_number(CsvWriter *writer, double value, bool integer)
{
    char text[DECIMAL_BYTES];
    if (!isnan(value)) {
        put(writer, text, decimal_shortest(integer ? nearbyint(value) : value, text));
    }
}

/* A comma before every field but the first, LF after the last. */
static void separate(CsvWriter *writer, int column, int columns)
{
    put(writer, column + 1 < columns ? "," : "\n", 1);
}

static void put_header(CsvWriter *writer, const PrimTable *table, const CsvColumn *front,
                       int n_front)
{
    writer->columns = n_front + table->columns;
    for (int i = 0; i < writer->columns; i++) {
        const char *name = i < n_front ? front[i].name : table->names[i - n_front];
        put(writer, name, strlen(name));
        separate(writer, i, writer->columns);
    }
}

static bool write_error(CsvWriter *writer, Err *err)
{
    return writer->error == 0 ||
           file_err_set(err, CODE_OUTPUT, "write", writer->path, writer->error);
}

bool csv_open(const char *path, CsvWriter **out, Err *err)
{
    *out = NULL;
    CsvWriter *writer = malloc(sizeof *writer);
    if (writer == NULL || strlen(path) >= sizeof writer->path) {
        bool memory = writer == NULL;
        free(writer);
        return file_err_set(err, CODE_OUTPUT, "write", path, memory ? ENOMEM : ENAMETOOLONG);
    }
    strcpy(writer->path, path);
    writer->error = 0;
    writer->columns = -1;
    writer->n = 0;
    if (!file_temp(path, writer->temp, sizeof writer->temp, &writer->fd, err)) {
        free(writer);
        return false;
    }
    *out = writer;
    return true;
}

bool csv_rows(CsvWriter *writer, const PrimTable *table, const CsvColumn *front, int n_front,
              Err *err)
{
    if (writer->columns < 0) {
        put_header(writer, table, front, n_front);
    }
    assert(writer->columns == n_front + table->columns);
    for (int64_t row = 0; row < table->rows; row++) {
        for (int i = 0; i < writer->columns; i++) {
            int column = i - n_front;
            if (column >= 0) {
                put_number(writer, table->at[column * table->rows + row], table->integer[column]);
            } else {
                put_number(writer, front[i].number, false);
            }
            separate(writer, i, writer->columns);
        }
    }
    return write_error(writer, err);
}

bool csv_commit(CsvWriter *writer, Err *err)
{
    flush(writer);
    if (!write_error(writer, err)) {
        csv_abort(writer);
        return false;
    }
    Phase before = stopwatch_begin(PHASE_WRITE);
    bool ok = file_commit(writer->temp, writer->path, writer->fd, err);
    stopwatch_end(before);
    free(writer);
    return ok;
}

void csv_abort(CsvWriter *writer)
{
    if (writer != NULL) {
        file_discard(writer->temp, writer->fd);
        free(writer);
    }
}
