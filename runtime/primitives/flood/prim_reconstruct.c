/*
 * prim_reconstruct: grey reconstruction of a mask from a seed by dilation (or erosion), as
 * skimage.morphology.reconstruction.  Seeds above the mask (below, for erosion) are cut to it.  NaN
 * of the mask stays and lets nothing through; NaN of the seed is below everything.
 *
 * The result does not depend on the way there, so tiles take whatever their neighbours have reached
 * (kernels/propagate.cl).  It is made in the output; scratch is 4 bytes a tile of 1024 pixels.  A
 * round reads the mask and reads and writes the output in tiles where something changed.
 *
 * In parts (propagate_parts.h) scratch has room for a part of seed and mask, too.
 */
#include "propagate_parts.h"

#include <stdio.h>

extern const char kernel_text_reconstruct[];

static size_t scratch_bytes(const PrimCall *call)
{
    return call->part.cut ? propagate_parts_bytes(call, &call->reconstruct.mask)
                          : propagate_words(call) * sizeof(uint32_t);
}

typedef struct Reconstruction {
    const PrimCall *call;
    DevProgram *program;
    PropagateRules rules;
    char defines[120];
} Reconstruction;

static size_t first_pixel(const PrimImage *image)
{
    return image->before * (size_t)image->pitch;
}

/* Seeds become integers in the output, and those numbers again. */
static bool launch(const Reconstruction *r, const char *kernel, bool start)
{
    const PrimCall *call = r->call;
    const PrimImage *seed = &call->reconstruct.seed, *mask = &call->reconstruct.mask, *out = &call->out[0];
    size_t rows = (size_t)call->planes * (size_t)call->h;
    const DevArg args[] = {dev_int(call->w),
                           dev_uint(rows),
                           dev_int(out->pitch),
                           dev_int(r->rules.how),
                           dev_mem(out->mem),
                           dev_int(seed->pitch),
                           dev_int(mask->pitch),
                           dev_ulong(first_pixel(seed)),
                           dev_ulong(first_pixel(mask)),
                           dev_mem(seed->mem),
                           dev_mem(mask->mem)};
    return lanes_launch(call, &(LanesLaunch){.program = r->program,
                                             .kernel = kernel,
                                             .columns = (size_t)call->w,
                                             .rows = rows,
                                             .args = args,
                                             .n_args = start ? 11 : 5});
}

static bool first_pass(const Reconstruction *r)
{
    const PrimCall *call = r->call;
    TRY(launch(r, "reconstruct_start", true));
    TRY(propagate_parts_keep(call, call, 0, &call->reconstruct.mask));
    return !call->part.last || propagate_parts_settle(call, &r->rules, &call->reconstruct.mask, 0);
}

static bool run_whole(const Reconstruction *r)
{
    const PrimCall *call = r->call;
    TRY(launch(r, "reconstruct_start", true));
    TRY(propagate_flag_all(call, 0, true));
    TRY(propagate_run(call, r->program, &call->reconstruct.mask, r->rules.how, 0));
    return launch(r, "reconstruct_end", false);
}

static bool run(PrimCall *call)
{
    Reconstruction r = {.call = call,
                        .rules = {.text = kernel_text_reconstruct,
                                  .connectivity = (int)call->reconstruct.connectivity,
                                  .how = call->reconstruct.erosion != 0}};
    snprintf(r.defines, sizeof r.defines, "#define RECONSTRUCT_SEED %s\n#define PROPAGATE_IMAGE %s\n",
             elem_cl_name(call->reconstruct.seed.elem), elem_cl_name(call->reconstruct.mask.elem));
    r.rules.defines = r.defines;
    TRY(visit_check_count(call));
    TRY(propagate_program(call, r.defines, r.rules.text, r.rules.connectivity, &r.program));
    if (!call->part.cut) {
        return run_whole(&r);
    }
    return call->part.pass == 0 ? first_pass(&r) : propagate_parts_give(call) && launch(&r, "reconstruct_end", false);
}

static int passes(const PrimCall *call)
{
    (void)call;
    return PROPAGATE_PARTS_PASSES;
}

const Primitive prim_reconstruct = {.name = "reconstruct",
                                    .scratch_bytes = scratch_bytes,
                                    .run = run,
                                    .passes = passes,
                                    .reading = 1,
                                    .forget = propagate_parts_forget};
