/*
 * syntax: says in plain words why the grammar cannot go on.
 *
 * The parser knows what it could have taken and what it found.  That is turned into one message
 * by a list of explanations, the most particular first; each looks at the tokens around the
 * place and either takes the case or leaves it to the next.  The last one takes everything.
 */
#include "tokens.h"
#include "parse.h"

#include <string.h>

typedef struct Case {
    Parser *p;
    const Expected *e;
    const Token *found, *before; /* before: an empty NEWLINE at the beginning of the file */
    const Token *first;          /* of the statement */
    bool at_start;               /* found is the first */
} Case;

/* ---- words for tokens ---- */

static const char *shown(const Case *c, const Token *token)
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

static const char *describe(const Case *c, const Token *token)
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
    return arena_printf(c->p->arena, "%s`%s`", kind, shown(c, token));
}

/* " after `x`", or nothing at the beginning of a statement. */
static const char *after(const Case *c)
{
    if (c->at_start) {
        return "";
    }
    return arena_printf(c->p->arena, " after %s", describe(c, c->before));
}

/* The found token; the end of a line shows right behind the last token, not behind a comment. */
static Span place(const Case *c)
{
    if (c->found->kind == T_NEWLINE) {
        return (Span){c->p->source, c->before->end, c->before->end};
    }
    return token_span(c->p->source, c->found);
}

static bool names_word(const Token *token, const char *text)
{
    return token->text != NULL && strcmp(token->text, text) == 0;
}

/* The nearest token of this kind before the found one, in the same brackets, or NULL. */
static const Token *earlier(const Case *c, int kind)
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

static void help(const Case *c, Diag *d, const char *text)
{
    diag_help(c->p->diags, d, "%s", text);
}

static bool is_decimal_comma(const Case *c)
{
    const Token *next = c->found + 1;
    return c->found->kind == T_COMMA && c->before->kind == T_NUMBER && next->kind == T_NUMBER &&
           next->begin == c->found->end;
}

static bool lacks_multiplication(const Case *c)
{
    int found = c->found->kind;
    return (c->before->kind == T_NUMBER || c->before->kind == T_CLOSE) &&
           (found == T_NAME || found == T_NUMBER || found == T_OPEN);
}

static bool has_foreign_comment(const Case *c)
{
    for (const Token *t = c->first; t < c->found; t++) {
        if (t->kind == T_FACTOR && strcmp(t->text, "//") == 0) {
            return true;
        }
    }
    return false;
}

/* The operator at the end of a line because of which NAME = on the next one goes on with it; NULL: none. */
static const Token *joins_lines(const Case *c)
{
    const Token *operator= c->before - 1;
    bool named = c->found->kind == T_ASSIGN && c->before->kind == T_NAME;
    if (!named || operator<c->first || !token_continues(operator->kind)) {
        return NULL;
    }
    const char *between = c->p->source->text + operator->end;
    return memchr(between, '\n', (size_t)(c->before->begin - operator->end)) != NULL ? operator: NULL;
}

static void help_assign(const Case *c, Diag *d)
{
    int second = c->first[1].kind;
    const Token *operator= joins_lines(c);
    if (operator!= NULL) {
        diag_help(c->p->diags, d, "the line above goes on here, for it ends with `%s`", shown(c, operator));
    } else if (c->first->kind == T_NAME && second == T_OPEN) {
        diag_help(c->p->diags, d, "a function is declared with `fn`: `fn %s(...) = ...`", shown(c, c->first));
    } else if (c->first->kind == T_NAME && (second == T_OPEN_SQUARE || second == T_DOT)) {
        help(c, d, "only a whole name is given a value: `name = ...`");
    } else {
        help(c, d, "a statement gives one value to one name; a comparison is `==`");
    }
}

/* The last of the names in NAME, NAME = ...; NULL: the statement does not begin so. */
static const Token *names_before_assign(const Case *c)
{
    const Token *t = c->first;
    while (t->kind == T_NAME && t[1].kind == T_COMMA) {
        t += 2;
    }
    return t->kind == T_NAME && t[1].kind == T_ASSIGN ? t : NULL;
}

/* What to do about something that does not belong behind a value. */
static void help_surplus(const Case *c, Diag *d)
{
    if (is_decimal_comma(c)) {
        diag_help(c->p->diags, d, "decimals are written with a point: `%s.%s`", shown(c, c->before),
                  shown(c, c->found + 1));
    } else if (has_foreign_comment(c)) {
        help(c, d, "a comment starts with `#`; `//` divides and rounds down");
    } else if (lacks_multiplication(c)) {
        help(c, d, "multiplication is written `*`");
    } else if (c->found->kind == T_ASSIGN) {
        help_assign(c, d);
    } else if (c->found->kind == T_FOR && earlier(c, T_FOR) != NULL) {
        help(c, d, "ranges are separated by commas: `for j in -1 .. 1, i in -1 .. 1`");
    } else if (c->found->kind == T_FOR) {
        help(c, d, "`for` stands inside a call: `sum(v[dx = i] for i in -1 .. 1)`");
    } else if (c->found->kind == T_IF && earlier(c, T_FOR) != NULL) {
        help(c, d, "a condition on the indices is written `where`");
    } else if (c->found->kind == T_COLON && c->first->kind == T_NAME) {
        help(c, d, "a value has no declared type, only inputs and the parameters of functions");
    } else if (c->found->kind == T_COMMA && c->before == c->first && names_before_assign(c) != NULL) {
        help(c, d, "a statement gives one value to one name");
    } else if (c->found->kind == T_COMMA && c->e->close) {
        help(c, d, "several results have names: `(mean = a, std = b)`; a list is `[a, b]`");
    }
}

/* ---- explanations: true when taken ---- */

static bool told_already(const Case *c)
{
    return c->found->silent || c->before->kind == T_INVALID;
}

static bool explain_else(const Case *c)
{
    if (c->found->kind != T_ELSE || !c->at_start) {
        return false;
    }
    Diag *d = diag_add(c->p->diags, DIAG_STRAY_ELSE, place(c));
    help(c, d, "`else` follows the `}` of its `if`");
    return true;
}

static bool explain_leading(const Case *c)
{
    int kind = c->found->kind;
    if (!c->at_start || !token_continues(kind) || kind == T_IF || kind == T_FOR) {
        return false;
    }
    const char *text = shown(c, c->found);
    Diag *d = diag_add(c->p->diags, DIAG_LEADING_OPERATOR, place(c), text);
    diag_help(c->p->diags, d, "to go on with the line above, end that line with `%s`", text);
    return true;
}

/* What others write before a dot to say which package an operator is of. */
static const char *const modules[] = {
    "np",         "numpy",         "cp",      "cupy",     "cupyx",        "xp",        "math",
    "cle",        "pyclesperanto", "scipy",   "scp",      "ndi",          "ndimage",   "signal",
    "special",    "stats",         "skimage", "sk",       "ski",          "filters",   "measure",
    "morphology", "segmentation",  "feature", "exposure", "restoration",  "transform", "rank",
    "util",       "color",         "draw",    "metrics",  "registration", "astropy",   "cv",
    "cv2",        "torch",         "da",      "cucim",    "convolution",
};

/* Whether the file gives the name a meaning of its own. */
static bool is_given_here(const Case *c, const char *name)
{
    for (const Token *t = c->p->tokens; t < c->found; t++) {
        bool declared = t > c->p->tokens && (t[-1].kind == T_INPUT || t[-1].kind == T_PARAM);
        if (t->kind == T_NAME && names_word(t, name) && (declared || t[1].kind == T_ASSIGN)) {
            return true;
        }
    }
    return false;
}

/* Whether the dot behind `owner`, the last of a chain of names, is that of a module. */
static bool is_module(const Case *c, const Token *owner)
{
    while (owner - 2 >= c->first && owner[-1].kind == T_DOT && owner[-2].kind == T_NAME) {
        owner -= 2;
    }
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++) {
        if (owner->kind == T_NAME && names_word(owner, modules[i])) {
            return !is_given_here(c, modules[i]);
        }
    }
    return false;
}

/* The call whose bracket was found, as it is written, if that is short. */
static const char *call_text(const Case *c)
{
    const Token *end = c->found;
    for (int depth = 0; end->kind != T_NEWLINE && end->kind != T_END; end++) {
        depth += (end->kind == T_OPEN) - (end->kind == T_CLOSE);
        if (depth == 0) {
            break;
        }
    }
    int begin = c->before->begin, n = end->end - begin;
    const char *text = c->p->source->text + begin;
    bool whole = end->kind == T_CLOSE && n <= 80 && memchr(text, '\n', (size_t)n) == NULL;
    return whole ? arena_strndup(c->p->arena, text, (size_t)n)
                 : arena_printf(c->p->arena, "%s(...)", shown(c, c->before));
}

/* np.median(stack, axis = 0): what is to be written has another name. */
static bool is_along_axis(const Case *c)
{
    const Token *t = c->found + 1;
    for (int depth = 1; depth > 0 && t->kind != T_NEWLINE && t->kind != T_END; t++) {
        depth += (t->kind == T_OPEN) - (t->kind == T_CLOSE);
        if (depth == 1 && names_word(t, "axis") && t[1].kind == T_ASSIGN) {
            return true;
        }
    }
    return false;
}

static void help_for_module(const Case *c, Diag *d, const char *name)
{
    static const char *const reductions[] = {"sum", "min", "max", "mean", "std", "median", "argmax"};
    const char *of = strncmp(name, "nan", 3) == 0 ? name + 3 : name;
    diag_help(c->p->diags, d, "write `%s` without the module", call_text(c));
    for (size_t i = 0; i < sizeof reductions / sizeof *reductions; i++) {
        if (strcmp(of, reductions[i]) == 0 && is_along_axis(c)) {
            diag_help(c->p->diags, d,
                      "along an axis it is %s_project(image, z), or x or y: numpy's axis 0 is "
                      "z of a stack",
                      of);
        }
    }
}

static bool explain_method(const Case *c)
{
    if (c->found->kind != T_OPEN || c->before->kind != T_NAME || c->before - 1 <= c->first ||
        c->before[-1].kind != T_DOT) {
        return false;
    }
    const char *name = shown(c, c->before);
    Span span = {c->p->source, c->before[-1].begin, c->before->end};
    Diag *d = diag_add(c->p->diags, DIAG_METHOD_CALL, span, name);
    const char *owner = shown(c, c->before - 2);
    if (strcmp(name, "where") == 0) {
        help(c, d, "a choice is written `a if mask else b`");
        return true;
    }
    if (is_module(c, c->before - 2)) {
        help_for_module(c, d, name);
    } else if (strcmp(name, "astype") == 0) {
        diag_help(c->p->diags, d, "a type is an operator: u8(%s), u16, f32 and so on",
                  c->before[-2].kind == T_NAME ? owner : "...");
    } else if (c->before[-2].kind == T_NAME && c->found[1].kind == T_CLOSE) {
        diag_help(c->p->diags, d, "write `%s(%s)`", name, owner);
    } else if (c->before[-2].kind != T_NAME) {
        diag_help(c->p->diags, d, "write `%s(...)`", name);
    } else {
        diag_help(c->p->diags, d, "write `%s(%s, ...)`", name, owner);
    }
    return true;
}

/* Words that begin statements elsewhere. */
static const struct {
    const char *word, *help;
} foreign_words[] = {
    {"def", "a function is written `fn name(x) = ...` or `fn name(x) { ... }`"},
    {"func", "a function is written `fn name(x) = ...` or `fn name(x) { ... }`"},
    {"function", "a function is written `fn name(x) = ...` or `fn name(x) { ... }`"},
    {"let", "a value gets its name with `name = ...` alone"},
    {"var", "a value gets its name with `name = ...` alone"},
    {"const", "a value gets its name with `name = ...` alone"},
    {"int", "a value gets its name with `name = ...` alone"},
    {"float", "a value gets its name with `name = ...` alone"},
    {"double", "a value gets its name with `name = ...` alone"},
    {"image", "a value gets its name with `name = ...` alone"},
    {"elif", "write `else if`"},
    {"elsif", "write `else if`"},
    {"elseif", "write `else if`"},
    {"foreach", "write `for i in lo .. hi { ... }`"},
    {"loop", "write `repeat n { ... }`"},
    {"do", "write `repeat n { ... }`"},
    {"import", "there is nothing to import: all operators are at hand"},
    {"from", "there is nothing to import: all operators are at hand"},
    {"include", "there is nothing to import: all operators are at hand"},
    {"print", "results are shown with `output`"},
    {"write", "results are written with `output`"},
    {"save", "results are written with `output`"},
    {"export", "results are written with `output`"},
};

static const char *foreign_help(const Token *word)
{
    for (size_t i = 0; i < sizeof foreign_words / sizeof *foreign_words; i++) {
        if (word->kind == T_NAME && names_word(word, foreign_words[i].word)) {
            return foreign_words[i].help;
        }
    }
    return NULL;
}

static bool explain_unknown_statement(const Case *c)
{
    static const char *const words[] = {"input", "param", "output", "fn", "repeat", "if", "for", "while", "return"};
    const Token *word = c->before->kind == T_CLOSE_BRACE ? c->found : c->first;
    if (word->kind != T_NAME || c->found - word > 1) {
        return false;
    }
    const char *text = foreign_help(word);
    if (text == NULL && c->found->kind == T_NAME && word == c->first) {
        const char *near = fe_nearest(word->text, words, sizeof words / sizeof *words);
        text = near == NULL ? NULL : arena_printf(c->p->arena, "did you mean `%s`?", near);
    }
    if (text == NULL || c->found->kind == T_ASSIGN) {
        return false;
    }
    Span span = token_span(c->p->source, word);
    Diag *d = diag_add(c->p->diags, DIAG_UNKNOWN_STATEMENT, span, shown(c, word));
    help(c, d, text);
    return true;
}

static bool explain_block(const Case *c)
{
    int found = c->found->kind;
    bool filler = found == T_NAME && (names_word(c->found, "then") || names_word(c->found, "do"));
    bool wanted = c->e->block && (found == T_NEWLINE || found == T_COLON || filler || c->before->kind == T_ELSE);
    bool colon = c->first->kind == T_FN && c->before->kind == T_COLON && found == T_NEWLINE;
    if (!wanted && !colon) {
        return false;
    }
    const char *what = c->first->kind == T_FN ? "`=` or `{`" : "`{`";
    Diag *d = diag_add(c->p->diags, DIAG_EXPECTED_BLOCK, place(c), what, describe(c, c->found));
    if (colon || found == T_COLON || filler) {
        help(c, d, "statements that belong together stand in braces: `{ ... }`");
    }
    return true;
}

static bool explain_missing_else(const Case *c)
{
    int found = c->found->kind;
    const Token *word = earlier(c, T_IF);
    if (!c->e->else_word || c->before->kind == T_CLOSE_BRACE || word == NULL ||
        (found != T_NEWLINE && found != T_COMMA && found != T_CLOSE && found != T_CLOSE_SQUARE && found != T_FOR &&
         found != T_AS)) {
        return false;
    }
    Span span = token_span(c->p->source, word);
    Diag *d = diag_add(c->p->diags, DIAG_MISSING_ELSE, span);
    diag_note(c->p->diags, d, place(c), "expected `else` and a value");
    help(c, d, "to leave values out of a reduction, write `value where condition`");
    return true;
}

static bool explain_range(const Case *c)
{
    if (!c->e->range) {
        return false;
    }
    Diag *d = diag_add(c->p->diags, DIAG_EXPECTED_RANGE, place(c), describe(c, c->found));
    if (c->found->kind == T_COLON) {
        help(c, d, "a range has two dots: `lo .. hi`, both ends included");
    } else if (c->before->kind == T_CLOSE_SQUARE) {
        help(c, d, "of a list take one after the other: pick(k, [2, 3, 5]) for k in 0 .. 2");
    } else {
        help(c, d, "both ends are included: `0 .. 2` is 0, 1, 2");
    }
    return true;
}

static bool explain_until(const Case *c)
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
    Diag *d = diag_add(c->p->diags, DIAG_UNTIL_SHAPE, place(c), what, describe(c, c->found));
    help(c, d, "write `repeat until VALUE is stable, at most 100 { ... }`");
    return true;
}

static bool explain_name(const Case *c)
{
    int before = c->before->kind;
    bool declares = before == T_INPUT || before == T_PARAM || before == T_FN || before == T_FOR || before == T_OUTPUT;
    if (!declares || c->at_start) {
        return false;
    }
    Diag *d = diag_add(c->p->diags, DIAG_EXPECTED_NAME, place(c), shown(c, c->before), describe(c, c->found));
    if (before == T_OUTPUT && c->found->kind != T_NEWLINE) {
        help(c, d, "an output has a name: `output NAME` or `output NAME = ...`");
    }
    return true;
}

/* `output label(mask)`: a value without a name. */
static bool explain_output(const Case *c)
{
    bool value = c->e->assign && c->found->kind != T_NAME && c->found->kind != T_ASSIGN;
    if (c->first->kind != T_OUTPUT || c->found != c->first + 2 || !value) {
        return false;
    }
    Span span = {c->p->source, c->before->begin, c->found->end};
    Diag *d = diag_add(c->p->diags, DIAG_EXPECTED_NAME, span, "output", "an expression");
    help(c, d, "give the value a name: `output NAME = ...`");
    return true;
}

static bool explain_axes(const Case *c)
{
    if (c->first->kind != T_INPUT || c->found != c->first + 2) {
        return false;
    }
    const char *name = shown(c, c->before);
    Span span = token_span(c->p->source, c->before);
    Diag *d = diag_add(c->p->diags, DIAG_EXPECTED_AXES, span, name);
    diag_help(c->p->diags, d, "write `input %s[y, x]`", name);
    return true;
}

static const char SLICES[] =
    "a part is crop(image, x, y, width = 10, height = 10), a channel image[c = 1], a plane image[z = 1]";

static void help_expression(const Case *c, Diag *d)
{
    int found = c->found->kind;
    if (found == T_OPEN_BRACE && c->first->kind == T_FN) {
        help(c, d, "a function with a block has no `=`: `fn name(x) { ... }`");
    } else if (found == T_IF || found == T_WHERE) {
        help(c, d, "a choice is written `a if condition else b`");
    } else if (found == T_COLON) {
        help(c, d, SLICES);
    } else if (found == T_PLUS) {
        help(c, d, "a number without a sign is positive");
    } else if (found == T_NOT) {
        help(c, d, "put it into parentheses: `(not ...)`");
    } else if (found == T_FN) {
        help(c, d, "functions are declared on lines of their own");
    } else if (has_foreign_comment(c)) {
        help(c, d, "a comment starts with `#`; `//` divides and rounds down");
    }
}

static bool explain_expression(const Case *c)
{
    if (!c->e->expression || c->e->after_value) {
        return false;
    }
    Diag *d = diag_add(c->p->diags, DIAG_EXPECTED_EXPRESSION, place(c), after(c), describe(c, c->found));
    help_expression(c, d);
    return true;
}

static bool explain_end(const Case *c)
{
    if (!c->e->end) {
        return false;
    }
    Diag *d = diag_add(c->p->diags, DIAG_EXPECTED_END, place(c), after(c), describe(c, c->found));
    help_surplus(c, d);
    return true;
}

/* "`,` or `)` after `x`": all that could have been, in words. */
static const char *expectations(const Case *c)
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

static bool explain_rest(const Case *c)
{
    Diag *d = diag_add(c->p->diags, DIAG_UNEXPECTED, place(c), expectations(c), describe(c, c->found));
    if (c->first->kind == T_FN && c->e->open) {
        help(c, d, "the parameters stand in parentheses: `fn name(x) = ...`");
    } else if (c->e->in_word) {
        help(c, d, "a range is written `for i in lo .. hi`");
    } else if (c->found->kind == T_COLON && c->e->close_square) {
        help(c, d, SLICES);
    } else {
        help_surplus(c, d);
    }
    return true;
}

static bool (*const explanations[])(const Case *) = {
    told_already,   explain_else,  explain_leading,    explain_method,       explain_unknown_statement,
    explain_until,  explain_range, explain_block,      explain_missing_else, explain_name,
    explain_output, explain_axes,  explain_expression, explain_end,          explain_rest,
};

/* The first token of the statement that the token at `at` belongs to. */
static int statement_start(const Parser *p, int at)
{
    while (at > 0 && p->tokens[at - 1].kind != T_NEWLINE && p->tokens[at - 1].kind != T_OPEN_BRACE) {
        at--;
    }
    return at;
}

static void note_name(const Case *c, const Token *name)
{
    AstName *broken = arena_new(c->p->arena, AstName);
    *broken = (AstName){.name = name->text, .next = c->p->file->broken};
    c->p->file->broken = broken;
}

/* The names that a statement gives, which others may use though this one is not understood. */
static void note_names(const Case *c)
{
    int kind = c->first->kind;
    bool word = kind == T_NAME && c->first[1].kind == T_NAME; /* def f, let x */
    bool declares = word || kind == T_INPUT || kind == T_PARAM || kind == T_FN || kind == T_OUTPUT;
    if (declares && c->first[1].kind == T_NAME) {
        note_name(c, c->first + 1);
    }
    for (const Token *t = c->first, *last = names_before_assign(c); last != NULL && t <= last; t += 2) {
        note_name(c, t);
    }
    if (joins_lines(c) != NULL) {
        note_name(c, c->before);
    }
}

void fe_syntax_error(Parser *parser, const Expected *expected)
{
    static const Token nothing = {.kind = T_NEWLINE, .text = ""};
    Case c = {.p = parser, .e = expected};
    int first = statement_start(parser, parser->found);
    c.found = &parser->tokens[parser->found];
    c.first = &parser->tokens[first];
    c.before = parser->found == 0 ? &nothing : c.found - 1;
    c.at_start = parser->found == first;
    note_names(&c);
    for (size_t i = 0; i < sizeof explanations / sizeof *explanations; i++) {
        if (explanations[i](&c)) {
            return;
        }
    }
}
