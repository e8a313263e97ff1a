/*
 * prim_reconstruct: grey reconstruction of a mask from a seed by dilation (or erosion), as
 * skimage.morphology.reconstruction.  Seeds above the mask (below, for erosion) are cut to it.  NaN
 * of the mask stays and lets nothing through; NaN of the seed is below everything.
 *
 * The result does not depend on the way there, so tiles take whatever their neighbours have reached
 * (kernels/propagate.cl).  It is made in the output; scratch is 4 bytes a tile of 1024 pixels.  A
 * round reads the mask and reads and writes the output in tiles where something changed.
 */
#include "prim_propagate.h"

#include <stdio.h>

extern const char kernel_text_reconstruct[];

static size_t scratch_bytes(const PrimCall *call)
{
    return propagate_words(call) * sizeof(uint32_t);
}

static bool run(PrimCall *call)
{
    const PrimImage *seed = &call->in[0], *mask = &call->in[1], *out = &call->out[0];
    size_t rows = (size_t)call->planes * (size_t)call->h;
    int erosion = call->arg[1] != 0;
    DevProgram *program = NULL;
    char defines[120];
    snprintf(defines, sizeof defines,
             "#define RECONSTRUCT_SEED %s\n#define PROPAGATE_IMAGE %s\n",
             elem_cl_name(seed->elem), elem_cl_name(mask->elem));
    TRY(visit_check_count(call));
    TRY(propagate_program(call, defines, kernel_text_reconstruct, (int)call->arg[0], &program));

    const DevArg start[] = {dev_int(call->w),     dev_uint(rows),       dev_int(out->pitch),
                            dev_int(erosion),     dev_int(seed->pitch), dev_int(mask->pitch),
                            dev_mem(seed->mem),   dev_mem(mask->mem),   dev_mem(out->mem)};
    LanesLaunch launch = {program, "reconstruct_start", false, (size_t)call->w, rows, start, 9};
    TRY(lanes_launch(call, &launch));
    TRY(propagate_flag_all(call, 0, true));
    TRY(propagate_run(call, program, mask, erosion, 0));
    const DevArg end[] = {start[0], start[1], start[2], start[3], start[8]};
    launch.kernel = "reconstruct_end";
    launch.args = end;
    launch.n_args = 5;
    return lanes_launch(call, &launch);
}

const Primitive prim_reconstruct = {.name = "reconstruct", .scratch_bytes = scratch_bytes, .run = run};
