/*
 * near: folds over the labels near a label, and lists of them (reference/ref.h).
 *
 * The places of labels are asked from the reader, whose x is the label, and binned into cells of equal edges
 * along all axes, in units of the distance:
 *
 *   near_tally   counts the labels of each cell; scan_sums makes places of these
 *   near_bin     puts labels there
 *   near_fold    looks, for a label, through the cells around its own: those fewer than `radius` cells away
 *                along each axis hold all that is nearer than as many edges
 *   near_counts  how many are near a label
 *   near_list    up to NEAR_LISTED of these, in order, behind those that have been listed before
 *
 * A cell's labels stand side by side, and so do those of a row of cells; in which order they stand follows
 * from how work-items ran, but nothing depends on it: keys (squared distance, label) are all different, and
 * sums are exact.  Where the farthest are wanted, keys are negative distances and all cells are looked
 * through.  What counts as near is found first, as the last key of it; then its values are folded.
 *
 * Names that meet a reader's begin with own_ or near_.  The host defines NEAR_FOLD (base/near.h).
 */
#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

#define NEAR_INLINE static inline __attribute__((always_inline))
#define NEAR_LISTED 16
#define NEAR_SAFE (1 - 0x1p-20) /* of an edge: rounding may put a place into the cell beside */

enum { NEAR_COUNT, NEAR_SUM, NEAR_MEAN, NEAR_MIN, NEAR_MAX, NEAR_STD, NEAR_MEDIAN, NEAR_MODE };

#ifdef READ_HAS_3
#define NEAR_VALUE(label, square) ((float)read_3(READ_ARGS, (int)(label), 0, 0) + 0.0f)
#else
#define NEAR_VALUE(label, square) ((float)sqrt(square))
#endif

/* The labels in their cells: those of cell i are order[starts[i]] .. order[starts[i + 1] - 1]. */
#define NEAR_ABOUT                                                                                 \
    uint own_labels, double own_sx, double own_sy, double own_sz, double own_edge, int own_nx,     \
        int own_ny, int own_nz, global uint *own_starts, global uint *own_order
#define NEAR_CELLS                                                                                 \
    {                                                                                              \
        own_edge, own_nx, own_ny, own_nz                                                           \
    }

typedef struct NearCells {
    double edge;
    int nx, ny, nz;
} NearCells;

typedef struct NearPlace {
    float x, y, z;
    bool somewhere;
} NearPlace;

typedef struct NearKey {
    double key;
    uint label;
} NearKey;

/* Looks for what is near a place: keys behind `after`, up to `last`. */
typedef struct NearQuery {
    uint self;
    NearPlace at;
    double limit; /* squared */
    bool far;
    int cx, cy, cz, radius;
    NearKey after, last;
} NearQuery;

/* The way through the cells around a place, a row of them at a time. */
typedef struct NearWalk {
    int y, z;
    uint at, end;
} NearWalk;

NEAR_INLINE NearPlace near_place(READ_PARAMS, uint own_label)
{
    NearPlace own_at;
    own_at.x = (float)read_0(READ_ARGS, (int)own_label, 0, 0);
    own_at.y = (float)read_1(READ_ARGS, (int)own_label, 0, 0);
    own_at.z = (float)read_2(READ_ARGS, (int)own_label, 0, 0);
    own_at.somewhere = isfinite(own_at.x) && isfinite(own_at.y) && isfinite(own_at.z);
    return own_at;
}

NEAR_INLINE double near_square(NearPlace a, NearPlace b, double sx, double sy, double sz)
{
    const double x = ((double)b.x - (double)a.x) * sx;
    const double y = ((double)b.y - (double)a.y) * sy;
    const double z = ((double)b.z - (double)a.z) * sz;
    const double xx = x * x, yy = y * y, zz = z * z;
    return xx + yy + zz;
}

NEAR_INLINE bool near_before(NearKey a, NearKey b)
{
    return a.key < b.key || (a.key == b.key && a.label < b.label);
}

/* A place beyond the cells belongs to the last one on its side. */
NEAR_INLINE int near_along(double place, double edge, int cells)
{
    const double cell = floor(place / edge);
    return cell > 0 ? (int)fmin(cell, (double)(cells - 1)) : 0;
}

NEAR_INLINE uint near_cell(NearCells cells, int x, int y, int z)
{
    return ((uint)z * (uint)cells.ny + (uint)y) * (uint)cells.nx + (uint)x;
}

NEAR_INLINE int near_most(NearCells cells)
{
    return max(cells.nx, max(cells.ny, cells.nz));
}

/* ---- cells ------------------------------------------------------------------------------------ */

#define NEAR_CELL_OF(place)                                                                        \
    near_cell(own_cells, near_along((place).x * own_sx, own_edge, own_nx),                         \
              near_along((place).y * own_sy, own_edge, own_ny),                                    \
              near_along((place).z * own_sz, own_edge, own_nz))

/* starts[cell + 1] counts; after the scan it is where the cell begins, and after near_bin where it ends. */
kernel void near_tally(READ_PARAMS, NEAR_ABOUT)
{
    const NearCells own_cells = NEAR_CELLS;
    for (uint own_i = (uint)get_global_id(0); own_i < own_labels; own_i += (uint)get_global_size(0)) {
        const NearPlace own_at = near_place(READ_ARGS, own_i + 1);
        if (own_at.somewhere) {
            atomic_inc(own_starts + 1 + NEAR_CELL_OF(own_at));
        }
    }
}

kernel void near_bin(READ_PARAMS, NEAR_ABOUT)
{
    const NearCells own_cells = NEAR_CELLS;
    for (uint own_i = (uint)get_global_id(0); own_i < own_labels; own_i += (uint)get_global_size(0)) {
        const NearPlace own_at = near_place(READ_ARGS, own_i + 1);
        if (own_at.somewhere) {
            own_order[atomic_inc(own_starts + 1 + NEAR_CELL_OF(own_at))] = own_i + 1;
        }
    }
}

/* ---- looking around ------------------------------------------------------------------------------ */

NEAR_INLINE void near_row(const NearQuery *q, NearCells cells, global const uint *starts, NearWalk *walk)
{
    const uint from = near_cell(cells, max(q->cx - q->radius, 0), walk->y, walk->z);
    const uint to = near_cell(cells, min(q->cx + q->radius, cells.nx - 1), walk->y, walk->z);
    walk->at = starts[from];
    walk->end = starts[to + 1];
}

NEAR_INLINE NearWalk near_walk(const NearQuery *q, NearCells cells, global const uint *starts)
{
    NearWalk walk;
    walk.y = max(q->cy - q->radius, 0);
    walk.z = max(q->cz - q->radius, 0);
    near_row(q, cells, starts, &walk);
    return walk;
}

/* To the next row that holds something, should this one be done; false when there is none. */
NEAR_INLINE bool near_step(const NearQuery *q, NearCells cells, global const uint *starts, NearWalk *walk)
{
    while (walk->at >= walk->end) {
        walk->y++;
        if (walk->y > min(q->cy + q->radius, cells.ny - 1)) {
            walk->y = max(q->cy - q->radius, 0);
            walk->z++;
        }
        if (walk->z > min(q->cz + q->radius, cells.nz - 1)) {
            return false;
        }
        near_row(q, cells, starts, walk);
    }
    return true;
}

/* The next label that counts, and its squared distance; false when there is none. */
NEAR_INLINE bool near_next(READ_PARAMS, NEAR_ABOUT, const NearQuery *own_q, NearWalk *own_walk,
                           NearKey *own_found, double *own_square)
{
    const NearCells own_cells = NEAR_CELLS;
    while (near_step(own_q, own_cells, own_starts, own_walk)) {
        own_found->label = own_order[own_walk->at++];
        const NearPlace own_there = near_place(READ_ARGS, own_found->label);
        *own_square = near_square(own_q->at, own_there, own_sx, own_sy, own_sz);
        own_found->key = own_q->far ? -*own_square : *own_square;
        if (own_found->label != own_q->self && *own_square <= own_q->limit &&
            near_before(own_q->after, *own_found) && !near_before(own_q->last, *own_found)) {
            return true;
        }
    }
    return false;
}

#define NEAR_OF                                                                                    \
    READ_ARGS, own_labels, own_sx, own_sy, own_sz, own_edge, own_nx, own_ny, own_nz, own_starts,   \
        own_order
#define NEAR_EACH(query)                                                                           \
    for (NearWalk own_walk = near_walk(query, own_cells, own_starts);                              \
         near_next(NEAR_OF, query, &own_walk, &own_found, &own_square);)

/* All that is near enough is fewer than so many cells away. */
NEAR_INLINE int near_radius(double limit, NearCells cells)
{
    const double away = sqrt(limit) / (cells.edge * NEAR_SAFE);
    const int most = near_most(cells);
    return away < (double)most ? (int)away + 1 : most;
}

/* The first keys, at most `wanted`, in order; how many there are. */
NEAR_INLINE uint near_first(READ_PARAMS, NEAR_ABOUT, NearQuery *own_q, uint own_wanted,
                            NearKey own_list[NEAR_LISTED])
{
    const NearCells own_cells = NEAR_CELLS;
    const int own_most = own_q->far ? near_most(own_cells) : near_radius(own_q->limit, own_cells);
    uint own_n;
    for (own_q->radius = own_q->far ? own_most : min(own_q->radius, own_most);;
         own_q->radius = min(2 * own_q->radius, own_most)) {
        const double own_reach = own_q->radius * own_edge * NEAR_SAFE;
        NearKey own_found;
        double own_square;
        own_n = 0;
        NEAR_EACH(own_q)
        {
            uint own_at = own_n;
            if (own_n == own_wanted && !near_before(own_found, own_list[own_n - 1])) {
                continue;
            }
            own_at -= own_n == own_wanted ? 1 : 0;
            for (; own_at > 0 && near_before(own_found, own_list[own_at - 1]); own_at--) {
                own_list[own_at] = own_list[own_at - 1];
            }
            own_list[own_at] = own_found;
            own_n += own_n < own_wanted ? 1 : 0;
        }
        const bool own_full = own_n == own_wanted && !own_q->far &&
                              own_list[own_n - 1].key <= own_reach * own_reach;
        if (own_full || own_q->radius == own_most) {
            return own_n;
        }
    }
}

/* A query about all labels that are near enough. */
NEAR_INLINE NearQuery near_query(READ_PARAMS, NEAR_ABOUT, uint own_self, double own_limit, bool own_far)
{
    NearQuery own_q;
    own_q.self = own_self;
    own_q.at = near_place(READ_ARGS, own_self);
    own_q.limit = own_limit;
    own_q.far = own_far;
    own_q.cx = near_along(own_q.at.x * own_sx, own_edge, own_nx);
    own_q.cy = near_along(own_q.at.y * own_sy, own_edge, own_ny);
    own_q.cz = near_along(own_q.at.z * own_sz, own_edge, own_nz);
    own_q.radius = 1;
    own_q.after.key = -INFINITY;
    own_q.after.label = 0;
    own_q.last.key = INFINITY;
    own_q.last.label = 0xffffffff;
    return own_q;
}

/* Its first `wanted` alone. */
NEAR_INLINE void near_choose(READ_PARAMS, NEAR_ABOUT, NearQuery *own_q, uint own_wanted)
{
    const NearCells own_cells = NEAR_CELLS;
    const NearKey own_none = own_q->after;
    NearKey own_list[NEAR_LISTED];
    if (own_wanted >= own_labels) {
        own_q->radius = near_radius(own_q->limit, own_cells);
        return;
    }
    while (own_wanted > 0) {
        const uint own_n = min(own_wanted, (uint)NEAR_LISTED);
        if (near_first(NEAR_OF, own_q, own_n, own_list) < own_n) {
            own_q->after = own_none;
            return;
        }
        own_q->after = own_list[own_n - 1];
        own_wanted -= own_n;
    }
    own_q->last = own_q->after;
    own_q->after = own_none;
}

/* How many are near, or of these have a value. */
NEAR_INLINE uint near_number(READ_PARAMS, NEAR_ABOUT, const NearQuery *own_q, const bool own_valued)
{
    const NearCells own_cells = NEAR_CELLS;
    NearKey own_found;
    double own_square;
    uint own_n = 0;
    NEAR_EACH(own_q)
    {
        own_n += own_valued && isnan(NEAR_VALUE(own_found.label, own_square)) ? 0 : 1;
    }
    return own_n;
}

/* ---- folds ------------------------------------------------------------------------------------------ */

/* The sum of what is near, or of the squares of what it differs by from `mean`; *n: how many have a value. */
NEAR_INLINE float near_sum(READ_PARAMS, NEAR_ABOUT, const NearQuery *own_q, bool own_squares,
                           float own_mean, uint *own_n)
{
    const NearCells own_cells = NEAR_CELLS;
    NearKey own_found;
    double own_square;
    ExactSum own_sum = {0, 0};
    int own_largest = 0;
    for (int own_turn = 0; own_turn < 2; own_turn++) {
        *own_n = 0;
        NEAR_EACH(own_q)
        {
            const float own_value = NEAR_VALUE(own_found.label, own_square);
            const float own_way = own_value - own_mean;
            const uint own_bits = as_uint(own_squares ? own_way * own_way : own_value);
            *own_n += isnan(own_value) ? 0 : 1;
            if (!exact_is_nan(own_bits) && own_turn == 0) {
                own_largest = max(own_largest, exact_exponent(own_bits));
            } else if (!exact_is_nan(own_bits)) {
                exact_add(&own_sum, exact_in_units(own_bits, own_largest));
            }
        }
    }
    return exact_round(own_sum, own_largest);
}

typedef struct NearLevel {
    uint key, n;
} NearLevel;

/* The different values above `after`, least first, at most NEAR_LISTED, and how often each is there. */
NEAR_INLINE int near_levels(READ_PARAMS, NEAR_ABOUT, const NearQuery *own_q, uint own_after,
                            NearLevel own_list[NEAR_LISTED])
{
    const NearCells own_cells = NEAR_CELLS;
    NearKey own_found;
    double own_square;
    int own_n = 0;
    NEAR_EACH(own_q)
    {
        const float own_value = NEAR_VALUE(own_found.label, own_square);
        const uint own_key = exact_key(as_uint(own_value));
        int own_at = own_n;
        if (isnan(own_value) || own_key <= own_after) {
            continue;
        }
        while (own_at > 0 && own_key < own_list[own_at - 1].key) {
            own_at--;
        }
        if (own_at > 0 && own_key == own_list[own_at - 1].key) {
            own_list[own_at - 1].n++;
        } else if (own_at < NEAR_LISTED) {
            own_n = min(own_n + 1, NEAR_LISTED);
            for (int own_k = own_n - 1; own_k > own_at; own_k--) {
                own_list[own_k] = own_list[own_k - 1];
            }
            own_list[own_at].key = own_key;
            own_list[own_at].n = 1;
        }
    }
    return own_n;
}

NEAR_INLINE float near_value_of(uint key)
{
    return as_float(key >> 31 != 0 ? key & 0x7fffffff : ~key);
}

/* Median and mode: through the different values, least first. */
NEAR_INLINE float near_ranked(READ_PARAMS, NEAR_ABOUT, const NearQuery *own_q)
{
    const uint own_rank = NEAR_FOLD == NEAR_MEDIAN ? near_number(NEAR_OF, own_q, true) / 2 : 0;
    NearLevel own_list[NEAR_LISTED], own_best = {0, 0};
    uint own_after = 0, own_passed = 0;
    int own_n;
    do {
        own_n = near_levels(NEAR_OF, own_q, own_after, own_list);
        for (int own_k = 0; own_k < own_n; own_k++) {
            own_passed += own_list[own_k].n;
            if (NEAR_FOLD == NEAR_MEDIAN && own_passed > own_rank) {
                return near_value_of(own_list[own_k].key);
            }
            own_best = own_list[own_k].n > own_best.n ? own_list[own_k] : own_best;
        }
        own_after = own_n > 0 ? own_list[own_n - 1].key : 0;
    } while (own_n == NEAR_LISTED);
    return NEAR_FOLD == NEAR_MODE && own_best.n > 0 ? near_value_of(own_best.key) : 0;
}

NEAR_INLINE float near_extreme(READ_PARAMS, NEAR_ABOUT, const NearQuery *own_q)
{
    const NearCells own_cells = NEAR_CELLS;
    NearKey own_found;
    double own_square;
    float own_best = NAN;
    NEAR_EACH(own_q)
    {
        const float own_value = NEAR_VALUE(own_found.label, own_square);
        own_best = NEAR_FOLD == NEAR_MIN ? fmin(own_best, own_value) : fmax(own_best, own_value);
    }
    return isnan(own_best) ? 0 : own_best;
}

NEAR_INLINE float near_mean(float sum, uint n)
{
    return n > 0 ? (float)((double)sum / (double)n) : 0;
}

NEAR_INLINE float near_folded(READ_PARAMS, NEAR_ABOUT, const NearQuery *own_q)
{
#if NEAR_FOLD == 0
    return convert_float_rte(near_number(NEAR_OF, own_q, false));
#elif NEAR_FOLD == 3 || NEAR_FOLD == 4
    return near_extreme(NEAR_OF, own_q);
#elif NEAR_FOLD == 6 || NEAR_FOLD == 7
    return near_ranked(NEAR_OF, own_q);
#else
    uint own_n;
    const float own_sum = near_sum(NEAR_OF, own_q, false, 0, &own_n);
    const float own_mean = near_mean(own_sum, own_n);
#if NEAR_FOLD == 5
    const float own_squares = near_sum(NEAR_OF, own_q, true, own_mean, &own_n);
    return (float)sqrt((double)near_mean(own_squares, own_n));
#else
    return NEAR_FOLD == NEAR_SUM ? own_sum : own_mean;
#endif
#endif
}

/* Labels are taken in the order of their cells, so that those side by side look through the same ones. */
kernel void near_fold(READ_PARAMS, NEAR_ABOUT, uint own_wanted, int own_far, double own_limit,
                      global float *own_out)
{
    const uint own_all = own_starts[(size_t)own_nx * (size_t)own_ny * (size_t)own_nz];
    for (uint own_i = (uint)get_global_id(0); own_i < own_all; own_i += (uint)get_global_size(0)) {
        const uint own_label = own_order[own_i];
        NearQuery own_q = near_query(NEAR_OF, own_label, own_limit, own_far != 0);
        near_choose(NEAR_OF, &own_q, own_wanted);
        own_out[own_label] = near_folded(NEAR_OF, &own_q);
    }
}

/* ---- lists ------------------------------------------------------------------------------------------- */

kernel void near_counts(READ_PARAMS, NEAR_ABOUT, uint own_wanted, int own_far, double own_limit,
                        global uint *own_counts)
{
    const uint own_all = own_starts[(size_t)own_nx * (size_t)own_ny * (size_t)own_nz];
    for (uint own_i = (uint)get_global_id(0); own_i < own_all; own_i += (uint)get_global_size(0)) {
        const uint own_label = own_order[own_i];
        NearQuery own_q = near_query(NEAR_OF, own_label, own_limit, own_far != 0);
        near_choose(NEAR_OF, &own_q, own_wanted);
        own_counts[own_label - 1] = near_number(NEAR_OF, &own_q, false);
    }
}

/* Of the labels from `first` on, so many, those behind the first `done`.  after[i]: the last key that has been
 * listed, which the first round (done = 0) does not ask for. */
kernel void near_list(READ_PARAMS, NEAR_ABOUT, uint own_first, uint own_many, uint own_done, int own_far,
                      double own_limit, global const uint *own_counts, global double *own_after,
                      global uint *own_labels_there, global double *own_squares)
{
    for (uint own_i = (uint)get_global_id(0); own_i < own_many; own_i += (uint)get_global_size(0)) {
        const uint own_count = own_counts[own_first - 1 + own_i];
        const uint own_wanted = own_count > own_done ? min(own_count - own_done, (uint)NEAR_LISTED) : 0;
        const size_t own_at = (size_t)own_i * NEAR_LISTED;
        NearKey own_list[NEAR_LISTED];
        if (own_wanted > 0) {
            NearQuery own_q = near_query(NEAR_OF, own_first + own_i, own_limit, own_far != 0);
            if (own_done > 0) {
                own_q.after.key = own_after[own_i];
                own_q.after.label = own_labels_there[own_at + NEAR_LISTED - 1];
            }
            const uint own_n = near_first(NEAR_OF, &own_q, own_wanted, own_list);
            for (uint own_k = 0; own_k < own_n; own_k++) {
                own_labels_there[own_at + own_k] = own_list[own_k].label;
                own_squares[own_at + own_k] = own_far != 0 ? -own_list[own_k].key : own_list[own_k].key;
            }
            own_after[own_i] = own_list[own_n - 1].key;
        }
    }
}
