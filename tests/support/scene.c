/* scene: see scene.h. */
#include "scene.h"

#include "pipelines.h"

#include "codegen/codegen.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

void scene_open(Subject *s, const char *text, const int e[4], Elem elem, int kind)
{
    const char *complaints = "";
    Err err = {0};
    memset(s, 0, sizeof *s);
    arena_init(&s->arena);
    IrGraph *g = pipeline_graph(&s->arena, "scene.pipe", text, &complaints);
    if (g == NULL) {
        fail_msg("%s: %s", text, complaints);
    }
    s->in.n_inputs = 1;
    s->in.inputs[0] = both_image(e[0], e[1], e[2], e[3], elem, 7, kind);
    for (int i = 0; i < g->params.n; i++) {
        s->in.params[i] = g->params.at[i].value;
    }
    if (!both_evaluate(g, &s->in, &s->want, &err)) {
        fail_msg("%s: %s", text, err.text);
    }
    PassContext cx = {.fuse = FUSE_ALL, .verify = true};
    s->program = cg_program(g, pass_run_all(g, &cx), "0123456789abcdef0123456789abcdef");
}

void scene_close(Subject *s)
{
    both_free(&s->want);
    free((void *)(uintptr_t)s->in.inputs[0].pixels);
    arena_free(&s->arena);
}
