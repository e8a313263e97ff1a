/*
 * Notes: what is said, how often, and beside what else stands on the same terminal.
 */
#include "runtime/host/status.h"
#include "runtime/batch/notes.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

static char *said;
static size_t said_bytes;
static FILE *to;
static Progress *progress;
static Notes *notes;

static void begin(bool bar, bool quiet)
{
    to = open_memstream(&said, &said_bytes);
    assert_non_null(to);
    progress = progress_new(to, 4, bar, quiet);
    notes = notes_new(progress);
}

static void end(void)
{
    notes_end(notes);
    progress_end(progress);
    fclose(to);
}

static void assert_said(const char *want)
{
    assert_string_equal(said, want);
    free(said);
}

static void each_name_and_kind_is_said_once(void **state)
{
    (void)state;
    begin(false, false);
    notes_add(notes, "pages", "a.tif", "%d pages", 3);
    notes_add(notes, "pages", "a.tif", "%d pages", 3);
    notes_add(notes, "images", "a.tif", "an image");
    progress_image(progress, "a.tif", "0.1 s");
    notes_add(notes, "pages", "b.tif", "%d pages", 4);
    end();
    assert_said("note: a.tif: 3 pages\nnote: a.tif: an image\n1/4 a.tif  0.1 s\nnote: b.tif: 4 pages\n");
}

static void the_first_are_named_and_the_rest_is_counted(void **state)
{
    (void)state;
    begin(false, false);
    for (int i = 0; i < 2000; i++) {
        char name[20];
        snprintf(name, sizeof name, "%d.tif", i / 2); /* each of them twice */
        notes_add(notes, "more pages", name, "page %d", i);
    }
    for (int i = 0; i < 4; i++) {
        notes_add(notes, "other images", (const char *[]){"a", "b", "c", "d"}[i], "image %d", i);
    }
    end();
    assert_said("note: 0.tif: page 0\nnote: 1.tif: page 2\nnote: 2.tif: page 4\n"
                "note: a: image 0\nnote: b: image 1\nnote: c: image 2\n"
                "note: and 997 more images: more pages\nnote: and 1 more image: other images\n");
}

static void the_quiet_say_nothing(void **state)
{
    (void)state;
    begin(false, true);
    assert_null(notes);
    notes_add(notes, "pages", "a.tif", "3 pages");
    end();
    assert_said("");
}

/* The line that a thread draws is taken away before the note. */
static void a_line_is_not_written_into(void **state)
{
    (void)state;
    begin(true, false);
    status_open(to);
    status_say(STATUS_REST, "working");
    for (int i = 0; i < 2000 && ftell(to) == 0; i++) { /* until it is drawn */
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    }
    notes_add(notes, "pages", "a.tif", "3 pages");
    notes_end(notes);
    progress_end(progress);
    status_close();
    fclose(to);
    const char *note = strstr(said, "note: a.tif: 3 pages\n"), *drawn = strstr(said, "working");
    assert_non_null(note);
    assert_true(drawn == NULL || drawn > note || memcmp(note - 4, "\r\033[K", 4) == 0);
    free(said);
}

static void *add_many(void *context)
{
    const char *letter = context;
    for (int i = 0; i < 500; i++) {
        char name[20];
        snprintf(name, sizeof name, "%s%d", letter, i % 250);
        notes_add(notes, "pages", name, "pages");
        progress_image(progress, name, "done");
    }
    return NULL;
}

static void threads_lose_nothing(void **state)
{
    static char letters[4][2] = {"a", "b", "c", "d"};
    pthread_t threads[4];
    (void)state;
    begin(false, false);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, add_many, letters[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
    }
    end();
    int lines = 0;
    for (const char *at = said; (at = strstr(at, "note: ")) != NULL; at++) {
        assert_true(at == said || at[-1] == '\n');
        lines++;
    }
    assert_int_equal(lines, 4);
    assert_non_null(strstr(said, "note: and 997 more images: pages\n"));
    free(said);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_name_and_kind_is_said_once),
        cmocka_unit_test(the_first_are_named_and_the_rest_is_counted),
        cmocka_unit_test(the_quiet_say_nothing),
        cmocka_unit_test(a_line_is_not_written_into),
        cmocka_unit_test(threads_lose_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
