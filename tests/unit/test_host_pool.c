/* Memory for pixels that is used again. */
#include "runtime/batch/host_pool.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

enum { MIB = 1 << 20 };

static void blocks_are_used_again(void **state)
{
    (void)state;
    HostPool *pool = host_pool_new(4 * MIB, false, NULL, 0);
    assert_non_null(pool);
    void *a = host_pool_take(pool, MIB, NULL), *b = host_pool_take(pool, MIB, NULL);
    assert_true(a != NULL && b != NULL && a != b);
    memset(a, 1, MIB);
    memset(b, 2, MIB);
    host_pool_give(pool, a);
    assert_ptr_equal(host_pool_take(pool, MIB - MIB / 8, NULL), a); /* nearly as large */
    host_pool_give(pool, b);
    void *small = host_pool_take(pool, MIB / 2, NULL); /* too large a block for it */
    assert_ptr_not_equal(small, b);
    void *large = host_pool_take(pool, 2 * MIB, NULL);
    assert_ptr_not_equal(large, b);
    host_pool_give(pool, large);
    host_pool_give(pool, small);
    host_pool_give(pool, a);
    host_pool_give(pool, NULL);
    assert_int_equal(host_pool_pinned(pool), 0);
    host_pool_free(pool);
    host_pool_free(NULL);
}

static void *take_and_give(void *context)
{
    for (int i = 0; i < 2000; i++) {
        size_t bytes = (size_t)(1 + i % 3) * 100000;
        unsigned char *at = host_pool_take(context, bytes, NULL);
        if (at == NULL) {
            return context;
        }
        memset(at, i & 255, 1000);
        at[bytes - 1] = 1;
        for (int k = 0; k < 1000; k++) {
            if (at[k] != (i & 255)) {
                return context; /* somebody else has it too */
            }
        }
        host_pool_give(context, at);
    }
    return NULL;
}

static void threads_get_different_blocks(void **state)
{
    (void)state;
    pthread_t threads[4];
    HostPool *pool = host_pool_new(MIB / 2, false, NULL, 0); /* less than what is in use at one time */
    assert_non_null(pool);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, take_and_give, pool), 0);
    }
    for (int i = 0; i < 4; i++) {
        void *failed;
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
    }
    host_pool_free(pool);
}

/* Blocks that are wanted often are pinned, up to the limit, also while somebody has them. */
static void what_is_wanted_often_is_pinned(void **state)
{
    (void)state;
    Device *dev;
    Err err = {0};
    if (!dev_open(&(DevOptions){0}, &dev, &err)) {
        fail_msg("%s", err.text);
    }
    HostPool *pool = host_pool_new(3 * MIB, false, NULL, 0);
    assert_non_null(pool);
    for (int i = 0; i < 20; i++) {
        void *a = host_pool_take(pool, MIB - 1, NULL), *b = host_pool_take(pool, MIB - 1, NULL);
        assert_true(a != NULL && b != NULL && a != b);
        memset(a, i, MIB - 1);
        memset(b, i + 1, MIB - 1);
        host_pool_give(pool, a);
        host_pool_give(pool, b);
        assert_true(host_pool_pin(pool, dev));
        assert_true(i >= 2 || host_pool_pinned(pool) == 0);
    }
    assert_int_equal(host_pool_pinned(pool), 2 * MIB);
    void *three[3];
    for (int i = 0; i < 10; i++) {
        for (int k = 0; k < 3; k++) {
            three[k] = host_pool_take(pool, MIB - 1, NULL);
            assert_non_null(three[k]);
            memset(three[k], i, MIB - 1);
        }
        assert_true(host_pool_pin(pool, dev));
        for (int k = 0; k < 3; k++) {
            host_pool_give(pool, three[k]);
        }
    }
    assert_int_equal(host_pool_pinned(pool), 3 * MIB);
    for (int i = 0; i < 10; i++) { /* no more are allowed */
        void *other = host_pool_take(pool, 4 * MIB, NULL);
        assert_true(host_pool_pin(pool, dev));
        host_pool_give(pool, other);
    }
    assert_int_equal(host_pool_pinned(pool), 3 * MIB);
    host_pool_free(pool);
    dev_close(dev);
}

/* Where much is to come all is pinned, in turn for all devices, and what one asks for is its own. */
static void what_is_for_many_is_pinned(void **state)
{
    (void)state;
    Err err = {0};
    Device *dev, *second = NULL;
    if (!dev_open(&(DevOptions){0}, &dev, &err) || !dev_share(dev, &second, &err)) {
        fail_msg("%s", err.text);
    }
    Device *const devices[] = {dev, second};
    HostPool *pool = host_pool_new(3 * MIB, true, devices, 2);
    assert_non_null(pool);
    void *a = host_pool_take(pool, MIB - 1, NULL), *b = host_pool_take(pool, MIB - 1, second);
    void *c = host_pool_take(pool, MIB - 1, NULL), *d = host_pool_take(pool, MIB - 1, NULL);
    assert_int_equal(host_pool_pinned(pool), 3 * MIB);
    assert_int_equal(host_pool_device(pool, a), dev_info(dev)->number);
    assert_int_equal(host_pool_device(pool, b), dev_info(dev)->number); /* they share it */
    assert_int_equal(host_pool_device(pool, d), -1);                    /* no more are allowed */
    host_pool_give(pool, d);
    host_pool_give(pool, c);
    assert_ptr_equal(host_pool_take(pool, MIB - 1, dev), c);
    host_pool_give(pool, c);
    host_pool_give(pool, b);
    host_pool_give(pool, a);
    host_pool_free(pool);
    dev_close(second);
    dev_close(dev);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_used_again),
        cmocka_unit_test(threads_get_different_blocks),
        cmocka_unit_test(what_is_wanted_often_is_pinned),
        cmocka_unit_test(what_is_for_many_is_pinned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
