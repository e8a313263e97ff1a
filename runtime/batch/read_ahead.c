/*
 * read_ahead: a window of decoded rows an input, filled by a thread with the help of a crew: where the file lets
 * several of them read at once, each reads a piece; else they decode what the thread asks for.
 *
 * Rows are counted through all planes.  A window holds rows [low, high) in a ring and slides on as
 * rows are asked for: half of the ring is for rows to come, half keeps rows that were asked for,
 * because parts overlap by their halo.  Asking for a row outside of it begins a new window there.
 * Where all rows have room they stay, and are read once.
 * Reading and copying are done without the lock: the thread writes only slots of rows below `want`
 * minus half a ring, which is where the user of the window is not.
 */
#include "read_ahead.h"

#include "../../base/pages.h"
#include "../host/stopwatch.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_BYTES = 4 << 20, CHUNK_ROWS = 64, SHARED_BYTES = 16 << 20 };

typedef struct Window {
    char *ring;              /* [slot][channel][x] */
    int64_t cap, chunk;      /* rows of the ring, and at most so many at once */
    int64_t height, total;   /* rows of a plane, and of all */
    int64_t first, channels; /* those that are kept */
    size_t line, bytes;      /* of one channel of a row, of all */
    int64_t low, high, want; /* want: the row that is needed next */
    int begun;               /* counts new beginnings; 0: nobody has asked */
    bool shared;             /* several threads may read its rows */
} Window;

struct ReadAhead {
    Reader *reader;
    int64_t frame;
    Window *windows;
    int n, turn;   /* turn: the window that is looked at first */
    char *chunk;   /* where rows of several channels are read before they go into a ring */
    Crew *readers; /* read files that several may read, and help to decode others; NULL: nobody does */
    Crew *copiers; /* of the user */
    Stopwatch *watch;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool started, stop;
    Err err; /* of the thread */
};

static int64_t min_i64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ---- the thread ------------------------------------------------------------------------ */

/* Rows that the window can take now, all of one plane and one piece of the ring; 0: none. */
static int64_t room(const Window *w)
{
    int64_t most = w->total - w->high;
    if (w->cap < w->total) {
        most = min_i64(most, w->want + w->cap / 2 - w->high);
    }
    most = min_i64(most, w->height - w->high % w->height);
    most = min_i64(most, w->cap - w->high % w->cap);
    return w->begun > 0 && most > 0 ? min_i64(most, w->chunk) : 0;
}

/* The next window with room; NULL when the thread is to end. */
static Window *next_window(ReadAhead *ahead)
{
    while (!ahead->stop) {
        for (int i = 0; i < ahead->n; i++) {
            Window *w = &ahead->windows[(ahead->turn + i) % ahead->n];
            if (room(w) > 0) {
                ahead->turn = (int)(w - ahead->windows + 1) % ahead->n;
                return w;
            }
        }
        pthread_cond_wait(&ahead->changed, &ahead->lock);
    }
    return NULL;
}

static char *slot(const Window *w, int64_t row)
{
    return w->ring + (size_t)(row % w->cap) * w->bytes;
}

/* From [channel][row][x], as files are read, to the ring. */
static void into_ring(const ReadAhead *ahead, Window *w, int64_t high, int64_t rows)
{
    for (int64_t c = 0; c < w->channels; c++) {
        for (int64_t y = 0; y < rows; y++) {
            memcpy(slot(w, high + y) + (size_t)c * w->line, ahead->chunk + (size_t)(c * rows + y) * w->line, w->line);
        }
    }
}

typedef struct Filling {
    ReadAhead *ahead;
    int input, pieces;
    int64_t z, row, rows;
    char *to;
    size_t line;
    Err *err; /* by piece */
} Filling;

static void fill_piece(void *context, int piece)
{
    const Filling *f = context;
    int64_t from = f->rows * piece / f->pieces, to = f->rows * (piece + 1) / f->pieces;
    (void)reader_rows(f->ahead->reader, f->ahead->frame, f->input, f->z, f->row + from, to - from,
                      f->to + (size_t)from * f->line, 0, &f->err[piece]);
}

enum { MOST_PIECES = 8 };

/* Rows of the only channel, by all that may read. */
static bool fill_shared(ReadAhead *ahead, const Window *w, int64_t high, int64_t rows, Err *err)
{
    Err errors[MOST_PIECES] = {{0}};
    int pieces = crew_pieces(ahead->readers, (size_t)rows * w->line);
    Filling f = {ahead,
                 (int)(w - ahead->windows),
                 pieces < MOST_PIECES ? pieces : MOST_PIECES,
                 high / w->height,
                 high % w->height,
                 rows,
                 slot(w, high),
                 w->line,
                 errors};
    crew_run(ahead->readers, fill_piece, &f, f.pieces);
    for (int i = 0; i < f.pieces; i++) {
        if (errors[i].code != CODE_OK) {
            *err = errors[i];
            return false;
        }
    }
    return true;
}

/* Takes one chunk of rows; called and left with the lock held. */
static bool fill(ReadAhead *ahead, Window *w, Err *err)
{
    int64_t rows = room(w), high = w->high, z = high / w->height, row = high % w->height;
    int begun = w->begun;
    w->low = high + rows - w->cap > w->low ? high + rows - w->cap : w->low;
    pthread_mutex_unlock(&ahead->lock);
    Phase before = stopwatch_begin(PHASE_DECODE);
    bool direct = w->channels == 1;
    bool ok = w->shared ? fill_shared(ahead, w, high, rows, err)
                        : reader_rows(ahead->reader, ahead->frame, (int)(w - ahead->windows), z, row, rows,
                                      direct ? slot(w, high) : ahead->chunk, (size_t)rows * w->line, err);
    if (ok && !direct) {
        into_ring(ahead, w, high, rows);
    }
    stopwatch_end(before);
    pthread_mutex_lock(&ahead->lock);
    w->high = ok && w->begun == begun ? high + rows : w->high;
    return ok;
}

static void *read_thread(void *context)
{
    ReadAhead *ahead = context;
    Err err = {0};
    bool ok = true;
    stopwatch_use(ahead->watch, "reading ahead");
    pthread_mutex_lock(&ahead->lock);
    for (Window *w; ok && (w = next_window(ahead)) != NULL;) {
        ok = fill(ahead, w, &err);
        pthread_cond_broadcast(&ahead->changed);
    }
    ahead->err = err;
    pthread_cond_broadcast(&ahead->changed);
    pthread_mutex_unlock(&ahead->lock);
    return NULL;
}

/* ---- the user --------------------------------------------------------------------------- */

/* Waits for row `at`; returns how many rows from there on are there, 0 after a failure. */
static int64_t wait_for(ReadAhead *ahead, Window *w, int64_t at, Err *err)
{
    pthread_mutex_lock(&ahead->lock);
    if (w->begun == 0 || at < w->low || at > w->high) {
        w->low = w->high = at;
        w->begun++;
    }
    w->want = at;
    pthread_cond_broadcast(&ahead->changed);
    while (w->high <= at && ahead->err.code == CODE_OK) {
        pthread_cond_wait(&ahead->changed, &ahead->lock);
    }
    int64_t rows = w->high - at;
    if (rows <= 0) {
        *err = ahead->err;
    }
    pthread_mutex_unlock(&ahead->lock);
    return rows > 0 ? rows : 0;
}

bool read_ahead_rows(ReadAhead *ahead, int input, int64_t c, int64_t z, int64_t row, int64_t rows, void *to,
                     size_t pitch, Err *err)
{
    Window *w = &ahead->windows[input];
    size_t skip = (size_t)(c - w->first) * w->line;
    int64_t at = z * w->height + row;
    for (int64_t done = 0; done < rows;) {
        int64_t n = min_i64(wait_for(ahead, w, at + done, err), rows - done);
        if (n == 0) {
            return false;
        }
        n = min_i64(n, w->cap - (at + done) % w->cap); /* up to the ring's end */
        crew_copy(ahead->copiers, (char *)to + (size_t)done * pitch, pitch, slot(w, at + done) + skip, w->bytes,
                  w->line, (size_t)n);
        done += n;
    }
    return true;
}

bool read_ahead_keeps(const ReadAhead *ahead, int input, int64_t *rows, size_t *bytes)
{
    const Window *w = &ahead->windows[input];
    *rows = w->total;
    *bytes = w->bytes;
    return w->cap == w->total;
}

void *read_ahead_kept(ReadAhead *ahead, int input, int64_t row, int64_t rows)
{
    Err failed = {0};
    Window *w = &ahead->windows[input];
    for (int64_t at = row, n; at < row + rows; at += n) {
        n = wait_for(ahead, w, at, &failed);
        if (n == 0) {
            return NULL;
        }
    }
    return slot(w, row);
}

/* ---- begin and end ---------------------------------------------------------------------- */

static bool window_init(Window *w, Reader *reader, int input, size_t bytes)
{
    const ExecInput *like = &reader_inputs(reader)[input];
    reader_channels(reader, input, &w->first, &w->channels);
    w->height = like->extent[1];
    w->total = w->height * like->extent[2];
    w->line = (size_t)like->extent[0] * elem_size(like->elem);
    w->bytes = w->line * (size_t)w->channels;
    w->shared = w->channels == 1 && reader_shares(reader, input);
    w->chunk = (int64_t)((w->shared ? SHARED_BYTES : CHUNK_BYTES) / w->bytes);
    w->chunk = w->shared ? w->chunk : min_i64(w->chunk, CHUNK_ROWS);
    w->chunk = w->chunk < 1 ? 1 : w->chunk;
    w->cap = (int64_t)(bytes / w->bytes);
    w->cap = w->cap < 4 * w->chunk ? 4 * w->chunk : w->cap;
    w->cap = min_i64(w->cap, w->total);
    w->ring = pages_alloc((size_t)w->cap * w->bytes);
    return w->ring != NULL;
}

bool read_ahead_start(const Program *program, Reader *reader, int64_t frame, size_t bytes, Crew *copiers,
                      ReadAhead **out, Err *err)
{
    ReadAhead *ahead = calloc(1, sizeof *ahead);
    size_t chunk = 1;
    *out = NULL;
    if (ahead == NULL) {
        return err_set(err, CODE_MEMORY, "out of host memory for rows");
    }
    *ahead = (ReadAhead){.reader = reader,
                         .frame = frame,
                         .n = program->n_inputs,
                         .copiers = copiers,
                         .watch = stopwatch_used()};
    pthread_mutex_init(&ahead->lock, NULL);
    pthread_cond_init(&ahead->changed, NULL);
    ahead->windows = calloc((size_t)ahead->n + 1, sizeof *ahead->windows);
    bool ok = ahead->windows != NULL;
    for (int i = 0; ok && i < ahead->n; i++) {
        Window *w = &ahead->windows[i];
        ok = window_init(w, reader, i, bytes / (size_t)ahead->n);
        bool direct = w->channels == 1;
        chunk = !direct && (size_t)w->chunk * w->bytes > chunk ? (size_t)w->chunk * w->bytes : chunk;
    }
    ahead->readers = crew_new(0);
    reader_use_crew(reader, ahead->readers);
    ahead->chunk = ok ? malloc(chunk) : NULL;
    ok = ahead->chunk != NULL;
    ahead->started = ok && pthread_create(&ahead->thread, NULL, read_thread, ahead) == 0;
    if (!ahead->started) {
        read_ahead_stop(ahead);
        return err_set(err, CODE_MEMORY, ok ? "cannot start a thread" : "out of host memory for rows");
    }
    *out = ahead;
    return true;
}

void read_ahead_stop(ReadAhead *ahead)
{
    if (ahead == NULL) {
        return;
    }
    if (ahead->started) {
        pthread_mutex_lock(&ahead->lock);
        ahead->stop = true;
        pthread_cond_broadcast(&ahead->changed);
        pthread_mutex_unlock(&ahead->lock);
        pthread_join(ahead->thread, NULL);
    }
    for (int i = 0; ahead->windows != NULL && i < ahead->n; i++) {
        free(ahead->windows[i].ring);
    }
    reader_use_crew(ahead->reader, NULL);
    crew_free(ahead->readers);
    free(ahead->windows);
    free(ahead->chunk);
    pthread_cond_destroy(&ahead->changed);
    pthread_mutex_destroy(&ahead->lock);
    free(ahead);
}
