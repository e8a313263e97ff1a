/*
 * child: work in a process of its own, so that a crash, a failed assertion or an endless loop is a
 * finding like any other.
 */
#ifndef TESTS_CHILD_H
#define TESTS_CHILD_H

#include <stdbool.h>
#include <stddef.h>

/* Memory that a child and its parent both see; never freed.  NULL when there is none. */
void *child_shared(size_t bytes);

typedef enum ChildEnd { CHILD_DONE, CHILD_CRASHED, CHILD_LATE, CHILD_NONE } ChildEnd;

/* Runs work(context) in a child and waits for its end.  `said`: the last line that it wrote to
 * stderr. */
ChildEnd child_run(void (*work)(void *context), void *context, char *said, size_t size);
/* In the child: from now on it may compute this long, or it is ended as CHILD_LATE. */
void child_limit(unsigned seconds);

#endif
