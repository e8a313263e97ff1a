/*
 * prim_rank: an exact percentile of the selected pixels, for about one reading of the image.
 *
 * A sample brackets the wanted rank; one reading counts what lies outside of the bracket and copies
 * the few percent inside, among which three rounds of counting find the rank and its successor
 * (kernels/rank.cl).  A wrong bracket or too many copies cost up to three readings more and change
 * nothing else.  How many pixels are selected is only known on the device; the host never waits.
 *
 * Images in parts go another way (rank_parts.c).
 *
 * The bracket is Floyd and Rivest's idea (Expected time bounds for selection, 1975).
 */
#include "prim_visit.h"
#include "rank_parts.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    HEADER_WORDS = 24576, /* of scratch, in front of the copies */
    SAMPLE_SIZE = 16384,  /* as in kernels/rank.cl */
    PASSES = 3,
    SMALL = 65536 /* pixels that are always worth a copy */
};

extern const char kernel_text_rank[];

/* The bracket holds 3.2 % of the pixels, give or take a little. */
static uint32_t capacity_of(const PrimCall *call)
{
    double pixels = (double)call->w * call->h * call->planes;
    return (uint32_t)(pixels < SMALL ? pixels : pixels / 16 + SMALL);
}

static size_t scratch_bytes(const PrimCall *call)
{
    if (call->part.cut) {
        return rank_parts_scratch();
    }
    return ((size_t)HEADER_WORDS + capacity_of(call)) * sizeof(uint32_t);
}

static double clamped(double percent)
{
    return percent > 100 ? 100 : percent > 0 ? percent : 0;
}

/* The sample and the bracket, which only steer. */
static bool run_bracket(const PrimCall *call, DevProgram *program, double percent)
{
    size_t group = visit_group(call);
    const DevArg sample_args[] = {dev_int(call->w), dev_int(call->h), dev_int(call->planes),
                                  dev_mem(call->scratch)};
    TRY(visit_launch(call, &(VisitLaunch){.program = program,
                                          .kernel = "rank_sample",
                                          .reads = true,
                                          .groups = group > 1 ? SAMPLE_SIZE / group : 16,
                                          .group = group,
                                          .args = sample_args,
                                          .n_args = 4}));
    const DevArg bracket_args[] = {dev_double(percent), dev_mem(call->scratch)};
    return visit_launch(call, &(VisitLaunch){.program = program,
                                             .kernel = "rank_bracket",
                                             .groups = 1,
                                             .group = group,
                                             .args = bracket_args,
                                             .n_args = 2});
}

static bool run_passes(const PrimCall *call, DevProgram *program, double percent)
{
    size_t group = visit_group(call);
    uint32_t tiles = visit_tiles(call), capacity = capacity_of(call);
    const DevArg count_args[] = {dev_int(call->w), dev_int(call->h), dev_uint(tiles),
                                 dev_uint(capacity), dev_mem(call->scratch)};
    TRY(visit_launch(call, &(VisitLaunch){.program = program,
                                          .kernel = "rank_count",
                                          .reads = true,
                                          .groups = visit_groups(call, false),
                                          .group = group,
                                          .args = count_args,
                                          .n_args = 5}));
    for (int pass = 0; pass < PASSES; pass++) {
        const DevArg refine_args[] = {dev_int(call->w),      dev_int(call->h),    dev_uint(tiles),
                                      dev_uint(capacity),    dev_double(percent), dev_int(pass),
                                      dev_mem(call->scratch)};
        TRY(visit_launch(call, &(VisitLaunch){.program = program,
                                              .kernel = "rank_refine",
                                              .reads = true,
                                              .groups = visit_groups(call, true),
                                              .group = group,
                                              .args = refine_args,
                                              .n_args = 7}));
    }
    const DevArg finish_args[] = {dev_double(percent), dev_uint(capacity), dev_mem(call->scratch),
                                  dev_mem(call->values), dev_int(call->value)};
    return visit_launch(call, &(VisitLaunch){.program = program,
                                             .kernel = "rank_finish",
                                             .groups = 1,
                                             .group = group,
                                             .args = finish_args,
                                             .n_args = 5});
}

static bool program_of(const PrimCall *call, int which, DevProgram **program)
{
    (void)which;
    char defines[64];
    snprintf(defines, sizeof defines, "#define RANK_HEADER_WORDS %d\n", HEADER_WORDS);
    const char *texts[] = {kernel_text_visit, kernel_text_rank, NULL};
    return visit_program(call, defines, texts, program);
}

static bool run(PrimCall *call)
{
    if (call->part.cut) {
        return rank_parts_run(call, clamped(call->arg[0]));
    }
    TRY(visit_check_count(call));
    DevProgram *program = NULL;
    TRY(program_of(call, 0, &program));
    double percent = clamped(call->arg[0]);
    TRY(run_bracket(call, program, percent));
    return run_passes(call, program, percent);
}

static int passes(const PrimCall *call)
{
    (void)call;
    return RANK_PARTS_PASSES;
}

const Primitive prim_rank = {.name = "rank",
                             .scratch_bytes = scratch_bytes,
                             .run = run,
                             .passes = passes,
                             .programs = 1,
                             .program = program_of,
                             .forget = free};
