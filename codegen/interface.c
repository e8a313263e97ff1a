/* interface: what a program takes and gives: inputs, params, outputs, and notes about images. */
#include "channels.h"
#include "program_state.h"

#include "../ir/ids.h"

#include <assert.h>
#include <string.h>

int cg_ids_of(const CgBuild *b, IrId labels)
{
    IrId input = labels != 0 ? ir_ids_of(b->g, labels) : 0;
    return input != 0 ? cg_input_number(b->g, input) + 1 : 0;
}

void cg_choose_channels(CgBuild *b)
{
    b->channel = arena_array(b->arena, int, b->g->nodes.n);
    for (IrId id = 1; id < (IrId)b->g->nodes.n; id++) {
        bool input = !ir_node(b->g, id)->dead && ir_node(b->g, id)->op == IR_INPUT;
        IrExpr channel = input ? cg_only_channel(b->g, id) : 0;
        b->channel[id] = channel != 0 ? cg_host(&b->cg.host, channel) : -1;
    }
}

static InputIds ids_as(const CgBuild *b, const IrNode *input)
{
    double ids = 0;
    bool by_label = input->kind == IR_K_LABELS && input->input.ids != 0 && ir_is_const(b->g, input->input.ids, &ids);
    return by_label ? (InputIds)ids : IDS_NUMBERS;
}

static void add_inputs(CgBuild *b)
{
    ProgInput *list = arena_array(b->arena, ProgInput, b->g->nodes.n);
    int n = 0;
    for (IrId id = 1; id < (IrId)b->g->nodes.n; id++) {
        const IrNode *node = ir_node(b->g, id);
        if (node->dead || node->op != IR_INPUT) {
            continue;
        }
        list[n++] = (ProgInput){.name = node->name,
                                .axes = node->text,
                                .elem = node->elem,
                                .labels = node->kind == IR_K_LABELS,
                                .mask = node->kind == IR_K_MASK,
                                .buffer = b->cg.buffer[id],
                                .count = b->cg.slot[id],
                                .ids = ids_as(b, node),
                                .channel = b->channel[id]};
    }
    b->program->inputs = list;
    b->program->n_inputs = n;
}

static void add_params(CgBuild *b)
{
    ProgParam *list = arena_array(b->arena, ProgParam, b->g->params.n + 1);
    for (int i = 0; i < b->g->params.n; i++) {
        const IrParam *p = &b->g->params.at[i];
        list[i] = (ProgParam){p->name, p->help, p->value, p->lo, p->hi, p->integer, p->words};
    }
    b->program->params = list;
    b->program->n_params = b->g->params.n;
}

static const char *axes_of(CgBuild *b, IrId id)
{
    const IrGrid *grid = &b->g->grids.at[ir_node(b->g, id)->grid];
    char text[8] = "";
    const char letters[] = "xyzc", order[] = {IR_AX_Z, IR_AX_Y, IR_AX_X, IR_AX_C};
    for (int i = 0; i < 4; i++) {
        if (grid->has[(int)order[i]]) {
            text[strlen(text)] = letters[(int)order[i]];
        }
    }
    return arena_strdup(b->arena, text);
}

static ProgOutput make_output(CgBuild *b, const IrOutput *o)
{
    ProgOutput out = {.name = o->name, .format = o->format, .buffer = -1, .value = -1, .table = -1};
    if (o->node == 0) {
        out.kind = OUT_VALUE;
        return out;
    }
    out.place.input = o->place.input;
    out.place.moved = o->place.moved;
    for (int i = 0; i < 12 && o->place.moved; i++) {
        IrExpr e = o->place.of[i / 4][i % 4];
        out.place.of[i / 4][i % 4] = e != 0 ? cg_host(&b->cg.host, e) : -1;
    }
    const IrNode *node = ir_node(b->g, o->node);
    if (node->kind == IR_K_TABLE) {
        out.kind = OUT_TABLE;
        for (int i = 0; i < b->tables.n; i++) {
            out.table = b->tables.at[i].step == b->table_step[o->node] ? i : out.table;
        }
        return out;
    }
    out.kind = node->kind == IR_K_LABELS ? OUT_LABELS : node->kind == IR_K_MASK ? OUT_MASK : OUT_IMAGE;
    out.buffer = b->cg.buffer[o->node];
    out.value = b->cg.slot[o->node];
    out.ids = out.kind == OUT_LABELS ? cg_ids_of(b, o->node) : 0;
    out.axes = axes_of(b, o->node);
    if (strcmp(o->format, "csv") == 0) {
        static const char *const NAMES[] = {"x", "y", "z"};
        out.kind = OUT_SERIES;
        out.axes = NAMES[o->along];
    }
    out.stored = o->stored;
    return out;
}

static void add_outputs(CgBuild *b)
{
    ProgOutput *list = arena_array(b->arena, ProgOutput, b->g->outputs.n + 1);
    for (int i = 0; i < b->g->outputs.n; i++) {
        const IrOutput *o = &b->g->outputs.at[i];
        list[i] = make_output(b, o);
        if (list[i].kind == OUT_VALUE) {
            const IrExprNode *n = ir_expr(b->g, o->value);
            assert(n->op == IR_X_VALUE);
            list[i].value = b->cg.slot[n->node] + (int)n->num;
        }
    }
    b->program->outputs = list;
    b->program->n_outputs = b->g->outputs.n;
}

static void add_notes(CgBuild *b)
{
    ProgNote *list = arena_array(b->arena, ProgNote, b->g->notes.n + 1);
    for (int i = 0; i < b->g->notes.n; i++) {
        const IrNote *note = &b->g->notes.at[i];
        list[i] = (ProgNote){.kind = note->kind,
                             .name = note->name,
                             .axis = note->axis,
                             .at = cg_host(&b->cg.host, note->at),
                             .extent = cg_host(&b->cg.host, note->extent)};
    }
    b->program->notes = list;
    b->program->n_notes = b->g->notes.n;
}

void cg_add_interface(CgBuild *b)
{
    add_inputs(b);
    add_params(b);
    add_outputs(b);
    add_notes(b);
}
