/* shape: the shape of images as --shape gives it, where there are no files to ask. */
#ifndef RUNTIME_SHAPE_H
#define RUNTIME_SHAPE_H

#include "exec_plan.h"

/* "20000x30000:u16", "30x2048x2048:u8", or "2048x2048x3:u8" for an input with channels: extents outermost first, as the
 * input's axes are written.  Fills one of each input.  CODE_USAGE where it does not fit. */
bool shape_parse(const Program *program, const char *text, ExecInput *inputs, Err *err);

#endif
