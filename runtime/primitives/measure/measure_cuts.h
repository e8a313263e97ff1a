/*
 * measure_cuts: objects that parts cut.  What the stages need of them is kept on the host, part by part,
 * until an object's last part is there.
 */
#ifndef RUNTIME_MEASURE_CUTS_H
#define RUNTIME_MEASURE_CUTS_H

#include "measuring.h"

/* Passes that find middle values: eight bits of the keys each. */
enum { MEASURE_MEDIAN_ROUNDS = 4 };

/* For a new chunk, whose sums are there; frees what was there. */
bool measure_cuts_begin(Measuring *m);
void measure_cuts_free(Measuring *m);

/* All stages of a part but the medians of cut objects; where hulls are to be painted, of these alone. */
bool measure_cuts_stages(Measuring *m);
/* Paints all hulls in a part. */
bool measure_cuts_paint(Measuring *m);
/* True when cut objects have medians to find, which takes several rounds over all parts. */
bool measure_cuts_have_medians(const Measuring *m);
bool measure_cuts_count(Measuring *m, int round);

#endif
