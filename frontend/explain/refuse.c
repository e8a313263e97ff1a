/* refuse: what is said about arguments of the wrong kind, and about choices between statements: what would be right, in the user's own
 * words. */
#include "../elaborate/elab.h"
#include "../syntax/words.h"

#include <math.h>
#include <ctype.h>
#include <string.h>

static void help_for_mask(Elab *el, Diag *d, const Call *call, Val v, Span at)
{
    const char *words = el_words(el, at);
    if (v.kind == VAL_IMAGE && v.image == IR_K_IMAGE) {
        diag_help(el->diags, d, "threshold it: %s(%s > otsu(%s))", call->op->name, words, words);
    } else if (v.kind == VAL_IMAGE) {
        diag_help(el->diags, d, "make a mask of the labels: %s(%s > 0)", call->op->name, words);
    } else if (v.kind == VAL_UNIFORM) {
        diag_help(el->diags, d, "a threshold is compared with: %s(image > %s)", call->op->name, words);
    }
}

static void help_for_labels(Elab *el, Diag *d, const Call *call, Val v, Span at)
{
    const char *words = el_words(el, at);
    bool first = at.begin == call->at[0].begin;
    if (el_is_mask(el, v)) {
        diag_help(el->diags, d, "number its objects first: %s(%slabel(%s)%s)", call->op->name, first ? "" : "..., ",
                  words, first ? ", ..." : "");
    } else if (v.kind == VAL_IMAGE && (el_reads_labels(el, at) || ir_expr(el->g, v.expr)->type == ELEM_U32)) {
        diag_help(el->diags, d, "what is read from labels are numbers: as_labels(%s)", words);
    } else if (v.kind == VAL_IMAGE) {
        diag_help(el->diags, d, "threshold and label it first: label(%s > otsu(%s))", words, words);
    }
}

static void help_for_image(Elab *el, Diag *d, const Call *call, Val v, Span at)
{
    const char *words = el_words(el, at);
    bool labels = v.kind == VAL_IMAGE && v.image == IR_K_LABELS;
    const char *of_labels = arena_printf(el->arena, "%s_labels", call->op->name);
    const char *moved = labels ? el_moved_labels(el, call, at) : NULL;
    if (labels && ops_find(el->ops, of_labels) != NULL) {
        diag_help(el->diags, d, "labels have an operator of their own: %s(%s, ...)", of_labels, words);
    } else if (moved != NULL) {
        diag_help(el->diags, d, "labels are names, not amounts: %s", moved);
    } else if (labels) {
        diag_help(el->diags, d,
                  "labels are names, not amounts: use the mask of one (number(%s == 1)) or of all "
                  "(number(%s > 0))",
                  words, words);
    } else if (el_is_mask(el, v)) {
        diag_help(el->diags, d, "number(%s) is an image of 0 and 1", words);
    } else if (v.kind == VAL_SELECTION) {
        diag_help(el->diags, d, "%s needs every pixel: keep the image and select afterwards", call->op->name);
    } else if (v.kind == VAL_UNIFORM && strcmp(call->op->name, "f64") == 0) {
        diag_help(el->diags, d, "it is f64 already: %s", words);
    }
}

static void help_for_axis(Elab *el, Diag *d, const Call *call, Val v)
{
    static const char *const FOLDS[] = {"sum", "mean", "max", "min", "median", "std"};
    const char *name = call->op->name;
    const bool channels = (v.kind == VAL_WORD || v.kind == VAL_TEXT) && strcmp(v.text, "c") == 0;
    for (size_t i = 0; i < sizeof FOLDS / sizeof *FOLDS && channels; i++) {
        if (strncmp(name, FOLDS[i], strlen(FOLDS[i])) == 0) {
            diag_help(el->diags, d, "channels are named one by one: %s(%s[c = k] for k in 0 .. 2)", FOLDS[i],
                      el_words(el, call->at[0]));
            return;
        }
    }
    static const struct {
        const char *words, *axis;
    } WAYS[] = {
        {"horizontal horizontally lr leftright width columns h", "x"},
        {"vertical vertically ud updown height rows v", "y"},
        {"depth planes stack slices", "z"},
    };
    for (size_t i = 0; i < sizeof WAYS / sizeof *WAYS && (v.kind == VAL_WORD || v.kind == VAL_TEXT); i++) {
        if (ops_lists(WAYS[i].words, v.text)) {
            diag_help(el->diags, d, "here it is `%s`", WAYS[i].axis);
            return;
        }
    }
    diag_help(el->diags, d, "axes have names: x, y and z");
}

static void help_for_number(Elab *el, Diag *d, Val v)
{
    if (v.kind == VAL_UNIFORM) {
        diag_help(el->diags, d,
                  "a whole-image value is found on the device, after memory has been "
                  "planned; use a param or a number");
    } else if (v.kind == VAL_TEXT) {
        diag_help(el->diags, d, "numbers are written without quotes");
    } else if (v.kind == VAL_IMAGE) {
        diag_help(el->diags, d,
                  "one number for the whole image: mean(...), otsu(...), or a "
                  "param");
    } else if (el_is_truth(el, v)) {
        diag_help(el->diags, d, "true and false are no numbers: 1 or 0");
    }
}

bool el_help_for_images(Elab *el, Diag *d, Val v)
{
    bool images = v.kind == VAL_LIST && v.n > 0 && v.items[0].val.kind == VAL_IMAGE;
    if (images) {
        diag_help(
            el->diags, d,
            "images in colours are a picture: merge(red, green, blue); images become channels with concatenate(a, b, axis = c)");
    }
    return images;
}

const Op *el_filter_of(const Elab *el, const Op *op)
{
    bool whole = op->n_params > 0 && (op->param[0].types & OP_SELECTION) != 0;
    const char *name = strcmp(op->name, "var") == 0 ? "variance" : op->name;
    return whole ? ops_find(el->ops, arena_printf(el->arena, "%s_filter", name)) : NULL;
}

Diag *el_refuse_window(Elab *el, const Op *op, const char *window, Span at)
{
    const Op *filter = el_filter_of(el, op);
    const char *rank = op->n_params > 1 && !op->param[1].rest ? "q, " : "";
    Diag *d = el_error(el, WHOLE_IMAGE, at, op->name);
    if (strncmp(window, "label", 5) == 0) {
        diag_help(el->diags, d, "of each object: property(%s, image, %s), or a column of measure(%s, image, %s)",
                  window, op->name, window, op->name);
        return d;
    }
    const Binding *b = el_find(el->scope, window);
    if (strpbrk(window, "<>=") != NULL || (b != NULL && el_is_mask(el, b->val))) {
        diag_help(el->diags, d, "of the pixels of a mask: %s(image where %s)", op->name, window);
        return d;
    }
    diag_help(el->diags, d,
              "%s(image, %s%s) is that of the neighbours of each pixel; a number is the "
              "radius of a box: 1 for 3 x 3 pixels",
              filter->name, rank, window);
    return d;
}

/* 2,5: the words of the number; NULL where no comma stands between two digits. */
static const char *decimal_comma(Elab *el, Span at)
{
    const char *text = at.source->text;
    int begin = at.begin - 1;
    if (begin < 1 || text[begin] != ',' || !isdigit((unsigned char)text[begin - 1]) ||
        !isdigit((unsigned char)text[at.begin])) {
        return NULL;
    }
    while (begin > 0 && isdigit((unsigned char)text[begin - 1])) {
        begin--;
    }
    char *words = arena_strndup(el->arena, text + begin, (size_t)(at.end - begin));
    words[at.begin - 1 - begin] = '.';
    return words;
}

/* What has parts, and none of it is a value that an operator of pixels takes: a table, a record, a list of numbers. */
static bool help_for_parts(Elab *el, Diag *d, const OpParam *p, Val v, Span at)
{
    const char *words = el_words(el, at);
    Str members;
    str_init(&members, el->arena);
    for (int i = 0; i < v.n && i < 4 && v.kind == VAL_RECORD; i++) {
        str_addf(&members, "%s%s.%s", i == 0 ? "" : ", ", words, v.items[i].name);
    }
    const bool size = strcmp(p->name, "width") == 0;
    bool place = (size || strcmp(p->name, "x") == 0) && v.kind == VAL_LIST && (v.n == 2 || v.n == 3);
    if (v.kind == VAL_TABLE) {
        diag_help(el->diags, d,
                  "a table is written and not read: give the labels themselves; values of labels are "
                  "property(labels, area)");
    } else if (v.kind == VAL_RECORD && v.n > 0) {
        bool xy = strcmp(p->name, "x") == 0 && el_member(v, "x") != NULL && el_member(v, "y") != NULL;
        diag_help(el->diags, d, xy ? "its numbers one by one: %s" : "it has several values; take one: %s", members.at);
    } else if (v.kind == VAL_LIST && v.n > 0 && (p->types & OP_SELECTION) != 0 && v.items[0].val.kind == VAL_NUMBER) {
        diag_help(el->diags, d, "of a list: sum(pick(k, %s) for k in 0 .. %d), and so mean, min, max", words, v.n - 1);
    } else if (place) {
        const char *each[3];
        for (int i = 0; i < v.n; i++) {
            double number;
            bool known = el_constant(el, v.items[i].val, &number);
            each[i] = known ? arena_printf(el->arena, "%g", number) : "...";
        }
        diag_help(el->diags, d,
                  v.n == 2 ? "numbers one by one, with their names: %s = %s, %s = %s"
                           : "numbers one by one, with their names: %s = %s, %s = %s, %s = %s",
                  size ? "width" : "x", each[v.n - 1], size ? "height" : "y", each[v.n - 2], size ? "depth" : "z",
                  each[0]);
    } else {
        return false;
    }
    return true;
}

/* "reflect", where a word is meant. */
static bool help_for_text(Elab *el, Diag *d, const OpParam *p, Val v)
{
    const bool border = (p->types & OP_BORDER) != 0 && words_border(v.text) != BORDER_KINDS;
    const bool axis = (p->types & OP_AXIS) != 0 && strlen(v.text) == 1 && strchr("xyz", v.text[0]) != NULL;
    if (v.kind == VAL_TEXT && (border || axis)) {
        diag_help(el->diags, d, "it is a word, without quotes: %s = %s", p->name, v.text);
    }
    return v.kind == VAL_TEXT && (border || axis);
}

static bool is_nonzero(const Elab *el, Val v)
{
    double value = 0;
    return v.kind == VAL_NUMBER && el_constant(el, v, &value) && value != 0;
}

Diag *el_wrong_kind(Elab *el, const Call *call, const OpParam *p, Val v, Span at)
{
    if (v.kind == VAL_FOOTPRINT && el_filter_of(el, call->op) != NULL) {
        return el_refuse_window(el, call->op, el_words(el, at), at);
    }
    if (v.kind == VAL_LIST) {
        diags_drop(el->diags, DIAG_FOREIGN_SPELLING, at); /* (512, 512): neither is a list */
    }
    Str takes;
    str_init(&takes, el->arena);
    ops_types_phrase(p, &takes);
    Diag *d = el_error(el, ARGUMENT_KIND, at, call->op->name, takes.at, p->name, el_describe(el, v));
    if ((p->types & (OP_IMAGE | OP_MASK)) != 0 && el_help_for_images(el, d, v)) {
        return d;
    }
    if (el_takes_columns(call->op) && !p->rest && p != call->op->param &&
        (v.kind == VAL_VECTOR || v.kind == VAL_IMAGE)) {
        diag_help(el->diags, d, "`%s` is an argument of %s; a column has another name: `%s_of = %s`", p->name,
                  call->op->name, p->name, el_words(el, at));
        return d;
    }
    if (help_for_parts(el, d, p, v, at) || ((v.kind == VAL_TEXT || v.kind == VAL_WORD) && help_for_text(el, d, p, v))) {
        return d;
    }
    if (v.kind == VAL_NUMBER && decimal_comma(el, at) != NULL) {
        diag_help(el->diags, d, "decimals are written with a point: `%s`", decimal_comma(el, at));
    } else if (v.kind == VAL_VECTOR && (p->types & (OP_IMAGE | OP_MASK)) != 0) {
        const char *words = el_words(el, at);
        diag_help(el->diags, d, strchr(words, ' ') != NULL ? "paint it: (%s)[%s]" : "paint it: %s[%s]", words,
                  el_labels_name(el, v));
    } else if (p->rest && (p->types & OP_WORD) != 0 && el_is_scalar(v)) {
        diag_help(el->diags, d, "images and words, one after the other: %s(labels, image, area, mean)", call->op->name);
    } else if ((p->types & OP_IMAGE) != 0) {
        help_for_image(el, d, call, v, at);
    } else if ((p->types & OP_MASK) != 0) {
        help_for_mask(el, d, call, v, at);
    } else if ((p->types & OP_LABELS) != 0) {
        help_for_labels(el, d, call, v, at);
    } else if ((p->types & OP_FOOTPRINT) != 0) {
        diag_help(el->diags, d,
                  "footprints are disk(2), ball(2), box(1), diamond(1), or rows of 0 "
                  "and 1: [[0, 1, 0], [1, 1, 1], [0, 1, 0]]");
    } else if ((p->types & OP_BORDER) != 0 && is_nonzero(el, v) && p > call->op->param &&
               (p[-1].types & OP_PER_AXIS) != 0 && call->given[p - 1 - call->op->param]) { /* gaussian(v, 2, 2) */
        const char *before = el_words(el, call->at[p - 1 - call->op->param]);
        diag_help(el->diags, d, "a number for each axis is a list, x last: [%s, %s]", before, el_words(el, at));
    } else if ((p->types & OP_BORDER) != 0) {
        diag_help(el->diags, d, "borders are nearest, reflect, mirror, wrap and constant(0)");
    } else if ((p->types & OP_AXIS) != 0) {
        help_for_axis(el, d, call, v);
    } else if ((p->types & (OP_NUMBER | OP_INTEGER | OP_VALUE | OP_PER_AXIS | OP_LENGTH)) != 0) {
        help_for_number(el, d, v);
    }
    return d;
}

/* ---- names of arguments --------------------------------------------------------------------- */

bool el_takes_columns(const Op *op)
{
    bool takes = false;
    for (int i = 0; i < op->n_params; i++) {
        takes = takes || (op->param[i].types & OP_COLUMN) != 0;
    }
    return takes;
}

void el_unknown_argument(Elab *el, const Op *op, const AstArg *arg)
{
    const char *names[OP_MAX_PARAMS];
    Str s;
    str_init(&s, el->arena);
    for (int i = 0; i < op->n_params; i++) {
        names[i] = op->param[i].name;
        str_addf(&s, i > 0 ? ", %s" : "%s", names[i]);
    }
    static const char *const WINDOWS[] = {"size", "radius", "footprint"};
    for (int i = 0; i < 3; i++) {
        if (strcmp(arg->name, WINDOWS[i]) == 0 && el_filter_of(el, op) != NULL) {
            const AstExpr *window = arg->value;
            el_refuse_window(el, op, i == 0 ? el_radius_words(el, window) : el_words(el, window->span), arg->name_span);
            return;
        }
    }
    diags_drop(el->diags, DIAG_FOREIGN_SPELLING, arg->value->span); /* mode = 'reflect' */
    const char *peer = el_peer_argument(el, op, arg->name), *needless = el_needless_argument(arg->name);
    const char *near = fe_nearest_part(arg->name, names, op->n_params);
    for (int i = 0; i < op->n_params && near == NULL; i++) { /* low of low_threshold */
        const size_t n = strlen(names[i]);
        near = n >= 2 && strncmp(arg->name, names[i], n) == 0 && arg->name[n] == '_' ? names[i] : NULL;
    }
    const bool window =
        strstr(arg->name, "size") != NULL || strstr(arg->name, "radius") != NULL || strstr(arg->name, "disk") != NULL;
    for (int i = 0; i < op->n_params && near == NULL && window; i++) { /* disk_size */
        near = ops_lists("footprint radius size", names[i]) ? names[i] : NULL;
    }
    Diag *d = el_error(el, UNKNOWN_ARGUMENT, arg->name_span, op->name, arg->name);
    if (peer != NULL) {
        diag_help(el->diags, d, "%s", peer);
    } else if (near != NULL) {
        diag_help(el->diags, d, "did you mean `%s`?", near);
    } else if (needless != NULL) {
        diag_help(el->diags, d, "leave it out: %s", needless);
    } else {
        diag_help(el->diags, d, "its arguments are %s%s", s.n > 0 ? s.at : "none",
                  el_takes_columns(op) ? "; a column is an image, or has a value for each label" : "");
    }
}

const char *el_call_words(Elab *el, const Op *op)
{
    Str call;
    str_init(&call, el->arena);
    ops_call(op, &call);
    return call.at;
}

void el_missing_argument(Elab *el, const Call *call, const OpParam *p, const AstExpr *e)
{
    Diag *d = el_error(el, MISSING_ARGUMENT, e->word, call->op->name, p->name);
    const char *example = call->op->example, *line = strrchr(example, '\n');
    diag_help(el->diags, d, "%s", el_call_words(el, call->op));
    if (line == NULL && strlen(example) < 90) {
        diag_help(el->diags, d, "for example: %s", example);
    }
}

static const char *choice_meant(Elab *el, const AstStmt *s)
{
    const AstStmt *one = s->body, *other = s->other;
    bool given = one != NULL && one->next == NULL && one->name != NULL && one->a != NULL && one->kind == AST_ASSIGN;
    bool both = other != NULL && other->next == NULL && other->name != NULL && other->a != NULL &&
                other->kind == AST_ASSIGN && given && strcmp(one->name, other->name) == 0;
    return !given ? "choose between values: a if condition else b"
                  : arena_printf(el->arena, "choose between values: `%s = %s if %s else %s`", one->name,
                                 el_words(el, one->a->span), el_words(el, s->a->span),
                                 both ? el_words(el, other->a->span) : "...");
}

/* for i in 1 .. 3 { total = total + f(i) }: a sum; NULL: it is something else. */
static const char *sum_meant(Elab *el, const AstStmt *s)
{
    const AstStmt *one = s->kind == AST_FOR ? s->body : NULL;
    const AstExpr *e = one != NULL && one->next == NULL && one->kind == AST_ASSIGN ? one->a : NULL;
    const bool sum = e != NULL && e->kind == AST_BINARY && strcmp(e->op, "+") == 0 && e->a->kind == AST_NAME &&
                     strcmp(e->a->name, one->name) == 0;
    return sum ? arena_printf(el->arena, "a sum is written `%s = sum(%s for %s in %s .. %s)`", one->name,
                              el_words(el, e->b->span), s->name, el_words(el, s->lo->span), el_words(el, s->hi->span))
               : NULL;
}

const char *el_statement_meant(Elab *el, const AstStmt *s)
{
    bool counted =
        s->kind == AST_FOR && s->lo->kind == AST_NUMBER && s->hi->kind == AST_NUMBER && s->hi->num >= s->lo->num;
    const char *sum = sum_meant(el, s);
    return sum != NULL ? sum
           : s->kind == AST_FOR && strstr(el_words(el, s->hi->span), "depth(") != NULL
               ? "planes are taken all at once: leave the loop out; one of them is v[z = 0]"
           : s->kind == AST_FOR && (strncmp(el_words(el, s->hi->span), "count(", 6) == 0 ||
                                    strncmp(el_words(el, s->hi->span), "max(label", 9) == 0)
               ? "objects are taken all at once: measure(labels, image, mean) has a row for each of them"
           : s->kind == AST_IF     ? choice_meant(el, s)
           : s->kind == AST_RETURN ? arena_printf(el->arena, "results of a pipeline are written: output result = %s",
                                                  s->a != NULL ? el_words(el, s->a->span) : "...")
           : s->kind == AST_WHILE
               ? "a pipeline repeats with: repeat 20 { ... }, or repeat until VALUE is stable, at most 100 { ... }"
               : arena_printf(el->arena, "a pipeline repeats with: repeat %.0f { ... }",
                              counted ? floor(s->hi->num - s->lo->num) + 1 : 20);
}

void el_help_return(Elab *el, Diag *d, const AstStmt *fn)
{
    const AstStmt *last = fn->body;
    while (last != NULL && last->next != NULL) {
        last = last->next;
    }
    bool value = last != NULL && last->kind == AST_EXPR;
    diag_help(el->diags, d, "end it with: return %s", value ? el_words(el, last->a->span) : "...");
}
