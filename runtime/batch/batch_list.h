/*
 * batch_list: what a run has to do, settled before any work: the images, the files that each makes,
 * the files that go with it, the tables of the whole batch.  Names that clash, files that are
 * missing and templates that make no sense are found here.
 */
#ifndef RUNTIME_BATCH_LIST_H
#define RUNTIME_BATCH_LIST_H

#include "../command/options.h"
#include "columns.h"
#include "journal.h"

typedef struct BatchItem {
    char **inputs;  /* by input of the program: path; at least one, the pipeline's name if it has
                       no input */
    char **outputs; /* by output: path; NULL for whole-image values */
    char *name;     /* in messages and tables: the file's name, or its path where names repeat */
    long index;     /* among all images of the command line */
    char **fields;  /* by column of the list */
} BatchItem;

/* Files of all images together; of a shard's images, "table.shard-2-of-8.csv", where there are shards. */
typedef struct BatchFiles {
    char **merged;    /* by output: the table of all images; NULL for others */
    char *values;     /* the table of whole-image values; NULL when there are none */
    char **summaries; /* by output: the table by the columns `by`, NULL for others; the last one is that of values */
    char *journal;
    char *failed; /* the table of images that failed; NULL: not wanted */
    char *report; /* the page of the report; NULL: not wanted */
} BatchFiles;

typedef struct BatchList {
    const Program *program;
    char template[4096]; /* of output names */
    char folder[4096];   /* of the tables of the whole batch: "" or with a final slash */
    BatchItem *items;    /* of this shard */
    int n;
    int n_all;        /* images of all shards */
    BatchFiles files; /* of this shard */
    BatchFiles whole; /* of all shards, which `merge` makes; empty where there are none */
    char *shard;      /* what this shard leaves for `merge` (shard.h); NULL where there are none */
    Columns columns;  /* that the names of images tell */
    int by[COLUMNS_MOST], n_by;
} BatchList;

/* Owned by the caller (batch_list_free, also after a failure).  Errors have CODE_USAGE. */
bool batch_list(const Program *program, const Options *options, BatchList *out, Err *err);
void batch_list_free(BatchList *list);

/* An image as the journal knows it; everything is borrowed. */
JournalImage batch_item_files(const Program *program, const BatchItem *item);

/* The journal's key: all that decides the results but the images.  `parameters`: their text (options_params_text). */
void batch_list_key(const BatchList *list, const Options *options, const char *parameters, char key[DIGEST_TEXT]);

#endif
