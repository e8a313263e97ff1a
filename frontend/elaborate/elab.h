/*
 * elab: what the parts of the elaborator share; private to frontend/elaborate/.
 *
 * A Val is what an expression stands for while the graph is made.  Images are pixel expressions
 * that have not been stored yet: only a name, a stencil or a primitive makes a node of them.
 * VAL_ERROR has been complained about and silences whatever is made from it.
 */
#ifndef FRONTEND_ELAB_H
#define FRONTEND_ELAB_H

#include "elaborate.h"
#include "../ops/ops.h"
#include "../syntax/words.h"

#include "op_arguments.h"

typedef enum ValKind {
    VAL_ERROR,
    VAL_NUMBER,    /* expr: host expression; f64, or bool for a truth value */
    VAL_UNIFORM,   /* expr: uniform expression; f64 or bool */
    VAL_IMAGE,     /* expr on grid; image: IR_K_IMAGE, IR_K_MASK or IR_K_LABELS; node: see el_by_label() */
    VAL_SELECTION, /* expr where mask, on grid */
    VAL_TABLE,     /* node */
    VAL_VECTOR,    /* expr: a value for each label, which stands in it for x; node: the labels */
    VAL_RECORD,    /* items with names */
    VAL_LIST,      /* items */
    VAL_FUNCTION,  /* fn with env, or op */
    VAL_BORDER,    /* border, expr: the value outside or 0 */
    VAL_FOOTPRINT, /* text: its shape; items: radii x, y, z, or the rows of a literal */
    VAL_TEXT,      /* text */
    VAL_WORD,      /* text: a bare word such as the name of a property */
    VAL_KINDS
} ValKind;

typedef struct Val Val;
typedef struct ValItem ValItem;
typedef struct Scope Scope;

struct Val {
    ValKind kind;
    IrKind image;
    int grid; /* of Elab.grids */
    IrExpr expr, mask;
    IrId node;
    const char *unit; /* of a number: "um", "um2", "um3"; NULL for pixels */
    const char *text;
    const char *words; /* of a param that is a word: "otsu|li", and `expr` its number; NULL of all others */
    Border border;
    ValItem *items;
    int n;
    const AstStmt *fn;
    Scope *env;
    const Op *op;
};

struct ValItem {
    const char *name; /* of a record's member */
    Val val;
};

typedef enum BindKind { BIND_VARIABLE, BIND_INPUT, BIND_PARAM, BIND_FN, BIND_LOCAL } BindKind;

typedef struct Binding {
    const char *name;
    Span span;
    Val val;
    BindKind kind;
    int loop; /* the loop in which it was assigned */
    bool used;
    enum {
        KEPT,
        LOST_SELECTION,
        LOST_WITHOUT_ROUND
    } lost; /* made inside a loop that has ended: what it was, or that
                                                               the loop may have had no round */
    struct Binding *next;
} Binding;

struct Scope {
    Scope *parent;
    Binding *first;
    Binding **slot;          /* by hash of the name, open addressing; NULL: there are few */
    int n, n_slots;          /* bindings; a power of two */
    struct Elab *library_of; /* of the prelude: its functions are bound when somebody looks for them; else NULL */
};

typedef struct Fold { /* an index variable of a comprehension */
    int index;
    IrExpr lo, hi;
} Fold;

typedef struct Frame { /* a function being expanded */
    const AstStmt *fn;
    const struct Frame *up;
} Frame;

typedef struct Default { /* of a function's parameter */
    const AstName *of;
    const struct Default *up;
} Default;

typedef struct Call Call;

typedef struct ElNames { /* what the user calls the axes of an image, by where they lie */
    int of[3];
} ElNames;

typedef struct ElGrid { /* axes and extents, where the pixels lie, and the names of the axes */
    int extents;        /* grid of the graph */
    IrPlace place;
    ElNames names;
} ElGrid;

struct IrFunction;

typedef struct Compiled { /* a function with control flow, for some types of arguments */
    const AstStmt *fn;
    struct IrFunction *f;
    Elem types[12];
    int n_types;
    struct ScalarCapture *captures;
    int n_captures;
    int index;
} Compiled;

typedef struct ElOnce { /* the nodes by hash: a chain for each slot, by node */
    IrId *latest;       /* by slot; 0: none */
    int size;           /* a power of two, or 0 */
    Vec(uint32_t) hash; /* by node, as far as they were taken in */
    Vec(IrId) before;   /* by node: the next one of its chain */
} ElOnce;

/* A number that an operator takes in percent. */
typedef struct ElPercent {
    Span at;
    const char *name, *op;
    double value;
    bool fraction; /* it is at most 1, whatever the params are */
} ElPercent;

typedef struct Elab {
    Arena *arena;
    IrGraph *g;
    Diags *diags;
    const AstFile *file;
    FeLibrary *library;
    const Ops *ops;
    Scope *scope;
    Scope *top;     /* of the user's file */
    Scope *prelude; /* functions of the prelude */
    const Frame *frame;
    const Default *defaults; /* that are being found out, the last one first */
    int depth;               /* of expanded functions */
    int expanded;            /* functions, as often as they were */
    int rounds;              /* of loops that are written out, all together */
    Span call;               /* the user's words while the prelude is expanded; else no source */
    int loop;                /* the loop being elaborated */
    struct Ranges *ranges;   /* of the comprehension around */
    bool guarded;            /* inside a choice that depends on a number */
    int copies;              /* of what is elaborated now, for indices around; 0: one */
    const char *hint;        /* what a node made now is called */
    Vec(bool) anonymous;     /* by node: the compiler made up its name */
    Vec(ElGrid) grids;
    Vec(int) lies; /* by node: its grid among those; -1 */
    ElOnce once;
    Vec(const AstStmt *) called; /* functions that were expanded or compiled */
    Vec(Compiled) compiled;
    Vec(Call *) calls; /* the first of them are open */
    int open_calls;
    Vec(ElPercent) percents;
    Vec(IrExpr) folds;                 /* each different one */
    Vec(const struct Linear *) linear; /* by expression: what it is as a position (place.c); NULL: not asked yet */
} Elab;

enum {
    ELAB_MAX_UNROLL = 4096, /* rounds of a loop, cells of a literal kernel, choices of a list */
    ELAB_MAX_EXPANDED = 30000,
    ELAB_MAX_ROUNDS = 100000,
    ELAB_MAX_CALLS = 256,    /* functions that call one another */
    ELAB_MAX_BRACKETS = 120, /* depth of an expression in a function with control flow: clang takes 256 brackets */
    ELAB_MAX_DEPTH = 3900    /* of an expression that cannot be stored in between: runs take 4000 (exec/host.c) */
};

/* ---- diagnostics (value.c) --------------------------------------------------- */

/* Where to complain: the user's words, also while the prelude is expanded. */
Span el_place(const Elab *el, Span span);
#define el_error(el, id, span, ...) diag_add((el)->diags, DIAG_##id, el_place((el), (span)), __VA_ARGS__)
/* "an f32 image [y, x]", "a mask", "a number": for messages. */
const char *el_describe(const Elab *el, Val v);
/* The user's words between two places, shortened, on one line. */
const char *el_words(const Elab *el, Span span);

/* ---- values ---------------------------------------------------------------------------- */

Val el_err(void);
Val el_number(Elab *el, double value);
Val el_host(IrExpr e);
Val el_uniform(IrExpr e);
/* A number or a uniform by the expression's rank. */
Val el_scalar(Elab *el, IrExpr e);
/* An image or a mask by the expression's type; labels when it is a plain read of labels. */
Val el_image(Elab *el, IrExpr e, int grid);
/* A value for each of `labels`, as an expression of the label, which is x. */
Val el_vector(IrExpr e, IrId labels);
Val el_node(Elab *el, IrId node);
Val el_record(Elab *el, int n);
Val el_text(const char *text);
Val el_word(const char *text);

bool el_is_bad(Val v);    /* VAL_ERROR */
bool el_is_scalar(Val v); /* number or uniform */
bool el_is_mask(const Elab *el, Val v);
bool el_is_truth(const Elab *el, Val v); /* a scalar of type bool */
/* A number known while compiling. */
bool el_constant(const Elab *el, Val v, double *value);
bool el_is_integral(const Elab *el, IrExpr e);
const Val *el_member(Val record, const char *name);

/* ---- nodes ----------------------------------------------------------------------------- */

/* Notes the grid of a node. */
void el_set_grid(Elab *el, IrId node, int grid);
/* Appends a node in the current loop, named after what is being assigned and `part`. */
IrId el_add(Elab *el, IrNode node, const char *part, Span span);
/* The same primitive with the same inputs if there is one in this loop, else a new one (once.c). */
IrId el_add_once(Elab *el, IrNode node, const char *part, Span span);
/* Nodes from that one on are gone. */
void el_forget_nodes(Elab *el, int from);
/* The node that stores the image; made when the image is no plain read. */
IrId el_store(Elab *el, Val v, const char *part, Span span);
/* A copy that is a node of its own, named by the user. */
IrId el_store_as(Elab *el, Val v, const char *name, Span span);
/* The image as a primitive reads it: on its own grid, with at least one plain read; a stencil is a
 * node of its own, which a pass may take back. */
Val el_readable(Elab *el, Val v, const char *part, Span span);
/* An expression that has become deep is stored in between, where it may be (`whole`: it has no part in values of labels);
 * complains about one that is too deep otherwise. */
Val el_settled(Elab *el, Val v, bool whole, Span span);
/* Labels from 1 in order without gaps: as they are, or numbered anew. */
Val el_without_gaps(Elab *el, Val labels, Span span);
/* Are they numbered so when they are made? */
bool el_is_dense(Elab *el, Val labels);
/* The input whose labels these are (ir/ids.h); 0: they are numbered by the pipeline, or `v` is no image of labels. */
IrId el_labels_input(const Elab *el, Val v);
/* The node that labels are of, or parts of which they are: what is computed by label belongs to it. */
IrId el_labels_of(Elab *el, Val labels, Span span);
/* Labels as an image of their numbers, u32; anything else as it is. */
Val el_numbers(Elab *el, Val v);
/* Labels as an image of their places: equal where they are, in the order of the numbers, and small. */
Val el_places(Val labels);
bool el_plain_read(const Elab *el, IrExpr e, IrId *node);
void el_name_node(Elab *el, IrId node, const char *name, Span span);
const char *el_hint(Elab *el, const char *part);

/* ---- grids ----------------------------------------------------------------------------- */

const IrGrid *el_grid(const Elab *el, Val v);
bool el_has(const Elab *el, Val v, int axis);
int el_ndim(const Elab *el, Val v); /* of x, y, z */
IrExpr el_extent(Elab *el, Val v, int axis);
const char *el_axes(const Elab *el, int grid); /* "[y, x]" */
/* The grid with those extents, whose pixels lie there and whose axes are called so; added if new. */
int el_add_grid(Elab *el, IrGrid extents, IrPlace place, ElNames names);
/* Brings images to one grid: an axis that one lacks is broadcast.  False after a complaint. */
bool el_meet(Elab *el, Val *vals, int n, Span span);

/* ---- names of axes (axes.c) ---------------------------------------------------- */

/* x, y and z of an input or a canvas. */
ElNames el_as_they_lie(void);
const ElNames *el_names_of(const Elab *el, int grid);
/* Does an axis lie elsewhere than its name says? */
bool el_are_named(const Elab *el, int grid);
/* Where the axis of that name lies; -1: there is none. */
int el_lies_at(const Elab *el, int grid, int axis);
/* Where an axis lies that the user, or the prelude, calls so; of one that is not there a place without one. */
int el_axis(const Elab *el, Val v, int axis);
/* False after a complaint: an image or selection lacks an axis. */
bool el_need_axis(Elab *el, Val v, int axis, Span span);
bool el_no_axis(Elab *el, Val v, int axis, Span span); /* false always */
/* Is this argument x, y or z, an axis that may lie elsewhere? */
bool el_names_axis(const OpParam *p, Val v);
/* Arguments that name axes become those of the axes as they lie. */
void el_settle_axes(Elab *el, Call *call);
/* The grid of images on two grids, with the axes of both. */
int el_joined_by_name(Elab *el, int p, int q);

/* ---- places (place.c) -------------------------------------------------------- */

const IrPlace *el_place_of(const Elab *el, int grid);
IrPlace el_nowhere(void);
/* Whether places along x and y are known. */
bool el_is_somewhere(Elab *el, int grid);
/* The place of what is made from images on two grids: the first one's if it has one. */
IrPlace el_joined_place(const Elab *el, int p, int q);
/* The grid `grid` with pixels that lie at these positions (numbers or images; anything else: the
 * pixel's own) of an image on grid `on`. */
int el_placed(Elab *el, int grid, int on, const Val position[3]);
/* The size of a pixel along an axis in micrometres, a host expression; 0 when nobody knows.  On no
 * grid (-1) that of the first input. */
IrExpr el_size_along(Elab *el, int grid, int axis);
/* The grid that a value is about; -1 when it is about none. */
int el_grid_of(const Elab *el, Val v);
/* Whether an argument may have the unit that it has; false after a complaint. */
bool el_check_unit(Elab *el, const Call *call, const OpParam *p, Val v, Span at);
/* The axis that a length is along, by what a parameter is called; -1 of one that is for all axes. */
int el_axis_meant(const OpParam *p);
/* Pixels of a number with a unit, along an axis of a grid. */
IrExpr el_pixels(Elab *el, Val v, int grid, int axis, Span span);
/* A number in pixels along x of a grid; anything else as it is. */
Val el_unitless(Elab *el, Val v, int grid, Span span);

/* ---- notes (note.c) ----------------------------------------------------------- */

/* v, called `name` or "", is read at a number along an axis. */
void el_note_place(Elab *el, Val v, const char *name, int axis, IrExpr at);

/* ---- scopes (scope.c) -------------------------------------------------------- */

Scope *el_push(Elab *el, Scope *parent); /* returns the scope before */
Binding *el_bind(Elab *el, const char *name, Span span, Val val, BindKind kind);
Binding *el_find(const Scope *scope, const char *name);
Binding *el_find_here(const Scope *scope, const char *name);
/* Complains about a name that is nothing. */
Val el_unknown(Elab *el, const char *name, Span span);
Val el_unknown_operator(Elab *el, const AstExpr *call);
/* What to write instead of a peer's operator, with the arguments of the call (NULL: none), and which
 * of these it leaves out. */
const char *el_peer_help(Elab *el, const Peer *peer, const AstExpr *call);
/* The radius of a window, or the radii, whose side this is. */
const char *el_radius_words(Elab *el, const AstExpr *side);
void el_report_unused(Elab *el);
/* The operator whose name is nearest to one that is none, or NULL; and whether an operator takes words. */
const Op *el_nearest_op(Elab *el, const char *name);
bool el_takes_words(const Op *op);
/* Whether a name is nearly one that has a value. */
bool el_is_near_name(Elab *el, const char *name);
/* Whether a statement gives a name a meaning: later, or one that was not understood. */
bool el_is_broken(const Elab *el, const char *name); /* one that was not understood */
bool el_is_given_somewhere(const Elab *el, const char *name);
/* Notes a number that may be meant in another unit, and warns of those (amount.c). */
void el_note_amount(Elab *el, const Call *call, const OpParam *p, Val v, Span at);
void el_report_amounts(Elab *el);
/* Complains about arithmetic with masks, labels and texts of which it is known what was meant; false: it is none (mixed.c). */
bool el_refuse_mixed(Elab *el, const AstExpr *e, Val a, Val b);
bool el_refuse_minus(Elab *el, const AstExpr *e, Val v); /* of -mask */
/* The part of a help that says what image[[1, 2]] is here: "channels one by one: ..." (slice.c). */
const char *el_places_meant(Elab *el, Val v, const AstExpr *e);
/* Names in functions that nobody calls. */
void el_check_uncalled(Elab *el);

/* ---- expressions (expr.c) ---------------------------------------------------- */

Val el_expr(Elab *el, const AstExpr *e);
/* Conditions on pixels by the look of it: a mask's name, a comparison, what joins them. */
bool el_looks_like_mask(const Elab *el, const AstExpr *e);
/* An operator on values. */
Val el_op1(Elab *el, IrExprOp op, Val a, Span span);
Val el_op2(Elab *el, IrExprOp op, Val a, Val b, Span span);
Val el_select(Elab *el, Val cond, Val a, Val b, Span span);
Val el_where(Elab *el, Val v, Val mask, Span span);
/* The operator written as `text`, or IR_X_NONE. */
IrExprOp el_binary_op(const char *text);
/* Something that must be a number known to the host; 0 after a complaint. */
IrExpr el_host_number(Elab *el, const AstExpr *e, const char *what);
IrExpr el_bound(Elab *el, const AstExpr *e);

/* ---- stencils (stencil.c, fold.c) ----------------------------------- */

Val el_index(Elab *el, const AstExpr *e);
/* Whole pixels beside a value outside that their type does not have become what the two are in arithmetic, f32 beside
 * 7.5 or NaN.  An infinity is the end of the type. */
Val el_beside_outside(Elab *el, Val v, Border border, IrExpr outside);
Val el_comprehension(Elab *el, const AstExpr *e);
/* True when an expression follows from an index of a comprehension around. */
bool el_follows_index(const Elab *el, IrExpr e);
/* Something outside of expressions (a stage, a grid, a number of rounds) has that in it. */
void el_note_index(Elab *el, IrExpr e);

/* The elements of a comprehension as they are where the condition holds, else what changes nothing
 * (kept.c). */
Val el_keep(Elab *el, WordFold w, Val condition, Val body, Span span);

/* ---- values of labels (by_label.c) -------------------------------------------- */

/* A vector as an image: what each pixel's label has. */
Val el_paint(Elab *el, Val vector, Val labels);
/* On the labels that it belongs to. */
Val el_painted(Elab *el, Val vector);
/* A vector painted where each label has one pixel, as a selection: each label counts once. */
Val el_each_once(Elab *el, Val vector, Span span);
/* Complains where a vector does not belong to these labels. */
bool el_is_of(Elab *el, Val vector, Val labels, Span span);
/* What the user calls the labels of a vector. */
const char *el_labels_name(const Elab *el, Val vector);
/* What a label has, an expression of it, where the label is there; else NaN. */
IrExpr el_where_present(Elab *el, Val labels, IrExpr value, Span span);
/* Turns vectors into images of which el_vector() makes a vector again: arithmetic with both is the same.  `labels`
 * are those that they belong to, 0 when there are no vectors, and `node` of the images.  False after a complaint:
 * images and vectors, or vectors of several labels. */
bool el_by_label(Elab *el, Val *vals, int n, IrId *labels, Span span);

/* ---- params that are words (word_param.c) -------------------------------------- */

/* Fills in the value, the range and the words of a param; false after a complaint. */
bool el_word_param(Elab *el, const AstStmt *s, IrParam *p);
/* An operand of a comparison: beside such a param a bare name is a word. */
Val el_word_of(Elab *el, const AstExpr *e, Val beside);
/* Whether the param is that word (IR_X_EQ), or is not (IR_X_NE). */
Val el_compare_param(Elab *el, IrExprOp op, Val param, Val other, Span span);
/* The first argument that is such a param where the operator takes a word; NULL: none. */
const AstArg *el_word_argument(Elab *el, const Op *op, const AstExpr *call);
/* What a call with that argument gives: a choice between the calls with each of the param's words. */
Val el_call_by_word(Elab *el, const AstExpr *call, const AstArg *arg);

/* ---- files that are included (include.c) -------------------------------------- */

/* The file with the statements of those that it includes in place; the graph is told of these. */
const AstFile *el_with_included(IrGraph *g, const AstFile *file, Diags *diags);
/* Is it a file of the user's, and not the prelude? */
bool el_is_users(const Elab *el, const Source *source);

/* ---- loops (loop.c) ---------------------------------------------------------- */

/* Complains where a name has no value any more, below the loop that gave it one. */
bool el_is_lost(Elab *el, const Binding *b, Span span);

/* ---- calls (call.c, refuse.c, misfit.c) ---------------------------------------------------------- */

enum { CALL_MAX_ARGS = 64 };

struct Call {
    const Op *op;
    Span span, word;
    Val arg[CALL_MAX_ARGS]; /* by parameter; those of "..." after the others */
    Span at[CALL_MAX_ARGS];
    bool given[CALL_MAX_ARGS];
    const AstArg *column[CALL_MAX_ARGS]; /* a column with a name of the user's; NULL: it has none */
    int n;
};

/* Where an operator has an argument of that name, which several operators have in places of their own; -1: it has not.
 * The places of one operator's are in op_arguments.h. */
int el_argument(const Call *call, const char *name);
Val el_call(Elab *el, const AstExpr *e);
/* A call with a dot: says how it is written, and what else is wrong with it (method.c). */
Val el_method(Elab *el, const AstExpr *e);
/* The same call without the dot, after a word about it. */
const AstExpr *el_without_dot(Elab *el, const AstExpr *e);
/* Whether this is np.something, which is nothing here. */
bool el_is_of_module(const Elab *el, const AstExpr *e);
/* Complains about an index as numpy has it, with slices or places from the end; false: it is none (slice.c). */
bool el_refuse_slice(Elab *el, const AstExpr *e);
/* What to write instead of a statement that stands in functions only. */
const char *el_statement_meant(Elab *el, const AstStmt *s);
/* Complains about an argument of another kind than a parameter takes. */
Diag *el_wrong_kind(Elab *el, const Call *call, const OpParam *p, Val v, Span at);
/* Says how images of a list become one; false: it is none. */
bool el_help_for_images(Elab *el, Diag *d, Val v);
/* The operator that does in a window what this one does with the whole image; NULL for none. */
const Op *el_filter_of(const Elab *el, const Op *op);
/* median(image, 3), as other libraries call their filters. */
Diag *el_refuse_window(Elab *el, const Op *op, const char *window, Span at);
/* Complains about an argument that others have and that can be told apart; false: it is none. */
bool el_refuse_misfit(Elab *el, const Call *call, const AstExpr *e, const AstArg *arg);
/* Whether an expression is a name that stands for labels. */
bool el_is_labels_name(const Elab *el, const AstExpr *e);
/* Whether an operator takes columns with names of the user's. */
bool el_takes_columns(const Op *op);
/* Complains about an argument that an operator has not, and about one that it must have and is not given. */
const char *el_call_words(Elab *el, const Op *op); /* "gaussian(v, sigma, border = nearest)" */
void el_unknown_argument(Elab *el, const Op *op, const AstArg *arg);
void el_missing_argument(Elab *el, const Call *call, const OpParam *p, const AstExpr *e);
/* Whether a value is of a kind that a parameter takes as it is. */
bool el_fits(const Elab *el, const OpParam *p, Val v);
/* Complains about two arguments of which each stands where the other belongs; false: there are none. */
bool el_refuse_swapped(Elab *el, const Call *call, const AstExpr *e);
/* Why an argument that others have is not needed here; NULL: nobody has it. */
const char *el_needless_argument(const char *name);
/* What was meant by a word that is none of "a|b|c". */
void el_help_choice(Elab *el, Diag *d, const char *choices, const char *word);
/* How to write an argument that others call by this name; NULL: there is none. */
const char *el_peer_argument(Elab *el, const Op *op, const char *name);
/* False after a complaint about an axis, or a place or a size along one, that the image lacks. */
bool el_check_axes(Elab *el, const Call *call);
/* False after a complaint about what is to be painted and has channels. */
bool el_check_channels(Elab *el, const Call *call);
/* How an operator that moves pixels is written for labels, which are its first argument; NULL: it is
 * none of these. */
const char *el_moved_labels(Elab *el, const Call *call, Span at);
/* Whether this reads numbers from labels, so that as_labels() makes labels of it again. */
bool el_reads_labels(Elab *el, Span at);
/* Where in `arg` the values of an operator's "..." parameter begin. */
int el_first_of_rest(const Op *op);
/* A function of the prelude, as if the user had called it at `span`. */
Val el_from_prelude(Elab *el, const char *name, const Val *args, const Span *at, int n, Span span);
/* Remembers that a function was used; false when it was known already. */
bool el_mark_called(Elab *el, const AstStmt *fn);
/* May a function be expanded once more?  Not in itself, nor when all are expanded too often; then it has complained. */
bool el_may_expand(Elab *el, const AstStmt *fn, Span span);
void el_expands_too_much(Elab *el, Span span);
/* Is what a parameter is by default asked for to find that out?  Then it has complained; else it is being found out
 * until el->defaults is own->up again. */
bool el_begin_default(Elab *el, const AstStmt *fn, const AstName *p, Default *own, Span span);

/* What an operator has made: does it go along an axis, of which there may be one pixel (note.c)? */
void el_note_along(Elab *el, const Call *call, Val result);
/* Does it take a part of an image, which may not have that many pixels? */
void el_note_part(Elab *el, const Call *call);

/* The size of a pixel in an argument `spacing`; 1 along axes that are not there. */
void el_spacing(Elab *el, Val record, IrExpr *arg);

/* The sizes of pixels that an operator's `distance` is measured with: those that are given as its `spacing`; those of the
 * file when the distance is a length with a unit; else 1.  False after a complaint. */
bool el_sizes_of_pixels(Elab *el, const Call *call, IrExpr size[3]);

/* The implementations of operators: every row of ops.def names one. */
typedef Val (*Builtin)(Elab *el, Call *call);
#define GROUP(title)
#define OP(name, signature, impl, doc, text, example, clesperanto, skimage, scipy) Val impl(Elab *el, Call *call);
#include "../ops/ops.def"
#undef OP
#undef GROUP
Builtin el_builtin(const Op *op);
/* An image rounded to even and saturated to an element type (f32: converted). */
Val el_convert(Elab *el, Val v, Elem elem);
/* [[0, 1, 0], [1, 1, 1], [0, 1, 0]] as a footprint. */
Val el_literal_footprint(Elab *el, Val list, Span span);

/* ---- statements (elaborate.c, format.c, block.c, loop.c) ---------------------- */

/* Statements of a pipeline or of an expanded function; *result is what it returned. */
bool el_block(Elab *el, const AstStmt *s, Val *result);
/* Whether outputs have a format of that name. */
bool el_is_format(const char *name);
/* The format of an output, and how its file is stored. */
const char *el_format(Elab *el, const AstStmt *s, Val v);
Stored el_stored(Elab *el, const AstStmt *s, const char *format, bool table);
/* The axis that others call by a name such as rows or channel; NULL: nobody does. */
const char *el_axis_called(const char *name);
/* How a function ends: with the value that stands by itself at its end. */
void el_help_return(Elab *el, Diag *d, const AstStmt *fn);
void el_loop(Elab *el, const AstStmt *s);
/* Compiles a function with control flow over scalars, and calls it. */
Val el_scalar_call(Elab *el, const AstStmt *fn, Scope *env, const Val *args, const Span *at, int n, Span span);
/* True when the function's control flow depends on pixels for these arguments. */
bool el_needs_scalar(Elab *el, const AstStmt *fn, Scope *env, const Val *args, int n);

#endif
