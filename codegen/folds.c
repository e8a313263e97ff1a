/*
 * folds: loops over indices.  A fold becomes an accumulator and its loops; one that asks for a rank or for what is there most
 * often gathers its elements in registers and sorts them.  Folds with the same loops (passes/abreast.c) share them, and
 * what their elements have in common.  What a fold leaves out is a condition, computed where it can be and else a
 * table that the host fills.
 */
#include "kernel.h"

#include "../ir/range.h"
#include "../ir/apply.h"
#include "../ir/edit.h"
#include "../ir/pixels.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { MOST_ABREAST = 8 };

const char *cg_fold_start(const IrExprNode *n)
{
    bool real = n->type == ELEM_F32 || n->type == ELEM_F64;
    switch (n->fold) {
    case IR_FOLD_PROD:
        return real ? "1.0f" : "1";
    case IR_FOLD_ANY:
        return "false";
    case IR_FOLD_ALL:
        return "true";
    case IR_FOLD_MIN:
        return real ? "INFINITY" : n->type == ELEM_U32 ? "UINT_MAX" : "INT_MAX";
    case IR_FOLD_MAX:
        return real ? "-INFINITY" : n->type == ELEM_U32 ? "0" : "INT_MIN";
    default:
        return real ? "0.0f" : "0";
    }
}

/* Can a constant border stand among whole numbers, where neither NaN nor the sign of a zero matters? */
static bool is_plain_outside(const IrGraph *g, const IrExprNode *read)
{
    double v;
    return read->op != IR_X_READ || read->border != BORDER_CONSTANT || read->outside == 0 ||
           (ir_is_const(g, read->outside, &v) && !isnan(v) && !(v == 0 && signbit(v)));
}

/* How large the value of a host or index expression can be, if it is a number in any case: for what follows from constants,
 * params and the indices of folds by a few operators; else infinite. */
static double most_of(const IrGraph *g, IrExpr e, int *steps)
{
    static const double MOST_INDEX = 2147483648.0;
    const IrExprNode n = *ir_expr(g, e);
    double least, most;
    if (--*steps < 0) {
        return INFINITY;
    }
    switch (n.op) {
    case IR_X_CONST:
        return isnan(n.num) ? INFINITY : fabs(n.num);
    case IR_X_INDEX:
        return MOST_INDEX;
    case IR_X_PARAM:
        return ir_range_size(ir_range(g, e));
    case IR_X_ADD:
    case IR_X_SUB:
        return most_of(g, n.a, steps) + most_of(g, n.b, steps);
    case IR_X_MUL:
        least = most_of(g, n.a, steps);
        most = most_of(g, n.b, steps);
        return least < INFINITY && most < INFINITY ? least * most : INFINITY;
    case IR_X_MAX:
    case IR_X_MIN:
        return fmax(most_of(g, n.a, steps), most_of(g, n.b, steps));
    case IR_X_NEG:
    case IR_X_ABS:
    case IR_X_CAST:
        return most_of(g, n.a, steps);
    case IR_X_SQRT: {
        const IrExprNode *of = ir_expr(g, n.a);
        const bool root = of->op == IR_X_MAX && (ir_is_const(g, of->b, &least) || ir_is_const(g, of->a, &least));
        return root && least >= 0 ? most_of(g, n.a, steps) + 1 : INFINITY;
    }
    default:
        return INFINITY;
    }
}

/* The pixel to which a fold adds a height, or less which it takes; else the value itself.  Of a pixel that is a whole number neither NaN
 * nor -0 comes of it. */
static IrExpr without_height(const IrGraph *g, IrExpr value)
{
    enum { MOST_STEPS = 64 };
    const IrExprNode n = *ir_expr(g, value);
    const bool adds = n.op == IR_X_ADD, takes = n.op == IR_X_SUB;
    const IrExpr sides[] = {n.a, n.b};
    for (int i = 0; i < (adds ? 2 : takes ? 1 : 0); i++) {
        const IrExprNode *height = ir_expr(g, sides[1 - i]);
        int steps = MOST_STEPS;
        const bool plain = height->rank <= IR_INDEX && most_of(g, sides[1 - i], &steps) < FLT_MAX;
        if (ir_expr(g, sides[i])->op == IR_X_READ && plain) {
            return sides[i];
        }
    }
    return value;
}

const char *cg_chooser(CgKernel *k, const IrExprNode *fold, IrExpr value)
{
    value = fold->type == ELEM_F32 ? without_height(k->g, value) : value;
    const bool least = fold->fold == IR_FOLD_MIN, wide = fold->type == ELEM_F64;
    if (!wide && fold->type != ELEM_F32) {
        return least ? "min" : "max";
    }
    const IrExprNode *read = ir_expr(k->g, value); /* its pixels are a file's, also where it may stand outside */
    const bool outside = read->op == IR_X_READ && read->border == BORDER_CONSTANT;
    const IrPixels p = ir_pixels(k->g, outside ? ir_read(k->g, read->node) : value);
    if (wide || (p.elem != ELEM_FILE && !elem_is_integer(p.elem)) || !is_plain_outside(k->g, ir_expr(k->g, value))) {
        return least ? "px_min" : "px_max";
    }
    const char *type = p.elem == ELEM_FILE ? cg_pixel_type(k, p.file) : elem_cl_name(p.elem);
    return arena_printf(k->arena, "PX_%s(%s)", least ? "LOWER" : "HIGHER", type);
}

static const char *step_text(CgContext *cx, const IrExprNode *fold, const char *acc, IrExpr body)
{
    Arena *arena = cx->k->arena;
    const IrExprNode n = *ir_expr(cx->k->g, body);
    bool integer = fold->type != ELEM_F32 && fold->type != ELEM_F64;
    if (fold->fused && n.op == IR_X_MUL) {
        const char *a = cg_bare(arena, cg_expr(cx, n.a)), *b = cg_bare(arena, cg_expr(cx, n.b));
        return arena_printf(arena, "fma(%s, %s, %s)", a, b, acc);
    }
    const char *v = cg_atom(arena, cg_expr(cx, body));
    switch (fold->fold) {
    case IR_FOLD_SUM:
        return arena_printf(arena, integer ? "px_add(%s, %s)" : "%s + %s", acc, v);
    case IR_FOLD_PROD:
        return arena_printf(arena, integer ? "px_mul(%s, %s)" : "%s * %s", acc, v);
    case IR_FOLD_ANY:
        return arena_printf(arena, "%s || %s", acc, v);
    case IR_FOLD_ALL:
        return arena_printf(arena, "%s && %s", acc, v);
    default:
        return arena_printf(arena, "%s(%s, %s)", cg_chooser(cx->k, fold, body), acc,
                            integer ? cg_whole_operand(cx, body, v) : cg_bare(arena, v));
    }
}

CgBlend cg_blend(CgKernel *k, IrExpr fold)
{
    const IrExprNode n = *ir_expr(k->g, fold);
    const CgLoop loop = {(int)n.num, n.b, n.c, NULL}, *const loops = &loop;
    return (CgBlend){.table = cg_define_table(k, DEF_BLEND, n.weight, n.type, cg_of_kernel(k, "BLEND"), &loops, 1),
                     .lo = cg_define_int(k, n.b, cg_of_kernel(k, "FIRST")),
                     .middle = cg_define_int(k, ir_blend_middle(k->g, &n), cg_of_kernel(k, "MIDDLE")),
                     .hi = cg_define_int(k, n.c, cg_of_kernel(k, "LAST")),
                     .type = n.type};
}

static const char *add_weighted(CgKernel *k, const CgBlend *b, const char *weight, const char *v, const char *sum)
{
    return b->type == ELEM_F32 ? arena_printf(k->arena, "fma(%s, %s, %s)", weight, v, sum)
                               : arena_printf(k->arena, "%s + %s * %s", sum, weight, cg_atom(k->arena, v));
}

static const char *weight_text(CgKernel *k, const CgBlend *b, const char *index)
{
    return arena_printf(k->arena, "%s[%s]", b->table,
                        strcmp(b->lo, "0") == 0 ? index : cg_minus(k->arena, index, b->lo));
}

const char *cg_blend_rise(CgKernel *k, const CgBlend *b, const char *index, const char *rise, const char *sum)
{
    return add_weighted(k, b, weight_text(k, b, index), rise, sum);
}

const char *cg_blend_own(CgKernel *k, const CgBlend *b, const char *pixel, const char *sum)
{
    return add_weighted(k, b, arena_printf(k->arena, "%s[0]", b->table), pixel, sum);
}

static const char *loop_name(CgContext *cx, int depth)
{
    static const char *const NAMES[] = {"j", "i", "m", "n", "p", "q"};
    return depth < 6 ? NAMES[depth] : arena_printf(cx->k->arena, "i%d", depth);
}

/* The names that were given inside a loop are out of scope after it. */
typedef struct Scope {
    int memo, loops;
} Scope;

static Scope enter(CgContext *cx)
{
    return (Scope){cx->memo.n, cx->loops.n};
}

static void leave(CgContext *cx, Scope scope)
{
    cx->memo.n = scope.memo;
    cx->loops.n = scope.loops;
}

/* How many sequences of folds stand inside one another in each expression, and with all of its loops unrolled how many pixels it
 * reads and how long it is; visited bottom-up. */
typedef struct Nested {
    int depth;
    double reads, work;
} Nested;

typedef struct Nesting {
    Arena *arena;
    IdMap seen;
    Vec(Nested) nested; /* by place in `seen` */
} Nesting;

static double rounds_of(const IrGraph *g, const IrExprNode *n)
{
    double lo, hi;
    return n->op == IR_X_FOLD && ir_is_const(g, n->b, &lo) && ir_is_const(g, n->c, &hi) && hi > lo ? hi - lo + 1 : 1;
}

static void note_nesting(const IrGraph *g, IrExpr e, void *ctx)
{
    Nesting *nesting = ctx;
    const IrExprNode *n = ir_expr(g, e);
    const IrExpr child[] = {n->a, n->b, n->c, n->where};
    Nested all = {0, n->op == IR_X_READ || n->op == IR_X_READAT, n->rank == IR_PIXEL ? ir_op_work(n->op) : 0};
    for (size_t i = 0; i < sizeof child / sizeof *child; i++) {
        int known = child[i] != 0 ? id_map_find(&nesting->seen, child[i]) : -1;
        if (known >= 0) {
            const Nested *of_child = &nesting->nested.at[known];
            all.depth = of_child->depth > all.depth ? of_child->depth : all.depth;
            all.reads += of_child->reads;
            all.work += of_child->work;
        }
    }
    (void)id_map_add(&nesting->seen, nesting->arena, e);
    all.depth += n->op == IR_X_FOLD && !n->flat;
    all.reads *= rounds_of(g, n);
    all.work *= rounds_of(g, n);
    vec_push(nesting->arena, &nesting->nested, all);
}

const char *cg_unless_empty(CgKernel *k, IrExpr fold, const char *result)
{
    const IrExprNode n = *ir_expr(k->g, fold);
    double lo, hi;
    if (ir_is_const(k->g, n.b, &lo) && ir_is_const(k->g, n.c, &hi)) {
        return result;
    }
    const char *size = cg_define_int(k, ir_op2(k->g, IR_X_SUB, n.c, n.b), cg_of_kernel(k, "BEHIND"));
    return arena_printf(k->arena, "(%s < 0 ? %s : %s)", size, cg_fold_start(&n), result);
}

static void add_work(const IrGraph *g, IrExpr e, void *ctx)
{
    const IrExprNode *n = ir_expr(g, e);
    *(int *)ctx += n->rank == IR_PIXEL ? ir_op_work(n->op) - 1 : 0;
}

int cg_work(const IrGraph *g, IrExpr e)
{
    int work = 0;
    ir_walk(g, e, add_work, &work);
    return work;
}

IrExpr cg_most_steps(IrGraph *g, IrExpr fold)
{
    const IrExprNode n = *ir_expr(g, fold);
    IrExpr rounds = ir_op2(g, IR_X_ADD, ir_op2(g, IR_X_SUB, n.c, n.b), ir_const(g, 1));
    return n.flat ? ir_op2(g, IR_X_MUL, rounds, cg_most_steps(g, n.a)) : rounds;
}

static bool is_extent(const IrGraph *g, IrExpr e, const void *ctx)
{
    (void)ctx;
    return ir_expr(g, e)->op == IR_X_EXTENT;
}

static bool is_call(const IrGraph *g, IrExpr e, const void *ctx)
{
    (void)ctx;
    return ir_expr(g, e)->op == IR_X_CALL;
}

static bool is_lookup(const IrGraph *g, IrExpr e, const void *ctx)
{
    (void)ctx;
    return ir_expr(g, e)->op == IR_X_LOOKUP;
}

static bool is_beside(const IrGraph *g, IrExpr e, const void *ctx)
{
    (void)ctx;
    const IrExprNode *n = ir_expr(g, e);
    return n->op == IR_X_READ && (n->a != 0 || n->b != 0 || n->c != 0);
}

/* A window in a window is unrolled; three of them would be thousands of steps, and so would large ones, those that read or compute much
 * a step, and calls of functions, which is more text than a compiler takes in good time and than a GPU keeps at hand.  So are values of
 * labels, each with an address of its own, where the steps share no pixels in registers.  Of a whole axis some rounds are enough: with
 * all their addresses a kernel spills. */
static void unroll(CgContext *cx, IrExpr fold)
{
    enum { MOST = 2, LONGEST = 256, MOST_READS = 4096, MOST_WORK = 3000, OF_AN_AXIS = 8 };
    CgKernel *k = cx->k;
    Nesting nesting = {.arena = k->arena};
    ir_walk(k->g, fold, note_nesting, &nesting);
    const Nested all = nesting.nested.at[nesting.nested.n - 1]; /* the fold comes last */
    if (all.depth > MOST || all.reads > MOST_READS || all.work > MOST_WORK || ir_any(k->g, fold, is_call, NULL) ||
        (ir_any(k->g, fold, is_lookup, NULL) && !ir_any(k->g, fold, is_beside, NULL))) {
        return;
    }
    const int most = ir_expr(k->g, fold)->flat ? CG_MOST_UNROLLED : LONGEST;
    const IrExpr steps = cg_most_steps(k->g, fold);
    double known = 0;
    if (ir_any(k->g, steps, is_extent, NULL)) {
        cg_line(cx, "#pragma unroll %d", OF_AN_AXIS);
    } else if (!ir_is_const(k->g, steps, &known) && ir_expr(k->g, steps)->rank <= IR_HOST) {
        cg_line(cx, "#if %s <= %d", cg_define_int(k, steps, cg_of_kernel(k, "STEPS")), most / (int)fmax(all.reads, 1));
        cg_line(cx, "#pragma unroll");
        cg_line(cx, "#endif");
    } else if (known <= most) {
        cg_line(cx, "#pragma unroll");
    }
}

static void open_loop(CgContext *cx, IrExpr fold)
{
    CgKernel *k = cx->k;
    const IrExprNode node = *ir_expr(k->g, fold), *n = &node;
    const char *name = loop_name(cx, cx->loops.n);
    const char *lo = cg_define_int(k, n->b, cg_loop_end(k, name, "LO"));
    const char *hi = cg_define_int(k, n->c, cg_loop_end(k, name, "HI"));
    unroll(cx, fold);
    cg_line(cx, "for (int %s = %s; %s <= %s; %s++) {", name, cg_bare(k->arena, lo), name, cg_bare(k->arena, hi), name);
    cx->indent++;
    vec_push(k->arena, &cx->loops, (CgLoop){(int)n->num, n->b, n->c, name});
}

/* Opens the loops of a flat sequence; returns the innermost fold. */
static IrExprNode open_loops(CgContext *cx, IrExpr fold, int *depth)
{
    IrExprNode n = *ir_expr(cx->k->g, fold);
    for (*depth = 1;; ++*depth) {
        open_loop(cx, fold);
        if (!n.flat) {
            return n;
        }
        fold = n.a;
        n = *ir_expr(cx->k->g, fold);
    }
}

static void close_loops(CgContext *cx, int depth)
{
    for (int i = 0; i < depth; i++) {
        cx->indent--;
        cg_line(cx, "}");
    }
}

/* A condition as text, exact as the host's: comparisons and logic of whole numbers, and of numbers
 * that the host knows.  NULL: something else is in it. */
static const char *condition_text(CgContext *cx, IrExpr e)
{
    CgKernel *k = cx->k;
    Arena *arena = k->arena;
    const IrExprNode n = *ir_expr(k->g, e);
    IrRule rule = ir_op_rule(n.op);
    const char *text = cg_int_text(cx, e, "WHERE");
    if (n.rank <= IR_HOST && n.op != IR_X_CONST) {
        return cg_param_host(k, e, ELEM_F64);
    }
    if (text != NULL || (rule != IR_RULE_COMPARE && rule != IR_RULE_LOGIC)) {
        return text;
    }
    const IrExpr child[3] = {n.a, n.b, n.c};
    const char *operand[3] = {"", "", ""};
    for (int i = 0; i < ir_expr_op_arity(n.op); i++) {
        operand[i] = condition_text(cx, child[i]);
        if (operand[i] == NULL) {
            return NULL;
        }
        operand[i] = arena_printf(arena, "(%s)", operand[i]);
    }
    return cg_substitute(arena, ir_op_text(n.op, true), operand);
}

/* What follows no index, once an index of one value is a number, needs no table; in space a table would be large: it is
 * computed where it can be. */
static const char *where_text(CgContext *cx, IrExpr where)
{
    const int loops = cg_count_loops(cx, where);
    const char *text = loops == 0 || loops > 2 ? condition_text(cx, where) : NULL;
    return text != NULL ? text : arena_printf(cx->k->arena, "%s != 0", cg_table_text(cx, where, ELEM_F32, "WHERE"));
}

static IrExprNode innermost(const IrGraph *g, IrExpr fold)
{
    const IrExprNode *n = ir_expr(g, fold);
    while (n->flat) {
        n = ir_expr(g, n->a);
    }
    return *n;
}

/* Folds that share their loops, and their accumulators. */
typedef struct Abreast {
    IrExpr fold[MOST_ABREAST];
    const char *acc[MOST_ABREAST];
    int n;
} Abreast;

/* The combining lines of folds whose outer loop is open already: the loops inside, if the
 * sequence is flat, and the steps. */
static void combine(CgContext *cx, const Abreast *of)
{
    const IrGraph *g = cx->k->g;
    const IrExprNode n = *ir_expr(g, of->fold[0]);
    Scope scope = enter(cx);
    int depth = 0;
    if (n.flat) {
        open_loops(cx, n.a, &depth);
    }
    const IrExpr where = innermost(g, of->fold[0]).where;
    if (where != 0) {
        cg_line(cx, "if (%s) {", where_text(cx, where));
        cx->indent++;
    }
    for (int i = 0; i < of->n; i++) {
        const IrExprNode inner = innermost(g, of->fold[i]);
        cg_line(cx, "%s = %s;", of->acc[i], cg_bare(cx->k->arena, step_text(cx, &inner, of->acc[i], inner.a)));
    }
    if (where != 0) {
        cx->indent--;
        cg_line(cx, "}");
    }
    close_loops(cx, depth);
    leave(cx, scope);
}

void cg_fold_steps(CgContext *cx, IrExpr e, const char *acc)
{
    const Abreast alone = {.fold = {e}, .acc = {acc}, .n = 1};
    combine(cx, &alone);
}

/* The steps of a blend whose own loop is open: the difference that belongs to index j, and the pixel in the middle. */
static void blend_step(CgContext *cx, const CgBlend *b, const char *rise, const char *own, const char *acc)
{
    const char *j = cx->loops.at[cx->loops.n - 1].name;
    cg_line(cx, "if (%s > %s) %s = %s;", j, b->lo, acc, cg_blend_rise(cx->k, b, j, rise, acc));
    cg_line(cx, "if (%s == %s) %s = %s;", j, b->middle, acc, cg_blend_own(cx->k, b, own, acc));
}

/* Of pixels that are computed one by one: each less the one before it. */
static void blend_pixels(CgContext *cx, IrExpr e, const char *acc)
{
    CgKernel *k = cx->k;
    const IrExprNode n = *ir_expr(k->g, e);
    const CgBlend b = cg_blend(k, e);
    const char *before = arena_printf(k->arena, "before%d", k->n_temps),
               *here = arena_printf(k->arena, "here%d", k->n_temps);
    k->n_temps++;
    cg_line(cx, "%s %s = 0.0f;", cg_type(n.type), before);
    open_loop(cx, e);
    cg_line(cx, "const %s %s = %s;", cg_type(n.type), here, cg_expr(cx, n.a));
    blend_step(cx, &b, arena_printf(k->arena, "%s - %s", here, before), here, acc);
    cg_line(cx, "%s = %s;", before, here);
    close_loops(cx, 1);
}

static void blend_steps(CgContext *cx, IrExpr e, const char *acc)
{
    const CgBlend b = cg_blend(cx->k, e);
    const IrExpr read = cx->rise != NULL ? cg_blended(cx, e) : 0;
    if (read == 0) {
        blend_pixels(cx, e, acc);
        return;
    }
    open_loop(cx, e);
    const char *rise = cx->rise(cx, read);
    blend_step(cx, &b, rise, cg_expr(cx, ir_expr(cx->k->g, e)->a), acc);
    close_loops(cx, 1);
}

void cg_begin(CgContext *cx, IrExpr e)
{
    cx->abreast = ir_outer_folds(cx->k->g, cx->k->arena, e);
}

/* The fold, and those of the same expression that have its loops and no value yet. */
static Abreast abreast_of(const CgContext *cx, IrExpr e)
{
    Abreast of = {.fold = {e}, .n = 1};
    bool outer = false;
    for (int i = 0; i < cx->abreast.n; i++) {
        outer = outer || cx->abreast.at[i] == e;
    }
    for (int i = 0; i < cx->abreast.n && outer && of.n < MOST_ABREAST; i++) {
        IrExpr other = cx->abreast.at[i];
        if (other != e && cg_recall(cx->memo.at, cx->memo.n, other) == NULL && ir_same_loops(cx->k->g, e, other)) {
            of.fold[of.n++] = other;
        }
    }
    return of;
}

const char *cg_fold_text(CgContext *cx, IrExpr e)
{
    Abreast of = abreast_of(cx, e);
    for (int i = 0; i < of.n; i++) {
        cg_hoist(cx, of.fold[i]);
    }
    for (int i = 0; i < of.n; i++) {
        const IrExprNode n = *ir_expr(cx->k->g, of.fold[i]);
        of.acc[i] = arena_printf(cx->k->arena, "%s%d", IR_FOLD_NAMES[n.fold], cx->k->n_temps++);
        cg_line(cx, "%s %s = %s;", cg_type(n.type), of.acc[i], cg_fold_start(&n));
    }
    Scope scope = enter(cx);
    if (ir_expr(cx->k->g, e)->fold == IR_FOLD_BLEND) {
        blend_steps(cx, e, of.acc[0]);
    } else {
        open_loop(cx, e);
        combine(cx, &of);
        close_loops(cx, 1);
    }
    leave(cx, scope);
    for (int i = 1; i < of.n; i++) {
        vec_push(cx->k->arena, &cx->memo, (CgMemo){of.fold[i], of.acc[i]});
    }
    return of.acc[0];
}

static bool stays(const IrGraph *g, IrExpr offset)
{
    return offset == 0 || ir_expr(g, offset)->rank <= IR_HOST;
}

/* sum(weight * pixel), each product added with one rounding. */
static bool is_sum_of_products(const IrGraph *g, const IrExprNode *n, IrExpr *weight, IrExpr *pixel)
{
    const IrExprNode *body = ir_expr(g, n->a);
    if (n->op != IR_X_FOLD || n->flat || !n->fused || n->where != 0 || body->op != IR_X_MUL) {
        return false;
    }
    *weight = ir_expr(g, body->a)->rank <= IR_INDEX ? body->a : body->b;
    *pixel = *weight == body->a ? body->b : body->a;
    return true;
}

/* Pixels of an image as they are, in f32, also whole numbers that are in registers so; 0: it is something else. */
static IrExpr read_of(const CgContext *cx, IrExpr pixel)
{
    const IrGraph *g = cx->k->g;
    const IrExprNode *n = ir_expr(g, pixel);
    if (n->op == IR_X_CAST && (Elem)n->num == ELEM_NONE) {
        pixel = n->a;
        n = ir_expr(g, pixel);
    }
    return n->op == IR_X_READ && cg_text_type(cx, n) == ELEM_F32 ? pixel : 0;
}

IrExpr cg_blended(const CgContext *cx, IrExpr fold)
{
    const IrGraph *g = cx->k->g;
    const IrExprNode *n = ir_expr(g, fold);
    const IrExpr read = n->op == IR_X_FOLD && n->fold == IR_FOLD_BLEND && n->type == ELEM_F32 ? read_of(cx, n->a) : 0;
    const IrExprNode *of = ir_expr(g, read), *along = ir_expr(g, of->a);
    bool beside = read != 0 && of->a != 0 && along->op == IR_X_INDEX && along->num == n->num;
    return beside && of->b != of->a && of->c != of->a && stays(g, of->channel) ? read : 0;
}

/* A sum in f32 along x; the weights are those of all pixels. */
static bool is_weighted_sum(const CgContext *cx, IrExpr e, IrExpr *weight, IrExpr *pixel)
{
    const IrGraph *g = cx->k->g;
    const IrExprNode *n = ir_expr(g, e);
    if (n->type != ELEM_F32 || !is_sum_of_products(g, n, weight, pixel)) {
        return false;
    }
    *pixel = read_of(cx, *pixel);
    const IrExprNode *read = ir_expr(g, *pixel);
    return *pixel != 0 && ir_expr(g, *weight)->rank <= IR_INDEX && stays(g, read->b) && stays(g, read->c) &&
           stays(g, read->channel);
}

bool cg_vector_sum(CgContext *cx, IrExpr e, const char *to, const char *width)
{
    const IrExprNode n = *ir_expr(cx->k->g, e);
    IrExpr weight = 0, pixel = cg_blended(cx, e);
    const bool blend = pixel != 0;
    if (cg_recall(cx->memo.at, cx->memo.n, e) != NULL || (!blend && !is_weighted_sum(cx, e, &weight, &pixel))) {
        return false;
    }
    const char *name = loop_name(cx, cx->loops.n);
    const char *lo = cg_define_int(cx->k, n.b, cg_loop_end(cx->k, name, "LO"));
    const char *hi = cg_define_int(cx->k, n.c, cg_loop_end(cx->k, name, "HI"));
    const size_t before = cx->out->n;
    Scope scope = enter(cx);
    vec_push(cx->k->arena, &cx->loops, (CgLoop){(int)n.num, n.b, n.c, name});
    const CgBlend b = blend ? cg_blend(cx->k, e) : (CgBlend){0};
    const char *w = blend ? weight_text(cx->k, &b, name) : cg_expr(cx, weight), *v = cg_expr(cx, pixel);
    const char *rise = blend ? cx->rise(cx, pixel) : NULL;
    leave(cx, scope);
    if (cx->out->n != before) {
        str_cut(cx->out, before, cx->out->n); /* they need lines of their own */
        return false;
    }
    cg_line(cx, "#if COLUMNS_IN_VECTORS");
    if (blend) {
        cg_line(cx, "BLEND_COLUMNS(%s, %s, %s, %s, %s, %s, %s, %s, %s);", to, width, name, b.lo, b.middle, b.hi, w,
                rise, v);
    } else {
        cg_line(cx, "SUM_COLUMNS(%s, %s, %s, %s, %s, %s, %s);", to, width, name, lo, hi, w, v);
    }
    cg_line(cx, "#else");
    return true;
}

static IrExpr bind_count(IrGraph *g, IrExpr e, void *ctx)
{
    const IrExpr *count = ctx;
    const IrExprNode *n = ir_expr(g, e);
    return n->op == IR_X_INDEX && n->num < 0 ? *count : ir_made_anew(g, e);
}

IrExpr cg_fold_count(IrGraph *g, IrExpr e)
{
    const IrExprNode n = *ir_expr(g, e);
    IrExpr one = n.flat ? cg_fold_count(g, n.a) : ir_const(g, 1);
    double lo, hi;
    bool alike = n.where == 0 && ir_expr(g, one)->rank <= IR_HOST; /* as many in every round */
    if (alike && ir_is_const(g, n.b, &lo) && ir_is_const(g, n.c, &hi)) {
        return ir_op2(g, IR_X_MUL, one, ir_const(g, fmax(hi - lo + 1, 0)));
    }
    return ir_fold(g, IR_FOLD_SUM, (int)n.num, n.b, n.c, n.where, 0, true, one);
}

/* The type whose order the values of a rank fold have: that of the pixels where they are read as
 * they are, else f32, or `wide` for f64; NULL for whole numbers, which need no keys. */
static const char *rank_key_type(CgContext *cx, Elem type, IrExpr body)
{
    CgKernel *k = cx->k;
    const IrExprNode *n = ir_expr(k->g, body);
    if (type != ELEM_F32) {
        return type == ELEM_F64 ? "wide" : NULL;
    }
    if ((n->op != IR_X_READ && n->op != IR_X_READAT) || n->border == BORDER_CONSTANT) {
        return "float";
    }
    return cg_element(k, n->node);
}

/* The number of an element that the host knows. */
static const char *nth_text(CgKernel *k, IrExpr nth, IrExpr count)
{
    IrExpr last = ir_op2(k->g, IR_X_SUB, count, ir_const(k->g, 1));
    nth = ir_rewrite(k->g, nth, bind_count, &count);
    nth = ir_op1(k->g, IR_X_FLOOR, ir_op2(k->g, IR_X_MIN, nth, last));
    nth = ir_op2(k->g, IR_X_MAX, nth, ir_const(k->g, 0));
    return cg_define_int(k, nth, cg_of_kernel(k, "NTH"));
}

bool cg_picks(const IrGraph *g, IrExpr fold)
{
    const IrExpr nth = innermost(g, fold).nth;
    return nth != 0 && ir_expr(g, nth)->rank > IR_INDEX;
}

CgWindow cg_window(CgContext *cx, IrExpr e)
{
    CgKernel *k = cx->k;
    const Elem type = ir_expr(k->g, e)->type;
    const IrExprNode inner = innermost(k->g, e);
    IrExpr count = cg_fold_count(k->g, e);
    const char *size = cg_define_int(k, count, cg_of_kernel(k, "SIZE"));
    k->window = k->window != NULL ? cg_deeper(k->arena, k->window, size) : size;
    return (CgWindow){.size = size,
                      .count = count,
                      .nth = inner.nth != 0 && !cg_picks(k->g, e) ? nth_text(k, inner.nth, count) : "0",
                      .rank = inner.nth,
                      .key = rank_key_type(cx, type, inner.a),
                      .body = inner.a};
}

/* A statement for each element, which stands between the two texts. */
static void each_of_window(CgContext *cx, IrExpr e, const char *before, CgReadText element, const char *behind)
{
    Scope scope = enter(cx);
    int depth;
    IrExprNode inner = open_loops(cx, e, &depth);
    if (inner.where != 0) {
        cg_line(cx, "if (%s) {", where_text(cx, inner.where));
        cx->indent++;
    }
    const char *text = cg_bare(cx->k->arena, element(cx, inner.a));
    cg_line(cx, "%s%s%s", before, text, behind);
    if (inner.where != 0) {
        cx->indent--;
        cg_line(cx, "}");
    }
    close_loops(cx, depth);
    leave(cx, scope);
}

void cg_window_loops(CgContext *cx, IrExpr e, const char *list, CgReadText element)
{
    cg_line(cx, "int %s_n = 0;", list);
    each_of_window(cx, e, arena_printf(cx->k->arena, "%s[%s_n++] = ", list, list), element, ";");
}

/* The key of a window's pixel. */
static const char *key_text(CgContext *cx, IrExpr body)
{
    const char *type = rank_key_type(cx, ir_expr(cx->k->g, body)->type, body);
    bool as_read = type != NULL && strcmp(type, "float") != 0 && strcmp(type, "wide") != 0;
    const char *v = as_read ? cg_read_element(cx, body) : cg_expr(cx, body);
    return type != NULL ? arena_printf(cx->k->arena, "PX_KEY(%s, %s)", type, v) : cg_whole_operand(cx, body, v);
}

/* How a window's elements are taken: the type of their keys, the list's name, and which of them: an expression where a
 * pixel finds it. */
typedef struct Taken {
    const CgWindow *window;
    const char *element, *list, *nth;
    bool mode, picks;
} Taken;

/* Gathers the window in registers and sorts it there. */
static void sort_window(CgContext *cx, IrExpr e, const Taken *t, bool may_be_empty)
{
    const CgWindow *w = t->window;
    cg_line(cx, may_be_empty ? "%s %s[AT_LEAST_ONE(%s)];" : "%s %s[%s];", t->element, t->list, w->size);
    cg_window_loops(cx, e, t->list, key_text);
    if (t->mode) {
        cg_line(cx, "PX_MODE(%s, %s, %s, %d);", t->element, t->list, w->size, w->key != NULL);
    } else {
        cg_line(cx, "%s(%s, %s, %s, %s);", t->picks ? "PX_PICK" : "PX_RANK", t->element, t->list, w->size, t->nth);
    }
}

/* Counts the elements of a window that neither registers nor the text of a sort have room for, in rounds: each finds two bits
 * of the key of a rank, or goes on to the next key. */
static void count_window(CgContext *cx, IrExpr e, const Taken *t)
{
    Arena *arena = cx->k->arena;
    const CgWindow *w = t->window;
    const char *keys = t->mode ? "PX_EACH_KEY" : "PX_EACH_DIGIT", *key = w->key != NULL ? w->key : t->element;
    cg_line(cx, "%s(%s, %s, %s) {", keys, t->element, t->list, key);
    cx->indent++;
    each_of_window(cx, e,
                   arena_printf(arena, "%s(%s, %s, ", t->mode ? "PX_COUNT_KEY" : "PX_COUNT_BELOW", t->element, t->list),
                   key_text, ");");
    if (t->mode) {
        cg_line(cx, "PX_TAKE_KEY(%s, %d);", t->list, w->key != NULL);
    } else if (t->picks) {
        cg_line(cx, "PX_TAKE_DIGIT(%s, PX_NTH(%s, %s));", t->list, t->nth, w->size);
    } else {
        cg_line(cx, "PX_TAKE_DIGIT(%s, %s);", t->list, t->nth);
    }
    cx->indent--;
    cg_line(cx, "}");
}

/* One element of a window by its rank, or the one that there are most of.  The key's name, or what stands for it. */
static const char *window_key(CgContext *cx, IrExpr e, const Taken *t, bool may_be_empty)
{
    enum { SHORT = 64 }; /* LONGEST_SORTED (kernels/pixels.cl) is less nowhere */
    Arena *arena = cx->k->arena;
    const CgWindow *w = t->window;
    double size;
    const char *sorted = arena_printf(arena, "%s[%s]", t->list, w->nth);
    if (ir_is_const(cx->k->g, cg_most_steps(cx->k->g, e), &size) && size <= SHORT) {
        sort_window(cx, e, t, may_be_empty);
        return sorted;
    }
    const char *key = arena_printf(arena, "%s_key", t->list);
    cg_line(cx, "#if %s > LONGEST_SORTED", w->size);
    count_window(cx, e, t);
    cg_line(cx, "const %s %s = PX_COUNTED(%s, %s);", t->element, key, t->element, t->list);
    cg_line(cx, "#else");
    sort_window(cx, e, t, may_be_empty);
    cg_line(cx, "const %s %s = %s;", t->element, key, sorted);
    cg_line(cx, "#endif");
    return key;
}

const char *cg_rank_text(CgContext *cx, IrExpr e)
{
    CgKernel *k = cx->k;
    Elem type = ir_expr(k->g, e)->type;
    const CgWindow w = cg_window(cx, e);
    cg_hoist(cx, e);
    Taken t = {.window = &w,
               .element = type == ELEM_U32   ? "uint"
                          : type == ELEM_F64 ? "long"
                                             : "int",
               .list = arena_printf(k->arena, "window%d", k->n_temps++),
               .mode = ir_expr(k->g, e)->fold == IR_FOLD_MODE,
               .picks = cg_picks(k->g, e)};
    t.nth = t.picks && !t.mode ? cg_expr(cx, w.rank) : w.nth;
    double some;
    bool none = !ir_is_const(k->g, w.count, &some) || some <= 0;
    const char *value = window_key(cx, e, &t, none);
    value = w.key != NULL ? arena_printf(k->arena, "PX_VALUE(%s, %s)", w.key, value) : value;
    value = none ? arena_printf(k->arena, "(%s > 0 ? %s : %s)", w.size, value, w.key != NULL ? "NAN" : "0") : value;
    return cg_name_value(cx, type, value);
}
