/* staging: two rings of blocks; a block is busy until its mark is reached. */
#include "staging.h"

#include <stdlib.h>

typedef struct Block {
    char *at;
    size_t bytes;
    DevMark *busy; /* NULL: nothing is under way */
} Block;

struct Staging {
    Device *dev;
    Block up[STAGING_BLOCKS], down[STAGING_BLOCKS];
    int next;     /* of up */
    int first, n; /* of down: those under way */
};

Staging *staging_new(Device *dev)
{
    Staging *staging = calloc(1, sizeof *staging);
    if (staging != NULL) {
        staging->dev = dev;
    }
    return staging;
}

static void forget(Staging *s, Block *block)
{
    Err ignored = {0};
    if (block->busy != NULL) {
        (void)(dev_lost(s->dev) || dev_reach(s->dev, block->busy, &ignored));
        dev_mark_free(s->dev, block->busy);
        block->busy = NULL;
    }
}

void staging_forget(Staging *s)
{
    for (int i = 0; i < STAGING_BLOCKS; i++) {
        forget(s, &s->up[i]);
        forget(s, &s->down[i]);
    }
    s->n = 0;
}

void staging_free(Staging *s)
{
    if (s == NULL) {
        return;
    }
    staging_forget(s);
    for (int i = 0; i < STAGING_BLOCKS; i++) {
        dev_host_free(s->dev, s->up[i].at);
        dev_host_free(s->dev, s->down[i].at);
    }
    free(s);
}

size_t staging_rows(size_t line)
{
    return line > 0 && line < STAGING_BYTES ? STAGING_BYTES / line : 1;
}

/* The block with nothing under way, and large enough. */
static bool make_ready(Staging *s, Block *block, size_t bytes, Err *err)
{
    TRY(dev_reach(s->dev, block->busy, err));
    dev_mark_free(s->dev, block->busy);
    block->busy = NULL;
    if (block->bytes < bytes) {
        dev_host_free(s->dev, block->at);
        *block = (Block){0};
        void *at;
        TRY(dev_host_alloc(s->dev, bytes, &at, err));
        *block = (Block){.at = at, .bytes = bytes};
    }
    return true;
}

bool staging_room(Staging *s, size_t bytes, char **at, Err *err)
{
    Block *block = &s->up[s->next];
    TRY(make_ready(s, block, bytes, err));
    *at = block->at;
    return true;
}

bool staging_send(Staging *s, const StagingRows *to, Err *err)
{
    Block *block = &s->up[s->next];
    s->next = (s->next + 1) % STAGING_BLOCKS;
    return dev_send_rows(s->dev, to->mem, to->offset, to->pitch, block->at, to->line, to->line, to->rows, &block->busy,
                         err);
}

bool staging_is_full(const Staging *s)
{
    return s->n == STAGING_BLOCKS;
}

bool staging_fetch(Staging *s, const StagingRows *from, Err *err)
{
    Block *block = &s->down[(s->first + s->n) % STAGING_BLOCKS];
    TRY(make_ready(s, block, from->line * from->rows, err));
    s->n++;
    return dev_fetch_rows(s->dev, from->mem, from->offset, from->pitch, block->at, from->line, from->line, from->rows,
                          &block->busy, err);
}

bool staging_take(Staging *s, char **at, Err *err)
{
    Block *block = &s->down[s->first];
    TRY(make_ready(s, block, 0, err));
    *at = block->at;
    s->first = (s->first + 1) % STAGING_BLOCKS;
    s->n--;
    return true;
}
