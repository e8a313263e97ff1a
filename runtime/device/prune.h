/*
 * prune: a kernel's text without what its kernels do not call.
 *
 * Texts are put together from libraries of which a kernel calls a few functions.  A driver's compiler reads all of it,
 * PoCL's twice, before it leaves out the rest.  That takes half of the time of its front end.
 */
#ifndef RUNTIME_PRUNE_H
#define RUNTIME_PRUNE_H

/* What stands in front of every text, read once. */
typedef struct Pruner Pruner;

/* `head` shares no macros with the texts.  NULL: it cannot be read, or memory is out. */
Pruner *pruner_new(const char *head);
void pruner_free(Pruner *pruner); /* NULL is allowed */

/* Head and source after the preprocessor, owned by the caller (free).  `options` are those of its compiler.  By one
 * thread at a time.  NULL: it cannot be read, or memory is out. */
char *prune(Pruner *pruner, const char *source, const char *options);

#endif
