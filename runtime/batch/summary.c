/* summary: the numbers of each group and column side by side, sorted when they are written: a sum of sorted numbers does
 * not depend on the order in which they came. */
#include "summary.h"

#include "../../base/file.h"
#include "../host/decimal.h"
#include "../host/sorted.h"
#include "csv.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

typedef struct Numbers {
    double *at;
    size_t n, room;
} Numbers;

typedef struct Group {
    char **key;       /* by column of `by` */
    Numbers *numbers; /* by column of the table */
    int64_t rows;
} Group;

struct Summary {
    const char *const *by;
    int n_by;
    char **columns;
    int n_columns;
    Group *groups;
    size_t n_groups, room, last; /* last: the group of the row before */
};

/* Numbers that are names. */
static const char *const NAMES[] = {"label", "pair", "neighbour"};

static bool no_memory(Err *err)
{
    return err_set(err, CODE_MEMORY, "out of memory for the summary of a table");
}

Summary *summary_new(const char *const *by, int n)
{
    Summary *s = calloc(1, sizeof *s);
    if (s != NULL) {
        s->by = by;
        s->n_by = n;
    }
    return s;
}

static void free_texts(char **texts, int n)
{
    for (int i = 0; texts != NULL && i < n; i++) {
        free(texts[i]);
    }
    free(texts);
}

void summary_free(Summary *s)
{
    if (s == NULL) {
        return;
    }
    for (size_t g = 0; g < s->n_groups; g++) {
        free_texts(s->groups[g].key, s->n_by);
        for (int i = 0; s->groups[g].numbers != NULL && i < s->n_columns; i++) {
            free(s->groups[g].numbers[i].at);
        }
        free(s->groups[g].numbers);
    }
    free(s->groups);
    free_texts(s->columns, s->n_columns);
    free(s);
}

bool summary_columns(Summary *s, const char *names, size_t n, Err *err)
{
    int columns = 1;
    for (size_t i = 0; i < n; i++) {
        columns += names[i] == ',';
    }
    s->columns = calloc((size_t)columns, sizeof *s->columns);
    if (s->columns == NULL) {
        return no_memory(err);
    }
    for (const char *end = names + n; s->n_columns < columns; names++) {
        size_t length = strcspn(names, ",\n");
        length = names + length > end ? (size_t)(end - names) : length;
        s->columns[s->n_columns++] = strndup(names, length);
        if (s->columns[s->n_columns - 1] == NULL) {
            return no_memory(err);
        }
        names += length;
    }
    return true;
}

static bool same_key(const Summary *s, const Group *group, const char *const *key)
{
    bool same = true;
    for (int i = 0; i < s->n_by && same; i++) {
        same = strcmp(group->key[i], key[i]) == 0;
    }
    return same;
}

static bool add_group(Summary *s, const char *const *key, Err *err)
{
    if (s->n_groups == s->room) {
        size_t room = 2 * s->room + 16;
        Group *groups = realloc(s->groups, room * sizeof *groups);
        if (groups == NULL) {
            return no_memory(err);
        }
        s->groups = groups;
        s->room = room;
    }
    Group *g = &s->groups[s->n_groups++];
    *g = (Group){.key = calloc((size_t)s->n_by + 1, sizeof *g->key),
                 .numbers = calloc((size_t)s->n_columns + 1, sizeof *g->numbers)};
    bool ok = g->key != NULL && g->numbers != NULL;
    for (int i = 0; i < s->n_by && ok; i++) {
        g->key[i] = strdup(key[i]);
        ok = g->key[i] != NULL;
    }
    return ok || no_memory(err);
}

/* Rows of one image come one behind the other. */
static bool find_group(Summary *s, const char *const *key, Group **group, Err *err)
{
    bool same = s->n_groups > 0 && same_key(s, &s->groups[s->last], key);
    for (size_t g = 0; g < s->n_groups && !same; g++) {
        same = same_key(s, &s->groups[g], key);
        s->last = g;
    }
    if (!same) {
        TRY(add_group(s, key, err));
        s->last = s->n_groups - 1;
    }
    *group = &s->groups[s->last];
    return true;
}

static bool add_number(Numbers *numbers, double value, Err *err)
{
    if (numbers->n == numbers->room) {
        size_t room = 2 * numbers->room + 64;
        double *at = realloc(numbers->at, room * sizeof *at);
        if (at == NULL) {
            return no_memory(err);
        }
        numbers->at = at;
        numbers->room = room;
    }
    numbers->at[numbers->n++] = value;
    return true;
}

bool summary_row(Summary *s, const char *const *key, const char *numbers, size_t n, Err *err)
{
    Group *group;
    const char *end = numbers + n;
    TRY(find_group(s, key, &group, err));
    group->rows++;
    for (int i = 0; i < s->n_columns && numbers <= end; i++) {
        char *behind;
        double value = numbers < end && *numbers != ',' ? strtod(numbers, &behind) : (double)NAN;
        TRY(isnan(value) || add_number(&group->numbers[i], value, err));
        numbers += strcspn(numbers, ",\n") + 1;
    }
    return true;
}

/* ---- writing --------------------------------------------------------------------------- */

static void put_number(FILE *to, double value)
{
    char text[DECIMAL_BYTES];
    decimal_shortest(value, text);
    fprintf(to, ",%s", isnan(value) ? "" : text);
}

static void put_numbers(FILE *to, Numbers *numbers)
{
    double sum = 0, middle = (double)NAN, n = (double)numbers->n;
    if (numbers->n > 0) {
        sorted_numbers(numbers->at, numbers->n);
        middle = sorted_median(numbers->at, numbers->n);
    }
    for (size_t i = 0; i < numbers->n; i++) {
        sum += numbers->at[i];
    }
    put_number(to, sum / n);
    put_number(to, middle);
}

static bool is_number(const char *column)
{
    bool names = false;
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        names = names || strcmp(column, NAMES[i]) == 0;
    }
    return !names;
}

static void put_all(Summary *s, FILE *to)
{
    for (int i = 0; i < s->n_by; i++) {
        fprintf(to, "%s,", s->by[i]);
    }
    fputs("count", to);
    for (int i = 0; i < s->n_columns; i++) {
        if (is_number(s->columns[i])) {
            fprintf(to, ",%s_mean,%s_median", s->columns[i], s->columns[i]);
        }
    }
    putc('\n', to);
    for (size_t g = 0; g < s->n_groups; g++) {
        for (int i = 0; i < s->n_by; i++) {
            csv_put_text(s->groups[g].key[i], to);
            putc(',', to);
        }
        fprintf(to, "%lld", (long long)s->groups[g].rows);
        for (int i = 0; i < s->n_columns; i++) {
            if (is_number(s->columns[i])) {
                put_numbers(to, &s->groups[g].numbers[i]);
            }
        }
        putc('\n', to);
    }
}

bool summary_write(Summary *s, const char *path, Err *err)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    if (to == NULL) {
        return no_memory(err);
    }
    put_all(s, to);
    bool ok = fclose(to) == 0 || no_memory(err);
    ok = ok && file_write(path, text, size, err);
    free(text);
    return ok;
}
