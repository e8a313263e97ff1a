/*
 * diag: what is wrong with a .pipe file, said well.
 *
 * Every kind of mistake is one row of diag.def: a stable code, a severity, a format for the
 * message and the page that `pipec help CODE` prints.  Diagnostics are collected, sorted by
 * place, and rendered with the source line and carets, or as JSON.
 */
#ifndef FRONTEND_DIAG_H
#define FRONTEND_DIAG_H

#include "../../base/span.h"
#include "../../base/str.h"

#include <stdbool.h>

typedef enum DiagId {
#define D(NAME, code, severity, format, page) DIAG_##NAME,
#include "diag.def"
#undef D
    DIAG_COUNT
} DiagId;

typedef struct Diag Diag;

enum {
    DIAG_BUCKETS = 256,
    DIAG_ENOUGH = 100, /* errors, after which nothing more is checked: each is compared with all names there are */
    DIAG_MOST = 10000  /* errors, and warnings; what comes after them is dropped */
};

typedef struct Diags {
    Arena *arena;
    Diag *first, *last;
    int errors, warnings;
    int said;                    /* diagnostics so far, those that were dropped among them */
    Diag *buckets[DIAG_BUCKETS]; /* by place, to find duplicates */
} Diags;

void diags_init(Diags *diags, Arena *arena);
/* Takes back what was said since `before`, a copy of *diags.  What was dropped since then stays dropped. */
void diags_rewind(Diags *diags, const Diags *before);

/* Whether something with this code was said within a span. */
bool diags_has(const Diags *diags, DiagId id, Span within);
/* Takes that back: what else is said of the span says it, too. */
void diags_drop(Diags *diags, DiagId id, Span within);

/* Adds a diagnostic: the row's format takes the arguments.  Returns it for the calls below.
 * A second one of the same kind at the same place is dropped. */
Diag *diag_add(Diags *diags, DiagId id, Span span, ...);
/* A label under the main span instead of nothing: "expected a mask". */
void diag_label(Diags *diags, Diag *diag, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Another place that matters: "blurred is an image". */
void diag_note(Diags *diags, Diag *diag, Span span, const char *format, ...) __attribute__((format(printf, 4, 5)));
/* What to do: "= help: ..." */
void diag_help(Diags *diags, Diag *diag, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* For those who look at single ones: the next in the order of arrival, and its parts. */
const Diag *diag_next(const Diag *diag);
const char *diag_code(const Diag *diag);
Span diag_span(const Diag *diag);

/* Renders all, sorted by place, at most `limit` (0 = all), with colours or without. */
void diags_render(const Diags *diags, Str *out, bool colour, int limit);
/* One JSON array: code, severity, file, line, column, endLine, endColumn, message, help, notes. */
void diags_render_json(const Diags *diags, Str *out);
/* The page of a code ("P0207" or "p207"), or NULL. */
const char *diag_page(const char *code);
/* Its first line: the code and the message, with dots for the words of the program. */
void diag_title(const char *code, Str *out);

/* The candidate nearest to `name` (edit distance at most a third of its length), or NULL. */
const char *fe_nearest(const char *name, const char *const *candidates, int n);
const char *fe_nearest_within(const char *name, const char *const *candidates, int n, int distance);
/* The same of few candidates, of which `name` may be a beginning: desc of ascending and descending. */
const char *fe_nearest_part(const char *name, const char *const *candidates, int n);

#endif
