/*
 * image_ome: OME-XML as it stands in OME-TIFF files, through expat.
 *
 * Elements count where they belong (OME/Image/Pixels/TiffData), under whatever prefix: annotations may hold anything,
 * also elements of these names.  The first image that has planes in this file is read, the others are counted.  Planes
 * of a set that lie in other files are left out: what this file holds must then be a full box of planes, and is read
 * as such.  Of an acquisition that was stopped, what is whole is read.
 *
 * Entities are refused, since a few lines of them can stand for gigabytes.
 */
#include "image_ome.h"

#include <expat.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VALUE_BYTES = 256 };

static const int64_t PLANES_MAX = (int64_t)1 << 22;

/* Whose pages a TiffData element lists. */
typedef enum Whose { WHOSE_UNSAID, WHOSE_OURS, WHOSE_OTHERS } Whose;

typedef struct OmeData {
    int64_t first[3];    /* t, c, z of the first plane */
    int64_t page, count; /* count -1: it is not said */
    bool has_page;
    Whose whose;
} OmeData;

typedef struct OmeImage {
    int64_t x, y, extent[3]; /* extent: t, c, z; 0: not said */
    int order[3];            /* axes as places in `extent`, fastest first */
    double size[3];
    char unit[3][32];
    double interval;
    char type[16];
    size_t first_data, n_data;
    size_t first_name;                     /* of its channels, in OmeXml.names */
    int64_t channels;                      /* elements that speak of one */
    bool has_pixels, only_metadata, named; /* named: one of them has a name */
} OmeImage;

struct OmeXml {
    OmeImage *images;
    OmeData *data; /* of all images */
    char *names;   /* of channels of all images, each terminated */
    size_t n_images, cap_images, n_data, cap_data, n_names, cap_names;
    size_t read; /* the image that is read */
    bool elsewhere, damaged, forgotten;
    int64_t others;
};

/* ---- the parser's side ----------------------------------------------------------------------- */

/* What of the document is being read: elements from the root down to `at` are those of PATH. */
typedef enum Level { LEVEL_NONE, LEVEL_OME, LEVEL_IMAGE, LEVEL_PIXELS, LEVEL_DATA, LEVEL_UUID } Level;

static const char *const PATH[] = {"", "OME", "Image", "Pixels", "TiffData", "UUID"};

typedef struct Reading {
    OmeXml *xml;
    XML_Parser parser;
    const char *name; /* of the file */
    int depth, at;
    bool other_root, entities, no_memory, closed;
    char root_uuid[VALUE_BYTES], uuid[VALUE_BYTES], file[VALUE_BYTES];
    char other[VALUE_BYTES]; /* the first file that is not called like this one */
    bool ours, several_others;
} Reading;

/* The next element of an array that grows, all zero; NULL without memory, which ends the parser. */
static void *append(Reading *r, void **array, size_t *n, size_t *cap, size_t size)
{
    if (*n == *cap) {
        size_t more = *cap == 0 ? 16 : 2 * *cap;
        void *moved = realloc(*array, more * size);
        if (moved == NULL) {
            r->no_memory = true;
            XML_StopParser(r->parser, XML_FALSE);
            return NULL;
        }
        *array = moved;
        *cap = more;
    }
    return memset((char *)*array + (*n)++ * size, 0, size);
}

static const char *without_prefix(const char *name)
{
    const char *colon = strchr(name, ':');
    return colon == NULL ? name : colon + 1;
}

/* The value of an attribute, without blanks in front; NULL when it is missing. */
static const char *value_of(const char **attributes, const char *name)
{
    for (; attributes[0] != NULL; attributes += 2) {
        if (strcmp(attributes[0], name) == 0) {
            return attributes[1] + strspn(attributes[1], " \t\r\n");
        }
    }
    return NULL;
}

static void copy_value(const char **attributes, const char *name, char *to, size_t size)
{
    const char *value = value_of(attributes, name);
    snprintf(to, size, "%s", value == NULL ? "" : value);
    for (size_t n = strlen(to); n > 0 && to[n - 1] == ' '; n--) {
        to[n - 1] = '\0';
    }
}

static int64_t integer(const char **attributes, const char *name, int64_t missing)
{
    const char *value = value_of(attributes, name);
    return value != NULL ? strtoll(value, NULL, 10) : missing;
}

static double positive(const char **attributes, const char *name)
{
    const char *value = value_of(attributes, name);
    double number = value != NULL ? meta_number(value) : 0;
    return number > 0 ? number : 0;
}

static void read_order(const char *text, int order[3])
{
    int n = 0;
    for (const char *at = text == NULL ? "" : text; *at != '\0' && n < 3; at++) {
        const char *axis = strchr("TCZ", *at);
        if (axis != NULL) {
            order[n++] = (int)(axis - "TCZ");
        }
    }
    bool full = n == 3 && order[0] != order[1] && order[1] != order[2] && order[0] != order[2];
    if (!full) {
        memcpy(order, (int[]){1, 2, 0}, 3 * sizeof *order); /* XYCZT */
    }
}

static void read_pixels(OmeImage *image, const char **attributes)
{
    static const char *const SIZE[] = {"PhysicalSizeX", "PhysicalSizeY", "PhysicalSizeZ"};
    static const char *const UNIT[] = {"PhysicalSizeXUnit", "PhysicalSizeYUnit", "PhysicalSizeZUnit"};
    static const char *const EXTENT[] = {"SizeT", "SizeC", "SizeZ"};
    char unit[VALUE_BYTES];
    image->has_pixels = true;
    image->x = integer(attributes, "SizeX", 0);
    image->y = integer(attributes, "SizeY", 0);
    for (int axis = 0; axis < 3; axis++) {
        image->extent[axis] = integer(attributes, EXTENT[axis], 1);
        image->size[axis] = positive(attributes, SIZE[axis]);
        copy_value(attributes, UNIT[axis], image->unit[axis], sizeof image->unit[axis]);
        if (image->unit[axis][0] == '\0') {
            strcpy(image->unit[axis], "\xC2\xB5m"); /* what OME means when it does not say */
        }
    }
    image->interval = positive(attributes, "TimeIncrement");
    copy_value(attributes, "TimeIncrementUnit", unit, sizeof unit);
    image->interval *= unit[0] != '\0' ? meta_unit_seconds(unit) : 1;
    copy_value(attributes, "Type", image->type, sizeof image->type);
    read_order(value_of(attributes, "DimensionOrder"), image->order);
}

static void read_data(Reading *r, OmeImage *image, const char **attributes)
{
    OmeXml *xml = r->xml;
    OmeData *data = append(r, (void **)&xml->data, &xml->n_data, &xml->cap_data, sizeof *data);
    if (data != NULL) {
        *data = (OmeData){
            .first = {integer(attributes, "FirstT", 0), integer(attributes, "FirstC", 0),
                      integer(attributes, "FirstZ", 0)},
            .page = integer(attributes, "IFD", 0),
            .has_page = value_of(attributes, "IFD") != NULL,
            .count = integer(attributes, "PlaneCount", integer(attributes, "NumPlanes", -1)),
        };
        image->n_data++;
    }
}

static void read_channel(Reading *r, OmeImage *image, const char *name)
{
    OmeXml *xml = r->xml;
    image->named = image->named || *name != '\0';
    image->channels++;
    for (bool more = true; more && !r->no_memory; name++) {
        char *to = append(r, (void **)&xml->names, &xml->n_names, &xml->cap_names, 1);
        more = *name != '\0';
        if (to != NULL) {
            *to = *name;
        }
    }
}

/* Elements beside the path. */
static void read_aside(Reading *r, OmeImage *image, const char *name, const char **attributes)
{
    if (r->at == LEVEL_OME && strcmp(name, "BinaryOnly") == 0) {
        r->xml->elsewhere = true;
    } else if (r->at == LEVEL_PIXELS && strcmp(name, "MetadataOnly") == 0) {
        image->only_metadata = true;
    } else if (r->at == LEVEL_PIXELS && strcmp(name, "Channel") == 0) {
        const char *channel = value_of(attributes, "Name");
        read_channel(r, image, channel != NULL ? channel : "");
    }
}

static void on_start(void *user, const char *full_name, const char **attributes)
{
    Reading *r = user;
    OmeXml *xml = r->xml;
    const char *name = without_prefix(full_name);
    OmeImage *image = xml->n_images > 0 ? &xml->images[xml->n_images - 1] : NULL;
    bool next = r->depth == r->at && r->at < LEVEL_UUID && strcmp(name, PATH[r->at + 1]) == 0;
    if (r->depth == 0 && !next) {
        r->other_root = true;
        XML_StopParser(r->parser, XML_FALSE);
        return;
    }
    if (!next && r->depth == r->at) {
        read_aside(r, image, name, attributes);
    }
    r->depth++;
    r->at += next;
    switch (next ? r->at : LEVEL_NONE) {
    case LEVEL_OME:
        copy_value(attributes, "UUID", r->root_uuid, sizeof r->root_uuid);
        break;
    case LEVEL_IMAGE:
        image = append(r, (void **)&xml->images, &xml->n_images, &xml->cap_images, sizeof *image);
        if (image != NULL) {
            image->first_data = xml->n_data;
            image->first_name = xml->n_names;
        }
        break;
    case LEVEL_PIXELS:
        if (!image->has_pixels) {
            read_pixels(image, attributes);
        }
        break;
    case LEVEL_DATA:
        read_data(r, image, attributes);
        break;
    case LEVEL_UUID:
        copy_value(attributes, "FileName", r->file, sizeof r->file);
        r->uuid[0] = '\0';
        break;
    default:
        break;
    }
}

/* Collects what stands in a UUID element, without blanks. */
static void on_text(void *user, const char *text, int length)
{
    Reading *r = user;
    size_t n = strlen(r->uuid);
    for (int i = 0; r->at == LEVEL_UUID && r->depth == r->at && i < length && n + 1 < sizeof r->uuid; i++) {
        if ((unsigned char)text[i] > ' ') {
            r->uuid[n++] = text[i];
            r->uuid[n] = '\0';
        }
    }
}

/* A file is known by its name or its identifier. */
static Whose owner(Reading *r)
{
    bool same_uuid = r->uuid[0] != '\0' && strcmp(r->uuid, r->root_uuid) == 0;
    const char *file = r->file[0] != '\0' ? r->file : r->uuid;
    if (same_uuid || (r->file[0] != '\0' && strcmp(r->file, r->name) == 0)) {
        r->ours = true;
        return WHOSE_OURS;
    }
    if (*file == '\0' || (r->file[0] == '\0' && r->root_uuid[0] == '\0')) {
        return WHOSE_UNSAID;
    }
    if (r->other[0] == '\0') {
        strcpy(r->other, file);
    }
    r->several_others = r->several_others || strcmp(r->other, file) != 0;
    return WHOSE_OTHERS;
}

static void on_end(void *user, const char *name)
{
    Reading *r = user;
    (void)name;
    if (r->depth == r->at) {
        if (r->at == LEVEL_UUID && r->xml->n_data > 0) {
            r->xml->data[r->xml->n_data - 1].whose = owner(r);
        }
        r->at--;
    }
    r->depth--;
    r->closed = r->depth == 0;
}

static void on_entity(void *user, const char *name, int is_parameter, const char *value, int length, const char *base,
                      const char *system, const char *public, const char *notation)
{
    Reading *r = user;
    (void)name, (void)is_parameter, (void)value, (void)length, (void)base, (void)system, (void)public, (void)notation;
    r->entities = true;
    XML_StopParser(r->parser, XML_FALSE);
}

/* Letters of more than one byte are as UTF-8 has them.  What is none is Latin-1, whatever it declares itself to be. */
static bool is_utf8(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    while (*at != '\0') {
        int more = *at < 0x80 ? 0 : *at < 0xC2 ? -1 : *at < 0xE0 ? 1 : *at < 0xF0 ? 2 : *at < 0xF5 ? 3 : -1;
        for (at++; more > 0 && (*at & 0xC0) == 0x80; more--) {
            at++;
        }
        if (more != 0) {
            return false;
        }
    }
    return true;
}

/* False when the text is no XML up to the end of its root. */
static bool parse(Reading *r, const char *text)
{
    r->parser = XML_ParserCreate(is_utf8(text) ? "UTF-8" : "ISO-8859-1");
    if (r->parser == NULL) {
        r->no_memory = true;
        return false;
    }
    XML_SetUserData(r->parser, r);
    XML_SetElementHandler(r->parser, on_start, on_end);
    XML_SetCharacterDataHandler(r->parser, on_text);
    XML_SetEntityDeclHandler(r->parser, on_entity);
    bool ok = XML_Parse(r->parser, text, (int)strlen(text), 1) == XML_STATUS_OK;
    r->no_memory = r->no_memory || XML_GetErrorCode(r->parser) == XML_ERROR_NO_MEMORY;
    XML_ParserFree(r->parser);
    return ok || r->closed;
}

/* ---- the image that is read ------------------------------------------------------------------ */

/* A renamed file still lists itself under its old name, which is then the only one. */
static void settle_owners(const Reading *r)
{
    OmeXml *xml = r->xml;
    bool renamed = !r->ours && !r->several_others;
    for (size_t i = 0; i < xml->n_data && renamed; i++) {
        xml->data[i].whose = WHOSE_OURS;
    }
}

/* True when an image has planes in this file, or says nothing of planes at all. */
static bool is_here(const OmeXml *xml, const OmeImage *image)
{
    bool here = image->n_data == 0 && image->has_pixels && !image->only_metadata;
    for (size_t i = 0; i < image->n_data; i++) {
        here = here || xml->data[image->first_data + i].whose != WHOSE_OTHERS;
    }
    return here;
}

static void choose_image(OmeXml *xml)
{
    int64_t here = 0;
    for (size_t i = 0; i < xml->n_images; i++) {
        bool is = is_here(xml, &xml->images[i]);
        xml->read = is && here == 0 ? i : xml->read;
        here += is;
    }
    xml->forgotten = here == 0;
    xml->others = here > 0 ? here - 1 : 0;
}

bool ome_read(const char *text, const char *name, OmeXml **out, Err *err)
{
    *out = NULL;
    text += strncmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    text += strspn(text, " \t\r\n");
    if (*text != '<' || strstr(text, "OME") == NULL) {
        return true;
    }
    OmeXml *xml = calloc(1, sizeof *xml);
    Reading r = {.xml = xml, .name = name};
    bool ok = xml != NULL && parse(&r, text);
    if (xml == NULL || r.no_memory || r.entities || r.other_root) {
        ome_free(xml);
        return r.other_root ||
               err_set(err, CODE_FILES, "%s",
                       r.entities ? "its OME-XML declares entities, which pipec does not read" : "out of memory");
    }
    xml->damaged = !ok;
    settle_owners(&r);
    choose_image(xml);
    xml->forgotten = xml->forgotten || !ok;
    *out = xml;
    return true;
}

int64_t ome_first_page(const OmeXml *xml)
{
    int64_t first = -1;
    if (xml->forgotten) {
        return 0;
    }
    const OmeImage *image = &xml->images[xml->read];
    for (size_t i = 0; i < image->n_data; i++) {
        const OmeData *data = &xml->data[image->first_data + i];
        bool counts = data->whose != WHOSE_OTHERS && data->page >= 0 && data->count != 0;
        first = counts && (first < 0 || data->page < first) ? data->page : first;
    }
    return first < 0 ? 0 : first;
}

void ome_forget_planes(OmeXml *xml)
{
    xml->forgotten = true;
}

void ome_free(OmeXml *xml)
{
    if (xml != NULL) {
        free(xml->images);
        free(xml->data);
        free(xml->names);
        free(xml);
    }
}

/* ---- sizes ----------------------------------------------------------------------------- */

/* Sizes are kept in the unit of the first axis that has a length. */
static void read_sizes(const OmeImage *image, ImageInfo *info)
{
    int first = 0;
    while (first < 2 && (image->size[first] == 0 || meta_unit_um(image->unit[first]) == 0)) {
        first++;
    }
    first = meta_unit_um(image->unit[first]) > 0 ? first : 0;
    snprintf(info->unit, sizeof info->unit, "%s", image->unit[first]);
    for (int axis = 0; axis < 3; axis++) {
        info->size[axis] = image->size[axis];
        if (strcmp(image->unit[axis], info->unit) != 0) {
            double um = meta_unit_um(info->unit);
            info->size[axis] = um > 0 ? info->size[axis] * meta_unit_um(image->unit[axis]) / um : 0;
        }
    }
    if (strcmp(info->unit, "pixel") == 0 || info->size[first] == 0) {
        info->size[0] = info->size[1] = info->size[2] = 0;
        info->unit[0] = '\0';
    }
    info->interval = image->interval;
}

/* The XML and the pages tell of the same pixels, as far as the XML does. */
static bool tells_these(const OmeImage *image, const MetaTags *tags)
{
    static const struct {
        const char *name;
        Elem elem;
    } TYPES[] = {{"bit", ELEM_BOOL},   {"int8", ELEM_I16},   {"uint8", ELEM_U8},
                 {"int16", ELEM_I16},  {"uint16", ELEM_U16}, {"int32", ELEM_I32},
                 {"uint32", ELEM_U32}, {"float", ELEM_F32},  {"double", ELEM_F64}};
    bool same = (image->x == 0 || image->x == tags->x) && (image->y == 0 || image->y == tags->y);
    for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++) {
        same = same && (strcmp(TYPES[i].name, image->type) != 0 || TYPES[i].elem == tags->elem);
    }
    return same;
}

/* ---- planes ---------------------------------------------------------------------------- */

/* Extents in pages and the order of axes, fastest first, as places in `extent`. */
typedef struct Planes {
    int64_t extent[3]; /* t, c, z */
    const int *order;
    int64_t *page; /* [t][c][z]; -1: not here */
    int64_t total;
    int64_t left; /* how many more may be placed: a short text may place all of them again and again */
} Planes;

/* Notes that `count` planes from `first` on are the pages from `page` on. */
static void place(Planes *planes, const int64_t first[3], int64_t page, int64_t count, int64_t pages)
{
    int64_t at[3] = {first[0], first[1], first[2]};
    for (int64_t i = 0; i < count && page + i < pages && planes->left > 0; i++, planes->left--) {
        for (int axis = 0; axis < 3; axis++) {
            if (at[axis] >= planes->extent[axis]) {
                return;
            }
        }
        planes->page[(at[0] * planes->extent[1] + at[1]) * planes->extent[2] + at[2]] = page + i;
        for (int k = 0; k < 3; k++) {
            int axis = planes->order[k];
            if (++at[axis] < planes->extent[axis] || k == 2) {
                break;
            }
            at[axis] = 0;
        }
    }
}

/* An element that names a page and does not say how many is about that one, and so the only one of the file is about the
 * first.  Where there are as many pages as planes, its writer meant all of them. */
static bool means_all(const OmeXml *xml, const OmeImage *image, int64_t pages, int64_t planes)
{
    const OmeData *data = &xml->data[image->first_data];
    return xml->n_images == 1 && image->n_data == 1 && planes > 1 && pages == planes && data->has_page &&
           data->page == 0 && data->count < 0;
}

static void place_all(const OmeXml *xml, const OmeImage *image, int64_t pages, Planes *planes)
{
    static const int64_t from_the_first[3] = {0, 0, 0};
    for (size_t i = 0; i < image->n_data; i++) {
        const OmeData *data = &xml->data[image->first_data + i];
        bool all = !data->has_page || means_all(xml, image, pages, planes->total);
        int64_t count = data->count >= 0 ? data->count : all ? planes->total : 1;
        if (data->whose != WHOSE_OTHERS && data->page >= 0 && data->page < pages && data->first[0] >= 0 &&
            data->first[1] >= 0 && data->first[2] >= 0) {
            place(planes, data->first, data->page, count, pages);
        }
    }
    if (image->n_data == 0) {
        place(planes, from_the_first, 0, planes->total, pages);
    }
}

/* Planes that the XML lists in other files. */
static bool in_other_files(const OmeXml *xml, const OmeImage *image)
{
    bool any = false;
    for (size_t i = 0; i < image->n_data; i++) {
        any = any || xml->data[image->first_data + i].whose == WHOSE_OTHERS;
    }
    return any;
}

/* The place of plane i along an axis. */
static int64_t place_along(const Planes *planes, int64_t i, int axis)
{
    const int64_t *extent = planes->extent;
    return axis == 0 ? i / (extent[1] * extent[2]) : axis == 1 ? i / extent[2] % extent[1] : i % extent[2];
}

/* The smallest box that holds all planes that are here, and how many these are. */
static int64_t bounding_box(const Planes *planes, int64_t low[3], int64_t high[3])
{
    int64_t found = 0;
    for (int64_t i = 0; i < planes->total; i++) {
        if (planes->page[i] < 0) {
            continue;
        }
        for (int axis = 0; axis < 3; axis++) {
            int64_t at = place_along(planes, i, axis);
            low[axis] = found == 0 || at < low[axis] ? at : low[axis];
            high[axis] = found == 0 || at > high[axis] ? at : high[axis];
        }
        found++;
    }
    return found;
}

static int64_t box(const int64_t low[3], const int64_t high[3])
{
    return (high[0] - low[0] + 1) * (high[1] - low[1] + 1) * (high[2] - low[2] + 1);
}

/* How many places along an axis have all their planes, if no place behind the next one has any; else 0. */
static int64_t whole_places(const Planes *planes, int axis)
{
    int64_t first = planes->extent[axis], behind = 0;
    for (int64_t i = 0; i < planes->total; i++) { /* the first place that is not whole */
        int64_t at = place_along(planes, i, axis);
        first = planes->page[i] < 0 && at < first ? at : first;
    }
    for (int64_t i = 0; i < planes->total; i++) {
        behind += planes->page[i] >= 0 && place_along(planes, i, axis) > first;
    }
    return behind == 0 ? first : 0;
}

/* Takes the planes of the last time point, or of the last place along another axis, out of the map when the acquisition
 * ended in the midst of it; returns how many. */
static int64_t drop_unfinished(Planes *planes)
{
    int64_t dropped = 0;
    for (int k = 2; k >= 0 && dropped == 0; k--) {
        int axis = planes->order[k];
        int64_t whole = whole_places(planes, axis);
        for (int64_t i = 0; i < planes->total && whole > 0; i++) {
            if (planes->page[i] >= 0 && place_along(planes, i, axis) >= whole) {
                planes->page[i] = -1;
                dropped++;
            }
        }
    }
    return dropped;
}

/* Cuts the map down to the box; the box is never larger than the map, so it works in place. */
static void cut_to_box(const Planes *planes, const int64_t low[3], const int64_t high[3], MetaPlan *plan)
{
    const int64_t *extent = planes->extent;
    int64_t n = 0;
    for (int64_t t = low[0]; t <= high[0]; t++) {
        for (int64_t c = low[1]; c <= high[1]; c++) {
            for (int64_t z = low[2]; z <= high[2]; z++) {
                planes->page[n++] = planes->page[(t * extent[1] + c) * extent[2] + z];
            }
        }
    }
    plan->t = high[0] - low[0] + 1;
    plan->c = high[1] - low[1] + 1;
    plan->z = high[2] - low[2] + 1;
    plan->page = planes->page;
}

static bool refuse_gaps(const Planes *planes, int64_t found, bool single, Err *err)
{
    return err_set(err, CODE_FILES, "its OME-XML lists %lld planes, of which only %lld are in this file, with gaps; %s",
                   (long long)planes->total, (long long)found,
                   single ? "save those that belong together as a file of their own (in Fiji, the Bio-Formats Importer "
                            "lets a range be chosen)"
                          : "combine the set into one file first (bfconvert)");
}

static bool map_planes(const OmeXml *xml, const OmeImage *image, const MetaTags *tags, Planes *planes, MetaPlan *plan,
                       bool *known, Err *err)
{
    int64_t low[3] = {0}, high[3] = {0};
    bool single = !in_other_files(xml, image);
    planes->page = malloc((size_t)planes->total * sizeof *planes->page);
    if (planes->page == NULL) {
        return err_set(err, CODE_FILES, "out of memory");
    }
    memset(planes->page, 0xFF, (size_t)planes->total * sizeof *planes->page);
    place_all(xml, image, tags->pages, planes);
    int64_t found = bounding_box(planes, low, high);
    if (single && found < box(low, high)) {
        plan->unfinished = drop_unfinished(planes);
        found = bounding_box(planes, low, high);
    }
    *known = found > 0 && found == box(low, high);
    if (*known) {
        plan->in_other_files = single ? 0 : planes->total - found;
        plan->absent = single && plan->unfinished == 0 ? planes->total - found : 0;
        cut_to_box(planes, low, high, plan);
        return true;
    }
    free(planes->page);
    return found == 0 || refuse_gaps(planes, found, single, err);
}

/* SizeC counts samples, and a page holds all samples of its pixels. */
static bool count_planes(const OmeImage *image, const MetaTags *tags, Planes *planes)
{
    memcpy(planes->extent, image->extent, sizeof planes->extent);
    if (tags->samples > 1) {
        planes->extent[1] = planes->extent[1] > tags->samples ? planes->extent[1] / tags->samples : 1;
    }
    planes->total = 1;
    for (int axis = 0; axis < 3; axis++) {
        if (planes->extent[axis] < 1 || planes->extent[axis] > PLANES_MAX / planes->total) {
            return false;
        }
        planes->total *= planes->extent[axis];
    }
    planes->left = 4 * (planes->total + tags->pages);
    return true;
}

bool ome_plan(const OmeXml *xml, const MetaTags *tags, ImageInfo *info, MetaPlan *plan, bool *known, Err *err)
{
    *known = false;
    plan->elsewhere = xml->elsewhere;
    plan->others = xml->others;
    info->remarks[REMARK_XML_DAMAGED] = xml->damaged;
    if (xml->forgotten) {
        return true;
    }
    const OmeImage *image = &xml->images[xml->read];
    Planes planes = {.order = image->order};
    strcpy(info->style, "ome");
    read_sizes(image, info);
    info->remarks[REMARK_SIZES] = !tells_these(image, tags);
    TRY(!count_planes(image, tags, &planes) || map_planes(xml, image, tags, &planes, plan, known, err));
    info->remarks[REMARK_CHANNEL_NAMES] = image->named;
    info->remarks[REMARK_FIRST] = *known && image->n_data > 0 && means_all(xml, image, tags->pages, planes.total);
    if (*known && image->named && image->channels == plan->c && tags->samples == 1) {
        info->channels = xml->names + image->first_name;
    }
    return true;
}
