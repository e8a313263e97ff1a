/*
 * parts: runs a primitive over an image that is cut into parts, as the executor does, and gives
 * back what it wrote for the whole image.
 *
 * The reader takes pixels from the whole image, and poison from beyond the part and the rows that
 * the primitive asks for, so that a result which depends on what is not there differs.
 */
#ifndef TESTS_SUPPORT_PARTS_H
#define TESTS_SUPPORT_PARTS_H

#include "reference/ref.h"
#include "runtime/primitives/prim.h"

enum { PARTS_INPUTS = 4, PARTS_SLOTS = 16, PARTS_VALUE = 2, PARTS_OF_VALUE = 1 };

typedef struct PartsJob {
    Device *dev;
    const Primitive *primitive;
    RefShape s;
    int step;                         /* rows, or planes, of a part; 0: odd numbers of them, one behind the other */
    bool by_channel;                  /* all parts of a channel before the next one's */
    int shape;                        /* SHAPE_GPU or SHAPE_CPU */
    const void *pixels[PARTS_INPUTS]; /* dense; NULL: no such input */
    Elem elem[PARTS_INPUTS];
    const char *functions; /* more of the reader, or all of it where inputs are stored; NULL: none */
    bool stored;           /* inputs are images in memory */
    double arg[10];
    const char *text;
    double count; /* of labels, in slot PARTS_OF_VALUE; NaN: none */
    Elem out;
    int64_t length; /* of the result where it is a vector */
    PrimTable *table;
    uint64_t *note; /* what the primitive knows from another run; NULL: nobody keeps it */
    int *passes;    /* if not NULL: how many it took */
    int64_t extent; /* rows that the image claims to have; 0: those that it has */
} PartsJob;

/* The result, dense, goes to `to` (which may be NULL), and the values to `values`.  False with *err
 * as the primitive says. */
bool parts_run(const PartsJob *job, void *to, double values[PARTS_SLOTS], Err *err);

/* The same in one piece. */
bool parts_run_whole(const PartsJob *job, void *to, double values[PARTS_SLOTS], Err *err);

#endif
