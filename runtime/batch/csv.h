/*
 * csv: tables as text: comma separated, UTF-8, one header line, LF, `.` as decimal point, the
 * shortest digits that read back as the same number, an empty field for NaN.  Files appear whole
 * or not at all.
 */
#ifndef RUNTIME_CSV_H
#define RUNTIME_CSV_H

#include "../../base/err.h"
#include "../host/crew.h"
#include "../primitives/prim.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* A leading column that is the same in all rows of a table: frame, channel, z. */
typedef struct CsvColumn {
    const char *name;
    double number;
} CsvColumn;

typedef struct CsvWriter CsvWriter;

/*
 * Many tables, one file.  The first csv_rows writes the header; later tables must have the same
 * columns.  A table without rows still gives the header.  The crew, which may be NULL, helps with the numbers.
 * csv_commit and csv_abort free the writer; csv_abort takes NULL.
 */
bool csv_open(const char *path, CsvWriter **out, Err *err);
bool csv_rows(CsvWriter *writer, const PrimTable *table, const CsvColumn *front, int n_front, Crew *crew, Err *err);
bool csv_commit(CsvWriter *writer, Err *err);
void csv_abort(CsvWriter *writer);

/* A field with anybody's text: quoted where it has to be, and none that a spreadsheet would run. */
void csv_put_text(const char *text, FILE *to);

#endif
