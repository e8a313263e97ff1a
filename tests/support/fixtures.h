/* fixtures: what many tests begin and end with, for cmocka_unit_test_setup_teardown. */
#ifndef TESTS_SUPPORT_FIXTURES_H
#define TESTS_SUPPORT_FIXTURES_H

#include "base/arena.h"

/* The arena of the test that runs. */
extern Arena arena;
int arena_setup(void **state);
int arena_teardown(void **state);

/* An empty folder of the test's own, in which it runs and which goes with it. */
int folder_enter(void **state);
int folder_leave(void **state);

#endif
