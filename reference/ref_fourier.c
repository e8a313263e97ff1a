/* ref_fourier: Fourier transforms in plain C, step by step as base/fourier_plan.h has them. */
#include "ref.h"

#include "../base/fourier.h"
#include "../base/fourier_plan.h"

#include <assert.h>
#include <stdlib.h>

typedef struct Line {
    float *re, *im;
} Line;

static Line line_of(int n)
{
    Line line = {calloc((size_t)n, sizeof(float)), calloc((size_t)n, sizeof(float))};
    assert(line.re != NULL && line.im != NULL);
    return line;
}

static void line_free(Line line)
{
    free(line.re);
    free(line.im);
}

static void transform_few(int radix, float *re, float *im)
{
    static void (*const FEW[])(float *, float *) = {NULL,      fourier_1, fourier_2, fourier_3, fourier_4,
                                                    fourier_5, NULL,      fourier_7, fourier_8};
    FEW[radix](re, im);
}

/* One step, after steps whose radices have the product `before`. */
static void step(const FourierPlan *plan, int radix, int before, Line from, Line to)
{
    int n = plan->length, apart = n / radix;
    for (int j = 0; j < apart; j++) {
        float re[FOURIER_MOST_RADIX], im[FOURIER_MOST_RADIX], c, s;
        int k = j % before;
        for (int b = 0; b < radix; b++) {
            re[b] = from.re[j + b * apart];
            im[b] = from.im[j + b * apart];
            if (before > 1 && b > 0) {
                fourier_turn_of(b * k * (apart / before), n, &c, &s);
                fourier_turn(&re[b], &im[b], c, s);
            }
        }
        transform_few(radix, re, im);
        for (int b = 0; b < radix; b++) {
            to.re[j / before * before * radix + k + b * before] = re[b];
            to.im[j / before * before * radix + k + b * before] = im[b];
        }
    }
}

/* In place; `other` is room for a line. */
static void steps(const FourierPlan *plan, Line *line, Line *other)
{
    for (int i = 0, before = 1; i < plan->n_steps; i++) {
        step(plan, plan->radix[i], before, *line, *other);
        Line t = *line;
        *line = *other;
        *other = t;
        before *= plan->radix[i];
    }
}

static void swap_parts(Line *line)
{
    float *t = line->re;
    line->re = line->im;
    line->im = t;
}

static Line chirp_filter(const FourierPlan *plan, Line *other)
{
    Line filter = line_of(plan->length);
    for (int i = 0; i < plan->n; i++) {
        float c, s;
        fourier_chirp_of(i, plan->n, &c, &s);
        int back = i == 0 ? 0 : plan->length - i;
        filter.re[i] = filter.re[back] = c;
        filter.im[i] = filter.im[back] = -s;
    }
    steps(plan, &filter, other);
    return filter;
}

/* The first n numbers times the chirp; the others are 0. */
static void times_chirp(const FourierPlan *plan, Line line)
{
    for (int i = 0; i < plan->length; i++) {
        float c, s;
        fourier_chirp_of(i < plan->n ? i : 0, plan->n, &c, &s);
        fourier_turn(&line.re[i], &line.im[i], c, s);
        line.re[i] = i < plan->n ? line.re[i] : 0;
        line.im[i] = i < plan->n ? line.im[i] : 0;
    }
}

static void convolve_with_chirp(const FourierPlan *plan, Line filter, Line *line, Line *other)
{
    times_chirp(plan, *line);
    steps(plan, line, other);
    for (int i = 0; i < plan->length; i++) {
        fourier_turn(&line->re[i], &line->im[i], filter.re[i], filter.im[i]);
    }
    swap_parts(line);
    steps(plan, line, other);
    swap_parts(line);
    float scale = (float)(1.0 / plan->length);
    for (int i = 0; i < plan->n; i++) {
        line->re[i] *= scale;
        line->im[i] *= scale;
    }
    times_chirp(plan, *line);
}

/* All lines whose numbers lie `apart`: number i of line l at start(l) + i * apart. */
static void along_axis(float *re, float *im, size_t pixels, int n, size_t apart)
{
    FourierPlan plan = fourier_plan(n);
    Line line = line_of(plan.length), other = line_of(plan.length);
    Line filter = plan.chirp ? chirp_filter(&plan, &other) : (Line){NULL, NULL};
    for (size_t l = 0; l < pixels / (size_t)n; l++) {
        size_t at = l / apart * apart * (size_t)n + l % apart;
        for (int i = 0; i < plan.length; i++) {
            line.re[i] = i < n ? re[at + (size_t)i * apart] : 0;
            line.im[i] = i < n ? im[at + (size_t)i * apart] : 0;
        }
        if (plan.chirp) {
            convolve_with_chirp(&plan, filter, &line, &other);
        } else {
            steps(&plan, &line, &other);
        }
        for (int i = 0; i < n; i++) {
            re[at + (size_t)i * apart] = line.re[i];
            im[at + (size_t)i * apart] = line.im[i];
        }
    }
    line_free(line);
    line_free(other);
    line_free(filter);
}

void ref_fourier(const float *re, const float *im, RefShape s, int axes, bool inverse, float *out)
{
    const int extent[3] = {s.w, s.h, s.d};
    size_t pixels = (size_t)s.w * (size_t)s.h * (size_t)s.d, apart = 1;
    double count = 1;
    float *parts[2] = {out, out + pixels};
    for (size_t i = 0; i < pixels; i++) {
        parts[0][i] = re[i];
        parts[1][i] = im != NULL ? im[i] : 0;
    }
    for (int ax = 0; ax < 3; ax++) {
        if (axes >> ax & 1 && extent[ax] > 1) {
            along_axis(parts[inverse], parts[!inverse], pixels, extent[ax], apart);
            count *= extent[ax];
        }
        apart *= (size_t)extent[ax];
    }
    for (size_t i = 0; inverse && i < 2 * pixels; i++) {
        out[i] *= (float)(1 / count);
    }
}
