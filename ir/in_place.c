/*
 * in_place: reads are followed from what a step stores back through the stages that it keeps to itself: an
 * image that any of them reads away from the pixel is read, for other pixels, after this one is written.  Of
 * several results only the one that the image is read for may take its place, for the others may be
 * computed later.
 */
#include "in_place.h"

#include "footprint.h"
#include "gather.h"

static bool is_image(const IrGraph *g, IrId id)
{
    IrKind kind = ir_node(g, id)->kind;
    return kind == IR_K_IMAGE || kind == IR_K_MASK || kind == IR_K_LABELS;
}

static int count_stored(const IrSchedule *s, const IrStep *step)
{
    int n = 0;
    for (int i = 0; i < step->stages.n; i++) {
        n += s->stored[step->stages.at[i]];
    }
    return n;
}

/* Reductions of what the kernel stores are taken by it: then work-items beyond the edge compute the last columns once
 * more, maybe after they are written (codegen/kernels/epilogue.cl). */
static bool is_reduced(const IrSchedule *s, const IrStep *step)
{
    bool reduced = false;
    for (int i = 0; i < step->stages.n; i++) {
        reduced = reduced || s->reduced[step->stages.at[i]];
    }
    return reduced;
}

static bool is_here(const IrReach *reach)
{
    return !reach->whole && !reach->offset && !reach->channel;
}

/* A kernel that sorts windows computes several pixels at once, one that reduces some twice, and one that is run in rounds
 * reads all of them in each. */
static bool kernel_may(IrGraph *g, const IrSchedule *s, const IrStep *step, IrId made, IrId from)
{
    bool may, reads = false, window = false;
    bool *moved = arena_array(g->arena, bool, step->stages.n); /* by stage: others read it beside the pixel */
    int stored = count_stored(s, step);
    may = !ir_is_gather(g, made);
    for (int i = step->stages.n - 1; may && i >= 0; i--) {
        IrId stage = step->stages.at[i];
        IrFootprint fp = ir_footprint(g, ir_node(g, stage)->map.value);
        window = window || ir_any_sorts(g, ir_node(g, stage)->map.value);
        for (int k = 0; k < fp.reach.n; k++) {
            const IrReach *reach = &fp.reach.at[k];
            bool here = is_here(reach) && !moved[i];
            int stage_read = ir_stage_place(step, reach->node);
            if (stage_read >= 0) {
                moved[stage_read] = moved[stage_read] || !here;
            }
            reads = reads || reach->node == from;
            may = may && (reach->node != from || (here && (stored == 1 || stage == made)));
        }
    }
    return may && reads && !window && !is_reduced(s, step);
}

static bool primitive_may(IrGraph *g, const IrNode *node, IrId from)
{
    bool may = true, reads = false;
    for (int i = 0; i < NODE_INPUTS; i++) {
        IrFootprint fp = node->in[i] != 0 ? ir_footprint(g, node->in[i]) : (IrFootprint){0};
        const IrReach *reach = ir_reach(&fp, from);
        reads = reads || reach != NULL;
        may = may && (reach == NULL || (is_here(reach) && ir_op_input_is_overwritten(node->op, i)));
    }
    return may && reads;
}

bool ir_may_overwrite(IrGraph *g, const IrSchedule *s, IrId made, IrId from)
{
    const IrStep *step = &s->steps.at[s->step[made]];
    bool images = is_image(g, made) && is_image(g, from) && s->stored[made] && s->stored[from] &&
                  ir_node(g, made)->grid == ir_node(g, from)->grid;
    if (!images || ir_node(g, made)->op == IR_INPUT || ir_stage_place(step, from) >= 0) {
        return false;
    }
    return step->kind == IR_STEP_PRIMITIVE ? primitive_may(g, ir_node(g, made), from)
                                           : step->kind == IR_STEP_KERNEL && kernel_may(g, s, step, made, from);
}
