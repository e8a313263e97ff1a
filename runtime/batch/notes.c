/*
 * notes: a list of kinds; of the names that are not shown only hashes are kept, so that a name that
 * comes again counts once.
 */
#include "notes.h"

#include "../../base/str.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 3, TEXT_BYTES = 600 };

typedef struct Kind {
    struct Kind *next;
    char *text, *shown[SHOWN];
    int n_shown;
    uint64_t *more; /* hashes of further names */
    size_t n_more, cap;
} Kind;

struct Notes {
    Progress *progress;
    pthread_mutex_t lock;
    Kind *first, **last;
};

Notes *notes_new(Progress *progress)
{
    Notes *notes = progress != NULL ? calloc(1, sizeof *notes) : NULL;
    if (notes != NULL) {
        notes->progress = progress;
        notes->last = &notes->first;
        pthread_mutex_init(&notes->lock, NULL);
    }
    return notes;
}

/* The kind, added if it is new; NULL when out of memory. */
static Kind *find_kind(Notes *notes, const char *text)
{
    for (Kind *kind = notes->first; kind != NULL; kind = kind->next) {
        if (strcmp(kind->text, text) == 0) {
            return kind;
        }
    }
    Kind *kind = calloc(1, sizeof *kind);
    char *copy = strdup(text);
    if (kind == NULL || copy == NULL) {
        free(kind);
        free(copy);
        return NULL;
    }
    kind->text = copy;
    *notes->last = kind;
    notes->last = &kind->next;
    return kind;
}

static bool is_shown(const Kind *kind, const char *name)
{
    for (int i = 0; i < kind->n_shown; i++) {
        if (strcmp(kind->shown[i], name) == 0) {
            return true;
        }
    }
    return false;
}

/* Counts a name that is not shown; without memory for it, it is not. */
static void count_name(Kind *kind, const char *name)
{
    if (kind->n_more == kind->cap) {
        size_t cap = kind->cap == 0 ? 64 : 2 * kind->cap;
        uint64_t *more = realloc(kind->more, cap * sizeof *more);
        if (more == NULL) {
            return;
        }
        kind->more = more;
        kind->cap = cap;
    }
    kind->more[kind->n_more++] = str_hash(STR_HASH, name);
}

/* True when this name is the next one to be shown. */
static bool is_to_show(Notes *notes, const char *text, const char *name)
{
    Kind *kind = find_kind(notes, text);
    if (kind == NULL || is_shown(kind, name)) {
        return false;
    }
    if (kind->n_shown == SHOWN) {
        count_name(kind, name);
        return false;
    }
    kind->shown[kind->n_shown] = strdup(name);
    return kind->shown[kind->n_shown] != NULL && ++kind->n_shown > 0;
}

void notes_add(Notes *notes, const char *kind, const char *name, const char *format, ...)
{
    if (notes == NULL) {
        return;
    }
    pthread_mutex_lock(&notes->lock);
    if (is_to_show(notes, kind, name)) {
        char text[TEXT_BYTES];
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(text, sizeof text, format, arguments);
        va_end(arguments);
        progress_note(notes->progress, "%s: %s", name, text);
    }
    pthread_mutex_unlock(&notes->lock);
}

static int by_size(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static size_t count_different(Kind *kind)
{
    size_t n = 0;
    if (kind->n_more > 0) {
        qsort(kind->more, kind->n_more, sizeof *kind->more, by_size);
    }
    for (size_t i = 0; i < kind->n_more; i++) {
        n += i == 0 || kind->more[i] != kind->more[i - 1];
    }
    return n;
}

void notes_end(Notes *notes)
{
    for (Kind *kind = notes != NULL ? notes->first : NULL; kind != NULL;) {
        Kind *done = kind;
        size_t n = count_different(kind);
        if (n > 0) {
            progress_note(notes->progress, "and %zu more image%s: %s", n, n == 1 ? "" : "s", kind->text);
        }
        for (int i = 0; i < kind->n_shown; i++) {
            free(kind->shown[i]);
        }
        kind = kind->next;
        free(done->text);
        free(done->more);
        free(done);
    }
    if (notes != NULL) {
        pthread_mutex_destroy(&notes->lock);
        free(notes);
    }
}
