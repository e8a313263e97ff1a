/* test_sky: RA and Dec of pixels by the headers of sky.txt, as astropy has them to 1e-9 degrees on the sky, and headers that are refused. */
#include "../../runtime/files/image_fits_sky.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { CARDS = 64, CARD = 80 };

/* The cards up to `end`, as a file has them. */
static void read_header(FILE *f, char *header)
{
    char line[256];
    memset(header, '\0', CARDS * CARD);
    for (int n = 0; fgets(line, sizeof line, f) != NULL && strcmp(line, "end\n") != 0; n++) {
        assert_true(n + 1 < CARDS);
        memset(header + (ptrdiff_t)n * CARD, ' ', CARD);
        memcpy(header + (ptrdiff_t)n * CARD, line, strcspn(line, "\n"));
    }
}

/* Where a pixel of one image lies on another one, both have the same RA and Dec. */
static void check_map(const char *name, const Sky *from, const Sky *to)
{
    double map[3][3];
    Err err = {0};
    for (int k = 0; k < 4; k++) {
        const double at[3] = {k % 2 * 900, k / 2 * 500, 1};
        double on[3], ra[2], dec[2];
        assert_true(sky_map(from, to, map, &err));
        for (int i = 0; i < 3; i++) {
            on[i] = map[i][0] * at[0] + map[i][1] * at[1] + map[i][2] * at[2];
        }
        if (on[2] <= 0) {
            continue; /* more than 90 degrees away */
        }
        sky_of_pixel(to, at[0], at[1], &ra[0], &dec[0]);
        sky_of_pixel(from, on[0] / on[2], on[1] / on[2], &ra[1], &dec[1]);
        const double turn = fabs(ra[0] - ra[1]),
                     across = (turn > 180 ? 360 - turn : turn) * cos(dec[0] * 0.017453292519943295);
        if (!(across <= 1e-9 && fabs(dec[0] - dec[1]) <= 1e-9)) {
            fail_msg("%s at %g, %g: %.17g, %.17g and %.17g, %.17g", name, at[0], at[1], ra[0], dec[0], ra[1], dec[1]);
        }
    }
}

static void check_place(const char *name, const Sky *sky, const char *line)
{
    double x, y, ra, dec, got_ra, got_dec;
    assert_int_equal(sscanf(line, "%lf %lf %lf %lf", &x, &y, &ra, &dec), 4);
    sky_of_pixel(sky, x, y, &got_ra, &got_dec);
    const double turn = fabs(got_ra - ra), across = (turn > 180 ? 360 - turn : turn) * cos(dec * 0.017453292519943295);
    const bool none = isnan(ra) && isnan(got_ra) && isnan(got_dec);
    if (!none && !(across <= 1e-9 && fabs(got_dec - dec) <= 1e-9 && got_ra >= 0 && got_ra < 360)) {
        fail_msg("%s at %g, %g: %.17g, %.17g and not %.17g, %.17g (%s)", name, x, y, got_ra, got_dec, ra, dec,
                 sky->why);
    }
}

static void test_astropy(void **state)
{
    (void)state;
    static char header[CARDS * CARD];
    char line[256], name[64] = "";
    int cases = 0, places = 0, refused = 0, maps = 0;
    Sky sky = {.projection = SKY_NONE}, before = sky;
    FILE *f = fopen(TEST_DATA "/sky.txt", "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (sscanf(line, "case %63s", name) == 1) {
            read_header(f, header);
            before = sky.projection == SKY_TAN && sky.order[0] == 0 ? sky : before;
            fits_sky(header, &sky);
            cases++;
            if (sky.projection == SKY_TAN && sky.order[0] == 0 && before.projection == SKY_TAN) {
                check_map(name, &before, &sky);
                check_map(name, &sky, &before);
                maps++;
            }
        } else if (strncmp(line, "refused ", 8) == 0) {
            if (sky.projection != SKY_NONE || strstr(sky.why, line + 8) == NULL) {
                fail_msg("%s is not refused for its %s: %s", name, line + 8, sky.why);
            }
            refused++;
        } else {
            check_place(name, &sky, line);
            places++;
        }
    }
    fclose(f);
    assert_true(cases >= 40 && places >= 190 && refused >= 11 && maps >= 15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_astropy)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
