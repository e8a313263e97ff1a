/*
 * parts_share: a run in parts whose parts are shared out to owners (owners.h): devices of one host, or processes.
 *
 * All owners have the same plan and go through the same segments.  Of a segment each computes parts that follow each
 * other, and keeps their rows in its own stores.  Before the next segment it gets the rows that it will read from those
 * who have them; primitives swap what their parts have found with the last one of a pass (Primitive.shares).  The first
 * owner gets the rows of outputs, and is the only one that gives them away.  What cannot be shared out all owners do:
 * segments of fewer parts than owners, of steps that need a whole image, and of passes of primitives that do not share.
 */
#ifndef RUNTIME_PARTS_SHARE_H
#define RUNTIME_PARTS_SHARE_H

#include "parts_state.h"

/* Whether all owners have planned the same, or have an error. */
bool parts_share_check(Run *run);
/* Which rows (planes) of the segment are this owner's: [seg->from, seg->to), and whether it is shared. */
void parts_share_out(Segment *seg);
/* The rows that the segment reads come to the stores of this owner. */
bool parts_share_fetch(Segment *seg);
/* Whose rows are whose after the segment. */
void parts_share_note(const Segment *seg);
/* Who gives rows of the segment's outputs: each owner its own, or the first one all. */
bool parts_share_agree(Segment *seg);
/* The first row, through all planes, that this owner gives. */
int64_t parts_share_first(const Segment *seg, int buffer);
/* Rows that others have made, behind those that each owner has given, go to it, and to outputs. */
bool parts_share_give(Run *run, int buffer);
/* The first owner gets all rows of a buffer. */
bool parts_share_collect(Run *run, int buffer);
/* At the end of the run; `ok`: of this owner's. */
bool parts_share_end(Run *run, bool ok);

#endif
