/* exec_carry: the end of a loop's round, when every carry takes its next value. */
#ifndef RUNTIME_EXEC_CARRY_H
#define RUNTIME_EXEC_CARRY_H

#include "../device/cl.h"
#include "../../program/program.h"

/*
 * mem: the memory of each buffer of the program, which is exchanged between buffers; `loop` and
 * `end` are the steps that begin and end the loop.
 */
bool exec_carry_images(const Program *program, Device *dev, int loop, int end, DevMem **mem, Err *err);
/* That takes no work of the device: no image is copied. */
bool exec_carry_exchanges(const Program *program, int loop, int end);

/* Before the first round of a loop. */
bool exec_carry_begin(const ProgStep *loop, Device *dev, DevMem *values, Err *err);
/*
 * Whole-image values, and whether the rounds are over, which then is at PROG_ENDED and at PROG_TOLD + round % 2
 * of the loop's slots.  *kept: the kernel that does it, NULL at first; the device owns it.
 */
bool exec_carry_values(const ProgStep *loop, const ProgStep *end, int round, Device *dev, DevMem *values,
                       DevKernel **kept, Err *err);

#endif
