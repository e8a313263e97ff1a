/*
 * range: the bins of a histogram of floats, as numpy.histogram takes them for f32 data: edges are
 * computed in f64 and rounded to f32, an empty range is widened by half to either side.
 */
#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

#define RANGE_INLINE static inline __attribute__((always_inline))

typedef struct RangeBins {
    float lo, hi, norm; /* norm: bins per unit */
    double step;        /* from edge to edge */
    float a_number;     /* of whole numbers: bins for one, 1 or a half, a quarter ... where there are more than bins */
    int bins;
    bool usable; /* finite, not inverted */
} RangeBins;

RANGE_INLINE RangeBins range_of(double lo, double hi, int bins)
{
    RangeBins r;
    r.lo = (float)lo;
    r.hi = (float)hi;
    r.bins = bins;
    r.usable = r.lo <= r.hi && isfinite(r.lo) && isfinite(r.hi);
    if (r.lo == r.hi) {
        r.lo -= 0.5f;
        r.hi += 0.5f;
    }
    r.usable = r.usable && isfinite(r.lo) && isfinite(r.hi) && isfinite(r.hi - r.lo);
    r.norm = (float)(bins / (double)(r.hi - r.lo));
    r.step = ((double)r.hi - (double)r.lo) / bins;
    return r;
}

/* Bins of whole numbers: one for each, or for as few of them as there are bins for. */
RANGE_INLINE RangeBins range_of_integers(double lo, double hi, int bins)
{
    RangeBins r = range_of(lo, hi, bins);
    r.lo = (float)lo;
    r.hi = (float)hi;
    r.usable = lo <= hi && isfinite(r.lo) && isfinite(r.hi) && isfinite(r.hi - r.lo);
    r.a_number = 1;
    while (r.usable && (r.hi - r.lo) * r.a_number >= (float)bins) {
        r.a_number /= 2;
    }
    return r;
}

/* How many of them the range has. */
RANGE_INLINE int range_integer_bins(const RangeBins *r)
{
    return (int)((r->hi - r->lo) * r->a_number) + 1;
}

RANGE_INLINE float range_edge(const RangeBins *r, int i)
{
    return i == r->bins ? r->hi : (float)((double)i * r->step + (double)r->lo);
}
