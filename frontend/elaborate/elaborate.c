/*
 * elaborate: the statements of a pipeline, and of the functions that it expands.
 */
#include "elab.h"
#include "../syntax/words.h"

#include "../../ir/ids.h"
#include "../../ir/pixels.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <string.h>

/* ---- inputs ---------------------------------------------------------------------------- */

typedef struct Axis {
    char name;
    int axis;
} Axis;

static const Axis AXES[] = {{'x', IR_AX_X}, {'y', IR_AX_Y}, {'z', IR_AX_Z}, {'c', IR_AX_C}};

static int axis_of(const char *name)
{
    for (size_t i = 0; i < sizeof AXES / sizeof *AXES; i++) {
        if (name[0] == AXES[i].name && name[1] == '\0') {
            return AXES[i].axis;
        }
    }
    return -1;
}

/* "z, y, x": the axes that were written, in the order that they must have; channels stay where they are. */
static const char *in_order(Elab *el, const AstName *names)
{
    bool has[IR_AXES] = {false};
    for (const AstName *n = names; n != NULL; n = n->next) {
        const int axis = axis_of(n->name);
        has[axis >= 0 ? axis : IR_AX_C] = true;
    }
    Str text;
    str_init(&text, el->arena);
    int next = IR_AX_Z;
    for (const AstName *n = names; n != NULL; n = n->next) {
        const int axis = axis_of(n->name);
        const bool spatial = axis >= 0 && axis != IR_AX_C;
        while (spatial && next >= IR_AX_X && !has[next]) {
            next--;
        }
        if (spatial && next < IR_AX_X) { /* one was written twice */
            continue;
        }
        const char own[] = {spatial ? "xyz"[next--] : n->name[0], '\0'};
        str_addf(&text, "%s%s", text.n > 0 ? ", " : "", own);
    }
    return text.at;
}

const char *el_axis_called(const char *name)
{
    static const struct {
        const char *words, *here;
    } CALLED[] = {{"h height row rows r i lines", "y"},
                  {"w width column columns col cols j", "x"},
                  {"d depth slice slices plane planes k", "z"},
                  {"channel channels ch band bands colour color rgb", "c"}};
    for (size_t i = 0; i < sizeof CALLED / sizeof *CALLED; i++) {
        if (ops_lists(CALLED[i].words, name)) {
            return CALLED[i].here;
        }
    }
    return NULL;
}

/* Reads the axes into `has` and `text`; false after a complaint. */
static bool read_axes(Elab *el, const AstStmt *s, bool has[IR_AXES], Str *text)
{
    int last = IR_AXES;
    for (const AstName *n = s->names; n != NULL; n = n->next) {
        int axis = axis_of(n->name);
        if (axis < 0) {
            Diag *d = el_error(el, UNKNOWN_AXIS, n->span, n->name);
            const char small[] = {(char)tolower((unsigned char)n->name[0]), '\0'};
            if (n->name[1] == '\0' && axis_of(small) >= 0) {
                diag_help(el->diags, d, "axes are small letters: `%s`", small);
                return false;
            }
            if (elem_from_name(n->name) != ELEM_NONE) { /* input image[y, x, u8] */
                diag_help(el->diags, d, "a type follows the axes: `input %s[y, x] : %s`", s->name, n->name);
                return false;
            }
            const char *here = el_axis_called(n->name);
            const AstName *other = s->names;
            while (here != NULL && other != NULL && strcmp(other->name, here) != 0) {
                other = other->next;
            }
            if (here != NULL && other == NULL) {
                diag_help(el->diags, d, "here it is `%s`", here);
                return false;
            }
            diag_help(el->diags, d,
                      ops_lists("t time T frame frames timepoint timepoints", n->name)
                          ? "leave t out: every time point is a run of its own; or "
                            "call it z, and run with --time-as-z"
                          : "axes are x, y, z and c (channels); all others are "
                            "looped over");
            return false;
        }
        if (has[axis]) {
            el_error(el, AXIS_TWICE, n->span, n->name);
            return false;
        }
        if (axis != IR_AX_C && axis > last) {
            Diag *d = el_error(el, AXES_ORDER, n->span, n->name);
            diag_help(el->diags, d, "axes go from the outermost to the innermost, rows before columns: %s[%s]", s->name,
                      in_order(el, s->names));
            return false;
        }
        last = axis != IR_AX_C ? axis : last;
        has[axis] = true;
        str_add(text, n->name);
    }
    if (!has[IR_AX_X]) {
        Diag *d = el_error(el, NO_X_AXIS, s->name_span, s->name);
        diag_help(el->diags, d, "write input %s[y, x]", s->name);
        return false;
    }
    return true;
}

/* numpy's names of types, and C's. */
static void help_type(Elab *el, Diag *d, const char *type)
{
    static const struct {
        const char *theirs, *ours;
    } TYPES[] = {{"uint8", "u8"},   {"byte", "u8"},    {"uint16", "u16"},  {"int16", "i16"},  {"short", "i16"},
                 {"uint32", "u32"}, {"uint", "u32"},   {"int32", "i32"},   {"int", "i32"},    {"float32", "f32"},
                 {"float", "f32"},  {"single", "f32"}, {"float64", "f64"}, {"double", "f64"}, {"binary", "mask"}};
    for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++) {
        if (strcmp(TYPES[i].theirs, type) == 0) {
            diag_help(el->diags, d, "write `%s`", TYPES[i].ours);
            return;
        }
    }
    diag_help(el->diags, d, "pixels are u8 u16 i16 u32 i32 f32 or f64, or the input is labels or a mask");
}

static bool input_type(Elab *el, const AstStmt *s, IrNode *node)
{
    node->kind = IR_K_IMAGE;
    node->elem = ELEM_FILE;
    if (s->type == NULL) {
        return true;
    }
    if (strcmp(s->type, "labels") == 0) {
        node->kind = IR_K_LABELS;
        node->elem = ELEM_U32;
        return true;
    }
    if (strcmp(s->type, "mask") == 0 || strcmp(s->type, "bool") == 0) {
        node->kind = IR_K_MASK;
        node->elem = ELEM_BOOL;
        return true;
    }
    node->elem = elem_from_name(s->type);
    if (node->elem == ELEM_NONE || node->elem == ELEM_FILE) {
        Diag *d = el_error(el, UNKNOWN_TYPE, s->type_span, s->type);
        help_type(el, d, s->type);
        return false;
    }
    return true;
}

static void bind_new(Elab *el, const AstStmt *s, Val v, BindKind kind)
{
    const Binding *b = el_find_here(el->scope, s->name);
    if (b != NULL) {
        Diag *d = el_error(el, NAME_TAKEN, s->name_span, s->name);
        diag_note(el->diags, d, b->span, "`%s` gets its meaning here", s->name);
        return;
    }
    el_bind(el, s->name, s->name_span, v, kind);
}

static void input(Elab *el, const AstStmt *s)
{
    bool has[IR_AXES] = {false};
    Str text;
    str_init(&text, el->arena);
    IrNode node = {.op = IR_INPUT, .grid = -1, .name = s->name, .span = s->span};
    bool fine = read_axes(el, s, has, &text);
    fine = input_type(el, s, &node) && fine;
    if (!fine) {
        bind_new(el, s, el_err(), BIND_INPUT);
        return;
    }
    node.text = text.at;
    IrPlace place = {.input = ir_inputs(el->g)};
    IrId id = ir_add_node(el->g, node);
    IrGrid grid = {.extent = {0}};
    for (int ax = 0; ax < IR_AXES; ax++) {
        grid.has[ax] = has[ax];
        grid.extent[ax] = has[ax] ? ir_extent(el->g, id, ax) : 0;
    }
    int lies = el_add_grid(el, grid, place, el_as_they_lie());
    ir_node(el->g, id)->grid = el->grids.at[lies].extents;
    el_set_grid(el, id, lies);
    if (node.kind == IR_K_LABELS) {
        const char *ids = arena_printf(el->arena, "%s_ids", s->name);
        (void)ir_add_node(el->g, (IrNode){.op = IR_IDS,
                                          .kind = IR_K_VECTOR,
                                          .elem = ELEM_U32,
                                          .grid = -1,
                                          .name = ids,
                                          .span = s->span,
                                          .of = id});
    }
    bind_new(el, s, el_node(el, id), BIND_INPUT);
}

/* ---- parameters ------------------------------------------------------------------------ */

static const char *const RESERVED_OPTIONS[] = {
#define OPTION(name, letter, argument, kind, member, help) name,
#include "../../base/options.def"
#undef OPTION
};

/* A number written in the declaration of a parameter. */
static bool constant_of(Elab *el, const AstExpr *e, double *value, const char **unit)
{
    Val v = el_expr(el, e);
    *unit = v.unit;
    if (el_constant(el, v, value) && !el_is_truth(el, v)) {
        return true;
    }
    if (!el_is_bad(v)) {
        Diag *d = el_error(el, PARAM_NOT_CONSTANT, e->span, el_describe(el, v));
        diag_help(el->diags, d, "defaults and ranges of a param are written as numbers");
    }
    return false;
}

static bool is_whole(const AstExpr *e)
{
    return e == NULL || (e->kind == AST_NUMBER && e->is_int) || (e->kind == AST_UNARY && is_whole(e->a));
}

/* "dry_run" is the option --dry-run. */
static bool is_option(const char *name, const char *option)
{
    for (; *name != '\0' && (*name == *option || (*name == '_' && *option == '-')); name++) {
        option++;
    }
    return *name == *option;
}

static void check_option_name(Elab *el, const AstStmt *s)
{
    for (size_t i = 0; i < sizeof RESERVED_OPTIONS / sizeof *RESERVED_OPTIONS; i++) {
        if (is_option(s->name, RESERVED_OPTIONS[i])) {
            Diag *d = el_error(el, PARAM_IS_OPTION, s->name_span, s->name, RESERVED_OPTIONS[i]);
            diag_help(el->diags, d, "choose another name, such as %s_value", s->name);
        }
    }
}

/* A bound has the unit of the default; 0 and the infinities need none. */
static bool bound_of(Elab *el, const AstExpr *e, const char *unit, double *value)
{
    const char *own;
    if (e == NULL) {
        return true;
    }
    if (!constant_of(el, e, value, &own)) {
        return false;
    }
    bool none = own == NULL && (unit == NULL || *value == 0 || isinf(*value));
    if (!none && (own == NULL || unit == NULL || strcmp(own, unit) != 0)) {
        Diag *d = el_error(el, PARAM_UNITS, e->span, own != NULL ? own : "no unit", unit != NULL ? unit : "no unit");
        if (own == NULL) {
            diag_help(el->diags, d, "write the same unit: %s %s", el_words(el, e->span), unit);
        } else {
            diag_help(el->diags, d, "the default and both bounds have the same unit, or none");
        }
        return false;
    }
    return true;
}

static void param(Elab *el, const AstStmt *s)
{
    const char *unit = NULL;
    IrParam p = {.name = s->name, .help = s->text, .lo = -INFINITY, .hi = INFINITY};
    check_option_name(el, s);
    if (s->a->kind == AST_INDEX && s->a->a->kind == AST_NUMBER) {
        Diag *d = el_error(el, EXPECTED_RANGE, s->a->word, arena_printf(el->arena, "`%s`", el_words(el, s->a->word)));
        const AstArg *lo = s->a->args, *hi = lo != NULL ? lo->next : NULL;
        diag_help(el->diags, d, "a range is written behind `in`: param %s = %s in %s .. %s", s->name,
                  el_words(el, s->a->a->span), hi != NULL ? el_words(el, lo->value->span) : "1",
                  hi != NULL ? el_words(el, hi->value->span) : "10");
        bind_new(el, s, el_err(), BIND_PARAM);
        return;
    }
    bool words = s->lo != NULL && s->hi == NULL, truth = s->a->kind == AST_BOOL && s->lo == NULL;
    if (truth) {
        p = (IrParam){p.name, p.help, s->a->num, 0, 1, true, "false|true"};
    }
    if (words || truth) {
        bool known = truth || el_word_param(el, s, &p);
        vec_push(el->arena, &el->g->params, p);
        IrExpr number = ir_param(el->g, el->g->params.n - 1);
        Val v = !known  ? el_err()
                : truth ? el_host(ir_op2(el->g, IR_X_NE, number, ir_const(el->g, 0)))
                        : el_word(s->name);
        v.expr = words && known ? number : v.expr;
        v.words = words && known ? p.words : NULL;
        bind_new(el, s, v, BIND_PARAM);
        return;
    }
    bool fine = constant_of(el, s->a, &p.value, &unit);
    fine = fine && bound_of(el, s->lo, unit, &p.lo) && bound_of(el, s->hi, unit, &p.hi);
    if (!fine) {
        bind_new(el, s, el_err(), BIND_PARAM);
        return;
    }
    if (p.lo > p.hi) {
        Diag *d = el_error(el, PARAM_RANGE_EMPTY, s->lo->span, p.lo, p.hi);
        diag_help(el->diags, d, "the smaller end comes first: in %s .. %s", el_words(el, s->hi->span),
                  el_words(el, s->lo->span));
    } else if (!(p.value >= p.lo && p.value <= p.hi)) {
        Diag *d = el_error(el, PARAM_DEFAULT_OUTSIDE, s->a->span, p.value, p.lo, p.hi);
        if (s->lo != NULL) {
            diag_note(el->diags, d, s->lo->span, "the range is given here");
            diag_help(el->diags, d, "another default, or a range that has it: in %s .. %s",
                      el_words(el, p.value < p.lo ? s->a->span : s->lo->span),
                      el_words(el, p.value > p.hi ? s->a->span : s->hi->span));
        } else {
            diag_help(el->diags, d, "a param is never nan");
        }
    }
    p.integer = unit == NULL && is_whole(s->a) && is_whole(s->lo) && is_whole(s->hi);
    if (unit != NULL) {
        p.help = arena_printf(el->arena, p.help != NULL ? "%s (%s)" : "%.0s%s", p.help, unit);
    }
    vec_push(el->arena, &el->g->params, p);
    Val v = el_host(ir_param(el->g, el->g->params.n - 1));
    v.unit = unit;
    bind_new(el, s, v, BIND_PARAM);
}

/* ---- functions ------------------------------------------------------------------------- */

static void function(Elab *el, const AstStmt *s)
{
    if (ops_find(el->ops, s->name) != NULL) {
        Diag *d = el_error(el, SHADOWS_OPERATOR, s->name_span, s->name);
        diag_help(el->diags, d, "`pipec ops %s` shows the operator that it hides", s->name);
    }
    Val v = {.kind = VAL_FUNCTION, .grid = -1, .fn = s, .env = el->scope};
    for (const AstName *p = s->names; p != NULL; p = p->next) {
        for (const AstName *q = s->names; q != p; q = q->next) {
            if (strcmp(p->name, q->name) == 0) {
                el_error(el, PARAMETER_TWICE, p->span, p->name);
                v = el_err();
            }
        }
    }
    bind_new(el, s, v, BIND_FN);
}

/* ---- assignments ----------------------------------------------------------------------- */

static void check_reassigned(Elab *el, const AstStmt *s, const Binding *b)
{
    if (b == NULL || el->depth > 0) {
        return;
    }
    if (b->kind != BIND_VARIABLE) {
        Diag *d = el_error(el, NAME_TAKEN, s->name_span, s->name);
        diag_note(el->diags, d, b->span, "`%s` gets its meaning here", s->name);
        diag_help(el->diags, d, "inputs, params and functions keep their names; call this one otherwise: new_%s = %s",
                  s->name, el_words(el, s->a->span));
        return;
    }
    if (el->loop == 0 && s->kind != AST_OUTPUT &&
        el->diags->errors == 0) { /* an output may be called as what it is made of */
        Diag *d = el_error(el, REASSIGNED, s->name_span, s->name);
        diag_note(el->diags, d, b->span, "this value can no longer be reached below");
        diag_help(el->diags, d, "give the second one a name of its own");
    }
}

static bool reads_carry(const Elab *el, IrExpr e)
{
    IrId node;
    return el_plain_read(el, e, &node) && ir_node(el->g, node)->op == IR_CARRY;
}

static Val name_image(Elab *el, const char *name, Val v, Span span)
{
    IrId node;
    bool carry = el->loop != 0 && reads_carry(el, v.expr);
    bool labels = v.image == IR_K_LABELS;
    if (el_plain_read(el, v.expr, &node) && !carry) {
        if (el->depth == 0) {
            el_name_node(el, node, name, span);
        }
        return v;
    }
    const char *full = el->depth == 0 ? name : el_hint(el, name);
    IrId stored = el->depth == 0 || carry ? el_store_as(el, v, full, span) : el_store(el, v, name, span);
    Val named = el_node(el, stored);
    named.image = labels ? IR_K_LABELS : named.image;
    return named;
}

static IrExpr scalar_node(Elab *el, const char *name, IrExpr e, Span span)
{
    IrNode node = {.op = IR_SCALAR, .kind = IR_K_VALUE, .elem = ELEM_F64, .scalar.value = {e}};
    const char *hint = el->hint;
    el->hint = el->depth == 0 ? NULL : hint;
    IrId id = el_add(el, node, name, span);
    el->hint = hint;
    return ir_value(el->g, id, 0);
}

/* A whole-image value made in a loop is kept as the round made it: its parts change with the
 * next round. */
static Val name_uniform(Elab *el, const char *name, Val v, Span span)
{
    IrGraph *g = el->g;
    const IrExprNode *n = ir_expr(g, v.expr);
    bool kept = n->op == IR_X_VALUE && ir_node(g, n->node)->op != IR_CARRY;
    if (el->loop == 0 || kept) {
        return v;
    }
    if (n->type != ELEM_BOOL) {
        return el_uniform(scalar_node(el, name, v.expr, span));
    }
    IrExpr number = ir_op3(g, IR_X_SELECT, v.expr, ir_const(g, 1), ir_const(g, 0));
    IrExpr kept_number = scalar_node(el, name, number, span);
    return el_uniform(ir_op2(g, IR_X_NE, kept_number, ir_const(g, 0)));
}

static void bind_value(Elab *el, const AstStmt *s, Val v)
{
    const Binding *b = el_find_here(el->scope, s->name);
    bool carried = el->loop != 0 && b != NULL && b->loop != el->loop;
    const char *name = carried ? arena_printf(el->arena, "%s_next", s->name) : s->name;
    if (v.kind == VAL_IMAGE && !el_follows_index(el, v.expr)) {
        v = name_image(el, name, v, s->span);
    } else if (v.kind == VAL_UNIFORM) {
        v = name_uniform(el, name, v, s->span);
    }
    int loop = b != NULL ? b->loop : el->loop;
    Binding *now = el_bind(el, s->name, s->name_span, v, BIND_VARIABLE);
    now->loop = loop;
}

static void assign(Elab *el, const AstStmt *s)
{
    const char *hint = el->hint;
    check_reassigned(el, s, el_find_here(el->scope, s->name));
    el->hint = el->depth == 0 ? s->name : el_hint(el, s->name);
    Val v = el_expr(el, s->a);
    el->hint = hint;
    if (v.kind == VAL_FUNCTION && v.fn == NULL) {
        v = el_err();
    }
    bind_value(el, s, v);
}

/* ---- outputs --------------------------------------------------------------------------- */

static bool output_name_taken(Elab *el, const char *name, Span span)
{
    for (int i = 0; i < el->g->outputs.n; i++) {
        if (strcmp(el->g->outputs.at[i].name, name) == 0) {
            Diag *d = el_error(el, OUTPUT_TWICE, span, name);
            diag_note(el->diags, d, el->g->outputs.at[i].span, "the first one is here");
            diag_help(el->diags, d, "give the second one a name of its own");
            return true;
        }
    }
    return false;
}

static void refuse_output(Elab *el, const AstStmt *s, Val v)
{
    Span at = s->a != NULL ? s->a->span : s->name_span;
    const char *of = s->a == NULL ? s->name : s->a->kind == AST_NAME ? s->a->name : NULL;
    if (of != NULL && el_is_broken(el, of)) { /* what a loop was to make of it */
        return;
    }
    Diag *d = el_error(el, OUTPUT_KIND, at, el_describe(el, v));
    if (el_help_for_images(el, d, v)) {
        return;
    }
    if (v.kind == VAL_SELECTION) {
        diag_help(el->diags, d, "write its mask, or what was measured in it: mean(...)");
        diag_help(el->diags, d, "an image with 0 elsewhere: v if mask else 0; labels: mask_labels(labels, mask)");
    } else if (v.kind == VAL_VECTOR) {
        diag_help(el->diags, d,
                  "values of labels are written as a table: measure(labels, ...); "
                  "painted as an image: v[labels]");
    } else if (v.kind == VAL_LIST && v.n == 0) {
        diag_help(el->diags, d,
                  "there are no lists that grow: each result has a name, and a table a row for each object");
    } else if (v.kind == VAL_NUMBER) {
        diag_help(el->diags, d,
                  "it is known before any image is read; outputs are images, tables "
                  "and whole-image values");
    } else if (v.kind == VAL_FUNCTION) {
        diag_help(el->diags, d, s->a != NULL ? "call it: output %s = %s(...)" : "call it: output %s_of_image = %s(...)",
                  s->name, s->a != NULL ? el_words(el, at) : s->name);
    } else {
        diag_help(el->diags, d,
                  "outputs are images, masks, labels, tables and whole-image "
                  "values");
    }
}

/* Parts of labels, which are computed as places, are written with their numbers. */
static IrId labels_to_write(Elab *el, Val v, const char *name, Span span)
{
    IrId node = el_store(el, v, NULL, span);
    if (ir_node(el->g, node)->kind != IR_K_LABELS) {
        node = el_store_as(el, el_image(el, ir_ids_numbers(el->g, ir_read(el->g, node)), v.grid), name, span);
        ir_node(el->g, node)->kind = IR_K_LABELS;
    }
    return node;
}

static void add_output(Elab *el, const AstStmt *s, const char *name, Val v)
{
    if (output_name_taken(el, name, s->name_span)) {
        return;
    }
    IrOutput out = {.name = name, .format = el_format(el, s, v), .span = s->span};
    out.stored = el_stored(el, s, out.format, v.kind == VAL_TABLE);
    if (v.kind == VAL_IMAGE) {
        out.place = *el_place_of(el, v.grid);
        out.along = strcmp(out.format, "csv") == 0 ? el_names_of(el, v.grid)->of[IR_AX_X] : IR_AX_X;
        out.node = v.image == IR_K_LABELS ? labels_to_write(el, v, name, s->span) : el_store(el, v, NULL, s->span);
        if (ir_node(el->g, out.node)->op == IR_INPUT && v.image == IR_K_IMAGE) {
            out.node = el_store_as(el, v, name, s->span);
        }
    } else if (v.kind == VAL_TABLE) {
        out.node = v.node;
        out.place = v.grid >= 0 ? *el_place_of(el, v.grid) : out.place;
        el_name_node(el, v.node, name, s->span);
    } else {
        out.value = v.expr;
    }
    vec_push(el->arena, &el->g->outputs, out);
}

static bool is_carried(const IrGraph *g, IrId node)
{
    bool is = false;
    for (int l = 1; l < g->loops.n; l++) {
        for (int i = 0; i < g->loops.at[l].carries.n; i++) {
            const IrCarry *c = &g->loops.at[l].carries.at[i];
            is = is || c->carry == node || c->first == node || c->next == node;
        }
    }
    return is;
}

/* Pixels that were only moved or chosen are stored in the type that they had, once all of the pipeline is known.  Others
 * that read them read the same. */
static void keep_types(Elab *el)
{
    IrGraph *g = el->g;
    for (int i = 0; i < g->outputs.n; i++) {
        IrId id = g->outputs.at[i].node;
        if (id == 0 || ir_node(g, id)->kind != IR_K_IMAGE) {
            continue;
        }
        const IrPixels p = ir_pixels(g, ir_read(g, id));
        if (p.elem == ELEM_NONE || p.elem == ir_node(g, id)->elem) {
            continue;
        }
        if (ir_node(g, id)->op != IR_MAP || is_carried(g, id)) {
            id = el_store_as(el, el_node(el, id), g->outputs.at[i].name, g->outputs.at[i].span);
            g->outputs.at[i].node = id;
        }
        ir_node(g, id)->elem = p.elem;
        ir_node(g, id)->of = p.file;
    }
}

static void output_value(Elab *el, const AstStmt *s, const char *name, Val v)
{
    if (v.kind == VAL_RECORD) {
        for (int i = 0; i < v.n; i++) {
            const char *full = arena_printf(el->arena, "%s_%s", name, v.items[i].name);
            output_value(el, s, full, v.items[i].val);
        }
    } else if (v.kind == VAL_IMAGE || v.kind == VAL_TABLE || v.kind == VAL_UNIFORM) {
        add_output(el, s, name, v);
    } else if (!el_is_bad(v)) {
        refuse_output(el, s, v);
    }
}

static void output(Elab *el, const AstStmt *s)
{
    if (output_name_taken(el, s->name, s->name_span)) {
        return;
    }
    if (s->a != NULL) {
        assign(el, s);
    }
    Binding *b = el_find(el->scope, s->name);
    if (b == NULL) {
        el_unknown(el, s->name, s->name_span);
        return;
    }
    b->used = true;
    if (!el_is_lost(el, b, s->name_span)) {
        output_value(el, s, s->name, b->val);
    }
}

/* ---- control flow that is decided while compiling ---------------------------------------- */

/* A condition that must be known now; false in *known after a complaint. */
static bool condition(Elab *el, const AstExpr *e, bool *known)
{
    Val v = el_expr(el, e);
    double value = 0;
    *known = el_constant(el, v, &value) && el_is_truth(el, v);
    if (!*known && !el_is_bad(v)) {
        bool truth = el_is_truth(el, v) || el_is_mask(el, v);
        Diag *d = el_error(el, CONDITION_NOT_KNOWN, e->span, el_describe(el, v));
        diag_help(el->diags, d,
                  truth ? "choose between values instead: a if condition else b"
                        : "a condition is a comparison: if n > 2 { ... }");
    }
    return value != 0;
}

static bool unroll(Elab *el, const AstStmt *s, Val *result)
{
    double lo, hi;
    IrExpr first = el_bound(el, s->lo), last = el_bound(el, s->hi);
    if (first == 0 || last == 0) {
        *result = el_err();
        return true;
    }
    if (!ir_is_const(el->g, first, &lo) || !ir_is_const(el->g, last, &hi)) {
        bool library = el->call.source != NULL; /* the loop is not in the user's text */
        Diag *d = el_error(el, LOOP_NOT_KNOWN, s->lo->span, library ? ": this operator has a loop inside" : "");
        diag_help(el->diags, d,
                  library ? "its radius or number of rounds is a written number, such as 3, and not a param"
                          : "use repeat for a number of rounds, or sum(... for i in lo .. hi)");
        *result = el_err();
        return true;
    }
    if (!(hi - lo <= ELAB_MAX_UNROLL)) { /* infinite ends, too */
        el_error(el, LOOP_TOO_LONG, s->lo->span, isnan(hi - lo) ? INFINITY : hi - lo + 1, ELAB_MAX_UNROLL + 1);
        *result = el_err();
        return true;
    }
    double n = floor(hi) - ceil(lo); /* beyond 2^53 a number is not changed by adding 1 */
    for (int i = 0; i <= n; i++) {
        if (el->rounds++ == ELAB_MAX_ROUNDS) {
            el_error(el, LOOP_TOO_LONG, s->lo->span, (double)el->rounds, ELAB_MAX_ROUNDS);
        }
        if (el->rounds > ELAB_MAX_ROUNDS) {
            *result = el_err();
            return true;
        }
        el_bind(el, s->name, s->name_span, el_number(el, ceil(lo) + i), BIND_LOCAL);
        if (el_block(el, s->body, result)) {
            return true;
        }
    }
    return false;
}

static bool branch(Elab *el, const AstStmt *s, Val *result)
{
    bool known;
    bool taken = condition(el, s->a, &known);
    if (!known) {
        *result = el_err();
        return true;
    }
    return el_block(el, taken ? s->body : s->other, result);
}

/* What a statement that was refused would have given: uses of it are no mistakes of their own. */
static void bind_bad(Elab *el, const AstStmt *s)
{
    for (; s != NULL; s = s->next) {
        const Binding *b = s->kind == AST_ASSIGN ? el_find_here(el->scope, s->name) : NULL;
        if (s->kind == AST_ASSIGN && (b == NULL || b->kind == BIND_VARIABLE)) {
            el_bind(el, s->name, s->name_span, el_err(), BIND_VARIABLE);
        }
        bind_bad(el, s->body);
        bind_bad(el, s->other);
    }
}

static bool only_in_function(Elab *el, const AstStmt *s)
{
    static const char *const WORDS[] =
        {[AST_IF] = "if", [AST_FOR] = "for", [AST_WHILE] = "while", [AST_RETURN] = "return"};
    if (el->depth > 0) {
        return false;
    }
    Diag *d = el_error(el, ONLY_IN_FUNCTION, s->span, WORDS[s->kind]);
    diags_drop(el->diags, DIAG_DECLARATION_IN_BLOCK, s->span); /* what is inside is no mistake of its own */
    if (s->kind == AST_WHILE || s->kind == AST_FOR) {
        diags_drop(el->diags, DIAG_FOREIGN_SPELLING, s->span); /* i += 1 */
    }
    diag_help(el->diags, d, "%s", el_statement_meant(el, s));
    bind_bad(el, s->body);
    bind_bad(el, s->other);
    return true;
}

/* At the end of a function its `return` is missing, which is said there. */
static void lone_expression(Elab *el, const AstStmt *s)
{
    Val v = el_expr(el, s->a);
    bool result = el->depth > 0 && s->next == NULL;
    if (!el_is_bad(v) && !result) {
        Diag *d = el_error(el, LONE_EXPRESSION, s->span, "");
        diag_help(el->diags, d, "give it a name, or write it: output name = %s", el_words(el, s->a->span));
    }
}

/* What a statement is whose brackets had to be mended is a guess: what was said about them is enough. */
static void value_statement(Elab *el, const AstStmt *s)
{
    const bool mended = diags_has(el->diags, DIAG_UNCLOSED, s->span) ||
                        diags_has(el->diags, DIAG_MISMATCHED, s->span) ||
                        diags_has(el->diags, DIAG_BRACES_LIST, s->span);
    const Diags before = *el->diags;
    if (s->kind == AST_ASSIGN) {
        assign(el, s);
    } else if (s->kind == AST_OUTPUT) {
        output(el, s);
    } else {
        lone_expression(el, s);
    }
    if (mended) {
        diags_rewind(el->diags, &before);
    }
}

/* One statement; true when it returned. */
static bool statement(Elab *el, const AstStmt *s, Val *result)
{
    switch (s->kind) {
    case AST_INPUT:
        input(el, s);
        return false;
    case AST_PARAM:
        param(el, s);
        return false;
    case AST_FN:
        function(el, s);
        return false;
    case AST_ASSIGN:
    case AST_OUTPUT:
    case AST_EXPR:
        value_statement(el, s);
        return false;
    case AST_REPEAT:
    case AST_UNTIL:
        el_loop(el, s);
        return false;
    case AST_INCLUDE: /* its statements are in place */
        return false;
    default:
        break;
    }
    if (only_in_function(el, s)) {
        return false;
    }
    switch (s->kind) {
    case AST_IF:
        return branch(el, s, result);
    case AST_FOR:
        return unroll(el, s, result);
    case AST_RETURN:
        *result = el_expr(el, s->a);
        return true;
    default:
        assert(false && "functions with while are compiled, not expanded");
        return true;
    }
}

bool el_block(Elab *el, const AstStmt *s, Val *result)
{
    for (; s != NULL; s = s->next) {
        if (statement(el, s, result)) {
            if (s->next != NULL && s->kind == AST_RETURN && el->call.source == NULL) {
                el_error(el, AFTER_RETURN, s->next->span, "");
            }
            return true;
        }
    }
    return false;
}

/* ---- a whole file ---------------------------------------------------------------------- */

/* blobs of path/blobs.pipe, with characters that no name has replaced. */
static const char *stem(Elab *el, const char *path)
{
    const char *slash = strrchr(path, '/');
    char *name = arena_strdup(el->arena, slash != NULL ? slash + 1 : path);
    char *dot = strrchr(name, '.');
    if (dot != NULL && dot != name) {
        *dot = '\0';
    }
    for (char *p = name; *p != '\0'; p++) {
        bool letter = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') || *p == '_';
        *p = letter ? *p : '_';
    }
    return name[0] != '\0' ? name : "pipeline";
}

/* Functions may be called above the place where they are written. */
static void bind_functions(Elab *el)
{
    for (const AstStmt *s = el->file->statements; s != NULL; s = s->next) {
        if (s->kind == AST_FN) {
            function(el, s);
        }
    }
}

static void check_file(Elab *el)
{
    bool outputs = false;
    for (const AstStmt *s = el->file->statements; s != NULL; s = s->next) {
        outputs = outputs || s->kind == AST_OUTPUT;
    }
    if (!outputs && el->diags->errors == 0) { /* one that does not parse is no missing one */
        Span end = {el->file->source, 0, 0};
        for (const AstStmt *s = el->file->statements; s != NULL; s = s->next) {
            end = s->span;
        }
        Diag *d = el_error(el, NO_OUTPUT, end, "");
        diag_help(el->diags, d, "write what the pipeline is for: output name = ...");
    }
    el_check_uncalled(el);
    if (outputs && el->diags->errors == 0) {
        el_report_unused(el);
        el_report_amounts(el);
    }
}

IrGraph *fe_elaborate(Arena *arena, const AstFile *file, Diags *diags)
{
    return fe_elaborate_with(arena, fe_library(arena), file, diags);
}

IrGraph *fe_elaborate_with(Arena *arena, FeLibrary *library, const AstFile *file, Diags *diags)
{
    Elab *el = arena_new(arena, Elab);
    el->arena = arena;
    el->diags = diags;
    el->file = file;
    el->library = library;
    el->ops = library->ops;
    el->prelude = arena_new(arena, Scope);
    el->prelude->library_of = el;
    el->g = ir_graph_new(arena, stem(el, file->source->path), file->source);
    el->file = file = el_with_included(el->g, file, diags);
    el->top = arena_new(arena, Scope);
    el->scope = el->top;
    bind_functions(el);
    Val result = el_err();
    for (const AstStmt *s = file->statements; s != NULL && diags->errors < DIAG_ENOUGH; s = s->next) {
        if (s->kind != AST_FN) {
            statement(el, s, &result);
        }
    }
    check_file(el);
    if (diags->errors == 0) {
        ir_ids_settle(el->g);
        keep_types(el);
    }
    return diags->errors == 0 ? el->g : NULL;
}
