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
#include "together.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    return shard_merge(&folder, 1, NULL, list->program->name, shards, options->command);
}

/* One image, shared out to all; `options` are the process's own. */
static int share_image(const Program *program, const Options *options, const RtHooks *hooks, const BatchList *list,
                       Owners *ranks)
{
    Err err = {0};
    if (ranks->number > 0) { /* the first one says what went wrong */
        return together_follow(program, options, &list->items[0], ranks, &err) ? CODE_OK : err_exit_code(&err);
    }
    int code = batch_run(program, options, hooks, ranks);
    (void)(ranks->ended || together_call(ranks, -1, &err));
    return code;
}

/* The reference and --check look at all pixels. */
static bool can_share(const Program *program, const Options *options, int images)
{
    bool reference = options->device != NULL && strcmp(options->device, "reference") == 0;
    return images == 1 && program->n_inputs > 0 && !reference && !options->check;
}

/* The rank's share. */
static int work(const Program *program, const Options *options, const RtHooks *hooks, const BatchList *list,
                Owners *ranks, int shards)
{
    Err err = {0};
    Options own = *options;
    char *device = NULL;
    int code;
    bool shared = can_share(program, options, list->n_all);
    own.shard = shared ? 1 : ranks->number + 1;
    own.shards = shared ? 1 : shards;
    own.quiet = options->quiet || ranks->number > 0;
    own.host = options->host > 0 || ranks->locals == 1 ? options->host
                                                       : engine_sizes(options, 1, 1).bytes / (size_t)ranks->locals;
    if (devices_of_rank(options->device, ranks->local, &device, &err)) {
        own.device = device;
        code = shared                   ? share_image(program, &own, hooks, list, ranks)
               : ranks->number < shards ? batch_run(program, &own, hooks, NULL)
                                        : CODE_OK;
    } else {
        fprintf(stderr, "%s: %s\n", options->command, err.text);
        code = err_exit_code(&err);
        if (shared) {
            owners_fail(ranks, &err);
        }
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
    } else {
        code = work(program, options, hooks, &list, ranks, shards);
    }
    if (ok && shards > 1) {
        ok = swap_codes(ranks, code, codes, err);
        code = ok && ranks->number == 0 ? merge(options, &list, codes, shards) : code;
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
        return batch_run(program, options, hooks, NULL);
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
