/* shape: the shape of images as --shape gives it. */
#include "driver.h"

#include "../runtime/exec/shape.h"

ExecInput *take_shape(const Program *program, const char *text, Arena *arena)
{
    ExecInput *inputs = arena_array(arena, ExecInput, program->n_inputs + 1);
    Err err = {0};
    if (!shape_parse(program, text, inputs, &err)) {
        complain(&err);
        return NULL;
    }
    return inputs;
}

double *default_params(const Program *program, Arena *arena)
{
    double *params = arena_array(arena, double, program->n_params + 1);
    for (int i = 0; i < program->n_params; i++) {
        params[i] = program->params[i].value;
    }
    return params;
}
