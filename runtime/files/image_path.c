/*
 * image_path: names are looked up as they are first, for brackets are letters like others.
 */
#include "image_path.h"

#include "file_list.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* Takes "ERR" from the end of 'm31.fits[ERR]'; false when there is no such end. */
static bool split_part(ImagePath *path)
{
    size_t n = strlen(path->file);
    char *open = strrchr(path->file, '[');
    if (open == NULL || open == path->file || path->file[n - 1] != ']') {
        return false;
    }
    size_t length = strlen(open + 1) - 1;
    if (length == 0 || length >= sizeof path->part) {
        return false;
    }
    memcpy(path->part, open + 1, length);
    *open = '\0';
    return true;
}

bool image_path(const char *path, ImagePath *out)
{
    struct stat st;
    *out = (ImagePath){.folder = false};
    if (strlen(path) >= sizeof out->file) {
        errno = ENAMETOOLONG;
        return false;
    }
    strcpy(out->file, path);
    bool found = stat(path, &st) == 0;
    if (!found && errno == ENOENT && split_part(out)) {
        found = stat(out->file, &st) == 0;
    }
    out->folder = found && S_ISDIR(st.st_mode);
    return found;
}

static bool add_stamp(const char *file, int64_t *bytes, int64_t *changed_ns)
{
    struct stat st;
    if (stat(file, &st) != 0) {
        return false;
    }
    int64_t ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
    *bytes += (int64_t)st.st_size;
    *changed_ns = ns > *changed_ns ? ns : *changed_ns;
    return true;
}

bool image_path_stamp(const char *path, int64_t *bytes, int64_t *changed_ns)
{
    ImagePath at;
    *bytes = *changed_ns = 0;
    if (!image_path(path, &at) || !add_stamp(at.file, bytes, changed_ns)) {
        return false;
    }
    FileList files = {0};
    Err err = {0};
    bool ok = true;
    if (at.folder && file_list((const char *const[]){at.file}, 1, false, &files, &err)) {
        for (size_t i = 0; ok && i < files.n; i++) {
            ok = add_stamp(files.at[i].path, bytes, changed_ns);
        }
    }
    file_list_free(&files);
    err_clear(&err);
    return ok;
}
