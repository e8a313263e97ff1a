/*
 * prim_window_rank: medians, percentiles and modes of windows too large to sort in registers, exact for
 * every type.
 *
 * On GPUs windows of some hundred bytes or words are ranked bit by bit, 32 of them at once (kernels/window_slices.cl).
 * Other windows slide over the sorted pixels of a tile (kernels/window_slide.cl, window_tiles.h), which costs a pixel as
 * much as the footprint's edge is long.  Where a tile does not fit or has few pixels for its neighbourhood, each
 * pixel reads its own window for every two bits in which the window's pixels differ, and once more, or for the
 * values that it has (kernels/window_rank.cl): scratch holds the window as runs of offsets then, 16 bytes each.  Parts have the rows
 * (planes) around them that windows reach; where these go on at the other end of the image, it is not cut.
 */
#include "window_slices.h"
#include "window_tiles.h"

#include "../prim_share.h"
#include "../../../base/border.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const char kernel_text_window_keys[], kernel_text_window_rank[], kernel_text_window_sort[],
    kernel_text_window_bits[], kernel_text_window_counts[], kernel_text_window_slide[], kernel_text_window_slices[];

static Window window_of(const PrimCall *call)
{
    return (Window){.shape = (WindowShape)call->window_rank.shape,
                    .radius = {call->window_rank.radius[0], call->window_rank.radius[1], call->window_rank.radius[2]},
                    .cells = call->text};
}

static bool mode_of(const PrimCall *call)
{
    return call->window_rank.mode != 0;
}

/* What a signed type's keys are shifted by. */
static uint32_t least_of(Elem elem)
{
    return elem == ELEM_I16 ? 0x8000U : elem == ELEM_I32 ? 0x80000000U : 0;
}

/* The value outside as a pixel of that type, as ir_convert has it. */
static double pixel_outside(Elem elem, double value)
{
    if (elem == ELEM_F64) {
        return value + 0.0;
    }
    if (elem == ELEM_F32) {
        return (double)(float)value + 0.0;
    }
    return isnan(value) ? 0 : trunc(fmax(fmin(value, elem_max(elem)), elem_min(elem))) + 0.0;
}

/* Keys are of the image's own pixels, whose bits are few, or of the result's type, in which there may be
 * values outside that no pixel of the image has; of doubles of a file, which are read as f32, as these. */
static Elem key_type(const PrimCall *call)
{
    const Elem result = call->out[0].elem,
               own = call->window_rank.image.elem == ELEM_F64 ? result : call->window_rank.image.elem;
    const double outside = call->window_rank.outside;
    bool constant = call->window_rank.border == BORDER_CONSTANT;
    return constant && pixel_outside(own, outside) != pixel_outside(result, outside) ? result : own;
}

static bool sliced(const PrimCall *call, WindowSlices *slices)
{
    const Window w = window_of(call);
    return !mode_of(call) && window_slices(call, &w, key_type(call), slices);
}

static size_t scratch_bytes(const PrimCall *call)
{
    Window w = window_of(call);
    WindowTiles tiles;
    WindowSlices slices;
    int pixels;
    if (!sliced(call, &slices) && window_tiles(call, &w, mode_of(call), &tiles)) {
        return window_tiles_bytes(&tiles);
    }
    return ((size_t)window_runs(&w, NULL, 0, &pixels) + 1) * sizeof(WindowRun);
}

/* The key of the value outside, as the kernel makes it of a pixel. */
static uint64_t key_outside(Elem keys, double value)
{
    const double pixel = pixel_outside(keys, value);
    if (keys == ELEM_F64) {
        uint64_t bits;
        memcpy(&bits, &pixel, sizeof bits);
        return isnan(pixel) ? UINT64_MAX : bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
    }
    if (keys != ELEM_F32) {
        return (uint32_t)(int64_t)pixel + least_of(keys);
    }
    float v = (float)pixel;
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return isnan(v) ? UINT32_MAX : bits >> 31 ? ~bits : bits | 0x80000000U;
}

static bool no_memory(const PrimCall *call, int pixels)
{
    return err_set(call->err, CODE_MEMORY, "%s: no memory for a window of %d pixels", call->name, pixels);
}

/* Writes the window's runs into scratch. */
static bool write_runs(const PrimCall *call, int *n_runs, int *pixels)
{
    Window w = window_of(call);
    *n_runs = window_runs(&w, NULL, 0, pixels);
    if (*n_runs == 0) {
        return true;
    }
    size_t size = (size_t)*n_runs * sizeof(WindowRun);
    WindowRun *runs = malloc(size);
    if (runs == NULL) {
        return no_memory(call, *pixels);
    }
    window_runs(&w, runs, *n_runs, pixels);
    bool ok = dev_write(call->dev, call->scratch, 0, runs, size, call->err);
    free(runs);
    return ok;
}

/* Both ends of each run, as distances between places of a tile, and runs of no place behind them. */
static void write_ends(const WindowTiles *t, const WindowRun *runs, int n, bool columns, int32_t *ends)
{
    int filled = columns ? t->n_columns : t->n_runs;
    int32_t *first = ends, *last = ends + filled;
    int high = t->size[1] + 2 * t->reach[1], wide = t->size[0] + 2 * t->reach[0];
    int along = columns ? wide : 1;
    for (int i = 0; i < n; i++) {
        const WindowRun r = runs[i];
        int x = columns ? r.y : 0, y = columns ? 0 : r.y;
        int line = (r.z * high + y) * wide + x;
        first[i] = line + r.first * along;
        last[i] = line + r.last * along;
    }
    for (int i = n; i < filled; i++) {
        first[i] = 0;
        last[i] = -along;
    }
}

/* Writes the footprint's edges into scratch. */
static bool write_edges(const PrimCall *call, const WindowTiles *t, int *pixels)
{
    Window w = window_of(call);
    int most = t->n_runs > t->n_columns ? t->n_runs : t->n_columns;
    window_runs(&w, NULL, 0, pixels);
    int32_t *ends = malloc(t->edges * sizeof *ends);
    WindowRun *runs = malloc((size_t)most * sizeof *runs);
    bool ok = ends != NULL && runs != NULL;
    if (ok) {
        int32_t *columns = ends + 2 * t->n_runs;
        write_ends(t, runs, window_runs(&w, runs, t->n_runs, pixels), false, ends);
        write_ends(t, runs, window_columns(&w, runs, t->n_columns, pixels), true, columns);
        ok = dev_write(call->dev, call->scratch, 0, ends, t->edges * sizeof *ends, call->err);
    } else {
        no_memory(call, *pixels);
    }
    free(ends);
    free(runs);
    return ok;
}

/* Where the image would begin in the memory of a part, in pixels. */
static int64_t first_pixel(const PrimCall *call, const PrimPart *part)
{
    const PrimImage *in = &call->window_rank.image;
    int64_t row = (int64_t)part->z * in->h + part->y;
    return ((int64_t)in->before - row) * in->pitch;
}

/* Builds `more` defines, the text for keys, and up to three texts behind it. */
static bool build(const PrimCall *call, const char *more, const char *const text[3], DevProgram **program)
{
    const Elem keys = key_type(call);
    char defines[500];
    snprintf(defines, sizeof defines,
             "#define WINDOW_PIXEL %s\n#define WINDOW_RESULT %s\n#define WINDOW_REAL %d\n"
             "#define WINDOW_WHOLE %s\n#define WINDOW_LEAST %uu\n#define WINDOW_BORDER %d\n%s",
             elem_cl_name(call->window_rank.image.elem), elem_cl_name(call->out[0].elem),
             elem_is_integer(keys) ? 0 : (int)elem_size(keys), keys == ELEM_U32 ? "uint" : "int",
             (unsigned)least_of(keys), (int)call->window_rank.border, more);
    const char *texts[] = {kernel_text_lanes, kernel_text_window_keys, text[0], text[1], text[2], NULL};
    return visit_program(call, defines, texts, program);
}

static bool run_read(PrimCall *call)
{
    const PrimPart part = prim_part(call);
    const PrimImage *in = &call->window_rank.image, *out = &call->out[0];
    size_t rows = (size_t)call->planes * (size_t)call->h;
    int n_runs, pixels;
    DevProgram *program = NULL;
    TRY(write_runs(call, &n_runs, &pixels));
    TRY(build(call, mode_of(call) ? "#define WINDOW_MODE 1\n" : "#define WINDOW_MODE 0\n",
              (const char *[3]){kernel_text_window_rank}, &program));
    const DevArg args[] = {dev_int(call->w),
                           dev_int(call->h),
                           dev_int(call->d),
                           dev_uint(rows),
                           dev_int(in->pitch),
                           dev_int(out->pitch),
                           dev_int(part.h),
                           dev_int(part.d),
                           dev_int(part.y),
                           dev_int(part.z),
                           dev_int(in->h),
                           dev_long(first_pixel(call, &part)),
                           dev_mem(in->mem),
                           dev_mem(call->scratch),
                           dev_int(n_runs),
                           dev_uint(window_rank(pixels, call->window_rank.percent)),
                           dev_ulong(key_outside(key_type(call), call->window_rank.outside)),
                           dev_mem(out->mem)};
    return lanes_launch(call, &(LanesLaunch){.program = program,
                                             .kernel = "window_rank",
                                             .columns = (size_t)call->w,
                                             .rows = rows,
                                             .args = args,
                                             .n_args = 18});
}

static bool run_slide(PrimCall *call, const WindowTiles *t)
{
    const PrimPart part = prim_part(call);
    const PrimImage *in = &call->window_rank.image, *out = &call->out[0];
    size_t across = window_tiles_along(call, t, 0), down = window_tiles_along(call, t, 1);
    size_t deep = window_tiles_along(call, t, 2);
    size_t tiles = across * down * deep * (size_t)(call->planes / call->d);
    int pixels;
    char defines[160];
    DevProgram *program = NULL;
    TRY(write_edges(call, t, &pixels));
    snprintf(defines, sizeof defines,
             "#define SLIDE_ITEMS %d\n#define SLIDE_WALKERS %d\n#define SLIDE_DIGIT %d\n#define SLIDE_AHEAD %d\n"
             "#define SLIDE_PLACE %s\n",
             t->items, t->walkers, t->digit, t->ahead, window_tiles_place(t) == 2 ? "ushort" : "uint");
    const char *set = mode_of(call) ? kernel_text_window_counts : kernel_text_window_bits;
    TRY(build(call, defines, (const char *[3]){kernel_text_window_sort, set, kernel_text_window_slide}, &program));
    const DevArg args[] = {dev_int(call->w),
                           dev_int(call->h),
                           dev_int(call->d),
                           dev_int(in->pitch),
                           dev_int(out->pitch),
                           dev_int(part.h),
                           dev_int(part.d),
                           dev_int(part.y),
                           dev_int(part.z),
                           dev_int(in->h),
                           dev_long(first_pixel(call, &part)),
                           dev_mem(in->mem),
                           dev_uint(window_rank(pixels, call->window_rank.percent)),
                           dev_ulong(key_outside(key_type(call), call->window_rank.outside)),
                           dev_int(t->reach[0]),
                           dev_int(t->reach[1]),
                           dev_int(t->reach[2]),
                           dev_int(t->size[0]),
                           dev_int(t->size[1]),
                           dev_int(t->size[2]),
                           dev_int(across),
                           dev_int(down),
                           dev_int(deep),
                           dev_uint(tiles),
                           dev_mem(call->scratch),
                           dev_int(t->n_runs),
                           dev_int(t->n_columns),
                           dev_ulong(t->edges),
                           dev_ulong(t->words),
                           dev_local(t->local),
                           dev_uint(t->local / sizeof(uint32_t)),
                           dev_mem(out->mem)};
    return visit_launch(call, &(VisitLaunch){.program = program,
                                             .kernel = "window_slide",
                                             .groups = t->groups < tiles ? t->groups : tiles,
                                             .group = (size_t)t->items,
                                             .args = args,
                                             .n_args = sizeof args / sizeof *args});
}

static bool run_slices(PrimCall *call, const WindowSlices *s)
{
    const PrimPart part = prim_part(call);
    const PrimImage *in = &call->window_rank.image, *out = &call->out[0];
    int n_runs, pixels;
    char defines[160];
    DevProgram *program = NULL;
    TRY(write_runs(call, &n_runs, &pixels));
    snprintf(defines, sizeof defines,
             "#define SLICES_BITS %d\n#define SLICES_KEY %s\n#define SLICES_DIGITS %d\n#define SLICES_ROWS %d\n",
             s->bits, s->bits == 8 ? "uchar" : "ushort", s->digits, s->rows);
    TRY(build(call, defines, (const char *[3]){kernel_text_window_slices}, &program));
    const DevArg args[] = {dev_int(call->w),
                           dev_int(call->h),
                           dev_int(call->d),
                           dev_int(in->pitch),
                           dev_int(out->pitch),
                           dev_int(part.h),
                           dev_int(part.d),
                           dev_int(part.y),
                           dev_int(part.z),
                           dev_int(in->h),
                           dev_long(first_pixel(call, &part)),
                           dev_mem(in->mem),
                           dev_mem(call->scratch),
                           dev_int(n_runs),
                           dev_uint(window_rank(pixels, call->window_rank.percent)),
                           dev_ulong(key_outside(key_type(call), call->window_rank.outside)),
                           dev_int(s->reach[0]),
                           dev_int(s->reach[1]),
                           dev_int(s->reach[2]),
                           dev_uint(s->across),
                           dev_uint(s->down),
                           dev_local(s->local),
                           dev_mem(out->mem)};
    return visit_launch(call, &(VisitLaunch){.program = program,
                                             .kernel = "window_slices",
                                             .groups = s->across * s->down * (size_t)call->planes,
                                             .group = (size_t)s->items,
                                             .args = args,
                                             .n_args = sizeof args / sizeof *args});
}

static bool run(PrimCall *call)
{
    const PrimCall longest = prim_longest(call);
    const Window w = window_of(call);
    WindowTiles tiles;
    WindowSlices slices;
    TRY(visit_check_count(call));
    if (sliced(call, &slices)) {
        return run_slices(call, &slices);
    }
    return window_tiles(&longest, &w, mode_of(call), &tiles) ? run_slide(call, &tiles) : run_read(call);
}

static int halo(const PrimCall *call)
{
    bool planes = call->part.d > 1 && !call->part.across;
    double radius = floor(call->window_rank.radius[planes ? 2 : 1]);
    return (int)fmax(radius, 0);
}

static int passes(const PrimCall *call)
{
    return halo(call) > 0 && call->window_rank.border == BORDER_WRAP ? 0 : 1;
}

const Primitive prim_window_rank = {.name = "window_rank",
                                    .scratch_bytes = scratch_bytes,
                                    .run = run,
                                    .passes = passes,
                                    .shares = share_all_passes,
                                    .halo = halo};
