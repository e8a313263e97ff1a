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

bool share_add_words(const PrimCall *call, DevMem *memory, size_t n)
{
    size_t bytes = n * sizeof(uint64_t);
    uint64_t *sums = malloc(bytes + 1);
    OwnersPiece *pieces = tell_memory(call, memory, sums, bytes);
    bool ok = pieces != NULL;
    for (int k = 0; ok && k < call->owners->n; k++) {
        const uint64_t *of = pieces[k].bytes;
        for (size_t i = 0; k != call->owners->number && i < n; i++) {
            sums[i] += of[i];
        }
    }
    ok = ok && dev_write(call->dev, memory, 0, sums, bytes, call->err);
    share_drop(call, pieces);
    free(sums);
    return ok;
}

bool share_add_counts(const PrimCall *call, DevMem *memory, size_t n)
{
    size_t bytes = n * sizeof(uint32_t);
    uint32_t *counts = malloc(bytes + 1);
    OwnersPiece *pieces = tell_memory(call, memory, counts, bytes);
    bool ok = pieces != NULL;
    for (size_t i = 0; ok && i < n; i++) {
        uint64_t sum = 0;
        for (int k = 0; k < call->owners->n; k++) {
            sum += ((const uint32_t *)pieces[k].bytes)[i];
        }
        counts[i] = (uint32_t)sum;
        ok = sum <= UINT32_MAX ||
             err_set(call->err, CODE_MEMORY, "%s: more than %u pixels count as one", call->name, UINT32_MAX);
    }
    ok = ok && dev_write(call->dev, memory, 0, counts, bytes, call->err);
    share_drop(call, pieces);
    free(counts);
    return ok;
}

bool share_least(const PrimCall *call, DevMem *memory, size_t n, bool with_sign)
{
    const uint32_t flip = with_sign ? (uint32_t)1 << 31 : 0;
    size_t bytes = n * sizeof(uint32_t);
    uint32_t *least = malloc(bytes + 1);
    OwnersPiece *pieces = tell_memory(call, memory, least, bytes);
    bool ok = pieces != NULL;
    for (int k = 0; ok && k < call->owners->n; k++) {
        const uint32_t *of = pieces[k].bytes;
        for (size_t i = 0; i < n; i++) {
            least[i] = (of[i] ^ flip) < (least[i] ^ flip) ? of[i] : least[i];
        }
    }
    ok = ok && dev_write(call->dev, memory, 0, least, bytes, call->err);
    share_drop(call, pieces);
    free(least);
    return ok;
}
