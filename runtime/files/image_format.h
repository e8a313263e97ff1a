/*
 * image_format: what image.c needs from a file format; one table row each for TIFF, PNG,
 * JPEG, FITS, OME-Zarr and folders.
 *
 * A format sees open descriptors and never names, temporary files or renames: these are the same
 * for all and stay in image.c.
 */
#ifndef RUNTIME_IMAGE_FORMAT_H
#define RUNTIME_IMAGE_FORMAT_H

#include "image.h"
#include "image_path.h"
#include "../host/crew.h"
#include "seen.h"

#include <stdio.h>

/* Where rows of one plane come from or go to. */
typedef struct ImageRows {
    int64_t t, c, z, row, rows;
} ImageRows;

typedef struct ImageFormat {
    const char *name;   /* "tif": as in image_create */
    const char *ending; /* of files that are written, without point; NULL: the name */
    bool folder;        /* outputs are folders */
    bool has_parts;     /* ImagePath.part may name one */
    bool (*matches)(const unsigned char *head, size_t n);

    /*
     * Fills *info (zeroed) and *state.  Takes the descriptor over, also when it fails.  Messages
     * say what is wrong and leave the name of the file to image.c.  NULL: such files are only written.
     */
    bool (*open)(const ImagePath *path, int fd, ImageInfo *info, void **state, Err *err);
    bool (*read)(void *state, const ImageInfo *info, const ImageRows *at, void *to, size_t pitch, Err *err);
    /* Several threads may read rows that lie close together at once.  NULL: they may not. */
    bool (*shares)(void *state);
    /* Reads with the crew's help from now on.  NULL: there is nothing to help with. */
    void (*use_crew)(void *state, Crew *crew);
    /* Pixels are the numbers of a palette's colours from now on, in this type.  NULL: there are no palettes. */
    Elem (*numbers)(void *state);
    /* Tells `seen`, which is borrowed, of the bytes that are read from now on.  NULL: it does not. */
    void (*see)(void *state, Seen *seen);
    void (*close)(void *state);

    /*
     * Writers borrow the descriptor of an empty file or folder, `path` is for messages.  finish writes what
     * is left; discard frees the state and is always called, also after finish.  `published`, which may be
     * NULL, does what is to be done once the output has its name.
     */
    bool (*create)(const char *path, int fd, const ImageInfo *shape, Elem elem, const ImageMeta *meta, void **state,
                   Err *err);
    bool (*write)(void *state, const ImageRows *at, const void *from, size_t pitch, Err *err);
    /* Takes all pixels at once in place of rows, [t][c][z][y][x]; they go when it returns.  NULL: it wants rows. */
    bool (*lend)(void *state, const void *pixels, Err *err);
    bool (*finish)(void *state, Err *err);
    bool (*published)(void *state, Err *err);
    void (*discard)(void *state);

    /*
     * Several writers of one output (image_create_part).  `grain`: parts begin with a multiple of so many rows of their
     * plane, where it has parts; 0: this output has none.  create_part: a writer for some of the rows, fd as that of the
     * whole.  end_part: what the whole has to know of it; join: there.  NULL: no output of this format has parts.
     */
    int64_t (*grain)(const void *state);
    bool (*create_part)(const char *path, int fd, const ImageInfo *shape, Elem elem, const ImageMeta *meta,
                        void **state, Err *err);
    bool (*end_part)(void *state, FILE *to, Err *err);
    bool (*join)(void *state, const void *from, size_t bytes, Err *err);
} ImageFormat;

extern const ImageFormat image_tiff, image_png, image_jpeg, image_jp2, image_fits, image_folder, image_geojson,
    image_roi;

/* Reads `size` bytes at `offset`: false with *got saying how many there were, errno 0 at the end
 * of the file. */
bool image_pread(int fd, void *to, size_t size, uint64_t offset, size_t *got);
/* Writes `size` bytes at `offset`; false with errno set. */
bool image_pwrite(int fd, const void *from, size_t size, uint64_t offset);

#endif
