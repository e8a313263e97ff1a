/*
 * prim_reduce: sum, count, sum of squares, smallest and largest of the selected pixels, in one
 * reading of the image.
 *
 * The first kernel reduces blocks of 256 x 64 pixels to partial results in scratch, the second one
 * adds those up; the order of all additions is fixed by pixel position (ir/ref_reduce.c has it in
 * plain C), so the sums are the same on every device.  What nobody wants is neither computed nor
 * written.
 */
#include "prim_visit.h"

#include <stdio.h>

enum { BLOCK_COLUMNS = 256, BLOCK_ROWS = 64, QUANTITIES = 5 }; /* as in kernels/reduce.cl */

extern const char kernel_text_reduce[];

static size_t count_blocks(const PrimCall *call)
{
    size_t across = ((size_t)call->w + BLOCK_COLUMNS - 1) / BLOCK_COLUMNS;
    size_t down = ((size_t)call->h + BLOCK_ROWS - 1) / BLOCK_ROWS;
    return across * down * (size_t)call->planes;
}

static size_t scratch_bytes(const PrimCall *call)
{
    return QUANTITIES * count_blocks(call) * sizeof(double);
}

static bool run(PrimCall *call)
{
    char defines[32];
    snprintf(defines, sizeof defines, "#define REDUCE_WANTED %d\n", (int)call->arg[0]);
    DevProgram *program = NULL;
    const char *texts[] = {kernel_text_visit, kernel_text_reduce, NULL};
    TRY(visit_program(call, defines, texts, &program));

    size_t blocks = count_blocks(call);
    const DevArg block_args[] = {dev_int(call->w), dev_int(call->h), dev_uint(blocks),
                                 dev_mem(call->scratch)};
    TRY(visit_launch(call, &(VisitLaunch){.program = program,
                                          .kernel = "reduce_blocks",
                                          .reads = true,
                                          .groups = blocks,
                                          .group = visit_group(call),
                                          .args = block_args,
                                          .n_args = 4}));
    const DevArg finish_args[] = {dev_mem(call->scratch), dev_uint(blocks), dev_mem(call->values),
                                  dev_int(call->value)};
    return visit_launch(call, &(VisitLaunch){.program = program,
                                             .kernel = "reduce_finish",
                                             .groups = QUANTITIES,
                                             .group = visit_group(call),
                                             .args = finish_args,
                                             .n_args = 4});
}

const Primitive prim_reduce = {.name = "reduce", .scratch_bytes = scratch_bytes, .run = run};
