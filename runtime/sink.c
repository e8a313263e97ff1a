/*
 * sink: one writer for each output.
 *
 * Labels get 16 bits when the largest of all frames fits, else 32.  With one frame that is known
 * before the first pixel is written; with several, the frames wait in a temporary file.
 */
#include "sink.h"

#include "../base/file.h"
#include "convert.h"
#include "csv.h"
#include "decimal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

typedef struct SinkOutput {
    ImageWriter *writer;
    CsvWriter *csv;
    char spool[PATH_BYTES]; /* of labels: name of the temporary file; "" none */
    int spool_fd;
    ExecGrid grid; /* of one frame */
    Elem elem;     /* of the results */
    double most;   /* labels: the largest so far */
} SinkOutput;

struct Sink {
    const Program *program;
    SinkSource source;
    SinkOutput *outputs;
    char **files;
    int n_files, cap_files;
    char *values;
    size_t values_size;
    FILE *values_to;
};

static bool no_memory(Err *err)
{
    return err_set(err, CODE_MEMORY, "out of host memory for the outputs");
}

static bool is_image(const ProgOutput *output)
{
    return output->kind != OUT_TABLE && output->kind != OUT_VALUE;
}

static bool remember_file(Sink *sink, const char *path, Err *err)
{
    if (sink->n_files == sink->cap_files) {
        int cap = sink->cap_files ? 2 * sink->cap_files : 8;
        char **moved = realloc(sink->files, (size_t)cap * sizeof *moved);
        if (moved == NULL) {
            return no_memory(err);
        }
        sink->files = moved;
        sink->cap_files = cap;
    }
    sink->files[sink->n_files] = strdup(path);
    return sink->files[sink->n_files++] != NULL || no_memory(err);
}

/* ---- images ---------------------------------------------------------------------------- */

/* A format without stacks: a file for each frame, "A01_overlay_07.png". */
static bool file_per_frame(const Sink *sink, int k)
{
    return strcmp(sink->program->outputs[k].format, "png") == 0 && sink->source.frames->n > 1;
}

static void frame_path(const Sink *sink, int k, int64_t frame, char *to, size_t size)
{
    const char *path = sink->source.item->outputs[k];
    const char *slash = strrchr(path, '/'), *point = strrchr(path, '.');
    size_t stem =
        point == NULL || (slash != NULL && point < slash) ? strlen(path) : (size_t)(point - path);
    int digits = snprintf(NULL, 0, "%lld", (long long)(sink->source.frames->n - 1));
    snprintf(to, size, "%.*s_%0*lld%s", (int)stem, path, digits, (long long)frame, path + stem);
}

static bool create(const Sink *sink, int k, const char *path, const ImageInfo *shape, Elem elem,
                   ImageWriter **out, Err *err)
{
    const ProgOutput *output = &sink->program->outputs[k];
    ImageMeta meta = {.like = sink->source.like,
                      .software = sink->source.software,
                      .parameters = sink->source.parameters,
                      .labels = output->kind == OUT_LABELS,
                      .max = output->kind == OUT_LABELS ? sink->outputs[k].most : 0};
    return image_create(path, output->format, shape, elem, &meta, out, err);
}

/* The frame's pixels, converted where the file has another type, at t, c and z of the file. */
static bool write_volume(ImageWriter *writer, const ExecGrid *g, Elem from, Elem to, int64_t t,
                         int64_t c, int64_t z, const char *pixels, Err *err)
{
    size_t width = (size_t)g->w, row = width * elem_size(from), bad;
    char *line = from == to ? NULL : malloc(width * elem_size(to) + 1);
    bool ok = from == to || line != NULL || no_memory(err);
    for (int p = 0; ok && p < g->planes; p++) {
        const char *plane = pixels + (size_t)p * row * (size_t)g->h;
        if (from == to) {
            ok = image_write(writer, t, c + p / g->d, z + p % g->d, 0, g->h, plane, row, err);
        }
        for (int y = 0; ok && from != to && y < g->h; y++) {
            convert_row(from, plane + (size_t)y * row, to, line, width, &bad);
            ok = image_write(writer, t, c + p / g->d, z + p % g->d, y, 1, line,
                             width * elem_size(to), err);
        }
    }
    free(line);
    return ok;
}

static bool write_at(const Sink *sink, int k, ImageWriter *writer, Elem to, int64_t frame,
                     const void *pixels, Err *err)
{
    const SinkOutput *out = &sink->outputs[k];
    int64_t t, c, z;
    frames_stack_at(sink->source.frames, &out->grid, frame, &t, &c, &z);
    return write_volume(writer, &out->grid, out->elem, to, t, c, z, pixels, err);
}

static bool begin_file(Sink *sink, int k, Elem elem, Err *err)
{
    SinkOutput *out = &sink->outputs[k];
    ImageInfo shape;
    frames_stack(sink->source.frames, &sink->program->outputs[k], &out->grid, sink->source.like,
                 elem, &shape);
    return create(sink, k, sink->source.item->outputs[k], &shape, elem, &out->writer, err);
}

/* ---- labels ---------------------------------------------------------------------------- */

static Elem label_elem(const SinkOutput *out)
{
    return out->most <= 65535 ? ELEM_U16 : ELEM_U32;
}

static double most_of(const Sink *sink, int k, const Results *results, double least)
{
    const ProgOutput *output = &sink->program->outputs[k];
    if (output->value >= 0) {
        return fmax(least, results->values[output->value]);
    }
    const ExecGrid *g = &results->grids[k];
    size_t n = (size_t)g->w * (size_t)g->h * (size_t)g->planes;
    return convert_max(results->elems[k], results->images[k], n, least);
}

static size_t volume_bytes(const SinkOutput *out)
{
    const ExecGrid *g = &out->grid;
    return (size_t)g->w * (size_t)g->h * (size_t)g->planes * elem_size(out->elem);
}

static bool spool_frame(Sink *sink, int k, const void *pixels, Err *err)
{
    SinkOutput *out = &sink->outputs[k];
    const char *path = sink->source.item->outputs[k];
    if (out->spool[0] == '\0') {
        TRY(file_temp(path, out->spool, sizeof out->spool, &out->spool_fd, err));
    }
    return file_put(out->spool_fd, pixels, volume_bytes(out)) ||
           file_err_set(err, CODE_OUTPUT, "write", path, errno);
}

static bool read_spool(const SinkOutput *out, int64_t frame, char *to, const char *path, Err *err)
{
    size_t size = volume_bytes(out), done = 0;
    while (done < size) {
        off_t at = (off_t)((size_t)frame * size + done);
        ssize_t n = pread(out->spool_fd, to + done, size - done, at);
        if (n <= 0 && !(n < 0 && errno == EINTR)) {
            return file_err_set(err, CODE_OUTPUT, "write", path, n < 0 ? errno : EIO);
        }
        done += n > 0 ? (size_t)n : 0;
    }
    return true;
}

static bool empty_spool(Sink *sink, int k, Err *err)
{
    SinkOutput *out = &sink->outputs[k];
    char *pixels = malloc(volume_bytes(out) + 1);
    Elem elem = label_elem(out);
    bool ok = pixels != NULL || no_memory(err);
    ok = ok && begin_file(sink, k, elem, err);
    for (int64_t frame = 0; ok && frame < sink->source.frames->n; frame++) {
        ok = read_spool(out, frame, pixels, sink->source.item->outputs[k], err) &&
             write_at(sink, k, out->writer, elem, frame, pixels, err);
    }
    free(pixels);
    return ok;
}

static bool write_frame_file(Sink *sink, int k, int64_t frame, const void *pixels, Err *err)
{
    const SinkOutput *out = &sink->outputs[k];
    char path[PATH_BYTES + 32];
    ImageInfo shape;
    ImageWriter *writer;
    Frames one = {.n = 1, .extent = {1, 1, 1}};
    Elem elem = sink->program->outputs[k].kind == OUT_LABELS ? label_elem(out) : out->elem;
    frame_path(sink, k, frame, path, sizeof path);
    frames_stack(&one, &sink->program->outputs[k], &out->grid, sink->source.like, elem, &shape);
    TRY(create(sink, k, path, &shape, elem, &writer, err));
    if (!write_volume(writer, &out->grid, out->elem, elem, 0, 0, 0, pixels, err)) {
        image_abort(writer);
        return false;
    }
    return image_commit(writer, err) && remember_file(sink, path, err);
}

/* ---- one output, one frame ------------------------------------------------------------- */

static bool put_image(Sink *sink, int k, int64_t frame, const Results *results, Err *err)
{
    SinkOutput *out = &sink->outputs[k];
    bool labels = sink->program->outputs[k].kind == OUT_LABELS;
    out->grid = results->grids[k];
    out->elem = results->elems[k];
    if (labels) {
        out->most = most_of(sink, k, results, out->most);
    }
    if (file_per_frame(sink, k)) {
        return write_frame_file(sink, k, frame, results->images[k], err);
    }
    if (labels && sink->source.frames->n > 1) {
        return spool_frame(sink, k, results->images[k], err);
    }
    Elem elem = labels ? label_elem(out) : out->elem;
    if (out->writer == NULL) {
        TRY(begin_file(sink, k, elem, err));
    }
    return write_at(sink, k, out->writer, elem, frame, results->images[k], err);
}

static bool put_table(Sink *sink, int k, int64_t frame, const Results *results, Err *err)
{
    const Frames *frames = sink->source.frames;
    SinkOutput *out = &sink->outputs[k];
    CsvColumn front[LOOPS];
    int64_t at[LOOPS];
    int n = 0;
    frames_at(frames, frame, at);
    for (int i = 0; i < LOOPS; i++) {
        if (frames->looped[i]) {
            front[n++] = (CsvColumn){.name = LOOP_NAMES[i], .number = (double)at[i]};
        }
    }
    if (out->csv == NULL) {
        TRY(csv_open(sink->source.item->outputs[k], &out->csv, err));
    }
    return csv_rows(out->csv, &results->tables[sink->program->outputs[k].table], front, n, err);
}

static void put_values(Sink *sink, int64_t frame, const Results *results)
{
    int64_t at[LOOPS];
    frames_at(sink->source.frames, frame, at);
    fprintf(sink->values_to, "%lld,%lld,%lld", (long long)at[0], (long long)at[1],
            (long long)at[2]);
    for (int k = 0; k < sink->program->n_outputs; k++) {
        const ProgOutput *output = &sink->program->outputs[k];
        if (output->kind == OUT_VALUE) {
            char text[DECIMAL_BYTES];
            double value = results->values[output->value];
            decimal_shortest(value, text);
            fprintf(sink->values_to, ",%s", isnan(value) ? "" : text);
        }
    }
    putc('\n', sink->values_to);
}

bool sink_frame(Sink *sink, int64_t frame, const Results *results, Err *err)
{
    for (int k = 0; k < sink->program->n_outputs; k++) {
        const ProgOutput *output = &sink->program->outputs[k];
        if (is_image(output)) {
            TRY(put_image(sink, k, frame, results, err));
        } else if (output->kind == OUT_TABLE) {
            TRY(put_table(sink, k, frame, results, err));
        }
    }
    put_values(sink, frame, results);
    return true;
}

/* ---- beginning and end ----------------------------------------------------------------- */

bool sink_new(const Program *program, const SinkSource *source, Sink **out, Err *err)
{
    Sink *sink = calloc(1, sizeof *sink);
    *out = NULL;
    if (sink == NULL) {
        return no_memory(err);
    }
    sink->program = program;
    sink->source = *source;
    sink->outputs = calloc((size_t)program->n_outputs + 1, sizeof *sink->outputs);
    sink->values_to = open_memstream(&sink->values, &sink->values_size);
    if (sink->outputs == NULL || sink->values_to == NULL) {
        sink_free(sink);
        return no_memory(err);
    }
    for (int i = 0; i < LOOPS; i++) {
        putc(source->frames->looped[i] ? '1' : '0', sink->values_to);
    }
    putc('\n', sink->values_to);
    *out = sink;
    return true;
}

static bool commit_output(Sink *sink, int k, Err *err)
{
    SinkOutput *out = &sink->outputs[k];
    bool ok = true;
    if (out->writer != NULL) {
        ImageWriter *writer = out->writer;
        out->writer = NULL;
        ok = image_commit(writer, err);
    } else if (out->csv != NULL) {
        CsvWriter *csv = out->csv;
        out->csv = NULL;
        ok = csv_commit(csv, err);
    } else {
        return true;
    }
    return ok && remember_file(sink, sink->source.item->outputs[k], err);
}

bool sink_commit(Sink *sink, Err *err)
{
    for (int k = 0; k < sink->program->n_outputs; k++) {
        if (sink->outputs[k].spool[0] != '\0') {
            TRY(empty_spool(sink, k, err));
        }
    }
    for (int k = 0; k < sink->program->n_outputs; k++) {
        TRY(commit_output(sink, k, err));
    }
    bool ok = fclose(sink->values_to) == 0;
    sink->values_to = NULL;
    return ok || no_memory(err);
}

void sink_free(Sink *sink)
{
    if (sink == NULL) {
        return;
    }
    for (int k = 0; sink->outputs != NULL && k < sink->program->n_outputs; k++) {
        image_abort(sink->outputs[k].writer);
        csv_abort(sink->outputs[k].csv);
        if (sink->outputs[k].spool[0] != '\0') {
            file_discard(sink->outputs[k].spool, sink->outputs[k].spool_fd);
        }
    }
    if (sink->values_to != NULL) {
        fclose(sink->values_to);
    }
    for (int i = 0; i < sink->n_files; i++) {
        free(sink->files[i]);
    }
    free(sink->files);
    free(sink->values);
    free(sink->outputs);
    free(sink);
}

const char *const *sink_files(const Sink *sink, int *n)
{
    *n = sink->n_files;
    return (const char *const *)sink->files;
}

const char *sink_values(const Sink *sink)
{
    return sink->values;
}
