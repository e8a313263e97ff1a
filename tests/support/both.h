/*
 * both: runs one graph with the reference evaluator and as a program on a device, and compares
 * every output bit for bit.
 *
 * The parts can be had singly: what the evaluator says of a graph, what a bound program gives, and
 * the comparison of two such results.
 */
#ifndef TESTS_BOTH_H
#define TESTS_BOTH_H

#include "reference/eval.h"
#include "passes/pass.h"
#include "runtime/exec/exec.h"

/* What a graph is run on: one image for each input. */
typedef struct BothCase {
    IrEvalInput inputs[8];
    int n_inputs;
    double params[32];
    int shape;         /* of generated kernels: SHAPE_BY_DEVICE, SHAPE_GPU or SHAPE_CPU */
    uint64_t limit;    /* bytes that the device lets a run hold; 0: what it has */
    uint64_t elements; /* that folds of the evaluator may count; 0: any number */
    int part_rows;     /* the device works on parts of so many rows or planes; 0: in one piece */
    bool across;       /* parts of volumes are rows of all planes */
} BothCase;

/* What the pixels of an input are like; values that the element type cannot hold are saturated. */
typedef enum BothKind {
    BOTH_NOISE,
    BOTH_SMOOTH,
    BOTH_CONSTANT,
    BOTH_CHECKER,
    BOTH_SPECIAL, /* floats: with NaN and infinity; else small numbers */
    BOTH_EXTREME, /* the type's smallest and largest values; floats: denormals, -0, infinities too */
    BOTH_SPARSE,  /* mostly 0, else small numbers, with a seed's share of each */
    BOTH_KINDS
} BothKind;
extern const char *const BOTH_KIND_NAMES[BOTH_KINDS];

/* Fills an input with values that a file of type `elem` can hold, from a seed; owned by the
 * caller (free pixels). */
IrEvalInput both_image(int w, int h, int d, int c, Elem elem, unsigned seed, int kind);

/* One output of a run. */
typedef struct BothOutput {
    const char *name;
    IrKind kind; /* IR_K_VALUE, IR_K_TABLE, or what the pixels are */
    int extent[IR_AXES];
    double *pixels; /* of an image; the cells of a table, column by column */
    double value;   /* IR_K_VALUE; IR_K_LABELS: the count */
    int64_t rows;
    int columns;
} BothOutput;

typedef struct BothResult {
    BothOutput *at;
    int n;
    int64_t rows_read; /* in parts: rows that inputs were asked for */
} BothResult;

/* Evaluates the graph as it is.  The result is freed by the caller (both_free), also on failure;
 * names are the graph's. */
bool both_evaluate(const IrGraph *g, const BothCase *in, BothResult *out, Err *err);
/* Binds the case, uploads, runs and downloads; as often as wanted with one Exec of `program`. */
bool both_execute(Exec *exec, const Program *program, const BothCase *in, BothResult *out, Err *err);
/* The inputs of a case as the runtime knows them. */
void both_inputs(const BothCase *in, ExecInput *inputs);
void both_free(BothResult *result);
/* True when both are the same, bit for bit; otherwise `why` says what differs where. */
bool both_same(const BothResult *want, const BothResult *got, char *why, size_t size);

/*
 * Evaluates the graph as it is, then runs the passes and the program on the device.  Empty `why`:
 * every output is the same, bit for bit; otherwise it says what differs where.  The graph is
 * changed by the passes.
 */
bool both_run(IrGraph *g, PassContext *cx, const BothCase *in, Device *dev, char *why, size_t size);

#endif
