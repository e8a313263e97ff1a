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
#include "prim_rank.h"

#include "../prim_share.h"
#include "../prim_visit.h"
#include "rank_parts.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    SAMPLE_SIZE = 16384, /* as in kernels/rank.cl */
    PASSES = 3,
    SMALL = 65536 /* pixels that are always worth a copy */
};
enum { READS, BARE, PROGRAMS };

/* The bracket holds 3.2 % of the pixels, give or take a little. */
uint32_t rank_capacity(const PrimCall *call)
{
    double pixels = (double)call->w * call->h * call->planes;
    return (uint32_t)(pixels < SMALL ? pixels : pixels / 16 + SMALL);
}

static size_t scratch_bytes(const PrimCall *call)
{
    if (call->part.cut) {
        return rank_parts_scratch(call);
    }
    return ((size_t)RANK_HEADER_WORDS + rank_capacity(call)) * sizeof(uint32_t);
}

static double percent_of(const PrimCall *call)
{
    double percent = call->rank.percent;
    return percent > 100 ? 100 : percent > 0 ? percent : 0;
}

bool rank_bare_program(const PrimCall *call, DevProgram **program)
{
    char defines[64];
    snprintf(defines, sizeof defines, "#define RANK_HEADER_WORDS %d\n", RANK_HEADER_WORDS);
    const char *texts[] = {kernel_text_visit, kernel_text_rank, NULL};
    return visit_bare_program(call, defines, texts, program);
}

bool rank_bracket(const PrimCall *call, DevProgram *reads)
{
    size_t group = visit_group(call);
    DevProgram *bare = NULL;
    TRY(rank_bare_program(call, &bare));
    const DevArg sample_args[] = {dev_int(call->w), dev_int(call->h), dev_int(call->planes), dev_mem(call->scratch)};
    TRY(visit_launch(call, &(VisitLaunch){.program = reads,
                                          .kernel = "rank_sample",
                                          .reads = true,
                                          .groups = group > 1 ? SAMPLE_SIZE / group : 16,
                                          .group = group,
                                          .args = sample_args,
                                          .n_args = 4}));
    const DevArg bracket_args[] = {dev_double(percent_of(call)), dev_int(call->ended), dev_mem(call->scratch),
                                   dev_mem(call->values)};
    return visit_launch(call, &(VisitLaunch){.program = bare,
                                             .kernel = "rank_bracket",
                                             .groups = 1,
                                             .group = group,
                                             .args = bracket_args,
                                             .n_args = 4});
}

/* The reading. */
static bool run_count(const PrimCall *call, DevProgram *program)
{
    const DevArg args[] = {dev_int(call->w), dev_int(call->h), dev_uint(visit_tiles(call)),
                           dev_uint(rank_capacity(call)), dev_mem(call->scratch)};
    return visit_launch(call, &(VisitLaunch){.program = program,
                                             .kernel = "rank_count",
                                             .reads = true,
                                             .groups = visit_groups(call, false),
                                             .group = visit_group(call),
                                             .args = args,
                                             .n_args = 5});
}

bool rank_find(const PrimCall *call, DevProgram *reads)
{
    DevProgram *bare = NULL;
    TRY(rank_bare_program(call, &bare));
    size_t group = visit_group(call);
    uint32_t tiles = visit_tiles(call), capacity = rank_capacity(call);
    double percent = percent_of(call);
    for (int pass = 0; pass < PASSES; pass++) {
        const DevArg refine_args[] = {dev_int(call->w),    dev_int(call->h), dev_uint(tiles),       dev_uint(capacity),
                                      dev_double(percent), dev_int(pass),    dev_mem(call->scratch)};
        TRY(visit_launch(call, &(VisitLaunch){.program = reads,
                                              .kernel = "rank_refine",
                                              .reads = true,
                                              .groups = visit_groups(call, true),
                                              .group = group,
                                              .args = refine_args,
                                              .n_args = 7}));
    }
    const DevArg finish_args[] = {dev_double(percent),    dev_uint(capacity),    dev_int(call->ended),
                                  dev_mem(call->scratch), dev_mem(call->values), dev_int(call->value)};
    return visit_launch(call, &(VisitLaunch){.program = bare,
                                             .kernel = "rank_finish",
                                             .groups = 1,
                                             .group = group,
                                             .args = finish_args,
                                             .n_args = 6});
}

static bool program_of(const PrimCall *call, int which, DevProgram **program)
{
    if (which == BARE) {
        return rank_bare_program(call, program);
    }
    char defines[96];
    snprintf(defines, sizeof defines, "#define RANK_HEADER_WORDS %d\n#define RANK_IN_SUMMARY 0\n", RANK_HEADER_WORDS);
    const char *texts[] = {kernel_text_visit, kernel_text_rank, NULL};
    return visit_program(call, defines, texts, program);
}

static bool run(PrimCall *call)
{
    if (call->part.cut) {
        return rank_parts_run(call, percent_of(call));
    }
    TRY(visit_check_count(call));
    DevProgram *program = NULL;
    TRY(program_of(call, READS, &program));
    return rank_bracket(call, program) && run_count(call, program) && rank_find(call, program);
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
                             .shares = share_all_passes,
                             .ahead = true,
                             .programs = PROGRAMS,
                             .program = program_of,
                             .forget = rank_parts_forget};
