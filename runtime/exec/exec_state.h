/*
 * exec_state: the executor's insides, for exec.c and for parts_run.c, which runs the same program
 * strip by strip.
 */
#ifndef RUNTIME_EXEC_STATE_H
#define RUNTIME_EXEC_STATE_H

#include "exec.h"
#include "exec_build.h"
#include "label_ids.h"
#include "../device/staging.h"

/* What a launch computes, and where the part begins that a primitive works on. */
typedef struct ExecRange {
    int from, to, plane_from, cols_from, part_y, part_plane;
    DevMem *wanted; /* ARG_WANTED_SLABS and ARG_SLAB */
    int slab;
} ExecRange;

/* What of an image lies in a buffer's memory, and how (program.h). */
typedef struct ExecPlace {
    int rows, planes, pitch; /* of each plane, of each channel; elements from row to row */
    int64_t row0;            /* first stored row, counted through the planes that there are */
    int col0;                /* and column */
    int seam[3];             /* by axis: rows (planes) before it lie behind the last */
    int first, end;          /* where it is read in rounds: rows (planes, where it has z) that are there */
} ExecPlace;

struct Exec {
    const Program *given, *program; /* the one that is bound may be that for runs in rounds */
    Device *dev;
    ExecTarget target;
    ExecPlan *plan;
    ExecInput *bound; /* what the plan was made for */
    double *params;
    ExecBuilt *built;
    DevMem **arenas; /* pieces of target.max_alloc bytes */
    int n_arenas;
    uint64_t arena_bytes;
    DevMem **planned; /* by buffer, as planned; in one piece */
    DevMem **mem;     /* by buffer: where it is now; loops exchange them */
    ExecPlace *place; /* by buffer */
    DevMem **scratch; /* by step */
    DevMem *values_mem;
    DevArg *args;            /* of the step at hand */
    uint64_t *packed;        /* by value slot: the bits of numbers that kernels find there (ProgStep.n_packed), */
    bool *packed_there;      /* by step: on the device, too */
    double *values, *counts; /* counts: by input, the largest label, or place */
    LabelIds *ids;           /* by input */
    bool values_known, ran;
    bool *narrowed;         /* by output: it has been, since the run */
    bool warm;              /* it has run with what is bound */
    PrimTable *tables;      /* by step */
    PrimProgram **programs; /* by step */
    DevKernel **ends;       /* by loop's step: what ends its rounds; NULL until it is wanted */
    double *told;   /* pinned: PROG_ENDED after the last even round and the last odd one; NULL until it is wanted */
    uint64_t host;  /* see exec_set_host_memory */
    uint64_t limit; /* see exec_set_limit */
    bool (*stop)(void *context);
    void *stop_context;
    Owners *owners;    /* see exec_set_owners */
    const char *alone; /* see exec_alone */
    Staging *staging;  /* NULL until rows go through it */
};

/* A part of the arena, owned by the caller (dev_free); NULL for no bytes. */
bool exec_slice(Exec *exec, uint64_t offset, uint64_t bytes, DevMem **out, Err *err);
/* Makes the arena as large as the parts of the plan have become, between segments; the values stay. */
bool exec_grow(Exec *exec, Err *err);
/* Where all of a buffer's image is. */
ExecPlace exec_place_all(const ExecPlan *plan, int buffer);
/* Enqueues steps in one piece. */
bool exec_steps(Exec *exec, int from, int to, Err *err);
/* A step's arguments, until those of another are asked for; those that are packed are where its kernel finds them. */
bool exec_args(Exec *exec, int s, const ExecRange *range, const DevArg **args, Err *err);
/* How many its kernel is given. */
int exec_n_args(const ProgStep *step);
/* Gives the primitive's call what it needs of step s but for images, scratch and part. */
void exec_call(Exec *exec, int s, const DevArg *args, PrimCall *call, Err *err);
/* Rows in the type of the input's buffer, close together; `to` has room for them. */
bool exec_convert(const Exec *exec, int input, int64_t row, int64_t rows, const void *from, size_t pitch, void *to,
                  Err *err);
/* Makes exec->staging. */
bool exec_stage(Exec *exec, Err *err);
/* Writes the largest labels of inputs where the pipeline looks for them. */
bool exec_write_counts(Exec *exec, Err *err);
/* Bytes from row to row of an output's image. */
size_t exec_stored_pitch(const Exec *exec, int output);
/* The numbers of an output's labels; NULL: its pixels are the numbers. */
const LabelIds *exec_ids(const Exec *exec, int output);
bool exec_stopped(const Exec *exec, Err *err);

#endif
