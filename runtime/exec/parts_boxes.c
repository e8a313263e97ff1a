/*
 * parts_boxes: rows are read whole, as files have them, and go to the device without the columns
 * that the box leaves out.
 */
#include "parts_boxes.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK = 4 << 20 };

bool parts_place_box(Segment *seg, int i, PartsBox *box, ExecPlace *place)
{
    const PartsWindow *w = &seg->plan->windows[i];
    const ExecGrid *g = parts_grid_of(seg->run, w->buffer);
    const PartsPart part = {seg->at, seg->rows, seg->col, seg->cols, seg->round};
    const int extent[3] = {g->w, g->h, g->d};
    TRY(parts_box(seg->run->plan, seg->plan, i, part, box, seg->run->err));
    *place = (ExecPlace){.rows = w->most[1],
                         .planes = w->most[2],
                         .pitch = parts_box_pitch(w->most[0]),
                         .row0 = (int64_t)box->from[2] * w->most[1] + box->from[1],
                         .col0 = box->from[0],
                         .first = box->from[g->has_z ? 2 : 1]};
    place->end = place->first + box->n[g->has_z ? 2 : 1];
    for (int ax = 0; ax < 3; ax++) {
        bool round = (int64_t)box->from[ax] + box->n[ax] > extent[ax];
        place->seam[ax] = round ? box->from[ax] : 0;
    }
    return true;
}

/* ---- up ---------------------------------------------------------------------------------- */

typedef struct Loading {
    Run *run;
    const PartsWindow *window;
    const PartsBox *box;
    DevMem *mem;
    char *whole; /* rows with all columns, where the box has fewer; as many as a block has */
} Loading;

/* Rows with the columns of the box, close together. */
static bool read_columns(const Loading *l, int64_t line, int64_t lines, char *to)
{
    int buffer = l->window->buffer;
    size_t size = elem_size(l->run->plan->buffers[buffer].elem);
    size_t row = parts_row_bytes(l->run->exec, buffer), bytes = (size_t)l->box->n[0] * size;
    if (!l->whole) {
        return parts_read_lines(l->run, buffer, line, lines, to);
    }
    TRY(parts_read_lines(l->run, buffer, line, lines, l->whole));
    for (int64_t y = 0; y < lines; y++) {
        memcpy(to + (size_t)y * bytes, l->whole + (size_t)y * row + (size_t)l->box->from[0] * size, bytes);
    }
    return true;
}

/* `lines` rows of one plane, which become row `there` and following of the window. */
static bool load_lines(const Loading *l, int64_t line, int64_t lines, int64_t there)
{
    Run *run = l->run;
    Staging *staging = run->exec->staging;
    size_t size = elem_size(run->plan->buffers[l->window->buffer].elem);
    StagingRows to = {.mem = l->mem,
                      .pitch = (size_t)parts_box_pitch(l->window->most[0]) * size,
                      .line = (size_t)l->box->n[0] * size};
    int64_t block = (int64_t)staging_rows(parts_row_bytes(run->exec, l->window->buffer));
    for (int64_t done = 0; done < lines; done += block) {
        char *rows;
        to.rows = (size_t)(lines - done < block ? lines - done : block);
        to.offset = (size_t)(there + done) * to.pitch;
        TRY(staging_room(staging, to.line * to.rows, &rows, run->err) &&
            read_columns(l, line + done, (int64_t)to.rows, rows) && staging_send(staging, &to, run->err));
    }
    return true;
}

/* Rows of one plane, which may go on with the plane's first ones. */
static bool load_plane(const Loading *l, int64_t plane, int64_t there)
{
    int64_t h = parts_grid_of(l->run, l->window->buffer)->h;
    int64_t from = l->box->from[1], n = l->box->n[1], before = from + n > h ? h - from : n;
    return load_lines(l, plane * h + from, before, there) && load_lines(l, plane * h, n - before, there + before);
}

static bool load_planes(const Loading *l)
{
    const PartsWindow *w = l->window;
    const ExecGrid *g = parts_grid_of(l->run, w->buffer);
    for (int64_t c = 0; c < g->c; c++) {
        for (int64_t k = 0; k < l->box->n[2]; k++) {
            int64_t z = (l->box->from[2] + k) % g->d;
            TRY(load_plane(l, c * g->d + z, (c * w->most[2] + k) * w->most[1]));
        }
    }
    return true;
}

bool parts_load_box(Segment *seg, int i)
{
    Run *run = seg->run;
    const PartsWindow *w = &seg->plan->windows[i];
    int slot = seg->places[1][i] ? seg->slot : 0;
    PartsBox box, *have = &seg->boxes[slot][i];
    ExecPlace place;
    TRY(parts_place_box(seg, i, &box, &place));
    if (memcmp(&box, have, sizeof box) == 0) {
        return true;
    }
    *have = box;
    Loading l = {.run = run, .window = w, .box = &box, .mem = seg->places[slot][i]};
    size_t row = parts_row_bytes(run->exec, w->buffer);
    if (box.n[0] < parts_grid_of(run, w->buffer)->w) {
        l.whole = malloc(staging_rows(row) * row);
    }
    bool ok = (l.whole || box.n[0] == parts_grid_of(run, w->buffer)->w ||
               err_set(run->err, CODE_MEMORY, "out of host memory for rows of an image")) &&
              load_planes(&l);
    free(l.whole);
    return ok;
}

/* ---- tiles ------------------------------------------------------------------------------- */

typedef struct Tile {
    Run *run;
    int buffer;
    PartsBox box;
    size_t pitch, bytes; /* of a row on the device; of its columns */
    DevMem *mem;
    char *chunk;
    int64_t rows; /* of the chunk */
} Tile;

/* The tile's rows of a plane; `from`: the first one's number in the window. */
static bool save_lines(const Tile *t, int64_t plane, int64_t from)
{
    Run *run = t->run;
    for (int64_t done = 0; done < t->box.n[1]; done += t->rows) {
        int64_t rows = t->box.n[1] - done < t->rows ? t->box.n[1] - done : t->rows;
        TRY(!exec_stopped(run->exec, run->err) &&
            dev_read_rows(run->exec->dev, t->mem, (size_t)(from + done) * t->pitch, t->pitch, t->chunk, t->bytes,
                          t->bytes, (size_t)rows, run->err));
        for (int64_t y = 0; y < rows; y++) {
            TRY(parts_write_columns(&run->pixels, t->buffer, plane, t->box.from[1] + done + y, t->box.from[0],
                                    t->box.n[0], t->chunk + (size_t)y * t->bytes, run->err));
        }
    }
    return true;
}

/* The pixels of the tile in an image of the segment's grid. */
static PartsBox box_of(const Segment *seg, const ExecGrid *g)
{
    PartsBox tile = {{seg->col, seg->at, 0}, {seg->cols, seg->rows, g->d}};
    if (seg->plan->planes) {
        tile = (PartsBox){{seg->col, 0, seg->at}, {seg->cols, g->h, seg->rows}};
    }
    return tile;
}

bool parts_save_tile(Segment *seg, int i)
{
    const PartsWindow *w = &seg->plan->windows[i];
    const ExecGrid *g = parts_grid_of(seg->run, w->buffer);
    size_t size = elem_size(seg->run->plan->buffers[w->buffer].elem);
    const ExecPlace *place = &seg->run->exec->place[w->buffer];
    Tile t = {.run = seg->run,
              .buffer = w->buffer,
              .box = box_of(seg, g),
              .pitch = (size_t)parts_box_pitch(seg->plan->cols) * size,
              .bytes = (size_t)seg->cols * size,
              .mem = seg->mem[i]};
    t.rows = t.bytes < CHUNK ? (int64_t)(CHUNK / t.bytes) : 1;
    t.chunk = malloc((size_t)t.rows * t.bytes);
    bool ok = t.chunk != NULL || err_set(seg->run->err, CODE_MEMORY, "out of host memory for rows of an image");
    for (int64_t c = 0; ok && c < g->c; c++) {
        for (int64_t k = 0; ok && k < t.box.n[2]; k++) {
            ok = save_lines(&t, c * g->d + t.box.from[2] + k, (c * place->planes + k) * place->rows);
        }
    }
    free(t.chunk);
    return ok;
}
