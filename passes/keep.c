/*
 * keep: images between kernels whose pixels were only moved or chosen are stored in these pixels' own type.
 *
 * Outputs are stored so because users expect it (frontend/elaborate), images between kernels because they are fewer
 * bytes: the maxima of a volume of bytes along x and y are bytes.  Whoever reads them reads the same.  It is done last:
 * which stages share a kernel does not depend on it.  Not what a run makes in rounds: it is known by its form (ir/gather.h).
 */
#include "keep.h"

#include "../ir/gather.h"
#include "../ir/pixels.h"

static bool is_read_by_kernels_alone(const Grouping *b, IrId id)
{
    const IrReaders readers = b->uses->readers[id];
    bool alone = readers.n > 0 && readers.n == b->users[id] && !b->uses->pinned[id];
    for (int i = 0; i < readers.n; i++) {
        alone = alone && ir_node(b->g, readers.at[i])->op == IR_MAP;
    }
    return alone;
}

static bool is_stored_for_kernels(const Grouping *b, IrId id)
{
    const IrNode *node = ir_node(b->g, id);
    return !node->dead && node->op == IR_MAP && node->kind == IR_K_IMAGE && node->of == 0 && b->s->stored[id] &&
           !b->s->reduced[id] && is_read_by_kernels_alone(b, id) && !ir_is_gather(b->g, id);
}

/* What was said about the bytes of an image, before its type was known. */
static void say_bytes(Grouping *b, IrId id)
{
    const double size = (double)elem_size(ir_node(b->g, id)->elem);
    for (int at = b->first_remark[id]; at != 0 && size > 0; at = b->next_remark.at[at - 1]) {
        IrRemark *r = &b->s->remarks.at[at - 1];
        r->bytes = r->state == IR_EDGE_GLOBAL ? 2 * size : r->bytes;
    }
}

void pass_keep_types(Grouping *b)
{
    IrGraph *g = b->g;
    for (IrId id = 1, n = (IrId)g->nodes.n; id < n; id++) {
        const IrPixels p = is_stored_for_kernels(b, id) ? ir_pixels(g, ir_read(g, id)) : (IrPixels){.elem = ELEM_NONE};
        const Elem read = ir_read_type(g, id), before = ir_node(g, id)->elem;
        if (p.elem == ELEM_NONE || p.elem == before || p.none) {
            continue;
        }
        ir_node(g, id)->elem = p.elem;
        if (ir_read_type(g, id) != read) {
            ir_node(g, id)->elem = before;
            continue;
        }
        ir_node(g, id)->of = p.elem == ELEM_FILE ? p.file : 0;
        say_bytes(b, id);
    }
}
