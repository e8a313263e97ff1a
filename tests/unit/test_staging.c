/* Rows through pinned blocks and lanes beside the queue for all work. */
#include "runtime/device/staging.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { LINE = 40, PITCH = 64, ROWS = 50, ROUNDS = 40 };

static Device *open_device(void)
{
    Device *dev;
    Err err = {0};
    if (!dev_open(&(DevOptions){.choice = "cpu"}, &dev, &err)) {
        fail_msg("%s", err.text);
    }
    return dev;
}

static DevMem *make_memory(Device *dev, size_t bytes)
{
    DevMem *mem;
    Err err = {0};
    assert_true(dev_alloc(dev, bytes, &mem, &err));
    return mem;
}

static void send(Device *dev, Staging *staging, const StagingRows *rows, int round)
{
    char *at;
    Err err = {0};
    assert_true(dev_follow(dev, DEV_UPLOAD, DEV_COMPUTE, &err));
    assert_true(staging_room(staging, rows->line * rows->rows, &at, &err));
    for (size_t i = 0; i < rows->line * rows->rows; i++) {
        at[i] = (char)(i * 7 + (size_t)round);
    }
    assert_true(staging_send(staging, rows, &err));
    assert_true(dev_follow(dev, DEV_COMPUTE, DEV_UPLOAD, &err));
}

static void take(Staging *staging, size_t bytes, int round)
{
    char *at;
    Err err = {0};
    assert_true(staging_take(staging, &at, &err));
    for (size_t i = 0; i < bytes; i++) {
        assert_int_equal(at[i], (char)(i * 7 + (size_t)round));
    }
}

/* Up, copied in the compute lane, down: each round's bytes arrive though blocks and memory are used
 * again at once. */
static void rows_go_round(void **state)
{
    (void)state;
    Device *dev = open_device();
    Staging *staging = staging_new(dev);
    DevMem *a = make_memory(dev, PITCH * ROWS), *b[STAGING_BLOCKS];
    StagingRows up = {a, 0, PITCH, LINE, ROWS}, down = up;
    Err err = {0};
    int taken = 0;
    for (int i = 0; i < STAGING_BLOCKS; i++) {
        b[i] = make_memory(dev, PITCH * ROWS);
    }
    for (int round = 0; round < ROUNDS; round++) {
        DevMem *to = b[round % STAGING_BLOCKS];
        if (staging_is_full(staging)) {
            take(staging, LINE * ROWS, taken++);
        }
        assert_int_equal(taken, round < STAGING_BLOCKS ? 0 : round - STAGING_BLOCKS + 1);
        send(dev, staging, &up, round);
        assert_true(dev_copy(dev, a, 0, to, 0, PITCH * ROWS, &err));
        assert_true(dev_follow(dev, DEV_DOWNLOAD, DEV_COMPUTE, &err));
        down.mem = to;
        assert_true(staging_fetch(staging, &down, &err));
    }
    while (taken < ROUNDS) {
        take(staging, LINE * ROWS, taken++);
    }
    assert_true(dev_finish(dev, &err));
    for (int i = STAGING_BLOCKS - 1; i >= 0; i--) {
        dev_free(dev, b[i]);
    }
    dev_free(dev, a);
    staging_free(staging);
    staging_free(NULL);
    dev_close(dev);
}

static void blocks_grow_and_hold_at_least_a_row(void **state)
{
    (void)state;
    Device *dev = open_device();
    Staging *staging = staging_new(dev);
    char *at;
    Err err = {0};
    assert_int_equal(staging_rows(0), 1);
    assert_int_equal(staging_rows(STAGING_BYTES), 1);
    assert_int_equal(staging_rows((size_t)STAGING_BYTES * 3), 1);
    assert_int_equal(staging_rows(STAGING_BYTES / 8), 8);
    for (size_t bytes = 1; bytes < 3 * (size_t)STAGING_BYTES; bytes *= 9) {
        assert_true(staging_room(staging, bytes, &at, &err));
        memset(at, 1, bytes);
    }
    staging_free(staging);
    dev_close(dev);
}

/* What does not fit is refused, and what was under way is forgotten. */
static void failures_leave_nothing_behind(void **state)
{
    (void)state;
    Device *dev = open_device();
    Staging *staging = staging_new(dev);
    DevMem *mem = make_memory(dev, PITCH * ROWS);
    StagingRows rows = {mem, 0, PITCH, LINE, ROWS}, beyond = {mem, PITCH * ROWS, PITCH, LINE, 1};
    Err err = {0};
    send(dev, staging, &rows, 0);
    assert_true(staging_fetch(staging, &rows, &err));
    assert_false(staging_fetch(staging, &beyond, &err));
    assert_int_equal(err.code, CODE_DEVICE);
    assert_non_null(strstr(err.text, "in a download"));
    staging_forget(staging);
    assert_false(staging_is_full(staging));
    err = (Err){0};
    assert_true(staging_fetch(staging, &rows, &err));
    staging_free(staging);
    dev_free(dev, mem);
    dev_close(dev);
}

/* Memory of ours that is pinned is left to us. */
static void memory_is_pinned_where_it_is(void **state)
{
    (void)state;
    Device *dev = open_device();
    DevMem *mem = make_memory(dev, 8192);
    char *own = aligned_alloc(4096, 8192), back[8192];
    DevMark *done;
    Err err = {0};
    assert_non_null(own);
    memset(own, 5, 8192);
    assert_true(dev_host_pin(dev, own, 8192, &err));
    assert_true(dev_send_rows(dev, mem, 0, 8192, own, 8192, 8192, 1, &done, &err));
    assert_true(dev_after(dev, DEV_COMPUTE, done, &err) && dev_after(dev, DEV_COMPUTE, NULL, &err));
    dev_mark_free(dev, done);
    assert_true(dev_read(dev, mem, 0, back, sizeof back, &err));
    assert_memory_equal(own, back, sizeof back);
    dev_host_free(dev, own);
    memset(own, 6, 8192);
    free(own);
    assert_true(dev_reach(dev, NULL, &err));
    dev_mark_free(dev, NULL);
    dev_free(dev, mem);
    dev_close(dev);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_go_round),
                                       cmocka_unit_test(blocks_grow_and_hold_at_least_a_row),
                                       cmocka_unit_test(failures_leave_nothing_behind),
                                       cmocka_unit_test(memory_is_pinned_where_it_is)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
