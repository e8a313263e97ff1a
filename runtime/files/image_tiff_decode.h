/*
 * image_tiff_decode: strips and tiles of a TIFF page as libtiff decodes them.
 *
 * A decoder is a libtiff handle of its own, with its own place in the file, so that several threads may each use
 * one on the same page at once.
 */
#ifndef RUNTIME_IMAGE_TIFF_DECODE_H
#define RUNTIME_IMAGE_TIFF_DECODE_H

#include "image_tiff.h"

#include <tiffio.h>

enum { TIFF_DECODERS = 8 }; /* as many as a crew has pieces for */

static const uint64_t BAND_MAX = (uint64_t)4 << 30; /* bytes of one decoded strip, or row of tiles */

typedef struct TiffDecoder {
    const TiffSource *source;
    TIFF *tif;         /* opened at need */
    uint64_t at;       /* directory of the page that it looks at; 0: none */
    uint64_t position; /* where libtiff reads on */
    char message[300]; /* the first complaint of libtiff since it was cleared */
    uint8_t *tile;
    uint64_t tile_bytes;
} TiffDecoder;

/* What is to be decoded; all of it is borrowed. */
typedef struct TiffPage {
    const TiffSource *source;
    uint64_t at; /* its directory */
    const TiffLayout *layout;
    const uint8_t *absent;  /* flags of strips or tiles that have no bytes; NULL: there are none */
    const uint8_t *nothing; /* what a sample is there */
} TiffPage;

/* Makes memory that has `*has` bytes at least so large; what was in it is lost. */
bool tiff_need(uint8_t **memory, uint64_t *has, uint64_t size, Err *err);
/* Tiles side by side in a row of them; 1 for strips. */
uint64_t tiff_tiles_across(const TiffLayout *layout);

/* Makes libtiff look at the page, and checks that it sees what we see. */
bool tiff_decoder_seek(TiffDecoder *decoder, const TiffPage *page, Err *err);
/* Strip `band`, or tile number `column` of that row of tiles, to where the whole band is wanted; bands of planes that
 * are stored apart are counted through. */
bool tiff_decode(TiffDecoder *decoder, const TiffPage *page, uint64_t band, uint64_t column, uint8_t *to, Err *err);
/* One row of a strip; rows of a strip in ascending order. */
bool tiff_decode_row(TiffDecoder *decoder, const TiffPage *page, uint64_t row, uint64_t sample, uint8_t *to, Err *err);
void tiff_decoder_close(TiffDecoder *decoder); /* one that was never used, too */

#endif
