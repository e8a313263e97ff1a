/*
 * exec: runs a program on a device.
 *
 *     exec_new(program, dev, &exec, err)          once
 *     exec_bind(exec, inputs, params, err)        for each shape of image: memory and kernels
 *     exec_upload(...) for all rows of all inputs
 *     exec_run(exec, err)
 *     exec_download(...), exec_values(...), exec_table(...)
 *
 * Binding the same shape, types and parameters again costs nothing, so it is done for every image.
 * Inputs that did not change need not be uploaded again unless exec_keeps says that their memory
 * is used for something else.  After a failure the Exec may be bound again or freed.
 */
#ifndef RUNTIME_EXEC_H
#define RUNTIME_EXEC_H

#include "exec_plan.h"
#include "../host/owners.h"

typedef struct Exec Exec;

/* The program that is planned for these parameters: `program` itself or one of its variants.  Results are the same. */
const Program *exec_variant(const Program *program, const double *params);

/* The program and the device are borrowed. */
bool exec_new(const Program *program, Device *dev, Exec **out, Err *err);
void exec_free(Exec *exec); /* NULL is allowed */

/* `inputs`: one for each input of the program; `params`: one value for each parameter. */
bool exec_bind(Exec *exec, const ExecInput *inputs, const double *params, Err *err);
/* What was bound; NULL before.  Its program is the one for runs in rounds, where only that fits. */
const ExecPlan *exec_bound(const Exec *exec);

/* False when the pipeline does not look at this channel of the input. */
bool exec_wants(const Exec *exec, int input, int64_t c);
/* True when the input's memory is not used for anything else during a run. */
bool exec_keeps(const Exec *exec, int input);
/*
 * Rows [row, row + rows) of plane z, channel c, `pitch` bytes apart on the host, in the element
 * type given to exec_bind.  A type other than the buffer's is converted; a pixel that the buffer
 * cannot hold is an error.  Channels that are not wanted are ignored.
 */
bool exec_upload(Exec *exec, int input, int64_t c, int64_t z, int64_t row, int64_t rows, const void *from, size_t pitch,
                 Err *err);

/* What the first owner of an output tells the others (ExecStream.share). */
typedef struct ExecShare {
    int64_t grain;   /* rows of a plane; 0: it gives all */
    char name[4096]; /* what they need to know to write, too */
} ExecShare;

/*
 * A run in parts.  When exec_bind finds that the image does not fit into the memory limit in one
 * piece, it plans strips (exec_parts), and the run takes rows where and when it needs them and gives
 * rows away as they are ready.  Neither exec_upload nor exec_download is used then.
 */
typedef struct ExecStream {
    void *context;
    struct Crew *crew; /* copies rows on the host; NULL: the caller does */
    /* Where rows of an input, which are asked for about so many `times`, lie in pinned memory, *pitch bytes
     * apart, until the run ends: as many of *rows as lie there together.  NULL: they do not, and are read.
     * May be NULL. */
    const void *(*lend)(void *context, int input, int times, int64_t c, int64_t z, int64_t row, int64_t *rows,
                        size_t *pitch);
    /* Rows [row, row + rows) of plane z, channel c of an input, in the element type given to
     * exec_bind, `pitch` bytes apart.  An input is read several times, from the first row on. */
    bool (*read)(void *context, int input, int64_t c, int64_t z, int64_t row, int64_t rows, void *to, size_t pitch,
                 Err *err);
    /* Rows of an output that is an image, in its element type; those of a plane in ascending order.
     * `most`: the largest label of an output of labels, NaN when it is not known yet. */
    bool (*write)(void *context, int output, double most, int64_t c, int64_t z, int64_t row, int64_t rows,
                  const void *from, size_t pitch, Err *err);
    /* Owners may give rows of this output each: from the first row behind its cut on that is a multiple of so many rows of a
     * plane, which `told` has of the first owner (`first`), for the others; 0: the first gives all.  NULL: likewise. */
    bool (*share)(void *context, int output, double most, bool first, ExecShare *told, Err *err);
} ExecStream;

/* A run in one piece with rows from a stream and to it, instead of exec_upload and exec_download: all
 * inputs before exec_run, all outputs that are images after it. */
bool exec_load(Exec *exec, const ExecStream *stream, Err *err);
bool exec_save(Exec *exec, const ExecStream *stream, Err *err);

/* For tests: from the next exec_bind on, parts of about this many rows or planes even where all
 * would fit; 0: as memory asks.  `across`: volumes are cut across their planes (parts.h). */
void exec_set_parts(Exec *exec, int rows, bool across);
/* For tests: kernels as GPUs have them, or CPUs, whatever the device is. */
void exec_set_shape(Exec *exec, int shape);
/* This many threads compile the kernels of the next exec_bind; several of them also what primitives will ask
 * for.  Without it as many as the driver is good for. */
void exec_set_compilers(Exec *exec, int compilers);
/* For tests: from the next exec_bind on, as if the device had only so many bytes; 0: what it has. */
void exec_set_limit(Exec *exec, uint64_t bytes);
/* From the next exec_bind on, images are cut into parts, which are shared out to owners (parts_share.h); borrowed.  All of
 * them bind and run the same.  The first one alone gives rows of outputs away; values and tables all have.  NULL: nobody. */
void exec_set_owners(Exec *exec, Owners *owners);
/* The name of a step that was not shared out in the last run with owners; NULL: all were. */
const char *exec_alone(const Exec *exec);
bool exec_in_parts(const Exec *exec);
/* In parts: bytes of host memory that may be pinned beside staging, so that the driver's tables stay in the limit. */
uint64_t exec_pinnable(const Exec *exec);
bool exec_run_parts(Exec *exec, const ExecStream *stream, Err *err);

/* Bytes of host memory that pixels may take which a run in parts comes back to; more go to a
 * temporary file.  0: a quarter of the memory. */
void exec_set_host_memory(Exec *exec, uint64_t bytes);

/* From the next exec_bind on, so many images of one size are expected: of a few small ones, optimising takes longer than
 * running without.  Where nobody has said how many, kernels are optimised, and primitives as for one. */
void exec_set_images(Exec *exec, uint64_t images);

/* From the next exec_bind on, labels may be asked for with 16 bits (exec_narrow), and what that takes is compiled with the rest. */
void exec_set_narrows(Exec *exec);

/* Called between steps; true ends the run with CODE_INTERRUPTED.  NULL: never. */
void exec_set_stop(Exec *exec, bool (*stop)(void *context), void *context);
bool exec_run(Exec *exec, Err *err);

/* The largest label of an output, from what is in its value's slot. */
double exec_largest_label(const Exec *exec, int output, double value);
/* After a run in one piece, and before its rows are taken: labels, of which `most` is the largest, have 16 bits from now on
 * where they fit and nothing else of the run is in their memory. */
bool exec_narrow(Exec *exec, int output, double most, Err *err);
/* What an output that is an image is like: its grid and element type. */
void exec_output(const Exec *exec, int output, ExecGrid *grid, Elem *elem);
/* Of the input that it lies on. */
const Sky *exec_sky(const Exec *exec, int output);
/* Rows of an output, in its element type, `pitch` bytes apart on the host. */
bool exec_download(Exec *exec, int output, int64_t c, int64_t z, int64_t row, int64_t rows, void *to, size_t pitch,
                   Err *err);
/* All whole-image values of the last run, by slot of the program that was bound; owned by exec. */
bool exec_values(Exec *exec, const double **values, Err *err);
/* A table of the last run (see ProgTable); owned by exec; NULL before a run. */
const PrimTable *exec_table(const Exec *exec, int table);

#endif
