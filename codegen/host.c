/* host: a walk over host expressions; every expression becomes one node, once. */
#include "host.h"

#include "../base/hostops.h"

#include <assert.h>
#include <string.h>

void cg_host_init(CgHost *host, IrGraph *g)
{
    memset(host, 0, sizeof *host);
    host->g = g;
    host->arena = g->arena;
}

static int add(CgHost *host, HostNode node)
{
    vec_push(host->arena, &host->nodes, node);
    return host->nodes.n - 1;
}

int cg_host_node(CgHost *host, HostNode node)
{
    for (int i = 0; i < host->nodes.n; i++) {
        const HostNode *have = &host->nodes.at[i];
        if (have->op == node.op && have->d == node.d && have->a == node.a && have->b == node.b && have->c == node.c &&
            have->e == node.e && have->num == node.num) {
            return i;
        }
    }
    return add(host, node);
}

int cg_host_one(CgHost *host)
{
    return cg_host(host, ir_const(host->g, 1));
}

int cg_input_number(const IrGraph *g, IrId node)
{
    int k = 0;
    for (IrId i = 1; i < node; i++) {
        k += ir_node(g, i)->op == IR_INPUT && !ir_node(g, i)->dead;
    }
    return k;
}

static const uint8_t FOLD_OF[IR_FOLDS] = {
    [IR_FOLD_SUM] = HOST_SUM, [IR_FOLD_PROD] = HOST_PROD, [IR_FOLD_MIN] = HOST_MIN,
    [IR_FOLD_MAX] = HOST_MAX, [IR_FOLD_ANY] = HOST_ANY,   [IR_FOLD_ALL] = HOST_ALL,
};

/* A fold in the body that does not go on with the sequence stands behind an operator, for the host takes others as one. */
static HostNode fold_node(CgHost *host, const IrExprNode *n)
{
    int body = cg_host(host, n->a);
    if (!n->flat && ir_expr(host->g, n->a)->op == IR_X_FOLD) {
        const int one = add(host, (HostNode){.op = HOST_CONST, .num = 1});
        body = add(host, (HostNode){.op = HOST_OP2, .d = (uint8_t)hostop_from_name("mul"), .a = body, .b = one});
    }
    return (HostNode){.op = HOST_FOLD,
                      .d = FOLD_OF[n->fold],
                      .a = body,
                      .b = cg_host(host, n->b),
                      .c = cg_host(host, n->c),
                      .e = n->where != 0 ? cg_host(host, n->where) : -1,
                      .num = n->num};
}

static HostNode operator_node(CgHost *host, const IrExprNode *n)
{
    int arity = ir_expr_op_arity(n->op), op = hostop_from_name(ir_expr_op_name(n->op));
    assert(arity > 0 && op >= 0);
    HostNode node = {.op = (uint8_t)(HOST_OP1 + arity - 1), .d = (uint8_t)op};
    node.a = cg_host(host, n->a);
    node.b = arity > 1 ? cg_host(host, n->b) : 0;
    node.c = arity > 2 ? cg_host(host, n->c) : 0;
    return node;
}

int cg_host_max(CgHost *host, int a, int b)
{
    int op = hostop_from_name("max");
    return add(host, (HostNode){.op = HOST_OP2, .d = (uint8_t)op, .a = a, .b = b});
}

static HostNode make(CgHost *host, const IrExprNode *n)
{
    switch (n->op) {
    case IR_X_CONST:
        return (HostNode){.op = HOST_CONST, .num = n->num};
    case IR_X_PARAM:
        return (HostNode){.op = HOST_PARAM, .a = (int)n->num};
    case IR_X_EXTENT:
        return (HostNode){.op = HOST_EXTENT, .a = cg_input_number(host->g, n->node), .b = (int)n->num};
    case IR_X_PIXELSIZE:
        return (HostNode){.op = HOST_PIXELSIZE, .a = (int)n->num};
    case IR_X_UPWARDS:
        return (HostNode){.op = HOST_UPWARDS};
    case IR_X_SKY:
        return (HostNode){.op = HOST_SKY,
                          .a = cg_input_number(host->g, n->node),
                          .b = (int)n->num / 9,
                          .c = (int)n->num % 9};
    case IR_X_LARGEST:
        return (HostNode){.op = HOST_LARGEST, .a = cg_input_number(host->g, n->node)};
    case IR_X_INDEX:
        return (HostNode){.op = HOST_INDEX, .a = (int)n->num};
    case IR_X_FOLD:
        return fold_node(host, n);
    default:
        return operator_node(host, n);
    }
}

/* What a storage type makes of a number, which is rounded to even first. */
static IrExpr saturated(IrGraph *g, IrExpr e, Elem storage)
{
    IrExpr least = ir_const(g, elem_min(storage)), most = ir_const(g, elem_max(storage));
    return ir_op2(g, IR_X_MIN, ir_op2(g, IR_X_MAX, ir_op1(g, IR_X_ROUND, e), least), most);
}

int cg_host(CgHost *host, IrExpr e)
{
    if ((int)e >= host->memo_cap) {
        int cap = 2 * host->g->exprs.n + 64;
        host->memo =
            arena_grow(host->arena, host->memo, sizeof(int) * (size_t)host->memo_cap, sizeof(int) * (size_t)cap);
        host->memo_cap = cap;
    }
    if (host->memo[e] != 0) {
        return host->memo[e] - 1;
    }
    const IrExprNode n = *ir_expr(host->g, e);
    assert(n.rank <= IR_INDEX);
    if (n.op == IR_X_CAST && (Elem)n.num != ELEM_NONE) {
        return cg_host(host, saturated(host->g, n.a, (Elem)n.num));
    }
    if (n.op == IR_X_CAST) { /* where it is used rounds it */
        return cg_host(host, n.a);
    }
    int k = add(host, make(host, &n));
    host->memo[e] = k + 1;
    return k;
}
