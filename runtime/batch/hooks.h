/*
 * hooks: what only the compiler can add to a run: the evaluator, and plans for other parameters; and what a process
 * wants that runs again and again.
 */
#ifndef RUNTIME_BATCH_HOOKS_H
#define RUNTIME_BATCH_HOOKS_H

#include "../exec/exec.h"

/* One frame with all that went in and came out. */
typedef struct RtFrame {
    const char *image;         /* name, for messages */
    int64_t number;            /* of the frame in its file, from 0 */
    const ExecInput *inputs;   /* by input */
    const void *const *pixels; /* by input: dense [c][z][y][x], elements as in inputs */
    const double *params;
    const ExecGrid *grids;     /* by output; zero for what is no image */
    const Elem *elems;         /* by output */
    const void *const *images; /* by output: dense; NULL for what is no image */
    const double *values;      /* by output; of labels their number */
    const PrimTable *tables;   /* by table of the program */
} RtFrame;

struct Results; /* results.h */

/* What only the compiler can add to a run. */
typedef struct RtHooks {
    /* --check: called for each frame, one at a time; false: the results are wrong, err says how.
     * NULL: --check is refused. */
    bool (*check)(void *context, const RtFrame *frame, Err *err);
    void *context;
    /* --device reference: computes a frame without a device, from what went in (only those members
     * of the frame are set), into empty results.  NULL: that device is refused. */
    bool (*reference)(void *context, const RtFrame *frame, struct Results *to, Err *err);
    /* The program as it is best for these parameters, which lives as long as the context; results are the same. */
    const Program *(*planned)(void *context, const double *params);
    /* Called for each frame that is done, by the device's thread: of what went in only its name, its number and params
     * are set, of what came out all but the images.  NULL: nobody looks. */
    void (*seen)(void *context, const RtFrame *frame);
    /* Where the device stays, open, for the next run with the same options; NULL: each run has its own. */
    Device **device;
} RtHooks;

#endif
