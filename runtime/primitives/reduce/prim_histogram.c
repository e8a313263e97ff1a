/*
 * prim_histogram: counts of equal bins, and thresholds found from them, on the device throughout: a
 * threshold reads the counts where the histogram has put them, and its value stays there.
 *
 * The vector of counts is as long as the host can tell beforehand; integers use as many bins as the
 * range on the device has values.  See kernels/histogram.cl and kernels/threshold.cl.  It has the low words of all
 * counts, behind them the high ones, and a word that says whether these are all 0.
 *
 * The parts of an image add to the same low words.  Where a bin of all the image could hold more than 32
 * bits count, the host adds up what each part has counted; else high words are 0.
 */
#include "../prim_host.h"
#include "../prim_share.h"
#include "../prim_visit.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    LOCAL_WORDS = 8192, /* 32 copies of 256 bins */
    FEW_LOCAL_WORDS = 4096
};

extern const char kernel_text_range[];
extern const char kernel_text_histogram[];
extern const char kernel_text_threshold[];

static const char *const METHOD_NAMES[THRESHOLD_METHODS] =
    {[METHOD_OTSU] = "otsu",       [METHOD_YEN] = "yen",         [METHOD_TRIANGLE] = "triangle",
     [METHOD_ISODATA] = "isodata", [METHOD_MINIMUM] = "minimum", [METHOD_LI] = "li"};

static bool histogram_program(const PrimCall *call, int which, DevProgram **program)
{
    int bins = (int)call->histogram.bins;
    (void)which;
    if (bins < 1) {
        return err_set(call->err, CODE_USAGE, "%s: a histogram needs at least one bin, not %d", call->name, bins);
    }
    uint64_t local = dev_info(call->dev)->local;
    int words = local > LOCAL_WORDS * sizeof(uint32_t) ? LOCAL_WORDS : FEW_LOCAL_WORDS;
    char defines[128];
    snprintf(defines, sizeof defines,
             "#define HISTOGRAM_BINS %d\n"
             "#define HISTOGRAM_INTEGER %d\n"
             "#define HISTOGRAM_LOCAL_WORDS %d\n"
             "#define HISTOGRAM_IN_OTSU 0\n",
             bins, call->histogram.integer != 0, words);
    const char *texts[] = {kernel_text_visit, kernel_text_range, kernel_text_histogram, NULL};
    return visit_program(call, defines, texts, program);
}

static bool run_histogram(PrimCall *call)
{
    int bins = (int)call->histogram.bins;
    DevProgram *program = NULL;
    TRY(visit_check_count(call));
    TRY(histogram_program(call, 0, &program));
    TRY(!(host_is_huge(call) || prim_part(call).first) ||
        dev_fill(call->dev, call->out[0].mem, 0, (2 * (size_t)bins + 1) * sizeof(uint32_t), 0, call->err));
    const DevArg args[] = {dev_int(call->w), dev_int(call->h), dev_uint(visit_tiles(call)), dev_mem(call->out[0].mem)};
    TRY(visit_launch(call, &(VisitLaunch){.program = program,
                                          .kernel = "histogram_count",
                                          .reads = true,
                                          .groups = visit_groups(call, false),
                                          .group = visit_group(call),
                                          .args = args,
                                          .n_args = 4}));
    TRY(!host_is_huge(call) || host_add_counts(call, call->out[0].mem, (size_t)bins, true));
    return call->owners == NULL || !prim_part(call).last ||
           share_add_counts(call, call->out[0].mem, (size_t)bins, true);
}

static int histogram_passes(const PrimCall *call)
{
    (void)call;
    return 1;
}

const Primitive prim_histogram = {.name = "histogram",
                                  .run = run_histogram,
                                  .passes = histogram_passes,
                                  .shares = share_all_passes,
                                  .forget = free,
                                  .programs = 1,
                                  .program = histogram_program};

/* in[0] is the vector of counts, the node's `of`. */
static size_t threshold_scratch(const PrimCall *call)
{
    return 4 * (size_t)(call->in[0].length / 2) * sizeof(double);
}

static bool threshold_program(const PrimCall *call, int which, DevProgram **program)
{
    (void)which;
    int method = (int)call->threshold.method;
    if (method < 0 || method >= THRESHOLD_METHODS) {
        return err_set(call->err, CODE_USAGE, "%s: there is no threshold method %d", call->name, method);
    }
    char defines[128];
    snprintf(defines, sizeof defines,
             "/* %s */\n"
             "#define THRESHOLD_METHOD %d\n"
             "#define THRESHOLD_GROUP %zu\n"
             "#define THRESHOLD_IN_OTSU 0\n",
             METHOD_NAMES[method], method, visit_group(call));
    const char *texts[] = {kernel_text_range, kernel_text_threshold, NULL};
    return visit_program(call, defines, texts, program);
}

static bool run_threshold(PrimCall *call)
{
    DevProgram *program = NULL;
    TRY(threshold_program(call, 0, &program));
    const DevArg args[] = {dev_mem(call->in[0].mem),
                           dev_int(call->in[0].length / 2),
                           dev_int(call->threshold.integer != 0),
                           dev_mem(call->scratch),
                           dev_mem(call->values),
                           dev_int(call->value)};
    return visit_launch(call, &(VisitLaunch){.program = program,
                                             .kernel = "threshold_find",
                                             .reads = true,
                                             .groups = 1,
                                             .group = visit_group(call),
                                             .args = args,
                                             .n_args = 6});
}

const Primitive prim_threshold = {.name = "threshold",
                                  .scratch_bytes = threshold_scratch,
                                  .run = run_threshold,
                                  .programs = 1,
                                  .program = threshold_program};
