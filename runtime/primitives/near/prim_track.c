/*
 * prim_track: the tracks of objects that move; see base/track.h.
 *
 * What is known of objects and pairs of objects are expressions of the label, computed by the reader from vectors; no pixel is
 * read, so images in parts have this step once, on whole vectors.  They go to the host in blocks, which links the objects and
 * writes the vector.  The host's memory follows from the numbers of objects and of links that are near enough.
 *
 * Scratch: one block.
 */
#include "../../../base/track.h"
#include "../prim_host.h"
#include "../prim_program.h"
#include "../prim_visit.h"

#include <stdlib.h>
#include <string.h>

enum { GROUP = 64, BLOCK = 1 << 14, VALUES = 5 };
enum { OF_LABEL, OF_PAIR };

extern const char kernel_text_track[];

static size_t scratch_bytes(const PrimCall *call)
{
    (void)call;
    return (size_t)BLOCK * VALUES * sizeof(float);
}

static bool program_of(const PrimCall *call, int which, DevProgram **program)
{
    (void)which;
    const char *const texts[] = {kernel_text_track, NULL};
    return visit_program(call, "", texts, program);
}

static bool launch(const PrimCall *call, const char *kernel, size_t items, const DevArg *args, int n_args)
{
    DevProgram *program;
    TRY(program_of(call, 0, &program));
    return visit_launch(call, &(VisitLaunch){.program = program,
                                             .kernel = kernel,
                                             .reads = true,
                                             .groups = (items + GROUP - 1) / GROUP,
                                             .group = GROUP,
                                             .args = args,
                                             .n_args = n_args});
}

/* Five numbers of each of 1 .. n, each kind in a row of n + 1.  Owned by the caller (free). */
static bool take(const PrimCall *call, uint64_t n, int of, float **values)
{
    size_t row = (size_t)n + 1;
    float *block = malloc(scratch_bytes(call));
    *values = n < SIZE_MAX / VALUES / sizeof **values - 1 ? calloc(row * VALUES, sizeof **values) : NULL;
    bool ok = (block != NULL && *values != NULL) || host_no_memory(call);
    for (uint64_t from = 1; ok && from <= n; from += BLOCK) {
        size_t many = n - from + 1 < BLOCK ? (size_t)(n - from + 1) : BLOCK;
        const DevArg args[] = {dev_uint(from), dev_uint(many), dev_int(of), dev_mem(call->scratch)};
        ok = launch(call, "track_take", many, args, 4) &&
             dev_read(call->dev, call->scratch, 0, block, many * VALUES * sizeof *block, call->err);
        for (int k = 0; ok && k < VALUES; k++) {
            memcpy(*values + row * (size_t)k + from, block + many * (size_t)k, many * sizeof *block);
        }
    }
    free(block);
    return ok;
}

static bool count_pairs(const PrimCall *call, uint64_t *pairs)
{
    double count = 0;
    const DevArg args[] = {dev_mem(call->scratch)};
    TRY(launch(call, "track_pairs", 1, args, 1));
    TRY(dev_read(call->dev, call->scratch, 0, &count, sizeof count, call->err));
    return track_count(count, pairs, call->err);
}

/* Links what has been taken, and writes the vector. */
static bool write_tracks(const PrimCall *call, const TrackJob *job)
{
    uint32_t *out = malloc(((size_t)job->n + 1) * sizeof *out);
    bool ok = out != NULL || host_no_memory(call);
    ok = ok && track_objects(job, (TrackWhat)call->track.what, out, call->err) &&
         dev_write(call->dev, call->out[0].mem, 0, out, ((size_t)job->n + 1) * sizeof *out, call->err);
    free(out);
    return ok;
}

static bool run(PrimCall *call)
{
    double count = 0, most = (double)call->out[0].length - 1;
    float *of_label = NULL, *of_pair = NULL;
    TRY(dev_read(call->dev, call->values, (size_t)call->of_value * sizeof count, &count, sizeof count, call->err));
    TrackJob job = {.n = (uint32_t)(count < most ? count : most),
                    .paired = call->track.paired != 0,
                    .limit = call->track.limit,
                    .gap = call->track.gap,
                    .splits = call->track.splits != 0,
                    .merges = call->track.merges != 0};
    size_t row = (size_t)job.n + 1;
    bool ok = take(call, job.n, OF_LABEL, &of_label) && (!job.paired || count_pairs(call, &job.pairs)) &&
              (!job.paired || take(call, job.pairs, OF_PAIR, &of_pair));
    for (int k = 0; ok && k < 3; k++) {
        job.value[k] =
            job.paired ? of_pair + ((size_t)job.pairs + 1) * ((size_t)k + 2) : of_label + row * ((size_t)k + 2);
    }
    job.frame = of_label;
    job.last = ok ? of_label + row : NULL;
    ok = ok && write_tracks(call, &job);
    free(of_label);
    free(of_pair);
    return ok;
}

const Primitive prim_track = {.name = "track",
                              .scratch_bytes = scratch_bytes,
                              .run = run,
                              .programs = 1,
                              .program = program_of};
