/*
 * prim_local_maxima: pixels and plateaus that are higher than all their neighbours, as
 * skimage.morphology.local_maxima: plateaus may touch the border of the image; an image of one value
 * has none.  NaN is no maximum and stops none.
 *
 * Kernels: kernels/local_maxima.cl finds candidates, kernels/propagate.cl carries over plateaus what
 * spoils them.  Scratch: a byte a pixel, 4 bytes a tile of 1024 pixels, and 4 bytes a channel.
 *
 * In parts (propagate_parts.h) candidates, and what spoils them, are found with two rows (planes) of
 * the parts beside: a neighbour is a candidate or not by its own neighbours.
 */
#include "propagate_parts.h"

#include <assert.h>
#include <stdio.h>

enum { AROUND = 2, COLUMNS = 4 /* LOCAL_MAXIMA_COLUMNS */ };

extern const char kernel_text_local_maxima[];

/* Where things are in scratch. */
typedef struct Layout {
    size_t uneven, flags; /* words: one for each channel, of tiles */
    size_t marks, states; /* bytes */
    size_t rise;          /* bytes: of propagate_parts.h */
    size_t end;
} Layout;

static size_t rounded_up(size_t bytes)
{
    return lanes_divided_up(bytes, PROPAGATE_PARTS_SLICE) * PROPAGATE_PARTS_SLICE;
}

/* Marks and states are a byte for each pixel.  In one piece states are made in the output. */
static Layout layout_of(const PrimCall *call)
{
    size_t channels = (size_t)prim_part(call).channels, word = sizeof(uint32_t);
    Layout l = {0};
    if (!call->part.cut) {
        size_t pixels = (size_t)call->planes * (size_t)call->h * (size_t)call->out[0].pitch;
        l.uneven = lanes_divided_up(pixels, word);
        l.flags = l.uneven + channels;
        l.end = (l.flags + propagate_words(call)) * word;
        return l;
    }
    PrimCall slab = propagate_parts_longest(call, AROUND);
    size_t pixels = (size_t)slab.planes * (size_t)slab.h * (size_t)slab.out[0].pitch;
    l.marks = l.rise = rounded_up(channels * word);
    l.states = l.marks + rounded_up(pixels);
    l.flags = (l.states + rounded_up(pixels)) / word;
    size_t own = (l.flags + propagate_words(&slab)) * word;
    size_t other = l.rise + propagate_parts_bytes(call, NULL);
    l.end = own > other ? own : other;
    return l;
}

static size_t scratch_bytes(const PrimCall *call)
{
    return layout_of(call).end;
}

typedef struct Maxima {
    PrimCall call; /* about a part and what is around it, or all of the image */
    DevProgram *program;
    PropagateRules rules;
    size_t first; /* pixel of the image's memory */
    size_t uneven, flags;
    DevMem *marks;
    char defines[80];
} Maxima;

/* Launches a kernel over all pixels; its arguments are the shape and then `more`. */
static bool launch(const Maxima *m, const char *kernel, const DevArg *more, int n_more)
{
    const PrimCall *call = &m->call;
    size_t rows = (size_t)call->planes * (size_t)call->h;
    DevArg args[17] = {dev_int(call->w),
                       dev_int(call->h),
                       dev_int(call->d),
                       dev_uint(rows),
                       dev_int(call->out[0].pitch),
                       dev_int(call->local_maxima.image.h),
                       dev_int(call->local_maxima.image.pitch),
                       dev_ulong(m->first)};
    for (int i = 0; i < n_more; i++) {
        args[8 + i] = more[i];
    }
    return lanes_launch(call, &(LanesLaunch){.program = m->program,
                                             .kernel = kernel,
                                             .columns = lanes_divided_up((size_t)call->w, COLUMNS),
                                             .rows = rows,
                                             .args = args,
                                             .n_args = 8 + n_more});
}

static bool build(Maxima *m)
{
    TRY(visit_check_count(&m->call));
    return propagate_program(&m->call, m->rules.defines, m->rules.text, m->rules.connectivity, &m->program);
}

/* States: no candidates, candidates, and candidates beside a pixel as high that is none. */
static bool find_candidates(const Maxima *m)
{
    const PrimCall *call = &m->call;
    const DevArg image = dev_mem(call->local_maxima.image.mem), marks = dev_mem(m->marks);
    const DevArg mark[] = {image, marks};
    TRY(launch(m, "local_maxima_mark", mark, 2));
    PropagateTiles tiles = propagate_tiles(call);
    const DevArg start[] = {image,
                            marks,
                            dev_mem(call->out[0].mem),
                            dev_ulong(m->uneven),
                            dev_ulong(m->flags),
                            dev_uint(tiles.across),
                            dev_uint(tiles.down),
                            dev_uint(tiles.deep),
                            dev_mem(call->scratch)};
    TRY(propagate_flag_all(call, m->flags, false));
    return launch(m, "local_maxima_start", start, 9);
}

static bool finish(const Maxima *m)
{
    const DevArg end[] = {dev_ulong(m->uneven), dev_mem(m->call.scratch), dev_mem(m->call.out[0].mem)};
    return launch(m, "local_maxima_end", end, 3);
}

static bool clear_uneven(const PrimCall *call, const Layout *l)
{
    size_t word = sizeof(uint32_t), channels = (size_t)prim_part(call).channels;
    return dev_fill(call->dev, call->scratch, l->uneven * word, channels * word, 0, call->err);
}

static bool run_whole(Maxima *m)
{
    Layout l = layout_of(&m->call);
    m->uneven = l.uneven;
    m->flags = l.flags;
    m->marks = m->call.scratch;
    TRY(build(m) && clear_uneven(&m->call, &l) && find_candidates(m));
    TRY(propagate_run(&m->call, m->program, &m->call.out[0], 0, l.flags));
    return finish(m);
}

/* ---- parts ----------------------------------------------------------------------------- */

/* The states of a part, made with what is around it. */
static bool first_pass(Maxima *m, const PrimCall *call, const Layout *l)
{
    size_t lead, bytes = l->states - l->marks;
    DevMem *states = NULL;
    m->call = propagate_parts_slab(call, AROUND, &lead);
    m->first = (call->local_maxima.image.before - lead) * (size_t)call->local_maxima.image.pitch;
    m->flags = l->flags;
    bool ok = (!call->part.first || clear_uneven(call, l)) &&
              dev_slice(call->dev, call->scratch, l->marks, bytes, &m->marks, call->err) &&
              dev_slice(call->dev, call->scratch, l->states, bytes, &states, call->err);
    m->call.out[0].mem = states;
    ok = ok && build(m) && find_candidates(m) && propagate_parts_keep(call, &m->call, lead, NULL);
    dev_free(call->dev, states);
    dev_free(call->dev, m->marks);
    return ok && (!call->part.last || propagate_parts_settle(call, &m->rules, NULL, l->rise));
}

static bool run(PrimCall *call)
{
    assert(elem_size(call->out[0].elem) == 1);
    Maxima m = {.call = *call,
                .rules = {.text = kernel_text_local_maxima, .connectivity = (int)call->local_maxima.connectivity}};
    snprintf(m.defines, sizeof m.defines, "#define LOCAL_MAXIMA_PIXEL %s\n",
             elem_cl_name(call->local_maxima.image.elem));
    m.rules.defines = m.defines;
    if (!call->part.cut) {
        return run_whole(&m);
    }
    Layout l = layout_of(call);
    m.uneven = l.uneven + (size_t)call->part.c;
    return call->part.pass == 0 ? first_pass(&m, call, &l) : build(&m) && propagate_parts_give(call) && finish(&m);
}

static int passes(const PrimCall *call)
{
    (void)call;
    return PROPAGATE_PARTS_PASSES;
}

static int halo(const PrimCall *call)
{
    (void)call;
    return AROUND;
}

const Primitive prim_local_maxima = {.name = "local_maxima",
                                     .scratch_bytes = scratch_bytes,
                                     .run = run,
                                     .passes = passes,
                                     .reading = 1,
                                     .halo = halo,
                                     .forget = propagate_parts_forget};
