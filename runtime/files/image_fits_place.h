/* image_fits_place: the coordinates in a FITS header for an image whose pixels lie elsewhere. */
#ifndef RUNTIME_IMAGE_FITS_PLACE_H
#define RUNTIME_IMAGE_FITS_PLACE_H

#include "image_fits.h"

enum { FITS_AXES = 5 };

typedef struct FitsPlace {
    bool moved;
    bool kind[3];          /* FITS axis k is x, y, z */
    bool kept[FITS_AXES];  /* the coordinates of axis k stay or follow */
    bool plane_lost;       /* those of x and y do not */
    bool turned;           /* they have an angle, and stay so */
    double step[3], start[3];
} FitsPlace;

/* `header`: cards of the input; the new file has `axes` axes of these extents and kinds. */
void fits_place_begin(FitsPlace *p, const char *header, const ImagePlace *place, int axes,
                      const int64_t *extent, const char *kind);
/* A card as it is in the new file; false: it is left out. */
bool fits_place_card(const FitsPlace *p, const char *card, char to[FITS_CARD + 1]);

#endif
