/*
 * exec_launch: a launch is a grid of groups of 256 columns.  Downwards a work-item streams over a strip of
 * rows: long strips read their halo rarely, short ones make enough groups to fill the device, so the
 * strip follows from the image's size.
 *
 * Large images come in whole rounds of what the device works on at a time.  An image that does not fill one
 * takes as long as its strips are: a unit of an H200 with one group or two needs as long for a row, with four
 * 1.5 times that, with eight 2.5 times.  So where k groups share a unit's rows, the time is (strip + halo) (2 + k),
 * and the best k is smaller the longer the halo is.
 */
#include "exec_launch.h"

#include "../../base/strips.h"

enum {
    SHORT_STRIP = 8,    /* of kernels that share rows, */
    SHORTEST_STRIP = 2, /* and of others */
    CPU_STRIP = 128,
    HALO_LEAST = 4,        /* shorter strips than this many halos waste too much, where the device has enough to do */
    GPU_GROUPS = 32,       /* groups that a unit works on at a time, */
    GPU_HALO_GROUPS = 8,   /* and of kernels with a halo, whose work-items hold many registers */
    GPU_FEWEST_GROUPS = 2, /* one takes no less time */
    CPU_GROUPS = 4,        /* groups a unit that balance the load */
    BLOCK_GROUPS = 4       /* groups a unit from which a device has enough to do with strips that are blocks of a sum */
};

/* What a kernel's strips follow from. */
typedef struct Rows {
    int64_t halo; /* rows before a strip's first one that it reads */
    int64_t turn; /* strips are whole multiples of so many */
    int64_t least;
} Rows;

static int64_t ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The halo is that of the reads, or what the folds over the stream take, which in volumes need not be along the same
 * axis.  There is none where rows are computed without those before. */
static Rows rows_of(const ExecPlan *plan, const ExecTarget *target, int s)
{
    const ProgStep *step = &plan->program->steps[s];
    const ExecStep *to = &plan->steps[s];
    Rows rows = {.halo = to->below + to->above, .turn = 1};
    bool alone = false;
    for (int i = 0; i < step->n_args; i++) {
        const ProgArg *arg = &step->args[i];
        if (arg->kind == ARG_STRIP) {
            alone = arg->b == 2;
            rows.halo = alone ? 0 : larger(rows.halo, (int64_t)to->values[i]);
            rows.turn = alone ? arg->a : 1;
        }
    }
    rows.least = target->cpu || rows.halo > 0 ? SHORT_STRIP : SHORTEST_STRIP;
    return rows;
}

/* Of an image that does not fill a round of the device: for two, four or eight groups a unit, whatever takes least. */
static int64_t short_strip(const ExecTarget *target, int64_t columns, int rows, const Rows *kernel)
{
    int64_t best = 0;
    double least = 0;
    for (int k = GPU_FEWEST_GROUPS; k <= GPU_HALO_GROUPS; k *= 2) {
        int64_t strips = larger((int64_t)target->units * k / columns, 1);
        int64_t strip = larger(ceil_div(rows, strips), kernel->least);
        double groups = (double)(columns * ceil_div(rows, strip)) / target->units;
        double time = (double)(strip + kernel->halo) * (2 + groups);
        if (best == 0 || time < least) {
            best = strip;
            least = time;
        }
    }
    return best;
}

/* How many rows a work-item streams over: about as many as waste little, but such that the groups
 * come out as whole rounds of what the device works on at a time. */
static int64_t strip_of(const ExecTarget *target, int64_t columns, int rows, const Rows *kernel)
{
    int groups = target->cpu ? CPU_GROUPS : kernel->halo > 0 ? GPU_HALO_GROUPS : GPU_GROUPS;
    int64_t round = (int64_t)target->units * groups;
    int64_t wanted = strip_rows(target->cpu ? CPU_STRIP : STRIP_ROWS, kernel->halo);
    int64_t rounds = ceil_div(columns * ceil_div(rows, wanted), round);
    if (rounds == 1 && kernel->halo > 0 && !target->cpu) {
        return short_strip(target, columns, rows, kernel);
    }
    int64_t strips = larger(rounds * round / columns, 1);
    int64_t strip = larger(ceil_div(rows, strips), larger(kernel->least, HALO_LEAST * kernel->halo));
    return ceil_div(strip, kernel->turn) * kernel->turn;
}

/* How many rows the strips of a launch must have where it hands partial results on; 0: any. */
static int given_strip(const ProgStep *step)
{
    int rows = 0;
    for (int i = 0; i < step->n_args; i++) {
        const ProgArg *arg = &step->args[i];
        rows = arg->kind == ARG_PARTIALS && arg->b > 0 ? arg->b : rows;
    }
    return rows;
}

int exec_plan_reduction(const Program *program, int value)
{
    int s = 0;
    while (program->steps[s].kind != STEP_PRIMITIVE || program->steps[s].value != value) {
        s++;
    }
    return s;
}

/* The reductions that the launch hands its partial results to, one of each group. */
static void feed(ExecPlan *plan, int s)
{
    const ProgStep *step = &plan->program->steps[s];
    const size_t *groups = plan->steps[s].groups;
    for (int i = 0; i < step->n_args; i++) {
        if (step->args[i].kind == ARG_PARTIALS) {
            ExecStep *to = &plan->steps[exec_plan_reduction(plan->program, step->args[i].a)];
            to->fed = groups[0] * groups[1] * groups[2];
            to->fed_from = s;
            plan->steps[s].hands_on = true;
        }
    }
}

/* Strips of blocks may be long: where the device has little to do, short ones are done before, and the sum is
 * read from the image. */
static bool blocks_pay(const ExecTarget *target, int64_t columns, int rows, int64_t halo, int block)
{
    int64_t enough = (int64_t)target->units * BLOCK_GROUPS;
    return target->cpu || block > HALO_LEAST * halo || columns * ceil_div(rows, block) >= enough;
}

void exec_plan_launch(ExecPlan *plan, const ExecTarget *target, int s)
{
    const ProgStep *step = &plan->program->steps[s];
    const ExecGrid *g = &plan->grids[step->grid];
    ExecStep *to = &plan->steps[s];
    int64_t planes = step->stream_z ? (int64_t)g->c * g->h : g->planes;
    int64_t columns = ceil_div(g->w, EXEC_COLUMNS) * planes;
    to->rows = step->stream_z ? g->d : g->h;
    Rows kernel = rows_of(plan, target, s);
    int block = given_strip(step);
    bool blocks = block > 0 && blocks_pay(target, columns, to->rows, kernel.halo, block);
    int64_t strip = blocks ? block : strip_of(target, columns, to->rows, &kernel);
    to->strip = (int)(strip < to->rows || blocks ? strip : to->rows);
    to->groups[0] = (size_t)ceil_div(g->w, EXEC_COLUMNS);
    to->groups[1] = (size_t)ceil_div(to->rows, to->strip);
    to->groups[2] = (size_t)planes;
    if (block == 0 || blocks) {
        feed(plan, s);
    }
}
