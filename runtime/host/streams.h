/*
 * streams: the three streams that a process begins with.
 */
#ifndef RUNTIME_STREAMS_H
#define RUNTIME_STREAMS_H

#include <stdbool.h>

/* Opens /dev/null in place of those that are closed, because the next file would get their number
 * and whatever is printed: the wrong way, so that printing still fails.  Called before anything else. */
void streams_open(void);
/* False when something printed on the standard output has not arrived; says so then, but to somebody who
 * reads no more of it (`| head`). */
bool streams_flush(const char *command);

#endif
