/*
 * prim_otsu: the range of an image and Otsu's threshold for it, in one reading as a rule.
 *
 * Large images of floats on GPUs: a sample gives a provisional range, one reading the exact one and counts of fine
 * bins, which decide between all thresholds or, rarely, do not (kernels/otsu.cl).  Then, and for all other
 * images, a second reading counts the bins of the exact range.  Whether it is needed is known on the device alone,
 * whose kernels leave at once where it is not.  Fine bins cost some hundredths of a millisecond, which is more
 * than small images take to read.
 */
#include "../prim_host.h"
#include "../prim_share.h"
#include "prim_reduce.h"
#include "../prim_visit.h"

#include <stdio.h>
#include <stdlib.h>

enum { AT_LOW = REDUCE_MIN, AT_HIGH = REDUCE_MAX, AT_THRESHOLD = OTSU_THRESHOLD }; /* among the values */
enum { SAMPLED = 8 /* one tile of so many at most */, SAMPLES = 512 };
enum { BINS = 256, FINE_BINS = 8192, KEPT = 128, MOST_GROUPS = 1024 };
enum { GROUPS_A_UNIT = 3 }; /* that are there at a time: each adds all its fine bins to those of the image */
enum { FEWEST_PIXELS = 1 << 24, LOCAL_BYTES = 48 << 10, LOCAL_WORDS = 8192 };
enum { ALIGNMENT = 4096 }; /* of slices, for any device */

/* Words of scratch of the fine bins; in front the decision and the range. */
enum {
    AT_DECIDED,
    AT_FIRST_KEY,
    AT_LAST_KEY,
    AT_SAMPLE = 16,
    AT_FINE = AT_SAMPLE + 2 * SAMPLES,
    AT_KEPT_COUNTS = AT_FINE + FINE_BINS,
    AT_KEPT = AT_KEPT_COUNTS + MOST_GROUPS,
    FINE_WORDS = AT_KEPT + MOST_GROUPS * KEPT
};

extern const char kernel_text_range[];
extern const char kernel_text_histogram[];
extern const char kernel_text_threshold[];
extern const char kernel_text_otsu[];

typedef struct Programs {
    DevProgram *reads, *bare;
} Programs;
enum { READS, BARE, OWN_PROGRAMS };
enum { MOST_DEFINES = 600, MOST_WORDS = 400 }; /* characters */

/* Slices of scratch. */
enum { COUNTS, ROOM, WORK, SLICES };

static PrimCall reduce_of(const PrimCall *call)
{
    PrimCall reduce = *call;
    reduce.reduce.wanted = WANTED_EXTREMES;
    reduce.fed = 0;
    return reduce;
}

/* As far as is known without a device. */
static bool may_be_fine(const PrimCall *call)
{
    double pixels = (double)call->w * call->h * call->planes;
    return !call->part.cut && call->otsu.integer == 0 && (int)call->otsu.bins == BINS &&
           (pixels >= FEWEST_PIXELS || call->shape == SHAPE_GPU);
}

static bool is_fine(const PrimCall *call)
{
    return may_be_fine(call) && !visit_is_cpu(call) && dev_info(call->dev)->local >= LOCAL_BYTES;
}

static size_t slice_bytes(const PrimCall *call, int slice)
{
    size_t bins = (size_t)call->otsu.bins, bytes = 0;
    if (slice == WORK) {
        PrimCall reduce = reduce_of(call);
        size_t fine = may_be_fine(call) ? FINE_WORDS * sizeof(uint32_t) : 0;
        bytes = prim_reduce.scratch_bytes(&reduce);
        return fine > bytes ? fine : bytes;
    }
    bytes = slice == COUNTS ? (2 * bins + 1) * sizeof(uint32_t) : 4 * bins * sizeof(double);
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static size_t scratch_bytes(const PrimCall *call)
{
    size_t bytes = 0;
    for (int i = 0; i < SLICES; i++) {
        bytes += slice_bytes(call, i);
    }
    return bytes;
}

/* What both programs know of the values and of scratch; returns `words`. */
static const char *define_words(const PrimCall *call, char words[MOST_WORDS])
{
    snprintf(words, MOST_WORDS,
             "enum { OTSU_LOW = %d, OTSU_HIGH = %d, OTSU_THRESHOLD = %d, OTSU_AT_DECIDED = %d, "
             "OTSU_AT_LOW = %d, OTSU_AT_HIGH = %d, OTSU_AT_SAMPLE = %d, OTSU_AT_FINE = %d, "
             "OTSU_AT_KEPT_COUNTS = %d, OTSU_AT_KEPT = %d, OTSU_KEPT = %d };\n"
             "#define OTSU_FINE_BINS %d\n",
             AT_LOW, AT_HIGH, AT_THRESHOLD, AT_DECIDED, AT_FIRST_KEY, AT_LAST_KEY, AT_SAMPLE, AT_FINE, AT_KEPT_COUNTS,
             AT_KEPT, KEPT, is_fine(call) ? FINE_BINS : 0);
    return words;
}

/* Finds the threshold; without the reader. */
static bool bare_program(const PrimCall *call, DevProgram **program)
{
    char defines[MOST_DEFINES], words[MOST_WORDS];
    snprintf(defines, sizeof defines,
             "#define HISTOGRAM_IN_OTSU 1\n"
             "#define THRESHOLD_METHOD %d\n#define THRESHOLD_GROUP %zu\n#define THRESHOLD_IN_OTSU 1\n%s",
             METHOD_OTSU, visit_group(call), define_words(call, words));
    const char *texts[] = {kernel_text_visit,     kernel_text_range, kernel_text_histogram,
                           kernel_text_threshold, kernel_text_otsu,  NULL};
    return visit_bare_program(call, defines, texts, program);
}

static bool reads_program(const PrimCall *call, DevProgram **program)
{
    int bins = (int)call->otsu.bins;
    if (bins < 1) {
        return err_set(call->err, CODE_USAGE, "%s: a histogram needs at least one bin, not %d", call->name, bins);
    }
    uint64_t local = dev_info(call->dev)->local;
    int words = local > LOCAL_WORDS * sizeof(uint32_t) ? LOCAL_WORDS : LOCAL_WORDS / 2;
    char defines[MOST_DEFINES], of_scratch[MOST_WORDS];
    snprintf(defines, sizeof defines,
             "#define HISTOGRAM_BINS %d\n#define HISTOGRAM_INTEGER %d\n"
             "#define HISTOGRAM_LOCAL_WORDS %d\n#define HISTOGRAM_IN_OTSU 1\n%s",
             bins, call->otsu.integer != 0, words, define_words(call, of_scratch));
    const char *texts[] = {kernel_text_visit, kernel_text_range, kernel_text_histogram, kernel_text_otsu, NULL};
    return visit_program(call, defines, texts, program);
}

/* Behind the two of its own those of the reduction that finds the range, unless the reading does. */
static bool program_of(const PrimCall *call, int which, DevProgram **program)
{
    if (which < OWN_PROGRAMS) {
        return (which == READS ? reads_program : bare_program)(call, program);
    }
    PrimCall reduce = reduce_of(call);
    *program = NULL;
    return is_fine(call) || prim_reduce.program(&reduce, which - OWN_PROGRAMS, program);
}

/* The range, and maybe the threshold. */
static bool run_fine(const PrimCall *call, const Programs *programs, DevMem *const *slice)
{
    uint32_t tiles = visit_tiles(call), share = tiles / SAMPLED + 1;
    uint32_t samples = share < SAMPLES ? share : SAMPLES;
    size_t most = (size_t)dev_info(call->dev)->units * GROUPS_A_UNIT;
    size_t groups = most < MOST_GROUPS ? most : MOST_GROUPS, group = visit_group(call);
    groups = groups < tiles ? groups : tiles;
    const DevArg args[] = {dev_int(call->w),  dev_int(call->h),     dev_uint(tiles),
                           dev_uint(samples), dev_mem(slice[WORK]), dev_mem(slice[COUNTS])};
    const VisitLaunch sample = {programs->reads,
                                "otsu_sample",
                                true,
                                samples,
                                group,
                                (const DevArg[]){args[0], args[1], args[2], args[4], args[5]},
                                5};
    const VisitLaunch read = {programs->reads, "otsu_read", true, groups, group, args, 5};
    const DevArg decide_args[] = {dev_mem(slice[WORK]), dev_uint(samples), dev_int(groups), dev_mem(call->values),
                                  dev_int(call->value)};
    const VisitLaunch decide = {programs->bare, "otsu_decide", false, 1, group, decide_args, 5};
    return visit_launch(call, &sample) && visit_launch(call, &read) && visit_launch(call, &decide);
}

static bool clear_counts(const PrimCall *call, DevMem *const *slice)
{
    size_t bytes = (2 * (size_t)call->otsu.bins + 1) * sizeof(uint32_t);
    return dev_fill(call->dev, slice[COUNTS], 0, bytes, 0, call->err);
}

static bool run_count(PrimCall *call, DevProgram *program, DevMem *const *slice)
{
    const DevArg args[] = {dev_int(call->w),       dev_int(call->h),     dev_uint(visit_tiles(call)),
                           dev_mem(slice[COUNTS]), dev_mem(slice[WORK]), dev_mem(call->values),
                           dev_int(call->value)};
    TRY(visit_launch(call, &(VisitLaunch){.program = program,
                                          .kernel = "histogram_count",
                                          .reads = true,
                                          .groups = visit_groups(call, false),
                                          .group = visit_group(call),
                                          .args = args,
                                          .n_args = 7}));
    TRY(!host_is_huge(call) || host_add_counts(call, slice[COUNTS], (size_t)call->otsu.bins, true));
    return call->owners == NULL || !prim_part(call).last ||
           share_add_counts(call, slice[COUNTS], (size_t)call->otsu.bins, true);
}

static bool run_find(const PrimCall *call, DevProgram *program, DevMem *const *slice)
{
    const DevArg args[] = {dev_mem(slice[WORK]),     dev_mem(slice[COUNTS]),
                           dev_int(call->otsu.bins), dev_int(call->otsu.integer != 0),
                           dev_mem(slice[ROOM]),     dev_mem(call->values),
                           dev_int(call->value)};
    return visit_launch(call, &(VisitLaunch){.program = program,
                                             .kernel = "otsu_find",
                                             .groups = 1,
                                             .group = visit_group(call),
                                             .args = args,
                                             .n_args = 7});
}

static bool run_range(const PrimCall *call, DevMem *const *slice)
{
    PrimCall reduce = reduce_of(call);
    reduce.scratch = slice[WORK];
    return prim_reduce.run(&reduce);
}

/* Images in parts: the range in one pass, the counts in the next. */
static bool run_sliced(PrimCall *call, const Programs *programs, DevMem *const *slice)
{
    const PrimPart part = prim_part(call);
    bool fine = is_fine(call);
    if (part.cut && part.pass == 0) {
        return run_range(call, slice);
    }
    if (fine) {
        TRY(run_fine(call, programs, slice));
    } else if (!part.cut) {
        TRY(run_range(call, slice));
    }
    TRY(fine || !(host_is_huge(call) || part.first) || clear_counts(call, slice));
    return run_count(call, programs->reads, slice) && (!part.last || run_find(call, programs->bare, slice));
}

static bool run(PrimCall *call)
{
    Programs programs;
    DevMem *slice[SLICES] = {NULL};
    TRY(visit_check_count(call));
    TRY(reads_program(call, &programs.reads) && bare_program(call, &programs.bare));
    bool ok = true;
    size_t at = 0;
    for (int i = 0; i < SLICES && ok; i++) {
        size_t bytes = slice_bytes(call, i);
        ok = dev_slice(call->dev, call->scratch, at, bytes, &slice[i], call->err);
        at += bytes;
    }
    ok = ok && run_sliced(call, &programs, slice);
    for (int i = 0; i < SLICES; i++) {
        dev_free(call->dev, slice[i]);
    }
    return ok;
}

static int passes(const PrimCall *call)
{
    (void)call;
    return 2;
}

const Primitive prim_otsu = {.name = "otsu",
                             .scratch_bytes = scratch_bytes,
                             .run = run,
                             .passes = passes,
                             .shares = share_all_passes,
                             .forget = free,
                             .grain = REDUCE_BLOCK_ROWS,
                             .programs = OWN_PROGRAMS + REDUCE_PROGRAMS,
                             .program = program_of};
