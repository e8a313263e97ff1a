/* keep: the types of images between kernels. */
#ifndef PASSES_KEEP_H
#define PASSES_KEEP_H

#include "grouping.h"

/* Images that a schedule stores for other kernels, of pixels that were only moved or chosen, take these pixels' type. */
void pass_keep_types(Grouping *grouping);

#endif
