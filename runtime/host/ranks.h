/*
 * ranks: the owners of a run that mpirun has started.  MPI is a plug-in of its own (mpi/plugin.c), which is loaded then and
 * only then: libpipec-mpi.so beside the executable, or where the system looks for libraries.
 */
#ifndef RUNTIME_RANKS_H
#define RUNTIME_RANKS_H

#include "owners.h"

enum { RANKS_VERSION = 1 };

/* What the plug-in is asked for; its one function is called pipec_ranks.  NULL: MPI has not started. */
typedef struct RanksPlugin {
    int version, n, number, local, locals;
    OwnersSwap *swap;
    void (*end)(void); /* MPI_Finalize */
} RanksPlugin;
typedef const RanksPlugin *RanksOpen(void);

/* How many processes mpirun has started, as it says in the environment; 1 without it. */
int ranks_said(void);
/* All processes of mpirun call it; n is 1 without mpirun.  Ended by ranks_close. */
bool ranks_open(Owners *out, Err *err);
void ranks_close(const Owners *ranks);

#endif
