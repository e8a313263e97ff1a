/*
 * epilogue: the lines of a kernel that reduce what it stores; what they say is in
 * kernels/epilogue.cl.  In a run in parts, whose launches overlap, EPILOGUE is 0 and the lines
 * are nothing.
 */
#include "epilogue.h"

static bool is_taken_in(const CgShared *cg, const IrStep *step, IrId reduction)
{
    IrId image = cg->sched->taken_from[reduction];
    return image != 0 && &cg->sched->steps.at[cg->sched->step[image]] == step;
}

static bool has_epilogue(const CgKernel *k, const IrStep *step)
{
    bool any = false;
    for (int i = 0; i < step->stages.n; i++) {
        any = any || k->cg->sched->reduced[step->stages.at[i]];
    }
    return any;
}

/* The reduction that comes next; 0 when there is none. */
static IrId next_of(const CgKernel *k, const IrStep *step, IrId before)
{
    for (IrId id = before + 1; has_epilogue(k, step) && id < (IrId)k->g->nodes.n; id++) {
        if (is_taken_in(k->cg, step, id)) {
            return id;
        }
    }
    return 0;
}

static int wanted_of(const CgKernel *k, IrId reduction)
{
    double wanted = 0;
    ir_is_const(k->g, ir_node(k->g, reduction)->reduce.wanted, &wanted);
    return (int)wanted;
}

/* What the reduction takes pixels as. */
static const char *type_of(const CgKernel *k, IrId reduction)
{
    return elem_cl_name(ir_expr(k->g, ir_node(k->g, reduction)->reduce.value)->type);
}

static const char *partials(CgKernel *k, const IrStep *step, IrId reduction)
{
    int slot = k->cg->slot[reduction];
    return cg_param(k, (ProgArg){ARG_PARTIALS, slot, step->strip}, "global double *",
                    arena_printf(k->arena, "partials%d", slot));
}

void cg_write_place(const CgKernel *k, const IrStep *step, bool share, Str *out)
{
    bool any = has_epilogue(k, step);
    const char *x = !any ? "(int)get_global_id(0) * PX" : share ? "EPILOGUE_TILE_X" : "EPILOGUE_X";
    str_addf(out,
             "    const int x = %s;\n"
             "    const int first = rows_from + (int)get_group_id(1) * strip;\n"
             "    const int last = min(first + strip, rows_to) - 1;\n"
             "    const int %s + (int)get_group_id(2);\n",
             x, step->stream == IR_AX_Z ? "y = row_from" : "plane = plane_from");
    str_addf(out, "%s    %s (x >= w) {\n        return;\n    }\n%s", any ? "#if !EPILOGUE\n" : "",
             share ? "IF_NOTHING_IS_SHARED" : "if", any ? "#endif\n" : "");
}

void cg_open_epilogue(CgKernel *k, const IrStep *step, Str *out)
{
    bool squares = false;
    for (IrId id = next_of(k, step, 0); id != 0; id = next_of(k, step, id)) {
        squares = squares || (wanted_of(k, id) & WANTED_SQUARES) != 0;
    }
    if (has_epilogue(k, step)) {
        str_addf(out, "    REDUCED_LANES(%d);\n", squares ? 3 : 1); /* with the sums and counts beside them */
    }
    for (IrId id = next_of(k, step, 0); id != 0; id = next_of(k, step, id)) {
        partials(k, step, id);
        str_addf(out, "    REDUCED_OPEN(reduced%d, %s);\n", k->cg->slot[id], type_of(k, id));
    }
}

void cg_add_epilogue(CgKernel *k, IrId stage, const char *columns, int indent, Str *out)
{
    const Elem elem = ir_node(k->g, stage)->elem; /* f32 holds what is kept of a file as it is read again */
    for (IrId id = 1; k->cg->sched->reduced[stage] && id < (IrId)k->g->nodes.n; id++) {
        if (k->cg->sched->taken_from[id] == stage) {
            str_addf(out, "%*sREDUCED_ADD(reduced%d, %s, %d, %s, %s);\n", 4 * indent, "", k->cg->slot[id],
                     type_of(k, id), wanted_of(k, id), elem_cl_name(elem != ELEM_FILE ? elem : ELEM_F32), columns);
        }
    }
}

void cg_close_epilogue(CgKernel *k, const IrStep *step, Str *out)
{
    for (IrId id = next_of(k, step, 0); id != 0; id = next_of(k, step, id)) {
        str_addf(out, "    REDUCED_CLOSE(reduced%d, %d, %s);\n", k->cg->slot[id], wanted_of(k, id),
                 partials(k, step, id));
    }
}
