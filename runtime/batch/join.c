/* join: one table after the other, each from the images that are done. */
#include "join.h"

#include "../../base/file.h"
#include "../../base/utf8.h"
#include "csv.h"
#include "merge.h"
#include "merge_zarr.h"

#include <stdlib.h>

static bool no_memory(Err *err)
{
    return err_set(err, CODE_MEMORY, "out of host memory for the tables of all images");
}

int join_count(const Join *join, JoinFate fate)
{
    int n = 0;
    for (int i = 0; i < join->n; i++) {
        n += join->images[i].fate == fate;
    }
    return n;
}

/* ---- tables ---------------------------------------------------------------------------- */

static int collect_parts(const Join *join, const JoinTable *table, MergePart *parts)
{
    int n = 0;
    for (int i = 0; i < join->n; i++) {
        const JoinImage *image = &join->images[i];
        if (image->fate == JOIN_DONE) {
            const char *part = table->header != NULL ? image->values : image->outputs[table->output];
            parts[n++] = (MergePart){image->name, (const char *const *)image->fields, part};
        }
    }
    return n;
}

static bool join_table(const Join *join, const JoinTable *table, MergePart *parts, Err *err)
{
    const char *by[COLUMNS_MOST];
    MergeColumns with = {.columns = join->columns, .by = join->by, .n_by = join->n_by};
    int n = collect_parts(join, table, parts);
    for (int i = 0; i < join->n_by; i++) {
        by[i] = join->columns->names[join->by[i]];
    }
    if (n == 0) {
        return true;
    }
    with.summary = table->summary != NULL ? summary_new(by, join->n_by) : NULL;
    bool ok = table->summary == NULL || with.summary != NULL || no_memory(err);
    ok = ok && (table->header != NULL ? merge_values(table->path, table->header, &with, parts, n, err)
                : table->zarr         ? merge_zarr(table->path, &with, parts, n, err)
                                      : merge_tables(table->path, &with, parts, n, err));
    ok = ok && (table->summary == NULL || summary_write(with.summary, table->summary, err));
    summary_free(with.summary);
    return ok;
}

bool join_tables(const Join *join, Err *err)
{
    MergePart *parts = calloc((size_t)join->n + 1, sizeof *parts);
    bool ok = parts != NULL || no_memory(err);
    for (int i = 0; ok && i < join->n_tables; i++) {
        ok = join_table(join, &join->tables[i], parts, err);
    }
    free(parts);
    return ok;
}

/* ---- failures -------------------------------------------------------------------------- */

static void put_failures(const Join *join, FILE *to)
{
    fputs("image,stage,kind,reason\n", to);
    for (int i = 0; i < join->n; i++) {
        const JoinImage *image = &join->images[i];
        if (image->fate == JOIN_FAILED) {
            csv_put_text(image->name, to);
            fprintf(to, ",%s,%s,", image->stage, image->transient ? "transient" : "permanent");
            csv_put_text(image->reason, to);
            putc('\n', to);
        }
    }
}

bool join_failures(const Join *join, Err *err)
{
    char *text = NULL;
    size_t size = 0;
    if (join->failed == NULL) {
        return true;
    }
    FILE *to = open_memstream(&text, &size);
    if (to == NULL) {
        return no_memory(err);
    }
    put_failures(join, to);
    bool ok = fclose(to) == 0 || no_memory(err);
    ok = ok && file_write(join->failed, text, size, err);
    free(text);
    return ok;
}

void join_report(const Join *join, FILE *to)
{
    int failed = join_count(join, JOIN_FAILED);
    if (failed > 0) {
        fprintf(to, "%d of %d image%s failed:\n", failed, join->n, join->n == 1 ? "" : "s");
    }
    for (int i = 0; i < join->n; i++) {
        if (join->images[i].fate == JOIN_FAILED) {
            char shown[4096];
            snprintf(shown, sizeof shown, "%s", join->images[i].name);
            utf8_hide_controls(shown, false);
            fprintf(to, "  %s: %s\n", shown, join->images[i].reason);
        }
    }
}

/* 75 where a retry may do more, 4 where nothing was done because nothing fits. */
int join_code(const Join *join)
{
    bool failed = false, transient = false, memory = join_count(join, JOIN_DONE) == 0;
    for (int i = 0; i < join->n; i++) {
        const JoinImage *image = &join->images[i];
        failed = failed || image->fate == JOIN_FAILED;
        transient = transient || (image->fate == JOIN_FAILED && image->transient);
        memory = memory && image->fate == JOIN_FAILED && image->code == CODE_MEMORY;
    }
    bool listed = join->failed != NULL; /* failures for good, which --keep-going allows */
    return transient ? CODE_AGAIN : !failed || listed ? CODE_OK : memory ? CODE_MEMORY : CODE_FILES;
}
