/*
 * figures: the balance of a device is how many operations it does while it moves a byte.  An H200 does 7, and
 * 24 operations computed again cost it as much as 3.4 bytes: measured, more make kernels slower that are
 * bound by instructions, fewer make more of them.
 */
#include "figures.h"

#include <string.h>
#include <strings.h>

enum { OPS_OF_FIRST = 24, FEWEST_OPS = 2, MOST_OPS = 100 };

static const DeviceFigures TABLE[] = {
#define D(name, copy, ops, local, launch) {name, copy, ops, local, launch, false},
#include "devices.def"
#undef D
};

const DeviceFigures *figures_known(const char *name)
{
    for (size_t i = 0; name != NULL && i < sizeof TABLE / sizeof *TABLE; i++) {
        size_t n = strlen(TABLE[i].name);
        for (const char *at = name; *at != '\0'; at++) {
            if (strncasecmp(at, TABLE[i].name, n) == 0) {
                return &TABLE[i];
            }
        }
    }
    return name == NULL ? &TABLE[0] : NULL;
}

int figures_repeated_ops(const DeviceFigures *figures)
{
    double first = TABLE[0].giga_ops / TABLE[0].copy_gb;
    double ops = OPS_OF_FIRST * (figures->giga_ops / figures->copy_gb) / first;
    return ops < FEWEST_OPS ? FEWEST_OPS : ops > MOST_OPS ? MOST_OPS : (int)(ops + 0.5);
}
