/*
 * picture: a small picture of an image, and the outlines of its objects as another one that lies on it.  Only as many rows
 * of the files are read as the picture has.
 */
#ifndef REPORT_PICTURE_H
#define REPORT_PICTURE_H

#include <stdbool.h>

typedef struct Picture {
    int width, height;
    char *pixels, *outlines; /* PNG as base64, owned by the caller (free); NULL: none */
    double focus; /* how sharp the image is: the mean square of steps along x over that of the pixels; NaN: unknown */
} Picture;

/* The first frame, the middle plane, the first channel or the colours.  `side`: of the longer side, in pixels; `fine`: 256
 * grays instead of 16.  `labels` may be NULL.  Without `pixels` where the image cannot be read. */
Picture picture_make(const char *image, const char *labels, int side, bool fine);

#endif
