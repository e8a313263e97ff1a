/* pipeline: text to a pipeline, and what there is to say of it. */
#include "library.h"

#include "../base/stack.h"
#include "../ir/text.h"
#include "../runtime/command/describe.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the compiler */
static jmp_buf no_memory;                                /* under it */

const char *pipec_version(void)
{
    return PIPEC_VERSION;
}

int library_code(const Err *err, PipecError *error)
{
    if (error != NULL) {
        error->code = err->code;
        memcpy(error->text, err->text, sizeof error->text);
    }
    return err->code;
}

/* ---- the compiler ---------------------------------------------------------------------- */

typedef struct Work {
    LibraryWork *work;
    void *context;
    Err *err;
} Work;

static int do_work(void *context)
{
    Work *w = context;
    if (setjmp(no_memory) != 0) {
        return err_set(w->err, CODE_MEMORY, "out of memory");
    }
    return w->work(w->context, w->err);
}

bool library_compiler(LibraryWork *work, void *context, Err *err)
{
    Work w = {work, context, err};
    pthread_mutex_lock(&lock);
    bool ok = stack_run(do_work, &w) != 0;
    pthread_mutex_unlock(&lock);
    return ok;
}

jmp_buf *library_no_memory(void)
{
    return &no_memory;
}

/* ---- pipelines ------------------------------------------------------------------------- */

typedef struct Text {
    const char *path, *at;
    size_t size;
    PipecPipeline *to;
} Text;

static bool compile_pipeline(void *context, Err *err)
{
    const Text *text = context;
    Compilation *c = &text->to->c;
    CompileOptions options = {.fuse = FUSE_ALL, .plan_for = *figures_known(NULL)};
    compile_begin(c, &options, library_no_memory());
    if (text->at != NULL) {
        char *copy = arena_strndup(&c->arena, text->at, text->size); /* it need not end with a NUL */
        compile_text(c, text->path != NULL ? text->path : "pipeline", copy, text->size);
    } else {
        TRY(compile_file(c, text->path, err));
    }
    text->to->right = compile_to(c, STAGE_PROGRAM, err);
    return text->to->right || err->code != CODE_OK || err_set(err, CODE_USAGE, "the pipeline has mistakes");
}

int pipec_compile(const char *path, const char *text, size_t size, PipecPipeline **out, PipecError *error)
{
    Err err = {0};
    *out = NULL;
    PipecPipeline *p = calloc(1, sizeof *p);
    if (p == NULL) {
        err_set(&err, CODE_MEMORY, "out of memory");
    } else if (path == NULL && text == NULL) {
        err_set(&err, CODE_USAGE, "neither a text nor the path of a pipeline is given");
    } else {
        p->references = 1;
        (void)library_compiler(compile_pipeline, &(Text){path, text, size, p}, &err);
    }
    if (p != NULL && (p->right || p->c.diags.errors > 0)) {
        *out = p;
    } else if (p != NULL) {
        compile_free(&p->c);
        free(p);
    }
    return library_code(&err, error);
}

PipecPipeline *library_hold(PipecPipeline *p)
{
    pthread_mutex_lock(&lock);
    p->references++;
    pthread_mutex_unlock(&lock);
    return p;
}

void pipec_pipeline_free(PipecPipeline *p)
{
    if (p == NULL) {
        return;
    }
    pthread_mutex_lock(&lock);
    bool last = --p->references == 0;
    pthread_mutex_unlock(&lock);
    if (last) {
        compile_free(&p->c);
        free(p);
    }
}

bool library_is_right(const PipecPipeline *p, Err *err)
{
    return p->right || err_set(err, CODE_USAGE, "the pipeline has mistakes");
}

/* ---- texts ----------------------------------------------------------------------------- */

bool library_text(void (*put)(FILE *to, const void *of), const void *of, char **out, Err *err)
{
    size_t size;
    FILE *to = open_memstream(out, &size);
    if (to == NULL) {
        return err_set(err, CODE_MEMORY, "out of memory");
    }
    put(to, of);
    bool ok = fclose(to) == 0;
    return ok || err_set(err, CODE_MEMORY, "out of memory");
}

static void put_description(FILE *to, const void *of)
{
    describe_json(of, to);
}

typedef struct Wanted {
    PipecPipeline *of;
    int what;
    char **out;
    Arena arena;
} Wanted;

static void add_text(PipecPipeline *p, int what, Str *text)
{
    Compilation *c = &p->c;
    switch (what) {
    case PIPEC_MISTAKES:
        diags_render(&c->diags, text, false, 0);
        break;
    case PIPEC_MISTAKES_JSON:
        diags_render_json(&c->diags, text);
        break;
    case PIPEC_SOURCE:
        str_add(text, c->source.text);
        break;
    case PIPEC_KERNELS:
        cg_show_kernels(c->program, text);
        break;
    case PIPEC_GRAPH:
        ir_print_dot(c->graph, text);
        break;
    case PIPEC_IR:
        ir_print(c->lowered, text);
        break;
    }
}

static bool make_text(void *context, Err *err)
{
    Wanted *w = context;
    TRY(w->what == PIPEC_MISTAKES || w->what == PIPEC_MISTAKES_JSON || library_is_right(w->of, err));
    if (w->what < 0 || w->what > PIPEC_IR) {
        return err_set(err, CODE_USAGE, "there is no text number %d", w->what);
    }
    if (w->what == PIPEC_DESCRIPTION) {
        return library_text(put_description, w->of->c.program, w->out, err);
    }
    Str text;
    w->arena.out_of_memory = library_no_memory();
    str_init(&text, &w->arena);
    add_text(w->of, w->what, &text);
    *w->out = strdup(text.at);
    return *w->out != NULL || err_set(err, CODE_MEMORY, "out of memory");
}

int pipec_text(PipecPipeline *pipeline, int what, char **out, PipecError *error)
{
    Err err = {0};
    Wanted wanted = {.of = pipeline, .what = what, .out = out};
    *out = NULL;
    arena_init(&wanted.arena);
    (void)library_compiler(make_text, &wanted, &err);
    arena_free(&wanted.arena);
    return library_code(&err, error);
}

void pipec_text_free(char *text)
{
    free(text);
}
