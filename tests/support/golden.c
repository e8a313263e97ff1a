/* golden: see golden.h. */
#include "golden.h"

#include "base/file.h"
#include "fixtures.h"
#include "pipelines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct GoldenImage {
    const char *name;
    IrEvalInput input;
} GoldenImage;

typedef struct Reader {
    const char *at;
    Vec(GoldenImage) images;
    Golden golden;
} Reader;

/* The next word of a line; NULL at its end, which is passed. */
static const char *word(Reader *r)
{
    r->at += strspn(r->at, " ");
    size_t n = strcspn(r->at, " \n");
    const char *text = arena_strndup(&arena, r->at, n);
    r->at += n + (n == 0 && *r->at == '\n');
    return n > 0 ? text : NULL;
}

static double *numbers(Reader *r, int n)
{
    double *to = arena_array(&arena, double, n + 1);
    for (int i = 0; i < n; i++) {
        char *end;
        to[i] = strtod(r->at, &end);
        assert_ptr_not_equal(end, r->at);
        r->at = end;
    }
    assert_null(word(r));
    return to;
}

/* Extents, the last one of the file's line first; how many elements there are. */
static int extents(Reader *r, int extent[4])
{
    int list[4] = {1, 1, 1, 1}, n = 0, all = 1;
    for (const char *text = word(r); text != NULL; text = word(r)) {
        assert_true(n < 4);
        list[n++] = atoi(text);
    }
    for (int i = 0; i < 4; i++) {
        extent[i] = i < n ? list[n - 1 - i] : 1;
        all *= extent[i];
    }
    return all;
}

static void image(Reader *r)
{
    GoldenImage i = {.name = word(r)};
    i.input.elem = elem_from_name(word(r));
    int n = extents(r, i.input.extent);
    for (int ax = 0; ax < 3; ax++) {
        i.input.pixelsize[ax] = ax == 0 ? 2 : 1;
    }
    i.input.pixels = numbers(r, n);
    vec_push(&arena, &r->images, i);
}

static void find_inputs(Reader *r, GoldenCase *c)
{
    for (const char *name = word(r); name != NULL; name = word(r)) {
        int i = 0;
        while (i < r->images.n && strcmp(r->images.at[i].name, name) != 0) {
            i++;
        }
        assert_true(i < r->images.n && c->in.n_inputs < 8);
        c->in.inputs[c->in.n_inputs++] = r->images.at[i].input;
    }
}

static void one_case(Reader *r)
{
    GoldenCase c = {.name = word(r)};
    c.tolerance = atof(word(r));
    find_inputs(r, &c);
    Str text;
    str_init(&text, &arena);
    for (; *r->at == '|'; r->at += strcspn(r->at, "\n") + 1) {
        str_addn(&text, r->at + 2, strcspn(r->at + 2, "\n") + 1);
    }
    c.text = text.at;
    while (*r->at == '=') {
        int extent[4];
        assert_true(c.n_outputs < GOLDEN_OUTPUTS);
        r->at++;
        c.length[c.n_outputs] = extents(r, extent);
        c.want[c.n_outputs] = numbers(r, c.length[c.n_outputs]);
        c.n_outputs++;
    }
    vec_push(&arena, &r->golden.cases, c);
}

Golden golden_read(const char *folder, const char *name)
{
    char *file;
    size_t size;
    Err err = {0};
    const char *path = arena_printf(&arena, "%s/%s", folder, name);
    if (!file_read(path, &file, &size, &err)) {
        fail_msg("%s", err.text);
    }
    Reader r = {.at = arena_strndup(&arena, file, size)};
    free(file);
    for (const char *kind = word(&r); kind != NULL; kind = word(&r)) {
        (strcmp(kind, "image") == 0 ? image : one_case)(&r);
    }
    assert_true(r.golden.cases.n > 0);
    return r.golden;
}

/* ---- comparing --------------------------------------------------------------------------- */

static bool same(double got, double want, double tolerance)
{
    bool equal = got == want || (isnan(got) && isnan(want));
    return equal || fabs(got - want) <= tolerance * fmax(1, fabs(want));
}

static int cells(const BothOutput *o)
{
    const int *e = o->extent;
    return o->kind == IR_K_VALUE ? 1 : o->kind == IR_K_TABLE ? (int)o->rows * o->columns : e[0] * e[1] * e[2] * e[3];
}

/* What differs, unless nobody wants to know. */
__attribute__((format(printf, 2, 3))) static bool differs(const GoldenCase *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (!c->quiet) {
        vprint_error(format, args);
    }
    va_end(args);
    return false;
}

static bool output_agrees(const GoldenCase *c, int k, const BothOutput *got)
{
    if (cells(got) != c->length[k]) {
        return differs(c, "%s: `%s` has %d values, not %d\n", c->name, got->name, cells(got), c->length[k]);
    }
    for (int i = 0; i < c->length[k]; i++) {
        double value = got->kind == IR_K_VALUE ? got->value : got->pixels[i];
        if (!same(value, c->want[k][i], c->tolerance)) {
            return differs(c, "%s: `%s` at %d is %.10g, not %.10g\n", c->name, got->name, i, value, c->want[k][i]);
        }
    }
    return true;
}

bool golden_agrees(const GoldenCase *c)
{
    const char *complaints;
    IrGraph *g = pipeline_graph(&arena, "case.pipe", c->text, &complaints);
    if (g == NULL || g->outputs.n != c->n_outputs) {
        print_error("%s\n%s", c->name, g == NULL ? complaints : "has other outputs\n");
        return false;
    }
    BothCase in = c->in;
    for (int i = 0; i < g->params.n; i++) {
        in.params[i] = g->params.at[i].value;
    }
    BothResult got;
    Err err = {0};
    bool fine = both_evaluate(g, &in, &got, &err);
    if (!fine) {
        print_error("%s: %s\n", c->name, err.text);
    }
    for (int k = 0; fine && k < got.n; k++) {
        fine = output_agrees(c, k, &got.at[k]);
    }
    both_free(&got);
    return fine;
}
