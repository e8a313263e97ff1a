/*
 * prim_propagate: lets pixels rise to their neighbours' values, up to a ceiling each, until nothing
 * changes (kernels/propagate.cl).
 */
#ifndef RUNTIME_PRIM_PROPAGATE_H
#define RUNTIME_PRIM_PROPAGATE_H

#include "../prim_lanes.h"

/* 32-bit words of scratch that it needs, whatever the shape of the kernels. */
size_t propagate_words(const PrimCall *call);

/* Builds `defines`, kernel_text_lanes, the text that says what rises, and propagate.cl. */
bool propagate_program(const PrimCall *call, const char *defines, const char *text, int connectivity,
                       DevProgram **program);

/* How the image is cut into tiles; the flag of tile (x, y, z) of a channel is number
 * ((channel * deep + z) * down + y) * across + x. */
typedef struct PropagateTiles {
    int x, y, z; /* pixels of a tile */
    size_t across, down, deep;
    size_t all; /* in all channels */
} PropagateTiles;
PropagateTiles propagate_tiles(const PrimCall *call);

/* Sets the flags, at word `at` of the scratch: 1 for tiles that may have pixels to raise. */
bool propagate_flag_all(const PrimCall *call, size_t at, bool flag);

/* Runs until stable, beginning with the flagged tiles.  Values are those of call->out[0]; `image` is what the ceilings come from, and
 * `how` goes to propagate_ceiling.  Its words, flags first, start at word `at`
 * of the scratch.  Waits for the device. */
bool propagate_run(const PrimCall *call, DevProgram *program, const PrimImage *image, int how, size_t at);

#endif
