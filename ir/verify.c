/* verify: many small checks that all run, then one report. */
#include "verify.h"
#include "print.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct Check {
    const IrGraph *g;
    IrId node;
    Str *out;
} Check;

static void find(Check *c, const char *what)
{
    str_addf(c->out, "%%%u %s: %s\n", c->node, ir_node(c->g, c->node)->name, what);
}

static void check_expr(const IrGraph *g, IrExpr e, void *ctx)
{
    Check *c = ctx;
    const IrExprNode *n = ir_expr(g, e);
    bool names = n->op == IR_X_READ || n->op == IR_X_READAT || n->op == IR_X_VALUE ||
                 n->op == IR_X_LOOKUP;
    if (names && (n->node == 0 || n->node >= (IrId)g->nodes.n)) {
        find(c, "reads a node that does not exist");
        return;
    }
    if (names && ir_node(g, n->node)->dead) {
        find(c, "reads a dead node");
    }
    if (names && n->node >= c->node && ir_node(g, n->node)->op != IR_CARRY) {
        find(c, "reads a node that comes later");
    }
    bool image = n->op == IR_X_READ || n->op == IR_X_READAT;
    if (image && !ir_has_pixels(g, n->node)) {
        find(c, "reads pixels of something that is not an image");
    }
    if (image && n->type != ir_read_type(g, n->node)) {
        find(c, "reads pixels as another type than they have");
    }
    if (n->op == IR_X_VALUE && ir_node(g, n->node)->kind != IR_K_VALUE &&
        ir_node(g, n->node)->kind != IR_K_LABELS) {
        find(c, "takes a value of something that has none");
    }
    if (n->op == IR_X_LOOKUP && ir_node(g, n->node)->kind != IR_K_VECTOR) {
        find(c, "looks up in something that is not a vector");
    }
    if (n->op >= IR_X_ARG && n->rank < IR_UNIFORM && n->type == ELEM_NONE) {
        find(c, "has an expression without a type");
    }
}

static void check_node(Check *c)
{
    const IrNode *n = ir_node(c->g, c->node);
    bool image = n->kind == IR_K_IMAGE || n->kind == IR_K_MASK || n->kind == IR_K_LABELS;
    if (image && (n->grid < 0 || n->grid >= c->g->grids.n)) {
        find(c, "is an image without a grid");
    }
    if ((n->op == IR_MAP || n->op == IR_SCALAR) && n->in[0] == 0) {
        find(c, "computes nothing");
    }
    if (n->of != 0 && ir_node(c->g, n->of)->dead) {
        find(c, "belongs to a dead node");
    }
    if (n->kind == IR_K_MASK && n->elem != ELEM_BOOL) {
        find(c, "is a mask whose pixels are not bool");
    }
    for (int i = 0; i < IR_MAX_IN; i++) {
        if (n->in[i] == 0) {
            continue;
        }
        ir_walk(c->g, n->in[i], check_expr, c);
        if (ir_op_input_is_stored(n->op, i) && ir_expr(c->g, n->in[i])->op != IR_X_READ) {
            find(c, "has an input that must be a plain read and is not");
        }
    }
    for (int i = 0; i < IR_MAX_ARG && n->arg[i] != 0; i++) {
        if (ir_expr(c->g, n->arg[i])->rank > IR_HOST) {
            find(c, "has an argument that the host cannot compute");
        }
    }
}

void ir_verify_report(const IrGraph *g, Str *out)
{
    Check c = {.g = g, .out = out};
    for (c.node = 1; c.node < (IrId)g->nodes.n; c.node++) {
        if (!ir_node(g, c.node)->dead) {
            check_node(&c);
        }
    }
    for (int i = 0; i < g->outputs.n; i++) {
        const IrOutput *o = &g->outputs.at[i];
        if (o->node != 0 && ir_node(g, o->node)->dead) {
            str_addf(out, "output %s is a dead node\n", o->name);
        }
    }
}

void ir_verify(const IrGraph *g, const char *after)
{
    Str report;
    str_init(&report, g->arena);
    ir_verify_report(g, &report);
    if (report.n == 0) {
        return;
    }
    Str text;
    str_init(&text, g->arena);
    ir_print(g, &text);
    fprintf(stderr, "pipec: the graph is broken after %s:\n%s\n%s", after, report.at, text.at);
    abort();
}
