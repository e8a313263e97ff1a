/*
 * visit: how reduce, rank and histogram walk over the pixels that a reader computes.
 *
 * The image is cut into tiles, counted from 0 along x, then y, then plane.  A work-item handles
 * some batches of 16 pixels of a tile; the pixels of a batch are all read before any is used, so
 * that many loads are in flight.
 *
 *   On GPUs a group of 256 has a tile of 32 to 256 columns, as the image is wide; neighbouring
 *   work-items have neighbouring columns, a batch goes down the rows.
 *   On CPUs a group is one work-item, a tile is part of a row and a batch is 16 pixels of it: local
 *   memory and barriers cost nothing in a group of one.
 *
 * The host defines VISIT_CPU_SHAPE and VISIT_TILE_W in front of this text.  Where a reader's
 * parameters are in scope, names begin with own_: theirs are the user's.
 */
#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

#define VISIT_COUNT 16
#if VISIT_CPU_SHAPE
#define VISIT_GROUP 1
#define VISIT_BATCHES (VISIT_TILE_W / VISIT_COUNT)
#define VISIT_TILE_H 1
#define VISIT_STEP_X 1
#define VISIT_STEP_Y 0
#else
#define VISIT_GROUP 256
#define VISIT_BATCHES 1
#define VISIT_TILE_H (VISIT_COUNT * VISIT_GROUP / VISIT_TILE_W)
#define VISIT_STEP_X 0
#define VISIT_STEP_Y (VISIT_GROUP / VISIT_TILE_W)
#endif

#define VISIT_INLINE static inline __attribute__((always_inline))
#define VISIT_KERNEL kernel __attribute__((reqd_work_group_size(VISIT_GROUP, 1, 1)))

/* Where a work-item begins in a tile. */
typedef struct VisitPlace {
    int x, y, plane;
} VisitPlace;

VISIT_INLINE VisitPlace visit_place(uint tile, int w, int h)
{
    const uint across = ((uint)w + VISIT_TILE_W - 1) / VISIT_TILE_W;
    const uint down = ((uint)h + VISIT_TILE_H - 1) / VISIT_TILE_H;
    const uint row = tile / across;
    VisitPlace place;
    place.x = (int)((tile - row * across) * VISIT_TILE_W);
    place.y = (int)(row % down * VISIT_TILE_H);
    place.plane = (int)(row / down);
#if !VISIT_CPU_SHAPE
    const uint item = (uint)get_local_id(0);
    place.x += (int)(item % VISIT_TILE_W);
    place.y += (int)(item / VISIT_TILE_W);
#endif
    return place;
}

/* A pixel as f32; NaN where it is left out: outside the image, not selected, or not a number. */
VISIT_INLINE float visit_pixel(READ_PARAMS, int own_x, int own_y, int own_plane, int own_w,
                               int own_h)
{
    float own_value = NAN;
    if (own_x < own_w && own_y < own_h) {
        own_value = (float)read_0(READ_ARGS, own_x, own_y, own_plane);
#ifdef READ_HAS_1
        own_value = read_1(READ_ARGS, own_x, own_y, own_plane) ? own_value : NAN;
#endif
    }
    return own_value;
}

/* The pixels of a batch of the work-item at `own_place`. */
VISIT_INLINE void visit_read(READ_PARAMS, VisitPlace own_place, int own_batch, int own_w, int own_h,
                             float *own_values)
{
#pragma unroll
    for (int own_k = 0; own_k < VISIT_COUNT; own_k++) {
        own_values[own_k] =
            visit_pixel(READ_ARGS, own_place.x + (own_batch * VISIT_COUNT + own_k) * VISIT_STEP_X,
                        own_place.y + own_k * VISIT_STEP_Y, own_place.plane, own_w, own_h);
    }
}
