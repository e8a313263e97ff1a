/* plates: a map for each plate and measure; wells are A1 to P24, in a column of the images' names or in the name itself. */
#include "page.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 16, COLUMNS = 24, WELLS = ROWS * COLUMNS, MOST_PLATES = 12, MOST_MEASURES = 12 };

/* The well that a text begins with, *n characters long; -1: none. */
static int well_at(const char *text, size_t *n)
{
    const int row = toupper((unsigned char)text[0]) - 'A';
    *n = 1 + strspn(text + 1, "0123456789");
    const int column = *n == 2 || *n == 3 ? atoi(text + 1) : 0;
    return row >= 0 && row < ROWS && column >= 1 && column <= COLUMNS ? row * COLUMNS + column - 1 : -1;
}

/* A whole word of the name that is a well; -1: none. */
static int well_in(const char *text)
{
    size_t n;
    for (const char *at = text; *at != '\0'; at++) {
        int well = at == text || !isalnum((unsigned char)at[-1]) ? well_at(at, &n) : -1;
        if (well >= 0 && !isalnum((unsigned char)at[n])) {
            return well;
        }
    }
    return -1;
}

static int column_of(const Report *r, const char *name)
{
    for (int k = 0; k < r->n_columns; k++) {
        if (strcmp(r->columns[k], name) == 0) {
            return k;
        }
    }
    return -1;
}

static int well_of(const Report *r, int image)
{
    const int column = column_of(r, "well");
    const ReportImage *at = &r->images[image];
    if (column >= 0) {
        return at->fields != NULL && at->fields[column] != NULL ? well_in(at->fields[column]) : -1;
    }
    return well_in(at->name);
}

static const char *plate_of(const Report *r, int image)
{
    const int column = column_of(r, "plate");
    char *const *fields = r->images[image].fields;
    return column >= 0 && fields != NULL && fields[column] != NULL ? fields[column] : "";
}

typedef struct Plate {
    const char *name;
    int first[WELLS]; /* image; -1: none */
    double sum[WELLS];
    int n[WELLS];
    double low, high;
    int rows, columns;
} Plate;

static void fill(const Page *page, int m, Plate *plate)
{
    const Report *r = page->report;
    const char *name = plate->name;
    *plate = (Plate){.name = name, .low = INFINITY, .high = -INFINITY};
    memset(plate->first, -1, sizeof plate->first);
    for (int i = 0; i < r->n_images; i++) {
        int well = strcmp(plate_of(r, i), name) == 0 ? well_of(r, i) : -1;
        if (well < 0) {
            continue;
        }
        double value = r->measures[m].of_image[i];
        plate->first[well] = plate->first[well] < 0 ? i : plate->first[well];
        plate->rows = well / COLUMNS + 1 > plate->rows ? well / COLUMNS + 1 : plate->rows;
        plate->columns = well % COLUMNS + 1 > plate->columns ? well % COLUMNS + 1 : plate->columns;
        plate->sum[well] += isfinite(value) ? value : 0;
        plate->n[well] += isfinite(value);
    }
    for (int w = 0; w < WELLS; w++) {
        if (plate->n[w] > 0) {
            plate->low = fmin(plate->low, plate->sum[w] / plate->n[w]);
            plate->high = fmax(plate->high, plate->sum[w] / plate->n[w]);
        }
    }
}

static void put_well(const Page *page, const Plate *plate, int w)
{
    if (plate->first[w] < 0) {
        fputs("<td class=\"well empty\"></td>", page->to);
        return;
    }
    double mean = plate->n[w] > 0 ? plate->sum[w] / plate->n[w] : NAN;
    double share = plate->high > plate->low && isfinite(mean) ? (mean - plate->low) / (plate->high - plate->low) : 0;
    fprintf(page->to, "<td class=\"well\" style=\"--v:%.2f\"><a href=\"#i%d\" title=\"%c%d\">", share, plate->first[w],
            'A' + w / COLUMNS, w % COLUMNS + 1);
    if (isfinite(mean)) {
        fprintf(page->to, "%.3g", mean);
    } else {
        fputs("&ndash;", page->to);
    }
    fputs("</a></td>", page->to);
}

static void put_plate(const Page *page, const Plate *plate)
{
    fputs("<div>", page->to);
    page_put_text(page->to, plate->name);
    fputs("<table class=\"plate\"><tr><th></th>", page->to);
    for (int c = 1; c <= plate->columns; c++) {
        fprintf(page->to, "<th>%d</th>", c);
    }
    fputs("</tr>\n", page->to);
    for (int row = 0; row < plate->rows; row++) {
        fprintf(page->to, "<tr><th>%c</th>", 'A' + row);
        for (int c = 0; c < plate->columns; c++) {
            put_well(page, plate, row * COLUMNS + c);
        }
        fputs("</tr>\n", page->to);
    }
    fputs("</table></div>\n", page->to);
}

/* The names of the plates that have wells. */
static int find_plates(const Report *r, const char **names)
{
    int n = 0;
    for (int i = 0; i < r->n_images; i++) {
        const char *name = plate_of(r, i);
        int k = 0;
        while (k < n && strcmp(names[k], name) != 0) {
            k++;
        }
        if (k == n && n < MOST_PLATES && well_of(r, i) >= 0) {
            names[n++] = name;
        }
    }
    return n;
}

void page_put_plates(const Page *page)
{
    const Report *r = page->report;
    const char *names[MOST_PLATES];
    const int n = find_plates(r, names), measures = r->n_measures < MOST_MEASURES ? r->n_measures : MOST_MEASURES;
    Plate *plate = n > 0 && measures > 0 ? malloc(sizeof *plate) : NULL;
    if (plate == NULL) {
        return;
    }
    fputs("<section><h2>Wells</h2>\n", page->to);
    for (int m = 0; m < measures; m++) {
        fprintf(page->to, "<input type=\"radio\" class=\"m\" name=\"m\" id=\"m%d\"%s> <label for=\"m%d\">", m,
                m == 0 ? " checked" : "", m);
        page_put_text(page->to, r->measures[m].name);
        fprintf(page->to, "</label><style>#m%d:checked ~ .m%d { display: flex; }</style>\n", m, m);
    }
    for (int m = 0; m < measures; m++) {
        fprintf(page->to, "<div class=\"plates scroll m%d\">\n", m);
        for (int k = 0; k < n; k++) {
            plate->name = names[k];
            fill(page, m, plate);
            put_plate(page, plate);
        }
        fputs("</div>\n", page->to);
    }
    fputs("</section>\n", page->to);
    free(plate);
}
