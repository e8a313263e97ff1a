/* image_fits_tiles: a look at compressed tiles before cfitsio unpacks them. */
#ifndef RUNTIME_IMAGE_FITS_TILES_H
#define RUNTIME_IMAGE_FITS_TILES_H

#include "cfitsio.h"
#include "image_fits_scan.h"

/* False for tiles that are longer than the file, or would become more pixels than there is room for; `bytes` are those of
 * the file. */
bool fits_check_tiles(fitsfile *file, const FitsBytes *bytes, Err *err);

#endif
