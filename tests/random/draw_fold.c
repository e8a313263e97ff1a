/*
 * draw_fold: comprehensions from a grammar: up to three indices whose ranges may follow from one another, offsets that
 * are expressions of several of them, folds in folds.
 */
#include "draw.h"

#include <string.h>

static const char INDICES[] = "ijk";

/* A number that follows from the first `n` indices. */
static void index_number(Draw *d, Str *out, int n, int depth)
{
    static const char *const FORMS[] = {
        "@ - @",
        "@ + @",
        "@ * @",
        "2 * @ - @",
        "-@",
        "abs(@)",
        "max(@, @)",
        "min(@, @)",
        "@ // 2",
        "@ % 3",
        "floor(@ / 2)",
        "sign(@)",
        "@ ** 2",
        "(@ if @ > @ else @)",
        "i32(@)",
        "@ / 2",
        "@ - 1",
        "round(2 * sin(@))",
        "3 - @",
        "(@ if @ == 0 else -1)",
        "@ // -2",
        "@ % 2 * @",
        "round(0.7 * @ - 0.3 * @)",
    };
    if (depth <= 0 || draw_chance(d, 30)) {
        const DrawName *param = draw_chance(d, 6) ? draw_name(d, DRAW_NUMBER) : NULL;
        if (param != NULL) {
            str_add(out, param->name);
        } else if (draw_chance(d, 10)) {
            str_addf(out, "%u", draw_below(d, 4));
        } else {
            str_addf(out, "%c", INDICES[draw_below(d, (unsigned)n)]);
        }
        return;
    }
    for (const char *p = draw_one(d, FORMS); *p != '\0'; p++) {
        if (*p == '@') {
            str_add(out, "(");
            index_number(d, out, n, depth - 1);
            str_add(out, ")");
        } else {
            str_addn(out, p, 1);
        }
    }
}

static void image_or_ramp(Draw *d, Str *out)
{
    const DrawName *name = draw_name(d, DRAW_IMAGE);
    str_add(out, name != NULL ? name->name : "ramp(x = 19, y = 5)");
}

/* A pixel beside this one, or at a place of its own. */
static void read_by_indices(Draw *d, Str *out, int n)
{
    bool any = false, place = draw_chance(d, 15);
    Str of;
    str_init(&of, out->arena);
    image_or_ramp(d, &of);
    str_addf(out, "%s[", of.at);
    for (const char *axis = d->axes; *axis != '\0' && *axis != 'c'; axis++) {
        if (draw_chance(d, 70) || (!any && (axis[1] == '\0' || axis[1] == 'c'))) {
            str_addf(out, place ? "%s%c = %c_of(%s) + " : "%sd%c = ", any ? ", " : "", *axis, *axis, of.at);
            index_number(d, out, n, 2);
            any = true;
        }
    }
    if (draw_chance(d, 40)) {
        str_add(out, ", border = ");
        draw_border(d, out);
    } else if (draw_chance(d, 15)) {
        str_add(out, ", border = constant(");
        index_number(d, out, n, 1);
        str_add(out, ")");
    }
    str_add(out, "]");
}

static void ranges(Draw *d, Str *out, int from, int n)
{
    for (int i = from; i < n; i++) {
        str_addf(out, "%s%c in ", i > from ? ", " : " for ", INDICES[i]);
        const DrawName *param = draw_chance(d, 8) ? draw_name(d, DRAW_NUMBER) : NULL;
        if (i > 0 && draw_chance(d, 35)) {
            static const char *const FORMS[] = {"-%c .. %c", "%c .. 2", "%c - 1 .. %c + 1", "0 .. %c", "-2 .. %c"};
            const char *form = draw_one(d, FORMS), outer = INDICES[draw_below(d, (unsigned)i)];
            for (; *form != '\0'; form++) {
                str_addn(out, *form == '%' ? &outer : form, 1);
                form += *form == '%';
            }
        } else if (param != NULL) {
            str_addf(out, "-%s .. %s", param->name, param->name);
        } else {
            int lo = (int)draw_below(d, 5) - 3;
            str_addf(out, "%d .. %d", lo, lo + (int)draw_below(d, n > 2 ? 3 : 5));
        }
    }
}

static void fold(Draw *d, Str *out, int from, int depth);

/* `n` indices are known. */
static void element(Draw *d, Str *out, int n, int depth)
{
    switch (draw_below(d, 10)) {
    case 0:
        str_add(out, "(");
        index_number(d, out, n, 1);
        str_add(out, ") * ");
        read_by_indices(d, out, n);
        break;
    case 1:
        read_by_indices(d, out, n);
        str_add(out, draw_chance(d, 50) ? " - " : " * ");
        read_by_indices(d, out, n);
        break;
    case 2:
        str_add(out, "max(");
        read_by_indices(d, out, n);
        str_add(out, ", ");
        index_number(d, out, n, 2);
        str_add(out, ")");
        break;
    case 3:
        str_add(out, "(");
        read_by_indices(d, out, n);
        str_add(out, " if ");
        read_by_indices(d, out, n);
        str_add(out, " > ");
        index_number(d, out, n, 1);
        str_add(out, " else ");
        image_or_ramp(d, out);
        str_add(out, ")");
        break;
    case 4:
        if (n < 3 && depth > 0) {
            fold(d, out, n, depth - 1);
            break;
        }
        read_by_indices(d, out, n);
        break;
    case 5: {
        const DrawName *function = draw_name(d, DRAW_FUNCTION);
        str_addf(out, "%s(", function != NULL ? function->name : "abs");
        for (int i = 0; i < (function != NULL ? function->arity : 1); i++) {
            str_add(out, i > 0 ? ", " : "");
            read_by_indices(d, out, n);
        }
        str_add(out, ")");
        break;
    }
    case 6:
        str_add(out, "exp(-(");
        index_number(d, out, n, 1);
        str_add(out, ") / 3) * ");
        read_by_indices(d, out, n);
        break;
    default:
        read_by_indices(d, out, n);
    }
}

static void condition(Draw *d, Str *out, int n)
{
    static const char *const COMPARISONS[] = {" != ", " < ", " >= ", " == "};
    str_add(out, " where ");
    if (draw_chance(d, 50)) {
        index_number(d, out, n, 1);
    } else {
        read_by_indices(d, out, n);
    }
    str_add(out, draw_one(d, COMPARISONS));
    index_number(d, out, n, 1);
}

/* The indices before `from` belong to folds around it. */
static void fold(Draw *d, Str *out, int from, int depth)
{
    static const char *const FOLDS[] = {"sum", "sum",    "max",        "min",   "mean", "var", "std",  "prod", "sum",
                                        "max", "median", "percentile", "count", "any",  "all", "mode", "blend"};
    const char *name = draw_one(d, FOLDS);
    bool truth = strcmp(name, "count") == 0 || strcmp(name, "any") == 0 || strcmp(name, "all") == 0;
    int n = from + 1 + (int)draw_below(d, (unsigned)(3 - from));
    bool early = draw_chance(d, 20);
    str_addf(out, "%s%s(", truth && *name == 'a' ? "number(" : "", name);
    element(d, out, n, depth);
    if (truth) {
        str_add(out, " > ");
        index_number(d, out, n, 1);
    }
    if (early) {
        condition(d, out, n);
    }
    ranges(d, out, from, n);
    if (!early && draw_chance(d, 20)) {
        condition(d, out, n);
    }
    str_add(out, strcmp(name, "percentile") == 0 ? ", q = 40)" : ")");
    str_add(out, truth && *name == 'a' ? ")" : "");
}

void draw_fold(Draw *d, Str *out, int depth)
{
    fold(d, out, 0, depth);
}
