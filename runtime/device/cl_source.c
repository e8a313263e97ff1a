/*
 * cl_source: what happens to a kernel's text before and instead of compiling it: --dump-kernels
 * and --load-kernels, the key under which its binary is kept, and the message when it fails.
 */
#include "cl_source.h"

#include "../../base/file.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 4400, LOG_LINES = 6, LOG_CHARS = 500 };

/* FOLDER/NAME.cl, with everything odd in the name replaced. */
static void path_of(const char *folder, const char *name, char *path, size_t size)
{
    size_t n = strlen(folder);
    snprintf(path, size, "%s/", folder);
    for (n++; *name && n + 4 < size; name++) {
        path[n++] = isalnum((unsigned char)*name) || strchr("-_.", *name) ? *name : '_';
    }
    snprintf(path + n, size - n, ".cl");
}

/* The first lines of a log. */
static void shorten(const char *log, char text[LOG_CHARS + 1])
{
    snprintf(text, LOG_CHARS + 1, "%s", log);
    char *end = text;
    for (int line = 0; line < LOG_LINES && end; line++) {
        end = strchr(end, '\n');
        end = end ? end + 1 : NULL;
    }
    if (end) {
        *end = '\0';
    }
}

bool cl_source_text(const char *load, const char *dump, const char *name, const char *source, char **text, Err *err)
{
    char path[PATH_SIZE];
    size_t size;
    *text = NULL;
    path_of(load, name, path, sizeof path);
    if (load[0] && access(path, F_OK) == 0) {
        TRY(file_read(path, text, &size, err));
    } else if (!(*text = strdup(source))) {
        return err_set(err, CODE_MEMORY, "out of host memory for the text of kernel '%s'", name);
    }
    path_of(dump, name, path, sizeof path);
    if (dump[0] && !file_write(path, *text, strlen(*text), err)) {
        free(*text);
        *text = NULL;
        return false;
    }
    return true;
}

char *cl_source_key(const DeviceInfo *info, const char *source, const char *options)
{
    static const char *const format = "pipec " PIPEC_VERSION "\n%s\n%s\n%s\n%s\n%s\n%s";
    int n = snprintf(NULL, 0, format, info->platform, info->name, info->version, info->driver, options, source);
    char *key = malloc((size_t)n + 1);
    if (key) {
        snprintf(key, (size_t)n + 1, format, info->platform, info->name, info->version, info->driver, options, source);
    }
    return key;
}

/* Writes a kernel to a new file in the folder for temporary files; its name in `path`. */
static bool write_temporary(const char *name, const char *source, char *path, size_t size)
{
    char file[160];
    const char *temp = getenv("TMPDIR");
    snprintf(file, sizeof file, "pipec-%.140s", name);
    path_of(temp && temp[0] ? temp : "/tmp", file, path, size);
    size_t stem = strlen(path) - strlen(".cl");
    snprintf(path + stem, size - stem, "-XXXXXX");
    int fd = mkstemp(path);
    if (fd < 0) {
        return false;
    }
    bool written = file_put(fd, source, strlen(source));
    return close(fd) == 0 && written;
}

bool cl_source_failed(const DeviceInfo *info, const char *dump, const char *name, const char *source, const char *log,
                      const char *status, Err *err)
{
    char path[PATH_SIZE], text[LOG_CHARS + 1];
    Err ignored = {0};
    path_of(dump, name, path, sizeof path);
    bool written =
        dump[0] ? file_write(path, source, strlen(source), &ignored) : write_temporary(name, source, path, sizeof path);
    shorten(log, text);
    return err_set(err, CODE_DEVICE, "the device '%s' could not compile kernel '%s' (%s); its source %s %s:\n%s",
                   info->name, name, status, written ? "is in" : "could not be written to", path, text);
}
