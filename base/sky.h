/*
 * sky: where the pixels of an image lie on the sky: right ascension and declination, and places on the unit sphere.
 *
 * FITS papers I and II (Greisen and Calabretta 2002; Calabretta and Greisen 2002) say how a header tells it: the pixel of
 * a reference point, a matrix of steps, a projection about that point (here one of those that are about a point), and the
 * point's coordinates.  SIP (Shupe and others 2005) bends pixels by polynomials before that.
 *
 * All in double by base/f64_math.h, so that the same header and pixel give the same bits everywhere.  Pixels count from 0, at
 * their middles.
 */
#ifndef BASE_SKY_H
#define BASE_SKY_H

#include "err.h"

#include <stdbool.h>

/* How far from the reference point a direction is drawn that lies an angle t away from it. */
typedef enum SkyProjection {
    SKY_NONE, /* there are no coordinates: Sky.why */
    SKY_TAN,  /* tan t */
    SKY_SIN,  /* sin t */
    SKY_ARC,  /* t */
    SKY_STG,  /* 2 tan(t / 2) */
    SKY_ZEA   /* 2 sin(t / 2) */
} SkyProjection;

enum { SKY_ORDER = 9, SKY_WHY = 112 };

/* Axis 0 is right ascension, growing to the east, axis 1 declination; degrees. */
typedef struct Sky {
    SkyProjection projection;
    double pixel[2];                              /* the reference point along x and y */
    double step[2][2];                            /* step[axis][x or y] */
    double point[2];                              /* RA and Dec of the reference point */
    double pole;                                  /* native longitude of the celestial pole: LONPOLE */
    int order[2];                                 /* SIP: of the polynomials for x and y; 0: none */
    double bend[2][SKY_ORDER + 1][SKY_ORDER + 1]; /* their coefficients of u ** i v ** j, i + j <= order */
    char why[SKY_WHY];                            /* SKY_NONE: the reason, behind a colon; "" where nothing is known */
} Sky;

/* RA, from 0 up to 360, and Dec of a place, degrees; NaN where the projection has none. */
void sky_of_pixel(const Sky *sky, double x, double y, double *ra, double *dec);

/*
 * The pixels of one image that lie where those of another one do: (x, y) of `to` is at (a, b) / c of `from`, where a, b and c are the
 * rows of `map` times (x, y, 1), and c is above 0 within 90 degrees of from's reference point.  That is all there is to it
 * between tangent planes without distortion: fails for others, with words that go on behind a name.  The same sky, by its address, is
 * mapped to itself whatever it is.
 */
bool sky_map(const Sky *from, const Sky *to, double map[3][3], Err *err);

#endif
