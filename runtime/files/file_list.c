/*
 * file_list: folders are not searched deeper than their own files and folders of OME-Zarr, and hidden ones (also the
 * unfinished outputs of other runs) are passed over.
 */
#include "file_list.h"

#include "../../base/file.h"
#include "image_external.h"
#include "image_path.h"
#include "image_zarr.h"
#include "zarr_plate.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Endings of image files, in letters of either case; some have ".ome" in front of them, some ".gz" or ".fz" behind. */
static const struct Ending {
    const char *text;
    bool ome, packed;
} ENDINGS[] = {
    {".tif", true, false},  {".tiff", true, false},  {".tf2", true, false},  {".tf8", true, false},
    {".btf", true, false},  {".lsm", false, false},  {".stk", false, false}, {".png", false, false},
    {".fits", false, true}, {".fit", false, true},   {".fts", false, true},  {".zarr", true, false},
    {".jpg", false, false}, {".jpeg", false, false}, {".czi", false, false}, {".nd2", false, false},
    {".lif", false, false}, {".ims", false, false},  {".jp2", false, false}, {".j2k", false, false},
};

/* The length of a name, of which n letters count, without an ending; 0 when it has another one, or nothing else. */
static size_t without(const char *name, size_t n, const char *ending)
{
    size_t m = strlen(ending);
    return n > m && strncasecmp(name + n - m, ending, m) == 0 ? n - m : 0;
}

size_t file_image_stem(const char *name)
{
    size_t n = strlen(name), gz = without(name, n, ".gz"), fz = without(name, n, ".fz");
    for (size_t i = 0; i < sizeof ENDINGS / sizeof *ENDINGS; i++) {
        const struct Ending *ending = &ENDINGS[i];
        size_t packed = ending->packed ? gz + fz : 0; /* one of them is 0 */
        size_t stem = without(name, packed > 0 ? packed : n, ending->text);
        if (stem > 0) {
            size_t ome = ending->ome ? without(name, stem, ".ome") : 0;
            return ome > 0 ? ome : stem;
        }
    }
    return 0;
}

bool file_is_image_name(const char *name)
{
    return name[0] != '.' && (file_image_stem(name) > 0 || image_external_claims(name));
}

/* Compares the runs of digits at *a and *b as numbers and steps over them. */
static int compare_numbers(const char **a, const char **b)
{
    size_t zeros_a = strspn(*a, "0"), zeros_b = strspn(*b, "0");
    const char *p = *a + zeros_a, *q = *b + zeros_b;
    size_t n = strspn(p, "0123456789"), m = strspn(q, "0123456789");
    *a = p + n;
    *b = q + m;
    return n != m ? (n > m) - (n < m) : strncmp(p, q, n);
}

int file_natural_order(const char *a, const char *b)
{
    const char *p = a, *q = b;
    while (*p != '\0' && *q != '\0') {
        int order;
        if (isdigit((unsigned char)*p) && isdigit((unsigned char)*q)) {
            order = compare_numbers(&p, &q);
        } else {
            order = (unsigned char)*p++ - (unsigned char)*q++;
        }
        if (order != 0) {
            return order;
        }
    }
    if (*p != *q) {
        return *p == '\0' ? -1 : 1;
    }
    return strcmp(a, b); /* 01 and 1 */
}

static int compare_files(const void *a, const void *b)
{
    return file_natural_order(((const ListedFile *)a)->path, ((const ListedFile *)b)->path);
}

/* Takes `path` over. */
static bool add(FileList *list, char *path, bool found, Err *err)
{
    if (list->n == list->cap) {
        size_t cap = list->cap ? 2 * list->cap : 64;
        ListedFile *moved = realloc(list->at, cap * sizeof *moved);
        if (moved != NULL) {
            list->at = moved;
            list->cap = cap;
        }
    }
    if (path == NULL || list->n == list->cap) {
        free(path);
        return err_set(err, CODE_MEMORY, "out of memory for the list of images");
    }
    list->at[list->n++] = (ListedFile){path, found};
    return true;
}

static char *join(const char *folder, const char *name)
{
    size_t n = strlen(folder), size = n + strlen(name) + 2;
    char *path = malloc(size);
    if (path != NULL) {
        snprintf(path, size, "%s%s%s", folder, n > 0 && folder[n - 1] == '/' ? "" : "/", name);
    }
    return path;
}

typedef struct Fields {
    FileList *list;
    bool found;
} Fields;

static bool add_field(void *context, const char *path, Err *err)
{
    const Fields *fields = context;
    return add(fields->list, strdup(path), fields->found, err);
}

/* A folder of zarr: an image, or a plate of images. */
static bool add_zarr(FileList *list, const char *folder, bool found, Err *err)
{
    Fields fields = {list, found};
    bool is_plate;
    if (!zarr_plate_fields(folder, add_field, &fields, &is_plate, err)) {
        err->code = CODE_USAGE;
        return false;
    }
    return is_plate || add(list, strdup(folder), found, err);
}

/* What a folder has under the name of an image; `path` is taken over. */
static bool add_found(FileList *list, char *path, Err *err)
{
    if (path == NULL || !file_is_folder(path) || image_external_claims(path)) {
        return add(list, path, true, err);
    }
    bool ok = !image_zarr_is(path) || add_zarr(list, path, true, err);
    free(path);
    return ok;
}

static bool is_jpeg(const char *path)
{
    size_t n = strlen(path);
    return without(path, n, ".jpg") > 0 || without(path, n, ".jpeg") > 0;
}

/* JPEG files beside others are previews of these, from `first` on. */
static void drop_previews(FileList *list, size_t first)
{
    size_t others = 0, n = first;
    for (size_t i = first; i < list->n; i++) {
        others += !is_jpeg(list->at[i].path);
    }
    for (size_t i = first; others > 0 && i < list->n; i++) {
        if (is_jpeg(list->at[i].path)) {
            free(list->at[i].path);
        } else {
            list->at[n++] = list->at[i];
        }
    }
    list->n = others > 0 ? n : list->n;
}

/* Adds the images of a folder, in their order. */
static bool add_folder(FileList *list, const char *folder, Err *err)
{
    DIR *dir = opendir(folder);
    if (dir == NULL) {
        return file_err_set(err, CODE_USAGE, "open", folder, errno);
    }
    size_t first = list->n;
    bool ok = true;
    const struct dirent *entry;
    for (errno = 0; ok && (entry = readdir(dir)) != NULL; errno = 0) {
        if (file_is_image_name(entry->d_name)) {
            ok = add_found(list, join(folder, entry->d_name), err);
        }
    }
    ok = ok && (errno == 0 || file_err_set(err, CODE_USAGE, "read", folder, errno));
    closedir(dir);
    if (ok && list->n == first) {
        return err_set(err, CODE_USAGE, "the folder '%s' has no image files", folder);
    }
    drop_previews(list, first);
    qsort(list->at + first, list->n - first, sizeof *list->at, compare_files);
    return ok;
}

static int compare_places(const void *a, const void *b)
{
    const ListedFile *p = *(ListedFile *const *)a, *q = *(ListedFile *const *)b;
    int order = strcmp(p->path, q->path);
    return order != 0 ? order : (p > q) - (p < q);
}

/* Keeps the first of equal paths. */
static bool drop_repeated(FileList *list, Err *err)
{
    ListedFile **sorted = malloc((list->n + 1) * sizeof *sorted);
    if (sorted == NULL) {
        return err_set(err, CODE_MEMORY, "out of memory for the list of images");
    }
    for (size_t i = 0; i < list->n; i++) {
        sorted[i] = &list->at[i];
    }
    qsort(sorted, list->n, sizeof *sorted, compare_places);
    for (size_t i = 1, kept = 0; i < list->n; i++) {
        if (strcmp(sorted[kept]->path, sorted[i]->path) == 0) {
            free(sorted[i]->path);
            sorted[i]->path = NULL;
        } else {
            kept = i;
        }
    }
    free(sorted);
    size_t n = 0;
    for (size_t i = 0; i < list->n; i++) {
        if (list->at[i].path != NULL) {
            list->at[n++] = list->at[i];
        }
    }
    list->n = n;
    return true;
}

/* A folder that is an image, or a plate, without slashes behind its name. */
static bool add_whole(FileList *list, const char *folder, bool zarr, Err *err)
{
    char *path = strdup(folder);
    for (size_t n = path != NULL ? strlen(path) : 0; n > 1 && path[n - 1] == '/'; n--) {
        path[n - 1] = '\0';
    }
    if (path == NULL || !zarr) {
        return add(list, path, false, err);
    }
    bool ok = add_zarr(list, path, false, err);
    free(path);
    return ok;
}

bool file_list(const char *const *given, int n, bool whole, FileList *out, Err *err)
{
    *out = (FileList){0};
    for (int i = 0; i < n; i++) {
        ImagePath path;
        if (!image_path(given[i], &path)) {
            return file_err_set(err, CODE_USAGE, "open", given[i], errno);
        }
        if (whole && !path.folder) {
            return err_set(err, CODE_USAGE, "--stack takes folders, whose files are one image, but '%s' is a file",
                           given[i]);
        }
        bool zarr = path.folder && image_zarr_is(path.file);
        if ((zarr && path.part[0] != '\0') || image_external_claims(path.file)) {
            TRY(add(out, strdup(given[i]), false, err));
        } else if (path.folder) {
            TRY(whole || zarr ? add_whole(out, given[i], zarr, err) : add_folder(out, path.file, err));
        } else {
            TRY(add(out, strdup(given[i]), false, err));
        }
    }
    return drop_repeated(out, err);
}

void file_list_free(FileList *list)
{
    for (size_t i = 0; i < list->n; i++) {
        free(list->at[i].path);
    }
    free(list->at);
    *list = (FileList){0};
}
