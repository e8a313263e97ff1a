/* compile: from a path to a program, stage by stage, and the options that steer it. */
#include "driver.h"

#include "../base/digest.h"
#include "../base/file.h"
#include "../frontend/elaborate/elaborate.h"
#include "../ir/clone.h"
#include "../ir/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_TEXT = 64 << 20 }; /* bytes of a pipeline; printed graphs are several times as long as what they are of */

static void print_diagnostics(Compilation *c)
{
    Str text;
    str_init(&text, &c->arena);
    if (c->options.json) {
        diags_render_json(&c->diags, &text);
        fputs(text.at, stdout);
    } else {
        diags_render(&c->diags, &text, isatty(STDERR_FILENO) != 0, 20);
        fputs(text.at, stderr);
    }
}

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
    digest_add_text(&digest, PIPEC_VERSION);
    digest_end(&digest, hex);
    return arena_strndup(&c->arena, hex, sizeof hex / 2);
}

static bool has_suffix(const char *path, const char *suffix)
{
    size_t n = strlen(path), m = strlen(suffix);
    return n > m && strcmp(path + n - m, suffix) == 0;
}

bool is_pipeline(const char *path)
{
    return has_suffix(path, ".pipe") || has_suffix(path, ".ir");
}

/* A printed graph, as `pipec show --ir` makes it. */
static bool read_graph(Compilation *c, Stage stage)
{
    Err err = {0};
    IrGraph *graph;
    if (stage == STAGE_PARSE) {
        usage_error("%s is a graph, not the text of a pipeline", c->source.path);
        return false;
    }
    if (!ir_parse(&c->arena, &c->source, &graph, &err)) {
        complain(&err);
        return false;
    }
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

/* A clone of the graph through all passes. */
static void run_passes(Compilation *c, bool in_rounds)
{
    c->graph = ir_clone(c->lowered, &c->arena);
    PassContext cx = {.fuse = c->options.fuse,
                      .only = c->options.passes,
                      .verify = c->options.verify,
                      .in_rounds = in_rounds,
                      .figures = &c->options.plan_for,
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

static bool compile_stages(Compilation *c, Stage stage)
{
    TRY(has_suffix(c->source.path, ".ir") ? read_graph(c, stage) : read_pipeline(c, stage));
    if (stage > STAGE_GRAPH) {
        run_passes(c, false);
    }
    if (stage == STAGE_PROGRAM) {
        c->program = make_program(c);
    }
    return true;
}

bool compile(Compilation *c, const char *path, const CompileOptions *options, Stage stage)
{
    memset(c, 0, sizeof *c);
    driver_arena(&c->arena);
    str_init(&c->printed, &c->arena);
    c->options = *options;
    diags_init(&c->diags, &c->arena);
    Err err = {0};
    char *text = NULL;
    size_t size;
    if (!file_read_text(path, MOST_TEXT, &text, &size, &err)) {
        complain(&err);
        return false;
    }
    c->source = (Source){arena_strdup(&c->arena, path), arena_strndup(&c->arena, text, size)};
    free(text);
    bool ok = fe_check_text(&c->source, size, &c->diags) && compile_stages(c, stage);
    if (c->diags.first != NULL || options->json) {
        print_diagnostics(c);
    }
    return ok;
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
    driver_arena(&aside->arena);
    plan_for_params(aside, params);
}

void compile_free(Compilation *c)
{
    arena_free(&c->arena);
}

/* ---- options ----------------------------------------------------------------------------- */

/* The value of --name=value, or NULL. */
static const char *value_of(const char *arg, const char *name)
{
    size_t n = strlen(name);
    return strncmp(arg, name, n) == 0 && arg[n] == '=' ? arg + n + 1 : NULL;
}

static bool set_fuse(CompileOptions *options, const char *value)
{
    static const char *const NAMES[] = {"none", "pointwise", "all"};
    for (int i = 0; i < 3; i++) {
        if (strcmp(NAMES[i], value) == 0) {
            options->fuse = (PassFuse)i;
            return true;
        }
    }
    usage_error("--fuse=%s: use none, pointwise or all", value);
    return false;
}

static bool known_passes(const char *option, const char *list)
{
    for (const char *p = list; *p != '\0';) {
        size_t n = strcspn(p, ",");
        bool found = n == 0;
        for (int i = 0; i < PASS_COUNT; i++) {
            found = found || (strlen(PASSES[i].name) == n && strncmp(p, PASSES[i].name, n) == 0);
        }
        if (!found) {
            usage_error("%s: there is no pass '%.*s'; `pipec help passes` lists them", option, (int)n, p);
            return false;
        }
        p += n + (p[n] == ',');
    }
    return true;
}

/* What was measured goes before what the table says. */
static bool set_figures(CompileOptions *options, const char *name)
{
    const DeviceFigures *known = figures_known(name);
    options->planned_for = true;
    options->measured = figures_measured(name, &options->plan_for);
    if (!options->measured && known == NULL) {
        usage_error("--plan-for=%s: nothing is known of such a device; `pipec devices --probe` measures "
                    "those that are here",
                    name);
        return false;
    }
    options->plan_for = options->measured ? options->plan_for : *known;
    return true;
}

bool take_value(int argc, char **argv, int *i, const char *name, const char **value)
{
    if (strcmp(argv[*i], name) == 0 && *i + 1 < argc) {
        *value = argv[++*i];
        return true;
    }
    const char *behind = value_of(argv[*i], name);
    *value = behind != NULL ? behind : *value;
    return behind != NULL;
}

bool take_compile_options(int *argc, char **argv, CompileOptions *options)
{
    *options = (CompileOptions){.fuse = FUSE_ALL, .plan_for = *figures_known(NULL)};
    int n = 0;
    bool ok = true;
    for (int i = 0; i < *argc; i++) {
        const char *fuse = value_of(argv[i], "--fuse"), *passes = value_of(argv[i], "--passes");
        const char *after = value_of(argv[i], "--print-after");
        const char *plan_for = value_of(argv[i], "--plan-for");
        if (fuse != NULL) {
            ok = set_fuse(options, fuse) && ok;
        } else if (passes != NULL) {
            ok = known_passes("--passes", passes) && ok;
            options->passes = passes;
        } else if (after != NULL) {
            ok = (strcmp(after, "all") == 0 || known_passes("--print-after", after)) && ok;
            options->after = after;
        } else if (plan_for != NULL) {
            ok = set_figures(options, plan_for) && ok;
        } else if (strcmp(argv[i], "--verify") == 0) {
            options->verify = true;
        } else if (strcmp(argv[i], "--json") == 0) {
            options->json = true;
        } else {
            argv[n++] = argv[i];
        }
    }
    *argc = n;
    argv[n] = NULL;
    return ok;
}
