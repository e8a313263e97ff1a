/* preprocess: tokens, directives, macros (expanded as in D. Prosser's algorithm, with the names a token came from). */
#include "preprocess.h"

#include "../../base/str.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct Hidden {
    const char *name;
    Hidden *next;
};

typedef struct Macro {
    const char *name;
    bool called; /* it has parameters, maybe none */
    int n;
    const char **param; /* "__VA_ARGS__" for the last of a variable number */
    Token *body;
    struct Macro *next;
} Macro;

enum { BUCKETS = 256, DEPTH = 64, MOST_DEPTH = 200 };

typedef struct Reader {
    Arena *arena;
    TextFault *fault;
    Macro *macros[BUCKETS];
    bool taken[DEPTH]; /* for each #if around: one of its branches was taken */
    int depth, nested;
    Str pragma; /* what stands in front of the next token */
} Reader;

void text_fault(TextFault *fault, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    vsnprintf(fault->why, sizeof fault->why, format, ap);
    va_end(ap);
    longjmp(fault->jump, 1);
}

bool token_is(const Token *token, const char *text)
{
    return token->kind != TOKEN_STRING && strcmp(token->text, text) == 0;
}

/* ---- tokens ---------------------------------------------------------------------------- */

static size_t name_length(const char *at)
{
    size_t n = 0;
    while (isalnum((unsigned char)at[n]) || at[n] == '_') {
        n++;
    }
    return n;
}

/* Signs of exponents belong to numbers. */
static size_t number_length(const char *at)
{
    size_t n = 0;
    while (
        isalnum((unsigned char)at[n]) || at[n] == '.' || at[n] == '_' ||
        (n > 0 && (at[n] == '+' || at[n] == '-') && strchr("pP", at[n - 1])) ||
        (n > 0 && (at[n] == '+' || at[n] == '-') && strchr("eE", at[n - 1]) && tolower((unsigned char)at[1]) != 'x')) {
        n++;
    }
    return n;
}

static size_t sign_length(const char *at)
{
    if (strchr("()[]{};,?:~", *at)) {
        return 1;
    }
    static const char *const LONG[] = {"<<=", ">>=", "...", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=",
                                       "&&",  "||",  "*=",  "/=", "%=", "+=", "-=", "&=", "^=", "|=", "##"};
    for (size_t i = 0; i < sizeof LONG / sizeof *LONG; i++) {
        if (strncmp(at, LONG[i], strlen(LONG[i])) == 0) {
            return strlen(LONG[i]);
        }
    }
    return 1;
}

static size_t string_length(const char *at)
{
    size_t n = 1;
    while (at[n] && at[n] != *at) {
        n += at[n] == '\\' && at[n + 1] ? 2 : 1;
    }
    return at[n] ? n + 1 : n;
}

/* Behind space, comments and continued lines; *first and *spaced say what there was. */
static const char *skip_space(const char *at, bool *first, bool *spaced)
{
    for (;;) {
        if (at[0] == '\\' && at[1] == '\n') {
            at += 2;
        } else if (at[0] == '/' && at[1] == '*') {
            const char *end = strstr(at + 2, "*/");
            at = end ? end + 2 : at + strlen(at);
        } else if (at[0] == '/' && at[1] == '/') {
            at += strcspn(at, "\n");
        } else if (*at && isspace((unsigned char)*at)) {
            *first |= *at++ == '\n';
        } else {
            return at;
        }
        *spaced = true;
    }
}

static Token *read_tokens(Arena *arena, const char *at)
{
    Token *all = NULL, **end = &all;
    for (bool first = true;; first = false) {
        bool spaced = false;
        at = skip_space(at, &first, &spaced);
        Token *t = *end = arena_new(arena, Token);
        end = &t->next;
        const bool number = isdigit((unsigned char)*at) || (*at == '.' && isdigit((unsigned char)at[1]));
        t->kind = !*at                        ? TOKEN_END
                  : number                    ? TOKEN_NUMBER
                  : name_length(at)           ? TOKEN_NAME
                  : *at == '"' || *at == '\'' ? TOKEN_STRING
                                              : TOKEN_SIGN;
        static size_t (*const LENGTH[])(const char *) = {name_length, number_length, string_length, sign_length};
        const size_t n = t->kind == TOKEN_END ? 0 : LENGTH[t->kind](at);
        t->text = arena_strndup(arena, at, n);
        t->first = first || !*at;
        t->spaced = spaced;
        at += n;
        if (t->kind == TOKEN_END) {
            t->next = t;
            return all;
        }
    }
}

static Token *copy_token(Reader *r, const Token *t)
{
    Token *copy = arena_new(r->arena, Token);
    *copy = *t;
    copy->next = NULL;
    return copy;
}

static Token *end_token(Reader *r)
{
    Token *t = arena_new(r->arena, Token);
    *t = (Token){.kind = TOKEN_END, .text = "", .first = true, .next = t};
    return t;
}

/* The tokens of a line from `t` on as a list of their own; *rest: the first of the next line. */
static Token *cut_line(Reader *r, Token *t, Token **rest)
{
    Token *line = NULL, **end = &line;
    for (; !t->first; t = t->next) {
        *end = copy_token(r, t);
        end = &(*end)->next;
    }
    *rest = t;
    *end = end_token(r);
    return line;
}

/* A list's tokens, in front of `rest`. */
static Token *joined(Reader *r, const Token *list, Token *rest)
{
    Token *all = rest, **end = &all;
    for (; list->kind != TOKEN_END; list = list->next) {
        *end = copy_token(r, list);
        end = &(*end)->next;
    }
    *end = rest;
    return all;
}

/* A list that is nobody else's, in front of `rest`. */
static Token *followed(Token *list, Token *rest)
{
    Token **end = &list;
    while ((*end)->kind != TOKEN_END) {
        end = &(*end)->next;
    }
    *end = rest;
    return list;
}

/* ---- macros ---------------------------------------------------------------------------- */

static Macro **bucket(Reader *r, const char *name)
{
    return &r->macros[str_hash(STR_HASH, name) % BUCKETS];
}

static Macro *find_macro(Reader *r, const char *name)
{
    Macro *m = *bucket(r, name);
    while (m && strcmp(m->name, name) != 0) {
        m = m->next;
    }
    return m;
}

static void forget_macro(Reader *r, const char *name)
{
    for (Macro **link = bucket(r, name); *link; link = &(*link)->next) {
        if (strcmp((*link)->name, name) == 0) {
            *link = (*link)->next;
            return;
        }
    }
}

static void add_macro(Reader *r, Macro *m)
{
    forget_macro(r, m->name);
    m->next = *bucket(r, m->name);
    *bucket(r, m->name) = m;
}

/* From the name on, to the end of its line. */
static void define(Reader *r, Token *t)
{
    Macro *m = arena_new(r->arena, Macro);
    m->name = t->text;
    m->called = token_is(t->next, "(") && !t->next->spaced;
    t = t->next;
    if (m->called) {
        Vec(const char *) names = {0};
        for (t = t->next; t->kind != TOKEN_END && !token_is(t, ")"); t = t->next) {
            if (!token_is(t, ",")) {
                vec_push(r->arena, &names, token_is(t, "...") ? "__VA_ARGS__" : t->text);
            }
        }
        m->param = names.at;
        m->n = names.n;
        t = t->kind == TOKEN_END ? t : t->next;
    }
    m->body = t;
    add_macro(r, m);
}

static void define_text(Reader *r, const char *text)
{
    define(r, read_tokens(r->arena, text));
}

static int param_index(const Macro *m, const Token *t)
{
    for (int i = 0; t->kind == TOKEN_NAME && i < m->n; i++) {
        if (strcmp(m->param[i], t->text) == 0) {
            return i;
        }
    }
    return -1;
}

/* The arguments after a macro's "(", each a list; *t is left at the ")". */
static Token **read_arguments(Reader *r, const Macro *m, Token **t)
{
    Token **args = arena_array(r->arena, Token *, m->n + 1), **end = &args[0];
    int n = 0, depth = 0;
    for (; depth > 0 || !token_is(*t, ")"); *t = (*t)->next) {
        if ((*t)->kind == TOKEN_END) {
            text_fault(r->fault, "a call of the macro %s does not end", m->name);
        }
        depth += token_is(*t, "(") ? 1 : token_is(*t, ")") ? -1 : 0;
        const bool last = n + 1 >= m->n && m->n > 0 && strcmp(m->param[m->n - 1], "__VA_ARGS__") == 0;
        if (depth == 0 && token_is(*t, ",") && !last) {
            *end = end_token(r);
            if (++n >= m->n) {
                text_fault(r->fault, "the macro %s has too many arguments", m->name);
            }
            end = &args[n];
        } else {
            *end = copy_token(r, *t);
            end = &(*end)->next;
        }
    }
    *end = end_token(r);
    for (int i = n + 1; i < m->n; i++) {
        args[i] = end_token(r);
    }
    return args;
}

static Token *expand_list(Reader *r, Token *list);

/* `left` becomes the token of both texts. */
static void paste(Reader *r, Token *left, const Token *right)
{
    Token *both = read_tokens(r->arena, arena_printf(r->arena, "%s%s", left->text, right->text));
    left->kind = both->kind;
    left->text = both->text;
}

static Token *string_of(Reader *r, const Token *list)
{
    Str s;
    str_init(&s, r->arena);
    str_add(&s, "\"");
    for (const Token *t = list; t->kind != TOKEN_END; t = t->next) {
        str_add(&s, t != list && t->spaced ? " " : "");
        str_add_escaped(&s, t->text);
    }
    str_add(&s, "\"");
    Token *t = arena_new(r->arena, Token);
    *t = (Token){.kind = TOKEN_STRING, .text = s.at, .next = end_token(r)};
    return t;
}

/* A macro's body with its arguments in their places, as a list. */
static Token *substitute(Reader *r, const Macro *m, Token **args)
{
    Token *all = NULL, **end = &all, *last = NULL;
    bool pasting = false;
    for (const Token *t = m->body; t->kind != TOKEN_END; t = t->next) {
        if (token_is(t, "##")) {
            pasting = true;
            continue;
        }
        const bool quoted = m->called && token_is(t, "#") && param_index(m, t->next) >= 0;
        const int i = param_index(m, quoted ? t->next : t);
        Token *list;
        if (quoted) {
            list = string_of(r, args[i]);
            t = t->next;
        } else if (i >= 0) {
            const bool raw = pasting || token_is(t->next, "##");
            list = raw ? args[i] : expand_list(r, joined(r, args[i], end_token(r)));
        } else {
            list = copy_token(r, t);
            list->next = end_token(r);
        }
        if (pasting && last && list->kind != TOKEN_END) {
            paste(r, last, list);
            list = list->next;
        }
        pasting = false;
        for (; list->kind != TOKEN_END; list = list->next) {
            last = *end = copy_token(r, list);
            end = &last->next;
        }
    }
    *end = end_token(r);
    return all;
}

static bool is_hidden(const Token *t, const char *name)
{
    const Hidden *h = t->hidden;
    while (h && strcmp(h->name, name) != 0) {
        h = h->next;
    }
    return h != NULL;
}

/* What came from a macro: hidden are it and what all of its call, up to `last`, came from; lines and space are those of
 * the call. */
static Token *mark(Reader *r, const Token *call, const Token *last, const Macro *m, Token *list)
{
    for (Token *t = list; t->kind != TOKEN_END; t = t->next) {
        Hidden *own = arena_new(r->arena, Hidden);
        *own = (Hidden){m->name, t->hidden};
        for (const Hidden *h = call->hidden; h; h = h->next) {
            if (!is_hidden(last, h->name)) {
                continue;
            }
            Hidden *more = arena_new(r->arena, Hidden);
            *more = (Hidden){h->name, own};
            own = more;
        }
        t->hidden = own;
        t->first = t == list && call->first;
        t->spaced = t == list ? call->spaced : t->spaced;
    }
    return list;
}

/* True: *t was a macro's call, and is now the first of what it stands for. */
static bool expand(Reader *r, Token **t)
{
    Token *call = *t;
    const Macro *m = call->kind == TOKEN_NAME ? find_macro(r, call->text) : NULL;
    if (!m || is_hidden(call, m->name) || (m->called && !token_is(call->next, "("))) {
        return false;
    }
    Token *last = call, **args = NULL;
    if (m->called) {
        last = call->next->next;
        args = read_arguments(r, m, &last);
    }
    *t = followed(mark(r, call, last, m, substitute(r, m, args)), last->next);
    return true;
}

static Token *expand_list(Reader *r, Token *list)
{
    Token *all = NULL, **end = &all;
    if (++r->nested > MOST_DEPTH) {
        text_fault(r->fault, "macros call each other too deeply");
    }
    for (Token *t = list; t->kind != TOKEN_END;) {
        if (!expand(r, &t)) {
            *end = copy_token(r, t);
            end = &(*end)->next;
            t = t->next;
        }
    }
    r->nested--;
    *end = end_token(r);
    return all;
}

/* ---- conditions ------------------------------------------------------------------------ */

static const struct {
    const char *sign;
    int rank;
} OPERATORS[] = {{"||", 1}, {"&&", 2}, {"|", 3},  {"^", 4},  {"&", 5}, {"==", 6}, {"!=", 6}, {"<", 7},  {">", 7},
                 {"<=", 7}, {">=", 7}, {"<<", 8}, {">>", 8}, {"+", 9}, {"-", 9},  {"*", 10}, {"/", 10}, {"%", 10}};

static int rank_of(const Token *t)
{
    for (size_t i = 0; i < sizeof OPERATORS / sizeof *OPERATORS; i++) {
        if (token_is(t, OPERATORS[i].sign)) {
            return OPERATORS[i].rank;
        }
    }
    return 0;
}

/* Wrapping, as no sum in a condition may stop the compiler. */
static long long applied(const char *sign, long long a, long long b)
{
    const unsigned long long ua = (unsigned long long)a, ub = (unsigned long long)b;
    switch (sign[0]) {
    case '|':
        return sign[1] ? a || b : (a | b);
    case '&':
        return sign[1] ? a && b : (a & b);
    case '<':
        return sign[1] == '<' ? (long long)(ua << (b & 63)) : sign[1] ? a <= b : a < b;
    case '>':
        return sign[1] == '>' ? a >> (b & 63) : sign[1] ? a >= b : a > b;
    case '/':
        return b > 0 ? a / b : 0;
    case '%':
        return b > 0 ? a % b : 0;
    default:
        return sign[0] == '^'   ? (a ^ b)
               : sign[0] == '=' ? a == b
               : sign[0] == '!' ? a != b
                                : (long long)(sign[0] == '+'   ? ua + ub
                                              : sign[0] == '-' ? ua - ub
                                                               : ua * ub);
    }
}

static long long choice(Reader *r, Token **t);

static long long operand(Reader *r, Token **t)
{
    Token *at = *t;
    if (++r->nested > MOST_DEPTH || at->kind == TOKEN_END) {
        text_fault(r->fault, "a condition cannot be read");
    }
    *t = at->next;
    long long v = 0;
    if (token_is(at, "(")) {
        v = choice(r, t);
        *t = (*t)->kind == TOKEN_END ? *t : (*t)->next;
    } else if (strlen(at->text) == 1 && strchr("!-~+", *at->text)) {
        v = operand(r, t);
        v = *at->text == '!' ? !v : *at->text == '-' ? applied("-", 0, v) : *at->text == '~' ? ~v : v;
    } else if (at->kind == TOKEN_NUMBER) {
        v = (long long)strtoull(at->text, NULL, 0);
    }
    r->nested--;
    return v;
}

static long long ranked(Reader *r, Token **t, int least)
{
    long long v = operand(r, t);
    for (int rank; (rank = rank_of(*t)) >= least && rank > 0;) {
        const char *sign = (*t)->text;
        *t = (*t)->next;
        v = applied(sign, v, ranked(r, t, rank + 1));
    }
    return v;
}

static long long choice(Reader *r, Token **t)
{
    const long long v = ranked(r, t, 1);
    if (!token_is(*t, "?")) {
        return v;
    }
    *t = (*t)->next;
    const long long yes = choice(r, t);
    *t = (*t)->kind == TOKEN_END ? *t : (*t)->next;
    const long long no = choice(r, t);
    return v ? yes : no;
}

/* `defined NAME` and `defined(NAME)` become 1 or 0. */
static bool condition(Reader *r, Token *line)
{
    for (Token *t = line; t->kind != TOKEN_END; t = t->next) {
        if (token_is(t, "defined")) {
            const bool round = token_is(t->next, "(");
            const Token *name = round ? t->next->next : t->next;
            t->kind = TOKEN_NUMBER;
            t->text = find_macro(r, name->text) ? "1" : "0";
            t->next = round && name->next ? name->next->next : name->next;
        }
    }
    Token *t = expand_list(r, line);
    return choice(r, &t) != 0;
}

/* ---- directives ------------------------------------------------------------------------ */

static bool holds(Reader *r, const char *name, Token *line)
{
    return strcmp(name, "ifdef") == 0    ? find_macro(r, line->text) != NULL
           : strcmp(name, "ifndef") == 0 ? find_macro(r, line->text) == NULL
                                         : condition(r, line);
}

/* From the line after a condition that does not hold, to the line after that which ends or takes its place. */
static Token *skip_branch(Reader *r, Token *t)
{
    for (int inner = 0; t->kind != TOKEN_END; t = t->next) {
        if (!t->first || !token_is(t, "#")) {
            continue;
        }
        const char *name = t->next->text;
        Token *line = NULL;
        if (strncmp(name, "if", 2) == 0) {
            inner++;
        } else if (strcmp(name, "endif") == 0 && inner-- == 0) {
            r->depth--;
            (void)cut_line(r, t->next, &t);
            return t;
        } else if (inner == 0 && !r->taken[r->depth - 1] && strncmp(name, "el", 2) == 0) {
            Token *rest;
            line = cut_line(r, t->next->next, &rest);
            if (strcmp(name, "else") == 0 || condition(r, line)) {
                r->taken[r->depth - 1] = true;
                return rest;
            }
        }
    }
    return t;
}

static void keep_pragma(Reader *r, const Token *line)
{
    str_add(&r->pragma, "#pragma");
    for (const Token *t = line; t->kind != TOKEN_END; t = t->next) {
        str_addf(&r->pragma, " %s", t->text);
    }
    str_add(&r->pragma, "\n");
}

/* At the "#"; the first token of the line after it. */
static Token *directive(Reader *r, Token *t)
{
    Token *rest;
    Token *line = cut_line(r, t->next, &rest);
    const char *name = line->text;
    Token *words = line->kind == TOKEN_END ? line : line->next;
    if (strncmp(name, "if", 2) == 0) {
        if (r->depth == DEPTH) {
            text_fault(r->fault, "conditions are nested too deeply");
        }
        const bool taken = holds(r, name, words);
        r->taken[r->depth++] = taken;
        return taken ? rest : skip_branch(r, rest);
    }
    if ((strncmp(name, "el", 2) == 0 || strcmp(name, "endif") == 0) && r->depth == 0) {
        text_fault(r->fault, "an #%s has no #if", name);
    }
    if (strncmp(name, "el", 2) == 0) {
        return skip_branch(r, rest);
    }
    if (strcmp(name, "endif") == 0) {
        r->depth--;
    } else if (strcmp(name, "define") == 0) {
        define(r, words);
    } else if (strcmp(name, "undef") == 0) {
        forget_macro(r, words->text);
    } else if (strcmp(name, "pragma") == 0) {
        keep_pragma(r, words);
    } else if (strcmp(name, "line") != 0 && *name) {
        text_fault(r->fault, "there is an #%s", name);
    }
    return rest;
}

/* _Pragma("unroll") is the line #pragma unroll. */
static bool is_pragma(Reader *r, Token **t)
{
    if (!token_is(*t, "_Pragma") || !token_is((*t)->next, "(") || (*t)->next->next->kind != TOKEN_STRING) {
        return false;
    }
    const char *text = (*t)->next->next->text;
    str_addf(&r->pragma, "#pragma %.*s\n", (int)strlen(text) - 2, text + 1);
    *t = (*t)->next->next->next->next;
    return true;
}

/* Every -DNAME and -DNAME=VALUE. */
static void define_options(Reader *r, const char *options)
{
    for (const char *at = strstr(options, "-D"); at; at = strstr(at, "-D")) {
        at += 2;
        const size_t n = strcspn(at, " ");
        char *text = arena_strndup(r->arena, at, n);
        char *equal = strchr(text, '=');
        if (equal) {
            *equal = ' ';
        }
        define_text(r, equal ? text : arena_printf(r->arena, "%s 1", text));
        at += n;
    }
}

Token *preprocess(Arena *arena, TextFault *fault, const char *source, const char *options)
{
    Reader r = {.arena = arena, .fault = fault};
    str_init(&r.pragma, arena);
    define_text(&r, "__OPENCL_VERSION__ 120");
    define_text(&r, "__OPENCL_C_VERSION__ 120");
    define_text(&r, "cl_khr_fp64 1");
    define_options(&r, options);
    Token *all = NULL, **end = &all;
    for (Token *t = read_tokens(arena, source); t->kind != TOKEN_END;) {
        if (t->first && token_is(t, "#")) {
            t = directive(&r, t);
        } else if (!is_pragma(&r, &t) && !expand(&r, &t)) {
            *end = t;
            end = &t->next;
            if (r.pragma.n > 0) {
                t->pragma = arena_strdup(arena, r.pragma.at);
                str_cut(&r.pragma, 0, r.pragma.n);
            }
            t = t->next;
        }
    }
    *end = end_token(&r);
    return all;
}
