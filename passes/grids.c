/*
 * grids: images that must have the same extents share a grid.
 *
 * Each input lies on a grid of its own.  Where two of them meet in an expression, a run compares their extents before it does
 * any work (IrEqual), so that one grid can stand for both.  What reads the two then reads images of one shape: it streams over
 * rows, and fuses as what reads one image does.
 *
 * For example, where %1 is an image,
 *
 *     grid 1 [x = extent(%2, x), y = extent(%2, y)]
 *     %2 flat = input "yx" : image f32 grid 1
 *     %3 a = map : image f32 grid 0
 *         in 0 div(%1, %2)
 *     output a = %3 as tif
 *     equal x
 *         a extent(%1, x)
 *         b extent(%2, x)
 *     equal y
 *         a extent(%1, y)
 *         b extent(%2, y)
 *
 * becomes
 *
 *     grid 1 [x = extent(%2, x), y = extent(%2, y)]
 *     %2 flat = input "yx" : image f32 grid 0
 *     %3 a = map : image f32 grid 0
 *         in 0 div(%1, %2)
 *     output a = %3 as tif
 *     equal x
 *         a extent(%1, x)
 *         b extent(%2, x)
 *     equal y
 *         a extent(%1, y)
 *         b extent(%2, y)
 */
#include "pass.h"

#include <string.h>

/* Expressions that are equal in every run have one that stands for all. */
typedef struct Extents {
    IrExpr *stands; /* by expression; its own number: it stands for itself */
} Extents;

static IrExpr standing_for(const Extents *x, IrExpr e)
{
    while (x->stands[e] != e) {
        e = x->stands[e];
    }
    return e;
}

static Extents extents_of(IrGraph *g)
{
    Extents x = {arena_array(g->arena, IrExpr, g->exprs.n)};
    for (int e = 0; e < g->exprs.n; e++) {
        x.stands[e] = (IrExpr)e;
    }
    for (int i = 0; i < g->equals.n; i++) {
        const IrExpr a = standing_for(&x, g->equals.at[i].a), b = standing_for(&x, g->equals.at[i].b);
        x.stands[a > b ? a : b] = a > b ? b : a;
    }
    return x;
}

static bool are_one(const IrGraph *g, const Extents *x, int a, int b)
{
    const IrGrid *one = &g->grids.at[a], *other = &g->grids.at[b];
    bool same = memcmp(one->has, other->has, sizeof one->has) == 0;
    for (int ax = 0; ax < IR_AXES && same; ax++) {
        same = standing_for(x, one->extent[ax]) == standing_for(x, other->extent[ax]);
    }
    return same;
}

bool pass_grids(IrGraph *g, PassContext *cx)
{
    (void)cx;
    const Extents x = extents_of(g);
    int *to = arena_array(g->arena, int, g->grids.n + 1);
    for (int k = 0; k < g->grids.n; k++) {
        while (!are_one(g, &x, to[k], k)) {
            to[k]++;
        }
    }
    bool any = false;
    for (IrId id = 1; id < (IrId)g->nodes.n && g->equals.n > 0; id++) {
        IrNode *node = ir_node(g, id);
        if (node->grid >= 0 && to[node->grid] != node->grid) {
            node->grid = to[node->grid];
            any = true;
        }
    }
    return any;
}
