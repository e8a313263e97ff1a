/*
 * batch: the frame around the engine.  A failed image never stops the others; what makes all of
 * them fail (no device, a full disk) ends the run at once.
 */
#include "batch.h"

#include "../../base/file.h"
#include "devices.h"
#include "engine.h"
#include "folder_lock.h"
#include "replaced.h"
#include "report_of.h"
#include "results.h"
#include "shard.h"
#include "../command/shell.h"
#include "../host/signals.h"
#include "../host/status.h"
#include "../host/stopwatch.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct Batch {
    const Program *program;
    const Options *options;
    const RtHooks *hooks;
    Owners *ranks;
    BatchList list;
    ImageFate *fates;
    Join join; /* of what has become of them */
    char *header;
    Journal *journal;
    FolderLock *lock;
    char key[DIGEST_TEXT]; /* of all that decides the results but the images */
    Devices devices;
    Err left_out; /* why one of all devices could not be opened */
    Profile *profile;
    char *parameters;
    char software[512];
    uint64_t began; /* stopwatch_now() */
} Batch;

static bool no_memory(Err *err)
{
    return err_set(err, CODE_MEMORY, "out of host memory");
}

static int count(const Batch *b, ImageState state)
{
    int n = 0;
    for (int i = 0; b->fates != NULL && i < b->list.n; i++) {
        n += b->fates[i].state == state;
    }
    return n;
}

/* ---- before ---------------------------------------------------------------------------- */

/* Where an earlier run has made something that does not count any more. */
static const char *const AGAIN[] = {
    [JOURNAL_OTHER_INPUT] = "done again, for an input is not what it was",
    [JOURNAL_OTHER_OUTPUT] = "done again, for an output is not what was written",
    [JOURNAL_DONE] = NULL,
};

/* A single image needs no journal, so that many processes with one image each can share a
 * folder. */
static bool wants_journal(const Batch *b)
{
    bool alone = b->list.n == 1 && b->options->shards == 1 && !b->options->resume;
    return b->program->n_inputs > 0 && !alone;
}

/*
 * A batch has its folder for itself.  Shards of one batch have it together, each shard once; so have runs with a single
 * image, each output once.
 */
static bool lock_folder(Batch *b, Err *err)
{
    char shards[40], shard[40], *const parts[] = {shard};
    const Options *o = b->options;
    const LockShare shares[] = {{"single images", b->list.items[0].outputs, b->program->n_outputs}, {shards, parts, 1}};
    bool single = !wants_journal(b);
    snprintf(shards, sizeof shards, "%.20s of %d", b->key, o->shards);
    snprintf(shard, sizeof shard, "shard %d", o->shard);
    return folder_lock(b->list.folder, single ? &shares[0] : o->shards > 1 ? &shares[1] : NULL, &b->lock, err);
}

static bool open_journal(Batch *b, Err *err)
{
    if (!wants_journal(b)) {
        return true;
    }
    TRY(journal_open(b->list.files.journal, b->key, b->options->resume, &b->journal, err));
    for (int i = 0; b->options->resume && i < b->list.n; i++) {
        JournalImage image = batch_item_files(b->program, &b->list.items[i]);
        const char *values;
        JournalFate before = journal_find(b->journal, &image, &values);
        b->fates[i].again = AGAIN[before];
        if (before == JOURNAL_DONE) {
            b->fates[i].state = IMAGE_BEFORE;
            b->fates[i].values = strdup(values);
            TRY(b->fates[i].values != NULL || no_memory(err));
        }
    }
    return true;
}

static bool open_device(Batch *b, Err *err)
{
    const Options *o = b->options;
    DevOptions options = {.choice = o->device,
                          .profile = o->profile,
                          .dump = o->dump,
                          .load = o->load,
                          .memory_limit = o->memory};
    if (o->device != NULL && strcmp(o->device, "reference") == 0) {
        bool known = b->hooks != NULL && b->hooks->reference != NULL;
        return known || err_set(err, CODE_DEVICE,
                                "the reference is part of the compiler: pipec run --device "
                                "reference");
    }
    status_say(STATUS_REST, "opening the device");
    Device *open = b->hooks != NULL && b->hooks->device != NULL ? *b->hooks->device : NULL;
    TRY(b->devices.n > 0 || devices_open(&options, open, &b->devices, &b->left_out, err));
    status_say(STATUS_REST, NULL);
    if (o->profile && b->profile == NULL) {
        b->profile = profile_new(o->trace != NULL);
        return b->profile != NULL || no_memory(err);
    }
    return true;
}

static void sweep_folder_of(const char *path, char *last, size_t size)
{
    char folder[4096];
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", slash != NULL ? (int)(slash - path) + 1 : 1, slash != NULL ? path : ".");
    if (strcmp(folder, last) != 0) {
        file_sweep(folder);
        snprintf(last, size, "%s", folder);
    }
}

/* Removes what killed runs have left beside the files that this one writes. */
static void sweep(const BatchList *list)
{
    char last[4096] = "";
    sweep_folder_of(list->files.journal, last, sizeof last);
    for (int k = 0; k < list->program->n_outputs; k++) {
        for (int i = 0; i < list->n; i++) {
            const char *path = list->items[i].outputs[k];
            if (path != NULL) {
                sweep_folder_of(path, last, sizeof last);
            }
        }
    }
}

static bool prepare(Batch *b, Err *err)
{
    const char *folder = b->list.folder;
    snprintf(b->software, sizeof b->software, "pipec %s %s %s", b->program->version, b->program->name,
             b->program->hash);
    b->parameters = options_params_text(b->program, b->options->params);
    b->fates = calloc((size_t)b->list.n + 1, sizeof *b->fates);
    TRY((b->parameters != NULL && b->fates != NULL) || no_memory(err));
    /* A device that is not there leaves no folder behind; what --resume goes on with has one. */
    TRY(b->options->resume || open_device(b, err));
    TRY(folder[0] == '\0' || file_make_folder(folder, err));
    batch_list_key(&b->list, b->options, b->parameters, b->key);
    TRY(lock_folder(b, err));
    sweep(&b->list);
    TRY(open_journal(b, err));
    if (b->list.shard != NULL) {
        (void)unlink(b->list.shard); /* it has not ended */
    }
    return true;
}

/* ---- the work -------------------------------------------------------------------------- */

static Device *first_device(const Batch *b)
{
    return b->devices.n > 0 ? b->devices.at[0].dev : NULL; /* none: the evaluator */
}

/* What the device makes slow. */
static void note_device(const Batch *b, Notes *notes)
{
    const Device *dev = first_device(b);
    const char *no_cache = dev != NULL ? dev_no_cache(dev) : NULL;
    bool doubles = false;
    if (b->left_out.code != CODE_OK) {
        notes_add(notes, "devices cannot be opened", "a device", "left out: %s", b->left_out.text);
    }
    if (no_cache != NULL) {
        notes_add(notes, "kernels are compiled each time", "kernels", "compiled each time: %s", no_cache);
    }
    for (int i = 0; i < b->program->n_buffers; i++) {
        doubles = doubles || (b->program->buffers[i].elem == ELEM_F64 && b->program->buffers[i].grid >= 0);
    }
    if (dev != NULL && !dev_info(dev)->fp64 && doubles) {
        notes_add(notes, "images of f64 are slow", dev_info(dev)->name,
                  "it has no double precision; images of f64 are computed in whole numbers, the same bits, but slowly");
    }
}

static bool work(Batch *b, Err *err)
{
    int before = count(b, IMAGE_BEFORE);
    if (before == b->list.n) {
        return true;
    }
    TRY(open_device(b, err));
    if (b->list.n - before >= ENGINE_MANY && !b->options->check) {
        devices_double(&b->devices);
    }
    Progress *progress = progress_new(stderr, b->list.n, status_is_open(), b->options->quiet);
    progress_skip(progress, before);
    EngineSetup setup = {.program = b->program,
                         .options = b->options,
                         .list = &b->list,
                         .hooks = b->hooks,
                         .devices = b->devices.at,
                         .n_devices = b->devices.n,
                         .journal = b->journal,
                         .progress = progress,
                         .notes = notes_new(progress),
                         .profile = b->profile,
                         .ranks = b->ranks,
                         .software = b->software,
                         .parameters = b->parameters};
    note_device(b, setup.notes);
    for (int i = 0; i < b->list.n; i++) {
        if (b->fates[i].again != NULL) {
            notes_add(setup.notes, b->fates[i].again, b->list.items[i].name, "%s", b->fates[i].again);
        }
    }
    bool ok = engine_run(&setup, b->fates, err);
    notes_end(setup.notes);
    progress_end(progress);
    return ok;
}

/* ---- files of all images --------------------------------------------------------------- */

/* "count,mean": owned by the caller (free). */
static char *values_header(const Program *program)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    if (to == NULL) {
        return NULL;
    }
    const char *comma = "";
    for (int k = 0; k < program->n_outputs; k++) {
        if (program->outputs[k].kind == OUT_VALUE) {
            fprintf(to, "%s%s", comma, program->outputs[k].name);
            comma = ",";
        }
    }
    return fclose(to) == 0 ? text : NULL;
}

/* The file whose objects a report outlines: the first one of labels, else of a mask. */
static const char *outlines_of(const Program *program, const BatchItem *item)
{
    static const ProgOutputKind KINDS[] = {OUT_LABELS, OUT_MASK};
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < program->n_outputs; k++) {
            if (program->outputs[k].kind == KINDS[i]) {
                return item->outputs[k];
            }
        }
    }
    return NULL;
}

static JoinImage join_image(const Program *program, const BatchItem *item, const ImageFate *fate)
{
    static const JoinFate FATES[] = {[IMAGE_WAITING] = JOIN_LEFT,
                                     [IMAGE_BEFORE] = JOIN_DONE,
                                     [IMAGE_DONE] = JOIN_DONE,
                                     [IMAGE_FAILED] = JOIN_FAILED};
    const Err *err = fate->err;
    return (JoinImage){.fate = FATES[fate->state],
                       .name = item->name,
                       .fields = item->fields,
                       .outputs = item->outputs,
                       .input = program->n_inputs > 0 ? item->inputs[0] : NULL,
                       .outlines = outlines_of(program, item),
                       .values = fate->values,
                       .stage = fate->stage,
                       .reason = err != NULL ? err->text : "out of host memory",
                       .code = err != NULL ? err->code : CODE_MEMORY,
                       .transient = err != NULL && err->transient};
}

/* All images, as far as the run has come; false without memory.  Freed by batch_free. */
static bool make_join(Batch *b, Err *err)
{
    const BatchList *list = &b->list;
    int n = b->fates != NULL ? list->n : 0;
    b->join = (Join){.columns = &list->columns, .by = list->by, .n_by = list->n_by, .failed = list->files.failed};
    b->join.source = b->program->source;
    b->join.version = b->software;
    b->join.parameters = b->parameters != NULL ? b->parameters : "";
    b->join.images = calloc((size_t)n + 1, sizeof *b->join.images);
    b->join.tables = calloc((size_t)b->program->n_outputs + 1, sizeof *b->join.tables);
    b->header = values_header(b->program);
    TRY((b->join.images != NULL && b->join.tables != NULL && b->header != NULL) || no_memory(err));
    for (int i = 0; i < n; i++) {
        b->join.images[i] = join_image(b->program, &list->items[i], &b->fates[i]);
    }
    b->join.n = n;
    return true;
}

/* The tables of this run, or of all shards. */
static void take_tables(Batch *b, const BatchFiles *files)
{
    Join *join = &b->join;
    int n = b->program->n_outputs;
    join->n_tables = 0;
    join->failed = files->failed;
    join->report = files->report;
    for (int k = 0; k < n; k++) {
        if (files->merged[k] != NULL) {
            join->tables[join->n_tables++] = (JoinTable){.path = files->merged[k],
                                                         .summary = files->summaries[k],
                                                         .output = k,
                                                         .zarr = results_is_zarr_table(&b->program->outputs[k])};
        }
    }
    if (files->values != NULL) {
        join->tables[join->n_tables++] =
            (JoinTable){.path = files->values, .summary = files->summaries[n], .header = b->header, .output = -1};
    }
}

static bool leave_list(Batch *b, Err *err)
{
    const BatchList *list = &b->list;
    if (list->shard == NULL || join_count(&b->join, JOIN_LEFT) > 0) {
        return true;
    }
    Shard shard = {.name = b->program->name,
                   .key = b->key,
                   .folder = list->folder,
                   .journal = list->files.journal,
                   .whole = list->whole.journal,
                   .shard = b->options->shard,
                   .shards = b->options->shards,
                   .images = list->n_all};
    take_tables(b, &list->whole);
    bool ok = shard_write(list->shard, &shard, &b->join, err);
    take_tables(b, &list->files);
    return ok;
}

static bool report_profile(const Batch *b, Err *err)
{
    double copy = 0;
    if (b->profile == NULL) {
        return true;
    }
    if (b->options->trace != NULL) {
        return profile_write_trace(b->profile, b->options->trace, err);
    }
    TRY(profile_copy_bandwidth(first_device(b), &copy, err));
    profile_print(b->profile, copy, stdout);
    if (b->program->n_params > 0) {
        const char *planned = b->program->planned_for;
        printf("planned for %s\n", planned != NULL ? planned : "the defaults of all parameters");
    }
    return true;
}

/* The command line as it can be given again; owned by the caller (free). */
static char *command_text(const Options *o)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    if (to == NULL) {
        return NULL;
    }
    fputs(o->command, to);
    for (char *const *word = o->arguments; word != NULL && *word != NULL; word++) {
        putc(' ', to);
        shell_put_word(*word, to);
    }
    return fclose(to) == 0 ? text : NULL;
}

/* The names of all devices; owned by the caller (free). */
static char *device_names(const Devices *devices)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    if (to == NULL) {
        return NULL;
    }
    for (int i = 0; i < devices->n; i++) {
        fprintf(to, "%s%s", i > 0 ? ", " : "", dev_info(devices->at[i].dev)->name);
    }
    fputs(devices->n == 0 ? "none" : "", to); /* the evaluator, or all was done before */
    return fclose(to) == 0 ? text : NULL;
}

static bool make_report(const Batch *b, Err *err)
{
    if (b->join.report == NULL) {
        return true;
    }
    char *command = command_text(b->options), *devices = device_names(&b->devices), seconds[40];
    snprintf(seconds, sizeof seconds, "%.1f s", 1e-9 * (double)(stopwatch_now() - b->began));
    const ReportFact facts[] = {{"command", command}, {"device", devices}, {"time", seconds}};
    status_say(STATUS_REST, "writing the report");
    bool ok = (command != NULL && devices != NULL) || no_memory(err);
    ok = ok && report_of(&b->join, b->program->name, facts, (int)(sizeof facts / sizeof *facts),
                         b->options->report_against, err);
    free(command);
    free(devices);
    return ok;
}

/* Tables of all images are of this run's images alone. */
static void note_replaced(const Batch *b)
{
    char first[256];
    for (int t = 0; t < b->join.n_tables && !b->options->quiet; t++) {
        const char *path = b->join.tables[t].path, *slash = strrchr(path, '/');
        int n = replaced_images(path, &b->join, first, sizeof first);
        if (n > 0) {
            status_close();
            fprintf(
                stderr,
                "note: %s: rows of %d other image%s (%s%s) are gone; for one table give all images, with --resume\n",
                slash != NULL ? slash + 1 : path, n, n == 1 ? "" : "s", first, n > 1 ? ", ..." : "");
            return;
        }
    }
}

/* After the work; tables only where it has come to its end. */
static bool join_all(Batch *b, bool ended, Err *err)
{
    status_say(STATUS_REST, "joining tables");
    TRY(make_join(b, err));
    take_tables(b, &b->list.files);
    bool ok = join_failures(&b->join, err);
    if (ok && ended) {
        note_replaced(b);
    }
    ok = ok && ended && join_tables(&b->join, err) && leave_list(b, err) && make_report(b, err);
    status_close();
    return ok && report_profile(b, err);
}

/* ---- after ----------------------------------------------------------------------------- */

/* True when the failure that ended the run is already listed with its image. */
static bool failed_with(const Batch *b, const Err *err)
{
    bool listed = false;
    for (int i = 0; i < b->join.n; i++) {
        const JoinImage *image = &b->join.images[i];
        listed = listed || (image->fate == JOIN_FAILED && strcmp(image->reason, err->text) == 0);
    }
    return listed;
}

static int report(const Batch *b, const Err *err)
{
    const char *command = b->options->command;
    int done = join_count(&b->join, JOIN_DONE);
    join_report(&b->join, stderr);
    if (signals_interrupted()) {
        fprintf(stderr, "%s: interrupted; %d of %d image%s done%s\n", command, done, b->list.n,
                done == 1 ? " is" : "s are", b->journal != NULL ? ", --resume goes on" : "");
        return signals_code();
    }
    if (err->code != CODE_OK && failed_with(b, err)) {
        fprintf(stderr, "%s: given up; %d of %d image%s done\n", command, done, b->list.n, done == 1 ? " is" : "s are");
        return err_exit_code(err);
    }
    if (err->code != CODE_OK) {
        fprintf(stderr, "%s: %s\n", command, err->text);
        return err_exit_code(err);
    }
    return join_code(&b->join);
}

/* One that was lost is of no use to the next run. */
static void close_devices(Batch *b)
{
    const bool keep = b->hooks != NULL && b->hooks->device != NULL;
    Device *first = first_device(b);
    const bool lost = first != NULL && dev_lost(first);
    if (keep && first != NULL) {
        *b->hooks->device = lost ? NULL : first;
    }
    devices_close(&b->devices, keep && !lost ? first : NULL);
}

static void batch_free(Batch *b)
{
    for (int i = 0; b->fates != NULL && i < b->list.n; i++) {
        free(b->fates[i].values);
        free(b->fates[i].err);
    }
    free(b->fates);
    free(b->join.images);
    free(b->join.tables);
    free(b->header);
    free(b->parameters);
    journal_close(b->journal);
    folder_unlock(b->lock);
    profile_free(b->profile);
    close_devices(b);
    batch_list_free(&b->list);
}

int batch_run(const Program *program, const Options *options, const RtHooks *hooks, Owners *ranks)
{
    Err err = {0};
    Batch b = {.program = program, .options = options, .hooks = hooks, .ranks = ranks, .began = stopwatch_now()};
    status_say(STATUS_REST, "listing images");
    if (batch_list(program, options, &b.list, &err) && prepare(&b, &err)) {
        bool ended = work(&b, &err) && !signals_interrupted();
        (void)join_all(&b, ended, &err);
    }
    status_close();
    int code = report(&b, &err);
    batch_free(&b);
    return code;
}
