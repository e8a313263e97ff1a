/*
 * image_tiff: TIFF and BigTIFF files in.
 *
 * The directories are walked once when a file is opened; pages are then reached by offset, so
 * that a stack of any length can be read in any order.  What the tags say becomes the image's axes, sizes and
 * remarks; its pixels are image_tiff_pixels.c's.
 */
#include "image_format.h"
#include "image_meta.h"
#include "image_microscope.h"
#include "image_tiff_levels.h"
#include "image_tiff_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- pages ----------------------------------------------------------------------------- */

static bool page_error(const TiffFile *file, int64_t page, Err *err)
{
    return file->pages > 1 || file->plan.contiguous ? err_prefix(err, "page %lld", (long long)page + 1) : false;
}

static bool add_page(TiffFile *file, uint64_t at, Err *err)
{
    if (file->pages == file->cap) {
        int64_t cap = file->cap == 0 ? 16 : 2 * file->cap;
        uint64_t *more = realloc(file->ifd, (size_t)cap * sizeof *more);
        if (more == NULL) {
            return err_set(err, CODE_FILES, "out of memory");
        }
        file->ifd = more;
        file->cap = cap;
    }
    file->ifd[file->pages++] = at;
    return true;
}

/* The page that says how all that are read must look. */
static bool take_model(TiffFile *file, const TiffDirectory *dir, TiffLayout *layout, Err *err)
{
    TRY(tiff_layout_check(&file->source, dir, layout, err));
    file->shape = *layout;
    return true;
}

/* The description of the file, whatever its first page is.  OME-XML counts all pages, thumbnails too. */
static bool read_description(TiffFile *file, const TiffDirectory *first, const char *name, Err *err)
{
    free(file->text);
    TRY(tiff_text(&file->source, first, TAG_DESCRIPTION, &file->text, err));
    TRY(file->text == NULL || file->ome != NULL || ome_read(file->text, name, &file->ome, err));
    file->all_count = file->ome != NULL;
    return true;
}

/* A page that is not left out: of an OME-TIFF what lies before the first page of the image that is read belongs to
 * others.  *more is false at the first page that looks otherwise, where reading ends. */
static bool take_page(TiffFile *file, uint64_t at, const TiffDirectory *dir, bool *more, Err *err)
{
    TiffLayout layout;
    int64_t model = file->ome != NULL ? ome_first_page(file->ome) : 0;
    TRY(tiff_layout_read(&file->source, dir, &layout, err));
    if (file->pages == model) {
        TRY(take_model(file, dir, &layout, err));
    } else if (file->pages > model && !tiff_layout_same(&file->shape, &layout)) {
        file->rest = at;
        *more = false;
        return true;
    }
    return add_page(file, at, err);
}

/*
 * Collects the pages that look like the first, up to one that does not, without those that are marked.  A chain that
 * leads back to an earlier page is found as in Brent's algorithm: one remembered offset, replaced ever more rarely.
 */
static bool walk_pages(TiffFile *file, const char *name, bool marks, Err *err)
{
    TiffDirectory dir = {0};
    uint64_t seen = 0, walked = 0;
    bool ok = true, more = true;
    file->thumbnails = 0;
    for (uint64_t at = file->source.first; ok && more && at != 0; at = dir.next) {
        if (at == seen) {
            ok = err_set(err, CODE_FILES, "its list of pages leads back to an earlier page");
            break;
        }
        seen = (walked & (walked + 1)) == 0 ? at : seen;
        walked++;
        ok = tiff_directory_read(&file->source, at, &dir, err) &&
             (walked > 1 || read_description(file, &dir, name, err));
        bool marked = ok && tiff_is_marked(&file->source, &dir);
        file->thumbnails += marked && file->all_count;
        if (ok && !(marks && marked && !file->all_count)) {
            ok = take_page(file, at, &dir, &more, err);
        }
    }
    tiff_directory_free(&dir);
    if (!ok && walked > 1) {
        err_prefix(err, "page %lld", (long long)walked);
    }
    return ok;
}

/* Where all pages are marked, marks say nothing. */
static bool find_pages(TiffFile *file, const char *path, Err *err)
{
    const char *slash = strrchr(path, '/'), *name = slash == NULL ? path : slash + 1;
    TRY(walk_pages(file, name, true, err));
    file->all_marked = file->pages == 0;
    TRY(!file->all_marked || walk_pages(file, name, false, err));
    if (file->ome != NULL && file->pages <= ome_first_page(file->ome)) { /* the XML is not about these pages */
        ome_forget_planes(file->ome);
        file->pages = 0;
        TRY(walk_pages(file, name, false, err));
    }
    return true;
}

/* The pages that are left out without being marked.  Nobody reads them: where their list is damaged, or leads
 * back as above, it ends. */
static int64_t count_rest(const TiffFile *file)
{
    TiffDirectory dir = {0};
    Err ignored = {0};
    uint64_t at = file->rest, seen = 0;
    int64_t pages = 0, unmarked = 0;
    while (at != 0 && at != seen && tiff_directory_read(&file->source, at, &dir, &ignored)) {
        seen = (pages & (pages + 1)) == 0 ? at : seen;
        pages++;
        unmarked += !tiff_is_marked(&file->source, &dir);
        at = dir.next;
    }
    tiff_directory_free(&dir);
    return unmarked;
}

/* ---- pages and planes ---------------------------------------------------------------------- */

/* The first page of the image that is read. */
static int64_t model_page(const TiffFile *file)
{
    return file->ome != NULL ? ome_first_page(file->ome) : 0;
}

static bool read_tags(TiffFile *file, MetaTags *tags, Err *err)
{
    const TiffSource *source = &file->source;
    *tags = (MetaTags){
        .ome = file->ome,
        .pages = file->pages,
        .x = (int64_t)file->shape.x,
        .y = (int64_t)file->shape.y,
        .samples = (int64_t)file->shape.samples,
        .planar = file->shape.planar,
        .elem = file->shape.elem,
    };
    TRY(tiff_directory_read(source, file->ifd[model_page(file)], &file->dir, err));
    TRY(tiff_inverse(source, &file->dir, TAG_X_RESOLUTION, &tags->size_x, err));
    TRY(tiff_inverse(source, &file->dir, TAG_Y_RESOLUTION, &tags->size_y, err));
    TRY(tiff_uint(source, &file->dir, TAG_RESOLUTION_UNIT, 2, &tags->resolution_unit, err));
    TRY(tiff_microscope(source, &file->dir, &tags->microscope, err));
    if (file->ome == NULL) { /* that of a thumbnail in front is not about the image */
        free(file->text);
        TRY(tiff_text(source, &file->dir, TAG_DESCRIPTION, &file->text, err));
    }
    tags->description = file->text;
    return true;
}

/*
 * A description that promises more planes than there are pages is true when the planes lie behind
 * the first one's pixels.  When only a part of them does, the file is cut off; when none does, the
 * description was copied from another file.  Nobody copies the tag of an STK file.
 */
static bool check_contiguous(TiffFile *file, const MetaTags *tags, ImageInfo *info, Err *err)
{
    uint64_t planes = (uint64_t)(file->plan.t * file->plan.c * file->plan.z), *raw;
    uint64_t size = file->shape.y * tiff_row_bytes(&file->shape), here = 0;
    TRY(tiff_layout_raw(&file->source, &file->dir, &file->shape, &raw, err));
    if (raw != NULL && !file->shape.planar && file->dir.next == 0 && raw[0] < file->source.size) {
        here = (file->source.size - raw[0]) / size;
    }
    bool in_front = raw != NULL && file->ifd[0] < raw[0]; /* nothing but pixels follows */
    free(raw);
    if (here >= planes) {
        return true;
    }
    bool stk = tags->microscope.behind > 0;
    if (stk && here == 0) {
        return err_set(err, CODE_FILES,
                       "its %llu planes are compressed or lie apart, which pipec reads in no STK file; "
                       "convert it to OME-TIFF with Bio-Formats (bfconvert)",
                       (unsigned long long)planes);
    }
    if (stk || (here > 1 && in_front && file->source.size > file->ifd[0] + 4096)) {
        return err_set(err, CODE_FILES, "it is cut off: it should hold %llu planes and has %llu",
                       (unsigned long long)planes, (unsigned long long)here);
    }
    meta_plain(tags, info, &file->plan);
    info->remarks[REMARK_DESCRIPTION] = 1;
    return true;
}

static bool read_meta(TiffFile *file, ImageInfo *info, Err *err)
{
    MetaTags tags;
    TRY(read_tags(file, &tags, err));
    TRY(meta_read(&tags, info, &file->plan, err));
    return !file->plan.contiguous || check_contiguous(file, &tags, info, err);
}

/* ---- what pixels stand for ------------------------------------------------------------------ */

/* What the directory says of pixels that is left to the user. */
static bool remark_tags(const TiffFile *file, ImageInfo *info, Err *err)
{
    const TiffDirectory *dir = &file->dir;
    uint64_t orientation;
    TRY(tiff_uint(&file->source, dir, TAG_ORIENTATION, 1, &orientation, err));
    info->remarks[REMARK_ORIENTATION] = orientation > 1;
    info->remarks[REMARK_NODATA] = tiff_find(dir, TAG_NODATA) != NULL;
    /* Palettes of more colours than a screen has steps are about display: microscopes' intensities in false colours. */
    info->remarks[REMARK_NUMBERS] =
        file->shape.photometric == PHOTOMETRIC_INDEX && !file->stored && file->shape.bits > 8;
    info->remarks[REMARK_ALPHA] = file->shape.alphas != 0;
    TiffWhite white = tiff_white(&file->shape, file->stored);
    info->remarks[REMARK_BITS] = white == WHITE_BITS;
    info->remarks[REMARK_WHITE] = white == WHITE_TURNED;
    info->remarks[REMARK_WHITE_KEPT] = white == WHITE_KEPT;
    info->remarks[REMARK_MARKS] = file->all_marked;
    info->remarks[REMARK_UNCALIBRATED] |= tiff_find(dir, TAG_GRAY_CURVE) != NULL;
    return true;
}

/* False where f32 does not hold what the polynomial makes of a value. */
static bool make_curve(const MetaPlan *plan, float *curve, size_t n)
{
    bool finite = true;
    for (size_t i = 0; i < n; i++) {
        double value = 0;
        for (int k = plan->terms - 1; k >= 0; k--) {
            value = value * (double)i + plan->term[k];
        }
        curve[i] = (float)value;
        finite = finite && isfinite(curve[i]);
    }
    return finite;
}

/* ImageJ's calibration of bytes and 16 bits; one that only makes them signed leaves them whole. */
static bool apply_calibration(TiffFile *file, ImageInfo *info, Err *err)
{
    const MetaPlan *plan = &file->plan;
    const TiffLayout *shape = &file->shape;
    bool makes_signed = plan->terms == 2 && plan->term[0] == -32768 && plan->term[1] == 1;
    bool plain = shape->format == FORMAT_UINT && (shape->bits == 8 || shape->bits == 16);
    if (plan->terms == 0 || (makes_signed && shape->format == FORMAT_INT && shape->bits == 16)) {
        return true;
    }
    info->remarks[plain ? REMARK_CALIBRATED : REMARK_UNCALIBRATED] = 1;
    file->offset = plain && makes_signed && shape->bits == 16;
    if (file->offset || !plain) {
        info->elem = file->offset ? ELEM_I16 : info->elem;
        return true;
    }
    size_t n = (size_t)1 << shape->bits;
    file->curve = malloc(n * sizeof *file->curve);
    if (file->curve == NULL) {
        return err_set(err, CODE_FILES, "out of memory");
    }
    if (!make_curve(plan, file->curve, n)) {
        free(file->curve);
        file->curve = NULL;
        info->remarks[REMARK_CALIBRATED] = 0;
        info->remarks[REMARK_UNCALIBRATED] = 1;
        return true;
    }
    info->elem = ELEM_F32;
    return true;
}

/* ImageJ's palettes and white zeros are about display; its pixel values are the stored ones, but for a calibration. */
static bool read_meaning(TiffFile *file, ImageInfo *info, Err *err)
{
    const TiffLayout *shape = &file->shape;
    bool gray = true;
    file->stored = strcmp(info->style, "imagej") == 0;
    if (tiff_has_palette(file, shape)) {
        TRY(tiff_palette(&file->source, &file->dir, shape, file->map, &gray, err));
    }
    int64_t samples = gray ? (int64_t)shape->kept : 3;
    bool rgb = shape->photometric == PHOTOMETRIC_COLOURS || shape->photometric == PHOTOMETRIC_LUMA;
    info->elem = tiff_has_palette(file, shape) ? ELEM_U8 : shape->elem;
    info->rgb = (rgb || !gray) && samples == 3 && info->c == 1;
    info->palette = !gray;
    info->has_c = info->has_c || samples > 1;
    info->c *= samples;
    TRY(rgb || apply_calibration(file, info, err));
    return remark_tags(file, info, err);
}

/* ---- the format ------------------------------------------------------------------------- */

static bool is_tiff(const unsigned char *head, size_t n)
{
    return n >= 4 && (memcmp(head, "II\x2A\0", 4) == 0 || memcmp(head, "MM\0\x2A", 4) == 0 ||
                      memcmp(head, "II\x2B\0", 4) == 0 || memcmp(head, "MM\0\x2B", 4) == 0);
}

static void close_tiff(void *state)
{
    TiffFile *file = state;
    if (file == NULL) {
        return;
    }
    for (int i = 0; i < TIFF_DECODERS; i++) {
        tiff_decoder_close(&file->decoder[i]);
    }
    close(file->source.fd);
    tiff_drop_bands(file);
    free(file->band);
    free(file->raw);
    free(file->absent);
    free(file->curve);
    free(file->scratch);
    free(file->ifd);
    free(file->text);
    ome_free(file->ome);
    meta_plan_free(&file->plan);
    tiff_directory_free(&file->dir);
    free(file);
}

/* An image that the XML lists has its pages among those that are left out. */
static void count_unread(const TiffFile *file, ImageInfo *info)
{
    const MetaPlan *plan = &file->plan;
    int64_t rest = count_rest(file), listed = plan->t * plan->c * plan->z + plan->unfinished + file->thumbnails;
    int64_t unlisted = plan->page != NULL && file->pages > listed ? file->pages - listed : 0;
    if (plan->others > 0 && rest + unlisted > 0) {
        info->remarks[REMARK_IMAGES] = plan->others;
    } else {
        info->remarks[REMARK_PAGES] = rest;
        info->remarks[REMARK_UNLISTED] = unlisted;
    }
    info->remarks[REMARK_UNFINISHED] = plan->unfinished;
    info->remarks[REMARK_ABSENT] = plan->absent;
    info->remarks[REMARK_FILES] = plan->in_other_files;
    info->remarks[REMARK_XML] = plan->elsewhere;
}

/* What of the pages lies in the file: sparse files leave strips and tiles out. */
static bool count_bytes(const TiffFile *file, double *bytes, Err *err)
{
    TiffDirectory dir = {0};
    bool ok = true;
    *bytes = 0;
    for (int64_t page = model_page(file); ok && page < file->pages; page++) {
        TiffLayout layout;
        double present = 0;
        uint8_t *flags = NULL;
        ok = file->ifd[page] == 0 || (tiff_directory_read(&file->source, file->ifd[page], &dir, err) &&
                                      tiff_layout_read(&file->source, &dir, &layout, err) &&
                                      tiff_layout_check(&file->source, &dir, &layout, err) &&
                                      tiff_layout_absent(&file->source, &dir, &layout, &flags, &present, err));
        *bytes += present;
        free(flags);
    }
    tiff_directory_free(&dir);
    return ok;
}

static bool check_plausible(const TiffFile *file, Err *err)
{
    uint64_t pages = (uint64_t)(file->pages - model_page(file)), size = file->source.size;
    double bytes = tiff_page_bytes(&file->shape) * (double)pages;
    Err ignored = {0};
    return file->plan.contiguous || tiff_layout_plausible(&file->shape, pages, bytes, size, &ignored) ||
           (count_bytes(file, &bytes, err) && tiff_layout_plausible(&file->shape, pages, bytes, size, err));
}

/* What stands in brackets behind the name, "level=2": pages are those of that level from now on. */
static bool take_level(TiffFile *file, const char *part, ImageInfo *info, Err *err)
{
    const TiffPages pages = {file->ifd, model_page(file), file->plan.contiguous ? 0 : file->pages};
    const TiffLayout fine = file->shape;
    int64_t level;
    TRY(image_path_level(part, &level) ||
        err_set(err, CODE_FILES, "TIFF files have levels, as in [level=2], and no part [%s]", part));
    TRY(level == 0 || tiff_level_pages(&file->source, &pages, level, &file->shape, err));
    info->x = (int64_t)file->shape.x;
    info->y = (int64_t)file->shape.y;
    const double step[2] = {tiff_level_step(fine.x, file->shape.x), tiff_level_step(fine.y, file->shape.y)};
    for (int axis = 0; axis < 2; axis++) {
        info->origin[axis] += info->size[axis] * (step[axis] - 1) / 2;
        info->size[axis] *= step[axis];
        info->size_um[axis] *= step[axis];
    }
    return true;
}

static bool open_tiff(const ImagePath *path, int fd, ImageInfo *info, void **state, Err *err)
{
    TiffFile *file = calloc(1, sizeof *file);
    if (file == NULL) {
        close(fd);
        return err_set(err, CODE_FILES, "out of memory");
    }
    file->current = -1;
    file->source.fd = fd;
    bool ok = tiff_source_open(&file->source, fd, err) && find_pages(file, path->file, err) &&
              read_meta(file, info, err) && read_meaning(file, info, err) && take_level(file, path->part, info, err) &&
              check_plausible(file, err);
    if (!ok) {
        close_tiff(file);
        return false;
    }
    count_unread(file, info);
    *state = file;
    return true;
}

static bool read_tiff(void *state, const ImageInfo *info, const ImageRows *at, void *to, size_t pitch, Err *err)
{
    TiffFile *file = state;
    const MetaPlan *plan = &file->plan;
    int64_t samples = info->c / plan->c, c = at->c / samples;
    int sample = tiff_has_palette(file, &file->shape) ? (int)(at->c % samples)
                                                      : tiff_kept_sample(&file->shape, (int)(at->c % samples));
    int64_t plane = plan->page != NULL ? plan->page[(at->t * plan->c + c) * plan->z + at->z]
                                       : at->t * plan->step_t + c * plan->step_c + at->z * plan->step_z;
    int64_t page = plan->contiguous ? 0 : plane;
    if (at->rows == 0) {
        return true;
    }
    bool ok = file->current == page || tiff_load_page(file, page, err);
    if (ok && file->raw != NULL) {
        uint64_t offset = file->raw[file->now.planar ? sample : 0];
        if (plan->contiguous) {
            offset += (uint64_t)plane * file->now.y * tiff_row_bytes(&file->now);
        }
        ok = tiff_read_raw(file, at, sample, offset, to, pitch, err);
    } else if (ok) {
        ok = tiff_read_decoded(file, at, sample, to, pitch, err);
    }
    return ok || page_error(file, plane, err);
}

/* Pixels that lie in the file as they are wanted, of one page, are read without touching the state. */
static bool shares_tiff(void *state)
{
    TiffFile *file = state;
    Err ignored = {0};
    bool one = file->plan.contiguous || file->pages == 1;
    return one && (file->current == 0 || tiff_load_page(file, 0, &ignored)) && file->raw != NULL &&
           pixels_are_plain(&file->form);
}

static Elem numbers_tiff(void *state)
{
    TiffFile *file = state;
    file->stored = true;
    file->current = -1;
    return file->shape.elem;
}

static void see_tiff(void *state, Seen *seen)
{
    TiffFile *file = state;
    file->source.seen = seen;
}

static void use_crew_tiff(void *state, Crew *crew)
{
    TiffFile *file = state;
    file->crew = crew;
}

const ImageFormat image_tiff = {
    .name = "tif",
    .has_parts = true,
    .matches = is_tiff,
    .open = open_tiff,
    .read = read_tiff,
    .shares = shares_tiff,
    .use_crew = use_crew_tiff,
    .numbers = numbers_tiff,
    .see = see_tiff,
    .close = close_tiff,
    .create = tiff_create,
    .write = tiff_write,
    .finish = tiff_finish,
    .discard = tiff_discard,
    .grain = tiff_grain,
    .create_part = tiff_create_part,
    .end_part = tiff_end_part,
    .join = tiff_join,
};
