/* cl_check: a kernel of operations on hard numbers, and what a host makes of them. */
#include "cl_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 256, TURNS = 1 << 17 };

/* In the order of the kernel's results. */
typedef enum Operation { SUM, PRODUCT, QUOTIENT, ROOT, FUSED, N_OPERATIONS } Operation;

static const char *const WRONG[N_OPERATIONS] =
    {[SUM] = "sums of f32 are not rounded to the nearest, or not where they are subnormal",
     [PRODUCT] = "products of f32 are not rounded to the nearest, or not where they are subnormal",
     [QUOTIENT] = "quotients of f32 are not correctly rounded",
     [ROOT] = "square roots of f32 are not correctly rounded",
     [FUSED] = "fma of f32 is not rounded once"};

static const char *const TEXT = "#pragma OPENCL FP_CONTRACT OFF\n"
                                "kernel void operations(global const float *a, global float *to, int n)\n{\n"
                                "    const int i = (int)get_global_id(0);\n"
                                "    const float x = a[i], y = a[n + i], z = a[2 * n + i];\n"
                                "    to[i] = x + z;\n    to[n + i] = x * y;\n    to[2 * n + i] = x / y;\n"
                                "    to[3 * n + i] = sqrt(x);\n    to[4 * n + i] = fma(x, y, z);\n}\n"
                                "kernel void turns(global uint *to, int n)\n{\n"
                                "    uint state = to[0];\n"
                                "    for (int i = 0; i < n; i++) {\n        state = state * 1664525u + to[1];\n    }\n"
                                "    to[0] = state;\n}\n";

static uint32_t next(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state;
}

/* Any bits, in every second triple near the ends of the range, where z is near -x y. */
static void make_numbers(float *a)
{
    uint32_t state = 1;
    for (int i = 0; i < N; i++) {
        uint32_t bits[3];
        for (int k = 0; k < 3; k++) {
            bits[k] = next(&state) >> 8 | (next(&state) & 0xff000000u);
        }
        for (int k = 0; k < 3; k++) {
            bits[k] &= i % 4 == 1 ? 0x80ffffffu : i % 4 == 2 ? 0xa0ffffffu : 0xffffffffu;
            memcpy(&a[k * N + i], &bits[k], sizeof bits[k]);
        }
        if (i % 4 == 3) {
            a[2 * N + i] = -a[i] * a[N + i];
        }
    }
}

static float expected(Operation operation, float x, float y, float z)
{
    return operation == SUM        ? x + z
           : operation == PRODUCT  ? x * y
           : operation == QUOTIENT ? x / y
           : operation == ROOT     ? sqrtf(x)
                                   : fmaf(x, y, z);
}

static bool wrong(Device *dev, const char *what, Err *err)
{
    return err_set(err, CODE_DEVICE,
                   "the device '%s' cannot give the same bits as others: %s; choose another with "
                   "--device (pipec devices lists them), or run on it nevertheless with PIPEC_ANY_DEVICE=1 in the "
                   "environment",
                   dev_info(dev)->name, what);
}

static bool operations_are_right(Device *dev, const float *a, const float *got, Err *err)
{
    for (int i = 0; i < N * N_OPERATIONS; i++) {
        const int at = i % N;
        const float want = expected((Operation)(i / N), a[at], a[N + at], a[2 * N + at]);
        if (isnan(want) ? !isnan(got[i]) : memcmp(&want, &got[i], sizeof want) != 0) {
            return wrong(dev, WRONG[i / N], err);
        }
    }
    return true;
}

static bool turns_are_right(Device *dev, uint32_t got, Err *err)
{
    uint32_t want = 1;
    for (int i = 0; i < TURNS; i++) {
        want = want * 1664525u + 1013904223u;
    }
    return got == want || wrong(dev, "its driver ends loops before they are done", err);
}

/* One buffer: numbers, results. */
static bool try(Device *dev, DevMem *mem, float *a, Err *err)
{
    DevProgram *program;
    DevKernel *operations, *turns;
    DevMem *to = NULL;
    uint32_t state[2] = {1, 1013904223u};
    const size_t bytes = N * N_OPERATIONS * sizeof(float);
    make_numbers(a);
    bool ok = dev_program(dev, "check", TEXT, "", &program, err) &&
              dev_kernel(program, "operations", &operations, err) && dev_kernel(program, "turns", &turns, err) &&
              dev_alloc(dev, bytes, &to, err) && dev_write(dev, mem, 0, a, 3 * N * sizeof(float), err) &&
              dev_launch(dev, operations, (DevArg[]){dev_mem(mem), dev_mem(to), dev_int(N)}, 3,
                         (size_t[]){N / 64, 1, 1}, (size_t[]){64, 1, 1}, "check", err) &&
              dev_read(dev, to, 0, a + 3 * N, bytes, err) && operations_are_right(dev, a, a + 3 * N, err) &&
              dev_write(dev, to, 0, state, sizeof state, err) &&
              dev_launch(dev, turns, (DevArg[]){dev_mem(to), dev_int(TURNS)}, 2, (size_t[]){1, 1, 1},
                         (size_t[]){1, 1, 1}, "check", err) &&
              dev_read(dev, to, 0, state, sizeof *state, err) && turns_are_right(dev, state[0], err);
    dev_free(dev, to);
    return ok;
}

bool cl_check(Device *dev, Err *err)
{
    if (dev_info(dev)->promises || getenv("PIPEC_ANY_DEVICE")) {
        return true;
    }
    float *a = malloc((3 + N_OPERATIONS) * N * sizeof *a);
    DevMem *mem = NULL;
    if (!a) {
        return err_set(err, CODE_MEMORY, "out of host memory for a check of the device");
    }
    const bool ok = dev_alloc(dev, 3 * N * sizeof *a, &mem, err) && try(dev, mem, a, err);
    dev_free(dev, mem);
    free(a);
    return ok;
}
