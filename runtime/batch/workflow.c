/*
 * workflow: shards are as many as make a shard take some minutes.  Each leaves its list (shard.h) when it has ended, which
 * is what the workflow waits for; `--resume` makes a retry go on, and 75 is what is worth one.
 */
#include "workflow.h"

#include "../../base/json.h"
#include "resources.h"
#include "results.h"
#include "../command/shell.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { SHARD_SECONDS = 600, MOST_SHARDS = 1000, RETRIES = 3 };

typedef struct Workflow {
    const Program *program;
    const Options *options;
    BatchList list;
    Resources needs; /* of all images */
    int shards, minutes;
    bool gpu;
    char **again; /* the options of the run, as words */
    int n_again;
    Err *err;
} Workflow;

/* ---- the options once more ----------------------------------------------------------------- */

/* What the workflow says itself, or what is not for it. */
static bool is_own(const char *name)
{
    static const char *const OWN[] = {"output",     "memory",  "host-memory", "shard",       "resume",
                                      "keep-going", "merge",   "quiet",       "profile",     "check",
                                      "describe",   "dry-run", "resources",   "shape",       "snakefile",
                                      "sbatch",     "help",    "version",     "dump-kernels"};
    bool own = false;
    for (size_t i = 0; i < sizeof OWN / sizeof *OWN; i++) {
        own = own || strcmp(name, OWN[i]) == 0;
    }
    return own;
}

__attribute__((format(printf, 2, 3))) static bool add_word(Workflow *w, const char *format, ...)
{
    va_list ap, again;
    va_start(ap, format);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, format, ap);
    char **more = realloc(w->again, (size_t)(w->n_again + 1) * sizeof *more);
    char *word = malloc((size_t)n + 1);
    bool ok = n >= 0 && more != NULL && word != NULL;
    w->again = more != NULL ? more : w->again;
    if (ok) {
        vsnprintf(word, (size_t)n + 1, format, again);
        w->again[w->n_again++] = word;
    } else {
        free(word);
    }
    va_end(again);
    va_end(ap);
    return ok || err_set(w->err, CODE_MEMORY, "out of memory");
}

static bool add_row(Workflow *w, const OptionRow *row)
{
    const char *at = (const char *)w->options + row->at;
    const double *um = w->options->pixel_um;
    const char *word;
    size_t n;
    int number;
    switch (row->kind) {
    case OPTION_FLAG:
        return !*(const bool *)at || add_word(w, "--%s", row->name);
    case OPTION_TEXT:
        return *(const char *const *)at == NULL || add_word(w, "--%s=%s", row->name, *(const char *const *)at);
    case OPTION_COUNT:
        return *(const int *)at == 0 || add_word(w, "--%s=%d", row->name, *(const int *)at);
    case OPTION_WORD:
        memcpy(&number, at, sizeof number);
        word = options_word(row->argument, number, &n);
        return number == 0 || add_word(w, "--%s=%.*s", row->name, (int)n, word);
    case OPTION_LENGTHS:
        return !(um[0] > 0) || add_word(w, um[2] > 0 ? "--%s=%.17gum,%.17gum,%.17gum" : "--%s=%.17gum,%.17gum",
                                        row->name, um[0], um[1], um[2]);
    case OPTION_SIZE: /* is_own knows all of these */
    case OPTION_SHARD:
    case OPTION_PROFILE:
    case OPTION_REPORT:
        break;
    }
    return true;
}

static bool take_options(Workflow *w)
{
    const Program *p = w->program;
    char name[128], value[OPTION_VALUE];
    for (int i = 0; i < OPTION_ROW_COUNT; i++) {
        TRY(is_own(OPTION_ROWS[i].name) || add_row(w, &OPTION_ROWS[i]));
    }
    for (int i = 0; i < p->n_params; i++) {
        double given = w->options->params[i];
        options_param_name(p, i, name, sizeof name);
        options_value_text(&p->params[i], given, value);
        TRY((given >= p->params[i].value && given <= p->params[i].value) || add_word(w, "--%s=%s", name, value));
    }
    for (int i = 1; i < p->n_inputs; i++) {
        options_input_name(p, i, name, sizeof name);
        TRY(add_word(w, "--%s=%s", name, w->options->inputs[i]));
    }
    return true;
}

/* ---- what it needs ------------------------------------------------------------------------- */

static bool prepare(Workflow *w, const Program *program, const Options *options, Err *err)
{
    *w = (Workflow){.program = program, .options = options, .list = {.program = program}, .err = err};
    Options one = *options;
    one.keep_going = true;
    one.shard = 1;
    one.shards = 2; /* so that names of both, of a shard and of all, are made */
    TRY(batch_list(program, &one, &w->list, err));
    one.shards = 1;
    BatchList all;
    bool ok = batch_list(program, &one, &all, err) && resources_of(program, &one, &all, &w->needs, err);
    batch_list_free(&all);
    int most = w->list.n_all < MOST_SHARDS ? w->list.n_all : MOST_SHARDS;
    double shards = ceil(w->needs.seconds / SHARD_SECONDS);
    w->shards = options->shards > 1 ? options->shards : shards < 2 ? 2 : shards < most ? (int)shards : most;
    w->shards = w->shards > 1 ? w->shards : 1;
    w->minutes = 10 + (int)ceil(4 * w->needs.seconds / 60 / w->shards);
    w->gpu = options->device == NULL || strncmp(options->device, "cpu", 3) != 0;
    return ok && take_options(w);
}

static void finish(Workflow *w)
{
    for (int i = 0; i < w->n_again; i++) {
        free(w->again[i]);
    }
    free(w->again);
    batch_list_free(&w->list);
}

static uint64_t mebibytes(uint64_t bytes)
{
    return (bytes + (1 << 20) - 1) >> 20;
}

/* How the program is started, and how it merges: "pipec run blobs.pipe" is not one word. */
static bool is_pipeline(const Options *o)
{
    return strncmp(o->command, "pipec run ", 10) == 0;
}

/* ---- Snakemake ----------------------------------------------------------------------------- */

static void put_list(const char *name, const char *const *words, int n)
{
    printf("%s = [", name);
    for (int i = 0; i < n; i++) {
        fputs(i > 0 ? ", " : "", stdout);
        json_put_text(stdout, words[i]);
    }
    puts("]");
}

static void put_text(const char *name, const char *text)
{
    printf("%s = ", name);
    json_put_text(stdout, text);
    putchar('\n');
}

/* What the merge writes, a line each. */
static void put_outputs(const Workflow *w)
{
    const BatchFiles *f = &w->list.whole;
    const char *comma = "";
    for (int k = 0; k < w->program->n_outputs; k++) {
        if (f->merged[k] != NULL) {
            printf("%s        ", comma);
            json_put_text(stdout, f->merged[k]);
            comma = ",\n";
        }
    }
    for (int k = 0; k < 2; k++) {
        const char *file = k == 0 ? f->values : f->failed;
        if (file != NULL) {
            printf("%s        ", comma);
            json_put_text(stdout, file);
            comma = ",\n";
        }
    }
    putchar('\n');
}

static void put_snake_head(const Workflow *w)
{
    const Options *o = w->options;
    printf(
        "# Snakefile: %s over %d images, in %d shards.\n#\n"
        "#   snakemake --cores all                               on this machine\n"
        "#   snakemake --executor slurm --jobs %d                 on a cluster (snakemake-executor-plugin-slurm)\n#\n"
        "# A shard that is killed, or meets what may pass (exit code 75), is tried again and goes on where it was.\n"
        "# Images that fail for good are listed in failed.csv.\n\n",
        w->program->name, w->list.n_all, w->shards, w->shards < 100 ? w->shards : 100);
    put_text("PROGRAM", is_pipeline(o) ? "pipec run" : o->program);
    put_text("MERGE", is_pipeline(o) ? "pipec merge" : "");
    put_list("PIPELINE", &o->program, is_pipeline(o) ? 1 : 0);
    put_list("IMAGES", o->files, o->n_files);
    put_list("OPTIONS", (const char *const *)w->again, w->n_again);
    put_text("OUT", o->output != NULL ? o->output : ".");
    put_text("FOLDER", w->list.folder);
    printf("SHARDS = %d\n", w->shards);
    printf("LIST = FOLDER + \".%s.shard-{shard}-of-\" + str(SHARDS) + \".list\"  # left by a shard that has ended\n",
           w->program->name);
}

static void put_shard_rule(const Workflow *w)
{
    const Resources *r = &w->needs;
    printf("\n\nrule all:\n    input:\n");
    put_outputs(w);
    printf("\n\nrule shard:\n    input:\n        IMAGES,\n        PIPELINE\n    output:\n        LIST\n"
           "    threads: %d\n    resources:\n        mem_mb=%" PRIu64 ",\n        disk_mb=%" PRIu64
           ",\n        runtime=%d%s\n"
           "    retries: %d\n    shell:\n"
           "        \"{PROGRAM} {PIPELINE:q} {IMAGES:q} {OPTIONS:q} -o {OUT:q} --shard {wildcards.shard}/{SHARDS}\"\n"
           "        \" --memory %" PRIu64 " --host-memory %" PRIu64 " --resume --keep-going --quiet\"\n",
           r->threads, mebibytes(r->host), mebibytes(r->scratch + r->outputs / (uint64_t)w->shards) + 1, w->minutes,
           w->gpu ? ",\n        gpu=1  # take this line out for CPUs" : "", RETRIES, r->device, r->pixels);
}

static void put_merge_rule(const Workflow *w)
{
    printf("\n\nrule merge:\n    input:\n        expand(LIST, shard=range(1, SHARDS + 1))\n    output:\n");
    put_outputs(w);
    printf("    localrule: True\n    shell:\n        \"%s {FOLDER:q}\"\n",
           is_pipeline(w->options) ? "{MERGE}" : "{PROGRAM} --merge");
}

int workflow_snakefile(const Program *program, const Options *options)
{
    Err err = {0};
    Workflow w;
    if (prepare(&w, program, options, &err)) {
        put_snake_head(&w);
        put_shard_rule(&w);
        put_merge_rule(&w);
    } else {
        fprintf(stderr, "%s: %s\n", options->command, err.text);
    }
    finish(&w);
    return err_exit_code(&err);
}

/* ---- Slurm --------------------------------------------------------------------------------- */

static void put_words(const char *before, const char *const *words, int n)
{
    for (int i = 0; i < n; i++) {
        fputs(before, stdout);
        shell_put_quoted(words[i], stdout);
    }
}

static void put_merge(const Workflow *w)
{
    if (is_pipeline(w->options)) {
        fputs("pipec merge ", stdout);
    } else {
        shell_put_quoted(w->options->program, stdout);
        fputs(" --merge ", stdout);
    }
    shell_put_quoted(w->list.folder[0] != '\0' ? w->list.folder : ".", stdout);
}

static void put_batch_head(const Workflow *w)
{
    const Resources *r = &w->needs;
    const char *name = w->program->name;
    printf("#!/bin/bash\n# %s over %d images, in %d shards; a second job joins what they leave:\n#\n"
           "#   job=$(sbatch --parsable %s.sbatch)\n#   sbatch --dependency=afterok:$job --wrap \"",
           name, w->list.n_all, w->shards, name);
    put_merge(w);
    puts(
        "\"\n#\n# A shard that is killed, or meets what may pass (exit code 75), is queued again and goes on where it was.");
    printf("#SBATCH --job-name=%s\n#SBATCH --array=1-%d\n#SBATCH --cpus-per-task=%d\n#SBATCH --mem=%" PRIu64 "M\n"
           "#SBATCH --time=%d\n#SBATCH --requeue\n#SBATCH --open-mode=append\n",
           name, w->shards, r->threads, mebibytes(r->host), w->minutes);
    puts(w->gpu ? "# for GPUs:\n#SBATCH --gres=gpu:1\n" : "");
}

int workflow_sbatch(const Program *program, const Options *options)
{
    Err err = {0};
    Workflow w;
    const Options *o = options;
    if (prepare(&w, program, options, &err)) {
        put_batch_head(&w);
        fputs(is_pipeline(o) ? "pipec run " : "", stdout);
        shell_put_quoted(o->program, stdout);
        put_words(" \\\n    ", o->files, o->n_files);
        put_words(" \\\n    ", (const char *const *)w.again, w.n_again);
        printf(" \\\n    -o ");
        shell_put_quoted(o->output != NULL ? o->output : ".", stdout);
        printf(" --shard \"$SLURM_ARRAY_TASK_ID/%d\" --memory %" PRIu64 " --host-memory %" PRIu64
               " \\\n    --resume --keep-going --quiet\ncode=$?\n",
               w.shards, w.needs.device, w.needs.pixels);
        printf("if [ $code -eq 75 -o $code -eq 137 ] && [ \"${SLURM_RESTART_COUNT:-0}\" -lt %d ]; then\n"
               "    scontrol requeue \"${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID\"\nfi\nexit $code\n",
               RETRIES);
    } else {
        fprintf(stderr, "%s: %s\n", options->command, err.text);
    }
    finish(&w);
    return err_exit_code(&err);
}
