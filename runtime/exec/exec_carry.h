/* exec_carry: the end of a loop's round, when every carry takes its next value. */
#ifndef RUNTIME_EXEC_CARRY_H
#define RUNTIME_EXEC_CARRY_H

#include "../device/cl.h"
#include "../program.h"

/*
 * mem: the memory of each buffer of the program, which is exchanged between buffers; `loop` and
 * `end` are the steps that begin and end the loop.
 */
bool exec_carry(const Program *program, Device *dev, int loop, int end, DevMem **mem,
                DevMem *values, Err *err);
/* The same for whole-image values alone; `end` is the step that ends the loop. */
bool exec_carry_values(const ProgStep *end, Device *dev, DevMem *values, Err *err);

#endif
