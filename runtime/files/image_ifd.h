/*
 * image_ifd: the skeleton of a TIFF file: header, directories, tag values.
 *
 * Directories are read here and not by libtiff for three reasons: a directory whose tags claim
 * more bytes than the file has is refused before libtiff tries to load it (a file of 1 MB can
 * otherwise take gigabytes), stacks of 100,000 pages open in a moment, and uncompressed pixels
 * can be read in place.  Nothing in the file is believed: every offset and count is checked.
 */
#ifndef RUNTIME_IMAGE_IFD_H
#define RUNTIME_IMAGE_IFD_H

#include "../../base/err.h"
#include "seen.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The tags that pipec reads or writes. */
enum {
    TAG_SUBFILE = 254,
    TAG_OLD_SUBFILE = 255,
    TAG_WIDTH = 256,
    TAG_LENGTH = 257,
    TAG_BITS = 258,
    TAG_COMPRESSION = 259,
    TAG_PHOTOMETRIC = 262,
    TAG_FILL_ORDER = 266,
    TAG_DESCRIPTION = 270,
    TAG_STRIP_OFFSETS = 273,
    TAG_ORIENTATION = 274,
    TAG_SAMPLES = 277,
    TAG_ROWS_PER_STRIP = 278,
    TAG_STRIP_COUNTS = 279,
    TAG_X_RESOLUTION = 282,
    TAG_Y_RESOLUTION = 283,
    TAG_PLANAR = 284,
    TAG_GRAY_CURVE = 291,
    TAG_RESOLUTION_UNIT = 296,
    TAG_SOFTWARE = 305,
    TAG_COLOUR_MAP = 320,
    TAG_TILE_WIDTH = 322,
    TAG_TILE_LENGTH = 323,
    TAG_TILE_OFFSETS = 324,
    TAG_TILE_COUNTS = 325,
    TAG_SUB_IFDS = 330,
    TAG_EXTRA_SAMPLES = 338,
    TAG_SAMPLE_FORMAT = 339,
    TAG_IMAGE_DEPTH = 32997,
    TAG_STK_PLANES = 33629,
    TAG_LSM = 34412,
    TAG_NODATA = 42113, /* of GDAL, as text */
};

/* The types of tag values, as the file numbers them. */
enum {
    TIFF_TYPE_BYTE = 1,
    TIFF_TYPE_ASCII = 2,
    TIFF_TYPE_SHORT = 3,
    TIFF_TYPE_LONG = 4,
    TIFF_TYPE_RATIONAL = 5,
    TIFF_TYPE_SBYTE = 6,
    TIFF_TYPE_UNDEFINED = 7,
    TIFF_TYPE_SSHORT = 8,
    TIFF_TYPE_SLONG = 9,
    TIFF_TYPE_SRATIONAL = 10,
    TIFF_TYPE_FLOAT = 11,
    TIFF_TYPE_DOUBLE = 12,
    TIFF_TYPE_IFD = 13,
    TIFF_TYPE_LONG8 = 16,
    TIFF_TYPE_SLONG8 = 17,
    TIFF_TYPE_IFD8 = 18,
};

typedef struct TiffSource {
    int fd;         /* borrowed */
    Seen *seen;     /* is told of pixels that are read; NULL: nobody is; borrowed */
    uint64_t size;  /* of the file */
    uint64_t first; /* offset of the first directory */
    bool swap;      /* the file's byte order is not this machine's */
    bool big;       /* BigTIFF */
} TiffSource;

/* Bytes of pixels, as they lie there from `at` on. */
bool tiff_pixels(const TiffSource *source, void *to, uint64_t size, uint64_t at, Err *err);

typedef struct TiffEntry {
    uint16_t tag, type;
    uint64_t count;
    uint64_t at; /* offset of the values in the file */
    /* Bytes at that place, so many, where they stand in the entry itself and need not be read again. */
    unsigned char here[8];
    uint8_t bytes_here;
} TiffEntry;

/* One directory; `entries` is reused by the next tiff_directory_read and freed by
 * tiff_directory_free.  Start with all zero. */
typedef struct TiffDirectory {
    uint64_t next; /* offset of the next directory; 0: none */
    TiffEntry *entries;
    size_t n, cap;
} TiffDirectory;

bool tiff_source_open(TiffSource *source, int fd, Err *err);
bool tiff_directory_read(const TiffSource *source, uint64_t at, TiffDirectory *dir, Err *err);
void tiff_directory_free(TiffDirectory *dir);

/* NULL when the directory has no such tag. */
const TiffEntry *tiff_find(const TiffDirectory *dir, int tag);
/* Number of values of a tag; 0 when it is missing. */
uint64_t tiff_count(const TiffDirectory *dir, int tag);
/* The first value of an integer tag, or `missing`. */
bool tiff_uint(const TiffSource *source, const TiffDirectory *dir, int tag, uint64_t missing, uint64_t *value,
               Err *err);
/* All values of an integer tag that is there; owned by the caller (free). */
bool tiff_uints(const TiffSource *source, const TiffEntry *entry, uint64_t **values, Err *err);
/* The first value of a tag of any numeric type, turned over, because resolutions are wanted as pixel sizes; 0 when it is
 * missing or no positive number. */
bool tiff_inverse(const TiffSource *source, const TiffDirectory *dir, int tag, double *value, Err *err);
/* The first n bytes of a tag's values, of which there must be as many, as they are in the file. */
bool tiff_bytes(const TiffSource *source, const TiffEntry *entry, void *to, size_t n, Err *err);
/* A text tag, terminated; NULL when it is missing; owned by the caller (free). */
bool tiff_text(const TiffSource *source, const TiffDirectory *dir, int tag, char **text, Err *err);

#endif
