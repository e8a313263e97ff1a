/*
 * random_pipelines: draws pipelines, checks them, shrinks those that fail.
 *
 *   random_pipelines --seeds 1..1000                      as graphs: thousands a minute
 *   random_pipelines --seeds 1..40 --device               on a device too
 *   random_pipelines --seeds 1..100000 --hours 8 --device until the time is over
 *   random_pipelines --seeds 1..40 --device --quick       kernels compiled without optimisation, and fewer: each
 *                                                         seed runs in one way with one case, files in fewer plans
 *   random_pipelines --seeds 1..40 --device --renamed     each with names of generated code, not one in three
 *   random_pipelines --seeds 1..40 --device --small       of one statement or two
 *   random_pipelines --seeds 1..200 --device --variant "all under a limit"
 *   random_pipelines FILE.pipe...  [--device] [--shrink]  files as shrinking writes them
 *   random_pipelines --seeds 7 --print                    only the pipeline
 *
 * A failing seed is shrunk and written to --out DIR (here), with the command that shows it.  All
 * work is done in a child process: what crashes there is a finding.  The exit code is 1 when
 * something was found.  PIPEC_TEST_DEVICE names another device than the CPU, PIPEC_TEST_FLAGS other options for its
 * compiler than those of --quick.
 */
#include "check.h"
#include "child.h"
#include "draw.h"
#include "generate.h"
#include "shrink.h"

#include "base/file.h"
#include "frontend/ops/ops.h"
#include "tests/support/turn.h"

#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LOCAL_BYTES = 48 << 10 }; /* what the kernels for GPUs are made for */
enum { DEVICE_SEEDS = 25, LIMIT_SECONDS = 200, SHRINK_GRAPH = 1500, SHRINK_RUN = 150 };

typedef struct Options {
    unsigned first, last;
    bool device, quick, print, coverage, shrink;
    GenerateHow how;
    double hours;
    time_t begin;
    const char *out, *variant; /* variant: a name of CHECK_VARIANTS; NULL: by the seed */
} Options;

/* What the child tells while it works. */
typedef struct Shared {
    unsigned seed, last;
    unsigned checked, refused;
    uint64_t compiled; /* programs */
    bool device;
    unsigned variants; /* 0: chosen by the seed */
    Subject subject;
    Verdict verdict;
    Coverage coverage;
} Shared;

static Options options = {.out = "."};
static Shared *shared;

/* ---- in the child ------------------------------------------------------------------------ */

static Device *open_device(void)
{
    Device *dev = NULL;
    Err err = {0};
    const char *wanted = getenv("PIPEC_TEST_DEVICE"), *flags = getenv("PIPEC_TEST_FLAGS");
    const DevOptions how = {.choice = wanted != NULL ? wanted : "cpu",
                            .local_limit = LOCAL_BYTES,
                            .flags = flags != NULL   ? flags
                                     : options.quick ? "-cl-opt-disable"
                                                     : NULL};
    if (!dev_open(&how, &dev, &err)) {
        fprintf(stderr, "%s\n", err.text);
        exit(EXIT_FAILURE);
    }
    return dev;
}

enum { ALL_CASES = (1 << SUBJECT_CASES) - 1 };

/* The case with the most to cut. */
static int longest_case(const Subject *subject)
{
    int longest = 0;
    for (int i = 1; i < subject->n_cases; i++) {
        const int *e = subject->cases[i].extent, *most = subject->cases[longest].extent;
        longest = e[IR_AX_Y] * e[IR_AX_Z] > most[IR_AX_Y] * most[IR_AX_Z] ? i : longest;
    }
    return longest;
}

/* Nearly all time goes to the driver's compiler, which has other kernels for each way and each case: one of each
 * finds more with more seeds.  Every other seed is cut. */
static void be_quick(unsigned seed, const Subject *subject, Checks *checks)
{
    Draw draw;
    draw_seed(&draw, ~seed); /* what the pipeline is drawn from has another beginning */
    const Variant *way;
    int v;
    bool wanted = draw_chance(&draw, 50);
    do {
        v = (int)draw_below(&draw, (unsigned)CHECK_VARIANTS_N);
        way = &CHECK_VARIANTS[v];
    } while ((way->part_rows > 0 || way->limited) != wanted);
    checks->runs = 1u << v;
    checks->graphs |= checks->runs;
    checks->cases = 1u << (wanted ? longest_case(subject) : (int)draw_below(&draw, (unsigned)subject->n_cases));
}

/* Everything fused, and one other way, another one for each seed. */
static Checks checks_of(unsigned seed, const Subject *subject, Device *dev)
{
    unsigned variants = 1u | 1u << (1 + seed % (unsigned)(CHECK_VARIANTS_N - 1));
    for (int v = 0; options.variant != NULL && v < CHECK_VARIANTS_N; v++) {
        variants = strcmp(CHECK_VARIANTS[v].name, options.variant) == 0 ? 1u << v : variants;
    }
    Checks checks = {variants, dev != NULL ? variants : 0, ALL_CASES, dev, options.quick};
    if (dev != NULL && options.quick && options.variant == NULL) {
        be_quick(seed, subject, &checks);
    }
    return checks;
}

static bool time_is_over(void)
{
    return options.hours > 0 && difftime(time(NULL), options.begin) > options.hours * 3600;
}

/* Seeds from shared->seed to shared->last, until one is wrong. */
static void check_seeds(void *context)
{
    (void)context;
    Device *dev = shared->device ? open_device() : NULL;
    for (; shared->seed <= shared->last && !time_is_over(); shared->seed++) {
        if (!turn_has((int)shared->seed)) {
            continue;
        }
        child_limit(LIMIT_SECONDS);
        shared->verdict = (Verdict){.outcome = CHECK_SAME};
        generate(shared->seed, options.how, &shared->subject, &shared->coverage);
        const Checks checks = checks_of(shared->seed, &shared->subject, dev);
        check_subject(&shared->subject, &checks, &shared->verdict);
        shared->checked++;
        shared->refused += shared->verdict.outcome == CHECK_REFUSED;
        if (shared->verdict.outcome > CHECK_REFUSED) {
            break;
        }
    }
    shared->compiled += dev != NULL ? dev_builds(dev) : 0;
    dev_close(dev);
}

/* The ways to run a plan.  With --quick, a file's other plans are tried as graphs only: their kernels take long
 * to compile. */
static unsigned quick_variants(void)
{
    unsigned variants = 0;
    for (int v = 0; v < CHECK_VARIANTS_N; v++) {
        bool plan = CHECK_VARIANTS[v].without != NULL || CHECK_VARIANTS[v].figures != NULL;
        variants |= plan ? 0 : 1u << v;
    }
    return variants;
}

static void check_one(void *context)
{
    (void)context;
    child_limit(LIMIT_SECONDS);
    Device *dev = shared->device ? open_device() : NULL;
    assert(CHECK_VARIANTS_N <= 32); /* a bit each; more want wider numbers */
    unsigned all = UINT_MAX >> (32 - CHECK_VARIANTS_N);
    unsigned variants = shared->variants != 0 ? shared->variants : all;
    unsigned runs = shared->variants == 0 && options.quick ? quick_variants() : variants;
    const Checks checks = {variants, dev != NULL ? runs : 0, ALL_CASES, dev, false};
    check_subject(&shared->subject, &checks, &shared->verdict);
    dev_close(dev);
}

/* ---- findings ---------------------------------------------------------------------------- */

/* Does the work in a child; how that ends may be the verdict. */
static void run_child(void (*work)(void *context))
{
    char said[400];
    ChildEnd end = child_run(work, NULL, said, sizeof said);
    if (end == CHILD_CRASHED || end == CHILD_NONE) {
        shared->verdict.outcome = CHECK_CRASHES;
        snprintf(shared->verdict.why, sizeof shared->verdict.why, "%s", said);
    } else if (end == CHILD_LATE) {
        shared->verdict.outcome = CHECK_HANGS;
    }
}

/* Of a crash by assertion also the assertion. */
static bool is_alike(const Verdict *a, const Verdict *b)
{
    const char *p = strstr(a->why, "Assertion"), *q = strstr(b->why, "Assertion");
    return a->outcome == b->outcome &&
           (a->outcome != CHECK_CRASHES || p == q || (p != NULL && q != NULL && strcmp(p, q) == 0));
}

static bool fails_alike(const Subject *subject, void *context)
{
    const Verdict *wanted = context;
    shared->subject = *subject;
    shared->verdict = (Verdict){.outcome = CHECK_SAME};
    run_child(check_one);
    return is_alike(&shared->verdict, wanted);
}

static void report(const Subject *subject, const Verdict *v, const char *path)
{
    Arena arena;
    arena_init(&arena);
    Str text;
    Err err = {0};
    str_init(&text, &arena);
    str_addf(&text, "# %s, %s as a %s: ", CHECK_NAMES[v->outcome], CHECK_VARIANTS[v->variant].name,
             v->on_device ? "run" : "graph");
    for (const char *p = v->why; *p != '\0'; p++) { /* a compiler's words have lines */
        str_addf(&text, *p == '\n' ? "%c# " : "%c", *p);
    }
    str_add(&text, "\n");
    subject_write(subject, &text);
    if (!file_write(path, text.at, text.n, &err)) {
        fprintf(stderr, "%s\n", err.text);
    }
    printf("%s\n  random_pipelines%s %s\n", text.at, v->on_device ? " --device" : "", path);
    arena_free(&arena);
}

/* What shared holds is wrong: made small, and written. */
static void investigate(const char *name)
{
    Subject *subject = malloc(sizeof *subject);
    Verdict verdict = shared->verdict, small = verdict;
    char path[400];
    if (subject == NULL) {
        abort();
    }
    *subject = shared->subject;
    printf("%s %s (%s as a %s: %s)\n", name, CHECK_NAMES[verdict.outcome], CHECK_VARIANTS[verdict.variant].name,
           verdict.on_device ? "run" : "graph", verdict.why);
    fflush(stdout);
    bool device = shared->device;
    shared->device = verdict.on_device;
    shared->variants = 1u << verdict.variant;
    if (verdict.outcome != CHECK_HANGS && fails_alike(subject, &verdict)) {
        shrink(subject, fails_alike, &verdict, verdict.on_device ? SHRINK_RUN : SHRINK_GRAPH);
        fails_alike(subject, &verdict);
        small = shared->verdict;
    }
    snprintf(path, sizeof path, "%s/%s.pipe", options.out, name);
    report(subject, &small, path);
    shared->device = device;
    shared->variants = 0;
    free(subject);
}

/* ---- seeds ------------------------------------------------------------------------------- */

static int run_seeds(void)
{
    int findings = 0;
    shared->device = options.device;
    for (unsigned seed = options.first; seed <= options.last && !time_is_over();) {
        unsigned chunk = seed + (options.device ? DEVICE_SEEDS : 1000) - 1;
        shared->seed = seed;
        shared->last = chunk < options.last ? chunk : options.last;
        run_child(check_seeds);
        seed = shared->seed;
        if (shared->verdict.outcome > CHECK_REFUSED) {
            char name[32];
            snprintf(name, sizeof name, "seed_%u", seed++);
            investigate(name);
            findings++;
        }
    }
    printf("%u pipelines, %u of them refused, %d wrong, %llu programs compiled\n", shared->checked, shared->refused,
           findings, (unsigned long long)shared->compiled);
    return findings;
}

static int uncovered_words(const Op *op, int i, const unsigned drawn[COVERAGE_WORDS])
{
    int missing = 0, k = 0;
    for (const char *p = op->param[i].choices; p != NULL; p = strchr(p, '|') ? strchr(p, '|') + 1 : NULL, k++) {
        if (drawn[k] == 0) {
            printf("never drawn: %s, %s = %.*s\n", op->name, op->param[i].name, (int)strcspn(p, "|"), p);
            missing++;
        }
    }
    return missing;
}

static int uncovered_arguments(const Op *op, const Coverage *coverage)
{
    int missing = 0;
    for (int i = 0; i < op->n_params; i++) {
        const OpParam *param = &op->param[i];
        const unsigned *drawn = coverage->type[op->index][i];
        missing += uncovered_words(op, i, coverage->word[op->index][i]);
        for (int type = 0; type < OP_TYPES; type++) {
            if ((param->types >> type & 1) != 0 && drawn[type] == 0) {
                printf("never drawn: %s, %s as %s\n", op->name, param->name, ops_type_name(1u << type));
                missing++;
            }
        }
        if (param->value != NULL && !param->rest && drawn[OP_TYPES] == 0) {
            printf("never drawn: %s without %s\n", op->name, param->name);
            missing++;
        }
    }
    return missing;
}

/* Operators that no accepted statement of these seeds called, and arguments that none of them gave. */
static int uncovered(void)
{
    Arena arena;
    arena_init(&arena);
    const Ops *ops = ops_load(&arena);
    int missing = 0;
    for (int i = 0; i < ops->n; i++) {
        if (shared->coverage.op[i] == 0) {
            printf("never drawn: %s\n", ops->at[i].name);
            missing++;
        } else {
            missing += uncovered_arguments(&ops->at[i], &shared->coverage);
        }
    }
    arena_free(&arena);
    return missing;
}

static int print_seeds(void)
{
    for (unsigned seed = options.first; seed <= options.last; seed++) {
        Arena arena;
        Str text;
        arena_init(&arena);
        str_init(&text, &arena);
        generate(seed, options.how, &shared->subject, &shared->coverage);
        subject_write(&shared->subject, &text);
        printf("# seed %u\n%s\n", seed, text.at);
        arena_free(&arena);
    }
    return 0;
}

/* ---- files ------------------------------------------------------------------------------- */

/* As graphs: everything fused, and the variants whose turn it is, others for each file. */
static unsigned variants_in_turn(int number)
{
    unsigned variants = 1;
    for (int v = 0; v < CHECK_VARIANTS_N; v++) {
        variants |= turn_has(number + v) ? 1u << v : 0;
    }
    return variants;
}

static bool check_file(const char *path, int number)
{
    char *text;
    size_t size;
    Err err = {0};
    if (!file_read(path, &text, &size, &err)) {
        printf("%s\n", err.text);
        return false;
    }
    bool readable = subject_read(&shared->subject, text);
    free(text);
    shared->verdict = (Verdict){.outcome = CHECK_REFUSED};
    shared->variants = options.device ? 0 : variants_in_turn(number);
    if (readable) {
        run_child(check_one);
    }
    const Verdict *v = &shared->verdict;
    bool fine = v->outcome == CHECK_SAME;
    if (!fine) {
        printf("%s: %s (%s as a %s: %s)\n", path, CHECK_NAMES[v->outcome], CHECK_VARIANTS[v->variant].name,
               v->on_device ? "run" : "graph", v->why);
    }
    if (!fine && options.shrink) {
        investigate("shrunk");
    }
    return fine;
}

/* ---- the command line -------------------------------------------------------------------- */

static bool take_seeds(const char *text)
{
    int n = sscanf(text, "%u..%u", &options.first, &options.last);
    options.last = n == 1 ? options.first : options.last;
    return n >= 1 && options.first <= options.last;
}

/* Files are left at the front of argv. */
static bool take_options(int *argc, char **argv)
{
    int files = 1;
    bool ok = true;
    for (int i = 1; i < *argc; i++) {
        const char *value = i + 1 < *argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--seeds") == 0) {
            ok = take_seeds(value) && ok;
            i++;
        } else if (strcmp(argv[i], "--hours") == 0) {
            options.hours = atof(value);
            i++;
        } else if (strcmp(argv[i], "--out") == 0) {
            options.out = value;
            i++;
        } else if (strcmp(argv[i], "--variant") == 0) {
            options.variant = value;
            i++;
        } else if (strcmp(argv[i], "--device") == 0) {
            options.device = true;
        } else if (strcmp(argv[i], "--quick") == 0) {
            options.quick = true;
        } else if (strcmp(argv[i], "--renamed") == 0) {
            options.how.renamed = true;
        } else if (strcmp(argv[i], "--small") == 0) {
            options.how.small = true;
        } else if (strcmp(argv[i], "--coverage") == 0) {
            options.coverage = true;
        } else if (strcmp(argv[i], "--shrink") == 0) {
            options.shrink = true;
        } else if (strcmp(argv[i], "--print") == 0) {
            options.print = true;
        } else {
            ok = ok && argv[i][0] != '-';
            argv[files++] = argv[i];
        }
    }
    *argc = files;
    return ok && (files > 1 || options.last > 0);
}

int main(int argc, char **argv)
{
    shared = child_shared(sizeof *shared);
    if (shared == NULL || !take_options(&argc, argv)) {
        fprintf(stderr, "random_pipelines --seeds A..B [--hours H] [--device] [--quick] [--renamed] [--small] "
                        "[--coverage] [--print] [--out DIR] | FILE.pipe... [--device] [--shrink]\n");
        return 2;
    }
    int wrong = 0;
    options.begin = time(NULL);
    shared->device = options.device;
    for (int i = 1; i < argc; i++) {
        wrong += (!options.device || turn_has(i)) && !check_file(argv[i], i);
    }
    if (options.last > 0) {
        wrong += options.print ? print_seeds() : run_seeds();
        wrong += options.coverage ? uncovered() : 0;
    }
    return wrong > 0;
}
