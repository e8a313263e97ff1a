/*
 * value: what values are, how they become nodes, and how messages describe them.
 */
#include "elab.h"

#include "../../ir/ids.h"

#include "../../ir/footprint.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* ---- diagnostics ----------------------------------------------------------------------- */

Span el_place(const Elab *el, Span span)
{
    bool ours = span.source == NULL || !el_is_users(el, span.source);
    return ours && el->call.source != NULL ? el->call : span;
}

static const IrGrid *extents_of(const Elab *el, int grid)
{
    return &el->g->grids.at[el->grids.at[grid].extents];
}

const char *el_axes(const Elab *el, int grid)
{
    static const char NAMES[] = "xyzc";
    static const int ORDER[] = {IR_AX_Z, IR_AX_Y, IR_AX_X, IR_AX_C};
    Str s;
    str_init(&s, el->arena);
    str_add(&s, "[");
    for (int i = 0; i < IR_AXES; i++) {
        if (extents_of(el, grid)->has[ORDER[i]]) {
            int name = ORDER[i] == IR_AX_C ? IR_AX_C : el_names_of(el, grid)->of[ORDER[i]];
            str_addf(&s, s.n > 1 ? ", %c" : "%c", NAMES[name]);
        }
    }
    str_add(&s, "]");
    return s.at;
}

static const char *describe_image(const Elab *el, Val v)
{
    const char *axes = el_axes(el, v.grid);
    if (v.image == IR_K_MASK) {
        return arena_printf(el->arena, "a mask %s", axes);
    }
    if (v.image == IR_K_LABELS) {
        return arena_printf(el->arena, "labels %s", axes);
    }
    Elem type = ir_expr(el->g, v.expr)->type;
    return arena_printf(el->arena, type == ELEM_F32 ? "an image %s" : "an image %s of %s", axes, elem_name(type));
}

const char *el_describe(const Elab *el, Val v)
{
    static const char *const KINDS[VAL_KINDS] = {
        [VAL_ERROR] = "an error",
        [VAL_NUMBER] = "a number",
        [VAL_UNIFORM] = "a whole-image value",
        [VAL_SELECTION] = "a selection of pixels",
        [VAL_TABLE] = "a table",
        [VAL_VECTOR] = "a value for each label",
        [VAL_RECORD] = "a record",
        [VAL_LIST] = "a list",
        [VAL_FUNCTION] = "a function",
        [VAL_BORDER] = "a border",
        [VAL_FOOTPRINT] = "a footprint",
        [VAL_TEXT] = "a text",
        [VAL_WORD] = "a word",
    };
    if (v.kind == VAL_IMAGE) {
        return v.node != 0 ? KINDS[VAL_VECTOR] : describe_image(el, v);
    }
    if (v.kind == VAL_NUMBER && el_is_truth(el, v)) {
        return ir_expr(el->g, v.expr)->rank == IR_CONST ? "a truth value" : "a condition on params";
    }
    return KINDS[v.kind];
}

const char *el_words(const Elab *el, Span span)
{
    enum { LONGEST = 48 };
    if (span.source == NULL || span.end <= span.begin) {
        return "v";
    }
    Str s;
    str_init(&s, el->arena);
    const char *text = span.source->text;
    bool space = false;
    for (int i = span.begin; i < span.end; i++) {
        bool blank = text[i] == ' ' || text[i] == '\t' || text[i] == '\n' || text[i] == '\r';
        if (!blank) {
            str_add(&s, space && s.n > 0 ? " " : "");
            str_addn(&s, text + i, 1);
        }
        space = blank;
        if (s.n > LONGEST) {
            return "v";
        }
    }
    return s.n > 0 ? s.at : "v";
}

/* ---- values ---------------------------------------------------------------------------- */

Val el_err(void)
{
    return (Val){.kind = VAL_ERROR, .grid = -1};
}

Val el_host(IrExpr e)
{
    return (Val){.kind = VAL_NUMBER, .expr = e, .grid = -1};
}

Val el_number(Elab *el, double value)
{
    return el_host(ir_const(el->g, value));
}

Val el_uniform(IrExpr e)
{
    return (Val){.kind = VAL_UNIFORM, .expr = e, .grid = -1};
}

Val el_scalar(Elab *el, IrExpr e)
{
    return ir_expr(el->g, e)->rank >= IR_UNIFORM ? el_uniform(e) : el_host(e);
}

bool el_plain_read(const Elab *el, IrExpr e, IrId *node)
{
    const IrExprNode *n = ir_expr(el->g, e);
    *node = n->node;
    return n->op == IR_X_READ && n->a == 0 && n->b == 0 && n->c == 0 && n->channel == 0;
}

Val el_image(Elab *el, IrExpr e, int grid)
{
    IrId node;
    bool stored = el_plain_read(el, e, &node);
    IrKind kind = ir_expr(el->g, e)->type == ELEM_BOOL ? IR_K_MASK : IR_K_IMAGE;
    if (stored && ir_node(el->g, node)->kind == IR_K_LABELS) {
        kind = IR_K_LABELS;
    }
    return (Val){.kind = VAL_IMAGE, .image = kind, .grid = grid, .expr = e};
}

IrId el_labels_of(Elab *el, Val labels, Span span)
{
    IrId node = ir_ids_read(el->g, labels.expr);
    while (node != 0 && ir_node(el->g, node)->kind != IR_K_LABELS) { /* parts of labels, stored */
        node = ir_ids_read(el->g, ir_node(el->g, node)->map.value);
    }
    return node != 0 ? node : el_store(el, labels, "labels", span);
}

IrId el_labels_input(const Elab *el, Val v)
{
    bool labels = v.kind == VAL_IMAGE && v.image == IR_K_LABELS;
    return labels ? ir_ids_of(el->g, ir_ids_read(el->g, v.expr)) : 0;
}

Val el_numbers(Elab *el, Val v)
{
    if (v.kind == VAL_IMAGE && v.image == IR_K_LABELS) {
        v.expr = ir_ids_numbers(el->g, v.expr);
        v.image = IR_K_IMAGE;
    }
    return v;
}

Val el_places(Val labels)
{
    labels.image = IR_K_IMAGE;
    return labels;
}

Val el_node(Elab *el, IrId node)
{
    const IrNode *n = ir_node(el->g, node);
    if (n->kind == IR_K_TABLE) {
        return (Val){.kind = VAL_TABLE, .grid = -1, .node = node};
    }
    if (n->kind == IR_K_VECTOR) {
        return el_vector(ir_lookup(el->g, node, ir_coord(el->g, IR_AX_X)), n->of);
    }
    if (n->kind == IR_K_VALUE) {
        return el_uniform(ir_value(el->g, node, 0));
    }
    return el_image(el, ir_read(el->g, node), el->lies.at[node]);
}

Val el_vector(IrExpr e, IrId labels)
{
    return (Val){.kind = VAL_VECTOR, .grid = -1, .expr = e, .node = labels};
}

Val el_record(Elab *el, int n)
{
    return (Val){.kind = VAL_RECORD, .grid = -1, .n = n, .items = arena_array(el->arena, ValItem, n > 0 ? n : 1)};
}

Val el_text(const char *text)
{
    return (Val){.kind = VAL_TEXT, .grid = -1, .text = text};
}

Val el_word(const char *text)
{
    return (Val){.kind = VAL_WORD, .grid = -1, .text = text};
}

bool el_is_bad(Val v)
{
    return v.kind == VAL_ERROR;
}

bool el_is_scalar(Val v)
{
    return v.kind == VAL_NUMBER || v.kind == VAL_UNIFORM;
}

bool el_is_mask(const Elab *el, Val v)
{
    (void)el;
    return v.kind == VAL_IMAGE && v.image == IR_K_MASK;
}

bool el_is_truth(const Elab *el, Val v)
{
    return el_is_scalar(v) && ir_expr(el->g, v.expr)->type == ELEM_BOOL;
}

bool el_constant(const Elab *el, Val v, double *value)
{
    return v.kind == VAL_NUMBER && ir_is_const(el->g, v.expr, value);
}

bool el_is_integral(const Elab *el, IrExpr e)
{
    const IrExprNode *n = ir_expr(el->g, e);
    bool typed = n->type == ELEM_I32 || n->type == ELEM_U32 || n->type == ELEM_BOOL;
    if (typed || ir_is_integral(el->g, e)) {
        return true;
    }
    if (n->op == IR_X_CONST) {
        return n->num == floor(n->num);
    }
    return ir_keeps_whole(n->op) && el_is_integral(el, n->a) &&
           (ir_expr_op_arity(n->op) == 1 || el_is_integral(el, n->b));
}

const Val *el_member(Val record, const char *name)
{
    for (int i = 0; i < record.n; i++) {
        if (record.items[i].name != NULL && strcmp(record.items[i].name, name) == 0) {
            return &record.items[i].val;
        }
    }
    return NULL;
}

/* ---- nodes ----------------------------------------------------------------------------- */

void el_set_grid(Elab *el, IrId node, int grid)
{
    while (el->lies.n <= (int)node) {
        vec_push(el->arena, &el->lies, -1);
    }
    el->lies.at[node] = grid;
}

const char *el_hint(Elab *el, const char *part)
{
    enum { LONGEST = 60 };
    if (el->hint == NULL || part == NULL) {
        return part != NULL ? part : el->hint != NULL ? el->hint : "stage";
    }
    if (strlen(el->hint) + strlen(part) > LONGEST) {
        return el->hint;
    }
    return arena_printf(el->arena, "%s_%s", el->hint, part);
}

/* Adds a node whose grid is one of Elab.grids. */
static IrId add_node(Elab *el, IrNode node)
{
    int grid = node.grid;
    for (int i = 0; i < NODE_INPUTS; i++) {
        el_note_index(el, node.in[i]);
    }
    for (int i = 0; i < NODE_ARGUMENTS; i++) {
        el_note_index(el, node.arg[i]);
    }
    node.grid = grid >= 0 ? el->grids.at[grid].extents : -1;
    IrId id = ir_add_node(el->g, node);
    el_set_grid(el, id, grid);
    return id;
}

static void set_anonymous(Elab *el, IrId node, bool anonymous)
{
    while (el->anonymous.n <= (int)node) {
        vec_push(el->arena, &el->anonymous, false);
    }
    el->anonymous.at[node] = anonymous;
}

IrId el_add(Elab *el, IrNode node, const char *part, Span span)
{
    node.name = el_hint(el, part);
    node.span = el_place(el, span);
    node.loop = el->loop;
    if (node.kind == IR_K_VALUE || node.kind == IR_K_VECTOR || node.kind == IR_K_TABLE) {
        node.grid = -1;
    }
    IrId id = add_node(el, node);
    set_anonymous(el, id, true);
    return id;
}

/* A cast that saturates to a storage type says how the node is stored. */
static Elem storage(const Elab *el, IrExpr e)
{
    const IrExprNode *n = ir_expr(el->g, e);
    return n->op == IR_X_CAST && n->num != 0 ? (Elem)n->num : n->type;
}

static IrNode map_node(const Elab *el, Val v)
{
    return (IrNode){.op = IR_MAP,
                    .kind = v.image == IR_K_MASK ? IR_K_MASK : IR_K_IMAGE,
                    .elem = storage(el, v.expr),
                    .grid = v.grid,
                    .map.value = v.expr};
}

IrId el_store(Elab *el, Val v, const char *part, Span span)
{
    IrId node;
    assert(v.kind == VAL_IMAGE);
    if (el_plain_read(el, v.expr, &node)) {
        return node;
    }
    if (ir_expr(el->g, v.expr)->type == ELEM_F64 && ir_expr(el->g, v.expr)->rank < IR_PIXEL) {
        v.expr = ir_cast(el->g, v.expr, ELEM_F32);
    }
    return el_add_once(el, map_node(el, v), part, span);
}

IrId el_store_as(Elab *el, Val v, const char *name, Span span)
{
    IrNode node = map_node(el, v);
    node.name = name;
    node.span = el_place(el, span);
    node.loop = el->loop;
    IrId id = add_node(el, node);
    set_anonymous(el, id, el->call.source != NULL);
    return id;
}

void el_name_node(Elab *el, IrId node, const char *name, Span span)
{
    IrNode *n = ir_node(el->g, node);
    if ((int)node >= el->anonymous.n || !el->anonymous.at[node]) {
        return;
    }
    ir_rename(el->g, node, name);
    if (el->call.source == NULL) {
        n->span = el_place(el, span);
        set_anonymous(el, node, false);
    }
}

/* What a primitive would see if it computed its input itself, on the grid of what it reads. */
typedef struct Reads {
    IrId first;
    bool odd; /* gathers, coordinates or reads of other grids */
    int grid;
} Reads;

static void look_at_reads(const IrGraph *g, IrExpr e, void *ctx)
{
    Reads *r = ctx;
    const IrExprNode *n = ir_expr(g, e);
    if (n->op == IR_X_READAT || n->op == IR_X_COORD || n->op == IR_X_CALL) {
        r->odd = true;
    }
    if (n->op == IR_X_READ) {
        r->first = r->first == 0 ? n->node : r->first;
        r->odd = r->odd || ir_node(g, n->node)->grid != r->grid;
    }
}

/* Does the expression read beside the pixel? */
static bool is_stencil(const Elab *el, IrExpr e)
{
    IrFootprint fp = ir_footprint(el->g, e);
    bool beside = false;
    for (int i = 0; i < fp.reach.n; i++) {
        beside = beside || fp.reach.at[i].offset;
    }
    return beside;
}

Val el_readable(Elab *el, Val v, const char *part, Span span)
{
    Reads reads = {.grid = el->grids.at[v.grid].extents};
    ir_walk(el->g, v.expr, look_at_reads, &reads);
    if (reads.first == 0 || reads.odd || is_stencil(el, v.expr)) {
        IrId node = el_store(el, v, part, span);
        const Val as = v;
        v = el_node(el, node);
        v.image = as.image;
        v.grid = as.grid;
    }
    return v;
}

/* ---- grids ----------------------------------------------------------------------------- */

const IrGrid *el_grid(const Elab *el, Val v)
{
    return extents_of(el, v.grid);
}

bool el_has(const Elab *el, Val v, int axis)
{
    return el_grid(el, v)->has[axis];
}

int el_ndim(const Elab *el, Val v)
{
    return el_has(el, v, IR_AX_X) + el_has(el, v, IR_AX_Y) + el_has(el, v, IR_AX_Z);
}

IrExpr el_extent(Elab *el, Val v, int axis)
{
    IrExpr e = el_grid(el, v)->extent[axis];
    return e != 0 ? e : ir_const(el->g, 1);
}

/* A grid that has the axes of both; extents of the first one that has them. */
static int joined_grid(Elab *el, int p, int q)
{
    if (el_are_named(el, p) || el_are_named(el, q)) {
        return el_joined_by_name(el, p, q);
    }
    IrGrid grid = *extents_of(el, p);
    const IrGrid *other = extents_of(el, q);
    for (int ax = 0; ax < IR_AXES; ax++) {
        if (!grid.has[ax] && other->has[ax]) {
            grid.has[ax] = true;
            grid.extent[ax] = other->extent[ax];
        }
    }
    return el_add_grid(el, grid, el_joined_place(el, p, q), el_as_they_lie());
}

/* True unless the extents are certain to differ. */
static bool may_be_equal(Elab *el, IrExpr p, IrExpr q)
{
    double difference;
    p = p != 0 ? p : ir_const(el->g, 1);
    q = q != 0 ? q : ir_const(el->g, 1);
    if (p == q) {
        return true;
    }
    return !ir_is_const(el->g, ir_op2(el->g, IR_X_SUB, p, q), &difference) || difference == 0;
}

/* An image on a grid with more axes; `missing`: those of x, y and z that it does not have; `to`: where its others lie there. */
typedef struct Widening {
    bool missing[3], channels;
    int to[3];
} Widening;

static IrExpr widen_read(IrGraph *g, IrExpr e, void *ctx)
{
    const Widening *w = ctx;
    const IrExprNode n = *ir_expr(g, e);
    if (n.op == IR_X_COORD && n.num < 3) {
        return ir_coord(g, w->to[(int)n.num]);
    }
    if (n.op != IR_X_READ && n.op != IR_X_READAT) {
        return e;
    }
    const IrExpr given[3] = {n.a, n.b, n.c};
    IrExpr at[3];
    for (int ax = 0; ax < 3; ax++) {
        bool moved = n.op == IR_X_READ && given[ax] != 0;
        bool placed = n.op == IR_X_READAT && given[ax] != 0; /* a plane of an image that has them */
        at[ax] = w->missing[ax] && !placed ? ir_const_typed(g, 0, ELEM_I32)
                 : moved           ? ir_op2(g, IR_X_ADD, ir_coord(g, w->to[ax]), ir_cast(g, given[ax], ELEM_I32))
                 : placed          ? given[ax]
                 : w->to[ax] != ax ? ir_coord(g, w->to[ax])
                                   : 0;
    }
    IrExpr channel = n.channel == 0 && w->channels ? ir_const(g, 0) : n.channel;
    return ir_read_at(g, n.node, at, channel, n.border, n.outside);
}

/* Which indices an expression mentions, and which of them its own folds run: no two folds made here
 * have the same. */
typedef struct Indices {
    bool *used, *bound;
} Indices;

static void note_index(const IrGraph *g, IrExpr e, void *ctx)
{
    const Indices *indices = ctx;
    const IrExprNode *n = ir_expr(g, e);
    bool index = n->op == IR_X_INDEX && n->num >= 0;
    if (index || n->op == IR_X_FOLD) {
        (index ? indices->used : indices->bound)[(int)n->num] = true;
    }
}

/* Inside a comprehension an image may be another one for each index, and cannot be stored. */
static bool has_open_index(Elab *el, IrExpr e)
{
    int n = el->g->next_index;
    Indices indices = {arena_array(el->arena, bool, n + 1), arena_array(el->arena, bool, n + 1)};
    ir_walk(el->g, e, note_index, &indices);
    for (int i = 0; i < n; i++) {
        if (indices.used[i] && !indices.bound[i]) {
            return true;
        }
    }
    return false;
}

Val el_settled(Elab *el, Val v, bool whole, Span span)
{
    const IrExprNode *n = ir_expr(el->g, v.expr);
    if (n->depth <= IR_DEEP) {
        return v;
    }
    int depth = n->depth;
    if (whole && v.kind == VAL_IMAGE && n->rank == IR_PIXEL && n->type != ELEM_F64 && !has_open_index(el, v.expr)) {
        v.expr = ir_read(el->g, el_store(el, v, "part", span));
    } else if (depth > ELAB_MAX_DEPTH) {
        el_error(el, TOO_MANY_STEPS, span, ELAB_MAX_DEPTH);
        return el_err();
    }
    return v;
}

/* From a grid to one that has its axes and maybe more. */
static Widening widening(const Elab *el, int grid, int on)
{
    const bool *from = extents_of(el, grid)->has, *to = extents_of(el, on)->has;
    Widening w = {.channels = to[IR_AX_C] && !from[IR_AX_C]};
    for (int ax = 0; ax < 3; ax++) {
        int lies = from[ax] ? el_lies_at(el, on, el_names_of(el, grid)->of[ax]) : ax;
        w.missing[ax] = to[ax] && !from[ax];
        w.to[ax] = lies >= 0 ? lies : ax;
    }
    return w;
}

/* Reads the image on a grid with more axes: the same pixel all along them. */
static Val broadcast(Elab *el, Val v, int grid, Span span)
{
    Widening w = widening(el, v.grid, grid);
    IrGraph *g = el->g;
    if (has_open_index(el, v.expr)) {
        v.expr = ir_rewrite(g, v.expr, widen_read, &w);
        v.grid = grid;
        return v;
    }
    IrKind kind = v.image;
    IrId node = el_store(el, v, "wide", span);
    IrExpr at[3] = {0, 0, 0};
    bool gather = false;
    for (int ax = 0; ax < 3; ax++) {
        bool turned = w.to[ax] != ax;
        at[ax] = turned ? ir_coord(g, w.to[ax]) : w.missing[ax] ? ir_const_typed(g, 0, ELEM_I32) : 0;
        gather = gather || at[ax] != 0;
    }
    IrExpr channel = w.channels ? ir_const(g, 0) : 0;
    v.expr = gather ? ir_read_at(g, node, at, channel, BORDER_NEAREST, 0)
                    : ir_read_offset(g, node, at, channel, BORDER_NEAREST, 0);
    v.grid = grid;
    v.image = kind;
    return v;
}

/* Does the expression read an image of these extents pixel by pixel?  Then a run compares them with those of the image
 * that is computed. */
static bool is_own_read(const IrGraph *g, IrExpr e, const void *ctx)
{
    const int *extents = ctx;
    const IrExprNode *n = ir_expr(g, e);
    return n->op == IR_X_READ && ir_node(g, n->node)->grid == *extents;
}

/* On a grid with the same axes.  What reads at places of its own, or nothing, is the same on a grid of any extents: it
 * is stored with those that it has, so that a run compares them. */
static Val moved_to(Elab *el, Val v, int grid, Span span)
{
    int extents = el->grids.at[v.grid].extents;
    bool same = extents == el->grids.at[grid].extents;
    if (!same && !ir_any(el->g, v.expr, is_own_read, &extents) && !has_open_index(el, v.expr)) {
        v.expr = ir_read(el->g, el_store(el, v, "part", span));
    }
    v.grid = grid;
    return v;
}

/* What an index of a comprehension chooses is one number for the image: it reads at no place that follows from the
 * pixel, and is the same on an image of any extents. */
typedef struct Chosen {
    bool read, own;
} Chosen;

static void find_own_places(const IrGraph *g, IrExpr e, void *ctx)
{
    Chosen *w = ctx;
    const IrExprNode *n = ir_expr(g, e);
    const IrExpr at[IR_AXES] = {n->a, n->b, n->c, n->channel};
    w->own = w->own || n->op == IR_X_COORD || n->op == IR_X_READ;
    for (int ax = 0; ax < IR_AXES && n->op == IR_X_READAT; ax++) {
        w->own = w->own || (at[ax] == 0 && g->grids.at[ir_node(g, n->node)->grid].has[ax]);
        w->read = true;
    }
}

static bool is_chosen(Elab *el, Val v)
{
    Chosen chosen = {.read = false};
    ir_walk(el->g, v.expr, find_own_places, &chosen);
    return chosen.read && !chosen.own && has_open_index(el, v.expr);
}

static void add_equal(Elab *el, IrEqual equal)
{
    double n, m;
    bool known = ir_is_const(el->g, equal.a, &n) && ir_is_const(el->g, equal.b, &m);
    known = known || ir_expr(el->g, equal.a)->rank > IR_HOST || ir_expr(el->g, equal.b)->rank > IR_HOST;
    for (int i = 0; i < el->g->equals.n && !known; i++) {
        const IrEqual *have = &el->g->equals.at[i];
        known = have->a == equal.a && have->b == equal.b;
    }
    if (!known) {
        vec_push(el->arena, &el->g->equals, equal);
    }
}

/* Images with these grids meet; false after a complaint where extents are certain to differ.  Where they may, a run
 * compares them. */
static bool have_same_extents(Elab *el, int p, int q, Span span)
{
    for (int ax = 0; ax < IR_AXES; ax++) {
        const IrGrid *a = extents_of(el, p), *b = extents_of(el, q);
        int at = ax == IR_AX_C ? ax : el_lies_at(el, p, ax), on = ax == IR_AX_C ? ax : el_lies_at(el, q, ax);
        IrExpr one = at >= 0 ? a->extent[at] : 0, other = on >= 0 ? b->extent[on] : 0;
        if (one == 0 || other == 0 || one == other) {
            continue;
        }
        if (!may_be_equal(el, one, other)) {
            el_error(el, SHAPES_DIFFER, span, el_axes(el, p), el_axes(el, q), "xyzc"[ax]);
            return false;
        }
        add_equal(el, (IrEqual){one, other, ax, el_place(el, span)});
    }
    return true;
}

/* The grid of what is made of images, those that are chosen last: they only bring axes that the others lack. */
static bool meeting_grid(Elab *el, const Val *vals, int n, Span span, int *grid)
{
    *grid = -1;
    for (int chosen = 0; chosen < 2; chosen++) {
        for (int i = 0; i < n; i++) {
            if (vals[i].kind != VAL_IMAGE || vals[i].grid == *grid || is_chosen(el, vals[i]) != (chosen == 1)) {
                continue;
            }
            if (*grid >= 0 && chosen == 0 && !have_same_extents(el, *grid, vals[i].grid, span)) {
                return false;
            }
            *grid = *grid < 0 ? vals[i].grid : joined_grid(el, *grid, vals[i].grid);
        }
    }
    return true;
}

bool el_meet(Elab *el, Val *vals, int n, Span span)
{
    int grid = -1, others = 0;
    for (int i = 0; i < n; i++) {
        others += vals[i].kind == VAL_IMAGE && grid >= 0 && vals[i].grid != grid;
        grid = vals[i].kind == VAL_IMAGE && grid < 0 ? vals[i].grid : grid;
    }
    if (others > 0 && !meeting_grid(el, vals, n, span, &grid)) {
        return false;
    }
    for (int i = 0; i < n && others > 0; i++) {
        if (vals[i].kind != VAL_IMAGE || vals[i].grid == grid) {
            continue;
        }
        const IrGrid *to = extents_of(el, grid);
        bool same_axes = memcmp(to->has, extents_of(el, vals[i].grid)->has, sizeof to->has) == 0 &&
                         memcmp(el_names_of(el, grid), el_names_of(el, vals[i].grid), sizeof(ElNames)) == 0;
        vals[i] = same_axes ? moved_to(el, vals[i], grid, span) : broadcast(el, vals[i], grid, span);
    }
    return true;
}
