/*
 * prim: the hand-written primitives and how the executor calls them.
 *
 * A primitive is one file prim_NAME.c (host side) with kernels/NAME.cl (device side, embedded at
 * build as a string constant `kernel_text_NAME`).  It is one row of the table in prim.c.
 *
 * Inputs that are computed on the fly come as text: `reader` is OpenCL C that defines, for input
 * number k of the node (base/nodes.def), a function
 *
 *     static TYPE read_k(READ_PARAMS, int x, int y, int plane);     // READ_PARAMS: a macro
 *
 * and the macros READ_PARAMS (kernel parameter declarations, never empty), READ_ARGS (the same
 * names, to pass on) and READ_TYPE_k (the OpenCL type: float, int, uint, bool).  A kernel that
 * reads is declared  kernel void f(READ_PARAMS, own parameters...)  and the executor's arguments
 * `reader_args` come first.  Pixels with x >= w or y >= h must not be read.
 *
 * Inputs may be absent (`where` of a reduction without a condition): for each input k that the text
 * defines it also has  #define READ_HAS_k 1 .  Uniform inputs (lo and hi of histogram and
 * threshold) are functions of the same form that ignore x, y and plane; their type is double.
 *
 * In a loop that ends by itself the text has  #define READ_ENDED(values) : the rounds are over (program.h).
 *
 * Kernels that read nothing computed stand in a program of their own, without `reader` and whatever else differs
 * from pipeline to pipeline: it is compiled once for all of them.  What such a kernel must know of the pipeline are
 * arguments.
 *
 * In place.  Inputs that are BEFORE in base/nodes.def may lie where the result goes: the primitive has read each
 * pixel of them, and what it computes together with it, for the last time before it writes there, in each of
 * its calls.
 *
 * Parts.  An image that does not fit into the device's memory is cut into parts: strips of rows over
 * the full width, one channel at a time; where the image has a z axis, strips of whole planes, or of
 * rows of all planes.  A primitive that can work so has `passes` in its row of the table, and is called once for each pass
 * and part, parts in raster order (of one channel, then the next strip's; all parts of a pass come
 * before the next pass).  What it sees is the part: w, h, d, planes, in[] and out[] are those of the
 * part, and the reader counts rows and planes from the part's first; `part` says where that is; the
 * memory of stored inputs may begin before it (PrimImage.before) and, for primitives with a halo, go on behind
 * it.
 * Between the calls it keeps what is in `scratch`, vectors it writes and `state`; images that it
 * writes have room in every pass and are wanted in the last one; the table is the same in all calls.
 * The values are wanted after the last call.  The results are those of the run in one piece, bit for
 * bit.  A run in one piece is one call.
 *
 * Determinism: results must not depend on the device, group size, scheduling or tiling.  No
 * floating-point atomics; integer atomics are fine.  Sums of floats follow a fixed tree or are
 * made exact in integers.
 */
#ifndef RUNTIME_PRIM_H
#define RUNTIME_PRIM_H

#include "../device/cl.h"
#include "../host/owners.h"
#include "../../base/nodes.h"
#include "../../program/program.h"

typedef struct PrimImage {
    DevMem *mem;
    Elem elem;           /* never ELEM_FILE */
    int w, h, d, planes; /* planes = d * channels */
    int pitch;           /* elements from row to row */
    int64_t length;      /* vectors: elements; images: planes * h * pitch */
    size_t before;       /* inputs in parts: rows that `mem` has before the part's first; across planes `h` is
                             the rows that it has of each plane */
} PrimImage;

enum { SHAPE_BY_DEVICE, SHAPE_GPU, SHAPE_CPU };

/* The part of the image that a call is about. */
typedef struct PrimPart {
    bool cut;           /* the image is in parts; false: the call is about all of it, every channel,
                           and all fields are 0 */
    int y, z, c;        /* its first row and plane, and its channel */
    int h, d, channels; /* rows, planes and channels of the image */
    int rows, planes;   /* rows and planes of the longest part: scratch is for that one */
    bool across;        /* it has rows of all planes of a volume */
    int number, parts;  /* which one of how many parts of its channel */
    int pass;           /* from 0 */
    bool first, last;   /* part of the pass */
} PrimPart;

/* The programs that a step has asked for; prim_program.c keeps the list. */
typedef struct PrimProgram PrimProgram;
void prim_programs_free(PrimProgram **programs);

typedef struct PrimCall {
    Device *dev;
    const char *name;   /* the step's name, for messages and as `what` of launches */
    bool quick;         /* of a small image: compiled without optimisation where that is quicker */
    const char *reader; /* text, with defines; NULL when nothing is computed on the fly */
    const DevArg *reader_args;
    int n_reader_args;
    int w, h, d, planes, pitch; /* the iteration domain */
    union {
        struct {
            PrimImage in[NODE_INPUTS];  /* stored inputs; mem NULL for computed ones */
            double arg[NODE_ARGUMENTS]; /* host arguments */
        };
#define INPUT PrimImage
#define ARGUMENT double
#include "../../base/node_members.h" /* the same by name: call->watershed.markers */
#undef INPUT
#undef ARGUMENT
    };
    Elem pixels[NODE_INPUTS]; /* the types of pixels that it reads as they are; ELEM_NONE: computed ones */
    PrimImage out[4];         /* what it writes */
    const char *text;         /* columns */
    DevMem *values;           /* the buffer of doubles */
    int value;                /* first slot that it writes; -1 none */
    int of_value;             /* slot of the count of the labels it is about; -1 none */
    int ended;                /* in a loop that may be run ahead: the slot of PROG_ENDED; 0 none */
    PrimPart part;
    double labels;              /* in parts: the value at of_value, NaN without one; for scratch_bytes as
                                many as are expected where it is not known yet, or there is none */
    bool certain;               /* in parts: labels are as many as there are */
    uint64_t room;              /* in parts: bytes of scratch that may be for labels, however short parts are */
    uint64_t limit;             /* in parts: bytes that all of them may take; 0: what the device lets a run hold */
    void **state;               /* in parts: what the primitive keeps on the host; NULL at first */
    uint64_t *note;             /* in parts: what it would know when the step is run again, in the next round
                                of a loop; 0 at first.  It may save passes and changes no result.  NULL:
                                nobody keeps it */
    struct PartsBudget *budget; /* in parts: for pixels that it keeps on the host (parts_store.h) */
    bool (*stop)(void *);       /* asked between long pieces of work, with stop_context; NULL: nobody asks */
    void *stop_context;
    Owners *owners;  /* in parts: these share them (Primitive.shares); NULL: nobody does */
    bool done;       /* set with a pass's last part: the passes that are left have nothing
                                to do */
    DevMem *scratch; /* at least scratch_bytes(call) bytes */
    size_t scratch_size;
    size_t fed;              /* so many partial results are in scratch already: in one piece, the
                                image need not be read (reduce) */
    PrimProgram **programs;  /* what the step has asked for, kept between its runs; NULL: nothing is */
    const uint32_t *numbers; /* IDS: of labels, from [1], and 1 before them; NULL: places are the numbers */
    size_t n_numbers;
    struct PrimTable *table; /* MEASURE: the rows, filled on the host after the step */
    int shape;               /* SHAPE_BY_DEVICE; tests may ask for a shape of kernels */
    Err *err;
} PrimCall;
/* The part that a call is about; where the image is not cut, all of it as one part. */
PrimPart prim_part(const PrimCall *call);
/* The same call about the longest part, which scratch is for. */
PrimCall prim_longest(const PrimCall *call);

/* A finished table: columns of doubles, one row for each present label. */
typedef struct PrimTable {
    int64_t rows;
    int columns;
    char (*names)[64]; /* "label", "area", "centroid-0" ... */
    bool *integer;     /* print without decimals */
    size_t room;       /* doubles that there is room for in `at` */
    double *at;        /* [column * rows + row]; NaN prints as an empty field; behind the last
                             column there is one more: the labels of the rows */
    Device *pinned;    /* whose pinned memory `at` is; NULL: malloc's */
} PrimTable;
/* Room for so many doubles, pinned where that is worth it.  Room that there is from another run is used
 * again: a large table's memory is costly to get.  False: no memory. */
bool prim_table_room(Device *dev, PrimTable *table, size_t room);
/* Frees what the table holds and empties it; NULL is allowed. */
void prim_table_free(PrimTable *table);

typedef struct Primitive {
    const char *name;                              /* as in base/nodes.def */
    size_t (*scratch_bytes)(const PrimCall *call); /* from w, h, d, planes, arg, in[], out[] and the
                                                    device alone; that (planning for a GPU without one) and
                                                    mem pointers may be NULL.  In parts also from labels,
                                                    part.pass and state, which may be NULL: scratch may
                                                    grow from pass to pass.  NULL: none */
    bool (*run)(PrimCall *call);                   /* enqueues; waits only where it must */
    int (*passes)(const PrimCall *call);           /* over the parts of an image in parts; NULL: it needs all
                                            of the image at once.  Parts of volumes may be rows of all
                                            planes (PrimPart.across): then raster order is not that of the
                                            parts, and stored inputs have the part's rows alone, unless it has a
                                            halo */
    bool ahead;  /* may be run for a round that is none any more: all of its kernels ask VISIT_ENDED
                   (kernels/visit.cl), and nothing else writes */
    int reading; /* the passes, from the first one on, that read its inputs; 0: all */
    int grain;   /* parts of rows begin at multiples of it, and all but the last are multiples; 0: any */
    int (*halo)(const PrimCall *call); /* rows (planes) beyond the part that it asks for, of the reader
                                          and of stored inputs, where the image has them; NULL: none */
    /* The parts of this pass may be shared out to owners: first and last are those of this owner's parts then, which
       follow each other, and there is one at least.  With the last one it swaps what it has found (call->owners), and
       goes on as if it had seen all parts.  NULL: in no pass. */
    bool (*shares)(const PrimCall *call);
    void (*forget)(void *state); /* frees what it kept; NULL: nothing */
    int programs;                /* how many of those that run asks for are known before it; the rest is compiled when
                     it is asked for */
    /* Number `which` of them, maybe in another thread; the call is as for scratch_bytes, with the
     * reader.  NULL where this call does not ask for that one. */
    bool (*program)(const PrimCall *call, int which, DevProgram **program);
} Primitive;

/* NULL when there is none of that name. */
const Primitive *prim_find(const char *name);

#endif
