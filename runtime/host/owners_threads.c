/* owners_threads: all show what they give, wait for each other, take, and wait until all have taken. */
#include "owners_threads.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct Link {
    OwnersThreads *all;
    int number;
} Link;

struct OwnersThreads {
    int n;
    pthread_barrier_t barrier;
    const OwnersPiece **given; /* by owner */
    Link *links;
};

static void swap(void *context, const OwnersPiece *give, const OwnersPiece *take)
{
    const Link *link = context;
    OwnersThreads *all = link->all;
    all->given[link->number] = give;
    (void)pthread_barrier_wait(&all->barrier);
    for (int k = 0; k < all->n; k++) {
        if (take[k].n > 0) {
            memcpy(take[k].bytes, all->given[k][link->number].bytes, (size_t)take[k].n);
        }
    }
    (void)pthread_barrier_wait(&all->barrier);
}

bool owners_threads_new(int n, Owners *owners, OwnersThreads **out, Err *err)
{
    OwnersThreads *all = *out = calloc(1, sizeof *all);
    bool ok = all != NULL && pthread_barrier_init(&all->barrier, NULL, (unsigned)n) == 0;
    if (!ok) {
        free(all);
        *out = NULL;
        return err_set(err, CODE_MEMORY, "out of host memory for several devices");
    }
    all->n = n;
    all->given = calloc((size_t)n, sizeof *all->given);
    all->links = calloc((size_t)n, sizeof *all->links);
    for (int k = 0; all->links != NULL && k < n; k++) {
        all->links[k] = (Link){all, k};
        owners[k] = (Owners){.n = n, .number = k, .locals = 1, .swap = swap, .context = &all->links[k]};
    }
    return (all->given != NULL && all->links != NULL) ||
           err_set(err, CODE_MEMORY, "out of host memory for several devices");
}

void owners_threads_free(OwnersThreads *threads)
{
    if (threads != NULL) {
        pthread_barrier_destroy(&threads->barrier);
        free(threads->given);
        free(threads->links);
        free(threads);
    }
}
