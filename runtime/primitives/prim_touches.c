/*
 * prim_touches: through which sides a pixel's label meets each other label for the first time, as
 * bits of a byte; see kernels/touches.cl.
 *
 * With it whatever is asked about the objects that touch an object (how many, their mean, how far
 * they are) is a sum over pixels, in which each of them counts once.
 *
 * Scratch holds a slot for every fourth pixel.  Images with more pairs than that are gone through in
 * rounds, each with its share of the pairs; the host reads one word a round.  A pixel is read in both
 * kernels of a round; only those beside another label look into the table.
 */
#include "prim_program.h"
#include "prim_visit.h"

#include <stdio.h>

enum { ITEMS = 64, PIXELS_A_SLOT = 4, MOST_ROUNDS = 1 << 16 };

static const uint32_t EMPTY = UINT32_MAX;

extern const char kernel_text_touches[];

static uint64_t pixels_of(const PrimCall *call)
{
    return (uint64_t)call->w * (uint64_t)call->h * (uint64_t)call->planes;
}

static int sides_of(const PrimCall *call)
{
    return call->d > 1 ? 6 : 4;
}

/* A power of two. */
static size_t slots_of(const PrimCall *call)
{
    size_t slots = 64;
    while (slots < pixels_of(call) / PIXELS_A_SLOT) {
        slots *= 2;
    }
    return slots;
}

static size_t scratch_bytes(const PrimCall *call)
{
    return (slots_of(call) + 1) * sizeof(uint32_t);
}

static bool program_of(const PrimCall *call, int which, DevProgram **program)
{
    (void)which;
    char defines[200];
    snprintf(defines, sizeof defines,
             "#pragma OPENCL FP_CONTRACT OFF\n#define TOUCHES_PIXEL %s\n#define TOUCHES_SIDES %d\n",
             elem_cl_name(call->in[0].elem), sides_of(call));
    const char *const texts[] = {kernel_text_touches, NULL};
    return prim_program(call, defines, texts, program);
}

static bool launch(const PrimCall *call, DevProgram *program, const char *kernel, uint32_t round,
                   uint32_t rounds)
{
    const PrimImage *labels = &call->in[0], *bits = &call->out[0];
    const DevArg args[] = {dev_mem(labels->mem),
                           dev_int(call->w),
                           dev_int(call->h),
                           dev_int(call->d),
                           dev_int(call->planes),
                           dev_int(labels->pitch),
                           dev_mem(call->scratch),
                           dev_uint(slots_of(call) - 1),
                           dev_uint(round),
                           dev_uint(rounds),
                           dev_mem(bits->mem),
                           dev_int(bits->pitch)};
    size_t groups = visit_groups(call, false);
    return visit_launch(call, &(VisitLaunch){.program = program,
                                             .kernel = kernel,
                                             .groups = groups > 0 ? groups : 1,
                                             .group = ITEMS,
                                             .args = args,
                                             .n_args = kernel[8] == 'f' ? 10 : 12});
}

/* Finds and marks the pairs of one round; *full: there were too many. */
static bool run_round(const PrimCall *call, DevProgram *program, uint32_t round, uint32_t rounds,
                      bool *full)
{
    size_t end = slots_of(call) * sizeof(uint32_t);
    uint32_t overflow = 0;
    TRY(dev_fill(call->dev, call->scratch, 0, end, EMPTY, call->err));
    TRY(dev_fill(call->dev, call->scratch, end, sizeof overflow, 0, call->err));
    TRY(launch(call, program, "touches_find", round, rounds));
    TRY(dev_read(call->dev, call->scratch, end, &overflow, sizeof overflow, call->err));
    *full = overflow != 0;
    return *full || launch(call, program, "touches_mark", round, rounds);
}

static bool check_count(const PrimCall *call)
{
    int sides = sides_of(call);
    if (pixels_of(call) < UINT32_MAX / (uint32_t)sides) {
        return true;
    }
    return err_set(call->err, CODE_MEMORY,
                   "%s: %d x %d x %d pixels are more than the %u whose sides it can count", call->name,
                   call->w, call->h, call->planes, UINT32_MAX / (uint32_t)sides);
}

static bool run(PrimCall *call)
{
    DevProgram *program;
    const PrimImage *bits = &call->out[0];
    bool full = true;
    TRY(check_count(call) && program_of(call, 0, &program));
    TRY(dev_fill(call->dev, bits->mem, 0, (size_t)bits->length, 0, call->err));
    /* What was marked before a round was full is right, and is marked again. */
    for (uint32_t rounds = 1; full && rounds <= MOST_ROUNDS; rounds *= 2) {
        full = false;
        for (uint32_t round = 0; !full && round < rounds; round++) {
            TRY(run_round(call, program, round, rounds, &full));
        }
    }
    return !full || err_set(call->err, CODE_MEMORY, "%s: too many labels touch each other", call->name);
}

const Primitive prim_touches = {.name = "touches",
                                .scratch_bytes = scratch_bytes,
                                .run = run,
                                .programs = 1,
                                .program = program_of};
