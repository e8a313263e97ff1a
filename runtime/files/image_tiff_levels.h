/*
 * image_tiff_levels: coarser levels of detail of the pages of a TIFF file.
 *
 * OME-TIFF keeps them in directories of each page's own (SubIFDs).  Others keep them among the pages: marked as smaller
 * versions (QPTIFF, GDAL), or unmarked with thumbnails and pictures of the slide between them (SVS).
 */
#ifndef RUNTIME_IMAGE_TIFF_LEVELS_H
#define RUNTIME_IMAGE_TIFF_LEVELS_H

#include "image_tiff.h"

/* Pages of a file; the first `front` of them are those of other images. */
typedef struct TiffPages {
    uint64_t *ifd; /* offsets of their directories */
    int64_t front, n;
} TiffPages;

/*
 * Puts the directories of level `level`, 1 or more, in the place of those of the pages, and its layout in that of theirs.
 * The directory of a page that has no such level is 0.
 */
bool tiff_level_pages(const TiffSource *source, const TiffPages *pages, int64_t level, TiffLayout *shape, Err *err);
/* How many pixels of `fine` one of `coarse` stands for, along an axis: a whole number where extents are those of one that
 * was rounded up or down. */
double tiff_level_step(uint64_t fine, uint64_t coarse);

#endif
