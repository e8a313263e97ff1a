/* compile: the pipeline that a command is about, its complaints printed; and the options that steer compiling. */
#include "driver.h"

#include "../runtime/host/status.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void print_diagnostics(Compilation *c)
{
    Str text;
    str_init(&text, &c->arena);
    if (c->options.json) {
        diags_render_json(&c->diags, &text);
        fputs(text.at, stdout);
    } else {
        diags_render(&c->diags, &text, isatty(STDERR_FILENO) != 0, 20);
        status_print(stderr, "%s", text.at);
    }
}

/* What no image makes right is a mistake in the pipeline: compilation ends with it, not each run. */
static bool fits(Compilation *c, Err *err)
{
    HostContext context = {.params = c->program != NULL ? default_params(c->program, &c->arena) : NULL};
    bool ok = c->program == NULL || host_fits(c->program, &context, err);
    host_forget(&context);
    return ok;
}

bool compile(Compilation *c, const char *path, const CompileOptions *options, Stage stage)
{
    Err err = {0};
    compile_begin(c, options, driver_no_memory());
    bool ok = compile_file(c, path, &err) && compile_to(c, stage, &err) && fits(c, &err);
    if (err.code != CODE_OK) {
        complain(&err);
        return false;
    }
    if (c->diags.first != NULL || options->json) {
        print_diagnostics(c);
    }
    return ok;
}

bool is_pipeline(const char *path)
{
    size_t n = strlen(path);
    return (n > 5 && strcmp(path + n - 5, ".pipe") == 0) || (n > 3 && strcmp(path + n - 3, ".ir") == 0);
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

/* Some options do something in one command only. */
static bool is_for(const char *command, const char *option, char **argv)
{
    if (strcmp(argv[0], command) != 0) {
        usage_error("%s: %s is an option of `pipec %s`", argv[0], option, command);
        return false;
    }
    return true;
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
            ok = is_for("show", "--print-after", argv) &&
                 (strcmp(after, "all") == 0 || known_passes("--print-after", after)) && ok;
            options->after = after;
        } else if (plan_for != NULL) {
            ok = set_figures(options, plan_for) && ok;
        } else if (strcmp(argv[i], "--verify") == 0) {
            options->verify = true;
        } else if (strcmp(argv[i], "--json") == 0) {
            ok = is_for("check", "--json", argv) && ok;
            options->json = true;
        } else {
            argv[n++] = argv[i];
        }
    }
    *argc = n;
    argv[n] = NULL;
    return ok;
}
