/*
 * measure_finish: from an object's lanes of sums to its row of the table, a work-item an object.
 *
 * In front of this text stand base/f64_math.h, exact_digits.h, measure_object.h and
 * measure_formulae.h, and scan.cl with SCAN_GROUP work-items.  The host defines, all with MEASURE_
 * in front, DIMS; lanes (-1: none) CONVEX, FERET, FILLED, MOMENTS with MOMENTS_MASK, and OUTLINE_AT,
 * from which PERIMETER, CROFTON and EULER count; FOR_IMAGES(DO) and for each image k: SUM_k,
 * SUM_DIGITS_k, SQUARE_k, SQUARE_DIGITS_k, BY_X_k, BY_Y_k, BY_Z_k, BY_DIGITS_k, RANGE_k (as for
 * measure.cl), MEDIAN_k with FRACTION_k, WEIGHTED_k with WEIGHTED_MASK_k; and FOR_ITEMS(DO): for each measure
 * DO(its name, number of its image, its first column, its columns).
 */
#define FINISH_INLINE static inline __attribute__((always_inline))
#define FINISH_KERNEL kernel __attribute__((reqd_work_group_size(SCAN_GROUP, 1, 1)))

/* The sums of one object; sum i of object k lies at [i * n + k]. */
typedef struct FinishLanes {
    global const ulong *sums;
    global const uint *lows;
    size_t n, object;
} FinishLanes;

FINISH_INLINE ulong finish_sum(const FinishLanes *lanes, int lane)
{
    return lanes->sums[(size_t)lane * lanes->n + lanes->object];
}

FINISH_INLINE uint finish_low(const FinishLanes *lanes, int lane)
{
    return lanes->lows[(size_t)lane * lanes->n + lanes->object];
}

/* A sum of `digits` lanes with the last bit worth 2^base. */
FINISH_INLINE void finish_digits(const FinishLanes *lanes, int at, const int digits, int base,
                                 double *out)
{
    long digit[EXACT_MOST];
    for (int i = 0; i < digits; i++) {
        digit[i] = (long)finish_sum(lanes, at + i);
    }
    exact_from_digits(digit, digits, base, out);
}

FINISH_INLINE void finish_moments(const FinishLanes *lanes, int at, const ulong mask, double *out)
{
    for (int i = 0; i < MEASURE_MAX_MOMENTS; i++) {
        if (mask >> i & 1) {
            out[i] = as_double(finish_sum(lanes, at++));
        }
    }
}

/* The inverse of measure_order_key. */
FINISH_INLINE double finish_value(uint key)
{
    return as_float(key >> 31 ? key ^ 0x80000000 : ~key);
}

FINISH_INLINE void finish_range(const FinishLanes *lanes, int at, MeasureIntensity *v)
{
    v->max = finish_value(~finish_low(lanes, at + 1));
    v->min = isnan(v->max) ? v->max : finish_value(finish_low(lanes, at));
}

/* Moments of orders 0 and 1 follow from the count and the sums. */
FINISH_INLINE void finish_shape(const FinishLanes *lanes, MeasureObject *o)
{
    if (MEASURE_MOMENTS >= 0) {
        o->moments[0] = (double)o->count;
        for (int axis = 0; axis < MEASURE_DIMS; axis++) {
            const long anchor = measure_anchor(o->sum[axis], o->count);
            o->moments[1 << 2 * axis] = (double)(o->sum[axis] - anchor * (long)o->count);
        }
        finish_moments(lanes, MEASURE_MOMENTS, MEASURE_MOMENTS_MASK, o->moments);
    }
    if (MEASURE_CONVEX >= 0) {
        o->convex = (double)(long)finish_sum(lanes, MEASURE_CONVEX);
    }
    if (MEASURE_FERET >= 0) {
        o->feret = as_double(finish_sum(lanes, MEASURE_FERET));
    }
    if (MEASURE_FILLED >= 0) {
        o->filled = (double)(long)finish_sum(lanes, MEASURE_FILLED);
    }
}

FINISH_INLINE void finish_outline(const FinishLanes *lanes, MeasureObject *o)
{
    if (MEASURE_PERIMETER >= 0) {
        for (int i = 0; i < 3; i++) {
            o->perimeter[i] = (long)finish_sum(lanes, MEASURE_OUTLINE_AT + MEASURE_PERIMETER + i);
        }
    }
    if (MEASURE_CROFTON >= 0) {
        for (int i = 0; i < 5; i++) {
            o->crofton[i] = (long)finish_sum(lanes, MEASURE_OUTLINE_AT + MEASURE_CROFTON + i);
        }
    }
    if (MEASURE_EULER >= 0) {
        o->euler = (long)finish_sum(lanes, MEASURE_OUTLINE_AT + MEASURE_EULER);
    }
}

FINISH_INLINE void finish_object(const FinishLanes *lanes, uint label, MeasureObject *o)
{
    o->label = label;
    o->count = finish_sum(lanes, 0);
    for (int axis = 0; axis < 3; axis++) {
        const bool has = axis < MEASURE_DIMS;
        o->sum[axis] = has ? (long)finish_sum(lanes, 1 + axis) : 0;
        o->lo[axis] = has ? (int)finish_low(lanes, axis) : 0;
        o->hi[axis] = has ? (int)~finish_low(lanes, axis + MEASURE_DIMS) : 0;
    }
    finish_outline(lanes, o);
    finish_shape(lanes, o);
}

#define FINISH_DECLARE_IMAGE(k) MeasureIntensity v_##k;
#define FINISH_READ_IMAGE(k)                                                                       \
    v_##k.min = v_##k.max = 0;                                                                     \
    if (MEASURE_SUM_DIGITS_##k > 0) {                                                              \
        finish_digits(&lanes, MEASURE_SUM_##k, MEASURE_SUM_DIGITS_##k, windows[2 * k - 2],         \
                      v_##k.sum);                                                                  \
    }                                                                                              \
    if (MEASURE_SQUARE_DIGITS_##k > 0) {                                                           \
        finish_digits(&lanes, MEASURE_SQUARE_##k, MEASURE_SQUARE_DIGITS_##k, windows[2 * k - 1],   \
                      v_##k.square);                                                               \
    }                                                                                              \
    if (MEASURE_BY_DIGITS_##k > 0) {                                                               \
        const int by[3] = {MEASURE_BY_X_##k, MEASURE_BY_Y_##k, MEASURE_BY_Z_##k};                  \
        for (int axis = 0; axis < MEASURE_DIMS; axis++) {                                          \
            finish_digits(&lanes, by[axis], MEASURE_BY_DIGITS_##k, windows[2 * k - 2],             \
                          v_##k.by[axis]);                                                         \
        }                                                                                          \
    }                                                                                              \
    if (MEASURE_RANGE_##k >= 0) {                                                                  \
        finish_range(&lanes, MEASURE_RANGE_##k, &v_##k);                                           \
        close_intensity(&v_##k);                                                                   \
    }                                                                                              \
    if (MEASURE_MEDIAN_##k >= 0) {                                                                 \
        const ulong middle = finish_sum(&lanes, MEASURE_MEDIAN_##k);                               \
        v_##k.median = measure_between(finish_value((uint)(middle >> 32)),                         \
                                       finish_value((uint)middle),                                 \
                                       measure_rank(o.count, MEASURE_FRACTION_##k));               \
    }                                                                                              \
    finish_moments(&lanes, MEASURE_WEIGHTED_##k, MEASURE_WEIGHTED_MASK_##k, v_##k.moments);

/* The object's sums, as o and v_1, v_2 ...; v_0 is handed to measures without an image. */
#define FINISH_READ()                                                                              \
    const FinishLanes lanes = {sums, lows, n, object};                                             \
    const MeasureFrame frame = {MEASURE_DIMS, {sx, sy, sz}};                                       \
    MeasureObject o;                                                                               \
    MeasureIntensity v_0;                                                                          \
    MEASURE_FOR_IMAGES(FINISH_DECLARE_IMAGE)                                                       \
    finish_object(&lanes, first + object, &o);                                                     \
    MEASURE_FOR_IMAGES(FINISH_READ_IMAGE)

/* How many objects of each group's are there; behind the last group a zero, so that scan_sums leaves
 * the sum of all there. */
FINISH_KERNEL void measure_present(const uint n, global const ulong *sums, global uint *counts)
{
    local uint place[SCAN_GROUP];
    const uint object = (uint)get_global_id(0);
    uint present;
    (void)scan_group(place, object < n && sums[object] != 0, &present);
    if (get_local_id(0) == 0) {
        counts[get_group_id(0)] = present;
    }
}

#define FINISH_STORE(name, image, column, count)                                                   \
    {                                                                                              \
        double value[count];                                                                       \
        value_##name(&frame, &o, &v_##image, value);                                               \
        for (int i = 0; i < count; i++) {                                                          \
            to[(column + i) * (size_t)pitch] = value[i];                                           \
        }                                                                                          \
    }

/* The rows of objects from the group `begin` on, `pitch` apart from column to column; the last column
 * holds labels.  before[group]: present objects in the groups before. */
FINISH_KERNEL void measure_table(const uint first, const uint n, const uint begin, const uint pitch,
                                 const double sx, const double sy, const double sz,
                                 global const int *windows, global const ulong *sums,
                                 global const uint *lows, global const uint *before,
                                 global double *columns)
{
    local uint place[SCAN_GROUP];
    const uint group = begin + (uint)get_group_id(0);
    const uint object = group * SCAN_GROUP + (uint)get_local_id(0);
    const bool present = object < n && sums[min(object, n - 1)] != 0;
    uint all;
    const uint row = before[group] - before[begin] + scan_group(place, present, &all);
    if (present) {
        global double *const to = columns + row;
        FINISH_READ()
        MEASURE_FOR_ITEMS(FINISH_STORE)
        to[MEASURE_COLUMNS * (size_t)pitch] = (double)o.label;
    }
}

#define FINISH_LAST(name, image, column, count)                                                    \
    if (column + count == MEASURE_COLUMNS) {                                                       \
        double value[count];                                                                       \
        value_##name(&frame, &o, &v_##image, value);                                               \
        last = value[count - 1];                                                                   \
    }

/* The last column alone, as a vector by label. */
FINISH_KERNEL void measure_vector(const uint first, const uint n, const double sx, const double sy,
                                  const double sz, global const int *windows,
                                  global const ulong *sums, global const uint *lows,
                                  const ulong length, global float *vector)
{
    const uint object = (uint)get_global_id(0);
    if (object < n && sums[min(object, n - 1)] != 0 && first + (ulong)object < length) {
        double last = 0;
        FINISH_READ()
        MEASURE_FOR_ITEMS(FINISH_LAST)
        vector[first + (size_t)object] = isnan(last) ? as_float(0x7fc00000) : (float)last;
    }
}
