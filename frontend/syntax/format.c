/*
 * format: the one formatting of .pipe files (pipec fmt), and expressions as text.
 *
 * A file is formatted from its raw tokens, not from its tree, so comments stay where they are and
 * nothing that was written can get lost: only blanks and line ends change.  Lines are collected
 * first, with their comments apart, because trailing comments of adjacent lines are aligned.
 * Line breaks inside brackets and after operators are the user's and are kept.
 */
#include "tokens.h"
#include "parse.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_INDENT = 2, CONTINUED_INDENT = 4, BEFORE_COMMENT = 2 };

typedef struct Line {
    int indent;
    Str code;
    const char *comment; /* NULL: none */
    bool blank_before;
} Line;

typedef struct Format {
    Arena *arena;
    const Source *source;
    const TokenList *raw;
    Vec(Line) lines;
    Line line;        /* being made */
    bool started;     /* line has something */
    bool continued;   /* line goes on with the statement above */
    int level;        /* of the line: how deep in a statement of several lines */
    int blocks;       /* open `{` */
    Vec(bool) broken; /* of each open `{`: has its statements on lines of their own */
    Vec(int) inside;  /* of each open ( and [: the level of the lines in it */
    int before;       /* kind of the last token of the line, or T_NEWLINE */
    int last;         /* kind of the last token of all */
    bool sign;        /* it was the minus of one operand */
} Format;

/* ---- lines ---- */

/* What stands in brackets is a level deeper than the line where they were opened. */
static int next_level(const Format *f)
{
    int within = f->inside.n > 0 ? f->inside.at[f->inside.n - 1] : 1;
    return f->continued ? within : 0;
}

static void begin_line(Format *f, int level)
{
    if (!f->started) {
        f->started = true;
        str_init(&f->line.code, f->arena);
        f->line.comment = NULL;
        f->line.indent = BLOCK_INDENT * f->blocks + CONTINUED_INDENT * level;
        f->level = level;
    }
}

static bool opens_block(const Line *line)
{
    return line->code.n > 0 && line->code.at[line->code.n - 1] == '{';
}

/* Empty lines at the beginning of the file or of a block are left out. */
static void end_line(Format *f)
{
    if (f->started) {
        if (f->lines.n == 0 || opens_block(&f->lines.at[f->lines.n - 1])) {
            f->line.blank_before = false;
        }
        vec_push(f->arena, &f->lines, f->line);
        f->line = (Line){0};
    }
    f->started = false;
    f->before = T_NEWLINE;
    f->sign = false;
}

static const char *token_text(const Format *f, const Token *token)
{
    return arena_strndup(f->arena, f->source->text + token->begin, (size_t)(token->end - token->begin));
}

/* A number with its unit one blank apart. */
static void add_number(const Format *f, const Token *token, Str *out)
{
    const char *text = token_text(f, token);
    size_t n = strlen(text);
    size_t unit = token->unit == NULL ? 0 : strlen(token->unit);
    if (unit == 0 || n <= unit || strcmp(text + n - unit, token->unit) != 0) {
        str_add(out, text);
        return;
    }
    n -= unit;
    while (n > 0 && text[n - 1] == ' ') {
        n--;
    }
    str_addn(out, text, n);
    str_addf(out, " %s", token->unit);
}

/* ---- blanks between tokens ---- */

static bool blank_between(const Format *f, int kind)
{
    int before = f->before;
    if (before == T_NEWLINE || before == T_OPEN || before == T_OPEN_SQUARE || before == T_DOT) {
        return false;
    }
    if (kind == T_CLOSE || kind == T_CLOSE_SQUARE || kind == T_COMMA) {
        return false;
    }
    if (kind == T_DOT) {
        return before == T_NUMBER; /* `2.` would be the number */
    }
    if (kind == T_OPEN && before == T_NAME) {
        return false;
    }
    if (kind == T_OPEN_SQUARE && token_ends_value(before)) {
        return false;
    }
    return !f->sign;
}

static void add_token(Format *f, const Token *token)
{
    begin_line(f, next_level(f));
    bool sign = token->kind == T_MINUS && !token_ends_value(f->last);
    if (blank_between(f, token->kind)) {
        str_add(&f->line.code, " ");
    }
    if (token->kind == T_NUMBER) {
        add_number(f, token, &f->line.code);
    } else {
        str_add(&f->line.code, token_text(f, token));
    }
    f->before = token->kind;
    f->last = token->kind;
    f->sign = sign;
}

/* ---- blocks ---- */

/* Whether there is a line end between the `{` at `open` and its partner. */
static bool spans_lines(const Format *f, int open)
{
    int depth = 0;
    for (int i = open; i < f->raw->n; i++) {
        int kind = f->raw->at[i].kind;
        depth += kind == T_OPEN_BRACE ? 1 : kind == T_CLOSE_BRACE ? -1 : 0;
        if (depth == 0) {
            return false;
        }
        if (kind == T_NEWLINE || kind == T_COMMENT) {
            return true;
        }
    }
    return true;
}

static bool comment_follows(const Format *f, int at)
{
    return f->raw->at[at + 1].kind == T_COMMENT;
}

static void open_block(Format *f, int at)
{
    add_token(f, &f->raw->at[at]);
    bool broken = spans_lines(f, at);
    vec_push(f->arena, &f->broken, broken);
    f->blocks++;
    f->continued = false;
    if (broken && !comment_follows(f, at)) {
        end_line(f);
    }
}

static void close_block(Format *f, int at)
{
    assert(f->broken.n > 0);
    bool broken = f->broken.at[--f->broken.n];
    f->blocks--;
    if (broken) {
        end_line(f);
        f->continued = false;
        f->line.blank_before = false;
    }
    add_token(f, &f->raw->at[at]);
}

/* A line that begins with a closing bracket stands like the line that opened it. */
static void add_bracket(Format *f, const Token *token)
{
    if (token->kind == T_CLOSE || token->kind == T_CLOSE_SQUARE) {
        assert(f->inside.n > 0);
        begin_line(f, f->inside.at[--f->inside.n] - 1);
        add_token(f, token);
    } else {
        add_token(f, token);
        vec_push(f->arena, &f->inside, f->level + 1);
    }
}

/* ---- line ends and comments ---- */

/* Whether what comes after the line end at `at` is written on the same line: `{`, `else`. */
static bool joins(const Format *f, int at)
{
    if (!f->started || f->line.code.n == 0 || f->inside.n > 0 || !f->raw->at[at].soft) {
        return false;
    }
    while (f->raw->at[at].kind == T_NEWLINE) {
        at++;
    }
    int next = f->raw->at[at].kind;
    return next == T_OPEN_BRACE || next == T_ELSE || (f->last == T_ELSE && next == T_IF);
}

static void add_newline(Format *f, int at)
{
    if (joins(f, at)) {
        return;
    }
    f->line.blank_before = f->line.blank_before || !f->started;
    end_line(f);
    f->continued = f->raw->at[at].soft && f->last != T_CLOSE_BRACE;
}

static void add_comment(Format *f, const Token *token)
{
    char *text = arena_strndup(f->arena, f->source->text + token->begin, (size_t)(token->end - token->begin));
    size_t n = strlen(text);
    while (n > 0 && (text[n - 1] == ' ' || text[n - 1] == '\t')) {
        text[--n] = '\0';
    }
    begin_line(f, next_level(f));
    f->line.comment = text;
}

/* ---- the whole file ---- */

static int width(const Line *line)
{
    int columns = line->indent;
    for (size_t i = 0; i < line->code.n; i++) {
        columns += ((unsigned char)line->code.at[i] & 0xC0) != 0x80;
    }
    return columns;
}

static bool has_trailing(const Line *line)
{
    return line->comment != NULL && line->code.n > 0;
}

/* The column of the trailing comments in the run of lines that begins at `from`. */
static int comment_column(const Format *f, int from, int *to)
{
    int column = 0;
    for (*to = from; *to < f->lines.n; (*to)++) {
        const Line *line = &f->lines.at[*to];
        if (!has_trailing(line) || (*to > from && line->blank_before)) {
            break;
        }
        column = width(line) > column ? width(line) : column;
    }
    return column + BEFORE_COMMENT;
}

static void write_line(const Line *line, int column, Str *out)
{
    str_addf(out, "%*s", line->indent, "");
    str_addn(out, line->code.n > 0 ? line->code.at : "", line->code.n);
    if (has_trailing(line)) {
        str_addf(out, "%*s", column - width(line), "");
    }
    str_add(out, line->comment == NULL ? "" : line->comment);
    str_add(out, "\n");
}

static void write_lines(const Format *f, Str *out)
{
    int run = 0, column = 0;
    for (int i = 0; i < f->lines.n; i++) {
        const Line *line = &f->lines.at[i];
        if (i >= run) {
            column = comment_column(f, i, &run);
        }
        if (line->blank_before) {
            str_add(out, "\n");
        }
        write_line(line, column, out);
    }
}

static void add_raw(Format *f, int at)
{
    const Token *token = &f->raw->at[at];
    switch (token->kind) {
    case T_NEWLINE:
        add_newline(f, at);
        break;
    case T_COMMENT:
        add_comment(f, token);
        break;
    case T_OPEN_BRACE:
        open_block(f, at);
        break;
    case T_CLOSE_BRACE:
        close_block(f, at);
        break;
    case T_OPEN:
    case T_CLOSE:
    case T_OPEN_SQUARE:
    case T_CLOSE_SQUARE:
        add_bracket(f, token);
        break;
    default:
        add_token(f, token);
        break;
    }
}

/* A file with mistakes is left as it is: where its lines end is anyone's guess. */
static bool is_correct(Arena *arena, const Source *source)
{
    Diags diags;
    diags_init(&diags, arena);
    fe_parse(arena, source, &diags);
    return diags.errors == 0;
}

void ast_format(const AstFile *file, Str *out)
{
    if (!is_correct(out->arena, file->source)) {
        str_add(out, file->source->text);
        return;
    }
    Tokens *tokens = arena_new(out->arena, Tokens);
    fe_tokens(out->arena, file->source, NULL, tokens);
    Format *f = arena_new(out->arena, Format);
    f->arena = out->arena;
    f->source = file->source;
    f->raw = &tokens->raw;
    f->before = T_NEWLINE;
    f->last = T_NEWLINE;
    for (int i = 0; tokens->raw.at[i].kind != T_END; i++) {
        add_raw(f, i);
    }
    end_line(f);
    write_lines(f, out);
}

/* ---- expressions ---- */

enum { /* how tightly an expression binds, in the order of the grammar */
       LEVEL_CHOICE,
       LEVEL_SELECTION,
       LEVEL_OR,
       LEVEL_XOR,
       LEVEL_AND,
       LEVEL_NOT,
       LEVEL_COMPARISON,
       LEVEL_SUM,
       LEVEL_TERM,
       LEVEL_SIGN,
       LEVEL_POWER,
       LEVEL_POSTFIX,
       LEVEL_PRIMARY
};

static const struct Operator {
    const char *op;
    int level, left, right; /* of itself and of what its operands need at least */
} operators[] = {
    {"or", LEVEL_OR, LEVEL_OR, LEVEL_XOR},          {"xor", LEVEL_XOR, LEVEL_XOR, LEVEL_AND},
    {"and", LEVEL_AND, LEVEL_AND, LEVEL_NOT},       {"<", LEVEL_COMPARISON, LEVEL_SUM, LEVEL_SUM},
    {"<=", LEVEL_COMPARISON, LEVEL_SUM, LEVEL_SUM}, {">", LEVEL_COMPARISON, LEVEL_SUM, LEVEL_SUM},
    {">=", LEVEL_COMPARISON, LEVEL_SUM, LEVEL_SUM}, {"==", LEVEL_COMPARISON, LEVEL_SUM, LEVEL_SUM},
    {"!=", LEVEL_COMPARISON, LEVEL_SUM, LEVEL_SUM}, {"+", LEVEL_SUM, LEVEL_SUM, LEVEL_TERM},
    {"-", LEVEL_SUM, LEVEL_SUM, LEVEL_TERM},        {"*", LEVEL_TERM, LEVEL_TERM, LEVEL_SIGN},
    {"/", LEVEL_TERM, LEVEL_TERM, LEVEL_SIGN},      {"//", LEVEL_TERM, LEVEL_TERM, LEVEL_SIGN},
    {"%", LEVEL_TERM, LEVEL_TERM, LEVEL_SIGN},      {"**", LEVEL_POWER, LEVEL_POSTFIX, LEVEL_SIGN},
};

static const struct Operator *find_operator(const char *op)
{
    size_t i = 0;
    while (i + 1 < sizeof operators / sizeof *operators && strcmp(operators[i].op, op) != 0) {
        i++;
    }
    return &operators[i];
}

static int level_of(const AstExpr *e)
{
    switch (e->kind) {
    case AST_COND:
        return LEVEL_CHOICE;
    case AST_WHERE:
        return LEVEL_SELECTION;
    case AST_BINARY:
        return find_operator(e->op)->level;
    case AST_UNARY:
        return e->op[0] == '-' ? LEVEL_SIGN : LEVEL_NOT;
    case AST_CALL:
    case AST_COMPREHENSION:
    case AST_INDEX:
    case AST_MEMBER:
        return LEVEL_POSTFIX;
    default:
        return LEVEL_PRIMARY;
    }
}

static void put_expr(const AstExpr *e, int level, Str *out);

/* The shortest decimal that is read back as the same number. */
static void put_number(const AstExpr *e, Str *out)
{
    char text[40];
    if (isinf(e->num) || isnan(e->num)) {
        str_add(out, isnan(e->num) ? "nan" : "inf");
        return;
    }
    if (e->is_int) {
        str_addf(out, "%.0f", e->num);
    } else {
        bool plain = fabs(e->num) >= 1e-4 && fabs(e->num) < 1e15; /* no power of ten */
        int digits = 1;
        do {
            snprintf(text, sizeof text, "%.*g", digits, e->num);
        } while ((strtod(text, NULL) != e->num || (plain && strchr(text, 'e') != NULL)) && digits++ < 17);
        str_addf(out, "%s%s", text, strpbrk(text, ".e") == NULL ? ".0" : "");
    }
    if (e->unit != NULL) {
        str_addf(out, " %s", e->unit);
    }
}

static void put_args(const AstArg *args, Str *out)
{
    for (const AstArg *arg = args; arg != NULL; arg = arg->next) {
        if (arg->name != NULL) {
            str_addf(out, "%s = ", arg->name);
        }
        put_expr(arg->value, LEVEL_CHOICE, out);
        str_add(out, arg->next == NULL ? "" : ", ");
    }
}

static void put_slice(const AstExpr *e, Str *out)
{
    const AstExpr *const bounds[] = {e->a, e->b, e->c};
    for (int i = 0; i < 3; i++) {
        str_add(out, i == 1 || (i == 2 && e->c != NULL) ? ":" : "");
        if (bounds[i] != NULL) {
            put_expr(bounds[i], LEVEL_CHOICE, out);
        }
    }
}

static void put_comprehension(const AstExpr *e, Str *out)
{
    str_addf(out, "%s(", e->name);
    put_expr(e->a, LEVEL_CHOICE, out);
    for (const AstFor *loop = e->fors; loop != NULL; loop = loop->next) {
        str_addf(out, "%s%s in ", loop == e->fors ? " for " : ", ", loop->name);
        put_expr(loop->lo, LEVEL_SUM, out);
        str_add(out, " .. ");
        put_expr(loop->hi, LEVEL_SUM, out);
    }
    if (e->b != NULL) {
        str_add(out, " where ");
        put_expr(e->b, LEVEL_OR, out);
    }
    str_add(out, e->args == NULL ? "" : ", ");
    put_args(e->args, out);
    str_add(out, ")");
}

static void put_operation(const AstExpr *e, Str *out)
{
    if (e->kind == AST_COND) {
        put_expr(e->a, LEVEL_SELECTION, out);
        str_add(out, " if ");
        put_expr(e->b, LEVEL_SELECTION, out);
        str_add(out, " else ");
        put_expr(e->c, LEVEL_CHOICE, out);
    } else if (e->kind == AST_WHERE) {
        put_expr(e->a, LEVEL_SELECTION, out);
        str_add(out, " where ");
        put_expr(e->b, LEVEL_OR, out);
    } else if (e->kind == AST_UNARY) {
        str_addf(out, "%s%s", e->op, e->op[0] == '-' ? "" : " ");
        put_expr(e->a, level_of(e), out);
    } else {
        const struct Operator *binary = find_operator(e->op);
        put_expr(e->a, binary->left, out);
        str_addf(out, " %s ", e->op);
        put_expr(e->b, binary->right, out);
    }
}

static void put_postfix(const AstExpr *e, Str *out)
{
    if (e->kind == AST_CALL) {
        if (e->a != NULL) { /* a method, which the checker explains */
            put_expr(e->a, e->a->kind == AST_NUMBER ? LEVEL_PRIMARY + 1 : LEVEL_POSTFIX, out);
            str_add(out, ".");
        }
        str_addf(out, "%s(", e->name);
        put_args(e->args, out);
        str_add(out, ")");
    } else if (e->kind == AST_COMPREHENSION) {
        put_comprehension(e, out);
    } else {
        bool number = e->a->kind == AST_NUMBER; /* `2.` would be the number */
        put_expr(e->a, number ? LEVEL_PRIMARY + 1 : LEVEL_POSTFIX, out);
        str_addf(out, "%s%s", e->kind == AST_MEMBER ? "." : "[", e->name == NULL ? "" : e->name);
        put_args(e->args, out);
        str_add(out, e->kind == AST_MEMBER ? "" : "]");
    }
}

/* With the escapes that the scanner knows. */
static void put_string(const char *text, Str *out)
{
    str_add(out, "\"");
    for (const char *p = text; *p != '\0'; p++) {
        if (*p == '"' || *p == '\\') {
            str_add(out, "\\");
        }
        str_addn(out, *p == '\n' ? "\\n" : p, *p == '\n' ? 2 : 1);
    }
    str_add(out, "\"");
}

static void put_primary(const AstExpr *e, Str *out)
{
    switch (e->kind) {
    case AST_NUMBER:
        put_number(e, out);
        break;
    case AST_BOOL:
        str_add(out, e->num != 0 ? "true" : "false");
        break;
    case AST_STRING:
        put_string(e->name, out);
        break;
    case AST_LIST:
    case AST_RECORD:
        str_add(out, e->kind == AST_LIST && e->op == NULL ? "[" : "(");
        put_args(e->args, out);
        str_add(out, e->op != NULL && e->args->next == NULL ? ",)" : e->kind == AST_LIST && e->op == NULL ? "]" : ")");
        break;
    case AST_SLICE:
        put_slice(e, out);
        break;
    default:
        str_add(out, e->kind == AST_NAME ? e->name : "...");
        break;
    }
}

static void put_expr(const AstExpr *e, int level, Str *out)
{
    int own = level_of(e);
    str_add(out, own < level ? "(" : "");
    if (own == LEVEL_PRIMARY) {
        put_primary(e, out);
    } else if (own == LEVEL_POSTFIX) {
        put_postfix(e, out);
    } else {
        put_operation(e, out);
    }
    str_add(out, own < level ? ")" : "");
}

void ast_expr_format(const AstExpr *expr, Str *out)
{
    put_expr(expr, LEVEL_CHOICE, out);
}
