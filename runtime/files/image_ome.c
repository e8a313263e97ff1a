/*
 * image_ome: OME-XML as it stands in OME-TIFF files: extents, pixel sizes, and which page is
 * which plane.
 *
 * This is not an XML parser: it finds elements by name and attributes inside them, which is
 * enough for text that other programs have generated, and fails softly on anything else.  Only
 * the first image of a file is read, the others are counted.  Planes of a set that lie in other files are left out: what
 * this file holds must then be a full box of planes, and is read as such.  Of an acquisition that was stopped, what
 * is whole is read.
 */
#include "image_meta.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VALUE_BYTES = 256 };

static const int64_t PLANES_MAX = (int64_t)1 << 26;

/* A start tag: `at` points behind the name, `end` at its '>'; `limit` ends the text to search. */
typedef struct Element {
    const char *at, *end;
} Element;

/* ---- XML ------------------------------------------------------------------------------- */

static bool is_space(char ch)
{
    return ch == ' ' || ch == '\t' || ch == '\n' || ch == '\r';
}

/* The end of a tag, minding quotes, in which '>' is a letter like any other. */
static const char *tag_end(const char *at)
{
    char quote = 0;
    for (; *at != '\0'; at++) {
        if (quote != 0) {
            quote = *at == quote ? (char)0 : quote;
        } else if (*at == '"' || *at == '\'') {
            quote = *at;
        } else if (*at == '>') {
            return at;
        }
    }
    return NULL;
}

/* The next start tag called `name`, with or without a prefix, before `limit` (NULL: anywhere). */
static bool next_element(const char *text, const char *limit, const char *name, Element *element)
{
    size_t n = strlen(name);
    for (const char *at = text; (at = strchr(at, '<')) != NULL; at++) {
        if (limit != NULL && at >= limit) {
            return false;
        }
        if (strncmp(at, "<!--", 4) == 0) {
            at = strstr(at, "-->");
            if (at == NULL) {
                return false;
            }
            continue;
        }
        const char *word = at + 1;
        size_t length = strcspn(word, " \t\r\n/>:");
        if (word[length] == ':') {
            word += length + 1;
            length = strcspn(word, " \t\r\n/>:");
        }
        if (length == n && memcmp(word, name, n) == 0) {
            element->at = word + n;
            element->end = tag_end(element->at);
            return element->end != NULL;
        }
    }
    return false;
}

static size_t put_utf8(unsigned long code, char *to)
{
    if (code < 0x80) {
        to[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        to[0] = (char)(0xC0 | code >> 6);
        to[1] = (char)(0x80 | (code & 63));
        return 2;
    }
    to[0] = (char)(0xE0 | (code >> 12 & 15));
    to[1] = (char)(0x80 | (code >> 6 & 63));
    to[2] = (char)(0x80 | (code & 63));
    return 3;
}

/* One letter or entity; returns how much text it took, and through *put how much it made. */
static size_t decode(const char *at, const char *end, char *to, size_t *put)
{
    static const struct {
        const char *name;
        char letter;
    } named[] = {{"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}};
    *put = 1;
    *to = *at;
    if (*at != '&') {
        return 1;
    }
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        size_t n = strlen(named[i].name);
        if (n <= (size_t)(end - at) && memcmp(at, named[i].name, n) == 0) {
            *to = named[i].letter;
            return n;
        }
    }
    if (at[1] == '#') {
        char *stop;
        bool hex = at[2] == 'x';
        unsigned long code = strtoul(at + 2 + hex, &stop, hex ? 16 : 10);
        if (*stop == ';' && code > 0) {
            *put = put_utf8(code, to);
            return (size_t)(stop + 1 - at);
        }
    }
    return 1;
}

/* The value of an attribute; false, and an empty text, when it is missing. */
static bool attribute(Element element, const char *name, char to[VALUE_BYTES])
{
    size_t n = strlen(name);
    to[0] = '\0';
    for (const char *at = element.at; at < element.end; at++) {
        if (*at == '"' || *at == '\'') {
            at = memchr(at + 1, *at, (size_t)(element.end - at - 1));
            if (at == NULL) {
                return false;
            }
            continue;
        }
        if (!is_space(at[-1]) || strncmp(at, name, n) != 0 || at[n] != '=' ||
            (at[n + 1] != '"' && at[n + 1] != '\'')) {
            continue;
        }
        const char *from = at + n + 2;
        const char *end = memchr(from, at[n + 1], (size_t)(element.end - from));
        size_t used = 0, put;
        while (end != NULL && from < end && used + 4 < VALUE_BYTES) {
            from += decode(from, end, to + used, &put);
            used += put;
        }
        to[used] = '\0';
        return end != NULL;
    }
    return false;
}

static int64_t integer(Element element, const char *name, int64_t missing)
{
    char value[VALUE_BYTES];
    return attribute(element, name, value) ? strtoll(value, NULL, 10) : missing;
}

static double positive(Element element, const char *name)
{
    char value[VALUE_BYTES];
    double number = attribute(element, name, value) ? strtod(value, NULL) : 0;
    return isfinite(number) && number > 0 ? number : 0;
}

/* ---- sizes ----------------------------------------------------------------------------- */

/* Sizes are kept in the unit of x; micrometres are what OME means when it does not say. */
static void read_sizes(Element pixels, ImageInfo *info)
{
    static const char *const SIZE[] = {"PhysicalSizeX", "PhysicalSizeY", "PhysicalSizeZ"};
    static const char *const UNIT[] = {"PhysicalSizeXUnit", "PhysicalSizeYUnit",
                                       "PhysicalSizeZUnit"};
    char unit[VALUE_BYTES];
    for (int axis = 0; axis < 3; axis++) {
        info->size[axis] = positive(pixels, SIZE[axis]);
        if (!attribute(pixels, UNIT[axis], unit)) {
            strcpy(unit, "\xC2\xB5m");
        }
        if (axis == 0) {
            snprintf(info->unit, sizeof info->unit, "%.31s", unit);
        } else if (strcmp(unit, info->unit) != 0) {
            double um = meta_unit_um(info->unit);
            info->size[axis] = um > 0 ? info->size[axis] * meta_unit_um(unit) / um : 0;
        }
    }
    if (strcmp(info->unit, "pixel") == 0 || info->size[0] == 0) {
        info->size[0] = info->size[1] = info->size[2] = 0;
        info->unit[0] = '\0';
    }
}

static void read_interval(Element pixels, ImageInfo *info)
{
    char unit[VALUE_BYTES];
    info->interval = positive(pixels, "TimeIncrement");
    if (attribute(pixels, "TimeIncrementUnit", unit)) {
        info->interval *= meta_unit_seconds(unit);
    }
}

/* ---- planes ---------------------------------------------------------------------------- */

/* Extents in pages and the order of axes, fastest first, as places in `extent`. */
typedef struct Planes {
    int64_t extent[3]; /* t, c, z */
    int order[3];
    int64_t *page;     /* [t][c][z]; -1: not here */
    int64_t total;
} Planes;

static void read_order(Element pixels, int order[3])
{
    char text[VALUE_BYTES];
    int n = 0;
    attribute(pixels, "DimensionOrder", text);
    for (const char *at = text; *at != '\0' && n < 3; at++) {
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

/* Notes that `count` planes from `first` on are the pages from `page` on. */
static void place(Planes *planes, int64_t first[3], int64_t page, int64_t count, int64_t pages)
{
    int64_t at[3] = {first[0], first[1], first[2]};
    for (int64_t i = 0; i < count && page + i < pages; i++) {
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

/* The file that a TiffData element speaks of; empty when it does not say. */
static void file_of(Element data, const char *limit, char name[VALUE_BYTES])
{
    Element uuid, next;
    name[0] = '\0';
    if (data.end[-1] == '/') {
        return;
    }
    const char *until = next_element(data.end, limit, "TiffData", &next) ? next.at : limit;
    if (next_element(data.end, until, "UUID", &uuid)) {
        attribute(uuid, "FileName", name);
    }
}

/* A renamed file still lists itself under its old name, which is then the only one. */
static bool single_file(const char *text, const char *limit)
{
    char first[VALUE_BYTES] = "", name[VALUE_BYTES];
    Element data = {text, text};
    while (next_element(data.end, limit, "TiffData", &data)) {
        file_of(data, limit, name);
        if (first[0] != '\0' && name[0] != '\0' && strcmp(first, name) != 0) {
            return false;
        }
        if (first[0] == '\0') {
            strcpy(first, name);
        }
    }
    return true;
}

static void place_all(const MetaTags *tags, Element pixels, const char *limit, bool single, Planes *planes)
{
    bool any = false;
    char name[VALUE_BYTES];
    Element data = pixels;
    while (next_element(data.end, limit, "TiffData", &data)) {
        any = true;
        file_of(data, limit, name);
        if (!single && name[0] != '\0' && strcmp(name, tags->name) != 0) {
            continue;
        }
        bool has_page = attribute(data, "IFD", name);
        int64_t page = integer(data, "IFD", 0);
        int64_t count = integer(data, "PlaneCount", has_page ? 1 : planes->total);
        int64_t first[3] = {integer(data, "FirstT", 0), integer(data, "FirstC", 0),
                            integer(data, "FirstZ", 0)};
        if (page >= 0 && page < tags->pages && first[0] >= 0 && first[1] >= 0 && first[2] >= 0) {
            place(planes, first, page, count, tags->pages);
        }
    }
    if (!any) {
        place(planes, (int64_t[3]){0, 0, 0}, 0, planes->total, tags->pages);
    }
}

/* True when an image whose tag ends before `text` has planes in this file: where it says so, by the name that
 * the file has or was given when it was written, or where it names no file. */
static bool is_here(const MetaTags *tags, const char *text, const char *limit, const char *written)
{
    char name[VALUE_BYTES];
    Element data = {text, text};
    bool any = false;
    while (next_element(data.end, limit, "TiffData", &data)) {
        any = true;
        file_of(data, limit, name);
        if (name[0] == '\0' || strcmp(name, tags->name) == 0 || strcmp(name, written) == 0) {
            return true;
        }
    }
    return !any;
}

/* How many images have planes in this file, beside the one whose tag ends before `text`. */
static int64_t count_others(const MetaTags *tags, const char *text)
{
    char written[VALUE_BYTES] = "";
    Element image, next, data;
    int64_t n = 0;
    bool more = next_element(text, NULL, "Image", &image);
    if (more && next_element(text, image.at, "TiffData", &data)) {
        file_of(data, image.at, written);
    }
    while (more) {
        more = next_element(image.end, NULL, "Image", &next);
        n += is_here(tags, image.end, more ? next.at : NULL, written);
        image = next;
    }
    return n;
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
static void cut_to_box(const Planes *planes, const int64_t low[3], const int64_t high[3],
                       MetaPlan *plan)
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
    return err_set(err, CODE_FILES,
                   "its OME-XML lists %lld planes, of which only %lld are in this file, with gaps; %s",
                   (long long)planes->total, (long long)found,
                   single ? "save those that belong together as a file of their own (in Fiji, the Bio-Formats Importer "
                            "lets a range be chosen)"
                          : "combine the set into one file first (bfconvert)");
}

static bool map_planes(const MetaTags *tags, Element pixels, const char *limit, Planes *planes,
                       MetaPlan *plan, bool *known, Err *err)
{
    int64_t low[3] = {0}, high[3] = {0};
    bool single = single_file(pixels.end, limit);
    planes->page = malloc((size_t)planes->total * sizeof *planes->page);
    if (planes->page == NULL) {
        return err_set(err, CODE_FILES, "out of memory");
    }
    memset(planes->page, 0xFF, (size_t)planes->total * sizeof *planes->page);
    place_all(tags, pixels, limit, single, planes);
    int64_t found = bounding_box(planes, low, high);
    if (single && found < box(low, high)) {
        plan->unfinished = drop_unfinished(planes);
        found = bounding_box(planes, low, high);
    }
    *known = found > 0 && found == box(low, high);
    if (*known) {
        cut_to_box(planes, low, high, plan);
        plan->others = count_others(tags, pixels.end);
        return true;
    }
    free(planes->page);
    return found == 0 || refuse_gaps(planes, found, single, err);
}

bool meta_read_ome(const MetaTags *tags, ImageInfo *info, MetaPlan *plan, bool *known, Err *err)
{
    const char *limit = NULL;
    Element image, pixels;
    Planes planes;
    *known = false;
    plan->elsewhere = next_element(tags->description, NULL, "BinaryOnly", &image);
    if (!next_element(tags->description, NULL, "Image", &image) ||
        !next_element(image.end, NULL, "Pixels", &pixels)) {
        return true;
    }
    if (next_element(pixels.end, NULL, "Image", &image)) {
        limit = image.at;
    }
    strcpy(info->style, "ome");
    read_sizes(pixels, info);
    read_interval(pixels, info);
    read_order(pixels, planes.order);
    planes.extent[0] = integer(pixels, "SizeT", 1);
    planes.extent[1] = integer(pixels, "SizeC", 1);
    planes.extent[2] = integer(pixels, "SizeZ", 1);
    if (tags->samples > 1) { /* SizeC counts samples, and a page holds them all */
        planes.extent[1] = planes.extent[1] > tags->samples ? planes.extent[1] / tags->samples : 1;
    }
    planes.total = 1;
    for (int axis = 0; axis < 3; axis++) {
        if (planes.extent[axis] < 1 || planes.extent[axis] > PLANES_MAX / planes.total) {
            return true;
        }
        planes.total *= planes.extent[axis];
    }
    return map_planes(tags, pixels, limit, &planes, plan, known, err);
}
