/*
 * stencil: v[...]: offsets from the current pixel, channels, planes and gathers.
 *
 * Offsets (dx, dy, dz) must be known to the host, because they decide how far a kernel looks.
 * A channel or plane that is known to the host drops its axis.  Other positions may be anything
 * and read the image wherever they point.
 */
#include "elab.h"

#include "../../ir/ids.h"
#include "../syntax/words.h"

#include <math.h>
#include <string.h>

static const double MOST_OFFSET = 1 << 30; /* added to the place of a pixel it fits into 32 bits */

typedef struct Index {
    IrExpr offset[3];
    bool offsets;
    Val position[3];
    Span position_at[3];
    bool positions;
    IrExpr channel;
    Border border;
    bool bordered; /* the user says what is outside */
    IrExpr outside;
} Index;

typedef struct IndexWord {
    const char *name;
    enum { ROLE_OFFSET, ROLE_POSITION, ROLE_CHANNEL, ROLE_BORDER, ROLE_FILL, ROLE_TIME } role;
    int axis;
} IndexWord;

static const IndexWord INDEX_WORDS[] = {
    {"dx", ROLE_OFFSET, IR_AX_X},  {"dy", ROLE_OFFSET, IR_AX_Y},  {"dz", ROLE_OFFSET, IR_AX_Z},
    {"x", ROLE_POSITION, IR_AX_X}, {"y", ROLE_POSITION, IR_AX_Y}, {"z", ROLE_POSITION, IR_AX_Z},
    {"c", ROLE_CHANNEL, IR_AX_C},  {"border", ROLE_BORDER, 0},    {"fill", ROLE_FILL, 0},
    {"t", ROLE_TIME, 0},
};
enum { INDEX_WORDS_N = sizeof INDEX_WORDS / sizeof *INDEX_WORDS };

static bool read_offset(Elab *el, Val v, Index *ix, const IndexWord *w, const AstArg *arg)
{
    double value;
    Val given = el_expr(el, arg->value);
    if (el_is_bad(given)) {
        return false;
    }
    if (given.kind != VAL_NUMBER || el_is_truth(el, given)) {
        Diag *d = el_error(el, OFFSET_NOT_HOST, arg->value->span, w->name, el_describe(el, given));
        diag_help(el->diags, d,
                  "a place that is found on the device, or differs from pixel to pixel, is absolute: "
                  "v[%s = %s_of(v) + shift]",
                  w->name + 1, w->name + 1);
        return false;
    }
    int axis = el_axis(el, v, w->axis);
    IrExpr e = el_pixels(el, given, v.grid, axis, arg->value->span);
    bool constant = ir_is_const(el->g, e, &value);
    if (constant && value != floor(value)) {
        Diag *d = el_error(el, OFFSET_NOT_WHOLE, arg->value->span, w->name, value);
        diag_help(el->diags, d, "translate(v, ...) moves an image by fractions of a pixel");
        return false;
    }
    if (constant && fabs(value) > MOST_OFFSET) {
        el_error(el, FAR_INDEX, arg->value->span, value);
        return false;
    }
    if (constant && value == 0) {
        return true;
    }
    if (!el_need_axis(el, v, w->axis, arg->name_span)) {
        return false;
    }
    ix->offset[axis] = el_is_integral(el, e) ? e : ir_op1(el->g, IR_X_ROUND, e);
    ix->offsets = true;
    return true;
}

static bool read_position(Elab *el, Val v, Index *ix, const IndexWord *w, const AstArg *arg)
{
    Val given = el_expr(el, arg->value);
    if (el_is_bad(given) || !el_need_axis(el, v, w->axis, arg->name_span)) {
        return false;
    }
    bool number = (el_is_scalar(given) || given.kind == VAL_IMAGE) && !el_is_truth(el, given) && !el_is_mask(el, given);
    if (!number) {
        Diag *d = el_error(el, POSITION_NOT_NUMBER, arg->value->span, w->name, el_describe(el, given));
        if (given.kind == VAL_LIST) {
            diag_help(el->diags, d, "one place: %s = 1; several that follow one another: crop(image, %s = 1, %s = 2)",
                      w->name, w->name,
                      w->axis == IR_AX_Z   ? "depth"
                      : w->axis == IR_AX_Y ? "height"
                                           : "width");
        }
        return false;
    }
    int axis = el_axis(el, v, w->axis);
    if (given.kind == VAL_NUMBER) {
        given.expr = el_pixels(el, given, v.grid, axis, arg->value->span);
        given.unit = NULL;
    }
    ix->position[axis] = given;
    ix->position_at[axis] = arg->value->span;
    ix->positions = true;
    return true;
}

static bool read_channel(Elab *el, Val v, Index *ix, const AstArg *arg)
{
    double value;
    const AstExpr *text = arg->value;
    if (text->kind == AST_STRING || (text->kind == AST_ERROR && text->name != NULL)) { /* c = 'DAPI' */
        diags_drop(el->diags, DIAG_FOREIGN_SPELLING, text->span);
        Diag *d = el_error(el, NOT_A_HOST_NUMBER, text->span, "a channel", "a text");
        diag_help(el->diags, d, "channels are counted from 0: c = 0 is the first");
        return false;
    }
    if (text->kind == AST_NAME && el_find(el->scope, text->name) == NULL && !words_is_known(text->name)) { /* c = red */
        static const char *const COLOURS[] = {"red", "green", "blue", "r", "g", "b"};
        int i = 0;
        while (i < 6 && strcmp(COLOURS[i], text->name) != 0) {
            i++;
        }
        Diag *d = el_error(el, NOT_A_HOST_NUMBER, text->span, "a channel", "a name without a value");
        diag_help(el->diags, d,
                  i < 6 ? "channels are counted from 0: c = %d" : "channels are counted from 0: c = 0 is the first",
                  i % 3);
        return false;
    }
    IrExpr e = el_host_number(el, arg->value, "a channel");
    if (e == 0 || !el_need_axis(el, v, IR_AX_C, arg->name_span)) {
        return false;
    }
    if (ir_is_const(el->g, e, &value) && (value != floor(value) || value < 0)) {
        Diag *d = el_error(el, BAD_CHANNEL, arg->value->span, value);
        diag_help(el->diags, d, "channels are counted from 0: c = 0 is the first");
        return false;
    }
    ix->channel = e;
    return true;
}

static bool read_border(Elab *el, Index *ix, const AstArg *arg)
{
    Val given = el_expr(el, arg->value);
    if (given.kind == VAL_BORDER) {
        ix->border = given.border;
        ix->bordered = true;
        ix->outside = given.expr != 0 ? given.expr : ir_const(el->g, 0);
        return true;
    }
    if (!el_is_bad(given)) {
        Diag *d = el_error(el, NOT_A_BORDER, arg->value->span, el_describe(el, given));
        diag_help(el->diags, d, "borders are nearest, reflect, mirror, wrap and constant(0)");
    }
    return false;
}

static bool read_fill(Elab *el, Index *ix, const AstArg *arg)
{
    IrExpr e = el_host_number(el, arg->value, "the value outside");
    ix->border = BORDER_CONSTANT;
    ix->bordered = true;
    ix->outside = e;
    return e != 0;
}

static bool read_word(Elab *el, Val v, Index *ix, const AstArg *arg, Span image)
{
    const char *names[INDEX_WORDS_N];
    for (int i = 0; i < INDEX_WORDS_N; i++) {
        const IndexWord *w = &INDEX_WORDS[i];
        names[i] = w->name;
        if (strcmp(w->name, arg->name) != 0) {
            continue;
        }
        switch (w->role) {
        case ROLE_OFFSET:
            return read_offset(el, v, ix, w, arg);
        case ROLE_POSITION:
            return read_position(el, v, ix, w, arg);
        case ROLE_CHANNEL:
            return read_channel(el, v, ix, arg);
        case ROLE_BORDER:
            return read_border(el, ix, arg);
        case ROLE_FILL:
            return read_fill(el, ix, arg);
        default: {
            Diag *d = el_error(el, TIME_INDEX, arg->name_span, "");
            diag_help(el->diags, d, "leave t out: every time point is a run of its own");
            return false;
        }
        }
    }
    const char *near = fe_nearest(arg->name, names, INDEX_WORDS_N);
    Diag *d = el_error(el, UNKNOWN_INDEX, arg->name_span, arg->name);
    const char *here = el_axis_called(arg->name);
    if (here != NULL) {
        diag_help(el->diags, d, "here it is `%s`: %s[%s = %s]", here, el_words(el, image), here,
                  el_words(el, arg->value->span));
        return false;
    }
    diag_help(el->diags, d,
              near != NULL ? "did you mean `%s`?"
                           : "dx, dy, dz are offsets; x, y, z, c are positions; "
                             "border and fill say what is outside%.0s",
              near != NULL ? near : "");
    return false;
}

static bool has_numbers(const AstExpr *e)
{
    bool numbers = true;
    for (const AstArg *arg = e->args; arg != NULL; arg = arg->next) {
        numbers = numbers && arg->value->kind == AST_NUMBER;
    }
    return numbers;
}

/* "image[z = 5]" for image[5] as numpy has it: the axes in turn, from the outermost. */
static const char *with_axes(Elab *el, Val v, const AstExpr *e)
{
    static const struct {
        int axis;
        const char *name;
    } AXES[] = {{IR_AX_C, "c"}, {IR_AX_Z, "z"}, {IR_AX_Y, "y"}, {IR_AX_X, "x"}};
    Str out;
    str_init(&out, el->arena);
    str_addf(&out, "%s[", el_words(el, e->a->span));
    const AstArg *arg = e->args;
    for (int i = 0; i < 4 && arg != NULL; i++) {
        if (el_has(el, v, el_axis(el, v, AXES[i].axis))) {
            const char *words = arg->name == NULL ? el_words(el, arg->value->span) : "0";
            str_addf(&out, arg == e->args ? "%s = %s" : ", %s = %s", AXES[i].name, words);
            arg = arg->next;
        }
    }
    str_add(&out, "]");
    return out.at;
}

static bool is_repeated(const AstExpr *e, const AstArg *arg)
{
    for (const AstArg *other = e->args; other != arg; other = other->next) {
        if (other->name != NULL && strcmp(other->name, arg->name) == 0) {
            return true;
        }
    }
    return false;
}

static bool read_index(Elab *el, Val v, Index *ix, const AstExpr *e)
{
    bool fine = true;
    for (const AstArg *arg = e->args; arg != NULL; arg = arg->next) {
        if (arg->name == NULL && !fine) {
            continue;
        }
        if (arg->name == NULL) {
            Diag *d = el_error(el, POSITIONAL_INDEX, arg->value->span, "");
            const char *image = el_words(el, e->a->span), *places = el_places_meant(el, v, e);
            if (places != NULL) {
                diag_help(el->diags, d, "%s", places);
            } else if (has_numbers(e) || (arg->value->kind == AST_BINARY && arg->value->op[0] == '/')) {
                diag_help(el->diags, d, "by the names of the axes: %s; beside the pixel: %s[dx = 1]",
                          with_axes(el, v, e), image);
            } else if (arg->value->kind == AST_NAME && el_find(el->scope, arg->value->name) != NULL &&
                       !el_is_labels_name(el, arg->value)) {
                const char *at = arg->value->name;
                diag_help(el->diags, d, "beside the pixel: %s[dx = %s]; a place: %s[x = %s]", image, at, image, at);
            } else if (el_is_labels_name(el, arg->value)) {
                diag_help(el->diags, d, "of each label: property(%s, %s, mean), painted with [%s] behind it",
                          arg->value->name, image, arg->value->name);
            } else {
                diag_help(el->diags, d,
                          "beside the pixel: %s[dx = 1, dy = 0]; a place: %s[x = 0, y = 3], a channel: %s[c = 0]",
                          image, image, image);
            }
            fine = false;
            continue;
        }
        if (is_repeated(e, arg)) {
            el_error(el, ARGUMENT_TWICE, arg->name_span, arg->name);
            fine = false;
        } else {
            fine = read_word(el, v, ix, arg, e->a->span) && fine;
        }
    }
    return fine;
}

/* ---- reading --------------------------------------------------------------------------- */

static int without_axis(Elab *el, int grid, int axis)
{
    IrGrid g = el->g->grids.at[el->grids.at[grid].extents];
    g.has[axis] = false;
    g.extent[axis] = 0;
    return el_add_grid(el, g, *el_place_of(el, grid), *el_names_of(el, grid));
}

/* A position as an i32 expression; fractions are rounded to the nearest, ties to even. */
static IrExpr whole_position(Elab *el, Val v)
{
    IrExpr e = v.expr;
    return el_is_integral(el, e) ? ir_cast(el->g, e, ELEM_I32) : ir_saturate(el->g, e, ELEM_I32);
}

static Val gather(Elab *el, Val v, const char *part, Index *ix, int grid, Span span)
{
    Val *at = ix->position;
    bool moving = false;
    for (int ax = 0; ax < 3; ax++) {
        moving = moving || at[ax].kind == VAL_IMAGE;
    }
    if (moving) {
        if (!el_meet(el, at, 3, span)) {
            return el_err();
        }
        for (int ax = 0; ax < 3; ax++) {
            grid = at[ax].kind == VAL_IMAGE ? at[ax].grid : grid;
        }
    }
    IrExpr position[3] = {0, 0, 0};
    Val from[3];
    for (int ax = 0; ax < 3; ax++) {
        from[ax] = at[ax];
        if (at[ax].kind != VAL_ERROR) {
            position[ax] = whole_position(el, at[ax]);
            bool host = at[ax].kind == VAL_NUMBER;
            grid = el_names_of(el, v.grid)->of[ax] == IR_AX_Z && host && !moving && el_ndim(el, v) > 1
                       ? without_axis(el, grid, ax)
                       : grid;
        } else if (ix->offset[ax] != 0) {
            position[ax] = ir_op2(el->g, IR_X_ADD, ir_coord(el->g, ax), ir_cast(el->g, ix->offset[ax], ELEM_I32));
            from[ax] = el_image(el, position[ax], grid);
        } else if (moving && !el_has(el, v, ax) && el->g->grids.at[el->grids.at[grid].extents].has[ax]) {
            position[ax] = ir_const_typed(el->g, 0, ELEM_I32); /* the places have more axes than the image */
        }
    }
    grid = moving ? el_placed(el, grid, v.grid, from) : grid;
    double alike; /* everywhere */
    bool one = ir_is_const(el->g, v.expr, &alike) && ix->border != BORDER_CONSTANT;
    IrExpr e =
        one ? v.expr : ir_read_at(el->g, el_store(el, v, part, span), position, ix->channel, ix->border, ix->outside);
    return el_image(el, v.image == IR_K_LABELS ? ir_ids_numbers(el->g, e) : e, grid);
}

/* image[y = -1] of those who count from the end. */
static void warn_of_negative_places(Elab *el, const AstExpr *e)
{
    static const char *const LENGTH[] = {"width", "height", "depth"};
    const AstArg *negative = NULL;
    for (const AstArg *arg = e->args; arg != NULL; arg = arg->next) {
        bool place = strlen(arg->name) == 1 && strchr("xyz", *arg->name) != NULL;
        const AstExpr *value = arg->value;
        if (strcmp(arg->name, "border") == 0 || strcmp(arg->name, "fill") == 0) {
            return;
        }
        if (place && value->kind == AST_UNARY && strcmp(value->op, "-") == 0 && value->a->kind == AST_NUMBER) {
            negative = arg;
        }
    }
    if (negative != NULL) {
        const char *axis = negative->name, *back = el_words(el, negative->value->span);
        Diag *d = el_error(el, NEGATIVE_PLACE, negative->value->span, axis, back);
        diag_help(el->diags, d, "from the end: %s = %s(%s) - %s", axis, LENGTH[*axis - 'x'], el_words(el, e->a->span),
                  back + 1);
    }
}

Val el_beside_outside(Elab *el, Val v, Border border, IrExpr outside)
{
    Elem type = v.kind == VAL_IMAGE && v.image == IR_K_IMAGE ? ir_expr(el->g, v.expr)->type : ELEM_BOOL;
    if (border != BORDER_CONSTANT || (type != ELEM_I32 && type != ELEM_U32)) {
        return v;
    }
    double value;
    bool known = ir_is_const(el->g, outside, &value);
    if (known && (isinf(value) || (value == floor(value) && value >= elem_min(type) && value <= elem_max(type)))) {
        return v;
    }
    Elem both = ir_expr(el->g, ir_op2(el->g, IR_X_MAX, v.expr, outside))->type;
    return el_image(el, ir_cast(el->g, v.expr, both), v.grid);
}

static Val index_image(Elab *el, Val v, const AstExpr *e)
{
    Index ix = {.border = BORDER_NEAREST};
    for (int ax = 0; ax < 3; ax++) {
        ix.position[ax] = el_err();
    }
    if (!read_index(el, v, &ix, e)) {
        return el_err();
    }
    warn_of_negative_places(el, e);
    if (!ix.offsets && !ix.positions && ix.channel == 0) {
        return v;
    }
    double outside;
    bool filled = ix.border == BORDER_CONSTANT && !(ir_is_const(el->g, ix.outside, &outside) && outside == 0);
    v = el_beside_outside(el, filled ? el_numbers(el, v) : v, ix.border, ix.outside);
    const char *part = e->a->kind == AST_NAME ? e->a->name : "value";
    int grid = ix.channel != 0 ? without_axis(el, v.grid, IR_AX_C) : v.grid;
    for (int ax = 0; ax < 3 && !ix.bordered; ax++) {
        if (ix.position[ax].kind == VAL_NUMBER) {
            el_note_place(el, v, e->a->kind == AST_NAME ? part : "", ax, ix.position[ax].expr);
        }
    }
    if (ix.positions) {
        return gather(el, v, part, &ix, grid, e->span);
    }
    IrId node = el_store(el, v, part, e->a->span);
    IrExpr read = ir_read_offset(el->g, node, ix.offset, ix.channel, ix.border, ix.outside);
    return el_image(el, v.image == IR_K_LABELS ? ir_ids_numbers(el->g, read) : read, grid);
}

/* ---- lists and vectors ----------------------------------------------------------------- */

static Val index_list(Elab *el, Val v, const AstExpr *e)
{
    double at;
    bool one = e->args != NULL && e->args->next == NULL && e->args->name == NULL;
    Val given = one ? el_expr(el, e->args->value) : el_err();
    if (!one || !el_constant(el, given, &at) || at != floor(at) || at < 0 || at >= v.n) {
        el_error(el, BAD_LIST_INDEX, e->span, v.n - 1);
        return el_err();
    }
    return v.items[(int)at].val;
}

static Val index_vector(Elab *el, Val v, const AstExpr *e)
{
    bool one = e->args != NULL && e->args->next == NULL && e->args->name == NULL;
    Val given = one ? el_expr(el, e->args->value) : el_err();
    if (one && el_is_bad(given)) {
        return el_err();
    }
    if (!one || given.kind != VAL_IMAGE || given.image == IR_K_MASK) {
        Diag *d = el_error(el, BAD_VECTOR_INDEX, e->span, "");
        diag_help(el->diags, d, "write the labels that it belongs to: v[labels]");
        return el_err();
    }
    return el_paint(el, v,
                    el_labels_input(el, given) == el_labels_input(el, el_node(el, v.node)) ? given
                                                                                           : el_numbers(el, given));
}

Val el_index(Elab *el, const AstExpr *e)
{
    Val v = el_expr(el, e->a);
    switch (v.kind) {
    case VAL_ERROR:
        return v;
    case VAL_IMAGE:
        return index_image(el, v, e);
    case VAL_LIST:
        return index_list(el, v, e);
    case VAL_VECTOR:
        return index_vector(el, v, e);
    default: {
        Diag *d = el_error(el, NOT_INDEXABLE, e->a->span, el_describe(el, v));
        if (v.kind == VAL_SELECTION) {
            diag_help(el->diags, d, "index the image, then select: v[dx = 1] where mask");
        } else if (v.kind == VAL_TABLE) {
            diag_help(el->diags, d, "a table is written and not read; values of labels: property(labels, image, mean)");
        }
        return el_err();
    }
    }
}
