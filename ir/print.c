/*
 * print: the graph as text that reads back (read.c); text.h describes it.
 *
 * Expressions share parts, and a tree that repeats them could be exponentially long.  So what is
 * used more than once in a node, and what is nested deeply, gets a line and a name of its own
 * (t1, t2 ...) in front of the node's expressions.
 */
#include "text.h"
#include "footprint.h"
#include "function.h"

#include "../base/user_text.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DEEP = 40 }; /* levels of brackets in one line */

typedef struct Lines {
    const Source *source;
    bool *quoted; /* by line, from 1 */
} Lines;

typedef struct Printer {
    const IrGraph *g;
    Str *out;
    Vec(Lines) sources;
    /* By expression, for the node being printed. */
    int *uses, *depth, *name;
    Vec(IrExpr) met;
    int names;
    const IrFunction *function; /* that is being printed */
} Printer;

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
    bool whole = v == floor(v) && fabs(v) < 1e15;
    for (int digits = whole ? 15 : 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, v);
        double back;
        if (sscanf(text, "%lf", &back) == 1 && back == v) {
            break;
        }
    }
    str_add(out, text);
}

static void quoted(const char *text, Str *out)
{
    str_add(out, "\"");
    str_add_escaped(out, text);
    str_add(out, "\"");
}

/* A name as it is, or in quotes where it is not a word. */
static void word(const char *name, Str *out)
{
    if (user_is_word(name)) {
        str_add(out, name);
    } else {
        quoted(name, out);
    }
}

/* ---- expressions ------------------------------------------------------------------------- */

static void expression(const Printer *p, IrExpr e);

static void labelled(const Printer *p, const char *lead, const char *label, IrExpr e)
{
    str_addf(p->out, "%s%s = ", lead, label);
    expression(p, e);
}

static void print_read(const Printer *p, const IrExprNode *n)
{
    str_addf(p->out, "%%%u", n->node);
    const IrExpr at[IR_AXES] = {n->a, n->b, n->c, n->channel};
    const char *open = n->op == IR_X_READAT ? "@[" : "[", *lead = open;
    for (int ax = 0; ax < IR_AXES; ax++) {
        if (at[ax] != 0) {
            labelled(p, lead, AXIS[ax], at[ax]);
            lead = ", ";
        }
    }
    if (n->border != BORDER_NEAREST) {
        str_addf(p->out, "%sborder = %s", lead, IR_BORDER_NAMES[n->border]);
        lead = ", ";
    }
    if (n->outside != 0) {
        labelled(p, lead, "outside", n->outside);
        lead = ", ";
    }
    if (lead != open) {
        str_add(p->out, "]");
    } else if (n->op == IR_X_READAT) {
        str_add(p->out, "@[]");
    }
}

static void print_fold(const Printer *p, const IrExprNode *n)
{
    str_addf(p->out, "%s(#%d in ", IR_FOLD_NAMES[n->fold], (int)n->num);
    expression(p, n->b);
    str_add(p->out, " .. ");
    expression(p, n->c);
    if (n->where != 0) {
        str_add(p->out, " where ");
        expression(p, n->where);
    }
    if (n->nth != 0) {
        str_add(p->out, " nth ");
        expression(p, n->nth);
    }
    if (n->weight != 0) {
        str_add(p->out, " weighing ");
        expression(p, n->weight);
    }
    IrExprNode usual = *n;
    ir_join(p->g, &usual);
    bool apart = (usual.flat && !n->flat) || (usual.fused && !n->fused);
    str_add(p->out, apart ? ", apart " : ", ");
    expression(p, n->a);
    str_add(p->out, ")");
}

static void print_operands(const Printer *p, const IrExprNode *n)
{
    const IrExpr child[3] = {n->a, n->b, n->c};
    str_add(p->out, "(");
    for (int i = 0; i < ir_expr_op_arity(n->op); i++) {
        str_add(p->out, i ? ", " : "");
        expression(p, child[i]);
    }
    str_add(p->out, ")");
}

static void print_call(const Printer *p, const IrExprNode *n)
{
    str_add(p->out, "@");
    word(p->g->functions.at[(int)n->num]->name, p->out);
    str_add(p->out, "(");
    for (IrExpr a = n->a; a != 0; a = ir_expr(p->g, a)->b) {
        str_add(p->out, a == n->a ? "" : ", ");
        expression(p, ir_expr(p->g, a)->a);
    }
    str_add(p->out, ")");
}

static void print_cast(const Printer *p, const IrExprNode *n)
{
    str_addf(p->out, "%s%s(", n->num != 0 ? "sat_" : "", elem_name(n->num != 0 ? (Elem)n->num : n->type));
    expression(p, n->a);
    str_add(p->out, ")");
}

static void print_plain(const Printer *p, const IrExprNode *n)
{
    switch (n->op) {
    case IR_X_CONST:
        number(n->num, p->out);
        if (n->type != ELEM_F64) {
            str_addf(p->out, ":%s", elem_name(n->type));
        }
        break;
    case IR_X_PARAM:
        str_addf(p->out, "$%s", p->g->params.at[(int)n->num].name);
        break;
    case IR_X_EXTENT:
        str_addf(p->out, "extent(%%%u, %s)", n->node, AXIS[(int)n->num]);
        break;
    case IR_X_PIXELSIZE:
        str_addf(p->out, "pixelsize(%s)", AXIS[(int)n->num]);
        break;
    case IR_X_UPWARDS:
        str_add(p->out, "upwards()");
        break;
    case IR_X_SKY:
        str_addf(p->out, "sky(%%%u, %d)", n->node, (int)n->num);
        break;
    case IR_X_LARGEST:
        str_addf(p->out, "largest(%%%u)", n->node);
        break;
    case IR_X_INDEX:
        str_addf(p->out, "#%d", (int)n->num);
        break;
    case IR_X_COORD:
        str_addf(p->out, "coord(%s)", AXIS[(int)n->num]);
        break;
    case IR_X_LOCAL:
        str_add(p->out, "&");
        word(p->function->vars.at[(int)n->num].name, p->out);
        break;
    case IR_X_VALUE:
        str_addf(p->out, "%%%u.%d", n->node, (int)n->num);
        break;
    case IR_X_READ:
    case IR_X_READAT:
        print_read(p, n);
        break;
    case IR_X_LOOKUP:
        str_addf(p->out, "%%%u{", n->node);
        expression(p, n->a);
        str_add(p->out, "}");
        break;
    case IR_X_CAST:
        print_cast(p, n);
        break;
    case IR_X_FOLD:
        print_fold(p, n);
        break;
    case IR_X_CALL:
        print_call(p, n);
        break;
    default:
        str_add(p->out, ir_expr_op_name(n->op));
        print_operands(p, n);
    }
}

/* What passes have put together may have a higher rank than its operands ask for. */
static void expression(const Printer *p, IrExpr e)
{
    if (p->name != NULL && p->name[e] != 0) {
        str_addf(p->out, "t%d", p->name[e]);
        return;
    }
    const IrExprNode *n = ir_expr(p->g, e);
    IrExprNode usual = *n;
    ir_derive(p->g, &usual);
    assert(usual.type == n->type);
    print_plain(p, n);
    if (usual.rank != n->rank) {
        str_addf(p->out, "!%s", IR_RANK_NAMES[n->rank]);
    }
}

/* ---- what gets a line of its own ------------------------------------------------------------ */

static void count_uses(Printer *p, IrExpr e)
{
    if (e == 0 || p->uses[e]++ > 0) {
        return;
    }
    vec_push(p->g->arena, &p->met, e);
    const IrExprNode *n = ir_expr(p->g, e);
    for (int i = 0; i < IR_CHILDREN; i++) {
        count_uses(p, n->child[i]);
    }
}

/* Prints the lines that `e` needs in front of it, innermost first. */
static void name_parts(Printer *p, IrExpr e)
{
    if (e == 0 || p->depth[e] != 0) {
        return;
    }
    const IrExprNode *n = ir_expr(p->g, e);
    int depth = 0;
    for (int i = 0; i < IR_CHILDREN; i++) {
        name_parts(p, n->child[i]);
        depth = p->depth[n->child[i]] > depth ? p->depth[n->child[i]] : depth;
    }
    p->depth[e] = depth + 1;
    bool shared = p->uses[e] > 1 && depth > 1;
    if (n->op != IR_X_ARG && (shared || depth >= DEEP)) {
        str_addf(p->out, "    t%d = ", p->names + 1);
        expression(p, e);
        str_add(p->out, "\n");
        p->name[e] = ++p->names;
        p->depth[e] = 1;
    }
}

typedef struct Line {
    char label[16];
    IrExpr e; /* 0: no line */
} Line;

static void print_lines(Printer *p, const Line *line, int n)
{
    for (int i = 0; i < n; i++) {
        count_uses(p, line[i].e);
    }
    for (int i = 0; i < n; i++) {
        name_parts(p, line[i].e);
    }
    for (int i = 0; i < n; i++) {
        if (line[i].e != 0) {
            str_addf(p->out, "    %s ", line[i].label);
            expression(p, line[i].e);
            str_add(p->out, "\n");
        }
    }
    for (int i = 0; i < p->met.n; i++) {
        IrExpr e = p->met.at[i];
        p->uses[e] = p->depth[e] = p->name[e] = 0;
    }
    p->met.n = 0;
    p->names = 0;
}

/* ---- places in the source ------------------------------------------------------------------- */

static Lines *lines_of(Printer *p, const Source *source)
{
    for (int i = 0; i < p->sources.n; i++) {
        if (p->sources.at[i].source == source) {
            return &p->sources.at[i];
        }
    }
    Lines lines = {source, arena_array(p->g->arena, bool, source->lines.n + 1)};
    vec_push(p->g->arena, &p->sources, lines);
    return &p->sources.at[p->sources.n - 1];
}

static void quote(Printer *p, Span span)
{
    if (span.source == NULL) {
        return;
    }
    Lines *lines = lines_of(p, span.source);
    int last = source_line_of(span.source, span.end);
    for (int i = source_line_of(span.source, span.begin); i <= last; i++) {
        lines->quoted[i] = true;
    }
}

/* The lines of the user's text that anything came from. */
static void print_sources(Printer *p)
{
    for (int i = 1; i < p->g->nodes.n; i++) {
        if (!p->g->nodes.at[i].dead) {
            quote(p, p->g->nodes.at[i].span);
        }
    }
    for (int i = 0; i < p->g->outputs.n; i++) {
        quote(p, p->g->outputs.at[i].span);
    }
    for (int i = 0; i < p->g->bounds.n; i++) {
        quote(p, p->g->bounds.at[i].span);
    }
    for (int i = 0; i < p->g->equals.n; i++) {
        quote(p, p->g->equals.at[i].span);
    }
    for (int i = 0; i < p->sources.n; i++) {
        const Lines *lines = &p->sources.at[i];
        str_addf(p->out, "source %d ", i);
        quoted(lines->source->path, p->out);
        str_add(p->out, "\n");
        for (int k = 1; k <= lines->source->lines.n; k++) {
            int length;
            const char *text = source_line(lines->source, k, &length);
            if (lines->quoted[k]) {
                str_addf(p->out, "    %d ", k);
                quoted(arena_strndup(p->g->arena, text, (size_t)length), p->out);
                str_add(p->out, "\n");
            }
        }
    }
}

/* What is read back has an end of one byte at each line. */
static int bytes_read_back(Span span)
{
    int bytes = span.end - span.begin;
    for (int i = span.begin + 1; i < span.end; i++) {
        bytes -= span.source->text[i - 1] == '\r' && span.source->text[i] == '\n';
    }
    return bytes;
}

static void print_place(Printer *p, Span span)
{
    if (span.source != NULL) {
        int line, column;
        span_line_column(span, &line, &column);
        str_addf(p->out, " at %d:%d:%d+%d", (int)(lines_of(p, span.source) - p->sources.at), line, column,
                 bytes_read_back(span));
    }
    str_add(p->out, "\n");
}

/* ---- functions ------------------------------------------------------------------------------ */

static void fn_block(Printer *p, const IrFnStmt *s, int depth);

static void fn_body(Printer *p, const IrFnStmt *s, int depth)
{
    fn_block(p, s->body, depth + 1);
    if (s->other != NULL) {
        str_addf(p->out, "%*selse\n", 4 * depth, "");
        fn_block(p, s->other, depth + 1);
    }
    str_addf(p->out, "%*send\n", 4 * depth, "");
}

static void fn_block(Printer *p, const IrFnStmt *s, int depth)
{
    static const char *const WORD[] = {[IR_FN_SET] = "set ",
                                       [IR_FN_IF] = "if ",
                                       [IR_FN_WHILE] = "while ",
                                       [IR_FN_FOR] = "for ",
                                       [IR_FN_RETURN] = "return "};
    for (; s != NULL; s = s->next) {
        str_addf(p->out, "%*s%s", 4 * depth, "", WORD[s->kind]);
        if (s->kind == IR_FN_SET || s->kind == IR_FN_FOR) {
            word(p->function->vars.at[s->var].name, p->out);
            str_add(p->out, s->kind == IR_FN_SET ? " = " : " in ");
        }
        expression(p, s->a);
        if (s->kind == IR_FN_FOR) {
            str_add(p->out, " .. ");
            expression(p, s->b);
        }
        str_add(p->out, "\n");
        if (s->kind == IR_FN_IF || s->kind == IR_FN_WHILE || s->kind == IR_FN_FOR) {
            fn_body(p, s, depth);
        }
    }
}

static void print_function(Printer *p, const IrFunction *f)
{
    Str *out = p->out;
    str_add(out, "function ");
    word(f->name, out);
    if (f->forest != NULL) {
        str_addf(out, " forest %d ", f->wanted);
        quoted(f->forest->text, out);
        str_add(out, "\n");
        return;
    }
    str_addf(out, " : %s\n", elem_name(f->type));
    for (int i = 0; i < f->vars.n; i++) {
        str_addf(out, "    %s ", i < f->n_params ? "param" : "var");
        word(f->vars.at[i].name, out);
        str_addf(out, " : %s\n", elem_name(f->vars.at[i].type));
    }
    p->function = f;
    fn_block(p, f->body, 1);
}

/* ---- the graph ------------------------------------------------------------------------------ */

static void print_param(const IrParam *param, Str *out)
{
    str_add(out, "param ");
    word(param->name, out);
    str_add(out, " = ");
    number(param->value, out);
    str_add(out, " in ");
    number(param->lo, out);
    str_add(out, " .. ");
    number(param->hi, out);
    str_add(out, param->integer ? " integer" : "");
    if (param->words != NULL) {
        str_add(out, " words ");
        quoted(param->words, out);
    }
    if (param->help != NULL) {
        str_add(out, " ");
        quoted(param->help, out);
    }
    str_add(out, "\n");
}

/* An axis that only the compiler sees has a question mark; one without an extent has extent 1. */
static void print_grid(const Printer *p, int k)
{
    const IrGrid *grid = &p->g->grids.at[k];
    str_addf(p->out, "grid %d [", k);
    const char *lead = "";
    for (int ax = 0; ax < IR_AXES; ax++) {
        if (!grid->has[ax] && grid->extent[ax] == 0) {
            continue;
        }
        str_addf(p->out, "%s%s%s", lead, AXIS[ax], grid->has[ax] ? "" : "?");
        if (grid->extent[ax] != 0) {
            str_add(p->out, " = ");
            expression(p, grid->extent[ax]);
        }
        lead = ", ";
    }
    str_add(p->out, "]\n");
}

static void print_loop(Printer *p, int k)
{
    const IrLoop *loop = &p->g->loops.at[k];
    str_addf(p->out, "loop %d in %d\n", k, loop->parent);
    const Line lines[] = {{"count", loop->count}, {"until", loop->until}, {"at_most", loop->at_most}};
    print_lines(p, lines, 3);
    for (int i = 0; i < loop->carries.n; i++) {
        const IrCarry *c = &loop->carries.at[i];
        str_addf(p->out, "    carry %%%u from %%%u next %%%u\n", c->carry, c->first, c->next);
    }
}

/* True when a node is in the loop, or in one inside it. */
static bool is_alive(const IrGraph *g, int loop)
{
    for (int i = 1; i < g->nodes.n; i++) {
        int at = g->nodes.at[i].dead ? 0 : g->nodes.at[i].loop;
        while (at > loop) {
            at = g->loops.at[at].parent;
        }
        if (at == loop) {
            return true;
        }
    }
    return false;
}

static void print_node(Printer *p, IrId id)
{
    const IrNode *n = ir_node(p->g, id);
    str_addf(p->out, "%%%u ", id);
    word(n->name, p->out);
    str_addf(p->out, " = %s", ir_op_info(n->op)->name);
    if (n->text != NULL) {
        str_add(p->out, " ");
        quoted(n->text, p->out);
    }
    str_addf(p->out, " : %s %s", IR_KIND_NAMES[n->kind], elem_name(n->elem));
    if (n->grid >= 0) {
        str_addf(p->out, " grid %d", n->grid);
    }
    if (n->of != 0) {
        str_addf(p->out, " of %%%u", n->of);
    }
    if (n->loop != 0) {
        str_addf(p->out, " loop %d", n->loop);
    }
    print_place(p, n->span);
    Line lines[NODE_INPUTS + NODE_ARGUMENTS];
    for (int i = 0; i < NODE_INPUTS; i++) {
        lines[i].e = n->in[i];
        snprintf(lines[i].label, sizeof lines[i].label, "in %d", i);
    }
    for (int i = 0; i < NODE_ARGUMENTS; i++) {
        lines[NODE_INPUTS + i].e = n->arg[i];
        snprintf(lines[NODE_INPUTS + i].label, sizeof lines[i].label, "arg %d", i);
    }
    print_lines(p, lines, NODE_INPUTS + NODE_ARGUMENTS);
}

static void print_output(Printer *p, const IrOutput *o)
{
    str_add(p->out, "output ");
    word(o->name, p->out);
    if (o->node != 0) {
        str_addf(p->out, " = %%%u", o->node);
    }
    str_addf(p->out, " as %s", o->format);
    if (o->along != IR_AX_X) {
        str_addf(p->out, " along %s", AXIS[o->along]);
    }
    print_place(p, o->span);
    for (int i = 0; i < STORED_ROW_COUNT; i++) {
        const StoredRow *row = &STORED_ROWS[i];
        char text[16];
        if (strcmp(row->format, o->format) == 0 && o->stored.of[row->option] != 0) {
            str_addf(p->out, "    %s \"%s\"\n", row->name, stored_text(row, o->stored.of[row->option], text));
        }
    }
    if (o->place.input != 0) {
        str_addf(p->out, "    on %d\n", o->place.input);
    }
    if (o->place.moved) {
        str_add(p->out, "    moved\n");
    }
    Line lines[1 + 12] = {{"value", o->value}};
    for (int i = 0; i < 12 && o->place.moved; i++) {
        lines[1 + i].e = o->place.of[i / 4][i % 4];
        snprintf(lines[1 + i].label, sizeof lines[1].label, "place %s %s", AXIS[i / 4], i % 4 < 3 ? AXIS[i % 4] : "1");
    }
    print_lines(p, lines, 1 + 12);
}

static void print_note(Printer *p, const IrNote *note)
{
    str_addf(p->out, "note %s %s of ", IR_NOTE_NAMES[note->kind], AXIS[note->axis]);
    quoted(note->name, p->out);
    str_add(p->out, "\n");
    const Line lines[] = {{"at", note->at}, {"extent", note->extent}};
    print_lines(p, lines, 2);
}

static void print_bound(Printer *p, const IrBound *bound)
{
    str_add(p->out, "bound ");
    quoted(bound->what, p->out);
    str_add(p->out, " ");
    quoted(bound->must, p->out);
    str_add(p->out, bound->above ? " above " : " in ");
    number(bound->lo, p->out);
    str_add(p->out, " .. ");
    number(bound->hi, p->out);
    print_place(p, bound->span);
    print_lines(p, &(Line){"value", bound->value}, 1);
}

static void print_equal(Printer *p, const IrEqual *equal)
{
    str_addf(p->out, "equal %s", AXIS[equal->axis]);
    print_place(p, equal->span);
    const Line lines[] = {{"a", equal->a}, {"b", equal->b}};
    print_lines(p, lines, 2);
}

void ir_print(const IrGraph *g, Str *out)
{
    Printer p = {.g = g,
                 .out = out,
                 .uses = arena_array(g->arena, int, g->exprs.n),
                 .depth = arena_array(g->arena, int, g->exprs.n),
                 .name = arena_array(g->arena, int, g->exprs.n)};
    str_add(out, "graph ");
    word(g->name, out);
    str_add(out, "\n");
    print_sources(&p);
    for (int i = 0; i < g->params.n; i++) {
        print_param(&g->params.at[i], out);
    }
    for (int i = 0; i < g->functions.n; i++) {
        print_function(&p, g->functions.at[i]);
    }
    for (int i = 0; i < g->grids.n; i++) {
        print_grid(&p, i);
    }
    for (int i = 1; i < g->loops.n; i++) {
        if (is_alive(g, i)) {
            print_loop(&p, i);
        }
    }
    for (IrId i = 1; i < (IrId)g->nodes.n; i++) {
        if (!ir_node(g, i)->dead) {
            print_node(&p, i);
        }
    }
    for (int i = 0; i < g->outputs.n; i++) {
        print_output(&p, &g->outputs.at[i]);
    }
    for (int i = 0; i < g->notes.n; i++) {
        print_note(&p, &g->notes.at[i]);
    }
    for (int i = 0; i < g->bounds.n; i++) {
        print_bound(&p, &g->bounds.at[i]);
    }
    for (int i = 0; i < g->equals.n; i++) {
        print_equal(&p, &g->equals.at[i]);
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
    str_addf(out, "digraph %s {\n  rankdir=TB;\n  node [shape=box, fontname=\"monospace\"];\n", g->name);
    for (IrId i = 1; i < (IrId)g->nodes.n; i++) {
        if (ir_node(g, i)->dead) {
            continue;
        }
        str_addf(out, "  n%u [label=\"%s\\n%s %s\"%s];\n", i, ir_node(g, i)->name, ir_op_info(ir_node(g, i)->op)->name,
                 elem_name(ir_node(g, i)->elem), ir_op_is_primitive(ir_node(g, i)->op) ? ", style=rounded" : "");
        for (int k = 0; k < NODE_INPUTS; k++) {
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
            str_addf(out, "  out%d [label=\"%s.%s\", shape=note];\n  n%u -> out%d;\n", i, g->outputs.at[i].name,
                     g->outputs.at[i].format, g->outputs.at[i].node, i);
        }
    }
    str_add(out, "}\n");
}
