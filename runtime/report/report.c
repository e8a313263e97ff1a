/* report: pictures first, several at a time; then the page and the numbers. */
#include "report.h"

#include "../../base/file.h"
#include "../../base/json.h"
#include "../host/decimal.h"
#include "comparison.h"
#include "page.h"

#include <math.h>
#include <stdlib.h>

/* ---- pictures ---------------------------------------------------------------------------- */

/* A page of 1000 images shall stay below 5 MB: what pictures may take, what a pixel of one takes, and their sides. */
enum { PICTURE_BYTES = 3600000, LARGEST = 192, SMALLEST = 48, MOST_PICTURES = 2000 };
#define BYTES_A_PIXEL 0.78 /* with 16 grays, in base64, with outlines */
#define BYTES_FINE 1.6     /* with 256 */

typedef struct Pictures {
    const Report *report;
    Picture *at;
    int side, every; /* one of so many images has a picture */
    bool fine;
} Pictures;

static void choose_size(Pictures *pictures)
{
    const int n = pictures->report->n_images;
    pictures->every = 1 + (n > 0 ? n - 1 : 0) / MOST_PICTURES;
    const double bytes = (double)PICTURE_BYTES / (n > 0 ? fmin(n, MOST_PICTURES) : 1);
    const double side = sqrt(bytes / BYTES_A_PIXEL);
    pictures->side = side > LARGEST ? LARGEST : side < SMALLEST ? SMALLEST : (int)side;
    pictures->fine = bytes >= BYTES_FINE * LARGEST * LARGEST;
}

static void make_picture(void *context, int i)
{
    Pictures *pictures = context;
    const ReportImage *image = &pictures->report->images[i];
    pictures->at[i] = (Picture){.focus = NAN};
    if (image->input != NULL && i % pictures->every == 0) {
        pictures->at[i] = picture_make(image->input, image->outlines, pictures->side, pictures->fine);
    }
}

/* ---- the numbers ------------------------------------------------------------------------- */

static void put_number(FILE *to, double number)
{
    char text[DECIMAL_BYTES];
    decimal_shortest(number, text);
    fputs(isfinite(number) ? text : "null", to);
}

static void put_json_image(const Report *r, int i, FILE *to)
{
    const ReportImage *image = &r->images[i];
    fputs("  {\"name\": ", to);
    json_put_text(to, image->name);
    fprintf(to, ", \"state\": \"%s\"", image->reason != NULL ? "failed" : "done");
    if (image->reason != NULL) {
        fprintf(to, ", \"stage\": \"%s\", \"reason\": ", image->stage);
        json_put_text(to, image->reason);
    }
    fputs(", \"columns\": {", to);
    for (int k = 0; k < r->n_columns && image->fields != NULL; k++) {
        fputs(k > 0 ? ", " : "", to);
        json_put_text(to, r->columns[k]);
        fputs(": ", to);
        json_put_text(to, image->fields[k]);
    }
    fputs("}, \"measures\": {", to);
    for (int m = 0; m < r->n_measures; m++) {
        fputs(m > 0 ? ", " : "", to);
        json_put_text(to, r->measures[m].name);
        fputs(": ", to);
        put_number(to, r->measures[m].of_image[i]);
    }
    fputs("}}", to);
}

static void put_json(const Report *r, FILE *to)
{
    fputs("{\n \"pipeline\": ", to);
    json_put_text(to, r->title);
    fputs(",\n \"source\": ", to);
    json_put_text(to, r->source);
    fputs(",\n \"run\": {", to);
    for (int i = 0; i < r->n_facts; i++) {
        fputs(i > 0 ? ", " : "", to);
        json_put_text(to, r->facts[i].what);
        fputs(": ", to);
        json_put_text(to, r->facts[i].text);
    }
    fputs("},\n \"images\": [\n", to);
    for (int i = 0; i < r->n_images; i++) {
        fputs(i > 0 ? ",\n" : "", to);
        put_json_image(r, i, to);
    }
    fputs("\n ]\n}\n", to);
}

/* ---- files ------------------------------------------------------------------------------- */

static bool put_file(const char *path, const Page *page, Err *err)
{
    char *text = NULL;
    size_t size = 0;
    Page own = *page;
    own.to = open_memstream(&text, &size);
    if (own.to == NULL) {
        return err_set(err, CODE_MEMORY, "out of memory for '%s'", path);
    }
    if (page->pictures != NULL) {
        page_put(&own);
    } else {
        put_json(page->report, own.to);
    }
    bool ok = fclose(own.to) == 0 || err_set(err, CODE_MEMORY, "out of memory for '%s'", path);
    ok = ok && file_write(path, text, size, err);
    free(text);
    return ok;
}

/* The report with one measure more: how sharp each image is. */
static bool add_focus(Report *report, const Picture *pictures)
{
    const int n = report->n_measures;
    ReportMeasure *measures = calloc((size_t)n + 1, sizeof *measures);
    double *focus = calloc((size_t)report->n_images + 1, sizeof *focus);
    if (measures == NULL || focus == NULL) {
        free(measures);
        free(focus);
        return false;
    }
    for (int m = 0; m < n; m++) {
        measures[m] = report->measures[m];
    }
    for (int i = 0; i < report->n_images; i++) {
        focus[i] = pictures[i].focus;
    }
    measures[n] = (ReportMeasure){.name = "focus", .of_image = focus};
    report->measures = measures;
    report->n_measures = n + 1;
    return true;
}

static bool write_both(const Report *report, const Picture *pictures, const char *path, const char *json, Err *err)
{
    Comparison comparison = {0};
    Usual *usual = calloc((size_t)report->n_measures + 1, sizeof *usual);
    bool ok = usual != NULL || err_set(err, CODE_MEMORY, "out of memory for '%s'", path);
    for (int m = 0; ok && m < report->n_measures; m++) {
        usual[m] = usual_of(report->measures[m].of_image, (size_t)report->n_images);
    }
    ok = ok && (report->earlier == NULL || comparison_make(report, &comparison, err));
    const Page page = {report, pictures, usual, report->earlier != NULL ? &comparison : NULL, NULL};
    const Page numbers = {.report = report};
    ok = ok && put_file(path, &page, err) && put_file(json, &numbers, err);
    comparison_free(&comparison);
    free(usual);
    return ok;
}

bool report_write(const Report *report, const char *path, const char *json, Crew *crew, Err *err)
{
    Report with_focus = *report;
    Pictures pictures = {.report = report, .at = calloc((size_t)report->n_images + 1, sizeof *pictures.at)};
    if (pictures.at == NULL) {
        return err_set(err, CODE_MEMORY, "out of memory for '%s'", path);
    }
    choose_size(&pictures);
    crew_run(crew, make_picture, &pictures, report->n_images);
    bool focus = add_focus(&with_focus, pictures.at);
    bool ok = focus || err_set(err, CODE_MEMORY, "out of memory for '%s'", path);
    ok = ok && write_both(&with_focus, pictures.at, path, json, err);
    if (focus) {
        free(with_focus.measures[report->n_measures].of_image);
        free(with_focus.measures);
    }
    for (int i = 0; i < report->n_images; i++) {
        free(pictures.at[i].pixels);
        free(pictures.at[i].outlines);
    }
    free(pictures.at);
    return ok;
}
