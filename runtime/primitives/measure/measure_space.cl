/*
 * measure_space: convex hulls of the objects of a volume, and their diameters, from the tables of rows
 * that measure_rows.cl made.
 *
 * The hull of an object is that of its pixels' octahedra: each pixel's centre and half a pixel around
 * it along each axis.  Wanted are the pixels inside in each row, so only the hull's height above the
 * plane of rows counts, on the right side of the object and, mirrored, on its left side.  Above one
 * row it is found by linear programming: a triangle of the object's points that has the row under it
 * takes in the point farthest above its plane in exchange for a corner, until no point is above.  All
 * rows under the last triangle are then known.  Which points are farthest is found in pixel centres:
 * of the octahedron only the direction matters.  Only the corners of each plane's own hull are looked
 * at; others cannot be corners.
 *
 * All is done in integers.  Rows that lie on a line between points are thought of as moved by less
 * than any distance, towards a point inside and then to one side of the way there (simulation of
 * simplicity), so that each exchange raises the triangle above the row and the search ends.
 * Coordinates are half pixels from a corner of the object's box; boxes of up to 2^18 pixels a side fit.
 *
 * The host defines SPACE_GROUP, the work-items of a group: 1 or 64.
 */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

#define SPACE_INLINE static inline __attribute__((always_inline))
#define SPACE_KERNEL kernel __attribute__((reqd_work_group_size(SPACE_GROUP, 1, 1)))
/* Work-items that look at SPACE_TEAM others' findings each. */
#define SPACE_TEAM 8
/* An end that is not known yet. */
#define SPACE_UNKNOWN INT_MIN
/* Where a row without pixels begins, behind its last one at -1: some may be added to it. */
#define SPACE_NOWHERE (1 << 30)
#define SPACE_BITS 21
#define SPACE_MASK 0x1fffff

/* One side of one object; x goes up from the other side. */
typedef struct SpaceSide {
    global int *firsts, *lasts; /* of the object's rows */
    global int *corners;        /* of the side; at last how many points there are */
    global ulong *points;       /* packed */
    int right, x0, x1, tall, rows;
} SpaceSide;

typedef struct SpacePoint {
    long x, y, z;
} SpacePoint;

/* In the plane of rows. */
typedef struct SpaceFlat {
    long y, z;
} SpaceFlat;

SPACE_INLINE SpaceSide space_side(uint n, uint object, uint capacity, int right,
                                  global const uint *lows, global const uint *place,
                                  global const uint *heights, global int *ends, global int *corners,
                                  global ulong *points)
{
    const size_t stride = n, begin = place[object], other = right * (size_t)capacity + begin;
    SpaceSide side;
    side.firsts = ends + begin;
    side.lasts = ends + capacity + begin;
    side.corners = corners + other;
    side.points = points + other;
    side.right = right;
    side.x0 = (int)lows[object];
    side.x1 = (int)~lows[3 * stride + object];
    side.tall = max((int)(~lows[4 * stride + object] - lows[stride + object] + 1), 1);
    side.rows = (int)heights[object];
    return side;
}

/* The border's distance from the other side of the box; -1: the row is empty. */
SPACE_INLINE long space_border(const SpaceSide *side, int row)
{
    const int first = side->firsts[row], last = side->lasts[row];
    return first > last ? -1 : side->right ? last - side->x0 : side->x1 - first;
}

/* ---- points ---------------------------------------------------------------------------- */

/* Andrew's monotone chain: rows of a plane, whose first one is `top`, where its hull has corners. */
SPACE_INLINE int space_chain(const SpaceSide *side, int top)
{
    global int *chain = side->corners + top;
    int n = 0, r0 = 0, r1 = 0;
    long x0 = 0, x1 = 0;
    for (int row = 0; row < side->tall; row++) {
        const long x = space_border(side, top + row);
        if (x < 0) {
            continue;
        }
        while (n > 1 && (x1 - x0) * (row - r0) <= (x - x0) * (r1 - r0)) {
            n--;
            r1 = r0;
            x1 = x0;
            if (n > 1) {
                r0 = chain[n - 2];
                x0 = space_border(side, top + r0);
            }
        }
        chain[n++] = row;
        r0 = r1;
        x0 = x1;
        r1 = row;
        x1 = x;
    }
    return n;
}

/* Lists the corners of all planes' hulls: a group for each side (1) of each object (0), a work-item for
 * each of so many planes at a time. */
SPACE_KERNEL void space_points(const uint n, const uint from, const uint capacity,
                               global const uint *lows, global const uint *place,
                               global const uint *heights, global int *ends, global int *corners,
                               global ulong *points)
{
    local int counts[SPACE_GROUP];
    const int lane = (int)get_local_id(0);
    const SpaceSide side = space_side(n, from + (uint)get_group_id(0), capacity,
                                      (int)get_group_id(1), lows, place, heights, ends, corners,
                                      points);
    const int deep = side.rows / side.tall;
    int all = 0;
    for (int first = 0; first < deep; first += SPACE_GROUP) {
        const int z = first + lane, top = z * side.tall;
        const int count = z < deep ? space_chain(&side, top) : 0;
        int at = all;
        counts[lane] = count;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int i = 0; i < SPACE_GROUP; i++) {
            at += i < lane ? counts[i] : 0;
            all += counts[i];
        }
        for (int i = 0; i < count; i++) {
            const ulong y = (ulong)side.corners[top + i];
            const ulong x = (ulong)space_border(&side, top + (int)y);
            side.points[at + i] = x | y << SPACE_BITS | (ulong)z << 2 * SPACE_BITS;
        }
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    }
    if (lane == 0 && side.rows > 0) {
        side.corners[0] = all;
    }
}

/* ---- geometry -------------------------------------------------------------------------- */

/* In pixels. */
SPACE_INLINE SpacePoint space_unpack(ulong packed)
{
    const SpacePoint p = {(long)(packed & SPACE_MASK), (long)(packed >> SPACE_BITS & SPACE_MASK),
                          (long)(packed >> 2 * SPACE_BITS)};
    return p;
}

SPACE_INLINE long space_dot(SpacePoint a, SpacePoint b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

SPACE_INLINE SpacePoint space_from(SpacePoint to, SpacePoint from)
{
    const SpacePoint p = {to.x - from.x, to.y - from.y, to.z - from.z};
    return p;
}

SPACE_INLINE SpacePoint space_normal(const SpacePoint *corner)
{
    const SpacePoint u = space_from(corner[1], corner[0]), v = space_from(corner[2], corner[0]);
    const SpacePoint p = {u.y * v.z - u.z * v.y, u.z * v.x - u.x * v.z, u.x * v.y - u.y * v.x};
    return p;
}

SPACE_INLINE long space_cross(SpaceFlat a, SpaceFlat b)
{
    return a.y * b.z - a.z * b.y;
}

SPACE_INLINE SpaceFlat space_flat(SpacePoint to, SpacePoint from)
{
    const SpaceFlat p = {to.y - from.y, to.z - from.z};
    return p;
}

/* The corner of a pixel's octahedron that lies farthest along a direction. */
SPACE_INLINE SpacePoint space_tip(ulong packed, SpacePoint along)
{
    SpacePoint p = space_unpack(packed);
    const ulong x = abs(along.x), y = abs(along.y), z = abs(along.z);
    p.x *= 2;
    p.y *= 2;
    p.z *= 2;
    if (x >= y && x >= z) {
        p.x += along.x < 0 ? -1 : 1;
    } else if (y >= z) {
        p.y += along.y < 0 ? -1 : 1;
    } else {
        p.z += along.z < 0 ? -1 : 1;
    }
    return p;
}

/* ---- the farthest point ---------------------------------------------------------------- */

typedef struct SpaceFound {
    long far;
    ulong point;
} SpaceFound;

/* What a group's work-items have found, and its teams. */
typedef struct SpaceTable {
    SpaceFound each[SPACE_GROUP], teams[SPACE_TEAM];
    int next;
} SpaceTable;

SPACE_INLINE SpaceFound space_farther(SpaceFound a, SpaceFound b)
{
    return b.far > a.far ? b : a;
}

/* The point that lies farthest along a direction.  Between two calls each work-item passes a barrier
 * behind its last look at the table, so that one array of it serves all calls. */
SPACE_INLINE SpacePoint space_farthest(global const ulong *points, int count, SpacePoint along,
                                       local SpaceTable *table)
{
    const int lane = (int)get_local_id(0);
    SpaceFound found = {LONG_MIN, 0};
    for (int i = lane; i < count; i += SPACE_GROUP) {
        const SpaceFound here = {space_dot(along, space_unpack(points[i])), points[i]};
        found = space_farther(found, here);
    }
    if (SPACE_GROUP > 1) {
        table->each[lane] = found;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < SPACE_TEAM) {
            for (int i = lane + SPACE_TEAM; i < SPACE_GROUP; i += SPACE_TEAM) {
                found = space_farther(found, table->each[i]);
            }
            table->teams[lane] = found;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        found = table->teams[0];
        for (int i = 1; i < SPACE_TEAM; i++) {
            found = space_farther(found, table->teams[i]);
        }
    }
    return space_tip(found.point, along);
}

/* ---- one row --------------------------------------------------------------------------- */

/* A row, and the ways that it is thought to be moved. */
typedef struct SpaceRow {
    SpacePoint at; /* x is 0 */
    SpaceFlat first, second;
} SpaceRow;

/* On which side of the line from `from` to the moved row a point lies: left is positive.  0: the point
 * lies above or below `from`. */
SPACE_INLINE long space_turn(const SpaceRow *row, SpacePoint from, SpacePoint to)
{
    const SpaceFlat way = space_flat(to, from);
    const long here = space_cross(space_flat(row->at, from), way);
    const long first = space_cross(row->first, way), second = space_cross(row->second, way);
    return here != 0 ? here : first != 0 ? first : second;
}

/* Seen from a point inside, the edge of all points' shadow beyond the row: its left end a, its right
 * end b.  True when the row is not behind it; `out` is the normal of the edge. */
SPACE_INLINE bool space_start(global const ulong *points, int count, SpaceRow *row,
                              SpacePoint *corner, SpacePoint *out, local SpaceTable *table)
{
    SpacePoint inside = space_unpack(points[count / 2]);
    inside.x = 2 * inside.x + 1;
    inside.y *= 2;
    inside.z *= 2;
    SpaceFlat ahead = space_flat(row->at, inside);
    const bool same = ahead.y == 0 && ahead.z == 0;
    ahead.y = same ? 1 : ahead.y;
    row->first.y = same ? ahead.y : -ahead.y;
    row->first.z = -ahead.z;
    row->second.y = -ahead.z;
    row->second.z = ahead.y;
    const SpacePoint left = {0, -ahead.z, ahead.y}, right = {0, ahead.z, -ahead.y};
    SpacePoint a = space_farthest(points, count, left, table);
    SpacePoint b = space_farthest(points, count, right, table);
    bool again = true;
    while (again) {
        const SpaceFlat edge = space_flat(b, a);
        const SpacePoint normal = {0, -edge.z, edge.y};
        const SpacePoint far = space_farthest(points, count, normal, table);
        again = space_dot(normal, far) > space_dot(normal, a);
        *out = normal;
        if (again && space_turn(row, inside, far) > 0) {
            a = far;
        } else if (again) {
            b = far;
        }
    }
    corner[0] = inside;
    corner[1] = b;
    corner[2] = a;
    return space_dot(*out, row->at) <= space_dot(*out, a);
}

/* Puts a point that lies above the triangle into it; the row stays under it.  Seen from the point, two
 * corners are on either side of the row, or one is just below. */
SPACE_INLINE void space_exchange(const SpaceRow *row, SpacePoint *corner, SpacePoint by)
{
    long turn[3];
    for (int k = 0; k < 3; k++) {
        turn[k] = -space_turn(row, by, corner[k]);
    }
    for (int k = 0; k < 3; k++) {
        if (turn[k] == 0 || (turn[(k + 1) % 3] > 0 && turn[(k + 2) % 3] < 0)) {
            corner[k] = by;
        }
    }
}

/* Raises the triangle until no point is above its plane; the plane's normal. */
SPACE_INLINE SpacePoint space_raise(global const ulong *points, int count, const SpaceRow *row,
                                    SpacePoint *corner, local SpaceTable *table)
{
    SpacePoint normal = space_normal(corner);
    bool again = true;
    while (again) {
        const SpacePoint far = space_farthest(points, count, normal, table);
        again = space_dot(normal, far) > space_dot(normal, corner[0]);
        if (again) {
            space_exchange(row, corner, far);
            normal = space_normal(corner);
        }
    }
    return normal;
}

/* ---- rows ------------------------------------------------------------------------------ */

SPACE_INLINE long space_floor(long a, long b)
{
    return a / b - (a % b < 0);
}

/* Rows from .. to behind the edge of the shadow have no pixels. */
SPACE_INLINE void space_clear(const SpaceSide *side, int from, int to, SpacePoint out, long offset)
{
    global int *ends = side->right ? side->lasts : side->firsts;
    for (int row = from + (int)get_local_id(0); row < to; row += SPACE_GROUP) {
        if (2 * (out.y * (row % side->tall) + out.z * (row / side->tall)) > offset) {
            ends[row] = side->right ? -1 : SPACE_NOWHERE;
        }
    }
}

/* True when the turn from a to b to the row is not to the right. */
SPACE_INLINE bool space_beside(SpacePoint a, SpacePoint b, SpacePoint row)
{
    return space_cross(space_flat(b, a), space_flat(row, a)) >= 0;
}

/* The ends of those of the rows from .. to that lie under the triangle. */
SPACE_INLINE void space_fill(const SpaceSide *side, int from, int to, const SpacePoint *corner,
                             SpacePoint normal)
{
    global int *ends = side->right ? side->lasts : side->firsts;
    const long offset = space_dot(normal, corner[0]);
    const int deep = side->rows / side->tall;
    const int y0 = (int)max((min(min(corner[0].y, corner[1].y), corner[2].y) + 1) / 2, 0L);
    const int y1 = (int)min(max(max(corner[0].y, corner[1].y), corner[2].y) / 2, side->tall - 1L);
    const int z0 = (int)max((min(min(corner[0].z, corner[1].z), corner[2].z) + 1) / 2,
                            (long)(from / side->tall));
    const int z1 = (int)min(max(max(corner[0].z, corner[1].z), corner[2].z) / 2,
                            min(deep - 1L, (to - 1L) / side->tall));
    const int across = max(y1 - y0 + 1, 0), all = across * max(z1 - z0 + 1, 0);
    for (int i = (int)get_local_id(0); i < all; i += SPACE_GROUP) {
        const int y = y0 + i % across, z = z0 + i / across, row = z * side->tall + y;
        const SpacePoint at = {0, 2 * (long)y, 2 * (long)z};
        if (row >= from && row < to && space_beside(corner[0], corner[1], at) &&
            space_beside(corner[1], corner[2], at) && space_beside(corner[2], corner[0], at)) {
            const int far = (int)space_floor(offset - space_dot(normal, at), 2 * normal.x);
            ends[row] = side->right ? side->x0 + far : side->x1 - far;
        }
    }
}

/* Rows from .. to whose ends are not known yet. */
SPACE_INLINE void space_solve(const SpaceSide *side, int row, int from, int to,
                              local SpaceTable *table)
{
    const int count = side->corners[0];
    SpaceRow query;
    SpacePoint corner[3], normal;
    query.at.x = 0;
    query.at.y = 2 * (row % side->tall);
    query.at.z = 2 * (row / side->tall);
    if (space_start(side->points, count, &query, corner, &normal, table)) {
        normal = space_raise(side->points, count, &query, corner, table);
        space_fill(side, from, to, corner, normal);
    } else {
        space_clear(side, from, to, normal, space_dot(normal, corner[1]));
    }
}

/* The first row from `row` on, of as many as there are work-items, whose end is not known; `to`: none. */
SPACE_INLINE int space_next(const SpaceSide *side, int row, int to, local SpaceTable *table)
{
    global const int *ends = side->right ? side->lasts : side->firsts;
    const int lane = (int)get_local_id(0);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (lane == 0) {
        table->next = to;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (row + lane < to && ends[row + lane] == SPACE_UNKNOWN) {
        (void)atomic_min(&table->next, row + lane);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return table->next;
}

/* Adds up last + 1 of the rows that have pixels, or takes off first. */
SPACE_INLINE void space_sum(const SpaceSide *side, int from, int to, global ulong *sum)
{
    long total = 0;
    for (int row = from + (int)get_local_id(0); row < to; row += SPACE_GROUP) {
        const int end = side->right ? side->lasts[row] : side->firsts[row];
        total += side->right ? end + 1L : end == SPACE_NOWHERE ? 0L : -(long)end;
    }
    if (total != 0) {
        wide_add(sum, (ulong)total);
    }
}

/* Ends of the hull's rows, which are all unknown before, and the number of its pixels: a group or more
 * (1), of at least `least` rows, for each side (2) of each object (0). */
SPACE_KERNEL void space_hull(const uint n, const uint from, const uint out, const uint capacity,
                             const int least, global ulong *sums, global const uint *lows,
                             global const uint *place, global const uint *heights, global int *ends,
                             global int *corners, global ulong *points)
{
    local SpaceTable table;
    const uint object = from + (uint)get_group_id(0);
    const SpaceSide side = space_side(n, object, capacity, (int)get_group_id(2), lows, place,
                                      heights, ends, corners, points);
    const int groups = (int)get_num_groups(1);
    const int share = max((side.rows + groups - 1) / groups, least);
    const int begin = (int)min((long)get_group_id(1) * share, (long)side.rows);
    const int end = begin + min(share, side.rows - begin);
    int row = begin;
    while (row < end) {
        const int next = space_next(&side, row, end, &table);
        row = next < end ? next : row + SPACE_GROUP;
        if (next < end) {
            space_solve(&side, next, begin, end, &table);
        }
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
    space_sum(&side, begin, end, sums + out * (size_t)n + object);
}

/* ---- diameters ------------------------------------------------------------------------- */

/* The largest square of a distance of two octahedra's corners, whose centres are so many pixels apart. */
SPACE_INLINE double space_apart(double dx, double dy, double dz, double sx, double sy, double sz)
{
    const double x = dx * sx, y = dy * sy, z = dz * sz;
    const double ax = (dx + 1) * sx, ay = (dy + 1) * sy, az = (dz + 1) * sz;
    return fmax(fmax(ax * ax + y * y + z * z, x * x + ay * ay + z * z), x * x + y * y + az * az);
}

/* The largest distance between points that space_points listed of the hull's rows: several groups (1)
 * for each object (0).  Doubles above 0 have the order of their bits. */
SPACE_KERNEL void space_feret(const uint n, const uint from, const uint out, const uint capacity,
                              const int second, const double sx, const double sy, const double sz,
                              global ulong *sums, global const uint *lows,
                              global const uint *place, global const uint *heights,
                              global int *ends, global int *corners, global ulong *points)
{
    const uint object = from + (uint)get_group_id(0);
    const SpaceSide left = space_side(n, object, capacity, 0, lows, place, heights, ends, corners,
                                      points);
    const SpaceSide right = space_side(n, object, capacity, 1, lows, place, heights, ends, corners,
                                       points);
    const int first = left.rows > 0 ? left.corners[0] : 0;
    const int all = left.rows > 0 ? first + right.corners[0] : 0;
    double most = 0;
    for (int i = (int)get_global_id(1) * SPACE_GROUP + (int)get_local_id(0); i < all;
         i += (int)get_num_groups(1) * SPACE_GROUP) {
        const SpacePoint p = space_unpack(i < first ? left.points[i] : right.points[i - first]);
        const long px = i < first ? left.x1 - left.x0 - p.x : p.x;
        for (int j = 0; j <= i; j++) {
            const SpacePoint q = space_unpack(j < first ? left.points[j] : right.points[j - first]);
            const long qx = j < first ? left.x1 - left.x0 - q.x : q.x;
            most = fmax(most, space_apart((double)abs(px - qx), (double)abs(p.y - q.y),
                                          (double)abs(p.z - q.z), sx, sy, sz));
        }
    }
    if (most > 0) {
        wide_max(sums + out * (size_t)n + object, as_ulong(most), second);
    }
}
