/* nodes: nodes.def as a table. */
#include "nodes.h"
#include "ir.h"

#include <assert.h>
#include <string.h>

#define STORED(x) x *
#define BEFORE(x) x =
#define MAYBE(x) x ?
#define SEVERAL(x) x...
#define AXES(x) x, x, x
#define NO_INPUT
#define NO_ARGUMENT
#define TEXT_OF(...) #__VA_ARGS__
#define TEXT(...) TEXT_OF(__VA_ARGS__)
#define N(NAME, name, kind, inputs, arguments, what) [IR_##NAME] = {#name, TEXT inputs, TEXT arguments, IR_K_##kind},
static const IrOpInfo INFO[IR_OPS] = {
    [IR_NONE] = {"none", "", "", IR_K_IMAGE},
#include "../base/nodes.def"
};
#undef N

const IrOpInfo *ir_op_info(IrOp op)
{
    assert(op < IR_OPS);
    return &INFO[op];
}

IrOp ir_op_from_name(const char *name)
{
    for (int op = 1; op < IR_OPS; op++) {
        if (strcmp(INFO[op].name, name) == 0) {
            return (IrOp)op;
        }
    }
    return IR_NONE;
}

/* Input `i` is the i-th of `inputs`, whose end says how it is read.  Those after the last stand for the last one
 * ("image ..."). */
static char mark_of(IrOp op, int i)
{
    const char *p = INFO[op].inputs;
    for (;;) {
        size_t n = strcspn(p, ",");
        if (i == 0 || p[n] == '\0') {
            return n > 0 ? p[n - 1] : '\0';
        }
        p += n + 1;
        i--;
    }
}

int ir_op_input_is_stored(IrOp op, int i)
{
    return mark_of(op, i) == '*';
}

int ir_op_input_is_overwritten(IrOp op, int i)
{
    return mark_of(op, i) == '=';
}
