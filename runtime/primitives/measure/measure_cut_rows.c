/*
 * measure_cut_rows: the rows of objects that parts cut: their ends, power sums and weighted sums.
 *
 * A part's rows of these are kept as a block.  When an object ends, its rows come together in the work area from
 * all blocks, and go through the same kernels as those of a whole image, in the same order.  Rows of
 * hulls that are to be painted go back into the blocks instead of the objects' rows.
 */
#include "measure_kept.h"
#include "measure_rows.h"

/* Numbers of each row, in columns `at.rows` apart in the work area. */
typedef struct Columns {
    DevMem *memory;
    size_t n, size; /* of a number */
    size_t before;  /* bytes that others have of a row, before these */
} Columns;

enum { ENDS = 2 };

static Columns ends_of(const MeasureRows *r)
{
    return (Columns){r->ends, ENDS, sizeof(int32_t), 0};
}

static Columns powers_of(const Measuring *m, const MeasureRows *r)
{
    return (Columns){r->powers, (size_t)m->lanes.powers, sizeof(uint64_t), ENDS * sizeof(int32_t)};
}

/* Sums weighted with an image, behind those with the images before it. */
static Columns weights_of(const Measuring *m, const MeasureRows *r, int image)
{
    size_t before = ENDS * sizeof(int32_t) + (size_t)m->lanes.powers * sizeof(uint64_t);
    for (int i = 0; i < image; i++) {
        before += m->lanes.image[i].weighted >= 0 ? MEASURE_WEIGHTS * sizeof(double) : 0;
    }
    return (Columns){r->weights, MEASURE_WEIGHTS, sizeof(double), before};
}

static size_t row_bytes(const Measuring *m)
{
    return weights_of(m, &(MeasureRows){0}, m->list.images).before;
}

static char *kept_at(const MeasureBlock *block, const Columns *c)
{
    return block->bytes + c->before * block->share.size;
}

static bool take_columns(const Measuring *m, const MeasureBlock *block, Columns c)
{
    PrimCall *call = m->call;
    size_t column = c.size * block->share.size;
    return c.n == 0 || dev_read_rows(call->dev, c.memory, 0, c.size * m->at.rows, kept_at(block, &c), column, column,
                                     c.n, call->err);
}

/* Columns of a share's objects come from a block, or those of hulls go back into it. */
static bool move_columns(Measuring *m, const MeasureRows *r, const MeasureShare *share, const MeasureBlock *block,
                         const Columns *c, bool keep)
{
    PrimCall *call = m->call;
    const MeasureAbout kept = measure_cut_by_block(block);
    size_t words = c->size / sizeof(uint32_t), bytes = c->n * c->size * block->share.size;
    bool news = false;
    const MeasureMove move = {.about_here = &m->about,
                              .about_kept = &kept,
                              .here = *share,
                              .kept = block->share,
                              .unit = (uint32_t)words,
                              .memory_here = c->memory,
                              .memory_kept = r->kept,
                              .columns = c->n,
                              .step_here = words * m->at.rows,
                              .step_kept = words * block->share.size};
    TRY(measuring_add_sizes(m, MEASURE_ROWS, &kept, m->others));
    TRY(dev_write(call->dev, r->kept, 0, kept_at(block, c), bytes, call->err));
    TRY(keep ? measure_keep(m, &move, &news) : measure_fetch(m, &move));
    return !news || dev_read(call->dev, r->kept, 0, kept_at(block, c), bytes, call->err);
}

/* The same with all blocks that may have some of them. */
static bool move_all(Measuring *m, const MeasureRows *r, const MeasureShare *share, Columns c, bool keep)
{
    const struct MeasureCuts *cuts = m->cuts;
    for (size_t i = 0; i < cuts->rows.n && c.n > 0; i++) {
        const MeasureBlock *block = &cuts->rows.at[i];
        bool meets = block->share.from < share->to && share->from < block->share.to;
        TRY(block->to < cuts->ending || !meets || move_columns(m, r, share, block, &c, keep));
    }
    return true;
}

static bool take_share(Measuring *m, MeasureRows *r, const MeasureShare *share)
{
    const MeasureBlock *block = measure_kept_add(m, &m->cuts->rows, share, row_bytes(m) * (size_t)share->size);
    TRY(block != NULL && measuring_place_rows(m, share) && measure_rows_find(m, r, share));
    TRY(take_columns(m, block, ends_of(r)) && take_columns(m, block, powers_of(m, r)));
    for (int i = 0; i < m->list.images; i++) {
        if (m->lanes.image[i].weighted >= 0) {
            TRY(measure_rows_weigh(m, r, share, i));
            TRY(take_columns(m, block, weights_of(m, r, i)));
        }
    }
    return true;
}

static bool finish_share(Measuring *m, MeasureRows *r, const MeasureShare *share)
{
    TRY(measuring_place_rows(m, share));
    TRY(move_all(m, r, share, ends_of(r), false) && move_all(m, r, share, powers_of(m, r), false));
    TRY(measure_rows_finish(m, r, share));
    if (m->result == MEASURE_MASK) {
        return move_all(m, r, share, ends_of(r), true);
    }
    for (int i = 0; i < m->list.images; i++) {
        if (m->lanes.image[i].weighted >= 0) {
            TRY(move_all(m, r, share, weights_of(m, r, i), false));
            TRY(measure_rows_finish_weighted(m, r, share, i));
        }
    }
    return true;
}

static bool each_share(Measuring *m, MeasureRows *r, const MeasureAbout *about,
                       bool (*work)(Measuring *, MeasureRows *, const MeasureShare *))
{
    MeasureShare share = {0, 0, 0};
    m->about = *about;
    TRY(measuring_find_sizes(m, MEASURE_ROWS));
    TRY(measuring_take_share(m, m->at.rows, &share));
    while (share.from < share.to) {
        TRY(work(m, r, &share));
        TRY(measuring_take_share(m, m->at.rows, &share));
    }
    return true;
}

bool measure_cut_rows(Measuring *m)
{
    struct MeasureCuts *cuts = m->cuts;
    MeasureRows rows = {0};
    const MeasureAbout cut = measure_cut_by_part(m);
    const MeasureAbout ending = {.standing = STANDING_ENDING, .from = cut.from, .to = cut.to};
    bool ok = measure_rows_open(m, &rows) && each_share(m, &rows, &cut, take_share) &&
              (cuts->ending == INT32_MAX || each_share(m, &rows, &ending, finish_share));
    measure_rows_close(m, &rows);
    if (m->result != MEASURE_MASK) {
        measure_kept_drop(&cuts->rows, cuts->open);
    }
    return ok;
}

/* ---- hulls --------------------------------------------------------------------------------- */

static bool paint_block(Measuring *m, MeasureRows *r, const MeasureBlock *block)
{
    PrimCall *call = m->call;
    const Columns ends = ends_of(r);
    size_t column = ends.size * block->share.size;
    m->about = measure_cut_by_block(block);
    TRY(measuring_find_sizes(m, MEASURE_ROWS));
    TRY(measuring_place_rows(m, &block->share));
    TRY(dev_write_rows(call->dev, ends.memory, 0, ends.size * m->at.rows, kept_at(block, &ends), column, column, ends.n,
                       call->err));
    return measure_rows_paint(m, r, &block->share);
}

bool measure_cut_paint(Measuring *m)
{
    const MeasureKept *kept = &m->cuts->rows;
    MeasureRows rows = {0};
    int32_t from, to;
    (void)measuring_cut_axis(m, &from, &to);
    bool ok = measure_rows_open(m, &rows);
    for (size_t i = 0; ok && i < kept->n; i++) {
        ok = kept->at[i].from != from || paint_block(m, &rows, &kept->at[i]);
    }
    measure_rows_close(m, &rows);
    return ok;
}
