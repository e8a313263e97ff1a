/* How generated kernels reach pixels: row `y` of plane `plane` of an image on the kernel's grid,
 * and of an image on a grid of its own.  Of each plane the memory holds `rows` rows; `row0` is the
 * row that comes first. */
#define ROW(image, plane, y) ROW_OF(image, plane, y, pitch)
#define ROW_OF(image, plane, y, pitch) (((long)(plane) * image##_rows + (y) - image##_row0) * (pitch))

/* Sorts a small array in registers: odd-even transposition, every index known when compiled. */
#define PX_SORT(TYPE, v, n)                                                                        \
    _Pragma("unroll") for (int px_a = 0; px_a < (n); px_a++) {                                     \
        _Pragma("unroll") for (int px_b = px_a & 1; px_b + 1 < (n); px_b += 2) {                   \
            const TYPE px_lo = v[px_b] > v[px_b + 1] ? v[px_b + 1] : v[px_b];                      \
            v[px_b + 1] = v[px_b] > v[px_b + 1] ? v[px_b] : v[px_b + 1];                           \
            v[px_b] = px_lo;                                                                       \
        }                                                                                          \
    }
