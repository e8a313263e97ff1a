/*
 * prim_summary: a reduction and a percentile of the same pixels, for one reading of the image.
 *
 * In one piece, blocks are reduced and their pixels counted against a bracket by one kernel
 * (kernels/summary.cl); what comes before and after is that of prim_reduce.c and prim_rank.c.  Of an image in
 * parts each part is read by the kernels of both while it is there.
 */
#include "prim_rank.h"
#include "prim_reduce.h"
#include "../prim_share.h"
#include "../prim_visit.h"
#include "rank_parts.h"

#include <stdio.h>
#include <stdlib.h>

enum { READS, FINISH, BRACKET, PROGRAMS };
enum { ALIGNMENT = 4096 }; /* of slices, for any device */

extern const char kernel_text_summary[];

static PrimCall rank_of(const PrimCall *call)
{
    PrimCall rank = *call;
    rank.rank.percent = call->summary.percent;
    rank.value = call->value + SUMMARY_RANK;
    return rank;
}

/* Of scratch, in front of the partial results. */
static size_t rank_bytes(const PrimCall *call)
{
    PrimCall rank = rank_of(call);
    return (prim_rank.scratch_bytes(&rank) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static size_t scratch_bytes(const PrimCall *call)
{
    return rank_bytes(call) + prim_reduce.scratch_bytes(call);
}

/* How many pixels there are is asked for in any case. */
static int wanted_of(const PrimCall *call)
{
    return (int)call->summary.wanted | WANTED_SUM;
}

static bool program_of(const PrimCall *call, int which, DevProgram **program)
{
    if (which != READS) {
        return (which == FINISH ? reduce_finish_program : rank_bare_program)(call, program);
    }
    char defines[160];
    snprintf(defines, sizeof defines,
             "#define RANK_HEADER_WORDS %d\n#define RANK_IN_SUMMARY 1\n#define REDUCE_WANTED %d\n"
             "#define REDUCE_IN_SUMMARY 1\n",
             RANK_HEADER_WORDS, wanted_of(call));
    const char *texts[] = {kernel_text_visit, kernel_text_rank, kernel_text_reduce, kernel_text_summary, NULL};
    return visit_program(call, defines, texts, program);
}

static bool read_blocks(const PrimCall *rank, const PrimCall *reduce, DevProgram *program)
{
    const DevArg args[] = {dev_int(rank->w),
                           dev_int(rank->h),
                           dev_uint((uint32_t)reduce_blocks(reduce)),
                           dev_mem(reduce->scratch),
                           dev_uint(rank_capacity(rank)),
                           dev_mem(rank->scratch)};
    return visit_launch(rank, &(VisitLaunch){.program = program,
                                             .kernel = "summary_blocks",
                                             .reads = true,
                                             .groups = reduce_blocks(reduce),
                                             .group = visit_group(rank),
                                             .args = args,
                                             .n_args = 6});
}

static bool run_whole(PrimCall *rank, PrimCall *reduce)
{
    DevProgram *program = NULL;
    TRY(program_of(reduce, READS, &program));
    return rank_bracket(rank, program) && read_blocks(rank, reduce, program) &&
           reduce_finish(reduce, wanted_of(reduce)) && rank_find(rank, program);
}

static bool run_part(PrimCall *rank, PrimCall *reduce)
{
    TRY(reduce->part.pass > 0 || prim_reduce.run(reduce));
    return prim_rank.run(rank);
}

static bool run(PrimCall *call)
{
    PrimCall rank = rank_of(call), reduce = *call;
    size_t first = rank_bytes(call);
    TRY(visit_check_count(call));
    TRY(dev_slice(call->dev, call->scratch, first, call->scratch_size - first, &reduce.scratch, call->err));
    bool ok = (call->part.cut ? run_part : run_whole)(&rank, &reduce);
    call->done = rank.done;
    dev_free(call->dev, reduce.scratch);
    return ok;
}

static int passes(const PrimCall *call)
{
    return prim_rank.passes(call);
}

const Primitive prim_summary = {.name = "summary",
                                .scratch_bytes = scratch_bytes,
                                .run = run,
                                .passes = passes,
                                .shares = share_all_passes,
                                .ahead = true,
                                .grain = REDUCE_BLOCK_ROWS,
                                .programs = PROGRAMS,
                                .program = program_of,
                                .forget = rank_parts_forget};
