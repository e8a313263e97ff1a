/* prim_call: what every primitive asks of its call, and the room of its table. */
#include "prim.h"

#include <stdlib.h>

enum { WORTH_PINNING = 1 << 20 /* bytes */ };

PrimPart prim_part(const PrimCall *call)
{
    if (call->part.cut) {
        return call->part;
    }
    return (PrimPart){.h = call->h,
                      .d = call->d,
                      .channels = call->planes / call->d,
                      .rows = call->h,
                      .planes = call->planes,
                      .parts = 1,
                      .first = true,
                      .last = true};
}

PrimCall prim_longest(const PrimCall *call)
{
    PrimCall longest = *call;
    if (call->part.cut) {
        longest.h = call->part.rows;
        longest.d = longest.planes = call->part.planes;
    }
    return longest;
}

static void free_room(PrimTable *table)
{
    if (table->pinned) {
        dev_host_free(table->pinned, table->at);
    } else {
        free(table->at);
    }
    table->at = NULL;
    table->pinned = NULL;
    table->room = 0;
}

bool prim_table_room(Device *dev, PrimTable *table, size_t room)
{
    if (table->at && table->room >= room) {
        return true;
    }
    size_t bytes = room * sizeof *table->at;
    Err ignored = {0};
    void *at = NULL;
    free_room(table);
    if (bytes >= WORTH_PINNING && !dev_info(dev)->cpu && dev_host_alloc(dev, bytes, &at, &ignored)) {
        table->pinned = dev;
    }
    table->at = at ? at : malloc(bytes);
    table->room = table->at ? room : 0;
    return table->at != NULL;
}

void prim_table_free(PrimTable *table)
{
    if (table) {
        free(table->names);
        free(table->integer);
        free_room(table);
        *table = (PrimTable){0};
    }
}
