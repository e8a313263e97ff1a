/*
 * dry_run: opens every file as the run would, plans its memory, and says which outputs it makes; with --resume what is
 * left to do.
 */
#include "batch.h"

#include "batch_list.h"
#include "noteworthy.h"
#include "../exec/exec_plan.h"
#include "reader.h"

#include <stdlib.h>

typedef struct DryRun {
    const Program *program;
    const Options *options;
    BatchList list;
    VolumeCache cache;
    Notes *notes;
    Journal *journal; /* NULL: everything is to be done */
    uint64_t peak;    /* of all images */
    int failed, before;
} DryRun;

static void print_shape(const Reader *reader)
{
    const ImageInfo *info = reader_info(reader, 0);
    const Frames *frames = reader_frames(reader);
    if (info == NULL) {
        return;
    }
    printf("  %lld x %lld", (long long)info->x, (long long)info->y);
    if (info->z > 1) {
        printf(" x %lld", (long long)info->z);
    }
    if (info->c > 1) {
        printf(", %lld channels", (long long)info->c);
    }
    printf(", %s", elem_name(info->elem));
    if (frames->n > 1) {
        printf(", %lld runs", (long long)frames->n);
    }
}

static bool plan(DryRun *d, const Reader *reader, Err *err)
{
    ExecTarget target = exec_target(NULL);
    ExecPlan *exec_plan;
    TRY(exec_plan_new(d->program, &target, reader_inputs(reader), d->options->params, &exec_plan, err));
    printf(", %.1f MiB on the device", (double)exec_plan->peak / 0x1p20);
    d->peak = exec_plan->peak > d->peak ? exec_plan->peak : d->peak;
    exec_plan_free(exec_plan);
    return true;
}

static void show(DryRun *d, const BatchItem *item)
{
    Err err = {0};
    Reader *reader = NULL;
    bool ok = reader_open(d->program, item, d->options, false, &d->cache, &reader, &err);
    if (ok) {
        noteworthy(d->notes, d->program, d->options, item, reader);
    }
    printf("%s", item->name);
    if (ok) {
        print_shape(reader);
        ok = plan(d, reader, &err);
    }
    reader_close(reader);
    if (!ok) {
        printf(": %s\n", err.text);
        d->failed++;
        return;
    }
    putchar('\n');
    for (int k = 0; k < d->program->n_outputs; k++) {
        if (item->outputs[k] != NULL) {
            printf("  -> %s\n", item->outputs[k]);
        }
    }
}

static bool is_done(const DryRun *d, const BatchItem *item)
{
    const char *values;
    JournalImage image = batch_item_files(d->program, item);
    return d->journal != NULL && journal_find(d->journal, &image, &values) == JOURNAL_DONE;
}

static void show_all(DryRun *d)
{
    for (int i = 0; i < d->list.n; i++) {
        bool done = is_done(d, &d->list.items[i]);
        d->before += done;
        if (!done) {
            show(d, &d->list.items[i]);
        }
    }
}

static void show_merged(const DryRun *d)
{
    int left = d->list.n - d->before;
    printf("%d image%s, at most %.1f MiB on the device", left, left == 1 ? "" : "s", (double)d->peak / 0x1p20);
    if (d->before > 0) {
        printf("; %d done before", d->before);
    }
    putchar('\n');
    for (int k = 0; k < d->program->n_outputs; k++) {
        if (d->list.files.merged[k] != NULL) {
            printf("  -> %s\n", d->list.files.merged[k]);
        }
    }
    if (d->list.files.values != NULL) {
        printf("  -> %s\n", d->list.files.values);
    }
    if (d->list.files.failed != NULL) {
        printf("  -> %s\n", d->list.files.failed);
    }
    for (int k = 0; k <= d->program->n_outputs; k++) {
        if (d->list.files.summaries[k] != NULL) {
            printf("  -> %s\n", d->list.files.summaries[k]);
        }
    }
}

static bool look_for_journal(DryRun *d, Err *err)
{
    char key[DIGEST_TEXT];
    char *parameters = d->options->resume ? options_params_text(d->program, d->options->params) : NULL;
    if (parameters == NULL) {
        return !d->options->resume || err_set(err, CODE_MEMORY, "out of host memory");
    }
    batch_list_key(&d->list, d->options, parameters, key);
    free(parameters);
    return journal_look(d->list.files.journal, key, &d->journal, err);
}

int batch_dry_run(const Program *program, const Options *options)
{
    Err err = {0};
    DryRun d = {.program = program, .options = options};
    Progress *progress = progress_new(stderr, 0, false, options->quiet);
    d.notes = notes_new(progress);
    bool ok = volume_cache_init(&d.cache, program->n_inputs, NULL, &err) &&
              batch_list(program, options, &d.list, &err) && look_for_journal(&d, &err);
    if (ok) {
        show_all(&d);
        show_merged(&d);
    } else {
        fprintf(stderr, "%s: %s\n", options->command, err.text);
    }
    notes_end(d.notes);
    progress_end(progress);
    journal_close(d.journal);
    batch_list_free(&d.list);
    volume_cache_free(&d.cache);
    return !ok ? err.code : d.failed > 0 && !options->keep_going ? CODE_FILES : CODE_OK;
}
