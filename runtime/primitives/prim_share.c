/* prim_share: see prim_share.h. */
#include "prim_share.h"

#include "prim_host.h"

#include <stdlib.h>
#include <string.h>

bool share_all_passes(const PrimCall *call)
{
    (void)call;
    return true;
}

OwnersPiece *share_tell(const PrimCall *call, void *bytes, uint64_t n)
{
    OwnersPiece *pieces = calloc((size_t)call->owners->n, sizeof *pieces);
    if (pieces == NULL) {
        (void)host_no_memory(call);
    } else if (!owners_tell(call->owners, bytes, n, pieces, call->err)) {
        share_drop(call, pieces);
        pieces = NULL;
    }
    return pieces;
}

void share_drop(const PrimCall *call, OwnersPiece *pieces)
{
    if (pieces != NULL) {
        owners_drop(call->owners, pieces);
    }
    free(pieces);
}

/* What all have of some bytes of memory, whose place on the host is `own`. */
static OwnersPiece *tell_memory(const PrimCall *call, DevMem *memory, void *own, size_t bytes)
{
    bool ok = (own != NULL || host_no_memory(call)) && dev_read(call->dev, memory, 0, own, bytes, call->err);
    return ok ? share_tell(call, own, bytes) : NULL;
}

/* Unites what another owner found with what is in `own` so far; false: it does not fit. */
typedef bool Unite(void *own, const void *found, size_t n);

/* What all owners found, united in `memory`: n whole numbers, whose order does not matter. */
static bool unite(const PrimCall *call, DevMem *memory, size_t n, size_t size, Unite *with)
{
    size_t bytes = n * size;
    void *own = malloc(bytes + 1);
    OwnersPiece *pieces = tell_memory(call, memory, own, bytes);
    bool ok = pieces != NULL;
    for (int k = 0; ok && k < call->owners->n; k++) {
        ok = k == call->owners->number || with(own, pieces[k].bytes, n) ||
             err_set(call->err, CODE_MEMORY, "%s: more than %u pixels count as one", call->name, UINT32_MAX);
    }
    ok = ok && dev_write(call->dev, memory, 0, own, bytes, call->err);
    share_drop(call, pieces);
    free(own);
    return ok;
}

static bool add_words(void *own, const void *found, size_t n)
{
    uint64_t *sums = own;
    const uint64_t *more = found;
    for (size_t i = 0; i < n; i++) {
        sums[i] += more[i];
    }
    return true;
}

/* The first one is that of the background, whose number nobody asks for. */
static bool add_counts(void *own, const void *found, size_t n)
{
    uint32_t *counts = own;
    const uint32_t *more = found;
    bool fits = true;
    for (size_t i = 0; i < n; i++) {
        bool full = more[i] > UINT32_MAX - counts[i];
        fits = fits && (!full || i == 0);
        counts[i] = full ? UINT32_MAX : counts[i] + more[i];
    }
    return fits;
}

/* So many words of wide counts. */
static bool add_wide_counts(void *own, const void *found, size_t words)
{
    uint32_t *counts = own;
    const uint32_t *more = found;
    size_t n = words / 2;
    for (size_t i = 0; i < n; i++) {
        uint64_t low = (uint64_t)counts[i] + more[i];
        counts[i] = (uint32_t)low;
        counts[n + i] += more[n + i] + (uint32_t)(low >> 32);
        counts[2 * n] |= counts[n + i];
    }
    return true;
}

static bool take_least(void *own, const void *found, size_t n)
{
    uint32_t *least = own;
    const uint32_t *other = found;
    for (size_t i = 0; i < n; i++) {
        least[i] = other[i] < least[i] ? other[i] : least[i];
    }
    return true;
}

static bool take_least_with_sign(void *own, const void *found, size_t n)
{
    int32_t *least = own;
    const int32_t *other = found;
    for (size_t i = 0; i < n; i++) {
        least[i] = other[i] < least[i] ? other[i] : least[i];
    }
    return true;
}

bool share_add_words(const PrimCall *call, DevMem *memory, size_t n)
{
    return unite(call, memory, n, sizeof(uint64_t), add_words);
}

bool share_add_counts(const PrimCall *call, DevMem *memory, size_t n, bool wide)
{
    return wide ? unite(call, memory, 2 * n + 1, sizeof(uint32_t), add_wide_counts)
                : unite(call, memory, n, sizeof(uint32_t), add_counts);
}

bool share_least(const PrimCall *call, DevMem *memory, size_t n, bool with_sign)
{
    return unite(call, memory, n, sizeof(uint32_t), with_sign ? take_least_with_sign : take_least);
}
