/*
 * fourier_tables: the numbers that lines are multiplied by, computed on the device in double and rounded once: the
 * same functions as the reference's (base/fourier_plan.c).
 */
#pragma OPENCL FP_CONTRACT OFF

enum { FOURIER_TURNS, FOURIER_CHIRP, FOURIER_CHIRP_FILTER };

/* Real parts of n numbers from tables[at] on, imaginary ones behind them.  A filter has the chirp of `of` numbers. */
kernel void fourier_table(int kind, int n, int of, ulong at, global float *tables)
{
    const int t = (int)get_global_id(0);
    if (t < n) {
        const int back = kind == FOURIER_CHIRP_FILTER && n - t < of ? n - t : t;
        const long i = kind == FOURIER_TURNS ? (long)back : (long)back * (long)back % (2 * (long)of);
        const int whole = kind == FOURIER_TURNS ? n : 2 * of;
        const double angle = 2 * 3.141592653589793 * (int)i / whole;
        const float c = (float)f64_cos(angle), s = -(float)f64_sin(angle);
        const bool none = kind == FOURIER_CHIRP_FILTER && back >= of;
        tables[at + (ulong)t] = none ? 0.0f : c;
        tables[at + (ulong)n + (ulong)t] = none ? 0.0f : kind == FOURIER_CHIRP_FILTER ? -s : s;
    }
}
