/*
 * narrow: labels of 32 bits become labels of 16 where they lie on the device, so that half as many bytes go to the host,
 * which need not convert them.
 */
#ifndef RUNTIME_NARROW_H
#define RUNTIME_NARROW_H

#include "../device/cl.h"

/* The program, compiled where it is not known yet; owned by the device.  `cpu`: as is best on CPUs. */
bool narrow_program(Device *dev, bool cpu, DevProgram **program, Err *err);
/* `rows` rows of `width` pixels below 2^16, `pitch` pixels of 32 bits apart, a multiple of EXEC_PITCH: each becomes
 * `width` pixels of 16 bits, and rows begin where they did. */
bool narrow_rows(Device *dev, bool cpu, DevMem *mem, size_t rows, size_t width, size_t pitch, Err *err);

#endif
