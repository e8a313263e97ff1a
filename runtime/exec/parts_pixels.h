/*
 * parts_pixels: rows of whole images on the host's side of a run in parts, wherever they are: in an
 * input's file, in a store, on the way to an output.
 */
#ifndef RUNTIME_PARTS_PIXELS_H
#define RUNTIME_PARTS_PIXELS_H

#include "exec_state.h"
#include "parts.h"
#include "../primitives/parts_store.h"

typedef struct PartsPixels {
    Exec *exec;
    const ExecStream *stream;
    PartsBudget budget;
    PartsStore **store; /* by buffer; NULL: nothing is kept of it */
    double *most;       /* by output: the largest label; NaN: not known yet */
    bool *all_give;     /* by output: each owner gives rows of it, and not the first one alone */
    char *line;         /* rows of an input before they are converted */
    size_t line_bytes;
} PartsPixels;

/* Where a row lies: its plane (channel * depth + z) and number. */
typedef struct PartsSpan {
    int64_t plane, row, rows;
} PartsSpan;

/* Bytes of a row of the buffer on the host, without pitch. */
size_t parts_row_bytes(const Exec *exec, int buffer);
/* Rows of an input or of a kept buffer, close together. */
bool parts_read(PartsPixels *p, int buffer, PartsSpan span, void *to, Err *err);
/* Where rows of an input are lent (ExecStream), *pitch bytes apart, as many of the span as are left in it; NULL:
 * they are to be read. */
const void *parts_lent(const PartsPixels *p, int buffer, PartsSpan *span, size_t *pitch);
/* Rows that were computed: into the buffer's store, if it has one, and to outputs. */
bool parts_write(PartsPixels *p, int buffer, PartsSpan span, const void *from, bool give, Err *err);
/* Columns [col, col + cols) of a row of a kept buffer. */
bool parts_write_columns(PartsPixels *p, int buffer, int64_t plane, int64_t row, int64_t col, int64_t cols,
                         const void *from, Err *err);
/* A new store for the buffer, of which `put` bytes at most will be used; what was in an old one is forgotten. */
bool parts_renew(PartsPixels *p, int buffer, uint64_t bytes, uint64_t put, Err *err);
/* Finds the largest label of every input of labels that the pipeline counts. */
bool parts_count_labels(PartsPixels *p, Err *err);
/* Rows that another owner has made, to outputs. */
bool parts_give_rows(PartsPixels *p, int buffer, PartsSpan span, const void *from, Err *err);
/* Gives all of a kept buffer to its outputs. */
bool parts_give(PartsPixels *p, int buffer, Err *err);
/* Gives the outputs away that no segment gave. */
bool parts_give_rest(PartsPixels *p, Err *err);

#endif
