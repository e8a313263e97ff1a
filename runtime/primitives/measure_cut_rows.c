/*
 * measure_cut_rows: the rows of objects that parts cut: their ends, power sums and weighted sums.
 *
 * A part's rows of these are kept as a block.  When an object ends, its rows come together in the work area from
 * all blocks, and go through the same kernels as those of a whole image, in the same order.  Rows of
 * hulls that are to be painted go back into the blocks instead of the objects' rows.
 */
#include "measure_kept.h"
#include "measure_rows.h"

/* One number of each row: where it is in the work area, and which one it is of a block's. */
typedef struct Column {
    DevMem *memory;
    size_t at;     /* bytes, in `memory` */
    size_t size;   /* of a number */
    size_t before; /* bytes that numbers before it have of a row */
} Column;

enum { ENDS = 2, MOST_COLUMNS = ENDS + 4 };

/* Ends, then power sums. */
static int list_columns(const Measuring *m, const MeasureRows *r, Column columns[MOST_COLUMNS])
{
    int n = 0;
    size_t rows = m->at.rows, before = 0;
    for (size_t i = 0; i < ENDS; i++, before += sizeof(int32_t)) {
        columns[n++] = (Column){r->ends, i * rows * sizeof(int32_t), sizeof(int32_t), before};
    }
    for (size_t i = 0; i < (size_t)m->lanes.powers; i++, before += sizeof(uint64_t)) {
        columns[n++] = (Column){r->powers, i * rows * sizeof(uint64_t), sizeof(uint64_t), before};
    }
    return n;
}

/* Sums weighted with the n-th image that has such ones. */
static int list_weights(const Measuring *m, const MeasureRows *r, size_t n, Column columns[MOST_COLUMNS])
{
    size_t rows = m->at.rows;
    size_t before = ENDS * sizeof(int32_t) +
                    ((size_t)m->lanes.powers + n * MEASURE_WEIGHTS) * sizeof(uint64_t);
    for (size_t i = 0; i < MEASURE_WEIGHTS; i++, before += sizeof(double)) {
        columns[i] = (Column){r->weights, i * rows * sizeof(double), sizeof(double), before};
    }
    return MEASURE_WEIGHTS;
}

static size_t row_bytes(const Measuring *m)
{
    size_t n = (size_t)m->lanes.powers;
    for (int i = 0; i < m->list.images; i++) {
        n += m->lanes.image[i].weighted >= 0 ? MEASURE_WEIGHTS : 0;
    }
    return ENDS * sizeof(int32_t) + n * sizeof(uint64_t);
}

static char *column_of(const MeasureBlock *block, const Column *c)
{
    return block->bytes + c->before * block->share.size;
}

static bool take_columns(const Measuring *m, MeasureBlock *block, const Column *columns, int n)
{
    PrimCall *call = m->call;
    for (int i = 0; i < n; i++) {
        const Column *c = &columns[i];
        TRY(dev_read(call->dev, c->memory, c->at, column_of(block, c), c->size * block->share.size,
                     call->err));
    }
    return true;
}

/* Columns of a share's objects come from a block, or those of hulls go back into it. */
static bool move_columns(Measuring *m, const MeasureRows *r, const MeasureShare *share,
                         MeasureBlock *block, const Column *columns, int n, bool keep)
{
    PrimCall *call = m->call;
    const MeasureAbout kept = measure_cut_by_block(block);
    bool news = false;
    TRY(measuring_add_sizes(m, MEASURE_ROWS, &kept, m->others));
    for (int i = 0; i < n; i++) {
        const Column *c = &columns[i];
        size_t bytes = c->size * block->share.size, word = sizeof(uint32_t);
        const MeasureMove move = {.about_here = &m->about,
                                  .about_kept = &kept,
                                  .here = *share,
                                  .kept = block->share,
                                  .unit = (uint32_t)(c->size / word),
                                  .memory_here = c->memory,
                                  .at_here = c->at / word,
                                  .memory_kept = r->kept};
        TRY(dev_write(call->dev, r->kept, 0, column_of(block, c), bytes, call->err));
        TRY(keep ? measure_keep(m, &move, &news) : measure_fetch(m, &move));
        TRY(!news || dev_read(call->dev, r->kept, 0, column_of(block, c), bytes, call->err));
    }
    return true;
}

/* The same with all blocks that may have some of them. */
static bool move_all(Measuring *m, const MeasureRows *r, const MeasureShare *share,
                     const Column *columns, int n, bool keep)
{
    const struct MeasureCuts *cuts = m->cuts;
    for (size_t i = 0; i < cuts->rows.n; i++) {
        MeasureBlock *block = &cuts->rows.at[i];
        bool meets = block->share.from < share->to && share->from < block->share.to;
        TRY(block->to < cuts->ending || !meets ||
            move_columns(m, r, share, block, columns, n, keep));
    }
    return true;
}

static bool take_share(Measuring *m, MeasureRows *r, const MeasureShare *share)
{
    Column columns[MOST_COLUMNS];
    size_t weighted = 0;
    MeasureBlock *block =
        measure_kept_add(m, &m->cuts->rows, share, row_bytes(m) * (size_t)share->size);
    TRY(block != NULL && measuring_place_rows(m, share) && measure_rows_find(m, r, share));
    TRY(take_columns(m, block, columns, list_columns(m, r, columns)));
    for (int i = 0; i < m->list.images; i++) {
        if (m->lanes.image[i].weighted >= 0) {
            TRY(measure_rows_weigh(m, r, share, i));
            TRY(take_columns(m, block, columns, list_weights(m, r, weighted++, columns)));
        }
    }
    return true;
}

static bool finish_share(Measuring *m, MeasureRows *r, const MeasureShare *share)
{
    Column columns[MOST_COLUMNS];
    size_t weighted = 0;
    TRY(measuring_place_rows(m, share));
    TRY(move_all(m, r, share, columns, list_columns(m, r, columns), false));
    TRY(measure_rows_finish(m, r, share));
    if (m->result == MEASURE_MASK) {
        return move_all(m, r, share, columns, ENDS, true);
    }
    for (int i = 0; i < m->list.images; i++) {
        if (m->lanes.image[i].weighted >= 0) {
            int n = list_weights(m, r, weighted++, columns);
            TRY(move_all(m, r, share, columns, n, false));
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
    Column columns[MOST_COLUMNS];
    (void)list_columns(m, r, columns);
    m->about = measure_cut_by_block(block);
    TRY(measuring_find_sizes(m, MEASURE_ROWS));
    TRY(measuring_place_rows(m, &block->share));
    for (int i = 0; i < ENDS; i++) {
        TRY(dev_write(call->dev, columns[i].memory, columns[i].at, column_of(block, &columns[i]),
                      columns[i].size * block->share.size, call->err));
    }
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
