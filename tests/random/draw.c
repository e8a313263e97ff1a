/* draw: random numbers and names, then expressions from the inside out. */
#include "draw.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- chance (splitmix64) ------------------------------------------------------------------ */

static uint64_t next(Draw *d)
{
    uint64_t z = d->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Neighbouring seeds start far apart in the sequence. */
void draw_seed(Draw *d, unsigned seed)
{
    d->state = seed;
    d->state = next(d) ^ (uint64_t)seed << 32;
}

unsigned draw_below(Draw *d, unsigned n)
{
    return (unsigned)(next(d) % n);
}

bool draw_chance(Draw *d, unsigned percent)
{
    return draw_below(d, 100) < percent;
}

const char *draw_word(Draw *d, const char *const *words, int n)
{
    return words[draw_below(d, (unsigned)n)];
}

/* ---- names ------------------------------------------------------------------------------- */

void draw_add(Draw *d, const char *name, DrawKind kind, int grid, int arity)
{
    if (d->n < DRAW_NAMES) {
        DrawName *to = &d->names[d->n++];
        *to = (DrawName){.kind = kind, .grid = grid, .arity = arity};
        snprintf(to->name, sizeof to->name, "%s", name);
    }
}

static bool fits(const Draw *d, const DrawName *name, DrawKind kind, bool any_grid)
{
    return name->kind == kind && (kind > DRAW_LABELS || any_grid || d->grid < 0 || name->grid == d->grid);
}

const DrawName *draw_name(Draw *d, DrawKind kind)
{
    const DrawName *found = NULL;
    bool any_grid = draw_chance(d, 5);
    for (int i = d->n - 1; i >= 0; i--) {
        if (fits(d, &d->names[i], kind, any_grid)) {
            found = &d->names[i];
            if (draw_chance(d, 40)) {
                break;
            }
        }
    }
    return found;
}

/* ---- numbers ----------------------------------------------------------------------------- */

/* Chosen for what they do: nothing, half a pixel, more than a small image, the ends of types. */
static const double NUMBERS[] = {0, 1, 2, 3, 0.5, 1.4, 2.5, 0.3, 4, 5, 7, -1, -2, -0.7, 10, 40};
static const double EXTREMES[] = {100,    255,         1000, 65535,    1e6,    2147483647, 1e-6,      97,
                                  0x1p24, 4294967295., 1e30, 0x1p-140, 3.4e38, 180,        16777217., 50};

static bool allowed(const OpParam *range, double v)
{
    return range == NULL || !range->ranged || (v <= range->hi && (range->above ? v > range->lo : v >= range->lo));
}

static double number_value(Draw *d, const OpParam *range)
{
    bool whole = range != NULL && (range->types & OP_NUMBER) == 0 && (range->types & OP_INTEGER) != 0;
    bool narrow = range != NULL && range->ranged && isfinite(range->hi);
    for (int tries = 0; tries < 40; tries++) {
        bool extreme = (range == NULL && draw_chance(d, 12)) || (narrow && draw_chance(d, 30));
        unsigned most = strchr(d->axes, 'z') != NULL ? 8 : 16;
        double v = extreme ? EXTREMES[draw_below(d, 16)] : NUMBERS[draw_below(d, most)];
        if (allowed(range, v) && (!whole || v == floor(v))) {
            return v;
        }
    }
    return 1;
}

void draw_number(Draw *d, Str *out, const OpParam *range)
{
    static const char *const SIZES[] = {"width(%s) // 3", "height(%s) - 1", "width(%s) / 2", "depth(%s)",
                                        "dimensions(%s)"};
    const DrawName *param = draw_chance(d, 12) ? draw_name(d, DRAW_NUMBER) : NULL;
    bool free = range == NULL || (range->types & OP_INTEGER) != 0; /* not the reach of a window */
    const DrawName *image = free && draw_chance(d, 4) ? draw_name(d, DRAW_IMAGE) : NULL;
    if (param != NULL) {
        str_add(out, param->name);
    } else if (image != NULL) {
        const char *size = draw_one(d, SIZES);
        int at = (int)strcspn(size, "%");
        str_addf(out, "%.*s%s%s", at, size, image->name, size + at + 2);
    } else if (range == NULL && draw_chance(d, 3)) {
        str_add(out, draw_chance(d, 50) ? "inf" : "nan");
    } else {
        double v = number_value(d, range);
        bool length = range != NULL && draw_chance(d, 2); /* of as many pixels, of half a um each */
        str_addf(out, length ? "%.9g um" : "%.9g", length ? v / 2 : v);
    }
}

void draw_border(Draw *d, Str *out)
{
    static const char *const BORDERS[] = {"nearest",      "reflect",         "mirror",
                                          "wrap",         "constant(0)",     "constant(7.5)",
                                          "constant(-1)", "constant(70000)", "constant(nan)"};
    str_add(out, draw_one(d, BORDERS));
}

static void draw_offsets(Draw *d, Str *out)
{
    static const char *const OFFSETS[] = {"-1", "1", "2", "-2", "3", "-5", "17", "0", "-64", "300"};
    bool any = false;
    for (const char *axis = d->axes; *axis != '\0' && *axis != 'c'; axis++) {
        if (draw_chance(d, 60) || (!any && axis[1] == '\0')) {
            str_addf(out, "%sd%c = %s", any ? ", " : "", *axis, draw_one(d, OFFSETS));
            any = true;
        }
    }
    if (draw_chance(d, 10)) {
        str_add(out, ", fill = ");
        draw_number(d, out, NULL);
    } else if (draw_chance(d, 45)) {
        str_add(out, ", border = ");
        draw_border(d, out);
    }
}

/* ---- images ------------------------------------------------------------------------------ */

static void image_name(Draw *d, Str *out)
{
    const DrawName *name = draw_name(d, DRAW_IMAGE);
    str_add(out, name != NULL ? name->name : "ramp(x = 19, y = 5)");
}

static void image_number(Draw *d, Str *out, int depth)
{
    const DrawName *value = draw_chance(d, 30) ? draw_name(d, DRAW_VALUE) : NULL;
    (void)depth;
    if (value != NULL) {
        str_add(out, value->name);
    } else {
        draw_number(d, out, NULL);
    }
}

static void image_plain(Draw *d, Str *out, int depth)
{
    (void)depth;
    image_name(d, out);
}

static void image_arithmetic(Draw *d, Str *out, int depth)
{
    static const char *const OPERATORS[] = {"+", "-", "*", "/", "//", "%", "**", "+", "-", "*"};
    str_add(out, "(");
    draw_image(d, out, depth - 1);
    str_addf(out, " %s ", draw_one(d, OPERATORS));
    if (draw_chance(d, 40)) {
        image_number(d, out, depth);
    } else {
        draw_image(d, out, depth - 1);
    }
    str_add(out, ")");
}

static void image_negative(Draw *d, Str *out, int depth)
{
    str_add(out, "-");
    draw_image(d, out, depth - 1);
}

static void image_offset(Draw *d, Str *out, int depth)
{
    (void)depth;
    image_name(d, out);
    str_add(out, "[");
    draw_offsets(d, out);
    str_add(out, "]");
}

/* Any image's pixels, at places that images of the current grid give. */
static void image_gather(Draw *d, Str *out, int depth)
{
    static const char *const PLACES[] = {"%c_of(%s) * 2", "%c_of(%s) - 1.5", "-%c_of(%s)", "30 - %c_of(%s) / 2"};
    const DrawName *name = draw_name(d, DRAW_IMAGE), *value = draw_name(d, DRAW_VALUE);
    const char *of = name != NULL ? name->name : "ramp(x = 5)", *axes = d->axes;
    int grid = d->grid;
    d->grid = draw_chance(d, 20) ? -1 : grid;
    const DrawName *from = draw_chance(d, 50) ? draw_name(d, DRAW_IMAGE) : NULL;
    d->grid = grid;
    str_addf(out, "%s[", from != NULL ? from->name : of);
    for (int i = 0; axes[i] != '\0' && axes[i] != 'c'; i++) {
        str_addf(out, "%s%c = ", i > 0 ? ", " : "", axes[i]);
        if (draw_chance(d, 8)) {
            str_add(out, value != NULL ? value->name : "3");
        } else if (draw_chance(d, 30)) {
            draw_image(d, out, depth - 1);
        } else {
            const char *place = draw_one(d, PLACES);
            int letter = (int)strcspn(place, "%");
            str_addf(out, "%.*s%c_of(%s)%s", letter, place, axes[i], of, place + letter + 9);
        }
    }
    if (draw_chance(d, 70)) {
        str_add(out, ", border = ");
        draw_border(d, out);
    }
    str_add(out, "]");
}

static void image_choice(Draw *d, Str *out, int depth)
{
    str_add(out, "(");
    draw_image(d, out, depth - 1);
    str_add(out, " if ");
    draw_mask(d, out, depth - 1);
    str_add(out, " else ");
    draw_image(d, out, depth - 1);
    str_add(out, ")");
}

/* Folds over what is no pixel at an offset of one image. */
static void image_other_fold(Draw *d, Str *out, int depth)
{
    static const char *const FORMS[] = {
        "count($[dx = i] > 5 for i in -2 .. 3)",
        "sum(pick(i + 1, [1, 2, -1]) * $[dx = i] for i in -1 .. 1)",
        "max($[x = x_of($) + 2 * i, border = reflect] for i in -2 .. 1)",
        "sum($[x = i] for i in 0 .. 4)",
        "sum(i * i - 3 for i in 0 .. 5) * $",
        "mean(abs($[dx = i] - $) for i in -2 .. 2)",
        "min(hypot($[dx = i], i) for i in -2 .. 2 where i != 0)",
        "sum(max($[dx = i + k] for k in 0 .. 1) for i in -1 .. 2)",
        "sum($ > 3 if i > 0 else $ < 9 for i in -1 .. 2)",
        "median($[dx = i, border = wrap] * (i + 3) for i in -4 .. 4)",
        "percentile($[dx = 2 * i, border = mirror] for i in -3 .. 3, q = 75)",
        "var($[dx = i, border = constant(2)] for i in -9 .. 9)",
        "prod(1 + $[dx = i] / 100 for i in 0 .. 6)",
        "pick($, [7, -1, 2.5, 40])",
        "sum($[dx = i] for i in -40 .. 40)",
        "max($[dx = i, border = mirror] for i in 0 .. 70)",
        "sum(i * @ * $[dx = i] for i in -1 .. 2)",
        "max(@ / (i + 3) - $[dx = i] for i in -1 .. 1)",
        "sum($[dx = i, border = constant(2 * i)] for i in -2 .. 2)",
        "max($[dx = i, border = constant(i)] for i in -80 .. 3)",
        "sum(gaussian($, i) for i in 1 .. 2)",
        "max(erode($ * i, 1)[dx = i] for i in -1 .. 1)",
        "median(median_filter($, i) for i in 0 .. 2)",
        "sum(mean($ * i) * $[dx = i] for i in 1 .. 3 where i != 2)",
        "count($ > percentile($, 30 * i) for i in 1 .. 3)",
        "max(max(($ * i)[dx = j] for j in 0 .. 1) for i in 1 .. 2)",
        "sum(var($[dx = i + j] for j in 0 .. 2) for i in -1 .. 1)",
        "median($[dx = i] where $[dx = i] < 9 for i in -2 .. 3)",
        "std($[dx = 2 * i] for i in -2 .. 2 where $[dx = i] > mean($))",
        "percentile($[dx = i] for i in -2 .. 2, q = 10 * (x_of($) % 11))",
        "median($ * i for i in -3 .. 5 where $ > @ * i)",
        "max(erode($, i) for i in 0 .. 2 where dilate($, i) > 3)",
        "sum($[dx = i // 2] for i in -3 .. 3)",
        "max($[dx = i % 3] + x_of($) for i in -2 .. 2)",
        "max(median($[dx = i] for i in 0 .. k) for k in 0 .. 2)",
        "max(i * i * -laplacian_of_gaussian($, i) for i in 1 .. 2)",
        "min(gaussian($, i) - gaussian($, i + k) for i in 1 .. 2, k in 1 .. 2 where i != k)",
        "std(gaussian($, i) for i in 1 .. 3)",
        "sum(i * erode($, i) where $ > dilate($, i - 1) for i in 1 .. 2)",
        "max(sum($[dx = k] for k in -i .. i) / i for i in 1 .. 3)",
        "number(any($ > mean_filter($, i) for i in 1 .. 2))",
        "prod(1 + max(number($ > 2 * i), 0.5 * i) / (1 + sobel($ * i)) for i in 1 .. 3)",
        ("sum(exp(-abs($[dx = i] - $) / 9) * $[dx = i] for i in -2 .. 2) / "
         "sum(exp(-abs($[dx = i] - $) / 9) for i in -2 .. 2)"),
        "sum(percentile($[dx = i] for i in 0 .. 3, q = 30 * k) for k in 0 .. 2)",
    };
    const DrawName *name = draw_name(d, DRAW_IMAGE), *value = draw_name(d, DRAW_VALUE);
    (void)depth;
    for (const char *p = draw_one(d, FORMS); *p != '\0'; p++) {
        if (*p == '$') {
            str_add(out, name != NULL ? name->name : "ramp(x = 19, y = 5)");
        } else if (*p == '@') {
            str_add(out, value != NULL ? value->name : "1.5");
        } else {
            str_addn(out, p, 1);
        }
    }
}

/* Over a cube, or rows whose ends the outer index, or a param, says. */
static void image_bent_fold(Draw *d, Str *out, int depth)
{
    static const char *const FOLDS[] = {"sum", "min", "max", "mean", "median", "var"};
    static const char *const SPACES[] = {
        "[dz = k, dy = j, dx = i] for k in -1 .. 1, j in 0 .. 1, i in -1 .. 2)",
        "[dz = k, dx = i] * (k + 2) for k in -2 .. 1, i in -1 .. 1)",
        "[dz = k] for k in -2 .. 2)",
        "[dz = k] + z_of(image) for k in -1 .. 1)",
        " - image[z = k] for k in 0 .. 2)",
    };
    static const char *const PLANES[] = {
        "[dy = j, dx = i] for j in -2 .. 2, i in -j .. j)",
        "[dy = j, dx = i] * (i - j) for j in -1 .. 2, i in j - 1 .. 2)",
        "[dy = 2 * j, dx = -i] for j in 0 .. 2, i in 0 .. 3)",
        "[dy = j] * (y_of(image) - x_of(image) + j) for j in -1 .. 2)",
        "[dy = j // 2, dx = i % 2] for j in -3 .. 3, i in 0 .. 3)",
    };
    static const char *const ROWS[] = {"[dx = 3 * i] for i in -1 .. 2)", "[dx = i] for i in 2 .. 6)"};
    const DrawName *param = draw_chance(d, 30) ? draw_name(d, DRAW_NUMBER) : NULL;
    (void)depth;
    str_addf(out, "%s(", draw_one(d, FOLDS));
    image_name(d, out);
    if (param != NULL) {
        str_addf(out, "[dx = i] for i in -%s .. %s)", param->name, param->name);
    } else if (strchr(d->axes, 'z') != NULL) {
        str_add(out, draw_one(d, SPACES));
    } else {
        str_add(out, strchr(d->axes, 'y') != NULL ? draw_one(d, PLANES) : draw_one(d, ROWS));
    }
}

/* Which elements of a fold stay. */
static void fold_where(Draw *d, Str *out, bool plane, bool pixels)
{
    static const char *const INDICES[] = {"", "", "", " where i * i + j * j <= 3", " where i != j"};
    static const char *const PIXELS[] = {" > 3", " < 100", " != 0 and i != 1"};
    if (pixels && draw_chance(d, 25)) {
        str_add(out, " where ");
        image_name(d, out);
        str_add(out, plane ? "[dy = j, dx = i]" : "[dx = i]");
        str_add(out, draw_one(d, PIXELS));
    } else if (pixels && draw_chance(d, 10)) {
        str_add(out, " where ");
        draw_mask(d, out, 1);
    } else {
        str_add(out, plane ? draw_one(d, INDICES) : "");
    }
}

static void image_fold(Draw *d, Str *out, int depth)
{
    static const char *const FOLDS[] = {"sum",  "sum", "sum", "prod",   "min",        "max",
                                        "mean", "var", "std", "median", "percentile", "mode"};
    static const char *const WEIGHTS[] = {"",           "",           "exp(-i * i / 4) * exp(-j * j / 2) * ",
                                          "(i + 2) * ", "(i * j) * ", "(1 + j) * (i - 3) * ",
                                          "0.25 * "};
    bool plane = strchr(d->axes, 'y') != NULL;
    const char *fold = draw_one(d, FOLDS);
    unsigned r = 1 + draw_below(d, 3), above = draw_below(d, 3);
    (void)depth;
    str_addf(out, "%s(", fold);
    str_add(out, plane ? draw_one(d, WEIGHTS) : "");
    image_name(d, out);
    str_addf(out, "[%sdx = i%s", plane ? "dy = j, " : "", draw_chance(d, 50) ? ", border = " : "]");
    if (out->at[out->n - 1] != ']') {
        draw_border(d, out);
        str_add(out, "]");
    }
    if (draw_chance(d, 20)) {
        str_add(out, " * ");
        image_name(d, out);
        str_addf(out, "[%sdx = %s, border = ", plane && draw_chance(d, 50) ? "dy = j, " : "", plane ? "-i" : "i");
        draw_border(d, out);
        str_add(out, "]");
    }
    str_add(out, " for ");
    if (plane) {
        str_addf(out, "j in -%u .. %u, ", r, above);
    }
    str_addf(out, "i in -%u .. %u", draw_below(d, 3), r);
    fold_where(d, out, plane, strcmp(fold, "mode") != 0);
    str_add(out, strcmp(fold, "percentile") == 0 ? ", q = 30)" : ")");
}

static void image_of_mask(Draw *d, Str *out, int depth)
{
    str_add(out, "number(");
    draw_mask(d, out, depth - 1);
    str_add(out, ")");
}

void draw_vector(Draw *d, Str *out, const char *name)
{
    switch (draw_below(d, 6)) {
    case 0:
        str_addf(out, "(%s / %u + sqrt(abs(%s)))", name, 1 + draw_below(d, 9), name);
        break;
    case 1:
        str_addf(out, "(%s if %s > %u else -%s)", name, name, draw_below(d, 20), name);
        break;
    case 2:
        str_addf(out, "clip(%s, %u, max(%s))", name, draw_below(d, 5), name);
        break;
    default:
        str_add(out, name);
    }
}

static void image_of_vector(Draw *d, Str *out, int depth)
{
    const DrawName *vector = draw_name(d, DRAW_VECTOR), *labels = draw_name(d, DRAW_LABELS);
    if (vector == NULL || labels == NULL) {
        image_plain(d, out, depth);
    } else {
        draw_vector(d, out, vector->name);
        str_addf(out, "[%s]", labels->name);
    }
}

static void image_function(Draw *d, Str *out, int depth)
{
    const DrawName *function = draw_name(d, DRAW_FUNCTION);
    if (function == NULL) {
        image_arithmetic(d, out, depth);
        return;
    }
    str_addf(out, "%s(", function->name);
    for (int i = 0; i < function->arity; i++) {
        str_add(out, i > 0 ? ", " : "");
        draw_image(d, out, depth - 1);
    }
    str_add(out, ")");
}

static void image_coordinate(Draw *d, Str *out, int depth)
{
    const DrawName *name = draw_name(d, DRAW_IMAGE);
    (void)depth;
    str_addf(out, "%c_of(%s)", d->axes[draw_below(d, (unsigned)strlen(d->axes))],
             name != NULL ? name->name : "ramp(x = 9)");
}

static void image_channel(Draw *d, Str *out, int depth)
{
    (void)depth;
    const unsigned channel = draw_below(d, 3);
    if (strchr(d->axes, 'c') == NULL) {
        image_name(d, out);
    } else if (draw_chance(d, 30)) {
        str_addf(out, "%s(", draw_chance(d, 50) ? "sum" : "median");
        image_name(d, out);
        str_add(out, "[c = k] for k in 0 .. 2)");
    } else {
        image_name(d, out);
        str_addf(out, "[c = %u]", channel);
    }
}

static void image_plane(Draw *d, Str *out, int depth)
{
    (void)depth;
    image_name(d, out);
    str_addf(out, "[%s = %u]", strchr(d->axes, 'z') != NULL ? "z" : "x", draw_below(d, 4));
}

/* Pixels at places that follow from others, some so far away at most. */
static void image_followed(Draw *d, Str *out, int depth)
{
    static const char *const FORMS[][2] = {
        {"min(max(", ", -3), 4)"},   {"i16(max(min(", ", 6), -5))"},
        {"max(-2, min(", ", 3.5))"}, {"3 * sign(", ")"},
        {"u8(", ") // 32"},          {"-(", ")"},
        {"(5 if ", " > 9 else -2)"}, {"0.5 * ((", ") % 8)"},
    };
    const DrawName *name = draw_name(d, DRAW_IMAGE);
    if (name == NULL) {
        image_arithmetic(d, out, depth);
        return;
    }
    bool any = false;
    str_addf(out, "%s[", name->name);
    for (const char *axis = d->axes; *axis != '\0'; axis++) {
        bool last = axis[1] == '\0' || axis[1] == 'c';
        if (*axis != 'c' && (draw_chance(d, 50) || (last && !any))) {
            const char *const *form = FORMS[draw_below(d, sizeof FORMS / sizeof *FORMS)];
            str_addf(out, "%s%c = %c_of(%s) + %s", any ? ", " : "", *axis, *axis, name->name, form[0]);
            draw_image(d, out, depth - 1);
            str_add(out, form[1]);
            any = true;
        }
    }
    str_add(out, ", border = ");
    draw_border(d, out);
    str_add(out, "]");
}

/* A window at a place that a pixel gives. */
static void image_window_anywhere(Draw *d, Str *out, int depth)
{
    static const char *const FOLDS[] = {"sum", "min", "max", "mean", "median", "mode", "prod"};
    static const char *const MOVES[] = {" + i", " - 2 * i", " * i", " + 0.5 * i + j", " * j + i", " + c"};
    static const char *const RANGES[] = {"i in -1 .. 1, j in 0 .. 1", "i in -1 .. 2, j in 0 .. i",
                                         "j in 1 .. 3, i in 0 .. 0", "i in -2 .. 1, j in 1 .. 2 where i != j"};
    const DrawName *name = draw_name(d, DRAW_IMAGE), *param = draw_chance(d, 20) ? draw_name(d, DRAW_NUMBER) : NULL;
    if (name == NULL) {
        image_arithmetic(d, out, depth);
        return;
    }
    str_addf(out, "%s((i + 2) * %s[", draw_one(d, FOLDS), name->name);
    for (const char *axis = d->axes; *axis != '\0' && *axis != 'c'; axis++) {
        str_addf(out, "%s%c = %c_of(%s) + ", axis > d->axes ? ", " : "", *axis, *axis, name->name);
        draw_image(d, out, depth - 1);
        const char *move = draw_one(d, MOVES);
        bool colours = strchr(d->axes, 'c') != NULL;
        str_add(out, strcmp(move, " + c") != 0 ? move : colours ? " + c_of(image) * i" : " + i * j");
    }
    str_add(out, ", border = ");
    draw_border(d, out);
    if (param != NULL) {
        str_addf(out, "] for i in -1 .. %s, j in 0 .. 1)", param->name);
    } else {
        str_addf(out, "] for %s)", draw_one(d, RANGES));
    }
}

/* Between two images, as a whole-image value decides. */
static void image_decided(Draw *d, Str *out, int depth)
{
    const DrawName *value = draw_name(d, DRAW_VALUE);
    str_add(out, "(");
    draw_image(d, out, depth - 1);
    str_addf(out, " if %s > ", value != NULL ? value->name : "width(image)");
    image_number(d, out, depth);
    str_add(out, " else ");
    draw_image(d, out, depth - 1);
    str_add(out, ")");
}

static void image_math(Draw *d, Str *out, int depth)
{
    static const char *const CALLS[] = {"abs(",      "sqrt(",     "floor(", "round(", "exp(", "log(", "max(3, ",
                                        "min(100, ", "hypot(1, ", "sign(",  "trunc(", "i32(", "u8(",  "f64(",
                                        "f64(",      "f64(",      "u32(",   "i16(",   "u16(", "f32("};
    str_add(out, draw_one(d, CALLS));
    draw_image(d, out, depth - 1);
    str_add(out, ")");
}

typedef void (*Form)(Draw *d, Str *out, int depth);

static Form draw_form(Draw *d, const Form *forms, unsigned n)
{
    return forms[draw_below(d, n)];
}

void draw_image(Draw *d, Str *out, int depth)
{
    static const Form FORMS[] = {
        image_plain,      image_plain,           image_arithmetic, image_arithmetic, image_arithmetic, image_offset,
        image_offset,     image_gather,          image_choice,     image_fold,       image_fold,       image_of_mask,
        image_of_vector,  image_function,        image_coordinate, image_channel,    image_math,       image_math,
        image_negative,   image_bent_fold,       image_plane,      image_decided,    image_followed,   image_other_fold,
        image_other_fold, image_window_anywhere, draw_fold,        draw_fold,        draw_fold,
    };
    Form form = depth > 0 ? draw_form(d, FORMS, sizeof FORMS / sizeof *FORMS) : image_plain;
    form(d, out, depth);
}

/* ---- masks and labels -------------------------------------------------------------------- */

static void mask_comparison(Draw *d, Str *out, int depth)
{
    static const char *const OPERATORS[] = {"<", "<=", ">", ">=", "==", "!="};
    str_add(out, "(");
    draw_image(d, out, depth - 1);
    str_addf(out, " %s ", draw_one(d, OPERATORS));
    if (draw_chance(d, 25)) {
        draw_image(d, out, depth - 1);
    } else {
        image_number(d, out, depth);
    }
    str_add(out, ")");
}

static void mask_logic(Draw *d, Str *out, int depth)
{
    static const char *const OPERATORS[] = {"and", "or", "xor", "and not", "== not"};
    str_add(out, "(");
    draw_mask(d, out, depth - 1);
    str_addf(out, " %s ", draw_one(d, OPERATORS));
    draw_mask(d, out, depth - 1);
    str_add(out, ")");
}

static void mask_plain(Draw *d, Str *out, int depth)
{
    const DrawName *name = draw_name(d, DRAW_MASK);
    if (name == NULL) {
        mask_comparison(d, out, depth < 1 ? 1 : depth);
    } else {
        str_add(out, name->name);
    }
}

static void mask_offset(Draw *d, Str *out, int depth)
{
    mask_plain(d, out, depth);
    str_add(out, "[");
    draw_offsets(d, out);
    str_add(out, "]");
}

static void mask_of_labels(Draw *d, Str *out, int depth)
{
    (void)depth;
    str_add(out, "(");
    draw_labels(d, out);
    str_add(out, draw_chance(d, 60) ? " > " : " == ");
    if (draw_chance(d, 15)) {
        draw_labels(d, out);
        str_add(out, ")");
    } else {
        str_addf(out, "%u)", draw_below(d, 4));
    }
}

static void mask_fold(Draw *d, Str *out, int depth)
{
    str_addf(out, "%s(", draw_chance(d, 50) ? "any" : "all");
    mask_plain(d, out, depth);
    str_addf(out, "[dx = i] for i in -%u .. %u)", draw_below(d, 3), draw_below(d, 4));
}

void draw_mask(Draw *d, Str *out, int depth)
{
    static const Form FORMS[] = {mask_plain, mask_plain,     mask_comparison, mask_comparison,
                                 mask_logic, mask_of_labels, mask_offset,     mask_fold};
    Form form = depth > 0 ? draw_form(d, FORMS, sizeof FORMS / sizeof *FORMS) : mask_plain;
    form(d, out, depth);
}

void draw_labels(Draw *d, Str *out)
{
    const DrawName *name = draw_name(d, DRAW_LABELS);
    if (name != NULL) {
        str_add(out, name->name);
    } else {
        str_add(out, "label(");
        mask_plain(d, out, 1);
        str_add(out, ")");
    }
}
