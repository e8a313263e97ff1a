/*
 * rank_parts: an exact percentile of an image in parts, in one pass or two.
 *
 * The device counts the upper halves of the pixels' keys, and the lower halves of those with a few
 * upper halves among which the rank may be (kernels/rank_parts.cl).  Where it is not, the second pass
 * counts those around it.  Of all runs of a step, a round of a loop each, the first one has no guess;
 * the others begin with what the one before has found, and seldom need the second pass.
 *
 * The host adds counts up in 64 bits, before 32 could overflow.  Rank k + 1 is among the keys that are
 * counted in full, too, or the smallest key above them.
 */
#include "rank_parts.h"

#include "prim_host.h"
#include "prim_visit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HALF = 16, BINS = 1 << HALF, GUESSED = 3, ALL = (1 + GUESSED) * BINS }; /* as in */
enum { CLEARING_GROUPS = 64 };                                /* kernels/rank_parts.cl */
enum { NOWHERE = BINS }; /* a guess that no key is near */

extern const char kernel_text_rank_parts[];

typedef struct RankParts {
    uint64_t bins[ALL]; /* of the pass so far: by upper half; then by lower half of those guessed */
    uint32_t read[ALL + 1];
    uint64_t waiting;  /* pixels that may be counted in the device's bins */
    uint32_t smallest; /* key above those guessed */
    uint32_t guess;    /* the first upper half of those that are counted in full */
} RankParts;

size_t rank_parts_scratch(void)
{
    return (ALL + 1) * sizeof(uint32_t);
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
    for (int i = 0; i < ALL; i++) {
        r->bins[i] += r->read[i];
    }
    r->smallest = r->read[ALL] < r->smallest ? r->read[ALL] : r->smallest;
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
    const DevArg args[] = {dev_int(call->w), dev_int(call->h), dev_uint(visit_tiles(call)),
                           dev_uint(r->guess), dev_mem(call->scratch)};
    TRY(visit_launch(call, &(VisitLaunch){.program = program,
                                          .kernel = "rank_parts_count",
                                          .reads = true,
                                          .groups = visit_groups(call, false),
                                          .group = visit_group(call),
                                          .args = args,
                                          .n_args = 5}));
    return !call->part.last || fetch(call, r);
}

/* The bin of those given with the pixel of a rank, less the pixels before that bin; BINS: there is
 * none. */
static uint32_t find_bin(const uint64_t *bins, uint64_t *rank)
{
    uint32_t bin = 0;
    while (bin < BINS && *rank >= bins[bin]) {
        *rank -= bins[bin++];
    }
    return bin;
}

/* The key of a rank, if it is counted in full or the smallest above; else its upper half. */
static bool find_key(const RankParts *r, uint64_t rank, uint32_t *key)
{
    uint32_t upper = find_bin(r->bins, &rank), nth = upper - r->guess;
    *key = nth < GUESSED ? upper << HALF | find_bin(r->bins + (1 + nth) * BINS, &rank) : upper;
    return nth < GUESSED;
}

static double value_of(uint32_t key)
{
    uint32_t bits = key >> 31 ? key ^ 0x80000000 : ~key;
    float v;
    memcpy(&v, &bits, sizeof v);
    return (double)v;
}

/* The counts of upper halves that are counted in full. */
static uint64_t add_up(RankParts *r)
{
    uint64_t all = 0;
    for (uint32_t nth = 0; nth < GUESSED && r->guess + nth < BINS; nth++) {
        for (int i = 0; i < BINS; i++) {
            r->bins[r->guess + nth] += r->bins[(1 + nth) * BINS + (uint32_t)i];
        }
    }
    for (int i = 0; i < BINS; i++) {
        all += r->bins[i];
    }
    return all;
}

/* numpy's interpolation, from the nearer end. */
static double between(double a, double b, double part)
{
    double step = (b - a) * (part < 0.5 ? part : 1 - part);
    double result = part == 0 || a == b ? a : part < 0.5 ? a + step : b - step;
    return isnan(result) ? (double)NAN : result;
}

/* After a pass.  Without pixels, or with a good guess, nothing is left for another one. */
static bool finish(PrimCall *call, RankParts *r, double percent)
{
    uint64_t all = add_up(r);
    if (all == 0) {
        call->done = true;
        return host_value(call, (double)NAN);
    }
    double at = percent / 100 * ((double)all - 1);
    uint64_t k = (uint64_t)at;
    uint32_t key, next;
    if (!find_key(r, k, &key)) {
        r->guess = key > 0 ? key - 1 : 0;
        return true;
    }
    if (!find_key(r, k + 1 < all ? k + 1 : k, &next)) {
        next = r->smallest;
    }
    if (call->note != NULL) {
        *call->note = key >> HALF;
    }
    call->done = true;
    return host_value(call, between(value_of(key), value_of(next), at - floor(at)));
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
    if (call->part.first && call->part.pass == 0) {
        uint32_t before = call->note != NULL ? (uint32_t)*call->note : 0;
        r->guess = before > 0 ? before - 1 : NOWHERE;
    }
    TRY(visit_check_count(call));
    TRY(visit_program(call, "", texts, &program));
    TRY(count(call, r, program));
    if (!call->part.last) {
        return true;
    }
    return finish(call, r, percent);
}
