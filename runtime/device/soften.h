/*
 * soften: a kernel's text for devices without double precision.
 *
 * Kernels are written once, with doubles and the operators of the language.  Where a device has none, its text is
 * read (a subset of OpenCL C 1.2: what kernels are made of), every expression gets its type, and what is computed
 * in double becomes calls of base/soft_double.h: the same bits.  Everything else stays as it is.  A double is a
 * structure there, so what this file would overlook does not compile.
 */
#ifndef RUNTIME_SOFTEN_H
#define RUNTIME_SOFTEN_H

#include "../../base/err.h"

/* *out: the text with its library in front, owned by the caller (free).  `options` are those of its compiler; `fma`:
 * the device has one of f32 that is rounded once, else this is computed in whole numbers, too. */
bool soften(const char *name, const char *source, const char *options, bool fma, char **out, Err *err);

#endif
