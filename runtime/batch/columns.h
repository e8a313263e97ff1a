/*
 * columns: columns of the tables of all images that their names tell.
 *
 * '{well}_{field}' takes A01_2.tif apart into well A01 and field 2.  Each field takes as little as the text behind it
 * allows, the last one all that is left.  With slashes the folders in front of the name belong to it, as many as the
 * template has.
 */
#ifndef RUNTIME_COLUMNS_H
#define RUNTIME_COLUMNS_H

#include "../../base/err.h"

#include <stddef.h>

enum { COLUMNS_MOST = 16 };

typedef struct Columns {
    const char *text; /* the template, borrowed; NULL: no columns */
    char *names[COLUMNS_MOST];
    int n;
} Columns;

/* Reads a template; NULL gives no columns.  CODE_USAGE.  columns_free also after a failure. */
bool columns_parse(const char *text, Columns *out, Err *err);
void columns_free(Columns *columns);
/* What an image's path says: values[0 .. n - 1], each owned by the caller (free), also after a failure.  CODE_USAGE where
 * it does not fit the template. */
bool columns_match(const Columns *columns, const char *path, char **values, Err *err);
/* The column called so (so many bytes of a name), or -1. */
int columns_find(const Columns *columns, const char *name, size_t n);

#endif
