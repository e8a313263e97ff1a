/*
 * measure_rows: what is found pixel by pixel once counts and bounding boxes are known: where the rows
 * of every object begin and end, its pixel values side by side, its weighted moments, its holes.
 *
 * An object's rows (all rows of its bounding box, in all its planes) lie side by side from
 * place[object] on.  Only objects from..to of the chunk are about; `lows` holds their boxes.
 *
 * The host defines SPACE and MOMENTS (1: sums over rows are wanted too).
 */
typedef struct Box {
    int x0, y0, z0, x1, y1, z1; /* both ends included */
} Box;

INLINE Box box_of(global const uint *lows, uint n, uint object)
{
    const size_t stride = n;
    Box box;
    box.x0 = (int)lows[object];
    box.y0 = (int)lows[stride + object];
    box.z0 = SPACE ? (int)lows[2 * stride + object] : 0;
    box.x1 = (int)~lows[(2 + SPACE) * stride + object];
    box.y1 = (int)~lows[(3 + SPACE) * stride + object];
    box.z1 = SPACE ? (int)~lows[5 * stride + object] : 0;
    return box;
}

/* Sums of 1, i, i^2, i^3 for i up to n: two of them, subtracted, are the sums over a run. */
INLINE void power_sums(long n, long *out)
{
    const long triangle = n * (n + 1) / 2;
    out[0] = n;
    out[1] = triangle;
    out[2] = n * (n + 1) * (2 * n + 1) / 6;
    out[3] = triangle * triangle;
}

/* ends: first and last x of each row.  powers: sums over the row of powers 0..3 of the distance
 * from the anchor, [power][row]. */
GROUP_KERNEL void measure_ends(READ_PARAMS, const int w, const int h, const int d, const int rows,
                               const uint first, const uint n, const uint from, const uint to,
                               const uint capacity, global const ulong *sums,
                               global const uint *lows, global const uint *place,
                               global int *ends, global ulong *powers)
{
    const int x = (int)get_global_id(0), plane = (int)get_group_id(2), z = plane % d;
    const int y0 = (int)get_group_id(1) * rows, y1 = x < w ? min(y0 + rows, h) : y0;
    for (int y = y0; y < y1; y++) {
        const uint label = read_0(READ_ARGS, x, y, plane);
        const uint object = label - first;
        if (label == 0 || object < from || object >= to) {
            continue;
        }
        const bool begins = x == 0 || read_0(READ_ARGS, x - 1, y, plane) != label;
        const bool stops = x == w - 1 || read_0(READ_ARGS, x + 1, y, plane) != label;
        if (!begins && !stops) {
            continue;
        }
        const Box box = box_of(lows, n, object);
        const size_t row = place[object] + (size_t)(z - box.z0) * (box.y1 - box.y0 + 1) + (y - box.y0);
        if (begins) {
            atomic_min(ends + row, x);
        }
        if (stops) {
            atomic_max(ends + capacity + row, x);
        }
        if (MOMENTS) {
            const ulong count = sums[object], sum = sums[n + (size_t)object];
            const long at = x - (long)((sum + count / 2) / count);
            long before[4] = {0, 0, 0, 0}, after[4] = {0, 0, 0, 0};
            if (begins) {
                power_sums(at - 1, before);
            }
            if (stops) {
                power_sums(at, after);
            }
            for (int i = 0; i < 4; i++) {
                atom_add(powers + i * (size_t)capacity + row, (ulong)(after[i] - before[i]));
            }
        }
    }
}

/* Keys of the values of an image, object after object: cursor[object] is where the next one goes. */
GROUP_KERNEL void measure_gather(READ_PARAMS, const int w, const int h, const int rows,
                                 const uint first, const uint n, global ulong *cursor,
                                 global uint *keys)
{
    const int x = (int)get_global_id(0), plane = (int)get_group_id(2);
    const int y0 = (int)get_group_id(1) * rows, y1 = x < w ? min(y0 + rows, h) : y0;
    int y = y0;
    while (y < y1) {
        const uint object = tally_object(read_0(READ_ARGS, x, y, plane), first, n);
        int end = y + 1;
        while (object != 0 && end < y1 && read_0(READ_ARGS, x, end, plane) == object - 1 + first) {
            end++;
        }
        if (object != 0) {
            ulong at = atom_add(cursor + object - 1, (ulong)(end - y));
            for (int i = y; i < end; i++) {
                const float v = (float)READ_VALUE(READ_ARGS, x, i, plane) + 0.0f;
                const uint bits = as_uint(v);
                keys[at++] =
                    isnan(v) ? 0xffffffff : bits ^ (bits >> 31 ? 0xffffffff : 0x80000000);
            }
        }
        y = end;
    }
}

#define LANES 32

/* Moments weighted with READ_VALUE: a group an object (and power of z), a work-item every 32nd row;
 * the order of all additions is that of the rows. */
kernel __attribute__((reqd_work_group_size(LANES, 1, 1))) void
measure_weigh(READ_PARAMS, const uint first, const uint n, const uint out, global ulong *sums,
              global const uint *lows)
{
    local double lanes[LANES][16];
    const uint object = get_group_id(0), power = get_group_id(1), lane = get_local_id(0);
    const ulong count = sums[object];
    double m[16];
    for (int i = 0; i < 16; i++) {
        m[i] = 0;
    }
    if (count != 0) {
        const Box box = box_of(lows, n, object);
        const size_t stride = n;
        const int ax = (int)((sums[stride + object] + count / 2) / count);
        const int ay = (int)((sums[2 * stride + object] + count / 2) / count);
        const int az = SPACE ? (int)((sums[3 * stride * SPACE + object] + count / 2) / count) : 0;
        const int tall = box.y1 - box.y0 + 1, all = tall * (box.z1 - box.z0 + 1);
        for (int row = (int)lane; row < all; row += LANES) {
            const int y = box.y0 + row % tall, z = box.z0 + row / tall;
            double t[4] = {0, 0, 0, 0};
            for (int x = box.x0; x <= box.x1; x++) {
                if (read_0(READ_ARGS, x, y, z) == first + object) {
                    const double v = (double)READ_VALUE(READ_ARGS, x, y, z), dx = x - ax;
                    t[0] += v;
                    t[1] += v * dx;
                    t[2] += v * (dx * dx);
                    t[3] += v * (dx * dx * dx);
                }
            }
            const double dy = y - ay, dz = z - az;
            double scale = 1;
            for (uint i = 0; i < power; i++) {
                scale *= dz;
            }
            for (int q = 0; q < 4; q++) {
                for (int p = 0; p < 4; p++) {
                    m[4 * q + p] += t[p] * scale;
                }
                scale *= dy;
            }
        }
    }
    for (int i = 0; i < 16; i++) {
        lanes[lane][i] = m[i];
    }
    for (uint half = LANES / 2; half > 0; half /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < half) {
            for (int i = 0; i < 16; i++) {
                lanes[lane][i] += lanes[lane + half][i];
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < 16) {
        sums[(out + 16 * power + lane) * (size_t)n + object] = as_ulong(lanes[0][lane]);
    }
}

#define FILL_GROUP 128

/* Bits of `open` that `seed` reaches to the left and right. */
INLINE uint flood_word(uint seed, uint open)
{
    uint up = seed, down = seed, p = open, q = open;
    for (int step = 1; step < 32; step *= 2) {
        up |= p & (up << step);
        p &= p << step;
        down |= q & (down >> step);
        q &= q >> step;
    }
    return up | down;
}

/* A word of row (y, z) and what it gets from the words beside it. */
INLINE uint spread_word(global const uint *row, int k, int words)
{
    const uint v = row[k];
    const uint left = k > 0 ? row[k - 1] >> 31 : 0, right = k + 1 < words ? row[k + 1] << 31 : 0;
    return v | v << 1 | v >> 1 | left | right;
}

/*
 * Pixels of an object's box that are in the object or cannot be reached from outside it over
 * pixels and corners.  A group an object; bits in three buffers: open (not in the object), and
 * the reached ones, twice.  Rounds of one sweep down and up inside each word (for speed) and one
 * step to all neighbours from one buffer to the other (which decides when nothing changes).
 */
kernel __attribute__((reqd_work_group_size(FILL_GROUP, 1, 1))) void
measure_fill(READ_PARAMS, const uint first, const uint n, const uint from, const uint out,
             const ulong capacity, global ulong *sums, global const uint *lows,
             global const ulong *place, global uint *bits)
{
    local uint changed, reached_pixels;
    const uint object = from + get_group_id(0), lane = get_local_id(0);
    const Box box = box_of(lows, n, object);
    const bool present = box.x1 >= box.x0 && box.x0 >= 0;
    const int wide = present ? box.x1 - box.x0 + 1 : 0, tall = present ? box.y1 - box.y0 + 1 : 0;
    const int deep = present ? box.z1 - box.z0 + 1 : 0;
    const int words = (wide + 31) / 32, rows = tall * deep;
    global uint *open = bits + place[object], *a = open + capacity, *b = a + capacity;

    for (int i = (int)lane; i < words * rows; i += FILL_GROUP) {
        const int row = i / words, k = i % words, y = row % tall, z = row / tall;
        uint mask = 0, outside = 0;
        for (int j = 0; j < 32; j++) {
            const int x = 32 * k + j;
            const bool in = x < wide && read_0(READ_ARGS, box.x0 + x, box.y0 + y, box.z0 + z) ==
                                            first + object;
            mask |= in ? 0 : 1u << j;
            outside |= x == 0 || x >= wide - 1 ? 1u << j : 0;
        }
        const bool edge = y == 0 || y == tall - 1 || (SPACE && (z == 0 || z == deep - 1));
        open[i] = mask;
        a[i] = mask & (edge ? 0xffffffff : outside);
    }
    bool again = true;
    while (again) {
        barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
        if (lane == 0) {
            changed = 0;
        }
        for (int i = (int)lane; i < words * deep; i += FILL_GROUP) {
            const int base = i / words * tall * words + i % words;
            uint last = 0;
            for (int step = 0; step < 2 * tall; step++) {
                const int at = base + words * (step < tall ? step : 2 * tall - 1 - step);
                const uint v = a[at], seed = (v | last | last << 1 | last >> 1) & open[at];
                last = flood_word(seed, open[at]);
                a[at] = last;
            }
        }
        barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
        for (int row = (int)lane; row < rows; row += FILL_GROUP) {
            const int y = row % tall, z = row / tall;
            uint carry = 0, differs = 0;
            for (int k = 0; k < words; k++) {
                uint seed = carry;
                for (int s = 0; s < (SPACE ? 9 : 3); s++) {
                    const int ny = y + s % 3 - 1, nz = z + (SPACE ? s / 3 - 1 : 0);
                    if (ny >= 0 && ny < tall && nz >= 0 && nz < deep) {
                        seed |= spread_word(a + (nz * tall + ny) * (long)words, k, words);
                    }
                }
                const int at = row * words + k;
                const uint v = flood_word(seed & open[at], open[at]);
                b[at] = v;
                carry = v >> 31;
            }
            carry = 0;
            for (int k = words - 1; k >= 0; k--) {
                const int at = row * words + k;
                const uint v = flood_word((b[at] | carry << 31) & open[at], open[at]);
                b[at] = v;
                carry = v & 1;
                differs |= v ^ a[at];
            }
            if (differs != 0) {
                atomic_or(&changed, 1);
            }
        }
        barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
        again = changed != 0;
        global uint *swap = a;
        a = b;
        b = swap;
    }
    if (lane == 0) {
        reached_pixels = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint mine = 0;
    for (int i = (int)lane; i < words * rows; i += FILL_GROUP) {
        const int beyond = 32 * (i % words + 1) - wide; /* bits that are no pixels */
        mine += popcount(beyond > 0 ? a[i] & 0xffffffff >> beyond : a[i]);
    }
    atomic_add(&reached_pixels, mine);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane == 0 && present) {
        sums[out * (size_t)n + object] = (ulong)wide * (ulong)rows - reached_pixels;
    }
}
