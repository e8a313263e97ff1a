/* prim: the table of hand-written primitives, one row each. */
#include "prim.h"

#include <stdlib.h>
#include <string.h>

enum { WORTH_PINNING = 1 << 20 /* bytes */ };

#define PRIMITIVES(P) \
    P(reduce)         \
    P(rank)           \
    P(summary)        \
    P(histogram)      \
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
    P(ids)            \
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

PrimPart prim_part(const PrimCall *call)
{
    if (call->part.cut) {
        return call->part;
    }
    return (PrimPart){.h = call->h,
                      .d = call->d,
                      .channels = call->planes / call->d,
                      .rows = call->h,
                      .planes = call->planes,
                      .parts = 1,
                      .first = true,
                      .last = true};
}

PrimCall prim_longest(const PrimCall *call)
{
    PrimCall longest = *call;
    if (call->part.cut) {
        longest.h = call->part.rows;
        longest.d = longest.planes = call->part.planes;
    }
    return longest;
}

static void free_room(PrimTable *table)
{
    if (table->pinned) {
        dev_host_free(table->pinned, table->at);
    } else {
        free(table->at);
    }
    table->at = NULL;
    table->pinned = NULL;
    table->room = 0;
}

bool prim_table_room(Device *dev, PrimTable *table, size_t room)
{
    if (table->at && table->room >= room) {
        return true;
    }
    size_t bytes = room * sizeof *table->at;
    Err ignored = {0};
    void *at = NULL;
    free_room(table);
    if (bytes >= WORTH_PINNING && !dev_info(dev)->cpu && dev_host_alloc(dev, bytes, &at, &ignored)) {
        table->pinned = dev;
    }
    table->at = at ? at : malloc(bytes);
    table->room = table->at ? room : 0;
    return table->at != NULL;
}

void prim_table_free(PrimTable *table)
{
    if (table) {
        free(table->names);
        free(table->integer);
        free_room(table);
        *table = (PrimTable){0};
    }
}
