/*
 * noteworthy: everything here is known before the first pixel is read.
 */
#include "noteworthy.h"

#include "../../base/measures.h"
#include "../exec/host.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- files -------------------------------------------------------------------------------- */

/* What is counted has two names behind its number, and `says` why it is not read. */
static const struct {
    const char *one, *several;
    const char *says;
} REMARKS[IMAGE_REMARKS] = {
    [REMARK_PAGES] = {"more page is", "more pages are", "reading ends at the first of another size or type"},
    [REMARK_UNLISTED] = {"more page is", "more pages are", "the OME-XML of the file does not list all"},
    [REMARK_UNFINISHED] = {"more page is", "more pages are",
                           "the acquisition ended before its last time point, or "
                           "plane, had all pages that the OME-XML of the file lists"},
    [REMARK_ABSENT] = {"plane of its OME-XML is", "planes of its OME-XML are",
                       "the file ends before them, as when an acquisition was stopped"},
    [REMARK_IMAGES] = {"more image is", "more images are", "of an OME-TIFF or OME-Zarr the first one is"},
    [REMARK_XML] = {"file with OME-XML is", "files with OME-XML are",
                    "without it pages are planes of z, and sizes of "
                    "pixels unknown; combine the set into one file to have them (bfconvert)"},
    [REMARK_FILES] = {"plane in another file is", "planes in other files are",
                      "the OME-XML of the file lists them; "
                      "combine the set into one file to have them (bfconvert)"},
    [REMARK_BESIDE] = {"more image is", "more images are",
                       "the first one is read, or the one whose number or name stands in brackets, as in FILE[2]"},
    [REMARK_FRAMES] = {"more frame is", "more frames are", "of an animation its picture is"},
    [REMARK_PARTS] = {"more image is", "more images are",
                      "of a FITS file the first one is, or the part in brackets, as in "
                      "FILE[1]"},
    [REMARK_XML_DAMAGED] = {.says = "its OME-XML is damaged; without it pages are planes of z, and sizes of pixels "
                                    "unknown"},
    [REMARK_DESCRIPTION] = {.says = "its description tells of other pages than the file has; pages are planes of z"},
    [REMARK_SIZES] = {.says =
                          "its OME-XML tells of pixels of other extents or another type than the file has, which is "
                          "read as it is"},
    [REMARK_FIRST] = {.says =
                          "its OME-XML lists its first plane alone, and tells of as many planes as there are pages; "
                          "all are read"},
    [REMARK_LENGTHS] = {.says = "the size of pixels that it gives is no length that can be; it counts as unknown, and "
                                "--pixel-size tells it"},
    [REMARK_NUMBERS] = {.says = "it has a palette; pixels are read as the numbers of its colours, which count from 0"},
    [REMARK_MARKS] = {.says = "all its pages are marked as smaller versions or masks of others; they are read as if "
                              "none was"},
    [REMARK_BITS] =
        {.says = "its pixels are single bits, of which 0 is to be shown white (MinIsWhite), as scikit-image and "
                 "tifffile write arrays of True and False; bits that are set are true"},
    [REMARK_WHITE] = {.says =
                          "of its pixels 0 is to be shown white (MinIsWhite); they are turned over, so that what is "
                          "bright is large"},
    [REMARK_WHITE_KEPT] = {.says = "of its pixels 0 is to be shown white (MinIsWhite), which says little of signed and "
                                   "floating-point numbers; they are read as they are stored"},
    [REMARK_CALIBRATED] =
        {.says = "its values are calibrated: pixels have the values that ImageJ shows, not those that are "
                 "stored"},
    [REMARK_UNCALIBRATED] = {.says =
                                 "it says what its values stand for by a curve, which is not applied; pixels have the "
                                 "stored values"},
    [REMARK_NODATA] = {.says =
                           "one value stands for pixels without data (GDAL_NODATA); it is a number like others here"},
    [REMARK_LOSSY] =
        {.says = "it is a JPEG, whose pixels are near those that were recorded, and blurred in squares of 8 x 8; "
                 "do not measure brightness or texture in it"},
    [REMARK_ORIENTATION] = {.says = "it is to be shown turned or mirrored (Orientation); pixels are read as they are "
                                    "stored"},
    [REMARK_ALPHA] = {.says = "its alpha (how opaque pixels are) is not read"},
    [REMARK_CHANNEL_NAMES] =
        {.says = "its channels have names, which outputs do not keep; a pipeline without the axis c keeps "
                 "them in tif files"},
};

/* Names of channels stay where each channel becomes one of the output. */
static bool keeps_names(const Program *program)
{
    bool keeps = strchr(program->inputs[0].axes, 'c') == NULL;
    for (int i = 0; i < program->n_outputs; i++) {
        const char *format = program->outputs[i].format;
        keeps = keeps && (format == NULL || (strcmp(format, "png") != 0 && strcmp(format, "fits") != 0));
    }
    return keeps;
}

static void note_file(Notes *notes, const char *name, const ImageInfo *info, const Program *program)
{
    for (int i = 0; i < IMAGE_REMARKS; i++) {
        int64_t n = info->remarks[i];
        const char *says = REMARKS[i].says;
        char kind[300];
        if (i == REMARK_CHANNEL_NAMES && keeps_names(program)) {
            continue;
        }
        if (n > 0 && REMARKS[i].one == NULL) {
            notes_add(notes, says, name, "%s", says);
        } else if (n > 0) {
            snprintf(kind, sizeof kind, "%s not read; %s", REMARKS[i].several, says);
            notes_add(notes, kind, name, "%lld %s not read; %s", (long long)n,
                      n == 1 ? REMARKS[i].one : REMARKS[i].several, says);
        }
    }
}

/* ---- what the pipeline does with such an image ----------------------------------------------- */

/* What would make more planes of what is there. */
static void note_along(Notes *notes, const char *image, const ProgNote *note, const Options *options,
                       const ImageInfo *info)
{
    char text[300];
    if (options->stack) {
        return;
    }
    snprintf(text, sizeof text, "%s goes along z, where there is one plane; %s", note->name,
             info->t > 1 ? "with --time-as-z time points are planes"
                         : "with --stack the files of a folder are planes of one image");
    notes_add(notes, text, image, "%s", text);
}

static const char *const PIXELS[] = {"columns", "rows", "planes"}; /* along x, y and z */

static void note_place(Notes *notes, const char *image, const ProgNote *note, double at, double extent)
{
    static const char *const KIND[] = {"a column that is read by its number is outside of the image",
                                       "a row that is read by its number is outside of the image",
                                       "a plane that is read by its number is outside of the image"};
    notes_add(notes, KIND[note->axis], image, "%s[%c = %.15g] is outside of the image, whose %s are 0 .. %.15g",
              note->name, "xyz"[note->axis], at, PIXELS[note->axis], extent - 1);
}

/* Others give less than what was asked for. */
static void note_part(Notes *notes, const char *image, const ProgNote *note, double at, double extent)
{
    static const char *const KIND[] = {"a part of the image has columns outside of it, which repeat its nearest one",
                                       "a part of the image has rows outside of it, which repeat its nearest one",
                                       "a part of the image has planes outside of it, which repeat its nearest one"};
    notes_add(notes, KIND[note->axis], image,
              "%s goes to %c = %.15g, outside of the image, whose %s are 0 .. %.15g; the nearest one is repeated there",
              note->name, "xyz"[note->axis], at, PIXELS[note->axis], extent - 1);
}

static void note_extents(Notes *notes, const Program *program, const Options *options, const BatchItem *item,
                         const Reader *reader, const HostContext *context)
{
    for (int i = 0; i < program->n_notes; i++) {
        const ProgNote *note = &program->notes[i];
        Err err = {0};
        double at = nearbyint(host_eval(program, context, note->at, &err));
        double extent = host_eval(program, context, note->extent, &err);
        if (err.code != CODE_OK || (at >= 0 && at < extent) || isnan(at)) {
            continue; /* what cannot be computed makes the run fail, which says why */
        }
        if (note->kind == NOTE_ALONG) {
            note_along(notes, item->name, note, options, reader_info(reader, 0));
        } else if (note->kind == NOTE_PART) {
            note_part(notes, item->name, note, at, extent);
        } else {
            note_place(notes, item->name, note, at, extent);
        }
    }
}

static bool is_written_so(const Program *program, int input)
{
    bool is = false;
    for (int i = 0; i < program->n_outputs; i++) {
        const ProgOutput *output = &program->outputs[i];
        const ProgBuffer *buffer = output->kind == OUT_IMAGE ? &program->buffers[output->buffer] : NULL;
        is = is || (buffer != NULL && buffer->elem == ELEM_FILE && buffer->elem_of == input);
    }
    return is;
}

/* Pixels that f32 does not hold are read as f32, and written in the type that they had. */
static void note_rounded(Notes *notes, const Program *program, int input, const char *image, Elem elem)
{
    if ((elem == ELEM_U32 || elem == ELEM_I32 || elem == ELEM_F64) && is_written_so(program, input)) {
        char text[400];
        const char *type = elem_name(elem);
        snprintf(text, sizeof text,
                 "pixels of %s are read with the seven digits of f32 and written as %s; with "
                 "`input %s ... : %s` they keep all digits",
                 type, type, program->inputs[input].name, type);
        notes_add(notes, text, image, "%s", text);
    }
}

static bool is_of_square_pixels(const ProgStep *step)
{
    MeasureList *list = calloc(1, sizeof *list);
    Err err = {0};
    bool is = list != NULL && measure_parse(step->text, 2, list, &err) && (list->needs & MEASURE_PERIMETER);
    err_clear(&err);
    free(list);
    return is;
}

/* Perimeters are not measured with others, and columns stay empty. */
static void note_sides(Notes *notes, const Program *program, const char *image, const HostContext *context)
{
    for (int i = 0; i < program->n_steps; i++) {
        const ProgStep *step = &program->steps[i];
        if (step->kind != STEP_PRIMITIVE || strcmp(step->primitive, "measure") != 0 || !is_of_square_pixels(step)) {
            continue;
        }
        Err err = {0};
        double w = host_eval(program, context, step->exprs[0], &err),
               h = host_eval(program, context, step->exprs[1], &err);
        if (err.code == CODE_OK && w > 0 && h > 0 && !(fabs(w / h - 1) < 1e-6)) {
            notes_add(
                notes, "pixels are not square", image,
                "pixels are not square, so perimeter and circularity are empty; perimeter_crofton measures borders "
                "of any pixels");
        }
    }
}

void noteworthy(Notes *notes, const Program *program, const Options *options, const BatchItem *item,
                const Reader *reader)
{
    const ExecInput *inputs = reader_inputs(reader);
    HostInput *like = notes != NULL ? calloc((size_t)program->n_inputs + 1, sizeof *like) : NULL;
    if (like == NULL) {
        return;
    }
    HostContext context = {.params = options->params, .inputs = like};
    for (int i = 0; i < program->n_inputs; i++) {
        note_file(notes, i == 0 ? item->name : item->inputs[i], reader_info(reader, i), program);
        note_rounded(notes, program, i, i == 0 ? item->name : item->inputs[i], inputs[i].elem);
        memcpy(like[i].extent, inputs[i].extent, sizeof like[i].extent);
        like[i].elem = program->inputs[i].elem == ELEM_FILE ? inputs[i].elem : program->inputs[i].elem;
    }
    if (program->n_inputs > 0) {
        memcpy(context.pixel_um, inputs[0].pixel_um, sizeof context.pixel_um);
        note_extents(notes, program, options, item, reader, &context);
        note_sides(notes, program, item->name, &context);
    }
    host_forget(&context);
    free(like);
}
