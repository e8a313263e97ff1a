/* statistics: by sorting a copy. */
#include "statistics.h"

#include "../host/sorted.h"

#include <math.h>
#include <stdlib.h>

Usual usual_of(const double *at, size_t n)
{
    Usual usual = {0};
    double *sorted = malloc((n + 1) * sizeof *sorted), sum = 0;
    for (size_t i = 0; sorted != NULL && i < n; i++) {
        if (isfinite(at[i])) {
            sorted[usual.n++] = at[i];
            sum += at[i];
        }
    }
    if (usual.n > 0) {
        const size_t tail = usual.n / 200;
        sorted_numbers(sorted, usual.n);
        usual.mean = sum / (double)usual.n;
        usual.median = sorted_median(sorted, usual.n);
        usual.low = sorted[tail];
        usual.high = sorted[usual.n - 1 - tail];
        for (size_t i = 0; i < usual.n; i++) {
            sorted[i] = fabs(sorted[i] - usual.median);
        }
        sorted_numbers(sorted, usual.n);
        usual.spread = 1.4826 * sorted_median(sorted, usual.n);
    }
    free(sorted);
    return usual;
}

double usual_distance(const Usual *usual, double value)
{
    enum { FEW = 5 }; /* say nothing of what is usual */
    return usual->n >= FEW && usual->spread > 0 && isfinite(value) ? (value - usual->median) / usual->spread : 0;
}
