/* image_pixels: unpacking, gathering, widening, inverting and colouring of rows. */
#include "image_pixels.h"

#include <math.h>
#include <string.h>

bool pixels_are_plain(const PixelForm *form)
{
    return form->bits % 8 == 0 && form->samples == 1 && !form->widen && !form->half && !form->narrow && !form->offset &&
           form->curve == NULL && form->map == NULL;
}

void pixels_swap(void *at, size_t n, size_t bytes)
{
    unsigned char *byte = at;
    if (bytes == 2) {
        uint16_t *v = at;
        for (size_t i = 0; i < n; i++) {
            v[i] = (uint16_t)(v[i] << 8 | v[i] >> 8);
        }
    } else if (bytes == 4) {
        uint32_t *v = at;
        for (size_t i = 0; i < n; i++) {
            v[i] = v[i] << 24 | (v[i] & 0xFF00u) << 8 | (v[i] >> 8 & 0xFF00u) | v[i] >> 24;
        }
    } else if (bytes == 8) {
        for (size_t i = 0; i < n; i++, byte += 8) {
            for (int k = 0; k < 4; k++) {
                unsigned char keep = byte[k];
                byte[k] = byte[7 - k];
                byte[7 - k] = keep;
            }
        }
    }
}

/* Samples of less than a byte stand in a byte from its high bits down. */
static void unpack(const uint8_t *row, int bits, size_t step, size_t first, size_t n, uint8_t *to)
{
    const unsigned mask = (1u << bits) - 1;
    for (size_t i = 0; i < n; i++) {
        size_t bit = (i * step + first) * (size_t)bits;
        unsigned shift = 8u - (unsigned)bits - (unsigned)(bit & 7);
        to[i] = (uint8_t)((unsigned)row[bit >> 3] >> shift & mask);
    }
}

/* The same of 10, 12 and 14 bits, which lie across bytes. */
static void unpack_wide(const uint8_t *row, int bits, size_t step, size_t first, size_t n, void *to)
{
    uint16_t *out = to;
    for (size_t i = 0; i < n; i++) {
        size_t bit = (i * step + first) * (size_t)bits, last = bit + (size_t)bits - 1;
        unsigned value = 0;
        for (size_t byte = bit >> 3; byte <= last >> 3; byte++) {
            value = value << 8 | row[byte];
        }
        out[i] = (uint16_t)(value >> (7 - (last & 7)) & ((1u << bits) - 1));
    }
}

static inline void gather_bytes(const uint8_t *row, size_t bytes, size_t step, size_t n, uint8_t *to)
{
    for (size_t i = 0; i < n; i++) {
        memcpy(to + i * bytes, row + i * step * bytes, bytes);
    }
}

static void gather(const uint8_t *row, size_t bytes, size_t step, size_t first, size_t n, void *to)
{
    if (step == 1) {
        memcpy(to, row, n * bytes);
        return;
    }
    row += first * bytes;
    switch (bytes) { /* with a size that the compiler knows, samples go through registers */
    case 1:
        gather_bytes(row, 1, step, n, to);
        break;
    case 2:
        gather_bytes(row, 2, step, n, to);
        break;
    case 4:
        gather_bytes(row, 4, step, n, to);
        break;
    default:
        gather_bytes(row, bytes, step, n, to);
    }
}

/* Bytes become 16 bits in place, from the end, so that nothing is overwritten unread. */
static void widen(void *at, size_t n)
{
    const int8_t *from = at;
    int16_t *to = at;
    for (size_t i = n; i-- > 0;) {
        to[i] = from[i];
    }
}

float pixels_from_half(uint16_t half)
{
    int exponent = half >> 10 & 31, fraction = half & 1023;
    double value = exponent == 31  ? (fraction == 0 ? (double)INFINITY : (double)NAN)
                   : exponent == 0 ? ldexp(fraction, -24)
                                   : ldexp(1024 + fraction, exponent - 25);
    return (float)(half >> 15 ? -value : value);
}

void pixels_widen_half(void *at, size_t n)
{
    unsigned char *bytes = at;
    for (size_t i = n; i-- > 0;) {
        uint16_t half;
        memcpy(&half, bytes + 2 * i, sizeof half);
        float wide = pixels_from_half(half);
        memcpy(bytes + 4 * i, &wide, sizeof wide);
    }
}

/* The same for values of a curve. */
static void follow(const float *curve, int bits, void *at, size_t n)
{
    float *to = at;
    const uint8_t *bytes = at;
    const uint16_t *words = at;
    for (size_t i = n; i-- > 0;) {
        to[i] = curve[bits == 8 ? bytes[i] : words[i]];
    }
}

bool pixels_narrow(const uint8_t *from, size_t step, size_t first, size_t n, Elem elem, void *to)
{
    unsigned char *out = to;
    uint64_t lost = 0, value, half = elem == ELEM_I32 ? (uint64_t)1 << 31 : 0; /* what is added leaves no sign */
    for (size_t i = 0; i < n; i++) {
        memcpy(&value, from + (i * step + first) * sizeof value, sizeof value);
        uint32_t narrow = (uint32_t)value; /* of both the low bits */
        memcpy(out + i * sizeof narrow, &narrow, sizeof narrow);
        lost |= (value + half) >> 32;
    }
    return lost == 0;
}

static void turn_signed(void *at, size_t n)
{
    uint16_t *v = at;
    for (size_t i = 0; i < n; i++) {
        v[i] ^= 0x8000;
    }
}

void pixels_invert(void *at, size_t n, Elem elem, int bits)
{
    if (elem == ELEM_U16) {
        uint16_t *v = at, most = (uint16_t)((1u << bits) - 1);
        for (size_t i = 0; i < n; i++) {
            v[i] = (uint16_t)(most - v[i]);
        }
    } else if (elem == ELEM_U32) {
        uint32_t *v = at;
        for (size_t i = 0; i < n; i++) {
            v[i] = ~v[i];
        }
    } else if (elem == ELEM_U8 || elem == ELEM_BOOL) {
        uint8_t *v = at, most = (uint8_t)((1u << bits) - 1);
        for (size_t i = 0; i < n; i++) {
            v[i] = (uint8_t)(most - v[i]);
        }
    }
}

bool pixels_row(const PixelForm *form, const uint8_t *row, int sample, size_t n, void *to)
{
    size_t step = (size_t)form->samples, first = form->map != NULL ? 0 : (size_t)sample;
    bool fits = true;
    if (form->bits < 8) {
        unpack(row, form->bits, step, first, n, to);
    } else if (form->bits % 8 != 0) {
        unpack_wide(row, form->bits, step, first, n, to);
    } else if (form->narrow) {
        fits = pixels_narrow(row, step, first, n, form->elem, to);
    } else {
        gather(row, (size_t)form->bits / 8, step, first, n, to);
    }
    if (form->widen) {
        widen(to, n);
    }
    if (form->half) {
        pixels_widen_half(to, n);
    }
    if (form->invert) {
        pixels_invert(to, n, form->elem, form->bits);
    }
    if (form->offset) {
        turn_signed(to, n);
    }
    if (form->curve != NULL) {
        follow(form->curve, form->bits, to, n);
    }
    if (form->map != NULL) {
        uint8_t *v = to;
        for (size_t i = 0; i < n; i++) {
            v[i] = form->map[sample * 256 + v[i]];
        }
    }
    return fits;
}

bool pixels_fit_file(int64_t x, int64_t y, uint64_t bytes, uint64_t file_size, uint64_t ratio, Err *err)
{
    return bytes <= file_size * ratio ||
           err_set(err, CODE_FILES,
                   "it claims %lld x %lld pixels, and %llu bytes cannot hold them: it is cut off or damaged",
                   (long long)x, (long long)y, (unsigned long long)file_size);
}
