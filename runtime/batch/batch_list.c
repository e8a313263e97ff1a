/*
 * batch_list: names are made for all images of the command line, also those of other shards, so
 * that a clash shows in every shard.
 */
#include "batch_list.h"

#include "../../base/file.h"
#include "../files/file_list.h"
#include "../files/image_external.h"
#include "../files/image_path.h"
#include "../host/decimal.h"
#include "names.h"
#include "results.h"
#include "table_zarr.h"
#include "targets.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

static bool no_memory(Err *err)
{
    return err_set(err, CODE_MEMORY, "out of memory for the list of images");
}

/* ---- names ----------------------------------------------------------------------------- */

/* -o without a field and without a dot in its last part is a folder, whether it exists or not. */
static bool make_template(const char *option, BatchList *list, Err *err)
{
    char folder[PATH_BYTES];
    if (option != NULL && strchr(option, '{') == NULL && strlen(option) + 2 < sizeof folder) {
        const char *slash = strrchr(option, '/'), *name = slash == NULL ? option : slash + 1;
        const char *point = strchr(name, '.');
        bool inside = strchr(names_of_image(option), '/') != NULL; /* of a folder of zarr */
        bool is_folder = (point == NULL || point == name) && !inside;
        snprintf(folder, sizeof folder, "%s%s", option, is_folder && *name != '\0' ? "/" : "");
        option = folder;
    }
    TRY(names_template(option, list->template, sizeof list->template, err));
    snprintf(list->folder, sizeof list->folder, "%s", list->template);
    list->folder[strcspn(list->folder, "{")] = '\0';
    char *slash = strrchr(list->folder, '/');
    *(slash == NULL ? list->folder : slash + 1) = '\0';
    return true;
}

/* A file of the whole batch: "out/table.csv", of a shard "out/table.shard-2-of-8.csv". */
static char *batch_file(const BatchList *list, const Options *o, const char *before, const char *name,
                        const char *after)
{
    char path[2 * PATH_BYTES], shard[64] = "";
    if (o->shards > 1) {
        snprintf(shard, sizeof shard, ".shard-%d-of-%d", o->shard, o->shards);
    }
    snprintf(path, sizeof path, "%s%s%s%s%s", list->folder, before, name, shard, after);
    return strdup(path);
}

/* "well,field" as the numbers of columns. */
static bool read_summary(BatchList *list, const Options *o, Err *err)
{
    for (const char *at = o->summary; at != NULL;) {
        size_t n = strcspn(at, ",");
        int column = columns_find(&list->columns, at, n);
        if (column < 0 || list->n_by == COLUMNS_MOST) {
            return err_set(err, CODE_USAGE,
                           "--summary %s: there is no column '%.*s'; --columns '{well}_{field}' makes columns",
                           o->summary, (int)n, at);
        }
        list->by[list->n_by++] = column;
        at = at[n] == ',' ? at + n + 1 : NULL;
    }
    return true;
}

/* "out/table_by_well.csv" */
static char *summary_file(const BatchList *list, const Options *o, const char *name)
{
    char text[512] = "_by";
    size_t n = strlen(text);
    for (int i = 0; i < list->n_by && n < sizeof text; i++) {
        n += (size_t)snprintf(text + n, sizeof text - n, "_%s", list->columns.names[list->by[i]]);
    }
    snprintf(text + strlen(text), sizeof text - strlen(text), "%s", ".csv");
    return batch_file(list, o, "", name, text);
}

/* They are of all images: a shard has none. */
static bool name_summaries(const BatchList *list, const Options *o, BatchFiles *files, Err *err)
{
    const Program *p = list->program;
    bool wanted = list->n_by > 0 && o->shards == 1;
    files->summaries = calloc((size_t)p->n_outputs + 1, sizeof *files->summaries);
    bool ok = files->summaries != NULL;
    for (int i = 0; i < p->n_outputs && ok && wanted; i++) {
        if (files->merged[i] != NULL && results_is_table(&p->outputs[i])) {
            files->summaries[i] = summary_file(list, o, p->outputs[i].name);
            ok = files->summaries[i] != NULL;
        }
    }
    if (ok && wanted && files->values != NULL) {
        files->summaries[p->n_outputs] = summary_file(list, o, "values");
        ok = files->summaries[p->n_outputs] != NULL;
    }
    return ok || no_memory(err);
}

/* Whole-image values alone make one file, which may have a name of the user's. */
static bool values_alone(const Program *program)
{
    bool alone = true;
    for (int i = 0; i < program->n_outputs; i++) {
        alone = alone && program->outputs[i].kind == OUT_VALUE;
    }
    return alone;
}

static bool names_one_file(const BatchList *list)
{
    return strchr(list->template, '{') == NULL;
}

static bool name_batch_files(const BatchList *list, const Options *o, BatchFiles *files, Err *err)
{
    const Program *p = list->program;
    files->merged = calloc((size_t)p->n_outputs + 1, sizeof *files->merged);
    files->journal = batch_file(list, o, ".", p->name, ".journal");
    files->failed = o->keep_going ? batch_file(list, o, "", "failed", ".csv") : NULL;
    files->report = o->report ? batch_file(list, o, "", "report", ".html") : NULL;
    bool ok = files->merged != NULL && files->journal != NULL && (files->failed != NULL || !o->keep_going);
    ok = ok && (files->report != NULL || !o->report);
    for (int i = 0; ok && i < p->n_outputs; i++) {
        const bool zarr = results_is_zarr_table(&p->outputs[i]);
        if (zarr || results_is_table(&p->outputs[i])) {
            files->merged[i] = batch_file(list, o, "", p->outputs[i].name, zarr ? ".zarr" : ".csv");
            ok = files->merged[i] != NULL;
        } else if (p->outputs[i].kind == OUT_VALUE && files->values == NULL) {
            bool own = names_one_file(list) && o->shards == 1 && values_alone(p);
            files->values = own ? strdup(list->template) : batch_file(list, o, "", "values", ".csv");
            ok = files->values != NULL;
        }
    }
    return (ok || no_memory(err)) && name_summaries(list, o, files, err);
}

/* The names for this run, and where it is a shard those that a run in one piece would have. */
static bool name_all_files(BatchList *list, const Options *o, Err *err)
{
    Options whole = *o;
    whole.shard = whole.shards = 1;
    TRY(name_batch_files(list, o, &list->files, err));
    if (o->shards == 1) {
        return true;
    }
    list->shard = batch_file(list, o, ".", list->program->name, ".list");
    return (list->shard != NULL || no_memory(err)) && name_batch_files(list, &whole, &list->whole, err);
}

/* "label,0:mean,1:mean=red" lists label, mean and red. */
static bool lists(const char *columns, const char *name)
{
    for (const char *at = columns; at != NULL && *at != '\0'; at += *at == ',') {
        size_t n = strcspn(at, ",");
        const char *end = at + n, *equals = memchr(at, '=', n), *colon = memchr(at, ':', n);
        const char *header = equals != NULL ? equals + 1 : colon != NULL ? colon + 1 : at;
        if ((size_t)(end - header) == strlen(name) && strncmp(header, name, strlen(name)) == 0) {
            return true;
        }
        at = end;
    }
    return false;
}

/* Whether tables of all images have a column of this name from an output: a value, a place and what is there, or what is
 * measured. */
static bool has_column(const Program *p, const ProgOutput *output, const char *name)
{
    return output->kind == OUT_TABLE ? lists(p->tables[output->table].columns, name) ||
                                           (p->tables[output->table].sky[0] != 0 && lists("ra,dec", name))
           : output->kind == OUT_SERIES ? strcmp(output->axes, name) == 0 || strcmp(output->name, name) == 0
                                        : output->kind == OUT_VALUE && strcmp(output->name, name) == 0;
}

/* Columns stand in tables of all images, beside those that the pipeline has. */
static bool check_columns(const BatchList *list, const Options *o, Err *err)
{
    const Program *p = list->program;
    bool table = list->files.values != NULL;
    for (int i = 0; i < p->n_outputs; i++) {
        table = table || list->files.merged[i] != NULL;
        for (int k = 0; k < list->columns.n; k++) {
            if (has_column(p, &p->outputs[i], list->columns.names[k])) {
                return err_set(err, CODE_USAGE, "--columns '%s': the tables would have two columns '%s'", o->columns,
                               list->columns.names[k]);
            }
        }
    }
    if (list->columns.n > 0 && (!table || names_one_file(list))) {
        return err_set(err, CODE_USAGE, "--columns '%s': there is no table of all images that could have them; %s",
                       o->columns, table ? "name a folder with -o" : "the pipeline has no output that is a table");
    }
    return true;
}

static bool expand(const char *template, const NameFields *fields, char **out, Err *err)
{
    char path[PATH_BYTES];
    TRY(names_expand(template, fields, path, sizeof path, err));
    *out = strdup(path);
    return *out != NULL || no_memory(err);
}

/* The inputs after the first, which must be there. */
static bool name_inputs(const Program *program, const Options *o, BatchItem *item, Err *err)
{
    for (int i = 1; i < program->n_inputs; i++) {
        NameFields fields = {.input = item->inputs[0], .index = item->index};
        TRY(expand(o->inputs[i], &fields, &item->inputs[i], err));
        ImagePath path;
        if (!image_path(item->inputs[i], &path) || access(path.file, R_OK) != 0) {
            char option[128];
            options_input_name(program, i, option, sizeof option);
            file_err_set(err, CODE_USAGE, "read", item->inputs[i], errno);
            return err_prefix(err, "--%s, for '%s'", option, item->inputs[0]);
        }
    }
    return true;
}

static bool make_item(BatchList *list, const Options *o, const char *path, long index, BatchItem *item, Err *err)
{
    const Program *p = list->program;
    item->index = index;
    item->inputs = calloc((size_t)p->n_inputs + 1, sizeof *item->inputs);
    item->outputs = calloc((size_t)p->n_outputs + 1, sizeof *item->outputs);
    item->name = strdup(names_of_image(path));
    if (item->inputs == NULL || item->outputs == NULL || item->name == NULL ||
        (item->inputs[0] = strdup(path)) == NULL) {
        return no_memory(err);
    }
    item->fields = calloc(COLUMNS_MOST, sizeof *item->fields);
    TRY(item->fields != NULL || no_memory(err));
    TRY(name_inputs(p, o, item, err));
    for (int i = 0; i < p->n_outputs; i++) {
        const bool zarr_table = results_is_zarr_table(&p->outputs[i]);
        NameFields fields = {path, p->outputs[i].name, zarr_table ? "zarr" : image_ending(p->outputs[i].format), index};
        if (p->outputs[i].kind != OUT_VALUE) {
            TRY(expand(list->template, &fields, &item->outputs[i], err));
        }
        if (zarr_table) {
            zarr_table_place(item->outputs[i]);
        }
    }
    return true;
}

static void free_item(const Program *program, BatchItem *item)
{
    for (int i = 0; item->inputs != NULL && i <= program->n_inputs; i++) {
        free(item->inputs[i]);
    }
    for (int i = 0; item->outputs != NULL && i < program->n_outputs; i++) {
        free(item->outputs[i]);
    }
    for (int i = 0; item->fields != NULL && i < COLUMNS_MOST; i++) {
        free(item->fields[i]);
    }
    free(item->fields);
    free(item->inputs);
    free(item->outputs);
    free(item->name);
}

/* ---- what folders hold from earlier runs ----------------------------------------------- */

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void free_places(char **places, size_t n)
{
    for (size_t i = 0; places != NULL && i < n; i++) {
        free(places[i]);
    }
    free(places);
}

/* Where all images have their outputs, sorted; owned by the caller (free_places). */
static char **places_of_outputs(const BatchList *list, size_t *n)
{
    size_t outputs = (size_t)list->program->n_outputs;
    char **all = calloc((size_t)list->n * outputs + 1, sizeof *all);
    *n = 0;
    for (size_t i = 0; all != NULL && i < (size_t)list->n * outputs; i++) {
        const char *path = list->items[i / outputs].outputs[i % outputs];
        if (path != NULL && (all[(*n)++] = names_place(path)) == NULL) {
            free_places(all, *n);
            return NULL;
        }
    }
    if (all != NULL) {
        qsort(all, *n, sizeof *all, compare_texts);
    }
    return all;
}

/* Takes the number of a frame out of a place: "A01_overlay_07.png", a PNG output's file for one of several frames. */
static bool without_frame(char *place)
{
    char *point = strrchr(place, '.'), *at = point;
    while (at != NULL && at > place && isdigit((unsigned char)at[-1])) {
        at--;
    }
    if (at == point || at == place || at[-1] != '_' || strcmp(point, ".png") != 0) {
        return false;
    }
    memmove(at - 1, point, strlen(point) + 1);
    return true;
}

/* `place` may be changed. */
static bool is_output(char *place, char **outputs, size_t n)
{
    return bsearch(&place, outputs, n, sizeof *outputs, compare_texts) != NULL ||
           (without_frame(place) && bsearch(&place, outputs, n, sizeof *outputs, compare_texts) != NULL);
}

/*
 * With outputs beside the inputs, a folder holds A01.tif and, from an earlier run, A01_labels.tif:
 * a file found in a folder that this run would write is no image to work on.
 */
static bool drop_outputs(BatchList *list, const FileList *files, Err *err)
{
    size_t n;
    char **all = places_of_outputs(list, &n);
    bool *drop = calloc((size_t)list->n + 1, sizeof *drop);
    bool ok = all != NULL && drop != NULL;
    for (int i = 0; ok && i < list->n; i++) {
        char *place = files->at[i].found ? names_place(list->items[i].inputs[0]) : NULL;
        ok = place != NULL || !files->at[i].found;
        drop[i] = place != NULL && is_output(place, all, n);
        free(place);
    }
    int kept = 0;
    for (int i = 0; ok && i < list->n; i++) {
        if (drop[i]) {
            free_item(list->program, &list->items[i]);
        } else {
            list->items[kept++] = list->items[i];
        }
    }
    list->n = ok ? kept : list->n;
    free(drop);
    free_places(all, n);
    return ok || no_memory(err);
}

/* ---- clashes --------------------------------------------------------------------------- */

static size_t collect_batch_uses(const BatchFiles *files, int outputs, NameUse *uses)
{
    size_t n = 0;
    const char *const single[] = {files->values, files->failed, files->report};
    for (int k = 0; files->merged != NULL && k < outputs; k++) {
        if (files->merged[k] != NULL) {
            uses[n++] = (NameUse){files->merged[k], "all images"};
        }
    }
    for (int k = 0; files->summaries != NULL && k <= outputs; k++) {
        if (files->summaries[k] != NULL) {
            uses[n++] = (NameUse){files->summaries[k], "all images"};
        }
    }
    for (int k = 0; k < 2; k++) {
        if (single[k] != NULL) {
            uses[n++] = (NameUse){single[k], "all images"};
        }
    }
    return n;
}

static size_t collect_uses(const BatchList *list, NameUse *uses)
{
    const Program *p = list->program;
    size_t n = 0;
    for (int i = 0; i < list->n; i++) {
        for (int k = 0; k < p->n_outputs; k++) {
            if (list->items[i].outputs[k] != NULL) {
                uses[n++] = (NameUse){list->items[i].outputs[k], list->items[i].inputs[0]};
            }
        }
    }
    n += collect_batch_uses(&list->files, p->n_outputs, uses + n);
    return n + collect_batch_uses(&list->whole, p->n_outputs, uses + n);
}

static size_t collect_inputs(const BatchList *list, const char **inputs)
{
    size_t n = 0;
    for (int i = 0; i < list->n; i++) {
        for (int k = 0; k < list->program->n_inputs; k++) {
            inputs[n++] = list->items[i].inputs[k];
        }
    }
    return n;
}

/* A name without fields is that of one file: not of several, unless it is an input's, which is worse. */
static bool check_one_file(const BatchList *list, const NameUse *uses, size_t n_uses, const char *const *inputs,
                           size_t n_inputs, Err *err)
{
    const char *name = list->template;
    size_t files = 0;
    for (size_t i = 0; i < n_uses; i++) {
        files += strcmp(uses[i].name, name) == 0;
    }
    for (size_t i = 0; i < n_inputs; i++) {
        files = strcmp(inputs[i], name) == 0 ? 0 : files;
    }
    if (!names_one_file(list) || files < 2) {
        return true;
    }
    return err_set(err, CODE_USAGE,
                   "-o %s is the name of one file, since it has a dot, and %zu are to be written; write %s/ for a "
                   "folder, or use {stem}, {output} and {ext}",
                   name, files, name);
}

typedef struct FolderUse {
    char *folder; /* its place */
    const NameUse *use;
} FolderUse;

static int compare_folders(const void *a, const void *b)
{
    return strcmp(((const FolderUse *)a)->folder, ((const FolderUse *)b)->folder);
}

/* The place of the folder in which a file is; owned by the caller (free); NULL: out of memory. */
static char *folder_of(const char *path)
{
    char *place = names_place(path), *slash = place != NULL ? strrchr(place, '/') : NULL;
    if (slash != NULL) {
        *slash = '\0';
    }
    return place;
}

static bool check_folder(const char *input, const FolderUse *all, size_t n, Err *err)
{
    ImagePath path;
    char inside[PATH_BYTES + 2];
    if (!image_path(input, &path) || !path.folder) {
        return true;
    }
    snprintf(inside, sizeof inside, "%s/.", path.file);
    FolderUse key = {.folder = folder_of(inside)};
    const FolderUse *found = key.folder != NULL ? bsearch(&key, all, n, sizeof *all, compare_folders) : NULL;
    bool ok = key.folder != NULL;
    free(key.folder);
    return found == NULL ? ok || no_memory(err)
                         : err_set(err, CODE_USAGE,
                                   "the output '%s' would be one more plane of '%s', whose files are one image; choose "
                                   "another folder with -o",
                                   found->use->name, input);
}

/* What is written into a folder that is one image would be a part of it in the next run. */
static bool check_folders(const NameUse *uses, size_t n_uses, const char *const *inputs, size_t n_inputs, Err *err)
{
    FolderUse *all = calloc(n_uses + 1, sizeof *all);
    size_t n = 0;
    bool ok = all != NULL;
    for (size_t i = 0; ok && i < n_uses; i++) {
        const char *slash = strrchr(uses[i].name, '/');
        if (file_is_image_name(slash == NULL ? uses[i].name : slash + 1)) {
            all[n] = (FolderUse){folder_of(uses[i].name), &uses[i]};
            ok = all[n].folder != NULL;
            n += ok;
        }
    }
    if (!ok) {
        no_memory(err);
    } else {
        qsort(all, n, sizeof *all, compare_folders);
    }
    for (size_t i = 0; ok && i < n_inputs; i++) {
        ok = check_folder(inputs[i], all, n, err);
    }
    for (size_t i = 0; i < n; i++) {
        free(all[i].folder);
    }
    free(all);
    return ok;
}

static bool check_clashes(const BatchList *list, Err *err)
{
    const Program *p = list->program;
    size_t images = (size_t)list->n, outputs = (size_t)p->n_outputs;
    NameUse *uses = malloc((images * outputs + 2 * (2 * outputs + 3)) * sizeof *uses);
    const char **inputs = malloc((images * (size_t)p->n_inputs + 1) * sizeof *inputs);
    bool ok = uses != NULL && inputs != NULL;
    if (!ok) {
        no_memory(err);
    } else {
        size_t n = collect_uses(list, uses), n_inputs = collect_inputs(list, inputs);
        ok = check_one_file(list, uses, n, inputs, n_inputs, err) && names_distinct(uses, n, inputs, n_inputs, err) &&
             names_keep_inputs(uses, n, inputs, n_inputs, err) && check_folders(uses, n, inputs, n_inputs, err) &&
             targets_check(list, err);
    }
    free(uses);
    free(inputs);
    return ok;
}

/* A batch of one image whose table already has the name of the table of all, or one of the user's. */
static void drop_needless_merges(const BatchList *list, BatchFiles *files)
{
    for (int k = 0; list->n == 1 && files->merged != NULL && k < list->program->n_outputs; k++) {
        if (files->merged[k] != NULL &&
            (names_one_file(list) || strcmp(files->merged[k], list->items[0].outputs[k]) == 0)) {
            free(files->merged[k]);
            files->merged[k] = NULL;
        }
    }
}

/* Files of the same name in several folders are told apart by their paths. */
static bool make_names_unique(BatchList *list, Err *err)
{
    const char **all = malloc(((size_t)list->n + 1) * sizeof *all);
    if (all == NULL) {
        return no_memory(err);
    }
    for (int i = 0; i < list->n; i++) {
        all[i] = list->items[i].name;
    }
    qsort(all, (size_t)list->n, sizeof *all, compare_texts);
    bool repeated = false;
    for (int i = 1; i < list->n; i++) {
        repeated = repeated || strcmp(all[i - 1], all[i]) == 0;
    }
    free(all);
    for (int i = 0; repeated && i < list->n; i++) {
        char *path = strdup(list->items[i].inputs[0]);
        if (path == NULL) {
            return no_memory(err);
        }
        free(list->items[i].name);
        list->items[i].name = path;
    }
    return true;
}

/* ---- all of it ------------------------------------------------------------------------- */

static void keep_shard(BatchList *list, const Options *o)
{
    int kept = 0;
    list->n_all = list->n;
    for (int i = 0; i < list->n; i++) {
        if (i % o->shards == o->shard - 1) {
            list->items[kept++] = list->items[i];
        } else {
            free_item(list->program, &list->items[i]);
        }
    }
    list->n = kept;
}

static bool make_items(BatchList *list, const Options *o, const FileList *files, Err *err)
{
    size_t n = list->program->n_inputs > 0 ? files->n : 1;
    list->items = calloc(n + 1, sizeof *list->items);
    if (list->items == NULL || n > INT32_MAX) {
        return no_memory(err);
    }
    for (size_t i = 0; i < n; i++) {
        const char *path = list->program->n_inputs > 0 ? files->at[i].path : list->program->name;
        list->n++;
        TRY(make_item(list, o, path, (long)i, &list->items[i], err));
    }
    TRY(list->program->n_inputs == 0 || drop_outputs(list, files, err));
    for (int i = 0; i < list->n; i++) {
        TRY(columns_match(&list->columns, list->items[i].inputs[0], list->items[i].fields, err));
    }
    return true;
}

bool batch_list(const Program *program, const Options *options, BatchList *out, Err *err)
{
    FileList files = {0};
    *out = (BatchList){.program = program};
    bool ok = image_external_use(options->reader, options->reader_seconds, err) &&
              columns_parse(options->columns, &out->columns, err) && read_summary(out, options, err) &&
              make_template(options->output, out, err) && name_all_files(out, options, err) &&
              check_columns(out, options, err) &&
              file_list(options->files, options->n_files, options->stack, &files, err);
    ok = ok && make_items(out, options, &files, err);
    file_list_free(&files);
    if (ok) {
        drop_needless_merges(out, &out->files);
        drop_needless_merges(out, &out->whole);
        ok = check_clashes(out, err) && make_names_unique(out, err);
    }
    if (ok) {
        keep_shard(out, options);
    }
    return ok;
}

static void free_files(BatchFiles *files, int outputs)
{
    for (int i = 0; files->merged != NULL && i < outputs; i++) {
        free(files->merged[i]);
    }
    for (int i = 0; files->summaries != NULL && i <= outputs; i++) {
        free(files->summaries[i]);
    }
    free(files->merged);
    free(files->summaries);
    free(files->values);
    free(files->journal);
    free(files->failed);
    free(files->report);
}

void batch_list_free(BatchList *list)
{
    for (int i = 0; i < list->n; i++) {
        free_item(list->program, &list->items[i]);
    }
    free_files(&list->files, list->program->n_outputs);
    free_files(&list->whole, list->program->n_outputs);
    columns_free(&list->columns);
    free(list->items);
    free(list->shard);
    list->n = 0;
}

/* ---- what the journal knows ---------------------------------------------------------------- */

JournalImage batch_item_files(const Program *program, const BatchItem *item)
{
    return (JournalImage){item->inputs, program->n_inputs, item->outputs, program->n_outputs};
}

void batch_list_key(const BatchList *list, const Options *options, const char *parameters, char key[DIGEST_TEXT])
{
    Digest digest;
    digest_begin(&digest);
    digest_add_text(&digest, list->program->hash);
    digest_add_text(&digest, list->program->version);
    digest_add_text(&digest, parameters);
    digest_add_text(&digest, options->time_as_z ? "time as z" : "");
    if (options->reader != NULL) {
        digest_add_text(&digest, "reader");
        digest_add_text(&digest, options->reader);
    }
    for (int axis = 0; axis < 3; axis++) {
        if (options->pixel_um[axis] > 0) {
            char size[DECIMAL_BYTES];
            decimal_shortest(options->pixel_um[axis], size);
            digest_add_text(&digest, (const char *const[]){"pixels along x", "pixels along y", "pixels along z"}[axis]);
            digest_add_text(&digest, size);
        }
    }
    digest_end(&digest, key);
}
