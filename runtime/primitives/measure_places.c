/*
 * measure_places: sizes, shares and places of objects, all on the device
 * (kernels/measure_places.cl); the host learns how far a share reaches.
 */
#include "measuring.h"
#include "prim_program.h"

#include <stdio.h>

enum { GROUP = 256 };

extern const char kernel_text_scan[], kernel_text_measure_places[];

bool measuring_places_program(const Measuring *m, DevProgram **program)
{
    static const char *const texts[] = {kernel_text_scan, kernel_text_measure_places, NULL};
    char defines[200];
    (void)snprintf(defines, sizeof defines,
                   "#define SCAN_GROUP %d\n#define SCAN_NUMBER ulong\n#define PLACES_ROWS %d\n"
                   "#define PLACES_PIXELS %d\n#define PLACES_WORDS %d\n",
                   GROUP, MEASURE_ROWS, MEASURE_PIXELS, MEASURE_WORDS);
    return prim_program(m->call, defines, texts, program);
}

/* groups 0: one work-item. */
static bool launch(const Measuring *m, const char *kernel, size_t groups, const DevArg *args,
                   int n_args)
{
    DevProgram *program = NULL;
    TRY(measuring_places_program(m, &program));
    return measuring_launch(m, &(MeasuringLaunch){.program = program,
                                                  .kernel = kernel,
                                                  .groups = {groups > 0 ? groups : 1, 1, 1},
                                                  .group = groups > 0 ? GROUP : 1,
                                                  .args = args,
                                                  .n_args = n_args});
}

bool measuring_find_sizes(Measuring *m, MeasureSizes of)
{
    PrimCall *call = m->call;
    size_t groups = (size_t)m->n / GROUP + 1;
    bool stand = m->standing != NULL;
    TRY(!stand || dev_write(call->dev, m->stands, 0, m->standing, m->n, call->err));
    const DevArg args[] = {dev_int(of),
                           dev_int(m->frame.dims),
                           dev_uint(m->n),
                           dev_mem(m->table),
                           dev_mem(m->lows),
                           dev_mem(stand ? m->stands : m->lows),
                           dev_uint(stand ? m->wanted : 0),
                           dev_mem(m->place),
                           dev_mem(m->sizes)};
    const DevArg scan[] = {dev_mem(m->place), dev_ulong(0), dev_uint(groups + 1), dev_mem(NULL),
                           dev_int(-1)};
    TRY(launch(m, "places_groups", groups + 1, args, 8));
    TRY(launch(m, "scan_sums", 1, scan, 5));
    return launch(m, "places_before", groups, args, 9);
}

bool measuring_take_share(Measuring *m, uint64_t capacity, MeasureShare *share)
{
    PrimCall *call = m->call;
    uint64_t found[3];
    share->from = share->to;
    share->size = 0;
    if (share->from == m->n) {
        return true;
    }
    const DevArg args[] = {dev_uint(m->n), dev_uint(share->from), dev_ulong(capacity),
                           dev_mem(m->sizes), dev_mem(m->place)};
    TRY(launch(m, "places_share", 0, args, 5));
    TRY(dev_read(call->dev, m->place, 0, found, sizeof found, call->err));
    share->from = (uint32_t)found[0];
    share->to = (uint32_t)found[1];
    share->size = found[2];
    return true;
}

bool measuring_place_rows(Measuring *m, const MeasureShare *share)
{
    const DevArg args[] = {dev_uint(m->n),    dev_uint(share->from), dev_uint(share->to),
                           dev_mem(m->sizes), dev_mem(m->place),     dev_mem(m->heights)};
    return launch(m, "places_of_rows", ((size_t)m->n + GROUP - 1) / GROUP, args, 6);
}

bool measuring_place(Measuring *m, const MeasureShare *share)
{
    const DevArg args[] = {dev_uint(m->n), dev_uint(share->from), dev_uint(share->to),
                           dev_mem(m->sizes), dev_mem(m->place)};
    return launch(m, "places_of_any", ((size_t)m->n + GROUP - 1) / GROUP, args, 5);
}
