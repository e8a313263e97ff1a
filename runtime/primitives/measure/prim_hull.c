/*
 * prim_hull: paints the convex hull of each label, as skimage.morphology.convex_hull_image does of
 * each object: the hull of all pixels, each a diamond that reaches half a pixel far along every
 * axis, and in it all pixels whose centres lie inside or on its border.  Hulls may overlap.  Flat
 * and straight objects of a volume, for which scikit-image gives nothing, have their hull as well.
 *
 * It is the measuring of convex areas, which finds the hulls' rows, with these rows painted instead
 * of counted.  Channels have hulls of their own, and measurements.
 */
#include "measuring.h"

#include <assert.h>
#include <stdlib.h>

/* Labels as they are stored. */
#define READER(TYPE)                                                            \
    "#define READ_PARAMS global const " TYPE " *labels, const int label_rows, " \
    "const int label_pitch, const ulong label_first\n"                          \
    "#define READ_ARGS labels, label_rows, label_pitch, label_first\n"          \
    "static inline uint read_0(READ_PARAMS, int x, int y, int plane)\n{\n"      \
    "    return labels[(label_first + (size_t)plane * label_rows + y) * label_pitch + x];\n}\n"
static const char *const READERS[ELEM_COUNT] =
    {[ELEM_U8] = READER("uchar"), [ELEM_U16] = READER("ushort"), [ELEM_U32] = READER("uint")};

/* The same call about the channel that begins with a plane, as a measurement. */
static PrimCall measurement(const PrimCall *call, int plane)
{
    PrimCall one = *call;
    one.planes = call->d;
    one.text = prim_part(call).d > 1 ? "3d,label,area_convex" : "2d,label,area_convex";
    one.measure.spacing[0] = one.measure.spacing[1] = one.measure.spacing[2] = 1;
    one.out[0].before = (size_t)plane * (size_t)one.out[0].h;
    one.reader = READERS[call->hull.labels.elem];
    return one;
}

static size_t scratch_bytes(const PrimCall *call)
{
    PrimCall one = measurement(call, 0);
    return measuring_scratch(&one);
}

static bool paint(PrimCall *one, int plane)
{
    const PrimImage *labels = &one->hull.labels;
    const DevArg args[] = {dev_mem(labels->mem), dev_int(labels->h), dev_int(labels->pitch),
                           dev_ulong(labels->before + (size_t)plane * (size_t)labels->h)};
    one->reader_args = args;
    one->n_reader_args = 4;
    return measuring_run(one, MEASURE_MASK);
}

/* ---- parts ----------------------------------------------------------------------------- */

/* The measurements of all channels. */
typedef struct Channels {
    int n;
    void *of[];
} Channels;

static void forget(void *state)
{
    Channels *channels = state;
    for (int c = 0; channels != NULL && c < channels->n; c++) {
        measure_parts_forget(channels->of[c]);
    }
    free(channels);
}

static bool open_channels(const PrimCall *call)
{
    size_t n = (size_t)call->part.channels;
    forget(*call->state);
    Channels *channels = *call->state = calloc(1, sizeof *channels + n * sizeof channels->of[0]);
    if (channels == NULL) {
        return err_set(call->err, CODE_MEMORY, "%s: no memory", call->name);
    }
    channels->n = call->part.channels;
    return true;
}

/* A channel's parts are all that its measurement sees. */
static bool run_part(PrimCall *call)
{
    TRY(call->part.pass > 0 || !call->part.first || open_channels(call));
    PrimCall one = measurement(call, 0);
    one.state = &((Channels *)*call->state)->of[call->part.c];
    one.part.first = call->part.number == 0;
    one.part.last = call->part.number + 1 == call->part.parts;
    return paint(&one, 0);
}

static int passes(const PrimCall *call)
{
    PrimCall one = measurement(call, 0);
    one.part.channels = 1;
    return measure_parts_passes(&one, MEASURE_MASK);
}

static bool run(PrimCall *call)
{
    PrimImage *mask = &call->out[0];
    assert(READERS[call->hull.labels.elem] != NULL && elem_size(mask->elem) == 1);
    TRY(dev_fill(call->dev, mask->mem, 0, (size_t)mask->length, 0, call->err));
    if (call->part.cut) {
        return run_part(call);
    }
    for (int plane = 0; plane < call->planes; plane += call->d) {
        PrimCall one = measurement(call, plane);
        TRY(paint(&one, plane));
    }
    return true;
}

const Primitive prim_hull = {.name = "hull",
                             .scratch_bytes = scratch_bytes,
                             .run = run,
                             .passes = passes,
                             .forget = forget};
