/*
 * border: what stands outside an image, beside the pixels a b c d.
 */
#ifndef BASE_BORDER_H
#define BASE_BORDER_H

typedef enum Border {
    BORDER_NEAREST,  /* a a a | a b c d | d d d */
    BORDER_REFLECT,  /* c b a | a b c d | d c b */
    BORDER_MIRROR,   /* d c b | a b c d | c b a */
    BORDER_WRAP,     /* b c d | a b c d | a b c */
    BORDER_CONSTANT, /* k k k | a b c d | k k k */
    BORDER_KINDS
} Border;

#endif
