/*
 * prim_compact: drops labels and renumbers the others from 1, in their old order.
 *
 * Ids are at most the number of pixels where labels come from a pipeline (one round through a
 * bitmap, see kernels/compact.cl).  For labels from elsewhere the caller sets `any`: then any
 * 32-bit ids will do, at the price of up to four more rounds for images of less than 2^30 pixels.
 * Without it, ids above the number of pixels are dropped.
 *
 * A label is kept when any of its pixels says so; with `any`, where ids are longer than the
 * bitmap's keys, each pixel for itself.  Pixels of the result are written after the same pixels of
 * the inputs have been read.
 *
 * In parts the keys of all parts are marked first; then each part is written.  Where the call is about labels
 * (of_value), ids are at most as many; else nobody knows how large they are, and a tree holds them
 * (id_tree.h).
 *
 * Scratch: 12 bits for each possible key: for 4 pixels 6 bytes (`any`: 3 bytes a pixel at most, 3
 * MiB at least) or 3 bytes for 16; in parts 12 bits for each label, or what a tree takes.  Bytes moved per pixel by a round on a GPU: 4 labels, 0.3
 * bitmap; 4 labels, 4 out.
 */
#include "id_tree.h"
#include "../prim_host.h"
#include "../prim_visit.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    ITEMS = 256,
    COLUMNS = 4,        /* COMPACT_COLUMNS of kernels/compact.cl */
    ROWS = 16,          /* COMPACT_ROWS */
    BLOCK_WORDS = 1024, /* COMPACT_BLOCK */
    LEAST_KEY_BITS = 24 /* of arbitrary ids, so that small images need few rounds */
};

enum { READS, COUNTS, PROGRAMS };

extern const char kernel_text_compact[];

static size_t divided_up(size_t a, size_t b)
{
    return (a + b - 1) / b;
}

static size_t count_pixels(const PrimCall *call)
{
    return (size_t)call->w * (size_t)call->h * (size_t)call->planes;
}

static int bits_for(size_t n)
{
    int bits = 0;
    while (bits < 63 && (size_t)1 << bits < n) {
        bits++;
    }
    return bits;
}

/* Bits of a key of the bitmap in the first round; with `any`, four times as many as pixels. */
static int key_bits(const PrimCall *call)
{
    int bits = bits_for(count_pixels(call)) + 2;
    return bits > 32 ? 32 : bits < LEAST_KEY_BITS ? LEAST_KEY_BITS : bits;
}

/* The most ids that there can be where they are no arbitrary ones. */
static size_t count_ids(const PrimCall *call)
{
    PrimPart part = prim_part(call);
    size_t pixels = (size_t)call->w * (size_t)part.h * (size_t)part.d * (size_t)part.channels;
    bool known = part.cut && call->labels < (double)pixels;
    return known ? (size_t)call->labels + 1 : pixels;
}

/* Words of the bitmap, an even number. */
static size_t count_words(const PrimCall *call)
{
    size_t most = (size_t)1 << 32;
    size_t keys = call->compact.any != 0 ? (size_t)1 << key_bits(call) : count_ids(call);
    return divided_up(keys < most ? keys : most, 64) * 2;
}

static bool has_tree(const PrimCall *call)
{
    return call->part.cut && call->of_value < 0;
}

static size_t scratch_bytes(const PrimCall *call)
{
    if (has_tree(call)) {
        return id_tree_bytes(call);
    }
    size_t words = count_words(call);
    return (words + words / 2 + divided_up(words, BLOCK_WORDS)) * sizeof(uint32_t);
}

typedef struct Compact {
    PrimCall *call;
    DevProgram *program; /* with the reader */
    DevMem *bits;        /* scratch, or of a level of the tree */
    size_t words;
    IdTree *tree; /* NULL: there is none */
} Compact;

/* Launches a kernel that walks over the pixels. */
static bool walk(const Compact *c, const char *kernel, int rest, int round)
{
    const PrimCall *call = c->call;
    int columns = (call->w + COLUMNS - 1) / COLUMNS;
    int lanes = bits_for((size_t)(columns < ITEMS ? columns : ITEMS));
    size_t across = divided_up((size_t)call->w, (size_t)COLUMNS << lanes);
    size_t strips = (size_t)call->planes * divided_up((size_t)call->h, ROWS);
    DevArg args[10 + ID_TREE_ARGS] = {dev_int(call->w),      dev_int(call->h),
                                      dev_int(call->planes), dev_int(call->out[0].pitch),
                                      dev_int(lanes),        dev_int(rest),
                                      dev_int(round),        dev_mem(c->bits),
                                      dev_uint(c->words),    dev_mem(call->out[0].mem)};
    if (c->tree != NULL) {
        id_tree_args(c->tree, args + 10);
    }
    return visit_launch(call, &(VisitLaunch){.program = c->program,
                                             .kernel = kernel,
                                             .reads = true,
                                             .groups = across * divided_up(strips, ITEMS >> lanes),
                                             .group = ITEMS,
                                             .args = args,
                                             .n_args = c->tree != NULL ? 10 + ID_TREE_ARGS : 10});
}

/* Ranks the keys of the bitmap; the last round's total is the number of labels. */
static bool rank_keys(const Compact *c, bool last)
{
    PrimCall *call = c->call;
    bool wanted = last && call->value >= 0;
    return id_bits_count(call, call->scratch, c->words, wanted ? call->values : call->scratch,
                         wanted ? call->value : -1);
}

static bool mark(const Compact *c, int rest, int round)
{
    const PrimCall *call = c->call;
    PrimPart part = prim_part(call);
    TRY(!part.first || dev_fill(call->dev, call->scratch, 0, c->words * sizeof(uint32_t), 0, call->err));
    TRY(walk(c, "compact_mark", rest, round));
    return !part.last || rank_keys(c, rest == 0);
}

static bool run_rounds(const Compact *c)
{
    const PrimCall *call = c->call;
    /* Ranks have as many bits as the number of pixels; the rest of a key is digits. */
    int digits = key_bits(call) - bits_for(count_pixels(call));
    int rest = call->compact.any != 0 ? 32 - key_bits(call) : 0;
    for (int round = 0;; round++) {
        TRY(mark(c, rest, round));
        TRY(walk(c, "compact_write", rest, round));
        if (rest == 0) {
            return true;
        }
        rest = rest > digits ? rest - digits : 0;
    }
}

static bool program_of(const PrimCall *call, int which, DevProgram **program)
{
    if (which == COUNTS) {
        return id_bits_program(call, program);
    }
    const char *const texts[] = {kernel_text_compact, NULL};
    return visit_program(call,
                         has_tree(call) ? "#define COMPACT_KEEPS 1\n#define COMPACT_TREE 1\n"
                                        : "#define COMPACT_KEEPS 1\n",
                         texts, program);
}

/* The last level's keys are the labels. */
static bool run_level(const Compact *c)
{
    PrimCall *call = c->call;
    PrimPart part = prim_part(call);
    size_t keys;
    if (part.pass == ID_TREE_LEVELS) {
        return walk(c, "compact_write", 0, 0);
    }
    TRY(walk(c, "compact_mark", 0, 0));
    return !part.last || (id_tree_rank(call, c->tree, &keys) &&
                          (c->tree->level + 1 < ID_TREE_LEVELS || host_value(call, (double)keys)));
}

static bool run_tree(Compact *c)
{
    IdTree tree;
    TRY(id_tree_open(c->call, &tree));
    c->tree = &tree;
    c->bits = tree.at[tree.level];
    c->words = tree.words[tree.level];
    bool ok = run_level(c);
    id_tree_close(c->call, &tree);
    return ok;
}

static bool run(PrimCall *call)
{
    Compact c = {.call = call, .bits = call->scratch};
    TRY(program_of(call, READS, &c.program));
    if (has_tree(call)) {
        return run_tree(&c);
    }
    c.words = count_words(call);
    if (!call->part.cut) {
        return run_rounds(&c);
    }
    return call->part.pass == 0 ? mark(&c, 0, 0) : walk(&c, "compact_write", 0, 0);
}

static int passes(const PrimCall *call)
{
    return call->of_value < 0 ? ID_TREE_LEVELS + 1 : 2;
}

const Primitive prim_compact = {.name = "compact",
                                .scratch_bytes = scratch_bytes,
                                .run = run,
                                .passes = passes,
                                .forget = free,
                                .programs = PROGRAMS,
                                .program = program_of};
