/*
 * zarr_chunks: chunks of an array as pixels, decoded when they are asked for and kept for a while.
 *
 * What is kept are *bands*: all chunks along the axis that is x in the image, which share their places along the other
 * axes.  Several threads decode those of one call.
 */
#ifndef RUNTIME_FILES_ZARR_CHUNKS_H
#define RUNTIME_FILES_ZARR_CHUNKS_H

#include "../host/crew.h"
#include "zarr_array.h"

enum { ZARR_BANDS = 64 }; /* of one call, at most */

typedef struct ZarrChunks ZarrChunks;

/* Of an array in an open folder, which is taken over, also after a failure; `along`: the axis along which a band
 * goes; `keep`: bytes of bands that stay for later calls.  The array is borrowed. */
bool zarr_chunks_new(int folder, const ZarrArray *array, int along, size_t keep, ZarrChunks **out, Err *err);
void zarr_chunks_free(ZarrChunks *chunks); /* NULL is allowed */
/* Chunks are decoded with the crew's help; it is borrowed, NULL: nobody helps. */
void zarr_chunks_use_crew(ZarrChunks *chunks, Crew *crew);

/*
 * The pixels of `n` bands that follow one another along axis `by` from the place `at` on (counted in chunks; that of
 * `along` is not looked at), as type->elem, each in the order of the array's bytes: to[band * across + chunk], NULL for
 * chunks that are not there.  Valid until the next call.
 */
bool zarr_chunks_get(ZarrChunks *chunks, const int64_t at[ZARR_DIMS], int by, int n, void **to, Err *err);
/* Bands of one call: so many are decoded at once.  At least 1. */
int zarr_chunks_most(const ZarrChunks *chunks);

#endif
