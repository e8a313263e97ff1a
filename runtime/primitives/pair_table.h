/*
 * pair_table: for each pair of labels the first place where they have been met, over the parts of an image.
 */
#ifndef RUNTIME_PAIR_TABLE_H
#define RUNTIME_PAIR_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct PairTable PairTable;

/* NULL: no memory.  Owned by the caller (pair_table_free). */
PairTable *pair_table_new(void);
void pair_table_free(PairTable *table); /* NULL is allowed */
/* The first place of the pair (neither label is 0), `at` included, goes to *first; false: no memory. */
bool pair_table_lower(PairTable *table, uint32_t own, uint32_t other, uint64_t at, uint64_t *first);

#endif
