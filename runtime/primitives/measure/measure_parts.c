/*
 * measure_parts: the objects of an image that comes in parts.
 *
 * Passes over the parts: how far pixel values spread, where sums need that (Measuring.looks); the sums; and what
 * needs an object's box.  Coordinates are those of the image, so sums simply go on from part to part in
 * scratch, and are finished after the last one as those of a whole image are.  Objects that lie in one
 * part go through the stages there; what parts have of those that are cut is kept until they end
 * (measure_cuts.c).  Hulls that are to be painted are so in a pass of their own, when those of cut
 * objects are known.
 *
 * Labels beyond those whose sums scratch has room for are chunks of their own: each part is measured
 * for one chunk after the other, whose sums wait on the host in between.  Only chunks that have labels
 * in a part have a turn with it.
 */
#include "measure_cuts.h"
#include "../prim_share.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

typedef enum Phase { PHASE_SPREAD, PHASE_SUMS, PHASE_STAGES, PHASE_PAINT } Phase;

/* A chunk of labels, and its sums while another one has scratch. */
typedef struct Chunk {
    Measuring m;
    uint64_t *sums; /* [lane][n] */
    uint32_t *lows;
    int32_t from, to; /* rows (planes) of the first and of the last part with some of its labels; to < from:
                         none yet, and no sums */
} Chunk;

typedef struct Parts {
    Chunk *chunks;
    uint32_t n, labels;
    bool waits; /* chunks have scratch in turn */
    bool finished;
} Parts;

/* How many passes a phase takes. */
static int rounds_of(const Measuring *m, Phase phase)
{
    bool median = false;
    switch (phase) {
    case PHASE_SPREAD:
        return m->looks ? 1 : 0;
    case PHASE_STAGES:
        for (int k = 0; k < m->list.images; k++) {
            median = median || m->lanes.image[k].median >= 0;
        }
        return median ? MEASURE_MEDIAN_ROUNDS : measuring_has_stages(m) ? 1 : 0;
    default:
        return 1;
    }
}

/* The phase of a pass, and which of its rounds. */
static Phase phase_of(const Measuring *m, int pass, int *round)
{
    Phase phase = PHASE_SPREAD;
    *round = pass;
    while (*round >= rounds_of(m, phase)) {
        *round -= rounds_of(m, phase++);
    }
    return phase;
}

/* ---- chunks ---------------------------------------------------------------------------- */

void measure_parts_forget(void *state)
{
    Parts *p = state;
    for (uint32_t i = 0; p != NULL && p->chunks != NULL && i < p->n; i++) {
        measure_cuts_free(&p->chunks[i].m);
        free(p->chunks[i].sums);
        free(p->chunks[i].lows);
    }
    if (p != NULL) {
        free(p->chunks);
        free(p);
    }
}

static bool open_chunk(Chunk *chunk, bool waits)
{
    Measuring *m = &chunk->m;
    if (waits) {
        chunk->sums = malloc((size_t)m->lanes.all * m->n * sizeof *chunk->sums);
        chunk->lows = malloc((size_t)m->lanes.lows * m->n * sizeof *chunk->lows);
    }
    return !waits || (chunk->sums != NULL && chunk->lows != NULL) || measuring_no_memory(m);
}

static bool open_chunks(Parts *p, const Measuring *base)
{
    uint32_t each = base->at.objects;
    uint32_t n = p->labels == 0 ? 0 : (p->labels - 1) / each + 1;
    p->chunks = calloc((size_t)n + 1, sizeof *p->chunks);
    if (p->chunks == NULL) {
        return measuring_no_memory(base);
    }
    for (; p->n < n; p->n++) {
        Measuring *m = &p->chunks[p->n].m;
        *m = *base;
        p->chunks[p->n].from = INT32_MAX;
        p->chunks[p->n].to = -1;
        m->first = p->n * each + 1;
        m->n = p->labels - m->first < each ? p->labels - m->first + 1 : each;
    }
    p->waits = n > 1 || (base->result == MEASURE_MASK && base->call->part.channels > 1);
    for (uint32_t i = 0; i < n; i++) {
        TRY(open_chunk(&p->chunks[i], p->waits));
    }
    return true;
}

/* With the first call. */
static bool begin(PrimCall *call, MeasureResult result)
{
    measure_parts_forget(*call->state);
    Parts *p = *call->state = calloc(1, sizeof *p);
    if (p == NULL) {
        return err_set(call->err, CODE_MEMORY, "%s: no memory", call->name);
    }
    Measuring base;
    assert(!isnan(call->labels));
    TRY(measuring_open(call, &base));
    base.result = result;
    base.count = p->labels = call->labels > 0 && call->labels < UINT32_MAX ? (uint32_t)call->labels : 0;
    base.at.objects = base.at.objects < p->labels ? base.at.objects : p->labels;
    TRY(measuring_begin_result(&base));
    return open_chunks(p, &base);
}

static size_t sums_bytes(const Measuring *m)
{
    return (size_t)m->lanes.all * m->n * sizeof(uint64_t);
}

static size_t lows_bytes(const Measuring *m)
{
    return (size_t)m->lanes.lows * m->n * sizeof(uint32_t);
}

static bool give_sums(const Chunk *chunk)
{
    const Measuring *m = &chunk->m;
    const PrimCall *call = m->call;
    TRY(dev_write(call->dev, m->table, 0, chunk->sums, sums_bytes(m), call->err));
    return dev_write(call->dev, m->lows, 0, chunk->lows, lows_bytes(m), call->err);
}

static bool take_sums(Chunk *chunk)
{
    const Measuring *m = &chunk->m;
    const PrimCall *call = m->call;
    TRY(dev_read(call->dev, m->table, 0, chunk->sums, sums_bytes(m), call->err));
    return dev_read(call->dev, m->lows, 0, chunk->lows, lows_bytes(m), call->err);
}

/* The labels that the part has something of. */
typedef struct Reach {
    uint32_t least, most;
} Reach;

/* Whether the chunk has labels in the part, which the sums pass finds out. */
static bool note_reach(Chunk *chunk, const Reach *reach)
{
    const Measuring *m = &chunk->m;
    int32_t from, to;
    (void)measuring_cut_axis(m, &from, &to);
    bool has = reach->least < m->first + m->n && reach->most >= m->first;
    if (has) {
        chunk->from = from < chunk->from ? from : chunk->from;
        chunk->to = to > chunk->to ? to : chunk->to;
    }
    return has;
}

/* The same afterwards. */
static bool has_turn(const Chunk *chunk)
{
    int32_t from, to;
    (void)measuring_cut_axis(&chunk->m, &from, &to);
    return chunk->from <= to && chunk->to >= from;
}

/* ---- phases ---------------------------------------------------------------------------- */

/* What is done for a chunk. */
typedef bool ChunkWork(Measuring *m, int round);

static bool sums_phase(Measuring *m, int round)
{
    (void)round;
    TRY(measuring_add_sums(m));
    return measuring_add_outline(m);
}

static bool stages_phase(Measuring *m, int round)
{
    TRY(m->cuts != NULL || measure_cuts_begin(m));
    TRY(round > 0 || measure_cuts_stages(m));
    return measure_cuts_count(m, round);
}

static bool paint_phase(Measuring *m, int round)
{
    (void)round;
    return measure_cuts_paint(m);
}

/* What all owners have of the sums: all lanes are sums or minima of whole numbers. */
static bool share_phase(Measuring *m, int round)
{
    (void)round;
    return share_add_words(m->call, m->table, (size_t)m->lanes.all * m->n) &&
           share_least(m->call, m->lows, (size_t)m->lanes.lows * m->n, false);
}

static bool finish_phase(Measuring *m, int round)
{
    (void)round;
    return measuring_finish(m);
}

/* Does something for a chunk with its sums where they belong. */
static bool take_turn(Chunk *chunk, bool waits, bool fresh, ChunkWork *work, int round)
{
    Measuring *m = &chunk->m;
    bool ok = measuring_open_slices(m) && (fresh ? measuring_clear_sums(m) : !waits || give_sums(chunk)) &&
              work(m, round) && (!waits || take_sums(chunk));
    measuring_close_slices(m);
    return ok;
}

static bool find_reach(PrimCall *call, Reach *reach)
{
    Parts *p = *call->state;
    Measuring *m = &p->chunks[0].m;
    *reach = (Reach){1, UINT32_MAX};
    bool ok = measuring_open_slices(m);
    ok = ok && (!p->waits || measuring_find_reach(m, measure_parts_halo(call), &reach->least, &reach->most));
    measuring_close_slices(m);
    return ok;
}

/* The chunks that the work is about, in turn. */
static bool each_chunk(PrimCall *call, ChunkWork *work, int round)
{
    Parts *p = *call->state;
    Reach reach = {0, 0};
    p->chunks[0].m.call = call;
    TRY(work != sums_phase || find_reach(call, &reach));
    for (uint32_t i = 0; i < p->n; i++) {
        Chunk *chunk = &p->chunks[i];
        bool fresh = chunk->to < chunk->from;
        chunk->m.call = call;
        chunk->m.strip = measuring_strip(call);
        bool turn = work == sums_phase ? note_reach(chunk, &reach) : work == finish_phase ? true : has_turn(chunk);
        TRY(!turn || take_turn(chunk, p->waits, fresh, work, round));
    }
    return true;
}

/* The parts of the chunk's labels are those that any owner has seen. */
static bool share_reach(const PrimCall *call, Chunk *chunk)
{
    int32_t own[] = {chunk->from, chunk->to};
    OwnersPiece *pieces = share_tell(call, own, sizeof own);
    for (int k = 0; pieces != NULL && k < call->owners->n; k++) {
        const int32_t *of = pieces[k].bytes;
        chunk->from = of[0] < chunk->from ? of[0] : chunk->from;
        chunk->to = of[1] > chunk->to ? of[1] : chunk->to;
    }
    share_drop(call, pieces);
    return pieces != NULL;
}

/* After the sums of this owner's parts those of all. */
static bool share_sums(PrimCall *call)
{
    Parts *p = *call->state;
    for (uint32_t i = 0; i < p->n; i++) {
        Chunk *chunk = &p->chunks[i];
        chunk->m.call = call;
        TRY(take_turn(chunk, p->waits, chunk->to < chunk->from, share_phase, 0) && share_reach(call, chunk));
    }
    return true;
}

/* The lanes that fit the pixel values are the same for all chunks. */
static bool fix_lanes(Parts *p)
{
    TRY(measuring_fix_lanes(&p->chunks[0].m, NULL));
    for (uint32_t i = 1; i < p->n; i++) {
        p->chunks[i].m.lanes = p->chunks[0].m.lanes;
    }
    return true;
}

static bool spread_phase(Parts *p)
{
    Measuring *m = &p->chunks[0].m;
    TRY(!m->call->part.first || measuring_clear_spread(m));
    TRY(measuring_find_spread(m));
    TRY(m->call->owners == NULL || !m->call->part.last ||
        share_least(m->call, m->numbers, 3 * MEASURE_MAX_IMAGES, true));
    return !m->call->part.last || fix_lanes(p);
}

/* What comes before the chunks have their turns. */
static bool prepare(PrimCall *call, Phase phase)
{
    Parts *p = *call->state;
    Measuring *m = &p->chunks[0].m;
    m->call = call;
    m->strip = measuring_strip(call);
    bool ok = measuring_open_slices(m);
    if (phase == PHASE_SPREAD) {
        ok = ok && spread_phase(p);
    } else if (call->part.pass == 0 && call->part.first) {
        ok = ok && fix_lanes(p);
    }
    measuring_close_slices(m);
    return ok;
}

/* True behind the last part of the last pass, or of one after which the others have nothing to do. */
static bool is_finished(const PrimCall *call, Phase phase, int round)
{
    const Parts *p = *call->state;
    int stages = rounds_of(&p->chunks[0].m, PHASE_STAGES);
    bool medians = false;
    for (uint32_t i = 0; phase == PHASE_STAGES && i < p->n; i++) {
        medians = medians || measure_cuts_have_medians(&p->chunks[i].m);
    }
    bool last =
        phase == PHASE_STAGES ? round == stages - 1 || (round == 0 && !medians) : phase == PHASE_SUMS && stages == 0;
    return call->part.last && last;
}

bool measure_parts_run(PrimCall *call, MeasureResult result)
{
    static ChunkWork *const PHASES[] =
        {[PHASE_SUMS] = sums_phase, [PHASE_STAGES] = stages_phase, [PHASE_PAINT] = paint_phase};
    if (call->part.pass == 0 && call->part.first) {
        TRY(begin(call, result));
    }
    Parts *p = *call->state;
    if (p->n == 0) {
        call->done = call->part.last;
        return true;
    }
    int round = 0;
    Phase phase = phase_of(&p->chunks[0].m, call->part.pass, &round);
    bool idle = phase == PHASE_STAGES && round > 0 && p->finished;
    TRY(prepare(call, phase));
    if (phase == PHASE_SPREAD || idle) {
        return true;
    }
    TRY(each_chunk(call, PHASES[phase], round));
    TRY(call->owners == NULL || !call->part.last || share_sums(call));
    if (result == MEASURE_MASK || !is_finished(call, phase, round)) {
        return true;
    }
    TRY(each_chunk(call, finish_phase, round));
    TRY(measuring_close_result(&p->chunks[0].m));
    p->finished = call->done = true;
    return true;
}

/* ---- what the executor asks ------------------------------------------------------------ */

static bool open_quietly(const PrimCall *call, Measuring *m)
{
    Err ignored = {0};
    PrimCall copy = *call;
    copy.err = &ignored;
    bool ok = measuring_open(&copy, m);
    m->call = NULL;
    return ok;
}

/* An object in several channels would be in several parts at a time. */
int measure_parts_passes(const PrimCall *call, MeasureResult result)
{
    Measuring m;
    if (!open_quietly(call, &m) || (measuring_has_stages(&m) && call->part.channels > 1)) {
        return 0;
    }
    return rounds_of(&m, PHASE_SPREAD) + rounds_of(&m, PHASE_SUMS) + rounds_of(&m, PHASE_STAGES) +
           (result == MEASURE_MASK ? 1 : 0);
}

bool measure_parts_shares(const PrimCall *call)
{
    Measuring m;
    int round;
    return open_quietly(call, &m) && phase_of(&m, call->part.pass, &round) <= PHASE_SUMS;
}

int measure_parts_halo(const PrimCall *call)
{
    Measuring m;
    bool border = open_quietly(call, &m) && m.lanes.perimeter >= 0;
    return border ? 2 : m.lanes.n_outline > 0 ? 1 : 0;
}
