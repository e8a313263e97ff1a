/* sky: see sky.h. */
#include "sky.h"

#include "f64_math.h"

static const double DEGREE = 0.017453292519943295769;

/* What a polynomial adds along an axis, by Horner's rule in both. */
static double bent(const Sky *sky, int axis, double u, double v)
{
    double sum = 0;
    for (int i = sky->order[axis]; i >= 0; i--) {
        double inner = 0;
        for (int j = sky->order[axis] - i; j >= 0; j--) {
            inner = inner * v + sky->bend[axis][i][j];
        }
        sum = sum * u + inner;
    }
    return sum;
}

/* The direction that is drawn at (x, y), in radians from the reference point: towards its east, north and itself.  It may be of
 * any length, and is NaN beyond the end of the sphere. */
static void unproject(SkyProjection projection, double x, double y, double to[3])
{
    const double square = x * x + y * y, r = sqrt(square);
    double scale = 1, up = 1;
    switch (projection) {
    case SKY_TAN:
        break;
    case SKY_SIN:
        up = sqrt(1 - square);
        break;
    case SKY_ARC:
        scale = r > 0 ? f64_sin(r) / r : 1;
        up = r <= 180 * DEGREE ? f64_cos(r) : f64_nan();
        break;
    case SKY_STG:
        up = 1 - square / 4;
        break;
    case SKY_ZEA:
        scale = sqrt(1 - square / 4);
        up = 1 - square / 2;
        break;
    case SKY_NONE:
        up = f64_nan();
        break;
    }
    to[0] = x * scale;
    to[1] = y * scale;
    to[2] = up;
}

void sky_of_pixel(const Sky *sky, double x, double y, double *ra, double *dec)
{
    const double u = x - sky->pixel[0], v = y - sky->pixel[1];
    const double across = u + bent(sky, 0, u, v), down = v + bent(sky, 1, u, v);
    double at[3];
    unproject(sky->projection, (sky->step[0][0] * across + sky->step[0][1] * down) * DEGREE,
              (sky->step[1][0] * across + sky->step[1][1] * down) * DEGREE, at);
    /* Turned by the longitude of the pole (180 degrees: north is up), then to the reference point's declination. */
    const double turn = sky->pole * DEGREE, s = f64_sin(turn), c = f64_cos(turn);
    const double tilt = sky->point[1] * DEGREE, sd = f64_sin(tilt), cd = f64_cos(tilt);
    const double north = at[0] * s - at[1] * c, east = -(at[0] * c + at[1] * s);
    const double out = at[2] * cd - north * sd, up = at[2] * sd + north * cd;
    const double angle = f64_rest(sky->point[0] + f64_atan2(east, out) / DEGREE, 360);
    *ra = angle < 360 || isnan(angle) ? angle : 0; /* what is a little below 0 is rounded up to 360 */
    *dec = f64_atan2(up, sqrt(east * east + out * out)) / DEGREE;
}
