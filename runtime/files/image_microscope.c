/*
 * image_microscope: the stacks of MetaMorph (STK) and of Zeiss' scanning microscopes (LSM), which keep in tags of
 * their own what others say in the description.
 *
 * An STK file has one page, and as many planes behind its pixels as a tag has values.  An LSM file has a page
 * for each plane, those of one frame together, and a table of numbers at fixed places, little endian as
 * the whole file.
 */
#include "image_microscope.h"

#include <math.h>
#include <string.h>

enum {
    LSM_BYTES = 120, /* those of the table that are of use */
    LSM_MAGIC_OLD = 0x00300494C,
    LSM_MAGIC = 0x00400494C,
};

static uint64_t little(const unsigned char *at, int n)
{
    uint64_t value = 0;
    while (n-- > 0) {
        value = value << 8 | at[n];
    }
    return value;
}

static double positive(const unsigned char *at, double factor)
{
    uint64_t bits = little(at, 8);
    double value;
    memcpy(&value, &bits, sizeof value);
    return isfinite(value) && value > 0 ? value * factor : 0;
}

static bool read_lsm(const TiffSource *source, const TiffEntry *entry, MetaMicroscope *to, Err *err)
{
    enum { Z = 16, T = 24, SIZE = 40, INTERVAL = 112 };
    unsigned char table[LSM_BYTES];
    if (entry->count < sizeof table) {
        return true;
    }
    TRY(tiff_bytes(source, entry, table, sizeof table, err));
    uint64_t magic = little(table, 4);
    if (magic != LSM_MAGIC && magic != LSM_MAGIC_OLD) {
        return true;
    }
    if (source->size > UINT32_MAX && !source->big) {
        return err_set(err, CODE_FILES,
                       "it is an LSM file of more than 4 GB, in which the places of planes are not "
                       "told apart; convert it to OME-TIFF with Bio-Formats (bfconvert)");
    }
    to->z = (int64_t)little(table + Z, 4);
    to->t = (int64_t)little(table + T, 4);
    for (int axis = 0; axis < 3; axis++) {
        to->size_um[axis] = positive(table + SIZE + 8 * axis, 1e6);
    }
    to->interval = positive(table + INTERVAL, 1);
    return true;
}

bool tiff_microscope(const TiffSource *source, const TiffDirectory *dir, MetaMicroscope *to, Err *err)
{
    const TiffEntry *lsm = tiff_find(dir, TAG_LSM);
    *to = (MetaMicroscope){.t = 0};
    to->behind = (int64_t)tiff_count(dir, TAG_STK_PLANES);
    return lsm == NULL || read_lsm(source, lsm, to, err);
}
