/*
 * report: what a batch came to, as one page of HTML that needs nothing else, and the same numbers as JSON beside it.
 *
 * Failures come first, then what is unusual, a map of the plate, a histogram for each measure, and a table of all
 * images with small pictures.  Everything can be read without scripts; one sorts the table.
 */
#ifndef RUNTIME_REPORT_H
#define RUNTIME_REPORT_H

#include "../../base/err.h"
#include "../host/crew.h"

#include <stddef.h>

/* A line of the part on the run itself: "device", "NVIDIA H100". */
typedef struct ReportFact {
    const char *what, *text;
} ReportFact;

/* A number of each image: the mean of a table's column over the image's objects, how many there are, or a value. */
typedef struct ReportMeasure {
    const char *name;
    double *objects; /* of all images, those of the image i from first[i] to first[i + 1]; NULL: there are none */
    size_t *first;
    double *of_image; /* NaN: none */
} ReportMeasure;

typedef struct ReportImage {
    const char *name;
    char *const *fields;  /* by column */
    const char *input;    /* the file, for the picture; NULL: no picture */
    const char *outlines; /* a file of labels or a mask, drawn on it; NULL: none */
    const char *stage;    /* "reading", "computing" or "writing" where it failed, else NULL */
    const char *reason;   /* where it failed */
} ReportImage;

/* Everything is borrowed. */
typedef struct Report {
    const char *title, *source; /* the pipeline's name and text */
    const ReportFact *facts;
    int n_facts;
    const char *const *columns; /* that the images' names tell */
    int n_columns;
    const ReportImage *images; /* without those that were not begun */
    int n_images;
    ReportMeasure *measures;
    int n_measures;
    const char *earlier; /* path of an earlier report's JSON to compare with; NULL: none */
} Report;

/* Writes `path` and, with another ending, the JSON.  Pictures that cannot be made are left out; CODE_OUTPUT, CODE_MEMORY,
 * CODE_USAGE for an earlier report that is none. */
bool report_write(const Report *report, const char *path, const char *json, Crew *crew, Err *err);

#endif
