/* devices: a list is opened from left to right, "all" by numbers. */
#include "devices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char ALL[] = "all";

static bool no_memory(Err *err)
{
    return err_set(err, CODE_MEMORY, "out of host memory for the devices");
}

/* "#0,#1": the GPUs, or the first device where there is none; owned by the caller (free). */
static char *all_devices(Err *err)
{
    DeviceInfo *list;
    int n;
    char why[700], *text = NULL;
    if (!dev_list(&list, &n, why, sizeof why, err)) {
        return NULL;
    }
    size_t size = 16 * (size_t)(n + 1), used = 0;
    if (n == 0) {
        err_set(err, CODE_DEVICE, "%s", why);
    } else if ((text = malloc(size)) == NULL) {
        no_memory(err);
    } else {
        used = (size_t)snprintf(text, size, "#0");
    }
    for (int i = 1; text != NULL && i < n && !list[i].cpu; i++) {
        used += (size_t)snprintf(text + used, size - used, ",#%d", i);
    }
    free(list);
    return text;
}

static bool add(Devices *devices, Device *dev, bool spare, Err *err)
{
    EngineDevice *more = realloc(devices->at, ((size_t)devices->n + 1) * sizeof *more);
    if (more == NULL) {
        dev_close(dev);
        return no_memory(err);
    }
    devices->at = more;
    devices->at[devices->n++] = (EngineDevice){dev, spare};
    return true;
}

/* Another user of a device that is open; NULL where this one is not. */
static Device *open_before(const Devices *devices, const Device *dev)
{
    for (int i = 0; i < devices->n; i++) {
        if (dev_info(devices->at[i].dev)->number == dev_info(dev)->number) {
            return devices->at[i].dev;
        }
    }
    return NULL;
}

static bool open_one(const DevOptions *options, const char *choice, Devices *devices, Err *err)
{
    DevOptions own = *options;
    Device *dev, *shared = NULL;
    own.choice = choice;
    TRY(dev_open(&own, &dev, err));
    Device *before = open_before(devices, dev);
    if (before == NULL) {
        return add(devices, dev, false, err);
    }
    dev_close(dev);
    return dev_share(before, &shared, err) && add(devices, shared, true, err);
}

/* `list` is taken apart. */
static bool open_list(const DevOptions *options, char *list, bool all, Devices *devices, Err *why, Err *err)
{
    char *rest = NULL;
    for (char *name = strtok_r(list, ",", &rest); name != NULL; name = strtok_r(NULL, ",", &rest)) {
        Err refused = {0};
        if (!open_one(options, name, devices, &refused)) {
            *(all ? why : err) = refused;
            TRY(all);
        }
    }
    if (devices->n == 0 && why->code != CODE_OK) {
        *err = *why;
    }
    return devices->n > 0 || err_set(err, CODE_USAGE, "--device '%s' names no device", options->choice);
}

bool devices_open(const DevOptions *options, Device *first, Devices *out, Err *why, Err *err)
{
    const char *choice = options->choice;
    bool all = choice != NULL && strcmp(choice, ALL) == 0;
    *out = (Devices){0};
    if (first != NULL) {
        return add(out, first, false, err);
    }
    if (!all && (choice == NULL || strchr(choice, ',') == NULL)) {
        return open_one(options, choice, out, err);
    }
    char *list = all ? all_devices(err) : strdup(choice);
    bool ok = (list != NULL || no_memory(err)) && open_list(options, list, all, out, why, err);
    free(list);
    return ok;
}

void devices_double(Devices *devices)
{
    for (int i = 0, n = devices->n; i < n; i++) {
        Device *dev = devices->at[i].dev, *second;
        bool alone = true;
        for (int k = 0; k < n; k++) {
            alone = alone && (k == i || dev_info(devices->at[k].dev)->number != dev_info(dev)->number);
        }
        Err refused = {0};
        if (alone && !dev_info(dev)->cpu && dev_share(dev, &second, &refused)) {
            (void)add(devices, second, true, &refused);
        }
        err_clear(&refused);
    }
}

void devices_close(Devices *devices, const Device *keep)
{
    for (int i = devices->n - 1; i >= 0; i--) { /* the first user of a device is the last */
        if (devices->at[i].dev != keep) {
            dev_close(devices->at[i].dev);
        }
    }
    free(devices->at);
    *devices = (Devices){0};
}

bool devices_of_rank(const char *choice, int local, char **out, Err *err)
{
    char *list = choice == NULL || strcmp(choice, ALL) == 0 ? all_devices(err) : strdup(choice), *rest = NULL;
    int n = 1, k = 0;
    *out = NULL;
    if (list == NULL) {
        return no_memory(err);
    }
    for (const char *c = list; *c != '\0'; c++) {
        n += *c == ',';
    }
    for (const char *name = strtok_r(list, ",", &rest); name != NULL; name = strtok_r(NULL, ",", &rest)) {
        if (k++ == local % n) {
            *out = strdup(name);
        }
    }
    free(list);
    return *out != NULL || no_memory(err);
}

const char *devices_first(const char *choice, char *text)
{
    if (choice == NULL || strcmp(choice, ALL) == 0) {
        return NULL;
    }
    size_t n = strcspn(choice, ",");
    memcpy(text, choice, n);
    text[n] = '\0';
    return text;
}
