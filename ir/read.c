/*
 * read: builds a graph from its text (text.h).
 *
 * Expressions need to know the nodes that they read, also those that come later in a loop.  So the
 * text is gone through twice: first for names, sources, functions and the head of every node, then
 * for expressions.  After the first mistake the reader sees nothing but the end of the text, which
 * ends every loop here.  What could be written down but no compiler would make is for the verifier.
 */
#include "text.h"
#include "apply.h"
#include "function.h"
#include "verify.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_NUMBER = 1 << 16, /* of nodes, loops, grids, parts of an expression */
    MAX_INDEX = 4096,     /* of a fold's index */
    MAX_LINES = 1 << 20,  /* of a source */
    MAX_NESTED = 200,     /* brackets in one expression */
    MAX_DEPTH = 5000      /* of an expression with its named parts */
};

typedef struct Quote {
    int line;
    const char *text;
} Quote;

typedef struct Reader {
    Arena *arena;
    IrGraph *g;
    const Source *source;
    const char *p;
    Err *err;
    int nested;
    bool heads;            /* the first time through */
    Vec(const Source *) sources;
    Vec(int) place;        /* by node: where its head begins */
    Vec(IrExpr) parts;     /* t1, t2 ... of the node being read; [0] is unused */
    Vec(int) depth;        /* by expression */
} Reader;

/* ---- words ---------------------------------------------------------------------------------- */

static void fail_at(Reader *r, int at, const char *what)
{
    int line, column;
    span_line_column((Span){r->source, at, at}, &line, &column);
    err_set(r->err, CODE_USAGE, "%s:%d:%d: %s", r->source->path, line, column, what);
    r->p = "";
}

static int here(const Reader *r)
{
    return (int)(r->p - r->source->text);
}

static bool ok(const Reader *r)
{
    return r->err->code == CODE_OK;
}

static void fail(Reader *r, const char *format, const char *word)
{
    if (ok(r)) {
        fail_at(r, here(r), arena_printf(r->arena, format, word));
    }
}

static void skip_blanks(Reader *r)
{
    while (*r->p == ' ') {
        r->p++;
    }
}

static bool is_word_char(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Takes `text` if it comes next; a word must end there. */
static bool accept(Reader *r, const char *text)
{
    skip_blanks(r);
    size_t n = strlen(text);
    bool whole = !is_word_char(text[n - 1]) || !is_word_char(r->p[strncmp(r->p, text, n) == 0 ? n : 0]);
    if (strncmp(r->p, text, n) != 0 || !whole) {
        return false;
    }
    r->p += n;
    return true;
}

static void expect(Reader *r, const char *text)
{
    if (!accept(r, text)) {
        fail(r, "expected '%s'", text);
    }
}

static char hex_digit(Reader *r)
{
    int value = 0;
    for (int i = 0; i < 4; i++, r->p++) {
        if (!isxdigit((unsigned char)*r->p)) {
            fail(r, "expected four hexadecimal digits after %s", "\\u");
            return '?';
        }
        value = 16 * value + (isdigit((unsigned char)*r->p) ? *r->p - '0' : tolower((unsigned char)*r->p) - 'a' + 10);
    }
    if (value == 0 || value > 31) {
        fail(r, "%s stands for a character below 32", "\\u");
    }
    return (char)value;
}

/* Text in quotes, written as str_add_escaped writes it. */
static const char *string(Reader *r)
{
    Str s;
    str_init(&s, r->arena);
    expect(r, "\"");
    while (*r->p != '"') {
        char c = *r->p;
        if (c == '\0' || c == '\n') {
            fail(r, "the text in quotes has no end%s", "");
            break;
        }
        r->p++;
        if (c == '\\') {
            c = *r->p++;
            if (c == 'u') {
                c = hex_digit(r);
            } else if (c == 'n' || c == 't') {
                c = c == 'n' ? '\n' : '\t';
            } else if (c != '"' && c != '\\') {
                r->p--;
                fail(r, "a backslash stands before one of \" \\ n t u%s", "");
            }
        }
        str_addn(&s, &c, 1);
    }
    if (ok(r)) {
        r->p++;
    }
    return s.at;
}

/* A bare word, or "" after an error. */
static const char *bare(Reader *r)
{
    skip_blanks(r);
    size_t n = 0;
    while (is_word_char(r->p[n])) {
        n++;
    }
    if (n == 0 || isdigit((unsigned char)r->p[0])) {
        fail(r, "expected a %s", "word");
        return "";
    }
    r->p += n;
    return arena_strndup(r->arena, r->p - n, n);
}

/* A name: a word, or text in quotes where it is not one. */
static const char *name(Reader *r)
{
    skip_blanks(r);
    return *r->p == '"' ? string(r) : bare(r);
}

static int whole(Reader *r, int lo, int hi)
{
    skip_blanks(r);
    char *end = NULL;
    bool starts = isdigit((unsigned char)r->p[*r->p == '-']);
    long v = starts ? strtol(r->p, &end, 10) : lo - 1L;
    if (v < lo || v > hi) {
        fail(r, "expected a whole number%s", v > hi ? " that is smaller" : "");
        return lo;
    }
    r->p = end;
    return (int)v;
}

static double number(Reader *r)
{
    skip_blanks(r);
    if (accept(r, "-inf")) {
        return -INFINITY;
    }
    if (accept(r, "inf")) {
        return INFINITY;
    }
    if (accept(r, "nan")) {
        return NAN;
    }
    char *end = NULL;
    bool starts = isdigit((unsigned char)r->p[*r->p == '-']);
    double v = starts ? strtod(r->p, &end) : 0;
    if (!starts || is_word_char(*end)) {
        fail(r, "expected a %s", "number");
        return 0;
    }
    r->p = end;
    return v;
}

/* The place of a word in a list. */
static int one_of(Reader *r, const char *const *words, int n, const char *what)
{
    skip_blanks(r);
    const char *from = r->p;
    const char *word = bare(r);
    for (int i = 0; ok(r) && i < n; i++) {
        if (words[i] != NULL && strcmp(words[i], word) == 0) {
            return i;
        }
    }
    if (ok(r)) {
        r->p = from;
        fail(r, "expected %s", what);
    }
    return 0;
}

static int axis(Reader *r, int n)
{
    static const char *const AXIS[IR_AXES] = {"x", "y", "z", "c"};
    return one_of(r, AXIS, n, "an axis");
}

static Elem elem(Reader *r)
{
    const char *from = r->p;
    Elem type = elem_from_name(bare(r));
    if (ok(r) && type == ELEM_NONE) {
        r->p = from;
        fail(r, "expected %s", "a type of pixels");
    }
    return type;
}

/* The type of an expression or of a variable. */
static Elem arithmetic(Reader *r)
{
    const char *from = r->p;
    Elem type = elem(r);
    if (type != ELEM_BOOL && type != ELEM_I32 && type != ELEM_U32 && type != ELEM_F32 &&
        type != ELEM_F64 && ok(r)) {
        r->p = from;
        fail(r, "expected %s", "bool, i32, u32, f32 or f64");
    }
    return type;
}

static void end_line(Reader *r)
{
    skip_blanks(r);
    if (*r->p != '\n' && *r->p != '\0') {
        fail(r, "expected %s", "the end of the line");
    }
    r->p += *r->p == '\n';
}

static void skip_line(Reader *r)
{
    r->p += strcspn(r->p, "\n");
    r->p += *r->p == '\n';
}

/* True when the next line belongs to the same part; comments are skipped. */
static bool indented(Reader *r)
{
    while (*r->p == '#') {
        skip_line(r);
    }
    return *r->p == ' ';
}

/* ---- expressions ---------------------------------------------------------------------------- */

static IrExpr expression(Reader *r);

/* %12, a node that is there. */
static IrId node_id(Reader *r)
{
    expect(r, "%");
    const char *from = r->p;
    IrId id = (IrId)whole(r, 1, MAX_NUMBER);
    if (ok(r) && (id >= (IrId)r->g->nodes.n || ir_node(r->g, id)->dead)) {
        r->p = from;
        fail(r, "there is no such %s", "node");
    }
    return ok(r) ? id : 0;
}

static int depth_of(const Reader *r, IrExpr e)
{
    return (int)e < r->depth.n ? r->depth.at[e] : 0;
}

static IrExpr set_depth(Reader *r, IrExpr e, int depth)
{
    while (r->depth.n <= (int)e) {
        vec_push(r->arena, &r->depth, 0);
    }
    r->depth.at[e] = depth;
    return e;
}

static IrExpr intern(Reader *r, IrExprNode n)
{
    const IrExpr child[] = {n.a, n.b, n.c, n.channel, n.outside, n.where, n.nth};
    int depth = 0;
    for (size_t i = 0; i < sizeof child / sizeof *child; i++) {
        depth = depth_of(r, child[i]) > depth ? depth_of(r, child[i]) : depth;
    }
    if (depth >= MAX_DEPTH) {
        fail(r, "the expression is nested too deeply%s", "");
    }
    if (!ok(r)) {
        return 0;
    }
    ir_derive(r->g, &n);
    IrExpr e = ir_intern(r->g, n);
    return set_depth(r, e, depth + 1);
}

static IrExpr param(Reader *r)
{
    const char *from = r->p, *word = bare(r);
    for (int i = 0; i < r->g->params.n; i++) {
        if (strcmp(r->g->params.at[i].name, word) == 0) {
            return intern(r, (IrExprNode){.op = IR_X_PARAM, .num = i});
        }
    }
    if (ok(r)) {
        r->p = from;
        fail(r, "there is no param '%s'", word);
    }
    return 0;
}

/* #-1 is the number of elements of a rank fold. */
static int index_number(Reader *r)
{
    int index = whole(r, -1, MAX_INDEX - 1);
    r->g->next_index = index >= r->g->next_index ? index + 1 : r->g->next_index;
    return index;
}

/* What stands in brackets after a node that is read; "[" is behind us. */
static void read_places(Reader *r, IrExprNode *n)
{
    IrExpr *const at[IR_AXES] = {&n->a, &n->b, &n->c, &n->channel};
    while (ok(r) && !accept(r, "]")) {
        if (accept(r, "border")) {
            expect(r, "=");
            n->border = (IrBorder)one_of(r, IR_BORDER_NAMES, IR_BORDERS, "a border");
        } else if (accept(r, "outside")) {
            expect(r, "=");
            n->outside = expression(r);
        } else {
            IrExpr *to = at[axis(r, IR_AXES)];
            expect(r, "=");
            *to = expression(r);
        }
        if (*r->p != ']') {
            expect(r, ",");
        }
    }
    if (ok(r) && (n->border == IR_CONSTANT) != (n->outside != 0)) {
        fail(r, "`outside` goes with the border `constant`%s", "");
    }
}

static IrExpr node_part(Reader *r)
{
    IrExprNode n = {.op = IR_X_READ, .node = node_id(r)};
    switch (*r->p) {
    case '.':
        r->p++;
        n.op = IR_X_VALUE;
        n.num = whole(r, 0, 4);
        break;
    case '{':
        r->p++;
        n.op = IR_X_LOOKUP;
        n.a = expression(r);
        expect(r, "}");
        break;
    case '@':
        n.op = IR_X_READAT;
        r->p++;
        expect(r, "[");
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
    double v = number(r);
    Elem type = ELEM_F64;
    if (*r->p == ':') {
        r->p++;
        type = arithmetic(r);
    }
    if (!isnan(v) && ir_convert(v, type) != v) {
        fail(r, "the type does not have this number%s", "");
    }
    return intern(r, (IrExprNode){.op = IR_X_CONST, .type = type, .num = v});
}

/* A fold after its "(": "#0 in lo .. hi where e nth e, body)". */
static IrExpr fold(Reader *r, IrFold kind)
{
    IrExprNode n = {.op = IR_X_FOLD, .fold = kind};
    expect(r, "#");
    n.num = index_number(r);
    if (n.num < 0) {
        fail(r, "a fold's index has a number from 0%s", "");
    }
    expect(r, "in");
    n.b = expression(r);
    expect(r, "..");
    n.c = expression(r);
    n.where = accept(r, "where") ? expression(r) : 0;
    n.nth = accept(r, "nth") ? expression(r) : 0;
    expect(r, ",");
    bool apart = accept(r, "apart");
    n.a = expression(r);
    expect(r, ")");
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
    return sscanf(r->p, " #%*d in%n", &n) == 0 && n > 0 && !is_word_char(r->p[n]);
}

static int function_number(Reader *r, const char *word)
{
    for (int i = 0; i < r->g->functions.n; i++) {
        if (strcmp(r->g->functions.at[i]->name, word) == 0) {
            return i;
        }
    }
    fail(r, "there is no function '%s'", word);
    return -1;
}

static IrExpr call(Reader *r)
{
    IrExpr args[IR_FN_MAX_VARS], list = 0;
    int function = function_number(r, name(r));
    int wanted = ok(r) ? r->g->functions.at[function]->n_params : 0;
    expect(r, "(");
    for (int i = 0; i < wanted; i++) {
        if (i > 0) {
            expect(r, ",");
        }
        args[i] = expression(r);
    }
    expect(r, ")");
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
            fail(r, "there is no operator '%s'", word);
        }
    }
    IrExpr *const child[3] = {&n.a, &n.b, &n.c};
    for (int i = 0; i < operands; i++) {
        if (i > 0) {
            expect(r, ",");
        }
        *child[i] = expression(r);
    }
    expect(r, ")");
    return intern(r, n);
}

/* extent(%1, x), isint(%1), pixelsize(x), coord(x): takes no expressions. */
static bool special(Reader *r, IrExprNode *n)
{
    if (accept(r, "extent(")) {
        n->op = IR_X_EXTENT;
        n->node = node_id(r);
        expect(r, ",");
        n->num = axis(r, IR_AXES);
    } else if (accept(r, "isint(")) {
        n->op = IR_X_ISINT;
        n->node = node_id(r);
    } else if (accept(r, "pixelsize(")) {
        n->op = IR_X_PIXELSIZE;
        n->num = axis(r, 3);
    } else if (accept(r, "coord(")) {
        n->op = IR_X_COORD;
        n->num = axis(r, IR_AXES);
    } else {
        return false;
    }
    expect(r, ")");
    return true;
}

/* t12, or an operator. */
static IrExpr named(Reader *r)
{
    IrExprNode n = {.op = IR_X_NONE};
    if (special(r, &n)) {
        return intern(r, n);
    }
    const char *word = bare(r);
    if (*r->p == '(') {
        r->p++;
        return operator(r, word);
    }
    char *end = NULL;
    long part = word[0] == 't' && isdigit((unsigned char)word[1]) ? strtol(word + 1, &end, 10) : 0;
    if (part < 1 || part >= r->parts.n || *end != '\0') {
        fail(r, "nothing is called '%s' here", word);
        return 0;
    }
    return r->parts.at[part];
}

static IrExpr raise_rank(Reader *r, IrExpr e)
{
    IrRank rank = (IrRank)one_of(r, IR_RANK_NAMES, IR_RANKS, "a rank");
    IrExprNode n = *ir_expr(r->g, e);
    if (rank < n.rank) {
        fail(r, "the operands ask for a higher rank%s", "");
    }
    int depth = depth_of(r, e);
    n.rank = rank;
    return set_depth(r, ir_intern(r->g, n), depth);
}

static IrExpr expression(Reader *r)
{
    skip_blanks(r);
    if (++r->nested > MAX_NESTED) {
        fail(r, "the brackets are nested too deeply%s", "");
    }
    bool digits = isdigit((unsigned char)*r->p) || *r->p == '-';
    IrExpr e;
    if (*r->p == '%') {
        e = node_part(r);
    } else if (accept(r, "$")) {
        e = param(r);
    } else if (accept(r, "@")) {
        e = call(r);
    } else if (accept(r, "#")) {
        e = intern(r, (IrExprNode){.op = IR_X_INDEX, .num = index_number(r)});
    } else if (digits || strncmp(r->p, "inf", 3) == 0 || strncmp(r->p, "nan", 3) == 0) {
        e = constant(r);
    } else {
        e = named(r);
    }
    r->nested--;
    if (accept(r, "!")) {
        e = raise_rank(r, e);
    }
    skip_blanks(r);
    return e;
}

/* ---- functions ------------------------------------------------------------------------------ */

typedef struct FnReader {
    Reader *r;
    IrFunction *f;
} FnReader;

static IrFnExpr *fn_expression(FnReader *x);

static int fn_var(FnReader *x, const char *word)
{
    for (int i = 0; i < x->f->vars.n; i++) {
        if (strcmp(x->f->vars.at[i].name, word) == 0) {
            return i;
        }
    }
    fail(x->r, "there is no variable '%s'", word);
    return 0;
}

/* The operands of a call or an operator; the name is behind us. */
static void fn_operands(FnReader *x, IrFnExpr **to, int n)
{
    expect(x->r, "(");
    for (int i = 0; i < n; i++) {
        if (i > 0) {
            expect(x->r, ",");
        }
        to[i] = fn_expression(x);
    }
    expect(x->r, ")");
}

static IrFnExpr *fn_call(FnReader *x)
{
    Reader *r = x->r;
    int function = function_number(r, name(r));
    IrFnExpr *args[IR_FN_MAX_VARS] = {NULL};
    if (ok(r)) {
        fn_operands(x, args, r->g->functions.at[function]->n_params);
    }
    return ok(r) ? ir_fn_call(r->g, r->g->functions.at[function], args) : NULL;
}

static IrFnExpr *fn_operator(FnReader *x, const char *word)
{
    Reader *r = x->r;
    IrFnExpr *operand[3] = {NULL, NULL, NULL};
    Elem type = elem_from_name(word);
    IrExprOp op = ir_expr_op_from_name(word);
    bool cast = type == ELEM_BOOL || (type >= ELEM_U32 && type <= ELEM_F32);
    int n = cast ? 1 : ir_expr_op_arity(op);
    if (n == 0) {
        fail(r, "there is no operator '%s'", word);
    }
    fn_operands(x, operand, n);
    if (!ok(r)) {
        return NULL;
    }
    return cast ? ir_fn_cast(r->g, operand[0], type)
                : ir_fn_op(r->g, op, operand[0], operand[1], operand[2]);
}

/* Functions have no f64. */
static Elem fn_type(Reader *r)
{
    const char *from = r->p;
    Elem type = arithmetic(r);
    if (type == ELEM_F64) {
        r->p = from;
        fail(r, "expected %s", "bool, i32, u32 or f32");
    }
    return type;
}

static IrFnExpr *fn_constant(FnReader *x)
{
    double v = number(x->r);
    expect(x->r, ":");
    Elem type = fn_type(x->r);
    return ok(x->r) ? ir_fn_const(x->r->g, v, type) : NULL;
}

static IrFnExpr *fn_expression(FnReader *x)
{
    Reader *r = x->r;
    skip_blanks(r);
    if (++r->nested > MAX_NESTED) {
        fail(r, "the brackets are nested too deeply%s", "");
    }
    bool digits = isdigit((unsigned char)*r->p) || *r->p == '-';
    bool infinite = strncmp(r->p, "inf:", 4) == 0 || strncmp(r->p, "nan:", 4) == 0;
    IrFnExpr *e;
    if (digits || infinite) {
        e = fn_constant(x);
    } else if (accept(r, "@")) {
        e = fn_call(x);
    } else {
        const char *word = name(r);
        int var = *r->p != '(' ? fn_var(x, word) : 0;
        e = *r->p == '(' ? fn_operator(x, word) : ok(r) ? ir_fn_var(r->g, x->f, var) : NULL;
    }
    r->nested--;
    skip_blanks(r);
    return e;
}

static IrFnStmt *fn_block(FnReader *x);

static void fn_inner(FnReader *x, IrFnStmt *s)
{
    Reader *r = x->r;
    end_line(r);
    if (++r->nested > MAX_NESTED) {
        fail(r, "the blocks are nested too deeply%s", "");
    }
    s->body = fn_block(x);
    if (s->kind == IR_FN_IF && accept(r, "else")) {
        end_line(r);
        s->other = fn_block(x);
    }
    expect(r, "end");
    r->nested--;
}

static IrFnExpr *fn_typed(FnReader *x, Elem type)
{
    const char *from = x->r->p;
    IrFnExpr *e = fn_expression(x);
    if (ok(x->r) && e->type != type) {
        x->r->p = from;
        fail(x->r, "expected an expression of type %s", elem_name(type));
    }
    return e;
}

static bool returns(const IrFnStmt *s)
{
    while (s != NULL && s->next != NULL) {
        s = s->next;
    }
    return s != NULL && (s->kind == IR_FN_RETURN ||
                         (s->kind == IR_FN_IF && returns(s->body) && returns(s->other)));
}

static IrFnStmt *fn_statement(FnReader *x)
{
    static const char *const WORDS[] = {[IR_FN_SET] = "set",
                                        [IR_FN_IF] = "if",
                                        [IR_FN_WHILE] = "while",
                                        [IR_FN_FOR] = "for",
                                        [IR_FN_RETURN] = "return"};
    Reader *r = x->r;
    IrFnStmt *s = arena_new(r->arena, IrFnStmt);
    s->kind = (IrFnStmtKind)one_of(r, WORDS, IR_FN_RETURN + 1, "a statement");
    if (s->kind == IR_FN_SET || s->kind == IR_FN_FOR) {
        s->var = fn_var(x, name(r));
        expect(r, s->kind == IR_FN_SET ? "=" : "in");
    }
    bool assigns = s->kind == IR_FN_SET || s->kind == IR_FN_FOR;
    Elem type = assigns && ok(r)          ? x->f->vars.at[s->var].type
                : s->kind == IR_FN_RETURN ? x->f->type
                                          : ELEM_BOOL;
    s->a = fn_typed(x, type);
    if (s->kind == IR_FN_FOR) {
        expect(r, "..");
        s->b = fn_typed(x, type);
    }
    if (s->kind == IR_FN_IF || s->kind == IR_FN_WHILE || s->kind == IR_FN_FOR) {
        fn_inner(x, s);
    }
    end_line(r);
    return s;
}

/* Statements up to `else`, `end` or the end of the function. */
static IrFnStmt *fn_block(FnReader *x)
{
    Reader *r = x->r;
    IrFnStmt *first = NULL, **next = &first;
    while (ok(r) && indented(r)) {
        const char *from = r->p;
        bool ends = accept(r, "else") || accept(r, "end");
        r->p = from;
        if (ends) {
            break;
        }
        *next = fn_statement(x);
        next = &(*next)->next;
    }
    return first;
}

static void read_function(Reader *r)
{
    IrFunction *f = arena_new(r->arena, IrFunction);
    FnReader x = {r, f};
    f->name = name(r);
    expect(r, ":");
    f->type = fn_type(r);
    end_line(r);
    while (ok(r) && indented(r)) {
        const char *from = r->p;
        bool takes = accept(r, "param");
        if (!takes && !accept(r, "var")) {
            r->p = from;
            break;
        }
        IrFnVar var = {.name = name(r)};
        expect(r, ":");
        var.type = fn_type(r);
        end_line(r);
        if (f->vars.n == IR_FN_MAX_VARS || (takes && f->n_params != f->vars.n)) {
            fail(r, "params come first, and there are at most 64 variables%s", "");
        }
        vec_push(r->arena, &f->vars, var);
        f->n_params += takes;
    }
    f->body = fn_block(&x);
    if (!returns(f->body)) {
        fail(r, "function %s does not always return a value", f->name);
    }
    vec_push(r->arena, &r->g->functions, f);
}

/* ---- sources -------------------------------------------------------------------------------- */

/* Lines that are not quoted are empty. */
static void read_source(Reader *r)
{
    Str text;
    str_init(&text, r->arena);
    if (whole(r, 0, MAX_NUMBER) != r->sources.n) {
        fail(r, "sources are numbered from 0%s", "");
    }
    const char *path = string(r);
    end_line(r);
    for (int line = 1; ok(r) && indented(r);) {
        for (int wanted = whole(r, line, MAX_LINES); line < wanted; line++) {
            str_add(&text, "\n");
        }
        str_add(&text, string(r));
        end_line(r);
    }
    Source *source = arena_new(r->arena, Source);
    *source = (Source){path, text.at};
    vec_push(r->arena, &r->sources, source);
}

/* " at 0:8:1+32" if it comes next.  The sources have been read before. */
static Span place(Reader *r)
{
    Span span = {NULL, 0, 0};
    if (!accept(r, "at")) {
        return span;
    }
    const char *from = r->p;
    int source = whole(r, 0, MAX_NUMBER);
    expect(r, ":");
    int line = whole(r, 1, MAX_LINES), length;
    expect(r, ":");
    int column = whole(r, 1, MAX_LINES);
    expect(r, "+");
    int bytes = whole(r, 0, MAX_LINES);
    if (ok(r) && source < r->sources.n) {
        span.source = r->sources.at[source];
        const char *text = source_line(span.source, line, &length);
        span.begin = (int)(text - span.source->text) + column - 1;
        span.end = span.begin + bytes;
        int at_line, at_column;
        span_line_column(span, &at_line, &at_column);
        if (column <= length + 1 && at_line == line && strlen(text) >= (size_t)(column - 1 + bytes)) {
            return span;
        }
    }
    if (ok(r)) {
        r->p = from;
        fail(r, "no source has such a %s", "place");
    }
    return (Span){NULL, 0, 0};
}

/* ---- the parts of a graph ------------------------------------------------------------------- */

static void read_param(Reader *r)
{
    IrParam p = {.name = name(r)};
    expect(r, "=");
    p.value = number(r);
    expect(r, "in");
    p.lo = number(r);
    expect(r, "..");
    p.hi = number(r);
    p.integer = accept(r, "integer");
    skip_blanks(r);
    p.help = *r->p == '"' ? string(r) : NULL;
    end_line(r);
    vec_push(r->arena, &r->g->params, p);
}

static void read_grid(Reader *r)
{
    IrGrid grid = {.extent = {0}};
    if (whole(r, 0, MAX_NUMBER) != r->g->grids.n) {
        fail(r, "grids are numbered from 0%s", "");
    }
    expect(r, "[");
    while (ok(r) && !accept(r, "]")) {
        int ax = axis(r, IR_AXES);
        grid.has[ax] = !accept(r, "?");
        grid.extent[ax] = accept(r, "=") ? expression(r) : 0;
        if (*r->p != ']') {
            expect(r, ",");
        }
    }
    end_line(r);
    vec_push(r->arena, &r->g->grids, grid);
}

/* Lines "LABEL EXPRESSION" and "t1 = EXPRESSION": calls `line` for each label, which takes what
 * follows; false when it does not know the label. */
static void read_lines(Reader *r, bool (*line)(Reader *r, void *ctx), void *ctx)
{
    r->parts.n = 0;
    vec_push(r->arena, &r->parts, 0);
    end_line(r);
    while (ok(r) && indented(r)) {
        skip_blanks(r);
        if (r->p[0] == 't' && isdigit((unsigned char)r->p[1])) {
            r->p++;
            if (whole(r, 1, MAX_NUMBER) != r->parts.n) {
                fail(r, "parts are numbered from %s", "t1");
            }
            expect(r, "=");
            IrExpr part = expression(r);
            vec_push(r->arena, &r->parts, part);
        } else if (!line(r, ctx)) {
            fail(r, "expected %s", "a line that belongs here");
        }
        end_line(r);
    }
}

static bool loop_line(Reader *r, void *ctx)
{
    IrLoop *loop = ctx;
    if (accept(r, "count")) {
        loop->count = expression(r);
    } else if (accept(r, "until")) {
        loop->until = expression(r);
    } else if (accept(r, "at_most")) {
        loop->at_most = expression(r);
    } else if (accept(r, "carry")) {
        IrCarry c = {.carry = node_id(r)};
        expect(r, "from");
        c.first = node_id(r);
        expect(r, "next");
        c.next = node_id(r);
        vec_push(r->arena, &loop->carries, c);
    } else {
        return false;
    }
    return true;
}

/* Loops that nothing needs any more leave gaps. */
static void read_loop(Reader *r)
{
    int id = whole(r, 1, MAX_NUMBER);
    if (id < r->g->loops.n) {
        fail(r, "loops are numbered upwards%s", "");
    }
    while (r->g->loops.n < id) {
        vec_push(r->arena, &r->g->loops, (IrLoop){.parent = 0});
    }
    expect(r, "in");
    IrLoop loop = {.parent = whole(r, 0, id - 1)};
    read_lines(r, loop_line, &loop);
    vec_push(r->arena, &r->g->loops, loop);
}

static bool node_line(Reader *r, void *ctx)
{
    IrNode *node = ctx;
    if (accept(r, "in")) {
        int k = whole(r, 0, IR_MAX_IN - 1);
        node->in[k] = expression(r);
    } else if (accept(r, "arg")) {
        int k = whole(r, 0, IR_MAX_ARG - 1);
        node->arg[k] = expression(r);
    } else {
        return false;
    }
    return true;
}

static void node_head(Reader *r, IrId id)
{
    IrNode node = {.grid = -1, .name = name(r)};
    expect(r, "=");
    const char *from = r->p;
    node.op = ir_op_from_name(bare(r));
    if (node.op == IR_NONE) {
        r->p = ok(r) ? from : r->p;
        fail(r, "there is no such %s", "operation");
    }
    skip_blanks(r);
    node.text = *r->p == '"' ? string(r) : NULL;
    expect(r, ":");
    node.kind = (IrKind)one_of(r, IR_KIND_NAMES, IR_KINDS, "a kind");
    node.elem = elem(r);
    node.grid = accept(r, "grid") ? whole(r, 0, MAX_NUMBER) : -1;
    if (accept(r, "of")) {
        expect(r, "%");
        node.of = (IrId)whole(r, 1, (int)id - 1);
    }
    node.loop = accept(r, "loop") ? whole(r, 1, MAX_NUMBER) : 0;
    node.span = place(r);
    vec_push(r->arena, &r->g->nodes, node);
}

static void read_node(Reader *r)
{
    int at = here(r) - 1;
    IrId id = (IrId)whole(r, 1, MAX_NUMBER);
    if (!r->heads) {
        IrNode node = *ir_node(r->g, id);
        skip_line(r);
        r->p--;
        read_lines(r, node_line, &node);
        *ir_node(r->g, id) = node;
        return;
    }
    if (id < (IrId)r->g->nodes.n) {
        fail(r, "nodes are numbered upwards%s", "");
    }
    while (ok(r) && r->g->nodes.n < (int)id) {
        vec_push(r->arena, &r->g->nodes, (IrNode){.dead = true, .grid = -1, .name = ""});
    }
    while (ok(r) && r->place.n <= (int)id) {
        vec_push(r->arena, &r->place, at);
    }
    node_head(r, id);
    end_line(r);
}

static bool output_line(Reader *r, void *ctx)
{
    IrOutput *o = ctx;
    if (!accept(r, "value")) {
        return false;
    }
    o->value = expression(r);
    return true;
}

static void read_output(Reader *r)
{
    IrOutput o = {.name = name(r)};
    o.node = accept(r, "=") ? node_id(r) : 0;
    expect(r, "as");
    o.format = bare(r);
    o.span = place(r);
    read_lines(r, output_line, &o);
    if (ok(r) && (o.node == 0) == (o.value == 0)) {
        fail(r, "output %s is either a node or a value", o.name);
    }
    vec_push(r->arena, &r->g->outputs, o);
}

static void read_name(Reader *r)
{
    r->g->name = name(r);
    end_line(r);
}

static const struct Part {
    const char *word;
    bool head; /* read the first time through */
    bool tail; /* read the second time */
    void (*read)(Reader *r);
} PARTS[] = {
    {"graph", true, false, read_name},        {"source", true, false, read_source},
    {"param", true, false, read_param},       {"function", true, false, read_function},
    {"grid", false, true, read_grid},         {"loop", false, true, read_loop},
    {"%", true, true, read_node},             {"output", false, true, read_output},
};
enum { N_PARTS = sizeof PARTS / sizeof *PARTS };

/* One part; skipped when it is not this time's. */
static void read_part(Reader *r)
{
    for (int i = 0; i < N_PARTS; i++) {
        if (!accept(r, PARTS[i].word)) {
            continue;
        }
        bool now = r->heads ? PARTS[i].head : PARTS[i].tail, later = r->heads && PARTS[i].tail;
        if (now) {
            PARTS[i].read(r);
        } else {
            skip_line(r);
        }
        while (ok(r) && (later || !now) && indented(r)) {
            skip_line(r);
        }
        return;
    }
    fail(r, "expected %s", "graph, source, param, function, grid, loop, output or a node");
}

static void read_parts(Reader *r, bool heads)
{
    r->p = r->source->text;
    r->heads = heads;
    while (ok(r) && *r->p != '\0') {
        if (*r->p == ' ') {
            fail(r, "this line belongs to nothing%s", "");
        } else if (*r->p == '#' || *r->p == '\n') {
            skip_line(r);
        } else {
            read_part(r);
        }
    }
}

/* The verifier's first finding, at the node that it is about. */
static void verify(Reader *r)
{
    Str report;
    str_init(&report, r->arena);
    ir_verify_report(r->g, &report);
    if (report.n == 0) {
        return;
    }
    int id = report.at[0] == '%' ? (int)strtol(report.at + 1, NULL, 10) : 0;
    report.at[strcspn(report.at, "\n")] = '\0';
    fail_at(r, id < r->place.n ? r->place.at[id] : 0, report.at);
}

bool ir_parse(Arena *arena, const Source *text, IrGraph **graph, Err *err)
{
    Reader r = {.arena = arena, .source = text, .err = err, .g = ir_graph_new(arena, "graph", text)};
    vec_push(arena, &r.place, 0);
    read_parts(&r, true);
    if (ok(&r)) {
        read_parts(&r, false);
    }
    if (ok(&r)) {
        verify(&r);
    }
    *graph = r.g;
    return ok(&r);
}
