/*
 * fourier_pass: lines of an image transformed, a pass at a time (base/fourier_plan.h).
 *
 * A line of n numbers is seen as FOURIER_L rows of n / FOURIER_L columns; a pass transforms columns.  A group takes
 * FOURIER_C of them, side by side in memory, does the steps of the pass in local memory, and writes where Stockham's form
 * has them: each number is read once and written once.  The host defines FOURIER_STEPS, one line of
 * FOURIER_STEP(radix, product of the radices before it in the pass, is it the first, is it the last, from, to),
 * FOURIER_GROUP, FOURIER_ALONG_IN and FOURIER_ALONG_OUT: whether neighbouring work-items take neighbours in a column, not
 * columns, because these are what lies side by side in memory.
 *
 * Names begin with own_: the reader's parameters, where there are any, are the user's.
 */
#pragma OPENCL FP_CONTRACT OFF

#define FOURIER_WIDE (FOURIER_C + 1) /* rows in local memory, one more against conflicts of banks */

/* Number k of line i lies at  at + k * step + i % inner * along + i / inner * across,  in floats; its imaginary part lies
 * `imaginary` behind. */
typedef struct FourierView {
    long at, step, along, across, imaginary;
} FourierView;

enum {
    FOURIER_SWAP_IN = 1,    /* real and imaginary parts change places: so a transform is its inverse */
    FOURIER_SWAP_OUT = 2,
    FOURIER_CHIRP_IN = 4,   /* the first numbers are multiplied, the others are 0 */
    FOURIER_CHIRP_OUT = 8,  /* the first numbers are multiplied, the others are not written */
    FOURIER_FILTER = 16     /* numbers are multiplied as they are read, before they are swapped */
};

typedef struct FourierPass {
    int length, before; /* of the line; the product of all radices of passes before */
    int inner;          /* lines that lie `along` from each other */
    uint line, columns; /* the first line; columns of all lines */
    int how, limit;     /* the numbers that the chirp leaves */
    float scale, last;  /* that all is multiplied by, before the chirp and behind it */
    ulong turns, chirp, filter; /* where the tables lie */
    int axis;             /* of the reader */
} FourierPass;

FOURIER_INLINE void fourier_times(float *re, float *im, global const float *tables, ulong at, int length, int i)
{
    fourier_turn(re, im, tables[at + (ulong)i], tables[at + (ulong)length + (ulong)i]);
}

#ifdef READ_PARAMS
#define FOURIER_READS READ_PARAMS,
#define FOURIER_ARGS READ_ARGS,
#else
#define FOURIER_READS
#define FOURIER_ARGS
#endif

/* Number n of a line. */
FOURIER_INLINE void fourier_get(FOURIER_READS const FourierPass *own_p, const FourierView *own_v,
                                global const float *own_from, global const float *own_tables, uint own_line, int own_n,
                                float *own_re, float *own_im)
{
    float own_a = 0.0f, own_b = 0.0f;
    if (!(own_p->how & FOURIER_CHIRP_IN) || own_n < own_p->limit) {
#ifdef READ_PARAMS
        const int own_i = (int)(own_line % (uint)own_p->inner), own_k = (int)(own_line / (uint)own_p->inner);
        const int own_x = own_p->axis == 0 ? own_n : own_i;
        const int own_y = own_p->axis == 1 ? own_n : own_p->axis == 0 ? own_i : own_k;
        const int own_z = own_p->axis == 2 ? own_n : own_k;
        own_a = read_0(READ_ARGS, own_x, own_y, own_z);
#ifdef READ_HAS_1
        own_b = read_1(READ_ARGS, own_x, own_y, own_z);
#endif
#else
        const long own_at = own_v->at + (long)(own_line % (uint)own_p->inner) * own_v->along +
                            (long)(own_line / (uint)own_p->inner) * own_v->across + (long)own_n * own_v->step;
        own_a = own_from[own_at];
        own_b = own_from[own_at + own_v->imaginary];
#endif
    }
    if (own_p->how & FOURIER_FILTER) {
        fourier_times(&own_a, &own_b, own_tables, own_p->filter, own_p->length, own_n);
    }
    const bool own_swap = (own_p->how & FOURIER_SWAP_IN) != 0;
    *own_re = own_swap ? own_b : own_a;
    *own_im = own_swap ? own_a : own_b;
    if (own_p->how & FOURIER_CHIRP_IN) {
        fourier_times(own_re, own_im, own_tables, own_p->chirp, own_p->limit, own_n < own_p->limit ? own_n : 0);
    }
}

FOURIER_INLINE void fourier_put(const FourierPass *own_p, const FourierView *own_v, global float *own_to,
                                global const float *own_tables, uint own_line, int own_n, float own_re, float own_im)
{
    const bool own_swap = (own_p->how & FOURIER_SWAP_OUT) != 0;
    float own_a = own_swap ? own_im : own_re, own_b = own_swap ? own_re : own_im;
    own_a *= own_p->scale;
    own_b *= own_p->scale;
    if (own_p->how & FOURIER_CHIRP_OUT) {
        fourier_times(&own_a, &own_b, own_tables, own_p->chirp, own_p->limit, own_n < own_p->limit ? own_n : 0);
    }
    own_a *= own_p->last;
    own_b *= own_p->last;
    if (!(own_p->how & FOURIER_CHIRP_OUT) || own_n < own_p->limit) {
        const long own_at = own_v->at + (long)(own_line % (uint)own_p->inner) * own_v->along +
                            (long)(own_line / (uint)own_p->inner) * own_v->across + (long)own_n * own_v->step;
        own_to[own_at] = own_a;
        own_to[own_at + own_v->imaginary] = own_b;
    }
}

#define FOURIER_STEP(R, Q, FIRST, LAST, FROM, TO)                                                                      \
    for (int own_i = (int)get_local_id(0); own_i < FOURIER_C * (FOURIER_L / R); own_i += FOURIER_GROUP) {              \
        const bool own_along = (FIRST && FOURIER_ALONG_IN) || (LAST && FOURIER_ALONG_OUT);                             \
        const int own_a = own_along ? own_i % (FOURIER_L / R) : own_i / FOURIER_C;                                     \
        const int own_c = own_along ? own_i / (FOURIER_L / R) : own_i % FOURIER_C;                                     \
        const uint own_column = (uint)get_group_id(0) * FOURIER_C + (uint)own_c;                                       \
        if (own_column < own_p.columns) {                                                                              \
            const uint own_line = own_step_is_1 ? own_column / own_apart : own_column % own_lines;                     \
            const int own_j = (int)(own_step_is_1 ? own_column % own_apart : own_column / own_lines);                  \
            const int own_k = own_j % own_p.before + own_p.before * (own_a % Q);                                       \
            const int own_share = own_p.length / (own_p.before * (Q * R));                                             \
            float own_re[R], own_im[R];                                                                                \
            for (int own_b = 0; own_b < R; own_b++) {                                                                  \
                const int own_n = own_a + own_b * (FOURIER_L / R);                                                     \
                if (FIRST) {                                                                                           \
                    fourier_get(FOURIER_ARGS &own_p, &own_in, own_from, own_tables, own_p.line + own_line,             \
                                own_j + own_n * (int)own_apart, &own_re[own_b], &own_im[own_b]);                       \
                } else {                                                                                               \
                    own_re[own_b] = FROM[0][own_n * FOURIER_WIDE + own_c];                                             \
                    own_im[own_b] = FROM[1][own_n * FOURIER_WIDE + own_c];                                             \
                }                                                                                                      \
            }                                                                                                          \
            if (Q > 1 || own_p.before > 1) {                                                                           \
                for (int own_b = 1; own_b < R; own_b++) {                                                              \
                    fourier_times(&own_re[own_b], &own_im[own_b], own_tables, own_p.turns, own_p.length,               \
                                  own_b * own_k * own_share);                                                          \
                }                                                                                                      \
            }                                                                                                          \
            fourier_##R(own_re, own_im);                                                                               \
            for (int own_b = 0; own_b < R; own_b++) {                                                                  \
                const int own_n = own_a / Q * (Q * R) + own_a % Q + own_b * Q;                                         \
                if (LAST) {                                                                                            \
                    fourier_put(&own_p, &own_out, own_to, own_tables, own_p.line + own_line,                           \
                                own_j / own_p.before * own_p.before * FOURIER_L + own_j % own_p.before +               \
                                    own_p.before * own_n,                                                              \
                                own_re[own_b], own_im[own_b]);                                                         \
                } else {                                                                                               \
                    TO[0][own_n * FOURIER_WIDE + own_c] = own_re[own_b];                                               \
                    TO[1][own_n * FOURIER_WIDE + own_c] = own_im[own_b];                                               \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    if (!LAST) {                                                                                                       \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                                  \
    }

kernel __attribute__((reqd_work_group_size(FOURIER_GROUP, 1, 1))) void fourier_pass(
    FOURIER_READS int own_length, int own_before, int own_inner, uint own_line0, uint own_lines, int own_how,
    int own_limit, float own_scale, float own_last, ulong own_turns, ulong own_chirp,
    ulong own_filter, int own_axis,
    long own_in_at, long own_in_step, long own_in_along, long own_in_across, long own_in_imaginary, long own_out_at,
    long own_out_step, long own_out_along, long own_out_across, long own_out_imaginary, global const float *own_from,
    global float *own_to, global const float *own_tables)
{
    local float own_first[2][FOURIER_L * FOURIER_WIDE], own_second[2][FOURIER_BOTH * (FOURIER_L * FOURIER_WIDE) + 1];
    if (own_length < 0) { /* never; PoCL 5 stops at variables in local memory that no step uses */
        *(volatile local float *)&own_first[0][0] = *(volatile local float *)&own_second[0][0] = 0;
    }
    const uint own_apart = (uint)(own_length / FOURIER_L);
    const FourierPass own_p = {own_length, own_before,  own_inner, own_line0, own_lines * own_apart,
                               own_how,    own_limit,   own_scale, own_last,  own_turns,
                               own_chirp,  own_filter, own_axis};
    const FourierView own_in = {own_in_at, own_in_step, own_in_along, own_in_across, own_in_imaginary};
    const FourierView own_out = {own_out_at, own_out_step, own_out_along, own_out_across, own_out_imaginary};
    const bool own_step_is_1 = own_out_step == 1;
    FOURIER_STEPS
}
