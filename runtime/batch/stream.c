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

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Pinning costs about as much as copying the rows once or twice; small images are not worth it. */
enum { TIMES = 4, LEAST_PINNED = 4 << 20, PIECE = 16 << 20 };

/* An input that is asked for so often that it is worth pinning: piece by piece, as soon as rows of one are asked for
 * and it has been read. */
typedef struct Lent {
    void **pieces; /* NULL: not pinned; where no input is worth it, there are none */
    int64_t n;     /* of them; below 0: it cannot be pinned */
    int64_t rows;  /* of a piece, through all planes: these begin with pages */
    int64_t total; /* rows of all */
    size_t pitch;
} Lent;

typedef struct Stream {
    const StreamSetup *setup;
    Results *results;
    Crew *crew;           /* NULL: this thread copies alone */
    Lent *lent;           /* by input */
    uint64_t pinnable;    /* bytes of inputs that may still be pinned */
    ReadAhead *ahead;     /* NULL: from volumes */
    WriteBehind *behind;  /* NULL: into results */
    double rows, written; /* of all images: in all, so far */
} Stream;

static bool goes_on(Err *err)
{
    return !signals_interrupted() || err_set(err, CODE_INTERRUPTED, "interrupted");
}

static bool read_rows(void *context, int input, int64_t c, int64_t z, int64_t row, int64_t rows, void *to, size_t pitch,
                      Err *err)
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
    const char *from = (const char *)v->pixels + (size_t)(((c - first) * e[2] + z) * e[1] + row) * line;
    crew_copy(s->crew, to, pitch, from, line, line, (size_t)rows);
    return true;
}

static int64_t common_divisor(int64_t a, int64_t b)
{
    return b == 0 ? a : common_divisor(b, a % b);
}

/* Cuts an input into pieces; false: it is not lent. */
static bool cut_pieces(const Stream *s, Lent *lent, int input)
{
    int64_t page = sysconf(_SC_PAGESIZE);
    bool kept = lent->n == 0 && read_ahead_keeps(s->ahead, input, &lent->total, &lent->pitch);
    int64_t pitch = (int64_t)lent->pitch;
    if (!kept || lent->total * pitch < LEAST_PINNED) {
        return lent->n > 0;
    }
    int64_t step = page / common_divisor(pitch, page);
    lent->rows = (PIECE / pitch + step) / step * step;
    lent->n = (lent->total + lent->rows - 1) / lent->rows;
    lent->pieces = calloc((size_t)lent->n, sizeof *lent->pieces);
    lent->n = lent->pieces != NULL ? lent->n : -1;
    return lent->pieces != NULL;
}

/* The piece's rows, read and pinned; NULL: there is no room for more, or they cannot be. */
static char *pin_piece(Stream *s, Lent *lent, int input, int64_t piece)
{
    Err refused = {0};
    int64_t first = piece * lent->rows, left = lent->total - first;
    int64_t rows = left < lent->rows ? left : lent->rows;
    uint64_t bytes = (uint64_t)rows * lent->pitch;
    if (lent->pieces[piece] == NULL && bytes <= s->pinnable) {
        void *at = read_ahead_kept(s->ahead, input, first, rows);
        bool pinned = at != NULL && dev_host_pin(s->setup->dev, at, (size_t)bytes, &refused);
        lent->pieces[piece] = pinned ? at : NULL;
        lent->n = pinned ? lent->n : -1;
        s->pinnable -= pinned ? bytes : 0;
    }
    return lent->pieces[piece];
}

static const void *lend_rows(void *context, int input, int times, int64_t c, int64_t z, int64_t row, int64_t *rows,
                             size_t *pitch)
{
    Stream *s = context;
    Lent *lent = &s->lent[input];
    const int64_t *e = reader_inputs(s->setup->reader)[input].extent;
    int64_t first, channels, line = z * e[1] + row;
    if (s->ahead == NULL || times < TIMES || !cut_pieces(s, lent, input)) {
        return NULL;
    }
    int64_t in_piece = line % lent->rows, left = lent->rows - in_piece;
    const char *piece = pin_piece(s, lent, input, line / lent->rows);
    reader_channels(s->setup->reader, input, &first, &channels);
    *rows = *rows < left ? *rows : left;
    *pitch = lent->pitch;
    return piece == NULL ? NULL : piece + (size_t)in_piece * *pitch + (size_t)(c - first) * (*pitch / (size_t)channels);
}

static bool write_rows(void *context, int output, double most, int64_t c, int64_t z, int64_t row, int64_t rows,
                       const void *from, size_t pitch, Err *err)
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

/* Rows that go to sinks can be given by several owners. */
static bool share(void *context, int output, double most, bool first, ExecShare *told, Err *err)
{
    const Stream *s = context;
    const Results *r = s->results;
    const SinkRows rows = {.output = output, .grid = r->grids[output], .elem = r->elems[output], .most = most};
    return s->behind == NULL || sink_share(s->setup->sink, &rows, first, told, err);
}

static void give_back(const Stream *s, Lent *lent)
{
    int64_t n = lent->pieces != NULL ? (lent->total + lent->rows - 1) / lent->rows : 0;
    for (int64_t i = 0; i < n; i++) {
        dev_host_free(s->setup->dev, lent->pieces[i]);
    }
    free(lent->pieces);
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
    ok = ok && results_finish(exec, s->results, err);
    ok = ok && (!s->setup->narrow || results_narrow(exec, s->results, err)) && exec_save(exec, stream, err);
    stopwatch_end(before);
    return ok;
}

static bool run_in_parts(Stream *s, const ExecStream *stream, Err *err)
{
    s->pinnable = exec_pinnable(s->setup->exec);
    return exec_run_parts(s->setup->exec, stream, err) && results_finish(s->setup->exec, s->results, err);
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
    return s->results->bytes > 0 || setup->sink == NULL ||
           write_behind_start(setup->sink, setup->frame, setup->behind, s->crew, &s->behind, err);
}

bool stream_run(const StreamSetup *setup, Results *results, Err *err)
{
    Stream s = {.setup = setup, .results = results, .crew = crew_new(0)};
    ExecStream stream =
        {.context = &s, .crew = s.crew, .lend = lend_rows, .read = read_rows, .write = write_rows, .share = share};
    s.lent = calloc((size_t)setup->program->n_inputs + 1, sizeof *s.lent);
    bool ok = s.lent != NULL || err_set(err, CODE_MEMORY, "out of host memory for the inputs");
    ok = ok && begin(&s, err);
    if (ok) {
        ok = exec_in_parts(setup->exec) ? run_in_parts(&s, &stream, err) : run_in_one_piece(&s, &stream, err);
    }
    for (int i = 0; s.lent != NULL && i < setup->program->n_inputs; i++) {
        give_back(&s, &s.lent[i]);
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
    return ok;
}
