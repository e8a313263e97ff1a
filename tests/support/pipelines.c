/* pipelines: see pipelines.h. */
#include "pipelines.h"

#include "frontend/elaborate.h"
#include "ir/text.h"

static const Source *source_of(Arena *arena, const char *path, const char *text)
{
    Source *source = arena_new(arena, Source);
    *source = (Source){path, arena_strdup(arena, text)};
    return source;
}

IrGraph *pipeline_graph(Arena *arena, const char *path, const char *text, const char **complaints)
{
    Diags diags;
    diags_init(&diags, arena);
    IrGraph *g =
        fe_elaborate(arena, fe_parse(arena, source_of(arena, path, text), &diags), &diags);
    Str s;
    str_init(&s, arena);
    diags_render(&diags, &s, false, 0);
    *complaints = s.at;
    return g;
}

const char *pipeline_print(const IrGraph *g)
{
    Str s;
    str_init(&s, g->arena);
    ir_print(g, &s);
    return s.at;
}

IrGraph *pipeline_parse(Arena *arena, const char *path, const char *text, const char **complaints)
{
    IrGraph *g;
    Err err = {0};
    bool ok = ir_parse(arena, source_of(arena, path, text), &g, &err);
    *complaints = arena_strdup(arena, err.text);
    return ok ? g : NULL;
}
