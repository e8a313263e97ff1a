/*
 * image_fits_sky: right ascension and declination in a FITS header.
 *
 * Understood are the first two axes, whichever of them is which, with the steps as CD, as PC or CROTA2 with CDELT, the
 * projections of sky.h, and SIP; what astropy and wcslib leave out has the value that it has there.  All else is refused with the
 * reason, rather than taken for something near it: other projections, tables of distortions, polynomials in PV (TPV), steps that
 * mix the sky with a third axis, coordinates that are not RA and Dec.
 */
#include "image_fits_sky.h"

#include "image_fits_place.h"

#include "../../base/f64_math.h"

#include <stdio.h>
#include <string.h>

typedef struct Cards {
    const char *header;
    Sky *sky;
    int axis[2]; /* the number, from 1, of the axis that is RA, and of that which is Dec */
} Cards;

/* The first reason counts. */
static bool no_sky(Sky *sky, const char *why)
{
    snprintf(sky->why, sizeof sky->why, "%s", why);
    return false;
}

static double number(const Cards *c, const char *key, double otherwise)
{
    const char *card = fits_card(c->header, key);
    return card != NULL ? fits_number(card) : otherwise;
}

static double of_axis(const Cards *c, const char *name, int i, double otherwise)
{
    char key[16];
    snprintf(key, sizeof key, "%s%d", name, i);
    return number(c, key, otherwise);
}

static double of_pair(const Cards *c, const char *name, int i, int j, double otherwise)
{
    char key[32];
    snprintf(key, sizeof key, "%s%d_%d", name, i, j);
    return number(c, key, otherwise);
}

static const char *type_of(const Cards *c, int axis)
{
    char key[16];
    snprintf(key, sizeof key, "CTYPE%d", axis);
    return fits_text(fits_card(c->header, key));
}

static bool read_axes(Cards *c)
{
    static const char *const NAMES[] = {"RA--", "DEC-"};
    for (int i = 0; i < 2; i++) {
        c->axis[i] = strncmp(type_of(c, 1), NAMES[i], 4) == 0 ? 1 : strncmp(type_of(c, 2), NAMES[i], 4) == 0 ? 2 : 0;
    }
    return (c->axis[0] != 0 && c->axis[1] != 0) || no_sky(c->sky, "CTYPE1 and CTYPE2 are not of RA and DEC");
}

static bool read_projection(Cards *c)
{
    static const char *const NAMES[] =
        {[SKY_TAN] = "TAN", [SKY_SIN] = "SIN", [SKY_ARC] = "ARC", [SKY_STG] = "STG", [SKY_ZEA] = "ZEA"};
    const char *type[2] = {type_of(c, c->axis[0]) + 4, type_of(c, c->axis[1]) + 4};
    for (int k = SKY_TAN; k <= SKY_ZEA; k++) {
        const size_t n = strspn(type[0], "-");
        const char *end = strncmp(type[0] + n, NAMES[k], 3) == 0 ? type[0] + n + 3 : "";
        const bool same = strncmp(type[1] + strspn(type[1], "-"), NAMES[k], 3) == 0;
        if (same && (*end == ' ' || *end == '\'' || strncmp(end, "-SIP", 4) == 0)) {
            c->sky->projection = (SkyProjection)k;
            return true;
        }
    }
    char why[SKY_WHY];
    snprintf(why, sizeof why, "the projection %.3s is none of TAN, SIN, ARC, STG and ZEA",
             type[0] + strspn(type[0], "-"));
    return no_sky(c->sky, why);
}

/* What distorts otherwise than SIP does. */
static bool check_distortion(const Cards *c)
{
    static const char *const TABLES[] = {"CPDIS", "CQDIS", "D2IMDIS"};
    for (int i = 1; i <= 2; i++) {
        for (int k = 0; k < 3; k++) {
            char key[16];
            snprintf(key, sizeof key, "%s%d", TABLES[k], i);
            if (fits_card(c->header, key) != NULL) {
                return no_sky(c->sky, "its distortion is a table (CPDIS), and not SIP");
            }
        }
        for (int m = 0; m < 40; m++) {
            const bool pole = i == c->axis[0] && (m == 3 || m == 4);
            if (!pole && of_pair(c, "PV", i, m, 0) != 0) {
                return no_sky(c->sky, "it has numbers PV of a distortion or another reference point");
            }
        }
        for (int k = 3; k <= 9; k++) {
            if (of_pair(c, "CD", i, k, 0) != 0 || of_pair(c, "PC", i, k, 0) != 0 || of_pair(c, "CD", k, i, 0) != 0 ||
                of_pair(c, "PC", k, i, 0) != 0) {
                return no_sky(c->sky, "its steps mix the sky with a third axis");
            }
        }
    }
    return true;
}

/* Degrees in the unit of an axis; 0: it is no angle that is known. */
static double unit_of(const Cards *c, int axis)
{
    static const struct {
        const char *name;
        double degrees;
    } UNITS[] = {{"deg", 1},
                 {"arcmin", 1.0 / 60},
                 {"arcsec", 1.0 / 3600},
                 {"mas", 1.0 / 3600000},
                 {"rad", 57.295779513082320877}};
    char key[16];
    snprintf(key, sizeof key, "CUNIT%d", axis);
    const char *unit = fits_text(fits_card(c->header, key));
    if (*unit == '\0' || *unit == '/') {
        return 1;
    }
    for (size_t i = 0; i < sizeof UNITS / sizeof *UNITS; i++) {
        const size_t n = strlen(UNITS[i].name);
        if (strncmp(unit, UNITS[i].name, n) == 0 &&
            (unit[n] == '\'' || unit[n] == ' ' || strncmp(unit + n, "ree", 3) == 0)) {
            return UNITS[i].degrees;
        }
    }
    return 0;
}

/* steps[i][j] along axis i + 1 of the sky from pixel to pixel along axis j + 1, in the axis's unit. */
static void read_steps(const Cards *c, double steps[2][2])
{
    bool cd = false, pc = false;
    for (int k = 0; k < 4; k++) {
        char key[16];
        snprintf(key, sizeof key, "CD%d_%d", 1 + k / 2, 1 + k % 2);
        cd = cd || fits_card(c->header, key) != NULL;
        snprintf(key, sizeof key, "PC%d_%d", 1 + k / 2, 1 + k % 2);
        pc = pc || fits_card(c->header, key) != NULL;
    }
    const double size[2] = {of_axis(c, "CDELT", 1, 1), of_axis(c, "CDELT", 2, 1)};
    const double turn = of_axis(c, "CROTA", c->axis[1], 0) * 0.017453292519943295769;
    for (int k = 0; k < 4; k++) {
        const int i = k / 2, j = k % 2;
        const double same = of_pair(c, cd ? "CD" : "PC", i + 1, j + 1, i == j && !cd ? 1 : 0);
        const double turned = i == j ? size[i] * f64_cos(turn) : (i < j ? -size[j] : size[j]) * f64_sin(turn);
        steps[i][j] = cd ? same : pc || turn == 0 ? same * size[i] : turned;
    }
}

static bool read_place(Cards *c)
{
    double steps[2][2];
    read_steps(c, steps);
    if (steps[0][0] * steps[1][1] == steps[0][1] * steps[1][0]) {
        return no_sky(c->sky, "its steps from pixel to pixel lie on a line");
    }
    for (int k = 0; k < 2; k++) {
        const int axis = c->axis[k];
        const double unit = unit_of(c, axis);
        if (unit == 0) {
            return no_sky(c->sky, "CUNIT is no angle that is known");
        }
        c->sky->pixel[k] = of_axis(c, "CRPIX", k + 1, 0) - 1;
        c->sky->point[k] = of_axis(c, "CRVAL", axis, 0) * unit;
        c->sky->step[k][0] = steps[axis - 1][0] * unit;
        c->sky->step[k][1] = steps[axis - 1][1] * unit;
    }
    const double usual = c->sky->point[1] >= 90 ? 0 : 180;
    c->sky->pole = of_pair(c, "PV", c->axis[0], 3, number(c, "LONPOLE", usual));
    return true;
}

static bool read_sip(Cards *c)
{
    static const char *const NAMES[] = {"A_", "B_"};
    for (int k = 0; k < 2; k++) {
        char key[32];
        snprintf(key, sizeof key, "%sORDER", NAMES[k]);
        const double order = number(c, key, 0);
        if (!(order >= 0 && order <= SKY_ORDER)) {
            return no_sky(c->sky, "the order of its SIP polynomials is not 0 to 9");
        }
        c->sky->order[k] = (int)order;
        for (int i = 0; i <= c->sky->order[k]; i++) {
            for (int j = 0; i + j <= c->sky->order[k]; j++) {
                snprintf(key, sizeof key, "%s%d_%d", NAMES[k], i, j);
                c->sky->bend[k][i][j] = number(c, key, 0);
            }
        }
    }
    return true;
}

void fits_sky(const char *header, Sky *sky)
{
    *sky = (Sky){.projection = SKY_NONE};
    Cards c = {.header = header, .sky = sky};
    if (!read_axes(&c) || !read_projection(&c) || !check_distortion(&c) || !read_place(&c) || !read_sip(&c)) {
        sky->projection = SKY_NONE;
    }
}
