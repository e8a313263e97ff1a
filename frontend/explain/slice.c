/*
 * slice: what to write instead of image[:, 10:20, 0] as numpy and Matlab have it.
 *
 * The axes of the image say which number is meant for which: a part is a crop, a plane or a channel has its name, a
 * step of -1 turns the axis round, a larger one makes the image smaller.
 */
#include "../elaborate/elab.h"

#include <string.h>

static const struct {
    int axis;
    const char *name, *extent;
} AXES[] = {{IR_AX_Z, "z", "depth"}, {IR_AX_Y, "y", "height"}, {IR_AX_X, "x", "width"}, {IR_AX_C, "c", "channels"}};
enum { AXES_N = 4 };

/* What is asked for along each axis; NULL: all of it. */
typedef struct Subscript {
    const char *image;
    const AstExpr *along[AXES_N];
    bool lacks; /* the image has no such axis */
} Subscript;

static bool is_minus(const AstExpr *e)
{
    return e != NULL && e->kind == AST_UNARY && e->op[0] == '-';
}

static const char *words(Elab *el, const AstExpr *e)
{
    return el_words(el, e->span);
}

/* A bound as a place: -5 counts from the end. */
static const char *place(Elab *el, const Subscript *s, int k, const AstExpr *e)
{
    return is_minus(e) ? arena_printf(el->arena, "%s(%s) - %s", AXES[k].extent, s->image, words(el, e->a))
                       : words(el, e);
}

static bool is_whole(const AstExpr *e)
{
    return e != NULL && e->kind == AST_NUMBER;
}

/* How many pixels a slice has; NULL: to the end. */
static const char *length(Elab *el, const Subscript *s, int k, const AstExpr *slice)
{
    const AstExpr *lo = slice->a, *hi = slice->b;
    if (hi == NULL) {
        return NULL;
    }
    if (is_whole(hi) && is_whole(lo)) {
        return arena_printf(el->arena, "%g", hi->num - lo->num);
    }
    if (is_minus(hi) && is_minus(lo) && is_whole(hi->a) && is_whole(lo->a)) {
        return arena_printf(el->arena, "%g", lo->a->num - hi->a->num);
    }
    const char *end = place(el, s, k, hi), *begin = lo == NULL ? NULL : place(el, s, k, lo);
    return begin == NULL                ? end
           : strchr(begin, ' ') != NULL ? arena_printf(el->arena, "%s - (%s)", end, begin)
                                        : arena_printf(el->arena, "%s - %s", end, begin);
}

/* crop(image, x = 10, width = 20): the part that is asked for, or the image where that is all. */
static const char *part(Elab *el, const Subscript *s, const char *of)
{
    static const int ORDER[] = {2, 1, 0}; /* x, y, z */
    Str places, lengths;
    str_init(&places, el->arena);
    str_init(&lengths, el->arena);
    for (int i = 0; i < 3; i++) {
        const int k = ORDER[i];
        const AstExpr *e = s->along[k];
        if (e != NULL && e->kind != AST_SLICE && AXES[k].axis != IR_AX_Z) { /* one row */
            str_addf(&places, ", %s = %s", AXES[k].name, place(el, s, k, e));
            str_addf(&lengths, ", %s = 1", AXES[k].extent);
        } else if (e != NULL && e->kind == AST_SLICE) {
            const char *n = length(el, s, k, e);
            if (e->a != NULL) {
                str_addf(&places, ", %s = %s", AXES[k].name, place(el, s, k, e->a));
            }
            if (n != NULL) {
                str_addf(&lengths, ", %s = %s", AXES[k].extent, n);
            }
        }
    }
    bool all = places.n == 0 && lengths.n == 0;
    return all ? of : arena_printf(el->arena, "crop(%s%s%s)", of, places.at, lengths.at);
}

/* image[z = 5, c = 0] */
static const char *picked(Elab *el, const Subscript *s)
{
    Str out;
    str_init(&out, el->arena);
    for (int k = 0; k < AXES_N; k++) {
        bool goes = AXES[k].axis == IR_AX_Z || AXES[k].axis == IR_AX_C;
        if (s->along[k] != NULL && goes && s->along[k]->kind != AST_SLICE) {
            str_addf(&out, out.n > 0 ? ", %s = %s" : "%s = %s", AXES[k].name, place(el, s, k, s->along[k]));
        }
    }
    return out.n > 0 ? arena_printf(el->arena, "%s[%s]", s->image, out.at) : s->image;
}

/* flip(image, y) of ::-1, scale(image, ...) of ::2. */
static const char *stepped(Elab *el, const Subscript *s, const char *of)
{
    Str factors;
    str_init(&factors, el->arena);
    bool larger = false;
    for (int k = 0; k < 3; k++) {
        const AstExpr *step = s->along[k] != NULL && s->along[k]->kind == AST_SLICE ? s->along[k]->c : NULL;
        if (is_minus(step)) {
            of = arena_printf(el->arena, "flip(%s, %s)", of, AXES[k].name);
        }
        const AstExpr *size = is_minus(step) ? step->a : step;
        bool one = size == NULL || (is_whole(size) && size->num == 1);
        larger = larger || !one;
        str_add(&factors, factors.n > 0 ? ", " : "");
        str_addf(&factors, one ? "1" : "1 / %s", one ? "" : words(el, size));
    }
    const char *list = s->along[0] == NULL ? strchr(factors.at, ',') + 2 : factors.at; /* no z: of [y, x] */
    return larger ? arena_printf(el->arena, "scale(%s, [%s], interpolation = nearest)", of, list) : of;
}

/* Gives each argument its axis: by its name, or in numpy's order. */
static Subscript read(Elab *el, Val v, const AstExpr *e)
{
    Subscript s = {.image = words(el, e->a)};
    int has[AXES_N], n = 0, next = 0;
    for (int k = 0; k < AXES_N; k++) {
        if (el_has(el, v, el_axis(el, v, AXES[k].axis))) {
            has[n++] = k;
        }
    }
    const AstArg *last = e->args;
    while (last->next != NULL) {
        last = last->next;
    }
    bool first_is_c = n > 0 && has[n - 1] == AXES_N - 1 && e->args->value->kind != AST_SLICE &&
                      (last == e->args || last->value->kind == AST_SLICE);
    for (int i = n - 1; i > 0 && first_is_c; i--) { /* channels in front */
        has[i] = i == 0 ? AXES_N - 1 : has[i - 1];
    }
    has[0] = first_is_c ? AXES_N - 1 : has[0];
    for (const AstArg *arg = e->args; arg != NULL; arg = arg->next) {
        int k = arg->name == NULL && next < n ? has[next++] : AXES_N;
        for (int i = 0; i < AXES_N && arg->name != NULL; i++) {
            k = strcmp(AXES[i].name, arg->name) == 0 ? i : k;
        }
        if (k < AXES_N) {
            s.along[k] = arg->value;
        }
        s.lacks = s.lacks || k == AXES_N;
    }
    return s;
}

const char *el_places_meant(Elab *el, Val v, const AstExpr *e)
{
    const AstExpr *list = e->args->value;
    if (list->kind != AST_LIST || e->args->next != NULL || list->args == NULL) {
        return NULL;
    }
    const char *image = words(el, e->a), *all = NULL;
    const bool channels = el_has(el, v, IR_AX_C), planes = !channels && el_has(el, v, IR_AX_Z);
    const AstArg *last = list->args;
    bool row = is_whole(last->value);
    for (; last->next != NULL; last = last->next) { /* 1, 2, 3: one after the other */
        row = row && is_whole(last->next->value) && last->next->value->num == last->value->num + 1;
    }
    for (const AstArg *a = list->args; a != NULL && channels; a = a->next) {
        const char *one = arena_printf(el->arena, "%s[c = %s]", image, words(el, a->value));
        all = all == NULL ? one : arena_printf(el->arena, "concatenate(%s, %s, axis = c)", all, one);
    }
    if (channels) {
        return arena_printf(el->arena, "channels are named one by one: `%s`", all);
    }
    if (!row) {
        return arena_printf(el->arena, "a place is one number: %s[%s = %s]", image, planes ? "z" : "y",
                            words(el, list->args->value));
    }
    return arena_printf(el->arena, "write `crop(%s, %s = %g, %s = %g)`", image, planes ? "z" : "y",
                        list->args->value->num, planes ? "depth" : "height",
                        last->value->num - list->args->value->num + 1);
}

/* None or np.newaxis, where numpy gets an axis more. */
static bool is_newaxis(const AstExpr *e)
{
    return (e->kind == AST_NAME && strcmp(e->name, "None") == 0) ||
           ((e->kind == AST_NAME || e->kind == AST_MEMBER) && strcmp(e->name, "newaxis") == 0);
}

/* image[dx: 1] */
static const AstExpr *with_colon(const AstExpr *e)
{
    const AstExpr *slice = e->args->value;
    bool name = slice->kind == AST_SLICE && slice->a != NULL && slice->a->kind == AST_NAME && slice->b != NULL;
    return name && (strlen(slice->a->name) == 1 || slice->a->name[0] == 'd') ? slice : NULL;
}

bool el_refuse_slice(Elab *el, const AstExpr *e)
{
    bool slices = false, newaxis = false;
    for (const AstArg *arg = e->args; arg != NULL; arg = arg->next) {
        newaxis = newaxis || (arg->name == NULL && is_newaxis(arg->value));
        slices = slices || newaxis || arg->value->kind == AST_SLICE || (arg->name == NULL && is_minus(arg->value));
    }
    if (!slices) {
        return false;
    }
    const Val v = el_expr(el, e->a);
    if (el_is_bad(v)) {
        return true;
    }
    const Span inside = {e->word.source, e->word.begin + 1, e->word.end - 1};
    Diag *d = el_error(el, SLICE, e->word, words(el, &(AstExpr){.span = inside}));
    if (newaxis) {
        diag_help(el->diags, d, "axes have names, and images meet by them: leave it out, `%s`", words(el, e->a));
    } else if (with_colon(e) != NULL) {
        const AstExpr *slice = with_colon(e);
        diag_help(el->diags, d, "places are named with `=`: `%s[%s = %s]`; a part is crop(image, x = 10, width = 20)",
                  words(el, e->a), slice->a->name, words(el, slice->b));
    } else if (v.kind != VAL_IMAGE) {
        diag_help(el->diags, d, "one element has a number, counted from 0: %s[0]", words(el, e->a));
    } else {
        const Subscript s = read(el, v, e);
        const AstExpr *first = e->args->value;
        if (!s.lacks) {
            const AstExpr *of_c = s.along[AXES_N - 1];
            if (of_c != NULL && of_c->kind == AST_SLICE && (of_c->a != NULL || of_c->b != NULL)) { /* c = 1:3 */
                diag_help(el->diags, d, "channels are named one by one: concatenate(%s[c = 1], %s[c = 2], axis = c)",
                          s.image, s.image);
                return true;
            }
            const char *text = stepped(el, &s, part(el, &s, picked(el, &s)));
            diag_help(el->diags, d, strcmp(text, s.image) == 0 ? "all of it is `%s`" : "write `%s`", text);
        } else if (first->kind != AST_SLICE && e->args->name == NULL) {
            diag_help(el->diags, d, "a plane is %s[z = %s], of an input with planes: `input %s[z, y, x]`", s.image,
                      words(el, first), s.image);
        } else {
            diag_help(el->diags, d, "a channel is %s[c = 0], of an input with channels: `input %s[y, x, c]`", s.image,
                      s.image);
        }
    }
    return true;
}
