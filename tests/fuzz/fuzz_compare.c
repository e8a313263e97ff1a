/*
 * fuzz_compare: any text as a pipeline, and what it computes: the passes, the printed and the formatted text, the program and
 * a run on the device all have to give what the evaluator gives, bit for bit (../random/check.h).  One kernel takes the
 * driver longer than all the rest, so this target is slow.
 */
#include "fuzz.h"

#include "codegen/codegen.h"
#include "frontend/syntax/ast.h"
#include "frontend/diag/diag.h"
#include "tests/random/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool open_device(const char *choice, Device **dev)
{
    Err err = {0};
    const DevOptions options = {.choice = choice, .flags = getenv("PIPEC_TEST_FLAGS")};
    return dev_open(&options, dev, &err) || (fprintf(stderr, "%s\n", err.text), false);
}

/* PIPEC_TEST_DEVICE, as in unit tests; else a CPU, and where there is none the best. */
static Device *device(void)
{
    static Device *dev;
    const char *choice = getenv("PIPEC_TEST_DEVICE");
    if (dev == NULL && !open_device(choice != NULL ? choice : "cpu", &dev) && !open_device(NULL, &dev)) {
        abort();
    }
    return dev;
}

/* Which way of running, and with which images: other ones for other texts, the same for one. */
static unsigned number_of(const uint8_t *data, size_t size)
{
    unsigned n = 5381;
    for (size_t i = 0; i < size; i++) {
        n = n * 33 + data[i];
    }
    return n >> 4;
}

static bool is_text(const char *text, size_t size)
{
    Arena arena;
    Diags diags;
    arena_init(&arena);
    const Source *source = source_new(&arena, "fuzz.pipe", text);
    diags_init(&diags, &arena);
    bool ok = fe_check_text(source, size, &diags);
    arena_free(&arena);
    return ok;
}

/* The program as C, which nothing else makes of it. */
static void emit(const char *text)
{
    Arena arena;
    Str out;
    arena_init(&arena);
    str_init(&out, &arena);
    IrGraph *g = subject_compile(&arena, text);
    if (g != NULL) {
        PassContext cx = {.fuse = FUSE_ALL, .verify = true};
        cg_emit_c(cg_program(g, pass_run_all(g, &cx), "0123456789abcdef0123456789abcdef"), "program", &out);
    }
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const Elem ELEMS[] = {ELEM_U8, ELEM_U16, ELEM_F32};
    static Subject subject;
    unsigned n = number_of(data, size);
    char *text = fuzz_text(data, size);
    if (size < sizeof subject.text && is_text(text, size)) {
        subject = (Subject){.cases = {{.extent = {19, 11, 3, 2}, .n_images = SUBJECT_INPUTS}}, .n_cases = 1};
        for (int i = 0; i < SUBJECT_INPUTS; i++) {
            subject.cases[0].images[i] = (SubjectImage){ELEMS[n % 3], (BothKind)(n / 3 % BOTH_KINDS), n + (unsigned)i};
        }
        strcpy(subject.text, text);
        emit(text);
        const Checks checks = {.graphs = ~0u,
                               .runs = 1u << (n % (unsigned)CHECK_VARIANTS_N),
                               .cases = 1,
                               .dev = device()};
        Verdict at, verdict = check_subject(&subject, &checks, &at);
        if (verdict.outcome > CHECK_REFUSED) {
            fprintf(stderr, "%s, %s: %s\n", CHECK_NAMES[verdict.outcome], CHECK_VARIANTS[verdict.variant].name,
                    verdict.why);
            fprintf(stderr, "%s\n", text); /* drivers catch the signal that would make a file of it */
            abort();
        }
    }
    free(text);
    return 0;
}
