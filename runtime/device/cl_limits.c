/*
 * cl_limits: PoCL ends the process where other drivers return an error (too much local memory,
 * memory that is not there), and every driver notices a lack of memory late.  These checks come
 * first, and can say what the user may change.
 */
#include "cl_limits.h"

#include "cl_codes.h"

#include <inttypes.h>

/* A part that is left to the driver: asked for its last bytes, NVIDIA's waits for a minute and
 * then loses the device. */
enum { RESERVE = 32 };

uint64_t cl_limits_all(const DeviceInfo *info, uint64_t limit)
{
    uint64_t own = info->memory - info->memory / RESERVE;
    return limit && limit < own ? limit : own;
}

bool cl_limits_memory(const DeviceInfo *info, uint64_t limit, uint64_t held, uint64_t bytes, Err *err)
{
    char need[32], have[32], most[32];
    uint64_t all = cl_limits_all(info, limit);
    bool limited = limit && all == limit;
    cl_size_text(need, bytes);
    cl_size_text(have, held);
    cl_size_text(most, all);
    if (bytes > all || held > all - bytes) {
        return err_set(err, CODE_MEMORY, "%s of device memory are needed beside %s in use, but %s '%s' %s %s%s", need,
                       have, limited ? "the limit for" : "the device", info->name, limited ? "is" : "offers", most,
                       limited ? " (--memory)" : "");
    }
    if (bytes > info->max_alloc) {
        cl_size_text(most, info->max_alloc);
        return err_set(err, CODE_MEMORY,
                       "%s of device memory are needed in one piece, but the device '%s' gives at "
                       "most %s",
                       need, info->name, most);
    }
    return true;
}

bool cl_limits_launch(const DeviceInfo *info, const ClLaunch *launch, Err *err)
{
    const char *kernel = launch->kernel, *what = launch->what;
    if (launch->takes != launch->given) {
        return err_set(err, CODE_DEVICE, "kernel '%s' of '%s' takes %d arguments, but is given %d", kernel, what,
                       launch->takes, launch->given);
    }
    if (launch->local > info->local) {
        return err_set(err, CODE_DEVICE,
                       "kernel '%s' of '%s' needs %" PRIu64 " bytes of local memory, but the "
                       "device '%s' has %" PRIu64,
                       kernel, what, launch->local, info->name, info->local);
    }
    if (launch->items > launch->most_items) {
        return err_set(err, CODE_DEVICE,
                       "kernel '%s' of '%s' runs in groups of at most %zu on the device '%s', not "
                       "%zu",
                       kernel, what, launch->most_items, info->name, launch->items);
    }
    return true;
}
