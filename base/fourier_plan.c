/* fourier_plan: lengths taken apart. */
#include "fourier_plan.h"

#include "f64_math.h"

#include <stdint.h>

static int take_out(int *n, int factor)
{
    int times = 0;
    while (*n % factor == 0) {
        *n /= factor;
        times++;
    }
    return times;
}

static bool is_smooth(int n)
{
    static const int FACTORS[] = {2, 3, 5, 7};
    for (int i = 0; i < 4; i++) {
        take_out(&n, FACTORS[i]);
    }
    return n == 1;
}

/* The largest radices first; 16 is 4 x 4. */
static int radices(int n, int *radix)
{
    static const int FACTORS[] = {7, 5, 3};
    int count = 0, twos = take_out(&n, 2);
    while (twos > 0) {
        int bits = twos == 4 || twos == 2 ? 2 : twos >= 3 ? 3 : 1;
        radix[count++] = 1 << bits;
        twos -= bits;
    }
    for (int i = 0; i < 3; i++) {
        for (int times = take_out(&n, FACTORS[i]); times > 0; times--) {
            radix[count++] = FACTORS[i];
        }
    }
    return count;
}

/* Each pass takes what still fits, in the order that there is. */
static void divide_into_passes(FourierPlan *plan, int *radix, int n)
{
    while (plan->n_steps < n) {
        int product = 1;
        for (int i = 0; i < n; i++) {
            if (radix[i] > 0 && product * radix[i] <= FOURIER_MOST_OF_PASS) {
                product *= radix[i];
                plan->radix[plan->n_steps++] = radix[i];
                radix[i] = 0;
            }
        }
        plan->end[plan->n_passes++] = plan->n_steps;
    }
}

FourierPlan fourier_plan(int n)
{
    FourierPlan plan = {.n = n, .length = n, .chirp = !is_smooth(n)};
    int radix[FOURIER_MOST_STEPS] = {1};
    if (plan.chirp) {
        plan.length = 2 * n - 1;
        while (!is_smooth(plan.length)) {
            plan.length++;
        }
    }
    int count = radices(plan.length, radix);
    divide_into_passes(&plan, radix, count > 0 ? count : 1);
    return plan;
}

void fourier_turn_of(int t, int n, float *c, float *s)
{
    double angle = 2 * 3.141592653589793 * t / n;
    *c = (float)f64_cos(angle);
    *s = -(float)f64_sin(angle);
}

void fourier_chirp_of(int t, int n, float *c, float *s)
{
    fourier_turn_of((int)((int64_t)t * t % (2 * (int64_t)n)), 2 * n, c, s);
}
