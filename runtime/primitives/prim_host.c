/* prim_host: planes of images as the host's primitives want them: dense, and of one type. */
#include "prim_host.h"

#include "../host/convert.h"

#include <stdlib.h>
#include <string.h>

bool host_no_memory(const PrimCall *call)
{
    return err_set(call->err, CODE_MEMORY, "%s: not enough memory for %d x %d x %d pixels on the host", call->name,
                   call->w, call->h, call->planes);
}

bool host_stopped(const PrimCall *call)
{
    return call->stop != NULL && call->stop(call->stop_context) && !err_set(call->err, CODE_INTERRUPTED, "interrupted");
}

bool host_plane_open(HostPlane *plane, const PrimCall *call)
{
    size_t bytes = (size_t)call->w * (size_t)call->h * sizeof(double);
    *plane = (HostPlane){call, malloc(bytes), malloc(bytes)};
    return (plane->raw && plane->pixels) || host_no_memory(call);
}

void host_plane_close(HostPlane *plane)
{
    free(plane->raw);
    free(plane->pixels);
    plane->raw = plane->pixels = NULL;
}

bool host_fetch(HostPlane *plane, const PrimImage *image, size_t z, Elem to)
{
    const PrimCall *call = plane->call;
    size_t size = elem_size(image->elem), row = (size_t)image->w * size, bad = 0;
    size_t pitch = (size_t)image->pitch * size, rows = (size_t)image->h;
    size_t first = image->before + z * rows;
    bool same = image->elem == to;
    TRY(dev_read_rows(call->dev, image->mem, first * pitch, pitch, same ? plane->pixels : plane->raw, row, row, rows,
                      call->err));
    if (!same && !convert_row(image->elem, plane->raw, to, plane->pixels, (size_t)image->w * rows, &bad)) {
        return err_set(call->err, CODE_USAGE, "%s: a pixel is %g, which is no %s", call->name,
                       convert_get(image->elem, plane->raw, bad), elem_name(to));
    }
    return true;
}

bool host_store(const PrimCall *call, const PrimImage *image, size_t z, const void *pixels, size_t pitch)
{
    size_t size = elem_size(image->elem), row = (size_t)image->w * size;
    size_t device_pitch = (size_t)image->pitch * size, rows = (size_t)image->h;
    return dev_write_rows(call->dev, image->mem, z * rows * device_pitch, device_pitch, pixels, pitch * size, row, rows,
                          call->err);
}

bool host_value(const PrimCall *call, double value)
{
    return call->value < 0 ||
           dev_write(call->dev, call->values, (size_t)call->value * sizeof value, &value, sizeof value, call->err);
}

bool host_is_huge(const PrimCall *call)
{
    const PrimPart *part = &call->part;
    return part->cut && (double)call->w * part->h * part->d * part->channels > UINT32_MAX;
}

/* Totals as the device has counts. */
static bool put_totals(const PrimCall *call, const uint64_t *totals, uint32_t *words, size_t n, bool wide)
{
    uint32_t any = 0;
    for (size_t i = 0; i < n; i++) {
        bool fits = totals[i] <= UINT32_MAX;
        words[i] = fits || wide ? (uint32_t)totals[i] : UINT32_MAX;
        if (wide) {
            any |= words[n + i] = (uint32_t)(totals[i] >> 32);
            words[2 * n] = any;
        } else if (!fits && i > 0) {
            return err_set(call->err, CODE_MEMORY, "%s: more than %u pixels count as one", call->name, UINT32_MAX);
        }
    }
    return true;
}

bool host_add_counts(PrimCall *call, DevMem *memory, size_t n, bool wide)
{
    uint64_t *totals = *call->state = *call->state ? *call->state : calloc(n, sizeof *totals);
    uint32_t *counts = malloc((2 * n + 1) * sizeof *counts);
    size_t bytes = n * sizeof *counts;
    bool ok = (totals && counts) || host_no_memory(call);
    if (ok && call->part.first) {
        memset(totals, 0, n * sizeof *totals);
    }
    ok = ok && dev_read(call->dev, memory, 0, counts, bytes, call->err);
    for (size_t i = 0; ok && i < n; i++) {
        totals[i] += counts[i];
    }
    ok = ok && (!call->part.last ||
                (put_totals(call, totals, counts, n, wide) &&
                 dev_write(call->dev, memory, 0, counts, wide ? 2 * bytes + sizeof *counts : bytes, call->err)));
    free(counts);
    return ok;
}
