/*
 * exec_limit: what of a limit the run may hold itself.
 *
 * A GPU's driver has memory of its own on the device, of which some is the run's doing: tables of the pinned memory
 * it is sent from, and what it takes with the first transfers (bench/NOTES.md, "Pinned memory").
 */
#include "exec_fit.h"

#include <math.h>

enum { DRIVER = 4 << 20, PINNED = 512 /* bytes that take one in the tables */ };

static uint64_t driver_takes(const ExecPlan *plan, const ExecTarget *target)
{
    double pinned = 0;
    for (int i = 0; i < plan->program->n_inputs; i++) {
        const HostInput *in = &plan->inputs[i];
        double pixels = (double)in->extent[0] * (double)in->extent[1] * (double)in->extent[2] * (double)in->extent[3];
        pinned += pixels * (double)elem_size(in->elem);
    }
    bool gpu = target->dev == NULL || !dev_info(target->dev)->cpu;
    return gpu ? DRIVER + (uint64_t)fmin(pinned / PINNED, 0x1p50) : 0;
}

/* Limits that no device has are for tests: all of them is the run's own.  Above them no more than half of what is more
 * is the driver's, so that a larger limit never leaves less. */
static const uint64_t NO_DEVICE = (uint64_t)8 << 20;

static uint64_t least_of(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

uint64_t exec_limit_usable(const ExecPlan *plan, const ExecTarget *target, uint64_t limit)
{
    uint64_t more = limit > NO_DEVICE ? limit - NO_DEVICE : 0;
    return limit - least_of(driver_takes(plan, target), more / 2);
}

uint64_t exec_limit_for(const ExecPlan *plan, const ExecTarget *target, uint64_t bytes)
{
    return bytes + least_of(driver_takes(plan, target), bytes > NO_DEVICE ? bytes - NO_DEVICE : 0);
}

uint64_t exec_limit_pinnable(uint64_t limit, uint64_t usable)
{
    uint64_t left = limit - usable;
    return left == 0 ? UINT64_MAX : left > DRIVER ? (left - DRIVER) * PINNED : 0;
}
