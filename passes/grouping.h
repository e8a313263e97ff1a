/*
 * grouping: what the choice of kernels asks of the graph again and again.
 *
 * The graph stays as it is while stages are put into kernels (group.c), so that who reads what, what a stage allows
 * and what it costs are found once.
 */
#ifndef PASSES_GROUPING_H
#define PASSES_GROUPING_H

#include "cost.h"
#include "pass.h"

#include "../ir/footprint.h"
#include "../ir/uses.h"

struct Form; /* rows.c */

typedef struct Grouping {
    IrGraph *g;
    PassContext *cx;
    IrSchedule *s;
    Cost cost;
    IrUses *uses;
    int *users;              /* by node: see ir_count_users */
    struct Form **form;      /* by node: how it can be computed in rows; NULL: not asked yet */
    IrFootprint **footprint; /* by node: of its first expression; NULL: not asked yet */
    int *loop_step;          /* by loop: the step that begins it */
    int *first_remark;       /* by node: the first remark about an edge from it, plus one; 0 none */
    int *last_remark;        /* by node: the last one, plus one; 0 none */
    Vec(int) next_remark;    /* by remark: the next one about the same node, plus one; 0 none */
} Grouping;

/* Of a schedule whose steps are made and not yet merged. */
Grouping *grouping_new(IrGraph *g, PassContext *cx, IrSchedule *s);
const IrFootprint *grouping_footprint(Grouping *b, IrId stage);
void grouping_add_remark(Grouping *b, IrRemark remark);

/* Where the kernels of steps a < z can stand as one: z, if nobody between them needs what a makes; a, if all is
 * there that z needs; or -1. */
int grouping_joined_place(const Grouping *b, int a, int z);
/* Puts the stages of step `from` into step `to`. */
void grouping_merge(Grouping *b, int from, int to);
/* Removes the steps that were merged into others. */
void grouping_drop_empty(Grouping *b);

#endif
