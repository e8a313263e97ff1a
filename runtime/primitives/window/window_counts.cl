/*
 * window_counts: what is under a walker's window as a count of each value (window_slide.cl), of which the largest is
 * found: the smallest value's of several, and that of NaN only where there is nothing else.
 *
 * Counts that follow each other are a block, and no count of a block is larger than its bound, which grows with
 * them.  Where a bound is larger than the largest count that is known, the block is looked through, and the bound
 * becomes its largest count: it was too large by no more than there were places that left.
 *
 * How many values a tile has is known when it is sorted: as many walkers go as have room for their counts.
 *
 * The host defines SLIDE_WALKERS.
 */
#define SLIDE_ORDERS 3

/* `numbers` by place, of `n` values that are not NaN, whose number would be n; `walkers` have a set, side by side;
 * `last` was found. */
typedef struct SlideSet {
    local SLIDE_PLACE *counts, *bounds;
    global const SLIDE_PLACE *numbers;
    uint walkers, n, shift, n_blocks, last;
} SlideSet;

/* Each place has the number of its value, counted in their order; `now` are then places of these.  `room` has so many
 * words, enough for one walker. */
LANES_INLINE SlideSet slide_number(SlideOrder *order, local uint *room, uint words)
{
    const uint item = (uint)get_local_id(0), share = (order->n + SLIDE_ITEMS - 1) / SLIDE_ITEMS;
    const uint from = min(item * share, order->n), end = min(from + share, order->n);
    local uint *const counts = room + SLIDE_ITEMS;
    uint n = 0;
    for (uint i = from; i < end; i++) {
        n += i == 0 || order->keys[order->now[i]] != order->keys[order->now[i - 1]];
    }
    counts[SLIDE_COUNT(item)] = n;
    SLIDE_WAIT(CLK_LOCAL_MEM_FENCE);
    slide_add_up(counts, SLIDE_ITEMS, room);
    n = counts[SLIDE_COUNT(item)];
    for (uint i = from; i < end; i++) {
        const SLIDE_PLACE place = order->now[i];
        if (i == 0 || order->keys[place] != order->keys[order->now[i - 1]]) {
            order->spare[n++] = place;
        }
        order->next[place] = (SLIDE_PLACE)(n - 1);
    }
    if (item == SLIDE_ITEMS - 1) {
        room[0] = n - window_is_nan(order->keys[order->now[order->n - 1]]);
    }
    SLIDE_WAIT(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    order->now = order->spare;
    SlideSet set = {(local SLIDE_PLACE *)room + item, 0, order->next, 0, room[0], 0, 0, 0};
    set.shift = (32 - clz(set.n)) / 2;
    set.n_blocks = (set.n >> set.shift) + 1;
    const uint counted = words * (uint)(sizeof(uint) / sizeof(SLIDE_PLACE));
    set.walkers = min((uint)SLIDE_WALKERS, counted / (set.n + 1 + set.n_blocks));
    set.bounds = set.counts + (set.n + 1) * set.walkers;
    SLIDE_WAIT(CLK_LOCAL_MEM_FENCE);
    return set;
}

LANES_INLINE void slide_clear(SlideSet *set)
{
    for (uint i = 0; i <= set->n + set->n_blocks; i++) {
        set->counts[i * set->walkers] = 0;
    }
    set->last = 0;
}

/* A place with this number comes (1) or leaves (UINT_MAX). */
LANES_INLINE void slide_flip(SlideSet *set, uint number, uint change)
{
    const SLIDE_PLACE count = (SLIDE_PLACE)(set->counts[number * set->walkers] + change);
    local SLIDE_PLACE *const bound = &set->bounds[(number >> set->shift) * set->walkers];
    set->counts[number * set->walkers] = count;
    if (change == 1) {
        *bound = max(*bound, count);
    }
}

/* The number of the value that there are most of; `any` is not looked at. */
LANES_INLINE uint slide_find(SlideSet *set, uint any)
{
    uint found = set->last, most = set->counts[found * set->walkers];
    for (uint block = 0; block < set->n_blocks; block++) {
        const uint bound = set->bounds[block * set->walkers], first = block << set->shift;
        if (bound > most || (bound == most && first <= found)) {
            const uint end = min(first + ((uint)1 << set->shift), set->n);
            uint largest = 0;
            for (uint i = first; i < end; i++) {
                const uint count = set->counts[i * set->walkers];
                largest = max(largest, count);
                found = count > most || (count == most && i < found) ? i : found;
                most = max(most, count);
            }
            set->bounds[block * set->walkers] = (SLIDE_PLACE)largest;
        }
    }
    set->last = found;
    return most > 0 ? found : set->n;
}
