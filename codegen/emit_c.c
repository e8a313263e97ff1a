/*
 * emit_c: the program as C initialisers.
 *
 * Every array of the program becomes a static array in front of the program itself, so that the
 * file is plain data: readable, diffable, the same bytes for the same pipeline.
 */
#include "codegen.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void text_literal(Str *out, const char *text)
{
    if (text == NULL) {
        str_add(out, "NULL");
        return;
    }
    str_add(out, "\"");
    for (const char *p = text; *p != '\0'; p++) {
        switch (*p) {
        case '\n':
            str_add(out, p[1] != '\0' ? "\\n\"\n    \"" : "\\n");
            break;
        case '\t':
            str_add(out, "\\t");
            break;
        case '"':
        case '\\':
            str_addf(out, "\\%c", *p);
            break;
        case '?':
            str_add(out, "\\?"); /* no trigraphs */
            break;
        default:
            if ((unsigned char)*p < 32 || (unsigned char)*p > 126) {
                str_addf(out, "\\%03o", (unsigned)(unsigned char)*p);
            } else {
                str_addn(out, p, 1);
            }
        }
    }
    str_add(out, "\"");
}

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
    text_literal(out, text);
    str_add(out, ",");
}

static const char *truth(bool b)
{
    return b ? "true" : "false";
}

static void host(const Program *p, Str *out)
{
    str_addf(out, "static const HostNode host_nodes[] = {\n");
    for (int i = 0; i < p->n_host; i++) {
        const HostNode *n = &p->host[i];
        str_addf(out, "    {%d, %d, %d, %d, %d, %d, ", n->op, n->d, n->a, n->b, n->c, n->e);
        number(out, n->num);
        str_addf(out, "}, /* %d */\n", i);
    }
    str_add(out, "    {0}};\n\n");
}

static void inputs(const Program *p, Str *out)
{
    str_add(out, "static const ProgInput inputs[] = {\n");
    for (int i = 0; i < p->n_inputs; i++) {
        const ProgInput *in = &p->inputs[i];
        str_addf(out, "    {.name = \"%s\", .axes = \"%s\", .elem = %d, .labels = %s, .mask = %s, "
                 ".buffer = %d, .count = %d, .vector = %d, .channel = %d},\n",
                 in->name, in->axes, (int)in->elem, truth(in->labels), truth(in->mask), in->buffer,
                 in->count, in->vector, in->channel);
    }
    str_add(out, "    {.name = NULL}};\n\nstatic const ProgParam params[] = {\n");
    for (int i = 0; i < p->n_params; i++) {
        const ProgParam *par = &p->params[i];
        str_add(out, "    {");
        field_text(out, "name", par->name);
        field_text(out, "help", par->help);
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

static void outputs(const Program *p, Str *out)
{
    str_add(out, "static const ProgOutput outputs[] = {\n");
    for (int i = 0; i < p->n_outputs; i++) {
        const ProgOutput *o = &p->outputs[i];
        str_add(out, "    {");
        field_text(out, "name", o->name);
        field_text(out, "format", o->format);
        field_text(out, "axes", o->axes);
        str_addf(out, " .kind = %d, .buffer = %d, .value = %d, .table = %d", (int)o->kind,
                 o->buffer, o->value, o->table);
        for (int k = 0; k < 12 && o->place.moved; k++) {
            str_addf(out, "%s%d", k == 0 ? ", .place = {true, {{" : k % 4 == 0 ? "}, {" : ", ",
                     o->place.of[k / 4][k % 4]);
        }
        str_add(out, o->place.moved ? "}}}},\n" : "},\n");
    }
    str_add(out, "    {.name = NULL}};\n\nstatic const ProgTable tables[] = {\n");
    for (int i = 0; i < p->n_tables; i++) {
        str_add(out, "    {");
        field_text(out, "name", p->tables[i].name);
        field_text(out, "columns", p->tables[i].columns);
        str_addf(out, " .step = %d, .sort = %d},\n", p->tables[i].step, p->tables[i].sort);
    }
    str_add(out, "    {.name = NULL}};\n\n");
}

static void memory(const Program *p, Str *out)
{
    str_add(out, "static const ProgNeed needs[] = {\n");
    for (int i = 0; i < p->n_needs; i++) {
        const ProgNeed *n = &p->needs[i];
        str_addf(out, "    {.a = %d, .b = %d, .below = %s,", n->a, n->b, truth(n->below));
        field_text(out, "what", n->what);
        str_add(out, "},\n");
    }
    str_add(out, "    {.what = NULL}};\n\n");
    str_add(out, "static const ProgGrid grids[] = {\n");
    for (int i = 0; i < p->n_grids; i++) {
        const int *e = p->grids[i].extent;
        str_addf(out, "    {{%d, %d, %d, %d}, %s},\n", e[0], e[1], e[2], e[3],
                 truth(p->grids[i].has_z));
    }
    str_add(out, "    {{0}, false}};\n\nstatic const ProgBuffer buffers[] = {\n");
    for (int i = 0; i < p->n_buffers; i++) {
        const ProgBuffer *b = &p->buffers[i];
        str_addf(out, "    {.name = \"%s\", .elem = %d, .elem_of = %d, .grid = %d, .length = %d, "
                 ".first = %d, .last = %d, .onto = %d},\n",
                 b->name, (int)b->elem, b->elem_of, b->grid, b->length, b->first, b->last, b->onto);
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

static void kernels(const Program *p, Str *out)
{
    for (int i = 0; i < p->n_kernels; i++) {
        const ProgKernel *k = &p->kernels[i];
        str_addf(out, "static const ProgDefine kernel%d_defines[] = {\n", i);
        for (int d = 0; d < k->n_defines; d++) {
            const ProgDefine *def = &k->defines[d];
            str_addf(out, "    {.kind = %d, .name = \"%s\", .expr = %d, .n = %d, .elem = %d, ",
                     (int)def->kind, def->name, def->expr, def->n, (int)def->elem);
            table_indices("index", def->index, def->n, out);
            table_indices("lo", def->lo, def->n, out);
            table_indices("hi", def->hi, def->n, out);
            str_add(out, "},\n");
        }
        str_add(out, "    {.name = NULL}};\n\n");
    }
    str_add(out, "static const ProgKernel kernels[] = {\n");
    for (int i = 0; i < p->n_kernels; i++) {
        const ProgKernel *k = &p->kernels[i];
        str_add(out, "    {");
        field_text(out, "name", k->name);
        field_text(out, "lines", k->lines);
        str_addf(out, "\n     .defines = kernel%d_defines, .n_defines = %d, .source =\n    ", i,
                 k->n_defines);
        text_literal(out, k->source);
        str_add(out, "},\n");
    }
    str_add(out, "    {.name = NULL}};\n\n");
}

static void int_array(Str *out, int step, const char *name, const int *at, int n)
{
    if (n == 0) {
        return;
    }
    str_addf(out, "static const int step%d_%s[] = {", step, name);
    for (int i = 0; i < n; i++) {
        str_addf(out, "%s%d", i ? ", " : "", at[i]);
    }
    str_add(out, "};\n");
}

static void step_arrays(const ProgStep *s, int i, Str *out)
{
    if (s->n_args > 0) {
        str_addf(out, "static const ProgArg step%d_args[] = {", i);
        for (int k = 0; k < s->n_args; k++) {
            str_addf(out, "%s{%d, %d, %d}", k ? ", " : "", (int)s->args[k].kind, s->args[k].a,
                     s->args[k].b);
        }
        str_add(out, "};\n");
    }
    if (s->n_reads > 0) {
        str_addf(out, "static const ProgRead step%d_reads[] = {", i);
        for (int k = 0; k < s->n_reads; k++) {
            const ProgRead *r = &s->reads[k];
            str_addf(out, "%s{%d, %d, %d, %d, %d, {%d, %d, %d}, %d}", k ? ", " : "", r->buffer, r->below,
                     r->above, r->rows_below, r->rows_above, r->at[0], r->at[1], r->at[2], (int)r->border);
        }
        str_add(out, "};\n");
    }
    if (s->n_carries > 0) {
        str_addf(out, "static const ProgCarry step%d_carries[] = {", i);
        for (int k = 0; k < s->n_carries; k++) {
            str_addf(out, "%s{%s, %d, %d}", k ? ", " : "", truth(s->carries[k].is_value),
                     s->carries[k].carry, s->carries[k].next);
        }
        str_add(out, "};\n");
    }
    int_array(out, i, "uses", s->uses, s->n_uses);
    int_array(out, i, "writes", s->writes, s->n_writes);
    int_array(out, i, "inputs", s->inputs, s->n_inputs);
    int_array(out, i, "exprs", s->exprs, s->n_exprs);
}

static void array_field(Str *out, int step, const char *name, int n)
{
    if (n > 0) {
        str_addf(out, " .%s = step%d_%s, .n_%s = %d,", name, step, name, name, n);
    }
}

static void steps(const Program *p, Str *out)
{
    for (int i = 0; i < p->n_steps; i++) {
        step_arrays(&p->steps[i], i, out);
    }
    str_add(out, "\nstatic const ProgStep steps[] = {\n");
    for (int i = 0; i < p->n_steps; i++) {
        const ProgStep *s = &p->steps[i];
        str_addf(out, "    {.kind = %d,", (int)s->kind);
        field_text(out, "name", s->name);
        field_text(out, "lines", s->lines);
        field_text(out, "primitive", s->primitive);
        field_text(out, "text", s->text);
        str_addf(out,
                 " .kernel = %d, .grid = %d, .march_z = %s, .boxed = %s, .plain = %s, .value = %d, "
                 ".of_value = %d, .at_most = %d, .ended = %d,",
                 s->kernel, s->grid, truth(s->march_z), truth(s->boxed), truth(s->plain), s->value, s->of_value,
                 s->at_most, s->ended);
        array_field(out, i, "args", s->n_args);
        array_field(out, i, "reads", s->n_reads);
        array_field(out, i, "uses", s->n_uses);
        array_field(out, i, "writes", s->n_writes);
        array_field(out, i, "inputs", s->n_inputs);
        array_field(out, i, "exprs", s->n_exprs);
        array_field(out, i, "carries", s->n_carries);
        str_add(out, "},\n");
    }
    str_add(out, "    {.name = NULL}};\n\n");
}

/* As strings: binaries of many drivers are text. */
static void binaries(const Program *p, Str *out)
{
    enum { LINE = 100 };
    str_add(out, "static const ProgBinary binaries[] = {\n");
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

void cg_emit_c(const Program *p, const char *name, Str *out)
{
    host(p, out);
    inputs(p, out);
    outputs(p, out);
    memory(p, out);
    kernels(p, out);
    steps(p, out);
    binaries(p, out);
    str_addf(out, "static const Program %s = {\n   ", name);
    field_text(out, "name", p->name);
    field_text(out, "version", p->version);
    field_text(out, "hash", p->hash);
    str_add(out, "\n   ");
    field_text(out, "source", p->source);
    str_add(out, "\n   ");
    field_text(out, "library", p->library);
    str_addf(out,
             "\n    .host = host_nodes, .n_host = %d, .inputs = inputs, .n_inputs = %d,\n"
             "    .params = params, .n_params = %d, .outputs = outputs, .n_outputs = %d,\n"
             "    .tables = tables, .n_tables = %d, .needs = needs, .n_needs = %d, .grids = grids, .n_grids = %d,\n"
             "    .buffers = buffers, .n_buffers = %d, .n_values = %d,\n"
             "    .kernels = kernels, .n_kernels = %d, .steps = steps, .n_steps = %d,\n"
             "    .binaries = binaries, .n_binaries = %d};\n",
             p->n_host, p->n_inputs, p->n_params, p->n_outputs, p->n_tables, p->n_needs, p->n_grids,
             p->n_buffers, p->n_values, p->n_kernels, p->n_steps, p->n_binaries);
}

void cg_show_kernels(const Program *p, Str *out)
{
    str_add(out, "// In front of each kernel stand the tables and numbers that the parameters give, "
                 "and the library\n// of exact functions; --dump-kernels of a run writes all of it.\n");
    for (int i = 0; i < p->n_kernels; i++) {
        const ProgKernel *k = &p->kernels[i];
        str_add(out, k->source);
        for (int d = 0; d < k->n_defines; d++) {
            str_addf(out, "%s%s", d ? ", " : "// from the run: ", k->defines[d].name);
        }
        str_add(out, k->n_defines > 0 ? "\n" : "");
    }
}
