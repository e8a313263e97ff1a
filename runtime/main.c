/*
 * main: parses, then either says something about the program or runs it.
 */
#include "main.h"

#include "../base/stack.h"
#include "batch/batch.h"
#include "batch/batch_ranks.h"
#include "batch/resources.h"
#include "batch/shard.h"
#include "batch/workflow.h"
#include "command/describe.h"
#include "device/cl.h"
#include "host/signals.h"
#include "host/status.h"
#include "host/streams.h"

#include <string.h>
#include <unistd.h>

static int run(const Program *program, const Options *options, const RtHooks *hooks)
{
    if (options->help) {
        describe_help(program, options->command, stdout);
    } else if (options->version) {
        describe_version(program, stdout);
    } else if (options->describe) {
        (options->json ? describe_json : describe_text)(program, stdout);
    } else if (options->merge) {
        return shard_merge(options->files, options->n_files, options->output, program->name, 0, options->command);
    } else if (options->resources) {
        return resources_print(program, options);
    } else if (options->snakefile) {
        return workflow_snakefile(program, options);
    } else if (options->sbatch) {
        return workflow_sbatch(program, options);
    } else if (options->dry_run) {
        return batch_dry_run(program, options);
    } else {
        signals_install(SIGNALS_IN_ORDER);
        return batch_run_ranks(program, options, hooks);
    }
    return CODE_OK;
}

void rt_status(bool quiet)
{
    if (!quiet && isatty(STDERR_FILENO) == 1) {
        status_open(stderr);
    }
}

int rt_main_with(const Program *program, int argc, char **argv, const RtHooks *hooks)
{
    Err err = {0};
    Options options;
    streams_open();
    bool ok = options_parse(program, argc, argv, &options, &err) && options_have_images(program, &options, &err);
    if (ok && options.check && (hooks == NULL || hooks->check == NULL)) {
        ok = err_set(&err, CODE_USAGE, "--check needs the compiler: pipec run %s.pipe --check ...", program->name);
    }
    int code = err.code;
    if (ok) {
        rt_status(options.quiet || options.help || options.version || options.describe || options.dry_run);
        bool compiler = hooks != NULL && hooks->planned != NULL;
        program = compiler ? hooks->planned(hooks->context, options.params) : exec_variant(program, options.params);
        code = run(program, &options, hooks);
    } else {
        fprintf(stderr, "%s: %s\n", options.command, err.text);
    }
    status_close();
    if (code == CODE_OK && !streams_flush(options.command)) {
        code = CODE_OUTPUT;
    }
    options_free(&options);
    return code;
}

void rt_alone(int argc, char **argv)
{
    static const char changed[] = "--load-kernels"; /* these may call any built-in function */
    bool alone = true;
    for (int i = 1; i < argc; i++) {
        const size_t n = strcspn(argv[i], "="); /* options may be cut short */
        alone = alone && (n < sizeof "--" || strncmp(argv[i], changed, n) != 0);
    }
    if (alone) {
        dev_alone();
    }
}

typedef struct CommandLine {
    const Program *program;
    int argc;
    char **argv;
} CommandLine;

static int run_command(void *context)
{
    const CommandLine *line = context;
    return rt_main_with(line->program, line->argc, line->argv, NULL);
}

int rt_main(const Program *program, int argc, char **argv)
{
    CommandLine line = {program, argc, argv};
    return stack_run(run_command, &line);
}
