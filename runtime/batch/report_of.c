/* report_of: tables are read back image by image; their columns are the same for all images. */
#include "report_of.h"

#include "../../base/file.h"
#include "merge_zarr.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_MEASURES = 200 };

/* A measure as it grows. */
typedef struct Growing {
    char name[200];
    double *objects;
    size_t n, room, *first;
    double *of_image;
} Growing;

typedef struct Collecting {
    const Join *join;
    Growing measures[MOST_MEASURES];
    int n;
    int images;  /* done or failed */
    bool failed; /* for want of memory */
} Collecting;

static double *numbers(int n)
{
    double *at = malloc(((size_t)n + 1) * sizeof *at);
    for (int i = 0; at != NULL && i < n; i++) {
        at[i] = NAN;
    }
    return at;
}

/* The measure of that name, which is new with the first image that has it; NULL: no room. */
static Growing *measure(Collecting *c, const char *prefix, const char *name, size_t n, bool objects)
{
    char full[200];
    snprintf(full, sizeof full, "%s%s%.*s", prefix, prefix[0] != '\0' ? ": " : "", (int)n, name);
    for (int i = 0; i < c->n; i++) {
        if (strcmp(c->measures[i].name, full) == 0) {
            return &c->measures[i];
        }
    }
    if (c->n == MOST_MEASURES) {
        return NULL;
    }
    Growing *to = &c->measures[c->n++];
    memcpy(to->name, full, sizeof full);
    to->of_image = numbers(c->images);
    to->first = objects ? calloc((size_t)c->images + 1, sizeof *to->first) : NULL;
    c->failed = c->failed || to->of_image == NULL || (objects && to->first == NULL);
    return to;
}

static void add_object(Collecting *c, Growing *to, double value)
{
    if (to->n == to->room) {
        size_t room = 2 * to->room + 256;
        double *more = realloc(to->objects, room * sizeof *more);
        c->failed = c->failed || more == NULL;
        if (more == NULL) {
            return;
        }
        to->objects = more;
        to->room = room;
    }
    to->objects[to->n++] = value;
}

/* ---- a table ----------------------------------------------------------------------------- */

/* Columns that say which object it is and where it lies, not what it is like. */
static bool says_where(const char *name, size_t n)
{
    static const char *const PLACES[] = {"centroid", "centroid_weighted", "bbox"};
    static const char *const WHERE[] = {"label", "frame", "channel", "z"};
    for (size_t i = 0; i < sizeof WHERE / sizeof *WHERE; i++) {
        if (strlen(WHERE[i]) == n && memcmp(WHERE[i], name, n) == 0) {
            return true;
        }
    }
    for (size_t i = 0; i < sizeof PLACES / sizeof *PLACES; i++) {
        const size_t length = strlen(PLACES[i]);
        if (n > length && memcmp(PLACES[i], name, length) == 0 && name[length] == '-') {
            return true;
        }
    }
    return false;
}

/* The measures of a header's columns; NULL for those that are none.  Returns how many columns there are. */
static int take_header(Collecting *c, const char *prefix, const char **at, Growing **columns, bool objects)
{
    int n = 0;
    for (const char *p = *at;;) {
        size_t length = strcspn(p, ",\n");
        if (n < MOST_MEASURES) {
            columns[n++] = says_where(p, length) ? NULL : measure(c, prefix, p, length, objects);
        }
        p += length;
        if (*p != ',') {
            *at = p + (*p == '\n');
            return n;
        }
        p++;
    }
}

static void take_row(Collecting *c, const char **at, Growing *const *columns, int n)
{
    const char *p = *at;
    for (int k = 0; *p != '\n' && *p != '\0'; k++) {
        size_t length = strcspn(p, ",\n");
        if (k < n && columns[k] != NULL) {
            add_object(c, columns[k], length > 0 ? strtod(p, NULL) : NAN);
        }
        p += length;
        p += *p == ',';
    }
    *at = p + (*p == '\n');
}

static double mean(const double *at, size_t n)
{
    double sum = 0;
    size_t counted = 0;
    for (size_t i = 0; i < n; i++) {
        sum += isnan(at[i]) ? 0 : at[i];
        counted += isnan(at[i]) ? 0 : 1;
    }
    return counted > 0 ? sum / (double)counted : NAN;
}

static void take_table(Collecting *c, const char *prefix, const char *text, int image)
{
    Growing *columns[MOST_MEASURES] = {0};
    Growing *count = measure(c, prefix, "count", strlen("count"), false);
    const char *at = text;
    int n = take_header(c, prefix, &at, columns, true), rows = 0;
    for (; *at != '\0' && !c->failed; rows++) {
        take_row(c, &at, columns, n);
    }
    if (count != NULL && !c->failed) {
        count->of_image[image] = rows;
    }
    for (int k = 0; k < n && !c->failed; k++) {
        if (columns[k] != NULL) {
            size_t from = columns[k]->first[image];
            columns[k]->of_image[image] = mean(columns[k]->objects + from, columns[k]->n - from);
        }
    }
}

/* ---- values ------------------------------------------------------------------------------ */

/* The mean over the rows of an image's values (sink_values); in front of each are frame, channel and plane. */
static void take_values(Collecting *c, const char *header, const char *values, int image)
{
    enum { IN_FRONT = 3, MOST = 100 };
    Growing *columns[MOST_MEASURES] = {0};
    const char *at = header;
    int n = take_header(c, "", &at, columns, false), rows = 0;
    double sums[MOST_MEASURES] = {0};
    at = strchr(values, '\n');
    for (at = at != NULL ? at + 1 : ""; *at != '\0'; rows++) {
        for (int k = -IN_FRONT; *at != '\n' && *at != '\0'; k++) {
            size_t length = strcspn(at, ",\n");
            if (k >= 0 && k < n) {
                sums[k] += length > 0 ? strtod(at, NULL) : NAN;
            }
            at += length;
            at += *at == ',';
        }
        at += *at == '\n';
    }
    for (int k = 0; k < n && rows > 0 && !c->failed; k++) {
        if (columns[k] != NULL) {
            columns[k]->of_image[image] = sums[k] / rows;
        }
    }
}

/* ---- all images -------------------------------------------------------------------------- */

/* "table" of "out/table.csv", where there are several. */
static void prefix_of(const Join *join, const JoinTable *table, char *to, size_t size)
{
    int tables = 0;
    for (int t = 0; t < join->n_tables; t++) {
        tables += join->tables[t].header == NULL;
    }
    const char *slash = strrchr(table->path, '/'), *name = slash != NULL ? slash + 1 : table->path;
    snprintf(to, size, "%.*s", tables > 1 ? (int)strcspn(name, ".") : 0, name);
}

static void collect_image(Collecting *c, const JoinImage *image, int number)
{
    const Join *join = c->join;
    for (int m = 0; m < c->n; m++) {
        if (c->measures[m].first != NULL) {
            c->measures[m].first[number] = c->measures[m].n;
        }
    }
    for (int t = 0; t < join->n_tables && image->fate == JOIN_DONE; t++) {
        const JoinTable *table = &join->tables[t];
        char prefix[100], *text = NULL;
        size_t size;
        Err ignored = {0};
        if (table->header != NULL) {
            take_values(c, table->header, image->values, number);
        } else if (table->zarr ? merge_zarr_text(image->outputs[table->output], &text, &ignored)
                               : file_read(image->outputs[table->output], &text, &size, &ignored)) {
            prefix_of(join, table, prefix, sizeof prefix);
            take_table(c, prefix, text, number);
        }
        free(text);
    }
}

static void collect(Collecting *c, ReportImage *images)
{
    int n = 0;
    for (int i = 0; i < c->join->n; i++) {
        const JoinImage *image = &c->join->images[i];
        if (image->fate == JOIN_LEFT) {
            continue;
        }
        const bool failed = image->fate == JOIN_FAILED;
        images[n] = (ReportImage){.name = image->name, .fields = image->fields, .input = image->input};
        images[n].outlines = failed ? NULL : image->outlines;
        images[n].stage = failed ? image->stage : NULL;
        images[n].reason = failed ? image->reason : NULL;
        collect_image(c, image, n);
        n++;
    }
    for (int m = 0; m < c->n && !c->failed; m++) {
        if (c->measures[m].first != NULL) {
            c->measures[m].first[n] = c->measures[m].n;
        }
    }
}

/* "report.json" beside "report.html". */
static void json_path(const char *html, char *to, size_t size)
{
    snprintf(to, size, "%.*s.json", (int)(strlen(html) - strlen(".html")), html);
}

static bool write_collected(Collecting *c, Report *report, ReportImage *images, ReportMeasure *measures, Err *err)
{
    char json[4096];
    collect(c, images);
    if (c->failed) {
        return err_set(err, CODE_MEMORY, "out of host memory for the report");
    }
    for (int m = 0; m < c->n; m++) {
        const Growing *of = &c->measures[m];
        measures[m] = (ReportMeasure){of->name, of->first != NULL ? of->objects : NULL, of->first, of->of_image};
    }
    report->images = images;
    report->n_images = c->images;
    report->measures = measures;
    report->n_measures = c->n;
    json_path(c->join->report, json, sizeof json);
    Crew *crew = crew_new(0);
    bool ok = report_write(report, c->join->report, json, crew, err);
    crew_free(crew);
    return ok;
}

bool report_of(const Join *join, const char *title, const ReportFact *facts, int n, const char *earlier, Err *err)
{
    Collecting *c = calloc(1, sizeof *c);
    ReportImage *images = calloc((size_t)join->n + 1, sizeof *images);
    ReportMeasure *measures = calloc(MOST_MEASURES, sizeof *measures);
    ReportFact *all = calloc((size_t)n + 2, sizeof *all);
    bool ok = (c != NULL && images != NULL && measures != NULL && all != NULL) ||
              err_set(err, CODE_MEMORY, "out of host memory for the report");
    if (ok) {
        all[0] = (ReportFact){"pipec", join->version};
        all[1] = (ReportFact){"parameters", join->parameters};
        memcpy(all + 2, facts, (size_t)n * sizeof *facts);
        c->join = join;
        c->images = join->n - join_count(join, JOIN_LEFT);
        Report report = {.title = title,
                         .source = join->source,
                         .facts = all,
                         .n_facts = n + 2,
                         .columns = (const char *const *)join->columns->names,
                         .n_columns = join->columns->n,
                         .earlier = earlier};
        ok = write_collected(c, &report, images, measures, err);
    }
    for (int m = 0; c != NULL && m < c->n; m++) {
        free(c->measures[m].objects);
        free(c->measures[m].first);
        free(c->measures[m].of_image);
    }
    free(all);
    free(measures);
    free(images);
    free(c);
    return ok;
}
