/*
 * report_of: the report of a batch (report.h) from what its images have left.  Each column of a table is a measure, as the mean over
 * an image's objects; so are the number of its rows, and whole-image values.
 */
#ifndef RUNTIME_REPORT_OF_H
#define RUNTIME_REPORT_OF_H

#include "../report/report.h"
#include "join.h"

/* Writes join->report and the JSON beside it.  `title`: the pipeline's name; `facts`: what else is known of the run; `earlier`: see
 * report.h. */
bool report_of(const Join *join, const char *title, const ReportFact *facts, int n, const char *earlier, Err *err);

#endif
