/*
 * figures: measured figures are lines of one file in the folder where compiled kernels are kept:
 *
 *     COPY OPERATIONS NAME OF THE DEVICE
 */
#include "driver.h"

#include "../base/file.h"
#include "../runtime/device/cl_cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 4200 };

static bool path_of_figures(char *path, size_t size)
{
    char folder[PATH_SIZE - 20];
    cl_cache_folder(NULL, folder, sizeof folder);
    snprintf(path, size, "%s/devices", folder);
    return folder[0] != '\0';
}

/* The lines of the file, owned by the caller (free); an empty text where there is none. */
static char *read_lines(void)
{
    char path[PATH_SIZE], *text = NULL;
    size_t size;
    Err ignored = {0};
    if (!path_of_figures(path, sizeof path) || !file_read(path, &text, &size, &ignored)) {
        return calloc(1, 1);
    }
    return text;
}

/* The figures of a line, and the line behind it; NULL after the last one. */
static const char *read_line(const char *line, DeviceFigures *figures)
{
    const char *end = strchr(line, '\n');
    *figures = (DeviceFigures){.copy_gb = 0};
    if (end == NULL) {
        return NULL;
    }
    char name[sizeof figures->name] = "";
    if (sscanf(line, "%lf %lf %127[^\n]", &figures->copy_gb, &figures->giga_ops, name) != 3 ||
        !(figures->copy_gb > 0) || !(figures->giga_ops > 0)) {
        figures->copy_gb = 0; /* somebody wrote something else into the file */
    }
    memcpy(figures->name, name, sizeof name);
    return end + 1;
}

bool figures_measured(const char *name, DeviceFigures *out)
{
    char *text = read_lines();
    DeviceFigures line;
    bool found = false;
    for (const char *at = text; at != NULL && (at = read_line(at, &line)) != NULL;) {
        if (line.copy_gb > 0 && strstr(line.name, name) != NULL) {
            *out = line;
            found = true;
        }
    }
    free(text);
    return found;
}

bool figures_store(const DeviceFigures *figures, Err *err)
{
    Arena arena;
    driver_arena(&arena);
    Str all;
    str_init(&all, &arena);
    char path[PATH_SIZE], *text = read_lines();
    DeviceFigures line;
    for (const char *at = text; at != NULL && (at = read_line(at, &line)) != NULL;) {
        if (line.copy_gb > 0 && strcmp(line.name, figures->name) != 0) {
            str_addf(&all, "%.6g %.6g %s\n", line.copy_gb, line.giga_ops, line.name);
        }
    }
    free(text);
    str_addf(&all, "%.6g %.6g %s\n", figures->copy_gb, figures->giga_ops, figures->name);
    bool ok = path_of_figures(path, sizeof path)
                  ? file_write(path, all.at, strlen(all.at), err)
                  : err_set(err, CODE_OUTPUT, "there is no folder to keep figures in: neither "
                                              "XDG_CACHE_HOME nor HOME is set");
    arena_free(&arena);
    return ok;
}
