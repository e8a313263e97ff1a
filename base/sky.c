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

static void multiply(double a[3][3], double b[3][3], double to[3][3])
{
    for (int k = 0; k < 9; k++) {
        const int i = k / 3, j = k % 3;
        to[i][j] = a[i][0] * b[0][j] + a[i][1] * b[1][j] + a[i][2] * b[2][j];
    }
}

/* From the tangent plane, (x, y, 1) in radians, to the sphere; the other way it is transposed. */
static void turn_of(const Sky *sky, bool transposed, double to[3][3])
{
    const double turn = sky->pole * DEGREE, s = f64_sin(turn), c = f64_cos(turn);
    const double tilt = sky->point[1] * DEGREE, sd = f64_sin(tilt), cd = f64_cos(tilt);
    const double about = sky->point[0] * DEGREE, sa = f64_sin(about), ca = f64_cos(about);
    /* The axes of the plane and of what points at its middle. */
    const double axes[3][3] = {{-s * sd * ca + c * sa, -s * sd * sa - c * ca, s * cd},
                               {c * sd * ca + s * sa, c * sd * sa - s * ca, -c * cd},
                               {cd * ca, cd * sa, sd}};
    for (int k = 0; k < 9; k++) {
        to[k / 3][k % 3] = transposed ? axes[k / 3][k % 3] : axes[k % 3][k / 3];
    }
}

static bool is_plain(const Sky *sky, Err *err)
{
    if (sky->projection == SKY_NONE) {
        return err_set(err, CODE_FILES, "has no RA and Dec: %s",
                       sky->why[0] != '\0' ? sky->why : "nothing is known of them");
    }
    const bool bent = sky->order[0] > 0 || sky->order[1] > 0;
    return (sky->projection == SKY_TAN && !bent) ||
           err_set(err, CODE_FILES,
                   "is not in the projection TAN without distortion, between which images are reprojected");
}

bool sky_map(const Sky *from, const Sky *to, double map[3][3], Err *err)
{
    for (int k = 0; k < 9; k++) {
        map[k / 3][k % 3] = k % 4 == 0;
    }
    if (from == to) {
        return true;
    }
    TRY(is_plain(from, err) && is_plain(to, err));
    double plane[3][3], up[3][3], down[3][3], pixels[3][3], sphere[3][3], back[3][3];
    for (int i = 0; i < 2; i++) {
        plane[i][0] = to->step[i][0] * DEGREE;
        plane[i][1] = to->step[i][1] * DEGREE;
        plane[i][2] = -(plane[i][0] * to->pixel[0] + plane[i][1] * to->pixel[1]);
        plane[2][i] = pixels[2][i] = 0;
        pixels[i][2] = from->pixel[i];
    }
    plane[2][2] = pixels[2][2] = 1;
    const double area = (from->step[0][0] * from->step[1][1] - from->step[0][1] * from->step[1][0]) * DEGREE;
    pixels[0][0] = from->step[1][1] / area;
    pixels[0][1] = -from->step[0][1] / area;
    pixels[1][0] = -from->step[1][0] / area;
    pixels[1][1] = from->step[0][0] / area;
    turn_of(to, false, up);
    turn_of(from, true, down);
    multiply(up, plane, sphere);
    multiply(down, sphere, back);
    multiply(pixels, back, map);
    return true;
}
