/*
 * syntax: says in plain words why the grammar cannot go on.
 *
 * The parser knows what it could have taken and what it found.  That is turned into one message
 * by a list of explanations, the most particular first; each looks at the tokens around the
 * place and either takes the case or leaves it to the next.  The last one takes everything.
 */
#include "syntax.h"
#include "parse.h"

#include <string.h>

/* ---- words for tokens ---- */

const char *syntax_shown(const SyntaxCase *c, const Token *token)
{
    int n = token->end - token->begin;
    const char *text = c->p->source->text + token->begin;
    const char *more = n > 24 ? "..." : "";
    n = n > 24 ? 24 : n;
    return arena_printf(c->p->arena, "%.*s%s", n, text, more);
}

static bool is_word(const Token *token)
{
    return token->text != NULL && token->text[0] >= 'a' && token->text[0] <= 'z';
}

static const char *describe(const SyntaxCase *c, const Token *token)
{
    if (token->kind == T_NEWLINE) {
        bool made = token->begin == token->end;
        int next = token[1].kind;
        return made && next == T_CLOSE_BRACE ? "`}`"
               : made && next == T_END       ? "the end of the file"
                                             : "the end of the line";
    }
    if (token->kind == T_END) {
        return "the end of the file";
    }
    if (token->kind == T_STRING) {
        return "a string";
    }
    bool keyword = token->kind != T_NAME && is_word(token);
    const char *kind = token->kind == T_NUMBER ? "the number " : keyword ? "the word " : "";
    return arena_printf(c->p->arena, "%s`%s`", kind, syntax_shown(c, token));
}

/* " after `x`", or nothing at the beginning of a statement. */
static const char *after(const SyntaxCase *c)
{
    if (c->at_start) {
        return "";
    }
    return arena_printf(c->p->arena, " after %s", describe(c, c->before));
}

/* The found token; the end of a line shows right behind the last token, not behind a comment. */
Span syntax_place(const SyntaxCase *c)
{
    if (c->found->kind == T_NEWLINE) {
        return (Span){c->p->source, c->before->end, c->before->end};
    }
    return token_span(c->p->source, c->found);
}

bool syntax_is(const Token *token, const char *text)
{
    return token->text != NULL && strcmp(token->text, text) == 0;
}

/* The nearest token of this kind before the found one, in the same brackets, or NULL. */
const Token *syntax_earlier(const SyntaxCase *c, int kind)
{
    int depth = 0;
    for (const Token *t = c->found - 1; t >= c->first; t--) {
        if (t->kind == T_CLOSE || t->kind == T_CLOSE_SQUARE) {
            depth++;
        } else if (t->kind == T_OPEN || t->kind == T_OPEN_SQUARE) {
            depth--;
        }
        if (depth < 0) {
            return NULL;
        }
        if (depth == 0 && t->kind == kind) {
            return t;
        }
    }
    return NULL;
}

/* ---- help that several messages share ---- */

void syntax_help(const SyntaxCase *c, Diag *d, const char *text)
{
    diag_help(c->p->diags, d, "%s", text);
}

const char SYNTAX_SLICES[] =
    "a part is crop(image, x, y, width = 10, height = 10), a channel image[c = 1], a plane image[z = 1]";

/* ---- explanations: true when taken ---- */

/* A word about a statement is enough: what follows may be its consequence. */
static bool told_already(const SyntaxCase *c)
{
    for (const Token *t = c->found; c->found->kind == T_COMMA && t->kind != T_NEWLINE && t->kind != T_END; t++) {
        if (t->kind == T_CLOSE && t->silent) { /* gaussian((image, 2): a list, had the bracket been closed */
            return true;
        }
    }
    for (const Token *t = c->first; t < c->found; t++) {
        if (t->silent && t->kind != T_NEWLINE) {
            return true;
        }
    }
    if (c->before->kind == T_CLOSE_BRACE && c->before->end == c->p->refused_end) { /* catch { ... }, while (...) */
        foreign_note_block(c, c->found);
        c->p->refused_end = 0;
        return true;
    }
    return c->found->silent || c->before->kind == T_INVALID;
}

static bool explain_else(const SyntaxCase *c)
{
    if (c->found->kind != T_ELSE || !c->at_start) {
        return false;
    }
    Diag *d = diag_add(c->p->diags, DIAG_STRAY_ELSE, syntax_place(c));
    syntax_help(c, d, "`else` follows the `}` of its `if`");
    return true;
}

static bool explain_leading(const SyntaxCase *c)
{
    int kind = c->found->kind;
    if (!c->at_start || !token_continues(kind) || kind == T_IF || kind == T_FOR) {
        return false;
    }
    const char *text = syntax_shown(c, c->found);
    Diag *d = diag_add(c->p->diags, DIAG_LEADING_OPERATOR, syntax_place(c), text);
    diag_help(c->p->diags, d, "to go on with the line above, end that line with `%s`", text);
    return true;
}

/* f(v, w) of a line that begins with fn. */
static const char *function_head(const SyntaxCase *c)
{
    const int n = c->before->end - c->first[1].begin;
    return arena_printf(c->p->arena, "%.*s", n < 60 ? n : 60, c->p->source->text + c->first[1].begin);
}

static bool explain_block(const SyntaxCase *c)
{
    int found = c->found->kind;
    bool filler = found == T_NAME && (syntax_is(c->found, "then") || syntax_is(c->found, "do") ||
                                      (c->first->kind == T_REPEAT && c->found[1].kind == T_ASSIGN));
    bool wanted = c->e->block && (found == T_NEWLINE || found == T_COLON || filler || c->before->kind == T_ELSE);
    bool colon = c->first->kind == T_FN && c->before->kind == T_COLON && (found == T_NEWLINE || found == T_RETURN);
    if (!wanted && !colon) {
        return false;
    }
    const char *what = c->first->kind == T_FN ? "`=` or `{`" : "`{`";
    Diag *d = diag_add(c->p->diags, DIAG_EXPECTED_BLOCK, syntax_place(c), what, describe(c, c->found));
    if (c->first->kind == T_FN && foreign_function(c) != NULL) {
        syntax_help(c, d, foreign_function(c));
    } else if (c->first->kind == T_FN && found == T_NEWLINE && c->before->kind == T_CLOSE &&
               c->first[1].kind == T_NAME) {
        diag_help(c->p->diags, d, "a function is written `fn %s { ... }` or `fn %s = ...`", function_head(c),
                  function_head(c));
    } else if (c->first->kind == T_REPEAT && found == T_NEWLINE && c->before->kind == T_NUMBER) {
        diag_help(c->p->diags, d, "what is repeated stands in braces: `repeat %s { ... }`", syntax_shown(c, c->before));
    } else if (colon || found == T_COLON || filler) {
        syntax_help(c, d, "statements that belong together stand in braces: `{ ... }`");
    }
    return true;
}

static bool explain_missing_else(const SyntaxCase *c)
{
    int found = c->found->kind;
    const Token *word = syntax_earlier(c, T_IF);
    if (!c->e->else_word || c->before->kind == T_CLOSE_BRACE || word == NULL ||
        (found != T_NEWLINE && found != T_COMMA && found != T_CLOSE && found != T_CLOSE_SQUARE && found != T_FOR &&
         found != T_AS)) {
        return false;
    }
    Span span = token_span(c->p->source, word);
    Diag *d = diag_add(c->p->diags, DIAG_MISSING_ELSE, span);
    diag_note(c->p->diags, d, syntax_place(c), "expected `else` and a value");
    syntax_help(c, d,
                "a choice has two values: `a if condition else 0`; of a sum or a mean leave values out with "
                "`value where condition`");
    return true;
}

/* range(3), or range(1, 4): what it is here, as text; NULL where its ends are no numbers. */
static const char *range_meant(const SyntaxCase *c, const Token *word)
{
    const Token *first = word + 2, *last = first + 2;
    if (first->kind == T_NUMBER && first[1].kind == T_CLOSE) {
        return arena_printf(c->p->arena, "0 .. %g", first->num - 1);
    }
    bool minus = first->kind == T_MINUS;
    first += minus;
    last += minus;
    bool two = first->kind == T_NUMBER && first[1].kind == T_COMMA && last->kind == T_NUMBER && last[1].kind == T_CLOSE;
    return two ? arena_printf(c->p->arena, "%g .. %g", minus ? -first->num : first->num, last->num - 1) : NULL;
}

/* range(...), or values one after the other, which is no range here; false where neither stands behind `in`. */
static bool explain_values(const SyntaxCase *c, const Token *in)
{
    const Token *value = in + 1;
    bool call = syntax_is(value, "range") && value[1].kind == T_OPEN;
    bool name = value->kind == T_NAME && value == c->before;
    bool tuple = value->kind == T_OPEN && c->before->kind == T_CLOSE;
    bool list = tuple || (value->kind == T_OPEN_SQUARE && c->before->kind == T_CLOSE_SQUARE);
    if (!call && !name && !list) {
        return false;
    }
    Span span = {c->p->source, value->begin, c->before->end};
    const char *text = arena_strndup(c->p->arena, c->p->source->text + span.begin, (size_t)(span.end - span.begin));
    Diag *d = diag_add(c->p->diags, DIAG_EXPECTED_RANGE, span, arena_printf(c->p->arena, "`%s`", text));
    const char *meant = call ? range_meant(c, value) : NULL;
    if (meant != NULL) {
        diag_help(c->p->diags, d, "write `%s`: both ends are included", meant);
    } else if (c->first->kind == T_PARAM) {
        diag_help(c->p->diags, d, "a range has two dots: `in %s`", syntax_range_of_two(c, value + 1, "1 .. 10"));
    } else if (name && foreign_over_pixels(c, in - 2) != NULL) {
        syntax_help(c, d, foreign_over_pixels(c, in - 2));
    } else if (list) {
        const char *all = foreign_listed(c, in - 2);
        diag_help(c->p->diags, d, "of a list take one after the other: %s",
                  all != NULL ? all : "pick(k, [2, 3, 5]) for k in 0 .. 2");
    } else {
        syntax_help(c, d, "a range has two dots, both ends included: `0 .. 2` is 0, 1, 2");
    }
    return true;
}

static bool explain_range(const SyntaxCase *c)
{
    const Token *in = syntax_earlier(c, T_IN);
    if (!c->e->range) {
        return false;
    }
    if (in != NULL && c->first->kind == T_PARAM && in[1].kind == T_STRING) { /* in "otsu", "li" */
        Span span = {c->p->source, in[1].begin, in[1].end};
        Diag *d = diag_add(c->p->diags, DIAG_EXPECTED_RANGE, span, "a string");
        Str list;
        str_init(&list, c->p->arena);
        for (const Token *t = in + 1; t->kind == T_STRING || t->kind == T_COMMA; t++) {
            str_addf(&list, t->kind == T_COMMA ? ", " : "%s", t->text);
        }
        diag_help(c->p->diags, d, "a param is one word of a list: `in [%s]`", list.at);
        return true;
    }
    if (in != NULL && explain_values(c, in)) {
        return true;
    }
    if (in != NULL && in[1].kind == T_NAME && in[2].kind == T_DOT) { /* np.linspace(1, 3, 5) */
        Span span = {c->p->source, in[1].begin, in[3].end};
        Diag *d = diag_add(c->p->diags, DIAG_EXPECTED_RANGE, span,
                           arena_printf(c->p->arena, "`%s.%s`", in[1].text, syntax_shown(c, in + 3)));
        syntax_help(c, d, "of values take one after the other: pick(k, [1, 2, 3]) for k in 0 .. 2");
        return true;
    }
    Diag *d = diag_add(c->p->diags, DIAG_EXPECTED_RANGE, syntax_place(c), describe(c, c->found));
    if (c->found->kind == T_COLON && c->before->kind == T_NUMBER && c->found[1].kind == T_NUMBER) {
        diag_help(c->p->diags, d, "a range has two dots: `%s .. %s`, both ends included", syntax_shown(c, c->before),
                  syntax_shown(c, c->found + 1));
    } else if (c->found->kind == T_COLON) {
        syntax_help(c, d, "a range has two dots: `lo .. hi`, both ends included");
    } else if (c->first->kind == T_PARAM) {
        diag_help(c->p->diags, d, "a range has two dots: `in %s`", syntax_range_of_two(c, c->found, "1 .. 10"));
    } else {
        syntax_help(c, d, "both ends are included: `0 .. 2` is 0, 1, 2");
    }
    return true;
}

static bool explain_until(const SyntaxCase *c)
{
    bool until = c->first->kind == T_REPEAT && c->first[1].kind == T_UNTIL;
    const char *what = c->e->is_word                 ? "`is stable, at most N`"
                       : c->before->kind == T_IS     ? "`stable`"
                       : c->before->kind == T_STABLE ? "`, at most N`"
                       : c->e->at_word               ? "`at most N`"
                                                     : NULL;
    if (!until || what == NULL) {
        return false;
    }
    Diag *d = diag_add(c->p->diags, DIAG_UNTIL_SHAPE, syntax_place(c), what, describe(c, c->found));
    syntax_help(c, d, "write `repeat until VALUE is stable, at most 100 { ... }`");
    return true;
}

/* output "cells.png", input "cells.tif" */
static void help_file_name(const SyntaxCase *c, Diag *d)
{
    const char *dot = strrchr(c->found->text, '.');
    bool known = dot != NULL && (strcmp(dot, ".png") == 0 || strcmp(dot, ".fits") == 0 || strcmp(dot, ".csv") == 0);
    if (c->before->kind == T_INPUT) {
        syntax_help(c, d, "an input has a name and axes; the run is given the file: `input image[y, x]`");
    } else {
        diag_help(c->p->diags, d, "files are named by the output's name: `output result = ...%s%s`",
                  known ? " as " : "", known ? dot + 1 : "");
    }
}

static bool explain_name(const SyntaxCase *c)
{
    int before = c->before->kind;
    bool declares = before == T_INPUT || before == T_PARAM || before == T_FN || before == T_FOR || before == T_OUTPUT;
    if (!declares || c->at_start) {
        return false;
    }
    Diag *d =
        diag_add(c->p->diags, DIAG_EXPECTED_NAME, syntax_place(c), syntax_shown(c, c->before), describe(c, c->found));
    if ((before == T_OUTPUT || before == T_INPUT) && c->found->kind == T_STRING) {
        help_file_name(c, d);
    } else if (before == T_OUTPUT && c->found->kind != T_NEWLINE) {
        syntax_help(c, d, "an output has a name: `output NAME` or `output NAME = ...`");
    }
    return true;
}

/* `output label(mask)`: a value without a name; `output a, b`: two at once. */
static bool explain_output(const SyntaxCase *c)
{
    bool value = c->e->assign && c->found->kind != T_NAME && c->found->kind != T_ASSIGN;
    if (c->first->kind != T_OUTPUT || c->found != c->first + 2 || !value) {
        return false;
    }
    const char *dashed = syntax_name_with_dash(c, c->before);
    if (c->found->kind == T_COMMA) {
        Diag *d = diag_add(c->p->diags, DIAG_EXPECTED_END, syntax_place(c), after(c), describe(c, c->found));
        syntax_help(c, d, "each output has a line of its own: `output NAME = ...`");
        return true;
    }
    if (c->found->kind == T_FACTOR && c->found[1].kind == T_NAME && syntax_is(c->found, "/")) { /* results/cells */
        Diag *d = diag_add(c->p->diags, DIAG_EXPECTED_NAME, syntax_place(c), "output", "`/`");
        diag_help(c->p->diags, d, "the run is told the folder, with -o: `output %s = ...`", c->found[1].text);
        return true;
    }
    if (c->found->kind == T_COMPARE && syntax_is(c->found, "<") && c->found[1].kind == T_MINUS) {
        Diag *d = diag_add(c->p->diags, DIAG_EXPECTED_NAME, syntax_place(c), "output", "`<-`");
        diag_help(c->p->diags, d, "a result gets its value with `=`: `output %s = ...`", c->before->text);
        return true;
    }
    if (c->found->kind == T_COMPARE && syntax_is(c->found, "==")) {
        Diag *d = diag_add(c->p->diags, DIAG_EXPECTED_NAME, syntax_place(c), "output", "`==`");
        diag_help(c->p->diags, d, "a result gets its value with `=`: `output %s = ...`", c->before->text);
        return true;
    }
    Span span = {c->p->source, c->before->begin, dashed != NULL ? c->found[1].end : c->found->end};
    Diag *d = diag_add(c->p->diags, DIAG_EXPECTED_NAME, span, "output", "an expression");
    if (dashed != NULL) {
        diag_help(c->p->diags, d, "a name has no `-`: `%s`", dashed);
    } else {
        const char *words = c->p->source->text + c->before->begin;
        const size_t n = strcspn(words, "\r\n#");
        diag_help(c->p->diags, d, "give the value a name: `output result = %.*s`", n <= 80 ? (int)n : 3,
                  n <= 80 ? words : "...");
    }
    return true;
}

static bool explain_axes(const SyntaxCase *c)
{
    if (c->first->kind != T_INPUT || c->found != c->first + 2) {
        return false;
    }
    const char *name = syntax_shown(c, c->before);
    Span span = token_span(c->p->source, c->before);
    Diag *d = diag_add(c->p->diags, DIAG_EXPECTED_AXES, span, name);
    const bool file = c->found->kind == T_ASSIGN && c->found[1].kind == T_STRING;
    diag_help(c->p->diags, d, "write `input %s[y, x]`%s%s", name,
              file ? "; the run is given the file: pipec run FILE.pipe " : "", file ? c->found[1].text : "");
    return true;
}

/* image > 3 and < 10 */
static void help_second_comparison(const SyntaxCase *c, Diag *d)
{
    const Token *left = c->before - 1;
    while (left > c->first && left->kind != T_COMPARE) {
        left--;
    }
    left--;
    const Token *right = c->found + 1;
    if (left > c->first && left->kind == T_NAME && token_ends_value(right->kind)) {
        diag_help(c->p->diags, d, "each comparison has two sides: `%.*s %s %s %s`", c->before->end - left->begin,
                  c->p->source->text + left->begin, left->text, c->found->text, syntax_shown(c, right));
    } else {
        syntax_help(c, d, "each comparison has two sides: `image > 3 and image < 9`");
    }
}

/* if image > 3 then 1 else 0, where a value is wanted. */
static void help_choice(const SyntaxCase *c, Diag *d)
{
    const Token *then = c->found, *other, *end;
    while (then->kind != T_NEWLINE && !syntax_is(then, "then") && !syntax_is(then, "THEN")) {
        then++;
    }
    other = then;
    while (other->kind != T_NEWLINE && other->kind != T_ELSE) {
        other++;
    }
    end = other;
    while (end->kind != T_NEWLINE && end->kind != T_END) {
        end++;
    }
    const char *text = c->p->source->text;
    if (other->kind != T_ELSE || end == other + 1 || end->begin - c->found->begin > 100) {
        syntax_help(c, d, "a choice is written `a if condition else b`");
        return;
    }
    diag_help(c->p->diags, d, "a choice is written `%.*s if %.*s else %.*s`", other[-1].end - then[1].begin,
              text + then[1].begin, then[-1].end - c->found[1].begin, text + c->found[1].begin,
              end[-1].end - other[1].begin, text + other[1].begin);
}

static void help_expression(const SyntaxCase *c, Diag *d)
{
    int found = c->found->kind;
    if (c->first->kind == T_REPEAT && found == T_WHILE) {
        syntax_help(c, d, "a number of rounds, or `repeat until VALUE is stable, at most 100 { ... }`");
    } else if (found == T_OPEN_BRACE && c->first->kind == T_FN) {
        syntax_help(c, d, "a function with a block has no `=`: `fn name(x) { ... }`");
    } else if (found == T_IF || found == T_WHERE) {
        help_choice(c, d);
    } else if (found == T_COLON && c->before->kind == T_OPEN && c->found[1].kind == T_CLOSE) {
        syntax_help(c, d, "all pixels are the image itself: leave `(:)` out");
    } else if (found == T_COLON && c->before->kind == T_ELSE) {
        syntax_help(c, d, "leave the `:` out");
    } else if (found == T_COLON) {
        syntax_help(c, d, SYNTAX_SLICES);
    } else if (found == T_ASSIGN && c->before->kind == T_COMPARE) {
        diag_help(c->p->diags, d, "there is no blank in `%s=`", syntax_shown(c, c->before));
    } else if (c->before->kind == found && (found == T_COMMA || found == T_PLUS)) {
        diag_help(c->p->diags, d, "leave one `%s` out", syntax_shown(c, c->found));
    } else if (c->before->kind == T_FACTOR && found == T_FACTOR && strcmp(c->before->text, c->found->text) == 0) {
        diag_help(c->p->diags, d, "there is no blank in `%s%s`", c->found->text, c->found->text);
    } else if ((c->before->kind == T_AND || c->before->kind == T_OR) && found == T_COMPARE) {
        help_second_comparison(c, d);
    } else if ((found == T_POWER || (found == T_FACTOR && syntax_is(c->found, "*"))) &&
               (c->before->kind == T_COMMA || c->before->kind == T_OPEN)) { /* f(v, *args) */
        syntax_help(c, d, "arguments are written one by one: `gaussian(image, sigma = 2)`");
    } else if (found == T_PLUS) {
        syntax_help(c, d, "a number without a sign is positive");
    } else if (found == T_NOT) {
        syntax_help(c, d, "put it into parentheses: `(not ...)`");
    } else if (found == T_FOR) {
        syntax_help(c, d, "`for` stands inside a call: `sum(image[dx = i] for i in 0 .. 2)`");
    } else if (found == T_FN) {
        syntax_help(c, d, "functions are declared on lines of their own");
    } else if (syntax_foreign_comment_sign(c) != NULL) {
        syntax_help_comment(c, d);
    }
}

static bool explain_expression(const SyntaxCase *c)
{
    if (!c->e->expression || c->e->after_value) {
        return false;
    }
    Diag *d = diag_add(c->p->diags, DIAG_EXPECTED_EXPRESSION, syntax_place(c), after(c), describe(c, c->found));
    help_expression(c, d);
    return true;
}

static bool explain_end(const SyntaxCase *c)
{
    if (!c->e->end) {
        return false;
    }
    Diag *d = diag_add(c->p->diags, DIAG_EXPECTED_END, syntax_place(c), after(c), describe(c, c->found));
    syntax_help_surplus(c, d);
    return true;
}

/* "`,` or `)` after `x`": all that could have been, in words. */
static const char *expectations(const SyntaxCase *c)
{
    const struct {
        bool wanted;
        const char *text;
    } all[] = {
        {c->e->name && !c->e->expression, "a name"},
        {c->e->in_word, "`in`"},
        {c->e->assign && !c->e->after_value, "`=`"},
        {c->e->open && !c->e->after_value && !c->e->expression, "`(`"},
        {c->e->comma, "`,`"},
        {c->e->close, "`)`"},
        {c->e->close_square, "`]`"},
        {c->e->block, "`{`"},
    };
    const char *texts[sizeof all / sizeof *all];
    int n = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (all[i].wanted) {
            texts[n++] = all[i].text;
        }
    }
    Str out;
    str_init(&out, c->p->arena);
    for (int i = 0; i < n; i++) {
        str_addf(&out, "%s%s", i == 0 ? "" : i == n - 1 ? " or " : ", ", texts[i]);
    }
    str_addf(&out, "%s%s", n == 0 ? "something else" : "", after(c));
    return out.at;
}

static bool explain_rest(const SyntaxCase *c)
{
    Diag *d = diag_add(c->p->diags, DIAG_UNEXPECTED, syntax_place(c), expectations(c), describe(c, c->found));
    if (c->first->kind == T_FN && c->e->open) {
        Str names;
        str_init(&names, c->p->arena);
        for (const Token *t = c->found; t->kind == T_NAME || t->kind == T_COMMA; t++) {
            str_add(&names, t->kind == T_COMMA ? ", " : t->text);
        }
        diag_help(c->p->diags, d, "the parameters stand in parentheses: `fn %s(%s) = ...`",
                  c->before->kind == T_NAME ? c->before->text : "name", names.n > 0 ? names.at : "x");
    } else if (c->e->in_word) {
        syntax_help(c, d, "a range is written `for i in lo .. hi`");
    } else {
        syntax_help_surplus(c, d);
    }
    return true;
}

static bool (*const explanations[])(const SyntaxCase *) = {
    foreign_print,       told_already,    foreign_unnamed,    foreign_at,        foreign_loop,         foreign_ternary,
    explain_else,        foreign_comment, explain_leading,    foreign_statement, foreign_number,       foreign_word,
    foreign_typed_input, explain_until,   explain_range,      explain_block,     explain_missing_else, explain_name,
    explain_output,      explain_axes,    explain_expression, explain_end,       explain_rest,
};

/* The first token of the statement that the token at `at` belongs to. */
static int statement_start(const Parser *p, int at)
{
    while (at > 0 && p->tokens[at - 1].kind != T_NEWLINE && p->tokens[at - 1].kind != T_OPEN_BRACE) {
        at--;
    }
    return at;
}

void syntax_note_name(const Parser *p, const Token *name)
{
    AstName *broken = arena_new(p->arena, AstName);
    *broken = (AstName){.name = name->text, .next = p->file->broken};
    p->file->broken = broken;
}

/* The names that a statement gives, which others may use though this one is not understood. */
static void note_names(const SyntaxCase *c)
{
    int kind = c->first->kind;
    bool word = kind == T_NAME && c->first[1].kind == T_NAME; /* def f, let x */
    bool declares = word || kind == T_INPUT || kind == T_PARAM || kind == T_FN || kind == T_OUTPUT;
    if (declares && c->first[1].kind == T_NAME) {
        syntax_note_name(c->p, c->first + 1);
    }
    if (word && c->first[2].kind == T_ASSIGN && c->first[3].kind == T_NAME) { /* function y = f(x) */
        syntax_note_name(c->p, c->first + 3);
    }
    if (c->found->kind == T_COLON && c->found->silent && c->found[1].kind == T_NAME) { /* value -> name */
        syntax_note_name(c->p, c->found + 1);
    }
    if (kind == T_INPUT && (c->first[1].kind != T_NAME || c->found->kind == T_COMMA)) {
        c->p->file->incomplete = true;
    }
    if (c->found->kind == T_OPEN_BRACE) {
        foreign_note_block(c, c->found);
    }
    if (kind == T_PARAM && syntax_name_with_dash(c, c->first + 1) != NULL) {
        syntax_note_name(c->p, c->first + 3);
    }
    if (kind == T_NAME && c->found == c->first + 1 && c->found->kind == T_COLON) { /* sigma: float = 2 */
        syntax_note_name(c->p, c->first);
    }
    for (const Token *t = syntax_first_name(c), *last = syntax_names_before_assign(c); last != NULL && t <= last;
         t += 2) {
        syntax_note_name(c->p, t);
    }
    bool typed = kind == T_PARAM && c->found == c->first + 2 && c->found->kind == T_NAME;       /* param float sigma */
    bool function = kind == T_NAME && c->first[1].kind == T_OPEN && c->found->kind == T_ASSIGN; /* f(v) = v * 2 */
    if (syntax_joins_lines(c) != NULL || typed || function) {
        syntax_note_name(c->p, typed ? c->found : function ? c->first : c->before);
    }
}

void fe_syntax_error(Parser *parser, const Expected *expected)
{
    SyntaxCase c = {.p = parser, .e = expected};
    int first = statement_start(parser, parser->found);
    c.found = &parser->tokens[parser->found];
    c.first = &parser->tokens[first];
    c.before = c.found - 1;
    c.at_start = parser->found == first;
    note_names(&c);
    if (foreign_header(parser, first)) {
        parser->header = first;
    }
    for (size_t i = 0; i < sizeof explanations / sizeof *explanations; i++) {
        if (explanations[i](&c)) {
            return;
        }
    }
}
