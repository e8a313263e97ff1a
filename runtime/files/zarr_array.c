/*
 * zarr_array: both versions of the metadata fill one structure.  What is not understood is refused, since a pixel that
 * is read otherwise than it was written looks like any other.
 */
#include "zarr_array.h"

#include "image_pixels.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const int64_t EXTENT_MOST = INT32_MAX;
static const double CHUNK_MOST = (double)UINT32_MAX; /* bytes */
static const double SHARD_MOST = 1 << 22;            /* chunks */

bool zarr_host_is_little(void)
{
    const uint16_t one = 1;
    return *(const unsigned char *)&one == 1;
}

/* ---- types ----------------------------------------------------------------------------- */

static bool become_bool(void *at, size_t n)
{
    uint8_t *v = at;
    for (size_t i = 0; i < n; i++) {
        v[i] = v[i] != 0;
    }
    return true;
}

/* Wider pixels are made from the end, narrower ones from the beginning, so that nothing is overwritten unread. */
static bool become_i16(void *at, size_t n)
{
    unsigned char *bytes = at;
    for (size_t i = n; i-- > 0;) {
        int16_t wide = bytes[i] < 128 ? bytes[i] : (int16_t)(bytes[i] - 256);
        memcpy(bytes + 2 * i, &wide, sizeof wide);
    }
    return true;
}

static bool become_f32(void *at, size_t n)
{
    pixels_widen_half(at, n);
    return true;
}

static bool become_u32(void *at, size_t n)
{
    return pixels_narrow(at, 1, 0, n, ELEM_U32, at);
}

static bool become_i32(void *at, size_t n)
{
    return pixels_narrow(at, 1, 0, n, ELEM_I32, at);
}

static const ZarrType TYPES[] = {
    {"bool", 'b', 1, ELEM_BOOL, become_bool}, {"uint8", 'u', 1, ELEM_U8, NULL},
    {"uint16", 'u', 2, ELEM_U16, NULL},       {"uint32", 'u', 4, ELEM_U32, NULL},
    {"uint64", 'u', 8, ELEM_U32, become_u32}, {"int8", 'i', 1, ELEM_I16, become_i16},
    {"int16", 'i', 2, ELEM_I16, NULL},        {"int32", 'i', 4, ELEM_I32, NULL},
    {"int64", 'i', 8, ELEM_I32, become_i32},  {"float16", 'f', 2, ELEM_F32, become_f32},
    {"float32", 'f', 4, ELEM_F32, NULL},      {"float64", 'f', 8, ELEM_F64, NULL},
};

static bool no_type(const char *name, Err *err)
{
    return err_set(err, CODE_FILES,
                   "its numbers are '%.40s'; bool, integers of 8 to 64 bits and floats of 16 to 64 are read",
                   name != NULL ? name : "?");
}

/* "<u2" */
static bool type_of_two(const cJSON *meta, ZarrArray *out, Err *err)
{
    const char *name = zarr_json_text(meta, "dtype");
    if (name == NULL || strlen(name) != 3 || strchr("<>|", name[0]) == NULL) {
        return no_type(name, err);
    }
    for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++) {
        if (TYPES[i].kind == name[1] && TYPES[i].bytes == name[2] - '0') {
            out->type = &TYPES[i];
        }
    }
    out->big = name[0] == '>';
    return out->type != NULL || no_type(name, err);
}

static bool type_of_three(const cJSON *meta, ZarrArray *out, Err *err)
{
    const char *name = zarr_json_text(meta, "data_type");
    for (size_t i = 0; name != NULL && i < sizeof TYPES / sizeof *TYPES; i++) {
        if (strcmp(TYPES[i].name, name) == 0) {
            out->type = &TYPES[i];
        }
    }
    return out->type != NULL || no_type(name, err);
}

/* Numbers, truths, names of numbers that JSON lacks, or bits in hexadecimal digits. */
static bool read_fill(const cJSON *meta, ZarrArray *out, Err *err)
{
    const cJSON *fill = cJSON_GetObjectItemCaseSensitive(meta, "fill_value");
    const char *text = cJSON_GetStringValue(fill);
    Elem elem = out->type->elem;
    double value = cJSON_IsTrue(fill) ? 1 : cJSON_IsNumber(fill) ? fill->valuedouble : 0;
    char *end = NULL;
    if (text != NULL && strncasecmp(text, "0x", 2) == 0) {
        union {
            uint64_t bits;
            double f64;
            float f32[2];
            unsigned char bytes[16];
        } as = {.bits = strtoull(text, &end, 16)};
        bool half = out->type->become == become_f32;
        value = out->type->kind != 'f' ? (double)as.bits
                : half                 ? (double)pixels_from_half((uint16_t)as.bits)
                : elem == ELEM_F64     ? as.f64
                                       : (double)as.f32[zarr_host_is_little() ? 0 : 1];
    } else if (text != NULL) {
        value = strtod(text, &end);
    }
    bool said = fill == NULL || (!cJSON_IsArray(fill) && !cJSON_IsObject(fill));
    bool floats = out->type->kind == 'f', fits = floats || (value >= elem_min(elem) && value <= elem_max(elem));
    if (!said || (end != NULL && (end == text || *end != '\0')) || !fits || (!floats && floor(value) != value)) {
        return err_set(err, CODE_FILES, "its fill value is none that %s can have", elem_name(elem));
    }
    elem_put(out->fill, 0, elem, value);
    return true;
}

/* ---- extents --------------------------------------------------------------------------- */

static bool read_extents(const cJSON *list, int64_t to[ZARR_DIMS], int *dims)
{
    int n = cJSON_GetArraySize(list);
    *dims = n;
    bool ok = cJSON_IsArray(list) && n >= 1 && n <= ZARR_DIMS;
    for (int i = 0; ok && i < n; i++) {
        ok = zarr_json_whole(cJSON_GetArrayItem(list, i), 1, &to[i]);
    }
    return ok;
}

/* Extents that cannot be followed, and sizes that nobody has memory for. */
static bool check_extents(const ZarrArray *array, Err *err)
{
    double bytes = 8, chunks = 1;
    for (int i = 0; i < array->dims; i++) {
        if (array->shape[i] > EXTENT_MOST || array->chunk[i] > EXTENT_MOST || array->file[i] > EXTENT_MOST) {
            return err_set(err, CODE_FILES, "it has an axis of more than %lld pixels", (long long)EXTENT_MOST);
        }
        if (array->file[i] % array->chunk[i] != 0) {
            return err_set(err, CODE_FILES, "its chunks of %lld do not fill shards of %lld", (long long)array->chunk[i],
                           (long long)array->file[i]);
        }
        bytes *= (double)array->chunk[i];
        chunks *= (double)array->file[i] / (double)array->chunk[i];
    }
    if (bytes > CHUNK_MOST || chunks > SHARD_MOST) {
        return err_set(
            err, CODE_FILES,
            "its chunks are too large: a chunk has %.3g pixels, a file %.3g chunks; rewrite it with smaller ones",
            bytes / 8, chunks);
    }
    return true;
}

static bool read_shape(const cJSON *meta, ZarrArray *out, Err *err)
{
    const cJSON *shape = zarr_json_array(meta, "shape");
    int n = cJSON_GetArraySize(shape);
    if (shape != NULL && (n < 1 || n > ZARR_DIMS)) {
        return err_set(err, CODE_FILES, "it has %d axes; 1 to %d are read", n, ZARR_DIMS);
    }
    return read_extents(shape, out->shape, &out->dims) || err_set(err, CODE_FILES, "its shape is damaged");
}

static bool read_chunks(const cJSON *list, int dims, int64_t to[ZARR_DIMS], Err *err)
{
    int n;
    return (read_extents(list, to, &n) && n == dims) || err_set(err, CODE_FILES, "the shape of its chunks is damaged");
}

/* ---- zarr 2 ---------------------------------------------------------------------------- */

static bool read_order_of_two(const cJSON *meta, ZarrArray *out, Err *err)
{
    const char *order = zarr_json_text(meta, "order");
    bool columns = order != NULL && strcmp(order, "F") == 0;
    for (int i = 0; i < out->dims; i++) {
        out->order[i] = columns ? out->dims - 1 - i : i;
    }
    return columns || order == NULL || strcmp(order, "C") == 0 ||
           err_set(err, CODE_FILES, "its order is neither C nor F");
}

static bool read_separator(const char *text, char usual, ZarrArray *out, Err *err)
{
    out->separator = text != NULL ? text[0] : usual;
    return text == NULL || strcmp(text, ".") == 0 || strcmp(text, "/") == 0 ||
           err_set(err, CODE_FILES, "its names of chunks are separated by '%.20s'; . and / are read", text);
}

/* A member that is null, missing, or of the kind which zarr_json_* have found. */
static bool null_or(const cJSON *found, const cJSON *meta, const char *key, Err *err)
{
    const cJSON *there = cJSON_GetObjectItemCaseSensitive(meta, key);
    return found != NULL || there == NULL || cJSON_IsNull(there) ||
           err_set(err, CODE_FILES, "'%s' in its metadata is damaged", key);
}

static bool read_two(const cJSON *meta, ZarrArray *out, Err *err)
{
    const cJSON *filters = zarr_json_array(meta, "filters"), *packer = zarr_json_object(meta, "compressor");
    out->version = 2;
    TRY(null_or(filters, meta, "filters", err) && null_or(packer, meta, "compressor", err));
    TRY(read_shape(meta, out, err) && read_chunks(zarr_json_array(meta, "chunks"), out->dims, out->chunk, err));
    memcpy(out->file, out->chunk, sizeof out->file);
    TRY(type_of_two(meta, out, err) && read_order_of_two(meta, out, err));
    TRY(read_separator(zarr_json_text(meta, "dimension_separator"), '.', out, err));
    if (cJSON_GetArraySize(filters) > 0) {
        const char *name = zarr_json_text(cJSON_GetArrayItem(filters, 0), "id");
        return err_set(err, CODE_FILES, "its chunks go through the filter '%.40s'; filters are not read",
                       name != NULL ? name : "?");
    }
    const char *name = zarr_json_text(packer, "id");
    return packer == NULL || zarr_chain_add(&out->chain, name != NULL ? name : "?", err);
}

/* ---- zarr 3 ---------------------------------------------------------------------------- */

static const char *name_of(const cJSON *part)
{
    const char *name = cJSON_IsString(part) ? cJSON_GetStringValue(part) : zarr_json_text(part, "name");
    return name != NULL ? name : "?";
}

static const cJSON *settings_of(const cJSON *part)
{
    return zarr_json_object(part, "configuration");
}

/* The axes that lie in the bytes are those of the array, each time chosen by "order". */
static bool transpose(const cJSON *settings, ZarrArray *out, Err *err)
{
    const cJSON *order = zarr_json_array(settings, "order");
    int before[ZARR_DIMS], seen = 0;
    memcpy(before, out->order, sizeof before);
    for (int i = 0; i < out->dims; i++) {
        int64_t axis = -1;
        if (!zarr_json_whole(cJSON_GetArrayItem(order, i), 0, &axis) || axis >= out->dims) {
            break;
        }
        seen |= 1 << axis;
        out->order[i] = before[axis];
    }
    return (cJSON_GetArraySize(order) == out->dims && seen == (1 << out->dims) - 1) ||
           err_set(err, CODE_FILES, "the order of a transposition in its metadata is damaged");
}

static bool read_endian(const cJSON *settings, bool *big, Err *err)
{
    const char *endian = zarr_json_text(settings, "endian");
    *big = endian != NULL && strcmp(endian, "big") == 0;
    return endian == NULL || *big || strcmp(endian, "little") == 0 ||
           err_set(err, CODE_FILES, "its numbers are stored '%.20s'; little and big are read", endian);
}

/* From "bytes" on: *at is the first codec of bytes. */
static bool read_bytes(const cJSON *codecs, int *at, bool *big, Err *err)
{
    const cJSON *bytes = cJSON_GetArrayItem(codecs, *at);
    if (bytes == NULL || strcmp(name_of(bytes), "bytes") != 0) {
        return err_set(err, CODE_FILES, "its numbers become bytes by '%.40s'; bytes and sharding_indexed are read",
                       bytes != NULL ? name_of(bytes) : "nothing");
    }
    ++*at;
    return read_endian(settings_of(bytes), big, err);
}

static bool read_chain(const cJSON *codecs, int at, ZarrChain *chain, Err *err)
{
    for (; at < cJSON_GetArraySize(codecs); at++) {
        TRY(zarr_chain_add(chain, name_of(cJSON_GetArrayItem(codecs, at)), err));
    }
    return true;
}

static bool read_transpositions(const cJSON *codecs, int *at, ZarrArray *out, Err *err)
{
    for (const cJSON *codec;
         (codec = cJSON_GetArrayItem(codecs, *at)) != NULL && strcmp(name_of(codec), "transpose") == 0; ++*at) {
        TRY(transpose(settings_of(codec), out, err));
    }
    return true;
}

/* A shard is a file of chunks, each with codecs of its own, and of a table of their places. */
static bool read_shard(const cJSON *settings, ZarrArray *out, const cJSON **codecs, Err *err)
{
    const cJSON *index = zarr_json_array(settings, "index_codecs");
    const char *where = zarr_json_text(settings, "index_location");
    int at = 0;
    out->sharded = true;
    out->index_first = where != NULL && strcmp(where, "start") == 0;
    *codecs = zarr_json_array(settings, "codecs");
    TRY(where == NULL || out->index_first || strcmp(where, "end") == 0 ||
        err_set(err, CODE_FILES, "the table of its shards is at the '%.20s'", where));
    TRY(read_chunks(zarr_json_array(settings, "chunk_shape"), out->dims, out->chunk, err));
    TRY(read_bytes(index, &at, &out->index_big, err));
    for (int i = at; i < cJSON_GetArraySize(index); i++) {
        if (strcmp(name_of(cJSON_GetArrayItem(index, i)), "crc32c") != 0) {
            return err_set(err, CODE_FILES, "the table of its shards is packed with '%.40s'; crc32c is read",
                           name_of(cJSON_GetArrayItem(index, i)));
        }
    }
    return read_chain(index, at, &out->index, err);
}

static bool read_codecs(const cJSON *meta, ZarrArray *out, Err *err)
{
    const cJSON *codecs = zarr_json_array(meta, "codecs"), *inner = NULL;
    const cJSON *first = cJSON_GetArrayItem(codecs, 0);
    int at = 0;
    for (int i = 0; i < out->dims; i++) {
        out->order[i] = i;
    }
    if (first != NULL && strcmp(name_of(first), "sharding_indexed") == 0) {
        TRY(read_shard(settings_of(first), out, &inner, err));
        TRY(cJSON_GetArraySize(codecs) == 1 ||
            err_set(err, CODE_FILES, "its shards are packed as a whole, which is not read"));
        codecs = inner;
    }
    return read_transpositions(codecs, &at, out, err) && read_bytes(codecs, &at, &out->big, err) &&
           read_chain(codecs, at, &out->chain, err);
}

static bool read_keys(const cJSON *meta, ZarrArray *out, Err *err)
{
    const cJSON *keys = zarr_json_object(meta, "chunk_key_encoding");
    const char *name = name_of(keys), *separator = zarr_json_text(settings_of(keys), "separator");
    out->in_c = strcmp(name, "default") == 0;
    return (out->in_c || strcmp(name, "v2") == 0 ||
            err_set(err, CODE_FILES, "its chunks are named by '%.40s'; default and v2 are read", name)) &&
           read_separator(separator, out->in_c ? '/' : '.', out, err);
}

static void read_names(const cJSON *meta, ZarrArray *out)
{
    const cJSON *names = zarr_json_array(meta, "dimension_names");
    for (int i = 0; i < out->dims; i++) {
        const char *name = cJSON_GetStringValue(cJSON_GetArrayItem(names, i));
        snprintf(out->names[i], sizeof out->names[i], "%s", name != NULL ? name : "");
    }
}

static bool read_three(const cJSON *meta, ZarrArray *out, Err *err)
{
    const cJSON *grid = zarr_json_object(meta, "chunk_grid");
    out->version = 3;
    TRY(strcmp(name_of(grid), "regular") == 0 ||
        err_set(err, CODE_FILES, "its chunks make a grid that is '%.40s'; regular ones are read", name_of(grid)));
    TRY(cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(meta, "storage_transformers")) == 0 ||
        err_set(err, CODE_FILES, "its storage is transformed, which is not read"));
    TRY(read_shape(meta, out, err));
    TRY(read_chunks(zarr_json_array(settings_of(grid), "chunk_shape"), out->dims, out->file, err));
    memcpy(out->chunk, out->file, sizeof out->chunk);
    read_names(meta, out);
    return type_of_three(meta, out, err) && read_codecs(meta, out, err) && read_keys(meta, out, err);
}

/* ---- both ------------------------------------------------------------------------------ */

bool zarr_array_read(int folder, ZarrArray *out, bool *found, Err *err)
{
    cJSON *two = NULL, *three = NULL;
    *out = (ZarrArray){.dims = 0};
    *found = false;
    bool ok = zarr_json_read(folder, "zarr.json", &three, err) &&
              (three != NULL || zarr_json_read(folder, ".zarray", &two, err));
    const char *kind = zarr_json_text(three, "node_type");
    if (ok && (two != NULL || (kind != NULL && strcmp(kind, "array") == 0))) {
        const cJSON *meta = two != NULL ? two : three;
        *found = true;
        ok = (two != NULL ? read_two : read_three)(meta, out, err) && check_extents(out, err) &&
             read_fill(meta, out, err);
    }
    cJSON_Delete(two);
    cJSON_Delete(three);
    return ok;
}

void zarr_array_key(const ZarrArray *array, const int64_t at[ZARR_DIMS], char to[ZARR_KEY_BYTES])
{
    int n = snprintf(to, ZARR_KEY_BYTES, "%s", array->in_c ? "c" : "");
    for (int i = 0; i < array->dims; i++) {
        char between[2] = {i > 0 || array->in_c ? array->separator : '\0', '\0'};
        n += snprintf(to + n, ZARR_KEY_BYTES - (size_t)n, "%s%lld", between, (long long)at[i]);
    }
}

size_t zarr_array_numbers(const ZarrArray *array)
{
    size_t n = 1;
    for (int i = 0; i < array->dims; i++) {
        n *= (size_t)array->chunk[i];
    }
    return n;
}
