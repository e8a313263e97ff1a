/*
 * arena: memory with the lifetime of one compilation.
 *
 * Everything the compiler builds (text, syntax tree, graph, generated code) lives in one arena
 * and is freed with it, never singly.  Allocation never returns NULL: when memory is out, the
 * arena jumps to `out_of_memory`, which its creator sets with setjmp; without one it aborts.
 * Memory is zeroed.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

typedef struct ArenaBlock ArenaBlock;

typedef struct Arena {
    ArenaBlock *blocks;
    size_t used;
    jmp_buf *out_of_memory; /* borrowed; may be NULL */
} Arena;

void arena_init(Arena *arena);
void arena_free(Arena *arena);

/* Zeroed memory, aligned for any type. */
void *arena_alloc(Arena *arena, size_t bytes);
/* `array`, which was allocated with `old` bytes, with room for `bytes`: where it is, if nothing was allocated since, or
 * copied to a new place, while the old one stays valid. */
void *arena_grow(Arena *arena, void *array, size_t old, size_t bytes);
char *arena_strdup(Arena *arena, const char *text);
char *arena_strndup(Arena *arena, const char *text, size_t n);
char *arena_printf(Arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *arena_vprintf(Arena *arena, const char *format, va_list ap);

#define arena_new(arena, Type) ((Type *)arena_alloc((arena), sizeof(Type)))
#define arena_array(arena, Type, n) ((Type *)arena_alloc((arena), sizeof(Type) * (size_t)(n)))

/*
 * A growable array in an arena: struct { T *at; int n, cap; }.
 * vec_push(arena, &v, value) appends and may move v.at.
 */
#define Vec(T)      \
    struct {        \
        T *at;      \
        int n, cap; \
    }
#define vec_push(arena, v, ...)                                                                                     \
    do {                                                                                                            \
        if ((v)->n == (v)->cap) {                                                                                   \
            int vec_cap_ = (v)->cap ? 2 * (v)->cap : 8;                                                             \
            (v)->at =                                                                                               \
                arena_grow((arena), (v)->at, sizeof *(v)->at * (size_t)(v)->n, sizeof *(v)->at * (size_t)vec_cap_); \
            (v)->cap = vec_cap_;                                                                                    \
        }                                                                                                           \
        (v)->at[(v)->n++] = (__VA_ARGS__);                                                                          \
    } while (0)

#endif
