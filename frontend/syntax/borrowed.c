/*
 * borrowed: values as other languages write them: functions without a name, lists that a loop makes, types in front.
 *
 * What is said has the user's own words in it wherever they are all on one line, so that it can be copied.
 */
#include "syntax.h"
#include "parse.h"

#include <string.h>

enum { SHORT = 80 }; /* bytes of the user's that fit into a help */

static const char *words_between(const SyntaxCase *c, int begin, int end)
{
    return arena_strndup(c->p->arena, c->p->source->text + begin, (size_t)(end > begin ? end - begin : 0));
}

/* The last byte of the line of a token that is neither blank nor of a comment. */
static int line_end(const SyntaxCase *c, const Token *token)
{
    const char *text = c->p->source->text;
    int end = token->begin + (int)strcspn(text + token->begin, "\r\n#;");
    while (end > token->begin && strchr(" \t", text[end - 1]) != NULL) {
        end--;
    }
    return end;
}

/* ---- functions without a name ---- */

typedef struct Unnamed {
    const Token *word, *params, *body; /* params: the first of them, or NULL */
} Unnamed;

/* (v, w) or v, and what follows; NULL: other things stand there. */
static const Token *behind_params(const Token *t, const Token **params)
{
    const bool open = t->kind == T_OPEN;
    t += open;
    *params = t->kind == T_NAME ? t : NULL;
    while (t->kind == T_NAME || t->kind == T_COMMA) {
        t++;
    }
    return !open ? t : t->kind == T_CLOSE ? t + 1 : NULL;
}

/* Is `v` of `v => v * 2`, or `(v, w)`, what stands in front of the arrow? */
static const Token *params_before(const SyntaxCase *c, const Token *arrow)
{
    const Token *t = arrow - 1;
    while (t > c->first && t->kind != T_OPEN && arrow[-1].kind == T_CLOSE) {
        t--;
    }
    return t;
}

static bool read_unnamed(const SyntaxCase *c, const Token *t, Unnamed *u)
{
    *u = (Unnamed){.word = t};
    const bool value = t > c->first && (t[-1].kind == T_ASSIGN || t[-1].kind == T_MINUS || t[-1].kind == T_OPEN ||
                                        t[-1].kind == T_COMMA);
    if (t->kind == T_NAME && syntax_is(t, "lambda")) {
        u->body = behind_params(t + 1, &u->params);
        u->body += u->body != NULL && u->body->kind == T_COLON;
    } else if (t->kind == T_INVALID && syntax_is(t, "=>")) {
        (void)behind_params(params_before(c, t), &u->params);
        u->body = t + 1;
    } else if (value && t[1].kind == T_OPEN &&
               (syntax_is(t, "function") || syntax_is(t, "func") || syntax_is(t, "@") || syntax_is(t, "\\"))) {
        u->body = behind_params(t + 1, &u->params);
    }
    return u->body != NULL;
}

bool foreign_unnamed(const SyntaxCase *c)
{
    const Token *t = c->found;
    Unnamed u;
    while (t >= c->first && !read_unnamed(c, t, &u)) {
        t--;
    }
    if (t < c->first) {
        return false;
    }
    const bool arrow = c->first[1].kind == T_COMPARE && c->first[2].kind == T_MINUS; /* f <- */
    const bool named = c->first->kind == T_NAME && (arrow || c->first[1].kind == T_ASSIGN);
    Diag *d = diag_add(c->p->diags, DIAG_FOREIGN_SPELLING, token_span(c->p->source, u.word), syntax_shown(c, u.word));
    if (named) {
        syntax_note_name(c->p, c->first);
    }
    const Token *last = u.params;
    while (u.params != NULL && (last[1].kind == T_NAME || last[1].kind == T_COMMA)) {
        last++;
    }
    const char *params = u.params != NULL ? words_between(c, u.params->begin, last->end) : "v";
    const Token *body = u.body + (u.body->kind == T_OPEN_BRACE);
    body += body->kind == T_RETURN;
    int end = line_end(c, body);
    end -= u.body->kind == T_OPEN_BRACE && end > body->begin && c->p->source->text[end - 1] == '}';
    while (end > body->begin && strchr(" \t", c->p->source->text[end - 1]) != NULL) {
        end--;
    }
    if (!named || strlen(params) > SHORT || end - body->begin > SHORT) {
        syntax_help(c, d, "a function has a line of its own: `fn twice(v) = v * 2`");
    } else if (body->kind == T_NEWLINE || end == body->begin) {
        diag_help(c->p->diags, d, "a function is written `fn %s(%s) { ... return v }`", c->first->text, params);
    } else {
        diag_help(c->p->diags, d, "a function is written `fn %s(%s) = %s`", c->first->text, params,
                  words_between(c, body->begin, end));
    }
    return true;
}

/* @jit in front of a function, or a product of matrices. */
bool foreign_at(const SyntaxCase *c)
{
    if (c->found->kind != T_INVALID || (!syntax_is(c->found, "@") && !syntax_is(c->found, "\\"))) {
        return false;
    }
    if (c->at_start) {
        Span line = {c->p->source, c->found->begin, line_end(c, c->found)};
        Diag *d = diag_add(c->p->diags, DIAG_FOREIGN_SPELLING, line, words_between(c, line.begin, line.end));
        syntax_help(c, d, "leave the line out: a function is written with `fn`, and all of them are compiled");
        return true;
    }
    Diag *d = diag_add(c->p->diags, DIAG_UNKNOWN_CHARACTER, token_span(c->p->source, c->found),
                       arena_printf(c->p->arena, "`%s`", c->found->text));
    syntax_help(c, d, "images are multiplied pixel by pixel: `*`");
    return true;
}

/* ---- values that a loop makes ---- */

/* How many values a list has that begins at a bracket; 0: they are no single words. */
static int count_values(const Token *open)
{
    const int close = open->kind == T_OPEN ? T_CLOSE : T_CLOSE_SQUARE;
    int n = 0;
    const Token *t = open + 1;
    for (; t->kind == T_NUMBER || t->kind == T_NAME || t->kind == T_COMMA; t++) {
        n += t->kind != T_COMMA;
    }
    return (open->kind == T_OPEN || open->kind == T_OPEN_SQUARE) && t->kind == close ? n : 0;
}

/* The words from a token to another, where a name stands for one of a list. */
static const char *with_picked(const SyntaxCase *c, const Token *from, const Token *to, const Token *name,
                               const char *value)
{
    Str out;
    str_init(&out, c->p->arena);
    int at = from->begin;
    for (const Token *t = from; t < to; t++) {
        if (t->kind == T_NAME && t[1].kind != T_ASSIGN && syntax_is(t, name->text)) {
            str_addf(&out, "%s%s", words_between(c, at, t->begin), value);
            at = t->end;
        }
    }
    str_add(&out, words_between(c, at, to[-1].end));
    return out.at;
}

/* max([gaussian(v, s) for s in (1, 2, 4)]) and max(gaussian(v, s) for s in [1, 2, 4]) as a range over places of the list. */
const char *foreign_listed(const SyntaxCase *c, const Token *loop)
{
    const Token *name = loop + 1, *open = loop + 3;
    const int n = loop->kind == T_FOR && name->kind == T_NAME && name[1].kind == T_IN ? count_values(open) : 0;
    const Token *from = loop;
    for (int depth = 0; from > c->first && depth >= 0; from--) {
        const int kind = from[-1].kind;
        depth += (kind == T_CLOSE || kind == T_CLOSE_SQUARE) - (kind == T_OPEN || kind == T_OPEN_SQUARE);
        if (depth < 0) {
            break;
        }
    }
    const Token *fold = from - (from > c->first && from[-1].kind == T_OPEN_SQUARE ? 3 : 2);
    if (n == 0 || fold < c->first || fold->kind != T_NAME || fold[1].kind != T_OPEN) {
        return NULL;
    }
    const Token *close = open + 1;
    while (close->kind != T_CLOSE && close->kind != T_CLOSE_SQUARE) {
        close++;
    }
    const char *list = words_between(c, open[1].begin, close[-1].end);
    const char *value = arena_printf(c->p->arena, "pick(k, [%s])", list);
    const char *text = with_picked(c, from, loop, name, value);
    return strlen(text) > 2 * SHORT ? NULL
                                    : arena_printf(c->p->arena, "`%s(%s for k in 0 .. %d)`", fold->text, text, n - 1);
}

/* sum(v * 2 for v in image), where pixels are no list, and sum(f(s) for s in sigmas), of a list with a name.  NULL: it is neither. */
const char *foreign_over_pixels(const SyntaxCase *c, const Token *loop)
{
    const Token *name = loop + 1, *image = loop + 3, *from = loop;
    if (loop->kind != T_FOR || name->kind != T_NAME || name[1].kind != T_IN || image->kind != T_NAME) {
        return NULL;
    }
    const Token *given = c->p->tokens;
    bool input = false;
    int values = 0;
    for (; given < c->first; given++) {
        const bool here = given->kind == T_NAME && syntax_is(given, image->text);
        input = input || (here && given > c->p->tokens && given[-1].kind == T_INPUT);
        values = here && given[1].kind == T_ASSIGN ? count_values(given + 2) : values; /* sigmas = [1, 2, 4] */
    }
    if (!input && values == 0) {
        return NULL;
    }
    for (int depth = 0; from > c->first; from--) {
        depth += (from[-1].kind == T_CLOSE) - (from[-1].kind == T_OPEN);
        if (depth < 0) {
            break;
        }
    }
    const bool called = from - 2 >= c->first && from[-2].kind == T_NAME;
    const char *one = values > 0 ? arena_printf(c->p->arena, "pick(k, %s)", image->text) : image->text;
    const char *text = called ? with_picked(c, from, loop, name, one) : "";
    if (text[0] == '\0' || strlen(text) > SHORT) {
        return NULL;
    }
    return values > 0 ? arena_printf(c->p->arena, "one after the other: `%s(%s for k in 0 .. %d)`", from[-2].text, text,
                                     values - 1)
                      : arena_printf(c->p->arena, "pixels are taken all at once: `%s(%s)`", from[-2].text, text);
}

/* The first token of the body of a loop, and the one behind its last; NULL: there is none. */
static const Token *loop_body(const SyntaxCase *c, const Token **end)
{
    const Token *t = c->first;
    while (t->kind != T_NEWLINE && t->kind != T_END && t->kind != T_OPEN_BRACE) {
        t++;
    }
    while (t->kind == T_NEWLINE || t->kind == T_OPEN_BRACE) {
        t++;
    }
    for (*end = t; (*end)->kind != T_NEWLINE && (*end)->kind != T_END && (*end)->kind != T_CLOSE_BRACE;) {
        ++*end;
    }
    return t->kind == T_NAME && *end > t + 2 ? t : NULL;
}

const char *foreign_summed(const SyntaxCase *c)
{
    const Token *name = c->first + 1, *values = c->first + 3, *end;
    const Token *body = name->kind == T_NAME && name[1].kind == T_IN ? loop_body(c, &end) : NULL;
    const bool adds = body != NULL && body[1].kind == T_ASSIGN && strcmp(body[1].text, "+=") == 0;
    const bool range = values->kind == T_NAME && syntax_is(values, "range") && values[1].kind == T_OPEN &&
                       values[2].kind == T_NUMBER && values[3].kind == T_CLOSE;
    const int n = count_values(values);
    if (!adds || (!range && n == 0)) {
        return NULL;
    }
    const Token *close = values + 1;
    while (close->kind != T_CLOSE && close->kind != T_CLOSE_SQUARE) {
        close++;
    }
    const char *one = n > 0
                          ? arena_printf(c->p->arena, "pick(k, [%s])", words_between(c, values[1].begin, close[-1].end))
                          : name->text;
    const char *text = with_picked(c, body + 2, end, name, one);
    return strlen(text) > 2 * SHORT ? NULL
           : n > 0
               ? arena_printf(c->p->arena, "a sum is written `%s = sum(%s for k in 0 .. %d)`", body->text, text, n - 1)
               : arena_printf(c->p->arena, "a sum is written `%s = sum(%s for %s in 0 .. %g)`", body->text, text, one,
                              values[2].num - 1);
}

/* ---- inputs ---- */

const char *foreign_type(const char *word)
{
    static const struct {
        const char *words, *here;
    } TYPES[] = {
        {" u8 uint8 uchar byte ", "u8"}, {" u16 uint16 ushort ", "u16"},          {" i16 int16 short ", "i16"},
        {" u32 uint32 uint ", "u32"},    {" i32 int32 int integer ", "i32"},      {" f32 float float32 single ", "f32"},
        {" f64 float64 double ", "f64"}, {" mask bool boolean logical ", "mask"}, {" labels label ", "labels"},
    };
    const size_t n = strlen(word);
    for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++) {
        const char *at = strstr(TYPES[i].words, word);
        if (at != NULL && at > TYPES[i].words && at[-1] == ' ' && at[n] == ' ') {
            return TYPES[i].here;
        }
    }
    return NULL;
}

/* input u8 image[y, x] */
bool foreign_typed_input(const SyntaxCase *c)
{
    const char *type = c->before->kind == T_NAME ? foreign_type(c->before->text) : NULL;
    if (c->first->kind != T_INPUT || c->before != c->first + 1 || c->found->kind != T_NAME || type == NULL) {
        return false;
    }
    const Token *end = c->found + 1;
    while (end->kind == T_OPEN_SQUARE || end->kind == T_NAME || end->kind == T_COMMA) {
        end++;
    }
    const bool axes = c->found[1].kind == T_OPEN_SQUARE && end->kind == T_CLOSE_SQUARE;
    syntax_note_name(c->p, c->found);
    Diag *d = diag_add(c->p->diags, DIAG_FOREIGN_SPELLING, token_span(c->p->source, c->before),
                       arena_printf(c->p->arena, "%s %s", c->before->text, c->found->text));
    diag_help(c->p->diags, d, "a type follows the axes: `input %s%s : %s`", c->found->text,
              axes ? words_between(c, c->found->end, end->end) : "[y, x]", type);
    return true;
}
