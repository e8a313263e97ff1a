/*
 * stream: one ExecStream between reader, executor and sink.  An image that fits into the device's
 * memory in one piece is uploaded and downloaded through the same two functions.
 */
#include "stream.h"

#include "crew.h"
#include "read_ahead.h"
#include "signals.h"
#include "stopwatch.h"
#include "write_behind.h"

#include <math.h>
#include <string.h>

enum { PIECE_BYTES = 8 << 20 };

typedef struct Stream {
    const StreamSetup *setup;
    Results *results;
    Crew *crew;           /* NULL: this thread copies alone */
    ReadAhead *ahead;     /* NULL: from volumes */
    WriteBehind *behind;  /* NULL: into results */
    double rows, written; /* of all images: in all, so far */
} Stream;

static bool goes_on(Err *err)
{
    return !signals_interrupted() || err_set(err, CODE_INTERRUPTED, "interrupted");
}

static bool read_rows(void *context, int input, int64_t c, int64_t z, int64_t row, int64_t rows,
                      void *to, size_t pitch, Err *err)
{
    const Stream *s = context;
    TRY(goes_on(err));
    if (s->ahead != NULL) {
        Phase before = stopwatch_begin(PHASE_NONE); /* waiting is not work */
        bool ok = read_ahead_rows(s->ahead, input, c, z, row, rows, to, pitch, err);
        stopwatch_end(before);
        return ok;
    }
    const Volume *v = s->setup->volumes[input];
    const int64_t *e = v->like.extent;
    size_t line = (size_t)e[0] * elem_size(v->like.elem);
    int64_t first = v->channel >= 0 ? v->channel : 0;
    const char *from =
        (const char *)v->pixels + (size_t)(((c - first) * e[2] + z) * e[1] + row) * line;
    crew_copy(s->crew, to, pitch, from, line, line, (size_t)rows);
    return true;
}

static bool write_rows(void *context, int output, double most, int64_t c, int64_t z, int64_t row,
                       int64_t rows, const void *from, size_t pitch, Err *err)
{
    Stream *s = context;
    const Results *r = s->results;
    const ExecGrid *g = &r->grids[output];
    TRY(goes_on(err));
    size_t line = (size_t)g->w * elem_size(r->elems[output]);
    if (s->behind != NULL) {
        SinkRows to = {.output = output,
                       .grid = *g,
                       .elem = r->elems[output],
                       .most = most,
                       .c = c,
                       .z = z,
                       .row = row,
                       .rows = rows,
                       .pixels = from,
                       .pitch = pitch};
        Phase before = stopwatch_begin(PHASE_NONE);
        bool ok = write_behind_rows(s->behind, &to, err);
        stopwatch_end(before);
        TRY(ok);
    } else {
        char *to = (char *)r->images[output] + (size_t)((c * g->d + z) * g->h + row) * line;
        crew_copy(s->crew, to, line, from, pitch, line, (size_t)rows);
    }
    s->written += (double)rows;
    s->setup->progress(s->setup->context, s->written / s->rows);
    return true;
}

/* ---- in one piece ---------------------------------------------------------------------- */

/* Rows of `line` bytes that go into a piece. */
static int64_t piece_rows(size_t line, int64_t rows)
{
    int64_t most = line < PIECE_BYTES ? (int64_t)(PIECE_BYTES / line) : 1;
    return most < rows ? most : rows;
}

static bool upload_plane(Stream *s, int input, int64_t c, int64_t z, void *piece, Err *err)
{
    const ExecInput *like = &reader_inputs(s->setup->reader)[input];
    size_t line = (size_t)like->extent[0] * elem_size(like->elem);
    int64_t height = like->extent[1], step = piece_rows(line, height);
    for (int64_t row = 0; row < height; row += step) {
        int64_t rows = height - row < step ? height - row : step;
        TRY(read_rows(s, input, c, z, row, rows, piece, line, err));
        TRY(exec_upload(s->setup->exec, input, c, z, row, rows, piece, line, err));
    }
    return true;
}

static bool upload(Stream *s, int input, Err *err)
{
    const ExecInput *like = &reader_inputs(s->setup->reader)[input];
    size_t line = (size_t)like->extent[0] * elem_size(like->elem);
    void *piece;
    TRY(dev_host_alloc(s->setup->dev, (size_t)piece_rows(line, like->extent[1]) * line, &piece,
                       err));
    bool ok = true;
    Phase before = stopwatch_begin(PHASE_UPLOAD);
    for (int64_t c = 0; ok && c < like->extent[3]; c++) {
        for (int64_t z = 0; ok && exec_wants(s->setup->exec, input, c) && z < like->extent[2];
             z++) {
            ok = upload_plane(s, input, c, z, piece, err);
        }
    }
    stopwatch_end(before);
    dev_host_free(s->setup->dev, piece);
    return ok;
}

static bool download_plane(Stream *s, int output, double most, int64_t c, int64_t z, void *piece,
                           Err *err)
{
    const ExecGrid *g = &s->results->grids[output];
    size_t line = (size_t)g->w * elem_size(s->results->elems[output]);
    int64_t step = piece_rows(line, g->h);
    for (int64_t row = 0; row < g->h; row += step) {
        int64_t rows = g->h - row < step ? g->h - row : step;
        TRY(exec_download(s->setup->exec, output, c, z, row, rows, piece, line, err));
        TRY(write_rows(s, output, most, c, z, row, rows, piece, line, err));
    }
    return true;
}

static bool download(Stream *s, int output, Err *err)
{
    const ExecGrid *g = &s->results->grids[output];
    size_t line = (size_t)g->w * elem_size(s->results->elems[output]);
    const ProgOutput *of = &s->setup->program->outputs[output];
    const double *values;
    TRY(exec_values(s->setup->exec, &values, err));
    double most = of->kind == OUT_LABELS && of->value >= 0 ? values[of->value] : NAN;
    void *piece;
    TRY(dev_host_alloc(s->setup->dev, (size_t)piece_rows(line, g->h) * line, &piece, err));
    bool ok = true;
    Phase before = stopwatch_begin(PHASE_DOWNLOAD);
    for (int64_t p = 0; ok && p < g->planes; p++) {
        ok = download_plane(s, output, most, p / g->d, p % g->d, piece, err);
    }
    stopwatch_end(before);
    dev_host_free(s->setup->dev, piece);
    return ok;
}

static bool run_in_one_piece(Stream *s, Err *err)
{
    const Program *program = s->setup->program;
    for (int i = 0; i < program->n_inputs; i++) {
        TRY(upload(s, i, err));
    }
    TRY(exec_run(s->setup->exec, err));
    for (int i = 0; i < program->n_outputs; i++) {
        TRY(!results_is_image(&program->outputs[i]) || download(s, i, err));
    }
    return true;
}

/* ---- all of it ------------------------------------------------------------------------- */

static bool begin(Stream *s, Err *err)
{
    const StreamSetup *setup = s->setup;
    const Program *program = setup->program;
    for (int i = 0; i < program->n_outputs; i++) {
        s->rows += (double)s->results->grids[i].h * s->results->grids[i].planes;
    }
    if (program->n_inputs > 0 && setup->volumes[0] == NULL) {
        bool again = exec_in_parts(setup->exec) && reader_frame_bytes(setup->reader) <= setup->keep;
        size_t bytes = again && setup->keep > setup->bytes ? setup->keep : setup->bytes;
        TRY(read_ahead_start(program, setup->reader, setup->frame, bytes, s->crew, &s->ahead, err));
    }
    return s->results->bytes > 0 ||
           write_behind_start(setup->sink, setup->frame, setup->bytes, &s->behind, err);
}

bool stream_run(const StreamSetup *setup, Results *results, Err *err)
{
    Stream s = {.setup = setup, .results = results, .crew = crew_new()};
    ExecStream stream = {.context = &s, .crew = s.crew, .read = read_rows, .write = write_rows};
    bool ok = begin(&s, err);
    if (ok) {
        ok = exec_in_parts(setup->exec) ? exec_run_parts(setup->exec, &stream, err)
                                        : run_in_one_piece(&s, err);
    }
    read_ahead_stop(s.ahead);
    if (s.behind != NULL) {
        Err late = {0};
        bool written = write_behind_finish(s.behind, &late);
        if (ok && !written) {
            *err = late;
            ok = false;
        }
    }
    crew_free(s.crew);
    return ok && results_finish(setup->exec, results, err);
}
