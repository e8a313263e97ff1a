/* Pieces of one job, done by several threads: each once, and all before the caller goes on. */
#include "runtime/host/crew.h"

#include "fixtures.h"
#include "runtime/files/image.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { PIECES = 100, ROWS = 300, ROUNDS = 200 };

static void count_piece(void *context, int piece)
{
    atomic_int *done = context;
    atomic_fetch_add(&done[piece], 1);
}

static void pieces_are_done_once(void **state)
{
    (void)state;
    Crew *crew = crew_new(3);
    assert_non_null(crew);
    for (int round = 0; round < ROUNDS; round++) {
        atomic_int done[PIECES] = {0};
        int pieces = round % (PIECES + 1);
        crew_run(round % 7 == 0 ? NULL : crew, count_piece, done, pieces);
        for (int i = 0; i < PIECES; i++) {
            assert_int_equal(done[i], i < pieces);
        }
    }
    crew_free(crew);
    crew_free(NULL);
}

static void pieces_are_worth_it(void **state)
{
    (void)state;
    Crew *crew = crew_new(3);
    assert_int_equal(crew_pieces(NULL, (size_t)1 << 30), 1);
    assert_int_equal(crew_pieces(crew, 0), 1);
    assert_int_equal(crew_pieces(crew, 1 << 20), 2);
    assert_int_equal(crew_pieces(crew, (size_t)1 << 30), 4);
    crew_free(crew);
}

/* Rows of every pitch, many enough to be shared. */
static void rows_are_copied(void **state)
{
    (void)state;
    static const size_t PITCHES[][2] = {{5000, 5000}, {5000, 6000}, {7000, 5000}, {6000, 6000}};
    Crew *crew = crew_new(3);
    uint8_t *from = malloc(7000 * ROWS), *to = malloc(7000 * ROWS);
    assert_true(from != NULL && to != NULL);
    for (size_t i = 0; i < 7000 * ROWS; i++) {
        from[i] = (uint8_t)(i * 31 >> 3);
    }
    for (size_t k = 0; k < sizeof PITCHES / sizeof *PITCHES; k++) {
        memset(to, 0, 7000 * ROWS);
        crew_copy(crew, to, PITCHES[k][0], from, PITCHES[k][1], 5000, ROWS);
        for (size_t y = 0; y < ROWS; y++) {
            assert_memory_equal(to + y * PITCHES[k][0], from + y * PITCHES[k][1], 5000);
        }
        for (size_t y = 0; y < ROWS; y++) {
            for (size_t x = 5000; x < PITCHES[k][0]; x++) {
                assert_int_equal(to[y * PITCHES[k][0] + x], 0);
            }
        }
    }
    free(from);
    free(to);
    crew_free(crew);
}

/* ---- files ----------------------------------------------------------------------------- */

enum { W = 700, H = 90 };

typedef struct Reading {
    ImageFile *file;
    uint16_t *to;
    atomic_int failed;
} Reading;

static void read_piece(void *context, int piece)
{
    Reading *r = context;
    Err err = {0};
    bool ok = image_read(r->file, 0, 0, 0, piece, 1, r->to + (size_t)piece * W, W * 2, &err);
    atomic_fetch_add(&r->failed, !ok);
}

/* A plain TIFF file lets several threads read; others say that they do not. */
static void files_are_read_by_several(void **state)
{
    (void)state;
    static uint16_t pixels[W * H], got[W * H];
    ImageInfo shape = {.x = W, .y = H, .z = 1, .c = 1, .t = 1, .elem = ELEM_U16};
    Err err = {0};
    for (int i = 0; i < W * H; i++) {
        pixels[i] = (uint16_t)(i * 7);
    }
    static const char *const NAMES[] = {"a.tif", "a.png"};
    for (int k = 0; k < 2; k++) {
        ImageWriter *writer;
        Reading r = {.to = got};
        assert_true(image_create(NAMES[k], NAMES[k] + 2, &shape, ELEM_U16, NULL, &writer, &err));
        assert_true(image_write(writer, 0, 0, 0, 0, H, pixels, W * 2, &err));
        assert_true(image_commit(writer, &err));
        assert_true(image_open(NAMES[k], &r.file, &err));
        assert_int_equal(image_shares(r.file), k == 0);
        Crew *crew = k == 0 ? crew_new(3) : NULL;
        memset(got, 0, sizeof got);
        crew_run(crew, read_piece, &r, H);
        assert_int_equal(r.failed, 0);
        assert_memory_equal(got, pixels, sizeof got);
        crew_free(crew);
        image_close(r.file);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pieces_are_done_once), cmocka_unit_test(pieces_are_worth_it),
                                       cmocka_unit_test(rows_are_copied),
                                       cmocka_unit_test_setup_teardown(files_are_read_by_several, folder_enter,
                                                                       folder_leave)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
