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

#define MEASURE_AHEAD 8

/* Andrew's monotone chain: rows where the border of the hull has corners; their number.  The last
 * two corners stay in registers, and borders are read some rows ahead. */
MEASURE_INLINE int find_corners(MeasureSide side)
{
    int n = 0, r0 = 0, r1 = 0, ahead[MEASURE_AHEAD];
    long x0 = 0, x1 = 0;
    for (int row = 0; row < side.rows; row++) {
        if (row % MEASURE_AHEAD == 0) {
            for (int i = 0; i < MEASURE_AHEAD; i++) {
                ahead[i] = side.x[min(row + i, side.rows - 1)];
            }
        }
        const int at = ahead[row % MEASURE_AHEAD];
        const long x = side.sign * (long)at;
        if (at == INT_MAX || at < 0) { /* the object has no pixel in this row */
            continue;
        }
        while (n > 1 && (x1 - x0) * (row - r0) >= (x - x0) * (r1 - r0)) {
            n--;
            r1 = r0;
            x1 = x0;
            if (n > 1) {
                r0 = side.corner[n - 2];
                x0 = border(&side, r0);
            }
        }
        side.corner[n++] = row;
        r0 = r1;
        x0 = x1;
        r1 = row;
        x1 = x;
    }
    return n;
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

/* Writes the widened hull's first (or last) pixel of each row over the rows; their sum. */
MEASURE_INLINE long widen(MeasureSide side, int corners)
{
    int row = side.corner[0];
    long x0 = border(&side, row), above = LONG_MAX, total = 0;
    for (int i = 0; i < corners; i++) {
        const bool ends = i + 1 == corners;
        const int next = ends ? row + 1 : side.corner[i + 1];
        const long x1 = ends ? x0 : border(&side, next), dx = x1 - x0, dy = next - row;
        Quotient here = quotient_start(2 * x0 * dy - dy, 2 * dx, 2 * dy);
        Quotient half_below = quotient_start(2 * x0 * dy + dx, 2 * dx, 2 * dy);
        for (int y = 0; y < dy; y++) {
            const long below = ends ? LONG_MAX : quotient_next(&half_below);
            const long least = min(quotient_next(&here), min(above, below));
            side.x[row + y] = (int)(side.sign * least);
            total += side.sign * least;
            above = below;
        }
        x0 = x1;
        row = next;
    }
    return total;
}

/* A work-item for each side of each object: together they sum last - first + 1 of all rows. */
kernel void measure_hull(const uint n, const uint from, const uint to, const uint out,
                         const uint capacity, global ulong *sums, global const uint *place,
                         global const uint *heights, global int *ends, global int *corners)
{
    const uint object = from + (uint)(get_global_id(0) >> 1), right = get_global_id(0) & 1;
    if (object < to && heights[object] != 0) {
        const MeasureSide side =
            side_of(ends, corners, capacity, place[object], (int)heights[object], right);
        const int count = find_corners(side);
        const long total = widen(side, count);
        wide_add(sums + out * (size_t)n + object,
                 (ulong)(right ? total + (long)heights[object] : -total));
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
    local int counts[2];
    local double largest[MEASURE_FERET_GROUP];
    const uint object = from + get_group_id(0), lane = get_local_id(0);
    const int rows = (int)heights[object];
    if (lane < 2) {
        counts[lane] = find_corners(side_of(ends, corners, capacity, place[object], rows, lane));
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
