/*
 * user_text: what users write, as it may stand in text that a compiler reads.
 *
 * Names of users have a shape that no other name has: `NAME_` stands for what is called NAME, and `NAME__rows` for
 * something that belongs to it.  Names of generated code, of the texts in front of it, of C and of OpenCL C neither
 * end in an underscore nor have two of them inside; those with two in front are C's, so that a name which begins
 * with an underscore gets a `u` before it.
 */
#ifndef BASE_USER_TEXT_H
#define BASE_USER_TEXT_H

#include "str.h"

#include <stdbool.h>

/* A letter or an underscore, then letters, digits and underscores. */
bool user_is_word(const char *name);
/* "blurred_" for the word `blurred`.  Different names give different identifiers. */
const char *user_name(Arena *arena, const char *name);
/* "blurred__rows" for `blurred` and "rows"; `part` neither begins nor ends with an underscore, nor has two of them. */
const char *user_part(Arena *arena, const char *name, const char *part);
/* True for what user_name and user_part give. */
bool user_owns(const char *identifier);

/* Appends a string literal of C, a line of source for each line of the text; NULL for no text. */
void user_literal(Str *out, const char *text);
/* Appends the first n bytes of one line as the inside of a comment, which cannot end there nor go on in the next line;
 * cut where it is longer than `room` bytes. */
void user_comment(Str *out, const char *text, size_t n, size_t room);

#endif
