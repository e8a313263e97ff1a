/*
 * note: what a run notes where an image has fewer pixels than somebody has thought (IrNote).
 *
 * Only what the user has written counts, since the prelude asks for extents first; and only where no choice
 * depends on a number: whoever asks `if depth(image) > 1` knows what may be.
 */
#include "../elaborate/elab.h"

#include <string.h>

static bool same_note(const IrNote *a, const IrNote *b)
{
    return a->kind == b->kind && a->axis == b->axis && a->at == b->at && a->extent == b->extent &&
           strcmp(a->name, b->name) == 0;
}

/* The first pixel is always there, others where the extent is known. */
static bool is_inside(const Elab *el, IrExpr at, IrExpr extent)
{
    double place, n = 1;
    (void)ir_is_const(el->g, extent, &n);
    return ir_is_const(el->g, at, &place) && place >= 0 && place < n;
}

static bool is_known(const Elab *el, IrExpr e)
{
    return ir_expr(el->g, e)->rank <= IR_HOST;
}

static void add_note(Elab *el, IrNote note)
{
    if (!is_known(el, note.at) || !is_known(el, note.extent) || is_inside(el, note.at, note.extent)) {
        return;
    }
    for (int i = 0; i < el->g->notes.n; i++) {
        if (same_note(&el->g->notes.at[i], &note)) {
            return;
        }
    }
    vec_push(el->arena, &el->g->notes, note);
}

static bool is_noted(const Elab *el)
{
    return el->call.source == NULL && !el->guarded;
}

void el_note_place(Elab *el, Val v, const char *name, int axis, IrExpr at)
{
    if (is_noted(el)) {
        add_note(el, (IrNote){NOTE_PLACE, name, axis, at, el_extent(el, v, axis)});
    }
}

/* True for a call that goes along the axis z. */
static bool goes_along_z(const Call *call)
{
    bool along = false;
    for (int i = 0; i < call->op->n_params; i++) {
        const Val *v = &call->arg[i];
        along = along || (el_names_axis(&call->op->param[i], *v) && strcmp(v->text, "z") == 0);
    }
    return along;
}

/* The depth of the images that a run is about; 0 when they have none. */
static IrExpr depth_of_images(Elab *el)
{
    for (IrId id = 1; id < (IrId)el->g->nodes.n; id++) {
        const IrNode *node = ir_node(el->g, id);
        if (node->op == IR_INPUT) {
            return el->g->grids.at[node->grid].extent[IR_AX_Z];
        }
    }
    return 0;
}

void el_note_along(Elab *el, const Call *call, Val result)
{
    Val v = call->arg[0];
    bool has = (v.kind == VAL_IMAGE || v.kind == VAL_SELECTION) && el_has(el, v, IR_AX_Z);
    bool left_out = result.kind == VAL_IMAGE && !el_has(el, result, IR_AX_Z);
    if (is_noted(el) && goes_along_z(call) && has && left_out && el_extent(el, v, IR_AX_Z) == depth_of_images(el)) {
        IrExpr second = ir_const(el->g, 1);
        add_note(el, (IrNote){NOTE_ALONG, call->op->name, IR_AX_Z, second, el_extent(el, v, IR_AX_Z)});
    }
}

/* The number given for a parameter; 0 when there is none. */
static IrExpr number_of(const Call *call, const char *name)
{
    for (int i = 0; i < call->op->n_params; i++) {
        if (strcmp(call->op->param[i].name, name) == 0 && call->arg[i].kind == VAL_NUMBER) {
            return call->arg[i].expr;
        }
    }
    return 0;
}

void el_note_part(Elab *el, const Call *call)
{
    static const char *const FIRST[] = {"x", "y", "z"}, *const SIZE[] = {"width", "height", "depth"};
    IrGraph *g = el->g;
    Val v = call->arg[0];
    if (strcmp(call->op->name, "crop") != 0 || !is_noted(el) || v.kind != VAL_IMAGE) {
        return;
    }
    for (int ax = 0; ax < 3; ax++) {
        IrExpr first = number_of(call, FIRST[ax]), size = number_of(call, SIZE[ax]);
        if (!el_has(el, v, ax) || first == 0) {
            continue;
        }
        IrExpr last = size != 0 ? ir_op2(g, IR_X_SUB, ir_op2(g, IR_X_ADD, first, size), ir_const(g, 1)) : first;
        add_note(el, (IrNote){NOTE_PART, call->op->name, ax, first, el_extent(el, v, ax)});
        add_note(el, (IrNote){NOTE_PART, call->op->name, ax, last, el_extent(el, v, ax)});
    }
}
