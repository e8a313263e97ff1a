/*
 * prim_window_rank: medians and percentiles of windows too large to sort in registers, exact for
 * every type (kernels/window_rank.cl).
 *
 * A pixel costs a pass over its window for every two bits in which the window's pixels differ, and
 * one more.  Scratch holds the window as runs of offsets, 16 bytes each.  Parts have the rows (planes)
 * around them that windows reach; where these go on at the other end of the image, it is not cut.
 */
#include "prim_lanes.h"

#include "../../base/window.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARG_SHAPE, ARG_X, ARG_Y, ARG_Z, ARG_PERCENT, ARG_BORDER, ARG_OUTSIDE };

enum { BORDER_WRAP = 3, BORDER_CONSTANT = 4 }; /* as IrBorder */

extern const char kernel_text_window_rank[];

static Window window_of(const PrimCall *call)
{
    return (Window){.shape = (WindowShape)call->arg[ARG_SHAPE],
                    .radius = {call->arg[ARG_X], call->arg[ARG_Y], call->arg[ARG_Z]},
                    .cells = call->text};
}

static size_t scratch_bytes(const PrimCall *call)
{
    Window w = window_of(call);
    int pixels;
    return ((size_t)window_runs(&w, NULL, 0, &pixels) + 1) * sizeof(WindowRun);
}

static bool is_real(Elem elem)
{
    return elem == ELEM_F32 || elem == ELEM_F64;
}

/* What a signed type's keys are shifted by. */
static uint32_t least_of(Elem elem)
{
    return elem == ELEM_I16 ? 0x8000U : elem == ELEM_I32 ? 0x80000000U : 0;
}

/* The value outside as a pixel of that type, as ir_convert has it. */
static double pixel_outside(Elem elem, double value)
{
    if (is_real(elem)) {
        return (double)(float)value + 0.0;
    }
    return isnan(value) ? 0 : trunc(fmax(fmin(value, elem_max(elem)), elem_min(elem))) + 0.0;
}

/* Keys are of the image's own pixels, whose bits are few, or of the result's type, in which there may be
 * values outside that no pixel of the image has. */
static Elem key_type(const PrimCall *call)
{
    const Elem own = call->in[0].elem, result = call->out[0].elem;
    const double outside = call->arg[ARG_OUTSIDE];
    bool constant = call->arg[ARG_BORDER] == BORDER_CONSTANT;
    return constant && pixel_outside(own, outside) != pixel_outside(result, outside) ? result : own;
}

/* The key of the value outside, as the kernel makes it of a pixel. */
static uint32_t key_outside(Elem keys, double value)
{
    const double pixel = pixel_outside(keys, value);
    if (!is_real(keys)) {
        return (uint32_t)(int64_t)pixel + least_of(keys);
    }
    float v = (float)pixel;
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return isnan(v) ? UINT32_MAX : bits >> 31 ? ~bits : bits | 0x80000000U;
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
        return err_set(call->err, CODE_MEMORY, "%s: no memory for a window of %d pixels",
                       call->name, *pixels);
    }
    window_runs(&w, runs, *n_runs, pixels);
    bool ok = dev_write(call->dev, call->scratch, 0, runs, size, call->err);
    free(runs);
    return ok;
}

/* Where the image would begin in the memory of a part, in pixels. */
static int64_t first_pixel(const PrimCall *call, const PrimPart *part)
{
    const PrimImage *in = &call->in[0];
    int64_t row = (int64_t)part->z * in->h + part->y;
    return ((int64_t)prim_first_row(call, in) - row) * in->pitch;
}

static bool run(PrimCall *call)
{
    const PrimPart part = prim_part(call);
    const PrimImage *in = &call->in[0], *out = &call->out[0];
    const Elem keys = key_type(call);
    size_t rows = (size_t)call->planes * (size_t)call->h;
    int n_runs, pixels;
    char defines[280];
    snprintf(defines, sizeof defines,
             "#define WINDOW_PIXEL %s\n#define WINDOW_RESULT %s\n#define WINDOW_REAL %d\n"
             "#define WINDOW_WHOLE %s\n#define WINDOW_LEAST %uu\n#define WINDOW_BORDER %d\n",
             elem_cl_name(in->elem), elem_cl_name(out->elem), is_real(keys),
             keys == ELEM_U32 ? "uint" : "int", (unsigned)least_of(keys), (int)call->arg[ARG_BORDER]);
    const char *texts[] = {kernel_text_lanes, kernel_text_window_rank, NULL};
    DevProgram *program = NULL;
    TRY(visit_check_count(call));
    TRY(write_runs(call, &n_runs, &pixels));
    TRY(visit_program(call, defines, texts, &program));
    const DevArg args[] = {
        dev_int(call->w),    dev_int(call->h),    dev_int(call->d),
        dev_uint(rows),      dev_int(in->pitch),  dev_int(out->pitch),
        dev_int(part.h),     dev_int(part.d),     dev_int(part.y),
        dev_int(part.z),     dev_int(in->h),     dev_long(first_pixel(call, &part)),
        dev_mem(in->mem),    dev_mem(call->scratch), dev_int(n_runs),
        dev_uint(window_rank(pixels, call->arg[ARG_PERCENT])),
        dev_uint(key_outside(keys, call->arg[ARG_OUTSIDE])), dev_mem(out->mem)};
    return lanes_launch(call, &(LanesLaunch){.program = program,
                                             .kernel = "window_rank",
                                             .columns = (size_t)call->w,
                                             .rows = rows,
                                             .args = args,
                                             .n_args = 18});
}

static int halo(const PrimCall *call)
{
    bool planes = call->part.d > 1 && !call->part.across;
    double radius = floor(call->arg[planes ? ARG_Z : ARG_Y]);
    return (int)fmax(radius, 0);
}

static int passes(const PrimCall *call)
{
    return halo(call) > 0 && call->arg[ARG_BORDER] == BORDER_WRAP ? 0 : 1;
}

const Primitive prim_window_rank = {.name = "window_rank",
                                    .scratch_bytes = scratch_bytes,
                                    .run = run,
                                    .passes = passes,
                                    .halo = halo};
