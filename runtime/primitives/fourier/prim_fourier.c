/*
 * prim_fourier: Fourier transforms of an image along some of its axes, in f32; see fourier_pass.cl and base/fourier.h.
 *
 * The result has two channels, real and imaginary parts.  Axes come one after the other, x first, and each takes one or
 * a few passes over the image: from the reader, then to and fro between the result and scratch.  What the passes are
 * follows from the extents alone.  Tables of sines are made on the device at the start of each run.
 *
 * Axes whose length has other factors than 2, 3, 5 and 7 are convolved with a chirp: batches of lines go to a place in
 * scratch, where they have room for the longer line, are transformed, multiplied, transformed back, and written to the image.
 *
 * Scratch: 8 bytes a pixel where there is more than one pass, tables, and BATCH numbers for chirps.  Needs all of the
 * image at once.
 */
#include "../prim_visit.h"

#include "../../../base/fourier_plan.h"

#include <stdio.h>
#include <string.h>

enum {
    GROUP = 128,
    NUMBERS = 1024,  /* of a group */
    FEW_COLUMNS = 8, /* as many as make a segment of memory */
    BATCH = 1 << 21, /* numbers of lines with a chirp that are worked on at a time */
    AXES = 3,
    MOST_TEXT = 1400
};

/* As in fourier_pass.cl and fourier_tables.cl. */
enum { SWAP_IN = 1, SWAP_OUT = 2, CHIRP_IN = 4, CHIRP_OUT = 8, FILTER = 16 };
enum { TURNS, CHIRP, CHIRP_FILTER };

extern const char kernel_text_f64_math[], kernel_text_fourier[], kernel_text_fourier_pass[],
    kernel_text_fourier_tables[];

typedef struct View {
    DevMem *mem;
    int64_t at, step, along, across, imaginary;
} View;

typedef struct Axis {
    FourierPlan plan;
    int axis, inner;
    int64_t lines;
    size_t turns, chirp, filter[2]; /* where the tables lie; the second filter is transformed */
} Axis;

typedef struct Fourier {
    const PrimCall *call;
    int w, h, d;
    bool inverse;
    Axis axis[AXES];
    int n_axes;
    size_t image, tables, work, end; /* floats of scratch: what an image takes; where the others begin */
} Fourier;

/* ---- places ---------------------------------------------------------------------------- */

static size_t place_tables(Fourier *f)
{
    size_t at = f->tables;
    for (int i = 0; i < f->n_axes; i++) {
        Axis *a = &f->axis[i];
        size_t longer = 2 * (size_t)a->plan.length, chirp = a->plan.chirp ? 2 * (size_t)a->plan.n : 0;
        a->turns = at;
        a->chirp = a->turns + longer;
        a->filter[0] = a->chirp + chirp;
        a->filter[1] = a->filter[0] + (a->plan.chirp ? longer : 0);
        at = a->filter[1] + (a->plan.chirp ? longer : 0);
    }
    return at;
}

static int64_t lines_of_batch(const Axis *a)
{
    int64_t most = BATCH / a->plan.length;
    return most < 1 ? 1 : most < a->lines ? most : a->lines;
}

/* The axes that are transformed; where none is longer than a pixel, one of them is, which copies. */
static void choose_axes(Fourier *f)
{
    const int extent[AXES] = {f->w, f->h, f->d}, inner[AXES] = {f->h, f->w, f->w};
    int wanted = (int)f->call->arg[0], longer = 0;
    for (int ax = 0; ax < AXES; ax++) {
        longer += (wanted >> ax & 1) != 0 && extent[ax] > 1;
    }
    for (int ax = 0; ax < AXES; ax++) {
        if ((wanted >> ax & 1) != 0 && (extent[ax] > 1 || (longer == 0 && f->n_axes == 0))) {
            f->axis[f->n_axes++] = (Axis){.plan = fourier_plan(extent[ax]),
                                          .axis = ax,
                                          .inner = inner[ax],
                                          .lines = (int64_t)f->w * f->h * f->d / extent[ax]};
        }
    }
}

static Fourier describe(const PrimCall *call)
{
    Fourier f = {.call = call, .w = call->w, .h = call->h, .d = call->d, .inverse = call->arg[1] != 0};
    int passes = 0;
    size_t work = 0;
    choose_axes(&f);
    for (int i = 0; i < f.n_axes; i++) {
        const FourierPlan *plan = &f.axis[i].plan;
        size_t batch = 4 * (size_t)lines_of_batch(&f.axis[i]) * (size_t)plan->length;
        passes += plan->chirp ? 1 : plan->n_passes;
        work = plan->chirp && batch > work ? batch : work;
    }
    f.image = passes > 1 ? 2 * (size_t)f.d * (size_t)f.h * (size_t)call->out[0].pitch : 0;
    f.tables = f.image;
    f.work = place_tables(&f);
    f.end = f.work + work;
    return f;
}

static size_t scratch_bytes(const PrimCall *call)
{
    return describe(call).end * sizeof(float);
}

/* The image as lines along an axis, in the result or in scratch. */
static View image_view(const Fourier *f, const Axis *a, DevMem *mem)
{
    int64_t pitch = f->call->out[0].pitch, plane = pitch * f->h;
    View v = {.mem = mem, .imaginary = plane * f->d};
    v.step = a->axis == 0 ? 1 : a->axis == 1 ? pitch : plane;
    v.along = a->axis == 0 ? pitch : 1;
    v.across = a->axis == 1 || a->axis == 0 ? plane : pitch;
    return v;
}

/* Room for a batch whose first line is `first`, half 0 or 1 of it. */
static View batch_view(const Fourier *f, const Axis *a, int64_t first, int half)
{
    int64_t lines = lines_of_batch(a), n = a->plan.length;
    View v = {.mem = f->call->scratch, .imaginary = lines * n};
    v.step = a->axis == 0 ? 1 : lines;
    v.along = a->axis == 0 ? n : 1;
    v.across = v.along * a->inner;
    v.at = (int64_t)f->work + half * 2 * lines * n - first * v.along;
    return v;
}

/* Real and imaginary parts have changed places. */
static View swapped(View v)
{
    return (View){v.mem, v.at + v.imaginary, v.step, v.along, v.across, -v.imaginary};
}

/* ---- launches -------------------------------------------------------------------------- */

typedef struct Pass {
    const Axis *axis;
    int number, inner;
    bool reads; /* from the reader, not `from` */
    View from, to;
    int64_t line, lines;
    int how;
    float scale, last; /* before and behind the chirp */
} Pass;

static int product_of(const FourierPlan *plan, int from, int to)
{
    int product = 1;
    for (int i = from; i < to; i++) {
        product *= plan->radix[i];
    }
    return product;
}

static int columns_of_group(int length)
{
    return length * FEW_COLUMNS > NUMBERS ? FEW_COLUMNS : NUMBERS / length / FEW_COLUMNS * FEW_COLUMNS;
}

/* The text of fourier_pass.cl's FOURIER_STEPS. */
static void steps_text(const FourierPlan *plan, int first, int end, char *text, size_t size)
{
    size_t n = 0;
    for (int i = first, before = 1; i < end; i++) {
        bool odd = (i - first) % 2 != 0;
        n += (size_t)snprintf(text + n, size - n, " FOURIER_STEP(%d, %d, %d, %d, %s, %s)", plan->radix[i], before,
                              i == first, i == end - 1, odd ? "own_first" : "own_second",
                              odd ? "own_second" : "own_first");
        before *= plan->radix[i];
    }
}

static bool pass_program(const PrimCall *call, const Pass *p, DevProgram **program)
{
    const FourierPlan *plan = &p->axis->plan;
    int first = p->number > 0 ? plan->end[p->number - 1] : 0, end = plan->end[p->number];
    int length = product_of(plan, first, end), columns = columns_of_group(length);
    bool along_in = p->axis->axis == 0 && plan->length / length < columns, along_out = p->axis->axis == 0 && first == 0;
    char steps[MOST_TEXT - 300], defines[MOST_TEXT];
    steps_text(plan, first, end, steps, sizeof steps);
    snprintf(defines, sizeof defines,
             "#define FOURIER_L %d\n#define FOURIER_C %d\n#define FOURIER_GROUP %d\n#define FOURIER_BOTH %d\n"
             "#define FOURIER_ALONG_IN %d\n#define FOURIER_ALONG_OUT %d\n#define FOURIER_STEPS%s\n",
             length, columns, visit_is_cpu(call) ? 1 : GROUP, end - first > 2, along_in, along_out, steps);
    const char *const texts[] = {kernel_text_fourier, kernel_text_fourier_pass, NULL};
    return (p->reads ? visit_program : visit_bare_program)(call, defines, texts, program);
}

static bool run_pass(const Fourier *f, const Pass *p)
{
    const PrimCall *call = f->call;
    const FourierPlan *plan = &p->axis->plan;
    int first = p->number > 0 ? plan->end[p->number - 1] : 0;
    int length = product_of(plan, first, plan->end[p->number]), columns = columns_of_group(length);
    size_t all = (size_t)p->lines * (size_t)(plan->length / length);
    DevProgram *program = NULL;
    TRY(pass_program(call, p, &program));
    const View *v = &p->from, *to = &p->to;
    const DevArg args[] = {dev_int(plan->length),     dev_int(product_of(plan, 0, first)),
                           dev_int(p->inner),         dev_uint(p->line),
                           dev_uint(p->lines),        dev_int(p->how),
                           dev_int(plan->n),          dev_float(p->scale),
                           dev_float(p->last),        dev_ulong(p->axis->turns),
                           dev_ulong(p->axis->chirp), dev_ulong(p->axis->filter[1]),
                           dev_int(p->axis->axis),    dev_long(v->at),
                           dev_long(v->step),         dev_long(v->along),
                           dev_long(v->across),       dev_long(v->imaginary),
                           dev_long(to->at),          dev_long(to->step),
                           dev_long(to->along),       dev_long(to->across),
                           dev_long(to->imaginary),   dev_mem(v->mem),
                           dev_mem(to->mem),          dev_mem(call->scratch)};
    return visit_launch(call, &(VisitLaunch){.program = program,
                                             .kernel = "fourier_pass",
                                             .reads = p->reads,
                                             .groups = (all + (size_t)columns - 1) / (size_t)columns,
                                             .group = visit_is_cpu(call) ? 1 : GROUP,
                                             .args = args,
                                             .n_args = sizeof args / sizeof *args});
}

static bool make_table(const Fourier *f, int kind, int n, int of, size_t at)
{
    const PrimCall *call = f->call;
    DevProgram *program = NULL;
    const char *const texts[] = {kernel_text_f64_math, kernel_text_fourier_tables, NULL};
    TRY(visit_bare_program(call, "", texts, &program));
    const DevArg args[] = {dev_int(kind), dev_int(n), dev_int(of), dev_ulong(at), dev_mem(call->scratch)};
    return visit_launch(call, &(VisitLaunch){.program = program,
                                             .kernel = "fourier_table",
                                             .groups = ((size_t)n + GROUP - 1) / GROUP,
                                             .group = GROUP,
                                             .args = args,
                                             .n_args = sizeof args / sizeof *args});
}

/* All passes of some lines, to and fro between two places, to the other one than `*at` first; the last one goes to
 * `end` where that is given. */
static bool to_and_fro(const Fourier *f, const Pass *all, const View place[2], int *at, const View *end)
{
    Pass p = *all;
    bool ok = true;
    for (p.number = 0; ok && p.number < p.axis->plan.n_passes; p.number++) {
        bool first = p.number == 0, last = p.number == p.axis->plan.n_passes - 1;
        p.how = (first ? all->how & (SWAP_IN | CHIRP_IN | FILTER) : 0) | (last ? all->how & (SWAP_OUT | CHIRP_OUT) : 0);
        p.scale = last ? all->scale : 1;
        p.last = last ? all->last : 1;
        p.reads = first && all->reads;
        p.from = first ? all->from : place[*at];
        *at = !*at;
        p.to = last && end != NULL ? *end : place[*at];
        ok = run_pass(f, &p);
    }
    return ok;
}

/* A convolution of all lines with the chirp, a batch at a time; `from` may be where they go. */
static bool convolve_lines(const Fourier *f, const Pass *all, View to)
{
    const Axis *a = all->axis;
    int64_t lines = lines_of_batch(a);
    bool ok = true;
    for (int64_t line = 0; ok && line < a->lines; line += lines) {
        const View place[2] = {batch_view(f, a, line, 0), batch_view(f, a, line, 1)};
        int at = 1;
        Pass there = *all, back = *all;
        there.line = back.line = line;
        there.lines = back.lines = lines < a->lines - line ? lines : a->lines - line;
        there.how |= CHIRP_IN;
        there.last = 1;
        ok = to_and_fro(f, &there, place, &at, NULL);
        back.reads = false;
        back.from = place[at];
        back.how = FILTER | SWAP_IN | SWAP_OUT | CHIRP_OUT;
        back.scale = (float)(1.0 / a->plan.length);
        ok = ok && to_and_fro(f, &back, place, &at, &to);
    }
    return ok;
}

static bool make_tables(const Fourier *f, Axis *a)
{
    const FourierPlan *plan = &a->plan;
    TRY(make_table(f, TURNS, plan->length, plan->length, a->turns));
    if (!plan->chirp) {
        return true;
    }
    View place[2];
    for (int i = 0; i < 2; i++) {
        place[i] = (View){f->call->scratch, (int64_t)a->filter[i], 1, 0, 0, plan->length};
    }
    Axis line = *a;
    int at = 0;
    line.axis = 0;
    TRY(make_table(f, CHIRP, plan->n, plan->n, a->chirp));
    TRY(make_table(f, CHIRP_FILTER, plan->length, plan->n, a->filter[0]));
    const Pass all = {.axis = &line, .inner = 1, .from = place[0], .lines = 1, .scale = 1, .last = 1};
    TRY(to_and_fro(f, &all, place, &at, NULL));
    a->filter[1] = a->filter[at];
    return true;
}

/* Of an inverse the parts change places on the way in and on the way out, and all is divided by how many pixels there are. */
static bool run(PrimCall *call)
{
    enum { SCRATCH, RESULT };
    TRY(visit_check_count(call));
    Fourier f = describe(call);
    int at = RESULT;
    double count = 1;
    bool ok = true;
    for (int i = 0; i < f.n_axes; i++) {
        at ^= !f.axis[i].plan.chirp && f.axis[i].plan.n_passes % 2 != 0;
        count *= f.axis[i].plan.n;
    }
    for (int i = 0; ok && i < f.n_axes; i++) {
        Axis *a = &f.axis[i];
        bool last = i == f.n_axes - 1;
        const View place[2] = {image_view(&f, a, call->scratch), image_view(&f, a, call->out[0].mem)};
        View end = f.inverse ? swapped(place[RESULT]) : place[RESULT];
        const Pass all = {.axis = a,
                          .inner = a->inner,
                          .reads = i == 0,
                          .from = place[at],
                          .lines = a->lines,
                          .how = i == 0 && f.inverse ? SWAP_IN : 0,
                          .scale = 1,
                          .last = last && f.inverse ? (float)(1 / count) : 1};
        ok = make_tables(&f, a) && (a->plan.chirp ? convolve_lines(&f, &all, last ? end : place[at])
                                                  : to_and_fro(&f, &all, place, &at, last ? &end : NULL));
    }
    return ok;
}

/* The first pass, which reads. */
static bool program_of(const PrimCall *call, int which, DevProgram **program)
{
    (void)which;
    Fourier f = describe(call);
    return pass_program(call, &(Pass){.axis = &f.axis[0], .reads = true}, program);
}

const Primitive prim_fourier = {.name = "fourier",
                                .scratch_bytes = scratch_bytes,
                                .run = run,
                                .programs = 1,
                                .program = program_of};
