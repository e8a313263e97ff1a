/*
 * batch_ranks: a batch whose images are shared out to the processes that mpirun has started, as shards; the first one
 * merges.
 */
#ifndef RUNTIME_BATCH_RANKS_H
#define RUNTIME_BATCH_RANKS_H

#include "hooks.h"
#include "../command/options.h"

/* As batch_run, which it is without mpirun and for a shard. */
int batch_run_ranks(const Program *program, const Options *options, const RtHooks *hooks);

#endif
