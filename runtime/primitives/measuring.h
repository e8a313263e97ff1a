/*
 * measuring: one measurement under way; what prim_measure.c, measure_parts.c, measure_stages.c and
 * measure_finish.c share.
 *
 * Objects are measured in chunks of at most scratch.objects labels.  Stages after the first kernel
 * need counts and boxes of a chunk on the host; at the end its finished columns come over in blocks.
 */
#ifndef RUNTIME_MEASURING_H
#define RUNTIME_MEASURING_H

#include "measure_plan.h"

/* How an object stands to a part: it may lie in it, or be cut by it, as the last of its parts. */
enum { STANDING_INSIDE = 1, STANDING_CUT = 2, STANDING_LAST = 4 };

/* What is wanted: a table; of its last column a vector by label; the hulls of objects, painted into
 * a mask of zeros from plane arg[3] on. */
typedef enum MeasureResult { MEASURE_TABLE, MEASURE_VECTOR, MEASURE_MASK } MeasureResult;

typedef struct Measuring {
    PrimCall *call;
    MeasureResult result;
    MeasureList list;
    MeasureFrame frame;
    MeasureLanes lanes;
    MeasureScratch at;
    uint32_t count;       /* labels in all */
    uint32_t first, n;    /* the chunk: labels first .. first + n - 1 */
    int strip;            /* rows that a work-item goes down */
    /* Slices of scratch. */
    DevMem *spread, *window, *table, *lows, *place, *heights, *sizes, *stands, *work;
    const uint8_t *standing; /* in parts: [n], how objects stand to the part; NULL: they are in it */
    uint8_t wanted;       /* bits of standing that a stage is about */
    uint32_t span_from, span_to; /* in parts: objects that the part has something of are among these */
    struct MeasureCuts *cuts; /* in parts: see measure_cuts.h */
    uint64_t *counts;     /* [n], for the stages */
    uint32_t *boxes;      /* [lane][n], for the stages */
} Measuring;

/* Rows that a work-item goes down. */
int measuring_strip(const PrimCall *call);

/* Builds a kernel text behind the shared head; `value` > 0 defines READ_VALUE as that reader. */
bool measuring_program(const Measuring *m, const char *text, bool reads, int value,
                       DevProgram **program);

/* The programs that are known before anything has run (Primitive.program; measure_ahead.c); not all are
 * needed. */
enum { MEASURING_AHEAD = 12 + MEASURE_MAX_IMAGES };
bool measuring_program_ahead(const PrimCall *call, int which, DevProgram **program);

typedef struct MeasuringLaunch {
    DevProgram *program;
    const char *kernel;
    bool reads;          /* the reader's arguments come first */
    size_t groups[3];    /* 0: over the image, in strips */
    size_t group;
    const DevArg *args;
    int n_args;
} MeasuringLaunch;
bool measuring_launch(const Measuring *m, const MeasuringLaunch *launch);

/* Reads the call: what is wanted, and how scratch is divided.  The number of labels stays 0. */
bool measuring_open(PrimCall *call, Measuring *m);
/* The slices of scratch. */
bool measuring_open_slices(Measuring *m);
void measuring_close_slices(Measuring *m);
/* Memory on the host for chunks of at.objects objects. */
bool measuring_host_memory(Measuring *m);
void measuring_free(Measuring *m);

/* How far pixel values spread, which some sums need first; at last the lanes that fit. */
bool measuring_is_windowed(const Measuring *m);
bool measuring_clear_spread(Measuring *m);
bool measuring_find_spread(Measuring *m);
bool measuring_fix_lanes(Measuring *m);

/* The sums of a chunk. */
bool measuring_clear_sums(Measuring *m);
bool measuring_add_sums(Measuring *m);
bool measuring_add_outline(Measuring *m);
bool measuring_read_boxes(Measuring *m);
/* In parts: the smallest label in the part and `halo` rows (planes) around it, and the largest, 0 where there
 * is none. */
bool measuring_reach_program(const Measuring *m, DevProgram **program);
bool measuring_find_reach(Measuring *m, int halo, uint32_t *least, uint32_t *most);

/* Room for a table of a row for each label, with one column more: the labels; or a vector of zeros. */
bool measuring_begin_result(const Measuring *m);
/* Brings a table's columns together, which were `count` apart. */
bool measuring_close_result(Measuring *m);

/* The primitive's functions for images in parts (measure_parts.c). */
int measure_parts_passes(const PrimCall *call, MeasureResult result);
int measure_parts_halo(const PrimCall *call);
bool measure_parts_run(PrimCall *call, MeasureResult result);

/* The primitive itself (prim_measure.c); scratch for it. */
bool measuring_run(PrimCall *call, MeasureResult result);
size_t measuring_scratch(const PrimCall *call);
void measure_parts_forget(void *state);

/* Everything after the first kernel: rows, hulls, moments, medians, holes. */
bool measuring_stages(Measuring *m);
/* True when there are any; when there are some that find rows. */
bool measuring_has_stages(const Measuring *m);
bool measuring_has_rows(const Measuring *m);
/* The middle values of an image; `place`: by count.  Holes; `place` is overwritten. */
/* Says that the host has no memory; returns false. */
bool measuring_no_memory(const Measuring *m);

/* Objects from .. to of the chunk have their places; `size` is what they take together. */
typedef struct MeasureShare {
    uint32_t from, to;
    uint64_t size;
} MeasureShare;

/* What objects are given places for (measure_places.c): the rows of their boxes, their pixels, the words
 * of their bits. */
typedef enum MeasureSizes { MEASURE_ROWS, MEASURE_PIXELS, MEASURE_WORDS } MeasureSizes;
bool measuring_places_program(const Measuring *m, DevProgram **program);
/* The sizes of the objects that a stage is about. */
bool measuring_find_sizes(Measuring *m, MeasureSizes of);
/* The next share of objects whose sizes fit into `capacity`, from the first to the last that has any;
 * from == to behind the last one. */
bool measuring_take_share(Measuring *m, uint64_t capacity, MeasureShare *share);
/* The places of a share's objects: as uint, with their sizes as heights; as ulong. */
bool measuring_place_rows(Measuring *m, const MeasureShare *share);
bool measuring_place(Measuring *m, const MeasureShare *share);

/* The same on the host, for objects that parts cut (measure_shares.c).  Sizes of object k; 0 when the
 * stage is not about it.  Of an object that is cut the rows and words that lie in the part. */
typedef uint64_t MeasuringSize(const Measuring *m, uint32_t k);
MeasuringSize measuring_count_of, measuring_rows_of, measuring_words_of;
/* The axis that parts are cut from, where they begin along it, and where they end. */
int measuring_cut_axis(const Measuring *m, int32_t *first, int32_t *last);
void measuring_clipped_box(const Measuring *m, uint32_t k, int32_t lo[3], int32_t hi[3]);
/* place[k] is where object k begins, or MEASURE_NOWHERE when it has no size. */
#define MEASURE_NOWHERE (UINT64_C(1) << 63)
bool measuring_next_share(const Measuring *m, MeasuringSize *size_of, uint64_t capacity,
                          MeasureShare *share, uint64_t *place);
bool measuring_write_places(Measuring *m, const uint64_t *place);

/* The box of object k, both ends included, from minima that lie `stride` apart. */
void measuring_box(const uint32_t *minima, size_t stride, int dims, uint32_t k, int32_t lo[3],
                   int32_t hi[3]);
bool measuring_finish_program(const Measuring *m, DevProgram **program);
/* Appends the chunk's present objects to the table, or puts them into the vector. */
bool measuring_finish(Measuring *m);

#endif
