/*
 * byte_tables: what follows from a byte, or from the difference of two, comes out of a table.
 *
 * A bilateral filter takes an exponential of the difference of two pixels at each step of its window.  Of bytes there are
 * 511 differences.  So each group computes the function once for all of them, in local memory, and its steps look it up;
 * the bits are those of the same text.  Whether an image has bytes is known when its file is read, so that the
 * preprocessor chooses.  On CPUs, which compute it for many pixels at once, a table is no faster.
 */
#include "kernel.h"

#include "../ir/apply.h"

#include <string.h>

enum {
    MOST_TABLES = 4, /* of a kernel: 2 KiB each */
    LEAST_OPS = 16,  /* of a function that a table is worth */
    MOST_LOOKED = 64 /* expressions that are looked at to find out */
};

/* What an expression follows from. */
typedef struct Follows {
    IrExpr key; /* a byte, or the difference of two; 0: no pixel */
    bool more;  /* also from something else */
    int ops;
} Follows;

/* The image of a pixel that may be a byte, as f32; 0: it is none. */
static IrId byte_image(const IrGraph *g, IrExpr e)
{
    const IrExprNode *n = ir_expr(g, e);
    const bool real = n->type == ELEM_F32 && n->num == 0;
    const IrExprNode *read = n->op == IR_X_CAST ? ir_expr(g, n->a) : n;
    const Elem elem = real && read->op == IR_X_READ ? ir_node(g, read->node)->elem : ELEM_NONE;
    const bool inside = read->border != BORDER_CONSTANT || read->outside == 0; /* else it may be anything */
    return inside && (elem == ELEM_U8 || elem == ELEM_FILE) ? read->node : 0;
}

static bool is_key(const IrGraph *g, IrExpr e)
{
    const IrExprNode *n = ir_expr(g, e);
    return byte_image(g, e) != 0 || (n->op == IR_X_SUB && byte_image(g, n->a) != 0 && byte_image(g, n->b) != 0);
}

static Follows follows(CgContext *cx, IrExpr e, int *looked)
{
    const IrExprNode n = *ir_expr(cx->k->g, e);
    if (n.rank <= IR_HOST || (n.rank == IR_UNIFORM && cg_count_loops(cx, e) == 0)) {
        return (Follows){.key = 0};
    }
    if (is_key(cx->k->g, e)) {
        return (Follows){.key = e};
    }
    const int arity = n.op == IR_X_CAST ? 1 : n.op > IR_X_ARG ? ir_expr_op_arity(n.op) : 0;
    Follows all = {.more = arity == 0 || n.type == ELEM_F64 || n.rank < IR_PIXEL || ++*looked > MOST_LOOKED,
                   .ops = arity > 0 && n.op != IR_X_CAST ? ir_op_work(n.op) : 1};
    for (int i = 0; i < arity && !all.more; i++) {
        const Follows one = follows(cx, n.child[i], looked);
        all.more = one.more || (all.key != 0 && one.key != 0 && one.key != all.key);
        all.key = all.key != 0 ? all.key : one.key;
        all.ops += one.ops;
    }
    return all;
}

/* "PX_IS_BYTE(image__t)": for each of the images that a key reads. */
static const char *condition(CgKernel *k, IrExpr key)
{
    const IrExprNode n = *ir_expr(k->g, key);
    if (n.op == IR_X_SUB) {
        const char *a = condition(k, n.a), *b = condition(k, n.b);
        return strcmp(a, b) == 0 ? a : arena_printf(k->arena, "%s && %s", a, b);
    }
    return arena_printf(k->arena, "PX_IS_BYTE(%s)", cg_element(k, byte_image(k->g, key)));
}

/* The table's text, of an expression that follows from `key`. */
static void write_table(CgContext *cx, IrExpr e, IrExpr key, const char *name)
{
    CgByteTables *t = cx->bytes;
    Arena *arena = cx->k->arena;
    const char *type = cg_type(cg_text_type(cx, ir_expr(cx->k->g, e)));
    const char *test = arena_printf(arena, "#if PX == 4 && %s", condition(cx->k, key));
    str_addf(
        &t->macros,
        "%s\n#define %s(key, computed) %s_at[BYTE_PLACE(key)]\n#else\n#define %s(key, computed) (computed)\n#endif\n",
        test, name, name, name);
    Str body;
    str_init(&body, arena);
    CgContext inner = *cx;
    inner.out = &body;
    inner.indent = 2;
    inner.bytes = NULL;
    memset(&inner.memo, 0, sizeof inner.memo);
    vec_push(arena, &inner.memo, ((CgMemo){key, "key"}));
    const char *value = cg_bare(arena, cg_expr(&inner, e));
    cx->uniform = inner.uniform;
    str_addf(&t->fills,
             "%s\n"
             "    local %s %s_at[BYTE_PLACES];\n"
             "    for (int place = (int)get_local_id(0); place < BYTE_PLACES; place += LX) {\n"
             "        const float key = (float)(place - BYTE_LARGEST);\n"
             "%s"
             "        %s_at[place] = %s;\n"
             "    }\n"
             "    barrier(CLK_LOCAL_MEM_FENCE);\n"
             "#endif\n",
             test, type, name, body.at, name, value);
}

static const char *name_of(CgContext *cx, IrExpr e, IrExpr key)
{
    CgByteTables *t = cx->bytes;
    const char *known = cg_recall(t->of.at, t->of.n, e);
    if (known == NULL && t->of.n < MOST_TABLES) {
        known = cg_of_kernel(cx->k, arena_printf(cx->k->arena, "BY_BYTE%d", t->of.n));
        vec_push(cx->k->arena, &t->of, ((CgMemo){e, known}));
        write_table(cx, e, key, known);
    }
    return known;
}

CgByteTables *cg_byte_tables(CgKernel *k)
{
    CgByteTables *t = arena_new(k->arena, CgByteTables);
    str_init(&t->macros, k->arena);
    str_init(&t->fills, k->arena);
    return t;
}

const char *cg_by_byte(CgContext *cx, IrExpr e, const char *(*text)(CgContext *cx, IrExpr e))
{
    const IrExprNode n = *ir_expr(cx->k->g, e);
    const bool maybe =
        cx->bytes != NULL && cx->loops.n > 0 && n.rank == IR_PIXEL && n.op > IR_X_ARG && n.type == ELEM_F32;
    int looked = 0;
    const Follows of = maybe ? follows(cx, e, &looked) : (Follows){.more = true};
    if (of.more || of.key == 0 || of.ops < LEAST_OPS) {
        return text(cx, e);
    }
    CgByteTables *tables = cx->bytes;
    const char *name = name_of(cx, e, of.key);
    if (name == NULL) {
        return text(cx, e);
    }
    cx->bytes = NULL;
    const char *key = cg_bare(cx->k->arena, cg_expr(cx, of.key)), *computed = cg_bare(cx->k->arena, text(cx, e));
    cx->bytes = tables;
    return arena_printf(cx->k->arena, "%s(%s, %s)", name, key, computed);
}
