/*
 * The command line from end to end: pipelines are compiled in memory, images are written into a
 * fresh folder, and what appears there is compared with what is known about them.
 */
#include "fixtures.h"
#include "base/file.h"
#include "codegen/codegen.h"
#include "frontend/diag/diag.h"
#include "frontend/elaborate/elaborate.h"
#include "passes/pass.h"
#include "runtime/files/image.h"
#include "runtime/main.h"
#include "runtime/host/signals.h"

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

enum { W = 40, H = 30 };

/* ---- pipelines ------------------------------------------------------------------------- */

typedef struct Pipeline {
    const char *name, *text;
    Arena arena;
    Source source;
    const Program *program;
} Pipeline;

/* One for most tests, so that few kernels are compiled. */
static Pipeline spots = {.name = "spots",
                         .text = "# spots.pipe: bright spots\n"
                                 "input image[y, x]\n"
                                 "param level = 100.0 in 0 .. 1000\n"
                                 "spots = label(image > level)\n"
                                 "output spots\n"
                                 "output table = measure(spots, image, area, max)\n"
                                 "output peak = max(image)\n"};
static Pipeline ratio = {.name = "ratio",
                         .text = "input image[y, x]\n"
                                 "input flat[y, x]\n"
                                 "output ratio = image / flat\n"};
static Pipeline picture = {.name = "picture",
                           .text = "input image[y, x]\n"
                                   "output picture = label2rgb(label(image > 100)) as png\n"
                                   "output mask = image > 100\n"};
static Pipeline green = {.name = "green",
                         .text = "input image[y, x, c]\n"
                                 "output green = image[c = 1] + 1\n"};
static Pipeline gains = {.name = "gains",
                         .text = "input image[c, y, x]\n"
                                 "input flat[c, y, x]\n"
                                 "output gain = max(flat[c = channels(image) - 1])\n"};
static Pipeline halves = {.name = "halves",
                          .text = "input image[y, x]\n"
                                  "half = downscale(image, 2)\n"
                                  "output half\n"
                                  "output sky = half[x = x_of(half), y = y_of(half) + 3] as fits\n"};
static Pipeline twice = {.name = "twice",
                         .text = "input image[y, x]\n"
                                 "input cells[y, x] : labels\n"
                                 "spots = label(image > 100)\n"
                                 "output spots\n"
                                 "output again = spots\n"
                                 "output kept = cells\n"
                                 "output moved = cells[dx = 1]\n"};
static Pipeline ramp = {.name = "steps",
                        .text = "n = ramp(x = 10)\n"
                                "output twice = n * 2\n"
                                "output total = sum(n)\n"};

static const Program *compiled(Pipeline *p)
{
    if (p->program == NULL) {
        Diags diags;
        arena_init(&p->arena);
        p->source = *source_new(&p->arena, p->name, p->text);
        diags_init(&diags, &p->arena);
        AstFile *file = fe_parse(&p->arena, &p->source, &diags);
        IrGraph *graph = file != NULL ? fe_elaborate(&p->arena, file, &diags) : NULL;
        if (graph == NULL || diags.errors > 0) {
            Str text;
            str_init(&text, &p->arena);
            diags_render(&diags, &text, false, 20);
            fail_msg("%s", text.at);
        }
        graph->name = p->name;
        PassContext cx = {.fuse = FUSE_ALL};
        p->program = cg_program(graph, pass_run_all(graph, &cx), "0123456789abcdef");
    }
    return p->program;
}

/* ---- running --------------------------------------------------------------------------- */

static char said[20000]; /* what the last run printed, both streams */

static int enter(void **state)
{
    signals_reset();
    return folder_enter(state);
}

static int run_words(Pipeline *p, const char *line, const RtHooks *hooks)
{
    char text[1000], *argv[32] = {NULL};
    int argc = 1;
    snprintf(text, sizeof text, "%s", line);
    argv[0] = (char *)p->name;
    for (char *word = strtok(text, " "); word != NULL; word = strtok(NULL, " ")) {
        assert_true(argc < 31);
        argv[argc++] = word;
    }
    return rt_main_with(compiled(p), argc, argv, hooks);
}

/* Runs with the words of `line` as arguments and keeps what is printed. */
static int run_hooked(Pipeline *p, const char *line, const RtHooks *hooks)
{
    fflush(stdout);
    fflush(stderr);
    int out = dup(STDOUT_FILENO), error = dup(STDERR_FILENO);
    int to = open("said", O_RDWR | O_CREAT | O_TRUNC, 0666);
    assert_true(out >= 0 && error >= 0 && to >= 0);
    dup2(to, STDOUT_FILENO);
    dup2(to, STDERR_FILENO);
    int code = run_words(p, line, hooks);
    fflush(stdout);
    dup2(out, STDOUT_FILENO);
    dup2(error, STDERR_FILENO);
    ssize_t n = pread(to, said, sizeof said - 1, 0);
    said[n > 0 ? n : 0] = '\0';
    close(out);
    close(error);
    close(to);
    unlink("said");
    return code;
}

static void run_to(int want, Pipeline *p, const char *line)
{
    int code = run_hooked(p, line, NULL);
    if (code != want) {
        fail_msg("%s %s: exit code %d instead of %d\n%s", p->name, line, code, want, said);
    }
}

static void assert_said(const char *part)
{
    if (strstr(said, part) == NULL) {
        fail_msg("'%s' was not said, but:\n%s", part, said);
    }
}

static void assert_file(const char *path, const char *want)
{
    Err err = {0};
    char *text;
    size_t size;
    if (!file_read(path, &text, &size, &err)) {
        fail_msg("%s", err.text);
    }
    assert_string_equal(text, want);
    free(text);
}

/* How many files a folder has, hidden ones too. */
static int count_files(const char *path)
{
    DIR *dir = opendir(path);
    int n = 0;
    for (struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;) {
        n += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    }
    if (dir != NULL) {
        closedir(dir);
    }
    return n;
}

/* ---- images ---------------------------------------------------------------------------- */

/* Spot k of a frame is a square of 2 x 2 pixels of value 200 + k. */
static void draw(uint16_t *pixels, int spots_wanted)
{
    memset(pixels, 0, W * H * sizeof *pixels);
    for (int k = 0; k < spots_wanted; k++) {
        int x = 1 + 4 * (k % 9), y = 1 + 4 * (k / 9);
        for (int i = 0; i < 4; i++) {
            pixels[(y + i / 2) * W + x + i % 2] = (uint16_t)(200 + k);
        }
    }
}

static void write_shape(const char *path, const ImageInfo *shape, const void *pixels)
{
    Err err = {0};
    ImageWriter *writer;
    size_t row = (size_t)shape->x * elem_size(shape->elem);
    const char *at = pixels;
    bool ok = image_create(path, "tif", shape, shape->elem, &(ImageMeta){0}, &writer, &err);
    for (int64_t i = 0; ok && i < shape->t * shape->c * shape->z; i++) {
        ok = image_write(writer, i / (shape->c * shape->z), i / shape->z % shape->c, i % shape->z, 0, shape->y, at, row,
                         &err);
        at += row * (size_t)shape->y;
    }
    if (!ok || !image_commit(writer, &err)) {
        fail_msg("%s", err.text);
    }
}

/* A film whose frame i has counts[i] spots; n = 1: a single image. */
static void write_spots(const char *path, const int *counts, int n)
{
    uint16_t *pixels = malloc((size_t)n * W * H * sizeof *pixels);
    assert_non_null(pixels);
    for (int i = 0; i < n; i++) {
        draw(pixels + (size_t)i * W * H, counts[i]);
    }
    ImageInfo shape = {.x = W, .y = H, .z = 1, .c = 1, .t = n, .has_t = n > 1, .elem = ELEM_U16};
    write_shape(path, &shape, pixels);
    free(pixels);
}

static void write_image(const char *path, int count)
{
    write_spots(path, &count, 1);
}

/* All pixels of a file as numbers, [t][c][z][y][x]; owned by the caller (free). */
static double *read_image(const char *path, ImageInfo *info)
{
    Err err = {0};
    ImageFile *file;
    if (!image_open(path, &file, &err)) {
        fail_msg("%s", err.text);
    }
    *info = *image_info(file);
    size_t plane = (size_t)(info->x * info->y), size = elem_size(info->elem);
    int64_t planes = info->t * info->c * info->z;
    char *raw = malloc(plane * size);
    double *pixels = malloc((size_t)planes * plane * sizeof *pixels);
    assert_true(raw != NULL && pixels != NULL);
    for (int64_t p = 0; p < planes; p++) {
        assert_true(image_read(file, p / (info->c * info->z), p / info->z % info->c, p % info->z, 0, info->y, raw,
                               (size_t)info->x * size, &err));
        for (size_t i = 0; i < plane; i++) {
            const void *at = raw + i * size;
            pixels[(size_t)p * plane + i] = info->elem == ELEM_U8    ? *(const uint8_t *)at
                                            : info->elem == ELEM_U16 ? *(const uint16_t *)at
                                            : info->elem == ELEM_U32 ? *(const uint32_t *)at
                                            : info->elem == ELEM_I32 ? *(const int32_t *)at
                                                                     : (double)*(const float *)at;
        }
    }
    free(raw);
    image_close(file);
    return pixels;
}

/* The labels of a film as write_spots makes it. */
static void assert_labels(const char *path, const int *counts, int n)
{
    ImageInfo info;
    double *pixels = read_image(path, &info);
    assert_true(info.x == W && info.y == H && info.t == n && info.c == 1 && info.z == 1);
    assert_int_equal(info.elem, ELEM_U16);
    uint16_t want[W * H];
    for (int i = 0; i < n; i++) {
        draw(want, counts[i]);
        for (int p = 0; p < W * H; p++) {
            double label = want[p] > 0 ? want[p] - 199 : 0;
            assert_true(pixels[i * W * H + p] == label);
        }
    }
    free(pixels);
}

/* ---- tests: outputs -------------------------------------------------------------------- */

static void an_image_gives_its_outputs(void **state)
{
    (void)state;
    int count = 3;
    write_image("a.tif", count);
    run_to(0, &spots, "a.tif -o out/");
    assert_said("1/1 a.tif");
    assert_labels("out/a_spots.tif", &count, 1);
    assert_file("out/a_table.csv", "label,area,max\n1,4,200\n2,4,201\n3,4,202\n");
    assert_file("out/table.csv", "image,label,area,max\na.tif,1,4,200\na.tif,2,4,201\na.tif,3,4,202\n");
    assert_file("out/values.csv", "image,peak\na.tif,202\n");
    assert_int_equal(count_files("out"), 4);
    run_to(0, &spots, "a.tif -o out/ --level 201.5 --quiet");
    assert_string_equal(said, "");
    assert_file("out/a_table.csv", "label,area,max\n1,4,202\n");
}

static void outputs_say_where_they_come_from(void **state)
{
    (void)state;
    Err err = {0};
    char *text;
    size_t size;
    write_image("a.tif", 1);
    run_to(0, &spots, "a.tif --level 150");
    assert_true(file_read("a_spots.tif", &text, &size, &err));
    static const char *const WANT[] = {"pipec " PIPEC_VERSION " spots 0123456789abcdef", "level=150"};
    for (int i = 0; i < 2; i++) {
        size_t n = strlen(WANT[i]), at = 0;
        while (at + n <= size && memcmp(text + at, WANT[i], n) != 0) {
            at++;
        }
        assert_true(at + n <= size);
    }
    free(text);
}

static void sizes_of_pixels_follow(void **state)
{
    (void)state;
    static const uint16_t zeros[3 * W * H];
    ImageInfo like = {.size = {0.5, 0.25, 2}, .size_um = {0.5, 0.25, 2}, .unit = "um", .style = "imagej"};
    ImageInfo shape = {.x = W, .y = H, .z = 3, .c = 1, .t = 1, .has_z = true}, info;
    const ImageMeta meta = {.like = &like};
    ImageWriter *writer;
    Err err = {0};
    assert_true(image_create("a.tif", "tif", &shape, ELEM_U16, &meta, &writer, &err));
    for (int z = 0; z < 3; z++) {
        assert_true(image_write(writer, 0, 0, z, 0, H, zeros, W * sizeof *zeros, &err));
    }
    assert_true(image_commit(writer, &err));
    run_to(0, &halves, "a.tif");
    free(read_image("a_half.tif", &info));
    assert_true(info.x == W / 2 && info.z == 3 && strcmp(info.unit, "um") == 0);
    assert_true(info.size[0] == 1 && info.size[1] == 0.5 && info.size[2] == 2);
    free(read_image("a_sky.fits", &info));
    assert_true(info.size[0] == 1 && info.size[1] == 0.5 && info.size[2] == 2);
}

static void a_folder_gives_one_table(void **state)
{
    (void)state;
    write_image("in/img10.tif", 1);
    write_image("in/img9.tif", 2);
    write_image("in/img1.tif", 0);
    run_to(0, &spots, "in -o out/ -j 2");
    assert_file("out/table.csv", "image,label,area,max\nimg9.tif,1,4,200\nimg9.tif,2,4,201\n"
                                 "img10.tif,1,4,200\n");
    assert_file("out/values.csv", "image,peak\nimg1.tif,0\nimg9.tif,201\nimg10.tif,200\n");
    assert_file("out/img1_table.csv", "label,area,max\n");
    run_to(0, &spots, "in -o by/{stem}/{output}.{ext}");
    assert_file("by/img9/table.csv", "label,area,max\n1,4,200\n2,4,201\n");
    assert_file("by/values.csv", "image,peak\nimg1.tif,0\nimg9.tif,201\nimg10.tif,200\n");
}

static void films_are_looped_over(void **state)
{
    (void)state;
    static const int COUNTS[] = {2, 0, 3};
    write_spots("film.tif", COUNTS, 3);
    write_image("one.tif", 1);
    run_to(0, &spots, "film.tif one.tif -o out/");
    assert_labels("out/film_spots.tif", COUNTS, 3);
    assert_file("out/film_table.csv", "frame,label,area,max\n0,1,4,200\n0,2,4,201\n2,1,4,200\n"
                                      "2,2,4,201\n2,3,4,202\n");
    assert_file("out/table.csv", "image,frame,label,area,max\nfilm.tif,0,1,4,200\n"
                                 "film.tif,0,2,4,201\nfilm.tif,2,1,4,200\nfilm.tif,2,2,4,201\n"
                                 "film.tif,2,3,4,202\none.tif,0,1,4,200\n");
    assert_file("out/values.csv", "image,frame,peak\nfilm.tif,0,201\nfilm.tif,1,0\n"
                                  "film.tif,2,202\none.tif,0,200\n");
}

static void channels_and_planes_are_looped_over(void **state)
{
    (void)state;
    enum { N = 2 * 2 * 3 };
    uint16_t pixels[N * W * H];
    for (int i = 0; i < N; i++) {
        draw(pixels + i * W * H, i);
    }
    ImageInfo shape =
        {.x = W, .y = H, .z = 3, .c = 2, .t = 2, .has_z = true, .has_c = true, .has_t = true, .elem = ELEM_U16};
    write_shape("a.tif", &shape, pixels);
    run_to(0, &spots, "a.tif");
    ImageInfo info;
    double *labels = read_image("a_spots.tif", &info);
    assert_true(info.t == 2 && info.c == 2 && info.z == 3);
    for (int i = 0; i < N * W * H; i++) {
        assert_true(labels[i] == (pixels[i] > 0 ? pixels[i] - 199 : 0));
    }
    free(labels);
    assert_file("values.csv", "image,frame,channel,z,peak\na.tif,0,0,0,0\na.tif,0,0,1,200\n"
                              "a.tif,0,0,2,201\na.tif,0,1,0,202\na.tif,0,1,1,203\n"
                              "a.tif,0,1,2,204\na.tif,1,0,0,205\na.tif,1,0,1,206\n"
                              "a.tif,1,0,2,207\na.tif,1,1,0,208\na.tif,1,1,1,209\n"
                              "a.tif,1,1,2,210\n");
}

/* 70000 objects of one pixel need 32 bits, in a film even if only one frame has them. */
static void many_labels_get_wide_pixels(void **state)
{
    (void)state;
    enum { SIDE = 530 };
    uint16_t *pixels = calloc(2 * SIDE * SIDE, sizeof *pixels);
    assert_non_null(pixels);
    for (int i = 0; i < SIDE * SIDE; i++) {
        pixels[SIDE * SIDE + i] = i % 2 == 0 && i / SIDE % 2 == 0 ? 500 : 0;
    }
    ImageInfo shape = {.x = SIDE, .y = SIDE, .z = 1, .c = 1, .t = 2, .has_t = true, .elem = ELEM_U16};
    write_shape("film.tif", &shape, pixels);
    shape.t = 1;
    shape.has_t = false;
    write_shape("none.tif", &shape, pixels);
    write_shape("many.tif", &shape, pixels + SIDE * SIDE);
    run_to(0, &spots, "film.tif none.tif many.tif");
    static const char *const NAMES[] = {"film_spots.tif", "none_spots.tif", "many_spots.tif"};
    for (int i = 0; i < 3; i++) {
        ImageInfo info;
        double *labels = read_image(NAMES[i], &info);
        int64_t last = info.t * SIDE * SIDE - 1;
        assert_int_equal(info.elem, i == 1 ? ELEM_U16 : ELEM_U32);
        for (int64_t k = last; k >= 0 && i != 1; k--) {
            if (labels[k] > 0) {
                assert_true(labels[k] == SIDE / 2 * SIDE / 2);
                break;
            }
        }
        free(labels);
    }
    free(pixels);
}

static void assert_moved(const char *path, const double *want, int step)
{
    ImageInfo info;
    double *got = read_image(path, &info);
    assert_int_equal(info.elem, step == 0 ? ELEM_U16 : ELEM_U32);
    for (int i = 0; i < W * H; i++) {
        if (got[i] != want[i % W + step < W ? i + step : i]) {
            fail_msg("%s: %g at %d", path, got[i], i);
        }
    }
    free(got);
}

/* What the device makes 16 bits of is neither another output nor an input that stays for the next image. */
static void labels_that_others_share_stay_what_they_are(void **state)
{
    (void)state;
    ImageInfo info;
    enum { ENOUGH = 64 }; /* for a CPU */
    assert_int_equal(mkdir("in", 0777), 0);
    for (int i = 0; i < ENOUGH; i++) {
        char path[40];
        snprintf(path, sizeof path, i < 2 ? "in/%c.tif" : "in/%c%d.tif", i == 0 ? 'a' : 'b', i);
        write_image(path, i == 0 ? 3 : 5);
    }
    write_image("cells.tif", 7);
    run_to(0, &twice, "in --cells cells.tif -o out/");
    double *cells = read_image("cells.tif", &info), *spots_of_b = read_image("out/b_spots.tif", &info);
    static const char *const NAMES[] = {"a", "b"};
    for (int i = 0; i < 2; i++) {
        char path[40];
        snprintf(path, sizeof path, "out/%s_kept.tif", NAMES[i]);
        assert_moved(path, cells, 0);
        snprintf(path, sizeof path, "out/%s_moved.tif", NAMES[i]);
        assert_moved(path, cells, 1);
    }
    for (int i = 0; i < W * H; i++) {
        assert_true(spots_of_b[i] == (cells[i] > 0 && cells[i] < 205 ? cells[i] - 199 : 0));
    }
    assert_moved("out/b_again.tif", spots_of_b, 0);
    free(cells);
    free(spots_of_b);
}

static void pictures_and_masks_are_written(void **state)
{
    (void)state;
    static const int COUNTS[] = {1, 2};
    write_image("a.tif", 2);
    write_spots("film.tif", COUNTS, 2);
    run_to(0, &picture, "a.tif film.tif -o out/");
    ImageInfo info;
    free(read_image("out/a_picture.png", &info));
    assert_true(info.c == 3 && info.rgb && info.elem == ELEM_U8 && info.x == W);
    free(read_image("out/film_picture_1.png", &info));
    assert_int_equal(access("out/film_picture_0.png", F_OK), 0);
    assert_int_equal(access("out/film_picture.png", F_OK), -1);
    double *mask = read_image("out/film_mask.tif", &info);
    assert_true(info.t == 2 && info.elem == ELEM_U8);
    assert_true(mask[0] == 0 && mask[W + 1] == 255);
    free(mask);
    run_to(0, &picture, "a.tif film.tif -o out/ --resume"); /* files for each frame count too */
    assert_string_equal(said, "");
}

static void one_channel_is_picked(void **state)
{
    (void)state;
    uint8_t pixels[3 * W * H];
    for (int i = 0; i < 3 * W * H; i++) {
        pixels[i] = (uint8_t)(i % 101);
    }
    ImageInfo shape = {.x = W, .y = H, .z = 1, .c = 3, .t = 1, .has_c = true, .rgb = true, .elem = ELEM_U8};
    write_shape("rgb.tif", &shape, pixels);
    run_to(0, &green, "rgb.tif");
    ImageInfo info;
    double *out = read_image("rgb_green.tif", &info);
    for (int i = 0; i < W * H; i++) {
        assert_true(out[i] == pixels[W * H + i] + 1);
    }
    free(out);
}

static void pipelines_without_input_run_once(void **state)
{
    (void)state;
    run_to(0, &ramp, "-o out/");
    ImageInfo info;
    double *out = read_image("out/steps_twice.tif", &info);
    assert_true(info.x == 10 && info.y == 1 && out[9] == 18);
    free(out);
    assert_file("out/values.csv", "image,total\nsteps,45\n");
}

/* ---- tests: several inputs ------------------------------------------------------------- */

static void further_inputs_are_fixed_or_templates(void **state)
{
    (void)state;
    static const int COUNTS[] = {1, 1};
    write_image("in/a.tif", 1);
    write_spots("in/b.tif", COUNTS, 2);
    write_image("flat.tif", 1);
    write_image("flats/a.tif", 2);
    write_spots("flats/b.tif", COUNTS, 2);
    run_to(0, &ratio, "in -o out/ --flat flat.tif");
    ImageInfo info;
    double *out = read_image("out/b_ratio.tif", &info);
    assert_true(info.t == 2 && info.elem == ELEM_F32);
    assert_true(out[W + 1] == 1 && out[W * H + W + 1] == 1);
    free(out);
    run_to(0, &ratio, "in -o out/ --flat flats/{stem}.tif");
    run_to(2, &ratio, "in -o out/ --flat dark/{stem}.tif");
    assert_said("--flat, for 'in/a.tif': cannot read 'dark/a.tif'");
    run_to(1, &ratio, "in/a.tif -o out/ --flat in/b.tif");
    assert_said("'in/b.tif' has 2 time points, but 'in/a.tif' has 1 image");
}

static void an_image_can_say_which_channel_of_a_fixed_one_is_read(void **state)
{
    (void)state;
    static uint16_t pixels[3 * W * H];
    for (int c = 0; c < 3; c++) {
        draw(pixels + c * W * H, c + 1);
    }
    ImageInfo shape = {.x = W, .y = H, .z = 1, .c = 3, .t = 1, .has_c = true, .elem = ELEM_U16};
    write_shape("flat.tif", &shape, pixels);
    write_shape("in/b.tif", &shape, pixels);
    shape.c = 2;
    write_shape("in/a.tif", &shape, pixels);
    run_to(0, &gains, "in -o out/ --flat flat.tif --jobs 1");
    assert_file("out/values.csv", "image,gain\na.tif,201\nb.tif,202\n");
}

/* ---- tests: failures ------------------------------------------------------------------- */

static void failures_are_named_and_the_rest_is_done(void **state)
{
    (void)state;
    write_image("a.tif", 1);
    write_image("c.tif", 2);
    assert_true(file_write("b.tif", "no image", 8, &(Err){0}));
    uint8_t rgb[3 * W * H] = {0};
    ImageInfo shape = {.x = W, .y = H, .z = 1, .c = 3, .t = 1, .has_c = true, .rgb = true, .elem = ELEM_U8};
    write_shape("d.tif", &shape, rgb);
    run_to(1, &spots, "a.tif b.tif c.tif d.tif -o out/");
    assert_said("2 of 4 images failed:\n  b.tif: ");
    assert_said("\n  d.tif: this is a colour image, but the pipeline declares image[y, x]");
    assert_file("out/values.csv", "image,peak\na.tif,200\nc.tif,201\n");
    assert_int_equal(access("out/b_spots.tif", F_OK), -1);
    assert_int_equal(count_files("out"), 2 * 2 + 2 + 1);
}

static void wrong_usage_ends_before_any_work(void **state)
{
    (void)state;
    write_image("a.tif", 1);
    write_image("b.tif", 1);
    run_to(2, &spots, "");
    run_to(2, &spots, "a.tif missing.tif -o out/");
    assert_said("cannot open 'missing.tif'");
    run_to(2, &spots, "a.tif b.tif -o out/{output}.{ext}");
    assert_said("would both be written to 'out/spots.tif'");
    run_to(2, &spots, "a.tif --level 2000");
    run_to(2, &spots, "a.tif --check");
    assert_said("--check needs the compiler");
    assert_int_equal(access("out", F_OK), -1);
    run_to(3, &spots, "a.tif --device nonsuch");
    assert_int_equal(count_files("."), 2);
}

static void unwritable_outputs_end_the_run(void **state)
{
    (void)state;
    write_image("a.tif", 1);
    write_image("b.tif", 1);
    run_to(5, &spots, "a.tif b.tif -o b.tif/{stem}_{output}.{ext}");
    run_to(5, &spots, "a.tif -o /proc/nowhere/");
}

static void too_little_memory_is_said(void **state)
{
    (void)state;
    write_image("a.tif", 1);
    run_to(4, &spots, "a.tif --memory 1k");
    assert_said("1 of 1 image failed:");
    assert_int_equal(count_files("."), 1);
}

/* ---- tests: resuming, shards, threads -------------------------------------------------- */

static void resume_does_what_is_left(void **state)
{
    (void)state;
    write_image("in/a.tif", 1);
    write_image("in/b.tif", 2);
    run_to(0, &spots, "in -o out/");
    struct stat before, after;
    assert_int_equal(stat("out/a_spots.tif", &before), 0);
    write_image("in/b.tif", 3);
    write_image("in/c.tif", 4);
    assert_int_equal(unlink("out/values.csv"), 0);
    run_to(0, &spots, "in -o out/ --resume");
    assert_said("2/3 ");
    assert_said("3/3 ");
    assert_int_equal(stat("out/a_spots.tif", &after), 0);
    assert_true(before.st_ino == after.st_ino);
    assert_file("out/values.csv", "image,peak\na.tif,200\nb.tif,202\nc.tif,203\n");
    assert_file("out/b_table.csv", "label,area,max\n1,4,200\n2,4,201\n3,4,202\n");
    run_to(0, &spots, "in -o out/ --resume");
    assert_string_equal(said, "");
    run_to(2, &spots, "in -o out/ --resume --level 50");
    assert_said("with other parameters");
    run_to(0, &spots, "in -o out/ --level 201.5");
    assert_file("out/b_table.csv", "label,area,max\n1,4,202\n");
}

static void shards_are_parts_of_the_whole(void **state)
{
    (void)state;
    char path[32];
    for (int i = 0; i < 7; i++) {
        snprintf(path, sizeof path, "in/%d.tif", i);
        write_image(path, i);
    }
    run_to(0, &spots, "in -o out/ --shard 1/3");
    assert_file("out/values.shard-1-of-3.csv", "image,peak\n0.tif,0\n3.tif,202\n6.tif,205\n");
    assert_int_equal(access("out/1_spots.tif", F_OK), -1);
    run_to(0, &spots, "in -o out/ --shard 2/3");
    run_to(0, &spots, "in -o out/ --shard 3/3");
    for (int i = 0; i < 7; i++) {
        snprintf(path, sizeof path, "out/%d_spots.tif", i);
        assert_labels(path, &i, 1);
    }
    run_to(0, &spots, "in/0.tif -o one/ --shard 2/2"); /* nothing to do */
    assert_int_equal(access("one/0_spots.tif", F_OK), -1);
}

static void threads_change_nothing(void **state)
{
    (void)state;
    static const int COUNTS[] = {3, 1, 2, 0, 5};
    char path[64];
    for (int i = 0; i < 12; i++) {
        snprintf(path, sizeof path, "in/%d.tif", i);
        write_spots(path, COUNTS, 1 + i % 5);
    }
    run_to(0, &spots, "in -o one/ -j 1");
    run_to(0, &spots, "in -o many/ -j 16");
    assert_int_equal(system("rm one/.spots.journal many/.spots.journal && diff -r one many"), 0);
}

static void a_dry_run_writes_nothing(void **state)
{
    (void)state;
    static const int COUNTS[] = {3, 1};
    write_spots("a.tif", COUNTS, 2);
    run_to(0, &spots, "a.tif -o out/ --dry-run");
    assert_said("a.tif  40 x 30, u16, 2 runs, ");
    assert_said("\n  -> out/a_spots.tif\n  -> out/a_table.csv\n1 image, at most ");
    assert_said("\n  -> out/table.csv\n  -> out/values.csv\n");
    assert_int_equal(count_files("."), 1);
}

static void profiles_and_kernels_are_written(void **state)
{
    (void)state;
    write_image("a.tif", 1);
    run_to(0, &spots, "a.tif --profile=trace.json --dump-kernels k -q");
    assert_int_equal(access("trace.json", F_OK), 0);
    assert_true(count_files("k") > 0);
    run_to(0, &spots, "a.tif --profile -q");
    assert_said("GB/s");
    static const char *const PHASES_SAID[] = {"reading",  "decoding", "preparing", "upload",  "compute",
                                              "download", "encoding", "writing",   "elapsed "};
    for (int i = 0; i < 9; i++) {
        assert_said(PHASES_SAID[i]);
    }
    run_to(0, &spots, "a.tif --profile -q --host-memory 1KiB");
    assert_said("elapsed ");
}

/* Too large for the host's memory: the results are those of images that are held. */
static void large_frames_go_through_in_rows(void **state)
{
    (void)state;
    static const int COUNTS[] = {2, 0, 3};
    uint16_t pixels[3 * W * H];
    ImageInfo shape = {.x = W, .y = H, .z = 1, .c = 3, .t = 1, .has_c = true, .rgb = true, .elem = ELEM_U16};
    write_spots("film.tif", COUNTS, 3);
    write_image("one.tif", 4);
    for (int c = 0; c < 3; c++) {
        draw(pixels + c * W * H, 5 + c);
    }
    write_shape("colour.tif", &shape, pixels);
    run_to(0, &spots, "film.tif one.tif -o held/");
    run_to(0, &spots, "film.tif one.tif -o rows/ --host-memory 1KiB");
    assert_said("2/2 ");
    run_to(0, &picture, "film.tif one.tif -o held/");
    run_to(0, &picture, "film.tif one.tif -o rows/ --host-memory 1KiB");
    run_to(0, &ratio, "film.tif --flat one.tif -o held/");
    run_to(0, &ratio, "film.tif --flat one.tif -o rows/ --host-memory 1KiB");
    run_to(0, &green, "colour.tif -o held/");
    run_to(0, &green, "colour.tif -o rows/ --host-memory 1KiB");
    run_to(0, &ramp, "-o held/");
    run_to(0, &ramp, "-o rows/ --host-memory 1KiB");
    assert_int_equal(system("diff -r -x '.*' held rows"), 0);
    run_to(0, &spots, "film.tif one.tif -o rows/ --host-memory 1KiB --resume");
    run_to(5, &spots, "one.tif -o /dev/null/x --host-memory 1KiB");
    assert_int_equal(truncate("one.tif", 1000), 0);
    run_to(1, &spots, "one.tif film.tif -o cut/ --host-memory 1KiB");
    assert_said("one.tif: cannot read 'one.tif': ");
    assert_int_equal(count_files("cut"), 2 + 3); /* of the film, of all, and the journal */
}

/* ---- tests: hooks and signals ---------------------------------------------------------- */

typedef struct Watch {
    int calls, raise_at, raises;
    bool refuse;
} Watch;

static bool watch(void *context, const RtFrame *frame, Err *err)
{
    Watch *w = context;
    const uint16_t *pixels = frame->pixels[0];
    const uint32_t *labels = frame->images[0];
    assert_true(frame->inputs[0].elem == ELEM_U16 && frame->elems[0] == ELEM_U32);
    for (int i = 0; i < W * H; i++) {
        assert_true(labels[i] == (pixels[i] > 0 ? pixels[i] - 199u : 0));
    }
    assert_true(frame->tables[0].rows == frame->number + 1 && frame->params[0] == 100);
    if (++w->calls == w->raise_at) {
        for (int i = 0; i < w->raises; i++) {
            raise(SIGTERM);
        }
    }
    return !w->refuse || err_set(err, CODE_FILES, "the reference has other labels");
}

static void check_sees_everything(void **state)
{
    (void)state;
    static const int COUNTS[] = {1, 2, 3};
    Watch w = {0};
    RtHooks hooks = {.check = watch, .context = &w};
    write_spots("a.tif", COUNTS, 3);
    assert_int_equal(run_hooked(&spots, "a.tif --check", &hooks), 0);
    assert_int_equal(w.calls, 3);
    assert_int_equal(run_hooked(&spots, "a.tif --check --host-memory 1KiB", &hooks), 4);
    assert_said("a.tif: --check holds whole images in host memory; this one has 0.002289 MiB, and "
                "--host-memory is 0.0009766 MiB");
    w.refuse = true;
    assert_int_equal(run_hooked(&spots, "a.tif -o out/ --check", &hooks), 1);
    assert_said("  a.tif: the reference has other labels");
    assert_int_equal(count_files("out"), 0);
}

static void an_interrupted_run_goes_on_later(void **state)
{
    (void)state;
    char path[32];
    for (int i = 0; i < 6; i++) {
        snprintf(path, sizeof path, "in/%d.tif", i);
        write_image(path, 1);
    }
    Watch w = {.raise_at = 3, .raises = 1};
    RtHooks hooks = {.check = watch, .context = &w};
    assert_int_equal(run_hooked(&spots, "in -o out/ --check", &hooks), 143);
    assert_said("spots: interrupted; ");
    assert_said("done, --resume goes on\n");
    assert_int_equal(access("out/values.csv", F_OK), -1);
    assert_int_equal(count_files("out") % 2, 1); /* whole pairs, and the journal */
    signals_reset();
    w = (Watch){0};
    assert_int_equal(run_hooked(&spots, "in -o out/ --check --resume", &hooks), 0);
    assert_true(w.calls >= 3 && w.calls <= 6);
    assert_int_equal(count_files("out"), 6 * 2 + 3);
    run_to(0, &spots, "in -o whole/");
    assert_int_equal(system("rm out/.spots.journal whole/.spots.journal && diff -r out whole"), 0);
}

/* In a process of its own, which must be the first to use a device: forks and threads. */
static void a_second_signal_ends_at_once(void **state)
{
    (void)state;
    static const int COUNTS[] = {1, 2, 3};
    write_spots("a.tif", COUNTS, 3);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        Watch w = {.raise_at = 2, .raises = 2};
        RtHooks hooks = {.check = watch, .context = &w};
        run_hooked(&spots, "a.tif -o out/ --check", &hooks);
        sleep(600); /* a thread of its own ends the process meanwhile */
        _exit(1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 143);
    assert_int_equal(count_files("out"), 0);
}

#define in_folder(test) cmocka_unit_test_setup_teardown(test, enter, folder_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_folder(a_second_signal_ends_at_once),
        in_folder(an_image_gives_its_outputs),
        in_folder(outputs_say_where_they_come_from),
        in_folder(sizes_of_pixels_follow),
        in_folder(a_folder_gives_one_table),
        in_folder(films_are_looped_over),
        in_folder(channels_and_planes_are_looped_over),
        in_folder(many_labels_get_wide_pixels),
        in_folder(labels_that_others_share_stay_what_they_are),
        in_folder(pictures_and_masks_are_written),
        in_folder(one_channel_is_picked),
        in_folder(pipelines_without_input_run_once),
        in_folder(further_inputs_are_fixed_or_templates),
        in_folder(an_image_can_say_which_channel_of_a_fixed_one_is_read),
        in_folder(failures_are_named_and_the_rest_is_done),
        in_folder(wrong_usage_ends_before_any_work),
        in_folder(unwritable_outputs_end_the_run),
        in_folder(too_little_memory_is_said),
        in_folder(resume_does_what_is_left),
        in_folder(shards_are_parts_of_the_whole),
        in_folder(threads_change_nothing),
        in_folder(a_dry_run_writes_nothing),
        in_folder(profiles_and_kernels_are_written),
        in_folder(large_frames_go_through_in_rows),
        in_folder(check_sees_everything),
        in_folder(an_interrupted_run_goes_on_later),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    Pipeline *const all[] = {&spots, &ratio, &picture, &green, &gains, &halves, &ramp};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (all[i]->program != NULL) {
            arena_free(&all[i]->arena);
        }
    }
    return failed;
}
