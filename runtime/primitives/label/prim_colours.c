/*
 * prim_colours: a picture of labels in ten colours, by a label's place among those that there are.
 *
 * `numbers` says what is known of the labels (enum Numbers).  Dense ones are painted in one pass.  Those of a
 * pipeline are at most as many as pixels and need one bitmap; arbitrary ones too where none is larger than
 * that, which the device finds out, and otherwise two (kernels/colours.cl): the host does not wait.
 *
 * In parts the labels of each part are marked first, then each part is painted, one channel at a time.  There
 * the bitmap is of as many as there are (of_value); arbitrary ones are in a tree (id_tree.h).
 *
 * Where there are two bitmaps, a GPU keeps the runs of labels from the first reading for the second one.  They lie
 * where the larger bitmaps would: when some id is large, the labels themselves are read again.
 *
 * Scratch: 12 bits for each possible key of a bitmap, or what a tree takes.  Bytes moved per pixel on a GPU:
 * 4 labels, 0.1 bitmap, 0.5 runs; 0.5 runs, 3 out; without runs 4 labels, 0.1 bitmap; 4 labels, 3 out.
 */
#include "id_tree.h"
#include "../prim_lanes.h"
#include "../prim_visit.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    ITEMS = 256,        /* of a group, and columns that it writes: COLOURS_WIDE of kernels/colours.cl */
    BLOCK_WORDS = 1024, /* COMPACT_BLOCK of kernels/compact.cl */
    COLUMN_ROWS = 32,   /* COLOURS_COLUMN */
    ABOUT = 4,          /* words about all */
    RUNS_WORDS = 4,     /* of a column's runs */
    FEW_GROUPS = 512,   /* of kernels that mostly do nothing */
    MOST_FEW = 1 << 25, /* ids of the first bitmap where larger ones have another way: to clear and count more
                           would cost every image what hardly any needs */
    HEADER = 1024,      /* words, of which the first ones are ABOUT; slices begin at multiples */
    LABEL_BITS = 32
};

enum { READS, COUNTS, PROGRAMS };

extern const char kernel_text_scan[], kernel_text_compact[], kernel_text_colours[];

typedef struct Colours {
    PrimCall *call;
    DevProgram *reads, *counts; /* with the reader, and without */
    IdTree *tree;               /* NULL: there is none */
    LabelNumbers numbers;
    int planes;               /* of labels */
    size_t few, many, second; /* words of the first bitmap in round 0, in round 2, and of the second */
    int rest;                 /* digits that the second bitmap leaves */
    size_t runs;              /* words of all runs; 0: there is no room */
    DevMem *about, *at_first, *at_second, *at_runs; /* slices of scratch */
} Colours;

static size_t divided_up(size_t a, size_t b)
{
    return (a + b - 1) / b;
}

static int bits_for(size_t n)
{
    int bits = 0;
    while (bits < 63 && (size_t)1 << bits < n) {
        bits++;
    }
    return bits;
}

/* Words of a bitmap of `keys` bits, with what compact.cl keeps behind them. */
static size_t words_of(size_t keys)
{
    return divided_up(keys, 64 * 16) * 32;
}

static size_t room_of(size_t words)
{
    return divided_up(words + words / 2 + divided_up(words, BLOCK_WORDS), HEADER) * HEADER;
}

/* Digits of the leading numbers and of the places that follow are as many, so that both bitmaps are as
 * large: places have as many as there are pixels. */
static Colours layout(const PrimCall *call)
{
    PrimPart part = prim_part(call);
    Colours c = {.numbers = (LabelNumbers)call->colours.numbers};
    size_t pixels = (size_t)call->w * (size_t)part.h * (size_t)part.d;
    size_t all = (size_t)1 << LABEL_BITS;
    c.planes = call->d;
    if (c.numbers == NUMBERS_DENSE) {
        return c;
    }
    bool one = c.numbers == NUMBERS_FEW || part.cut || pixels >= all;
    size_t keys = pixels < all ? pixels : all;
    c.few = c.many = words_of(part.cut && call->labels < (double)keys ? (size_t)call->labels + 1 : keys);
    if (!one) {
        c.few = words_of(pixels < MOST_FEW ? pixels : MOST_FEW);
        int places = bits_for(pixels), digits = (LABEL_BITS + places + 1) / 2;
        c.rest = LABEL_BITS - digits;
        c.second = words_of((size_t)1 << digits);
        c.many = words_of((size_t)1 << (places + c.rest));
        size_t columns = (size_t)c.planes * divided_up((size_t)call->h, COLUMN_ROWS) * (size_t)call->out[0].pitch;
        bool fit = room_of(c.few) + RUNS_WORDS * columns <= room_of(c.many) + room_of(c.second);
        c.runs = fit ? RUNS_WORDS * columns : 0;
    }
    return c;
}

static bool has_tree(const PrimCall *call)
{
    return call->part.cut && call->of_value < 0 && (LabelNumbers)call->colours.numbers != NUMBERS_DENSE;
}

static size_t scratch_bytes(const PrimCall *call)
{
    if (has_tree(call)) {
        return id_tree_bytes(call);
    }
    Colours c = layout(call);
    return (HEADER + room_of(c.many) + room_of(c.second)) * sizeof(uint32_t);
}

/* Of kernels that count bits. */
static size_t counting_group(const PrimCall *call)
{
    return visit_is_cpu(call) ? 1 : ITEMS;
}

static bool reads_program(const PrimCall *call, DevProgram **program)
{
    char defines[100];
    snprintf(defines, sizeof defines, "#define COLOURS_DENSE %d\n#define COLOURS_RUNS %d\n%s",
             (LabelNumbers)call->colours.numbers == NUMBERS_DENSE, layout(call).runs > 0,
             has_tree(call) ? "#define COMPACT_TREE 1\n" : "");
    const char *const texts[] = {kernel_text_compact, kernel_text_colours, NULL};
    return visit_program(call, defines, texts, program);
}

/* What counts labels: NULL where they need not be counted. */
static bool counts_program(const PrimCall *call, DevProgram **program)
{
    char defines[80];
    snprintf(defines, sizeof defines, "#define SCAN_GROUP %zu\n#define COMPACT_GROUP SCAN_GROUP\n",
             counting_group(call));
    const char *const texts[] = {kernel_text_scan, kernel_text_compact, kernel_text_colours, NULL};
    *program = NULL;
    return (LabelNumbers)call->colours.numbers == NUMBERS_DENSE || has_tree(call) ||
           visit_bare_program(call, defines, texts, program);
}

static bool program_of(const PrimCall *call, int which, DevProgram **program)
{
    return (which == READS ? reads_program : counts_program)(call, program);
}

/* ---- launches -------------------------------------------------------------------------- */

/* Launches a kernel that reads the labels, with `more` behind the arguments that all have. */
static bool read_labels(const Colours *c, const char *kernel, size_t groups, int lanes, int round, const DevArg *more,
                        int n_more)
{
    const PrimCall *call = c->call;
    DevArg args[16 + ID_TREE_ARGS] = {dev_int(call->w),     dev_int(call->h),
                                      dev_int(c->planes),   dev_int(call->out[0].pitch),
                                      dev_int(lanes),       dev_int(c->rest),
                                      dev_int(round),       dev_mem(c->about),
                                      dev_mem(c->at_first), dev_uint(c->few),
                                      dev_uint(c->many),    dev_mem(c->at_second),
                                      dev_uint(c->second),  dev_mem(c->at_runs)};
    for (int i = 0; i < n_more; i++) {
        args[14 + i] = more[i];
    }
    if (c->tree != NULL) {
        id_tree_args(c->tree, args + 14 + n_more);
        n_more += ID_TREE_ARGS;
    }
    return visit_launch(call, &(VisitLaunch){.program = c->reads,
                                             .kernel = kernel,
                                             .reads = true,
                                             .groups = groups,
                                             .group = ITEMS,
                                             .args = args,
                                             .n_args = 14 + n_more});
}

static bool mark(const Colours *c, int round)
{
    const PrimCall *call = c->call;
    int lanes = bits_for((size_t)(call->w < ITEMS ? call->w : ITEMS));
    size_t across = divided_up((size_t)call->w, (size_t)1 << lanes);
    size_t strips = (size_t)c->planes * divided_up((size_t)call->h, COLUMN_ROWS);
    size_t groups = across * divided_up(strips, (size_t)(ITEMS >> lanes));
    const DevArg more[] = {dev_uint(groups)};
    return read_labels(c, "colours_mark", round == 0 || groups < FEW_GROUPS ? groups : FEW_GROUPS, lanes, round, more,
                       1);
}

static bool clear(const Colours *c)
{
    const DevArg args[] = {dev_mem(c->about), dev_uint(ABOUT), dev_mem(c->at_first), dev_uint(c->few)};
    return visit_launch(c->call, &(VisitLaunch){.program = c->counts,
                                                .kernel = "colours_clear",
                                                .groups = FEW_GROUPS,
                                                .group = ITEMS,
                                                .args = args,
                                                .n_args = 4});
}

/* Ranks the keys of a round.  Rounds 1 and 2 come to nothing where no id was too large for round 0. */
static bool rank(const Colours *c, int round, DevMem *bitmap, size_t words)
{
    size_t blocks = divided_up(words, BLOCK_WORDS);
    const DevArg args[] = {dev_mem(c->about),    dev_int(round),    dev_mem(bitmap),       dev_uint(words),
                           dev_mem(c->at_first), dev_uint(c->many), dev_mem(c->at_second), dev_uint(c->second)};
    return visit_launch(c->call, &(VisitLaunch){.program = c->counts,
                                                .kernel = "colours_rank",
                                                .groups = blocks < FEW_GROUPS ? blocks : FEW_GROUPS,
                                                .group = counting_group(c->call),
                                                .args = args,
                                                .n_args = 8});
}

static bool mark_part(const Colours *c)
{
    PrimPart part = prim_part(c->call);
    TRY(!part.first || clear(c));
    TRY(part.c > 0 || mark(c, 0)); /* a part's channels have the same labels */
    TRY(!part.last || rank(c, 0, c->at_first, c->few));
    return c->second == 0 ||
           (mark(c, 1) && rank(c, 1, c->at_second, c->second) && mark(c, 2) && rank(c, 2, c->at_first, c->many));
}

static bool write(const Colours *c)
{
    const PrimCall *call = c->call;
    size_t strips = (size_t)c->planes * divided_up((size_t)call->h, COLUMN_ROWS);
    size_t groups = strips * divided_up((size_t)call->out[0].pitch, ITEMS);
    const DevArg more[] = {dev_int(call->part.cut ? call->part.c : -1), dev_mem(call->out[0].mem)};
    return read_labels(c, "colours_write", groups, 0, 0, more, 2);
}

static bool run_pass(const Colours *c)
{
    const PrimCall *call = c->call;
    bool paints = !call->part.cut || call->part.pass > 0 || c->numbers == NUMBERS_DENSE;
    bool marks = c->numbers != NUMBERS_DENSE && (!call->part.cut || call->part.pass == 0);
    return (!marks || mark_part(c)) && (!paints || write(c));
}

static bool run_level(const Colours *c)
{
    PrimCall *call = c->call;
    PrimPart part = prim_part(call);
    size_t keys;
    if (part.pass == ID_TREE_LEVELS) {
        return write(c);
    }
    TRY(part.c > 0 || mark(c, 0));
    return !part.last || id_tree_rank(call, c->tree, &keys);
}

/* The first bitmap is that of the tree's level; there is no second one. */
static bool run_tree(Colours *c)
{
    IdTree tree;
    TRY(id_tree_open(c->call, &tree));
    c->tree = &tree;
    c->at_first = c->at_second = c->at_runs = c->about = tree.at[tree.level];
    c->few = c->many = tree.words[tree.level];
    bool ok = run_level(c);
    id_tree_close(c->call, &tree);
    return ok;
}

/* Words of scratch; what has none is never looked at, and stands for any. */
static bool slice(const Colours *c, size_t from, size_t words, DevMem **part)
{
    const PrimCall *call = c->call;
    *part = c->about;
    return words == 0 ||
           dev_slice(call->dev, call->scratch, from * sizeof(uint32_t), words * sizeof(uint32_t), part, call->err);
}

static bool run(PrimCall *call)
{
    Colours c = layout(call);
    c.call = call;
    TRY(reads_program(call, &c.reads) && counts_program(call, &c.counts));
    if (has_tree(call)) {
        return run_tree(&c);
    }
    size_t first = room_of(c.many), second = room_of(c.second), few = room_of(c.few);
    c.at_first = c.at_second = c.at_runs = c.about = NULL;
    bool ok = slice(&c, 0, HEADER, &c.about) && slice(&c, HEADER, first, &c.at_first) &&
              slice(&c, HEADER + first, second, &c.at_second) && slice(&c, HEADER + few, c.runs, &c.at_runs) &&
              run_pass(&c);
    DevMem *const slices[] = {c.at_runs, c.at_second, c.at_first};
    for (size_t i = 0; i < sizeof slices / sizeof *slices; i++) {
        dev_free(call->dev, slices[i] != c.about ? slices[i] : NULL);
    }
    dev_free(call->dev, c.about);
    return ok;
}

static int passes(const PrimCall *call)
{
    return (LabelNumbers)call->colours.numbers == NUMBERS_DENSE ? 1 : call->of_value < 0 ? ID_TREE_LEVELS + 1 : 2;
}

const Primitive prim_colours = {.name = "colours",
                                .scratch_bytes = scratch_bytes,
                                .run = run,
                                .passes = passes,
                                .forget = free,
                                .programs = PROGRAMS,
                                .program = program_of};
