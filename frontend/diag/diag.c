/*
 * diag: collects what is wrong and shows it beside the user's own words.
 *
 * Everything that ends up on a terminal passes through utf8_add_clean: control characters and bytes
 * that are not UTF-8 become U+FFFD, so a hostile file cannot steer the terminal.  Columns count code points.  The layout follows what rustc made familiar.
 */
#include "diag.h"

#include "../../base/json.h"
#include "../../base/utf8.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

typedef enum Severity { SEVERITY_ERROR, SEVERITY_WARNING } Severity;

typedef struct Row {
    const char *code;
    Severity severity;
    const char *format;
    const char *page;
} Row;

static const Row rows[] = {
#define D(NAME, code, severity, format, page) {code, SEVERITY_##severity, format, page},
#include "diag.def"
#undef D
};

static const char *const severity_names[] = {"error", "warning"};
static const char *const severity_colours[] = {"\033[1;31m", "\033[1;33m"};
#define BOLD "\033[1m"
#define BLUE "\033[1;34m"
#define CYAN "\033[1;36m"
#define PLAIN "\033[0m"

enum {
    TAB = 4,         /* columns that a tab advances to a multiple of */
    WIDTH = 140,     /* longer lines are cropped around the caret */
    MARGIN = 50,     /* columns kept before the caret of a cropped line */
    SHOWN_NOTES = 16 /* notes of one diagnostic that are shown */
};

typedef struct Note {
    Span span;
    const char *text;
    struct Note *next;
} Note;

struct Diag {
    DiagId id;
    Span span;
    const char *message;
    const char *label;
    Note *notes, *last_note;
    Note *helps, *last_help;
    Diag *next; /* in the order of arrival */
    Diag *same; /* in the same bucket */
    int number; /* of all that were said */
};

/* ---- collecting ---- */

void diags_init(Diags *diags, Arena *arena)
{
    memset(diags, 0, sizeof *diags);
    diags->arena = arena;
}

void diags_rewind(Diags *diags, const Diags *before)
{
    Diag *diag = diags->first; /* of the list as it is now: `before` may hold some that were dropped */
    diags_init(diags, before->arena);
    diags->said = before->said;
    for (Diag *next; diag != NULL && diag->number < before->said; diag = next) {
        next = diag->next;
        diag->next = NULL;
        *(diags->last != NULL ? &diags->last->next : &diags->first) = diag;
        diags->last = diag;
        Diag **bucket = &diags->buckets[(unsigned)diag->span.begin % DIAG_BUCKETS];
        diag->same = *bucket;
        *bucket = diag;
        ++*(rows[diag->id].severity == SEVERITY_ERROR ? &diags->errors : &diags->warnings);
    }
}

static bool is_within(const Diag *diag, DiagId id, Span span)
{
    return diag->id == id && diag->span.source == span.source && diag->span.begin >= span.begin &&
           diag->span.end <= span.end;
}

bool diags_has(const Diags *diags, DiagId id, Span within)
{
    const Diag *diag = diags->first;
    while (diag != NULL && !is_within(diag, id, within)) {
        diag = diag->next;
    }
    return diag != NULL;
}

void diags_drop(Diags *diags, DiagId id, Span within)
{
    diags->last = NULL;
    for (Diag **at = &diags->first; *at != NULL;) {
        Diag *diag = *at;
        if (!is_within(diag, id, within)) {
            diags->last = diag;
            at = &diag->next;
            continue;
        }
        Diag **same = &diags->buckets[(unsigned)diag->span.begin % DIAG_BUCKETS];
        while (*same != diag) {
            same = &(*same)->same;
        }
        *same = diag->same;
        *at = diag->next;
        --*(rows[id].severity == SEVERITY_ERROR ? &diags->errors : &diags->warnings);
    }
}

/* Did the scanner make something else of this word than what was meant? */
static bool is_misread(DiagId id)
{
    return id >= DIAG_UNKNOWN_CHARACTER && id <= DIAG_FOREIGN_SPELLING;
}

Diag *diag_add(Diags *diags, DiagId id, Span span, ...)
{
    Diag *diag = arena_new(diags->arena, Diag);
    diag->id = id;
    diag->span = span;
    diag->number = diags->said++;
    Diag **bucket = &diags->buckets[(unsigned)span.begin % DIAG_BUCKETS];
    int *count = rows[id].severity == SEVERITY_ERROR ? &diags->errors : &diags->warnings;
    if (*count == DIAG_MOST) {
        return diag;
    }
    for (const Diag *old = *bucket; old != NULL; old = old->same) {
        bool follows = old->id == id || is_misread(old->id); /* from what was said here before */
        if (follows && old->span.source == span.source && old->span.begin == span.begin) {
            return diag; /* labels given to it are shown nowhere */
        }
    }
    va_list ap;
    va_start(ap, span);
    diag->message = arena_vprintf(diags->arena, rows[id].format, ap);
    va_end(ap);
    diag->same = *bucket;
    *bucket = diag;
    if (diags->last == NULL) {
        diags->first = diag;
    } else {
        diags->last->next = diag;
    }
    diags->last = diag;
    ++*count;
    return diag;
}

void diag_label(Diags *diags, Diag *diag, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    diag->label = arena_vprintf(diags->arena, format, ap);
    va_end(ap);
}

static void append(Arena *arena, Note **first, Note **last, Span span, const char *text)
{
    Note *note = arena_new(arena, Note);
    note->span = span;
    note->text = text;
    if (*last == NULL) {
        *first = note;
    } else {
        (*last)->next = note;
    }
    *last = note;
}

void diag_note(Diags *diags, Diag *diag, Span span, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    append(diags->arena, &diag->notes, &diag->last_note, span, arena_vprintf(diags->arena, format, ap));
    va_end(ap);
}

void diag_help(Diags *diags, Diag *diag, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    append(diags->arena, &diag->helps, &diag->last_help, (Span){0}, arena_vprintf(diags->arena, format, ap));
    va_end(ap);
}

const Diag *diag_next(const Diag *diag)
{
    return diag->next;
}

const char *diag_code(const Diag *diag)
{
    return rows[diag->id].code;
}

Span diag_span(const Diag *diag)
{
    return diag->span;
}

/* ---- sorting ---- */

typedef struct Entry {
    const Diag *diag;
    int source; /* rank of the file; those without a place come last */
    int order;  /* of arrival, so that sorting is stable */
} Entry;

static int compare_entries(const void *a, const void *b)
{
    const Entry *x = a, *y = b;
    if (x->source != y->source) {
        return x->source < y->source ? -1 : 1;
    }
    if (x->diag->span.begin != y->diag->span.begin) {
        return x->diag->span.begin < y->diag->span.begin ? -1 : 1;
    }
    return x->order < y->order ? -1 : x->order > y->order;
}

/* All diagnostics: by file in the order in which the files came up, then by place. */
static Entry *sorted(const Diags *diags, int *n)
{
    Vec(const Source *) sources = {0};
    *n = diags->errors + diags->warnings;
    Entry *entries = arena_array(diags->arena, Entry, *n + 1);
    int at = 0;
    for (const Diag *diag = diags->first; diag != NULL; diag = diag->next, at++) {
        int rank = 0;
        while (rank < sources.n && sources.at[rank] != diag->span.source) {
            rank++;
        }
        if (rank == sources.n) {
            vec_push(diags->arena, &sources, diag->span.source);
        }
        entries[at] = (Entry){diag, diag->span.source == NULL ? 1 << 30 : rank, at};
    }
    qsort(entries, (size_t)*n, sizeof *entries, compare_entries);
    return entries;
}

/* ---- text ---- */

static char *clean(Arena *arena, const char *text)
{
    Str s;
    str_init(&s, arena);
    utf8_add_clean(&s, text, (int)strlen(text));
    return s.at;
}

/* ---- lines ---- */

typedef struct Display { /* one line as it is shown */
    const Source *source;
    int line;
    Str text;
    int bytes;   /* of the line in the file */
    int *column; /* of each byte: 0-based, also of the end */
    int *offset; /* into text, of each column, also of the end */
    int width;
} Display;

typedef struct Place { /* a column that is known already */
    const Source *source;
    int line, offset, column;
} Place;

typedef struct Render {
    Arena *arena;
    Str *out;
    bool colour;
    Display display;
    Place place;
    int gutter;
} Render;

static int line_size(const Source *source, int line)
{
    const char *text = source->text + source->lines.at[line];
    return (int)strcspn(text, "\r\n");
}

static void add_column(Display *d, const char *text, int n)
{
    d->offset[d->width++] = (int)d->text.n;
    utf8_add_clean(&d->text, text, n);
}

/* Lays a line out: tabs become spaces, what cannot be shown becomes U+FFFD. */
static const Display *display_line(Render *r, const Source *source, int line)
{
    Display *d = &r->display;
    if (d->source == source && d->line == line) {
        return d;
    }
    const char *text = source->text + source->lines.at[line];
    d->source = source;
    d->line = line;
    d->bytes = line_size(source, line);
    d->width = 0;
    d->column = arena_array(r->arena, int, d->bytes + 1);
    d->offset = arena_array(r->arena, int, TAB * d->bytes + 1);
    str_init(&d->text, r->arena);
    for (int i = 0; i < d->bytes;) {
        int size = utf8_size(text + i, d->bytes - i);
        size = size == 0 ? 1 : size;
        for (int k = 0; k < size; k++) {
            d->column[i + k] = d->width;
        }
        if (text[i] == '\t') {
            do {
                add_column(d, " ", 1);
            } while (d->width % TAB != 0);
        } else if (i > 0 || source->lines.at[line] > 0 || strncmp(text, "\xEF\xBB\xBF", 3) != 0) {
            add_column(d, text + i, size); /* all but the byte order mark */
        }
        i += size;
    }
    d->column[d->bytes] = d->width;
    d->offset[d->width] = (int)d->text.n;
    return d;
}

/* ---- excerpts ---- */

typedef struct Mark { /* a place that is underlined */
    Span span;
    const char *text;
    bool main;
    int line;
} Mark;

static void paint(Render *r, const char *colour)
{
    if (r->colour) {
        str_add(r->out, colour);
    }
}

/* " 12 | " or, with line < 0, the same without a number. */
static void add_gutter(Render *r, int line)
{
    paint(r, BLUE);
    if (line < 0) {
        str_addf(r->out, "%*s |", r->gutter, "");
    } else {
        str_addf(r->out, "%*d |", r->gutter, line + 1);
    }
    paint(r, PLAIN);
}

static void add_repeated(Str *out, const char *text, int n)
{
    for (int i = 0; i < n; i++) {
        str_add(out, text);
    }
}

typedef struct Window { /* the columns of a line that are shown */
    int from, to;
    bool cut_before, cut_after;
} Window;

static Window window_of(const Display *d, int column)
{
    Window w = {0, d->width, false, false};
    if (d->width > WIDTH) {
        w.from = column > MARGIN ? column - MARGIN : 0;
        w.to = w.from + WIDTH < d->width ? w.from + WIDTH : d->width;
        w.cut_before = w.from > 0;
        w.cut_after = w.to < d->width;
    }
    return w;
}

static int column_of(const Source *source, const Display *d, int offset)
{
    int byte = offset - source->lines.at[d->line];
    return d->column[byte < 0 ? 0 : byte > d->bytes ? d->bytes : byte];
}

static void add_source_line(Render *r, const Display *d, Window w)
{
    add_gutter(r, d->line);
    if (d->width > 0) {
        str_add(r->out, w.cut_before ? " ..." : " ");
        str_addn(r->out, d->text.at + d->offset[w.from], (size_t)(d->offset[w.to] - d->offset[w.from]));
        str_add(r->out, w.cut_after ? "..." : "");
    }
    str_add(r->out, "\n");
}

/* The row of carets under a line, with what is to say about them. */
static void add_carets(Render *r, const Source *source, const Display *d, Window w, const Mark *mark,
                       const char *colour)
{
    int from = column_of(source, d, mark->span.begin);
    int to = column_of(source, d, mark->span.end);
    from = from < w.from ? w.from : from > w.to ? w.to : from;
    to = to > w.to ? w.to : to;
    to = to <= from ? from + 1 : to;
    add_gutter(r, -1);
    add_repeated(r->out, " ", 1 + (w.cut_before ? 3 : 0) + from - w.from);
    paint(r, mark->main ? colour : BLUE);
    add_repeated(r->out, mark->main ? "^" : "-", to - from);
    if (mark->text != NULL && mark->text[0] != '\0') {
        str_addf(r->out, " %s", clean(r->arena, mark->text));
    }
    paint(r, PLAIN);
    str_add(r->out, "\n");
}

static int compare_marks(const void *a, const void *b)
{
    const Mark *x = a, *y = b;
    if (x->line != y->line) {
        return x->line < y->line ? -1 : 1;
    }
    if (x->main != y->main) {
        return x->main ? -1 : 1;
    }
    return x->span.begin < y->span.begin ? -1 : x->span.begin > y->span.begin;
}

/* The marked lines of one file, in their order; more than one line left out shows as "...". */
static void add_excerpt(Render *r, const Source *source, Mark *marks, int n, const char *colour)
{
    for (int i = 0; i < n; i++) {
        marks[i].line = source_line_of(source, marks[i].span.begin) - 1;
    }
    qsort(marks, (size_t)n, sizeof *marks, compare_marks);
    Window w = {0};
    for (int i = 0; i < n; i++) {
        const Display *d = display_line(r, source, marks[i].line);
        if (i == 0 || marks[i].line != marks[i - 1].line) {
            if (i > 0 && marks[i].line > marks[i - 1].line + 2) {
                str_add(r->out, "...\n");
            }
            w = window_of(d, column_of(source, d, marks[i].span.begin));
            add_source_line(r, d, w);
        }
        add_carets(r, source, d, w, &marks[i], colour);
    }
}

/* 1-based column in code points; goes on from the last one asked for where that is possible. */
static int code_point_column(Render *r, const Source *source, int line, int offset)
{
    Place *p = &r->place;
    if (p->source != source || p->line != line || p->offset > offset) {
        *p = (Place){source, line, source->lines.at[line], 1};
    }
    while (p->offset < offset) {
        int size = utf8_size(source->text + p->offset, source->size - p->offset);
        size = size == 0 ? 1 : size;
        if (p->offset + size > offset) {
            break;
        }
        p->offset += size;
        p->column++;
    }
    return p->column;
}

static void add_place(Render *r, const char *arrow, Span span)
{
    const Source *source = span.source;
    int line = source_line_of(source, span.begin) - 1;
    paint(r, BLUE);
    str_addf(r->out, "%*s%s ", r->gutter, "", arrow);
    paint(r, PLAIN);
    const char *path = span.source->path;
    str_addf(r->out, "%s:%d:%d\n", path == NULL ? "input" : clean(r->arena, path), line + 1,
             code_point_column(r, source, line, span.begin));
    add_gutter(r, -1);
    str_add(r->out, "\n");
}

static int digits(int n)
{
    int count = 1;
    while (n >= 10) {
        n /= 10;
        count++;
    }
    return count;
}

static int gutter_of(const Diag *diag)
{
    int last = source_line_of(diag->span.source, diag->span.begin);
    for (const Note *note = diag->notes; note != NULL; note = note->next) {
        int line = note->span.source != NULL ? source_line_of(note->span.source, note->span.begin) : 0;
        last = line > last ? line : last;
    }
    return digits(last) > 2 ? digits(last) : 2;
}

/* The main place and the notes in its file, then a part for each note in another file. */
static void add_excerpts(Render *r, const Diag *diag, const char *colour)
{
    Mark marks[SHOWN_NOTES + 1];
    int n = 0;
    marks[n++] = (Mark){diag->span, diag->label, true, 0};
    for (const Note *note = diag->notes; note != NULL && n <= SHOWN_NOTES; note = note->next) {
        if (note->span.source == diag->span.source) {
            marks[n++] = (Mark){note->span, note->text, false, 0};
        }
    }
    add_place(r, "-->", diag->span);
    add_excerpt(r, diag->span.source, marks, n, colour);
    for (const Note *note = diag->notes; note != NULL; note = note->next) {
        if (note->span.source != NULL && note->span.source != diag->span.source) {
            Mark mark = {note->span, note->text, false, 0};
            add_place(r, ":::", note->span);
            add_excerpt(r, note->span.source, &mark, 1, colour);
        }
    }
}

/* "   = help: text", further lines of the text under its first. */
static void add_remark(Render *r, const char *kind, const char *colour, const char *text)
{
    paint(r, BLUE);
    str_addf(r->out, "%*s = ", r->gutter, "");
    paint(r, colour);
    str_addf(r->out, "%s", kind);
    paint(r, PLAIN);
    str_add(r->out, ": ");
    for (const char *p = clean(r->arena, text); *p != '\0'; p++) {
        str_addn(r->out, p, 1);
        if (*p == '\n') {
            str_addf(r->out, "%*s", r->gutter + 5 + (int)strlen(kind), "");
        }
    }
    str_add(r->out, "\n");
}

static void render_one(Render *r, const Diag *diag)
{
    const Row *row = &rows[diag->id];
    const char *colour = severity_colours[row->severity];
    paint(r, colour);
    str_addf(r->out, "%s[%s]", severity_names[row->severity], row->code);
    paint(r, PLAIN);
    paint(r, BOLD);
    str_addf(r->out, ": %s", clean(r->arena, diag->message));
    paint(r, PLAIN);
    str_add(r->out, "\n");
    r->gutter = 2;
    if (diag->span.source != NULL) {
        r->gutter = gutter_of(diag);
        add_excerpts(r, diag, colour);
    }
    for (const Note *note = diag->notes; note != NULL; note = note->next) {
        if (note->span.source == NULL || diag->span.source == NULL) {
            add_remark(r, "note", BOLD, note->text);
        }
    }
    for (const Note *help = diag->helps; help != NULL; help = help->next) {
        add_remark(r, "help", CYAN, help->text);
    }
}

void diags_render(const Diags *diags, Str *out, bool colour, int limit)
{
    Render r = {.arena = diags->arena, .out = out, .colour = colour};
    int n;
    const Entry *entries = sorted(diags, &n);
    int shown = limit > 0 && limit < n ? limit : n;
    int errors = diags->errors, warnings = diags->warnings;
    for (int i = 0; i < shown; i++) {
        if (i > 0) {
            str_add(out, "\n");
        }
        render_one(&r, entries[i].diag);
        if (rows[entries[i].diag->id].severity == SEVERITY_ERROR) {
            errors--;
        } else {
            warnings--;
        }
    }
    if (errors > 0) {
        str_addf(out, "\n... and %d more error%s\n", errors, errors == 1 ? "" : "s");
    }
    if (warnings > 0) {
        str_addf(out, "\n... and %d more warning%s\n", warnings, warnings == 1 ? "" : "s");
    }
}

/* ---- JSON ---- */

static void add_json_string(Render *r, const char *key, const char *text)
{
    str_addf(r->out, "\"%s\": ", key);
    if (text == NULL) {
        str_add(r->out, "null");
        return;
    }
    str_add(r->out, "\"");
    for (char piece[JSON_PIECE]; *text != '\0';) {
        text = json_piece(text, piece);
        str_add(r->out, piece);
    }
    str_add(r->out, "\"");
}

/* What people will read. */
static void add_json_text(Render *r, const char *key, const char *text)
{
    add_json_string(r, key, text != NULL ? clean(r->arena, text) : NULL);
}

static void add_json_span(Render *r, Span span)
{
    if (span.source == NULL) {
        str_add(r->out, "\"file\": null, \"line\": null, \"column\": null, \"endLine\": null, "
                        "\"endColumn\": null");
        return;
    }
    const Source *source = span.source;
    int line = source_line_of(source, span.begin) - 1, end = source_line_of(source, span.end) - 1;
    int column = code_point_column(r, source, line, span.begin);
    int end_column = code_point_column(r, source, end, span.end);
    add_json_string(r, "file", span.source->path);
    str_addf(r->out, ", \"line\": %d, \"column\": %d, \"endLine\": %d, \"endColumn\": %d", line + 1, column, end + 1,
             end_column);
}

static void add_json(Render *r, const Diag *diag)
{
    Str help;
    str_init(&help, r->arena);
    for (const Note *note = diag->helps; note != NULL; note = note->next) {
        str_addf(&help, "%s%s", help.n > 0 ? "\n" : "", note->text);
    }
    str_add(r->out, "  {");
    add_json_string(r, "code", rows[diag->id].code);
    str_add(r->out, ", ");
    add_json_string(r, "severity", severity_names[rows[diag->id].severity]);
    str_add(r->out, ", ");
    add_json_span(r, diag->span);
    str_add(r->out, ", ");
    add_json_text(r, "message", diag->message);
    str_add(r->out, ", ");
    add_json_text(r, "label", diag->label);
    str_add(r->out, ", ");
    add_json_text(r, "help", help.n > 0 ? help.at : NULL);
    str_add(r->out, ", \"notes\": [");
    for (const Note *note = diag->notes; note != NULL; note = note->next) {
        str_add(r->out, note == diag->notes ? "{" : ", {");
        add_json_span(r, note->span);
        str_add(r->out, ", ");
        add_json_text(r, "message", note->text);
        str_add(r->out, "}");
    }
    str_add(r->out, "]}");
}

void diags_render_json(const Diags *diags, Str *out)
{
    Render r = {.arena = diags->arena, .out = out};
    int n;
    const Entry *entries = sorted(diags, &n);
    str_add(out, "[");
    for (int i = 0; i < n; i++) {
        str_add(out, i == 0 ? "\n" : ",\n");
        add_json(&r, entries[i].diag);
    }
    str_add(out, n == 0 ? "]\n" : "\n]\n");
}

/* ---- pages ---- */

static char upper(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

static const Row *find_row(const char *code)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *a = rows[i].code, *b = code;
        while (*a != '\0' && *a == upper(*b)) {
            a++;
            b++;
        }
        if (*a == '\0' && *b == '\0') {
            return &rows[i];
        }
    }
    return NULL;
}

const char *diag_page(const char *code)
{
    const Row *row = find_row(code);
    return row != NULL ? row->page : NULL;
}

void diag_title(const char *code, Str *out)
{
    const Row *row = find_row(code);
    if (row == NULL) {
        return;
    }
    str_addf(out, "%s, %s: ", row->code, severity_names[row->severity]);
    for (const char *p = row->format; *p != '\0'; p++) {
        if (*p != '%') {
            str_addn(out, p, 1);
            continue;
        }
        p += 1 + strspn(p + 1, "-+ #0123456789.*lz");
        str_add(out, *p == '%' ? "%" : "...");
    }
}
