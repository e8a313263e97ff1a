/*
 * run: compiles and hands the program to the same command line that executables have.
 *
 * The compiler also lends it its evaluator: for --check, which compares every frame with the
 * reference, and for --device reference, which needs no device at all.  And where parameters are not
 * their defaults it compiles once more: how far a blur reaches decides what its kernels are.
 */
#include "run.h"

#include "../runtime/batch/devices.h"
#include "../runtime/host/status.h"

#include <stdlib.h>
#include <string.h>

bool run_take_pipeline(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (is_pipeline(argv[i])) {
            char *pipeline = argv[i];
            memmove(argv + 2, argv + 1, (size_t)(i - 1) * sizeof *argv);
            argv[1] = pipeline;
            return true;
        }
    }
    return argc > 1 && argv[1][0] != '-';
}

bool run_takes_device(int argc, char **argv, const char **choice)
{
    static const char *const WITHOUT[] = {"--help",  "-h",          "--version",   "--describe", "--dry-run",
                                          "--merge", "--resources", "--snakefile", "--sbatch"};
    static const char option[] = "--device";
    size_t n = sizeof option - 1;
    *choice = NULL;
    for (int i = 1; i < argc; i++) {
        for (size_t k = 0; k < sizeof WITHOUT / sizeof *WITHOUT; k++) {
            if (strncmp(argv[i], WITHOUT[k], strlen(WITHOUT[k])) == 0) {
                return false;
            }
        }
        if (strncmp(argv[i], option, n) == 0 && argv[i][n] == '=') {
            *choice = argv[i] + n + 1;
        } else if (strcmp(argv[i], option) == 0 && i + 1 < argc) {
            *choice = argv[i + 1];
        }
    }
    return *choice == NULL || strcmp(*choice, "reference") != 0;
}

static bool is_quiet(int argc, char **argv)
{
    bool quiet = false;
    for (int i = 1; i < argc; i++) {
        quiet = quiet || strcmp(argv[i], "--quiet") == 0 || strcmp(argv[i], "-q") == 0;
    }
    return quiet;
}

static const Program *planned(void *context, const double *params)
{
    Run *run = context;
    const Program *program = run->reference.program;
    bool others = false;
    for (int i = 0; i < program->n_params; i++) {
        others = others || params[i] != program->params[i].value;
    }
    if (others) {
        compile_aside(run->c, params, &run->planned);
        Program *made = arena_new(&run->planned.arena, Program);
        *made = *run->planned.program;
        made->planned_for = "these parameters";
        run->reference.program = made;
    }
    return run->reference.program;
}

RtHooks run_hooks(Run *run)
{
    return (RtHooks){.reference = reference_run, .check = reference_check, .planned = planned, .context = run};
}

int cmd_run(int argc, char **argv)
{
    CompileOptions options;
    if (!take_compile_options(&argc, argv, &options)) {
        return CODE_USAGE;
    }
    if (!run_take_pipeline(argc, argv)) {
        return usage_error("which pipeline? pipec run FILE.pipe IMAGE...");
    }
    const char *choice;
    bool runs = run_takes_device(argc, argv, &choice);
    rt_status(!runs || is_quiet(argc, argv));
    status_say(STATUS_REST, "compiling the pipeline");
    if (!options.planned_for && runs) {
        char *first = malloc(choice != NULL ? strlen(choice) + 1 : 1);
        options.measured =
            first != NULL && figures_of_device(devices_first(choice, first), &options.plan_for, options.tuned_for);
        free(first);
    }
    Compilation c;
    int code = CODE_USAGE;
    if (compile(&c, argv[1], &options, STAGE_PROGRAM)) {
        Run run = {.reference = {c.lowered, c.program}, .c = &c};
        RtHooks hooks = run_hooks(&run);
        (void)driver_python(false); /* for readers, which say so where they do not start */
        code = rt_main_with(c.program, argc - 1, argv + 1, &hooks);
        compile_free(&run.planned);
    }
    status_close();
    compile_free(&c);
    return code;
}
