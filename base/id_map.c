/* id_map: a hash table of places, at most half full. */
#include "id_map.h"

static int slot_of(const IdMap *map, uint32_t id)
{
    int at = (int)(id * 2654435769u >> 7) & (map->n_slots - 1);
    while (map->slots[at] != 0 && map->ids.at[map->slots[at] - 1] != id) {
        at = (at + 1) & (map->n_slots - 1);
    }
    return at;
}

static void grow(IdMap *map, Arena *arena)
{
    map->n_slots = map->n_slots > 0 ? 2 * map->n_slots : 16;
    map->slots = arena_array(arena, int, map->n_slots);
    for (int i = 0; i < map->ids.n; i++) {
        map->slots[slot_of(map, map->ids.at[i])] = i + 1;
    }
}

int id_map_find(const IdMap *map, uint32_t id)
{
    return map->n_slots == 0 ? -1 : map->slots[slot_of(map, id)] - 1;
}

int id_map_add(IdMap *map, Arena *arena, uint32_t id)
{
    int place = id_map_find(map, id);
    if (place >= 0) {
        return place;
    }
    if (2 * (map->ids.n + 1) > map->n_slots) {
        grow(map, arena);
    }
    vec_push(arena, &map->ids, id);
    map->slots[slot_of(map, id)] = map->ids.n;
    return map->ids.n - 1;
}
