/*
 * watershed: every pixel's way from a marker, without a queue.  watershed_paths.c says why this is the
 * flood.
 *
 *   watershed_start   markers get their keys, all other pixels are dry
 *   watershed_settle  keys sink in tiles until none does: how high, and how often as high, each way goes
 *   watershed_link    of ways with the same key, each pixel takes the first; round after round
 *   watershed_doubt   looks for pixels that markers of equal value contend for
 *   watershed_turns   gives markers their turns among those of equal value, where raster order is not wanted
 *   watershed_label   follows the links to the markers
 *
 * A pixel's key has the rank of the highest value on its way, its level, in the upper half, and how many pixels the way
 * has from that value on in the lower.  Its link is the last pixel of the way that lies lower; where there is none the
 * marker, whose link is itself.  Of a marker that count is 1, so that its turn has room there.
 *
 * It stands behind lanes.cl, and is the same text for all types of markers, with a mask and without.  The host
 * defines WATERSHED_3D, WATERSHED_CONNECTIVITY and the tile's WATERSHED_X, _Y and _Z.
 */
#pragma OPENCL FP_CONTRACT OFF

#define WATERSHED_CLOSED ((ulong)0) /* outside the mask; no key has this rank */
#define WATERSHED_DRY ULONG_MAX     /* no way yet */
#define WATERSHED_NONE UINT_MAX
#define WATERSHED_TURN 0x80000000u /* in the lower half: what is below is a turn, and the count is 1 */

#define WATERSHED_X_OF(k) ((k) % 3 - 1)
#define WATERSHED_Y_OF(k) ((k) / 3 % 3 - 1)
#define WATERSHED_Z_OF(k) ((k) / 9 - 1)
#define WATERSHED_COUNTS(k)                                                                        \
    ((k) != 13 && WATERSHED_X_OF(k) * WATERSHED_X_OF(k) + WATERSHED_Y_OF(k) * WATERSHED_Y_OF(k) +  \
                          WATERSHED_Z_OF(k) * WATERSHED_Z_OF(k) <=                                 \
                      WATERSHED_CONNECTIVITY)
#define WATERSHED_FIRST (WATERSHED_3D ? 0 : 9)
#define WATERSHED_END (WATERSHED_3D ? 27 : 18)

/* Numbers in the order of values, none of them 0; -0 and 0 are the same, NaN comes last. */
LANES_INLINE uint watershed_rank(float v)
{
    const uint bits = as_uint(v == 0 ? 0.0f : v);
    return isnan(v) ? UINT_MAX : bits >> 31 != 0 ? ~bits : bits | 0x80000000u;
}

LANES_INLINE uint watershed_top(ulong key)
{
    return (uint)(key >> 32);
}

/* The key of a way that goes on to a pixel of this rank. */
LANES_INLINE ulong watershed_go_on(ulong key, uint rank)
{
    const uint top = watershed_top(key);
    return rank > top ? (ulong)rank << 32 | 1 : key + 1;
}

#define WATERSHED_SHAPE int lanes, int w, int h, int d, uint rows, int pitch, int image_pitch

/* The neighbours of a pixel that lie in its volume, as bits of 27. */
LANES_INLINE uint watershed_inside(LanesSpot at, int w, int h, int d)
{
    const LanesSplit row = lanes_split(at.row, (uint)h), plane = lanes_split(row.over, (uint)d);
    const int y = (int)row.rest, z = (int)plane.rest;
    const uint ix = 0x2492492 | (at.x > 0 ? 0x1249249 : 0) | (at.x + 1 < w ? 0x4924924 : 0);
    const uint iy = 0x0e07038 | (y > 0 ? 0x01c0e07 : 0) | (y + 1 < h ? 0x70381c0 : 0);
    const uint iz = 0x003fe00 | (z > 0 ? 0x00001ff : 0) | (z + 1 < d ? 0x7fc0000 : 0);
    return ix & iy & iz;
}

/* ---- markers --------------------------------------------------------------------------- */

/* Whole numbers of 1, 2 or 4 bytes. */
typedef struct WatershedMarkers {
    int pitch, bytes;
    global const void *at;
} WatershedMarkers;
#define WATERSHED_MARKERS int marker_pitch, int marker_bytes, global const void *marker_at
#define WATERSHED_MARKERS_ARGS                                                                     \
    {                                                                                              \
        marker_pitch, marker_bytes, marker_at                                                      \
    }

LANES_INLINE uint watershed_marker(WatershedMarkers m, size_t row, size_t x)
{
    const size_t i = row * (size_t)m.pitch + x;
    return m.bytes == 1   ? ((global const uchar *)m.at)[i]
           : m.bytes == 2 ? ((global const ushort *)m.at)[i]
                          : ((global const uint *)m.at)[i];
}

/* ---- start ----------------------------------------------------------------------------- */

LANES_KERNEL void watershed_start(WATERSHED_SHAPE, WATERSHED_MARKERS, int mask_pitch, int masked,
                                  global const uchar *mask, global const float *image,
                                  global ulong *keys, global uint *links)
{
    const LanesSpot at = lanes_spot(w, lanes);
    if (at.x < w && at.row < rows) {
        const size_t row = at.row, x = (size_t)at.x, number = row * (size_t)pitch + x;
        const WatershedMarkers markers = WATERSHED_MARKERS_ARGS;
        const bool open = !masked || mask[row * (size_t)mask_pitch + x] != 0;
        const bool marked = open && watershed_marker(markers, row, x) != 0;
        const uint rank = watershed_rank(image[row * (size_t)image_pitch + x]);
        keys[number] = !open ? WATERSHED_CLOSED : marked ? (ulong)rank << 32 | 1 : WATERSHED_DRY;
        links[number] = marked ? (uint)number : WATERSHED_NONE;
    }
}

/* ---- keys ------------------------------------------------------------------------------ */

#define WATERSHED_EACH 4 /* pixels of a work-item */
#define WATERSHED_GROUP (WATERSHED_X * WATERSHED_Y * WATERSHED_Z / WATERSHED_EACH)
#define WATERSHED_WIDE (WATERSHED_X + 2)
#define WATERSHED_SLICE (WATERSHED_WIDE * (WATERSHED_Y + 2))
#define WATERSHED_CELLS (WATERSHED_SLICE * (WATERSHED_3D ? WATERSHED_Z + 2 : 1))

typedef struct WatershedTile {
    int x, y, z, plane; /* of the first pixel; z in the channel, plane over all */
    uint number;
} WatershedTile;

/* The place of a pixel of the tile among the cells, which have a border of one. */
LANES_INLINE int watershed_cell(int x, int y, int z)
{
    return (z + WATERSHED_3D) * WATERSHED_SLICE + (y + 1) * WATERSHED_WIDE + x + 1;
}

/* Directions, as bits of 27, in which a pixel of the tile has neighbours in other tiles (and its own). */
LANES_INLINE uint watershed_directions(int x, int y, int z)
{
    const uint ax = 0x2492492 | (x == 0 ? 0x1249249 : 0) | (x == WATERSHED_X - 1 ? 0x4924924 : 0);
    const uint ay = 0x0e07038 | (y == 0 ? 0x01c0e07 : 0) | (y == WATERSHED_Y - 1 ? 0x70381c0 : 0);
    const uint az = 0x003fe00 | (z == 0 ? 0x00001ff : 0) | (z == WATERSHED_Z - 1 ? 0x7fc0000 : 0);
    return ax & ay & az;
}

LANES_INLINE ulong watershed_sunk(local const ulong *cells, int at, uint rank)
{
    ulong least = cells[at];
#pragma unroll
    for (int k = WATERSHED_FIRST; k < WATERSHED_END; k++) {
        if (WATERSHED_COUNTS(k)) {
            const ulong key = cells[at + watershed_cell(WATERSHED_X_OF(k), WATERSHED_Y_OF(k), WATERSHED_Z_OF(k)) -
                                    watershed_cell(0, 0, 0)];
            least = key != WATERSHED_DRY ? min(least, watershed_go_on(key, rank)) : least;
        }
    }
    return least;
}

typedef struct WatershedVolume {
    int w, h, d, pitch, image_pitch;
    uint across, down, deep; /* tiles */
} WatershedVolume;

LANES_INLINE WatershedTile watershed_tile(WatershedVolume v)
{
    WatershedTile t;
    t.number = (uint)get_group_id(0);
    const LanesSplit x = lanes_split(t.number, v.across), y = lanes_split(x.over, v.down);
    const LanesSplit z = lanes_split(y.over, v.deep);
    t.x = (int)x.rest * WATERSHED_X;
    t.y = (int)y.rest * WATERSHED_Y;
    t.z = (int)z.rest * WATERSHED_Z;
    t.plane = (int)z.over * v.d + t.z;
    return t;
}

/* The key of cell i of a tile and its border; dry where there is no open pixel. */
LANES_INLINE ulong watershed_load(WatershedVolume v, WatershedTile t, int i, volatile global const ulong *keys)
{
    const int x = t.x + i % WATERSHED_WIDE - 1, y = t.y + i % WATERSHED_SLICE / WATERSHED_WIDE - 1;
    const int dz = WATERSHED_3D ? i / WATERSHED_SLICE - 1 : 0;
    ulong key = WATERSHED_CLOSED;
    if (x >= 0 && x < v.w && y >= 0 && y < v.h && t.z + dz >= 0 && t.z + dz < v.d) {
        key = keys[((size_t)(t.plane + dz) * (size_t)v.h + (size_t)y) * (size_t)v.pitch + (size_t)x];
    }
    return key == WATERSHED_CLOSED ? WATERSHED_DRY : key;
}

/* A pixel of a work-item. */
typedef struct WatershedPixel {
    size_t number;
    ulong key;
    uint rank;
    int place; /* among the cells */
    uint ways; /* watershed_directions */
    bool open, sinks, sunk;
} WatershedPixel;

LANES_INLINE WatershedPixel watershed_pixel(WatershedVolume v, WatershedTile t, int i, bool flagged,
                                            global const float *image, volatile global const ulong *keys)
{
    const int x = i % WATERSHED_X, y = i / WATERSHED_X % WATERSHED_Y, z = i / (WATERSHED_X * WATERSHED_Y);
    const size_t row = (size_t)(t.plane + z) * (size_t)v.h + (size_t)(t.y + y), column = (size_t)(t.x + x);
    WatershedPixel p;
    p.number = row * (size_t)v.pitch + column;
    p.key = WATERSHED_DRY;
    p.rank = 0;
    p.place = watershed_cell(x, y, z);
    p.ways = watershed_directions(x, y, z);
    p.open = flagged && t.x + x < v.w && t.y + y < v.h && t.z + z < v.d;
    p.open = p.open && keys[p.number] != WATERSHED_CLOSED;
    p.sinks = p.sunk = false;
    if (p.open) {
        p.rank = watershed_rank(image[row * (size_t)v.image_pitch + column]);
    }
    return p;
}

/* Flags the tile in direction k, if there is one, for the next launch. */
LANES_INLINE void watershed_flag(WatershedVolume v, WatershedTile t, int k, global uint *next, global uint *report)
{
    const int x = t.x / WATERSHED_X + WATERSHED_X_OF(k), y = t.y / WATERSHED_Y + WATERSHED_Y_OF(k);
    const int z = t.z / WATERSHED_Z + WATERSHED_Z_OF(k);
    if (x >= 0 && y >= 0 && z >= 0 && x < (int)v.across && y < (int)v.down && z < (int)v.deep) {
        const long step =
            WATERSHED_X_OF(k) + (long)v.across * (WATERSHED_Y_OF(k) + (long)v.down * WATERSHED_Z_OF(k));
        next[(long)t.number + step] = 1;
        *report = 1;
    }
}

/* A group lets the keys of a flagged tile sink until it is stable, and flags the tiles beside it, for the next
 * launch, where it changed what they see.  Tiles beside it may change meanwhile: they flag it in turn. */
kernel __attribute__((reqd_work_group_size(WATERSHED_GROUP, 1, 1))) void
watershed_settle(int w, int h, int d, int pitch, int image_pitch, uint across, uint down, uint deep,
                 global const float *image, volatile global ulong *keys, global uint *flags,
                 ulong now_at, ulong next_at, ulong report_at)
{
    local ulong cells[WATERSHED_CELLS];
    local uint sinking[2], directions;
    const WatershedVolume v = {w, h, d, pitch, image_pitch, across, down, deep};
    const int item = (int)get_local_id(0);
    const WatershedTile t = watershed_tile(v);
    const bool flagged = flags[now_at + t.number] != 0;
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (item == 0) {
        flags[now_at + t.number] = 0;
        directions = sinking[0] = sinking[1] = 0;
    }
    WatershedPixel own[WATERSHED_EACH];
    for (int k = 0; k < WATERSHED_EACH; k++) {
        own[k] = watershed_pixel(v, t, k * WATERSHED_GROUP + item, flagged, image, keys);
    }
    for (int i = item; i < WATERSHED_CELLS && flagged; i += WATERSHED_GROUP) {
        cells[i] = watershed_load(v, t, i, keys);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint going = flagged;
    for (uint round = 0; going != 0; round++) {
        for (int k = 0; k < WATERSHED_EACH; k++) {
            own[k].sinks = false;
            if (own[k].open) {
                own[k].key = watershed_sunk(cells, own[k].place, own[k].rank);
                own[k].sinks = own[k].key < cells[own[k].place];
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < WATERSHED_EACH; k++) {
            if (own[k].sinks) {
                cells[own[k].place] = own[k].key;
                own[k].sunk = true;
                sinking[round & 1] = 1;
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        going = sinking[round & 1];
        if (item == 0) {
            sinking[~round & 1] = 0;
        }
    }
    for (int k = 0; k < WATERSHED_EACH; k++) {
        if (own[k].sunk) {
            keys[own[k].number] = own[k].key;
            atomic_or(&directions, own[k].ways);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < 27 && item != 13 && (directions >> item & 1) != 0) {
        watershed_flag(v, t, item, flags + next_at, flags + report_at);
    }
}

/* ---- links ----------------------------------------------------------------------------- */

/* A pixel's key, without a turn. */
LANES_INLINE ulong watershed_key(volatile global const ulong *keys, size_t number)
{
    const ulong key = keys[number];
    return key != WATERSHED_DRY && (key & WATERSHED_TURN) != 0 ? key >> 32 << 32 | 1 : key;
}

/* When a marker comes among those of its value, which have turns all or none: then in raster order. */
LANES_INLINE uint watershed_turn(volatile global const ulong *keys, uint marker)
{
    const uint turn = (uint)keys[marker];
    return (turn & WATERSHED_TURN) != 0 ? turn & ~WATERSHED_TURN : marker;
}

typedef enum WatershedOrder { WATERSHED_BEFORE, WATERSHED_SAME, WATERSHED_BY_TURN, WATERSHED_AFTER } WatershedOrder;

/*
 * The order of two links of pixels whose way's highest rank is `top`.  The ways are compared from their highest
 * values down; one that has no lower part began there, and goes first.  BY_TURN: both are the same down to two
 * markers of equal value, *a and *b.
 */
LANES_INLINE WatershedOrder watershed_compare(volatile global const ulong *keys, volatile global const uint *links,
                                              uint top, uint *a, uint *b)
{
    WatershedOrder order = WATERSHED_SAME;
    while (order == WATERSHED_SAME && *a != *b) {
        if (*a == WATERSHED_NONE || *b == WATERSHED_NONE) {
            order = *b == WATERSHED_NONE ? WATERSHED_BEFORE : WATERSHED_AFTER;
        } else {
            const ulong key_a = watershed_key(keys, *a), key_b = watershed_key(keys, *b);
            const bool began_a = watershed_top(key_a) == top, began_b = watershed_top(key_b) == top;
            if (began_a || began_b) {
                order = began_a && began_b ? WATERSHED_BY_TURN : began_a ? WATERSHED_BEFORE : WATERSHED_AFTER;
            } else if (key_a != key_b) {
                order = key_a < key_b ? WATERSHED_BEFORE : WATERSHED_AFTER;
            } else {
                top = watershed_top(key_a);
                *a = links[*a];
                *b = links[*b];
            }
        }
    }
    return order;
}

/* The link by which a pixel with this key may follow a neighbour; NONE: it may not. */
LANES_INLINE uint watershed_offer(volatile global const ulong *keys, volatile global const uint *links, size_t from,
                                  ulong key, uint rank)
{
    const ulong beside = watershed_key(keys, from);
    const bool fits = beside != WATERSHED_CLOSED && beside != WATERSHED_DRY && watershed_go_on(beside, rank) == key;
    return !fits ? WATERSHED_NONE : watershed_top(beside) < watershed_top(key) ? (uint)from : links[from];
}

LANES_INLINE long watershed_step(int k, int h, int pitch)
{
    return WATERSHED_X_OF(k) + (long)pitch * (WATERSHED_Y_OF(k) + (long)h * WATERSHED_Z_OF(k));
}

/* A wet pixel that is no marker? */
LANES_INLINE bool watershed_follows(volatile global const ulong *keys, volatile global const uint *links, size_t number)
{
    const ulong key = keys[number];
    return key != WATERSHED_CLOSED && key != WATERSHED_DRY && links[number] != (uint)number;
}

LANES_KERNEL void watershed_link(WATERSHED_SHAPE, global const float *image, volatile global const ulong *keys,
                                 volatile global uint *links, global uint *flags, ulong report_at)
{
    const LanesSpot at = lanes_spot(w, lanes);
    const size_t number = (size_t)at.row * (size_t)pitch + (size_t)at.x;
    if (at.x < w && at.row < rows && watershed_follows(keys, links, number)) {
        const uint inside = watershed_inside(at, w, h, d);
        const uint rank = watershed_rank(image[(size_t)at.row * (size_t)image_pitch + (size_t)at.x]);
        const ulong key = keys[number];
        uint best = WATERSHED_NONE;
#pragma unroll 1
        for (int k = WATERSHED_FIRST; k < WATERSHED_END; k++) {
            if (WATERSHED_COUNTS(k) && (inside >> k & 1) != 0) {
                const uint offer =
                    watershed_offer(keys, links, (size_t)((long)number + watershed_step(k, h, pitch)), key, rank);
                uint a = offer, b = best;
                const WatershedOrder order = watershed_compare(keys, links, watershed_top(key), &a, &b);
                const bool same = order == WATERSHED_SAME && offer < best;
                best = order == WATERSHED_BEFORE || same ||
                               (order == WATERSHED_BY_TURN && watershed_turn(keys, a) < watershed_turn(keys, b))
                           ? offer
                           : best;
            }
        }
        if (best != links[number]) {
            links[number] = best;
            flags[report_at] = 1;
        }
    }
}

LANES_INLINE uint watershed_label_of(WatershedMarkers markers, uint number, int pitch)
{
    const LanesSplit at = lanes_split(number, (uint)pitch);
    return watershed_marker(markers, at.over, at.rest);
}

/* Reports the highest rank of markers for which some pixel would have another label if others of their rank came
 * first. */
LANES_KERNEL void watershed_doubt(WATERSHED_SHAPE, WATERSHED_MARKERS, global const float *image,
                                  volatile global const ulong *keys, volatile global const uint *links,
                                  global uint *flags, ulong report_at)
{
    const WatershedMarkers markers = WATERSHED_MARKERS_ARGS;
    const LanesSpot at = lanes_spot(w, lanes);
    const size_t number = (size_t)at.row * (size_t)pitch + (size_t)at.x;
    if (at.x < w && at.row < rows && watershed_follows(keys, links, number)) {
        const uint inside = watershed_inside(at, w, h, d);
        const uint rank = watershed_rank(image[(size_t)at.row * (size_t)image_pitch + (size_t)at.x]);
        const ulong key = keys[number];
#pragma unroll 1
        for (int k = WATERSHED_FIRST; k < WATERSHED_END; k++) {
            if (WATERSHED_COUNTS(k) && (inside >> k & 1) != 0) {
                uint a = watershed_offer(keys, links, (size_t)((long)number + watershed_step(k, h, pitch)), key, rank);
                uint b = links[number];
                if (watershed_compare(keys, links, watershed_top(key), &a, &b) == WATERSHED_BY_TURN &&
                    watershed_label_of(markers, a, pitch) != watershed_label_of(markers, b, pitch)) {
                    atomic_max(&flags[report_at], watershed_top(keys[a]));
                }
            }
        }
    }
}

kernel void watershed_turns(global ulong *keys, global const uint *list, ulong list_at, uint n, uint first)
{
    const uint i = (uint)get_global_id(0);
    if (i < n) {
        const uint marker = list[list_at + i];
        keys[marker] = keys[marker] >> 32 << 32 | WATERSHED_TURN | (first + i);
    }
}

/* Labels take the place of the keys; labels[most_at]: the largest of them. */
LANES_KERNEL void watershed_label(WATERSHED_SHAPE, WATERSHED_MARKERS, global const uint *links,
                                  global uint *labels, ulong most_at)
{
    local uint own_most;
    const WatershedMarkers markers = WATERSHED_MARKERS_ARGS;
    const LanesSpot at = lanes_spot(w, lanes);
    if (get_local_id(0) == 0) {
        own_most = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (at.x < w && at.row < rows) {
        const size_t number = (size_t)at.row * (size_t)pitch + (size_t)at.x;
        uint link = links[number];
        while (link != WATERSHED_NONE && links[link] != link) {
            link = links[link];
        }
        const uint label = link == WATERSHED_NONE ? 0 : watershed_label_of(markers, link, pitch);
        labels[number] = label;
        atomic_max(&own_most, label);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
        atomic_max(&labels[most_at], own_most);
    }
}
