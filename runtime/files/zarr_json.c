/* zarr_json: cJSON parses, and refuses what is nested too deeply. */
#include "zarr_json.h"

#include "../../base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const int64_t TEXT_MOST = 16 << 20; /* bytes; folders with the metadata of all that is in them have some MB */

/* All of a file that is known to be small, terminated; NULL with errno set. */
static char *read_text(int fd, size_t size)
{
    char *text = malloc(size + 1);
    size_t n = 0;
    while (text != NULL && n < size) {
        ssize_t got = read(fd, text + n, size - n);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            free(text);
            return NULL;
        }
        if (got == 0) {
            break;
        }
        n += (size_t)got;
    }
    if (text != NULL) {
        text[n] = '\0';
    }
    return text;
}

/* Metadata of arrays and groups say of which version they are, and lie in a file of that version's name. */
static bool check_version(const cJSON *meta, const char *name, Err *err)
{
    const cJSON *said = cJSON_GetObjectItemCaseSensitive(meta, "zarr_format");
    int version = strcmp(name, "zarr.json") == 0 ? 3 : 2;
    return said == NULL || (cJSON_IsNumber(said) && said->valuedouble == version) ||
           err_set(err, CODE_FILES, "its metadata (%s) is of another version of zarr than %d", name, version);
}

bool zarr_json_read(int folder, const char *name, cJSON **out, Err *err)
{
    struct stat st;
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    *out = NULL;
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR)) {
        return true;
    }
    bool small = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= TEXT_MOST;
    char *text = small ? read_text(fd, (size_t)st.st_size) : NULL;
    int error = errno;
    if (fd >= 0) {
        close(fd);
    }
    if (fd >= 0 && !small) {
        return err_set(err, CODE_FILES, "its metadata (%s) is no file of at most 16 MB", name);
    }
    if (text == NULL) {
        return file_err_set(err, CODE_FILES, "read", name, error);
    }
    *out = cJSON_Parse(text);
    free(text);
    bool ok = cJSON_IsObject(*out)
                  ? check_version(*out, name, err)
                  : err_set(err, CODE_FILES, "its metadata (%s) is damaged: it is no object of JSON", name);
    if (!ok) {
        cJSON_Delete(*out);
        *out = NULL;
    }
    return ok;
}

const cJSON *zarr_json_object(const cJSON *at, const char *key)
{
    const cJSON *found = cJSON_GetObjectItemCaseSensitive(at, key);
    return cJSON_IsObject(found) ? found : NULL;
}

const cJSON *zarr_json_array(const cJSON *at, const char *key)
{
    const cJSON *found = cJSON_GetObjectItemCaseSensitive(at, key);
    return cJSON_IsArray(found) ? found : NULL;
}

const char *zarr_json_text(const cJSON *at, const char *key)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(at, key));
}

bool zarr_json_whole(const cJSON *number, int64_t least, int64_t *to)
{
    double value = cJSON_IsNumber(number) ? number->valuedouble : -1;
    if (!(value >= (double)least && value <= 0x1p53)) {
        return false;
    }
    *to = (int64_t)value;
    return (double)*to == value;
}
