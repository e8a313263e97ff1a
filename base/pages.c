/* pages: asks for large pages where the block is large enough to have some. */
#define _DEFAULT_SOURCE /* madvise */
#include "pages.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { LARGE = 2 << 20 };

void *pages_alloc(size_t bytes)
{
    void *at = NULL;
    if (bytes < 2 * (size_t)LARGE) {
        return malloc(bytes + 1);
    }
    size_t whole = (bytes + LARGE - 1) / LARGE * LARGE;
    if (whole < bytes || posix_memalign(&at, LARGE, whole) != 0) {
        return NULL;
    }
#ifdef MADV_HUGEPAGE
    (void)madvise(at, whole, MADV_HUGEPAGE);
#endif
    return at;
}
