/* cl_source: the text of a program on its way to the compiler: dumped, replaced, named. */
#ifndef RUNTIME_CL_SOURCE_H
#define RUNTIME_CL_SOURCE_H

#include "cl.h"

/*
 * The text to build instead of `source`: NAME.cl of folder `load` where it is, else a copy.
 * Written to folder `dump`.  Folders may be "".  Owned by the caller (free).
 */
bool cl_source_text(const char *load, const char *dump, const char *name, const char *source, char **text, Err *err);
/* All that decides the binary, as one text, owned by the caller (free); NULL: out of memory. */
char *cl_source_key(const DeviceInfo *info, const char *source, const char *options);
/* Records that a build failed: the log's first lines, and where the source can be seen. */
bool cl_source_failed(const DeviceInfo *info, const char *dump, const char *name, const char *source, const char *log,
                      const char *status, Err *err);

#endif
