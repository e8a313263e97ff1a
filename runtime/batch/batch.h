/*
 * batch: a whole run: what is to be done, what an earlier run has done, the work, the tables of all
 * images, and what to tell the user at the end.
 */
#ifndef RUNTIME_BATCH_H
#define RUNTIME_BATCH_H

#include "hooks.h"
#include "../host/owners.h"
#include "../command/options.h"

/* Prints progress and failures to stderr, plans and profiles to stdout; returns the exit code.  ranks: see EngineSetup. */
int batch_run(const Program *program, const Options *options, const RtHooks *hooks, Owners *ranks);
/* --dry-run: says what batch_run would do; opens the files, but no device. */
int batch_dry_run(const Program *program, const Options *options);

#endif
