/* layout: how the text of kernels looks to a reader. */
#ifndef CODEGEN_LAYOUT_H
#define CODEGEN_LAYOUT_H

#include "../base/str.h"

enum { CG_COLUMNS = 120 }; /* of a line at most, as far as names let it */

/* The text with long lines cut, and what follows of them indented. */
const char *cg_wrap(Arena *arena, const char *text);
/* The text with a comment in front of the line in which a macro of the texts in front of kernels first stands. */
const char *cg_explain_macros(Arena *arena, const char *text);

#endif
