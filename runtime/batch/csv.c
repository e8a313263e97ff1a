/*
 * csv: tables as text, through a buffer into a temporary file that is renamed at the end.  Rows become text
 * in pieces, by several threads: a table may have a hundred million numbers.
 *
 * Nothing but names of files is quoted: names of columns are words, the rest is numbers.  A failure to write is kept
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

enum { PATH_BYTES = 4096, BUFFER_BYTES = 1 << 16, PIECE_FIELDS = 1 << 15 };

struct CsvWriter {
    char path[PATH_BYTES], temp[PATH_BYTES];
    int fd;
    int error;   /* errno of the first failure */
    int columns; /* of the header, front included; -1: no header yet */
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

/* A comma before every field but the first, LF after the last. */
static void separate(CsvWriter *writer, int column, int columns)
{
    put(writer, column + 1 < columns ? "," : "\n", 1);
}

static void put_header(CsvWriter *writer, const PrimTable *table, const CsvColumn *front, int n_front)
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
    return writer->error == 0 || file_err_set(err, CODE_OUTPUT, "write", writer->path, writer->error);
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

/* Rows as text: each piece's in room of its own. */
typedef struct Rows {
    const PrimTable *table;
    const CsvColumn *front;
    int n_front, columns;
    int64_t from, step; /* rows of the first piece, of each */
    char *text;
    size_t room, *length; /* bytes: of a piece; by piece, that it came to */
} Rows;

/* Nothing for NaN, and what separates it from the next field. */
static size_t print_field(char *to, double value, bool integer, bool last)
{
    size_t n = isnan(value) ? 0 : decimal_shortest(integer ? nearbyint(value) : value, to);
    to[n] = last ? '\n' : ',';
    return n + 1;
}

static void print_rows(void *context, int piece)
{
    const Rows *r = context;
    const PrimTable *table = r->table;
    int64_t from = r->from + piece * r->step, to = from + r->step < table->rows ? from + r->step : table->rows;
    char *begin = r->text + (size_t)piece * r->room, *at = begin;
    for (int64_t row = from; row < to; row++) {
        for (int i = 0; i < r->columns; i++) {
            int column = i - r->n_front;
            bool own = column >= 0, last = i + 1 == r->columns;
            double value = own ? table->at[column * table->rows + row] : r->front[i].number;
            at += print_field(at, value, own && table->integer[column], last);
        }
    }
    r->length[piece] = (size_t)(at - begin);
}

bool csv_rows(CsvWriter *writer, const PrimTable *table, const CsvColumn *front, int n_front, Crew *crew, Err *err)
{
    if (writer->columns < 0) {
        put_header(writer, table, front, n_front);
    }
    assert(writer->columns == n_front + table->columns);
    int64_t step = 1 + PIECE_FIELDS / writer->columns;
    int pieces = crew_pieces(crew, (size_t)table->rows * (size_t)writer->columns * DECIMAL_BYTES);
    Rows r = {table, front, n_front, writer->columns, 0, step < table->rows ? step : table->rows, NULL, 0, NULL};
    r.room = (size_t)r.step * (size_t)r.columns * DECIMAL_BYTES;
    r.text = malloc((size_t)pieces * r.room + 1);
    r.length = malloc((size_t)pieces * sizeof *r.length);
    bool ok = r.text != NULL && r.length != NULL;
    for (; ok && r.from < table->rows; r.from += pieces * r.step) {
        int64_t left = (table->rows - r.from + r.step - 1) / r.step;
        int n = left < pieces ? (int)left : pieces;
        crew_run(crew, print_rows, &r, n);
        for (int i = 0; i < n; i++) {
            put(writer, r.text + (size_t)i * r.room, r.length[i]);
        }
    }
    free(r.text);
    free(r.length);
    writer->error = ok ? writer->error : ENOMEM;
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

/* What spreadsheets take for the beginning of a formula; the last ones are the wide forms of the first ones. */
static const char *const FORMULA[] =
    {"=", "+", "-", "@", "\t", "\r", "\n", "\xEF\xBC\x9D", "\xEF\xBC\x8B", "\xEF\xBC\x8D", "\xEF\xBC\xA0"};

/*
 * Names of files are anybody's text.  One that a spreadsheet would run gets an apostrophe in front, which a
 * spreadsheet takes for text, and so does one that begins with an apostrophe, so that the first one can be taken off.
 */
void csv_put_text(const char *text, FILE *to)
{
    bool plain = strpbrk(text, ",;\t\"\r\n") == NULL, runs = text[0] == '\'';
    for (size_t i = 0; i < sizeof FORMULA / sizeof *FORMULA; i++) {
        runs = runs || strncmp(text, FORMULA[i], strlen(FORMULA[i])) == 0;
    }
    fputs(plain ? "" : "\"", to);
    fputs(runs ? "'" : "", to);
    for (; *text != '\0'; text++) {
        fputs(*text == '"' ? "\"\"" : "", to);
        if (*text != '"') {
            putc(*text, to);
        }
    }
    fputs(plain ? "" : "\"", to);
}
