/*
 * image_path: what the path of an image stands for: a file, one part of a file ('m31.fits[ERR]',
 * where no file is called so itself), or a folder, whose files are the planes of one image.
 */
#ifndef RUNTIME_IMAGE_PATH_H
#define RUNTIME_IMAGE_PATH_H

#include <stdbool.h>
#include <stdint.h>

enum { IMAGE_PATH_BYTES = 4096, IMAGE_PART_BYTES = 256 };

typedef struct ImagePath {
    char file[IMAGE_PATH_BYTES]; /* the name on the disk */
    char part[IMAGE_PART_BYTES]; /* "ERR"; "": none was asked for */
    bool folder;
} ImagePath;

/* False, with errno set, when there is nothing of that name. */
bool image_path(const char *path, ImagePath *out);
/* The level of detail that a part names, as in "level=2"; 0 without a part.  False for any other part. */
bool image_path_level(const char *part, int64_t *level);

#endif
