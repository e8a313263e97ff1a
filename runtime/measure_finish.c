/*
 * measure_finish: from an object's lanes of sums to a row of the table.
 *
 * Digits are put together without rounding (base/exact.h); what the formulae then do is in
 * base/measure_values.c.
 *
 * Threads take block after block: who has the lock downloads one and knows its rows, for blocks are
 * taken in order; its formulae then run beside those of other blocks.  A table's columns lie far
 * apart, so that rows are put together in a tile, a few at a time.
 */
#include "measuring.h"

#include "../base/exact.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    MOST_DIGITS = 8,
    BLOCK = 4096, /* objects whose sums fit into a core's cache */
    TILE = 64,    /* rows */
    MOST_THREADS = 16,
    WORTH_A_THREAD = 1 << 15 /* values of the table */
};

/* What all threads share. */
typedef struct Finish {
    const Measuring *m;
    PrimTable *table;
    pthread_mutex_t lock; /* for what follows, and for the device */
    size_t next;          /* the first object that nobody has taken */
    bool ok;
} Finish;

/* A thread's block. */
typedef struct Block {
    Finish *finish;
    const Measuring *m;
    uint64_t *sums;   /* [lane][BLOCK] */
    uint32_t *minima; /* [lane][BLOCK] */
    double *tile;     /* [column][TILE], labels behind */
    size_t begin, n;  /* objects of the chunk */
    int64_t row;      /* of the table: the first that is not written */
    int rows;         /* in the tile */
    MeasureIntensity intensity[MEASURE_MAX_IMAGES];
    pthread_t thread;
} Block;

static int64_t lane(const Block *b, int at, uint32_t k)
{
    return (int64_t)b->sums[(size_t)at * BLOCK + k];
}

static double lane_double(const Block *b, int at, uint32_t k)
{
    double v;
    memcpy(&v, &b->sums[(size_t)at * BLOCK + k], sizeof v);
    return v;
}

/* A sum of `digits` lanes with the last bit worth 2^base. */
static void join_digits(const Block *b, int at, int digits, int base, uint32_t k, double out[2])
{
    int64_t digit[MOST_DIGITS];
    for (int i = 0; i < digits; i++) {
        digit[i] = lane(b, at + i, k);
    }
    exact_join(digit, digits, base, out);
}

static void read_moments(const Block *b, int at, uint64_t mask, uint32_t k, double *out)
{
    for (int i = 0; mask != 0; i++, mask >>= 1) {
        if (mask & 1) {
            out[i] = lane_double(b, at++, k);
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

static void read_range(const Block *b, int at, uint32_t k, MeasureIntensity *v)
{
    uint32_t high = ~b->minima[(size_t)(at + 1) * BLOCK + k];
    v->max = value_of(high);
    v->min = isnan(v->max) ? (double)NAN : value_of(b->minima[(size_t)at * BLOCK + k]);
}

static void read_intensity(const Block *b, int image, uint32_t k, MeasureIntensity *v)
{
    const ImageLanes *at = &b->m->lanes.image[image];
    unsigned needs = b->m->list.image_needs[image];
    v->min = v->max = 0;
    if (needs & MEASURE_SUM) {
        join_digits(b, at->sum, at->sum_digits, at->base, k, v->sum);
    }
    if (needs & MEASURE_SQUARE) {
        int base = at->kind == 0 ? 2 * at->base : at->base2;
        join_digits(b, at->square, at->square_digits, base, k, v->square);
    }
    for (int axis = 0; axis < b->m->frame.dims && (needs & MEASURE_CENTER); axis++) {
        join_digits(b, at->by[axis], at->by_digits, at->base, k, v->by[axis]);
    }
    if (at->range >= 0) {
        read_range(b, at->range, k, v);
        measure_close(v);
    }
    if (at->median >= 0) {
        uint64_t middle = b->sums[(size_t)at->median * BLOCK + k];
        v->median = (value_of((uint32_t)(middle >> 32)) + value_of((uint32_t)middle)) / 2;
    }
    read_moments(b, at->weighted, at->weighted_mask, k, v->moments);
}

static void read_outline(const Block *b, uint32_t k, MeasureObject *o)
{
    const MeasureLanes *at = &b->m->lanes;
    for (int i = 0; i < 3 && at->perimeter >= 0; i++) {
        o->perimeter[i] = lane(b, at->outline + at->perimeter + i, k);
    }
    for (int i = 0; i < 5 && at->crofton >= 0; i++) {
        o->crofton[i] = lane(b, at->outline + at->crofton + i, k);
    }
    if (at->euler >= 0) {
        o->euler = lane(b, at->outline + at->euler, k);
    }
}

/* Moments of orders 0 and 1 follow from the count and the sums. */
static void read_shape(const Block *b, uint32_t k, MeasureObject *o)
{
    const MeasureLanes *at = &b->m->lanes;
    if (at->moments < 0) {
        return;
    }
    o->moments[0] = (double)o->count;
    for (int axis = 0; axis < b->m->frame.dims; axis++) {
        int64_t anchor = measure_anchor(o->sum[axis], o->count);
        o->moments[1 << 2 * axis] = (double)(o->sum[axis] - anchor * (int64_t)o->count);
    }
    read_moments(b, at->moments, at->moments_mask, k, o->moments);
}

/* Object k of the block. */
static void read_object(const Block *b, uint32_t k, MeasureObject *o)
{
    const Measuring *m = b->m;
    const MeasureLanes *at = &m->lanes;
    o->label = m->first + (uint32_t)b->begin + k;
    o->count = (uint64_t)lane(b, 0, k);
    for (int axis = 0; axis < 3; axis++) {
        o->sum[axis] = axis < b->m->frame.dims ? lane(b, 1 + axis, k) : 0;
    }
    measuring_box(b->minima, BLOCK, m->frame.dims, k, o->lo, o->hi);
    read_outline(b, k, o);
    read_shape(b, k, o);
    if (at->convex >= 0) {
        o->convex = at->space ? m->hull[b->begin + k] : (double)lane(b, at->convex, k);
    }
    if (at->feret >= 0) {
        o->feret = at->space ? m->feret[b->begin + k] : lane_double(b, at->feret, k);
    }
    if (at->filled >= 0) {
        o->filled = (double)lane(b, at->filled, k);
    }
}

static void write_tile(Block *b)
{
    const PrimTable *table = b->finish->table;
    for (int c = 0; c <= table->columns; c++) {
        memcpy(table->at + (int64_t)c * b->m->count + b->row, b->tile + (size_t)c * TILE,
               (size_t)b->rows * sizeof *b->tile);
    }
    b->row += b->rows;
    b->rows = 0;
}

static void append(Block *b, const MeasureObject *object)
{
    const Measuring *m = b->m;
    double values[MEASURE_MAX_MOMENTS];
    double *to = b->tile + b->rows;
    for (int i = 0; i < m->list.n; i++) {
        const MeasureItem *item = &m->list.at[i];
        int columns = measure_columns(item->measure, m->frame.dims);
        measure_value(item->measure, &m->frame, object, &b->intensity[item->image], values);
        for (int c = 0; c < columns; c++, to += TILE) {
            *to = values[c];
        }
    }
    *to = object->label;
    if (++b->rows == TILE) {
        write_tile(b);
    }
}

/* ---- blocks -------------------------------------------------------------------------------- */

static bool download(Block *b)
{
    const Measuring *m = b->m;
    const PrimCall *call = m->call;
    TRY(dev_read_rows(call->dev, m->table, b->begin * 8, (size_t)m->n * 8, b->sums,
                      (size_t)BLOCK * 8, b->n * 8, (size_t)m->lanes.all, call->err));
    return dev_read_rows(call->dev, m->lows, b->begin * 4, (size_t)m->n * 4, b->minima,
                         (size_t)BLOCK * 4, b->n * 4, (size_t)m->lanes.lows, call->err);
}

/* The next block, with its sums and the place of its rows; false when there is none. */
static bool take(Block *b)
{
    Finish *f = b->finish;
    (void)pthread_mutex_lock(&f->lock);
    size_t left = f->m->n - f->next;
    b->begin = f->next;
    b->n = left < BLOCK ? left : BLOCK;
    b->row = f->table->rows;
    f->next += b->n;
    bool taken = f->ok && b->n > 0;
    f->ok = f->ok && (!taken || download(b));
    for (uint32_t k = 0; taken && f->ok && k < b->n; k++) {
        f->table->rows += lane(b, 0, k) != 0;
    }
    taken = taken && f->ok;
    (void)pthread_mutex_unlock(&f->lock);
    return taken;
}

static void *work(void *block)
{
    Block *b = block;
    MeasureObject object = {0};
    while (take(b)) {
        for (uint32_t k = 0; k < b->n; k++) {
            if (lane(b, 0, k) == 0) {
                continue;
            }
            read_object(b, k, &object);
            for (int i = 0; i < b->m->list.images; i++) {
                read_intensity(b, i, k, &b->intensity[i]);
            }
            append(b, &object);
        }
        write_tile(b);
    }
    return NULL;
}

static Block *new_block(Finish *f)
{
    const MeasureLanes *lanes = &f->m->lanes;
    Block *b = calloc(1, sizeof *b);
    if (b) {
        b->finish = f;
        b->m = f->m;
        b->sums = malloc(BLOCK * (size_t)lanes->all * sizeof *b->sums);
        b->minima = malloc(BLOCK * (size_t)lanes->lows * sizeof *b->minima);
        b->tile = malloc(TILE * ((size_t)f->table->columns + 1) * sizeof *b->tile);
    }
    return b;
}

static bool is_whole(const Block *b)
{
    return b && b->sums && b->minima && b->tile;
}

static void free_block(Block *b)
{
    if (b) {
        free(b->sums);
        free(b->minima);
        free(b->tile);
        free(b);
    }
}

static int count_threads(const Finish *f)
{
    double values = (double)f->m->n * f->table->columns;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    int most = cores < 1 ? 1 : cores > MOST_THREADS ? MOST_THREADS : (int)cores;
    return values < (double)most * WORTH_A_THREAD ? 1 + (int)(values / WORTH_A_THREAD) : most;
}

/* This thread and others; fewer than wanted where there is no room for more. */
static bool run_blocks(Finish *f)
{
    Block *blocks[MOST_THREADS] = {new_block(f)};
    int n = 1, wanted = count_threads(f);
    bool any = is_whole(blocks[0]);
    for (bool more = any; more && n < wanted; n += more) {
        blocks[n] = new_block(f);
        more = is_whole(blocks[n]) && pthread_create(&blocks[n]->thread, NULL, work, blocks[n]) == 0;
        if (!more) {
            free_block(blocks[n]);
        }
    }
    if (any) {
        (void)work(blocks[0]);
    }
    for (int i = 1; i < n; i++) {
        (void)pthread_join(blocks[i]->thread, NULL);
    }
    for (int i = 0; i < n; i++) {
        free_block(blocks[i]);
    }
    return any || err_set(f->m->call->err, CODE_MEMORY, "%s: no memory for the sums of objects",
                          f->m->call->name);
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

bool measuring_finish(const Measuring *m, PrimTable *table)
{
    Finish f = {.m = m, .table = table, .ok = true};
    if (pthread_mutex_init(&f.lock, NULL) != 0) {
        return err_set(m->call->err, CODE_MEMORY, "%s: no memory for a lock", m->call->name);
    }
    bool ok = run_blocks(&f);
    (void)pthread_mutex_destroy(&f.lock);
    return ok && f.ok;
}
