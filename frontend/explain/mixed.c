/*
 * mixed: calculating with masks, labels and texts, which are no numbers: what was meant by the sign that was written.
 */
#include "../elaborate/elab.h"

#include <string.h>

typedef enum Side { SIDE_IMAGE, SIDE_MASK, SIDE_LABELS, SIDE_TEXT, SIDE_OTHER } Side;

static Side side_of(const Elab *el, Val v)
{
    return v.kind == VAL_TEXT       ? SIDE_TEXT
           : v.kind != VAL_IMAGE    ? SIDE_OTHER
           : el_is_mask(el, v)      ? SIDE_MASK
           : v.image == IR_K_LABELS ? SIDE_LABELS
                                    : SIDE_IMAGE;
}

/* What is written instead: $a and $b are the operands, $A and $B the same where they must hold together. */
static const struct {
    const char *signs;
    Side a, b;
    const char *help;
} MEANT[] = {
    {"+", SIDE_MASK, SIDE_MASK, "one or the other: `$a or $b`"},
    {"*", SIDE_MASK, SIDE_MASK, "both: `$a and $b`"},
    {"**", SIDE_MASK, SIDE_MASK, "one or the other, not both: `$a xor $b`"},
    {"-", SIDE_OTHER, SIDE_MASK, "where it is false: `not $B`"},
    {"*", SIDE_MASK, SIDE_OTHER, "one number there, and 0 elsewhere: `$b if $a else 0`"},
    {"*", SIDE_OTHER, SIDE_MASK, "one number there, and 0 elsewhere: `$a if $b else 0`"},
    {"-", SIDE_MASK, SIDE_MASK, "one without the other: `$a and not $B`"},
    {"*", SIDE_IMAGE, SIDE_MASK, "the image there, and 0 elsewhere: `$a if $b else 0`"},
    {"*", SIDE_MASK, SIDE_IMAGE, "the image there, and 0 elsewhere: `$b if $a else 0`"},
    {"*", SIDE_IMAGE, SIDE_LABELS, "the image within the objects, and 0 elsewhere: `$a if $B > 0 else 0`"},
    {"*", SIDE_LABELS, SIDE_IMAGE, "the image within the objects, and 0 elsewhere: `$b if $A > 0 else 0`"},
    {"-", SIDE_LABELS, SIDE_LABELS,
     "the parts of one outside of the other: `mask_labels($a, not ($B > 0), renumber = false)`"},
    {"-", SIDE_LABELS, SIDE_MASK, "the parts outside of a mask: `mask_labels($a, not $B, renumber = false)`"},
    {"and", SIDE_MASK, SIDE_IMAGE, "a choice is written `$b if $a else 0`"},
    {"== !=", SIDE_LABELS, SIDE_TEXT,
     "labels are numbers: `$a $o 1`; objects are chosen by a value of each: keep_labels($a, property($a, area) > 50)"},
    {"== != < > <= >=", SIDE_IMAGE, SIDE_TEXT, "pixels are numbers, without quotes: `$a $o 1`"},
    {"== != < > <= >=", SIDE_MASK, SIDE_TEXT, "a mask is true or false: `$a`, or `not $A`"},
};

/* The words of an operand: with parentheses where what stands beside them would take a part of it. */
static const char *operand(Elab *el, const AstExpr *e, bool alone)
{
    const char *words = el_words(el, e->span);
    const bool joins = e->kind == AST_COND || e->kind == AST_WHERE ||
                       (e->kind == AST_BINARY && (strcmp(e->op, "or") == 0 || strcmp(e->op, "xor") == 0));
    const bool many = e->kind == AST_BINARY || e->kind == AST_UNARY;
    return words[0] != '(' && (joins || (alone && many)) ? arena_printf(el->arena, "(%s)", words) : words;
}

static const char *filled(Elab *el, const char *help, const AstExpr *e)
{
    Str out;
    str_init(&out, el->arena);
    for (const char *p = help; *p != '\0'; p++) {
        const char next = *p == '$' ? p[1] : '\0';
        if (next == '\0') {
            str_addn(&out, p, 1);
            continue;
        }
        str_add(&out, next == 'o' ? e->op
                                  : operand(el, strchr("aA", next) != NULL ? e->a : e->b, strchr("AB", next) != NULL));
        p++;
    }
    return out.at;
}

/* mask == 1, mask > 0. */
static bool refuse_compared(Elab *el, const AstExpr *e, Val a, Val b)
{
    double value = 0;
    if (!ops_lists("< <= > >= == !=", e->op) || side_of(el, a) != SIDE_MASK || b.kind != VAL_NUMBER ||
        el_is_truth(el, b)) {
        return false;
    }
    const bool equals = e->op[1] == '=' && strchr("=!", e->op[0]) != NULL;
    const bool known = el_constant(el, b, &value);
    const bool no = known && (equals ? (value == 0) == (e->op[0] == '=') : strcmp(e->op, "<") == 0 && value == 1);
    Diag *d = el_error(el, MASK_AS_NUMBER, e->a->span, "a mask");
    diag_help(el->diags, d, "a mask is true or false already: `%s%s`", no ? "not " : "", operand(el, e->a, no));
    return true;
}

/* image > "otsu", image > "3" */
static bool refuse_method(Elab *el, const AstExpr *e, Val a, Val b)
{
    const bool text = side_of(el, a) == SIDE_IMAGE && b.kind == VAL_TEXT;
    const Op *op = text ? ops_find(el->ops, b.text) : NULL;
    if (text && b.text[0] != '\0' && b.text[strspn(b.text, "0123456789.")] == '\0') {
        Diag *d = el_error(el, NOT_A_NUMBER, e->b->span, "a text");
        diag_help(el->diags, d, "numbers are written without quotes: `%s %s %s`", operand(el, e->a, false), e->op,
                  b.text);
        return true;
    }
    if (op == NULL) {
        return false;
    }
    Diag *d = el_error(el, NOT_A_NUMBER, e->b->span, "a text");
    diag_help(el->diags, d, "operators are called: `%s %s %s(%s)`", operand(el, e->a, false), e->op, op->name,
              el_words(el, e->a->span));
    return true;
}

bool el_refuse_minus(Elab *el, const AstExpr *e, Val v)
{
    if (strcmp(e->op, "-") != 0 || side_of(el, v) != SIDE_MASK) {
        return false;
    }
    Diag *d = el_error(el, MASK_AS_NUMBER, e->a->span, "a mask");
    diag_help(el->diags, d, "where it is false: `not %s`", operand(el, e->a, true));
    return true;
}

bool el_refuse_mixed(Elab *el, const AstExpr *e, Val a, Val b)
{
    if (refuse_compared(el, e, a, b) || refuse_method(el, e, a, b)) {
        return true;
    }
    const Side sides[2] = {side_of(el, a), side_of(el, b)};
    for (size_t i = 0; i < sizeof MEANT / sizeof *MEANT; i++) {
        if (MEANT[i].a != sides[0] || MEANT[i].b != sides[1] || !ops_lists(MEANT[i].signs, e->op)) {
            continue;
        }
        if (sides[0] == SIDE_OTHER || sides[1] == SIDE_OTHER) {
            const Val other = sides[0] == SIDE_OTHER ? a : b;
            if (!el_is_scalar(other) || el_is_truth(el, other)) {
                continue;
            }
        }
        diags_drop(el->diags, DIAG_FOREIGN_SPELLING,
                   (Span){e->span.source, e->a->span.end, e->b->span.begin}); /* a ^ b */
        const bool labels = MEANT[i].signs[0] == '-' && sides[0] == SIDE_LABELS;
        const bool second = sides[1] != SIDE_IMAGE && sides[0] != SIDE_MASK && !labels;
        const AstExpr *blamed = second ? e->b : e->a;
        const Side side = second ? sides[1] : sides[0];
        Diag *d = MEANT[i].signs[0] == 'a' ? el_error(el, NEEDS_MASK, e->b->span, el_describe(el, b))
                  : side == SIDE_TEXT      ? el_error(el, NOT_A_NUMBER, blamed->span, "a text")
                  : side == SIDE_LABELS    ? el_error(el, LABELS_AS_NUMBER, blamed->span, "labels")
                                           : el_error(el, MASK_AS_NUMBER, blamed->span, "a mask");
        diag_help(el->diags, d, "%s", filled(el, MEANT[i].help, e));
        return true;
    }
    return false;
}
