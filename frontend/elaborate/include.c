/*
 * include: `include "mine.pipe"` stands for the functions, values and params of another file.
 *
 * Paths are relative to the file that names them.  A file that several others include is there once.  What is included
 * keeps its place in its own file, so that messages show it there.
 */
#define _XOPEN_SOURCE 700 /* realpath */

#include "elab.h"

#include "../../base/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 16, MOST_FILES = 256, MOST_TEXT = 16 << 20 };

typedef struct Open { /* a file that is being read, inside the one that includes it */
    const char *real;
    const struct Open *by;
    int depth;
} Open;

typedef struct Includes {
    Arena *arena;
    Diags *diags;
    IrGraph *g;
    Vec(const char *) real; /* of files that have been read */
    AstFile *to;
    AstStmt *last;
} Includes;

static void refuse(Includes *in, Span at, const char *name, const char *why)
{
    diag_add(in->diags, DIAG_INCLUDE, at, name, why);
    in->to->incomplete = true; /* what is missing may have had any name */
}

static void append(Includes *in, const AstStmt *stmt)
{
    AstStmt *copy = arena_new(in->arena, AstStmt);
    *copy = *stmt;
    copy->next = NULL;
    *(in->last != NULL ? &in->last->next : &in->to->statements) = copy;
    in->last = copy;
}

/* "lib/mine.pipe" of `include "mine.pipe"` in lib/all.pipe. */
static const char *path_of(Includes *in, const AstStmt *include)
{
    const char *own = include->span.source->path != NULL ? include->span.source->path : "";
    const char *slash = strrchr(own, '/');
    bool beside = include->text[0] != '/' && slash != NULL;
    return arena_printf(in->arena, "%.*s%s", beside ? (int)(slash - own) + 1 : 0, own, include->text);
}

/* The one path that all names of a file lead to; NULL: there is no such file. */
static const char *real_path(Includes *in, const char *path)
{
    char *found = realpath(path, NULL);
    const char *real = found != NULL ? arena_strdup(in->arena, found) : NULL;
    free(found);
    return real;
}

static const Source *read_source(Includes *in, const AstStmt *include, const char *path)
{
    Err err = {0};
    char *text = NULL;
    size_t size = 0;
    if (!file_read_text(path, MOST_TEXT, &text, &size, &err)) {
        refuse(in, include->text_span, include->text, err.text);
        return NULL;
    }
    Source *source = source_new(in->arena, path, arena_strndup(in->arena, text, size));
    free(text);
    vec_push(in->g->arena, &in->g->included, source);
    return fe_check_text(source, size, in->diags) ? source : NULL;
}

static void include(Includes *in, const AstStmt *stmt, const Open *by);

static void add_included(Includes *in, const AstFile *file, const AstStmt *by, const Open *open)
{
    for (const AstStmt *s = file->statements; s != NULL; s = s->next) {
        if (s->kind == AST_INCLUDE) {
            include(in, s, open);
        } else if (s->kind == AST_FN || s->kind == AST_ASSIGN || s->kind == AST_PARAM) {
            append(in, s);
        } else {
            refuse(in, s->span, by->text, "an included file has functions, values and params, and nothing else");
            return;
        }
    }
    for (AstName *n = file->broken, *next; n != NULL; n = next) {
        next = n->next;
        n->next = in->to->broken;
        in->to->broken = n;
    }
    in->to->incomplete = in->to->incomplete || file->incomplete;
}

/* Mistakes show lines of the file: of no other than pipelines, wherever links lead. */
static bool is_pipeline(const char *real)
{
    const char *dot = strrchr(real, '.');
    return dot != NULL && strcmp(dot, ".pipe") == 0;
}

/* False where the file has been read, or must not be. */
static bool may_read(Includes *in, const AstStmt *stmt, const char *real, const Open *by)
{
    if (!is_pipeline(real)) {
        refuse(in, stmt->text_span, stmt->text, "names of included files end in .pipe");
        return false;
    }
    for (const Open *o = by; o != NULL; o = o->by) {
        if (strcmp(o->real, real) == 0) {
            refuse(in, stmt->text_span, stmt->text, "it would include itself");
            return false;
        }
    }
    for (int i = 0; i < in->real.n; i++) {
        if (strcmp(in->real.at[i], real) == 0) {
            return false;
        }
    }
    bool many = by->depth == DEEPEST || in->real.n == MOST_FILES;
    if (many) {
        refuse(in, stmt->text_span, stmt->text,
               by->depth == DEEPEST ? "files include one another more than 16 deep"
                                    : "more than 256 files are included");
    }
    return !many;
}

static void include(Includes *in, const AstStmt *stmt, const Open *by)
{
    const char *path = path_of(in, stmt), *real = real_path(in, path);
    if (real == NULL) {
        refuse(in, stmt->text_span, stmt->text, strerror(errno));
        return;
    }
    if (!may_read(in, stmt, real, by)) {
        return;
    }
    vec_push(in->arena, &in->real, real);
    const Source *source = read_source(in, stmt, path);
    if (source != NULL) {
        const Open open = {real, by, by->depth + 1};
        add_included(in, fe_parse(in->arena, source, in->diags), stmt, &open);
    }
}

const AstFile *el_with_included(IrGraph *g, const AstFile *file, Diags *diags)
{
    bool any = false;
    for (const AstStmt *s = file->statements; s != NULL; s = s->next) {
        any = any || s->kind == AST_INCLUDE;
    }
    if (!any) {
        return file;
    }
    Includes in = {.arena = g->arena, .diags = diags, .g = g, .to = arena_new(g->arena, AstFile)};
    const char *own = file->source->path != NULL ? real_path(&in, file->source->path) : NULL;
    const Open open = {own != NULL ? own : "", NULL, 0};
    *in.to = *file;
    in.to->statements = NULL;
    for (const AstStmt *s = file->statements; s != NULL; s = s->next) {
        if (s->kind == AST_INCLUDE) {
            include(&in, s, &open);
        } else {
            append(&in, s);
        }
    }
    return in.to;
}

bool el_is_users(const Elab *el, const Source *source)
{
    bool users = source == el->file->source;
    for (int i = 0; i < el->g->included.n && !users; i++) {
        users = el->g->included.at[i] == source;
    }
    return users;
}
