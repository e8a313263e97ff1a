/*
 * measure_finish: from an object's lanes of sums to a row of the table.
 *
 * Digits are put together without rounding (base/exact.h); what the formulae then do is in
 * base/measure_values.c.
 */
#include "measuring.h"

#include "../base/exact.h"

#include <math.h>
#include <string.h>

static int64_t lane(const Measuring *m, int at, uint32_t k)
{
    return (int64_t)m->sums[(size_t)at * m->n + k];
}

static double lane_double(const Measuring *m, int at, uint32_t k)
{
    double v;
    memcpy(&v, &m->sums[(size_t)at * m->n + k], sizeof v);
    return v;
}

/* A sum of `digits` lanes with the last bit worth 2^base. */
static void join_digits(const Measuring *m, int at, int digits, int base, uint32_t k, double out[2])
{
    if (digits == 1) {
        int64_t v = lane(m, at, k);
        if (v > -(1LL << 53) && v < 1LL << 53) {
            out[0] = ldexp((double)v, base);
            out[1] = 0;
            return;
        }
    }
    Exact sum;
    exact_clear(&sum);
    for (int i = 0; i < digits; i++) {
        exact_add(&sum, lane(m, at + i, k), base + 32 * i);
    }
    exact_round(&sum, out);
}

/* The inverse of order_key in kernels/measure.cl. */
static double value_of(uint32_t key)
{
    uint32_t bits = key >> 31 ? key ^ 0x80000000 : ~key;
    float v;
    memcpy(&v, &bits, sizeof v);
    return (double)v;
}

static void read_range(const Measuring *m, int at, uint32_t k, MeasureIntensity *v)
{
    uint32_t high = ~m->minima[(size_t)(at + 1) * m->n + k];
    v->max = value_of(high);
    v->min = isnan(v->max) ? (double)NAN : value_of(m->minima[(size_t)at * m->n + k]);
}

static void read_intensity(const Measuring *m, int image, uint32_t k, MeasureIntensity *v)
{
    const ImageLanes *at = &m->lanes.image[image];
    unsigned needs = m->list.image_needs[image];
    v->min = v->max = 0;
    if (needs & MEASURE_SUM) {
        join_digits(m, at->sum, at->sum_digits, at->base, k, v->sum);
    }
    if (needs & MEASURE_SQUARE) {
        int base = at->kind == 0 ? 2 * at->base : at->base2;
        join_digits(m, at->square, at->square_digits, base, k, v->square);
    }
    for (int axis = 0; axis < m->frame.dims && (needs & MEASURE_CENTER); axis++) {
        join_digits(m, at->by[axis], at->by_digits, at->base, k, v->by[axis]);
    }
    if (at->range >= 0) {
        read_range(m, at->range, k, v);
        measure_close(v);
    }
    if (at->median >= 0) {
        uint64_t middle = m->sums[(size_t)at->median * m->n + k];
        v->median = (value_of((uint32_t)(middle >> 32)) + value_of((uint32_t)middle)) / 2;
    }
    for (int i = 0; i < (m->lanes.space ? 64 : 16) && at->weighted >= 0; i++) {
        v->moments[i] = lane_double(m, at->weighted + i, k);
    }
}

static void read_outline(const Measuring *m, uint32_t k, MeasureObject *o)
{
    const MeasureLanes *at = &m->lanes;
    for (int i = 0; i < 3 && at->perimeter >= 0; i++) {
        o->perimeter[i] = lane(m, at->outline + at->perimeter + i, k);
    }
    for (int i = 0; i < 5 && at->crofton >= 0; i++) {
        o->crofton[i] = lane(m, at->outline + at->crofton + i, k);
    }
    if (at->euler >= 0) {
        o->euler = lane(m, at->outline + at->euler, k);
    }
}

static void read_object(const Measuring *m, uint32_t k, MeasureObject *o)
{
    const MeasureLanes *at = &m->lanes;
    o->label = m->first + k;
    o->count = (uint64_t)lane(m, 0, k);
    for (int axis = 0; axis < 3; axis++) {
        o->sum[axis] = axis < m->frame.dims ? lane(m, 1 + axis, k) : 0;
    }
    measuring_box(m, k, o->lo, o->hi);
    read_outline(m, k, o);
    if (at->convex >= 0) {
        o->convex = at->space ? m->hull[k] : (double)lane(m, at->convex, k);
    }
    if (at->feret >= 0) {
        o->feret = at->space ? m->feret[k] : lane_double(m, at->feret, k);
    }
    if (at->filled >= 0) {
        o->filled = (double)lane(m, at->filled, k);
    }
    for (int i = 0; i < (at->space ? 64 : 16) && at->moments >= 0; i++) {
        o->moments[i] = lane_double(m, at->moments + i, k);
    }
}

void measuring_box(const Measuring *m, uint32_t k, int32_t lo[3], int32_t hi[3])
{
    lo[2] = hi[2] = 0;
    for (int axis = 0; axis < m->frame.dims; axis++) {
        lo[axis] = (int32_t)m->minima[(size_t)axis * m->n + k];
        hi[axis] = (int32_t)~m->minima[(size_t)(axis + m->frame.dims) * m->n + k];
    }
}

bool measuring_finish(const Measuring *m, PrimTable *table)
{
    static const MeasureObject EMPTY = {0};
    MeasureObject object = EMPTY;
    MeasureIntensity intensity[MEASURE_MAX_IMAGES] = {0};
    double values[MEASURE_MAX_MOMENTS];
    for (uint32_t k = 0; k < m->n; k++) {
        if (lane(m, 0, k) == 0) {
            continue;
        }
        read_object(m, k, &object);
        for (int i = 0; i < m->list.images; i++) {
            read_intensity(m, i, k, &intensity[i]);
        }
        double *to = table->at + table->rows;
        for (int i = 0; i < m->list.n; i++) {
            const MeasureItem *item = &m->list.at[i];
            int columns = measure_columns(item->measure, m->frame.dims);
            measure_value(item->measure, &m->frame, &object, &intensity[item->image], values);
            for (int c = 0; c < columns; c++, to += m->count) {
                *to = values[c];
            }
        }
        *to = object.label;
        table->rows++;
    }
    return true;
}
