/* read_words: words, numbers and lines of a graph's text; the first mistake ends the text. */
#include "reader.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void read_fail_at(Reader *r, int at, const char *what)
{
    int line, column;
    span_line_column((Span){r->source, at, at}, &line, &column);
    err_set(r->err, CODE_USAGE, "%s:%d:%d: %s", r->source->path, line, column, what);
    r->p = "";
}

int read_here(const Reader *r)
{
    return (int)(r->p - r->source->text);
}

bool read_ok(const Reader *r)
{
    return r->err->code == CODE_OK;
}

void read_fail(Reader *r, const char *format, const char *word)
{
    if (read_ok(r)) {
        read_fail_at(r, read_here(r), arena_printf(r->arena, format, word));
    }
}

void read_skip_blanks(Reader *r)
{
    while (*r->p == ' ') {
        r->p++;
    }
}

bool read_is_word_char(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Takes `text` if it comes next; a word must end there. */
bool read_accept(Reader *r, const char *text)
{
    read_skip_blanks(r);
    size_t n = strlen(text);
    bool whole = !read_is_word_char(text[n - 1]) || !read_is_word_char(r->p[strncmp(r->p, text, n) == 0 ? n : 0]);
    if (strncmp(r->p, text, n) != 0 || !whole) {
        return false;
    }
    r->p += n;
    return true;
}

void read_expect(Reader *r, const char *text)
{
    if (!read_accept(r, text)) {
        read_fail(r, "expected '%s'", text);
    }
}

static char hex_digit(Reader *r)
{
    int value = 0;
    for (int i = 0; i < 4; i++, r->p++) {
        if (!isxdigit((unsigned char)*r->p)) {
            read_fail(r, "expected four hexadecimal digits after %s", "\\u");
            return '?';
        }
        value = 16 * value + (isdigit((unsigned char)*r->p) ? *r->p - '0' : tolower((unsigned char)*r->p) - 'a' + 10);
    }
    if (value == 0 || value > 31) {
        read_fail(r, "%s stands for a character below 32", "\\u");
    }
    return (char)value;
}

/* Text in quotes, written as str_add_escaped writes it. */
const char *read_string(Reader *r)
{
    Str s;
    str_init(&s, r->arena);
    read_expect(r, "\"");
    while (*r->p != '"') {
        char c = *r->p;
        if (c == '\0' || c == '\n') {
            read_fail(r, "the text in quotes has no end%s", "");
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
                read_fail(r, "a backslash stands before one of \" \\ n t u%s", "");
            }
        }
        str_addn(&s, &c, 1);
    }
    if (read_ok(r)) {
        r->p++;
    }
    return s.at;
}

/* A bare word, or "" after an error. */
const char *read_bare(Reader *r)
{
    read_skip_blanks(r);
    size_t n = 0;
    while (read_is_word_char(r->p[n])) {
        n++;
    }
    if (n == 0 || isdigit((unsigned char)r->p[0])) {
        read_fail(r, "expected a %s", "word");
        return "";
    }
    r->p += n;
    return arena_strndup(r->arena, r->p - n, n);
}

/* A name: a word, or text in quotes where it is not one. */
const char *read_name(Reader *r)
{
    read_skip_blanks(r);
    return *r->p == '"' ? read_string(r) : read_bare(r);
}

int read_whole(Reader *r, int lo, int hi)
{
    read_skip_blanks(r);
    char *end = NULL;
    bool starts = isdigit((unsigned char)r->p[*r->p == '-']);
    long v = starts ? strtol(r->p, &end, 10) : lo - 1L;
    if (v < lo || v > hi) {
        read_fail(r, "expected a whole number%s", v > hi ? " that is smaller" : "");
        return lo;
    }
    r->p = end;
    return (int)v;
}

double read_number(Reader *r)
{
    read_skip_blanks(r);
    if (read_accept(r, "-inf")) {
        return -INFINITY;
    }
    if (read_accept(r, "inf")) {
        return INFINITY;
    }
    if (read_accept(r, "nan")) {
        return NAN;
    }
    char *end = NULL;
    bool starts = isdigit((unsigned char)r->p[*r->p == '-']);
    double v = starts ? strtod(r->p, &end) : 0;
    if (!starts || read_is_word_char(*end)) {
        read_fail(r, "expected a %s", "number");
        return 0;
    }
    r->p = end;
    return v;
}

/* The place of a word in a list. */
int read_one_of(Reader *r, const char *const *words, int n, const char *what)
{
    read_skip_blanks(r);
    const char *from = r->p;
    const char *word = read_bare(r);
    for (int i = 0; read_ok(r) && i < n; i++) {
        if (words[i] != NULL && strcmp(words[i], word) == 0) {
            return i;
        }
    }
    if (read_ok(r)) {
        r->p = from;
        read_fail(r, "expected %s", what);
    }
    return 0;
}

int read_axis(Reader *r, int n)
{
    static const char *const AXIS[IR_AXES] = {"x", "y", "z", "c"};
    return read_one_of(r, AXIS, n, "an axis");
}

Elem read_elem(Reader *r)
{
    const char *from = r->p;
    Elem type = elem_from_name(read_bare(r));
    if (read_ok(r) && type == ELEM_NONE) {
        r->p = from;
        read_fail(r, "expected %s", "a type of pixels");
    }
    return type;
}

/* The type of an expression or of a variable. */
Elem read_arithmetic(Reader *r)
{
    const char *from = r->p;
    Elem type = read_elem(r);
    if (type != ELEM_BOOL && type != ELEM_I32 && type != ELEM_U32 && type != ELEM_F32 && type != ELEM_F64 &&
        read_ok(r)) {
        r->p = from;
        read_fail(r, "expected %s", "bool, i32, u32, f32 or f64");
    }
    return type;
}

void read_end_line(Reader *r)
{
    read_skip_blanks(r);
    if (*r->p != '\n' && *r->p != '\0') {
        read_fail(r, "expected %s", "the end of the line");
    }
    r->p += *r->p == '\n';
}

void read_skip_line(Reader *r)
{
    r->p += strcspn(r->p, "\n");
    r->p += *r->p == '\n';
}

/* True when the next line belongs to the same part; comments are skipped. */
bool read_indented(Reader *r)
{
    while (*r->p == '#') {
        read_skip_line(r);
    }
    return *r->p == ' ';
}
