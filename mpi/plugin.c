/*
 * plugin: libpipec-mpi.so, all that knows MPI (runtime/host/ranks.h).  Where a process of the run is killed, MPI ends the
 * others, and mpirun says so.
 */
#include "../runtime/host/ranks.h"

#include <limits.h>
#include <mpi.h>
#include <stdlib.h>

enum { MOST = 1 << 30 }; /* bytes of a message: MPI counts in int */

const RanksPlugin *pipec_ranks(void) __attribute__((visibility("default")));

static RanksPlugin self = {.version = RANKS_VERSION};

static uint64_t messages_of(uint64_t bytes)
{
    return (bytes + MOST - 1) / MOST;
}

/* Requests for the messages of pieces, in both directions. */
static uint64_t count(const OwnersPiece *give, const OwnersPiece *take)
{
    uint64_t n = 0;
    for (int k = 0; k < self.n; k++) {
        n += messages_of(give[k].n) + messages_of(take[k].n);
    }
    return n;
}

static int begin(const OwnersPiece *piece, int other, uint64_t message, int to, MPI_Request *request)
{
    uint64_t at = message * MOST;
    int n = (int)(piece->n - at < MOST ? piece->n - at : MOST);
    char *bytes = (char *)piece->bytes + at;
    return to ? MPI_Isend(bytes, n, MPI_BYTE, other, 0, MPI_COMM_WORLD, request)
              : MPI_Irecv(bytes, n, MPI_BYTE, other, 0, MPI_COMM_WORLD, request);
}

/* Errors of MPI are fatal. */
static void swap(void *context, const OwnersPiece *give, const OwnersPiece *take)
{
    (void)context;
    uint64_t n = count(give, take);
    MPI_Request *requests = n < INT_MAX ? calloc(n + 1, sizeof(MPI_Request)) : NULL;
    int used = 0;
    if (requests == NULL) {
        MPI_Abort(MPI_COMM_WORLD, CODE_MEMORY);
        return;
    }
    for (int step = 0; step < self.n; step++) { /* not all at first to the first */
        int from = (self.number + self.n - step) % self.n, to = (self.number + step) % self.n;
        for (uint64_t m = 0; m < messages_of(take[from].n); m++) {
            (void)begin(&take[from], from, m, 0, &requests[used++]);
        }
        for (uint64_t m = 0; m < messages_of(give[to].n); m++) {
            (void)begin(&give[to], to, m, 1, &requests[used++]);
        }
    }
    MPI_Waitall(used, requests, MPI_STATUSES_IGNORE);
    free(requests);
}

static void end(void)
{
    MPI_Finalize();
}

const RanksPlugin *pipec_ranks(void)
{
    int provided;
    MPI_Comm host;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided) != MPI_SUCCESS ||
        provided < MPI_THREAD_SERIALIZED) {
        return NULL;
    }
    MPI_Comm_size(MPI_COMM_WORLD, &self.n);
    MPI_Comm_rank(MPI_COMM_WORLD, &self.number);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    MPI_Comm_rank(host, &self.local);
    MPI_Comm_size(host, &self.locals);
    MPI_Comm_free(&host);
    self.swap = swap;
    self.end = end;
    return &self;
}
