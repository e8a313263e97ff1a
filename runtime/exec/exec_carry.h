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

/*
 * The same where the host does not wait for rounds.  Values are counted in doubles of `values`.  Unless the
 * slot `ended` is 1: all values are copied behind `copy`, and when the watched one is what it was a round
 * before, `ended` becomes 1.  Then the value of the round before is this one's, and flag `which`, of the two
 * that follow it, is what `ended` is.
 */
typedef struct ExecCarryEnd {
    int watched, ended;
    int n_values, copy; /* behind the copy, at 2 * copy: the value of the round before, and the flags */
} ExecCarryEnd;
bool exec_carry_ahead(const ProgStep *end, const ExecCarryEnd *last, int which, Device *dev,
                      DevMem *values, Err *err);

#endif
