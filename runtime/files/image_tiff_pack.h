/*
 * image_tiff_pack: strips or tiles of a TIFF file, packed by several threads and put one behind the other.
 *
 * How long a strip becomes is known once it is there, so strips are appended in the order in which their last row comes,
 * and their places are kept for the directories.  Tiles are cut from a *band*, the rows that they share; those at the
 * right and at the bottom are filled up with zeros.  The same rows in the same order give the same bytes.
 */
#ifndef RUNTIME_IMAGE_TIFF_PACK_H
#define RUNTIME_IMAGE_TIFF_PACK_H

#include "../../base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct TiffPack TiffPack;

typedef enum TiffMethod { TIFF_STORE, TIFF_DEFLATE, TIFF_ZSTD } TiffMethod;

/* What the strips are of: pages of `rows` rows of `row_bytes` each, cut into strips of rows_per_strip rows, or into
 * tiles that are so high.  Strips are numbered downwards, tiles row by row.  All is borrowed: the
 * file's descriptor, its name for messages, and where the next strip begins, which several such pages share.  Without a
 * descriptor (-1) strips are kept, for tiff_pack_tell. */
typedef struct TiffPackShape {
    const char *path;
    int fd;
    uint64_t *end;
    uint64_t pages, rows, row_bytes, rows_per_strip;
    size_t pixel_bytes;  /* of all samples that lie together */
    uint64_t tile_bytes; /* of a row of a tile; 0: strips */
    TiffMethod method;
} TiffPackShape;

bool tiff_pack_new(const TiffPackShape *shape, TiffPack **out, Err *err);
void tiff_pack_free(TiffPack *pack); /* NULL is allowed */

/* Rows of a page, those of each page in ascending order; `masks`: bytes 0 and 1 become 0 and 255. */
bool tiff_pack_rows(TiffPack *pack, uint64_t page, uint64_t row, uint64_t rows, const char *from, size_t pitch,
                    bool masks, Err *err);
/* What was kept of some strips that follow each other, and such strips of another one, which are told of. */
bool tiff_pack_tell(const TiffPack *pack, FILE *to);
bool tiff_pack_join(TiffPack *pack, const void *from, size_t bytes, Err *err);
/* Where a strip is, and how long; once all rows are there. */
uint64_t tiff_pack_offset(const TiffPack *pack, uint64_t page, uint64_t strip);
uint64_t tiff_pack_size(const TiffPack *pack, uint64_t page, uint64_t strip);

#endif
