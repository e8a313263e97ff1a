/* replaced: names are compared as tables write them. */
#include "replaced.h"

#include "csv.h"

#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* A name as the first field of a row; NULL: no memory. */
static char *written(const char *name)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    if (to == NULL) {
        return NULL;
    }
    csv_put_text(name, to);
    return fclose(to) == 0 ? text : NULL;
}

/* The length of a row's first field, up to its comma. */
static size_t field_length(const char *row)
{
    size_t n = 0;
    bool quoted = false;
    for (; row[n] != '\0' && row[n] != '\n' && (quoted || row[n] != ','); n++) {
        quoted = quoted != (row[n] == '"');
    }
    return n;
}

static int count_strangers(FILE *from, char **names, int n, char *first, size_t size)
{
    char *row = NULL, last[4096] = "";
    size_t room = 0;
    int strangers = 0;
    bool head = true;
    while (getline(&row, &room, from) > 0) {
        row[field_length(row)] = '\0';
        const char *name = row;
        if (!head && strcmp(name, last) != 0 && bsearch(&name, names, (size_t)n, sizeof *names, by_text) == NULL) {
            if (strangers++ == 0) {
                snprintf(first, size, "%s", name);
            }
        }
        snprintf(last, sizeof last, "%s", name);
        head = false;
    }
    free(row);
    return strangers;
}

int replaced_images(const char *path, const Join *join, char *first, size_t size)
{
    FILE *from = fopen(path, "r");
    char **names = from != NULL ? calloc((size_t)join->n + 1, sizeof *names) : NULL;
    bool ok = names != NULL;
    int strangers = 0;
    for (int i = 0; ok && i < join->n; i++) {
        names[i] = written(join->images[i].name);
        ok = names[i] != NULL;
    }
    if (ok) {
        qsort(names, (size_t)join->n, sizeof *names, by_text);
        strangers = count_strangers(from, names, join->n, first, size);
    }
    for (int i = 0; names != NULL && i < join->n; i++) {
        free(names[i]);
    }
    free(names);
    if (from != NULL) {
        fclose(from);
    }
    return strangers;
}
