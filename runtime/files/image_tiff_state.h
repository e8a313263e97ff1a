/* image_tiff_state: a TIFF file that is open, between image_tiff.c and image_tiff_pixels.c. */
#ifndef RUNTIME_IMAGE_TIFF_STATE_H
#define RUNTIME_IMAGE_TIFF_STATE_H

#include "image_meta.h"
#include "image_ome.h"
#include "image_tiff.h"
#include "image_tiff_decode.h"

typedef struct TiffFile {
    TiffSource source;
    TiffDirectory dir; /* of the current page */
    uint64_t *ifd;     /* offsets of the pages' directories */
    uint64_t rest;     /* that of the first page that does not look like them; 0: there is none */
    int64_t pages, cap;
    bool all_count;     /* thumbnails are pages as others */
    bool all_marked;    /* there are no others */
    int64_t thumbnails; /* pages that are marked and count */
    char *text;         /* the description of the first page; NULL: there is none */
    OmeXml *ome;        /* what it says if it is OME-XML; NULL: it is not */
    MetaPlan plan;
    TiffLayout shape; /* of every page; storage details of the first */
    bool stored;      /* palettes and white zeros are left alone */

    int64_t current; /* page that the rest is about; -1: none */
    TiffLayout now;
    PixelForm form;
    uint8_t map[3 * 256];
    uint64_t *raw;        /* offsets of planes in place; NULL: decode */
    uint8_t *absent;      /* flags of strips or tiles that have no bytes; NULL: there are none */
    uint8_t nothing[8];   /* a sample there */
    bool offset;          /* ImageJ's signed 16 bits */
    float *curve;         /* another calibration of ImageJ; NULL: there is none */
    uint8_t **band;       /* decoded bands, [sample][band]; NULL: not there */
    uint64_t bands, held; /* how many there can be, how many there are */
    uint64_t low, high;   /* those that are there lie between these, both included */
    uint64_t scanned;     /* row after the one in scratch, of a strip decoded by rows; 0: none */
    uint64_t scanned_sample;
    uint8_t *scratch; /* rows as the file packs them */
    uint64_t scratch_size;
    uint64_t read_at,
        read_n; /* what of the file is in scratch, for the other samples of its pixels; 0 bytes: nothing */

    TiffDecoder decoder[TIFF_DECODERS];
    Crew *crew; /* NULL: one decoder works alone */
} TiffFile;

/* Whether pixels are numbers of colours. */
bool tiff_has_palette(const TiffFile *file, const TiffLayout *layout);
/* Makes a page the current one. */
bool tiff_load_page(TiffFile *file, int64_t page, Err *err);
/* Rows of one sample of the current page: decoded, or from where they lie, `offset` bytes into the file. */
bool tiff_read_decoded(TiffFile *file, const ImageRows *at, int sample, void *to, size_t pitch, Err *err);
bool tiff_read_raw(TiffFile *file, const ImageRows *at, int sample, uint64_t offset, void *to, size_t pitch, Err *err);
/* Frees what was decoded and is kept for other samples. */
void tiff_drop_bands(TiffFile *file);

#endif
