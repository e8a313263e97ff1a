/*
 * zarr_plate_write: metadata are read, completed and replaced under a lock of the plate's folder, since the images of a plate
 * are written by several threads, and by several machines.  Lists are sorted, so that they do not tell who came first.
 */
#define _DEFAULT_SOURCE /* flock */
#include "zarr_plate_write.h"

#include "../../base/file.h"
#include "file_list.h"
#include "image_path.h"
#include "zarr_describe.h"
#include "zarr_ome.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

/* ---- names ----------------------------------------------------------------------------- */

enum { NAME_BYTES = 64 };

/* True for so many names with slashes between them.  Rows, columns and fields have names of letters and digits. */
static bool are_names(const char *at, int n)
{
    bool fine = true;
    for (int i = 0; fine && i < n; i++) {
        const char *from = i == 0 ? at : at + 1;
        fine = i == 0 || *at == '/';
        for (at = fine ? from : at; isalnum((unsigned char)*at);) {
            at++;
        }
        fine = fine && at > from && at - from < NAME_BYTES;
    }
    return fine && *at == '\0';
}

size_t zarr_plate_length(const char *path)
{
    static const char ENDING[] = ".zarr/";
    const char *zarr = strstr(path, ENDING);
    bool plate = zarr != NULL && are_names(zarr + sizeof ENDING - 1, 3);
    return plate ? (size_t)(zarr - path) + sizeof ENDING - 2 : 0;
}

/* ---- reading --------------------------------------------------------------------------- */

/* The metadata of the folder that is so much of a path; nothing where there is none. */
static bool read_folder(const char *path, size_t length, ZarrOme *ome, Err *err)
{
    char folder[IMAGE_PATH_BYTES];
    *ome = (ZarrOme){.kind = ZARR_NONE};
    snprintf(folder, sizeof folder, "%.*s", (int)length, path);
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        return errno == ENOENT || file_err_set(err, CODE_OUTPUT, "open", folder, errno);
    }
    bool ok = zarr_ome_read(fd, ome, err);
    close(fd);
    return ok;
}

bool zarr_plate_version(const char *path, size_t plate, int *version, Err *err)
{
    ZarrOme ome;
    TRY(read_folder(path, plate, &ome, err));
    bool fits = ome.kind == ZARR_PLATE || ome.kind == ZARR_NONE;
    *version = ome.kind == ZARR_PLATE ? ome.version : *version;
    zarr_ome_free(&ome);
    return fits ||
           err_set(err, CODE_OUTPUT, "cannot write '%s': '%.*s' is there, and no plate", path, (int)plate, path);
}

/* ---- lists ----------------------------------------------------------------------------- */

typedef struct Names {
    const char **at;
    int n;
} Names;

static int compare_names(const void *a, const void *b)
{
    return file_natural_order(*(const char *const *)a, *(const char *const *)b);
}

/* What a list of metadata says under "path", and one more, sorted; names are borrowed.  *listed: it was there.  False for
 * what is not `parts` names. */
static bool gather(const cJSON *list, const char *more, int parts, Names *out, bool *listed, Err *err)
{
    const cJSON *entry;
    out->at = calloc((size_t)cJSON_GetArraySize(list) + 1, sizeof *out->at);
    out->n = 0;
    *listed = false;
    if (out->at == NULL) {
        return err_set(err, CODE_MEMORY, "out of memory");
    }
    cJSON_ArrayForEach(entry, list)
    {
        const char *path = zarr_json_text(entry, "path");
        if (path == NULL || !are_names(path, parts)) {
            return err_set(err, CODE_OUTPUT, "the metadata of the plate list what is no well or field");
        }
        bool same = strcmp(path, more) == 0;
        *listed = *listed || same;
        if (!same) {
            out->at[out->n++] = path;
        }
    }
    out->at[out->n++] = more;
    qsort(out->at, (size_t)out->n, sizeof *out->at, compare_names);
    return true;
}

/* ---- writing --------------------------------------------------------------------------- */

static bool write_text(const char *path, size_t length, const char *name, const char *text, size_t size, Err *err)
{
    char file[IMAGE_PATH_BYTES + 32];
    snprintf(file, sizeof file, "%.*s/%s", (int)length, path, name);
    return file_write(file, text, size, err);
}

/* A group with these attributes, a text of JSON; "": none. */
static bool write_group(const char *path, size_t length, int version, const char *attributes, Err *err)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    TRY(to != NULL || err_set(err, CODE_MEMORY, "out of memory"));
    if (version == 2) {
        fprintf(to, "{%s}\n", attributes);
    } else {
        fprintf(to, "{\n  \"zarr_format\": 3,\n  \"node_type\": \"group\",\n  \"attributes\": {");
        fprintf(to, attributes[0] != '\0' ? "\"ome\": {\"version\": \"0.5\", %s}}\n}\n" : "%s}\n}\n", attributes);
    }
    bool ok = fclose(to) == 0 || err_set(err, CODE_MEMORY, "out of memory");
    ok = ok && (version == 3 || write_text(path, length, ".zgroup", ZARR_GROUP_TWO, strlen(ZARR_GROUP_TWO), err)) &&
         ((version == 2 && attributes[0] == '\0') ||
          write_text(path, length, version == 2 ? ".zattrs" : "zarr.json", text, size, err));
    free(text);
    return ok;
}

/* The folder of a row, once. */
static bool write_row(const char *path, size_t length, int version, Err *err)
{
    char file[IMAGE_PATH_BYTES + 32];
    snprintf(file, sizeof file, "%.*s/%s", (int)length, path, version == 2 ? ".zgroup" : "zarr.json");
    return access(file, F_OK) == 0 || write_group(path, length, version, "", err);
}

static void put_well(FILE *to, int version, const Names *fields)
{
    fprintf(to, "\"well\": {%s\"images\": [", version == 2 ? "\"version\": \"0.4\", " : "");
    for (int i = 0; i < fields->n; i++) {
        fprintf(to, "%s{\"path\": \"%s\"}", i > 0 ? ", " : "", fields->at[i]);
    }
    fprintf(to, "]}");
}

/* A row or a column. */
typedef struct Side {
    char name[NAME_BYTES];
} Side;

static int compare_sides(const void *a, const void *b)
{
    return file_natural_order(((const Side *)a)->name, ((const Side *)b)->name);
}

/* Those of wells "A/1", sorted, each once; `to` has room for one of each well.  Returns how many. */
static int collect_sides(const Names *wells, bool columns, Side *to)
{
    int n = 0;
    for (int i = 0; i < wells->n; i++) {
        const char *well = wells->at[i], *slash = strchr(well, '/');
        Side side;
        snprintf(side.name, sizeof side.name, "%.*s", columns ? NAME_BYTES : (int)(slash - well),
                 columns ? slash + 1 : well);
        int known = 0;
        while (known < n && strcmp(to[known].name, side.name) != 0) {
            known++;
        }
        to[known] = side;
        n = known == n ? n + 1 : n;
    }
    qsort(to, (size_t)n, sizeof *to, compare_sides);
    return n;
}

static void put_sides(FILE *to, const char *key, const Side *sides, int n)
{
    fprintf(to, "\"%s\": [", key);
    for (int i = 0; i < n; i++) {
        fprintf(to, "%s{\"name\": \"%s\"}", i > 0 ? ", " : "", sides[i].name);
    }
    fprintf(to, "],\n  ");
}

static int find_side(const Side *sides, const char *name, size_t length)
{
    int i = 0;
    while (strlen(sides[i].name) != length || memcmp(sides[i].name, name, length) != 0) {
        i++;
    }
    return i;
}

static bool put_plate(FILE *to, int version, const Names *wells, Err *err)
{
    Side *rows = calloc((size_t)wells->n, sizeof *rows), *columns = calloc((size_t)wells->n, sizeof *columns);
    bool ok = rows != NULL && columns != NULL;
    if (ok) {
        int n_rows = collect_sides(wells, false, rows), n_columns = collect_sides(wells, true, columns);
        fprintf(to, "\"plate\": {%s", version == 2 ? "\"version\": \"0.4\", " : "");
        put_sides(to, "rows", rows, n_rows);
        put_sides(to, "columns", columns, n_columns);
        fprintf(to, "\"wells\": [");
        for (int i = 0; i < wells->n; i++) {
            const char *name = wells->at[i], *slash = strchr(name, '/');
            fprintf(to, "%s\n    {\"path\": \"%s\", \"rowIndex\": %d, \"columnIndex\": %d}", i > 0 ? "," : "", name,
                    find_side(rows, name, (size_t)(slash - name)), find_side(columns, slash + 1, strlen(slash + 1)));
        }
        fprintf(to, "]}");
    }
    free(rows);
    free(columns);
    return ok || err_set(err, CODE_MEMORY, "out of memory");
}

/* Adds a name to the list of a group: a field to a well, or a well to a plate. */
static bool add_to(const char *path, size_t length, int version, const char *kind, const char *list, const char *more,
                   Err *err)
{
    ZarrOme ome;
    Names names;
    bool listed = false, plate = strcmp(kind, "plate") == 0;
    char *text = NULL;
    size_t size = 0;
    TRY(read_folder(path, length, &ome, err));
    bool ok = gather(zarr_json_array(zarr_json_object(ome.at, kind), list), more, plate ? 2 : 1, &names, &listed, err);
    FILE *to = ok && !listed ? open_memstream(&text, &size) : NULL;
    if (to != NULL) {
        ok = !plate || put_plate(to, version, &names, err);
        if (!plate) {
            put_well(to, version, &names);
        }
        ok = (fclose(to) == 0 || err_set(err, CODE_MEMORY, "out of memory")) && ok;
        ok = ok && write_group(path, length, version, text, err);
    } else {
        ok = ok && (listed || err_set(err, CODE_MEMORY, "out of memory"));
    }
    free(text);
    free(names.at);
    zarr_ome_free(&ome);
    return ok;
}

bool zarr_plate_add(const char *path, size_t plate, int version, Err *err)
{
    char folder[IMAGE_PATH_BYTES], well[IMAGE_PATH_BYTES];
    const char *row = path + plate + 1, *column = strchr(row, '/'), *field = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", (int)plate, path);
    snprintf(well, sizeof well, "%.*s", (int)(field - row), row);
    int lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    TRY(lock >= 0 || file_err_set(err, CODE_OUTPUT, "open", folder, errno));
    (void)flock(lock, LOCK_EX); /* where a file system has none, one machine writes at a time */
    bool ok = add_to(path, (size_t)(field - path), version, "well", "images", field + 1, err) &&
              write_row(path, (size_t)(column - path), version, err) &&
              add_to(path, plate, version, "plate", "wells", well, err);
    close(lock);
    return ok;
}
