/*
 * Folds that are longer than registers (codegen/long_folds.c).  A work-item has PX columns side by
 * side of LONG_ROWS rows.
 *
 * Along x its pixels come LONG_TAPS columns further at a time from a tile, of the group's columns where
 * local memory is fast, else of its own:
 *
 *     LONG_TILE     declares the tile of what is read, and what a work-item takes out of it at a time
 *     LONG_FILL     the loop over the tile's columns, of so many taps, that a work-item fills
 *     LONG_FILL_FOUR  the same for four columns at a time, LONG_RISES of them from LONG_FIVE pixels, where the tile lies
 *                   LONG_IN_FOURS: inside of the image, one column behind where a vector in memory begins
 *     LONG_BEGIN    the image's column that lies under the tile's first one, for a tap at 0
 *     LONG_OPEN     what it has of the tile's beginning
 *     LONG_TAKE     the columns for the next LONG_STEP taps, LONG_NEAR one of them
 *     LONG_FILLED   everybody has filled, or has taken, all of the tile
 */
#define LONG_TAPS 256
/* Where the taps of a blend begin: so many steps before the one behind its middle. */
#define LONG_FIRST(lo, middle)                                                                     \
    ((middle) + 1 - max(LONG_STEP, ((middle) - (lo) + LONG_STEP - 1) / LONG_STEP * LONG_STEP))
#if PX == 4
#define LONG_ROWS 16
#define LONG_ROWS_X 4
#define LONG_STEP 4
#define LONG_WIDTH (LONG_COLUMNS(LONG_TAPS) + LONG_STEP)
#define LONG_TILE(T, name)                                                                         \
    local T name[LONG_ROWS_X][LONG_WIDTH] __attribute__((aligned(16)));                            \
    T name##_near[LONG_ROWS_X][PX + LONG_STEP]
#define LONG_COLUMNS(taps) (PX * LX + (taps))
#define LONG_FILL(i, taps) for (int i = (int)get_local_id(0); i < LONG_COLUMNS(taps); i += LX)
#define LONG_IN_FOURS(begin, taps, w)                                                              \
    ((begin) >= 1 && ((begin) & 3) == 1 && (begin) + UP4(LONG_COLUMNS(taps)) < (w))
#define LONG_FILL_FOUR(i, taps)                                                                    \
    for (int i = PX * (int)get_local_id(0); i < LONG_COLUMNS(taps); i += PX * LX)
#define LONG_FIVE(T, to, from)                                                                     \
    LOAD_COLUMNS(T, to, 4, from);                                                                  \
    to[4] = (from)[4]
#define LONG_RISES(T, to, v)                                                                       \
    *(local PX_JOIN(T, 4) *)(to) = (PX_JOIN(T, 4))(v[1] - v[0], v[2] - v[1], v[3] - v[2], v[4] - v[3])
#define LONG_UNROLL _Pragma("unroll 4")
#define LONG_TWICE _Pragma("unroll 2")
#define LONG_BEGIN ((int)get_group_id(0) * PX * LX)
#define LONG_FILLED barrier(CLK_LOCAL_MEM_FENCE)
#define LONG_PART(T, name, r, to, at)                                                              \
    {                                                                                              \
        const PX_JOIN(T, 4) px_q =                                                                 \
            *(const local PX_JOIN(T, 4) *)(name[r] + PX * (int)get_local_id(0) + (at));            \
        name##_near[r][to] = px_q.x;                                                               \
        name##_near[r][(to) + 1] = px_q.y;                                                         \
        name##_near[r][(to) + 2] = px_q.z;                                                         \
        name##_near[r][(to) + 3] = px_q.w;                                                         \
    }
#define LONG_OPEN(T, name)                                                                         \
    PX_UNROLL for (int px_r = 0; px_r < LONG_ROWS_X; px_r++) LONG_PART(T, name, px_r, LONG_STEP, 0)
#define LONG_TAKE(T, name, i)                                                                      \
    PX_UNROLL for (int px_r = 0; px_r < LONG_ROWS_X; px_r++) {                                     \
        PX_UNROLL for (int px_s = 0; px_s < PX; px_s++) {                                          \
            name##_near[px_r][px_s] = name##_near[px_r][px_s + LONG_STEP];                         \
        }                                                                                          \
        LONG_PART(T, name, px_r, LONG_STEP, (i) + LONG_STEP)                                       \
    }
#define LONG_NEAR(name, r, i, at) name##_near[r][at]
#else
#define LONG_ROWS 4
#define LONG_ROWS_X 4
#define LONG_STEP 1
#define LONG_WIDTH LONG_COLUMNS(LONG_TAPS)
#define LONG_TILE(T, name) T name[LONG_ROWS_X][LONG_WIDTH]
#define LONG_COLUMNS(taps) (PX + (taps))
#define LONG_FILL(i, taps) for (int i = 0; i < LONG_COLUMNS(taps); i++)
#define LONG_UNROLL
#define LONG_TWICE
#define LONG_BEGIN x
#define LONG_FILLED
#define LONG_OPEN(T, name)
#define LONG_TAKE(T, name, i)
#define LONG_NEAR(name, r, i, at) name[r][(i) + (at)]
#endif
