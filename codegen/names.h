/* names: identifiers of C and OpenCL C made from the user's names. */
#ifndef CODEGEN_NAMES_H
#define CODEGEN_NAMES_H

#include "../base/arena.h"

#include <stdbool.h>

/* `name` with everything that an identifier cannot hold replaced by '_'; words that C or
 * OpenCL C reserve, and those that look like macros, get a '_' at the end. */
const char *cg_identifier(Arena *arena, const char *name);
/* The same in capitals, for macros. */
const char *cg_macro(Arena *arena, const char *name);

#endif
