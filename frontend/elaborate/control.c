/*
 * control: which functions must be compiled because their control flow depends on
 * pixels.
 *
 * What depends on an image argument is found on the syntax tree: names that are assigned from it
 * depend on it too, until no more do.  Such a name in a condition or in the bounds of a loop
 * decides.  What is only asked about an image's shape does not depend on its pixels.
 */
#include "elab.h"

#include <string.h>

typedef struct Taint {
    const char *name;
    struct Taint *up;
} Taint;

static bool is_tainted(const Taint *t, const char *name)
{
    for (; t != NULL; t = t->up) {
        if (strcmp(t->name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* Calls that say something about an image without looking at its pixels. */
static bool asks_shape(const AstExpr *e)
{
    static const char *const NAMES[] = {"width", "height", "depth", "channels", "dimensions", "has_axis"};
    for (size_t i = 0; e->kind == AST_CALL && i < sizeof NAMES / sizeof *NAMES; i++) {
        if (strcmp(e->name, NAMES[i]) == 0) {
            return true;
        }
    }
    bool compares = e->kind == AST_BINARY && e->b->kind == AST_NAME;
    return compares && strcmp(e->b->name, "none") == 0;
}

static bool depends(const Taint *t, const AstExpr *e)
{
    if (e == NULL || asks_shape(e)) {
        return false;
    }
    if (e->kind == AST_NAME) {
        return is_tainted(t, e->name);
    }
    for (const AstArg *a = e->args; a != NULL; a = a->next) {
        if (depends(t, a->value)) {
            return true;
        }
    }
    for (const AstFor *f = e->fors; f != NULL; f = f->next) {
        if (depends(t, f->lo) || depends(t, f->hi)) {
            return true;
        }
    }
    return depends(t, e->a) || depends(t, e->b) || depends(t, e->c);
}

/* Spreads the taint over assigned names; true when it reaches control flow. */
static bool spreads(Elab *el, const AstStmt *s, Taint **t, bool *grew)
{
    for (; s != NULL; s = s->next) {
        bool control = s->kind == AST_IF || s->kind == AST_WHILE;
        if ((control && depends(*t, s->a)) || (s->kind == AST_FOR && (depends(*t, s->lo) || depends(*t, s->hi)))) {
            return true;
        }
        if (s->kind == AST_ASSIGN && depends(*t, s->a) && !is_tainted(*t, s->name)) {
            Taint *more = arena_new(el->arena, Taint);
            *more = (Taint){s->name, *t};
            *t = more;
            *grew = true;
        }
        if (spreads(el, s->body, t, grew) || spreads(el, s->other, t, grew)) {
            return true;
        }
    }
    return false;
}

static bool has_while(const AstStmt *s)
{
    for (; s != NULL; s = s->next) {
        if (s->kind == AST_WHILE || has_while(s->body) || has_while(s->other)) {
            return true;
        }
    }
    return false;
}

bool el_needs_scalar(Elab *el, const AstStmt *fn, Scope *env, const Val *args, int n)
{
    Taint *t = NULL;
    int i = 0;
    (void)env;
    if (fn->a != NULL) {
        return false;
    }
    for (const AstName *p = fn->names; p != NULL && i < n; p = p->next, i++) {
        if (args[i].kind == VAL_IMAGE || args[i].kind == VAL_VECTOR || args[i].kind == VAL_UNIFORM) {
            Taint *more = arena_new(el->arena, Taint);
            *more = (Taint){p->name, t};
            t = more;
        }
    }
    if (has_while(fn->body)) {
        return true;
    }
    for (bool grew = true; grew;) {
        grew = false;
        if (spreads(el, fn->body, &t, &grew)) {
            return true;
        }
    }
    return false;
}
