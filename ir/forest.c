/* forest: trained forests as functions of the graph; see function.h. */
#include "function.h"

#include <string.h>

const IrForest *ir_forest(Arena *arena, const char *text)
{
    IrForest *f = arena_new(arena, IrForest);
    const char *digits;
    if (!forest_head(text, &f->shape, &digits)) {
        return NULL;
    }
    uint32_t *words = arena_array(arena, uint32_t, (int)forest_length(&f->shape));
    f->words = words;
    f->text = text;
    return forest_words(&f->shape, digits, words) && forest_is_sound(&f->shape, words) ? f : NULL;
}

const IrForest *ir_forest_of(const IrGraph *g, IrId node)
{
    const IrNode *n = ir_node(g, node);
    double length = 0;
    for (int i = 0; i < g->functions.n && n->text != NULL && ir_is_const(g, n->forest.length, &length); i++) {
        const IrFunction *f = g->functions.at[i];
        if (f->forest != NULL && strcmp(f->name, n->text) == 0) {
            return length == (double)forest_length(&f->forest->shape) ? f->forest : NULL;
        }
    }
    return NULL;
}

int ir_call_ops(const IrGraph *g, const IrExprNode *call)
{
    enum { OPS_A_TREE = 32 };
    const IrForest *forest = g->functions.at[(int)call->num]->forest;
    return forest != NULL ? forest->shape.trees * OPS_A_TREE : 1;
}

int ir_forest_function(IrGraph *g, const char *name, const IrForest *forest, int wanted)
{
    IrFunction *f = arena_new(g->arena, IrFunction);
    *f = (IrFunction){.name = name, .type = wanted == 0 ? ELEM_I32 : ELEM_F32, .forest = forest, .wanted = wanted};
    for (int i = 0; i < forest->shape.features; i++) {
        vec_push(g->arena, &f->vars, ((IrFnVar){arena_printf(g->arena, "f%d", i), ELEM_F32}));
    }
    vec_push(g->arena, &f->vars, ((IrFnVar){"forest", ELEM_U32}));
    f->n_params = f->vars.n;
    vec_push(g->arena, &g->functions, f);
    return g->functions.n - 1;
}
