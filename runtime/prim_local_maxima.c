/*
 * prim_local_maxima: pixels and plateaus that are higher than all their neighbours, as
 * skimage.morphology.local_maxima: plateaus may touch the border of the image; an image of one value
 * has none.  NaN is no maximum and stops none.
 *
 * Kernels: kernels/local_maxima.cl finds candidates, kernels/propagate.cl carries over plateaus what
 * spoils them.  Scratch: a byte a pixel, 4 bytes a tile of 1024 pixels, and 4 bytes a channel.
 */
#include "prim_propagate.h"

#include <assert.h>
#include <stdio.h>

extern const char kernel_text_local_maxima[];

static size_t count_channels(const PrimCall *call)
{
    return (size_t)(call->planes / call->d);
}

/* Words of marks, a byte for each pixel; behind them are a word for each channel and the tiles. */
static size_t count_marks(const PrimCall *call)
{
    size_t pixels = (size_t)call->planes * (size_t)call->h * (size_t)call->out[0].pitch;
    return lanes_divided_up(pixels, sizeof(uint32_t));
}

static size_t scratch_bytes(const PrimCall *call)
{
    return (count_marks(call) + count_channels(call) + propagate_words(call)) * sizeof(uint32_t);
}

typedef struct Maxima {
    PrimCall *call;
    DevProgram *program;
} Maxima;

/* Launches a kernel over all pixels; its arguments are the shape and then `more`. */
static bool launch(const Maxima *m, const char *kernel, const DevArg *more, int n_more)
{
    const PrimCall *call = m->call;
    size_t rows = (size_t)call->planes * (size_t)call->h;
    DevArg args[16] = {dev_int(call->w), dev_int(call->h),            dev_int(call->d),
                       dev_uint(rows),   dev_int(call->out[0].pitch), dev_int(call->in[0].pitch)};
    for (int i = 0; i < n_more; i++) {
        args[6 + i] = more[i];
    }
    return lanes_launch(call, &(LanesLaunch){.program = m->program,
                                             .kernel = kernel,
                                             .columns = (size_t)call->w,
                                             .rows = rows,
                                             .args = args,
                                             .n_args = 6 + n_more});
}

static bool run(PrimCall *call)
{
    assert(elem_size(call->out[0].elem) == 1);
    Maxima m = {.call = call};
    size_t uneven = count_marks(call), channels = count_channels(call), word = sizeof(uint32_t);
    size_t flags = uneven + channels;
    char defines[80];
    snprintf(defines, sizeof defines, "#define LOCAL_MAXIMA_PIXEL %s\n",
             elem_cl_name(call->in[0].elem));
    TRY(visit_check_count(call));
    TRY(propagate_program(call, defines, kernel_text_local_maxima, (int)call->arg[0], &m.program));
    TRY(dev_fill(call->dev, call->scratch, uneven * word, channels * word, 0, call->err));

    const DevArg image = dev_mem(call->in[0].mem), scratch = dev_mem(call->scratch);
    const DevArg states = dev_mem(call->out[0].mem), at = dev_ulong(uneven);
    const DevArg mark[] = {image, scratch};
    TRY(launch(&m, "local_maxima_mark", mark, 2));
    PropagateTiles tiles = propagate_tiles(call);
    const DevArg start[] = {image,
                            scratch,
                            states,
                            at,
                            dev_ulong(flags),
                            dev_uint(tiles.across),
                            dev_uint(tiles.down),
                            dev_uint(tiles.deep),
                            scratch};
    TRY(propagate_flag_all(call, flags, false));
    TRY(launch(&m, "local_maxima_start", start, 9));
    TRY(propagate_run(call, m.program, &call->out[0], 0, flags));
    const DevArg end[] = {at, scratch, states};
    return launch(&m, "local_maxima_end", end, 3);
}

const Primitive prim_local_maxima = {.name = "local_maxima", .scratch_bytes = scratch_bytes, .run = run};
