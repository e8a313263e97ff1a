/*
 * zarr_codec: what makes the bytes of a chunk of pixels bytes of a file, and back: gzip, zlib, zstd, blosc, crc32c.
 *
 * libblosc is loaded when the first array is met that needs it: it brings libraries that no other file needs.
 */
#ifndef RUNTIME_FILES_ZARR_CODEC_H
#define RUNTIME_FILES_ZARR_CODEC_H

#include "../../base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ZARR_CODECS = 6 };

typedef struct ZarrCodec ZarrCodec;

/* Codecs in the order in which a writer applies them. */
typedef struct ZarrChain {
    int n;
    const ZarrCodec *codec[ZARR_CODECS];
} ZarrChain;

/* Memory of one thread; zeroed at first, and given back with zarr_scratch_free. */
typedef struct ZarrScratch {
    unsigned char *room[3]; /* the file's bytes, and what stands between codecs */
    size_t size[3];
} ZarrScratch;

/* At least so many bytes; NULL: out of memory. */
unsigned char *zarr_scratch(ZarrScratch *scratch, int which, size_t size);
void zarr_scratch_free(ZarrScratch *scratch);

/* Adds the codec of this name, as zarr or numcodecs call it; false for one that pipec does not know, and where its
 * library is missing. */
bool zarr_chain_add(ZarrChain *chain, const char *name, Err *err);
/* The most bytes that `size` bytes may become. */
size_t zarr_chain_bound(const ZarrChain *chain, size_t size);
/* Undoes the codecs: n bytes at `from`, room 0 of the scratch or memory that stays, become exactly `size` at `to`. */
bool zarr_chain_undo(const ZarrChain *chain, ZarrScratch *scratch, const unsigned char *from, size_t n,
                     unsigned char *to, size_t size, Err *err);

/* CRC-32C (Castagnoli), as zarr puts it behind bytes, low byte first. */
uint32_t zarr_crc32c(const unsigned char *at, size_t n);

typedef enum ZarrEffort { ZARR_FAST, ZARR_SMALL } ZarrEffort;

/* What blosc packs with: its own name of the codec, and its level; how elements are taken apart before, by bytes (1) or
 * bits (2), as zarr 2 has it, and zarr 3's word for that. */
typedef struct ZarrBlosc {
    const char *codec;
    int level, shuffle;
    const char *shuffled;
} ZarrBlosc;
const ZarrBlosc *zarr_blosc(ZarrEffort effort);
bool zarr_blosc_load(Err *err);
size_t zarr_blosc_bound(size_t size);
/* Packs `size` bytes, elements of so many bytes, into at most zarr_blosc_bound; 0: it failed.  By any thread. */
size_t zarr_blosc_pack(ZarrEffort effort, size_t bytes, const void *from, size_t size, void *to);

#endif
