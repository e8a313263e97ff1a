/*
 * verify: many small checks that all run, then one report.
 *
 * A graph may also come from a text that somebody wrote (read.c), so nothing is taken for granted
 * here but what the reader and the types of C see to: words are of their lists, and an expression
 * reads nodes that are there.
 */
#include "verify.h"
#include "apply.h"
#include "function.h"
#include "indices.h"
#include "text.h"

#include "../base/measures.h"
#include "../base/near.h"
#include "../base/user_text.h"
#include "../base/window.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Check {
    const IrGraph *g;
    const char *subject;        /* "%3 blurred", "loop 1": what is looked at */
    IrId node;                  /* reads come before this one */
    const IrFunction *function; /* whose expressions these are; NULL: they are a node's */
    Str *out;
} Check;

static void find(Check *c, const char *what)
{
    str_addf(c->out, "%s: %s\n", c->subject, what);
}

static void require(Check *c, bool fine, const char *what)
{
    if (!fine) {
        find(c, what);
    }
}

/* ---- expressions --------------------------------------------------------------------------- */

static IrRank rank_of(const Check *c, IrExpr e)
{
    return e != 0 ? ir_expr(c->g, e)->rank : IR_CONST;
}

static Elem type_of(const Check *c, IrExpr e)
{
    return ir_expr(c->g, e)->type;
}

static void check_read(Check *c, const IrExprNode *n)
{
    bool carried = ir_node(c->g, n->node)->op == IR_CARRY;
    bool pixels = n->op == IR_X_READ || n->op == IR_X_READAT;
    IrKind kind = ir_node(c->g, n->node)->kind;
    require(c, !ir_node(c->g, n->node)->dead, "reads a dead node");
    require(c, n->node < c->node || carried, "reads a node that comes later");
    require(c, !pixels || kind <= IR_K_LABELS, "reads pixels of something that is not an image");
    require(c, n->op != IR_X_VALUE || kind == IR_K_VALUE || kind == IR_K_LABELS,
            "takes a value of something that has none");
    require(c, n->op != IR_X_LOOKUP || kind == IR_K_VECTOR, "looks up in something that is not a vector");
    require(c, n->op != IR_X_LOOKUP || type_of(c, n->a) == ELEM_U32, "looks up with an index that is not u32");
    const IrExpr offset[3] = {n->a, n->b, n->c};
    for (int i = 0; n->op == IR_X_READ && i < 3; i++) {
        require(c, rank_of(c, offset[i]) <= IR_INDEX, "has an offset that the host cannot compute");
    }
    require(c, rank_of(c, n->channel) <= IR_INDEX || n->op == IR_X_READAT,
            "has a channel that the host cannot compute");
    require(c, rank_of(c, n->outside) <= IR_INDEX, "has a border that the host cannot compute");
    require(c, (n->border == BORDER_CONSTANT) == (n->outside != 0) || !pixels,
            "has a value outside without the border `constant`, or the other way round");
}

static void check_fold(Check *c, const IrExprNode *n)
{
    require(c, rank_of(c, n->b) <= IR_INDEX && rank_of(c, n->c) <= IR_INDEX && rank_of(c, n->where) <= IR_INDEX,
            "has a fold with bounds that the host cannot compute");
    bool truth = n->fold == IR_FOLD_ANY || n->fold == IR_FOLD_ALL;
    require(c, truth == (type_of(c, n->a) == ELEM_BOOL),
            truth ? "folds any or all over numbers" : "folds numbers over truth values");
    bool blend = n->fold == IR_FOLD_BLEND;
    require(c, blend == (n->weight != 0), "has a fold with weights that is no blend, or the other way round");
    require(c, rank_of(c, n->weight) <= IR_INDEX, "has weights that the host cannot compute");
    require(c, !blend || ((n->type == ELEM_F32 || n->type == ELEM_F64) && n->where == 0),
            "blends whole numbers, or leaves some out");
}

static void check_call(Check *c, const IrExprNode *n)
{
    const IrFunction *f = c->g->functions.at[(int)n->num];
    for (int i = 0; c->function != NULL && i <= (int)n->num; i++) {
        require(c, c->g->functions.at[i] != c->function, "calls a function that is not complete");
    }
    int k = 0;
    for (IrExpr a = n->a; a != 0; a = ir_expr(c->g, a)->b, k++) {
        require(c, k >= f->n_params || type_of(c, a) == f->vars.at[k].type,
                "calls a function with an argument of another type");
    }
    require(c, k == f->n_params, "calls a function with another number of arguments");
    IrExpr last = n->a;
    while (last != 0 && ir_expr(c->g, last)->b != 0) {
        last = ir_expr(c->g, last)->b;
    }
    const IrExprNode *table = last != 0 ? ir_expr(c->g, ir_expr(c->g, last)->a) : NULL;
    bool has = table != NULL && table->op == IR_X_LOOKUP && ir_node(c->g, table->node)->op == IR_FOREST;
    const IrForest *own = has ? ir_forest_of(c->g, table->node) : NULL;
    require(c, f->forest == NULL || (own != NULL && strcmp(own->text, f->forest->text) == 0),
            "calls a forest without its table");
}

/* Operands have met in one type, which the operator takes. */
static void check_operands(Check *c, const IrExprNode *n)
{
    IrRule rule = ir_op_rule(n->op);
    bool select = rule == IR_RULE_SELECT;
    const IrExpr operand[3] = {n->a, n->b, n->c};
    Elem type = type_of(c, operand[select]);
    bool floats = type == ELEM_F32 || type == ELEM_F64;
    for (int i = select; i < ir_expr_op_arity(n->op); i++) {
        require(c, type_of(c, operand[i]) == type, "has operands of different types");
    }
    require(c, !select || type_of(c, n->a) == ELEM_BOOL, "selects by a number");
    require(c, rule != IR_RULE_LOGIC || type == ELEM_BOOL, "combines numbers as truth values");
    require(c, (rule != IR_RULE_FLOAT && rule != IR_RULE_TEST) || floats, "applies an operator of floats to integers");
    require(c, (rule != IR_RULE_ARITH && rule != IR_RULE_COMPARE) || type != ELEM_BOOL,
            "does arithmetic on truth values");
}

/* Functions are made of their variables and of nothing else. */
static void check_place(Check *c, const IrExprNode *n)
{
    const IrFunction *f = c->function;
    bool local = n->op == IR_X_LOCAL, own = f != NULL && local && (int)n->num < f->vars.n;
    require(c, local == own && (!own || n->type == f->vars.at[(int)n->num].type), "has a variable of another function");
    bool scalar = n->op == IR_X_CONST || local || n->op == IR_X_CAST || n->op == IR_X_CALL || n->op == IR_X_ARG;
    require(c, f == NULL || scalar || ir_expr_op_arity(n->op) > 0, "computes in a function what only images can");
}

static void check_expr(const IrGraph *g, IrExpr e, void *ctx)
{
    Check *c = ctx;
    const IrExprNode *n = ir_expr(g, e);
    IrExprNode usual = *n;
    ir_derive(g, &usual);
    require(c, n->type == usual.type, "has an expression of another type than its operands give");
    require(c, n->rank >= usual.rank, "has an expression of a lower rank than its operands");
    check_place(c, n);
    switch (n->op) {
    case IR_X_READ:
    case IR_X_READAT:
    case IR_X_VALUE:
    case IR_X_LOOKUP:
        check_read(c, n);
        break;
    case IR_X_EXTENT:
    case IR_X_LARGEST:
    case IR_X_SKY:
        require(c, ir_node(g, n->node)->op == IR_INPUT, "asks for the extent of what is no input");
        require(c, n->op != IR_X_SKY || n->num < 9 * ir_inputs(g), "asks for the sky of an input that is not there");
        break;
    case IR_X_FOLD:
        check_fold(c, n);
        break;
    case IR_X_CALL:
        check_call(c, n);
        break;
    default:
        if (ir_expr_op_arity(n->op) > 0) {
            check_operands(c, n);
        }
    }
}

static void check_tree(Check *c, IrExpr e, IrRank most)
{
    if (e != 0) {
        ir_walk(c->g, e, check_expr, c);
        require(c, rank_of(c, e) <= most, "has an expression that cannot be computed there");
        require(c, ir_free_indices(c->g, e)->n == 0, "uses a fold's index outside the fold");
    }
}

static void check_in_function(const IrGraph *g, IrExpr e, void *ctx)
{
    ir_walk(g, e, check_expr, ctx);
}

static void check_functions(Check *c)
{
    for (int i = 0; i < c->g->functions.n; i++) {
        c->function = c->g->functions.at[i];
        c->subject = c->function->name;
        ir_function_walk(c->g, c->function->body, check_in_function, c);
    }
    c->function = NULL;
}

/* ---- nodes --------------------------------------------------------------------------------- */

/* The inputs and arguments that nodes.def asks for are there, and no others. */
static void check_presence(Check *c, const IrNode *n)
{
    const IrOpInfo *info = ir_op_info(n->op);
    int k = 0;
    bool more = false;
    for (const char *p = info->inputs; *p != '\0'; k++) {
        size_t length = strcspn(p, ",");
        bool may = memchr(p, '?', length) != NULL;
        more = more || memchr(p, '.', length) != NULL;
        require(c, may || n->in[k] != 0, "lacks an input");
        p += length + (p[length] == ',');
    }
    for (; k < NODE_INPUTS; k++) {
        require(c, n->in[k] == 0 || more, "has an input that its operation does not take");
    }
    k = 0;
    for (const char *p = info->arguments; *p != '\0'; k++) {
        size_t length = strcspn(p, ",");
        require(c, n->arg[k] != 0 || memchr(p, '?', length) != NULL, "lacks an argument");
        p += length + (p[length] == ',');
    }
    for (; k < NODE_ARGUMENTS; k++) {
        require(c, n->arg[k] == 0, "has an argument that its operation does not take");
    }
}

/* Kind and type of pixels follow from the operation. */
static void check_kind(Check *c, const IrNode *n)
{
    bool any = n->op == IR_INPUT || n->op == IR_MAP || n->op == IR_CARRY;
    bool image = n->kind <= IR_K_LABELS, vector = n->kind == IR_K_VECTOR;
    require(c, any || (int)n->kind == ir_op_info(n->op)->kind, "is of another kind than its operation gives");
    require(c, n->op == IR_CARRY || !any || image, "is no image");
    require(c, n->kind != IR_K_MASK || n->elem == ELEM_BOOL, "is a mask whose pixels are not bool");
    require(c, n->kind != IR_K_LABELS || n->elem == ELEM_U32, "are labels that are not u32");
    require(c, n->kind == IR_K_IMAGE || n->elem != ELEM_FILE, "has no type");
    bool kept = n->op == IR_MAP && n->of != 0 && ir_node(c->g, n->of)->op == IR_INPUT;
    require(c, n->elem != ELEM_FILE || n->op == IR_INPUT || kept, "has the type of a file and belongs to no input");
    require(c, n->op != IR_MAP || n->of == 0 || n->elem == ELEM_FILE, "belongs to an input whose type it has not");
    require(c, (n->kind != IR_K_VALUE && n->kind != IR_K_TABLE) || n->elem == ELEM_F64,
            "holds values that are not f64");
    require(c, !vector || n->elem == ELEM_U32 || n->elem == ELEM_F32, "is a vector of another type");
    require(c, n->elem != ELEM_NONE, "has no type");
    require(c, !image || (n->grid >= 0 && n->grid < c->g->grids.n), "is an image without a grid");
}

/* What a node belongs to. */
static void check_owner(Check *c, const IrNode *n)
{
    static const struct {
        IrOp op;
        IrKind of;
    } OWNERS[] = {{IR_THRESHOLD, IR_K_VECTOR},  {IR_PERLABEL, IR_K_LABELS}, {IR_MEASURE, IR_K_LABELS},
                  {IR_COLUMN, IR_K_LABELS},     {IR_POINTS, IR_K_LABELS},   {IR_NEAR, IR_K_LABELS},
                  {IR_NEAR_PAIRS, IR_K_LABELS}, {IR_IDS, IR_K_LABELS},      {IR_HULL, IR_K_LABELS},
                  {IR_TRACK, IR_K_LABELS}};
    for (size_t i = 0; i < sizeof OWNERS / sizeof *OWNERS; i++) {
        require(c, n->op != OWNERS[i].op || (n->of != 0 && ir_node(c->g, n->of)->kind == OWNERS[i].of),
                "does not belong to what its operation works on");
    }
    require(c, n->of == 0 || !ir_node(c->g, n->of)->dead, "belongs to a dead node");
    require(c, n->of < c->node || ir_node(c->g, n->of)->op == IR_CARRY, "belongs to a node that comes later");
    require(c, n->loop == 0 || n->loop < c->g->loops.n, "is in a loop that does not exist");
    bool columns = n->op == IR_MEASURE || n->op == IR_COLUMN || n->op == IR_NEAR_PAIRS;
    bool forest = n->op == IR_FOREST;
    require(c, !forest || ir_forest_of(c->g, c->node) != NULL, "belongs to no forest, or has not its length");
    bool text = n->op == IR_INPUT || columns || forest, may = n->op == IR_WINDOW_RANK;
    require(c, may || text == (n->text != NULL), text ? "lacks its text" : "has a text");
}

/* Each axis once, those of its grid. */
static void check_axes(Check *c, const IrNode *n)
{
    static const char LETTERS[IR_AXES + 1] = "xyzc";
    bool has[IR_AXES] = {false}, fine = n->grid >= 0 && n->grid < c->g->grids.n;
    for (const char *p = n->text; *p != '\0' && fine; p++) {
        const char *letter = strchr(LETTERS, *p);
        fine = letter != NULL && !has[letter - LETTERS];
        has[fine ? letter - LETTERS : 0] = true;
    }
    for (int ax = 0; ax < IR_AXES && fine; ax++) {
        fine = has[ax] == c->g->grids.at[n->grid].has[ax];
    }
    require(c, fine, "has other axes than its grid");
}

static void check_columns(Check *c, const IrNode *n)
{
    MeasureList *list = arena_new(c->g->arena, MeasureList);
    Err err = {0};
    require(c, measure_parse(n->text, 2, list, &err), "has columns that nobody knows");
}

/* As many cells as a literal footprint of these radii has. */
static void check_cells(Check *c, const IrNode *n)
{
    double shape, radius, cells = 1;
    bool known = n->window_rank.shape != 0 && ir_is_const(c->g, n->window_rank.shape, &shape);
    bool literal = !known || shape == WINDOW_LITERAL;
    for (int i = 0; i < 3 && literal && known; i++) {
        known = n->window_rank.radius[i] != 0 && ir_is_const(c->g, n->window_rank.radius[i], &radius) && radius >= 0;
        cells *= known ? 2 * floor(radius) + 1 : 1;
    }
    bool fits = n->text != NULL && n->text[strspn(n->text, "01")] == '\0' && (double)strlen(n->text) == cells;
    require(c, known && (!literal || fits), "has a footprint whose cells are not there");
}

/* What the texts of nodes say. */
static void check_text(Check *c, const IrNode *n)
{
    static void (*const CHECKS[IR_OPS])(Check * c, const IrNode *n) = {[IR_INPUT] = check_axes,
                                                                       [IR_MEASURE] = check_columns,
                                                                       [IR_COLUMN] = check_columns,
                                                                       [IR_WINDOW_RANK] = check_cells};
    if (CHECKS[n->op] != NULL && (n->text != NULL || n->op == IR_WINDOW_RANK)) {
        CHECKS[n->op](c, n);
    }
    require(c, n->op != IR_NEAR_PAIRS || n->text == NULL || strcmp(n->text, NEAR_COLUMN_TEXT) == 0,
            "has other columns than such tables");
}

static void check_node(Check *c)
{
    const IrNode *n = ir_node(c->g, c->node);
    check_kind(c, n);
    check_presence(c, n);
    check_owner(c, n);
    check_text(c, n);
    for (int i = 0; i < NODE_INPUTS; i++) {
        if (n->in[i] == 0) {
            continue;
        }
        check_tree(c, n->in[i], IR_PIXEL);
        require(c, !ir_op_input_is_stored(n->op, i) || ir_expr(c->g, n->in[i])->op == IR_X_READ,
                "has an input that must be a plain read and is not");
    }
    for (int i = 0; i < NODE_ARGUMENTS; i++) {
        check_tree(c, n->arg[i], IR_HOST);
    }
}

/* ---- names ---------------------------------------------------------------------------------- */

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* They are words, and no two of them the same; sorts them. */
static void check_names(Check *c, const char **names, int n)
{
    qsort(names, (size_t)n, sizeof *names, compare_names);
    for (int i = 0; i < n; i++) {
        c->subject = names[i];
        require(c, user_is_word(names[i]), "is no name");
        require(c, i == 0 || strcmp(names[i - 1], names[i]) != 0, "is the name of several");
    }
}

static void check_function_names(Check *c)
{
    const IrGraph *g = c->g;
    const char **names = arena_array(g->arena, const char *, g->functions.n + IR_FN_MAX_VARS);
    for (int i = 0; i < g->functions.n; i++) {
        const IrFunction *f = g->functions.at[i];
        for (int k = 0; k < f->vars.n; k++) {
            names[k] = f->vars.at[k].name;
        }
        check_names(c, names, f->vars.n);
    }
    for (int i = 0; i < g->functions.n; i++) {
        names[i] = g->functions.at[i]->name;
    }
    check_names(c, names, g->functions.n);
}

static void check_all_names(Check *c)
{
    const IrGraph *g = c->g;
    const char **names = arena_array(g->arena, const char *, g->nodes.n + g->params.n + g->outputs.n + g->notes.n);
    int n = 0;
    for (IrId id = 1; id < (IrId)g->nodes.n; id++) {
        names[n] = ir_node(g, id)->name;
        n += !ir_node(g, id)->dead;
    }
    check_names(c, names, n);
    for (n = 0; n < g->params.n; n++) {
        names[n] = g->params.at[n].name;
    }
    check_names(c, names, n);
    for (n = 0; n < g->outputs.n; n++) {
        names[n] = g->outputs.at[n].name;
    }
    check_names(c, names, n);
    check_function_names(c);
    for (n = 0; n < g->notes.n; n++) {
        c->subject = arena_printf(g->arena, "note %d", n);
        require(c, user_is_word(g->notes.at[n].name), "is about something that has no name");
    }
}

/* ---- the rest ------------------------------------------------------------------------------ */

static void check_carry(Check *c, int loop, const IrCarry *carry)
{
    const IrNode *to = ir_node(c->g, carry->carry), *first = ir_node(c->g, carry->first),
                 *next = ir_node(c->g, carry->next);
    if (to->dead) {
        return; /* the loop is no longer needed */
    }
    require(c, to->op == IR_CARRY && to->loop == loop, "carries a node that is not its own");
    require(c, !first->dead && !next->dead, "carries a dead node");
    bool grids = to->kind == IR_K_VALUE || (first->grid == to->grid && next->grid == to->grid);
    require(c, first->kind == to->kind && next->kind == to->kind && grids, "carries things of different kinds");
}

static void check_loop(Check *c, int k)
{
    const IrLoop *loop = &c->g->loops.at[k];
    require(c, loop->parent < k, "is inside a later loop");
    require(c, loop->carries.n == 0 || loop->count != 0 || (loop->until != 0 && loop->at_most != 0), "has no end");
    check_tree(c, loop->count, IR_HOST);
    check_tree(c, loop->until, IR_UNIFORM);
    check_tree(c, loop->at_most, IR_HOST);
    for (int i = 0; i < loop->carries.n; i++) {
        check_carry(c, k, &loop->carries.at[i]);
    }
}

/* Has an image only one axis, which lies along x? */
static bool is_line(const IrGraph *g, IrId node)
{
    const bool *has = g->grids.at[ir_node(g, node)->grid].has;
    return has[IR_AX_X] && !has[IR_AX_Y] && !has[IR_AX_Z] && !has[IR_AX_C];
}

static void check_output(Check *c, const IrOutput *o)
{
    static const char *const FORMATS[] = {"tif", "png", "fits", "zarr", "csv", "geojson", "roi"};
    bool known = false;
    for (size_t i = 0; i < sizeof FORMATS / sizeof *FORMATS; i++) {
        known = known || strcmp(FORMATS[i], o->format) == 0;
    }
    require(c, known, "has an unknown format");
    require(c, !ir_node(c->g, o->node)->dead || o->node == 0, "is a dead node");
    IrKind kind = ir_node(c->g, o->node)->kind;
    require(c, o->node == 0 || kind <= IR_K_LABELS || kind == IR_K_TABLE, "has no pixels and no rows");
    bool series = o->node != 0 && kind <= IR_K_LABELS && strcmp(o->format, "csv") == 0;
    require(c, !series || (kind == IR_K_IMAGE && is_line(c->g, o->node)), "is a table of an image with several axes");
    check_tree(c, o->value, IR_UNIFORM);
    require(c, o->place.input == 0 || o->place.input < ir_inputs(c->g), "lies on an input that is not there");
    for (int i = 0; i < 12; i++) {
        require(c, o->place.moved || o->place.of[i / 4][i % 4] == 0, "has a place but did not move");
        check_tree(c, o->place.of[i / 4][i % 4], IR_HOST);
    }
}

static bool has_carry(const IrGraph *g, IrId node)
{
    const IrLoop *loop = &g->loops.at[ir_node(g, node)->loop];
    for (int i = 0; i < loop->carries.n; i++) {
        if (loop->carries.at[i].carry == node) {
            return true;
        }
    }
    return false;
}

void ir_verify_report(const IrGraph *g, Str *out)
{
    Check c = {.g = g, .out = out};
    check_all_names(&c);
    check_functions(&c);
    for (c.node = 1; c.node < (IrId)g->nodes.n; c.node++) {
        if (!ir_node(g, c.node)->dead) {
            c.subject = arena_printf(g->arena, "%%%u %s", c.node, ir_node(g, c.node)->name);
            check_node(&c);
            require(&c,
                    ir_node(g, c.node)->op != IR_CARRY || ir_node(g, c.node)->loop >= g->loops.n ||
                        has_carry(g, c.node),
                    "is carried by no loop");
        }
    }
    for (int i = 0; i < g->grids.n; i++) {
        c.subject = arena_printf(g->arena, "grid %d", i);
        for (int ax = 0; ax < IR_AXES; ax++) {
            check_tree(&c, g->grids.at[i].extent[ax], IR_HOST);
        }
    }
    for (int i = 1; i < g->loops.n; i++) {
        c.subject = arena_printf(g->arena, "loop %d", i);
        check_loop(&c, i);
    }
    for (int i = 0; i < g->outputs.n; i++) {
        c.subject = arena_printf(g->arena, "output %s", g->outputs.at[i].name);
        check_output(&c, &g->outputs.at[i]);
    }
    for (int i = 0; i < g->notes.n; i++) {
        c.subject = arena_printf(g->arena, "note %d", i);
        require(&c, g->notes.at[i].at != 0 && g->notes.at[i].extent != 0, "has no numbers");
        check_tree(&c, g->notes.at[i].at, IR_HOST);
        check_tree(&c, g->notes.at[i].extent, IR_HOST);
    }
    for (int i = 0; i < g->bounds.n; i++) {
        c.subject = arena_printf(g->arena, "bound %d", i);
        require(&c, g->bounds.at[i].value != 0, "has no value");
        check_tree(&c, g->bounds.at[i].value, IR_HOST);
    }
    for (int i = 0; i < g->equals.n; i++) {
        c.subject = arena_printf(g->arena, "equal %d", i);
        require(&c, g->equals.at[i].a != 0 && g->equals.at[i].b != 0, "has no numbers");
        check_tree(&c, g->equals.at[i].a, IR_HOST);
        check_tree(&c, g->equals.at[i].b, IR_HOST);
    }
}

void ir_verify(const IrGraph *g, const char *after)
{
    Str report;
    str_init(&report, g->arena);
    ir_verify_report(g, &report);
    if (report.n == 0) {
        return;
    }
    Str text;
    str_init(&text, g->arena);
    ir_print(g, &text);
    fprintf(stderr, "pipec: the graph is broken after %s:\n%s\n%s", after, report.at, text.at);
    abort();
}
