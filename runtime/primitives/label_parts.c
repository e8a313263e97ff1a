/*
 * label_parts: provisional ids over the seams between parts, by union-find on the host.
 *
 * Provisional ids count the objects of all parts, in the order of the parts.  In a channel they so
 * follow raster order, and the smaller root always wins: the root of an object is its part with the
 * first pixel, and numbering roots channel by channel numbers objects as in one piece.  A
 * provisional id costs 4 bytes.  Of each channel the last row (in 3-D the last plane) is kept until
 * the next part.
 */
#include "label_parts.h"

#include "../host/convert.h"
#include "prim_host.h"
#include "prim_lanes.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

extern const char kernel_text_label_map[];

/* A row, or a plane, at the end of a part. */
typedef struct Edge {
    uint32_t *ids; /* provisional, from 1; 0: background */
    void *values;  /* as the device has them; NULL: only ids matter */
} Edge;

typedef struct Piece {
    int channel;
    uint32_t begin, n; /* its provisional ids, less 1 */
} Piece;

typedef struct LabelParts {
    uint32_t *parent; /* by id less 1; after the first pass, the final numbers */
    size_t n, room;
    Piece *pieces;
    int n_pieces, room_pieces, at; /* at: the next one in the second pass */
    Edge *last, first;             /* last: of each channel */
    int channels;
} LabelParts;

static void free_edge(Edge *edge)
{
    free(edge->ids);
    free(edge->values);
}

void label_parts_forget(void *state)
{
    LabelParts *p = state;
    if (p != NULL) {
        for (int c = 0; p->last != NULL && c < p->channels; c++) {
            free_edge(&p->last[c]);
        }
        free_edge(&p->first);
        free(p->last);
        free(p->parent);
        free(p->pieces);
        free(p);
    }
}

/* ---- the ends of parts ----------------------------------------------------------------------- */

/* Rows of an edge. */
static size_t edge_rows(const PrimCall *call)
{
    return call->part.d > 1 ? (size_t)call->h : 1;
}

static bool open_edge(const PrimCall *call, const PrimImage *values, Edge *edge)
{
    size_t pixels = (size_t)call->w * edge_rows(call);
    edge->ids = malloc(pixels * sizeof *edge->ids);
    edge->values = values != NULL ? malloc(pixels * elem_size(values->elem)) : NULL;
    return (edge->ids != NULL && (values == NULL || edge->values != NULL)) || host_no_memory(call);
}

static bool begin_parts(PrimCall *call, const PrimImage *values)
{
    LabelParts *p = *call->state = calloc(1, sizeof *p);
    if (p == NULL) {
        return host_no_memory(call);
    }
    p->channels = call->part.channels;
    p->last = calloc((size_t)p->channels, sizeof *p->last);
    if (p->last == NULL) {
        return host_no_memory(call);
    }
    for (int c = 0; c < p->channels; c++) {
        TRY(open_edge(call, values, &p->last[c]));
    }
    return open_edge(call, values, &p->first);
}

static bool read_rows(const PrimCall *call, const PrimImage *image, size_t row, void *to)
{
    size_t size = elem_size(image->elem), bytes = (size_t)call->w * size;
    size_t pitch = (size_t)image->pitch * size;
    row += prim_first_row(call, image);
    return dev_read_rows(call->dev, image->mem, row * pitch, pitch, to, bytes, bytes,
                         edge_rows(call), call->err);
}

/* Reads rows from `row` on; `begin`: provisional ids before those of the part. */
static bool read_edge(const PrimCall *call, const PrimImage *values, size_t row, uint32_t begin,
                      Edge *edge)
{
    size_t pixels = (size_t)call->w * edge_rows(call);
    TRY(read_rows(call, &call->out[0], row, edge->ids));
    for (size_t i = 0; i < pixels; i++) {
        edge->ids[i] += edge->ids[i] != 0 ? begin : 0;
    }
    return values == NULL || read_rows(call, values, row, edge->values);
}

/* ---- union ----------------------------------------------------------------------------------- */

static uint32_t find(uint32_t *parent, uint32_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

static void unite(uint32_t *parent, uint32_t a, uint32_t b)
{
    a = find(parent, a);
    b = find(parent, b);
    if (a != b) {
        parent[a > b ? a : b] = a > b ? b : a;
    }
}

static bool touch(const PrimImage *values, const Edge *a, size_t at_a, const Edge *b, size_t at_b)
{
    return a->ids[at_a] != 0 && b->ids[at_b] != 0 &&
           (values == NULL || convert_get(values->elem, a->values, at_a) ==
                                  convert_get(values->elem, b->values, at_b));
}

/* Unites the objects at pixel (x, y) of an edge with those behind it in the edge before. */
static void unite_pixel(const PrimCall *call, const PrimImage *values, const Edge *before, int x,
                        int y)
{
    LabelParts *p = *call->state;
    int w = call->w, h = (int)edge_rows(call), reach = (int)call->arg[0] - 1;
    size_t at = (size_t)y * (size_t)w + (size_t)x;
    for (int dy = -1; dy <= 1; dy++) {
        for (int dx = -1; dx <= 1; dx++) {
            bool inside = x + dx >= 0 && x + dx < w && y + dy >= 0 && y + dy < h;
            size_t there = (size_t)(y + dy) * (size_t)w + (size_t)(x + dx);
            if (inside && dx * dx + dy * dy <= reach &&
                touch(values, &p->first, at, before, there)) {
                unite(p->parent, p->first.ids[at] - 1, before->ids[there] - 1);
            }
        }
    }
}

static void unite_seam(const PrimCall *call, const PrimImage *values, const Edge *before)
{
    LabelParts *p = *call->state;
    for (int y = 0; y < (int)edge_rows(call); y++) {
        for (int x = 0; x < call->w; x++) {
            if (p->first.ids[(size_t)y * (size_t)call->w + (size_t)x] != 0) {
                unite_pixel(call, values, before, x, y);
            }
        }
    }
}

/* ---- the first pass -------------------------------------------------------------------------- */

/* Room for `more` provisional ids and a piece. */
static bool grow(const PrimCall *call, LabelParts *p, size_t more)
{
    if (p->n + more > p->room) {
        size_t room = 2 * p->room > p->n + more ? 2 * p->room : p->n + more;
        uint32_t *parent = realloc(p->parent, room * sizeof *parent);
        if (parent == NULL) {
            return host_no_memory(call);
        }
        p->parent = parent;
        p->room = room;
    }
    if (p->n_pieces == p->room_pieces) {
        int room = 2 * p->room_pieces + 16;
        Piece *pieces = realloc(p->pieces, (size_t)room * sizeof *pieces);
        if (pieces == NULL) {
            return host_no_memory(call);
        }
        p->pieces = pieces;
        p->room_pieces = room;
    }
    return true;
}

/* New provisional ids for the objects of a part. */
static bool add_piece(const PrimCall *call)
{
    LabelParts *p = *call->state;
    double count = 0;
    TRY(dev_read(call->dev, call->values, (size_t)call->value * sizeof count, &count, sizeof count,
                 call->err));
    size_t more = (size_t)count;
    if (p->n + more > UINT32_MAX) {
        return err_set(call->err, CODE_MEMORY,
                       "%s: the parts of the image have more than %u objects together", call->name,
                       UINT32_MAX);
    }
    TRY(grow(call, p, more));
    p->pieces[p->n_pieces++] = (Piece){call->part.c, (uint32_t)p->n, (uint32_t)more};
    for (size_t end = p->n + more; p->n < end; p->n++) {
        p->parent[p->n] = (uint32_t)p->n;
    }
    return true;
}

/* From parents to final numbers, in place: parents come before their children.  Returns how many
 * objects there are. */
static uint32_t number_objects(LabelParts *p)
{
    uint32_t count = 0;
    for (int c = 0; c < p->channels; c++) {
        for (int k = 0; k < p->n_pieces; k++) {
            const Piece *piece = &p->pieces[k];
            uint32_t n = piece->channel == c ? piece->n : 0;
            for (uint32_t i = piece->begin; i < piece->begin + n; i++) {
                p->parent[i] = p->parent[i] == i ? ++count : p->parent[p->parent[i]];
            }
        }
    }
    return count;
}

static bool collect(PrimCall *call, const PrimImage *values)
{
    const PrimPart *part = &call->part;
    if (part->first) {
        label_parts_forget(*call->state);
        *call->state = NULL;
        TRY(begin_parts(call, values));
    }
    LabelParts *p = *call->state;
    Edge *last = &p->last[part->c];
    uint32_t begin = (uint32_t)p->n;
    TRY(add_piece(call));
    if (part->y > 0 || part->z > 0) {
        TRY(read_edge(call, values, 0, begin, &p->first));
        unite_seam(call, values, last);
    }
    size_t rows = (size_t)call->h * (size_t)call->planes;
    TRY(read_edge(call, values, rows - edge_rows(call), begin, last));
    return !part->last || host_value(call, number_objects(p));
}

/* ---- the second pass ------------------------------------------------------------------------- */

static bool renumber(PrimCall *call)
{
    LabelParts *p = *call->state;
    p->at = call->part.first ? 0 : p->at;
    const Piece *piece = &p->pieces[p->at++];
    assert(p->at <= p->n_pieces && piece->channel == call->part.c);
    PrimCall no_reader = *call;
    no_reader.reader = "";
    DevProgram *program = NULL;
    const char *const texts[] = {kernel_text_lanes, kernel_text_label_map, NULL};
    TRY(visit_program(&no_reader, "", texts, &program));
    TRY(piece->n == 0 || dev_write(call->dev, call->scratch, 0, p->parent + piece->begin,
                                   piece->n * sizeof *p->parent, call->err));
    size_t rows = (size_t)call->h * (size_t)call->planes;
    const DevArg args[] = {dev_int(call->w), dev_uint(rows), dev_int(call->out[0].pitch),
                           dev_mem(call->scratch), dev_mem(call->out[0].mem)};
    return lanes_launch(call, &(LanesLaunch){.program = program,
                                             .kernel = "label_map",
                                             .columns = (size_t)call->w,
                                             .rows = rows,
                                             .args = args,
                                             .n_args = 5});
}

/* ---- calls ----------------------------------------------------------------------------------- */

PrimCall label_parts_call(const PrimCall *call)
{
    PrimCall own = *call;
    own.value = call->part.pass > 0 ? -1 : call->value;
    return own;
}

bool label_parts_run(PrimCall *call, const PrimImage *values)
{
    assert(call->value >= 0);
    return call->part.pass == 0 ? collect(call, values) : renumber(call);
}
