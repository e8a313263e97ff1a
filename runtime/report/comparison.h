/* comparison: how a report differs from an earlier one, which its JSON tells. */
#ifndef REPORT_COMPARISON_H
#define REPORT_COMPARISON_H

#include "report.h"

typedef struct Comparison {
    int same, changed, only_here, only_before; /* images */
    int failed_before;                         /* that are done now */
    int fails_now;                             /* that were done before */
    double *before;                            /* by measure: the mean over the images of both; NaN: unknown */
    double *now;
    int *images; /* of this report, the most changed first */
    int n_images;
} Comparison;

/* CODE_USAGE where the file is no report's JSON.  comparison_free also after a failure. */
bool comparison_make(const Report *report, Comparison *out, Err *err);
void comparison_free(Comparison *comparison);

#endif
