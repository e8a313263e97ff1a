/*
 * prim_near, near_pairs: folds over the labels near a label, and a table of these; see kernels/near.cl.
 *
 * Places are expressions of the label, computed by the reader from vectors; no pixel is read, so images in
 * parts have these steps once, on whole vectors.  The host reads how many labels there are, and lays out cells
 * with about as many labels in each as lie near one; their number never exceeds that of the labels.
 *
 * Scratch: 8 bytes a label for the cells; for a table 4 more, and a block of lists, which go to the host one
 * block after the other.
 */
#include "../../../base/near.h"
#include "../prim_host.h"
#include "../prim_program.h"
#include "../prim_visit.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The calls of near_pairs have spacing, n and limit where those of near have them. */
enum {
    GROUP = 64,
    MOST_GROUPS = 1 << 14,
    SCAN_ITEMS = 256,
    LISTED = 16,  /* NEAR_LISTED of kernels/near.cl */
    BLOCK = 4096, /* labels whose lists are handed over at a time */
    SLICE = 4096  /* parts of scratch begin at multiples of it */
};

extern const char kernel_text_near[], kernel_text_exact_sums[], kernel_text_scan[];

/* ---- scratch --------------------------------------------------------------------------- */

typedef enum Region { STARTS, ORDER, COUNTS, AFTER, LABELS, SQUARES, REGIONS } Region;

typedef struct Near {
    PrimCall *call;
    DevProgram *program;
    uint32_t labels;
    double edge;
    int cells[3];
    uint32_t wanted;
    bool far;
    DevMem *at[REGIONS];
} Near;

/* Labels that there is room for: those that are expected, or one a pixel. */
static uint64_t capacity_of(const PrimCall *call)
{
    uint64_t pixels = (uint64_t)call->w * (uint64_t)call->h * (uint64_t)call->planes;
    uint64_t length = call->text ? pixels + 2 : (uint64_t)call->out[0].length; /* a table, a vector */
    bool known = !isnan(call->labels) && call->labels + 1 < (double)length;
    length = known ? (uint64_t)call->labels + 1 : length;
    return length < UINT32_MAX ? length : UINT32_MAX;
}

static size_t region_bytes(uint64_t capacity, Region region)
{
    const size_t each[REGIONS] =
        {[STARTS] = sizeof(uint32_t), [ORDER] = sizeof(uint32_t),           [COUNTS] = sizeof(uint32_t),
         [AFTER] = sizeof(double),    [LABELS] = LISTED * sizeof(uint32_t), [SQUARES] = LISTED * sizeof(double)};
    size_t bytes = (region <= COUNTS ? (size_t)capacity + 1 : BLOCK) * each[region];
    return (bytes + SLICE - 1) / SLICE * SLICE;
}

static size_t scratch_until(const PrimCall *call, int end)
{
    size_t bytes = 0;
    for (int region = 0; region < end; region++) {
        bytes += region_bytes(capacity_of(call), (Region)region);
    }
    return bytes;
}

static size_t fold_scratch(const PrimCall *call)
{
    return scratch_until(call, COUNTS);
}

static size_t pairs_scratch(const PrimCall *call)
{
    return scratch_until(call, REGIONS);
}

static bool open_regions(Near *near, int end)
{
    PrimCall *call = near->call;
    bool ok = true;
    for (int i = 0; ok && i < end; i++) {
        ok = dev_slice(call->dev, call->scratch, scratch_until(call, i), region_bytes(capacity_of(call), (Region)i),
                       &near->at[i], call->err);
    }
    return ok;
}

static void close_regions(Near *near)
{
    for (int i = 0; i < REGIONS; i++) {
        dev_free(near->call->dev, near->at[i]);
    }
}

/* ---- cells ----------------------------------------------------------------------------- */

/* Edges along an axis; at least one. */
static double cells_along(double extent, double edge)
{
    double n = ceil(extent / edge);
    return n > 1 ? n : 1;
}

/* The edge of cells of which there are as many as labels, or fewer with as many in a cell as are wanted. */
static double edge_for(const double extent[3], double labels, double wanted)
{
    double volume = 1;
    int axes = 0;
    for (int axis = 0; axis < 3; axis++) {
        bool wide = extent[axis] > 0 && isfinite(extent[axis]);
        volume *= wide ? extent[axis] : 1;
        axes += wide;
    }
    /* A ball of one edge around a place holds three cells or four. */
    double in_a_cell = wanted / 3 > 1 ? wanted / 3 : 1;
    return axes > 0 ? pow(volume * in_a_cell / labels, 1.0 / axes) : 1;
}

static void lay_out_cells(Near *near)
{
    const PrimCall *call = near->call;
    const int pixels[3] = {call->w, call->h, call->d};
    double extent[3], labels = near->labels > 0 ? near->labels : 1, n[3] = {1, 1, 1};
    double limit = fabs(call->near.limit), wanted = near->wanted;
    for (int axis = 0; axis < 3; axis++) {
        extent[axis] = pixels[axis] > 1 ? pixels[axis] * call->arg[axis] : 0;
    }
    double least = edge_for(extent, labels, 1), edge = edge_for(extent, labels, wanted);
    edge = limit < edge ? limit : edge;
    near->edge = edge > least ? edge : least;
    bool fine = near->edge > 0 && isfinite(near->edge);
    near->edge = fine ? near->edge : 1;
    for (bool many = fine; many; near->edge *= many ? 1.25 : 1) {
        for (int axis = 0; axis < 3; axis++) {
            n[axis] = cells_along(extent[axis], near->edge);
        }
        many = n[0] * n[1] * n[2] > labels;
    }
    for (int axis = 0; axis < 3; axis++) {
        near->cells[axis] = (int)n[axis];
    }
}

static size_t cells_of(const Near *near)
{
    return (size_t)near->cells[0] * (size_t)near->cells[1] * (size_t)near->cells[2];
}

/* A kernel over so many items; `more`: what comes behind what they all have. */
static bool launch(const Near *near, const char *kernel, size_t items, const DevArg *more, int n_more)
{
    enum { OWN = 10, MORE = 9 };
    const PrimCall *call = near->call;
    assert(n_more <= MORE);
    DevArg args[OWN + MORE] = {dev_uint(near->labels),
                               dev_double(call->near.spacing[0]),
                               dev_double(call->near.spacing[1]),
                               dev_double(call->near.spacing[2]),
                               dev_double(near->edge),
                               dev_int(near->cells[0]),
                               dev_int(near->cells[1]),
                               dev_int(near->cells[2]),
                               dev_mem(near->at[STARTS]),
                               dev_mem(near->at[ORDER])};
    for (int i = 0; i < n_more; i++) {
        args[OWN + i] = more[i];
    }
    size_t groups = (items + GROUP - 1) / GROUP;
    groups = groups < MOST_GROUPS ? groups : MOST_GROUPS;
    return visit_launch(call, &(VisitLaunch){.program = near->program,
                                             .kernel = kernel,
                                             .reads = true,
                                             .groups = groups > 0 ? groups : 1,
                                             .group = GROUP,
                                             .args = args,
                                             .n_args = OWN + n_more});
}

static bool fill_cells(const Near *near)
{
    PrimCall *call = near->call;
    size_t cells = cells_of(near);
    const DevArg scan[] = {dev_mem(near->at[STARTS]), dev_ulong(0), dev_uint(cells + 1), dev_mem(NULL), dev_int(-1)};
    TRY(dev_fill(call->dev, near->at[STARTS], 0, (cells + 1) * sizeof(uint32_t), 0, call->err));
    TRY(launch(near, "near_tally", near->labels, NULL, 0));
    TRY(visit_launch(call, &(VisitLaunch){.program = near->program,
                                          .kernel = "scan_sums",
                                          .groups = 1,
                                          .group = SCAN_ITEMS,
                                          .args = scan,
                                          .n_args = 5}));
    return launch(near, "near_bin", near->labels, NULL, 0);
}

/* ---- a vector ---------------------------------------------------------------------------- */

static bool program_of(const PrimCall *call, int which, DevProgram **program)
{
    (void)which;
    char defines[120];
    int fold = call->text ? NEAR_COUNT : (int)call->near.fold;
    snprintf(defines, sizeof defines, "#pragma OPENCL FP_CONTRACT OFF\n#define NEAR_FOLD %d\n#define SCAN_GROUP %d\n",
             fold, SCAN_ITEMS);
    const char *const texts[] = {call->reader, kernel_text_exact_sums, kernel_text_scan, kernel_text_near, NULL};
    return prim_program(call, defines, texts, program);
}

static bool open_near(PrimCall *call, int regions, Near *near)
{
    double count = 0, n = fabs(call->near.n), most = (double)capacity_of(call) - 1;
    *near = (Near){.call = call, .far = call->near.n < 0};
    TRY(dev_read(call->dev, call->values, (size_t)call->of_value * sizeof count, &count, sizeof count, call->err));
    near->labels = (uint32_t)(count < most ? count : most);
    near->wanted = n < near->labels ? (uint32_t)n : near->labels;
    lay_out_cells(near);
    return program_of(call, 0, &near->program) && open_regions(near, regions) && fill_cells(near);
}

/* What is looked for, behind what all kernels have. */
#define QUERY(near) \
    dev_uint((near)->wanted), dev_int((near)->far), dev_double((near)->call->near.limit *(near)->call->near.limit)

static bool fold(const Near *near)
{
    PrimCall *call = near->call;
    const PrimImage *out = &call->out[0];
    const DevArg more[] = {QUERY(near), dev_mem(out->mem)};
    return dev_fill(call->dev, out->mem, 0, ((size_t)near->labels + 1) * sizeof(float), 0, call->err) &&
           launch(near, "near_fold", near->labels, more, 4);
}

static bool run_fold(PrimCall *call)
{
    Near near;
    bool ok = open_near(call, COUNTS, &near) && fold(&near);
    close_regions(&near);
    return ok;
}

/* ---- a table ------------------------------------------------------------------------------- */

/* The counts of labels, and the rows in front of each; owned by the caller (free). */
typedef struct Rows {
    uint32_t *counts;
    uint64_t *before; /* one more: all */
    uint32_t *labels; /* of a block's lists */
    double *squares;
} Rows;

static void free_rows(Rows *rows)
{
    free(rows->counts);
    free(rows->before);
    free(rows->labels);
    free(rows->squares);
}

static bool count_rows(const Near *near, Rows *rows)
{
    PrimCall *call = near->call;
    size_t n = near->labels;
    const DevArg more[] = {QUERY(near), dev_mem(near->at[COUNTS])};
    *rows = (Rows){malloc((n + 1) * sizeof *rows->counts), malloc((n + 1) * sizeof *rows->before),
                   malloc(region_bytes(0, LABELS)), malloc(region_bytes(0, SQUARES))};
    TRY((rows->counts && rows->before && rows->labels && rows->squares) || host_no_memory(call));
    TRY(dev_fill(call->dev, near->at[COUNTS], 0, (n + 1) * sizeof(uint32_t), 0, call->err));
    TRY(launch(near, "near_counts", n, more, 4));
    TRY(dev_read(call->dev, near->at[COUNTS], 0, rows->counts, (n + 1) * sizeof(uint32_t), call->err));
    rows->before[0] = 0;
    for (size_t i = 0; i < n; i++) {
        rows->before[i + 1] = rows->before[i] + rows->counts[i];
    }
    return true;
}

static bool open_table(const Near *near, uint64_t rows)
{
    PrimCall *call = near->call;
    PrimTable *table = call->table;
    bool few = rows < SIZE_MAX / (NEAR_COLUMNS + 1) / sizeof(double) - 1;
    TRY((few && prim_table_room(call->dev, table, (NEAR_COLUMNS + 1) * ((size_t)rows + 1))) ||
        err_set(call->err, CODE_MEMORY, "%s: no memory for a table of %llu rows", call->name,
                (unsigned long long)rows));
    free(table->names);
    free(table->integer);
    table->rows = (int64_t)rows;
    table->columns = NEAR_COLUMNS;
    table->names = calloc(NEAR_COLUMNS, sizeof *table->names);
    table->integer = calloc(NEAR_COLUMNS, sizeof *table->integer);
    TRY((table->names && table->integer) || host_no_memory(call));
    near_names(table->names, table->integer);
    return true;
}

/* What has been listed behind the first `done` of a label. */
static void put_rows(PrimTable *table, const Rows *rows, size_t label, uint32_t done, size_t listed)
{
    uint32_t count = rows->counts[label - 1], left = count > done ? count - done : 0;
    double *at = table->at + rows->before[label - 1] + done;
    for (uint32_t i = 0; i < left && i < LISTED; i++) {
        at[i] = at[i + 3 * table->rows] = (double)label;
        at[i + table->rows] = rows->labels[listed + i];
        at[i + 2 * table->rows] = sqrt(rows->squares[listed + i]);
    }
}

/* The lists of the labels from `first` on, behind the first `done` of each. */
static bool list_block(const Near *near, const Rows *rows, uint32_t first, uint32_t many, uint32_t done)
{
    PrimCall *call = near->call;
    double limit = call->near.limit;
    size_t listed = (size_t)many * LISTED;
    const DevArg more[] = {dev_uint(first),
                           dev_uint(many),
                           dev_uint(done),
                           dev_int(near->far),
                           dev_double(limit * limit),
                           dev_mem(near->at[COUNTS]),
                           dev_mem(near->at[AFTER]),
                           dev_mem(near->at[LABELS]),
                           dev_mem(near->at[SQUARES])};
    TRY(launch(near, "near_list", many, more, 9));
    TRY(dev_read(call->dev, near->at[LABELS], 0, rows->labels, listed * sizeof(uint32_t), call->err));
    TRY(dev_read(call->dev, near->at[SQUARES], 0, rows->squares, listed * sizeof(double), call->err));
    for (uint32_t i = 0; i < many; i++) {
        put_rows(call->table, rows, (size_t)first + i, done, (size_t)i * LISTED);
    }
    return true;
}

static bool list_all(const Near *near, const Rows *rows)
{
    for (uint64_t first = 1; first <= near->labels; first += BLOCK) {
        uint64_t left = near->labels - first + 1, most = 0;
        uint32_t many = (uint32_t)(left < BLOCK ? left : BLOCK);
        for (uint32_t i = 0; i < many; i++) {
            uint32_t count = rows->counts[first - 1 + i];
            most = count > most ? count : most;
        }
        for (uint64_t done = 0; done < most; done += LISTED) {
            TRY(list_block(near, rows, (uint32_t)first, many, (uint32_t)done));
        }
    }
    return true;
}

static bool run_pairs(PrimCall *call)
{
    Near near;
    Rows rows = {0};
    bool ok = open_near(call, REGIONS, &near) && count_rows(&near, &rows) &&
              open_table(&near, rows.before[near.labels]) && list_all(&near, &rows);
    free_rows(&rows);
    close_regions(&near);
    return ok;
}

const Primitive prim_near = {.name = "near",
                             .scratch_bytes = fold_scratch,
                             .run = run_fold,
                             .programs = 1,
                             .program = program_of};
const Primitive prim_near_pairs = {.name = "near_pairs",
                                   .scratch_bytes = pairs_scratch,
                                   .run = run_pairs,
                                   .programs = 1,
                                   .program = program_of};
