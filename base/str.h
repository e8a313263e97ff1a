/*
 * str: text that grows, in an arena.  The text is always terminated; `at` may move when it grows.
 */
#ifndef BASE_STR_H
#define BASE_STR_H

#include "arena.h"

#include <stdint.h>

typedef struct Str {
    Arena *arena;
    char *at;
    size_t n, cap;
} Str;

void str_init(Str *s, Arena *arena);
void str_add(Str *s, const char *text);
void str_addn(Str *s, const char *text, size_t n);
void str_addf(Str *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Takes out the bytes from `from` to `to`. */
void str_cut(Str *s, size_t from, size_t to);
/* Appends `text` as the inside of a JSON or C string literal (both escape alike here). */
void str_add_escaped(Str *s, const char *text);
/* FNV-1a over a text, for keys: start with STR_HASH. */
#define STR_HASH 0xcbf29ce484222325u
uint64_t str_hash(uint64_t hash, const char *text);

#endif
