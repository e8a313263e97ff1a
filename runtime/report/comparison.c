/* comparison: images are known by their names, measures by theirs. */
#include "comparison.h"

#include "../../base/file.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An image of either report, to be sorted by name. */
typedef struct Known {
    const char *name;
    const cJSON *before;
    int now;       /* -1: none */
    double change; /* the largest of a measure, relative */
} Known;

static int by_name(const void *a, const void *b)
{
    return strcmp(((const Known *)a)->name, ((const Known *)b)->name);
}

static int by_change(const void *a, const void *b)
{
    const Known *x = a, *y = b;
    return x->change != y->change ? (x->change < y->change) - (x->change > y->change) : x->now - y->now;
}

static bool is_done(const cJSON *image)
{
    const char *state = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(image, "state"));
    return state != NULL && strcmp(state, "done") == 0;
}

static double number_of(const cJSON *image, const char *measure)
{
    const cJSON *all = cJSON_GetObjectItemCaseSensitive(image, "measures");
    const cJSON *one = cJSON_GetObjectItemCaseSensitive(all, measure);
    return cJSON_IsNumber(one) ? one->valuedouble : NAN;
}

static double change_of(double before, double now)
{
    const double size = fmax(fabs(before), fabs(now));
    return isnan(before) != isnan(now) ? 1 : size > 0 ? fabs(now - before) / size : 0;
}

/* Both sides of one name. */
static void compare(const Report *report, Known *known, Comparison *out, int *counted)
{
    const bool failed = known->now >= 0 && report->images[known->now].reason != NULL;
    if (known->before == NULL || known->now < 0) {
        out->only_here += known->before == NULL;
        out->only_before += known->before != NULL;
        return;
    }
    if (failed || !is_done(known->before)) {
        out->fails_now += failed && is_done(known->before);
        out->failed_before += !failed;
        return;
    }
    for (int m = 0; m < report->n_measures; m++) {
        double before = number_of(known->before, report->measures[m].name);
        double now = report->measures[m].of_image[known->now];
        known->change = fmax(known->change, change_of(before, now));
        if (!isnan(before) && !isnan(now)) {
            out->before[m] += before;
            out->now[m] += now;
            counted[m]++;
        }
    }
    out->changed += known->change > 0;
    out->same += known->change <= 0;
}

static bool compare_all(const Report *report, Known *known, int n, Comparison *out)
{
    int *counted = calloc((size_t)report->n_measures + 1, sizeof *counted);
    if (counted == NULL) {
        return false;
    }
    for (int i = 0; i < n; i++) {
        compare(report, &known[i], out, counted);
    }
    for (int m = 0; m < report->n_measures; m++) {
        out->before[m] = counted[m] > 0 ? out->before[m] / counted[m] : NAN;
        out->now[m] = counted[m] > 0 ? out->now[m] / counted[m] : NAN;
    }
    qsort(known, (size_t)n, sizeof *known, by_change);
    for (int i = 0; i < n && known[i].change > 0; i++) {
        out->images[out->n_images++] = known[i].now;
    }
    free(counted);
    return true;
}

/* Puts the two sides of a name together; how many names there are. */
static int unite(Known *known, int n)
{
    int to = 0;
    qsort(known, (size_t)n, sizeof *known, by_name);
    for (int i = 0; i < n; i++) {
        bool pair = to > 0 && strcmp(known[to - 1].name, known[i].name) == 0;
        bool fits = pair && (known[to - 1].before == NULL) != (known[i].before == NULL);
        if (fits) {
            known[to - 1].before = known[i].before != NULL ? known[i].before : known[to - 1].before;
            known[to - 1].now = known[i].now >= 0 ? known[i].now : known[to - 1].now;
        } else {
            known[to++] = known[i];
        }
    }
    return to;
}

static bool make(const Report *report, const cJSON *images, Comparison *out)
{
    size_t most = (size_t)report->n_images + (size_t)cJSON_GetArraySize(images) + 1;
    Known *known = calloc(most, sizeof *known);
    out->images = calloc(most, sizeof *out->images);
    out->before = calloc((size_t)report->n_measures + 1, sizeof *out->before);
    out->now = calloc((size_t)report->n_measures + 1, sizeof *out->now);
    bool ok = known != NULL && out->images != NULL && out->before != NULL && out->now != NULL;
    int n = 0;
    for (int i = 0; ok && i < report->n_images; i++) {
        known[n++] = (Known){.name = report->images[i].name, .now = i};
    }
    const cJSON *image;
    images = ok ? images : NULL;
    cJSON_ArrayForEach(image, images)
    {
        const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(image, "name"));
        if (name != NULL) {
            known[n++] = (Known){.name = name, .before = image, .now = -1};
        }
    }
    ok = ok && compare_all(report, known, unite(known, n), out);
    free(known);
    return ok;
}

bool comparison_make(const Report *report, Comparison *out, Err *err)
{
    char *text = NULL;
    size_t size;
    *out = (Comparison){0};
    TRY(file_read(report->earlier, &text, &size, err));
    cJSON *json = cJSON_Parse(text);
    const cJSON *images = cJSON_GetObjectItemCaseSensitive(json, "images");
    bool ok = cJSON_IsArray(images) ||
              err_set(err, CODE_USAGE, "'%s' is not the report.json of an earlier run", report->earlier);
    ok = ok && (make(report, images, out) ||
                err_set(err, CODE_MEMORY, "out of memory for the comparison with an earlier report"));
    cJSON_Delete(json);
    free(text);
    return ok;
}

void comparison_free(Comparison *comparison)
{
    free(comparison->images);
    free(comparison->before);
    free(comparison->now);
}
