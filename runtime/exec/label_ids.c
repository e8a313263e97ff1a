/* label_ids: see label_ids.h. */
#include "label_ids.h"

#include <stdlib.h>

enum { LEAST_ROOM = 1 << 12 };

static int compare_ids(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

void label_ids_sort(LabelIds *ids)
{
    size_t n = 0;
    if (ids->n > 0) {
        qsort(ids->at + 1, ids->n, sizeof *ids->at, compare_ids);
    }
    for (size_t i = 1; i <= ids->n; i++) {
        if (n == 0 || ids->at[n] != ids->at[i]) {
            ids->at[++n] = ids->at[i];
        }
    }
    ids->n = n;
}

/* Room for one more: numbers that came more than once leave it, or else there is twice as much. */
static bool make_room(LabelIds *ids, Err *err)
{
    label_ids_sort(ids);
    if (2 * ids->n < ids->room) {
        return true;
    }
    size_t room = ids->room > 0 ? 2 * ids->room : LEAST_ROOM;
    uint32_t *at = realloc(ids->at, (room + 1) * sizeof *at);
    if (at == NULL) {
        return err_set(err, CODE_MEMORY, "out of host memory for the numbers of labels");
    }
    at[0] = 1;
    ids->at = at;
    ids->room = room;
    return true;
}

bool label_ids_add(LabelIds *ids, const uint32_t *pixels, size_t n, Err *err)
{
    uint32_t last = 0;
    for (size_t i = 0; i < n; i++) {
        if (pixels[i] == 0 || pixels[i] == last) {
            continue;
        }
        TRY(ids->n < ids->room || make_room(ids, err));
        ids->at[++ids->n] = last = pixels[i];
    }
    return true;
}

void label_ids_drop(LabelIds *ids)
{
    free(ids->at);
    *ids = (LabelIds){.n = 0};
}

void label_ids_to_places(const LabelIds *ids, uint32_t *pixels, size_t n)
{
    uint32_t last = 0, place = 0;
    for (size_t i = 0; i < n; i++) {
        if (pixels[i] != last) {
            last = pixels[i];
            const uint32_t *at = bsearch(&last, ids->at + 1, ids->n, sizeof last, compare_ids);
            place = at != NULL ? (uint32_t)(at - ids->at) : 0;
        }
        pixels[i] = place;
    }
}

void label_ids_to_numbers(const LabelIds *ids, uint32_t *pixels, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        pixels[i] = pixels[i] > 0 && pixels[i] <= ids->n ? ids->at[pixels[i]] : 0;
    }
}

double label_ids_number(const LabelIds *ids, double place)
{
    return place >= 1 && place <= (double)ids->n ? ids->at[(size_t)place] : 0;
}
