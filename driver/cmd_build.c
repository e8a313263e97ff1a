/*
 * build: the program as C source, compiled and linked with the runtime into an executable, or
 * (--library) left as NAME.c and NAME.h for a C program of the user's own.  With --for, what a device's driver
 * makes of the kernels goes into it.
 *
 * The compiler is $CC or cc.  The runtime's library and headers are looked for beside the pipec
 * that is running: in its build folder, or where it was installed.
 */
#include "driver.h"

#include "../base/file.h"
#include "../base/user_text.h"
#include "../runtime/host/signals.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_SHAPES = 16 };

typedef struct Places {
    char include[PATH_MAX]; /* holds program/program.h */
    char runtime[PATH_MAX], base[PATH_MAX];
} Places;

static bool exists(const char *path)
{
    return access(path, R_OK) == 0;
}

bool driver_folder(char *to, size_t size)
{
    ssize_t n = readlink("/proc/self/exe", to, size - 1);
    if (n < 0) {
        return false;
    }
    to[n] = '\0';
    char *slash = strrchr(to, '/');
    if (slash != NULL) {
        *slash = '\0';
    }
    return true;
}

static bool find_runtime(Places *p, Err *err)
{
    char own[PATH_MAX - 64];
    if (!driver_folder(own, sizeof own)) {
        return err_set(err, CODE_USAGE, "cannot find out where pipec is: %s", strerror(errno));
    }
    snprintf(p->runtime, sizeof p->runtime, "%s/libruntime.a", own);
    snprintf(p->base, sizeof p->base, "%s/libbase.a", own);
    snprintf(p->include, sizeof p->include, "%s", PIPEC_SOURCE_DIR);
    if (exists(p->runtime) && exists(p->base)) {
        return true; /* the build folder */
    }
    snprintf(p->runtime, sizeof p->runtime, "%s/../lib/pipec/libruntime.a", own);
    snprintf(p->base, sizeof p->base, "%s/../lib/pipec/libbase.a", own);
    snprintf(p->include, sizeof p->include, "%s/../include/pipec", own);
    if (exists(p->runtime) && exists(p->base)) {
        return true; /* installed */
    }
    return err_set(err, CODE_USAGE,
                   "the runtime library libruntime.a is neither in %s nor installed beside it; "
                   "build or install pipec completely",
                   own);
}

/* ---- what is written --------------------------------------------------------------------- */

/* What the C files begin with. */
static const char MADE[] = "/* Made by pipec";

static void made_from(const Compilation *c, Str *out)
{
    str_addf(out, "%s %s from ", MADE, PIPEC_VERSION);
    user_comment(out, c->source.path, strlen(c->source.path), PATH_MAX);
    str_add(out, "; do not edit.\n");
}

static void source_head(const Compilation *c, Str *out)
{
    made_from(c, out);
    str_add(out,
            " * Compile with the runtime's headers and link with -lruntime -lbase -lOpenCL -ltiff\n"
            " * -lpng -ljpeg -lopenjp2 -lz -lexpat -ldeflate -lzstd -lcjson -lnettle -lxxhash -lpthread -lm. */\n");
    str_add(out, "#include \"runtime/main.h\"\n\n#include <math.h>\n#include <stddef.h>\n\n");
}

static void executable_text(const Compilation *c, Str *out)
{
    source_head(c, out);
    cg_emit_c(c->program, "program", out);
    str_add(
        out,
        "\nint main(int argc, char **argv)\n{\n    rt_alone(argc, argv);\n    return rt_main(&program, argc, argv);\n}\n");
}

/* What a file is called, with what C's names have not as `_`.  Nothing of the runtime begins with `pipeline_`. */
static const char *c_name(Arena *arena, const char *file)
{
    char *name = arena_strdup(arena, file);
    for (char *p = name; *p != '\0'; p++) {
        *p = isalnum((unsigned char)*p) ? *p : '_';
    }
    return name;
}

static void library_text(const Compilation *c, const char *file, Str *source, Str *header)
{
    const char *name = c_name(source->arena, file);
    source_head(c, source);
    str_addf(source, "const Program *pipeline_%s(void);\n\n", name);
    cg_emit_c(c->program, "program", source);
    str_addf(source, "\nconst Program *pipeline_%s(void)\n{\n    return &program;\n}\n", name);
    made_from(c, header);
    str_addf(header,
             " *\n"
             " * The pipeline as data.  Run it with runtime/exec/exec.h: exec_new, exec_bind, exec_upload,\n"
             " * exec_run, exec_download; or as a whole command line with rt_main of runtime/main.h. */\n"
             "#ifndef PIPELINE_%s_H\n#define PIPELINE_%s_H\n\n"
             "#include \"program/program.h\"\n\n"
             "/* Valid for the life of the process. */\n"
             "const Program *pipeline_%s(void);\n\n#endif\n",
             name, name, name);
}

/* ---- running the compiler ---------------------------------------------------------------- */

static _Atomic pid_t compiler; /* 0: none runs */

/* A compiler that goes on would write what is gone; the signal has come to this process alone. */
static void stop_compiler(void)
{
    pid_t pid = atomic_load(&compiler);
    if (pid > 0 && kill(-pid, SIGTERM) == 0) {
        (void)waitpid(pid, NULL, 0);
    }
}

/* In a group of its own, which the programs that it starts belong to. */
static void become_compiler(char *const *argv, int source)
{
    (void)setpgid(0, 0);
    if (dup2(source, STDIN_FILENO) == STDIN_FILENO) {
        execvp(argv[0], argv);
    }
    fprintf(stderr, "pipec: there is no C compiler '%s'; install gcc, or set CC\n", argv[0]);
    _exit(127);
}

/* The compiler reads the source from its standard input, so that no file of it can be left behind. */
static bool run_compiler(char *const *argv, const Str *source, Err *err)
{
    int ends[2];
    if (pipe(ends) != 0) {
        return err_set(err, CODE_OUTPUT, "cannot start %s: %s", argv[0], strerror(errno));
    }
    (void)fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    pid_t pid = fork();
    if (pid == 0) {
        become_compiler(argv, ends[0]);
    }
    close(ends[0]);
    if (pid < 0) {
        close(ends[1]);
        return err_set(err, CODE_OUTPUT, "cannot start %s: %s", argv[0], strerror(errno));
    }
    (void)setpgid(pid, pid); /* whoever of the two is first */
    atomic_store(&compiler, pid);
    bool ok = file_put(ends[1], source->at, source->n);
    close(ends[1]);
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    atomic_store(&compiler, 0);
    if (signals_interrupted()) {
        return err_set(err, CODE_INTERRUPTED, "interrupted");
    }
    if (!ok || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        return err_set(err, CODE_OUTPUT, "the C compiler %s failed", argv[0]);
    }
    return true;
}

static bool link_executable(const Str *source, const char *to, Err *err)
{
    Places p;
    TRY(find_runtime(&p, err));
    const char *cc = getenv("CC") != NULL ? getenv("CC") : "cc";
    char include[PATH_MAX + 8], temp[PATH_MAX];
    int fd;
    snprintf(include, sizeof include, "-I%s", p.include);
    TRY(file_temp(to, temp, sizeof temp, &fd, err));
    close(fd); /* the linker replaces the empty file */
    const char *argv[] =
        {cc,     "-std=c11", "-O1",  "-Wl,--strip-debug", PIPEC_CC_FLAGS, include, "-x", "c", "-", "-x",
         "none", p.runtime,  p.base, PIPEC_CC_LIBRARIES,  "-o",           temp,    NULL};
    signals_at_end(stop_compiler);
    if (!run_compiler((char *const *)argv, source, err)) {
        file_discard(temp, -1);
        return false;
    }
    return file_commit(temp, to, -1, err);
}

static bool is_program(const unsigned char *head, size_t n)
{
    return n >= 4 && memcmp(head, "\177ELF", 4) == 0;
}

static bool is_made_here(const unsigned char *head, size_t n)
{
    return n >= sizeof MADE - 1 && memcmp(head, MADE, sizeof MADE - 1) == 0;
}

static bool check_replaced(const char *path, bool (*is_ours)(const unsigned char *head, size_t n), Err *err)
{
    return file_may_replace(path, is_ours) ||
           err_set(err, CODE_USAGE,
                   "'%s' is there already and was not made by pipec; choose another name with -o, or delete it first",
                   path);
}

static bool build_executable(Compilation *c, const char *to, Err *err)
{
    TRY(check_replaced(to, is_program, err));
    file_sweep_beside(to);
    Str text;
    str_init(&text, &c->arena);
    executable_text(c, &text);
    return link_executable(&text, to, err);
}

static bool build_library(Compilation *c, const char *to, Err *err)
{
    const char *slash = strrchr(to, '/');
    const char *name = slash != NULL ? slash + 1 : to;
    Str source, header;
    str_init(&source, &c->arena);
    str_init(&header, &c->arena);
    library_text(c, name, &source, &header);
    const char *source_path = arena_printf(&c->arena, "%s.c", to), *header_path = arena_printf(&c->arena, "%s.h", to);
    TRY(check_replaced(source_path, is_made_here, err) && check_replaced(header_path, is_made_here, err));
    TRY(file_write(source_path, source.at, source.n, err));
    return file_write(header_path, header.at, header.n, err);
}

typedef struct BuildOptions {
    const char *path, *to, *device;
    const char *shapes[MOST_SHAPES];
    int n_shapes;
    bool library;
} BuildOptions;

static bool same_file(const char *a, const char *b)
{
    struct stat one, other;
    return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

static bool take_options(int argc, char **argv, BuildOptions *o)
{
    *o = (BuildOptions){.path = NULL};
    for (int i = 1; i < argc; i++) {
        if (take_value(argc, argv, &i, "-o", &o->to) || take_value(argc, argv, &i, "--output", &o->to) ||
            take_value(argc, argv, &i, "--for", &o->device)) {
            continue;
        }
        if (o->n_shapes < MOST_SHAPES && take_value(argc, argv, &i, "--shape", &o->shapes[o->n_shapes])) {
            o->n_shapes++;
        } else if (strcmp(argv[i], "--library") == 0) {
            o->library = true;
        } else if (argv[i][0] == '-' || o->path != NULL) {
            usage_error("build: '%s' is not known here, or lacks its value; pipec build FILE.pipe -o NAME [--library] "
                        "[--for DEVICE --shape 2048x2048:u16...]",
                        argv[i]);
            return false;
        } else {
            o->path = argv[i];
        }
    }
    if (o->path == NULL) {
        usage_error("which pipeline? pipec build FILE.pipe -o NAME");
        return false;
    }
    if (o->to != NULL && o->to[0] == '\0') {
        usage_error("build: -o needs a NAME");
        return false;
    }
    if (o->to != NULL && same_file(o->path, o->to)) {
        usage_error("build: -o %s is the pipeline itself; choose another name", o->to);
        return false;
    }
    if ((o->device != NULL) != (o->n_shapes > 0)) {
        usage_error("build: --for DEVICE and --shape 2048x2048:u16 go together: kernels are compiled for images "
                    "of a shape");
        return false;
    }
    return true;
}

int cmd_build(int argc, char **argv)
{
    CompileOptions options;
    BuildOptions own;
    if (!take_compile_options(&argc, argv, &options) || !take_options(argc, argv, &own)) {
        return CODE_USAGE;
    }
    if (own.device != NULL && !options.planned_for) {
        options.measured = figures_of_device(own.device, &options.plan_for, options.tuned_for);
    }
    Compilation c;
    int code = CODE_USAGE;
    if (compile(&c, own.path, &options, STAGE_PROGRAM)) {
        Err err = {0};
        const char *to = own.to != NULL ? own.to : c.program->name;
        add_variants(&c);
        bool ok = own.device == NULL || add_binaries(&c, own.device, own.shapes, own.n_shapes, &err);
        ok = ok && (own.library ? build_library(&c, to, &err) : build_executable(&c, to, &err));
        if (ok && own.library) {
            printf("%s.c and %s.h: the pipeline for C programs\n", to, to);
        } else if (ok) {
            printf("%s: an executable; its --help lists the options\n", to);
        }
        code = ok ? CODE_OK : complain(&err);
    }
    compile_free(&c);
    return code;
}
