/*
 * image_folder: a folder as one image.  Its files, in the order in which people count, are planes,
 * or time points where they are volumes themselves.  All have the extents and the type of the first
 * one, which stays open, because headers and sizes of pixels come from it; of the others one is
 * open at a time, however many there are.
 */
#include "file_list.h"
#include "image_format.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct Folder {
    FileList files;
    ImageFile *first, *other;
    size_t opened; /* the number of `other` */
    bool volumes;  /* files are time points */
    bool numbers;  /* of colours, in all of them */
    Crew *crew;    /* helps with all of them */
} Folder;

static bool alike(const ImageInfo *a, const ImageInfo *b)
{
    return a->x == b->x && a->y == b->y && a->z == b->z && a->c == b->c && a->t == b->t && a->elem == b->elem &&
           a->rgb == b->rgb;
}

static bool select_file(Folder *folder, size_t k, ImageFile **out, Err *err)
{
    *out = folder->first;
    if (k == 0) {
        return true;
    }
    if (folder->other == NULL || folder->opened != k) {
        image_close(folder->other);
        folder->other = NULL;
        TRY(image_open(folder->files.at[k].path, &folder->other, err));
        folder->opened = k;
        if (folder->numbers && image_info(folder->other)->palette) {
            image_numbers(folder->other);
        }
    }
    *out = folder->other;
    const ImageInfo *info = image_info(*out), *first = image_info(folder->first);
    return alike(info, first) ||
           err_set(err, CODE_FILES,
                   "its files are to be one image, but '%s' is %lld x %lld x %lld %s%s and '%s' "
                   "%lld x %lld x %lld %s%s",
                   folder->files.at[0].path, (long long)first->x, (long long)first->y, (long long)first->z,
                   elem_name(first->elem), first->rgb ? " in colour" : "", folder->files.at[k].path, (long long)info->x,
                   (long long)info->y, (long long)info->z, elem_name(info->elem), info->rgb ? " in colour" : "");
}

static void close_folder(void *state)
{
    Folder *folder = state;
    if (folder != NULL) {
        image_close(folder->first);
        image_close(folder->other);
        file_list_free(&folder->files);
        free(folder);
    }
}

static bool stack(Folder *folder, ImageInfo *info, Err *err)
{
    *info = *image_info(folder->first);
    folder->volumes = info->z > 1 || info->has_z;
    if (info->t > 1 || info->has_t) {
        return err_set(err, CODE_FILES, "its files are to be planes of one image, but '%s' has time points",
                       folder->files.at[0].path);
    }
    *(folder->volumes ? &info->t : &info->z) = (int64_t)folder->files.n;
    *(folder->volumes ? &info->has_t : &info->has_z) = true;
    ImageFile *file;
    for (size_t k = 1; k < folder->files.n; k++) {
        TRY(select_file(folder, k, &file, err));
        for (int i = 0; i < IMAGE_REMARKS; i++) {
            info->remarks[i] += image_info(file)->remarks[i];
        }
    }
    return true;
}

static bool open_folder(const ImagePath *path, int fd, ImageInfo *info, void **state, Err *err)
{
    close(fd);
    Folder *folder = calloc(1, sizeof *folder);
    if (folder == NULL) {
        return err_set(err, CODE_MEMORY, "out of memory");
    }
    if (!file_list((const char *const[]){path->file}, 1, false, &folder->files, err) ||
        !image_open(folder->files.at[0].path, &folder->first, err) || !stack(folder, info, err)) {
        err->code = CODE_FILES;
        close_folder(folder);
        return false;
    }
    *state = folder;
    return true;
}

static bool read_folder(void *state, const ImageInfo *info, const ImageRows *at, void *to, size_t pitch, Err *err)
{
    (void)info;
    Folder *folder = state;
    ImageFile *file;
    TRY(select_file(folder, (size_t)(folder->volumes ? at->t : at->z), &file, err));
    image_use_crew(file, folder->crew);
    return image_read(file, 0, at->c, folder->volumes ? at->z : 0, at->row, at->rows, to, pitch, err);
}

static Elem numbers_folder(void *state)
{
    Folder *folder = state;
    folder->numbers = true;
    image_numbers(folder->first);
    image_close(folder->other);
    folder->other = NULL;
    return image_info(folder->first)->elem;
}

static void use_crew_folder(void *state, Crew *crew)
{
    Folder *folder = state;
    folder->crew = crew;
}

const ImageFormat image_folder = {
    .name = "folder",
    .open = open_folder,
    .read = read_folder,
    .numbers = numbers_folder,
    .use_crew = use_crew_folder,
    .close = close_folder,
};
