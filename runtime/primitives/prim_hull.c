/*
 * prim_hull: paints the convex hull of each label, as skimage.morphology.convex_hull_image does of
 * each object: the hull of all pixels, each a diamond that reaches half a pixel far along every
 * axis, and in it all pixels whose centres lie inside or on its border.  Hulls may overlap.  Flat
 * and straight objects of a volume, for which scikit-image gives nothing, have their hull as well.
 *
 * It is the measuring of convex areas, which finds the hulls' rows, with these rows painted instead
 * of counted.  Channels have hulls of their own.
 */
#include "hull_parts.h"
#include "measuring.h"

#include <assert.h>

/* Labels as they are stored. */
#define READER(TYPE)                                                                               \
    "#define READ_PARAMS global const " TYPE " *labels, const int label_rows, "                    \
    "const int label_pitch, const int label_plane\n"                                               \
    "#define READ_ARGS labels, label_rows, label_pitch, label_plane\n"                             \
    "static inline uint read_0(READ_PARAMS, int x, int y, int plane)\n{\n"                         \
    "    return labels[((size_t)(label_plane + plane) * label_rows + y) * label_pitch + x];\n}\n"
static const char *const READERS[ELEM_COUNT] = {
    [ELEM_U8] = READER("uchar"), [ELEM_U16] = READER("ushort"), [ELEM_U32] = READER("uint")};

/* The same call about one channel, as a measurement; arg[3] is its first plane. */
static PrimCall measurement(const PrimCall *call, int plane)
{
    PrimCall one = *call;
    one.planes = call->d;
    one.text = call->d > 1 ? "3d,label,area_convex" : "2d,label,area_convex";
    one.arg[0] = one.arg[1] = one.arg[2] = 1;
    one.arg[3] = plane;
    one.reader = READERS[call->in[0].elem];
    return one;
}

static size_t scratch_bytes(const PrimCall *call)
{
    PrimCall one = measurement(call, 0);
    return call->part.cut ? 0 : measuring_scratch(&one);
}

static bool run(PrimCall *call)
{
    const PrimImage *labels = &call->in[0], *mask = &call->out[0];
    if (call->part.cut) {
        return hull_parts_run(call);
    }
    assert(READERS[labels->elem] != NULL && elem_size(mask->elem) == 1);
    TRY(dev_fill(call->dev, mask->mem, 0, (size_t)mask->length, 0, call->err));
    for (int plane = 0; plane < call->planes; plane += call->d) {
        const DevArg args[] = {dev_mem(labels->mem), dev_int(labels->h), dev_int(labels->pitch),
                               dev_int(plane)};
        PrimCall one = measurement(call, plane);
        one.reader_args = args;
        one.n_reader_args = 4;
        TRY(measuring_run(&one, MEASURE_MASK));
    }
    return true;
}

const Primitive prim_hull = {.name = "hull",
                             .scratch_bytes = scratch_bytes,
                             .run = run,
                             .passes = hull_parts_passes,
                             .reading = 1,
                             .forget = hull_parts_forget};
