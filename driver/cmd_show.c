/* show: every stage of the compilation as text. */
#include "driver.h"

#include "../ir/text.h"

#include <stdio.h>
#include <string.h>

static const struct View {
    const char *option;
    Stage stage;
} VIEWS[] = {{"--ast", STAGE_PARSE},      {"--ir", STAGE_GRAPH},        {"--passes", STAGE_SCHEDULE},
             {"--graph", STAGE_SCHEDULE}, {"--kernels", STAGE_PROGRAM}, {"--kernels=all", STAGE_PROGRAM},
             {"--c", STAGE_PROGRAM}};
enum { N_VIEWS = sizeof VIEWS / sizeof *VIEWS };

static bool show(Compilation *c, const char *option, Str *out, Err *err)
{
    if (strcmp(option, "--ast") == 0) {
        ast_print(c->file, out);
    } else if (strcmp(option, "--ir") == 0) {
        ir_print(c->graph, out);
    } else if (strcmp(option, "--passes") == 0) {
        str_add(out, c->printed.at);
    } else if (strcmp(option, "--graph") == 0) {
        ir_print_dot(c->graph, out);
    } else if (strcmp(option, "--kernels") == 0) {
        cg_show_kernels(c->program, out);
    } else if (strcmp(option, "--kernels=all") == 0) {
        return show_all_kernels(c, out, err);
    } else {
        cg_emit_c(c->program, "program", out);
    }
    return true;
}

int cmd_show(int argc, char **argv)
{
    CompileOptions options;
    const char *view = NULL, *path = NULL;
    Stage stage = STAGE_PARSE;
    if (!take_compile_options(&argc, argv, &options)) {
        return CODE_USAGE;
    }
    for (int i = 1; i < argc; i++) {
        bool found = false;
        for (int v = 0; v < N_VIEWS; v++) {
            if (strcmp(VIEWS[v].option, argv[i]) == 0) {
                view = VIEWS[v].option;
                stage = VIEWS[v].stage;
                found = true;
            }
        }
        if (!found && argv[i][0] == '-') {
            return usage_error("show: '%s' is none of --ast, --ir, --passes, --graph, --kernels, "
                               "--kernels=all and --c",
                               argv[i]);
        }
        path = found ? path : argv[i];
    }
    if (path == NULL || view == NULL) {
        return usage_error("pipec show FILE.pipe --ast|--ir|--passes|--graph|--kernels[=all]|--c");
    }
    const bool passes = strcmp(view, "--passes") == 0;
    if (options.after != NULL && !passes) {
        return usage_error("show: --print-after goes with --passes");
    }
    if (passes && options.after == NULL) {
        options.after = "all";
    }
    Compilation c;
    int code = CODE_USAGE;
    if (compile(&c, path, &options, stage)) {
        Str out;
        str_init(&out, &c.arena);
        Err err = {0};
        code = show(&c, view, &out, &err) ? CODE_OK : complain(&err);
        fputs(code == CODE_OK ? out.at : "", stdout);
    }
    compile_free(&c);
    return code;
}
