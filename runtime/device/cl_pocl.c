/*
 * cl_pocl: PoCL as Debian 12 and 13 have it, with less to read for each kernel.
 *
 * PoCL parses its 23,000 built-in functions in each process that compiles, which takes a second; pipec's kernels call fifty.
 * It looks for its files beside its driver.  So the folder of compiled kernels gets one that looks like PoCL's own:
 *
 *     vendors/pocl.icd     names the driver below, the others are links     lib/lib/libpocl.so   a link
 *     share/pocl           links, but for the libraries that are made       lib/lib/pocl         a link
 *                          smaller when pipec is built (POCL_LIBRARIES)     bin/ld               links a kernel with nothing
 *     share/pocl/include   links, but for the declarations of them all
 *
 * The machine code is the same.  The copy's name is a digest of what it is made from, so that a new version of
 * PoCL, or another driver, gets another copy.  PoCL ends the process where one of its files is missing or cut short, as after
 * a power failure or a search for old files.  So each process looks at all of the copy, and makes another beside a broken one.
 */
#define _XOPEN_SOURCE 700 /* realpath */

#include "cl_pocl.h"

#include "../../base/digest.h"
#include "../../base/file.h"
#include "cl_cache.h"

#include <CL/cl.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

static const char VENDORS[] = "/etc/OpenCL/vendors";

/* Skipping what a guard leaves out takes as long as reading it. */
static const char HEADER[] = "#ifndef _OPENCL_H_\n#include \"%s/include/opencl-c.h\"\n#endif\n";

/* PoCL has each kernel linked with the C library, of which this process has all that a kernel calls. */
static const char LINKER[] = "#!/bin/sh\n"
                             "kernel= to=\n"
                             "for word; do\n"
                             "    case $word in\n"
                             "    */tempfile_*.so) to=$word ;;\n"
                             "    */tempfile_*.so.o) kernel=$word ;;\n"
                             "    esac\n"
                             "done\n"
                             "[ -z \"$kernel\" ] || exec '%s' -shared -o \"$to\" \"$kernel\"\n"
                             "exec '%s' \"$@\"\n";

typedef struct Copy {
    char at[PATH_MAX];  /* where it will be */
    char now[PATH_MAX]; /* where it is made */
    char linker[PATH_MAX];
    bool looks; /* nothing is made: whether everything is there */
    bool ok;
} Copy;

static bool text_path(char *to, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    int n = vsnprintf(to, PATH_MAX, format, ap);
    va_end(ap);
    return n >= 0 && n < PATH_MAX;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* ---- its parts ---------------------------------------------------------------------------- */

static bool leads_to(const char *path, const char *to)
{
    char is[PATH_MAX];
    const size_t n = strlen(to);
    return readlink(path, is, sizeof is) == (ssize_t)n && memcmp(is, to, n) == 0;
}

static bool has_size(const char *path, size_t n)
{
    struct stat st;
    return lstat(path, &st) == 0 && S_ISREG(st.st_mode) && (size_t)st.st_size == n;
}

/* A power failure must not leave a folder of empty files. */
static bool write_file(const char *path, mode_t mode, const void *bytes, size_t n)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    const bool put = fd >= 0 && file_put(fd, bytes, n) && (fsync(fd) == 0 || errno == EINVAL);
    return fd >= 0 && close(fd) == 0 && put;
}

static void put_link(Copy *copy, const char *folder, const char *name, const char *to)
{
    char path[PATH_MAX];
    copy->ok = copy->ok && text_path(path, "%s/%s/%s", copy->now, folder, name) &&
               (copy->looks ? leads_to(path, to) : symlink(to, path) == 0);
}

static void put_file(Copy *copy, const char *folder, const char *name, mode_t mode, const void *bytes, size_t n)
{
    char path[PATH_MAX];
    copy->ok = copy->ok && text_path(path, "%s/%s/%s", copy->now, folder, name) &&
               (copy->looks ? has_size(path, n) : write_file(path, mode, bytes, n));
}

static void put_text(Copy *copy, const char *folder, const char *name, mode_t mode, const char *format, ...)
{
    char text[4 * PATH_MAX];
    va_list ap;
    va_start(ap, format);
    int n = vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    copy->ok = copy->ok && n > 0 && n < (int)sizeof text;
    put_file(copy, folder, name, mode, text, copy->ok ? (size_t)n : 0);
}

/* The library without what no kernel calls; false: PoCL's is another than that which it was made from, and stays. */
static bool put_library(Copy *copy, const PoclLibrary *library, const char *original)
{
    char digest[DIGEST_TEXT] = "", *bytes = NULL, path[PATH_MAX];
    size_t n;
    if (copy->looks) {
        return text_path(path, "%s/share/pocl/%s", copy->now, library->name) && has_size(path, library->size);
    }
    Err ignored = {0};
    if (file_read(original, &bytes, &n, &ignored)) {
        Digest of;
        digest_begin(&of);
        digest_add(&of, bytes, n);
        digest_end(&of, digest);
    }
    free(bytes);
    err_clear(&ignored);
    if (strcmp(digest, library->original) != 0) {
        return false;
    }
    bytes = malloc(library->size);
    if (bytes && ZSTD_decompress(bytes, library->size, library->packed, library->n_packed) == library->size) {
        put_file(copy, "share/pocl", library->name, 0600, bytes, library->size);
    } else {
        copy->ok = false;
    }
    free(bytes);
    return true;
}

/* Calls `put` for each file of a folder, in no order. */
static void each_file(Copy *copy, const char *folder, void (*put)(Copy *copy, const char *name, const char *path))
{
    DIR *dir = opendir(folder);
    copy->ok = copy->ok && dir != NULL;
    for (struct dirent *entry; copy->ok && (entry = readdir(dir));) {
        char path[PATH_MAX];
        if (entry->d_name[0] != '.') {
            copy->ok = text_path(path, "%s/%s", folder, entry->d_name);
            put(copy, entry->d_name, path);
        }
    }
    if (dir) {
        closedir(dir);
    }
}

static void put_data(Copy *copy, const char *name, const char *path)
{
    const PoclLibrary *library = POCL_LIBRARIES;
    while (library->name && strcmp(library->name, name) != 0) {
        library++;
    }
    if (strcmp(name, "include") != 0 && !(library->name && put_library(copy, library, path))) {
        put_link(copy, "share/pocl", name, path);
    }
}

static void put_header(Copy *copy, const char *name, const char *path)
{
    if (strcmp(name, "opencl-c.h") == 0) {
        put_text(copy, "share/pocl/include", name, 0600, HEADER, POCL_DATA);
    } else {
        put_link(copy, "share/pocl/include", name, path);
    }
}

/* Whether a vendor's file names the driver. */
static bool names_driver(const char *icd)
{
    char *text = NULL;
    size_t n;
    Err ignored = {0};
    bool names = false;
    if (file_read(icd, &text, &n, &ignored)) {
        text[strcspn(text, "\n")] = '\0';
        names = strcmp(text, POCL_DRIVER) == 0 || strcmp(text, base_name(POCL_DRIVER)) == 0;
    }
    free(text);
    err_clear(&ignored);
    return names;
}

static void put_vendor(Copy *copy, const char *name, const char *path)
{
    if (names_driver(path)) {
        put_text(copy, "vendors", name, 0600, "%s/lib/lib/%s\n", copy->at, base_name(POCL_DRIVER));
    } else {
        put_link(copy, "vendors", name, path);
    }
}

/* Where PoCL would find its linker; "" nowhere.  What another pipec has started has that one's copy in PATH. */
static void find_linker(char *linker)
{
    const char *path = getenv("PATH");
    linker[0] = '\0';
    while (path && *path && linker[0] == '\0') {
        const int n = (int)strcspn(path, ":");
        if (!text_path(linker, "%.*s/ld", n, path) || linker[0] != '/' || access(linker, X_OK) != 0 ||
            strchr(linker, '\'') || strstr(linker, "/pocl-")) {
            linker[0] = '\0';
        }
        path += n + (path[n] == ':');
    }
}

static void fill(Copy *copy)
{
    static const char *const FOLDERS[] = {"bin",        "vendors",           "lib", "lib/lib", "share",
                                          "share/pocl", "share/pocl/include"};
    char beside[PATH_MAX], headers[PATH_MAX];
    for (size_t i = 0; i < sizeof FOLDERS / sizeof *FOLDERS; i++) {
        char path[PATH_MAX];
        copy->ok = copy->ok && text_path(path, "%s/%s", copy->now, FOLDERS[i]) &&
                   (copy->looks ? file_is_folder(path) : mkdir(path, 0700) == 0);
    }
    copy->ok = copy->ok &&
               text_path(beside, "%.*s/pocl", (int)(base_name(POCL_DRIVER) - POCL_DRIVER) - 1, POCL_DRIVER) &&
               text_path(headers, "%s/include", POCL_DATA);
    if (copy->ok) {
        put_link(copy, "lib/lib", base_name(POCL_DRIVER), POCL_DRIVER);
        put_link(copy, "lib/lib", "pocl", beside);
        if (copy->linker[0] != '\0') {
            put_text(copy, "bin", "ld", 0700, LINKER, copy->linker, copy->linker);
        }
        each_file(copy, VENDORS, put_vendor);
        each_file(copy, POCL_DATA, put_data);
        each_file(copy, headers, put_header);
    }
}

/* ---- the whole ------------------------------------------------------------------------------ */

/* Adds size and time of a file; false: there is none. */
static bool add_file(Digest *digest, const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0) {
        return false;
    }
    digest_add_text(digest, path);
    digest_add(digest, &st.st_size, sizeof st.st_size);
    digest_add(digest, &st.st_mtim, sizeof st.st_mtim);
    return true;
}

/* What the copy is made from, or false where it is of no use. */
static bool digest_sources(const char *linker, char hex[DIGEST_TEXT])
{
    struct dirent **vendors;
    bool has = false;
    Digest digest;
    digest_begin(&digest);
    digest_add_text(&digest, linker);
    bool found = add_file(&digest, POCL_DRIVER);
    for (const PoclLibrary *library = POCL_LIBRARIES; found && library->name; library++) {
        char path[PATH_MAX];
        digest_add(&digest, library->packed, library->n_packed);
        found = text_path(path, "%s/%s", POCL_DATA, library->name) && add_file(&digest, path);
    }
    const int n = found ? scandir(VENDORS, &vendors, NULL, alphasort) : 0;
    for (int i = 0; i < n; i++) {
        char path[PATH_MAX];
        if (vendors[i]->d_name[0] != '.' && text_path(path, "%s/%s", VENDORS, vendors[i]->d_name)) {
            has = (add_file(&digest, path) && names_driver(path)) || has;
        }
        free(vendors[i]);
    }
    if (n > 0) {
        free(vendors);
    }
    digest_end(&digest, hex);
    return has;
}

static bool is_whole(const char *at, const char *linker)
{
    Copy copy = {.looks = true};
    copy.ok = text_path(copy.linker, "%s", linker) && text_path(copy.at, "%s", at) && text_path(copy.now, "%s", at);
    fill(&copy);
    return copy.ok;
}

/* Another process may make it at the same time, and be the first. */
static bool make(const char *at, const char *linker)
{
    Copy copy = {.ok = text_path(copy.linker, "%s", linker)};
    Err ignored = {0};
    int fd = -1;
    if (!text_path(copy.at, "%s", at) || !file_temp_folder(at, copy.now, sizeof copy.now, &fd, &ignored)) {
        err_clear(&ignored);
        return false;
    }
    fill(&copy);
    const bool made = copy.ok && (rename(copy.now, at) == 0 || file_is_folder(at));
    file_discard(copy.now, fd);
    return made;
}

/* The first copy that is whole, or can be made.  The folder's name stands in PATH, and on a line of an .icd file. */
static bool find_or_make(char *at)
{
    enum { TRIES = 8 };
    char sources[DIGEST_TEXT], folder[PATH_MAX], linker[PATH_MAX];
    ClCache cache;
    Err ignored = {0};
    find_linker(linker);
    if (POCL_LIBRARIES[0].name == NULL || !digest_sources(linker, sources)) {
        return false;
    }
    const bool open = cl_cache_open(NULL, &cache, &ignored) && cache.fd >= 0;
    err_clear(&ignored);
    const bool named = open && realpath(cache.path, folder) && !strpbrk(folder, ":\n");
    bool found = false;
    for (int i = 0; named && !found && i < TRIES; i++) {
        found = text_path(at, "%s/pocl-%.16s-%d", folder, sources, i) &&
                (is_whole(at, linker) || (!file_is_folder(at) && make(at, linker)));
    }
    if (open) {
        cl_cache_close(&cache);
    }
    return found;
}

static bool is_chosen(void)
{
    return getenv("OCL_ICD_VENDORS") || getenv("OCL_ICD_FILENAMES") || getenv("OPENCL_VENDOR_PATH");
}

/* The loader looks once, so that the environment is the user's again afterwards, but for the linker's place. */
void cl_pocl_use(void)
{
    const char *path = getenv("PATH");
    char at[PATH_MAX], vendors[PATH_MAX];
    cl_uint n;
    if (is_chosen() || !path || !find_or_make(at) || !text_path(vendors, "%s/vendors", at)) {
        return;
    }
    char *linker_first = malloc(strlen(at) + strlen(path) + 6);
    if (linker_first) {
        sprintf(linker_first, "%s/bin:%s", at, path);
        (void)setenv("PATH", linker_first, 1);
    }
    free(linker_first);
    (void)setenv("OCL_ICD_VENDORS", vendors, 1);
    (void)clGetPlatformIDs(0, NULL, &n);
    (void)unsetenv("OCL_ICD_VENDORS");
}
