/*
 * image_fits_scan: the skeleton of a FITS file: headers and the sizes of what follows them.
 *
 * cfitsio keeps coordinates in arrays of nine, and extents on the stack, so that an image of more axes overwrites its
 * memory.  Headers are looked at here first, and it is told of those parts alone that were seen.  Where a keyword that
 * gives a size comes twice, one cannot tell which one cfitsio takes, so that is refused, too.
 *
 * Writers that stop at their last pixel leave the last block short, and gzip files may have several members; cfitsio
 * reads neither, and is given such files in memory.
 */
#include "image_fits_scan.h"

#include "image_fits.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { HEAD_BLOCKS_MAX = 100000, LOAD_MIN = 1 << 20, LOAD_PIECE = 1 << 30, BLOCK_MOST = 256 };

/* What of a header says how large its data are. */
typedef enum Size { SIZE_BITPIX, SIZE_NAXIS, SIZE_PCOUNT, SIZE_GCOUNT, SIZE_GROUPS, SIZE_AXIS } Size;

static const char *const KEY[] = {"BITPIX", "NAXIS", "PCOUNT", "GCOUNT", "GROUPS"};

typedef struct Header {
    int64_t value[SIZE_AXIS + FITS_AXES_MAX];
    bool given[SIZE_AXIS + FITS_AXES_MAX];
    bool ended, twice, image; /* image: also one in a table of tiles */
    bool no_tile;             /* a tile has no extent */
    bool rice, bad_block;     /* the method of tiles; one of its two settings is none */
} Header;

static bool read_block(const FitsBytes *bytes, uint64_t at, char *to)
{
    size_t got;
    if (at > bytes->size || bytes->size - at < FITS_BLOCK) {
        return false;
    }
    if (bytes->fd < 0) {
        memcpy(to, bytes->at + at, FITS_BLOCK);
        return true;
    }
    return image_pread(bytes->fd, to, FITS_BLOCK, at, &got);
}

/* Which size a card gives; -1: none. */
static int size_of(const char *card)
{
    for (int i = 0; i < SIZE_AXIS; i++) {
        size_t n = strlen(KEY[i]);
        if (memcmp(card, KEY[i], n) == 0 && (card[n] == ' ' || card[n] == '=')) {
            return i;
        }
    }
    bool axis = memcmp(card, "NAXIS", 5) == 0 && card[5] >= '1' && card[5] <= '0' + FITS_AXES_MAX &&
                (card[6] == ' ' || card[6] == '=');
    return axis ? SIZE_AXIS + card[5] - '1' : -1;
}

/* True for a whole number above 0. */
static bool is_positive(const char *value)
{
    size_t digits = strspn(value, "0123456789");
    return (value[digits] == ' ' || value[digits] == '/' || value[digits] == '\0') && strtoll(value, NULL, 10) > 0;
}

/* cfitsio divides by the extents of tiles, which are those of the image if nothing else is said, and by the first two
 * settings of Rice's method, whatever these are called.  It looks for the end of a tile once a block, which has 16 or 32
 * pixels. */
static void read_tiling(const char *card, const char *value, Header *header)
{
    bool setting = memcmp(card, "ZVAL1   ", 8) == 0 || memcmp(card, "ZVAL2   ", 8) == 0;
    bool extent = memcmp(card, "ZTILE", 5) == 0 || (memcmp(card, "ZNAXIS", 6) == 0 && card[6] >= '0' && card[6] <= '9');
    header->no_tile = header->no_tile || (extent && !is_positive(value));
    header->bad_block =
        header->bad_block || (setting && (!is_positive(value) || strtoll(value, NULL, 10) > BLOCK_MOST));
    header->rice = header->rice || (memcmp(card, "ZCMPTYPE", 8) == 0 && strncmp(value, "'RICE", 5) == 0);
}

static bool begins_image(const char *card)
{
    static const char *const IMAGE[] = {"SIMPLE  =", "XTENSION= 'IMAGE", "ZIMAGE  =                    T"};
    bool begins = false;
    for (int i = 0; i < 3; i++) {
        begins = begins || memcmp(card, IMAGE[i], strlen(IMAGE[i])) == 0;
    }
    return begins;
}

static void read_card(const char *card, Header *header)
{
    char text[FITS_CARD + 1];
    int i = size_of(card);
    memcpy(text, card, FITS_CARD);
    text[FITS_CARD] = '\0';
    const char *value = text + 9 + strspn(text + 9, " ");
    header->image = header->image || begins_image(card);
    read_tiling(card, value, header);
    if (memcmp(card, "END     ", 8) == 0) {
        header->ended = true;
    } else if (i >= 0 && card[8] == '=') {
        int64_t number = i == SIZE_GROUPS ? *value == 'T' : strtoll(value, NULL, 10);
        header->twice = header->twice || (header->given[i] && header->value[i] != number);
        header->given[i] = true;
        header->value[i] = number;
    }
}

/* Reads the header at *at, and moves on to what follows it; false when it is not whole. */
static bool read_header(const FitsBytes *bytes, uint64_t *at, Header *header)
{
    char block[FITS_BLOCK];
    *header = (Header){.value[SIZE_GCOUNT] = 1};
    for (int n = 0; !header->ended && n < HEAD_BLOCKS_MAX; n++) {
        if (!read_block(bytes, *at, block)) {
            return false;
        }
        for (int i = 0; i < FITS_BLOCK && !header->ended; i += FITS_CARD) {
            read_card(block + i, header);
        }
        *at += FITS_BLOCK;
    }
    return header->ended && header->given[SIZE_NAXIS] && header->given[SIZE_BITPIX];
}

/* Bytes of the data behind a header; groups have a first axis of no extent.  A negative number where extents make no
 * sense, or more than any file. */
static double data_bytes(const Header *header)
{
    const int64_t *value = header->value;
    if (value[SIZE_PCOUNT] < 0 || value[SIZE_GCOUNT] < 0) {
        return -1;
    }
    double pixels = value[SIZE_NAXIS] > 0;
    for (int64_t i = 0; i < value[SIZE_NAXIS]; i++) {
        int64_t extent = value[SIZE_AXIS + i];
        if (extent < 0) {
            return -1;
        }
        pixels *= i == 0 && extent == 0 && value[SIZE_GROUPS] != 0 ? 1 : (double)extent;
    }
    double bytes =
        fabs((double)value[SIZE_BITPIX]) / 8 * (double)value[SIZE_GCOUNT] * (pixels + (double)value[SIZE_PCOUNT]);
    return bytes < 9e15 ? bytes : -1;
}

static bool add_part(FitsScan *scan, uint64_t end, Err *err)
{
    uint64_t *more = realloc(scan->end, ((size_t)scan->parts + 1) * sizeof *more);
    if (more == NULL) {
        return err_set(err, CODE_FILES, "out of memory");
    }
    scan->end = more;
    scan->end[scan->parts++] = end;
    return true;
}

static bool check_header(const Header *header, Err *err)
{
    long long axes = (long long)header->value[SIZE_NAXIS];
    if (axes > FITS_AXES_MAX) {
        return err_set(err, CODE_FILES, "one of its parts has %lld axes, and %d is the most", axes, FITS_AXES_MAX);
    }
    if (header->no_tile) {
        return err_set(err, CODE_FILES, "it is damaged: its tiles have no extent");
    }
    if (header->rice && header->bad_block) {
        return err_set(err, CODE_FILES, "it is damaged: blocks of its tiles have 1 to %d pixels", BLOCK_MOST);
    }
    return !header->twice || err_set(err, CODE_FILES, "it is damaged: a header gives two sizes for one thing");
}

bool fits_scan(const FitsBytes *bytes, FitsScan *scan, Err *err)
{
    uint64_t at = 0;
    Header header;
    *scan = (FitsScan){0};
    while (at < bytes->size && read_header(bytes, &at, &header)) {
        if (!check_header(&header, &scan->stopped)) {
            break; /* parts in front of it can be read */
        }
        double size = data_bytes(&header);
        scan->images += header.image && size > 0;
        TRY(add_part(scan, size < 0 ? UINT64_MAX : at + (uint64_t)size, err));
        if (size < 0) {
            break;
        }
        at += ((uint64_t)size + FITS_BLOCK - 1) / FITS_BLOCK * FITS_BLOCK;
    }
    if (scan->parts == 0 && scan->stopped.code != CODE_OK) {
        *err = scan->stopped;
        return false;
    }
    return scan->parts > 0 || err_set(err, CODE_FILES, "it is cut off or damaged: its header has no end");
}

void fits_scan_free(FitsScan *scan)
{
    free(scan->end);
    *scan = (FitsScan){0};
}

bool fits_scan_is_short(const FitsScan *scan, uint64_t size)
{
    uint64_t end = scan->end[scan->parts - 1];
    return end <= size && (end + FITS_BLOCK - 1) / FITS_BLOCK * FITS_BLOCK > size;
}

/* ---- files in memory ------------------------------------------------------------------------- */

bool fits_is_zipped(const unsigned char *head, size_t n)
{
    static const char first[] = "SIMPLE  =";
    unsigned char out[sizeof first - 1];
    z_stream z = {.next_in = (unsigned char *)(uintptr_t)head,
                  .avail_in = (uInt)n,
                  .next_out = out,
                  .avail_out = sizeof out};
    if (n < 3 || memcmp(head, "\x1F\x8B\x08", 3) != 0 || inflateInit2(&z, 15 + 16) != Z_OK) {
        return false;
    }
    while (z.avail_out > 0 && inflate(&z, Z_SYNC_FLUSH) == Z_STREAM_END && inflateReset(&z) == Z_OK) {
        continue; /* a member may have as little as nothing in it */
    }
    inflateEnd(&z);
    return z.avail_out == 0 && memcmp(out, first, sizeof out) == 0;
}

static bool grow(char **at, uint64_t *room, Err *err)
{
    uint64_t more = *room == 0 ? LOAD_MIN : 2 * *room;
    char *moved = realloc(*at, (size_t)more);
    if (moved == NULL) {
        return err_set(err, CODE_FILES, "out of memory");
    }
    *at = moved;
    *room = more;
    return true;
}

/* zlib reads members one after the other, and a file that is not packed as it is. */
static bool read_all(gzFile from, char **at, uint64_t *size, uint64_t *room, Err *err)
{
    int got = 1;
    while (got > 0) {
        if (*room - *size < FITS_BLOCK) {
            TRY(grow(at, room, err));
        }
        uint64_t left = *room - *size - FITS_BLOCK / 2;
        got = gzread(from, *at + *size, (unsigned)(left < LOAD_PIECE ? left : LOAD_PIECE));
        *size += got > 0 ? (uint64_t)got : 0;
    }
    int status = Z_OK;
    const char *why = gzerror(from, &status), *colon = strstr(why, ": "); /* behind the descriptor */
    return (got == 0 && status == Z_OK) || err_set(err, CODE_FILES, "it is cut off or damaged (%s)",
                                                   status == Z_ERRNO ? "reading failed"
                                                   : colon != NULL   ? colon + 2
                                                                     : why);
}

bool fits_load(int fd, char **at, uint64_t *size, uint64_t *room, Err *err)
{
    *at = NULL;
    *size = *room = 0;
    int copy = dup(fd);
    gzFile from = copy >= 0 && lseek(copy, 0, SEEK_SET) == 0 ? gzdopen(copy, "rb") : NULL;
    if (from == NULL) {
        if (copy >= 0) {
            close(copy);
        }
        return err_set(err, CODE_FILES, "out of memory");
    }
    bool ok = read_all(from, at, size, room, err);
    gzclose_r(from);
    uint64_t whole = (*size + FITS_BLOCK - 1) / FITS_BLOCK * FITS_BLOCK;
    while (ok && *room < whole) {
        ok = grow(at, room, err);
    }
    if (!ok) {
        free(*at);
        *at = NULL;
        return false;
    }
    memset(*at + *size, 0, (size_t)(whole - *size));
    *room = whole;
    return true;
}
