/*
 * measure_parts: the objects of an image that comes in parts.
 *
 * Passes over the parts: how far pixel values spread, where sums need that; then, for each chunk of
 * labels, the sums, and what needs their boxes.  Coordinates are those of the image, so a chunk's sums
 * simply go on from part to part in scratch, and are finished after the last one as those of a whole
 * image are.  Objects that lie in one part go through the stages there; those that are cut are
 * gathered (measure_cuts.c).
 */
#include "measure_cuts.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

typedef enum Phase { PHASE_SPREAD, PHASE_SUMS, PHASE_STAGES, PHASES } Phase;

/* How often a phase goes over the image, for each chunk where it is about objects. */
static int rounds_of(const Measuring *m, Phase phase)
{
    bool median = false;
    switch (phase) {
    case PHASE_SPREAD:
        return measuring_is_windowed(m) ? 1 : 0;
    case PHASE_STAGES:
        for (int k = 0; k < m->list.images; k++) {
            median = median || m->lanes.image[k].median >= 0;
        }
        return median ? MEASURE_MEDIAN_ROUNDS : measuring_has_stages(m) ? 1 : 0;
    default:
        return 1;
    }
}

static int count_chunks(const Measuring *m)
{
    return m->count == 0 ? 0 : (int)((m->count - 1) / m->at.objects + 1);
}

static int passes_of_chunk(const Measuring *m)
{
    int passes = 0;
    for (Phase phase = PHASE_SUMS; phase < PHASES; phase++) {
        passes += rounds_of(m, phase);
    }
    return passes;
}

/* The phase of a pass and which of its rounds; the chunk's labels go to m. */
static Phase phase_of(Measuring *m, int pass, int *round)
{
    int spread = rounds_of(m, PHASE_SPREAD);
    *round = 0;
    if (pass < spread) {
        return PHASE_SPREAD;
    }
    uint32_t chunk = (uint32_t)((pass - spread) / passes_of_chunk(m));
    m->first = chunk * m->at.objects + 1;
    uint32_t left = m->count - m->first + 1;
    m->n = left < m->at.objects ? left : m->at.objects;
    *round = (pass - spread) % passes_of_chunk(m);
    Phase phase = PHASE_SUMS;
    while (*round >= rounds_of(m, phase)) {
        *round -= rounds_of(m, phase++);
    }
    return phase;
}

/* ---- phases ---------------------------------------------------------------------------- */

static bool spread_phase(Measuring *m)
{
    TRY(!m->call->part.first || measuring_clear_spread(m));
    TRY(measuring_find_spread(m));
    return !m->call->part.last || measuring_fix_lanes(m);
}

static bool sums_phase(Measuring *m)
{
    TRY(!m->call->part.first || measuring_clear_sums(m));
    TRY(measuring_add_sums(m));
    return measuring_add_outline(m);
}

/* Behind the last part of a chunk's last pass. */
static bool finish_chunk(Measuring *m)
{
    PrimCall *call = m->call;
    TRY(measuring_finish(m, call->table));
    if (m->n > m->count - m->first) {
        measuring_close_table(m, call->table);
        call->done = true;
    }
    return true;
}

/* The last round of the chunk, or the rest have nothing to do. */
static bool is_finished(const Measuring *m, int round)
{
    return round == rounds_of(m, PHASE_STAGES) - 1 || !measure_cuts_have_medians(m);
}

static bool stages_phase(Measuring *m, int round)
{
    const PrimPart *part = &m->call->part;
    if (round == 0 && part->first) {
        TRY(measuring_read_boxes(m));
        TRY(measure_cuts_begin(m));
    } else if (round > 0 && !measure_cuts_have_medians(m)) {
        return true;
    }
    TRY(round > 0 || measure_cuts_stages(m));
    TRY(measure_cuts_count(m, round));
    if (!part->last) {
        return true;
    }
    measure_cuts_choose(m, round);
    if (!is_finished(m, round)) {
        return true;
    }
    TRY(measure_cuts_write(m));
    return finish_chunk(m);
}

/* ---- the measurement ------------------------------------------------------------------- */

static bool open_measuring(PrimCall *call, Measuring *m)
{
    TRY(measuring_open(call, m));
    m->count = call->labels > 0 && call->labels < UINT32_MAX ? (uint32_t)call->labels : 0;
    return true;
}

/* With the first call. */
static bool begin(PrimCall *call)
{
    Measuring *m = *call->state = calloc(1, sizeof *m);
    if (m == NULL) {
        return err_set(call->err, CODE_MEMORY, "%s: no memory", call->name);
    }
    assert(!isnan(call->labels));
    TRY(open_measuring(call, m));
    TRY(measuring_begin_table(m, call->table));
    return m->count == 0 || measuring_host_memory(m);
}

static bool run_phase(Measuring *m, int pass)
{
    int round = 0;
    if (pass == 0 && m->call->part.first && !measuring_is_windowed(m)) {
        TRY(measuring_fix_lanes(m));
    }
    Phase phase = phase_of(m, pass, &round);
    if (phase == PHASE_SPREAD) {
        return spread_phase(m);
    }
    if (phase == PHASE_STAGES) {
        return stages_phase(m, round);
    }
    TRY(sums_phase(m));
    bool last = m->call->part.last && rounds_of(m, PHASE_STAGES) == 0;
    return !last || finish_chunk(m);
}

bool measure_parts_run(PrimCall *call)
{
    if (call->part.pass == 0 && call->part.first) {
        measure_parts_forget(*call->state);
        *call->state = NULL;
        TRY(begin(call));
    }
    Measuring *m = *call->state;
    m->call = call;
    m->strip = measuring_strip(call);
    if (m->count == 0) {
        call->done = call->part.last;
        return true;
    }
    bool ok = measuring_open_slices(m) && run_phase(m, call->part.pass);
    measuring_close_slices(m);
    return ok;
}

void measure_parts_forget(void *state)
{
    if (state != NULL) {
        measure_cuts_free(state);
        measuring_free(state);
        free(state);
    }
}

/* ---- what the executor asks ------------------------------------------------------------ */

int measure_parts_passes(const PrimCall *call)
{
    Err ignored = {0};
    PrimCall copy = *call;
    Measuring m;
    copy.err = &ignored;
    /* An object in several channels would be in several parts at a time. */
    if (!open_measuring(&copy, &m) || (measuring_has_stages(&m) && call->part.channels > 1)) {
        return 0;
    }
    int chunks = count_chunks(&m) > 0 ? count_chunks(&m) : 1;
    return rounds_of(&m, PHASE_SPREAD) + chunks * passes_of_chunk(&m);
}

int measure_parts_halo(const PrimCall *call)
{
    Err ignored = {0};
    PrimCall copy = *call;
    Measuring m;
    copy.err = &ignored;
    bool border = measuring_open(&copy, &m) && m.lanes.perimeter >= 0;
    return border ? 2 : m.lanes.n_outline > 0 ? 1 : 0;
}
