/*
 * measure_cuts: the stages of objects that parts cut.
 *
 * Objects that lie in the part go through the stages there.  Of those that it cuts, the rows
 * (measure_cut_rows.c), holes (measure_cut_holes.c) and values (measure_cut_medians.c) in it are kept until the
 * objects end.  Which objects these are, where they lie, and all that is done with them is the device's
 * affair; the host keeps blocks of bytes.  Of these there are as many as objects go on behind the part, as far back
 * as the first of them begins.
 */
#include "measure_kept.h"

#include <stdlib.h>

bool measure_cuts_begin(Measuring *m)
{
    measure_cuts_free(m);
    m->cuts = calloc(1, sizeof *m->cuts);
    return m->cuts != NULL || measuring_no_memory(m);
}

void measure_cuts_free(Measuring *m)
{
    struct MeasureCuts *cuts = m->cuts;
    if (cuts != NULL) {
        measure_kept_drop(&cuts->rows, INT32_MAX);
        measure_kept_drop(&cuts->bits, INT32_MAX);
        free(cuts->rows.at);
        free(cuts->bits.at);
        for (int i = 0; i < MEASURE_MAX_IMAGES; i++) {
            free(cuts->carried[i].at);
        }
        free(cuts);
    }
    m->cuts = NULL;
}

/* How far back the objects begin that end in the part, and that go on behind it. */
static bool find_oldest(Measuring *m)
{
    PrimCall *call = m->call;
    const MeasureAbout cut = measure_cut_by_part(m);
    const MeasureAbout ending = {.standing = STANDING_ENDING, .from = cut.from, .to = cut.to};
    const MeasureAbout open = {.standing = STANDING_OPEN, .to = cut.to};
    const DevArg args[] = {dev_mem(m->groups)};
    int32_t oldest[2];
    TRY(dev_fill(call->dev, m->groups, 0, sizeof oldest, INT32_MAX, call->err));
    TRY(measuring_launch_about(m, &(MeasuringAbout){.kernel = "cuts_oldest",
                                                    .of = {&ending, &open},
                                                    .args = args,
                                                    .n_args = 1}));
    TRY(dev_read(call->dev, m->groups, 0, oldest, sizeof oldest, call->err));
    m->cuts->ending = oldest[0];
    m->cuts->open = oldest[1];
    return true;
}

static void look_inside(Measuring *m)
{
    m->about = measure_cut_by_part(m);
    m->about.standing = STANDING_INSIDE;
}

static bool measure_inside(Measuring *m)
{
    bool some;
    look_inside(m);
    return measuring_stages(m) && measuring_settle(m, &some);
}

bool measure_cuts_stages(Measuring *m)
{
    TRY(m->result == MEASURE_MASK || measure_inside(m));
    TRY(find_oldest(m));
    TRY(!measuring_has_rows(m) || measure_cut_rows(m));
    return m->lanes.filled < 0 || measure_cut_holes(m);
}

bool measure_cuts_paint(Measuring *m)
{
    return measure_inside(m) && measure_cut_paint(m);
}
