/* zarr_codec: a table of codecs; each undoes its part of a chain. */
#include "zarr_codec.h"

#include <blosc.h>
#include <dlfcn.h>
#include <libdeflate.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

/* ---- libblosc -------------------------------------------------------------------------- */

#define BLOSC_FUNCTIONS(F)              \
    F(validate, blosc_cbuffer_validate) \
    F(compress_ctx, blosc_compress_ctx) \
    F(decompress_ctx, blosc_decompress_ctx)

static struct {
#define F(NAME, FUNCTION) __typeof__(FUNCTION) *NAME;
    BLOSC_FUNCTIONS(F)
#undef F
    char failure[300];
} blosc;

static void find(void *library, const char *name, void *function)
{
    *(void **)function = library != NULL ? dlsym(library, name) : NULL;
    if (*(void **)function == NULL && blosc.failure[0] == '\0') {
        const char *why = dlerror();
        snprintf(blosc.failure, sizeof blosc.failure, "%s", why != NULL ? why : name);
    }
}

static void load(void)
{
    void *library = dlopen("libblosc.so.1", RTLD_NOW | RTLD_LOCAL);
#define TEXT_OF(FUNCTION) #FUNCTION
#define F(NAME, FUNCTION) find(library, TEXT_OF(FUNCTION), &blosc.NAME);
    BLOSC_FUNCTIONS(F)
#undef F
}

bool zarr_blosc_load(Err *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, load);
    return blosc.failure[0] == '\0' ||
           err_set(err, CODE_FILES, "chunks of this zarr need libblosc1: %s", blosc.failure);
}

/* Images as zarr-python 2 packs them; labels are runs of one value, which are smallest bit by bit. */
static const ZarrBlosc EFFORTS[] =
    {[ZARR_FAST] = {"lz4", 5, BLOSC_SHUFFLE, "shuffle"}, [ZARR_SMALL] = {"zstd", 1, BLOSC_BITSHUFFLE, "bitshuffle"}};

const ZarrBlosc *zarr_blosc(ZarrEffort effort)
{
    return &EFFORTS[effort];
}

size_t zarr_blosc_bound(size_t size)
{
    return size + BLOSC_MAX_OVERHEAD;
}

size_t zarr_blosc_pack(ZarrEffort effort, size_t bytes, const void *from, size_t size, void *to)
{
    const ZarrBlosc *by = &EFFORTS[effort];
    int n = blosc.compress_ctx(by->level, by->shuffle, bytes, size, from, to, zarr_blosc_bound(size), by->codec, 0, 1);
    return n > 0 ? (size_t)n : 0;
}

/* ---- codecs ---------------------------------------------------------------------------- */

/* Undoes a codec: at most `room` bytes at `to`, and how many they are.  False: the bytes are none of this codec. */
typedef bool Undo(const unsigned char *from, size_t n, unsigned char *to, size_t room, size_t *size);

typedef enum libdeflate_result Inflate(struct libdeflate_decompressor *, const void *, size_t, void *, size_t, size_t *,
                                       size_t *);

/* Members of a gzip file stand one behind the other. */
static bool inflate(Inflate *inflate_one, const unsigned char *from, size_t n, unsigned char *to, size_t room,
                    size_t *size)
{
    struct libdeflate_decompressor *hand = libdeflate_alloc_decompressor();
    bool ok = hand != NULL && n > 0;
    *size = 0;
    for (size_t taken = 0, given = 0; ok && n > 0; from += taken, n -= taken, *size += given) {
        ok = inflate_one(hand, from, n, to + *size, room - *size, &taken, &given) == LIBDEFLATE_SUCCESS && taken > 0;
        taken = ok ? taken : n;
        given = ok ? given : 0;
    }
    libdeflate_free_decompressor(hand);
    return ok;
}

static bool undo_gzip(const unsigned char *from, size_t n, unsigned char *to, size_t room, size_t *size)
{
    return inflate(libdeflate_gzip_decompress_ex, from, n, to, room, size);
}

static bool undo_zlib(const unsigned char *from, size_t n, unsigned char *to, size_t room, size_t *size)
{
    return inflate(libdeflate_zlib_decompress_ex, from, n, to, room, size);
}

static bool undo_zstd(const unsigned char *from, size_t n, unsigned char *to, size_t room, size_t *size)
{
    *size = ZSTD_decompress(to, room, from, n);
    return !ZSTD_isError(*size);
}

static bool undo_blosc(const unsigned char *from, size_t n, unsigned char *to, size_t room, size_t *size)
{
    return blosc.validate(from, n, size) == 0 && *size <= room && blosc.decompress_ctx(from, to, room, 1) == (int)*size;
}

static uint32_t crc_table[256];

static void make_crc_table(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t crc = i;
        for (int k = 0; k < 8; k++) {
            crc = crc >> 1 ^ (crc & 1 ? 0x82F63B78u : 0);
        }
        crc_table[i] = crc;
    }
}

uint32_t zarr_crc32c(const unsigned char *at, size_t n)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, make_crc_table);
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < n; i++) {
        crc = crc >> 8 ^ crc_table[(crc ^ at[i]) & 255];
    }
    return ~crc;
}

static bool undo_crc32c(const unsigned char *from, size_t n, unsigned char *to, size_t room, size_t *size)
{
    *size = n - 4;
    if (n < 4 || *size > room) {
        return false;
    }
    const unsigned char *end = from + *size;
    uint32_t want = end[0] | (uint32_t)end[1] << 8 | (uint32_t)end[2] << 16 | (uint32_t)end[3] << 24;
    memcpy(to, from, *size);
    return zarr_crc32c(from, *size) == want;
}

struct ZarrCodec {
    const char *name;
    Undo *undo;
    bool (*load)(Err *err); /* NULL: the library is there */
};

static const ZarrCodec CODECS[] = {
    {"gzip", undo_gzip, NULL},     {"zlib", undo_zlib, NULL},
    {"zstd", undo_zstd, NULL},     {"blosc", undo_blosc, zarr_blosc_load},
    {"crc32c", undo_crc32c, NULL},
};

bool zarr_chain_add(ZarrChain *chain, const char *name, Err *err)
{
    static const char PREFIX[] = "numcodecs."; /* of what zarr-python takes from there */
    const char *plain = strncmp(name, PREFIX, sizeof PREFIX - 1) == 0 ? name + sizeof PREFIX - 1 : name;
    const ZarrCodec *found = NULL;
    for (size_t i = 0; i < sizeof CODECS / sizeof *CODECS; i++) {
        found = strcmp(CODECS[i].name, plain) == 0 ? &CODECS[i] : found;
    }
    if (found == NULL) {
        return err_set(err, CODE_FILES,
                       "its chunks are packed with '%.60s'; gzip, zlib, zstd, blosc and crc32c are read", name);
    }
    if (chain->n == ZARR_CODECS) {
        return err_set(err, CODE_FILES, "its chunks are packed with more than %d codecs", ZARR_CODECS);
    }
    chain->codec[chain->n++] = found;
    return found->load == NULL || found->load(err);
}

size_t zarr_chain_bound(const ZarrChain *chain, size_t size)
{
    return chain->n == 0 ? size : 2 * size + (64 << 10);
}

bool zarr_chain_undo(const ZarrChain *chain, ZarrScratch *scratch, const unsigned char *from, size_t n,
                     unsigned char *to, size_t size, Err *err)
{
    size_t between = zarr_chain_bound(chain, size);
    for (int i = chain->n - 1; i >= 0; i--) {
        unsigned char *room = i == 0 ? to : zarr_scratch(scratch, 1 + i % 2, between);
        if (room == NULL) {
            return err_set(err, CODE_FILES, "out of memory");
        }
        if (!chain->codec[i]->undo(from, n, room, i == 0 ? size : between, &n)) {
            return err_set(err, CODE_FILES, "it is damaged (%s)", chain->codec[i]->name);
        }
        from = room;
    }
    if (n != size) {
        return err_set(err, CODE_FILES, "it has %zu bytes, and should have %zu", n, size);
    }
    if (from != to) {
        memcpy(to, from, size);
    }
    return true;
}

/* ---- memory ---------------------------------------------------------------------------- */

unsigned char *zarr_scratch(ZarrScratch *scratch, int which, size_t size)
{
    if (size > scratch->size[which] || scratch->room[which] == NULL) {
        free(scratch->room[which]);
        scratch->room[which] = malloc(size > 0 ? size : 1);
        scratch->size[which] = scratch->room[which] != NULL ? size : 0;
    }
    return scratch->room[which];
}

void zarr_scratch_free(ZarrScratch *scratch)
{
    for (int i = 0; i < 3; i++) {
        free(scratch->room[i]);
    }
    *scratch = (ZarrScratch){{NULL}, {0}};
}
