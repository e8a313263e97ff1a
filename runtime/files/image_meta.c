/*
 * image_meta: the descriptions of ImageJ and tifffile, units, and the choice between dialects.
 *
 * A description is a claim about pages that other programs may have changed since: when the two do
 * not fit, the pages win and are planes of depth, as ImageJ itself does it.
 */
#include "image_meta.h"

#include "image_ome.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { DIMS_MAX = 16 };

static const int64_t PLANES_MAX = (int64_t)1 << 40;

/* ---- units ----------------------------------------------------------------------------- */

static bool is_pixel_unit(const char *unit)
{
    return unit[0] == '\0' || strcasecmp(unit, "pixel") == 0 || strcasecmp(unit, "pixels") == 0 ||
           strcasecmp(unit, "px") == 0;
}

/* A pixel size of 1 pixel says nothing. */
static double known_size(double size, const char *unit)
{
    bool real = isfinite(size) && size > 0;
    return !real || (is_pixel_unit(unit) && (size == 1 || unit[0] != '\0')) ? 0 : size;
}

static void fill_um(ImageInfo *info)
{
    double um = meta_unit_um(info->unit);
    for (int axis = 0; axis < 3; axis++) {
        info->size_um[axis] = um * info->size[axis];
    }
}

/* ---- plans ----------------------------------------------------------------------------- */

void meta_plan_free(MetaPlan *plan)
{
    free(plan->page);
    plan->page = NULL;
}

/* The product of three extents that a file claims; 0 when one of them is out of bounds. */
static int64_t product(int64_t a, int64_t b, int64_t c)
{
    if (a < 1 || b < 1 || c < 1 || a > PLANES_MAX / b || a * b > PLANES_MAX / c) {
        return 0;
    }
    return a * b * c;
}

/* Extents and page steps; false when the pages are not what is claimed. */
static bool plan_fits(MetaPlan *plan, int64_t pages)
{
    int64_t claimed = product(plan->t, plan->c, plan->z);
    plan->contiguous = pages == 1 && claimed > 1;
    return claimed > 0 && (claimed == pages || plan->contiguous);
}

static void apply_plan(const MetaPlan *plan, ImageInfo *info)
{
    info->t = plan->t;
    info->c = plan->c;
    info->z = plan->z;
    info->has_t |= plan->t > 1;
    info->has_c |= plan->c > 1;
    info->has_z |= plan->z > 1;
}

void meta_plain(const MetaTags *tags, ImageInfo *info, MetaPlan *plan)
{
    meta_plan_free(plan);
    plan->t = plan->c = plan->step_z = 1;
    plan->z = tags->pages;
    plan->step_t = plan->step_c = plan->others = plan->unfinished = plan->absent = plan->in_other_files = 0;
    plan->contiguous = false;
    info->has_t = info->has_c = info->has_z = false;
    apply_plan(plan, info);
}

/* ---- resolution tags -------------------------------------------------------------------- */

/* 72 dots an inch is what programs write that know nothing.  Units 4 and 5 are those of HALCON and tifffile. */
static void read_resolution(const MetaTags *tags, ImageInfo *info)
{
    enum { INCH = 2 };
    static const char *const NAMES[] = {"", "", "inch", "cm", "mm", "um"};
    bool known = tags->resolution_unit < sizeof NAMES / sizeof *NAMES && NAMES[tags->resolution_unit][0] != '\0';
    if (info->unit[0] == '\0' && tags->size_x > 0 && known) {
        if (tags->resolution_unit == INCH && tags->size_x == 1.0 / 72) {
            return;
        }
        strcpy(info->unit, NAMES[tags->resolution_unit]);
    }
    info->size[0] = known_size(tags->size_x, info->unit);
    info->size[1] = known_size(tags->size_y, info->unit);
}

/* ---- ImageJ ---------------------------------------------------------------------------- */

/* The value of a line KEY=VALUE; an empty text when there is none. */
static bool line_value(const char *text, const char *key, char *to, size_t size)
{
    size_t n = strlen(key);
    to[0] = '\0';
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, n) == 0 && line[n] == '=') {
            size_t length = strcspn(line + n + 1, "\r\n");
            length = length < size ? length : size - 1;
            memcpy(to, line + n + 1, length);
            to[length] = '\0';
            return true;
        }
    }
    return false;
}

static bool line_count(const char *text, const char *key, int64_t *count)
{
    char value[64];
    *count = 1;
    if (!line_value(text, key, value, sizeof value)) {
        return false;
    }
    *count = strtoll(value, NULL, 10);
    return true;
}

static double line_number(const char *text, const char *key)
{
    char value[64];
    return line_value(text, key, value, sizeof value) ? meta_number(value) : 0;
}

/* A length in another unit, in that of `info`; 0 when one of the units is none. */
static double in_unit_of(const ImageInfo *info, double size, const char *unit)
{
    double um = meta_unit_um(info->unit);
    return um > 0 ? size * meta_unit_um(unit) / um : 0;
}

/* yunit and zunit are written only where they differ from unit, and tunit where it is not seconds; sizes are kept in
 * one unit.  Tags in centimetres beside a unit of micrometres are that, as ImageJ has it. */
static void read_imagej_sizes(const MetaTags *tags, ImageInfo *info)
{
    enum { CENTIMETRES = 3 };
    const char *text = tags->description;
    char unit[sizeof info->unit];
    line_value(text, "unit", info->unit, sizeof info->unit);
    read_resolution(tags, info);
    if (tags->resolution_unit == CENTIMETRES && meta_unit_um(info->unit) == 1) {
        info->size[0] *= 1e4;
        info->size[1] *= 1e4;
    }
    if (is_pixel_unit(info->unit) && info->size[0] == 0) {
        info->unit[0] = '\0';
    }
    info->size[2] = known_size(fabs(line_number(text, "spacing")), info->unit);
    for (int axis = 1; axis < 3; axis++) {
        if (line_value(text, axis == 1 ? "yunit" : "zunit", unit, sizeof unit)) {
            info->size[axis] = in_unit_of(info, info->size[axis], unit);
        }
    }
    double interval = line_number(text, "finterval");
    if (line_value(text, "tunit", unit, sizeof unit)) {
        interval *= meta_unit_seconds(unit);
    }
    info->interval = isfinite(interval) && interval > 0 ? interval : 0;
}

/* cf 0 to 3 are polynomials with coefficients c0, c1 and so on, 20 is none; what the others stand for is not computed. */
static void read_calibration(const char *text, ImageInfo *info, MetaPlan *plan)
{
    enum { NONE = 20, POLYNOMIALS = 4 };
    char value[64], key[3] = "c0";
    int64_t function;
    if (!line_count(text, "cf", &function) || function == NONE) {
        return;
    }
    bool ok = function >= 0 && function < POLYNOMIALS;
    int terms = ok ? (int)function + 2 : 0;
    for (int i = 0; i < terms; i++, key[1]++) {
        char *end = value;
        bool given = line_value(text, key, value, sizeof value);
        plan->term[i] = given ? strtod(value, &end) : 0;
        ok = ok && given && end != value && end[strspn(end, " ")] == '\0' && isfinite(plan->term[i]);
    }
    bool same = ok && terms == 2 && plan->term[0] == 0 && plan->term[1] == 1;
    plan->terms = ok && !same ? terms : 0;
    info->remarks[REMARK_UNCALIBRATED] = !ok;
}

/* Steps from page to page along the axes, which `order` names fastest first: "zct", "xyzct", or anything else for
 * ImageJ's own order. */
static void plan_order(const char *order, MetaPlan *plan)
{
    char letters[4] = "czt";
    int64_t step = 1;
    size_t n = strncasecmp(order, "xy", 2) == 0 ? 2 : 0;
    if (strcspn(order + n, " (") == 3 && strpbrk(order + n, "zZ") != NULL && strpbrk(order + n, "cC") != NULL &&
        strpbrk(order + n, "tT") != NULL) {
        memcpy(letters, order + n, 3);
    }
    for (int i = 0; i < 3; i++) {
        char axis = (char)tolower((unsigned char)letters[i]);
        *(axis == 'c' ? &plan->step_c : axis == 'z' ? &plan->step_z : &plan->step_t) = step;
        int64_t extent = axis == 'c' ? plan->c : axis == 'z' ? plan->z : plan->t;
        step = extent > 0 && extent <= PLANES_MAX / step ? step * extent : step;
    }
}

static bool read_imagej(const MetaTags *tags, ImageInfo *info, MetaPlan *plan)
{
    const char *text = tags->description;
    char order[32];
    int64_t images;
    strcpy(info->style, "imagej");
    read_imagej_sizes(tags, info);
    read_calibration(text, info, plan);
    info->has_c = line_count(text, "channels", &plan->c);
    info->has_z = line_count(text, "slices", &plan->z);
    info->has_t = line_count(text, "frames", &plan->t);
    bool says = line_count(text, "images", &images) || info->has_c || info->has_z || info->has_t;
    line_value(text, "order", order, sizeof order);
    if (tags->samples > 1 && plan->c == tags->samples && product(plan->t, 1, plan->z) == tags->pages) {
        plan->c = 1; /* samples of a pixel, which Bio-Formats calls channels */
        info->has_c = false;
        images = tags->pages;
    }
    if (images > 1 && product(plan->t, plan->c, plan->z) != images) {
        info->remarks[REMARK_DESCRIPTION] = images != tags->pages || product(plan->t, plan->c, plan->z) > 1;
        plan->c = plan->t = 1; /* as ImageJ: a stack of slices */
        plan->z = images;
        info->has_c = info->has_t = false;
    }
    if (!plan_fits(plan, tags->pages)) {
        info->remarks[REMARK_DESCRIPTION] |= says;
        return false;
    }
    plan_order(order, plan);
    return true;
}

/* ---- tifffile --------------------------------------------------------------------------- */

/* The numbers of "shape": [...]; 0 when it is none. */
static int read_shape(const char *text, int64_t *dims)
{
    const char *at = strstr(text, "\"shape\"");
    int n = 0;
    at = at == NULL ? NULL : strchr(at, '[');
    while (at != NULL && n < DIMS_MAX && *at != ']') {
        char *end;
        dims[n] = strtoll(at + 1, &end, 10);
        if (end == at + 1 || dims[n] < 1) {
            return 0;
        }
        n++;
        while (isspace((unsigned char)*end)) {
            end++;
        }
        at = *end == ',' || *end == ']' ? end : NULL;
    }
    return at != NULL && *at == ']' ? n : 0;
}

/* The letters of "axes": "TCYX"; empty when they are missing. */
static void read_axes(const char *text, char *to, size_t size)
{
    const char *at = strstr(text, "\"axes\"");
    at = at == NULL ? NULL : strchr(at, ':');
    at = at == NULL ? NULL : strchr(at, '"');
    size_t n = at == NULL ? 0 : strcspn(at + 1, "\"");
    n = n < size ? n : 0;
    memcpy(to, at == NULL ? "" : at + 1, n);
    to[n] = '\0';
}

/* How many dimensions are left in front of y, x and samples; -1 when those do not fit. */
static int leading_dims(const MetaTags *tags, const int64_t *dims, int n)
{
    bool samples = tags->samples > 1;
    if (n < (samples ? 3 : 2)) {
        return -1;
    }
    if (!samples) {
        bool one = n > 2 && dims[n - 1] == 1 && dims[n - 2] == tags->x && dims[n - 3] == tags->y;
        return dims[n - 1] == tags->x && dims[n - 2] == tags->y ? n - 2 : one ? n - 3 : -1;
    }
    const int64_t *last = dims + n - 3;
    bool fits = tags->planar ? last[0] == tags->samples && last[1] == tags->y && last[2] == tags->x
                             : last[0] == tags->y && last[1] == tags->x && last[2] == tags->samples;
    return fits ? n - 3 : -1;
}

/* Gives leading dimension i the letter t, c or z: as named, else as arrays are usually laid out
 * (a single one is depth; two are c, z; three are t, c, z). */
static void name_dims(const char *axes, int n, char *names)
{
    static const char *const USUAL[] = {"", "z", "cz", "tcz"};
    bool named = (int)strlen(axes) > n;
    for (int i = 0; i < n && named; i++) {
        char letter = (char)tolower((unsigned char)axes[i]);
        named = strchr("tcz", letter) != NULL && memchr(names, letter, (size_t)i) == NULL;
        names[i] = letter;
    }
    if (!named) {
        memcpy(names, USUAL[n], (size_t)n);
    }
}

static bool read_shaped(const MetaTags *tags, ImageInfo *info, MetaPlan *plan)
{
    int64_t dims[DIMS_MAX];
    char axes[DIMS_MAX + 1], names[3];
    int n = leading_dims(tags, dims, read_shape(tags->description, dims));
    read_axes(tags->description, axes, sizeof axes);
    strcpy(info->style, "tiff");
    read_resolution(tags, info);
    if (n < 0 || n > 3) {
        return false;
    }
    name_dims(axes, n, names);
    int64_t step = 1;
    for (int i = n - 1; i >= 0; i--) {
        bool t = names[i] == 't', c = names[i] == 'c';
        *(t ? &plan->t : c ? &plan->c : &plan->z) = dims[i];
        *(t ? &plan->step_t : c ? &plan->step_c : &plan->step_z) = step;
        *(t ? &info->has_t : c ? &info->has_c : &info->has_z) = true;
        if (dims[i] > PLANES_MAX / step) {
            return false;
        }
        step *= dims[i];
    }
    return plan_fits(plan, tags->pages);
}

/* ---- microscopes ------------------------------------------------------------------------ */

static bool read_microscope(const MetaTags *tags, ImageInfo *info, MetaPlan *plan)
{
    const MetaMicroscope *from = &tags->microscope;
    plan->t = from->behind > 0 ? 1 : from->t;
    plan->z = from->behind > 0 ? from->behind : from->z;
    plan->step_z = 1;
    plan->step_t = plan->z;
    if (!plan_fits(plan, tags->pages) || (plan->contiguous && from->behind == 0)) {
        return false; /* what is scanned along z has z in its rows */
    }
    strcpy(info->style, "tiff");
    read_resolution(tags, info);
    if (from->size_um[0] > 0 && from->size_um[1] > 0) {
        strcpy(info->unit, "um");
        memcpy(info->size, from->size_um, sizeof info->size);
    }
    info->interval = from->interval;
    return true;
}

/* Scanners of slides.  SVS files have the size of pixels among words such as "|AppMag = 20|MPP = 0.499|", in micrometres;
 * pages of QPTIFF are channels. */
static bool read_slide(const MetaTags *tags, const char *text, ImageInfo *info, MetaPlan *plan)
{
    static const char SIZE[] = "|MPP = ";
    const char *at = strncmp(text, "Aperio ", 7) == 0 ? strstr(text, SIZE) : NULL;
    char value[32] = "";
    if (at != NULL) {
        at += sizeof SIZE - 1;
        snprintf(value, sizeof value, "%.*s", (int)strcspn(at, "|\r\n"), at);
    }
    double size = meta_number(value);
    if (size > 0) {
        strcpy(info->style, "tiff");
        strcpy(info->unit, "um");
        info->size[0] = info->size[1] = size;
    }
    plan->c = strstr(text, "<PerkinElmer-QPI-ImageDescription") != NULL ? tags->pages : 1;
    plan->step_c = 1;
    return plan->c > 1;
}

/* ---- the choice ------------------------------------------------------------------------- */

bool meta_read(const MetaTags *tags, ImageInfo *info, MetaPlan *plan, Err *err)
{
    const char *text = tags->description == NULL ? "" : tags->description;
    bool fits = false;
    *plan = (MetaPlan){.t = 1, .c = 1, .z = 1};
    if (strncmp(text, "ImageJ=", 7) == 0) {
        fits = read_imagej(tags, info, plan);
    } else if (text[0] == '{' && strstr(text, "\"shape\"") != NULL) {
        fits = read_shaped(tags, info, plan);
        info->remarks[REMARK_DESCRIPTION] = !fits;
    } else if (tags->ome != NULL) {
        TRY(ome_plan(tags->ome, tags, info, plan, &fits, err));
        info->remarks[REMARK_DESCRIPTION] = !fits && !plan->elsewhere && info->remarks[REMARK_XML_DAMAGED] == 0;
    } else if (tags->microscope.behind > 0 || tags->microscope.t > 0) {
        fits = read_microscope(tags, info, plan);
    } else {
        fits = read_slide(tags, text, info, plan);
    }
    if (info->style[0] == '\0') {
        strcpy(info->style, "tiff");
        read_resolution(tags, info);
    }
    if (fits) {
        apply_plan(plan, info);
    } else {
        meta_plain(tags, info, plan);
    }
    fill_um(info);
    return true;
}
