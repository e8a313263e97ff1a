/*
 * surplus: what to do about something that does not belong where it stands: behind a value, or in a declaration.
 */
#include "syntax.h"
#include "parse.h"

#include <string.h>

static bool is_decimal_comma(const SyntaxCase *c)
{
    const Token *next = c->found + 1;
    return c->found->kind == T_COMMA && c->before->kind == T_NUMBER && next->kind == T_NUMBER &&
           next->begin == c->found->end;
}

static bool lacks_multiplication(const SyntaxCase *c)
{
    int found = c->found->kind;
    bool value = c->before->kind == T_NUMBER || c->before->kind == T_CLOSE ||
                 (found == T_NUMBER && c->before->kind == T_NAME && foreign_is_given(c, c->before->text));
    return !c->e->block && value && (found == T_NAME || found == T_NUMBER || found == T_OPEN);
}

/* 1, 10 as "1 .. 10", the first of them at a token; else `usual`. */
const char *syntax_range_of_two(const SyntaxCase *c, const Token *lo, const char *usual)
{
    bool two = lo->kind == T_NUMBER && lo[1].kind == T_COMMA && lo[2].kind == T_NUMBER;
    return two ? arena_printf(c->p->arena, "%s .. %s", syntax_shown(c, lo), syntax_shown(c, lo + 2)) : usual;
}

/* param sigma in 1 .. 10 = 2, in order; NULL: it is not that. */
static const char *param_backwards(const SyntaxCase *c)
{
    const Token *lo = c->found + 1, *hi = lo + 2, *value = hi + 2;
    bool is = lo->kind == T_NUMBER && lo[1].kind == T_RANGE && hi->kind == T_NUMBER && hi[1].kind == T_ASSIGN &&
              value->kind == T_NUMBER;
    return is ? arena_printf(c->p->arena, "param %s = %s in %s .. %s", c->before->text, syntax_shown(c, value),
                             syntax_shown(c, lo), syntax_shown(c, hi))
              : NULL;
}

/* my-mask: a name that would be a difference; NULL otherwise. */
const char *syntax_name_with_dash(const SyntaxCase *c, const Token *name)
{
    bool dash = name->kind == T_NAME && name[1].kind == T_MINUS && name[2].kind == T_NAME &&
                name->end == name[1].begin && name[1].end == name[2].begin;
    return dash ? arena_printf(c->p->arena, "%s_%s", name->text, name[2].text) : NULL;
}

/* param int n = 3 in 1 .. 5, param n: 3 in 1 .. 5. */
static void help_param(const SyntaxCase *c, Diag *d)
{
    const Token *value = c->found, *range;
    while (value->kind != T_NUMBER && value->kind != T_NEWLINE && value->kind != T_END) {
        value++;
    }
    range = value + (c->found->kind == T_IN ? -1 : 1); /* param n in 1 .. 5: its lowest value */
    const char *dashed = syntax_name_with_dash(c, c->first + 1);
    const Token *word = c->found + 2;
    if (dashed != NULL) {
        diag_help(c->p->diags, d, "a name has no `-`: `%s`; on the command line it may have one", dashed);
        return;
    }
    if (c->found->kind == T_IN && word[-1].kind == T_OPEN_SQUARE && word->kind == T_NAME) { /* param m in [otsu, li] */
        const char *list = c->p->source->text + word[-1].begin;
        const size_t n = strcspn(list, "]\r\n");
        diag_help(c->p->diags, d, "write `param %s = %s in %.*s]`", c->before->text, word->text, (int)n, list);
        return;
    }
    const bool ranged = value->kind == T_NUMBER && range->kind == T_IN && range[1].kind == T_NUMBER &&
                        range[2].kind == T_RANGE && range[3].kind == T_NUMBER;
    diag_help(c->p->diags, d, "write `param %s = %s in %s .. %s`",
              syntax_shown(c, c->found->kind == T_NAME ? c->found : c->first + 1),
              value->kind == T_NUMBER ? syntax_shown(c, value) : "2.0", ranged ? syntax_shown(c, range + 1) : "0.1",
              ranged ? syntax_shown(c, range + 3) : "50");
}

/* What is odd about an input or a param, or behind `as`. */
static bool help_declaration(const SyntaxCase *c, Diag *d)
{
    const int first = c->first->kind, found = c->found->kind;
    if (first == T_INPUT && found == T_ASSIGN) {
        syntax_help(c, d, "the run is given the file: pipec run FILE.pipe IMAGE");
    } else if (first == T_PARAM && found == T_RANGE && c->before->kind == T_NUMBER && c->found[1].kind == T_NUMBER) {
        const char *lo = syntax_shown(c, c->before);
        diag_help(c->p->diags, d, "a default stands in front of the range: `%s in %s .. %s`", lo, lo,
                  syntax_shown(c, c->found + 1));
    } else if (first == T_INPUT && found == T_OPEN_SQUARE && c->before->kind == T_CLOSE_SQUARE) {
        syntax_help(c, d, "axes stand in one pair of brackets: `input image[y, x]`");
    } else if (first == T_INPUT && found == T_COLON && c->e->close_square) {
        syntax_help(c, d, "axes are separated by commas: `input image[y, x]`");
    } else if (first == T_INPUT && c->before->kind == T_OPEN_SQUARE && found != T_NUMBER) {
        syntax_help(c, d, "axes have names: `input image[y, x]`");
    } else if (first == T_PARAM && found == T_OPEN && c->found[1].kind == T_NUMBER && c->before->kind == T_NUMBER) {
        diag_help(c->p->diags, d, "a range stands behind `in`: `param %s = %s in %s`", syntax_shown(c, c->first + 1),
                  syntax_shown(c, c->before), syntax_range_of_two(c, c->found + 1, "1 .. 10"));
    } else if (first == T_PARAM && found == T_OPEN_SQUARE && c->before == c->first + 1) {
        diag_help(c->p->diags, d, "an image is an input: `input %s[y, x]`", c->before->text);
    } else if (c->before->kind == T_AS && found == T_OPEN_SQUARE) {
        syntax_help(c, d, "the run names the files, after the image and the output; a format is a word: `as tif`");
    } else if (first == T_INPUT && found == T_COMMA) {
        syntax_help(c, d, "each input has a line of its own");
    } else if (first == T_INPUT && found == T_AS) {
        syntax_help(c, d, "a type follows `:`, as in `input image[y, x] : u16`");
    } else if (first == T_INPUT && found == T_NUMBER) {
        syntax_help(c, d, "axes have names, and files tell how long they are: `input image[y, x]`");
    } else if (first == T_PARAM && found == T_IN && param_backwards(c) != NULL) {
        diag_help(c->p->diags, d, "write `%s`", param_backwards(c));
    } else if (first == T_PARAM && c->e->assign) {
        help_param(c, d);
    } else if (first == T_PARAM && found == T_COMMA && syntax_earlier(c, T_IN) == NULL) {
        diag_help(c->p->diags, d, "a range has two dots: `in %s`",
                  syntax_range_of_two(c, c->before[-1].kind == T_OPEN ? c->before : c->found + 1, "1 .. 10"));
    } else if (c->before->kind == T_AS && found == T_DOT && c->found[1].kind == T_NAME) {
        diag_help(c->p->diags, d, "formats are words without a point: `as %s`", c->found[1].text);
    } else if (c->before->kind == T_AS && found == T_STRING) {
        diag_help(c->p->diags, d, "formats are words without quotes: `as %s`", c->found->text);
    } else {
        return false;
    }
    return true;
}

/* gaussian(image 2), clip(image, 0 255) */
static bool lacks_comma(const SyntaxCase *c)
{
    const int before = c->before->kind, found = c->found->kind;
    bool value = before == T_NAME || before == T_STRING || (before == T_NUMBER && found == T_NUMBER);
    return value && (c->e->close || c->e->close_square) && c->e->comma && (found == T_NUMBER || found == T_NAME);
}

/* Behind a name or a number that no comma follows: sigma 2, mean descending. */
static void help_comma(const SyntaxCase *c, Diag *d)
{
    const char *before = syntax_shown(c, c->before), *found = syntax_shown(c, c->found);
    bool first = c->before[-1].kind == T_OPEN || c->before[-1].kind == T_OPEN_SQUARE;
    if (c->before[-1].kind == T_ASSIGN && (found[0] == 'd' || found[0] == 'a') &&
        (strncmp(found, "desc", 4) == 0 || strncmp(found, "asc", 3) == 0)) {
        diag_help(c->p->diags, d, "write `%s, order = %s`", before, found[0] == 'd' ? "descending" : "ascending");
    } else if (c->before->kind == T_NAME && c->found->kind == T_NUMBER && c->e->close && !first &&
               !foreign_is_given(c, c->before->text)) {
        diag_help(c->p->diags, d, "an argument is named with `=`: `%s = %s`", before, found);
    } else {
        diag_help(c->p->diags, d, "%s are separated by commas: `%s, %s`",
                  c->first->kind == T_INPUT ? "axes"
                  : c->e->close             ? "arguments"
                                            : "numbers of a list",
                  before, found);
    }
}

/* gaussian image 2, or median_filter(image, 2) sort by area. */
static bool help_call(const SyntaxCase *c, Diag *d)
{
    const Token *t = c->found;
    if (c->before->kind == T_CLOSE && syntax_is(t, "sort")) {
        const Token *by = t + 1 + (syntax_is(t + 1, "by") ? 1 : 0);
        diag_help(c->p->diags, d, "the order stands inside of the call: `measure(..., sort = %s)`",
                  by->kind == T_NAME ? by->text : "area");
        return true;
    }
    bool call = c->e->end && c->before->kind == T_NAME && (c->before[-1].kind == T_ASSIGN || c->before == c->first) &&
                (t->kind == T_NAME || t->kind == T_NUMBER) && t[1].kind != T_ASSIGN &&
                !foreign_is_given(c, c->before->text);
    if (!call) {
        return false;
    }
    Str arguments;
    str_init(&arguments, c->p->arena);
    for (; t->kind == T_NAME || t->kind == T_NUMBER || t->kind == T_COMMA; t++) {
        if (t->kind != T_COMMA) {
            str_addf(&arguments, arguments.n > 0 ? ", %s" : "%s", syntax_shown(c, t));
        }
    }
    diag_help(c->p->diags, d, "arguments stand in parentheses: `%s(%s)`", syntax_shown(c, c->before), arguments.at);
    return true;
}

/* The first of the names in NAME, NAME = ..., and in Matlab's [NAME, NAME] = ... */
const Token *syntax_first_name(const SyntaxCase *c)
{
    return c->first + (c->first->kind == T_OPEN_SQUARE);
}

/* The last of them; NULL: the statement does not begin so. */
const Token *syntax_names_before_assign(const SyntaxCase *c)
{
    const Token *t = syntax_first_name(c);
    while (t->kind == T_NAME && t[1].kind == T_COMMA) {
        t += 2;
    }
    const Token *behind = t + 1 + (c->first->kind == T_OPEN_SQUARE);
    return t->kind == T_NAME && behind->kind == T_ASSIGN ? t : NULL;
}

/* mean, std = kappa_sigma(image); a, b = image, 2 * image */
static void help_names(const SyntaxCase *c, Diag *d)
{
    const Token *names = syntax_first_name(c), *value = syntax_names_before_assign(c) + 2 + (names != c->first),
                *end = value;
    while (value->kind == T_NAME && value[1].kind == T_DOT && value[2].kind == T_NAME && value[3].kind != T_NEWLINE) {
        value += 2; /* np.percentile(...) */
    }
    end = value;
    const char *image =
        value->kind == T_NAME && value[1].kind == T_OPEN && value[2].kind == T_NAME ? value[2].text : "image";
    const bool two = names[1].kind == T_COMMA;
    bool several = false;
    for (int depth = 0; end->kind != T_NEWLINE && end->kind != T_END; end++) {
        depth +=
            (end->kind == T_OPEN || end->kind == T_OPEN_SQUARE) - (end->kind == T_CLOSE || end->kind == T_CLOSE_SQUARE);
        several = several || (end->kind == T_COMMA && depth == 0);
    }
    int n = end[-1].end - value->begin;
    bool shape = end > value + 2 && syntax_is(end - 1, "shape") && value->kind == T_NAME && two;
    if (shape || (two && syntax_is(value, "size") && value[1].kind == T_OPEN && value[2].kind == T_NAME)) {
        const char *of = shape ? value->text : value[2].text; /* h, w = image.shape; [h, w] = size(image) */
        bool three = names[3].kind == T_COMMA;
        diag_help(c->p->diags, d, "sizes are asked for one by one: `%s = %s(%s)`, `%s = %s(%s)`", names->text,
                  three ? "depth" : "height", of, names[2].text, three ? "height" : "width", of);
    } else if (value->kind == T_NAME && two && (strstr(value->text, "split") != NULL || value[1].kind == T_NEWLINE)) {
        image = value[1].kind == T_NEWLINE ? value->text : image;
        diag_help(c->p->diags, d, "channels are counted from 0: `%s = %s[c = 0]`, `%s = %s[c = 1]`", names->text, image,
                  names[2].text, image);
    } else if (syntax_is(value, "percentile") || syntax_is(value, "quantile") || syntax_is(value, "prctile")) {
        diag_help(c->p->diags, d, "each is asked for by itself: `%s = percentile(%s, 1)`, `%s = percentile(%s, 99)`",
                  names->text, image, names[2].text, image);
    } else if (syntax_is(value, "gradient") || syntax_is(value, "imgradientxy")) {
        const bool down = names->text[strlen(names->text) - 1] != 'x';
        const char *along = down ? "dy" : "dx", *other = down ? "dx" : "dy";
        diag_help(c->p->diags, d, "each is a formula: `%s = (%s[%s = 1] - %s[%s = -1]) / 2`, and `%s` with %s",
                  names->text, image, along, image, along, names[2].text, other);
    } else if (syntax_is(value, "threshold")) { /* OpenCV's gives the threshold and the mask */
        diag_help(c->p->diags, d, "each has a line of its own: `%s = otsu(%s)`, `%s = %s > %s`", names->text, image,
                  names[2].text, image, names->text);
    } else if (syntax_is(value, "findContours") || syntax_is(value, "find_contours") ||
               syntax_is(value, "bwboundaries")) {
        syntax_help(c, d, "outlines are a format of labels: `output outlines = label(mask) as geojson`, or `as roi`");
    } else if (syntax_is(value, "sigma_clipped_stats")) {
        diag_help(c->p->diags, d,
                  "several results are one value with members: `r = kappa_sigma(%s)`, then `r.%s`, `r.%s`",
                  value[2].kind == T_NAME ? value[2].text : "image", names->text, names[2].text);
    } else if (syntax_is(value, "max") || syntax_is(value, "min")) { /* Matlab's gives the place, too */
        diag_help(c->p->diags, d,
                  "the value is `%s(%s)`; its place is a centroid: measure(label(%s == %s(%s)), centroid)", value->text,
                  image, image, value->text, image);
    } else if (several || value == end || n > 60) {
        syntax_help(c, d, "a statement gives one value to one name: each has a line of its own");
    } else if (!two) {
        diag_help(c->p->diags, d, "a name stands without brackets: `%s = %.*s`", names->text, n,
                  c->p->source->text + value->begin);
    } else if (syntax_is(value, "label") || syntax_is(value, "bwlabel") || syntax_is(value, "connectedComponents")) {
        names += syntax_is(value, "connectedComponents") ? 2 : 0; /* the number comes first */
        const int called = value[0].end - value[0].begin;
        diag_help(c->p->diags, d, "labels alone come of it: `%s = label%.*s`; how many there are is count(%s)",
                  names->text, n - called, c->p->source->text + value->end, names->text);
    } else {
        diag_help(c->p->diags, d, "several results are one value with members: `r = %.*s`, then `r.%s`, `r.%s`", n,
                  c->p->source->text + value->begin, names->text, names[2].text);
    }
}

/* What Python writes between values: is, in, not in. */
static bool help_condition(const SyntaxCase *c, Diag *d)
{
    static const struct {
        int kind;
        const char *help;
    } CONDITIONS[] = {
        {T_IS, "values are compared with `==` and `!=`; nothing is None: an input and a param are always there"},
        {T_IN, "compare with one after the other: `image == 1 or image == 2`"},
        {T_NOT, "compare with one after the other: `image != 1 and image != 2`"},
    };
    for (size_t i = 0; i < sizeof CONDITIONS / sizeof *CONDITIONS; i++) {
        const Token *one = c->found + 2;
        bool two = c->found->kind == T_IN && c->before->kind == T_NAME && one[-1].kind == T_OPEN_SQUARE &&
                   one->kind == T_NUMBER && one[1].kind == T_COMMA && one[2].kind == T_NUMBER;
        const Token *lo = c->found + 1, *hi = lo + 2;
        if (c->found->kind == T_IS &&
            (syntax_is(lo, "True") || syntax_is(lo, "False") || lo->kind == T_TRUE || lo->kind == T_FALSE)) {
            const bool yes = syntax_is(lo, "True") || lo->kind == T_TRUE;
            diag_help(c->p->diags, d, "a mask is true or false already: `%s%s`", yes ? "" : "not ",
                      syntax_shown(c, c->before));
            return true;
        }
        if (c->found->kind == T_IN && c->before->kind == T_NAME && lo->kind == T_NUMBER && lo[1].kind == T_RANGE &&
            hi->kind == T_NUMBER) {
            diag_help(c->p->diags, d, "compare with one end and the other: `%s >= %s and %s <= %s`", c->before->text,
                      syntax_shown(c, lo), c->before->text, syntax_shown(c, hi));
            return true;
        }
        if (two) {
            diag_help(c->p->diags, d, "compare with one after the other: `%s == %s or %s == %s`", c->before->text,
                      syntax_shown(c, one), c->before->text, syntax_shown(c, one + 2));
            return true;
        }
        if (c->found->kind == CONDITIONS[i].kind && token_ends_value(c->before->kind)) {
            syntax_help(c, d, CONDITIONS[i].help);
            return true;
        }
    }
    return false;
}

/* `//` before the place, or `%` with words behind it: a comment of others, or so it looks; NULL: none. */
const Token *syntax_foreign_comment_sign(const SyntaxCase *c)
{
    for (const Token *t = c->first; t < c->found; t++) {
        const bool words =
            t + 1 == c->before && t[1].kind == T_NAME && c->found->kind != T_OPEN && t->begin > t[-1].end;
        if (t->kind == T_FACTOR && (strcmp(t->text, "//") == 0 || (strcmp(t->text, "%") == 0 && words))) {
            return t;
        }
    }
    return NULL;
}

void syntax_help_comment(const SyntaxCase *c, Diag *d)
{
    const bool slashes = syntax_is(syntax_foreign_comment_sign(c), "//");
    syntax_help(c, d,
                slashes ? "a comment starts with `#`; `//` divides and rounds down"
                        : "a comment starts with `#`; `%` is the remainder");
}

/* The operator at the end of a line because of which NAME = on the next one goes on with it; NULL: none. */
const Token *syntax_joins_lines(const SyntaxCase *c)
{
    const Token *operator= c->before - 1;
    bool named = c->found->kind == T_ASSIGN && c->before->kind == T_NAME;
    if (!named || operator<c->first || !token_continues(operator->kind)) {
        return NULL;
    }
    const char *between = c->p->source->text + operator->end;
    return memchr(between, '\n', (size_t)(c->before->begin - operator->end)) != NULL ? operator: NULL;
}

/* image[image < 10] = 0: pixels are chosen, not set. */
static void help_set_pixels(const SyntaxCase *c, Diag *d)
{
    const char *text = c->p->source->text, *image = c->first->text;
    const int begin = c->first[1].end, end = c->before->begin;
    const char *value = text + c->found->end + strspn(text + c->found->end, " ");
    const int n = (int)strcspn(value, "\r\n;#");
    bool mask = false;
    for (const Token *t = c->first; t < c->found; t++) {
        mask = mask || t->kind == T_COMPARE;
    }
    if (mask && end - begin <= 40 && n <= 40) {
        diag_help(c->p->diags, d, "pixels are chosen: `%s2 = %.*s if %.*s else %s`", image, n, value, end - begin,
                  text + begin, image);
    } else {
        diag_help(c->p->diags, d, "pixels are chosen, here by their place: `%s2 = %.*s if y_of(%s) < 10 else %s`",
                  image, n > 0 && n <= 40 ? n : 1, n > 0 && n <= 40 ? value : "0", image, image);
    }
}

static void help_assign(const SyntaxCase *c, Diag *d)
{
    int second = c->first[1].kind;
    const Token *operator= syntax_joins_lines(c);
    if (c->first->kind == T_OUTPUT && c->before[-1].kind == T_AS) { /* output a as png = ... */
        diag_help(c->p->diags, d, "the format comes last: `output %s = ... as %s`", c->first[1].text, c->before->text);
    } else if (operator!= NULL) {
        diag_help(c->p->diags, d, "the line above goes on here, for it ends with `%s`", syntax_shown(c, operator));
    } else if (c->first->kind == T_NAME && second == T_ASSIGN && c->first[2].kind == T_NAME &&
               c->found == c->first + 3) {
        const bool given = foreign_is_given(c, c->first[2].text); /* mask = image = 3 */
        diag_help(c->p->diags, d,
                  given ? "a comparison is `==`: `%.0s%s = %s == ...`"
                        : "each name has a line of its own: `%s = ...`, then `%s = %s`",
                  c->first[2].text, c->first->text, c->first[2].text);
    } else if (c->first->kind == T_NAME && second == T_OPEN && foreign_is_given(c, c->first->text) &&
               c->before->kind == T_CLOSE) {
        help_set_pixels(c, d);
    } else if (c->first->kind == T_NAME && second == T_OPEN) {
        int n = c->before->end - c->first->begin;
        diag_help(c->p->diags, d, "a function is declared with `fn`: `fn %.*s = ...`", n < 60 ? n : 60,
                  c->p->source->text + c->first->begin);
    } else if (c->first->kind == T_OPEN_SQUARE && syntax_names_before_assign(c) != NULL) {
        help_names(c, d);
    } else if (c->first->kind == T_NAME && second == T_OPEN_SQUARE && c->before->kind == T_CLOSE_SQUARE) {
        help_set_pixels(c, d);
    } else if (c->first->kind == T_NAME && second == T_DOT && c->first[2].kind == T_NAME) {
        diag_help(c->p->diags, d, "several values get their names at once: `%s = (%s = ...)`", c->first->text,
                  c->first[2].text);
    } else if (c->first->kind == T_NAME && (second == T_OPEN_SQUARE || second == T_DOT)) {
        syntax_help(c, d, "only a whole name is given a value: `name = ...`");
    } else if (syntax_name_with_dash(c, c->first) != NULL && c->before == c->first + 2) {
        diag_help(c->p->diags, d, "a name has no `-`: `%s`", syntax_name_with_dash(c, c->first));
    } else {
        syntax_help(c, d, "a statement gives one value to one name; a comparison is `==`");
    }
}

/* f(3)(image): a name in front of the bracket that was closed. */
static bool called_twice(const SyntaxCase *c)
{
    int depth = 0;
    for (const Token *t = c->before; t > c->first; t--) {
        depth += (t->kind == T_CLOSE) - (t->kind == T_OPEN);
        if (depth == 0) {
            return t[-1].kind == T_NAME && t[-1].end == t->begin;
        }
    }
    return false;
}

/* What to do about something that does not belong behind a value. */
void syntax_help_surplus(const SyntaxCase *c, Diag *d)
{
    if (is_decimal_comma(c)) {
        diag_help(c->p->diags, d, "decimals are written with a point: `%s.%s`", syntax_shown(c, c->before),
                  syntax_shown(c, c->found + 1));
    } else if (syntax_foreign_comment_sign(c) != NULL) {
        syntax_help_comment(c, d);
    } else if (c->first->kind == T_FN && c->before->kind == T_NAME && c->found->kind == T_NAME) {
        diag_help(c->p->diags, d, "a type follows the name: `%s : f32`", syntax_shown(c, c->found));
    } else if (help_declaration(c, d)) {
        return;
    } else if (syntax_is(c->before, "unsigned") && c->before[-1].kind == T_OPEN && c->found->kind == T_NAME) {
        diag_help(c->p->diags, d, "a type is an operator: `%s(...)`",
                  syntax_is(c->found, "char")    ? "u8"
                  : syntax_is(c->found, "short") ? "u16"
                                                 : "u32");
    } else if (lacks_comma(c)) {
        help_comma(c, d);
    } else if (help_call(c, d)) {
        return;
    } else if (c->before->kind == T_CLOSE && c->found->kind == T_OPEN && c->before->end == c->found->begin &&
               called_twice(c)) {
        syntax_help(c, d, "what a call gives is not called again: the image is an argument, `f(image, 2)`");
    } else if (c->before->kind == T_CLOSE && c->before[-1].kind == T_NAME && c->before[-2].kind == T_OPEN &&
               foreign_type(c->before[-1].text) != NULL && c->found->kind == T_NAME) { /* (float)image */
        diag_help(c->p->diags, d, "a type is an operator: `%s(%s)`", foreign_type(c->before[-1].text), c->found->text);
    } else if (c->first->kind == T_FN && c->before->kind == T_COLON &&
               c->before[-1].kind == T_CLOSE) { /* fn f(v): (v + 1) */
        const char *body = c->p->source->text + c->found->begin;
        const int n = (int)strcspn(body, "\r\n#"), head = c->before->begin - c->first[1].begin;
        diag_help(c->p->diags, d, "what a function gives follows `=`: `fn %.*s = %.*s`", head < 60 ? head : 60,
                  c->p->source->text + c->first[1].begin, n < 100 ? n : 100, body);
    } else if (c->before->kind == T_DOT && (c->found->kind == T_COMMA || c->found->kind == T_CLOSE) &&
               c->before[-1].kind == T_NAME) { /* Circ. of ImageJ */
        diag_help(c->p->diags, d, "a name has no point: `%s`", c->before[-1].text);
    } else if (c->before->kind == T_DOT && c->found->kind == T_OPEN &&
               c->before[-1].kind == T_NAME) { /* sqrt.(image) */
        diag_help(c->p->diags, d, "operators work pixel by pixel by themselves: `%s(%s)`", c->before[-1].text,
                  c->found[1].kind == T_NAME && c->found[2].kind == T_CLOSE ? c->found[1].text : "...");
    } else if (lacks_multiplication(c)) {
        syntax_help(c, d,
                    c->e->comma ? "multiplication is written `*`; arguments are separated by commas"
                                : "multiplication is written `*`");
    } else if (c->before == c->first && c->found->kind == T_NAME && c->found[1].kind == T_ASSIGN) {
        diag_help(c->p->diags, d, "a name is one word: `%s_%s`", syntax_shown(c, c->before), syntax_shown(c, c->found));
    } else if (c->found->kind == T_FACTOR && (syntax_is(c->found, "//") || syntax_is(c->found, "%"))) {
        syntax_help(c, d, "a comment starts with `#`");
    } else if (c->found->kind == T_DOT && c->before[-1].kind == T_AS) { /* as ome.tif */
        syntax_help(c, d, "formats are single words: `as tif`, or `as zarr` for OME-Zarr");
    } else if (c->found->kind == T_OPEN_BRACE && c->found > c->first && c->before->kind != T_NAME) {
        syntax_help(c, d, "braces stand behind `fn`, `repeat`, `for` and `if`: leave them out");
    } else if (c->found->kind == T_ELSE && syntax_earlier(c, T_WHERE) != NULL) { /* v where m else 0 */
        const Token *where = syntax_earlier(c, T_WHERE), *from = where;
        while (from > c->first && from[-1].kind != T_ASSIGN && from[-1].kind != T_OPEN && from[-1].kind != T_COMMA) {
            from--;
        }
        const char *text = c->p->source->text;
        diag_help(c->p->diags, d, "a choice is written with `if`: `%.*s if %.*s else %s`", where[-1].end - from->begin,
                  text + from->begin, c->before->end - where[1].begin, text + where[1].begin,
                  syntax_shown(c, c->found + 1));
    } else if (help_condition(c, d)) {
        return;
    } else if (c->found->kind == T_COLON && c->found[1].kind == T_NEWLINE) {
        syntax_help(c, d, "leave the `:` out");
    } else if (c->found->kind == T_OPEN_BRACE && c->before->kind == T_NAME) {
        diag_help(c->p->diags, d, "arguments stand in parentheses: `%s(...)`", syntax_shown(c, c->before));
    } else if (c->found->kind == T_COLON && c->before->kind == T_NAME && c->e->close) {
        const bool value = c->found[1].kind == T_NUMBER || c->found[1].kind == T_NAME;
        diag_help(c->p->diags, d, "arguments are named with `=`: `%s = %s`", syntax_shown(c, c->before),
                  value ? syntax_shown(c, c->found + 1) : "...");
    } else if (c->found->kind == T_COLON && c->before->kind == T_NAME && c->before[-1].kind == T_OPEN_SQUARE) {
        diag_help(c->p->diags, d, "places are named with `=`: `%s = ...`; a part is crop(image, x = 10, width = 20)",
                  syntax_shown(c, c->before));
    } else if (c->found->kind == T_RANGE && c->e->close_square && c->before->kind == T_NUMBER &&
               c->found[1].kind == T_NUMBER && c->before[-1].kind == T_ASSIGN) { /* image[z = 2 .. 5] */
        const Token *axis = c->before - 2, *image = axis - 2;
        const char *extent = syntax_is(axis, "z") ? "depth" : syntax_is(axis, "y") ? "height" : "width";
        diag_help(c->p->diags, d, "a part is a crop: `crop(%s, %s = %g, %s = %g)`",
                  image->kind == T_NAME ? image->text : "image", axis->text, c->before->num, extent,
                  c->found[1].num - c->before->num + 1);
    } else if (c->found->kind == T_RANGE && c->e->close) {
        syntax_help(c, d, "a range stands behind `for`: `sum(v[dx = i] for i in -1 .. 1)`");
    } else if (c->first->kind == T_OUTPUT && c->found->kind == T_COLON && c->found[1].kind == T_NAME) {
        diag_help(c->p->diags, d, "a type is an operator: `%s(...)`", syntax_shown(c, c->found + 1));
    } else if (c->first->kind == T_OUTPUT && c->found->kind == T_COMMA && c->before[-1].kind == T_AS) {
        syntax_help(c, d, "each format has an output of its own: `output a2 = ... as png`");
    } else if (c->first->kind == T_OUTPUT && c->found->kind == T_AND && c->before[-1].kind == T_AS) {
        syntax_help(c, d, "each format has an output of its own: `output a2 = ... as png`");
    } else if (c->found->kind == T_COLON && (c->before->kind == T_NUMBER || c->e->close_square)) {
        syntax_help(c, d, SYNTAX_SLICES);
    } else if (c->first->kind == T_FN && c->before[-1].kind == T_COLON) {
        syntax_help(c, d, "what a function gives follows `=`: `fn name(x) = ...`");
    } else if (c->found->kind == T_ASSIGN) {
        help_assign(c, d);
    } else if (c->found->kind == T_FOR && syntax_earlier(c, T_FOR) != NULL) {
        syntax_help(c, d, "ranges are separated by commas: `for j in -1 .. 1, i in -1 .. 1`");
    } else if (c->found->kind == T_FOR && c->e->close_square && foreign_listed(c, c->found) != NULL) {
        diag_help(c->p->diags, d, "there are no lists of images; one after the other: %s", foreign_listed(c, c->found));
    } else if (c->found->kind == T_FOR && c->e->close_square && syntax_is(c->found + 3, "labels")) {
        syntax_help(c, d, "objects are taken all at once: property(labels, area) has a value for each of them");
    } else if (c->found->kind == T_FOR && c->e->close_square) {
        syntax_help(c, d,
                    "there are no lists of images: arithmetic takes all pixels at once, and each image has a line of "
                    "its own; `sum(v[dx = i] for i in -1 .. 1)` adds them up");
    } else if (c->found->kind == T_FOR) {
        syntax_help(c, d, "`for` stands inside a call: `sum(v[dx = i] for i in -1 .. 1)`");
    } else if (c->found->kind == T_IF && syntax_earlier(c, T_FOR) != NULL) {
        syntax_help(c, d, "a condition on the indices is written `where`");
    } else if (c->found->kind == T_COLON && c->first->kind == T_NAME) {
        const Token *value = c->found + 2;
        diag_help(c->p->diags, d, "a value has no declared type: `%s = %s`", c->first->text,
                  value->kind == T_ASSIGN && value[2].kind == T_NEWLINE ? syntax_shown(c, value + 1) : "...");
    } else if (c->found->kind == T_COMMA && c->before == c->first && syntax_names_before_assign(c) != NULL) {
        help_names(c, d);
    } else if (c->first->kind == T_OUTPUT && c->found->kind == T_NAME && c->before == c->first + 1) {
        const char *text = c->p->source->text + c->found->begin;
        const size_t n = strcspn(text, "\r\n#");
        if (c->found[1].kind == T_ASSIGN) {
            diag_help(c->p->diags, d, "a name is one word: `%s_%s`", c->before->text, c->found->text);
        } else if (n <= 80) {
            diag_help(c->p->diags, d, "write `output %s = %.*s`", c->before->text, (int)n, text);
        }
    } else if (c->first->kind == T_OUTPUT && c->found->kind == T_AS) {
        syntax_help(c, d, "each format has an output of its own: `output a2 = ... as png`");
    } else if (c->found->kind == T_COMMA && c->first->kind == T_RETURN) {
        syntax_help(c, d, "several results have names: `return (first = ..., second = ...)`, and then `r.first`");
    } else if (c->found->kind == T_COMMA && c->e->end) {
        syntax_help(c, d, "a statement gives one value: each has a line of its own");
    }
}
