/*
 * propagate: values rise to those of their neighbours, up to a ceiling each, until nothing changes.
 * The result does not depend on the order in which they do.
 *
 * The image is cut into tiles.  A group takes a tile, with a border of one pixel, into local memory,
 * lets values rise until the tile is stable, writes them back and, where pixels at its border rose,
 * flags the tiles next to them.  Tiles without a flag are left alone.  A launch takes every second
 * tile along each axis (one of 4 colours, in volumes 8), so that no group reads what another one
 * writes.  The host launches until no tile has flagged another one.
 *
 * On GPUs a work-item has PROPAGATE_STRIP pixels below each other, and all read their neighbours
 * before any writes.  On CPUs one work-item walks over the tile to and fro.
 *
 * It stands behind lanes.cl.  The host defines PROPAGATE_CPU, PROPAGATE_3D, PROPAGATE_CONNECTIVITY
 * and the tile's PROPAGATE_X, _Y
 * and _Z; the text before this one PROPAGATE_VALUE, its PROPAGATE_LEAST, PROPAGATE_IMAGE and
 *     PROPAGATE_VALUE propagate_ceiling(global const PROPAGATE_IMAGE *image, size_t at,
 *                                       PROPAGATE_VALUE value, int how).
 */
#pragma OPENCL FP_CONTRACT OFF

#define PROPAGATE_INLINE static inline __attribute__((always_inline))
#define PROPAGATE_STRIP 4
#define PROPAGATE_CELLS (PROPAGATE_X * PROPAGATE_Y * PROPAGATE_Z)
#define PROPAGATE_WIDE (PROPAGATE_X + 2)
#define PROPAGATE_TALL (PROPAGATE_Y + 2)
#if PROPAGATE_3D
#define PROPAGATE_DEEP (PROPAGATE_Z + 2)
#else
#define PROPAGATE_DEEP 1
#endif
#define PROPAGATE_ALL (PROPAGATE_WIDE * PROPAGATE_TALL * PROPAGATE_DEEP)
#define PROPAGATE_SLICE (PROPAGATE_WIDE * PROPAGATE_TALL)
#if PROPAGATE_CPU
#define PROPAGATE_GROUP 1
#else
#define PROPAGATE_GROUP (PROPAGATE_CELLS / PROPAGATE_STRIP)
#endif
#define PROPAGATE_KERNEL kernel __attribute__((reqd_work_group_size(PROPAGATE_GROUP, 1, 1)))

typedef PROPAGATE_VALUE PropagateValue;

/* A tile: the place of its first pixel, z counted in the channel, plane over all. */
typedef struct PropagateTile {
    int x, y, z, plane;
    uint number;
} PropagateTile;

typedef struct PropagateShape {
    int w, h, d, pitch, image_pitch;
    uint across, down, deep; /* tiles */
} PropagateShape;

/* Tile number `group` of a colour; a colour is the parity of the tile on each axis. */
PROPAGATE_INLINE PropagateTile propagate_tile(PropagateShape s, uint colour, uint group)
{
    const uint cx = colour & 1, cy = colour >> 1 & 1, cz = colour >> 2;
    const uint nx = (s.across + 1 - cx) / 2, ny = (s.down + 1 - cy) / 2, nz = (s.deep + 1 - cz) / 2;
    const LanesSplit x = lanes_split(group, nx), y = lanes_split(x.over, ny);
    const LanesSplit z = lanes_split(y.over, nz);
    const uint tx = x.rest * 2 + cx, ty = y.rest * 2 + cy, tz = z.rest * 2 + cz, channel = z.over;
    PropagateTile t;
    t.x = (int)tx * PROPAGATE_X;
    t.y = (int)ty * PROPAGATE_Y;
    t.z = (int)tz * PROPAGATE_Z;
    t.plane = (int)channel * s.d + t.z;
    t.number = ((channel * s.deep + tz) * s.down + ty) * s.across + tx;
    return t;
}

/* Cell i of a tile with its border; -1 where it lies outside the volume. */
PROPAGATE_INLINE long propagate_cell(PropagateShape s, PropagateTile t, int i, int pitch)
{
    const int x = t.x + i % PROPAGATE_WIDE - 1;
    const int y = t.y + i / PROPAGATE_WIDE % PROPAGATE_TALL - 1;
    const int dz = PROPAGATE_3D ? i / PROPAGATE_SLICE - 1 : 0;
    const bool inside = x >= 0 && x < s.w && y >= 0 && y < s.h && t.z + dz >= 0 && t.z + dz < s.d;
    return inside ? ((long)(t.plane + dz) * s.h + y) * pitch + x : -1;
}

/* The place of a pixel of the tile among the cells. */
PROPAGATE_INLINE int propagate_place(int x, int y, int z)
{
    return ((z + PROPAGATE_3D) * PROPAGATE_TALL + y + 1) * PROPAGATE_WIDE + x + 1;
}

/*
 * Directions, as bits of 27, in which pixels of a row of the tile have neighbours in other tiles (and
 * in their own: bit 13, and others that do no harm).  The bits of `at` say which pixels: any (1), the
 * first (2), the last (4).
 */
PROPAGATE_INLINE uint propagate_directions(uint at, int y, int z)
{
    const uint ax = ((at & 1) != 0 ? 0x2492492 : 0) | ((at & 2) != 0 ? 0x1249249 : 0) |
                    ((at & 4) != 0 ? 0x4924924 : 0);
    const uint ay = 0x0e07038 | (y == 0 ? 0x01c0e07 : 0) | (y == PROPAGATE_Y - 1 ? 0x70381c0 : 0);
    const uint az = 0x003fe00 | (z == 0 ? 0x00001ff : 0) | (z == PROPAGATE_Z - 1 ? 0x7fc0000 : 0);
    return ax & ay & az;
}

/* Flags the tiles in these directions. */
PROPAGATE_INLINE void propagate_flag(PropagateShape s, PropagateTile t, uint directions, int k,
                                     global uint *flags, global uint *report)
{
    const int tx = t.x / PROPAGATE_X + k % 3 - 1, ty = t.y / PROPAGATE_Y + k / 3 % 3 - 1;
    const int tz = t.z / PROPAGATE_Z + k / 9 - 1;
    if (k != 13 && (directions >> k & 1) != 0 && tx >= 0 && ty >= 0 && tz >= 0 &&
        tx < (int)s.across && ty < (int)s.down && tz < (int)s.deep) {
        const long next = (k % 3 - 1) + (long)s.across * ((k / 3 % 3 - 1) + (long)s.down * (k / 9 - 1));
        flags[(long)t.number + next] = 1;
        *report = 1;
    }
}

PROPAGATE_INLINE PropagateValue propagate_read(local const PropagateValue *cells, int at, int dx,
                                               int dy, int dz)
{
    return cells[at + (dz * PROPAGATE_TALL + dy) * PROPAGATE_WIDE + dx];
}

/* The largest value at (dx, dz) != (0, 0), with `more` added to the squared distance. */
PROPAGATE_INLINE PropagateValue propagate_around(local const PropagateValue *cells, int at,
                                                 const int more)
{
    PropagateValue most = PROPAGATE_LEAST;
#pragma unroll
    for (int dz = -PROPAGATE_3D; dz <= PROPAGATE_3D; dz++) {
#pragma unroll
        for (int dx = -1; dx <= 1; dx++) {
            const int far = dx * dx + dz * dz;
            if (far > 0 && far + more <= PROPAGATE_CONNECTIVITY) {
                most = max(most, propagate_read(cells, at, dx, 0, dz));
            }
        }
    }
    return most;
}

#if PROPAGATE_CPU

/* The largest of the neighbours before (sign -1) or behind (1) a cell, in raster order. */
PROPAGATE_INLINE PropagateValue propagate_beside(local const PropagateValue *cells, int at,
                                                 const int sign)
{
    PropagateValue most = PROPAGATE_LEAST;
#pragma unroll
    for (int k = 0; k < 13; k++) {
        const int dx = k % 3 - 1, dy = k / 3 % 3 - 1, dz = k / 9 - 1;
        if ((PROPAGATE_3D || dz == 0) && dx * dx + dy * dy + dz * dz <= PROPAGATE_CONNECTIVITY) {
            most = max(most, propagate_read(cells, at, -sign * dx, -sign * dy, -sign * dz));
        }
    }
    return most;
}

/* One walk over a tile, in raster order (sign -1) or against it; did any pixel rise? */
PROPAGATE_INLINE bool propagate_walk(local PropagateValue *cells, local const PropagateValue *most,
                                     const int sign)
{
    bool rose = false;
    for (int row = 0; row < PROPAGATE_Y * PROPAGATE_Z; row++) {
        const int r = sign < 0 ? row : PROPAGATE_Y * PROPAGATE_Z - 1 - row;
        const int first = propagate_place(0, r % PROPAGATE_Y, r / PROPAGATE_Y);
        for (int i = 0; i < PROPAGATE_X; i++) {
            const int x = sign < 0 ? i : PROPAGATE_X - 1 - i;
            const PropagateValue top = most[r * PROPAGATE_X + x];
            const PropagateValue risen = min(top, propagate_beside(cells, first + x, sign));
            if (risen > cells[first + x]) {
                cells[first + x] = risen;
                rose = true;
            }
        }
    }
    return rose;
}

/* Lets the values of a tile rise until it is stable. */
PROPAGATE_INLINE void propagate_settle(local PropagateValue *cells,
                                       local const PropagateValue *most)
{
    bool going = true;
    for (int round = 0; going; round++) {
        going = propagate_walk(cells, most, -1);
        if (going || round == 0) {
            going = propagate_walk(cells, most, 1);
        }
    }
}

/* Loads a tile with its border, and its ceilings. */
PROPAGATE_INLINE void propagate_load(PropagateShape s, PropagateTile t, int how,
                                     global const PropagateValue *values,
                                     global const PROPAGATE_IMAGE *image,
                                     local PropagateValue *cells, local PropagateValue *most)
{
    for (int row = 0; row < PROPAGATE_TALL * PROPAGATE_DEEP; row++) {
        const int cy = row % PROPAGATE_TALL - 1, cz = row / PROPAGATE_TALL - PROPAGATE_3D;
        const int y = t.y + cy, z = t.z + cz;
        const bool inside = y >= 0 && y < s.h && z >= 0 && z < s.d;
        const bool own = cy >= 0 && cy < PROPAGATE_Y && cz >= 0 && cz < PROPAGATE_Z;
        const long line = (long)(t.plane + cz) * s.h + y;
        local PropagateValue *const to = cells + row * PROPAGATE_WIDE;
        const int begin = inside ? max(0, 1 - t.x) : PROPAGATE_WIDE;
        const int end = inside ? min(PROPAGATE_WIDE, s.w - t.x + 1) : PROPAGATE_WIDE;
        for (int i = 0; i < PROPAGATE_WIDE; i++) {
            to[i] = i >= begin && i < end ? values[line * s.pitch + t.x + i - 1] : PROPAGATE_LEAST;
        }
        for (int i = 0; i < PROPAGATE_X && own; i++) {
            most[(cz * PROPAGATE_Y + cy) * PROPAGATE_X + i] =
                i + 1 >= begin && i + 1 < end
                    ? propagate_ceiling(image, (size_t)(line * s.image_pitch + t.x + i), to[i + 1],
                                        how)
                    : PROPAGATE_LEAST;
        }
    }
}

/* Stores a tile; the directions in which pixels rose. */
PROPAGATE_INLINE uint propagate_store(PropagateShape s, PropagateTile t,
                                      local const PropagateValue *cells,
                                      global PropagateValue *values)
{
    uint directions = 0;
    for (int z = 0; z < min(PROPAGATE_Z, s.d - t.z); z++) {
        for (int y = 0; y < min(PROPAGATE_Y, s.h - t.y); y++) {
            const long first = ((long)(t.plane + z) * s.h + t.y + y) * s.pitch + t.x;
            uint rose = 0;
            for (int x = 0; x < min(PROPAGATE_X, s.w - t.x); x++) {
                const PropagateValue value = cells[propagate_place(x, y, z)];
                if (value > values[first + x]) {
                    values[first + x] = value;
                    rose |= 1 | (x == 0 ? 2 : 0) | (x == PROPAGATE_X - 1 ? 4 : 0);
                }
            }
            directions |= propagate_directions(rose, y, z);
        }
    }
    return directions;
}

#else

/* The pixels of a work-item: x, y, z of the first one in the tile. */
typedef struct PropagateStrip {
    int x, y, z;
    PropagateValue value[PROPAGATE_STRIP], most[PROPAGATE_STRIP];
} PropagateStrip;

PROPAGATE_INLINE void propagate_raise(PropagateStrip *strip, int k, PropagateValue to)
{
    strip->value[k] = max(strip->value[k], min(strip->most[k], to));
}

/* Raises the pixels of a strip to those around, then to each other; the directions of those that rose. */
PROPAGATE_INLINE uint propagate_strip(local const PropagateValue *cells, PropagateStrip *strip)
{
    const int at = propagate_place(strip->x, strip->y, strip->z);
    PropagateValue flat[PROPAGATE_STRIP + 2], slanted[PROPAGATE_STRIP + 2], was[PROPAGATE_STRIP];
#pragma unroll
    for (int k = 0; k < PROPAGATE_STRIP + 2; k++) {
        flat[k] = propagate_around(cells, at + (k - 1) * PROPAGATE_WIDE, 0);
        slanted[k] = propagate_around(cells, at + (k - 1) * PROPAGATE_WIDE, 1);
    }
    PropagateValue above = propagate_read(cells, at, 0, -1, 0);
#pragma unroll
    for (int k = 0; k < PROPAGATE_STRIP; k++) {
        was[k] = strip->value[k];
        propagate_raise(strip, k, max(flat[k + 1], max(slanted[k], slanted[k + 2])));
        propagate_raise(strip, k, above);
        above = strip->value[k];
    }
    PropagateValue below = propagate_read(cells, at, 0, PROPAGATE_STRIP, 0);
    const uint ends = 1 | (strip->x == 0 ? 2 : 0) | (strip->x == PROPAGATE_X - 1 ? 4 : 0);
    uint directions = 0;
#pragma unroll
    for (int k = PROPAGATE_STRIP - 1; k >= 0; k--) {
        propagate_raise(strip, k, below);
        below = strip->value[k];
        directions |= strip->value[k] > was[k]
                          ? propagate_directions(ends, strip->y + k, strip->z)
                          : 0;
    }
    return directions;
}

#endif

PROPAGATE_KERNEL void propagate_tiles(int w, int h, int d, int pitch, int image_pitch, uint across,
                                      uint down, uint deep, uint colour, int how,
                                      global PropagateValue *values,
                                      global const PROPAGATE_IMAGE *image, ulong flags_at,
                                      ulong report_at, global uint *scratch)
{
    local PropagateValue cells[PROPAGATE_ALL];
    local uint directions;
    PropagateShape s;
    s.w = w;
    s.h = h;
    s.d = d;
    s.pitch = pitch;
    s.image_pitch = image_pitch;
    s.across = across;
    s.down = down;
    s.deep = deep;
    const int item = (int)get_local_id(0);
    const PropagateTile t = propagate_tile(s, colour, (uint)get_group_id(0));
    global uint *const flags = scratch + flags_at;
    const bool flagged = flags[t.number] != 0;
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (item == 0) {
        directions = 0;
        flags[t.number] = 0;
    }
#if PROPAGATE_CPU
    local PropagateValue most[PROPAGATE_CELLS];
    if (flagged) {
        propagate_load(s, t, how, values, image, cells, most);
        propagate_settle(cells, most);
        directions = propagate_store(s, t, cells, values);
#pragma unroll 1
        for (int k = 0; k < 27; k++) {
            propagate_flag(s, t, directions, k, flags, scratch + report_at);
        }
    }
#else
    for (int i = item; i < PROPAGATE_ALL && flagged; i += PROPAGATE_GROUP) {
        const long at = propagate_cell(s, t, i, pitch);
        cells[i] = at >= 0 ? values[at] : PROPAGATE_LEAST;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    local uint rising[2];
    PropagateStrip strip;
    strip.x = item % PROPAGATE_X;
    strip.y = item / PROPAGATE_X % (PROPAGATE_Y / PROPAGATE_STRIP) * PROPAGATE_STRIP;
    strip.z = item / (PROPAGATE_X * (PROPAGATE_Y / PROPAGATE_STRIP));
    const int first = propagate_place(strip.x, strip.y, strip.z);
    for (int k = 0; k < PROPAGATE_STRIP; k++) {
        const int place = first + k * PROPAGATE_WIDE;
        const long at = flagged ? propagate_cell(s, t, place, image_pitch) : -1;
        strip.value[k] = flagged ? cells[place] : PROPAGATE_LEAST;
        strip.most[k] = at >= 0 ? propagate_ceiling(image, (size_t)at, strip.value[k], how)
                                : PROPAGATE_LEAST;
    }
    if (item < 2) {
        rising[item] = 0;
    }
    uint own = 0, going = flagged;
    for (uint round = 0; going != 0; round++) {
        const uint rose = propagate_strip(cells, &strip);
        own |= rose;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (rose != 0) {
            for (int k = 0; k < PROPAGATE_STRIP; k++) {
                cells[first + k * PROPAGATE_WIDE] = strip.value[k];
            }
            rising[round & 1] = 1;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        going = rising[round & 1];
        if (item == 0) {
            rising[~round & 1] = 0;
        }
    }
    if (own != 0) {
        atomic_or(&directions, own);
        for (int k = 0; k < PROPAGATE_STRIP; k++) {
            const long at = propagate_cell(s, t, first + k * PROPAGATE_WIDE, pitch);
            if (at >= 0) {
                values[at] = strip.value[k];
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < 27 && directions != 0) {
        propagate_flag(s, t, directions, item, flags, scratch + report_at);
    }
#endif
}
