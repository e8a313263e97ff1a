/* exec_call: the call of a primitive, from the plan of its step. */
#include "exec_plan.h"

#include <assert.h>
#include <limits.h>
#include <math.h>

static PrimImage image_of(const ExecPlan *plan, int buffer)
{
    const ProgBuffer *from = &plan->program->buffers[buffer];
    const ExecBuffer *to = &plan->buffers[buffer];
    PrimImage image = {.elem = to->elem, .length = to->length, .h = 1, .d = 1, .planes = 1};
    if (from->grid >= 0) {
        const ExecGrid *g = &plan->grids[from->grid];
        image.w = g->w;
        image.h = g->h;
        image.d = g->d;
        image.planes = g->planes;
        image.pitch = g->pitch;
    } else {
        image.w = image.pitch = to->length < INT_MAX ? (int)to->length : INT_MAX;
    }
    return image;
}

void exec_plan_call(const ExecPlan *plan, Device *dev, int s, PrimCall *call)
{
    enum { MAX_OUT = sizeof call->out / sizeof call->out[0] };
    const ProgStep *step = &plan->program->steps[s];
    const ExecGrid *g = &plan->grids[step->grid];
    *call = (PrimCall){.dev = dev,
                       .name = step->name,
                       .quick = plan->steps[s].quick == QUICK_ALWAYS,
                       .w = g->w,
                       .h = g->h,
                       .d = g->d,
                       .planes = g->planes,
                       .pitch = g->pitch,
                       .text = step->text,
                       .labels = NAN,
                       .value = step->value,
                       .fed = plan->steps[s].fed,
                       .of_value = step->of_value};
    assert(step->n_inputs <= NODE_INPUTS && step->n_pixels <= NODE_INPUTS);
    assert(step->n_writes <= MAX_OUT && step->n_exprs <= NODE_ARGUMENTS);
    for (int i = 0; i < step->n_inputs; i++) {
        call->in[i] = step->inputs[i] >= 0 ? image_of(plan, step->inputs[i]) : (PrimImage){0};
    }
    for (int i = 0; i < step->n_pixels; i++) {
        call->pixels[i] = step->pixels[i] >= 0 ? plan->buffers[step->pixels[i]].elem : ELEM_NONE;
    }
    for (int i = 0; i < step->n_writes; i++) {
        call->out[i] = image_of(plan, step->writes[i]);
    }
    for (int i = 0; i < step->n_exprs; i++) {
        call->arg[i] = plan->steps[s].values[step->n_args + i];
    }
}
