/* pipelines: see pipelines.h. */
#include "pipelines.h"

#include "fixtures.h"
#include "ir/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

FeLibrary *pipeline_library(void)
{
    static Arena kept;
    static FeLibrary *library;
    if (library == NULL) {
        arena_init(&kept);
        library = fe_library(&kept);
    }
    return library;
}

IrGraph *pipeline_graph(Arena *to, const char *path, const char *text, const char **complaints)
{
    Diags diags;
    diags_init(&diags, to);
    const AstFile *file = fe_parse(to, source_new(to, path, arena_strdup(to, text)), &diags);
    IrGraph *g = fe_elaborate_with(to, pipeline_library(), file, &diags);
    Str s;
    str_init(&s, to);
    diags_render(&diags, &s, false, 0);
    *complaints = s.at;
    return g;
}

IrGraph *pipeline_must(const char *path, const char *text)
{
    const char *complaints;
    IrGraph *g = pipeline_graph(&arena, path, text, &complaints);
    if (g == NULL) {
        fail_msg("%s\n%s\n%s", path, text, complaints);
    }
    return g;
}

const char *pipeline_print(const IrGraph *g)
{
    Str s;
    str_init(&s, g->arena);
    ir_print(g, &s);
    return s.at;
}

IrGraph *pipeline_parse(Arena *to, const char *path, const char *text, const char **complaints)
{
    IrGraph *g;
    Err err = {0};
    bool ok = ir_parse(to, source_new(to, path, arena_strdup(to, text)), &g, &err);
    *complaints = arena_strdup(to, err.text);
    return ok ? g : NULL;
}
