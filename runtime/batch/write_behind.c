/*
 * write_behind: a queue of blocks of rows, written in the order in which they came.  Written blocks are
 * filled again: fresh memory takes longer than the copy into it.
 */
#include "write_behind.h"

#include "../../base/pages.h"
#include "../host/stopwatch.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 4 << 20 };

typedef struct Block {
    struct Block *next;
    SinkRows rows;
    size_t bytes, room;
    char *pixels;
} Block;

struct WriteBehind {
    Sink *sink;
    Crew *crew;
    int64_t frame;
    size_t bytes, most; /* of all blocks that wait or are written */
    Block *first, *last, *written;
    Stopwatch *watch;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool end;
    Err err; /* of the thread */
};

static void block_free(Block *block)
{
    if (block != NULL) {
        free(block->pixels);
    }
    free(block);
}

static Block *take_block(WriteBehind *behind)
{
    pthread_mutex_lock(&behind->lock);
    while (behind->first == NULL && !behind->end) {
        pthread_cond_wait(&behind->changed, &behind->lock);
    }
    Block *block = behind->first;
    if (block != NULL) {
        behind->first = block->next;
    }
    pthread_mutex_unlock(&behind->lock);
    return block;
}

/* After a failure blocks are dropped. */
static void *write_thread(void *context)
{
    WriteBehind *behind = context;
    bool ok = true;
    stopwatch_use(behind->watch, "writing behind");
    for (Block *block; (block = take_block(behind)) != NULL;) {
        Err err = {0};
        Phase before = stopwatch_begin(PHASE_ENCODE);
        bool failed = ok && !sink_rows(behind->sink, behind->frame, &block->rows, &err);
        stopwatch_end(before);
        pthread_mutex_lock(&behind->lock);
        if (failed) {
            behind->err = err;
            ok = false;
        }
        behind->bytes -= block->bytes;
        block->next = behind->written;
        behind->written = block;
        pthread_cond_broadcast(&behind->changed);
        pthread_mutex_unlock(&behind->lock);
    }
    return NULL;
}

/* A block with room for so many bytes: a written one, else a new one; NULL: out of memory. */
static Block *block_for(WriteBehind *behind, size_t bytes)
{
    pthread_mutex_lock(&behind->lock);
    Block *block = behind->written;
    behind->written = block != NULL ? block->next : NULL;
    pthread_mutex_unlock(&behind->lock);
    if (block != NULL && block->room >= bytes) {
        return block;
    }
    block_free(block);
    block = calloc(1, sizeof *block);
    if (block == NULL || (block->pixels = pages_alloc(bytes)) == NULL) {
        free(block);
        return NULL;
    }
    block->room = bytes;
    return block;
}

static Block *block_new(WriteBehind *behind, const SinkRows *rows, int64_t from, int64_t n)
{
    size_t line = (size_t)rows->grid.w * elem_size(rows->elem);
    Block *block = block_for(behind, (size_t)n * line);
    if (block == NULL) {
        return NULL;
    }
    block->next = NULL;
    block->bytes = (size_t)n * line;
    block->rows = *rows;
    block->rows.row += from;
    block->rows.rows = n;
    block->rows.pixels = block->pixels;
    block->rows.pitch = line;
    crew_copy(behind->crew, block->pixels, line, (const char *)rows->pixels + (size_t)from * rows->pitch, rows->pitch,
              line, (size_t)n);
    return block;
}

static bool wait_for_room(WriteBehind *behind, size_t bytes, Err *err)
{
    pthread_mutex_lock(&behind->lock);
    while (behind->err.code == CODE_OK && behind->bytes > 0 && behind->bytes + bytes > behind->most) {
        pthread_cond_wait(&behind->changed, &behind->lock);
    }
    bool ok = behind->err.code == CODE_OK;
    if (ok) {
        behind->bytes += bytes;
    } else {
        *err = behind->err;
    }
    pthread_mutex_unlock(&behind->lock);
    return ok;
}

static void push(WriteBehind *behind, Block *block)
{
    pthread_mutex_lock(&behind->lock);
    if (behind->first == NULL) {
        behind->first = block;
    } else {
        behind->last->next = block;
    }
    behind->last = block;
    pthread_cond_broadcast(&behind->changed);
    pthread_mutex_unlock(&behind->lock);
}

bool write_behind_rows(WriteBehind *behind, const SinkRows *rows, Err *err)
{
    size_t line = (size_t)rows->grid.w * elem_size(rows->elem);
    int64_t most = line < BLOCK_BYTES ? (int64_t)(BLOCK_BYTES / line) : 1;
    for (int64_t from = 0; from < rows->rows; from += most) {
        int64_t n = rows->rows - from < most ? rows->rows - from : most;
        TRY(wait_for_room(behind, (size_t)n * line, err));
        Block *block = block_new(behind, rows, from, n);
        if (block == NULL) {
            return err_set(err, CODE_MEMORY, "out of host memory for rows of the outputs");
        }
        push(behind, block);
    }
    return true;
}

bool write_behind_start(Sink *sink, int64_t frame, size_t bytes, Crew *crew, WriteBehind **out, Err *err)
{
    WriteBehind *behind = calloc(1, sizeof *behind);
    *out = NULL;
    if (behind == NULL) {
        return err_set(err, CODE_MEMORY, "out of host memory for the outputs");
    }
    *behind = (WriteBehind){.sink = sink, .crew = crew, .frame = frame, .most = bytes, .watch = stopwatch_used()};
    pthread_mutex_init(&behind->lock, NULL);
    pthread_cond_init(&behind->changed, NULL);
    if (pthread_create(&behind->thread, NULL, write_thread, behind) != 0) {
        pthread_cond_destroy(&behind->changed);
        pthread_mutex_destroy(&behind->lock);
        free(behind);
        return err_set(err, CODE_MEMORY, "cannot start a thread");
    }
    *out = behind;
    return true;
}

bool write_behind_finish(WriteBehind *behind, Err *err)
{
    pthread_mutex_lock(&behind->lock);
    behind->end = true;
    pthread_cond_broadcast(&behind->changed);
    pthread_mutex_unlock(&behind->lock);
    pthread_join(behind->thread, NULL);
    for (Block *block = behind->written, *next; block != NULL; block = next) {
        next = block->next;
        block_free(block);
    }
    bool ok = behind->err.code == CODE_OK;
    if (!ok) {
        *err = behind->err;
    }
    pthread_cond_destroy(&behind->changed);
    pthread_mutex_destroy(&behind->lock);
    free(behind);
    return ok;
}
