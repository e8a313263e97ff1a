/*
 * spellings: operators and comments of other languages, read as what was meant, with a complaint.
 */
#include "scan.h"
#include "parse.h"

#include <string.h>

/* The rest of the line, as a comment that begins with `length` other characters.  Returns the bytes taken. */
static int add_line_comment(Scan *s, int length)
{
    if (s->diags != NULL) {
        diag_add(s->diags, DIAG_FOREIGN_COMMENT, lex_span_at(s, length), lex_copy(s, length));
    }
    length = (int)strcspn(s->source->text + s->at, "\r\n");
    lex_add(s, T_COMMENT, length, NULL);
    return length;
}

/* As far as is looked around a semicolon: lines that people write are shorter, and others are not gone over for each of theirs. */
enum { LOOK = 200 };

/* The first token of this line, or the last of which that is not known. */
static int line_start(const Scan *s)
{
    int first = s->raw->n;
    while (first > 0 && s->raw->n - first < LOOK && s->raw->at[first - 1].kind != T_NEWLINE) {
        first--;
    }
    return first;
}

/* The bracket of this line that is open, if it is closed behind on the same line; '\0' otherwise. */
static char open_on_line(const Scan *s, int first)
{
    int depth = 0, i = s->raw->n - 1;
    for (; i >= first && depth <= 0; i--) {
        int kind = s->raw->at[i].kind;
        depth += (kind == T_OPEN || kind == T_OPEN_SQUARE) - (kind == T_CLOSE || kind == T_CLOSE_SQUARE);
    }
    const char *begin = s->source->text + s->at + 1, *rest = begin;
    for (int open = 0; depth > 0 && rest - begin < LOOK && strchr("\r\n#", *rest) == NULL; rest++) {
        open += (strchr("([", *rest) != NULL) - (strchr(")]", *rest) != NULL);
        if (open < 0) {
            return s->source->text[s->raw->at[i + 1].begin];
        }
    }
    return '\0';
}

/* The end of a statement; words behind it at the beginning of a line are a comment; in brackets a comma was meant. */
int lex_add_semicolon(Scan *s)
{
    const int first = line_start(s);
    const char *text = s->source->text + s->at, open = open_on_line(s, first);
    const bool line = s->at == 0 || strchr("\r\n", text[-1]) != NULL;
    if (open != '\0') {
        bool told = false; /* of the row before */
        for (int i = first; i < s->raw->n; i++) {
            told = told || (s->raw->at[i].kind == T_COMMA && s->raw->at[i].silent);
        }
        const int kind = s->raw->at[first].kind;
        for (int i = first; i < s->raw->n; i++) {
            told = told || s->raw->at[i].kind == T_FOR;
        }
        if (!told && kind != T_FOR) { /* for (i = 0; i < 3; i++): the parser says it */
            lex_complain(s, 1,
                         kind == T_REPEAT  ? "the number of rounds stands alone: `repeat 10 { ... }`"
                         : open == '('     ? "arguments are separated by commas"
                         : kind == T_INPUT ? "axes are separated by commas"
                                           : "each row is a list: `[[1, 2, 1], [2, 4, 2]]`");
        }
        lex_add(s, T_COMMA, 1, ",");
        s->raw->at[s->raw->n - 1].silent = true;
        return 1;
    }
    if (line && strspn(text, "; \t") < strcspn(text, "\r\n")) {
        return add_line_comment(s, 1);
    }
    if (!s->semicolon) { /* once: who writes one writes many */
        lex_complain(s, 1, "a new line ends a statement");
    }
    s->semicolon = true;
    lex_add(s, T_NEWLINE, 1, "");
    s->raw->at[s->raw->n - 1].silent = true;
    return 1;
}

/* A comment at the beginning of a statement, else the first of two signs. */
int lex_add_dashes(Scan *s)
{
    if (lex_at_statement(s)) {
        return add_line_comment(s, 2);
    }
    lex_add(s, T_MINUS, 1, "-");
    return 1;
}

/* A power, xor, or that of a unit. */
void lex_add_caret(Scan *s)
{
    const Token before = lex_back(s, 1);
    const char next = s->source->text[s->at + 1];
    const char *help = "a power is written `**`";
    if (before.kind == T_NUMBER && before.unit != NULL && (next == '2' || next == '3')) {
        help = arena_printf(s->arena, "write `%s%c`", before.unit, next);
    } else if (before.kind == T_CLOSE && strchr(" (", next) != NULL) {
        help = "a power is written `**`; one mask or the other: `xor`";
    }
    lex_add_foreign(s, T_POWER, 1, "**", help);
}

static bool in_braces(const Scan *s)
{
    int depth = 0;
    for (int i = 0; i < s->raw->n; i++) {
        depth += (s->raw->at[i].kind == T_OPEN_BRACE) - (s->raw->at[i].kind == T_CLOSE_BRACE);
    }
    return depth > 0;
}

/* x += 1, x++: in a loop the name again, elsewhere a new one. */
void lex_add_compound(Scan *s, int length)
{
    const char *text = s->source->text + s->at, *rest = text + length;
    const Token name = lex_back(s, 1);
    const bool step = text[length - 1] != '=';
    const char *help = "write the name again: `x = x + 1`";
    rest += strspn(rest, " \t");
    size_t n = strcspn(rest, ";#\r\n");
    while (n > 0 && strchr(" \t", rest[n - 1]) != NULL) {
        n--;
    }
    if (name.kind == T_NAME && (step || n > 0) && n < 60) {
        const char *operator= text[0] == '^' ? "**"
        : text[0] == '&'                     ? "and"
        : text[0] == '|'                     ? "or"
                                             : arena_strndup(s->arena, text, (size_t)(step ? 1 : length - 1));
        help = arena_printf(s->arena, "%s: `%s%s = %s %s %.*s`",
                            in_braces(s) ? "write the name again" : "give the result a name of its own", name.text,
                            in_braces(s) ? "" : "2", name.text, operator, step ? 1 : (int)n, step ? "1" : rest);
    }
    lex_add_foreign(s, T_ASSIGN, length, lex_copy(s, length), help);
}

void lex_add_dots(Scan *s)
{
    const char *behind = s->source->text + s->at + 3;
    if (strchr("\r\n", behind[strspn(behind, " \t")]) != NULL) { /* Matlab's line that goes on */
        lex_complain(s, 3, "leave it out: a line goes on by itself inside brackets and behind an operator");
        lex_add(s, T_COMMENT, 3, NULL);
        return;
    }
    int before = lex_back(s, 1).kind;
    const Token name = lex_back(s, 2);
    const char *image = before == T_OPEN_SQUARE && name.kind == T_NAME ? name.text : "image";
    const char *rest = s->source->text + s->at + 3, *number = rest + strspn(rest, ", ");
    int n = (int)strspn(number, "0123456789");
    lex_add_foreign(s, T_RANGE, 3, "..",
                    before == T_OPEN_SQUARE || before == T_COMMA
                        ? arena_printf(s->arena, "axes have names: a channel is %s[c = %.*s], a plane %s[z = %.*s]",
                                       image, n > 0 ? n : 1, n > 0 ? number : "0", image, n > 0 ? n : 1,
                                       n > 0 ? number : "0")
                        : "a range is written `lo .. hi`");
}

/* gaussian(image, 2) -> a, as `a = gaussian(image, 2)`. */
static const char *name_in_front(const Scan *s, int first)
{
    const char *text = s->source->text, *name = text + s->at + 2;
    name += strspn(name, " \t");
    const size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    const int begin = first < s->raw->n ? s->raw->at[first].begin : s->at, end = lex_back(s, 1).end;
    return n > 0 && n <= LOOK && end > begin && end - begin <= LOOK
               ? arena_printf(s->arena, "a value gets its name in front: `%.*s = %.*s`", (int)n, name, end - begin,
                              text + begin)
               : "a value gets its name in front: `name = ...`";
}

/* fn f(x) -> x * 2, or gaussian(image, 2) -> a. */
void lex_add_arrow(Scan *s)
{
    int i = s->raw->n;
    while (i > 0 && s->raw->at[i - 1].kind != T_NEWLINE) {
        i--;
    }
    bool function = i < s->raw->n && s->raw->at[i].kind == T_FN;
    const Token owner = lex_back(s, 1);
    const char *member = s->source->text + s->at + 2;
    const size_t n = strspn(member, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    if (owner.kind == T_NAME && owner.end == s->at && n > 0 && n < LOOK) { /* r->mean */
        lex_add_foreign(s, T_DOT, 2, ".",
                        arena_printf(s->arena, "a member stands behind a point: `%s.%.*s`", owner.text, (int)n,
                                     member));
        return;
    }
    lex_add_foreign(s, T_COLON, 2, ":",
                    function ? "what a function gives follows `=`: `fn name(x) = ...`" : name_in_front(s, i));
}

/* f = v => v * 2, which the parser explains, or `>=` the wrong way round: the parameters stand on both sides of an arrow. */
void lex_add_double_arrow(Scan *s)
{
    const char *rest = s->source->text + s->at + 2;
    const size_t line = strcspn(rest, "\r\n#");
    int i = s->raw->n - 1;
    bool params = i > 0 && (s->raw->at[i].kind == T_NAME || s->raw->at[i].kind == T_CLOSE), used = false;
    while (i > 0 && s->raw->at[i].kind != T_ASSIGN && s->raw->at[i].kind != T_NEWLINE && s->raw->at[i].kind != T_OPEN) {
        const Token *t = &s->raw->at[i--];
        const char *at = t->kind == T_NAME ? strstr(rest, t->text) : NULL;
        used = used || (at != NULL && (size_t)(at - rest) < line);
        params = params && (t->kind == T_NAME || t->kind == T_COMMA || t->kind == T_CLOSE);
    }
    if (params && (used || s->raw->at[s->raw->n - 1].kind == T_CLOSE)) {
        lex_add(s, T_INVALID, 2, "=>");
        lex_unsilence(s);
    } else {
        lex_add_foreign(s, T_COMPARE, 2, ">=", "write `>=`");
    }
}

/* t := otsu(v), within a formula or by itself. */
void lex_add_walrus(Scan *s)
{
    const Token name = lex_back(s, 1);
    if (s->depth == 0 || name.kind != T_NAME) {
        lex_add_foreign(s, T_ASSIGN, 2, "=", "write `=`");
        return;
    }
    const char *value = s->source->text + s->at + 2;
    value += strspn(value, " \t");
    int n = 0;
    for (int depth = 0; strchr("\r\n#", value[n]) == NULL && n < LOOK; n++) {
        depth += (strchr("([", value[n]) != NULL) - (strchr(")]", value[n]) != NULL);
        if (depth < 0 || (depth == 0 && value[n] == ',')) {
            break;
        }
    }
    lex_add_foreign(s, T_INVALID, 2, ":=",
                    arena_printf(s->arena, "a name gets its value on a line of its own, above: `%s = %.*s`", name.text,
                                 n, value));
}

/* image |> gaussian(2) of Julia and R. */
void lex_add_pipe(Scan *s, int length)
{
    const Token value = lex_back(s, 1);
    const char *call = s->source->text + s->at + length;
    call += strspn(call, " \t");
    const int name = (int)strspn(call, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.");
    const int inside = name > 0 && call[name] == '(' ? (int)strcspn(call + name + 1, "()\r\n") : -1;
    const bool whole = value.kind == T_NAME && inside >= 0 && call[name + 1 + inside] == ')';
    lex_add_foreign(s, T_INVALID, length, lex_copy(s, length),
                    whole ? arena_printf(s->arena, "what goes in stands in parentheses: `%.*s(%s%s%.*s)`", name, call,
                                         value.text, inside > 0 ? ", " : "", inside, call + name + 1)
                          : "what goes in stands in parentheses: `gaussian(image, 2)`");
}

/* ++a where a statement begins, else two signs.  Returns the bytes taken. */
int lex_add_step(Scan *s)
{
    const char *name = s->source->text + s->at + 2;
    const int n = (int)strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    if (!lex_at_statement(s)) {
        lex_add(s, T_PLUS, 1, "+");
        return 1;
    }
    lex_add_foreign(s, T_INVALID, 2, "++",
                    arena_printf(s->arena, "give the result a name of its own: `%.*s2 = %.*s + 1`", n, name, n, name));
    return 2;
}

/* `not`, or a result of Matlab's that is left out: [~, n]. */
void lex_add_not(Scan *s)
{
    const char *rest = s->source->text + s->at + 1;
    const int before = lex_back(s, 1).kind;
    rest += strspn(rest, " ");
    if ((before == T_OPEN_SQUARE || before == T_COMMA) && (*rest == ',' || *rest == ']') &&
        s->source->text[s->at] == '~') {
        lex_add(s, T_NAME, 1, "_");
    } else {
        lex_add_foreign(s, T_NOT, 1, "not", "write `not`");
    }
}

/* labels$area of R. */
void lex_add_dollar(Scan *s)
{
    const Token owner = lex_back(s, 1);
    const char *name = s->source->text + s->at + 1;
    const int n = (int)strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    lex_add_unknown(
        s, 1,
        owner.kind == T_NAME && owner.end == s->at && n > 0 && n < LOOK
            ? arena_printf(s->arena,
                           "a value for each label is `property(%s, %.*s)`; a member stands behind a point: `%s.%.*s`",
                           owner.text, n, name, owner.text, n, name)
            : NULL);
}

/* A backslash at the end of a line, as in Python and C: the line goes on. */
void lex_add_continued(Scan *s, int length)
{
    if (s->diags != NULL) {
        Diag *d = diag_add(s->diags, DIAG_UNKNOWN_CHARACTER, lex_span_at(s, 1), "`\\`");
        diag_help(s->diags, d, "%s", BACKSLASH_HELP);
    }
    lex_add(s, T_COMMENT, length, NULL);
}

/* <!-- of HTML.  Returns the bytes taken. */
int lex_add_markup(Scan *s)
{
    const char *text = s->source->text + s->at, *close = strstr(text, "-->");
    if (s->diags != NULL) {
        diag_add(s->diags, DIAG_FOREIGN_COMMENT, lex_span_at(s, 4), "<!--");
    }
    const int length = close != NULL ? (int)(close - text) + 3 : (int)strcspn(text, "\r\n");
    lex_add(s, T_COMMENT, length, NULL);
    return length;
}

/* `//=`: behind a name an assignment, else a comment. */
int lex_add_divided(Scan *s)
{
    if (lex_at_statement(s)) {
        return lex_add_comment(s, 2);
    }
    lex_add_compound(s, 3);
    return 3;
}

/* `%{` of Matlab: a comment of several lines, or the remainder.  Returns the bytes taken. */
int lex_add_percent(Scan *s)
{
    if (!lex_at_statement(s)) {
        lex_add(s, T_FACTOR, 1, "%");
        return 1;
    }
    const char *text = s->source->text + s->at, *close = strstr(text, "%}");
    if (s->diags != NULL) {
        diag_add(s->diags, DIAG_FOREIGN_COMMENT, lex_span_at(s, 2), "%{");
    }
    const int length = close != NULL ? (int)(close - text) + 2 : (int)strcspn(text, "\r\n");
    lex_add(s, T_COMMENT, length, NULL);
    return length;
}

/* Three quotes: a comment of Python where a statement begins, and else a text.  Returns the bytes taken. */
int lex_add_long_string(Scan *s)
{
    const char *text = s->source->text + s->at;
    const char quotes[] = {text[0], text[0], text[0], '\0'};
    const char *close = strstr(text + 3, quotes);
    const int length = close != NULL ? (int)(close - text) + 3 : (int)strcspn(text, "\r\n");
    if (lex_at_statement(s)) {
        if (s->diags != NULL) {
            diag_add(s->diags, DIAG_FOREIGN_COMMENT, lex_span_at(s, 3), quotes);
        }
        lex_add(s, T_COMMENT, length, NULL);
    } else {
        lex_complain(s, 3, "a text has one double quote on each side: `\"text\"`");
        lex_add(s, T_STRING, length, "");
        s->raw->at[s->raw->n - 1].silent = true;
    }
    return length;
}

/* A quote by itself: Matlab's transposition behind a value, else an open string. */
const char *lex_quote_help(const Scan *s)
{
    const Token before = lex_back(s, 1);
    bool touches = before.end == s->at;
    bool value = before.kind == T_NAME || before.kind == T_CLOSE || before.kind == T_CLOSE_SQUARE;
    return touches && value ? "rows and columns change places with transpose(image)"
                            : "strings are written \"like this\"";
}

/* `//` and `/ *`: a division, or a comment of another language.  Returns the bytes taken. */
int lex_add_comment(Scan *s, int length)
{
    const char *text = s->source->text + s->at;
    bool block = text[1] == '*';
    if (!block && !lex_at_statement(s)) {
        lex_add(s, T_FACTOR, length, "//");
        return length;
    }
    if (s->diags != NULL) {
        diag_add(s->diags, DIAG_FOREIGN_COMMENT, lex_span_at(s, length), lex_copy(s, length));
    }
    const char *close = block ? strstr(text + 2, "*/") : NULL;
    length = close != NULL ? (int)(close - text) + 2 : (int)strcspn(text, "\n");
    lex_add(s, T_COMMENT, length, NULL);
    return length;
}
