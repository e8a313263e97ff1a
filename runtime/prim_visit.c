/*
 * prim_visit: texts, tiles and launches of the primitives that walk over computed pixels.
 *
 * Tiles and the modes of visiting them are as kernels/visit.cl says.  Groups are persistent: enough
 * of them to fill the device, each takes every n-th tile, so that what a group keeps in local memory
 * is written out once.
 */
#include "prim_visit.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    GPU_GROUP = 256,
    BATCH = 16, /* as in kernels/visit.cl */
    CPU_TILE = 1024,
    GROUPS_A_UNIT = 24, /* a multiple of the 3, 4, 6 or 8 groups that are there at a time */
    LIGHT_GROUPS_A_UNIT = 4,
    CPU_GROUPS_A_UNIT = 4,
    MAX_ARGS = 96
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

static int mode_of(const PrimCall *call)
{
    if (visit_is_cpu(call)) {
        return call->w >= BATCH ? ALONG : SINGLE;
    }
    return call->h >= BATCH ? DOWN : call->w >= BATCH * GPU_GROUP ? ALONG : SINGLE;
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

bool visit_program(const PrimCall *call, const char *defines, const char *const *texts,
                   DevProgram **program)
{
    enum { MOST_PARTS = 8 };
    assert(call->reader != NULL);
    char shape[64];
    snprintf(shape, sizeof shape, "#define VISIT_CPU_SHAPE %d\n#define VISIT_MODE %d\n",
             visit_is_cpu(call), mode_of(call));
    const char *parts[MOST_PARTS] = {"#pragma OPENCL FP_CONTRACT OFF\n", shape, defines,
                                     call->reader};
    int n = 4;
    for (int i = 0; texts[i] != NULL; i++) {
        assert(n < MOST_PARTS);
        parts[n++] = texts[i];
    }
    size_t length = 1;
    for (int i = 0; i < n; i++) {
        length += strlen(parts[i]) + 1;
    }
    char *source = malloc(length);
    if (source == NULL) {
        return err_set(call->err, CODE_MEMORY, "%s: no memory for the kernel's text", call->name);
    }
    char *end = source;
    for (int i = 0; i < n; i++) {
        end += sprintf(end, "%s\n", parts[i]);
    }
    bool ok = dev_program(call->dev, call->name, source, "", program, call->err);
    free(source);
    return ok;
}

bool visit_launch(const PrimCall *call, const VisitLaunch *launch)
{
    DevKernel *kernel = NULL;
    TRY(dev_kernel(launch->program, launch->kernel, &kernel, call->err));
    DevArg args[MAX_ARGS];
    int n = 0;
    if (launch->reads) {
        if (call->n_reader_args + launch->n_args > MAX_ARGS) {
            return err_set(call->err, CODE_USAGE, "%s reads from more than %d places at once",
                           call->name, MAX_ARGS - launch->n_args);
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
