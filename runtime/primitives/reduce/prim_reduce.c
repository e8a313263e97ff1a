/*
 * prim_reduce: sum, count, squared distances from the mean, smallest and largest of the selected pixels,
 * in one reading of the image.
 *
 * The first kernel reduces blocks of 256 x 64 pixels to partial results in scratch, the second one
 * adds those up; the order of all additions is fixed by pixel position (reference/ref_reduce.c has it in
 * plain C), so the sums are the same on every device.  What nobody wants is neither computed nor
 * written.  The partial results of an image in parts wait in scratch for the last part.  Where the
 * kernel that wrote the image has left its partial results in scratch, they are finished at once.
 */
#include "prim_reduce.h"

#include "../prim_share.h"
#include "../prim_visit.h"

#include <assert.h>
#include <stdio.h>

enum { BLOCK_COLUMNS = 256, BLOCK_ROWS = REDUCE_BLOCK_ROWS, QUANTITIES = REDUCE_VALUES };
enum { BLOCKS, FINISH };

static size_t count_blocks(const PrimCall *call, int h, int planes)
{
    size_t across = ((size_t)call->w + BLOCK_COLUMNS - 1) / BLOCK_COLUMNS;
    size_t down = ((size_t)h + BLOCK_ROWS - 1) / BLOCK_ROWS;
    return across * down * (size_t)planes;
}

size_t reduce_blocks(const PrimCall *call)
{
    PrimPart part = prim_part(call);
    return count_blocks(call, part.h, part.d * part.channels);
}

/* Those before the part: of the planes before, and above it in its own. */
static size_t count_before(const PrimCall *call)
{
    PrimPart part = prim_part(call);
    assert(part.y % BLOCK_ROWS == 0);
    return count_blocks(call, part.h, part.c * part.d + part.z) + count_blocks(call, part.y, 1);
}

/* Of each plane, those that are in other parts, where parts have rows of all planes. */
static size_t count_others(const PrimCall *call)
{
    return count_blocks(call, prim_part(call).h, 1) - count_blocks(call, call->h, 1);
}

/* Some launch has left partial results. */
static bool is_fed(const PrimCall *call)
{
    return call->fed > 0 && !call->part.cut;
}

/* Partial results of each quantity that are finished in the end. */
static size_t count_partials(const PrimCall *call)
{
    return is_fed(call) ? call->fed : reduce_blocks(call);
}

static size_t scratch_bytes(const PrimCall *call)
{
    return QUANTITIES * count_partials(call) * sizeof(double);
}

static bool run_blocks(const PrimCall *call, DevProgram *program)
{
    const DevArg args[] = {dev_int(call->w),
                           dev_int(call->h),
                           dev_uint(reduce_blocks(call)),
                           dev_uint(count_before(call)),
                           dev_uint(count_others(call)),
                           dev_mem(call->scratch)};
    return visit_launch(call, &(VisitLaunch){.program = program,
                                             .kernel = "reduce_blocks",
                                             .reads = true,
                                             .groups = count_blocks(call, call->h, call->planes),
                                             .group = visit_group(call),
                                             .args = args,
                                             .n_args = 6});
}

bool reduce_finish_program(const PrimCall *call, DevProgram **program)
{
    const char *texts[] = {kernel_text_visit, kernel_text_reduce, NULL};
    return visit_bare_program(call, "", texts, program);
}

bool reduce_finish(const PrimCall *call, int wanted)
{
    DevProgram *program = NULL;
    TRY(reduce_finish_program(call, &program));
    const DevArg finish_args[] = {dev_mem(call->scratch), dev_uint(count_partials(call)), dev_int(wanted),
                                  dev_int(call->ended),   dev_mem(call->values),          dev_int(call->value)};
    return visit_launch(call, &(VisitLaunch){.program = program,
                                             .kernel = "reduce_finish",
                                             .groups = QUANTITIES,
                                             .group = visit_group(call),
                                             .args = finish_args,
                                             .n_args = 6});
}

/* What reads the image is not asked for where nothing is read. */
static bool program_of(const PrimCall *call, int which, DevProgram **program)
{
    char defines[128];
    *program = NULL;
    if (which == FINISH) {
        return reduce_finish_program(call, program);
    }
    if (is_fed(call)) {
        return true;
    }
    snprintf(defines, sizeof defines, "#define REDUCE_WANTED %d\n#define REDUCE_IN_SUMMARY 0\n",
             (int)call->reduce.wanted);
    const char *texts[] = {kernel_text_visit, kernel_text_reduce, NULL};
    return visit_program(call, defines, texts, program);
}

static bool run(PrimCall *call)
{
    DevProgram *program = NULL;
    TRY(program_of(call, BLOCKS, &program));
    const PrimPart part = prim_part(call);
    TRY(call->owners == NULL || !part.first ||
        dev_fill(call->dev, call->scratch, 0, scratch_bytes(call), 0, call->err));
    TRY(is_fed(call) || run_blocks(call, program));
    TRY(call->owners == NULL || !part.last ||
        share_add_words(call, call->scratch, scratch_bytes(call) / sizeof(uint64_t)));
    return !part.last || reduce_finish(call, (int)call->reduce.wanted);
}

static int passes(const PrimCall *call)
{
    (void)call;
    return 1;
}

const Primitive prim_reduce = {.name = "reduce",
                               .scratch_bytes = scratch_bytes,
                               .run = run,
                               .passes = passes,
                               .shares = share_all_passes,
                               .ahead = true,
                               .programs = REDUCE_PROGRAMS,
                               .program = program_of,
                               .grain = BLOCK_ROWS};
