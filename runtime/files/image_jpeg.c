/*
 * image_jpeg: JPEG files in, through libjpeg.
 *
 * A file is decoded whole when its first rows are wanted.  The slow exact DCT gives the same pixels with all builds of
 * libjpeg-turbo, whatever the processor has.  Sizes of pixels are not taken from the file: cameras write what printers
 * want.  What libjpeg would make up for damaged or missing data is an error.
 *
 * libjpeg reports failure by a function that must not return, so that it jumps.  The functions that set the jump own
 * nothing themselves and change no local variable that is read after it; what is to be freed hangs on the state.
 */
#include "image_format.h"
#include "image_exif.h"
#include "image_pixels.h"

#include "../../base/pages.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jpeglib.h>

#include <jerror.h>

enum {
    RATIO_MOST = 1300, /* bytes of pixels of one byte: ten blocks in ten bits */
    SCANS_MOST = 500,  /* of a progressive file; each goes over the whole image */
    EXIF_BYTES = 65533 /* of a marker, at most */
};

typedef struct JpegIn {
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    struct jpeg_progress_mgr progress;
    jmp_buf jump;
    char message[JMSG_LENGTH_MAX];
    FILE *from;
    bool made; /* `jpeg` is to be destroyed */
    int64_t x, y;
    int samples;       /* 1 or 3 */
    bool turned;       /* to be shown otherwise than its rows are stored */
    unsigned char *at; /* all rows, samples side by side; NULL: not decoded yet */
} JpegIn;

static void on_error(j_common_ptr jpeg)
{
    JpegIn *in = jpeg->client_data;
    jpeg->err->format_message(jpeg, in->message);
    longjmp(in->jump, 1);
}

/* Of a warning, what would leave pixels that are made up. */
static void on_message(j_common_ptr jpeg, int level)
{
    static const int MADE_UP[] = {JWRN_HIT_MARKER, JWRN_JPEG_EOF, JWRN_HUFF_BAD_CODE, JWRN_MUST_RESYNC};
    for (size_t i = 0; level < 0 && i < sizeof MADE_UP / sizeof *MADE_UP; i++) {
        if (jpeg->err->msg_code == MADE_UP[i]) {
            on_error(jpeg);
        }
    }
}

static void on_progress(j_common_ptr jpeg)
{
    JpegIn *in = jpeg->client_data;
    if (in->jpeg.input_scan_number > SCANS_MOST) {
        snprintf(in->message, sizeof in->message, "it has more than %d scans", (int)SCANS_MOST);
        longjmp(in->jump, 1);
    }
}

static bool is_jpeg(const unsigned char *head, size_t n)
{
    return n >= 3 && memcmp(head, "\xFF\xD8\xFF", 3) == 0;
}

static void close_jpeg(void *state)
{
    JpegIn *in = state;
    if (in->made) {
        jpeg_destroy_decompress(&in->jpeg);
    }
    fclose(in->from);
    free(in->at);
    free(in);
}

static bool read_header(JpegIn *in)
{
    static const unsigned char EXIF[] = {'E', 'x', 'i', 'f', 0, 0};
    if (setjmp(in->jump) != 0) {
        return false;
    }
    jpeg_create_decompress(&in->jpeg);
    in->made = true;
    in->jpeg.client_data = in; /* which creating it has kept */
    jpeg_stdio_src(&in->jpeg, in->from);
    jpeg_save_markers(&in->jpeg, JPEG_APP0 + 1, EXIF_BYTES);
    jpeg_read_header(&in->jpeg, TRUE);
    bool gray = in->jpeg.jpeg_color_space == JCS_GRAYSCALE;
    in->jpeg.out_color_space = gray ? JCS_GRAYSCALE : JCS_RGB;
    in->jpeg.dct_method = JDCT_ISLOW;
    in->samples = gray ? 1 : 3;
    in->x = in->jpeg.image_width;
    in->y = in->jpeg.image_height;
    for (jpeg_saved_marker_ptr m = in->jpeg.marker_list; m != NULL; m = m->next) {
        bool exif = m->data_length > sizeof EXIF && memcmp(m->data, EXIF, sizeof EXIF) == 0;
        in->turned = in->turned || (exif && exif_turned(m->data + sizeof EXIF, m->data_length - sizeof EXIF));
    }
    return true;
}

static bool check_header(const JpegIn *in, uint64_t file_size, Err *err)
{
    const J_COLOR_SPACE colours = in->jpeg.jpeg_color_space;
    if (colours != JCS_GRAYSCALE && colours != JCS_YCbCr && colours != JCS_RGB) {
        return err_set(err, CODE_FILES,
                       "its colours are neither gray nor RGB (CMYK, as for a printer); convert it to TIFF");
    }
    if (in->jpeg.arith_code) {
        return err_set(err, CODE_FILES,
                       "its pixels are packed by arithmetic coding, which few programs read; convert it to TIFF");
    }
    return pixels_fit_file(in->x, in->y, (uint64_t)in->x * (uint64_t)in->y * (uint64_t)in->samples, file_size,
                           RATIO_MOST, err);
}

static bool open_jpeg(const ImagePath *path, int fd, ImageInfo *info, void **state, Err *err)
{
    struct stat st;
    (void)path;
    JpegIn *in = calloc(1, sizeof *in);
    if (in == NULL || fstat(fd, &st) != 0 || (in->from = fdopen(fd, "rb")) == NULL) {
        free(in);
        close(fd);
        return err_set(err, CODE_FILES, "out of memory");
    }
    in->jpeg.err = jpeg_std_error(&in->errors);
    in->jpeg.client_data = in;
    in->errors.error_exit = on_error;
    in->errors.emit_message = on_message;
    bool ok = (read_header(in) || err_set(err, CODE_FILES, "it is damaged (%s)", in->message)) &&
              check_header(in, (uint64_t)st.st_size, err);
    if (!ok) {
        close_jpeg(in);
        return false;
    }
    in->progress.progress_monitor = on_progress;
    in->jpeg.progress = &in->progress;
    info->x = in->x;
    info->y = in->y;
    info->z = info->t = 1;
    info->c = in->samples;
    info->has_c = info->rgb = in->samples == 3;
    info->elem = ELEM_U8;
    info->remarks[REMARK_ORIENTATION] = in->turned;
    info->remarks[REMARK_LOSSY] = 1;
    strcpy(info->style, "jpeg");
    *state = in;
    return true;
}

static bool decode(JpegIn *in)
{
    if (setjmp(in->jump) != 0) {
        return false;
    }
    jpeg_start_decompress(&in->jpeg);
    while (in->jpeg.output_scanline < in->jpeg.output_height) {
        JSAMPROW row = in->at + (size_t)in->jpeg.output_scanline * (size_t)in->x * (size_t)in->samples;
        (void)jpeg_read_scanlines(&in->jpeg, &row, 1);
    }
    jpeg_finish_decompress(&in->jpeg);
    return true;
}

static bool decode_once(JpegIn *in, Err *err)
{
    if (in->at != NULL) {
        return true;
    }
    if (!in->made) {
        return err_set(err, CODE_FILES, "it is damaged (%s)", in->message);
    }
    in->at = pages_alloc((size_t)in->x * (size_t)in->y * (size_t)in->samples);
    bool ok = in->at != NULL;
    if (!ok) {
        err_set(err, CODE_FILES, "out of memory");
    } else if (!decode(in)) {
        ok = err_set(err, CODE_FILES, "it is damaged or cut off (%s)", in->message);
    }
    jpeg_destroy_decompress(&in->jpeg);
    in->made = false;
    if (!ok) {
        free(in->at);
        in->at = NULL;
    }
    return ok;
}

static bool read_jpeg(void *state, const ImageInfo *info, const ImageRows *at, void *to, size_t pitch, Err *err)
{
    JpegIn *in = state;
    TRY(decode_once(in, err));
    const PixelForm form = {.bits = 8, .samples = in->samples, .elem = info->elem};
    const size_t row = (size_t)in->x * (size_t)in->samples;
    for (int64_t i = 0; i < at->rows; i++) {
        pixels_row(&form, in->at + (size_t)(at->row + i) * row, (int)at->c, (size_t)in->x,
                   (char *)to + (size_t)i * pitch);
    }
    return true;
}

const ImageFormat image_jpeg = {
    .name = "jpg",
    .matches = is_jpeg,
    .open = open_jpeg,
    .read = read_jpeg,
    .close = close_jpeg,
};
