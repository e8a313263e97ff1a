/* on_device: see on_device.h. */
#include "on_device.h"

#include "runtime/primitives/prim.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

Device *device;
bool small;
uint32_t random_state = 1;

static int open_it(bool narrow)
{
    Err err = {0};
    DevOptions options = {.choice = getenv("PIPEC_TEST_DEVICE"),
                          .flags = getenv("PIPEC_TEST_FLAGS"),
                          .narrow_atomics = narrow};
    if (!dev_open(&options, &device, &err)) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    small = getenv("PIPEC_TEST_SMALL") != NULL;
    return 0;
}

int open_device(void **state)
{
    (void)state;
    return open_it(false);
}

int open_narrow_device(void **state)
{
    (void)state;
    return open_it(true);
}

int close_device(void **state)
{
    (void)state;
    dev_close(device);
    return 0;
}

void must(bool ok, const Err *err)
{
    if (!ok) {
        fail_msg("%s", err->text);
    }
}

/* Loops in one another between the barriers of a third.  PoCL 6.0 with LLVM 18 (Debian 13), which has to be told to arrange
 * work-items by "cbs" (cl_setup.c), stores none of the results of this kernel.  Of kernels alike it makes others, or
 * loops without an end: `window_slide`, long folds.  Told "loopvec", it has them right, but ends the process at others. */
static const char LOOPS_BETWEEN_BARRIERS[] =
    "kernel __attribute__((reqd_work_group_size(64, 1, 1))) void loops(global int *out, int n) {\n"
    "  local int tile[64];\n"
    "  const int item = (int)get_local_id(0);\n"
    "  for (int turn = 0; turn < n; turn++) {\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    for (int r = 0; r < 4; r++) {\n"
    "      for (int i = item; i < 80; i += 64) tile[i % 64] = i;\n"
    "    }\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    out[get_global_id(0)] = tile[item] + turn;\n"
    "  }\n"
    "}\n";

enum { LOOPS_ITEMS = 64, LOOPS_TURNS = 8, LOOPS_FILLED = 80 };

static bool runs_loops(Device *dev, DevMem *out)
{
    Err err = {0};
    DevProgram *program = NULL;
    DevKernel *loops = NULL;
    int32_t got[LOOPS_ITEMS] = {0};
    const DevArg args[] = {dev_mem(out), dev_int(LOOPS_TURNS)};
    must(dev_program(dev, "loops", LOOPS_BETWEEN_BARRIERS, "", &program, &err) &&
             dev_kernel(program, "loops", &loops, &err) && dev_fill(dev, out, 0, sizeof got, 0, &err) &&
             dev_launch(dev, loops, args, 2, (size_t[3]){1, 1, 1}, (size_t[3]){LOOPS_ITEMS, 1, 1}, "loops", &err) &&
             dev_read(dev, out, 0, got, sizeof got, &err),
         &err);
    bool right = true;
    for (int i = 0; i < LOOPS_ITEMS; i++) {
        const int last = i + LOOPS_ITEMS < LOOPS_FILLED ? i + LOOPS_ITEMS : i;
        right = right && got[i] == last + LOOPS_TURNS - 1;
    }
    return right;
}

bool runs_gpu_shapes(Device *dev)
{
    static const Device *tried;
    static bool right;
    if (tried != dev) {
        Err err = {0};
        DevMem *out = NULL;
        must(dev_alloc(dev, LOOPS_ITEMS * sizeof(int32_t), &out, &err), &err);
        right = runs_loops(dev, out);
        dev_free(dev, out);
        tried = dev;
    }
    return right;
}

int first_shape(void)
{
    return runs_gpu_shapes(device) ? SHAPE_GPU : SHAPE_CPU;
}

/* Written rather than filled: oclgrind never forgets that memory was filled. */
DevMem *allocate(size_t bytes)
{
    Err err = {0};
    DevMem *mem = NULL;
    must(dev_alloc(device, bytes, &mem, &err), &err);
    void *garbage = malloc(bytes + 1);
    assert_non_null(garbage);
    memset(garbage, 0xcd, bytes);
    must(dev_write(device, mem, 0, garbage, bytes, &err), &err);
    must(dev_finish(device, &err), &err);
    free(garbage);
    return mem;
}

void *zeroed(size_t bytes)
{
    void *at = calloc(bytes + 1, 1);
    assert_non_null(at);
    return at;
}

uint32_t below(uint32_t n)
{
    random_state = random_state * 1664525U + 1013904223U;
    return (random_state >> 16) % n;
}
