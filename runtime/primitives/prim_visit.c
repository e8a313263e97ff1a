/*
 * prim_visit: texts, tiles and launches of the primitives that walk over computed pixels.
 *
 * Tiles and the modes of visiting them are as kernels/visit.cl says.  Groups are persistent: enough
 * of them to fill the device, each takes every n-th tile, so that what a group keeps in local memory
 * is written out once.
 */
#include "prim_visit.h"

#include "prim_program.h"

#include <assert.h>
#include <stdio.h>

enum {
    GPU_GROUP = 256,
    BATCH = 16, /* as in kernels/visit.cl */
    CPU_TILE = 1024,
    GROUPS_A_UNIT = 24, /* a multiple of the 3, 4, 6 or 8 groups that are there at a time */
    LIGHT_GROUPS_A_UNIT = 4,
    CPU_GROUPS_A_UNIT = 4,
    FEW_TWICE = 16, /* one pixel of so many */
    MAX_ARGS = 192,
    MOST_DEFINES = 700 /* characters */
};

/* As in kernels/visit.cl. */
enum { DOWN, ALONG, SINGLE };

bool visit_is_cpu(const PrimCall *call)
{
    const DeviceInfo *info = dev_info(call->dev);
    if (info->max_group < GPU_GROUP) {
        return true;
    }
    return call->shape == SHAPE_BY_DEVICE ? info->cpu : call->shape == SHAPE_CPU;
}

size_t visit_group(const PrimCall *call)
{
    return visit_is_cpu(call) ? 1 : GPU_GROUP;
}

/* Rows are walked along where the batches that are moved inside take few pixels twice. */
static int mode_of(const PrimCall *call)
{
    if (visit_is_cpu(call)) {
        return call->w >= BATCH ? ALONG : SINGLE;
    }
    int row = BATCH * GPU_GROUP, twice = (row - call->w % row) % row;
    bool wide = call->w >= row;
    return wide && (twice <= call->w / FEW_TWICE || call->h < BATCH) ? ALONG : call->h >= BATCH ? DOWN : SINGLE;
}

uint32_t visit_tiles(const PrimCall *call)
{
    bool cpu = visit_is_cpu(call), along = mode_of(call) == ALONG;
    int64_t width = cpu ? CPU_TILE : along ? BATCH * GPU_GROUP : GPU_GROUP;
    int64_t height = cpu || along ? 1 : BATCH;
    int64_t across = (call->w + width - 1) / width, down = (call->h + height - 1) / height;
    return (uint32_t)(across * down * call->planes);
}

size_t visit_groups(const PrimCall *call, bool light)
{
    int each = visit_is_cpu(call) ? CPU_GROUPS_A_UNIT : light ? LIGHT_GROUPS_A_UNIT : GROUPS_A_UNIT;
    int units = dev_info(call->dev)->units;
    size_t groups = (size_t)(units > 0 ? units : 1) * (size_t)each;
    size_t tiles = visit_tiles(call);
    return groups < tiles ? groups : tiles;
}

bool visit_check_count(const PrimCall *call)
{
    double pixels = (double)call->w * call->h * call->planes;
    if (pixels > UINT32_MAX) {
        return err_set(call->err, CODE_MEMORY,
                       "%s: %d x %d x %d pixels are more than the %u that it can count; cut the "
                       "image into parts",
                       call->name, call->w, call->h, call->planes, UINT32_MAX);
    }
    return true;
}

bool visit_bare_program(const PrimCall *call, const char *defines, const char *const *texts, DevProgram **program)
{
    char all[MOST_DEFINES];
    int length = snprintf(all, sizeof all, "#pragma OPENCL FP_CONTRACT OFF\n#define VISIT_CPU_SHAPE %d\n%s",
                          visit_is_cpu(call), defines);
    assert(length < MOST_DEFINES);
    (void)length;
    return prim_program(call, all, texts, program);
}

bool visit_program(const PrimCall *call, const char *defines, const char *const *texts, DevProgram **program)
{
    enum { MOST_TEXTS = 8 };
    assert(call->reader != NULL);
    char all[MOST_DEFINES];
    int length = snprintf(all, sizeof all, "#define VISIT_MODE %d\n#define VISIT_HIGH %d\n%s", mode_of(call),
                          call->h >= BATCH, defines);
    assert(length < MOST_DEFINES);
    (void)length;
    const char *with_reader[MOST_TEXTS] = {call->reader};
    for (int i = 0; texts[i] != NULL; i++) {
        assert(i + 2 < MOST_TEXTS);
        with_reader[i + 1] = texts[i];
    }
    return visit_bare_program(call, all, with_reader, program);
}

bool visit_launch(const PrimCall *call, const VisitLaunch *launch)
{
    assert(launch->program != NULL && (!launch->reads || call->reader != NULL));
    DevKernel *kernel = NULL;
    TRY(dev_kernel(launch->program, launch->kernel, &kernel, call->err));
    DevArg args[MAX_ARGS];
    int n = 0;
    if (launch->reads) {
        if (call->n_reader_args + launch->n_args > MAX_ARGS) {
            return err_set(call->err, CODE_USAGE, "%s reads from more than %d places at once", call->name,
                           MAX_ARGS - launch->n_args);
        }
        for (int i = 0; i < call->n_reader_args; i++) {
            args[n++] = call->reader_args[i];
        }
    }
    for (int i = 0; i < launch->n_args; i++) {
        args[n++] = launch->args[i];
    }
    const size_t groups[3] = {launch->groups, 1, 1}, group[3] = {launch->group, 1, 1};
    return dev_launch(call->dev, kernel, args, n, groups, group, call->name, call->err);
}
