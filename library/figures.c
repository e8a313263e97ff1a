/*
 * figures: measured figures are lines of one file in the folder where compiled kernels are kept:
 *
 *     COPY OPERATIONS LOCAL LAUNCH NAME OF THE DEVICE
 */
#include "figures.h"

#include "../base/str.h"
#include "../base/file.h"
#include "../runtime/device/cl_cache.h"
#include "../runtime/device/cl_setup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof((DeviceInfo *)0)->name == FIGURES_NAME, "names of devices have one length");

enum { PATH_SIZE = 60 };

/* False when there is no folder; the file is there while the cache is open. */
static bool open_figures(ClCache *cache, char path[PATH_SIZE], Err *err)
{
    TRY(cl_cache_open(NULL, cache, err));
    snprintf(path, PATH_SIZE, "%s/devices", cache->path);
    return cache->fd >= 0 || err_set(err, CODE_OUTPUT,
                                     "there is no folder to keep figures in: neither "
                                     "XDG_CACHE_HOME nor HOME is set");
}

/* The lines of the file, owned by the caller (free); an empty text where there is none. */
static char *read_lines(void)
{
    char path[PATH_SIZE], *text = NULL;
    size_t size;
    ClCache cache;
    Err ignored = {0};
    bool ok = open_figures(&cache, path, &ignored) && file_read(path, &text, &size, &ignored);
    cl_cache_close(&cache);
    err_clear(&ignored);
    return ok ? text : calloc(1, 1);
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
    if (sscanf(line, "%lf %lf %lf %lf %127[^\n]", &figures->copy_gb, &figures->giga_ops, &figures->local_gb,
               &figures->launch_us, name) != 5 ||
        !(figures->copy_gb > 0) || !(figures->giga_ops > 0) || !(figures->local_gb > 0) || !(figures->launch_us > 0)) {
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

bool figures_of_device(const char *choice, DeviceFigures *out, char name[FIGURES_NAME])
{
    name[0] = '\0';
    DeviceInfo *list = NULL;
    int n = 0, i = 0;
    char why[1000];
    Err ignored = {0};
    if (!dev_list(&list, &n, why, sizeof why, &ignored)) {
        return false;
    }
    while (i < n && !cl_setup_matches(&list[i], choice)) {
        i++;
    }
    if (i < n) {
        memcpy(name, list[i].name, FIGURES_NAME);
    }
    bool measured = i < n && figures_measured(list[i].name, out);
    const DeviceFigures *known = i < n ? figures_known(list[i].name) : NULL;
    if (known == NULL && i < n && list[i].cpu) {
        known = figures_known("cpu");
    }
    if (!measured && known != NULL) {
        *out = *known;
    }
    out->searched = i < n && !list[i].cpu;
    free(list);
    return measured;
}

static void add_line(const DeviceFigures *f, Str *out)
{
    str_addf(out, "%.6g %.6g %.6g %.6g %s\n", f->copy_gb, f->giga_ops, f->local_gb, f->launch_us, f->name);
}

bool figures_store(const DeviceFigures *figures, Arena *arena, Err *err)
{
    Str all;
    str_init(&all, arena);
    char path[PATH_SIZE], *text = read_lines();
    DeviceFigures line;
    for (const char *at = text; at != NULL && (at = read_line(at, &line)) != NULL;) {
        if (line.copy_gb > 0 && strcmp(line.name, figures->name) != 0) {
            add_line(&line, &all);
        }
    }
    free(text);
    add_line(figures, &all);
    ClCache cache;
    bool ok = open_figures(&cache, path, err) && file_write(path, all.at, strlen(all.at), err);
    cl_cache_close(&cache);
    return ok;
}
