/*
 * zarr_describe: the metadata of images that pipec writes as OME-Zarr: what their arrays are like, and OME's multiscales,
 * channels and labels.
 */
#ifndef RUNTIME_FILES_ZARR_DESCRIBE_H
#define RUNTIME_FILES_ZARR_DESCRIBE_H

#include "image.h"
#include "image_levels.h"
#include "zarr_codec.h"

#include <stdio.h>

enum {
    ZARR_BLOCK = LEVELS_COARSEST, /* width and height of chunks, where nothing else is said */
    ZARR_AXES = 5
};

/* The text of .zgroup. */
#define ZARR_GROUP_TWO "{\n  \"zarr_format\": 2\n}\n"

/* An image that is written. */
typedef struct ZarrPlan {
    int version; /* of zarr: 2 or 3 */
    ImageInfo shape;
    Elem elem;            /* as it is stored: bool as u8 */
    bool labels, nearest; /* nearest: levels have every second pixel, others means */
    bool plain;           /* chunks are not packed */
    bool shards;          /* a row of chunks is one file */
    int64_t block;        /* width and height of chunks */
    ZarrEffort effort;
    bool inside; /* label images of the image two folders further up */
    int levels;
    int64_t x[LEVELS_MOST], y[LEVELS_MOST];     /* extents of each level */
    char axes[ZARR_AXES + 1];                   /* letters of t, c, z, y, x: those that it has */
    double scale[ZARR_AXES], origin[ZARR_AXES]; /* by axis: of level 0 */
    const char *unit[ZARR_AXES];                /* NULL: unknown */
    char *name, *software, *parameters;         /* owned, may be NULL */
    char *channels, *colours;                   /* of all channels, each terminated; owned, NULL: they have none */
    double *low, *high; /* by channel: the smallest and the largest pixel of the coarsest level; owned */
} ZarrPlan;

/* Fills `out`, which the caller owns (zarr_plan_free, also after a failure).  `path` names the image. */
bool zarr_plan(const char *path, const ImageInfo *shape, Elem elem, const ImageMeta *meta, int version, bool inside,
               ZarrPlan *out, Err *err);
void zarr_plan_free(ZarrPlan *plan);

/* The extent along an axis, of a level; and that of its chunks. */
int64_t zarr_plan_extent(const ZarrPlan *plan, int level, char axis);
int64_t zarr_plan_chunk(const ZarrPlan *plan, int level, char axis);
/* Chunks beside each other, which with zarr 3 are a shard where there are several. */
int64_t zarr_plan_across(const ZarrPlan *plan, int level);

/* The text of .zarray or zarr.json of a level. */
void zarr_put_array(FILE *to, const ZarrPlan *plan, int level);
/* That of .zattrs or zarr.json of the image. */
void zarr_put_image(FILE *to, const ZarrPlan *plan);
/* That of the group of label images, n names. */
void zarr_put_labels(FILE *to, int version, const char *const *names, int n);

#endif
