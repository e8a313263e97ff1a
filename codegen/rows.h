/*
 * rows: what the writers of a kernel that streams over rows hand to each other (rows.c says how it
 * streams): rows.c writes what is done on a row, rows_frame.c the loops around it.
 */
#ifndef CODEGEN_ROWS_H
#define CODEGEN_ROWS_H

#include "kernel.h"

#include "../ir/ahead.h"

/* A row of some plane, by the name of its variable. */
typedef struct Row {
    const char *y, *plane;
    const char *y_of, *plane_of; /* the same, written out over the current row and plane */
    const char *base;            /* what it is derived from, and how: the same again is the same row */
    IrExpr offset;
    int axis;
    Border border;
    const char *inside; /* under a constant border: the condition for being in the image */
    bool folded;        /* derived from the row that a fold takes */
    bool fixed;         /* and so many rows from the current one, */
    int ahead;          /* but for the image's edges */
} Row;

/* The columns of a node on a row, as an array. */
typedef struct Columns {
    IrId node;
    const char *y, *plane, *channel;
    const char *array;
    bool own;       /* only a work-item's own columns */
    bool mended;    /* on a row outside, the value of a constant border stands in it: */
    IrExpr outside; /* this one */
} Columns;

/* Beside an array of columns, each of them less the one before it. */
typedef struct Rises {
    const char *of, *array;
} Rises;

typedef struct Extent {
    IrExpr left, right; /* columns beyond the own PX; host expressions */
    Border border;      /* of the reads with offsets in x */
    IrExpr outside;
    bool used, computed; /* computed: a stage of this kernel */
    bool carried;        /* on every row that it is read on */
    bool blended;        /* some blend along x takes differences of its columns */
    bool rises;          /* stored, and nothing but such blends around a work-item's own columns read it */
    bool tiled;          /* computed as its columns are put into local memory */
} Extent;

/* A stored node's columns on a row, which the tile of a computed one is made of. */
typedef struct TileSource {
    IrId node;
    const char *channel, *name, *element, *kept, *row; /* as of a tile; `name` is what its text calls them */
    bool shared;                                       /* with a tile before it */
} TileSource;

/* A stored node's columns on a row, that are fetched a turn ahead: through local memory, or, when
 * each work-item needs its own only, in registers. */
typedef struct Tile {
    bool own, rises;
    const char *array, *element, *kept; /* types in memory and in the tile */
    const char *left, *width, *map;
    const char *row;         /* pointer to the row's beginning, over the current row */
    Vec(TileSource) sources; /* of a computed one (rows_tile.c): what it is computed of, and */
    const char *compute;     /* how, from their four columns to px_to, statements and all */
} Tile;

/* A stored node's rows, from `lo` to `hi` rows from the current one, that stay in registers while
 * the stream passes over them (rows_carry.c). */
typedef struct Carried {
    IrId node;
    const char *channel, *array;
    int lo, hi;
    const char *element, *kept; /* types in memory and in registers */
    const char *left, *width;
    const char *row;   /* pointer to the row's beginning, over px_at */
    const char *least; /* of px_at: rows before are not read, and need not be there; NULL: any */
} Carried;

/* The result of a fold over the stream axis on a row, of so many columns. */
typedef struct StreamFold {
    IrExpr fold;
    const char *y, *plane, *left, *width, *text;
} StreamFold;

/* The rows that a fold over the stream axis takes for one of its results, from the first to the last. */
typedef struct LastRow {
    IrExpr ahead, behind;
    Border border;
} LastRow;

typedef struct Rows {
    CgKernel *k;
    const IrStep *step;
    Str *body;   /* inside the loop over rows */
    Str *before; /* in front of it: accumulators */
    Str *after;  /* at the end of a turn: accumulators move up */
    Str *prologue;
    Str *stores; /* what a row is stored by */
    Vec(Tile) tiles;
    CgContext cx;
    IdMap nodes;           /* stages, and what they read */
    Vec(Extent *) extents; /* by place in `nodes` */
    Vec(Row) rows;
    Vec(Columns) columns;
    Vec(Rises) rises;
    /* The stage that is being emitted. */
    IrId stage;
    Row at;
    int fold_index;  /* of the fold over the stream axis around the expression; -1 none */
    IrPassed passed; /* what has been prepared, in a stage or in such a fold */
    Row fold_row;
    Vec(StreamFold) folds;      /* those over the stream axis so far: stages share them */
    Vec(LastRow) last_rows;     /* of all folds over the stream axis */
    const char *depth;          /* rows of warm-up: the longest fold; NULL none */
    bool uneven;                /* there are shorter ones */
    IrExpr early;               /* the longest fold's rows but one; 0 none */
    IrExpr steps;               /* of all folds over the stream axis, for one pixel; 0 none */
    IrExpr open;                /* rows that these keep open; 0 none */
    bool warms_up;              /* some stage has a fold over the stream axis */
    bool shifts;                /* and some read is moved along it by something else */
    bool fetches;               /* and one that is long enough to fetch rows a turn ahead */
    bool gpu;                   /* the text is for GPUs alone */
    bool tiles_computed;        /* and stages may be computed as they are put into local memory */
    bool late;                  /* some fold keeps its finished sums for some rows */
    bool inside;                /* nothing beyond the image's edge is read; then some rows are carried */
    const char *columns_inside; /* the condition for that, of columns */
    int lo, hi;                 /* rows read, from the current one */
    Vec(Carried) carried;
    const IrAhead *ahead; /* each stage's rows are computed once, and kept; NULL: on each row that is read */
    bool repeats;         /* a strip may be computed again, with what `inside` is not */
    bool rare;            /* and is, where operands of quotients or roots are rare ones (kernels/rows.cl) */
} Rows;

static inline bool rows_stream_z(const Rows *r)
{
    return r->step->stream == IR_AX_Z;
}

/* The extent of a stage or of what one reads. */
static inline Extent *rows_extent(const Rows *r, IrId node)
{
    return r->extents.at[id_map_find(&r->nodes, node)];
}

/* The larger of two host expressions; a = 0: b. */
IrExpr rows_max_of(IrGraph *g, IrExpr a, IrExpr b);
/* Columns through local memory (rows_tile.c): of a stored node on a row, a turn ahead, on devices where that is faster. */
void rows_take_stored(Rows *r, IrId node, Row row, const Columns *c);
/* Whether a stage may be computed as its columns are put there, and the array that gets them on a row. */
bool rows_may_be_tiled(const Rows *r, IrId stage);
void rows_take_computed(Rows *r, IrId stage, Row row, const char *array);
/* How many of these there are: each takes 1.2 KiB and more of local memory for a row, twice, of 48 KiB. */
enum { ROWS_MOST_COMPUTED = 8 };
int rows_computed_tiles(const Rows *r);
/* What is declared for one, fetches a turn's rows of what it is made of, and computes it. */
void rows_write_computed(const Tile *t, Str *out);
void rows_fetch_computed(const Rows *r, const Tile *t, int indent, const char *from, Str *out);
void rows_keep_computed(const Tile *t, Str *out);

/* From the last stage back: what each reads, it needs as many columns wider as it reaches. */
void rows_find_extents(Rows *r);
/* Of which nodes nothing is read but by blends along x (Extent.rises). */
void rows_find_rises(Rows *r);
/* Runs check what is on the stack of a CPU's thread for each work-item of a group: all columns beside the own ones, and
 * the rows that are kept open. */
void rows_bound_extents(Rows *r);
void rows_bound_open(Rows *r);
/* Columns left and right of the own ones in a node's array, and all of them. */
const char *rows_left(Rows *r, IrId node);
const char *rows_right(Rows *r, IrId node);
const char *rows_width(Rows *r, IrId node);

/* The row that a fold takes last, from the current one.  Folds of one image whose windows end a few rows apart take the
 * same row, the last one's: those that end first keep their sums that much longer. */
IrExpr rows_shared_last(const Rows *r, const IrExprNode *fold, Border border);
/* The stream begins where this fold does, or reads nothing that the other folds do not read of the same image. */
bool rows_begins_with_others(const Rows *r, const IrExprNode *fold, IrExpr last);

/* The channel that a read names; "": the current one. */
const char *rows_channel_text(Rows *r, const IrExprNode *n);
/* A line of what is done on a row. */
void rows_line(Rows *r, const char *text);
/* Pointer to the beginning of a row of a stored node. */
const char *rows_row_text(Rows *r, IrId node, const char *y, const char *plane, const char *channel);
/* The columns of a stored node on the row at `at` into an array, mapped at the image's edges; under a constant border
 * those beyond have its value then. */
void rows_take(Rows *r, IrId node, const char *array, const char *at);
void rows_mend_sides(Rows *r, IrId node, const char *array);
/* Computes a stage on a row into an array; a new one where `array` is NULL. */
const char *rows_emit_stage(Rows *r, IrId id, Row row, const char *array);

/* Kernels whose stages' rows are computed once and kept (rows_ahead.c): lays out the rows of all nodes, and writes what
 * is done on a row of the stream but for the stores. */
void rows_lay_ahead(Rows *r, const IrAhead *ahead);
void rows_emit_ahead(Rows *r);
/* The array of a node's columns `by` rows from that which the stream is at, or from that of a stage. */
const char *rows_kept(const Rows *r, IrId node, int by);
const char *rows_kept_beside(const Rows *r, IrId stage, const IrExprNode *read);

/* Which stored rows `inside`, of a strip away from the image's edges, carries, when `r` is what is
 * done on any row; false when there is nothing to gain. */
bool rows_choose_carried(const Rows *r, Rows *inside);
/* The array of a node's columns on a row, if they are carried; else NULL. */
const char *rows_carried(const Rows *r, IrId node, const Row *row, const char *channel);
/* The condition under which a strip is away from the image's edges. */
const char *rows_are_inside(const Rows *r);
/* What stands around the stream for them: in front of it, at the beginning and the end of a turn. */
void rows_open_carried(Rows *r, Str *out);
void rows_keep_carried(Rows *r, Str *out);
void rows_move_carried(Rows *r, Str *out);

/* A window of chords of a disk or the like, of which the extreme is wanted (rows_chords.c); NULL: it is none. */
typedef struct Chords Chords;
const Chords *rows_find_chords(Rows *r, IrExpr fold);
/* Its steps for a pixel, as long as those of a sum. */
int rows_chord_steps(const Chords *c);
/* Puts a row into the open sums that it belongs to; `last` is how far it lies ahead. */
void rows_emit_chords(Rows *r, const Chords *c, const char *open, int last);

/* A stage that is the smallest or largest pixel along x, all of its columns at once (rows_extremes.c); false: it is none. */
bool rows_column_extremes(Rows *r, IrExpr e, const char *array);
/* The same of a stage that is a sum along x, where that is exact.  NULL: it is not; "": all has been written; else that
 * stands between #if and #else of a condition: what follows is for those who do not meet it. */
const char *rows_column_sums(Rows *r, IrExpr e, const char *array);
/* Whether a fold along the stream takes a turn's rows once for all windows (NULL: no, "": yes, else: under this condition):
 * then what is open before a turn, the turn's rows, and what those so far come to are declared; and a row is added. */
const char *rows_turn_condition(const Rows *r, IrExpr fold, const char *late);
void rows_open_extremes(Rows *r, const char *open, const IrExprNode *fold, const char *rows);
void rows_emit_extremes(Rows *r, const char *open, const IrExprNode *fold);

/* What the kernel's text begins with; then the whole kernel around what r does on a row, for strips
 * away from the image's edges what `inside` does, if it is not NULL. */
void rows_begin_text(Rows *r, Str *out);
void rows_write_kernel(Rows *r, Rows *inside, Str *out);

#endif
