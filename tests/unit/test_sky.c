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
    int cases = 0, places = 0, refused = 0;
    Sky sky = {.projection = SKY_NONE};
    FILE *f = fopen(TEST_DATA "/sky.txt", "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (sscanf(line, "case %63s", name) == 1) {
            read_header(f, header);
            fits_sky(header, &sky);
            cases++;
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
    assert_true(cases >= 40 && places >= 190 && refused >= 11);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_astropy)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
