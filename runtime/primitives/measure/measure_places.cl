/*
 * measure_places: where each object's rows, values, words of bits or record go in a work area.
 *
 * A scan adds up the sizes of all objects before each one: before[k], k in 0 .. n.  A share is as many
 * objects in a row as fit; an object's place is counted from the share's first one.
 *
 * In front of this text stands scan.cl with sums of ulong.  The host defines PLACES_ROWS, PLACES_PIXELS,
 * PLACES_WORDS and PLACES_RECORDS, the sizes that there are; PLACES_ANY, PLACES_INSIDE, PLACES_CUT,
 * PLACES_ENDING and PLACES_OPEN, how objects may stand to rows from .. to along an axis; and PLACES_EACH,
 * how many objects a work-item is about.
 */
#define PLACES_KERNEL kernel __attribute__((reqd_work_group_size(SCAN_GROUP, 1, 1)))
/* The place of an object that has none. */
#define PLACES_NOWHERE ((ulong)1 << 63)

/* Boxes of objects, and those that are about. */
typedef struct PlacesObjects {
    global const ulong *sums;
    global const uint *lows;
    uint n;
    int dims, standing, axis, from, to, around;
} PlacesObjects;

#define PLACES_PARAMS                                                                              \
    global const ulong *sums, global const uint *lows, const uint n, const int dims, const int axis
#define PLACES_ABOUT(name) const int name##_standing, const int name##_from, const int name##_to,  \
        const int name##_around
#define PLACES_OBJECTS(name)                                                                       \
    {sums, lows, n, dims, name##_standing, axis, name##_from, name##_to, name##_around}

/* Both ends included. */
typedef struct PlacesBox {
    int lo[3], hi[3];
} PlacesBox;

/* What of an object's box is about: of one that is cut, what lies within the rows, and as many `around` them. */
SCAN_INLINE PlacesBox places_box(PlacesObjects o, uint k)
{
    const size_t stride = o.n;
    PlacesBox box = {{0, 0, 0}, {0, 0, 0}};
    for (int axis = 0; axis < o.dims; axis++) {
        box.lo[axis] = (int)o.lows[axis * stride + k];
        box.hi[axis] = (int)~o.lows[(axis + o.dims) * stride + k];
        if (o.standing == PLACES_CUT && axis == o.axis) {
            box.lo[axis] = max(box.lo[axis], o.from - o.around);
            box.hi[axis] = min(box.hi[axis], o.to + o.around);
        }
    }
    return box;
}

SCAN_INLINE bool places_is_about(PlacesObjects o, uint k)
{
    if (k >= o.n || o.sums[k] == 0) {
        return false;
    }
    const int first = (int)o.lows[o.axis * (size_t)o.n + k];
    const int last = (int)~o.lows[(o.axis + o.dims) * (size_t)o.n + k];
    const bool begins = first >= o.from, ends = last <= o.to;
    switch (o.standing) {
    case PLACES_INSIDE: return begins && ends;
    case PLACES_CUT: return first <= o.to && last >= o.from && !(begins && ends);
    case PLACES_ENDING: return !begins && ends && last >= o.from;
    case PLACES_OPEN: return first <= o.to && !ends;
    default: return true;
    }
}

/* What object k takes. */
SCAN_INLINE ulong places_size(const int of, PlacesObjects o, uint k)
{
    if (!places_is_about(o, k)) {
        return 0;
    }
    const PlacesBox box = places_box(o, k);
    const ulong wide = (ulong)(box.hi[0] - box.lo[0] + 1);
    const ulong rows = (ulong)(box.hi[1] - box.lo[1] + 1) * (ulong)(box.hi[2] - box.lo[2] + 1);
    return of == PLACES_RECORDS  ? 1
           : of == PLACES_PIXELS ? o.sums[k]
           : of == PLACES_ROWS   ? rows
                                 : rows * ((wide + 31) / 32);
}

SCAN_INLINE ulong places_sizes(const int of, PlacesObjects o)
{
    ulong sum = 0;
    for (uint i = 0; i < PLACES_EACH; i++) {
        sum += places_size(of, o, (uint)get_global_id(0) * PLACES_EACH + i);
    }
    return sum;
}

/* The size of each group of objects; behind the last one a 0, so that scan_sums leaves that of all
 * there. */
PLACES_KERNEL void places_groups(PLACES_PARAMS, PLACES_ABOUT(about), const int of, global ulong *groups)
{
    local ulong share[SCAN_GROUP];
    const PlacesObjects objects = PLACES_OBJECTS(about);
    ulong all;
    (void)scan_group(share, places_sizes(of, objects), &all);
    if (get_local_id(0) == 0) {
        groups[get_group_id(0)] = all;
    }
}

PLACES_KERNEL void places_before(PLACES_PARAMS, PLACES_ABOUT(about), const int of,
                                 global const ulong *groups, global ulong *before)
{
    local ulong share[SCAN_GROUP];
    const PlacesObjects objects = PLACES_OBJECTS(about);
    ulong all, here = scan_group(share, places_sizes(of, objects), &all);
    for (uint i = 0; i < PLACES_EACH; i++) {
        const uint k = (uint)get_global_id(0) * PLACES_EACH + i;
        if (k <= n) {
            before[k] = groups[get_group_id(0)] + here;
        }
        here += places_size(of, objects, k);
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

/* Whether object k is one of those from .. to that lie within `size` together. */
SCAN_INLINE bool places_are_in(uint k, uint from, uint to, ulong size, global const ulong *before)
{
    return k >= from && k < to && before[k + 1] - before[from] <= size;
}

/* Places of the share's objects as they lie in the work area, and their sizes. */
PLACES_KERNEL void places_of_rows(const uint n, const uint from, const uint to, const ulong size,
                                  global const ulong *before, global uint *place,
                                  global uint *heights)
{
    const uint k = (uint)get_global_id(0);
    if (k < n) {
        const bool in = places_are_in(k, from, to, size, before);
        place[k] = in ? (uint)(before[k] - before[from]) : 0;
        heights[k] = in ? (uint)(before[k + 1] - before[k]) : 0;
    }
}

PLACES_KERNEL void places_of_any(const uint n, const uint from, const uint to, const ulong size,
                                 global const ulong *before, global ulong *place)
{
    const uint k = (uint)get_global_id(0);
    if (k < n) {
        const bool in = places_are_in(k, from, to, size, before) && before[k + 1] > before[k];
        place[k] = in ? before[k] - before[from] : PLACES_NOWHERE;
    }
}

/* Fills the share's rows, however many groups there are: firsts and lasts, `capacity` apart, and powers. */
PLACES_KERNEL void places_clear(const uint from, const uint to, const ulong size,
                                global const ulong *before, const uint capacity, const int first,
                                const int last, const int powers, global int *ends,
                                global ulong *sums)
{
    const size_t rows = (size_t)min(before[to] - before[from], size), step = capacity;
    for (size_t row = get_global_id(0); row < rows; row += get_global_size(0)) {
        ends[row] = first;
        ends[step + row] = last;
        for (int power = 0; power < powers; power++) {
            sums[power * step + row] = 0;
        }
    }
}
