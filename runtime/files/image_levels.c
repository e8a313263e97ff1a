/* image_levels: one loop for each type, which compilers turn into vectors. */
#include "image_levels.h"

#include <math.h>
#include <string.h>

int levels_of(int64_t x, int64_t y, int64_t to_x[LEVELS_MOST], int64_t to_y[LEVELS_MOST])
{
    int levels = 0;
    for (; levels < LEVELS_MOST; x = (x + 1) / 2, y = (y + 1) / 2) {
        to_x[levels] = x;
        to_y[levels++] = y;
        if (x <= LEVELS_COARSEST && y <= LEVELS_COARSEST) {
            break;
        }
    }
    return levels;
}

/* Sums of four fit into WIDE; ROUND is added before the division. */
#define MEAN(NAME, TYPE, WIDE, MEAN_OF)                                                                   \
    static void NAME(const void *above, const void *below, size_t n, void *to)                            \
    {                                                                                                     \
        const TYPE *a = above, *b = below;                                                                \
        TYPE *out = to;                                                                                   \
        for (size_t i = 0; i < n / 2; i++) {                                                              \
            WIDE sum = (WIDE)((WIDE)a[2 * i] + (WIDE)a[2 * i + 1] + (WIDE)b[2 * i] + (WIDE)b[2 * i + 1]); \
            out[i] = (TYPE)MEAN_OF(sum);                                                                  \
        }                                                                                                 \
        if (n % 2 != 0) {                                                                                 \
            WIDE sum = (WIDE)(2 * (WIDE)a[n - 1] + 2 * (WIDE)b[n - 1]);                                   \
            out[n / 2] = (TYPE)MEAN_OF(sum);                                                              \
        }                                                                                                 \
    }
#define MEAN_OF_UNSIGNED(SUM) (((SUM) + 2) / 4)
#define MEAN_OF_SIGNED(SUM) (((SUM) + 2 - ((((SUM) + 2) % 4 + 4) % 4)) / 4)
#define MEAN_OF_FLOATS(SUM) ((SUM) / 4)

MEAN(mean_u8, uint8_t, uint32_t, MEAN_OF_UNSIGNED)
MEAN(mean_u16, uint16_t, uint32_t, MEAN_OF_UNSIGNED)
MEAN(mean_u32, uint32_t, uint64_t, MEAN_OF_UNSIGNED)
MEAN(mean_i16, int16_t, int32_t, MEAN_OF_SIGNED)
MEAN(mean_i32, int32_t, int64_t, MEAN_OF_SIGNED)
MEAN(mean_f32, float, double, MEAN_OF_FLOATS)
MEAN(mean_f64, double, double, MEAN_OF_FLOATS)

static void (*const MEANS[ELEM_COUNT])(const void *above, const void *below, size_t n, void *to) = {
    [ELEM_U8] = mean_u8,   [ELEM_U16] = mean_u16, [ELEM_I16] = mean_i16, [ELEM_U32] = mean_u32,
    [ELEM_I32] = mean_i32, [ELEM_F32] = mean_f32, [ELEM_F64] = mean_f64,
};

void levels_mean(Elem elem, const void *above, const void *below, size_t n, void *to)
{
    MEANS[elem](above, below, n, to);
}

void levels_nearest(Elem elem, const void *above, size_t n, void *to)
{
    size_t bytes = elem_size(elem);
    const unsigned char *from = above;
    unsigned char *out = to;
    for (size_t i = 0; i < n; i += 2, out += bytes) {
        memcpy(out, from + i * bytes, bytes);
    }
}

void levels_range(Elem elem, const void *row, size_t n, double *low, double *high)
{
    for (size_t i = 0; i < n; i++) {
        double value = elem_get(row, i, elem);
        if (isfinite(value)) {
            *low = value < *low ? value : *low;
            *high = value > *high ? value : *high;
        }
    }
}
