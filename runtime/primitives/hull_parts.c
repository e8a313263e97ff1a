/*
 * hull_parts: convex hulls of labels of an image in parts, whose runs wait for their last part on the
 * host anyway: the first pass collects them and paints each channel when all of them are there; the
 * second gives the mask back.
 *
 * Only the ends of a label's rows matter, so runs of equal pixels are collected and sorted by label.  In
 * the plane the left border of the hull is Andrew's monotone chain over half rows, and the right one is
 * that of the mirrored object; in space the hull is base/hull.h's.  All arithmetic is in integers, in
 * half pixels.
 */
#include "hull_parts.h"
#include "prim_host.h"

#include "../../base/hull.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* A row's pixels of one label, from the first to the last. */
typedef struct Run {
    uint32_t label;
    int32_t z, y, first, last;
} Run;

typedef struct Edge {
    int64_t x, y; /* in half pixels */
} Edge;

typedef struct Painter {
    const PrimCall *call;
    size_t h, d; /* of the image, of which the call has a part */
    Run *runs;
    size_t n, cap;
    uint8_t *mask;
    Edge *chain;       /* planes: three corners a row */
    int32_t *ends[2];  /* planes: the hull's first and last pixel of each row */
    HullPoint *points; /* volumes */
    size_t room;       /* points */
} Painter;

/* ---- runs ------------------------------------------------------------------------------ */

static bool add_run(Painter *p, Run run)
{
    if (p->n == p->cap) {
        size_t cap = 2 * p->cap + 4096;
        Run *runs = realloc(p->runs, cap * sizeof *runs);
        if (runs == NULL) {
            return host_no_memory(p->call);
        }
        p->runs = runs;
        p->cap = cap;
    }
    p->runs[p->n++] = run;
    return true;
}

static bool collect_row(Painter *p, const uint32_t *row, int y, int z)
{
    for (int x = 0, end = 0; x < p->call->w; x = end) {
        end = x + 1;
        while (end < p->call->w && row[end] == row[x]) {
            end++;
        }
        TRY(row[x] == 0 || add_run(p, (Run){row[x], z, y, x, end - 1}));
    }
    return true;
}

static int compare_runs(const void *a, const void *b)
{
    const Run *p = a, *q = b;
    if (p->label != q->label) {
        return p->label < q->label ? -1 : 1;
    }
    int back = (p->z > q->z) - (p->z < q->z), down = (p->y > q->y) - (p->y < q->y);
    return back != 0 ? back : down != 0 ? down : (p->first > q->first) - (p->first < q->first);
}

/* Makes one run of those of a label in the same row. */
static void join_runs(Painter *p)
{
    size_t n = 0;
    for (size_t i = 0; i < p->n; i++) {
        Run *to = n > 0 ? &p->runs[n - 1] : NULL, run = p->runs[i];
        if (to != NULL && to->label == run.label && to->y == run.y && to->z == run.z) {
            to->last = run.last;
        } else {
            p->runs[n++] = run;
        }
    }
    p->n = n;
}

static void paint(Painter *p, int y, int z, int64_t first, int64_t last)
{
    size_t w = (size_t)p->call->w, row = (size_t)z * p->h + (size_t)y;
    if (first <= last) {
        memset(p->mask + row * w + first, 1, (size_t)(last - first + 1));
    }
}

/* ---- planes ---------------------------------------------------------------------------- */

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

/* The end of a run that is the border on one side; the right side is mirrored (sign -1). */
static int64_t border(const Run *run, int sign)
{
    return sign > 0 ? 2 * (int64_t)run->first : -2 * (int64_t)run->last;
}

/* Adds a point below all others to a chain that is convex to the left. */
static size_t add_corner(Edge *chain, size_t n, Edge corner)
{
    while (n > 1) {
        Edge a = chain[n - 2], b = chain[n - 1];
        if ((b.x - a.x) * (corner.y - a.y) < (corner.x - a.x) * (b.y - a.y)) {
            break;
        }
        n--;
    }
    chain[n] = corner;
    return n + 1;
}

/* The corners of a label's hull on one side: in each row the diamond's tip, between rows and at the ends
 * the farther one of the diamonds' other corners. */
static void find_chain(Edge *chain, const Run *runs, size_t n_runs, int sign)
{
    size_t n = 0;
    for (size_t i = 0; i < n_runs; i++) {
        int64_t x = border(&runs[i], sign), y = 2 * (int64_t)runs[i].y;
        bool joined = i > 0 && runs[i - 1].y + 1 == runs[i].y;
        if (!joined || border(&runs[i - 1], sign) > x) {
            /* Two points at the same height: the farther one, which comes last, stays. */
            n -= n > 0 && chain[n - 1].y == y - 1;
            n = add_corner(chain, n, (Edge){x, y - 1});
        }
        n = add_corner(chain, n, (Edge){x - 1, y});
        n = add_corner(chain, n, (Edge){x, y + 1});
    }
}

/* The first pixel of row y at or behind the edge from a to b. */
static int64_t first_behind(Edge a, Edge b, int64_t y)
{
    int64_t dy = b.y - a.y;
    return -floor_div(-(a.x * dy + (b.x - a.x) * (2 * y - a.y)), 2 * dy);
}

/* The hull's ends on one side, for each row from a label's first to its last. */
static void find_ends(const Painter *p, const Run *runs, size_t n_runs, int sign, int32_t *ends)
{
    find_chain(p->chain, runs, n_runs, sign);
    const Edge *at = p->chain;
    for (int32_t y = runs[0].y; y <= runs[n_runs - 1].y; y++) {
        while (at[1].y < 2 * (int64_t)y) {
            at++;
        }
        ends[y - runs[0].y] = (int32_t)(sign * first_behind(at[0], at[1], y));
    }
}

static void paint_plane(Painter *p, const Run *runs, size_t n_runs)
{
    find_ends(p, runs, n_runs, 1, p->ends[0]);
    find_ends(p, runs, n_runs, -1, p->ends[1]);
    for (int32_t y = runs[0].y; y <= runs[n_runs - 1].y; y++) {
        paint(p, y, 0, p->ends[0][y - runs[0].y], p->ends[1][y - runs[0].y]);
    }
}

/* ---- volumes --------------------------------------------------------------------------- */

typedef struct Box {
    int32_t lo[3], hi[3]; /* x, y, z; both included */
} Box;

static Box box_of(const Run *runs, size_t n_runs)
{
    Box b = {{INT32_MAX, INT32_MAX, INT32_MAX}, {-1, -1, -1}};
    for (size_t i = 0; i < n_runs; i++) {
        const int32_t first[3] = {runs[i].first, runs[i].y, runs[i].z};
        const int32_t last[3] = {runs[i].last, runs[i].y, runs[i].z};
        for (int k = 0; k < 3; k++) {
            b.lo[k] = first[k] < b.lo[k] ? first[k] : b.lo[k];
            b.hi[k] = last[k] > b.hi[k] ? last[k] : b.hi[k];
        }
    }
    return b;
}

/* Adds the corners of a pixel's diamond. */
static bool add_diamond(Painter *p, size_t *n, int64_t x, int64_t y, int64_t z)
{
    if (*n + 6 > p->room) {
        size_t room = 2 * p->room + 6000;
        HullPoint *points = realloc(p->points, room * sizeof *points);
        if (points == NULL) {
            return host_no_memory(p->call);
        }
        p->points = points;
        p->room = room;
    }
    for (int k = 0; k < 6; k++) {
        HullPoint point = {{2 * x, 2 * y, 2 * z}};
        point.at[k / 2] += k % 2 == 0 ? -1 : 1;
        p->points[(*n)++] = point;
    }
    return true;
}

/*
 * The corners of the hull of all pixels are among the corners of the hull of those in each plane, so
 * only these pixels' diamonds are listed, as seen from the box's first pixel.
 */
static bool list_points(Painter *p, const Run *runs, size_t n_runs, const int32_t lo[3], size_t *n)
{
    *n = 0;
    for (size_t i = 0, end = 0; i < n_runs; i = end) {
        for (end = i; end < n_runs && runs[end].z == runs[i].z;) {
            end++;
        }
        for (int sign = -1; sign <= 1; sign += 2) {
            size_t corners = 0;
            for (size_t k = i; k < end; k++) {
                corners = add_corner(p->chain, corners, (Edge){border(&runs[k], sign), runs[k].y});
            }
            for (size_t k = 0; k < corners; k++) {
                Edge c = p->chain[k];
                TRY(add_diamond(p, n, sign * c.x / 2 - lo[0], c.y - lo[1], runs[i].z - lo[2]));
            }
        }
    }
    return true;
}

/* The pixels of row (y, z) inside all planes: *first > *last when there are none. */
static void cut_row(const HullPlane *planes, int n, int64_t y, int64_t z, int64_t *first,
                    int64_t *last)
{
    for (int i = 0; i < n; i++) {
        const int64_t *v = planes[i].normal;
        int64_t rest = planes[i].offset - 2 * (v[1] * y + v[2] * z);
        if (v[0] > 0) {
            int64_t most = floor_div(rest, 2 * v[0]);
            *last = most < *last ? most : *last;
        } else if (v[0] < 0) {
            int64_t least = -floor_div(rest, -2 * v[0]);
            *first = least > *first ? least : *first;
        } else if (rest < 0) {
            *last = -1;
        }
    }
}

static bool paint_volume(Painter *p, const Run *runs, size_t n_runs)
{
    Box b = box_of(runs, n_runs);
    HullPlane *planes = NULL;
    size_t n_points = 0;
    int n = 0;
    TRY(list_points(p, runs, n_runs, b.lo, &n_points));
    if (!hull_planes(p->points, n_points, &planes, &n)) {
        return host_no_memory(p->call);
    }
    for (int z = b.lo[2]; z <= b.hi[2]; z++) {
        for (int y = b.lo[1]; y <= b.hi[1]; y++) {
            int64_t first = 0, last = b.hi[0] - b.lo[0];
            cut_row(planes, n, y - b.lo[1], z - b.lo[2], &first, &last);
            paint(p, y, z, first + b.lo[0], last + b.lo[0]);
        }
    }
    free(planes);
    return true;
}

/* ---- channels -------------------------------------------------------------------------- */

/* Adds the runs of a channel's pixels in the call, whose planes begin at `first`; its rows and planes
 * begin at (y, z) of the image. */
static bool collect(Painter *p, HostPlane *plane, size_t first, int y, int z)
{
    const PrimCall *call = p->call;
    for (int k = 0; k < call->d; k++) {
        TRY(host_fetch(plane, &call->in[0], first + (size_t)k, ELEM_U32));
        for (int i = 0; i < call->h; i++) {
            const uint32_t *row = (const uint32_t *)plane->pixels + (size_t)i * (size_t)call->w;
            TRY(collect_row(p, row, y + i, z + k));
        }
    }
    return true;
}

/* Paints the hulls of all runs; none are left. */
static bool paint_channel(Painter *p)
{
    size_t area = (size_t)p->call->w * p->h, end = 0;
    if (p->n > 1) {
        qsort(p->runs, p->n, sizeof *p->runs, compare_runs);
    }
    join_runs(p);
    memset(p->mask, 0, area * p->d);
    for (size_t i = 0; i < p->n; i = end) {
        while (end < p->n && p->runs[end].label == p->runs[i].label) {
            end++;
        }
        if (p->d > 1) {
            TRY(paint_volume(p, p->runs + i, end - i));
        } else {
            paint_plane(p, p->runs + i, end - i);
        }
    }
    p->n = 0;
    return true;
}

/* Gives back the mask of the pixels that `collect` takes. */
static bool give(const Painter *p, size_t first, int y, int z)
{
    const PrimCall *call = p->call;
    size_t w = (size_t)call->w;
    for (int k = 0; k < call->d; k++) {
        const uint8_t *from = p->mask + ((size_t)(z + k) * p->h + (size_t)y) * w;
        TRY(host_store(call, &call->out[0], first + (size_t)k, from, w));
    }
    return true;
}

/* ---- parts ----------------------------------------------------------------------------- */

/* What a channel keeps between the calls of a run in parts. */
typedef struct Sheet {
    Run *runs;
    size_t n, cap;
    uint8_t *mask;
} Sheet;

typedef struct Sheets {
    int channels;
    Sheet at[];
} Sheets;

void hull_parts_forget(void *state)
{
    Sheets *s = state;
    for (int c = 0; s != NULL && c < s->channels; c++) {
        free(s->at[c].runs);
        free(s->at[c].mask);
    }
    free(s);
}

static bool open_sheets(const PrimCall *call)
{
    size_t channels = (size_t)call->part.channels;
    hull_parts_forget(*call->state);
    Sheets *s = *call->state = calloc(1, sizeof *s + channels * sizeof *s->at);
    if (s == NULL) {
        return host_no_memory(call);
    }
    s->channels = call->part.channels;
    return true;
}

/* Takes the part's runs, and paints the channel when they are the last. */
static bool collect_part(Painter *p, HostPlane *plane)
{
    const PrimPart *part = &p->call->part;
    TRY(collect(p, plane, 0, part->y, part->z));
    if (part->number + 1 < part->parts) {
        return true;
    }
    p->mask = malloc((size_t)p->call->w * p->h * p->d);
    TRY((p->mask || host_no_memory(p->call)) && paint_channel(p));
    free(p->runs);
    p->runs = NULL;
    p->cap = 0;
    return true;
}

static bool run_part(Painter *p, HostPlane *plane)
{
    const PrimPart *part = &p->call->part;
    TRY(part->pass > 0 || !part->first || open_sheets(p->call));
    Sheet *sheet = &((Sheets *)*p->call->state)->at[part->c];
    p->runs = sheet->runs;
    p->n = sheet->n;
    p->cap = sheet->cap;
    p->mask = sheet->mask;
    bool ok = part->pass == 0 ? collect_part(p, plane) : give(p, 0, part->y, part->z);
    *sheet = (Sheet){p->runs, p->n, p->cap, p->mask};
    return ok;
}

bool hull_parts_run(PrimCall *call)
{
    assert(elem_size(call->out[0].elem) == 1);
    const PrimPart *part = &call->part;
    size_t rows = (size_t)part->h;
    Painter p = {.call = call, .h = rows, .d = (size_t)part->d};
    HostPlane plane = {0};
    p.chain = malloc(3 * rows * sizeof *p.chain);
    p.ends[0] = malloc(2 * rows * sizeof *p.ends[0]);
    bool ok = (p.chain && p.ends[0]) || host_no_memory(call);
    p.ends[1] = p.ends[0] + (ok ? rows : 0);
    ok = ok && host_plane_open(&plane, call) && run_part(&p, &plane);
    host_plane_close(&plane);
    free(p.chain);
    free(p.ends[0]);
    free(p.points);
    return ok;
}

int hull_parts_passes(const PrimCall *call)
{
    (void)call;
    return 2;
}
