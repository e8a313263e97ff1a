/* image_exif: a TIFF directory of which one tag is wanted, in a block that may be damaged. */
#include "image_exif.h"

/* A number of n bytes. */
static unsigned number(const unsigned char *at, int n, bool little)
{
    unsigned value = 0;
    for (int i = 0; i < n; i++) {
        value = value << 8 | at[little ? n - 1 - i : i];
    }
    return value;
}

/* How the image is to be shown: 1 to 8, or 1 where the block does not say it. */
static unsigned orientation(const unsigned char *block, size_t size)
{
    enum { HEAD = 8, ENTRY = 12, TAG = 0x112 };
    if (size < HEAD) {
        return 1;
    }
    bool little = block[0] == 'I';
    size_t at = number(block + 4, 4, little);
    unsigned entries = at <= size - 2 ? number(block + at, 2, little) : 0;
    at += 2;
    for (unsigned i = 0; i < entries && at + ENTRY <= size; i++, at += ENTRY) {
        if (number(block + at, 2, little) == TAG) {
            return number(block + at + 8, 2, little);
        }
    }
    return 1;
}

bool exif_turned(const unsigned char *block, size_t size)
{
    unsigned way = orientation(block, size);
    return way > 1 && way <= 8;
}
