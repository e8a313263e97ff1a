/*
 * labels: labels, what is computed for each of them, and the shapes that grow from them.
 */
#include "elab.h"

#include "../../base/connectivity.h"

#include <string.h>

/* ---- labelling ------------------------------------------------------------------------- */

/* Connectivity as users write it: neighbours (4, 8; 6, 18, 26) or steps (1, 2, 3); the graph's
 * is the squared distance of the farthest neighbour.  0 after a complaint. */
static int connectivity_of(Elab *el, const Call *call, int param, int fallback)
{
    enum { PLANAR = CONNECTIVITY_PLANAR };
    static const struct {
        int ndim, written, squared;
    } KNOWN[] = {
        {1, 1, 1}, {1, 2, 1}, {2, 1, 1},  {2, 4, 1}, {2, 2, 2},  {2, 8, 2},          {3, 1, 1},
        {3, 6, 1}, {3, 2, 2}, {3, 18, 2}, {3, 3, 3}, {3, 26, 3}, {3, 4, PLANAR + 1}, {3, 8, PLANAR + 2},
    };
    bool label =
        strncmp(call->op->name, "label", strlen("label")) == 0; /* whose planes may be labelled each by itself */
    double value;
    int ndim = el_ndim(el, call->arg[0]);
    if (call->arg[param].kind != VAL_NUMBER) { /* an image without axes is labelled as along one */
        return ndim < 1 ? 1 : fallback > ndim ? ndim : fallback;
    }
    bool constant = el_constant(el, call->arg[param], &value);
    for (size_t i = 0; constant && i < sizeof KNOWN / sizeof *KNOWN; i++) {
        bool known = KNOWN[i].squared <= PLANAR || label;
        if (known && KNOWN[i].ndim == ndim && KNOWN[i].written == value) {
            return KNOWN[i].squared;
        }
    }
    Diag *d = el_error(el, BAD_CONNECTIVITY, call->at[param], el_axes(el, call->arg[0].grid));
    diag_help(el->diags, d,
              ndim != 3 ? "4 neighbours (edges) or 8 (also corners) in 2-D"
              : label   ? "6, 18 or 26 neighbours in 3-D; 4 or 8 for each plane by itself"
                        : "6, 18 or 26 neighbours in 3-D");
    return 0;
}

static Val primitive(Elab *el, IrNode node, const char *part, Span span)
{
    return el_node(el, el_add_once(el, node, part, span));
}

Val el_label(Elab *el, Call *call)
{
    int connectivity = connectivity_of(el, call, LABEL_CONNECTIVITY, 3);
    if (connectivity == 0) {
        return el_err();
    }
    Val mask = el_readable(el, call->arg[LABEL_MASK], "mask", call->span);
    IrNode node = {.op = IR_LABEL,
                   .kind = IR_K_LABELS,
                   .elem = ELEM_U32,
                   .grid = mask.grid,
                   .label = {.mask = mask.expr, .connectivity = ir_const(el->g, connectivity)}};
    return primitive(el, node, NULL, call->span);
}

Val el_label_equal(Elab *el, Call *call)
{
    int connectivity = connectivity_of(el, call, LABEL_EQUAL_CONNECTIVITY, 3);
    if (connectivity == 0) {
        return el_err();
    }
    Val image = call->arg[LABEL_EQUAL_V];
    image.image = IR_K_IMAGE;
    if (call->arg[LABEL_EQUAL_V].image != IR_K_LABELS && ir_expr(el->g, image.expr)->type != ELEM_F32) {
        image = el_image(el, ir_cast(el->g, image.expr, ELEM_F32), image.grid);
    }
    IrNode node = {.op = IR_LABEL_EQUAL,
                   .kind = IR_K_LABELS,
                   .elem = ELEM_U32,
                   .grid = image.grid,
                   .label_equal = {.image = ir_read(el->g, el_store(el, image, "value", call->span)),
                                   .connectivity = ir_const(el->g, connectivity)}};
    return primitive(el, node, NULL, call->span);
}

/* ---- per label ------------------------------------------------------------------------- */

static const char *const PER_LABEL[LABEL_FOLDS] =
    {[LABEL_SUM] = "label_sum", [LABEL_MIN] = "label_min", [LABEL_MAX] = "label_max", [LABEL_COUNT] = "label_count"};

Val el_per_label(Elab *el, Call *call)
{
    int fold = 0;
    while (strcmp(PER_LABEL[fold], call->op->name) != 0) {
        fold++;
    }
    Val pair[2] = {call->arg[0], fold != LABEL_COUNT ? call->arg[LABEL_SUM_V] : call->arg[0]};
    if (!el_meet(el, pair, 2, call->span)) {
        return el_err();
    }
    IrId labels = el_labels_of(el, call->arg[0], call->span);
    Val value = pair[1];
    value.image = IR_K_IMAGE;
    value.expr = ir_cast(el->g, value.expr, ELEM_F32);
    IrNode node = {.op = IR_PERLABEL,
                   .kind = IR_K_VECTOR,
                   .elem = ELEM_F32,
                   .of = labels,
                   .perlabel = {.labels = el_readable(el, call->arg[0], "labels", call->span).expr,
                                .value = el_readable(el, value, "value", call->span).expr,
                                .fold = ir_const(el->g, fold)}};
    return primitive(el, node, PER_LABEL[fold] + 6, call->span);
}

static bool is_dense_node(const IrNode *node)
{
    return node->op == IR_LABEL || node->op == IR_LABEL_EQUAL || node->op == IR_COMPACT;
}

/* Labels of an input may have any numbers; those that a pipeline makes are at most as many as
 * there are pixels. */
static void look_for_input(const IrGraph *g, IrExpr e, void *ctx)
{
    bool *foreign = ctx;
    const IrExprNode *n = ir_expr(g, e);
    if (n->op != IR_X_READ && n->op != IR_X_READAT) {
        return;
    }
    const IrNode *from = ir_node(g, n->node);
    bool labels = from->elem == ELEM_U32 || from->kind == IR_K_LABELS;
    if (labels && (from->op == IR_INPUT || from->op == IR_CARRY)) {
        *foreign = true;
    } else if (from->op == IR_MAP && labels) {
        ir_walk(g, from->map.value, look_for_input, ctx);
    } else if (from->op == IR_NEAREST_LABEL) {
        ir_walk(g, from->nearest_label.labels, look_for_input, ctx);
    } else if (from->op == IR_WATERSHED) {
        ir_walk(g, from->watershed.markers, look_for_input, ctx);
    } else if (from->op == IR_POINTS) {
        *foreign = *foreign || !is_dense_node(ir_node(g, from->of));
    }
}

static IrExpr any_numbers(Elab *el, IrExpr labels)
{
    bool foreign = false;
    ir_walk(el->g, labels, look_for_input, &foreign);
    return ir_const(el->g, foreign);
}

/* The labels whose number bounds these ones; 0: there are none.  Those of a file may be few and have large
 * numbers. */
static IrId bound_of(Elab *el, IrExpr labels)
{
    IrId node;
    bool foreign = false, plain = el_plain_read(el, labels, &node);
    ir_walk(el->g, labels, look_for_input, &foreign);
    return plain && !foreign && ir_node(el->g, node)->kind == IR_K_LABELS ? node : 0;
}

/* Numbers that are not 0 as labels from 1 in order; `of` as bound_of has it, `any` as any_numbers. */
static Val renumbered(Elab *el, Val numbers, IrId of, IrExpr any, Span span)
{
    IrGraph *g = el->g;
    IrExpr some = ir_op2(g, IR_X_GT, numbers.expr, ir_const_typed(g, 0, ELEM_U32));
    IrNode node = {.op = IR_COMPACT,
                   .kind = IR_K_LABELS,
                   .elem = ELEM_U32,
                   .grid = numbers.grid,
                   .of = of,
                   .compact = {.labels = numbers.expr, .keep = some}};
    node.compact.any = any;
    return primitive(el, node, NULL, span);
}

/* Does a value follow from a pixel's label alone? */
typedef struct OfLabel {
    const Elab *el;
    IrId labels;
} OfLabel;

static bool varies(const IrGraph *g, IrExpr e, const void *ctx)
{
    const OfLabel *of = ctx;
    const IrExprNode *n = ir_expr(g, e);
    IrId node;
    bool same = el_plain_read(of->el, e, &node) && node == of->labels;
    return n->op == IR_X_COORD || n->op == IR_X_READAT || (n->op == IR_X_READ && !same);
}

/* Labels with a pixel that satisfies a mask, renumbered from 1.  Those of a file may have any numbers, which
 * the primitive keeps pixel by pixel: where the mask may differ within a label, they get small ones first. */
Val el_compact(Elab *el, Call *call)
{
    Val pair[2] = {call->arg[KEEP_LABELS_LABELS], call->arg[KEEP_LABELS_KEEP]};
    if (!el_meet(el, pair, 2, call->span)) {
        return el_err();
    }
    OfLabel keep = {el, el_store(el, call->arg[KEEP_LABELS_LABELS], "labels", call->span)};
    Val labels = el_image(el, ir_read(el->g, keep.labels), pair[0].grid);
    IrExpr any = any_numbers(el, labels.expr);
    double foreign;
    if (ir_any(el->g, pair[1].expr, varies, &keep) && ir_is_const(el->g, any, &foreign) && foreign != 0) {
        labels = renumbered(el, labels, bound_of(el, labels.expr), any, call->span);
        any = ir_const(el->g, 0);
    }
    IrNode node = {.op = IR_COMPACT,
                   .kind = IR_K_LABELS,
                   .elem = ELEM_U32,
                   .grid = pair[0].grid,
                   .of = bound_of(el, labels.expr),
                   .compact = {.labels = labels.expr, .keep = el_readable(el, pair[1], "keep", call->span).expr}};
    node.compact.any = any;
    return primitive(el, node, NULL, call->span);
}

/* Labels under a mask.  What is left of them is numbered anew, because some may be gone, or keeps its numbers: then what
 * is computed by it belongs to the labels that it is a part of. */
Val el_mask_labels(Elab *el, Call *call)
{
    IrGraph *g = el->g;
    Val pair[2] = {call->arg[MASK_LABELS_LABELS], call->arg[MASK_LABELS_MASK]};
    if (!el_meet(el, pair, 2, call->span)) {
        return el_err();
    }
    IrExpr none = ir_const_typed(g, 0, ELEM_U32);
    Val left = el_image(el, ir_op3(g, IR_X_SELECT, pair[1].expr, pair[0].expr, none), pair[0].grid);
    double renumber = 1;
    if (el_constant(el, call->arg[MASK_LABELS_RENUMBER], &renumber) && renumber == 0) {
        left.image = IR_K_LABELS;
        return left;
    }
    left = el_readable(el, left, "inside", call->span);
    return renumbered(el, left, bound_of(el, call->arg[MASK_LABELS_LABELS].expr), any_numbers(el, left.expr),
                      call->span);
}

Val el_as_labels(Elab *el, Call *call)
{
    IrExpr whole = ir_saturate(el->g, call->arg[AS_LABELS_V].expr, ELEM_U32);
    Val numbers = el_image(el, whole, call->arg[AS_LABELS_V].grid);
    IrId node = el_store(el, numbers, "numbers", call->span);
    numbers = el_image(el, ir_read(el->g, node), numbers.grid);
    return renumbered(el, numbers, 0, ir_const(el->g, 1), call->span);
}

bool el_is_dense(Elab *el, Val labels)
{
    IrId node;
    return el_plain_read(el, labels.expr, &node) && is_dense_node(ir_node(el->g, node));
}

/* Three channels of bytes, on a grid of their own. */
Val el_colours(Elab *el, Call *call)
{
    Val labels = el_readable(el, call->arg[COLOURS_LABELS], "labels", call->span);
    bool dense = el_is_dense(el, labels), foreign = false;
    IrId of = bound_of(el, labels.expr);
    IrGrid grid = *el_grid(el, labels);
    grid.has[IR_AX_C] = true;
    grid.extent[IR_AX_C] = ir_const(el->g, 3);
    int three = el_add_grid(el, grid, *el_place_of(el, labels.grid), *el_names_of(el, labels.grid));
    Val pair[2] = {labels, el_image(el, ir_const_typed(el->g, 0, ELEM_F32), three)};
    if (!el_meet(el, pair, 2, call->span)) {
        return el_err();
    }
    ir_walk(el->g, labels.expr, look_for_input, &foreign);
    IrNode node = {.op = IR_COLOURS,
                   .kind = IR_K_IMAGE,
                   .elem = ELEM_U8,
                   .grid = pair[1].grid,
                   .of = of,
                   .colours = {.labels = pair[0].expr,
                               .numbers = ir_const(el->g, dense     ? NUMBERS_DENSE
                                                          : foreign ? NUMBERS_ANY
                                                                    : NUMBERS_FEW)}};
    return primitive(el, node, NULL, call->span);
}

/* Labels of components have one part each. */
Val el_clear_border(Elab *el, Call *call)
{
    IrId node;
    bool plain =
        call->arg[CLEAR_BORDER_V].kind == VAL_IMAGE && el_plain_read(el, call->arg[CLEAR_BORDER_V].expr, &node);
    IrOp op = plain ? ir_node(el->g, node)->op : IR_NONE;
    if (op == IR_LABEL || op == IR_LABEL_EQUAL) {
        call->arg[CLEAR_BORDER_PARTS] = el_host(ir_const_typed(el->g, 0, ELEM_BOOL));
    }
    return el_from_prelude(el, call->op->name, call->arg, call->at, call->op->n_params, call->span);
}

Val el_without_gaps(Elab *el, Val labels, Span span)
{
    if (el_is_dense(el, labels)) {
        return labels;
    }
    labels = el_readable(el, labels, "labels", span);
    return renumbered(el, labels, bound_of(el, labels.expr), any_numbers(el, labels.expr), span);
}

Val el_relabel(Elab *el, Call *call)
{
    return el_without_gaps(el, call->arg[RELABEL_LABELS], call->span);
}

/* ---- distances and growth -------------------------------------------------------------- */

Val el_distance(Elab *el, Call *call)
{
    Val mask = el_readable(el, call->arg[DISTANCE_MASK], "mask", call->span);
    IrNode node = {.op = IR_DISTANCE,
                   .kind = IR_K_IMAGE,
                   .elem = ELEM_F32,
                   .grid = mask.grid,
                   .distance.mask = mask.expr};
    el_spacing(el, call->arg[DISTANCE_SPACING], node.distance.spacing);
    return primitive(el, node, NULL, call->span);
}

/* A length with a unit becomes pixels along x, as far as the others are long against these: of square pixels it is the
 * number of pixels that it is. */
static void measured_along_x(Elab *el, const Call *call, IrExpr *distance, IrExpr size[3])
{
    const Val length = call->arg[EXPAND_LABELS_DISTANCE];
    if (length.unit == NULL || call->arg[EXPAND_LABELS_SPACING].kind == VAL_RECORD) {
        return;
    }
    *distance = el_pixels(el, length, call->arg[0].grid, IR_AX_X, call->at[EXPAND_LABELS_DISTANCE]);
    for (int ax = IR_AX_Z; ax >= IR_AX_X; ax--) {
        size[ax] = ir_op2(el->g, IR_X_DIV, size[ax], size[IR_AX_X]);
    }
}

Val el_nearest_label(Elab *el, Call *call)
{
    Val labels = el_readable(el, call->arg[EXPAND_LABELS_LABELS], "labels", call->span);
    IrNode node = {.op = IR_NEAREST_LABEL,
                   .kind = IR_K_LABELS,
                   .elem = ELEM_U32,
                   .grid = labels.grid,
                   .nearest_label = {.labels = labels.expr, .limit = call->arg[EXPAND_LABELS_DISTANCE].expr}};
    if (!el_sizes_of_pixels(el, call, node.nearest_label.spacing)) {
        return el_err();
    }
    measured_along_x(el, call, &node.nearest_label.limit, node.nearest_label.spacing);
    return primitive(el, node, NULL, call->span);
}

static IrExpr stored(Elab *el, Val v, Elem type, const char *part, Span span)
{
    if (type != ELEM_NONE && ir_expr(el->g, v.expr)->type != type) {
        v = el_image(el, ir_cast(el->g, v.expr, type), v.grid);
    }
    return ir_read(el->g, el_store(el, v, part, span));
}

Val el_watershed(Elab *el, Call *call)
{
    int connectivity = connectivity_of(el, call, WATERSHED_CONNECTIVITY, 1);
    bool masked = call->arg[WATERSHED_MASK].kind == VAL_IMAGE;
    Val three[3] = {call->arg[WATERSHED_IMAGE], call->arg[WATERSHED_MARKERS],
                    masked ? call->arg[WATERSHED_MASK] : call->arg[WATERSHED_IMAGE]};
    if (connectivity == 0 || !el_meet(el, three, 3, call->span)) {
        return el_err();
    }
    double line = 0;
    el_constant(el, call->arg[WATERSHED_LINE], &line);
    IrNode node = {.op = IR_WATERSHED,
                   .kind = IR_K_LABELS,
                   .elem = ELEM_U32,
                   .grid = three[1].grid,
                   .watershed = {.connectivity = ir_const(el->g, connectivity),
                                 .line = ir_const(el->g, line != 0),
                                 .raster = ir_const(el->g, strcmp(call->arg[WATERSHED_TIES].text, "raster") == 0)}};
    node.watershed.image = stored(el, three[0], ELEM_F32, "image", call->span);
    node.watershed.markers = stored(el, three[1], ELEM_NONE, "markers", call->span);
    node.watershed.mask = masked ? stored(el, three[2], ELEM_NONE, "mask", call->span) : 0;
    return primitive(el, node, NULL, call->span);
}

Val el_reconstruct(Elab *el, Call *call)
{
    int connectivity = connectivity_of(el, call, RECONSTRUCT_CONNECTIVITY, 3);
    Val pair[2] = {call->arg[RECONSTRUCT_SEED], call->arg[RECONSTRUCT_MASK]};
    if (connectivity == 0 || !el_meet(el, pair, 2, call->span)) {
        return el_err();
    }
    bool erosion = strcmp(call->arg[RECONSTRUCT_METHOD].text, "erosion") == 0;
    IrNode node = {.op = IR_RECONSTRUCT,
                   .kind = IR_K_IMAGE,
                   .elem = ELEM_F32,
                   .grid = pair[0].grid,
                   .reconstruct = {.connectivity = ir_const(el->g, connectivity), .erosion = ir_const(el->g, erosion)}};
    node.reconstruct.seed = stored(el, pair[0], ELEM_F32, "seed", call->span);
    node.reconstruct.mask = stored(el, pair[1], ELEM_F32, "mask", call->span);
    return primitive(el, node, NULL, call->span);
}

Val el_local_maxima(Elab *el, Call *call)
{
    int connectivity = connectivity_of(el, call, LOCAL_MAXIMA_CONNECTIVITY, 3);
    if (connectivity == 0) {
        return el_err();
    }
    IrNode node = {.op = IR_LOCAL_MAXIMA,
                   .kind = IR_K_MASK,
                   .elem = ELEM_BOOL,
                   .grid = call->arg[LOCAL_MAXIMA_V].grid,
                   .local_maxima.connectivity = ir_const(el->g, connectivity)};
    node.local_maxima.image = stored(el, call->arg[LOCAL_MAXIMA_V], ELEM_F32, "image", call->span);
    return primitive(el, node, NULL, call->span);
}

Val el_hull(Elab *el, Call *call)
{
    IrNode node = {.op = IR_HULL, .kind = IR_K_MASK, .elem = ELEM_BOOL, .grid = call->arg[HULL_LABELS].grid};
    node.of = el_store(el, el_relabel(el, call), "labels", call->span);
    node.hull.labels = ir_read(el->g, node.of);
    return primitive(el, node, NULL, call->span);
}

Val el_touches(Elab *el, Call *call)
{
    IrNode node = {.op = IR_TOUCHES, .kind = IR_K_IMAGE, .elem = ELEM_U8, .grid = call->arg[TOUCHES_LABELS].grid};
    node.touches.labels = stored(el, call->arg[TOUCHES_LABELS], ELEM_NONE, "labels", call->span);
    return primitive(el, node, NULL, call->span);
}
