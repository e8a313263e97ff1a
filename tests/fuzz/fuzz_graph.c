/* fuzz_graph: any text as a printed graph (ir/text.h); what is read is printed again. */
#include "fuzz.h"

#include "base/stack.h"
#include "ir/text.h"

#include <stdlib.h>

static int check(void *context)
{
    const FuzzBytes *bytes = context;
    const uint8_t *data = bytes->data;
    size_t size = bytes->size;
    Arena arena;
    IrGraph *g;
    Err err = {0};
    char *text = fuzz_text(data, size);
    arena_init(&arena);
    const Source *source = source_new(&arena, "fuzz.ir", text);
    if (ir_parse(&arena, source, &g, &err)) {
        Str out;
        str_init(&out, &arena);
        ir_print(g, &out);
        ir_print_dot(g, &out);
    }
    arena_free(&arena);
    free(text);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FuzzBytes bytes = {data, size};
    return stack_run(check, &bytes);
}
