/*
 * library: the insides of libpipec, for its own files.
 */
#ifndef LIBRARY_LIBRARY_H
#define LIBRARY_LIBRARY_H

#include "compile.h"
#include "pipec.h"

#include <stdio.h>

/* Its file is compiled once; planned again for each device and other params, each time into an arena of its own. */
struct PipecPipeline {
    int references; /* the caller's and one for each device that holds it; under the compiler's lock */
    bool right;     /* the text has no mistakes */
    Compilation c;
};

/* What is done with the compiler, by one thread at a time and on a stack that is deep enough for it (base/stack.h). */
typedef bool LibraryWork(void *context, Err *err);
/* Arenas of compilations that begin in `work` jump here when memory is short. */
bool library_compiler(LibraryWork *work, void *context, Err *err);
/* Where they jump; valid inside of `work`. */
jmp_buf *library_no_memory(void);

PipecPipeline *library_hold(PipecPipeline *pipeline);
/* The pipeline's texts are right, else an error. */
bool library_is_right(const PipecPipeline *pipeline, Err *err);
/* Gives the caller what failed; returns its code. */
int library_code(const Err *err, PipecError *error);
/* The text that `put` writes, owned by the caller (free). */
bool library_text(void (*put)(FILE *to, const void *of), const void *of, char **out, Err *err);

#endif
