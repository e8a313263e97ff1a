/*
 * prim_propagate: tiles, their colours, and rounds until no tile has flagged another one.
 *
 * A round is a launch for each colour.  After a few rounds the host reads whether the last one has
 * flagged any tile; the more rounds there have been, the more are sent off before it looks again.
 */
#include "prim_propagate.h"

#include <assert.h>
#include <stdio.h>

enum { FIRST_ROUNDS = 1, MOST_ROUNDS = 16, STRIP = 4 /* PROPAGATE_STRIP */ };

extern const char kernel_text_propagate[];

static PropagateTiles cut(const PrimCall *call, int x, int y, int z)
{
    PropagateTiles t = {.x = x, .y = y, .z = z};
    t.across = lanes_divided_up((size_t)call->w, (size_t)x);
    t.down = lanes_divided_up((size_t)call->h, (size_t)y);
    t.deep = lanes_divided_up((size_t)call->d, (size_t)z);
    t.all = t.across * t.down * t.deep * (size_t)(call->planes / call->d);
    return t;
}

static PropagateTiles gpu_tiles(const PrimCall *call)
{
    return call->d > 1 ? cut(call, 16, 8, 8) : cut(call, 32, 32, 1);
}

static PropagateTiles cpu_tiles(const PrimCall *call)
{
    return call->d > 1 ? cut(call, 16, 16, 8) : cut(call, 64, 32, 1);
}

/* A word of flag for each tile, and one of report for each round. */
size_t propagate_words(const PrimCall *call)
{
    size_t gpu = gpu_tiles(call).all, cpu = cpu_tiles(call).all;
    return (gpu > cpu ? gpu : cpu) + MOST_ROUNDS;
}

PropagateTiles propagate_tiles(const PrimCall *call)
{
    return visit_is_cpu(call) ? cpu_tiles(call) : gpu_tiles(call);
}

bool propagate_program(const PrimCall *call, const char *defines, const char *text, int connectivity,
                       DevProgram **program)
{
    PropagateTiles t = propagate_tiles(call);
    char own[400];
    int length = snprintf(own, sizeof own,
                          "%s#define PROPAGATE_CPU %d\n#define PROPAGATE_3D %d\n"
                          "#define PROPAGATE_CONNECTIVITY %d\n#define PROPAGATE_X %d\n"
                          "#define PROPAGATE_Y %d\n#define PROPAGATE_Z %d\n",
                          defines, visit_is_cpu(call), call->d > 1, connectivity, t.x, t.y, t.z);
    assert(length < (int)sizeof own);
    (void)length;
    const char *const texts[] = {kernel_text_lanes, text, kernel_text_propagate, NULL};
    return visit_bare_program(call, own, texts, program);
}

typedef struct Rising {
    const PrimCall *call;
    DevProgram *program;
    const PrimImage *image;
    int how;
    PropagateTiles t;
    size_t flags, reports; /* words of scratch */
} Rising;

static bool launch_colour(const Rising *r, unsigned colour, size_t report)
{
    const PrimCall *call = r->call;
    const PropagateTiles *t = &r->t;
    size_t nx = (t->across + 1 - (colour & 1)) / 2, ny = (t->down + 1 - (colour >> 1 & 1)) / 2;
    size_t nz = (t->deep + 1 - (colour >> 2)) / 2, channels = (size_t)(call->planes / call->d);
    const DevArg args[] = {dev_int(call->w),          dev_int(call->h),
                           dev_int(call->d),          dev_int(call->out[0].pitch),
                           dev_int(r->image->pitch),  dev_uint(t->across),
                           dev_uint(t->down),         dev_uint(t->deep),
                           dev_uint(colour),          dev_int(r->how),
                           dev_mem(call->out[0].mem), dev_mem(r->image->mem),
                           dev_ulong(r->flags),       dev_ulong(report),
                           dev_mem(call->scratch)};
    size_t pixels = (size_t)t->x * (size_t)t->y * (size_t)t->z;
    return visit_launch(call, &(VisitLaunch){.program = r->program,
                                             .kernel = "propagate_tiles",
                                             .groups = nx * ny * nz * channels,
                                             .group = visit_is_cpu(call) ? 1 : pixels / STRIP,
                                             .args = args,
                                             .n_args = 15});
}

/* Some rounds; *going tells whether the last of them has left anything to do. */
static bool rounds(const Rising *r, int n, bool *going)
{
    const PrimCall *call = r->call;
    size_t word = sizeof(uint32_t), last = r->reports + (size_t)n - 1;
    TRY(dev_fill(call->dev, call->scratch, r->reports * word, (size_t)n * word, 0, call->err));
    for (int i = 0; i < n; i++) {
        for (unsigned colour = 0; colour < (call->d > 1 ? 8 : 4); colour++) {
            TRY(launch_colour(r, colour, r->reports + (size_t)i));
        }
    }
    uint32_t report = 0;
    TRY(dev_read(call->dev, call->scratch, last * word, &report, word, call->err));
    *going = report != 0;
    return true;
}

bool propagate_flag_all(const PrimCall *call, size_t at, bool flag)
{
    size_t word = sizeof(uint32_t), n = propagate_tiles(call).all;
    return dev_fill(call->dev, call->scratch, at * word, n * word, flag, call->err);
}

bool propagate_run(const PrimCall *call, DevProgram *program, const PrimImage *image, int how, size_t at)
{
    Rising r = {call, program, image, how, propagate_tiles(call), at, 0};
    r.reports = at + r.t.all;
    bool going = true;
    for (int n = FIRST_ROUNDS; going; n = n < MOST_ROUNDS ? 2 * n : n) {
        TRY(rounds(&r, n, &going));
    }
    return true;
}
