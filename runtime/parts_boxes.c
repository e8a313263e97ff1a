/*
 * parts_boxes: rows are read whole, as files have them, and go to the device without the columns
 * that the box leaves out.
 */
#include "parts_boxes.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK = 4 << 20, PITCH = 16 };

static const ExecGrid *grid_of(const ExecPlan *plan, int buffer)
{
    return &plan->grids[plan->program->buffers[buffer].grid];
}

int parts_box_pitch(int cols)
{
    return (cols + PITCH - 1) / PITCH * PITCH;
}

ExecPlace parts_box_place(const ExecPlan *plan, const PartsWindow *w, const PartsBox *box)
{
    const ExecGrid *g = grid_of(plan, w->buffer);
    const int extent[3] = {g->w, g->h, g->d};
    ExecPlace place = {.rows = w->most[1],
                       .planes = w->most[2],
                       .pitch = parts_box_pitch(w->most[0]),
                       .row0 = (int64_t)box->from[2] * w->most[1] + box->from[1],
                       .col0 = box->from[0]};
    for (int ax = 0; ax < 3; ax++) {
        bool round = (int64_t)box->from[ax] + box->n[ax] > extent[ax];
        place.seam[ax] = round ? box->from[ax] : 0;
    }
    return place;
}

/* Rows on the host, as many as fit into a chunk. */
static char *new_chunk(const PartsPixels *p, int buffer, int64_t *rows, Err *err)
{
    size_t row = parts_row_bytes(p->exec, buffer);
    *rows = row < CHUNK ? (int64_t)(CHUNK / row) : 1;
    char *chunk = malloc((size_t)*rows * row);
    if (!chunk) {
        err_set(err, CODE_MEMORY, "out of host memory for rows of an image");
    }
    return chunk;
}

typedef struct Loading {
    PartsPixels *pixels;
    const PartsWindow *window;
    const PartsBox *box;
    DevMem *mem;
    char *chunk;
    int64_t rows; /* of the chunk */
} Loading;

/* Rows [from, from + n) of a plane, which become rows `to` and following of the window. */
static bool load_rows(const Loading *l, int64_t plane, int64_t from, int64_t n, int64_t to, Err *err)
{
    const Exec *exec = l->pixels->exec;
    int buffer = l->window->buffer;
    size_t size = elem_size(exec->plan->buffers[buffer].elem);
    size_t row = parts_row_bytes(exec, buffer), skip = (size_t)l->box->from[0] * size;
    size_t pitch = (size_t)parts_box_pitch(l->window->most[0]) * size;
    for (int64_t done = 0; done < n; done += l->rows) {
        PartsSpan span = {plane, from + done, n - done < l->rows ? n - done : l->rows};
        TRY(!exec_stopped(exec, err) && parts_read(l->pixels, buffer, span, l->chunk, err) &&
            dev_write_rows(exec->dev, l->mem, (size_t)(to + done) * pitch, pitch, l->chunk + skip,
                           row, (size_t)l->box->n[0] * size, (size_t)span.rows, err));
    }
    return true;
}

/* Rows of one plane, which may go on with the plane's first ones. */
static bool load_plane(const Loading *l, int64_t plane, int64_t to, Err *err)
{
    int64_t h = grid_of(l->pixels->exec->plan, l->window->buffer)->h;
    int64_t from = l->box->from[1], n = l->box->n[1], before = from + n > h ? h - from : n;
    return load_rows(l, plane, from, before, to, err) &&
           load_rows(l, plane, 0, n - before, to + before, err);
}

bool parts_load_box(PartsPixels *p, const PartsWindow *w, DevMem *mem, const PartsBox *box,
                    Err *err)
{
    const ExecGrid *g = grid_of(p->exec->plan, w->buffer);
    Loading l = {.pixels = p, .window = w, .box = box, .mem = mem};
    l.chunk = new_chunk(p, w->buffer, &l.rows, err);
    bool ok = l.chunk != NULL;
    for (int64_t c = 0; ok && c < g->c; c++) {
        for (int64_t k = 0; ok && k < box->n[2]; k++) {
            int64_t z = (box->from[2] + k) % g->d;
            ok = load_plane(&l, c * g->d + z, (c * w->most[2] + k) * w->most[1], err);
        }
    }
    free(l.chunk);
    return ok;
}

/* ---- tiles ------------------------------------------------------------------------------- */

typedef struct Saving {
    PartsPixels *pixels;
    int buffer;
    const PartsBox *tile;
    size_t pitch; /* bytes */
    DevMem *mem;
    char *chunk;
    int64_t rows; /* of the chunk */
} Saving;

/* The tile's rows of a plane; `from`: the first one's number in the window. */
static bool save_rows(const Saving *s, int64_t plane, int64_t from, Err *err)
{
    const Exec *exec = s->pixels->exec;
    const PartsBox *tile = s->tile;
    size_t bytes = (size_t)tile->n[0] * elem_size(exec->plan->buffers[s->buffer].elem);
    for (int64_t done = 0; done < tile->n[1]; done += s->rows) {
        int64_t rows = tile->n[1] - done < s->rows ? tile->n[1] - done : s->rows;
        TRY(!exec_stopped(exec, err) &&
            dev_read_rows(exec->dev, s->mem, (size_t)(from + done) * s->pitch, s->pitch, s->chunk,
                          bytes, bytes, (size_t)rows, err));
        for (int64_t y = 0; y < rows; y++) {
            TRY(parts_write_columns(s->pixels, s->buffer, plane, tile->from[1] + done + y,
                                    tile->from[0], tile->n[0], s->chunk + (size_t)y * bytes, err));
        }
    }
    return true;
}

bool parts_save_tile(PartsPixels *p, const PartsWindow *w, int cols, DevMem *mem, PartsBox tile,
                     Err *err)
{
    const ExecGrid *g = grid_of(p->exec->plan, w->buffer);
    size_t size = elem_size(p->exec->plan->buffers[w->buffer].elem);
    int64_t h = g->has_z ? g->h : w->rows, d = g->has_z ? w->rows : g->d;
    Saving s = {.pixels = p,
                .buffer = w->buffer,
                .tile = &tile,
                .pitch = (size_t)parts_box_pitch(cols) * size,
                .mem = mem};
    s.chunk = new_chunk(p, w->buffer, &s.rows, err);
    bool ok = s.chunk != NULL;
    for (int64_t c = 0; ok && c < g->c; c++) {
        for (int64_t k = 0; ok && k < tile.n[2]; k++) {
            ok = save_rows(&s, c * g->d + tile.from[2] + k, (c * d + k) * h, err);
        }
    }
    free(s.chunk);
    return ok;
}
