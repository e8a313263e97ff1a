/* The parts of a batch that need no device: lists of files, frames, the journal, merged tables. */
#include "fixtures.h"
#include "base/file.h"
#include "base/str.h"
#include "runtime/batch/batch_list.h"
#include "runtime/files/file_list.h"
#include "runtime/files/file_state.h"
#include "runtime/batch/folder_lock.h"
#include "runtime/batch/frames.h"
#include "runtime/batch/journal.h"
#include "runtime/batch/merge.h"

#include <fcntl.h>
#include <limits.h>
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

static void write_text(const char *path, const char *text)
{
    Err err = {0};
    if (!file_write(path, text, strlen(text), &err)) {
        fail_msg("%s", err.text);
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

/* ---- lists of files -------------------------------------------------------------------- */

static void numbers_sort_as_numbers(void **state)
{
    (void)state;
    static const char *const SORTED[] = {"a", "a01", "a1",  "a2.tif", "a10.tif", "a10b", "a010c",
                                         "b", "b0",  "b00", "b1x2",   "b1x10",   "ba"};
    enum { N = sizeof SORTED / sizeof *SORTED };
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < N; k++) {
            int order = file_natural_order(SORTED[i], SORTED[k]);
            assert_int_equal((order > 0) - (order < 0), (i > k) - (i < k));
        }
    }
}

static void folders_give_their_images(void **state)
{
    (void)state;
    static const char *const MADE[] = {"in/img10.tif",   "in/img2.tif",   "in/img1.TIF",  "in/x.txt",
                                       "in/.hidden.tif", "in/deep/a.tif", "in/s.fits.gz", "in/folder.tif/a.tif"};
    for (size_t i = 0; i < sizeof MADE / sizeof *MADE; i++) {
        write_text(MADE[i], "");
    }
    FileList list;
    Err err = {0};
    const char *const given[] = {"in/x.txt", "in/", "in/img2.tif"};
    assert_true(file_list(given, 3, false, &list, &err));
    static const char *const WANT[] = {"in/x.txt", "in/img1.TIF", "in/img2.tif", "in/img10.tif", "in/s.fits.gz"};
    assert_int_equal(list.n, 5);
    for (size_t i = 0; i < list.n; i++) {
        assert_string_equal(list.at[i].path, WANT[i]);
        assert_int_equal(list.at[i].found, i > 0);
    }
    file_list_free(&list);
    assert_false(file_list((const char *const[]){"nowhere.tif"}, 1, false, &list, &err));
    assert_int_equal(err.code, CODE_USAGE);
    file_list_free(&list);
    err_clear(&err);
    write_text("empty/readme.txt", "");
    assert_false(file_list((const char *const[]){"empty"}, 1, false, &list, &err));
    assert_string_equal(err.text, "the folder 'empty' has no image files");
    file_list_free(&list);
}

/* ---- what is to be done ---------------------------------------------------------------- */

static const ProgInput INPUTS[] = {{.name = "image", .axes = "yx", .elem = ELEM_FILE},
                                   {.name = "flat", .axes = "yx", .elem = ELEM_F32}};
static const ProgOutput OUTPUTS[] = {
    {.name = "labels", .format = "tif", .kind = OUT_LABELS, .axes = "yx"},
    {.name = "table", .format = "csv", .kind = OUT_TABLE},
    {.name = "count", .format = "csv", .kind = OUT_VALUE},
};
static const Program ONE = {.name = "blobs", .inputs = INPUTS, .n_inputs = 1, .outputs = OUTPUTS, .n_outputs = 3};
static const Program TWO = {.name = "blobs", .inputs = INPUTS, .n_inputs = 2, .outputs = OUTPUTS, .n_outputs = 3};

static const ProgOutput PICTURE = {.name = "seen", .format = "png", .kind = OUT_IMAGE, .axes = "yx"};
static const Program SEEN = {.name = "seen", .inputs = INPUTS, .n_inputs = 1, .outputs = &PICTURE, .n_outputs = 1};

static BatchList list_of(const Program *p, Options *o, const char *const *files, int n)
{
    static const char *paths[16];
    BatchList list;
    Err err = {0};
    memcpy(paths, files, (size_t)n * sizeof *files);
    o->files = paths;
    o->n_files = n;
    o->shard = o->shards > 0 ? o->shard : 1;
    o->shards = o->shards > 0 ? o->shards : 1;
    if (!batch_list(p, o, &list, &err)) {
        fail_msg("%s", err.text);
    }
    return list;
}

static void refuse_list(const Program *p, Options *o, const char *const *files, int n, const char *message)
{
    static const char *paths[16];
    BatchList list;
    Err err = {0};
    memcpy(paths, files, (size_t)n * sizeof *files);
    o->files = paths;
    o->n_files = n;
    o->shard = o->shards = 1;
    assert_false(batch_list(p, o, &list, &err));
    assert_int_equal(err.code, CODE_USAGE);
    assert_string_equal(err.text, message);
    batch_list_free(&list);
}

static void outputs_get_their_names(void **state)
{
    (void)state;
    static const char *const FILES[] = {"in/a.ome.tif", "in/b.tif", "in/c.tif"};
    for (int i = 0; i < 3; i++) {
        write_text(FILES[i], "");
    }
    Options o = {.output = "out"}; /* does not exist yet, and is a folder all the same */
    BatchList list = list_of(&ONE, &o, FILES, 3);
    assert_int_equal(list.n, 3);
    assert_string_equal(list.items[0].outputs[0], "out/a_labels.tif");
    assert_string_equal(list.items[0].outputs[1], "out/a_table.csv");
    assert_null(list.items[0].outputs[2]);
    assert_string_equal(list.items[0].name, "a.ome.tif");
    assert_string_equal(list.files.merged[1], "out/table.csv");
    assert_null(list.files.merged[0]);
    assert_string_equal(list.files.values, "out/values.csv");
    assert_string_equal(list.files.journal, "out/.blobs.journal");
    batch_list_free(&list);

    o = (Options){.output = "r/{stem}/{output}.{ext}", .shard = 2, .shards = 2};
    list = list_of(&ONE, &o, FILES, 3);
    assert_int_equal(list.n, 1);
    assert_string_equal(list.items[0].outputs[0], "r/b/labels.tif");
    assert_int_equal(list.items[0].index, 1);
    assert_string_equal(list.files.merged[1], "r/table.shard-2-of-2.csv");
    assert_string_equal(list.files.journal, "r/.blobs.shard-2-of-2.journal");
    batch_list_free(&list);

    o = (Options){0};
    list = list_of(&ONE, &o, FILES, 1);
    assert_string_equal(list.items[0].outputs[0], "a_labels.tif");
    assert_string_equal(list.files.values, "values.csv");
    batch_list_free(&list);
}

static void clashes_are_found(void **state)
{
    (void)state;
    static const char *const FILES[] = {"in/a.tif", "more/a.tif"};
    write_text(FILES[0], "");
    write_text(FILES[1], "");
    Options o = {.output = "out/"};
    refuse_list(&ONE, &o, FILES, 2,
                "'in/a.tif' and 'more/a.tif' would both be written to 'out/a_labels.tif'; use "
                "{name}, {dir} or {index} in -o, for example -o "
                "'out/{index}_{stem}_{output}.{ext}'");
    o.output = "out/{stem}.csv";
    refuse_list(&ONE, &o, FILES, 1,
                "two outputs of 'in/a.tif' would both be written to 'out/a.csv'; use {output} and "
                "{ext} in -o");
    o = (Options){.output = "out/{dir}/{stem}_{output}.{ext}"};
    BatchList list = list_of(&ONE, &o, FILES, 2);
    assert_string_equal(list.items[0].name, "in/a.tif"); /* the names alone are the same */
    batch_list_free(&list);
    o = (Options){.output = "out/{output}.{ext}"};
    list = list_of(&ONE, &o, FILES, 1); /* its table is the table of all */
    assert_null(list.files.merged[1]);
    batch_list_free(&list);
}

static void outputs_beside_inputs_are_no_inputs(void **state)
{
    (void)state;
    write_text("a.tif", "");
    write_text("a_labels.tif", "");
    write_text("b_labels.tif", ""); /* there is no b.tif: this is an image */
    Options o = {0};
    BatchList list = list_of(&ONE, &o, (const char *const[]){"."}, 1);
    assert_int_equal(list.n, 2);
    assert_string_equal(list.items[0].name, "a.tif");
    assert_string_equal(list.items[1].name, "b_labels.tif");
    batch_list_free(&list);
    /* A picture of each frame. */
    static const char *const FRAMES[] = {"p/a.tif", "p/a_seen_0.png", "p/a_seen_11.png"};
    static const char *const OTHERS[] = {"p/a_seen_.png", "p/a_seen_1x.png", "p/a_seen_2.tif", "p/b_seen_3.png"};
    for (int i = 0; i < 3; i++) {
        write_text(FRAMES[i], "");
    }
    o = (Options){.output = "p"};
    list = list_of(&SEEN, &o, (const char *const[]){"p"}, 1);
    assert_int_equal(list.n, 1);
    batch_list_free(&list);
    for (int i = 0; i < 4; i++) {
        write_text(OTHERS[i], "");
    }
    list = list_of(&SEEN, &o, (const char *const[]){"p"}, 1);
    assert_int_equal(list.n, 1 + 4);
    batch_list_free(&list);
    o = (Options){0};
    refuse_list(&ONE, &o, (const char *const[]){"a.tif", "a_labels.tif"}, 2,
                "the output 'a_labels.tif' of 'a.tif' would replace an input; choose another name "
                "or folder with -o");
}

static void further_inputs_must_be_there(void **state)
{
    (void)state;
    const char *inputs[] = {NULL, "flat/{stem}.tif"};
    write_text("a.tif", "");
    write_text("flat/a.tif", "");
    Options o = {.inputs = inputs, .output = "out/"};
    BatchList list = list_of(&TWO, &o, (const char *const[]){"a.tif"}, 1);
    assert_string_equal(list.items[0].inputs[1], "flat/a.tif");
    batch_list_free(&list);
    inputs[1] = "dark/{stem}.tif";
    refuse_list(&TWO, &o, (const char *const[]){"a.tif"}, 1,
                "--flat, for 'a.tif': cannot read 'dark/a.tif': there is no such file or folder");
}

/* ---- frames ---------------------------------------------------------------------------- */

static void unnamed_axes_are_looped_over(void **state)
{
    (void)state;
    Frames f;
    Err err = {0};
    ProgInput input = {.name = "image", .axes = "yx"};
    ImageInfo info = {.x = 10,
                      .y = 8,
                      .z = 3,
                      .c = 2,
                      .t = 4,
                      .has_z = true,
                      .has_c = true,
                      .has_t = true,
                      .elem = ELEM_U16,
                      .size_um = {0.5, 0.25, 2}};
    assert_true(frames_of(&input, &info, &f, &err));
    assert_int_equal(f.n, 24);
    assert_true(f.volume.extent[0] == 10 && f.volume.extent[1] == 8 && f.volume.extent[2] == 1 &&
                f.volume.extent[3] == 1 && f.volume.pixel_um[2] == 2);
    int64_t k = 0, at[LOOPS];
    for (int64_t t = 0; t < 4; t++) {
        for (int64_t c = 0; c < 2; c++) {
            for (int64_t z = 0; z < 3; z++, k++) {
                frames_at(&f, k, at);
                assert_true(at[LOOP_T] == t && at[LOOP_C] == c && at[LOOP_Z] == z);
            }
        }
    }
    input.axes = "zyxc";
    assert_true(frames_of(&input, &info, &f, &err));
    assert_int_equal(f.n, 4);
    assert_true(f.volume.extent[2] == 3 && f.volume.extent[3] == 2);
    assert_true(f.looped[LOOP_T] && !f.looped[LOOP_C] && !f.looped[LOOP_Z]);
    info = (ImageInfo){.x = 5, .y = 1, .z = 1, .c = 1, .t = 1, .has_t = true};
    input.axes = "x";
    assert_true(frames_of(&input, &info, &f, &err));
    assert_true(f.n == 1 && f.looped[LOOP_T]); /* a film of one frame still has the column */
}

static void wrong_files_are_refused(void **state)
{
    (void)state;
    Frames f;
    Err err = {0};
    ProgInput input = {.name = "image", .axes = "yx"};
    ImageInfo info = {.x = 10, .y = 8, .z = 1, .c = 3, .t = 1, .rgb = true, .elem = ELEM_U8};
    assert_false(frames_of(&input, &info, &f, &err));
    assert_int_equal(err.code, CODE_FILES);
    assert_string_equal(err.text, "this is a colour image, but the pipeline declares image[y, x]; declare "
                                  "the axis c too and pick a channel, such as image[c = 1]");
    err_clear(&err);
    input.labels = true;
    assert_false(frames_of(&input, &info, &f, &err));
    assert_string_equal(err.text, "this is a colour image, but image is labels, which has one number a pixel; save "
                                  "those numbers, not a picture of them");
    err_clear(&err);
    input.axes = "x";
    info = (ImageInfo){.x = 10, .y = 8, .z = 1, .c = 1, .t = 1};
    assert_false(frames_of(&input, &info, &f, &err));
    assert_string_equal(err.text, "this file has 8 rows, but the pipeline declares image[x]");
}

static void frames_of_several_inputs_agree(void **state)
{
    (void)state;
    Frames film = {.n = 4, .extent = {4, 1, 1}}, one = {.n = 1, .extent = {1, 1, 1}};
    Frames stack = {.n = 4, .extent = {1, 1, 4}};
    assert_true(frames_agree(&film, &film) && frames_agree(&film, &one));
    assert_true(frames_agree(&one, &one));
    assert_false(frames_agree(&one, &film) || frames_agree(&film, &stack));
}

static void results_are_stacked(void **state)
{
    (void)state;
    Frames f = {.n = 24, .extent = {4, 2, 3}, .looped = {true, true, true}};
    ProgOutput output = {.name = "o", .axes = "yx"};
    ExecGrid grid = {.w = 10, .h = 8, .d = 1, .c = 1};
    ImageInfo shape;
    int64_t t, c, z;
    frames_stack(&f, &output, &grid, NULL, ELEM_U8, &shape);
    assert_true(shape.t == 4 && shape.c == 2 && shape.z == 3 && shape.x == 10 && !shape.rgb);
    frames_stack_at(&f, &grid, 11, &t, &c, &z);
    assert_true(t == 1 && c == 1 && z == 2);
    /* colours of its own: the looped channels go along time */
    grid.c = 3;
    output.axes = "yxc";
    frames_stack(&f, &output, &grid, NULL, ELEM_U8, &shape);
    assert_true(shape.t == 8 && shape.c == 3 && shape.z == 3 && shape.rgb);
    frames_stack_at(&f, &grid, 11, &t, &c, &z);
    assert_true(t == 3 && c == 0 && z == 2);
}

/* ---- the journal ----------------------------------------------------------------------- */

static Journal *open_journal(const char *key, bool resume)
{
    Journal *journal;
    Err err = {0};
    if (!journal_open("j", key, resume, &journal, &err)) {
        fail_msg("%s", err.text);
    }
    return journal;
}

static JournalImage image_of(char **inputs, int n, char **output)
{
    return (JournalImage){inputs, n, output, 1};
}

static void add_record(Journal *journal, const char *input, const char *output, const char *values)
{
    Err err = {0};
    char in[100], out[100], flat[] = "flat.tif", *inputs[] = {in, flat}, *outputs[] = {out};
    snprintf(in, sizeof in, "%s", input);
    snprintf(out, sizeof out, "%s", output);
    JournalImage image = image_of(inputs, 2, outputs);
    char content[DIGEST_TEXT], *begun = journal_begin(journal, &image);
    assert_non_null(begun);
    assert_true(file_state_content(in, content));
    begun = journal_read(&image, begun, content);
    assert_non_null(begun);
    assert_true(journal_add(journal, begun, &output, 1, values, &err));
    free(begun);
}

static JournalFate fate_of(Journal *journal, const char *input, const char *output, const char **values)
{
    char in[100], out[100], flat[] = "./flat.tif", *inputs[] = {in, flat}, *outputs[] = {out};
    snprintf(in, sizeof in, "%s", input);
    snprintf(out, sizeof out, "%s", output);
    JournalImage image = image_of(inputs, 2, outputs);
    return journal_find(journal, &image, values);
}

static void finished_images_are_found_again(void **state)
{
    (void)state;
    static const char *const FILES[] = {"flat.tif", "a.tif", "odd\tname\\\n.tif", "out.tif", "more.tif"};
    for (int i = 0; i < 5; i++) {
        write_text(FILES[i], "pixels");
    }
    const char *values;
    Journal *journal = open_journal("key", true);
    assert_int_equal(fate_of(journal, "a.tif", "out.tif", &values), JOURNAL_NEW);
    add_record(journal, "a.tif", "out.tif", "000\n0,0,0,1\n");
    add_record(journal, FILES[2], "out.tif", "");
    add_record(journal, "a.tif", "out.tif", "000\n0,0,0,2\n"); /* the last one counts */
    journal_close(journal);

    journal = open_journal("key", true);
    char folder[PATH_MAX], far[2 * PATH_MAX];
    assert_non_null(getcwd(folder, sizeof folder));
    snprintf(far, sizeof far, "%s/./a.tif", folder);
    const char *const spelled[] = {"a.tif", ".//a.tif", strlen(far) < 100 ? far : "a.tif"};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(fate_of(journal, spelled[i], i == 1 ? "./out.tif" : "out.tif", &values), JOURNAL_DONE);
        assert_string_equal(values, "000\n0,0,0,2\n");
    }
    assert_int_equal(fate_of(journal, FILES[2], "out.tif", &values), JOURNAL_DONE);
    assert_string_equal(values, "");
    assert_int_equal(fate_of(journal, "b.tif", "out.tif", &values), JOURNAL_NEW);
    assert_int_equal(fate_of(journal, "a.tif", "more.tif", &values), JOURNAL_NEW); /* a name that it should not have */
    char alone[] = "a.tif", out[] = "out.tif", *inputs[] = {alone}, *outputs[] = {out};
    JournalImage image = image_of(inputs, 1, outputs);
    assert_int_equal(journal_find(journal, &image, &values), JOURNAL_NEW);
    write_text("flat.tif", "other pixels");
    assert_int_equal(fate_of(journal, "a.tif", "out.tif", &values), JOURNAL_OTHER_INPUT);
    journal_close(journal);

    journal = open_journal("key", false); /* forgets */
    journal_close(journal);
    journal = open_journal("key", true);
    assert_int_equal(fate_of(journal, FILES[2], "out.tif", &values), JOURNAL_NEW);
    journal_close(journal);
}

/* Writes a file's bytes again, and gives it the time that it had. */
static void alter_in_place(const char *path, const char *text)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_size, strlen(text));
    int fd = open(path, O_WRONLY);
    assert_true(fd >= 0 && pwrite(fd, text, strlen(text), 0) == (ssize_t)strlen(text));
    close(fd);
    const struct timespec times[] = {st.st_atim, st.st_mtim};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void take_times_back(const char *path)
{
    const struct timespec times[] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* A copy is another file with the same content. */
static void copy_over(const char *path)
{
    char *text;
    size_t size;
    Err err = {0};
    assert_true(file_read(path, &text, &size, &err) && file_write(path, text, size, &err));
    free(text);
}

static void contents_decide_what_is_done(void **state)
{
    (void)state;
    static const struct {
        const char *output, *input; /* by the time of the next run, in place; NULL: as it was */
        JournalFate fate;
    } NOW[] = {
        {NULL, NULL, JOURNAL_DONE},
        {"pixels", "a page", JOURNAL_DONE}, /* other times, the same content */
        {"pixelS", NULL, JOURNAL_OTHER_OUTPUT},
        {NULL, "a pagE", JOURNAL_OTHER_INPUT},
    };
    const char *values;
    write_text("flat.tif", "");
    for (size_t i = 0; i < sizeof NOW / sizeof *NOW; i++) {
        for (int old = 0; old < 2; old++) { /* just written, and with times of their own */
            write_text("a.tif", "a page");
            write_text("out.tif", "pixels");
            for (int k = 0; k < 2 * old; k++) {
                take_times_back(k == 0 ? "a.tif" : "out.tif");
            }
            Journal *journal = open_journal("key", false);
            add_record(journal, "a.tif", "out.tif", "");
            journal_close(journal);
            if (NOW[i].output != NULL) {
                alter_in_place("out.tif", NOW[i].output);
            }
            if (NOW[i].input != NULL) {
                alter_in_place("a.tif", NOW[i].input);
            }
            journal = open_journal("key", true);
            assert_int_equal(fate_of(journal, "a.tif", "out.tif", &values), NOW[i].fate);
            journal_close(journal);
        }
    }
}

static void outputs_that_are_not_as_they_were_written_are_made_again(void **state)
{
    (void)state;
    static const char *const NOW[] = {NULL, "", "pix", "edited by hand"}; /* NULL: gone */
    const char *values;
    write_text("flat.tif", "");
    write_text("a.tif", "");
    for (size_t i = 0; i < sizeof NOW / sizeof *NOW; i++) {
        write_text("out.tif", "pixels");
        Journal *journal = open_journal("key", false);
        add_record(journal, "a.tif", "out.tif", "");
        journal_close(journal);
        unlink("out.tif");
        if (NOW[i] != NULL) {
            write_text("out.tif", NOW[i]);
        }
        journal = open_journal("key", true);
        assert_int_equal(fate_of(journal, "a.tif", "out.tif", &values), JOURNAL_OTHER_OUTPUT);
        journal_close(journal);
    }
}

/* A record whose stamps have aged is written again with new ones, and a copied file counts as what it is. */
static void stamps_are_taken_anew(void **state)
{
    (void)state;
    const char *values;
    char before[DIGEST_TEXT], *text = NULL;
    size_t size;
    Err err = {0};
    write_text("flat.tif", "");
    write_text("a.tif", "a page");
    write_text("out.tif", "pixels");
    Journal *journal = open_journal("key", false);
    add_record(journal, "a.tif", "out.tif", "7");
    journal_close(journal);
    copy_over("a.tif");
    take_times_back("a.tif");
    journal = open_journal("key", true);
    assert_int_equal(fate_of(journal, "a.tif", "out.tif", &values), JOURNAL_DONE);
    journal_close(journal);
    assert_true(file_state_stamp("a.tif", before) && before[0] != '\0' && file_read("j", &text, &size, &err));
    assert_non_null(strstr(text, before));
    free(text);
    bool proved = true;
    assert_true(file_state_is("a.tif", before, "", &proved) && proved);
    assert_false(file_state_is("a.tif", "", "", &proved));
    assert_false(file_state_is("none.tif", before, before, &proved));
}

static void inputs_that_grow_meanwhile_are_done_again(void **state)
{
    (void)state;
    const char *values, *file = "a.tif";
    char input[] = "a.tif", missing[] = "none.tif", *inputs[] = {input}, *none[] = {missing}, *outputs[] = {input};
    JournalImage image = image_of(inputs, 1, outputs), nowhere = image_of(none, 1, outputs);
    Err err = {0};
    write_text(input, "a page");
    Journal *journal = open_journal("key", false);
    char *begun = journal_begin(journal, &image);
    write_text(input, "a page and another");
    assert_true(journal_add(journal, begun, &file, 1, "", &err));
    free(begun);
    assert_null(journal_begin(journal, &nowhere));
    assert_true(journal_add(journal, NULL, &file, 1, "", &err));
    journal_close(journal);
    journal = open_journal("key", true);
    assert_int_equal(journal_find(journal, &image, &values), JOURNAL_OTHER_INPUT);
    journal_close(journal);
}

/* Whatever has been read of a file, in any pieces, its content is the same. */
static void content_is_what_is_read(void **state)
{
    (void)state;
    enum { MOST = 5 * DIGEST_BLOCK / 2 };
    static const size_t SIZES[] = {0, 1, DIGEST_BLOCK - 1, DIGEST_BLOCK, DIGEST_BLOCK + 1, MOST};
    static char bytes[MOST];
    for (size_t i = 0; i < MOST; i++) {
        bytes[i] = (char)(i * i >> 7);
    }
    for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++) {
        char want[DIGEST_TEXT], got[DIGEST_TEXT];
        FILE *to = fopen("file", "wb");
        assert_true(to != NULL && fwrite(bytes, 1, SIZES[i], to) == SIZES[i] && fclose(to) == 0);
        assert_true(file_state_content("file", want));
        for (size_t from = 0; from <= SIZES[i]; from += 30000) {
            Seen *seen = seen_new(SIZES[i]);
            assert_non_null(seen);
            seen_add(seen, from, bytes + from, SIZES[i] - from);
            assert_true(file_state_content_of("file", seen, got));
            assert_string_equal(got, want);
            seen_free(seen);
        }
    }
    char first[DIGEST_TEXT], second[DIGEST_TEXT]; /* what was read counts, and not what is there now */
    Seen *seen = seen_new(MOST);
    assert_non_null(seen);
    seen_add(seen, 0, bytes, DIGEST_BLOCK);
    assert_true(file_state_content("file", first));
    bytes[100]++;
    FILE *to = fopen("file", "wb");
    assert_true(to != NULL && fwrite(bytes, 1, MOST, to) == MOST && fclose(to) == 0);
    assert_true(file_state_content_of("file", seen, second));
    assert_string_equal(first, second);
    assert_true(file_state_content("file", second));
    assert_string_not_equal(first, second);
    seen_free(seen);
    assert_false(file_state_content_of("none", NULL, second));
}

/* Where the stamp of a file proves something, its content comes once it has been read, and only if it is still the file. */
static void content_of_what_changed_meanwhile_is_not_taken(void **state)
{
    (void)state;
    char input[] = "a.tif", *inputs[] = {input}, *outputs[] = {input};
    JournalImage image = image_of(inputs, 1, outputs);
    write_text(input, "a page");
    take_times_back(input);
    Journal *journal = open_journal("key", false);
    char *begun = journal_begin(journal, &image), *before = strdup(begun);
    begun = journal_read(&image, begun, "c0ffee");
    assert_non_null(strstr(begun, "\tc0ffee\t"));
    begun = journal_read(&image, begun, "c0ffee00"); /* it has come already */
    assert_null(strstr(begun, "c0ffee00"));
    write_text(input, "another");
    before = journal_read(&image, before, "c0ffee");
    assert_null(strstr(before, "c0ffee"));
    free(before);
    free(begun);
    journal_close(journal);
}

static void cut_off_lines_are_passed_over(void **state)
{
    (void)state;
    const char *values;
    write_text("flat.tif", "");
    write_text("a.tif", "");
    write_text("b.tif", "");
    Journal *journal = open_journal("key", false);
    add_record(journal, "a.tif", "a.tif", "");
    add_record(journal, "b.tif", "b.tif", "");
    journal_close(journal);
    struct stat st;
    assert_int_equal(stat("j", &st), 0);
    for (off_t size = st.st_size - 1; size > st.st_size - 12; size--) {
        assert_int_equal(truncate("j", size), 0);
        journal = open_journal("key", true);
        assert_int_equal(fate_of(journal, "b.tif", "b.tif", &values), JOURNAL_NEW);
        add_record(journal, "b.tif", "b.tif", "again");
        journal_close(journal);
        journal = open_journal("key", true);
        assert_int_equal(fate_of(journal, "a.tif", "a.tif", &values), JOURNAL_DONE);
        assert_int_equal(fate_of(journal, "b.tif", "b.tif", &values), JOURNAL_DONE);
        assert_string_equal(values, "again");
        journal_close(journal);
    }
}

/* ---- the folder's lock ------------------------------------------------------------------ */

/* Whether a process of its own gets the lock; one that does not names this process.  It keeps it until it is killed. */
static pid_t locker(const LockShare *share, bool *got)
{
    int to[2];
    assert_int_equal(pipe(to), 0);
    pid_t self = getpid(), child = fork();
    if (child == 0) {
        FolderLock *lock;
        Err err = {0};
        char name[60];
        snprintf(name, sizeof name, "process %ld,", (long)self);
        bool has = folder_lock("./", share, &lock, &err), named = has || strstr(err.text, name) != NULL;
        char said = (char)(!named ? '?' : has ? '1' : '0');
        (void)!write(to[1], &said, 1);
        alarm(600);
        pause();
        _exit(0);
    }
    char said = '?';
    assert_int_equal(read(to[0], &said, 1), 1);
    close(to[0]);
    close(to[1]);
    assert_true(said == '0' || said == '1');
    *got = said == '1';
    return child;
}

static void end_locker(pid_t child)
{
    int status;
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &status, 0), child);
}

static void folders_are_locked(void **state)
{
    (void)state;
    char one[] = "./a.tif", two[] = "./b.tif", *ones[] = {one, NULL}, *twos[] = {two};
    const LockShare a = {"single", ones, 2}, b = {"single", twos, 1}, other = {"others", twos, 1};
    const struct {
        const LockShare *first, *second;
        bool both;
    } PAIRS[] = {{NULL, NULL, false}, {NULL, &a, false}, {&a, NULL, false},   {&a, &a, false},
                 {&a, &b, true},      {&b, &a, true},    {&a, &other, false}, {&other, &a, false}};
    for (size_t i = 0; i < sizeof PAIRS / sizeof *PAIRS; i++) {
        FolderLock *lock;
        Err err = {0};
        bool got;
        assert_true(folder_lock("./", PAIRS[i].first, &lock, &err));
        assert_non_null(lock);
        pid_t child = locker(PAIRS[i].second, &got);
        assert_int_equal(got, PAIRS[i].both);
        end_locker(child); /* what a killed process had is free */
        folder_unlock(lock);
        assert_int_equal(access(".pipec.lock", F_OK), -1);
    }
}

/* A line of the merged table for an image of this name. */
static const MergeColumns NO_COLUMNS = {.columns = &(const Columns){.n = 0}};

static void names_in_tables_run_nothing(void **state)
{
    (void)state;
    static const char *const NAMES[][2] = {{"a.tif", "a.tif"},
                                           {"=cmd|x.tif", "'=cmd|x.tif"},
                                           {"+1.tif", "'+1.tif"},
                                           {"-1.tif", "'-1.tif"},
                                           {"@SUM.tif", "'@SUM.tif"},
                                           {"\tx.tif", "\"'\tx.tif\""},
                                           {"\rx", "\"'\rx\""},
                                           {"'x.tif", "''x.tif"},
                                           {"\xEF\xBC\x9Dx", "'\xEF\xBC\x9Dx"},
                                           {"a;=x.tif", "\"a;=x.tif\""},
                                           {"=\"x\",1", "\"'=\"\"x\"\",1\""},
                                           {"2-1.tif", "2-1.tif"}};
    Err err = {0};
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        const MergePart part = {NAMES[i][0], NULL, "000\n0,0,0,-5\n"};
        char want[100];
        snprintf(want, sizeof want, "image,v\n%s,-5\n", NAMES[i][1]);
        assert_true(merge_values("v.csv", "v", &NO_COLUMNS, &part, 1, &err));
        assert_file("v.csv", want);
    }
}

static void other_keys_are_refused(void **state)
{
    (void)state;
    Err err = {0};
    Journal *journal = open_journal("one", false);
    journal_close(journal);
    assert_false(journal_open("j", "other", true, &journal, &err));
    assert_int_equal(err.code, CODE_USAGE);
    assert_non_null(strstr(err.text, "without --resume everything is done again"));
    err_clear(&err);
    assert_false(journal_open("no/such/folder/j", "one", false, &journal, &err));
    assert_int_equal(err.code, CODE_OUTPUT);
    assert_true(str_hash(str_hash(STR_HASH, "ab"), "c") != str_hash(str_hash(STR_HASH, "a"), "bc"));
}

/* ---- tables of all images -------------------------------------------------------------- */

static void tables_are_put_together(void **state)
{
    (void)state;
    Err err = {0};
    write_text("a.csv", "label,area\n1,10\n2,20.5\n");
    write_text("b.csv", "frame,z,label,area\n0,3,1,7\n1,3,1,\n");
    write_text("c.csv", "label,area\n");
    const MergePart parts[] = {{"a.tif", NULL, "a.csv"}, {"b, \"c\".tif", NULL, "b.csv"}, {"c.tif", NULL, "c.csv"}};
    assert_true(merge_tables("all.csv", &NO_COLUMNS, parts, 3, &err));
    assert_file("all.csv", "image,frame,z,label,area\n"
                           "a.tif,0,0,1,10\n"
                           "a.tif,0,0,2,20.5\n"
                           "\"b, \"\"c\"\".tif\",0,3,1,7\n"
                           "\"b, \"\"c\"\".tif\",1,3,1,\n");
    assert_true(merge_tables("plain.csv", &NO_COLUMNS, parts, 1, &err));
    assert_file("plain.csv", "image,label,area\na.tif,1,10\na.tif,2,20.5\n");
    write_text("d.csv", "label,mean\n1,2\n");
    const MergePart odd[] = {{"a.tif", NULL, "a.csv"}, {"d.tif", NULL, "d.csv"}};
    assert_false(merge_tables("odd.csv", &NO_COLUMNS, odd, 2, &err));
    assert_int_equal(access("odd.csv", F_OK), -1);
}

static void values_are_put_together(void **state)
{
    (void)state;
    Err err = {0};
    const MergePart parts[] = {{"a.tif", NULL, "000\n0,0,0,1.5,2\n"}, {"b.tif", NULL, "100\n0,0,0,3,\n1,0,0,4,5\n"}};
    assert_true(merge_values("values.csv", "mean,count", &NO_COLUMNS, parts, 2, &err));
    assert_file("values.csv", "image,frame,mean,count\na.tif,0,1.5,2\nb.tif,0,3,\nb.tif,1,4,5\n");
    assert_true(merge_values("values.csv", "mean,count", &NO_COLUMNS, parts, 1, &err));
    assert_file("values.csv", "image,mean,count\na.tif,1.5,2\n");
}

#define in_folder(test) cmocka_unit_test_setup_teardown(test, folder_enter, folder_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_sort_as_numbers),
        in_folder(folders_give_their_images),
        in_folder(outputs_get_their_names),
        in_folder(clashes_are_found),
        in_folder(outputs_beside_inputs_are_no_inputs),
        in_folder(further_inputs_must_be_there),
        cmocka_unit_test(unnamed_axes_are_looped_over),
        cmocka_unit_test(wrong_files_are_refused),
        cmocka_unit_test(frames_of_several_inputs_agree),
        cmocka_unit_test(results_are_stacked),
        in_folder(finished_images_are_found_again),
        in_folder(outputs_that_are_not_as_they_were_written_are_made_again),
        in_folder(contents_decide_what_is_done),
        in_folder(stamps_are_taken_anew),
        in_folder(folders_are_locked),
        in_folder(names_in_tables_run_nothing),
        in_folder(cut_off_lines_are_passed_over),
        in_folder(other_keys_are_refused),
        in_folder(tables_are_put_together),
        in_folder(values_are_put_together),
        in_folder(inputs_that_grow_meanwhile_are_done_again),
        in_folder(content_is_what_is_read),
        in_folder(content_of_what_changed_meanwhile_is_not_taken),
        in_folder(cut_off_lines_are_passed_over),
        in_folder(other_keys_are_refused),
        in_folder(tables_are_put_together),
        in_folder(values_are_put_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
