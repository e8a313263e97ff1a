/*
 * reference: the evaluator of the unfused graph behind --device reference and --check.
 */
#ifndef DRIVER_REFERENCE_H
#define DRIVER_REFERENCE_H

#include "driver.h"

#include "../runtime/main.h"

/* What the hooks need; the graph is the one before all passes. */
typedef struct Reference {
    const IrGraph *graph;
    const Program *program; /* its outputs are the graph's, in the same order */
} Reference;

/* Both are hooks of runtime/main.h; `context` is a Reference. */
bool reference_run(void *context, const RtFrame *frame, struct Results *to, Err *err);
bool reference_check(void *context, const RtFrame *frame, Err *err);

#endif
