/*
 * direct: kernels whose work-items read what they need straight from memory, and the readers of
 * primitives, which are the same code as a function of one pixel.
 *
 * Work-items take PX pixels of a row, LX apart, so that neighbours read neighbours.  Those whose windows lie inside the
 * image have a text without borders, whose loads are one address and some constants, and of which compilers
 * for CPUs make vectors.  Where windows are sorted work-items take TURNS rows of each column at once: most of a
 * window's pixels are also in the next row's, and a compiler that sees both loads them once.
 */
#include "kernel.h"

#include "../ir/footprint.h"
#include "../ir/gather.h"

#include <ctype.h>
#include <string.h>

/* ---- reads from memory ------------------------------------------------------------------- */

typedef struct Place {
    const char *at[3];  /* x, y, z as text, mapped into the image */
    const char *inside; /* NULL, or the condition under which the constant border is not taken */
} Place;

/* Coordinate text for one axis of a read, mapped by the border where it can leave the image. */
static const char *coordinate(CgContext *cx, const IrExprNode *n, int axis, IrExpr e, Place *place)
{
    CgKernel *k = cx->k;
    const char *const here[3] = {cx->x, cx->y, cx->z};
    if (e == 0) {
        return here[axis];
    }
    const char *raw;
    if (n->op == IR_X_READAT) {
        raw = cg_expr(cx, ir_cast(k->g, e, ELEM_I32));
    } else {
        raw = cg_plus(k->arena, here[axis], cg_offset_text(cx, e, axis));
        if (cx->inside) {
            return raw;
        }
    }
    const char *extent = cg_param_extent(k, n->node, axis);
    if (n->border == BORDER_CONSTANT) {
        const char *test = arena_printf(k->arena, "(uint)(%s) < (uint)%s", raw, extent);
        place->inside = place->inside == NULL ? test : arena_printf(k->arena, "%s && %s", place->inside, test);
    }
    return arena_printf(k->arena, "%s(%s, %s)", CG_BORDER_MAPS[n->border], raw, extent);
}

static const char *channel_text(CgContext *cx, const IrExprNode *n)
{
    if (n->channel == 0) {
        return "c";
    }
    if (ir_expr(cx->k->g, n->channel)->rank > IR_INDEX) {
        return cg_atom(cx->k->arena, cg_expr(cx, n->channel));
    }
    const char *c = cg_int_text(cx, n->channel, "CHANNEL");
    return c != NULL ? c : cg_param_host(cx->k, n->channel, ELEM_I32);
}

/* The plane of a read, where the image has no depth or no channels: this one, z, or the channel. */
static const char *plane_text(CgContext *cx, const IrExprNode *n, const char *c, const char *z, bool moved)
{
    CgKernel *k = cx->k;
    const IrNode *node = ir_node(k->g, n->node);
    if (node->grid == k->domain && n->channel == 0 && !moved) {
        return cx->plane;
    }
    const bool *has = k->g->grids.at[node->grid].has;
    return has[IR_AX_C] || (n->channel != 0 && !has[IR_AX_Z]) ? c : z;
}

/* An element as the type in which it is read. */
static const char *as_read_type(CgContext *cx, const IrExprNode *n, const char *element)
{
    Elem type = cg_text_type(cx, n);
    if (type == ELEM_BOOL) {
        return arena_printf(cx->k->arena, "%s != 0", element);
    }
    bool ready = ir_node(cx->k->g, n->node)->elem == type;
    return ready ? element : arena_printf(cx->k->arena, "(%s)%s", cg_type(type), element);
}

/* The element that a read looks at, as memory has it; the condition for being in the image, where
 * the border is a constant, in *inside. */
static const char *element_text(CgContext *cx, const IrExprNode *n, const char **inside)
{
    CgKernel *k = cx->k;
    const IrExpr offset[3] = {n->a, n->b, n->c};
    Place place = {.inside = NULL};
    const char *image = cg_param_buffer(k, n->node, false);
    for (int ax = 0; ax < 3; ax++) {
        place.at[ax] = coordinate(cx, n, ax, offset[ax], &place);
    }
    const char *c = channel_text(cx, n);
    const char *plane = plane_text(cx, n, c, place.at[2], offset[2] != 0);
    *inside = place.inside;
    return arena_printf(k->arena, "%s[%s]", image,
                        cg_pixel(k, n->node, image, c, place.at[2], plane, place.at[1], place.at[0]));
}

const char *cg_read_element(CgContext *cx, IrExpr read)
{
    const IrExprNode n = *ir_expr(cx->k->g, read);
    const char *inside;
    return element_text(cx, &n, &inside);
}

/* For tiling: what rows are read.  Offsets inside folds are found by the footprint of the whole
 * expression (cg_note_reads), so that only whole reads are noted here. */
const char *cg_read_memory(CgContext *cx, IrExpr read)
{
    CgKernel *k = cx->k;
    const IrExprNode n = *ir_expr(k->g, read);
    const char *inside;
    const char *element = as_read_type(cx, &n, element_text(cx, &n, &inside));
    if (inside != NULL) {
        element = arena_printf(k->arena, "(%s ? %s : %s)", inside, element, cg_outside(cx, n.node, n.outside));
    }
    return element;
}

/* ---- frames of kernels ------------------------------------------------------------------- */

/* What computes one pixel, as a function of its place; returns the text of its arguments. */
static const char *pixel_function(CgKernel *k, const char *body, Str *out)
{
    Str args, planes;
    str_init(&args, k->arena);
    str_init(&planes, k->arena);
    cg_plane_names(k, body, &planes); /* may ask for a parameter */
    cg_pack(k, CG_MOST_OF_KERNEL);
    const char *name = cg_of_kernel(k, "at");
    str_addf(out, "static inline void %s(", name);
    cg_declarations(k, strlen(name) + 20, out);
    str_addf(out, ", int x, int y,\n%*sint plane)\n{\n", (int)strlen(name) + 20, "");
    str_addf(out, "%s%s}\n", planes.at, body);
    for (int i = 0; i < k->params.n; i++) {
        str_addf(&args, "%s, ", k->params.at[i].name);
    }
    return args.at;
}

/* How far the windows of a step's stages reach, as text; none where some read may be anywhere, or nothing is folded. */
typedef struct Windows {
    bool any;
    const char *before[3], *behind[3]; /* pixels along x, y and z */
} Windows;

static void look_for_loop(const IrGraph *g, IrExpr e, void *ctx)
{
    bool *found = ctx;
    const IrExprNode *n = ir_expr(g, e);
    *found = *found || (n->op == IR_X_FOLD && n->rank == IR_PIXEL);
}

static Windows windows_of(CgKernel *k, const IrStep *step)
{
    static const char *const NAMES[3][2] = {{"LEFT", "RIGHT"}, {"ABOVE", "BELOW"}, {"BEFORE", "BEHIND"}};
    IrGraph *g = k->g;
    IrExpr before[3], behind[3];
    bool loops = false, anywhere = k->boxed || k->gathers;
    for (int ax = 0; ax < 3; ax++) {
        before[ax] = behind[ax] = ir_const(g, 0);
    }
    for (int i = 0; i < step->stages.n; i++) {
        IrFootprint fp = ir_footprint(g, ir_node(g, step->stages.at[i])->map.value);
        ir_walk(g, ir_node(g, step->stages.at[i])->map.value, look_for_loop, &loops);
        for (int r = 0; r < fp.reach.n; r++) {
            const IrReach *reach = &fp.reach.at[r];
            anywhere = anywhere || reach->whole || (reach->offset && ir_node(g, reach->node)->grid != k->domain);
            for (int ax = 0; ax < 3 && reach->offset && !anywhere; ax++) {
                before[ax] = ir_op2(g, IR_X_MAX, before[ax], ir_op2(g, IR_X_SUB, ir_const(g, 0), reach->lo[ax]));
                behind[ax] = ir_op2(g, IR_X_MAX, behind[ax], reach->hi[ax]);
            }
        }
    }
    Windows windows = {.any = loops && !anywhere};
    for (int ax = 0; ax < 3 && windows.any; ax++) {
        windows.before[ax] = cg_define_int(k, ir_op1(g, IR_X_CEIL, before[ax]), cg_of_kernel(k, NAMES[ax][0]));
        windows.behind[ax] = cg_define_int(k, ir_op1(g, IR_X_CEIL, behind[ax]), cg_of_kernel(k, NAMES[ax][1]));
    }
    return windows;
}

/* The condition under which the windows of a work-item's pixels in a row lie inside the image. */
static const char *inside_text(CgKernel *k, const Windows *windows)
{
    static const char *const FIRST[] = {"x0", "y", "z"}, *const LAST[] = {"x0 + (PX - 1) * LX", "y", "z"};
    Str s;
    str_init(&s, k->arena);
    for (int ax = 0; ax < 3; ax++) {
        const char *before = windows->before[ax], *behind = windows->behind[ax];
        bool moves = strcmp(before, "0") != 0 || strcmp(behind, "0") != 0;
        if (ax == 0 || moves) {
            str_addf(&s, "%s%s >= %s && %s < %s", ax > 0 ? " && " : "", FIRST[ax], before,
                     cg_plus(k->arena, LAST[ax], behind), cg_param_extent(k, 0, ax));
        }
    }
    return s.at;
}

/* The loops over the pixels of a work-item; `inside` is NULL or what is done where that condition holds. */
static void pixel_loops(const char *body, const char *condition, const char *inside, Str *out)
{
    str_add(out, "    for (int y = y0; y < end; y++) {\n");
    if (inside != NULL) {
        str_addf(out,
                 "        if (%s) {\n"
                 "            for (int k = 0; k < PX; k++) {\n"
                 "                const int x = x0 + k * LX;\n"
                 "%s"
                 "            }\n"
                 "            continue;\n"
                 "        }\n",
                 condition, inside);
    }
    str_addf(out,
             "        for (int k = 0; k < PX; k++) {\n"
             "            const int x = x0 + k * LX;\n"
             "            if (x < w) {\n"
             "%s"
             "            }\n"
             "        }\n"
             "    }\n",
             body);
}

/* The same, TURNS rows at once. */
static void turn_loops(const char *name, const char *args, Str *out)
{
    str_addf(out,
             "    for (int from = y0; from < end; from += TURNS) {\n"
             "        for (int k = 0; k < PX; k++) {\n"
             "            const int x = x0 + k * LX;\n"
             "            if (x < w && from + TURNS <= end) {\n"
             "                PX_UNROLL for (int turn = 0; turn < TURNS; turn++) {\n"
             "                    %s(%sx, from + turn, plane);\n"
             "                }\n"
             "            } else if (x < w) {\n"
             "                for (int y = from; y < end; y++) {\n"
             "                    %s(%sx, y, plane);\n"
             "                }\n"
             "            }\n"
             "        }\n"
             "    }\n",
             name, args, name, args);
}

static void begin_kernel(CgKernel *k, Str *out)
{
    cg_open_kernel(k, out);
    str_addf(out,
             "    const int x0 = %s(int)get_group_id(0) * PX * LX + (int)get_local_id(0);\n"
             "    const int y0 = rows_from + (int)get_group_id(1) * strip;\n"
             "    const int end = min(y0 + strip, rows_to);\n"
             "    const int plane = plane_from + (int)get_group_id(2);\n",
             k->boxed ? "cols_from + " : "");
}

/* Of a gather the pixels are made that read rows (planes) which are there; or it says which slabs are wanted.
 * Returns how many values have names in front of the condition: those made under it have none behind it. */
static int begin_gather(CgContext *cx, IrId id)
{
    CgKernel *k = cx->k;
    const IrExprNode n = *ir_expr(k->g, ir_node(k->g, id)->map.value);
    int axis = ir_gather_axis(k->g, n.node), buffer = k->cg->buffer[n.node];
    Place place = {.inside = NULL};
    const IrExpr at_axis[] = {n.a, n.b, n.c};
    for (int ax = 0; ax < 3;
         ax++) { /* named in front of the condition: other gathers of the kernel may have the same */
        if (at_axis[ax] != 0) {
            (void)cg_expr(cx, ir_cast(k->g, at_axis[ax], ELEM_I32));
        }
    }
    (void)cg_param_buffer(k, n.node, false);
    const char *first = cg_of_node(k, n.node, "first"), *end = cg_of_node(k, n.node, "end");
    cg_param(k, (ProgArg){ARG_FIRST, buffer, 0}, "int ", first);
    cg_param(k, (ProgArg){ARG_END, buffer, 0}, "int ", end);
    cg_param(k, (ProgArg){ARG_WANTED_SLABS, 0, 0}, "global int *restrict ", "wanted");
    cg_param(k, (ProgArg){ARG_SLAB, 0, 0}, "int ", "slab");
    const char *at = coordinate(cx, &n, axis, at_axis[axis], &place);
    cg_line(cx, "if (slab > 0) {");
    cg_line(cx, "    wanted[(%s) / slab] = 1;", at);
    cg_line(cx, "} else if ((uint)(%s - %s) < (uint)(%s - %s)) {", at, first, end, first);
    cx->indent++;
    return cx->memo.n;
}

static void end_gather(CgContext *cx, int named)
{
    cx->memo.n = named;
    cx->indent--;
    cg_line(cx, "}");
}

/* What a work-item does for a pixel. */
static void pixel_text(CgContext *cx, const IrStep *step)
{
    CgKernel *k = cx->k;
    for (int i = 0; i < step->stages.n; i++) {
        IrId id = step->stages.at[i];
        cg_begin(cx, ir_node(k->g, id)->map.value);
        int named = k->gathers ? begin_gather(cx, id) : 0;
        const char *value = cg_store_text(cx, ir_node(k->g, id)->map.value, id);
        const char *to = cg_param_buffer(k, id, true);
        cg_line(cx, "%s[%s] = %s;", to, cg_pixel(k, id, to, "c", "z", "plane", "y", "x"), cg_bare(k->arena, value));
        if (k->gathers) {
            end_gather(cx, named);
        }
    }
}

void cg_kernel_direct(CgKernel *k, const IrStep *step, Str *out)
{
    Str body, inside, prologue, planes, function;
    str_init(&body, k->arena);
    str_init(&inside, k->arena);
    str_init(&prologue, k->arena);
    str_init(&planes, k->arena);
    str_init(&function, k->arena);
    CgContext cx;
    cg_context(&cx, k, &body, &prologue, cg_read_memory);
    bool turns = false;
    for (int i = 0; i < step->stages.n; i++) {
        cg_count_uses(&cx, ir_node(k->g, step->stages.at[i])->map.value);
        turns = turns || ir_any_sorts(k->g, ir_node(k->g, step->stages.at[i])->map.value);
    }
    cx.indent = turns ? 1 : 4;
    cx.prologue_indent = 1;
    CgByteTables *bytes = cg_byte_tables(k);
    cx.bytes = turns || k->gathers ? NULL : bytes;
    cx.lazy = true;
    pixel_text(&cx, step);
    const Windows windows = turns ? (Windows){.any = false} : windows_of(k, step);
    if (windows.any) {
        cx.inside = true;
        cx.memo.n = 0;
        cx.out = &inside;
        pixel_text(&cx, step);
    }
    const char *condition = windows.any ? inside_text(k, &windows) : NULL;
    if (!k->boxed) { /* then images tell their own pitch */
        cg_param_extent(k, 0, 4);
    }
    const char *args = "";
    CgSliced sliced;
    bool slices = false;
    if (turns) {
        args = pixel_function(k, arena_printf(k->arena, "%s%s", prologue.at, body.at), &function);
        slices = cg_sliced(k, step, &sliced);
    } else {
        cg_plane_names(k, arena_printf(k->arena, "%s%s", body.at, condition != NULL ? condition : ""), &planes);
    }
    cg_range_params(k, (ProgArg){ARG_STRIP, !turns, turns ? 0 : 2}, false); /* rows of a window are shared */
    if (k->boxed) {
        cg_param(k, (ProgArg){ARG_COLS_FROM, 0, 0}, "int ", "cols_from");
    }
    cg_functions(k, out);
    if (slices) {
        str_addf(out, "#if %s\n%s", sliced.condition, sliced.gather.at);
        begin_kernel(k, out);
        str_addf(out, "%s}\n#else\n", sliced.body.at);
    }
    if (turns) {
        str_addf(out, "#define TURNS ROWS_A_WINDOW(%s)\n%s", k->window, function.at);
    }
    str_add(out, bytes->macros.at);
    begin_kernel(k, out);
    str_addf(out, "%s%s%s", planes.at, turns ? "" : prologue.at, bytes->fills.at);
    if (turns) {
        turn_loops(cg_of_kernel(k, "at"), args, out);
    } else {
        pixel_loops(body.at, condition, windows.any ? inside.at : NULL, out);
    }
    str_addf(out, "}\n%s", slices ? "#endif\n" : "");
}

void cg_kernel_scalars(CgKernel *k, const IrStep *step, Str *out)
{
    Str body, prologue;
    str_init(&body, k->arena);
    str_init(&prologue, k->arena);
    CgContext cx;
    cg_context(&cx, k, &body, &body, cg_read_memory);
    cx.indent = cx.prologue_indent = 2;
    cg_param(k, (ProgArg){ARG_VALUES, 0, 0}, "global double *", "values");
    for (int i = 0; i < step->stages.n; i++) {
        const IrNode *node = ir_node(k->g, step->stages.at[i]);
        for (int v = 0; v < 5 && node->in[v] != 0; v++) {
            const IrExpr value = ir_cast(k->g, node->in[v], ELEM_F64);
            cx.out = &body;
            cx.memo.n = 0; /* what is read may have been written since */
            cg_forget_uses(&cx);
            cg_count_uses(&cx, value);
            const char *text = cg_expr(&cx, value);
            cg_line(&cx, "values[%d] = %s; /* %s */", k->cg->slot[step->stages.at[i]] + v, cg_bare(k->arena, text),
                    node->name);
        }
    }
    cg_open_kernel(k, out);
    str_addf(out, "    if (get_global_id(0) == 0) {\n%s    }\n}\n", body.at);
}

/* ---- readers ------------------------------------------------------------------------------- */

/* One input as a function of the pixel.  Its prologue is inside: unconditional in front of all
 * else, so that compilers can hoist it out of the loops over pixels. */
static void reader_function(CgKernel *k, int number, IrExpr e, Str *out)
{
    Str body, prologue;
    str_init(&body, k->arena);
    str_init(&prologue, k->arena);
    CgContext cx;
    cg_context(&cx, k, &body, &prologue, cg_read_memory);
    cx.indent = cx.prologue_indent = 1;
    cg_count_uses(&cx, e);
    cg_begin(&cx, e);
    IrRank rank = ir_expr(k->g, e)->rank;
    Elem type = ir_expr(k->g, e)->type;
    if (rank <= IR_HOST) {
        type = ELEM_F64;
    }
    const char *value = cg_expr(&cx, e);
    str_addf(out, "#define READ_TYPE_%d %s\n#define READ_HAS_%d 1\n", number, cg_type(type), number);
    str_addf(out, "static inline %s read_%d(READ_PARAMS, int x, int y, int plane)\n{\n", cg_type(type), number);
    if (rank == IR_PIXEL) {
        cg_param(k, (ProgArg){ARG_PART_Y, 0, 0}, "int ", "part_y");
        cg_param(k, (ProgArg){ARG_PART_PLANE, 0, 0}, "int ", "part_plane");
        str_add(out, "    y += part_y;\n    plane += part_plane;\n");
    }
    str_addf(&body, "    return %s;\n}\n\n", cg_bare(k->arena, value));
    str_add(out, prologue.at);
    cg_plane_names(k, body.at, out);
    str_add(out, body.at);
}

static void reader_macro(CgKernel *k, const char *name, bool declarations, Str *out)
{
    str_addf(out, "#define %s ", name);
    for (int i = 0; i < k->params.n; i++) {
        str_addf(out, "%s%s", i ? ", " : "", declarations ? k->params.at[i].declaration : k->params.at[i].name);
    }
    str_add(out, "\n");
}

/* Sums and extremes of pixels that f32 does not hold. */
static bool is_summed_wide(const CgKernel *k, const IrNode *node)
{
    return node->op == IR_REDUCE && ir_expr(k->g, node->reduce.value)->type == ELEM_F64;
}

/* The element type that a primitive's input is wanted in. */
static IrExpr reader_expr(CgKernel *k, const IrNode *node, int i)
{
    IrExpr e = node->in[i];
    Elem type = ir_expr(k->g, e)->type;
    if (ir_expr(k->g, e)->rank != IR_PIXEL) {
        return e;
    }
    bool labels = i == 0 && (node->op == IR_COMPACT || node->op == IR_COLOURS || node->op == IR_PERLABEL ||
                             node->op == IR_MEASURE || node->op == IR_COLUMN || node->op == IR_NEAREST_LABEL);
    if (labels) {
        return ir_cast(k->g, e, ELEM_U32);
    }
    bool truth = (node->op == IR_LABEL && i == 0) || (node->op == IR_DISTANCE && i == 0) ||
                 (node->op == IR_COMPACT && i == 1) ||
                 ((node->op == IR_REDUCE || node->op == IR_RANK || node->op == IR_SUMMARY || node->op == IR_HISTOGRAM ||
                   node->op == IR_OTSU || node->op == IR_BOXES) &&
                  i == 1);
    if (truth) {
        return ir_cast(k->g, e, ELEM_BOOL);
    }
    return is_summed_wide(k, node) || type == ELEM_F32 ? e : ir_cast(k->g, e, ELEM_F32);
}

void cg_reader(CgKernel *k, IrId id, Str *out)
{
    Str functions;
    str_init(&functions, k->arena);
    const IrNode node = *ir_node(k->g, id);
    cg_param_extent(k, 0, 0);
    cg_param_extent(k, 0, 1);
    cg_param_extent(k, 0, 4);
    for (int i = 0; i < NODE_INPUTS; i++) {
        if (node.in[i] != 0 && !ir_op_input_is_stored(node.op, i)) {
            reader_function(k, i, reader_expr(k, &node, i), &functions);
        }
    }
    cg_functions(k, out);
    if (k->ended > 0) {
        cg_param(k, (ProgArg){ARG_VALUES, 0, 0}, "global const double *restrict ", "values");
        str_addf(out, "#define READ_ENDED(values) (RUNS_AHEAD && values[%d] == 1)\n", k->ended);
    }
    str_add(out, is_summed_wide(k, &node) ? "#define READ_WIDE 1\n" : "");
    cg_pack(k, CG_MOST_OF_READER);
    reader_macro(k, "READ_PARAMS", true, out);
    reader_macro(k, "READ_ARGS", false, out);
    str_add(out, functions.at);
}
