/* owners_threads: owners that are threads of this process; what they swap is copied. */
#ifndef RUNTIME_OWNERS_THREADS_H
#define RUNTIME_OWNERS_THREADS_H

#include "owners.h"

typedef struct OwnersThreads OwnersThreads;

/* n of them, to `owners`, one for each thread; freed when no thread swaps any more. */
bool owners_threads_new(int n, Owners *owners, OwnersThreads **out, Err *err);
void owners_threads_free(OwnersThreads *threads); /* NULL is allowed */

#endif
