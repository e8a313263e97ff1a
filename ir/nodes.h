/* nodes: the operations of nodes.def as an enumeration and a table. */
#ifndef IR_NODES_H
#define IR_NODES_H

typedef enum IrOp {
    IR_NONE,
#define N(NAME, name, kind, inputs, arguments, what) IR_##NAME,
#include "../base/nodes.def"
#undef N
    IR_OPS
} IrOp;

typedef struct IrOpInfo {
    const char *name;
    const char *inputs, *arguments; /* "image*, mask*?": nodes.def with * = ? ... for STORED, BEFORE, MAYBE, SEVERAL */
    int kind;                       /* IrKind */
} IrOpInfo;

/* The row of an op; never NULL. */
const IrOpInfo *ir_op_info(IrOp op);
IrOp ir_op_from_name(const char *name);

static inline int ir_op_is_primitive(IrOp op)
{
    return op >= IR_REDUCE;
}
/* True when input `i` must be a plain read of a stored node. */
int ir_op_input_is_stored(IrOp op, int i);
/* True when the result may be written onto what input `i` reads at the pixel. */
int ir_op_input_is_overwritten(IrOp op, int i);

#endif
