/*
 * track: objects of successive frames linked to tracks; evaluator and runtime have it from here.
 *
 * Two rounds of linear assignment, as Jaqaman et al. (Nature Methods 5, 695, 2008) have them: first objects of successive
 * frames are linked, then ends of tracks with later beginnings (gaps), with objects that have a predecessor already (merges),
 * and beginnings with objects that have a successor already (splits).
 *
 * A link costs up to 1: the square of the distance over that of the limit, or what two objects have not in common over what
 * they have together.  An end or a beginning that remains costs 1.  Costs are rounded to 2^-40, so that sums are exact.  Of
 * assignments that cost the same it is the first by the order of labels: the object with the lowest number has the
 * lowest-numbered partner that it has in one of them (none comes last), then the next object, and so on.
 */
#ifndef BASE_TRACK_H
#define BASE_TRACK_H

#include "err.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum TrackWhat {
    TRACK_ID, /* the track of an object, from 1 on by the first object of each, in order of frames and labels; 0: no frame */
    TRACK_PARENT, /* of an object's track: that from which it was split, or the first that was merged into it; 0: none */
    TRACK_SECOND  /* the other that was merged into it; 0: none */
} TrackWhat;

/* Objects 1..n, and pairs 1..pairs of them that overlap.  Owned by the caller. */
typedef struct TrackJob {
    uint32_t n;
    const float *frame,
        *last;   /* [n + 1]: the first and the last frame of an object, the same; not finite: it is not there */
    bool paired; /* links are pairs; false: of all objects that are near enough */
    uint64_t pairs;
    const float *value[3]; /* places [n + 1]; of pairs [pairs + 1]: an object, one in a later frame, the cost */
    double limit;          /* the largest distance of a link, above 0; of pairs the largest cost, at most 1 */
    double gap;            /* so many frames may lie between two objects of a track */
    bool splits, merges;
} TrackJob;

/* A number of pairs that was computed. */
bool track_count(double pairs, uint64_t *count, Err *err);
/* Writes out[0..n], out[0] = 0; false: no memory, or an object is in several frames. */
bool track_objects(const TrackJob *job, TrackWhat what, uint32_t *out, Err *err);

#endif
