/*
 * batch_ranks: process r of n does shard r + 1 of n with a device of its own: of those that --device names, or of all GPUs
 * of its host, each in turn.  A process that is killed takes the others with it (mpi/plugin.c); what they have done is in
 * their journals.
 */
#include "batch_ranks.h"

#include "../host/ranks.h"
#include "batch.h"
#include "devices.h"
#include "shard.h"

#include <stdio.h>
#include <stdlib.h>

/* Waits for all; the exit codes of their batches, by rank. */
static bool swap_codes(Owners *ranks, int own, int *codes, Err *err)
{
    OwnersPiece *pieces = calloc((size_t)ranks->n, sizeof *pieces);
    int32_t code = own;
    bool ok = pieces != NULL || err_set(err, CODE_MEMORY, "out of host memory for the exit codes");
    ok = ok && owners_tell(ranks, &code, sizeof code, pieces, err);
    for (int i = 0; ok && i < ranks->n; i++) {
        codes[i] = *(const int32_t *)pieces[i].bytes;
    }
    if (pieces != NULL) {
        owners_drop(ranks, pieces);
    }
    free(pieces);
    return ok;
}

/* What is done of the batch when all have ended; images that failed are listed in what their shards have left. */
static int merge(const Options *options, const BatchList *list, const int *codes, int shards)
{
    for (int i = 0; i < shards; i++) {
        if (codes[i] != CODE_OK && codes[i] != CODE_FILES && codes[i] != CODE_AGAIN) {
            fprintf(stderr, "%s: process %d of %d has ended with exit code %d; --resume goes on\n", options->command,
                    i + 1, shards, codes[i]);
            return codes[i];
        }
    }
    const char *folder = list->folder[0] != '\0' ? list->folder : ".";
    return shard_merge(&folder, 1, NULL, list->program->name, options->command);
}

/* The rank's share. */
static int work(const Program *program, const Options *options, const RtHooks *hooks, const Owners *ranks, int shards)
{
    Err err = {0};
    Options own = *options;
    char *device = NULL;
    int code;
    own.shard = ranks->number + 1;
    own.shards = shards;
    own.quiet = options->quiet || ranks->number > 0;
    if (devices_of_rank(options->device, ranks->local, &device, &err)) {
        own.device = device;
        code = batch_run(program, &own, hooks);
    } else {
        fprintf(stderr, "%s: %s\n", options->command, err.text);
        code = err_exit_code(&err);
    }
    free(device);
    return code;
}

static int run(const Program *program, const Options *options, const RtHooks *hooks, Owners *ranks, Err *err)
{
    BatchList list = {0};
    int *codes = calloc((size_t)ranks->n, sizeof *codes), code = CODE_OK;
    bool ok =
        (codes != NULL || err_set(err, CODE_MEMORY, "out of host memory")) && batch_list(program, options, &list, err);
    int shards = ok && list.n_all < ranks->n ? list.n_all : ranks->n;
    if (!ok) {
        owners_fail(ranks, err);
    } else if (ranks->number < shards) {
        code = work(program, options, hooks, ranks, shards);
    }
    ok = ok && swap_codes(ranks, code, codes, err);
    if (ok && ranks->number == 0) {
        code = shards > 1 ? merge(options, &list, codes, shards) : code;
    }
    batch_list_free(&list);
    free(codes);
    return ok ? code : err_exit_code(err);
}

int batch_run_ranks(const Program *program, const Options *options, const RtHooks *hooks)
{
    Err err = {0};
    Owners ranks;
    if (options->shards > 1 || ranks_said() == 1) {
        return batch_run(program, options, hooks);
    }
    bool open = ranks_open(&ranks, &err);
    int code = open ? run(program, options, hooks, &ranks, &err) : err.code;
    if (err.code != CODE_OK && ranks.number == 0) {
        fprintf(stderr, "%s: %s\n", options->command, err.text);
    }
    if (open) {
        ranks_close(&ranks);
    }
    return open && ranks.number > 0 ? CODE_OK : code; /* mpirun's code is that of the first */
}
