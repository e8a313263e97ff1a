/* page: section after section; see report.h. */
#include "page.h"

#include <math.h>
#include <string.h>

extern const char report_text_page_style[];
extern const char report_text_page_script[];

void page_put_text(FILE *to, const char *text)
{
    for (; *text != '\0'; text++) {
        const char *as = *text == '<'   ? "&lt;"
                         : *text == '>' ? "&gt;"
                         : *text == '&' ? "&amp;"
                         : *text == '"' ? "&quot;"
                                        : NULL;
        if (as != NULL) {
            fputs(as, to);
        } else {
            putc(*text, to);
        }
    }
}

void page_put_number(FILE *to, double number)
{
    if (isfinite(number)) {
        fprintf(to, "%.*g", fabs(number) >= 1000 ? 7 : 4, number);
    }
}

static void put_link(const Page *page, int image)
{
    fprintf(page->to, "<a href=\"#i%d\">", image);
    page_put_text(page->to, page->report->images[image].name);
    fputs("</a>", page->to);
}

static int failures(const Report *r)
{
    int n = 0;
    for (int i = 0; i < r->n_images; i++) {
        n += r->images[i].reason != NULL;
    }
    return n;
}

/* ---- the head ---------------------------------------------------------------------------- */

static void put_head(const Page *page)
{
    const Report *r = page->report;
    const int failed = failures(r);
    fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
          "content=\"width=device-width, initial-scale=1\"><title>",
          page->to);
    page_put_text(page->to, r->title);
    fprintf(page->to, ": %d images</title>\n<style>\n%s</style></head><body>\n<h1>", r->n_images,
            report_text_page_style);
    page_put_text(page->to, r->title);
    fprintf(page->to, "</h1>\n<p>%d of %d image%s done", r->n_images - failed, r->n_images,
            r->n_images == 1 ? " is" : "s are");
    if (failed > 0) {
        fprintf(page->to, ", <b class=\"bad\">%d failed</b>", failed);
    }
    fputs(".</p>\n", page->to);
}

static void put_failures(const Page *page)
{
    const Report *r = page->report;
    if (failures(r) == 0) {
        return;
    }
    fputs("<h2>Failed</h2>\n<div class=\"scroll\"><table><tr><th class=\"t\">Image</th><th class=\"t\">While</th>"
          "<th class=\"t\">Why</th></tr>\n",
          page->to);
    for (int i = 0; i < r->n_images; i++) {
        if (r->images[i].reason != NULL) {
            fputs("<tr><td class=\"t\">", page->to);
            page_put_text(page->to, r->images[i].name);
            fprintf(page->to, "</td><td class=\"t\">%s</td><td class=\"t\">", r->images[i].stage);
            page_put_text(page->to, r->images[i].reason);
            fputs("</td></tr>\n", page->to);
        }
    }
    fputs("</table></div>\n", page->to);
}

/* ---- comparison -------------------------------------------------------------------------- */

static void put_means(const Page *page)
{
    const Report *r = page->report;
    fputs(
        "<div class=\"scroll\"><table><tr><th class=\"t\">Mean of</th><th>before</th><th>now</th><th>change</th></tr>\n",
        page->to);
    for (int m = 0; m < r->n_measures; m++) {
        double before = page->comparison->before[m], now = page->comparison->now[m];
        if (isnan(before)) {
            continue;
        }
        fputs("<tr><td class=\"t\">", page->to);
        page_put_text(page->to, r->measures[m].name);
        fputs("</td><td>", page->to);
        page_put_number(page->to, before);
        fputs("</td><td>", page->to);
        page_put_number(page->to, now);
        fputs("</td><td>", page->to);
        if (before != 0) {
            fprintf(page->to, "%+.2f %%", 100 * (now - before) / fabs(before));
        }
        fputs("</td></tr>\n", page->to);
    }
    fputs("</table></div>\n", page->to);
}

static void put_comparison(const Page *page)
{
    enum { MOST = 20 };
    const Comparison *c = page->comparison;
    if (c == NULL) {
        return;
    }
    fputs("<h2>Beside the earlier report</h2>\n<p>", page->to);
    page_put_text(page->to, page->report->earlier);
    fprintf(
        page->to,
        ": %d images are the same, %d changed, %d are new, %d are gone; %d that failed are done, %d fail now.</p>\n",
        c->same, c->changed, c->only_here, c->only_before, c->failed_before, c->fails_now);
    put_means(page);
    for (int i = 0; i < c->n_images && i < MOST; i++) {
        fputs(i == 0 ? "<p>Most changed: " : ", ", page->to);
        put_link(page, c->images[i]);
    }
    fputs(c->n_images > 0 ? ".</p>\n" : "", page->to);
}

/* ---- what is unusual ---------------------------------------------------------------------- */

static void put_unusual_row(const Page *page, int image, int m, double distance)
{
    const ReportMeasure *measure = &page->report->measures[m];
    fputs("<tr><td class=\"t\">", page->to);
    put_link(page, image);
    fputs("</td><td class=\"t\">", page->to);
    page_put_text(page->to, measure->name);
    fputs("</td><td>", page->to);
    page_put_number(page->to, measure->of_image[image]);
    fputs("</td><td>", page->to);
    page_put_number(page->to, page->usual[m].median);
    fprintf(page->to, "</td><td>%+.1f</td></tr>\n", distance);
}

static void put_unusual(const Page *page)
{
    enum { MOST = 200 };
    const Report *r = page->report;
    int n = 0;
    for (int i = 0; i < r->n_images && n < MOST; i++) {
        for (int m = 0; m < r->n_measures && n < MOST; m++) {
            double distance = usual_distance(&page->usual[m], r->measures[m].of_image[i]);
            if (fabs(distance) <= UNUSUAL) {
                continue;
            }
            if (n++ == 0) {
                fputs(
                    "<h2>Unusual</h2>\n<p class=\"soft\">More than three spreads from the median of all images. A spread is 1.4826 "
                    "times the median distance from the median (MAD).</p>\n<div class=\"scroll\"><table><tr><th class=\"t\">Image</th>"
                    "<th class=\"t\">Measure</th><th>Value</th><th>Median</th><th>Spreads</th></tr>\n",
                    page->to);
            }
            put_unusual_row(page, i, m, distance);
        }
    }
    fputs(n == MOST ? "<tr><td class=\"t\" colspan=\"5\">and more</td></tr>\n" : "", page->to);
    fputs(n > 0 ? "</table></div>\n" : "", page->to);
}

/* ---- all images --------------------------------------------------------------------------- */

static void put_picture(const Page *page, int i)
{
    const Picture *p = &page->pictures[i];
    if (p->pixels == NULL) {
        return;
    }
    fprintf(page->to, "<span class=\"pic\"><img width=\"%d\" height=\"%d\" alt=\"\" src=\"data:image/png;base64,%s\">",
            p->width, p->height, p->pixels);
    if (p->outlines != NULL) {
        fprintf(page->to, "<img class=\"out\" alt=\"\" width=\"%d\" height=\"%d\" src=\"data:image/png;base64,%s\">",
                p->width, p->height, p->outlines);
    }
    fputs("</span>", page->to);
}

static void put_image(const Page *page, int i)
{
    const Report *r = page->report;
    const ReportImage *image = &r->images[i];
    fprintf(page->to, "<tr id=\"i%d\"><td>", i);
    put_picture(page, i);
    fprintf(page->to, "</td><td class=\"t%s\">", image->reason != NULL ? " bad" : "");
    page_put_text(page->to, image->name);
    fputs("</td>", page->to);
    for (int k = 0; k < r->n_columns; k++) {
        fputs("<td class=\"t\">", page->to);
        page_put_text(page->to, image->fields != NULL && image->fields[k] != NULL ? image->fields[k] : "");
        fputs("</td>", page->to);
    }
    for (int m = 0; m < r->n_measures; m++) {
        double value = r->measures[m].of_image[i];
        fputs(fabs(usual_distance(&page->usual[m], value)) > UNUSUAL ? "<td class=\"bad\">" : "<td>", page->to);
        page_put_number(page->to, value);
        fputs("</td>", page->to);
    }
    fputs("</tr>\n", page->to);
}

static void put_images(const Page *page)
{
    const Report *r = page->report;
    fputs(
        "<section id=\"images\"><h2>Images</h2>\n<input type=\"checkbox\" id=\"outlines\" checked> "
        "<label for=\"outlines\">outlines</label> <input id=\"find\" placeholder=\"find\" aria-label=\"find images\">\n"
        "<div class=\"scroll\"><table><thead><tr><th></th><th class=\"t\">Image</th>",
        page->to);
    for (int k = 0; k < r->n_columns; k++) {
        fputs("<th class=\"t\">", page->to);
        page_put_text(page->to, r->columns[k]);
        fputs("</th>", page->to);
    }
    for (int m = 0; m < r->n_measures; m++) {
        fputs("<th>", page->to);
        page_put_text(page->to, r->measures[m].name);
        fputs("</th>", page->to);
    }
    fputs("</tr></thead><tbody>\n", page->to);
    for (int pass = 0; pass < 2; pass++) { /* those that failed first */
        for (int i = 0; i < r->n_images; i++) {
            if ((r->images[i].reason != NULL) == (pass == 0)) {
                put_image(page, i);
            }
        }
    }
    fputs("</tbody></table></div></section>\n", page->to);
}

/* ---- the run ------------------------------------------------------------------------------ */

static void put_run(const Page *page)
{
    const Report *r = page->report;
    fputs("<h2>The run</h2>\n<table>\n", page->to);
    for (int i = 0; i < r->n_facts; i++) {
        fprintf(page->to, "<tr><td class=\"t\">%s</td><td class=\"t\">", r->facts[i].what);
        page_put_text(page->to, r->facts[i].text);
        fputs("</td></tr>\n", page->to);
    }
    fputs("</table>\n<pre>", page->to);
    page_put_text(page->to, r->source);
    fputs("</pre>\n", page->to);
}

void page_put(const Page *page)
{
    put_head(page);
    put_failures(page);
    put_comparison(page);
    put_unusual(page);
    page_put_plates(page);
    page_put_histograms(page);
    put_images(page);
    put_run(page);
    fprintf(page->to, "<script>\n%s</script>\n</body></html>\n", report_text_page_script);
}
