/*
 * fuzz_pipeline: any text as a pipeline: scanner, parser, checker, lowering, formatter, and the texts of what is said.  The
 * prelude is parsed once.  What is made of a graph is fuzz_compare's.
 */
#include "fuzz.h"

#include "base/stack.h"
#include "frontend/diag/diag.h"
#include "frontend/elaborate/elaborate.h"
#include "ir/text.h"

#include <stdlib.h>

static FeLibrary *library(void)
{
    static Arena arena;
    static FeLibrary *known;
    if (known == NULL) {
        arena_init(&arena);
        known = fe_library(&arena);
    }
    return known;
}

static int check(void *context)
{
    const FuzzBytes *bytes = context;
    const uint8_t *data = bytes->data;
    size_t size = bytes->size;
    Arena arena;
    Diags diags;
    Str out;
    char *text = fuzz_text(data, size);
    arena_init(&arena);
    const Source *source = source_new(&arena, "fuzz.pipe", text);
    diags_init(&diags, &arena);
    str_init(&out, &arena);
    if (fe_check_text(source, size, &diags)) {
        const AstFile *file = fe_parse(&arena, source, &diags);
        ast_print(file, &out);
        ast_format(file, &out);
        IrGraph *g = fe_elaborate_with(&arena, library(), file, &diags);
        if (g != NULL && diags.errors == 0) {
            ir_print(g, &out);
        }
    }
    diags_render(&diags, &out, true, 20);
    diags_render_json(&diags, &out);
    arena_free(&arena);
    free(text);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FuzzBytes bytes = {data, size};
    return stack_run(check, &bytes);
}
