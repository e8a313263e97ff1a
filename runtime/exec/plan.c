/*
 * plan: dynamic storage allocation, offline.
 *
 * Buffers that take another's place are first joined with it into one block.  A plan is then an
 * order of blocks: each in turn goes to the lowest place where nothing that lives at the same time
 * is in the way.  Some order gives the best possible plan (take the blocks of a best plan by
 * offset, and push each one down), so the search is over orders: few blocks are tried
 * exhaustively; for many, large blocks first is within a few per cent (greedy by size, Pisarchyk
 * and Lee, arXiv 2001.03288), and moving single blocks within the order removes most of the rest.
 */
#include "plan.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { EXHAUSTIVE = 7, TRIALS = 4000 };

typedef struct Block {
    uint64_t size, offset;
    int first, last;
} Block;

typedef struct Packing {
    Block *blocks;
    int n;
    int *order, *best, *placed; /* placed: the blocks so far, by offset */
    uint64_t *offsets;          /* of the best order */
    uint64_t segment, load, peak;
} Packing;

static bool alive_together(const Block *a, const Block *b)
{
    return a->first <= b->last && b->first <= a->last;
}

/* The lowest place at or above `at` where `size` bytes stay inside one segment. */
static uint64_t within_segment(uint64_t at, uint64_t size, uint64_t segment)
{
    if (segment && at / segment != (at + size - 1) / segment) {
        return (at / segment + 1) * segment;
    }
    return at;
}

/* Puts a block to the lowest free place among the n placed ones. */
static void place(Packing *p, int n, int which)
{
    Block *block = &p->blocks[which];
    uint64_t at = 0;
    for (int i = 0; i < n; i++) {
        const Block *other = &p->blocks[p->placed[i]];
        if (alive_together(block, other)) {
            at = within_segment(at, block->size, p->segment);
            if (at + block->size <= other->offset) {
                break;
            }
            uint64_t end = other->offset + other->size;
            at = end > at ? end : at;
        }
    }
    block->offset = within_segment(at, block->size, p->segment);
    int slot = n;
    while (slot > 0 && p->blocks[p->placed[slot - 1]].offset > block->offset) {
        p->placed[slot] = p->placed[slot - 1];
        slot--;
    }
    p->placed[slot] = which;
}

/* Peak of p->order; stops early once it is no better than the best. */
static uint64_t pack(Packing *p)
{
    uint64_t peak = 0;
    for (int i = 0; i < p->n && peak < p->peak; i++) {
        const Block *block = &p->blocks[p->order[i]];
        place(p, i, p->order[i]);
        uint64_t end = block->offset + block->size;
        peak = end > peak ? end : peak;
    }
    return peak;
}

/* Tries p->order; keeps it when it is better. */
static bool try_order(Packing *p)
{
    uint64_t peak = pack(p);
    if (peak >= p->peak) {
        return false;
    }
    p->peak = peak;
    memcpy(p->best, p->order, sizeof *p->best * (size_t)p->n);
    for (int i = 0; i < p->n; i++) {
        p->offsets[i] = p->blocks[i].offset;
    }
    return true;
}

static bool minimal(const Packing *p)
{
    return p->peak <= p->load;
}

/* ---- orders ---------------------------------------------------------------------------- */

static double weight(const Block *b, int key)
{
    double size = (double)b->size, steps = b->last - b->first + 1;
    const double keys[] = {size, size * steps, steps, -b->first};
    return keys[key];
}

/* Insertion sort: stable, so that equal blocks stay in their order; blocks are few. */
static void sort_by(Packing *p, int key)
{
    for (int i = 0; i < p->n; i++) {
        int slot = i;
        while (slot > 0 && weight(&p->blocks[p->order[slot - 1]], key) < weight(&p->blocks[i], key)) {
            p->order[slot] = p->order[slot - 1];
            slot--;
        }
        p->order[slot] = i;
    }
}

static void exhaust(Packing *p, int from)
{
    if (from == p->n) {
        (void)try_order(p);
        return;
    }
    for (int i = from; i < p->n && !minimal(p); i++) {
        int chosen = p->order[i];
        memmove(p->order + from + 1, p->order + from, sizeof *p->order * (size_t)(i - from));
        p->order[from] = chosen;
        exhaust(p, from + 1);
        memmove(p->order + from, p->order + from + 1, sizeof *p->order * (size_t)(i - from));
        p->order[i] = chosen;
    }
}

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Moves single blocks to other places of the best order. */
static void perturb(Packing *p)
{
    uint32_t state = 1;
    for (int trial = 0; trial < TRIALS && !minimal(p); trial++) {
        int from = (int)(next_random(&state) % (uint32_t)p->n);
        int to = (int)(next_random(&state) % (uint32_t)p->n);
        memcpy(p->order, p->best, sizeof *p->order * (size_t)p->n);
        int moved = p->order[from];
        if (from < to) {
            memmove(p->order + from, p->order + from + 1, sizeof *p->order * (size_t)(to - from));
        } else {
            memmove(p->order + to + 1, p->order + to, sizeof *p->order * (size_t)(from - to));
        }
        p->order[to] = moved;
        (void)try_order(p);
    }
}

static void search(Packing *p)
{
    p->peak = UINT64_MAX;
    for (int key = 0; key < 4 && !minimal(p); key++) {
        sort_by(p, key);
        (void)try_order(p);
    }
    if (p->n <= EXHAUSTIVE) {
        exhaust(p, 0);
    } else {
        perturb(p);
    }
}

static uint64_t load_of(const Block *blocks, int n)
{
    uint64_t load = 0;
    for (int i = 0; i < n; i++) {
        uint64_t sum = 0; /* a load can only be largest where a block is born */
        for (int j = 0; j < n; j++) {
            bool alive = blocks[j].first <= blocks[i].first && blocks[i].first <= blocks[j].last;
            sum += alive ? blocks[j].size : 0;
        }
        load = sum > load ? sum : load;
    }
    return load;
}

/* ---- buffers --------------------------------------------------------------------------- */

/* The buffer whose place `i` takes in the end; `taken` by at most one other each. */
static bool can_join(const PlanBuffer *buffers, int n, int i, const bool *taken)
{
    const PlanBuffer *b = &buffers[i];
    if (b->onto < 0 || b->onto >= n || b->onto == i || taken[b->onto]) {
        return false;
    }
    const PlanBuffer *under = &buffers[b->onto];
    bool dies = under->last == b->first || under->last == b->last;
    return dies && under->first < b->first && b->size > 0 && under->size > 0;
}

/* block_of[i]: the block of buffer i, -1 for empty ones.  Returns the number of blocks.  Buffers
 * are joined in the order of their birth, so that chains grow from the front. */
static int join(const PlanBuffer *buffers, int n, uint64_t alignment, Block *blocks, int *block_of, bool *taken,
                int *by_birth)
{
    int n_blocks = 0;
    for (int i = 0; i < n; i++) {
        int slot = i;
        while (slot > 0 && buffers[by_birth[slot - 1]].first > buffers[i].first) {
            by_birth[slot] = by_birth[slot - 1];
            slot--;
        }
        by_birth[slot] = i;
    }
    for (int k = 0; k < n; k++) {
        int i = by_birth[k];
        const PlanBuffer *b = &buffers[i];
        uint64_t size = (b->size + alignment - 1) / alignment * alignment;
        if (size == 0) {
            block_of[i] = -1;
        } else if (can_join(buffers, n, i, taken)) {
            block_of[i] = block_of[b->onto];
            taken[b->onto] = true;
            Block *block = &blocks[block_of[i]];
            block->last = b->last > block->last ? b->last : block->last;
            block->size = size > block->size ? size : block->size;
        } else {
            block_of[i] = n_blocks;
            blocks[n_blocks++] = (Block){.size = size, .first = b->first, .last = b->last};
        }
    }
    return n_blocks;
}

static bool solve(Packing *p, PlanBuffer *buffers, int n, uint64_t alignment, int *block_of, bool *taken,
                  PlanResult *result, Err *err)
{
    p->n = join(buffers, n, alignment, p->blocks, block_of, taken, p->order);
    for (int i = 0; i < p->n && p->segment; i++) {
        if (p->blocks[i].size > p->segment) {
            return err_set(err, CODE_MEMORY,
                           "one buffer needs %.1f MiB, but the device gives at most %.1f MiB in "
                           "one piece",
                           (double)p->blocks[i].size / 1048576, (double)p->segment / 1048576);
        }
    }
    p->load = load_of(p->blocks, p->n);
    *result = (PlanResult){.peak = 0, .load = p->load};
    if (p->n > 0) {
        search(p);
        result->peak = p->peak;
    }
    for (int i = 0; i < n; i++) {
        buffers[i].offset = block_of[i] >= 0 ? p->offsets[block_of[i]] : 0;
    }
    return true;
}

bool plan_pack(PlanBuffer *buffers, int n, uint64_t alignment, uint64_t segment, PlanResult *result, Err *err)
{
    size_t count = (size_t)n + 1;
    Packing p = {.segment = segment};
    p.blocks = calloc(count, sizeof *p.blocks);
    p.offsets = calloc(count, sizeof *p.offsets);
    p.order = calloc(3 * count, sizeof *p.order);
    int *block_of = calloc(count, sizeof *block_of);
    bool *taken = calloc(count, sizeof *taken);
    bool ok = p.blocks && p.offsets && p.order && block_of && taken;
    if (ok) {
        p.best = p.order + count;
        p.placed = p.best + count;
        ok = solve(&p, buffers, n, alignment, block_of, taken, result, err);
    } else {
        err_set(err, CODE_MEMORY, "out of host memory for the plan of %d buffers", n);
    }
    free(p.blocks);
    free(p.offsets);
    free(p.order);
    free(block_of);
    free(taken);
    return ok;
}
