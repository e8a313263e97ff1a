/*
 * shard: a list is lines of fields (fields.h):
 *
 *     pipec-shard  1  KEY  NAME  2  8  40  JOURNAL  JOURNAL-OF-ALL
 *     columns  well  field
 *     by  0
 *     failed  failed.csv
 *     report  report.html  SOURCE  VERSION  PARAMETERS
 *     table  table.csv  table_by_well.csv
 *     values  values.csv  values_by_well.csv  count,mean
 *     done  A01.tif  /plate/A01.tif  VALUES  A01  1  A01_table.csv  A01_labels.tif
 *     failed  B07.tif  /plate/B07.tif  reading  1  0  REASON  B07  1
 *     end
 *
 * Paths are those below the list's folder, so that it can be moved.  The second part of the head, from `columns` on, must
 * be the same in all lists of a batch; the rest are the images: columns, paths of a part for each table, and of what a
 * report draws.
 */
#define _XOPEN_SOURCE 700 /* realpath */
#include "shard.h"

#include "../../base/file.h"
#include "fields.h"
#include "journal.h"
#include "report_of.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_BYTES = 4096, HEAD_FIELDS = 9 };

static const char ENDING[] = ".list";

/* ---- writing --------------------------------------------------------------------------- */

static const char *below(const Shard *shard, const char *path)
{
    size_t n = strlen(shard->folder);
    return path == NULL ? "" : strncmp(path, shard->folder, n) == 0 ? path + n : path;
}

static void put_head(FILE *to, const Shard *s)
{
    fputs("pipec-shard\t1\t", to);
    fields_put(to, s->key);
    fields_put(to, s->name);
    fprintf(to, "%d\t%d\t%d\t", s->shard, s->shards, s->images);
    fields_put(to, below(s, s->journal));
    fields_put(to, below(s, s->whole));
    putc('\n', to);
}

static void put_tables(FILE *to, const Shard *s, const Join *join)
{
    fputs("columns\t", to);
    for (int i = 0; i < join->columns->n; i++) {
        fields_put(to, join->columns->names[i]);
    }
    fputs("\nby\t", to);
    for (int i = 0; i < join->n_by; i++) {
        fprintf(to, "%d\t", join->by[i]);
    }
    fputs("\nfailed\t", to);
    fields_put(to, below(s, join->failed));
    fputs("\nreport\t", to);
    fields_put(to, below(s, join->report));
    fields_put(to, join->source);
    fields_put(to, join->version);
    fields_put(to, join->parameters);
    putc('\n', to);
    for (int i = 0; i < join->n_tables; i++) {
        const JoinTable *table = &join->tables[i];
        fputs(table->header != NULL ? "values\t" : table->zarr ? "zarr\t" : "table\t", to);
        fields_put(to, below(s, table->path));
        fields_put(to, below(s, table->summary));
        fields_put(to, table->header != NULL ? table->header : "");
        putc('\n', to);
    }
}

static void put_image(FILE *to, const Shard *s, const Join *join, const JoinImage *image)
{
    char input[PATH_MAX];
    bool done = image->fate == JOIN_DONE;
    fputs(done ? "done\t" : "failed\t", to);
    fields_put(to, image->name);
    fields_put(to, image->input == NULL ? "" : realpath(image->input, input) != NULL ? input : image->input);
    if (done) {
        fields_put(to, image->values);
    } else {
        fields_put(to, image->stage);
        fprintf(to, "%d\t%d\t", image->code, image->transient);
        fields_put(to, image->reason);
    }
    for (int i = 0; i < join->columns->n; i++) {
        fields_put(to, image->fields[i]);
    }
    for (int i = 0; done && i < join->n_tables; i++) {
        int output = join->tables[i].output;
        fields_put(to, output >= 0 ? below(s, image->outputs[output]) : "");
    }
    if (done) {
        fields_put(to, below(s, image->outlines));
    }
    putc('\n', to);
}

bool shard_write(const char *path, const Shard *shard, const Join *join, Err *err)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    if (to == NULL) {
        return err_set(err, CODE_MEMORY, "out of memory for '%s'", path);
    }
    put_head(to, shard);
    put_tables(to, shard, join);
    for (int i = 0; i < join->n; i++) {
        put_image(to, shard, join, &join->images[i]);
    }
    fputs("end\n", to);
    bool ok = fclose(to) == 0 || err_set(err, CODE_MEMORY, "out of memory for '%s'", path);
    ok = ok && file_write(path, text, size, err);
    free(text);
    return ok;
}

/* ---- reading --------------------------------------------------------------------------- */

/* A list that was read; texts lie in `text` and `paths`. */
typedef struct List {
    char *path, *text, **fields;
    char *common; /* the second part of the head, as it is written */
    Shard shard;
    Columns columns;
    int by[COLUMNS_MOST];
    Join join;
    char **outputs; /* of all images */
} List;

typedef struct Lists {
    List *at;
    int n, room;
} Lists;

/* What is left to read, and where fields go. */
typedef struct Source {
    char *at, **fields;
} Source;

static int fields_of(const char *line, size_t n)
{
    int fields = 0;
    for (size_t i = 0; i < n; i++) {
        fields += line[i] == '\t';
    }
    return fields;
}

/* The fields of the next line, whose first one must be so, without what is behind the last tab; -1: there is none. */
static int take_line(Source *s, const char *first, char ***fields)
{
    size_t n = strcspn(s->at, "\n"), m = strlen(first);
    bool fits = s->at[n] == '\n' && strncmp(s->at, first, m) == 0 && s->at[m] == '\t';
    if (!fits) {
        return -1;
    }
    int count = fields_of(s->at, n);
    s->at[n] = '\0';
    *fields = s->fields;
    s->fields += fields_split(s->at, s->fields, count + 1);
    s->at += n + 1;
    return count;
}

static bool read_head(Source *s, List *list)
{
    char **f;
    if (take_line(s, "pipec-shard", &f) != HEAD_FIELDS || strcmp(f[1], "1") != 0) {
        return false;
    }
    Shard *shard = &list->shard;
    shard->key = f[2];
    shard->name = f[3];
    shard->shard = atoi(f[4]);
    shard->shards = atoi(f[5]);
    shard->images = atoi(f[6]);
    shard->journal = f[7];
    shard->whole = f[8];
    return shard->shard >= 1 && shard->shard <= shard->shards && shard->images >= 0;
}

static bool read_columns(Source *s, List *list)
{
    char **f;
    Join *join = &list->join;
    int n = take_line(s, "columns", &f) - 1;
    if (n < 0 || n > COLUMNS_MOST) {
        return false;
    }
    list->columns.n = n;
    memcpy(list->columns.names, f + 1, (size_t)n * sizeof *f);
    join->n_by = take_line(s, "by", &f) - 1;
    bool ok = join->n_by >= 0 && join->n_by <= COLUMNS_MOST;
    for (int i = 0; ok && i < join->n_by; i++) {
        list->by[i] = atoi(f[1 + i]);
        ok = list->by[i] >= 0 && list->by[i] < n;
    }
    ok = ok && take_line(s, "failed", &f) == 2;
    join->failed = ok && f[1][0] != '\0' ? f[1] : NULL;
    ok = ok && take_line(s, "report", &f) == 5;
    if (ok) {
        join->report = f[1][0] != '\0' ? f[1] : NULL;
        join->source = f[2];
        join->version = f[3];
        join->parameters = f[4];
    }
    return ok;
}

static bool read_tables(Source *s, List *list)
{
    char **f;
    Join *join = &list->join;
    for (;;) {
        int n = take_line(s, "table", &f), zarr = n < 0 ? take_line(s, "zarr", &f) : -1;
        bool values = n < 0 && zarr < 0;
        n = values ? take_line(s, "values", &f) : n < 0 ? zarr : n;
        if (n != 4) {
            return n < 0;
        }
        join->tables[join->n_tables] = (JoinTable){.path = f[1],
                                                   .summary = f[2][0] != '\0' ? f[2] : NULL,
                                                   .header = values ? f[3] : NULL,
                                                   .output = join->n_tables,
                                                   .zarr = zarr >= 0};
        join->n_tables++;
    }
}

static bool read_images(Source *s, List *list)
{
    char **f;
    Join *join = &list->join;
    const int columns = list->columns.n;
    for (;;) {
        JoinImage *image = &join->images[join->n];
        int done = take_line(s, "done", &f), failed = done < 0 ? take_line(s, "failed", &f) : -1;
        if (done == 5 + columns + join->n_tables) {
            *image = (JoinImage){JOIN_DONE, .name = f[1], .values = f[3], .fields = f + 4, .outputs = f + 4 + columns};
        } else if (failed == 7 + columns) {
            *image = (JoinImage){JOIN_FAILED, .name = f[1], .stage = f[3], .reason = f[6], .fields = f + 7};
            image->code = atoi(f[4]);
            image->transient = strcmp(f[5], "1") == 0;
        } else {
            return done < 0 && failed < 0 && strcmp(s->at, "end\n") == 0;
        }
        image->input = f[2][0] != '\0' ? f[2] : NULL;
        join->n++;
    }
}

/* A list may come from anywhere: what is written has a plain name of its kind, and what is read lies below the folder. */
static bool is_plain(const char *name, const char *ending)
{
    size_t n = name != NULL ? strlen(name) : 0, m = strlen(ending);
    return name == NULL || (n > m && strcmp(name + n - m, ending) == 0 && strchr(name, '/') == NULL);
}

static bool is_below(const char *name)
{
    bool below = name[0] != '/';
    for (const char *part = name; below && part != NULL; part = strchr(part, '/')) {
        part += *part == '/';
        below = strcmp(part, "..") != 0 && strncmp(part, "../", 3) != 0;
    }
    return below;
}

static bool names_are_safe(const List *list)
{
    const Join *join = &list->join;
    bool safe = is_plain(list->shard.whole, ".journal") && is_plain(list->shard.journal, ".journal") &&
                is_plain(join->failed, ".csv") && is_plain(join->report, ".html");
    for (int i = 0; i < join->n_tables; i++) {
        safe = safe && is_plain(join->tables[i].path, join->tables[i].zarr ? ".zarr" : ".csv") &&
               is_plain(join->tables[i].summary, ".csv");
    }
    for (int i = 0; i < join->n; i++) {
        char *const *names = join->images[i].outputs;
        for (int k = 0; names != NULL && k <= join->n_tables; k++) {
            safe = safe && is_below(names[k]);
        }
    }
    return safe;
}

static bool read_parts(List *list)
{
    size_t fields = 2, lines = 1;
    for (const char *c = list->text; *c != '\0'; c++) {
        fields += *c == '\t' || *c == '\n';
        lines += *c == '\n';
    }
    list->fields = calloc(fields, sizeof *list->fields);
    list->join.images = calloc(lines, sizeof *list->join.images);
    list->join.tables = calloc(lines, sizeof *list->join.tables);
    if (list->fields == NULL || list->join.images == NULL || list->join.tables == NULL) {
        return false;
    }
    Source s = {list->text, list->fields};
    bool ok = read_head(&s, list);
    const char *from = s.at;
    char *common = ok ? strdup(from) : NULL;
    list->common = common;
    ok = common != NULL && read_columns(&s, list) && read_tables(&s, list);
    if (ok) {
        common[s.at - from] = '\0';
    }
    return ok && read_images(&s, list) && names_are_safe(list);
}

static void list_free(List *list)
{
    for (int i = 0; list->outputs != NULL && list->outputs[i] != NULL; i++) {
        free(list->outputs[i]);
    }
    free(list->outputs);
    free(list->join.images);
    free(list->join.tables);
    free(list->common);
    free(list->fields);
    free(list->text);
    free(list->path);
}

/* Puts the folder in front of the paths of the images' tables and outlines. */
static bool place_outputs(List *list, const char *folder)
{
    Join *join = &list->join;
    size_t n = 0;
    list->outputs = calloc((size_t)join->n * ((size_t)join->n_tables + 1) + 1, sizeof *list->outputs);
    bool ok = list->outputs != NULL;
    for (int i = 0; ok && i < join->n; i++) {
        char *const *names = join->images[i].outputs;
        join->images[i].outputs = list->outputs + n;
        for (int k = 0; ok && names != NULL && k <= join->n_tables; k++, n++) {
            size_t size = strlen(folder) + strlen(names[k]) + 1;
            ok = (list->outputs[n] = malloc(size)) != NULL;
            if (ok) {
                snprintf(list->outputs[n], size, "%s%s", names[k][0] == '/' ? "" : folder, names[k]);
            }
        }
        bool drawn = ok && names != NULL && names[join->n_tables][0] != '\0';
        join->images[i].outlines = drawn ? list->outputs[n - 1] : NULL;
    }
    return ok;
}

static bool read_list(Lists *lists, const char *folder, const char *name, Err *err)
{
    char path[2 * PATH_BYTES];
    size_t size;
    snprintf(path, sizeof path, "%s%s", folder, name);
    if (lists->n == lists->room) {
        int room = 2 * lists->room + 16;
        List *more = realloc(lists->at, (size_t)room * sizeof *more);
        if (more == NULL) {
            return err_set(err, CODE_MEMORY, "out of memory for '%s'", path);
        }
        lists->at = more;
        lists->room = room;
    }
    List *list = &lists->at[lists->n++];
    *list = (List){.path = strdup(path), .shard = {.folder = folder}};
    TRY(file_read(path, &list->text, &size, err));
    return (list->path != NULL && read_parts(list) && place_outputs(list, folder)) ||
           err_set(err, CODE_FILES, "'%s' is not what a shard of this version leaves; run the shard again", path);
}

static bool is_list(const char *name)
{
    size_t n = strlen(name), m = strlen(ENDING);
    return name[0] == '.' && n > m && strcmp(name + n - m, ENDING) == 0 && strstr(name, ".shard-") != NULL;
}

/* Lists of the folder, whose name has its slash and lives as long as they do. */
static bool read_folder(Lists *lists, const char *folder, Err *err)
{
    DIR *dir = opendir(folder[0] != '\0' ? folder : ".");
    if (dir == NULL) {
        return file_err_set(err, CODE_USAGE, "read", folder, errno);
    }
    bool ok = true;
    for (const struct dirent *entry; ok && (entry = readdir(dir)) != NULL;) {
        ok = !is_list(entry->d_name) || read_list(lists, folder, entry->d_name, err);
    }
    closedir(dir);
    return ok;
}

/* ---- which belong together ------------------------------------------------------------- */

static int compare_batches(const List *a, const List *b)
{
    int order = strcmp(a->shard.name, b->shard.name);
    order = order != 0 ? order : a->shard.shards - b->shard.shards;
    return order != 0 ? order : strcmp(a->shard.key, b->shard.key);
}

static int compare_lists(const void *a, const void *b)
{
    const List *p = a, *q = b;
    int order = compare_batches(p, q);
    return order != 0 ? order : p->shard.shard - q->shard.shard;
}

/* How many lists from the first one on are of its batch. */
static int length_of_batch(const List *lists, int n)
{
    int length = 1;
    while (length < n && compare_batches(&lists[0], &lists[length]) == 0) {
        length++;
    }
    return length;
}

/* Names the shards of which there is no list. */
static bool all_there(const List *lists, int n, Err *err)
{
    char text[400] = "";
    size_t used = 0;
    int at = 0, missing = 0, shards = lists[0].shard.shards;
    for (int shard = 1; shard <= shards; shard++) {
        bool there = at < n && lists[at].shard.shard == shard;
        while (at < n && lists[at].shard.shard == shard) {
            at++;
        }
        if (!there && missing++ < 40 && used < sizeof text) {
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%d", used > 0 ? ", " : "", shard);
        }
    }
    return missing == 0 || err_set(err, CODE_FILES, "of the %d shards of %s %d %s not done: %s%s; run %s, then merge",
                                   shards, lists[0].shard.name, missing, missing == 1 ? "is" : "are", text,
                                   missing > 40 ? " ..." : "", missing == 1 ? "it" : "them");
}

static bool fit_together(const List *lists, int n, Err *err)
{
    for (int i = 1; i < n; i++) {
        const List *a = &lists[i - 1], *b = &lists[i];
        if (a->shard.shard == b->shard.shard) {
            return err_set(err, CODE_USAGE, "'%s' and '%s' are of the same shard", a->path, b->path);
        }
        if (a->shard.images != b->shard.images || strcmp(a->common, b->common) != 0) {
            return err_set(err, CODE_USAGE,
                           "shard %d ('%s') was made of other images, or with other options for tables, than shard %d; "
                           "run one of them again",
                           b->shard.shard, b->path, a->shard.shard);
        }
    }
    for (int i = 0; i < n; i++) {
        const Shard *s = &lists[i].shard;
        if (lists[i].join.n != (s->images - s->shard + s->shards) / s->shards) {
            return err_set(err, CODE_FILES, "'%s' is damaged; run the shard again", lists[i].path);
        }
    }
    return true;
}

/* ---- joining --------------------------------------------------------------------------- */

static char *placed(const char *folder, const char *name)
{
    size_t size = name != NULL ? strlen(folder) + strlen(name) + 1 : 0;
    char *path = size > 0 ? malloc(size) : NULL;
    if (path != NULL) {
        snprintf(path, size, "%s%s", name[0] == '/' ? "" : folder, name);
    }
    return path;
}

/* The paths of what will be written, which take the place of names; freed one by one. */
static bool place_tables(Join *join, const char *folder)
{
    bool ok = true;
    for (int i = 0; i < join->n_tables; i++) {
        JoinTable *table = &join->tables[i];
        bool summary = table->summary != NULL;
        table->path = placed(folder, table->path);
        table->summary = placed(folder, table->summary);
        ok = ok && table->path != NULL && (table->summary != NULL || !summary);
    }
    bool failed = join->failed != NULL, report = join->report != NULL;
    join->failed = placed(folder, join->failed);
    join->report = placed(folder, join->report);
    return ok && (join->failed != NULL || !failed) && (join->report != NULL || !report);
}

static void free_tables(Join *join)
{
    for (int i = 0; i < join->n_tables; i++) {
        free(join->tables[i].path);
        free(join->tables[i].summary);
    }
    free(join->failed);
    free(join->report);
    free(join->tables);
    free(join->images);
}

static bool join_journals(const List *lists, int n, const char *folder, Err *err)
{
    char **paths = calloc((size_t)n + 1, sizeof *paths), *whole = placed(folder, lists[0].shard.whole);
    bool ok = paths != NULL && whole != NULL;
    for (int i = 0; ok && i < n; i++) {
        paths[i] = placed(lists[i].shard.folder, lists[i].shard.journal);
        ok = paths[i] != NULL;
    }
    ok = (ok || err_set(err, CODE_MEMORY, "out of memory for the journals of shards")) &&
         journal_join(whole, lists[0].shard.key, (const char *const *)paths, n, err);
    for (int i = 0; paths != NULL && i < n; i++) {
        free(paths[i]);
    }
    free(paths);
    free(whole);
    return ok;
}

/* The images of all shards in the order of the batch, and the tables to be written. */
static bool make_join(const List *lists, int n, const char *folder, Join *join, Err *err)
{
    *join = lists[0].join;
    join->n = lists[0].shard.images;
    join->images = calloc((size_t)join->n + 1, sizeof *join->images);
    join->tables = calloc((size_t)join->n_tables + 1, sizeof *join->tables);
    bool ok = join->images != NULL && join->tables != NULL;
    join->n_tables = ok ? join->n_tables : 0;
    for (int i = 0; ok && i < join->n; i++) {
        join->images[i] = lists[i % n].join.images[i / n];
    }
    for (int i = 0; i < join->n_tables; i++) {
        join->tables[i] = lists[0].join.tables[i];
    }
    return (ok && place_tables(join, folder)) || err_set(err, CODE_MEMORY, "out of memory for the tables of shards");
}

static bool merge_batch(const List *lists, int n, const char *folder, const char *command, int *code, Err *err)
{
    Join join;
    TRY(fit_together(lists, n, err));
    bool ok = make_join(lists, n, folder, &join, err) && join_tables(&join, err) && join_failures(&join, err) &&
              join_journals(lists, n, folder, err);
    ok = ok && (join.report == NULL || report_of(&join, lists[0].shard.name, NULL, 0, NULL, err));
    if (ok) {
        int own = join_code(&join);
        join_report(&join, stderr);
        printf("%s: %s: %d images of %d shards\n", command, lists[0].shard.name, join.n, n);
        *code = own != CODE_OK && *code != CODE_AGAIN ? own : *code;
    }
    free_tables(&join);
    return ok;
}

/* Of the batches of one pipeline the one that is whole; others may be from before, in other shards. */
static bool merge_pipeline(const List *lists, int n, const char *folder, int shards, const char *command, int *code,
                           Err *err)
{
    Err missing = {0};
    const List *whole = NULL;
    int length = 0;
    for (int i = 0, m; i < n; i += m) {
        m = length_of_batch(lists + i, n - i);
        bool other = shards > 0 && lists[i].shard.shards != shards;
        if (other || !all_there(lists + i, m, &missing)) {
            continue;
        }
        if (whole != NULL) {
            return err_set(err, CODE_USAGE,
                           "there are two batches of %s, of %d and of %d shards, or with other parameters; remove the "
                           "files '%s' and its like of the one that is not meant",
                           whole->shard.name, whole->shard.shards, lists[i].shard.shards, lists[i].path);
        }
        whole = lists + i;
        length = m;
    }
    if (whole == NULL) {
        return err_set(err, missing.code, "%s", missing.text);
    }
    return merge_batch(whole, length, folder, command, code, err);
}

/* Lists that stand still have pointers into themselves. */
static void settle(Lists *lists)
{
    for (int i = 0; i < lists->n; i++) {
        lists->at[i].join.columns = &lists->at[i].columns;
        lists->at[i].join.by = lists->at[i].by;
    }
}

static bool merge_lists(Lists *lists, const char *folder, const char *name, int shards, const char *command, int *code,
                        Err *err)
{
    bool found = false;
    if (lists->n > 0) {
        qsort(lists->at, (size_t)lists->n, sizeof *lists->at, compare_lists);
    }
    settle(lists);
    for (int i = 0, n; i < lists->n; i += n) {
        const List *first = &lists->at[i];
        for (n = 1; i + n < lists->n && strcmp(first[n].shard.name, first->shard.name) == 0; n++) {
        }
        if (name == NULL || strcmp(name, first->shard.name) == 0) {
            TRY(merge_pipeline(first, n, folder, shards, command, code, err));
            found = true;
        }
    }
    return found || err_set(err, CODE_FILES, "no shard has ended that wrote to '%s'", folder[0] != '\0' ? folder : ".");
}

static bool with_slash(const char *folder, char to[PATH_BYTES], Err *err)
{
    size_t n = strlen(folder);
    int size = snprintf(to, PATH_BYTES, "%s%s", folder, n > 0 && folder[n - 1] != '/' ? "/" : "");
    return size < PATH_BYTES || err_set(err, CODE_USAGE, "the name of the folder '%.40s...' is too long", folder);
}

int shard_merge(const char *const *folders, int n, const char *output, const char *name, int shards,
                const char *command)
{
    Err err = {0};
    Lists lists = {0};
    char to[PATH_BYTES], (*names)[PATH_BYTES] = calloc((size_t)n, sizeof *names);
    int code = CODE_OK;
    bool ok = names != NULL || err_set(&err, CODE_MEMORY, "out of memory for the names of folders");
    ok = ok && with_slash(output != NULL ? output : folders[0], to, &err);
    for (int i = 0; ok && i < n; i++) {
        ok = with_slash(folders[i], names[i], &err) && read_folder(&lists, names[i], &err);
    }
    ok = ok && (output == NULL || file_make_folder(to, &err));
    if (!ok || !merge_lists(&lists, to, name, shards, command, &code, &err)) {
        fprintf(stderr, "%s: %s\n", command, err.text);
        code = err_exit_code(&err);
    }
    for (int i = 0; i < lists.n; i++) {
        list_free(&lists.at[i]);
    }
    free(lists.at);
    free(names);
    return code;
}
