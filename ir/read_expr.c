/* read_expr: expressions of a graph's text, each of which ir_print prints the same again. */
#include "reader.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* %12, a node that is there. */
IrId read_node_id(Reader *r)
{
    read_expect(r, "%");
    const char *from = r->p;
    IrId id = (IrId)read_whole(r, 1, MAX_NUMBER);
    if (read_ok(r) && (id >= (IrId)r->g->nodes.n || ir_node(r->g, id)->dead)) {
        r->p = from;
        read_fail(r, "there is no such %s", "node");
    }
    return read_ok(r) ? id : 0;
}

static IrExpr intern(Reader *r, IrExprNode n)
{
    for (int i = 0; i < IR_CHILDREN; i++) {
        if (n.child[i] != 0 && ir_expr(r->g, n.child[i])->depth >= IR_MOST_DEPTH) {
            read_fail(r, "the expression is nested too deeply%s", "");
        }
    }
    if (!read_ok(r)) {
        return 0;
    }
    ir_derive(r->g, &n);
    return ir_intern(r->g, n);
}

static IrExpr param(Reader *r)
{
    const char *from = r->p, *word = read_bare(r);
    for (int i = 0; i < r->g->params.n; i++) {
        if (strcmp(r->g->params.at[i].name, word) == 0) {
            return intern(r, (IrExprNode){.op = IR_X_PARAM, .num = i});
        }
    }
    if (read_ok(r)) {
        r->p = from;
        read_fail(r, "there is no param '%s'", word);
    }
    return 0;
}

/* #-1 is the number of elements of a rank fold. */
static int index_number(Reader *r)
{
    int index = read_whole(r, -1, MAX_INDEX - 1);
    r->g->next_index = index >= r->g->next_index ? index + 1 : r->g->next_index;
    return index;
}

/* What stands in brackets after a node that is read; "[" is behind us. */
static void read_places(Reader *r, IrExprNode *n)
{
    IrExpr *const at[IR_AXES] = {&n->a, &n->b, &n->c, &n->channel};
    while (read_ok(r) && !read_accept(r, "]")) {
        if (read_accept(r, "border")) {
            read_expect(r, "=");
            n->border = (Border)read_one_of(r, IR_BORDER_NAMES, BORDER_KINDS, "a border");
        } else if (read_accept(r, "outside")) {
            read_expect(r, "=");
            n->outside = read_expression(r);
        } else {
            IrExpr *to = at[read_axis(r, IR_AXES)];
            read_expect(r, "=");
            *to = read_expression(r);
        }
        if (*r->p != ']') {
            read_expect(r, ",");
        }
    }
    if (read_ok(r) && (n->border == BORDER_CONSTANT) != (n->outside != 0)) {
        read_fail(r, "`outside` goes with the border `constant`%s", "");
    }
}

static IrExpr node_part(Reader *r)
{
    IrExprNode n = {.op = IR_X_READ, .node = read_node_id(r)};
    switch (*r->p) {
    case '.':
        r->p++;
        n.op = IR_X_VALUE;
        n.num = read_whole(r, 0, IR_MAX_VALUES - 1);
        break;
    case '{':
        r->p++;
        n.op = IR_X_LOOKUP;
        n.a = read_expression(r);
        read_expect(r, "}");
        break;
    case '@':
        n.op = IR_X_READAT;
        r->p++;
        read_expect(r, "[");
        read_places(r, &n);
        break;
    case '[':
        r->p++;
        read_places(r, &n);
        break;
    default:
        break;
    }
    return intern(r, n);
}

static IrExpr constant(Reader *r)
{
    double v = read_number(r);
    Elem type = ELEM_F64;
    if (*r->p == ':') {
        r->p++;
        type = read_arithmetic(r);
    }
    if (!isnan(v) && ir_convert(v, type) != v) {
        read_fail(r, "the type does not have this number%s", "");
    }
    return intern(r, (IrExprNode){.op = IR_X_CONST, .type = type, .num = v});
}

/* A fold after its "(": "#0 in lo .. hi where e nth e weighing e, body)". */
static IrExpr fold(Reader *r, IrFold kind)
{
    IrExprNode n = {.op = IR_X_FOLD, .fold = kind};
    read_expect(r, "#");
    n.num = index_number(r);
    if (n.num < 0) {
        read_fail(r, "a fold's index has a number from 0%s", "");
    }
    read_expect(r, "in");
    n.b = read_expression(r);
    read_expect(r, "..");
    n.c = read_expression(r);
    n.where = read_accept(r, "where") ? read_expression(r) : 0;
    n.nth = read_accept(r, "nth") ? read_expression(r) : 0;
    n.weight = read_accept(r, "weighing") ? read_expression(r) : 0;
    read_expect(r, ",");
    bool apart = read_accept(r, "apart");
    n.a = read_expression(r);
    read_expect(r, ")");
    ir_derive(r->g, &n);
    if (!apart) {
        ir_join(r->g, &n);
    }
    return intern(r, n);
}

/* True when "#0 in" comes next: min( and max( begin folds as well as operators. */
static bool fold_follows(const Reader *r)
{
    int n = 0;
    return sscanf(r->p, " #%*d in%n", &n) == 0 && n > 0 && !read_is_word_char(r->p[n]);
}

static int function_number(Reader *r, const char *word)
{
    for (int i = 0; i < r->g->functions.n; i++) {
        if (strcmp(r->g->functions.at[i]->name, word) == 0) {
            return i;
        }
    }
    read_fail(r, "there is no function '%s'", word);
    return -1;
}

static IrExpr call(Reader *r)
{
    IrExpr args[IR_FN_MAX_VARS], list = 0;
    int function = function_number(r, read_name(r));
    int wanted = read_ok(r) ? r->g->functions.at[function]->n_params : 0;
    read_expect(r, "(");
    for (int i = 0; i < wanted; i++) {
        if (i > 0) {
            read_expect(r, ",");
        }
        args[i] = read_expression(r);
    }
    read_expect(r, ")");
    for (int i = wanted - 1; i >= 0; i--) {
        list = intern(r, (IrExprNode){.op = IR_X_ARG, .a = args[i], .b = list});
    }
    return intern(r, (IrExprNode){.op = IR_X_CALL, .num = function, .a = list});
}

/* A word with brackets behind it; the "(" is behind us. */
static IrExpr operator(Reader *r, const char *word)
{
    IrExprNode n = {.op = IR_X_NONE};
    for (int i = 0; i < IR_FOLDS; i++) {
        if (strcmp(word, IR_FOLD_NAMES[i]) == 0 && fold_follows(r)) {
            return fold(r, (IrFold)i);
        }
    }
    bool saturates = strncmp(word, "sat_", 4) == 0;
    Elem type = elem_from_name(saturates ? word + 4 : word);
    int operands = 1;
    if (saturates && type >= ELEM_U8 && type <= ELEM_I32) {
        n.op = IR_X_CAST;
        n.num = (double)type;
        n.type = type == ELEM_U32 ? ELEM_U32 : ELEM_I32;
    } else if (!saturates && (type == ELEM_BOOL || (type >= ELEM_U32 && type <= ELEM_F64))) {
        n.op = IR_X_CAST;
        n.type = type;
    } else {
        n.op = ir_expr_op_from_name(word);
        operands = ir_expr_op_arity(n.op);
        if (operands == 0) {
            read_fail(r, "there is no operator '%s'", word);
        }
    }
    IrExpr *const child[3] = {&n.a, &n.b, &n.c};
    for (int i = 0; i < operands; i++) {
        if (i > 0) {
            read_expect(r, ",");
        }
        *child[i] = read_expression(r);
    }
    read_expect(r, ")");
    return intern(r, n);
}

/* extent(%1, x), largest(%1), pixelsize(x), coord(x): takes no expressions. */
static bool special(Reader *r, IrExprNode *n)
{
    if (read_accept(r, "extent(")) {
        n->op = IR_X_EXTENT;
        n->node = read_node_id(r);
        read_expect(r, ",");
        n->num = read_axis(r, IR_AXES);
    } else if (read_accept(r, "largest(")) {
        n->op = IR_X_LARGEST;
        n->node = read_node_id(r);
    } else if (read_accept(r, "sky(")) {
        n->op = IR_X_SKY;
        n->node = read_node_id(r);
        read_expect(r, ",");
        n->num = read_whole(r, 0, 9 * r->g->nodes.n);
    } else if (read_accept(r, "pixelsize(")) {
        n->op = IR_X_PIXELSIZE;
        n->num = read_axis(r, 3);
    } else if (read_accept(r, "upwards(")) {
        n->op = IR_X_UPWARDS;
    } else if (read_accept(r, "coord(")) {
        n->op = IR_X_COORD;
        n->num = read_axis(r, IR_AXES);
    } else {
        return false;
    }
    read_expect(r, ")");
    return true;
}

/* t12, or an operator. */
static IrExpr named(Reader *r)
{
    IrExprNode n = {.op = IR_X_NONE};
    if (special(r, &n)) {
        return intern(r, n);
    }
    const char *word = read_bare(r);
    if (*r->p == '(') {
        r->p++;
        return operator(r, word);
    }
    char *end = NULL;
    long part = word[0] == 't' && isdigit((unsigned char)word[1]) ? strtol(word + 1, &end, 10) : 0;
    if (part < 1 || part >= r->parts.n || *end != '\0') {
        read_fail(r, "nothing is called '%s' here", word);
        return 0;
    }
    return r->parts.at[part];
}

static IrExpr local(Reader *r)
{
    if (r->function == NULL) {
        read_fail(r, "there are no variables outside of functions%s", "");
        return 0;
    }
    int var = read_variable(r);
    Elem type = read_ok(r) ? r->function->vars.at[var].type : ELEM_NONE;
    return intern(r, (IrExprNode){.op = IR_X_LOCAL, .type = type, .num = var});
}

static IrExpr raise_rank(Reader *r, IrExpr e)
{
    IrRank rank = (IrRank)read_one_of(r, IR_RANK_NAMES, IR_RANKS, "a rank");
    IrExprNode n = *ir_expr(r->g, e);
    if (rank < n.rank) {
        read_fail(r, "the operands ask for a higher rank%s", "");
    }
    n.rank = rank;
    return ir_intern(r->g, n);
}

IrExpr read_expression(Reader *r)
{
    read_skip_blanks(r);
    if (++r->nested > MAX_NESTED) {
        read_fail(r, "the brackets are nested too deeply%s", "");
    }
    bool digits = isdigit((unsigned char)*r->p) || *r->p == '-';
    IrExpr e;
    if (*r->p == '%') {
        e = node_part(r);
    } else if (read_accept(r, "$")) {
        e = param(r);
    } else if (read_accept(r, "@")) {
        e = call(r);
    } else if (read_accept(r, "&")) {
        e = local(r);
    } else if (read_accept(r, "#")) {
        e = intern(r, (IrExprNode){.op = IR_X_INDEX, .num = index_number(r)});
    } else if (digits || strncmp(r->p, "inf", 3) == 0 || strncmp(r->p, "nan", 3) == 0) {
        e = constant(r);
    } else {
        e = named(r);
    }
    r->nested--;
    if (read_accept(r, "!")) {
        e = raise_rank(r, e);
    }
    read_skip_blanks(r);
    return e;
}
