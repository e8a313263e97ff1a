/* draw_call: arguments for an operator's signature; one function for each kind of argument. */
#include "draw.h"

#include <stdlib.h>
#include <string.h>

static const char *const MEASURES[] = {
#define M(id, name, others, image, dims, needs, shape, integer, value, doc) name,
#include "base/measures.def"
#undef M
};

typedef void (*Argument)(Draw *d, Str *out, const OpParam *param);

static void image(Draw *d, Str *out, const OpParam *param)
{
    (void)param;
    draw_image(d, out, (int)draw_below(d, 3));
}

static void mask(Draw *d, Str *out, const OpParam *param)
{
    (void)param;
    draw_mask(d, out, 1 + (int)draw_below(d, 2));
}

static void labels(Draw *d, Str *out, const OpParam *param)
{
    (void)param;
    draw_labels(d, out);
}

static void value(Draw *d, Str *out, const OpParam *param)
{
    static const char *const REDUCTIONS[] = {"mean(", "otsu(", "median(", "max(", "std("};
    const DrawName *name = draw_name(d, DRAW_VALUE);
    (void)param;
    if (name != NULL && draw_chance(d, 50)) {
        str_add(out, name->name);
    } else if (draw_chance(d, 50)) {
        draw_number(d, out, NULL);
    } else {
        str_add(out, draw_one(d, REDUCTIONS));
        draw_image(d, out, 0);
        str_add(out, ")");
    }
}

static void truth(Draw *d, Str *out, const OpParam *param)
{
    (void)param;
    str_add(out, draw_chance(d, 50) ? "true" : "false");
}

static void per_axis(Draw *d, Str *out, const OpParam *param)
{
    bool first = true;
    str_add(out, "[");
    for (const char *axis = d->axes; *axis != '\0'; axis++) {
        if (*axis != 'c') {
            str_add(out, first ? "" : ", ");
            draw_number(d, out, param);
            first = false;
        }
    }
    str_add(out, "]");
}

static void border(Draw *d, Str *out, const OpParam *param)
{
    (void)param;
    draw_border(d, out);
}

static void footprint(Draw *d, Str *out, const OpParam *param)
{
    static const char *const FOOTPRINTS[] = {"disk(2)",
                                             "disk(1)",
                                             "ball(1)",
                                             "diamond(2)",
                                             "box(1)",
                                             "disk(3.3)",
                                             "[[0, 1, 0], [1, 1, 1], [0, 1, 0]]",
                                             "[[1, 1, 1, 0, 1]]",
                                             "disk(0)",
                                             "ball(2)",
                                             "box(3)",
                                             "disk(7)",
                                             "[[1], [0], [1], [1]]",
                                             "[[0, 0], [0, 1]]",
                                             "disk(%s)",
                                             "box(%s)"};
    static const char *const WIDE[] = {"box(12)", "disk(11)", "diamond(9)", "ball(4)", "[3, 17]", "[0, 33]"};
    const DrawName *number = draw_name(d, DRAW_NUMBER);
    (void)param;
    const char *form = draw_chance(d, 10) ? draw_one(d, WIDE) : draw_one(d, FOOTPRINTS);
    size_t at = strcspn(form, "%");
    str_addn(out, form, at);
    if (form[at] != '\0') {
        str_addf(out, "%s)", number != NULL ? number->name : "4");
    }
}

static void selection(Draw *d, Str *out, const OpParam *param)
{
    const DrawName *name = draw_chance(d, 40) ? draw_name(d, DRAW_SELECTION) : NULL;
    (void)param;
    if (name != NULL) {
        str_add(out, name->name);
        return;
    }
    str_add(out, "(");
    draw_image(d, out, 1);
    str_add(out, " where ");
    draw_mask(d, out, 1);
    str_add(out, ")");
}

static void list(Draw *d, Str *out, const OpParam *param)
{
    static const char *const LISTS[] = {"[[1, 2, 1], [0, 0, 0], [-1, -2, -1]]",
                                        "[[1, 2, 1]]",
                                        "[[1, 2, 1], [2, 4, 2], [1, 2, 1]]",
                                        "[[0.5], [-3], [1]]",
                                        "[3, 1, 4, 1, 5]",
                                        "[[1, 0.2, 0], [0, 1, -1.5]]",
                                        "[[-1, 0.5, 9], [0.25, 2, -3]]",
                                        "[[1, 0, 0.3, 0], [0, 0.5, 0, 1], [0, 0.1, -1, 4]]",
                                        "[[1, -2]]",
                                        "[[0, 0, 0, 1, 0.5, 0, -0.25]]",
                                        "[[0.1], [0.2], [0.3], [0.4]]",
                                        "[[1, 0], [0, 1], [-1, 0], [0, -1], [2, 2]]"};
    (void)param;
    str_add(out, draw_one(d, LISTS));
}

static void function(Draw *d, Str *out, const OpParam *param)
{
    const DrawName *kernel = draw_name(d, DRAW_KERNEL);
    if (kernel == NULL) {
        list(d, out, param);
    } else {
        str_add(out, kernel->name);
    }
}

static void vector(Draw *d, Str *out, const OpParam *param)
{
    const DrawName *name = draw_name(d, DRAW_VECTOR);
    if (name == NULL) {
        str_add(out, "label_count(");
        labels(d, out, param);
        str_add(out, ")");
    } else {
        draw_vector(d, out, name->name);
    }
}

/* A column with a name, which few share. */
static void column(Draw *d, Str *out, const OpParam *param)
{
    str_addf(out, "column%u = ", draw_below(d, 1000));
    static const Argument OF[] = {image, mask, vector};
    OF[draw_below(d, 3)](d, out, param);
}

static void word(Draw *d, Str *out, const OpParam *param)
{
    const char *p = param->choices;
    if (p == NULL) {
        str_add(out, draw_one(d, MEASURES));
        return;
    }
    unsigned n = 1;
    for (const char *q = p; *q != '\0'; q++) {
        n += *q == '|';
    }
    n = draw_below(d, n);
    d->call.word[param - d->call.op->param] = (int)n;
    for (; n > 0; n--) {
        p = strchr(p, '|') + 1;
    }
    str_addn(out, p, strcspn(p, "|"));
}

static void axis(Draw *d, Str *out, const OpParam *param)
{
    (void)param;
    str_addf(out, "%c", "xyz"[draw_below(d, 3)]);
}

static void channel(Draw *d, Str *out, const OpParam *param)
{
    (void)d;
    (void)param;
    str_add(out, "c");
}

static void record(Draw *d, Str *out, const OpParam *param)
{
    (void)d;
    (void)param;
    str_add(out, "(x = 1, y = 1, z = 0)");
}

static void area(Draw *d, Str *out, const OpParam *param)
{
    (void)param;
    str_addf(out, "%u um%d", draw_below(d, 20), strchr(d->axes, 'z') != NULL ? 3 : 2);
}

/* By the bits of OpType. */
static const Argument ARGUMENTS[OP_TYPES] = {
    image, mask,     labels, draw_number, draw_number, value,  truth, per_axis,    border, footprint, selection,
    list,  function, vector, word,        axis,        record, area,  draw_number, column, channel,
};

/* What takes the evaluator ten seconds: the ball of 100 pixels that rolls, rounds for each marker, apertures of a thousand objects. */
static unsigned takes_long_beyond(const OpParam *param)
{
    static const struct {
        const char *name;
        unsigned most;
    } LONG[] = {{"radius", 20}, {"rounds", 5}, {"objects", 50}};
    for (size_t i = 0; i < sizeof LONG / sizeof *LONG; i++) {
        if (strcmp(param->name, LONG[i].name) == 0 && param->value != NULL && atof(param->value) > 20) {
            return LONG[i].most;
        }
    }
    return 0;
}

/* What a number means, it seldom means by chance. */
static bool draw_by_name(Draw *d, Str *out, const OpParam *param)
{
    static const char *const CONNECTIVITIES[] = {"1", "2", "3", "4", "8", "6", "18", "26"};
    static const char FOREST[] = "\"forest 1 features 1 classes 1 2 trees 1 split 0 90 leaf 1 0 leaf 0 1\"";
    const bool connectivity = strcmp(param->name, "connectivity") == 0, forest = strcmp(param->name, "forest") == 0;
    const unsigned most = takes_long_beyond(param);
    if (connectivity || forest) {
        str_add(out, forest ? FOREST : draw_one(d, CONNECTIVITIES));
    } else if (most > 0) {
        str_addf(out, "%u", 1 + draw_below(d, most));
    }
    return connectivity || forest || most > 0;
}

static void draw_argument(Draw *d, Str *out, const OpParam *param)
{
    if (draw_by_name(d, out, param)) {
        return;
    }
    int bits[OP_TYPES], n = 0;
    for (int i = 0; i < OP_TYPES; i++) {
        if ((param->types >> i & 1) != 0) {
            bits[n++] = i;
        }
    }
    if (n > 0) {
        int bit = bits[draw_below(d, (unsigned)n)];
        d->call.type[param - d->call.op->param] = bit;
        ARGUMENTS[bit](d, out, param);
    }
}

static void draw_rest(Draw *d, Str *out, const OpParam *param)
{
    for (unsigned n = draw_below(d, draw_chance(d, 20) ? 9 : 4); n > 0; n--) {
        str_add(out, ", ");
        draw_argument(d, out, param);
    }
}

void draw_call(Draw *d, Str *out, const Op *op)
{
    bool named = false;
    d->call = (DrawCall){.op = op};
    for (int i = 0; i < OP_MAX_PARAMS; i++) {
        d->call.type[i] = d->call.word[i] = -1;
    }
    str_addf(out, "%s(", op->name);
    for (int i = 0; i < op->n_params; i++) {
        const OpParam *param = &op->param[i];
        if (param->rest) {
            draw_rest(d, out, param);
            named = true;
            continue;
        }
        if (param->value != NULL && takes_long_beyond(param) == 0 && draw_chance(d, 50)) {
            named = true; /* those behind it need their names, as those behind a "..." do */
            d->call.type[i] = DRAW_LEFT_OUT;
            continue;
        }
        str_addf(out, "%s", out->at[out->n - 1] == '(' ? "" : ", ");
        if (named) {
            str_addf(out, "%s = ", param->name);
        }
        draw_argument(d, out, param);
    }
    str_add(out, ")");
}
