/*
 * main: the command line of generated executables and of `pipec run`.
 */
#ifndef RUNTIME_MAIN_H
#define RUNTIME_MAIN_H

#include "batch/hooks.h"

/* Does what the arguments after argv[0] say; returns the exit code (base/err.h). */
int rt_main(const Program *program, int argc, char **argv);

/* The same with hooks. */
int rt_main_with(const Program *program, int argc, char **argv, const RtHooks *hooks);

/* For programs that are a pipeline and nothing else, before anything runs: with no kernels of a user's, drivers may be told
 * to read less (dev_alone). */
void rt_alone(int argc, char **argv);

/* Opens the status line where stderr is a terminal, for what is done before the arguments are read. */
void rt_status(bool quiet);

#endif
