/*
 * epilogue: partial results that a kernel that streams over rows hands to the reductions of what
 * it stores (passes/epilogue.c chooses them).
 */
#ifndef CODEGEN_EPILOGUE_H
#define CODEGEN_EPILOGUE_H

#include "kernel.h"

/* The columns and rows of a work-item, and what leaves out those beyond the image's edge, unless the
 * group's work-items `share` what they load. */
void cg_write_place(const CgKernel *k, const IrStep *step, bool share, Str *out);
/* Before the first row, after a row of `stage` (`columns`: its array from the own columns on), and
 * after the last row. */
void cg_open_epilogue(CgKernel *k, const IrStep *step, Str *out);
void cg_add_epilogue(CgKernel *k, IrId stage, const char *columns, int indent, Str *out);
void cg_close_epilogue(CgKernel *k, const IrStep *step, Str *out);

#endif
