/*
 * prim_perlabel: for each label the exact sum, the smallest, the largest or the number of its
 * values.
 *
 * Sums are those of reference/ref_label.c: integers in units that follow from the label's largest
 * exponent, so a first reading of the image finds the exponents and a second one adds.  Everything
 * is folded with integer atomics, runs of equal labels first in registers, then in local memory
 * (see kernels/perlabel.cl).  NaN is left out.  Entries of labels that are not there: sum and count
 * 0, min +inf, max -inf.  Elements beyond the count of labels are not written.  Counts are exact
 * below 2^32.
 *
 * Sums take 16 bytes a label of scratch for at most 2^20 labels or an eighth of the capacity;
 * images with more labels are read once more for each such range, others skip these launches on the
 * device.  Bytes moved per pixel on a GPU: 4 labels and the value's in each reading; two readings
 * for sums, else one.
 *
 * The parts of an image are folded into the same entries; each reading is a pass over them.  There all
 * labels have their sums at once, since a range more would be a pass more.
 */
#include "../prim_host.h"
#include "../prim_share.h"
#include "../prim_visit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    ITEMS = 256, /* PERLABEL_GROUP of kernels/perlabel.cl */
    STRIP = 64,  /* PERLABEL_STRIP */
    PIECES = 4,  /* PERLABEL_PIECES */
    MIN_RANGE = 1 << 20,
    MOST_RANGES = 8,
    MOST_GROUPS = 4096 /* enough to fill a device, few enough to end soon with nothing to do */
};

enum { READS, BARE, PROGRAMS };
extern const char kernel_text_exact_sums[], kernel_text_perlabel[];

/* Labels are u32, so there are no more entries than that. */
static uint64_t capacity_of(const PrimCall *call)
{
    uint64_t length = (uint64_t)call->out[0].length;
    bool known = call->part.cut && call->labels + 1 < (double)length;
    length = known ? (uint64_t)call->labels + 1 : length;
    return length < UINT32_MAX ? length : UINT32_MAX;
}

/* Labels whose sums are kept at a time. */
static uint64_t range_of(const PrimCall *call)
{
    uint64_t capacity = capacity_of(call), range = (capacity + MOST_RANGES - 1) / MOST_RANGES;
    range = range < MIN_RANGE ? MIN_RANGE : range;
    return range < capacity && !call->part.cut ? range : capacity;
}

static size_t scratch_bytes(const PrimCall *call)
{
    bool sum = (int)call->perlabel.fold == LABEL_SUM;
    return sum ? (size_t)range_of(call) * PIECES * sizeof(uint32_t) : 0;
}

typedef struct PerLabel {
    PrimCall *call;
    DevProgram *reads, *bare; /* with the reader, and without */
    bool counts;              /* whole numbers are wanted as they are */
} PerLabel;

/* Launches a kernel for labels from `first` on; with `stream` over the image, else over labels. */
static bool launch(const PerLabel *p, const char *kernel, bool stream, uint64_t first, uint64_t range)
{
    const PrimCall *call = p->call;
    int lanes = 0;
    while (lanes < 8 && 1 << lanes < call->w) {
        lanes++;
    }
    size_t across = ((size_t)call->w + ((size_t)1 << lanes) - 1) >> lanes;
    size_t strips = ((size_t)call->h + STRIP - 1) / STRIP * (size_t)call->planes;
    size_t each = (size_t)ITEMS >> lanes;
    size_t groups = ((size_t)range + ITEMS - 1) / ITEMS;
    if (stream) {
        groups = across * ((strips + each - 1) / each);
    }
    groups = groups < MOST_GROUPS ? groups : MOST_GROUPS;
    DevMem *table = call->out[0].mem;
    bool counted = call->of_value >= 0;
    const DevArg args[] = {dev_int(call->w),
                           dev_int(call->h),
                           dev_int(call->planes),
                           dev_int(lanes),
                           dev_ulong(capacity_of(call)),
                           dev_mem(counted ? call->values : table),
                           dev_int(counted ? call->of_value : -1),
                           dev_uint(first),
                           dev_uint(range),
                           dev_mem(table),
                           dev_mem((int)call->perlabel.fold == LABEL_SUM ? call->scratch : table)};
    return visit_launch(call, &(VisitLaunch){.program = stream ? p->reads : p->bare,
                                             .kernel = kernel,
                                             .reads = stream,
                                             .groups = groups,
                                             .group = ITEMS,
                                             .args = stream ? args : args + 4,
                                             .n_args = stream ? 11 : 7});
}

static bool run_fold(const PerLabel *p)
{
    PrimCall *call = p->call;
    PrimPart part = prim_part(call);
    uint64_t capacity = capacity_of(call);
    bool huge = (int)call->perlabel.fold == LABEL_COUNT && host_is_huge(call);
    TRY(!(part.first || huge) || launch(p, "perlabel_start", false, 0, capacity));
    TRY(launch(p, "perlabel_run", true, 0, capacity));
    TRY(!huge || host_add_counts(call, call->out[0].mem, (size_t)capacity, false));
    TRY(call->owners == NULL || !part.last || share_add_counts(call, call->out[0].mem, (size_t)capacity, false));
    return !part.last || p->counts || launch(p, "perlabel_finish", false, 0, capacity);
}

/* Adds the sums of labels of all ranges, one after the other. */
static bool add_sums(const PerLabel *p)
{
    uint64_t capacity = capacity_of(p->call), range = range_of(p->call);
    for (uint64_t first = 0; first < capacity; first += range) {
        TRY(launch(p, "perlabel_run", true, first, range));
        TRY(!prim_part(p->call).last || launch(p, "perlabel_finish", false, first, range));
    }
    return true;
}

static bool find_exponents(const PerLabel *p)
{
    bool first = prim_part(p->call).first;
    TRY(!first || launch(p, "perlabel_start", false, 0, range_of(p->call)));
    return launch(p, "perlabel_exponents", true, 0, capacity_of(p->call));
}

static bool run_sums(const PerLabel *p)
{
    PrimPart part = prim_part(p->call);
    TRY(part.pass > 0 || find_exponents(p));
    return (part.cut && part.pass == 0) || add_sums(p);
}

static bool program_of(const PrimCall *call, int which, DevProgram **program)
{
    char defines[60];
    snprintf(defines, sizeof defines, "#define PERLABEL_FOLD %d\n", (int)call->perlabel.fold);
    const char *const texts[] = {kernel_text_exact_sums, kernel_text_perlabel, NULL};
    return (which == READS ? visit_program : visit_bare_program)(call, defines, texts, program);
}

static bool run(PrimCall *call)
{
    int fold = (int)call->perlabel.fold;
    PerLabel p = {.call = call, .counts = call->out[0].elem == ELEM_U32};
    TRY(program_of(call, READS, &p.reads) && program_of(call, BARE, &p.bare));
    return fold == LABEL_SUM ? run_sums(&p) : run_fold(&p);
}

static int passes(const PrimCall *call)
{
    return (int)call->perlabel.fold == LABEL_SUM ? 2 : 1;
}

/* Counts, of as many labels as there are. */
static bool shares(const PrimCall *call)
{
    return (int)call->perlabel.fold == LABEL_COUNT && !isnan(call->labels);
}

const Primitive prim_perlabel = {.name = "perlabel",
                                 .scratch_bytes = scratch_bytes,
                                 .run = run,
                                 .passes = passes,
                                 .shares = shares,
                                 .programs = PROGRAMS,
                                 .program = program_of,
                                 .forget = free};
