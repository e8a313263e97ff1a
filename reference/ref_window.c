/* ref_window: ranks and modes of windows in plain C: all that lies under the footprint, sorted. */
#include "ref.h"
#include "../ir/apply.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* NaN comes last. */
static int compare(const void *p, const void *q)
{
    double a = *(const double *)p, b = *(const double *)q;
    return isnan(a) || isnan(b) ? isnan(a) - isnan(b) : (a > b) - (a < b);
}

static double pixel(const double *v, RefShape s, const RefWindowRank *how, int x, int y, int z)
{
    bool inside = x >= 0 && x < s.w && y >= 0 && y < s.h && z >= 0 && z < s.d;
    if (!inside && how->border == BORDER_CONSTANT) {
        return how->outside + 0.0;
    }
    size_t row = (size_t)ir_map_border(how->border, z, s.d) * (size_t)s.h + (size_t)ir_map_border(how->border, y, s.h);
    return v[row * (size_t)s.w + (size_t)ir_map_border(how->border, x, s.w)] + 0.0; /* one zero */
}

double ref_mode(const double *sorted, int n)
{
    double mode = n > 0 ? sorted[0] : 0;
    int most = 1;
    for (int i = 0, first = 0; i < n && !isnan(sorted[i]); i++) {
        first = sorted[i] == sorted[first] ? first : i;
        mode = i - first + 1 > most ? sorted[i] : mode;
        most = i - first + 1 > most ? i - first + 1 : most;
    }
    return mode;
}

static double rank_at(const double *v, RefShape s, const RefWindowRank *how, double *list, int x, int y, int z)
{
    const Window *w = &how->window;
    int rx = (int)floor(w->radius[0]), ry = (int)floor(w->radius[1]), rz = (int)floor(w->radius[2]);
    int n = 0;
    for (int k = -rz; k <= rz; k++) {
        for (int j = -ry; j <= ry; j++) {
            for (int i = -rx; i <= rx; i++) {
                if (window_has(w, i, j, k)) {
                    list[n++] = pixel(v, s, how, x + i, y + j, z + k);
                }
            }
        }
    }
    qsort(list, (size_t)n, sizeof *list, compare);
    return how->mode ? ref_mode(list, n) : n > 0 ? list[window_rank(n, how->percent)] : 0;
}

void ref_window_rank(const double *v, RefShape s, const RefWindowRank *how, double *out)
{
    int pixels;
    window_runs(&how->window, NULL, 0, &pixels);
    double *list = malloc(((size_t)pixels + 1) * sizeof *list);
    assert(list != NULL);
    size_t volume = (size_t)s.w * (size_t)s.h * (size_t)s.d;
    for (size_t p = 0; p < ref_pixels(s); p++) {
        size_t at = p % volume, row = at / (size_t)s.w;
        out[p] = rank_at(v + (p - at), s, how, list, (int)(at % (size_t)s.w), (int)(row % (size_t)s.h),
                         (int)(row / (size_t)s.h));
    }
    free(list);
}
