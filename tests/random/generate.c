/*
 * generate: statements, tried out one by one, then outputs and cases.
 */
#include "generate.h"

#include "draw.h"
#include "rename.h"

#include "tests/support/pipelines.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

typedef struct Gen {
    Draw draw;
    Arena arena;
    Str text; /* what the compiler has accepted so far */
    Subject *subject;
} Gen;

/* ---- the compiler as judge --------------------------------------------------------------- */

/* The graph of the accepted text with more behind it; NULL when there are errors. */
static IrGraph *try_out(Gen *gen, Arena *arena, const char *more)
{
    size_t n = (size_t)snprintf(gen->subject->text, SUBJECT_TEXT, "%s%s", gen->text.at, more);
    return n < SUBJECT_TEXT ? subject_compile(arena, gen->subject->text) : NULL;
}

/* What the graph's last output is. */
static DrawKind kind_of_output(const IrGraph *g, int *grid)
{
    static const DrawKind KINDS[IR_KINDS] = {DRAW_IMAGE, DRAW_MASK, DRAW_LABELS, DRAW_VALUE, DRAW_VECTOR, DRAW_TABLE};
    const IrOutput *output = &g->outputs.at[g->outputs.n - 1];
    if (output->node == 0) {
        *grid = -1;
        return DRAW_VALUE;
    }
    *grid = ir_node(g, output->node)->grid;
    return KINDS[ir_node(g, output->node)->kind];
}

/* True when the statement compiles and an output can be made of the name. */
static bool is_usable(Gen *gen, const char *statement, const char *before, const char *name, const char *behind)
{
    Arena arena;
    arena_init(&arena);
    const char *more = arena_printf(&arena, "%soutput probe_ = %s%s%s\n", statement, before, name, behind);
    bool usable = try_out(gen, &arena, more) != NULL;
    arena_free(&arena);
    return usable;
}

/* What cannot be an output is a number, a record, a selection, a vector (when labels can be painted with it),
 * or of no further use. */
static void learn_other(Gen *gen, const char *statement, const char *name)
{
    Draw *d = &gen->draw;
    if (is_usable(gen, statement, "ramp(x = 2) * ", name, "")) {
        draw_add(d, name, DRAW_NUMBER, -1, 0);
        return;
    }
    if (is_usable(gen, statement, "", name, ".mean")) {
        char member[16];
        snprintf(member, sizeof member, "%.9s.mean", name);
        draw_add(d, member, DRAW_VALUE, -1, 0);
        return;
    }
    if (is_usable(gen, statement, "median(", name, ")")) {
        draw_add(d, name, DRAW_SELECTION, -1, 0);
        return;
    }
    for (int i = 0; i < d->n; i++) {
        char index[20];
        snprintf(index, sizeof index, "[%s]", d->names[i].name);
        if (d->names[i].kind == DRAW_LABELS && is_usable(gen, statement, "", name, index)) {
            draw_add(d, name, DRAW_VECTOR, -1, 0);
            return;
        }
    }
}

/* Takes the statement if it compiles, and learns what `name` is. */
static bool accept(Gen *gen, const char *statement, const char *name)
{
    Arena arena;
    arena_init(&arena);
    IrGraph *g = try_out(gen, &arena, arena_printf(&arena, "%soutput probe_ = %s\n", statement, name));
    bool fine = g != NULL || is_usable(gen, statement, "max(ramp(x = 2))", "", "");
    if (g != NULL) {
        int grid;
        DrawKind kind = kind_of_output(g, &grid);
        draw_add(&gen->draw, name, kind, grid, 0);
    } else if (fine) {
        learn_other(gen, statement, name);
    }
    if (fine) {
        str_add(&gen->text, statement);
    }
    arena_free(&arena);
    return fine;
}

/* ---- statements -------------------------------------------------------------------------- */

typedef void (*Statement)(Gen *gen, Str *out, const char *name);

static void assign_image(Gen *gen, Str *out, const char *name)
{
    str_addf(out, "%s = ", name);
    draw_image(&gen->draw, out, 1 + (int)draw_below(&gen->draw, 3));
    str_add(out, "\n");
}

static void assign_mask(Gen *gen, Str *out, const char *name)
{
    str_addf(out, "%s = ", name);
    draw_mask(&gen->draw, out, 1 + (int)draw_below(&gen->draw, 3));
    str_add(out, "\n");
}

static void assign_labels(Gen *gen, Str *out, const char *name)
{
    str_addf(out, "%s = label(", name);
    draw_mask(&gen->draw, out, 1 + (int)draw_below(&gen->draw, 2));
    str_add(out, ")\n");
}

static void assign_selection(Gen *gen, Str *out, const char *name)
{
    str_addf(out, "%s = ", name);
    draw_image(&gen->draw, out, 1);
    str_add(out, " where ");
    draw_mask(&gen->draw, out, 1);
    str_add(out, "\n");
}

static void assign_value(Gen *gen, Str *out, const char *name)
{
    static const char *const REDUCTIONS[] = {"sum", "mean", "std", "median", "max", "min", "otsu"};
    str_addf(out, "%s = %s(", name, draw_one(&gen->draw, REDUCTIONS));
    draw_image(&gen->draw, out, 1 + (int)draw_below(&gen->draw, 2));
    if (draw_chance(&gen->draw, 40)) {
        str_add(out, " where ");
        draw_mask(&gen->draw, out, 1);
    }
    str_add(out, ")\n");
}

static void function_from_grammar(Gen *gen, Str *out, const char *name)
{
    Draw *d = &gen->draw;
    char function[16];
    snprintf(function, sizeof function, "f%d", d->fresh++);
    draw_function(d, out, function);
    str_addf(out, "%s = %s(", name, function);
    draw_image(d, out, 1);
    str_add(out, ", ");
    draw_image(d, out, 1);
    str_add(out, ")\n");
}

/* The function stands in front of its first use. */
static void function_of_pixels(Gen *gen, Str *out, const char *name)
{
    static const char *const BODIES[] = {
        "fn f%d(a, b) = a[dx = 1] * b - a\n",
        "fn f%d(a, b) {\n  s = gaussian(a, 0.8)\n  return s - b if %s > 1 else s\n}\n",
        "fn f%d(a, b) = max(a, b) + sum(a[dx = i] for i in 0 .. 2)\n",
        "fn f%d(a, b) {\n  k = 0\n  while a > %s and k < 6 {\n    a = a / 2 - b\n    k = k + 1\n  }\n"
        "  return a + k\n}\n",
        "fn f%d(a, b) {\n  if a > b { return a - b }\n  for k in 0 .. 3 {\n    if b * k > %s { return k }\n"
        "  }\n  return -a\n}\n",
        "fn f%d(a, b) {\n  s = 0\n  for k in -2 .. 2 { s = s * a + b - k }\n  return s\n}\n",
        "fn f%d(a : i32, b : i32) : i32 {\n  while a > 9 or a < -9 { a = a // 2 + 1 }\n  return a * b - %s\n}\n",
        "fn f%d(a, b = 3) {\n  h = a[dx = -2] + b if has_axis(a, \"z\") else a[dx = 2] - b\n  return max(h, %s)\n}\n",
        "fn f%d(a, b) {\n  t = a\n  for k in 1 .. 3 { t = t + k * b[dx = k, border = wrap] }\n  return t\n}\n",
        "fn f%d(a : u8, b : i16) : i32 {\n  n = a\n  k = 0\n  while n > 0 {\n    n = n // 3\n    k = k + b\n  }\n  return k\n}\n",
        "fn f%d(a, b) {\n  z = 0\n  w = 0\n  for k in 0 .. 9 {\n    t = z * z - w * w + a\n    w = 2 * z * w + b\n"
        "    z = t\n    if z * z + w * w > 4 { return k }\n  }\n  return %s\n}\n",
        "fn f%d(a : f64, b : f64) : f64 {\n  if a < b { return b / (a + %s) }\n  return a * a - b\n}\n",
    };
    Draw *d = &gen->draw;
    if (draw_chance(d, 50)) {
        function_from_grammar(gen, out, name);
        return;
    }
    const char *body = draw_one(d, BODIES), *number = strstr(body, "%s");
    int at = (int)strcspn(body, "%"), id = d->fresh++;
    const char *rest = body + at + 2;
    str_addf(out, "%.*s%d", at, body, id);
    if (number != NULL) {
        str_addf(out, "%.*s", (int)(number - rest), rest);
        draw_number(d, out, NULL);
        rest = number + 2;
    }
    str_addf(out, "%s%s = f%d(", rest, name, id);
    draw_image(d, out, 1);
    str_add(out, ", ");
    draw_image(d, out, 1);
    str_add(out, ")\n");
}

static void repeated(Gen *gen, Str *out, const char *name)
{
    Draw *d = &gen->draw;
    bool until = draw_chance(d, 40);
    str_addf(out, "%s = ", name);
    draw_image(d, out, 1);
    if (until) {
        str_addf(out, "\nrepeat until %s(%s) is stable, at most %u {\n", draw_chance(d, 50) ? "sum" : "max", name,
                 1 + draw_below(d, 5));
    } else {
        const DrawName *rounds = draw_chance(d, 20) ? draw_name(d, DRAW_NUMBER) : NULL;
        char count[16];
        snprintf(count, sizeof count, "%u", draw_below(d, 4));
        str_addf(out, "\nrepeat %s {\n", rounds != NULL ? rounds->name : count);
    }
    if (draw_chance(d, 50)) {
        str_addf(out, "  t%d = ", d->fresh);
        draw_image(d, out, 1);
        str_addf(out, "\n  %s = %s - t%d[dx = 1]\n", name, name, d->fresh++);
    }
    str_addf(out, "  %s = (%s[dx = 1] + ", name, name);
    draw_image(d, out, 2);
    str_add(out, ") / 2\n}\n");
}

/* A form with words in place of $1, $2 ... */
static void fill_in(Str *out, const char *form, const char *const *words)
{
    for (; *form != '\0'; form++) {
        if (*form == '$') {
            form++;
            str_add(out, words[*form - '1']);
        } else {
            str_addn(out, form, 1);
        }
    }
}

/* Loops over masks, one in another, two names that take each other's value, and one beside a
 * whole-image value that goes from round to round. */
static void repeated_others(Gen *gen, Str *out, const char *name)
{
    static const char *const MASKS[] = {
        "repeat until sum($1) is stable, at most 4 {\n  $1 = dilate($1, 1) and not $1[dx = -2]\n}\n",
        "repeat 3 { $1 = $1[dx = 1] or erode($1, 1) }\n",
        "repeat 2 {\n  repeat 2 { $1 = not $1[dx = 1] }\n  $1 = $1 == $1[dx = -3]\n}\n",
    };
    static const char *const IMAGES[] = {
        "$2 = $1[dx = 1]\nrepeat 3 {\n  $3 = $1\n  $1 = $2 - 1\n  $2 = $3[dx = -1] + 2\n}\n",
        "$2 = mean($1)\nrepeat 3 {\n  $1 = $1 - $2\n  $2 = $2 + max($1 where $1 > $2)\n}\n",
        "$2 = $1\nrepeat 2 {\n  repeat 2 { $1 = $1[dx = 1] - $2 / 3 }\n  $2 = median_filter($1, 1)\n}\n",
    };
    Draw *d = &gen->draw;
    bool mask = draw_chance(d, 40);
    char other[16], third[16];
    const char *const words[] = {name, other, third};
    snprintf(other, sizeof other, "s%d", d->fresh);
    snprintf(third, sizeof third, "t%d", d->fresh);
    str_addf(out, "%s = ", name);
    if (mask) {
        draw_mask(d, out, 1);
    } else {
        draw_image(d, out, 1);
    }
    str_add(out, "\n");
    fill_in(out, mask ? draw_one(d, MASKS) : draw_one(d, IMAGES), words);
}

/* A form with words in place of $1, $2 ..., and images in place of @. */
static void draw_form(Gen *gen, Str *out, const char *form, const char *const *words)
{
    Str filled;
    str_init(&filled, &gen->arena);
    fill_in(&filled, form, words);
    for (const char *p = filled.at; *p != '\0'; p++) {
        if (*p == '@') {
            draw_image(&gen->draw, out, 1);
        } else {
            str_addn(out, p, 1);
        }
    }
}

/* One round of a loop that carries an image $1 and the values $2 and $3, with $4 to itself. */
static void draw_round(Gen *gen, Str *out, const char *const *words)
{
    static const char *const FORMS[] = {
        "$2 = sum($1 * $1)",
        "$2 = mean($1 where $1 > $3)",
        "$3 = $2",
        "$3 = $2 + max($1)",
        "$1 = $1 * 0.5 + $2",
        "$1 = $1[dx = 1] - $3",
        "$3 = otsu($1)",
        "$2 = $2 if $3 > 3 else min(@)",
        "$4 = median($1); $1 = $1 - $4",
        "$1 = gaussian($1, 1)",
        "$3 = count(label($1 > $2))",
        "$2 = kappa_sigma($1).median",
        "$3 = count($1 > $2)",
        "$2 = std($1)",
        "$3 = sum($1) - $3",
        "$1 = $1 + @",
        "$4 = $2; $2 = $3; $3 = $4",
        "$2 = sum(@)",
        "$1 = clip($1, $2, $3)",
        "repeat 2 { $3 = max($1 + $3) }",
        "$3 = min($1[dx = 1] - $1)",
        "repeat until $2 is stable, at most 2 {\n  $2 = mean($1) - $2\n  }",
        "$2 = percentile($1, 30)",
        "$1 = $1 if $1 > $2 else @",
        "$3 = var($1)",
        "$2 = sum($1 where @ > $2)",
        "$1 = median_filter($1, 1)",
        "$1 = $1 / max($2, 1)",
        "$3 = any($1 > $2)",
        "$4 = $1; $1 = @; $2 = max($4 - $1)",
        "$2 = mean($1[dx = i] where i != $3 for i in 0 .. 1)",
    };
    for (unsigned n = 2 + draw_below(&gen->draw, 4); n > 0; n--) {
        Str form;
        str_init(&form, &gen->arena);
        for (const char *p = draw_one(&gen->draw, FORMS); *p != '\0'; p++) {
            str_add(&form, *p == ';' ? "\n " : (char[2]){*p, '\0'});
        }
        str_add(out, "  ");
        draw_form(gen, out, form.at, words);
        str_add(out, "\n");
    }
}

/* A loop that carries whole-image values beside an image; some that only it reads. */
static void repeated_values(Gen *gen, Str *out, const char *name)
{
    static const char *const BEFORE[] = {"$1 = @\n$2 = max($1)\n$3 = 1\n", "$1 = @\n$2 = 1\n$3 = $2\n",
                                         "$1 = @\n$2 = 0\n$3 = mean(@)\n", "$1 = @\n$2 = median($1)\n$3 = sum($1)\n"};
    static const char *const HEADS[] = {"repeat 3 {\n",
                                        "repeat 2 {\n",
                                        "repeat 1 {\n",
                                        "repeat 0 {\n",
                                        "repeat until $2 is stable, at most 4 {\n",
                                        "repeat until sum($1) is stable, at most 3 {\n"};
    static const char *const AFTER[] = {"$5 = $1 + $2\n", "$5 = $3\n", "$5 = $2\n", "$5 = $1 * $3 - $2\n", "$5 = $1\n"};
    Draw *d = &gen->draw;
    char image[16], value[16], other[16], local[16];
    const char *const words[] = {image, value, other, local, name};
    snprintf(image, sizeof image, "s%d", d->fresh);
    snprintf(value, sizeof value, "t%d", d->fresh);
    snprintf(other, sizeof other, "s%d", d->fresh + 1);
    snprintf(local, sizeof local, "t%d", d->fresh + 1);
    d->fresh += 2;
    const DrawName *rounds = draw_chance(d, 10) ? draw_name(d, DRAW_NUMBER) : NULL;
    draw_form(gen, out, draw_one(d, BEFORE), words);
    if (rounds != NULL) {
        str_addf(out, "repeat %s {\n", rounds->name);
    } else {
        draw_form(gen, out, draw_one(d, HEADS), words);
    }
    draw_round(gen, out, words);
    str_add(out, "}\n");
    draw_form(gen, out, draw_one(d, AFTER), words);
}

/* A table of several images, with names or without, in an order of its own. */
static void table_of_images(Gen *gen, Str *out, const char *name)
{
    static const char *const PROPERTIES[] =
        {"area", "mean", "max",    "centroid",      "centroid_weighted", "std",       "label",       "min",
         "sum",  "bbox", "median", "percentile_30", "moments_weighted",  "perimeter", "image_max_x", "skewness"};
    Draw *d = &gen->draw;
    bool named = draw_chance(d, 40);
    str_addf(out, "%s = measure(", name);
    draw_labels(d, out);
    for (unsigned i = 0, n = 1 + draw_below(d, draw_chance(d, 10) ? 12 : 4); i < n; i++) {
        str_addf(out, named ? ", c%u = " : ", ", i);
        draw_image(d, out, 1);
    }
    for (unsigned n = 1 + draw_below(d, 5); n > 0; n--) {
        str_addf(out, ", %s", draw_one(d, PROPERTIES));
    }
    if (draw_chance(d, 20)) {
        str_addf(out, ", sort = label, order = %s", draw_chance(d, 50) ? "descending" : "ascending");
    }
    str_add(out, ")\n");
}

/* Whole-image values from others. */
static void assign_computed(Gen *gen, Str *out, const char *name)
{
    static const char *const FORMS[] = {"$1 + 2 * $2", "$1 if $2 > 10 else 3", "sqrt(abs($1)) - $2",
                                        "$1 // 3 % ($2 + 0.5)", "max($1, $2, 4)"};
    const DrawName *a = draw_name(&gen->draw, DRAW_VALUE), *b = draw_name(&gen->draw, DRAW_VALUE);
    const char *const words[] = {a != NULL ? a->name : "mean(image)", b != NULL ? b->name : "max(image)"};
    str_addf(out, "%s = ", name);
    fill_in(out, draw_one(&gen->draw, FORMS), words);
    str_add(out, "\n");
}

static void operator_call(Gen *gen, Str *out, const char *name)
{
    Draw *d = &gen->draw;
    str_addf(out, "%s = ", name);
    draw_call(d, out, &d->ops->at[draw_below(d, (unsigned)d->ops->n)]);
    str_add(out, "\n");
}

static void draw_statement(Gen *gen, Str *out, const char *name)
{
    static const Statement FORMS[] = {
        assign_image,    assign_image,    assign_image,    assign_mask,        assign_labels,      assign_selection,
        assign_value,    operator_call,   operator_call,   operator_call,      operator_call,      operator_call,
        operator_call,   repeated,        repeated_others, assign_computed,    function_of_pixels, function_of_pixels,
        repeated_values, repeated_values, table_of_images, function_of_pixels,
    };
    FORMS[draw_below(&gen->draw, sizeof FORMS / sizeof *FORMS)](gen, out, name);
}

/* The grid that the statement is about is that of a recent image. */
static void choose_grid(Draw *d)
{
    d->grid = -1;
    const DrawName *about = draw_name(d, DRAW_IMAGE);
    d->grid = about != NULL ? about->grid : -1;
}

/* The function that the statement begins with can be called by others. */
static void learn_function(Draw *d, const char *statement)
{
    char name[16];
    int n;
    if (sscanf(statement, "fn %15[a-z0-9]%n", name, &n) == 1) {
        const char *end = strchr(statement, ')');
        int arity = 1;
        for (const char *p = statement; p < end; p++) {
            arity += *p == ',';
        }
        draw_add(d, name, DRAW_FUNCTION, -1, arity);
    }
}

static void count_arguments(const DrawCall *call, Coverage *coverage)
{
    for (int i = 0; call->op != NULL && i < OP_MAX_PARAMS; i++) {
        int type = call->type[i], word = call->word[i];
        coverage->type[call->op->index][i][type >= 0 ? type : 0] += type >= 0;
        coverage->word[call->op->index][i][word >= 0 ? word : 0] += word >= 0;
    }
}

static void count_operators(const Ops *ops, const char *statement, Coverage *coverage)
{
    for (int i = 0; i < ops->n; i++) {
        size_t n = strlen(ops->at[i].name);
        for (const char *p = strstr(statement, ops->at[i].name); p != NULL; p = strstr(p + 1, ops->at[i].name)) {
            bool begins = p == statement || strchr(" (-", p[-1]) != NULL;
            coverage->op[i] += begins && p[n] == '(';
        }
    }
}

/* One more statement, or false after some tries. */
static bool add_statement(Gen *gen, const Op *op, Coverage *coverage)
{
    Draw *d = &gen->draw;
    for (int tries = 0; tries < 8; tries++) {
        char name[16];
        Str statement;
        str_init(&statement, &gen->arena);
        choose_grid(d);
        d->call.op = NULL;
        snprintf(name, sizeof name, "v%d", d->fresh);
        if (op != NULL) {
            str_addf(&statement, "%s = ", name);
            draw_call(d, &statement, op);
            str_add(&statement, "\n");
        } else {
            draw_statement(gen, &statement, name);
        }
        if (accept(gen, statement.at, name)) {
            d->fresh++;
            learn_function(d, statement.at);
            count_operators(d->ops, statement.at, coverage);
            count_arguments(&d->call, coverage);
            return true;
        }
    }
    return false;
}

/* ---- what stands in front and behind ----------------------------------------------------- */

static const char *choose_axes(Draw *d)
{
    static const char *const AXES[] = {"xy", "xy", "xy", "xy", "xy", "xy", "xyz", "xyz", "xyz", "x", "xyc", "xyzc"};
    return draw_one(d, AXES);
}

/* Axes are written outermost first; channels may stand at the end. */
static void write_axes(Draw *d, Str *out)
{
    bool last = draw_chance(d, 50);
    const char *comma = "";
    str_add(out, "[");
    for (size_t i = strlen(d->axes); i-- > 0;) {
        if (d->axes[i] != 'c' || !last) {
            str_addf(out, "%s%c", comma, d->axes[i]);
            comma = ", ";
        }
    }
    str_add(out, last && strchr(d->axes, 'c') != NULL ? ", c]" : "]");
}

static void add_inputs(Gen *gen)
{
    static const char *const TYPES[] = {"",       "",       "",       "",       " : f32", " : u8",
                                        " : u16", " : i16", " : i32", " : u32", " : f64"};
    Draw *d = &gen->draw;
    static const struct {
        const char *name, *type;
        unsigned percent;
    } INPUTS[] = {{"image", NULL, 94}, {"other", NULL, 30}, {"seg", " : labels", 12}, {"roi", " : mask", 12}};
    for (size_t i = 0; i < sizeof INPUTS / sizeof *INPUTS; i++) {
        if (!draw_chance(d, INPUTS[i].percent)) {
            continue;
        }
        Str line;
        str_init(&line, &gen->arena);
        str_addf(&line, "input %s", INPUTS[i].name);
        const char *axes = d->axes;
        d->axes = i > 0 && draw_chance(d, 8) ? choose_axes(d) : axes;
        write_axes(d, &line);
        d->axes = axes;
        str_addf(&line, "%s\n", INPUTS[i].type != NULL ? INPUTS[i].type : draw_one(d, TYPES));
        accept(gen, line.at, INPUTS[i].name);
    }
}

static void add_params(Gen *gen)
{
    static const char *const PARAMS[] = {"= 2 in 0 .. 5", "= 1.5 in 0.5 .. 4",       "= 3", "= 1 in 1 .. 3",
                                         "= 0.7",         "= 1 um in 0.5 um .. 2 um"};
    for (unsigned i = 0; i < 2 && draw_chance(&gen->draw, 35); i++) {
        const char *name = i == 0 ? "p" : "q";
        str_addf(&gen->text, "param %s %s\n", name, draw_one(&gen->draw, PARAMS));
        draw_add(&gen->draw, name, DRAW_NUMBER, -1, 0);
    }
}

static void add_kernel(Gen *gen)
{
    if (draw_chance(&gen->draw, 20)) {
        str_add(&gen->text, strchr(gen->draw.axes, 'y') != NULL ? "fn w(x, y) = exp(-x * x - y / 2)\n"
                                                                : "fn w(x) = 1 / (1 + x * x)\n");
        draw_add(&gen->draw, "w", DRAW_KERNEL, -1, 0);
    }
}

/* The latest names, and sometimes older ones, so that something is read twice. */
static void add_outputs(Gen *gen, int most)
{
    Draw *d = &gen->draw;
    int n = 0;
    for (int i = d->n - 1; i >= 0 && n < most; i--) {
        bool can = d->names[i].kind <= DRAW_LABELS || d->names[i].kind == DRAW_VALUE || d->names[i].kind == DRAW_TABLE;
        if (can && (n == 0 || draw_chance(d, 35))) {
            str_addf(&gen->text, "output o%d = %s\n", ++n, d->names[i].name);
        }
    }
}

/* ---- cases ------------------------------------------------------------------------------- */

/* Around what kernels are cut into: rows of 16, 64 and 256 columns; and next to nothing. */
static const int EXTENTS[] = {1,  1,  2,  3,   4,   5,   7,   8,   9,   15,  16,  17,  31,  32,   33,   40,  63,
                              64, 65, 97, 127, 128, 129, 255, 256, 257, 300, 511, 513, 700, 1023, 1024, 1025};
static const int DEPTHS[] = {1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 33};

static void draw_extents(Draw *d, int left, int extent[IR_AXES])
{
    enum { EXTENTS_N = sizeof EXTENTS / sizeof *EXTENTS, DEPTHS_N = sizeof DEPTHS / sizeof *DEPTHS };
    for (int axis = 0; axis < IR_AXES; axis++) {
        extent[axis] = 1;
    }
    unsigned first = draw_below(d, 10); /* which axis gets its share first: mostly x, then y, then z */
    int order[3][3] = {{0, 1, 2}, {1, 0, 2}, {2, 1, 0}};
    for (int k = 0; k < 3; k++) {
        int axis = order[first < 6 ? 0 : first < 9 ? 1 : 2][k];
        if (strchr(d->axes, "xyz"[axis]) == NULL) {
            continue;
        }
        int n;
        do { /* the extents that fit are equally likely */
            n = axis == IR_AX_Z ? DEPTHS[draw_below(d, DEPTHS_N)] : EXTENTS[draw_below(d, EXTENTS_N)];
        } while (n > left);
        extent[axis] = n;
        left /= n;
    }
    if (strchr(d->axes, 'c') != NULL) {
        extent[IR_AX_C] = draw_chance(d, 15) ? 1 + (int)draw_below(d, 4) : 3;
    }
}

static void add_case(Gen *gen, SubjectCase *c, int pixels)
{
    static const Elem ELEMS[] = {ELEM_U8,  ELEM_U8,  ELEM_U16, ELEM_U16, ELEM_F32,
                                 ELEM_F32, ELEM_I16, ELEM_U32, ELEM_I32, ELEM_F64};
    Draw *d = &gen->draw;
    draw_extents(d, pixels, c->extent);
    c->n_images = SUBJECT_INPUTS;
    for (int i = 0; i < SUBJECT_INPUTS; i++) {
        c->images[i] = (SubjectImage){.elem = ELEMS[draw_below(d, sizeof ELEMS / sizeof *ELEMS)],
                                      .kind = (BothKind)draw_below(d, BOTH_KINDS),
                                      .seed = draw_below(d, 1000)};
    }
    c->n_params = draw_chance(d, 50) ? 0 : 2;
    for (int i = 0; i < c->n_params; i++) {
        c->params[i] = draw_below(d, 12) / 4.0;
    }
}

/* Most images are small, because the evaluator's time goes with their pixels; one in seven (were it six, all would meet in one turn:
 * turn.h) reaches over several groups of a kernel along both axes, one in a hundred over several blocks of a sum, one in six hundred
 * over several strips of wide rows. */
static void add_cases(Gen *gen, unsigned seed, int n)
{
    static const struct {
        unsigned one_in;
        int pixels;
    } SIZES[] = {{601, 250000}, {101, 40000}, {7, 4500}, {1, 500}};
    gen->subject->n_cases = n;
    for (int i = 0; i < n; i++) {
        unsigned k = seed + (unsigned)i;
        int size = 0;
        while (k % SIZES[size].one_in != 0) {
            size++;
        }
        add_case(gen, &gen->subject->cases[i], SIZES[size].pixels);
    }
}

/* One pipeline in three has names that kernels are full of, as far as the compiler takes them for names; or each. */
static void rename_some(Gen *gen, bool each)
{
    const bool some = draw_chance(&gen->draw, 33) || each;
    for (int locals = 1; some && locals >= 0; locals--) {
        Arena arena;
        Str text;
        arena_init(&arena);
        str_init(&text, &gen->arena);
        rename_names(&gen->draw, gen->text.at, locals, &text);
        bool fine = text.n < SUBJECT_TEXT && subject_compile(&arena, text.at) != NULL;
        arena_free(&arena);
        if (fine) {
            gen->text = text;
            return;
        }
    }
}

/* What stands in front, and a call of the operator that the seed is about; whether images of these axes have one (NULL: any axes). */
static bool begin(Gen *gen, unsigned seed, const char *axes, Subject *subject, Coverage *coverage)
{
    *gen = (Gen){.draw = {.grid = -1}, .subject = subject};
    Draw *d = &gen->draw;
    draw_seed(d, seed);
    memset(subject, 0, sizeof *subject);
    arena_init(&gen->arena);
    str_init(&gen->text, &gen->arena);
    d->ops = pipeline_library()->ops;
    assert(d->ops->n <= COVERAGE_OPS);
    d->axes = choose_axes(d);
    d->axes = axes != NULL ? axes : d->axes;
    add_cases(gen, seed, 3);
    add_inputs(gen);
    add_params(gen);
    add_kernel(gen);
    return add_statement(gen, &d->ops->at[seed % (unsigned)d->ops->n], coverage);
}

void generate(unsigned seed, GenerateHow how, Subject *subject, Coverage *coverage)
{
    static const char *const OTHERS[] = {"xyc", "xyz", "xy"}; /* pictures and volumes are what some operators need */
    Gen gen;
    bool called = begin(&gen, seed, NULL, subject, coverage);
    for (size_t i = 0; !called && i < sizeof OTHERS / sizeof *OTHERS; i++) {
        arena_free(&gen.arena);
        called = begin(&gen, seed, OTHERS[i], subject, coverage);
    }
    Draw *d = &gen.draw;
    for (unsigned n = how.small ? draw_below(d, 2) : 1 + draw_below(d, 7); n > 0; n--) {
        (void)add_statement(&gen, NULL, coverage);
    }
    add_outputs(&gen, how.small ? 1 : 4);
    rename_some(&gen, how.renamed);
    snprintf(subject->text, SUBJECT_TEXT, "%s", gen.text.at);
    arena_free(&gen.arena);
}
