/*
 * ahead: on which rows a kernel that streams over rows has its stages, and what it reads, when it computes each row of
 * each stage once.
 *
 * At row y of the stream a stage is computed on row y + hi, so far ahead that those who read it on the rows below find
 * them, and its rows from y + lo on are still there.  So stages follow each other down the image, each behind the one
 * that it reads by as many rows as it reaches: a line buffer for each, in registers.
 */
#ifndef IR_AHEAD_H
#define IR_AHEAD_H

#include "ir.h"

/* Rows and columns beside its own that a stage may read. */
enum { IR_MOST_AHEAD = 8, IR_MOST_BESIDE = 64 };

typedef struct IrRowsOf {
    IrId node;     /* a stage, or an image that a stage reads */
    bool computed; /* a stage */
    int lo, hi;    /* the rows that are there, from the current one: lo <= hi */
    int from;      /* the first of its rows that the stream's first result needs, from that row */
    int left,
        right;  /* columns beside a work-item's own ones; of images as many as there may be where they are not known */
    bool moved; /* some read is on another row than its reader; then: */
    Border border;
    IrExpr outside;
} IrRowsOf;

typedef struct IrAhead {
    Vec(IrRowsOf) of; /* stages in the order of the kernel, then images */
    int warm;         /* rows that the stream begins before its first result */
} IrAhead;

/*
 * Of the stages of a kernel over y, in order; `stored` by node: those with results.  False: it cannot be, since some
 * read is on rows or planes that are not known here, of another channel, or on rows of one node under two borders, or a
 * stage is read on other rows under a border that takes it from far away, or on columns that are not known here.
 */
bool ir_find_ahead(IrGraph *g, const IrId *stage, int n, const bool *stored, IrAhead *to);
/* Some stage's rows are read when the stream has passed them, or before it is there. */
bool ir_ahead_keeps(const IrAhead *ahead);
/* Registers for the rows that are there, of a work-item with so many columns of its own. */
int ir_ahead_registers(const IrGraph *g, const IrAhead *ahead, int columns);
/* NULL: the node is not there. */
const IrRowsOf *ir_rows_of(const IrAhead *ahead, IrId node);

#endif
