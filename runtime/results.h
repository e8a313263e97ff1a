/*
 * results: what one frame came to, copied from the executor so that it can be written while the
 * device works on the next.
 */
#ifndef RUNTIME_RESULTS_H
#define RUNTIME_RESULTS_H

#include "exec.h"

typedef struct Results {
    const Program *program;
    ExecGrid *grids;   /* by output; zero for what is no image */
    Elem *elems;       /* by output */
    void **images;     /* by output: dense [c][z][y][x]; NULL for what is no image */
    double *values;    /* by slot */
    PrimTable *tables; /* by table of the program */
    size_t bytes;      /* of all images */
} Results;

/* Empty results: extents, pixels, values and tables are to be filled. */
bool results_new(const Program *program, Results **out, Err *err);
/* After exec_run; owned by the caller (results_free). */
bool results_take(Exec *exec, const Program *program, Results **out, Err *err);
void results_free(Results *results); /* NULL is allowed */

#endif
