/*
 * expr: what an expression of the language stands for.
 *
 * Operators work on numbers, whole-image values and images alike; ir_op1 and its like place the
 * conversions.  What is left to check here is kinds: masks and labels are not numbers.
 */
#include "elab.h"
#include "../syntax/words.h"

#include "../../base/measures.h"
#include "../../base/stack.h"

#include <math.h>
#include <string.h>

/* ---- operators ------------------------------------------------------------------------- */

typedef enum OpClass { CLASS_NUMBERS, CLASS_COMPARE, CLASS_LOGIC } OpClass;

static OpClass op_class(IrExprOp op)
{
    switch (op) {
    case IR_X_LT:
    case IR_X_LE:
    case IR_X_GT:
    case IR_X_GE:
    case IR_X_EQ:
    case IR_X_NE:
        return CLASS_COMPARE;
    case IR_X_AND:
    case IR_X_OR:
    case IR_X_XOR:
    case IR_X_NOT:
        return CLASS_LOGIC;
    default:
        return CLASS_NUMBERS;
    }
}

static Val refuse_mask(Elab *el, OpClass cls, Span span)
{
    Diag *d = el_error(el, MASK_AS_NUMBER, span, "a mask");
    if (cls == CLASS_COMPARE) {
        diag_help(el->diags, d,
                  "a mask is true or false already; chains are written "
                  "`a < b and b < c`");
    } else {
        diag_help(el->diags, d,
                  "choose with `a if mask else b`, or count with number(mask), "
                  "which is 0 or 1");
    }
    return el_err();
}

static Val refuse_labels(Elab *el, Span span)
{
    Diag *d = el_error(el, LABELS_AS_NUMBER, span, "labels");
    diag_help(el->diags, d,
              "labels are names, not amounts: compare them (labels == 3, labels > 0), "
              "or write number(labels)");
    return el_err();
}

static bool is_labels(Val v)
{
    return v.kind == VAL_IMAGE && v.image == IR_K_LABELS;
}

/* True when the value may be an operand; complains otherwise. */
static bool check_operand(Elab *el, IrExprOp op, Val v, Span span)
{
    OpClass cls = op_class(op);
    if (el_is_bad(v)) {
        return false;
    }
    bool truth = el_is_mask(el, v) || el_is_truth(el, v);
    if (cls == CLASS_LOGIC && !truth) {
        Diag *d = el_error(el, NEEDS_MASK, span, el_describe(el, v));
        if (v.kind == VAL_IMAGE) {
            diag_help(el->diags, d, "compare it with something: %s > 0", el_words(el, span));
        } else if (v.kind == VAL_NUMBER) {
            diag_help(el->diags, d, "both sides of it are comparisons: image == 3 or image == 4");
        }
        return false;
    }
    bool equality = op == IR_X_EQ || op == IR_X_NE;
    if (cls != CLASS_LOGIC && truth && !equality) {
        refuse_mask(el, cls, span);
        return false;
    }
    if (cls == CLASS_NUMBERS && is_labels(v)) {
        refuse_labels(el, span);
        return false;
    }
    if (!el_is_scalar(v) && v.kind != VAL_IMAGE) {
        Diag *d = el_error(el, NOT_A_NUMBER, span, el_describe(el, v));
        if (v.kind == VAL_SELECTION) {
            diag_help(el->diags, d, "a selection can be measured: mean(v where mask), count(...)");
        } else if (v.kind == VAL_RECORD && v.n > 0) {
            diag_help(el->diags, d, "take one of its members: .%s", v.items[0].name);
        } else if (v.kind == VAL_FUNCTION) {
            diag_help(el->diags, d, "call it with its arguments in parentheses");
        } else if (v.kind == VAL_TABLE) {
            diag_help(el->diags, d, "a table is written and not read; values of labels: property(labels, area)");
        } else if (v.kind == VAL_LIST) {
            diag_help(el->diags, d, "take one of its elements: %s[0]", el_words(el, span));
        } else if (v.kind == VAL_TEXT) {
            diag_help(el->diags, d,
                      v.text[strspn(v.text, "0123456789.")] == '\0' && v.text[0] != '\0'
                          ? "numbers are written without quotes: %s"
                          : "nothing is calculated with texts; files have the names of outputs%.0s",
                      v.text);
        }
        return false;
    }
    return true;
}

/* An image that el_by_label() has made of vectors, as a vector. */
static Val as_vector(Val image, IrId labels)
{
    return el_is_bad(image) ? image : el_vector(image.expr, labels);
}

Val el_op1(Elab *el, IrExprOp op, Val a, Span span)
{
    IrId labels;
    if (!el_by_label(el, &a, 1, &labels, span)) {
        return el_err();
    }
    if (labels != 0) {
        return as_vector(el_op1(el, op, a, span), labels);
    }
    if (!check_operand(el, op, a, span)) {
        return el_err();
    }
    IrExpr e = ir_op1(el->g, op, a.expr);
    Val v = a.kind == VAL_IMAGE ? el_image(el, e, a.grid) : el_scalar(el, e);
    v.unit = op == IR_X_NEG ? a.unit : NULL;
    return el_settled(el, v, a.node == 0, span);
}

static bool is_word(Val v)
{
    return v.kind == VAL_WORD || v.kind == VAL_TEXT;
}

/* Words compare at once: `if method == otsu`. */
static Val compare_words(Elab *el, IrExprOp op, Val a, Val b)
{
    bool same = is_word(a) && is_word(b) && strcmp(a.text, b.text) == 0;
    bool truth = (op == IR_X_EQ) == same;
    return el_host(ir_const_typed(el->g, truth, ELEM_BOOL));
}

Val el_unitless(Elab *el, Val v, int grid, Span span)
{
    v.expr = v.kind == VAL_NUMBER ? el_pixels(el, v, grid, IR_AX_X, span) : v.expr;
    v.unit = NULL;
    return v;
}

static bool same_units(Val a, Val b)
{
    return a.unit != NULL && b.unit != NULL && strcmp(a.unit, b.unit) == 0;
}

/* A length stays a length when a number scales it; anything else counts pixels along x, of the image that
 * is the other operand. */
static void settle_units(Elab *el, IrExprOp op, Val *a, Val *b, const char **unit, Span span)
{
    *unit = NULL;
    bool numbers = a->kind == VAL_NUMBER && b->kind == VAL_NUMBER;
    bool scaled = op == IR_X_MUL && (a->unit == NULL) != (b->unit == NULL);
    bool divided = op == IR_X_DIV && a->unit != NULL && b->unit == NULL;
    bool alike = (op == IR_X_ADD || op == IR_X_SUB) && same_units(*a, *b);
    if (numbers && (scaled || divided || alike)) {
        *unit = a->unit != NULL ? a->unit : b->unit;
        return;
    }
    int of_a = el_grid_of(el, *a), of_b = el_grid_of(el, *b);
    *a = el_unitless(el, *a, of_b, span);
    *b = el_unitless(el, *b, of_a, span);
}

/* Small whole powers are multiplications, so that x ** 2 is x * x to the last bit. */
static IrExpr power(Elab *el, IrExpr a, IrExpr b)
{
    double n;
    IrGraph *g = el->g;
    if (!ir_is_const(g, b, &n) || (n != 0.5 && (n != floor(n) || n < 1 || n > 8))) {
        return ir_op2(g, IR_X_POW, a, b);
    }
    if (n == 0.5) {
        return ir_op1(g, IR_X_SQRT, a);
    }
    IrExpr result = 0, square = a;
    for (int k = (int)n; k > 0; k /= 2) {
        if (k % 2 == 1) {
            result = result == 0 ? square : ir_op2(g, IR_X_MUL, square, result);
        }
        square = k > 1 ? ir_op2(g, IR_X_MUL, square, square) : square;
    }
    return result;
}

static IrExpr op2_expr(Elab *el, IrExprOp op, IrExpr a, IrExpr b)
{
    bool masks = ir_expr(el->g, a)->type == ELEM_BOOL && ir_expr(el->g, b)->type == ELEM_BOOL;
    if (op == IR_X_POW) {
        return power(el, a, b);
    }
    if (masks && op == IR_X_NE) {
        return ir_op2(el->g, IR_X_XOR, a, b);
    }
    if (masks && op == IR_X_EQ) {
        return ir_op1(el->g, IR_X_NOT, ir_op2(el->g, IR_X_XOR, a, b));
    }
    return ir_op2(el->g, op, a, b);
}

/* Labels beside other things are numbers.  What their places say as well needs no look-up: which are background, and
 * of the same labels which are equal or come first. */
static void settle_labels(Elab *el, Val *a, Val *b)
{
    IrId of_a = el_labels_input(el, *a), of_b = el_labels_input(el, *b);
    double value;
    bool background = (el_constant(el, *a, &value) || el_constant(el, *b, &value)) && value == 0;
    if (!background && of_a != of_b) {
        *a = el_numbers(el, *a);
        *b = el_numbers(el, *b);
    }
}

Val el_op2(Elab *el, IrExprOp op, Val a, Val b, Span span)
{
    if ((op == IR_X_EQ || op == IR_X_NE) && (is_word(a) || is_word(b))) {
        return a.words != NULL   ? el_compare_param(el, op, a, b, span)
               : b.words != NULL ? el_compare_param(el, op, b, a, span)
                                 : compare_words(el, op, a, b);
    }
    IrId labels;
    Val of_labels[2] = {a, b};
    if (!el_by_label(el, of_labels, 2, &labels, span)) {
        return el_err();
    }
    if (labels != 0) {
        return as_vector(el_op2(el, op, of_labels[0], of_labels[1], span), labels);
    }
    bool cut = op == IR_X_MUL && ((is_labels(a) && el_is_mask(el, b)) || (is_labels(b) && el_is_mask(el, a)));
    bool fine = !cut && check_operand(el, op, a, span);
    fine = !cut && check_operand(el, op, b, span) && fine;
    if (cut) {
        Diag *d = el_error(el, LABELS_AS_NUMBER, span, "labels");
        diag_help(el->diags, d,
                  "labels inside a mask: mask_labels(labels, mask), which keeps their numbers with renumber = false");
    }
    if (!fine) {
        return el_err();
    }
    if (op_class(op) == CLASS_COMPARE &&
        (ir_expr(el->g, a.expr)->type == ELEM_BOOL) != (ir_expr(el->g, b.expr)->type == ELEM_BOOL)) {
        return refuse_mask(el, CLASS_COMPARE, span);
    }
    const char *unit;
    settle_labels(el, &a, &b);
    settle_units(el, op, &a, &b, &unit, span);
    Val both[2] = {a, b};
    if (!el_meet(el, both, 2, span)) {
        return el_err();
    }
    IrExpr e = op2_expr(el, op, both[0].expr, both[1].expr);
    bool image = a.kind == VAL_IMAGE || b.kind == VAL_IMAGE;
    Val v = image ? el_image(el, e, both[a.kind == VAL_IMAGE ? 0 : 1].grid) : el_scalar(el, e);
    v.unit = image ? NULL : unit;
    return el_settled(el, v, a.node == 0 && b.node == 0, span);
}

static Val select_images(Elab *el, Val cond, Val a, Val b, Span span)
{
    Val all[3] = {cond, el_numbers(el, a), el_numbers(el, b)};
    const char *unit = cond.kind == VAL_NUMBER && same_units(a, b) ? a.unit : NULL;
    for (int i = 1; i < 3 && unit == NULL; i++) {
        int grid = el_grid_of(el, all[3 - i]);
        all[i] = el_unitless(el, all[i], grid >= 0 ? grid : el_grid_of(el, cond), span);
    }
    if (!el_meet(el, all, 3, span)) {
        return el_err();
    }
    bool image = false;
    int grid = -1;
    for (int i = 0; i < 3; i++) {
        image = image || all[i].kind == VAL_IMAGE;
        grid = all[i].kind == VAL_IMAGE ? all[i].grid : grid;
    }
    IrExpr e = ir_op3(el->g, IR_X_SELECT, all[0].expr, all[1].expr, all[2].expr);
    Val v = image ? el_image(el, e, grid) : el_scalar(el, e);
    v.unit = unit;
    return el_settled(el, v, cond.node == 0 && a.node == 0 && b.node == 0, span);
}

Val el_select(Elab *el, Val cond, Val a, Val b, Span span)
{
    double known;
    IrId labels;
    Val of_labels[3] = {cond, a, b};
    if (el_is_bad(cond) || !el_by_label(el, of_labels, 3, &labels, span)) {
        return el_err();
    }
    if (labels != 0) {
        return as_vector(el_select(el, of_labels[0], of_labels[1], of_labels[2], span), labels);
    }
    if (!el_is_mask(el, cond) && !el_is_truth(el, cond)) {
        Diag *d = el_error(el, NEEDS_MASK, span, el_describe(el, cond));
        diag_help(el->diags, d, "the part after `if` is a comparison: a if v > 3 else b");
        return el_err();
    }
    if (el_constant(el, cond, &known)) {
        return known != 0 ? a : b;
    }
    if (el_is_bad(a) || el_is_bad(b)) {
        return el_err();
    }
    Val branch[2] = {a, b};
    for (int i = 0; i < 2; i++) {
        if (!el_is_scalar(branch[i]) && branch[i].kind != VAL_IMAGE) {
            el_error(el, NOT_A_NUMBER, span, el_describe(el, branch[i]));
            return el_err();
        }
    }
    bool truth_a = ir_expr(el->g, a.expr)->type == ELEM_BOOL;
    bool truth_b = ir_expr(el->g, b.expr)->type == ELEM_BOOL;
    if (truth_a != truth_b) {
        Diag *d = el_error(el, BRANCHES_DIFFER, span, el_describe(el, a), el_describe(el, b));
        diag_help(el->diags, d, "both sides of a choice are numbers, or both are masks");
        return el_err();
    }
    return select_images(el, cond, a, b, span);
}

/* ---- where ----------------------------------------------------------------------------- */

Val el_where(Elab *el, Val v, Val mask, Span span)
{
    if (el_is_bad(v) || el_is_bad(mask)) {
        return el_err();
    }
    IrId labels;
    Val of_labels[2] = {v, mask};
    if (!el_by_label(el, of_labels, 2, &labels, span)) {
        return el_err();
    }
    if (v.kind == VAL_VECTOR && mask.kind == VAL_VECTOR) {
        return el_where(el, el_each_once(el, v, span), el_painted(el, mask), span);
    }
    if (v.kind == VAL_SELECTION) {
        Val first = el_image(el, v.mask, v.grid);
        mask = el_op2(el, IR_X_AND, first, mask, span);
        v = el_image(el, v.expr, v.grid);
    }
    v = el_numbers(el, v);
    if (v.kind != VAL_IMAGE) {
        el_error(el, WHERE_OF_NO_IMAGE, span, el_describe(el, v));
        return el_err();
    }
    if (!el_is_mask(el, mask)) {
        if (!el_is_bad(mask)) {
            Diag *d = el_error(el, WHERE_NEEDS_MASK, span, el_describe(el, mask));
            IrId node;
            const bool of = mask.kind == VAL_IMAGE && mask.image == IR_K_LABELS;
            const bool read =
                mask.kind == VAL_IMAGE && el_plain_read(el, mask.expr, &node) && ir_node(el->g, node)->op == IR_INPUT;
            diag_help(
                el->diags, d, "%s",
                of ? "the pixels of all objects: `v where labels > 0`; of each object: property(labels, v, mean)"
                : read
                    ? "a file of a mask is declared as one: `input mask[y, x] : mask`; or compare it: v where mask > 0"
                    : "select with a comparison: v where v > 0");
        }
        return el_err();
    }
    Val both[2] = {v, mask};
    if (!el_meet(el, both, 2, span)) {
        return el_err();
    }
    return (
        Val){.kind = VAL_SELECTION, .image = v.image, .grid = both[0].grid, .expr = both[0].expr, .mask = both[1].expr};
}

/* ---- leaves ---------------------------------------------------------------------------- */

typedef struct Unit {
    const char *name;
    double micrometres; /* to the power below */
    const char *settled;
} Unit;

static const Unit UNITS[] = {
    {"nm", 1e-3, "um"}, {"um", 1, "um"}, {"mm", 1e3, "um"}, {"um2", 1, "um2"}, {"um3", 1, "um3"},
};

static Val number_literal(Elab *el, const AstExpr *e)
{
    for (size_t i = 0; e->unit != NULL && i < sizeof UNITS / sizeof *UNITS; i++) {
        if (strcmp(e->unit, UNITS[i].name) == 0) {
            Val v = el_number(el, e->num * UNITS[i].micrometres);
            v.unit = UNITS[i].settled;
            return v;
        }
    }
    return el_number(el, e->num);
}

static Val name_value(Elab *el, const AstExpr *e)
{
    Binding *b = el_find(el->scope, e->name);
    if (b != NULL) {
        b->used = true;
        return el_is_lost(el, b, e->span) ? el_err() : b->val;
    }
    const WordConstant *constant = words_constant(e->name);
    if (constant != NULL) {
        return el_number(el, constant->value);
    }
    Border border = words_border(e->name);
    if (border != BORDER_KINDS) {
        return (Val){.kind = VAL_BORDER, .grid = -1, .border = border};
    }
    if (strcmp(e->name, "none") == 0) {
        return el_word("none");
    }
    return el_unknown(el, e->name, e->span);
}

/* ---- compound expressions -------------------------------------------------------------- */

typedef struct OpName {
    const char *text;
    IrExprOp op;
} OpName;

static const OpName BINARY[] = {
    {"+", IR_X_ADD},  {"-", IR_X_SUB},   {"*", IR_X_MUL}, {"/", IR_X_DIV},   {"//", IR_X_FLOORDIV}, {"%", IR_X_MOD},
    {"**", IR_X_POW}, {"<", IR_X_LT},    {"<=", IR_X_LE}, {">", IR_X_GT},    {">=", IR_X_GE},       {"==", IR_X_EQ},
    {"!=", IR_X_NE},  {"and", IR_X_AND}, {"or", IR_X_OR}, {"xor", IR_X_XOR},
};

IrExprOp el_binary_op(const char *text)
{
    for (size_t i = 0; i < sizeof BINARY / sizeof *BINARY; i++) {
        if (strcmp(BINARY[i].text, text) == 0) {
            return BINARY[i].op;
        }
    }
    return IR_X_NONE;
}

static Val unary(Elab *el, const AstExpr *e)
{
    Val a = el_expr(el, e->a);
    if (strcmp(e->op, "+") == 0) {
        return a;
    }
    if (el_refuse_minus(el, e, a)) {
        return el_err();
    }
    return el_op1(el, strcmp(e->op, "not") == 0 ? IR_X_NOT : IR_X_NEG, a, e->a->span);
}

/* The span of the operand to blame: the first that is no number, or all of it. */
static Span blame(Elab *el, IrExprOp op, const AstExpr *e, Val a, Val b)
{
    OpClass cls = op_class(op);
    const Val vals[2] = {a, b};
    const Span spans[2] = {e->a->span, e->b->span};
    for (int i = 0; i < 2; i++) {
        bool truth = el_is_mask(el, vals[i]) || el_is_truth(el, vals[i]);
        bool labels = vals[i].kind == VAL_IMAGE && vals[i].image == IR_K_LABELS;
        bool other = !el_is_scalar(vals[i]) && vals[i].kind != VAL_IMAGE;
        bool bad = cls == CLASS_LOGIC ? !truth : truth || (labels && cls == CLASS_NUMBERS);
        if (bad || other) {
            return spans[i];
        }
    }
    return e->span;
}

/* C's and Python's `dq & 4` asks for a bit, which is arithmetic here. */
static bool refuse_bit(Elab *el, IrExprOp op, const AstExpr *e, Val a)
{
    double bit = e->b->kind == AST_NUMBER ? e->b->num : 0;
    int exponent;
    bool one = bit >= 1 && frexp(bit, &exponent) == 0.5, low = bit > 1 && frexp(bit + 1, &exponent) == 0.5;
    if (op != IR_X_AND || (!one && !low) || a.kind != VAL_IMAGE || a.image != IR_K_IMAGE) {
        return false;
    }
    const char *image = el_words(el, e->a->span);
    diags_drop(el->diags, DIAG_FOREIGN_SPELLING, e->span);
    Diag *d = el_error(el, NEEDS_MASK, e->a->span, el_describe(el, a));
    if (!one) { /* image & 15 */
        diag_help(el->diags, d,
                  strchr(image, ' ') != NULL ? "the lowest bits: (%s) %% %g" : "the lowest bits: %s %% %g", image,
                  bit + 1);
        return true;
    }
    diag_help(el->diags, d,
              strchr(image, ' ') != NULL ? "where a bit is set: (%s) // %g %% 2 == 1"
                                         : "where a bit is set: %s // %g %% 2 == 1",
              image, bit);
    return true;
}

static bool is_word_param(Elab *el, const AstExpr *e)
{
    const Binding *b = e->kind == AST_NAME ? el_find(el->scope, e->name) : NULL;
    return b != NULL && b->val.words != NULL;
}

static bool is_lost_param(Elab *el, const AstExpr *e)
{
    const Binding *b = e->kind == AST_NAME ? el_find(el->scope, e->name) : NULL;
    return b != NULL && b->kind == BIND_PARAM && el_is_bad(b->val);
}

/* image / 0 */
static void warn_of_zero(Elab *el, IrExprOp op, const AstExpr *e)
{
    const bool divides = op == IR_X_DIV || op == IR_X_FLOORDIV || op == IR_X_MOD;
    if (divides && e->b->kind == AST_NUMBER && e->b->num == 0) {
        Diag *d = el_error(el, ZERO_DIVISOR, e->b->span, "");
        diag_help(el->diags, d,
                  op == IR_X_DIV ? "that is an infinity, or NaN where the left side is 0"
                                 : "of whole numbers that is 0, of others NaN or an infinity");
    }
}

static Val binary(Elab *el, const AstExpr *e)
{
    IrExprOp op = el_binary_op(e->op);
    bool compares = op == IR_X_EQ || op == IR_X_NE, turned = compares && is_word_param(el, e->b);
    if (compares && (is_lost_param(el, e->a) || is_lost_param(el, e->b))) { /* what is beside it may be a word */
        return el_err();
    }
    Val b = turned ? el_expr(el, e->b) : el_err(), a = el_word_of(el, e->a, b);
    b = turned ? b : el_word_of(el, e->b, compares ? a : el_err());
    const bool quoted = e->b->kind == AST_ERROR && e->b->name != NULL; /* labels == 'cell' */
    if (quoted && !el_is_bad(a) && diags_has(el->diags, DIAG_FOREIGN_SPELLING, e->b->span)) {
        diags_drop(el->diags, DIAG_FOREIGN_SPELLING, e->b->span);
        if (!el_refuse_mixed(el, e, a, el_text(e->b->name))) {
            Diag *d = el_error(el, FOREIGN_SPELLING, e->b->span, el_words(el, e->b->span));
            diag_help(el->diags, d, "a text has double quotes: `\"%s\"`", e->b->name);
        }
        return el_err();
    }
    if (el_is_bad(a) || el_is_bad(b) || op == IR_X_NONE || refuse_bit(el, op, e, a) || el_refuse_mixed(el, e, a, b)) {
        return el_err();
    }
    warn_of_zero(el, op, e);
    return el_op2(el, op, a, b, blame(el, op, e, a, b));
}

static Val conditional(Elab *el, const AstExpr *e)
{
    Val cond = el_expr(el, e->b);
    double known;
    if (el_constant(el, cond, &known) && el_is_truth(el, cond)) {
        return el_expr(el, known != 0 ? e->a : e->c);
    }
    bool guarded = el->guarded;
    el->guarded = guarded || cond.kind == VAL_NUMBER;
    Val a = el_expr(el, e->a), b = el_expr(el, e->c);
    el->guarded = guarded;
    return el_select(el, cond, a, b, e->b->span);
}

/* What others write as members (image.shape) is an operator here, or is written with some. */
static void help_for_member(Elab *el, Diag *d, Val v, const AstExpr *e)
{
    static const char *const CHANNELS[] = {"red", "green", "blue", "r", "g", "b"};
    const Peer *peer = ops_peer(e->name);
    for (int i = 0; i < 6 && v.kind == VAL_IMAGE; i++) {
        if (strcmp(CHANNELS[i], e->name) == 0) {
            diag_help(el->diags, d, "a channel has a number: %s[c = %d]", el_words(el, e->a->span), i % 3);
            return;
        }
    }
    const Measure *measure = measure_find(e->name, strlen(e->name));
    if (v.kind == VAL_TABLE) {
        diag_help(el->diags, d, "a table is written and not read; values of labels: property(labels, %s%s)",
                  measure != NULL && !measure->intensity ? "" : "image, ", e->name);
    } else if (v.kind == VAL_IMAGE && v.image == IR_K_LABELS && measure != NULL) {
        diag_help(el->diags, d, "a value for each label: property(%s, %s%s)", el_words(el, e->a->span),
                  measure->intensity ? "image, " : "", e->name);
    } else if (v.kind == VAL_IMAGE && strcmp(e->name, "T") == 0) {
        diag_help(el->diags, d, "write transpose(%s)", el_words(el, e->a->span));
    } else if (ops_find(el->ops, e->name) != NULL) {
        diag_help(el->diags, d, "write %s(%s)", e->name, el_words(el, e->a->span));
    } else if (peer != NULL && peer->here[0] != '\0') {
        AstArg owner = {.value = e->a};
        const AstExpr call = {.kind = AST_CALL, .name = e->name, .args = &owner};
        diag_help(el->diags, d, "here: %s", el_peer_help(el, peer, &call));
    }
}

static Val member(Elab *el, const AstExpr *e)
{
    const bool module = e->a->kind == AST_NAME && el_find(el->scope, e->a->name) == NULL;
    if (module && words_constant(e->name) != NULL) { /* np.pi */
        Diag *d = el_error(el, UNKNOWN_NAME, e->a->span, e->a->name);
        diag_help(el->diags, d, "write `%s` without the module", e->name);
        return el_err();
    }
    Val v = el_expr(el, e->a);
    if (el_is_bad(v)) {
        return v;
    }
    if (v.kind != VAL_RECORD && v.kind != VAL_FOOTPRINT) {
        Diag *d = el_error(el, NO_MEMBERS, e->word, el_describe(el, v), e->name);
        help_for_member(el, d, v, e);
        return el_err();
    }
    const Val *found = el_member(v, e->name);
    if (found != NULL) {
        return *found;
    }
    Str s;
    str_init(&s, el->arena);
    const char **names = arena_array(el->arena, const char *, v.n + 1);
    for (int i = 0; i < v.n; i++) {
        names[i] = v.items[i].name;
        str_addf(&s, i > 0 ? ", .%s" : ".%s", names[i]);
    }
    Diag *d = el_error(el, UNKNOWN_MEMBER, e->word, e->name);
    const char *near = fe_nearest_part(e->name, names, v.n);
    if (near != NULL) {
        diag_help(el->diags, d, "did you mean `.%s`?", near);
    }
    diag_help(el->diags, d, "it has %s", s.at);
    return el_err();
}

/* (5, 5) of Python; numbers go on as a list. */
static void refuse_tuple(Elab *el, const AstExpr *e, Val v)
{
    const char *words = el_words(el, e->span);
    Diag *d = el_error(el, FOREIGN_SPELLING, e->span, words);
    if (v.items[0].val.kind == VAL_IMAGE) {
        diag_help(el->diags, d, "a statement gives one value: each has a line of its own");
    } else {
        diag_help(el->diags, d, "a list is `[%.*s]`; several results have names: `(mean = a, std = b)`",
                  (int)strlen(words) - 2, words + 1);
    }
}

static Val items(Elab *el, const AstExpr *e, ValKind kind)
{
    int n = 0;
    for (const AstArg *a = e->args; a != NULL; a = a->next) {
        n++;
    }
    Val v = el_record(el, n);
    v.kind = kind;
    bool bad = false;
    int i = 0;
    for (const AstArg *a = e->args; a != NULL; a = a->next, i++) {
        v.items[i].name = a->name;
        v.items[i].val = el_expr(el, a->value);
        bad = bad || el_is_bad(v.items[i].val);
    }
    if (e->op != NULL && !bad) {
        refuse_tuple(el, e, v);
        bad = v.items[0].val.kind == VAL_IMAGE;
    }
    return bad ? el_err() : v;
}

/* Conditions on pixels by the look of it: a mask's name, a comparison, what joins them. */
bool el_looks_like_mask(const Elab *el, const AstExpr *e)
{
    static const char *const MAKE_MASKS[] = {"<", "<=", ">", ">=", "==", "!=", "and", "or", "xor", "not"};
    const Binding *b = e->kind == AST_NAME ? el_find(el->scope, e->name) : NULL;
    bool mask = b != NULL && b->val.kind == VAL_IMAGE && b->val.image == IR_K_MASK;
    for (size_t i = 0; i < sizeof MAKE_MASKS / sizeof *MAKE_MASKS && e->op != NULL; i++) {
        mask = mask || strcmp(MAKE_MASKS[i], e->op) == 0;
    }
    return mask;
}

/* labels[area > 50], and label(mask)[0] of scipy, where it is the labels and how many there are. */
static bool refuse_choice(Elab *el, const AstExpr *e)
{
    const AstExpr *at = e->args != NULL && e->args->next == NULL && e->args->name == NULL ? e->args->value : NULL;
    bool label = e->a->kind == AST_CALL && strcmp(e->a->name, "label") == 0 && at != NULL && at->kind == AST_NUMBER;
    const AstExpr *of = at != NULL && at->kind == AST_BINARY ? at->a : NULL;
    const bool word = of != NULL && (of->kind == AST_NAME || of->kind == AST_MEMBER); /* area, labels.area */
    bool property = word && measure_find(of->name, strlen(of->name)) != NULL &&
                    (of->kind == AST_MEMBER || el_find(el->scope, of->name) == NULL);
    if ((!label && !property) || el_is_bad(el_expr(el, e->a))) {
        return false;
    }
    Diag *d = el_error(el, POSITIONAL_INDEX, at->span, "");
    const Binding *table = e->a->kind == AST_NAME ? el_find(el->scope, e->a->name) : NULL;
    const bool rows = table != NULL && table->val.kind == VAL_TABLE;
    const char *labels = rows ? "labels" : el_words(el, e->a->span);
    if (label) {
        diag_help(el->diags, d, "labels alone come of label(...): leave it out; how many there are is count(labels)");
    } else {
        Span rest = {at->span.source, of->span.end, at->span.end};
        diag_help(el->diags, d, "objects are chosen by a value of each%s: keep_labels(%s, property(%s, %s) %s)",
                  rows ? ", before they are measured" : "", labels, labels, of->name, el_words(el, rest));
    }
    return true;
}

/* numpy's image[mask] is a selection here; other indices have names. */
static Val indexed(Elab *el, const AstExpr *e)
{
    const AstArg *arg = e->args;
    if (el_refuse_slice(el, e) || refuse_choice(el, e)) {
        return el_err();
    }
    const Binding *b = e->a->kind == AST_NAME ? el_find(el->scope, e->a->name) : NULL;
    bool image = b != NULL && b->val.kind == VAL_IMAGE;
    if (!image || arg == NULL || arg->name != NULL || arg->next != NULL || !el_looks_like_mask(el, arg->value)) {
        return el_index(el, e);
    }
    Val v = el_expr(el, e->a), mask = el_expr(el, arg->value);
    if (!el_is_bad(v) && !el_is_bad(mask)) {
        const char *name = e->a->name, *where = el_words(el, arg->value->span);
        Diag *d = el_error(el, POSITIONAL_INDEX, arg->value->span, "");
        diag_help(el->diags, d, "the pixels of a mask: mean(%s where %s)", name, where);
        diag_help(el->diags, d, "an image with 0 elsewhere: %s if %s else 0", name, where);
    }
    return el_err();
}

Val el_expr(Elab *el, const AstExpr *e)
{
    if (stack_is_low()) {
        el_error(el, TOO_DEEP, e->span, "");
        return el_err();
    }
    switch (e->kind) {
    case AST_NUMBER:
        return number_literal(el, e);
    case AST_BOOL:
        return el_host(ir_const_typed(el->g, e->num, ELEM_BOOL));
    case AST_STRING:
        return el_text(e->name);
    case AST_NAME:
        return name_value(el, e);
    case AST_UNARY:
        return unary(el, e);
    case AST_BINARY:
        return binary(el, e);
    case AST_COND:
        return conditional(el, e);
    case AST_CALL:
        return el_call(el, e);
    case AST_INDEX:
        return indexed(el, e);
    case AST_MEMBER:
        return member(el, e);
    case AST_COMPREHENSION:
        return el_comprehension(el, e);
    case AST_WHERE:
        return el_where(el, el_expr(el, e->a), el_expr(el, e->b), e->span);
    case AST_LIST:
        return items(el, e, VAL_LIST);
    case AST_RECORD:
        return items(el, e, VAL_RECORD);
    default:
        return el_err();
    }
}

/* ---- numbers that the host must know ---------------------------------------------------- */

static IrExpr host_number(Elab *el, Val v, Span span, const char *what)
{
    if (el_is_bad(v)) {
        return 0;
    }
    if (v.kind != VAL_NUMBER || el_is_truth(el, v)) {
        Diag *d = el_error(el, NOT_A_HOST_NUMBER, span, what, el_describe(el, v));
        const char *words = el_words(el, span);
        if (v.kind == VAL_UNIFORM && (strncmp(words, "count(", 6) == 0 || strncmp(words, "max(label", 9) == 0)) {
            diag_help(el->diags, d,
                      "objects are taken all at once: property(labels, image, mean) has a value for each of them, and "
                      "measure(labels, image, mean) a row");
        } else if (v.kind == VAL_UNIFORM) {
            diag_help(el->diags, d,
                      "a whole-image value is found on the device, after memory has "
                      "been planned; use a param or a number");
        } else if (v.kind == VAL_IMAGE) {
            diag_help(el->diags, d,
                      "it cannot differ from pixel to pixel; a block function "
                      "(fn f(v : i32) { for ... }) may loop that way");
        } else if (v.kind == VAL_NUMBER) {
            diag_help(el->diags, d, "a number is meant: 0 is false and 1 is true, of masks, too");
        }
        return 0;
    }
    return el_pixels(el, v, -1, IR_AX_X, span);
}

IrExpr el_host_number(Elab *el, const AstExpr *e, const char *what)
{
    return host_number(el, el_expr(el, e), e->span, what);
}

/* In a bound, a / b of whole numbers is the floor: 2 .. v / 2 means whole numbers. */
IrExpr el_bound(Elab *el, const AstExpr *e)
{
    static const char WHAT[] = "the bound of a range";
    if (e->kind == AST_BINARY && strcmp(e->op, "/") == 0) {
        IrExpr a = el_bound(el, e->a), b = el_bound(el, e->b);
        if (a == 0 || b == 0) {
            return 0;
        }
        bool whole = el_is_integral(el, a) && el_is_integral(el, b);
        return ir_op2(el->g, whole ? IR_X_FLOORDIV : IR_X_DIV, a, b);
    }
    return el_host_number(el, e, WHAT);
}
