/*
 * label_ids: labels of a file whose numbers are larger than there are pixels.
 *
 * What is computed by label is laid out by their places (ir/ids.h), which take the place of the numbers when rows
 * come in; rows of labels and tables that go out have numbers again.  Memory and time follow the pixels, not
 * the numbers.
 */
#ifndef RUNTIME_LABEL_IDS_H
#define RUNTIME_LABEL_IDS_H

#include "../../base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The numbers that there are, from at[1] on in ascending order once label_ids_sort has been called; n is 0 where numbers
 * are places.  Zeroed: none; freed with label_ids_drop. */
typedef struct LabelIds {
    uint32_t *at; /* at[0] is 1 */
    size_t n, room;
} LabelIds;

/* Adds the numbers of n pixels. */
bool label_ids_add(LabelIds *ids, const uint32_t *pixels, size_t n, Err *err);
void label_ids_sort(LabelIds *ids);
void label_ids_drop(LabelIds *ids);

/* Numbers that have been added become places, and places numbers. */
void label_ids_to_places(const LabelIds *ids, uint32_t *pixels, size_t n);
void label_ids_to_numbers(const LabelIds *ids, uint32_t *pixels, size_t n);
/* The number of a place. */
double label_ids_number(const LabelIds *ids, double place);

#endif
