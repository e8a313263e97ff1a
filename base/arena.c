/* arena: bump allocation in blocks that double in size. */
#include "arena.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ArenaBlock {
    ArenaBlock *next;
    size_t size;
    max_align_t data[];
};

void arena_init(Arena *arena)
{
    memset(arena, 0, sizeof *arena);
}

void arena_free(Arena *arena)
{
    while (arena->blocks != NULL) {
        ArenaBlock *next = arena->blocks->next;
        free(arena->blocks);
        arena->blocks = next;
    }
    arena->used = 0;
}

static void out_of_memory(Arena *arena)
{
    if (arena->out_of_memory != NULL) {
        longjmp(*arena->out_of_memory, 1);
    }
    fputs("pipec: out of memory\n", stderr);
    abort();
}

static void add_block(Arena *arena, size_t bytes)
{
    size_t size = arena->blocks ? 2 * arena->blocks->size : 16384;
    if (size > ((size_t)1 << 22)) {
        size = (size_t)1 << 22;
    }
    if (size < bytes) {
        size = bytes;
    }
    ArenaBlock *block = malloc(sizeof *block + size);
    if (block == NULL) {
        out_of_memory(arena);
        return;
    }
    block->next = arena->blocks;
    block->size = size;
    arena->blocks = block;
    arena->used = 0;
}

static size_t aligned(size_t bytes)
{
    const size_t align = sizeof(max_align_t);
    return (bytes + align - 1) / align * align;
}

void *arena_alloc(Arena *arena, size_t bytes)
{
    if (bytes > SIZE_MAX / 4) {
        out_of_memory(arena);
    }
    bytes = aligned(bytes);
    if (arena->blocks == NULL || arena->blocks->size - arena->used < bytes) {
        add_block(arena, bytes);
    }
    void *at = (char *)arena->blocks->data + arena->used;
    arena->used += bytes;
    memset(at, 0, bytes);
    return at;
}

/* The last thing in the arena, with room behind it. */
static bool can_stretch(const Arena *arena, const void *array, size_t old, size_t bytes)
{
    const ArenaBlock *block = arena->blocks;
    return old > 0 && bytes <= SIZE_MAX / 4 &&
           (const char *)array + aligned(old) == (const char *)block->data + arena->used &&
           block->size - arena->used >= aligned(bytes) - aligned(old);
}

void *arena_grow(Arena *arena, void *array, size_t old, size_t bytes)
{
    if (can_stretch(arena, array, old, bytes)) {
        (void)arena_alloc(arena, aligned(bytes) - aligned(old));
        return array;
    }
    void *at = arena_alloc(arena, bytes);
    if (old > 0) {
        memcpy(at, array, old);
    }
    return at;
}

char *arena_strndup(Arena *arena, const char *text, size_t n)
{
    char *copy = arena_alloc(arena, n + 1);
    memcpy(copy, text, n);
    return copy;
}

char *arena_strdup(Arena *arena, const char *text)
{
    return arena_strndup(arena, text, strlen(text));
}

char *arena_vprintf(Arena *arena, const char *format, va_list ap)
{
    va_list again;
    assert(format != NULL);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = arena_alloc(arena, (size_t)n + 1);
    vsnprintf(text, (size_t)n + 1, format, ap);
    return text;
}

char *arena_printf(Arena *arena, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    char *text = arena_vprintf(arena, format, ap);
    va_end(ap);
    return text;
}
