/*
 * exec_plan: everything about a run that follows from the inputs' extents and the parameters, and
 * needs no device: sizes, launches, lifetimes, places in the arena, the peak.
 */
#ifndef RUNTIME_EXEC_PLAN_H
#define RUNTIME_EXEC_PLAN_H

#include "host.h"
#include "../files/image.h"
#include "../primitives/prim.h"
#include "../../base/sky.h"
#include "../../program/program.h"

/* What is known about the pixels of one input before they are uploaded. */
typedef struct ExecInput {
    int64_t extent[4];  /* x, y, z, c of the file (one frame); 1 where it has no such axis */
    Elem elem;          /* of the pixels handed to exec_upload */
    double pixel_um[3]; /* x, y, z in micrometres; 0: unknown.  Only the first input's are used */
    bool upwards;       /* the first row stands below, as viewers show it.  Only the first input's counts */
    Sky sky;
} ExecInput;

enum { EXEC_PITCH = 16 }; /* rows are whole multiples of this many elements */

/* What kind of device is planned for. */
typedef struct ExecTarget {
    Device *dev; /* NULL: planning without a device */
    bool cpu;    /* DeviceInfo */
    int units;
    uint64_t alignment; /* of buffers in the arena */
    uint64_t max_alloc; /* bytes of the largest single allocation; 0: no limit */
    uint64_t limit;     /* bytes that a run may hold on the device; 0: no limit */
    int part_rows;      /* tests: cut into parts of so many rows; 0: only where it must be cut */
    int owners;         /* so many share the parts of each segment; 0, 1: nobody does */
    bool part_across;   /* tests: volumes are cut across their planes, where that can be */
    int compilers;      /* threads that compile; with several, also what primitives will ask for */
    int px, lx;         /* pixels a work-item, work-items a group: px * lx = 256 columns */
    uint64_t images;    /* so many such images are expected; 0: nobody has said */
    bool ahead;         /* GPUs: a round is enqueued while the one before is computed */
    bool narrows;       /* labels are asked for with 16 bits, where they fit */
} ExecTarget;

/* Whether what is planned for one is right for another one, for which pixels are uploaded to the same place. */
bool exec_same_input(const Program *program, const ExecInput *a, const ExecInput *b);
/* False where a table asks for RA and Dec of an input that says why it has none. */
bool exec_plan_sky(const Program *program, const ExecInput *inputs, Err *err);
/* The target for a device, or for an H200 when dev is NULL. */
ExecTarget exec_target(Device *dev);
/* Whether labels that fit get 16 bits: a CPU converts them as fast when it writes them, until what has to be compiled pays. */
bool exec_narrows(const ExecTarget *target);
/* Generated kernels of a shape (prim.h), and launches as devices of this kind have them. */
void exec_shape(ExecTarget *target, int shape);

typedef struct ExecGrid {
    int w, h, d, c, planes, pitch; /* pitch: elements from row to row */
    bool has_z;
    ImagePlace place; /* of an output: where its pixels lie on the first input */
} ExecGrid;

typedef struct ExecBuffer {
    Elem elem;      /* never ELEM_FILE */
    int64_t length; /* elements, with pitch */
    uint64_t bytes, offset;
    int onto; /* the buffer that it is written onto, in parts: where that can be; -1 none */
} ExecBuffer;

/* Where optimising a kernel takes longer than running it without. */
typedef enum ExecQuick {
    QUICK_NEVER,
    QUICK_ONCE, /* unless it runs again */
    QUICK_ALWAYS
} ExecQuick;

typedef struct ExecStep {
    double *values;   /* LAUNCH: by argument, for host expressions; PRIMITIVE: host arguments */
    int below, above; /* widest halo of the reads that have one: rows, or planes, on each side */
    bool whole;       /* some read needs the whole image */
    int rows, strip;  /* LAUNCH: rows (or planes) to compute, and how many at a time */
    size_t groups[3]; /* LAUNCH */
    bool hands_on;    /* LAUNCH: in one piece, each group leaves partial results for reductions */
    int rounds;       /* LOOP */
    int end;          /* LOOP: its END */
    uint64_t scratch; /* bytes, and where */
    uint64_t scratch_at;
    ExecQuick quick;
    int fed_from;     /* PRIMITIVE: in one piece, the launch that writes partial results to its */
    size_t fed;       /* scratch, and how many of each quantity; 0: none does */
    uint64_t traffic; /* compulsory bytes, for the profile; 0 unknown */
} ExecStep;

typedef struct ExecPlan {
    const Program *program;
    HostContext host; /* arrays below */
    HostInput *inputs;
    double *params;
    int *channel; /* by input: the only one that is stored, or -1 */
    ExecGrid *grids;
    ImagePlace *places; /* by output */
    ExecBuffer *buffers;
    ExecStep *steps;
    uint64_t values_at;      /* where the whole-image values lie in the arena */
    uint64_t peak, load;     /* bytes of the arena, and the lower bound for them */
    uint64_t least;          /* in one piece: bytes where every result that can takes the place of what dies */
    struct PartsPlan *parts; /* how it is cut (parts.h); NULL: it runs in one piece */
} ExecPlan;

/* Of the program, or where that does not fit of its form for rounds; owned by the caller (exec_plan_free). */
bool exec_plan_new(const Program *program, const ExecTarget *target, const ExecInput *inputs, const double *params,
                   ExecPlan **out, Err *err);
void exec_plan_free(ExecPlan *plan); /* NULL is allowed */
/* What becomes of an input's labels up to `largest`: where that is more than it has pixels, IDS_PLACES, or an
 * error and IDS_REFUSED. */
InputIds exec_plan_ids(const ExecPlan *plan, int input, double largest, Err *err);
/* The smallest limit with which there is a plan, to the byte; 0: that cannot be said. */
uint64_t exec_plan_least(const Program *program, const ExecTarget *target, const ExecInput *inputs,
                         const double *params);

/* The text of a kernel as it is built (for a primitive: its reader), owned by the caller (free). */
bool exec_plan_text(const ExecPlan *plan, const ExecTarget *target, int kernel, bool reader, char **text, Err *err);

/* Rounds of loops may be enqueued before it is known whether there are so many (exec_steps.c). */
bool exec_plan_runs_ahead(const ExecPlan *plan, const ExecTarget *target);

/* The step that finds this value. */
int exec_plan_reduction(const Program *program, int value);

/* A primitive's call, all but memory: images without `mem`, no reader. */
void exec_plan_call(const ExecPlan *plan, Device *dev, int step, PrimCall *call);

#endif
