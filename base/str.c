/* str: text that grows by doubling. */
#include "str.h"

#include <stdio.h>
#include <string.h>

void str_init(Str *s, Arena *arena)
{
    s->arena = arena;
    s->n = 0;
    s->cap = 256;
    s->at = arena_alloc(arena, s->cap);
}

void str_addn(Str *s, const char *text, size_t n)
{
    if (s->n + n + 1 > s->cap) {
        size_t cap = 2 * s->cap;
        while (cap < s->n + n + 1) {
            cap *= 2;
        }
        s->at = arena_grow(s->arena, s->at, s->cap, cap);
        s->cap = cap;
    }
    memcpy(s->at + s->n, text, n);
    s->n += n;
    s->at[s->n] = '\0';
}

void str_add(Str *s, const char *text)
{
    str_addn(s, text, strlen(text));
}

void str_cut(Str *s, size_t from, size_t to)
{
    memmove(s->at + from, s->at + to, s->n + 1 - to);
    s->n -= to - from;
}

void str_addf(Str *s, const char *format, ...)
{
    char line[512];
    va_list ap;
    va_start(ap, format);
    int n = vsnprintf(line, sizeof line, format, ap);
    va_end(ap);
    if (n < (int)sizeof line) {
        str_addn(s, line, (size_t)n);
        return;
    }
    va_start(ap, format);
    str_add(s, arena_vprintf(s->arena, format, ap));
    va_end(ap);
}

void str_add_escaped(Str *s, const char *text)
{
    for (const char *p = text; *p != '\0'; p++) {
        unsigned char ch = (unsigned char)*p;
        if (ch == '"' || ch == '\\') {
            str_addf(s, "\\%c", ch);
        } else if (ch == '\n') {
            str_add(s, "\\n");
        } else if (ch == '\t') {
            str_add(s, "\\t");
        } else if (ch < 32) {
            str_addf(s, "\\u%04x", ch);
        } else {
            str_addn(s, p, 1);
        }
    }
}

uint64_t str_hash(uint64_t hash, const char *text)
{
    for (; *text != '\0'; text++) {
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    }
    return (hash ^ 0xff) * 0x100000001b3u; /* so that "a" "bc" and "ab" "c" differ */
}
