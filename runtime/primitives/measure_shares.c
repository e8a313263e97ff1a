/* measure_shares: which objects a stage is about, and as many of them at a time as fit. */
#include "measuring.h"

/* The chunk's object k is there and, in parts, one of those that are wanted. */
static bool is_about(const Measuring *m, uint32_t k)
{
    return m->counts[k] > 0 && (m->standing == NULL || (m->standing[k] & m->wanted) != 0);
}

uint64_t measuring_count_of(const Measuring *m, uint32_t k)
{
    return is_about(m, k) ? m->counts[k] : 0;
}

int measuring_cut_axis(const Measuring *m, int32_t *first, int32_t *last)
{
    const PrimCall *call = m->call;
    int axis = call->part.across ? 1 : m->frame.dims - 1;
    *first = axis == 2 ? call->part.z : call->part.y;
    *last = *first + (axis == 2 ? call->planes : call->h) - 1;
    return axis;
}

void measuring_clipped_box(const Measuring *m, uint32_t k, int32_t lo[3], int32_t hi[3])
{
    measuring_box(m->boxes, m->n, m->frame.dims, k, lo, hi);
    if (m->standing == NULL || !(m->wanted & STANDING_CUT)) {
        return;
    }
    int32_t first, last;
    int axis = measuring_cut_axis(m, &first, &last);
    lo[axis] = lo[axis] > first ? lo[axis] : first;
    hi[axis] = hi[axis] < last ? hi[axis] : last;
}

uint64_t measuring_rows_of(const Measuring *m, uint32_t k)
{
    int32_t lo[3], hi[3];
    if (!is_about(m, k)) {
        return 0;
    }
    measuring_clipped_box(m, k, lo, hi);
    return (uint64_t)(hi[1] - lo[1] + 1) * (uint64_t)(hi[2] - lo[2] + 1);
}

uint64_t measuring_words_of(const Measuring *m, uint32_t k)
{
    int32_t lo[3], hi[3];
    if (!is_about(m, k)) {
        return 0;
    }
    measuring_clipped_box(m, k, lo, hi);
    return measuring_rows_of(m, k) * (uint64_t)((hi[0] - lo[0] + 32) / 32);
}

bool measuring_next_share(const Measuring *m, MeasuringSize *size_of, uint64_t capacity,
                          MeasureShare *share, uint64_t *place)
{
    uint32_t k = share->to > m->span_from ? share->to : m->span_from;
    *share = (MeasureShare){k, k, 0};
    for (uint64_t size = 0; k < m->span_to; k++) {
        size = size_of(m, k);
        if (share->size + size > capacity) {
            break;
        }
        place[k] = size > 0 ? share->size : MEASURE_NOWHERE;
        share->from = share->size > 0 ? share->from : k;
        share->to = size > 0 ? k + 1 : share->to;
        share->size += size;
    }
    return share->size > 0;
}
