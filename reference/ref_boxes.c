/* ref_boxes: statistics of the boxes that an image is cut into, after sigma clipping, in plain C; see ref.h. */
#include "ref.h"

#include <math.h>
#include <stdlib.h>

enum { LANES = 256 };

typedef struct Statistics {
    size_t count;
    double median, mean, spread;
} Statistics;

/* The pixels of a box in order; NaN where one does not count. */
typedef struct Box {
    float *pixels, *sorted;
    size_t n;
} Box;

static int ascending(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static size_t count_between(const Box *box, double low, double high)
{
    size_t n = 0;
    for (size_t i = 0; i < box->n; i++) {
        n += box->pixels[i] >= low && box->pixels[i] <= high;
    }
    return n;
}

static double added_lanes(double lane[LANES])
{
    for (int step = LANES / 2; step > 0; step /= 2) {
        for (int t = 0; t < step; t++) {
            lane[t] += lane[t + step];
        }
    }
    return lane[0];
}

static Statistics statistics(const Box *box, double low, double high)
{
    double sum[LANES] = {0}, squares[LANES] = {0};
    size_t n = 0;
    for (size_t i = 0; i < box->n; i++) {
        if (box->pixels[i] >= low && box->pixels[i] <= high) {
            box->sorted[n++] = box->pixels[i];
        }
    }
    if (n == 0) {
        return (Statistics){0, NAN, NAN, NAN};
    }
    qsort(box->sorted, n, sizeof *box->sorted, ascending);
    double middle = box->sorted[(n - 1) / 2];
    for (size_t i = 0; i < box->n; i++) {
        if (box->pixels[i] >= low && box->pixels[i] <= high) {
            double far = box->pixels[i] - middle;
            sum[i % LANES] += far;
            squares[i % LANES] += far * far;
        }
    }
    double offset = added_lanes(sum) / (double)n;
    double variance = added_lanes(squares) / (double)n - offset * offset;
    return (Statistics){n, (middle + box->sorted[n / 2]) / 2, middle + offset, sqrt(variance > 0 ? variance : 0)};
}

static Statistics clipped(const Box *box, double kappa, int rounds)
{
    double low = -INFINITY, high = INFINITY;
    bool last = false;
    for (int round = 1; round <= rounds && !last; round++) {
        Statistics s = statistics(box, low, high);
        if (s.count == 0) {
            return s;
        }
        double far = s.spread > 0 ? kappa * s.spread : 0;
        double below = s.median - far, above = s.median + far;
        double from = fmax(low, below), to = fmin(high, above);
        last = round == rounds || count_between(box, from, to) == s.count;
        low = last ? below : from;
        high = last ? above : to;
    }
    return statistics(box, low, high);
}

/* Pixels of the box whose place among all boxes is at[]: x, y, z, channel. */
static void fill(Box *box, const float *v, const uint8_t *where, RefShape s, const int size[3], const int at[4])
{
    box->n = 0;
    for (int z = 0; z < size[2]; z++) {
        for (int y = 0; y < size[1]; y++) {
            for (int x = 0; x < size[0]; x++) {
                int px = at[0] * size[0] + x, py = at[1] * size[1] + y, pz = at[2] * size[2] + z;
                size_t i =
                    (((size_t)at[3] * (size_t)s.d + (size_t)pz) * (size_t)s.h + (size_t)py) * (size_t)s.w + (size_t)px;
                bool inside = px < s.w && py < s.h && pz < s.d;
                bool counts = inside && isfinite(v[i]) && (where == NULL || where[i] != 0);
                box->pixels[box->n++] = counts ? v[i] + 0.0f : NAN;
            }
        }
    }
}

bool ref_boxes(const float *v, const uint8_t *where, RefShape s, const int given[3], double kappa, int rounds,
               float *out)
{
    const int extent[3] = {s.w, s.h, s.d};
    int size[3], boxes[3];
    for (int axis = 0; axis < 3; axis++) {
        size[axis] = given[axis] < extent[axis] ? given[axis] : extent[axis];
        boxes[axis] = (extent[axis] - 1) / size[axis] + 1;
    }
    size_t pixels = (size_t)size[0] * (size_t)size[1] * (size_t)size[2], i = 0;
    size_t all = (size_t)boxes[0] * (size_t)boxes[1] * (size_t)boxes[2] * (size_t)s.c;
    Box box = {malloc(pixels * sizeof(float)), malloc(pixels * sizeof(float)), 0};
    bool ok = box.pixels != NULL && box.sorted != NULL;
    for (i = 0; ok && i < all; i++) {
        size_t row = i / (size_t)boxes[0], plane = row / (size_t)boxes[1];
        const int at[4] = {(int)(i % (size_t)boxes[0]), (int)(row % (size_t)boxes[1]), (int)(plane % (size_t)boxes[2]),
                           (int)(plane / (size_t)boxes[2])};
        fill(&box, v, where, s, size, at);
        Statistics found = clipped(&box, kappa, rounds);
        out[BOXES_COUNT * all + i] = (float)found.count;
        out[BOXES_MEDIAN * all + i] = (float)found.median;
        out[BOXES_MEAN * all + i] = (float)found.mean;
        out[BOXES_STD * all + i] = (float)found.spread;
    }
    free(box.pixels);
    free(box.sorted);
    return ok;
}
