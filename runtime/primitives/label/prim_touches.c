/*
 * prim_touches: through which sides a pixel's label meets each other label for the first time, as
 * bits of a byte; see kernels/touches.cl.
 *
 * With it whatever is asked about the objects that touch an object (how many, their mean, how far
 * they are) is a sum over pixels, in which each of them counts once.
 *
 * Scratch holds a slot for every fourth pixel.  Images with more pairs than that are gone through
 * in rounds, each with its share of the pairs; the host reads one word a round.  A pixel is read in
 * both kernels of a round; only those beside another label look into the table.
 *
 * In parts each finds its own pairs, with a row (plane) of the parts beside.  The host keeps the
 * first place of every pair (pair_table.h), and takes back the bits of those that a part before has
 * met.  Where parts do not come in raster order, those of an image with channels and those across planes, the
 * first pass only collects pairs.
 */
#include "../pair_table.h"
#include "../prim_host.h"
#include "../prim_program.h"
#include "../prim_visit.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    ITEMS = 64,
    PIXELS_A_SLOT = 4,
    MOST_ROUNDS = 1 << 16,
    MOST_LISTED = 1 << 16, /* slots whose pairs are handed over at a time */
    PAIR_WORDS = 3,
    SLICE = 4096 /* parts of scratch begin at multiples of it */
};

static const uint32_t EMPTY = UINT32_MAX;

extern const char kernel_text_touches[];

static uint64_t pixels_of(const PrimCall *call)
{
    return (uint64_t)call->w * (uint64_t)call->h * (uint64_t)call->planes;
}

static int sides_of(const PrimCall *call)
{
    return prim_part(call).d > 1 ? 6 : 4;
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

/* Where in scratch the pairs are handed over: behind the slots, and whether they were too few. */
static size_t list_at(const PrimCall *call)
{
    PrimCall longest = prim_longest(call);
    size_t bytes = (slots_of(&longest) + 1) * sizeof(uint32_t);
    return (bytes + SLICE - 1) / SLICE * SLICE;
}

static size_t listed(const PrimCall *call)
{
    PrimCall longest = prim_longest(call);
    size_t slots = slots_of(&longest);
    return slots < MOST_LISTED ? slots : MOST_LISTED;
}

/* How many there are, and these. */
static size_t list_bytes(const PrimCall *call)
{
    return (1 + PAIR_WORDS * listed(call)) * sizeof(uint32_t);
}

static size_t scratch_bytes(const PrimCall *call)
{
    return call->part.cut ? list_at(call) + list_bytes(call) : (slots_of(call) + 1) * sizeof(uint32_t);
}

static int passes(const PrimCall *call)
{
    return prim_part(call).channels > 1 || call->part.across ? 2 : 1;
}

static bool program_of(const PrimCall *call, int which, DevProgram **program)
{
    (void)which;
    char defines[200];
    snprintf(defines, sizeof defines,
             "#pragma OPENCL FP_CONTRACT OFF\n#define TOUCHES_PIXEL %s\n#define TOUCHES_SIDES %d\n",
             elem_cl_name(call->touches.labels.elem), sides_of(call));
    const char *const texts[] = {kernel_text_touches, NULL};
    return prim_program(call, defines, texts, program);
}

/* A kernel over the image's pixels, or over `items`; `more`: what comes behind the image. */
static bool launch(const PrimCall *call, DevProgram *program, const char *kernel, size_t items, const DevArg *more,
                   int n_more)
{
    const PrimImage *labels = &call->touches.labels;
    const PrimPart part = prim_part(call);
    int above = part.y > 0, below = part.y + call->h < part.h;
    int before = part.z > 0, behind = part.z + call->d < part.d;
    enum { OWN = 12, MORE = 6 };
    assert(n_more <= MORE);
    DevArg args[OWN + MORE] = {dev_mem(labels->mem),   dev_ulong(labels->before * (size_t)labels->pitch),
                               dev_int(call->w),       dev_int(call->h),
                               dev_int(call->d),       dev_int(call->planes),
                               dev_int(labels->pitch), dev_int(labels->h),
                               dev_int(-above),        dev_int(call->h + below),
                               dev_int(-before),       dev_int(call->d + behind)};
    for (int i = 0; i < n_more; i++) {
        args[OWN + i] = more[i];
    }
    size_t groups = items > 0 ? (items + ITEMS - 1) / ITEMS : visit_groups(call, false);
    return visit_launch(call, &(VisitLaunch){.program = program,
                                             .kernel = kernel,
                                             .groups = groups > 0 ? groups : 1,
                                             .group = ITEMS,
                                             .args = args,
                                             .n_args = OWN + n_more});
}

/* ---- the pairs of other parts ---------------------------------------------------------- */

static int compare_meetings(const void *a, const void *b)
{
    uint32_t p = *(const uint32_t *)a, q = *(const uint32_t *)b;
    return (p > q) - (p < q);
}

/* Where a meeting of the part is in the image. */
static uint64_t place_of(const PrimCall *call, uint32_t meeting)
{
    const PrimPart *part = &call->part;
    uint32_t sides = (uint32_t)sides_of(call), pixel = meeting / sides;
    uint64_t row = pixel / (uint32_t)call->w, y = (uint64_t)part->y + row % (uint64_t)call->h;
    uint64_t plane = (uint64_t)part->z + row / (uint64_t)call->h + (uint64_t)part->c * (uint64_t)part->d;
    return ((plane * (uint64_t)part->h + y) * (uint64_t)call->w + pixel % (uint32_t)call->w) * sides + meeting % sides;
}

/* Takes the pairs of the list; those that are met earlier elsewhere go to its beginning, *n of
 * them. */
static bool look_up(const PrimCall *call, uint32_t *list, uint32_t *n)
{
    uint32_t pairs = list[0];
    *n = 0;
    for (uint32_t i = 0; i < pairs; i++) {
        const uint32_t *pair = list + 1 + PAIR_WORDS * i;
        uint64_t at = place_of(call, pair[2]), first;
        uint32_t meeting = pair[2];
        if (!pair_table_lower(*call->state, pair[0], pair[1], at, &first)) {
            return host_no_memory(call);
        }
        if (first != at) {
            list[(*n)++] = meeting;
        }
    }
    qsort(list, *n, sizeof *list, compare_meetings);
    return true;
}

static bool clear(const PrimCall *call, DevProgram *program, DevMem *list, uint32_t n)
{
    const PrimImage *bits = &call->out[0];
    const DevArg args[] = {dev_int(call->w), dev_int(call->h),   dev_mem(list),
                           dev_uint(n),      dev_mem(bits->mem), dev_int(bits->pitch)};
    return visit_launch(call, &(VisitLaunch){.program = program,
                                             .kernel = "touches_clear",
                                             .groups = (n + ITEMS - 1) / ITEMS,
                                             .group = ITEMS,
                                             .args = args,
                                             .n_args = 6});
}

/* The pairs of slots [from, to), of which those that are met earlier lose their bits in the last
 * pass. */
static bool share_slots(const PrimCall *call, DevProgram *program, DevMem *list, uint32_t *words, size_t from,
                        size_t to)
{
    const DevArg args[] = {dev_mem(call->scratch), dev_uint(from), dev_uint(to), dev_mem(list)};
    uint32_t n;
    TRY(dev_fill(call->dev, list, 0, sizeof *words, 0, call->err));
    TRY(launch(call, program, "touches_list", to - from, args, 4));
    TRY(dev_read(call->dev, list, 0, words, sizeof *words, call->err));
    TRY(words[0] == 0 ||
        dev_read(call->dev, list, sizeof *words, words + 1, words[0] * PAIR_WORDS * sizeof *words, call->err));
    TRY(look_up(call, words, &n));
    bool last = call->part.pass + 1 == passes(call);
    return n == 0 || !last ||
           (dev_write(call->dev, list, 0, words, n * sizeof *words, call->err) && clear(call, program, list, n));
}

static bool share_pairs(const PrimCall *call, DevProgram *program)
{
    size_t slots = slots_of(call), most = listed(call);
    uint32_t *words = malloc(list_bytes(call));
    DevMem *list = NULL;
    bool ok = words != NULL || host_no_memory(call);
    ok = ok && dev_slice(call->dev, call->scratch, list_at(call), list_bytes(call), &list, call->err);
    for (size_t from = 0; ok && from < slots; from += most) {
        size_t to = from + most < slots ? from + most : slots;
        ok = share_slots(call, program, list, words, from, to);
    }
    dev_free(call->dev, list);
    free(words);
    return ok;
}

/* ---- rounds ---------------------------------------------------------------------------- */

/* Finds and marks the pairs of one round; *full: there were too many. */
static bool run_round(const PrimCall *call, DevProgram *program, uint32_t round, uint32_t rounds, bool *full)
{
    size_t end = slots_of(call) * sizeof(uint32_t);
    uint32_t overflow = 0;
    const PrimImage *bits = &call->out[0];
    const DevArg args[] = {dev_mem(call->scratch), dev_uint(slots_of(call) - 1), dev_uint(round),
                           dev_uint(rounds),       dev_mem(bits->mem),           dev_int(bits->pitch)};
    TRY(dev_fill(call->dev, call->scratch, 0, end, EMPTY, call->err));
    TRY(dev_fill(call->dev, call->scratch, end, sizeof overflow, 0, call->err));
    TRY(launch(call, program, "touches_find", 0, args, 4));
    TRY(dev_read(call->dev, call->scratch, end, &overflow, sizeof overflow, call->err));
    *full = overflow != 0;
    return *full ||
           (launch(call, program, "touches_mark", 0, args, 6) && (!call->part.cut || share_pairs(call, program)));
}

static bool check_count(const PrimCall *call)
{
    int sides = sides_of(call);
    if (pixels_of(call) < UINT32_MAX / (uint32_t)sides) {
        return true;
    }
    return err_set(call->err, CODE_MEMORY, "%s: %d x %d x %d pixels are more than the %u whose sides it can count",
                   call->name, call->w, call->h, call->planes, UINT32_MAX / (uint32_t)sides);
}

static void forget(void *state)
{
    pair_table_free(state);
}

/* With the first part of all. */
static bool begin_parts(PrimCall *call)
{
    if (call->part.pass == 0 && call->part.first) {
        forget(*call->state);
        *call->state = pair_table_new();
    }
    return *call->state != NULL || host_no_memory(call);
}

static bool run(PrimCall *call)
{
    DevProgram *program;
    const PrimImage *bits = &call->out[0];
    bool full = true;
    TRY(check_count(call) && program_of(call, 0, &program));
    TRY(!call->part.cut || begin_parts(call));
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

static int halo(const PrimCall *call)
{
    (void)call;
    return 1;
}

const Primitive prim_touches = {.name = "touches",
                                .scratch_bytes = scratch_bytes,
                                .run = run,
                                .passes = passes,
                                .halo = halo,
                                .forget = forget,
                                .programs = 1,
                                .program = program_of};
