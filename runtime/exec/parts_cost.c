/* parts_cost: how long a plan in parts takes, compared with other plans of the same program. */
#include "parts.h"

enum { DEVICE_SPEED = 20 /* times that of the bus */ };

/* The share of the window's rows that go over the bus. */
static double share_moved(const ExecPlan *plan, const PartsPlan *parts, int i, int buffer)
{
    const PartsSegment *seg = &parts->segments[i];
    for (int k = 0; k < parts->n_residents; k++) {
        const PartsResident *resident = &parts->residents[k];
        if (resident->buffer == buffer && i > resident->first &&
            seg->planes == plan->grids[plan->program->buffers[buffer].grid].has_z) {
            return 1 - (double)parts_resident_rows(seg, k) / seg->extent;
        }
    }
    return 1;
}

double parts_cost(const ExecPlan *plan, const PartsPlan *parts)
{
    double cost = 0;
    for (int i = 0; i < parts->n; i++) {
        const PartsSegment *seg = &parts->segments[i];
        for (int k = 0; seg->kind == PARTS_CUT && k < seg->n_windows; k++) {
            const PartsWindow *w = &seg->windows[k];
            double computed = (double)w->bytes * seg->parts;
            double moved =
                (double)plan->buffers[w->buffer].bytes * (w->load * share_moved(plan, parts, i, w->buffer) + w->keep);
            moved = w->boxed ? (double)w->loaded : moved;
            cost += computed / DEVICE_SPEED + (w->whole ? (double)w->bytes : moved);
        }
    }
    return cost;
}
