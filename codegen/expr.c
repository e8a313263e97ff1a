/*
 * expr: expressions become OpenCL C.
 *
 * An operator's text comes from exprs.def; shared subexpressions get names, folds become loops
 * in front of the line that needs them (folds.c), what does not depend on the pixel moves to the prologue.
 * The emission keeps the graph's arithmetic exactly: no reordering, no contraction.
 */
#include "kernel.h"

#include "../ir/apply.h"
#include "../ir/edit.h"
#include "../ir/function.h"
#include "../ir/indices.h"
#include "../ir/px_math.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void cg_context(CgContext *cx, CgKernel *k, Str *out, Str *prologue, CgReadText read)
{
    memset(cx, 0, sizeof *cx);
    cx->k = k;
    cx->out = out;
    cx->prologue = prologue;
    cx->read = read;
    cx->x = "x";
    cx->y = "y";
    cx->z = "z";
    cx->plane = "plane";
}

void cg_line(CgContext *cx, const char *format, ...)
{
    str_addf(cx->out, "%*s", 4 * cx->indent, "");
    va_list ap;
    va_start(ap, format);
    str_add(cx->out, arena_vprintf(cx->k->arena, format, ap));
    va_end(ap);
    str_add(cx->out, "\n");
}

const char *cg_type(Elem type)
{
    return type == ELEM_BOOL ? "bool" : elem_cl_name(type);
}

void cg_forget_uses(CgContext *cx)
{
    cx->counted = (IdMap){.n_slots = 0};
    cx->uses.n = 0;
}

static bool is_shared(const CgContext *cx, IrExpr e)
{
    int place = id_map_find(&cx->counted, e);
    return place >= 0 && cx->uses.at[place] > 1;
}

void cg_count_uses(CgContext *cx, IrExpr e)
{
    if (e == 0) {
        return;
    }
    const IrExprNode n = *ir_expr(cx->k->g, e);
    int known = id_map_add(&cx->counted, cx->k->arena, e);
    if (known < cx->uses.n) {
        cx->uses.at[known]++;
        return;
    }
    vec_push(cx->k->arena, &cx->uses, 1);
    if (n.rank <= IR_INDEX) {
        return;
    }
    const IrExprNode *body = ir_expr(cx->k->g, n.a);
    bool fused = n.op == IR_X_FOLD && n.fused && body->op == IR_X_MUL; /* its factors are written, not the product */
    const IrExpr child[] = {fused ? body->a : n.a, n.b, n.c, fused ? body->b : n.outside, n.nth};
    for (size_t i = 0; i < sizeof child / sizeof *child; i++) {
        bool place = n.op == IR_X_READAT && i < 3 && child[i] != 0; /* it stands in bounds and in the address */
        IrExpr used = place ? ir_cast(cx->k->g, child[i], ELEM_I32) : child[i];
        cg_count_uses(cx, used);
        cg_count_uses(cx, place ? used : 0);
    }
}

/* ---- constants ------------------------------------------------------------------------- */

/* The fewest digits that give the number back. */
static int digits_of(double v, bool is_double)
{
    char text[48];
    for (int digits = 1; digits < 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, v);
        if (is_double ? strtod(text, NULL) == v : strtof(text, NULL) == (float)v) {
            return digits;
        }
    }
    return 17;
}

static const char *number_text(Arena *arena, double v, bool is_double)
{
    if (isnan(v)) {
        return is_double ? "((double)NAN)" : "NAN";
    }
    if (isinf(v)) {
        return arena_printf(arena, v > 0 && !is_double ? "%s%sINFINITY" : "(%s%sINFINITY)", v > 0 ? "" : "-",
                            is_double ? "(double)" : "");
    }
    char text[48];
    snprintf(text, sizeof text, "%.*g", digits_of(v, is_double), v);
    char *exponent = strchr(text, 'e');
    if (exponent != NULL && exponent[1] == '+' && fabs(v) < 1e9) { /* such numbers are whole: 1e+02 */
        snprintf(text, sizeof text, "%.0f", strtod(text, NULL));
    } else if (exponent != NULL && exponent[2] == '0') { /* 1e-06 */
        memmove(exponent + 2, exponent + 3, strlen(exponent + 3) + 1);
    }
    const char *point = strpbrk(text, ".e") == NULL ? ".0" : "", *suffix = is_double ? "" : "f";
    return arena_printf(arena, signbit(v) ? "(%s%s%s)" : "%s%s%s", text, point, suffix);
}

static const char *const_text(CgContext *cx, const IrExprNode *n)
{
    Arena *arena = cx->k->arena;
    switch (n->type) {
    case ELEM_BOOL:
        return n->num != 0 ? "true" : "false";
    case ELEM_F32:
        return number_text(arena, n->num, false);
    case ELEM_F64:
        return number_text(arena, n->num, true);
    case ELEM_U32:
        return arena_printf(arena, "%.0fu", n->num);
    default:
        if (n->num <= -2147483648.0) {
            return "INT_MIN";
        }
        return arena_printf(arena, n->num < 0 ? "(%.0f)" : "%.0f", n->num);
    }
}

/* ---- integers over loop variables ------------------------------------------------------ */

const CgLoop *cg_loop_of(const CgContext *cx, int index)
{
    for (int i = cx->loops.n - 1; i >= 0; i--) {
        if (cx->loops.at[i].index == index) {
            return &cx->loops.at[i];
        }
    }
    return NULL;
}

const char *cg_int_text(CgContext *cx, IrExpr e, const char *macro)
{
    CgKernel *k = cx->k;
    const IrExprNode n = *ir_expr(k->g, e);
    if (!ir_is_integral(k->g, e)) {
        return NULL;
    }
    if (n.rank <= IR_HOST) {
        return cg_define_int(k, e, macro);
    }
    static const struct {
        IrExprOp op;
        const char *format;
    } BINARY[] = {{IR_X_ADD, "(%s + %s)"}, {IR_X_SUB, "(%s - %s)"}, {IR_X_MUL, "(%s * %s)"}};
    if (n.op == IR_X_INDEX) {
        const CgLoop *loop = cg_loop_of(cx, (int)n.num);
        return loop != NULL ? loop->name : NULL;
    }
    if (n.op == IR_X_NEG || n.op == IR_X_ABS) {
        const char *a = cg_int_text(cx, n.a, macro);
        return a == NULL ? NULL : arena_printf(k->arena, n.op == IR_X_NEG ? "(-%s)" : "(int)abs(%s)", a);
    }
    for (size_t i = 0; i < sizeof BINARY / sizeof *BINARY; i++) {
        if (BINARY[i].op == n.op) {
            const char *a = cg_int_text(cx, n.a, macro), *b = cg_int_text(cx, n.b, macro);
            return a != NULL && b != NULL ? arena_printf(k->arena, BINARY[i].format, a, b) : NULL;
        }
    }
    return NULL;
}

const char *cg_offset_text(CgContext *cx, IrExpr offset, int axis)
{
    CgKernel *k = cx->k;
    static const char *const PARTS[] = {"DX", "DY", "DZ"};
    const char *macro = cg_of_kernel(k, PARTS[axis]);
    const char *text = cg_int_text(cx, offset, macro);
    return text != NULL ? text : cg_expr(cx, ir_cast(k->g, offset, ELEM_I32));
}

/* ---- weights --------------------------------------------------------------------------- */

static bool follows_index(const CgKernel *k, IrExpr e, int index)
{
    const IrIndices *free = ir_free_indices(k->g, e);
    bool follows = false;
    for (int i = 0; i < free->n; i++) {
        follows = follows || free->at[i] == index;
    }
    return follows;
}

int cg_count_loops(const CgContext *cx, IrExpr e)
{
    int n = 0;
    for (int i = 0; i < cx->loops.n; i++) {
        n += follows_index(cx->k, e, cx->loops.at[i].index);
    }
    return n;
}

const char *cg_loop_end(CgKernel *k, const char *name, const char *end)
{
    return cg_of_kernel(k, arena_printf(k->arena, "%s_%s", name, end));
}

/* "j + 20": the place of a loop's variable in its range. */
static const char *place_text(CgKernel *k, const CgLoop *loop)
{
    const char *lo = cg_define_int(k, loop->lo, cg_loop_end(k, loop->name, "LO"));
    return strcmp(lo, "0") == 0 ? loop->name : cg_minus(k->arena, loop->name, lo);
}

/* An index expression as an element of a table that the host fills. */
const char *cg_table_text(CgContext *cx, IrExpr e, Elem elem, const char *suffix)
{
    CgKernel *k = cx->k;
    const CgLoop *loop[PROG_TABLE_INDICES];
    int n = 0;
    for (int i = 0; i < cx->loops.n; i++) {
        if (follows_index(k, e, cx->loops.at[i].index)) {
            assert(n < PROG_TABLE_INDICES);
            loop[n++] = &cx->loops.at[i];
        }
    }
    const char *name = cg_define_table(k, DEF_TABLE, e, elem, cg_of_kernel(k, suffix), loop, n);
    const char *at = place_text(k, loop[0]);
    for (int i = 1; i < n; i++) {
        at = arena_printf(k->arena, "(%s) * %s_N%d + %s", at, name, i, place_text(k, loop[i]));
    }
    return arena_printf(k->arena, "%s[%s]", name, at);
}

/* ---- operators ------------------------------------------------------------------------- */

/* The operator's text with its operands put in for the single letters a, b and c. */
const char *cg_substitute(Arena *arena, const char *text, const char *const operand[3])
{
    Str s;
    str_init(&s, arena);
    for (const char *p = text; *p != '\0'; p++) {
        bool before = p > text && (isalnum((unsigned char)p[-1]) || p[-1] == '_');
        bool after = isalnum((unsigned char)p[1]) || p[1] == '_';
        if (*p >= 'a' && *p <= 'c' && !before && !after) {
            str_add(&s, operand[*p - 'a']);
        } else {
            str_addn(&s, p, 1);
        }
    }
    return s.at;
}

/* In double, the elementary functions are those of base/f64_math.h; the others have a form for it. */
static const char *double_text(Arena *arena, const char *text)
{
    static const char *const both[] = {"px_min(", "px_max(", "px_sign("};
    bool plain = strncmp(text, "px_", 3) != 0;
    for (size_t i = 0; i < sizeof both / sizeof *both; i++) {
        plain = plain || strncmp(text, both[i], strlen(both[i])) == 0;
    }
    return plain ? text : arena_printf(arena, "f64_%s", text + 3);
}

static bool is_operand_count_shared(const char *text)
{
    /* Does an operand's letter appear twice?  Then it had better be a name. */
    for (char letter = 'a'; letter <= 'c'; letter++) {
        int seen = 0;
        for (const char *p = text; *p != '\0'; p++) {
            bool before = p > text && (isalnum((unsigned char)p[-1]) || p[-1] == '_');
            bool after = isalnum((unsigned char)p[1]) || p[1] == '_';
            seen += *p == letter && !before && !after;
        }
        if (seen > 1) {
            return true;
        }
    }
    return false;
}

const char *cg_name_value(CgContext *cx, Elem type, const char *text)
{
    const char *name = arena_printf(cx->k->arena, "t%d", cx->k->n_temps++);
    cg_line(cx, "const %s %s = %s;", cg_type(type), name, cg_bare(cx->k->arena, text));
    return name;
}

/* A quotient by a whole number, without a division (px_math.h); NULL: there is no such way. */
static const char *div_text(CgContext *cx, const IrExprNode *n)
{
    const IrExprNode *by = ir_expr(cx->k->g, n->b);
    Arena *arena = cx->k->arena;
    if (by->op == IR_X_CONST && by->type == ELEM_F64 && n->rank == IR_PIXEL && px_divides_wide_by(by->num)) {
        return arena_printf(arena, "PX_DIV_WIDE_BY(%s, %s, %s)", cg_expr(cx, n->a), number_text(arena, by->num, true),
                            number_text(arena, 1 / by->num, true));
    }
    const float c = by->op == IR_X_CONST && by->type == ELEM_F32 ? (float)by->num : 0, part = px_even_part(c);
    if (part == 0) {
        return NULL;
    }
    const float odd = c / part;
    const char *x = cg_expr(cx, n->a);
    x = part > 1 && strlen(x) > 24 ? cg_name_value(cx, ELEM_F32, x) : x;
    const char *q = arena_printf(arena, "%s(%s, %s, %s)", px_divides_by(odd) ? "px_div_by" : "PX_DIV_BY_FAR", x,
                                 number_text(arena, (double)odd, false), number_text(arena, (double)(1 / odd), false));
    return part == 1 ? q
                     : arena_printf(arena, "PX_DIV_BY_EVEN(%s, %s, %s, %s, %s)", x, number_text(arena, by->num, false),
                                    number_text(arena, (double)px_below_reciprocal(c), false), q,
                                    number_text(arena, (double)(1 / part), false));
}

/* Could a compiler see a negation as the last thing that is done for an expression? */
static bool may_end_negated(const IrGraph *g, IrExpr e)
{
    const IrExprNode *n = ir_expr(g, e);
    while (n->op == IR_X_READ && ir_node(g, n->node)->op == IR_MAP && ir_node(g, n->node)->of == 0) {
        n = ir_expr(g, ir_node(g, n->node)->map.value); /* perhaps a stage of the same kernel */
    }
    bool chosen = n->op == IR_X_MIN || n->op == IR_X_MAX ||
                  (n->op == IR_X_FOLD && (n->fold == IR_FOLD_MIN || n->fold == IR_FOLD_MAX));
    return n->rank > IR_HOST && n->op != IR_X_READ && n->op != IR_X_COORD && !chosen;
}

/* An operand of a minimum or maximum of whole numbers, which ranks are made of (px_whole.h). */
const char *cg_whole_operand(CgContext *cx, IrExpr e, const char *text)
{
    bool risky = ir_expr(cx->k->g, e)->type == ELEM_I32 && may_end_negated(cx->k->g, e);
    return risky ? arena_printf(cx->k->arena, "px_whole(%s)", text) : text;
}

/* The text of a quotient or a root without a branch (kernels/rows.cl), where it may be one. */
static const char *unbranched_text(CgContext *cx, const IrExprNode *n, const char *text)
{
    static const char root[] = "sqrt(";
    Arena *arena = cx->k->arena;
    const IrExprNode *by = n->op == IR_X_DIV ? ir_expr(cx->k->g, n->b) : NULL;
    int exponent;
    if (cx->rare == NULL || n->type != ELEM_F32 || n->rank != IR_PIXEL) {
        return text;
    }
    if (by != NULL) {
        const double c = by->op == IR_X_CONST ? fabs(by->num) : 1.5;
        const bool fits = c >= 0x1p-40 && c < 0x1p24 && frexp(c, &exponent) != 0.5; /* powers of two are products */
        return fits ? arena_printf(arena, "PX_QUOTIENT(a, b, %s)", cx->rare) : text;
    }
    return strncmp(text, root, strlen(root)) != 0
               ? text
               : arena_printf(arena, "PX_ROOT(%.*s, %s)", (int)(strlen(text) - strlen(root) - 1), text + strlen(root),
                              cx->rare);
}

static const char *operator_text(CgContext *cx, const IrExprNode *n)
{
    Arena *arena = cx->k->arena;
    const char *quotient = n->op == IR_X_DIV ? div_text(cx, n) : NULL;
    if (quotient != NULL) {
        return quotient;
    }
    int arity = ir_expr_op_arity(n->op);
    Elem type = ir_expr(cx->k->g, n->op == IR_X_SELECT ? n->b : n->a)->type;
    bool integer = type != ELEM_F32 && type != ELEM_F64;
    const char *text = ir_op_text(n->op, integer);
    if (type == ELEM_F64) {
        text = double_text(arena, text);
    }
    text = unbranched_text(cx, n, text);
    const IrExpr child[3] = {n->a, n->b, n->c};
    const char *operand[3] = {"", "", ""};
    for (int i = 0; i < arity; i++) {
        operand[i] = cg_atom(arena, cg_expr(cx, child[i]));
        if (n->op == IR_X_MIN || n->op == IR_X_MAX) {
            operand[i] = cg_whole_operand(cx, child[i], operand[i]);
        }
        if (is_operand_count_shared(text) && strlen(operand[i]) > 24) {
            operand[i] = cg_name_value(cx, ir_expr(cx->k->g, child[i])->type, operand[i]);
        }
    }
    return cg_substitute(arena, text, operand);
}

/* A NaN of f64 must become 0; NVIDIA's convert_int_sat makes the lowest number of it. */
static const char *saturate_text(CgContext *cx, const IrExprNode *n)
{
    Arena *arena = cx->k->arena;
    Elem from = ir_expr(cx->k->g, n->a)->type, to = (Elem)n->num;
    const char *a = cg_expr(cx, n->a);
    if (from == ELEM_F64) {
        return arena_printf(arena, "px_round_%s(%s)", elem_name(to), a);
    }
    const char *convert =
        arena_printf(arena, from == ELEM_F32 ? "convert_%s_sat_rte(px_number(%s))" : "convert_%s_sat(%s)",
                     elem_cl_name(to), a);
    return to == ELEM_U32 || to == ELEM_I32 ? convert : arena_printf(arena, "(int)%s", convert);
}

static const char *cast_text(CgContext *cx, const IrExprNode *n)
{
    Arena *arena = cx->k->arena;
    if (n->num != 0) {
        return saturate_text(cx, n);
    }
    Elem from = cg_text_type(cx, ir_expr(cx->k->g, n->a));
    if (from == n->type) {
        return cg_expr(cx, n->a);
    }
    const char *a = cg_atom(arena, cg_expr(cx, n->a));
    if (n->type == ELEM_BOOL) {
        return arena_printf(arena, "%s != 0", a);
    }
    if (from == ELEM_BOOL) {
        const bool real = n->type == ELEM_F32 || n->type == ELEM_F64;
        return arena_printf(arena, real ? "(%s ? 1.0f : 0.0f)" : "(%s ? 1 : 0)", a);
    }
    if (n->type == ELEM_I32 || n->type == ELEM_U32) {
        const char *name = elem_cl_name(n->type);
        return from == ELEM_F64   ? arena_printf(arena, "px_round_%s(trunc(%s))", elem_name(n->type), a)
               : from == ELEM_F32 ? arena_printf(arena, "convert_%s_sat(px_number(%s))", name, a)
                                  : arena_printf(arena, "convert_%s_sat(%s)", name, a);
    }
    return arena_printf(arena, "(%s)%s", cg_type(n->type), a);
}

static void find_signs(const IrGraph *g, IrExpr e, void *ctx)
{
    IrExprOp op = ir_expr(g, e)->op;
    *(bool *)ctx |= op == IR_X_MUL || op == IR_X_NEG;
}

/* A host or index expression inside a pixel's arithmetic: rounded once to `type`.  The host counts in
 * f64, where 0 * -1 is -0; integers have no such 0, so that it must come from a table. */
static const char *host_text(CgContext *cx, IrExpr e, Elem type)
{
    const IrExprNode *n = ir_expr(cx->k->g, e);
    if (n->rank <= IR_HOST) {
        return cg_param_host(cx->k, e, type);
    }
    bool signs = false;
    ir_walk(cx->k->g, e, find_signs, &signs);
    const char *text = elem_is_integer(type) || !signs ? cg_int_text(cx, e, "HOST") : NULL;
    if (text == NULL) {
        return cg_table_text(cx, e, type, "W");
    }
    return type == ELEM_I32   ? text
           : type == ELEM_U32 ? arena_printf(cx->k->arena, "convert_uint_sat(%s)", text)
                              : arena_printf(cx->k->arena, "(%s)%s", cg_type(type), text);
}

/* ---- calls, look-ups, everything ------------------------------------------------------- */

/* The pointer that a forest's function takes. */
static const char *table_of_forest(CgContext *cx, IrId vector)
{
    cg_read(cx->k, vector, NULL);
    return cg_param_buffer(cx->k, vector, false);
}

static const char *call_text(CgContext *cx, const IrExprNode *n)
{
    const IrFunction *f = cx->k->g->functions.at[(int)n->num];
    cg_need_function(cx->k, (int)n->num);
    Str s;
    str_init(&s, cx->k->arena);
    str_addf(&s, "%s(", cg_function_name(cx->k->arena, f));
    for (IrExpr a = n->a; a != 0; a = ir_expr(cx->k->g, a)->b) {
        const IrExprNode arg = *ir_expr(cx->k->g, a);
        bool table = f->forest != NULL && arg.b == 0;
        const char *text = table ? table_of_forest(cx, ir_expr(cx->k->g, arg.a)->node) : cg_expr(cx, arg.a);
        str_addf(&s, "%s%s", a == n->a ? "" : ", ", cg_bare(cx->k->arena, text));
    }
    str_add(&s, ")");
    return s.at;
}

/* The elements that a vector has: of labels one more than there are, which is known on the device
 * only; its buffer may have room for more. */
static const char *elements_text(CgContext *cx, IrId vector)
{
    CgKernel *k = cx->k;
    IrId of = ir_node(k->g, vector)->of;
    if (of != 0 && k->cg->slot[of] >= 0) {
        return arena_printf(k->arena, "<= %s", cg_expr(cx, ir_cast(k->g, ir_value(k->g, of, 0), ELEM_U32)));
    }
    const ProgArg length = {ARG_HOST_INT, k->cg->length[vector], 0};
    return arena_printf(k->arena, "< %s", cg_param(k, length, "uint ", cg_of_node(k, vector, "n")));
}

static const char *lookup_text(CgContext *cx, const IrExprNode *n)
{
    CgKernel *k = cx->k;
    const char *vector = cg_param_buffer(k, n->node, false);
    const char *inside = elements_text(cx, n->node);
    cg_read(k, n->node, NULL);
    const char *at = cg_atom(k->arena, cg_expr(cx, n->a));
    const char *fallback = n->type == ELEM_U32 ? "0u" : "0.0f";
    return arena_printf(k->arena, "(%s %s ? %s[%s] : %s)", at, inside, vector, at, fallback);
}

static const char *coord_text(CgContext *cx, int axis)
{
    const char *const at[IR_AXES] = {cx->x, cx->y, cx->z, "c"};
    return at[axis];
}

static const char *value_text(CgContext *cx, const IrExprNode *n)
{
    CgKernel *k = cx->k;
    const char *values = cg_param(k, (ProgArg){ARG_VALUES, 0, 0}, "global const double *restrict ", "values");
    assert(k->cg->slot[n->node] >= 0);
    int slot = k->cg->slot[n->node] + (int)n->num;
    vec_push(k->arena, &k->uses, slot);
    return arena_printf(k->arena, "%s[%d]", values, slot);
}

/* A fold whose value nobody else needs. */
static bool is_own_fold(const IrGraph *g, IrExpr e, const void *ctx)
{
    return ir_expr(g, e)->op == IR_X_FOLD && ir_expr(g, e)->rank == IR_PIXEL && !is_shared(ctx, e);
}

static bool is_shared_fold(const IrGraph *g, IrExpr e, const void *ctx)
{
    return ir_expr(g, e)->op == IR_X_FOLD && ir_expr(g, e)->rank == IR_PIXEL && is_shared(ctx, e);
}

/* Of a conjunction, the side with folds, if the other one has none: it is needed where that is true only. */
static IrExpr dear_side(const CgContext *cx, const IrExprNode *n)
{
    const IrGraph *g = cx->k->g;
    const bool a = ir_any(g, n->a, is_own_fold, cx), b = ir_any(g, n->b, is_own_fold, cx);
    const IrExpr dear = a && !b ? n->a : b && !a ? n->b : 0;
    const bool plain = cx->lazy && cx->loops.n == 0 && n->op == IR_X_AND && n->type == ELEM_BOOL && dear != 0;
    return plain && !ir_any(g, n->a, is_shared_fold, cx) && !ir_any(g, n->b, is_shared_fold, cx) ? dear : 0;
}

static const char *lazy_text(CgContext *cx, IrExpr e, IrExpr dear)
{
    const IrExprNode n = *ir_expr(cx->k->g, e);
    const char *name = arena_printf(cx->k->arena, "t%d", cx->k->n_temps++);
    cg_line(cx, "bool %s = %s;", name, cg_bare(cx->k->arena, cg_expr(cx, dear == n.a ? n.b : n.a)));
    cg_line(cx, "if (%s) {", name);
    const int named = cx->memo.n;
    cx->indent++;
    cg_line(cx, "%s = %s;", name, cg_bare(cx->k->arena, cg_expr(cx, dear)));
    cx->indent--;
    cx->memo.n = named;
    cg_line(cx, "}");
    vec_push(cx->k->arena, &cx->memo, (CgMemo){e, name});
    return name;
}

static const char *make_text(CgContext *cx, IrExpr e)
{
    const IrExprNode n = *ir_expr(cx->k->g, e);
    const IrExpr dear = dear_side(cx, &n);
    if (dear != 0) {
        return lazy_text(cx, e, dear);
    }
    switch (n.op) {
    case IR_X_CONST:
        return const_text(cx, &n);
    case IR_X_COORD:
        return coord_text(cx, (int)n.num);
    case IR_X_VALUE:
        return value_text(cx, &n);
    case IR_X_READ:
    case IR_X_READAT:
    case IR_X_LOCAL:
        return cx->read(cx, e);
    case IR_X_LOOKUP:
        return lookup_text(cx, &n);
    case IR_X_CAST:
        return cast_text(cx, &n);
    case IR_X_FOLD:
        return ir_sorts(&n) ? cg_rank_text(cx, e) : cg_fold_text(cx, e);
    case IR_X_CALL:
        return call_text(cx, &n);
    default:
        return operator_text(cx, &n);
    }
}

/* Uniform expressions are computed once, in front of the loops over pixels. */
static const char *uniform_text(CgContext *cx, IrExpr e)
{
    const char *text = cg_recall(cx->uniform.at, cx->uniform.n, e);
    if (text != NULL) {
        return text;
    }
    CgContext inner = *cx;
    inner.out = cx->prologue;
    inner.indent = cx->prologue_indent;
    text = make_text(&inner, e);
    cx->uniform = inner.uniform;
    const char *name = arena_printf(cx->k->arena, "u%d", cx->k->n_temps++);
    str_addf(cx->prologue, "%*sconst %s %s = %s;\n", 4 * cx->prologue_indent, "", cg_type(ir_expr(cx->k->g, e)->type),
             name, cg_bare(cx->k->arena, text));
    vec_push(cx->k->arena, &cx->uniform, (CgMemo){e, name});
    return name;
}

const char *cg_expr(CgContext *cx, IrExpr e)
{
    CgKernel *k = cx->k;
    const IrExprNode n = *ir_expr(k->g, e);
    if (n.op == IR_X_CONST) {
        return const_text(cx, &n);
    }
    if (n.rank <= IR_INDEX) {
        bool plain = n.op == IR_X_CAST && (Elem)n.num == ELEM_NONE;
        return host_text(cx, plain ? n.a : e, n.type);
    }
    if (n.rank == IR_UNIFORM && cx->out != cx->prologue && cg_count_loops(cx, e) == 0) {
        return uniform_text(cx, e);
    }
    const char *text = cg_recall(cx->memo.at, cx->memo.n, e);
    if (text != NULL) {
        return text;
    }
    text = cg_by_byte(cx, e, make_text);
    bool shared = is_shared(cx, e) && n.op != IR_X_COORD;
    bool named = n.op == IR_X_FOLD; /* by its accumulator, or its window's value */
    if (shared && (named || !cg_is_atom(text) || strlen(text) >= 16)) {
        text = named ? text : cg_name_value(cx, cg_text_type(cx, &n), text);
        vec_push(k->arena, &cx->memo, (CgMemo){e, text});
    } else if (strlen(text) > 160) {
        text = cg_name_value(cx, cg_text_type(cx, &n), text);
    }
    return text;
}

const char *cg_store_text(CgContext *cx, IrExpr e, IrId to)
{
    IrGraph *g = cx->k->g;
    const Elem elem = ir_node(g, to)->elem;
    switch (elem) {
    case ELEM_FILE:
        return arena_printf(cx->k->arena, "AS_FILE(%s, %s)", cg_element(cx->k, to), cg_expr(cx, e));
    case ELEM_U8:
    case ELEM_U16:
    case ELEM_I16: {
        const IrExprNode *n = ir_expr(g, e);
        bool ready = n->op == IR_X_CAST && (Elem)n->num == elem;
        e = ready ? e : ir_saturate(g, e, elem);
        return arena_printf(cx->k->arena, "(%s)%s", elem_cl_name(elem), cg_atom(cx->k->arena, cg_expr(cx, e)));
    }
    case ELEM_BOOL:
        return cg_expr(cx, ir_cast(g, e, ELEM_BOOL));
    default:
        return cg_expr(cx, ir_cast(g, e, elem));
    }
}
