/* options: what command lines mean, which ones are refused and with which words; progress texts. */
#include "runtime/command/describe.h"
#include "runtime/command/options.h"
#include "runtime/batch/progress.h"
#include "runtime/host/status.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

static const ProgInput INPUTS[] = {
    {.name = "image", .axes = "yx", .elem = ELEM_FILE, .channel = -1},
    {.name = "flat_field", .axes = "yx", .elem = ELEM_F32, .channel = -1},
    {.name = "device", .axes = "zyx", .elem = ELEM_U32, .labels = true, .channel = -1},
};
static const ProgParam PARAMS[] = {
    {"sigma", "blur radius in pixels", 2, 0.1, 50, false, NULL},
    {"min_size", NULL, 10, 1, INFINITY, true, NULL},
    {"memory", "of the filter", -1, -INFINITY, 0, false, NULL},
    {"offset", "", 0, -INFINITY, INFINITY, false, NULL},
};
static const ProgOutput OUTPUTS[] = {
    {.name = "labels", .format = "tif", .kind = OUT_LABELS, .axes = "yx"},
    {.name = "table", .format = "csv", .kind = OUT_TABLE},
    {.name = "count", .format = "csv", .kind = OUT_VALUE},
};
static const ProgTable TABLES[] = {{.name = "table", .columns = "label,area"}};

static const Program PLAIN = {.name = "blobs",
                              .version = "0.1.0",
                              .hash = "abc",
                              .inputs = INPUTS,
                              .n_inputs = 1,
                              .params = PARAMS,
                              .n_params = 4,
                              .outputs = OUTPUTS,
                              .n_outputs = 3,
                              .tables = TABLES,
                              .n_tables = 1,
                              .source = "# blobs.pipe: count \"bright\" blobs\ninput image[y, x]\n"};
static const Program SEVERAL = {.name = "blobs",
                                .version = "0.1.0",
                                .hash = "abc",
                                .inputs = INPUTS,
                                .n_inputs = 3,
                                .params = PARAMS,
                                .n_params = 4};
static const Program NO_INPUT = {.name = "primes", .version = "0.1.0", .hash = "abc"};

enum { MAX_ARGS = 16 };

/* Parses a command line whose words are separated by blanks. */
static bool parse(const Program *program, const char *line, Options *out, Err *err)
{
    static char text[1000];
    char *argv[MAX_ARGS + 1] = {NULL};
    int argc = 0;
    err_clear(err);
    snprintf(text, sizeof text, "%s", line);
    for (char *word = strtok(text, " "); word != NULL; word = strtok(NULL, " ")) {
        assert_true(argc < MAX_ARGS);
        argv[argc++] = word;
    }
    return options_parse(program, argc, argv, out, err) && options_have_images(program, out, err);
}

static void accept(const Program *program, const char *line, Options *out)
{
    Err err = {0};
    if (!parse(program, line, out, &err)) {
        fail_msg("%s: %s", line, err.text);
    }
}

static void refuse(const Program *program, const char *line, const char *message)
{
    Options options;
    Err err = {0};
    assert_false(parse(program, line, &options, &err));
    assert_int_equal(err.code, CODE_USAGE);
    assert_string_equal(err.text, message);
    options_free(&options);
}

static void defaults_are_the_programs(void **state)
{
    (void)state;
    Options o;
    accept(&PLAIN, "./bin/blobs a.tif b.tif", &o);
    assert_string_equal(o.command, "blobs");
    assert_int_equal(o.n_files, 2);
    assert_string_equal(o.files[0], "a.tif");
    assert_string_equal(o.files[1], "b.tif");
    assert_true(o.params[0] == 2 && o.params[1] == 10 && o.params[2] == -1);
    assert_true(o.output == NULL && o.device == NULL && o.memory == 0 && o.jobs == 0);
    assert_true(o.shard == 1 && o.shards == 1);
    assert_false(o.resume || o.quiet || o.dry_run || o.check || o.profile || o.describe);
    options_free(&o);
}

static void every_option_is_understood(void **state)
{
    (void)state;
    Options o;
    accept(&PLAIN,
           "blobs a.tif -o out/ --device=cpu --memory 2GiB -j 3 --shard 2/8 --resume --check "
           "--profile=t.json --dump-kernels=k -q",
           &o);
    assert_string_equal(o.output, "out/");
    assert_string_equal(o.device, "cpu");
    assert_true(o.memory == (uint64_t)2 << 30);
    assert_true(o.jobs == 3 && o.shard == 2 && o.shards == 8);
    assert_true(o.resume && o.check && o.profile && o.quiet);
    assert_string_equal(o.trace, "t.json");
    assert_string_equal(o.dump, "k");
    assert_int_equal(o.n_files, 1);
    options_free(&o);
    accept(&PLAIN, "blobs --profile --load-kernels k --describe=json", &o);
    assert_true(o.profile && o.trace == NULL && o.describe && o.json);
    assert_string_equal(o.load, "k");
    options_free(&o);
    accept(&PLAIN, "blobs -- -odd.tif", &o);
    assert_string_equal(o.files[0], "-odd.tif");
    options_free(&o);
    accept(&PLAIN, "plate/blobs.pipe a.tif", &o);
    assert_string_equal(o.command, "pipec run blobs.pipe");
    options_free(&o);
}

static void params_are_options(void **state)
{
    (void)state;
    Options o;
    accept(&PLAIN, "blobs a.tif --sigma 3.5 --min-size 4 --param-memory -7 --offset -1e3", &o);
    assert_true(o.params[0] == 3.5 && o.params[1] == 4 && o.params[2] == -7 && o.params[3] == -1000);
    char *text = options_params_text(&PLAIN, o.params);
    assert_string_equal(text, "sigma=3.5 min_size=4 memory=-7 offset=-1000");
    free(text);
    options_free(&o);
    accept(&PLAIN, "blobs a.tif --min_size=5", &o);
    assert_true(o.params[1] == 5);
    options_free(&o);
    refuse(&PLAIN, "blobs a.tif --sigma 60", "--sigma is 60, but must be in 0.1 .. 50");
    refuse(&PLAIN, "blobs a.tif --sigma 0", "--sigma is 0, but must be in 0.1 .. 50");
    refuse(&PLAIN, "blobs a.tif --sigma 3px", "--sigma takes a number, not '3px'");
    refuse(&PLAIN, "blobs a.tif --sigma nan", "--sigma takes a number, not 'nan'");
    refuse(&PLAIN, "blobs a.tif --min-size 2.5", "--min-size takes a whole number, not '2.5'");
    refuse(&PLAIN, "blobs a.tif --min-size 0", "--min-size is 0, but must be at least 1");
    refuse(&PLAIN, "blobs a.tif --param-memory 1", "--param-memory is 1, but must be at most 0");
}

static void inputs_are_options(void **state)
{
    (void)state;
    Options o;
    accept(&SEVERAL, "blobs a.tif --flat-field f.tif --input-device seg/{stem}.tif", &o);
    assert_true(o.inputs[0] == NULL);
    assert_string_equal(o.inputs[1], "f.tif");
    assert_string_equal(o.inputs[2], "seg/{stem}.tif");
    assert_true(o.device == NULL);
    options_free(&o);
    refuse(&SEVERAL, "blobs a.tif --input-device d.tif",
           "the input 'flat_field' is missing: --flat-field FILE, or a template such as "
           "--flat-field 'folder/{stem}.tif'");
    refuse(&PLAIN, "blobs", "give the images to work on; 'blobs --help' says more");
    refuse(&NO_INPUT, "primes a.tif", "'a.tif': this pipeline has no input");
    accept(&NO_INPUT, "primes", &o);
    options_free(&o);
    accept(&SEVERAL, "blobs --help", &o); /* asking needs no inputs */
    assert_true(o.help);
    options_free(&o);
}

static void wrong_options_get_suggestions(void **state)
{
    (void)state;
    refuse(&PLAIN, "blobs --sgima 3", "unknown option '--sgima'; did you mean '--sigma'?");
    refuse(&PLAIN, "blobs --ressume", "unknown option '--ressume'; did you mean '--resume'?");
    refuse(&PLAIN, "blobs --minsize=3", "unknown option '--minsize'; did you mean '--min-size'?");
    refuse(&PLAIN, "blobs a.tif -sigma 3", "'-sigma': write '--sigma', with two dashes");
    refuse(&PLAIN, "blobs -sigma=3 a.tif", "'-sigma': write '--sigma', with two dashes");
    refuse(&PLAIN, "blobs a.tif sigma=3", "'sigma=3': a parameter is an option: '--sigma=3'");
    refuse(&PLAIN, "blobs a.tif --gpu", "unknown option '--gpu'; here it is '--device gpu'");
    refuse(&PLAIN, "blobs --xyzzy", "unknown option '--xyzzy'; 'blobs --help' lists the options");
    refuse(&PLAIN, "blobs -x", "unknown option '-x'; 'blobs --help' lists the options");
    refuse(&PLAIN, "blobs --sigma", "--sigma needs a value");
    refuse(&PLAIN, "blobs --quiet=1", "'--quiet=1': this option takes no value");
    refuse(&PLAIN, "blobs --jobs 0", "--jobs takes a whole number from 1 on, not '0'");
    refuse(&PLAIN, "blobs --jobs 2x", "--jobs takes a whole number from 1 on, not '2x'");
    refuse(&PLAIN, "blobs --shard 5/4", "--shard takes i/n with i from 1 to n, such as 1/4, not '5/4'");
    refuse(&PLAIN, "blobs --shard 0/4", "--shard takes i/n with i from 1 to n, such as 1/4, not '0/4'");
    refuse(&PLAIN, "blobs --describe=xml", "--describe or --describe=json, not 'xml'");
    refuse(&PLAIN, "blobs --memory lots", "--memory takes a size such as 2GiB or 512MiB, not 'lots'");
}

static void sizes_are_parsed(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t bytes; /* 0: refused */
    } CASES[] = {{"1000000", 1000000},
                 {"2GiB", (uint64_t)2 << 30},
                 {"512MiB", 512 << 20},
                 {"512 mib", 512 << 20},
                 {"1.5G", (uint64_t)3 << 29},
                 {"4k", 4096},
                 {"3GB", 3000000000u},
                 {"100B", 100},
                 {"1TiB", (uint64_t)1 << 40},
                 {"0", 0},
                 {"-1", 0},
                 {"", 0},
                 {"GiB", 0},
                 {"1 GiBs", 0},
                 {"1XB", 0},
                 {"inf", 0},
                 {"1e30", 0}};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        uint64_t bytes = 0;
        assert_true(options_parse_size(CASES[i].text, &bytes) == (CASES[i].bytes > 0));
        assert_true(bytes == CASES[i].bytes);
    }
}

/* ---- help and description -------------------------------------------------------------- */

static char *text_of(void (*describe)(const Program *, FILE *), const Program *program)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    assert_non_null(to);
    describe(program, to);
    fclose(to);
    return text;
}

static void help(const Program *program, FILE *to)
{
    describe_help(program, "blobs", to);
}

static void help_names_everything(void **state)
{
    (void)state;
    static const char *const PARTS[] = {
        "usage: blobs [OPTION]... FILE|FOLDER...\ncount \"bright\" blobs\n",
        "  image[y, x]             any pixels; the files and folders of the command line\n",
        "  --sigma NUMBER          blur radius in pixels, 0.1 .. 50 (default: 2)\n",
        "  --min-size N            at least 1 (default: 10)\n",
        "  --offset NUMBER         (default: 0)\n",
        "  labels                  labels: {stem}_labels.tif\n",
        "  table                   table: {stem}_table.csv, all images: table.csv\n",
        "  count                   value: a column of values.csv\n",
        "  -o, --output DIR        ",
        "  --profile[=FILE]        ",
    };
    char *text = text_of(help, &PLAIN);
    for (size_t i = 0; i < sizeof PARTS / sizeof *PARTS; i++) {
        if (strstr(text, PARTS[i]) == NULL) {
            fail_msg("'%s' is not in:\n%s", PARTS[i], text);
        }
    }
    for (int i = 0; i < OPTION_ROW_COUNT; i++) {
        assert_non_null(strstr(text, OPTION_ROWS[i].name));
    }
    free(text);
    text = text_of(help, &SEVERAL);
    assert_non_null(strstr(text, "  device[z, y, x]         labels; --input-device FILE"));
    free(text);
    text = text_of(describe_version, &PLAIN);
    assert_string_equal(text, "pipec 0.1.0 blobs abc\n");
    free(text);
}

static void description_is_json(void **state)
{
    (void)state;
    char *text = text_of(describe_json, &PLAIN);
    assert_string_equal(text,
                        "{\n  \"name\": \"blobs\",\n  \"summary\": \"count \\\"bright\\\" blobs\",\n"
                        "  \"version\": \"0.1.0\",\n  \"hash\": \"abc\",\n  \"inputs\": [\n"
                        "    {\"name\": \"image\", \"axes\": [\"y\", \"x\"], \"pixels\": \"file\"}\n  ],\n"
                        "  \"params\": [\n"
                        "    {\"name\": \"sigma\", \"option\": \"sigma\", \"default\": 2, \"min\": 0.1, \"max\": "
                        "50, "
                        "\"integer\": false, \"help\": \"blur radius in pixels\"},\n"
                        "    {\"name\": \"min_size\", \"option\": \"min-size\", \"default\": 10, \"min\": 1, "
                        "\"max\": null, \"integer\": true, \"help\": \"\"},\n"
                        "    {\"name\": \"memory\", \"option\": \"param-memory\", \"default\": -1, \"min\": null, "
                        "\"max\": 0, \"integer\": false, \"help\": \"of the filter\"},\n"
                        "    {\"name\": \"offset\", \"option\": \"offset\", \"default\": 0, \"min\": null, "
                        "\"max\": null, \"integer\": false, \"help\": \"\"}\n  ],\n"
                        "  \"outputs\": [\n"
                        "    {\"name\": \"labels\", \"kind\": \"labels\", \"format\": \"tif\", \"axes\": [\"y\", "
                        "\"x\"]},\n"
                        "    {\"name\": \"table\", \"kind\": \"table\", \"format\": \"csv\", \"columns\": "
                        "\"label,area\"},\n"
                        "    {\"name\": \"count\", \"kind\": \"value\", \"format\": \"csv\"}\n  ]\n}\n");
    free(text);
}

/* ---- progress -------------------------------------------------------------------------- */

static void progress_lines_say_how_long(void **state)
{
    (void)state;
    char line[300];
    progress_line(line, sizeof line, 0, 8, 0, "");
    assert_string_equal(line, "[....................] 0/8  ");
    progress_line(line, sizeof line, 2, 8, 2, "b.tif");
    assert_string_equal(line, "[#####...............] 2/8  2.0 images/s  3 s left  b.tif");
    progress_line(line, sizeof line, 1.5, 4, 0.05, "b.tif");
    assert_string_equal(line, "[#######.............] 1/4  20.0 s/image  50 s left  b.tif");
    progress_line(line, sizeof line, 8, 8, 0, "");
    assert_string_equal(line, "[####################] 8/8  ");
    progress_duration(line, sizeof line, 59.4);
    assert_string_equal(line, "59 s");
    progress_duration(line, sizeof line, 187);
    assert_string_equal(line, "3:07 min");
    progress_duration(line, sizeof line, 7500);
    assert_string_equal(line, "2:05:00 h");
}

static void progress_writes_a_line_an_image(void **state)
{
    (void)state;
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    assert_non_null(to);
    Progress *p = progress_new(to, 3, false, false);
    progress_skip(p, 1);
    progress_part(p, 0.5);
    progress_image(p, "a.tif", "0.50 s");
    progress_image(p, "b.tif", "failed");
    progress_end(p);
    fclose(to);
    assert_string_equal(text, "2/3 a.tif  0.50 s\n3/3 b.tif  failed\n");
    free(text);
    assert_null(progress_new(stderr, 3, true, true));
    progress_image(NULL, "a.tif", "");
    progress_end(NULL);
}

/* The device's word before the reader's, the bar before both; what was compiled is said of the first run alone. */
static void the_status_says_what_is_done(void **state)
{
    (void)state;
    char line[300];
    FILE *to = tmpfile();
    assert_non_null(to);
    status_say(STATUS_READ, "reading a.tif");
    status_text(line, sizeof line, 80);
    assert_string_equal(line, "");
    status_open(to);
    status_say(STATUS_READ, "reading %s", "a.tif");
    status_text(line, sizeof line, 80);
    assert_string_equal(line, "reading a.tif");
    status_step("step", 2, 3, "labels", true);
    status_text(line, sizeof line, 80);
    assert_string_equal(line, "step 2 of 3, labels");
    status_build(true);
    nanosleep(&(struct timespec){.tv_nsec = 150000000}, NULL);
    status_build(false);
    status_text(line, sizeof line, 80);
    assert_string_equal(line, "compiling for this device, once: step 2 of 3, labels");
    status_step("step", 2, 3, "labels", false);
    Progress *p = progress_new(to, 4, true, false);
    status_text(line, sizeof line, 80);
    assert_string_equal(line, "[....................] 0/4    step 2 of 3, labels");
    status_say(STATUS_DEVICE, NULL);
    status_say(STATUS_READ, "reading %s", "a.tif");
    status_text(line, sizeof line, 40);
    assert_string_equal(line, "[....................] 0/4    reading a");
    progress_image(p, "a-name-that-is-much-longer-than-what-a-terminal-has-room-for-beside-a-bar.tif", "1 s");
    status_text(line, sizeof line, 60);
    assert_string_equal(line, "[....................] 0/4  a-name-that-is-m  reading a.tif");
    progress_note(p, "a.tif: odd");
    progress_end(p);
    status_step("step", 1, 1, "gauss", false);
    nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
    status_text(line, sizeof line, 20);
    double seconds = 0;
    assert_true(sscanf(line, "step 1 of 1, %lf", &seconds) == 1 && seconds >= 1);
    status_close();
    assert_false(status_is_open());
    rewind(to);
    char text[2000] = "";
    assert_true(fread(text, 1, sizeof text - 1, to) > 0);
    assert_non_null(strstr(text, "note: a.tif: odd\n"));
    assert_non_null(strstr(text, "1/4 images  "));
    fclose(to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_the_programs),
        cmocka_unit_test(every_option_is_understood),
        cmocka_unit_test(params_are_options),
        cmocka_unit_test(inputs_are_options),
        cmocka_unit_test(wrong_options_get_suggestions),
        cmocka_unit_test(sizes_are_parsed),
        cmocka_unit_test(help_names_everything),
        cmocka_unit_test(description_is_json),
        cmocka_unit_test(progress_lines_say_how_long),
        cmocka_unit_test(the_status_says_what_is_done),
        cmocka_unit_test(progress_writes_a_line_an_image),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
