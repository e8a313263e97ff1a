/* on_device: the device of a test program, its memory and its pseudo-random numbers. */
#ifndef TESTS_SUPPORT_ON_DEVICE_H
#define TESTS_SUPPORT_ON_DEVICE_H

#include "runtime/device/cl.h"

#include <stdbool.h>
#include <stdint.h>

extern Device *device;
extern bool small; /* only small images: PIPEC_TEST_SMALL is set, for slow checkers of kernels */

/* Set-up and tear-down of a group of tests.  PIPEC_TEST_DEVICE chooses the device. */
int open_device(void **state);
int open_narrow_device(void **state); /* one without atomics of 64 bits */
int close_device(void **state);

/* Shapes of kernels that a test goes through, up to SHAPE_CPU, begin here: with SHAPE_GPU where the driver runs groups
 * of many work-items right, which a small kernel tells. */
bool runs_gpu_shapes(Device *dev);
int first_shape(void); /* of `device` */

/* Ends the test with the error's text when something failed that has to work. */
void must(bool ok, const Err *err);
/* Device memory that holds something else than what a kernel may hope for. */
DevMem *allocate(size_t bytes);
/* Host memory; owned by the caller (free). */
void *zeroed(size_t bytes);

extern uint32_t random_state;
/* The next pseudo-random number, from 0 to n - 1. */
uint32_t below(uint32_t n);

#endif
