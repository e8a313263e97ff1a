/*
 * watershed_paths: the watershed as shortest paths, for all pixels at once.
 *
 * In the flood a pixel is reached from that neighbour which left the queue first, and gets its
 * label.  So every pixel ends a way from a marker, and it is enough to say which of two ways
 * arrives first.  The queue gives the lowest level first, which is the highest value on a way, and
 * of equal ones that which has waited longest.  Of two ways,
 *
 *  - the one whose level is lower arrives first: nothing above that level has left the queue yet;
 *  - of equal levels, the way with fewer pixels from its highest value on: these leave the queue in
 *    generations, each pushed by the one before it;
 *  - of equally many, the way whose first such pixel was pushed first.  It was pushed by the pixel
 *    before it, so that the same question is asked about the ways up to there.  A way that begins
 *    with this pixel is first: markers are pushed before all others;
 *  - of two markers of equal value with the same way on from there, the one that comes first in
 *    raster order (`raster`), or in the order of scikit-image's heap.
 *
 * A way is therefore as good as its level, how long it has had that, and as the way up to there.
 * Going on always makes a way worse, and of two ways the better one stays the better one: pixels
 * can look for the best way of their neighbours', again and again and in any order, and arrive at
 * the same one.  The first two questions are about a number of 64 bits, which settles first; the
 * third one needs a link to the last pixel before the highest value, and is about links from there
 * on (kernels/watershed.cl).
 *
 * Only the last question depends on the order of equal markers.  When at no pixel two ways from
 * markers of different labels come to it, there is one result whatever that order is, and it is
 * scikit-image's.  When one does, and the heap's order is wanted, the queue is asked in which order
 * its markers leave it, on the host, up to the highest value of markers for which that counts: of a
 * distance these are the deepest pixels, a small part of all.  The markers' keys then hold their
 * turns, and links are found once more.
 *
 * The queue floods all by itself where there are lines, which stop ways, and where ways are so long
 * that going them pixel by pixel takes longer.
 *
 * Scratch: 8 bytes a pixel, 8 a tile of 1024; links are made in the output.  On CPUs the queue is
 * faster.
 */
#include "watershed_paths.h"
#include "../prim_host.h"
#include "../prim_lanes.h"
#include "watershed_queue.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    FIRST_ROUNDS = 4, /* before the host looks whether there was anything to do in the last of them */
    MOST_ROUNDS = 32,
    LONGEST = 4096, /* rounds after which ways are too long */
    EACH = 4,       /* WATERSHED_EACH */
    TURNS_GROUP = 256
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

/* Is it a flood for paths, on a device that there is not?  Turns of markers have a bit less than
 * pixels. */
static bool fits(const PrimCall *call)
{
    Elem markers = call->watershed.markers.elem;
    size_t most = call->watershed.raster != 0 ? UINT32_MAX : INT32_MAX;
    bool masked = call->watershed.mask.elem == ELEM_BOOL || call->watershed.mask.w == 0;
    return !call->part.cut && call->watershed.line == 0 && call->watershed.image.elem == ELEM_F32 && masked &&
           (markers == ELEM_U8 || markers == ELEM_U16 || markers == ELEM_U32) && paths_of(call).numbers < most;
}

size_t watershed_paths_scratch(const PrimCall *call)
{
    return fits(call) ? (paths_of(call).most + 1) * sizeof(uint32_t) : 0;
}

static bool build(Paths *p)
{
    const PrimCall *call = p->call;
    char defines[300];
    snprintf(defines, sizeof defines,
             "#define WATERSHED_3D %d\n#define WATERSHED_CONNECTIVITY %d\n#define WATERSHED_X %d\n"
             "#define WATERSHED_Y %d\n#define WATERSHED_Z %d\n",
             call->d > 1, (int)call->watershed.connectivity, p->x, p->y, p->z);
    const char *const texts[] = {kernel_text_lanes, kernel_text_watershed, NULL};
    return visit_bare_program(call, defines, texts, &p->program);
}

/* Launches a kernel over all pixels; its arguments are the shape and then `more`. */
static bool over_pixels(const Paths *p, const char *kernel, const DevArg *more, int n_more)
{
    enum { SHAPE = 6, MOST = 9 };
    const PrimCall *call = p->call;
    size_t rows = (size_t)call->planes * (size_t)call->h;
    DevArg args[SHAPE + MOST] = {dev_int(call->w),
                                 dev_int(call->h),
                                 dev_int(call->d),
                                 dev_uint(rows),
                                 dev_int(call->out[0].pitch),
                                 dev_int(call->watershed.image.pitch)};
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

/* As kernels take them. */
#define MARKERS(call)                                                                             \
    dev_int((call)->watershed.markers.pitch), dev_int(elem_size((call)->watershed.markers.elem)), \
        dev_mem((call)->watershed.markers.mem)

static bool start(const Paths *p)
{
    const PrimCall *call = p->call;
    bool masked = call->watershed.mask.mem != NULL;
    const PrimImage *mask = &call->in[masked ? 2 : 0];
    size_t word = sizeof(uint32_t);
    const DevArg more[] = {MARKERS(call),
                           dev_int(mask->pitch),
                           dev_int(masked),
                           dev_mem(mask->mem),
                           dev_mem(call->watershed.image.mem),
                           dev_mem(call->scratch),
                           dev_mem(call->out[0].mem)};
    return over_pixels(p, "watershed_start", more, 9) &&
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
                           dev_int(call->watershed.image.pitch),
                           dev_uint(p->across),
                           dev_uint(p->down),
                           dev_uint(p->deep),
                           dev_mem(call->watershed.image.mem),
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
    const DevArg more[] = {dev_mem(call->watershed.image.mem), dev_mem(call->scratch), dev_mem(call->out[0].mem),
                           dev_mem(call->scratch), dev_ulong(report)};
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
        TRY(dev_read(call->dev, call->scratch, (p->reports + (size_t)n - 1) * word, &report, word, call->err));
        *done = report == 0;
        all += n;
    }
    return true;
}

/* ---- turns ----------------------------------------------------------------------------- */

/* The highest rank of markers on whose order a label hangs; 0: there are none. */
static bool doubt(const Paths *p, uint32_t *highest)
{
    const PrimCall *call = p->call;
    const size_t word = sizeof(uint32_t);
    const DevArg more[] = {MARKERS(call),          dev_mem(call->watershed.image.mem),
                           dev_mem(call->scratch), dev_mem(call->out[0].mem),
                           dev_mem(call->scratch), dev_ulong(p->reports)};
    return dev_fill(call->dev, call->scratch, p->reports * word, word, 0, call->err) &&
           over_pixels(p, "watershed_doubt", more, 8) &&
           dev_read(call->dev, call->scratch, p->reports * word, highest, word, call->err);
}

/* Gives the markers at these numbers their turns from `first` on.  The list goes through the flags,
 * which nobody needs any more. */
static bool put_turns(const Paths *p, const uint32_t *numbers, size_t n, size_t first)
{
    const PrimCall *call = p->call;
    const size_t word = sizeof *numbers, room = 2 * p->tiles;
    for (size_t from = 0; from < n; from += room) {
        size_t some = n - from < room ? n - from : room;
        const DevArg args[] = {dev_mem(call->scratch), dev_mem(call->scratch), dev_ulong(p->flags[0]), dev_uint(some),
                               dev_uint(first + from)};
        const VisitLaunch launch = {.program = p->program,
                                    .kernel = "watershed_turns",
                                    .groups = lanes_divided_up(some, TURNS_GROUP),
                                    .group = TURNS_GROUP,
                                    .args = args,
                                    .n_args = 5};
        TRY(dev_write(call->dev, call->scratch, p->flags[0] * word, numbers + from, some * word, call->err) &&
            visit_launch(call, &launch));
    }
    return true;
}

/* A cell's place among the keys. */
static uint32_t number_of(const WatershedQueue *q, uint32_t cell, size_t plane)
{
    const PrimCall *call = q->call;
    size_t x = cell % q->wide - 1, row = cell / q->wide, y = row % q->tall - 1;
    size_t z = row / q->tall - (q->deep > 1);
    return (uint32_t)(((plane + z) * (size_t)call->h + y) * (size_t)call->out[0].pitch + x);
}

/* Asks the queue for the turns of markers, one volume after the other. */
static bool ask_queue(const Paths *p, WatershedQueue *q, HostPlane *plane, uint32_t highest)
{
    size_t depth = (size_t)p->call->d, planes = (size_t)p->call->planes, turns = 0;
    for (size_t first = 0; first < planes; first += depth) {
        for (size_t z = 0; z < depth; z++) {
            TRY(watershed_queue_load(q, plane, first + z, 0, z));
        }
        TRY(watershed_queue_turns(q, highest));
        for (size_t i = 0; i < q->n_turns; i++) {
            q->turns[i] = number_of(q, q->turns[i], first);
        }
        TRY(put_turns(p, q->turns, q->n_turns, turns));
        turns += q->n_turns;
    }
    return true;
}

static bool take_turns(const Paths *p, uint32_t highest)
{
    const PrimCall *call = p->call;
    WatershedQueue q;
    HostPlane plane = {0};
    TRY(watershed_queue_open(&q, call));
    q.at = watershed_queue_cells(&q);
    bool ok =
        (q.at != NULL || host_no_memory(call)) && host_plane_open(&plane, call) && ask_queue(p, &q, &plane, highest);
    free(q.at);
    host_plane_close(&plane);
    watershed_queue_close(&q);
    return ok;
}

/* Links once more, where the heap's order of equal markers counts. */
static bool settle_ties(const Paths *p, bool *done)
{
    uint32_t highest = 0;
    TRY(doubt(p, &highest));
    return highest == 0 || (take_turns(p, highest) && repeat(p, link_up, done));
}

/* ---- result ---------------------------------------------------------------------------- */

static bool label(const Paths *p)
{
    const PrimCall *call = p->call;
    const size_t word = sizeof(uint32_t);
    const DevArg more[] = {MARKERS(call), dev_mem(call->out[0].mem), dev_mem(call->scratch), dev_ulong(p->most)};
    uint32_t largest = 0;
    TRY(dev_fill(call->dev, call->scratch, p->most * word, word, 0, call->err));
    TRY(over_pixels(p, "watershed_label", more, 6));
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
    TRY(!*flooded || call->watershed.raster != 0 || settle_ties(&p, flooded));
    return !*flooded || label(&p);
}
