/* Time by phase: each moment counts once, for the innermost phase of its thread. */
#include "runtime/host/stopwatch.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <time.h>
#include <cmocka.h>

enum { MS = 1000000 };

static void sleep_ms(long ms)
{
    struct timespec t = {0, ms * MS};
    nanosleep(&t, NULL);
}

static uint64_t sum(const Stopwatch *watch)
{
    uint64_t ns = 0;
    for (int i = PHASE_NONE; i < PHASES; i++) {
        ns += watch->ns[i];
    }
    return ns;
}

static void phases_nest(void **state)
{
    (void)state;
    Stopwatch watch = {0};
    uint64_t begin = stopwatch_now();
    stopwatch_use(&watch, "tester");
    assert_ptr_equal(stopwatch_used(), &watch);
    Phase outer = stopwatch_begin(PHASE_DECODE);
    sleep_ms(2);
    Phase inner = stopwatch_begin(PHASE_READ);
    sleep_ms(5);
    stopwatch_end(inner);
    sleep_ms(2);
    stopwatch_end(outer);
    sleep_ms(1);
    stopwatch_use(NULL, NULL);
    uint64_t all = stopwatch_now() - begin;
    assert_true(watch.ns[PHASE_DECODE] >= 4 * MS && watch.ns[PHASE_READ] >= 5 * MS);
    assert_true(watch.ns[PHASE_NONE] >= MS);
    assert_true(watch.ns[PHASE_WRITE] == 0 && sum(&watch) <= all);
    uint64_t before = sum(&watch);
    Phase none = stopwatch_begin(PHASE_WRITE); /* nobody watches */
    sleep_ms(1);
    stopwatch_end(none);
    assert_true(sum(&watch) == before);
}

static void *write_once(void *context)
{
    stopwatch_use(context, "helper");
    Phase before = stopwatch_begin(PHASE_WRITE);
    sleep_ms(3);
    stopwatch_end(before);
    stopwatch_use(NULL, NULL);
    return NULL;
}

static void threads_add_up(void **state)
{
    (void)state;
    Stopwatch watch = {0};
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, write_once, &watch), 0);
    }
    for (int i = 0; i < 3; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    assert_true(watch.ns[PHASE_WRITE] >= 9 * MS);
    assert_null(stopwatch_used()); /* of this thread */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(phases_nest),
        cmocka_unit_test(threads_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
