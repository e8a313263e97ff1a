/*
 * cfitsio: libcfitsio, loaded when the first FITS file is met.
 *
 * It brings curl, gnutls and thirty other libraries, whose loading took most of the time of a command that sees no such
 * file.  What is called here has the names of fitsio.h without `fits_`.
 */
#ifndef RUNTIME_FILES_CFITSIO_H
#define RUNTIME_FILES_CFITSIO_H

#include "../../base/err.h"

#include <fitsio.h>

#define CFITSIO_FUNCTIONS(F)                         \
    F(clear_errmsg, fits_clear_errmsg)               \
    F(close_file, fits_close_file)                   \
    F(convert_hdr2str, fits_convert_hdr2str)         \
    F(free_memory, fits_free_memory)                 \
    F(get_colnum, fits_get_colnum)                   \
    F(get_errstatus, fits_get_errstatus)             \
    F(get_hdu_num, fits_get_hdu_num)                 \
    F(get_hdu_type, fits_get_hdu_type)               \
    F(get_hduaddrll, fits_get_hduaddrll)             \
    F(get_img_dim, fits_get_img_dim)                 \
    F(get_img_equivtype, fits_get_img_equivtype)     \
    F(get_img_sizell, fits_get_img_sizell)           \
    F(get_img_type, fits_get_img_type)               \
    F(is_compressed_image, fits_is_compressed_image) \
    F(movabs_hdu, fits_movabs_hdu)                   \
    F(open_diskfile, fits_open_diskfile)             \
    F(open_memfile, fits_open_memfile)               \
    F(read_descriptll, fits_read_descriptll)         \
    F(read_errmsg, fits_read_errmsg)                 \
    F(read_key, fits_read_key)                       \
    F(read_pixll, fits_read_pixll)                   \
    F(read_subset, fits_read_subset)

typedef struct Cfitsio {
#define F(NAME, FUNCTION) __typeof__(FUNCTION) *NAME;
    CFITSIO_FUNCTIONS(F)
#undef F
} Cfitsio;

extern Cfitsio cfitsio;

/* Before anything of `cfitsio` is called, from any thread; false where the library is not installed. */
bool cfitsio_load(Err *err);

#endif
