/* ranks: see ranks.h. */
#include "ranks.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char PLUGIN[] = "libpipec-mpi.so";

static const RanksPlugin *plugin;

int ranks_said(void)
{
    static const char *const NAMES[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE"};
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        const char *text = getenv(NAMES[i]);
        if (text != NULL && atoi(text) > 1) {
            return atoi(text);
        }
    }
    return 1;
}

/* Global: libraries of MPI look for each other. */
static void *load(void)
{
    char path[PATH_MAX + sizeof PLUGIN];
    ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);
    if (n > 0) {
        path[n] = '\0';
        char *name = strrchr(path, '/');
        strcpy(name != NULL ? name + 1 : path, PLUGIN);
        if (access(path, R_OK) == 0) {
            return dlopen(path, RTLD_NOW | RTLD_GLOBAL);
        }
    }
    return dlopen(PLUGIN, RTLD_NOW | RTLD_GLOBAL);
}

static bool start(int n, Err *err)
{
    RanksOpen *open = NULL;
    void *library = load();
    if (library != NULL) {
        *(void **)&open = dlsym(library, "pipec_ranks");
    }
    if (open == NULL) {
        const char *why = dlerror();
        return err_set(
            err, CODE_USAGE,
            "mpirun has started %d processes, but MPI cannot be used: %s; have %s beside the executable or in "
            "LD_LIBRARY_PATH, or use --shard",
            n, why != NULL ? why : "it is another library", PLUGIN);
    }
    plugin = open();
    bool ok = plugin != NULL && plugin->version == RANKS_VERSION;
    return ok || err_set(err, CODE_USAGE,
                         plugin == NULL ? "MPI cannot be started" : "%s is of another version of pipec", PLUGIN);
}

bool ranks_open(Owners *out, Err *err)
{
    int n = ranks_said();
    *out = (Owners){.n = 1, .locals = 1};
    if (n == 1) {
        return true;
    }
    TRY(plugin != NULL || start(n, err));
    *out = (Owners){.n = plugin->n,
                    .number = plugin->number,
                    .local = plugin->local,
                    .locals = plugin->locals,
                    .swap = plugin->swap};
    return true;
}

void ranks_close(const Owners *ranks)
{
    if (ranks->n > 1) {
        plugin->end();
    }
}
