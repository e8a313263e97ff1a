/*
 * draw_function: functions whose control flow depends on pixels, from a grammar: branches and loops in one another, returns
 * anywhere, names that only some branch gives a value, and calls of functions that were there before.
 */
#include "draw.h"

#include <string.h>

/* Names that have a value so far, and how deep the next statement lies. */
typedef struct Body {
    const char *names;
    int depth, indent;
} Body;

/* Of the rounds of a while, by depth: one inside another has its own. */
static const char COUNTERS[] = "?lmn";

static void number(Draw *d, Str *out)
{
    static const char *const NUMBERS[] = {"0", "1", "2", "3", "7", "0.5", "2.5", "10", "-1", "100", "255", "70000"};
    const DrawName *value = draw_chance(d, 8) ? draw_name(d, draw_chance(d, 50) ? DRAW_VALUE : DRAW_NUMBER) : NULL;
    str_add(out, value != NULL ? value->name : draw_one(d, NUMBERS));
}

static void expression(Draw *d, Str *out, const Body *b, int depth)
{
    static const char *const FORMS[] = {
        "(@ + @)",
        "(@ - @)",
        "(@ * @)",
        "(@ / @)",
        "(@ // @)",
        "(@ % @)",
        "-@",
        "abs(@)",
        "max(@, @)",
        "min(@, @)",
        "sqrt(@)",
        "floor(@)",
        "round(@)",
        "i32(@)",
        "u8(@)",
        "f32(@)",
        "sign(@)",
        "exp(@ / 50)",
        "(@ - @)",
        "(@ * @)",
        "(@ + @)",
        "(@ if @ > @ else @)",
        "hypot(@, @)",
        "clip(@, @, 9)",
        "u16(@)",
        "i16(@)",
        "(@ ** 2)",
        "log(@ + 1)",
        "number(@ > @ and not @ == @)",
    };
    if (depth <= 0 || draw_chance(d, 25)) {
        if (draw_chance(d, 70)) {
            str_addf(out, "%c", b->names[draw_below(d, (unsigned)strlen(b->names))]);
        } else {
            number(d, out);
        }
        return;
    }
    const DrawName *function = draw_chance(d, 25) ? draw_name(d, DRAW_FUNCTION) : NULL;
    if (function != NULL) {
        str_addf(out, "%s(", function->name);
        for (int i = 0; i < function->arity; i++) {
            str_add(out, i > 0 ? ", " : "");
            expression(d, out, b, depth - 1);
        }
        str_add(out, ")");
        return;
    }
    for (const char *p = draw_one(d, FORMS); *p != '\0'; p++) {
        if (*p == '@') {
            expression(d, out, b, depth - 1);
        } else {
            str_addn(out, p, 1);
        }
    }
}

static void condition(Draw *d, Str *out, const Body *b)
{
    static const char *const COMPARISONS[] = {" < ", " <= ", " > ", " >= ", " == ", " != "};
    expression(d, out, b, 1);
    str_add(out, draw_one(d, COMPARISONS));
    expression(d, out, b, 1);
    if (draw_chance(d, 25)) {
        str_add(out, draw_chance(d, 50) ? " and " : " or not ");
        expression(d, out, b, 0);
        str_add(out, draw_one(d, COMPARISONS));
        expression(d, out, b, 1);
    }
}

static void statements(Draw *d, Str *out, const Body *b, int n);

static void indent(Str *out, const Body *b)
{
    str_addf(out, "%*s", b->indent, "");
}

/* `counter` is what counts the rounds of a while; 0: none. */
static void block(Draw *d, Str *out, const Body *b, char counter)
{
    Body inner = *b;
    inner.depth--;
    inner.indent += 2;
    str_add(out, " {\n");
    statements(d, out, &inner, 1 + (int)draw_below(d, 2));
    if (counter != 0) {
        indent(out, &inner);
        str_addf(out, "%c = %c + 1\n", counter, counter);
    }
    indent(out, b);
    str_add(out, "}");
}

static void branch(Draw *d, Str *out, const Body *b)
{
    str_add(out, "if ");
    condition(d, out, b);
    block(d, out, b, 0);
    if (draw_chance(d, 50)) {
        str_add(out, " else");
        block(d, out, b, 0);
    }
}

static void for_loop(Draw *d, Str *out, const Body *b)
{
    Body inner = *b;
    inner.names = "abstk";
    str_addf(out, "for k in %d .. ", (int)draw_below(d, 4) - 2);
    if (draw_chance(d, 30)) {
        str_add(out, "min(6, ");
        expression(d, out, b, 0);
        str_add(out, ")");
    } else {
        str_addf(out, "%u", draw_below(d, 5));
    }
    block(d, out, &inner, 0);
}

static void while_loop(Draw *d, Str *out, const Body *b)
{
    const char counter = COUNTERS[b->depth];
    str_addf(out, "%c = 0\n", counter);
    indent(out, b);
    str_add(out, "while (");
    condition(d, out, b);
    str_addf(out, ") and %c < %u", counter, 1 + draw_below(d, 7));
    block(d, out, b, counter);
}

static void give_back(Draw *d, Str *out, const Body *b)
{
    str_add(out, "return ");
    expression(d, out, b, 2);
}

/* Sometimes to a name that has no value yet. */
static void assign(Draw *d, Str *out, const Body *b)
{
    static const char ASSIGNED[] = "ststuab";
    str_addf(out, "%c = ", ASSIGNED[draw_below(d, sizeof ASSIGNED - 1)]);
    expression(d, out, b, 2);
}

static void statements(Draw *d, Str *out, const Body *b, int n)
{
    static void (*const FORMS[])(Draw *, Str *, const Body *) = {branch,    branch, for_loop, while_loop,
                                                                 give_back, assign, assign,   assign};
    for (; n > 0; n--) {
        unsigned form = b->depth > 0 ? draw_below(d, sizeof FORMS / sizeof *FORMS) : 5;
        indent(out, b);
        FORMS[form == 4 && b->indent == 2 ? 5 : form](d, out, b);
        str_add(out, "\n");
    }
}

void draw_function(Draw *d, Str *out, const char *name)
{
    static const char *const TYPES[] = {"", "", "", "", " : f32", " : i32", " : i32", " : u8", " : u32", " : f64"};
    const Body body = {"abst", 3, 2};
    str_addf(out, "fn %s(a%s", name, draw_one(d, TYPES));
    str_addf(out, ", b%s)", draw_one(d, TYPES));
    str_addf(out, "%s {\n  s = ", draw_one(d, TYPES));
    number(d, out);
    str_add(out, draw_chance(d, 70) ? "\n  t = a\n" : "\n  t = 1\n");
    statements(d, out, &body, 1 + (int)draw_below(d, 4));
    str_add(out, "  return ");
    expression(d, out, &body, 2);
    str_add(out, "\n}\n");
}
