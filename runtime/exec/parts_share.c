/* parts_share: see parts_share.h.  Who has what follows from the plan, so that nobody need ask. */
#include "parts_share.h"

#include "../../base/digest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of an image that are swapped at a time: the pieces stay in the cache, and malloc gives the same memory again.  That of
 * larger ones is fresh each time, and its page faults take longer than all the rest. */
enum { MOST_BYTES = 4 << 20 };

static bool no_memory(Run *run)
{
    return err_set(run->err, CODE_MEMORY, "out of host memory for rows that are swapped");
}

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

/* ---- who does what --------------------------------------------------------------------------- */

bool parts_share_check(Run *run)
{
    Digest digest;
    char own[DIGEST_TEXT];
    const PartsPlan *parts = run->parts;
    OwnersPiece *pieces = calloc((size_t)run->owners->n, sizeof *pieces);
    digest_begin(&digest);
    digest_add(&digest, &parts->n, sizeof parts->n);
    for (int i = 0; i < parts->n; i++) {
        const PartsSegment *seg = &parts->segments[i];
        const int like[] = {(int)seg->kind, seg->planes, seg->extent, seg->rows, seg->n_tasks, seg->n_windows};
        digest_add(&digest, like, sizeof like);
    }
    digest_end(&digest, own);
    bool ok = (pieces != NULL || no_memory(run)) && owners_tell(run->owners, own, sizeof own, pieces, run->err);
    for (int i = 0; ok && i < run->owners->n; i++) {
        ok = memcmp(pieces[i].bytes, own, sizeof own) == 0 ||
             err_set(run->err, CODE_DEVICE,
                     "the devices are of several kinds, or have not the same memory: an image is cut alike for all; "
                     "--memory gives all the same");
    }
    if (pieces != NULL) {
        owners_drop(run->owners, pieces);
    }
    free(pieces);
    return ok;
}

/* Where the rows of owner k begin. */
static int cut_before(int extent, int rows, int k, int n)
{
    int64_t parts = ((int64_t)extent + rows - 1) / rows;
    return smaller(extent, (int)(parts * k / n * rows));
}

static bool shares(const Segment *seg, const PartsTask *task)
{
    const Run *run = seg->run;
    const ProgStep *step = &run->program->steps[task->step];
    const Primitive *primitive = step->kind == STEP_PRIMITIVE ? prim_find(step->primitive) : NULL;
    PrimCall call;
    if (primitive == NULL || run->done[task->step]) {
        return true;
    }
    double labels = step->of_value >= 0 ? run->labels[step->of_value] : (double)NAN;
    parts_call(run->plan, seg->plan, task, run->exec->dev, 0, seg->plan->rows, 0, labels, &call);
    return primitive->shares != NULL && primitive->shares(&call);
}

void parts_share_out(Segment *seg)
{
    const Run *run = seg->run;
    const PartsSegment *plan = seg->plan;
    seg->from = 0;
    seg->to = plan->extent;
    seg->shared = false;
    if (run->owners == NULL || plan->kind != PARTS_CUT) {
        return;
    }
    int n = run->owners->n, own = run->owners->number;
    seg->shared = (plan->extent + plan->rows - 1) / plan->rows >= n;
    for (int t = 0; t < plan->n_tasks; t++) {
        bool shared = shares(seg, &plan->tasks[t]);
        seg->shared = seg->shared && shared;
        run->exec->alone = shared ? run->exec->alone : run->program->steps[plan->tasks[t].step].name;
    }
    if (seg->shared) {
        seg->from = cut_before(plan->extent, plan->rows, own, n);
        seg->to = cut_before(plan->extent, plan->rows, own + 1, n);
    }
}

void parts_share_note(const Segment *seg)
{
    for (int i = 0; seg->run->owners != NULL && i < seg->plan->n_windows; i++) {
        const PartsWindow *w = &seg->plan->windows[i];
        if (w->keep) {
            bool cut = seg->shared && !w->whole;
            seg->run->made[w->buffer] = (PartsMade){seg->plan->planes, seg->plan->extent, cut ? seg->plan->rows : 0};
        }
    }
}

/* ---- who gives outputs ----------------------------------------------------------------------- */

/* Where the rows begin that owner k gives. */
static int first_given(const Run *run, int buffer, int extent, int rows, int k)
{
    const int64_t cut = cut_before(extent, rows, k, run->owners->n), grain = run->grain[buffer];
    const int64_t first = k == 0 ? 0 : grain == 0 ? extent : (cut + grain - 1) / grain * grain;
    return first < extent ? (int)first : extent;
}

int64_t parts_share_first(const Segment *seg, int buffer)
{
    const PartsSegment *plan = seg->plan;
    return first_given(seg->run, buffer, plan->extent, plan->rows, seg->run->owners->number) *
           parts_lines_of(seg, buffer);
}

/* The first owner opens the file, and tells the others of it. */
static bool agree(const Segment *seg, int output, int64_t *grain)
{
    Run *run = seg->run;
    const ExecStream *stream = run->pixels.stream;
    const bool first = run->owners->number == 0;
    ExecShare *share = calloc(1, sizeof *share);
    OwnersPiece *pieces = calloc((size_t)run->owners->n, sizeof *pieces);
    const double most = run->pixels.most[output];
    bool ok = (share != NULL && pieces != NULL) || no_memory(run);
    ok = ok && (!first || stream->share == NULL || stream->share(stream->context, output, most, true, share, run->err));
    ok = ok && owners_tell(run->owners, share, sizeof *share, pieces, run->err);
    if (ok && !first) {
        memcpy(share, pieces[0].bytes, sizeof *share);
        ok = share->grain == 0 || stream->share(stream->context, output, most, false, share, run->err);
    }
    *grain = ok ? share->grain : 0;
    if (pieces != NULL) {
        owners_drop(run->owners, pieces);
    }
    free(pieces);
    free(share);
    return ok;
}

/* The only output of a buffer; -1: there are more, or none. */
static int output_of(const Run *run, int buffer)
{
    int output = -1, n = 0;
    for (int i = 0; i < run->program->n_outputs; i++) {
        if (run->program->outputs[i].buffer == buffer) {
            output = i;
            n++;
        }
    }
    return n == 1 ? output : -1;
}

bool parts_share_agree(Segment *seg)
{
    Run *run = seg->run;
    for (int i = 0; seg->shared && i < seg->plan->n_windows; i++) {
        const PartsWindow *w = &seg->plan->windows[i];
        bool given = w->keep && !w->whole && run->parts->given[w->buffer] && !run->muted;
        int output = given && parts_gives_in_turn(seg, w->buffer) ? output_of(run, w->buffer) : -1;
        if (output >= 0 && !run->pixels.all_give[output]) {
            int64_t grain;
            TRY(agree(seg, output, &grain));
            run->pixels.all_give[output] = grain > 0;
            run->grain[w->buffer] = grain > 0 && seg->plan->planes ? 1 : grain;
        }
    }
    return true;
}

/* ---- rows between owners ----------------------------------------------------------------------- */

/* Rows (planes) from .. to - 1; none where to is not larger. */
typedef struct Range {
    int from, to;
} Range;

static Range both(Range a, Range b)
{
    return (Range){larger(a.from, b.from), smaller(a.to, b.to)};
}

/* An image whose rows are to be swapped. */
typedef struct Swap {
    Run *run;
    int buffer;
    PartsMade made;
    uint64_t slabs, apart, line; /* pieces of a row (plane); bytes between them, and of one */
    Range *wanted;               /* by owner */
    bool gives;                  /* what comes goes to outputs, and not to the store */
} Swap;

static Range had_by(const Swap *s, int k)
{
    const int n = s->run->owners->n;
    return (Range){cut_before(s->made.extent, s->made.rows, k, n), cut_before(s->made.extent, s->made.rows, k + 1, n)};
}

static uint64_t bytes_of(const Swap *s, Range range)
{
    return range.to > range.from ? (uint64_t)(range.to - range.from) * s->line * s->slabs : 0;
}

/* What goes from one owner to another, as much of it as is in the range. */
static Range passed(const Swap *s, int from, int to, Range range)
{
    return from == to ? (Range){0, 0} : both(both(s->wanted[to], had_by(s, from)), range);
}

/* Between the store and a piece. */
static bool copy(const Swap *s, Range range, char *piece, bool put)
{
    PartsStore *store = s->run->pixels.store[s->buffer];
    uint64_t bytes = bytes_of(s, range) / s->slabs;
    for (uint64_t slab = 0; bytes > 0 && slab < s->slabs; slab++, piece += bytes) {
        uint64_t at = slab * s->apart + (uint64_t)range.from * s->line;
        TRY(put ? parts_store_put(store, at, piece, bytes, s->run->err)
                : parts_store_get(store, at, piece, bytes, s->run->err));
    }
    return true;
}

/* To outputs; of an image whose rows (planes) are one piece. */
static bool give_away(const Swap *s, Range range, const char *piece)
{
    Run *run = s->run;
    const size_t bytes = parts_row_bytes(run->exec, s->buffer);
    const int64_t lines = (int64_t)(s->line / bytes);
    for (int64_t at = range.from * lines, left = bytes_of(s, range) > 0 ? (range.to - range.from) * lines : 0;
         left > 0;) {
        PartsSpan span = parts_span_of(run, s->buffer, at, left);
        TRY(parts_give_rows(&run->pixels, s->buffer, span, piece, run->err));
        at += span.rows;
        left -= span.rows;
        piece += (size_t)span.rows * bytes;
    }
    return true;
}

static bool give(const Swap *s, Range range, OwnersPiece *pieces)
{
    const Owners *owners = s->run->owners;
    for (int k = 0; k < owners->n; k++) {
        Range r = passed(s, owners->number, k, range);
        pieces[k] = (OwnersPiece){malloc((size_t)bytes_of(s, r) + 1), bytes_of(s, r)};
        TRY(pieces[k].bytes != NULL || no_memory(s->run));
        TRY(copy(s, r, pieces[k].bytes, false));
    }
    return true;
}

static bool take(const Swap *s, Range range, const OwnersPiece *pieces)
{
    const Owners *owners = s->run->owners;
    for (int k = 0; k < owners->n; k++) {
        Range r = passed(s, k, owners->number, range);
        TRY(s->gives ? give_away(s, r, pieces[k].bytes) : copy(s, r, pieces[k].bytes, true));
    }
    return true;
}

static bool swap_range(const Swap *s, Range range, OwnersPiece *given, OwnersPiece *taken)
{
    bool ok = give(s, range, given) && owners_swap(s->run->owners, given, taken, s->run->err) && take(s, range, taken);
    owners_drop(s->run->owners, given);
    owners_drop(s->run->owners, taken);
    return ok;
}

static bool any_passes(const Swap *s, Range range)
{
    bool any = false;
    for (int i = 0; i < s->run->owners->n; i++) {
        for (int k = 0; k < s->run->owners->n; k++) {
            any = any || bytes_of(s, passed(s, i, k, range)) > 0;
        }
    }
    return any;
}

static bool swap_all(const Swap *s)
{
    size_t n = (size_t)s->run->owners->n;
    OwnersPiece *pieces = calloc(2 * n, sizeof *pieces);
    uint64_t most = MOST_BYTES / (s->line * s->slabs + 1) + 1;
    int step = most < (uint64_t)s->made.extent ? (int)most : s->made.extent;
    bool ok = pieces != NULL || no_memory(s->run);
    for (int at = 0; ok && at < s->made.extent; at += step) {
        Range range = {at, smaller(at + step, s->made.extent)};
        ok = !exec_stopped(s->run->exec, s->run->err) &&
             (!any_passes(s, range) || swap_range(s, range, pieces, pieces + n));
    }
    free(pieces);
    return ok;
}

static bool begin(Swap *s, Run *run, int buffer)
{
    const ExecGrid *g = parts_grid_of(run, buffer);
    uint64_t row = parts_row_bytes(run->exec, buffer);
    *s = (Swap){.run = run, .buffer = buffer, .made = run->made[buffer]};
    s->slabs = (uint64_t)(s->made.planes ? g->c : g->planes);
    s->line = row * (uint64_t)(s->made.planes ? g->h : 1);
    s->apart = row * (uint64_t)g->h * (uint64_t)(s->made.planes ? g->d : 1);
    s->wanted = calloc((size_t)run->owners->n, sizeof *s->wanted);
    return s->wanted != NULL || no_memory(run);
}

/* Somebody has rows of it that others have not. */
static bool is_cut(const Run *run, int buffer)
{
    return run->owners != NULL && run->pixels.store[buffer] != NULL && run->made[buffer].rows > 0;
}

/* What owner k reads of a window. */
static Range read_by(const Segment *seg, const PartsWindow *w, const PartsMade *made, int k)
{
    const PartsSegment *plan = seg->plan;
    const int n = seg->run->owners->n;
    bool rows = seg->shared && !w->whole && !w->boxed && made->planes == plan->planes && made->extent == plan->extent;
    if (!rows) {
        return (Range){0, made->extent};
    }
    return (Range){larger(0, cut_before(plan->extent, plan->rows, k, n) - w->lo),
                   smaller(plan->extent, cut_before(plan->extent, plan->rows, k + 1, n) + w->hi)};
}

bool parts_share_fetch(Segment *seg)
{
    Run *run = seg->run;
    for (int i = 0; i < seg->plan->n_windows; i++) {
        const PartsWindow *w = &seg->plan->windows[i];
        Swap s;
        if (!w->load || !is_cut(run, w->buffer) || parts_is_vector(run->plan, w->buffer)) {
            continue;
        }
        bool ok = begin(&s, run, w->buffer);
        for (int k = 0; ok && k < run->owners->n; k++) {
            s.wanted[k] = read_by(seg, w, &s.made, k);
        }
        ok = ok && swap_all(&s);
        free(s.wanted);
        TRY(ok);
    }
    return true;
}

bool parts_share_give(Run *run, int buffer)
{
    Swap s;
    bool ok = begin(&s, run, buffer);
    for (int k = 0; ok && k < run->owners->n; k++) {
        s.wanted[k] = (Range){first_given(run, buffer, s.made.extent, s.made.rows, k),
                              first_given(run, buffer, s.made.extent, s.made.rows, k + 1)};
    }
    s.gives = true;
    ok = ok && swap_all(&s);
    free(s.wanted);
    return ok;
}

bool parts_share_collect(Run *run, int buffer)
{
    Swap s;
    if (!is_cut(run, buffer)) {
        return true;
    }
    bool ok = begin(&s, run, buffer);
    if (ok) {
        s.wanted[0] = (Range){0, s.made.extent};
        ok = swap_all(&s);
    }
    free(s.wanted);
    return ok;
}

bool parts_share_end(Run *run, bool ok)
{
    OwnersPiece *pieces = run->owners != NULL ? calloc((size_t)run->owners->n, sizeof *pieces) : NULL;
    if (run->owners == NULL) {
        return ok;
    }
    if (ok) {
        ok = (pieces != NULL || no_memory(run)) && owners_tell(run->owners, NULL, 0, pieces, run->err);
    }
    if (pieces != NULL) {
        owners_drop(run->owners, pieces);
    }
    if (!ok) {
        owners_fail(run->owners, run->err);
    }
    free(pieces);
    return ok;
}
