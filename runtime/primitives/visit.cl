/*
 * visit: how reduce, rank and histogram walk over the pixels that a reader computes.
 *
 * The image is cut into tiles, counted from 0 along x, then y, then plane; a work-item takes
 * batches of 16 pixels of a tile.  The pixels of a batch are all read before any is used, at
 * constant distances and without a test, so that many loads are in flight and addresses cost
 * little: at the image's edge a batch is moved inside and what others visit is left out afterwards.
 *
 *   On GPUs a group has 256 work-items.  VISIT_ALONG: a row of 4096 pixels, 256 from one of a batch
 *   to the next, whose addresses differ by constants.  VISIT_DOWN (for widths that are not made of such rows):
 *   256 columns of 16 pixels.
 *   On CPUs a group is one work-item, since local memory and barriers cost nothing in a group of
 *   one.  VISIT_ALONG: 16 pixels side by side, 64 times.
 *   VISIT_SINGLE (images without room for a batch): each batch has one pixel of use.
 *
 * The host defines VISIT_CPU_SHAPE in front of this text, and where there is a reader (READ_PARAMS) VISIT_MODE and
 * VISIT_HIGH.  Where a reader's parameters are in scope, names begin with own_: theirs are the user's.
 */
#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

#define VISIT_DOWN 0
#define VISIT_ALONG 1
#define VISIT_SINGLE 2

#define VISIT_COUNT 16 /* VISIT_HIGH: the image has as many rows */
#define VISIT_AHEAD (!VISIT_CPU_SHAPE)
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
#define VISIT_STEP_X (VISIT_MODE == VISIT_ALONG ? VISIT_GROUP : 0)
#define VISIT_STEP_Y (VISIT_MODE == VISIT_DOWN ? 1 : 0)

/* In a loop: its rounds are over, and none of the kernels may do anything; all work-items leave, or none.  A kernel
 * without a reader has the slot that says so as a parameter (PrimCall.ended). */
#ifndef READ_PARAMS
#define VISIT_ENDED (ended > 0 && values[ended] == 1)
#elif defined(READ_ENDED)
#define VISIT_ENDED READ_ENDED(values)
#else
#define VISIT_ENDED 0
#endif

#define VISIT_INLINE static inline __attribute__((always_inline))
#define VISIT_KERNEL kernel __attribute__((reqd_work_group_size(VISIT_GROUP, 1, 1)))

#ifdef READ_PARAMS

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

/* The way of a group over the tiles: from its number on, in steps of the number of groups.  Where a tile is
 * follows without divisions, which would cost as much as the pixels: x, row and plane are digits of its number. */
typedef struct VisitWalk {
    uint tile, tiles;
    uint x, row, plane, across, down;
    uint step, step_x, step_row, step_plane;
    int w, h, batch;
    VisitBatch at, next; /* the batch that was taken last, and the one that is read ahead */
} VisitWalk;

VISIT_INLINE VisitBatch visit_batch(const VisitWalk *walk)
{
    const int w = walk->w, batch = walk->batch;
    const int x0 = (int)(walk->x * VISIT_TILE_W), y0 = (int)(walk->row * VISIT_TILE_H);
    VisitBatch b = {0, 0, (int)walk->plane, 0, 0};
#if VISIT_CPU_SHAPE
    b.x = x0 + batch * VISIT_BATCH_W;
    b.y = y0;
#else
    b.x = x0 + (int)get_local_id(0);
    b.y = y0 + batch;
#endif
#if VISIT_MODE == VISIT_DOWN
    b.to = b.x < w && b.y < walk->h ? VISIT_COUNT : 0;
    b.x = min(b.x, w - 1);
    b.y = visit_moved(b.y, y0, VISIT_COUNT, 1, walk->h, &b.from);
#elif VISIT_MODE == VISIT_ALONG
    const int start = b.x - (int)get_local_id(0);
    b.x = visit_moved(b.x, start, VISIT_COUNT * VISIT_GROUP, VISIT_GROUP, w, &b.from);
    b.to = start < w ? VISIT_COUNT : 0;
#else
    b.to = b.x < w && b.y < walk->h;
    b.x = min(b.x, w - 1);
    b.y = min(b.y, walk->h - 1);
#endif
    return b;
}

/* Pixels are f32; a reduction's may be f64. */
#ifdef READ_WIDE
typedef double VisitPixel;
#else
typedef float VisitPixel;
#endif

/* A pixel of the image; NaN where it is left out: not selected, or not a number. */
VISIT_INLINE VisitPixel visit_pixel(READ_PARAMS, int own_x, int own_y, int own_plane)
{
    const VisitPixel own_value = (VisitPixel)read_0(READ_ARGS, own_x, own_y, own_plane);
#ifdef READ_HAS_1
    return read_1(READ_ARGS, own_x, own_y, own_plane) != 0 ? own_value : NAN; /* which may be a number */
#else
    return own_value;
#endif
}

/* Of the batch that was taken last: whether pixel k is not left out because other batches have it, */
VISIT_INLINE bool visit_counts(const VisitWalk *walk, int k)
{
    return k >= walk->at.from && k < walk->at.to;
}

/* and its value. */
VISIT_INLINE VisitPixel visit_read_one(READ_PARAMS, const VisitWalk *own_walk, int own_k)
{
    return visit_pixel(READ_ARGS, own_walk->at.x + own_k * VISIT_STEP_X,
                       own_walk->at.y + own_k * VISIT_STEP_Y, own_walk->at.plane);
}

/* The pixels of a batch; NaN where a pixel is left out. */
VISIT_INLINE void visit_read(READ_PARAMS, VisitBatch own_b, VisitPixel *own_values)
{
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

/* Where the group begins; the first batch is on its way. */
VISIT_INLINE VisitWalk visit_walk(READ_PARAMS, uint own_tiles, int own_w, int own_h, VisitPixel *own_ahead)
{
    VisitWalk own_walk;
    own_walk.tile = (uint)get_group_id(0);
    own_walk.tiles = own_tiles;
    own_walk.step = (uint)get_num_groups(0);
    own_walk.across = ((uint)own_w + VISIT_TILE_W - 1) / VISIT_TILE_W;
    own_walk.down = ((uint)own_h + VISIT_TILE_H - 1) / VISIT_TILE_H;
    const uint own_rows = own_walk.tile / own_walk.across, own_steps = own_walk.step / own_walk.across;
    own_walk.x = own_walk.tile - own_rows * own_walk.across;
    own_walk.plane = own_rows / own_walk.down;
    own_walk.row = own_rows - own_walk.plane * own_walk.down;
    own_walk.step_x = own_walk.step - own_steps * own_walk.across;
    own_walk.step_plane = own_steps / own_walk.down;
    own_walk.step_row = own_steps - own_walk.step_plane * own_walk.down;
    own_walk.w = own_w;
    own_walk.h = own_h;
    own_walk.batch = 0;
    own_walk.at = own_walk.next = visit_batch(&own_walk);
    if (VISIT_AHEAD && own_walk.tile < own_tiles) {
        visit_read(READ_ARGS, own_walk.next, own_ahead);
    }
    return own_walk;
}

VISIT_INLINE void visit_step(VisitWalk *walk)
{
    walk->batch++;
    if (walk->batch == VISIT_BATCHES) {
        walk->batch = 0;
        walk->tile += walk->step;
        walk->x += walk->step_x;
        const uint row = walk->x >= walk->across ? 1 : 0;
        walk->x -= row ? walk->across : 0;
        walk->row += walk->step_row + row;
        const uint plane = walk->row >= walk->down ? 1 : 0;
        walk->row -= plane ? walk->down : 0;
        walk->plane += walk->step_plane + plane;
    }
    walk->next = visit_batch(walk);
}

/* Takes the next batch: its pixels to `values`, and what is `ahead` is the one after it, whose loads are on
 * their way while these are used.  False when there is none. */
VISIT_INLINE bool visit_take(READ_PARAMS, VisitWalk *own_walk, VisitPixel *own_ahead, VisitPixel *own_values)
{
    if (own_walk->tile >= own_walk->tiles) {
        return false;
    }
    own_walk->at = own_walk->next;
#if VISIT_AHEAD
#pragma unroll
    for (int own_k = 0; own_k < VISIT_COUNT; own_k++) {
        own_values[own_k] = own_ahead[own_k];
    }
    visit_step(own_walk);
    if (own_walk->tile < own_walk->tiles) {
        visit_read(READ_ARGS, own_walk->next, own_ahead);
    }
#else
    visit_read(READ_ARGS, own_walk->at, own_values);
    visit_step(own_walk);
#endif
    return true;
}

#endif

/* u32 in the order of the floats; -0 counts as 0. */
VISIT_INLINE uint visit_key_of(float value)
{
    const uint bits = as_uint(value + 0.0f);
    return bits ^ (bits >> 31 ? 0xffffffffu : 0x80000000u);
}

VISIT_INLINE float visit_value_of(uint key)
{
    return as_float(key >> 31 ? key ^ 0x80000000u : ~key);
}
