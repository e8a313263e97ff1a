/*
 * foreign: what is written as in other languages: Python, Matlab, C, ImageJ's macros.
 *
 * Each function looks at the place where the grammar could not go on, and either takes the case, with a word about how
 * it is written here, or leaves it to the next.  The body of a statement that was not understood is left out as a
 * whole, so that one mistake gives one message.
 */
#include "syntax.h"
#include "parse.h"

#include <string.h>

/* Whether a list such as "def func" has a word. */
static bool lists(const char *list, const char *word)
{
    const size_t n = strlen(word);
    for (const char *p = strstr(list, word); p != NULL && n > 0; p = strstr(p + 1, word)) {
        if ((p == list || p[-1] == ' ') && (p[n] == ' ' || p[n] == '\0')) {
            return true;
        }
    }
    return false;
}

static bool is_one_of(const Token *token, const char *list)
{
    return token->kind == T_NAME && lists(list, token->text);
}

static Diag *foreign(const SyntaxCase *c, const Token *token)
{
    return diag_add(c->p->diags, DIAG_FOREIGN_SPELLING, token_span(c->p->source, token), syntax_shown(c, token));
}

bool foreign_is_given(const SyntaxCase *c, const char *name)
{
    for (const Token *t = c->p->tokens; t < c->found; t++) {
        bool declared = t > c->p->tokens && (t[-1].kind == T_INPUT || t[-1].kind == T_PARAM);
        if (t->kind == T_NAME && syntax_is(t, name) && (declared || t[1].kind == T_ASSIGN)) {
            return true;
        }
    }
    return false;
}

#define FUNCTION_HELP "a function is written `fn name(x) = ...` or `fn name(x) { ... }`"
#define NAME_HELP "a value gets its name with `name = ...` alone"
#define OUTPUT_HELP "results are written with `output name = ...`"

/* ---- numbers and words between values ---- */

#define UNITS_HELP "units are nm, um, mm and px, um2 of areas and um3 of volumes"

static const struct {
    const char *words, *help; /* %s: the number before */
} UNITS[] = {
    {"micron microns micrometer micrometers micrometre micrometres mu", "micrometres are written `%s um`"},
    {"nanometer nanometers nanometre nanometres", "nanometres are written `%s nm`"},
    {"millimeter millimeters millimetre millimetres", "millimetres are written `%s mm`"},
    {"pixel pixels pix", "pixels are the unit of numbers without one: `%s`"},
    {"square sq cubic", "areas are written `%s um2`, volumes `%s um3`"},
    {"px2 px3 pix2 pixels2 voxel voxels vox", "pixels are counted: `%s`"},
    {"deg degree degrees", "angles are numbers, in degrees: `%s`"},
    {"rad radians", "angles are in degrees: `%s * 180 / pi`"},
    {"percent", "percentiles are numbers of 0 .. 100: `%s`"},
    {"nm um mm px um2 um3", "at most one blank stands before a unit"},
    {"m cm pm inch inches in_ arcsec arcmin s ms sec seconds", UNITS_HELP},
    {"times rounds iterations", "the number stands alone: `repeat %s { ... }`"},
};

/* The word that was meant by one that is none: adn, esle. */
static const char *nearest_word(const SyntaxCase *c)
{
    static const char *const WORDS[] = {"and", "or", "xor", "else", "if", "where", "for"};
    const bool word = token_ends_value(c->before->kind) && c->found->kind == T_NAME && !c->at_start;
    return !word || foreign_is_given(c, c->found->text)
               ? NULL
               : fe_nearest_within(c->found->text, WORDS, sizeof WORDS / sizeof *WORDS,
                                   strlen(c->found->text) > 2 ? 1 : 0);
}

/* 2 umm: the unit that was meant, where the word is no name. */
static const char *nearest_unit(const SyntaxCase *c)
{
    const char *units[16];
    int n = 0;
    while (n < 16 && fe_unit((size_t)n) != NULL) {
        units[n] = fe_unit((size_t)n);
        n++;
    }
    bool word = c->before->kind == T_NUMBER && c->before->unit == NULL && c->found->kind == T_NAME;
    const int length = word ? (int)strlen(c->found->text) : 0;
    return length > 1 && !foreign_is_given(c, c->found->text)
               ? fe_nearest_within(c->found->text, units, n, length / 3 > 1 ? length / 3 : 1)
               : NULL;
}

/* 2 micron. */
static bool foreign_unit(const SyntaxCase *c)
{
    for (size_t i = 0; i < sizeof UNITS / sizeof *UNITS; i++) {
        if (c->before->kind == T_NUMBER && is_one_of(c->found, UNITS[i].words)) {
            const char *number = syntax_shown(c, c->before);
            Diag *d = foreign(c, c->found);
            const char *at = strstr(UNITS[i].help, "%s"), *help = UNITS[i].help;
            while (at != NULL) { /* more than one, in "areas" */
                help = arena_printf(c->p->arena, "%.*s%s%s", (int)(at - help), help, number, at + 2);
                at = strstr(help, "%s");
            }
            syntax_help(c, d, help);
            return true;
        }
    }
    const char *unit = nearest_unit(c);
    if (unit != NULL) {
        diag_help(c->p->diags, foreign(c, c->found), "did you mean `%s %s`?", syntax_shown(c, c->before), unit);
    }
    return unit != NULL;
}

/* 99%, where something must follow the `%`. */
static bool foreign_percent(const SyntaxCase *c)
{
    bool factor = c->before > c->first && c->before->kind == T_FACTOR && syntax_is(c->before, "%");
    const bool ranged = c->before > c->first + 1 && syntax_is(c->before, "in") && syntax_is(c->before - 1, "%") &&
                        c->before[-2].kind == T_NUMBER; /* param q = 99% in 0 .. 100 */
    const Token *sign = ranged ? c->before - 1 : c->before;
    if (!ranged && (!factor || sign[-1].kind != T_NUMBER || !c->e->expression)) {
        return false;
    }
    const Token *number = sign - 1;
    Span span = {c->p->source, number->begin, sign->end};
    const char *digits = syntax_shown(c, number);
    Diag *d = diag_add(c->p->diags, DIAG_FOREIGN_SPELLING, span, arena_printf(c->p->arena, "%s%%", digits));
    if (c->found->kind == T_FACTOR) {
        diag_help(c->p->diags, d, "a share is a fraction: `%g`", number->num / 100);
    } else if (number->num == 100) {
        syntax_help(c, d, "percentiles are numbers of 0 .. 100: `100`, which is max(image); the share of all is `1`");
    } else {
        diag_help(c->p->diags, d, "percentiles are numbers of 0 .. 100: `%s`; a share is a fraction: `%g`", digits,
                  number->num / 100);
    }
    return true;
}

bool foreign_number(const SyntaxCase *c)
{
    return foreign_unit(c) || foreign_percent(c);
}

static const struct {
    const char *words, *help;
} BETWEEN[] = {
    {"mod MOD Mod", "the remainder is written `%`"},
    {"div DIV", "`//` divides and rounds down"},
    {"AND And", "write `and`"},
    {"OR Or", "write `or`"},
    {"XOR Xor", "write `xor`"},
    {"NOT Not", "write `not`"},
    {"equals eq EQ", "write `==`"},
    {"elif ELIF elseif", "a second choice follows `else`: `a if m else b if n else c`"},
    {"then THEN", "a choice is written `a if condition else b`"},
    {"step by", "a range goes by ones: `image[dx = 2 * i] for i in -2 .. 2`"},
};

/* 1 to 10 */
static bool foreign_to(const SyntaxCase *c)
{
    if (!is_one_of(c->found, "to TO")) {
        return false;
    }
    Diag *d = foreign(c, c->found);
    bool loop = false;
    for (const Token *t = c->first; t < c->found; t++) {
        loop = loop || t->kind == T_IN;
    }
    if (c->first->kind == T_PARAM && c->before->kind == T_NUMBER && c->found[1].kind == T_NUMBER) {
        diag_help(c->p->diags, d, "a range has two dots: `in %s .. %s`", syntax_shown(c, c->before),
                  syntax_shown(c, c->found + 1));
        return true;
    }
    syntax_help(c, d,
                c->first->kind == T_OUTPUT && !loop
                    ? "the run names the files, in the folder of -o; a format is written `as png`"
                    : "a range has two dots, both ends included: `1 .. 10`");
    return true;
}

bool foreign_word(const SyntaxCase *c)
{
    if (!token_ends_value(c->before->kind) || c->at_start) {
        return false;
    }
    if (c->first->kind == T_PARAM && is_one_of(c->found, "min max from between range")) {
        diag_help(c->p->diags, foreign(c, c->found), "a range stands behind `in`: `param %s = %s in 1 .. 10`",
                  syntax_shown(c, c->first + 1), syntax_shown(c, c->before));
        return true;
    }
    for (size_t i = 0; i < sizeof BETWEEN / sizeof *BETWEEN; i++) {
        if (is_one_of(c->found, BETWEEN[i].words)) {
            syntax_help(c, foreign(c, c->found), BETWEEN[i].help);
            return true;
        }
    }
    const char *near = nearest_word(c);
    if (near != NULL) {
        diag_help(c->p->diags, foreign(c, c->found), "did you mean `%s`?", near);
        return true;
    }
    return foreign_to(c);
}

/* disp(['mean ' num2str(m)]), which is not understood further in. */
bool foreign_print(const SyntaxCase *c)
{
    if (!is_one_of(c->first, "disp print printf fprintf cat message console log println sprintf") ||
        (c->first[1].kind != T_OPEN && c->first[1].kind != T_DOT) || c->first->kind != T_NAME) {
        return false;
    }
    const Token *end = c->first;
    while (end->kind != T_NEWLINE && end->kind != T_END) {
        end++;
    }
    const Span all = {c->p->source, c->first->begin, end->begin};
    diags_drop(c->p->diags, DIAG_FOREIGN_SPELLING, all);
    Diag *d = diag_add(c->p->diags, DIAG_UNKNOWN_STATEMENT, token_span(c->p->source, c->first), c->first->text);
    syntax_help(c, d, OUTPUT_HELP);
    return true;
}

/* """Counts nuclei.""", or a line of text. */
static bool foreign_text(const SyntaxCase *c)
{
    if (c->first->kind != T_STRING || c->first->silent || (!c->at_start && c->found->kind != T_STRING)) {
        return false;
    }
    diag_add(c->p->diags, DIAG_FOREIGN_COMMENT, token_span(c->p->source, c->first), "\"");
    return true;
}

/* % blur */
bool foreign_comment(const SyntaxCase *c)
{
    if (foreign_text(c)) {
        return true;
    }
    if (c->found == c->first + 1 && is_one_of(c->first, "REM Rem rem NB dnl") && c->found->kind == T_NAME) {
        diag_add(c->p->diags, DIAG_FOREIGN_COMMENT, token_span(c->p->source, c->first), c->first->text);
        return true;
    }
    if (!c->at_start || c->found->kind != T_FACTOR || !syntax_is(c->found, "%")) {
        return false;
    }
    diag_add(c->p->diags, DIAG_FOREIGN_COMMENT, token_span(c->p->source, c->found), "%");
    return true;
}

/* ---- loops and choices outside of functions ---- */

static bool in_block(const SyntaxCase *c)
{
    int depth = 0;
    for (const Token *t = c->p->tokens; t < c->first; t++) {
        depth += (t->kind == T_OPEN_BRACE) - (t->kind == T_CLOSE_BRACE);
    }
    return depth > 0;
}

/* How many rounds `for i in range(3)` has, or `range(1, 4)`; 0: not known. */
static double rounds_of(const Token *value)
{
    const Token *lo = value + 2;
    bool range = value->kind == T_NAME && syntax_is(value, "range") && value[1].kind == T_OPEN && lo->kind == T_NUMBER;
    return !range                                                                     ? 0
           : lo[1].kind == T_CLOSE                                                    ? lo->num
           : lo[1].kind == T_COMMA && lo[2].kind == T_NUMBER && lo[3].kind == T_CLOSE ? lo[2].num - lo->num
                                                                                      : 0;
}

static void help_for(const SyntaxCase *c, Diag *d)
{
    const Token *in = c->first;
    while (in->kind != T_IN && in->kind != T_ASSIGN && in->kind != T_NEWLINE && in->kind != T_END) {
        in++;
    }
    const bool lo = in->kind != T_NEWLINE && in->kind != T_END && in[1].kind == T_NUMBER;
    const bool matlab = lo && in[3].kind == T_NUMBER && (in[2].kind == T_COLON || in[2].kind == T_RANGE); /* i = 1:3 */
    const bool counts = lo && in[2].kind == T_COMMA && in[4].kind == T_COMPARE; /* i = 0; i < 3 */
    double rounds = matlab                             ? in[3].num - in[1].num + 1
                    : counts && in[5].kind == T_NUMBER ? in[5].num - in[1].num + (in[4].text[1] == '=')
                    : in->kind == T_IN                 ? rounds_of(in + 1)
                                                       : 0;
    const bool things =
        (counts && in[5].kind == T_NAME) || (in->kind == T_IN && in[1].kind == T_NAME && !syntax_is(in + 1, "range"));
    const Token *of = in->kind == T_IN ? in + 1 : NULL;
    for (; of != NULL && of->kind != T_NEWLINE && of->kind != T_END; of++) {
        if (is_one_of(of, "listdir glob files filelist dir iglob rglob imread list_files")) {
            syntax_help(c, d, "the run takes one file after the other: pipec run FILE.pipe FOLDER");
            return;
        }
    }
    const Token *index = c->first + 1 + (c->first[1].kind == T_OPEN);
    bool picks = false; /* image[ch] in the body */
    for (const Token *t = in, *end = in + 200; index->kind == T_NAME && t < end && t->kind != T_END; t++) {
        picks = picks || (t->kind == T_OPEN_SQUARE && t[1].kind == T_NAME && syntax_is(t + 1, index->text));
    }
    if (foreign_summed(c) != NULL) {
        syntax_help(c, d, foreign_summed(c));
    } else if (picks) {
        syntax_help(
            c, d,
            "planes and channels are taken all at once: gaussian(image, 2) blurs each; one of them is image[c = 0], or image[z = 0]");
    } else if (rounds > 0) {
        diag_help(c->p->diags, d, "a pipeline repeats with: repeat %.0f { ... }", rounds);
    } else if (in->kind == T_IN && (in[1].kind == T_OPEN || in[1].kind == T_OPEN_SQUARE)) {
        syntax_help(
            c, d, "a line for each value, or all at once: `max(gaussian(image, pick(k, [1, 2, 4])) for k in 0 .. 2)`");
    } else if (things) {
        syntax_help(c, d,
                    "images, objects and planes are taken all at once: leave the loop out; measure(...) has a row for "
                    "each object");
    } else {
        syntax_help(c, d, "a pipeline repeats with: repeat 20 { ... }");
    }
}

/* if image > 3: a = 1, with the words in place; false where the lines are others. */
static bool help_if(const SyntaxCase *c, Diag *d)
{
    const Token *body = c->found + 1;
    while (body->kind == T_NEWLINE) {
        body++;
    }
    int n = c->found->begin - c->first[1].begin;
    const Token *end = body + 2;
    while (end->kind != T_NEWLINE && end->kind != T_END) {
        end++;
    }
    bool assigns = body->kind == T_NAME && body[1].kind == T_ASSIGN && end > body + 2;
    int m = assigns ? end[-1].end - body[2].begin : 0;
    if (!assigns || n > 60 || m > 60) {
        return false;
    }
    diag_help(c->p->diags, d, "choose between values: `%s = %.*s if %.*s else ...`", body->text, m,
              c->p->source->text + body[2].begin, n, c->p->source->text + c->first[1].begin);
    return true;
}

void foreign_note_block(const SyntaxCase *c, const Token *t)
{
    while (t->kind != T_OPEN_BRACE && t->kind != T_NEWLINE && t->kind != T_END) {
        t++;
    }
    int depth = t->kind == T_OPEN_BRACE;
    for (t++; depth > 0 && t->kind != T_END; t++) {
        depth += (t->kind == T_OPEN_BRACE) - (t->kind == T_CLOSE_BRACE);
        if (t->kind == T_NAME && t[1].kind == T_ASSIGN && t[-1].kind != T_OPEN && t[-1].kind != T_COMMA) {
            syntax_note_name(c->p, t);
        }
    }
}

/* Where the block of a header ends that is not taken; 0: it has none. */
static int behind_block(const Token *t)
{
    while (t->kind != T_OPEN_BRACE && t->kind != T_NEWLINE && t->kind != T_END) {
        t++;
    }
    int depth = t->kind == T_OPEN_BRACE;
    for (t++; depth > 0 && t->kind != T_END; t++) {
        depth += (t->kind == T_OPEN_BRACE) - (t->kind == T_CLOSE_BRACE);
    }
    return t[-1].kind == T_CLOSE_BRACE ? t[-1].end : 0;
}

/* for i in range(3): and so on, which a pipeline has in functions only: where it ends is no matter. */
bool foreign_loop(const SyntaxCase *c)
{
    const int kind = c->first->kind;
    bool word = kind == T_FOR || kind == T_IF || kind == T_WHILE;
    bool matlab = (kind == T_FOR && c->found->kind == T_ASSIGN && c->before->kind == T_NAME) ||
                  (kind != T_FOR && c->e->block &&
                   (c->found->kind == T_NEWLINE || (c->found->kind == T_NAME && c->before->kind == T_CLOSE)));
    const bool two =
        kind == T_FOR && c->found->kind == T_COMMA && c->before == c->first + 1; /* for i, p in enumerate(v) */
    const bool line = kind == T_IF && c->e->block && c->found->kind == T_COMMA;  /* if v > 3, a = 1; end */
    bool ends = two || line || matlab || c->found->kind == T_COLON ||
                (kind == T_FOR && c->e->range && c->found->kind != T_NEWLINE) ||
                (kind == T_FOR && c->found->kind == T_OPEN && c->found == c->first + 1);
    bool slice = c->found->kind == T_COLON && c->found[1].kind == T_NUMBER; /* for i in 0:3 */
    if (!word || !ends || slice || c->at_start || in_block(c)) {
        return false;
    }
    Diag *d = diag_add(c->p->diags, DIAG_ONLY_IN_FUNCTION, token_span(c->p->source, c->first), c->first->text);
    c->p->refused_end = behind_block(c->found);
    if (line && c->found[1].kind == T_NAME && c->found[2].kind == T_ASSIGN) {
        syntax_note_name(c->p, c->found + 1);
    }
    if (kind == T_FOR) {
        help_for(c, d);
    } else if (kind == T_WHILE) {
        syntax_help(c, d,
                    "a pipeline repeats with: repeat 20 { ... }, or repeat until VALUE is stable, at most 100 { ... }");
    } else if (syntax_is(c->first + 1, "__name__")) {
        syntax_help(c, d, "leave it out: a pipeline runs from its first line to its last");
    } else if (!help_if(c, d)) {
        syntax_help(c, d, "choose between values: a if condition else b");
    }
    return true;
}

/* image > 10 ? 1 : 0 */
bool foreign_ternary(const SyntaxCase *c)
{
    if (c->found->kind != T_INVALID || !syntax_is(c->found, "?")) {
        return false;
    }
    const Token *begin = c->found, *colon = c->found, *end;
    int depth = 0;
    while (begin > c->first && depth >= 0 && begin[-1].kind != T_ASSIGN && begin[-1].kind != T_RETURN &&
           !(depth == 0 && begin[-1].kind == T_COMMA)) {
        begin--;
        depth += (begin->kind == T_CLOSE || begin->kind == T_CLOSE_SQUARE) -
                 (begin->kind == T_OPEN || begin->kind == T_OPEN_SQUARE);
    }
    begin += depth < 0; /* the bracket around it */
    while (colon->kind != T_COLON && colon->kind != T_NEWLINE && colon->kind != T_END) {
        colon++;
    }
    end = colon;
    for (depth = 0; end->kind != T_NEWLINE && end->kind != T_END && !(depth == 0 && end->kind == T_COMMA); end++) {
        depth += (end->kind == T_OPEN) - (end->kind == T_CLOSE);
        if (depth < 0) {
            break;
        }
    }
    const char *text = c->p->source->text;
    if (syntax_is(c->found + 1, "?")) { /* image ?? 0 */
        Diag *d = foreign(c, c->found);
        const bool both = c->before->kind == T_NAME && c->found[2].kind == T_NUMBER;
        diag_help(c->p->diags, d, "NaN is replaced by a choice: `%s if isnan(%s) else %s`",
                  both ? syntax_shown(c, c->found + 2) : "0", both ? c->before->text : "image",
                  both ? c->before->text : "image");
        return true;
    }
    Diag *d = foreign(c, c->found);
    bool nested = false;
    for (const Token *t = c->found + 1; t < end; t++) {
        nested = nested || t->kind == T_INVALID;
    }
    if (nested) {
        syntax_help(c, d, "choices follow one another: `a if m else b if n else c`");
        return true;
    }
    bool whole = colon->kind == T_COLON && colon > c->found + 1 && end > colon + 1 && begin < c->found;
    if (!whole || end->begin - begin->begin > 100) {
        syntax_help(c, d, "a choice is written `a if condition else b`");
        return true;
    }
    diag_help(c->p->diags, d, "a choice is written `%.*s if %.*s else %.*s`", colon[-1].end - c->found[1].begin,
              text + c->found[1].begin, c->found[-1].end - begin->begin, text + begin->begin,
              end[-1].end - colon[1].begin, text + colon[1].begin);
    return true;
}

/* ---- statements ---- */

/* Words that begin statements elsewhere. */
static const struct {
    const char *words, *help;
} STATEMENTS[] = {
    {"def func function sub proc macro", FUNCTION_HELP},
    {"let var const auto int float double bool image val local static", NAME_HELP},
    {"global nonlocal", "leave it out: a function sees the names that stand above it"},
    {"elif elsif elseif", "write `else if`"},
    {"foreach", "write `for i in lo .. hi { ... }`"},
    {"loop do", "write `repeat n { ... }`"},
    {"until", "write `repeat until VALUE is stable, at most 100 { ... }`, or `repeat 20 { ... }`"},
    {"import from require using",
     "there is nothing to import: all operators are at hand; `pipec import script.py` writes a whole script anew"},
    {"include", "functions of another file: include \"mine.pipe\""},
    {"print write save export disp show display printf", OUTPUT_HELP},
    {"with open", "the run opens the files: `input image[y, x]`"},
    {"class struct", "several values have names: `(mean = a, std = b)`"},
    {"try except finally catch raise throw", "no part of a pipeline can fail by itself: leave it out"},
    {"assert", "leave it out; a run checks its image, its params and their ranges by itself"},
    {"del delete clear", "nothing needs to be freed: leave it out"},
    {"pass continue break", "leave it out"},
    {"switch case match", "choose between values: `a if n == 1 else b if n == 2 else c`"},
    {"yield await async", "results are written with `output name = ...`"},
    {"end endif endfor endwhile endfunction fi done", "statements that belong together stand in braces: `{ ... }`"},
};

const char *foreign_stray(const char *word)
{
    static const char *const STRAY[] = {"pass", "end"};
    for (size_t i = 0; i < sizeof STATEMENTS / sizeof *STATEMENTS; i++) {
        for (size_t k = 0; k < sizeof STRAY / sizeof *STRAY; k++) {
            if (lists(STATEMENTS[i].words, word) && lists(STATEMENTS[i].words, STRAY[k])) {
                return STATEMENTS[i].help;
            }
        }
    }
    return NULL;
}

static const char *foreign_help(const Token *word)
{
    for (size_t i = 0; i < sizeof STATEMENTS / sizeof *STATEMENTS; i++) {
        if (is_one_of(word, STATEMENTS[i].words)) {
            return STATEMENTS[i].help;
        }
    }
    return NULL;
}

const char *foreign_function(const SyntaxCase *c)
{
    const Token *colon = c->first + 1;
    for (int depth = 0; colon->kind != T_NEWLINE && colon->kind != T_END && (depth > 0 || colon->kind != T_COLON);
         colon++) {
        depth += (colon->kind == T_OPEN) - (colon->kind == T_CLOSE);
    }
    const Token *body = colon + (colon->kind == T_COLON);
    while (body->kind == T_NEWLINE) {
        body++;
    }
    const Token *end = body;
    while (end->kind != T_NEWLINE && end->kind != T_END) {
        end++;
    }
    bool named = colon > c->first + 1;
    bool one = named && colon->kind == T_COLON && body->kind == T_RETURN && end > body + 1;
    int head = colon[-1].end - c->first[1].begin, n = one ? end[-1].end - body[1].begin : 0;
    const char *text = c->p->source->text;
    return one && head <= 40 && n <= 60 ? arena_printf(c->p->arena, "a function is written `fn %.*s = %.*s`", head,
                                                       text + c->first[1].begin, n, text + body[1].begin)
                                        : NULL;
}

bool foreign_statement(const SyntaxCase *c)
{
    static const char *const words[] = {"input", "param", "output", "fn", "repeat", "if", "for", "while", "return"};
    const Token *word = c->before->kind == T_CLOSE_BRACE ? c->found : c->first;
    if (word->kind != T_NAME || (c->found - word > 1 && !is_one_of(word, "switch match while with"))) {
        return false;
    }
    const char *text = foreign_help(word);
    text = is_one_of(word, "def") && foreign_function(c) != NULL ? foreign_function(c) : text;
    bool typed = word == c->first && word[1].kind == T_NAME && word[2].kind == T_OPEN; /* int f( */
    text = typed && text != NULL && strcmp(text, NAME_HELP) == 0 ? FUNCTION_HELP : text;
    if (text == NULL && (c->found->kind == T_NAME || c->found->kind == T_NUMBER) && word == c->first) {
        const char *near = fe_nearest(word->text, words, sizeof words / sizeof *words);
        text = near == NULL ? NULL : arena_printf(c->p->arena, "did you mean `%s`?", near);
    }
    if (is_one_of(word, "with")) { /* of files, or np.errstate(...) */
        const char *line = c->p->source->text + word->begin;
        const char *reads = arena_strndup(c->p->arena, line, strcspn(line, "\r\n"));
        const bool files =
            strstr(reads, "open") != NULL || strstr(reads, "read") != NULL || strstr(reads, "File") != NULL;
        text = files ? text : "leave the line out: there is nothing to enter or to close";
    }
    const bool declares = text != NULL && strcmp(text, NAME_HELP) == 0;
    if (text == NULL || c->found->kind == T_ASSIGN || (declares && c->found->kind != T_NAME)) {
        return false;
    }
    if (strcmp(text, NAME_HELP) == 0 && word[1].kind == T_NAME) {
        bool function = false;
        for (const Token *t = word; t->kind != T_NEWLINE && t->kind != T_END; t++) {
            function = function || syntax_is(t, "=>") || syntax_is(t, "function");
        }
        text = function ? FUNCTION_HELP
                        : arena_printf(c->p->arena, "a value gets its name with `%s = ...` alone", word[1].text);
    }
    Diag *d = diag_add(c->p->diags, DIAG_UNKNOWN_STATEMENT, token_span(c->p->source, word), syntax_shown(c, word));
    syntax_help(c, d, text);
    if (is_one_of(word, "try do loop until")) {
        foreign_note_block(c, word);
        c->p->refused_end = behind_block(word);
    }
    c->p->file->incomplete = c->p->file->incomplete || is_one_of(word, "include");
    return true;
}

/* ---- bodies ---- */

static int column_of(const Parser *p, const Token *token)
{
    int column = 0;
    while (column < token->begin && strchr("\r\n", p->source->text[token->begin - column - 1]) == NULL) {
        column++;
    }
    return column;
}

/* Behind the statement that begins at a token; blocks in braces belong to it. */
static int behind_statement(const Parser *p, int at)
{
    for (int depth = 0; p->tokens[at].kind != T_END; at++) {
        int kind = p->tokens[at].kind;
        depth += (kind == T_OPEN_BRACE) - (kind == T_CLOSE_BRACE);
        if (depth < 0) {
            return at;
        }
        if (depth == 0 && kind == T_NEWLINE) {
            return at + 1;
        }
    }
    return at;
}

bool foreign_header(const Parser *p, int first)
{
    const Token *t = &p->tokens[first];
    bool header = t->kind == T_FOR || t->kind == T_IF || t->kind == T_WHILE || t->kind == T_ELSE ||
                  is_one_of(t, "def func function class with try except finally switch elif while foreach") ||
                  (t->kind == T_REPEAT && t[1].kind == T_NUMBER && t[2].kind == T_NEWLINE);
    bool function = t->kind == T_FN;
    for (; (header || function) && t->kind != T_NEWLINE && t->kind != T_END; t++) {
        header = header && t->kind != T_OPEN_BRACE;
        function = function && t->kind != T_OPEN_BRACE;
    }
    bool given = false; /* fn f(v) and nothing behind it: Matlab's, which ends with `end` */
    int depth = 0;
    for (const Token *p2 = &p->tokens[first]; function && p2 < t; p2++) {
        depth += (p2->kind == T_OPEN) - (p2->kind == T_CLOSE);
        given = given || (depth == 0 && p2->kind == T_ASSIGN);
    }
    return header || (function && (t[-1].kind == T_COLON || (t[-1].kind == T_CLOSE && !given)));
}

int foreign_behind_body(const Parser *p, int header, int at)
{
    const int column = column_of(p, &p->tokens[header]), from = at;
    bool more = true;
    while (more && p->tokens[at].kind != T_END && p->tokens[at].kind != T_CLOSE_BRACE) {
        const Token *t = &p->tokens[at];
        bool end = is_one_of(t, "end endif endfor endwhile endfunction");
        bool next = t->kind == T_ELSE || is_one_of(t, "elif elseif except finally catch case otherwise");
        bool deeper = column_of(p, t) > column, same = column_of(p, t) == column;
        if (!deeper && !(same && (end || next))) {
            break;
        }
        if (deeper && (t->kind == T_NAME || t->kind == T_OUTPUT)) {
            syntax_note_name(p, t->kind == T_NAME ? t : t + 1);
        }
        more = deeper || !end;
        at = behind_statement(p, at);
    }
    diags_drop(p->diags, DIAG_FOREIGN_SPELLING,
               (Span){p->source, p->tokens[from].begin, p->tokens[at].begin}); /* a += b */
    return at;
}
