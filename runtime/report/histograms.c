/* histograms: how the measures of all objects are spread, by group where the images' names tell of a few. */
#include "page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EDGE = 24, BINS = 40, WIDTH = 320, HEIGHT = 120, FOOT = 16, MOST_GROUPS = 6 };

/* The column by which images fall into two to six groups, the first such; -1: none. */
typedef struct Groups {
    int column, n;
    const char *names[MOST_GROUPS];
} Groups;

static const char *COLOURS[MOST_GROUPS] = {"#e07b00", "#2a9d5c", "#b5479b", "#7a6ff0", "#c9a400", "#00a3b4"};

static int group_of(const Report *r, const Groups *groups, int image)
{
    char *const *fields = r->images[image].fields;
    const char *name = fields != NULL && fields[groups->column] != NULL ? fields[groups->column] : "";
    for (int g = 0; g < groups->n; g++) {
        if (strcmp(groups->names[g], name) == 0) {
            return g;
        }
    }
    return -1;
}

static Groups find_groups(const Report *r)
{
    for (int column = 0; column < r->n_columns; column++) {
        Groups groups = {.column = column};
        bool fits = true;
        for (int i = 0; i < r->n_images && fits; i++) {
            if (r->images[i].reason != NULL || r->images[i].fields == NULL || group_of(r, &groups, i) >= 0) {
                continue;
            }
            fits = groups.n < MOST_GROUPS;
            if (fits) {
                groups.names[groups.n++] = r->images[i].fields[column] != NULL ? r->images[i].fields[column] : "";
            }
        }
        if (fits && groups.n > 1) {
            return groups;
        }
    }
    return (Groups){.column = -1};
}

static int bin_of(const Usual *usual, double value)
{
    double share = (value - usual->low) / (usual->high - usual->low);
    return !(share >= 0 && share <= 1) ? -1 : share < 1 ? (int)(share * BINS) : BINS - 1;
}

static double x_of(const Usual *usual, double value)
{
    return WIDTH * (value - usual->low) / (usual->high - usual->low);
}

static void put_mark(const Page *page, const Usual *usual, double value, const char *what)
{
    if (value > usual->low && value < usual->high) {
        double x = x_of(usual, value);
        fprintf(
            page->to,
            "<line class=\"mark\" x1=\"%.1f\" x2=\"%.1f\" y1=\"10\" y2=\"%d\"/><text x=\"%.1f\" y=\"9\" text-anchor=\"%s\">%s</text>",
            x, x, HEIGHT - FOOT, x,
            x < EDGE           ? "start"
            : x > WIDTH - EDGE ? "end"
                               : "middle",
            what);
    }
}

static void put_bars(const Page *page, const size_t *bins, size_t most)
{
    for (int b = 0; b < BINS; b++) {
        double height = (HEIGHT - FOOT - 12) * (double)bins[b] / (double)most;
        fprintf(page->to, "<rect class=\"bar\" x=\"%g\" y=\"%.1f\" width=\"%g\" height=\"%.1f\"/>",
                b * (double)WIDTH / BINS, HEIGHT - FOOT - height, (double)WIDTH / BINS - 1, height);
    }
}

static size_t largest(const size_t *bins)
{
    size_t most = 1;
    for (int b = 0; b < BINS; b++) {
        most = bins[b] > most ? bins[b] : most;
    }
    return most;
}

static void put_curve(const Page *page, const size_t *bins, const char *colour)
{
    const size_t most = largest(bins);
    fprintf(page->to, "<polyline fill=\"none\" stroke-width=\"1.5\" stroke=\"%s\" points=\"", colour);
    for (int b = 0; b < BINS; b++) {
        fprintf(page->to, "%.1f,%.1f ", (b + 0.5) * WIDTH / BINS,
                HEIGHT - FOOT - (HEIGHT - FOOT - 12) * (double)bins[b] / (double)most);
    }
    fputs("\"/>", page->to);
}

static void put_ends(const Page *page, const Usual *usual)
{
    fprintf(page->to, "<text x=\"0\" y=\"%d\">", HEIGHT - 3);
    page_put_number(page->to, usual->low);
    fprintf(page->to, "</text><text x=\"%d\" y=\"%d\" text-anchor=\"end\">", WIDTH, HEIGHT - 3);
    page_put_number(page->to, usual->high);
    fputs("</text>", page->to);
}

static void put_histogram(const Page *page, const ReportMeasure *measure, const Groups *groups)
{
    const Report *r = page->report;
    const Usual usual = usual_of(measure->objects, measure->first[r->n_images]);
    size_t bins[MOST_GROUPS + 1][BINS] = {{0}};
    if (usual.n < 2 || usual.high <= usual.low) {
        return;
    }
    for (int i = 0; i < r->n_images; i++) {
        int group = groups->column >= 0 ? group_of(r, groups, i) : -1;
        for (size_t k = measure->first[i]; k < measure->first[i + 1]; k++) {
            int bin = bin_of(&usual, measure->objects[k]);
            if (bin >= 0) {
                bins[MOST_GROUPS][bin]++;
                bins[group >= 0 ? group : MOST_GROUPS][bin] += group >= 0;
            }
        }
    }
    fputs("<figure><figcaption>", page->to);
    page_put_text(page->to, measure->name);
    fprintf(page->to,
            " <span class=\"soft\">of %zu objects</span></figcaption><svg viewBox=\"0 0 %d %d\" role=\"img\">", usual.n,
            WIDTH, HEIGHT);
    put_bars(page, bins[MOST_GROUPS], largest(bins[MOST_GROUPS]));
    for (int g = 0; groups->column >= 0 && g < groups->n; g++) {
        put_curve(page, bins[g], COLOURS[g]);
    }
    put_mark(page, &usual, usual.median, "median");
    put_mark(page, &usual, usual.median - UNUSUAL * usual.spread, "-3 MAD");
    put_mark(page, &usual, usual.median + UNUSUAL * usual.spread, "+3 MAD");
    put_ends(page, &usual);
    fputs("</svg></figure>\n", page->to);
}

void page_put_histograms(const Page *page)
{
    const Report *r = page->report;
    const Groups groups = find_groups(r);
    bool any = false;
    for (int m = 0; m < r->n_measures; m++) {
        any = any || r->measures[m].objects != NULL;
    }
    if (!any) {
        return;
    }
    fputs("<h2>Objects</h2>\n", page->to);
    if (groups.column >= 0) {
        page_put_text(page->to, r->columns[groups.column]);
        fputs(": ", page->to);
    }
    for (int g = 0; groups.column >= 0 && g < groups.n; g++) {
        fprintf(page->to, "<span style=\"color:%s\">&#9632;</span> ", COLOURS[g]);
        page_put_text(page->to, groups.names[g]);
        fputs(" ", page->to);
    }
    fputs("<div class=\"charts\">\n", page->to);
    for (int m = 0; m < r->n_measures; m++) {
        if (r->measures[m].objects != NULL) {
            put_histogram(page, &r->measures[m], &groups);
        }
    }
    fputs("</div>\n", page->to);
}
