/*
 * measure_cut_medians: the middle values of objects that parts cut, by their digits, without keeping values.
 *
 * A round finds the next eight bits.  Every part counts, in a record for each object that it cuts, the digits of
 * the values that begin as the middle one does.  Records of objects that go on behind the part are
 * carried to the next one; where an object ends, its digit is chosen.
 */
#include "measure_kept.h"

#include <stdlib.h>

enum { GROUP = 256, RECORD_WORDS = MEASURE_RECORD / sizeof(uint32_t) };

extern const char kernel_text_measure_values[];

bool measure_cuts_have_medians(const Measuring *m)
{
    return m->cuts != NULL && m->cuts->medians;
}

/* A share's records of objects that are open behind row (plane) `last`: where they are among all of these, and
 * how many.  Their places are found, too. */
static bool find_open(Measuring *m, const MeasureAbout *open, const MeasureShare *share, MeasureShare *of,
                      uint64_t *begin)
{
    PrimCall *call = m->call;
    uint64_t end = 0;
    TRY(measuring_add_sizes(m, MEASURE_RECORDS, open, m->others));
    TRY(dev_read(call->dev, m->others, share->from * sizeof end, begin, sizeof end, call->err));
    TRY(dev_read(call->dev, m->others, share->to * sizeof end, &end, sizeof end, call->err));
    *of = (MeasureShare){share->from, share->to, end - *begin};
    return true;
}

/* The records of a share lie at the beginning of the work area, those that are carried in its second half. */
static MeasureMove record_move(const Measuring *m, const MeasureAbout *open, const MeasureShare *share,
                               const MeasureShare *kept)
{
    return (MeasureMove){.about_here = &m->about,
                         .about_kept = open,
                         .here = *share,
                         .kept = *kept,
                         .unit = RECORD_WORDS,
                         .record = true,
                         .memory_here = m->work,
                         .memory_kept = m->work,
                         .at_kept = dev_bytes(m->work) / 2 / MEASURE_RECORD * RECORD_WORDS};
}

static bool take_carried(Measuring *m, const MeasureShare *share, const MeasureCarried *carried)
{
    PrimCall *call = m->call;
    const MeasureAbout open = {.standing = STANDING_OPEN, .to = m->about.from - 1};
    MeasureShare kept;
    uint64_t begin = 0;
    TRY(find_open(m, &open, share, &kept, &begin));
    const MeasureMove move = record_move(m, &open, share, &kept);
    TRY(dev_write(call->dev, m->work, move.at_kept * sizeof(uint32_t), carried->at + begin * MEASURE_RECORD,
                  kept.size * MEASURE_RECORD, call->err));
    return measure_fetch(m, &move);
}

static bool carry(Measuring *m, const MeasureShare *share, MeasureCarried *carried)
{
    PrimCall *call = m->call;
    const MeasureAbout open = {.standing = STANDING_OPEN, .to = m->about.to};
    MeasureShare kept;
    uint64_t begin = 0;
    bool news = false;
    TRY(find_open(m, &open, share, &kept, &begin));
    const MeasureMove move = record_move(m, &open, share, &kept);
    TRY(measure_keep(m, &move, &news));
    char *more = realloc(carried->at, (carried->n + kept.size) * MEASURE_RECORD + 1);
    if (more == NULL) {
        return measuring_no_memory(m);
    }
    carried->at = more;
    TRY(dev_read(call->dev, m->work, move.at_kept * sizeof(uint32_t), more + carried->n * MEASURE_RECORD,
                 kept.size * MEASURE_RECORD, call->err));
    carried->n += kept.size;
    return true;
}

/* The digits of a share's objects in the part. */
static bool count_digits(Measuring *m, int image, int round)
{
    PrimCall *call = m->call;
    DevProgram *program = NULL;
    TRY(measuring_program(m, kernel_text_measure_values, true, image + 1, &program));
    const DevArg args[] = {dev_int(call->w),
                           dev_int(call->h),
                           dev_int(m->strip),
                           dev_int(24 - 8 * round),
                           dev_uint(m->first),
                           dev_uint(m->n),
                           dev_uint(m->lanes.image[image].median),
                           dev_mem(m->place),
                           dev_mem(m->table),
                           dev_mem(m->work)};
    return measuring_launch(m, &(MeasuringLaunch){.program = program,
                                                  .kernel = "measure_digits",
                                                  .reads = true,
                                                  .group = GROUP,
                                                  .args = args,
                                                  .n_args = 10});
}

static bool choose(Measuring *m, int image, int round)
{
    const MeasureAbout ending = {.standing = STANDING_ENDING, .from = m->about.from, .to = m->about.to};
    const DevArg args[] = {dev_int(round),
                           dev_int(MEASURE_MEDIAN_ROUNDS),
                           dev_double(m->list.fraction[image]),
                           dev_uint(m->lanes.image[image].median),
                           dev_mem(m->place),
                           dev_mem(m->work),
                           dev_mem(m->table)};
    return measuring_launch_about(m, &(MeasuringAbout){.kernel = "cuts_choose",
                                                       .of = {&ending, NULL},
                                                       .args = args,
                                                       .n_args = 7});
}

static bool count_image(Measuring *m, int image, int round)
{
    PrimCall *call = m->call;
    uint64_t capacity = dev_bytes(m->work) / 2 / MEASURE_RECORD;
    MeasureCarried *carried = &m->cuts->carried[image], next = {NULL, 0};
    MeasureShare share = {0, 0, 0};
    TRY(measuring_find_sizes(m, MEASURE_RECORDS));
    bool ok = measuring_take_share(m, capacity, &share);
    while (ok && share.from < share.to) {
        m->cuts->medians = true;
        ok = dev_fill(call->dev, m->work, 0, share.size * MEASURE_RECORD, 0, call->err) &&
             (carried->n == 0 || take_carried(m, &share, carried)) && measuring_place(m, m->sizes, &share) &&
             count_digits(m, image, round) && choose(m, image, round) && carry(m, &share, &next) &&
             measuring_take_share(m, capacity, &share);
    }
    free(carried->at);
    *carried = next;
    return ok;
}

bool measure_cuts_count(Measuring *m, int round)
{
    bool wanted = round == 0 || m->cuts->medians;
    m->about = measure_cut_by_part(m);
    for (int i = 0; wanted && i < m->list.images; i++) {
        TRY(m->lanes.image[i].median < 0 || count_image(m, i, round));
    }
    return true;
}
