/* soften_expr: expressions with their types; what is computed in double becomes calls. */
#include "soften_state.h"

#include "../../base/soft_double.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>

enum { MOST_NESTED = 1000 };

/* Of two operands.  `soft`: what it is called between doubles; NULL: it takes none. */
static const struct Operator {
    const char *sign, *soft;
    int rank;
    bool compares;
} OPERATORS[] = {{"||", NULL, 3, true},   {"&&", NULL, 4, true},   {"|", NULL, 5, false},   {"^", NULL, 6, false},
                 {"&", NULL, 7, false},   {"==", "eq", 8, true},   {"!=", "ne", 8, true},   {"<", "lt", 9, true},
                 {">", "gt", 9, true},    {"<=", "le", 9, true},   {">=", "ge", 9, true},   {"<<", NULL, 10, false},
                 {">>", NULL, 10, false}, {"+", "add", 11, false}, {"-", "sub", 11, false}, {"*", "mul", 12, false},
                 {"/", "div", 12, false}, {"%", NULL, 12, false}};

/* Built-in functions of doubles.  `decides`: the result is true or not. */
static const struct {
    const char *name;
    bool decides;
} BUILT_IN[] = {{"fabs", false}, {"fma", false},     {"sqrt", false},  {"floor", false},    {"ceil", false},
                {"rint", false}, {"trunc", false},   {"round", false}, {"fmin", false},     {"fmax", false},
                {"min", false},  {"max", false},     {"clamp", false}, {"copysign", false}, {"isnan", true},
                {"isinf", true}, {"isfinite", true}, {"signbit", true}};

typedef Vec(Value) Values;

/* ---- values ---------------------------------------------------------------------------- */

static Value value(const char *text, const Type *type, int rank)
{
    return (Value){.text = text, .type = type, .rank = rank};
}

static Value number(Softener *s, double x, const char *text, Scalar scalar)
{
    if (scalar == DOUBLE) {
        uint64_t bits;
        memcpy(&bits, &x, sizeof bits);
        text = arena_printf(s->arena, "soft_from_bits(0x%016" PRIx64 "UL)", bits);
    }
    return (Value){.text = text,
                   .type = soften_scalar(scalar),
                   .rank = *text == '-' ? RANK_UNARY : RANK_POSTFIX,
                   .literal = true,
                   .number = x};
}

/* In brackets, where its place holds tighter. */
static const char *at_rank(Softener *s, Value v, int rank)
{
    return v.rank >= rank ? v.text : arena_printf(s->arena, "(%s)", v.text);
}

static bool is_number(const Type *type)
{
    return type->form == FORM_NUMBER && type->lanes == 1;
}

static const char *from_double(Softener *s, const char *text, Scalar to)
{
    switch (to) {
    case BOOL:
        return arena_printf(s->arena, "soft_true(%s)", text);
    case FLOAT:
    case ULONG:
    case LONG:
        return arena_printf(s->arena, "soft_to_%s(%s)", soften_scalar_name(to), text);
    case VOID:
        return arena_printf(s->arena, "(void)%s", text);
    default:
        return arena_printf(s->arena, "(%s)soft_to_long(%s)", soften_scalar_name(to), text);
    }
}

const char *soften_as(Softener *s, Value v, const Type *type)
{
    if (soften_is_double(type) && !soften_is_double(v.type)) {
        return v.literal ? number(s, v.number, "", DOUBLE).text : arena_printf(s->arena, "soft_from(%s)", v.text);
    }
    if (soften_is_double(v.type) && !soften_is_double(type)) {
        if (!is_number(type)) {
            text_fault(&s->fault, "'%.60s' cannot be converted", v.text);
        }
        return from_double(s, v.text, type->scalar);
    }
    return at_rank(s, v, RANK_ASSIGN);
}

static const char *soft_text(Softener *s, Value v)
{
    return soften_as(s, v, soften_scalar(DOUBLE));
}

const char *soften_condition(Softener *s, Value v)
{
    return soften_is_double(v.type) ? arena_printf(s->arena, "soft_true(%s)", v.text) : v.text;
}

/* Of numbers that are no doubles. */
static const Type *common_type(const Type *a, const Type *b)
{
    if (a->form != FORM_NUMBER || b->form != FORM_NUMBER) {
        return a->form != FORM_NUMBER ? a : b;
    }
    if (a->lanes != b->lanes) {
        return a->lanes > b->lanes ? a : b;
    }
    const Type *larger = a->scalar > b->scalar ? a : b;
    return larger->scalar < INT && larger->lanes == 1 ? soften_scalar(INT) : larger;
}

/* ---- numbers --------------------------------------------------------------------------- */

static Value read_number(Softener *s)
{
    const char *text = s->at->text;
    const size_t n = strlen(text);
    const bool hex = n > 1 && text[0] == '0' && strchr("xX", text[1]);
    const bool real = strpbrk(text, hex ? ".pP" : ".eE") != NULL;
    const bool single = strchr("fF", text[n - 1]) && (real || !hex);
    s->at = s->at->next;
    if (real || single) {
        return number(s, single ? strtof(text, NULL) : strtod(text, NULL), text, single ? FLOAT : DOUBLE);
    }
    const uint64_t v = strtoull(text, NULL, 0);
    const bool wide = strpbrk(text, "lL") || v > UINT32_MAX, plus = strpbrk(text, "uU") != NULL;
    return number(s, (double)v, text, wide ? (plus ? ULONG : LONG) : plus ? UINT : INT);
}

/* ---- calls ----------------------------------------------------------------------------- */

static Values read_values(Softener *s)
{
    Values values = {0};
    while (!soften_accept(s, ")")) {
        const Value v = soften_assignment(s);
        vec_push(s->arena, &values, v);
        if (!soften_accept(s, ",") && !token_is(s->at, ")")) {
            text_fault(&s->fault, "')' is expected before '%.40s'", s->at->text);
        }
    }
    return values;
}

/* A call with every argument as text of a type: types[i], or `all`, or what it is where both are NULL. */
static const char *call_text(Softener *s, const char *name, const Values *values, const Fields *types, const Type *all)
{
    Str text;
    str_init(&text, s->arena);
    str_addf(&text, "%s(", name);
    for (int i = 0; i < values->n; i++) {
        const Value v = values->at[i];
        const Type *type = types && i < types->n ? types->at[i].type : all ? all : v.type;
        str_addf(&text, "%s%s", i > 0 ? ", " : "", soften_as(s, v, type));
    }
    str_add(&text, ")");
    return text.at;
}

static bool has_double(const Values *values)
{
    for (int i = 0; i < values->n; i++) {
        if (soften_is_double(values->at[i].type)) {
            return true;
        }
    }
    return false;
}

/* The type in the names of as_TYPE and convert_TYPE_more; NULL: it is another function. */
static const Type *target_of(Softener *s, const char *name)
{
    const char *type = strncmp(name, "as_", 3) == 0 ? name + 3 : strncmp(name, "convert_", 8) == 0 ? name + 8 : NULL;
    return type ? soften_named_type(s, arena_strndup(s->arena, type, strcspn(type, "_"))) : NULL;
}

static bool has_doubles(const Type *type)
{
    return type->form == FORM_NUMBER && type->scalar == DOUBLE;
}

/* as_TYPE and convert_TYPE. */
static Value convert_call(Softener *s, const char *name, const Values *values, const Type *to)
{
    const Value v = values->n == 1 ? values->at[0] : value("", soften_scalar(VOID), 0);
    const bool same = v.type->form == FORM_NUMBER && v.type->scalar == to->scalar && v.type->lanes == to->lanes;
    const char *text;
    if (same) {
        text = at_rank(s, v, RANK_POSTFIX);
    } else if (!has_doubles(to) && !has_doubles(v.type)) {
        text = call_text(s, name, values, NULL, NULL);
    } else if (soften_is_double(to) && name[0] == 'a') {
        text = arena_printf(s->arena, "soft_from_bits(as_ulong(%s))", v.text);
    } else if (soften_is_double(to)) {
        text = soften_as(s, v, to);
    } else if (soften_is_double(v.type) && name[0] == 'a') {
        text = arena_printf(s->arena, "%s(%s.bits)", name, at_rank(s, v, RANK_POSTFIX));
    } else {
        text = arena_printf(s->arena, "soft_%s(%s)", name, v.text);
    }
    return value(text, to, RANK_POSTFIX);
}

/* Of a function that is the language's own, and takes no doubles. */
static const Type *result_of(const char *name, const Values *values)
{
    if (values->n == 0 || strncmp(name, "get_", 4) == 0) {
        return soften_scalar(ULONG);
    }
    for (size_t i = 0; i < sizeof BUILT_IN / sizeof *BUILT_IN; i++) {
        if (BUILT_IN[i].decides && strcmp(name, BUILT_IN[i].name) == 0) {
            return soften_scalar(INT);
        }
    }
    const Type *type = values->at[0].type;
    if (type->form == FORM_POINTER) {
        return type->to;
    }
    for (int i = 1; i < values->n; i++) {
        type = values->at[i].type->form == FORM_NUMBER ? common_type(type, values->at[i].type) : type;
    }
    return type;
}

/* Vectors from and to memory: vload4(at, from), vstore4(v, at, to). */
static Value memory_call(Softener *s, const char *name, const Values *values)
{
    const Type *pointer = values->n > 0 ? values->at[values->n - 1].type : soften_scalar(VOID);
    const Type *element = pointer->form == FORM_POINTER ? pointer->to : soften_scalar(VOID);
    Type *type = arena_new(s->arena, Type);
    *type = (Type){.form = FORM_NUMBER, .scalar = element->scalar, .lanes = atoi(name + strcspn(name, "0123456789"))};
    const char *called = has_doubles(element) ? arena_printf(s->arena, "soft_%s", name) : name;
    return value(call_text(s, called, values, NULL, NULL), type, RANK_POSTFIX);
}

static Value built_in_of_doubles(Softener *s, const char *name, const Values *values)
{
    size_t i = 0;
    while (i < sizeof BUILT_IN / sizeof *BUILT_IN && strcmp(name, BUILT_IN[i].name) != 0) {
        i++;
    }
    if (i == sizeof BUILT_IN / sizeof *BUILT_IN) {
        text_fault(&s->fault, "the function %.40s has no form in integers", name);
    }
    const char *text = call_text(s, arena_printf(s->arena, "soft_%s", name), values, NULL, soften_scalar(DOUBLE));
    return value(text, soften_scalar(BUILT_IN[i].decides ? INT : DOUBLE), RANK_POSTFIX);
}

/* How well a function's parameters are what a call gives; -1: not at all. */
static int fit_of(const Type *function, const Values *values)
{
    int fit = 0;
    if (function->form != FORM_FUNCTION || function->fields->n != values->n) {
        return -1;
    }
    for (int i = 0; i < values->n; i++) {
        const Type *has = function->fields->at[i].type, *given = values->at[i].type;
        const bool same = has->form == given->form && has->scalar == given->scalar;
        fit += same ? 2 : soften_is_double(has) == soften_is_double(given) ? 1 : 0;
    }
    return fit;
}

/* The function of a name, of several (`overloadable`) the one that fits best; NULL: it is none of the text's. */
static const Type *called_function(Softener *s, const char *name, const Values *values)
{
    const Type *best = NULL;
    for (int i = 0; i < s->names.n; i++) {
        const Field *known = &s->names.at[i];
        const bool called = known->name && strcmp(known->name, name) == 0;
        const bool better = called && fit_of(known->type, values) >= (best ? fit_of(best, values) : 0);
        best = better ? known->type : best;
    }
    return best;
}

static Value read_call(Softener *s, const char *name)
{
    const Values values = read_values(s);
    const Type *known = called_function(s, name, &values), *target = target_of(s, name);
    if (known) {
        return value(call_text(s, name, &values, known->fields, NULL), known->to, RANK_POSTFIX);
    }
    if (target) {
        return convert_call(s, name, &values, target);
    }
    if (strncmp(name, "vload", 5) == 0 || strncmp(name, "vstore", 6) == 0) {
        return memory_call(s, name, &values);
    }
    if (has_double(&values)) {
        return built_in_of_doubles(s, name, &values);
    }
    const Type *type = result_of(name, &values);
    const bool soft_fma = !s->fma && strcmp(name, "fma") == 0;
    return value(call_text(s, soft_fma ? "soft_fma_f32" : name, &values, NULL, NULL), type, RANK_POSTFIX);
}

/* ---- names, brackets, casts ------------------------------------------------------------ */

static Value read_name(Softener *s)
{
    static const char *const FLOATS[] = {"NAN", "INFINITY", "MAXFLOAT", "HUGE_VALF"};
    const char *name = s->at->text;
    s->at = s->at->next;
    if (soften_accept(s, "(")) {
        return read_call(s, name);
    }
    const Type *type = soften_find(&s->names, name);
    for (size_t i = 0; !type && i < sizeof FLOATS / sizeof *FLOATS; i++) {
        type = strcmp(name, FLOATS[i]) == 0 ? soften_scalar(FLOAT) : NULL;
    }
    return value(name, type ? type : soften_scalar(INT), RANK_POSTFIX);
}

static Value read_unary(Softener *s);

/* After "(": a cast, a compound literal, a vector of several numbers. */
static Value read_cast(Softener *s)
{
    const Type *type;
    const char *name = soften_type_name(s, &type);
    soften_expect(s, ")");
    if (token_is(s->at, "{")) {
        return value(arena_printf(s->arena, "(%s)%s", name, soften_initializer(s, type)), type, RANK_POSTFIX);
    }
    if (type->form == FORM_NUMBER && type->lanes > 1 && soften_accept(s, "(")) {
        const Values values = read_values(s);
        const char *called = has_doubles(type) ? arena_printf(s->arena, "soft_double%d", type->lanes)
                                               : arena_printf(s->arena, "(%s)", name);
        const Type *lane = values.n > 1 ? soften_scalar(type->scalar) : NULL;
        for (int i = 0; i < values.n; i++) {
            lane = is_number(values.at[i].type) ? lane : NULL;
        }
        return value(call_text(s, called, &values, NULL, lane), type, RANK_POSTFIX);
    }
    const Value v = read_unary(s);
    if (soften_is_double(type) || soften_is_double(v.type)) {
        return value(soften_as(s, v, type), type, soften_is_double(type) ? RANK_POSTFIX : RANK_UNARY);
    }
    return value(arena_printf(s->arena, "(%s)%s", name, at_rank(s, v, RANK_UNARY)), type, RANK_UNARY);
}

static Value read_primary(Softener *s)
{
    if (s->at->kind == TOKEN_NUMBER) {
        return read_number(s);
    }
    if (s->at->kind == TOKEN_NAME) {
        return read_name(s);
    }
    if (!soften_accept(s, "(")) {
        text_fault(&s->fault, "an expression is expected before '%.40s'", s->at->text);
    }
    if (soften_starts_type(s, s->at)) {
        return read_cast(s);
    }
    Value v = soften_expression(s);
    soften_expect(s, ")");
    if (!v.literal && v.rank < RANK_POSTFIX) {
        v.text = arena_printf(s->arena, "(%s)", v.text);
        v.rank = RANK_POSTFIX;
    }
    return v;
}

static const Type *member_type(Softener *s, const Type *type, const char *name)
{
    if (type->form == FORM_RECORD) {
        const Type *found = soften_find(type->fields, name);
        if (!found) {
            text_fault(&s->fault, "there is no member '%.40s'", name);
        }
        return found;
    }
    const bool halved = strcmp(name, "lo") == 0 || strcmp(name, "hi") == 0;
    const bool counted = name[0] == 's' && isxdigit((unsigned char)name[1]);
    const int lanes = halved ? type->lanes / 2 : (int)strlen(name) - (counted ? 1 : 0);
    if (lanes < 2) {
        return soften_scalar(type->scalar);
    }
    Type *part = arena_new(s->arena, Type);
    *part = *type;
    part->lanes = lanes;
    return part;
}

static const Type *element_of(const Type *type)
{
    return type->form == FORM_POINTER ? type->to : soften_scalar(INT);
}

/* x + 1 or x - 1, stored. */
static Value stepped(Softener *s, Value v, bool up, const char *format)
{
    const char *text = soften_is_double(v.type) ? arena_printf(s->arena, "soft_%s_to(&%s, %s)", up ? "add" : "sub",
                                                               at_rank(s, v, RANK_UNARY), number(s, 1, "", DOUBLE).text)
                                                : arena_printf(s->arena, format, at_rank(s, v, RANK_UNARY));
    return value(text, v.type, RANK_UNARY);
}

static Value read_postfix(Softener *s)
{
    Value v = read_primary(s);
    for (;;) {
        const bool arrow = token_is(s->at, "->");
        const char *text = v.rank < RANK_POSTFIX ? arena_printf(s->arena, "(%s)", v.text) : v.text;
        if (soften_accept(s, "[")) {
            const Value index = soften_expression(s);
            soften_expect(s, "]");
            v = value(arena_printf(s->arena, "%s[%s]", text, index.text), element_of(v.type), RANK_POSTFIX);
        } else if (soften_accept(s, ".") || soften_accept(s, "->")) {
            const char *name = s->at->text;
            const Type *record = arrow ? element_of(v.type) : v.type;
            s->at = s->at->next;
            v = value(arena_printf(s->arena, "%s%s%s", text, arrow ? "->" : ".", name), member_type(s, record, name),
                      RANK_POSTFIX);
        } else if (token_is(s->at, "++") || token_is(s->at, "--")) {
            const bool up = soften_accept(s, "++");
            if (!up) {
                soften_expect(s, "--");
            }
            v = stepped(s, v, up, up ? "%s++" : "%s--");
        } else {
            return v;
        }
    }
}

static Value negated(Softener *s, Value v)
{
    if (v.literal && v.type->scalar == DOUBLE) {
        return number(s, -v.number, "", DOUBLE);
    }
    if (soften_is_double(v.type)) {
        return value(arena_printf(s->arena, "soft_neg(%s)", v.text), v.type, RANK_POSTFIX);
    }
    const char *text = arena_printf(s->arena, *v.text == '-' ? "-(%s)" : "-%s", at_rank(s, v, RANK_UNARY));
    Value minus = value(text, v.type, RANK_UNARY);
    const bool keeps = v.literal && (v.type->scalar == INT || v.type->scalar == LONG);
    minus.literal = keeps && v.number != 0; /* -0 is 0 for whole numbers */
    minus.number = -v.number;
    return minus;
}

static Value read_sizeof(Softener *s)
{
    const Type *type;
    const bool round = token_is(s->at, "(") && soften_starts_type(s, s->at->next);
    const char *text;
    if (round) {
        soften_expect(s, "(");
        text = arena_printf(s->arena, "sizeof(%s)", soften_type_name(s, &type));
        soften_expect(s, ")");
    } else {
        text = arena_printf(s->arena, "sizeof %s", at_rank(s, read_unary(s), RANK_UNARY));
    }
    return value(text, soften_scalar(ULONG), RANK_UNARY);
}

static Value read_unary(Softener *s)
{
    Value v;
    const char *sign = s->at->text;
    if (++s->nested > MOST_NESTED) {
        text_fault(&s->fault, "an expression is nested too deeply");
    }
    if (soften_accept(s, "-")) {
        v = negated(s, read_unary(s));
    } else if (soften_accept(s, "+")) {
        v = read_unary(s);
    } else if (soften_accept(s, "!")) {
        v = read_unary(s);
        v = value(arena_printf(s->arena, soften_is_double(v.type) ? "!soft_true(%s)" : "!%s",
                               at_rank(s, v, RANK_UNARY)),
                  soften_scalar(INT), RANK_UNARY);
    } else if (soften_accept(s, "~") || soften_accept(s, "&") || soften_accept(s, "*")) {
        v = read_unary(s);
        const Type *type = *sign == '&' ? soften_pointer(s, v.type) : *sign == '*' ? element_of(v.type) : v.type;
        v = value(arena_printf(s->arena, "%s%s", sign, at_rank(s, v, RANK_UNARY)), type, RANK_UNARY);
    } else if (soften_accept(s, "++") || soften_accept(s, "--")) {
        v = stepped(s, read_unary(s), *sign == '+', *sign == '+' ? "++%s" : "--%s");
    } else {
        v = soften_accept(s, "sizeof") ? read_sizeof(s) : read_postfix(s);
    }
    s->nested--;
    return v;
}

/* ---- operators ------------------------------------------------------------------------- */

static const struct Operator *operator_at(const Token *t)
{
    for (size_t i = 0; t->kind == TOKEN_SIGN && i < sizeof OPERATORS / sizeof *OPERATORS; i++) {
        if (token_is(t, OPERATORS[i].sign)) {
            return &OPERATORS[i];
        }
    }
    return NULL;
}

static Value applied(Softener *s, const struct Operator *op, Value a, Value b)
{
    const bool of_doubles = soften_is_double(a.type) || soften_is_double(b.type);
    if (of_doubles && op->soft) {
        const char *text = arena_printf(s->arena, "soft_%s(%s, %s)", op->soft, soft_text(s, a), soft_text(s, b));
        return value(text, soften_scalar(op->compares ? INT : DOUBLE), RANK_POSTFIX);
    }
    if (of_doubles && !op->compares) {
        text_fault(&s->fault, "doubles have no operator %s", op->sign);
    }
    if (of_doubles) {
        a.text = soften_condition(s, a);
        b.text = soften_condition(s, b);
    }
    const bool shifts = op->rank == 10;
    const Type *type = op->compares && a.type->lanes == 1 ? soften_scalar(INT)
                       : shifts                           ? a.type
                                                          : common_type(a.type, b.type);
    if (op->sign[0] == '-' && a.type->form == FORM_POINTER && b.type->form == FORM_POINTER) {
        type = soften_scalar(LONG);
    }
    const char *text =
        arena_printf(s->arena, "%s %s %s", at_rank(s, a, op->rank), op->sign, at_rank(s, b, op->rank + 1));
    return value(text, type, op->rank);
}

static Value read_ranked(Softener *s, int least)
{
    Value v = read_unary(s);
    for (const struct Operator *op; (op = operator_at(s->at)) && op->rank >= least;) {
        s->at = s->at->next;
        v = applied(s, op, v, read_ranked(s, op->rank + 1));
    }
    return v;
}

static Value read_choice(Softener *s)
{
    const Value c = read_ranked(s, RANK_OR);
    if (!soften_accept(s, "?")) {
        return c;
    }
    const Value a = soften_expression(s);
    soften_expect(s, ":");
    const Value b = read_choice(s);
    const bool of_doubles = soften_is_double(a.type) || soften_is_double(b.type);
    const Type *type = of_doubles ? soften_scalar(DOUBLE) : common_type(a.type, b.type);
    const char *yes = of_doubles ? soften_as(s, a, type) : at_rank(s, a, RANK_CHOICE);
    const char *no = of_doubles ? soften_as(s, b, type) : at_rank(s, b, RANK_CHOICE);
    const char *condition = soften_is_double(c.type) ? soften_condition(s, c) : at_rank(s, c, RANK_OR);
    return value(arena_printf(s->arena, "%s ? %s : %s", condition, yes, no), type, RANK_CHOICE);
}

/* x OP= y, with the sign of OP. */
static Value changed(Softener *s, const char *sign, Value to, Value by)
{
    const struct Operator *op = NULL;
    for (size_t i = 0; i < sizeof OPERATORS / sizeof *OPERATORS; i++) {
        const size_t n = strlen(OPERATORS[i].sign);
        op = strncmp(sign, OPERATORS[i].sign, n) == 0 && strcmp(sign + n, "=") == 0 ? &OPERATORS[i] : op;
    }
    const char *text;
    if (soften_is_double(to.type) && op && op->soft) {
        text = arena_printf(s->arena, "soft_%s_to(&%s, %s)", op->soft, at_rank(s, to, RANK_UNARY), soft_text(s, by));
    } else if (soften_is_double(by.type) && op) {
        if (strpbrk(to.text, "(") || strstr(to.text, "++") || strstr(to.text, "--")) {
            text_fault(&s->fault, "'%.60s %s' would be computed twice", to.text, sign);
        }
        text = arena_printf(s->arena, "%s = %s", to.text, soften_as(s, applied(s, op, to, by), to.type));
    } else {
        text = arena_printf(s->arena, "%s %s %s", at_rank(s, to, RANK_UNARY), sign, at_rank(s, by, RANK_ASSIGN));
    }
    return value(text, to.type, RANK_ASSIGN);
}

static bool assigns(const Token *t)
{
    const size_t n = strlen(t->text);
    return t->kind == TOKEN_SIGN && n > 0 && t->text[n - 1] == '=' && !operator_at(t);
}

Value soften_assignment(Softener *s)
{
    const Value to = read_choice(s);
    if (!assigns(s->at)) {
        return to;
    }
    const char *sign = s->at->text;
    s->at = s->at->next;
    if (++s->nested > MOST_NESTED) {
        text_fault(&s->fault, "assignments are nested too deeply");
    }
    const Value by = soften_assignment(s);
    s->nested--;
    if (sign[1] != '\0') {
        return changed(s, sign, to, by);
    }
    return value(arena_printf(s->arena, "%s = %s", at_rank(s, to, RANK_UNARY), soften_as(s, by, to.type)), to.type,
                 RANK_ASSIGN);
}

Value soften_expression(Softener *s)
{
    Value v = soften_assignment(s);
    while (soften_accept(s, ",")) {
        const Value next = soften_assignment(s);
        v = value(arena_printf(s->arena, "%s, %s", v.text, next.text), next.type, RANK_COMMA);
    }
    return v;
}

/* ---- initializers ---------------------------------------------------------------------- */

/* The type of part `i` in braces. */
static const Type *part_of(const Type *type, int i)
{
    return type->form == FORM_POINTER                         ? type->to
           : type->form == FORM_RECORD && i < type->fields->n ? type->fields->at[i].type
                                                              : type;
}

static const char *read_braces(Softener *s, const Type *type)
{
    Str text;
    str_init(&text, s->arena);
    str_add(&text, "{");
    for (int i = 0; !soften_accept(s, "}"); i++) {
        const Type *part = part_of(type, i);
        if (soften_accept(s, ".")) {
            part = member_type(s, type, s->at->text);
            str_addf(&text, ".%s = ", s->at->text);
            s->at = s->at->next;
            soften_expect(s, "=");
        } else if (soften_accept(s, "[")) {
            str_addf(&text, "[%s] = ", soften_expression(s).text);
            soften_expect(s, "]");
            soften_expect(s, "=");
        }
        while (!token_is(s->at, "{") && part->form == FORM_POINTER && type->form == FORM_POINTER) {
            part = part->to; /* rows without braces of their own */
        }
        str_add(&text, soften_initializer(s, part));
        str_add(&text, soften_accept(s, ",") ? ", " : "");
    }
    str_add(&text, "}");
    return text.at;
}

const char *soften_initializer(Softener *s, const Type *type)
{
    if (soften_accept(s, "{")) {
        return read_braces(s, type);
    }
    const Value v = soften_assignment(s);
    if (soften_is_double(type) && v.literal) { /* a constant, wherever it stands */
        const char *text = number(s, v.number, "", DOUBLE).text;
        return arena_printf(s->arena, "{%.*s}", (int)strlen("0x0123456789abcdefUL"), text + strlen("soft_from_bits("));
    }
    return soften_as(s, v, type);
}
