/*
 * measures: names, columns and the text in which the compiler hands a table's columns to the
 * runtime.  The formulae are in measure_formulae.h.
 */
#include "measures.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool listed(const char *list, const char *name, size_t length)
{
    while (*list != '\0') {
        size_t n = strcspn(list, " ");
        if (n == length && memcmp(list, name, n) == 0) {
            return true;
        }
        list += n + strspn(list + n, " ");
    }
    return false;
}

/*
 * A measure's columns are numbered by `indices` numbers (-1: one an axis), each running to
 * fixed + per_axis * dims.
 */
static const struct {
    int indices, fixed, per_axis;
} SHAPES[] = {
    [MEASURE_SHAPE_SCALAR] = {0, 1, 0}, [MEASURE_SHAPE_AXES] = {1, 0, 1},     [MEASURE_SHAPE_BOX] = {1, 0, 2},
    [MEASURE_SHAPE_TENSOR] = {2, 0, 1}, [MEASURE_SHAPE_MOMENTS] = {-1, 4, 0}, [MEASURE_SHAPE_SEVEN] = {1, 7, 0},
};

static int index_count(const Measure *measure, int dims)
{
    int n = SHAPES[measure->shape].indices;
    return n < 0 ? dims : n;
}

static int index_end(const Measure *measure, int dims)
{
    return SHAPES[measure->shape].fixed + SHAPES[measure->shape].per_axis * dims;
}

/* Takes "k:" off the front; the image's number or -1. */
static int image_number(const char **at, size_t *length)
{
    const char *s = *at;
    size_t digits = strspn(s, "0123456789");
    if (digits == 0 || digits > 3 || digits >= *length || s[digits] != ':') {
        return -1;
    }
    int number = 0;
    for (size_t i = 0; i < digits; i++) {
        number = 10 * number + (s[i] - '0');
    }
    *at += digits + 1;
    *length -= digits + 1;
    return number;
}

static bool add_item(MeasureList *list, const char *text, size_t length, Err *err)
{
    const char *name = text;
    size_t rest = length;
    int image = image_number(&name, &rest);
    const char *equals = memchr(name, '=', rest);
    size_t name_length = equals != NULL ? (size_t)(equals - name) : rest;
    const char *header = equals != NULL ? equals + 1 : name;
    size_t header_length = equals != NULL ? rest - name_length - 1 : rest;
    const Measure *measure = measure_find(name, name_length);
    if (measure == NULL) {
        return err_set(err, CODE_USAGE, "'%.*s' is nothing that can be measured", (int)name_length, name);
    }
    if (measure->dims == 2 && list->dims != 2) {
        return err_set(err, CODE_USAGE, "%s is only defined in two dimensions", measure->name);
    }
    if (image >= MEASURE_MAX_IMAGES || list->n == MEASURE_MAX_ITEMS) {
        return err_set(err, CODE_USAGE, "a table has at most %d images and %d measures", MEASURE_MAX_IMAGES,
                       MEASURE_MAX_ITEMS);
    }
    if (header_length >= MEASURE_MAX_HEADER) {
        return err_set(err, CODE_USAGE, "the column name '%.*s' is longer than %d characters", (int)header_length,
                       header, MEASURE_MAX_HEADER - 1);
    }
    MeasureItem *item = &list->at[list->n++];
    item->measure = measure;
    item->image = measure->intensity && image > 0 ? image : 0;
    memcpy(item->header, header, header_length);
    item->header[header_length] = '\0';
    list->columns += measure_columns(measure, list->dims);
    if (measure->needs == MEASURE_MEDIAN) {
        double fraction = measure_percent(name, name_length) / 100;
        if ((list->image_needs[item->image] & MEASURE_MEDIAN) && list->fraction[item->image] != fraction) {
            return err_set(err, CODE_USAGE, "'%.*s' is a second percentile of one image", (int)length, text);
        }
        list->fraction[item->image] = fraction;
    }
    if (measure->intensity) {
        list->image_needs[item->image] |= measure->needs;
        list->images = item->image + 1 > list->images ? item->image + 1 : list->images;
    } else {
        list->needs |= measure->needs;
    }
    return true;
}

void measure_header(const Measure *measure, int dims, const char *header, int i, char *out, size_t size)
{
    int index[3];
    int n = index_count(measure, dims), end = index_end(measure, dims);
    for (int k = n - 1; k >= 0; k--) {
        index[k] = i % end;
        i /= end;
    }
    size_t front = strcspn(header, "#");
    int length = snprintf(out, size, "%.*s", (int)front, header);
    for (int k = 0; k < n && length < (int)size; k++) {
        length += snprintf(out + length, size - (size_t)length, "-%d", index[k]);
    }
    if (header[front] != '\0' && length < (int)size) {
        snprintf(out + length, size - (size_t)length, "%s", header + front + 1);
    }
}

/* "percentile_99_5": 99.5; NaN where the name is another one, or nothing from 0 to 100. */
static double named_percent(const char *name, size_t length)
{
    static const char *const FRONTS[] = {"percentile_", "intensity_percentile_"};
    double percent = (double)NAN;
    for (size_t i = 0; i < sizeof FRONTS / sizeof *FRONTS; i++) {
        size_t front = strlen(FRONTS[i]), rest = length > front ? length - front : 0;
        char number[16] = "";
        if (rest == 0 || rest >= sizeof number || memcmp(name, FRONTS[i], front) != 0) {
            continue;
        }
        memcpy(number, name + front, rest);
        size_t whole = strspn(number, "0123456789"), digits = 0;
        if (number[whole] == '_') {
            number[whole] = '.';
            digits = 1 + strspn(number + whole + 1, "0123456789");
        }
        bool fine = whole > 0 && whole + digits == rest && digits != 1;
        percent = fine && strtod(number, NULL) <= 100 ? strtod(number, NULL) : percent;
    }
    return percent;
}

double measure_percent(const char *name, size_t length)
{
    double percent = named_percent(name, length);
    return isnan(percent) ? 50 : percent;
}

const Measure *measure_find(const char *name, size_t length)
{
    if (!isnan(named_percent(name, length))) {
        return &MEASURES[MEASURE_ID_INTENSITY_PERCENTILE];
    }
    for (int i = 0; i < MEASURE_IDS; i++) {
        if (listed(MEASURES[i].name, name, length) || listed(MEASURES[i].aliases, name, length)) {
            return &MEASURES[i];
        }
    }
    return NULL;
}

int measure_columns(const Measure *measure, int dims)
{
    int columns = 1;
    for (int k = index_count(measure, dims); k > 0; k--) {
        columns *= index_end(measure, dims);
    }
    return columns;
}

bool measure_parse(const char *text, int dims, MeasureList *list, Err *err)
{
    memset(list, 0, sizeof *list);
    list->dims = dims;
    if ((strncmp(text, "2d", 2) == 0 || strncmp(text, "3d", 2) == 0) && (text[2] == ',' || text[2] == '\0')) {
        list->dims = text[0] - '0';
        text += text[2] == ',' ? 3 : 2;
    }
    while (*text != '\0') {
        size_t length = strcspn(text, ",");
        TRY(add_item(list, text, length, err));
        text += length;
        text += *text == ',';
    }
    return true;
}

void measure_names(const MeasureList *list, const double spacing[3], char (*names)[64], bool *integer)
{
    bool unit = spacing[0] == 1 && spacing[1] == 1 && (list->dims == 2 || spacing[2] == 1);
    int column = 0;
    for (int i = 0; i < list->n; i++) {
        const MeasureItem *item = &list->at[i];
        for (int c = 0; c < measure_columns(item->measure, list->dims); c++, column++) {
            measure_header(item->measure, list->dims, item->header, c, names[column], sizeof names[column]);
            int kind = item->measure->integer;
            integer[column] = kind == 1 || (kind == 2 && unit);
        }
    }
}

uint64_t measure_moments(unsigned needs, int dims, bool weighted)
{
    unsigned all = weighted ? MEASURE_WEIGHTED : MEASURE_MOMENTS;
    unsigned third = weighted ? MEASURE_WEIGHTED_THIRD : MEASURE_THIRD;
    int least = weighted ? 0 : 2, most = !weighted && (needs & MEASURE_SECOND) ? 2 : -1;
    most = needs & all ? 9 : needs & third ? 3 : most;
    uint64_t wanted = 0;
    for (int i = 0; i < (dims == 3 ? 64 : 16); i++) {
        int order = i % 4 + i / 4 % 4 + i / 16;
        wanted |= order >= least && order <= most ? UINT64_C(1) << i : 0;
    }
    return wanted;
}
