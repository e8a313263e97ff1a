/*
 * epilogue: reductions that are taken while the image that they are about is written.
 *
 * A kernel that streams over rows has the pixels that it stores in registers.  Where a reduction
 * wants just these pixels, each group of the kernel reduces its own and hands a partial result on,
 * and the image is not read again.  Minima, maxima, counts and sums of small whole numbers are the
 * same in any order.  Other sums follow the blocks of reference/ref.h: columns of 64 rows, which are a
 * group's columns when its strips have 64 rows.  Such short strips compute their halo more often, so
 * that this is chosen when it takes less time than reading the image would.
 */
#include "epilogue.h"

enum {
    SUM = 1,
    SQUARES = 2,
    EXTREMES = 4,    /* bits of what a reduction is wanted for */
    BLOCK_ROWS = 64, /* as in reference/ref.h */
    MOST_TAKEN = 16  /* by one kernel: each is an argument */
};

/* Is it of a type all of whose numbers i32 has? */
static bool is_small(const IrGraph *g, IrExpr e)
{
    const IrExprNode *n = ir_expr(g, e);
    const Elem elem = n->op == IR_X_READ ? ir_node(g, n->node)->elem : ELEM_NONE;
    return elem == ELEM_BOOL || elem == ELEM_U8 || elem == ELEM_U16 || elem == ELEM_I16;
}

IrId pass_reduced_image(const IrGraph *g, const IrNode *reduction)
{
    if (reduction->op != IR_REDUCE || reduction->reduce.where != 0) {
        return 0;
    }
    const IrExprNode *e = ir_expr(g, reduction->reduce.value);
    if (e->op == IR_X_CAST && (e->type == ELEM_F32 || e->type == ELEM_F64)) {
        e = ir_expr(g, e->a);
    }
    if (e->op == IR_X_CAST && e->type == ELEM_I32 && is_small(g, e->a)) {
        e = ir_expr(g, e->a);
    }
    bool plain = e->op == IR_X_READ && e->a == 0 && e->b == 0 && e->c == 0 && e->channel == 0;
    return plain ? e->node : 0;
}

/* Whether sums of these pixels are whole numbers that doubles hold, for any image there is.  Squared distances from a mean
 * are none. */
static bool sums_are_exact(Elem elem, int wanted)
{
    bool small = elem == ELEM_BOOL || elem == ELEM_U8 || elem == ELEM_U16 || elem == ELEM_I16;
    return (wanted & SQUARES) == 0 && ((wanted & SUM) == 0 || small);
}

/* Strips of blocks waste rows of the halo; the image would be read once more without them, by one more kernel. */
static bool blocks_pay(Cost *c, const IrStep *step, IrId image)
{
    CostKernel k = cost_kernel(c, step->stages.at, step->stages.n);
    double often = (k.halo + BLOCK_ROWS) / BLOCK_ROWS, seldom = cost_strip_factor(k.halo);
    double size = (double)elem_size(ir_node(c->g, image)->elem);
    return k.known && step->stream == IR_AX_Y &&
           cost_time(c, &k) * (often - seldom) < cost_bytes(c, size) + cost_launch(c);
}

static void tell(Grouping *b, IrId image, IrId reduction)
{
    for (int at = b->first_remark[image]; at != 0; at = b->next_remark.at[at - 1]) {
        IrRemark *r = &b->s->remarks.at[at - 1];
        if (r->to == reduction) {
            r->state = IR_EDGE_ON_THE_WAY;
            r->bytes = (double)elem_size(ir_node(b->g, image)->elem);
            r->why = "reduced in registers by the kernel that stores its input";
        }
    }
}

void pass_choose_epilogues(Grouping *b)
{
    IrGraph *g = b->g;
    IrSchedule *s = b->s;
    int *taken = arena_array(g->arena, int, s->steps.n + 1); /* by step */
    for (IrId id = 1; id < (IrId)g->nodes.n; id++) {
        const IrNode *node = ir_node(g, id);
        IrId image = node->dead ? 0 : pass_reduced_image(g, node);
        if (image == 0 || ir_node(g, image)->op != IR_MAP || !s->stored[image] ||
            ir_node(g, image)->loop != node->loop || ir_domain(g, id) != ir_node(g, image)->grid) {
            continue;
        }
        IrStep *step = &s->steps.at[s->step[image]];
        double wanted;
        if (step->kind != IR_STEP_KERNEL || step->shape != IR_SHAPE_ROWS ||
            !ir_is_const(g, node->reduce.wanted, &wanted)) {
            continue;
        }
        int *n = &taken[s->step[image]];
        bool any_order = sums_are_exact(ir_node(g, image)->elem, (int)wanted);
        if (*n < MOST_TAKEN &&
            (any_order || pass_decide(b->cx, g, DECISION_BLOCKS, image, id, blocks_pay(&b->cost, step, image)))) {
            ++*n;
            step->strip = any_order ? step->strip : BLOCK_ROWS;
            s->taken_from[id] = image;
            s->reduced[image] = true;
            tell(b, image, id);
        }
    }
}
