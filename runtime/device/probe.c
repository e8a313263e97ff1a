/*
 * probe: the best of a few copies of a buffer larger than caches; the best of a few runs of a kernel that does
 * nothing but multiply and add, in separate operations and several pixels a work-item, as generated kernels
 * do, and of one that does nothing but read local memory; and of many launches in a row of one that does
 * nothing at all.
 */
#include "probe.h"

#include "../host/stopwatch.h"

#include <stdio.h>

enum {
    ROUNDS = 7,
    WIDE = 64,
    STEPS = 2048,
    GROUP = 64,
    GROUPS_A_UNIT = 64,
    READS = 8, /* of 16 bytes each, a step */
    LAUNCHES = 200
};

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
    "}\n"
    "kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void probe_local(global float *out)\n"
    "{\n"
    "    local float4 tile[4 * GROUP];\n"
    "    const int item = (int)get_local_id(0);\n"
    "    for (int k = item; k < 4 * GROUP; k += GROUP) {\n"
    "        tile[k] = (float4)(k);\n"
    "    }\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    float4 sum = (float4)(0);\n"
    "    for (int k = 0; k < STEPS; k++) {\n"
    "#pragma unroll\n"
    "        for (int i = 0; i < READS; i++) {\n"
    "            sum += tile[(item + k + i * 4 * GROUP / READS) & (4 * GROUP - 1)];\n"
    "        }\n"
    "    }\n"
    "    out[get_global_id(0)] = sum.x + sum.y + sum.z + sum.w;\n"
    "}\n"
    "kernel void probe_nothing(global float *out)\n"
    "{\n"
    "    if (get_global_id(0) == 0) {\n"
    "        out[0] = 0;\n"
    "    }\n"
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

static bool find_kernel(Device *dev, const char *name, DevKernel **kernel, Err *err)
{
    char text[sizeof TEXT + 120];
    DevProgram *program;
    snprintf(text, sizeof text, "#define STEPS %d\n#define GROUP %d\n#define READS %d\n%s", STEPS, GROUP, READS, TEXT);
    return dev_program(dev, "probe", text, "", &program, err) && dev_kernel(program, name, kernel, err);
}

static bool launch(Device *dev, DevKernel *kernel, DevMem *out, int n_args, size_t groups, Err *err)
{
    const DevArg args[] = {dev_mem(out), dev_float(0.9999f), dev_float(0.5f)};
    const size_t all[3] = {groups, 1, 1}, group[3] = {GROUP, 1, 1};
    return dev_launch(dev, kernel, args, n_args, all, group, "probe", err);
}

static bool runs(Device *dev, DevMem *out, const char *name, int n_args, size_t groups, double *best, Err *err)
{
    DevKernel *kernel;
    double took;
    TRY(find_kernel(dev, name, &kernel, err));
    for (int i = 0; i < ROUNDS; i++) {
        TRY(seconds(dev, &took, err));
        TRY(launch(dev, kernel, out, n_args, groups, err));
        TRY(seconds(dev, &took, err));
        *best = took > 0 && took < *best ? took : *best;
    }
    return true;
}

bool probe_device(Device *dev, Probe *out, Err *err)
{
    const DeviceInfo *info = dev_info(dev);
    size_t bytes = (size_t)(info->cpu ? 64 : 512) << 20;
    size_t groups = (size_t)(info->units > 0 ? info->units : 1) * GROUPS_A_UNIT;
    double copy = 1e9, work = 1e9, local = 1e9;
    DevMem *from = NULL, *to = NULL;
    bool ok = dev_alloc(dev, bytes, &from, err) && dev_alloc(dev, bytes, &to, err) &&
              copies(dev, from, to, bytes, &copy, err) && runs(dev, to, "probe", 3, groups, &work, err) &&
              runs(dev, to, "probe_local", 1, groups, &local, err);
    dev_free(dev, from);
    dev_free(dev, to);
    double steps = 1e-9 * (double)groups * GROUP * STEPS;
    *out = (Probe){.copy_gb = 2e-9 * (double)bytes / copy,
                   .giga_ops = 2 * steps * WIDE / work,
                   .local_gb = 16 * steps * READS / local};
    return ok;
}

static bool many_launches(Device *dev, DevMem *out, uint64_t *best, Err *err)
{
    DevKernel *kernel;
    TRY(find_kernel(dev, "probe_nothing", &kernel, err));
    for (int i = 0; i < ROUNDS; i++) {
        TRY(dev_finish(dev, err));
        uint64_t begin = stopwatch_now();
        for (int k = 0; k < LAUNCHES; k++) {
            TRY(launch(dev, kernel, out, 1, 1, err));
        }
        TRY(dev_finish(dev, err));
        uint64_t took = stopwatch_now() - begin;
        *best = took < *best ? took : *best;
    }
    return true;
}

bool probe_launch(Device *dev, double *us, Err *err)
{
    DevMem *out = NULL;
    uint64_t best = UINT64_MAX;
    bool ok = dev_alloc(dev, sizeof(float), &out, err) && many_launches(dev, out, &best, err);
    dev_free(dev, out);
    *us = 1e-3 * (double)best / LAUNCHES;
    return ok;
}
