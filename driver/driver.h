/*
 * driver: the commands of `pipec`.  Each command is one function of its own file; pipec.c lists
 * them.  Only here are messages printed and exit codes chosen.
 */
#ifndef DRIVER_DRIVER_H
#define DRIVER_DRIVER_H

#include "../library/compile.h"
#include "../library/figures.h"
#include "../runtime/exec/exec_plan.h"

/* Reads and compiles `path` up to a stage.  Complaints about the program are printed to stderr
 * (with --json to stdout); returns false after errors.  compile_free always. */
bool compile(Compilation *c, const char *path, const CompileOptions *options, Stage stage);
/* True for the names of pipelines (.pipe) and of printed graphs (.ir), which compile() reads too. */
bool is_pipeline(const char *path);

/* Takes the options of CompileOptions out of argv[1..]; the rest stays, argc is reduced.  False
 * with a message on stderr when a value makes no sense. */
bool take_compile_options(int *argc, char **argv, CompileOptions *options);
/* True when argv[*i] is this option with its value, --name=value or two arguments, both of which are then behind. */
bool take_value(int argc, char **argv, int *i, const char *name, const char **value);
/* Where arenas without memory jump: the command ends with CODE_MEMORY. */
jmp_buf *driver_no_memory(void);
/* An arena that does. */
void driver_arena(Arena *arena);
/* The folder of the running pipec; false with errno set. */
bool driver_folder(char *to, size_t size);
/* Lets the python3 that is started find the package that is installed with the command; `anywhere`: also that of a wheel
 * or of the sources.  False with errno set. */
bool driver_python(bool anywhere);
/* Prints "pipec: text" and returns the code. */
int complain(const Err *err);
int usage_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Inputs of such a shape ("20000x30000:u16"), in the arena; NULL with a message where it does not fit. */
ExecInput *take_shape(const Program *program, const char *text, Arena *arena);
/* The parameters' values when nobody gives others. */
double *default_params(const Program *program, Arena *arena);

/* "otsu_histogram of mask" for the stage "mask_otsu_histogram" of mask = image > otsu(image); file: NULL of a graph. */
const char *stage_name(const AstFile *file, const char *stage, Arena *arena);

/* All kernels in one text that compiles by itself, with the library once in front. */
bool show_all_kernels(Compilation *c, Str *out, Err *err);

/* Adds programs for other parameters than the defaults. */
void add_variants(Compilation *c);
/* Adds what this device's driver makes of the kernels, for images of these shapes, to the program. */
bool add_binaries(Compilation *c, const char *device, const char *const *shapes, int n, Err *err);

struct Op;
struct Ops;
/* docs/operators.md (ops_markdown.c). */
void print_operators(const struct Ops *ops, Arena *arena);
/* docs/migration.md, from a file with the names of clEsperanto's operations (migration.c). */
int print_migration(const struct Ops *ops, const char *names, Arena *arena);

/* pipec(1), in roff (man.c): the head, an item of its lists, the heading of compile options, and the rest. */
void man_begin(void);
void man_item(const char *left, const char *text);
void man_compile_options(void);
void man_end(void);

int cmd_build(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_devices(int argc, char **argv);
int cmd_explain(int argc, char **argv);
int cmd_fmt(int argc, char **argv);
int cmd_help(int argc, char **argv);
int cmd_lsp(int argc, char **argv);
int cmd_merge(int argc, char **argv);
int cmd_ops(int argc, char **argv);
int cmd_import(int argc, char **argv);
int cmd_plan(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_show(int argc, char **argv);
int cmd_try(int argc, char **argv);
int cmd_tune(int argc, char **argv);

#endif
