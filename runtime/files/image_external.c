/*
 * image_external: what a reader says is believed as little as what a file says.  Each open image has a process to
 * itself; a process that has waited for its next image may be gone, and then a new one is asked.
 */
#include "image_external.h"

#include "image_meta.h"
#include "image_pixels.h"
#include "reader_process.h"
#include "zarr_json.h"
#include "../host/stopwatch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { USUAL_SECONDS = 120, SAYS_BYTES = 600 };

/* Nothing of the current folder, which may be anybody's, is run.  The command of a wheel says which Python it belongs to. */
#define OWN_READER \
    "exec \"${PIPEC_PYTHON:-python3}\" -c 'import sys; sys.path[:] = [p for p in sys.path if p]; from pipec.reader import main; main()'"
#define OWN_NAME "python3 -m pipec.reader"
static const char OWN_ENDINGS[] = ".czi,.nd2,.lif,.ims,.h5,.hdf5";

static struct {
    const char *endings; /* ".nd2,.czi=...", "": none were named */
    const char *program; /* NULL: none */
    int seconds;
} user = {"", NULL, USUAL_SECONDS};

typedef struct External {
    ReaderProcess *process;
    const char *name; /* of the program, for messages */
    char *channels;
    bool sound; /* its last answer was one of the protocol's: another image may be asked of it */
} External;

/* ---- which files ------------------------------------------------------------------------------- */

/* A list of endings, with commas between them, goes to a NUL or '='. */
static bool ends_in(const char *file, const char *endings)
{
    size_t n = strlen(file), m;
    for (const char *at = endings; (m = strcspn(at, ",=")) > 0; at += m + (at[m] == ',')) {
        if (n > m && strncasecmp(file + n - m, at, m) == 0) {
            return true;
        }
    }
    return false;
}

bool image_external_use(const char *reader, int seconds, Err *err)
{
    user.endings = "";
    user.program = reader;
    user.seconds = seconds > 0 ? seconds : USUAL_SECONDS;
    const char *is = reader != NULL && reader[0] == '.' ? strchr(reader, '=') : NULL;
    if (is != NULL && memchr(reader, '/', (size_t)(is - reader)) == NULL &&
        memchr(reader, ' ', (size_t)(is - reader)) == NULL) {
        user.endings = reader;
        user.program = is + 1;
    }
    return reader == NULL || user.program[strspn(user.program, " ")] != '\0' ||
           err_set(err, CODE_USAGE, "--reader takes a program, or endings of files and a program: '.nd2,.czi=PROGRAM'");
}

bool image_external_claims(const char *file)
{
    return ends_in(file, user.endings);
}

static bool is_for_user(const char *file)
{
    return user.program != NULL && (user.endings[0] == '\0' || image_external_claims(file));
}

bool image_external_may_read(const char *file)
{
    return is_for_user(file) || ends_in(file, OWN_ENDINGS);
}

/* ---- requests ---------------------------------------------------------------------------------- */

/* {"open": "a.czi", "part": "Scene 2"} */
static char *open_request(const ImagePath *path)
{
    cJSON *request = cJSON_CreateObject();
    bool ok = cJSON_AddStringToObject(request, "open", path->file) != NULL &&
              (path->part[0] == '\0' || cJSON_AddStringToObject(request, "part", path->part) != NULL);
    char *text = ok ? cJSON_PrintUnformatted(request) : NULL;
    cJSON_Delete(request);
    return text;
}

/* Answers are objects, and say what was asked or {"error": "a sentence"}. */
static bool ask(External *in, const char *request, cJSON **answer, Err *err)
{
    char *line, says[SAYS_BYTES];
    in->sound = false;
    TRY(reader_process_ask(in->process, request, &line, err));
    *answer = cJSON_ParseWithOpts(line, NULL, true);
    const char *error = zarr_json_text(*answer, "error");
    in->sound = error != NULL;
    if (cJSON_IsObject(*answer) && error == NULL) {
        return true;
    }
    reader_process_line(error != NULL ? error : line, says, error != NULL ? sizeof says : 60);
    cJSON_Delete(*answer);
    *answer = NULL;
    return error != NULL
               ? err_set(err, CODE_FILES, "%s says: %s", in->name, says)
               : err_set(err, CODE_FILES, "its reader (%s) answers what is no object of JSON: '%s'", in->name, says);
}

/* ---- what it says of an image ------------------------------------------------------------------ */

static bool read_axes(const cJSON *answer, ImageInfo *info, Err *err)
{
    struct {
        const char *name;
        int64_t *extent;
        bool *has;
    } axes[] = {{"x", &info->x, NULL},
                {"y", &info->y, NULL},
                {"z", &info->z, &info->has_z},
                {"c", &info->c, &info->has_c},
                {"t", &info->t, &info->has_t}};
    double planes = 1;
    for (size_t i = 0; i < sizeof axes / sizeof *axes; i++) {
        const cJSON *extent = cJSON_GetObjectItemCaseSensitive(zarr_json_object(answer, "axes"), axes[i].name);
        *axes[i].extent = 1;
        if (axes[i].has != NULL) {
            *axes[i].has = extent != NULL;
        }
        if ((extent != NULL || axes[i].has == NULL) &&
            (!zarr_json_whole(extent, 1, axes[i].extent) || *axes[i].extent > INT32_MAX)) {
            return err_set(err, CODE_FILES, "its reader says no extent from 1 to %d for the axis %s", INT32_MAX,
                           axes[i].name);
        }
        planes *= i > 1 ? (double)*axes[i].extent : 1;
    }
    return planes <= INT32_MAX || err_set(err, CODE_FILES, "its reader claims more than %d planes", INT32_MAX);
}

static bool read_type(const cJSON *answer, ImageInfo *info, Err *err)
{
    const char *type = zarr_json_text(answer, "type");
    info->elem = type != NULL ? elem_from_name(type) : ELEM_NONE;
    return (elem_size(info->elem) > 0 && info->elem != ELEM_BOOL) ||
           err_set(err, CODE_FILES,
                   "its reader says no type of pixels that pipec has: u8, u16, i16, u32, i32, f32, f64");
}

static double positive(const cJSON *number)
{
    return cJSON_IsNumber(number) && number->valuedouble > 0 && isfinite(number->valuedouble) ? number->valuedouble : 0;
}

static void read_sizes(const cJSON *answer, ImageInfo *info)
{
    static const char *const AXES[] = {"x", "y", "z"};
    const cJSON *sizes = zarr_json_object(answer, "pixel_size");
    const char *unit = zarr_json_text(sizes, "unit");
    reader_process_line(unit != NULL ? unit : "", info->unit, sizeof info->unit);
    double um = meta_unit_um(info->unit);
    for (int axis = 0; axis < 3; axis++) {
        info->size[axis] = positive(cJSON_GetObjectItemCaseSensitive(sizes, AXES[axis]));
        info->size_um[axis] = isfinite(info->size[axis] * um) ? info->size[axis] * um : 0;
    }
    info->interval = positive(cJSON_GetObjectItemCaseSensitive(answer, "interval"));
}

/* Names of all channels or none. */
static bool read_channels(const cJSON *answer, External *in, ImageInfo *info, Err *err)
{
    const cJSON *names = zarr_json_array(answer, "channels"), *name;
    size_t size = 1, n = 0;
    cJSON_ArrayForEach(name, names)
    {
        if (!cJSON_IsString(name)) {
            return err_set(err, CODE_FILES, "its reader says a name of a channel that is no text");
        }
        size += strlen(name->valuestring) + 1;
        n++;
    }
    if (n != (size_t)info->c || info->rgb) {
        return true;
    }
    char *to = in->channels = malloc(size);
    if (to == NULL) {
        return err_set(err, CODE_MEMORY, "out of memory");
    }
    cJSON_ArrayForEach(name, names)
    {
        size_t length = strlen(name->valuestring) + 1;
        reader_process_line(name->valuestring, to, length);
        to += length;
    }
    info->channels = in->channels;
    info->remarks[REMARK_CHANNEL_NAMES] = 1;
    return true;
}

static bool read_answer(const cJSON *answer, External *in, ImageInfo *info, Err *err)
{
    int64_t images;
    TRY(read_axes(answer, info, err) && read_type(answer, info, err));
    info->rgb = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(answer, "rgb")) && info->c == 3;
    read_sizes(answer, info);
    strcpy(info->style, "ome");
    if (zarr_json_whole(cJSON_GetObjectItemCaseSensitive(answer, "images"), 1, &images)) {
        info->remarks[REMARK_BESIDE] = images - 1;
    }
    return read_channels(answer, in, info, err);
}

/* ---- the format -------------------------------------------------------------------------------- */

static void close_external(void *state)
{
    External *in = state;
    if (in != NULL) {
        if (in->process != NULL) {
            (in->sound ? reader_process_give : reader_process_end)(in->process);
        }
        free(in->channels);
        free(in);
    }
}

/* Asks a process that waits, and a new one where that one is gone. */
static bool ask_to_open(External *in, const char *command, const char *request, cJSON **answer, Err *err)
{
    for (;;) {
        Err failure = {0};
        TRY(reader_process_take(command, user.seconds, &in->process, err));
        if (ask(in, request, answer, &failure)) {
            return true;
        }
        if (!reader_process_is_used(in->process) || reader_process_last_words(in->process) == NULL) {
            *err = failure;
            return false;
        }
        reader_process_end(in->process);
        in->process = NULL;
    }
}

static bool open_external(const ImagePath *path, int fd, ImageInfo *info, void **state, Err *err)
{
    close(fd);
    bool own = !is_for_user(path->file), ok;
    External *in = calloc(1, sizeof *in);
    char *request = in != NULL ? open_request(path) : NULL;
    cJSON *answer = NULL;
    if (request == NULL) {
        free(in);
        return err_set(err, CODE_MEMORY, "out of memory");
    }
    in->name = own ? OWN_NAME : user.program;
    ok = ask_to_open(in, own ? OWN_READER : user.program, request, &answer, err) && read_answer(answer, in, info, err);
    if (!ok && own && in->process != NULL && reader_process_last_words(in->process) != NULL) {
        err_clear(err);
        err_set(err, CODE_FILES,
                OWN_NAME ", which may read it, does not run (%s); install pipec's package for Python (pip install "
                         "'pipec[reader]'), or convert the file to OME-TIFF with Bio-Formats (bfconvert) or bioio",
                reader_process_last_words(in->process));
    }
    cJSON_free(request);
    cJSON_Delete(answer);
    if (!ok) {
        close_external(in);
        return false;
    }
    in->sound = true;
    *state = in;
    return true;
}

static bool receive_rows(const External *in, const ImageInfo *info, const ImageRows *at, char *to, size_t pitch,
                         Err *err)
{
    static const uint16_t one = 1;
    const bool big_endian = *(const unsigned char *)&one == 0;
    size_t bytes = elem_size(info->elem), row = (size_t)info->x * bytes;
    int64_t step = pitch == row ? at->rows : 1;
    for (int64_t i = 0; i < at->rows; i += step, to += (size_t)step * pitch) {
        TRY(reader_process_bytes(in->process, to, (size_t)step * row, err));
        if (big_endian) {
            pixels_swap(to, (size_t)(step * info->x), bytes);
        }
    }
    return true;
}

static bool read_external(void *state, const ImageInfo *info, const ImageRows *at, void *to, size_t pitch, Err *err)
{
    External *in = state;
    char request[200];
    cJSON *answer = NULL;
    int64_t bytes = -1, want = at->rows * info->x * (int64_t)elem_size(info->elem);
    if (at->rows == 0) {
        return true;
    }
    snprintf(request, sizeof request, "{\"read\":{\"t\":%lld,\"c\":%lld,\"z\":%lld,\"row\":%lld,\"rows\":%lld}}",
             (long long)at->t, (long long)at->c, (long long)at->z, (long long)at->row, (long long)at->rows);
    Phase before = stopwatch_begin(PHASE_READ);
    bool ok = ask(in, request, &answer, err);
    zarr_json_whole(cJSON_GetObjectItemCaseSensitive(answer, "bytes"), 0, &bytes);
    cJSON_Delete(answer);
    if (ok && bytes != want) {
        ok = err_set(err, CODE_FILES, "its reader (%s) has %lld bytes for %lld rows, which have %lld", in->name,
                     (long long)bytes, (long long)at->rows, (long long)want);
    }
    ok = ok && receive_rows(in, info, at, to, pitch, err);
    in->sound = in->sound || ok;
    stopwatch_end(before);
    return ok;
}

const ImageFormat image_external = {
    .name = "external",
    .has_parts = true,
    .open = open_external,
    .read = read_external,
    .close = close_external,
};
