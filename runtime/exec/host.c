/*
 * host: evaluation by recursion over the array of nodes.
 *
 * Weights are often normalised, so that every entry of a table asks for the same sum over all
 * entries.  Values are therefore remembered: those that use no index variable from outside for
 * good, all others until an index variable changes.  What a value uses is noticed while it is
 * computed: `outer` is the outermost index binding that was looked at.
 *
 * A fold directly inside a fold of the same kind is one flat sequence, as everywhere else.
 */
#include "host.h"

#include "../../base/blend.h"
#include "../../base/hostops.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

enum { MAX_BINDINGS = 64, MAX_DEPTH = 4000, NOTHING_OUTER = INT_MAX };

static const double MAX_RANGE = 1e7;   /* iterations of one fold */
static const double MAX_STEPS = 2e8;   /* of all folds of one evaluation */
static const double MAX_ENTRIES = 1e6; /* of a table */
static const char AN_OFFSET[] = "the end of a range, or an offset,";

typedef struct Remembered {
    double value;
    int64_t epoch; /* 0: nothing remembered */
    int outer;
} Remembered;

typedef struct HostMemo {
    int64_t epoch; /* counts changes of index variables, from 1 */
    Remembered at[];
} HostMemo;

typedef struct Eval {
    const Program *program;
    const HostContext *context;
    Err *err;
    struct {
        int variable;
        double value;
    } bound[MAX_BINDINGS];
    int n_bound, depth;
    double steps;
    int outer; /* outermost binding used since the caller reset it */
} Eval;

static double eval(Eval *e, int expr);

static double failed(Eval *e, const char *why, double number)
{
    err_set(e->err, CODE_USAGE, why, number);
    return NAN;
}

static double eval_index(Eval *e, int variable)
{
    for (int i = e->n_bound - 1; i >= 0; i--) {
        if (e->bound[i].variable == variable) {
            e->outer = i < e->outer ? i : e->outer;
            return e->bound[i].value;
        }
    }
    return failed(e, "index variable %.0f is used outside of its fold", variable);
}

/* ---- folds ----------------------------------------------------------------------------- */

typedef struct Fold {
    int kind;
    double value;
    bool any; /* something was combined */
} Fold;

static void combine(Fold *fold, double v)
{
    switch (fold->kind) {
    case HOST_SUM:
        fold->value += v;
        break;
    case HOST_PROD:
        fold->value *= v;
        break;
    case HOST_MIN:
        fold->value = fold->any && (fold->value < v || isnan(fold->value)) ? fold->value : v;
        break;
    case HOST_MAX:
        fold->value = fold->any && (fold->value > v || isnan(fold->value)) ? fold->value : v;
        break;
    case HOST_ANY:
        fold->value = fold->value != 0 || v != 0;
        break;
    default: /* HOST_ALL */
        fold->value = fold->value != 0 && v != 0;
    }
    fold->any = true;
}

static bool bind(Eval *e, int variable)
{
    if (e->n_bound == MAX_BINDINGS) {
        failed(e, "more than %.0f folds inside each other", MAX_BINDINGS);
        return false;
    }
    e->bound[e->n_bound].variable = variable;
    e->n_bound++;
    return true;
}

static void set_index(Eval *e, int binding, double value)
{
    e->bound[binding].value = value;
    e->context->memo->epoch++;
}

/* lo and hi rounded inwards; an empty range is fine, an absurd one is not. */
static bool range(Eval *e, double *lo, double *hi)
{
    if (isnan(*lo) || isnan(*hi)) {
        failed(e, "the range of a fold is not a number", 0);
        return false;
    }
    *lo = ceil(*lo);
    *hi = floor(*hi);
    if (*lo <= *hi && (*lo < -HOSTOP_MOST_INDEX || *hi > HOSTOP_MOST_INDEX)) {
        failed(e, "an index of a fold goes to %.17g, which does not fit into 32 bits",
               *lo < -HOSTOP_MOST_INDEX ? *lo : *hi);
        return false;
    }
    if (*hi - *lo >= MAX_RANGE) {
        failed(e, "a fold over %.0f values is too long to compute on the host", *hi - *lo + 1);
        return false;
    }
    return true;
}

static void run_fold(Eval *e, const HostNode *node, Fold *fold)
{
    const HostNode *body = &e->program->host[node->a];
    bool flat = body->op == HOST_FOLD && body->d == node->d;
    double lo = eval(e, node->b), hi = eval(e, node->c);
    if (e->err->code != CODE_OK || !range(e, &lo, &hi) || !bind(e, (int)node->num)) {
        return;
    }
    int binding = e->n_bound - 1;
    for (double i = lo; i <= hi && e->err->code == CODE_OK; i++) {
        set_index(e, binding, i);
        if (++e->steps > MAX_STEPS) {
            failed(e, "nested folds with more than %.0f steps take too long on the host", MAX_STEPS);
        } else if (node->e >= 0 && eval(e, node->e) == 0) {
            continue;
        } else if (flat) {
            run_fold(e, body, fold);
        } else {
            combine(fold, eval(e, node->a));
        }
    }
    e->n_bound--;
    e->context->memo->epoch++;
}

static double eval_fold(Eval *e, const HostNode *node)
{
    static const double start[] = {
        [HOST_SUM] = 0, [HOST_PROD] = 1, [HOST_MIN] = INFINITY, [HOST_MAX] = -INFINITY, [HOST_ANY] = 0, [HOST_ALL] = 1};
    Fold fold = {node->d, start[node->d], false};
    run_fold(e, node, &fold);
    return fold.value;
}

/* ---- nodes ----------------------------------------------------------------------------- */

static double eval_pixel_size(Eval *e, int axis)
{
    double size = e->context->pixel_um[axis];
    if (size > 0) {
        return size;
    }
    err_set(e->err, CODE_FILES,
            "the pixel size along %c is needed, but the image does not tell it, or not in a unit of length; set it in "
            "the file (in Fiji: Image > Properties), say it with --pixel-size %s, or give lengths in pixels",
            "xyz"[axis], axis == 2 ? "0.65um,0.65um,2um" : "0.65um");
    return NAN;
}

static double eval_sky(Eval *e, const HostNode *node)
{
    const HostInput *inputs = e->context->inputs;
    double map[3][3];
    if (!sky_map(&inputs[node->a].sky, &inputs[node->b].sky, map, e->err)) {
        char why[sizeof e->err->text];
        Sky other = inputs[node->a].sky;
        const bool second = sky_map(&inputs[node->a].sky, &other, map, &(Err){0});
        snprintf(why, sizeof why, "%s", e->err->text);
        err_clear(e->err);
        err_set(e->err, CODE_FILES, "'%s' %s", e->program->inputs[second ? node->b : node->a].name, why);
        return NAN;
    }
    return map[node->c / 3][node->c % 3];
}

static double eval_node(Eval *e, const HostNode *node)
{
    const HostInput *inputs = e->context->inputs;
    switch ((HostOp)node->op) {
    case HOST_CONST:
        return node->num;
    case HOST_PARAM:
        return e->context->params[node->a];
    case HOST_EXTENT:
        return (double)inputs[node->a].extent[node->b];
    case HOST_PIXELSIZE:
        return eval_pixel_size(e, node->a);
    case HOST_UPWARDS:
        return e->context->upwards;
    case HOST_SKY:
        return eval_sky(e, node);
    case HOST_LARGEST:
        return elem_max(inputs[node->a].elem);
    case HOST_INDEX:
        return eval_index(e, node->a);
    case HOST_FOLD:
        return eval_fold(e, node);
    case HOST_OP1:
        return hostop_eval(node->d, eval(e, node->a), 0, 0);
    case HOST_OP2: {
        double a = eval(e, node->a);
        return hostop_eval(node->d, a, eval(e, node->b), 0);
    }
    case HOST_OP3: {
        double a = eval(e, node->a), b = eval(e, node->b);
        return hostop_eval(node->d, a, b, eval(e, node->c));
    }
    case HOST_KNOWN:
    case HOST_RANGE:
    case HOST_F32:
    case HOST_WRAP:
    case HOST_SATURATE:
    case HOST_NUMBER:
    case HOST_PIXEL:
    case HOST_OPS:
        break;
    }
    return failed(e, "there is no host operation %.0f", node->op);
}

static double eval(Eval *e, int expr)
{
    HostMemo *memo = e->context->memo;
    Remembered *known = &memo->at[expr];
    if (e->err->code != CODE_OK || e->depth >= MAX_DEPTH) {
        return failed(e, "a host expression is more than %.0f levels deep", MAX_DEPTH);
    }
    if (known->epoch && (known->outer == NOTHING_OUTER || known->epoch == memo->epoch)) {
        e->outer = known->outer < e->outer ? known->outer : e->outer;
        return known->value;
    }
    int bound = e->n_bound, before = e->outer;
    e->outer = NOTHING_OUTER;
    e->depth++;
    double value = eval_node(e, &e->program->host[expr]);
    e->depth--;
    if (e->outer >= bound) {
        e->outer = NOTHING_OUTER; /* only what was bound inside */
    }
    if (e->err->code == CODE_OK) { /* who asks again is told again why there is no value */
        *known = (Remembered){value, memo->epoch, e->outer};
    }
    e->outer = before < e->outer ? before : e->outer;
    return value;
}

static bool start(Eval *e, const Program *program, const HostContext *context, int expr, Err *err)
{
    *e = (Eval){.program = program, .context = context, .err = err, .outer = NOTHING_OUTER};
    if (expr < 0 || expr >= program->n_host) {
        return err_set(err, CODE_USAGE, "there is no host expression %d", expr);
    }
    if (!context->memo) {
        HostMemo *memo = calloc(1, sizeof *memo + sizeof(Remembered) * (size_t)program->n_host);
        if (!memo) {
            return err_set(err, CODE_MEMORY, "out of host memory for %d expressions", program->n_host);
        }
        memo->epoch = 1;
        ((HostContext *)context)->memo = memo; /* a cache, not a part of what is asked */
    }
    context->memo->epoch++;
    return err->code == CODE_OK;
}

double host_eval(const Program *program, const HostContext *context, int expr, Err *err)
{
    Eval e;
    if (!start(&e, program, context, expr, err)) {
        return NAN;
    }
    double value = eval(&e, expr);
    return err->code == CODE_OK ? value : NAN;
}

bool host_eval_int(const Program *program, const HostContext *context, int expr, const char *what, int *value, Err *err)
{
    double v = trunc(host_eval(program, context, expr, err));
    *value = 0;
    if (err->code != CODE_OK) {
        return false;
    }
    if (!(v >= -HOSTOP_MOST_INDEX && v <= HOSTOP_MOST_INDEX)) {
        return err_set(err, CODE_USAGE, "%s is %g, which is not a whole number that fits", what, v);
    }
    *value = (int)v;
    return true;
}

void host_forget(HostContext *context)
{
    free(context->memo);
    free(context->ranges);
    context->memo = NULL;
    context->ranges = NULL;
}

/* ---- text ------------------------------------------------------------------------------ */

static void write_float(FILE *out, double value)
{
    float f = (float)value;
    if (isnan(f)) {
        fputs("(0.0f / 0.0f)", out); /* NAN and INFINITY are no constants for a table everywhere */
    } else if (isinf(f)) {
        fputs(f < 0 ? "(-1.0f / 0.0f)" : "(1.0f / 0.0f)", out);
    } else {
        fprintf(out, signbit(f) ? "(%af)" : "%af", (double)f);
    }
}

/* A value as an element of a table. */
static void write_entry(FILE *out, Elem elem, double value)
{
    if (elem_is_integer(elem)) {
        const double whole = isnan(value) ? 0 : trunc(fmin(fmax(value, elem_min(elem)), elem_max(elem)));
        if (whole == elem_min(ELEM_I32)) {
            fputs("INT_MIN", out);
        } else {
            fprintf(out, "%.0f%s", whole + 0.0, elem == ELEM_U32 ? "u" : "");
        }
    } else if (elem == ELEM_F64 && isfinite(value)) {
        fprintf(out, "%a", value);
    } else {
        write_float(out, value);
    }
}

static bool table_range(Eval *e, const ProgDefine *define, int index, double *lo, double *hi)
{
    if (define->lo[index] < 0 || define->hi[index] < 0) {
        failed(e, "a table has no range for index %.0f", index);
        return false;
    }
    *lo = eval(e, define->lo[index]);
    *hi = eval(e, define->hi[index]);
    return e->err->code == CODE_OK && range(e, lo, hi);
}

/* Entries for index `k` and those behind it; the ones before are bound. */
static bool write_entries(Eval *e, const ProgDefine *define, int k, const double *lo, const double *hi, FILE *out,
                          int *column)
{
    if (k == define->n) {
        fputs(*column % 8 == 0 ? "\n    " : " ", out);
        write_entry(out, define->elem, eval(e, define->expr));
        fputc(',', out);
        ++*column;
        return e->err->code == CODE_OK;
    }
    TRY(bind(e, define->index[k]));
    int binding = e->n_bound - 1;
    bool ok = true;
    for (double i = lo[k]; ok && i <= hi[k]; i++) {
        set_index(e, binding, i);
        ok = write_entries(e, define, k + 1, lo, hi, out, column);
    }
    e->n_bound--;
    return ok;
}

/* The ranges of its indices; false where there would be too many entries. */
static bool table_ranges(Eval *e, const ProgDefine *define, double *lo, double *hi)
{
    double entries = 1;
    for (int k = 0; k < define->n; k++) {
        TRY(table_range(e, define, k, &lo[k], &hi[k]));
        entries *= fmax(hi[k] - lo[k] + 1, 0);
    }
    if (entries > MAX_ENTRIES) {
        failed(e, "a table of %.0f weights is too large: a kernel has at most 1000000", entries);
        return false;
    }
    return true;
}

static bool write_table(Eval *e, const ProgDefine *define, uint64_t *tables, FILE *out)
{
    double lo[PROG_TABLE_INDICES], hi[PROG_TABLE_INDICES], entries = 1;
    int column = 0;
    TRY(table_ranges(e, define, lo, hi));
    for (int k = 0; k < define->n; k++) {
        entries *= fmax(hi[k] - lo[k] + 1, 0);
    }
    *tables += (uint64_t)entries * elem_size(define->elem);
    for (int k = 1; k < define->n; k++) {
        fprintf(out, "#define %s_N%d %.0f\n", define->name, k, fmax(hi[k] - lo[k] + 1, 0));
    }
    fprintf(out, "constant %s %s[] = {", elem_cl_name(define->elem), define->name);
    TRY(write_entries(e, define, 0, lo, hi, out, &column));
    fputs(column == 0 ? "0};\n" : "\n};\n", out);
    return e->err->code == CODE_OK;
}

static bool write_blend(Eval *e, const ProgDefine *define, uint64_t *tables, FILE *out)
{
    double lo, hi;
    TRY(table_ranges(e, define, &lo, &hi));
    const int n = (int)fmax(hi - lo + 1, 0);
    double *weight = calloc((size_t)n + 1, sizeof *weight);
    if (weight == NULL) {
        return err_set(e->err, CODE_MEMORY, "out of host memory for %d weights", n);
    }
    bool ok = bind(e, define->index[0]);
    for (int i = 0; ok && i < n; i++) {
        set_index(e, e->n_bound - 1, lo + i);
        weight[i] = eval(e, define->expr);
        ok = e->err->code == CODE_OK;
    }
    if (ok && n > 0) {
        blend_by_parts(weight, (int)lo, (int)hi);
    }
    *tables += (uint64_t)n * elem_size(define->elem);
    fprintf(out, "constant %s %s[] = {", elem_cl_name(define->elem), define->name);
    for (int i = 0; i < n + (n == 0); i++) {
        fputs(i % 8 == 0 ? "\n    " : " ", out);
        write_entry(out, define->elem, weight[i]);
        fputc(',', out);
    }
    fputs("\n};\n", out);
    free(weight);
    return ok;
}

static bool reaches(double pixels, Err *err)
{
    if (isnan(pixels)) {
        return err_set(err, CODE_FILES, "it has a window that ends at no number");
    }
    return pixels <= PROG_MAX_REACH ||
           err_set(err, CODE_FILES,
                   "it needs %.0f pixels around those that it computes, more than the %d that a kernel "
                   "holds; a smaller radius or offset will do, or a default that is as large, for which "
                   "other kernels are made",
                   pixels, PROG_MAX_REACH);
}

/* *tables grows by the bytes of a table. */
static bool write_define(const Program *program, const HostContext *context, const ProgDefine *define, uint64_t *tables,
                         FILE *out, Err *err)
{
    Eval e;
    int whole;
    double value;
    switch (define->kind) {
    case DEF_INT:
        TRY(host_eval_int(program, context, define->expr, AN_OFFSET, &whole, err));
        fprintf(out, whole < 0 ? "#define %s (%d)\n" : "#define %s %d\n", define->name, whole);
        return true;
    case DEF_REACH:
        value = host_eval(program, context, define->expr, err);
        TRY(err->code == CODE_OK && reaches(value, err));
        fprintf(out, "#define %s %.0f\n", define->name, value);
        return true;
    case DEF_TYPE:
        if (define->expr < 0 || define->expr >= program->n_inputs) {
            return err_set(err, CODE_USAGE, "there is no input %d", define->expr);
        }
        fprintf(out, "#define %s %s\n", define->name, elem_cl_name(context->inputs[define->expr].elem));
        return true;
    case DEF_TABLE:
        return start(&e, program, context, define->expr, err) && write_table(&e, define, tables, out);
    case DEF_BLEND:
        return start(&e, program, context, define->expr, err) && write_blend(&e, define, tables, out);
    }
    return err_set(err, CODE_USAGE, "define '%s' is of an unknown kind", define->name);
}

bool host_defines(const Program *program, const HostContext *context, const ProgDefine *defines, int n,
                  uint64_t constants, FILE *out, Err *err)
{
    uint64_t taken = 0;
    for (int i = 0; i < n; i++) {
        TRY(write_define(program, context, &defines[i], &taken, out, err));
    }
    if (taken > constants) {
        return err_set(err, CODE_FILES,
                       "its weights take %llu bytes, and a kernel has room for %llu on this device; smaller windows "
                       "will do, or weights that are a product of one for each axis",
                       (unsigned long long)taken, (unsigned long long)constants);
    }
    return !ferror(out) || err_set(err, CODE_MEMORY, "out of host memory for a kernel's text");
}

/* ---- whether numbers fit --------------------------------------------------------------- */

/* Whether an expression's value is the same for all images; what it is made of stands before it. */
static bool is_fixed(const HostNode *node, const bool *fixed, int self)
{
    const int of[3] = {node->a, node->b, node->c};
    int n = 0;
    switch ((HostOp)node->op) {
    case HOST_CONST:
    case HOST_PARAM:
    case HOST_INDEX:
        return true;
    case HOST_OP1:
        n = 1;
        break;
    case HOST_OP2:
        n = 2;
        break;
    case HOST_OP3:
    case HOST_FOLD:
        n = 3;
        break;
    default:
        return false;
    }
    for (int i = 0; i < n; i++) {
        if (of[i] < 0 || of[i] >= self || !fixed[of[i]]) {
            return false;
        }
    }
    return true;
}

static bool define_fits(const Program *program, const HostContext *context, const ProgDefine *define, const bool *fixed,
                        Err *err)
{
    Eval e;
    int whole;
    double value, lo[PROG_TABLE_INDICES], hi[PROG_TABLE_INDICES];
    for (int k = 0; k < define->n && define->kind >= DEF_BLEND; k++) {
        if (define->lo[k] < 0 || define->hi[k] < 0 || !fixed[define->lo[k]] || !fixed[define->hi[k]]) {
            return true;
        }
    }
    switch (define->kind) {
    case DEF_TYPE:
        return true;
    case DEF_INT:
        return !fixed[define->expr] || host_eval_int(program, context, define->expr, AN_OFFSET, &whole, err);
    case DEF_REACH:
        value = fixed[define->expr] ? host_eval(program, context, define->expr, err) : 0;
        return err->code == CODE_OK && reaches(value, err);
    default:
        return start(&e, program, context, define->expr, err) && table_ranges(&e, define, lo, hi);
    }
}

static bool step_fits(const Program *program, const HostContext *context, const ProgStep *step, const bool *fixed,
                      Err *err)
{
    int whole;
    for (int axis = 0; axis < 4 && step->grid >= 0; axis++) {
        const int extent = program->grids[step->grid].extent[axis];
        TRY(!fixed[extent] || host_eval_int(program, context, extent, "an image's extent", &whole, err));
    }
    for (int i = 0; i < step->n_reads; i++) {
        const int halo[2] = {step->reads[i].below, step->reads[i].above};
        for (int k = 0; k < 2; k++) {
            TRY(halo[k] < 0 || !fixed[halo[k]] || host_eval_int(program, context, halo[k], "a halo", &whole, err));
        }
    }
    const ProgKernel *kernel = step->kernel >= 0 ? &program->kernels[step->kernel] : NULL;
    for (int i = 0; kernel != NULL && i < kernel->n_defines; i++) {
        TRY(define_fits(program, context, &kernel->defines[i], fixed, err));
    }
    return true;
}

bool host_fits(const Program *program, const HostContext *context, Err *err)
{
    bool *fixed = calloc((size_t)program->n_host + 1, sizeof *fixed);
    if (fixed == NULL) {
        return err_set(err, CODE_MEMORY, "out of host memory for %d expressions", program->n_host);
    }
    for (int i = 0; i < program->n_host; i++) {
        fixed[i] = context->inputs != NULL || is_fixed(&program->host[i], fixed, i);
    }
    bool ok = true;
    for (int s = 0; ok && s < program->n_steps; s++) {
        const ProgStep *step = &program->steps[s];
        ok = (step->kind != STEP_LAUNCH && step->kind != STEP_PRIMITIVE) ||
             step_fits(program, context, step, fixed, err) || err_prefix(err, "line %s", step->lines);
    }
    free(fixed);
    return ok;
}
