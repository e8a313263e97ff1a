/*
 * cl: devices, programs and their cache, memory and its limits, launches, transfers, times; and
 * what is said when something is missing.
 */
#include "base/file.h"
#include "runtime/device/cl.h"
#include "runtime/device/cl_cache.h"
#include "runtime/device/cl_codes.h"
#include "runtime/device/cl_pocl.h"
#include "runtime/device/cl_setup.h"

#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utime.h>
#include <cmocka.h>

static const char TWICE[] = "kernel void twice(global const int *from, global int *to, int n)\n"
                            "{\n"
                            "    const int i = (int)get_global_id(0);\n"
                            "    if (i < n) {\n"
                            "        to[i] = 2 * from[i];\n"
                            "    }\n"
                            "}\n";

static char folder[64];

static void forget_folder(void)
{
    char command[100];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    assert_int_equal(system(command), 0);
}

static Device *open_with(DevOptions options)
{
    Device *dev = NULL;
    Err err = {0};
    if (!options.cache) {
        options.cache = "";
    }
    if (!dev_open(&options, &dev, &err)) {
        print_message("%s\n", err.text);
    }
    assert_non_null(dev);
    return dev;
}

/* Runs TWICE on 1000 numbers. */
static void use(Device *dev, const char *source)
{
    enum { N = 1000 };
    int32_t numbers[N];
    Err err = {0};
    DevProgram *program;
    DevKernel *kernel;
    DevMem *from, *to;
    for (int i = 0; i < N; i++) {
        numbers[i] = i - 500;
    }
    assert_true(dev_program(dev, "twice", source, NULL, &program, &err));
    assert_true(dev_kernel(program, "twice", &kernel, &err));
    assert_true(dev_alloc(dev, sizeof numbers, &from, &err));
    assert_true(dev_alloc(dev, sizeof numbers, &to, &err));
    assert_true(dev_write(dev, from, 0, numbers, sizeof numbers, &err));
    const DevArg args[] = {dev_mem(from), dev_mem(to), dev_int(N)};
    const size_t groups[3] = {16, 1, 1}, group[3] = {64, 1, 1};
    assert_true(dev_launch(dev, kernel, args, 3, groups, group, "twice", &err));
    assert_true(dev_read(dev, to, 0, numbers, sizeof numbers, &err));
    for (int i = 0; i < N; i++) {
        assert_int_equal(numbers[i], 2 * (i - 500));
    }
    dev_free(dev, from);
    dev_free(dev, to);
}

/* ---- surroundings: each in a process of its own, before OpenCL is first called ----------- */

static int in_child(int (*run)(void))
{
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        setenv("TMPDIR", folder, 1);
        exit(run()); /* not _exit: what is to be removed at exit must go */
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

enum { SKIPPED = 77 }; /* Khronos' loader finds /etc/OpenCL/vendors in any case */

static int list_without_drivers(void)
{
    DeviceInfo *list;
    Device *dev;
    int n = -1;
    char why[500] = "";
    Err err = {0};
    char empty[100];
    snprintf(empty, sizeof empty, "%s/vendors", folder);
    if (mkdir(empty, 0700) != 0 || setenv("OCL_ICD_VENDORS", empty, 1) != 0) {
        return 5;
    }
    if (!dev_list(&list, &n, why, sizeof why, &err)) {
        return 1;
    }
    free(list);
    if (n > 0) {
        return SKIPPED;
    }
    if (!strstr(why, "OCL_ICD_VENDORS") || !strstr(why, empty)) {
        return 2;
    }
    if (dev_open(&(DevOptions){.cache = ""}, &dev, &err) || dev) {
        return 3;
    }
    return err.code == CODE_DEVICE && strcmp(err.text, why) == 0 ? 0 : 4;
}

static void no_driver_is_explained(void **state)
{
    (void)state;
    int code = in_child(list_without_drivers);
    if (code == SKIPPED) {
        skip();
    }
    assert_int_equal(code, 0);
}

static int build_with_bad_pocl_cache(const char *path)
{
    Device *dev;
    DevProgram *program;
    Err err = {0};
    setenv("POCL_CACHE_DIR", path, 1);
    if (!dev_open(&(DevOptions){.cache = ""}, &dev, &err)) {
        return 1;
    }
    if (!dev_program(dev, "twice", TWICE, NULL, &program, &err)) {
        return 2;
    }
    dev_close(dev);
    const char *now = getenv("POCL_CACHE_DIR");
    return now && strncmp(now, folder, strlen(folder)) == 0 && access(now, W_OK) == 0 ? 0 : 3;
}

static int build_with_empty_pocl_cache(void)
{
    return build_with_bad_pocl_cache("");
}

static int build_with_impossible_pocl_cache(void)
{
    return build_with_bad_pocl_cache("/proc/version/kcache");
}

/* Whether PoCL has compiled a kernel for groups of any size, too, as it does for whoever asks for binaries. */
static bool is_compiled_twice(void)
{
    char command[100];
    snprintf(command, sizeof command, "find '%s' -name 0-0-0 | grep -q .", folder);
    return system(command) == 0;
}

/* Compiles TWICE with the cache at `path`; whether PoCL's copy was made there: 10 or 11. */
static int build_with_home(const char *path)
{
    Device *dev;
    DevProgram *program;
    Err err = {0};
    setenv("XDG_CACHE_HOME", path, 1);
    setenv("POCL_CACHE_DIR", folder, 1);
    if (!dev_open(&(DevOptions){.choice = "PoCL"}, &dev, &err)) {
        return 1;
    }
    const bool chosen = getenv("OCL_ICD_VENDORS") != NULL,
               built = dev_program(dev, "twice", TWICE, NULL, &program, &err);
    if (built) {
        use(dev, TWICE);
    }
    dev_close(dev);
    if (chosen || !built) {
        return chosen ? 2 : 3;
    }
    if (is_compiled_twice()) {
        return 6;
    }
    const bool first = strncmp(getenv("PATH"), path, strlen(path)) == 0;
    char linker[PATH_MAX];
    snprintf(linker, sizeof linker, "%.*s/ld", (int)strcspn(getenv("PATH"), ":"), getenv("PATH"));
    return !first ? 10 : access(linker, X_OK) == 0 ? 11 : 4;
}

static int build_with_copy(void)
{
    return build_with_home(folder);
}

/* As a program that another one has started: it takes the copy of that. */
static int build_below_another(void)
{
    char at[PATH_MAX], path[2 * PATH_MAX];
    glob_t copies;
    snprintf(at, sizeof at, "%s/pipec/pocl-*/bin", folder);
    if (glob(at, 0, NULL, &copies) != 0 || copies.gl_pathc != 1) {
        return 5;
    }
    snprintf(at, sizeof at, "%s:", copies.gl_pathv[0]);
    globfree(&copies);
    snprintf(path, sizeof path, "%s%s", at, getenv("PATH"));
    setenv("PATH", path, 1);
    const int code = build_with_home(folder);
    return strncmp(getenv("PATH"), at, strlen(at)) == 0 ? code : 7;
}

/* As after a power failure. */
static int build_with_broken_copy(void)
{
    char command[200];
    snprintf(command, sizeof command, "find '%s'/pipec/pocl-* -type f -exec truncate -s 0 {} +", folder);
    return system(command) == 0 ? build_with_home(folder) : 5;
}

static int build_with_one_file_less(void)
{
    char command[200];
    snprintf(command, sizeof command, "rm '%s'/pipec/pocl-*-1/share/pocl/include/pocl_types.h", folder);
    return system(command) == 0 ? build_with_home(folder) : 5;
}

static int build_with_two_lines(void)
{
    char home[PATH_MAX];
    snprintf(home, sizeof home, "%s/two\nlines", folder);
    return build_with_home(home);
}

static int build_without_home(void)
{
    return build_with_home("/proc/version");
}

static int build_with_chosen_drivers(void)
{
    char own[PATH_MAX];
    snprintf(own, sizeof own, "%s/own", folder);
    setenv("OCL_ICD_VENDORS", "/etc/OpenCL/vendors", 1);
    const int code = build_with_home(own);
    return code == 2 && strncmp(getenv("PATH"), own, strlen(own)) != 0 ? 0 : 5; /* 2: the user's choice stays */
}

static void pocl_reads_less_where_it_may(void **state)
{
    (void)state;
    if (POCL_LIBRARIES[0].name == NULL || access(POCL_DRIVER, F_OK) != 0 || getenv("OCL_ICD_VENDORS")) {
        skip(); /* built without such a PoCL */
    }
    assert_int_equal(in_child(build_with_copy), 11);
    assert_int_equal(in_child(build_with_copy), 11); /* which is there now */
    assert_int_equal(in_child(build_below_another), 11);
    assert_int_equal(in_child(build_with_broken_copy), 11);
    assert_int_equal(in_child(build_with_one_file_less), 11);
    assert_int_equal(in_child(build_with_two_lines), 10);
    assert_int_equal(in_child(build_without_home), 10);
    assert_int_equal(in_child(build_with_chosen_drivers), 0);
}

static void bad_pocl_cache_is_replaced(void **state)
{
    (void)state;
    assert_int_equal(in_child(build_with_empty_pocl_cache), 0);
    assert_int_equal(in_child(build_with_impossible_pocl_cache), 0);
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir));) {
        assert_null(strstr(entry->d_name, "pocl"));
    }
    closedir(dir);
}

/* ---- devices ----------------------------------------------------------------------------- */

static void devices_are_listed(void **state)
{
    (void)state;
    DeviceInfo *list;
    int n;
    char why[500];
    Err err = {0};
    assert_true(dev_list(&list, &n, why, sizeof why, &err));
    assert_true(n > 0);
    assert_string_equal(why, "");
    for (int i = 0; i < n; i++) {
        assert_int_equal(list[i].number, i);
        assert_true(list[i].memory > 0 && list[i].max_alloc > 0 && list[i].max_alloc <= list[i].memory);
        assert_true(list[i].local >= 32768 && list[i].max_group >= 64 && list[i].units > 0);
        assert_true(list[i].name[0] && list[i].platform[0] && list[i].driver[0]);
        assert_true(i == 0 || list[i - 1].cpu <= list[i].cpu);
    }
    free(list);
}

static void devices_have_the_names_that_people_use(void **state)
{
    (void)state;
    static const DeviceInfo devices[] = {
        {.number = 0, .name = "NVIDIA H200", .platform = "NVIDIA CUDA"},
        {.number = 1, .name = "gfx90a:sramecc+", .platform = "AMD Accelerated Parallel Processing"},
        {.number = 2, .name = "Genuine(R) CPU", .platform = "Intel(R) OpenCL", .cpu = true},
        {.number = 3, .name = "pthread-skylake", .platform = "Portable Computing Language", .cpu = true},
    };
    static const struct {
        const char *choice;
        bool fits[4];
    } rows[] = {
        {NULL, {1, 1, 1, 1}},   {"#3", {0, 0, 0, 1}},     {"nvidia", {1, 0, 0, 0}},
        {"H200", {1, 0, 0, 0}}, {"amd", {0, 1, 0, 0}},    {"Intel", {0, 0, 1, 0}},
        {"PoCL", {0, 0, 0, 1}}, {"pocl", {0, 0, 0, 1}},   {"portable computing", {0, 0, 0, 1}},
        {"cpu", {0, 0, 1, 1}},  {"CPU", {0, 0, 1, 1}},    {"gpu", {1, 1, 0, 0}},
        {"GPU", {1, 1, 0, 0}},  {"abacus", {0, 0, 0, 0}},
    };
    char name[200];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (int k = 0; k < 4; k++) {
            assert_int_equal(cl_setup_matches(&devices[k], rows[i].choice), rows[i].fits[k]);
        }
    }
    cl_setup_name(&devices[3], name, sizeof name);
    assert_string_equal(name, "#3 pthread-skylake (PoCL, cpu)");
}

static void devices_are_chosen(void **state)
{
    (void)state;
    Device *first = open_with((DevOptions){0});
    char part[8];
    snprintf(part, sizeof part, "%.6s", dev_info(first)->name);
    for (char *c = part; *c; c++) {
        *c = (char)(*c >= 'a' && *c <= 'z' ? *c - 32 : *c);
    }
    Device *same = open_with((DevOptions){.choice = "#0"});
    Device *named = open_with((DevOptions){.choice = part});
    assert_string_equal(dev_info(first)->name, dev_info(same)->name);
    assert_int_equal(dev_info(named)->number, 0);
    dev_close(first);
    dev_close(same);
    dev_close(named);
    static const char *const none[] = {"#99", "#", "#0x", "no such device"};
    for (int i = 0; i < 4; i++) {
        Device *dev;
        Err err = {0};
        assert_false(dev_open(&(DevOptions){.choice = none[i]}, &dev, &err));
        assert_null(dev);
        assert_int_equal(err.code, CODE_DEVICE);
        assert_non_null(strstr(err.text, none[i]));
        assert_non_null(strstr(err.text, "#0 "));
    }
}

static void two_devices_work_side_by_side(void **state)
{
    (void)state;
    Device *one = open_with((DevOptions){0}), *two = open_with((DevOptions){0});
    use(one, TWICE);
    use(two, TWICE);
    dev_close(one);
    use(two, TWICE);
    dev_close(two);
    dev_close(NULL);
}

/* ---- programs ---------------------------------------------------------------------------- */

static void texts_are_met_once(void **state)
{
    (void)state;
    Device *dev = open_with((DevOptions){.cache = folder}), *next = open_with((DevOptions){.cache = folder}),
           *none = open_with((DevOptions){0});
    assert_true(dev_is_first(dev, "a text"));
    assert_true(dev_is_first(dev, "a text")); /* for another size of image */
    assert_false(dev_is_first(next, "a text"));
    assert_false(dev_is_first(next, "a text"));
    assert_true(dev_is_first(next, "another"));
    assert_true(dev_is_first(none, "a text"));
    assert_true(dev_is_first(none, "a text"));
    dev_close(none);
    dev_close(next);
    dev_close(dev);
    forget_folder();
}

static void same_text_is_built_once(void **state)
{
    (void)state;
    Device *dev = open_with((DevOptions){0});
    DevProgram *a, *b, *c;
    DevKernel *k, *l = NULL;
    Err err = {0};
    assert_true(dev_program(dev, "twice", TWICE, NULL, &a, &err));
    assert_true(dev_program(dev, "again", TWICE, NULL, &b, &err));
    assert_true(dev_program(dev, "other", TWICE, "-DX=1", &c, &err));
    assert_ptr_equal(a, b);
    assert_ptr_not_equal(a, c);
    assert_int_equal(dev_builds(dev), 2);
    assert_true(dev_kernel(a, "twice", &k, &err) && dev_kernel(a, "twice", &l, &err));
    assert_ptr_equal(k, l);
    assert_true(dev_kernel_max_group(dev, k) >= 64);
    assert_false(dev_kernel(a, "thrice", &k, &err));
    assert_int_equal(err.code, CODE_DEVICE);
    assert_non_null(strstr(err.text, "thrice"));
    assert_false(dev_lost(dev));
    dev_close(dev);
}

static void bad_source_shows_log_and_place(void **state)
{
    (void)state;
    Device *dev = open_with((DevOptions){0});
    DevProgram *program;
    Err err = {0};
    char *text, path[400] = "";
    size_t size;
    static const char bad[] = "kernel void k(global int *a)\n{\n    a[0] = nonsense;\n}\n";
    assert_false(dev_program(dev, "blurred", bad, NULL, &program, &err));
    assert_int_equal(err.code, CODE_DEVICE);
    assert_non_null(strstr(err.text, "could not compile kernel 'blurred'"));
    assert_non_null(strstr(err.text, "CL_BUILD_PROGRAM_FAILURE"));
    assert_non_null(strstr(err.text, "nonsense"));
    const char *at = strstr(err.text, "its source is in ");
    assert_non_null(at);
    assert_int_equal(sscanf(at, "its source is in %399[^:\n]", path), 1);
    Err none = {0};
    assert_true(file_read(path, &text, &size, &none));
    assert_string_equal(text, bad);
    free(text);
    /* Another failure does not write over the first one's file. */
    char other[400] = "";
    err_clear(&err);
    assert_false(dev_program(dev, "blurred", bad, NULL, &program, &err));
    assert_int_equal(sscanf(strstr(err.text, "is in "), "is in %399[^:\n]", other), 1);
    assert_string_not_equal(path, other);
    unlink(other);
    unlink(path);
    use(dev, TWICE);
    dev_close(dev);
}

/* Does something to every file of a folder; returns how many there are. */
static int spoil(const char *path, void (*how)(const char *file, char *text, size_t size))
{
    int n = 0;
    DIR *dir = opendir(path);
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir));) {
        char file[400], *text;
        size_t size;
        Err err = {0};
        struct stat status;
        snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
        if (stat(file, &status) == 0 && S_ISREG(status.st_mode)) {
            assert_true(file_read(file, &text, &size, &err));
            how(file, text, size);
            free(text);
            n++;
        }
    }
    closedir(dir);
    return n;
}

static void rewrite(const char *file, const char *text, size_t size)
{
    Err err = {0};
    assert_true(file_write(file, text, size, &err));
}

static void flip_last(const char *file, char *text, size_t size)
{
    text[size - 1] ^= 1;
    rewrite(file, text, size);
}

static void flip_key(const char *file, char *text, size_t size)
{
    text[60] ^= 1;
    rewrite(file, text, size);
}

static void halve(const char *file, char *text, size_t size)
{
    rewrite(file, text, size / 2);
}

static void behead(const char *file, char *text, size_t size)
{
    (void)size;
    rewrite(file, text, 5);
}

static void leave(const char *file, char *text, size_t size)
{
    (void)file;
    (void)text;
    assert_true(size > 0);
}

static uint64_t builds_for_use(const char *cache)
{
    Device *dev = open_with((DevOptions){.cache = cache});
    use(dev, TWICE);
    uint64_t builds = dev_builds(dev);
    dev_close(dev);
    return builds;
}

static void binaries_are_kept_on_disk(void **state)
{
    (void)state;
    char cache[100];
    snprintf(cache, sizeof cache, "%s/cache", folder);
    assert_int_equal(builds_for_use(cache), 1);
    assert_int_equal(spoil(cache, leave), 1);
    assert_int_equal(builds_for_use(cache), 0);
    void (*const hows[])(const char *, char *, size_t) = {flip_last, flip_key, halve, behead};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(spoil(cache, hows[i]), 1);
        assert_int_equal(builds_for_use(cache), 1);
        assert_int_equal(builds_for_use(cache), 0);
    }
    assert_int_equal(builds_for_use(""), 1);
    assert_int_equal(builds_for_use("/proc/version/no-cache-here"), 1);
}

/* What others could have put there is not run, wherever the folder lies; one that is made is the user's alone. */
static void folders_of_others_are_refused(void **state)
{
    (void)state;
    static const struct {
        mode_t mode;
        bool other, ok; /* owned by somebody else */
    } HOWS[] = {{0700, false, true},   {0755, false, true},  {0757, false, false},
                {01777, false, false}, {0770, false, false}, {0700, true, false}};
    char path[100], left[200];
    struct stat st;
    for (size_t i = 0; i < sizeof HOWS / sizeof *HOWS; i++) {
        ClCache cache;
        Err err = {0};
        snprintf(path, sizeof path, "%s/kept/by/mode-%zu", folder, i);
        assert_true(cl_cache_open(path, &cache, &err));
        cl_cache_store(&cache, "key", "binary", 6);
        cl_cache_close(&cache);
        assert_true(stat(path, &st) == 0 && (st.st_mode & 07777) == 0700);
        snprintf(left, sizeof left, "%s/.x.kernel.pipec-00000000-999999999-abcdef", path);
        assert_true(close(open(left, O_CREAT | O_WRONLY, 0600)) == 0 && utime(left, &(struct utimbuf){1, 1}) == 0);
        assert_true(cl_cache_open(path, &cache, &err) && access(left, F_OK) != 0);
        cl_cache_close(&cache);
        /* the superuser's group has the superuser's number, and only the superuser can give away */
        bool group = HOWS[i].mode == 0770, gives = HOWS[i].other || group;
        if (gives && chown(path, HOWS[i].other ? 1 : (uid_t)-1, group ? geteuid() + 1 : (gid_t)-1) != 0) {
            continue;
        }
        assert_int_equal(chmod(path, HOWS[i].mode), 0);
        void *binary = NULL;
        size_t size;
        bool ok = cl_cache_open(path, &cache, &err);
        assert_int_equal(ok, HOWS[i].ok);
        assert_int_equal(cl_cache_load(&cache, "key", &binary, &size), ok);
        assert_true(ok || strstr(err.text, "others can write to it") != NULL);
        cl_cache_close(&cache);
        free(binary);
        err_clear(&err);
        if (!ok) {
            Device *dev = open_with((DevOptions){.cache = path});
            assert_non_null(dev_no_cache(dev));
            dev_close(dev);
        }
    }
}

/* A file that is whole but holds no binary: the driver refuses it, and it is built anew. */
static void nonsense_binary_is_rebuilt(void **state)
{
    (void)state;
    char cache[100], key[3000];
    snprintf(cache, sizeof cache, "%s/nonsense", folder);
    Device *dev = open_with((DevOptions){.cache = cache});
    const DeviceInfo *info = dev_info(dev);
    DevProgram *program;
    Err err = {0};
    assert_true(dev_program(dev, "twice", TWICE, NULL, &program, &err));
    dev_close(dev);
    dev = open_with((DevOptions){.cache = cache});
    info = dev_info(dev);
    void *binary;
    size_t size;
    static const char *const rounding[] = {"", " -cl-fp32-correctly-rounded-divide-sqrt"};
    bool found = false;
    ClCache open;
    assert_true(cl_cache_open(cache, &open, &err));
    for (int i = 0; i < 2; i++) {
        snprintf(key, sizeof key,
                 "pipec " PIPEC_VERSION "\n%s\n%s\n%s\n%s\n-cl-std=CL1.2 -w -DWIDE_ATOMICS=%d%s%s \n%s", info->platform,
                 info->name, info->version, info->driver, info->wide_atomics,
                 cl_setup_declares(info) ? " -D_OPENCL_H_" : "", rounding[i], TWICE);
        if (cl_cache_load(&open, key, &binary, &size)) {
            free(binary);
            cl_cache_store(&open, key, "nonsense", 8);
            found = true;
        }
    }
    cl_cache_close(&open);
    assert_true(found);
    use(dev, TWICE);
    assert_int_equal(dev_builds(dev), 1);
    dev_close(dev);
}

static void kernels_are_dumped_and_loaded(void **state)
{
    (void)state;
    char dump[100], path[200], *text;
    size_t size;
    Err err = {0};
    snprintf(dump, sizeof dump, "%s/dump", folder);
    Device *dev = open_with((DevOptions){.dump = dump});
    use(dev, TWICE);
    dev_close(dev);
    snprintf(path, sizeof path, "%s/twice.cl", dump);
    assert_true(file_read(path, &text, &size, &err));
    assert_string_equal(text, TWICE);
    free(text);

    static const char thrice[] = "kernel void thrice(global int *a)\n{\n    a[0] = 3;\n}\n";
    assert_true(file_write(path, thrice, strlen(thrice), &err));
    DevProgram *program;
    DevKernel *kernel;
    dev = open_with((DevOptions){.load = dump});
    assert_true(dev_program(dev, "twice", TWICE, NULL, &program, &err));
    assert_true(dev_kernel(program, "thrice", &kernel, &err));
    assert_true(dev_program(dev, "not/there", TWICE, NULL, &program, &err));
    assert_true(dev_kernel(program, "twice", &kernel, &err));
    dev_close(dev);

    dev = open_with((DevOptions){.dump = "/proc/version/dump"});
    assert_false(dev_program(dev, "twice", TWICE, NULL, &program, &err));
    dev_close(dev);
}

typedef struct Builder {
    Device *dev;
    int number;
    bool ok;
} Builder;

/* All begin with the same program. */
static void *build_some(void *at)
{
    Builder *b = at;
    b->ok = true;
    for (int i = 0; i < 3 && b->ok; i++) {
        char source[200];
        DevProgram *program;
        Err err = {0};
        snprintf(source, sizeof source, "kernel void k(global int *a)\n{\n    a[0] = %d;\n}\n",
                 i > 0 ? b->number * 100 + i : 0);
        b->ok = dev_program(b->dev, "k", source, NULL, &program, &err);
    }
    return NULL;
}

static void programs_are_built_by_several_threads(void **state)
{
    (void)state;
    Device *dev = open_with((DevOptions){0});
    pthread_t threads[4];
    Builder builders[4];
    for (int i = 0; i < 4; i++) {
        builders[i] = (Builder){dev, i, false};
        assert_int_equal(pthread_create(&threads[i], NULL, build_some, &builders[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_true(builders[i].ok);
    }
    assert_int_equal(dev_builds(dev), 1 + 4 * 2);
    dev_close(dev);
}

/* ---- memory ------------------------------------------------------------------------------ */

static void memory_is_counted_and_limited(void **state)
{
    (void)state;
    Device *dev = open_with((DevOptions){.memory_limit = 1 << 20});
    DevMem *a, *b, *slice;
    Err err = {0};
    assert_true(dev_alloc(dev, 600000, &a, &err));
    assert_true(dev_slice(dev, a, 4 * dev_alignment(dev), 1000, &slice, &err));
    assert_int_equal(dev_held(dev), 600000);
    assert_int_equal(dev_bytes(slice), 1000);
    assert_false(dev_alloc(dev, 600000, &b, &err));
    assert_null(b);
    assert_int_equal(err.code, CODE_MEMORY);
    assert_non_null(strstr(err.text, "585.9 KiB"));
    assert_non_null(strstr(err.text, "1.0 MiB (--memory)"));
    err_clear(&err);
    dev_free(dev, slice);
    dev_free(dev, a);
    dev_free(dev, NULL);
    assert_int_equal(dev_held(dev), 0);
    assert_true(dev_alloc(dev, 1 << 20, &a, &err));
    assert_int_equal(dev_peak(dev), 1 << 20);
    dev_free(dev, a);
    dev_close(dev);
}

static void absurd_memory_is_refused(void **state)
{
    (void)state;
    Device *dev = open_with((DevOptions){0});
    DevMem *mem;
    Err err = {0};
    assert_false(dev_alloc(dev, SIZE_MAX / 4, &mem, &err));
    assert_int_equal(err.code, CODE_MEMORY);
    assert_non_null(strstr(err.text, "the device '"));
    err_clear(&err);
    if (dev_info(dev)->max_alloc < dev_info(dev)->memory) {
        assert_false(dev_alloc(dev, dev_info(dev)->max_alloc + 4, &mem, &err));
        assert_int_equal(err.code, CODE_MEMORY);
        assert_non_null(strstr(err.text, "in one piece"));
    }
    assert_int_equal(dev_held(dev), 0);
    use(dev, TWICE);
    dev_close(dev);
}

/* What nobody wrote must not look like an innocent zero. */
static void fresh_memory_is_filled(void **state)
{
    (void)state;
    Device *dev = open_with((DevOptions){0});
    DevMem *mem;
    Err err = {0};
    uint8_t bytes[7];
    assert_true(dev_alloc(dev, 7, &mem, &err));
    assert_true(dev_read(dev, mem, 0, bytes, 7, &err));
    for (int i = 0; i < 7; i++) {
        assert_int_equal(bytes[i], 0xff);
    }
    dev_free(dev, mem);
    dev_close(dev);
}

static void slices_are_parts(void **state)
{
    (void)state;
    Device *dev = open_with((DevOptions){0});
    size_t step = dev_alignment(dev);
    assert_true(step >= 256 && (step & (step - 1)) == 0);
    DevMem *all, *part, *inner, *odd;
    Err err = {0};
    uint8_t one = 1, seen[8];
    assert_true(dev_alloc(dev, 8 * step, &all, &err));
    assert_true(dev_fill(dev, all, 0, 8 * step, 0, &err));
    assert_true(dev_slice(dev, all, 2 * step, 4 * step, &part, &err));
    assert_true(dev_slice(dev, part, step, step, &inner, &err));
    assert_true(dev_write(dev, inner, 5, &one, 1, &err));
    assert_true(dev_read(dev, all, 3 * step, seen, 8, &err));
    assert_memory_equal(seen, "\0\0\0\0\0\1\0\0", 8);
    assert_false(dev_slice(dev, all, 1, step, &odd, &err));
    assert_null(odd);
    assert_non_null(strstr(err.text, "not aligned"));
    err_clear(&err);
    assert_false(dev_slice(dev, all, 8 * step, step, &odd, &err));
    assert_non_null(strstr(err.text, "clCreateSubBuffer"));
    dev_free(dev, inner);
    dev_free(dev, part);
    dev_free(dev, all);
    dev_close(dev);
}

/* Overlapping ones too, and the whole first: a driver may want another order. */
static void slices_are_freed_in_any_order(void **state)
{
    (void)state;
    static const int orders[][4] = {{0, 1, 2, 3}, {3, 2, 1, 0}, {1, 3, 0, 2}, {2, 0, 3, 1}};
    Device *dev = open_with((DevOptions){0});
    size_t step = dev_alignment(dev);
    Err err = {0};
    for (int i = 0; i < 4; i++) {
        DevMem *mem[4];
        uint32_t word = 0;
        assert_true(dev_alloc(dev, 8 * step, &mem[0], &err));
        assert_true(dev_slice(dev, mem[0], 0, 4 * step, &mem[1], &err));
        assert_true(dev_slice(dev, mem[0], 2 * step, 4 * step, &mem[2], &err));
        assert_true(dev_slice(dev, mem[1], 2 * step, step, &mem[3], &err));
        assert_true(dev_fill(dev, mem[2], 0, step, 77, &err));
        assert_true(dev_read(dev, mem[3], step - 4, &word, 4, &err));
        assert_int_equal(word, 77);
        for (int k = 0; k < 4; k++) {
            assert_int_equal(dev_held(dev), 8 * step);
            dev_free(dev, mem[orders[i][k]]);
        }
        assert_int_equal(dev_held(dev), 0);
    }
    dev_close(dev);
}

static void host_memory_comes_and_goes(void **state)
{
    (void)state;
    Device *dev = open_with((DevOptions){0});
    void *a, *b;
    Err err = {0};
    assert_true(dev_host_alloc(dev, 100000, &a, &err));
    assert_true(dev_host_alloc(dev, 0, &b, &err));
    memset(a, 1, 100000);
    dev_host_free(dev, a);
    dev_host_free(dev, NULL);
    dev_close(dev); /* frees the other */
}

/* ---- work -------------------------------------------------------------------------------- */

static void rows_are_moved_with_pitches(void **state)
{
    (void)state;
    Device *dev = open_with((DevOptions){0});
    DevMem *mem;
    Err err = {0};
    uint8_t host[6][10], back[6][7], flat[4][5];
    for (int y = 0; y < 6; y++) {
        for (int x = 0; x < 10; x++) {
            host[y][x] = (uint8_t)(16 * y + x);
        }
    }
    assert_true(dev_alloc(dev, 256, &mem, &err));
    assert_true(dev_fill(dev, mem, 0, 256, 0, &err));
    assert_true(dev_write_rows(dev, mem, 3, 16, host, 10, 5, 6, &err));
    assert_true(dev_read_rows(dev, mem, 3, 16, back, 7, 5, 6, &err));
    for (int y = 0; y < 6; y++) {
        assert_memory_equal(back[y], host[y], 5);
    }
    assert_true(dev_write_rows(dev, mem, 100, 5, host, 5, 5, 4, &err));
    assert_true(dev_read(dev, mem, 100, flat, sizeof flat, &err));
    assert_memory_equal(flat, host, sizeof flat);
    assert_true(dev_write_rows(dev, mem, 0, 16, host, 10, 0, 6, &err));
    assert_true(dev_read_rows(dev, mem, 0, 16, back, 7, 5, 0, &err));
    assert_false(dev_write(dev, mem, 250, host, 10, &err));
    assert_int_equal(err.code, CODE_DEVICE);
    assert_non_null(strstr(err.text, "in an upload"));
    dev_free(dev, mem);
    dev_close(dev);
}

static void fills_and_copies_reach_every_byte(void **state)
{
    (void)state;
    Device *dev = open_with((DevOptions){0});
    DevMem *a, *b = NULL;
    Err err = {0};
    uint8_t bytes[16];
    assert_true(dev_alloc(dev, 16, &a, &err) && dev_alloc(dev, 16, &b, &err));
    assert_true(dev_fill(dev, a, 0, 16, 0, &err));
    assert_true(dev_fill(dev, a, 4, 7, 0x04030201, &err));
    assert_true(dev_copy(dev, a, 4, b, 1, 8, &err));
    assert_true(dev_copy(dev, a, 4, b, 1, 0, &err));
    assert_true(dev_fill(dev, a, 4, 0, 1, &err));
    assert_true(dev_read(dev, b, 0, bytes, 16, &err));
    assert_memory_equal(bytes + 1, "\1\2\3\4\1\2\3\0", 8);
    assert_int_equal(bytes[0], 0xff);
    assert_int_equal(bytes[9], 0xff);
    dev_free(dev, a);
    dev_free(dev, b);
    dev_close(dev);
}

static void impossible_launches_are_refused(void **state)
{
    (void)state;
    Device *dev = open_with((DevOptions){0});
    static const char source[] = "kernel void k(global int *a, local int *t)\n{\n"
                                 "    t[get_local_id(0)] = 1;\n    a[0] = t[0];\n}\n";
    DevProgram *program;
    DevKernel *kernel;
    DevMem *mem;
    Err err = {0};
    assert_true(dev_program(dev, "k", source, NULL, &program, &err));
    assert_true(dev_kernel(program, "k", &kernel, &err));
    assert_true(dev_alloc(dev, 16, &mem, &err));
    const size_t one[3] = {1, 1, 1}, none[3] = {1, 0, 1}, many[3] = {1 << 20, 1, 1};
    const DevArg good[] = {dev_mem(mem), dev_local(64)};
    const DevArg greedy[] = {dev_mem(mem), dev_local(dev_info(dev)->local + 1)};
    assert_true(dev_launch(dev, kernel, good, 2, one, one, "mine", &err));
    assert_true(dev_launch(dev, kernel, good, 2, none, one, "mine", &err));
    assert_int_equal(dev_launches(dev), 1);
    assert_false(dev_launch(dev, kernel, good, 1, one, one, "mine", &err));
    assert_non_null(strstr(err.text, "'k' of 'mine' takes 2 arguments, but is given 1"));
    err_clear(&err);
    assert_false(dev_launch(dev, kernel, greedy, 2, one, one, "mine", &err));
    assert_non_null(strstr(err.text, "local memory"));
    err_clear(&err);
    assert_false(dev_launch(dev, kernel, good, 2, one, many, "mine", &err));
    assert_non_null(strstr(err.text, "not 1048576"));
    err_clear(&err);
    assert_true(dev_finish(dev, &err));
    dev_free(dev, mem);
    dev_close(dev);
}

static void waits_are_counted(void **state)
{
    (void)state;
    Device *dev = open_with((DevOptions){0});
    DevMem *mem;
    DevMark *mark;
    Err err = {0};
    uint32_t word = 0;
    assert_true(dev_alloc(dev, 16, &mem, &err));
    uint64_t before = dev_waits(dev);
    assert_true(dev_fill(dev, mem, 0, 16, 7, &err) && dev_write(dev, mem, 0, &word, 4, &err));
    assert_true(dev_copy(dev, mem, 4, mem, 8, 4, &err) && dev_read(dev, mem, 0, &word, 0, &err));
    assert_int_equal(dev_waits(dev), before);
    assert_true(dev_read(dev, mem, 8, &word, 4, &err));
    assert_int_equal(word, 7);
    assert_true(dev_mark(dev, DEV_COMPUTE, &mark, &err));
    assert_true(dev_reach(dev, NULL, &err) && dev_reach(dev, mark, &err) && dev_finish(dev, &err));
    assert_int_equal(dev_waits(dev), before + 3);
    dev_mark_free(dev, mark);
    dev_free(dev, mem);
    dev_close(dev);
}

static void times_are_kept_when_asked_for(void **state)
{
    (void)state;
    Device *dev = open_with((DevOptions){.profile = true});
    const DevEvent *events;
    int n, kernels = 0, uploads = 0;
    Err err = {0};
    for (int round = 0; round < 2; round++) {
        use(dev, TWICE);
        assert_true(dev_events(dev, &events, &n, &err));
        kernels = uploads = 0;
        for (int i = 0; i < n; i++) {
            assert_true(events[i].begin_ns <= events[i].end_ns);
            assert_true(i == 0 || events[i - 1].begin_ns <= events[i].begin_ns);
            bool kernel = strcmp(events[i].kind, "kernel") == 0;
            kernels += kernel && strcmp(events[i].what, "twice") == 0;
            uploads += strcmp(events[i].kind, "upload") == 0 && events[i].bytes == 4000;
        }
        assert_int_equal(kernels, 1);
        assert_int_equal(uploads, 1);
    }
    assert_true(dev_events(dev, &events, &n, &err));
    assert_int_equal(n, 0);
    use(dev, TWICE);
    dev_close(dev); /* with times that nobody asked for */
}

static void statuses_have_names(void **state)
{
    (void)state;
    char text[32];
    assert_string_equal(cl_code_name(-4, text), "CL_MEM_OBJECT_ALLOCATION_FAILURE");
    assert_int_equal(cl_code(-4)->code, CODE_MEMORY);
    assert_true(cl_code(-36)->lost);
    assert_string_equal(cl_code_name(-12345, text), "status -12345");
    cl_size_text(text, 1536);
    assert_string_equal(text, "1.5 KiB");
    cl_size_text(text, 1023);
    assert_string_equal(text, "1023 bytes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_driver_is_explained), /* these three first: see above */
        cmocka_unit_test(bad_pocl_cache_is_replaced),
        cmocka_unit_test(pocl_reads_less_where_it_may),
        cmocka_unit_test(folders_of_others_are_refused),
        cmocka_unit_test(devices_are_listed),
        cmocka_unit_test(devices_have_the_names_that_people_use),
        cmocka_unit_test(devices_are_chosen),
        cmocka_unit_test(two_devices_work_side_by_side),
        cmocka_unit_test(texts_are_met_once),
        cmocka_unit_test(same_text_is_built_once),
        cmocka_unit_test(bad_source_shows_log_and_place),
        cmocka_unit_test(binaries_are_kept_on_disk),
        cmocka_unit_test(nonsense_binary_is_rebuilt),
        cmocka_unit_test(kernels_are_dumped_and_loaded),
        cmocka_unit_test(programs_are_built_by_several_threads),
        cmocka_unit_test(memory_is_counted_and_limited),
        cmocka_unit_test(absurd_memory_is_refused),
        cmocka_unit_test(fresh_memory_is_filled),
        cmocka_unit_test(slices_are_parts),
        cmocka_unit_test(slices_are_freed_in_any_order),
        cmocka_unit_test(host_memory_comes_and_goes),
        cmocka_unit_test(rows_are_moved_with_pitches),
        cmocka_unit_test(fills_and_copies_reach_every_byte),
        cmocka_unit_test(impossible_launches_are_refused),
        cmocka_unit_test(waits_are_counted),
        cmocka_unit_test(times_are_kept_when_asked_for),
        cmocka_unit_test(statuses_have_names),
    };
    snprintf(folder, sizeof folder, "/tmp/test-cl-XXXXXX");
    if (!mkdtemp(folder)) {
        return 1;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    forget_folder();
    return failed;
}
