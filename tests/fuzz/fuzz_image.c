/*
 * fuzz_image: any bytes as an image file: TIFF, PNG and FITS by their content.  All planes of what
 * opens are read, up to a number of pixels, and those of its first coarser level.
 */
#include "fuzz.h"

#include "runtime/files/image.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_PIXELS = 1 << 16, MAX_PLANES = 4 };

static void read_all(ImageFile *file)
{
    const ImageInfo *info = image_info(file);
    if (info->x > MAX_PIXELS || info->y > MAX_PIXELS || info->x * info->y > MAX_PIXELS) {
        return;
    }
    size_t row = (size_t)info->x * elem_size(info->elem);
    void *plane = malloc(row * (size_t)info->y + 1);
    Err err = {0};
    for (int64_t p = 0; plane != NULL && p < MAX_PLANES && p < info->c * info->z * info->t; p++) {
        int64_t z = p / info->c % info->z, t = p / (info->c * info->z);
        if (!image_read(file, t, p % info->c, z, 0, info->y, plane, row, &err)) {
            break;
        }
    }
    free(plane);
}

static void open_and_read(const char *path)
{
    ImageFile *file = NULL;
    Err err = {0};
    if (image_open(path, &file, &err)) {
        read_all(file);
        image_close(file);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char level[512];
    const char *path = fuzz_file(data, size);
    open_and_read(path);
    snprintf(level, sizeof level, "%s[level=1]", path);
    open_and_read(level);
    return 0;
}
