/*
 * test_file: whole files in and out; the new content is there after a commit and the old one
 * before, whatever happens in between: discards, failures, and the death of the process.
 */
#include "../../base/file.h"

#include "images.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <utime.h>
#include <cmocka.h>

static int entries(void)
{
    int n = 0;
    DIR *dir = opendir(scratch_path(""));
    for (struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;) {
        n += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    }
    closedir(dir);
    return n;
}

static void assert_content(const char *path, const char *want)
{
    char *text;
    size_t size;
    Err err = {0};
    if (!file_read(path, &text, &size, &err)) {
        fail_msg("%s", err.text);
    }
    assert_string_equal(text, want);
    assert_int_equal(size, strlen(want));
    free(text);
}

static void test_read(void **state)
{
    char *text;
    size_t size;
    Err err = {0};
    (void)state;
    const char *path = scratch_path("a");
    assert_true(file_write(path, "one\0two", 7, &err));
    assert_true(file_read(path, &text, &size, &err));
    assert_int_equal(size, 7);
    assert_memory_equal(text, "one\0two", 8); /* terminated */
    free(text);
    assert_true(file_write(path, "", 0, &err));
    assert_content(path, "");

    size = 300000;
    char *large = malloc(size + 1);
    memset(large, 'x', size);
    large[size] = '\0';
    assert_true(file_write(path, large, size, &err));
    assert_content(path, large);
    free(large);
    unlink(path);

    assert_false(file_read(path, &text, &size, &err));
    assert_int_equal(err.code, CODE_FILES);
    assert_non_null(strstr(err.text, path));
    assert_non_null(strstr(err.text, "there is no such file"));
    err_clear(&err);
    assert_false(file_read(scratch_path(""), &text, &size, &err));
    assert_non_null(strstr(err.text, "it is a folder"));
}

/* A pipe has no size and gives its bytes in pieces. */
static void test_read_pipe(void **state)
{
    int ends[2];
    char path[64], *text;
    size_t size;
    Err err = {0};
    (void)state;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        static char bytes[200000];
        memset(bytes, 'y', sizeof bytes);
        close(ends[0]);
        bool ok = file_put(ends[1], bytes, sizeof bytes);
        _exit(ok ? 0 : 1);
    }
    close(ends[1]);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    bool ok = file_read(path, &text, &size, &err);
    close(ends[0]);
    waitpid(child, NULL, 0);
    assert_true(ok);
    assert_int_equal(size, 200000);
    assert_int_equal(text[199999], 'y');
    free(text);
}

/* What a user may name that is no text, or has no end. */
static void test_read_text(void **state)
{
    const struct {
        const char *path, *says;
    } no_texts[] = {{"/dev/zero", "it is a device"},
                    {"/dev/tty", "it is a device"},
                    {scratch_path("pipe"), "a pipe that nobody has written to"},
                    {scratch_path("long"), "it is larger than"},
                    {scratch_path(""), "it is a folder"}};
    char *text;
    size_t size;
    Err err = {0};
    (void)state;
    assert_true(file_write(scratch_path("long"), "12345", 5, &err));
    assert_int_equal(mkfifo(scratch_path("pipe"), 0600), 0);
    for (size_t i = 0; i < sizeof no_texts / sizeof *no_texts; i++) {
        err_clear(&err);
        assert_false(file_read_text(no_texts[i].path, 4, &text, &size, &err));
        assert_int_equal(err.code, CODE_FILES);
        assert_non_null(strstr(err.text, no_texts[i].says));
    }
    assert_true(file_read_text(scratch_path("long"), 5, &text, &size, &err));
    assert_int_equal(size, 5);
    free(text);
    unlink(scratch_path("long"));
    unlink(scratch_path("pipe"));
}

static void test_folders(void **state)
{
    Err err = {0};
    struct stat st;
    (void)state;
    assert_true(file_make_folder(scratch_path("p/q//r/"), &err));
    assert_true(file_make_folder(scratch_path("p/q/r"), &err));
    assert_int_equal(stat(scratch_path("p/q/r"), &st), 0);
    assert_true(file_write(scratch_path("p/new/deep/x"), "x", 1, &err));
    assert_content(scratch_path("p/new/deep/x"), "x");
    assert_false(file_make_folder(scratch_path("p/new/deep/x/y"), &err));
    assert_int_equal(err.code, CODE_OUTPUT);
    assert_non_null(strstr(err.text, "is a file, not a folder"));
    err_clear(&err);
    assert_int_equal(mkdir(scratch_path("p/shut"), 0555), 0);
    bool root = seteuid(65534) == 0; /* who may do everything */
    assert_false(file_make_folder(scratch_path("p/shut/x"), &err));
    assert_true(!root || seteuid(getuid()) == 0);
    assert_non_null(strstr(err.text, "permission denied"));
    err_clear(&err);
    assert_false(file_write(scratch_path("p/q"), "x", 1, &err));
    assert_non_null(strstr(err.text, "it is a folder"));
    err_clear(&err);
    assert_false(file_write(scratch_path("p/q/"), "x", 1, &err));
    assert_non_null(strstr(err.text, "not the name of a file"));
    err_clear(&err);
    assert_false(file_write("/dev/null", "x", 1, &err));
    assert_non_null(strstr(err.text, "device"));
    rmdir(scratch_path("p/shut"));
    unlink(scratch_path("p/new/deep/x"));
    rmdir(scratch_path("p/new/deep"));
    rmdir(scratch_path("p/new"));
    rmdir(scratch_path("p/q/r"));
    rmdir(scratch_path("p/q"));
    assert_int_equal(rmdir(scratch_path("p")), 0);
}

static void test_commit_and_discard(void **state)
{
    char temp[4096];
    int fd;
    Err err = {0};
    struct stat st;
    (void)state;
    const char *path = scratch_path("target.tif");
    assert_true(file_write(path, "old", 3, &err));
    assert_true(file_temp(path, temp, sizeof temp, &fd, &err));
    assert_non_null(strstr(temp, "/.target.tif.pipec-"));
    assert_true(file_put(fd, "new", 3));
    assert_content(path, "old");
    file_discard(temp, fd);
    assert_content(path, "old");
    assert_int_equal(entries(), 1);

    assert_true(file_temp(path, temp, sizeof temp, &fd, &err));
    assert_true(file_put(fd, "new", 3));
    umask(022);
    assert_true(file_commit(temp, path, fd, &err));
    assert_content(path, "new");
    assert_int_equal(entries(), 1);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0644); /* as any other program would make it */
    unlink(path);

    char small[16];
    assert_false(file_temp(path, small, sizeof small, &fd, &err));
    assert_non_null(strstr(err.text, "too long"));
    assert_int_equal(entries(), 0);
}

static void test_long_names(void **state)
{
    char name[300], path[600];
    Err err = {0};
    (void)state;
    memset(name, 'n', sizeof name);
    name[255] = '\0';
    snprintf(path, sizeof path, "%s%s", scratch_path(""), name);
    assert_true(file_write(path, "x", 1, &err)); /* the longest name there is */
    assert_content(path, "x");
    unlink(path);
    name[255] = 'n';
    name[256] = '\0';
    snprintf(path, sizeof path, "%s%s", scratch_path(""), name);
    assert_false(file_write(path, "x", 1, &err));
    assert_int_equal(err.code, CODE_OUTPUT);
    assert_int_equal(entries(), 0);
}

/* In a process of its own: afterwards no file can be begun. */
static void test_discard_all(void **state)
{
    char path[4][512], temp[4][4096];
    int fd[4], status;
    Err err = {0};
    (void)state;
    for (int i = 0; i < 4; i++) { /* another process has another folder */
        const char name[] = {(char)('a' + i), 0};
        snprintf(path[i], sizeof path[i], "%s", scratch_path(name));
    }
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        bool ok = true;
        for (int i = 0; i < 3; i++) {
            ok = ok && file_temp(path[i], temp[i], sizeof temp[i], &fd[i], &err);
        }
        ok = ok && file_commit(temp[1], path[1], fd[1], &err) && access(temp[0], F_OK) == 0;
        file_discard_all();
        ok = ok && !file_temp(path[3], temp[3], sizeof temp[3], &fd[3], &err) && err.code == CODE_INTERRUPTED;
        _exit(ok ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_int_equal(entries(), 1); /* what was committed stays */
    assert_content(scratch_path("b"), "");
    unlink(scratch_path("b"));
}

static void test_too_many(void **state)
{
    static char temp[5000][600];
    Err err = {0};
    int n = 0, fd;
    (void)state;
    while (n < 5000 && file_temp(scratch_path("m"), temp[n], sizeof temp[n], &fd, &err)) {
        close(fd); /* it counts as in the making until it is committed or discarded */
        n++;
    }
    assert_int_equal(n, 4096);
    assert_non_null(strstr(err.text, "4096 outputs are being written at once"));
    while (n-- > 0) {
        file_discard(temp[n], -1);
    }
    assert_int_equal(entries(), 0);
}

static void test_limits(void **state)
{
    struct rlimit old, small;
    Err err = {0};
    static char bytes[5000];
    (void)state;
    const char *path = scratch_path("limited");
    assert_true(file_write(path, "old", 3, &err));
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    small = old;
    small.rlim_cur = 1000;
    setrlimit(RLIMIT_FSIZE, &small);
    bool ok = file_write(path, bytes, sizeof bytes, &err);
    setrlimit(RLIMIT_FSIZE, &old);
    assert_false(ok);
    assert_int_equal(err.code, CODE_OUTPUT);
    assert_non_null(strstr(err.text, "ulimit -f"));
    assert_content(path, "old");
    unlink(path);
    assert_int_equal(entries(), 0);

    static const struct {
        int error;
        const char *text;
        int code;
    } rows[] = {{ENOSPC, "the disk is full", CODE_AGAIN},
                {EACCES, "permission denied", CODE_OUTPUT},
                {EROFS, "read-only", CODE_OUTPUT},
                {EDQUOT, "quota", CODE_AGAIN},
                {EIO, "put/output error", CODE_AGAIN}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        err_clear(&err);
        assert_false(file_err_set(&err, CODE_OUTPUT, "write", "x", rows[i].error));
        assert_non_null(strstr(err.text, rows[i].text));
        assert_int_equal(err_exit_code(&err), rows[i].code);
    }
}

/* ---- several threads ------------------------------------------------------------------------ */

static void *write_many(void *arg)
{
    char path[512];
    Err err = {0};
    snprintf(path, sizeof path, "%sthread-%d", (const char *)((void **)arg)[0], *(int *)((void **)arg)[1]);
    for (int i = 0; i < 20; i++) {
        char temp[600];
        int fd;
        if (!file_write(path, path, strlen(path), &err) || !file_temp(path, temp, sizeof temp, &fd, &err)) {
            return NULL;
        }
        file_discard(temp, fd);
    }
    return arg;
}

static void test_threads(void **state)
{
    pthread_t thread[4];
    int number[4];
    void *args[4][2], *result;
    char folder[512];
    (void)state;
    snprintf(folder, sizeof folder, "%s", scratch_path(""));
    for (int i = 0; i < 4; i++) {
        number[i] = i;
        args[i][0] = folder;
        args[i][1] = &number[i];
        assert_int_equal(pthread_create(&thread[i], NULL, write_many, args[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        char name[32];
        pthread_join(thread[i], &result);
        assert_non_null(result);
        snprintf(name, sizeof name, "thread-%d", i);
        assert_int_equal(unlink(scratch_path(name)), 0);
    }
    assert_int_equal(entries(), 0);
}

/* ---- death ----------------------------------------------------------------------------- */

/* A child replaces a file for ever and is killed; the file is always one of the two contents. */
static void test_kill(void **state)
{
    static char content[2][100000];
    Err err = {0};
    (void)state;
    char path[512];
    snprintf(path, sizeof path, "%s", scratch_path("killed"));
    memset(content[0], 'a', sizeof content[0]);
    memset(content[1], 'b', sizeof content[1]);
    assert_true(file_write(path, content[0], sizeof content[0], &err));
    for (int i = 0; i < 30; i++) {
        pid_t child = fork();
        if (child == 0) {
            for (int k = 0;; k ^= 1) {
                file_write(path, content[k], sizeof content[k], &err);
            }
        }
        struct timespec wait = {0, 1000000 + 700000 * i};
        nanosleep(&wait, NULL);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        char *text;
        size_t size;
        assert_true(file_read(path, &text, &size, &err));
        assert_int_equal(size, sizeof content[0]);
        assert_memory_equal(text, content[text[0] == 'b'], size);
        free(text);
    }
    unlink(path);

    /* What the dead have left is swept. */
    int left = entries();
    assert_int_equal(file_sweep(scratch_path("")), left);
    assert_int_equal(entries(), 0);
    assert_int_equal(file_sweep("/nowhere"), 0);
}

/* Files of processes that live stay, and those of other machines until they are old. */
static void test_sweep(void **state)
{
    static const struct {
        const char *name; /* with the number of a process; where: that of this machine */
        bool here, dead, old, swept;
    } rows[] = {
        {".x.pipec-%s-%ld-abcdef", true, true, false, true},   {".x.pipec-%s-%ld-abcdef", true, false, true, false},
        {".x.pipec-%s-%ld-abcdef", false, true, false, false}, {".x.pipec-%s-%ld-abcdef", false, true, true, true},
        {".x.pipec-%s-%ld-abcdefg", true, true, true, false},  {"x.pipec-%s-%ld-abcdef", true, true, true, false},
        {".x.pipec-%s%ld-abcdef", true, true, true, false},
    };
    char temp[600], where[9], name[64];
    int fd;
    Err err = {0};
    (void)state;
    assert_true(file_temp(scratch_path("x"), temp, sizeof temp, &fd, &err));
    snprintf(where, sizeof where, "%s", strstr(temp, ".pipec-") + strlen(".pipec-"));
    file_discard(temp, fd);
    pid_t dead = fork();
    if (dead == 0) {
        _exit(0);
    }
    waitpid(dead, NULL, 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        snprintf(name, sizeof name, rows[i].name, rows[i].here ? where : "01234567",
                 (long)(rows[i].dead ? dead : getpid()));
        assert_true(file_write(scratch_path(name), "", 0, &err));
        if (rows[i].old) {
            struct utimbuf old = {time(NULL) - 7200, time(NULL) - 7200};
            utime(scratch_path(name), &old);
        }
        assert_int_equal(file_sweep(scratch_path("")), rows[i].swept);
        assert_int_equal(unlink(scratch_path(name)), rows[i].swept ? -1 : 0);
    }
}

static int remove_scratch(void **state)
{
    (void)state;
    return rmdir(scratch_path(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read),
        cmocka_unit_test(test_read_pipe),
        cmocka_unit_test(test_read_text),
        cmocka_unit_test(test_folders),
        cmocka_unit_test(test_commit_and_discard),
        cmocka_unit_test(test_long_names),
        cmocka_unit_test(test_discard_all),
        cmocka_unit_test(test_too_many),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_kill),
        cmocka_unit_test(test_sweep),
    };
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
