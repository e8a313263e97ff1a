/*
 * watershed_paths: the watershed as shortest paths, for all pixels at once.
 *
 * In the flood a pixel is reached from that neighbour which left the queue first, and gets its
 * label.  So every pixel ends a way from a marker, and it is enough to say which of two ways
 * arrives first.  The queue gives the lowest value first, and of equal ones that which has waited
 * longest.  Of two ways,
 *
 *  - the one whose highest value is lower arrives first: nothing above that value has left the
 * queue yet;
 *  - of equal highest values, the way with fewer pixels of that value: those leave the queue in
 *    generations, each pushed by the one before it;
 *  - of equally many, the way whose first such pixel was pushed first.  It was pushed by the pixel
 * before it, so that the same question is asked about the ways up to there.  A way that begins with
 * this pixel is first: markers are pushed before all others;
 *  - of two markers of equal value with the same way on from there, the one that comes first in
 *    raster order (`raster`), or in the order of scikit-image's heap.
 *
 * A way is therefore as good as its highest value, how often it has that, and as the way up to it:
 * what lies lower than a value that has been passed does not count any more.  Going on never makes
 * a way better, and of two ways the better one stays the better one: pixels can look for the best
 * way of their neighbours', again and again and in any order, and arrive at the same one.  The
 * first two questions are about a number of 64 bits, which settles first; the third one needs a
 * link to the last pixel before the highest value, and is about links from there on
 * (kernels/watershed.cl).
 *
 * Only the last question depends on the order of equal markers.  When at no pixel two ways from
 * markers of different labels come to it, there is one result whatever that order is, and it is
 * scikit-image's.  When one does, and the heap's order is wanted, the queue must be asked.  So it
 * is with lines, which stop ways, and where ways are so long that going them pixel by pixel takes
 * longer.
 *
 * Scratch: 8 bytes a pixel, 8 a tile of 1024; links are made in the output.  On CPUs the queue is
 * faster.
 */
#include "watershed_paths.h"
#include "prim_host.h"
#include "prim_lanes.h"

#include <assert.h>
#include <stdio.h>

enum {
    FIRST_ROUNDS =
        4, /* before the host looks whether there was anything to do in the last of them */
    MOST_ROUNDS = 32,
    LONGEST = 4096, /* rounds after which ways are too long */
    EACH = 4        /* WATERSHED_EACH */
};

extern const char kernel_text_watershed[];

typedef struct Paths {
    const PrimCall *call;
    DevProgram *program;
    int x, y, z; /* pixels of a tile */
    size_t across, down, deep, tiles;
    size_t numbers;                 /* pixels, padding counted */
    size_t flags[2], reports, most; /* words of scratch, behind the keys */
} Paths;

static Paths paths_of(const PrimCall *call)
{
    Paths p = {.call = call, .x = 32, .y = 32, .z = 1};
    if (call->d > 1) {
        p.x = 16;
        p.y = p.z = 8;
    }
    p.across = lanes_divided_up((size_t)call->w, (size_t)p.x);
    p.down = lanes_divided_up((size_t)call->h, (size_t)p.y);
    p.deep = lanes_divided_up((size_t)call->d, (size_t)p.z);
    p.tiles = p.across * p.down * p.deep * (size_t)(call->planes / call->d);
    p.numbers = (size_t)call->planes * (size_t)call->h * (size_t)call->out[0].pitch;
    p.flags[0] = 2 * p.numbers;
    p.flags[1] = p.flags[0] + p.tiles;
    p.reports = p.flags[1] + p.tiles;
    p.most = p.reports + MOST_ROUNDS;
    return p;
}

/* Is it a flood for paths, on a device that there is not? */
static bool fits(const PrimCall *call)
{
    Elem markers = call->in[1].elem;
    bool masked = call->in[2].elem == ELEM_BOOL || call->in[2].w == 0;
    return !call->part.cut && call->arg[WATERSHED_LINE] == 0 && call->in[0].elem == ELEM_F32 &&
           masked && (markers == ELEM_U8 || markers == ELEM_U16 || markers == ELEM_U32) &&
           paths_of(call).numbers < UINT32_MAX;
}

size_t watershed_paths_scratch(const PrimCall *call)
{
    return fits(call) ? (paths_of(call).most + 1) * sizeof(uint32_t) : 0;
}

static bool build(Paths *p)
{
    const PrimCall *call = p->call;
    PrimCall no_reader = *call;
    no_reader.reader = "";
    char defines[300];
    snprintf(defines, sizeof defines,
             "#define WATERSHED_MARKER %s\n#define WATERSHED_MASKED %d\n#define WATERSHED_3D %d\n"
             "#define WATERSHED_CONNECTIVITY %d\n#define WATERSHED_X %d\n#define WATERSHED_Y %d\n"
             "#define WATERSHED_Z %d\n",
             elem_cl_name(call->in[1].elem), call->in[2].mem != NULL, call->d > 1,
             (int)call->arg[WATERSHED_CONNECTIVITY], p->x, p->y, p->z);
    const char *const texts[] = {kernel_text_lanes, kernel_text_watershed, NULL};
    return visit_program(&no_reader, defines, texts, &p->program);
}

/* Launches a kernel over all pixels; its arguments are the shape and then `more`. */
static bool over_pixels(const Paths *p, const char *kernel, const DevArg *more, int n_more)
{
    enum { SHAPE = 6, MOST = 8 };
    const PrimCall *call = p->call;
    size_t rows = (size_t)call->planes * (size_t)call->h;
    DevArg args[SHAPE + MOST] = {dev_int(call->w),
                                 dev_int(call->h),
                                 dev_int(call->d),
                                 dev_uint(rows),
                                 dev_int(call->out[0].pitch),
                                 dev_int(call->in[0].pitch)};
    assert(n_more <= MOST);
    for (int i = 0; i < n_more; i++) {
        args[SHAPE + i] = more[i];
    }
    return lanes_launch(call, &(LanesLaunch){.program = p->program,
                                             .kernel = kernel,
                                             .columns = (size_t)call->w,
                                             .rows = rows,
                                             .args = args,
                                             .n_args = SHAPE + n_more});
}

static bool start(const Paths *p)
{
    const PrimCall *call = p->call;
    const PrimImage *mask = &call->in[call->in[2].mem != NULL ? 2 : 0];
    size_t word = sizeof(uint32_t);
    const DevArg more[] = {dev_int(call->in[1].pitch), dev_int(mask->pitch),
                           dev_mem(call->in[0].mem),   dev_mem(call->in[1].mem),
                           dev_mem(mask->mem),         dev_mem(call->scratch),
                           dev_mem(call->out[0].mem)};
    return over_pixels(p, "watershed_start", more, 7) &&
           dev_fill(call->dev, call->scratch, p->flags[0] * word, p->tiles * word, 1, call->err) &&
           dev_fill(call->dev, call->scratch, p->flags[1] * word, p->tiles * word, 0, call->err);
}

/* ---- rounds ---------------------------------------------------------------------------- */

typedef bool Round(const Paths *p, int round, size_t report);

static bool settle(const Paths *p, int round, size_t report)
{
    const PrimCall *call = p->call;
    const DevArg args[] = {dev_int(call->w),
                           dev_int(call->h),
                           dev_int(call->d),
                           dev_int(call->out[0].pitch),
                           dev_int(call->in[0].pitch),
                           dev_uint(p->across),
                           dev_uint(p->down),
                           dev_uint(p->deep),
                           dev_mem(call->in[0].mem),
                           dev_mem(call->scratch),
                           dev_mem(call->scratch),
                           dev_ulong(p->flags[round % 2]),
                           dev_ulong(p->flags[1 - round % 2]),
                           dev_ulong(report)};
    return visit_launch(call, &(VisitLaunch){.program = p->program,
                                             .kernel = "watershed_settle",
                                             .groups = p->tiles,
                                             .group = (size_t)(p->x * p->y * p->z / EACH),
                                             .args = args,
                                             .n_args = 14});
}

static bool link_up(const Paths *p, int round, size_t report)
{
    const PrimCall *call = p->call;
    const DevArg more[] = {dev_mem(call->in[0].mem), dev_mem(call->scratch),
                           dev_mem(call->out[0].mem), dev_mem(call->scratch), dev_ulong(report)};
    (void)round;
    return over_pixels(p, "watershed_link", more, 5);
}

/* Rounds until one has nothing to report; *done is false when there are too many. */
static bool repeat(const Paths *p, Round *round, bool *done)
{
    const PrimCall *call = p->call;
    const size_t word = sizeof(uint32_t);
    *done = false;
    for (int n = FIRST_ROUNDS, all = 0; !*done && all < LONGEST; n = n < MOST_ROUNDS ? 2 * n : n) {
        TRY(dev_fill(call->dev, call->scratch, p->reports * word, (size_t)n * word, 0, call->err));
        for (int i = 0; i < n; i++) {
            TRY(round(p, all + i, p->reports + (size_t)i));
        }
        uint32_t report = 0;
        TRY(dev_read(call->dev, call->scratch, (p->reports + (size_t)n - 1) * word, &report, word,
                     call->err));
        *done = report == 0;
        all += n;
    }
    return true;
}

/* ---- result ---------------------------------------------------------------------------- */

static bool is_certain(const Paths *p, bool *certain)
{
    const PrimCall *call = p->call;
    const size_t word = sizeof(uint32_t);
    const DevArg more[] = {dev_int(call->in[1].pitch), dev_mem(call->in[0].mem),
                           dev_mem(call->in[1].mem),   dev_mem(call->scratch),
                           dev_mem(call->out[0].mem),  dev_mem(call->scratch),
                           dev_ulong(p->reports)};
    uint32_t report = 0;
    TRY(dev_fill(call->dev, call->scratch, p->reports * word, word, 0, call->err));
    TRY(over_pixels(p, "watershed_doubt", more, 7));
    TRY(dev_read(call->dev, call->scratch, p->reports * word, &report, word, call->err));
    *certain = report == 0;
    return true;
}

static bool label(const Paths *p)
{
    const PrimCall *call = p->call;
    const size_t word = sizeof(uint32_t);
    const DevArg more[] = {dev_int(call->in[1].pitch), dev_mem(call->in[1].mem),
                           dev_mem(call->out[0].mem), dev_mem(call->scratch), dev_ulong(p->most)};
    uint32_t largest = 0;
    TRY(dev_fill(call->dev, call->scratch, p->most * word, word, 0, call->err));
    TRY(over_pixels(p, "watershed_label", more, 5));
    TRY(dev_copy(call->dev, call->scratch, 0, call->out[0].mem, 0, p->numbers * word, call->err));
    TRY(dev_read(call->dev, call->scratch, p->most * word, &largest, word, call->err));
    return host_value(call, largest);
}

bool watershed_paths_run(const PrimCall *call, bool *flooded)
{
    Paths p = paths_of(call);
    *flooded = false;
    if (!fits(call) || visit_is_cpu(call)) {
        return true;
    }
    TRY(build(&p) && start(&p) && repeat(&p, settle, flooded));
    TRY(!*flooded || repeat(&p, link_up, flooded));
    TRY(!*flooded || call->arg[WATERSHED_RASTER] != 0 || is_certain(&p, flooded));
    return !*flooded || label(&p);
}
