/*
 * visit: how reduce, rank and histogram walk over the pixels that a reader computes.
 *
 * The image is cut into tiles, counted from 0 along x, then y, then plane; a work-item takes
 * batches of 16 pixels of a tile.  The pixels of a batch are all read before any is used, at
 * constant distances and without a test, so that many loads are in flight and addresses cost
 * little: at the image's edge a batch is moved inside and what others visit is left out afterwards.
 *
 *   On GPUs a group has 256 work-items.  VISIT_DOWN: 256 columns of 16 pixels.  VISIT_ALONG (less
 *   than 16 rows): a row of 4096 pixels, 256 from one of a batch to the next.
 *   On CPUs a group is one work-item, since local memory and barriers cost nothing in a group of
 *   one.  VISIT_ALONG: 16 pixels side by side, 64 times.
 *   VISIT_SINGLE (images without room for a batch): each batch has one pixel of use.
 *
 * The host defines VISIT_CPU_SHAPE and VISIT_MODE in front of this text.  Where a reader's
 * parameters are in scope, names begin with own_: theirs are the user's.
 */
#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

#define VISIT_DOWN 0
#define VISIT_ALONG 1
#define VISIT_SINGLE 2

#define VISIT_COUNT 16
#if VISIT_CPU_SHAPE
#define VISIT_GROUP 1
#define VISIT_TILE_W 1024
#define VISIT_TILE_H 1
#define VISIT_BATCH_W (VISIT_MODE == VISIT_ALONG ? VISIT_COUNT : 1)
#define VISIT_BATCHES (VISIT_TILE_W / VISIT_BATCH_W)
#else
#define VISIT_GROUP 256
#define VISIT_TILE_W (VISIT_MODE == VISIT_ALONG ? VISIT_GROUP * VISIT_COUNT : VISIT_GROUP)
#define VISIT_TILE_H (VISIT_MODE == VISIT_ALONG ? 1 : VISIT_COUNT)
#define VISIT_BATCHES (VISIT_MODE == VISIT_SINGLE ? VISIT_COUNT : 1)
#endif
#define VISIT_TILE (VISIT_TILE_W * VISIT_TILE_H)
#define VISIT_STEP_X (VISIT_MODE == VISIT_ALONG ? VISIT_GROUP : 0)
#define VISIT_STEP_Y (VISIT_MODE == VISIT_DOWN ? 1 : 0)

#ifndef READ_ENDED
#define READ_ENDED false
#endif

#define VISIT_INLINE static inline __attribute__((always_inline))
#define VISIT_KERNEL kernel __attribute__((reqd_work_group_size(VISIT_GROUP, 1, 1)))

/* A batch: where its pixel 0 is, and which of its pixels count. */
typedef struct VisitBatch {
    int x, y, plane, from, to;
} VisitBatch;

/* One axis of a batch that begins at `at`, in a part of the image from `start` on that reaches
 * `reach` further: moved so that all of it is inside. */
VISIT_INLINE int visit_moved(int at, int start, int reach, int step, int extent, int *from)
{
    const int move = max(start + reach - extent, 0), before = move - (at - start);
    *from = before > 0 ? (before + step - 1) / step : 0;
    return at - move;
}

VISIT_INLINE VisitBatch visit_batch(uint tile, int batch, int w, int h)
{
    const uint across = ((uint)w + VISIT_TILE_W - 1) / VISIT_TILE_W;
    const uint down = ((uint)h + VISIT_TILE_H - 1) / VISIT_TILE_H;
    const uint row = tile / across, plane = row / down;
    const int x0 = (int)((tile - row * across) * VISIT_TILE_W);
    const int y0 = (int)((row - plane * down) * VISIT_TILE_H);
    VisitBatch b = {0, 0, (int)plane, 0, 0};
#if VISIT_CPU_SHAPE
    b.x = x0 + batch * VISIT_BATCH_W;
    b.y = y0;
#else
    b.x = x0 + (int)get_local_id(0);
    b.y = y0 + batch;
#endif
#if VISIT_MODE == VISIT_DOWN
    b.to = b.x < w && b.y < h ? VISIT_COUNT : 0;
    b.x = min(b.x, w - 1);
    b.y = visit_moved(b.y, y0, VISIT_COUNT, 1, h, &b.from);
#elif VISIT_MODE == VISIT_ALONG
    const int start = b.x - (int)get_local_id(0);
    b.x = visit_moved(b.x, start, VISIT_COUNT * VISIT_GROUP, VISIT_GROUP, w, &b.from);
    b.to = start < w ? VISIT_COUNT : 0;
#else
    b.to = b.x < w && b.y < h;
    b.x = min(b.x, w - 1);
    b.y = min(b.y, h - 1);
#endif
    return b;
}

/* A pixel of the image as f32; NaN where it is left out: not selected, or not a number. */
VISIT_INLINE float visit_pixel(READ_PARAMS, int own_x, int own_y, int own_plane)
{
    const float own_value = (float)read_0(READ_ARGS, own_x, own_y, own_plane);
#ifdef READ_HAS_1
    return read_1(READ_ARGS, own_x, own_y, own_plane) ? own_value : NAN;
#else
    return own_value;
#endif
}

/* Number k of a batch of a tile, one that is not left out. */
VISIT_INLINE float visit_read_one(READ_PARAMS, uint own_tile, int own_batch, int own_k, int own_w,
                                  int own_h)
{
    const VisitBatch own_b = visit_batch(own_tile, own_batch, own_w, own_h);
    return visit_pixel(READ_ARGS, own_b.x + own_k * VISIT_STEP_X, own_b.y + own_k * VISIT_STEP_Y,
                       own_b.plane);
}

/* The pixels of a batch of a tile; NaN where a pixel is left out. */
VISIT_INLINE void visit_read(READ_PARAMS, uint own_tile, int own_batch, int own_w, int own_h,
                             float *own_values)
{
    const VisitBatch own_b = visit_batch(own_tile, own_batch, own_w, own_h);
#pragma unroll
    for (int own_k = 0; own_k < VISIT_COUNT; own_k++) {
        own_values[own_k] = visit_pixel(READ_ARGS, own_b.x + own_k * VISIT_STEP_X,
                                        own_b.y + own_k * VISIT_STEP_Y, own_b.plane);
    }
    if (own_b.from > 0 || own_b.to < VISIT_COUNT) {
#pragma unroll
        for (int own_k = 0; own_k < VISIT_COUNT; own_k++) {
            own_values[own_k] = own_k >= own_b.from && own_k < own_b.to ? own_values[own_k] : NAN;
        }
    }
}
