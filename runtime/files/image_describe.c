/*
 * image_describe: the description that pipec writes into TIFF files.
 *
 * Files go back to where they came from: OME-XML to those who sent OME-TIFF, ImageJ's lines to
 * everybody else, because ImageJ, napari and tifffile all read them.  All axes are written out,
 * also those of extent 1, which shapes alone cannot express.  ImageJ ignores keys that it does
 * not know, so the parameters of the run stand in a line of their own at the end.  No date and
 * no random identifier: the same run writes the same bytes.
 */
#include "../host/decimal.h"
#include "image_meta.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_number(FILE *to, const char *before, double value, const char *after)
{
    char text[DECIMAL_BYTES];
    decimal_shortest(value, text);
    fprintf(to, "%s%s%s", before, text, after);
}

/* A line of its own must stay one line. */
static void put_line(FILE *to, const char *text)
{
    for (; *text != '\0'; text++) {
        putc(*text == '\n' || *text == '\r' ? ' ' : *text, to);
    }
    putc('\n', to);
}

static void put_xml(FILE *to, const char *text)
{
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '<':
            fputs("&lt;", to);
            break;
        case '>':
            fputs("&gt;", to);
            break;
        case '&':
            fputs("&amp;", to);
            break;
        case '"':
            fputs("&quot;", to);
            break;
        default:
            putc((unsigned char)*text < 32 ? ' ' : *text, to);
        }
    }
}

/* ---- ImageJ ---------------------------------------------------------------------------- */

static void put_axis(FILE *to, const char *key, bool has, int64_t extent)
{
    if (has || extent > 1) {
        fprintf(to, "%s=%lld\n", key, (long long)extent);
    }
}

/* ImageJ takes a colour for each of 256 shares of this range, rounded.  Beyond 511 label 1 would have that of the background. */
static double display_end(Elem elem, double most)
{
    return elem == ELEM_BOOL ? 255 : most > 511 ? 511 : most > 0 ? most : 1;
}

static void put_imagej(FILE *to, const ImageInfo *shape, bool chunky, Elem elem, const ImageMeta *meta)
{
    const ImageInfo *like = meta->like;
    int64_t channels = chunky ? 1 : shape->c, pages = shape->t * channels * shape->z;
    fputs("ImageJ=1.11a\n", to);
    fprintf(to, "images=%lld\n", (long long)pages);
    put_axis(to, "channels", shape->has_c && !chunky, channels);
    put_axis(to, "slices", shape->has_z, shape->z);
    put_axis(to, "frames", shape->has_t, shape->t);
    if (pages > 1 && (channels > 1 || shape->t > 1)) {
        fputs("hyperstack=true\n", to);
    }
    if (channels > 1) {
        fputs("mode=grayscale\n", to);
    }
    if (like != NULL && like->unit[0] != '\0') {
        fputs("unit=", to);
        put_line(to, like->unit);
    }
    if (like != NULL && like->size[2] > 0) {
        put_number(to, "spacing=", like->size[2], "\n");
    }
    if (like != NULL && like->interval > 0) {
        put_number(to, "finterval=", like->interval, "\n");
    }
    fputs("loop=false\n", to);
    if (meta->labels || elem == ELEM_BOOL) {
        put_number(to, "min=0.0\nmax=", display_end(elem, meta->max), "\n");
    }
    if (meta->parameters != NULL && meta->parameters[0] != '\0') {
        fputs("pipec=", to);
        put_line(to, meta->parameters);
    }
}

/* ---- OME ------------------------------------------------------------------------------- */

static const char *ome_type(Elem elem)
{
    static const char *const NAMES[ELEM_COUNT] =
        {[ELEM_BOOL] = "uint8", [ELEM_U8] = "uint8",  [ELEM_U16] = "uint16", [ELEM_I16] = "int16",
         [ELEM_U32] = "uint32", [ELEM_I32] = "int32", [ELEM_F32] = "float",  [ELEM_F64] = "double"};
    return NAMES[elem];
}

static bool big_endian(void)
{
    const uint16_t one = 1;
    return *(const unsigned char *)&one == 0;
}

static void put_ome_sizes(FILE *to, const ImageInfo *like)
{
    for (int axis = 0; axis < 3; axis++) {
        if (like->size[axis] > 0 && like->unit[0] != '\0') {
            fprintf(to, " PhysicalSize%c=\"", "XYZ"[axis]);
            put_number(to, "", like->size[axis], "\"");
            fprintf(to, " PhysicalSize%cUnit=\"", "XYZ"[axis]);
            put_xml(to, like->unit);
            fputs("\"", to);
        }
    }
    if (like->interval > 0) {
        put_number(to, " TimeIncrement=\"", like->interval, "\" TimeIncrementUnit=\"s\"");
    }
}

static void put_channels(FILE *to, int64_t channels, int samples, const ImageMeta *meta)
{
    const char *name = meta->channels ? meta->like->channels : NULL;
    for (int64_t c = 0; c < channels; c++) {
        const char *text = name != NULL ? name : meta->labels ? "labels" : "";
        fprintf(to, "<Channel ID=\"Channel:0:%lld\" SamplesPerPixel=\"%d\"", (long long)c, samples);
        if (*text != '\0') {
            fputs(" Name=\"", to);
            put_xml(to, text);
            fputs("\"", to);
        }
        fputs("/>", to);
        name = name != NULL ? name + strlen(name) + 1 : NULL;
    }
}

static void put_ome(FILE *to, const ImageInfo *shape, bool chunky, Elem elem, const ImageMeta *meta)
{
    int64_t channels = chunky ? 1 : shape->c;
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>"
          "<OME xmlns=\"http://www.openmicroscopy.org/Schemas/OME/2016-06\" "
          "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" "
          "xsi:schemaLocation=\"http://www.openmicroscopy.org/Schemas/OME/2016-06 "
          "http://www.openmicroscopy.org/Schemas/OME/2016-06/ome.xsd\" Creator=\"",
          to);
    put_xml(to, meta->software == NULL ? "pipec" : meta->software);
    fputs("\"><Image ID=\"Image:0\">", to);
    if (meta->parameters != NULL && meta->parameters[0] != '\0') {
        fputs("<Description>", to);
        put_xml(to, meta->parameters);
        fputs("</Description>", to);
    }
    fprintf(to,
            "<Pixels ID=\"Pixels:0\" DimensionOrder=\"XYCZT\" Type=\"%s\" BigEndian=\"%s\" "
            "SizeX=\"%lld\" SizeY=\"%lld\" SizeZ=\"%lld\" SizeC=\"%lld\" SizeT=\"%lld\"",
            ome_type(elem), big_endian() ? "true" : "false", (long long)shape->x, (long long)shape->y,
            (long long)shape->z, (long long)shape->c, (long long)shape->t);
    put_ome_sizes(to, meta->like);
    fputs(">", to);
    put_channels(to, channels, chunky ? (int)shape->c : 1, meta);
    fprintf(to, "<TiffData IFD=\"0\" PlaneCount=\"%lld\"/></Pixels></Image></OME>",
            (long long)(shape->t * channels * shape->z));
}

bool meta_describe(const ImageInfo *shape, bool chunky, Elem elem, const ImageMeta *meta, char **text, Err *err)
{
    size_t size;
    FILE *to = open_memstream(text, &size);
    if (to == NULL) {
        return err_set(err, CODE_MEMORY, "out of memory");
    }
    if (meta->like != NULL && strcmp(meta->like->style, "ome") == 0) {
        put_ome(to, shape, chunky, elem, meta);
    } else {
        put_imagej(to, shape, chunky, elem, meta);
    }
    bool ok = ferror(to) == 0;
    if (fclose(to) != 0 || !ok) {
        free(*text);
        return err_set(err, CODE_MEMORY, "out of memory");
    }
    return true;
}
