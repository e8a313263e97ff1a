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

bool runs_gpu_shapes(const Device *dev)
{
    const DeviceInfo *info = dev_info(dev);
    return strcmp(info->platform, "Portable Computing Language") != 0 || strtol(info->driver, NULL, 10) <= 3;
}

int first_shape(void)
{
    return runs_gpu_shapes(device) ? SHAPE_GPU : SHAPE_CPU;
}

void must(bool ok, const Err *err)
{
    if (!ok) {
        fail_msg("%s", err->text);
    }
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
