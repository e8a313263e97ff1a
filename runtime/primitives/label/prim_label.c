/*
 * prim_label: connected components of a mask (label) and of equal pixels (label_equal), numbered in
 * raster order of the first pixel, as scipy.ndimage.label does.  Every channel is a volume of its
 * own; numbers go on from one channel to the next.
 *
 * The devices' side is described in kernels/label_nodes.cl and kernels/label_equal.cl.  Five (six)
 * launches, no word to the host.  Beside the label image, which holds the union-find forest, label
 * needs 8 bytes for 32 pixels, and so does label_equal (8 bytes more for each pixel when its nodes
 * have 64 bits).
 *
 * Bytes moved per pixel by label on a GPU, u8 in, smooth objects (half noise):
 *   label_tiles  1 in, 0.25 mask and roots, 0.2 (1) parents
 *   label_seams  0.3 of mask words at tile borders, which lie in sectors of their own, and parents
 *   label_rank   0.25 roots
 *   label_write  0.25 mask and roots, 0.2 (1) parents, 4 out
 *
 * The parts of an image are labelled each for itself, twice: label_parts.c has what comes between.
 */
#include "prim_label.h"
#include "label_parts.h"
#include "../prim_program.h"
#include "../prim_share.h"
#include "../prim_visit.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum {
    BLOCK_WORDS = 1024, /* LABEL_BLOCK of kernels/label_nodes.cl */
    EQUAL_BLOCK = 256,  /* RANK_BLOCK of kernels/label_equal.cl */
    ITEMS = 256,        /* of a group, where the kernel does not ask for a number */
    GPU_SCAN = 256
};

extern const char kernel_text_scan[], kernel_text_label_nodes[], kernel_text_label_tiles[], kernel_text_label[],
    kernel_text_label_equal[];

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
                           dev_mem(wanted ? call->values : call->scratch), dev_int(wanted ? call->value : -1)};
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

/* ---- label ----------------------------------------------------------------------------------- */

typedef struct Tiling {
    int x, y, z;          /* words, rows, planes of a tile */
    size_t across, tiles; /* tiles side by side, and of the whole image */
    size_t rows, columns; /* words and borders for label_seams */
} Tiling;

static size_t count_words(const PrimCall *call)
{
    return divided_up((size_t)call->w, 32) * (size_t)call->h * (size_t)call->planes;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t label_scratch(const PrimCall *call)
{
    PrimCall longest = prim_longest(call);
    size_t words = count_words(&longest), most = words * 16; /* objects */
    size_t bytes = (2 * words + divided_up(words, BLOCK_WORDS)) * sizeof(uint32_t);
    return call->part.cut ? larger(bytes, most * sizeof(uint32_t)) : bytes;
}

/* In planes, neighbours at squared distance 3 are none. */
static int connectivity(const PrimCall *call)
{
    int wanted = (int)call->label.connectivity;
    return call->d == 1 && wanted > 2 ? 2 : wanted;
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
    if (call->d > 1) {
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
    DevProgram *tiles, *rest; /* what reads the mask; what is the same for all masks */
} Labelling;
enum { TILES, REST, LABEL_PROGRAMS };

static bool label_program(const PrimCall *call, int node_bits, int which, DevProgram **program)
{
    TRY(node_bits == 32 || prim_needs_wide_atomics(call));
    Tiling t = tiling(call);
    const DeviceInfo *info = dev_info(call->dev);
    bool ballot = info->fp64 && strstr(info->platform, "NVIDIA") != NULL; /* soften.h reads no assembler */
    char defines[400];
    snprintf(defines, sizeof defines,
             "#define SCAN_GROUP %zu\n#define LABEL_CPU %d\n#define LABEL_BALLOT %d\n"
             "#define LABEL_WIDE %d\n#define LABEL_CONNECTIVITY %d\n#define LABEL_3D %d\n"
             "#define LABEL_TILE_X %d\n#define LABEL_TILE_Y %d\n#define LABEL_TILE_Z %d\n",
             scan_group(call), visit_is_cpu(call), ballot, node_bits == 64, connectivity(call), call->d > 1, t.x, t.y,
             t.z);
    const char *const tiles[] = {kernel_text_label_nodes, kernel_text_label_tiles, NULL};
    const char *const rest[] = {kernel_text_scan, kernel_text_label_nodes, kernel_text_label, NULL};
    return which == TILES ? visit_program(call, defines, tiles, program)
                          : visit_bare_program(call, defines, rest, program);
}

/* Launches a kernel whose arguments are the image's shape and then `more`. */
static bool label_launch(const Labelling *l, const char *kernel, size_t groups, size_t group, bool reads,
                         const DevArg *more, int n_more)
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
    return visit_launch(call, &(VisitLaunch){.program = reads ? l->tiles : l->rest,
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
    TRY(label_program(call, node_bits, TILES, &l.tiles) && label_program(call, node_bits, REST, &l.rest));
    bool cpu = visit_is_cpu(call);
    size_t words = count_words(call), group = cpu ? 1 : ITEMS;
    const DevArg both[] = {dev_mem(call->scratch), dev_mem(call->out[0].mem)};
    TRY(label_launch(&l, "label_tiles", l.t.tiles, group, true, both, 2));

    const DevArg seams[] = {dev_uint(l.t.rows), dev_uint(l.t.columns), both[0], both[1]};
    TRY(label_launch(&l, "label_seams", divided_up(l.t.rows + l.t.columns, ITEMS), ITEMS, false, seams, 4));

    size_t blocks = divided_up(words, BLOCK_WORDS);
    TRY(label_launch(&l, "label_rank", blocks, group, false, both, 2));
    TRY(scan(call, l.rest, 2 * words, blocks));
    return label_launch(&l, "label_write", l.t.tiles, group, false, both, 2);
}

static bool label_program_of(const PrimCall *call, int which, DevProgram **program)
{
    PrimCall own = label_call(call);
    return label_program(&own, label_node_bits(call), which, program);
}

static bool label_run(PrimCall *call)
{
    PrimCall own = label_parts_call(call);
    TRY(prim_label_run(&own, label_node_bits(call)));
    return !call->part.cut || label_parts_run(call, NULL);
}

static int passes(const PrimCall *call)
{
    (void)call;
    return LABEL_PARTS_PASSES;
}

const Primitive prim_label = {.name = "label",
                              .scratch_bytes = label_scratch,
                              .run = label_run,
                              .passes = passes,
                              .shares = share_all_passes,
                              .programs = LABEL_PROGRAMS,
                              .program = label_program_of,
                              .forget = label_parts_forget};

/* ---- label_equal ----------------------------------------------------------------------------- */

static size_t count_numbers(const PrimCall *call)
{
    return (size_t)call->planes * (size_t)call->h * (size_t)call->out[0].pitch;
}

static int equal_node_bits(const PrimCall *call)
{
    return count_numbers(call) < UINT32_MAX ? 32 : 64;
}

size_t prim_label_equal_scratch(const PrimCall *call, int node_bits)
{
    size_t numbers = count_numbers(call), words = divided_up(numbers, 32);
    size_t nodes = node_bits == 64 ? numbers * sizeof(uint64_t) : 0;
    return nodes + (2 * words + divided_up(words, EQUAL_BLOCK)) * sizeof(uint32_t);
}

static size_t equal_scratch(const PrimCall *call)
{
    PrimCall longest = prim_longest(call);
    size_t bytes = prim_label_equal_scratch(&longest, equal_node_bits(&longest));
    return call->part.cut ? larger(bytes, count_numbers(&longest) * sizeof(uint32_t)) : bytes;
}

typedef struct Equal {
    PrimCall *call;
    DevProgram *unites, *numbers_them; /* of the image's type and dimensions; for all images */
    DevArg parents;
    size_t numbers, pixel_groups;
} Equal;

static bool equal_programs(Equal *e, int node_bits)
{
    const PrimCall *call = e->call;
    TRY(node_bits == 32 || prim_needs_wide_atomics(call));
    char defines[200];
    snprintf(defines, sizeof defines,
             "#define LABEL_WIDE %d\n#define CONNECTIVITY %d\n#define THREE_D %d\n#define PIXEL %s\n", node_bits == 64,
             connectivity(call), call->d > 1, elem_cl_name(call->label_equal.image.elem));
    const char *const unites[] = {kernel_text_label_equal, NULL};
    TRY(visit_bare_program(call, defines, unites, &e->unites));
    snprintf(defines, sizeof defines, "#define SCAN_GROUP %zu\n#define LABEL_WIDE %d\n#define RANK_GROUP %d\n",
             scan_group(call), node_bits == 64, visit_is_cpu(call) ? 1 : EQUAL_BLOCK);
    const char *const numbers[] = {kernel_text_scan, kernel_text_label_equal, NULL};
    return visit_bare_program(call, defines, numbers, &e->numbers_them);
}

static bool equal_launch(const Equal *e, DevProgram *program, const char *kernel, size_t groups, size_t group,
                         const DevArg *args, int n_args)
{
    return visit_launch(e->call, &(VisitLaunch){.program = program,
                                                .kernel = kernel,
                                                .groups = groups,
                                                .group = group,
                                                .args = args,
                                                .n_args = n_args});
}

/* Points pixels to their roots, each kernel with a work-item a pixel. */
static bool equal_unite(const Equal *e)
{
    const PrimCall *call = e->call;
    int pitch = call->out[0].pitch, lanes = bits_for(pitch < ITEMS ? pitch : ITEMS);
    size_t across = divided_up((size_t)pitch, (size_t)1 << lanes);
    size_t rows = (size_t)call->planes * (size_t)call->h;
    size_t groups = across * divided_up(rows, (size_t)ITEMS >> lanes);
    size_t first = call->label_equal.image.before * (size_t)call->label_equal.image.pitch;
    const DevArg args[] = {dev_int(call->w),
                           dev_int(call->h),
                           dev_int(call->d),
                           dev_int(call->planes),
                           dev_int(pitch),
                           dev_int(call->label_equal.image.pitch),
                           dev_int(lanes),
                           dev_ulong(first),
                           dev_mem(call->label_equal.image.mem),
                           e->parents};
    TRY(equal_launch(e, e->unites, "equal_start", groups, ITEMS, args, 10));
    TRY(equal_launch(e, e->unites, "equal_join", groups, ITEMS, args, 10));
    const DevArg flatten[] = {dev_ulong(e->numbers), e->parents};
    return equal_launch(e, e->numbers_them, "equal_flatten", e->pixel_groups, ITEMS, flatten, 2);
}

bool prim_label_equal_run(PrimCall *call, int node_bits)
{
    size_t numbers = count_numbers(call), words = divided_up(numbers, 32);
    size_t rank_at = node_bits == 64 ? 2 * numbers : 0, blocks = divided_up(words, EQUAL_BLOCK);
    Equal e = {.call = call,
               .parents = dev_mem(node_bits == 64 ? call->scratch : call->out[0].mem),
               .numbers = numbers,
               .pixel_groups = divided_up(numbers, ITEMS)};
    TRY(equal_programs(&e, node_bits));
    TRY(equal_unite(&e));
    const DevArg args[] = {dev_ulong(numbers), e.parents, dev_mem(call->scratch), dev_ulong(rank_at),
                           dev_mem(call->out[0].mem)};
    TRY(equal_launch(&e, e.numbers_them, "equal_rank", blocks, visit_is_cpu(call) ? 1 : EQUAL_BLOCK, args, 4));
    TRY(scan(call, e.numbers_them, rank_at + 2 * words, blocks));
    return equal_launch(&e, e.numbers_them, "equal_write", e.pixel_groups, ITEMS, args, 5);
}

static bool equal_run(PrimCall *call)
{
    PrimCall own = label_parts_call(call);
    TRY(prim_label_equal_run(&own, equal_node_bits(call)));
    return !call->part.cut || label_parts_run(call, &call->label_equal.image);
}

const Primitive prim_label_equal = {.name = "label_equal",
                                    .scratch_bytes = equal_scratch,
                                    .run = equal_run,
                                    .passes = passes,
                                    .shares = share_all_passes,
                                    .forget = label_parts_forget};
