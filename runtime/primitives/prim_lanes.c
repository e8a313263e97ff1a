/* prim_lanes: puts columns and rows into groups. */
#include "prim_lanes.h"

#include <assert.h>
#include <string.h>

enum { GROUP = 256 /* LANES_GROUP of kernels/lanes.cl */, MOST_ARGS = 31 };

bool lanes_launch(const PrimCall *call, const LanesLaunch *launch)
{
    assert(launch->n_args <= MOST_ARGS);
    int lanes = lanes_bits_for(launch->columns < GROUP ? (int)launch->columns : GROUP);
    size_t across = lanes_divided_up(launch->columns, (size_t)1 << lanes);
    DevArg args[MOST_ARGS + 1] = {dev_int(lanes)};
    memcpy(args + 1, launch->args, (size_t)launch->n_args * sizeof *args);
    return visit_launch(call, &(VisitLaunch){.program = launch->program,
                                             .kernel = launch->kernel,
                                             .reads = launch->reads,
                                             .groups = across * lanes_divided_up(launch->rows, GROUP >> lanes),
                                             .group = GROUP,
                                             .args = args,
                                             .n_args = launch->n_args + 1});
}
