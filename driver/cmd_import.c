/* import: a macro of ImageJ or a script in Python as a pipeline.  The Python package does it, whose parser of Python is
 * Python's own; it lies beside the command, wherever this is: installed, in a wheel, or in the sources. */
#include "driver.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The first of the places below `own` where the file is; NULL: none. */
static const char *find(const char *own, const char *const *places, int n, const char *file, char to[PATH_MAX])
{
    char path[2 * PATH_MAX];
    for (int i = 0; i < n; i++) {
        const bool absolute = places[i][0] == '/';
        int length = snprintf(to, PATH_MAX, "%s%s%s", absolute ? "" : own, absolute ? "" : "/", places[i]);
        snprintf(path, sizeof path, "%s/%s", to, file);
        if (length < PATH_MAX && access(path, R_OK) == 0) {
            return to;
        }
    }
    return NULL;
}

/* In front of what is there already. */
static bool put_path(const char *name, const char *folder)
{
    const char *before = getenv(name);
    const size_t size = strlen(folder) + (before != NULL ? strlen(before) : 0) + 2;
    char *text = malloc(size);
    if (text == NULL) {
        return false;
    }
    snprintf(text, size, "%s%s%s", folder, before != NULL ? ":" : "", before != NULL ? before : "");
    bool ok = setenv(name, text, 1) == 0;
    free(text);
    return ok;
}

int cmd_import(int argc, char **argv)
{
    static const char *const PACKAGES[] = {"../share/pipec/python", "../..", PIPEC_SOURCE_DIR "/python"};
    static const char *const LIBRARIES[] = {".", "../lib"};
    char own[PATH_MAX], folder[PATH_MAX], library[PATH_MAX + 20];
    if (argc != 2) {
        return usage_error("import takes one file, macro.ijm or script.py, and prints a pipeline");
    }
    if (!driver_folder(own, sizeof own)) {
        return usage_error("cannot find out where pipec is: %s", strerror(errno));
    }
    const char *package = find(own, PACKAGES, 3, "pipec/importer.py", folder);
    bool ok = package == NULL || put_path("PYTHONPATH", package);
    if (getenv("PIPEC_LIBRARY") == NULL && find(own, LIBRARIES, 2, "libpipec.so.0", folder) != NULL) {
        snprintf(library, sizeof library, "%s/libpipec.so.0", folder);
        ok = ok && setenv("PIPEC_LIBRARY", library, 1) == 0;
    }
    char *const command[] = {"python3", "-m", "pipec.importer", argv[1], NULL};
    if (ok) {
        execvp(command[0], command);
    }
    return usage_error("import needs python3: %s", strerror(errno));
}
