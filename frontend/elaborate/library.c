/*
 * library: what every file may call.  Of the prelude's functions and the defaults of operators a pipeline needs a few, so
 * that each is parsed when it is asked for, once for a library.
 */
#include "elaborate.h"
#include "../ops/ops.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct FeFunction {
    const char *name;
    const char *path, *text; /* of the function alone */
    const AstStmt *fn;       /* NULL: not asked for yet */
};

struct FeDefault {
    const char *text;
    const AstExpr *e;
};

static const char *end_of_line(const char *at)
{
    const char *end = strchr(at, '\n');
    return end != NULL ? end + 1 : at + strlen(at);
}

static bool begins_function(const char *line)
{
    return strncmp(line, "fn ", 3) == 0;
}

/* A function goes from the line with its `fn` to the next one. */
static void add_functions(FeLibrary *library, const PreludeFile *file)
{
    const char *at = file->text;
    while (*at != '\0') {
        const char *end = end_of_line(at);
        while (begins_function(at) && *end != '\0' && !begins_function(end)) {
            end = end_of_line(end);
        }
        if (begins_function(at)) {
            struct FeFunction f = {.name = arena_strndup(library->arena, at + 3, strcspn(at + 3, "(")),
                                   .path = file->path,
                                   .text = arena_strndup(library->arena, at, (size_t)(end - at))};
            vec_push(library->arena, &library->functions, f);
        }
        at = end;
    }
}

static int compare_functions(const void *a, const void *b)
{
    const struct FeFunction *p = a, *q = b;
    return strcmp(p->name, q->name);
}

FeLibrary *fe_library(Arena *arena)
{
    FeLibrary *library = arena_new(arena, FeLibrary);
    library->arena = arena;
    library->ops = ops_load(arena);
    for (int i = 0; i < OPS_PRELUDE_N; i++) {
        add_functions(library, &OPS_PRELUDE[i]);
    }
    qsort(library->functions.at, (size_t)library->functions.n, sizeof *library->functions.at, compare_functions);
    for (int i = 1; i < library->functions.n; i++) { /* test_ops says which files they are in */
        assert(compare_functions(&library->functions.at[i - 1], &library->functions.at[i]) != 0 &&
               "two functions of the prelude have one name");
    }
    return library;
}

static const AstFile *parsed(FeLibrary *library, const Source *source)
{
    Diags diags;
    diags_init(&diags, library->arena);
    const AstFile *file = fe_parse(library->arena, source, &diags);
    assert(diags.errors == 0 && file->statements != NULL && "the prelude has a mistake");
    return file;
}

const AstStmt *fe_library_function(FeLibrary *library, const char *name)
{
    const struct FeFunction key = {.name = name};
    struct FeFunction *f = bsearch(&key, library->functions.at, (size_t)library->functions.n,
                                   sizeof *library->functions.at, compare_functions);
    if (f != NULL && f->fn == NULL) {
        f->fn = parsed(library, source_new(library->arena, f->path, f->text))->statements;
    }
    return f != NULL ? f->fn : NULL;
}

const AstExpr *fe_library_default(FeLibrary *library, const char *text)
{
    for (int i = 0; i < library->defaults.n; i++) {
        if (library->defaults.at[i].text == text) {
            return library->defaults.at[i].e;
        }
    }
    Source *source = source_new(library->arena, "operators", arena_printf(library->arena, "value = %s\n", text));
    const struct FeDefault made = {text, parsed(library, source)->statements->a};
    vec_push(library->arena, &library->defaults, made);
    return made.e;
}
