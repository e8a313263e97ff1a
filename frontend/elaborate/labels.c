/*
 * labels: labels, what is measured of them, and the shapes that grow from them.
 */
#include "elab.h"

#include "../../base/connectivity.h"
#include "../../base/measures.h"

#include <math.h>
#include <string.h>

/* ---- labelling ------------------------------------------------------------------------- */

/* Connectivity as users write it: neighbours (4, 8; 6, 18, 26) or steps (1, 2, 3); the graph's
 * is the squared distance of the farthest neighbour.  0 after a complaint. */
static int connectivity_of(Elab *el, const Call *call, int param, int fallback)
{
    enum { PLANAR = CONNECTIVITY_PLANAR };
    static const struct {
        int ndim, written, squared;
    } KNOWN[] = {
        {1, 1, 1}, {1, 2, 1}, {2, 1, 1},  {2, 4, 1}, {2, 2, 2},  {2, 8, 2},          {3, 1, 1},
        {3, 6, 1}, {3, 2, 2}, {3, 18, 2}, {3, 3, 3}, {3, 26, 3}, {3, 4, PLANAR + 1}, {3, 8, PLANAR + 2},
    };
    bool label =
        strncmp(call->op->name, "label", strlen("label")) == 0; /* whose planes may be labelled each by itself */
    double value;
    int ndim = el_ndim(el, call->arg[0]);
    if (call->arg[param].kind != VAL_NUMBER) { /* an image without axes is labelled as along one */
        return ndim < 1 ? 1 : fallback > ndim ? ndim : fallback;
    }
    bool constant = el_constant(el, call->arg[param], &value);
    for (size_t i = 0; constant && i < sizeof KNOWN / sizeof *KNOWN; i++) {
        bool known = KNOWN[i].squared <= PLANAR || label;
        if (known && KNOWN[i].ndim == ndim && KNOWN[i].written == value) {
            return KNOWN[i].squared;
        }
    }
    Diag *d = el_error(el, BAD_CONNECTIVITY, call->at[param], el_axes(el, call->arg[0].grid));
    diag_help(el->diags, d,
              ndim != 3 ? "4 neighbours (edges) or 8 (also corners) in 2-D"
              : label   ? "6, 18 or 26 neighbours in 3-D; 4 or 8 for each plane by itself"
                        : "6, 18 or 26 neighbours in 3-D");
    return 0;
}

static Val primitive(Elab *el, IrNode node, const char *part, Span span)
{
    return el_node(el, el_add_once(el, node, part, span));
}

Val el_label(Elab *el, Call *call)
{
    int connectivity = connectivity_of(el, call, LABEL_CONNECTIVITY, 3);
    if (connectivity == 0) {
        return el_err();
    }
    Val mask = el_readable(el, call->arg[LABEL_MASK], "mask", call->span);
    IrNode node = {.op = IR_LABEL,
                   .kind = IR_K_LABELS,
                   .elem = ELEM_U32,
                   .grid = mask.grid,
                   .label = {.mask = mask.expr, .connectivity = ir_const(el->g, connectivity)}};
    return primitive(el, node, NULL, call->span);
}

Val el_label_equal(Elab *el, Call *call)
{
    int connectivity = connectivity_of(el, call, LABEL_EQUAL_CONNECTIVITY, 3);
    if (connectivity == 0) {
        return el_err();
    }
    Val image = call->arg[LABEL_EQUAL_V];
    image.image = IR_K_IMAGE;
    if (call->arg[LABEL_EQUAL_V].image != IR_K_LABELS && ir_expr(el->g, image.expr)->type != ELEM_F32) {
        image = el_image(el, ir_cast(el->g, image.expr, ELEM_F32), image.grid);
    }
    IrNode node = {.op = IR_LABEL_EQUAL,
                   .kind = IR_K_LABELS,
                   .elem = ELEM_U32,
                   .grid = image.grid,
                   .label_equal = {.image = ir_read(el->g, el_store(el, image, "value", call->span)),
                                   .connectivity = ir_const(el->g, connectivity)}};
    return primitive(el, node, NULL, call->span);
}

/* ---- measuring ------------------------------------------------------------------------- */

enum { ALL_IMAGES = -1 };

typedef struct Wanted {
    Val images[MEASURE_MAX_IMAGES];
    bool in_all[MEASURE_MAX_IMAGES]; /* an image that all properties are about, not only a column that has a name */
    const AstArg
        *name[MEASURE_MAX_IMAGES]; /* what the user calls an image that all properties are about; NULL: a number */
    int n_images, n_in_all;
    int like[MEASURE_MAX_IMAGES];       /* 0, or one more than the image whose pixels it has, for one more percentile */
    double percent[MEASURE_MAX_IMAGES]; /* of that and of images of which one is asked for, plus 1; 0: none is */
    bool full;                          /* somebody has been told that there are too many images */
    const Measure *properties[CALL_MAX_ARGS];
    const char *headers[CALL_MAX_ARGS]; /* as the user writes them */
    int image[CALL_MAX_ARGS];           /* that a column with a name is about, or ALL_IMAGES */
    Span at[CALL_MAX_ARGS];
    int n;
} Wanted;

_Static_assert((int)MEASURE_MAX_IMAGES < (int)NODE_INPUTS, "the first input of a measurement is its labels");

static void too_many(Elab *el, Span at)
{
    Diag *d = el_error(el, TOO_MANY_IMAGES, at, MEASURE_MAX_IMAGES);
    diag_help(el->diags, d,
              "put the others into a second table; of a file with many channels, `input image[y, x]` without "
              "`c` measures one after the other, and the table has a column `channel`");
}

/* The number of an image in the table; -1 after a complaint. */
static int add_image(Elab *el, Call *call, int i, Wanted *m)
{
    Val pair[2] = {call->arg[0], call->arg[i]};
    if (!el_meet(el, pair, 2, call->at[i])) {
        return -1;
    }
    if (el->grids.at[pair[0].grid].extents != el->grids.at[call->arg[0].grid].extents) {
        Diag *d =
            el_error(el, MEASURE_AXES, call->at[i], el_axes(el, call->arg[i].grid), el_axes(el, call->arg[0].grid));
        bool colour = el_has(el, call->arg[i], IR_AX_C) && !el_has(el, call->arg[0], IR_AX_C);
        diag_help(el->diags, d,
                  colour ? "measure channels one by one: image[c = 0]" : "labels and image have the same axes");
        return -1;
    }
    for (int k = 0; k < m->n_images; k++) {
        if (m->images[k].expr == pair[1].expr && call->column[i] != NULL && m->name[k] == NULL) {
            return k;
        }
    }
    if (m->n_images == MEASURE_MAX_IMAGES) {
        if (!m->full) {
            too_many(el, call->at[i]);
        }
        m->full = true;
        return -1;
    }
    m->images[m->n_images] = pair[1];
    return m->n_images++;
}

/* An image that all properties are about. */
static bool add_subject(Elab *el, Call *call, int i, Wanted *m)
{
    int number = add_image(el, call, i, m);
    if (number >= 0) {
        m->in_all[number] = true;
        m->n_in_all++;
    }
    return number >= 0;
}

/* Every name and other name of every property, for suggestions. */
static int property_names(Elab *el, const char **names, int most)
{
    int n = 0;
    for (int i = 0; i < MEASURE_IDS; i++) {
        const char *text = arena_printf(el->arena, "%s %s", MEASURES[i].name, MEASURES[i].aliases);
        for (size_t k; n < most && *text != '\0'; text += k) {
            k = strcspn(text, " ");
            if (k > 0) {
                names[n++] = arena_strndup(el->arena, text, k);
            }
            k += text[k] == ' ';
        }
    }
    return n;
}

/* Everyday words, and the properties that they mean. */
static const struct {
    const char *word, *here;
} EVERYDAY[] = {
    {"volume", "area, of voxels; in micrometres with spacing = [pixel_size(z), pixel_size(y), pixel_size(x)]"},
    {"size", "area, or num_pixels"},
    {"length", "feret_diameter_max, or axis_major_length of the ellipse"},
    {"diameter", "equivalent_diameter_area, or feret_diameter_max"},
    {"roundness", "circularity"},
    {"aspect_ratio", "property(labels, axis_major_length) / property(labels, axis_minor_length)"},
    {"position", "centroid, or center_of_mass"},
};

static const char *everyday(const char *word)
{
    for (size_t i = 0; i < sizeof EVERYDAY / sizeof EVERYDAY[0]; i++) {
        if (strcmp(EVERYDAY[i].word, word) == 0) {
            return EVERYDAY[i].here;
        }
    }
    return NULL;
}

static void unknown_property(Elab *el, const char *name, Span at)
{
    const char *names[256];
    const char *near = fe_nearest(name, names, property_names(el, names, 256));
    Diag *d = el_error(el, UNKNOWN_PROPERTY, at, name);
    if (everyday(name) != NULL) {
        diag_help(el->diags, d, "here: %s", everyday(name));
    } else if (near != NULL) {
        diag_help(el->diags, d, "did you mean `%s`?", near);
    } else {
        diag_help(el->diags, d,
                  "such as area, centroid, bbox, mean, sum, solidity; "
                  "`pipec ops measure` lists all");
    }
}

static bool add_column(Elab *el, Wanted *m, const char *header, const Measure *property, int image, Span at)
{
    for (int k = 0; k < m->n; k++) {
        if (strcmp(m->headers[k], header) == 0) {
            el_error(el, PROPERTY_TWICE, at, header);
            return false;
        }
    }
    m->headers[m->n] = header;
    m->image[m->n] = image;
    m->at[m->n] = at;
    m->properties[m->n++] = property;
    return true;
}

/* name = image: the mean. */
static bool add_named(Elab *el, Call *call, int i, Wanted *m)
{
    const AstArg *arg = call->column[i];
    if (strlen(arg->name) >= MEASURE_MAX_HEADER) {
        el_error(el, COLUMN_NAME, arg->name_span, MEASURE_MAX_HEADER - 1);
        return false;
    }
    int image = add_image(el, call, i, m);
    if (image >= 0 && !m->in_all[image]) {
        m->name[image] = arg;
    }
    return image >= 0 && add_column(el, m, arg->name, &MEASURES[MEASURE_ID_INTENSITY_MEAN], image, arg->name_span);
}

static bool add_property(Elab *el, Call *call, int i, Wanted *m)
{
    const char *name = call->arg[i].text;
    const Measure *p = measure_find(name, strlen(name));
    int ndim = el_ndim(el, call->arg[0]);
    if (p == NULL) {
        unknown_property(el, name, call->at[i]);
        return false;
    }
    if (p->dims != 0 && p->dims != ndim) {
        el_error(el, PROPERTY_NEEDS_2D, call->at[i], name, el_axes(el, call->arg[0].grid));
        return false;
    }
    return add_column(el, m, name, p, ALL_IMAGES, call->at[i]);
}

static bool is_about_images(const Wanted *m, int i)
{
    return m->properties[i]->intensity && m->image[i] == ALL_IMAGES;
}

/* Where images are asked about and all that there are have names, it is about these. */
static void ask_about_named(Wanted *m)
{
    int n = 0;
    bool asked = false;
    for (int i = 0; i < m->n; i++) {
        asked = asked || is_about_images(m, i);
    }
    for (int i = 0; i < m->n; i++) {
        int image = m->image[i];
        if (asked && m->n_in_all == 0 && image != ALL_IMAGES) {
            m->in_all[image] = true;
            continue;
        }
        m->headers[n] = m->headers[i];
        m->properties[n] = m->properties[i];
        m->at[n] = m->at[i];
        m->image[n++] = image;
    }
    m->n = n;
    for (int k = 0; k < m->n_images; k++) {
        m->n_in_all += m->in_all[k] && m->name[k] != NULL;
    }
}

/* The name of an image stands behind that of each property; columns that every table has are taken. */
static bool names_fit(Elab *el, const Wanted *m)
{
    for (int i = 0; i < m->n; i++) {
        bool taken = strcmp(m->headers[i], "label") == 0 || strcmp(m->headers[i], "image") == 0;
        if (m->image[i] != ALL_IMAGES && taken) {
            Diag *d = el_error(el, PROPERTY_TWICE, m->at[i], m->headers[i]);
            diag_help(el->diags, d, "the first columns are the file's name, `image`, and `label`; call it otherwise");
            return false;
        }
        for (int k = 0; k < m->n_images && is_about_images(m, i); k++) {
            const AstArg *arg = m->name[k];
            size_t room = MEASURE_MAX_HEADER - 1 - strlen("#-") - strlen(m->headers[i]);
            if (m->in_all[k] && arg != NULL && strlen(arg->name) > room) {
                el_error(el, COLUMN_NAME, arg->name_span, (int)room);
                return false;
            }
        }
    }
    return true;
}

static bool read_measure(Elab *el, Call *call, Wanted *m)
{
    bool fine = true;
    for (int i = el_first_of_rest(call->op); i < call->n; i++) {
        if (call->column[i] != NULL) {
            fine = add_named(el, call, i, m) && fine;
        } else if (call->arg[i].kind == VAL_IMAGE) {
            fine = add_subject(el, call, i, m) && fine;
        } else {
            fine = add_property(el, call, i, m) && fine;
        }
    }
    ask_about_named(m);
    for (int i = 0; i < m->n && fine; i++) {
        if (is_about_images(m, i) && m->n_in_all == 0) {
            Diag *d = el_error(el, PROPERTY_NEEDS_IMAGE, call->span, m->headers[i]);
            diag_help(el->diags, d, "name the image after the labels: %s(%s, image, %s)", call->op->name,
                      el_words(el, call->at[0]), m->headers[i]);
            fine = false;
        }
    }
    return fine && names_fit(el, m);
}

/* The number of image k as one of which a percentile is asked for: each has one, so that more of them ask for the image
 * once more. */
static int image_of_percentile(Elab *el, Wanted *m, int k, double percent, Span at)
{
    int i = k;
    for (; i < m->n_images; i++) {
        if ((i == k && m->percent[i] == 0) || ((i == k || m->like[i] == k + 1) && m->percent[i] == percent + 1)) {
            break;
        }
    }
    if (i == MEASURE_MAX_IMAGES) {
        too_many(el, at);
        return k;
    }
    if (i == m->n_images) {
        m->images[m->n_images++] = m->images[k];
        m->like[i] = k + 1;
    }
    m->percent[i] = percent + 1;
    return i;
}

/* The number of image k as what a property is about. */
static int number_of_image(Elab *el, Wanted *m, int property, int k)
{
    const Measure *p = m->properties[property];
    const char *header = p->id == MEASURE_ID_INTENSITY_PERCENTILE ? m->headers[property] : "";
    bool percentile = p->needs == MEASURE_MEDIAN;
    return percentile ? image_of_percentile(el, m, k, measure_percent(header, strlen(header)), m->at[property]) : k;
}

/* "label,area,0:mean", in a volume with "3d," in front: a property about images once for each of them. */
static const char *columns_of(Elab *el, Wanted *m, bool space)
{
    Str s;
    str_init(&s, el->arena);
    str_add(&s, space ? "3d,label" : "label");
    for (int i = 0; i < m->n; i++) {
        const char *header = m->headers[i];
        if (m->properties[i]->id == MEASURE_ID_LABEL) {
            continue;
        }
        if (!m->properties[i]->intensity) {
            str_addf(&s, ",%s", header);
            continue;
        }
        if (m->image[i] != ALL_IMAGES) {
            str_addf(&s, ",%d:%s=%s", m->image[i], m->properties[i]->name, header);
            continue;
        }
        for (int k = 0, number = 0; k < m->n_images; k++) {
            if (!m->in_all[k]) {
                continue;
            }
            str_addf(&s, ",%d:%s", number_of_image(el, m, i, k), header);
            if (m->name[k] != NULL) {
                str_addf(&s, "=%s#-%s", header, m->name[k]->name);
            } else if (m->n_in_all > 1) {
                str_addf(&s, "=%s#-%d", header, number);
            }
            number++;
        }
    }
    return s.at;
}

void el_spacing(Elab *el, Val record, IrExpr *arg)
{
    static const char *const NAMES[] = {"x", "y", "z"};
    for (int ax = 0; ax < 3; ax++) {
        const Val *v = el_member(record, NAMES[ax]);
        double zero;
        arg[ax] = v->expr;
        if (ir_is_const(el->g, v->expr, &zero) && zero == 0) {
            arg[ax] = ir_const(el->g, 1);
        }
    }
}

/* The parameter called so, or -1. */
/* The column, from 1, that a table of these columns calls so; 0: none. */
static int column_called(Elab *el, const char *word, const char *columns, int dims)
{
    MeasureList *list = arena_new(el->arena, MeasureList);
    Err err = {0};
    if (!measure_parse(columns, dims, list, &err)) {
        return 0;
    }
    const double spacing[3] = {1, 1, 1};
    char(*names)[64] = arena_alloc(el->arena, (size_t)list->columns * sizeof *names);
    bool *integer = arena_array(el->arena, bool, list->columns);
    measure_names(list, spacing, names, integer);
    int i = list->columns;
    while (i > 0 && strcmp(names[i - 1], word) != 0) {
        i--;
    }
    return i;
}

/* The columns, from 1, of the place called `word` in a table with RA and Dec: centroid-1 and -0, mass_center_x and _y, or as xy
 * x and y; no other column has the names of the two that are added. */
static bool sky_columns(Elab *el, Call *call, Wanted *m, int at[2])
{
    const Val word = call->arg[MEASURE_SKY], labels = call->arg[0];
    const int dims = el_ndim(el, labels);
    Diag *d = NULL;
    at[0] = at[1] = 0;
    if (word.kind != VAL_WORD || strcmp(word.text, "none") == 0) {
        return true;
    }
    const char *columns = columns_of(el, m, dims == 3), *added = NULL;
    for (int k = 0; k < 2; k++) {
        const char letter = k == 0 ? 'x' : 'y', *name = strcmp(word.text, "xy") == 0 ? "" : word.text;
        const char *numbered = arena_printf(el->arena, "%s-%d", name, dims - 1 - k);
        const char *lettered = arena_printf(el->arena, "%s%s%c", name, *name != '\0' ? "_" : "", letter);
        const int column = column_called(el, numbered, columns, dims);
        at[k] = column != 0 ? column : column_called(el, lettered, columns, dims);
        added = column_called(el, k == 0 ? "ra" : "dec", columns, dims) != 0 ? (k == 0 ? "ra" : "dec") : added;
    }
    if (added != NULL) {
        el_error(el, PROPERTY_TWICE, call->at[MEASURE_SKY], added);
        return false;
    }
    if (at[0] == 0 || at[1] == 0) {
        d = el_error(el, SKY_COLUMNS, call->at[MEASURE_SKY], word.text);
        diag_help(el->diags, d,
                  "measure it, too: measure(%s, centroid, sky = centroid); or with columns x and y: sky = xy",
                  el_words(el, call->at[0]));
    } else if (call->given[MEASURE_SPACING]) {
        d = el_error(el, SKY_PLACE, call->at[MEASURE_SPACING], el_words(el, call->at[0]));
        diag_help(el->diags, d, "places are in pixels where there is a sky: leave spacing out");
    } else if (!el_is_somewhere(el, labels.grid)) {
        d = el_error(el, SKY_PLACE, call->at[0], el_words(el, call->at[0]));
        diag_help(el->diags, d,
                  "say where the pixels lie on an input: placed(v, image, x = 2 * x_of(v), y = 2 * y_of(v))");
    }
    return d == NULL;
}

/* The column, from 1, that rows are sorted by: the first one of a property, of the first image, or the one that the
 * table will call so. */
static int sort_column(Elab *el, Call *call, Wanted *m)
{
    int dims = el_ndim(el, call->arg[0]);
    const char *word = call->arg[MEASURE_SORT].text;
    int sign = strcmp(call->arg[MEASURE_ORDER].text, "descending") == 0 ? -1 : 1;
    if (strcmp(word, "label") == 0) {
        return sign < 0 ? sign : 0; /* the order that they have */
    }
    int column = 1;
    for (int i = 0; i < m->n; i++) {
        const Measure *p = m->properties[i];
        if (strcmp(word, m->headers[i]) == 0) {
            return sign * (column + 1);
        }
        column += p->id == MEASURE_ID_LABEL ? 0 : measure_columns(p, dims) * (is_about_images(m, i) ? m->n_in_all : 1);
    }
    if (call->arg[MEASURE_SKY].kind == VAL_WORD && (strcmp(word, "ra") == 0 || strcmp(word, "dec") == 0)) {
        return sign * (column + (word[0] == 'r' ? 1 : 2));
    }
    column = column_called(el, word, columns_of(el, m, dims == 3), dims);
    if (column == 0) {
        Diag *d = el_error(el, SORT_COLUMN, call->at[MEASURE_SORT], word);
        diag_help(el->diags, d, "a column that the table has, such as `%s`", m->n > 0 ? m->headers[0] : "label");
    }
    return sign * column;
}

/* `node` measures what is wanted of the call's labels. */
static IrNode measuring(Elab *el, Call *call, Wanted *m, IrNode node)
{
    node.text = columns_of(el, m, el_has(el, call->arg[0], IR_AX_Z));
    node.of = el_labels_of(el, call->arg[0], call->span);
    node.measure.labels = el_readable(el, call->arg[0], "labels", call->span).expr;
    for (int k = 0; k < m->n_images; k++) {
        Val image = m->images[k];
        image.image = IR_K_IMAGE;
        image.expr = ir_cast(el->g, image.expr, ELEM_F32);
        node.measure.image[k] = el_readable(el, image, "image", call->span).expr;
    }
    for (int ax = 0; ax < 3; ax++) {
        node.measure.spacing[ax] = ir_const(el->g, 1);
    }
    if (el_argument(call, "spacing") >= 0) {
        el_spacing(el, call->arg[MEASURE_SPACING], node.measure.spacing);
    }
    return node;
}

Val el_measure(Elab *el, Call *call)
{
    Wanted m = {.n = 0};
    if (!read_measure(el, call, &m)) {
        return el_err();
    }
    if (m.n == 0) {
        add_column(el, &m, "area", &MEASURES[MEASURE_ID_AREA], ALL_IMAGES, call->span);
        add_column(el, &m, "bbox", &MEASURES[MEASURE_ID_BBOX], ALL_IMAGES, call->span);
        if (m.n_in_all > 0) {
            add_column(el, &m, "mean", &MEASURES[MEASURE_ID_INTENSITY_MEAN], ALL_IMAGES, call->span);
        }
    }
    IrNode table = {.op = IR_MEASURE, .kind = IR_K_TABLE, .elem = ELEM_F64};
    table.measure.sort = ir_const(el->g, sort_column(el, call, &m));
    int sky[2];
    if (!sky_columns(el, call, &m, sky)) {
        return el_err();
    }
    table.measure.sky_x = sky[0] != 0 ? ir_const(el->g, sky[0]) : 0;
    table.measure.sky_y = sky[0] != 0 ? ir_const(el->g, sky[1]) : 0;
    Val out = el_node(el, el_add_once(el, measuring(el, call, &m, table), "table", call->span));
    out.grid = sky[0] != 0 ? call->arg[0].grid : out.grid;
    return out;
}

/* Are these parts of labels, with their numbers? */
static bool is_part(Elab *el, Val labels)
{
    IrId node;
    return !el_plain_read(el, labels.expr, &node) || ir_node(el->g, node)->kind != IR_K_LABELS;
}

/* One property of each label, as a vector that an image of labels can look up. */
Val el_property(Elab *el, Call *call)
{
    Wanted m = {.n = 0};
    Call inner = *call;
    if (!read_measure(el, &inner, &m)) {
        return el_err();
    }
    bool one = m.n == 1 && m.properties[0]->id != MEASURE_ID_LABEL && m.properties[0]->shape == MEASURE_SHAPE_SCALAR;
    if (!one || m.n_images > 1) {
        Diag *d = el_error(el, NOT_ONE_PROPERTY, call->span, "");
        diag_help(el->diags, d, "one property with one column: property(labels, area)");
        return el_err();
    }
    IrNode column = {.op = IR_COLUMN, .kind = IR_K_VECTOR, .elem = ELEM_F32};
    Val v = primitive(el, measuring(el, call, &m, column), "column", call->span);
    bool counts = m.properties[0]->id == MEASURE_ID_AREA || m.properties[0]->id == MEASURE_ID_NUM_PIXELS;
    if (!counts && is_part(el, call->arg[PROPERTY_LABELS])) { /* of which nothing may be left */
        v.expr = el_where_present(el, call->arg[PROPERTY_LABELS], ir_cast(el->g, v.expr, ELEM_F32), call->span);
    }
    return v;
}

/* ---- per label ------------------------------------------------------------------------- */

static const char *const PER_LABEL[LABEL_FOLDS] =
    {[LABEL_SUM] = "label_sum", [LABEL_MIN] = "label_min", [LABEL_MAX] = "label_max", [LABEL_COUNT] = "label_count"};

Val el_per_label(Elab *el, Call *call)
{
    int fold = 0;
    while (strcmp(PER_LABEL[fold], call->op->name) != 0) {
        fold++;
    }
    Val pair[2] = {call->arg[0], fold != LABEL_COUNT ? call->arg[LABEL_SUM_V] : call->arg[0]};
    if (!el_meet(el, pair, 2, call->span)) {
        return el_err();
    }
    IrId labels = el_labels_of(el, call->arg[0], call->span);
    Val value = pair[1];
    value.image = IR_K_IMAGE;
    value.expr = ir_cast(el->g, value.expr, ELEM_F32);
    IrNode node = {.op = IR_PERLABEL,
                   .kind = IR_K_VECTOR,
                   .elem = ELEM_F32,
                   .of = labels,
                   .perlabel = {.labels = el_readable(el, call->arg[0], "labels", call->span).expr,
                                .value = el_readable(el, value, "value", call->span).expr,
                                .fold = ir_const(el->g, fold)}};
    return primitive(el, node, PER_LABEL[fold] + 6, call->span);
}

static bool is_dense_node(const IrNode *node)
{
    return node->op == IR_LABEL || node->op == IR_LABEL_EQUAL || node->op == IR_COMPACT;
}

/* Labels of an input may have any numbers; those that a pipeline makes are at most as many as
 * there are pixels. */
static void look_for_input(const IrGraph *g, IrExpr e, void *ctx)
{
    bool *foreign = ctx;
    const IrExprNode *n = ir_expr(g, e);
    if (n->op != IR_X_READ && n->op != IR_X_READAT) {
        return;
    }
    const IrNode *from = ir_node(g, n->node);
    bool labels = from->elem == ELEM_U32 || from->kind == IR_K_LABELS;
    if (labels && (from->op == IR_INPUT || from->op == IR_CARRY)) {
        *foreign = true;
    } else if (from->op == IR_MAP && labels) {
        ir_walk(g, from->map.value, look_for_input, ctx);
    } else if (from->op == IR_NEAREST_LABEL) {
        ir_walk(g, from->nearest_label.labels, look_for_input, ctx);
    } else if (from->op == IR_WATERSHED) {
        ir_walk(g, from->watershed.markers, look_for_input, ctx);
    } else if (from->op == IR_POINTS) {
        *foreign = *foreign || !is_dense_node(ir_node(g, from->of));
    }
}

static IrExpr any_numbers(Elab *el, IrExpr labels)
{
    bool foreign = false;
    ir_walk(el->g, labels, look_for_input, &foreign);
    return ir_const(el->g, foreign);
}

/* The labels whose number bounds these ones; 0: there are none.  Those of a file may be few and have large
 * numbers. */
static IrId bound_of(Elab *el, IrExpr labels)
{
    IrId node;
    bool foreign = false, plain = el_plain_read(el, labels, &node);
    ir_walk(el->g, labels, look_for_input, &foreign);
    return plain && !foreign && ir_node(el->g, node)->kind == IR_K_LABELS ? node : 0;
}

/* Numbers that are not 0 as labels from 1 in order; `of` as bound_of has it, `any` as any_numbers. */
static Val renumbered(Elab *el, Val numbers, IrId of, IrExpr any, Span span)
{
    IrGraph *g = el->g;
    IrExpr some = ir_op2(g, IR_X_GT, numbers.expr, ir_const_typed(g, 0, ELEM_U32));
    IrNode node = {.op = IR_COMPACT,
                   .kind = IR_K_LABELS,
                   .elem = ELEM_U32,
                   .grid = numbers.grid,
                   .of = of,
                   .compact = {.labels = numbers.expr, .keep = some}};
    node.compact.any = any;
    return primitive(el, node, NULL, span);
}

/* Does a value follow from a pixel's label alone? */
typedef struct OfLabel {
    const Elab *el;
    IrId labels;
} OfLabel;

static bool varies(const IrGraph *g, IrExpr e, const void *ctx)
{
    const OfLabel *of = ctx;
    const IrExprNode *n = ir_expr(g, e);
    IrId node;
    bool same = el_plain_read(of->el, e, &node) && node == of->labels;
    return n->op == IR_X_COORD || n->op == IR_X_READAT || (n->op == IR_X_READ && !same);
}

/* Labels with a pixel that satisfies a mask, renumbered from 1.  Those of a file may have any numbers, which
 * the primitive keeps pixel by pixel: where the mask may differ within a label, they get small ones first. */
Val el_compact(Elab *el, Call *call)
{
    Val pair[2] = {call->arg[KEEP_LABELS_LABELS], call->arg[KEEP_LABELS_KEEP]};
    if (!el_meet(el, pair, 2, call->span)) {
        return el_err();
    }
    OfLabel keep = {el, el_store(el, call->arg[KEEP_LABELS_LABELS], "labels", call->span)};
    Val labels = el_image(el, ir_read(el->g, keep.labels), pair[0].grid);
    IrExpr any = any_numbers(el, labels.expr);
    double foreign;
    if (ir_any(el->g, pair[1].expr, varies, &keep) && ir_is_const(el->g, any, &foreign) && foreign != 0) {
        labels = renumbered(el, labels, bound_of(el, labels.expr), any, call->span);
        any = ir_const(el->g, 0);
    }
    IrNode node = {.op = IR_COMPACT,
                   .kind = IR_K_LABELS,
                   .elem = ELEM_U32,
                   .grid = pair[0].grid,
                   .of = bound_of(el, labels.expr),
                   .compact = {.labels = labels.expr, .keep = el_readable(el, pair[1], "keep", call->span).expr}};
    node.compact.any = any;
    return primitive(el, node, NULL, call->span);
}

/* Labels under a mask.  What is left of them is numbered anew, because some may be gone, or keeps its numbers: then what
 * is computed by it belongs to the labels that it is a part of. */
Val el_mask_labels(Elab *el, Call *call)
{
    IrGraph *g = el->g;
    Val pair[2] = {call->arg[MASK_LABELS_LABELS], call->arg[MASK_LABELS_MASK]};
    if (!el_meet(el, pair, 2, call->span)) {
        return el_err();
    }
    IrExpr none = ir_const_typed(g, 0, ELEM_U32);
    Val left = el_image(el, ir_op3(g, IR_X_SELECT, pair[1].expr, pair[0].expr, none), pair[0].grid);
    double renumber = 1;
    if (el_constant(el, call->arg[MASK_LABELS_RENUMBER], &renumber) && renumber == 0) {
        left.image = IR_K_LABELS;
        return left;
    }
    left = el_readable(el, left, "inside", call->span);
    return renumbered(el, left, bound_of(el, call->arg[MASK_LABELS_LABELS].expr), any_numbers(el, left.expr),
                      call->span);
}

Val el_as_labels(Elab *el, Call *call)
{
    IrExpr whole = ir_saturate(el->g, call->arg[AS_LABELS_V].expr, ELEM_U32);
    Val numbers = el_image(el, whole, call->arg[AS_LABELS_V].grid);
    IrId node = el_store(el, numbers, "numbers", call->span);
    numbers = el_image(el, ir_read(el->g, node), numbers.grid);
    return renumbered(el, numbers, 0, ir_const(el->g, 1), call->span);
}

bool el_is_dense(Elab *el, Val labels)
{
    IrId node;
    return el_plain_read(el, labels.expr, &node) && is_dense_node(ir_node(el->g, node));
}

/* Three channels of bytes, on a grid of their own. */
Val el_colours(Elab *el, Call *call)
{
    Val labels = el_readable(el, call->arg[COLOURS_LABELS], "labels", call->span);
    bool dense = el_is_dense(el, labels), foreign = false;
    IrId of = bound_of(el, labels.expr);
    IrGrid grid = *el_grid(el, labels);
    grid.has[IR_AX_C] = true;
    grid.extent[IR_AX_C] = ir_const(el->g, 3);
    int three = el_add_grid(el, grid, *el_place_of(el, labels.grid), *el_names_of(el, labels.grid));
    Val pair[2] = {labels, el_image(el, ir_const_typed(el->g, 0, ELEM_F32), three)};
    if (!el_meet(el, pair, 2, call->span)) {
        return el_err();
    }
    ir_walk(el->g, labels.expr, look_for_input, &foreign);
    IrNode node = {.op = IR_COLOURS,
                   .kind = IR_K_IMAGE,
                   .elem = ELEM_U8,
                   .grid = pair[1].grid,
                   .of = of,
                   .colours = {.labels = pair[0].expr,
                               .numbers = ir_const(el->g, dense     ? NUMBERS_DENSE
                                                          : foreign ? NUMBERS_ANY
                                                                    : NUMBERS_FEW)}};
    return primitive(el, node, NULL, call->span);
}

/* Labels of components have one part each. */
Val el_clear_border(Elab *el, Call *call)
{
    IrId node;
    bool plain =
        call->arg[CLEAR_BORDER_V].kind == VAL_IMAGE && el_plain_read(el, call->arg[CLEAR_BORDER_V].expr, &node);
    IrOp op = plain ? ir_node(el->g, node)->op : IR_NONE;
    if (op == IR_LABEL || op == IR_LABEL_EQUAL) {
        call->arg[CLEAR_BORDER_PARTS] = el_host(ir_const_typed(el->g, 0, ELEM_BOOL));
    }
    return el_from_prelude(el, call->op->name, call->arg, call->at, call->op->n_params, call->span);
}

Val el_without_gaps(Elab *el, Val labels, Span span)
{
    if (el_is_dense(el, labels)) {
        return labels;
    }
    labels = el_readable(el, labels, "labels", span);
    return renumbered(el, labels, bound_of(el, labels.expr), any_numbers(el, labels.expr), span);
}

Val el_relabel(Elab *el, Call *call)
{
    return el_without_gaps(el, call->arg[RELABEL_LABELS], call->span);
}

/* ---- distances and growth -------------------------------------------------------------- */

Val el_distance(Elab *el, Call *call)
{
    Val mask = el_readable(el, call->arg[DISTANCE_MASK], "mask", call->span);
    IrNode node = {.op = IR_DISTANCE,
                   .kind = IR_K_IMAGE,
                   .elem = ELEM_F32,
                   .grid = mask.grid,
                   .distance.mask = mask.expr};
    el_spacing(el, call->arg[DISTANCE_SPACING], node.distance.spacing);
    return primitive(el, node, NULL, call->span);
}

/* A length with a unit becomes pixels along x, as far as the others are long against these: of square pixels it is the
 * number of pixels that it is. */
static void measured_along_x(Elab *el, const Call *call, IrExpr *distance, IrExpr size[3])
{
    const Val length = call->arg[EXPAND_LABELS_DISTANCE];
    if (length.unit == NULL || call->arg[EXPAND_LABELS_SPACING].kind == VAL_RECORD) {
        return;
    }
    *distance = el_pixels(el, length, call->arg[0].grid, IR_AX_X, call->at[EXPAND_LABELS_DISTANCE]);
    for (int ax = IR_AX_Z; ax >= IR_AX_X; ax--) {
        size[ax] = ir_op2(el->g, IR_X_DIV, size[ax], size[IR_AX_X]);
    }
}

Val el_nearest_label(Elab *el, Call *call)
{
    Val labels = el_readable(el, call->arg[EXPAND_LABELS_LABELS], "labels", call->span);
    IrNode node = {.op = IR_NEAREST_LABEL,
                   .kind = IR_K_LABELS,
                   .elem = ELEM_U32,
                   .grid = labels.grid,
                   .nearest_label = {.labels = labels.expr, .limit = call->arg[EXPAND_LABELS_DISTANCE].expr}};
    if (!el_sizes_of_pixels(el, call, node.nearest_label.spacing)) {
        return el_err();
    }
    measured_along_x(el, call, &node.nearest_label.limit, node.nearest_label.spacing);
    return primitive(el, node, NULL, call->span);
}

static IrExpr stored(Elab *el, Val v, Elem type, const char *part, Span span)
{
    if (type != ELEM_NONE && ir_expr(el->g, v.expr)->type != type) {
        v = el_image(el, ir_cast(el->g, v.expr, type), v.grid);
    }
    return ir_read(el->g, el_store(el, v, part, span));
}

Val el_watershed(Elab *el, Call *call)
{
    int connectivity = connectivity_of(el, call, WATERSHED_CONNECTIVITY, 1);
    bool masked = call->arg[WATERSHED_MASK].kind == VAL_IMAGE;
    Val three[3] = {call->arg[WATERSHED_IMAGE], call->arg[WATERSHED_MARKERS],
                    masked ? call->arg[WATERSHED_MASK] : call->arg[WATERSHED_IMAGE]};
    if (connectivity == 0 || !el_meet(el, three, 3, call->span)) {
        return el_err();
    }
    double line = 0;
    el_constant(el, call->arg[WATERSHED_LINE], &line);
    IrNode node = {.op = IR_WATERSHED,
                   .kind = IR_K_LABELS,
                   .elem = ELEM_U32,
                   .grid = three[1].grid,
                   .watershed = {.connectivity = ir_const(el->g, connectivity),
                                 .line = ir_const(el->g, line != 0),
                                 .raster = ir_const(el->g, strcmp(call->arg[WATERSHED_TIES].text, "raster") == 0)}};
    node.watershed.image = stored(el, three[0], ELEM_F32, "image", call->span);
    node.watershed.markers = stored(el, three[1], ELEM_NONE, "markers", call->span);
    node.watershed.mask = masked ? stored(el, three[2], ELEM_NONE, "mask", call->span) : 0;
    return primitive(el, node, NULL, call->span);
}

Val el_reconstruct(Elab *el, Call *call)
{
    int connectivity = connectivity_of(el, call, RECONSTRUCT_CONNECTIVITY, 3);
    Val pair[2] = {call->arg[RECONSTRUCT_SEED], call->arg[RECONSTRUCT_MASK]};
    if (connectivity == 0 || !el_meet(el, pair, 2, call->span)) {
        return el_err();
    }
    bool erosion = strcmp(call->arg[RECONSTRUCT_METHOD].text, "erosion") == 0;
    IrNode node = {.op = IR_RECONSTRUCT,
                   .kind = IR_K_IMAGE,
                   .elem = ELEM_F32,
                   .grid = pair[0].grid,
                   .reconstruct = {.connectivity = ir_const(el->g, connectivity), .erosion = ir_const(el->g, erosion)}};
    node.reconstruct.seed = stored(el, pair[0], ELEM_F32, "seed", call->span);
    node.reconstruct.mask = stored(el, pair[1], ELEM_F32, "mask", call->span);
    return primitive(el, node, NULL, call->span);
}

Val el_local_maxima(Elab *el, Call *call)
{
    int connectivity = connectivity_of(el, call, LOCAL_MAXIMA_CONNECTIVITY, 3);
    if (connectivity == 0) {
        return el_err();
    }
    IrNode node = {.op = IR_LOCAL_MAXIMA,
                   .kind = IR_K_MASK,
                   .elem = ELEM_BOOL,
                   .grid = call->arg[LOCAL_MAXIMA_V].grid,
                   .local_maxima.connectivity = ir_const(el->g, connectivity)};
    node.local_maxima.image = stored(el, call->arg[LOCAL_MAXIMA_V], ELEM_F32, "image", call->span);
    return primitive(el, node, NULL, call->span);
}

Val el_hull(Elab *el, Call *call)
{
    IrNode node = {.op = IR_HULL, .kind = IR_K_MASK, .elem = ELEM_BOOL, .grid = call->arg[HULL_LABELS].grid};
    node.of = el_store(el, el_relabel(el, call), "labels", call->span);
    node.hull.labels = ir_read(el->g, node.of);
    return primitive(el, node, NULL, call->span);
}

Val el_touches(Elab *el, Call *call)
{
    IrNode node = {.op = IR_TOUCHES, .kind = IR_K_IMAGE, .elem = ELEM_U8, .grid = call->arg[TOUCHES_LABELS].grid};
    node.touches.labels = stored(el, call->arg[TOUCHES_LABELS], ELEM_NONE, "labels", call->span);
    return primitive(el, node, NULL, call->span);
}
