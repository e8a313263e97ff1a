/* measure_kept: blocks on the host, and the kernel that takes them apart. */
#include "measure_kept.h"

#include <stdlib.h>

enum {
    GROUP = 64,
    FEW_OBJECTS = 16, /* fewer may be large, and are moved by several groups each */
    MOVERS = 16
};

MeasureBlock *measure_kept_add(Measuring *m, MeasureKept *kept, const MeasureShare *share, size_t bytes)
{
    if (kept->n == kept->room) {
        size_t room = 2 * kept->room + 16;
        MeasureBlock *more = realloc(kept->at, room * sizeof *more);
        if (more == NULL) {
            (void)measuring_no_memory(m);
            return NULL;
        }
        kept->at = more;
        kept->room = room;
    }
    MeasureBlock *block = &kept->at[kept->n];
    *block = (MeasureBlock){.share = *share, .stale = true, .bytes = malloc(bytes + 1)};
    (void)measuring_cut_axis(m, &block->from, &block->to);
    if (block->bytes == NULL) {
        (void)measuring_no_memory(m);
        return NULL;
    }
    kept->n++;
    return block;
}

void measure_kept_drop(MeasureKept *kept, int32_t first)
{
    size_t n = 0;
    for (size_t i = 0; i < kept->n; i++) {
        if (kept->at[i].to >= first) {
            kept->at[n++] = kept->at[i];
        } else {
            free(kept->at[i].bytes);
        }
    }
    kept->n = n;
}

MeasureAbout measure_cut_by_part(const Measuring *m)
{
    MeasureAbout about = {.standing = STANDING_CUT};
    (void)measuring_cut_axis(m, &about.from, &about.to);
    return about;
}

MeasureAbout measure_cut_by_block(const MeasureBlock *block)
{
    return (MeasureAbout){.standing = STANDING_CUT, .from = block->from, .to = block->to};
}

static bool move(const Measuring *m, const MeasureMove *w, bool keep)
{
    uint32_t from = w->here.from > w->kept.from ? w->here.from : w->kept.from;
    uint32_t to = w->here.to < w->kept.to ? w->here.to : w->kept.to;
    const DevArg here = dev_uint(w->here.from), kept = dev_uint(w->kept.from);
    const DevArg args[] = {dev_uint(from),
                           keep ? here : kept,
                           keep ? kept : here,
                           dev_uint(w->unit),
                           dev_int(w->record),
                           dev_mem(keep ? m->sizes : m->others),
                           dev_mem(keep ? m->others : m->sizes),
                           dev_mem(keep ? w->memory_here : w->memory_kept),
                           dev_ulong(keep ? w->at_here : w->at_kept),
                           dev_ulong(keep ? w->step_here : w->step_kept),
                           dev_mem(keep ? w->memory_kept : w->memory_here),
                           dev_ulong(keep ? w->at_kept : w->at_here),
                           dev_ulong(keep ? w->step_kept : w->step_here),
                           dev_mem(m->groups)};
    size_t objects = to > from ? to - from : 0;
    const MeasuringAbout what = {.kernel = "cuts_move",
                                 .groups = {objects, objects < FEW_OBJECTS ? MOVERS : 1,
                                            w->columns > 0 ? w->columns : 1},
                                 .group = GROUP,
                                 .of = {keep ? w->about_here : w->about_kept, keep ? w->about_kept : w->about_here},
                                 .args = args,
                                 .n_args = sizeof args / sizeof *args};
    return objects == 0 || measuring_launch_about(m, &what);
}

bool measure_fetch(const Measuring *m, const MeasureMove *w)
{
    return move(m, w, false);
}

bool measure_keep(const Measuring *m, const MeasureMove *w, bool *news)
{
    const PrimCall *call = m->call;
    uint32_t found = 0;
    TRY(dev_fill(call->dev, m->groups, 0, sizeof found, 0, call->err));
    TRY(move(m, w, true));
    TRY(dev_read(call->dev, m->groups, 0, &found, sizeof found, call->err));
    *news = found != 0;
    return true;
}
