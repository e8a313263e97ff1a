/*
 * rows_carry: stored rows that stay in registers while a stream passes over them.
 *
 * A kernel with short folds that reads an image on several rows loads most of them again and again,
 * and waits for each.  Where a group's strip is away from all of the image's edges nothing is mapped,
 * so that the rows of one turn are the next one's, moved up; each is loaded once, a turn ahead, and
 * no branch keeps the compiler from mixing loads with arithmetic.  Strips at the edges read their
 * rows as they come (rows.c).
 */
#include "rows.h"

#include <string.h>

enum { MAX_SPAN = 4 }; /* rows from the first that is carried to the last */

static const Row *row_of(const Rows *r, const Columns *c)
{
    for (int i = 0; i < r->rows.n; i++) {
        const Row *row = &r->rows.at[i];
        if (strcmp(row->y, c->y) == 0 && strcmp(row->plane, c->plane) == 0) {
            return row;
        }
    }
    return NULL;
}

/* All rows are so many from the one that a fold of everybody's length takes. */
static bool is_plain(const Rows *r)
{
    bool plain = r->depth != NULL && r->tiles.n == 0 && !r->uneven;
    for (int i = 0; i < r->rows.n; i++) {
        plain = plain && r->rows.at[i].fixed && r->rows.at[i].folded;
    }
    return plain;
}

static Carried *find_carried(const Rows *r, IrId node, const char *channel)
{
    for (int i = 0; i < r->carried.n; i++) {
        if (r->carried.at[i].node == node && strcmp(r->carried.at[i].channel, channel) == 0) {
            return &r->carried.at[i];
        }
    }
    return NULL;
}

static void note_columns(const Rows *r, const Columns *c, Rows *inside)
{
    const Row *row = row_of(r, c);
    if (rows_extent(r, c->node)->computed || row == NULL) {
        return;
    }
    Carried *have = find_carried(inside, c->node, c->channel);
    if (have == NULL) {
        Carried new = {.node = c->node, .channel = c->channel, .lo = row->ahead, .hi = row->ahead};
        vec_push(r->k->arena, &inside->carried, new);
    } else {
        have->lo = row->ahead < have->lo ? row->ahead : have->lo;
        have->hi = row->ahead > have->hi ? row->ahead : have->hi;
    }
}

bool rows_choose_carried(const Rows *r, Rows *inside)
{
    if (!is_plain(r)) {
        return false;
    }
    for (int i = 0; i < r->columns.n; i++) {
        note_columns(r, &r->columns.at[i], inside);
    }
    for (int i = 0; i < r->rows.n; i++) {
        int ahead = r->rows.at[i].ahead;
        inside->lo = ahead < inside->lo ? ahead : inside->lo;
        inside->hi = ahead > inside->hi ? ahead : inside->hi;
    }
    int n = 0;
    for (int i = 0; i < inside->carried.n; i++) {
        Carried c = inside->carried.at[i];
        c.array = arena_printf(r->k->arena, "px_carried%d", n);
        if (c.hi > c.lo && c.hi - c.lo <= MAX_SPAN) {
            inside->carried.at[n++] = c;
            rows_extent(inside, c.node)->carried = true;
        }
    }
    inside->carried.n = n;
    for (int i = 0; i < r->columns.n; i++) {
        const Columns *c = &r->columns.at[i];
        if (row_of(r, c) == NULL || find_carried(inside, c->node, c->channel) == NULL) {
            rows_extent(inside, c->node)->carried = false;
        }
    }
    inside->inside = n > 0;
    return n > 0;
}

const char *rows_carried(const Rows *r, IrId node, const Row *row, const char *channel)
{
    const Carried *c = find_carried(r, node, channel);
    bool has = c != NULL && row->fixed && row->folded;
    return has ? arena_printf(r->k->arena, "%s[turn + %d]", c->array, row->ahead - c->lo) : NULL;
}

/* `from` and so many rows further. */
static const char *ahead_of(const Rows *r, const char *from, int rows)
{
    return rows == 0 ? from : cg_plus(r->k->arena, from, arena_printf(r->k->arena, rows < 0 ? "(%d)" : "%d", rows));
}

static void fetch(const Carried *c, int indent, const char *to, const char *at, Str *out)
{
    const char *least = c->least != NULL ? c->least : "", *from = c->least != NULL ? "max(" : "";
    str_addf(out, "%*sFETCH_CARRIED(%s, %s, %s%s%s%s%s, %s, %s, %s);\n", indent, "", to, c->element, from, at,
             c->least != NULL ? ", " : "", least, c->least != NULL ? ")" : "", c->row, c->left, c->width);
}

const char *rows_are_inside(const Rows *r)
{
    return arena_printf(r->k->arena, "%s >= 0 && %s < %s%s", ahead_of(r, "begin", r->lo), ahead_of(r, "last", r->hi),
                        cg_param_extent(r->k, 0, rows_stream_z(r) ? 2 : 1), r->columns_inside);
}

void rows_open_carried(Rows *r, Str *out)
{
    Arena *arena = r->k->arena;
    for (int i = 0; i < r->carried.n; i++) {
        const Carried *c = &r->carried.at[i];
        str_addf(out,
                 "    %s %s[%d + TURNS][%s];\n"
                 "    %s %s_next[TURNS][%s];\n"
                 "    PX_UNROLL for (int m = 0; m < %d; m++) {\n",
                 c->kept, c->array, c->hi - c->lo, c->width, c->element, c->array, c->width, c->hi - c->lo);
        fetch(c, 8, arena_printf(arena, "%s[m]", c->array), ahead_of(r, "begin + m", c->lo), out);
        str_add(out, "    }\n    PX_UNROLL for (int m = 0; m < TURNS; m++) {\n");
        fetch(c, 8, arena_printf(arena, "%s_next[m]", c->array), ahead_of(r, "min(begin + m, last)", c->hi), out);
        str_add(out, "    }\n");
    }
}

void rows_keep_carried(Rows *r, Str *out)
{
    Arena *arena = r->k->arena;
    for (int i = 0; i < r->carried.n; i++) {
        const Carried *c = &r->carried.at[i];
        str_addf(out,
                 "        PX_UNROLL for (int m = 0; m < TURNS; m++) {\n"
                 "            PX_UNROLL for (int k = 0; k < %s; k++) %s[m + %d][k] = %s_next[m][k];\n"
                 "        }\n"
                 "        PX_UNROLL for (int m = 0; m < TURNS; m++) {\n",
                 c->width, c->array, c->hi - c->lo, c->array);
        fetch(c, 12, arena_printf(arena, "%s_next[m]", c->array), ahead_of(r, "min(from + TURNS + m, last)", c->hi),
              out);
        str_add(out, "        }\n");
    }
}

void rows_move_carried(Rows *r, Str *out)
{
    for (int i = 0; i < r->carried.n; i++) {
        const Carried *c = &r->carried.at[i];
        str_addf(out,
                 "        PX_UNROLL for (int m = 0; m < %d; m++) {\n"
                 "            PX_UNROLL for (int k = 0; k < %s; k++) %s[m][k] = %s[m + TURNS][k];\n"
                 "        }\n",
                 c->hi - c->lo, c->width, c->array, c->array);
    }
}
