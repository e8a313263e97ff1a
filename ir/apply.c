/*
 * apply: the operators of exprs.def compiled three times, for f32, i32 and u32; f64 is the host's
 * arithmetic of base/hostops.  The float text of exprs.def is written with OpenCL's names, which
 * are mapped to the float functions of C here, so that nothing is rounded twice.
 */
#include "apply.h"
#include "px_whole.h"

#include "../base/hostops.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const struct OpRow {
    const char *name, *float_text, *int_text;
    int arity;
    IrRule rule;
    int host;
} OPS[IR_X_COUNT] = {
#define E1(NAME, text, rule, f, i) [IR_X_##NAME] = {text, #f, #i, 1, IR_RULE_##rule, HOSTOP_##NAME},
#define E2(NAME, text, rule, f, i) [IR_X_##NAME] = {text, #f, #i, 2, IR_RULE_##rule, HOSTOP_##NAME},
#define E3(NAME, text, rule, f, i) [IR_X_##NAME] = {text, #f, #i, 3, IR_RULE_##rule, HOSTOP_##NAME},
#include "exprs.def"
#undef E1
#undef E2
#undef E3
};

#define fma fmaf
#define sqrt sqrtf
#define floor floorf
#define ceil ceilf
#define trunc truncf
#define rint rintf
#define fabs fabsf
#define NONE 0

/* SELECT's condition is a float here, too. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wfloat-conversion"

static double apply_float(IrExprOp op, float a, float b, float c)
{
    (void)b;
    (void)c;
    switch (op) {
#define E1(NAME, text, rule, f, i) \
    case IR_X_##NAME:              \
        return (double)(f);
#define E2 E1
#define E3 E1
#include "exprs.def"
#undef E1
    default:
        return 0;
    }
}

#pragma GCC diagnostic pop

#undef fma
#undef sqrt
#undef floor
#undef ceil
#undef trunc
#undef rint
#undef fabs

/* Operators without an integer form never get here: their operands were converted. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtype-limits"

#define E1(NAME, text, rule, f, i) \
    case IR_X_##NAME:              \
        return (double)(i);

static double apply_int(IrExprOp op, int32_t a, int32_t b, int32_t c)
{
    (void)b;
    (void)c;
    switch (op) {
#include "exprs.def"
    default:
        return 0;
    }
}

static double apply_uint(IrExprOp op, uint32_t a, uint32_t b, uint32_t c)
{
    (void)b;
    (void)c;
    switch (op) {
#include "exprs.def"
    default:
        return 0;
    }
}

#undef E1
#undef E2
#undef E3
#pragma GCC diagnostic pop

/* Towards zero and within lo .. hi, which int64_t holds; NaN gives 0.  C leaves a cast of other numbers undefined. */
static int64_t whole(double value, double lo, double hi)
{
    return isnan(value) ? 0 : (int64_t)(value < lo ? lo : value > hi ? hi : value);
}

static uint32_t to_u32(double value)
{
    return (uint32_t)whole(value, 0, UINT32_MAX);
}

static int32_t to_i32(double value)
{
    return (int32_t)whole(value, INT32_MIN, INT32_MAX);
}

double ir_apply(IrExprOp op, Elem type, double a, double b, double c)
{
    if (op == IR_X_SELECT) {
        return a != 0 ? b : c;
    }
    switch (type) {
    case ELEM_F64:
        return hostop_eval(OPS[op].host, a, b, c);
    case ELEM_F32:
        return apply_float(op, (float)a, (float)b, (float)c);
    case ELEM_U32:
        return apply_uint(op, to_u32(a), to_u32(b), to_u32(c));
    default:
        return apply_int(op, to_i32(a), to_i32(b), to_i32(c));
    }
}

double ir_convert(double value, Elem type)
{
    if (type == ELEM_F64) {
        return value;
    }
    if (type == ELEM_F32) {
        return (double)(float)value;
    }
    if (type == ELEM_BOOL) {
        return value != 0;
    }
    return (double)whole(value, elem_min(type), elem_max(type));
}

double ir_saturate_value(double value, Elem storage)
{
    if (isnan(value)) {
        return 0;
    }
    return fmin(fmax(rint(value), elem_min(storage)), elem_max(storage)) + 0.0; /* one zero */
}

const char *ir_op_text(IrExprOp op, bool integer)
{
    return integer ? OPS[op].int_text : OPS[op].float_text;
}

IrRule ir_op_rule(IrExprOp op)
{
    return OPS[op].rule;
}

int ir_op_work(IrExprOp op)
{
    enum { DIVIDES = 8, FUNCTION = 20, POWER = 41 };
    switch (op) {
    case IR_X_DIV:
    case IR_X_FLOORDIV:
    case IR_X_MOD:
    case IR_X_SQRT:
    case IR_X_HYPOT:
        return DIVIDES;
    case IR_X_POW:
        return POWER;
    default:
        return op == IR_X_ATAN2 || (op >= IR_X_CBRT && op <= IR_X_TANH) ? FUNCTION : 1;
    }
}

bool ir_op_is_costly(IrExprOp op)
{
    return ir_op_work(op) > 1;
}

int ir_expr_op_arity(IrExprOp op)
{
    assert(op < IR_X_COUNT);
    return OPS[op].arity;
}

static const char *const PLAIN_NAMES[] = {
    [IR_X_NONE] = "none",           [IR_X_CONST] = "const",     [IR_X_PARAM] = "param", [IR_X_EXTENT] = "extent",
    [IR_X_PIXELSIZE] = "pixelsize", [IR_X_LARGEST] = "largest", [IR_X_SKY] = "sky",     [IR_X_UPWARDS] = "upwards",
    [IR_X_INDEX] = "index",         [IR_X_COORD] = "coord",     [IR_X_VALUE] = "value", [IR_X_READ] = "read",
    [IR_X_READAT] = "readat",       [IR_X_LOOKUP] = "lookup",   [IR_X_CAST] = "cast",   [IR_X_FOLD] = "fold",
    [IR_X_LOCAL] = "local",         [IR_X_CALL] = "call",       [IR_X_ARG] = "arg",
};

const char *ir_expr_op_name(IrExprOp op)
{
    return op <= IR_X_ARG ? PLAIN_NAMES[op] : OPS[op].name;
}

IrExprOp ir_expr_op_from_name(const char *name)
{
    for (int op = 1; op < IR_X_COUNT; op++) {
        if (strcmp(ir_expr_op_name((IrExprOp)op), name) == 0) {
            return (IrExprOp)op;
        }
    }
    return IR_X_NONE;
}

int ir_map_border(Border border, int i, int n)
{
    switch (border) {
    case BORDER_REFLECT:
        return px_reflect(i, n);
    case BORDER_MIRROR:
        return px_mirror(i, n);
    case BORDER_WRAP:
        return px_wrap(i, n);
    default:
        return px_nearest(i, n);
    }
}
