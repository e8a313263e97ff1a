/* Columns of a row into registers and back.  PX pixels of a work-item are neighbours; on GPUs
 * they travel 16 bytes at a time, on CPUs the loops are vectorised as they are. */
#define UP4(n) (((n) + 3) / 4 * 4)
#define PX_JOIN_(a, b) a##b
#define PX_JOIN(a, b) PX_JOIN_(a, b)
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
/* Columns of `v` (the first is column `x0`) beyond the image take the nearest one inside; at least
 * column x0 + left is inside. */
#define NEAREST_COLUMNS(v, n, x0, left, w)                                                         \
    PX_UNROLL for (int px_k = (left)-1; px_k >= 0; px_k--) {                                       \
        v[px_k] = (x0) + px_k < 0 ? v[px_k + 1] : v[px_k];                                         \
    }                                                                                              \
    PX_UNROLL for (int px_k = (left) + 1; px_k < (n); px_k++) {                                    \
        v[px_k] = (x0) + px_k >= (w) ? v[px_k - 1] : v[px_k];                                      \
    }
