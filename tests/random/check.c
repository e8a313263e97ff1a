/* check: the variants, and comparing them with the evaluator. */
#include "check.h"

#include "codegen/codegen.h"
#include "frontend/syntax/ast.h"
#include "frontend/diag/diag.h"
#include "ir/text.h"
#include "on_device.h"
#include "runtime/exec/parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const CHECK_NAMES[CHECK_OUTCOMES] = {
    [CHECK_SAME] = "same",       [CHECK_REFUSED] = "refused",
    [CHECK_DIFFERS] = "differs", [CHECK_FORMAT] = "formatted differently",
    [CHECK_FAILS] = "fails",     [CHECK_CRASHES] = "crashes",
    [CHECK_HANGS] = "hangs",
};

/* Devices that there are not: one for which nothing is too dear to be computed again, and one which
 * would rather store everything. */
static const DeviceFigures COMPUTES = {"computes", 1, 1e6, 1e6, 1000, false},
                           COPIES = {"copies", 1e5, 1, 1, 0.01, false};

/* What the runner may vary; another way of running is another row, or another column. */
const Variant CHECK_VARIANTS[] = {
    {"all", FUSE_ALL, NULL, 0, false, false, SHAPE_BY_DEVICE, NULL, false, false},
    {"pointwise", FUSE_POINTWISE, NULL, 0, false, false, SHAPE_BY_DEVICE, NULL, false, false},
    {"none", FUSE_NONE, NULL, 0, false, false, SHAPE_BY_DEVICE, NULL, false, false},
    {"all in parts of 16", FUSE_ALL, NULL, 16, false, false, SHAPE_BY_DEVICE, NULL, false, false},
    {"all in parts of 3", FUSE_ALL, NULL, 3, false, false, SHAPE_BY_DEVICE, NULL, false, false},
    {"all in parts of 3 across planes", FUSE_ALL, NULL, 3, true, false, SHAPE_BY_DEVICE, NULL, false, false},
    {"all under a limit", FUSE_ALL, NULL, 0, false, true, SHAPE_BY_DEVICE, NULL, false, false},
    {"all under a limit across planes as on a GPU", FUSE_ALL, NULL, 0, true, true, SHAPE_GPU, NULL, false, false},
    {"all as on a GPU", FUSE_ALL, NULL, 0, false, false, SHAPE_GPU, NULL, false, false},
    {"all in parts of 16 as on a GPU", FUSE_ALL, NULL, 16, false, false, SHAPE_GPU, NULL, false, false},
    {"none under a limit as on a GPU", FUSE_NONE, NULL, 0, false, true, SHAPE_GPU, NULL, false, false},
    {"all where computing is cheap", FUSE_ALL, NULL, 0, false, false, SHAPE_GPU, &COMPUTES, false, false},
    {"all where computing is dear", FUSE_ALL, NULL, 0, false, false, SHAPE_BY_DEVICE, &COPIES, false, false},
    {"all in rounds in parts of 3", FUSE_ALL, NULL, 3, false, false, SHAPE_GPU, NULL, true, false},
    {"all in rounds under a limit across planes", FUSE_ALL, NULL, 0, true, true, SHAPE_BY_DEVICE, NULL, true, false},
    {"all with other answers", FUSE_ALL, NULL, 0, false, false, SHAPE_GPU, NULL, false, true},
#define P(name, what) {"all without " #name, FUSE_ALL, #name, 0, false, false, SHAPE_BY_DEVICE, NULL, false, false},
#include "passes/passes.def"
#undef P
};
const int CHECK_VARIANTS_N = sizeof CHECK_VARIANTS / sizeof *CHECK_VARIANTS;

typedef struct Checking {
    const Subject *subject;
    const Checks *checks;
    Arena arena;
    BothCase cases[SUBJECT_CASES];
    BothResult want[SUBJECT_CASES];
    Err refused[SUBJECT_CASES]; /* the evaluator's reason where it has no result */
    Verdict *at;
} Checking;

static bool found(Checking *c, Outcome outcome, const char *format, const char *text)
{
    c->at->outcome = outcome;
    snprintf(c->at->why, sizeof c->at->why, format, text);
    return false;
}

/* ---- as a graph -------------------------------------------------------------------------- */

/* The passes of a variant, as PassContext.only has them; NULL: all. */
static const char *passes_of(Arena *arena, const Variant *v)
{
    Str only;
    str_init(&only, arena);
    for (int i = 0; v->without != NULL && i < PASS_COUNT; i++) {
        if (strcmp(PASSES[i].name, v->without) != 0) {
            str_addf(&only, "%s%s", only.n > 0 ? "," : "", PASSES[i].name);
        }
    }
    return v->without != NULL ? only.at : NULL;
}

/* Any number, the same for the same text and i. */
static unsigned number_of(const Checking *c, int i)
{
    unsigned number = 2166136261U + (unsigned)i;
    for (const char *p = c->subject->text; *p != '\0'; p++) {
        number = (number ^ (unsigned char)*p) * 16777619U;
    }
    return number >> 8;
}

/* Of the decisions that the rules make, half turned round. */
static Decisions other_answers(Checking *c)
{
    Decisions rules = {.arena = &c->arena}, others = {.n_given = 0};
    PassContext cx = {.fuse = FUSE_ALL, .decisions = &rules};
    pass_run_all(subject_compile(&c->arena, c->subject->text), &cx);
    Decision *given = arena_array(&c->arena, Decision, rules.asked.n + 1);
    for (int i = 0; i < rules.asked.n; i++) {
        if (number_of(c, i) % 2 == 0) {
            given[others.n_given] = rules.asked.at[i];
            given[others.n_given++].taken = !rules.asked.at[i].rule;
        }
    }
    others.given = given;
    return others;
}

static const IrSchedule *schedule_of(Checking *c, const Variant *v, IrGraph **g)
{
    Decisions others = v->others ? other_answers(c) : (Decisions){.n_given = 0};
    *g = subject_compile(&c->arena, c->subject->text);
    PassContext cx = {.fuse = v->fuse,
                      .figures = v->figures,
                      .only = passes_of(&c->arena, v),
                      .verify = true,
                      .in_rounds = v->in_rounds,
                      .decisions = v->others ? &others : NULL};
    return pass_run_all(*g, &cx);
}

/* From a graph of its own: code generation takes the channels off an input of which one is read. */
static const Program *program_of(Checking *c, const Variant *v)
{
    IrGraph *g;
    const IrSchedule *schedule = schedule_of(c, v, &g);
    return cg_program(g, schedule, "0123456789abcdef0123456789abcdef");
}

/* Where the evaluator has no result there may be one all the same: it computes what no output
 * needs, too. */
static bool agree(Checking *c, int i, bool ok, const Err *err, const BothResult *got)
{
    char why[sizeof c->at->why - 100];
    if (c->refused[i].code != CODE_OK) {
        return true;
    }
    if (!ok) {
        return found(c, CHECK_FAILS, "%s", err->text);
    }
    return both_same(&c->want[i], got, why, sizeof why) || found(c, CHECK_DIFFERS, "%s", why);
}

static bool same_graph(Checking *c, const Variant *v)
{
    IrGraph *g;
    schedule_of(c, v, &g);
    for (int i = 0; i < c->subject->n_cases; i++) {
        BothResult got;
        Err err = {0};
        if (c->refused[i].code != CODE_OK) {
            continue;
        }
        bool ok = both_evaluate(g, &c->cases[i], &got, &err);
        ok = agree(c, i, ok, &err, &got);
        both_free(&got);
        TRY(ok);
    }
    return true;
}

/* Extents that do not fit, which the evaluator does not ask, and windows without end, which it would
 * count. */
static bool is_refusal(const Err *err)
{
    return err->code == CODE_FILES || err->code == CODE_USAGE;
}

/* Extents and memory, without a device. */
static bool can_be_planned(Checking *c, const Program *program)
{
    const ExecTarget target = exec_target(NULL);
    for (int i = 0; i < c->subject->n_cases; i++) {
        ExecInput inputs[8];
        ExecPlan *plan = NULL;
        Err err = {0};
        both_inputs(&c->cases[i], inputs);
        bool ok = exec_plan_new(program, &target, inputs, c->cases[i].params, &plan, &err);
        exec_plan_free(plan);
        if (!ok && is_refusal(&err)) {
            c->refused[i] = err;
        } else if (!ok && c->refused[i].code == CODE_OK) {
            return found(c, CHECK_FAILS, "cannot be planned: %s", err.text);
        }
    }
    return true;
}

/* ---- on a device ------------------------------------------------------------------------- */

/* Bytes between the least that will do and those that one piece takes; 0: nothing less will do, and the run has
 * what there is. */
static uint64_t limit_of(Checking *c, const Program *program, int i)
{
    ExecTarget target = exec_target(c->checks->dev);
    ExecInput inputs[8];
    ExecPlan *whole = NULL, *cut = NULL;
    uint64_t limit = 0;
    Err err = {0};
    both_inputs(&c->cases[i], inputs);
    bool ok = exec_plan_new(program, &target, inputs, c->cases[i].params, &whole, &err);
    target.limit = ok && whole->least > 1 ? whole->least - 1 : 1;
    if (ok && exec_plan_new(program, &target, inputs, c->cases[i].params, &cut, &err)) {
        uint64_t around = cut->peak - cut->parts->peak + 2 * target.alignment;
        uint64_t least = cut->parts->least + around;
        uint64_t room = least < whole->peak ? whole->peak - least : 0;
        limit = room > 0 ? least + number_of(c, i) % room : 0;
    }
    exec_plan_free(whole);
    exec_plan_free(cut);
    return limit;
}

static bool same_runs(Checking *c, const Program *program, const Variant *variant)
{
    Exec *exec;
    Err err = {0};
    if (!exec_new(program, c->checks->dev, &exec, &err)) {
        return found(c, CHECK_FAILS, "fails: %s", err.text);
    }
    exec_set_compilers(exec, 1); /* and nothing that is not launched */
    bool same = true;
    for (int i = 0; same && i < c->subject->n_cases; i++) {
        BothResult got = {0};
        if ((c->checks->cases >> i & 1) == 0) {
            continue;
        }
        err_clear(&err);
        c->cases[i].part_rows = variant->part_rows;
        c->cases[i].across = variant->across;
        c->cases[i].shape = variant->shape;
        c->cases[i].limit = variant->limited ? limit_of(c, program, i) : 0;
        bool ok = both_execute(exec, program, &c->cases[i], &got, &err);
        /* Not everything can be cut, there may be more labels than the plan expects, and more weights than a
         * kernel of this device has room for. */
        bool refused =
            err.code == CODE_FILES || ((variant->part_rows > 0 || variant->limited) && err.code == CODE_MEMORY);
        same = refused || agree(c, i, ok, &err, &got);
        both_free(&got);
    }
    exec_free(exec);
    return same;
}

/* The variant is another program than that of all passes. */
static bool is_another(Checking *c, const Variant *v)
{
    IrGraph *g;
    if (v->in_rounds) {
        schedule_of(c, &CHECK_VARIANTS[0], &g);
    }
    return !v->in_rounds || pass_wants_rounds(g);
}

static bool same_variant(Checking *c, int v)
{
    bool possible = CHECK_VARIANTS[v].shape != SHAPE_GPU || (c->checks->dev != NULL && runs_gpu_shapes(c->checks->dev));
    bool graph = c->checks->graphs >> v & 1, run = possible && c->checks->runs >> v & 1;
    if ((!graph && !run) || !is_another(c, &CHECK_VARIANTS[v])) {
        return true;
    }
    c->at->variant = v;
    c->at->on_device = false;
    const Program *program = program_of(c, &CHECK_VARIANTS[v]);
    TRY(can_be_planned(c, program) && (!graph || same_graph(c, &CHECK_VARIANTS[v])));
    c->at->on_device = run;
    return !run || same_runs(c, program, &CHECK_VARIANTS[v]);
}

/* ---- as text ----------------------------------------------------------------------------- */

/* Two texts of one program have their words at different places. */
static void forget_places(IrGraph *g)
{
    for (int i = 0; i < g->nodes.n; i++) {
        g->nodes.at[i].span = (Span){0};
    }
    for (int i = 0; i < g->outputs.n; i++) {
        g->outputs.at[i].span = (Span){0};
    }
    for (int i = 0; i < g->bounds.n; i++) {
        g->bounds.at[i].span = (Span){0};
    }
    for (int i = 0; i < g->equals.n; i++) {
        g->equals.at[i].span = (Span){0};
    }
}

static const char *printed(Checking *c, const char *text)
{
    IrGraph *g = subject_compile(&c->arena, text);
    Str out;
    str_init(&out, &c->arena);
    if (g != NULL) {
        forget_places(g);
        ir_print(g, &out);
    }
    return out.n > 0 ? out.at : "";
}

/* Formatted text is the same program, and formatting it again changes nothing. */
static bool same_formatted(Checking *c)
{
    const char *text = c->subject->text;
    Str out[2];
    for (int i = 0; i < 2; i++) {
        Diags diags;
        diags_init(&diags, &c->arena);
        Source *source = source_new(&c->arena, "subject.pipe", text);
        str_init(&out[i], &c->arena);
        ast_format(fe_parse(&c->arena, source, &diags), &out[i]);
        text = out[i].at;
    }
    if (strcmp(out[0].at, out[1].at) != 0) {
        return found(c, CHECK_FORMAT, "formatting twice gives %s", "another text");
    }
    return strcmp(printed(c, c->subject->text), printed(c, out[0].at)) == 0 ||
           found(c, CHECK_FORMAT, "the formatted text is %s", "another program");
}

/* The text of the graph is the graph. */
static bool same_read_back(Checking *c)
{
    const IrGraph *g = subject_compile(&c->arena, c->subject->text);
    Str text, again;
    IrGraph *back;
    Err err = {0};
    str_init(&text, &c->arena);
    str_init(&again, &c->arena);
    ir_print(g, &text);
    Source *source = source_new(&c->arena, "subject.ir", text.at);
    if (!ir_parse(&c->arena, source, &back, &err)) {
        return found(c, CHECK_DIFFERS, "its text cannot be read back: %s", err.text);
    }
    ir_print(back, &again);
    return strcmp(text.at, again.at) == 0 || found(c, CHECK_DIFFERS, "its text read back is %s", "another graph");
}

/* ---- all of it --------------------------------------------------------------------------- */

/* What would take long to compute says nothing more; images grow where operators multiply, and windows
 * with what they are given. */
enum { LARGEST = 32 << 20, LONGEST = 20000000, SOON = 500000 };

static bool are_small(Checking *c)
{
    const Program *program = program_of(c, &CHECK_VARIANTS[0]);
    for (int i = 0; i < c->subject->n_cases; i++) {
        ExecInput inputs[8];
        ExecTarget target = exec_target(NULL);
        ExecPlan *plan = NULL;
        Err err = {0};
        both_inputs(&c->cases[i], inputs);
        bool large = exec_plan_new(program, &target, inputs, c->cases[i].params, &plan, &err) && plan->peak > LARGEST;
        exec_plan_free(plan);
        if (is_refusal(&err)) {
            c->refused[i] = err;
        }
        if (large) {
            return found(c, CHECK_REFUSED, "%s", "too large");
        }
    }
    return true;
}

static bool evaluate_cases(Checking *c)
{
    IrGraph *g = subject_compile(&c->arena, c->subject->text);
    if (g == NULL) {
        return found(c, CHECK_REFUSED, "%s", "");
    }
    for (int i = 0; i < c->subject->n_cases; i++) {
        if (!subject_case(c->subject, i, g, &c->cases[i])) {
            return found(c, CHECK_REFUSED, "%s", "not enough memory");
        }
    }
    TRY(are_small(c));
    for (int i = 0; i < c->subject->n_cases; i++) {
        if (c->refused[i].code == CODE_OK) {
            c->cases[i].elements = c->checks->soon ? SOON : LONGEST;
            both_evaluate(g, &c->cases[i], &c->want[i], &c->refused[i]);
            c->cases[i].elements = 0;
        }
        if (c->refused[i].code == CODE_INTERRUPTED) {
            return found(c, CHECK_REFUSED, "%s", "would take too long");
        }
    }
    return true;
}

Verdict check_subject(const Subject *subject, const Checks *checks, Verdict *at)
{
    Checking c = {.subject = subject, .checks = checks, .at = at};
    *at = (Verdict){.outcome = CHECK_SAME};
    arena_init(&c.arena);
    bool ok = evaluate_cases(&c) && same_formatted(&c) && same_read_back(&c);
    for (int v = 0; ok && v < CHECK_VARIANTS_N; v++) {
        ok = same_variant(&c, v);
    }
    for (int i = 0; i < subject->n_cases; i++) {
        subject_free(&c.cases[i]);
        both_free(&c.want[i]);
    }
    arena_free(&c.arena);
    return *at;
}
