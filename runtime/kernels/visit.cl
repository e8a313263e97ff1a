/*
 * visit: how reduce, rank and histogram walk over the pixels that a reader computes.
 *
 * The image is cut into tiles of TILE_W x TILE_H pixels, counted from 0 along x, then y, then
 * plane.  A work-item handles BATCHES batches of BATCH pixels of a tile; the pixels of a batch are
 * all read before any is used, so that many loads are in flight.
 *
 *   On GPUs a group of 256 has a tile of TILE_W columns (32 to 256, as the image is wide); neighbouring
 *   work-items have neighbouring columns, a batch goes down the rows.
 *   On CPUs a group is one work-item, a tile is part of a row and a batch is 16 pixels of it: local
 *   memory and barriers cost nothing in a group of one.
 *
 * The host defines CPU_SHAPE and TILE_W in front of this text.
 */
#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

#define BATCH 16
#if CPU_SHAPE
#define GROUP 1
#define BATCHES (TILE_W / BATCH)
#define TILE_H 1
#define STEP_X 1
#define STEP_Y 0
#else
#define GROUP 256
#define BATCHES 1
#define TILE_H (BATCH * GROUP / TILE_W)
#define STEP_X 0
#define STEP_Y (GROUP / TILE_W)
#endif

#define INLINE static inline __attribute__((always_inline))
#define GROUP_KERNEL kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))

/* Where a work-item begins in a tile. */
typedef struct Place {
    int x, y, plane;
} Place;

INLINE Place visit_place(uint tile, int w, int h)
{
    const uint across = ((uint)w + TILE_W - 1) / TILE_W, down = ((uint)h + TILE_H - 1) / TILE_H;
    const uint row = tile / across;
    const uint item = get_local_id(0);
    Place place;
    place.x = (int)((tile - row * across) * TILE_W);
    place.y = (int)(row % down * TILE_H);
    place.plane = (int)(row / down);
#if !CPU_SHAPE
    place.x += (int)(item % TILE_W);
    place.y += (int)(item / TILE_W);
#endif
    return place;
}

/* A pixel as f32; NaN where it is left out: outside the image, not selected, or not a number. */
INLINE float visit_pixel(READ_PARAMS, int x, int y, int plane, int w, int h)
{
    float value = NAN;
    if (x < w && y < h) {
        value = (float)read_0(READ_ARGS, x, y, plane);
#ifdef READ_HAS_1
        value = read_1(READ_ARGS, x, y, plane) ? value : NAN;
#endif
    }
    return value;
}

#define VISIT_BATCH(value, place, batch)                                                           \
    _Pragma("unroll") for (int k_ = 0; k_ < BATCH; k_++)                                           \
    {                                                                                              \
        value[k_] = visit_pixel(READ_ARGS, (place).x + ((batch) * BATCH + k_) * STEP_X,            \
                                (place).y + k_ * STEP_Y, (place).plane, w, h);                     \
    }
