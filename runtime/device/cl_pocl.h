/* cl_pocl: PoCL as Debian has it, with less to read for each kernel (cl_pocl.c). */
#ifndef RUNTIME_CL_POCL_H
#define RUNTIME_CL_POCL_H

#include <stddef.h>

/* One of PoCL's libraries of built-in functions, without those that no kernel of pipec calls, compressed with zstd. */
typedef struct PoclLibrary {
    const char *name;     /* of the file; NULL ends the table */
    const char *original; /* digest of the file that it was made from */
    const unsigned char *packed;
    size_t n_packed, size;
} PoclLibrary;

/* What cmake/pocl_trim.c made of the PoCL that was installed when pipec was built; no rows where that was another. */
extern const PoclLibrary POCL_LIBRARIES[];
extern const char POCL_DRIVER[], POCL_DATA[]; /* the file of the driver, and the folder of what it reads */

/*
 * Makes the loader of OpenCL take that PoCL, if it is installed and the environment chooses no drivers; to be called before
 * the first OpenCL call, in a process in which nobody else compiles kernels.  What fails costs time only.
 */
void cl_pocl_use(void);

#endif
