/*
 * prim_label: connected components of a mask (label) and of equal pixels (label_equal), numbered in
 * raster order of the first pixel, as scipy.ndimage.label does.  Every channel is a volume of its own;
 * numbers go on from one channel to the next.
 *
 * The devices' side is described in kernels/label.cl and kernels/label_equal.cl.  Five (six) launches,
 * no word to the host.  Beside the label image, which holds the union-find forest, label needs 8
 * bytes for 32 pixels, and so does label_equal (8 bytes more for each pixel when its nodes have 64 bits).
 *
 * Bytes moved per pixel by label on a GPU, u8 in, smooth objects (half noise):
 *   label_tiles  1 in, 0.25 mask and roots, 0.2 (1) parents
 *   label_seams  0.3 of mask words at tile borders, which lie in sectors of their own, and parents
 *   label_rank   0.25 roots
 *   label_write  0.25 mask and roots, 0.2 (1) parents, 4 out
 */
#include "prim_label.h"
#include "prim_visit.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BLOCK_WORDS = 1024,   /* LABEL_BLOCK of kernels/label.cl */
    EQUAL_BLOCK = 256,    /* RANK_BLOCK of kernels/label_equal.cl */
    ITEMS = 256,          /* of a group, where the kernel does not ask for a number */
    GPU_SCAN = 1024
};

extern const char kernel_text_scan[], kernel_text_label[], kernel_text_label_equal[];

/* `defines` and kernels/scan.cl in front of `text`. */
static bool build(const PrimCall *call, const char *defines, const char *text, size_t scan_group,
                  DevProgram **program)
{
    size_t size = strlen(defines) + strlen(kernel_text_scan) + 64;
    char *head = malloc(size);
    if (head == NULL) {
        return err_set(call->err, CODE_MEMORY, "%s: no memory for the kernel's text", call->name);
    }
    snprintf(head, size, "%s#define SCAN_GROUP %zu\n%s", defines, scan_group, kernel_text_scan);
    bool ok = visit_program(call, head, false, text, program);
    free(head);
    return ok;
}

static size_t scan_group(const PrimCall *call)
{
    size_t most = dev_info(call->dev)->max_group;
    return visit_is_cpu(call) ? 1 : most < GPU_SCAN ? ITEMS : GPU_SCAN;
}

/* Adds up the n sums at scratch[at]; their total goes to the call's value. */
static bool scan(const PrimCall *call, DevProgram *program, size_t at, size_t n)
{
    bool wanted = call->value >= 0;
    const DevArg args[] = {dev_mem(call->scratch), dev_ulong(at), dev_uint(n),
                           dev_mem(wanted ? call->values : call->scratch),
                           dev_int(wanted ? call->value : -1)};
    return visit_launch(call, &(VisitLaunch){.program = program,
                                             .kernel = "scan_sums",
                                             .groups = 1,
                                             .group = scan_group(call),
                                             .args = args,
                                             .n_args = 5});
}

static size_t divided_up(size_t a, size_t b)
{
    return (a + b - 1) / b;
}

/* ---- label --------------------------------------------------------------------------------- */

typedef struct Tiling {
    int x, y, z;          /* words, rows, planes of a tile */
    size_t across, tiles; /* tiles side by side, and of the whole image */
    size_t rows, columns; /* words and borders for label_seams */
} Tiling;

static size_t count_words(const PrimCall *call)
{
    return divided_up((size_t)call->w, 32) * (size_t)call->h * (size_t)call->planes;
}

static size_t label_scratch(const PrimCall *call)
{
    size_t words = count_words(call);
    return (2 * words + divided_up(words, BLOCK_WORDS)) * sizeof(uint32_t);
}

static int bits_for(int n)
{
    int bits = 0;
    while ((int64_t)1 << bits < n) {
        bits++;
    }
    return bits;
}

static int label_node_bits(const PrimCall *call)
{
    int words = (int)divided_up((size_t)call->w, 32);
    return 4 + bits_for(words) + bits_for(call->h) + bits_for(call->planes) <= 32 ? 32 : 64;
}

/* On GPUs a tile is the words of 256 work-items; on CPUs what a cache holds well. */
static Tiling tiling(const PrimCall *call)
{
    Tiling t = {.x = 8, .y = 32, .z = 1};
    if (visit_is_cpu(call)) {
        t.x = 16;
    }
    if (call->in[0].d > 1) {
        t.x /= 2;
        t.y = t.z = 8;
    }
    size_t words = divided_up((size_t)call->w, 32);
    size_t down = divided_up((size_t)call->h, (size_t)t.y);
    size_t deep = divided_up((size_t)call->d, (size_t)t.z);
    t.across = divided_up(words, (size_t)t.x);
    t.tiles = t.across * down * deep * (size_t)(call->planes / call->d);
    t.rows = call->d > 1 ? count_words(call) : words * (down - 1) * (size_t)call->planes;
    t.columns = (t.across - 1) * (size_t)call->h * (size_t)call->planes;
    return t;
}

typedef struct Labelling {
    PrimCall *call;
    Tiling t;
    DevProgram *program;
} Labelling;

static bool label_program(Labelling *l, int node_bits)
{
    const PrimCall *call = l->call;
    bool ballot = strstr(dev_info(call->dev)->platform, "NVIDIA") != NULL;
    char defines[400];
    snprintf(defines, sizeof defines,
             "#define CPU_SHAPE %d\n#define LABEL_BALLOT %d\n#define LABEL_WIDE %d\n"
             "#define CONNECTIVITY %d\n#define THREE_D %d\n"
             "#define TILE_X %d\n#define TILE_Y %d\n#define TILE_Z %d\n",
             visit_is_cpu(call), ballot, node_bits == 64, (int)call->arg[0], call->d > 1, l->t.x,
             l->t.y, l->t.z);
    return build(call, defines, kernel_text_label, scan_group(call), &l->program);
}

/* Launches a kernel whose arguments are the image's shape and then `more`. */
static bool label_launch(const Labelling *l, const char *kernel, size_t groups, size_t group,
                         bool reads, const DevArg *more, int n_more)
{
    const PrimCall *call = l->call;
    DevArg args[16] = {dev_int(call->w),
                       dev_int(call->h),
                       dev_int(call->d),
                       dev_int(call->planes),
                       dev_int(call->out[0].pitch),
                       dev_int(bits_for((int)divided_up((size_t)call->w, 32))),
                       dev_int(bits_for(call->h))};
    for (int i = 0; i < n_more; i++) {
        args[7 + i] = more[i];
    }
    return visit_launch(call, &(VisitLaunch){.program = l->program,
                                             .kernel = kernel,
                                             .reads = reads,
                                             .groups = groups,
                                             .group = group,
                                             .args = args,
                                             .n_args = 7 + n_more});
}

bool prim_label_run(PrimCall *call, int node_bits)
{
    assert(call->out[0].pitch % 16 == 0);
    Labelling l = {.call = call, .t = tiling(call)};
    TRY(label_program(&l, node_bits));
    bool cpu = visit_is_cpu(call);
    size_t words = count_words(call), group = cpu ? 1 : ITEMS;
    const DevArg both[] = {dev_mem(call->scratch), dev_mem(call->out[0].mem)};
    TRY(label_launch(&l, "label_tiles", l.t.tiles, group, true, both, 2));

    const DevArg seams[] = {dev_uint(l.t.rows), dev_uint(l.t.columns), both[0], both[1]};
    TRY(label_launch(&l, "label_seams", divided_up(l.t.rows + l.t.columns, ITEMS), ITEMS, false,
                     seams, 4));

    size_t blocks = divided_up(words, BLOCK_WORDS);
    TRY(label_launch(&l, "label_rank", blocks, group, false, both, 2));
    TRY(scan(call, l.program, 2 * words, blocks));
    return label_launch(&l, "label_write", l.t.tiles, group, false, both, 2);
}

static bool label_run(PrimCall *call)
{
    return prim_label_run(call, label_node_bits(call));
}

const Primitive prim_label = {"label", label_scratch, label_run};

/* ---- label_equal --------------------------------------------------------------------------- */

static size_t count_numbers(const PrimCall *call)
{
    return (size_t)call->planes * (size_t)call->h * (size_t)call->out[0].pitch;
}

static int equal_node_bits(const PrimCall *call)
{
    return count_numbers(call) < UINT32_MAX ? 32 : 64;
}

/* Words of roots, places and sums, in elements of 8 bytes so that wide nodes may follow. */
static size_t equal_rank_bytes(const PrimCall *call)
{
    size_t words = divided_up(count_numbers(call), 32);
    return divided_up(2 * words + divided_up(words, EQUAL_BLOCK), 2) * 2 * sizeof(uint32_t);
}

size_t prim_label_equal_scratch(const PrimCall *call, int node_bits)
{
    return equal_rank_bytes(call) + (node_bits == 64 ? count_numbers(call) * sizeof(uint64_t) : 0);
}

static size_t equal_scratch(const PrimCall *call)
{
    return prim_label_equal_scratch(call, equal_node_bits(call));
}

const Primitive prim_label_equal = {"label_equal", equal_scratch, NULL};
