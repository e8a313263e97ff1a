/*
 * emit_c: the program as C initialisers.
 *
 * Every array of the program becomes a static array in front of the program itself, so that the
 * file is plain data: readable, diffable, the same bytes for the same pipeline.
 */
#include "codegen.h"
#include "layout.h"

#include "../base/user_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAME_BYTES = 100 }; /* of an array: it begins with the program's, which may stand beside others */

static void number(Str *out, double v)
{
    if (isnan(v)) {
        str_add(out, "NAN");
    } else if (isinf(v)) {
        str_add(out, v > 0 ? "INFINITY" : "-INFINITY");
    } else {
        str_addf(out, "%.17g", v);
    }
}

static void field_text(Str *out, const char *name, const char *text)
{
    str_addf(out, " .%s = ", name);
    user_literal(out, text);
    str_add(out, ",");
}

static const char *truth(bool b)
{
    return b ? "true" : "false";
}

static void host(const Program *p, const char *name, Str *out)
{
    str_addf(out, "static const HostNode %s_host[] = {\n", name);
    for (int i = 0; i < p->n_host; i++) {
        const HostNode *n = &p->host[i];
        str_addf(out, "    {%d, %d, %d, %d, %d, %d, ", n->op, n->d, n->a, n->b, n->c, n->e);
        number(out, n->num);
        str_addf(out, "}, /* %d */\n", i);
    }
    str_add(out, "    {0}};\n\n");
}

static void inputs(const Program *p, const char *name, Str *out)
{
    str_addf(out, "static const ProgInput %s_inputs[] = {\n", name);
    for (int i = 0; i < p->n_inputs; i++) {
        const ProgInput *in = &p->inputs[i];
        str_add(out, "    {");
        field_text(out, "name", in->name);
        field_text(out, "axes", in->axes);
        str_addf(out, " .elem = %d, .labels = %s, .mask = %s, .buffer = %d, .count = %d, .ids = %d, .channel = %d},\n",
                 (int)in->elem, truth(in->labels), truth(in->mask), in->buffer, in->count, (int)in->ids, in->channel);
    }
    str_addf(out, "    {.name = NULL}};\n\nstatic const ProgParam %s_params[] = {\n", name);
    for (int i = 0; i < p->n_params; i++) {
        const ProgParam *par = &p->params[i];
        str_add(out, "    {");
        field_text(out, "name", par->name);
        field_text(out, "help", par->help);
        field_text(out, "words", par->words);
        str_add(out, " .value = ");
        number(out, par->value);
        str_add(out, ", .lo = ");
        number(out, par->lo);
        str_add(out, ", .hi = ");
        number(out, par->hi);
        str_addf(out, ", .integer = %s},\n", truth(par->integer));
    }
    str_add(out, "    {.name = NULL}};\n\n");
}

static void outputs(const Program *p, const char *name, Str *out)
{
    str_addf(out, "static const ProgOutput %s_outputs[] = {\n", name);
    for (int i = 0; i < p->n_outputs; i++) {
        const ProgOutput *o = &p->outputs[i];
        str_add(out, "    {");
        field_text(out, "name", o->name);
        field_text(out, "format", o->format);
        field_text(out, "axes", o->axes);
        str_addf(out, " .kind = %d, .buffer = %d, .value = %d, .table = %d, .ids = %d", (int)o->kind, o->buffer,
                 o->value, o->table, o->ids);
        for (int k = 0; k < STORED_OPTIONS; k++) {
            str_addf(out, "%s%d%s", k == 0 ? ", .stored = {{" : ", ", o->stored.of[k],
                     k == STORED_OPTIONS - 1 ? "}}" : "");
        }
        str_addf(out, ", .place = {.input = %d", o->place.input);
        for (int k = 0; k < 12 && o->place.moved; k++) {
            str_addf(out, "%s%d",
                     k == 0       ? ", .moved = true, .of = {{"
                     : k % 4 == 0 ? "}, {"
                                  : ", ",
                     o->place.of[k / 4][k % 4]);
        }
        str_add(out, o->place.moved ? "}}}},\n" : "}},\n");
    }
    str_addf(out, "    {.name = NULL}};\n\nstatic const ProgTable %s_tables[] = {\n", name);
    for (int i = 0; i < p->n_tables; i++) {
        str_add(out, "    {");
        field_text(out, "name", p->tables[i].name);
        field_text(out, "columns", p->tables[i].columns);
        const ProgTable *t = &p->tables[i];
        str_addf(out, " .step = %d, .sort = %d, .sky = {%d, %d}, .ids = {%d, %d, %d}},\n", t->step, t->sort, t->sky[0],
                 t->sky[1], t->ids[0], t->ids[1], t->ids[2]);
    }
    str_add(out, "    {.name = NULL}};\n\n");
}

/* What is asked of a run. */
static void conditions(const Program *p, const char *name, Str *out)
{
    str_addf(out, "static const ProgNeed %s_needs[] = {\n", name);
    for (int i = 0; i < p->n_needs; i++) {
        const ProgNeed *n = &p->needs[i];
        str_addf(out, "    {.a = %d, .b = %d, .below = %s,", n->a, n->b, truth(n->below));
        field_text(out, "what", n->what);
        field_text(out, "where", n->where);
        str_add(out, "},\n");
    }
    str_addf(out, "    {.what = NULL}};\n\nstatic const ProgBound %s_bounds[] = {\n", name);
    for (int i = 0; i < p->n_bounds; i++) {
        const ProgBound *b = &p->bounds[i];
        str_addf(out, "    {.value = %d, .above = %s, .lo = ", b->value, truth(b->above));
        number(out, b->lo);
        str_add(out, ", .hi = ");
        number(out, b->hi);
        str_add(out, ",");
        field_text(out, "where", b->where);
        field_text(out, "what", b->what);
        field_text(out, "must", b->must);
        str_add(out, "},\n");
    }
    str_addf(out, "    {.what = NULL}};\n\nstatic const ProgNote %s_notes[] = {\n", name);
    for (int i = 0; i < p->n_notes; i++) {
        const ProgNote *n = &p->notes[i];
        str_addf(out, "    {.kind = %d, .axis = %d, .at = %d, .extent = %d,", (int)n->kind, n->axis, n->at, n->extent);
        field_text(out, "name", n->name);
        str_add(out, "},\n");
    }
    str_add(out, "    {.name = NULL}};\n\n");
}

static void memory(const Program *p, const char *name, Str *out)
{
    str_addf(out, "static const ProgGrid %s_grids[] = {\n", name);
    for (int i = 0; i < p->n_grids; i++) {
        const int *e = p->grids[i].extent;
        str_addf(out, "    {{%d, %d, %d, %d}, %s},\n", e[0], e[1], e[2], e[3], truth(p->grids[i].has_z));
    }
    str_addf(out, "    {{0}, false}};\n\nstatic const ProgBuffer %s_buffers[] = {\n", name);
    for (int i = 0; i < p->n_buffers; i++) {
        const ProgBuffer *b = &p->buffers[i];
        str_add(out, "    {");
        field_text(out, "name", b->name);
        str_addf(out, " .elem = %d, .elem_of = %d, .grid = %d, .length = %d, .first = %d, .last = %d, .onto = %d},\n",
                 (int)b->elem, b->elem_of, b->grid, b->length, b->first, b->last, b->onto);
    }
    str_add(out, "    {.name = NULL}};\n\n");
}

static void table_indices(const char *name, const int *at, int n, Str *out)
{
    str_addf(out, ".%s = {0", name);
    for (int i = 0; i < n; i++) {
        str_addf(out, i == 0 ? ", [0] = %d" : ", %d", at[i]);
    }
    str_add(out, "}, ");
}

static void kernels(const Program *p, const char *name, Str *out)
{
    for (int i = 0; i < p->n_kernels; i++) {
        const ProgKernel *k = &p->kernels[i];
        str_addf(out, "static const ProgDefine %s_kernel%d_defines[] = {\n", name, i);
        for (int d = 0; d < k->n_defines; d++) {
            const ProgDefine *def = &k->defines[d];
            str_addf(out, "    {.kind = %d,", (int)def->kind);
            field_text(out, "name", def->name);
            str_addf(out, " .expr = %d, .n = %d, .elem = %d, ", def->expr, def->n, (int)def->elem);
            table_indices("index", def->index, def->n, out);
            table_indices("lo", def->lo, def->n, out);
            table_indices("hi", def->hi, def->n, out);
            str_add(out, "},\n");
        }
        str_add(out, "    {.name = NULL}};\n\n");
    }
    str_addf(out, "static const ProgKernel %s_kernels[] = {\n", name);
    for (int i = 0; i < p->n_kernels; i++) {
        const ProgKernel *k = &p->kernels[i];
        str_add(out, "    {");
        field_text(out, "name", k->name);
        field_text(out, "lines", k->lines);
        str_addf(out, "\n     .defines = %s_kernel%d_defines, .n_defines = %d, .source =\n    ", name, i, k->n_defines);
        user_literal(out, k->source);
        str_add(out, "},\n");
    }
    str_add(out, "    {.name = NULL}};\n\n");
}

static void int_array(Str *out, const char *of, const char *name, const int *at, int n)
{
    if (n == 0) {
        return;
    }
    str_addf(out, "static const int %s_%s[] = {", of, name);
    for (int i = 0; i < n; i++) {
        str_addf(out, "%s%d", i ? ", " : "", at[i]);
    }
    str_add(out, "};\n");
}

/* `of`: what the names of its arrays begin with. */
static void step_arrays(const ProgStep *s, const char *of, Str *out)
{
    if (s->n_args > 0) {
        str_addf(out, "static const ProgArg %s_args[] = {", of);
        for (int k = 0; k < s->n_args; k++) {
            str_addf(out, "%s{%d, %d, %d}", k ? ", " : "", (int)s->args[k].kind, s->args[k].a, s->args[k].b);
        }
        str_add(out, "};\n");
    }
    if (s->n_reads > 0) {
        str_addf(out, "static const ProgRead %s_reads[] = {", of);
        for (int k = 0; k < s->n_reads; k++) {
            const ProgRead *r = &s->reads[k];
            str_addf(out, "%s{%d, %d, %d, %d, %d, {%d, %d, %d}, %d, %s}", k ? ", " : "", r->buffer, r->below, r->above,
                     r->rows_below, r->rows_above, r->at[0], r->at[1], r->at[2], (int)r->border, truth(r->in_rounds));
        }
        str_add(out, "};\n");
    }
    if (s->n_carries > 0) {
        str_addf(out, "static const ProgCarry %s_carries[] = {", of);
        for (int k = 0; k < s->n_carries; k++) {
            str_addf(out, "%s{%s, %d, %d}", k ? ", " : "", truth(s->carries[k].is_value), s->carries[k].carry,
                     s->carries[k].next);
        }
        str_add(out, "};\n");
    }
    int_array(out, of, "uses", s->uses, s->n_uses);
    int_array(out, of, "writes", s->writes, s->n_writes);
    int_array(out, of, "inputs", s->inputs, s->n_inputs);
    int_array(out, of, "exprs", s->exprs, s->n_exprs);
    int_array(out, of, "pixels", s->pixels, s->n_pixels);
}

static void array_field(Str *out, const char *of, const char *name, int n)
{
    if (n > 0) {
        str_addf(out, " .%s = %s_%s, .n_%s = %d,", name, of, name, name, n);
    }
}

static void step_name(const char *program, int step, char *to)
{
    snprintf(to, NAME_BYTES, "%s_step%d", program, step);
}

static void steps(const Program *p, const char *name, Str *out)
{
    char of[NAME_BYTES];
    for (int i = 0; i < p->n_steps; i++) {
        step_name(name, i, of);
        step_arrays(&p->steps[i], of, out);
    }
    str_addf(out, "\nstatic const ProgStep %s_steps[] = {\n", name);
    for (int i = 0; i < p->n_steps; i++) {
        const ProgStep *s = &p->steps[i];
        step_name(name, i, of);
        str_addf(out, "    {.kind = %d,", (int)s->kind);
        field_text(out, "name", s->name);
        field_text(out, "lines", s->lines);
        field_text(out, "primitive", s->primitive);
        field_text(out, "text", s->text);
        str_addf(out,
                 " .kernel = %d, .grid = %d, .stream_z = %s, .boxed = %s, .copies = %s, .value = %d, "
                 ".of_value = %d, .ids = %d, .at_most = %d, .ended = %d, .n_packed = %d, .packed_at = %d,",
                 s->kernel, s->grid, truth(s->stream_z), truth(s->boxed), truth(s->copies), s->value, s->of_value,
                 s->ids, s->at_most, s->ended, s->n_packed, s->packed_at);
        array_field(out, of, "args", s->n_args);
        array_field(out, of, "reads", s->n_reads);
        array_field(out, of, "uses", s->n_uses);
        array_field(out, of, "writes", s->n_writes);
        array_field(out, of, "inputs", s->n_inputs);
        array_field(out, of, "exprs", s->n_exprs);
        array_field(out, of, "pixels", s->n_pixels);
        array_field(out, of, "carries", s->n_carries);
        str_add(out, "},\n");
    }
    str_add(out, "    {.name = NULL}};\n\n");
}

/* As strings: binaries of many drivers are text. */
static void binaries(const Program *p, const char *name, Str *out)
{
    enum { LINE = 100 };
    str_addf(out, "static const ProgBinary %s_binaries[] = {\n", name);
    for (int i = 0; i < p->n_binaries; i++) {
        const ProgBinary *b = &p->binaries[i];
        str_addf(out, "    {\"%s\", \"", b->key);
        for (size_t k = 0; k < b->size; k++) {
            unsigned char c = (unsigned char)b->bytes[k];
            str_add(out, k > 0 && k % LINE == 0 ? "\"\n     \"" : "");
            if (c < ' ' || c > '~' || c == '"' || c == '\\' || c == '?') {
                str_addf(out, "\\%03o", c);
            } else {
                str_addf(out, "%c", c);
            }
        }
        str_addf(out, "\", %zu},\n", b->size);
    }
    str_add(out, "    {.key = NULL}};\n\n");
}

/* `library`: the program that has the text in front of all kernels. */
static void one_program(const Program *p, const char *name, const char *library, Str *out)
{
    static const char *const ARRAYS[] = {"host",  "inputs", "params",  "outputs", "tables", "needs",   "bounds",
                                         "notes", "grids",  "buffers", "kernels", "steps",  "binaries"};
    const int n[] = {p->n_host,  p->n_inputs, p->n_params,  p->n_outputs, p->n_tables, p->n_needs,   p->n_bounds,
                     p->n_notes, p->n_grids,  p->n_buffers, p->n_kernels, p->n_steps,  p->n_binaries};
    host(p, name, out);
    inputs(p, name, out);
    outputs(p, name, out);
    conditions(p, name, out);
    memory(p, name, out);
    kernels(p, name, out);
    steps(p, name, out);
    binaries(p, name, out);
    str_addf(out, "static const Program %s = {\n   ", name);
    field_text(out, "name", p->name);
    field_text(out, "version", p->version);
    field_text(out, "hash", p->hash);
    field_text(out, "planned_for", p->planned_for);
    str_add(out, "\n   ");
    field_text(out, "source", p->source);
    str_addf(out, "\n    .library = %s_library,", library);
    for (size_t i = 0; i < sizeof ARRAYS / sizeof *ARRAYS; i++) {
        str_addf(out, "\n    .%s = %s_%s, .n_%s = %d,", ARRAYS[i], name, ARRAYS[i], ARRAYS[i], n[i]);
    }
    if (p->n_variants > 0) {
        str_addf(out, "\n    .variants = %s_variants, .n_variants = %d,", name, p->n_variants);
    }
    if (p->in_rounds != NULL) {
        str_addf(out, "\n    .in_rounds = &%s_in_rounds,", name);
    }
    str_addf(out, "\n    .n_values = %d};\n\n", p->n_values);
}

static void library_text(const Program *p, const char *name, Str *out)
{
    str_addf(out, "static const char %s_library[] =\n    ", name);
    user_literal(out, p->library != NULL ? p->library : "");
    str_add(out, ";\n\n");
}

static void bounds(const char *name, const char *what, const double *at, int n, Str *out)
{
    str_addf(out, "static const double %s_%s[] = {", name, what);
    for (int i = 0; i < n; i++) {
        number(out, at[i]);
        str_add(out, ", ");
    }
    str_add(out, "0};\n");
}

/* With a name of its own, and nearly always the same library as the program `beside` it, which has the name `library`. */
static void other_program(const Program *p, const char *name, const Program *beside, const char *library, Str *out)
{
    bool same = strcmp(p->library, beside->library) == 0;
    char own[NAME_BYTES];
    if (!same) {
        library_text(p, name, out);
    }
    if (p->in_rounds != NULL) {
        snprintf(own, sizeof own, "%s_in_rounds", name);
        other_program(p->in_rounds, own, p, same ? library : name, out);
    }
    one_program(p, name, same ? library : name, out);
}

static void variants(const Program *p, const char *name, Str *out)
{
    Str list;
    str_init(&list, out->arena);
    for (int i = 0; i < p->n_variants; i++) {
        const ProgVariant *v = &p->variants[i];
        char own[NAME_BYTES];
        snprintf(own, sizeof own, "%s_variant%d", name, i);
        other_program(v->program, own, p, name, out);
        bounds(own, "least", v->least, p->n_params, out);
        bounds(own, "below", v->below, p->n_params, out);
        str_addf(&list, "    {%s_least, %s_below, &%s},\n", own, own, own);
    }
    if (p->n_variants > 0) {
        str_addf(out, "\nstatic const ProgVariant %s_variants[] = {\n%s};\n\n", name, list.at);
    }
}

void cg_emit_c(const Program *p, const char *name, Str *out)
{
    library_text(p, name, out);
    variants(p, name, out);
    other_program(p, name, p, name, out);
}

void cg_show_kernels(const Program *p, Str *out)
{
    Str text;
    str_init(&text, out->arena);
    str_add(&text, "// In front of each kernel stand the numbers and tables that the run gives, and the library; "
                   "--kernels=all shows it.\n");
    for (int i = 0; i < p->n_kernels; i++) {
        const ProgKernel *k = &p->kernels[i];
        str_add(&text, k->source);
        for (int d = 0; d < k->n_defines; d++) {
            str_addf(&text, "%s%s", d > 0 ? ", " : "// from the run: ", k->defines[d].name);
        }
        str_add(&text, k->n_defines > 0 ? "\n" : "");
    }
    str_add(out, cg_explain_macros(out->arena, cg_wrap(out->arena, text.at)));
}
