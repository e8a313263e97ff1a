/* runs: what is packed is what zlib unpacks, and short where there are runs. */
#include "runtime/files/runs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <zlib.h>
#include <cmocka.h>

enum { MOST = 1 << 16, PIECE = 1000 };

static unsigned char from[MOST], packed[2 * MOST], back[MOST];

static uint32_t next(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/* Runs of up to `longest` pixels, a third of whose bytes are not 0. */
static void fill(size_t bytes, size_t unit, uint32_t longest, uint32_t *seed)
{
    for (size_t i = 0; i < bytes;) {
        unsigned char pixel[RUNS_UNIT_MOST];
        for (size_t k = 0; k < unit; k++) {
            pixel[k] = next(seed) % 3 == 0 ? (unsigned char)next(seed) : 0;
        }
        for (size_t n = unit * (1 + next(seed) % longest); n > 0 && i < bytes; n--, i++) {
            from[i] = pixel[i % unit];
        }
    }
}

static void assert_same(size_t bytes, size_t size)
{
    uLongf n = sizeof back;
    assert_true(size > 0);
    assert_int_equal(uncompress(back, &n, packed, (uLong)size), Z_OK);
    assert_int_equal(n, bytes);
    assert_memory_equal(back, from, bytes);
}

static void zlib_unpacks_it(void **state)
{
    (void)state;
    uint32_t seed = 1;
    RunsCode code;
    runs_code(&code);
    for (int i = 0; i < 3000; i++) {
        size_t unit = 1 + (size_t)i % RUNS_UNIT_MOST, bytes = next(&seed) % 3000;
        fill(bytes, unit, 1 + next(&seed) % 600, &seed);
        assert_same(bytes, runs_pack(&code, unit, from, bytes, packed, sizeof packed));
    }
}

static void pieces_are_one_stream(void **state)
{
    (void)state;
    uint32_t seed = 2;
    Runs runs;
    RunsCode code;
    runs_code(&code);
    for (size_t unit = 1; unit <= RUNS_UNIT_MOST; unit++) {
        fill(MOST, unit, 500, &seed);
        size_t whole = runs_pack(&code, unit, from, MOST, packed, sizeof packed);
        runs_begin(&runs, &code, unit, packed, sizeof packed);
        for (size_t at = 0; at < MOST; at += PIECE) {
            assert_true(runs_add(&runs, from + at, MOST - at < PIECE ? MOST - at : PIECE));
        }
        size_t size = runs_end(&runs);
        assert_same(MOST, size);
        assert_in_range(size, 1, whole + 4 * (MOST / PIECE)); /* a piece may cut a run in two */
    }
}

/* The background takes two bits for 258 bytes; what is no run is given back. */
static void runs_become_short(void **state)
{
    (void)state;
    uint32_t seed = 3;
    RunsCode code;
    runs_code(&code);
    memset(from, 0, MOST);
    assert_in_range(runs_pack(&code, 2, from, MOST, packed, sizeof packed), 1, MOST / 1000 + 100);
    for (size_t i = 0; i < MOST; i++) {
        from[i] = (unsigned char)next(&seed);
    }
    assert_int_equal(runs_pack(&code, 2, from, MOST, packed, MOST / 12), 0);
    for (size_t room = 0; room < 300; room++) { /* and nothing is written beyond the room */
        packed[room] = 77;
        size_t size = runs_pack(&code, 1, from, 150, packed, room);
        assert_true(size <= room);
        assert_int_equal(packed[room], 77);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zlib_unpacks_it),
        cmocka_unit_test(pieces_are_one_stream),
        cmocka_unit_test(runs_become_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
