/* stage_name: stages in the user's words: what an operator adds stands behind the name that its result was given. */
#include "driver.h"

#include <string.h>

/* The longest name of the user's that a stage's begins with: "mask" of "mask_otsu_histogram"; NULL: it has none. */
static const char *owner_of(const AstStmt *s, const char *stage)
{
    const char *owner = NULL;
    for (; s != NULL; s = s->next) {
        const size_t n = s->name != NULL ? strlen(s->name) : 0;
        const bool begins = n > 0 && strncmp(stage, s->name, n) == 0 && (stage[n] == '\0' || stage[n] == '_');
        const char *inside = s->kind != AST_FN && s->body != NULL ? owner_of(s->body, stage) : NULL;
        owner = begins && (owner == NULL || n > strlen(owner)) ? s->name : owner;
        owner = inside != NULL && (owner == NULL || strlen(inside) > strlen(owner)) ? inside : owner;
    }
    return owner;
}

const char *stage_name(const AstFile *file, const char *stage, Arena *arena)
{
    const char *owner = file != NULL ? owner_of(file->statements, stage) : NULL;
    const size_t n = owner != NULL ? strlen(owner) : 0;
    return n > 0 && stage[n] == '_' ? arena_printf(arena, "%s of %s", stage + n + 1, owner) : stage;
}
