/* id_tree: see id_tree.h. */
#include "id_tree.h"

#include "../prim_host.h"
#include "../prim_visit.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    TOP_BITS = 18,      /* COMPACT_TOP of kernels/compact.cl */
    LEVEL_BITS = 7,     /* COMPACT_LEVEL; 18 + 2 * 7 = 32 */
    BLOCK_WORDS = 1024, /* COMPACT_BLOCK */
    ITEMS = 256,
    ROOM = 4096 /* levels begin at multiples of so many bytes, behind one with the total */
};

extern const char kernel_text_scan[], kernel_text_compact[];

/* How many keys the levels have whose passes are done. */
typedef struct Found {
    size_t keys[ID_TREE_LEVELS];
    int n;
} Found;

static size_t divided_up(size_t a, size_t b)
{
    return (a + b - 1) / b;
}

/* Before it is known how many leading numbers a level has, as many as labels are expected. */
static size_t words_of(const PrimCall *call, int level)
{
    const Found *found = call->state != NULL ? *call->state : NULL;
    if (level == 0) {
        return ((size_t)1 << TOP_BITS) / 32;
    }
    size_t most = (size_t)1 << (TOP_BITS + (level - 1) * LEVEL_BITS);
    size_t n = call->labels < (double)most ? (size_t)call->labels + 1 : most;
    n = found != NULL && found->n >= level ? found->keys[level - 1] : n;
    return ((n > 0 ? n : 1) << LEVEL_BITS) / 32;
}

/* With the counts behind the bits. */
static size_t bytes_of(size_t words)
{
    return (words + words / 2 + divided_up(words, BLOCK_WORDS)) * sizeof(uint32_t);
}

static int level_of(const PrimCall *call)
{
    return call->part.pass < ID_TREE_LEVELS ? call->part.pass : ID_TREE_LEVELS - 1;
}

static size_t begin_of(const PrimCall *call, int level)
{
    size_t at = ROOM;
    for (int i = 0; i < level; i++) {
        at += divided_up(bytes_of(words_of(call, i)), ROOM) * ROOM;
    }
    return at;
}

size_t id_tree_bytes(const PrimCall *call)
{
    return begin_of(call, level_of(call) + 1);
}

bool id_tree_open(PrimCall *call, IdTree *tree)
{
    *tree = (IdTree){.level = level_of(call)};
    if (*call->state == NULL && (*call->state = calloc(1, sizeof(Found))) == NULL) {
        return host_no_memory(call);
    }
    bool ok = dev_slice(call->dev, call->scratch, 0, sizeof(double), &tree->total, call->err);
    for (int i = 0; ok && i <= tree->level; i++) {
        tree->words[i] = words_of(call, i);
        ok = dev_slice(call->dev, call->scratch, begin_of(call, i), bytes_of(tree->words[i]), &tree->at[i], call->err);
    }
    if (ok && call->part.first && call->part.pass < ID_TREE_LEVELS) {
        ok = dev_fill(call->dev, tree->at[tree->level], 0, tree->words[tree->level] * sizeof(uint32_t), 0, call->err);
    }
    if (!ok) {
        id_tree_close(call, tree);
    }
    return ok;
}

void id_tree_close(const PrimCall *call, IdTree *tree)
{
    for (int i = 0; i <= tree->level; i++) {
        dev_free(call->dev, tree->at[i]);
    }
    dev_free(call->dev, tree->total);
}

void id_tree_args(const IdTree *tree, DevArg args[ID_TREE_ARGS])
{
    int middle = tree->level > 0 ? 1 : 0;
    args[0] = dev_int(tree->level);
    args[1] = dev_mem(tree->at[0]);
    args[2] = dev_uint(tree->words[0]);
    args[3] = dev_mem(tree->at[middle]);
    args[4] = dev_uint(tree->words[middle]);
}

/* Work-items of a group that counts. */
static size_t counters(const PrimCall *call)
{
    return visit_is_cpu(call) ? 1 : ITEMS;
}

bool id_bits_program(const PrimCall *call, DevProgram **program)
{
    char defines[80];
    snprintf(defines, sizeof defines, "#define SCAN_GROUP %zu\n#define COMPACT_GROUP SCAN_GROUP\n", counters(call));
    const char *const texts[] = {kernel_text_scan, kernel_text_compact, NULL};
    return visit_bare_program(call, defines, texts, program);
}

bool id_bits_count(const PrimCall *call, DevMem *bits, size_t words, DevMem *values, int slot)
{
    size_t blocks = divided_up(words, BLOCK_WORDS), group = counters(call);
    DevProgram *program = NULL;
    TRY(id_bits_program(call, &program));
    const DevArg count[] = {dev_mem(bits), dev_uint(words)};
    TRY(visit_launch(call, &(VisitLaunch){.program = program,
                                          .kernel = "compact_count",
                                          .groups = blocks,
                                          .group = group,
                                          .args = count,
                                          .n_args = 2}));
    const DevArg scan[] = {dev_mem(bits), dev_ulong(words + words / 2), dev_uint(blocks), dev_mem(values),
                           dev_int(slot)};
    return visit_launch(call, &(VisitLaunch){.program = program,
                                             .kernel = "scan_sums",
                                             .groups = 1,
                                             .group = group,
                                             .args = scan,
                                             .n_args = 5});
}

bool id_tree_rank(PrimCall *call, const IdTree *tree, size_t *keys)
{
    double total;
    TRY(id_bits_count(call, tree->at[tree->level], tree->words[tree->level], tree->total, 0));
    TRY(dev_read(call->dev, tree->total, 0, &total, sizeof total, call->err));
    Found *found = *call->state;
    *keys = found->keys[found->n++] = (size_t)total;
    return true;
}
