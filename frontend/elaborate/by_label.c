/*
 * by_label: what is computed for each label rather than for each pixel: single points that stand
 * for labels, and what lies near them.
 *
 * Its expressions follow from a label alone, which stands in them for the coordinate x; what they read are
 * vectors.
 */
#include "elab.h"

#include "../../base/near.h"
#include "../../ir/ids.h"

#include <math.h>
#include <string.h>

/* ---- vectors --------------------------------------------------------------------------- */

static IrExpr lookup_of_label(IrGraph *g, IrExpr e, void *ctx)
{
    const IrExpr *labels = ctx;
    const IrExprNode *n = ir_expr(g, e);
    return n->op == IR_X_LOOKUP ? ir_lookup(g, n->node, *labels) : e;
}

Val el_paint(Elab *el, Val vector, Val labels)
{
    return el_image(el, ir_rewrite(el->g, vector.expr, lookup_of_label, &labels.expr), labels.grid);
}

/* The labels that a vector belongs to. */
static Val labels_of(Elab *el, Val vector)
{
    return el_image(el, ir_read(el->g, vector.node), el->lies.at[vector.node]);
}

const char *el_labels_name(const Elab *el, Val vector)
{
    return el->anonymous.at[vector.node] ? "labels" : ir_node(el->g, vector.node)->name;
}

Val el_painted(Elab *el, Val vector)
{
    return el_paint(el, vector, labels_of(el, vector));
}

bool el_is_of(Elab *el, Val vector, Val labels, Span span)
{
    if (ir_ids_first(el->g, el_labels_of(el, labels, span)) == ir_ids_first(el->g, vector.node)) {
        return true;
    }
    Diag *d = el_error(el, VECTOR_MEETS, span, "a value for each label", "other labels");
    diag_help(el->diags, d, "what it is at a pixel: v[%s]", el_labels_name(el, vector));
    return false;
}

Val el_each_once(Elab *el, Val vector, Span span)
{
    Val labels = labels_of(el, vector), image = el_painted(el, vector);
    Val once = el_from_prelude(el, "one_of_each", &labels, &span, 1, span);
    return el_where(el, image, once, span);
}

bool el_by_label(Elab *el, Val *vals, int n, IrId *labels, Span span)
{
    const Val *first = NULL;
    for (int i = 0; i < n; i++) {
        first = first == NULL && vals[i].kind == VAL_VECTOR ? &vals[i] : first;
    }
    *labels = first != NULL ? first->node : 0;
    for (int i = 0; i < n && first != NULL; i++) {
        bool image = vals[i].kind == VAL_IMAGE;
        bool other = vals[i].kind == VAL_VECTOR && ir_ids_first(el->g, vals[i].node) != ir_ids_first(el->g, *labels);
        if (image || other) {
            Diag *d = el_error(el, VECTOR_MEETS, span, el_describe(el, *first),
                               image ? el_describe(el, vals[i]) : "a value for each of other labels");
            bool chosen = image && vals[i].image == IR_K_LABELS;
            diag_help(
                el->diags, d,
                chosen ? "labels are chosen with keep_labels(%s, property(%s, area) > 50)"
                : image
                    ? "paint it on its labels, and compute with the pixels: v[%s]"
                    : "labels have the same numbers where one is made of the other: expand_labels(%s, 5), or a part "
                      "of it, mask_labels(%s, mask, renumber = false)",
                el_labels_name(el, *first), el_labels_name(el, *first));
            return false;
        }
    }
    for (int i = 0; i < n && first != NULL; i++) {
        if (vals[i].kind == VAL_VECTOR) {
            vals[i] = el_image(el, vals[i].expr, el->lies.at[*labels]);
            vals[i].node = *labels;
        }
    }
    return true;
}

/* ---- points ---------------------------------------------------------------------------- */

/* What follows from the label alone, through images that have a name, with the label in place of x. */
typedef struct ByLabel {
    Elab *el;
    IrId labels;
    bool varies;
} ByLabel;

/* The value of an image at a pixel, where reading it is nothing else. */
static IrExpr value_behind(const ByLabel *by, IrExpr e)
{
    IrId from;
    const IrGraph *g = by->el->g;
    if (!el_plain_read(by->el, e, &from) || ir_node(g, from)->op != IR_MAP) {
        return 0;
    }
    const IrNode *node = ir_node(g, from);
    bool same = node->loop == by->el->loop && ir_expr(g, node->map.value)->type == node->elem;
    return same ? node->map.value : 0;
}

static void look_behind(const IrGraph *g, IrExpr e, void *ctx)
{
    ByLabel *by = ctx;
    const IrExprNode *n = ir_expr(g, e);
    IrId node;
    IrExpr behind = value_behind(by, e);
    if (behind != 0) {
        ir_walk(g, behind, look_behind, by);
    } else if (!el_plain_read(by->el, e, &node) || node != by->labels) {
        by->varies |= n->op == IR_X_COORD || n->op == IR_X_READAT || n->op == IR_X_READ;
    }
}

static IrExpr label_for_read(IrGraph *g, IrExpr e, void *ctx)
{
    ByLabel *by = ctx;
    IrExpr behind = value_behind(by, e);
    if (behind != 0) {
        return ir_rewrite(g, behind, label_for_read, by);
    }
    return ir_expr(g, e)->op == IR_X_READ ? ir_cast(g, ir_coord(g, IR_AX_X), ELEM_U32) : e;
}

static IrExpr smallest_of_label(Elab *el, IrId labels, Val v, Span span)
{
    v.expr = ir_cast(el->g, v.expr, ELEM_F32);
    IrNode node = {.op = IR_PERLABEL,
                   .kind = IR_K_VECTOR,
                   .elem = ELEM_F32,
                   .of = labels,
                   .perlabel = {.labels = ir_read(el->g, labels),
                                .value = el_readable(el, v, "place", span).expr,
                                .fold = ir_const(el->g, LABEL_MIN)}};
    IrId least = el_add_once(el, node, "place", span);
    return ir_lookup(el->g, least, ir_coord(el->g, IR_AX_X));
}

/* An argument as an expression of the label, f32.  An image may differ within a label: then its smallest
 * value. */
static IrExpr value_of_label(Elab *el, Call *call, int i, IrId labels)
{
    IrGraph *g = el->g;
    Val pair[2] = {call->arg[0], call->arg[i]};
    if (pair[1].kind == VAL_VECTOR) {
        return ir_cast(g, pair[1].expr, ELEM_F32);
    }
    if (pair[1].kind != VAL_IMAGE) {
        return ir_cast(g, call->given[i] ? pair[1].expr : ir_const(g, 0), ELEM_F32);
    }
    if (!el_meet(el, pair, 2, call->at[i])) {
        return 0;
    }
    ByLabel by = {el, labels, false};
    ir_walk(g, pair[1].expr, look_behind, &by);
    if (by.varies) {
        return smallest_of_label(el, labels, pair[1], call->span);
    }
    return ir_cast(g, ir_rewrite(g, pair[1].expr, label_for_read, &by), ELEM_F32);
}

/* Labels that may not be there have no place. */
IrExpr el_where_present(Elab *el, Val labels, IrExpr place, Span span)
{
    IrGraph *g = el->g;
    IrExpr read = el_readable(el, labels, "labels", span).expr;
    IrNode node = {.op = IR_PERLABEL,
                   .kind = IR_K_VECTOR,
                   .elem = ELEM_F32,
                   .of = el_labels_of(el, labels, span),
                   .perlabel = {.labels = read, .value = ir_cast(g, read, ELEM_F32), .fold = ir_const(g, LABEL_COUNT)}};
    IrId count = el_add_once(el, node, "count", span);
    IrExpr pixels = ir_lookup(g, count, ir_coord(g, IR_AX_X));
    IrExpr some = ir_op2(g, IR_X_GT, pixels, ir_const_typed(g, 0, ELEM_F32));
    return ir_op3(g, IR_X_SELECT, some, place, ir_const_typed(g, NAN, ELEM_F32));
}

Val el_points(Elab *el, Call *call)
{
    IrNode node = {.op = IR_POINTS, .kind = IR_K_LABELS, .elem = ELEM_U32, .grid = call->arg[POINTS_LABELS].grid};
    node.of = el_labels_of(el, call->arg[POINTS_LABELS], call->span);
    for (int axis = 0; axis < 4; axis++) {
        node.in[axis] = value_of_label(el, call, axis + 1, node.of);
        if (node.in[axis] == 0) {
            return el_err();
        }
    }
    if (!el_is_dense(el, call->arg[POINTS_LABELS])) {
        node.points.x = el_where_present(el, call->arg[POINTS_LABELS], node.points.x, call->span);
    }
    return el_node(el, el_add_once(el, node, NULL, call->span));
}

/* ---- neighbours ------------------------------------------------------------------------ */

/* The mean coordinate of a label along an axis, as an expression of it. */
static IrExpr centroid_of_label(Elab *el, Val labels, IrId node, int axis, Span span)
{
    static const char *const COLUMNS[] = {"centroid_x", "centroid_y", "centroid_z"};
    IrGraph *g = el->g;
    if (!el_has(el, labels, axis)) {
        return ir_const_typed(g, 0, ELEM_F32);
    }
    IrExpr one = ir_const(g, 1);
    const char *space = el_has(el, labels, IR_AX_Z) ? "3d," : "";
    IrNode column = {.op = IR_COLUMN,
                     .kind = IR_K_VECTOR,
                     .elem = ELEM_F32,
                     .text = arena_printf(el->arena, "%slabel,%s", space, COLUMNS[axis]),
                     .of = node,
                     .measure = {.labels = el_readable(el, labels, "labels", span).expr, .spacing = {one, one, one}}};
    IrId vector = el_add_once(el, column, COLUMNS[axis], span);
    return ir_cast(g, ir_lookup(g, vector, ir_coord(g, IR_AX_X)), ELEM_F32);
}

bool el_sizes_of_pixels(Elab *el, const Call *call, IrExpr size[3])
{
    int given = el_argument(call, "spacing"), distance = el_argument(call, "distance");
    const Val labels = call->arg[0], length = call->arg[distance];
    for (int axis = 0; axis < 3; axis++) {
        size[axis] = ir_const(el->g, 1);
    }
    if (call->arg[given].kind == VAL_RECORD) {
        el_spacing(el, call->arg[given], size);
        return true;
    }
    for (int axis = 0; axis < 3 && length.kind == VAL_NUMBER && length.unit != NULL; axis++) {
        IrExpr along = el_has(el, labels, axis) ? el_size_along(el, labels.grid, axis) : size[axis];
        if (along == 0) {
            (void)el_pixels(el, length, labels.grid, axis, call->at[distance]);
            return false;
        }
        size[axis] = along;
    }
    return true;
}

/* A number that may be left out: then there is no bound. */
static IrExpr bound(Elab *el, Val v)
{
    return v.kind == VAL_NUMBER ? v.expr : ir_const(el->g, INFINITY);
}

/* What the labels near each are found by; its fourth argument is the caller's. */
static bool near_node(Elab *el, Call *call, IrNode *node)
{
    const Val labels = call->arg[0];
    node->of = el_labels_of(el, labels, call->span);
    for (int axis = 0; axis < 3; axis++) {
        node->in[axis] = centroid_of_label(el, labels, node->of, axis, call->span);
    }
    if (!el_is_dense(el, labels)) {
        node->near.x = el_where_present(el, labels, node->near.x, call->span);
    }
    node->near.n = bound(el, call->arg[el_argument(call, "n")]);
    node->near.limit = bound(el, call->arg[el_argument(call, "distance")]);
    return el_sizes_of_pixels(el, call, node->near.spacing);
}

static IrExpr pixel_for_label(IrGraph *g, IrExpr e, void *ctx)
{
    const IrId *labels = ctx;
    bool label = ir_expr(g, e)->op == IR_X_COORD;
    return label ? ir_cast(g, ir_read(g, *labels), ir_expr(g, e)->type) : e;
}

/* What a label has, at all of its pixels. */
static Val painted(Elab *el, Call *call, int i)
{
    IrId labels = el_labels_of(el, call->arg[0], call->span);
    IrExpr value = value_of_label(el, call, i, labels);
    return value == 0 ? el_err() : el_image(el, ir_rewrite(el->g, value, pixel_for_label, &labels), call->arg[0].grid);
}

/* An image of values has the axes of the labels. */
static bool check_axes(Elab *el, Call *call, int i)
{
    if (call->arg[i].kind != VAL_IMAGE) {
        return true;
    }
    Val pair[2] = {call->arg[0], call->arg[i]};
    if (!el_meet(el, pair, 2, call->at[i])) {
        return false;
    }
    if (el->grids.at[pair[0].grid].extents != el->grids.at[call->arg[0].grid].extents) {
        el_error(el, MEASURE_AXES, call->at[i], el_axes(el, call->arg[i].grid), el_axes(el, call->arg[0].grid));
        return false;
    }
    call->arg[i] = pair[1];
    return true;
}

/* Of the labels that touch: written in the prelude. */
static Val of_touching(Elab *el, Call *call, int value, int fold)
{
    static const char *const NAMES[] = {"x", "y", "z"};
    const char *name = value > 0 ? "touching_value" : fold > 0 ? "touching_distance" : "touching_count";
    const Span at[5] = {call->span, call->span, call->span, call->span, call->span};
    Val args[5] = {call->arg[0], fold > 0 ? call->arg[fold] : el_err(), el_record(el, 3)};
    IrExpr size[3];
    if (!el_sizes_of_pixels(el, call, size)) {
        return el_err();
    }
    for (int axis = 0; axis < 3; axis++) {
        args[2].items[axis] = (ValItem){NAMES[axis], el_host(size[axis])};
    }
    if (value > 0) {
        args[2] = painted(el, call, value);
        args[3] = el_places(call->arg[0]);
        args[4] = call->arg[el_argument(call, "own")];
    }
    return el_from_prelude(el, name, args, at, value > 0 ? 5 : fold > 0 ? 3 : 1, call->span);
}

/* By number and distance where one of them is given, else of those that touch. */
Val el_neighbours(Elab *el, Call *call)
{
    static const char *const FOLDS[] = {"count", "sum", "mean", "min", "max", "std", "median", "mode"};
    int value = el_argument(call, "v"), word = el_argument(call, "fold"), fold = 0;
    bool near = call->arg[el_argument(call, "n")].kind == VAL_NUMBER ||
                call->arg[el_argument(call, "distance")].kind == VAL_NUMBER;
    if (value > 0 && !check_axes(el, call, value)) {
        return el_err();
    }
    if (!near) {
        return of_touching(el, call, value, word);
    }
    double own = 0;
    if (value > 0 && el_constant(el, call->arg[el_argument(call, "own")], &own) && own != 0) {
        Diag *d = el_error(el, UNKNOWN_ARGUMENT, call->span, "neighbour_value by n or distance", "own");
        diag_help(el->diags, d, "labels that touch are found without n and distance");
        return el_err();
    }
    while (word > 0 && strcmp(call->arg[word].text, FOLDS[fold]) != 0) {
        fold++;
    }
    IrNode node = {.op = IR_NEAR, .kind = IR_K_VECTOR, .elem = ELEM_F32};
    if (!near_node(el, call, &node)) {
        return el_err();
    }
    node.near.value = value > 0 ? value_of_label(el, call, value, node.of) : 0;
    node.near.fold = ir_const(el->g, fold);
    IrId vector = el_add_once(el, node, NULL, call->span);
    return el_image(el, ir_lookup(el->g, vector, ir_read(el->g, node.of)), call->arg[0].grid);
}

/* Labels that touch or overlap, by their places, which are small numbers. */
Val el_pairs(Elab *el, Call *call)
{
    static const char *const SIZES[] = {"outline", "size"};
    int n = call->op->n_params;
    Span at[4] = {call->span, call->span, call->span, call->span};
    Val args[4];
    for (int i = 0; i < n; i++) {
        args[i] = call->arg[i];
        args[n + i] = el_places(call->arg[i]);
    }
    Val table = el_from_prelude(el, call->op->name, args, at, 2 * n, call->span);
    for (int i = 0; i < 2 && table.kind == VAL_TABLE; i++) {
        IrId input = el_labels_input(el, call->arg[i < n ? i : 0]);
        IrExpr of = input != 0 ? ir_extent(el->g, input, IR_AX_X) : ir_const(el->g, 0);
        IrNode *node = ir_node(el->g, table.node);
        *(i == 0 ? &node->measure.first : &node->measure.second) = of;
    }
    if (table.kind == VAL_TABLE) {
        IrNode *node = ir_node(el->g, table.node);
        const char *space = strncmp(node->text, "3d,", 3) == 0 ? "3d," : "", *size = SIZES[n - 1];
        node->text =
            arena_printf(el->arena,
                         "%slabel=pair,0:max=label,1:max=neighbour,2:max=%s,3:max=neighbour_%s,num_pixels=pixels",
                         space, size, size);
    }
    return table;
}

Val el_near_pairs(Elab *el, Call *call)
{
    IrNode node = {.op = IR_NEAR_PAIRS, .kind = IR_K_TABLE, .elem = ELEM_F64, .text = NEAR_COLUMN_TEXT};
    if (!near_node(el, call, &node)) {
        return el_err();
    }
    node.near_pairs.sort = ir_const(el->g, 0);
    return el_node(el, el_add_once(el, node, NULL, call->span));
}

/* ---- tracks ---------------------------------------------------------------------------- */

Val el_track_objects(Elab *el, Call *call)
{
    IrGraph *g = el->g;
    bool paired = call->given[TRACK_OBJECTS_PAIRS] && call->arg[TRACK_OBJECTS_PAIRS].kind == VAL_UNIFORM;
    IrNode node = {.op = IR_TRACK,
                   .kind = IR_K_VECTOR,
                   .elem = ELEM_U32,
                   .of = el_labels_of(el, call->arg[TRACK_OBJECTS_LABELS], call->span),
                   .track = {.what = call->arg[TRACK_OBJECTS_WHAT].expr,
                             .paired = ir_const(g, paired),
                             .limit = call->arg[TRACK_OBJECTS_LIMIT].expr,
                             .gap = call->arg[TRACK_OBJECTS_GAP].expr,
                             .splits = call->arg[TRACK_OBJECTS_SPLIT].expr,
                             .merges = call->arg[TRACK_OBJECTS_MERGE].expr}};
    for (int i = TRACK_OBJECTS_FRAME; i <= TRACK_OBJECTS_THIRD; i++) {
        node.in[i - TRACK_OBJECTS_FRAME] = ir_cast(g, call->arg[i].expr, ELEM_F32);
    }
    node.track.pairs = paired ? call->arg[TRACK_OBJECTS_PAIRS].expr : 0;
    return el_node(el, el_add_once(el, node, NULL, call->span));
}

/* Objects that overlap, by their places, which are small numbers. */
Val el_track_by_overlap(Elab *el, Call *call)
{
    enum { MOST = OP_MAX_PARAMS + 1 };
    Val args[MOST];
    Span at[MOST];
    int n = call->op->n_params;
    for (int i = 0; i <= n; i++) {
        args[i] = i < n ? call->arg[i] : el_places(call->arg[0]);
        at[i] = call->span;
    }
    return el_from_prelude(el, call->op->name, args, at, n + 1, call->span);
}
