/* rename: a random pipeline with other names, those that generated kernels are full of. */
#ifndef TESTS_RENAME_H
#define TESTS_RENAME_H

#include "draw.h"

/* Appends the text with a word of the kernels' texts in the place of each name that it gives a value; `locals`: also of
 * the arguments and variables of functions. */
void rename_names(Draw *d, const char *text, bool locals, Str *out);

#endif
