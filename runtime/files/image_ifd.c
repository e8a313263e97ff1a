/*
 * image_ifd: header, directories and tag values of TIFF and BigTIFF files in both byte orders.
 *
 * A directory is refused when the values of its tags need more bytes than the whole file has:
 * values do not overlap in honest files, so this is never true for them, and it bounds what
 * libtiff will allocate for the directory by the size of the file.
 */
#include "image_ifd.h"

#include "image_format.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    ENTRIES_MAX = 8192,  /* tags of one directory; real files have 10 to 100 */
    SHARED_SLACK = 4096, /* small values that writers let several tags share */
    BLOCK = 1024,        /* one read takes most directories whole */
};

/* No tag that is worth reading is larger; the bound is for files of many gigabytes. */
static const uint64_t PAYLOAD_MAX = (uint64_t)256 << 20;

/* The types of values as the file numbers them: whole numbers, with a sign or without, fractions of two of them,
 * and floating-point numbers. */
typedef enum TypeKind {
    KIND_NONE,
    KIND_TEXT,
    KIND_WHOLE,
    KIND_SIGNED,
    KIND_FRACTION,
    KIND_SIGNED_FRACTION,
    KIND_FLOAT,
} TypeKind;

static const struct Type {
    uint8_t size;
    TypeKind kind;
} TYPES[] = {
    [TIFF_TYPE_BYTE] = {1, KIND_WHOLE},        [TIFF_TYPE_ASCII] = {1, KIND_TEXT},
    [TIFF_TYPE_SHORT] = {2, KIND_WHOLE},       [TIFF_TYPE_LONG] = {4, KIND_WHOLE},
    [TIFF_TYPE_RATIONAL] = {8, KIND_FRACTION}, [TIFF_TYPE_SBYTE] = {1, KIND_SIGNED},
    [TIFF_TYPE_UNDEFINED] = {1, KIND_TEXT},    [TIFF_TYPE_SSHORT] = {2, KIND_SIGNED},
    [TIFF_TYPE_SLONG] = {4, KIND_SIGNED},      [TIFF_TYPE_SRATIONAL] = {8, KIND_SIGNED_FRACTION},
    [TIFF_TYPE_FLOAT] = {4, KIND_FLOAT},       [TIFF_TYPE_DOUBLE] = {8, KIND_FLOAT},
    [TIFF_TYPE_IFD] = {4, KIND_WHOLE},         [TIFF_TYPE_LONG8] = {8, KIND_WHOLE},
    [TIFF_TYPE_SLONG8] = {8, KIND_SIGNED},     [TIFF_TYPE_IFD8] = {8, KIND_WHOLE},
};

static struct Type type_of(uint16_t type)
{
    return type < sizeof TYPES / sizeof *TYPES ? TYPES[type] : TYPES[0];
}

static uint64_t type_size(uint16_t type)
{
    return type_of(type).size;
}

static bool host_is_little(void)
{
    const uint16_t one = 1;
    return *(const unsigned char *)&one == 1;
}

/* An unsigned number of n bytes in the file's byte order. */
static uint64_t number(const TiffSource *source, const unsigned char *at, size_t n)
{
    bool little = host_is_little() != source->swap;
    uint64_t value = 0;
    for (size_t i = 0; i < n; i++) {
        value = value << 8 | at[little ? n - 1 - i : i];
    }
    return value;
}

static bool read_at(const TiffSource *source, void *to, size_t size, uint64_t at, Err *err)
{
    size_t got;
    if (image_pread(source->fd, to, size, at, &got)) {
        return true;
    }
    if (errno == 0) {
        return err_set(err, CODE_FILES, "it is cut off: %zu bytes at offset %llu are missing (the file has %llu)",
                       size - got, (unsigned long long)(at + got), (unsigned long long)source->size);
    }
    char why[128];
    if (strerror_r(errno, why, sizeof why) != 0) {
        strcpy(why, "reading failed");
    }
    return err_set(err, CODE_FILES, "%s", why);
}

bool tiff_pixels(const TiffSource *source, void *to, uint64_t size, uint64_t at, Err *err)
{
    enum { AT_ONCE = 4 * DIGEST_BLOCK }; /* so that they are digested while they are in the cache */
    char *next = to;
    for (const uint64_t end = at + size; at < end;) {
        const uint64_t most = source->seen != NULL ? AT_ONCE - at % AT_ONCE : size;
        const size_t n = (size_t)(end - at < most ? end - at : most);
        size_t got;
        if (!image_pread(source->fd, next, n, at, &got)) {
            return errno != 0 ? err_set(err, CODE_FILES, "reading failed at offset %llu (error %d)",
                                        (unsigned long long)(at + got), errno)
                              : err_set(err, CODE_FILES,
                                        "it is cut off: pixels at offset %llu are missing, the file ends at %llu",
                                        (unsigned long long)(at + got), (unsigned long long)source->size);
        }
        if (source->seen != NULL) {
            seen_add(source->seen, at, next, n);
        }
        next += n;
        at += n;
    }
    return true;
}

bool tiff_source_open(TiffSource *source, int fd, Err *err)
{
    unsigned char head[16];
    struct stat st;
    memset(source, 0, sizeof *source);
    source->fd = fd;
    if (fstat(fd, &st) != 0 || st.st_size < 8) {
        return err_set(err, CODE_FILES, "it is cut off: a TIFF file has at least 8 bytes");
    }
    source->size = (uint64_t)st.st_size;
    TRY(read_at(source, head, 8, 0, err));
    source->swap = (head[0] == 'I') != host_is_little();
    source->big = number(source, head + 2, 2) == 43;
    if (source->big) {
        TRY(read_at(source, head, 16, 0, err));
    }
    if (source->big && (number(source, head + 4, 2) != 8 || number(source, head + 6, 2) != 0)) {
        return err_set(err, CODE_FILES, "its BigTIFF header is damaged");
    }
    source->first = source->big ? number(source, head + 8, 8) : number(source, head + 4, 4);
    if (source->first == 0) {
        return err_set(err, CODE_FILES, "it holds no image (its writer may have been stopped)");
    }
    return true;
}

/* One entry; its values stand in the entry itself when they are small enough. */
static void parse_entry(const TiffSource *source, const unsigned char *at, uint64_t offset, TiffEntry *entry)
{
    size_t word = source->big ? 8 : 4;
    entry->tag = (uint16_t)number(source, at, 2);
    entry->type = (uint16_t)number(source, at + 2, 2);
    entry->count = number(source, at + 4, word);
    uint64_t size = type_size(entry->type);
    bool here = size == 0 || entry->count <= word / size;
    entry->at = here ? offset + 4 + word : number(source, at + 4 + word, word);
    entry->bytes_here = here ? (uint8_t)word : 0;
    memcpy(entry->here, at + 4 + word, word);
}

static bool read_values(const TiffSource *source, const TiffEntry *entry, void *to, size_t size, Err *err)
{
    if (size > entry->bytes_here) {
        return read_at(source, to, size, entry->at, err);
    }
    memcpy(to, entry->here, size);
    return true;
}

static bool grow_directory(TiffDirectory *dir, uint64_t n, Err *err)
{
    if (n == 0 || n > ENTRIES_MAX) {
        return err_set(err, CODE_FILES, "its directory is damaged: it claims %llu tags", (unsigned long long)n);
    }
    if (n > dir->cap) {
        TiffEntry *more = realloc(dir->entries, (size_t)n * sizeof *more);
        if (more == NULL) {
            return err_set(err, CODE_FILES, "out of memory");
        }
        dir->entries = more;
        dir->cap = (size_t)n;
    }
    dir->n = (size_t)n;
    return true;
}

static bool check_payload(const TiffSource *source, const TiffDirectory *dir, Err *err)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < dir->n; i++) {
        uint64_t size = type_size(dir->entries[i].type);
        if (size != 0 && dir->entries[i].count > PAYLOAD_MAX / size) {
            sum = UINT64_MAX;
            break;
        }
        sum += size * dir->entries[i].count;
    }
    uint64_t most = source->size + SHARED_SLACK < PAYLOAD_MAX ? source->size + SHARED_SLACK : PAYLOAD_MAX;
    if (sum > most) {
        return err_set(err, CODE_FILES, "its directory is damaged: the tags claim more data than the file holds");
    }
    return true;
}

bool tiff_directory_read(const TiffSource *source, uint64_t at, TiffDirectory *dir, Err *err)
{
    unsigned char block[BLOCK], *rest = NULL;
    size_t head = source->big ? 8 : 2, size = source->big ? 20 : 12, word = source->big ? 8 : 4;
    if (at >= source->size || source->size - at < head) {
        return err_set(err, CODE_FILES,
                       "it is cut off: its directory should be at offset %llu, the file ends at "
                       "%llu",
                       (unsigned long long)at, (unsigned long long)source->size);
    }
    size_t got = source->size - at < BLOCK ? (size_t)(source->size - at) : BLOCK;
    TRY(read_at(source, block, got, at, err));
    uint64_t n = number(source, block, head);
    TRY(grow_directory(dir, n, err));
    size_t need = head + dir->n * size + word;
    const unsigned char *from = block;
    if (need > got) {
        rest = malloc(need);
        if (rest == NULL) {
            return err_set(err, CODE_FILES, "out of memory");
        }
        if (!read_at(source, rest, need, at, err)) {
            free(rest);
            return false;
        }
        from = rest;
    }
    for (size_t i = 0; i < dir->n; i++) {
        size_t offset = head + i * size;
        parse_entry(source, from + offset, at + offset, &dir->entries[i]);
    }
    dir->next = number(source, from + head + dir->n * size, word);
    free(rest);
    return check_payload(source, dir, err);
}

void tiff_directory_free(TiffDirectory *dir)
{
    free(dir->entries);
    memset(dir, 0, sizeof *dir);
}

const TiffEntry *tiff_find(const TiffDirectory *dir, int tag)
{
    for (size_t i = 0; i < dir->n; i++) {
        if (dir->entries[i].tag == tag) {
            return &dir->entries[i];
        }
    }
    return NULL;
}

uint64_t tiff_count(const TiffDirectory *dir, int tag)
{
    const TiffEntry *entry = tiff_find(dir, tag);
    return entry == NULL ? 0 : entry->count;
}

/* A whole number as its type says, turned into 64 bits with its sign. */
static int64_t with_sign(uint64_t value, size_t size)
{
    int unused = 64 - 8 * (int)size;
    return (int64_t)(value << unused) >> unused;
}

/* A whole number of n bytes that counts or places something. */
static bool parse_whole(const TiffSource *source, const TiffEntry *entry, const unsigned char *at, uint64_t *value,
                        Err *err)
{
    struct Type type = type_of(entry->type);
    bool sign = type.kind == KIND_SIGNED;
    *value = number(source, at, type.size);
    return (!sign || with_sign(*value, type.size) >= 0) ||
           err_set(err, CODE_FILES, "its tag %d is damaged: it is negative", entry->tag);
}

static bool is_whole(const TiffEntry *entry, Err *err)
{
    TypeKind kind = type_of(entry->type).kind;
    return ((kind == KIND_WHOLE || kind == KIND_SIGNED) && entry->count > 0) ||
           err_set(err, CODE_FILES, "its tag %d is damaged: it should hold whole numbers", entry->tag);
}

bool tiff_uints(const TiffSource *source, const TiffEntry *entry, uint64_t **values, Err *err)
{
    size_t size = (size_t)type_size(entry->type), n = (size_t)entry->count;
    *values = NULL;
    TRY(is_whole(entry, err));
    unsigned char *bytes = malloc(n * size);
    uint64_t *at = malloc(n * sizeof *at);
    bool ok = bytes != NULL && at != NULL;
    if (!ok) {
        err_set(err, CODE_FILES, "out of memory");
    }
    ok = ok && read_values(source, entry, bytes, n * size, err);
    for (size_t i = 0; ok && i < n; i++) {
        ok = parse_whole(source, entry, bytes + i * size, &at[i], err);
    }
    free(bytes);
    if (!ok) {
        free(at);
        at = NULL;
    }
    *values = at;
    return ok;
}

bool tiff_uint(const TiffSource *source, const TiffDirectory *dir, int tag, uint64_t missing, uint64_t *value, Err *err)
{
    const TiffEntry *entry = tiff_find(dir, tag);
    unsigned char bytes[8];
    *value = missing;
    return entry == NULL ||
           (is_whole(entry, err) && read_values(source, entry, bytes, (size_t)type_size(entry->type), err) &&
            parse_whole(source, entry, bytes, value, err));
}

static double parse_float(uint64_t bits, size_t size)
{
    uint32_t half = (uint32_t)bits;
    float single;
    double value;
    memcpy(&single, &half, sizeof single);
    memcpy(&value, &bits, sizeof value);
    return size == sizeof single ? (double)single : value;
}

/* A number of any type, turned over: of a fraction exactly. */
static double parse_inverse(const TiffSource *source, struct Type type, const unsigned char *at)
{
    bool fraction = type.kind == KIND_FRACTION || type.kind == KIND_SIGNED_FRACTION;
    size_t size = fraction ? 4 : type.size;
    uint64_t first = number(source, at, size), below = fraction ? number(source, at + 4, 4) : 1;
    switch (type.kind) {
    case KIND_SIGNED:
    case KIND_SIGNED_FRACTION:
        return (double)(fraction ? with_sign(below, size) : 1) / (double)with_sign(first, size);
    case KIND_FLOAT:
        return 1 / parse_float(first, size);
    default:
        return (double)below / (double)first;
    }
}

bool tiff_inverse(const TiffSource *source, const TiffDirectory *dir, int tag, double *value, Err *err)
{
    const TiffEntry *entry = tiff_find(dir, tag);
    struct Type type = type_of(entry != NULL ? entry->type : 0);
    unsigned char bytes[8];
    *value = 0;
    if (type.kind <= KIND_TEXT || entry->count == 0) {
        return true;
    }
    TRY(read_values(source, entry, bytes, type.size, err));
    double inverse = parse_inverse(source, type, bytes);
    *value = inverse > 0 && isfinite(inverse) ? inverse : 0;
    return true;
}

bool tiff_bytes(const TiffSource *source, const TiffEntry *entry, void *to, size_t n, Err *err)
{
    return read_values(source, entry, to, n, err);
}

bool tiff_text(const TiffSource *source, const TiffDirectory *dir, int tag, char **text, Err *err)
{
    const TiffEntry *entry = tiff_find(dir, tag);
    *text = NULL;
    if (entry == NULL || type_size(entry->type) != 1) {
        return true;
    }
    char *at = malloc((size_t)entry->count + 1);
    if (at == NULL) {
        return err_set(err, CODE_FILES, "out of memory");
    }
    if (!read_values(source, entry, at, (size_t)entry->count, err)) {
        free(at);
        return false;
    }
    at[entry->count] = '\0';
    *text = at;
    return true;
}
