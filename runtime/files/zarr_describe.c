/*
 * zarr_describe: no date and no random identifier: the same run writes the same bytes.
 *
 * Pixels of level k cover 2^k x 2^k of those of level 0, and lie in their middle.
 */
#include "zarr_describe.h"

#include "../../base/utf8.h"
#include "../host/decimal.h"
#include "file_list.h"
#include "image_meta.h"
#include "zarr_array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the plan -------------------------------------------------------------------------- */

int64_t zarr_plan_extent(const ZarrPlan *plan, int level, char axis)
{
    const ImageInfo *s = &plan->shape;
    return axis == 'x' ? plan->x[level] : axis == 'y' ? plan->y[level] : axis == 'z' ? s->z : axis == 'c' ? s->c : s->t;
}

int64_t zarr_plan_chunk(const ZarrPlan *plan, int level, char axis)
{
    int64_t extent = zarr_plan_extent(plan, level, axis);
    return axis != 'x' && axis != 'y' ? 1 : extent < plan->block ? extent : plan->block;
}

int64_t zarr_plan_across(const ZarrPlan *plan, int level)
{
    return (plan->x[level] + plan->block - 1) / plan->block;
}

/* Sizes in micrometres where they are known, else in whatever they are. */
static void plan_axes(ZarrPlan *plan, const ImageInfo *like)
{
    const ImageInfo *s = &plan->shape;
    const bool has[ZARR_AXES] = {s->has_t || s->t > 1, s->has_c || s->c > 1, s->has_z || s->z > 1, true, true};
    for (int i = 0, n = 0; i < ZARR_AXES; i++) {
        if (!has[i]) {
            continue;
        }
        int k = ZARR_AXES - 1 - i; /* among x, y, z */
        double um = like != NULL ? meta_unit_um(like->unit) : 0;
        bool length = k < 3 && like != NULL, known = length && um > 0 && like->size_um[k] > 0;
        double size = !length ? 0 : known ? like->size_um[k] : like->size[k];
        plan->axes[n] = "tczyx"[i];
        plan->scale[n] = size > 0 ? size : 1;
        plan->origin[n] = size > 0 ? like->origin[k] * (known ? um : 1) : 0;
        plan->unit[n] = known ? "micrometer" : NULL;
        if (i == 0 && like != NULL && like->interval > 0) {
            plan->scale[n] = like->interval;
            plan->unit[n] = "second";
        }
        n++;
    }
}

static char *copy_text(const char *text)
{
    return text != NULL ? strdup(text) : NULL;
}

/* Texts of n channels, each terminated; true for none. */
static bool copy_texts(const char *texts, int64_t n, char **out)
{
    size_t size = 0;
    for (int64_t i = 0; texts != NULL && i < n; i++) {
        size += strlen(texts + size) + 1;
    }
    *out = size > 0 ? malloc(size) : NULL;
    if (*out != NULL) {
        memcpy(*out, texts, size);
    }
    return size == 0 || *out != NULL;
}

bool zarr_plan(const char *path, const ImageInfo *shape, Elem elem, const ImageMeta *meta, int version, bool inside,
               ZarrPlan *out, Err *err)
{
    const char *slash = strrchr(path, '/'), *file = slash != NULL ? slash + 1 : path;
    size_t stem = file_image_stem(file);
    bool kept = meta->channels && meta->like != NULL && !shape->rgb;
    *out =
        (ZarrPlan){.version = version, .shape = *shape, .labels = meta->labels, .plain = meta->plain, .inside = inside};
    out->elem = elem == ELEM_BOOL ? ELEM_U8 : elem;
    out->nearest = meta->labels || elem == ELEM_BOOL;
    out->effort = meta->compress ? ZARR_SMALL : ZARR_FAST;
    out->shards = version == 3 && !meta->unsharded;
    out->block = meta->tile > 0 ? meta->tile : ZARR_BLOCK;
    out->levels = levels_of(shape->x, shape->y, out->x, out->y);
    out->levels = meta->flat ? 1 : out->levels;
    plan_axes(out, meta->like);
    out->name = strndup(file, stem > 0 ? stem : strlen(file));
    out->software = copy_text(meta->software);
    out->parameters = copy_text(meta->parameters);
    bool copied = copy_texts(kept ? meta->like->channels : NULL, shape->c, &out->channels) &&
                  copy_texts(kept ? meta->like->colours : NULL, shape->c, &out->colours);
    out->low = malloc((size_t)shape->c * sizeof *out->low);
    out->high = malloc((size_t)shape->c * sizeof *out->high);
    if (!copied || out->name == NULL || out->low == NULL || out->high == NULL ||
        (meta->software != NULL && out->software == NULL) || (meta->parameters != NULL && out->parameters == NULL)) {
        return err_set(err, CODE_MEMORY, "cannot write '%s': out of memory", path);
    }
    for (int64_t c = 0; c < shape->c; c++) {
        out->low[c] = (double)INFINITY;
        out->high[c] = -(double)INFINITY;
    }
    return true;
}

void zarr_plan_free(ZarrPlan *plan)
{
    free(plan->name);
    free(plan->software);
    free(plan->parameters);
    free(plan->channels);
    free(plan->colours);
    free(plan->low);
    free(plan->high);
    *plan = (ZarrPlan){.version = 0};
}

/* ---- JSON ------------------------------------------------------------------------------ */

/* Without bytes that are no UTF-8. */
static void put_text(FILE *to, const char *text)
{
    int left = (int)strlen(text);
    putc('"', to);
    for (int n; left > 0; text += n, left -= n) {
        n = utf8_size(text, left);
        if (n == 0) {
            fputs(UTF8_REPLACEMENT, to);
            n = 1;
        } else if (n == 1 && (unsigned char)*text < 32) {
            fprintf(to, "\\u%04x", (unsigned)*text);
        } else {
            fprintf(to, "%s%.*s", *text == '"' || *text == '\\' ? "\\" : "", n, text);
        }
    }
    putc('"', to);
}

static void put_number(FILE *to, const char *before, double value)
{
    char text[DECIMAL_BYTES];
    decimal_shortest(value, text);
    fprintf(to, "%s%s", before, text);
}

typedef double Axis(const ZarrPlan *plan, int level, int axis);

/* "[1, 512, 512]": a number for each axis. */
static void put_axes(FILE *to, const ZarrPlan *plan, int level, Axis *of)
{
    for (int i = 0; plan->axes[i] != '\0'; i++) {
        put_number(to, i == 0 ? "[" : ", ", of(plan, level, i));
    }
    putc(']', to);
}

static double extent(const ZarrPlan *plan, int level, int axis)
{
    return (double)zarr_plan_extent(plan, level, plan->axes[axis]);
}

static double chunk(const ZarrPlan *plan, int level, int axis)
{
    return (double)zarr_plan_chunk(plan, level, plan->axes[axis]);
}

static double shard(const ZarrPlan *plan, int level, int axis)
{
    double times = plan->axes[axis] == 'x' && plan->shards ? (double)zarr_plan_across(plan, level) : 1;
    return times * chunk(plan, level, axis);
}

/* How many pixels of level 0 one of this level covers along an axis. */
static double covers(const ZarrPlan *plan, int level, int axis)
{
    return plan->axes[axis] == 'x' || plan->axes[axis] == 'y' ? ldexp(1, level) : 1;
}

static double scale(const ZarrPlan *plan, int level, int axis)
{
    return plan->scale[axis] * covers(plan, level, axis);
}

static double origin(const ZarrPlan *plan, int level, int axis)
{
    return plan->origin[axis] + plan->scale[axis] * (covers(plan, level, axis) - 1) / 2;
}

/* ---- arrays ---------------------------------------------------------------------------- */

/* Names of types and kinds, as zarr 3 and zarr 2 have them. */
static const struct {
    const char *name;
    char kind;
} TYPES[ELEM_COUNT] = {
    [ELEM_U8] = {"uint8", 'u'},    [ELEM_U16] = {"uint16", 'u'}, [ELEM_I16] = {"int16", 'i'},
    [ELEM_U32] = {"uint32", 'u'},  [ELEM_I32] = {"int32", 'i'},  [ELEM_F32] = {"float32", 'f'},
    [ELEM_F64] = {"float64", 'f'},
};

static void put_array_two(FILE *to, const ZarrPlan *plan, int level)
{
    char order = elem_size(plan->elem) == 1 ? '|' : zarr_host_is_little() ? '<' : '>';
    fprintf(to, "{\n  \"zarr_format\": 2,\n  \"shape\": ");
    put_axes(to, plan, level, extent);
    fprintf(to, ",\n  \"chunks\": ");
    put_axes(to, plan, level, chunk);
    fprintf(to, ",\n  \"dtype\": \"%c%c%zu\",\n  \"compressor\": ", order, TYPES[plan->elem].kind,
            elem_size(plan->elem));
    if (plan->plain) {
        fprintf(to, "null");
    } else {
        const ZarrBlosc *by = zarr_blosc(plan->effort);
        fprintf(to, "{\"id\": \"blosc\", \"cname\": \"%s\", \"clevel\": %d, \"shuffle\": %d, \"blocksize\": 0}",
                by->codec, by->level, by->shuffle);
    }
    fprintf(
        to,
        ",\n  \"fill_value\": 0,\n  \"filters\": null,\n  \"order\": \"C\",\n  \"dimension_separator\": \"/\"\n}\n");
}

static void put_codecs(FILE *to, const ZarrPlan *plan)
{
    const char *endian = zarr_host_is_little() ? "little" : "big";
    fprintf(to, "[{\"name\": \"bytes\", \"configuration\": {\"endian\": \"%s\"}}", endian);
    if (!plan->plain) {
        const ZarrBlosc *by = zarr_blosc(plan->effort);
        fprintf(to,
                ", {\"name\": \"blosc\", \"configuration\": {\"typesize\": %zu, \"cname\": \"%s\", \"clevel\": %d, "
                "\"shuffle\": \"%s\", \"blocksize\": 0}}",
                elem_size(plan->elem), by->codec, by->level, by->shuffled);
    }
    putc(']', to);
}

static void put_shards(FILE *to, const ZarrPlan *plan, int level)
{
    fprintf(to, "[{\"name\": \"sharding_indexed\", \"configuration\": {\"chunk_shape\": ");
    put_axes(to, plan, level, chunk);
    fprintf(to, ",\n    \"codecs\": ");
    put_codecs(to, plan);
    fprintf(to,
            ",\n    \"index_codecs\": [{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}, {\"name\": "
            "\"crc32c\"}],\n    \"index_location\": \"end\"}}]");
}

static void put_array_three(FILE *to, const ZarrPlan *plan, int level)
{
    fprintf(to, "{\n  \"zarr_format\": 3,\n  \"node_type\": \"array\",\n  \"shape\": ");
    put_axes(to, plan, level, extent);
    fprintf(
        to,
        ",\n  \"data_type\": \"%s\",\n  \"chunk_grid\": {\"name\": \"regular\", \"configuration\": {\"chunk_shape\": ",
        TYPES[plan->elem].name);
    put_axes(to, plan, level, shard);
    fprintf(to, "}},\n  \"chunk_key_encoding\": {\"name\": \"default\", \"configuration\": {\"separator\": \"/\"}},\n"
                "  \"fill_value\": 0,\n  \"codecs\": ");
    if (plan->shards && zarr_plan_across(plan, level) > 1) {
        put_shards(to, plan, level);
    } else {
        put_codecs(to, plan);
    }
    fprintf(to, ",\n  \"attributes\": {},\n  \"dimension_names\": ");
    for (int i = 0; plan->axes[i] != '\0'; i++) {
        fprintf(to, "%s\"%c\"", i == 0 ? "[" : ", ", plan->axes[i]);
    }
    fprintf(to, "]\n}\n");
}

void zarr_put_array(FILE *to, const ZarrPlan *plan, int level)
{
    (plan->version == 2 ? put_array_two : put_array_three)(to, plan, level);
}

/* ---- OME ------------------------------------------------------------------------------- */

static const char *type_of_axis(char axis)
{
    return axis == 't' ? "time" : axis == 'c' ? "channel" : "space";
}

static const char *ome_version(int version)
{
    return version == 2 ? "0.4" : "0.5";
}

static void put_multiscales(FILE *to, const ZarrPlan *plan)
{
    fprintf(to, "\"multiscales\": [{");
    if (plan->version == 2) {
        fprintf(to, "\"version\": \"0.4\", ");
    }
    fprintf(to, "\"name\": ");
    put_text(to, plan->name);
    fprintf(to, ", \"type\": \"%s\",\n    \"axes\": [", plan->nearest ? "nearest" : "mean");
    for (int i = 0; plan->axes[i] != '\0'; i++) {
        fprintf(to, "%s{\"name\": \"%c\", \"type\": \"%s\"", i > 0 ? ", " : "", plan->axes[i],
                type_of_axis(plan->axes[i]));
        if (plan->unit[i] != NULL) {
            fprintf(to, ", \"unit\": \"%s\"", plan->unit[i]);
        }
        putc('}', to);
    }
    fprintf(to, "],\n    \"datasets\": [");
    for (int level = 0; level < plan->levels; level++) {
        fprintf(to, "%s\n      {\"path\": \"%d\", \"coordinateTransformations\": [{\"type\": \"scale\", \"scale\": ",
                level > 0 ? "," : "", level);
        put_axes(to, plan, level, scale);
        fprintf(to, "}, {\"type\": \"translation\", \"translation\": ");
        put_axes(to, plan, level, origin);
        fprintf(to, "}]}");
    }
    fprintf(to, "]}]");
}

/* Colours of channels that have none, in red, green and blue; one alone is white. */
static const char *const COLOURS[] = {"FF0000", "00FF00", "0000FF", "FF00FF", "00FFFF", "FFFF00", "FFFFFF"};
enum { N_COLOURS = sizeof COLOURS / sizeof *COLOURS };

/* The range that is shown at first: bytes of a picture as they are, others between the extremes of the coarsest level. */
static void put_window(FILE *to, const ZarrPlan *plan, int64_t c)
{
    bool whole = elem_is_integer(plan->elem), seen = plan->low[c] <= plan->high[c];
    double least = whole ? elem_min(plan->elem) : seen ? plan->low[c] : 0;
    double most = whole ? elem_max(plan->elem) : seen ? plan->high[c] : 1;
    bool all = plan->shape.rgb || !seen || plan->low[c] == plan->high[c];
    put_number(to, "\"window\": {\"min\": ", least);
    put_number(to, ", \"max\": ", most);
    put_number(to, ", \"start\": ", all ? least : plan->low[c]);
    put_number(to, ", \"end\": ", all ? most : plan->high[c]);
    fprintf(to, "}");
}

static void put_channels(FILE *to, const ZarrPlan *plan)
{
    static const char *const NAMES[] = {"Red", "Green", "Blue", "Alpha"};
    const char *name = plan->channels, *colour = plan->colours;
    fprintf(to, ",\n  \"omero\": {\"version\": \"%s\", \"channels\": [", ome_version(plan->version));
    for (int64_t c = 0; c < plan->shape.c; c++) {
        fprintf(to, "%s\n    {", c > 0 ? "," : "");
        if (name != NULL || plan->shape.rgb) {
            fprintf(to, "\"label\": ");
            put_text(to, name != NULL ? name : NAMES[c % 4]);
            fprintf(to, ", ");
            name = name != NULL ? name + strlen(name) + 1 : NULL;
        }
        const char *usual = plan->shape.c == 1 ? "FFFFFF" : COLOURS[c % N_COLOURS];
        fprintf(to, "\"color\": \"%s\", \"active\": true, ", colour != NULL ? colour : usual);
        fprintf(to, "\"coefficient\": 1, \"family\": \"linear\", \"inverted\": false, ");
        colour = colour != NULL ? colour + strlen(colour) + 1 : NULL;
        put_window(to, plan, c);
        putc('}', to);
    }
    fprintf(to, "],\n    \"rdefs\": {\"defaultT\": 0, \"defaultZ\": %lld, \"model\": \"%s\"}}",
            (long long)(plan->shape.z / 2), plan->shape.c == 1 ? "greyscale" : "color");
}

static void put_software(FILE *to, const ZarrPlan *plan)
{
    if (plan->software != NULL) {
        fprintf(to, ",\n  \"pipec\": {\"software\": ");
        put_text(to, plan->software);
        fprintf(to, ", \"parameters\": ");
        put_text(to, plan->parameters != NULL ? plan->parameters : "");
        putc('}', to);
    }
}

static void put_ome(FILE *to, const ZarrPlan *plan)
{
    put_multiscales(to, plan);
    if (plan->labels) {
        fprintf(to, ",\n  \"image-label\": {\"version\": \"%s\"%s}", ome_version(plan->version),
                plan->inside ? ", \"source\": {\"image\": \"../../\"}" : "");
    } else {
        put_channels(to, plan);
    }
}

void zarr_put_image(FILE *to, const ZarrPlan *plan)
{
    if (plan->version == 2) {
        fprintf(to, "{\n  ");
        put_ome(to, plan);
        put_software(to, plan);
        fprintf(to, "\n}\n");
    } else {
        fprintf(
            to,
            "{\n  \"zarr_format\": 3,\n  \"node_type\": \"group\",\n  \"attributes\": {\"ome\": {\"version\": \"0.5\",\n  ");
        put_ome(to, plan);
        fprintf(to, "}");
        put_software(to, plan);
        fprintf(to, "}\n}\n");
    }
}

void zarr_put_labels(FILE *to, int version, const char *const *names, int n)
{
    fprintf(to,
            version == 2
                ? "{\n  \"labels\": ["
                : "{\n  \"zarr_format\": 3,\n  \"node_type\": \"group\",\n  \"attributes\": {\"ome\": {\"version\": "
                  "\"0.5\", \"labels\": [");
    for (int i = 0; i < n; i++) {
        fprintf(to, "%s", i > 0 ? ", " : "");
        put_text(to, names[i]);
    }
    fprintf(to, version == 2 ? "]\n}\n" : "]}}\n}\n");
}
