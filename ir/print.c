/* print: see print.h for the format. */
#include "print.h"
#include "footprint.h"
#include "function.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const AXIS[IR_AXES] = {"x", "y", "z", "c"};

static void number(double v, Str *out)
{
    char text[64];
    if (isinf(v)) {
        str_add(out, v > 0 ? "inf" : "-inf");
        return;
    }
    if (isnan(v)) {
        str_add(out, "nan");
        return;
    }
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, v);
        double back;
        if (sscanf(text, "%lf", &back) == 1 && back == v) {
            break;
        }
    }
    str_add(out, text);
}

static void print_read(const IrGraph *g, const IrExprNode *n, Str *out)
{
    str_addf(out, "%%%u", n->node);
    const IrExpr at[3] = {n->a, n->b, n->c};
    const char *lead = n->op == IR_X_READAT ? "@[" : "[";
    for (int ax = 0; ax < 3; ax++) {
        if (at[ax] != 0) {
            str_addf(out, "%s%s = ", lead, AXIS[ax]);
            ir_print_expr(g, at[ax], out);
            lead = ", ";
        }
    }
    if (n->channel != 0) {
        str_addf(out, "%sc = ", lead);
        ir_print_expr(g, n->channel, out);
        lead = ", ";
    }
    if (n->border != IR_NEAREST) {
        str_addf(out, "%sborder = %s", lead, IR_BORDER_NAMES[n->border]);
        lead = ", ";
    }
    if (n->outside != 0) {
        str_addf(out, "%soutside = ", lead);
        ir_print_expr(g, n->outside, out);
        lead = ", ";
    }
    if (strcmp(lead, ", ") == 0) {
        str_add(out, "]");
    } else if (n->op == IR_X_READAT) {
        str_add(out, "@[]");
    }
}

static void print_fold(const IrGraph *g, const IrExprNode *n, Str *out)
{
    str_addf(out, "%s(#%d in ", IR_FOLD_NAMES[n->fold], (int)n->num);
    ir_print_expr(g, n->b, out);
    str_add(out, " .. ");
    ir_print_expr(g, n->c, out);
    if (n->where != 0) {
        str_add(out, " where ");
        ir_print_expr(g, n->where, out);
    }
    if (n->nth != 0) {
        str_add(out, " nth ");
        ir_print_expr(g, n->nth, out);
    }
    str_add(out, ": ");
    ir_print_expr(g, n->a, out);
    str_add(out, ")");
}

static void print_operands(const IrGraph *g, const IrExprNode *n, Str *out)
{
    const IrExpr child[3] = {n->a, n->b, n->c};
    str_add(out, "(");
    for (int i = 0; i < ir_expr_op_arity(n->op); i++) {
        str_add(out, i ? ", " : "");
        ir_print_expr(g, child[i], out);
    }
    str_add(out, ")");
}

static void print_call(const IrGraph *g, const IrExprNode *n, Str *out)
{
    str_addf(out, "call %d %s(", (int)n->num, elem_name(n->type));
    for (IrExpr a = n->a; a != 0; a = ir_expr(g, a)->b) {
        str_add(out, a == n->a ? "" : ", ");
        ir_print_expr(g, ir_expr(g, a)->a, out);
    }
    str_add(out, ")");
}

static void print_cast(const IrGraph *g, const IrExprNode *n, Str *out)
{
    str_addf(out, "%s%s(", n->num != 0 ? "sat_" : "",
             elem_name(n->num != 0 ? (Elem)n->num : n->type));
    ir_print_expr(g, n->a, out);
    str_add(out, ")");
}

void ir_print_expr(const IrGraph *g, IrExpr e, Str *out)
{
    const IrExprNode *n = ir_expr(g, e);
    switch (n->op) {
    case IR_X_CONST:
        number(n->num, out);
        if (n->type != ELEM_F64) {
            str_addf(out, ":%s", elem_name(n->type));
        }
        break;
    case IR_X_PARAM:
        str_addf(out, "$%s", g->params.at[(int)n->num].name);
        break;
    case IR_X_EXTENT:
        str_addf(out, "extent(%%%u, %s)", n->node, AXIS[(int)n->num]);
        break;
    case IR_X_PIXELSIZE:
        str_addf(out, "pixelsize(%s)", AXIS[(int)n->num]);
        break;
    case IR_X_ISINT:
        str_addf(out, "isint(%%%u)", n->node);
        break;
    case IR_X_INDEX:
        str_addf(out, "#%d", (int)n->num);
        break;
    case IR_X_COORD:
        str_addf(out, "coord(%s)", AXIS[(int)n->num]);
        break;
    case IR_X_VALUE:
        str_addf(out, "%%%u.%d", n->node, (int)n->num);
        break;
    case IR_X_READ:
    case IR_X_READAT:
        print_read(g, n, out);
        break;
    case IR_X_LOOKUP:
        str_addf(out, "%%%u{", n->node);
        ir_print_expr(g, n->a, out);
        str_add(out, "}");
        break;
    case IR_X_CAST:
        print_cast(g, n, out);
        break;
    case IR_X_FOLD:
        print_fold(g, n, out);
        break;
    case IR_X_CALL:
        print_call(g, n, out);
        break;
    default:
        str_add(out, ir_expr_op_name(n->op));
        print_operands(g, n, out);
    }
}

static void print_grid(const IrGraph *g, int k, Str *out)
{
    const IrGrid *grid = &g->grids.at[k];
    str_addf(out, "grid %d [", k);
    const char *lead = "";
    for (int ax = 0; ax < IR_AXES; ax++) {
        if (grid->has[ax] || grid->extent[ax] != 0) {
            str_addf(out, "%s%s%s = ", lead, AXIS[ax], grid->has[ax] ? "" : "?");
            ir_print_expr(g, grid->extent[ax] != 0 ? grid->extent[ax] : 0, out);
            lead = ", ";
        }
    }
    str_add(out, "]\n");
}

static void print_node(const IrGraph *g, IrId id, Str *out)
{
    const IrNode *n = ir_node(g, id);
    str_addf(out, "%%%u %s = %s", id, n->name, ir_op_info(n->op)->name);
    if (n->text != NULL) {
        str_add(out, " \"");
        str_add_escaped(out, n->text);
        str_add(out, "\"");
    }
    str_addf(out, " : %s %s", IR_KIND_NAMES[n->kind], elem_name(n->elem));
    if (n->grid >= 0) {
        str_addf(out, " grid %d", n->grid);
    }
    if (n->of != 0) {
        str_addf(out, " of %%%u", n->of);
    }
    if (n->loop != 0) {
        str_addf(out, " loop %d", n->loop);
    }
    if (n->span.source != NULL) {
        int line, column;
        span_line_column(n->span, &line, &column);
        str_addf(out, "    ; %s:%d:%d", n->span.source->path, line, column);
    }
    str_add(out, "\n");
    for (int i = 0; i < IR_MAX_IN; i++) {
        if (n->in[i] != 0) {
            str_addf(out, "    in %d ", i);
            ir_print_expr(g, n->in[i], out);
            str_add(out, "\n");
        }
    }
    for (int i = 0; i < IR_MAX_ARG && n->arg[i] != 0; i++) {
        str_add(out, "    arg ");
        ir_print_expr(g, n->arg[i], out);
        str_add(out, "\n");
    }
}

static void print_loop(const IrGraph *g, int k, Str *out)
{
    const IrLoop *loop = &g->loops.at[k];
    str_addf(out, "loop %d in %d", k, loop->parent);
    const struct {
        const char *word;
        IrExpr e;
    } part[] = {{"count", loop->count}, {"until", loop->until}, {"at_most", loop->at_most}};
    for (int i = 0; i < 3; i++) {
        if (part[i].e != 0) {
            str_addf(out, " %s ", part[i].word);
            ir_print_expr(g, part[i].e, out);
        }
    }
    str_add(out, "\n");
    for (int i = 0; i < loop->carries.n; i++) {
        const IrCarry *c = &loop->carries.at[i];
        str_addf(out, "    carry %%%u from %%%u next %%%u\n", c->carry, c->first, c->next);
    }
}

void ir_print(const IrGraph *g, Str *out)
{
    str_addf(out, "graph %s\n", g->name);
    for (int i = 0; i < g->params.n; i++) {
        const IrParam *p = &g->params.at[i];
        str_addf(out, "param %s = ", p->name);
        number(p->value, out);
        str_add(out, " in ");
        number(p->lo, out);
        str_add(out, " .. ");
        number(p->hi, out);
        str_add(out, p->integer ? " integer\n" : "\n");
    }
    for (int i = 0; i < g->grids.n; i++) {
        print_grid(g, i, out);
    }
    for (int i = 1; i < g->loops.n; i++) {
        print_loop(g, i, out);
    }
    for (IrId i = 1; i < (IrId)g->nodes.n; i++) {
        if (!ir_node(g, i)->dead) {
            print_node(g, i, out);
        }
    }
    for (int i = 0; i < g->outputs.n; i++) {
        const IrOutput *o = &g->outputs.at[i];
        str_addf(out, "output %s = ", o->name);
        if (o->node != 0) {
            str_addf(out, "%%%u", o->node);
        } else {
            ir_print_expr(g, o->value, out);
        }
        str_addf(out, " as %s\n", o->format);
    }
}

/* ---- graphviz -------------------------------------------------------------------------- */

static void dot_edge(IrGraph *g, IrId from, const IrReach *r, Str *out)
{
    str_addf(out, "  n%u -> n%u", r->node, from);
    if (r->offset || r->whole) {
        str_add(out, " [label=\"");
        for (int ax = 0; ax < 3 && !r->whole; ax++) {
            double lo = 0, hi = 0;
            bool known = ir_is_const(g, r->lo[ax], &lo) && ir_is_const(g, r->hi[ax], &hi);
            if (!known) {
                str_addf(out, "%s ±r ", AXIS[ax]);
            } else if (lo != 0 || hi != 0) {
                str_addf(out, "%s %g..%g ", AXIS[ax], lo, hi);
            }
        }
        str_add(out, r->whole ? "whole\"]" : "\"]");
    }
    str_add(out, ";\n");
}

void ir_print_dot(IrGraph *g, Str *out)
{
    str_addf(out, "digraph %s {\n  rankdir=TB;\n  node [shape=box, fontname=\"monospace\"];\n",
             g->name);
    for (IrId i = 1; i < (IrId)g->nodes.n; i++) {
        if (ir_node(g, i)->dead) {
            continue;
        }
        str_addf(out, "  n%u [label=\"%s\\n%s %s\"%s];\n", i, ir_node(g, i)->name,
                 ir_op_info(ir_node(g, i)->op)->name, elem_name(ir_node(g, i)->elem),
                 ir_op_is_primitive(ir_node(g, i)->op) ? ", style=rounded" : "");
        for (int k = 0; k < IR_MAX_IN; k++) {
            IrFootprint fp = ir_footprint(g, ir_node(g, i)->in[k]);
            for (int r = 0; r < fp.reach.n; r++) {
                dot_edge(g, i, &fp.reach.at[r], out);
            }
        }
        if (ir_node(g, i)->of != 0) {
            str_addf(out, "  n%u -> n%u [style=dashed];\n", ir_node(g, i)->of, i);
        }
    }
    for (int i = 0; i < g->outputs.n; i++) {
        if (g->outputs.at[i].node != 0) {
            str_addf(out, "  out%d [label=\"%s.%s\", shape=note];\n  n%u -> out%d;\n", i,
                     g->outputs.at[i].name, g->outputs.at[i].format, g->outputs.at[i].node, i);
        }
    }
    str_add(out, "}\n");
}
