/* cl_codes: what OpenCL's numbers mean, in words. */
#ifndef RUNTIME_CL_CODES_H
#define RUNTIME_CL_CODES_H

#include <stdbool.h>
#include <stdint.h>

typedef struct ClCode {
    int number;
    const char *name;
    const char *meaning; /* completes "the device 'X' ..." */
    int code;            /* the Err's */
    bool lost;           /* nothing more can be done with this context */
} ClCode;

/* The row of a number; unknown numbers get a row that says so.  Never NULL. */
const ClCode *cl_code(int number);
/* Its name, or for an unknown one its number written into `text`. */
const char *cl_code_name(int number, char text[32]);
/* "12.5 MiB". */
void cl_size_text(char out[32], uint64_t bytes);

#endif
