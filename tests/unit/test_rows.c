/* Rows on their way: read ahead of whoever asks for them, and written behind into outputs. */
#include "fixtures.h"
#include "runtime/batch/read_ahead.h"
#include "runtime/batch/write_behind.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "images.h"

enum { W = 37, H = 211, D = 3, C = 3 };

static void must(bool ok, const Err *err)
{
    if (!ok) {
        fail_msg("%s", err->text);
    }
}

/* ---- reading --------------------------------------------------------------------------- */

static uint16_t pixel(int64_t c, int64_t z, int64_t y, int64_t x)
{
    return (uint16_t)(pixel_base(0, c, z, y, x) * 257);
}

static void write_input(const char *path, bool rgb)
{
    Err err = {0};
    ImageWriter *writer;
    ImageInfo shape =
        {.x = W, .y = H, .z = rgb ? 1 : D, .c = C, .t = 1, .has_z = !rgb, .has_c = true, .rgb = rgb, .elem = ELEM_U16};
    must(image_create(path, "tif", &shape, ELEM_U16, NULL, &writer, &err), &err);
    for (int64_t p = 0; p < shape.z * C; p++) {
        for (int64_t y = 0; y < H; y++) {
            uint16_t row[W];
            for (int64_t x = 0; x < W; x++) {
                row[x] = pixel(p % C, p / C, y, x);
            }
            must(image_write(writer, 0, p % C, p / C, y, 1, row, sizeof row, &err), &err);
        }
    }
    must(image_commit(writer, &err), &err);
}

static void ask(ReadAhead *ahead, int64_t c, int64_t z, int64_t row, int64_t rows)
{
    enum { PITCH = W + 3 };
    Err err = {0};
    uint16_t *got = calloc((size_t)rows * PITCH, sizeof *got);
    assert_non_null(got);
    must(read_ahead_rows(ahead, 0, c, z, row, rows, got, PITCH * sizeof *got, &err), &err);
    for (int64_t y = 0; y < rows; y++) {
        for (int64_t x = 0; x < W; x++) {
            assert_int_equal(got[y * PITCH + x], pixel(c, z, row + y, x));
        }
        assert_int_equal(got[y * PITCH + W], 0);
    }
    free(got);
}

/* In parts with a halo, twice; then from anywhere. */
static void ask_for_all(ReadAhead *ahead, int64_t planes)
{
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t z = 0; z < planes; z++) {
            for (int64_t row = 0; row < H; row += 50) {
                int64_t from = row > 5 ? row - 5 : 0, to = row + 55 < H ? row + 55 : H;
                for (int64_t c = 0; c < C; c++) {
                    ask(ahead, c, z, from, to - from);
                }
            }
        }
    }
    ask(ahead, 1, planes - 1, H - 1, 1);
    ask(ahead, 2, 0, 7, 1);
    ask(ahead, 0, 0, 0, H);
    ask(ahead, 0, 0, H / 2, 0);
}

static void rows_come_in_any_order(void **state)
{
    (void)state;
    static const size_t BYTES[] = {1, 40000, 10000000};
    static const ProgInput input = {.name = "image", .axes = "zyxc", .elem = ELEM_FILE, .channel = -1};
    static const Program program = {.name = "test", .inputs = &input, .n_inputs = 1};
    for (int k = 0; k < 6; k++) {
        bool rgb = k >= 3;
        char path[] = "in.tif", *paths[] = {path};
        BatchItem item = {.inputs = paths, .name = path};
        VolumeCache cache;
        Reader *reader;
        ReadAhead *ahead;
        Crew *crew = k % 2 != 0 ? crew_new(2) : NULL;
        Err err = {0};
        write_input(path, rgb);
        must(volume_cache_init(&cache, 1, NULL, &err), &err);
        must(reader_open(&program, &item, &(Options){.params = NULL}, false, &cache, &reader, &err), &err);
        must(read_ahead_start(&program, reader, 0, BYTES[k % 3], crew, &ahead, &err), &err);
        ask_for_all(ahead, rgb ? 1 : D);
        read_ahead_stop(ahead);
        crew_free(crew);
        reader_close(reader);
        volume_cache_free(&cache);
    }
}

static void a_damaged_file_fails_where_it_is_damaged(void **state)
{
    (void)state;
    static const ProgInput input = {.name = "image", .axes = "zyxc", .elem = ELEM_FILE, .channel = -1};
    static const Program program = {.name = "test", .inputs = &input, .n_inputs = 1};
    char path[] = "in.tif", *paths[] = {path};
    uint16_t row[W];
    BatchItem item = {.inputs = paths, .name = path};
    VolumeCache cache;
    Reader *reader;
    ReadAhead *ahead;
    Err err = {0};
    write_input(path, false);
    must(volume_cache_init(&cache, 1, NULL, &err), &err);
    must(reader_open(&program, &item, &(Options){.params = NULL}, false, &cache, &reader, &err), &err);
    assert_int_equal(truncate(path, 16 + W * H), 0);
    must(read_ahead_start(&program, reader, 0, 1, NULL, &ahead, &err), &err);
    assert_false(read_ahead_rows(ahead, 0, 0, D - 1, H - 1, 1, row, sizeof row, &err));
    assert_non_null(strstr(err.text, "cannot read 'in.tif'"));
    read_ahead_stop(ahead);
    reader_close(reader);
    volume_cache_free(&cache);
}

/* ---- writing --------------------------------------------------------------------------- */

enum { FILM = 3 };

/* Labels of frame f: the row's number in the first columns, `more` of the last frame in one pixel.
 */
static uint32_t label(int64_t frame, int64_t y, int64_t x, uint32_t more)
{
    return x < 10 ? (uint32_t)y : frame == FILM - 1 && y == H - 2 && x == W - 1 ? more : 0;
}

/* Frame `at` of the sink gets the pixels of frame `frame`. */
static void put_frame(Sink *sink, const Program *program, int64_t at, int64_t frame, double most, uint32_t more)
{
    uint32_t pixels[2 * H][W];
    Err err = {0};
    WriteBehind *behind;
    Results *results;
    SinkRows rows = {.grid = {.w = W, .h = H, .d = 1, .c = 1, .planes = 1},
                     .elem = ELEM_U32,
                     .most = most,
                     .pitch = 2 * sizeof *pixels};
    for (int64_t y = 0; y < H; y++) {
        for (int64_t x = 0; x < W; x++) {
            pixels[2 * y][x] = label(frame, y, x, more);
        }
    }
    must(write_behind_start(sink, at, 1, NULL, &behind, &err), &err);
    for (; rows.row < H; rows.row += rows.rows) {
        rows.rows = H - rows.row < 17 ? H - rows.row : 17;
        rows.pixels = pixels[2 * rows.row];
        must(write_behind_rows(behind, &rows, &err), &err);
    }
    must(write_behind_finish(behind, &err), &err);
    must(results_new(program, &results, &err), &err);
    if (program->outputs[0].value >= 0) {
        results->values[0] = fmax(H - 1, frame == FILM - 1 ? more : 0);
    }
    must(sink_frame(sink, at, results, &err), &err);
    results_free(results);
}

static void assert_written(const char *path, int64_t first, int64_t n, Elem elem, uint32_t more)
{
    Err err = {0};
    ImageFile *file;
    must(image_open(path, &file, &err), &err);
    const ImageInfo *info = image_info(file);
    assert_true(info->x == W && info->y == H && info->t == n && info->elem == elem);
    char *row = malloc(W * elem_size(elem));
    assert_non_null(row);
    for (int64_t t = 0; t < n; t++) {
        for (int64_t y = 0; y < H; y++) {
            must(image_read(file, t, 0, 0, y, 1, row, W * elem_size(elem), &err), &err);
            for (size_t x = 0; x < W; x++) {
                assert_true(pixel_get(elem, row, x) == label(first + t, y, (int64_t)x, more));
            }
        }
    }
    free(row);
    image_close(file);
}

/* `counted`: the program has a value with the number of labels. */
static void write_film(int64_t n, const char *format, bool counted, double most, uint32_t more)
{
    Err err = {0};
    ProgOutput output = {.name = "labels",
                         .format = format,
                         .kind = OUT_LABELS,
                         .value = counted ? 0 : -1,
                         .axes = "yx"};
    Program program = {.name = "test", .outputs = &output, .n_outputs = 1, .n_values = 1};
    char path[20], *paths[] = {path}, name[] = "in";
    BatchItem item = {.outputs = paths, .name = name};
    Frames frames = {.n = n, .extent = {n, 1, 1}, .looped = {n > 1}};
    SinkSource source = {.item = &item, .frames = &frames};
    Sink *sink;
    snprintf(path, sizeof path, "out.%s", format);
    must(sink_new(&program, &source, &sink, &err), &err);
    for (int64_t frame = 0; frame < n; frame++) {
        put_frame(sink, &program, frame, n == 1 ? FILM - 1 : frame, most, more);
    }
    must(sink_commit(sink, &err), &err);
    sink_free(sink);
}

/* The type follows from the largest label, whether it is known early, late or never. */
static void labels_get_their_type(void **state)
{
    (void)state;
    static const uint32_t MORE[] = {65535, 65536};
    for (int i = 0; i < 2; i++) {
        Elem elem = i == 0 ? ELEM_U16 : ELEM_U32;
        for (int how = 0; how < 3; how++) {
            double most = how == 0 ? (double)MORE[i] : NAN;
            write_film(1, "tif", how == 1, most, MORE[i]);
            assert_written("out.tif", FILM - 1, 1, elem, MORE[i]);
            write_film(FILM, "tif", how == 1, most, MORE[i]);
            assert_written("out.tif", 0, FILM, elem, MORE[i]);
        }
    }
}

static void formats_without_stacks_get_a_file_a_frame(void **state)
{
    (void)state;
    for (int how = 0; how < 3; how++) {
        write_film(FILM, "png", how == 1, how == 0 ? 65535 : NAN, 65535);
        for (int frame = 0; frame < FILM; frame++) {
            char path[20];
            snprintf(path, sizeof path, "out_%d.png", frame);
            assert_written(path, frame, 1, ELEM_U16, 65535);
            assert_int_equal(unlink(path), 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rows_come_in_any_order, folder_enter, folder_leave),
        cmocka_unit_test_setup_teardown(a_damaged_file_fails_where_it_is_damaged, folder_enter, folder_leave),
        cmocka_unit_test_setup_teardown(labels_get_their_type, folder_enter, folder_leave),
        cmocka_unit_test_setup_teardown(formats_without_stacks_get_a_file_a_frame, folder_enter, folder_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
