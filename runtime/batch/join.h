/*
 * join: the files of a whole batch, made from what each image has left: its own tables, its values, or why it failed.
 * A run makes them for its images, and `merge` for those of all shards (shard.h): the same bytes.
 */
#ifndef RUNTIME_JOIN_H
#define RUNTIME_JOIN_H

#include "columns.h"

#include <stdio.h>

/* Everything is borrowed. */
typedef struct JoinTable {
    char *path;         /* to be written */
    char *summary;      /* the table by groups; NULL: none */
    const char *header; /* of whole-image values: their names, "count,mean"; NULL: a table */
    int output;         /* which of the images' outputs is its part of the table */
    bool zarr;          /* tables are folders of zarr, and have no summary */
} JoinTable;

typedef enum JoinFate { JOIN_LEFT, JOIN_DONE, JOIN_FAILED } JoinFate;

typedef struct JoinImage {
    JoinFate fate;
    const char *name;
    char *const *fields;  /* by column */
    char *const *outputs; /* DONE: paths */
    const char *values;   /* DONE: see sink_values */
    const char *input;    /* the first input's file, for the report */
    const char *outlines; /* DONE: a file of labels or a mask to be drawn on it; NULL: none */
    const char *stage;    /* FAILED: "reading", "computing" or "writing" */
    const char *reason;   /* FAILED */
    int code;             /* FAILED */
    bool transient;       /* FAILED: a retry may do it */
} JoinImage;

typedef struct Join {
    const Columns *columns;
    const int *by; /* the columns of summaries */
    int n_by;
    JoinTable *tables;
    int n_tables;
    JoinImage *images; /* in order */
    int n;
    char *failed; /* the table of failures; NULL: not wanted, and each failure fails the run */
    char *report; /* the page of a report, "report.html", beside which is its JSON; NULL: not wanted */
    const char *source, *version, *parameters; /* of the pipeline, for the report */
} Join;

/* Tables, values and their summaries; those without an image are not written. */
bool join_tables(const Join *join, Err *err);
/* The table of failures, where it is wanted. */
bool join_failures(const Join *join, Err *err);
/* Writes "2 of 10 images failed:" and a line for each; nothing when there is none. */
void join_report(const Join *join, FILE *to);
int join_count(const Join *join, JoinFate fate);
/* The exit code when the run itself went well. */
int join_code(const Join *join);

#endif
