/*
 * label_equal: connected components of equal non-zero pixels of a stored image.
 *
 * Union-find over pixels: the parent of a pixel is an earlier pixel of its object, a root is its
 * own parent, background is NO_NODE.  Pixels are numbered along rows of `pitch` elements, so
 * numbers follow raster order and the root of an object is its first pixel.
 *
 *   equal_start   points each pixel to the start of its run, in segments of 32 pixels
 *   equal_join    unites neighbours
 *   equal_flatten points all pixels to their roots
 *   equal_rank    marks roots by bits, and counts them
 *   scan_sums     adds the counts up
 *   equal_write   writes the numbers; a work-item reads its own pixel alone
 *
 * Parents lie in the label image or, with LABEL_WIDE, as 64 bits in front of scratch.  The first two kernels stand
 * in a program for each type of image (PIXEL, with CONNECTIVITY and THREE_D), the others in one for all, behind
 * scan.cl and with RANK_GROUP.  The host defines these, and LABEL_WIDE for both.
 */
#pragma OPENCL FP_CONTRACT OFF

#define EQUAL_INLINE static inline __attribute__((always_inline))
#define SEGMENT 32
#define RANK_BLOCK 256 /* words of 32 pixels that share a sum */

#if LABEL_WIDE
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
typedef ulong Node;
#define exchange atom_cmpxchg
#define lower atom_min
#else
typedef uint Node;
#define exchange atomic_cmpxchg
#define lower atomic_min
#endif
#define NO_NODE ((Node)-1)

#ifdef PIXEL

typedef struct Grid {
    int w, h, d, planes, pitch;
    int image_pitch;
    int lanes; /* log2 of the work-items of a group that lie in a row */
    size_t image_first; /* the image begins at this pixel of its memory */
} Grid;

#define GRID_PARAMS                                                                                \
    int grid_w, int grid_h, int grid_d, int grid_planes, int grid_pitch, int grid_image_pitch,     \
        int grid_lanes, ulong grid_image_first
#define GRID                                                                                       \
    {                                                                                              \
        grid_w, grid_h, grid_d, grid_planes, grid_pitch, grid_image_pitch, grid_lanes,             \
            grid_image_first                                                                       \
    }

typedef struct Spot {
    int x, y, plane;
} Spot;

/* The pixel of a work-item: rows of a group's 2^lanes columns lie below each other. */
EQUAL_INLINE Spot spot_of_item(Grid g)
{
    const uint across = (uint)1 << g.lanes, item = (uint)get_local_id(0);
    const uint tiles = ((uint)g.pitch + across - 1) >> g.lanes;
    const uint group = (uint)get_group_id(0), strip = group / tiles;
    const uint row = strip * ((uint)get_local_size(0) >> g.lanes) + (item >> g.lanes);
    Spot at;
    at.x = (int)(((group - strip * tiles) << g.lanes) + (item & (across - 1)));
    at.plane = (int)(row / (uint)g.h);
    at.y = (int)(row - (uint)at.plane * (uint)g.h);
    return at;
}

EQUAL_INLINE size_t row_of(Grid g, Spot at)
{
    return (size_t)at.plane * (size_t)g.h + (size_t)at.y;
}

EQUAL_INLINE size_t number_of(Grid g, Spot at)
{
    return row_of(g, at) * (size_t)g.pitch + (size_t)at.x;
}

EQUAL_INLINE PIXEL pixel_at(Grid g, global const PIXEL *image, Spot at)
{
    return image[g.image_first + row_of(g, at) * (size_t)g.image_pitch + (size_t)at.x];
}

kernel void equal_start(GRID_PARAMS, global const PIXEL *image, global Node *parents)
{
    const Grid g = GRID;
    Spot at = spot_of_item(g);
    if (at.plane < g.planes && at.x < g.pitch) {
        const size_t number = number_of(g, at);
        const PIXEL value = at.x < g.w ? pixel_at(g, image, at) : (PIXEL)0;
        Node start = NO_NODE;
        if (value != 0 && value == value) {
            start = (Node)number;
            for (at.x--; (at.x + 1) % SEGMENT != 0 && pixel_at(g, image, at) == value; at.x--) {
                start--;
            }
        }
        parents[number] = start;
    }
}

#endif

/* As in label.cl: only nodes that are no roots any more are written to, and parents only sink. */
EQUAL_INLINE Node find(volatile global Node *parents, Node node)
{
    for (;;) {
        const Node up = parents[node];
        if (up == node) {
            return node;
        }
        const Node above = parents[up];
        if (above == up) {
            return up;
        }
        lower(&parents[node], above);
        node = above;
    }
}

#ifdef PIXEL

EQUAL_INLINE void unite(volatile global Node *parents, Node a, Node b)
{
    a = find(parents, a);
    b = find(parents, b);
    while (a != b) {
        const Node high = max(a, b), low = min(a, b);
        const Node was = exchange(&parents[high], high, low);
        a = was == high ? low : find(parents, was);
        b = low;
    }
}

/* True when the pixel to the left has this value, too. */
EQUAL_INLINE bool continues(Grid g, global const PIXEL *image, Spot at, PIXEL value)
{
    at.x--;
    return at.x >= 0 && pixel_at(g, image, at) == value;
}

kernel void equal_join(GRID_PARAMS, global const PIXEL *image, volatile global Node *parents)
{
    const Grid g = GRID;
    const Spot at = spot_of_item(g);
    const bool inside = at.plane < g.planes && at.x < g.w;
    const PIXEL value = inside ? pixel_at(g, image, at) : (PIXEL)0;
    if (value != 0 && value == value) {
        const Node node = (Node)number_of(g, at);
        const bool run = continues(g, image, at, value);
        const int z = at.plane % g.d;
        for (int dz = THREE_D ? -1 : 0; dz <= 0; dz++) {
            for (int dy = -1; dy <= -dz; dy++) {
                for (int dx = -1; dx <= (dz == 0 && dy == 0 ? -1 : 1); dx++) {
                    const Spot other = {at.x + dx, at.y + dy, at.plane + dz};
                    const bool near = dx * dx + dy * dy + dz * dz <= CONNECTIVITY && other.x >= 0 &&
                                      other.x < g.w && other.y >= 0 && other.y < g.h && z + dz >= 0;
                    if (!near || pixel_at(g, image, other) != value) {
                        continue;
                    }
                    /* Inside a segment equal_start has united the row; and where the runs of both
                     * rows go on to the left, the pixels there unite them. */
                    const bool done = dy == 0 && dz == 0 ? at.x % SEGMENT != 0
                                                         : run && continues(g, image, other, value);
                    if (!done) {
                        unite(parents, node, (Node)number_of(g, other));
                    }
                }
            }
        }
    }
}

#else

kernel void equal_flatten(ulong numbers, volatile global Node *parents)
{
    const size_t number = get_global_id(0);
    if (number < numbers) {
        const Node node = parents[number];
        if (node != NO_NODE) {
            parents[number] = find(parents, node);
        }
    }
}

/* From scratch[rank_at]: a bit for each pixel that is a root; the roots before each word in its
 * block; sums. */
kernel __attribute__((reqd_work_group_size(RANK_GROUP, 1, 1))) void
equal_rank(ulong numbers, global const Node *parents, global uint *scratch, ulong rank_at)
{
    local uint sums[RANK_GROUP];
    global uint *const rank = scratch + rank_at;
    const uint words = (uint)((numbers + 31) / 32), each = RANK_BLOCK / RANK_GROUP;
    const uint group = (uint)get_group_id(0), item = (uint)get_local_id(0);
    const uint first = group * RANK_BLOCK + item * each;
    uint own = 0, all;
    for (uint i = first; i < first + each && i < words; i++) {
        uint roots = 0;
        for (uint bit = 0; bit < 32; bit++) {
            const size_t number = (size_t)i * 32 + bit;
            if (number < numbers && parents[number] == (Node)number) {
                roots |= 1u << bit;
            }
        }
        rank[i] = roots;
        own += (uint)popcount(roots);
    }
    uint before = scan_group(sums, own, &all);
    for (uint i = first; i < first + each && i < words; i++) {
        rank[words + i] = before;
        before += (uint)popcount(rank[i]);
    }
    if (item == 0) {
        rank[2 * (size_t)words + group] = all;
    }
}

kernel void equal_write(ulong numbers, global const Node *parents, global const uint *scratch,
                        ulong rank_at, global uint *labels)
{
    global const uint *const rank = scratch + rank_at;
    const uint words = (uint)((numbers + 31) / 32);
    const size_t number = get_global_id(0);
    if (number < numbers) {
        const Node root = parents[number];
        uint label = 0;
        if (root != NO_NODE) {
            const uint word = (uint)(root / 32), bit = 1u << (uint)(root % 32);
            label = rank[2 * (size_t)words + word / RANK_BLOCK] + rank[words + word] +
                    (uint)popcount(rank[word] & (bit - 1)) + 1;
        }
        labels[number] = label;
    }
}

#endif
