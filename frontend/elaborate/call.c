/*
 * call: operators and functions on their arguments.
 *
 * Operators are checked against their signature in ops.def; what they are given is brought to
 * one form (a number for each axis becomes a record x, y, z) before the builtin or the prelude's
 * function sees it.  Functions of the user are expanded where they are called.
 */
#include "elab.h"
#include "../syntax/words.h"

#include "../../base/hostops.h"
#include "../../base/measures.h"
#include "../../ir/range.h"

#include <math.h>
#include <string.h>

/* ---- one argument ---------------------------------------------------------------------- */

static unsigned image_type(IrKind kind)
{
    return kind == IR_K_MASK ? OP_MASK : kind == IR_K_LABELS ? OP_LABELS : OP_IMAGE;
}

/* The types that a value has as it is. */
static unsigned types_of(const Elab *el, Val v)
{
    static const unsigned TYPES[VAL_KINDS] = {
        [VAL_UNIFORM] = OP_VALUE, [VAL_SELECTION] = OP_SELECTION, [VAL_VECTOR] = OP_VECTOR,
        [VAL_RECORD] = OP_RECORD, [VAL_LIST] = OP_LIST,           [VAL_FUNCTION] = OP_FUNCTION,
        [VAL_BORDER] = OP_BORDER, [VAL_FOOTPRINT] = OP_FOOTPRINT, [VAL_WORD] = OP_WORD,
        [VAL_TEXT] = OP_WORD,
    };
    if (v.kind == VAL_IMAGE) {
        return image_type(v.image);
    }
    if (v.kind == VAL_NUMBER) {
        return el_is_truth(el, v) ? OP_TRUTH : OP_NUMBER | OP_INTEGER | OP_VALUE | OP_PER_AXIS | OP_LENGTH;
    }
    bool word = v.kind == VAL_WORD || v.kind == VAL_TEXT;
    if (word && strlen(v.text) == 1 && strchr("xyz", v.text[0]) != NULL) {
        return OP_AXIS | OP_WORD;
    }
    if (word && strcmp(v.text, "c") == 0) {
        return OP_CHANNEL | OP_WORD;
    }
    return TYPES[v.kind];
}

bool el_fits(const Elab *el, const OpParam *p, Val v)
{
    bool each = v.kind == VAL_LIST && (p->types & (OP_PER_AXIS | OP_FOOTPRINT)) != 0;
    return each || (types_of(el, v) & p->types) != 0;
}

static const char *range_words(Elab *el, const OpParam *p)
{
    return p->above       ? arena_printf(el->arena, "above %g", p->lo)
           : isinf(p->hi) ? arena_printf(el->arena, "at least %g", p->lo)
                          : arena_printf(el->arena, "in %g .. %g", p->lo, p->hi);
}

static bool check_range(Elab *el, const Call *call, const OpParam *p, Val v, Span at)
{
    double value;
    if (!p->ranged || !el_constant(el, v, &value) || hostop_within(value, p->lo, p->hi, p->above)) {
        return true;
    }
    el_error(el, ARGUMENT_RANGE, at, p->name, call->op->name, value, range_words(el, p));
    return false;
}

/* What a run is to check (IrBound): what the user has written, known when a run begins, not certain to be in its
 * range; and not in a choice that depends on a number, as in `v if r == 0 else rolling_ball(v, r)`.  What is not in
 * its range for the params' defaults is a mistake already. */
static void bind_range(Elab *el, const Call *call, const OpParam *p, IrExpr value, Span at)
{
    const IrRange r = ir_range(el->g, value);
    if (!p->ranged || el->call.source != NULL || el->guarded || ir_expr(el->g, value)->rank > IR_HOST ||
        (hostop_within(r.lo, p->lo, p->hi, p->above) && hostop_within(r.hi, p->lo, p->hi, p->above))) {
        return;
    }
    double usual;
    if (ir_default(el->g, value, (double)NAN, &usual) && !hostop_within(usual, p->lo, p->hi, p->above)) {
        el_error(el, ARGUMENT_RANGE, at, p->name, call->op->name, usual, range_words(el, p));
        return;
    }
    IrBound bound = {.what = arena_printf(el->arena, "'%s' of '%s'", p->name, call->op->name),
                     .must = range_words(el, p),
                     .value = value,
                     .lo = p->lo,
                     .hi = p->hi,
                     .above = p->above,
                     .span = at};
    for (int i = 0; i < el->g->bounds.n; i++) {
        const IrBound *other = &el->g->bounds.at[i];
        if (other->value == value && strcmp(other->what, bound.what) == 0) {
            return;
        }
    }
    vec_push(el->arena, &el->g->bounds, bound);
}

/* A whole number, or something that is rounded to one at run time.  An area is not: what counts pixels compares with it. */
static bool check_integer(Elab *el, const Call *call, const OpParam *p, Val *v, int axis, Span at)
{
    double value;
    if (el_constant(el, *v, &value) && v->unit == NULL && value != floor(value)) {
        Diag *d = el_error(el, ARGUMENT_NOT_WHOLE, at, p->name, call->op->name, value);
        diag_help(el->diags, d, "%g or %g; `//` divides and rounds down, floor(...) and round(...) make whole numbers",
                  floor(value), ceil(value));
        return false;
    }
    bool area = (p->types & OP_AREA) != 0 && v->unit != NULL;
    v->expr = el_pixels(el, *v, el_grid_of(el, call->arg[0]), axis, at);
    v->unit = NULL;
    if (!area && !el_is_integral(el, v->expr)) {
        v->expr = ir_op1(el->g, IR_X_ROUND, v->expr);
    }
    return true;
}

/* Numbers for each axis as a record; an axis that the image lacks has 0. */
static bool axis_numbers(Elab *el, const Call *call, const OpParam *p, const Val *each, Val *out, Span at)
{
    static const char *const NAMES[] = {"x", "y", "z"};
    int grid = el_grid_of(el, call->arg[0]);
    Val record = el_record(el, 3);
    for (int ax = 0; ax < 3; ax++) {
        Val v = each[ax];
        bool absent = el_is_bad(v);
        v = absent ? el_number(el, 0) : v;
        bool fine = absent || (el_check_unit(el, call, p, v, at) && check_range(el, call, p, v, at));
        fine = fine && ((p->types & OP_INTEGER) == 0 || check_integer(el, call, p, &v, ax, at));
        if (!fine) {
            return false;
        }
        record.items[ax] = (ValItem){NAMES[ax], el_host(el_pixels(el, v, grid, ax, at))};
        if (!absent) {
            bind_range(el, call, p, record.items[ax].val.expr, at);
        }
    }
    *out = record;
    return true;
}

/* A number, or a list with one for each axis of the image, as a record x, y, z. */
static bool per_axis(Elab *el, const Call *call, const OpParam *p, Val *v, Span at)
{
    Val each[3] = {el_err(), el_err(), el_err()};
    const Val image = call->arg[0];
    int ndim = image.kind == VAL_IMAGE ? el_ndim(el, image) : v->n <= 3 ? v->n : 3;
    if (v->kind == VAL_RECORD && el_member(*v, "x") != NULL) {
        return true;
    }
    if (v->kind == VAL_NUMBER) {
        for (int ax = 0; ax < 3; ax++) {
            each[ax] = image.kind != VAL_IMAGE || el_has(el, image, ax) ? *v : each[ax];
        }
        return axis_numbers(el, call, p, each, v, at);
    }
    if (v->n != ndim) {
        const char *axes = image.kind == VAL_IMAGE ? el_axes(el, image.grid) : "[z, y, x]";
        bool rows = (p->types & OP_FOOTPRINT) != 0;
        Diag *d = el_error(el, PER_AXIS_COUNT, at, p->name, v->n, axes);
        diag_help(el->diags, d, "one number for all axes, or a list in the order of the axes, x last%s%s%s",
                  rows ? "; a footprint is written as its rows: [" : "", rows ? el_words(el, at) : "", rows ? "]" : "");
        return false;
    }
    int next = v->n - 1;
    for (int ax = 0; ax < 3 && next >= 0; ax++) {
        if (image.kind == VAL_IMAGE && !el_has(el, image, ax)) {
            continue;
        }
        each[ax] = v->items[next--].val;
        if (each[ax].kind != VAL_NUMBER) {
            el_wrong_kind(el, call, p, each[ax], at);
            return false;
        }
    }
    return axis_numbers(el, call, p, each, v, at);
}

/* A number of pixels as a box; radii along axes that the image lacks become 0. */
static bool settle_footprint(Elab *el, const Call *call, const OpParam *p, Val *v, Span at)
{
    const Val image = call->arg[0];
    bool rows = v->kind == VAL_LIST && v->n > 0 && v->items[0].val.kind == VAL_LIST;
    if (rows) {
        *v = el_literal_footprint(el, *v, at);
    } else if (v->kind != VAL_FOOTPRINT) {
        if ((p->types & OP_PER_AXIS) == 0 || (v->kind != VAL_NUMBER && v->kind != VAL_LIST) || el_is_truth(el, *v)) {
            el_wrong_kind(el, call, p, *v, at);
            return false;
        }
        OpParam whole = *p;
        whole.types |= OP_INTEGER;
        if (!per_axis(el, call, &whole, v, at)) {
            return false;
        }
        v->kind = VAL_FOOTPRINT;
        v->text = "box";
    }
    if (el_is_bad(*v)) {
        return false;
    }
    Val fitted = el_record(el, v->n);
    fitted.kind = VAL_FOOTPRINT;
    fitted.text = v->text;
    memcpy(fitted.items, v->items, sizeof *v->items * (size_t)v->n);
    for (int ax = 0; ax < 3; ax++) {
        bool written = v->n > 3; /* as rows, which are refused there (el_check_axes) */
        bool there = written || image.kind != VAL_IMAGE || el_has(el, image, ax);
        const Val r = v->items[ax].val;
        fitted.items[ax].val = !there           ? el_number(el, 0)
                               : r.unit != NULL ? el_host(el_pixels(el, r, el_grid_of(el, image), ax, at))
                                                : r;
    }
    *v = fitted;
    return true;
}

/* Is a word one of those that a parameter takes? */
static bool is_choice(const OpParam *p, const char *word)
{
    size_t n = strlen(word);
    for (const char *c = p->choices; c != NULL; c = strchr(c, '|')) {
        c += *c == '|';
        if (strncmp(c, word, n) == 0 && (c[n] == '|' || c[n] == '\0')) {
            return true;
        }
    }
    return false;
}

static bool check_choice(Elab *el, const Call *call, const OpParam *p, Val v, Span at)
{
    if (is_choice(p, v.text)) {
        return true;
    }
    Diag *d = el_error(el, UNKNOWN_CHOICE, at, v.text, p->name, call->op->name);
    el_help_choice(el, d, p->choices, v.text);
    return false;
}

/* False after a complaint: on labels that it does not belong to. */
static bool paint_beside(Elab *el, Val *v, Val labels, Span at)
{
    bool fine = el_is_of(el, *v, labels, at);
    *v = fine ? el_paint(el, *v, labels) : el_err();
    return fine;
}

/* Values of labels: what is done pixel by pixel is done label by label with them, and beside labels, which come
 * first, they are painted on these. */
static bool settle_vector(Elab *el, Call *call, const OpParam *p, Val *v, Span at)
{
    const Val labels = call->arg[0];
    bool truth = ir_expr(el->g, v->expr)->type == ELEM_BOOL;
    bool beside = p != &call->op->param[0] && labels.kind == VAL_IMAGE && labels.image == IR_K_LABELS;
    const unsigned pixels = truth ? OP_MASK : OP_IMAGE;
    if ((p->types & OP_VECTOR) != 0 || ((p->types & pixels) != 0 && (p->types & OP_VALUE) != 0)) {
        return true;
    }
    if (beside && (p->types & pixels) != 0) {
        return paint_beside(el, v, labels, at);
    }
    el_wrong_kind(el, call, p, *v, at);
    return false;
}

/* What may be left out is left out by `none`, too. */
static bool left_out(const OpParam *p, const Val *v)
{
    return v->kind == VAL_WORD && strcmp(v->text, "none") == 0 && p->value != NULL && strcmp(p->value, "none") == 0;
}

/* Brings an argument to the form that the operator works with; false after a complaint. */
static bool settle(Elab *el, Call *call, const OpParam *p, Val *v, Span at)
{
    if (el_is_bad(*v)) {
        return false;
    }
    if (left_out(p, v)) {
        return true;
    }
    if ((p->types & OP_FOOTPRINT) != 0) {
        return settle_footprint(el, call, p, v, at);
    }
    if (v->kind == VAL_VECTOR) {
        return settle_vector(el, call, p, v, at);
    }
    unsigned have = types_of(el, *v);
    bool record = v->kind == VAL_RECORD && el_member(*v, "x") != NULL;
    if ((p->types & OP_PER_AXIS) != 0 && (v->kind == VAL_LIST || v->kind == VAL_NUMBER || record) &&
        !el_is_truth(el, *v)) {
        return per_axis(el, call, p, v, at);
    }
    if ((have & p->types) == 0) {
        el_wrong_kind(el, call, p, *v, at);
        return false;
    }
    if (p->choices != NULL && (have & OP_WORD) != 0) {
        return check_choice(el, call, p, *v, at);
    }
    if (v->kind != VAL_NUMBER || el_is_truth(el, *v)) {
        return true;
    }
    if (!check_range(el, call, p, *v, at) || !el_check_unit(el, call, p, *v, at)) {
        return false;
    }
    el_note_amount(el, call, p, *v, at);
    int own = el_axis_meant(p), grid = el_grid_of(el, call->arg[0]);
    int axis = own < 0 ? IR_AX_X : grid >= 0 && call->arg[0].kind != VAL_VECTOR ? el_axis(el, call->arg[0], own) : own;
    bool fine = true;
    if ((p->types & OP_INTEGER) != 0 && (p->types & OP_NUMBER) == 0) {
        fine = check_integer(el, call, p, v, axis, at);
    } else if ((p->types & OP_LENGTH) == 0 && (!call->op->prelude || own >= 0)) {
        v->expr = el_pixels(el, *v, el_grid_of(el, call->arg[0]), axis, at);
        v->unit = NULL;
    }
    if (fine) {
        bind_range(el, call, p, v->expr, at);
    }
    return fine;
}

/* ---- arguments and parameters ---------------------------------------------------------- */

static bool is_property(const AstExpr *e)
{
    return e->kind == AST_NAME && measure_find(e->name, strlen(e->name)) != NULL;
}

/* A bare word is taken as one where the parameter wants words and no image has that name; where it takes nothing but
 * words, as `sort` of `measure`, or that word and no image, whatever has that name, unless it stands for a word itself. */
static Val argument(Elab *el, const OpParam *p, const AstExpr *e)
{
    if (e->kind == AST_NAME && (p->types & (OP_WORD | OP_AXIS)) != 0) {
        const Binding *b = el_find(el->scope, e->name);
        bool wanted = b != NULL && b->val.kind == VAL_IMAGE && is_choice(p, e->name);
        bool only = wanted || (p->types & ~(unsigned)(OP_WORD | OP_AXIS | OP_CHANNEL)) == 0;
        bool taken = b != NULL && (b->val.kind == VAL_WORD || (b->val.kind == VAL_IMAGE && !only));
        if (!taken && (only || is_property(e) || b == NULL)) {
            return el_word(e->name);
        }
    }
    return el_expr(el, e);
}

static int find_param(const Op *op, const char *name)
{
    for (int i = 0; i < op->n_params; i++) {
        if (strcmp(op->param[i].name, name) == 0 && !op->param[i].rest) {
            return i;
        }
    }
    return -1;
}

int el_argument(const Call *call, const char *name)
{
    return find_param(call->op, name);
}

/* The parameter of the i-th value: those beyond the parameters belong to the "..." one. */
static const OpParam *param_at(const Op *op, int i)
{
    for (int k = 0; i >= op->n_params && k < op->n_params; k++) {
        if (op->param[k].rest) {
            return &op->param[k];
        }
    }
    return &op->param[i];
}

/* Whether a name is that of a column: an operator takes such, and nobody calls an argument so. */
static bool is_column(Elab *el, const Op *op, const AstArg *arg)
{
    return el_takes_columns(op) && el_peer_argument(el, op, arg->name) == NULL;
}

bool el_is_labels_name(const Elab *el, const AstExpr *e)
{
    const Binding *b = e->kind == AST_NAME ? el_find(el->scope, e->name) : NULL;
    return b != NULL && b->val.kind == VAL_IMAGE && b->val.image == IR_K_LABELS;
}

/* The parameter that an argument belongs to; -1 after a complaint. */
static int parameter_of(Elab *el, Call *call, const AstArg *arg, int *next)
{
    const Op *op = call->op;
    int i = *next;
    if (arg->name != NULL) {
        i = find_param(op, arg->name);
        i = i < 0 && is_column(el, op, arg) ? call->n : i;
        if (i < 0) {
            el_unknown_argument(el, op, arg);
            return -1;
        }
    } else if (i < op->n_params && op->param[i].rest) {
        i = call->n;
    } else if (i >= op->n_params && el_filter_of(el, op) != NULL && el_is_labels_name(el, arg->value)) {
        Diag *d = el_error(el, TOO_MANY_ARGUMENTS, arg->value->span, op->name, op->n_params);
        bool same = measure_find(op->name, strlen(op->name)) != NULL;
        diag_help(el->diags, d, "%s: property(%s, %s, %s)", same ? "for each label" : "labels have properties, such as",
                  arg->value->name, el_words(el, call->at[0]), same ? op->name : "mean");
        return -1;
    } else if (i >= op->n_params && el_filter_of(el, op) != NULL) {
        if ((*next)++ == op->n_params) {
            el_refuse_window(el, op, el_words(el, arg->value->span), arg->value->span);
        }
        return -1;
    } else if (i >= op->n_params && (*next)++ > op->n_params) {
        return -1; /* it was said of the first one */
    } else if (i >= op->n_params) {
        Diag *d = el_error(el, TOO_MANY_ARGUMENTS, arg->value->span, op->name, op->n_params);
        diag_help(el->diags, d, "%s", el_call_words(el, op));
        return -1;
    } else {
        (*next)++;
    }
    if (i >= CALL_MAX_ARGS) {
        el_error(el, TOO_MANY_ARGUMENTS, arg->value->span, op->name, CALL_MAX_ARGS);
        return -1;
    }
    if (call->given[i]) {
        el_error(el, ARGUMENT_TWICE, arg->name != NULL ? arg->name_span : arg->value->span, param_at(op, i)->name);
        return -1;
    }
    return i;
}

int el_first_of_rest(const Op *op)
{
    return op->n_params - (op->n_params > 0 && op->param[op->n_params - 1].rest);
}

static bool take_arguments(Elab *el, Call *call, const AstExpr *e)
{
    bool fine = true;
    int next = 0, given = 0;
    for (const AstArg *arg = e->args; arg != NULL; arg = arg->next) {
        if (++given > 2 * CALL_MAX_ARGS) { /* each is compared with the others */
            el_error(el, TOO_MANY_ARGUMENTS, arg->value->span, call->op->name, CALL_MAX_ARGS);
            return false;
        }
    }
    /* Values of a "..." parameter follow those of the others. */
    call->n = el_first_of_rest(call->op);
    for (const AstArg *arg = e->args; arg != NULL; arg = arg->next) {
        int i = el_refuse_misfit(el, call, e, arg) ? -1 : parameter_of(el, call, arg, &next);
        if (i < 0) {
            fine = false;
            continue;
        }
        const OpParam *p = param_at(call->op, i);
        call->given[i] = true;
        call->at[i] = arg->value->span;
        call->column[i] = p->rest && arg->name != NULL ? arg : NULL;
        /* A column is what has its name, and no word: `circularity = circularity` is the user's own. */
        call->arg[i] = call->column[i] != NULL ? el_expr(el, arg->value) : argument(el, p, arg->value);
        call->n = i >= call->n ? i + 1 : call->n;
        fine = !el_is_bad(call->arg[i]) && fine;
    }
    return fine;
}

/* A default of ops.def: its text means what it would mean in the prelude. */
static Val default_value(Elab *el, const OpParam *p)
{
    if ((p->types & (OP_WORD | OP_AXIS)) != 0) {
        return el_word(p->value);
    }
    Scope *before = el->scope;
    el->scope = el->prelude;
    Val v = el_expr(el, fe_library_default(el->library, p->value));
    el->scope = before;
    return v;
}

/* What a column has for each label: an image, or a vector painted. */
static bool settle_column(Elab *el, Call *call, int i)
{
    Val *v = &call->arg[i];
    bool labels = v->kind == VAL_IMAGE && v->image == IR_K_LABELS;
    if (v->kind == VAL_VECTOR && call->arg[0].kind == VAL_IMAGE) {
        return paint_beside(el, v, call->arg[0], call->at[i]);
    } else if (labels) {
        OpParam takes = *param_at(call->op, i);
        takes.types = OP_IMAGE | OP_MASK | OP_VECTOR;
        takes.name = call->column[i]->name;
        el_wrong_kind(el, call, &takes, *v, call->at[i]);
        return false;
    } else if (v->kind != VAL_IMAGE) {
        el_unknown_argument(el, call->op, call->column[i]);
        return false;
    }
    return true;
}

static bool settle_arguments(Elab *el, Call *call, const AstExpr *e)
{
    bool fine = true, missing = false;
    if (el_refuse_swapped(el, call, e)) {
        return false;
    }
    for (int i = 0; i < call->n; i++) {
        const OpParam *p = param_at(call->op, i);
        if (!call->given[i] && p->rest) {
            continue;
        }
        if (!call->given[i] && p->value == NULL) {
            if (!missing) {
                el_missing_argument(el, call, p, e);
            }
            missing = true;
            fine = false;
            continue;
        }
        if (!call->given[i]) {
            call->arg[i] = default_value(el, p);
            call->at[i] = e->span;
        }
        call->given[i] = call->given[i] && !left_out(p, &call->arg[i]);
        bool settled =
            call->column[i] != NULL ? settle_column(el, call, i) : settle(el, call, p, &call->arg[i], call->at[i]);
        fine = settled && fine;
    }
    return fine;
}

/* Calls are large, and used again when they have ended. */
static Call *begin_call(Elab *el, const Op *op, const AstExpr *e)
{
    if (el->open_calls == el->calls.n) {
        vec_push(el->arena, &el->calls, arena_new(el->arena, Call));
    }
    Call *call = el->calls.at[el->open_calls++];
    *call = (Call){.op = op, .span = e->span, .word = e->word};
    return call;
}

static Val call_operator(Elab *el, const Op *op, const AstExpr *e)
{
    const AstArg *word = el_word_argument(el, op, e);
    if (word != NULL) {
        return el_call_by_word(el, e, word);
    }
    Call *call = begin_call(el, op, e);
    bool fine = take_arguments(el, call, e) && settle_arguments(el, call, e) && el_check_axes(el, call) &&
                el_check_channels(el, call);
    if (fine) {
        el_settle_axes(el, call);
    }
    const char *hint = el->hint;
    el->hint = el_hint(el, op->name);
    Val v = fine ? el_builtin(op)(el, call) : el_err();
    el->hint = hint;
    el->open_calls--;
    return v;
}

/* ---- functions ------------------------------------------------------------------------- */

bool el_mark_called(Elab *el, const AstStmt *fn)
{
    for (int i = 0; i < el->called.n; i++) {
        if (el->called.at[i] == fn) {
            return false;
        }
    }
    vec_push(el->arena, &el->called, fn);
    return true;
}

void el_expands_too_much(Elab *el, Span span)
{
    Diag *d = el_error(el, EXPANDS_TOO_MUCH, span, ELAB_MAX_EXPANDED);
    diag_help(el->diags, d,
              "each call is computed by itself: what is used twice gets a name, `a = f(v)`, and then `a + a`");
}

bool el_may_expand(Elab *el, const AstStmt *fn, Span span)
{
    if (el->expanded == ELAB_MAX_EXPANDED) {
        el->expanded++;
        el_expands_too_much(el, span);
    }
    if (el->expanded > ELAB_MAX_EXPANDED) {
        return false;
    }
    el->expanded++;
    int calls = 0;
    for (const Frame *f = el->frame; f != NULL; f = f->up) {
        if (++calls == ELAB_MAX_CALLS) {
            el_error(el, TOO_DEEP, span, "");
            return false;
        }
        if (f->fn == fn) {
            Diag *d = el_error(el, RECURSION, span, fn->name);
            diag_help(el->diags, d,
                      "functions are expanded where they are called; write a loop: "
                      "while, for or repeat");
            return false;
        }
    }
    return true;
}

static const char *const KIND_TYPES[] = {"image", "mask", "labels", "number"};

/* Checks a value against a written type and converts numbers to it. */
static Val convert_to(Elab *el, Val v, const char *type, Span type_span, Span span)
{
    if (type == NULL || el_is_bad(v)) {
        return v;
    }
    Elem elem = elem_from_name(type);
    if (elem == ELEM_BOOL) {
        elem = ELEM_NONE;
        type = "mask";
    }
    bool fits = false;
    for (size_t i = 0; i < sizeof KIND_TYPES / sizeof *KIND_TYPES; i++) {
        if (strcmp(type, KIND_TYPES[i]) == 0) {
            bool image = v.kind == VAL_IMAGE && strcmp(IR_KIND_NAMES[v.image], type) == 0;
            bool truth = i == 1 && el_is_truth(el, v);
            fits = image || truth || (i == 3 && el_is_scalar(v) && !el_is_truth(el, v));
            if (!fits) {
                el_error(el, TYPE_MISMATCH, span, type, el_describe(el, v));
            }
            return fits ? v : el_err();
        }
    }
    if (elem == ELEM_NONE || elem == ELEM_FILE) {
        Diag *d = el_error(el, UNKNOWN_TYPE, type_span, type);
        diag_help(el->diags, d,
                  "types are u8 u16 i16 u32 i32 f32 bool, image, mask, labels and "
                  "number");
        return el_err();
    }
    if ((!el_is_scalar(v) && v.kind != VAL_IMAGE) || el_is_truth(el, v) || el_is_mask(el, v)) {
        el_error(el, TYPE_MISMATCH, span, type, el_describe(el, v));
        return el_err();
    }
    return v.kind == VAL_IMAGE ? el_convert(el, v, elem) : v;
}

/* Expands a function on values. */
static Val expand(Elab *el, const AstStmt *fn, Scope *env, const Val *args, const Span *at, int n, Span span)
{
    if (!el_may_expand(el, fn, span)) {
        return el_err();
    }
    Frame frame = {fn, el->frame};
    Scope *before = el_push(el, env);
    int i = 0;
    bool bad = false;
    for (const AstName *p = fn->names; p != NULL && i < n; p = p->next, i++) {
        Val v = convert_to(el, args[i], p->type, p->type_span, at[i]);
        bad = bad || el_is_bad(v);
        el_bind(el, p->name, p->span, v, BIND_LOCAL);
    }
    el->frame = &frame;
    el->depth++;
    Val result = el_err();
    if (!bad && fn->a != NULL) {
        result = el_expr(el, fn->a);
    } else if (!bad && !el_block(el, fn->body, &result) && !diags_has(el->diags, DIAG_EXPECTED_END, fn->span)) {
        Diag *d = el_error(el, MISSING_RETURN, fn->name_span, fn->name);
        el_help_return(el, d, fn);
    }
    el->depth--;
    el->frame = frame.up;
    el->scope = before;
    return convert_to(el, result, fn->type, fn->type_span, span);
}

static Val call_values(Elab *el, const AstStmt *fn, Scope *env, const Val *args, const Span *at, int n, Span span)
{
    el_mark_called(el, fn);
    for (int i = 0; i < n; i++) {
        if (el_is_bad(args[i])) {
            return el_err();
        }
    }
    if (el_needs_scalar(el, fn, env, args, n)) {
        return el_scalar_call(el, fn, env, args, at, n, span);
    }
    const char *hint = el->hint;
    el->hint = el_hint(el, fn->name);
    Val v = expand(el, fn, env, args, at, n, span);
    el->hint = hint;
    return v;
}

static int count_params(const AstStmt *fn)
{
    int n = 0;
    for (const AstName *p = fn->names; p != NULL; p = p->next) {
        n++;
    }
    return n;
}

/* The index of the parameter called `name`, or -1. */
static int find_fn_param(const AstStmt *fn, const char *name)
{
    int i = 0;
    for (const AstName *p = fn->names; p != NULL; p = p->next, i++) {
        if (strcmp(p->name, name) == 0) {
            return i;
        }
    }
    return -1;
}

static bool fn_arguments(Elab *el, const AstStmt *fn, const AstExpr *e, Val *args, Span *at, bool *given)
{
    int n = count_params(fn), next = 0;
    bool fine = true;
    for (const AstArg *arg = e->args; arg != NULL; arg = arg->next) {
        int i = arg->name != NULL ? find_fn_param(fn, arg->name) : next++;
        if (i < 0) {
            Diag *d = el_error(el, UNKNOWN_ARGUMENT, arg->name_span, fn->name, arg->name);
            diag_note(el->diags, d, fn->name_span, "`%s` is written here", fn->name);
            fine = false;
        } else if (i >= n || i >= CALL_MAX_ARGS) {
            if (i == n) { /* said of the first one */
                Diag *d = el_error(el, TOO_MANY_ARGUMENTS, arg->value->span, fn->name, n);
                diag_note(el->diags, d, fn->name_span, "`%s` is written here", fn->name);
            }
            fine = false;
        } else if (given[i]) {
            el_error(el, ARGUMENT_TWICE, arg->name_span, arg->name);
            fine = false;
        } else {
            given[i] = true;
            at[i] = arg->value->span;
            args[i] = el_expr(el, arg->value);
        }
    }
    return fine;
}

bool el_begin_default(Elab *el, const AstStmt *fn, const AstName *p, Default *own, Span span)
{
    for (const Default *d = el->defaults; d != NULL; d = d->up) {
        if (d->of == p) {
            Diag *diag = el_error(el, RECURSION, span, fn->name);
            diag_note(el->diags, diag, p->span, "to find out what `%s` is when it is not given", p->name);
            return false;
        }
    }
    *own = (Default){p, el->defaults};
    el->defaults = own;
    return true;
}

static Val default_argument(Elab *el, const AstStmt *fn, const AstName *p, Scope *env, Span span)
{
    Default own;
    Scope *before = el->scope;
    if (!el_begin_default(el, fn, p, &own, span)) {
        return el_err();
    }
    el->scope = env;
    Val v = el_expr(el, p->value);
    el->scope = before;
    el->defaults = own.up;
    return v;
}

static Val call_function(Elab *el, const AstStmt *fn, Scope *env, const AstExpr *e)
{
    Val args[CALL_MAX_ARGS];
    Span at[CALL_MAX_ARGS];
    bool given[CALL_MAX_ARGS] = {false};
    int written = 0;
    for (const AstArg *arg = e->args; arg != NULL; arg = arg->next) {
        written++;
    }
    bool users = el_is_users(el, fn->span.source) && !el_is_users(el, e->span.source);
    if (users && written != count_params(fn)) {
        el_error(el, FUNCTION_ARITY, e->span, fn->name, count_params(fn), written);
        return el_err();
    }
    bool fine = fn_arguments(el, fn, e, args, at, given);
    int i = 0;
    for (const AstName *p = fn->names; p != NULL && i < CALL_MAX_ARGS && fine; p = p->next, i++) {
        if (given[i]) {
            continue;
        }
        if (p->value == NULL) {
            Diag *d = el_error(el, MISSING_ARGUMENT, e->word, fn->name, p->name);
            diag_note(el->diags, d, p->span, "`%s` is asked for here", p->name);
            fine = false;
            continue;
        }
        args[i] = default_argument(el, fn, p, env, e->word);
        at[i] = e->span;
    }
    return fine ? call_values(el, fn, env, args, at, i, e->span) : el_err();
}

/* True, False, None: of an argument that others have. */
static bool is_pythons(const AstExpr *e)
{
    static const char *const NAMES[] = {"True", "False", "None", "Inf"};
    bool is = false;
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        is = is || (e->kind == AST_NAME && strcmp(e->name, NAMES[i]) == 0);
    }
    return is;
}

Val el_call(Elab *el, const AstExpr *e)
{
    if (e->a != NULL) {
        return el_method(el, e);
    }
    Binding *b = el_find(el->scope, e->name);
    const Op *op = ops_find(el->ops, e->name);
    /* The prelude calls operators as everybody does: checked, and with their defaults. */
    bool operator= op != NULL && b != NULL && b->val.env == el->prelude;
    if (b != NULL && b->val.kind == VAL_FUNCTION && !operator) {
        b->used = true;
        return call_function(el, b->val.fn, b->val.env, e);
    }
    if (op != NULL) {
        return call_operator(el, op, e);
    }
    if (b != NULL && el_is_bad(b->val)) {
        return el_err();
    }
    if (b != NULL) {
        b->used = true;
        Diag *d = el_error(el, NOT_A_FUNCTION, e->word, e->name, el_describe(el, b->val));
        const AstArg *first = e->args;
        if (b->val.kind == VAL_IMAGE && first != NULL && first->next != NULL && first->value->kind == AST_NUMBER) {
            diag_help(el->diags, d, "a place is %s[y = %s, x = %s], counted from 0", e->name,
                      el_words(el, first->value->span), el_words(el, first->next->value->span));
        } else if (b->val.kind == VAL_IMAGE) {
            diag_help(el->diags, d, "a pixel beside the current one is %s[dx = 1, dy = 0]", e->name);
        }
        return el_err();
    }
    const Peer *peer = ops_peer(e->name);
    const Op *meant = peer == NULL ? el_nearest_op(el, e->name) : NULL;
    const bool takes_words = meant != NULL && el_takes_words(meant);
    const bool sets = peer != NULL && peer->arguments[0] == '\0'; /* getDimensions(w, h): variables that are set */
    for (const AstArg *arg = e->args; arg != NULL; arg = arg->next) {
        const AstExpr *value = arg->value;
        bool word =
            value->kind == AST_NAME && (is_property(value) || (peer != NULL && ops_find(el->ops, value->name) != NULL));
        word = word || (takes_words && value->kind == AST_NAME && el_find(el->scope, value->name) == NULL &&
                        !el_is_near_name(el, value->name));
        const bool foreign = peer != NULL && (sets || el_is_of_module(el, value) || is_pythons(value));
        if (!word && !foreign) {
            el_expr(el, value);
        }
        if (peer != NULL) { /* 'otsu', (5, 5): the call has other words here */
            diags_drop(el->diags, DIAG_FOREIGN_SPELLING, value->span);
        }
    }
    return el_unknown_operator(el, e);
}

Val el_from_prelude(Elab *el, const char *name, const Val *args, const Span *at, int n, Span span)
{
    const Binding *b = el_find_here(el->prelude, name);
    if (b == NULL || b->val.kind != VAL_FUNCTION) {
        return el_err();
    }
    Span before = el->call;
    if (before.source == NULL) {
        el->call = span;
    }
    Val v = expand(el, b->val.fn, el->prelude, args, at, n, span);
    el->call = before;
    return v;
}

/* An operator of the prelude: its function on the arguments in order. */
Val el_prelude(Elab *el, Call *call)
{
    Val v = el_from_prelude(el, call->op->name, call->arg, call->at, call->op->n_params, call->span);
    el_note_along(el, call, v);
    el_note_part(el, call);
    return v;
}
