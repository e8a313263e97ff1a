/* image_tiff_levels: smaller pages with the same kind of pixels and the same proportions, as many as the image has. */
#include "image_tiff_levels.h"

#include <math.h>
#include <stdlib.h>

enum { LEVELS_MOST = 64 }; /* a level is half of another one, and extents have 31 bits */

/* The same proportions as far as whole numbers of pixels tell: half of 15 is 7 or 8. */
static bool is_smaller(const TiffLayout *fine, const TiffLayout *coarse)
{
    double x = (double)coarse->x, y = (double)coarse->y, fine_x = (double)fine->x, fine_y = (double)fine->y;
    return coarse->x <= fine->x && coarse->y <= fine->y && (x < fine_x || y < fine_y) &&
           (x - 1) * fine_y <= fine_x * (y + 1) && (y - 1) * fine_x <= fine_y * (x + 1);
}

static bool is_alike(const TiffLayout *fine, const TiffLayout *coarse)
{
    return fine->bits == coarse->bits && fine->format == coarse->format && fine->samples == coarse->samples &&
           is_smaller(fine, coarse);
}

static bool no_level(int64_t level, int64_t levels, Err *err)
{
    return levels == 0 ? err_set(err, CODE_FILES, "it has no level %lld, only the image itself", (long long)level)
                       : err_set(err, CODE_FILES, "it has no level %lld; levels are 0 .. %lld", (long long)level,
                                 (long long)levels);
}

/* ---- levels below pages ------------------------------------------------------------------ */

/* The directory of a page's level, 0 where it has none; *levels: how many it has. */
static bool below(const TiffSource *source, uint64_t page, int64_t level, uint64_t *at, int64_t *levels, Err *err)
{
    TiffDirectory dir = {0};
    uint64_t *all = NULL;
    bool ok = tiff_directory_read(source, page, &dir, err);
    const TiffEntry *entry = ok ? tiff_find(&dir, TAG_SUB_IFDS) : NULL;
    *levels = entry != NULL ? (int64_t)entry->count : 0;
    *at = 0;
    if (*levels > 0 && tiff_uints(source, entry, &all, err)) {
        *at = level <= *levels ? all[level - 1] : 0;
    }
    ok = ok && (*levels == 0 || all != NULL);
    free(all);
    tiff_directory_free(&dir);
    return ok;
}

/* ---- levels among pages ------------------------------------------------------------------ */

typedef struct Level {
    uint64_t x, y;
    int64_t pages;
} Level;

/* All pages of the file one after the other; `look` counts or keeps those that might be of a level.  A list that leads back
 * to an earlier page ends, as in Brent's algorithm. */
typedef struct Walk {
    const TiffLayout *fine;
    Level level[LEVELS_MOST];
    int levels;
    const Level *wanted; /* NULL: pages of all levels are counted */
    uint64_t *ifd;       /* its directories so far */
    int64_t n;
} Walk;

static void look(Walk *walk, uint64_t at, const TiffLayout *page)
{
    if (walk->wanted != NULL) {
        if (page->x == walk->wanted->x && page->y == walk->wanted->y && walk->n < walk->wanted->pages) {
            walk->ifd[walk->n++] = at;
        }
        return;
    }
    int i = 0;
    while (i < walk->levels && (walk->level[i].x != page->x || walk->level[i].y != page->y)) {
        i++;
    }
    if (i < LEVELS_MOST) {
        walk->levels = i == walk->levels ? i + 1 : walk->levels;
        walk->level[i] = (Level){page->x, page->y, walk->level[i].pages + 1};
    }
}

/* QPTIFF has its coarsest levels in strips, like a thumbnail of the same proportions; but levels are halves of halves. */
static bool is_halved(const TiffLayout *fine, const TiffLayout *coarse)
{
    bool halved = false;
    for (int i = 1; i < 31; i++) {
        halved |= fine->x >> i == coarse->x && fine->y >> i == coarse->y;
    }
    return halved;
}

static bool might_be_level(const TiffSource *source, const TiffDirectory *dir, const TiffLayout *fine,
                           const TiffLayout *page)
{
    return is_alike(fine, page) &&
           (page->tiled == fine->tiled || (is_halved(fine, page) && tiff_is_marked(source, dir)));
}

static bool walk_chain(const TiffSource *source, Walk *walk, Err *err)
{
    TiffDirectory dir = {0};
    TiffLayout page;
    uint64_t seen = 0, pages = 0;
    bool ok = true;
    for (uint64_t at = source->first; ok && at != 0 && at != seen; at = dir.next) {
        seen = (pages & (pages + 1)) == 0 ? at : seen;
        pages++;
        ok = tiff_directory_read(source, at, &dir, err) && tiff_layout_read(source, &dir, &page, err);
        if (ok && might_be_level(source, &dir, walk->fine, &page)) {
            look(walk, at, &page);
        }
    }
    tiff_directory_free(&dir);
    return ok;
}

static int by_size(const void *a, const void *b)
{
    const Level *one = a, *other = b;
    double left = (double)one->x * (double)one->y, right = (double)other->x * (double)other->y;
    return (left < right) - (left > right);
}

static bool among(const TiffSource *source, const TiffPages *pages, int64_t level, const TiffLayout *fine, Err *err)
{
    Walk walk = {.fine = fine, .ifd = pages->ifd};
    int64_t n = 0;
    TRY(pages->front > 0 || walk_chain(source, &walk, err));
    for (int i = 0; i < walk.levels; i++) {
        if (walk.level[i].pages == pages->n) {
            walk.level[n++] = walk.level[i];
        }
    }
    if (level > n) {
        return no_level(level, n, err);
    }
    qsort(walk.level, (size_t)n, sizeof *walk.level, by_size);
    walk.wanted = &walk.level[level - 1];
    return walk_chain(source, &walk, err);
}

/* ---- both ---------------------------------------------------------------------------------- */

static bool check_shape(const TiffSource *source, uint64_t at, const TiffLayout *fine, TiffLayout *coarse, Err *err)
{
    TiffDirectory dir = {0};
    bool ok = tiff_directory_read(source, at, &dir, err) && tiff_layout_read(source, &dir, coarse, err) &&
              tiff_layout_check(source, &dir, coarse, err);
    bool colours = fine->photometric == PHOTOMETRIC_COLOURS || fine->photometric == PHOTOMETRIC_LUMA;
    bool in_colours = coarse->photometric == PHOTOMETRIC_COLOURS || coarse->photometric == PHOTOMETRIC_LUMA;
    bool same = colours ? in_colours : coarse->photometric == fine->photometric;
    tiff_directory_free(&dir);
    return ok && ((same && is_alike(fine, coarse) && coarse->alphas == fine->alphas) ||
                  err_set(err, CODE_FILES, "it is no smaller version of the image"));
}

bool tiff_level_pages(const TiffSource *source, const TiffPages *pages, int64_t level, TiffLayout *shape, Err *err)
{
    const TiffLayout fine = *shape;
    uint64_t at;
    int64_t levels, ignored;
    TRY(below(source, pages->ifd[pages->front], level, &at, &levels, err));
    if (levels == 0) {
        TRY(among(source, pages, level, &fine, err));
    } else if (level > levels) {
        return no_level(level, levels, err);
    }
    for (int64_t i = pages->front; levels > 0 && i < pages->n; i++) {
        TRY(below(source, pages->ifd[i], level, &pages->ifd[i], &ignored, err));
    }
    return check_shape(source, pages->ifd[pages->front], &fine, shape, err) ||
           err_prefix(err, "level %lld", (long long)level);
}

double tiff_level_step(uint64_t fine, uint64_t coarse)
{
    double exact = (double)fine / (double)coarse, step = round(exact);
    return fabs(step * (double)coarse - (double)fine) < step ? step : exact;
}
