/*
 * stream: one ExecStream between reader, executor and sink.  An image that fits into the device's
 * memory in one piece is uploaded and downloaded through the same two functions.
 */
#include "stream.h"

#include "../host/crew.h"
#include "read_ahead.h"
#include "../host/signals.h"
#include "../host/stopwatch.h"
#include "write_behind.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Pinning costs about as much as three readings; small images are not worth it. */
enum { PASSES = 4, LEAST_PINNED = 4 << 20 };

/* An input whose rows stay: read so often that it is worth pinning, from the row on where the last pass
 * began. */
typedef struct Lent {
    void *at;            /* NULL: not pinned */
    int passes;          /* so far; below 0: it cannot be pinned */
    int64_t first, last; /* rows through all planes: where the pass began, and where it is */
} Lent;

typedef struct Stream {
    const StreamSetup *setup;
    Results *results;
    Crew *crew;           /* NULL: this thread copies alone */
    Lent *lent;           /* by input */
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

static bool worth_pinning(const Lent *lent, const void *rows, size_t bytes)
{
    return lent->at == NULL && rows != NULL && bytes >= LEAST_PINNED && lent->passes >= PASSES;
}

/* The pages with all rows from lent->first on; rows before those on the first page do not count. */
static void pin_rows(Stream *s, Lent *lent, char *rows, size_t bytes, size_t row)
{
    Err refused = {0};
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t skip = (size_t)lent->first * row / page * page;
    if (worth_pinning(lent, rows, bytes - skip)) {
        bool pinned = dev_host_pin(s->setup->dev, rows + skip, bytes - skip, &refused);
        lent->at = pinned ? rows + skip : NULL;
        lent->passes = pinned ? lent->passes : INT_MIN;
    }
}

static void lend_rows(void *context, int input, int64_t c, int64_t z, int64_t row, const void **at,
                      size_t *pitch)
{
    Stream *s = context;
    Lent *lent = &s->lent[input];
    const int64_t *e = reader_inputs(s->setup->reader)[input].extent;
    int64_t first, channels, line = z * e[1] + row;
    size_t bytes;
    *at = NULL;
    if (s->ahead == NULL) {
        return;
    }
    reader_channels(s->setup->reader, input, &first, &channels);
    if (c == first && (lent->passes == 0 || line <= lent->last)) {
        lent->passes++;
        lent->first = lent->at == NULL ? line : lent->first;
    }
    lent->last = c == first ? line : lent->last;
    char *rows = read_ahead_all(s->ahead, input, &bytes);
    *pitch = bytes / (size_t)(e[1] * e[2]);
    pin_rows(s, lent, rows, bytes, *pitch);
    if (lent->at != NULL && line >= lent->first) {
        *at = rows + (size_t)line * *pitch + (size_t)(c - first) * (*pitch / (size_t)channels);
    }
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

/* ---- all of it ------------------------------------------------------------------------- */

static bool run_in_one_piece(const Stream *s, const ExecStream *stream, Err *err)
{
    Exec *exec = s->setup->exec;
    Phase before = stopwatch_begin(PHASE_UPLOAD);
    bool ok = exec_load(exec, stream, err);
    (void)stopwatch_begin(PHASE_COMPUTE);
    ok = ok && exec_run(exec, err);
    (void)stopwatch_begin(PHASE_DOWNLOAD);
    ok = ok && exec_save(exec, stream, err);
    stopwatch_end(before);
    return ok;
}

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
           write_behind_start(setup->sink, setup->frame, setup->behind, s->crew, &s->behind, err);
}

bool stream_run(const StreamSetup *setup, Results *results, Err *err)
{
    Stream s = {.setup = setup, .results = results, .crew = crew_new(0)};
    ExecStream stream = {
        .context = &s, .crew = s.crew, .lend = lend_rows, .read = read_rows, .write = write_rows};
    s.lent = calloc((size_t)setup->program->n_inputs + 1, sizeof *s.lent);
    bool ok = s.lent != NULL || err_set(err, CODE_MEMORY, "out of host memory for the inputs");
    ok = ok && begin(&s, err);
    if (ok) {
        ok = exec_in_parts(setup->exec) ? exec_run_parts(setup->exec, &stream, err)
                                        : run_in_one_piece(&s, &stream, err);
    }
    for (int i = 0; s.lent != NULL && i < setup->program->n_inputs; i++) {
        dev_host_free(setup->dev, s.lent[i].at);
    }
    free(s.lent);
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
