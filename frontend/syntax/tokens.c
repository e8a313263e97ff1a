/*
 * tokens: what the grammar reads.
 *
 * A newline ends a statement, except inside ( ) and [ ], after what must go on (an operator, `=`,
 * a comma), before `{` and between `}` and `else`.  Words such as `in`, `is` or `at` are keywords
 * only where nothing else makes sense; all words may name an argument.
 *
 * Brackets are mended here and not in the grammar, because only here it is known where they were
 * opened: a statement that plainly begins on a new line closes what is still open, a closing
 * bracket closes what is open inside its partner, and one without a partner is dropped.  So a
 * missing parenthesis costs one message and the statements after it are read as they stand.
 */
#include "tokens.h"
#include "parse.h"

#include <string.h>

typedef struct Bracket {
    int close;      /* the kind that closes it in the clean list */
    int begin, end; /* where it was opened */
    const char *text;
    bool block;     /* statements inside, so that newlines count */
    bool list;      /* `{` that stands for `[` */
    bool condition; /* in a condition: `=` is a slip for `==` */
} Bracket;

typedef struct Filter {
    Arena *arena;
    const Source *source;
    Diags *diags;
    TokenList *raw, *clean;
    int at;                            /* in raw */
    int newline;                       /* raw index of a newline not yet decided about, or -1 */
    int statement;                     /* clean index where the statement began */
    Bracket stack[FE_MAX_NESTING + 1]; /* stack[0] is the file */
    int depth;
} Filter;

Span token_span(const Source *source, const Token *token)
{
    return (Span){source, token->begin, token->end};
}

bool token_ends_value(int kind)
{
    return kind == T_NAME || kind == T_NUMBER || kind == T_STRING || kind == T_TRUE || kind == T_FALSE ||
           kind == T_CLOSE || kind == T_CLOSE_SQUARE;
}

bool token_continues(int kind)
{
    static const int kinds[] = {T_PLUS,   T_MINUS, T_FACTOR, T_POWER, T_COMPARE, T_AND,   T_OR,    T_XOR,
                                T_NOT,    T_WHERE, T_IF,     T_ELSE,  T_IN,      T_RANGE, T_COMMA, T_COLON,
                                T_ASSIGN, T_DOT,   T_IS,     T_AT,    T_MOST,    T_AS,    T_FOR};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (kinds[i] == kind) {
            return true;
        }
    }
    return false;
}

/* A value can begin with this token and, in the middle of an expression, nothing else can. */
static bool begins_value(int kind)
{
    return kind == T_NAME || kind == T_NUMBER || kind == T_STRING || kind == T_TRUE || kind == T_FALSE;
}

static bool is_keyword(int kind)
{
    static const int kinds[] = {T_INPUT,  T_PARAM, T_OUTPUT, T_FN, T_REPEAT, T_FOR, T_IF,   T_ELSE, T_WHILE,
                                T_RETURN, T_WHERE, T_AND,    T_OR, T_NOT,    T_XOR, T_TRUE, T_FALSE};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (kinds[i] == kind) {
            return true;
        }
    }
    return false;
}

/* All words that the scanner knows. */
static bool is_word(int kind)
{
    return is_keyword(kind) || kind == T_UNTIL || kind == T_IS || kind == T_STABLE || kind == T_AT || kind == T_MOST ||
           kind == T_IN || kind == T_AS;
}

/* Words that begin a statement and mean nothing in an expression. */
static bool is_statement_word(int kind)
{
    return kind == T_INPUT || kind == T_PARAM || kind == T_OUTPUT || kind == T_FN || kind == T_REPEAT ||
           kind == T_WHILE || kind == T_RETURN;
}

static int last_kind(const Filter *f)
{
    return f->clean->n == 0 ? T_NEWLINE : f->clean->at[f->clean->n - 1].kind;
}

static int last_end(const Filter *f)
{
    return f->clean->n == 0 ? 0 : f->clean->at[f->clean->n - 1].end;
}

static bool at_start(const Filter *f)
{
    int kind = last_kind(f);
    return kind == T_NEWLINE || (kind == T_OPEN_BRACE && f->stack[f->depth].block);
}

static int next_kind(const Filter *f)
{
    return f->at + 1 < f->raw->n ? f->raw->at[f->at + 1].kind : T_END;
}

static void push(Filter *f, Token token)
{
    vec_push(f->arena, f->clean, token);
}

/* A token of no width after the last one. */
static void push_made(Filter *f, int kind, bool silent)
{
    int at = last_end(f);
    push(f, (Token){.kind = kind, .begin = at, .end = at, .text = "", .silent = silent});
}

static void end_statement(Filter *f, bool silent)
{
    if (!at_start(f)) {
        push_made(f, T_NEWLINE, silent);
    }
    f->statement = f->clean->n;
    f->stack[f->depth].condition = false;
}

/* ---- brackets ---- */

static Span bracket_span(const Filter *f, const Bracket *bracket)
{
    return (Span){f->source, bracket->begin, bracket->end};
}

/* A string that is not closed has the closing bracket in it. */
static bool is_swallowed(const Filter *f)
{
    const Token *last = f->clean->n > 0 ? &f->clean->at[f->clean->n - 1] : NULL;
    return last != NULL && last->kind == T_STRING && last->silent;
}

static void complain_unclosed(Filter *f, const Bracket *bracket)
{
    if (f->diags == NULL || is_swallowed(f)) {
        return;
    }
    const char *closes = bracket->text[0] == '(' ? ")" : bracket->text[0] == '[' ? "]" : "}";
    Span here = {f->source, last_end(f), last_end(f)};
    Diag *d = diag_add(f->diags, DIAG_UNCLOSED, here, bracket->text);
    diag_label(f->diags, d, "expected `%s`", closes);
    diag_note(f->diags, d, bracket_span(f, bracket), "opened here");
}

/* Closes the brackets above stack[depth]. */
static void close_down_to(Filter *f, int depth)
{
    while (f->depth > depth) {
        Bracket top = f->stack[f->depth];
        if (top.block) {
            end_statement(f, false);
        }
        f->depth--;
        push_made(f, top.close, true);
    }
}

/* The innermost block, or 0 for the file. */
static int innermost_block(const Filter *f)
{
    int depth = f->depth;
    while (depth > 0 && !f->stack[depth].block) {
        depth--;
    }
    return depth;
}

/* A brace where a value is wanted: a list as other languages write it. */
static bool brace_is_list(const Filter *f)
{
    int before = last_kind(f);
    int first = f->statement < f->clean->n ? f->clean->at[f->statement].kind : T_NEWLINE;
    const bool block = first == T_FN || first == T_FOR || first == T_IF || first == T_WHILE || first == T_REPEAT;
    if (!f->stack[f->depth].block) {
        return before == T_OPEN || before == T_OPEN_SQUARE || before == T_COMMA || before == T_ASSIGN ||
               before == T_POWER || (before == T_NAME && !block); /* **{...} of Python, c{1} of Matlab */
    }
    return before == T_ASSIGN && first != T_FN;
}

/* {"sigma": 2, k: 3}: (sigma = 2, k = 3). */
static void help_dictionary(Filter *f, Diag *d, const char *inside)
{
    enum { LONGEST = 100 };
    const Token *before = f->clean->n > 0 ? &f->clean->at[f->clean->n - 1] : NULL;
    if (before != NULL && before->kind == T_NAME) {
        diag_help(f->diags, d, "one element is `%s[0]`, counted from 0", before->text);
        return;
    }
    const size_t n = strcspn(inside, "}\r\n"), key = strcspn(inside, ":,}\r\n");
    const int begin = (int)(inside - f->source->text);
    diags_drop(f->diags, DIAG_FOREIGN_SPELLING, (Span){f->source, begin, begin + (int)n}); /* 'sigma': 2 */
    Str record, first;
    str_init(&record, f->arena);
    str_init(&first, f->arena);
    for (size_t i = 0; i < n && i < LONGEST; i++) {
        const char *more = inside[i] == ':' ? " =" : strchr("\"'", inside[i]) != NULL ? "" : NULL;
        str_addn(&record, more != NULL ? more : inside + i, more != NULL ? strlen(more) : 1);
        if (i < key && (more == NULL || more[0] != '\0') && inside[i] != ' ') {
            str_addn(&first, inside + i, 1);
        }
    }
    const size_t equals = strcspn(inside, "=}\r\n");
    if (inside[equals] == '=' && inside[n] == '}' && n < LONGEST) { /* {sigma = 2} */
        const size_t name = strspn(inside, " "), length = strcspn(inside + name, " =");
        diag_help(f->diags, d, "several values have names: `a = (%.*s)`, and then `a.%.*s`", (int)n, inside,
                  (int)length, inside + name);
    } else if (inside[key] == ':' && inside[n] == '}' && n < LONGEST && first.n > 0) {
        diag_help(f->diags, d, "several values have names: `a = (%s)`, and then `a.%s`", record.at, first.at);
    } else if (inside[strspn(inside, " \t\r\n")] == '"') {
        diag_help(f->diags, d, "several values have names: `a = (sigma = 2, radius = 3)`, and then `a.sigma`");
    }
}

static void open_brace(Filter *f, Token token)
{
    Bracket bracket = {.begin = token.begin, .end = token.end, .text = "{"};
    if (brace_is_list(f)) {
        const bool typed =
            f->clean->n > f->statement + 1 && f->clean->at[f->statement].kind == T_NAME &&
            f->clean->at[f->statement + 1].kind == T_NAME; /* float k[3] = {1, 2, 1}, of which the grammar tells */
        if (f->diags != NULL && !typed && last_kind(f) != T_POWER) {
            Diag *d = diag_add(f->diags, DIAG_BRACES_LIST, token_span(f->source, &token));
            help_dictionary(f, d, f->source->text + token.end);
        }
        bracket.list = true;
        bracket.close = T_CLOSE_SQUARE;
        token.kind = T_OPEN_SQUARE;
        token.silent = true;
        token.text = "[";
    } else {
        if (!f->stack[f->depth].block) {
            complain_unclosed(f, &f->stack[f->depth]);
            close_down_to(f, innermost_block(f));
        }
        bracket.block = true;
        bracket.close = T_CLOSE_BRACE;
    }
    f->stack[f->depth].condition = false;
    push(f, token);
    f->stack[++f->depth] = bracket;
    f->statement = bracket.block ? f->clean->n : f->statement;
}

static void open_bracket(Filter *f, Token token)
{
    Bracket bracket = {.begin = token.begin, .end = token.end, .text = token.text};
    bracket.close = token.kind == T_OPEN ? T_CLOSE : T_CLOSE_SQUARE;
    push(f, token);
    f->stack[++f->depth] = bracket;
}

/* The bracket that a closing one belongs to, or 0; `)` and `]` do not reach out of a block. */
static int partner_of(const Filter *f, const Token *token)
{
    for (int i = f->depth; i > 0; i--) {
        bool brace = f->stack[i].text[0] == '{';
        if (brace ? token->kind == T_CLOSE_BRACE : f->stack[i].close == token->kind) {
            return i;
        }
        if (f->stack[i].block && token->kind != T_CLOSE_BRACE) {
            return 0;
        }
    }
    return 0;
}

/* A closing bracket without a partner: it closes the innermost one after all, or is dropped. */
static bool adopt(Filter *f, Token *token)
{
    Bracket *top = &f->stack[f->depth];
    if (f->depth == 0 || top->block || token->kind == T_CLOSE_BRACE) {
        if (f->diags != NULL) {
            Diag *d = diag_add(f->diags, DIAG_UNOPENED, token_span(f->source, token), token->text);
            diag_help(f->diags, d, "leave it out, or open one in front");
        }
        return false;
    }
    if (f->diags != NULL) {
        Diag *d = diag_add(f->diags, DIAG_MISMATCHED, token_span(f->source, token), top->text, token->text);
        diag_label(f->diags, d, "expected `%s`", top->close == T_CLOSE ? ")" : "]");
        diag_note(f->diags, d, bracket_span(f, top), "opened here");
    }
    return true;
}

static void close_bracket(Filter *f, Token token)
{
    int partner = partner_of(f, &token);
    if (partner == 0) {
        if (!adopt(f, &token)) {
            return;
        }
        partner = f->depth;
    }
    if (partner < f->depth) {
        complain_unclosed(f, &f->stack[f->depth]);
        close_down_to(f, partner);
    }
    if (f->stack[partner].block) {
        end_statement(f, false);
    }
    token.kind = f->stack[partner].close;
    f->depth--;
    push(f, token);
}

/* ---- where statements end ---- */

static bool begins_statement(const Filter *f, const Token *next)
{
    bool names = next->kind == T_NAME || is_keyword(next->kind);
    return (is_statement_word(next->kind) && next_kind(f) != T_ASSIGN) || (names && next_kind(f) == T_ASSIGN);
}

/* Whether the newline between the last token and `next` ends the statement. */
static bool newline_counts(const Filter *f, const Token *next)
{
    int before = last_kind(f);
    if (at_start(f) || next->kind == T_OPEN_BRACE || (next->kind == T_ELSE && before == T_CLOSE_BRACE)) {
        return false;
    }
    if (next->kind == T_END || next->kind == T_CLOSE_BRACE) {
        return f->stack[f->depth].block;
    }
    if (f->stack[f->depth].block) {
        return !token_continues(before) || begins_statement(f, next);
    }
    if (is_statement_word(next->kind)) {
        return next_kind(f) != T_ASSIGN;
    }
    return token_ends_value(before) && begins_value(next->kind);
}

/* A declaration at the left margin ends blocks that were left open. */
static bool leaves_blocks(const Filter *f, const Token *next)
{
    bool margin = next->begin == 0 || strchr("\r\n", f->source->text[next->begin - 1]) != NULL;
    return margin && f->depth > 0 && next_kind(f) != T_ASSIGN &&
           (next->kind == T_INPUT || next->kind == T_PARAM || next->kind == T_FN || next->kind == T_OUTPUT);
}

/* Decides about the newline before the next token. */
static void settle_newline(Filter *f, const Token *next)
{
    if (f->newline < 0) {
        return;
    }
    bool counts = newline_counts(f, next);
    for (int i = f->newline; i < f->at; i++) { /* with empty lines and comments between */
        f->raw->at[i].soft = !counts && !at_start(f);
    }
    if (counts) {
        if (!f->stack[f->depth].block) {
            complain_unclosed(f, &f->stack[f->depth]);
            close_down_to(f, innermost_block(f));
        }
        Token *raw = &f->raw->at[f->newline];
        push(f, (Token){.kind = T_NEWLINE, .begin = raw->begin, .end = raw->end, .text = ""});
        end_statement(f, false);
    }
    if (leaves_blocks(f, next)) {
        complain_unclosed(f, &f->stack[f->depth]);
        close_down_to(f, 0);
        end_statement(f, true);
    }
    f->newline = -1;
}

/* ---- words ---- */

/* The kind of a word that is a keyword only in its place. */
static int contextual_kind(const Filter *f, const Token *word)
{
    int before = last_kind(f);
    bool keyword = true;
    switch (word->kind) {
    case T_UNTIL:
        keyword = before == T_REPEAT;
        break;
    case T_IS:
    case T_AS:
    case T_IN:
        keyword = token_ends_value(before);
        break;
    case T_STABLE:
        keyword = before == T_IS;
        break;
    case T_AT:
        keyword = next_kind(f) == T_MOST;
        break;
    case T_MOST:
        keyword = before == T_AT;
        break;
    default:
        break;
    }
    return keyword ? word->kind : T_NAME;
}

static bool names_argument(const Filter *f)
{
    int before = last_kind(f);
    return !f->stack[f->depth].block && next_kind(f) == T_ASSIGN &&
           (before == T_OPEN || before == T_OPEN_SQUARE || before == T_COMMA);
}

/* A keyword where only a name makes sense. */
static bool misused(const Filter *f, const Token *word)
{
    int before = last_kind(f);
    if (!is_keyword(word->kind)) {
        return false;
    }
    if (at_start(f)) {
        return next_kind(f) == T_ASSIGN;
    }
    if (before == T_INPUT || before == T_PARAM || before == T_FN || before == T_OUTPUT || before == T_FOR) {
        return true;
    }
    bool wants_value =
        before == T_OPEN || before == T_OPEN_SQUARE || (token_continues(before) && before != T_ELSE && before != T_DOT);
    return is_statement_word(word->kind) && wants_value;
}

static void add_word(Filter *f, Token token)
{
    if (last_kind(f) == T_DOT || names_argument(f)) {
        token.kind = T_NAME;
    } else {
        token.kind = contextual_kind(f, &token);
    }
    bool foreign =
        token.kind == T_RETURN && last_kind(f) == T_COLON; /* def f(v): return v, of which the grammar tells */
    if (!foreign && misused(f, &token)) {
        if (f->diags != NULL) {
            Diag *d = diag_add(f->diags, DIAG_RESERVED_WORD, token_span(f->source, &token), token.text);
            diag_help(f->diags, d,
                      at_start(f) && token.kind == T_OUTPUT  ? "an output has a name: `output result = ...`"
                      : at_start(f) && token.kind == T_INPUT ? "an input has a name and axes: `input image[y, x]`"
                      : token.kind == T_INPUT  ? "images come in by a line of their own: `input image[y, x]`"
                      : token.kind == T_RETURN ? "behind `=` stands the value alone; `return` is for blocks"
                                               : "use another name, for example `%s_`",
                      token.text);
        }
        token.silent = true;
        token.kind = T_NAME;
    }
    f->raw->at[f->at].kind = token.kind;
    if (token.kind == T_IF || token.kind == T_WHERE || token.kind == T_WHILE || token.kind == T_UNTIL) {
        f->stack[f->depth].condition = true;
    } else if (token.kind == T_ELSE || token.kind == T_FOR) {
        f->stack[f->depth].condition = false;
    }
    push(f, token);
}

static void add_assign(Filter *f, Token token)
{
    if (f->stack[f->depth].condition) {
        if (f->diags != NULL) {
            Diag *d = diag_add(f->diags, DIAG_ASSIGN_IN_CONDITION, token_span(f->source, &token));
            diag_label(f->diags, d, "write `==`");
        }
        token.kind = T_COMPARE;
        token.text = "==";
    }
    push(f, token);
}

/* ---- */

static void add_token(Filter *f, Token token)
{
    switch (token.kind) {
    case T_OPEN:
    case T_OPEN_SQUARE:
        open_bracket(f, token);
        break;
    case T_OPEN_BRACE:
        open_brace(f, token);
        break;
    case T_CLOSE:
    case T_CLOSE_SQUARE:
    case T_CLOSE_BRACE:
        close_bracket(f, token);
        break;
    case T_ASSIGN:
        add_assign(f, token);
        break;
    case T_COMMA:
        f->stack[f->depth].condition = false;
        push(f, token);
        break;
    default:
        if (is_word(token.kind)) {
            add_word(f, token);
        } else {
            push(f, token);
        }
        break;
    }
}

static bool is_opening(int kind)
{
    return kind == T_OPEN || kind == T_OPEN_SQUARE || kind == T_OPEN_BRACE;
}

/* Closes what is open at the end of the file. */
static void finish(Filter *f, bool too_deep)
{
    if (f->depth > 0 && !too_deep) {
        complain_unclosed(f, &f->stack[f->depth]);
    }
    if (too_deep) {
        push_made(f, T_INVALID, true);
    }
    close_down_to(f, 0);
    end_statement(f, too_deep);
    push_made(f, T_END, false);
}

bool fe_check_text(const Source *source, size_t size, Diags *diags)
{
    enum { LARGEST = 1 << 24 }; /* offsets are int, and a pipeline is written by hand */
    size_t n = strnlen(source->text, LARGEST);
    bool short_enough = size < LARGEST;
    if (short_enough && n == size) {
        return true;
    }
    Diag *d = diag_add(diags, DIAG_NOT_TEXT, (Span){source, (int)n, (int)n}, (int)n,
                       short_enough ? "zero" : "beyond the largest pipeline");
    static const char *const IMAGES[] = {"II*", "II+", "MM", "\x89PNG", "SIMPLE  =", "\xff\xd8\xff"};
    bool image = false;
    for (size_t i = 0; i < sizeof IMAGES / sizeof *IMAGES; i++) {
        image = image || strncmp(source->text, IMAGES[i], strlen(IMAGES[i])) == 0;
    }
    diag_help(diags, d,
              image ? "this is an image; the pipeline comes first: pipec run FILE.pipe IMAGE"
                    : "save the file as plain text in UTF-8");
    return false;
}

/* The word is a name everywhere else. */
static bool begins_include(const Filter *f, const Token *token)
{
    return token->kind == T_NAME && strcmp(token->text, "include") == 0 && at_start(f) && f->stack[f->depth].block &&
           next_kind(f) == T_STRING;
}

void fe_tokens(Arena *arena, const Source *source, Diags *diags, Tokens *tokens)
{
    Filter *f = arena_new(arena, Filter);
    *f = (Filter){.arena = arena,
                  .source = source,
                  .diags = diags,
                  .raw = &tokens->raw,
                  .clean = &tokens->clean,
                  .newline = -1};
    f->stack[0] = (Bracket){.text = "", .block = true};
    memset(tokens, 0, sizeof *tokens);
    fe_scan(arena, source, diags, &tokens->raw);
    bool too_deep = false;
    for (f->at = 0; f->raw->at[f->at].kind != T_END && !too_deep; f->at++) {
        Token token = f->raw->at[f->at];
        if (token.kind == T_NEWLINE) {
            f->newline = f->newline < 0 ? f->at : f->newline;
        } else if (token.kind != T_COMMENT) {
            settle_newline(f, &token);
            if (begins_include(f, &token)) {
                token.kind = f->raw->at[f->at].kind = T_INCLUDE;
            }
            too_deep = is_opening(token.kind) && f->depth == FE_MAX_NESTING;
            if (too_deep && diags != NULL) {
                diag_add(diags, DIAG_TOO_DEEP, token_span(source, &token));
            }
            if (!too_deep) {
                add_token(f, token);
            }
        }
    }
    finish(f, too_deep);
}
