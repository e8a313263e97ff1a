/* image_fits_place: the coordinates in a FITS header for an image whose pixels lie elsewhere. */
#ifndef RUNTIME_IMAGE_FITS_PLACE_H
#define RUNTIME_IMAGE_FITS_PLACE_H

#include "image_fits.h"

enum { FITS_AXES = 5 };

typedef struct FitsPlace {
    bool moved;
    bool there[3];        /* the new file has an axis that is x, y, z of its place */
    int along[FITS_AXES]; /* which of these axis k is; -1: none */
    bool kept[FITS_AXES]; /* the coordinates of axis k stay or follow */
    int from[FITS_AXES];  /* the axis of the input, from 1, that axis k is; 0: none */
    bool plane_lost;      /* those of x and y do not */
    bool turned;          /* they have an angle, and stay so */
    double step[FITS_AXES], start[FITS_AXES];
} FitsPlace;

/* True while a whole card follows: a header is read card by card. */
bool fits_is_card(const char *card);
/* The keyword of a card, without blanks. */
void fits_key(const char *card, char key[9]);

/* The card of a keyword; NULL when there is none. */
const char *fits_card(const char *header, const char *key);
/* The number of a card, which may have a D for its power of ten. */
double fits_number(const char *card);
/* What stands behind the quote of a card, up to the card's end; "" where there is no card. */
const char *fits_text(const char *card);

/* True for cards of one axis, and those of a pair. */
bool fits_is_of_axis(const char *card);

/*
 * The axes, from 1, that are t, c and z: what CTYPE says of those after y, else the first that is
 * free; 0: none.  Those of extent 1 are none.  False when there are too many.
 */
bool fits_axes(const char *header, int axis_of[3]);

/* `header`: cards of the input; the new file has `axes` axes of these extents and kinds.  With
 * `time_as_z` t is what is z of the place. */
void fits_place_begin(FitsPlace *p, const char *header, const ImagePlace *place, int axes, const int64_t *extent,
                      const char *kind, bool time_as_z);
/* A card as it is in the new file; false: it is left out. */
bool fits_place_card(const FitsPlace *p, const char *card, char to[FITS_CARD + 1]);

#endif
