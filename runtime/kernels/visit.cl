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
 * The host defines VISIT_CPU_SHAPE in front of this text; the width of tiles comes as `bits`, its
 * logarithm.  Where a reader's parameters are in scope, names begin with own_: theirs are the
 * user's.
 */
#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

#define VISIT_COUNT 16
#if VISIT_CPU_SHAPE
#define VISIT_GROUP 1
#define VISIT_BATCHES 64
#else
#define VISIT_GROUP 256
#define VISIT_BATCHES 1
#endif
#define VISIT_TILE (VISIT_GROUP * VISIT_BATCHES * VISIT_COUNT)

#define VISIT_INLINE static inline __attribute__((always_inline))
#define VISIT_KERNEL kernel __attribute__((reqd_work_group_size(VISIT_GROUP, 1, 1)))

/* Where a work-item begins in a tile, and how many rows further its next pixel is. */
typedef struct VisitPlace {
    int x, y, plane, rows;
} VisitPlace;

VISIT_INLINE VisitPlace visit_place(uint tile, int bits, int w, int h)
{
    const uint tile_w = 1u << bits, tile_h = VISIT_TILE >> bits;
    const uint across = ((uint)w + tile_w - 1) >> bits, down = ((uint)h + tile_h - 1) / tile_h;
    const uint row = tile / across, plane = row / down;
    VisitPlace place;
    place.x = (int)((tile - row * across) << bits);
    place.y = (int)((row - plane * down) * tile_h);
    place.plane = (int)plane;
    place.rows = 0;
#if !VISIT_CPU_SHAPE
    const uint item = (uint)get_local_id(0);
    place.x += (int)(item & (tile_w - 1));
    place.y += (int)(item >> bits);
    place.rows = VISIT_GROUP >> bits;
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
        const int own_along = VISIT_CPU_SHAPE ? own_batch * VISIT_COUNT + own_k : 0;
        own_values[own_k] =
            visit_pixel(READ_ARGS, own_place.x + own_along, own_place.y + own_k * own_place.rows,
                        own_place.plane, own_w, own_h);
    }
}
