/* prim: the table of hand-written primitives, one row each. */
#include "prim.h"

#include <string.h>

#define PRIMITIVES(P) \
    P(reduce)         \
    P(rank)           \
    P(summary)        \
    P(histogram)      \
    P(boxes)          \
    P(threshold)      \
    P(otsu)           \
    P(label)          \
    P(label_equal)    \
    P(compact)        \
    P(colours)        \
    P(perlabel)       \
    P(measure)        \
    P(column)         \
    P(distance)       \
    P(nearest_label)  \
    P(reconstruct)    \
    P(local_maxima)   \
    P(window_rank)    \
    P(watershed)      \
    P(points)         \
    P(touches)        \
    P(near)           \
    P(near_pairs)     \
    P(track)          \
    P(ids)            \
    P(forest)         \
    P(hull)           \
    P(fourier)

#define DECLARE(name) extern const Primitive prim_##name;
PRIMITIVES(DECLARE)
#undef DECLARE

static const Primitive *const TABLE[] = {
#define ROW(name) &prim_##name,
    PRIMITIVES(ROW)
#undef ROW
};

const Primitive *prim_find(const char *name)
{
    for (size_t i = 0; name && i < sizeof TABLE / sizeof TABLE[0]; i++) {
        if (strcmp(TABLE[i]->name, name) == 0) {
            return TABLE[i];
        }
    }
    return NULL;
}
