/*
 * fuzz: what every target is: a function over any bytes that must come back, without a crash, a
 * leak or undefined behaviour.  With libFuzzer (-DFUZZ=ON, clang) it is called with inputs that it
 * invents; replay.c calls it with the files of the corpus.
 */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What a target hands to a stack of the compiler's own (base/stack.h). */
typedef struct FuzzBytes {
    const uint8_t *data;
    size_t size;
} FuzzBytes;

/* The bytes as a terminated text; owned by the caller (free). */
char *fuzz_text(const uint8_t *data, size_t size);
/* The bytes as a file of this process, for readers that take a path; the same path every time. */
const char *fuzz_file(const uint8_t *data, size_t size);

#endif
