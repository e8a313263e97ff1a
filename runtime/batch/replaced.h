/* replaced: what the table of an earlier run says that the new one will not: rows of images that are not in this run. */
#ifndef RUNTIME_REPLACED_H
#define RUNTIME_REPLACED_H

#include "join.h"

/* How many images that are; `first` is the name of one of them.  0 where there is no such table, or no memory. */
int replaced_images(const char *path, const Join *join, char *first, size_t size);

#endif
