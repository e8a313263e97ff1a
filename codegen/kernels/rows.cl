/* Columns of a row into registers and back.  PX pixels of a work-item are neighbours; on GPUs
 * they travel 16 bytes at a time, on CPUs the loops are vectorised as they are. */
#define UP4(n) (((n) + 3) / 4 * 4)
#define PX_JOINED(a, b) a##b
#define PX_JOIN(a, b) PX_JOINED(a, b)
#if PX == 4
#define PX_UNROLL _Pragma("unroll")
#define LOAD_COLUMNS(T, to, n, from)                                                               \
    PX_UNROLL for (int px_v = 0; px_v < (n) / 4; px_v++) {                                         \
        const PX_JOIN(T, 4) px_q = *(const global PX_JOIN(T, 4) *)((from) + 4 * px_v);             \
        to[4 * px_v] = px_q.x;                                                                     \
        to[4 * px_v + 1] = px_q.y;                                                                 \
        to[4 * px_v + 2] = px_q.z;                                                                 \
        to[4 * px_v + 3] = px_q.w;                                                                 \
    }
/* The same at an edge under the border `nearest`: whole vectors from inside the row, then the
 * columns beyond the image take their neighbour's value, in registers. */
#define LOAD_NEAREST(T, to, n, row, x0, left, w)                                                   \
    PX_UNROLL for (int px_v = 0; px_v < (n) / 4; px_v++) {                                         \
        const PX_JOIN(T, 4) px_q =                                                                 \
            *(const global PX_JOIN(T, 4) *)((row) + clamp((x0) + 4 * px_v, 0, pitch - 4));         \
        to[4 * px_v] = px_q.x;                                                                     \
        to[4 * px_v + 1] = px_q.y;                                                                 \
        to[4 * px_v + 2] = px_q.z;                                                                 \
        to[4 * px_v + 3] = px_q.w;                                                                 \
    }                                                                                              \
    NEAREST_COLUMNS(to, n, x0, left, w)
#define STORE_COLUMNS(T, to, from)                                                                 \
    *(global PX_JOIN(T, 4) *)(to) = (PX_JOIN(T, 4))((T)from[0], (T)from[1], (T)from[2], (T)from[3])
#else
#if LX >= 64
#define PX_UNROLL _Pragma("unroll")
#else
#define PX_UNROLL
#endif
#define LOAD_COLUMNS(T, to, n, from)                                                               \
    PX_UNROLL for (int px_v = 0; px_v < (n); px_v++) to[px_v] = (from)[px_v];
#define LOAD_NEAREST(T, to, n, row, x0, left, w)                                                   \
    PX_UNROLL for (int px_v = 0; px_v < (n); px_v++) to[px_v] = (row)[px_nearest((x0) + px_v, w)];
#define STORE_COLUMNS(T, to, from)                                                                 \
    PX_UNROLL for (int px_v = 0; px_v < PX; px_v++)(to)[px_v] = (T)from[px_v];
#endif
/* What whole numbers of a type are at most; no sum of the others is exact. */
#define LARGEST_uchar 255
#define LARGEST_ushort 65535
#define LARGEST_short 2147483647
#define LARGEST_uint 2147483647
#define LARGEST_int 2147483647
#define LARGEST_float 2147483647
#define LARGEST_double 2147483647
#define BYTES_IN_INT_uchar int
#define BYTES_IN_INT_ushort double
#define BYTES_IN_INT_short double
#define BYTES_IN_INT_uint double
#define BYTES_IN_INT_int double
#define BYTES_IN_INT_float double
#define BYTES_IN_INT_double double
#define PX_SUM(a, b) ((a) + (b))
/*
 * EXTREME_COLUMNS: the smallest or largest one of n columns from `column`, a text in k, for each of `width` of them.
 * EXTREME_TURN: windows of before + 1 rows that are open behind a turn, the first `before` of them, of those that were in front
 * of it and its rows (codegen/rows_extremes.c).
 * EXACT_COLUMNS: the sum of n columns, in any order.
 */
#if PX == 4
#define EXTREME_COLUMNS(TYPE, to, width, n, choose, column)                                        \
    PX_UNROLL for (int px_from = 0; px_from < (width); px_from += 4) {                             \
        TYPE px_middle, px_near[3], px_far;                                                        \
        PX_UNROLL for (int k = px_from + 3; k < px_from + (n); k++) {                              \
            px_middle = k == px_from + 3 ? column : choose(px_middle, column);                     \
        }                                                                                          \
        PX_UNROLL for (int k = px_from + 2; k >= px_from; k--) {                                   \
            px_near[k - px_from] = k == px_from + 2 ? column : choose(column, px_near[k - px_from + 1]); \
        }                                                                                          \
        to[px_from] = choose(px_near[0], px_middle);                                               \
        PX_UNROLL for (int k = px_from + (n); k < px_from + (n) + 3; k++) {                        \
            const int px_k = k - (n) + 1;                                                          \
            px_far = k == px_from + (n) ? column : choose(px_far, column);                         \
            to[px_k] = choose(px_k < px_from + 3 ? choose(px_near[min(px_k - px_from, 2)], px_middle) \
                                                 : px_middle, px_far);                             \
        }                                                                                          \
    }
#define EXACT_COLUMNS(TYPE, to, width, n, column) EXTREME_COLUMNS(TYPE, to, width, n, PX_SUM, column)
#else
#define EXTREME_COLUMNS(TYPE, to, width, n, choose, column)                                        \
    {                                                                                              \
        TYPE px_run[(width) + (n)-1];                                                              \
        int px_span = 1;                                                                           \
        for (int k = 0; k < (width) + (n)-1; k++) px_run[k] = column;                              \
        for (; 2 * px_span <= (n); px_span *= 2) {                                                 \
            for (int k = 0; k + px_span < (width) + (n)-1; k++) {                                  \
                px_run[k] = choose(px_run[k], px_run[k + px_span]);                                \
            }                                                                                      \
        }                                                                                          \
        for (int k = 0; k < (width); k++) to[k] = choose(px_run[k], px_run[k + (n)-px_span]);      \
    }
/* Windows are put together of runs of 1, 2, 4 ... columns, as n has them. */
#define EXACT_COLUMNS(TYPE, to, width, n, column)                                                  \
    {                                                                                              \
        TYPE px_run[(width) + (n)-1];                                                              \
        int px_at = 0;                                                                             \
        for (int k = 0; k < (width) + (n)-1; k++) px_run[k] = column;                              \
        for (int k = 0; k < (width); k++) to[k] = 0;                                               \
        for (int px_span = 1; px_span <= (n); px_span *= 2) {                                      \
            if ((n)&px_span) {                                                                     \
                for (int k = 0; k < (width); k++) to[k] += px_run[k + px_at];                      \
                px_at += px_span;                                                                  \
            }                                                                                      \
            for (int k = 0; k + px_span < (width) + (n)-1; k++) {                                  \
                px_run[k] += px_run[k + px_span];                                                  \
            }                                                                                      \
        }                                                                                          \
    }
#endif
#define EXTREME_TURN(open, before, width, choose)                                                  \
    PX_UNROLL for (int m = TURNS - 2; m >= 0; m--) {                                               \
        PX_UNROLL for (int k = 0; k < (width); k++) {                                              \
            open##_rows[m][k] = choose(open##_rows[m][k], open##_rows[m + 1][k]);                  \
        }                                                                                          \
    }                                                                                              \
    PX_UNROLL for (int m = 0; m < (before); m++) {                                                 \
        PX_UNROLL for (int k = 0; k < (width); k++) {                                              \
            open[m][k] = m + TURNS < (before) ? choose(open[min(m + TURNS, (before)-1)][k], open##_turn[k]) \
                                              : open##_rows[max(m + TURNS - (before), 0)][k];      \
        }                                                                                          \
    }
/* Columns of `v` (the first is column `x0`) beyond the image take the nearest one inside; at least
 * column x0 + left is inside. */
#define NEAREST_COLUMNS(v, n, x0, left, w)                                                         \
    PX_UNROLL for (int px_k = (left)-1; px_k >= 0; px_k--) {                                       \
        v[px_k] = (x0) + px_k < 0 ? v[px_k + 1] : v[px_k];                                         \
    }                                                                                              \
    PX_UNROLL for (int px_k = (left) + 1; px_k < (n); px_k++) {                                    \
        v[px_k] = (x0) + px_k >= (w) ? v[px_k - 1] : v[px_k];                                      \
    }

/*
 * Rows that a work-item of a kernel with folds over rows takes a turn; the group's rows come to it
 * through local memory where there is much to share (PX == 4), else straight from memory:
 *
 *     TILE_ROWS      declares the tile, two sides of TURNS rows, and what is on the way to it
 *     FETCH_ROWS     starts the loads of a turn's rows, by vectors of four columns: each work-item
 *                    its own ones, and some of the columns to the left and right of the group
 *     KEEP_ROWS      puts them into the side of the tile that this turn reads
 *     ROWS_ARE_KEPT  waits for the others
 *     TAKE_COLUMNS   the columns that a work-item needs of row `turn`
 *
 * TILE_COMPUTED the same where columns are computed as they are kept (codegen/rows_tile.c), of TILE_SOURCE, which is fetched,
 * TAKE_SOURCE, four columns of it, and KEEP_COMPUTED, which puts the results into the tile.
 *
 * TILE_RISES, FETCH_RISES, KEEP_RISES, TAKE_RISES the same where blends along x want each column less the one before
 * it, and of the columns themselves the work-item's own: a difference is taken once, by whoever keeps it. And
 * OWN_ROWS, FETCH_OWN, KEEP_OWN, TAKE_OWN where it needs its own columns only.
 * The other side of the tile may still be read meanwhile, so one barrier a turn is enough.
 *
 * The more rows a turn has, the more loads are under way and the fewer barriers there are, but folds over rows
 * take STEPS registers for a pixel, and so much code a row, which has to fit into the instruction cache.  Pixels
 * that need no conversion (IS_KEPT_AS_IS) leave room for more.
 */
#define RISES_OF(columns, rise, n)                                                                 \
    PX_UNROLL for (int px_k = 1; px_k < (n); px_k++) rise[px_k] = columns[px_k] - columns[px_k - 1]
#define DEEPER(a, b) ((a) > (b) ? (a) : (b))
#if PX == 4
#define TILE_COLUMNS(width) (PX * LX - PX + (width))
#define TILE_BYTES(TYPE, width) ((int)sizeof(TYPE) * TILE_COLUMNS(width))
#define RISE_BYTES(width) (TILE_BYTES(float, width) + TILE_BYTES(float, PX) / 2)
#define ROWS_A_TURN(steps, bytes, as_is)                                                           \
    ROWS_OF((steps) <= ((as_is) ? 32 : 20) && (bytes) <= 2048 ? 8                                  \
            : (steps) <= 64 && (bytes) <= 4096                ? 4                                  \
            : (steps) <= 256 && (bytes) <= 8192               ? 2                                  \
                                                              : 1)
/* Where functions are most of the code. */
#define FEW_ROWS_A_TURN(steps, bytes, as_is)                                                       \
    (ROWS_A_TURN(steps, bytes, as_is) < 4 ? ROWS_A_TURN(steps, bytes, as_is) : 4)
/* A run has fewer rows a turn where the driver says that registers do not suffice (runtime/exec/exec_build.c). */
#ifndef ROWS_AT_MOST
#define ROWS_AT_MOST 8
#endif
#define ROWS_OF(n) ((n) < ROWS_AT_MOST ? (n) : ROWS_AT_MOST)
/* The same for windows that are sorted, by their elements. */
#define ROWS_A_WINDOW(n) ((n) <= 32 ? 4 : 1)
#define IF_NOTHING_IS_SHARED(outside) if (false)
/* Where a work-item loads that may have no columns of its own. */
#define IN_ROW(x) min(x, pitch - PX)

/* What four columns are while they are on their way: vectors of small elements would be taken
 * apart and put together again. */
#define RAW_uchar uint
#define RAW_ushort uint2
#define RAW_short uint2
#define RAW_uint uint4
#define RAW_int uint4
#define RAW_float float4
#define RAW_double double4
#define RAW(T) PX_JOIN(RAW_, T)

/* Where rows begin, in kernels with tiles: one multiplication of 32 by 32 bits, which that compiler makes one of
 * 64 by 64 where it has widened the pitch outside of the loop.  Elsewhere it does better by itself. */
#if defined(__NV_CL_C_VERSION)
static inline long px_product(uint a, uint b)
{
    long product;
    asm("mul.wide.u32 %0, %1, %2;" : "=l"(product) : "r"(a), "r"(b));
    return product;
}
#define TILE_ROW_START(y, pitch) px_product(y, pitch)
#endif

/* What they become where they are kept.  A byte beside the bits of 2 ** 23 is a float but for that number,
 * which is half of the instructions of a conversion; in a difference the number is gone. */
#define KEPT_AS_IS(T, TYPE, raw)                                                                   \
    PX_JOIN(convert_, PX_JOIN(TYPE, 4))(PX_JOIN(as_, PX_JOIN(T, 4))(raw))
#if defined(__NV_CL_C_VERSION)
#define ABOVE_uchar 8388608.0f
static inline float4 px_bytes_above(uint raw)
{
    uint4 bits;
    asm("prmt.b32 %0, %1, %2, 0x7440;" : "=r"(bits.x) : "r"(raw), "r"(0x4b000000u));
    asm("prmt.b32 %0, %1, %2, 0x7441;" : "=r"(bits.y) : "r"(raw), "r"(0x4b000000u));
    asm("prmt.b32 %0, %1, %2, 0x7442;" : "=r"(bits.z) : "r"(raw), "r"(0x4b000000u));
    asm("prmt.b32 %0, %1, %2, 0x7443;" : "=r"(bits.w) : "r"(raw), "r"(0x4b000000u));
    return as_float4(bits);
}
#define RISING_uchar(raw) px_bytes_above(raw)
#define FOOT_uchar(v) as_float(0x4b000000u | (uint)(v))
#else
#define ABOVE_uchar 0.0f
#define RISING_uchar(raw) KEPT_AS_IS(uchar, float, raw)
#define FOOT_uchar(v) (float)(v)
#endif
#define KEPT_uchar_float(raw) (RISING_uchar(raw) - ABOVE_uchar)
#define KEPT_uchar_int(raw) KEPT_AS_IS(uchar, int, raw)
#define KEPT_uchar_uint(raw) KEPT_AS_IS(uchar, uint, raw)
#define KEPT_uchar(TYPE, raw) PX_JOIN(KEPT_uchar_, TYPE)(raw)
#define KEPT_ushort(TYPE, raw) KEPT_AS_IS(ushort, TYPE, raw)
#define KEPT_short(TYPE, raw) KEPT_AS_IS(short, TYPE, raw)
#define KEPT_uint(TYPE, raw) KEPT_AS_IS(uint, TYPE, raw)
#define KEPT_int(TYPE, raw) KEPT_AS_IS(int, TYPE, raw)
#define KEPT_float(TYPE, raw) KEPT_AS_IS(float, TYPE, raw)
#define KEPT_double(TYPE, raw) KEPT_AS_IS(double, TYPE, raw)
#define KEPT(T, TYPE, raw) PX_JOIN(KEPT_, T)(TYPE, raw)

/* Four pixels and the one before them for differences, and what is to be taken off a pixel by itself. */
#define RISING_ushort(raw) KEPT_AS_IS(ushort, float, raw)
#define RISING_short(raw) KEPT_AS_IS(short, float, raw)
#define RISING_uint(raw) KEPT_AS_IS(uint, float, raw)
#define RISING_int(raw) KEPT_AS_IS(int, float, raw)
#define RISING_float(raw) (raw)
#define RISING_double(raw) KEPT_AS_IS(double, float, raw)
#define FOOT_ushort(v) (float)(v)
#define FOOT_short(v) (float)(v)
#define FOOT_uint(v) (float)(v)
#define FOOT_int(v) (float)(v)
#define FOOT_float(v) (v)
#define FOOT_double(v) (float)(v)
#define ABOVE_ushort 0.0f
#define ABOVE_short 0.0f
#define ABOVE_uint 0.0f
#define ABOVE_int 0.0f
#define ABOVE_float 0.0f
#define ABOVE_double 0.0f
#define RISING(T, raw) PX_JOIN(RISING_, T)(raw)
#define FOOT(T, v) PX_JOIN(FOOT_, T)(v)
#define ABOVE(T) PX_JOIN(ABOVE_, T)

#define NUMBER_OF_uchar 0
#define NUMBER_OF_ushort 1
#define NUMBER_OF_short 2
#define NUMBER_OF_uint 3
#define NUMBER_OF_int 4
#define NUMBER_OF_float 5
#define NUMBER_OF_double 6
#define IS_KEPT_AS_IS(T, TYPE) (PX_JOIN(NUMBER_OF_, T) == PX_JOIN(NUMBER_OF_, TYPE))

#define TILE_PLACES(name, left, width)                                                             \
    enum {                                                                                         \
        name##_left = left,                                                                        \
        name##_columns = TILE_COLUMNS(width),                                                      \
        name##_aside = ((width)-PX) / 4,                                                           \
        name##_vectors = TURNS + (TURNS * name##_aside + LX - 1) / LX                              \
    }
#define TILE_COMPUTED(name, TYPE, left, width)                                                     \
    TILE_PLACES(name, left, width);                                                                \
    local TYPE name##_tile[2][TURNS][name##_columns] __attribute__((aligned(16)))
#define TILE_SOURCE(name, T, left, width)                                                          \
    TILE_PLACES(name, left, width);                                                                \
    RAW(T) name##_raw[name##_vectors]
#define TILE_ROWS(name, T, TYPE, left, width)                                                      \
    TILE_COMPUTED(name, TYPE, left, width);                                                        \
    RAW(T) name##_raw[name##_vectors]

#define TILE_RISES(name, T, TYPE, left, width)                                                     \
    TILE_ROWS(name, T, TYPE, left, width);                                                         \
    local TYPE name##_own[TURNS][PX * LX] __attribute__((aligned(16)));                            \
    T name##_foot[name##_vectors]

/* Vector v of a work-item: its own of row v, then every LX-th of those aside. */
#define ASIDE(v) ((int)get_local_id(0) + ((v)-TURNS) * LX)
#define IS_VECTOR(name, v) ((v) < TURNS || ASIDE(v) < TURNS * name##_aside)
#define VECTOR_ROW(name, v) ((v) < TURNS ? (v) : min(ASIDE(v) / name##_aside, TURNS - 1))
#define VECTOR_COLUMN(name, v)                                                                     \
    ((v) < TURNS ? name##_left + PX * (int)get_local_id(0)                                         \
                 : 4 * (ASIDE(v) % name##_aside) +                                                 \
                       (4 * (ASIDE(v) % name##_aside) < name##_left ? 0 : PX * LX))
#define TILE_X(name) (PX * LX * (int)get_group_id(0) - name##_left)

/* In groups at an edge each column comes from where the border maps it. */
#define FETCH_ROWS(name, T, map, stream, from, row)                                                 \
    if (TILE_X(name) >= 0 && TILE_X(name) + name##_columns <= w) {                                 \
        FETCH_VECTORS(name, T, stream, from, row,                                                   \
                      name##_raw[px_v] = *(const global RAW(T) *)(px_row + px_x))                  \
    } else {                                                                                       \
        FETCH_VECTORS(name, T, stream, from, row, name##_raw[px_v] = GATHERED(T, map))              \
    }
#define FETCH_RISES(name, T, map, stream, from, row)                                                \
    if (TILE_X(name) >= 1 && TILE_X(name) + name##_columns <= w) {                                 \
        FETCH_VECTORS(name, T, stream, from, row,                                                   \
                      name##_raw[px_v] = *(const global RAW(T) *)(px_row + px_x);                  \
                      name##_foot[px_v] = (px_row + px_x)[-1])                                     \
    } else {                                                                                       \
        FETCH_VECTORS(name, T, stream, from, row, name##_raw[px_v] = GATHERED(T, map);              \
                      name##_foot[px_v] = px_row[map(px_x - 1, w)])                                \
    }
#define FETCH_VECTORS(name, T, stream, from, row, fetch)                                            \
    PX_UNROLL for (int px_v = 0; px_v < name##_vectors; px_v++) {                                  \
        const int stream = min((from) + VECTOR_ROW(name, px_v), last);                              \
        const int px_x = TILE_X(name) + VECTOR_COLUMN(name, px_v);                                 \
        const global T *px_row = row;                                                              \
        fetch;                                                                                     \
    }
#define GATHERED(T, map)                                                                           \
    PX_JOIN(as_, RAW(T))((PX_JOIN(T, 4))(px_row[map(px_x, w)], px_row[map(px_x + 1, w)],           \
                                         px_row[map(px_x + 2, w)], px_row[map(px_x + 3, w)]))

#define TILE_AT(name, v) name##_tile[side][VECTOR_ROW(name, v)] + VECTOR_COLUMN(name, v)
#define OWN_AT(name, v) name##_own[v] + PX * (int)get_local_id(0)
#define KEEP_ROWS(name, T, TYPE)                                                                   \
    PX_UNROLL for (int px_v = 0; px_v < name##_vectors; px_v++) {                                  \
        if (IS_VECTOR(name, px_v)) {                                                               \
            *(local PX_JOIN(TYPE, 4) *)(TILE_AT(name, px_v)) = KEPT(T, TYPE, name##_raw[px_v]);    \
        }                                                                                          \
    }
#define KEEP_RISES(name, T, TYPE)                                                                  \
    PX_UNROLL for (int px_v = 0; px_v < name##_vectors; px_v++) {                                  \
        if (IS_VECTOR(name, px_v)) {                                                               \
            const float4 px_q = RISING(T, name##_raw[px_v]);                                       \
            *(local float4 *)(TILE_AT(name, px_v)) =                                               \
                px_q - (float4)(FOOT(T, name##_foot[px_v]), px_q.x, px_q.y, px_q.z);               \
            if (px_v < TURNS) *(local float4 *)(OWN_AT(name, px_v)) = px_q - ABOVE(T);             \
        }                                                                                          \
    }
#define KEEP_COMPUTED(name, TYPE, from)                                                            \
    *(local PX_JOIN(TYPE, 4) *)(TILE_AT(name, px_v)) =                                             \
        (PX_JOIN(TYPE, 4))(from[0], from[1], from[2], from[3])
#define TAKE_SOURCE(name, T, TYPE)                                                                 \
    TYPE name[4];                                                                                  \
    {                                                                                              \
        const PX_JOIN(TYPE, 4) px_q = KEPT(T, TYPE, name##_raw[px_v]);                             \
        name[0] = px_q.x;                                                                          \
        name[1] = px_q.y;                                                                          \
        name[2] = px_q.z;                                                                          \
        name[3] = px_q.w;                                                                          \
    }
#define ROWS_ARE_KEPT barrier(CLK_LOCAL_MEM_FENCE)
#define TAKE_COLUMNS(name, T, TYPE, n, map, row, x0, w) TAKE_VECTORS(name, name, TYPE, n)
#define TAKE_RISES(name, T, TYPE, n, left, map, row, x0, w)                                        \
    TAKE_VECTORS(name##_rise, name, TYPE, n)                                                       \
    TAKE_VECTOR(name, TYPE, 0, OWN_AT(name, turn))
#define TAKE_VECTORS(to, name, TYPE, n)                                                            \
    PX_UNROLL for (int px_v = 0; px_v < (n) / 4; px_v++) {                                         \
        TAKE_VECTOR(to, TYPE, 4 * px_v,                                                            \
                    &name##_tile[side][turn][PX * (int)get_local_id(0) + 4 * px_v])                \
    }
#define TAKE_VECTOR(to, TYPE, at, from)                                                            \
    {                                                                                              \
        const PX_JOIN(TYPE, 4) px_q = *(const local PX_JOIN(TYPE, 4) *)(from);                     \
        to[at] = px_q.x;                                                                           \
        to[(at) + 1] = px_q.y;                                                                     \
        to[(at) + 2] = px_q.z;                                                                     \
        to[(at) + 3] = px_q.w;                                                                     \
    }
#define OWN_ROWS(name, T) RAW(T) name##_raw[TURNS], name##_kept[TURNS]
#define FETCH_OWN(name, T, stream, from, row)                                                       \
    PX_UNROLL for (int px_v = 0; px_v < TURNS; px_v++) {                                           \
        const int stream = min((from) + px_v, last);                                                \
        name##_raw[px_v] = *(const global RAW(T) *)((row) + IN_ROW(x));                            \
    }
#define KEEP_OWN(name)                                                                             \
    PX_UNROLL for (int px_v = 0; px_v < TURNS; px_v++) name##_kept[px_v] = name##_raw[px_v]
#define TAKE_OWN(name, T, TYPE, row)                                                               \
    {                                                                                              \
        const PX_JOIN(TYPE, 4) px_q = KEPT(T, TYPE, name##_kept[turn]);                            \
        name[0] = px_q.x;                                                                          \
        name[1] = px_q.y;                                                                          \
        name[2] = px_q.z;                                                                          \
        name[3] = px_q.w;                                                                          \
    }

/*
 * Quotients and square roots without a branch, in strips away from the edges of kernels that compute much
 * (codegen/rows_ahead.c).  The compiler's own leave for a function where an operand is 0, denormal or huge, and what
 * comes next waits for them.  These take the compiler's way with all other operands, and with a = 0 or NaN one of
 * their own.  Where that may be wrong they set the highest bit of `rare`, and the strip is computed again: unless a
 * is 0, NaN or of size 2 ** -80 .. 2 ** 48, and b of size 2 ** -40 .. 2 ** 24.  The bits of such a float twice, less
 * those of the least one, have no high ones.
 */
#if defined(__NV_CL_C_VERSION) && !defined(restrict)
static inline float px_quotient(float a, float b, uint *rare)
{
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(b));
    y = fma(y, fma(-b, y, 1.0f), y);
    const float near = a * y, exact = fma(-y, fma(b, near, -a), near);
    const bool usual = fabs(a) > 0;
    const uint divisor = 2u * as_uint(b) - 0x57000000u;
    *rare |= divisor | divisor << 1 | (usual ? 2u * as_uint(a) - 0x2f000000u : 0);
    return usual ? exact : near; /* which has the sign of a zero */
}
static inline float px_root(float a, uint *rare)
{
    float y;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(a));
    const float near = a * y, exact = fma(fma(-near, near, a), 0.5f * y, near);
    const bool usual = fabs(a) > 0;
    *rare |= usual ? 2u * as_uint(a) - 0x2f000000u : 0;
    return usual ? exact : a;
}
#define PX_QUOTIENT(a, b, rare) px_quotient(a, b, &rare)
#define PX_ROOT(a, rare) px_root(a, &rare)
#else
#define PX_QUOTIENT(a, b, rare) ((a) / (b))
#define PX_ROOT(a, rare) sqrt(a)
#endif
#ifdef restrict /* a result lies where something is read, so that no strip can be computed again */
#undef IS_RARE
#define IS_RARE(rare) false
#elif !defined(IS_RARE) /* a test has all strips computed again */
#define IS_RARE(rare) ((rare) >> 31 != 0)
#endif

/* Rows that stay in registers while the stream passes over them, TURNS of them a turn, where all
 * columns of the group are inside.  A halo of one or two columns is loaded as such. */
#define ROWS_CARRIED ROWS_OF(3)
#define UP2(n) ((n) <= 2 ? 2 : UP4(n))
#define IS_INSIDE(left, width, w)                                                                  \
    (PX * LX * (int)get_group_id(0) >= left &&                                                     \
     PX * LX * (int)get_group_id(0) - left + TILE_COLUMNS(width) <= w)
#define FETCH_CARRIED(to, T, at, row, left, n)                                                     \
    {                                                                                              \
        const int px_at = at;                                                                      \
        const global T *px_row = row;                                                              \
        LOAD_BESIDE(T, to, 0, left, px_row + x - left)                                             \
        LOAD_BESIDE(T, to, left, PX, px_row + x)                                                   \
        LOAD_BESIDE(T, to, left + PX, n - left - PX, px_row + x + PX)                              \
    }
#define LOAD_BESIDE(T, to, at, n, from)                                                            \
    if ((n) == 2) {                                                                                \
        const PX_JOIN(T, 2) px_p = *(const global PX_JOIN(T, 2) *)(from);                          \
        to[at] = px_p.x;                                                                           \
        to[(at) + 1] = px_p.y;                                                                     \
    } else {                                                                                       \
        PX_UNROLL for (int px_v = 0; px_v < (n) / 4; px_v++) {                                     \
            const PX_JOIN(T, 4) px_q = *(const global PX_JOIN(T, 4) *)((from) + 4 * px_v);         \
            to[(at) + 4 * px_v] = px_q.x;                                                          \
            to[(at) + 4 * px_v + 1] = px_q.y;                                                      \
            to[(at) + 4 * px_v + 2] = px_q.z;                                                      \
            to[(at) + 4 * px_v + 3] = px_q.w;                                                      \
        }                                                                                          \
    }
#else
/*
 * SUM_COLUMNS: a weighted sum along x for all columns of a work-item, `weight` a text in `j`, `column` one in j and k.
 * A column at a time, as the loops beside it are written for GPUs, a CPU waits for each addition; compilers for
 * CPUs make vectors of loops over columns, but not of those around a loop over weights.
 */
#if PX % 8 == 0
#define COLUMNS_IN_VECTORS 1
#define SUM_COLUMNS(to, width, j, from, until, weight, column)                                     \
    for (int k = 0; k + 8 <= (width); k += 8) {                                                    \
        float8 px_sum = (float8)(0.0f);                                                            \
        for (int j = from; j <= (until); j++) px_sum = fma((float8)(weight), vload8(0, &column), px_sum); \
        vstore8(px_sum, 0, to + k);                                                                \
    }                                                                                              \
    for (int k = (width) / 8 * 8; k < (width); k++) {                                              \
        to[k] = 0.0f;                                                                              \
        for (int j = from; j <= (until); j++) to[k] = fma(weight, column, to[k]);                  \
    }
/* The same for a blend (base/blend.h): `rise` is the text of a difference, `own` of a pixel. */
#define BLEND_COLUMNS(to, width, j, from, middle, until, weight, rise, own)                        \
    for (int k = 0; k + 8 <= (width); k += 8) {                                                    \
        float8 px_sum = (float8)(0.0f);                                                            \
        PX_BLEND((float8), vload8(0, &rise), vload8(0, &own), j, from, middle, until, weight);     \
        vstore8(px_sum, 0, to + k);                                                                \
    }                                                                                              \
    for (int k = (width) / 8 * 8; k < (width); k++) {                                              \
        float px_sum = 0.0f;                                                                       \
        PX_BLEND((float), rise, own, j, from, middle, until, weight);                                     \
        to[k] = px_sum;                                                                            \
    }
#define PX_BLEND(vector, rise, own, j, from, middle, until, weight)                                \
    if ((from) <= (until)) {                                                                       \
        int j = from;                                                                              \
        const float px_all = weight;                                                               \
        for (j++; j <= (middle); j++) px_sum = fma(vector(weight), rise, px_sum);                  \
        j = middle;                                                                                \
        px_sum = fma(vector(px_all), own, px_sum);                                                 \
        for (j++; j <= (until); j++) px_sum = fma(vector(weight), rise, px_sum);                   \
    }
#endif
#define TILE_BYTES(TYPE, width) 0
#define ROWS_A_TURN(steps, bytes, as_is) 4
#define FEW_ROWS_A_TURN(steps, bytes, as_is) 4
#define ROWS_OF(n) (n)
#define ROWS_A_WINDOW(n) 1
#define IF_NOTHING_IS_SHARED(outside) if (outside)
#define IN_ROW(x) (x)
#define RISE_BYTES(width) 0
#define TILE_ROWS(name, T, TYPE, left, width)
#define FETCH_ROWS(name, T, map, stream, from, row)
#define KEEP_ROWS(name, T, TYPE)
#define TILE_RISES(name, T, TYPE, left, width)
#define FETCH_RISES(name, T, map, stream, from, row)
#define KEEP_RISES(name, T, TYPE)
#define ROWS_ARE_KEPT
#define OWN_ROWS(name, T)
#define FETCH_OWN(name, T, stream, from, row)
#define KEEP_OWN(name)
#define TAKE_OWN(name, T, TYPE, row) LOAD_COLUMNS(T, name, PX, (row) + x)
#define TAKE_COLUMNS(name, T, TYPE, n, map, row, x0, w)                                            \
    if ((x0) >= 0 && (x0) + (n) <= (w)) {                                                          \
        LOAD_COLUMNS(T, name, n, (row) + (x0));                                                    \
    } else {                                                                                       \
        PX_UNROLL for (int px_v = 0; px_v < (n); px_v++) name[px_v] = (row)[map((x0) + px_v, w)];  \
    }
#define TAKE_RISES(name, T, TYPE, n, left, map, row, x0, w)                                        \
    {                                                                                              \
        TYPE px_near[n];                                                                           \
        TAKE_COLUMNS(px_near, T, TYPE, n, map, row, x0, w)                                         \
        RISES_OF(px_near, name##_rise, n);                                                         \
        PX_UNROLL for (int px_k = 0; px_k < PX; px_k++) name[px_k] = px_near[px_k + (left)];       \
    }
#endif
