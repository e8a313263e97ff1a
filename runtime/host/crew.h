/*
 * crew: a few threads that do the pieces of one job together with whoever asks for it.  Memory and
 * files that are copied by one thread come at a quarter of the rate that a machine's memory has.
 *
 * Used by one thread at a time.  A crew of nobody (NULL) is allowed: the caller does all pieces.
 */
#ifndef RUNTIME_CREW_H
#define RUNTIME_CREW_H

#include <stdbool.h>
#include <stddef.h>

typedef struct Crew Crew;

/* So many threads beside the caller's, at most 7; 0: as many as this machine has use for.  NULL where
 * that is none, or they are not to be had. */
Crew *crew_new(int threads);
void crew_free(Crew *crew); /* NULL is allowed */

/* Calls work(context, 0 .. pieces - 1), in any order, several at a time; returns when all are done.  Piece 0 is the
 * caller's own. */
void crew_run(Crew *crew, void (*work)(void *context, int piece), void *context, int pieces);
/* Pieces that work on so many bytes is worth cutting into; at least 1. */
int crew_pieces(const Crew *crew, size_t bytes);

/* Rows of `bytes`, host to host. */
void crew_copy(Crew *crew, void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t bytes, size_t rows);

#endif
