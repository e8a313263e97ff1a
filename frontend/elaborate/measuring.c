/*
 * measuring: tables of what is measured of labels, and single properties of them.
 */
#include "elab.h"

#include "../../base/measures.h"

#include <math.h>
#include <ctype.h>
#include <string.h>

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

/* Words of every day and of other packages (ImageJ, CellProfiler, SExtractor, photutils, Matlab, EBImage), and the
 * properties that they mean: in small letters, without `_` and `.`. */
static const struct {
    const char *words, *here;
} EVERYDAY[] = {
    {"volume", "area (of voxels; in micrometres with spacing = [pixel_size(z), pixel_size(y), pixel_size(x)])"},
    {"size npix isoarea isoareaimage pixelcount areapixels npixels sarea", "area"},
    {"length maxferetdiameter maxferetproperties maxferet feret maxdiameter diametermax", "feret_diameter_max"},
    {"mindiameter diametermin minferet minferetdiameter minferetproperties width breadth",
     "axis_minor_length (of the ellipse; it comes near)"},
    {"feretangle feretx ferety", "orientation (of the ellipse; it comes near)"},
    {"diameter equivdiameter equivalentdiameter equivdiameterarea", "equivalent_diameter_area"},
    {"radius equivalentradius maximumradius meanradius medianradius sradiusmean",
     "radius = property(labels, equivalent_diameter_area) / 2"},
    {"roundness circ circularity formfactor compactness round", "circularity"},
    {"ar aspectratio elongation axisratio",
     "ratio = property(labels, axis_major_length) / property(labels, axis_minor_length)"},
    {"ellipticity flattening",
     "ellipticity = 1 - property(labels, axis_minor_length) / property(labels, axis_major_length)"},
    {"major aimage semimajorsigma majoraxis mmajoraxis", "axis_major_length (the whole axis)"},
    {"minor bimage semiminorsigma minoraxis", "axis_minor_length (the whole axis)"},
    {"angle theta thetaimage thetaj2000", "orientation (in radians)"},
    {"position xy location coordinates centroidxy", "centroid (or center_of_mass)"},
    {"x centroidcol centroidcolumn centerx xcentroid x0 locationcenterx mcx", "centroid_x (centroid has all axes)"},
    {"y centroidrow centery ycentroid y0 locationcentery mcy", "centroid_y (centroid has all axes)"},
    {"z centerz zcentroid locationcenterz", "centroid_z (centroid has all axes)"},
    {"ximage xwinimage xm centermassintensityx xcom", "mass_center_x (counted from 0; center_of_mass has all axes)"},
    {"yimage ywinimage ym centermassintensityy ycom", "mass_center_y (counted from 0; center_of_mass has all axes)"},
    {"zm centermassintensityz", "mass_center_z (center_of_mass has all axes)"},
    {"flux fluxauto fluxiso fluxbest segmentflux kronflux fluxradius apertureflux aperturesum",
     "sum (of an image without its background; in circles: flux = aperture_flux(labels, image, 4))"},
    {"mag magauto magiso", "mag = -2.5 * log10(property(labels, image, sum))"},
    {"fluxmax peak maxvalue", "max"},
    {"minvalue fluxmin", "min"},
    {"meangray meangrey meangrayvalue meangreyvalue meanvalue average avg bmean", "mean"},
    {"intensity brightness", "mean (or sum, min, max, median, std)"},
    {"intden rawintden integrateddensity integratedintensity totalintensity sumintensity", "sum"},
    {"stddev stdintensity standarddeviation sd bsd", "std"},
    {"upperquartileintensity q90", "percentile_90"},
    {"perim perimeterlength sperimeter", "perimeter"},
    {"bx by boundingbox boundingrectangle bbox", "bbox"},
    {"convexarea hullarea", "area_convex"},
    {"filledarea", "area_filled"},
    {"fwhm fwhmimage", "fwhm = 2.355 / 4 * property(labels, axis_major_length) (of the ellipse)"},
    {"skew skewness kurt kurtosis", "moments_weighted_central (of which it is made)"},
    {"id label number objectnumber", "a column `label` is in every table"},
    {"count", "area is the number of pixels; how many objects there are is count(labels)"},
};

/* What CellProfiler and EBImage put in front. */
static const char *const GROUPS[] = {"areashape", "intensity", "location"};

static const char *listed_word(const char *word)
{
    for (size_t i = 0; i < sizeof EVERYDAY / sizeof EVERYDAY[0]; i++) {
        if (word[0] != '\0' && ops_lists(EVERYDAY[i].words, word)) {
            return EVERYDAY[i].here;
        }
    }
    return NULL;
}

/* Without capitals and marks; a property that is so called; NULL: none. */
static const char *everyday(Elab *el, const char *name, const char *const *names, int n)
{
    char *word = arena_strdup(el->arena, name);
    size_t length = 0;
    for (const char *p = name; *p != '\0'; p++) {
        if (isalnum((unsigned char)*p)) {
            word[length++] = (char)tolower((unsigned char)*p);
        }
    }
    word[length] = '\0';
    const char *here = listed_word(word);
    for (size_t i = 0; i < sizeof GROUPS / sizeof *GROUPS && here == NULL; i++) {
        const size_t front = strlen(GROUPS[i]);
        const bool grouped = strncmp(word, GROUPS[i], front) == 0 && word[front] != '\0';
        const char *bare = grouped ? word + front : "";
        here = grouped ? listed_word(bare) : NULL;
        for (int k = 0; k < n && grouped && here == NULL; k++) { /* AreaShape_MajorAxisLength */
            size_t at = 0;
            for (const char *p = names[k]; *p != '\0' && at < strlen(bare) + 1; p++) {
                at += *p == '_' ? 0 : *p == bare[at] ? 1 : strlen(bare) + 2;
            }
            here = at == strlen(bare) ? names[k] : here;
        }
    }
    return here;
}

static void unknown_property(Elab *el, const char *name, Span at)
{
    const char *names[256];
    const int n = property_names(el, names, 256);
    const char *near = fe_nearest(name, names, n), *here = everyday(el, name, names, n);
    Diag *d = el_error(el, UNKNOWN_PROPERTY, at, name);
    if (here != NULL) {
        diag_help(el->diags, d, "here: %s", here);
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
        const Binding *b = el_find(el->scope, word.text);
        if (b != NULL && (b->val.kind == VAL_VECTOR || b->val.kind == VAL_IMAGE)) {
            diag_help(el->diags, d,
                      "`sky` asks for coordinates on the sky; a column has another name: `sky_level = %s`", word.text);
        } else {
            diag_help(el->diags, d,
                      "measure it, too: measure(%s, centroid, sky = centroid); or with columns x and y: sky = xy",
                      el_words(el, call->at[0]));
        }
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
    Val v = el_node(el, el_add_once(el, measuring(el, call, &m, column), "column", call->span));
    bool counts = m.properties[0]->id == MEASURE_ID_AREA || m.properties[0]->id == MEASURE_ID_NUM_PIXELS;
    if (!counts && is_part(el, call->arg[PROPERTY_LABELS])) { /* of which nothing may be left */
        v.expr = el_where_present(el, call->arg[PROPERTY_LABELS], ir_cast(el->g, v.expr, ELEM_F32), call->span);
    }
    return v;
}
