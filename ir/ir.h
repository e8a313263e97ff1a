/*
 * ir: the graph that everything between the checker and the kernels works on.
 *
 * A graph is an array of *nodes* in topological order; edges are indices, 0 is "none".  A node is
 * an image, a whole-image value, a vector indexed by label, or a table.  What a node computes
 * from other nodes is written as *expressions at one pixel*: an expression may read other nodes
 * at offsets from the current pixel, so pointwise code and stencils are one thing, and a
 * footprint is something computed, not declared.  Reductions, labels and measurements are nodes
 * of their own with such expressions in front.
 *
 * Expressions are hash-consed: equal expressions have equal ids, inside one graph.  An
 * expression's `rank` says what it depends on, and so where it is evaluated:
 *
 *   IR_CONST    nothing                         folded by the compiler
 *   IR_HOST     parameters, extents, pixel size on the host, in double, before the first kernel
 *   IR_INDEX    also indices of folds           on the host, in double, as a table of weights
 *   IR_UNIFORM  also whole-image values         on the device, in double, once a kernel
 *   IR_PIXEL    also pixels and coordinates     on the device, for each pixel
 *
 * Host and uniform expressions have type f64.  They enter a pixel's arithmetic only through
 * IR_X_CAST, which rounds them once.
 *
 * Coordinates: axes are x, y, z, c, innermost first.  In memory an image is `planes` of h rows
 * of w pixels, plane = c * d + z.  Borders apply to x, y and z.
 */
#ifndef IR_IR_H
#define IR_IR_H

#include "../base/arena.h"
#include "../base/border.h"
#include "../base/elem.h"
#include "../base/nodes.h"
#include "../base/span.h"
#include "../base/stored.h"
#include "../base/str.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

typedef uint32_t IrId;   /* a node; 0 is none */
typedef uint32_t IrExpr; /* an expression; 0 is none */

enum { IR_AX_X, IR_AX_Y, IR_AX_Z, IR_AX_C, IR_AXES };

typedef enum IrRank { IR_CONST, IR_HOST, IR_INDEX, IR_UNIFORM, IR_PIXEL, IR_RANKS } IrRank;

typedef enum IrExprOp {
    IR_X_NONE,
    IR_X_CONST,     /* num */
    IR_X_PARAM,     /* num = index of a parameter of the graph */
    IR_X_EXTENT,    /* num = axis, node = whose grid: its extent in pixels */
    IR_X_PIXELSIZE, /* num = axis: the first input's pixel size in micrometres */
    IR_X_UPWARDS,   /* 1 where the first input's rows go upwards, as those of FITS; else 0 */
    IR_X_SKY, /* node, an input; num = 9 times the number of another input, plus the entry of its sky_map (base/sky.h) */
    IR_X_LARGEST, /* node, an input: largest value of the type of its file; inf of floats */
    IR_X_INDEX,   /* num = unique number of a fold's index variable */
    IR_X_COORD,   /* num = axis: the current pixel's coordinate, i32 */
    IR_X_VALUE,   /* node, num = which of its values: a whole-image value, f64 */
    IR_X_READ,    /* node at the current pixel plus a, b, c (x, y, z; 0 = no offset) */
    IR_X_READAT,  /* node at absolute a, b, c (x, y, z; 0 = the current coordinate) */
    IR_X_LOOKUP,  /* node is a vector; a = the index (a label); 0 outside */
    IR_X_CAST,    /* a, to `type`; to an integer type: rounded to even and saturated to num = Elem */
    IR_X_FOLD,    /* see IrFold */
    IR_X_LOCAL,   /* num = which variable of the function that the expression is in (function.h), of `type` */
    IR_X_CALL,    /* num = index of a function of the graph; a = first of its arguments (IR_X_ARG) */
    IR_X_ARG,     /* a = the value, b = next argument or 0 */
#define E1(NAME, text, rule, f, i) IR_X_##NAME,
#define E2(NAME, text, rule, f, i) IR_X_##NAME,
#define E3(NAME, text, rule, f, i) IR_X_##NAME,
#include "exprs.def"
#undef E1
#undef E2
#undef E3
    IR_X_COUNT
} IrExprOp;

/*
 * A fold runs its index variable from lo to hi (both included, host expressions; fractions are cut
 * towards the inside when it is built) and combines
 * `body` in that order.  Whether a fold in the body goes on with this sequence (`flat`) and whether
 * the body is a product whose factors are added with one rounding (`fused`, SUM only: acc =
 * fma(p, q, acc) instead of acc + body) is decided when the fold is built and stays so, whatever
 * passes put into the body.  BLEND is the sum of `weight` times body by parts (base/blend.h): for each index but the
 * first the body less that of the index before is added, for the middle one then the body itself, in f32 each product
 * with one rounding; so what is alike at all indices comes out as it is.  RANK sorts the bodies, NaN last and zeros as +0, and takes number `nth`
 * (0 = smallest; below 0 the smallest, beyond the last the last); MODE takes the one that there are
 * most of, the smallest of several, NaN only where there is nothing else.  Of no bodies both are NaN,
 * of whole numbers 0.
 * `where` (an index expression, 0 = always) leaves out the indices for which it is 0; it belongs
 * to the innermost fold of a flat sequence.
 */
typedef enum IrFold {
    IR_FOLD_SUM,
    IR_FOLD_PROD,
    IR_FOLD_MIN,
    IR_FOLD_MAX,
    IR_FOLD_ANY,
    IR_FOLD_ALL,
    IR_FOLD_BLEND,
    IR_FOLD_RANK,
    IR_FOLD_MODE,
    IR_FOLDS
} IrFold;

enum { IR_CHILDREN = 8 };

typedef struct IrExprNode {
    IrExprOp op;
    Elem type; /* BOOL, I32, U32, F32 or F64 */
    IrRank rank;
    bool integral; /* see ir_is_integral() */
    int depth;     /* 1 of a leaf */
    IrId node;     /* VALUE, READ, READAT, LOOKUP, EXTENT, LARGEST, SKY */
    double num;
    union { /* what it is made of; 0: it has none of these */
        struct {
            IrExpr a, b, c;
            IrExpr
                channel; /* READ, READAT: host or index expression, of READAT any: absolute channel; 0 = the current one */
            IrExpr outside; /* READ, READAT: host expression: the value outside under BORDER_CONSTANT */
            IrExpr where;   /* FOLD: see there */
            IrExpr nth;     /* RANK: which one, fractions cut; evaluated with the count in IR_X_INDEX -1 */
            IrExpr weight;  /* BLEND: of the pixels, an index expression over num */
        };
        IrExpr child[IR_CHILDREN];
    };
    Border border; /* READ, READAT */
    IrFold fold;   /* FOLD: a = body, b = lo, c = hi, num = index variable */
    bool flat, fused;
} IrExprNode;

typedef enum IrKind {
    IR_K_IMAGE,
    IR_K_MASK,   /* an image of bool */
    IR_K_LABELS, /* an image of u32 with ids 1..count; value 0 of the node is the count */
    IR_K_VALUE,  /* whole-image values, f64; a node may have several (num of IR_X_VALUE) */
    IR_K_VECTOR, /* one element for each label 0..count of a labels node */
    IR_K_TABLE,  /* rows for labels, columns for measures */
    IR_KINDS
} IrKind;

/* Extents of an image: host expressions; 0 stands for 1. */
typedef struct IrGrid {
    IrExpr extent[IR_AXES];
    bool has[IR_AXES]; /* the axes that the user sees */
} IrGrid;

#include "nodes.h"

/* How deep an expression may be: recursion over expressions relies on it (base/stack.h).  One at a pixel that becomes
 * deep is stored in between where that can be, and passes make none of several. */
/* How many images and vectors a node reads at most, and a kernel of several: each is a pointer among 1024 bytes of
 * arguments. */
enum { IR_MOST_READS = 64 };

enum { IR_DEEP = 1000, IR_MOST_DEPTH = 10000 };

enum { IR_MAX_VALUES = 6 };

typedef struct IrNode {
    IrOp op;
    IrKind kind;
    Elem elem;        /* of the stored pixels; ELEM_FILE for inputs as the file has them, and for maps of such pixels
                          that were only moved or chosen; `of` is the input then */
    int grid;         /* index into the graph's grids; -1 for values and tables */
    const char *name; /* the user's name, or one made from the operator's; unique */
    Span span;        /* the words it came from */
    union {
        struct {
            IrExpr in[NODE_INPUTS];     /* what it reads, per pixel */
            IrExpr arg[NODE_ARGUMENTS]; /* host expressions */
        };
#define INPUT IrExpr
#define ARGUMENT IrExpr
#include "../base/node_members.h" /* the same by name: node->watershed.markers */
#undef INPUT
#undef ARGUMENT
    };
    IrId of;          /* the node it belongs to (a vector's or table's labels); 0 none */
    int loop;         /* the loop it is in; 0 none */
    const char *text; /* op-specific text (an input's axes, a measure's column names) */
    bool dead;        /* killed; skipped by printing, verifying and everything else */
} IrNode;

typedef struct IrEnds { /* of an index's range, fractions not yet cut; 0: not known */
    IrExpr lo, hi;
} IrEnds;

typedef struct IrParam {
    const char *name, *help;
    double value, lo, hi; /* the default and its range, infinite where not given */
    bool integer;
    const char *words; /* "otsu|li": its values are their numbers, from 0 on; NULL: it is a number */
} IrParam;

/*
 * repeat: the nodes with .loop == its index run `count` times, or until `until` (a uniform
 * expression) did not change, at most `at_most` times.  A carry is a node (op CARRY) that starts
 * as `first` and takes the value of `next` at the end of each round; after the loop it holds the
 * last one.
 */
typedef struct IrCarry {
    IrId carry, first, next;
} IrCarry;

typedef struct IrLoop {
    int parent;
    IrExpr count;   /* host expression; 0 when `until` is given */
    IrExpr until;   /* uniform expression */
    IrExpr at_most; /* host expression */
    Vec(IrCarry) carries;
    int joined; /* rounds of the pipeline that one of these stands for (passes/rounds.c); 0: one */
} IrLoop;

/*
 * Where the pixels of an image lie on an input: pixel (x, y, z) at of[a][0] x + of[a][1] y +
 * of[a][2] z + of[a][3] along its axis a.  Host expressions; 0 stands for 0, NaN for what nobody
 * knows.  The sizes of pixels and the sky coordinates of a file follow from it.
 */
typedef struct IrPlace {
    int input;  /* its number, from 0 */
    bool moved; /* else every pixel lies where its own number says, and `of` is not used */
    IrExpr of[3][4];
} IrPlace;

typedef struct IrOutput {
    const char *name;
    const char *format; /* "tif", "png", "fits", "zarr", "csv", "geojson", "roi" */
    Stored stored;
    IrId node;     /* an image, mask, labels, table; or 0 and a value: */
    IrExpr value;  /* a uniform expression */
    IrPlace place; /* of the pixels */
    int along;     /* of an image that is written as csv: what the user calls its only axis */
    Span span;
} IrOutput;

/*
 * What works and is hardly meant: a run says so of each image for which number `at` is no place along an
 * axis with `extent` pixels, 0 to extent - 1.  Host expressions.
 */
typedef struct IrNote {
    NoteKind kind;
    const char *name;
    int axis;
    IrExpr at, extent;
} IrNote;

/* What must hold before a run: an operator's argument, a host expression, is within its range.  Bounds of numbers
 * that are known when the pipeline is compiled have been checked then. */
typedef struct IrBound {
    const char *what; /* "'q' of 'percentile'" */
    const char *must; /* "in 0 .. 100" */
    IrExpr value;
    double lo, hi; /* both included, unless */
    bool above;    /* it must be above lo */
    Span span;
} IrBound;

/* What must hold before a run: extents of images that meet in an expression are the same.  Host expressions; passes may
 * leave nothing of the images that would tell. */
typedef struct IrEqual {
    IrExpr a, b;
    int axis;
    Span span;
} IrEqual;

/* A function with control flow (ir/function.h). */
typedef struct IrFunction IrFunction;

typedef struct IrGraph { /* what is added here, ir/clone.c copies */
    Arena *arena;
    const char *name; /* of the pipeline: the file's stem */
    const Source *source;
    Vec(IrNode) nodes;     /* [0] is unused */
    Vec(IrExprNode) exprs; /* [0] is unused */
    Vec(IrGrid) grids;
    Vec(IrParam) params;
    Vec(IrLoop) loops; /* [0] is unused */
    Vec(IrOutput) outputs;
    Vec(const Source *) included; /* files that the pipeline includes */
    Vec(IrNote) notes;
    Vec(IrBound) bounds;
    Vec(IrEqual) equals;
    Vec(IrFunction *) functions;
    int next_index;   /* for index variables */
    Vec(IrEnds) ends; /* by index variable, as far as they are known before the fold is made */
    uint32_t *hash;   /* of expressions: open addressing */
    int hash_cap;
    struct IrScratch *scratch;            /* of walks (ir/walk.c) */
    Vec(struct IrIndices *) free_indices; /* by expression, as far as asked for (ir/indices.c) */
    struct IrNames *names;                /* of nodes (ir/node_names.c) */
} IrGraph;

/* ---- building (ir/build.c) ------------------------------------------------------------- */

IrGraph *ir_graph_new(Arena *arena, const char *name, const Source *source);

static inline IrNode *ir_node(const IrGraph *g, IrId id)
{
    assert((int)id < g->nodes.n);
    return &g->nodes.at[id];
}
static inline const IrExprNode *ir_expr(const IrGraph *g, IrExpr e)
{
    assert((int)e < g->exprs.n);
    return &g->exprs.at[e];
}

/* The index of a blend's pixel in the middle: a host expression. */
IrExpr ir_blend_middle(IrGraph *g, const IrExprNode *fold);

/* True for a fold that sorts. */
static inline bool ir_sorts(const IrExprNode *n)
{
    return n->op == IR_X_FOLD && n->fold >= IR_FOLD_RANK;
}

/* True for images, masks and labels: what has pixels. */
static inline bool ir_has_pixels(const IrGraph *g, IrId id)
{
    return ir_node(g, id)->kind <= IR_K_LABELS;
}

/* Appends a node and gives it a unique name made from `name`.  Pointers from ir_node move. */
IrId ir_add_node(IrGraph *g, IrNode node);
/* A name that no node has: `wanted`, or that and a number. */
const char *ir_free_name(IrGraph *g, const char *wanted);
/* Gives a node another name, made so. */
void ir_rename(IrGraph *g, IrId node, const char *wanted);
/* Gives a graph without names those of one with the same nodes. */
void ir_copy_names(const IrGraph *from, IrGraph *to);
/* The index of the grid equal to `grid`, added if new. */
int ir_add_grid(IrGraph *g, IrGrid grid);
/* How many inputs there are. */
int ir_inputs(const IrGraph *g);
/* A fresh index variable for a fold. */
int ir_new_index(IrGraph *g);
/* Says how far a fold that is to be made will run its index. */
void ir_set_ends(IrGraph *g, int index, IrExpr lo, IrExpr hi);

/* Sets the type and the rank that follow from an expression's operator and operands; the type of
 * constants, casts and locals is given. */
void ir_derive(const IrGraph *g, IrExprNode *n);
/* Sets `flat` and `fused` of a fold as they are when it is built with its body. */
void ir_join(const IrGraph *g, IrExprNode *fold);
/* Interns an expression as given; type and rank must be set.  The functions below set them. */
IrExpr ir_intern(IrGraph *g, IrExprNode e);

IrExpr ir_const(IrGraph *g, double value); /* f64, rank CONST */
IrExpr ir_const_typed(IrGraph *g, double value, Elem type);
IrExpr ir_param(IrGraph *g, int param);
IrExpr ir_extent(IrGraph *g, IrId node, int axis);
IrExpr ir_pixelsize(IrGraph *g, int axis);
IrExpr ir_upwards(IrGraph *g);
IrExpr ir_largest(IrGraph *g, IrId node);
/* Entry 0 .. 8 of the map from pixels of the input number `to` to those of an input. */
IrExpr ir_sky(IrGraph *g, IrId from, int to, int entry);
IrExpr ir_index(IrGraph *g, int index);
IrExpr ir_coord(IrGraph *g, int axis);
IrExpr ir_local(IrGraph *g, int var, Elem type);
IrExpr ir_value(IrGraph *g, IrId node, int which);
/* node at the current pixel; f32, bool, i32 or u32 by the node's element type (see ir_read_type) */
IrExpr ir_read(IrGraph *g, IrId node);
/* node at offsets (0 = none) under a border */
IrExpr ir_read_offset(IrGraph *g, IrId node, const IrExpr offset[3], IrExpr channel, Border border, IrExpr outside);
IrExpr ir_read_at(IrGraph *g, IrId node, const IrExpr position[3], IrExpr channel, Border border, IrExpr outside);
IrExpr ir_lookup(IrGraph *g, IrId vector, IrExpr index);
/* e converted to an arithmetic type; e itself when it has it already */
IrExpr ir_cast(IrGraph *g, IrExpr e, Elem type);
/* e as a conversion to the type that it has already: what is converted no longer has the type of a file (ir/pixels.h) */
IrExpr ir_as_is(IrGraph *g, IrExpr e);
/* e rounded to even and saturated to a storage type (u8, u16, i16, i32, u32); result i32 or u32 */
IrExpr ir_saturate(IrGraph *g, IrExpr e, Elem storage);
/* Operators of exprs.def: converts the operands by the operator's rule, folds constants. */
IrExpr ir_op1(IrGraph *g, IrExprOp op, IrExpr a);
IrExpr ir_op2(IrGraph *g, IrExprOp op, IrExpr a, IrExpr b);
IrExpr ir_op3(IrGraph *g, IrExprOp op, IrExpr a, IrExpr b, IrExpr c);
/* `innermost`: what sorts does not go on with a fold in its body, which is one of its own: a median of medians. */
IrExpr ir_fold(IrGraph *g, IrFold fold, int index, IrExpr lo, IrExpr hi, IrExpr where, IrExpr nth, bool innermost,
               IrExpr body);
/* The sum of weight times body, by parts: weight is an index expression, body a float. */
IrExpr ir_blend(IrGraph *g, int index, IrExpr lo, IrExpr hi, IrExpr weight, IrExpr body);
IrExpr ir_call(IrGraph *g, int function, const IrExpr *args, int n);

/* The arithmetic type in which a node's pixels are read: f32 for ELEM_FILE, u8, u16 and i16 too
 * unless the input was declared with that type (then i32); u32 for labels; bool for masks. */
Elem ir_read_type(const IrGraph *g, IrId node);
/* True for a constant; *value is its value. */
bool ir_is_const(const IrGraph *g, IrExpr e, double *value);
/* Operators that make whole numbers of whole numbers. */
bool ir_keeps_whole(IrExprOp op);
/* True when a host or index expression can only be a whole number. */
bool ir_is_integral(const IrGraph *g, IrExpr e);

/* ---- walking and rewriting (ir/walk.c) --------------------------------------------------- */

typedef IrExpr (*IrRewrite)(IrGraph *g, IrExpr e, void *ctx);
/* Rebuilds e bottom-up: children first, then `visit` on the rebuilt expression. */
IrExpr ir_rewrite(IrGraph *g, IrExpr e, IrRewrite visit, void *ctx);
/* Calls visit on e and everything below it, children first, each once. */
void ir_walk(const IrGraph *g, IrExpr e, void (*visit)(const IrGraph *g, IrExpr e, void *ctx), void *ctx);

/* Whether e or something below it is so; looked at until one is. */
typedef bool IrIs(const IrGraph *g, IrExpr e, const void *ctx);
bool ir_any(const IrGraph *g, IrExpr e, IrIs *is, const void *ctx);
/* Whether something of e sorts. */
bool ir_any_sorts(const IrGraph *g, IrExpr e);

/*
 * Which expressions a walk has passed that looks at one again in each fold around it, and where it is shared.
 * Only from so many steps on: chains of stages that read one another twice would take forever.
 */
typedef struct IrPassed {
    int steps;
    int fold, n_folds; /* the one around, counted as they are met */
    int *in;           /* by expression: the fold around when it was passed last, from 1 */
    int cap;
} IrPassed;

/* Has e been passed in this fold?  From now on it has. */
bool ir_passed(IrGraph *g, IrPassed *p, IrExpr e);
/* Goes into a fold; what is returned leaves it: p->fold = ... */
int ir_pass_into(IrPassed *p);

/* ---- names ------------------------------------------------------------------------------- */

extern const char *const IR_BORDER_NAMES[BORDER_KINDS];
extern const char *const IR_FOLD_NAMES[IR_FOLDS];
extern const char *const IR_NOTE_NAMES[NOTE_KINDS];
extern const char *const IR_KIND_NAMES[IR_KINDS]; /* "image", "mask", "labels", "value" ... */
extern const char *const IR_RANK_NAMES[IR_RANKS]; /* "const", "host" ... */
const char *ir_expr_op_name(IrExprOp op);
int ir_expr_op_arity(IrExprOp op); /* of the operators in exprs.def; 0 for all others */
IrExprOp ir_expr_op_from_name(const char *name);

#endif
