/*
 * rank_parts: an exact percentile of an image in parts, in two passes.
 *
 * The device counts the upper halves of the pixels' keys, then the lower halves of those in the bin
 * of the wanted rank (kernels/rank_parts.cl).  The host adds its counts up in 64 bits, before 32
 * could overflow, and finds the bins.  Rank k + 1 is in the same bin or the smallest key above it.
 */
#include "rank_parts.h"

#include "prim_host.h"
#include "prim_visit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HALF = 16, BINS = 1 << HALF, CLEARING_GROUPS = 64 }; /* as in kernels/rank_parts.cl */

extern const char kernel_text_rank_parts[];

typedef struct RankParts {
    uint64_t bins[BINS]; /* of the pass so far */
    uint32_t read[BINS + 1];
    uint64_t waiting;      /* pixels that may be counted in the device's bins */
    uint32_t smallest;     /* key that is not below the bound */
    uint32_t upper, bound; /* for the second pass: rank k's upper half; where to look for k + 1 */
    uint64_t before;       /* keys below those with that upper half */
    double at;             /* the wanted rank, between two pixels' */
    uint64_t next;         /* the rank of the later one */
} RankParts;

size_t rank_parts_scratch(void)
{
    return (BINS + 1) * sizeof(uint32_t);
}

static bool clear(const PrimCall *call, DevProgram *program)
{
    const DevArg args[] = {dev_mem(call->scratch)};
    return visit_launch(call, &(VisitLaunch){.program = program,
                                             .kernel = "rank_parts_clear",
                                             .groups = CLEARING_GROUPS,
                                             .group = visit_group(call),
                                             .args = args,
                                             .n_args = 1});
}

/* Adds the device's counts to the host's. */
static bool fetch(const PrimCall *call, RankParts *r)
{
    TRY(dev_read(call->dev, call->scratch, 0, r->read, sizeof r->read, call->err));
    for (int i = 0; i < BINS; i++) {
        r->bins[i] += r->read[i];
    }
    r->smallest = r->read[BINS] < r->smallest ? r->read[BINS] : r->smallest;
    r->waiting = 0;
    return true;
}

static bool count(const PrimCall *call, RankParts *r, DevProgram *program)
{
    uint64_t pixels = (uint64_t)call->w * (uint64_t)call->h * (uint64_t)call->planes;
    if (call->part.first) {
        memset(r->bins, 0, sizeof r->bins);
        r->smallest = UINT32_MAX;
    } else if (r->waiting + pixels > UINT32_MAX) {
        TRY(fetch(call, r));
    }
    TRY(r->waiting > 0 || clear(call, program));
    r->waiting += pixels;
    const DevArg args[] = {
        dev_int(call->w),         dev_int(call->h),   dev_uint(visit_tiles(call)),
        dev_int(call->part.pass), dev_uint(r->upper), dev_uint(r->bound),
        dev_mem(call->scratch)};
    TRY(visit_launch(call, &(VisitLaunch){.program = program,
                                          .kernel = "rank_parts_count",
                                          .reads = true,
                                          .groups = visit_groups(call, false),
                                          .group = visit_group(call),
                                          .args = args,
                                          .n_args = 7}));
    return !call->part.last || fetch(call, r);
}

/* The bin with the pixel of a rank; *before: how many come before that bin. */
static uint32_t find_bin(const RankParts *r, uint64_t rank, uint64_t *before)
{
    uint32_t bin = 0;
    *before = 0;
    while (bin < BINS - 1 && rank - *before >= r->bins[bin]) {
        *before += r->bins[bin++];
    }
    return bin;
}

static double value_of(uint32_t key)
{
    uint32_t bits = key >> 31 ? key ^ 0x80000000 : ~key;
    float v;
    memcpy(&v, &bits, sizeof v);
    return (double)v;
}

/* After the first pass.  Without pixels there is nothing to be done in the second one. */
static bool choose_upper(PrimCall *call, RankParts *r, double percent)
{
    uint64_t all = 0, ignored;
    for (int i = 0; i < BINS; i++) {
        all += r->bins[i];
    }
    if (all == 0) {
        call->done = true;
        return host_value(call, (double)NAN);
    }
    r->at = percent / 100 * ((double)all - 1);
    uint64_t k = (uint64_t)r->at;
    r->next = k + 1 < all ? k + 1 : k;
    r->upper = find_bin(r, k, &r->before);
    uint32_t upper = find_bin(r, r->next, &ignored);
    r->bound = upper > r->upper ? upper << HALF : UINT32_MAX;
    return true;
}

/* After the second pass: numpy's interpolation, from the nearer end. */
static bool finish(PrimCall *call, const RankParts *r)
{
    uint64_t ignored;
    uint32_t first = r->upper << HALF;
    double a = value_of(first | find_bin(r, (uint64_t)r->at - r->before, &ignored));
    double b = value_of(
        r->bound != UINT32_MAX ? r->smallest : first | find_bin(r, r->next - r->before, &ignored));
    double part = r->at - floor(r->at), step = (b - a) * (part < 0.5 ? part : 1 - part);
    double result = part == 0 || a == b ? a : part < 0.5 ? a + step : b - step;
    return host_value(call, isnan(result) ? (double)NAN : result);
}

bool rank_parts_run(PrimCall *call, double percent)
{
    RankParts *r = *call->state;
    if (r == NULL) {
        r = *call->state = calloc(1, sizeof *r);
        if (r == NULL) {
            return host_no_memory(call);
        }
    }
    DevProgram *program = NULL;
    const char *const texts[] = {kernel_text_visit, kernel_text_rank_parts, NULL};
    TRY(visit_check_count(call));
    TRY(visit_program(call, "", texts, &program));
    TRY(count(call, r, program));
    if (!call->part.last) {
        return true;
    }
    return call->part.pass == 0 ? choose_upper(call, r, percent) : finish(call, r);
}
