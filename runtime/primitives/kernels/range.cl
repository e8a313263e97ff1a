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

RANGE_INLINE float range_edge(const RangeBins *r, int i)
{
    return i == r->bins ? r->hi : (float)((double)i * r->step + (double)r->lo);
}
