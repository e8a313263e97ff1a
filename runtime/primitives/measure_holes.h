/* measure_holes: the holes of one object, on the host. */
#ifndef RUNTIME_MEASURE_HOLES_H
#define RUNTIME_MEASURE_HOLES_H

#include <stddef.h>
#include <stdint.h>

/* An object's box, of bits: rows of `words` words, planes of `tall` rows. */
typedef struct MeasureBits {
    const uint32_t *open; /* 1: not in the object, or behind the end of the row */
    uint32_t *reached;    /* room for as many words */
    size_t wide, tall, deep, words;
} MeasureBits;

/* Pixels that are in the object or cannot be reached from outside of the box over open pixels and
 * their corners; as kernels/measure_fill.cl.  One plane: its own ends are no border. */
uint64_t measure_filled(const MeasureBits *bits);

#endif
