/* shrink: a list of edits, the largest first, tried until none helps. */
#include "shrink.h"

#include "frontend/syntax/ast.h"
#include "frontend/diag/diag.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Edit {
    int begin, end;
    const char *text;
} Edit;

typedef struct Shrinking {
    Arena *arena; /* of one round */
    const char *text;
    Vec(Edit) edits;
    Subject *subject;
    ShrinkFails fails;
    void *context;
    int tries;
} Shrinking;

/* ---- edits of the text ------------------------------------------------------------------- */

static void edit(Shrinking *s, int begin, int end, const char *text)
{
    if (end > begin && (size_t)(end - begin) >= strlen(text)) {
        vec_push(s->arena, &s->edits, (Edit){begin, end, text});
    }
}

static const char *words(Shrinking *s, Span span)
{
    return arena_strndup(s->arena, s->text + span.begin, (size_t)(span.end - span.begin));
}

static void replace_by(Shrinking *s, const AstExpr *e, const AstExpr *part)
{
    if (part != NULL) {
        edit(s, e->span.begin, e->span.end, arena_printf(s->arena, "(%s)", words(s, part->span)));
        edit(s, e->span.begin, e->span.end, words(s, part->span));
    }
}

/* An argument, with the comma behind it or else the one in front. */
static void drop_argument(Shrinking *s, const AstArg *arg, const AstArg *before)
{
    int begin = arg->name != NULL ? arg->name_span.begin : arg->value->span.begin;
    int end = arg->value->span.end;
    if (arg->next != NULL) {
        const AstArg *next = arg->next;
        end = next->name != NULL ? next->name_span.begin : next->value->span.begin;
    } else if (before != NULL) {
        begin = before->value->span.end;
    }
    edit(s, begin, end, "");
}

static void edit_number(Shrinking *s, const AstExpr *e)
{
    const double smaller[] = {0, 1, trunc(e->num), trunc(e->num / 2)};
    for (int i = 0; i < 4; i++) {
        if (fabs(smaller[i]) < fabs(e->num) || (i == 2 && smaller[i] != e->num)) {
            edit(s, e->span.begin, e->span.end, arena_printf(s->arena, "%g", smaller[i]));
        }
    }
}

static void edit_expr(Shrinking *s, const AstExpr *e)
{
    if (e == NULL) {
        return;
    }
    if (e->kind == AST_NUMBER) {
        edit_number(s, e);
        return;
    }
    if (e->kind != AST_NAME && e->kind != AST_BOOL && e->kind != AST_STRING) {
        edit(s, e->span.begin, e->span.end, "image");
        edit(s, e->span.begin, e->span.end, "0");
        edit(s, e->span.begin, e->span.end, "1");
    }
    const AstExpr *parts[] = {e->a, e->b, e->c};
    for (int i = 0; i < 3; i++) {
        replace_by(s, e, parts[i]);
    }
    const AstArg *before = NULL;
    for (const AstArg *arg = e->args; arg != NULL; before = arg, arg = arg->next) {
        replace_by(s, e, arg->value);
        drop_argument(s, arg, before);
    }
    for (int i = 0; i < 3; i++) {
        edit_expr(s, parts[i]);
    }
    for (const AstArg *arg = e->args; arg != NULL; arg = arg->next) {
        edit_expr(s, arg->value);
    }
    for (const AstFor *f = e->fors; f != NULL; f = f->next) {
        edit_expr(s, f->lo);
        edit_expr(s, f->hi);
    }
}

static void edit_statements(Shrinking *s, const AstStmt *first)
{
    for (const AstStmt *st = first; st != NULL; st = st->next) {
        edit(s, st->span.begin, st->span.end, "");
        edit_statements(s, st->body);
        edit_statements(s, st->other);
        if (st->body != NULL) {
            const AstStmt *last = st->body;
            while (last->next != NULL) {
                last = last->next;
            }
            const Span inside = {st->span.source, st->body->span.begin, last->span.end};
            edit(s, st->span.begin, st->span.end, words(s, inside));
        }
    }
}

static void edit_expressions(Shrinking *s, const AstStmt *first)
{
    for (const AstStmt *st = first; st != NULL; st = st->next) {
        edit_expr(s, st->a);
        edit_expr(s, st->b);
        edit_expressions(s, st->body);
        edit_expressions(s, st->other);
    }
}

/* ---- trying ------------------------------------------------------------------------------ */

static bool still_fails(Shrinking *s, const Subject *with)
{
    if (s->tries <= 0 || !s->fails(with, s->context)) {
        s->tries--;
        return false;
    }
    s->tries--;
    *s->subject = *with;
    return true;
}

static bool try_edit(Shrinking *s, const Edit *e)
{
    Subject *with = arena_new(s->arena, Subject);
    *with = *s->subject;
    size_t n = (size_t)snprintf(with->text, SUBJECT_TEXT, "%.*s%s%s", e->begin, s->text, e->text, s->text + e->end);
    return n < SUBJECT_TEXT && still_fails(s, with);
}

/* Edits go from large to small; after one that helped the places of the others have moved. */
static bool shrink_text(Shrinking *s)
{
    Arena arena;
    arena_init(&arena);
    s->arena = &arena;
    memset(&s->edits, 0, sizeof s->edits);
    s->text = arena_strdup(&arena, s->subject->text);
    Diags diags;
    diags_init(&diags, &arena);
    const Source *source = source_new(&arena, "subject.pipe", s->text);
    const AstFile *file = fe_parse(&arena, source, &diags);
    edit_statements(s, file->statements);
    edit_expressions(s, file->statements);
    bool helped = false;
    for (int i = 0; i < s->edits.n && !helped; i++) {
        helped = try_edit(s, &s->edits.at[i]);
    }
    arena_free(&arena);
    return helped;
}

/* ---- cases ------------------------------------------------------------------------------- */

static bool drop_case(Shrinking *s)
{
    for (int i = 0; i < s->subject->n_cases; i++) {
        Subject with = *s->subject;
        memmove(&with.cases[i], &with.cases[i + 1], sizeof *with.cases * (size_t)(with.n_cases - i - 1));
        with.n_cases--;
        if (with.n_cases > 0 && still_fails(s, &with)) {
            return true;
        }
    }
    return false;
}

static bool cut_case(Shrinking *s, int i)
{
    for (int axis = 0; axis < IR_AXES; axis++) {
        int now = s->subject->cases[i].extent[axis];
        const int smaller[] = {1, now / 2, now - 1};
        for (int k = 0; k < 3; k++) {
            Subject with = *s->subject;
            with.cases[i].extent[axis] = smaller[k];
            if (smaller[k] > 0 && smaller[k] < now && still_fails(s, &with)) {
                return true;
            }
        }
    }
    return false;
}

static bool plainer_image(Shrinking *s, int i, int k)
{
    static const SubjectImage PLAIN[] = {{ELEM_U8, BOTH_CONSTANT, 0},
                                         {ELEM_F32, BOTH_CONSTANT, 0},
                                         {ELEM_U8, BOTH_NOISE, 0},
                                         {ELEM_F32, BOTH_NOISE, 0}};
    const SubjectImage *now = &s->subject->cases[i].images[k];
    for (int p = 0; p < 4; p++) {
        if (now->elem == PLAIN[p].elem && now->kind == PLAIN[p].kind) {
            return false;
        }
        Subject with = *s->subject;
        with.cases[i].images[k] = PLAIN[p];
        if (still_fails(s, &with)) {
            return true;
        }
    }
    return false;
}

static bool shrink_cases(Shrinking *s)
{
    for (int i = 0; i < s->subject->n_cases; i++) {
        if (cut_case(s, i)) {
            return true;
        }
        for (int k = 0; k < s->subject->cases[i].n_images; k++) {
            if (plainer_image(s, i, k)) {
                return true;
            }
        }
    }
    return false;
}

static void drop_empty_lines(char *text)
{
    char *to = text;
    for (const char *p = text; *p != '\0'; p++) {
        if (*p != '\n' || (to > text && to[-1] != '\n')) {
            *to++ = *p;
        }
    }
    *to = '\0';
}

void shrink(Subject *subject, ShrinkFails fails, void *context, int tries)
{
    Shrinking s = {.subject = subject, .fails = fails, .context = context, .tries = tries};
    while (s.tries > 0 && (drop_case(&s) || shrink_text(&s) || shrink_cases(&s))) {
    }
    drop_empty_lines(subject->text);
}
