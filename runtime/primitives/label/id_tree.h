/*
 * id_tree: which ids there are among all numbers of 32 bits, and the place of each, for images in parts.
 *
 * A bitmap of all of them would take 768 MiB with its counts.  Instead there is one for the 18 leading binary
 * digits, and a second and a third one with 7 digits more of each leading number that there is.  Each level
 * takes a pass, because the one above must be complete; then every id has its key in the last one, whose
 * rank is the id's place (kernels/compact.cl, COMPACT_TREE).
 *
 * Scratch: 24 bytes for each leading number of a level, of which there are at most as many as ids and mostly a
 * hundredth of that; 56 KiB more.
 */
#ifndef RUNTIME_ID_TREE_H
#define RUNTIME_ID_TREE_H

#include "../prim.h"

enum {
    ID_TREE_LEVELS = 3, /* passes that mark; one more reads */
    ID_TREE_ARGS = 5    /* arguments that a kernel with COMPACT_TREE_PARAMS takes for them */
};

/* For the call's pass: what passes before have found is in its state (free). */
size_t id_tree_bytes(const PrimCall *call);

typedef struct IdTree {
    int level;                  /* the one that the pass marks; when all are marked, the last one */
    DevMem *at[ID_TREE_LEVELS]; /* bits, from the first level to this one */
    size_t words[ID_TREE_LEVELS];
    DevMem *total;
} IdTree;
/* Bits of a level are cleared before its first part. */
bool id_tree_open(PrimCall *call, IdTree *tree);
void id_tree_close(const PrimCall *call, IdTree *tree);
void id_tree_args(const IdTree *tree, DevArg args[ID_TREE_ARGS]);
/* After the last part of a pass that marks.  The host learns how many keys the level has. */
bool id_tree_rank(PrimCall *call, const IdTree *tree, size_t *keys);

/* The program that counts the keys of bitmaps, without a reader. */
bool id_bits_program(const PrimCall *call, DevProgram **program);
/* Counts those of a bitmap of so many words, also before each word; how many they are goes to values[slot] unless
 * slot is -1. */
bool id_bits_count(const PrimCall *call, DevMem *bits, size_t words, DevMem *values, int slot);

#endif
