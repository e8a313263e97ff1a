/* image_fits_tiles: a look at compressed tiles before cfitsio unpacks them, and whose pixels were not rounded. */
#ifndef RUNTIME_IMAGE_FITS_TILES_H
#define RUNTIME_IMAGE_FITS_TILES_H

#include "cfitsio.h"
#include "image_fits_scan.h"

enum { FITS_TILE_AXES = 6 };

/* How an image is cut into tiles, along the axes of the file.  exact: one for each tile, true where its floats are stored
 * as they were, because they could not be rounded (infinite ones among them, or all alike); NULL: nowhere; owned. */
typedef struct FitsTiles {
    int axes;
    int64_t extent[FITS_TILE_AXES], tile[FITS_TILE_AXES];
    bool *exact;
} FitsTiles;

/* False for tiles that are longer than the file, or would become more pixels than there is room for; `bytes` are those of
 * the file.  The tiles are freed by fits_tiles_free, also when it fails. */
bool fits_check_tiles(fitsfile *file, const FitsBytes *bytes, FitsTiles *tiles, Err *err);
void fits_tiles_free(FitsTiles *tiles);

/* How many pixels of a row lie in one tile from `first` on (places count from 1), and whether that tile is exact. */
int64_t fits_tile_run(const FitsTiles *tiles, const LONGLONG *first, bool *exact);

#endif
