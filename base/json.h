/*
 * json: text in JSON, which is UTF-8 whatever the text is.  Names of files may be any bytes: one that belongs to no letter
 * stands as \xE9, four characters, as Python's "backslashreplace" writes it.
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stdio.h>

enum { JSON_PIECE = 8 };

/* The beginning of a text that is not empty as it stands between quotes, a letter or a byte; what is behind it. */
const char *json_piece(const char *text, char piece[JSON_PIECE]);
/* A string with its quotes; NULL is the empty one. */
void json_put_text(FILE *to, const char *text);

#endif
