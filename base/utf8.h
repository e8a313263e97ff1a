/* utf8: texts that somebody else wrote, a character at a time. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include "str.h"

#include <stdbool.h>

/* What is shown in the place of a character that cannot be: U+FFFD. */
#define UTF8_REPLACEMENT "\xEF\xBF\xBD"

/* Bytes of the character at `s`, of which n are there; 0 when it is none. */
int utf8_size(const char *s, int n);
/* Appends the first n bytes of a text, with the replacement for what is no character, and for control characters but
 * for newlines and tabs. */
void utf8_add_clean(Str *out, const char *text, int n);
/* Puts ? where a control character is, so that names of files cannot steer a terminal; `lines`: newlines and tabs stay. */
void utf8_hide_controls(char *text, bool lines);

#endif
