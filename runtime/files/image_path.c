/*
 * image_path: names are looked up as they are first, for brackets are letters like others.
 */
#include "image_path.h"

#include <errno.h>
#include <stdlib.h>
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

bool image_path_level(const char *part, int64_t *level)
{
    static const char NAME[] = "level=";
    const char *number = part + sizeof NAME - 1;
    bool named = strncmp(part, NAME, sizeof NAME - 1) == 0 && number[0] >= '0' && number[0] <= '9';
    char *end = NULL;
    *level = named ? strtoll(number, &end, 10) : 0;
    return part[0] == '\0' || (named && *end == '\0');
}
