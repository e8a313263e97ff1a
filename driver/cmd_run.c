/*
 * run: compiles and hands the program to the same command line that executables have.
 *
 * The compiler also lends it its evaluator: for --check, which compares every frame with the
 * reference, and for --device reference, which needs no device at all.
 */
#include "driver.h"
#include "reference.h"

#include <string.h>

int cmd_run(int argc, char **argv)
{
    CompileOptions options;
    if (!take_compile_options(&argc, argv, &options)) {
        return CODE_USAGE;
    }
    if (argc < 2 || argv[1][0] == '-') {
        return usage_error("which pipeline? pipec run FILE.pipe IMAGE...");
    }
    Compilation c, plain = {.graph = NULL};
    int code = CODE_USAGE;
    CompileOptions quiet = options;
    quiet.silent = true;
    if (compile(&c, argv[1], &options, STAGE_PROGRAM) &&
        compile(&plain, argv[1], &quiet, STAGE_GRAPH)) {
        Reference reference = {plain.graph, c.program};
        RtHooks hooks = {.reference = reference_run, .check = reference_check,
                         .context = &reference};
        code = rt_main_with(c.program, argc - 1, argv + 1, &hooks);
    }
    compile_free(&plain);
    compile_free(&c);
    return code;
}
