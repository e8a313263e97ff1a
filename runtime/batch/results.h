/*
 * results: what one frame came to, copied from the executor so that it can be written while the
 * device works on the next.
 */
#ifndef RUNTIME_RESULTS_H
#define RUNTIME_RESULTS_H

#include "../exec/exec.h"
#include "host_pool.h"

typedef struct Results {
    const Program *program;
    ExecGrid *grids;   /* by output; zero for what is no image */
    Elem *elems;       /* by output */
    void **images;     /* by output: dense [c][z][y][x]; NULL for what is no image, and for images
                          whose rows have gone to the sink already */
    double *values;    /* by output; of labels their number */
    PrimTable *tables; /* by table of the program */
    size_t bytes;      /* of all images */
    HostPool *pool;    /* where their memory comes from; NULL: malloc */
} Results;

/* Empty results: extents, pixels, values and tables are to be filled. */
bool results_new(const Program *program, Results **out, Err *err);
/*
 * The results of a run, owned by the caller (results_free), in two steps: extents as soon as the
 * program is bound, with memory for the pixels if there is a `pool` to take it from, for transfers from `dev`; values and
 * tables after the run.
 */
bool results_begin(Exec *exec, const Program *program, HostPool *pool, Device *dev, Results **out, Err *err);
bool results_finish(Exec *exec, Results *results, Err *err);
/* Bytes that the images of a run will take. */
size_t results_image_bytes(const Exec *exec, const Program *program);
/* After the second step, and not of a run in parts: labels have 16 bits from now on where they fit (exec_narrow). */
bool results_narrow(Exec *exec, Results *results, Err *err);
/* The pixels of all images; not after a run in parts. */
bool results_download(Exec *exec, Results *results, Err *err);
/* Adds the columns ra and dec to a table that has them (ProgTable.sky), of labels that lie at `place` on that sky. */
bool results_sky(PrimTable *table, const int columns[2], const ImagePlace *place, const Sky *sky, Err *err);
/* Puts the rows of a table in order of a column, from 1; negative: largest first; 0: leaves them. */
bool results_sort(PrimTable *table, int by, Err *err);
/* True for an output whose results are pixels; for one that is written as a table. */
bool results_is_image(const ProgOutput *output);
bool results_is_table(const ProgOutput *output);
/* For a table that is a folder of zarr, which is not among those of all images. */
bool results_is_zarr_table(const ProgOutput *output);
void results_free(Results *results); /* NULL is allowed */

#endif
