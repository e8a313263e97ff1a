/*
 * interfaces: what docs/migration.md says to write for the functions of scikit-image, scipy and others compiles, and gives their numbers
 * where it says so (tests/data/interfaces.txt, made by make_interfaces.py beside it).
 *
 * A case has the place of its row as its name, package/module/the peer's call, and no text: its pipeline is the row's.
 * PIPEC_TEST_CASE=words runs the rows whose place has these words.
 */
#include "frontend/ops/ops.h"
#include "golden.h"
#include "fixtures.h"
#include "pipelines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct Place {
    const char *package, *module;
} Place;

/* Goes on to a row; its place as one word, or NULL where it is no function that can be written. */
static const char *place_of(Place *place, const Interface *row)
{
    if (row->kind == INTERFACE_PACKAGE) {
        place->package = row->name;
    } else if (row->kind == INTERFACE_MODULE) {
        place->module = row->name;
    }
    if (row->kind != INTERFACE_SAME && row->kind != INTERFACE_LIKE) {
        return NULL;
    }
    char *word = arena_printf(&arena, "%s/%s/%s", place->package, place->module, row->name);
    for (char *blank = strchr(word, ' '); blank != NULL; blank = strchr(blank, ' ')) {
        *blank = '_';
    }
    const char *only = getenv("PIPEC_TEST_CASE");
    return only == NULL || strstr(word, only) != NULL ? word : NULL;
}

static const char *pipeline_of(const Interface *row)
{
    Str text;
    str_init(&text, &arena);
    ops_interface_pipeline(row, &text);
    return text.at;
}

static void rows_compile(void **state)
{
    (void)state;
    Place place = {NULL, NULL};
    int wrong = 0;
    for (int i = 0; i < OPS_INTERFACES_N; i++) {
        const char *complaints, *name = place_of(&place, &OPS_INTERFACES[i]);
        if (name != NULL && pipeline_graph(&arena, "row.pipe", pipeline_of(&OPS_INTERFACES[i]), &complaints) == NULL) {
            print_error("%s\n%s\n", name, complaints);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

static void rows_without_a_counterpart_say_why(void **state)
{
    (void)state;
    for (int i = 0; i < OPS_INTERFACES_N; i++) {
        assert_true(OPS_INTERFACES[i].kind != INTERFACE_NONE || OPS_INTERFACES[i].note[0] != '\0');
    }
}

static GoldenCase *case_of(Golden *golden, const char *name)
{
    for (int i = 0; i < golden->cases.n; i++) {
        if (strcmp(golden->cases.at[i].name, name) == 0) {
            return &golden->cases.at[i];
        }
    }
    print_error("%s has no values in interfaces.txt\n", name);
    return NULL;
}

static void rows_give_what_the_peer_gives(void **state)
{
    (void)state;
    Golden golden = golden_read(TEST_DATA, "interfaces.txt");
    Place place = {NULL, NULL};
    int wrong = 0;
    for (int i = 0; i < OPS_INTERFACES_N; i++) {
        const Interface *row = &OPS_INTERFACES[i];
        const char *name = place_of(&place, row);
        if (name == NULL || row->kind != INTERFACE_SAME) {
            continue;
        }
        GoldenCase *c = case_of(&golden, name);
        if (c != NULL) {
            c->text = pipeline_of(row);
        }
        wrong += c == NULL || !golden_agrees(c);
    }
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rows_compile, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(rows_without_a_counterpart_say_why, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(rows_give_what_the_peer_gives, arena_setup, arena_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
