/*
 * measure_hull: convex hulls of objects and, where MEASURE_FERET is not 0, their diameters, from the tables of
 * rows that measure_rows.cl made.  Nothing here reads the image.
 *
 * The convex hull image of scikit-image holds the pixels whose centres lie in the hull of all
 * pixel centres moved by half a pixel along each axis: the hull P of the centres, widened by the
 * diamond |dx| + |dy| <= 1/2.  If L(y) is the left border of P (convex, with corners at whole y),
 * the left border of the widened hull at y is the least of L(y) - 1/2, L(y - 1/2) and L(y + 1/2):
 * in between it is linear.  All divisions are of integers and rounded exactly.
 */
#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

#define MEASURE_INLINE static inline __attribute__((always_inline))

/* The borders of one object's rows; the right one is mirrored, so that both are lower hulls. */
typedef struct MeasureSide {
    global int *x;
    global int *corner;
    int rows, sign;
} MeasureSide;

MEASURE_INLINE MeasureSide side_of(global int *ends, global int *corners, uint capacity, uint place,
                                   int rows, uint right)
{
    MeasureSide side;
    side.x = ends + right * (size_t)capacity + place;
    side.corner = corners + right * (size_t)capacity + place;
    side.rows = rows;
    side.sign = right ? -1 : 1;
    return side;
}

MEASURE_INLINE long border(const MeasureSide *side, int row)
{
    return side->sign * (long)side->x[row];
}

/* Corners of a border's hull so far: how many, and the rows and columns of the last two. */
typedef struct MeasureChain {
    int n, r0, r1;
    long x0, x1;
} MeasureChain;

/* Andrew's monotone chain: one row more, behind the others; corners go to `corner`. */
MEASURE_INLINE void chain_row(MeasureChain *c, const MeasureSide *side, global int *corner, int row,
                              long x)
{
    while (c->n > 1 && (c->x1 - c->x0) * (row - c->r0) >= (x - c->x0) * (c->r1 - c->r0)) {
        c->n--;
        c->r1 = c->r0;
        c->x1 = c->x0;
        if (c->n > 1) {
            c->r0 = corner[c->n - 2];
            c->x0 = border(side, c->r0);
        }
    }
    corner[c->n++] = row;
    c->r0 = c->r1;
    c->x0 = c->x1;
    c->r1 = row;
    c->x1 = x;
}

#define MEASURE_AHEAD 8

/* The rows begin .. end - 1 where the border of their hull has corners, from the place of the first one on; their
 * number.  Borders are read some rows ahead. */
MEASURE_INLINE int find_corners(const MeasureSide *side, int begin, int end)
{
    MeasureChain chain = {0, 0, 0, 0, 0};
    int ahead[MEASURE_AHEAD];
    for (int row = begin; row < end; row++) {
        if ((row - begin) % MEASURE_AHEAD == 0) {
            for (int i = 0; i < MEASURE_AHEAD; i++) {
                ahead[i] = side->x[min(row + i, end - 1)];
            }
        }
        const int at = ahead[(row - begin) % MEASURE_AHEAD];
        if (at != INT_MAX && at >= 0) { /* else the object has no pixel in this row */
            chain_row(&chain, side, side->corner + begin, row, side->sign * (long)at);
        }
    }
    return chain.n;
}

/* Objects of so many rows are the work of a whole group, which finds the hulls of shares of rows, and then
 * those of some neighbouring hulls, until there is one. */
#define MEASURE_TALL 256
#define MEASURE_MERGED 8

/* The hull of hulls `step` apart from number `first` on, whose shares have `rows` rows, in the place of the first. */
MEASURE_INLINE int merge_corners(const MeasureSide *side, int rows, local const int *counts,
                                 int first, int step, int all)
{
    MeasureChain chain = {0, 0, 0, 0, 0};
    for (int k = first; k < min(first + MEASURE_MERGED * step, all); k += step) {
        for (int i = 0; i < counts[k]; i++) {
            const int row = side->corner[k * rows + i];
            chain_row(&chain, side, side->corner + first * rows, row, border(side, row));
        }
    }
    return chain.n;
}

/* Taken by all work-items of a group; `counts` has a place for each. */
MEASURE_INLINE int find_corners_together(const MeasureSide *side, local int *counts, int lane, int lanes)
{
    const int rows = (side->rows + lanes - 1) / lanes;
    counts[lane] = find_corners(side, lane * rows, min((lane + 1) * rows, side->rows));
    for (int step = 1; step < lanes; step *= MEASURE_MERGED) {
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        if (lane % (step * MEASURE_MERGED) == 0) {
            counts[lane] = merge_corners(side, rows, counts, lane, step, lanes);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    return counts[0];
}

/* Rounded-up quotients of n, n + step, n + 2 step ... by `by`, with one division at the start. */
typedef struct Quotient {
    long floor, rest, floor_step, rest_step, by;
} Quotient;

MEASURE_INLINE long floor_div(long a, long b)
{
    return a / b - (a % b < 0);
}

MEASURE_INLINE Quotient quotient_start(long n, long step, long by)
{
    Quotient q;
    q.floor = floor_div(n, by);
    q.rest = n - q.floor * by;
    q.floor_step = floor_div(step, by);
    q.rest_step = step - q.floor_step * by;
    q.by = by;
    return q;
}

MEASURE_INLINE long quotient_next(Quotient *q)
{
    const long up = q->floor + (q->rest > 0);
    q->floor += q->floor_step;
    q->rest += q->rest_step;
    if (q->rest >= q->by) {
        q->rest -= q->by;
        q->floor++;
    }
    return up;
}

/* The rounded-up column that the line from x0 reaches, which goes dx further in dy rows, half a row below row y. */
MEASURE_INLINE long column_below(long x0, long dx, long dy, long y)
{
    return -floor_div(-(2 * x0 * dy + dx + 2 * dx * y), 2 * dy);
}

/* Rows of a widened hull, and what their borders follow from besides the corners among them. */
typedef struct MeasureStretch {
    int begin, end;
    int corner, behind; /* the last corner up to the first row, and the first one behind the last row */
    long x, x_behind;   /* the columns of these two */
    long above;         /* the column half a row above the first row */
} MeasureStretch;

/* The last corner up to a row. */
MEASURE_INLINE int corner_before(const MeasureSide *side, int corners, int row)
{
    int low = 0;
    for (int high = corners; high - low > 1;) {
        const int middle = (low + high) / 2;
        low = side->corner[middle] <= row ? middle : low;
        high = side->corner[middle] <= row ? high : middle;
    }
    return low;
}

MEASURE_INLINE MeasureStretch all_rows(const MeasureSide *side, int corners)
{
    MeasureStretch s;
    s.begin = corners > 0 ? side->corner[0] : 0; /* of an object without pixels there is none */
    s.end = corners > 0 ? side->corner[corners - 1] + 1 : 0;
    s.corner = 0;
    s.behind = corners;
    s.x = corners > 0 ? border(side, s.begin) : 0;
    s.x_behind = 0;
    s.above = LONG_MAX;
    return s;
}

/* The share of a work-item. */
MEASURE_INLINE MeasureStretch some_rows(const MeasureSide *side, int corners, int lane, int lanes)
{
    MeasureStretch s = all_rows(side, corners);
    const int first = s.begin, all = s.end - s.begin, rows = (all + lanes - 1) / lanes;
    if (all == 0) {
        return s;
    }
    s.begin = first + min(lane * rows, all - 1);
    s.end = first + min((lane + 1) * rows, all);
    s.corner = corner_before(side, corners, s.begin);
    s.behind = corner_before(side, corners, s.end - 1) + 1;
    const int row = side->corner[s.corner], from = s.begin > row ? s.corner : s.corner - 1;
    s.x = border(side, row);
    s.x_behind = s.behind < corners ? border(side, side->corner[s.behind]) : 0;
    if (from >= 0) {
        const int start = side->corner[from], stop = side->corner[from + 1];
        const long x = border(side, start);
        s.above = column_below(x, border(side, stop) - x, stop - start, s.begin - 1 - start);
    }
    s.begin = first + min(lane * rows, all);
    return s;
}

/* Writes the widened hull's first (or last) pixel of each row over the rows; their sum. */
MEASURE_INLINE long widen(const MeasureSide *side, int corners, MeasureStretch s)
{
    int row = s.begin < s.end ? side->corner[s.corner] : 0, y = s.begin;
    long x0 = s.x, above = s.above, total = 0;
    for (int i = s.corner; y < s.end; i++) {
        const bool ends = i + 1 == corners;
        const int next = ends ? row + 1 : side->corner[i + 1];
        const long x1 = ends ? x0 : i + 1 == s.behind ? s.x_behind : border(side, next);
        const long dx = x1 - x0, dy = next - row, from = 2 * x0 * dy + 2 * dx * (y - row);
        Quotient here = quotient_start(from - dy, 2 * dx, 2 * dy);
        Quotient half_below = quotient_start(from + dx, 2 * dx, 2 * dy);
        for (; y < min(next, s.end); y++) {
            const long below = ends ? LONG_MAX : quotient_next(&half_below);
            const long least = min(quotient_next(&here), min(above, below));
            side->x[y] = (int)(side->sign * least);
            total += side->sign * least;
            above = below;
        }
        x0 = x1;
        row = next;
    }
    return total;
}

/* The sums of last - first + 1 of rows, of which one side is known. */
MEASURE_INLINE void add_side(global ulong *sum, const MeasureSide *side, long total, int rows)
{
    wide_add(sum, (ulong)(side->sign < 0 ? total + rows : -total));
}

#define MEASURE_SIDES 128 /* of a group, at most */

/* A work-item for each side of each object, but all of them for those of tall objects: together they sum
 * last - first + 1 of all rows. */
kernel void measure_hull(const uint n, const uint from, const uint to, const uint out,
                         const uint capacity, global ulong *sums, global const uint *place,
                         global const uint *heights, global int *ends, global int *corners)
{
    local uint talls, tall[MEASURE_SIDES];
    local int counts[MEASURE_SIDES];
    const int lane = (int)get_local_id(0), lanes = (int)get_local_size(0);
    const uint own = (uint)get_global_id(0), object = from + (own >> 1);
    const int rows = object < to ? (int)heights[object] : 0;
    if (lane == 0) {
        talls = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (rows >= MEASURE_TALL) {
        tall[atomic_inc(&talls)] = own;
    } else if (rows > 0) {
        const MeasureSide side = side_of(ends, corners, capacity, place[object], rows, own & 1);
        const int count = find_corners(&side, 0, rows);
        add_side(sums + out * (size_t)n + object, &side, widen(&side, count, all_rows(&side, count)), rows);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = 0; i < talls; i++) {
        const uint one = from + (tall[i] >> 1);
        const MeasureSide side = side_of(ends, corners, capacity, place[one], (int)heights[one], tall[i] & 1);
        const int count = find_corners_together(&side, counts, lane, lanes);
        const MeasureStretch stretch = some_rows(&side, count, lane, lanes);
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); /* all know what others are about to write over */
        add_side(sums + out * (size_t)n + one, &side, widen(&side, count, stretch), lane == 0 ? side.rows : 0);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

#if MEASURE_FERET
#define MEASURE_FERET_GROUP 64

/* The largest distance between the outlines' points: corners of the hull image's hull, half a
 * pixel further out along one axis each. */
kernel __attribute__((reqd_work_group_size(MEASURE_FERET_GROUP, 1, 1))) void
measure_feret(const uint n, const uint from, const uint out, const uint capacity, const double sx,
              const double sy, global ulong *sums, global const uint *place,
              global const uint *heights, global int *ends, global int *corners)
{
    local int counts[2], found[MEASURE_FERET_GROUP];
    local double largest[MEASURE_FERET_GROUP];
    const uint object = from + get_group_id(0), lane = get_local_id(0);
    const int rows = (int)heights[object];
    if (rows < MEASURE_TALL && lane < 2) {
        const MeasureSide side = side_of(ends, corners, capacity, place[object], rows, lane);
        counts[lane] = find_corners(&side, 0, rows);
    }
    for (uint right = 0; right < 2 && rows >= MEASURE_TALL; right++) {
        const MeasureSide side = side_of(ends, corners, capacity, place[object], rows, right);
        counts[right] = find_corners_together(&side, found, (int)lane, MEASURE_FERET_GROUP); /* the same of all */
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    const int left = counts[0], all = left + counts[1];
    const MeasureSide sides[2] = {side_of(ends, corners, capacity, place[object], rows, 0),
                                  side_of(ends, corners, capacity, place[object], rows, 1)};
    double most = 0;
    for (int i = (int)lane; i < all; i += MEASURE_FERET_GROUP) {
        const int yi = i < left ? sides[0].corner[i] : sides[1].corner[i - left];
        const int xi = i < left ? sides[0].x[yi] : sides[1].x[yi];
        for (int j = 0; j <= i; j++) {
            const int yj = j < left ? sides[0].corner[j] : sides[1].corner[j - left];
            const int xj = j < left ? sides[0].x[yj] : sides[1].x[yj];
            const double dx = abs(xi - xj), dy = abs(yi - yj);
            const double ax = (dx + 1) * sx, ay = dy * sy, bx = dx * sx, by = (dy + 1) * sy;
            most = fmax(most, fmax(ax * ax + ay * ay, bx * bx + by * by));
        }
    }
    largest[lane] = most;
    for (uint reach = MEASURE_FERET_GROUP / 2; reach > 0; reach /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < reach) {
            largest[lane] = fmax(largest[lane], largest[lane + reach]);
        }
    }
    if (lane == 0 && rows > 0) {
        sums[out * (size_t)n + object] = as_ulong(largest[0]);
    }
}

#endif

#define MEASURE_LANES 32

/* Sets the pixels of objects' hulls, whose first and last in each row measure_hull or measure_space.cl
 * have found: a group or several (1) an object (0), a row at a time each.  `top` and `front` are the row
 * and plane of the image where its part begins, of h rows; `heights` counts the rows that lie in it. */
kernel __attribute__((reqd_work_group_size(MEASURE_LANES, 1, 1))) void
measure_paint(const uint n, const uint from, const uint capacity, const int dims,
              const int top, const int front, global const uint *lows, global const uint *place,
              global const uint *heights, global const int *ends, const int plane, const int h,
              const int pitch, global uchar *mask)
{
    const size_t stride = n;
    const uint object = from + (uint)get_group_id(0), rows = heights[object];
    const int y0 = max((int)lows[stride + object] - top, 0),
              y1 = min((int)~lows[(1 + dims) * stride + object] - top, h - 1),
              z0 = max((dims == 3 ? (int)lows[2 * stride + object] : 0) - front, 0);
    const uint tall = (uint)max(y1 - y0 + 1, 1);
    for (uint i = (uint)get_group_id(1); i < rows; i += (uint)get_num_groups(1)) {
        const uint at = place[object] + i;
        const size_t y = y0 + (int)(i % tall), z = plane + z0 + (int)(i / tall);
        for (int x = ends[at] + (int)get_local_id(0); x <= ends[capacity + (size_t)at]; x += MEASURE_LANES) {
            mask[(z * h + y) * pitch + x] = 1;
        }
    }
}
