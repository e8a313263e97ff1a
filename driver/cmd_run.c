/* run: compiles and hands the program to the same command line that executables have. */
#include "driver.h"

#include "../runtime/main.h"

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
    Compilation c;
    int code = CODE_USAGE;
    if (compile(&c, argv[1], &options, STAGE_PROGRAM)) {
        code = rt_main(c.program, argc - 1, argv + 1);
    }
    compile_free(&c);
    return code;
}
