/* devices: what pipelines can run on here, and when there is nothing, what to do about it. */
#include "driver.h"

#include "../runtime/cl.h"

#include <stdio.h>
#include <stdlib.h>

int cmd_devices(int argc, char **argv)
{
    (void)argv;
    if (argc > 1) {
        return usage_error("pipec devices takes no arguments");
    }
    DeviceInfo *list = NULL;
    int n = 0;
    char why[1000];
    Err err = {0};
    if (!dev_list(&list, &n, why, sizeof why, &err)) {
        return complain(&err);
    }
    if (n == 0) {
        fprintf(stderr, "pipec: %s\n", why);
        return CODE_DEVICE;
    }
    for (int i = 0; i < n; i++) {
        const DeviceInfo *d = &list[i];
        printf("#%d  %s\n    %s, driver %s, %s; %d units, %.1f GiB, largest buffer %.1f GiB, local "
               "memory %llu KiB%s\n",
               d->number, d->name, d->platform, d->driver, d->cpu ? "CPU" : "GPU", d->units,
               (double)d->memory / 1073741824.0, (double)d->max_alloc / 1073741824.0,
               (unsigned long long)(d->local / 1024), d->fp64 ? "" : ", no double precision");
    }
    free(list);
    return CODE_OK;
}
