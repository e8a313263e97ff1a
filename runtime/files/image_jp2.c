/*
 * image_jp2: JPEG 2000 files in (.jp2, .j2k), through openjpeg.
 *
 * A file is decoded whole when its first rows are wanted, to numbers of 32 bits, samples apart.  What openjpeg would make up
 * for missing data is an error.
 */
#include "image_format.h"
#include "image_pixels.h"

#include "../host/convert.h"

#include <openjpeg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    RATIO_MOST = 1 << 16,   /* bytes of pixels of one byte: more is what a damaged file claims */
    BUFFER_BYTES = 1 << 20, /* of the stream */
    MESSAGE_BYTES = 200,
    BITS_MOST = 16
};

typedef struct Jp2In {
    int fd;
    uint64_t at, size; /* of the file */
    opj_codec_t *codec;
    opj_stream_t *stream; /* NULL: it has been decoded, or cannot be */
    opj_image_t *image;
    bool decoded;
    int kept[4]; /* components that are no alpha */
    char message[MESSAGE_BYTES];
} Jp2In;

/* ---- openjpeg's view of the file --------------------------------------------------------- */

static OPJ_SIZE_T read_some(void *to, OPJ_SIZE_T n, void *state)
{
    Jp2In *in = state;
    size_t got, left = in->at < in->size ? (size_t)(in->size - in->at) : 0;
    n = n < left ? n : left;
    if (n == 0 || !image_pread(in->fd, to, n, in->at, &got)) {
        return (OPJ_SIZE_T)-1;
    }
    in->at += n;
    return n;
}

static OPJ_BOOL seek(OPJ_OFF_T to, void *state)
{
    Jp2In *in = state;
    bool inside = to >= 0 && (uint64_t)to <= in->size;
    in->at = inside ? (uint64_t)to : in->at;
    return inside;
}

static OPJ_OFF_T skip(OPJ_OFF_T n, void *state)
{
    Jp2In *in = state;
    return seek((OPJ_OFF_T)in->at + n, in) ? n : -1;
}

/* The first one counts. */
static void on_error(const char *message, void *state)
{
    Jp2In *in = state;
    if (in->message[0] == '\0') {
        snprintf(in->message, sizeof in->message, "%.*s", (int)strcspn(message, "\n"), message);
    }
}

/* ---- opening --------------------------------------------------------------------------- */

static const unsigned char BOXES[] = {0, 0, 0, 12, 'j', 'P', ' ', ' ', '\r', '\n', 0x87, '\n'},
                           STREAM[] = {0xFF, 0x4F, 0xFF, 0x51};

static bool is_jp2(const unsigned char *head, size_t n)
{
    return (n >= sizeof BOXES && memcmp(head, BOXES, sizeof BOXES) == 0) ||
           (n >= sizeof STREAM && memcmp(head, STREAM, sizeof STREAM) == 0);
}

static void close_decoder(Jp2In *in)
{
    if (in->stream != NULL) {
        opj_stream_destroy(in->stream);
    }
    if (in->codec != NULL) {
        opj_destroy_codec(in->codec);
    }
    in->stream = NULL;
    in->codec = NULL;
}

static void close_jp2(void *state)
{
    Jp2In *in = state;
    close_decoder(in);
    if (in->image != NULL) {
        opj_image_destroy(in->image);
    }
    close(in->fd);
    free(in);
}

static bool damaged(const Jp2In *in, Err *err)
{
    return err_set(err, CODE_FILES, "it is damaged or cut off (%s)", in->message);
}

static bool read_header(Jp2In *in, Err *err)
{
    unsigned char head[sizeof BOXES];
    size_t got;
    opj_dparameters_t parameters;
    (void)image_pread(in->fd, head, sizeof head, 0, &got);
    bool boxes = got == sizeof head && memcmp(head, BOXES, sizeof BOXES) == 0;
    in->codec = opj_create_decompress(boxes ? OPJ_CODEC_JP2 : OPJ_CODEC_J2K);
    in->stream = opj_stream_create(BUFFER_BYTES, OPJ_TRUE);
    if (in->codec == NULL || in->stream == NULL) {
        return err_set(err, CODE_FILES, "out of memory");
    }
    opj_set_error_handler(in->codec, on_error, in);
    opj_set_default_decoder_parameters(&parameters);
    opj_stream_set_read_function(in->stream, read_some);
    opj_stream_set_seek_function(in->stream, seek);
    opj_stream_set_skip_function(in->stream, skip);
    opj_stream_set_user_data(in->stream, in, NULL);
    opj_stream_set_user_data_length(in->stream, in->size);
    return (opj_setup_decoder(in->codec, &parameters) && opj_decoder_set_strict_mode(in->codec, OPJ_TRUE) &&
            opj_read_header(in->stream, in->codec, &in->image)) ||
           damaged(in, err);
}

static bool refuse(Err *err, const char *what)
{
    return err_set(err, CODE_FILES, "%s; convert it to TIFF", what);
}

/* All samples have the same extents and type; alpha is left out. */
static bool read_samples(Jp2In *in, ImageInfo *info, Err *err)
{
    const opj_image_t *image = in->image;
    const opj_image_comp_t *first = image->comps;
    const bool strange = image->color_space == OPJ_CLRSPC_SYCC || image->color_space == OPJ_CLRSPC_EYCC ||
                         image->color_space == OPJ_CLRSPC_CMYK;
    TRY(!strange || refuse(err, "its colours are neither gray nor RGB"));
    TRY(image->numcomps >= 1 && image->numcomps <= sizeof in->kept / sizeof *in->kept
            ? true
            : refuse(err, "its pixels have more than 4 samples"));
    TRY(first->prec <= BITS_MOST || refuse(err, "its pixels have more than 16 bits"));
    for (uint32_t i = 0; i < image->numcomps; i++) {
        const opj_image_comp_t *c = &image->comps[i];
        bool same = c->w == first->w && c->h == first->h && c->prec == first->prec && c->sgnd == first->sgnd;
        TRY((same && c->dx == 1 && c->dy == 1) || refuse(err, "its samples are not all of one size and type"));
        if (c->alpha == 0) {
            in->kept[info->c++] = (int)i;
        }
    }
    info->x = first->w;
    info->y = first->h;
    info->remarks[REMARK_ALPHA] = info->c < (int64_t)image->numcomps;
    info->elem = first->sgnd ? ELEM_I16 : first->prec <= 8 ? ELEM_U8 : ELEM_U16;
    return info->c > 0 || refuse(err, "it has no sample but alpha");
}

/* Of two wavelets one can be undone to the last bit. */
static bool is_lossy(Jp2In *in)
{
    opj_codestream_info_v2_t *about = opj_get_cstr_info(in->codec);
    bool lossy = about != NULL && about->m_default_tile_info.tccp_info != NULL &&
                 about->m_default_tile_info.tccp_info[0].qmfbid == 0;
    opj_destroy_cstr_info(&about);
    return lossy;
}

static bool open_jp2(const ImagePath *path, int fd, ImageInfo *info, void **state, Err *err)
{
    struct stat st;
    Jp2In *in = calloc(1, sizeof *in);
    (void)path;
    if (in == NULL || fstat(fd, &st) != 0) {
        free(in);
        close(fd);
        return err_set(err, CODE_FILES, "out of memory");
    }
    in->fd = fd;
    in->size = (uint64_t)st.st_size;
    bool ok = read_header(in, err) && read_samples(in, info, err) &&
              pixels_fit_file(info->x, info->y, (uint64_t)info->x * (uint64_t)info->y * in->image->numcomps, in->size,
                              RATIO_MOST, err);
    if (!ok) {
        close_jp2(in);
        return false;
    }
    info->z = info->t = 1;
    info->has_c = info->c > 1;
    info->rgb = info->c == 3;
    info->remarks[REMARK_LOSSY] = is_lossy(in);
    strcpy(info->style, "jp2");
    *state = in;
    return true;
}

/* ---- reading --------------------------------------------------------------------------- */

static bool decode_once(Jp2In *in, Err *err)
{
    if (in->stream != NULL) {
        in->decoded = opj_decode(in->codec, in->stream, in->image) && opj_end_decompress(in->codec, in->stream);
        close_decoder(in);
    }
    return in->decoded || damaged(in, err);
}

static bool read_jp2(void *state, const ImageInfo *info, const ImageRows *at, void *to, size_t pitch, Err *err)
{
    Jp2In *in = state;
    TRY(decode_once(in, err));
    const opj_image_comp_t *c = &in->image->comps[in->kept[at->c]];
    const bool whole = c->data != NULL && c->w == info->x && c->h == info->y;
    size_t bad;
    bool ok = whole;
    for (int64_t y = 0; ok && y < at->rows; y++) {
        ok = convert_row(ELEM_I32, c->data + (size_t)(at->row + y) * c->w, info->elem, (char *)to + (size_t)y * pitch,
                         c->w, &bad);
    }
    return ok || err_set(err, CODE_FILES, "it is damaged (its pixels are not what its header says)");
}

const ImageFormat image_jp2 = {
    .name = "jp2",
    .matches = is_jp2,
    .open = open_jp2,
    .read = read_jp2,
    .close = close_jp2,
};
