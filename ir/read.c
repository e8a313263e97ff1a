/*
 * read: builds a graph from its text (text.h).
 *
 * Expressions need to know the nodes that they read, also those that come later in a loop.  So the
 * text is gone through twice: first for names, sources, functions and the head of every node, then
 * for expressions.  After the first mistake the reader sees nothing but the end of the text, which
 * ends every loop here.  What could be written down but no compiler would make is for the verifier.
 */
#include "reader.h"
#include "verify.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- sources -------------------------------------------------------------------------------- */

/* Lines that are not quoted are empty. */
static void read_source(Reader *r)
{
    Str text;
    str_init(&text, r->arena);
    if (read_whole(r, 0, MAX_NUMBER) != r->sources.n) {
        read_fail(r, "sources are numbered from 0%s", "");
    }
    const char *path = read_string(r);
    read_end_line(r);
    for (int line = 1; read_ok(r) && read_indented(r);) {
        for (int wanted = read_whole(r, line, MAX_LINES); line < wanted; line++) {
            str_add(&text, "\n");
        }
        str_add(&text, read_string(r));
        read_end_line(r);
    }
    Source *source = source_new(r->arena, path, text.at);
    vec_push(r->arena, &r->sources, source);
}

/* " at 0:8:1+32" if it comes next.  The sources have been read before. */
static Span place(Reader *r)
{
    Span span = {NULL, 0, 0};
    if (!read_accept(r, "at")) {
        return span;
    }
    const char *from = r->p;
    int source = read_whole(r, 0, MAX_NUMBER);
    read_expect(r, ":");
    int line = read_whole(r, 1, MAX_LINES), length;
    read_expect(r, ":");
    int column = read_whole(r, 1, MAX_LINES);
    read_expect(r, "+");
    int bytes = read_whole(r, 0, MAX_LINES);
    if (read_ok(r) && source < r->sources.n) {
        span.source = r->sources.at[source];
        const char *text = source_line(span.source, line, &length);
        span.begin = (int)(text - span.source->text) + column - 1;
        span.end = span.begin + bytes;
        int at_line, at_column;
        span_line_column(span, &at_line, &at_column);
        if (column <= length + 1 && at_line == line && strlen(text) >= (size_t)(column - 1 + bytes)) {
            return span;
        }
    }
    if (read_ok(r)) {
        r->p = from;
        read_fail(r, "no source has such a %s", "place");
    }
    return (Span){NULL, 0, 0};
}

/* ---- the parts of a graph ------------------------------------------------------------------- */

/* As many words as the param has values. */
static const char *read_words_of(Reader *r, const IrParam *p)
{
    const char *words = read_string(r);
    int n = 1;
    for (const char *c = words; read_ok(r) && *c != '\0'; c++) {
        n += *c == '|';
    }
    if (read_ok(r) && (!p->integer || p->lo != 0 || p->hi != n - 1)) {
        read_fail(r, "%s has other values than words", p->name);
    }
    return words;
}

static void read_param(Reader *r)
{
    IrParam p = {.name = read_name(r)};
    read_expect(r, "=");
    p.value = read_number(r);
    read_expect(r, "in");
    p.lo = read_number(r);
    read_expect(r, "..");
    p.hi = read_number(r);
    p.integer = read_accept(r, "integer");
    p.words = read_accept(r, "words") ? read_words_of(r, &p) : NULL;
    read_skip_blanks(r);
    p.help = *r->p == '"' ? read_string(r) : NULL;
    read_end_line(r);
    vec_push(r->arena, &r->g->params, p);
}

static void read_grid(Reader *r)
{
    IrGrid grid = {.extent = {0}};
    if (read_whole(r, 0, MAX_NUMBER) != r->g->grids.n) {
        read_fail(r, "grids are numbered from 0%s", "");
    }
    read_expect(r, "[");
    while (read_ok(r) && !read_accept(r, "]")) {
        int ax = read_axis(r, IR_AXES);
        grid.has[ax] = !read_accept(r, "?");
        grid.extent[ax] = read_accept(r, "=") ? read_expression(r) : 0;
        if (*r->p != ']') {
            read_expect(r, ",");
        }
    }
    read_end_line(r);
    vec_push(r->arena, &r->g->grids, grid);
}

/* Lines "LABEL EXPRESSION" and "t1 = EXPRESSION": calls `line` for each label, which takes what
 * follows; false when it does not know the label. */
static void read_lines(Reader *r, bool (*line)(Reader *r, void *ctx), void *ctx)
{
    r->parts.n = 0;
    vec_push(r->arena, &r->parts, 0);
    read_end_line(r);
    while (read_ok(r) && read_indented(r)) {
        read_skip_blanks(r);
        if (r->p[0] == 't' && isdigit((unsigned char)r->p[1])) {
            r->p++;
            if (read_whole(r, 1, MAX_NUMBER) != r->parts.n) {
                read_fail(r, "parts are numbered from %s", "t1");
            }
            read_expect(r, "=");
            IrExpr part = read_expression(r);
            vec_push(r->arena, &r->parts, part);
        } else if (!line(r, ctx)) {
            read_fail(r, "expected %s", "a line that belongs here");
        }
        read_end_line(r);
    }
}

static bool loop_line(Reader *r, void *ctx)
{
    IrLoop *loop = ctx;
    if (read_accept(r, "count")) {
        loop->count = read_expression(r);
    } else if (read_accept(r, "until")) {
        loop->until = read_expression(r);
    } else if (read_accept(r, "at_most")) {
        loop->at_most = read_expression(r);
    } else if (read_accept(r, "carry")) {
        IrCarry c = {.carry = read_node_id(r)};
        read_expect(r, "from");
        c.first = read_node_id(r);
        read_expect(r, "next");
        c.next = read_node_id(r);
        vec_push(r->arena, &loop->carries, c);
    } else {
        return false;
    }
    return true;
}

/* Loops that nothing needs any more leave gaps. */
static void read_loop(Reader *r)
{
    int id = read_whole(r, 1, MAX_NUMBER);
    if (id < r->g->loops.n) {
        read_fail(r, "loops are numbered upwards%s", "");
    }
    while (r->g->loops.n < id) {
        vec_push(r->arena, &r->g->loops, (IrLoop){.parent = 0});
    }
    read_expect(r, "in");
    IrLoop loop = {.parent = read_whole(r, 0, id - 1)};
    read_lines(r, loop_line, &loop);
    vec_push(r->arena, &r->g->loops, loop);
}

static bool node_line(Reader *r, void *ctx)
{
    IrNode *node = ctx;
    if (read_accept(r, "in")) {
        int k = read_whole(r, 0, NODE_INPUTS - 1);
        node->in[k] = read_expression(r);
    } else if (read_accept(r, "arg")) {
        int k = read_whole(r, 0, NODE_ARGUMENTS - 1);
        node->arg[k] = read_expression(r);
    } else {
        return false;
    }
    return true;
}

static void node_head(Reader *r, IrId id)
{
    IrNode node = {.grid = -1, .name = read_name(r)};
    read_expect(r, "=");
    const char *from = r->p;
    node.op = ir_op_from_name(read_bare(r));
    if (node.op == IR_NONE) {
        r->p = read_ok(r) ? from : r->p;
        read_fail(r, "there is no such %s", "operation");
    }
    read_skip_blanks(r);
    node.text = *r->p == '"' ? read_string(r) : NULL;
    read_expect(r, ":");
    node.kind = (IrKind)read_one_of(r, IR_KIND_NAMES, IR_KINDS, "a kind");
    node.elem = read_elem(r);
    node.grid = read_accept(r, "grid") ? read_whole(r, 0, MAX_NUMBER) : -1;
    if (read_accept(r, "of")) {
        read_expect(r, "%");
        node.of = (IrId)read_whole(r, 1, (int)id - 1);
    }
    node.loop = read_accept(r, "loop") ? read_whole(r, 1, MAX_NUMBER) : 0;
    node.span = place(r);
    vec_push(r->arena, &r->g->nodes, node);
}

static void read_node(Reader *r)
{
    int at = read_here(r) - 1;
    IrId id = (IrId)read_whole(r, 1, MAX_NUMBER);
    if (!r->heads) {
        IrNode node = *ir_node(r->g, id);
        read_skip_line(r);
        r->p--;
        read_lines(r, node_line, &node);
        *ir_node(r->g, id) = node;
        return;
    }
    if (id < (IrId)r->g->nodes.n) {
        read_fail(r, "nodes are numbered upwards%s", "");
    }
    while (read_ok(r) && r->g->nodes.n < (int)id) {
        vec_push(r->arena, &r->g->nodes, (IrNode){.dead = true, .grid = -1, .name = ""});
    }
    while (read_ok(r) && r->place.n <= (int)id) {
        vec_push(r->arena, &r->place, at);
    }
    node_head(r, id);
    read_end_line(r);
}

static bool output_line(Reader *r, void *ctx)
{
    IrOutput *o = ctx;
    for (int i = 0; i < STORED_ROW_COUNT; i++) {
        const StoredRow *row = &STORED_ROWS[i];
        if (strcmp(row->format, o->format) == 0 && read_accept(r, row->name)) {
            o->stored.of[row->option] = stored_value(row, read_string(r));
            return true;
        }
    }
    if (read_accept(r, "value")) {
        o->value = read_expression(r);
    } else if (read_accept(r, "on")) {
        o->place.input = read_whole(r, 0, r->g->nodes.n);
    } else if (read_accept(r, "moved")) {
        o->place.moved = true;
    } else if (read_accept(r, "place")) {
        int along = read_axis(r, 3), by = read_accept(r, "1") ? 3 : read_axis(r, 3);
        o->place.of[along][by] = read_expression(r);
    } else {
        return false;
    }
    return true;
}

static void read_output(Reader *r)
{
    IrOutput o = {.name = read_name(r)};
    o.node = read_accept(r, "=") ? read_node_id(r) : 0;
    read_expect(r, "as");
    o.format = read_bare(r);
    o.along = read_accept(r, "along") ? read_axis(r, 3) : IR_AX_X;
    o.span = place(r);
    read_lines(r, output_line, &o);
    if (read_ok(r) && (o.node == 0) == (o.value == 0)) {
        read_fail(r, "output %s is either a node or a value", o.name);
    }
    vec_push(r->arena, &r->g->outputs, o);
}

static bool note_line(Reader *r, void *ctx)
{
    IrNote *note = ctx;
    if (read_accept(r, "at")) {
        note->at = read_expression(r);
    } else if (read_accept(r, "extent")) {
        note->extent = read_expression(r);
    } else {
        return false;
    }
    return true;
}

static void read_note(Reader *r)
{
    IrNote note = {.kind = (NoteKind)read_one_of(r, IR_NOTE_NAMES, NOTE_KINDS, "a kind of note")};
    note.axis = read_axis(r, 3);
    read_expect(r, "of");
    note.name = read_string(r);
    read_lines(r, note_line, &note);
    vec_push(r->arena, &r->g->notes, note);
}

static bool bound_line(Reader *r, void *ctx)
{
    IrBound *bound = ctx;
    if (!read_accept(r, "value")) {
        return false;
    }
    bound->value = read_expression(r);
    return true;
}

static void read_bound(Reader *r)
{
    IrBound bound = {.what = read_string(r)};
    bound.must = read_string(r);
    bound.above = read_accept(r, "above");
    if (!bound.above) {
        read_expect(r, "in");
    }
    bound.lo = read_number(r);
    read_expect(r, "..");
    bound.hi = read_number(r);
    bound.span = place(r);
    read_lines(r, bound_line, &bound);
    vec_push(r->arena, &r->g->bounds, bound);
}

static bool equal_line(Reader *r, void *ctx)
{
    IrEqual *equal = ctx;
    IrExpr *to = read_accept(r, "a") ? &equal->a : read_accept(r, "b") ? &equal->b : NULL;
    if (to != NULL) {
        *to = read_expression(r);
    }
    return to != NULL;
}

static void read_equal(Reader *r)
{
    IrEqual equal = {.axis = read_axis(r, IR_AXES)};
    equal.span = place(r);
    read_lines(r, equal_line, &equal);
    vec_push(r->arena, &r->g->equals, equal);
}

/* Files are called after it. */
static void read_title(Reader *r)
{
    const char *from = r->p;
    r->g->name = read_name(r);
    if (read_ok(r) && (r->g->name[0] == '\0' || r->g->name[0] == '.' || strchr(r->g->name, '/') != NULL)) {
        r->p = from;
        read_fail(r, "expected a name without %s", "a slash");
    }
    read_end_line(r);
}

static const struct Part {
    const char *word;
    bool head; /* read the first time through */
    bool tail; /* read the second time */
    void (*read)(Reader *r);
} PARTS[] = {
    {"graph", true, false, read_title}, {"source", true, false, read_source},
    {"param", true, false, read_param}, {"function", true, false, read_function},
    {"grid", false, true, read_grid},   {"loop", false, true, read_loop},
    {"%", true, true, read_node},       {"output", false, true, read_output},
    {"note", false, true, read_note},   {"bound", false, true, read_bound},
    {"equal", false, true, read_equal},
};
enum { N_PARTS = sizeof PARTS / sizeof *PARTS };

/* One part; skipped when it is not this time's. */
static void read_part(Reader *r)
{
    for (int i = 0; i < N_PARTS; i++) {
        if (!read_accept(r, PARTS[i].word)) {
            continue;
        }
        bool now = r->heads ? PARTS[i].head : PARTS[i].tail, later = r->heads && PARTS[i].tail;
        if (now) {
            PARTS[i].read(r);
        } else {
            read_skip_line(r);
        }
        while (read_ok(r) && (later || !now) && read_indented(r)) {
            read_skip_line(r);
        }
        return;
    }
    read_fail(r, "expected %s", "graph, source, param, function, grid, loop, output, note, bound, equal or a node");
}

static void read_parts(Reader *r, bool heads)
{
    r->p = r->source->text;
    r->heads = heads;
    while (read_ok(r) && *r->p != '\0') {
        if (*r->p == ' ') {
            read_fail(r, "this line belongs to nothing%s", "");
        } else if (*r->p == '#' || *r->p == '\n') {
            read_skip_line(r);
        } else {
            read_part(r);
        }
    }
}

/* The verifier's first finding, at the node that it is about. */
static void verify(Reader *r)
{
    Str report;
    str_init(&report, r->arena);
    ir_verify_report(r->g, &report);
    if (report.n == 0) {
        return;
    }
    int id = report.at[0] == '%' ? (int)strtol(report.at + 1, NULL, 10) : 0;
    report.at[strcspn(report.at, "\n")] = '\0';
    read_fail_at(r, id < r->place.n ? r->place.at[id] : 0, report.at);
}

bool ir_parse(Arena *arena, const Source *text, IrGraph **graph, Err *err)
{
    Reader r = {.arena = arena, .source = text, .err = err, .g = ir_graph_new(arena, "graph", text)};
    vec_push(arena, &r.place, 0);
    read_parts(&r, true);
    if (read_ok(&r)) {
        read_parts(&r, false);
    }
    if (read_ok(&r)) {
        verify(&r);
    }
    *graph = r.g;
    return read_ok(&r);
}
