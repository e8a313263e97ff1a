/* devices: what pipelines can run on here, and when there is nothing, what to do about it. */
#include "driver.h"

#include "../runtime/device/cl.h"
#include "../runtime/device/probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_device(const DeviceInfo *d)
{
    DeviceFigures figures;
    printf("#%d  %s\n    %s, driver %s, %s; %d units, %.1f GiB, largest buffer %.1f GiB, local "
           "memory %llu KiB%s\n",
           d->number, d->name, d->platform, d->driver, d->cpu ? "CPU" : "GPU", d->units,
           (double)d->memory / 1073741824.0, (double)d->max_alloc / 1073741824.0, (unsigned long long)(d->local / 1024),
           d->fp64 ? "" : ", doubles in whole numbers");
    if (figures_measured(d->name, &figures)) {
        printf("    measured: a copy moves %.4g GB/s, local memory %.4g GB/s, %.4g Gop/s, a launch takes %.3g us\n",
               figures.copy_gb, figures.local_gb, figures.giga_ops, figures.launch_us);
    }
}

/* Measures a device and keeps what it came to. */
static bool measure(const DeviceInfo *d, Err *err)
{
    char number[16];
    Probe probe;
    double launch = 0;
    Device *dev = NULL;
    snprintf(number, sizeof number, "#%d", d->number);
    DevOptions options = {.choice = number, .profile = true};
    TRY(dev_open(&options, &dev, err));
    bool ok = probe_device(dev, &probe, err);
    dev_close(dev);
    options.profile = false;
    TRY(ok && dev_open(&options, &dev, err));
    ok = probe_launch(dev, &launch, err);
    dev_close(dev);
    DeviceFigures figures = {.copy_gb = probe.copy_gb,
                             .giga_ops = probe.giga_ops,
                             .local_gb = probe.local_gb,
                             .launch_us = launch};
    snprintf(figures.name, sizeof figures.name, "%s", d->name);
    Arena arena;
    driver_arena(&arena);
    ok = ok && figures_store(&figures, &arena, err);
    arena_free(&arena);
    return ok;
}

int cmd_devices(int argc, char **argv)
{
    bool probe = argc == 2 && strcmp(argv[1], "--probe") == 0;
    if (argc > 1 && !probe) {
        return usage_error("pipec devices takes --probe or nothing");
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
    int code = CODE_OK;
    for (int i = 0; i < n; i++) {
        if (probe && !measure(&list[i], &err)) {
            code = complain(&err);
            err_clear(&err);
        }
        print_device(&list[i]);
    }
    free(list);
    return code;
}
