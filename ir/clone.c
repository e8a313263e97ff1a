/* clone: a second graph with the same numbers, so that ids and expressions mean the same in both. */
#include "clone.h"

#include <string.h>

/* A Vec's elements in another arena. */
#define COPY_VEC(arena, to, from)                                              \
    do {                                                                       \
        (to)->n = (to)->cap = (from)->n;                                       \
        (to)->at = arena_alloc((arena), sizeof *(to)->at * (size_t)(from)->n); \
        if ((from)->n > 0) {                                                   \
            memcpy((to)->at, (from)->at, sizeof *(to)->at *(size_t)(from)->n); \
        }                                                                      \
    } while (0)

IrGraph *ir_clone(const IrGraph *from, Arena *arena)
{
    IrGraph *g = arena_new(arena, IrGraph);
    *g = *from;
    g->arena = arena;
    g->scratch = NULL;
    g->names = NULL;
    g->free_indices.at = NULL;
    g->free_indices.n = g->free_indices.cap = 0;
    COPY_VEC(arena, &g->nodes, &from->nodes);
    COPY_VEC(arena, &g->exprs, &from->exprs);
    COPY_VEC(arena, &g->grids, &from->grids);
    COPY_VEC(arena, &g->params, &from->params);
    COPY_VEC(arena, &g->loops, &from->loops);
    COPY_VEC(arena, &g->outputs, &from->outputs);
    COPY_VEC(arena, &g->notes, &from->notes);
    COPY_VEC(arena, &g->bounds, &from->bounds);
    COPY_VEC(arena, &g->equals, &from->equals);
    COPY_VEC(arena, &g->functions, &from->functions);
    COPY_VEC(arena, &g->ends, &from->ends);
    for (int i = 0; i < g->loops.n; i++) {
        COPY_VEC(arena, &g->loops.at[i].carries, &from->loops.at[i].carries);
    }
    g->hash = arena_array(arena, uint32_t, from->hash_cap);
    if (from->hash_cap > 0) {
        memcpy(g->hash, from->hash, sizeof *g->hash * (size_t)from->hash_cap);
    }
    ir_copy_names(from, g);
    return g;
}
