/*
 * measure_ahead: the programs of a measurement, compiled before anything has run.
 *
 * Which sums hold what the pixels' values add up to is known only when these have been looked at.  Here they
 * are guessed to be whole numbers of 16 bits or floats like most; where they are not, what depends on it is
 * compiled again when they are known.
 */
#include "measure_rows.h"

extern const char kernel_text_measure_range[], kernel_text_measure[], kernel_text_measure_outline[];
extern const char kernel_text_measure_median[], kernel_text_measure_fill[];
extern const char kernel_text_measure_values[];

static bool range_ahead(const Measuring *m, DevProgram **program)
{
    return !m->looks || measuring_program(m, kernel_text_measure_range, true, 0, program);
}

static bool sums_ahead(const Measuring *m, DevProgram **program)
{
    return measuring_program(m, kernel_text_measure, true, 0, program);
}

static bool reach_ahead(const Measuring *m, DevProgram **program)
{
    return !m->call->part.cut || measuring_reach_program(m, program);
}

static bool outline_ahead(const Measuring *m, DevProgram **program)
{
    return m->lanes.n_outline == 0 || measuring_program(m, kernel_text_measure_outline, true, 0, program);
}

static bool has_median(const Measuring *m)
{
    bool median = false;
    for (int k = 0; k < m->list.images; k++) {
        median = median || m->lanes.image[k].median >= 0;
    }
    return median;
}

static bool places_ahead(const Measuring *m, DevProgram **program)
{
    bool wanted = measuring_has_rows(m) || has_median(m) || m->lanes.filled >= 0;
    return !wanted || measuring_places_program(m, program);
}

static bool rows_ahead(const Measuring *m, DevProgram **program)
{
    return !measuring_has_rows(m) || measure_rows_reads(m, program);
}

static bool space_ahead(const Measuring *m, DevProgram **program)
{
    return m->lanes.convex < 0 || !m->lanes.space || measure_space_program(m, program);
}

static bool moments_ahead(const Measuring *m, DevProgram **program)
{
    return m->lanes.moments < 0 || measure_rows_moments(m, program);
}

static bool fill_ahead(const Measuring *m, DevProgram **program)
{
    return m->lanes.filled < 0 || measuring_program(m, kernel_text_measure_fill, true, 0, program);
}

static bool median_ahead(const Measuring *m, DevProgram **program)
{
    return !has_median(m) || measuring_program(m, kernel_text_measure_median, false, 0, program);
}

/* Those for the values of one image. */
static bool values_ahead(const Measuring *m, int image, DevProgram **program)
{
    const ImageLanes *lanes = &m->lanes.image[image];
    bool wanted = image < m->list.images && (lanes->median >= 0 || lanes->weighted >= 0);
    return !wanted || measuring_program(m, kernel_text_measure_values, true, image + 1, program);
}

bool measuring_program_ahead(const PrimCall *call, int which, DevProgram **program)
{
    static bool (*const AHEAD[])(const Measuring *, DevProgram **) = {sums_ahead,        range_ahead,
                                                                      outline_ahead,     measuring_finish_program,
                                                                      places_ahead,      rows_ahead,
                                                                      measure_rows_hull, space_ahead,
                                                                      moments_ahead,     median_ahead,
                                                                      fill_ahead,        reach_ahead};
    enum { OF_ALL = sizeof AHEAD / sizeof *AHEAD };
    _Static_assert(OF_ALL + MEASURE_MAX_IMAGES == MEASURING_AHEAD, "count them");
    static const MeasureSpread short_numbers = {16, 0, 0}, floats = {8, -24, 0};
    MeasureSpread spread[MEASURE_MAX_IMAGES];
    PrimCall own = *call;
    Measuring m;
    TRY(measuring_open(&own, &m));
    for (int k = 0; k < MEASURE_MAX_IMAGES; k++) {
        spread[k] = k < m.list.images && elem_is_integer(call->pixels[1 + k]) ? short_numbers : floats;
    }
    if (which >= OF_ALL || AHEAD[which] != range_ahead) {
        measure_lanes(&m.list, spread, call, &m.lanes);
    }
    return which < OF_ALL ? AHEAD[which](&m, program) : values_ahead(&m, which - OF_ALL, program);
}
