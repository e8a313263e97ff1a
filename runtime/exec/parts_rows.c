/*
 * parts_rows: rows between the host and the windows of parts.
 *
 * They go through the blocks of staging.h on lanes of their own.  Where a window is there twice, the
 * rows of the next part go up, and those of the part before come down, while a part is computed;
 * the marks say when a slot may be written again.  From one part to the next the rows that both
 * need stay on the host, so that inputs are read once a segment, in order.
 */
#include "parts_boxes.h"
#include "parts_share.h"

#include <stdlib.h>
#include <string.h>

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void rows_around(const Segment *seg, const PartsWindow *w, int at, int rows, int *from, int *to)
{
    *from = larger(at - w->lo, 0);
    *to = smaller(at + rows + w->hi, seg->plan->extent);
}

void parts_window_rows(const Segment *seg, const PartsWindow *w, int *from, int *to)
{
    rows_around(seg, w, seg->at, seg->rows, from, to);
}

/* Slabs are what a part has of an image without a gap: rows of one plane, or planes of one channel.  So many
 * they are; */
static int slabs_of(const Segment *seg, int buffer)
{
    const ExecGrid *g = parts_grid_of(seg->run, buffer);
    return seg->plan->planes ? g->c : g->planes;
}

static bool is_in_order(const Segment *seg, int buffer)
{
    return seg->plan->cols == 0 &&
           (parts_is_vector(seg->run->plan, buffer) || !parts_is_across(seg->plan, parts_grid_of(seg->run, buffer)));
}

bool parts_gives_in_turn(const Segment *seg, int buffer)
{
    return seg->shared && is_in_order(seg, buffer) && slabs_of(seg, buffer) == 1;
}

bool parts_gives_late(const Segment *seg, int buffer)
{
    bool in_turn = parts_gives_in_turn(seg, buffer);
    bool gives = in_turn && (seg->run->owners->number == 0 || seg->run->grain[buffer] > 0);
    return !is_in_order(seg, buffer) || (seg->shared && !gives);
}

/* and so many rows of the image lie before a slab's plane (channel), and before the slab in a window with
 * `rows` rows (planes) of it. */
static int64_t slab_line(const Segment *seg, int buffer, int slab)
{
    const ExecGrid *g = parts_grid_of(seg->run, buffer);
    return (int64_t)slab * g->h * (seg->plan->planes ? g->d : 1);
}

static int64_t slab_row(const Segment *seg, const PartsWindow *w, int rows, int slab)
{
    const ExecGrid *g = parts_grid_of(seg->run, w->buffer);
    if (!parts_is_across(seg->plan, g)) {
        return slab * w->rows;
    }
    return ((int64_t)(slab / g->d) * w->planes + slab % g->d) * rows;
}

/* ---- stretches of rows ----------------------------------------------------------------- */

static StagingRows rows_of(const Run *run, const Stretch *s)
{
    size_t pitch = parts_pitch_of(run, s->buffer);
    return (StagingRows){.mem = s->mem,
                         .offset = (size_t)s->there * pitch,
                         .pitch = pitch,
                         .line = parts_row_bytes(run->exec, s->buffer),
                         .rows = (size_t)s->lines};
}

static bool write_lines(Run *run, const Stretch *s, const char *from)
{
    size_t bytes = parts_row_bytes(run->exec, s->buffer);
    for (int64_t done = 0; done < s->lines;) {
        int64_t line = s->line + done, before = s->first - line, left = s->lines - done;
        PartsSpan span = parts_span_of(run, s->buffer, line, before > 0 ? least(before, left) : left);
        TRY(!exec_stopped(run->exec, run->err));
        TRY(parts_write(&run->pixels, s->buffer, span, from + (size_t)done * bytes, s->given && before <= 0, run->err));
        done += span.rows;
    }
    return true;
}

/* The oldest of the stretches that come down, to where it is to go. */
static bool take_oldest(Run *run)
{
    char *rows;
    Stretch s = run->fetched[0];
    TRY(staging_take(run->exec->staging, &rows, run->err));
    run->n_fetched--;
    memmove(run->fetched, run->fetched + 1, sizeof s * (size_t)run->n_fetched);
    return write_lines(run, &s, rows);
}

static bool take_all(Run *run)
{
    while (run->n_fetched > 0) {
        TRY(take_oldest(run));
    }
    return true;
}

static bool fetch(Run *run, const Stretch *s)
{
    StagingRows from = rows_of(run, s);
    while (staging_is_full(run->exec->staging)) {
        TRY(take_oldest(run));
    }
    TRY(staging_fetch(run->exec->staging, &from, run->err));
    run->fetched[run->n_fetched++] = *s;
    return true;
}

/* The next stretch of at most a block; false: there are no more lines. */
static bool cut_block(const Run *run, Stretch *s, int64_t done, int64_t lines)
{
    s->lines = least((int64_t)staging_rows(parts_row_bytes(run->exec, s->buffer)), lines - done);
    return s->lines > 0;
}

/* ---- resident rows --------------------------------------------------------------------- */

/* What is resident of a buffer in this segment; -1: none.  Across planes there is none, nor where an owner has not the
 * first rows. */
static int resident_of(const Segment *seg, int buffer)
{
    const PartsPlan *parts = seg->run->parts;
    bool possible = seg->run->owners == NULL && seg->plan->cols == 0 &&
                    !parts_is_across(seg->plan, parts_grid_of(seg->run, buffer));
    for (int i = 0; i < parts->n_residents && possible; i++) {
        if (parts->residents[i].buffer == buffer && seg->residents[i] != NULL) {
            return i;
        }
    }
    return -1;
}

/* Resident channels lie apart in another way than those of a window. */
DevMem *parts_resident(const Segment *seg, int i)
{
    const PartsWindow *w = &seg->plan->windows[i];
    int from, to, resident = w->load && !w->whole && !w->boxed ? resident_of(seg, w->buffer) : -1;
    rows_around(seg, w, seg->at, seg->rows, &from, &to);
    bool all = resident >= 0 && to <= seg->run->filled[resident] && parts_grid_of(seg->run, w->buffer)->c == 1;
    return all ? seg->residents[resident] : NULL;
}

/* Rows [from, to) of a window between it and where they are resident, in the order of the work queue. */
static bool copy_rows(const Segment *seg, int resident, int window, int from, int to, bool keep)
{
    Run *run = seg->run;
    const PartsResident *s = &run->parts->residents[resident];
    const PartsWindow *w = &seg->plan->windows[window];
    DevMem *there = seg->places[seg->places[1][window] ? seg->slot : 0][window];
    int first, end;
    rows_around(seg, w, seg->at, seg->rows, &first, &end);
    for (int c = 0; from < to && c < parts_grid_of(run, w->buffer)->c; c++) {
        size_t at = ((size_t)c * (size_t)w->rows + (size_t)(from - first)) * s->bytes;
        size_t kept = ((size_t)c * (size_t)s->rows + (size_t)from) * s->bytes;
        size_t bytes = (size_t)(to - from) * s->bytes;
        TRY(keep ? dev_copy(run->exec->dev, there, at, seg->residents[resident], kept, bytes, run->err)
                 : dev_copy(run->exec->dev, seg->residents[resident], kept, there, at, bytes, run->err));
    }
    return true;
}

/* Rows up to `to` that the part has and that are to be resident are so then. */
static bool keep_rows(Segment *seg, int window, int to)
{
    int resident = resident_of(seg, seg->plan->windows[window].buffer);
    int most = resident >= 0 ? smaller(parts_resident_rows(seg->plan, resident), to) : 0;
    int *filled = resident >= 0 ? &seg->run->filled[resident] : NULL;
    if (filled == NULL || most <= *filled) {
        return true;
    }
    TRY(copy_rows(seg, resident, window, *filled, most, true));
    *filled = most;
    return true;
}

bool parts_keep_made(Segment *seg)
{
    for (int i = 0; i < seg->plan->n_windows; i++) {
        const PartsWindow *w = &seg->plan->windows[i];
        TRY(!w->keep || w->load || w->whole || keep_rows(seg, i, seg->at + seg->rows));
    }
    return true;
}

bool parts_open_residents(Segment *seg)
{
    Run *run = seg->run;
    for (int i = 0; i < run->parts->n_residents; i++) {
        const PartsResident *resident = &run->parts->residents[i];
        int rows = parts_resident_rows(seg->plan, i);
        run->filled[i] = smaller(run->filled[i], rows);
        for (int k = 0; k < seg->plan->n_windows; k++) { /* what is made anew */
            const PartsWindow *w = &seg->plan->windows[k];
            run->filled[i] = w->buffer == resident->buffer && !w->load ? 0 : run->filled[i];
        }
        TRY(exec_slice(run->exec, resident->offset, parts_resident_bytes(run->plan, resident, rows), &seg->residents[i],
                       run->err));
    }
    return true;
}

void parts_close_residents(Segment *seg)
{
    for (int i = seg->run->parts->n_residents - 1; i >= 0 && seg->residents != NULL; i--) {
        dev_free(seg->run->exec->dev, seg->residents[i]);
    }
}

/* ---- whole images ---------------------------------------------------------------------- */

static int64_t all_lines(const Run *run, int buffer)
{
    const ExecGrid *g = parts_grid_of(run, buffer);
    return (int64_t)g->planes * g->h;
}

bool parts_load_image(Run *run, int buffer, DevMem *mem)
{
    Stretch s = {.buffer = buffer, .mem = mem};
    Staging *staging = run->exec->staging;
    TRY(dev_follow(run->exec->dev, DEV_UPLOAD, DEV_COMPUTE, run->err));
    for (; cut_block(run, &s, s.line, all_lines(run, buffer)); s.line = s.there += s.lines) {
        StagingRows to = rows_of(run, &s);
        char *rows;
        TRY(staging_room(staging, to.line * to.rows, &rows, run->err) &&
            parts_read_lines(run, buffer, s.line, s.lines, rows) && staging_send(staging, &to, run->err));
    }
    return dev_follow(run->exec->dev, DEV_COMPUTE, DEV_UPLOAD, run->err);
}

bool parts_save_image(Run *run, int buffer, DevMem *mem)
{
    Stretch s = {.buffer = buffer, .mem = mem, .given = run->parts->given[buffer] && !run->muted};
    TRY(dev_follow(run->exec->dev, DEV_DOWNLOAD, DEV_COMPUTE, run->err));
    for (; cut_block(run, &s, s.line, all_lines(run, buffer)); s.line = s.there += s.lines) {
        TRY(fetch(run, &s));
    }
    return take_all(run);
}

/* ---- up -------------------------------------------------------------------------------- */

/* Rows of a window for the part, of one channel, on their way up. */
typedef struct Loading {
    Segment *seg;
    int window, from, to;
    Stretch s;
    int64_t first, rest, next; /* lines: of `from`; that are left of the part before; from where on the
                                  next part needs them again, counted from `first` */
    char *kept;                /* rests of this slab */
    bool lent;                 /* rows went up without coming by here */
} Loading;

/* Fills a block with what the part before has left, and then from the file or store; leaves behind
 * what the next part needs. */
static bool fill(const Loading *l, char *rows)
{
    Run *run = l->seg->run;
    size_t bytes = parts_row_bytes(run->exec, l->s.buffer);
    int64_t k = l->s.line - l->first, end = k + l->s.lines;
    int64_t old = l->rest > k ? least(l->rest, end) - k : 0, again = k > l->next ? k : l->next;
    if (old > 0) {
        memcpy(rows, l->kept + (size_t)k * bytes, (size_t)old * bytes);
    }
    TRY(parts_read_lines(run, l->s.buffer, l->s.line + old, l->s.lines - old, rows + (size_t)old * bytes));
    if (again < end) { /* never over rests that are still to be read: they move down */
        memcpy(l->kept + (size_t)(again - l->next) * bytes, rows + (size_t)(again - k) * bytes,
               (size_t)(end - again) * bytes);
    }
    return true;
}

/* Straight from where an input lies, as far as that is lent. */
static bool send_lent(Loading *l, int64_t end)
{
    Run *run = l->seg->run;
    Device *dev = run->exec->dev;
    while (l->s.line < end) {
        DevMark *done;
        size_t pitch;
        PartsSpan span = parts_span_of(run, l->s.buffer, l->s.line, end - l->s.line);
        const void *at = parts_lent(&run->pixels, l->s.buffer, &span, &pitch);
        if (at == NULL) {
            return true;
        }
        l->s.lines = span.rows;
        StagingRows to = rows_of(run, &l->s);
        bool sent = dev_send_rows(dev, to.mem, to.offset, to.pitch, at, pitch, to.line, to.rows, &done, run->err);
        dev_mark_free(dev, done); /* the rows stay as they are */
        TRY(sent && !exec_stopped(run->exec, run->err));
        l->lent = true;
        l->s.line += span.rows;
        l->s.there += span.rows;
    }
    return true;
}

static bool send_copied(Loading *l, int64_t end)
{
    Run *run = l->seg->run;
    Staging *staging = run->exec->staging;
    for (; cut_block(run, &l->s, l->s.line, end); l->s.line += l->s.lines) {
        StagingRows to = rows_of(run, &l->s);
        char *rows;
        TRY(staging_room(staging, to.line * to.rows, &rows, run->err) && fill(l, rows) &&
            staging_send(staging, &to, run->err));
        l->s.there += l->s.lines;
    }
    return true;
}

/* What is to be resident is not worth pinning. */
static bool load_slab(Loading *l, int known)
{
    int64_t lines = parts_lines_of(l->seg, l->s.buffer), end = l->first + (l->to - l->from) * lines;
    int64_t once = known > l->from ? l->first + (known - l->from) * lines : l->first;
    return send_copied(l, least(once, end)) && send_lent(l, end) && send_copied(l, end);
}

/* Memory for rests, once a segment. */
static bool make_rest(Segment *seg, int i, size_t bytes)
{
    Rest *rest = &seg->rests[i];
    if (rest->rows == NULL) {
        rest->rows = malloc(bytes + 1);
    }
    return rest->rows != NULL || err_set(seg->run->err, CODE_MEMORY, "out of host memory for rows around parts");
}

static bool load_window(Segment *seg, int i)
{
    Run *run = seg->run;
    const PartsWindow *w = &seg->plan->windows[i];
    Rest *rest = &seg->rests[i];
    int64_t lines = parts_lines_of(seg, w->buffer);
    size_t kept = (size_t)(w->lo + w->hi) * (size_t)lines * parts_row_bytes(run->exec, w->buffer);
    int end = seg->at + seg->rows, begin, resident = resident_of(seg, w->buffer), slabs = slabs_of(seg, w->buffer);
    int filled = resident >= 0 ? run->filled[resident] : 0;
    if (seg->col > 0) { /* there since the first tile of these rows */
        return true;
    }
    Loading l = {.seg = seg, .window = i};
    rows_around(seg, w, seg->at, seg->rows, &begin, &l.to);
    l.from = smaller(larger(begin, filled), l.to);
    TRY(resident < 0 || copy_rows(seg, resident, i, begin, l.from, false));
    TRY(make_rest(seg, i, kept * (size_t)slabs));
    int known = resident >= 0 ? larger(filled, smaller(parts_resident_rows(seg->plan, resident), l.to)) : 0;
    int next = larger(larger(end - w->lo, 0), known);
    l.rest = seg->at > 0 && rest->to > l.from ? (rest->to - l.from) * lines : 0;
    l.next = (end < seg->plan->extent ? next - l.from : l.to - l.from) * lines;
    for (int slab = 0; slab < slabs; slab++) {
        l.kept = rest->rows + (size_t)slab * kept;
        l.first = slab_line(seg, w->buffer, slab) + l.from * lines;
        l.s = (Stretch){.buffer = w->buffer,
                        .mem = seg->places[seg->slot][i],
                        .there = (slab_row(seg, w, l.to - begin, slab) + l.from - begin) * lines,
                        .line = l.first};
        TRY(load_slab(&l, known));
    }
    *rest = (Rest){rest->rows, next, l.lent ? 0 : l.to};
    return true;
}

bool parts_load_slab(Segment *seg)
{
    Run *run = seg->run;
    TRY(dev_after(run->exec->dev, DEV_UPLOAD, seg->computed[seg->slot], run->err));
    for (int i = 0; i < seg->plan->n_windows; i++) {
        TRY(!seg->plan->windows[i].in_rounds || parts_load_box(seg, i));
    }
    return dev_follow(run->exec->dev, DEV_COMPUTE, DEV_UPLOAD, run->err);
}

/* Rows of window i go up for the part, before its first round. */
static bool loads_rows(const Segment *seg, int i)
{
    const PartsWindow *w = &seg->plan->windows[i];
    bool later = w->in_rounds && seg->plan->rounds > 1;
    return w->load && !w->whole && !later && seg->run->resident[w->buffer] == NOWHERE && parts_resident(seg, i) == NULL;
}

bool parts_load_rows(Segment *seg)
{
    Run *run = seg->run;
    seg->loads = false;
    for (int i = 0; i < seg->plan->n_windows; i++) {
        if (loads_rows(seg, i)) {
            TRY(seg->loads || dev_after(run->exec->dev, DEV_UPLOAD, seg->used[seg->slot], run->err));
            TRY((seg->plan->windows[i].boxed ? parts_load_box : load_window)(seg, i));
            seg->loads = true;
        }
    }
    TRY(!seg->loads || dev_follow(run->exec->dev, DEV_COMPUTE, DEV_UPLOAD, run->err));
    for (int i = 0; i < seg->plan->n_windows; i++) {
        const PartsWindow *w = &seg->plan->windows[i];
        int from, to;
        rows_around(seg, w, seg->at, seg->rows, &from, &to);
        TRY(!w->load || w->whole || w->boxed || keep_rows(seg, i, to));
    }
    return true;
}

/* ---- down ------------------------------------------------------------------------------ */

/* The next rows to be fetched of the part itself, without the rows around it; false: there are no
 * more. */
static bool next_stretch(Segment *seg, Stretch *s)
{
    Run *run = seg->run;
    Saving *at = &seg->saving;
    for (; at->rows > 0 && seg->plan->cols == 0 && at->window < seg->plan->n_windows; at->window++, at->slab = 0) {
        const PartsWindow *w = &seg->plan->windows[at->window];
        int slabs = w->keep && !w->whole ? slabs_of(seg, w->buffer) : 0;
        bool given = run->parts->given[w->buffer] && !run->muted && !parts_gives_late(seg, w->buffer);
        for (; at->slab < slabs; at->slab++, at->line = 0) {
            int64_t lines = parts_lines_of(seg, w->buffer);
            int from, to;
            rows_around(seg, w, at->at, at->rows, &from, &to);
            *s = (Stretch){
                .buffer = w->buffer,
                .mem = seg->places[at->slot][at->window],
                .there = (slab_row(seg, w, to - from, at->slab) + at->at - from) * lines + at->line,
                .line = slab_line(seg, w->buffer, at->slab) + at->at * lines + at->line,
                .given = given,
                .first = given && seg->shared ? parts_share_first(seg, w->buffer) : 0,
            };
            if (cut_block(run, s, at->line, at->rows * lines)) {
                at->line += s->lines;
                return true;
            }
        }
    }
    return false;
}

bool parts_begin_saving(Segment *seg)
{
    Run *run = seg->run;
    Stretch s;
    seg->saving = (Saving){.at = seg->at, .rows = seg->rows, .slot = seg->slot};
    TRY(dev_after(run->exec->dev, DEV_DOWNLOAD, seg->computed[seg->slot], run->err));
    while (!staging_is_full(run->exec->staging) && next_stretch(seg, &s)) {
        TRY(fetch(run, &s));
    }
    return true;
}

bool parts_finish_saving(Segment *seg)
{
    Stretch s;
    while (next_stretch(seg, &s)) {
        TRY(fetch(seg->run, &s));
    }
    return take_all(seg->run);
}
