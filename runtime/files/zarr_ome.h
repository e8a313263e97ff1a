/*
 * zarr_ome: what a folder of zarr is by OME-Zarr's metadata (0.1 to 0.5): an image in several levels of detail, a plate
 * of images, or something around them.
 */
#ifndef RUNTIME_FILES_ZARR_OME_H
#define RUNTIME_FILES_ZARR_OME_H

#include "zarr_array.h"

enum { ZARR_PATH_BYTES = 1024, ZARR_UNIT_BYTES = 32 };

typedef enum ZarrKind {
    ZARR_NONE,   /* no folder of zarr */
    ZARR_ARRAY,  /* an array without OME's metadata */
    ZARR_IMAGE,  /* multiscales */
    ZARR_SERIES, /* images in folders 0, 1, ... (bioformats2raw) */
    ZARR_PLATE,
    ZARR_WELL,
    ZARR_LABELS, /* label images of an image, each in a folder */
    ZARR_GROUP   /* none of these */
} ZarrKind;

typedef struct ZarrOme {
    ZarrKind kind;
    int version;     /* of zarr: 2 or 3 */
    cJSON *root;     /* owned (zarr_ome_free) */
    const cJSON *at; /* OME's metadata in it, NULL: there are none */
} ZarrOme;

/* An image in one level of detail. */
typedef struct ZarrLevel {
    char path[ZARR_PATH_BYTES]; /* of its array, from the image's folder on */
    char axes[ZARR_DIMS + 1];   /* letters of t, c, z, y, x, as the array's axes lie; "": as the array says */
    char unit[ZARR_DIMS][ZARR_UNIT_BYTES];
    double scale[ZARR_DIMS],
        origin[ZARR_DIMS]; /* in units: size of a pixel, middle of the first one; 1 and 0: unknown */
    bool scaled;
    int64_t others; /* images in the folder beside this one */
} ZarrLevel;

/* Reads the metadata of an open folder. */
bool zarr_ome_read(int folder, ZarrOme *out, Err *err);
void zarr_ome_free(ZarrOme *ome);
/* Level `level` of an image, 0 the finest. */
bool zarr_ome_level(const ZarrOme *ome, int64_t level, ZarrLevel *out, Err *err);
/* Names and colours of n channels, each terminated, owned by the caller (free); NULL where not all have them.  *picture is
 * true for the red, green and blue of one picture, whose channels have no names of their own. */
bool zarr_ome_channels(const ZarrOme *ome, int64_t n, char **names, char **colours, bool *picture, Err *err);

/* False for a path that is empty, absolute, or leads out of its folder. */
bool zarr_path_is_inside(const char *path);

#endif
