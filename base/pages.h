/*
 * pages: large blocks of memory.  The first touch of fresh memory costs a page fault every 4 KiB,
 * which makes it ten times slower than memory that is there; in pages of 2 MiB that all but goes.
 */
#ifndef BASE_PAGES_H
#define BASE_PAGES_H

#include <stddef.h>

/* Memory with any content, owned by the caller (free); NULL: out of memory. */
void *pages_alloc(size_t bytes);

#endif
