/* zarr_ome: the specifications are at ngff.openmicroscopy.org; axes without types are those of 0.3. */
#include "zarr_ome.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- what a folder is ------------------------------------------------------------------ */

/* By a key of the metadata. */
static const struct {
    const char *key;
    ZarrKind kind;
} KEYS[] = {
    {"multiscales", ZARR_IMAGE}, {"plate", ZARR_PLATE}, {"well", ZARR_WELL}, {"bioformats2raw.layout", ZARR_SERIES},
    {"labels", ZARR_LABELS},
};

static ZarrKind kind_of(const cJSON *at)
{
    for (size_t i = 0; i < sizeof KEYS / sizeof *KEYS; i++) {
        if (cJSON_GetObjectItemCaseSensitive(at, KEYS[i].key) != NULL) {
            return KEYS[i].kind;
        }
    }
    return ZARR_NONE;
}

static bool read_three(ZarrOme *out)
{
    const char *node = zarr_json_text(out->root, "node_type");
    const cJSON *attributes = zarr_json_object(out->root, "attributes");
    const cJSON *ome = zarr_json_object(attributes, "ome");
    out->version = 3;
    out->at = ome != NULL ? ome : attributes;
    out->kind = kind_of(out->at);
    if (out->kind == ZARR_NONE) {
        out->kind = node != NULL && strcmp(node, "array") == 0 ? ZARR_ARRAY : ZARR_GROUP;
    }
    return true;
}

static bool read_two(int folder, ZarrOme *out, Err *err)
{
    cJSON *array = NULL, *group = NULL;
    bool ok = zarr_json_read(folder, ".zattrs", &out->root, err) && zarr_json_read(folder, ".zarray", &array, err) &&
              zarr_json_read(folder, ".zgroup", &group, err);
    out->version = 2;
    out->at = out->root;
    out->kind = kind_of(out->at);
    if (out->kind == ZARR_NONE) {
        out->kind = array != NULL ? ZARR_ARRAY : group != NULL ? ZARR_GROUP : ZARR_NONE;
    }
    cJSON_Delete(array);
    cJSON_Delete(group);
    return ok;
}

bool zarr_ome_read(int folder, ZarrOme *out, Err *err)
{
    *out = (ZarrOme){.kind = ZARR_NONE};
    bool ok = zarr_json_read(folder, "zarr.json", &out->root, err) &&
              (out->root != NULL ? read_three(out) : read_two(folder, out, err));
    if (!ok) {
        zarr_ome_free(out);
    }
    return ok;
}

void zarr_ome_free(ZarrOme *ome)
{
    cJSON_Delete(ome->root);
    *ome = (ZarrOme){.kind = ZARR_NONE};
}

bool zarr_path_is_inside(const char *path)
{
    size_t part = 0;
    for (const char *at = path; *at != '\0'; at += part + (at[part] == '/')) {
        part = strcspn(at, "/");
        if (part == 0 || (part == 2 && at[0] == '.' && at[1] == '.')) {
            return false;
        }
    }
    return path[0] != '\0';
}

/* ---- axes ------------------------------------------------------------------------------ */

static char letter_of(const char *name, const char *type)
{
    char letter = name != NULL && name[0] != '\0' && name[1] == '\0' ? (char)tolower((unsigned char)name[0]) : '?';
    if (type != NULL && strcmp(type, "channel") == 0) {
        return 'c';
    }
    if (type != NULL && strcmp(type, "time") == 0) {
        return 't';
    }
    return strchr("tczyx", letter) != NULL ? letter : '?';
}

static bool read_axes(const cJSON *scales, ZarrLevel *out, Err *err)
{
    const cJSON *axes = zarr_json_array(scales, "axes"), *axis;
    int n = 0;
    cJSON_ArrayForEach(axis, axes)
    {
        const char *name = cJSON_IsString(axis) ? cJSON_GetStringValue(axis) : zarr_json_text(axis, "name");
        const char *unit = zarr_json_text(axis, "unit");
        char letter = letter_of(name, zarr_json_text(axis, "type"));
        if (n == ZARR_DIMS || letter == '?' || strchr(out->axes, letter) != NULL) {
            return err_set(err, CODE_FILES, "its axis '%.40s' is one too many; t, c, z, y and x are read, each once",
                           name != NULL ? name : "?");
        }
        snprintf(out->unit[n], sizeof out->unit[n], "%s", unit != NULL ? unit : "");
        out->axes[n++] = letter;
    }
    return axes == NULL || strchr(out->axes, 'x') != NULL || err_set(err, CODE_FILES, "it has no axis x");
}

/* Multiplies the scales of one list of transformations into those that are known, as the list's order has it. */
static bool transform(const cJSON *list, int dims, ZarrLevel *out, Err *err)
{
    const cJSON *one;
    cJSON_ArrayForEach(one, list)
    {
        const char *type = zarr_json_text(one, "type");
        bool scale = type != NULL && strcmp(type, "scale") == 0;
        bool known = scale || (type != NULL && strcmp(type, "translation") == 0);
        const cJSON *values = known ? zarr_json_array(one, type) : NULL;
        if (known && values != NULL && dims > 0 && cJSON_GetArraySize(values) != dims) {
            return err_set(err, CODE_FILES, "its %s has %d numbers for %d axes", type, cJSON_GetArraySize(values),
                           dims);
        }
        for (int i = 0; i < dims && values != NULL; i++) {
            const cJSON *item = cJSON_GetArrayItem(values, i);
            double value = cJSON_IsNumber(item) ? item->valuedouble : (double)NAN;
            if (!isfinite(value) || (scale && value == 0)) {
                return err_set(err, CODE_FILES, "its %s along axis %d is no number that pixels can have", type, i);
            }
            out->scaled = out->scaled || scale;
            out->scale[i] *= scale ? value : 1;
            out->origin[i] = scale ? out->origin[i] * value : out->origin[i] + value;
        }
    }
    return true;
}

bool zarr_ome_level(const ZarrOme *ome, int64_t level, ZarrLevel *out, Err *err)
{
    const cJSON *all = zarr_json_array(ome->at, "multiscales"), *scales = cJSON_GetArrayItem(all, 0);
    const cJSON *levels = zarr_json_array(scales, "datasets");
    int n = cJSON_GetArraySize(levels);
    *out = (ZarrLevel){.scale = {1, 1, 1, 1, 1}, .others = cJSON_GetArraySize(all) - 1};
    if (n == 0) {
        return err_set(err, CODE_FILES, "its metadata name no level (multiscales, datasets)");
    }
    if (level < 0 || level >= n) {
        return err_set(err, CODE_FILES, "it has no level %lld; levels are 0 .. %d, and 0 is the finest",
                       (long long)level, n - 1);
    }
    const cJSON *one = cJSON_GetArrayItem(levels, (int)level);
    const char *path = zarr_json_text(one, "path");
    if (path == NULL || strlen(path) >= sizeof out->path || !zarr_path_is_inside(path)) {
        return err_set(err, CODE_FILES, "the path of its level %lld is none", (long long)level);
    }
    snprintf(out->path, sizeof out->path, "%s", path);
    TRY(read_axes(scales, out, err));
    int dims = (int)strlen(out->axes);
    return transform(zarr_json_array(one, "coordinateTransformations"), dims, out, err) &&
           transform(zarr_json_array(scales, "coordinateTransformations"), dims, out, err);
}

/* ---- channels -------------------------------------------------------------------------- */

static bool is_called(const cJSON *channels, int i, const char *name)
{
    const char *label = zarr_json_text(cJSON_GetArrayItem(channels, i), "label");
    return label != NULL && (strcasecmp(label, name) == 0 || (label[1] == '\0' && label[0] == name[0]));
}

static bool is_text(const char *text)
{
    return text != NULL && text[0] != '\0';
}

static bool is_colour(const char *text)
{
    return text != NULL && strlen(text) == 6 && strspn(text, "0123456789abcdefABCDEF") == 6;
}

/* What all n channels say under a key, one behind the other; *out is NULL where one says nothing that is `fine`. */
static bool collect(const cJSON *channels, int n, const char *key, bool (*fine)(const char *text), char **out, Err *err)
{
    size_t size = 0;
    *out = NULL;
    for (int i = 0; i < n; i++) {
        const char *text = zarr_json_text(cJSON_GetArrayItem(channels, i), key);
        if (!fine(text)) {
            return true;
        }
        size += strlen(text) + 1;
    }
    char *to = *out = n > 0 ? malloc(size) : NULL;
    if (to == NULL) {
        return n == 0 || err_set(err, CODE_FILES, "out of memory");
    }
    for (int i = 0; i < n; i++) {
        const char *text = zarr_json_text(cJSON_GetArrayItem(channels, i), key);
        strcpy(to, text);
        to += strlen(text) + 1;
    }
    return true;
}

bool zarr_ome_channels(const ZarrOme *ome, int64_t n, char **names, char **colours, bool *picture, Err *err)
{
    const cJSON *channels = zarr_json_array(zarr_json_object(ome->at, "omero"), "channels");
    int listed = cJSON_GetArraySize(channels) == n ? (int)n : 0;
    *picture = listed == 3 && is_called(channels, 0, "Red") && is_called(channels, 1, "Green") &&
               is_called(channels, 2, "Blue");
    *names = NULL;
    return (*picture || collect(channels, listed, "label", is_text, names, err)) &&
           collect(channels, listed, "color", is_colour, colours, err);
}
