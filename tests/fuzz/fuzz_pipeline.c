/*
 * fuzz_pipeline: any text as a pipeline: scanner, parser, checker, lowering, formatter, and for
 * what compiles the passes, the program and its text.
 */
#include "fuzz.h"

#include "base/stack.h"
#include "codegen/codegen.h"
#include "frontend/diag.h"
#include "frontend/elaborate.h"
#include "passes/pass.h"

#include <stdlib.h>

static void compile(Arena *arena, IrGraph *g)
{
    PassContext cx = {.fuse = FUSE_ALL, .verify = true};
    const Program *program = cg_program(g, pass_run_all(g, &cx), "0123456789abcdef0123456789abcdef");
    Str text;
    str_init(&text, arena);
    cg_emit_c(program, "program", &text);
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
    const Source source = {"fuzz.pipe", text};
    arena_init(&arena);
    diags_init(&diags, &arena);
    str_init(&out, &arena);
    if (fe_check_text(&source, size, &diags)) {
        const AstFile *file = fe_parse(&arena, &source, &diags);
        ast_print(file, &out);
        ast_format(file, &out);
        IrGraph *g = fe_elaborate(&arena, file, &diags);
        if (g != NULL && diags.errors == 0) {
            compile(&arena, g);
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
