/* hull: the incremental convex hull in space with neighbour links between faces. */
#include "hull.h"

#include <stdlib.h>
#include <string.h>

/* Corners counter-clockwise from outside; across[i] is the face beyond the edge i, i + 1. */
typedef struct Face {
    int corner[3], across[3];
    int64_t normal[3], offset;
    bool alive, visible;
} Face;

typedef struct Hull {
    const HullPoint *points;
    Face *faces;
    int n, cap;
    int *free; /* dead faces, to be used again */
    int n_free;
    int *starts; /* for each point: the new face whose first edge starts there */
    int *edges;  /* the horizon: face and edge in turn */
    int n_edges;
} Hull;

static int64_t dot(const int64_t a[3], const int64_t b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const HullPoint *o, const HullPoint *a, const HullPoint *b, int64_t out[3])
{
    int64_t u[3], v[3];
    for (int k = 0; k < 3; k++) {
        u[k] = a->at[k] - o->at[k];
        v[k] = b->at[k] - o->at[k];
    }
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        out[k] = u[i] * v[j] - u[j] * v[i];
    }
}

static bool above(const Face *face, const HullPoint *first, const HullPoint *p)
{
    int64_t d[3];
    for (int k = 0; k < 3; k++) {
        d[k] = p->at[k] - first->at[k];
    }
    return dot(face->normal, d) > 0;
}

static bool grow(Hull *h)
{
    int cap = h->cap == 0 ? 64 : 2 * h->cap;
    Face *faces = realloc(h->faces, (size_t)cap * sizeof *faces);
    if (faces == NULL) {
        return false;
    }
    h->faces = faces;
    int *list = realloc(h->free, (size_t)cap * sizeof *list);
    if (list == NULL) {
        return false;
    }
    h->free = list;
    int *edges = realloc(h->edges, 6 * (size_t)cap * sizeof *edges);
    if (edges == NULL) {
        return false;
    }
    h->edges = edges;
    h->cap = cap;
    return true;
}

/* Adds the face a, b, c; its number or -1 when memory is out. */
static int add_face(Hull *h, int a, int b, int c)
{
    if (h->n_free == 0 && h->n == h->cap && !grow(h)) {
        return -1;
    }
    int at = h->n_free > 0 ? h->free[--h->n_free] : h->n++;
    Face *f = &h->faces[at];
    *f = (Face){.corner = {a, b, c}, .alive = true};
    cross(&h->points[a], &h->points[b], &h->points[c], f->normal);
    return at;
}

/* Four points that span space; false when there are none. */
static bool find_corners(const HullPoint *p, size_t n, int corner[4])
{
    int64_t normal[3] = {0, 0, 0};
    int found = 1;
    corner[0] = 0;
    for (size_t i = 1; i < n && found < 4; i++) {
        int64_t d[3];
        for (int k = 0; k < 3; k++) {
            d[k] = p[i].at[k] - p[0].at[k];
        }
        bool apart = dot(d, d) > 0;
        if (found == 2) {
            cross(&p[0], &p[corner[1]], &p[i], normal);
            apart = dot(normal, normal) > 0;
        } else if (found == 3) {
            apart = dot(normal, d) != 0;
        }
        if (apart) {
            corner[found++] = (int)i;
        }
        /* Points passed over lie on the line or plane so far and span nothing with it. */
    }
    if (found == 4) {
        int64_t d[3];
        for (int k = 0; k < 3; k++) {
            d[k] = p[corner[3]].at[k] - p[0].at[k];
        }
        cross(&p[0], &p[corner[1]], &p[corner[2]], normal);
        if (dot(normal, d) > 0) { /* the fourth point must lie below the first face */
            int swap = corner[1];
            corner[1] = corner[2];
            corner[2] = swap;
        }
    }
    return found == 4;
}

/* Makes faces i and j neighbours along the edge that they share. */
static void link_faces(Hull *h, int i, int j)
{
    for (int a = 0; a < 3; a++) {
        for (int b = 0; b < 3; b++) {
            if (h->faces[i].corner[a] == h->faces[j].corner[(b + 1) % 3] &&
                h->faces[i].corner[(a + 1) % 3] == h->faces[j].corner[b]) {
                h->faces[i].across[a] = j;
                h->faces[j].across[b] = i;
            }
        }
    }
}

static bool start_hull(Hull *h, const int c[4])
{
    static const int FACES[4][3] = {{0, 1, 2}, {0, 3, 1}, {1, 3, 2}, {2, 3, 0}};
    for (int i = 0; i < 4; i++) {
        if (add_face(h, c[FACES[i][0]], c[FACES[i][1]], c[FACES[i][2]]) < 0) {
            return false;
        }
    }
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < i; j++) {
            link_faces(h, i, j);
        }
    }
    return true;
}

/* The edges between faces that see the point and faces that do not. */
static void find_horizon(Hull *h, int point)
{
    h->n_edges = 0;
    bool any = false;
    for (int i = 0; i < h->n; i++) {
        Face *f = &h->faces[i];
        f->visible = f->alive && above(f, &h->points[f->corner[0]], &h->points[point]);
        any = any || f->visible;
    }
    for (int i = 0; any && i < h->n; i++) {
        for (int k = 0; k < 3 && h->faces[i].visible; k++) {
            if (!h->faces[h->faces[i].across[k]].visible) {
                h->edges[2 * h->n_edges] = i;
                h->edges[2 * h->n_edges++ + 1] = k;
            }
        }
    }
}

static bool add_point(Hull *h, int point)
{
    find_horizon(h, point);
    int old = h->n, n_edges = h->n_edges;
    for (int e = 0; e < n_edges; e++) {
        const Face *f = &h->faces[h->edges[2 * e]];
        int k = h->edges[2 * e + 1];
        int a = f->corner[k], b = f->corner[(k + 1) % 3], beyond = f->across[k];
        int at = add_face(h, a, b, point);
        if (at < 0) {
            return false;
        }
        link_faces(h, at, beyond);
        h->starts[a] = at;
        h->edges[2 * e] = at;
    }
    for (int e = 0; e < n_edges; e++) {
        Face *f = &h->faces[h->edges[2 * e]];
        int next = h->starts[f->corner[1]];
        f->across[1] = next;
        h->faces[next].across[2] = h->edges[2 * e];
    }
    for (int i = 0; i < old && n_edges > 0; i++) {
        if (h->faces[i].visible) {
            h->faces[i].alive = h->faces[i].visible = false;
            h->free[h->n_free++] = i;
        }
    }
    return true;
}

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t r = a % b;
        a = b;
        b = r;
    }
    return llabs(a);
}

static int compare_planes(const void *a, const void *b)
{
    const HullPlane *p = a, *q = b;
    for (int k = 0; k < 3; k++) {
        if (p->normal[k] != q->normal[k]) {
            return p->normal[k] < q->normal[k] ? -1 : 1;
        }
    }
    return (p->offset > q->offset) - (p->offset < q->offset);
}

static bool collect(const Hull *h, HullPlane **planes, int *n)
{
    HullPlane *list = malloc((size_t)h->n * sizeof *list);
    if (list == NULL) {
        return false;
    }
    int count = 0, unique = 0;
    for (int i = 0; i < h->n; i++) {
        const Face *f = &h->faces[i];
        if (!f->alive) {
            continue;
        }
        HullPlane *p = &list[count++];
        int64_t divisor = common_divisor(common_divisor(f->normal[0], f->normal[1]), f->normal[2]);
        for (int k = 0; k < 3; k++) {
            p->normal[k] = f->normal[k] / divisor;
        }
        p->offset = dot(p->normal, h->points[f->corner[0]].at);
    }
    qsort(list, (size_t)count, sizeof *list, compare_planes);
    for (int i = 0; i < count; i++) {
        if (i == 0 || compare_planes(&list[i], &list[unique - 1]) != 0) {
            list[unique++] = list[i];
        }
    }
    *planes = list;
    *n = unique;
    return true;
}

bool hull_planes(const HullPoint *points, size_t n_points, HullPlane **planes, int *n)
{
    int corner[4];
    *planes = NULL;
    *n = 0;
    if (n_points < 4 || !find_corners(points, n_points, corner)) {
        return true;
    }
    Hull h = {.points = points};
    h.starts = calloc(n_points, sizeof *h.starts);
    bool ok = h.starts != NULL && start_hull(&h, corner);
    for (size_t i = 0; ok && i < n_points; i++) {
        ok = add_point(&h, (int)i);
    }
    ok = ok && collect(&h, planes, n);
    free(h.faces);
    free(h.free);
    free(h.edges);
    free(h.starts);
    return ok;
}
