/*
 * reader: the input files of one image, and their pixels as volumes, one volume an input a frame.
 */
#ifndef RUNTIME_READER_H
#define RUNTIME_READER_H

#include "batch_list.h"
#include "frames.h"
#include "host_pool.h"
#include "../host/crew.h"

#include <pthread.h>
#include <stdatomic.h>

/* Pixels of one input, dense [c][z][y][x]; shared by counting users. */
typedef struct Volume {
    atomic_int users;
    ExecInput like;
    int64_t channel; /* the only one stored; -1: all */
    size_t bytes;
    void *pixels;
    HostPool *pool; /* where pixels come from */
    int device;     /* the number of the one that they are pinned for; below 0: none */
} Volume;

Volume *volume_keep(Volume *volume);
void volume_release(Volume *volume); /* NULL is allowed */

/* What the readers of a run share: memory for pixels, and the last volume of each input after the
 * first, so that a flat field for all images is read once.  Used by several threads. */
typedef struct VolumeCache {
    HostPool *pool;
    pthread_mutex_t lock;
    Volume **volumes; /* by input */
    char **paths;
    int n;
} VolumeCache;

/* The pool is borrowed. */
bool volume_cache_init(VolumeCache *cache, int n, HostPool *pool, Err *err);
void volume_cache_free(VolumeCache *cache);

typedef struct Reader Reader;

/* Opens the files and finds their frames.  `all_channels`: also those that the pipeline does not
 * look at.  Of the options these count: params, time_as_z, pixel_um.  Everything given is borrowed. */
bool reader_open(const Program *program, const BatchItem *item, const Options *options, bool all_channels,
                 VolumeCache *cache, Reader **out, Err *err);
void reader_close(Reader *reader); /* NULL is allowed */

const Frames *reader_frames(const Reader *reader);
/* What an input's file is like; NULL when the pipeline has no such input. */
const ImageInfo *reader_info(const Reader *reader, int input);
/* By input: what its volumes are like. */
const ExecInput *reader_inputs(const Reader *reader);
/* Bytes of pixels that a frame takes. */
size_t reader_frame_bytes(const Reader *reader);
/* The volumes of frame k, by input; each is released by the caller, also after a failure. */
bool reader_frame(Reader *reader, int64_t k, Volume **volumes, Err *err);

/* The channels of an input that are read: *n of them, from the first one on. */
void reader_channels(const Reader *reader, int input, int64_t *first, int64_t *n);
/* Rows [row, row + rows) of plane z of frame k, of all channels that are read, each into one piece:
 * the first one to `to`, the next `apart` bytes further on. */
bool reader_rows(Reader *reader, int64_t k, int input, int64_t z, int64_t row, int64_t rows, void *to, size_t apart,
                 Err *err);
/* True when several threads may read rows of the input at once. */
bool reader_shares(const Reader *reader, int input);
/* The first input is digested as it is read, from now on. */
void reader_see(Reader *reader);
/* What the content of the first input is, once frames have been read; false: nobody knows. */
bool reader_content(Reader *reader, char content[DIGEST_TEXT]);
/* Files are decoded with the crew's help from now on; it is borrowed. */
void reader_use_crew(Reader *reader, Crew *crew);

#endif
