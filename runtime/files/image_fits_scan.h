/*
 * image_fits_scan: what lies where in a FITS file, before cfitsio is asked: it counts on headers to be sane, and on the
 * last block to be whole.
 */
#ifndef RUNTIME_IMAGE_FITS_SCAN_H
#define RUNTIME_IMAGE_FITS_SCAN_H

#include "../../base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FITS_AXES_MAX = 9 }; /* that cfitsio can read */

/* The bytes of a file: of a descriptor, or in memory. */
typedef struct FitsBytes {
    int fd; /* -1: in memory */
    const char *at;
    uint64_t size;
} FitsBytes;

typedef struct FitsScan {
    uint64_t *end; /* where the data of each part end, without what fills their last block; UINT64_MAX: nowhere;
                         owned (fits_scan_free) */
    int parts;     /* those whose header is whole */
    int images;    /* parts that have pixels */
    Err stopped;   /* why there are no more, if they are not all */
} FitsScan;

/* Walks over the headers.  False for a file that has none that is whole, or one that cfitsio must not see. */
bool fits_scan(const FitsBytes *bytes, FitsScan *scan, Err *err);
void fits_scan_free(FitsScan *scan);
/* True when the last part's data are there but do not fill their last block. */
bool fits_scan_is_short(const FitsScan *scan, uint64_t size);

/* True for a gzip file with FITS inside, as far as its first bytes tell. */
bool fits_is_zipped(const unsigned char *head, size_t n);
/*
 * The whole file in memory, unpacked where it is a gzip file of one member or several, and filled up with zeros to whole
 * blocks: *at is owned by the caller (free), *size is without what fills up, *room with it.
 */
bool fits_load(int fd, char **at, uint64_t *size, uint64_t *room, Err *err);

#endif
