/* shifted: parts are moved up until they begin with the current row, and compared. */
#include "shifted.h"

#include "../ir/apply.h"

enum { DEEPEST = 24 }; /* of the parts that are compared */

typedef struct Part {
    IrExpr moved; /* what it is when it begins with the current row */
    int row;      /* with which it begins */
} Part;

typedef struct Shifted {
    IrGraph *g;
    Vec(IrExpr) costly;
    Vec(Part) parts;
} Shifted;

static void look_for_costly(const IrGraph *g, IrExpr e, void *ctx)
{
    Shifted *s = ctx;
    const IrExprNode *n = ir_expr(g, e);
    if (n->rank == IR_PIXEL && n->type != ELEM_F64 && n->depth <= DEEPEST && ir_op_is_costly(n->op)) {
        vec_push(s->g->arena, &s->costly, e);
    }
}

typedef struct Rows {
    int first;
    bool any, known;
} Rows;

static void look_for_rows(const IrGraph *g, IrExpr e, void *ctx)
{
    Rows *rows = ctx;
    const IrExprNode *n = ir_expr(g, e);
    double by = 0;
    bool place = n->op == IR_X_COORD || n->op == IR_X_READAT || n->op == IR_X_FOLD;
    if (place || (n->op == IR_X_READ && (n->c != 0 || (n->b != 0 && !ir_is_const(g, n->b, &by))))) {
        rows->known = false;
    } else if (n->op == IR_X_READ) {
        rows->first = rows->any && rows->first < by ? rows->first : (int)by;
        rows->any = true;
    }
}

/* What lies inside the image has no border. */
static IrExpr move_up(IrGraph *g, IrExpr e, void *ctx)
{
    const Rows *rows = ctx;
    const IrExprNode n = *ir_expr(g, e);
    if (n.op != IR_X_READ || n.rank != IR_PIXEL) {
        return e;
    }
    double by = 0;
    (void)(n.b != 0 && ir_is_const(g, n.b, &by));
    const double now = by - rows->first;
    const IrExpr offset[3] = {n.a, now != 0 ? ir_const(g, now) : 0, 0};
    return ir_read_offset(g, n.node, offset, n.channel, BORDER_NEAREST, 0);
}

/* Whether a part that begins with another row is the same. */
static bool is_there(Shifted *s, IrExpr e)
{
    Rows rows = {.known = true};
    ir_walk(s->g, e, look_for_rows, &rows);
    if (!rows.known || !rows.any) {
        return false;
    }
    const Part part = {ir_rewrite(s->g, e, move_up, &rows), rows.first};
    for (int i = 0; i < s->parts.n; i++) {
        if (s->parts.at[i].moved == part.moved && s->parts.at[i].row != part.row) {
            return true;
        }
    }
    vec_push(s->g->arena, &s->parts, part);
    return false;
}

bool pass_is_shifted(IrGraph *g, IrId stage)
{
    Shifted s = {.g = g};
    ir_walk(g, ir_node(g, stage)->map.value, look_for_costly, &s);
    bool there = false;
    for (int i = 0; i < s.costly.n && !there; i++) {
        there = is_there(&s, s.costly.at[i]);
    }
    return there;
}
