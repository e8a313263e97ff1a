/*
 * distance: the nearest site of every pixel, and from it exact distances (DISTANCE_LABELS 0: sites
 * are false pixels) or grown labels (1: sites are labelled pixels).
 *
 * Sites are found axis by axis.  Along the first one (z, or y of a plane) sites are bits, 32 to a
 * word, and the nearest bit is the answer.  Along the others every pixel looks for the pixel q of its
 * line whose own site is nearest to it: the least of (own step to q)^2 + (what q has found)^2,
 * the first of equals.  What a pixel has found is kept as a code, the place of the site in the plane
 * of constant x: y, or z and y together.
 *
 * The search of a line starts at the pixel and goes outwards until the step alone is longer than the
 * best so far; so it costs as many looks as the distance is long.  Where distances are long, the
 * answer is first found for every 512th pixel of a line, then for every 32nd, then for all: the
 * answers' order along a line is that of the pixels (squares are convex, also when rounded), so that
 * those of a coarse round bound those between them.
 *
 * In parts (DISTANCE_PART) the first axis is the one that is cut.  Of each column along it the part
 * knows the last site before it and the first one behind it: a word for each column that holds the
 * place in the image (DISTANCE_NO_SITE: none) and, of labels, behind all places a word for each
 * column that holds the label.  Codes hold places in the image, too.
 *
 * Where parts are rows of all planes (DISTANCE_ACROSS) y is the first axis and z the second one.  Squares of
 * both are summed before that of x either way, so distances are the same; that labels are, too, the search along z
 * sees to: of equals it takes the first one along y, as if y had been searched last, then the nearest along z.
 * No order of the answers along a line follows from that, so there are no coarse rounds.
 *
 * Squares are summed in the order z, y, x; in uint when pixels are 1 wide and numbers small
 * (DISTANCE_WHOLE), else in double.
 *
 * The image is read where sites are found, and of labels where one is taken over; the kernels that do not read
 * it are the text without a reader.
 */
#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

#define DISTANCE_NO_SITE 0xffffffffu

#if DISTANCE_WHOLE
typedef uint DistanceSquare;
#define DISTANCE_FAR 0x80000000u /* of no site; a square is smaller, two of these do not overflow */
LANES_INLINE uint distance_square(int steps, double spacing)
{
    return (uint)(steps * steps);
}
#else
typedef double DistanceSquare;
#define DISTANCE_FAR ((double)INFINITY)
LANES_INLINE double distance_square(int steps, double spacing)
{
    const double way = steps * spacing;
    return way * way;
}
#endif

/* The image or a part of it, which begins at row (plane) `start`, and how codes are put together. */
#define DISTANCE_SHAPE                                                                             \
    int own_lanes, int own_w, int own_h, int own_d, int own_planes, int own_pitch, int own_start,  \
        int own_y_bits, double own_sx, double own_sy, double own_sz
#define DISTANCE_SHAPE_ARGS                                                                        \
    own_w, own_h, own_d, own_pitch, DISTANCE_START(own_start), own_y_bits, own_sx, own_sy, own_sz

/* Kernels that read the image if it is one of labels: which program they are in, and their first parameters. */
#ifdef READ_PARAMS
#define DISTANCE_TAKES DISTANCE_LABELS
#define DISTANCE_LABELS_SHAPE READ_PARAMS, DISTANCE_SHAPE
#else
#define DISTANCE_TAKES (!DISTANCE_LABELS)
#define DISTANCE_LABELS_SHAPE DISTANCE_SHAPE
#endif

#define DISTANCE_Z_FIRST (DISTANCE_3D && !DISTANCE_ACROSS)

#if DISTANCE_PART
#define DISTANCE_START(start) (start)
#else
#define DISTANCE_START(start) 0
#endif

typedef struct DistanceShape {
    int w, h, d, pitch, start, y_bits;
    double sx, sy, sz;
} DistanceShape;

/* ---- the first axis -------------------------------------------------------------------------- */

/* Block `block` of 32 pixels of a line of `length` along the first axis. */
typedef struct DistanceBlock {
    int y, plane, block, blocks, length; /* y and plane of its first pixel */
    size_t next;                         /* words from block to block */
} DistanceBlock;

LANES_INLINE DistanceBlock distance_block(uint row, int w, int h, int d)
{
    DistanceBlock b;
#if DISTANCE_Z_FIRST
    b.length = d;
    b.blocks = (d + 31) / 32;
    const LanesSplit line = lanes_split(row, (uint)h);
    const LanesSplit block = lanes_split(line.over, (uint)b.blocks);
    b.y = (int)line.rest;
    b.block = (int)block.rest;
    b.plane = (int)block.over * d + b.block * 32;
    b.next = (size_t)h * (size_t)w;
#else
    b.length = h;
    b.blocks = (h + 31) / 32;
    const LanesSplit block = lanes_split(row, (uint)b.blocks);
    b.block = (int)block.rest;
    b.plane = (int)block.over;
    b.y = b.block * 32;
    b.next = (size_t)w;
#endif
    return b;
}

#ifdef READ_PARAMS

/* Makes words of sites and, of labels, finds the largest. */
LANES_KERNEL void distance_sites(READ_PARAMS, DISTANCE_SHAPE, uint own_rows,
                                    ulong own_words_at, ulong own_largest_at,
                                    global uint *own_scratch)
{
    const LanesSpot own_at = lanes_spot(own_w, own_lanes);
    const bool own_inside = own_at.x < own_w && own_at.row < own_rows;
    const DistanceBlock own_b = distance_block(own_inside ? own_at.row : 0, own_w, own_h, own_d);
    uint own_word = 0, own_most = 0;
    const int own_n = own_inside ? min(32, own_b.length - own_b.block * 32) : 0;
    for (int own_i = 0; own_i < own_n; own_i++) {
#if DISTANCE_Z_FIRST
        const uint own_v = (uint)read_0(READ_ARGS, own_at.x, own_b.y, own_b.plane + own_i);
#else
        const uint own_v = (uint)read_0(READ_ARGS, own_at.x, own_b.y + own_i, own_b.plane);
#endif
        own_word |= ((own_v != 0) == (DISTANCE_LABELS != 0) ? (uint)1 : (uint)0) << own_i;
        own_most = max(own_most, own_v);
    }
    if (own_inside) {
        own_scratch[own_words_at + (size_t)own_at.row * (size_t)own_w + (size_t)own_at.x] =
            own_word;
    }
#if DISTANCE_LABELS
    local uint own_group_most;
    if (get_local_id(0) == 0) {
        own_group_most = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (own_most > 0) {
        atomic_max(&own_group_most, own_most);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
        atomic_max(&own_scratch[own_largest_at], own_group_most);
    }
#endif
}

#endif

/* The last site before a block and the first one behind it, no farther than `reach` blocks away. */
LANES_INLINE int distance_before(global const uint *word, DistanceBlock b, int reach)
{
    for (int k = 1; k <= min(b.block, reach); k++) {
        const uint sites = word[-(long)((size_t)k * b.next)];
        if (sites != 0) {
            return (b.block - k) * 32 + 31 - (int)clz(sites);
        }
    }
    return -1;
}

LANES_INLINE int distance_behind(global const uint *word, DistanceBlock b, int reach)
{
    for (int k = 1; k <= min(b.blocks - 1 - b.block, reach); k++) {
        const uint sites = word[(size_t)k * b.next];
        if (sites != 0) {
            return (b.block + k) * 32 + 31 - (int)clz(sites & -sites);
        }
    }
    return -1;
}

#if DISTANCE_PART

/* The column of a pixel, all that lies behind each other along the first axis: its x, and its place along the
 * other axis that is not the first one. */
LANES_INLINE size_t distance_carry_column(int x, int y, int z, int w)
{
    const int line = DISTANCE_Z_FIRST ? y : DISTANCE_3D ? z : 0;
    return (size_t)line * (size_t)w + (size_t)x;
}

/* A site beyond the part, as seen from its first pixel; where there is none, so is no_site. */
LANES_INLINE int distance_carried(global const int *carry, size_t column, int start, int no_site)
{
    const int place = carry[column];
    return place < 0 ? no_site : place - start;
}

#if DISTANCE_TAKES

/* The first or last site of each column of the part, for the parts before or behind.  Where there is
 * none, the last one stays what it was. */
LANES_KERNEL void distance_carry(DISTANCE_LABELS_SHAPE, int own_last, uint own_columns,
                                 ulong own_words_at, ulong own_carry_at, global uint *own_scratch)
{
    const LanesSpot own_at = lanes_spot(own_w, own_lanes);
    const int own_line = (int)own_at.row, own_length = DISTANCE_Z_FIRST ? own_d : own_h;
    if (own_at.x < own_w && own_at.row < own_columns / (uint)own_w) {
        const size_t own_column = distance_carry_column(own_at.x, own_line, own_line, own_w);
        const int own_blocks = (own_length + 31) / 32;
        /* From block to block, and before the column's first one. */
        const size_t own_next = DISTANCE_Z_FIRST ? own_columns : (size_t)own_w;
        const size_t own_word =
            DISTANCE_Z_FIRST ? own_column
                             : (size_t)own_line * (size_t)own_blocks * own_next + (size_t)own_at.x;
        int own_place = -1;
        for (int own_k = 0; own_k < own_blocks && own_place < 0; own_k++) {
            const int own_block = own_last ? own_blocks - 1 - own_k : own_k;
            const uint own_sites =
                own_scratch[own_words_at + (size_t)own_block * own_next + own_word];
            const uint own_one = own_last ? own_sites : own_sites & -own_sites;
            own_place = own_sites != 0 ? own_block * 32 + 31 - (int)clz(own_one) : -1;
        }
        global uint *const own_to = own_scratch + own_carry_at + own_column;
        if (own_place >= 0 || !own_last) {
            own_to[0] = own_place < 0 ? DISTANCE_NO_SITE : (uint)(own_start + own_place);
        }
#if DISTANCE_LABELS
        if (own_place >= 0) {
            own_to[own_columns] =
                DISTANCE_Z_FIRST ? (uint)read_0(READ_ARGS, own_at.x, own_line, own_place)
                                 : (uint)read_0(READ_ARGS, own_at.x, own_place, own_line);
        }
#endif
    }
}

#endif
#endif

#ifndef READ_PARAMS

/* The codes of a block: for each pixel its nearest site along the first axis, the first of equals. */
LANES_KERNEL void distance_first(DISTANCE_SHAPE, uint rows, int reach, ulong words_at,
                                    ulong before_at, ulong behind_at, global const uint *scratch,
                                    global uint *codes)
{
    const LanesSpot at = lanes_spot(own_w, own_lanes);
    if (at.x < own_w && at.row < rows) {
        const DistanceBlock b = distance_block(at.row, own_w, own_h, own_d);
        global const uint *const word =
            scratch + words_at + (size_t)at.row * (size_t)own_w + (size_t)at.x;
        const uint sites = *word;
        int before = distance_before(word, b, reach), behind = distance_behind(word, b, reach);
        const int first = b.block * 32, n = min(32, b.length - first), none = INT_MIN;
        const int start = DISTANCE_START(own_start);
        before = before < 0 ? none : before;
        behind = behind < 0 ? none : behind;
#if DISTANCE_PART
        const size_t column = distance_carry_column(at.x, b.y, b.plane, own_w);
        before = before != none ? before
                                : distance_carried((global const int *)scratch + before_at, column,
                                                   start, none);
        behind = behind != none ? behind
                                : distance_carried((global const int *)scratch + behind_at, column,
                                                   start, none);
#endif
        const size_t step = DISTANCE_Z_FIRST ? (size_t)own_h * (size_t)own_pitch : (size_t)own_pitch;
        size_t pixel = ((size_t)b.plane * (size_t)own_h + (size_t)b.y) * (size_t)own_pitch +
                       (size_t)at.x;
        for (int i = 0; i < n; i++, pixel += step) {
            const uint low = sites << (31 - i), high = sites >> i;
            const int down = low != 0 ? first + i - (int)clz(low) : before;
            const int up = high != 0 ? first + i + 31 - (int)clz(high & -high) : behind;
            const bool is_down =
                down != none && (up == none || first + i - down <= up - (first + i));
            codes[pixel] = is_down      ? (uint)(start + down)
                           : up != none ? (uint)(start + up)
                                        : DISTANCE_NO_SITE;
        }
    }
}

#endif

/* ---- the other axes -------------------------------------------------------------------------- */

/* A line of pixels along the second axis of three (`second`: y, or z across planes) or x, and where on the other
 * axes it lies. */
typedef struct DistanceLine {
    global const uint *codes;
    size_t stride;
    int length, y, z, plane;
} DistanceLine;

typedef struct DistanceFound {
    DistanceSquare square;
    int at;
    uint code;
} DistanceFound;

/* The square of the way from a line to what its pixel i has found; along the second axis, on the first one. */
LANES_INLINE DistanceSquare distance_aside(const bool second, DistanceShape s,
                                              const DistanceLine *line, uint code)
{
    if (second) {
        return DISTANCE_ACROSS ? distance_square((int)code - line->y, s.sy)
                               : distance_square((int)code - line->z, s.sz);
    }
#if DISTANCE_3D
    const int z = (int)(code >> s.y_bits), y = (int)(code & (((uint)1 << s.y_bits) - 1));
    return distance_square(z - line->z, s.sz) + distance_square(y - line->y, s.sy);
#else
    return distance_square((int)code - line->y, s.sy);
#endif
}

/* `first`: of equals it takes this one; along z the first one along y. */
LANES_INLINE void distance_look(const bool second, DistanceShape s, const DistanceLine *line,
                                   int at, DistanceSquare own, bool first, DistanceFound *best)
{
    const uint code = line->codes[(size_t)at * line->stride];
    if (code != DISTANCE_NO_SITE) {
        const DistanceSquare square = own + distance_aside(second, s, line, code);
        const bool takes = second && DISTANCE_ACROSS ? code < best->code : first;
        if (square < best->square || (takes && square == best->square)) {
            best->square = square;
            best->at = at;
            best->code = code;
        }
    }
}

/* The best pixel between lo and hi for pixel i, no farther than `reach` steps away. */
LANES_INLINE DistanceFound distance_find(const bool second, DistanceShape s,
                                            const DistanceLine *line, int i, int lo, int hi,
                                            int reach)
{
    const double spacing = !second ? s.sx : DISTANCE_ACROSS ? s.sz : s.sy;
    DistanceFound best;
    best.square = DISTANCE_FAR;
    best.at = -1;
    best.code = DISTANCE_NO_SITE;
    const int end = min(reach, max(i - lo, hi - i));
    for (int k = max(0, max(lo - i, i - hi)); k <= end; k++) {
        const DistanceSquare own = distance_square(k, spacing);
        if (own > best.square) {
            break;
        }
        if (i - k >= lo && i - k <= hi) {
            distance_look(second, s, line, i - k, own, true, &best);
        }
        if (k > 0 && i + k >= lo && i + k <= hi) {
            distance_look(second, s, line, i + k, own, false, &best);
        }
    }
    return best;
}

/* Answers of a coarser round, `step` pixels apart: `at` of a line starts at answers[0]. */
typedef struct DistanceBounds {
    global const int *answers;
    size_t stride;
    int step; /* 0: there are none */
} DistanceBounds;

LANES_INLINE DistanceFound distance_search(const bool second, DistanceShape s,
                                              const DistanceLine *line, DistanceBounds bounds,
                                              int i, int reach)
{
    int lo = 0, hi = line->length - 1;
    if (bounds.step > 0) {
        const int before = i / bounds.step;
        lo = bounds.answers[(size_t)before * bounds.stride];
        if (lo < 0) {
            hi = -1; /* the whole line has found nothing */
            lo = 0;
        } else if ((before + 1) * bounds.step < line->length) {
            hi = bounds.answers[(size_t)(before + 1) * bounds.stride];
        }
    }
    return distance_find(second, s, line, i, lo, hi, reach);
}

LANES_INLINE DistanceShape distance_shape(int w, int h, int d, int pitch, int start, int y_bits,
                                             double sx, double sy, double sz)
{
    DistanceShape s;
    s.w = w;
    s.h = h;
    s.d = d;
    s.pitch = pitch;
    s.start = start;
    s.y_bits = y_bits;
    s.sx = sx;
    s.sy = sy;
    s.sz = sz;
    return s;
}

LANES_INLINE DistanceLine distance_row(DistanceShape s, uint row, global const uint *codes)
{
    const LanesSplit split = lanes_split(row, (uint)s.h);
    DistanceLine line;
    line.codes = codes + (size_t)row * (size_t)s.pitch;
    line.stride = 1;
    line.length = s.w;
    line.y = (int)split.rest + (DISTANCE_Z_FIRST ? 0 : s.start);
    line.plane = (int)split.over;
    line.z = (int)lanes_split(split.over, (uint)s.d).rest + (DISTANCE_Z_FIRST ? s.start : 0);
    return line;
}

LANES_INLINE DistanceLine distance_column(DistanceShape s, int x, uint plane,
                                             global const uint *codes)
{
    DistanceLine line;
    line.codes = codes + (size_t)plane * (size_t)s.h * (size_t)s.pitch + (size_t)x;
    line.stride = (size_t)s.pitch;
    line.length = s.h;
    line.y = 0;
    line.plane = (int)plane;
    line.z = (int)lanes_split(plane, (uint)s.d).rest + s.start;
    return line;
}

/* Answers lie as pixels do: a row of them has every step-th pixel of a row, or every pixel of every
 * step-th row. */
LANES_INLINE uint distance_count(int length, int step)
{
    return (uint)((length + step - 1) / step);
}

LANES_INLINE DistanceBounds distance_row_bounds(DistanceShape s, uint row,
                                                   global const int *answers, int step)
{
    DistanceBounds b;
    b.step = step;
    b.stride = 1;
    b.answers = answers + (step > 0 ? (size_t)row * distance_count(s.w, step) : 0);
    return b;
}

LANES_INLINE DistanceBounds distance_column_bounds(DistanceShape s, int x, uint plane,
                                                      global const int *answers, int step)
{
    DistanceBounds b;
    b.step = step;
    b.stride = (size_t)s.w;
    b.answers = answers + (step > 0 ? (size_t)plane * distance_count(s.h, step) * (size_t)s.w +
                                          (size_t)x
                                    : 0);
    return b;
}

#ifndef READ_PARAMS

/* One coarse round along x: rows of distance_count(w, step) answers. */
LANES_KERNEL void distance_coarse_x(DISTANCE_SHAPE, global const uint *codes, int step,
                                       int bound_step, ulong bounds_at, ulong answers_at,
                                       global int *answers)
{
    const DistanceShape s = distance_shape(DISTANCE_SHAPE_ARGS);
    const int columns = (int)distance_count(own_w, step);
    const LanesSpot at = lanes_spot(columns, own_lanes);
    if (at.x < columns && at.row < (uint)own_planes * (uint)own_h) {
        const DistanceLine line = distance_row(s, at.row, codes);
        const DistanceBounds bounds =
            distance_row_bounds(s, at.row, answers + bounds_at, bound_step);
        const DistanceFound found =
            distance_search(false, s, &line, bounds, at.x * step, line.length);
        answers[answers_at + (size_t)at.row * (size_t)columns + (size_t)at.x] = found.at;
    }
}

#endif
#if DISTANCE_TAKES

/* The last round: distances, or labels. */
LANES_KERNEL void distance_x(DISTANCE_LABELS_SHAPE, global const uint *own_codes, int own_reach,
                             int own_bound_step, ulong own_bounds_at, global const int *own_answers,
                             double own_limit, uint own_columns, ulong own_before_at,
                             ulong own_behind_at, global DISTANCE_OUT *own_out)
{
    const DistanceShape own_s = distance_shape(DISTANCE_SHAPE_ARGS);
    const LanesSpot own_at = lanes_spot(own_w, own_lanes);
    if (own_at.x < own_w && own_at.row < (uint)own_planes * (uint)own_h) {
        const DistanceLine own_line = distance_row(own_s, own_at.row, own_codes);
        const DistanceBounds own_bounds =
            distance_row_bounds(own_s, own_at.row, own_answers + own_bounds_at, own_bound_step);
        const DistanceFound own_found =
            distance_search(false, own_s, &own_line, own_bounds, own_at.x, own_reach);
        const double own_way = sqrt((double)own_found.square);
        const size_t own_pixel = (size_t)own_at.row * (size_t)own_pitch + (size_t)own_at.x;
#if DISTANCE_LABELS
        uint own_label = 0;
        if (own_found.at >= 0 && (own_found.square == 0 || own_way <= own_limit)) {
            const uint own_mask = ((uint)1 << own_y_bits) - 1;
            const int own_y = (int)(DISTANCE_3D ? own_found.code & own_mask : own_found.code);
            const int own_z = DISTANCE_3D ? (int)(own_found.code >> own_y_bits) : 0;
#if DISTANCE_PART
            const int own_place = (DISTANCE_Z_FIRST ? own_z : own_y) - own_start;
            if (own_place < 0 || own_place >= (DISTANCE_Z_FIRST ? own_d : own_h)) {
                own_label = (uint)own_answers[(own_place < 0 ? own_before_at : own_behind_at) +
                                              own_columns +
                                              distance_carry_column(own_found.at, own_y, own_z, own_w)];
            } else {
                own_label = DISTANCE_Z_FIRST
                                ? (uint)read_0(READ_ARGS, own_found.at, own_y, own_place)
                                : (uint)read_0(READ_ARGS, own_found.at, own_place, own_z);
            }
#else
            const int own_plane = own_line.plane - own_line.z + own_z;
            own_label = (uint)read_0(READ_ARGS, own_found.at, own_y, own_plane);
#endif
        }
        own_out[own_pixel] = own_label;
#else
        own_out[own_pixel] = own_found.at < 0 ? INFINITY : convert_float_rte(own_way);
#endif
    }
}

#endif
#ifndef READ_PARAMS

#if DISTANCE_Z_FIRST

/* One coarse round along y: distance_count(h, step) rows of w answers for each plane. */
LANES_KERNEL void distance_coarse_y(DISTANCE_SHAPE, global const uint *codes, int step,
                                       int bound_step, ulong bounds_at, ulong answers_at,
                                       global int *answers)
{
    const DistanceShape s = distance_shape(DISTANCE_SHAPE_ARGS);
    const uint rows = distance_count(own_h, step);
    const LanesSpot at = lanes_spot(own_w, own_lanes);
    if (at.x < own_w && at.row < (uint)own_planes * rows) {
        const LanesSplit split = lanes_split(at.row, rows);
        const DistanceLine line = distance_column(s, at.x, split.over, codes);
        const DistanceBounds bounds =
            distance_column_bounds(s, at.x, split.over, answers + bounds_at, bound_step);
        const DistanceFound found =
            distance_search(true, s, &line, bounds, (int)split.rest * step, line.length);
        answers[answers_at + (size_t)at.row * (size_t)own_w + (size_t)at.x] = found.at;
    }
}

/* Codes of z become codes of z and y. */
LANES_KERNEL void distance_y(DISTANCE_SHAPE, global const uint *codes, int reach, int bound_step,
                                ulong bounds_at, global const int *answers, global uint *to)
{
    const DistanceShape s = distance_shape(DISTANCE_SHAPE_ARGS);
    const LanesSpot at = lanes_spot(own_w, own_lanes);
    if (at.x < own_w && at.row < (uint)own_planes * (uint)own_h) {
        const LanesSplit split = lanes_split(at.row, (uint)own_h);
        const DistanceLine line = distance_column(s, at.x, split.over, codes);
        const DistanceBounds bounds =
            distance_column_bounds(s, at.x, split.over, answers + bounds_at, bound_step);
        const DistanceFound found =
            distance_search(true, s, &line, bounds, (int)split.rest, reach);
        to[(size_t)at.row * (size_t)own_pitch + (size_t)at.x] =
            found.at < 0 ? DISTANCE_NO_SITE : found.code << own_y_bits | (uint)found.at;
    }
}

#elif DISTANCE_ACROSS

/* Codes of y become codes of z and y. */
LANES_KERNEL void distance_z(DISTANCE_SHAPE, global const uint *codes, int reach, global uint *to)
{
    const DistanceShape s = distance_shape(DISTANCE_SHAPE_ARGS);
    const LanesSpot at = lanes_spot(own_w, own_lanes);
    if (at.x < own_w && at.row < (uint)own_planes * (uint)own_h) {
        const LanesSplit split = lanes_split(at.row, (uint)own_h);
        const size_t stride = (size_t)own_h * (size_t)own_pitch;
        const size_t pixel = (size_t)split.rest * (size_t)own_pitch + (size_t)at.x;
        DistanceLine line;
        line.codes = codes + pixel;
        line.stride = stride;
        line.length = own_d;
        line.y = (int)split.rest + s.start;
        line.plane = line.z = (int)split.over;
        const DistanceFound found = distance_find(true, s, &line, line.z, 0, own_d - 1, reach);
        to[(size_t)split.over * stride + pixel] =
            found.at < 0 ? DISTANCE_NO_SITE : (uint)found.at << own_y_bits | found.code;
    }
}

#endif

/* The number of labels: that of the image they come from, or the largest found. */
kernel void distance_value(ulong largest_at, global const uint *scratch, int of_value, int value,
                           global double *values)
{
    values[value] = of_value >= 0 ? values[of_value] : (double)scratch[largest_at];
}

#endif
