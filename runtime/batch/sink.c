/*
 * sink: one writer for each output.
 *
 * Labels get 16 bits when the largest of all frames fits, else 32.  With one frame that is known
 * before the first pixel is written, unless its rows come while others are still computed; else
 * the rows wait in a temporary file.
 */
#include "sink.h"

#include "../../base/file.h"
#include "../host/convert.h"
#include "../host/crew.h"
#include "csv.h"
#include "table_zarr.h"
#include "targets.h"
#include "../host/decimal.h"
#include "../files/image_format.h"

#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    PATH_BYTES = 4096,
    PIECE_BYTES = 256 << 10, /* a strip of a TIFF: it is converted and packed while it is in the cache */
    PACKED_BYTES = 8 << 20,  /* strips for several threads */
    SPOOLED_BYTES = 2 << 20,
    LARGE = 32 << 20, /* bytes of pixels for which help is worth it: smaller images are written several at a time */
    LARGE_TABLE = 2 << 20, /* the same, of text */
    HELPERS = 2
};

typedef struct SinkOutput {
    ImageWriter *writer; /* of the file, or of a frame's file */
    CsvWriter *csv;
    ZarrTable *table;       /* of a table that is a folder of zarr */
    char spool[PATH_BYTES]; /* of labels: name of the temporary file; "" none */
    int spool_fd;
    bool spooled;      /* the frame under way is */
    ExecGrid grid;     /* of one frame */
    Elem elem;         /* of the results */
    Elem to;           /* of the file under way */
    double most;       /* labels: the largest so far */
    const char *whole; /* of whose file the writer makes a part, while it is opened; NULL: of none */
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
    Crew *crew;   /* helps with what is large; NULL: nobody, or nothing large has come */
    char *pieces; /* two, of what is converted, kept: fresh memory takes longer than converting into it */
    size_t piece_bytes;
};

static bool no_memory(Err *err)
{
    return err_set(err, CODE_MEMORY, "out of host memory for the outputs");
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
    size_t stem = point == NULL || (slash != NULL && point < slash) ? strlen(path) : (size_t)(point - path);
    int digits = snprintf(NULL, 0, "%lld", (long long)(sink->source.frames->n - 1));
    snprintf(to, size, "%.*s_%0*lld%s", (int)stem, path, digits, (long long)frame, path + stem);
}

/* What the pipeline says about an option; 0: nothing.  A folder of OME-Zarr in place of a TIFF file goes by the command
 * line. */
static int said(const Sink *sink, int k, StoredOption option)
{
    const ProgOutput *output = &sink->program->outputs[k];
    bool same = strcmp(targets_format(output, sink->source.item->outputs[k]), output->format) == 0;
    return same ? output->stored.of[option] : 0;
}

static bool is_compressed(const Sink *sink, int k)
{
    int by = said(sink, k, STORED_COMPRESS);
    if (by != 0) {
        return by == STORED_DEFLATE || by == STORED_ZSTD;
    }
    bool small = sink->program->outputs[k].kind != OUT_IMAGE; /* labels and masks are runs of one value */
    Compress which = sink->source.compress;
    return which == COMPRESS_ALL || which == COMPRESS_ZSTD || (which == COMPRESS_LABELS && small);
}

/* The input whose header and sizes a file has: of a FITS file the one that its pixels lie on. */
static const ImageInfo *like_of(const Sink *sink, int k, const char *path)
{
    const ProgOutput *output = &sink->program->outputs[k];
    const bool other = output->place.input > 0 && strcmp(targets_format(output, path), "fits") == 0;
    const ImageInfo *info =
        other && sink->source.reader != NULL ? reader_info(sink->source.reader, output->place.input) : NULL;
    return info != NULL && strcmp(info->style, "fits") == 0 ? info : sink->source.like;
}

static bool create(const Sink *sink, int k, const char *path, const ImageInfo *shape, Elem elem, ImageWriter **out,
                   Err *err)
{
    const ProgOutput *output = &sink->program->outputs[k];
    const ImageInfo *like = like_of(sink, k, path);
    int by = said(sink, k, STORED_COMPRESS), levels = said(sink, k, STORED_PYRAMID),
        version = said(sink, k, STORED_VERSION), shard = said(sink, k, STORED_SHARD);
    bool looped = sink->program->n_inputs > 0 && strchr(sink->program->inputs[0].axes, 'c') == NULL;
    ImageMeta meta = {.like = like,
                      .place = sink->outputs[k].grid.place,
                      .software = sink->source.software,
                      .parameters = sink->source.parameters,
                      .channels = like != NULL && looped && shape->c == like->c,
                      .labels = output->kind == OUT_LABELS,
                      .pyramid = levels != 0 ? levels == STORED_YES : sink->source.pyramid,
                      .compress = is_compressed(sink, k),
                      .zstd = by != 0 ? by == STORED_ZSTD : sink->source.compress == COMPRESS_ZSTD,
                      .plain = by != 0 ? by == STORED_NO : sink->source.compress == COMPRESS_NONE,
                      .flat = levels == STORED_NO,
                      .tile = said(sink, k, STORED_TILE),
                      .unsharded = shard == STORED_NO,
                      .zarr = version == STORED_ZARR_TWO                            ? OME_ZARR_0_4
                              : version == STORED_ZARR_THREE || shard == STORED_YES ? OME_ZARR_0_5
                                                                                    : sink->source.zarr,
                      .max = output->kind == OUT_LABELS ? sink->outputs[k].most : 0};
    const char *format = targets_format(output, path), *whole = sink->outputs[k].whole;
    return whole != NULL ? image_create_part(path, format, shape, elem, &meta, whole, out, err)
                         : image_create(path, format, shape, elem, &meta, out, err);
}

static bool begin_file(Sink *sink, int k, Elem elem, Err *err)
{
    SinkOutput *out = &sink->outputs[k];
    ImageInfo shape;
    frames_stack(sink->source.frames, &sink->program->outputs[k], &out->grid, sink->source.like, elem, &shape);
    return create(sink, k, sink->source.item->outputs[k], &shape, elem, &out->writer, err);
}

static bool begin_frame_file(Sink *sink, int k, int64_t frame, Elem elem, Err *err)
{
    static const Frames one = {.n = 1, .extent = {1, 1, 1}};
    SinkOutput *out = &sink->outputs[k];
    char path[PATH_BYTES + 32];
    ImageInfo shape;
    frame_path(sink, k, frame, path, sizeof path);
    frames_stack(&one, &sink->program->outputs[k], &out->grid, sink->source.like, elem, &shape);
    return create(sink, k, path, &shape, elem, &out->writer, err);
}

static bool end_frame_file(Sink *sink, int k, int64_t frame, Err *err)
{
    char path[PATH_BYTES + 32];
    ImageWriter *writer = sink->outputs[k].writer;
    sink->outputs[k].writer = NULL;
    frame_path(sink, k, frame, path, sizeof path);
    return image_commit(writer, err) && remember_file(sink, path, err);
}

/* The type that a file gets that is begun now. */
static Elem file_elem(const Sink *sink, int k)
{
    const SinkOutput *out = &sink->outputs[k];
    bool labels = sink->program->outputs[k].kind == OUT_LABELS;
    return !labels ? out->elem : out->most <= 65535 ? ELEM_U16 : ELEM_U32;
}

static bool open_writer(Sink *sink, int k, int64_t frame, Err *err)
{
    if (sink->outputs[k].writer != NULL) {
        return true;
    }
    Elem elem = file_elem(sink, k);
    sink->outputs[k].to = elem;
    return file_per_frame(sink, k) ? begin_frame_file(sink, k, frame, elem, err) : begin_file(sink, k, elem, err);
}

/* Rows of `line` bytes that make a piece of so many bytes. */
static int64_t piece_rows(size_t line, int64_t rows, size_t bytes)
{
    int64_t most = line < bytes ? (int64_t)(bytes / line) : 1;
    return most < rows ? most : rows;
}

/* Those who help with so many bytes, if they are at least `large`; NULL: nobody. */
static Crew *helpers(Sink *sink, size_t bytes, size_t large)
{
    if (sink->crew == NULL && bytes >= large) {
        sink->crew = crew_new(HELPERS);
    }
    return sink->crew;
}

typedef struct Looking {
    const SinkRows *rows;
    Elem elem;
    size_t width;
    int pieces;
    atomic_bool found;
} Looking;

static void look_for_nan(void *context, int piece)
{
    Looking *l = context;
    const SinkRows *r = l->rows;
    bool found = false;
    for (int64_t y = r->rows * piece / l->pieces; y < r->rows * (piece + 1) / l->pieces && !found; y++) {
        found = convert_has_nan(l->elem, (const char *)r->pixels + (size_t)y * r->pitch, l->width);
    }
    if (found) {
        atomic_store(&l->found, true);
    }
}

/* Devices differ in the bits of a NaN, which in files are the same. */
static bool have_nan(Sink *sink, const SinkRows *r, Elem elem, size_t width)
{
    Looking l = {.rows = r, .elem = elem, .width = width};
    if (elem_is_integer(elem)) {
        return false;
    }
    size_t bytes = (size_t)r->rows * width * elem_size(elem);
    Crew *crew = helpers(sink, bytes, LARGE);
    l.pieces = crew_pieces(crew, bytes);
    crew_run(crew, look_for_nan, &l, l.pieces);
    return atomic_load(&l.found);
}

/* Rows for a file of another type, or with NaN.  Every pixel fits: the type was chosen so.  While one piece of them
 * is written by whoever asks for it, another one is converted. */
typedef struct Converting {
    const SinkRows *rows;
    ImageWriter *writer;
    int64_t t, c, z;
    Elem from, to;
    size_t width, line;
    int64_t step;    /* rows of a piece */
    int64_t at;      /* the first row to be written; below 0: none */
    char *pieces[2]; /* written, converted */
    bool ok;
    Err *err;
} Converting;

static void write_piece(Converting *c)
{
    int64_t left = c->rows->rows - c->at, rows = left < c->step ? left : c->step;
    if (c->at >= 0) {
        c->ok = image_write(c->writer, c->t, c->c, c->z, c->rows->row + c->at, rows, c->pieces[0], c->line, c->err);
    }
}

/* One helper's share. */
static void convert_piece(const Converting *c, int helper)
{
    int64_t from = c->at < 0 ? 0 : c->at + c->step, rows = c->rows->rows - from;
    rows = rows < c->step ? rows : c->step;
    for (int64_t y = rows * helper / HELPERS; y < rows * (helper + 1) / HELPERS; y++) {
        size_t bad;
        convert_row(c->from, (const char *)c->rows->pixels + (size_t)(from + y) * c->rows->pitch, c->to,
                    c->pieces[1] + (size_t)y * c->line, c->width, &bad);
    }
}

/* Piece 0 is the caller's, whose time it is that the profile shows. */
static void write_and_convert(void *context, int piece)
{
    if (piece == 0) {
        write_piece(context);
    } else {
        convert_piece(context, piece - 1);
    }
}

static bool room_for_pieces(Sink *sink, size_t bytes, Err *err)
{
    if (bytes > sink->piece_bytes) {
        free(sink->pieces);
        sink->pieces = malloc(2 * bytes);
        sink->piece_bytes = sink->pieces != NULL ? bytes : 0;
    }
    return sink->piece_bytes >= bytes || no_memory(err);
}

static bool write_converted(Sink *sink, Converting *c)
{
    size_t bytes = (size_t)c->step * c->line;
    TRY(room_for_pieces(sink, bytes, c->err));
    Crew *crew = helpers(sink, (size_t)c->rows->rows * c->line, LARGE);
    c->pieces[0] = sink->pieces;
    c->pieces[1] = sink->pieces + bytes;
    c->ok = true;
    for (c->at = -c->step; c->ok && c->at < c->rows->rows; c->at += c->step) {
        crew_run(crew, write_and_convert, c, 1 + HELPERS);
        char *converted = c->pieces[1];
        c->pieces[1] = c->pieces[0];
        c->pieces[0] = converted;
    }
    return c->ok;
}

static bool write_rows(Sink *sink, int64_t frame, const SinkRows *r, Err *err)
{
    const SinkOutput *out = &sink->outputs[r->output];
    size_t width = (size_t)out->grid.w;
    TRY(open_writer(sink, r->output, frame, err));
    Converting c = {.rows = r,
                    .writer = out->writer,
                    .from = out->elem,
                    .to = out->to,
                    .width = width,
                    .line = width * elem_size(out->to),
                    .err = err};
    if (!file_per_frame(sink, r->output)) {
        frames_stack_at(sink->source.frames, &out->grid, frame, &c.t, &c.c, &c.z);
    }
    c.c += r->c;
    c.z += r->z;
    if (c.from == c.to && !have_nan(sink, r, c.from, width)) {
        return image_write(out->writer, c.t, c.c, c.z, r->row, r->rows, r->pixels, r->pitch, err);
    }
    bool together = is_compressed(sink, r->output) && (size_t)r->rows * c.line >= LARGE;
    c.step = piece_rows(c.line, r->rows, together ? PACKED_BYTES : PIECE_BYTES);
    return write_converted(sink, &c);
}

/* ---- labels ---------------------------------------------------------------------------- */

/* Where a row of a frame lies in the temporary file; files of frames need it once each. */
static uint64_t spool_at(const Sink *sink, int k, int64_t frame, int64_t plane, int64_t row)
{
    const ExecGrid *g = &sink->outputs[k].grid;
    int64_t before = file_per_frame(sink, k) ? 0 : frame * g->planes;
    return (uint64_t)((before + plane) * g->h + row) * (uint64_t)g->w * elem_size(sink->outputs[k].elem);
}

static bool spool_rows(Sink *sink, int64_t frame, const SinkRows *r, Err *err)
{
    SinkOutput *out = &sink->outputs[r->output];
    const char *path = sink->source.item->outputs[r->output];
    size_t line = (size_t)out->grid.w * elem_size(out->elem);
    int64_t plane = r->c * out->grid.d + r->z, step = r->pitch == line ? r->rows : 1;
    if (out->spool[0] == '\0') { /* the output may be a folder */
        char name[PATH_BYTES + 8];
        snprintf(name, sizeof name, "%s.rows", path);
        TRY(file_temp(name, out->spool, sizeof out->spool, &out->spool_fd, err));
    }
    for (int64_t y = 0; y < r->rows; y += step) {
        if (!image_pwrite(out->spool_fd, (const char *)r->pixels + (size_t)y * r->pitch, (size_t)step * line,
                          spool_at(sink, r->output, frame, plane, r->row + y))) {
            return file_err_set(err, CODE_OUTPUT, "write", path, errno);
        }
    }
    return true;
}

/* The rows of one frame, from the temporary file to the file; `piece` holds `most` of them. */
static bool unspool_frame(Sink *sink, int k, int64_t frame, char *piece, int64_t most, Err *err)
{
    SinkOutput *out = &sink->outputs[k];
    const ExecGrid *g = &out->grid;
    size_t line = (size_t)g->w * elem_size(out->elem), got;
    SinkRows r = {.output = k, .pixels = piece, .pitch = line};
    for (int plane = 0; plane < g->planes; plane++) {
        r.c = plane / g->d;
        r.z = plane % g->d;
        for (r.row = 0; r.row < g->h; r.row += r.rows) {
            r.rows = g->h - r.row < most ? g->h - r.row : most;
            if (!image_pread(out->spool_fd, piece, (size_t)r.rows * line, spool_at(sink, k, frame, plane, r.row),
                             &got)) {
                return file_err_set(err, CODE_OUTPUT, "write", sink->source.item->outputs[k], errno != 0 ? errno : EIO);
            }
            TRY(write_rows(sink, frame, &r, err));
        }
    }
    return true;
}

static bool unspool(Sink *sink, int k, int64_t first, int64_t n, Err *err)
{
    const SinkOutput *out = &sink->outputs[k];
    size_t line = (size_t)out->grid.w * elem_size(out->elem);
    int64_t most = piece_rows(line, out->grid.h, SPOOLED_BYTES);
    char *piece = malloc((size_t)most * line);
    bool ok = piece != NULL || no_memory(err);
    for (int64_t frame = first; ok && frame < first + n; frame++) {
        ok = unspool_frame(sink, k, frame, piece, most, err);
    }
    free(piece);
    return ok;
}

/* Takes the largest label of rows or of a frame over: from `most`, or else from the pixels. */
static void raise_most(SinkOutput *out, double most, const SinkRows *r)
{
    for (int64_t y = 0; isnan(most) && y < r->rows; y++) {
        out->most = convert_max(r->elem, (const char *)r->pixels + (size_t)y * r->pitch, (size_t)r->grid.w, out->most);
    }
    out->most = fmax(out->most, most);
}

/* ---- one output, one frame ------------------------------------------------------------- */

/* The label image that a table is of, if it is written: what the step that measures reads, or the only one. */
static const char *region_of(const Program *p, const ProgOutput *table)
{
    const ProgStep *step = &p->steps[p->tables[table->table].step];
    const char *only = NULL, *read = NULL;
    int n = 0;
    for (int i = 0; i < p->n_outputs; i++) {
        const ProgOutput *output = &p->outputs[i];
        for (int k = 0; output->kind == OUT_LABELS && k < step->n_inputs; k++) {
            read = step->inputs[k] == output->buffer ? output->name : read;
        }
        only = output->kind == OUT_LABELS ? output->name : only;
        n += output->kind == OUT_LABELS;
    }
    return read != NULL ? read : n == 1 ? only : NULL;
}

static bool open_zarr_table(Sink *sink, int k, Err *err)
{
    const ProgOutput *output = &sink->program->outputs[k];
    int version = output->stored.of[STORED_VERSION];
    ZarrVersion own = version == 0 ? sink->source.zarr : version == STORED_ZARR_THREE ? OME_ZARR_0_5 : OME_ZARR_0_4;
    return zarr_table_open(sink->source.item->outputs[k], own, region_of(sink->program, output),
                           &sink->outputs[k].table, err);
}

static bool put_table(Sink *sink, int k, int64_t frame, const PrimTable *table, Err *err)
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
    if (results_is_zarr_table(&sink->program->outputs[k])) {
        return (out->table != NULL || open_zarr_table(sink, k, err)) &&
               zarr_table_rows(out->table, table, front, n, err);
    }
    if (out->csv == NULL) {
        TRY(csv_open(sink->source.item->outputs[k], &out->csv, err));
    }
    Crew *crew = helpers(sink, (size_t)table->rows * (size_t)table->columns * DECIMAL_BYTES, LARGE_TABLE);
    return csv_rows(out->csv, table, front, n, crew, err);
}

/* An image along one axis as a table: the place of each pixel and its value. */
static bool put_series(Sink *sink, int64_t frame, const SinkRows *r, Err *err)
{
    const ProgOutput *output = &sink->program->outputs[r->output];
    size_t n = (size_t)r->grid.w, bad;
    char names[2][64];
    bool integer[2] = {true, elem_is_integer(r->elem)};
    double *at = malloc(2 * n * sizeof *at);
    if (at == NULL) {
        return no_memory(err);
    }
    snprintf(names[0], sizeof names[0], "%s", output->axes);
    snprintf(names[1], sizeof names[1], "%s", output->name);
    for (size_t i = 0; i < n; i++) {
        at[i] = (double)i;
    }
    convert_row(r->elem, r->pixels, ELEM_F64, (char *)(at + n), n, &bad);
    const PrimTable table = {.rows = (int64_t)n, .columns = 2, .names = names, .integer = integer, .at = at};
    bool ok = put_table(sink, r->output, frame, &table, err);
    free(at);
    return ok;
}

static bool put_rows(Sink *sink, int64_t frame, const SinkRows *r, Err *err)
{
    if (sink->program->outputs[r->output].kind == OUT_SERIES) {
        return put_series(sink, frame, r, err);
    }
    SinkOutput *out = &sink->outputs[r->output];
    out->grid = r->grid;
    out->elem = r->elem;
    return (out->spooled ? spool_rows : write_rows)(sink, frame, r, err);
}

bool sink_rows(Sink *sink, int64_t frame, const SinkRows *r, Err *err)
{
    SinkOutput *out = &sink->outputs[r->output];
    const ProgOutput *output = &sink->program->outputs[r->output];
    if (output->kind == OUT_LABELS) {
        bool counted = output->value >= 0; /* sink_frame has the number then */
        raise_most(out, counted && isnan(r->most) ? 0 : r->most, r);
        bool stack = sink->source.frames->n > 1 && !file_per_frame(sink, r->output);
        out->spooled = out->spooled || stack || (isnan(r->most) && out->writer == NULL);
    }
    return put_rows(sink, frame, r, err);
}

/* What is left to do about an image whose rows have come. */
static bool end_image(Sink *sink, int k, int64_t frame, const Results *results, Err *err)
{
    const ProgOutput *output = &sink->program->outputs[k];
    SinkOutput *out = &sink->outputs[k];
    bool own_file = file_per_frame(sink, k), spooled = out->spooled;
    if (output->kind == OUT_LABELS && output->value >= 0) {
        out->most = fmax(out->most, results->values[k]);
    }
    if (!own_file) {
        return true;
    }
    out->spooled = false;
    return (!spooled || unspool(sink, k, frame, 1, err)) && end_frame_file(sink, k, frame, err);
}

/* Whole numbers of a file of one frame as they are, without a copy; *all: the format has taken them. */
static bool put_all(Sink *sink, int k, int64_t frame, const Results *results, bool *all, Err *err)
{
    const ProgOutput *output = &sink->program->outputs[k];
    SinkOutput *out = &sink->outputs[k];
    bool one = sink->source.frames->n == 1 || file_per_frame(sink, k);
    *all = false;
    if (!one || output->kind == OUT_LABELS || output->kind == OUT_SERIES || !elem_is_integer(results->elems[k])) {
        return true;
    }
    out->grid = results->grids[k];
    out->elem = results->elems[k];
    TRY(open_writer(sink, k, frame, err));
    *all = image_write_all(out->writer, results->images[k], err);
    return *all || err->code == CODE_OK;
}

static bool put_image(Sink *sink, int k, int64_t frame, const Results *results, Err *err)
{
    const ProgOutput *output = &sink->program->outputs[k];
    const ExecGrid *g = &results->grids[k];
    size_t line = (size_t)g->w * elem_size(results->elems[k]), plane = line * (size_t)g->h;
    SinkRows r = {.output = k,
                  .grid = *g,
                  .elem = results->elems[k],
                  .rows = (int64_t)g->h * g->planes,
                  .pixels = results->images[k],
                  .pitch = line};
    if (output->kind == OUT_LABELS) {
        raise_most(&sink->outputs[k], results->values[k], &r);
        r.most = sink->outputs[k].most;
    }
    bool all;
    TRY(put_all(sink, k, frame, results, &all, err));
    r.rows = g->h;
    for (int p = 0; p < g->planes && !all; p++) {
        r.c = p / g->d;
        r.z = p % g->d;
        r.pixels = (const char *)results->images[k] + (size_t)p * plane;
        TRY(sink_rows(sink, frame, &r, err));
    }
    return true;
}

static void put_values(Sink *sink, int64_t frame, const Results *results)
{
    int64_t at[LOOPS];
    frames_at(sink->source.frames, frame, at);
    fprintf(sink->values_to, "%lld,%lld,%lld", (long long)at[0], (long long)at[1], (long long)at[2]);
    for (int k = 0; k < sink->program->n_outputs; k++) {
        const ProgOutput *output = &sink->program->outputs[k];
        if (output->kind == OUT_VALUE) {
            char text[DECIMAL_BYTES];
            double value = results->values[k];
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
        if (results_is_image(output)) {
            TRY(results->images[k] == NULL || put_image(sink, k, frame, results, err));
            TRY(end_image(sink, k, frame, results, err));
        } else if (output->kind == OUT_TABLE) {
            TRY(put_table(sink, k, frame, &results->tables[output->table], err));
        }
    }
    put_values(sink, frame, results);
    return true;
}

/* ---- several sinks ---------------------------------------------------------------------- */

/* A file of one frame, whose type is known. */
static bool may_share(const Sink *sink, const SinkRows *r)
{
    const ProgOutput *output = &sink->program->outputs[r->output];
    bool known = output->kind != OUT_LABELS || !isnan(r->most);
    return known && output->kind != OUT_SERIES && sink->source.frames->n == 1 &&
           sink->outputs[r->output].writer == NULL;
}

bool sink_share(Sink *sink, const SinkRows *r, bool first, ExecShare *share, Err *err)
{
    SinkOutput *out = &sink->outputs[r->output];
    if (first ? !may_share(sink, r) : share->grain == 0) {
        share->grain = 0;
        return true;
    }
    out->grid = r->grid;
    out->elem = r->elem;
    out->whole = first ? NULL : share->name;
    out->most = sink->program->outputs[r->output].kind == OUT_LABELS ? r->most : out->most;
    bool ok = open_writer(sink, r->output, 0, err);
    out->whole = NULL;
    if (ok && first) {
        share->grain = image_grain(out->writer);
        snprintf(share->name, sizeof share->name, "%s", image_temporary(out->writer));
    }
    return ok;
}

/* By output: its number, how much is told of it, and that, up to a multiple of 8 bytes. */
typedef struct Told {
    int64_t output;
    uint64_t bytes;
} Told;

static size_t padded(size_t bytes)
{
    return (bytes + 7) / 8 * 8;
}

static bool tell(const Sink *sink, int k, FILE *to, Err *err)
{
    void *told = NULL;
    size_t bytes = 0;
    bool ok = image_end_part(sink->outputs[k].writer, &told, &bytes, err);
    const Told head = {k, bytes};
    static const char ZEROS[8];
    const size_t rest = padded(bytes) - bytes;
    ok = ok && ((fwrite(&head, sizeof head, 1, to) == 1 && fwrite(told, 1, bytes, to) == bytes &&
                 fwrite(ZEROS, 1, rest, to) == rest) ||
                no_memory(err));
    free(told);
    return ok;
}

bool sink_end_part(Sink *sink, void **told, size_t *bytes, Err *err)
{
    char *text = NULL;
    FILE *to = open_memstream(&text, bytes);
    bool ok = to != NULL || no_memory(err);
    for (int k = 0; ok && k < sink->program->n_outputs; k++) {
        ok = sink->outputs[k].writer == NULL || tell(sink, k, to, err);
    }
    ok = (to == NULL || fclose(to) == 0 || no_memory(err)) && ok;
    *told = text;
    return ok;
}

bool sink_join(Sink *sink, const void *told, size_t bytes, Err *err)
{
    const char *at = told, *end = at + bytes;
    while (at < end) {
        Told head;
        memcpy(&head, at, sizeof head);
        at += sizeof head;
        TRY(image_join(sink->outputs[head.output].writer, at, (size_t)head.bytes, err));
        at += padded((size_t)head.bytes);
    }
    return true;
}

/* ---- beginning and end ----------------------------------------------------------------- */

/* A name that is none is a failure of this image, not of all. */
static bool check_names(const Program *program, const BatchItem *item, Err *err)
{
    for (int k = 0; k < program->n_outputs; k++) {
        const char *name = item->outputs[k];
        TRY(name == NULL || image_check_target(name, targets_format(&program->outputs[k], name), CODE_FILES, err));
    }
    return true;
}

bool sink_new(const Program *program, const SinkSource *source, Sink **out, Err *err)
{
    *out = NULL;
    TRY(check_names(program, source->item, err));
    Sink *sink = calloc(1, sizeof *sink);
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
    } else if (out->table != NULL) {
        ZarrTable *table = out->table;
        out->table = NULL;
        ok = zarr_table_commit(table, err);
    } else {
        return true;
    }
    return ok && remember_file(sink, sink->source.item->outputs[k], err);
}

bool sink_commit(Sink *sink, Err *err)
{
    for (int k = 0; k < sink->program->n_outputs; k++) {
        if (sink->outputs[k].spooled) {
            TRY(unspool(sink, k, 0, sink->source.frames->n, err));
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
        zarr_table_abort(sink->outputs[k].table);
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
    crew_free(sink->crew);
    free(sink->pieces);
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
