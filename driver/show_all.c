/*
 * show_all: `pipec show --kernels=all`, one text that a compiler takes by itself.
 *
 * What a run writes in front of each kernel stands once here: the texts of the library, for the shape that kernels
 * have on GPUs.  Numbers and tables that a run gives follow from the parameters' defaults, and from images
 * of 2048 x 2048 pixels of 16 bits.  A name that an earlier kernel has taken gets a number.
 */
#include "driver.h"

#include "../base/user_text.h"
#include "../runtime/exec/exec_plan.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef Vec(const char *) Words;

static ExecInput *usual_inputs(const Program *program, Arena *arena)
{
    enum { WIDE = 2048, DEEP = 64, CHANNELS = 3 };
    ExecInput *inputs = arena_array(arena, ExecInput, program->n_inputs + 1);
    for (int i = 0; i < program->n_inputs; i++) {
        const char *axes = program->inputs[i].axes;
        const Elem elem = program->inputs[i].elem;
        inputs[i] =
            (ExecInput){.extent = {WIDE, strchr(axes, 'y') != NULL ? WIDE : 1, strchr(axes, 'z') != NULL ? DEEP : 1,
                                   strchr(axes, 'c') != NULL ? CHANNELS : 1},
                        .elem = elem == ELEM_FILE ? ELEM_U16 : elem};
    }
    return inputs;
}

static size_t word_length(const char *p)
{
    size_t n = 0;
    while (isalnum((unsigned char)p[n]) || p[n] == '_') {
        n++;
    }
    return n;
}

/* The function or table that a line declares; NULL: it declares none. */
static const char *declared(const char *line, Arena *arena)
{
    static const char INLINED[] = "__attribute__((always_inline))";
    const bool function = strncmp(line, "static inline ", 14) == 0;
    if (!function && strncmp(line, "constant ", 9) != 0) {
        return NULL;
    }
    const char *attribute = strstr(line, INLINED), *from = line;
    if (attribute != NULL && attribute < line + strcspn(line, "\n")) {
        from = attribute + strlen(INLINED);
    }
    const char *end = from + strcspn(from, "(["), *begin = end;
    while (begin > from && word_length(begin - 1) > 0) {
        begin--;
    }
    return arena_strndup(arena, begin, (size_t)(end - begin));
}

static bool has_word(const Words *words, const char *word)
{
    for (int i = 0; i < words->n; i++) {
        if (strcmp(words->at[i], word) == 0) {
            return true;
        }
    }
    return false;
}

static const char *next_line(const char *line)
{
    line += strcspn(line, "\n");
    return *line != '\0' ? line + 1 : line;
}

/* A kernel with other names in the place of those that are taken, and without a macro at its end. */
static void add_kernel(const char *text, int number, Words *taken, Str *out)
{
    Words macros = {0}, own = {0};
    for (const char *line = text; *line != '\0'; line = next_line(line)) {
        const char *name = declared(line, out->arena);
        if (name != NULL && has_word(taken, name)) {
            str_addf(out, "#define %s %s_%d\n", name, name, number);
            vec_push(out->arena, &macros, name);
        } else if (name != NULL) {
            vec_push(out->arena, &own, name);
        }
        if (strncmp(line, "#define ", 8) == 0) {
            const char *macro = arena_strndup(out->arena, line + 8, word_length(line + 8));
            if (strcmp(macro, "ROW_START") != 0 && !has_word(&macros, macro)) {
                vec_push(out->arena, &macros, macro);
            }
        }
    }
    str_add(out, text);
    for (int i = 0; i < macros.n; i++) {
        str_addf(out, "#undef %s\n", macros.at[i]);
    }
    for (int i = 0; i < own.n; i++) {
        vec_push(out->arena, taken, own.at[i]);
    }
}

static bool add_kernels(const ExecPlan *plan, Str *out, Err *err)
{
    const Program *p = plan->program;
    Words taken = {0};
    for (int i = 0; i < p->n_kernels; i++) {
        char *defines = NULL;
        size_t size;
        FILE *to = open_memstream(&defines, &size);
        if (to == NULL) {
            return err_set(err, CODE_MEMORY, "out of memory for the kernels");
        }
        bool ok = host_defines(p, &plan->host, p->kernels[i].defines, p->kernels[i].n_defines, UINT64_MAX, to, err);
        ok = (fclose(to) == 0 || err_set(err, CODE_MEMORY, "out of memory for the kernels")) && ok;
        str_add(out, "\n");
        if (ok) {
            add_kernel(arena_printf(out->arena, "%s%s", defines, p->kernels[i].source), i, &taken, out);
        }
        free(defines);
        TRY(ok);
    }
    return true;
}

bool show_all_kernels(Compilation *c, Str *out, Err *err)
{
    ExecTarget target = exec_target(NULL);
    ExecPlan *plan = NULL;
    target.limit = 0;
    TRY(exec_plan_new(c->program, &target, usual_inputs(c->program, &c->arena), default_params(c->program, &c->arena),
                      &plan, err));
    str_addf(out,
             "#pragma OPENCL FP_CONTRACT OFF\n#define RUNS_AHEAD %d\n#define PX %d\n#define LX %d\n"
             "#define EPILOGUE 1\n%s",
             exec_plan_runs_ahead(plan, &target), target.px, target.lx, c->program->library);
    bool ok = add_kernels(plan, out, err);
    exec_plan_free(plan);
    return ok;
}
