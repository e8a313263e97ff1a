/* blend: sums of weights from both ends inwards, smallest first. */
#include "blend.h"

#include <float.h>
#include <math.h>

int blend_middle(int lo, int hi)
{
    return lo > 0 ? lo : hi < 0 ? hi : 0;
}

void blend_by_parts(double *weight, int lo, int hi)
{
    const int middle = blend_middle(lo, hi) - lo, last = hi - lo;
    const double own = weight[middle];
    double before = 0, behind = 0;
    for (int i = last; i > middle; i--) {
        behind += weight[i];
        weight[i] = behind;
    }
    for (int i = 0; i < middle; i++) { /* the weight at i moves to the difference behind it */
        const double next = weight[i];
        weight[i] = -before;
        before += next;
    }
    weight[middle] = -before;
    const double all = before + behind + own;
    weight[0] = fabs(all - 1) <= (last + 1) * DBL_EPSILON ? 1 : all;
}
