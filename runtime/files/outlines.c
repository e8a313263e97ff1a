/*
 * outlines: each ring is walked once, with the object to its right, from the upper side of its first pixel that has one.
 *
 * Where two pixels of an object meet at a corner alone, the walk turns towards its own pixel.  A corner that it comes to a second time ends
 * a ring within the ring, which is a hole: so no ring has a corner twice.
 */
#include "outlines.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

typedef enum Heading { RIGHT, DOWN, LEFT, UP } Heading;

typedef struct Walk {
    const uint32_t *labels;
    int32_t width, height;
    uint32_t *part;        /* by pixel: another pixel of its part, or itself */
    unsigned char *walked; /* by pixel: its upper side is a part of a ring */
    int32_t *met;          /* by corner: its place in the ring that is being walked, from 1; 0: none */
    OutlinePoint *ring;
    size_t n, cap;
    Outlines *out;
} Walk;

static bool no_memory(Err *err)
{
    return err_set(err, CODE_MEMORY, "out of memory for the outlines of objects");
}

static size_t pixel(const Walk *w, int32_t x, int32_t y)
{
    return (size_t)y * (size_t)w->width + (size_t)x;
}

static size_t corner(const Walk *w, OutlinePoint at)
{
    return (size_t)at.y * ((size_t)w->width + 1) + (size_t)at.x;
}

static bool is(const Walk *w, int32_t x, int32_t y, uint32_t label)
{
    return x >= 0 && y >= 0 && x < w->width && y < w->height && w->labels[pixel(w, x, y)] == label;
}

/* ---- parts ------------------------------------------------------------------------------- */

static uint32_t first_of(uint32_t *part, uint32_t at)
{
    while (part[at] != at) {
        part[at] = part[part[at]];
        at = part[at];
    }
    return at;
}

/* The smaller pixel comes first, so that a part is named by its first one. */
static void join(uint32_t *part, uint32_t a, uint32_t b)
{
    a = first_of(part, a);
    b = first_of(part, b);
    part[a > b ? a : b] = a > b ? b : a;
}

static void find_parts(Walk *w)
{
    for (int32_t y = 0; y < w->height; y++) {
        for (int32_t x = 0; x < w->width; x++) {
            uint32_t at = (uint32_t)pixel(w, x, y), label = w->labels[at];
            w->part[at] = at;
            if (label != 0 && is(w, x - 1, y, label)) {
                join(w->part, at, at - 1);
            }
            if (label != 0 && is(w, x, y - 1, label)) {
                join(w->part, at, at - (uint32_t)w->width);
            }
        }
    }
}

/* ---- rings ------------------------------------------------------------------------------- */

/* Room for `more` elements behind n. */
static bool make_room(void **at, size_t n, size_t more, size_t *cap, size_t size, Err *err)
{
    if (n + more <= *cap) {
        return true;
    }
    size_t want = 2 * (n + more) + 64;
    void *moved = realloc(*at, want * size);
    if (moved == NULL) {
        return no_memory(err);
    }
    *at = moved;
    *cap = want;
    return true;
}

/* Twice the area, above 0 where the object lies inside. */
static int64_t twice_area(const OutlinePoint *p, size_t n)
{
    int64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        const OutlinePoint *q = &p[(i + 1) % n];
        sum += (int64_t)p[i].x * q->y - (int64_t)q->x * p[i].y;
    }
    return sum;
}

/* Takes the walk's last points, from `from` on, as a ring. */
static bool close_ring(Walk *w, size_t from, uint32_t label, uint32_t part, Err *err)
{
    Outlines *out = w->out;
    size_t n = w->n - from;
    TRY(make_room((void **)&out->points, out->n_points, n, &out->cap_points, sizeof *out->points, err));
    TRY(make_room((void **)&out->rings, out->n_rings, 1, &out->cap_rings, sizeof *out->rings, err));
    memcpy(out->points + out->n_points, w->ring + from, n * sizeof *w->ring);
    for (size_t i = from; i < w->n; i++) {
        w->met[corner(w, w->ring[i])] = 0;
    }
    out->rings[out->n_rings++] = (OutlineRing){label, part, twice_area(w->ring + from, n) < 0, out->n_points, n};
    out->n_points += n;
    w->n = from;
    return true;
}

static bool add_corner(Walk *w, OutlinePoint at, uint32_t label, uint32_t part, Err *err)
{
    const int32_t before = w->met[corner(w, at)];
    if (before > 0) {
        TRY(close_ring(w, (size_t)before - 1, label, part, err));
    }
    TRY(make_room((void **)&w->ring, w->n, 1, &w->cap, sizeof *w->ring, err));
    w->ring[w->n++] = at;
    w->met[corner(w, at)] = (int32_t)w->n;
    return true;
}

/* Where the walk turns to at a corner: the object stays to its right. */
static Heading turned(const Walk *w, OutlinePoint at, Heading to, uint32_t label)
{
    static const struct {
        int x, y;
    } AHEAD_RIGHT[] = {{0, 0}, {-1, 0}, {-1, -1}, {0, -1}}, AHEAD_LEFT[] = {{0, -1}, {0, 0}, {-1, 0}, {-1, -1}};
    if (!is(w, at.x + AHEAD_RIGHT[to].x, at.y + AHEAD_RIGHT[to].y, label)) {
        return (to + 1) % 4;
    }
    return is(w, at.x + AHEAD_LEFT[to].x, at.y + AHEAD_LEFT[to].y, label) ? (to + 3) % 4 : to;
}

static bool walk_ring(Walk *w, int32_t x, int32_t y, Err *err)
{
    static const OutlinePoint STEP[] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
    const uint32_t label = w->labels[pixel(w, x, y)], part = first_of(w->part, (uint32_t)pixel(w, x, y));
    OutlinePoint at = {x, y};
    Heading to = RIGHT;
    w->n = 0;
    TRY(add_corner(w, at, label, part, err));
    for (;;) {
        if (to == RIGHT) {
            w->walked[pixel(w, at.x, at.y)] = 1;
        }
        at = (OutlinePoint){at.x + STEP[to].x, at.y + STEP[to].y};
        Heading next = turned(w, at, to, label);
        if (at.x == x && at.y == y && next == RIGHT) {
            return close_ring(w, 0, label, part, err);
        }
        if (next != to) {
            TRY(add_corner(w, at, label, part, err));
        }
        to = next;
    }
}

static int by_place(const void *a, const void *b)
{
    const OutlineRing *p = a, *q = b;
    if (p->label != q->label) {
        return p->label < q->label ? -1 : 1;
    }
    if (p->part != q->part) {
        return p->part < q->part ? -1 : 1;
    }
    return p->hole != q->hole ? p->hole - q->hole : p->first < q->first ? -1 : 1;
}

static bool walk_all(Walk *w, Err *err)
{
    find_parts(w);
    for (int32_t y = 0; y < w->height; y++) {
        for (int32_t x = 0; x < w->width; x++) {
            size_t at = pixel(w, x, y);
            if (w->labels[at] != 0 && w->walked[at] == 0 && !is(w, x, y - 1, w->labels[at])) {
                TRY(walk_ring(w, x, y, err));
            }
        }
    }
    if (w->out->n_rings > 0) {
        qsort(w->out->rings, w->out->n_rings, sizeof *w->out->rings, by_place);
    }
    return true;
}

bool outlines_of(const uint32_t *labels, int32_t width, int32_t height, Outlines *out, Err *err)
{
    const size_t n = (size_t)width * (size_t)height, corners = ((size_t)width + 1) * ((size_t)height + 1);
    assert(n <= OUTLINES_MOST_PIXELS);
    *out = (Outlines){.points = NULL};
    Walk w = {.labels = labels, .width = width, .height = height, .out = out};
    w.part = calloc(n, sizeof *w.part);
    w.walked = calloc(n, 1);
    w.met = calloc(corners, sizeof *w.met);
    bool fine = w.part != NULL && w.walked != NULL && w.met != NULL ? walk_all(&w, err) : no_memory(err);
    free(w.part);
    free(w.walked);
    free(w.met);
    free(w.ring);
    return fine;
}

void outlines_free(Outlines *out)
{
    free(out->points);
    free(out->rings);
    *out = (Outlines){.points = NULL};
}
