/*
 * run: what the commands that run pipelines share (cmd_run.c, cmd_try.c).
 */
#ifndef DRIVER_RUN_H
#define DRIVER_RUN_H

#include "reference.h"

/* A compiled pipeline as the runtime's hooks see it; begins as {.reference = {c->lowered, c->program}, .c = c}. */
typedef struct Run {
    Reference reference; /* what the context of the hooks points to */
    const Compilation *c;
    Compilation planned; /* for other parameters than the defaults: compile_free */
} Run;

/* What the compiler lends a run: its evaluator, and plans for other parameters. */
RtHooks run_hooks(Run *run);

/* The pipeline may stand behind options; it is moved to the front.  False where there is none. */
bool run_take_pipeline(int argc, char **argv);
/* False where the run will need no device; else what --device says, NULL without it. */
bool run_takes_device(int argc, char **argv, const char **choice);

#endif
