/*
 * measure_places: where each object's rows, values or words of bits go in the work area.
 *
 * A scan adds up the sizes of all objects before each one: before[k], k in 0 .. n.  A share is as many
 * objects in a row as fit; an object's place is counted from the share's first one.
 *
 * In front of this text stands scan.cl with sums of ulong.  The host defines PLACES_ROWS,
 * PLACES_PIXELS and PLACES_WORDS, the sizes that there are.
 */
#define PLACES_KERNEL kernel __attribute__((reqd_work_group_size(SCAN_GROUP, 1, 1)))
/* The place of an object that has none. */
#define PLACES_NOWHERE ((ulong)1 << 63)

/* What object k takes.  `standing`: in parts, how it stands to the part; it must be one of `wanted`. */
SCAN_INLINE ulong places_size(const int of, const int dims, uint n, uint k, global const ulong *sums,
                              global const uint *lows, global const uchar *standing, uint wanted)
{
    if (k >= n || sums[k] == 0 || (wanted != 0 && (standing[k] & wanted) == 0)) {
        return 0;
    }
    const size_t stride = n;
    ulong side[3] = {1, 1, 1};
    for (int axis = 0; axis < dims; axis++) {
        side[axis] = (ulong)~lows[(axis + dims) * stride + k] - lows[axis * stride + k] + 1;
    }
    const ulong rows = side[1] * side[2];
    return of == PLACES_PIXELS ? sums[k] : of == PLACES_ROWS ? rows : rows * ((side[0] + 31) / 32);
}

/* The size of each group of objects; behind the last one a 0, so that scan_sums leaves that of all
 * there. */
PLACES_KERNEL void places_groups(const int of, const int dims, const uint n,
                                 global const ulong *sums, global const uint *lows,
                                 global const uchar *standing, const uint wanted,
                                 global ulong *groups)
{
    local ulong share[SCAN_GROUP];
    ulong all;
    (void)scan_group(share, places_size(of, dims, n, (uint)get_global_id(0), sums, lows, standing,
                                        wanted), &all);
    if (get_local_id(0) == 0) {
        groups[get_group_id(0)] = all;
    }
}

PLACES_KERNEL void places_before(const int of, const int dims, const uint n,
                                 global const ulong *sums, global const uint *lows,
                                 global const uchar *standing, const uint wanted,
                                 global const ulong *groups, global ulong *before)
{
    local ulong share[SCAN_GROUP];
    const uint k = (uint)get_global_id(0);
    ulong all;
    const ulong here =
        scan_group(share, places_size(of, dims, n, k, sums, lows, standing, wanted), &all);
    if (k <= n) {
        before[k] = groups[get_group_id(0)] + here;
    }
}

/* The last object in from .. n (there may be none: from) before which there are at most so many. */
SCAN_INLINE uint places_last(uint n, uint from, global const ulong *before, ulong most)
{
    uint fits = from, beyond = n + 1;
    while (beyond - fits > 1) {
        const uint middle = fits + (beyond - fits) / 2;
        if (before[middle] <= most) {
            fits = middle;
        } else {
            beyond = middle;
        }
    }
    return fits;
}

/* One work-item: the share of objects from `from` on, without those at its ends that take nothing: its
 * first, one past its last, and its size. */
kernel void places_share(const uint n, const uint from, const ulong capacity,
                         global const ulong *before, global ulong *share)
{
    const ulong start = before[from];
    const uint first = places_last(n, from, before, start);
    const ulong end = before[places_last(n, first, before, start + capacity)];
    share[0] = first;
    share[1] = end > start ? places_last(n, first, before, end - 1) + 1 : first;
    share[2] = end - start;
}

/* Places of the share's objects as they lie in the work area, and their sizes. */
PLACES_KERNEL void places_of_rows(const uint n, const uint from, const uint to,
                                  global const ulong *before, global uint *place,
                                  global uint *heights)
{
    const uint k = (uint)get_global_id(0);
    if (k < n) {
        const bool in = k >= from && k < to;
        place[k] = in ? (uint)(before[k] - before[from]) : 0;
        heights[k] = in ? (uint)(before[k + 1] - before[k]) : 0;
    }
}

PLACES_KERNEL void places_of_any(const uint n, const uint from, const uint to,
                                 global const ulong *before, global ulong *place)
{
    const uint k = (uint)get_global_id(0);
    if (k < n) {
        const bool in = k >= from && k < to && before[k + 1] > before[k];
        place[k] = in ? before[k] - before[from] : PLACES_NOWHERE;
    }
}
