/*
 * measure_cut_holes: the holes of objects that parts cut.
 *
 * A part's bits of these are kept as a block: pixels that are not in the object, and those of them that are
 * known to be reached from the edge of its box.  When objects end, blocks go to the device one by one, each
 * with a row (in volumes a plane) of its neighbours on either side, until there is nothing more to reach in
 * any; as values that rise do (propagate_parts.h).
 */
#include "measure_kept.h"

enum { GROUP = 128 };

extern const char kernel_text_measure_fill[];

/* Words from the beginning of the work area: open pixels; what is reached, twice; what was kept. */
static uint64_t area(const Measuring *m, int n)
{
    return (uint64_t)n * m->at.words;
}

/* A block's open pixels, and those that are reached. */
enum { OPEN, REACHED, BITS };

static char *bits_of(const MeasureBlock *block, int which)
{
    return block->bytes + (size_t)which * block->share.size * sizeof(uint32_t);
}

static bool transfer(const Measuring *m, const MeasureBlock *block, int which, uint64_t word, bool up)
{
    PrimCall *call = m->call;
    size_t at = word * sizeof(uint32_t), bytes = block->share.size * sizeof(uint32_t);
    return up ? dev_write(call->dev, m->work, at, bits_of(block, which), bytes, call->err)
              : dev_read(call->dev, m->work, at, bits_of(block, which), bytes, call->err);
}

static bool launch(Measuring *m, const char *kernel, const MeasureShare *share, bool reads, const DevArg *args,
                   int n_args)
{
    DevProgram *program = NULL;
    TRY(measuring_program(m, kernel_text_measure_fill, true, 0, &program));
    return measuring_launch(m, &(MeasuringLaunch){.program = program,
                                                  .kernel = kernel,
                                                  .reads = reads,
                                                  .groups = {share->to - share->from, 1, 1},
                                                  .group = GROUP,
                                                  .args = args,
                                                  .n_args = n_args});
}

static bool are_neighbours(const MeasureBlock *a, const MeasureBlock *b)
{
    bool share = a->share.from < b->share.to && b->share.from < a->share.to;
    return share && (a->to + 1 == b->from || b->to + 1 == a->from);
}

/* Others may reach more, now that the block does. */
static void wake_neighbours(const Measuring *m, const MeasureBlock *block)
{
    const MeasureKept *kept = &m->cuts->bits;
    for (size_t i = 0; i < kept->n; i++) {
        kept->at[i].stale = kept->at[i].stale || are_neighbours(block, &kept->at[i]);
    }
}

/* ---- taking -------------------------------------------------------------------------------- */

static bool take_share(Measuring *m, const MeasureShare *share)
{
    const PrimCall *call = m->call;
    MeasureBlock *block = measure_kept_add(m, &m->cuts->bits, share, BITS * (size_t)share->size * sizeof(uint32_t));
    TRY(block != NULL && measuring_place(m, m->others, share));
    const DevArg args[] = {dev_int(call->h),   dev_int(call->d),  dev_int(call->part.y), dev_int(call->part.z),
                           dev_uint(m->first), dev_uint(m->n),    dev_uint(share->from), dev_ulong(area(m, 1)),
                           dev_mem(m->lows),   dev_mem(m->place), dev_mem(m->work)};
    TRY(launch(m, "measure_open", share, true, args, 11));
    wake_neighbours(m, block);
    return transfer(m, block, OPEN, area(m, 0), false) && transfer(m, block, REACHED, area(m, 1), false);
}

/* As many objects at a time as fit with what is around the part. */
static bool take(Measuring *m)
{
    MeasureShare share = {0, 0, 0};
    MeasureAbout cut = measure_cut_by_part(m);
    TRY(measuring_add_sizes(m, MEASURE_WORDS, &cut, m->others));
    cut.around = 1;
    TRY(measuring_add_sizes(m, MEASURE_WORDS, &cut, m->sizes));
    TRY(measuring_take_share(m, m->at.words, &share));
    while (share.from < share.to) {
        TRY(take_share(m, &share));
        TRY(measuring_take_share(m, m->at.words, &share));
    }
    return true;
}

/* ---- flooding ------------------------------------------------------------------------------ */

/* What a block has of the objects of another one, which lie in the work area with what is around their part. */
static bool fetch(Measuring *m, const MeasureBlock *from, const MeasureBlock *to)
{
    const MeasureAbout kept = measure_cut_by_block(from);
    TRY(measuring_add_sizes(m, MEASURE_WORDS, &kept, m->others));
    for (int which = 0; which < BITS; which++) {
        const MeasureMove move = {.about_here = &m->about,
                                  .about_kept = &kept,
                                  .here = to->share,
                                  .kept = from->share,
                                  .memory_here = m->work,
                                  .memory_kept = m->work,
                                  .at_here = area(m, which),
                                  .at_kept = area(m, 3)};
        TRY(transfer(m, from, which, area(m, 3), true));
        TRY(measure_fetch(m, &move));
    }
    return true;
}

/* What is reached now; *news: there is more. */
static bool keep(Measuring *m, const MeasureBlock *block, bool *news)
{
    const MeasureAbout kept = measure_cut_by_block(block);
    const MeasureMove move = {.about_here = &m->about,
                              .about_kept = &kept,
                              .here = block->share,
                              .kept = block->share,
                              .memory_here = m->work,
                              .memory_kept = m->work,
                              .at_here = area(m, REACHED),
                              .at_kept = area(m, 3)};
    TRY(measuring_add_sizes(m, MEASURE_WORDS, &kept, m->others));
    TRY(transfer(m, block, REACHED, area(m, 3), true));
    TRY(measure_keep(m, &move, news));
    return !*news || transfer(m, block, REACHED, area(m, 3), false);
}

/* The arguments that clip objects' boxes to a block's part. */
static void clip(const Measuring *m, const MeasureBlock *block, int around, DevArg args[4])
{
    int32_t first, last;
    int axis = measuring_cut_axis(m, &first, &last);
    for (int i = 0; i < 2; i++) {
        args[2 * i] = dev_int(axis == i + 1 ? block->from - around : 0);
        args[2 * i + 1] = dev_int(axis == i + 1 ? block->to + around : INT32_MAX);
    }
}

static bool flood(Measuring *m, MeasureBlock *block)
{
    const MeasureKept *kept = &m->cuts->bits;
    PrimCall *call = m->call;
    bool news = false;
    m->about = measure_cut_by_block(block);
    m->about.around = 1;
    TRY(measuring_find_sizes(m, MEASURE_WORDS));
    for (int which = 0; which < BITS; which++) {
        TRY(dev_fill(call->dev, m->work, area(m, which) * sizeof(uint32_t), block->share.size * sizeof(uint32_t), 0,
                     call->err));
    }
    for (size_t i = 0; i < kept->n; i++) {
        bool wanted = block == &kept->at[i] || are_neighbours(block, &kept->at[i]);
        TRY(!wanted || fetch(m, &kept->at[i], block));
    }
    TRY(measuring_place(m, m->sizes, &block->share));
    DevArg args[] =
        {dev_uint(m->n), dev_uint(block->share.from), dev_int(0),       dev_int(0),        dev_int(0),
         dev_int(0),     dev_ulong(area(m, 1)),       dev_mem(m->lows), dev_mem(m->place), dev_mem(m->work)};
    clip(m, block, 1, args + 2);
    TRY(launch(m, "measure_flood", &block->share, false, args, 10));
    TRY(keep(m, block, &news));
    block->stale = false;
    if (news) {
        wake_neighbours(m, block);
    }
    return true;
}

/* Down and up over the blocks, until none has anything left to reach. */
static bool settle(Measuring *m)
{
    const struct MeasureCuts *cuts = m->cuts;
    size_t n = cuts->bits.n;
    bool again = true;
    while (again) {
        again = false;
        for (size_t i = 0; i < 2 * n; i++) {
            MeasureBlock *block = &cuts->bits.at[i < n ? i : 2 * n - 1 - i];
            if (block->stale && block->to >= cuts->ending) {
                TRY(flood(m, block));
                again = true;
            }
        }
    }
    return true;
}

static bool count_block(Measuring *m, const MeasureBlock *block)
{
    int32_t from, to;
    int axis = measuring_cut_axis(m, &from, &to);
    m->about = measure_cut_by_block(block);
    TRY(measuring_find_sizes(m, MEASURE_WORDS));
    TRY(measuring_place(m, m->sizes, &block->share));
    TRY(transfer(m, block, REACHED, 0, true));
    DevArg args[] = {dev_uint(m->n),     dev_uint(block->share.from),
                     dev_int(0),         dev_int(0),
                     dev_int(0),         dev_int(0),
                     dev_int(axis == 2), dev_int(from),
                     dev_int(to),        dev_uint(m->lanes.filled),
                     dev_mem(m->table),  dev_mem(m->lows),
                     dev_mem(m->place),  dev_mem(m->work)};
    clip(m, block, 0, args + 2);
    return launch(m, "measure_unreached", &block->share, false, args, 14);
}

bool measure_cut_holes(Measuring *m)
{
    struct MeasureCuts *cuts = m->cuts;
    TRY(take(m));
    if (cuts->ending < INT32_MAX) {
        TRY(settle(m));
        for (size_t i = 0; i < cuts->bits.n; i++) {
            TRY(cuts->bits.at[i].to < cuts->ending || count_block(m, &cuts->bits.at[i]));
        }
    }
    measure_kept_drop(&cuts->bits, cuts->open);
    return true;
}
