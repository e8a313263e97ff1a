/*
 * track: linear assignment of objects that may be linked (track.h).
 *
 * What may be linked is a list of links, found in cells as high as the largest distance.  Of links the assignment with the
 * largest sum of gains is wanted: what the ends cost that a link does away with, less its own cost.  Objects are added one by
 * one along the shortest way to one that is free (the Hungarian method with Dijkstra's queue), with prices u of objects that
 * look for a successor and v of those that look for a predecessor: u + v is no less than the gain of any link between them, the
 * same for those that are linked, and 0 where an object is free.  Then the best assignments are those of links whose gain is
 * u + v ("tight") that leave nothing free whose price is not 0, and the first of them by the order of labels is found by exchanges
 * along such links.  Links lie within neighbourhoods, so each search ends soon.
 */
#include "track.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define UNIT 1099511627776.0 /* 2^40: a cost of 1 */

typedef struct Link {
    uint32_t from, to;
    int64_t cost;
} Link;

typedef struct Links {
    Link *at;
    size_t n, room;
} Links;

typedef struct Item {
    int64_t key;
    uint32_t node;
} Item;

/* Two sides of the same objects: `from` look for successors, `to` for predecessors. */
typedef struct Assign {
    uint32_t n;
    const Link *links;   /* by from, then by to */
    const int64_t *gain; /* of each link; below 0: not in this round */
    const size_t *start; /* [n + 2]: the links of an object from start[i] on */
    const size_t *back;  /* [n + 2]: its links as a `to` are links[by_to[back[i]]] ... */
    const size_t *by_to;
    uint32_t *next, *before; /* [n + 1]: what has been assigned; 0: none */
    int64_t *u, *v;
    int64_t *far;   /* [n + 1]: Dijkstra's distance to a `to`; -1: not reached */
    uint32_t *came; /* [n + 1]: from which object a `to` was reached */
    uint32_t *seen; /* [n + 1]: those that were reached */
    bool *settled;  /* [n + 1]: objects that have their partner, or whether a `to` has been taken from the queue */
    Item *heap;
    size_t heaped;
} Assign;

/* ---- what may be linked ------------------------------------------------------------------ */

static bool add_link(Links *links, uint32_t from, uint32_t to, double cost)
{
    if (links->n == links->room) {
        size_t room = links->room > 0 ? 2 * links->room : 1024;
        Link *at = room < SIZE_MAX / sizeof *at ? realloc(links->at, room * sizeof *at) : NULL;
        if (at == NULL) {
            return false;
        }
        links->at = at;
        links->room = room;
    }
    links->at[links->n++] = (Link){from, to, (int64_t)rint(cost * UNIT)};
    return true;
}

static int compare_links(const void *p, const void *q)
{
    const Link *a = p, *b = q;
    return a->from != b->from ? (a->from > b->from) - (a->from < b->from) : (a->to > b->to) - (a->to < b->to);
}

/* An object among those of its frame: by rows of cells, then by x. */
typedef struct Spot {
    float frame, x;
    double row;
    uint32_t object;
} Spot;

static int compare_spots(const void *p, const void *q)
{
    const Spot *a = p, *b = q;
    if (a->frame != b->frame) {
        return a->frame < b->frame ? -1 : 1;
    }
    if (a->row != b->row) {
        return a->row < b->row ? -1 : 1;
    }
    if (a->x != b->x) {
        return a->x < b->x ? -1 : 1;
    }
    return (a->object > b->object) - (a->object < b->object);
}

/* The first spot that does not come before a place. */
static size_t first_spot(const Spot *spots, size_t n, Spot place)
{
    size_t lo = 0, hi = n;
    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;
        bool before = compare_spots(&spots[middle], &place) < 0;
        lo = before ? middle + 1 : lo;
        hi = before ? hi : middle;
    }
    return lo;
}

static double squared_distance(const TrackJob *job, uint32_t a, uint32_t b)
{
    double square[3];
    for (int axis = 0; axis < 3; axis++) {
        double way = (double)job->value[axis][b] - (double)job->value[axis][a];
        square[axis] = way * way;
    }
    return square[0] + square[1] + square[2];
}

/* Links of a spot to those of one row of cells in a later frame. */
static bool link_row(const TrackJob *job, const Spot *spots, size_t n, Spot from, Spot row, Links *links)
{
    double limit = job->limit * job->limit;
    for (size_t i = first_spot(spots, n, row); i < n && spots[i].frame == row.frame && spots[i].row == row.row; i++) {
        if ((double)spots[i].x - (double)from.x > job->limit) {
            break;
        }
        double square = squared_distance(job, from.object, spots[i].object);
        if (square <= limit && !add_link(links, from.object, spots[i].object, square / limit)) {
            return false;
        }
    }
    return true;
}

static bool link_spots(const TrackJob *job, Spot *spots, size_t n, Links *links)
{
    bool ok = true;
    qsort(spots, n, sizeof *spots, compare_spots);
    const double frames = n > 0 ? (double)spots[n - 1].frame - (double)spots[0].frame : 0, most = 1 << 30;
    const int gap = (int)fmax(0, fmin(most, fmin(job->gap, frames)));
    for (size_t i = 0; ok && i < n; i++) {
        Spot row = spots[i];
        row.object = 0;
        row.x = nextafterf((float)((double)row.x - job->limit), -INFINITY);
        for (int later = 1; ok && later <= gap + 1; later++) {
            row.frame = spots[i].frame + (float)later;
            for (int beside = -1; ok && beside <= 1; beside++) {
                row.row = spots[i].row + beside;
                ok = link_row(job, spots, n, spots[i], row, links);
            }
        }
    }
    return ok;
}

static bool near_links(const TrackJob *job, Links *links)
{
    Spot *spots = malloc(((size_t)job->n + 1) * sizeof *spots);
    double height = job->limit * (1 + 0x1p-20); /* rounding puts nothing near into the cell beyond the next one */
    size_t n = 0;
    for (uint32_t i = 1; spots != NULL && i <= job->n; i++) {
        float x = job->value[0][i], y = job->value[1][i];
        if (isfinite(x) && isfinite(y) && isfinite(job->value[2][i]) && isfinite(job->frame[i])) {
            spots[n++] = (Spot){job->frame[i], x, floor((double)y / height), i};
        }
    }
    bool ok = spots != NULL && link_spots(job, spots, n, links);
    free(spots);
    return ok;
}

static bool is_object(const TrackJob *job, float number)
{
    return number >= 1 && (double)number <= job->n;
}

/* Pairs of objects that are not there are none. */
static bool pair_links(const TrackJob *job, Links *links)
{
    const float *first = job->value[0], *second = job->value[1], *cost = job->value[2];
    for (uint64_t i = 1; i <= job->pairs; i++) {
        bool fits = cost[i] >= 0 && (double)cost[i] <= job->limit;
        fits = fits && is_object(job, first[i]) && is_object(job, second[i]) &&
               job->frame[(uint32_t)first[i]] < job->frame[(uint32_t)second[i]];
        if (fits && !add_link(links, (uint32_t)first[i], (uint32_t)second[i], cost[i])) {
            return false;
        }
    }
    return true;
}

/* ---- the queue ----------------------------------------------------------------------------- */

static bool is_before(Item a, Item b)
{
    return a.key != b.key ? a.key < b.key : a.node < b.node;
}

static void push(Assign *a, int64_t key, uint32_t node)
{
    size_t i = a->heaped++;
    for (; i > 0 && is_before((Item){key, node}, a->heap[(i - 1) / 2]); i = (i - 1) / 2) {
        a->heap[i] = a->heap[(i - 1) / 2];
    }
    a->heap[i] = (Item){key, node};
}

static Item pop(Assign *a)
{
    Item top = a->heap[0], last = a->heap[--a->heaped];
    size_t i = 0;
    for (size_t child = 1; child < a->heaped; child = 2 * i + 1) {
        child += child + 1 < a->heaped && is_before(a->heap[child + 1], a->heap[child]);
        if (!is_before(a->heap[child], last)) {
            break;
        }
        a->heap[i] = a->heap[child];
        i = child;
    }
    a->heap[i] = last;
    return top;
}

/* ---- the best assignment --------------------------------------------------------------------- */

/* Looks at the links of an object that is `far` away. */
static void look_from(Assign *a, uint32_t from, int64_t far, uint32_t *n_seen)
{
    for (size_t k = a->start[from]; k < a->start[from + 1]; k++) {
        uint32_t to = a->links[k].to;
        int64_t way = far + a->u[from] + a->v[to] - a->gain[k];
        if (a->gain[k] < 0 || (a->far[to] >= 0 && a->far[to] <= way)) {
            continue;
        }
        if (a->far[to] < 0) {
            a->seen[(*n_seen)++] = to;
        }
        a->far[to] = way;
        a->came[to] = from;
        push(a, way, to);
    }
}

/* Makes `to` the successor of the object that it was reached from, and so on back to the one that was added. */
static void exchange(Assign *a, uint32_t to, uint32_t added)
{
    for (uint32_t from = 0; to != 0 && from != added;) {
        from = a->came[to];
        uint32_t lost = a->next[from];
        a->next[from] = to;
        a->before[to] = from;
        to = lost;
    }
}

/* Lowers the prices of what lies nearer than `far`, and forgets the search. */
static void end_search(Assign *a, uint32_t added, int64_t far, uint32_t n_seen)
{
    a->u[added] -= far;
    for (uint32_t i = 0; i < n_seen; i++) {
        uint32_t to = a->seen[i], from = a->before[to];
        int64_t nearer = a->settled[to] && a->far[to] < far ? far - a->far[to] : 0;
        a->v[to] += nearer;
        a->u[from] -= from != 0 ? nearer : 0;
        a->far[to] = -1;
        a->settled[to] = false;
    }
    a->heaped = 0;
}

/* The way from an object ends at a `to` that is free, or at an object that may as well have no successor. */
static void add_object(Assign *a, uint32_t added)
{
    uint32_t n_seen = 0, end = 0, freed = added;
    for (size_t k = a->start[added]; k < a->start[added + 1]; k++) {
        int64_t price = a->gain[k] - a->v[a->links[k].to];
        a->u[added] = price > a->u[added] ? price : a->u[added];
    }
    int64_t best = a->u[added];
    look_from(a, added, 0, &n_seen);
    while (a->heaped > 0 && a->heap[0].key < best) {
        Item item = pop(a);
        uint32_t from = a->before[item.node];
        if (a->settled[item.node]) {
            continue;
        }
        a->settled[item.node] = true;
        if (from == 0) {
            best = item.key;
            end = item.node;
            break;
        }
        if (item.key + a->u[from] < best) {
            best = item.key + a->u[from];
            freed = from;
        }
        look_from(a, from, item.key, &n_seen);
    }
    end_search(a, added, best, n_seen);
    if (end == 0 && freed != added) {
        end = a->next[freed];
        a->next[freed] = 0;
    }
    exchange(a, end, added);
}

/* ---- of the best ones the first ----------------------------------------------------------------- */

static bool is_tight(const Assign *a, size_t k)
{
    return a->gain[k] >= 0 && a->u[a->links[k].from] + a->v[a->links[k].to] == a->gain[k];
}

/*
 * A chain of exchanges that begins with `to` losing its object `from` to another one: each object in turn takes a `to` along a
 * tight link.  Where it reaches `wanted` it is a ring, and that is its end; else the first free `to` is, or the first object
 * that may have none.  *last: the `to` at its end, *none: the object that then has none.  a->came leads back.
 */
static bool look_forward(Assign *a, uint32_t to, uint32_t wanted, uint32_t *last, uint32_t *none)
{
    uint32_t n = 0;
    *last = *none = 0;
    a->seen[n++] = to;
    a->far[to] = 0;
    bool ring = false;
    for (uint32_t i = 0; i < n && !ring; i++) {
        uint32_t from = a->before[a->seen[i]];
        bool open = *last == 0 && *none == 0;
        *last = open && from == 0 ? a->seen[i] : *last;
        *none = open && from != 0 && a->u[from] == 0 ? from : *none;
        for (size_t k = from != 0 ? a->start[from] : 0; k < (from != 0 ? a->start[from + 1] : 0) && !ring; k++) {
            uint32_t other = a->links[k].to;
            bool kept = other != wanted && a->settled[a->before[other]];
            if (a->far[other] >= 0 || kept || !is_tight(a, k)) {
                continue;
            }
            a->came[other] = from;
            ring = other == wanted;
            a->far[other] = 0;
            a->seen[n++] = other;
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        a->far[a->seen[i]] = -1;
    }
    *last = ring ? wanted : *last;
    return ring;
}

/* Whether a `to` may lose its object: it may be free, or another object takes it, and so on; *first: the last one that moves,
 * which takes a->came[*first], and so on. */
static bool look_back(Assign *a, uint32_t to, uint32_t *first)
{
    uint32_t n = 0;
    bool found = a->v[to] == 0;
    *first = 0;
    a->seen[n++] = to;
    a->far[to] = 0;
    for (uint32_t i = 0; i < n && !found; i++) {
        for (size_t b = a->back[a->seen[i]]; b < a->back[a->seen[i] + 1] && !found; b++) {
            uint32_t from = a->links[a->by_to[b]].from, left = a->next[from];
            if (!is_tight(a, a->by_to[b]) || a->settled[from] || (left != 0 && a->far[left] >= 0)) {
                continue;
            }
            a->came[from] = a->seen[i];
            found = left == 0 || a->v[left] == 0;
            *first = found ? from : 0;
            if (left != 0) {
                a->far[left] = 0;
                a->seen[n++] = left;
            }
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        a->far[a->seen[i]] = -1;
    }
    return found;
}

/* Objects from the far end of the chain on take the next `to` of it, until `to` has its object. */
static void take_back(Assign *a, uint32_t first, uint32_t to)
{
    for (uint32_t from = first, next = 0; from != 0; from = next) {
        uint32_t takes = a->came[from], left = a->next[from];
        next = takes == to ? 0 : a->before[takes];
        if (from == first && left != 0) {
            a->before[left] = 0;
        }
        a->next[from] = takes;
        a->before[takes] = from;
    }
}

/* Gives an object that `to` instead of its own, where this leaves the assignment one of the best. */
static bool change_to(Assign *a, uint32_t from, uint32_t to)
{
    uint32_t own = a->next[from], last, none, first = 0;
    a->settled[from] = true;
    bool ring = look_forward(a, to, own, &last, &none);
    bool ends = ring || last != 0 || none != 0;
    bool fine = ends && (ring || own == 0 || look_back(a, own, &first));
    a->settled[from] = false;
    if (!fine) {
        return false;
    }
    if (!ring && own != 0) {
        a->before[own] = 0;
        take_back(a, first, own);
        (void)look_forward(a, to, 0, &last, &none);
    }
    if (!ring && last == 0) {
        last = a->next[none];
        a->next[none] = 0;
    }
    for (uint32_t at = last; at != to;) {
        uint32_t taker = a->came[at], lost = a->next[taker];
        a->next[taker] = at;
        a->before[at] = taker;
        at = lost;
    }
    a->next[from] = to;
    a->before[to] = from;
    return true;
}

static void take_first(Assign *a, uint32_t from)
{
    for (size_t k = a->start[from]; k < a->start[from + 1]; k++) {
        uint32_t to = a->links[k].to, own = a->next[from];
        if (to == own) {
            break;
        }
        if (is_tight(a, k) && !a->settled[a->before[to]] && change_to(a, from, to)) {
            break;
        }
    }
    a->settled[from] = true;
}

static bool assign(Assign *a, size_t n_links)
{
    size_t n = (size_t)a->n + 1;
    a->u = calloc(n, sizeof *a->u);
    a->v = calloc(n, sizeof *a->v);
    a->far = malloc(n * sizeof *a->far);
    a->came = calloc(n, sizeof *a->came);
    a->seen = calloc(n, sizeof *a->seen);
    a->settled = calloc(n, sizeof *a->settled);
    a->heap = malloc((n_links + 1) * sizeof *a->heap);
    bool ok = a->u && a->v && a->far && a->came && a->seen && a->settled && a->heap;
    for (size_t i = 0; ok && i < n; i++) {
        a->far[i] = -1;
    }
    for (uint32_t i = 1; ok && i <= a->n; i++) {
        add_object(a, i);
    }
    for (uint32_t i = 1; ok && i <= a->n; i++) {
        take_first(a, i);
    }
    free(a->u);
    free(a->v);
    free(a->far);
    free(a->came);
    free(a->seen);
    free(a->settled);
    free(a->heap);
    return ok;
}

/* ---- two rounds ------------------------------------------------------------------------------------ */

typedef struct Tracks {
    const TrackJob *job;
    Links links;
    size_t *start, *back, *by_to;
    int64_t *gain;
    uint32_t *next, *before; /* of a track */
    uint32_t *also, *joins;  /* a second successor (a split), a second predecessor (a merge) */
    uint32_t *order;
} Tracks;

static int compare_rows(const void *p, const void *q)
{
    const Spot *a = p, *b = q;
    return a->frame != b->frame ? (a->frame < b->frame ? -1 : 1) : (a->object > b->object) - (a->object < b->object);
}

/* Those that are in a frame, in order of frames and labels; their number. */
static size_t sort_objects(Tracks *t)
{
    size_t n = 0;
    Spot *spots = malloc(((size_t)t->job->n + 1) * sizeof *spots);
    for (uint32_t i = 1; spots != NULL && i <= t->job->n; i++) {
        if (isfinite(t->job->frame[i])) {
            spots[n++] = (Spot){.frame = t->job->frame[i], .object = i};
        }
    }
    if (spots != NULL) {
        qsort(spots, n, sizeof *spots, compare_rows);
    }
    for (size_t i = 0; i < n; i++) {
        t->order[i] = spots[i].object;
    }
    free(spots);
    return spots != NULL ? n : SIZE_MAX;
}

static void index_links(Tracks *t)
{
    size_t n = t->job->n;
    if (t->links.n > 0) {
        qsort(t->links.at, t->links.n, sizeof *t->links.at, compare_links);
    }
    for (size_t k = 0; k < t->links.n; k++) {
        t->start[t->links.at[k].from + 1]++;
        t->back[t->links.at[k].to + 1]++;
    }
    for (size_t i = 0; i <= n; i++) {
        t->start[i + 1] += t->start[i];
        t->back[i + 1] += t->back[i];
    }
    for (size_t k = t->links.n; k-- > 0;) { /* back[i + 1] goes down to where the links of i begin */
        t->by_to[--t->back[t->links.at[k].to + 1]] = k;
    }
    memmove(t->back, t->back + 1, (n + 1) * sizeof *t->back);
    t->back[n + 1] = t->links.n;
}

static int frames_between(const Tracks *t, Link link)
{
    return (int)(t->job->frame[link.to] - t->job->frame[link.from]);
}

/* What the second round gains by a link: ends and beginnings, and one of them with what goes on. */
static int64_t later_gain(const Tracks *t, Link link)
{
    bool end = t->next[link.from] == 0, beginning = t->before[link.to] == 0, beside = frames_between(t, link) == 1;
    bool wanted = end ? beginning || (t->job->merges && beside) : beginning && t->job->splits && beside;
    return wanted ? (int64_t)UNIT * (end + beginning) - link.cost : -1;
}

static bool run_round(Tracks *t, bool later, uint32_t *next, uint32_t *before)
{
    for (size_t k = 0; k < t->links.n; k++) {
        Link link = t->links.at[k];
        t->gain[k] = later ? later_gain(t, link) : frames_between(t, link) == 1 ? 2 * (int64_t)UNIT - link.cost : -1;
    }
    Assign a = {.n = t->job->n,
                .links = t->links.at,
                .gain = t->gain,
                .start = t->start,
                .back = t->back,
                .by_to = t->by_to,
                .next = next,
                .before = before};
    return assign(&a, t->links.n);
}

/* Takes over what the second round has found: `also` and `joins` keep what makes a track split or merge. */
static void join_rounds(Tracks *t)
{
    for (uint32_t i = 1; i <= t->job->n; i++) {
        uint32_t to = t->also[i];
        if (to != 0 && t->next[i] == 0 && t->before[to] == 0) {
            t->next[i] = to;
            t->before[to] = i;
            t->also[i] = t->joins[to] = 0;
        }
    }
}

static void number_tracks(const Tracks *t, size_t n, TrackWhat what, uint32_t *out)
{
    uint32_t *id = (uint32_t *)t->gain, last = 0; /* the gains are done with */
    memset(id, 0, ((size_t)t->job->n + 1) * sizeof *id);
    for (size_t k = 0; k < n; k++) {
        uint32_t i = t->order[k], before = t->before[i], joins = t->joins[i], mother = before != 0 ? before : joins;
        bool first = before == 0 || joins != 0 || t->also[before] != 0;
        id[i] = first ? ++last : id[before];
        uint32_t parent = id[mother], second = before != 0 ? id[joins] : 0;
        uint32_t of_track = what == TRACK_PARENT ? parent : second;
        out[i] = what == TRACK_ID ? id[i] : first ? of_track : out[before];
    }
}

static bool open_tracks(Tracks *t)
{
    size_t n = (size_t)t->job->n + 2, links = t->links.n > n ? t->links.n : n;
    t->start = calloc(n, sizeof *t->start);
    t->back = calloc(n, sizeof *t->back);
    t->by_to = calloc(links, sizeof *t->by_to);
    t->gain = calloc(links, sizeof *t->gain);
    t->next = calloc(n, sizeof *t->next);
    t->before = calloc(n, sizeof *t->before);
    t->also = calloc(n, sizeof *t->also);
    t->joins = calloc(n, sizeof *t->joins);
    t->order = calloc(n, sizeof *t->order);
    return t->start && t->back && t->by_to && t->gain && t->next && t->before && t->also && t->joins && t->order;
}

static void close_tracks(Tracks *t)
{
    void *const held[] = {t->links.at, t->start,  t->back, t->by_to, t->gain,
                          t->next,     t->before, t->also, t->joins, t->order};
    for (size_t i = 0; i < sizeof held / sizeof *held; i++) {
        free(held[i]);
    }
}

static bool link_objects(Tracks *t, TrackWhat what, uint32_t *out)
{
    const TrackJob *job = t->job;
    if (!(job->paired ? pair_links(job, &t->links) : near_links(job, &t->links)) || !open_tracks(t)) {
        return false;
    }
    index_links(t);
    size_t n = sort_objects(t);
    bool more = job->gap > 0 || job->splits || job->merges;
    bool ok =
        n != SIZE_MAX && run_round(t, false, t->next, t->before) && (!more || run_round(t, true, t->also, t->joins));
    if (ok) {
        join_rounds(t);
        number_tracks(t, n, what, out);
    }
    return ok;
}

bool track_count(double pairs, uint64_t *count, Err *err)
{
    const double most = INT32_MAX - 1;
    bool fits = pairs >= 0 && pairs <= most;
    *count = fits ? (uint64_t)pairs : 0;
    return fits || err_set(err, CODE_USAGE, "track: %g pairs of objects are not a number up to %.0f", pairs, most);
}

bool track_objects(const TrackJob *job, TrackWhat what, uint32_t *out, Err *err)
{
    Tracks t = {.job = job};
    if (!job->paired && !(job->limit > 0 && job->limit < INFINITY)) {
        return err_set(err, CODE_USAGE, "track: %g is no distance", job->limit);
    }
    for (uint32_t i = 1; i <= job->n; i++) {
        if (job->last[i] > job->frame[i]) {
            return err_set(
                err, CODE_USAGE,
                "object %u is in frames %.0f to %.0f: track links objects of single frames; label each frame by "
                "itself, label(mask, connectivity = 8), or take labels apart, label_planes(labels)",
                i, (double)job->frame[i], (double)job->last[i]);
        }
    }
    memset(out, 0, ((size_t)job->n + 1) * sizeof *out);
    bool ok = link_objects(&t, what, out);
    close_tracks(&t);
    return ok || err_set(err, CODE_MEMORY, "no memory for the links of %u objects that may follow one another", job->n);
}
