/*
 * program: what the compiler makes and the runtime executes: plain data, no pointers into the
 * compiler.  `pipec run` hands it over in memory, `pipec build` writes it as C initialisers.
 *
 * Everything the run decides is symbolic: a *host expression* (HostNode) is a number computed in
 * double from parameters, extents, pixel sizes and element types.  Buffer extents, kernel
 * arguments, weights and halos are indices into the one array of host expressions.
 *
 * Conventions of every kernel
 *   - Buffers are slices of one arena.  An image of grid (w, h, d, c) has planes = c * d, and
 *     pixel (x, y, plane) lies at ((plane * rows + y) - row0) * pitch + x, where `rows` are the
 *     stored rows of a plane (h) and `row0` is the first stored row (0), unless the run is in parts,
 *     and pitch is w rounded up to 16 pixels.  Pixels between w and pitch hold anything.
 *   - In parts a buffer is a window: of volumes with channels it has `planes` planes of each
 *     channel (pixels lie as if depth were that); where it is read round the ends, rows (planes)
 *     before `seam` lie behind the image's last one; and steps that are `boxed` give each buffer a
 *     pitch and a first column of its own.
 *   - Whole-image values live in one small buffer of doubles, `values`.
 *   - A kernel's text starts with `#define`s and tables that the run writes from Define rows;
 *     EPILOGUE is 1 where the kernel hands partial results to reductions,
 *     RUNS_AHEAD 1 where rounds of loops may be enqueued that are none any more.
 */
#ifndef RUNTIME_PROGRAM_H
#define RUNTIME_PROGRAM_H

#include "../base/border.h"
#include "../base/elem.h"
#include "../base/nodes.h"
#include "../base/stored.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- host expressions ------------------------------------------------------------------ */

typedef enum HostOp {
    HOST_CONST,     /* num */
    HOST_PARAM,     /* a = parameter */
    HOST_EXTENT,    /* a = input, b = axis (0 x, 1 y, 2 z, 3 c) */
    HOST_PIXELSIZE, /* a = axis; micrometres, of the first input; absent: the run fails */
    HOST_UPWARDS,   /* 1 where the first input's rows go upwards; else 0 */
    HOST_SKY,       /* a, b = inputs, c: an entry of the sky_map from pixels of b to those of a (base/sky.h) */
    HOST_LARGEST,   /* a = input: largest value of its file's type; inf of floats */
    HOST_INDEX,     /* a = index variable of an enclosing fold or table */
    HOST_FOLD,      /* a = body, b = lo, c = hi, num = index variable, d = HostFold, e = where */
    HOST_OP1,       /* d = operator (its number in base/hostops.def), a */
    HOST_OP2,       /* a, b */
    HOST_OP3,       /* a, b, c */
    HOST_KNOWN,     /* a; this and those that follow only stand in what host_range is asked for */
    HOST_RANGE,     /* anything from the least of a and b to the greatest */
    HOST_F32,       /* a rounded to a float */
    HOST_WRAP,      /* a, which is a whole number; any of type d where it may be too large for that */
    HOST_SATURATE,  /* a, or the nearest number of type d; 0 for NaN */
    HOST_NUMBER,    /* a where it is not NaN */
    HOST_PIXEL,     /* any number of type d, or where that is ELEM_FILE of input a's */
    HOST_OPS
} HostOp;

enum { HOST_SUM, HOST_PROD, HOST_MIN, HOST_MAX, HOST_ANY, HOST_ALL };

typedef struct HostNode {
    uint8_t op, d;
    int a, b, c, e;
    double num;
} HostNode;

/* ---- what the user gives and gets ------------------------------------------------------ */

typedef struct ProgInput {
    const char *name;
    const char *axes; /* "yx", "zyx", "yxc" ...: as declared, outermost first */
    Elem elem;        /* ELEM_FILE: whatever the file has */
    bool labels, mask;
    int buffer;   /* where its pixels go, one volume [c][z][y][x] */
    int count;    /* labels: value slot of the largest id, found on upload; -1: nobody asks for it */
    InputIds ids; /* labels: what becomes of numbers larger than there are pixels */
    int channel;  /* host expression: only this channel is needed (and stored); -1: all */
} ProgInput;

typedef struct ProgParam {
    const char *name, *help;
    double value, lo, hi;
    bool integer;
    const char *words; /* "otsu|li": what its values 0, 1 ... stand for; NULL: they are numbers */
} ProgParam;

/* OUT_SERIES: an image along one axis that is written as a table. */
typedef enum ProgOutputKind { OUT_IMAGE, OUT_MASK, OUT_LABELS, OUT_TABLE, OUT_VALUE, OUT_SERIES } ProgOutputKind;

/* Where pixels lie on an input: (x, y, z) at of[a][0] x + of[a][1] y + of[a][2] z + of[a][3]
 * along its axis a; host expressions, -1 for 0. */
typedef struct ProgPlace {
    int input;
    bool moved; /* else at (x, y, z), and `of` is not used */
    int of[3][4];
} ProgPlace;

typedef struct ProgOutput {
    const char *name, *format; /* "tif", "png", "fits", "zarr", "csv", "geojson", "roi" */
    ProgOutputKind kind;
    int buffer;       /* images */
    int value;        /* OUT_VALUE: slot in `values`; OUT_LABELS: slot of the count */
    int table;        /* OUT_TABLE */
    const char *axes; /* of an image: "yx" ...; of a series what the user calls its axis */
    ProgPlace place;  /* of an image; of a table with RA and Dec that of its labels */
    Stored stored;    /* what is not said is up to the command line */
    int ids;          /* OUT_LABELS: the input, from 1, whose places they are; 0: their own numbers */
} ProgOutput;

/* ---- memory ---------------------------------------------------------------------------- */

typedef struct ProgGrid {
    int extent[4]; /* host expressions: x, y, z, c */
    bool has_z;    /* it is cut into parts along z if that can be, else along y */
} ProgGrid;

/*
 * A buffer lives from step `first` to step `last`, both included (outputs: to the last step).
 * `onto` >= 0: where elements are as wide, it may take the place of that buffer, which dies as this one is
 * made, or which a loop puts it in place of (each pixel is read before it is written).
 * A vector (grid -1) has `length` elements, a host expression.
 */
typedef struct ProgBuffer {
    const char *name;
    Elem elem;
    int elem_of; /* elem == ELEM_FILE: the input whose type it has */
    int grid;
    int length;
    int first, last;
    int onto;
} ProgBuffer;

/* ---- kernels and steps ----------------------------------------------------------------- */

typedef enum DefineKind {
    DEF_INT,   /* #define NAME 8 */
    DEF_TYPE,  /* #define NAME ushort: the element type of input `expr` */
    DEF_REACH, /* as DEF_INT, but at most PROG_MAX_REACH */
    DEF_BLEND, /* constant float NAME[] = {...}: the weights of pixels, `expr` for every `index` in lo .. hi, as
                 weights of differences (base/blend.h) */
    DEF_TABLE  /* constant float NAME[] = {...}: `expr` for every `index` in its lo .. hi, the last one
                 running fastest, as an element of `elem` (f32, f64, i32 or u32; whole numbers are cut
                 off and saturate); NAME_N1, NAME_N2 ...: lengths along all indices but the first */
} DefineKind;

enum {
    PROG_TABLE_INDICES = 8,  /* as many as a comprehension has */
    PROG_MAX_REACH = 1 << 16 /* pixels that a work-item holds beside its own: more is more than its stack */
};

typedef struct ProgDefine {
    DefineKind kind;
    const char *name;
    int expr; /* host expression */
    int n;    /* DEF_TABLE: how many indices; DEF_BLEND: one */
    int index[PROG_TABLE_INDICES], lo[PROG_TABLE_INDICES], hi[PROG_TABLE_INDICES];
    Elem elem; /* DEF_TABLE, DEF_BLEND */
} ProgDefine;

typedef struct ProgKernel {
    const char *name;   /* stable: made from the stage names */
    const char *source; /* OpenCL C without the defines */
    const ProgDefine *defines;
    int n_defines;
    const char *lines; /* the .pipe lines that it computes: "4, 5-7" */
} ProgKernel;

typedef enum ArgKind {
    ARG_BUFFER,       /* a = buffer: global pointer */
    ARG_ROW0,         /* a = buffer: long, first stored row */
    ARG_ROWS,         /* a = buffer: int, stored rows of each plane */
    ARG_EXTENT,       /* a = grid, b = 0 w, 1 h, 2 d, 3 planes, 4 pitch: int */
    ARG_VALUES,       /* global double pointer */
    ARG_HOST_INT,     /* a = host expression: int */
    ARG_HOST_UINT,    /* a = host expression: uint; what no uint is becomes the nearest one, NaN 0 */
    ARG_HOST_FLOAT,   /* a = host expression: float */
    ARG_HOST_DOUBLE,  /* a = host expression: double */
    ARG_ROWS_FROM,    /* int: first row (when streaming over z: plane) to compute */
    ARG_ROWS_TO,      /* int: one past the last */
    ARG_PLANE_FROM,   /* int: first plane to compute; where the stream is over planes, the first row of each */
    ARG_PART_Y,       /* readers: int, the row of the image where the primitive's part begins */
    ARG_PART_PLANE,   /* readers: int, the plane where it begins */
    ARG_STRIP,        /* int: rows that one work-item streams over; b = 1: it begins a = host expression rows
                       before them; b = 2: it takes a rows at a time, without those before */
    ARG_PLANES,       /* a = buffer: int, stored planes of each channel */
    ARG_SEAM,         /* a = buffer, b = 1 y, 2 z: int, rows or planes before it lie behind the last */
    ARG_PITCH,        /* a = buffer: int, elements from row to row */
    ARG_COL0,         /* a = buffer: int, first stored column */
    ARG_COLS_FROM,    /* int: first column to compute */
    ARG_FIRST,        /* a = buffer: int, its first row (plane, where it has z) that is there, */
    ARG_END,          /* and one past the last */
    ARG_WANTED_SLABS, /* of a step in rounds: global int pointer, by slab: some pixel reads it */
    ARG_SLAB,         /* int: rows of a slab, when it is asked which are wanted; 0: pixels are made */
    ARG_PARTIALS      /* a = value slot, b = rows that strips must have, 0: any: the scratch of the
                       reduction with these values, which in a run in one piece takes the launch's
                       partial results instead of reading the image */
} ArgKind;

typedef struct ProgArg {
    ArgKind kind;
    int a, b;
} ProgArg;

typedef enum StepKind {
    STEP_LAUNCH,    /* a generated kernel over `grid` */
    STEP_PRIMITIVE, /* a hand-written primitive */
    STEP_LOOP,      /* begin: exprs[0] = rounds; or -1: until the slot `value` keeps its value from
                      one round to the next, at most `at_most` (a host expression) rounds; slots from
                      `ended` on are the loop's own */
    STEP_END,       /* end of the innermost loop: carries[] are applied */
} StepKind;

/* Variables (HOST_INDEX) of the places that are read: the first and last pixel, along x, y and z,
 * of the part that is computed. */
enum { PROG_PART_FIRST = -2, PROG_PART_LAST = -5 }; /* of x; y and z follow downwards */

/* What a step reads: how far beyond the pixels that it computes, along the axis that strips are cut
 * from (z where the grid has one, else y) and, of volumes, also along y; or at which places, computed
 * from the part. */
typedef struct ProgRead {
    int buffer;
    int below, above;           /* host expressions: rows or planes; -1: at the places `at` */
    int rows_below, rows_above; /* of volumes: rows */
    int at[3];                  /* along x, y, z: host expressions for host_range; -1: anywhere */
    Border border;
    bool in_rounds; /* the step may be run with any of its rows (planes, where it has z) there, and then makes
                         the pixels that read these */
} ProgRead;

/*
 * What a loop that ends by itself knows on the device: PROG_ENDED is 1 once its rounds are over.  The host may
 * have enqueued one more by then (RUNS_AHEAD in front of a text); its kernels find that and do nothing.
 */
enum {
    PROG_ENDED,
    PROG_BEFORE, /* the watched value of the round before */
    PROG_TOLD,   /* PROG_ENDED after the last round with an even number, and with an odd one */
    PROG_LOOP_SLOTS = PROG_TOLD + 2
};

typedef struct ProgCarry {
    bool is_value;
    int carry, next; /* buffers (swapped) or value slots (copied) */
} ProgCarry;

typedef struct ProgStep {
    StepKind kind;
    const char *name;      /* for profiles and messages: the stage names */
    const char *lines;     /* .pipe lines */
    int kernel;            /* LAUNCH; PRIMITIVE: the kernel whose text defines what it reads, or -1 */
    int grid;              /* the iteration domain */
    bool stream_z;         /* LAUNCH: work-items stream over planes, strips are cut from d, and the
                              third dimension of the launch counts h * channels rows */
    double ops;            /* LAUNCH: operations a pixel, with the params that it was planned for; 0 unknown, as in C */
    bool boxed;            /* its text gives each buffer a pitch and a first column of its own */
    bool copies;           /* LAUNCH: its result, with which a loop begins, is what it reads; nothing is done where
                              both have one place */
    const char *primitive; /* PRIMITIVE: name in the runtime's table */
    const ProgArg *args;
    int n_args;
    int n_packed;  /* the last so many of args are no arguments: their bits lie in value slots */
    int packed_at; /* from this one on */
    const ProgRead *reads;
    int n_reads;
    const int *uses; /* slots of whole-image values that its text reads, some maybe twice */
    int n_uses;
    const int *writes; /* buffers */
    int n_writes;
    int value;        /* first value slot that it writes; -1 none */
    const int *exprs; /* PRIMITIVE: its host arguments */
    int n_exprs;
    const char *text;  /* PRIMITIVE: columns of a table */
    const int *inputs; /* PRIMITIVE: buffers handed over as PrimCall.in[k]; -1: computed on the
                              fly by read_k.  THRESHOLD has its histogram in inputs[0] */
    int n_inputs;
    const int *pixels; /* PRIMITIVE: for each of its inputs the buffer whose pixels it is, maybe in another
                              type; -1: computed ones */
    int n_pixels;
    int of_value;             /* PRIMITIVE: slot of the count of the labels it is about; -1 none */
    int ids;                  /* PRIMITIVE: the input, from 1, whose numbers by place it has need of; 0: none */
    int at_most;              /* LOOP */
    int ended;                /* LOOP: the first of PROG_LOOP_SLOTS slots; 0: it is counted */
    const ProgCarry *carries; /* END */
    int n_carries;
} ProgStep;

/* What must hold for a run: host expression a equals b, or is from 0 to below b; `what` says it in words. */
typedef struct ProgNeed {
    int a, b;
    bool below;
    const char *what, *where; /* "line 8: " of the .pipe file; "" where no line says it */
} ProgNeed;

/* What must hold for a run: an operator's argument is within its range (as IrBound). */
typedef struct ProgBound {
    const char *where, *what, *must; /* "line 8: ", "'q' of 'percentile'", "in 0 .. 100" */
    int value;                       /* a host expression */
    double lo, hi;
    bool above;
} ProgBound;

/* What a run notes of an image (as IrNote) where `at`, rounded, is not in 0 .. extent - 1. */
typedef struct ProgNote {
    NoteKind kind;
    const char *name;
    int axis;       /* 0 x, 1 y, 2 z */
    int at, extent; /* host expressions */
} ProgNote;

enum { PROG_IDS_COLUMNS = 3 };

typedef struct ProgTable {
    const char *name;
    int step;            /* the measure step that fills it */
    const char *columns; /* comma separated: what is measured (measure_parse), or the names of columns */
    int sort;            /* the column, from 1, that its rows are sorted by, negative: largest first */
    int sky
        [2]; /* the columns, from 1, with x and y of a place to which RA and Dec are added as two more columns; 0: none */
    int ids[PROG_IDS_COLUMNS]; /* of its first columns: the input, from 1, whose places they are; 0: numbers */
} ProgTable;

/* What a driver made of one of the texts that a run compiles (dev_offer). */
typedef struct ProgBinary {
    const char *key;
    const char *bytes;
    size_t size;
} ProgBinary;

/* A program for other parameters than the defaults, with the same results: those with least[i] <= value < below[i]
 * for each parameter i. */
typedef struct ProgVariant {
    const double *least, *below;
    const struct Program *program;
} ProgVariant;

typedef struct Program {
    const char *name, *version, *hash; /* hash of source and compiler, 32 hex digits */
    const char *source;                /* the .pipe text */
    const char *library;               /* OpenCL C in front of every kernel; may be NULL */
    const HostNode *host;
    int n_host;
    const ProgInput *inputs;
    int n_inputs;
    const ProgParam *params;
    int n_params;
    const ProgOutput *outputs;
    int n_outputs;
    const ProgTable *tables;
    int n_tables;
    const ProgNeed *needs;
    int n_needs;
    const ProgBound *bounds;
    int n_bounds;
    const ProgNote *notes;
    int n_notes;
    const ProgGrid *grids;
    int n_grids;
    const ProgBuffer *buffers;
    int n_buffers;
    int n_values;
    const ProgKernel *kernels;
    int n_kernels;
    const ProgStep *steps;
    int n_steps;
    const ProgBinary *binaries;
    int n_binaries;
    const char *planned_for; /* "sigma from 12.1": what its kernels are best for; NULL: the defaults */
    const ProgVariant *variants;
    int n_variants;
    const struct Program *in_rounds; /* with the same results, for runs that do not fit otherwise: what may read any row
                                        of an image is a step of its own (ProgRead.in_rounds); NULL: none */
} Program;

#endif
