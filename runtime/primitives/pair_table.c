/* pair_table: open addressing with linear probing; at most half of the slots are taken. */
#include "pair_table.h"

#include <stdlib.h>

enum { FIRST_SLOTS = 1 << 10 };

typedef struct Pair {
    uint64_t labels, at; /* labels 0: free */
} Pair;

struct PairTable {
    Pair *slots;
    size_t n_slots, n; /* n_slots: a power of two */
};

PairTable *pair_table_new(void)
{
    PairTable *table = calloc(1, sizeof *table);
    if (table != NULL) {
        table->n_slots = FIRST_SLOTS;
        table->slots = calloc(FIRST_SLOTS, sizeof *table->slots);
    }
    if (table != NULL && table->slots == NULL) {
        pair_table_free(table);
        table = NULL;
    }
    return table;
}

void pair_table_free(PairTable *table)
{
    if (table != NULL) {
        free(table->slots);
        free(table);
    }
}

/* The slot of the pair, or the free one where it would be. */
static Pair *slot_of(const PairTable *table, uint64_t labels)
{
    uint64_t hash = labels * 0x9E3779B97F4A7C15u;
    size_t at = (size_t)(hash ^ hash >> 32) & (table->n_slots - 1);
    while (table->slots[at].labels != 0 && table->slots[at].labels != labels) {
        at = (at + 1) & (table->n_slots - 1);
    }
    return &table->slots[at];
}

static bool grow(PairTable *table)
{
    PairTable larger = {calloc(2 * table->n_slots, sizeof(Pair)), 2 * table->n_slots, table->n};
    if (larger.slots == NULL) {
        return false;
    }
    for (size_t i = 0; i < table->n_slots; i++) {
        if (table->slots[i].labels != 0) {
            *slot_of(&larger, table->slots[i].labels) = table->slots[i];
        }
    }
    free(table->slots);
    *table = larger;
    return true;
}

bool pair_table_lower(PairTable *table, uint32_t own, uint32_t other, uint64_t at, uint64_t *first)
{
    uint64_t labels = (uint64_t)own << 32 | other;
    Pair *slot = slot_of(table, labels);
    if (slot->labels == 0) {
        if (2 * (table->n + 1) > table->n_slots) {
            if (!grow(table)) {
                return false;
            }
            slot = slot_of(table, labels);
        }
        *slot = (Pair){labels, at};
        table->n++;
    }
    slot->at = at < slot->at ? at : slot->at;
    *first = slot->at;
    return true;
}
