/*
 * rows_frame: the loops around what a streaming kernel does on a row (rows.c): over rows, or over
 * turns of rows that are fetched a turn ahead.
 */
#include "rows.h"

#include "epilogue.h"

#include <string.h>

enum { AHEAD_ON_CPU = 4 }; /* rows a turn there, where kept rows move in memory at its end */

/* The loop around the rows of a kernel that looks at each row once. */
static void write_loop(Rows *r, Str *out)
{
    const char *stream = rows_stream_z(r) ? "plane" : "y";
    str_addf(out, "    for (int %s = first; %s <= last; %s++) {\n%s%s    }\n", stream, stream, stream, r->body->at,
             r->stores->at);
}

static bool shares(const Rows *r)
{
    bool any = false;
    for (int i = 0; i < r->tiles.n; i++) {
        any = any || !r->tiles.at[i].own;
    }
    return any;
}

/* What is kept of the rows, as the macros say it. */
static const char *of_tile(const Tile *t)
{
    return t->rises ? "RISES" : "ROWS";
}

/* Starts the loads of the rows of the turn that begins with row `from`. */
static void write_fetches(Rows *r, int indent, const char *from, Str *out)
{
    for (int i = 0; i < r->tiles.n; i++) {
        const Tile *t = &r->tiles.at[i];
        const char *stream = rows_stream_z(r) ? "plane" : "y";
        if (t->compute != NULL) {
            rows_fetch_computed(r, t, indent, from, out);
            continue;
        }
        str_addf(out, "%*s", indent, "");
        if (t->own) {
            str_addf(out, "FETCH_OWN(%s, %s, %s, %s, %s);\n", t->array, t->element, stream, from, t->row);
        } else {
            str_addf(out, "FETCH_%s(%s, %s, %s, %s, %s, %s);\n", of_tile(t), t->array, t->element, t->map, stream, from,
                     t->row);
        }
    }
}

static void write_tiles(Rows *r, Str *out)
{
    for (int i = 0; i < r->tiles.n; i++) {
        const Tile *t = &r->tiles.at[i];
        if (t->compute != NULL) {
            rows_write_computed(t, out);
        } else if (t->own) {
            str_addf(out, "    OWN_ROWS(%s, %s);\n", t->array, t->element);
        } else {
            str_addf(out, "    TILE_%s(%s, %s, %s, %s, %s);\n", of_tile(t), t->array, t->element, t->kept, t->left,
                     t->width);
        }
    }
}

static void write_keeps(Rows *r, Str *out)
{
    for (int i = 0; i < r->tiles.n; i++) {
        const Tile *t = &r->tiles.at[i];
        if (t->compute != NULL) {
            rows_keep_computed(t, out);
        } else if (t->own) {
            str_addf(out, "        KEEP_OWN(%s);\n", t->array);
        } else {
            str_addf(out, "        KEEP_%s(%s, %s, %s);\n", of_tile(t), t->array, t->element, t->kept);
        }
    }
    str_add(out, shares(r) ? "        ROWS_ARE_KEPT;\n" : "");
}

/* The loop around turns of TURNS rows, and in it the one over the rows of a turn.  Turns do not
 * end where strips do: rows before the first only warm up, those behind the last are idle.  That a row is to
 * be kept is one comparison, so that compilers make its store conditional instead of branching: the next
 * row's work begins before it. */
static void write_turns(Rows *r, Str *out)
{
    write_tiles(r, out);
    str_addf(out, "    const uint kept_rows = %s;\n", shares(r) ? "x < w ? last - first + 1 : 0" : "last - first + 1");
    write_fetches(r, 4, "begin", out);
    rows_open_carried(r, out);
    str_addf(out, "    for (int from = begin%s; from <= last; from += TURNS%s) {\n", shares(r) ? ", side = 0" : "",
             shares(r) ? ", side ^= 1" : "");
    write_keeps(r, out);
    write_fetches(r, 8, "from + TURNS", out);
    rows_keep_carried(r, out);
    str_addf(out,
             "        PX_UNROLL for (int turn = 0; turn < TURNS; turn++) {\n"
             "            const int %s = min(from + turn, last);\n"
             "%s"
             "            if ((uint)(from + turn - first) < kept_rows) {\n"
             "%s"
             "            }\n"
             "        }\n"
             "%s",
             rows_stream_z(r) ? "plane" : "y", r->body->at, r->stores->at, r->after->at);
    rows_move_carried(r, out);
    str_add(out, "    }\n");
}

/* Instructions of a row's functions for a pixel, each expression once. */
static int work_of(const Rows *r)
{
    int work = 0;
    for (int i = 0; i < r->step->stages.n; i++) {
        work += cg_work(r->k->g, ir_node(r->k->g, r->step->stages.at[i])->map.value);
    }
    return work;
}

/* How many rows a turn takes: follows from how much code a row is and how large the tiles are. */
static void define_turns(Rows *r, Str *out)
{
    enum { MUCH_WORK = 30, ONE_ROW_OF_WORK = 90 }; /* a row of more fills the instruction cache */
    if (r->tiles.n == 0 || work_of(r) > ONE_ROW_OF_WORK) {
        str_add(out, "#define TURNS 1\n");
        return;
    }
    Str bytes, as_is;
    str_init(&bytes, r->k->arena);
    str_init(&as_is, r->k->arena);
    for (int i = 0; i < r->tiles.n; i++) {
        const Tile *t = &r->tiles.at[i];
        if (!t->own) {
            str_add(&bytes, bytes.n > 0 ? " + " : "");
            str_addf(&bytes, t->rises ? "RISE_BYTES(%s)" : "TILE_BYTES(%s, %s)", t->rises ? t->width : t->kept,
                     t->width);
            const char *test =
                t->compute != NULL ? "false" : arena_printf(r->k->arena, "IS_KEPT_AS_IS(%s, %s)", t->element, t->kept);
            bool there = strstr(as_is.at, test) != NULL;
            str_addf(&as_is, "%s%s", there || as_is.n == 0 ? "" : " && ", there ? "" : test);
        }
    }
    str_addf(out, "#define TURNS %s(%s, %s, %s)\n", work_of(r) > MUCH_WORK ? "FEW_ROWS_A_TURN" : "ROWS_A_TURN",
             cg_define_int(r->k, r->steps, cg_of_kernel(r->k, "STEPS")), bytes.n > 0 ? bytes.at : "0",
             as_is.n > 0 ? as_is.at : "false");
}

void rows_begin_text(Rows *r, Str *out)
{
    CgKernel *k = r->k;
    ProgArg strip = {ARG_STRIP, r->early != 0 ? cg_host(&k->cg->host, r->early) : 0, r->early != 0};
    cg_range_params(k, strip, rows_stream_z(r));
    cg_functions(k, out);
}

static void write_stream(Rows *r, int indent, Str *out)
{
    Str text;
    str_init(&text, r->k->arena);
    str_addf(&text, "%s%s", r->prologue->at, r->before->at);
    if (r->depth != NULL) {
        write_turns(r, &text);
    } else {
        write_loop(r, &text);
    }
    for (const char *line = text.at; *line != '\0';) {
        const char *end = line + strcspn(line, "\n");
        str_addf(out, "%*s", indent, "");
        str_addn(out, line, (size_t)(end - line) + 1);
        line = end + 1;
    }
}

/* Along y in each plane, or along z for each row of a plane. */
void rows_write_kernel(Rows *r, Rows *inside, Str *out)
{
    CgKernel *k = r->k;
    Str planes, epilogue;
    str_init(&planes, k->arena);
    str_init(&epilogue, k->arena);
    cg_open_epilogue(k, r->step, &epilogue);
    if (!rows_stream_z(r)) {
        const IrGrid *grid = &k->g->grids.at[k->domain];
        bool named = grid->has[IR_AX_C] && grid->has[IR_AX_Z];
        cg_plane_names(k, named ? "c z" : r->body->at, &planes);
    }
    if (r->ahead != NULL) {
        str_addf(out, "#define TURNS ROWS_OF(%d)\n", inside != NULL ? r->step->ahead : AHEAD_ON_CPU);
    } else if (inside != NULL) {
        str_add(out, "#define TURNS ROWS_CARRIED\n");
    } else if (r->depth != NULL) {
        define_turns(r, out);
    }
    if (shares(r)) {
        str_add(out, "#ifdef TILE_ROW_START\n#undef ROW_START\n#define ROW_START TILE_ROW_START\n#endif\n");
    }
    cg_open_kernel(k, out);
    cg_write_place(k, r->step, shares(r), out);
    str_add(out, planes.at);
    str_add(out, epilogue.at);
    if (r->depth != NULL) {
        str_addf(out, "    const int begin = %s;\n", cg_minus(k->arena, "first", cg_one_less(k->arena, r->depth)));
    }
    if (inside != NULL && inside->rare) {
        str_addf(out, "    uint px_rare = 0;\n    const bool px_inside = %s;\n    if (px_inside) {\n",
                 rows_are_inside(inside));
        write_stream(inside, 4, out);
        str_add(out, "    }\n    if (!px_inside || IS_RARE(px_rare)) {\n");
    } else if (inside != NULL) {
        str_addf(out, "    if (%s) {\n", rows_are_inside(inside));
        write_stream(inside, 4, out);
        str_add(out, "    } else {\n");
    }
    write_stream(r, inside != NULL ? 4 : 0, out);
    str_add(out, inside != NULL ? "    }\n" : "");
    cg_close_epilogue(k, r->step, out);
    str_add(out, "}\n");
}
