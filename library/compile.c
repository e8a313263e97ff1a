/* compile: the stages, one after the other. */
#include "compile.h"

#include "tuned.h"

#include "../base/digest.h"
#include "../base/file.h"
#include "../frontend/elaborate/elaborate.h"
#include "../ir/clone.h"
#include "../ir/text.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_TEXT = 64 << 20 }; /* bytes of a pipeline; printed graphs are several times as long as what they are of */

/* "cells" of "plate/cells.pipe". */
static const char *stem_of(Arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    return arena_strndup(arena, name, dot != NULL && dot > name ? (size_t)(dot - name) : strlen(name));
}

static void print_after(const IrGraph *g, const char *pass, void *user)
{
    Compilation *c = user;
    const char *wanted = c->options.after;
    if (wanted != NULL && (strcmp(wanted, "all") == 0 || strcmp(wanted, pass) == 0)) {
        str_addf(&c->printed, "# after %s\n", pass);
        ir_print(g, &c->printed);
        str_add(&c->printed, "\n");
    }
}

/* Of the source and the compiler's version: no other option changes a bit of any output.  Outputs name it, so it is half as
 * long as it could be. */
static const char *hash_of(Compilation *c)
{
    char hex[DIGEST_TEXT];
    Digest digest;
    digest_begin(&digest);
    digest_add_text(&digest, c->source.text);
    for (int i = 0; i < c->lowered->included.n; i++) {
        digest_add_text(&digest, c->lowered->included.at[i]->text);
    }
    digest_add_text(&digest, PIPEC_VERSION);
    digest_end(&digest, hex);
    return arena_strndup(&c->arena, hex, sizeof hex / 2);
}

static bool has_suffix(const char *path, const char *suffix)
{
    size_t n = strlen(path), m = strlen(suffix);
    return n > m && strcmp(path + n - m, suffix) == 0;
}

/* A printed graph, as `pipec show --ir` makes it. */
static bool read_graph(Compilation *c, Stage stage, Err *err)
{
    IrGraph *graph;
    if (stage == STAGE_PARSE) {
        return err_set(err, CODE_USAGE, "%s is a graph, not the text of a pipeline", c->source.path);
    }
    TRY(ir_parse(&c->arena, &c->source, &graph, err));
    c->lowered = c->graph = graph;
    return true;
}

/* The text of a pipeline to its graph, or only to its tree. */
static bool read_pipeline(Compilation *c, Stage stage)
{
    c->file = fe_parse(&c->arena, &c->source, &c->diags);
    if (stage == STAGE_PARSE) {
        return c->diags.errors == 0;
    }
    c->graph = fe_elaborate(&c->arena, c->file, &c->diags);
    if (c->diags.errors > 0 || c->graph == NULL) {
        return false;
    }
    c->graph->name = stem_of(&c->arena, c->source.path);
    c->lowered = c->graph;
    return true;
}

/* The parameters' defaults and what to plan for change places. */
static void exchange_params(IrGraph *g, double *values)
{
    for (int i = 0; values != NULL && i < g->params.n; i++) {
        double own = g->params.at[i].value;
        g->params.at[i].value = values[i];
        values[i] = own;
    }
}

static double *planned_params(Compilation *c)
{
    double *values = arena_array(&c->arena, double, c->graph->params.n + 1);
    for (int i = 0; i < c->graph->params.n; i++) {
        values[i] = c->options.params[i];
    }
    return values;
}

PassSearch compile_search(Compilation *c, const double *params, int most)
{
    const PassContext like = {.fuse = c->options.fuse, .only = c->options.passes, .figures = &c->options.plan_for};
    IrGraph *lowered = ir_clone(c->lowered, &c->arena);
    for (int i = 0; params != NULL && i < lowered->params.n; i++) {
        lowered->params.at[i].value = params[i];
    }
    return pass_search(lowered, &like, SEARCH_TRUSTED, most, &c->arena);
}

/* Answers to the decisions: those that were given, those that the model of the device prefers, where it is sure, or none. */
static void choose_answers(Compilation *c)
{
    enum { MOST_PLANS = 100, FEWEST_PLANS = 4, MOST_NODES = 4000 /* of all plans together */ };
    const CompileOptions *o = &c->options;
    c->decisions = (Decisions){o->given, o->n_given, o->ask ? &c->arena : NULL, {0}};
    const int plans = MOST_NODES / c->lowered->nodes.n, most = plans < MOST_PLANS ? plans : MOST_PLANS;
    const bool wanted = o->plan_for.searched && o->fuse == FUSE_ALL && o->passes == NULL && o->n_given == 0;
    if (!wanted || o->tuned || o->ask || most < FEWEST_PLANS) {
        return;
    }
    const PassSearch found = compile_search(c, o->params, most);
    if (found.sure) {
        c->decisions.given = found.answers;
        c->decisions.n_given = found.n_answers;
    }
}

/* A clone of the graph through all passes. */
static void run_passes(Compilation *c, bool in_rounds)
{
    c->graph = ir_clone(c->lowered, &c->arena);
    choose_answers(c);
    PassContext cx = {.fuse = c->options.fuse,
                      .only = c->options.passes,
                      .verify = c->options.verify,
                      .in_rounds = in_rounds,
                      .figures = &c->options.plan_for,
                      .decisions = c->decisions.n_given > 0 || c->options.ask ? &c->decisions : NULL,
                      .after = print_after,
                      .user = c};
    double *values = c->options.params != NULL ? planned_params(c) : NULL;
    exchange_params(c->graph, values);
    c->schedule = pass_run_all(c->graph, &cx);
    exchange_params(c->graph, values);
}

/* The same pipeline once more, for runs in which an image that may be read anywhere does not fit; NULL: it has none. */
static const Program *program_in_rounds(Compilation *c)
{
    if (!pass_wants_rounds(c->graph)) {
        return NULL;
    }
    Compilation before = *c;
    c->options.after = NULL;
    run_passes(c, true);
    const Program *program = cg_program(c->graph, c->schedule, hash_of(c));
    before.arena = c->arena;
    *c = before;
    return program;
}

static const Program *make_program(Compilation *c)
{
    Program *program = arena_new(&c->arena, Program);
    *program = *cg_program(c->graph, c->schedule, hash_of(c));
    program->in_rounds = program_in_rounds(c);
    return program;
}

/* Takes the plan that was tuned for a device, if there is one. */
static void take_tuned(Compilation *c)
{
    if (c->options.tuned_for[0] != '\0') {
        c->options.tuned =
            tuned_load(hash_of(c), c->options.tuned_for, &c->arena, &c->options.given, &c->options.n_given);
    }
}

void compile_begin(Compilation *c, const CompileOptions *options, jmp_buf *out_of_memory)
{
    memset(c, 0, sizeof *c);
    arena_init(&c->arena);
    c->arena.out_of_memory = out_of_memory;
    c->options = *options;
    str_init(&c->printed, &c->arena);
    diags_init(&c->diags, &c->arena);
}

void compile_text(Compilation *c, const char *path, const char *text, size_t size)
{
    c->source = *source_new(&c->arena, arena_strdup(&c->arena, path), arena_strndup(&c->arena, text, size));
    c->size = size;
}

bool compile_file(Compilation *c, const char *path, Err *err)
{
    char *text = NULL;
    size_t size;
    TRY(file_read_text(path, MOST_TEXT, &text, &size, err));
    compile_text(c, path, text, size);
    free(text);
    return true;
}

bool compile_to(Compilation *c, Stage stage, Err *err)
{
    TRY(fe_check_text(&c->source, c->size, &c->diags));
    TRY(has_suffix(c->source.path, ".ir") ? read_graph(c, stage, err) : read_pipeline(c, stage));
    if (stage > STAGE_GRAPH) {
        take_tuned(c);
        run_passes(c, false);
    }
    if (stage == STAGE_PROGRAM) {
        c->program = make_program(c);
    }
    return true;
}

static void plan_for_params(Compilation *c, const double *params)
{
    c->options.params = params;
    c->options.after = NULL;
    run_passes(c, false);
    c->program = make_program(c);
}

const Program *compile_again(Compilation *c, const double *params)
{
    Compilation before = *c;
    plan_for_params(c, params);
    const Program *program = c->program;
    before.arena = c->arena;
    *c = before;
    return program;
}

void compile_aside(const Compilation *c, const double *params, Compilation *aside)
{
    *aside = *c;
    arena_init(&aside->arena);
    aside->arena.out_of_memory = c->arena.out_of_memory;
    take_tuned(aside);
    plan_for_params(aside, params);
}

void compile_free(Compilation *c)
{
    arena_free(&c->arena);
}
