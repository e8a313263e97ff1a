/*
 * driver: the commands of `pipec`.  Each command is one function of its own file; pipec.c lists
 * them.  Only here are messages printed and exit codes chosen.
 */
#ifndef DRIVER_DRIVER_H
#define DRIVER_DRIVER_H

#include "../base/arena.h"
#include "../base/err.h"
#include "../codegen/codegen.h"
#include "../frontend/syntax/ast.h"
#include "../frontend/diag/diag.h"
#include "../ir/schedule.h"
#include "../passes/figures.h"
#include "../passes/pass.h"
#include "../runtime/exec/exec_plan.h"

/* What the options before and after a command say about compiling. */
typedef struct CompileOptions {
    PassFuse fuse;
    const char *passes;     /* --passes=a,b */
    bool verify;            /* --verify */
    bool json;              /* --json */
    const char *after;      /* --print-after=NAME or all */
    DeviceFigures plan_for; /* --plan-for=NAME; of the table's first device without it */
    bool measured;          /* they do not come from the table */
    bool planned_for;       /* somebody has said --plan-for */
    const double *params;   /* to plan for; NULL: the defaults */
} CompileOptions;

/* One compilation; everything lives in the arena. */
typedef struct Compilation {
    Arena arena;
    Source source;
    Diags diags;
    AstFile *file;
    const IrGraph *lowered; /* as the front end made it */
    IrGraph *graph;         /* that one, or a clone of it that passes have changed */
    const IrSchedule *schedule;
    const Program *program;
    CompileOptions options;
    Str printed; /* of --print-after */
} Compilation;

/* How far to compile. */
typedef enum Stage { STAGE_PARSE, STAGE_GRAPH, STAGE_SCHEDULE, STAGE_PROGRAM } Stage;

/* Reads and compiles `path` up to a stage.  Complaints about the program are printed to stderr
 * (with --json to stdout); returns false after errors.  compile_free always. */
bool compile(Compilation *c, const char *path, const CompileOptions *options, Stage stage);
/* The program of what has been compiled, planned for other parameters; it lives as long as the first one. */
const Program *compile_again(Compilation *c, const double *params);
/* The same as a compilation of its own, to look at: compile_free. */
void compile_aside(const Compilation *c, const double *params, Compilation *aside);
void compile_free(Compilation *c);
/* True for the names of pipelines (.pipe) and of printed graphs (.ir), which compile() reads too. */
bool is_pipeline(const char *path);

/* Takes the options of CompileOptions out of argv[1..]; the rest stays, argc is reduced.  False
 * with a message on stderr when a value makes no sense. */
bool take_compile_options(int *argc, char **argv, CompileOptions *options);
/* True when argv[*i] is this option with its value, --name=value or two arguments, both of which are then behind. */
bool take_value(int argc, char **argv, int *i, const char *name, const char **value);
/* The figures that `devices --probe` has measured of the device whose name contains `name`; false when there
 * are none. */
bool figures_measured(const char *name, DeviceFigures *out);
/* Those of the device that `--device choice` takes (NULL: without it): measured ones, which it tells, or the
 * table's; *out stays where neither are known. */
bool figures_of_device(const char *choice, DeviceFigures *out);
bool figures_store(const DeviceFigures *figures, Err *err);
/* An arena whose lack of memory ends the command with CODE_MEMORY. */
void driver_arena(Arena *arena);
/* Prints "pipec: text" and returns the code. */
int complain(const Err *err);
int usage_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Inputs of such a shape ("20000x30000:u16"), in the arena; NULL with a message where it does not fit. */
ExecInput *take_shape(const Program *program, const char *text, Arena *arena);
/* The parameters' values when nobody gives others. */
double *default_params(const Program *program, Arena *arena);

/* All kernels in one text that compiles by itself, with the library once in front. */
bool show_all_kernels(Compilation *c, Str *out, Err *err);

/* Adds programs for other parameters than the defaults. */
void add_variants(Compilation *c);
/* Adds what this device's driver makes of the kernels, for images of these shapes, to the program. */
bool add_binaries(Compilation *c, const char *device, const char *const *shapes, int n, Err *err);

struct Ops;
/* docs/migration.md, from a file with the names of clEsperanto's operations (migration.c). */
int print_migration(const struct Ops *ops, const char *names, Arena *arena);

int cmd_build(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_devices(int argc, char **argv);
int cmd_explain(int argc, char **argv);
int cmd_fmt(int argc, char **argv);
int cmd_help(int argc, char **argv);
int cmd_ops(int argc, char **argv);
int cmd_plan(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_show(int argc, char **argv);

#endif
