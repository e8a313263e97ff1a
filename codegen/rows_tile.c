/*
 * rows_tile: columns that come through local memory, as they are stored or computed on the way.
 *
 * A stage that is computed of stored pixels at their own place, and is read by folds along x, costs a work-item as much for each
 * column beside its own ones as for these.  On GPUs, where a group's rows come through local memory, whoever puts
 * four columns there computes the stage on them: once for each pixel of the group's rows.  Blurs of quotients and
 * products do so (passes/columns.c).
 */
#include "rows.h"

#include <string.h>

void rows_take_stored(Rows *r, IrId node, Row row, const Columns *c)
{
    Arena *arena = r->k->arena;
    const char *left = rows_left(r, node), *width = rows_width(r, node), *array = c->array;
    const char *element = cg_element(r->k, node);
    Elem type = cg_register_type(&r->cx, node);
    Tile tile = {.own = strcmp(width, "PX") == 0,
                 .rises = c->own,
                 .array = array,
                 .element = element,
                 .kept = type == ELEM_BOOL ? "uint" : cg_type(type),
                 .left = left,
                 .width = width,
                 .map = CG_BORDER_MAPS[rows_extent(r, node)->border],
                 .row = rows_row_text(r, node, row.y_of, row.plane_of, c->channel)};
    vec_push(arena, &r->tiles, tile);
    if (tile.own) {
        rows_line(r, arena_printf(arena, "TAKE_OWN(%s, %s, %s, %s);", array, element, tile.kept, tile.row));
        return;
    }
    const char *what = tile.rises
                           ? arena_printf(arena, "RISES(%s, %s, %s, %s, %s", array, element, tile.kept, width, left)
                           : arena_printf(arena, "COLUMNS(%s, %s, %s, %s", array, element, tile.kept, width);
    rows_line(r, arena_printf(arena, "TAKE_%s, %s, %s, x - %s, w);", what, tile.map, tile.row, left));
}

/* ---- computed ones ------------------------------------------------------------------------- */

typedef struct Reads {
    const Rows *r;
    bool plain; /* of stored pixels at their own place, in types that come through local memory */
} Reads;

static void look_at_read(const IrGraph *g, IrExpr e, void *ctx)
{
    Reads *w = ctx;
    const IrExprNode *n = ir_expr(g, e);
    if (n->op == IR_X_READ) {
        const bool moved = n->a != 0 || n->b != 0 || n->c != 0;
        const bool stage = ir_stage_place(w->r->step, n->node) >= 0;
        const Elem type = ir_read_type(g, n->node);
        w->plain = w->plain && !moved && !stage && (type == ELEM_F32 || type == ELEM_I32 || type == ELEM_U32);
    }
    w->plain = w->plain && n->op != IR_X_READAT && n->op != IR_X_FOLD && n->op != IR_X_COORD && n->op != IR_X_LOOKUP &&
               n->op != IR_X_CALL;
}

typedef struct Besides {
    IrId node;
    bool beside;
} Besides;

static void look_beside(const IrGraph *g, IrExpr e, void *ctx)
{
    Besides *w = ctx;
    const IrExprNode *n = ir_expr(g, e);
    w->beside = w->beside || (n->op == IR_X_READ && n->node == w->node && n->a != 0 && n->border != BORDER_CONSTANT);
}

/* Its value has to be one that is stored nowhere, and read beside the pixel by some stage. */
bool rows_may_be_tiled(const Rows *r, IrId stage)
{
    const IrGraph *g = r->k->g;
    const IrNode *node = ir_node(g, stage);
    Reads reads = {r, node->elem == ELEM_F32};
    Besides besides = {stage, false};
    if (!r->tiles_computed || r->k->cg->buffer[stage] >= 0) {
        return false;
    }
    ir_walk(g, node->map.value, look_at_read, &reads);
    for (int i = 0; i < r->step->stages.n && reads.plain; i++) {
        ir_walk(g, ir_node(g, r->step->stages.at[i])->map.value, look_beside, &besides);
    }
    return reads.plain && besides.beside;
}

int rows_computed_tiles(const Rows *r)
{
    int n = 0;
    for (int i = 0; i < r->tiles.n; i++) {
        n += r->tiles.at[i].compute != NULL;
    }
    return n;
}

/* What a tile that is declared already fetches of the same pixels. */
static const TileSource *find_source(const Rows *r, const Tile *of, const TileSource *wanted)
{
    for (int i = 0; i < r->tiles.n; i++) {
        const Tile *t = &r->tiles.at[i];
        for (int k = 0; k < t->sources.n; k++) {
            const TileSource *s = &t->sources.at[k];
            if (s->node == wanted->node && strcmp(s->channel, wanted->channel) == 0 &&
                strcmp(s->row, wanted->row) == 0 && strcmp(s->kept, wanted->kept) == 0 &&
                strcmp(t->left, of->left) == 0 && strcmp(t->width, of->width) == 0 && strcmp(t->map, of->map) == 0) {
                return s;
            }
        }
    }
    return NULL;
}

/* The tile that is being written: the last one. */
static Tile *tile_of(Rows *r)
{
    return &r->tiles.at[r->tiles.n - 1];
}

static const char *source_text(CgContext *cx, IrExpr e)
{
    Rows *r = cx->user;
    CgKernel *k = r->k;
    Tile *t = tile_of(r);
    const IrExprNode n = *ir_expr(k->g, e);
    const char *channel = rows_channel_text(r, &n);
    for (int i = 0; i < t->sources.n; i++) {
        const TileSource *s = &t->sources.at[i];
        if (s->node == n.node && strcmp(s->channel, channel) == 0) {
            return arena_printf(k->arena, "%s[k]", s->name);
        }
    }
    TileSource s = {.node = n.node,
                    .channel = channel,
                    .name = arena_printf(k->arena, "%s_of%d", t->array, t->sources.n),
                    .element = cg_element(k, n.node),
                    .kept = cg_type(cg_register_type(cx, n.node)),
                    .row = rows_row_text(r, n.node, r->at.y_of, r->at.plane_of, channel)};
    const TileSource *there = find_source(r, t, &s);
    s.name = there != NULL ? there->name : s.name;
    s.shared = there != NULL;
    vec_push(k->arena, &t->sources, s);
    return arena_printf(k->arena, "%s[k]", s.name);
}

/* The stage's value as statements, over column k of its sources. */
static const char *compute_text(Rows *r, IrId stage)
{
    enum { INDENT = 5 };
    CgContext *cx = &r->cx;
    const CgContext around = *cx;
    Str text;
    str_init(&text, r->k->arena);
    cx->out = &text;
    cx->read = source_text;
    cx->indent = INDENT;
    memset(&cx->memo, 0, sizeof cx->memo);
    memset(&cx->loops, 0, sizeof cx->loops);
    const char *value = cg_store_text(cx, ir_node(r->k->g, stage)->map.value, stage);
    cg_line(cx, "px_to[k] = %s;", cg_bare(r->k->arena, value));
    cx->out = around.out;
    cx->read = around.read;
    cx->indent = around.indent;
    cx->memo = around.memo;
    cx->loops = around.loops;
    return text.at;
}

void rows_take_computed(Rows *r, IrId stage, Row row, const char *array)
{
    Arena *arena = r->k->arena;
    const Row at = r->at;
    const char *left = rows_left(r, stage), *width = rows_width(r, stage);
    cg_param_extent(r->k, 0, 0);
    const Tile tile = {.array = array,
                       .kept = cg_type(ELEM_F32),
                       .left = left,
                       .width = width,
                       .map = CG_BORDER_MAPS[rows_extent(r, stage)->border]};
    vec_push(arena, &r->tiles, tile);
    r->at = row;
    tile_of(r)->compute = compute_text(r, stage);
    r->at = at;
    rows_line(r, arena_printf(arena, "%s %s[%s];", tile.kept, array, width));
    rows_line(r, arena_printf(arena, "TAKE_VECTORS(%s, %s, %s, %s)", array, array, tile.kept, width));
}

void rows_write_computed(const Tile *t, Str *out)
{
    str_addf(out, "    TILE_COMPUTED(%s, %s, %s, %s);\n", t->array, t->kept, t->left, t->width);
    for (int i = 0; i < t->sources.n; i++) {
        const TileSource *s = &t->sources.at[i];
        if (!s->shared) {
            str_addf(out, "    TILE_SOURCE(%s, %s, %s, %s);\n", s->name, s->element, t->left, t->width);
        }
    }
}

void rows_fetch_computed(const Rows *r, const Tile *t, int indent, const char *from, Str *out)
{
    for (int i = 0; i < t->sources.n; i++) {
        const TileSource *s = &t->sources.at[i];
        if (!s->shared) {
            str_addf(out, "%*sFETCH_ROWS(%s, %s, %s, %s, %s, %s);\n", indent, "", s->name, s->element, t->map,
                     rows_stream_z(r) ? "plane" : "y", from, s->row);
        }
    }
}

void rows_keep_computed(const Tile *t, Str *out)
{
    str_addf(out,
             "        PX_UNROLL for (int px_v = 0; px_v < %s_vectors; px_v++) {\n"
             "            if (IS_VECTOR(%s, px_v)) {\n",
             t->array, t->array);
    for (int i = 0; i < t->sources.n; i++) {
        const TileSource *s = &t->sources.at[i];
        str_addf(out, "                TAKE_SOURCE(%s, %s, %s);\n", s->name, s->element, s->kept);
    }
    str_addf(out,
             "                %s px_to[4];\n"
             "                PX_UNROLL for (int k = 0; k < 4; k++) {\n"
             "%s"
             "                }\n"
             "                KEEP_COMPUTED(%s, %s, px_to);\n"
             "            }\n"
             "        }\n",
             t->kept, t->compute, t->array, t->kept);
}
