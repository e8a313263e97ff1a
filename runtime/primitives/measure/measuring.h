/*
 * measuring: one measurement under way; what prim_measure.c, measure_parts.c, measure_stages.c and
 * measure_finish.c share.
 *
 * Objects are measured in chunks of at most scratch.objects labels.  Counts and boxes of a chunk, which the
 * stages after the first kernel need, stay on the device; at the end its finished columns come over.
 */
#ifndef RUNTIME_MEASURING_H
#define RUNTIME_MEASURING_H

#include "measure_plan.h"

/* How an object stands to rows (planes) from .. to: it lies in them; has some in them and some elsewhere; is cut
 * and has its last one in them; has some up to `to` and some behind it. */
typedef enum MeasureStanding {
    STANDING_ANY,
    STANDING_INSIDE,
    STANDING_CUT,
    STANDING_ENDING,
    STANDING_OPEN
} MeasureStanding;

/* Which objects are about; of those that are cut, what they have in the rows and so many around these. */
typedef struct MeasureAbout {
    MeasureStanding standing;
    int32_t from, to, around;
} MeasureAbout;

/* What is wanted: a table; of its last column a vector by label; the hulls of objects, painted into
 * a mask of zeros, behind the rows before it. */
typedef enum MeasureResult { MEASURE_TABLE, MEASURE_VECTOR, MEASURE_MASK } MeasureResult;

typedef struct Measuring {
    PrimCall *call;
    MeasureResult result;
    MeasureList list;
    MeasureFrame frame;
    bool looks; /* pixel values are looked at before they are summed: some image's type does not say how */
    MeasureLanes lanes;
    MeasureScratch at;
    uint32_t count;    /* labels in all */
    uint32_t first, n; /* the chunk: labels first .. first + n - 1 */
    int strip;         /* rows that a work-item goes down */
    /* Slices of scratch. */
    DevMem *numbers, *window, *table, *lows, *place, *heights, *sizes, *others, *groups, *work;
    MeasureAbout about;       /* in parts: the objects that the stages are about */
    struct MeasureCuts *cuts; /* in parts: see measure_cuts.h */
    bool unsure;          /* the work area may have been too small for some objects, which wait (measuring_settle) */
    MeasureWanted wanted; /* then: what all of them take, as soon as the host knows */
} Measuring;

/* Rows that a work-item goes down. */
int measuring_strip(const PrimCall *call);

/* Builds a kernel text behind the shared head; `value` > 0 defines READ_VALUE as that reader. */
bool measuring_program(const Measuring *m, const char *text, bool reads, int value, DevProgram **program);

/* The programs that are known before anything has run (Primitive.program; measure_ahead.c); not all are
 * needed. */
enum { MEASURING_AHEAD = 12 + MEASURE_MAX_IMAGES };
bool measuring_program_ahead(const PrimCall *call, int which, DevProgram **program);

typedef struct MeasuringLaunch {
    DevProgram *program;
    const char *kernel;
    bool reads;       /* the reader's arguments come first */
    size_t groups[3]; /* 0: over the image, in strips */
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

/* How far pixel values spread, where `looks`; at last the lanes that fit.  With the spread comes the number of
 * labels, as the pipeline has it, unless `count` is NULL. */
bool measuring_clear_spread(Measuring *m);
bool measuring_find_spread(Measuring *m);
bool measuring_fix_lanes(Measuring *m, double *count);

/* The sums of a chunk. */
bool measuring_clear_sums(Measuring *m);
bool measuring_add_sums(Measuring *m);
bool measuring_add_outline(Measuring *m);
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
/* For Primitive.shares: the passes that sum, not those that follow rows of objects. */
bool measure_parts_shares(const PrimCall *call);
bool measure_parts_run(PrimCall *call, MeasureResult result);

/* The primitive itself (prim_measure.c); scratch for it. */
bool measuring_run(PrimCall *call, MeasureResult result);
size_t measuring_scratch(const PrimCall *call);
void measure_parts_forget(void *state);

/* Everything after the first kernel: rows, hulls, moments, medians, holes; of as many objects as fit into the
 * work area together, from the first one on.  Whether these are all, the host asks later (m->unsure). */
bool measuring_stages(Measuring *m);
/* Where the host is unsure: puts what all objects take beside something that it will read. */
bool measuring_copy_wanted(const Measuring *m, DevMem *to, size_t offset);
/* The answer (m->wanted) says that some objects were left out. */
bool measuring_lacks_room(const Measuring *m);
/* The objects that were left out, as many at a time as fit; then the host is sure. */
bool measuring_other_shares(Measuring *m);
/* Asks, where the host is unsure, and has the objects measured that were left out; *some: there were any. */
bool measuring_settle(Measuring *m, bool *some);
/* True when there are any; when there are some that find rows. */
bool measuring_has_stages(const Measuring *m);
bool measuring_has_rows(const Measuring *m);
/* Says that the host has no memory; returns false. */
bool measuring_no_memory(const Measuring *m);

/* Objects from .. to of the chunk have their places, those that lie within `size` together; where the host knows
 * how far they reach, that is what they take. */
typedef struct MeasureShare {
    uint32_t from, to;
    uint64_t size;
} MeasureShare;

/* What objects are given places for (measure_places.c): the rows of their boxes, their pixels, the words
 * of their bits, a record each. */
typedef enum MeasureSizes { MEASURE_ROWS, MEASURE_PIXELS, MEASURE_WORDS, MEASURE_RECORDS } MeasureSizes;
bool measuring_places_program(const Measuring *m, DevProgram **program);
/* Launches a kernel whose first parameters are PLACES_PARAMS (kernels/measure_places.cl), of one work-item for
 * each object or of the groups that are given. */
typedef struct MeasuringAbout {
    const char *kernel;
    size_t groups[3], group;   /* 0: one for each object */
    const MeasureAbout *of[2]; /* PLACES_ABOUT; NULL: none */
    const DevArg *args;
    int n_args;
} MeasuringAbout;
bool measuring_launch_about(const Measuring *m, const MeasuringAbout *launch);
/* The axis that parts are cut from, where the part begins along it, and where it ends. */
int measuring_cut_axis(const Measuring *m, int32_t *first, int32_t *last);
/* Sizes of objects, added up: those that the stages are about to `sizes`; others. */
bool measuring_find_sizes(Measuring *m, MeasureSizes of);
bool measuring_add_sizes(Measuring *m, MeasureSizes of, const MeasureAbout *about, DevMem *before);
/* The first share of objects in `sizes` that fit into `capacity`, which the host knows no more of; what all
 * objects take is kept for it in `wanted`, a place in numbers.wanted. */
bool measuring_first_share(Measuring *m, uint64_t capacity, size_t wanted, MeasureShare *share);
/* The next share, from the first to the last object that has any; from == to behind the last one.  Waits. */
bool measuring_take_share(Measuring *m, uint64_t capacity, MeasureShare *share);
/* The places of a share's objects: as uint, with their sizes as heights; as ulong. */
bool measuring_place_rows(Measuring *m, const MeasureShare *share);
bool measuring_place(Measuring *m, DevMem *before, const MeasureShare *share);
/* Fills the rows of a share's objects in `sizes`: ends with `first` and `last`, [2][at.rows]; powers, which may
 * be NULL, with 0. */
bool measuring_clear_rows(Measuring *m, const MeasureShare *share, int32_t first, int32_t last, DevMem *ends,
                          DevMem *powers);

bool measuring_finish_program(const Measuring *m, DevProgram **program);
/* Appends the chunk's present objects to the table, or puts them into the vector; has objects measured before
 * that were left out. */
bool measuring_finish(Measuring *m);

#endif
