/*
 * targets: names are looked at first, and files are opened only where the name does not settle it.
 */
#include "targets.h"

#include "../../base/file.h"
#include "../files/image.h"
#include "names.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { MOST_ENDINGS = 5 };

/* What is written, and names that promise it; those of the last row promise what is never written. */
static const struct Kind {
    const char *format, *what;
    const char *endings[MOST_ENDINGS];
} KINDS[] = {
    {"tif", "a TIFF file", {".tif", ".tiff", ".tf8", ".btf"}},
    {"png", "a PNG file", {".png"}},
    {"fits", "a FITS file", {".fits", ".fit", ".fts"}},
    {"zarr", "a folder of OME-Zarr", {".zarr"}},
    {"geojson", "a GeoJSON file", {".geojson", ".json"}},
    {"roi", "an archive of ROIs", {".zip"}},
    {"csv", "a table in CSV", {".csv"}},
    {"", "", {".jpg", ".jpeg", ".gz", ".fz", ".xlsx"}},
};
enum { N_KINDS = sizeof KINDS / sizeof *KINDS };

static bool promises(const struct Kind *kind, const char *name)
{
    size_t n = strlen(name);
    for (int i = 0; i < MOST_ENDINGS && kind->endings[i] != NULL; i++) {
        size_t m = strlen(kind->endings[i]);
        if (n >= m && strcasecmp(name + n - m, kind->endings[i]) == 0) {
            return true;
        }
    }
    return false;
}

static const struct Kind *kind_of_name(const char *name)
{
    for (int i = 0; i < N_KINDS; i++) {
        if (promises(&KINDS[i], name)) {
            return &KINDS[i];
        }
    }
    return NULL;
}

static const struct Kind *kind_of_format(const char *format)
{
    int i = 0;
    while (strcmp(KINDS[i].format, format) != 0) {
        i++;
    }
    return &KINDS[i];
}

/* A table begins with the names of its columns. */
static bool is_table(const unsigned char *head, size_t n)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-,";
    size_t line = 0;
    while (line < n && head[line] != '\0' && strchr(letters, head[line]) != NULL) {
        line++;
    }
    return memchr(head, ',', line) != NULL && (line == n || head[line] == '\n');
}

static bool is_image(const struct Kind *kind)
{
    return kind->format[0] != '\0' && strcmp(kind->format, "csv") != 0;
}

static bool refuse_name(const ProgOutput *output, const char *name, const char *input, const struct Kind *named,
                        const struct Kind *kind, Err *err)
{
    char other[80] = "";
    if (is_image(kind) && is_image(named)) {
        snprintf(other, sizeof other, ", or write `as %s` behind the output", named->format);
    }
    return err_set(err, CODE_USAGE, "'%s' is no name for the output '%s' of '%s', which is %s; end the name in %s%s%s",
                   name, output->name, input, kind->what, kind->endings[0],
                   output->kind == OUT_VALUE ? "" : " or .{ext}", other);
}

const char *targets_format(const ProgOutput *output, const char *name)
{
    const struct Kind *named = kind_of_name(name);
    bool zarr = named != NULL ? strcmp(named->format, "zarr") == 0 : strchr(names_of_image(name), '/') != NULL;
    return zarr && strcmp(output->format, "tif") == 0 ? "zarr" : output->format;
}

static bool check(const ProgOutput *output, const char *name, const char *input, Err *err)
{
    const struct Kind *kind = kind_of_format(targets_format(output, name)), *named = kind_of_name(name);
    if (named == kind) {
        return true;
    }
    if (named != NULL) {
        return refuse_name(output, name, input, named, kind, err);
    }
    return (is_image(kind) ? image_may_replace(name, kind->format) : file_may_replace(name, is_table)) ||
           err_set(err, CODE_USAGE,
                   "the output '%s' of '%s' would replace '%s', which is not %s; choose another name or folder with -o",
                   output->name, input, name, kind->what);
}

bool targets_check(const BatchList *list, Err *err)
{
    const Program *p = list->program;
    const char *values = list->shard != NULL ? list->whole.values : list->files.values;
    for (int i = 0; i < list->n; i++) {
        const BatchItem *item = &list->items[i];
        for (int k = 0; k < p->n_outputs; k++) {
            const char *name = p->outputs[k].kind == OUT_VALUE ? values : item->outputs[k];
            TRY(check(&p->outputs[k], name, item->inputs[0], err));
        }
    }
    return true;
}
