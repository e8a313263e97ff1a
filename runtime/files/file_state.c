/*
 * file_state: times of files are those of the last tick of a clock, so that a file may change twice at the same time.  A
 * stamp that is taken right after a change says nothing, unless content and name have changed at different times: the
 * content of an output is written before it gets its name.
 */
#include "file_state.h"

#include "file_list.h"
#include "image_external.h"
#include "image_path.h"
#include "image_zarr.h"

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* More than the time between two ticks of any file system. */
static const int64_t TICK_NS = 2000000000;

/* Reading these once more takes long beside what is done with them. */
static const int64_t MOST_BYTES = (int64_t)256 << 20;

typedef struct Looking {
    Digest digest;
    const Seen *seen; /* of the only file; NULL: nothing of it has been read */
    int64_t bytes;    /* of all files */
    bool settled;     /* the stamp proves something */
} Looking;

typedef bool Look(Looking *l, const char *file);

static int64_t nanoseconds(const struct timespec *t)
{
    return (int64_t)t->tv_sec * 1000000000 + t->tv_nsec;
}

static bool look_at_stamp(Looking *l, const char *file)
{
    struct stat st;
    struct timespec now;
    if (stat(file, &st) != 0 || clock_gettime(CLOCK_REALTIME, &now) != 0) {
        return false;
    }
    char text[100];
    int64_t written = nanoseconds(&st.st_mtim), changed = nanoseconds(&st.st_ctim);
    snprintf(text, sizeof text, "%llu %lld %lld %lld", (unsigned long long)st.st_ino, (long long)st.st_size,
             (long long)written, (long long)changed);
    digest_add_text(&l->digest, text);
    l->settled = l->settled && (written < changed || nanoseconds(&now) - changed > TICK_NS);
    return true;
}

static bool look_at_content(Looking *l, const char *file)
{
    struct stat st;
    if (stat(file, &st) != 0 || !S_ISREG(st.st_mode)) {
        return false;
    }
    char size[30];
    snprintf(size, sizeof size, "%lld", (long long)st.st_size);
    digest_add_text(&l->digest, size);
    l->bytes += (int64_t)st.st_size;
    return l->bytes > MOST_BYTES ||
           (l->seen != NULL ? seen_end(l->seen, file, &l->digest) : digest_add_file(&l->digest, file));
}

/* True for what belongs to the image: label images of it, and what is being written, do not. */
static int is_of_image(const struct dirent *entry)
{
    const char *name = entry->d_name;
    bool metadata = strcmp(name, ".zarray") == 0 || strcmp(name, ".zattrs") == 0 || strcmp(name, ".zgroup") == 0;
    return metadata || (name[0] != '.' && strcmp(name, "labels") != 0);
}

/* All files in a folder of zarr and in its folders, with their names. */
static bool look_into(Look *at, const char *folder, int deep, Looking *l)
{
    enum { DEEPEST = 16 };
    struct dirent **entries = NULL;
    int n = deep < DEEPEST ? scandir(folder, &entries, is_of_image, alphasort) : -1;
    bool ok = n >= 0;
    for (int i = 0; i < n; i++) {
        char path[IMAGE_PATH_BYTES];
        struct stat st;
        int length = snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        digest_add_text(&l->digest, entries[i]->d_name);
        ok = ok && length < (int)sizeof path && lstat(path, &st) == 0 &&
             (S_ISDIR(st.st_mode) ? look_into(at, path, deep + 1, l) : at(l, path));
        free(entries[i]);
    }
    free(entries);
    return ok;
}

/* The file, or those of the folder with their names. */
static bool look(Look *at, const char *path, Looking *l)
{
    ImagePath image;
    l->settled = true;
    digest_begin(&l->digest);
    if (!image_path(path, &image)) {
        return false;
    }
    if (!image.folder) {
        return at(l, image.file);
    }
    if (image_zarr_is(image.file) || image_external_claims(image.file)) {
        return look_into(at, image.file, 0, l);
    }
    FileList files = {0};
    Err err = {0};
    bool ok = file_list((const char *const[]){image.file}, 1, false, &files, &err);
    for (size_t i = 0; ok && i < files.n; i++) {
        const char *slash = strrchr(files.at[i].path, '/');
        digest_add_text(&l->digest, slash != NULL ? slash : files.at[i].path);
        ok = at(l, files.at[i].path);
    }
    file_list_free(&files);
    err_clear(&err);
    return ok;
}

bool file_state_stamp(const char *path, char stamp[DIGEST_TEXT])
{
    Looking l = {0};
    bool ok = look(look_at_stamp, path, &l);
    digest_end(&l.digest, stamp);
    stamp[0] = ok && l.settled ? stamp[0] : '\0';
    return ok;
}

bool file_state_content_of(const char *path, const Seen *seen, char content[DIGEST_TEXT])
{
    Looking l = {.seen = seen};
    bool ok = look(look_at_content, path, &l);
    digest_end(&l.digest, content);
    content[0] = ok && l.bytes <= MOST_BYTES ? content[0] : '\0';
    return ok;
}

bool file_state_content(const char *path, char content[DIGEST_TEXT])
{
    return file_state_content_of(path, NULL, content);
}

bool file_state_has_content(uint64_t bytes)
{
    return bytes <= (uint64_t)MOST_BYTES;
}

bool file_state(const char *path, FileState *out)
{
    return file_state_stamp(path, out->stamp) && file_state_content(path, out->content);
}

bool file_state_is(const char *path, const char *stamp, const char *content, bool *proved)
{
    char now[DIGEST_TEXT];
    if (!file_state_stamp(path, now)) {
        return false;
    }
    if (stamp[0] != '\0' && strcmp(now, stamp) == 0) {
        return true;
    }
    *proved = false;
    return content[0] != '\0' && file_state_content(path, now) && strcmp(now, content) == 0;
}
