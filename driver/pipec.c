/* pipec: the command line; one row a command. */
#include "driver.h"

#include "../base/stack.h"
#include "../runtime/command/describe.h"
#include "../runtime/host/signals.h"
#include "../runtime/host/status.h"
#include "../runtime/host/streams.h"
#include "../runtime/main.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct Command {
    const char *name, *usage, *what;
    int (*run)(int argc, char **argv);
} COMMANDS[] = {
    {"check", "check FILE.pipe [--json]", "show the mistakes in a pipeline", cmd_check},
    {"run", "run FILE.pipe IMAGE|FOLDER... [-o FOLDER] [--PARAMETER VALUE]... [OPTION]...",
     "run a pipeline; `pipec help run` lists the options, `pipec run FILE.pipe --help` also the parameters", cmd_run},
    {"try", "try FILE.pipe IMAGE... [-o FOLDER] [--PARAMETER VALUE]... [OPTION]...",
     "run, and run again whenever the pipeline, an image or a value changes; NAME=VALUE sets a value, q ends", cmd_try},
    {"build", "build FILE.pipe -o NAME [--library] [--for DEVICE --shape 2048x2048:u16]",
     "make an executable, or a C library; with --for, it has kernels that are compiled already, for a device and a shape",
     cmd_build},
    {"merge", "merge FOLDER... [-o FOLDER]",
     "join what the shards of a run have written: tables, values, summaries, failures, journals", cmd_merge},
    {"fmt", "fmt [--check] FILE.pipe...", "format pipelines; --check only names those that would change", cmd_fmt},
    {"ops", "ops [NAME|WORD...] [--source]",
     "list all operators, explain one, or find some by what they do or by their name in another package; "
     "--source shows how one is written",
     cmd_ops},
    {"import", "import macro.ijm|script.py",
     "turn an ImageJ macro with CLIJ, or a script with clEsperanto, scikit-image or scipy, into a pipeline",
     cmd_import},
    {"lsp", "lsp", "the language server that editors start; see docs/editors.md", cmd_lsp},
    {"help", "help [COMMAND|CODE|passes]", "explain a command or a message such as P0207, or list the passes",
     cmd_help},
    {"devices", "devices [--probe]", "list the devices; --probe also measures how fast they are, for --plan-for",
     cmd_devices},
    {"plan", "plan FILE.pipe --shape 20000x30000:u16 [--memory 8GiB] [--device NAME]",
     "show the steps, buffers and peak memory for images of a shape; no device is needed, but --device plans for one",
     cmd_plan},
    {"explain", "explain FILE.pipe [--plan-for=DEVICE] [--PARAMETER VALUE]...",
     "explain what became of each line: what is fused, what is stored and why, and what it costs on a device",
     cmd_explain},
    {"tune",
     "tune FILE.pipe [IMAGE | --shape 2048x2048:u16] [--device DEVICE] [--PARAMETER VALUE]... [--seconds 120] [--list]",
     "try several plans on the device and keep the fastest; later runs use it", cmd_tune},
    {"show", "show FILE.pipe --ast|--ir|--graph|--passes [--print-after=PASS]|--kernels[=all]|--c",
     "print a stage of the compilation; --print-after: only the graph after this pass", cmd_show},
};
enum { N_COMMANDS = sizeof COMMANDS / sizeof *COMMANDS };

static const struct {
    const char *option, *what;
} COMPILE_OPTIONS[] = {
    {"--plan-for=DEVICE", "plan kernels for this device; `pipec devices --probe` adds one"},
    {"--fuse=none|pointwise|all", "how far steps are fused (default: all)"},
    {"--passes=A,B", "run only these passes"},
    {"--verify", "verify the graph after each pass"},
};
enum { N_COMPILE_OPTIONS = sizeof COMPILE_OPTIONS / sizeof *COMPILE_OPTIONS };

static void print_command(const struct Command *command)
{
    printf("  pipec %s\n      %s\n", command->usage, command->what);
}

static void print_usage(void)
{
    puts("pipec compiles image-analysis pipelines to programs for GPUs and CPUs\n");
    for (int i = 0; i < N_COMMANDS; i++) {
        print_command(&COMMANDS[i]);
    }
    puts("\noptions of all commands that compile; none changes a result");
    for (int i = 0; i < N_COMPILE_OPTIONS; i++) {
        printf("  %-26s %s\n", COMPILE_OPTIONS[i].option, COMPILE_OPTIONS[i].what);
    }
}

static int print_man(void)
{
    man_begin();
    for (int i = 0; i < N_COMMANDS; i++) {
        man_item(COMMANDS[i].usage, COMMANDS[i].what);
    }
    man_compile_options();
    for (int i = 0; i < N_COMPILE_OPTIONS; i++) {
        man_item(COMPILE_OPTIONS[i].option, COMPILE_OPTIONS[i].what);
    }
    man_end();
    return CODE_OK;
}

static int list_passes(void)
{
    for (int i = 0; i < PASS_COUNT; i++) {
        printf("%-8s %s\n", PASSES[i].name, PASSES[i].what);
    }
    return CODE_OK;
}

static int print_diagnostic_page(const char *code)
{
    Arena arena;
    Str title;
    arena_init(&arena);
    str_init(&title, &arena);
    diag_title(code, &title);
    printf("%s\n\n%s\n", title.at, diag_page(code));
    arena_free(&arena);
    return CODE_OK;
}

int cmd_help(int argc, char **argv)
{
    if (argc < 2) {
        print_usage();
        return CODE_OK;
    }
    if (strcmp(argv[1], "passes") == 0) {
        return list_passes();
    }
    if (strcmp(argv[1], "--man") == 0) {
        return print_man();
    }
    char code[8]; /* 502 and 0502 are P0502 */
    const long number = strtol(argv[1], NULL, 10);
    snprintf(code, sizeof code, "P%04d", number > 0 && number <= 9999 ? (int)number : 0);
    const char *asked = diag_page(argv[1]) != NULL ? argv[1] : code;
    if (diag_page(asked) != NULL) {
        return print_diagnostic_page(asked);
    }
    for (int i = 0; i < N_COMMANDS; i++) {
        if (strcmp(COMMANDS[i].name, argv[1]) == 0) {
            print_command(&COMMANDS[i]);
            if (COMMANDS[i].run == cmd_run || COMMANDS[i].run == cmd_try) {
                describe_options(stdout);
            }
            return CODE_OK;
        }
    }
    return usage_error("'%s' is neither a command nor the code of an error; `pipec help` lists the "
                       "commands, `pipec ops %s` explains an operator",
                       argv[1], argv[1]);
}

/* What the command holds goes with the process. */
static int run_command(int (*run)(int argc, char **argv), int argc, char **argv)
{
    if (setjmp(*driver_no_memory()) != 0) {
        const Err err = {.code = CODE_MEMORY, .text = "out of memory"};
        complain(&err);
        return CODE_MEMORY;
    }
    return run(argc, argv);
}

static int command(int argc, char **argv)
{
    if (argc < 2) {
        print_usage();
        return CODE_USAGE;
    }
    if (strcmp(argv[1], "--version") == 0) {
        puts("pipec " PIPEC_VERSION);
        return CODE_OK;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_usage();
        return CODE_OK;
    }
    const char *names[N_COMMANDS];
    for (int i = 0; i < N_COMMANDS; i++) {
        names[i] = COMMANDS[i].name;
        if (strcmp(names[i], argv[1]) == 0) {
            if (argc == 3 && (strcmp(argv[2], "--help") == 0 || strcmp(argv[2], "-h") == 0)) {
                return cmd_help(2, argv);
            }
            return run_command(COMMANDS[i].run, argc - 1, argv + 1);
        }
    }
    const char *dot = strrchr(argv[1], '.');
    if (dot != NULL && strcmp(dot, ".pipe") == 0) {
        return usage_error("a command comes first: `pipec run %s %s`", argv[1], argc > 2 ? argv[2] : "IMAGE");
    }
    static const struct {
        const char *theirs, *ours;
    } OTHERS[] = {
        {"compile", "build"},     {"make", "build"},   {"lint", "check"},   {"validate", "check"},
        {"format", "fmt"},        {"watch", "try"},    {"search", "ops"},   {"list", "ops"},
        {"info", "ops"},          {"execute", "run"},  {"start", "run"},    {"convert", "import"},
        {"version", "--version"}, {"-v", "--version"}, {"-V", "--version"},
    };
    for (size_t i = 0; i < sizeof OTHERS / sizeof *OTHERS; i++) {
        if (strcmp(OTHERS[i].theirs, argv[1]) == 0) {
            return usage_error("there is no command '%s'; here it is 'pipec %s'", argv[1], OTHERS[i].ours);
        }
    }
    const char *near = fe_nearest(argv[1], names, N_COMMANDS);
    if (near != NULL) {
        return usage_error("there is no command '%s'; did you mean '%s'?", argv[1], near);
    }
    return usage_error("there is no command '%s'; `pipec help` lists them", argv[1]);
}

typedef struct CommandLine {
    int argc;
    char **argv;
} CommandLine;

static int command_of(void *context)
{
    const CommandLine *line = context;
    return command(line->argc, line->argv);
}

int main(int argc, char **argv)
{
    streams_open();
    signals_install(SIGNALS_AT_ONCE);
    CommandLine line = {argc, argv};
    rt_alone(argc, argv);
    int code = stack_run(command_of, &line);
    if (code == CODE_INTERRUPTED) {
        return signals_code();
    }
    return code == CODE_OK && !streams_flush("pipec") ? CODE_OUTPUT : code;
}
