/* page: the HTML of a report. */
#ifndef REPORT_PAGE_H
#define REPORT_PAGE_H

#include "comparison.h"
#include "picture.h"
#include "report.h"
#include "statistics.h"

#include <stdio.h>

typedef struct Page {
    const Report *report;
    const Picture *pictures;      /* by image */
    const Usual *usual;           /* by measure, of images */
    const Comparison *comparison; /* NULL: none */
    FILE *to;
} Page;

void page_put(const Page *page);

/* Text with < & and quotes as HTML writes them. */
void page_put_text(FILE *to, const char *text);
/* A number as people read it, "" for NaN. */
void page_put_number(FILE *to, double number);
/* The map of each plate, where wells are known; nothing otherwise. */
void page_put_plates(const Page *page);
/* A histogram for each measure of objects. */
void page_put_histograms(const Page *page);

#endif
