/*
 * names: templates of output names, and the check that no output overwrites another file of the
 * run.  Two inputs a/x.tif and b/x.tif have one stem; without the check the second would silently
 * replace the results of the first.
 */
#include "names.h"

#include "../files/file_list.h"
#include "../files/image_path.h"
#include "../files/image_zarr.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

static const char USUAL[] = "{stem}_{output}.{ext}";

/* ---- fields ---------------------------------------------------------------------------- */

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

/* The end of the file's name where slashes follow in brackets: a.h5[/raw/image]. */
static const char *long_part(const char *path)
{
    ImagePath image;
    size_t n = strlen(path);
    const char *part = n > 0 && path[n - 1] == ']' ? strrchr(path, '[') : NULL;
    bool has = part != NULL && strchr(part, '/') != NULL && image_path(path, &image) && image.part[0] != '\0';
    return has ? part : path + n;
}

const char *names_of_image(const char *path)
{
    static const char ENDING[] = ".zarr/";
    size_t length = sizeof ENDING - 1;
    const char *name = path, *end = long_part(path);
    for (const char *at = path; at < end; at++) {
        if (strncasecmp(at, ENDING, length) == 0 && at > name && at[length] != '\0') {
            return name;
        }
        name = at[0] == '/' ? at + 1 : name;
    }
    return name;
}

static size_t put(char *to, size_t size, const char *text, size_t n)
{
    n = n < size ? n : size - 1;
    memcpy(to, text, n);
    to[n] = '\0';
    return n;
}

/* What lies in a folder of zarr: the folder's stem and the names behind it. */
static void put_inner_stem(char *name, char *to, size_t size)
{
    char *inner = strchr(name, '/'), *part = strrchr(inner, '[');
    *inner++ = '\0';
    if (part != NULL && part[strlen(part) - 1] == ']') {
        *part = '\0';
    }
    for (char *at = inner; *at != '\0'; at++) {
        *at = *at == '/' ? '_' : *at;
    }
    snprintf(to, size, "%.*s_%s", (int)file_image_stem(name), name, inner);
}

/* Names that are not those of images end at the last point; a part of a file is no part of its name. */
static bool get_stem(const NameFields *fields, char *to, size_t size)
{
    char name[IMAGE_PATH_BYTES];
    const char *whole = names_of_image(fields->input);
    size_t n = put(name, sizeof name, whole, (size_t)(long_part(fields->input) - whole));
    if (strchr(name, '/') != NULL) {
        put_inner_stem(name, to, size);
        return true;
    }
    char *part = n > 0 && name[n - 1] == ']' ? strrchr(name, '[') : NULL;
    size_t stem = file_image_stem(name);
    if (stem == 0 && part != NULL && part != name) {
        *part = '\0';
        stem = file_image_stem(name);
    }
    const char *point = strrchr(name, '.');
    put(to, size, name, stem > 0 ? stem : point != NULL && point != name ? (size_t)(point - name) : strlen(name));
    return true;
}

static bool get_name(const NameFields *fields, char *to, size_t size)
{
    const char *name = names_of_image(fields->input);
    put(to, size, name, strlen(name));
    for (size_t i = (size_t)(long_part(fields->input) - name); i < strlen(to); i++) {
        to[i] = to[i] == '/' ? '_' : to[i];
    }
    return true;
}

static bool get_dir(const NameFields *fields, char *to, size_t size)
{
    size_t n = (size_t)(names_of_image(fields->input) - fields->input);
    if (n == 0) {
        put(to, size, ".", 1);
    } else {
        put(to, size, fields->input, n > 1 ? n - 1 : 1);
    }
    return true;
}

static bool get_output(const NameFields *fields, char *to, size_t size)
{
    const char *text = fields->output == NULL ? "" : fields->output;
    put(to, size, text, strlen(text));
    return fields->output != NULL;
}

static bool get_ext(const NameFields *fields, char *to, size_t size)
{
    const char *text = fields->ext == NULL ? "" : fields->ext;
    put(to, size, text, strlen(text));
    return fields->ext != NULL;
}

static bool get_index(const NameFields *fields, char *to, size_t size)
{
    snprintf(to, size, "%ld", fields->index);
    return fields->index >= 0;
}

static const struct Field {
    const char *name;
    bool (*get)(const NameFields *fields, char *to, size_t size);
} FIELDS[] = {
    {"stem", get_stem},     {"name", get_name}, {"dir", get_dir},
    {"output", get_output}, {"ext", get_ext},   {"index", get_index},
};

enum { N_FIELDS = sizeof FIELDS / sizeof *FIELDS };

/* ---- templates ------------------------------------------------------------------------- */

static const struct Field *field_called(const char *name, size_t n)
{
    for (int i = 0; i < N_FIELDS; i++) {
        if (strlen(FIELDS[i].name) == n && memcmp(FIELDS[i].name, name, n) == 0) {
            return &FIELDS[i];
        }
    }
    return NULL;
}

static bool unknown_field(const char *text, const char *name, size_t n, Err *err)
{
    char known[128] = "";
    size_t used = 0;
    for (int i = 0; i < N_FIELDS; i++) {
        used += (size_t)snprintf(known + used, sizeof known - used, "%s{%s}", i > 0 ? " " : "", FIELDS[i].name);
    }
    return err_set(err, CODE_USAGE, "unknown field '{%.*s}' in the name '%s'; known are %s", (int)n, name, text, known);
}

/* The next piece of a template: a field, or plain text of *n bytes.  False at a lone brace. */
static bool next_piece(const char *at, const struct Field **field, const char **piece, size_t *n, size_t *taken,
                       const char *text, Err *err)
{
    *field = NULL;
    *piece = at;
    *n = strcspn(at, "{}");
    *taken = *n;
    if (*n > 0) {
        return true;
    }
    if (at[0] == at[1]) {
        *n = 1;
        *taken = 2;
        return true;
    }
    size_t length = strcspn(at + 1, "{}");
    if (at[0] == '}' || at[1 + length] != '}') {
        return err_set(err, CODE_USAGE,
                       "a brace without partner in the name '%s'; write {{ or }} for a "
                       "brace",
                       text);
    }
    *taken = length + 2;
    *field = field_called(at + 1, length);
    return *field != NULL || unknown_field(text, at + 1, length, err);
}

bool names_template(const char *option, char *to, size_t size, Err *err)
{
    struct stat st;
    const char *folder = option == NULL ? "" : option;
    size_t n = strlen(folder);
    bool there = stat(folder, &st) == 0 && S_ISDIR(st.st_mode) && !image_zarr_is(folder);
    bool is_folder = n == 0 || folder[n - 1] == '/' || there;
    const char *slash = n == 0 || folder[n - 1] == '/' ? "" : "/";
    int length = is_folder ? snprintf(to, size, "%s%s%s", folder, slash, USUAL) : snprintf(to, size, "%s", folder);
    if (length < 0 || (size_t)length >= size) {
        return err_set(err, CODE_USAGE, "the output name '%.200s...' is too long", folder);
    }
    return names_check(to, err);
}

bool names_check(const char *text, Err *err)
{
    const struct Field *field;
    const char *piece;
    size_t n, taken;
    for (const char *at = text; *at != '\0'; at += taken) {
        TRY(next_piece(at, &field, &piece, &n, &taken, text, err));
    }
    return true;
}

/* The bytes of a name to which a part is added, {name}[DQ]: those of the file, if the input is a part of one. */
static size_t without_part(const char *input, const char *value)
{
    ImagePath path;
    const char *part = strrchr(value, '[');
    bool has = part != NULL && image_path(input, &path) && path.part[0] != '\0';
    return has ? (size_t)(part - value) : strlen(value);
}

bool names_expand(const char *text, const NameFields *fields, char *to, size_t size, Err *err)
{
    char value[4096];
    size_t used = 0, taken;
    for (const char *at = text; *at != '\0'; at += taken) {
        const struct Field *field;
        const char *piece;
        size_t n;
        TRY(next_piece(at, &field, &piece, &n, &taken, text, err));
        if (field != NULL && !field->get(fields, value, sizeof value)) {
            return err_set(err, CODE_USAGE, "the field {%s} has no value in the name '%s'", field->name, text);
        }
        if (field != NULL) {
            piece = value;
            n = at[taken] == '[' ? without_part(fields->input, value) : strlen(value);
        }
        if (used + n >= size) {
            return err_set(err, CODE_USAGE, "the name '%s' becomes too long for '%s'", text, fields->input);
        }
        memcpy(to + used, piece, n);
        used += n;
    }
    to[used] = '\0';
    return true;
}

/* ---- clashes --------------------------------------------------------------------------- */

/* A path with repeated slashes and "." parts taken out, in a copy that the caller frees. */
static char *plain_path(const char *path)
{
    char *to = malloc(strlen(path) + 1);
    size_t n = 0;
    for (const char *at = path; to != NULL && *at != '\0';) {
        size_t part = strcspn(at, "/");
        bool skip = (part == 1 && at[0] == '.') || (part == 0 && at != path);
        if (!skip) {
            memcpy(to + n, at, part);
            n += part;
            if (at[part] == '/') {
                to[n++] = '/';
            }
        }
        at += part + (at[part] == '/');
    }
    if (to != NULL) {
        to[n] = '\0';
    }
    return to;
}

char *names_place(const char *path)
{
    const char *name = name_of(path);
    struct stat st;
    char *folder = name == path ? strdup(".") : strndup(path, (size_t)(name - path)), *place = NULL;
    if (folder != NULL && stat(folder, &st) == 0) {
        size_t size = strlen(name) + 64;
        place = malloc(size);
        if (place != NULL) { /* no plain path has two slashes */
            snprintf(place, size, "//%llx.%llx/%s", (unsigned long long)st.st_dev, (unsigned long long)st.st_ino, name);
        }
    } else if (folder != NULL) {
        place = plain_path(path);
    }
    free(folder);
    return place;
}

/* The file behind an input, of which it may be a part. */
static char *place_of_input(const char *input)
{
    ImagePath path;
    return names_place(image_path(input, &path) ? path.file : input);
}

typedef struct PlacedUse {
    char *place;
    const NameUse *use; /* NULL: an input */
    size_t rank;        /* 0: an input; else the place of the output, from 1 */
} PlacedUse;

/* Equal places stand together, inputs first, outputs in the order in which they were given. */
static int compare(const void *a, const void *b)
{
    const PlacedUse *p = a, *q = b;
    int order = strcmp(p->place, q->place);
    if (order != 0) {
        return order;
    }
    return (p->rank > q->rank) - (p->rank < q->rank);
}

static bool clash(const PlacedUse *first, const PlacedUse *second, Err *err)
{
    if (first->use == NULL) {
        return err_set(err, CODE_USAGE,
                       "the output '%s' of '%s' would replace an input; choose another name or "
                       "folder with -o",
                       second->use->name, second->use->source);
    }
    if (strcmp(first->use->source, second->use->source) == 0) {
        return err_set(err, CODE_USAGE,
                       "two outputs of '%s' would both be written to '%s'; use {output} and {ext} "
                       "in -o",
                       second->use->source, second->use->name);
    }
    return err_set(err, CODE_USAGE,
                   "'%s' and '%s' would both be written to '%s'; use {name}, {dir} or {index} in "
                   "-o, for example -o 'out/{index}_{stem}_{output}.{ext}'",
                   first->use->source, second->use->source, second->use->name);
}

bool names_distinct(const NameUse *outputs, size_t n, const char *const *inputs, size_t n_inputs, Err *err)
{
    PlacedUse *all = calloc(n + n_inputs + 1, sizeof *all);
    bool ok = all != NULL || err_set(err, CODE_USAGE, "out of memory");
    for (size_t i = 0; ok && i < n + n_inputs; i++) {
        all[i].use = i < n ? &outputs[i] : NULL;
        all[i].rank = i < n ? i + 1 : 0;
        all[i].place = i < n ? names_place(outputs[i].name) : place_of_input(inputs[i - n]);
        ok = all[i].place != NULL || err_set(err, CODE_USAGE, "out of memory");
    }
    if (ok) {
        qsort(all, n + n_inputs, sizeof *all, compare);
    }
    for (size_t i = 1; ok && i < n + n_inputs; i++) {
        if (all[i].use != NULL && strcmp(all[i - 1].place, all[i].place) == 0) {
            ok = clash(&all[i - 1], &all[i], err);
        }
    }
    for (size_t i = 0; all != NULL && i < n + n_inputs; i++) {
        free(all[i].place);
    }
    free(all);
    return ok;
}

/* ---- inputs under other names ---------------------------------------------------------- */

typedef struct FileId {
    dev_t device;
    ino_t number;
    const char *name;
} FileId;

static int compare_files(const void *a, const void *b)
{
    const FileId *p = a, *q = b;
    int order = (p->device > q->device) - (p->device < q->device);
    return order != 0 ? order : (p->number > q->number) - (p->number < q->number);
}

/* False when there is no such file. */
static bool identify(const char *name, FileId *id)
{
    struct stat st;
    bool there = stat(name, &st) == 0;
    *id = (FileId){.name = name};
    if (there) {
        id->device = st.st_dev;
        id->number = st.st_ino;
    }
    return there;
}

bool names_keep_inputs(const NameUse *outputs, size_t n, const char *const *inputs, size_t n_inputs, Err *err)
{
    FileId *all = calloc(n_inputs + 1, sizeof *all), output;
    size_t found = 0;
    bool ok = all != NULL || err_set(err, CODE_USAGE, "out of memory");
    for (size_t i = 0; ok && i < n_inputs; i++) {
        ImagePath path;
        if (image_path(inputs[i], &path) && identify(path.file, &all[found])) {
            all[found++].name = inputs[i];
        }
    }
    if (ok) {
        qsort(all, found, sizeof *all, compare_files);
    }
    for (size_t i = 0; ok && i < n; i++) {
        const FileId *input =
            identify(outputs[i].name, &output) ? bsearch(&output, all, found, sizeof *all, compare_files) : NULL;
        ok = input == NULL ||
             err_set(err, CODE_USAGE,
                     "the output '%s' of '%s' would replace an input, for it and '%s' are one file; choose another "
                     "name or folder with -o",
                     outputs[i].name, outputs[i].source, input->name);
    }
    free(all);
    return ok;
}
