/*
 * exec_carry: all carries take their next values at once, as in a, b = b, a + b.
 *
 * Images are not copied where that can be avoided: a carry takes over the memory of its next
 * value, and that one, which the next round computes anew, gets memory that is left over.  Copies
 * remain where two carries take the same value, and where the value is not computed in the loop.
 */
#include "exec_carry.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The buffers that take part: carries first. */
typedef struct Exchange {
    int n, n_carries;
    int *buffer;    /* by member */
    int *next;      /* by carry */
    DevMem **old;   /* by member */
    bool *taken;    /* by member: its memory has a new owner */
    DevMem **given; /* by member: its new memory */
} Exchange;

static bool ends_by_itself(const ProgStep *loop)
{
    return loop->ended > 0;
}

static int count_values(const ProgStep *end)
{
    int n = 0;
    for (int i = 0; i < end->n_carries; i++) {
        n += end->carries[i].is_value;
    }
    return n;
}

static bool written_between(const Program *program, int from, int to, int buffer)
{
    for (int s = from; s < to; s++) {
        const ProgStep *step = &program->steps[s];
        for (int i = 0; i < step->n_writes; i++) {
            if (step->writes[i] == buffer) {
                return true;
            }
        }
        for (int i = 0; step->kind == STEP_END && i < step->n_carries; i++) {
            if (!step->carries[i].is_value && step->carries[i].carry == buffer) {
                return true;
            }
        }
    }
    return false;
}

static int member_of(Exchange *x, DevMem *const *mem, int buffer)
{
    int i = 0;
    while (i < x->n && x->buffer[i] != buffer) {
        i++;
    }
    if (i == x->n) {
        x->buffer[x->n++] = buffer;
        x->old[i] = mem[buffer];
    }
    return i;
}

static DevMem *left_over(Exchange *x)
{
    for (int i = 0; i < x->n; i++) {
        if (!x->taken[i]) {
            x->taken[i] = true;
            return x->old[i];
        }
    }
    return NULL;
}

bool exec_carry_exchanges(const Program *program, int loop, int end)
{
    const ProgStep *step = &program->steps[end];
    bool all = true;
    for (int i = 0; i < step->n_carries; i++) {
        const ProgCarry *c = &step->carries[i];
        all = all && (c->is_value || written_between(program, loop, end + 1, c->next));
        for (int k = 0; k < i; k++) {
            all = all && (c->is_value || step->carries[k].is_value || step->carries[k].next != c->next);
        }
    }
    return all;
}

/* Takes over memory where the next value is computed in the loop and nobody else has taken it. */
static bool exchange(const Program *program, Device *dev, int loop, int end, Exchange *x, Err *err)
{
    for (int c = 0; c < x->n_carries; c++) {
        int next = x->next[c], buffer = x->buffer[next];
        bool free_to_take = next < x->n_carries || written_between(program, loop, end, buffer);
        if (free_to_take && !x->taken[next]) {
            x->taken[next] = true;
            x->given[c] = x->old[next];
        }
    }
    for (int i = x->n_carries; i < x->n; i++) {
        if (!x->taken[i] && !written_between(program, loop, end, x->buffer[i])) {
            x->taken[i] = true; /* keeps what the loop only reads */
            x->given[i] = x->old[i];
        }
    }
    for (int i = 0; i < x->n; i++) {
        if (x->given[i]) {
            continue;
        }
        x->given[i] = left_over(x);
        if (i < x->n_carries) {
            DevMem *from = x->old[x->next[i]];
            TRY(dev_copy(dev, from, 0, x->given[i], 0, dev_bytes(from), err));
        }
    }
    return true;
}

bool exec_carry_images(const Program *program, Device *dev, int loop, int end, DevMem **mem, Err *err)
{
    const ProgStep *step = &program->steps[end];
    size_t n_images = (size_t)(step->n_carries - count_values(step)), count = 2 * n_images;
    Exchange x = {0};
    if (n_images == 0) {
        return true;
    }
    x.buffer = calloc(count, sizeof *x.buffer);
    x.next = calloc(count, sizeof *x.next);
    x.old = calloc(count, sizeof *x.old);
    x.given = calloc(count, sizeof *x.given);
    x.taken = calloc(count, sizeof *x.taken);
    bool ok = x.buffer && x.next && x.old && x.given && x.taken;
    if (!ok) {
        err_set(err, CODE_MEMORY, "out of host memory for %zu carried images", n_images);
    }
    for (int i = 0; ok && i < step->n_carries; i++) {
        if (!step->carries[i].is_value) {
            (void)member_of(&x, mem, step->carries[i].carry);
        }
    }
    x.n_carries = x.n;
    for (int i = 0, c = 0; ok && i < step->n_carries; i++) {
        if (!step->carries[i].is_value) {
            x.next[c++] = member_of(&x, mem, step->carries[i].next);
        }
    }
    ok = ok && exchange(program, dev, loop, end, &x, err);
    for (int i = 0; ok && i < x.n; i++) {
        mem[x.buffer[i]] = x.given[i];
    }
    free(x.buffer);
    free(x.next);
    free(x.old);
    free(x.given);
    free(x.taken);
    return ok;
}

/* ---- values ------------------------------------------------------------------------------ */

/* The value that is watched is compared with what it was, and the rounds may be over. */
static void watch_text(const ProgStep *loop, FILE *out)
{
    const int ended = loop->ended + PROG_ENDED, before = loop->ended + PROG_BEFORE;
    fprintf(out,
            "        values[%d] = as_double(now) == as_double(values[%d]) ? as_ulong(1.0) : 0;\n"
            "        values[%d] = now;\n",
            ended, before, before);
}

/* One work-item that reads all values before it writes any; bits are copied, not numbers.  After the last
 * round nothing changes any more. */
static char *values_text(const ProgStep *loop, const ProgStep *end)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    bool watch = ends_by_itself(loop);
    if (!out) {
        return NULL;
    }
    fputs(watch ? "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n" : "", out);
    fputs("kernel void carry(global ulong *values, int round)\n{\n", out);
    for (int i = 0; i < end->n_carries; i++) {
        if (end->carries[i].is_value) {
            fprintf(out, "    const ulong next%d = values[%d];\n", i, end->carries[i].next);
        }
    }
    if (watch) {
        fprintf(out, "    const ulong now = values[%d];\n    if (as_double(values[%d]) != 1) {\n", loop->value,
                loop->ended + PROG_ENDED);
    }
    for (int i = 0; i < end->n_carries; i++) {
        if (end->carries[i].is_value) {
            fprintf(out, "    values[%d] = next%d;\n", end->carries[i].carry, i);
        }
    }
    if (watch) {
        watch_text(loop, out);
        fprintf(out, "    }\n    values[%d + round %% 2] = values[%d];\n", loop->ended + PROG_TOLD,
                loop->ended + PROG_ENDED);
    }
    fputs("}\n", out);
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

static bool make_kernel(const ProgStep *loop, const ProgStep *end, Device *dev, DevKernel **kernel, Err *err)
{
    char *text = values_text(loop, end);
    DevProgram *program;
    if (!text) {
        return err_set(err, CODE_MEMORY, "out of host memory for a kernel's text");
    }
    bool ok = dev_program(dev, "carry", text, NULL, &program, err) && dev_kernel(program, "carry", kernel, err);
    free(text);
    return ok;
}

bool exec_carry_begin(const ProgStep *loop, Device *dev, DevMem *values, Err *err)
{
    const uint32_t nan = UINT32_MAX; /* neither ended, nor what any value was before */
    size_t at = (size_t)loop->ended * sizeof(double), bytes = (PROG_BEFORE + 1) * sizeof(double);
    return !ends_by_itself(loop) || dev_fill(dev, values, at, bytes, nan, err);
}

bool exec_carry_values(const ProgStep *loop, const ProgStep *end, int round, Device *dev, DevMem *values,
                       DevKernel **kept, Err *err)
{
    static const size_t one[3] = {1, 1, 1};
    if (count_values(end) == 0 && !ends_by_itself(loop)) {
        return true;
    }
    TRY(*kept || make_kernel(loop, end, dev, kept, err));
    return dev_launch(dev, *kept, (DevArg[]){dev_mem(values), dev_int(round)}, 2, one, one, "carry", err);
}
