/*
 * prim_boxes: statistics of the boxes that an image is cut into, after sigma clipping; see boxes.cl and reference/ref.h.
 *
 * The result is a vector: all boxes' counts, then medians, means and deviations.  In parts a box belongs to the part that
 * has its first row (plane), and is read with as many rows behind the part as it has.
 *
 * No scratch.  Each pixel is read once, but where a box has more than registers hold.
 */
#include "../prim_visit.h"

#include <stdio.h>

enum {
    LANES = 256,       /* as in boxes.cl */
    GPU_HELD = 32,     /* pixels in registers of a work-item */
    CPU_HELD = 1 << 16 /* pixels of a box, on the stack */
};

extern const char kernel_text_boxes[];

/* What is cut: the image's extents, pixels of a box, how many boxes there are, and those of the call along each axis. */
typedef struct Cut {
    int extent[3], size[3], boxes[3], first[3], n[3];
    int channels;
} Cut;

static Cut cut_of(const PrimCall *call)
{
    PrimPart part = prim_part(call);
    Cut cut = {.extent = {call->w, part.h, part.d}, .channels = part.channels};
    const int from[3] = {0, part.y, part.z}, here[3] = {call->w, call->h, call->d};
    for (int axis = 0; axis < 3; axis++) {
        double size = call->boxes.size[axis];
        cut.size[axis] = size < cut.extent[axis] ? (int)size : cut.extent[axis];
        if (cut.size[axis] >= 1) {
            cut.boxes[axis] = (cut.extent[axis] - 1) / cut.size[axis] + 1;
            cut.first[axis] = (from[axis] + cut.size[axis] - 1) / cut.size[axis];
            cut.n[axis] = (from[axis] + here[axis] - 1) / cut.size[axis] + 1 - cut.first[axis];
        }
    }
    return cut;
}

static bool program_of(const PrimCall *call, int which, DevProgram **program)
{
    (void)which;
    Cut cut = cut_of(call);
    char defines[200];
    double pixels = (double)cut.size[0] * cut.size[1] * cut.size[2];
    if (pixels < 1) {
        return err_set(call->err, CODE_USAGE, "%s: a box has at least one pixel along each axis", call->name);
    }
    if (pixels > INT32_MAX / 2) {
        return err_set(call->err, CODE_USAGE, "%s: a box of %.0f pixels is too large", call->name, pixels);
    }
    bool held = pixels <= (visit_is_cpu(call) ? CPU_HELD : GPU_HELD * LANES);
    snprintf(defines, sizeof defines,
             "#define BOXES_X %d\n#define BOXES_Y %d\n#define BOXES_Z %d\n#define BOXES_HELD %d\n", cut.size[0],
             cut.size[1], cut.size[2], held);
    const char *const texts[] = {kernel_text_boxes, NULL};
    return visit_program(call, defines, texts, program);
}

static bool run(PrimCall *call)
{
    DevProgram *program = NULL;
    PrimPart part = prim_part(call);
    Cut cut = cut_of(call);
    TRY(program_of(call, 0, &program));
    size_t groups = (size_t)cut.n[0] * (size_t)cut.n[1] * (size_t)cut.n[2] * (size_t)(call->planes / call->d);
    uint64_t all = (uint64_t)cut.boxes[0] * (uint64_t)cut.boxes[1] * (uint64_t)cut.boxes[2] * (uint64_t)cut.channels;
    if (groups > INT32_MAX) {
        return err_set(call->err, CODE_USAGE, "%s: there are more boxes than can be counted", call->name);
    }
    if (groups == 0) {
        return true;
    }
    const DevArg args[] = {dev_int(cut.extent[0]),
                           dev_int(part.h - part.y),
                           dev_int(part.d - part.z),
                           dev_int(cut.n[0]),
                           dev_int(cut.n[1]),
                           dev_int(cut.n[2]),
                           dev_int(cut.first[1]),
                           dev_int(cut.first[2]),
                           dev_int(part.y),
                           dev_int(part.z),
                           dev_int(call->d),
                           dev_int(cut.boxes[1]),
                           dev_int(cut.boxes[2]),
                           dev_int(part.c),
                           dev_double(call->boxes.kappa),
                           dev_int((int)call->boxes.rounds),
                           dev_ulong(all),
                           dev_mem(call->out[0].mem)};
    return visit_launch(call, &(VisitLaunch){.program = program,
                                             .kernel = "boxes_find",
                                             .reads = true,
                                             .groups = groups,
                                             .group = visit_is_cpu(call) ? 1 : LANES,
                                             .args = args,
                                             .n_args = sizeof args / sizeof *args});
}

static int passes(const PrimCall *call)
{
    (void)call;
    return 1;
}

/* The rows, or planes, that a box has behind its first one. */
static int halo(const PrimCall *call)
{
    PrimPart part = prim_part(call);
    bool rows = part.d == 1 || part.across;
    double size = rows ? call->boxes.size[1] : call->boxes.size[2], extent = rows ? part.h : part.d;
    return (int)((size < extent ? size : extent) - 1);
}

const Primitive prim_boxes =
    {.name = "boxes", .run = run, .passes = passes, .halo = halo, .programs = 1, .program = program_of};
