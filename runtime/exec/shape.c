/* shape: one text for all inputs, whose axes must be as many; all lie at one place of the sky. */
#include "shape.h"

#include <stdlib.h>
#include <stdio.h>
#include <string.h>

static bool parse(const char *text, const ProgInput *input, ExecInput *out)
{
    *out = (ExecInput){.extent = {1, 1, 1, 1},
                       .elem = ELEM_U8,
                       .sky = {.projection = SKY_TAN, .step = {{-1e-4, 0}, {0, 1e-4}}}};
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

bool shape_parse(const Program *program, const char *text, ExecInput *inputs, Err *err)
{
    for (int i = 0; i < program->n_inputs; i++) {
        if (!parse(text, &program->inputs[i], &inputs[i])) {
            char axes[16] = "";
            for (const char *axis = program->inputs[i].axes; *axis != '\0'; axis++) {
                snprintf(axes + strlen(axes), sizeof axes - strlen(axes), "%s%c", axes[0] == '\0' ? "" : ", ", *axis);
            }
            return err_set(
                err, CODE_USAGE,
                "--shape %s does not fit input %s[%s]: write the extents in this order and a type (u8, u16, i16, "
                "u32, i32, f32 or f64), such as 20000x30000:u16",
                text, program->inputs[i].name, axes);
        }
    }
    return true;
}
