/*
 * kernel: the text of one kernel (or one primitive's reader) while it is being written, with the
 * parameters, defines and reads that the text needs.  Asking for a name declares it.
 */
#ifndef CODEGEN_KERNEL_H
#define CODEGEN_KERNEL_H

#include "host.h"

#include "../base/id_map.h"
#include "../ir/abreast.h"
#include "../ir/schedule.h"

typedef struct CgParam {
    ProgArg arg;
    const char *declaration; /* "global const float *restrict image" */
    const char *name;
} CgParam;

typedef struct CgShared { /* what all kernels of a program share */
    IrGraph *g;
    const IrSchedule *sched;
    CgHost host;
    int *buffer;                         /* by node: number of its buffer, -1 none */
    int *grid;                           /* by graph grid: number of the program's grid */
    int scalar_grid;                     /* of what has no pixels */
    int *slot;                           /* by node: first slot of its whole-image values, -1 none */
    int *length;                         /* by node: host expression: elements of a vector, -1 */
    int table_index[PROG_TABLE_INDICES]; /* the indices of all tables */
    const uint8_t *seams;                /* by node: cg_find_seams */
    int *n_values;                       /* slots of the program so far */
    int *values; /* by node: host expression for host_range: the numbers of its pixels; -1 any, 0 not
                      asked for yet */
} CgShared;

typedef struct CgKernel {
    CgShared *cg;
    IrGraph *g;
    Arena *arena;
    const char *name;
    int domain; /* grid of the graph that the kernel runs over; -1 scalars */
    Vec(CgParam) params;
    Vec(CgParam) packed; /* numbers that lie in slots of the values from packed_at on (cg_pack) */
    int packed_at;
    const char *packed_text; /* their names as macros, in front of all that mentions them; NULL: there are none */
    Vec(ProgDefine) defines;
    Vec(ProgRead) reads;
    Vec(int) uses;        /* slots of whole-image values that it reads */
    bool *needs_function; /* by function of the graph; NULL: it calls none */
    const char *window;   /* elements of the largest window that is sorted; NULL none */
    int n_temps;
    bool boxed;   /* it reads at computed places: see ProgStep */
    bool gathers; /* it is a gather (ir/gather.h) */
    int ended;    /* in a loop: the slot that says that its rounds are over (program.h); 0 none */
} CgKernel;

/* A name for something that belongs to the kernel, or to a node: its name and this word (user_text.h). */
const char *cg_of_kernel(const CgKernel *k, const char *part);
const char *cg_of_node(const CgKernel *k, IrId node, const char *part);
/* Names of parameters, declared when first asked for. */
const char *cg_param(CgKernel *k, ProgArg arg, const char *type, const char *name);
/* A node's buffer: pointer to const unless it is written. */
const char *cg_param_buffer(CgKernel *k, IrId node, bool write);
/* The type of its elements in memory, of a node that the kernel reads or writes, and of any. */
const char *cg_element(CgKernel *k, IrId node);
const char *cg_pixel_type(CgKernel *k, IrId node);
/* What maps a coordinate into an image, by border: called with the coordinate and the extent. */
extern const char *const CG_BORDER_MAPS[BORDER_KINDS];
/* Extent of a grid: 0 w, 1 h, 2 d, 3 planes, 4 pitch. */
const char *cg_param_extent(CgKernel *k, IrId node_of_grid, int which);
const char *cg_param_host(CgKernel *k, IrExpr host, Elem type);
/* A macro for a host expression that shapes the code: literal text when it is constant. */
const char *cg_define_int(CgKernel *k, IrExpr host, const char *name);
/* How many columns a work-item holds in arrays: where it is not constant or too many, a run checks it. */
void cg_define_reach(CgKernel *k, IrExpr host, const char *name);
/* A table of weights of type `elem` for an index expression over n loops, DEF_TABLE or DEF_BLEND: name of the
 * array.  Tables that differ only in the numbers of their indices are one. */
typedef struct CgLoop CgLoop;
const char *cg_define_table(CgKernel *k, DefineKind kind, IrExpr e, Elem elem, const char *name,
                            const CgLoop *const *loop, int n);
/* How far an image is read beyond a pixel along x, y and z: host expressions, lo <= 0 <= hi; 0: not at all. */
typedef struct CgReach {
    IrExpr lo[3], hi[3];
} CgReach;
/* Declares that `node` is read so far; NULL: all of it. */
void cg_read(CgKernel *k, IrId node, const CgReach *reach);
/* Declares that it is read at these places (ProgRead), besides. */
void cg_read_at(CgKernel *k, IrId node, const int at[3], Border border);
/* The index in `image`, a node's buffer, of column x of row y of a plane, as "row + column"; plane
 * z of channel c is numbered `plane`, which is used where that says enough. */
const char *cg_pixel(CgKernel *k, IrId node, const char *image, const char *c, const char *z, const char *plane,
                     const char *y, const char *x);
/* The same without a column, of kernels that are not boxed. */
const char *cg_row(CgKernel *k, IrId node, const char *image, const char *c, const char *z, const char *plane,
                   const char *y);
/* A whole number that is written out, "12" or "(-3)". */
bool cg_is_literal(const char *text, long *value);
const char *cg_literal(Arena *arena, long value);
/* Text without brackets around all of it. */
const char *cg_bare(Arena *arena, const char *text);
/* `from + by` or `from - by`, or what it is of literals; the sign of a negative literal becomes that of the operator. */
const char *cg_plus(Arena *arena, const char *from, const char *by);
const char *cg_minus(Arena *arena, const char *from, const char *by);
/* `rows - 1` as an operand, and the larger one of two depths. */
const char *cg_one_less(Arena *arena, const char *rows);
const char *cg_deeper(Arena *arena, const char *a, const char *b);
/* True when a text of C mentions an identifier. */
bool cg_mentions(const char *text, const char *name);
/* Declares z and c, where `body` mentions them. */
void cg_plane_names(CgKernel *k, const char *body, Str *out);
/* Declares what says which pixels a launch computes; the strip as ARG_STRIP. */
void cg_range_params(CgKernel *k, ProgArg strip, bool stream_z);
/* Where the parameters so far are more than `most` bytes, numbers about images and params move to slots of the values;
 * what is declared afterwards stays a parameter. */
enum { CG_MOST_OF_KERNEL = 900, CG_MOST_OF_READER = 600 }; /* of 1024 that OpenCL 1.2 promises: more is to come */
void cg_pack(CgKernel *k, size_t most);
/* The kernel's beginning up to its first statement; nothing more may become a parameter. */
void cg_open_kernel(CgKernel *k, Str *out);
/* The parameters so far, as they are declared, behind text that ends in this column. */
void cg_declarations(CgKernel *k, size_t column, Str *out);

/* ---- functions.c ---- */

/* The name that the user's function has in the text. */
const char *cg_function_name(Arena *arena, const IrFunction *f);
/* That of a trained forest. */
void cg_forest(const IrFunction *f, Str *out);
/* Declares that the kernel calls a function of the graph. */
void cg_need_function(CgKernel *k, int function);
/* These functions, and those that they call. */
void cg_functions(CgKernel *k, Str *out);

/* Bounds of the folds around an expression, for tables. */
struct CgLoop {
    int index;
    IrExpr lo, hi;
    const char *name; /* of the loop variable in the text */
};

/*
 * Emission of expressions.  Statements go to `out`; what does not depend on the pixel goes to
 * `prologue`, once a kernel.  cg_expr returns text that may be used as an operand.
 */
typedef struct CgContext CgContext;
typedef const char *(*CgReadText)(CgContext *cx, IrExpr read);

typedef struct CgMemo {
    IrExpr e;
    const char *text;
} CgMemo;

typedef struct CgRegisterTypes {
    IdMap nodes;
    Vec(Elem) type; /* by place in `nodes` */
} CgRegisterTypes;

struct CgContext {
    CgKernel *k;
    Str *out, *prologue;
    int indent, prologue_indent;
    CgReadText read;            /* how reads and locals become text */
    struct CgByteTables *bytes; /* tables of what follows from bytes; NULL: none are made */
    CgReadText rise; /* and what blends take: each column less the one before it; NULL: of the texts of reads */
    void *user;      /* for `read` */
    const char *x, *y, *z, *plane; /* the current pixel */
    bool inside;                   /* reads at offsets from it are inside the image */
    bool lazy;                     /* folds may stand behind a condition */
    Vec(CgMemo) memo;              /* named expressions in scope */
    Vec(CgMemo) uniform;           /* named in the prologue */
    Vec(CgLoop) loops;
    IdMap counted;                    /* expressions below the roots */
    Vec(int) uses;                    /* of each: how often it is used */
    const CgRegisterTypes *registers; /* the types that `read` gives pixels; NULL: ir_read_type */
    const char
        *rare; /* where quotients and roots without a branch say that they are not for their operands; NULL: none are
                         written */
    IrFolds abreast; /* folds of the expression that is being written, of which some may share a loop */
};

void cg_context(CgContext *cx, CgKernel *k, Str *out, Str *prologue, CgReadText read);
/* Counts uses, so that shared subexpressions get names; call it for every root first. */
void cg_count_uses(CgContext *cx, IrExpr e);
/* What follows is this expression's text: its folds may share loops. */
void cg_begin(CgContext *cx, IrExpr e);
/* Begins to count anew. */
void cg_forget_uses(CgContext *cx);
const char *cg_expr(CgContext *cx, IrExpr e);
/* The types in which work-items hold pixels of the nodes that a step loads. */
const CgRegisterTypes *cg_register_types(const CgKernel *k, const IrStep *step);
/* That of one node. */
Elem cg_register_type(const CgContext *cx, IrId node);
/* The value of a constant border, which is one that the image can have, as its pixels are in registers; "0": of none. */
const char *cg_outside(CgContext *cx, IrId node, IrExpr outside);
/* The type of what cg_expr gives for an expression. */
Elem cg_text_type(const CgContext *cx, const IrExprNode *n);
/* Reads straight from memory, mapped at the borders (the DIRECT shape and readers). */
const char *cg_read_memory(CgContext *cx, IrExpr read);
/* The same before it is converted to the type that it is read as; not under a constant border. */
const char *cg_read_element(CgContext *cx, IrExpr read);
/* The open loop over an index; NULL: there is none. */
const CgLoop *cg_loop_of(const CgContext *cx, int index);
/* How many of the open loops run over an index that stands in the expression. */
int cg_count_loops(const CgContext *cx, IrExpr e);
/* The name that an expression was given in this scope; NULL: none. */
const char *cg_recall(const CgMemo *memo, int n, IrExpr e);
/* Tables of what follows from a byte, which stand in local memory: the macros in front of the kernel, and what fills the
 * tables, at its beginning. */
typedef struct CgByteTables {
    Str macros, fills;
    Vec(CgMemo) of; /* the expressions that have one, and its macro */
} CgByteTables;
CgByteTables *cg_byte_tables(CgKernel *k);
/* The text of an expression: a look-up where it has a table, else what `text` gives. */
const char *cg_by_byte(CgContext *cx, IrExpr e, const char *(*text)(CgContext *cx, IrExpr e));
/* Computes what stays the same in every turn of a fold that is about to be written. */
void cg_hoist(CgContext *cx, IrExpr fold);
/* One step of a fold whose own loop is open: the loops inside it, and `acc = acc op body`. */
void cg_fold_steps(CgContext *cx, IrExpr fold, const char *acc);
/* A blend's texts: its weights, and its first, middle and last index. */
typedef struct CgBlend {
    const char *table, *lo, *middle, *hi;
    Elem type;
} CgBlend;
CgBlend cg_blend(CgKernel *k, IrExpr fold);
/* The read of a blend along x over the columns of an image as they are, in f32; 0: it is none. */
IrExpr cg_blended(const CgContext *cx, IrExpr fold);
/* `sum` with the difference `rise` that belongs to an index, and with the pixel in the middle. */
const char *cg_blend_rise(CgKernel *k, const CgBlend *b, const char *index, const char *rise, const char *sum);
const char *cg_blend_own(CgKernel *k, const CgBlend *b, const char *pixel, const char *sum);
/* The function that chooses one of two values of a smallest or largest one's fold, whose values are like `value`. */
const char *cg_chooser(CgKernel *k, const IrExprNode *fold, IrExpr value);
/* What a fold's accumulator begins with. */
const char *cg_fold_start(const IrExprNode *fold);
/* Instructions, for a pixel, of operators that take several; those of a fold count once. */
int cg_work(const IrGraph *g, IrExpr e);
/* How many bodies a fold has, those of the folds inside it of the same kind included: a host
 * expression. */
IrExpr cg_fold_count(IrGraph *g, IrExpr fold);
/* The same with those that a condition leaves out: what a loop that is unrolled has in the text, CG_MOST_UNROLLED at most. */
IrExpr cg_most_steps(IrGraph *g, IrExpr fold);
/* The text of a fold's result; of its start instead where its range has no index, which only a run may know. */
const char *cg_unless_empty(CgKernel *k, IrExpr fold, const char *result);
enum { CG_MOST_UNROLLED = 2048 };
/* A window that is sorted: its size, which of it is taken, the type that its keys are of (NULL:
 * whole numbers as they are), and what is sorted, over the indices of its loops. */
typedef struct CgWindow {
    const char *size, *nth, *key;
    IrExpr body, count, rank; /* size and nth as expressions; where a pixel finds its rank, nth is "0" */
} CgWindow;
CgWindow cg_window(CgContext *cx, IrExpr fold);
/* Does a pixel find which of a window's elements is taken? */
bool cg_picks(const IrGraph *g, IrExpr fold);
/* The loops that put a window's elements into a list. */
void cg_window_loops(CgContext *cx, IrExpr fold, const char *list, CgReadText element);
/* The value of a fold whose loops are written in front; of one that ranks or counts its elements, after they are
 * sorted.  Its name in the text. */
const char *cg_fold_text(CgContext *cx, IrExpr fold);
/* Writes a stage that is a weighted sum along x as vectors of columns, in front of an `#else` that the caller ends.
 * False: it is none, and nothing is written. */
bool cg_vector_sum(CgContext *cx, IrExpr e, const char *to, const char *width);
const char *cg_rank_text(CgContext *cx, IrExpr fold);
/* The macro for the bound "LO" or "HI" of the loop over this variable. */
const char *cg_loop_end(CgKernel *k, const char *name, const char *end);
/* An index expression as an element of a table that the host fills. */
const char *cg_table_text(CgContext *cx, IrExpr e, Elem elem, const char *suffix);
/* Whether a text binds as a name does; and a text that does, in brackets where it has to. */
bool cg_is_atom(const char *text);
const char *cg_atom(Arena *arena, const char *text);
/* An operator's text (exprs.def) with its operands. */
const char *cg_substitute(Arena *arena, const char *text, const char *const operand[3]);
/* Declares a name for a value. */
const char *cg_name_value(CgContext *cx, Elem type, const char *text);
/* An operand of a minimum or maximum of whole numbers, which ranks are made of (px_whole.h). */
const char *cg_whole_operand(CgContext *cx, IrExpr e, const char *text);
/* A line of text at the current indentation. */
void cg_line(CgContext *cx, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *cg_type(Elem type);
/* An integer host or index expression as C text over loop variables and macros; NULL when it
 * is not made of integers. */
const char *cg_int_text(CgContext *cx, IrExpr e, const char *macro);
/* How far a read is moved along an axis: such a text, or one of a table. */
const char *cg_offset_text(CgContext *cx, IrExpr offset, int axis);
/* The text that stores expression e into an element of a node. */
const char *cg_store_text(CgContext *cx, IrExpr e, IrId to);

/* What a direct kernel is on devices that rank its window bit by bit: under which condition, the
 * function that gathers a window's words, and what stands in the kernel in place of its loops.
 * False when it has no window of that kind. */
typedef struct CgSliced {
    const char *condition;
    Str gather, body;
} CgSliced;
bool cg_sliced(CgKernel *k, const IrStep *step, CgSliced *sliced);

/* Whole texts. */
void cg_kernel_direct(CgKernel *k, const IrStep *step, Str *out);
void cg_kernel_long(CgKernel *k, const IrStep *step, Str *out);
void cg_kernel_scalars(CgKernel *k, const IrStep *step, Str *out);
void cg_kernel_rows(CgKernel *k, const IrStep *step, Str *out);
void cg_reader(CgKernel *k, IrId node, Str *out);
#endif
