/*
 * prim_points: labels painted at single pixels, at places that are expressions of the label.
 *
 * The reader is asked with the label in place of x; what it reads are vectors by label, so that
 * nothing of the image is read, and a part is painted like the whole image: by all labels, those
 * that fall into it.  The count of the labels is the result's, too: some of them may be nowhere.  A
 * NaN or a place outside is nowhere; of several labels at one pixel the largest stays.
 *
 * No scratch.  Bytes moved: 4 a pixel to clear it, and what the places of a label are read from.
 */
#include "../prim_visit.h"

enum { ITEMS = 64, GROUPS = 1024 };

extern const char kernel_text_points[];

static bool program_of(const PrimCall *call, int which, DevProgram **program)
{
    (void)which;
    const char *const texts[] = {kernel_text_points, NULL};
    return visit_program(call, "", texts, program);
}

static bool run(PrimCall *call)
{
    DevProgram *program;
    PrimPart part = prim_part(call);
    const PrimImage *out = &call->out[0];
    size_t pixels = (size_t)call->planes * (size_t)call->h * (size_t)out->pitch;
    TRY(program_of(call, 0, &program));
    TRY(dev_fill(call->dev, out->mem, 0, pixels * sizeof(uint32_t), 0, call->err));
    const DevArg args[] = {dev_mem(call->values),
                           dev_int(call->of_value),
                           dev_int(call->value),
                           dev_int(call->w),
                           dev_int(call->h),
                           dev_int(call->d),
                           dev_int(call->planes / call->d),
                           dev_int(part.y),
                           dev_int(part.z),
                           dev_int(part.c),
                           dev_int(out->pitch),
                           dev_int(part.h),
                           dev_int(part.d),
                           dev_int(part.channels),
                           dev_mem(out->mem)};
    return visit_launch(call, &(VisitLaunch){.program = program,
                                             .kernel = "points_paint",
                                             .reads = true,
                                             .groups = GROUPS,
                                             .group = ITEMS,
                                             .args = args,
                                             .n_args = sizeof args / sizeof *args});
}

static int passes(const PrimCall *call)
{
    (void)call;
    return 1;
}

const Primitive prim_points = {.name = "points", .run = run, .passes = passes, .programs = 1, .program = program_of};
