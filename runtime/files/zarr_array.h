/*
 * zarr_array: what the metadata of an array of zarr 2 (.zarray) or zarr 3 (zarr.json) says: extents, chunks, the type of
 * its numbers, and how chunks become bytes.
 */
#ifndef RUNTIME_FILES_ZARR_ARRAY_H
#define RUNTIME_FILES_ZARR_ARRAY_H

#include "../../base/elem.h"
#include "zarr_codec.h"
#include "zarr_json.h"

enum { ZARR_DIMS = 5, ZARR_KEY_BYTES = 128 };

/* Numbers as they are stored, and what makes pixels of them. */
typedef struct ZarrType {
    const char *name; /* zarr 3 calls it */
    char kind;        /* zarr 2: 'u' and `bytes` in "<u2" */
    int bytes;
    Elem elem;
    /* Makes n pixels in place, where they have room; false when one is beyond `elem`.  NULL: they are pixels. */
    bool (*become)(void *at, size_t n);
} ZarrType;

typedef struct ZarrArray {
    int dims;
    int64_t shape[ZARR_DIMS];
    int64_t chunk[ZARR_DIMS]; /* what is decoded at once */
    int64_t file[ZARR_DIMS];  /* what a file holds: a chunk, or in a shard several of them */
    bool sharded;
    ZarrChain index; /* of a shard: how its table of places is packed: at most a sum behind it */
    bool index_first, index_big;
    int order[ZARR_DIMS]; /* of the axes in the bytes of a chunk, slowest first */
    bool big;             /* high bytes first */
    ZarrChain chain;
    const ZarrType *type;
    unsigned char fill[8]; /* a pixel of `type->elem`, where no chunk is */
    bool in_c;             /* keys begin with "c" */
    char separator;
    char names[ZARR_DIMS][16]; /* of axes, where the array has them itself; else "" */
    int version;               /* of zarr: 2 or 3 */
} ZarrArray;

/* True where the machine stores low bytes first. */
bool zarr_host_is_little(void);
/* The array in an open folder; *found is false where there is none. */
bool zarr_array_read(int folder, ZarrArray *out, bool *found, Err *err);
/* The name of the file that has the chunks from this place on, counted in files along each axis. */
void zarr_array_key(const ZarrArray *array, const int64_t at[ZARR_DIMS], char to[ZARR_KEY_BYTES]);
/* Numbers of a chunk. */
size_t zarr_array_numbers(const ZarrArray *array);

#endif
