/*
 * cl_setup: PoCL fails without a word, or ends the process, when its kernel cache cannot be
 * written.  So the folder is judged before PoCL sees it, and replaced by a private one that is
 * removed at exit.  With LLVM 18 and later it also ends the process wherever one round of instruction combining leaves
 * something to combine, a check that LLVM makes in its own tests (of `rotate`, for instance), and makes loops without an
 * end of kernels whose groups are one work-item, unless it is told to arrange work-items in another way than loops.
 * And when no driver is found at all, the reason is on this machine's disk: the loader reads *.icd files, each
 * naming a driver's library.
 */
#include "cl_setup.h"

#include "../../base/file.h"

#include "../host/signals.h"
#include "cl_pocl.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { PATH_SIZE = 4096, ENOUGH_MIB = 16 };

static char private_cache[PATH_SIZE], refused[PATH_SIZE + 300];

static void remove_tree(const char *path)
{
    DIR *dir = opendir(path);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        char inner[PATH_SIZE];
        struct stat status;
        int n = snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
        if (n >= (int)sizeof inner || strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) {
            continue;
        }
        if (lstat(inner, &status) == 0 && S_ISDIR(status.st_mode)) {
            remove_tree(inner);
        } else {
            (void)unlink(inner);
        }
    }
    if (dir) {
        closedir(dir);
    }
    (void)rmdir(path);
}

static void remove_private_cache(void)
{
    remove_tree(private_cache);
}

/* True when files can be made in `path`, or it can be made; nothing is made to find out. */
static bool usable(const char *path)
{
    char at[PATH_SIZE];
    if (path[0] == '\0' || snprintf(at, sizeof at, "%s", path) >= (int)sizeof at) {
        return false;
    }
    while (access(at, F_OK) != 0) {
        char *slash = strrchr(at, '/');
        if (!slash || slash == at) {
            snprintf(at, sizeof at, "%s", slash ? "/" : ".");
            break;
        }
        *slash = '\0';
    }
    struct stat status;
    struct statvfs space;
    if (stat(at, &status) != 0 || !S_ISDIR(status.st_mode) || access(at, W_OK | X_OK) != 0 ||
        statvfs(at, &space) != 0) {
        return false;
    }
    return (double)space.f_bavail * (double)space.f_frsize >= ENOUGH_MIB * 1048576.0;
}

/* Where PoCL would put its kernels. */
static void pocl_cache(char *path, size_t size)
{
    const char *own = getenv("POCL_CACHE_DIR"), *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (own) {
        snprintf(path, size, "%s", own);
    } else if (xdg && xdg[0]) {
        snprintf(path, size, "%s/pocl/kcache", xdg);
    } else {
        snprintf(path, size, "%s%s", home ? home : "", home ? "/.cache/pocl/kcache" : "");
    }
}

/* PoCL runs what it finds there, so that the folder must be the user's alone, as the one that is made here is. */
static bool is_private(const char *path)
{
    Err err = {0};
    int fd = -1;
    bool is = file_make_private_folder(path, &err) && file_open_private(path, &fd, &err);
    if (is) {
        close(fd);
    }
    snprintf(refused, sizeof refused, "%s", err.text);
    err_clear(&err);
    return is;
}

const char *cl_setup_refused(void)
{
    return refused[0] != '\0' ? refused : NULL;
}

static void choose_cache(void)
{
    char path[PATH_SIZE];
    pocl_cache(path, sizeof path);
    if (usable(path) && is_private(path)) {
        return;
    }
    const char *temp = getenv("TMPDIR");
    if (!temp || !usable(temp)) {
        temp = "/tmp";
    }
    if (snprintf(private_cache, sizeof private_cache, "%s/pipec-pocl-XXXXXX", temp) >= (int)sizeof private_cache ||
        !mkdtemp(private_cache)) {
        return;
    }
    (void)setenv("POCL_CACHE_DIR", private_cache, 1);
    (void)atexit(remove_private_cache);
    signals_at_end(remove_private_cache);
}

static bool alone;

void dev_alone(void)
{
    alone = true;
}

static void prepare(void)
{
    choose_cache();
    if (alone) {
        cl_pocl_use();
    }
}

static int count_icd_files(const char *folder)
{
    int n = 0;
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        size_t length = strlen(entry->d_name);
        n += length > 4 && strcmp(entry->d_name + length - 4, ".icd") == 0;
    }
    if (dir) {
        closedir(dir);
    }
    return n;
}

static bool contains(const char *text, const char *part)
{
    size_t n = strlen(part);
    for (; *text; text++) {
        size_t i = 0;
        while (i < n && tolower((unsigned char)text[i]) == tolower((unsigned char)part[i])) {
            i++;
        }
        if (i == n) {
            return true;
        }
    }
    return n == 0;
}

void cl_setup_prepare(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, prepare);
}

void cl_setup_platform(const char *version)
{
    enum { LLVM_THAT_VERIFIES = 18 };
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    const char *llvm = strstr(version, "LLVM ");
    bool verifies = llvm && strtol(llvm + 5, NULL, 10) >= LLVM_THAT_VERIFIES;
    if (contains(version, "PoCL")) {
        pthread_mutex_lock(&lock);
        (void)setenv("POCL_WORK_GROUP_METHOD", verifies ? "cbs" : "loopvec", 0);
        pthread_mutex_unlock(&lock);
    }
}

static bool is_known_pocl(const DeviceInfo *info)
{
    long version = strtol(info->driver, NULL, 10); /* 3.1 and 6.0 were seen */
    return strcmp(info->platform, "Portable Computing Language") == 0 && version >= 3 && version <= 6;
}

bool cl_setup_declares(const DeviceInfo *info)
{
    return is_known_pocl(info);
}

/* Without optimisation all variables of a group's work-items lie on the stack of a thread: up to 2 MiB.  Where there is
 * no limit, threads have no more than that. */
static bool has_stack(void)
{
    enum { ENOUGH = 4 << 20 };
    struct rlimit stack;
    return getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur != RLIM_INFINITY && stack.rlim_cur >= ENOUGH;
}

bool cl_setup_is_quick(const DeviceInfo *info)
{
    return is_known_pocl(info) && has_stack();
}

bool cl_setup_knows_kernels(const DeviceInfo *info)
{
    return strcmp(info->platform, "rusticl") != 0 || strtol(info->driver, NULL, 10) > 22;
}

void cl_setup_explain(const char *drivers, char *why, size_t size)
{
    static const char *const vendors = "/etc/OpenCL/vendors";
    const char *moved = getenv("OCL_ICD_VENDORS");
    if (drivers) {
        snprintf(why, size,
                 "OpenCL (%s) is installed but has no device (is the GPU visible here, and its "
                 "kernel driver loaded?); install pocl-opencl-icd to run on the CPU",
                 drivers);
        return;
    }
    if (moved) {
        snprintf(why, size,
                 "no OpenCL driver was found, because the environment variable OCL_ICD_VENDORS "
                 "sends the search to '%.300s'; unset it, or let it name a folder with the "
                 "drivers' .icd files (usually %s)",
                 moved, vendors);
        return;
    }
    int n = count_icd_files(vendors);
    bool nvidia = access("/dev/nvidiactl", F_OK) == 0;
    if (n > 0) {
        snprintf(why, size,
                 "no OpenCL driver works, although %s has %d .icd file%s: each names a library "
                 "that must be installed and loadable; reinstall the driver, or install "
                 "pocl-opencl-icd to run on the CPU",
                 vendors, n, n == 1 ? "" : "s");
    } else if (nvidia) {
        snprintf(why, size,
                 "no OpenCL driver is installed, although there is an NVIDIA GPU: make the file "
                 "%s/nvidia.icd with the one line 'libnvidia-opencl.so.1' (in a container, ask "
                 "for the compute capability: NVIDIA_DRIVER_CAPABILITIES=compute,utility), or "
                 "install pocl-opencl-icd to run on the CPU",
                 vendors);
    } else {
        snprintf(why, size,
                 "no OpenCL driver is installed: install pocl-opencl-icd to run on the CPU, or "
                 "your GPU's driver (for NVIDIA, %s/nvidia.icd has the one line "
                 "'libnvidia-opencl.so.1')",
                 vendors);
    }
}

/* Platforms that nobody calls by their names. */
static const struct {
    const char *name, *known_as;
} PLATFORMS[] = {
    {"Portable Computing Language", "PoCL"},
};

static const char *known_as(const DeviceInfo *info)
{
    for (size_t i = 0; i < sizeof PLATFORMS / sizeof *PLATFORMS; i++) {
        if (strcmp(info->platform, PLATFORMS[i].name) == 0) {
            return PLATFORMS[i].known_as;
        }
    }
    return info->platform;
}

void cl_setup_name(const DeviceInfo *info, char *to, size_t size)
{
    snprintf(to, size, "#%d %s (%s, %s)", info->number, info->name, known_as(info), info->cpu ? "cpu" : "gpu");
}

bool cl_setup_matches(const DeviceInfo *info, const char *choice)
{
    if (!choice) {
        return true;
    }
    if (choice[0] == '#') {
        char *end;
        long k = strtol(choice + 1, &end, 10);
        return end != choice + 1 && *end == '\0' && k == info->number;
    }
    if (strcasecmp(choice, "cpu") == 0 || strcasecmp(choice, "gpu") == 0) {
        return info->cpu == (strcasecmp(choice, "cpu") == 0);
    }
    return contains(info->name, choice) || contains(info->platform, choice) || contains(known_as(info), choice);
}
