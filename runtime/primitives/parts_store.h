/*
 * parts_store: pixels on the host between the segments of a run in parts: in memory as long as the
 * budget lasts, then in a temporary file (in $TMPDIR or /tmp, without a name, so that nothing is
 * left behind).
 */
#ifndef RUNTIME_PARTS_STORE_H
#define RUNTIME_PARTS_STORE_H

#include "../../base/err.h"
#include "../host/crew.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct PartsStore PartsStore;

/* What all stores of a run may hold in memory, and who copies (NULL: the caller). */
typedef struct PartsBudget {
    uint64_t left;
    Crew *crew;
} PartsBudget;

/* One user; owned by the caller (parts_store_drop). */
bool parts_store_new(PartsBudget *budget, uint64_t bytes, PartsStore **out, Err *err);
/* The same where only so many bytes will ever be put: what is not touched takes no memory. */
bool parts_store_new_for(PartsBudget *budget, uint64_t bytes, uint64_t put, PartsStore **out, Err *err);
PartsStore *parts_store_keep(PartsStore *store);
void parts_store_drop(PartsStore *store); /* NULL is allowed */
bool parts_store_put(PartsStore *store, uint64_t at, const void *from, uint64_t bytes, Err *err);
bool parts_store_get(const PartsStore *store, uint64_t at, void *to, uint64_t bytes, Err *err);
uint64_t parts_store_bytes(const PartsStore *store);

#endif
