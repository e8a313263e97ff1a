/* profile: the table of steps and the trace of a run. */
#include "base/file.h"
#include "exec_programs.h"
#include "runtime/batch/profile.h"

#include <unistd.h>

static void profile_tells_times_and_bytes(void **state)
{
    Program program = chain();
    Device *dev = device(state);
    Profile *profile = profile_new(true);
    Exec *exec;
    Err err = {0};
    const DevEvent *events;
    char path[] = "/tmp/test-exec-XXXXXX", *text;
    size_t size;
    int n;
    double copy;
    assert_non_null(profile);
    assert_true(dev_events(dev, &events, &n, &err)); /* forget what other tests left */
    assert_true(profile_copy_bandwidth(dev, &copy, &err));
    assert_true(copy > 0);
    assert_true(exec_new(&program, dev, &exec, &err));
    run_chain(exec, W, H, 2);
    assert_true(profile_collect(profile, dev, exec_bound(exec), "one \"quoted\".tif", &err));
    run_chain(exec, W, H, 2);
    assert_true(profile_collect(profile, dev, exec_bound(exec), "two.tif", &err));
    stopwatch_use(profile_watch(profile), "a reader");
    stopwatch_end(stopwatch_begin(PHASE_DECODE)); /* one span */
    stopwatch_use(NULL, NULL);
    FILE *out = open_memstream(&text, &size);
    profile_print(profile, copy, out);
    fclose(out);
    assert_non_null(strstr(text, "\nsmooth  "));
    assert_non_null(strstr(text, "upload"));
    assert_non_null(strstr(text, "of copy"));
    free(text);
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    assert_true(profile_write_trace(profile, path, &err));
    assert_true(file_read(path, &text, &size, &err));
    int depth = 0, named = 0, spans = 0;
    for (const char *c = text; *c; c++) {
        depth += (*c == '{' || *c == '[') - (*c == '}' || *c == ']');
        assert_true(depth > 0 || c[0] == '\n' || c[1] == '\n');
        named += strncmp(c, "\"name\": \"smooth\"", 16) == 0;
        spans += strncmp(c, "\"name\": \"decoding\", \"ph\": \"X\", \"pid\": 2", 39) == 0;
    }
    assert_int_equal(depth, 0);
    assert_int_equal(named, 2);
    assert_int_equal(spans, 1);
    assert_non_null(strstr(text, "\"a reader\""));
    assert_non_null(strstr(text, "one \\\"quoted\\\".tif"));
    free(text);
    unlink(path);
    exec_free(exec);
    profile_free(profile);
    profile_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_DEVICE(profile_tells_times_and_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
