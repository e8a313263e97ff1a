/*
 * ref_shape: distances, growth of labels, floods, grey reconstruction, maxima and hulls in plain C.
 *
 * Nearest pixels are found axis by axis, z, y, x: along each axis every pixel takes the best of
 * what the pixels of its line have found so far, the first of equals.  So of sites that are as near
 * as each other the one with the smallest x wins, then that with the smallest y, then z: the rule
 * of scipy.ndimage.distance_transform_edt, whose axes come in this order too.
 */
#include "ref.h"

#include "hull.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void *allocate(size_t n, size_t size)
{
    void *at = calloc(n + 1, size);
    assert(at != NULL);
    return at;
}

static size_t pixel_at(RefShape s, int x, int y, int plane)
{
    return ((size_t)plane * (size_t)s.h + (size_t)y) * (size_t)s.w + (size_t)x;
}

/* Coordinates of a pixel; z is its plane, counted over all channels. */
typedef struct Spot {
    int x, y, z;
} Spot;

static Spot spot_of(RefShape s, size_t p)
{
    size_t row = p / (size_t)s.w;
    return (Spot){(int)(p % (size_t)s.w), (int)(row % (size_t)s.h), (int)(row / (size_t)s.h)};
}

/* The neighbour at an offset; false when it lies outside the volume. */
static bool neighbour(RefShape s, size_t p, Spot offset, size_t *q)
{
    Spot at = spot_of(s, p);
    int x = at.x + offset.x, y = at.y + offset.y, z = at.z % s.d + offset.z;
    if (x < 0 || y < 0 || z < 0 || x >= s.w || y >= s.h || z >= s.d) {
        return false;
    }
    *q = pixel_at(s, x, y, at.z + offset.z);
    return true;
}

/* All neighbours, the nearest first, equally near ones in raster order; their number. */
static int offsets_around(int connectivity, Spot out[26])
{
    int n = 0;
    for (int far = 1; far <= connectivity; far++) {
        for (int k = 0; k < 27; k++) {
            Spot o = {k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1};
            if (o.x * o.x + o.y * o.y + o.z * o.z == far) {
                out[n++] = o;
            }
        }
    }
    return n;
}

/* ---- distance -------------------------------------------------------------------------- */

enum { AXIS_Z, AXIS_Y, AXIS_X };

typedef struct Nearest {
    RefShape s;
    const double *spacing; /* x, y, z */
    Spot *site;            /* x < 0: none */
} Nearest;

/* The squared distance of two pixels along the axes up to `axis`. */
static double square_to(const Nearest *n, int axis, Spot a, Spot b)
{
    double dz = (a.z - b.z) * n->spacing[2], dy = (a.y - b.y) * n->spacing[1];
    double dx = (a.x - b.x) * n->spacing[0];
    double sum = dz * dz;
    if (axis >= AXIS_Y) {
        sum += dy * dy;
    }
    if (axis >= AXIS_X) {
        sum += dx * dx;
    }
    return sum;
}

/* The best site that pixel p finds among those of the pixels on its line along an axis. */
static Spot best_of_line(const Nearest *n, int axis, size_t p)
{
    const RefShape s = n->s;
    const int length[] = {s.d, s.h, s.w};
    const size_t step[] = {(size_t)s.w * (size_t)s.h, (size_t)s.w, 1};
    Spot at = spot_of(s, p), best = {-1, 0, 0};
    const int place[] = {at.z % s.d, at.y, at.x};
    const Spot *line = n->site + (p - (size_t)place[axis] * step[axis]);
    double least = INFINITY;
    for (int i = 0; i < length[axis]; i++) {
        Spot site = line[(size_t)i * step[axis]];
        double d = site.x < 0 ? INFINITY : square_to(n, axis, site, at);
        if (d < least) {
            least = d;
            best = site;
        }
    }
    return best;
}

/* From sites of their own to the nearest sites of all pixels. */
static void find_nearest(Nearest *n)
{
    size_t pixels = ref_pixels(n->s);
    Spot *found = allocate(pixels, sizeof *found);
    for (int axis = AXIS_Z; axis <= AXIS_X; axis++) {
        for (size_t p = 0; p < pixels; p++) {
            found[p] = best_of_line(n, axis, p);
        }
        memcpy(n->site, found, pixels * sizeof *found);
    }
    free(found);
}

void ref_distance(const uint8_t *mask, RefShape s, const double spacing[3], float *out)
{
    size_t pixels = ref_pixels(s);
    Nearest n = {s, spacing, allocate(pixels, sizeof *n.site)};
    for (size_t p = 0; p < pixels; p++) {
        n.site[p] = mask[p] ? (Spot){-1, 0, 0} : spot_of(s, p);
    }
    find_nearest(&n);
    for (size_t p = 0; p < pixels; p++) {
        double square = square_to(&n, AXIS_X, n.site[p], spot_of(s, p));
        out[p] = n.site[p].x < 0 ? INFINITY : (float)sqrt(square);
    }
    free(n.site);
}

void ref_nearest_label(const uint32_t *labels, RefShape s, double limit, const double spacing[3], uint32_t *out)
{
    size_t pixels = ref_pixels(s);
    Nearest n = {s, spacing, allocate(pixels, sizeof *n.site)};
    for (size_t p = 0; p < pixels; p++) {
        n.site[p] = labels[p] == 0 ? (Spot){-1, 0, 0} : spot_of(s, p);
    }
    find_nearest(&n);
    for (size_t p = 0; p < pixels; p++) {
        Spot site = n.site[p];
        bool within = site.x >= 0 && sqrt(square_to(&n, AXIS_X, site, spot_of(s, p))) <= limit;
        out[p] = within ? labels[pixel_at(s, site.x, site.y, site.z)] : labels[p];
    }
    free(n.site);
}

/* ---- watershed ------------------------------------------------------------------------- */

/*
 * scikit-image's flood since 0.25, step by step.  Markers all enter with age 0, so that the order
 * in which equal ones leave is that of this very heap: it must stay as it is.  In raster order they
 * have ages of their own.  A pixel of a line spreads as often as it was reached.  That changes
 * nothing but the heap's order, so that it matters only while markers wait, and can take forever:
 * it ends after 16 pushes a pixel, or a quarter of a million where pixels are few.
 */
static uint64_t patience(size_t volume)
{
    return volume < 1 << 14 ? 1 << 18 : 16 * (uint64_t)volume;
}

typedef struct Drop {
    float level; /* the highest value on its way */
    uint64_t age;
    size_t at, source;
} Drop;

typedef struct Flood {
    const float *image;
    RefShape s;
    Spot offsets[26];
    int n_offsets;
    uint8_t *mask;
    uint32_t *out;
    Drop *heap;
    size_t n, cap;
    size_t waiting;         /* markers that have not left the heap */
    uint64_t age, patience; /* age up to which lines spread again */
} Flood;

/* NaN floods last. */
static bool comes_before(const Drop *a, const Drop *b)
{
    bool last_a = isnan(a->level), last_b = isnan(b->level);
    if (last_a || last_b) {
        return last_a && last_b ? a->age < b->age : last_b;
    }
    return a->level != b->level ? a->level < b->level : a->age < b->age;
}

static void swap(Drop *a, Drop *b)
{
    Drop kept = *a;
    *a = *b;
    *b = kept;
}

static void push(Flood *f, Drop drop)
{
    if (f->n == f->cap) {
        f->cap = 2 * f->cap + 64;
        f->heap = realloc(f->heap, f->cap * sizeof *f->heap);
        assert(f->heap != NULL);
    }
    size_t child = f->n++;
    f->heap[child] = drop;
    while (child > 0 && comes_before(&f->heap[child], &f->heap[(child - 1) / 2])) {
        swap(&f->heap[child], &f->heap[(child - 1) / 2]);
        child = (child - 1) / 2;
    }
}

static Drop pop(Flood *f)
{
    Drop first = f->heap[0];
    f->heap[0] = f->heap[--f->n];
    size_t at = 0, least = 0;
    do {
        at = least;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < f->n; child++) {
            least = comes_before(&f->heap[child], &f->heap[least]) ? child : least;
        }
        swap(&f->heap[at], &f->heap[least]);
    } while (least != at);
    return first;
}

/* Does a label come to a pixel beside another one?  Then the pixel is a part of the line: it leaves
 * the mask. */
static bool meets_line(Flood *f, size_t p, uint32_t label)
{
    bool meets = false;
    size_t q;
    for (int i = 0; i < f->n_offsets && !meets; i++) {
        meets = neighbour(f->s, p, f->offsets[i], &q) && f->mask[q] && f->out[q] != 0 && f->out[q] != label;
    }
    f->mask[p] = !meets;
    return meets;
}

static void spread(Flood *f, Drop drop, bool line)
{
    size_t q;
    for (int i = 0; i < f->n_offsets; i++) {
        if (!neighbour(f->s, drop.at, f->offsets[i], &q) || !f->mask[q] || f->out[q] != 0) {
            continue;
        }
        if (!line) {
            f->out[q] = f->out[drop.at];
        }
        float level = isnan(drop.level) || f->image[q] < drop.level ? drop.level : f->image[q];
        push(f, (Drop){level, ++f->age, q, drop.source});
    }
}

static void flood(Flood *f, bool line)
{
    while (f->n > 0) {
        Drop drop = pop(f);
        bool reached = f->out[drop.at] != 0 && drop.at != drop.source;
        bool again = line && !f->mask[drop.at];
        f->waiting -= drop.at == drop.source;
        if ((line && reached) || (again && (f->waiting == 0 || f->age > f->patience))) {
            continue;
        }
        if (line && !again && !meets_line(f, drop.at, f->out[drop.source])) {
            f->out[drop.at] = f->out[drop.source];
        }
        spread(f, drop, line);
    }
}

uint32_t ref_watershed(const float *image, const uint32_t *markers, const uint8_t *mask, RefShape s, RefFlood how,
                       uint32_t *out)
{
    size_t pixels = ref_pixels(s), volume = pixels / (size_t)s.c;
    Flood f = {.image = image, .s = s, .out = out, .mask = allocate(pixels, 1)};
    f.n_offsets = offsets_around(how.connectivity, f.offsets);
    for (size_t p = 0; p < pixels; p++) {
        f.mask[p] = mask == NULL || mask[p] != 0;
        out[p] = f.mask[p] ? markers[p] : 0;
    }
    for (size_t first = 0; first < pixels; first += volume) {
        f.age = 1;
        f.patience = f.age + patience(volume);
        for (size_t p = first; p < first + volume; p++) {
            if (out[p] != 0) {
                push(&f, (Drop){image[p], how.raster ? ++f.age : 0, p, p});
                f.waiting++;
            }
        }
        flood(&f, how.line);
    }
    uint32_t largest = 0;
    for (size_t p = 0; p < pixels; p++) {
        largest = out[p] > largest ? out[p] : largest;
    }
    free(f.mask);
    free(f.heap);
    return largest;
}

/* ---- reconstruction -------------------------------------------------------------------- */

/*
 * Numbers as integers in the same order, -0 before 0, NaN before all.  Erosion is dilation of
 * numbers with the other sign.
 */
static int32_t rank_of(float v, bool negated)
{
    int32_t bits;
    v = negated ? -v : v;
    memcpy(&bits, &v, sizeof bits);
    return isnan(v) ? INT32_MIN : bits >= 0 ? bits : INT32_MIN - bits - 1;
}

static float value_of(int32_t rank, bool negated)
{
    int32_t bits = rank >= 0 ? rank : INT32_MIN - rank - 1;
    float v;
    memcpy(&v, &bits, sizeof v);
    v = negated ? -v : v;
    return rank == INT32_MIN ? NAN : v;
}

static int32_t least_of(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

void ref_reconstruct(const float *seed, const float *mask, RefShape s, int connectivity, bool erosion, float *out)
{
    size_t pixels = ref_pixels(s), q;
    int32_t *rank = allocate(pixels, sizeof *rank), *most = allocate(pixels, sizeof *most);
    Spot offsets[26];
    int n = offsets_around(connectivity, offsets);
    for (size_t p = 0; p < pixels; p++) {
        most[p] = rank_of(mask[p], erosion);
        rank[p] = least_of(rank_of(seed[p], erosion), most[p]);
    }
    bool changed = true;
    for (int round = 0; changed; round++) {
        changed = false;
        for (size_t k = 0; k < pixels; k++) {
            size_t p = round % 2 == 0 ? k : pixels - 1 - k;
            for (int i = 0; i < n; i++) {
                if (neighbour(s, p, offsets[i], &q) && least_of(rank[q], most[p]) > rank[p]) {
                    rank[p] = least_of(rank[q], most[p]);
                    changed = true;
                }
            }
        }
    }
    for (size_t p = 0; p < pixels; p++) {
        out[p] = value_of(rank[p], erosion);
    }
    free(rank);
    free(most);
}

/* ---- maxima ---------------------------------------------------------------------------- */

typedef struct Plateau {
    size_t *pixels;
    size_t n;
    bool highest;
} Plateau;

/* All pixels that hang together with p and are as high; `seen` is set for them. */
static void walk_plateau(const float *v, RefShape s, const Spot *offsets, int n, size_t p, uint8_t *seen,
                         Plateau *plateau)
{
    size_t q;
    plateau->n = 0;
    plateau->highest = true;
    plateau->pixels[plateau->n++] = p;
    seen[p] = 1;
    for (size_t k = 0; k < plateau->n; k++) {
        for (int i = 0; i < n; i++) {
            if (!neighbour(s, plateau->pixels[k], offsets[i], &q)) {
                continue;
            }
            plateau->highest = plateau->highest && !(v[q] > v[p]);
            if (v[q] == v[p] && !seen[q]) {
                seen[q] = 1;
                plateau->pixels[plateau->n++] = q;
            }
        }
    }
}

void ref_local_maxima(const float *v, RefShape s, int connectivity, uint8_t *out)
{
    size_t pixels = ref_pixels(s), volume = pixels / (size_t)s.c;
    Spot offsets[26];
    int n = offsets_around(connectivity, offsets);
    uint8_t *seen = allocate(pixels, 1);
    Plateau plateau = {.pixels = allocate(volume, sizeof(size_t))};
    memset(out, 0, pixels);
    for (size_t p = 0; p < pixels; p++) {
        if (seen[p] || isnan(v[p])) {
            continue;
        }
        walk_plateau(v, s, offsets, n, p, seen, &plateau);
        for (size_t k = 0; k < plateau.n && plateau.highest && plateau.n < volume; k++) {
            out[plateau.pixels[k]] = 1;
        }
    }
    free(seen);
    free(plateau.pixels);
}

/* ---- hulls ----------------------------------------------------------------------------- */

/* The volume of a channel, and the pixels in it that bear one label, in doubled coordinates. */
typedef struct Body {
    const uint32_t *labels;
    RefShape s;
    HullPoint *points;
    size_t n;
} Body;

/* A pixel is the diamond around it that reaches half a pixel far.  In the plane, the diamond is
 * made a prism from z = 0 to 1. */
static void add_pixel(Body *b, int x, int y, int z)
{
    bool flat = b->s.d == 1;
    for (int k = 0; k < (flat ? 8 : 6); k++) {
        HullPoint p = {{2 * x, 2 * y, 2 * z}};
        int axis = flat ? k / 2 % 2 : k / 2;
        p.at[axis] += k % 2 == 0 ? -1 : 1;
        p.at[2] += flat ? k / 4 : 0;
        b->points[b->n++] = p;
    }
}

/* Only the first and the last pixel of a row can be corners of the hull. */
static void add_row(Body *b, uint32_t label, int y, int z)
{
    int first = -1, last = -1;
    for (int x = 0; x < b->s.w; x++) {
        if (b->labels[pixel_at(b->s, x, y, z)] == label) {
            first = first < 0 ? x : first;
            last = x;
        }
    }
    if (first >= 0) {
        add_pixel(b, first, y, z);
        add_pixel(b, last, y, z);
    }
}

static bool is_inside(const HullPlane *planes, int n, int x, int y, int z)
{
    bool inside = true;
    for (int i = 0; i < n && inside; i++) {
        const int64_t *v = planes[i].normal;
        inside = 2 * (v[0] * x + v[1] * y + v[2] * z) <= planes[i].offset;
    }
    return inside;
}

static void paint_label(Body *b, uint32_t label, uint8_t *out)
{
    b->n = 0;
    for (int row = 0; row < b->s.h * b->s.d; row++) {
        add_row(b, label, row % b->s.h, row / b->s.h);
    }
    HullPlane *planes = NULL;
    int n = 0;
    bool ok = hull_planes(b->points, b->n, &planes, &n);
    assert(ok);
    (void)ok;
    for (size_t p = 0; p < ref_pixels(b->s) && n > 0; p++) {
        Spot at = spot_of(b->s, p);
        out[p] |= is_inside(planes, n, at.x, at.y, at.z);
    }
    free(planes);
}

static int compare_labels(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

void ref_hull(const uint32_t *labels, RefShape s, uint32_t count, uint8_t *out)
{
    (void)count; /* the image itself tells which labels there are */
    RefShape volume = {s.w, s.h, s.d, 1};
    size_t pixels = ref_pixels(volume);
    uint32_t *sorted = allocate(pixels, sizeof *sorted);
    Body b = {.s = volume, .points = allocate(16 * (size_t)s.h * (size_t)s.d, sizeof *b.points)};
    memset(out, 0, ref_pixels(s));
    for (int channel = 0; channel < s.c; channel++) {
        b.labels = labels + (size_t)channel * pixels;
        memcpy(sorted, b.labels, pixels * sizeof *sorted);
        qsort(sorted, pixels, sizeof *sorted, compare_labels);
        for (size_t i = 0; i < pixels; i++) {
            if (sorted[i] != 0 && (i == 0 || sorted[i] != sorted[i - 1])) {
                paint_label(&b, sorted[i], out + (size_t)channel * pixels);
            }
        }
    }
    free(sorted);
    free(b.points);
}
