/* python: where the Python package and libpipec lie beside the command: installed, in a wheel, or in the sources. */
#include "driver.h"

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
    before = before != NULL && before[0] != '\0' ? before : NULL; /* nothing behind a colon is the current folder */
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

bool driver_python(bool anywhere)
{
    static const char *const PACKAGES[] = {"../share/pipec/python", "../..", PIPEC_SOURCE_DIR "/python"};
    static const char *const LIBRARIES[] = {".", "../lib"};
    char own[PATH_MAX], folder[PATH_MAX], library[PATH_MAX + 20];
    if (!driver_folder(own, sizeof own)) {
        return false;
    }
    const char *package = find(own, PACKAGES, anywhere ? 3 : 1, "pipec/__init__.py", folder);
    if (package == NULL && !anywhere) {
        return true;
    }
    bool ok = package == NULL || put_path("PYTHONPATH", package);
    if (getenv("PIPEC_LIBRARY") == NULL && find(own, LIBRARIES, 2, "libpipec.so.0", folder) != NULL) {
        snprintf(library, sizeof library, "%s/libpipec.so.0", folder);
        ok = ok && setenv("PIPEC_LIBRARY", library, 1) == 0;
    }
    return ok;
}
