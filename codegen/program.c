/*
 * program: assembles the program from the schedule: numbers buffers, grids and value slots, asks
 * for the text of every kernel.
 */
#include "codegen.h"
#include "channels.h"
#include "counted.h"
#include "layout.h"
#include "lifetimes.h"
#include "places.h"
#include "program_state.h"

#include "../base/connectivity.h"
#include "../base/user_text.h"
#include "../ir/footprint.h"
#include "../ir/function.h"
#include "../ir/gather.h"
#include "../ir/ids.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

extern const char kernel_text_px_math[], kernel_text_px_whole[], kernel_text_pixels[], kernel_text_rows[],
    kernel_text_long_folds[], kernel_text_slices[], kernel_text_epilogue[], kernel_text_f64_math[],
    kernel_text_as_file[];

/* ---- numbering --------------------------------------------------------------------------- */

static void number_grids(CgBuild *b)
{
    b->cg.grid = arena_array(b->arena, int, b->g->grids.n + 64);
    for (int i = 0; i < b->g->grids.n; i++) {
        ProgGrid grid;
        for (int ax = 0; ax < IR_AXES; ax++) {
            IrExpr e = b->g->grids.at[i].extent[ax];
            grid.extent[ax] = e != 0 ? cg_host(&b->cg.host, e) : cg_host_one(&b->cg.host);
        }
        grid.has_z = b->g->grids.at[i].has[IR_AX_Z];
        b->cg.grid[i] = b->grids.n;
        vec_push(b->arena, &b->grids, grid);
    }
    int one = cg_host_one(&b->cg.host);
    b->cg.scalar_grid = b->grids.n;
    vec_push(b->arena, &b->grids, ((ProgGrid){{one, one, one, one}, false}));
}

/* Are the planes of a volume labelled each by itself? */
static bool is_planar(const IrGraph *g, const IrNode *labels)
{
    double connectivity;
    return labels->op == IR_LABEL && ir_is_const(g, labels->label.connectivity, &connectivity) &&
           connectivity > CONNECTIVITY_PLANAR;
}

/* Elements of a vector: a histogram's bins, statistics of boxes, or room for as many labels as an image can have: one a pixel, or
 * for every second one where those that touch are one. */
static int vector_length(CgBuild *b, const IrNode *node)
{
    if (node->op == IR_HISTOGRAM) { /* two words a bin, and one */
        IrExpr two = ir_op2(b->g, IR_X_MUL, node->histogram.bins, ir_const(b->g, 2));
        return cg_host(&b->cg.host, ir_op2(b->g, IR_X_ADD, two, ir_const(b->g, 1)));
    }
    if (node->op == IR_BOXES) {
        return cg_host(&b->cg.host, node->boxes.length);
    }
    if (node->op == IR_FOREST) {
        return cg_host(&b->cg.host, node->forest.length);
    }
    IrGraph *g = b->g;
    const IrNode *labels = ir_node(g, cg_numbered_by(g, node->of));
    const IrGrid grid = g->grids.at[labels->grid];
    IrExpr n = ir_const(g, 1), alone = n; /* pixels, and images that are labelled each by itself */
    for (int ax = 0; ax < IR_AXES; ax++) {
        IrExpr e = grid.extent[ax] != 0 ? grid.extent[ax] : ir_const(g, 1);
        bool by_itself = ax == IR_AX_C || (ax == IR_AX_Z && is_planar(g, labels));
        n = by_itself ? n : ir_op2(g, IR_X_MUL, n, e);
        alone = by_itself ? ir_op2(g, IR_X_MUL, alone, e) : alone;
    }
    if (labels->op == IR_LABEL) {
        n = ir_op1(g, IR_X_FLOOR, ir_op2(g, IR_X_DIV, n, ir_const(g, 2)));
        n = ir_op2(g, IR_X_MUL, alone, ir_op2(g, IR_X_ADD, n, ir_const(g, 1)));
        return cg_host(&b->cg.host, ir_op2(g, IR_X_ADD, n, ir_const(g, 1)));
    }
    n = ir_op2(g, IR_X_MUL, alone, n);
    return cg_host(&b->cg.host, ir_op2(g, IR_X_ADD, n, ir_const(g, 2)));
}

static int value_slots(const IrNode *node)
{
    switch (node->op) {
    case IR_REDUCE:
        return 5;
    case IR_SUMMARY:
    case IR_OTSU:
        return 6;
    case IR_SCALAR: {
        int n = 0;
        while (n < 5 && node->in[n] != 0) {
            n++;
        }
        return n;
    }
    default:
        return node->kind == IR_K_VALUE || (node->kind == IR_K_LABELS && node->op != IR_MAP) ? 1 : 0;
    }
}

static void number_nodes(CgBuild *b)
{
    int n = b->g->nodes.n;
    b->cg.buffer = arena_array(b->arena, int, n);
    b->cg.slot = arena_array(b->arena, int, n);
    b->cg.length = arena_array(b->arena, int, n);
    b->table_step = arena_array(b->arena, int, n);
    const bool *counted = cg_counted(b->g);
    for (IrId id = 0; id < (IrId)n; id++) {
        const IrNode *node = ir_node(b->g, id);
        b->cg.buffer[id] = b->cg.slot[id] = b->cg.length[id] = b->table_step[id] = -1;
        if (node->dead) {
            continue;
        }
        if (value_slots(node) > 0 && (node->op != IR_INPUT || counted[id])) {
            b->cg.slot[id] = b->program->n_values;
            b->program->n_values += value_slots(node);
        }
        if (!b->sched->stored[id]) {
            continue;
        }
        ProgBuffer buffer = {.name = node->name,
                             .elem = node->elem,
                             .elem_of = node->op == IR_INPUT      ? cg_input_number(b->g, id)
                                        : node->elem == ELEM_FILE ? cg_input_number(b->g, node->of)
                                                                  : -1,
                             .grid = -1,
                             .length = -1,
                             .first = -1,
                             .last = -1,
                             .onto = -1};
        if (node->kind == IR_K_VECTOR) {
            buffer.length = b->cg.length[id] = vector_length(b, node);
        } else {
            buffer.grid = b->cg.grid[node->grid];
        }
        b->cg.buffer[id] = b->buffers.n;
        vec_push(b->arena, &b->buffers, buffer);
    }
}

/* ---- kernels and steps ------------------------------------------------------------------- */

/* "lib/mine.pipe:" of what an included file has. */
static const char *other_file(const CgBuild *b, Span span)
{
    bool other = b->g->source != NULL && span.source != b->g->source;
    return other ? arena_printf(b->arena, "%s:", span.source->path) : "";
}

/* "4, 6-7": the lines of the user's file that the stages came from. */
static const char *lines_of(CgBuild *b, const IrStep *step)
{
    Str s;
    str_init(&s, b->arena);
    int last = -1;
    for (int i = 0; i < step->stages.n; i++) {
        Span span = ir_node(b->g, step->stages.at[i])->span;
        int line, column;
        if (span.source == NULL) {
            continue;
        }
        span_line_column(span, &line, &column);
        if (line != last) {
            str_addf(&s, "%s%s%d", s.n ? ", " : "", other_file(b, span), line);
        }
        last = line;
    }
    return s.at;
}

enum { QUOTED_PATH = 60 }; /* bytes of a path in a line */

/* The user's lines as comments in front of a kernel. */
static void quote_lines(CgBuild *b, const IrStep *step, Str *out)
{
    int last = -1;
    for (int i = 0; i < step->stages.n; i++) {
        Span span = ir_node(b->g, step->stages.at[i])->span;
        int line, column, length;
        if (span.source == NULL) {
            continue;
        }
        span_line_column(span, &line, &column);
        if (line != last) {
            const char *text = source_line(span.source, line, &length);
            const size_t begin = out->n;
            str_add(out, "// ");
            user_comment(out, span.source->path, strlen(span.source->path), QUOTED_PATH);
            str_addf(out, ":%d  ", line);
            user_comment(out, text, (size_t)length, CG_COLUMNS - (out->n - begin));
            str_add(out, "\n");
        }
        last = line;
    }
}

/* The name of a step: its stored stages, or its only one. */
static const char *step_name(CgBuild *b, const IrStep *step)
{
    Str s;
    str_init(&s, b->arena);
    for (int i = 0; i < step->stages.n; i++) {
        IrId id = step->stages.at[i];
        if (b->sched->stored[id] || step->kind != IR_STEP_KERNEL) {
            str_addf(&s, "%s%s", s.n ? "__" : "", ir_node(b->g, id)->name);
        }
        if (s.n > 60) {
            break;
        }
    }
    return s.at;
}

static bool is_place(const IrGraph *g, IrExpr e, const void *ctx)
{
    (void)ctx;
    return ir_expr(g, e)->op == IR_X_READAT;
}

/* Of the innermost loop that is open. */
static int ended_slot(const CgBuild *b)
{
    int depth = 0;
    for (int s = b->steps.n - 1; s >= 0; s--) {
        const ProgStep *step = &b->steps.at[s];
        if (step->kind == STEP_LOOP && depth == 0) {
            return step->ended;
        }
        depth += (step->kind == STEP_END) - (step->kind == STEP_LOOP);
    }
    return 0;
}

/* All its stages gather from the same image. */
static bool gathers(const IrGraph *g, const IrStep *step)
{
    IrId from = ir_expr(g, ir_node(g, step->stages.at[0])->map.value)->node;
    bool all = true;
    for (int i = 0; i < step->stages.n; i++) {
        IrId stage = step->stages.at[i];
        all = all && ir_is_gather(g, stage) && ir_expr(g, ir_node(g, stage)->map.value)->node == from;
    }
    return all;
}

static CgKernel new_kernel(CgBuild *b, const IrStep *step, const char *name)
{
    IrId first = step->stages.at[0];
    bool places = false;
    for (int i = 0; step->shape == IR_SHAPE_DIRECT && i < step->stages.n; i++) {
        for (int j = 0; j < NODE_INPUTS; j++) {
            places = places || ir_any(b->g, ir_node(b->g, step->stages.at[i])->in[j], is_place, NULL);
        }
    }
    return (CgKernel){.ended = ended_slot(b),
                      .boxed = places,
                      .gathers = places && gathers(b->g, step),
                      .cg = &b->cg,
                      .g = b->g,
                      .arena = b->arena,
                      .name = name,
                      .domain = step->kind == IR_STEP_SCALARS ? -1 : ir_domain(b->g, first)};
}

static ProgArg *args_of(CgBuild *b, const CgKernel *k)
{
    ProgArg *args = arena_array(b->arena, ProgArg, k->params.n + k->packed.n + 1);
    for (int i = 0; i < k->params.n; i++) {
        args[i] = k->params.at[i].arg;
    }
    for (int i = 0; i < k->packed.n; i++) {
        args[k->params.n + i] = k->packed.at[i].arg;
    }
    return args;
}

static void add_need(CgBuild *b, IrExpr one, IrExpr other, bool below, const char *where, const char *what)
{
    double p, q;
    const bool known = ir_is_const(b->g, one, &p) && ir_is_const(b->g, other, &q);
    if (one == other || (known && (below ? p > -1 && p < q : p == q))) {
        return;
    }
    ProgNeed need = {cg_host(&b->cg.host, one), cg_host(&b->cg.host, other), below, what, where};
    for (int i = 0; i < b->needs.n; i++) {
        if (b->needs.at[i].a == need.a && b->needs.at[i].b == need.b) {
            return;
        }
    }
    vec_push(b->arena, &b->needs, need);
}

/* The range of a fold's index. */
typedef struct Range {
    int index;
    IrExpr lo, hi;
} Range;

typedef struct NeedWalk {
    CgBuild *b;
    int domain;
    const char *where; /* the reads are written */
    bool last;         /* indices stand for their last value, else for their first */
    Vec(Range) ranges;
} NeedWalk;

static void note_range(const IrGraph *g, IrExpr e, void *ctx)
{
    NeedWalk *w = ctx;
    const IrExprNode *n = ir_expr(g, e);
    if (n->op == IR_X_FOLD) {
        vec_push(g->arena, &w->ranges, (Range){(int)n->num, n->b, n->c});
    }
}

static IrExpr bind_index(IrGraph *g, IrExpr e, void *ctx)
{
    const NeedWalk *w = ctx;
    const IrExprNode *n = ir_expr(g, e);
    for (int i = 0; n->op == IR_X_INDEX && i < w->ranges.n; i++) {
        const Range *range = &w->ranges.at[i];
        if (range->index == (int)n->num) {
            IrExpr last = ir_op2(g, IR_X_MAX, range->lo, range->hi); /* of none, the first, which is there */
            return ir_rewrite(g, w->last ? last : range->lo, bind_index, ctx);
        }
    }
    return e;
}

/* A channel that is read must be there; one that folds choose, for their first and last index. */
static void need_channel(NeedWalk *w, const IrNode *node, IrExpr channel)
{
    CgBuild *b = w->b;
    IrExpr channels = b->g->grids.at[node->grid].extent[IR_AX_C];
    const char *what = arena_printf(b->arena,
                                    "a channel of '%s' (counted from 0) and the number of "
                                    "its channels",
                                    node->name);
    for (int end = 0; end < 2 && channels != 0; end++) {
        w->last = end == 1;
        IrExpr bound = channel;
        if (ir_expr(b->g, channel)->rank == IR_INDEX) {
            bound = ir_rewrite(b->g, channel, bind_index, w);
        }
        add_need(b, bound, channels, true, w->where, what);
    }
}

static const char *const AXIS[] = {"width", "height", "depth", "number of channels"};

/* A read at the current pixel needs an image of the same extents, unless the image has one channel for all; one of
 * a channel a channel that is there. */
static void look_at_read(const IrGraph *g, IrExpr e, void *ctx)
{
    NeedWalk *w = ctx;
    CgBuild *b = w->b;
    const IrExprNode n = *ir_expr(g, e);
    if (n.op != IR_X_READ && n.op != IR_X_READAT) {
        return;
    }
    const IrNode *node = ir_node(g, n.node);
    const IrGrid from = g->grids.at[node->grid], here = g->grids.at[w->domain];
    IrExpr one = ir_const(b->g, 1);
    if (n.channel != 0 && ir_expr(g, n.channel)->rank <= IR_INDEX) {
        need_channel(w, node, n.channel);
    }
    const IrExpr at[] = {n.a, n.b, n.c, n.channel};
    bool channels = from.extent[IR_AX_C] != 0 && here.extent[IR_AX_C] != 0;
    for (int ax = 0; ax < (channels ? 4 : 3); ax++) {
        if ((ax != IR_AX_C && n.op == IR_X_READ) || at[ax] == 0) {
            add_need(b, from.extent[ax] != 0 ? from.extent[ax] : one, here.extent[ax] != 0 ? here.extent[ax] : one,
                     false, w->where,
                     arena_printf(b->arena, "the %s of '%s' and that of the image it is used with", AXIS[ax],
                                  node->name));
        }
    }
}

static const char *where_of(const CgBuild *b, Span span)
{
    int line, column;
    span_line_column(span, &line, &column);
    return span.source != NULL ? arena_printf(b->arena, "%sline %d: ", other_file(b, span), line) : "";
}

static void note_needs(CgBuild *b, const CgKernel *k, IrId id)
{
    NeedWalk w = {.b = b, .domain = k->domain, .where = where_of(b, ir_node(b->g, id)->span)};
    for (int i = 0; i < NODE_INPUTS; i++) {
        IrExpr e = ir_node(b->g, id)->in[i];
        if (e != 0 && k->domain >= 0) {
            ir_walk(b->g, e, note_range, &w);
            ir_walk(b->g, e, look_at_read, &w);
        }
    }
}

static void add_step(CgBuild *b, CgKernel *k, ProgStep step)
{
    step.args = args_of(b, k);
    step.n_args = k->params.n + k->packed.n;
    step.n_packed = k->packed.n;
    step.packed_at = k->packed_at;
    step.reads = k->reads.at;
    step.n_reads = k->reads.n;
    step.uses = k->uses.at;
    step.n_uses = k->uses.n;
    vec_push(b->arena, &b->steps, step);
}

static int add_kernel(CgBuild *b, CgKernel *k, const Str *body, const char *lines)
{
    ProgKernel kernel = {.name = user_name(b->arena, k->name),
                         .source = cg_wrap(b->arena, k->packed_text == NULL
                                                         ? body->at
                                                         : arena_printf(b->arena, "\n%s%s", k->packed_text, body->at)),
                         .defines = k->defines.at,
                         .n_defines = k->defines.n,
                         .lines = lines};
    vec_push(b->arena, &b->kernels, kernel);
    return b->kernels.n - 1;
}

static int *written(CgBuild *b, const IrStep *step, int *n)
{
    int *list = arena_array(b->arena, int, step->stages.n + 1);
    *n = 0;
    for (int i = 0; i < step->stages.n; i++) {
        int buffer = b->cg.buffer[step->stages.at[i]];
        if (buffer >= 0) {
            list[(*n)++] = buffer;
        }
    }
    return list;
}

/* What a gather gathers may be there in part. */
static void mark_rounds(const CgBuild *b, CgKernel *k, const IrStep *step)
{
    IrId from = k->gathers ? ir_expr(b->g, ir_node(b->g, step->stages.at[0])->map.value)->node : 0;
    for (int i = 0; i < k->reads.n && k->gathers; i++) {
        k->reads.at[i].in_rounds = k->reads.at[i].buffer == b->cg.buffer[from];
    }
}

/* A loop's first image becomes that of a carry, bit by bit. */
static bool copies(const IrGraph *g, const IrStep *step)
{
    const IrNode *made = ir_node(g, step->stages.at[0]);
    const IrExprNode *first = made->op == IR_CARRY ? ir_expr(g, made->map.value) : NULL;
    return first != NULL && first->op == IR_X_READ && ir_node(g, first->node)->elem == made->elem;
}

static void kernel_step(CgBuild *b, const IrStep *step)
{
    CgKernel k = new_kernel(b, step, step_name(b, step));
    Str body;
    str_init(&body, b->arena);
    str_add(&body, "\n");
    quote_lines(b, step, &body);
    bool scalars = step->kind == IR_STEP_SCALARS;
    if (scalars) {
        cg_kernel_scalars(&k, step, &body);
    } else if (step->shape == IR_SHAPE_ROWS) {
        cg_kernel_rows(&k, step, &body);
    } else if (step->shape == IR_SHAPE_LONG) {
        cg_kernel_long(&k, step, &body);
    } else {
        cg_kernel_direct(&k, step, &body);
    }
    CgHalo *halo = arena_array(b->arena, CgHalo, step->stages.n);
    for (int i = step->stages.n - 1; !scalars && i >= 0; i--) {
        cg_reads(&k, step, i, halo);
        note_needs(b, &k, step->stages.at[i]);
    }
    mark_rounds(b, &k, step);
    const char *lines = lines_of(b, step);
    ProgStep out = {.kind = STEP_LAUNCH,
                    .name = k.name,
                    .lines = lines,
                    .kernel = add_kernel(b, &k, &body, lines),
                    .grid = scalars ? b->cg.scalar_grid : b->cg.grid[k.domain],
                    .stream_z = step->shape != IR_SHAPE_DIRECT && step->stream == IR_AX_Z,
                    .ops = step->ops,
                    .boxed = k.boxed,
                    .copies = copies(b->g, step),
                    .value = -1,
                    .of_value = -1};
    out.writes = written(b, step, &out.n_writes);
    add_step(b, &k, out);
}

/* The buffer whose pixels an expression is, maybe in another type; -1: it is computed, or may be a border's value. */
static int pixels_of(const CgBuild *b, IrExpr e)
{
    const IrExprNode *n = ir_expr(b->g, e);
    while (n->op == IR_X_CAST) {
        n = ir_expr(b->g, n->a);
    }
    return n->op == IR_X_READ && n->border != BORDER_CONSTANT ? b->cg.buffer[n->node] : -1;
}

static void primitive_step(CgBuild *b, const IrStep *step)
{
    IrId id = step->stages.at[0];
    CgKernel k = new_kernel(b, step, step_name(b, step));
    Str body;
    str_init(&body, b->arena);
    str_add(&body, "\n");
    quote_lines(b, step, &body);
    cg_reader(&k, id, &body);
    cg_reads(&k, step, 0, arena_new(b->arena, CgHalo));
    note_needs(b, &k, id);
    const IrNode node = *ir_node(b->g, id);
    const char *lines = lines_of(b, step);
    ProgStep out = {.kind = STEP_PRIMITIVE,
                    .name = k.name,
                    .lines = lines,
                    .primitive = ir_op_info(node.op)->name,
                    .grid = k.domain >= 0 ? b->cg.grid[k.domain] : b->cg.scalar_grid,
                    .value = b->cg.slot[id],
                    .of_value = node.of != 0 ? b->cg.slot[node.of] : -1,
                    .text = node.op == IR_FOREST ? ir_forest_of(b->g, id)->text : node.text};
    int *inputs = arena_array(b->arena, int, NODE_INPUTS + 1);
    bool of_buffer = node.of != 0 && ir_node(b->g, node.of)->kind == IR_K_VECTOR;
    if (of_buffer) {
        cg_read(&k, node.of, NULL);
        inputs[out.n_inputs++] = b->cg.buffer[node.of];
    }
    int n_in = NODE_INPUTS;
    while (n_in > 0 && node.in[n_in - 1] == 0) {
        n_in--;
    }
    for (int i = 0; i < n_in && !of_buffer; i++) {
        IrId from = ir_op_input_is_stored(node.op, i) ? ir_expr(b->g, node.in[i])->node : 0;
        inputs[out.n_inputs++] = from != 0 ? b->cg.buffer[from] : -1;
    }
    int *exprs = arena_array(b->arena, int, NODE_ARGUMENTS + 1);
    for (int i = 0; i < NODE_ARGUMENTS && node.arg[i] != 0; i++) {
        exprs[out.n_exprs++] = cg_host(&b->cg.host, node.arg[i]);
    }
    int *pixels = arena_array(b->arena, int, NODE_INPUTS + 1);
    for (; out.n_pixels < n_in; out.n_pixels++) {
        pixels[out.n_pixels] = pixels_of(b, node.in[out.n_pixels]);
    }
    out.inputs = inputs;
    out.pixels = pixels;
    out.ids = node.op == IR_IDS ? cg_ids_of(b, node.of) : 0;
    out.exprs = exprs;
    out.kernel = add_kernel(b, &k, &body, lines);
    out.writes = written(b, step, &out.n_writes);
    b->table_step[id] = b->steps.n;
    if (node.kind == IR_K_TABLE) {
        double sort = 0;
        (void)ir_is_const(b->g, node.measure.sort, &sort);
        ProgTable table = {.name = node.name, .step = b->steps.n, .columns = node.text, .sort = (int)sort};
        for (int axis = 0; axis < 2 && node.op == IR_MEASURE; axis++) {
            const IrExpr column = axis == 0 ? node.measure.sky_x : node.measure.sky_y;
            table.sky[axis] = column != 0 ? (int)ir_expr(b->g, column)->num : 0;
        }
        for (int column = 0; column < PROG_IDS_COLUMNS; column++) {
            IrId input = ir_ids_of_column(b->g, id, column);
            table.ids[column] = input != 0 ? cg_input_number(b->g, input) + 1 : 0;
        }
        vec_push(b->arena, &b->tables, table);
    }
    add_step(b, &k, out);
}

/* ---- loops ------------------------------------------------------------------------------- */

/* One work-item that puts expressions into slots of values. */
static void values_step(CgBuild *b, const char *name, const int *slots, const IrExpr *exprs, int n)
{
    CgKernel k = {.cg = &b->cg, .g = b->g, .arena = b->arena, .domain = -1, .name = name, .ended = ended_slot(b)};
    Str body, lines;
    str_init(&body, b->arena);
    str_init(&lines, b->arena);
    CgContext cx;
    cg_context(&cx, &k, &lines, &lines, cg_read_memory);
    cx.indent = cx.prologue_indent = 2;
    cg_param(&k, (ProgArg){ARG_VALUES, 0, 0}, "global double *", "values");
    for (int i = 0; i < n; i++) {
        cg_line(&cx, "values[%d] = %s;", slots[i], cg_bare(b->arena, cg_expr(&cx, ir_cast(b->g, exprs[i], ELEM_F64))));
    }
    cg_open_kernel(&k, &body);
    str_addf(&body, "    if (get_global_id(0) == 0) {\n%s    }\n}\n", lines.at);
    ProgStep out =
        {.kind = STEP_LAUNCH, .name = k.name, .lines = "", .grid = b->cg.scalar_grid, .value = -1, .of_value = -1};
    out.kernel = add_kernel(b, &k, &body, "");
    add_step(b, &k, out);
}

static bool carries_count(const CgBuild *b, const IrCarry *c)
{
    return ir_node(b->g, c->carry)->kind == IR_K_LABELS && b->cg.slot[c->carry] >= 0;
}

/* Labels that a loop carries begin with the number of those that they begin as. */
static void start_counts(CgBuild *b, int id)
{
    const IrLoop *loop = &b->g->loops.at[id];
    int *slots = arena_array(b->arena, int, loop->carries.n + 1), n = 0;
    IrExpr *counts = arena_array(b->arena, IrExpr, loop->carries.n + 1);
    for (int i = 0; i < loop->carries.n; i++) {
        if (carries_count(b, &loop->carries.at[i])) {
            slots[n] = b->cg.slot[loop->carries.at[i].carry];
            counts[n++] = ir_value(b->g, loop->carries.at[i].first, 0);
        }
    }
    if (n > 0) {
        values_step(b, arena_printf(b->arena, "counts_%d", id), slots, counts, n);
    }
}

/* Where the watched value is in any case; -1: it is computed before the round ends. */
static int watched_slot(const CgBuild *b, const IrLoop *loop)
{
    const IrExprNode *e = ir_expr(b->g, loop->until);
    return e->op == IR_X_VALUE ? b->cg.slot[e->node] + (int)e->num : -1;
}

static void loop_step(CgBuild *b, int id)
{
    start_counts(b, id);
    const IrLoop *loop = &b->g->loops.at[id];
    IrExpr rounds = loop->count != 0 ? loop->count : loop->at_most;
    ProgStep out = {.kind = STEP_LOOP, .name = "repeat", .lines = "", .kernel = -1, .of_value = -1};
    static const int none[1] = {-1};
    int *count = arena_array(b->arena, int, 1);
    count[0] = cg_host(&b->cg.host, rounds);
    out.exprs = loop->count != 0 ? count : none;
    out.n_exprs = 1;
    out.at_most = count[0];
    out.value = -1;
    if (loop->until != 0) {
        int there = watched_slot(b, loop);
        out.value = there >= 0 ? there : b->program->n_values++;
        out.ended = b->program->n_values;
        b->program->n_values += PROG_LOOP_SLOTS;
    }
    vec_push(b->arena, &b->steps, out);
}

static void end_step(CgBuild *b, int id)
{
    const IrLoop *loop = &b->g->loops.at[id];
    int begin = b->steps.n - 1, depth = 0;
    while (b->steps.at[begin].kind != STEP_LOOP || depth > 0) {
        depth += b->steps.at[begin].kind == STEP_END;
        depth -= b->steps.at[begin].kind == STEP_LOOP;
        begin--;
    }
    if (loop->until != 0 && watched_slot(b, loop) < 0) {
        int slot = b->steps.at[begin].value;
        values_step(b, arena_printf(b->arena, "until_%d", slot), &slot, &loop->until, 1);
    }
    ProgCarry *carries = arena_array(b->arena, ProgCarry, 2 * loop->carries.n + 1);
    int n = 0;
    for (int i = 0; i < loop->carries.n; i++) {
        const IrCarry *c = &loop->carries.at[i];
        bool is_value = ir_node(b->g, c->carry)->kind == IR_K_VALUE;
        const int *number = is_value ? b->cg.slot : b->cg.buffer;
        carries[n++] = (ProgCarry){is_value, number[c->carry], number[c->next]};
        if (carries_count(b, c)) {
            carries[n++] = (ProgCarry){true, b->cg.slot[c->carry], b->cg.slot[c->next]};
        }
    }
    ProgStep out = {.kind = STEP_END,
                    .name = "repeat",
                    .lines = "",
                    .kernel = -1,
                    .value = -1,
                    .of_value = -1,
                    .carries = carries,
                    .n_carries = n};
    vec_push(b->arena, &b->steps, out);
}

/* ---- what a run must hold ------------------------------------------------------------------- */

static void need_equals(CgBuild *b)
{
    for (int i = 0; i < b->g->equals.n; i++) {
        const IrEqual *equal = &b->g->equals.at[i];
        add_need(b, equal->a, equal->b, false, where_of(b, equal->span),
                 arena_printf(b->arena, "the %s of an image and that of another one it is used with",
                              AXIS[equal->axis]));
    }
}

static void add_bounds(CgBuild *b)
{
    ProgBound *list = arena_array(b->arena, ProgBound, b->g->bounds.n + 1);
    for (int i = 0; i < b->g->bounds.n; i++) {
        const IrBound *bound = &b->g->bounds.at[i];
        list[i] = (ProgBound){.where = where_of(b, bound->span),
                              .what = bound->what,
                              .must = bound->must,
                              .value = cg_host(&b->cg.host, bound->value),
                              .lo = bound->lo,
                              .hi = bound->hi,
                              .above = bound->above};
    }
    b->program->bounds = list;
    b->program->n_bounds = b->g->bounds.n;
}

/* What stands in front of every kernel.  Few pipelines take a function of a whole-image value, and
 * its text takes time to compile. */
static const char *library(const CgBuild *b)
{
    bool f64 = false, as_file = false;
    for (int i = 0; i < b->kernels.n; i++) {
        f64 = f64 || strstr(b->kernels.at[i].source, "f64_") != NULL;
        as_file = as_file || strstr(b->kernels.at[i].source, "AS_FILE(") != NULL;
    }
    return arena_printf(b->arena, "%s%s%s%s%s%s%s%s%s", kernel_text_px_math, kernel_text_px_whole,
                        f64 ? kernel_text_f64_math : "", kernel_text_pixels, kernel_text_rows, kernel_text_long_folds,
                        kernel_text_slices, kernel_text_epilogue, as_file ? kernel_text_as_file : "");
}

const Program *cg_program(IrGraph *g, const IrSchedule *schedule, const char *hash)
{
    assert(schedule != NULL && hash != NULL);
    Program *p = arena_new(g->arena, Program);
    CgBuild b = {.g = g, .arena = g->arena, .sched = schedule, .program = p};
    b.cg.g = g;
    b.cg.sched = schedule;
    b.cg.n_values = &p->n_values;
    cg_host_init(&b.cg.host, g);
    for (int i = 0; i < PROG_TABLE_INDICES; i++) {
        b.cg.table_index[i] = ir_new_index(g);
    }
    cg_choose_channels(&b);
    b.cg.seams = cg_find_seams(g, schedule);
    b.cg.values = arena_array(b.arena, int, g->nodes.n);
    number_grids(&b);
    number_nodes(&b);
    int *step_of = arena_array(b.arena, int, schedule->steps.n + 1);
    for (int i = 0; i < schedule->steps.n; i++) {
        const IrStep *step = &schedule->steps.at[i];
        step_of[i] = b.steps.n;
        switch (step->kind) {
        case IR_STEP_PRIMITIVE:
            primitive_step(&b, step);
            break;
        case IR_STEP_LOOP:
            loop_step(&b, step->loop);
            break;
        case IR_STEP_END:
            end_step(&b, step->loop);
            break;
        default:
            kernel_step(&b, step);
        }
    }
    cg_lifetimes(&(CgLifetimes){.cg = &b.cg,
                                .steps = b.steps.at,
                                .n_steps = b.steps.n,
                                .buffers = b.buffers.at,
                                .n_buffers = b.buffers.n,
                                .step_of = step_of});
    cg_add_interface(&b);
    add_bounds(&b);
    need_equals(&b);
    p->name = g->name;
    p->version = PIPEC_VERSION;
    p->hash = hash;
    p->source = g->source != NULL ? g->source->text : "";
    p->library = library(&b);
    p->host = b.cg.host.nodes.at;
    p->n_host = b.cg.host.nodes.n;
    p->tables = b.tables.at;
    p->n_tables = b.tables.n;
    p->needs = b.needs.at;
    p->n_needs = b.needs.n;
    p->grids = b.grids.at;
    p->n_grids = b.grids.n;
    p->buffers = b.buffers.at;
    p->n_buffers = b.buffers.n;
    p->kernels = b.kernels.at;
    p->n_kernels = b.kernels.n;
    p->steps = b.steps.at;
    p->n_steps = b.steps.n;
    return p;
}
