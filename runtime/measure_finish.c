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

enum { MOST_DIGITS = 8 };

static int64_t lane(const Measuring *m, int at, uint32_t k)
{
    return (int64_t)m->sums[(size_t)at * m->block + k];
}

static double lane_double(const Measuring *m, int at, uint32_t k)
{
    double v;
    memcpy(&v, &m->sums[(size_t)at * m->block + k], sizeof v);
    return v;
}

/* A sum of `digits` lanes with the last bit worth 2^base. */
static void join_digits(const Measuring *m, int at, int digits, int base, uint32_t k, double out[2])
{
    int64_t digit[MOST_DIGITS];
    for (int i = 0; i < digits; i++) {
        digit[i] = lane(m, at + i, k);
    }
    exact_join(digit, digits, base, out);
}

static void read_moments(const Measuring *m, int at, uint64_t mask, uint32_t k, double *out)
{
    for (int i = 0; mask != 0; i++, mask >>= 1) {
        if (mask & 1) {
            out[i] = lane_double(m, at++, k);
        }
    }
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
    uint32_t high = ~m->minima[(size_t)(at + 1) * m->block + k];
    v->max = value_of(high);
    v->min = isnan(v->max) ? (double)NAN : value_of(m->minima[(size_t)at * m->block + k]);
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
        uint64_t middle = m->sums[(size_t)at->median * m->block + k];
        v->median = (value_of((uint32_t)(middle >> 32)) + value_of((uint32_t)middle)) / 2;
    }
    read_moments(m, at->weighted, at->weighted_mask, k, v->moments);
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

/* Moments of orders 0 and 1 follow from the count and the sums. */
static void read_shape(const Measuring *m, uint32_t k, MeasureObject *o)
{
    const MeasureLanes *at = &m->lanes;
    if (at->moments < 0) {
        return;
    }
    o->moments[0] = (double)o->count;
    for (int axis = 0; axis < m->frame.dims; axis++) {
        int64_t anchor = measure_anchor(o->sum[axis], o->count);
        o->moments[1 << 2 * axis] = (double)(o->sum[axis] - anchor * (int64_t)o->count);
    }
    read_moments(m, at->moments, at->moments_mask, k, o->moments);
}

/* Object k of the block that begins with object `begin` of the chunk. */
static void read_object(const Measuring *m, uint32_t begin, uint32_t k, MeasureObject *o)
{
    const MeasureLanes *at = &m->lanes;
    o->label = m->first + begin + k;
    o->count = (uint64_t)lane(m, 0, k);
    for (int axis = 0; axis < 3; axis++) {
        o->sum[axis] = axis < m->frame.dims ? lane(m, 1 + axis, k) : 0;
    }
    measuring_box(m->minima, m->block, m->frame.dims, k, o->lo, o->hi);
    read_outline(m, k, o);
    read_shape(m, k, o);
    if (at->convex >= 0) {
        o->convex = at->space ? m->hull[begin + k] : (double)lane(m, at->convex, k);
    }
    if (at->feret >= 0) {
        o->feret = at->space ? m->feret[begin + k] : lane_double(m, at->feret, k);
    }
    if (at->filled >= 0) {
        o->filled = (double)lane(m, at->filled, k);
    }
}

static void append(const Measuring *m, const MeasureObject *object,
                   const MeasureIntensity *intensity, PrimTable *table)
{
    double values[MEASURE_MAX_MOMENTS];
    double *to = table->at + table->rows;
    for (int i = 0; i < m->list.n; i++) {
        const MeasureItem *item = &m->list.at[i];
        int columns = measure_columns(item->measure, m->frame.dims);
        measure_value(item->measure, &m->frame, object, &intensity[item->image], values);
        for (int c = 0; c < columns; c++, to += m->count) {
            *to = values[c];
        }
    }
    *to = object->label;
    table->rows++;
}

void measuring_box(const uint32_t *minima, size_t stride, int dims, uint32_t k, int32_t lo[3],
                   int32_t hi[3])
{
    lo[2] = hi[2] = 0;
    for (int axis = 0; axis < dims; axis++) {
        lo[axis] = (int32_t)minima[(size_t)axis * stride + k];
        hi[axis] = (int32_t)~minima[(size_t)(axis + dims) * stride + k];
    }
}

bool measuring_finish(Measuring *m, PrimTable *table)
{
    PrimCall *call = m->call;
    MeasureObject object = {0};
    MeasureIntensity intensity[MEASURE_MAX_IMAGES];
    memset(intensity, 0, sizeof intensity);
    for (size_t begin = 0; begin < m->n; begin += m->block) {
        size_t n = m->n - begin < m->block ? m->n - begin : m->block;
        TRY(dev_read_rows(call->dev, m->table, begin * 8, (size_t)m->n * 8, m->sums, m->block * 8,
                          n * 8, (size_t)m->lanes.all, call->err));
        TRY(dev_read_rows(call->dev, m->lows, begin * 4, (size_t)m->n * 4, m->minima, m->block * 4,
                          n * 4, (size_t)m->lanes.lows, call->err));
        for (uint32_t k = 0; k < n; k++) {
            if (lane(m, 0, k) == 0) {
                continue;
            }
            read_object(m, (uint32_t)begin, k, &object);
            for (int i = 0; i < m->list.images; i++) {
                read_intensity(m, i, k, &intensity[i]);
            }
            append(m, &object, intensity, table);
        }
    }
    return true;
}
