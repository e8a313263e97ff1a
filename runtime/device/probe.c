/*
 * probe: the best of a few copies of a buffer larger than caches, and the best of a few runs of a kernel
 * that does nothing but multiply and add, in separate operations and several pixels a work-item, as
 * generated kernels do.
 */
#include "probe.h"

#include <stdio.h>

enum { ROUNDS = 7, WIDE = 64, STEPS = 2048, GROUP = 64, GROUPS_A_UNIT = 64 };

static const char TEXT[] =
    "#pragma OPENCL FP_CONTRACT OFF\n"
    "kernel void probe(global float *out, float a, float b)\n"
    "{\n"
    "    float16 p = (float)(int)get_global_id(0), q = p + a, r = q + a, s = r + a;\n"
    "    for (int k = 0; k < STEPS; k++) {\n"
    "        p = p * a + b;\n"
    "        q = q * a + b;\n"
    "        r = r * a + b;\n"
    "        s = s * a + b;\n"
    "    }\n"
    "    p += q + r + s;\n"
    "    float8 w = p.lo + p.hi;\n"
    "    float4 x = w.lo + w.hi;\n"
    "    out[get_global_id(0)] = x.x + x.y + x.z + x.w;\n"
    "}\n";

/* Forgets what the device did before; then: the seconds of what it has done since. */
static bool seconds(Device *dev, double *took, Err *err)
{
    const DevEvent *events;
    int n;
    TRY(dev_finish(dev, err));
    TRY(dev_events(dev, &events, &n, err));
    *took = n > 0 ? (double)(events[n - 1].end_ns - events[0].begin_ns) * 1e-9 : 0;
    return true;
}

static bool copies(Device *dev, DevMem *from, DevMem *to, size_t bytes, double *best, Err *err)
{
    double took;
    for (int i = 0; i < ROUNDS; i++) {
        TRY(seconds(dev, &took, err));
        TRY(dev_copy(dev, from, 0, to, 0, bytes, err));
        TRY(seconds(dev, &took, err));
        *best = took > 0 && took < *best ? took : *best;
    }
    return true;
}

static bool operations(Device *dev, DevMem *out, size_t groups, double *best, Err *err)
{
    char text[sizeof TEXT + 80];
    DevProgram *program;
    DevKernel *kernel;
    double took;
    snprintf(text, sizeof text, "#define STEPS %d\n%s", STEPS, TEXT);
    TRY(dev_program(dev, "probe", text, "", &program, err));
    TRY(dev_kernel(program, "probe", &kernel, err));
    const DevArg args[] = {dev_mem(out), dev_float(0.9999f), dev_float(0.5f)};
    const size_t all[3] = {groups, 1, 1}, group[3] = {GROUP, 1, 1};
    for (int i = 0; i < ROUNDS; i++) {
        TRY(seconds(dev, &took, err));
        TRY(dev_launch(dev, kernel, args, 3, all, group, "probe", err));
        TRY(seconds(dev, &took, err));
        *best = took > 0 && took < *best ? took : *best;
    }
    return true;
}

bool probe_device(Device *dev, double *copy_gb, double *giga_ops, Err *err)
{
    const DeviceInfo *info = dev_info(dev);
    size_t bytes = (size_t)(info->cpu ? 64 : 512) << 20;
    size_t groups = (size_t)(info->units > 0 ? info->units : 1) * GROUPS_A_UNIT;
    double copy = 1e9, work = 1e9;
    DevMem *from = NULL, *to = NULL;
    bool ok = dev_alloc(dev, bytes, &from, err) && dev_alloc(dev, bytes, &to, err) &&
              copies(dev, from, to, bytes, &copy, err) && operations(dev, to, groups, &work, err);
    dev_free(dev, from);
    dev_free(dev, to);
    *copy_gb = 2e-9 * (double)bytes / copy;
    *giga_ops = 2e-9 * (double)groups * GROUP * WIDE * STEPS / work;
    return ok;
}
