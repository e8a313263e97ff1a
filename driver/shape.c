/* shape: the shape of images as --shape gives it. */
#include "driver.h"

#include <stdlib.h>
#include <string.h>

/* "20000x30000:u16" or "30x2048x2048:u8" or "2048x2048x3:u8" for an input with channels:
 * extents outermost first, as the input's axes are written. */
static bool parse_shape(const char *text, const ProgInput *input, ExecInput *out)
{
    *out = (ExecInput){.extent = {1, 1, 1, 1}, .elem = ELEM_U8};
    const char *p = text;
    for (const char *axis = input->axes; *axis != '\0'; axis++) {
        char *end;
        long long n = strtoll(p, &end, 10);
        const char *at = strchr("xyzc", *axis);
        if (end == p || n < 1 || at == NULL) {
            return false;
        }
        out->extent[at - "xyzc"] = n;
        p = end;
        if (axis[1] != '\0' && *p++ != 'x') {
            return false;
        }
    }
    if (*p == ':') {
        out->elem = elem_from_name(p + 1);
        return elem_size(out->elem) > 0;
    }
    return *p == '\0';
}

ExecInput *take_shape(const Program *program, const char *text, Arena *arena)
{
    ExecInput *inputs = arena_array(arena, ExecInput, program->n_inputs + 1);
    for (int i = 0; i < program->n_inputs; i++) {
        if (!parse_shape(text, &program->inputs[i], &inputs[i])) {
            usage_error("--shape %s does not fit input %s[%s]: give extents outermost first and a type, such as "
                        "20000x30000:u16",
                        text, program->inputs[i].name, program->inputs[i].axes);
            return NULL;
        }
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
