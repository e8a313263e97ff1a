/*
 * rank_parts: an exact percentile of an image in parts, in one pass or two.
 *
 * The device counts the upper halves of the pixels' keys, and the lower halves of those with a few
 * upper halves among which the rank may be (kernels/rank_parts.cl).  Around 0, where few pixels have an
 * upper half in common, these reach nowhere: keys in the halves around them, as many as hold some
 * thousandths of the pixels, go to a list; of these the device counts the lower halves once it is known which
 * upper half the rank is in.  Where the rank is neither here nor there, the second pass counts the halves around
 * it.  Of all runs of a step, a round of a loop each, the first one guesses after its first part, which is then
 * counted again; the others begin with what the one before has found.
 *
 * The host adds counts up in 64 bits, before 32 could overflow.  Rank k + 1 is among the keys that are
 * counted in full or listed, too, or the smallest key above them.
 *
 * Owners (prim_share.h) add their counts up.  They list nothing, and guess nothing from their first parts, which differ.
 */
#include "rank_parts.h"

#include "../prim_host.h"
#include "../prim_share.h"
#include "../prim_visit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HALF = 16, BINS = 1 << HALF, GUESSED = 3, ALL = (1 + GUESSED) * BINS }; /* as in */
enum { AT_SMALLEST = ALL, AT_LISTED, AT_LIST };                                /* kernels/rank_parts.cl */
enum { NOWHERE = BINS };                                                       /* a guess that no key is near */
enum { LISTED = 128, MOST_LISTED = 2 << 20 }; /* one of so many pixels has room in the list; but at most */

extern const char kernel_text_rank_parts[];
static const char *const TEXTS[] = {kernel_text_visit, kernel_text_rank_parts, NULL};

/* Upper halves: the first of those that are counted in full, and those that are listed. */
typedef struct Guess {
    uint32_t full, from, span;
} Guess;

typedef struct RankParts {
    uint64_t bins[ALL]; /* of the pass so far: by upper half; then by lower half of those guessed */
    uint32_t read[AT_LIST];
    uint64_t waiting;  /* pixels that may be counted in the device's bins */
    uint32_t smallest; /* key above those guessed */
    Guess guess;
    uint32_t looked_up;    /* upper half of the keys in */
    uint64_t listed[BINS]; /* these counts of listed keys by lower half; NOWHERE: there are none */
} RankParts;

void rank_parts_forget(void *state)
{
    free(state);
}

/* Pixels of all parts. */
static double all_pixels(const PrimCall *call)
{
    const PrimPart *part = &call->part;
    return (double)call->w * part->h * part->d * part->channels;
}

static uint32_t capacity(const PrimCall *call)
{
    double wanted = all_pixels(call) / LISTED;
    return wanted < MOST_LISTED ? (uint32_t)wanted : MOST_LISTED;
}

size_t rank_parts_scratch(const PrimCall *call)
{
    return (AT_LIST + (size_t)capacity(call)) * sizeof(uint32_t);
}

/* ---- counting -------------------------------------------------------------------------------- */

static bool clear(const PrimCall *call)
{
    size_t smallest = AT_SMALLEST * sizeof(uint32_t);
    return dev_fill(call->dev, call->scratch, 0, AT_LIST * sizeof(uint32_t), 0, call->err) &&
           dev_fill(call->dev, call->scratch, smallest, sizeof(uint32_t), UINT32_MAX, call->err);
}

/* Adds the device's counts to the host's. */
static bool fetch(const PrimCall *call, RankParts *r)
{
    TRY(dev_read(call->dev, call->scratch, 0, r->read, sizeof r->read, call->err));
    for (int i = 0; i < ALL; i++) {
        r->bins[i] += r->read[i];
    }
    r->smallest = r->read[AT_SMALLEST] < r->smallest ? r->read[AT_SMALLEST] : r->smallest;
    r->waiting = 0;
    return true;
}

/* All keys with this upper half are in the list. */
static bool is_listed(const PrimCall *call, const RankParts *r, uint32_t upper)
{
    return upper - r->guess.from < r->guess.span && r->read[AT_LISTED] <= capacity(call);
}

/* Counts the listed keys with this upper half by their lower halves, where the device's other counts were. */
static bool look_up(const PrimCall *call, RankParts *r, uint32_t upper)
{
    DevProgram *program = NULL;
    if (r->looked_up == upper) {
        return true;
    }
    const DevArg args[] = {dev_uint(r->read[AT_LISTED]), dev_uint(upper), dev_mem(call->scratch)};
    TRY(visit_bare_program(call, "", TEXTS, &program));
    TRY(dev_fill(call->dev, call->scratch, 0, BINS * sizeof *r->read, 0, call->err));
    TRY(visit_launch(call, &(VisitLaunch){.program = program,
                                          .kernel = "rank_parts_listed",
                                          .groups = visit_groups(call, true),
                                          .group = visit_group(call),
                                          .args = args,
                                          .n_args = 3}));
    TRY(dev_read(call->dev, call->scratch, 0, r->read, BINS * sizeof *r->read, call->err));
    for (int i = 0; i < BINS; i++) {
        r->listed[i] = r->read[i];
    }
    r->looked_up = upper;
    return true;
}

static bool count(const PrimCall *call, RankParts *r, DevProgram *program)
{
    uint64_t pixels = (uint64_t)call->w * (uint64_t)call->h * (uint64_t)call->planes;
    if (call->part.first) {
        memset(r->bins, 0, sizeof r->bins);
        r->smallest = UINT32_MAX;
        r->looked_up = NOWHERE;
    } else if (r->waiting + pixels > UINT32_MAX) {
        r->guess.span = 0; /* the list begins anew */
        TRY(fetch(call, r));
    }
    TRY(r->waiting > 0 || clear(call));
    r->waiting += pixels;
    const DevArg args[] = {dev_int(call->w),         dev_int(call->h),        dev_uint(visit_tiles(call)),
                           dev_uint(r->guess.full),  dev_uint(r->guess.from), dev_uint(r->guess.span),
                           dev_uint(capacity(call)), dev_mem(call->scratch)};
    return visit_launch(call, &(VisitLaunch){.program = program,
                                             .kernel = "rank_parts_count",
                                             .reads = true,
                                             .groups = visit_groups(call, false),
                                             .group = visit_group(call),
                                             .args = args,
                                             .n_args = 8});
}

/* Counts of all owners. */
static bool share(const PrimCall *call, RankParts *r)
{
    enum { WORDS = ALL + 1 };
    uint64_t *own = malloc(WORDS * sizeof *own);
    OwnersPiece *pieces = NULL;
    if (own == NULL) {
        return host_no_memory(call);
    }
    memcpy(own, r->bins, sizeof r->bins);
    own[ALL] = r->smallest;
    pieces = share_tell(call, own, WORDS * sizeof *own);
    for (int k = 0; pieces != NULL && k < call->owners->n; k++) {
        const uint64_t *of = pieces[k].bytes;
        for (int i = 0; k != call->owners->number && i < ALL; i++) {
            r->bins[i] += of[i];
        }
        r->smallest = of[ALL] < r->smallest ? (uint32_t)of[ALL] : r->smallest;
    }
    share_drop(call, pieces);
    free(own);
    return pieces != NULL;
}

/* Counts of upper halves that are counted in full join the others; all of them. */
static uint64_t add_up(RankParts *r)
{
    uint64_t all = 0;
    for (uint32_t nth = 0; nth < GUESSED && r->guess.full + nth < BINS; nth++) {
        for (int i = 0; i < BINS; i++) {
            r->bins[r->guess.full + nth] += r->bins[(1 + nth) * BINS + (uint32_t)i];
        }
    }
    for (int i = 0; i < BINS; i++) {
        all += r->bins[i];
    }
    return all;
}

/* ---- finding --------------------------------------------------------------------------------- */

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

/* The key of a rank if it is known, else its upper half. */
static bool find_key(const PrimCall *call, RankParts *r, uint64_t rank, uint32_t *key, bool *known)
{
    uint32_t upper = find_bin(r->bins, &rank), nth = upper - r->guess.full;
    *known = true;
    if (nth < GUESSED) {
        *key = upper << HALF | find_bin(r->bins + (1 + nth) * BINS, &rank);
    } else if (is_listed(call, r, upper)) {
        TRY(look_up(call, r, upper));
        *key = upper << HALF | find_bin(r->listed, &rank);
    } else {
        *key = upper;
        *known = false;
    }
    return true;
}

/* The key of the rank behind that of `key`, which is known. */
static bool find_next(const PrimCall *call, RankParts *r, uint64_t rank, uint32_t key, uint32_t *next, bool *known)
{
    TRY(find_key(call, r, rank, next, known));
    if (!*known && key >> HALF < r->guess.full + GUESSED) {
        *next = r->smallest;
        *known = true;
    }
    return true;
}

/* Upper halves around that of the rank; listed are at most so many pixels on each side. */
static Guess guess_around(const uint64_t *bins, uint32_t upper, double most)
{
    uint32_t full = upper > 0 ? upper - 1 : 0, from = full, to = full + GUESSED < BINS ? full + GUESSED : BINS;
    double below = 0, above = 0;
    while (from > 0 && below + (double)bins[from - 1] <= most) {
        below += (double)bins[--from];
    }
    while (to < BINS && above + (double)bins[to] <= most) {
        above += (double)bins[to++];
    }
    return (Guess){full, from, to - from};
}

/* A third of the list for each side, a third for what will be otherwise; `share` of all pixels were counted. */
static double most_on_a_side(const PrimCall *call, double share)
{
    return (double)capacity(call) / 3 * share;
}

static double position(double percent, uint64_t all)
{
    return percent / 100 * ((double)all - 1);
}

/* ---- guesses --------------------------------------------------------------------------------- */

/* In a note: 0 is none. */
static uint64_t note_of(Guess guess)
{
    return (uint64_t)1 << 48 | (uint64_t)guess.full << 32 | (uint64_t)guess.from << 16 | (guess.span - 1);
}

static Guess guess_of(uint64_t note)
{
    return note == 0 ? (Guess){NOWHERE, 0, 0}
                     : (Guess){(uint32_t)(note >> 32) & (BINS - 1), (uint32_t)(note >> 16) & (BINS - 1),
                               ((uint32_t)note & (BINS - 1)) + 1};
}

/* After the first part: what it has is likely to be what all have. */
static bool guess_from_part(const PrimCall *call, RankParts *r, double percent)
{
    TRY(fetch(call, r));
    uint64_t all = add_up(r), rank = all > 0 ? (uint64_t)position(percent, all) : 0;
    if (all > 0) {
        double share = (double)call->w * call->h * call->planes / all_pixels(call);
        r->guess = guess_around(r->bins, find_bin(r->bins, &rank), most_on_a_side(call, share));
    }
    return true;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static double value_of(uint32_t key)
{
    uint32_t bits = key >> 31 ? key ^ 0x80000000 : ~key;
    float v;
    memcpy(&v, &bits, sizeof v);
    return (double)v;
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
    TRY(fetch(call, r) && (call->owners == NULL || share(call, r)));
    uint64_t all = add_up(r);
    if (all == 0) {
        call->done = true;
        return host_value(call, (double)NAN);
    }
    double at = position(percent, all);
    uint64_t k = (uint64_t)at;
    uint32_t key, next = 0;
    bool known;
    TRY(find_key(call, r, k, &key, &known));
    uint32_t upper = known ? key >> HALF : key;
    TRY(!known || find_next(call, r, k + 1 < all ? k + 1 : k, key, &next, &known));
    if (!known) {
        r->guess = (Guess){upper > 0 ? upper - 1 : 0, 0, 0};
        return true;
    }
    if (call->note != NULL) {
        *call->note = note_of(guess_around(r->bins, upper, most_on_a_side(call, 1)));
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
    const PrimPart *part = &call->part;
    TRY(visit_check_count(call));
    TRY(visit_program(call, "", TEXTS, &program));
    if (part->first && part->pass == 0) {
        r->guess = guess_of(call->note != NULL ? *call->note : 0);
    }
    r->guess.span = call->owners == NULL ? r->guess.span : 0;
    TRY(count(call, r, program));
    if (part->first && !part->last && r->guess.full == NOWHERE && call->owners == NULL) {
        TRY(guess_from_part(call, r, percent) && count(call, r, program));
    }
    return !part->last || finish(call, r, percent);
}
