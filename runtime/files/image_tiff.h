/*
 * image_tiff: how the pixels of one TIFF page are stored, between image_tiff.c, which reads them,
 * and image_tiff_layout.c, which understands the tags.
 */
#ifndef RUNTIME_IMAGE_TIFF_H
#define RUNTIME_IMAGE_TIFF_H

#include "image_format.h"
#include "image_ifd.h"
#include "image_pixels.h"

enum {
    COMPRESSION_NONE = 1,
    COMPRESSION_DEFLATE = 8,
    COMPRESSION_OLD_JPEG = 6,
    COMPRESSION_NEW_JPEG = 7,
    COMPRESSION_BY_ZSTD = 50000,

    PHOTOMETRIC_WHITE_IS_ZERO = 0,
    PHOTOMETRIC_BLACK_IS_ZERO = 1,
    PHOTOMETRIC_COLOURS = 2,
    PHOTOMETRIC_INDEX = 3,
    PHOTOMETRIC_LUMA = 6,

    FORMAT_UINT = 1,
    FORMAT_INT = 2,
    FORMAT_FLOAT = 3,
    FORMAT_VOID = 4,
};

typedef struct TiffLayout {
    uint64_t x, y;
    uint64_t bits, format;
    uint64_t samples; /* of a pixel in the file */
    uint64_t photometric, compression, fill_order;
    bool planar; /* samples are stored apart */
    bool tiled;
    uint64_t band_rows; /* rows of a strip or of a tile, at most y */
    uint64_t tile_x;    /* columns of a tile; x for strips */
    uint64_t bands;     /* strips or rows of tiles of one plane */
    uint64_t kept;      /* samples that are handed on: without alpha */
    uint64_t alphas;    /* which are not: bit i is sample i */
    Elem elem;          /* before palettes */
} TiffLayout;

/* What the tags say, unchecked; false when they are damaged. */
bool tiff_layout_read(const TiffSource *source, const TiffDirectory *dir, TiffLayout *layout, Err *err);
/* Completes a layout; false, with a sentence, when pipec cannot read such pixels. */
bool tiff_layout_check(const TiffSource *source, const TiffDirectory *dir, TiffLayout *layout, Err *err);
/* True for a smaller version or a mask of another page that is marked as such, in the new way or the old one. */
bool tiff_is_marked(const TiffSource *source, const TiffDirectory *dir);
/* True when two pages hold pixels of the same shape and meaning. */
bool tiff_layout_same(const TiffLayout *a, const TiffLayout *b);
/* False when the file is far too small for pixels that are `bytes` long and lie in it, however well they are compressed;
 * `planes` such pages are claimed. */
bool tiff_layout_plausible(const TiffLayout *layout, uint64_t planes, double bytes, uint64_t file_size, Err *err);
/* Bytes of a page when it is decoded. */
double tiff_page_bytes(const TiffLayout *layout);
/* Bytes of one stored row of a plane: of all samples, or of one when they are stored apart. */
uint64_t tiff_row_bytes(const TiffLayout *layout);
/* What becomes of pixels of which 0 is white; `stored`: ImageJ's, which are taken as they are. */
typedef enum TiffWhite { WHITE_NO_MATTER, WHITE_BITS, WHITE_TURNED, WHITE_KEPT } TiffWhite;
TiffWhite tiff_white(const TiffLayout *layout, bool stored);
/* Which sample of the file is number k of those that are handed on. */
int tiff_kept_sample(const TiffLayout *layout, int k);

/*
 * Which strips or tiles, all planes counted through, have no bytes in the file, as sparse files leave them out: a flag
 * for each, or NULL when all have some.  *present: bytes of the others when they are decoded.  Owned by the caller
 * (free).
 */
bool tiff_layout_absent(const TiffSource *source, const TiffDirectory *dir, const TiffLayout *layout, uint8_t **flags,
                        double *present, Err *err);
/* One sample as it stands in the pixels that are left out, in this machine's byte order: 0, or what GDAL's tag says
 * stands for no data; false where that is told of samples that are packed or become another type. */
bool tiff_layout_nothing(const TiffSource *source, const TiffDirectory *dir, const TiffLayout *layout, uint8_t to[8],
                         Err *err);

/*
 * Offsets of the pixels of each stored plane (one, or one a sample) when they are uncompressed and
 * each plane lies in one piece; else NULL.  Owned by the caller (free).
 */
bool tiff_layout_raw(const TiffSource *source, const TiffDirectory *dir, const TiffLayout *layout, uint64_t **offsets,
                     Err *err);
/* The palette as map[sample * 256 + index]; *gray when it has no colours. */
bool tiff_palette(const TiffSource *source, const TiffDirectory *dir, const TiffLayout *layout, uint8_t map[3 * 256],
                  bool *gray, Err *err);

/* The writing half of the format, in image_tiff_write.c; see ImageFormat. */
bool tiff_create(const char *path, int fd, const ImageInfo *shape, Elem elem, const ImageMeta *meta, void **state,
                 Err *err);
bool tiff_write(void *state, const ImageRows *at, const void *from, size_t pitch, Err *err);
bool tiff_finish(void *state, Err *err);
void tiff_discard(void *state);
int64_t tiff_grain(const void *state);
bool tiff_create_part(const char *path, int fd, const ImageInfo *shape, Elem elem, const ImageMeta *meta, void **state,
                      Err *err);
bool tiff_end_part(void *state, FILE *to, Err *err);
bool tiff_join(void *state, const void *from, size_t bytes, Err *err);

#endif
