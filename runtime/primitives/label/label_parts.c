/*
 * label_parts: provisional ids over the seams between parts, by union-find on the host.
 *
 * Provisional ids count the objects of all parts, in the order of the parts.  In a channel they so
 * follow raster order, and the smaller root always wins: the root of an object is its part with the
 * first pixel, and numbering roots channel by channel numbers objects as in one piece.  A
 * provisional id costs 4 bytes.  Of each channel the last row (in 3-D the last plane) is kept until
 * the next part.
 *
 * Parts that have rows of all planes do not follow each other so.  In a part, ids are in raster order: those
 * that begin in a plane are the ones above the largest id of the planes before.  So the device finds the
 * largest id of each plane, the host notes in which plane each object begins, and what comes first is the
 * object in the earlier plane, in one plane that of the earlier part.  A provisional id then costs 8 bytes,
 * and the last row of every plane is kept.
 *
 * Owners whose parts follow each other have provisional ids of their own.  With their last part they tell each other all
 * that they know, and each puts it together: ids go on from owner to owner, as from part to part, and what touches across
 * the seams between them is united.
 */
#include "label_parts.h"

#include "../../../base/connectivity.h"
#include "../../host/convert.h"
#include "../prim_host.h"
#include "../prim_lanes.h"
#include "../prim_share.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

extern const char kernel_text_label_map[];

bool label_is_planar(const PrimCall *call)
{
    return call->label.connectivity > CONNECTIVITY_PLANAR;
}

PrimCall label_call(const PrimCall *call)
{
    PrimCall own = *call;
    if (label_is_planar(call)) {
        own.d = 1;
        own.label.connectivity -= CONNECTIVITY_PLANAR;
    }
    return own;
}

/* A row, or a plane, at the end of a part; or a row of each plane. */
typedef struct Edge {
    uint32_t *ids; /* provisional, from 1; 0: background */
    void *values;  /* as the device has them; NULL: only ids matter */
} Edge;

typedef struct Piece {
    int channel;
    uint32_t begin, n; /* its provisional ids, less 1 */
    uint32_t numbered; /* so many of them have their final numbers */
} Piece;

typedef struct LabelParts {
    uint32_t *parent; /* by id less 1; after the first pass, the final numbers */
    uint32_t *plane;  /* by id less 1: where it begins; NULL: ids are in raster order */
    size_t n, room;
    int planes; /* of a channel */
    Piece *pieces;
    int n_pieces, room_pieces, at; /* at: the next one in the second pass */
    Edge *last, *top, first;       /* last: of each channel; top: of an owner's first part, where there are others */
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
        for (int c = 0; p->top != NULL && c < p->channels; c++) {
            free_edge(&p->top[c]);
        }
        free_edge(&p->first);
        free(p->last);
        free(p->top);
        free(p->parent);
        free(p->plane);
        free(p->pieces);
        free(p);
    }
}

/* ---- the ends of parts ----------------------------------------------------------------------- */

/* Rows of an edge. */
static size_t edge_rows(const PrimCall *call)
{
    return call->part.across ? (size_t)call->d : call->part.d > 1 ? (size_t)call->h : 1;
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
    p->planes = call->part.across ? call->part.d : 1;
    p->last = calloc((size_t)p->channels, sizeof *p->last);
    p->top = calloc((size_t)p->channels, sizeof *p->top);
    if (p->last == NULL || p->top == NULL) {
        return host_no_memory(call);
    }
    for (int c = 0; c < p->channels; c++) {
        TRY(open_edge(call, values, &p->last[c]) && open_edge(call, values, &p->top[c]));
    }
    return open_edge(call, values, &p->first);
}

static bool read_rows(const PrimCall *call, const PrimImage *image, size_t row, void *to)
{
    size_t size = elem_size(image->elem), bytes = (size_t)call->w * size;
    size_t pitch = (size_t)image->pitch * size, apart = call->part.across ? (size_t)call->h * pitch : pitch;
    row += image->before;
    return dev_read_rows(call->dev, image->mem, row * pitch, apart, to, bytes, bytes, edge_rows(call), call->err);
}

/* Reads the edge at the part's beginning or end; `begin`: provisional ids before those of the part. */
static bool read_edge(const PrimCall *call, const PrimImage *values, bool end, uint32_t begin, Edge *edge)
{
    size_t pixels = (size_t)call->w * edge_rows(call), rows = (size_t)call->h * (size_t)call->planes;
    size_t row = !end ? 0 : call->part.across ? (size_t)call->h - 1 : rows - edge_rows(call);
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

/* Object a begins before b, in raster order. */
static bool is_before(const LabelParts *p, uint32_t a, uint32_t b)
{
    return p->plane != NULL && p->plane[a] != p->plane[b] ? p->plane[a] < p->plane[b] : a < b;
}

static void unite(LabelParts *p, uint32_t a, uint32_t b)
{
    a = find(p->parent, a);
    b = find(p->parent, b);
    if (a != b) {
        bool first = is_before(p, a, b);
        p->parent[first ? b : a] = first ? a : b;
    }
}

static bool touch(const PrimImage *values, const Edge *a, size_t at_a, const Edge *b, size_t at_b)
{
    return a->ids[at_a] != 0 && b->ids[at_b] != 0 &&
           (values == NULL || convert_get(values->elem, a->values, at_a) == convert_get(values->elem, b->values, at_b));
}

/* Unites the objects at pixel (x, y) of an edge with those behind it in the edge before. */
static void unite_pixel(const PrimCall *call, const PrimImage *values, const Edge *before, int x, int y)
{
    LabelParts *p = *call->state;
    bool planar = label_is_planar(call);
    int w = call->w, h = (int)edge_rows(call), reach = (int)label_call(call).label.connectivity - 1;
    size_t at = (size_t)y * (size_t)w + (size_t)x;
    for (int dy = -1; dy <= 1; dy++) {
        for (int dx = -1; dx <= 1; dx++) {
            bool inside = x + dx >= 0 && x + dx < w && y + dy >= 0 && y + dy < h;
            size_t there = (size_t)(y + dy) * (size_t)w + (size_t)(x + dx);
            bool near = dx * dx + dy * dy <= reach && (!planar || dy == 0);
            if (inside && near && touch(values, &p->first, at, before, there)) {
                unite(p, p->first.ids[at] - 1, before->ids[there] - 1);
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

static bool too_many(const PrimCall *call)
{
    return err_set(call->err, CODE_MEMORY, "%s: the parts of the image have more than %u objects together", call->name,
                   UINT32_MAX);
}

/* Room for `more` provisional ids and pieces. */
static bool grow(const PrimCall *call, LabelParts *p, size_t more, int pieces)
{
    if (p->n + more > p->room) {
        size_t room = 2 * p->room > p->n + more ? 2 * p->room : p->n + more;
        uint32_t *parent = realloc(p->parent, room * sizeof *parent);
        if (parent == NULL) {
            return host_no_memory(call);
        }
        p->parent = parent;
        uint32_t *plane = call->part.across ? realloc(p->plane, room * sizeof *plane) : NULL;
        if (call->part.across && plane == NULL) {
            return host_no_memory(call);
        }
        p->plane = plane;
        p->room = room;
    }
    if (p->n_pieces + pieces > p->room_pieces) {
        int room = 2 * p->room_pieces + 16 + pieces;
        Piece *larger = realloc(p->pieces, (size_t)room * sizeof *larger);
        if (larger == NULL) {
            return host_no_memory(call);
        }
        p->pieces = larger;
        p->room_pieces = room;
    }
    return true;
}

static bool map_program(const PrimCall *call, DevProgram **program)
{
    const char *const texts[] = {kernel_text_lanes, kernel_text_label_map, NULL};
    return visit_bare_program(call, "", texts, program);
}

/* The largest of the part's own ids in each plane. */
static bool find_largest(const PrimCall *call, uint32_t *largest)
{
    size_t bytes = (size_t)call->d * sizeof *largest;
    DevProgram *program = NULL;
    TRY(map_program(call, &program));
    TRY(dev_fill(call->dev, call->scratch, 0, bytes, 0, call->err));
    const DevArg args[] = {dev_int(call->w),          dev_int(call->h),
                           dev_uint(call->d),         dev_int(call->out[0].pitch),
                           dev_mem(call->out[0].mem), dev_mem(call->scratch)};
    return lanes_launch(call, &(LanesLaunch){.program = program,
                                             .kernel = "label_largest",
                                             .columns = (size_t)call->w,
                                             .rows = (size_t)call->d,
                                             .args = args,
                                             .n_args = 6}) &&
           dev_read(call->dev, call->scratch, 0, largest, bytes, call->err);
}

/* In which planes the last `n` objects begin. */
static bool note_planes(const PrimCall *call, LabelParts *p, size_t n)
{
    uint32_t *largest = malloc((size_t)call->d * sizeof *largest), begun = 0;
    bool ok = (largest != NULL || host_no_memory(call)) && find_largest(call, largest);
    for (int z = 0; ok && z < call->d; z++) {
        for (; begun < largest[z]; begun++) {
            p->plane[p->n - n + begun] = (uint32_t)z;
        }
    }
    free(largest);
    return ok;
}

/* New provisional ids for the objects of a part. */
static bool add_piece(const PrimCall *call)
{
    LabelParts *p = *call->state;
    double count = 0;
    TRY(dev_read(call->dev, call->values, (size_t)call->value * sizeof count, &count, sizeof count, call->err));
    size_t more = (size_t)count;
    if (p->n + more > UINT32_MAX) {
        return too_many(call);
    }
    TRY(grow(call, p, more, 1));
    p->pieces[p->n_pieces++] = (Piece){call->part.c, (uint32_t)p->n, (uint32_t)more, 0};
    for (size_t end = p->n + more; p->n < end; p->n++) {
        p->parent[p->n] = (uint32_t)p->n;
    }
    return p->plane == NULL || note_planes(call, p, more);
}

/* From parents to final numbers, in place: parents come before their children.  Returns how many
 * objects there are. */
static uint32_t number_objects(LabelParts *p)
{
    uint32_t count = 0;
    for (int at = 0; at < p->channels * p->planes; at++) {
        for (int k = 0; k < p->n_pieces; k++) {
            Piece *piece = &p->pieces[k];
            uint32_t z = (uint32_t)(at % p->planes), n = piece->channel == at / p->planes ? piece->n : 0;
            for (; piece->numbered < n; piece->numbered++) {
                uint32_t i = piece->begin + piece->numbered;
                if (p->plane != NULL && p->plane[i] != z) {
                    break;
                }
                p->parent[i] = p->parent[i] == i ? ++count : p->parent[p->parent[i]];
            }
        }
    }
    return count;
}

/* ---- owners ------------------------------------------------------------------------------------ */

/* What an owner tells: a head, then its parents, planes, pieces, and the edges of its first and last part. */
typedef struct Told {
    uint64_t n;
    int64_t n_pieces;
} Told;

/* The edges of a channel, one behind the other: ids, then values. */
static size_t edge_bytes(const PrimCall *call, const PrimImage *values)
{
    return (size_t)call->w * edge_rows(call) * (sizeof(uint32_t) + (values != NULL ? elem_size(values->elem) : 0));
}

static void put(char **to, const void *from, size_t bytes)
{
    if (bytes > 0) {
        memcpy(*to, from, bytes);
    }
    *to += bytes;
}

static void get(const char **from, void *to, size_t bytes)
{
    if (bytes > 0) {
        memcpy(to, *from, bytes);
    }
    *from += bytes;
}

static void put_edges(const PrimCall *call, const PrimImage *values, const Edge *edges, char **to)
{
    size_t pixels = (size_t)call->w * edge_rows(call);
    for (int c = 0; c < call->part.channels; c++) {
        put(to, edges[c].ids, pixels * sizeof *edges[c].ids);
        put(to, edges[c].values, values != NULL ? pixels * elem_size(values->elem) : 0);
    }
}

/* Ids go on from those of the owners before. */
static void get_edge(const PrimCall *call, const PrimImage *values, uint32_t begin, const char **from, Edge *edge)
{
    size_t pixels = (size_t)call->w * edge_rows(call);
    get(from, edge->ids, pixels * sizeof *edge->ids);
    get(from, edge->values, values != NULL ? pixels * elem_size(values->elem) : 0);
    for (size_t i = 0; i < pixels; i++) {
        edge->ids[i] += edge->ids[i] != 0 ? begin : 0;
    }
}

static OwnersPiece *tell_all(const PrimCall *call, const PrimImage *values)
{
    LabelParts *p = *call->state;
    Told head = {p->n, p->n_pieces};
    size_t planes = p->plane != NULL ? p->n : 0, edges = (size_t)p->channels * edge_bytes(call, values);
    size_t bytes =
        sizeof head + (p->n + planes) * sizeof *p->parent + (size_t)p->n_pieces * sizeof *p->pieces + 2 * edges;
    char *all = malloc(bytes), *to = all;
    if (all == NULL) {
        (void)host_no_memory(call);
        return NULL;
    }
    put(&to, &head, sizeof head);
    put(&to, p->parent, p->n * sizeof *p->parent);
    put(&to, p->plane, planes * sizeof *p->plane);
    put(&to, p->pieces, (size_t)p->n_pieces * sizeof *p->pieces);
    put_edges(call, values, p->top, &to);
    put_edges(call, values, p->last, &to);
    OwnersPiece *pieces = share_tell(call, all, bytes);
    free(all);
    return pieces;
}

/* Adds what an owner knows; `first`: nothing comes before it. */
static bool add_owner(PrimCall *call, const PrimImage *values, const OwnersPiece *piece, bool first)
{
    LabelParts *p = *call->state;
    const char *from = piece->bytes;
    uint32_t begin = (uint32_t)p->n;
    Told head;
    get(&from, &head, sizeof head);
    if (p->n + head.n > UINT32_MAX) {
        return too_many(call);
    }
    TRY(grow(call, p, (size_t)head.n, (int)head.n_pieces));
    get(&from, p->parent + p->n, (size_t)head.n * sizeof *p->parent);
    get(&from, p->plane != NULL ? p->plane + p->n : NULL, (p->plane != NULL ? (size_t)head.n : 0) * sizeof *p->plane);
    get(&from, p->pieces + p->n_pieces, (size_t)head.n_pieces * sizeof *p->pieces);
    for (size_t i = 0; i < head.n; i++) {
        p->parent[p->n++] += begin;
    }
    for (int64_t i = 0; i < head.n_pieces; i++) {
        p->pieces[p->n_pieces++].begin += begin;
    }
    for (int c = 0; c < p->channels; c++) {
        get_edge(call, values, begin, &from, &p->first);
        if (!first && (call->part.across || call->part.d == 1 || !label_is_planar(call))) {
            unite_seam(call, values, &p->last[c]);
        }
    }
    for (int c = 0; c < p->channels; c++) {
        get_edge(call, values, begin, &from, &p->last[c]);
    }
    return true;
}

static bool unite_owners(PrimCall *call, const PrimImage *values)
{
    LabelParts *p = *call->state;
    OwnersPiece *pieces = tell_all(call, values);
    bool ok = pieces != NULL;
    p->n = 0;
    p->n_pieces = 0;
    for (int k = 0; ok && k < call->owners->n; k++) {
        ok = add_owner(call, values, &pieces[k], k == 0);
    }
    share_drop(call, pieces);
    return ok;
}

/* ---- calls of the first pass -------------------------------------------------------------------- */

/* The last piece is the first one of its channel. */
static bool begin_of_owner(const LabelParts *p, int channel)
{
    bool first = true;
    for (int i = 0; i < p->n_pieces - 1; i++) {
        first = first && p->pieces[i].channel != channel;
    }
    return first;
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
    bool begins = call->owners != NULL && begin_of_owner(p, part->c);
    if (begins) {
        TRY(read_edge(call, values, false, begin, &p->top[part->c]));
    } else if (part->y > 0 || (part->z > 0 && !label_is_planar(call))) {
        TRY(read_edge(call, values, false, begin, &p->first));
        unite_seam(call, values, last);
    }
    TRY(read_edge(call, values, true, begin, last));
    TRY(call->owners == NULL || !part->last || unite_owners(call, values));
    return !part->last || host_value(call, number_objects(p));
}

/* ---- the second pass ------------------------------------------------------------------------- */

static bool renumber(PrimCall *call)
{
    LabelParts *p = *call->state;
    p->at = call->part.first ? call->part.number * p->channels : p->at;
    const Piece *piece = &p->pieces[p->at++];
    assert(p->at <= p->n_pieces && piece->channel == call->part.c);
    DevProgram *program = NULL;
    TRY(map_program(call, &program));
    TRY(piece->n == 0 ||
        dev_write(call->dev, call->scratch, 0, p->parent + piece->begin, piece->n * sizeof *p->parent, call->err));
    size_t rows = (size_t)call->h * (size_t)call->planes;
    const DevArg args[] = {dev_int(call->w), dev_uint(rows), dev_int(call->out[0].pitch), dev_mem(call->scratch),
                           dev_mem(call->out[0].mem)};
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
    PrimCall own = label_call(call);
    own.value = call->part.pass > 0 ? -1 : call->value;
    return own;
}

bool label_parts_run(PrimCall *call, const PrimImage *values)
{
    assert(call->value >= 0);
    return call->part.pass == 0 ? collect(call, values) : renumber(call);
}
