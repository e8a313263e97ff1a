/*
 * image: image files in and out, one interface over TIFF (libtiff), PNG (libpng), JPEG and JPEG 2000 (libjpeg, openjpeg, in
 * only), FITS (cfitsio) and OME-Zarr (a folder), and programs that read others (image_external.h).  A file is up to five axes: t, c, z, y, x.  RGB samples are the c axis.
 *
 * Pixels are handed over planar, row by row, in the file's own element type, native byte order:
 * palette, MINISWHITE, 1-bit and big-endian are normalised while reading.
 */
#ifndef RUNTIME_IMAGE_H
#define RUNTIME_IMAGE_H

#include "../../base/digest.h"
#include "../../base/elem.h"
#include "../../base/err.h"
#include "../../base/sky.h"
#include "../host/crew.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a user should know of how a file was read: what it has beside the image, and what is understood otherwise than
 * somebody may think. */
typedef enum ImageRemark {
    /* Counted. */
    REMARK_PAGES,      /* TIFF: from the first page on that has another size or type, without those marked as
                        smaller versions or masks of another one */
    REMARK_UNLISTED,   /* OME-TIFF: pages that its XML does not list */
    REMARK_UNFINISHED, /* OME-TIFF: pages of the last time point or plane, in the midst of which the acquisition ended */
    REMARK_ABSENT,     /* OME-TIFF: planes that its XML tells of and that no file has */
    REMARK_IMAGES,     /* OME-TIFF: images beside the one that is read */
    REMARK_XML,        /* OME-TIFF of a set: the file that has the XML of all */
    REMARK_FILES,      /* OME-TIFF of a set: planes in other files */
    REMARK_BESIDE,     /* of a reader: images beside the one that is read, where no part is named */
    REMARK_FRAMES,     /* PNG: frames of an animation beside the picture */
    REMARK_PARTS,      /* FITS: images behind the first one, where no part is named */
    /* True or false. */
    REMARK_XML_DAMAGED, /* OME-TIFF: the XML is none */
    REMARK_DESCRIPTION, /* TIFF: it tells of other pages than there are */
    REMARK_SIZES,       /* OME-TIFF: the XML tells of pixels of other extents or another type */
    REMARK_FIRST,       /* OME-TIFF: the XML lists the first plane alone, and the others are read, too */
    REMARK_LENGTHS,     /* pixels have a size that is none of a length */
    REMARK_NUMBERS,     /* pixels are the numbers of a palette's colours */
    REMARK_MARKS,       /* TIFF: all pages are marked as smaller versions or masks */
    REMARK_BITS,        /* TIFF: white is zero in pixels of one bit, which are taken as they are stored */
    REMARK_WHITE,       /* TIFF: white is zero, and pixels are turned over */
    REMARK_WHITE_KEPT,  /* TIFF: white is zero in signed or floating-point pixels, which are taken as they are stored */
    REMARK_CALIBRATED,  /* ImageJ: values are what its calibration makes of those that are stored */
    REMARK_UNCALIBRATED,  /* TIFF: stored values, though the file says what they stand for */
    REMARK_NODATA,        /* TIFF: one value stands for no data */
    REMARK_LOSSY,         /* JPEG, JPEG 2000: pixels are not those that were recorded */
    REMARK_ORIENTATION,   /* TIFF, JPEG, PNG: rows are not stored from the top left on */
    REMARK_ALPHA,         /* alpha is left out */
    REMARK_CHANNEL_NAMES, /* OME-TIFF: channels have names (ImageInfo.channels) */
    IMAGE_REMARKS
} ImageRemark;

typedef struct ImageInfo {
    int64_t x, y, z, c, t;    /* extents, at least 1 */
    bool has_z, has_c, has_t; /* the file says so, even if the extent is 1 */
    bool rgb;                 /* c is samples of a pixel */
    bool palette;             /* rgb: pixels are numbers of colours (image_numbers) */
    bool time_as_z;           /* z is what the file calls t, and t its z */
    Elem elem;
    /* Pixel size in `unit`; 0 = unknown.  size_um: the same in micrometres, 0 = unknown. */
    double size[3], size_um[3]; /* x, y, z */
    double origin[3];           /* where the middle of the first pixel lies along x, y, z, in `unit` */
    char unit[32];              /* as the file spells it: "micron", "um", "mm", "inch", "" */
    double interval;            /* seconds between frames; 0 = unknown */
    char style[16];             /* "imagej", "ome", "tiff", "png", "jpeg", "jp2", "fits" */
    /* What the file has in one piece, which is decoded at once; 0: nothing that lies across planes or channels. */
    struct {
        int64_t rows, planes, channels;
    } together;
    int64_t remarks[IMAGE_REMARKS]; /* how many, or 1; of a folder those of all its files */
    const char *channels;           /* their names, one for each c (not of rgb), each terminated; NULL: they have none;
                                   as extra */
    const char *colours;            /* in which channels are shown, as "0000FF", likewise; OME-Zarr alone says it */
    void *extra;                    /* format-specific metadata to carry on (FITS header); owned by the
                                   ImageFile, borrowed by writers while it is open */
} ImageInfo;

typedef struct ImageFile ImageFile;
typedef struct ImageWriter ImageWriter;

/* Opens by content, not by name; a path may be that of a folder or end in a part
 * (image_path.h).  Files that would need absurd memory are refused. */
bool image_open(const char *path, ImageFile **out, Err *err);
void image_close(ImageFile *file);
const ImageInfo *image_info(const ImageFile *file);
/* From now on time points are planes and planes time points; files that are written like this one
 * have them exchanged back. */
void image_time_as_z(ImageFile *file);
/* From now on pixels of a palette are the numbers of its colours, in one channel. */
void image_numbers(ImageFile *file);
/* From now on pixels have these sizes along x, y, z in micrometres; 0: what the file says. */
void image_pixel_size(ImageFile *file, const double um[3]);
/*
 * Rows [row, row + rows) of plane z, channel c, frame t, into `to`, rows `pitch` bytes apart.
 * Strips and tiles are decoded once for consecutive calls (the last ones are cached).
 */
bool image_read(ImageFile *file, int64_t t, int64_t c, int64_t z, int64_t row, int64_t rows, void *to, size_t pitch,
                Err *err);

/* True when several threads may call image_read at once, for rows without room between them. */
bool image_shares(ImageFile *file);
/* Compressed strips and tiles are decoded with the crew's help from now on, which is borrowed; NULL: alone. */
void image_use_crew(ImageFile *file, Crew *crew);

/* Bytes that are read from now on are digested, where the format can tell them, so that image_content need not read them
 * again. */
void image_see(ImageFile *file);
/* What file_state_content says of the file; false when there is none any more. */
bool image_content(ImageFile *file, char content[DIGEST_TEXT]);

/* The version of OME-Zarr that is written: with zarr 2, or zarr 3. */
typedef enum ZarrVersion { OME_ZARR_0_4, OME_ZARR_0_5 } ZarrVersion;

/* Where pixels of a new file lie in another one: pixel (x, y, z) at of[a][0] x + of[a][1] y +
 * of[a][2] z + of[a][3] along its axis a, NaN where nobody knows. */
typedef struct ImagePlace {
    bool moved; /* else each pixel has the place that its number says, and `of` is not used */
    double of[3][4];
} ImagePlace;

typedef struct ImageMeta {
    const ImageInfo *like;  /* where pixel size, unit, interval and style come from; may be NULL */
    ImagePlace place;       /* of the pixels in that file */
    const char *software;   /* "pipec 0.1 blobs 0123abcd..." */
    const char *parameters; /* "sigma=2 kappa=3" */
    bool channels;          /* those of `like`, one by one: they keep their names where the format has a place */
    bool labels;            /* display range 0..max; no interpolation */
    bool pyramid;           /* TIFF: with levels of detail; it is OME-TIFF then */
    bool compress;          /* as small as it goes: TIFF strips are packed, and colours not interleaved */
    bool zstd;              /* by zstd instead of deflate, where the format has both */
    bool plain;             /* not at all, also where a format always does it */
    bool flat;              /* OME-Zarr: without levels of detail */
    int tile;               /* width and height of tiles of TIFF, of chunks of OME-Zarr; 0: as is best */
    bool unsharded;         /* OME-Zarr: each chunk is a file, also with zarr 3 */
    ZarrVersion zarr;
    double max; /* largest value, for the display range; 0 = unknown */
} ImageMeta;

/* True for an image whose first row stands below, as viewers of FITS show it. */
bool image_goes_upwards(const ImageInfo *info);
/* Right ascension and declination of its pixels, or why there are none. */
void image_sky(const ImageInfo *info, Sky *sky);
/* False for a file with something in it that is no image of this format. */
bool image_may_replace(const char *path, const char *format);
/* False, with this code, when no image of this format can be written under a name (file_check_target). */
bool image_check_target(const char *path, const char *format, int code, Err *err);
/* What names of files of this format end in: "tif", "ome.zarr"; the format itself where it is none of images. */
const char *image_ending(const char *format);

/*
 * A writer makes one file with pixels of type `elem` (bool is written as 0/255 bytes), axes as in
 * shape (x, y, z, c, t and the has_ and rgb flags are used).  `format`: "tif", "png", "fits", "zarr"; of labels
 * and masks also "geojson" and "roi" (outlines, image_outlines.c).
 * BigTIFF where needed.  Rows may come in any order of planes, but rows of one plane in ascending
 * order.  Nothing appears under `path` before image_commit.  `meta` may be NULL;
 * nothing that the arguments point to is needed after the call.
 *
 * PNG holds one plane of u8 or u16 (bool as u8), gray or RGB; other types are scaled linearly from
 * smallest..largest to 0..255, labels up to 65535 are kept as u16; like FITS it is turned over, because viewers of FITS
 * show the first row below.  FITS holds every type.
 *
 * OME-Zarr is a folder with several levels of detail (image_levels.h): means of pixels, of labels and masks every second one.  `path` may lead
 * into the labels of an image that is there ("a.ome.zarr/labels/nuclei"), whose version counts then.
 */
bool image_create(const char *path, const char *format, const ImageInfo *shape, Elem elem, const ImageMeta *meta,
                  ImageWriter **out, Err *err);
bool image_write(ImageWriter *writer, int64_t t, int64_t c, int64_t z, int64_t row, int64_t rows, const void *from,
                 size_t pitch, Err *err);
/* All rows at once, close together as [t][c][z][y][x]; false without an error: the format wants rows. */
bool image_write_all(ImageWriter *writer, const void *pixels, Err *err);
bool image_commit(ImageWriter *writer, Err *err); /* frees the writer, whatever happens */
void image_abort(ImageWriter *writer);            /* removes the temporary file; NULL is allowed */

/*
 * Several writers of one image, in this process or in others that see the same files: that of the whole, and *parts* of
 * its rows, which begin with a multiple of image_grain (0: it has no parts).  `whole`: image_temporary of the whole, as the
 * part's process sees it; all else as for the whole.  When a part has its rows, image_end_part tells what the whole is to
 * know (owned by the caller, free), and image_join tells it: of all parts in the order of their rows.  A part is freed by
 * image_abort.
 */
int64_t image_grain(const ImageWriter *writer);
const char *image_temporary(const ImageWriter *writer);
bool image_create_part(const char *path, const char *format, const ImageInfo *shape, Elem elem, const ImageMeta *meta,
                       const char *whole, ImageWriter **out, Err *err);
bool image_end_part(ImageWriter *part, void **told, size_t *bytes, Err *err);
bool image_join(ImageWriter *whole, const void *told, size_t bytes, Err *err);

#endif
