/*
 * window_rank: one of the sorted pixels under a footprint, found digit by digit, or the value that most of them have.
 *
 * The key (window_keys.cl) at a rank is the largest one that no more than `rank` keys are below.  Smallest
 * and largest key say which leading bits all have in common; the bits behind are decided two at a time, each
 * time by counting over the window how many keys are below the three numbers that the next two bits could
 * begin.
 *
 * For the value that most have, the pixels of one value after the other are counted, from the smallest on, until
 * fewer are larger than there are of one.
 *
 * The host defines WINDOW_MODE.
 */
LANES_INLINE WindowKey window_find(global const WINDOW_PIXEL *volume, const WindowPlace *at,
                              global const int4 *runs, int n_runs, uint rank)
{
    WindowKey least = WINDOW_LARGEST, most = 0;
    for (int r = 0; r < n_runs; r++) {
        global const WINDOW_PIXEL *const row = window_row(volume, at, runs[r]);
        for (int x = at->x + runs[r].x; x <= at->x + runs[r].y; x++) {
            const WindowKey key = window_key_at(row, at, x);
            least = min(least, key);
            most = max(most, key);
        }
    }
    if (least >= most) {
        return n_runs > 0 ? least : window_key((WINDOW_PIXEL)0);
    }
    int shift = (WINDOW_BITS - 1 - (int)clz(least ^ most)) & ~1;
    WindowKey found = shift == WINDOW_BITS - 2 ? 0 : least >> (shift + 2) << (shift + 2);
    for (; shift >= 0; shift -= 2) {
        const WindowKey step = (WindowKey)1 << shift;
        const WindowKey one = found + step, two = one + step, three = two + step;
        uint below_one = 0, below_two = 0, below_three = 0;
        for (int r = 0; r < n_runs; r++) {
            global const WINDOW_PIXEL *const row = window_row(volume, at, runs[r]);
            for (int x = at->x + runs[r].x; x <= at->x + runs[r].y; x++) {
                const WindowKey key = window_key_at(row, at, x);
                below_one += key < one;
                below_two += key < two;
                below_three += key < three;
            }
        }
        found = rank >= below_three ? three : rank >= below_two ? two : rank >= below_one ? one : found;
    }
    return found;
}

LANES_INLINE WindowKey window_mode(global const WINDOW_PIXEL *volume, const WindowPlace *at,
                                   global const int4 *runs, int n_runs)
{
    WindowKey own = 0, next = 0, found = window_key((WINDOW_PIXEL)0);
    uint most = 0, larger = n_runs > 0;
    while (larger > most) {
        uint count = 0;
        own = next;
        next = WINDOW_LARGEST;
        larger = 0;
        for (int r = 0; r < n_runs; r++) {
            global const WINDOW_PIXEL *const row = window_row(volume, at, runs[r]);
            for (int x = at->x + runs[r].x; x <= at->x + runs[r].y; x++) {
                const WindowKey key = window_key_at(row, at, x);
                count += key == own;
                larger += key > own;
                next = key > own ? min(next, key) : next;
            }
        }
        if (count > most && (most == 0 || !window_is_nan(own))) {
            most = count;
            found = own;
        }
    }
    return found;
}

/* runs: first and last x, y, z.  A part of h rows and d planes begins at (top, front) of its image, of
 * whose planes `tall` rows are there; `first` is the pixel of the memory where the image would begin. */
LANES_KERNEL void window_rank(int lanes, int w, int h, int d, uint rows, int in_pitch, int out_pitch,
                              int image_h, int image_d, int top, int front, int tall, long first,
                              global const WINDOW_PIXEL *image, global const int4 *runs, int n_runs,
                              uint rank, ulong outside, global WINDOW_RESULT *out)
{
    const LanesSpot spot = lanes_spot(w, lanes);
    if (spot.x < w && spot.row < rows) {
        const LanesSplit plane = lanes_split(spot.row, (uint)h), z = lanes_split(plane.over, (uint)d);
        const WindowPlace at = {w,      image_h, image_d, in_pitch, spot.x, (int)plane.rest + top,
                                (int)z.rest + front, tall, (WindowKey)outside};
        global const WINDOW_PIXEL *const volume =
            image + (first + (long)z.over * image_d * tall * in_pitch);
        out[(size_t)spot.row * (size_t)out_pitch + (size_t)spot.x] =
            window_value(WINDOW_MODE ? window_mode(volume, &at, runs, n_runs)
                                     : window_find(volume, &at, runs, n_runs, rank));
    }
}
