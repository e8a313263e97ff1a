/* subject: reading, writing, and making the images. */
#include "subject.h"

#include "frontend/diag/diag.h"
#include "tests/support/pipelines.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ----------------------------------------------------------------------------- */

static bool find_kind(const char *name, BothKind *kind)
{
    for (int i = 0; i < BOTH_KINDS; i++) {
        if (strcmp(BOTH_KIND_NAMES[i], name) == 0) {
            *kind = (BothKind)i;
            return true;
        }
    }
    return false;
}

static bool read_image(const char *p, SubjectCase *c)
{
    char elem[16], kind[16];
    unsigned seed;
    if (c->n_images == SUBJECT_INPUTS || sscanf(p, " %15s %15s %u", elem, kind, &seed) != 3) {
        return false;
    }
    SubjectImage *image = &c->images[c->n_images++];
    *image = (SubjectImage){.elem = elem_from_name(elem), .seed = seed};
    return image->elem != ELEM_NONE && find_kind(kind, &image->kind);
}

static bool read_params(const char *p, SubjectCase *c)
{
    char *end;
    for (double v = strtod(p, &end); end != p; v = strtod(p, &end)) {
        if (c->n_params == SUBJECT_PARAMS) {
            return false;
        }
        c->params[c->n_params++] = v;
        p = end;
    }
    return true;
}

/* `line` is what stands behind "# case", terminated. */
static bool read_case(const char *line, SubjectCase *c)
{
    static const char PARAMS[] = " params";
    int *e = c->extent;
    if (sscanf(line, "%d x %d x %d x %d", &e[0], &e[1], &e[2], &e[3]) != 4) {
        return false;
    }
    for (const char *p = strchr(line, ','); p != NULL; p = strchr(p, ',')) {
        p++;
        bool params = strncmp(p, PARAMS, strlen(PARAMS)) == 0;
        if (!(params ? read_params(p + strlen(PARAMS), c) : read_image(p, c))) {
            return false;
        }
    }
    return e[0] > 0 && e[1] > 0 && e[2] > 0 && e[3] > 0;
}

bool subject_read(Subject *subject, const char *text)
{
    static const char CASE[] = "# case ";
    size_t used = 0;
    memset(subject, 0, sizeof *subject);
    while (*text != '\0') {
        size_t n = strcspn(text, "\n"), all = n + (text[n] == '\n');
        if (strncmp(text, CASE, strlen(CASE)) == 0) {
            char line[400];
            if (subject->n_cases == SUBJECT_CASES || n >= sizeof line) {
                return false;
            }
            snprintf(line, sizeof line, "%.*s", (int)n, text);
            if (!read_case(line + strlen(CASE), &subject->cases[subject->n_cases++])) {
                return false;
            }
        } else if (used + all + 1 > sizeof subject->text) {
            return false;
        } else {
            memcpy(subject->text + used, text, all);
            used += all;
        }
        text += all;
    }
    return true;
}

/* ---- writing ----------------------------------------------------------------------------- */

static void write_case(const SubjectCase *c, Str *out)
{
    const int *e = c->extent;
    str_addf(out, "# case %d x %d x %d x %d", e[0], e[1], e[2], e[3]);
    for (int i = 0; i < c->n_images; i++) {
        const SubjectImage *image = &c->images[i];
        str_addf(out, ", %s %s %u", elem_name(image->elem), BOTH_KIND_NAMES[image->kind], image->seed);
    }
    for (int i = 0; i < c->n_params; i++) {
        str_addf(out, "%s %.17g", i == 0 ? ", params" : "", c->params[i]);
    }
    str_add(out, "\n");
}

void subject_write(const Subject *subject, Str *out)
{
    for (int i = 0; i < subject->n_cases; i++) {
        write_case(&subject->cases[i], out);
    }
    str_add(out, subject->text);
}

/* ---- making ------------------------------------------------------------------------------ */

IrGraph *subject_compile(Arena *arena, const char *text)
{
    Diags *diags = arena_new(arena, Diags);
    Source *source = source_new(arena, "subject.pipe", text);
    diags_init(diags, arena);
    const AstFile *file = fe_parse(arena, source, diags);
    IrGraph *g = fe_elaborate_with(arena, pipeline_library(), file, diags);
    return diags->errors == 0 ? g : NULL;
}

/* What a file for this input may hold: runs refuse pixels that do not fit, the evaluator takes any. */
static SubjectImage suitable(SubjectImage image, const IrNode *input)
{
    if (input->kind == IR_K_LABELS) {
        image.kind = BOTH_SPARSE;
        image.elem = image.elem == ELEM_U8 || image.elem == ELEM_U32 ? image.elem : ELEM_U16;
    } else if (input->kind != IR_K_MASK && input->elem != ELEM_FILE) {
        image.elem = input->elem;
    }
    return image;
}

/* No label is larger than the number of pixels. */
static void bound_labels(IrEvalInput *image)
{
    const int *e = image->extent;
    double n = (double)e[0] * e[1] * e[2] * e[3], *v = (double *)(uintptr_t)image->pixels;
    for (size_t i = 0; v != NULL && i < (size_t)n; i++) {
        v[i] = v[i] < n ? v[i] : n;
    }
}

static IrEvalInput make_input(const SubjectCase *c, SubjectImage image, const IrNode *input)
{
    int extent[IR_AXES];
    for (int axis = 0; axis < IR_AXES; axis++) {
        extent[axis] = strchr(input->text, "xyzc"[axis]) != NULL ? c->extent[axis] : 1;
    }
    image = suitable(image, input);
    IrEvalInput made = both_image(extent[0], extent[1], extent[2], extent[3], image.elem, image.seed, (int)image.kind);
    if (input->kind == IR_K_LABELS) {
        bound_labels(&made);
    }
    return made;
}

bool subject_case(const Subject *subject, int i, const IrGraph *g, BothCase *out)
{
    const SubjectCase *c = &subject->cases[i];
    *out = (BothCase){0};
    for (IrId id = 1; id < (IrId)g->nodes.n; id++) {
        const IrNode *node = ir_node(g, id);
        if (node->op != IR_INPUT || node->dead) {
            continue;
        }
        int k = out->n_inputs;
        SubjectImage image = k < c->n_images ? c->images[k] : (SubjectImage){ELEM_U8, BOTH_NOISE, (unsigned)k};
        out->inputs[out->n_inputs++] = make_input(c, image, node);
        if (out->inputs[k].pixels == NULL) {
            return false;
        }
    }
    for (int p = 0; p < g->params.n; p++) {
        const IrParam *param = &g->params.at[p];
        double value = p < c->n_params ? c->params[p] : param->value;
        value = param->integer ? floor(value) : value;
        out->params[p] = fmin(fmax(value, param->lo), param->hi);
    }
    return true;
}

void subject_free(BothCase *images)
{
    for (int i = 0; i < images->n_inputs; i++) {
        free((void *)(uintptr_t)images->inputs[i].pixels);
    }
    images->n_inputs = 0;
}
