/* cfitsio: see cfitsio.h.  CFITSIO_FILE is the library that the compiler found beside the header. */
#include "cfitsio.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

Cfitsio cfitsio;

static char failure[300];

static void find(void *library, const char *name, void *function)
{
    *(void **)function = library != NULL ? dlsym(library, name) : NULL;
    if (*(void **)function == NULL && failure[0] == '\0') {
        const char *why = dlerror();
        snprintf(failure, sizeof failure, "%s", why != NULL ? why : name);
    }
}

static void load(void)
{
    void *library = dlopen(CFITSIO_FILE, RTLD_NOW | RTLD_LOCAL);
#define TEXT_OF(FUNCTION) #FUNCTION
#define F(NAME, FUNCTION) find(library, TEXT_OF(FUNCTION), &cfitsio.NAME);
    CFITSIO_FUNCTIONS(F)
#undef F
}

bool cfitsio_load(Err *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, load);
    return failure[0] == '\0' || err_set(err, CODE_FILES, "reading FITS needs cfitsio: %s", failure);
}
