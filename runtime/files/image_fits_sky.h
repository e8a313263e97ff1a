/* image_fits_sky: what a FITS header says about right ascension and declination. */
#ifndef RUNTIME_IMAGE_FITS_SKY_H
#define RUNTIME_IMAGE_FITS_SKY_H

#include "../../base/sky.h"

/* `header`: cards.  Where they say nothing that is understood, sky->projection is SKY_NONE and sky->why the reason. */
void fits_sky(const char *header, Sky *sky);

#endif
