/*
 * id_map: places for few of many ids.
 *
 * Gives each id that it is asked about a place 0, 1, 2 ..., in the order in which they come, so that what is known about
 * the ids that a kernel meets is an array as long as these are, not as the graph is.
 */
#ifndef BASE_ID_MAP_H
#define BASE_ID_MAP_H

#include "arena.h"

#include <stdint.h>

typedef struct IdMap {
    Vec(uint32_t) ids; /* by place */
    int *slots;        /* open addressing: place + 1; 0 free */
    int n_slots;       /* a power of two, or 0 */
} IdMap;

/* The place of an id, a new one if it has none; memory comes from the arena. */
int id_map_add(IdMap *map, Arena *arena, uint32_t id);
/* The place of an id; -1: it has none. */
int id_map_find(const IdMap *map, uint32_t id);

#endif
