/* kernel: parameters, defines and reads of one kernel; asking for a name declares it. */
#include "kernel.h"

#include "../base/user_text.h"
#include "../ir/footprint.h"

#include <ctype.h>
#include <assert.h>
#include <stdlib.h>
#include <string.h>

const char *cg_param(CgKernel *k, ProgArg arg, const char *type, const char *name)
{
    for (int i = 0; i < k->params.n + k->packed.n; i++) {
        const CgParam *have = i < k->params.n ? &k->params.at[i] : &k->packed.at[i - k->params.n];
        if (have->arg.kind == arg.kind && have->arg.a == arg.a && have->arg.b == arg.b) {
            return have->name;
        }
    }
    CgParam p = {arg, arena_printf(k->arena, "%s%s", type, name), name};
    vec_push(k->arena, &k->params, p);
    return name;
}

const char *cg_of_kernel(const CgKernel *k, const char *part)
{
    return user_part(k->arena, k->name, part);
}

const char *cg_of_node(const CgKernel *k, IrId node, const char *part)
{
    return user_part(k->arena, ir_node(k->g, node)->name, part);
}

bool cg_is_atom(const char *text)
{
    int depth = 0;
    for (const char *p = text; *p != '\0'; p++) {
        if (*p == '(' || *p == '[') {
            depth++;
        } else if (*p == ')' || *p == ']') {
            depth--;
            if (depth == 0 && text[0] == '(' && p[1] != '\0') {
                return false;
            }
        } else if (depth == 0 && !isalnum((unsigned char)*p) && *p != '_' && *p != '.') {
            return false;
        }
    }
    return true;
}

const char *cg_atom(Arena *arena, const char *text)
{
    return cg_is_atom(text) ? text : arena_printf(arena, "(%s)", text);
}

/* The input whose file has the type of a node's elements. */
static int file_of(const CgKernel *k, IrId node)
{
    const IrNode *n = ir_node(k->g, node);
    return cg_input_number(k->g, n->op == IR_INPUT ? node : n->of);
}

/* The type of a node's elements in OpenCL C; for those as a file has them, a macro. */
const char *cg_pixel_type(CgKernel *k, IrId node)
{
    const IrNode *n = ir_node(k->g, node);
    if (n->elem != ELEM_FILE) {
        return elem_cl_name(n->elem);
    }
    const char *name = cg_of_node(k, node, "t");
    ProgDefine def = {.kind = DEF_TYPE, .name = name, .expr = file_of(k, node)};
    for (int i = 0; i < k->defines.n; i++) {
        if (strcmp(k->defines.at[i].name, name) == 0) {
            return name;
        }
    }
    vec_push(k->arena, &k->defines, def);
    return name;
}

const char *cg_param_buffer(CgKernel *k, IrId node, bool write)
{
    int buffer = k->cg->buffer[node];
    assert(buffer >= 0);
    const char *name = user_name(k->arena, ir_node(k->g, node)->name);
    const char *type = arena_printf(k->arena, "global %s%s *restrict ", write ? "" : "const ", cg_pixel_type(k, node));
    name = cg_param(k, (ProgArg){ARG_BUFFER, buffer, 0}, type, name);
    if (ir_node(k->g, node)->kind != IR_K_VECTOR) {
        cg_param(k, (ProgArg){ARG_ROWS, buffer, 0}, "int ", cg_of_node(k, node, "rows"));
        cg_param(k, (ProgArg){ARG_ROW0, buffer, 0}, "long ", cg_of_node(k, node, "row0"));
    }
    return name;
}

const char *const CG_BORDER_MAPS[BORDER_KINDS] = {"px_nearest", "px_reflect", "px_mirror", "px_wrap", "px_nearest"};

const char *cg_element(CgKernel *k, IrId node)
{
    if (ir_node(k->g, node)->op == IR_INPUT && ir_node(k->g, node)->elem == ELEM_FILE) {
        (void)cg_param_buffer(k, node, false); /* it comes before what its columns need */
    }
    return cg_pixel_type(k, node);
}

const char *cg_param_extent(CgKernel *k, IrId node, int which)
{
    static const char *const NAMES[] = {"w", "h", "d", "planes", "pitch"};
    int grid = node != 0 ? ir_node(k->g, node)->grid : k->domain;
    const char *name = NAMES[which];
    if (grid != k->domain) {
        name = cg_of_node(k, node, name);
    }
    return cg_param(k, (ProgArg){ARG_EXTENT, grid >= 0 ? k->cg->grid[grid] : k->cg->scalar_grid, which}, "int ", name);
}

const char *cg_param_host(CgKernel *k, IrExpr host, Elem type)
{
    static const struct {
        ArgKind kind;
        const char *type, *suffix;
    } AS[] = {[ELEM_F32] = {ARG_HOST_FLOAT, "float ", "f32"},
              [ELEM_F64] = {ARG_HOST_DOUBLE, "double ", "f64"},
              [ELEM_U32] = {ARG_HOST_UINT, "uint ", "u32"},
              [ELEM_I32] = {ARG_HOST_INT, "int ", "i32"}};
    const IrExprNode *n = ir_expr(k->g, host);
    int expr = cg_host(&k->cg->host, host);
    type = type == ELEM_BOOL ? ELEM_I32 : type;
    assert(AS[type].type != NULL);
    const char *name = n->op == IR_X_PARAM ? user_part(k->arena, k->g->params.at[(int)n->num].name, AS[type].suffix)
                                           : arena_printf(k->arena, "host%d_%s", expr, AS[type].suffix);
    return cg_param(k, (ProgArg){AS[type].kind, expr, 0}, AS[type].type, name);
}

/* A define of this kind and expression, named `name` or a variation that is free. */
static const char *add_define(CgKernel *k, ProgDefine def, const char *name)
{
    for (int i = 0; i < k->defines.n; i++) {
        const ProgDefine *have = &k->defines.at[i];
        if (have->kind == def.kind && have->expr == def.expr && have->n == def.n && have->elem == def.elem &&
            memcmp(have->index, def.index, sizeof def.index) == 0 && memcmp(have->lo, def.lo, sizeof def.lo) == 0 &&
            memcmp(have->hi, def.hi, sizeof def.hi) == 0) {
            return have->name;
        }
    }
    def.name = name;
    for (int serial = 2, i = 0; i < k->defines.n; i++) {
        if (strcmp(k->defines.at[i].name, def.name) == 0) {
            def.name = arena_printf(k->arena, "%s_%d", name, serial++);
            i = -1;
        }
    }
    vec_push(k->arena, &k->defines, def);
    return def.name;
}

const char *cg_define_int(CgKernel *k, IrExpr host, const char *name)
{
    double value;
    if (ir_is_const(k->g, host, &value)) {
        return arena_printf(k->arena, value < 0 ? "(%.0f)" : "%.0f", value);
    }
    ProgDefine def = {.kind = DEF_INT, .expr = cg_host(&k->cg->host, host)};
    return add_define(k, def, name);
}

void cg_define_reach(CgKernel *k, IrExpr host, const char *name)
{
    double value;
    if (!ir_is_const(k->g, host, &value) || value > PROG_MAX_REACH) {
        ProgDefine def = {.kind = DEF_REACH, .expr = cg_host(&k->cg->host, host)};
        (void)add_define(k, def, name);
    }
}

typedef struct Rename {
    int from, to;
    bool bound; /* something inside binds the index itself */
} Rename;

static void find_binder(const IrGraph *g, IrExpr e, void *ctx)
{
    Rename *rename = ctx;
    const IrExprNode *n = ir_expr(g, e);
    rename->bound = rename->bound || (n->op == IR_X_FOLD && (int)n->num == rename->from);
}

static IrExpr rename_index(IrGraph *g, IrExpr e, void *ctx)
{
    const Rename *rename = ctx;
    const IrExprNode *n = ir_expr(g, e);
    return n->op == IR_X_INDEX && (int)n->num == rename->from ? ir_index(g, rename->to) : e;
}

const char *cg_define_table(CgKernel *k, DefineKind kind, IrExpr e, Elem elem, const char *name,
                            const CgLoop *const *loop, int n)
{
    ProgDefine def = {.kind = kind, .n = n, .elem = elem};
    for (int i = 0; i < n; i++) {
        Rename rename = {loop[i]->index, k->cg->table_index[i], false};
        ir_walk(k->g, e, find_binder, &rename);
        if (!rename.bound) {
            e = ir_rewrite(k->g, e, rename_index, &rename);
        }
        def.index[i] = rename.bound ? rename.from : rename.to;
        def.lo[i] = cg_host(&k->cg->host, loop[i]->lo);
        def.hi[i] = cg_host(&k->cg->host, loop[i]->hi);
    }
    def.expr = cg_host(&k->cg->host, e);
    return add_define(k, def, name);
}

bool cg_is_literal(const char *text, long *value)
{
    const bool negative = strncmp(text, "(-", 2) == 0;
    const char *digits = text + (negative ? 2 : 0);
    const size_t n = strspn(digits, "0123456789");
    if (n == 0 || n > 9 || strcmp(digits + n, negative ? ")" : "") != 0) {
        return false;
    }
    *value = negative ? -atol(digits) : atol(digits);
    return true;
}

const char *cg_literal(Arena *arena, long value)
{
    return arena_printf(arena, value < 0 ? "(%ld)" : "%ld", value);
}

/* Where the bracket ends that a text begins with. */
static const char *closing(const char *text)
{
    int depth = 0;
    for (const char *p = text;; p++) {
        depth += (*p == '(') - (*p == ')');
        if (depth == 0) {
            return p;
        }
    }
}

const char *cg_bare(Arena *arena, const char *text)
{
    while (text[0] == '(' && closing(text)[1] == '\0') {
        text = arena_strndup(arena, text + 1, strlen(text) - 2);
    }
    return text;
}

static const char *moved(Arena *arena, const char *from, int sign, const char *by)
{
    long a, b;
    if (!cg_is_literal(by, &b)) {
        return arena_printf(arena, "%s %c %s", from, sign > 0 ? '+' : '-', by);
    }
    if (cg_is_literal(from, &a)) {
        return cg_literal(arena, a + sign * b);
    }
    return b == 0 ? from : arena_printf(arena, "%s %c %ld", from, sign * b > 0 ? '+' : '-', labs(b));
}

const char *cg_plus(Arena *arena, const char *from, const char *by)
{
    return moved(arena, from, 1, by);
}

const char *cg_minus(Arena *arena, const char *from, const char *by)
{
    return moved(arena, from, -1, by);
}

const char *cg_one_less(Arena *arena, const char *rows)
{
    return cg_atom(arena, cg_minus(arena, rows, "1"));
}

const char *cg_deeper(Arena *arena, const char *a, const char *b)
{
    long p, q;
    if (cg_is_literal(a, &p) && cg_is_literal(b, &q)) {
        return p > q ? a : b;
    }
    return strcmp(a, b) == 0 ? a : arena_printf(arena, "DEEPER(%s, %s)", a, b);
}

bool cg_mentions(const char *text, const char *name)
{
    size_t n = strlen(name);
    for (const char *p = text; (p = strstr(p, name)) != NULL; p++) {
        bool before = p > text && (isalnum((unsigned char)p[-1]) || strchr("_.", p[-1]) != NULL);
        if (!before && !isalnum((unsigned char)p[n]) && p[n] != '_') {
            return true;
        }
    }
    return false;
}

void cg_plane_names(CgKernel *k, const char *body, Str *out)
{
    bool channels = k->g->grids.at[k->domain].has[IR_AX_C];
    bool z = cg_mentions(body, "z"), c = cg_mentions(body, "c");
    const char *d = channels && (z || c) ? cg_param_extent(k, 0, 2) : NULL;
    if (z) {
        str_addf(out, "    const int z = plane%s%s;\n", channels ? " % " : "", channels ? d : "");
    }
    if (c) {
        str_addf(out, "    const int c = %s%s;\n", channels ? "plane / " : "0", channels ? d : "");
    }
}

/* The distance, as a host expression; of two, the larger one. */
static int distance(CgKernel *k, IrExpr offset, bool back)
{
    IrExpr e = offset != 0 ? offset : ir_const(k->g, 0);
    return cg_host(&k->cg->host, back ? ir_op1(k->g, IR_X_NEG, e) : e);
}

static int farther(CgKernel *k, int a, int b)
{
    return a == b ? a : cg_host_max(&k->cg->host, a, b);
}

void cg_read(CgKernel *k, IrId node, const CgReach *reach)
{
    if (reach == NULL) {
        cg_read_at(k, node, (const int[3]){-1, -1, -1}, BORDER_NEAREST);
        return;
    }
    int axis = k->g->grids.at[ir_node(k->g, node)->grid].has[IR_AX_Z] ? IR_AX_Z : IR_AX_Y;
    const ProgRead read = {.buffer = k->cg->buffer[node],
                           .below = distance(k, reach->lo[axis], true),
                           .above = distance(k, reach->hi[axis], false),
                           .rows_below = distance(k, reach->lo[IR_AX_Y], true),
                           .rows_above = distance(k, reach->hi[IR_AX_Y], false),
                           .at = {-1, -1, -1}};
    for (int i = 0; i < k->reads.n; i++) {
        ProgRead *r = &k->reads.at[i];
        if (r->buffer == read.buffer && r->below >= 0) {
            r->below = farther(k, r->below, read.below);
            r->above = farther(k, r->above, read.above);
            r->rows_below = farther(k, r->rows_below, read.rows_below);
            r->rows_above = farther(k, r->rows_above, read.rows_above);
            return;
        }
    }
    vec_push(k->arena, &k->reads, read);
}

void cg_read_at(CgKernel *k, IrId node, const int at[3], Border border)
{
    const ProgRead read = {.buffer = k->cg->buffer[node],
                           .below = -1,
                           .above = -1,
                           .at = {at[0], at[1], at[2]},
                           .border = border};
    for (int i = 0; i < k->reads.n; i++) {
        const ProgRead *r = &k->reads.at[i];
        if (r->buffer == read.buffer && r->below < 0 && r->border == border &&
            memcmp(r->at, read.at, sizeof read.at) == 0) {
            return;
        }
    }
    vec_push(k->arena, &k->reads, read);
}

/* Where row y (plane z) lies that may be asked for round the ends of the image. */
static const char *behind_seam(CgKernel *k, IrId node, int axis, const char *at)
{
    if ((k->cg->seams[node] >> axis & 1) == 0) {
        return at;
    }
    const char *name = cg_of_node(k, node, axis == IR_AX_Y ? "seam_y" : "seam_z");
    cg_param(k, (ProgArg){ARG_SEAM, k->cg->buffer[node], axis}, "int ", name);
    return arena_printf(k->arena, "BEHIND_SEAM(%s, %s, %s)", at, name, cg_param_extent(k, node, axis));
}

const char *cg_row(CgKernel *k, IrId node, const char *image, const char *c, const char *z, const char *plane,
                   const char *y)
{
    const IrNode *n = ir_node(k->g, node);
    const IrGrid *grid = &k->g->grids.at[n->grid];
    if (grid->has[IR_AX_Z] && grid->has[IR_AX_C]) {
        const char *name = cg_of_node(k, node, "stored");
        cg_param(k, (ProgArg){ARG_PLANES, k->cg->buffer[node], 0}, "int ", name);
        plane = arena_printf(k->arena, "%s * %s + %s", c, name, behind_seam(k, node, IR_AX_Z, z));
    } else {
        plane = behind_seam(k, node, IR_AX_Z, plane);
    }
    y = behind_seam(k, node, IR_AX_Y, y);
    if (!k->boxed && n->grid == k->domain) {
        return arena_printf(k->arena, "ROW(%s, %s, %s)", image, plane, y);
    }
    const char *pitch;
    if (k->boxed) {
        pitch = cg_of_node(k, node, "pitch");
        cg_param(k, (ProgArg){ARG_PITCH, k->cg->buffer[node], 0}, "int ", pitch);
    } else {
        pitch = cg_param_extent(k, node, 4);
    }
    return arena_printf(k->arena, "ROW_OF(%s, %s, %s, %s)", image, plane, y, pitch);
}

const char *cg_pixel(CgKernel *k, IrId node, const char *image, const char *c, const char *z, const char *plane,
                     const char *y, const char *x)
{
    const char *row = cg_row(k, node, image, c, z, plane, y);
    if (k->boxed) {
        const char *name = cg_of_node(k, node, "col0");
        cg_param(k, (ProgArg){ARG_COL0, k->cg->buffer[node], 0}, "int ", name);
        x = arena_printf(k->arena, "(%s - %s)", x, name);
    }
    return arena_printf(k->arena, "%s + %s", row, x);
}

/* The type of a number in the values' slots, none of what must be a parameter: pointers, what differs from launch to
 * launch of one image, and the few names that all kernels have. */
static const char *packed_type(const CgKernel *k, const CgParam *p)
{
    static const char *const TYPES[] =
        {[ARG_ROW0] = "long",      [ARG_ROWS] = "int",         [ARG_EXTENT] = "int",         [ARG_HOST_INT] = "int",
         [ARG_HOST_UINT] = "uint", [ARG_HOST_FLOAT] = "float", [ARG_HOST_DOUBLE] = "double", [ARG_PLANES] = "int",
         [ARG_SEAM] = "int",       [ARG_PITCH] = "int",        [ARG_COL0] = "int",           [ARG_FIRST] = "int",
         [ARG_END] = "int",        [ARG_PARTIALS] = NULL};
    int domain = k->domain >= 0 ? k->cg->grid[k->domain] : k->cg->scalar_grid;
    bool own = p->arg.kind == ARG_EXTENT && p->arg.a == domain;
    return own ? NULL : TYPES[p->arg.kind];
}

static size_t bytes_of_params(const CgKernel *k)
{
    size_t bytes = 0;
    for (int i = 0; i < k->params.n; i++) {
        ArgKind kind = k->params.at[i].arg.kind;
        bool wide = strchr(k->params.at[i].declaration, '*') != NULL || kind == ARG_ROW0 || kind == ARG_HOST_DOUBLE;
        bytes = wide ? (bytes + 15) / 8 * 8 : bytes + 4;
    }
    return bytes;
}

void cg_pack(CgKernel *k, size_t most)
{
    if (k->packed.n > 0 || bytes_of_params(k) <= most) {
        return;
    }
    Str text;
    str_init(&text, k->arena);
    k->packed_at = *k->cg->n_values;
    int left = 0;
    for (int i = 0; i < k->params.n; i++) {
        const CgParam p = k->params.at[i];
        const char *type = packed_type(k, &p);
        if (type == NULL) {
            k->params.at[left++] = p;
            continue;
        }
        bool word = strcmp(type, "long") != 0 && strcmp(type, "double") != 0;
        str_addf(&text, "#define %s (((global const %s *)values)[%d])\n", p.name, type,
                 (k->packed_at + k->packed.n) * (word ? 2 : 1));
        vec_push(k->arena, &k->packed, p);
    }
    k->params.n = left;
    *k->cg->n_values += k->packed.n;
    k->packed_text = text.at;
    cg_param(k, (ProgArg){ARG_VALUES, 0, 0}, "global const double *restrict ", "values");
}

void cg_declarations(CgKernel *k, size_t column, Str *out)
{
    size_t indent = column < 40 ? column : 4;
    for (int i = 0; i < k->params.n; i++) {
        const char *declaration = k->params.at[i].declaration;
        if (i > 0) {
            str_add(out, ",");
            column++;
        }
        if (i > 0 && column + strlen(declaration) + 2 > 100) {
            str_addf(out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (i > 0) {
            str_add(out, " ");
            column++;
        }
        str_add(out, declaration);
        column += strlen(declaration);
    }
}

void cg_range_params(CgKernel *k, ProgArg strip, bool stream_z)
{
    cg_param_extent(k, 0, 0);
    if (!k->boxed) { /* then images tell their own pitch */
        cg_param_extent(k, 0, 4);
    }
    cg_param(k, (ProgArg){ARG_ROWS_FROM, 0, 0}, "int ", "rows_from");
    cg_param(k, (ProgArg){ARG_ROWS_TO, 0, 0}, "int ", "rows_to");
    cg_param(k, strip, "int ", "strip");
    cg_param(k, (ProgArg){ARG_PLANE_FROM, 0, 0}, "int ", stream_z ? "row_from" : "plane_from");
}

void cg_open_kernel(CgKernel *k, Str *out)
{
    if (k->ended > 0) {
        cg_param(k, (ProgArg){ARG_VALUES, 0, 0}, "global const double *restrict ", "values");
    }
    cg_pack(k, CG_MOST_OF_KERNEL);
    const char *name = user_name(k->arena, k->name);
    str_addf(out, "kernel void %s(", name);
    cg_declarations(k, strlen(name) + 13, out);
    str_add(out, ")\n{\n");
    if (k->ended > 0) { /* all work-items leave here, or none */
        str_addf(out, "    if (RUNS_AHEAD && values[%d] == 1) {\n        return;\n    }\n", k->ended);
    }
}
