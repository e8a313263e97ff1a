/*
 * measure_finish: the closing formulae on the device (kernels/measure_finish.cl), and the finished
 * columns on their way to the table.
 *
 * A table's rows are the objects that are there.  A scan finds where they go; then block after block
 * of objects becomes columns in the work area, from where they go to their places in the table.  Before that the
 * host asks how many there are.  A table that is small even if all are there comes over in one piece, with what the
 * host would ask behind it.  A vector stays on the device.
 */
#include "measuring.h"
#include "../prim_program.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum {
    GROUP = 256,
    DEFINES = 32000,
    AT_ONCE = 4 << 20 /* bytes: rows of objects that are not there come over in less time than it takes to ask */
};

/* What comes behind a table in one piece. */
typedef struct Tail {
    double present;
    MeasureWanted wanted;
} Tail;

extern const char kernel_text_f64_math[], kernel_text_exact_digits[];
extern const char kernel_text_measure_object[], kernel_text_measure_formulae[];
extern const char kernel_text_scan[], kernel_text_measure_finish[];

bool measuring_finish_program(const Measuring *m, DevProgram **program)
{
    static const char *const texts[] = {kernel_text_f64_math,
                                        kernel_text_exact_digits,
                                        kernel_text_measure_object,
                                        kernel_text_measure_formulae,
                                        kernel_text_scan,
                                        kernel_text_measure_finish,
                                        NULL};
    char *defines = malloc(DEFINES);
    if (defines == NULL) {
        return measuring_no_memory(m);
    }
    measure_item_defines(&m->list, &m->lanes, GROUP, defines, DEFINES);
    bool ok = prim_program(m->call, defines, texts, program);
    free(defines);
    return ok;
}

static bool launch(const Measuring *m, DevProgram *program, const char *kernel, size_t groups, const DevArg *args,
                   int n_args)
{
    return measuring_launch(m, &(MeasuringLaunch){.program = program,
                                                  .kernel = kernel,
                                                  .groups = {groups, 1, 1},
                                                  .group = GROUP,
                                                  .args = args,
                                                  .n_args = n_args});
}

static size_t count_groups(const Measuring *m)
{
    return ((size_t)m->n + GROUP - 1) / GROUP;
}

static bool write_vector(const Measuring *m, DevProgram *program)
{
    const PrimImage *vector = &m->call->out[0];
    const double *s = m->frame.spacing;
    const DevArg args[] = {dev_uint(m->first),        dev_uint(m->n),      dev_double(s[0]),  dev_double(s[1]),
                           dev_double(s[2]),          dev_mem(m->window),  dev_mem(m->table), dev_mem(m->lows),
                           dev_ulong(vector->length), dev_mem(vector->mem)};
    return launch(m, program, "measure_vector", count_groups(m), args, 10);
}

/* How many objects are there before each group, and behind these how many in all; this goes to doubles[slot], too,
 * unless slot is -1. */
static bool find_rows(const Measuring *m, DevProgram *program, DevMem *doubles, int slot)
{
    size_t n = count_groups(m) + 1;
    const DevArg count[] = {dev_uint(m->n), dev_mem(m->table), dev_mem(m->heights)};
    const DevArg sums[] = {dev_mem(m->heights), dev_ulong(0), dev_uint(n), dev_mem(doubles), dev_int(slot)};
    TRY(launch(m, program, "measure_present", n, count, 3));
    return launch(m, program, "scan_sums", 1, sums, 5);
}

/* Groups begin .. end of objects become columns in the work area, `pitch` apart. */
static bool find_columns(const Measuring *m, DevProgram *program, size_t begin, size_t end, size_t pitch)
{
    const double *s = m->frame.spacing;
    const DevArg args[] = {dev_uint(m->first), dev_uint(m->n),   dev_uint(begin),     dev_uint(pitch),
                           dev_double(s[0]),   dev_double(s[1]), dev_double(s[2]),    dev_mem(m->window),
                           dev_mem(m->table),  dev_mem(m->lows), dev_mem(m->heights), dev_mem(m->work)};
    return launch(m, program, "measure_table", end - begin, args, 12);
}

/* ---- in one piece -------------------------------------------------------------------------- */

static size_t doubles_of(const Measuring *m, const PrimTable *table)
{
    return ((size_t)table->columns + 1) * m->n;
}

static bool comes_at_once(const Measuring *m, const PrimTable *table)
{
    size_t bytes = doubles_of(m, table) * sizeof(double) + sizeof(Tail);
    return m->n == m->count && bytes <= AT_ONCE && bytes <= dev_bytes(m->work);
}

static bool write_at_once(Measuring *m, DevProgram *program, PrimTable *table)
{
    PrimCall *call = m->call;
    size_t doubles = doubles_of(m, table), end = doubles * sizeof(double);
    Tail tail;
    TRY(find_rows(m, program, m->work, (int)doubles));
    TRY(find_columns(m, program, 0, count_groups(m), m->n));
    TRY(measuring_copy_wanted(m, m->work, end + offsetof(Tail, wanted)));
    TRY(dev_read(call->dev, m->work, 0, table->at, end + sizeof tail, call->err));
    memcpy(&tail, table->at + doubles, sizeof tail);
    table->rows = (int64_t)tail.present;
    m->wanted = tail.wanted;
    return true;
}

/* ---- in blocks ----------------------------------------------------------------------------- */

/* Groups begin .. end of objects. */
static bool write_rows(Measuring *m, DevProgram *program, const uint32_t *before, size_t begin, size_t end,
                       PrimTable *table)
{
    PrimCall *call = m->call;
    size_t rows = before[end] - before[begin], columns = (size_t)table->columns + 1;
    size_t pitch = (end - begin) * GROUP;
    TRY(find_columns(m, program, begin, end, pitch));
    TRY(dev_read_rows(call->dev, m->work, 0, pitch * sizeof(double), table->at + table->rows,
                      (size_t)m->count * sizeof(double), rows * sizeof(double), columns, call->err));
    table->rows += (int64_t)rows;
    return true;
}

/* How many objects there are before each group; what the host asks for comes along. */
static bool read_before(Measuring *m, DevProgram *program, uint32_t *before, size_t n)
{
    PrimCall *call = m->call;
    size_t end = n * sizeof *before;
    TRY(find_rows(m, program, NULL, -1));
    TRY(measuring_copy_wanted(m, m->heights, end));
    TRY(dev_read(call->dev, m->heights, 0, before, end + sizeof m->wanted, call->err));
    memcpy(&m->wanted, before + n, sizeof m->wanted);
    return true;
}

/* All blocks, unless objects were left out. */
static bool write_blocks(Measuring *m, DevProgram *program, PrimTable *table)
{
    size_t groups = count_groups(m), row = ((size_t)table->columns + 1) * sizeof(double);
    size_t block = dev_bytes(m->work) / (GROUP * row);
    uint32_t *before = malloc((groups + 1) * sizeof *before + sizeof m->wanted);
    if (before == NULL) {
        return measuring_no_memory(m);
    }
    bool ok = read_before(m, program, before, groups + 1);
    for (size_t begin = 0; ok && begin < groups && !measuring_lacks_room(m); begin += block) {
        size_t end = groups - begin < block ? groups : begin + block;
        ok = write_rows(m, program, before, begin, end, table);
    }
    free(before);
    return ok;
}

/* ---- results ------------------------------------------------------------------------------- */

static bool write_table(Measuring *m, DevProgram *program, PrimTable *table)
{
    return comes_at_once(m, table) ? write_at_once(m, program, table) : write_blocks(m, program, table);
}

static bool finish_table(Measuring *m)
{
    DevProgram *program = NULL;
    PrimTable *table = m->call->table;
    TRY(measuring_finish_program(m, &program));
    TRY(write_table(m, program, table));
    return !measuring_lacks_room(m) || (measuring_other_shares(m) && write_table(m, program, table));
}

static bool finish_vector(Measuring *m)
{
    DevProgram *program = NULL;
    bool some;
    TRY(measuring_finish_program(m, &program));
    TRY(write_vector(m, program));
    TRY(measuring_settle(m, &some));
    return !some || write_vector(m, program);
}

static bool finish_mask(Measuring *m)
{
    bool some;
    return measuring_settle(m, &some);
}

bool measuring_finish(Measuring *m)
{
    static bool (*const FINISH[])(
        Measuring *) = {[MEASURE_TABLE] = finish_table, [MEASURE_VECTOR] = finish_vector, [MEASURE_MASK] = finish_mask};
    return FINISH[m->result](m);
}

/* ---- where results go ---------------------------------------------------------------------- */

static bool begin_table(const Measuring *m, PrimTable *table)
{
    const MeasureList *list = &m->list;
    size_t columns = (size_t)list->columns;
    size_t room = (columns + 1) * ((size_t)m->count + 1) + sizeof(Tail) / sizeof(double);
    TRY(prim_table_room(m->call->dev, table, room) ||
        err_set(m->call->err, CODE_MEMORY, "%s: no memory for a table of %u rows", m->call->name, m->count));
    table->rows = 0;
    table->columns = list->columns;
    free(table->names);
    free(table->integer);
    table->names = calloc(columns + 1, sizeof *table->names);
    table->integer = calloc(columns + 1, sizeof *table->integer);
    if (table->names == NULL || table->integer == NULL) {
        return measuring_no_memory(m);
    }
    measure_names(list, m->frame.spacing, table->names, table->integer);
    return true;
}

bool measuring_begin_result(const Measuring *m)
{
    const PrimImage *vector = &m->call->out[0];
    if (m->result == MEASURE_TABLE) {
        return begin_table(m, m->call->table);
    }
    return m->result != MEASURE_VECTOR ||
           dev_fill(m->call->dev, vector->mem, 0, (size_t)vector->length * sizeof(float), 0, m->call->err);
}

bool measuring_close_result(Measuring *m)
{
    PrimTable *table = m->call->table;
    bool table_wanted = m->result == MEASURE_TABLE;
    for (int c = 1; table_wanted && c <= table->columns && table->rows < m->count; c++) {
        memmove(table->at + (int64_t)c * table->rows, table->at + (int64_t)c * m->count,
                (size_t)table->rows * sizeof *table->at);
    }
    return true;
}
