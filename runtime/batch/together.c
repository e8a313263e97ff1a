/* together: see together.h. */
#include "together.h"

#include "devices.h"
#include "../host/signals.h"

#include <stdlib.h>

static void show_nothing(void *context, double part)
{
    (void)context;
    (void)part;
}

/* All have bound; *together where all have parts. */
static bool ask(Owners *owners, bool parts, bool *together, Err *err)
{
    OwnersPiece *pieces = calloc((size_t)owners->n, sizeof *pieces);
    bool ok = (pieces != NULL || err_set(err, CODE_MEMORY, "out of host memory for several devices")) &&
              owners_tell(owners, &parts, sizeof parts, pieces, err);
    *together = ok;
    for (int k = 0; ok && k < owners->n; k++) {
        *together = *together && *(const bool *)pieces[k].bytes;
    }
    if (pieces != NULL) {
        owners_drop(owners, pieces);
    }
    free(pieces);
    return ok;
}

bool together_bind(Exec *exec, const ExecInput *inputs, const double *params, Owners *owners, bool *together, Err *err)
{
    exec_set_owners(exec, owners);
    bool ok = exec_bind(exec, inputs, params, err) && ask(owners, exec_in_parts(exec), together, err);
    if (!ok) {
        owners_fail(owners, err);
    }
    return ok;
}

/* All others tell the first. */
static bool tell_first(Owners *owners, Sink *sink, OwnersPiece *give, OwnersPiece *take, Err *err)
{
    size_t bytes = 0;
    bool ok = owners->number == 0 || sink == NULL || sink_end_part(sink, &give[0].bytes, &bytes, err);
    give[0].n = bytes;
    ok = ok && owners_swap(owners, give, take, err);
    for (int k = 1; ok && owners->number == 0 && k < owners->n; k++) {
        ok = sink_join(sink, take[k].bytes, (size_t)take[k].n, err);
    }
    owners_drop(owners, take);
    return ok && owners_tell(owners, NULL, 0, take, err); /* nobody goes before the first one has all */
}

bool together_join(Owners *owners, Sink *sink, Err *err)
{
    OwnersPiece *pieces = calloc(2 * (size_t)owners->n, sizeof *pieces);
    bool ok = (pieces != NULL || err_set(err, CODE_MEMORY, "out of host memory for several devices")) &&
              tell_first(owners, sink, pieces, pieces + owners->n, err);
    if (pieces != NULL) {
        owners_drop(owners, pieces);
        owners_drop(owners, pieces + owners->n);
    }
    free(pieces);
    return ok;
}

/* The rows from the files of this owner's own reader, or from volumes. */
static bool run(const Share *share, Reader *reader, Sink *sink, Err *err)
{
    Results *results = NULL;
    const StreamSetup setup = {.program = share->program,
                               .dev = share->dev,
                               .exec = share->exec,
                               .reader = reader,
                               .frame = share->frame,
                               .volumes = share->volumes,
                               .sink = sink,
                               .behind = share->bytes,
                               .bytes = share->bytes,
                               .keep = share->keep,
                               .progress = show_nothing};
    bool ok = results_begin(share->exec, share->program, NULL, NULL, &results, err) && stream_run(&setup, results, err);
    results_free(results);
    return ok;
}

/* For this owner's rows of outputs, which belong to the first one's files. */
static bool open_sink(const Share *share, Reader *reader, Sink **out, Err *err)
{
    const SinkSource source = {.item = share->item,
                               .frames = reader_frames(reader),
                               .like = reader_info(reader, 0),
                               .reader = reader,
                               .compress = share->options->compress,
                               .pyramid = share->options->pyramid,
                               .zarr = share->options->zarr};
    return sink_new(share->program, &source, out, err);
}

bool together_share(const Share *share, Err *err)
{
    Reader *reader = NULL;
    bool together, reads = share->program->n_inputs > 0;
    TRY(together_bind(share->exec, share->inputs, share->options->params, share->owners, &together, err));
    if (!together) {
        return true;
    }
    Sink *sink = NULL;
    bool ok = !reads || (reader_open(share->program, share->item, share->options, false, share->cache, &reader, err) &&
                         open_sink(share, reader, &sink, err));
    ok = ok && run(share, reader, sink, err) && together_join(share->owners, sink, err);
    sink_free(sink);
    reader_close(reader);
    if (!ok) {
        owners_fail(share->owners, err);
    }
    return ok;
}

/* ---- processes --------------------------------------------------------------------------------- */

/* The number that the first one gives. */
static bool swap_number(Owners *ranks, int64_t *number, Err *err)
{
    OwnersPiece *pieces = calloc((size_t)ranks->n, sizeof *pieces);
    bool ok = (pieces != NULL || err_set(err, CODE_MEMORY, "out of host memory for several processes")) &&
              owners_tell(ranks, number, sizeof *number, pieces, err);
    *number = ok ? *(const int64_t *)pieces[0].bytes : -1;
    if (pieces != NULL) {
        owners_drop(ranks, pieces);
    }
    free(pieces);
    return ok;
}

bool together_call(Owners *ranks, int64_t frame, Err *err)
{
    return swap_number(ranks, &frame, err);
}

static bool interrupted(void *nothing)
{
    (void)nothing;
    return signals_interrupted();
}

/* Frames as they are called; the share has everything but their numbers. */
static bool follow_frames(Share *share, Err *err)
{
    for (;;) {
        TRY(swap_number(share->owners, &share->frame, err));
        if (share->frame < 0) {
            return true;
        }
        TRY(together_share(share, err));
    }
}

static bool follow_on(Share *share, Err *err)
{
    const EngineSizes sizes = engine_sizes(share->options, 1, 1);
    HostPool *pool = host_pool_new(sizes.bytes / 2, false, &share->dev, 1);
    VolumeCache cache = {0};
    Reader *reader = NULL;
    Volume **none = calloc((size_t)share->program->n_inputs + 1, sizeof *none);
    bool cached = volume_cache_init(&cache, share->program->n_inputs, pool, err);
    share->cache = &cache;
    share->volumes = none;
    share->bytes = sizes.bytes / 8;
    share->keep = sizes.bytes / 4;
    bool ok = cached && ((pool != NULL && none != NULL) || err_set(err, CODE_MEMORY, "out of host memory for rows"));
    ok = ok && exec_new(share->program, share->dev, &share->exec, err) &&
         reader_open(share->program, share->item, share->options, false, &cache, &reader, err);
    if (ok) {
        exec_set_stop(share->exec, interrupted, NULL);
        exec_set_host_memory(share->exec, sizes.bytes / 2);
        share->inputs = reader_inputs(reader);
        ok = follow_frames(share, err);
    }
    reader_close(reader);
    exec_free(share->exec);
    volume_cache_free(&cache);
    host_pool_free(pool);
    free(none);
    return ok;
}

bool together_follow(const Program *program, const Options *options, const BatchItem *item, Owners *ranks, Err *err)
{
    const DevOptions own = {.choice = options->device, .memory_limit = options->memory, .load = options->load};
    Share share = {.program = program, .options = options, .item = item, .owners = ranks};
    bool ok = dev_open(&own, &share.dev, err) && follow_on(&share, err);
    dev_close(share.dev);
    if (!ok) {
        owners_fail(ranks, err);
    }
    return ok;
}
