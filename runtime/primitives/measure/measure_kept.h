/*
 * measure_kept: what parts leave of the objects that they cut.
 *
 * A block is what one part leaves of a share of these, as it lay in the work area: object after object, of each
 * what it has in the part.  Where that is follows from the part and the objects' boxes, so a block is nothing
 * but bytes to the host.  It comes back to a slice of device memory, from where a kernel takes what
 * objects have in it to where they have a place now (kernels/measure_cuts.cl).
 */
#ifndef RUNTIME_MEASURE_KEPT_H
#define RUNTIME_MEASURE_KEPT_H

#include "measure_cuts.h"

typedef struct MeasureBlock {
    int32_t from, to;   /* rows (planes) of its part */
    MeasureShare share; /* of the objects that the part cuts */
    bool stale;         /* bits: there may be more to reach */
    char *bytes;
} MeasureBlock;

typedef struct MeasureKept {
    MeasureBlock *at;
    size_t n, room;
} MeasureKept;

/* The records of objects that go on behind the part, of one image. */
typedef struct MeasureCarried {
    char *at;
    uint64_t n;
} MeasureCarried;

struct MeasureCuts {
    MeasureKept rows, bits;
    MeasureCarried carried[MEASURE_MAX_IMAGES];
    bool medians;         /* some object with a median is cut */
    int32_t ending, open; /* the first rows (planes) of objects that end in the part, and that go on behind
                             it; INT32_MAX: there are none */
};

/* Room for a block of so many bytes; NULL: no memory, and the error says so.  Valid until the next one. */
MeasureBlock *measure_kept_add(Measuring *m, MeasureKept *kept, const MeasureShare *share, size_t bytes);
/* Frees blocks of parts before row (plane) `first`. */
void measure_kept_drop(MeasureKept *kept, int32_t first);

/* Objects that the call's part, or a block's, cuts. */
MeasureAbout measure_cut_by_part(const Measuring *m);
MeasureAbout measure_cut_by_block(const MeasureBlock *block);

/*
 * What is moved between two places, of objects in both: `here`, where they lie as `sizes` says, and what was
 * kept, where they lie as `others` says; each counted from the first of its objects.
 */
typedef struct MeasureMove {
    const MeasureAbout *about_here, *about_kept;
    MeasureShare here, kept;
    uint32_t unit; /* words of a row, or of a record; 0: a bit a pixel */
    bool record;
    DevMem *memory_here, *memory_kept;
    uint64_t at_here, at_kept;     /* words */
    size_t columns;                /* 0: one */
    uint64_t step_here, step_kept; /* words from column to column */
} MeasureMove;
bool measure_fetch(const Measuring *m, const MeasureMove *move);
/* The other way; *news: whether something differs. */
bool measure_keep(const Measuring *m, const MeasureMove *move, bool *news);

/* Takes the rows of cut objects in the part, and finishes those that end in it (measure_cut_rows.c). */
bool measure_cut_rows(Measuring *m);
bool measure_cut_paint(Measuring *m);
/* The same of their holes (measure_cut_holes.c). */
bool measure_cut_holes(Measuring *m);

#endif
