/*
 * table_zarr: the files of such a folder: arrays in one chunk each that is not packed, as zarr 2 or zarr 3 have them.
 *
 * The numbers of a table are X, in doubles, so that they are those of the CSV.  Labels and the numbers of frames,
 * channels and planes are columns of obs, and the names of columns the index of var.  Fractal and ngio take the name of the
 * label image from the group's attributes, SpatialData from uns/spatialdata_attrs and a column of obs.  A table of several images
 * has texts in obs: which image a row is of, and what its name tells.
 */
#include "table_zarr.h"

#include "../../base/file.h"
#include "../files/image_format.h"
#include "../files/zarr_array.h"
#include "../files/zarr_json.h"
#include "../host/decimal.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 4096, TEXT_BYTES = 1024, FRONT_MOST = 8 };

/* An image whose rows end before `end`. */
typedef struct Joined {
    const char *image;
    const char *const *fields;
    int64_t end;
} Joined;

struct ZarrTable {
    char path[PATH_BYTES], temp[PATH_BYTES], region[TEXT_BYTES];
    int fd;
    bool three;                    /* zarr 3 */
    int n_front, columns, skipped; /* skipped: the column of labels, which stands in obs; -1: none */
    char front[FRONT_MOST][64];
    char (*names)[64]; /* of columns */
    int64_t rows, room;
    double *at;            /* [row][front, columns, label] */
    const Columns *fields; /* of joined tables; NULL: this is none */
    Joined *joined;
    int n_joined;
};

static bool no_memory(const ZarrTable *t, Err *err)
{
    return err_set(err, CODE_MEMORY, "cannot write '%s': out of memory", t->path);
}

static bool write_error(const ZarrTable *t, Err *err)
{
    return file_err_set(err, CODE_OUTPUT, "write", t->path, errno);
}

/* ---- files ----------------------------------------------------------------------------- */

static bool put_file(const ZarrTable *t, const char *folder, const char *name, const void *data, size_t size, Err *err)
{
    char path[TEXT_BYTES];
    snprintf(path, sizeof path, "%s%s%s", folder, folder[0] != '\0' ? "/" : "", name);
    int fd = openat(t->fd, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    bool ok = fd >= 0 && image_pwrite(fd, data, size, 0);
    int error = errno;
    if (fd >= 0 && close(fd) != 0 && ok) {
        ok = false;
        error = errno;
    }
    errno = error;
    return ok || write_error(t, err);
}

/* A text that is made as by printf. */
static bool put_text(const ZarrTable *t, const char *folder, const char *name, Err *err, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
static bool put_text(const ZarrTable *t, const char *folder, const char *name, Err *err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = malloc((size_t)n + 1);
    if (text == NULL) {
        return no_memory(t, err);
    }
    va_start(args, format);
    vsnprintf(text, (size_t)n + 1, format, args);
    va_end(args);
    bool ok = put_file(t, folder, name, text, (size_t)n, err);
    free(text);
    return ok;
}

/* Its attributes are an object of JSON; "" is the table's own folder. */
static bool put_group(const ZarrTable *t, const char *folder, const char *attributes, Err *err)
{
    TRY(folder[0] == '\0' || mkdirat(t->fd, folder, 0777) == 0 || write_error(t, err));
    if (t->three) {
        return put_text(t, folder, "zarr.json", err,
                        "{\"zarr_format\": 3, \"node_type\": \"group\", \"attributes\": %s}\n", attributes);
    }
    return put_text(t, folder, ".zgroup", err, "{\"zarr_format\": 2}\n") &&
           put_text(t, folder, ".zattrs", err, "%s\n", attributes);
}

/* What an array is of: its names in zarr 2 and 3, bytes; 0 for texts. */
typedef struct Kind {
    const char *two, *three;
    size_t bytes;
} Kind;
static const Kind F64 = {"f8", "float64", 8}, I64 = {"i8", "int64", 8}, I8 = {"i1", "int8", 1},
                  TEXTS = {"O", "string", 0};

/* "[3, 4]", each at least `least`. */
static const char *extents(char to[80], int n, const int64_t *extent, int64_t least)
{
    size_t at = 0;
    to[at++] = '[';
    for (int i = 0; i < n; i++) {
        int64_t e = extent[i] < least ? least : extent[i];
        at += (size_t)snprintf(to + at, 80 - at, "%s%lld", i > 0 ? ", " : "", (long long)e);
    }
    snprintf(to + at, 80 - at, "]");
    return to;
}

/* An array of n axes in one chunk, which is left out where there is no element. */
static bool put_array(const ZarrTable *t, const char *folder, const Kind *kind, int n, const int64_t *extent,
                      const char *attributes, const void *data, size_t size, Err *err)
{
    static const char *const CHUNK[] = {"0", "0", "0.0"};
    const char *order = zarr_host_is_little() ? "<" : ">", *endian = zarr_host_is_little() ? "little" : "big";
    const bool texts = kind->bytes == 0;
    char shape[80], chunks[80], codec[120] = "{\"name\": \"vlen-utf8\"}";
    extents(shape, n, extent, 0);
    extents(chunks, n, extent, 1);
    bool empty = (n > 0 && extent[0] == 0) || (n > 1 && extent[1] == 0);
    TRY(mkdirat(t->fd, folder, 0777) == 0 || write_error(t, err));
    if (t->three) {
        if (!texts) {
            snprintf(codec, sizeof codec, "{\"name\": \"bytes\", \"configuration\": {\"endian\": \"%s\"}}", endian);
        }
        TRY(put_text(t, folder, "zarr.json", err,
                     "{\"zarr_format\": 3, \"node_type\": \"array\", \"shape\": %s, \"data_type\": \"%s\",\n"
                     "  \"chunk_grid\": {\"name\": \"regular\", \"configuration\": {\"chunk_shape\": %s}},\n"
                     "  \"chunk_key_encoding\": {\"name\": \"v2\", \"configuration\": {\"separator\": \".\"}},\n"
                     "  \"fill_value\": %s, \"codecs\": [%s], \"attributes\": %s}\n",
                     shape, kind->three, chunks, texts ? "\"\"" : "0", codec, attributes));
    } else {
        TRY(put_text(t, folder, ".zarray", err,
                     "{\"zarr_format\": 2, \"shape\": %s, \"chunks\": %s, \"dtype\": \"%s%s\", \"compressor\": null,\n"
                     "  \"fill_value\": %s, \"filters\": %s, \"order\": \"C\"}\n",
                     shape, chunks, texts || kind->bytes == 1 ? "|" : order, kind->two, texts ? "\"\"" : "0",
                     texts ? "[{\"id\": \"vlen-utf8\"}]" : "null"));
        TRY(put_text(t, folder, ".zattrs", err, "%s\n", attributes));
    }
    return empty || put_file(t, folder, CHUNK[n], data, size, err);
}

static void put_count(unsigned char *to, size_t n)
{
    for (int i = 0; i < 4; i++, n >>= 8) {
        to[i] = (unsigned char)(n & 255);
    }
}

/* Texts by number, n of them, as vlen-utf8 has them: how many, and each behind its length. */
typedef const char *TextOf(const ZarrTable *t, int column, int64_t i, char room[DECIMAL_BYTES]);

static bool put_texts(const ZarrTable *t, const char *folder, TextOf *text_of, int column, int64_t n, Err *err)
{
    char room[DECIMAL_BYTES];
    size_t size = 4;
    for (int64_t i = 0; i < n; i++) {
        size += 4 + strlen(text_of(t, column, i, room));
    }
    unsigned char *data = malloc(size), *at = data + 4;
    if (data == NULL) {
        return no_memory(t, err);
    }
    put_count(data, (size_t)n);
    for (int64_t i = 0; i < n; i++) {
        const char *text = text_of(t, column, i, room);
        size_t length = strlen(text);
        put_count(at, length);
        memcpy(at + 4, text, length);
        at += 4 + length;
    }
    bool ok = put_array(t, folder, &TEXTS, 1, &n,
                        "{\"encoding-type\": \"string-array\", \"encoding-version\": \"0.2.0\"}", data, size, err);
    free(data);
    return ok;
}

static bool put_one_text(const ZarrTable *t, const char *folder, const char *text, Err *err)
{
    unsigned char data[8 + TEXT_BYTES];
    size_t n = strnlen(text, TEXT_BYTES);
    put_count(data, 1);
    put_count(data + 4, n);
    memcpy(data + 8, text, n);
    return put_array(t, folder, &TEXTS, 0, NULL, "{\"encoding-type\": \"string\", \"encoding-version\": \"0.2.0\"}",
                     data, 8 + n, err);
}

/* ---- the image that it is of -------------------------------------------------------------- */

/* Of ".../image.zarr/tables/cells" the length of what comes before "/cells"; 0: the path is no such name. */
static size_t group_length(const char *path)
{
    static const char TABLES[] = "/tables";
    const char *slash = strrchr(path, '/'), *zarr = strstr(path, ".zarr/");
    size_t n = slash != NULL ? (size_t)(slash - path) : 0, m = sizeof TABLES - 1;
    return n > m && memcmp(path + n - m, TABLES, m) == 0 && zarr != NULL && zarr < slash ? n : 0;
}

/* The version of the image that it is in, else that which is asked for. */
static bool is_three(const char *path, ZarrVersion version)
{
    char file[PATH_BYTES + 16];
    size_t n = group_length(path);
    snprintf(file, sizeof file, "%.*s/zarr.json", n > 0 ? (int)(n - strlen("/tables")) : 0, path);
    return n > 0 ? access(file, F_OK) == 0 : version == OME_ZARR_0_5;
}

/* ---- rows ------------------------------------------------------------------------------ */

bool zarr_table_open(const char *path, ZarrVersion version, const char *region, ZarrTable **out, Err *err)
{
    ZarrTable *t = *out = calloc(1, sizeof *t);
    if (t == NULL || strlen(path) >= sizeof t->path) {
        free(t);
        *out = NULL;
        return file_err_set(err, CODE_OUTPUT, "write", path, t == NULL ? ENOMEM : ENAMETOOLONG);
    }
    strcpy(t->path, path);
    snprintf(t->region, sizeof t->region, "%s", region != NULL ? region : "");
    t->three = is_three(path, version);
    t->columns = -1;
    if (!file_temp_folder(path, t->temp, sizeof t->temp, &t->fd, err)) {
        free(t);
        *out = NULL;
        return false;
    }
    return true;
}

static int cells(const ZarrTable *t)
{
    return t->n_front + t->columns + 1;
}

static bool take_names(ZarrTable *t, const PrimTable *table, const CsvColumn *front, int n_front, Err *err)
{
    t->n_front = n_front < FRONT_MOST ? n_front : FRONT_MOST;
    t->columns = table->columns;
    t->skipped = -1;
    t->names = calloc((size_t)table->columns + 1, sizeof *t->names);
    TRY(t->names != NULL || no_memory(t, err));
    for (int i = 0; i < t->n_front; i++) {
        snprintf(t->front[i], sizeof t->front[i], "%s", front[i].name);
    }
    for (int i = 0; i < t->columns; i++) {
        memcpy(t->names[i], table->names[i], sizeof t->names[i]);
        t->skipped = strcmp(t->names[i], "label") == 0 ? i : t->skipped;
    }
    return true;
}

static bool make_room(ZarrTable *t, int64_t rows, Err *err)
{
    if (rows > t->room) {
        const int64_t room = rows > 2 * t->room ? rows : 2 * t->room;
        double *more = realloc(t->at, (size_t)room * (size_t)cells(t) * sizeof *more);
        TRY(more != NULL || no_memory(t, err));
        t->at = more;
        t->room = room;
    }
    return true;
}

bool zarr_table_columns(ZarrTable *t, const Columns *fields, const char *const *front, int n_front, char (*names)[64],
                        int n)
{
    t->fields = fields;
    t->n_front = n_front;
    t->columns = n;
    t->skipped = -1;
    t->names = calloc((size_t)n + 1, sizeof *t->names);
    for (int i = 0; i < n_front; i++) {
        snprintf(t->front[i], sizeof t->front[i], "%s", front[i]);
    }
    if (t->names != NULL) {
        memcpy(t->names, names, (size_t)n * sizeof *names);
    }
    return t->names != NULL;
}

bool zarr_table_joins(ZarrTable *t, const char *image, const char *const *fields, int64_t rows, Err *err)
{
    Joined *more = realloc(t->joined, (size_t)(t->n_joined + 1) * sizeof *more);
    TRY(more != NULL || no_memory(t, err));
    t->joined = more;
    t->joined[t->n_joined++] = (Joined){image, fields, t->rows + rows};
    return make_room(t, t->rows + rows, err);
}

double *zarr_table_row(ZarrTable *t)
{
    return t->at + (size_t)t->rows++ * (size_t)cells(t);
}

bool zarr_table_rows(ZarrTable *t, const PrimTable *table, const CsvColumn *front, int n_front, Err *err)
{
    TRY(t->columns >= 0 || take_names(t, table, front, n_front, err));
    const int64_t rows = t->rows + table->rows;
    TRY(make_room(t, rows, err));
    for (int64_t row = 0; row < table->rows; row++) {
        double *to = t->at + (size_t)(t->rows + row) * (size_t)cells(t);
        for (int i = 0; i < t->n_front; i++) {
            *to++ = front[i].number;
        }
        for (int i = 0; i < t->columns; i++) {
            double value = table->at[i * table->rows + row];
            *to++ = table->integer[i] ? nearbyint(value) : value;
        }
        *to = t->skipped >= 0 ? to[t->skipped - t->columns] : (double)(t->rows + row + 1);
    }
    t->rows = rows;
    return true;
}

/* ---- the folder ------------------------------------------------------------------------ */

static double cell(const ZarrTable *t, int64_t row, int column)
{
    return t->at[(size_t)row * (size_t)cells(t) + (size_t)column];
}

static bool put_numbers(const ZarrTable *t, Err *err)
{
    const int own = t->columns - (t->skipped >= 0);
    const int64_t extent[2] = {t->rows, own};
    double *data = malloc(((size_t)t->rows * (size_t)own + 1) * sizeof *data), *to = data;
    TRY(data != NULL || no_memory(t, err));
    for (int64_t row = 0; row < t->rows; row++) {
        for (int i = 0; i < t->columns; i++) {
            if (i != t->skipped) {
                *to++ = cell(t, row, t->n_front + i);
            }
        }
    }
    bool ok = put_array(t, "X", &F64, 2, extent, "{\"encoding-type\": \"array\", \"encoding-version\": \"0.2.0\"}",
                        data, (size_t)(to - data) * sizeof *data, err);
    free(data);
    return ok;
}

/* A column of obs in whole numbers. */
static bool put_whole(const ZarrTable *t, const char *name, int column, Err *err)
{
    char folder[TEXT_BYTES];
    int64_t *data = malloc(((size_t)t->rows + 1) * sizeof *data);
    TRY(data != NULL || no_memory(t, err));
    for (int64_t row = 0; row < t->rows; row++) {
        data[row] = (int64_t)nearbyint(cell(t, row, column));
    }
    snprintf(folder, sizeof folder, "obs/%s", name);
    bool ok = put_array(t, folder, &I64, 1, &t->rows, "{\"encoding-type\": \"array\", \"encoding-version\": \"0.2.0\"}",
                        data, (size_t)t->rows * sizeof *data, err);
    free(data);
    return ok;
}

/* Rows are called by their labels, which are not alone where there are several frames or images. */
static const char *name_of_row(const ZarrTable *t, int column, int64_t row, char room[DECIMAL_BYTES])
{
    (void)column;
    decimal_shortest(t->n_front == 0 && t->fields == NULL ? nearbyint(cell(t, row, cells(t) - 1)) : (double)row + 1,
                     room);
    return room;
}

static const char *name_of_column(const ZarrTable *t, int column, int64_t i, char room[DECIMAL_BYTES])
{
    (void)column;
    (void)room;
    return t->names[i + (t->skipped >= 0 && i >= t->skipped)];
}

static const char *name_of_region(const ZarrTable *t, int column, int64_t i, char room[DECIMAL_BYTES])
{
    (void)column;
    (void)i;
    (void)room;
    return t->region;
}

/* The same label image in all rows, as a category. */
static bool put_region(const ZarrTable *t, Err *err)
{
    char *codes = calloc((size_t)t->rows + 1, 1);
    TRY(codes != NULL || no_memory(t, err));
    bool ok =
        put_group(t, "obs/region",
                  "{\"encoding-type\": \"categorical\", \"encoding-version\": \"0.2.0\", \"ordered\": false}", err) &&
        put_texts(t, "obs/region/categories", name_of_region, 0, 1, err) &&
        put_array(t, "obs/region/codes", &I8, 1, &t->rows,
                  "{\"encoding-type\": \"array\", \"encoding-version\": \"0.2.0\"}", codes, (size_t)t->rows, err);
    free(codes);
    return ok;
}

/* Texts of joined tables: -1 is the image, others are fields of its name. */
static const char *text_name(const ZarrTable *t, int column)
{
    return column < 0 ? "image" : t->fields->names[column];
}

static const char *text_of_image(const ZarrTable *t, int column, int64_t row, char room[DECIMAL_BYTES])
{
    int low = 0, high = t->n_joined - 1;
    (void)room;
    while (low < high) { /* the first image that ends behind the row */
        const int middle = (low + high) / 2;
        if (t->joined[middle].end > row) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return column < 0 ? t->joined[low].image : t->joined[low].fields[column];
}

/* Owned by the caller (free); NULL without memory. */
static char *obs_attributes(const ZarrTable *t)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    if (to == NULL) {
        return NULL;
    }
    fputs("{\"encoding-type\": \"dataframe\", \"encoding-version\": \"0.2.0\", \"_index\": \"_index\", "
          "\"column-order\": [\"label\"",
          to);
    for (int i = -1; t->fields != NULL && i < t->fields->n; i++) {
        fprintf(to, ", \"%s\"", text_name(t, i));
    }
    for (int i = 0; i < t->n_front; i++) {
        fprintf(to, ", \"%s\"", t->front[i]);
    }
    fprintf(to, "%s]}", t->region[0] != '\0' ? ", \"region\"" : "");
    if (fclose(to) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

static bool put_obs(const ZarrTable *t, Err *err)
{
    char *attributes = obs_attributes(t);
    bool ok = (attributes != NULL || no_memory(t, err)) && put_group(t, "obs", attributes, err);
    free(attributes);
    TRY(ok && put_texts(t, "obs/_index", name_of_row, 0, t->rows, err));
    TRY(put_whole(t, "label", cells(t) - 1, err));
    for (int i = -1; t->fields != NULL && i < t->fields->n; i++) {
        char folder[TEXT_BYTES];
        snprintf(folder, sizeof folder, "obs/%s", text_name(t, i));
        TRY(put_texts(t, folder, text_of_image, i, t->rows, err));
    }
    for (int i = 0; i < t->n_front; i++) {
        TRY(put_whole(t, t->front[i], i, err));
    }
    return t->region[0] == '\0' || put_region(t, err);
}

static bool put_uns(const ZarrTable *t, Err *err)
{
    static const char DICT[] = "{\"encoding-type\": \"dict\", \"encoding-version\": \"0.1.0\"}";
    static const char *const EMPTY[] = {"layers", "obsm", "obsp", "varm", "varp", "uns"};
    for (size_t i = 0; i < sizeof EMPTY / sizeof *EMPTY; i++) {
        TRY(put_group(t, EMPTY[i], DICT, err));
    }
    return t->region[0] == '\0' || (put_group(t, "uns/spatialdata_attrs", DICT, err) &&
                                    put_one_text(t, "uns/spatialdata_attrs/region", t->region, err) &&
                                    put_one_text(t, "uns/spatialdata_attrs/region_key", "region", err) &&
                                    put_one_text(t, "uns/spatialdata_attrs/instance_key", "label", err));
}

static bool put_all(const ZarrTable *t, Err *err)
{
    char attributes[2 * TEXT_BYTES], path[TEXT_BYTES + 40] = "";
    const int own = t->columns - (t->skipped >= 0);
    if (t->region[0] != '\0') {
        snprintf(path, sizeof path, ", \"region\": {\"path\": \"../labels/%s\"}", t->region);
    }
    snprintf(
        attributes, sizeof attributes,
        "{\"encoding-type\": \"anndata\", \"encoding-version\": \"0.1.0\", \"type\": \"feature_table\",\n  "
        "\"table_version\": \"1\", \"fractal_table_version\": \"1\", \"backend\": \"anndata\", \"index_key\": \"label\",\n  "
        "\"index_type\": \"int\", \"instance_key\": \"label\"%s}",
        path);
    return put_numbers(t, err) && put_obs(t, err) &&
           put_group(t, "var",
                     "{\"encoding-type\": \"dataframe\", \"encoding-version\": \"0.2.0\", \"_index\": \"_index\", "
                     "\"column-order\": []}",
                     err) &&
           put_texts(t, "var/_index", name_of_column, 0, own, err) && put_uns(t, err) &&
           put_group(t, "", attributes, err);
}

/* Lists the table in the group of tables. */
static bool list_table(const ZarrTable *t, size_t n, Err *err)
{
    char file[PATH_BYTES], *text = NULL;
    size_t size;
    Err none = {0};
    snprintf(file, sizeof file, "%.*s/%s", (int)n, t->path, t->three ? "zarr.json" : ".zattrs");
    cJSON *all = file_read(file, &text, &size, &none) ? cJSON_Parse(text) : NULL;
    err_clear(&none);
    free(text);
    all = all != NULL
              ? all
              : cJSON_Parse(t->three ? "{\"zarr_format\": 3, \"node_type\": \"group\", \"attributes\": {}}" : "{}");
    cJSON *in = t->three ? cJSON_GetObjectItemCaseSensitive(all, "attributes") : all;
    cJSON *list = cJSON_GetObjectItemCaseSensitive(in, "tables");
    list = list != NULL || in == NULL ? list : cJSON_AddArrayToObject(in, "tables");
    const char *name = t->path + n + 1;
    bool there = false;
    for (const cJSON *i = list != NULL ? list->child : NULL; i != NULL; i = i->next) {
        there = there || (cJSON_IsString(i) && strcmp(i->valuestring, name) == 0);
    }
    cJSON *item = there ? NULL : cJSON_CreateString(name);
    bool ok = list != NULL && (there || (item != NULL && cJSON_AddItemToArray(list, item)));
    text = ok ? cJSON_Print(all) : NULL;
    ok = (text != NULL || no_memory(t, err)) && file_write(file, text, strlen(text), err);
    cJSON_free(text);
    cJSON_Delete(all);
    snprintf(file, sizeof file, "%.*s/.zgroup", (int)n, t->path);
    static const char GROUP[] = "{\"zarr_format\": 2}\n";
    return ok && (t->three || file_write(file, GROUP, sizeof GROUP - 1, err));
}

void zarr_table_place(char *path)
{
    static const char LABELS[] = "/labels/";
    char *slash = strrchr(path, '/'), *zarr = strstr(path, ".zarr/");
    size_t m = sizeof LABELS - 1;
    if (slash != NULL && zarr != NULL && slash - path + 1 >= (ptrdiff_t)m && zarr < slash &&
        memcmp(slash + 1 - m, LABELS, m) == 0) {
        memcpy(slash + 1 - m, "/tables/", m);
    }
}

bool zarr_table_commit(ZarrTable *t, Err *err)
{
    size_t n = group_length(t->path);
    bool ok = t->columns >= 0 ? put_all(t, err) : true;
    if (!ok) {
        zarr_table_abort(t);
        return false;
    }
    ok = file_commit_folder(t->temp, t->path, t->fd, err) && (n == 0 || list_table(t, n, err));
    free(t->names);
    free(t->at);
    free(t->joined);
    free(t);
    return ok;
}

void zarr_table_abort(ZarrTable *t)
{
    if (t != NULL) {
        file_discard(t->temp, t->fd);
        free(t->names);
        free(t->at);
        free(t->joined);
        free(t);
    }
}
