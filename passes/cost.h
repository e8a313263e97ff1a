/*
 * cost: the roofline of a kernel.  A pixel takes as long as moving its bytes or as computing it,
 * whichever is longer, so time is counted in operations and a byte is as many of them as the device
 * that the plan is for (figures.h) does while it moves one.
 */
#ifndef PASSES_COST_H
#define PASSES_COST_H

#include "pass.h"

#include "../ir/ahead.h"

/* Of a work-item, by CostKernel.registers: measured on an H200, kernels of more than one fold that need 300 still pay,
 * those of 330 spill. */
enum { COST_MOST_REGISTERS = 300 };
/* Of rows that stay for stages behind (ir/ahead.h), beside those of a turn that is on its way: of a work-item with so
 * many columns of its own.  On an H100 130 pay, 250 spill. */
enum { COST_OWN_COLUMNS = 4, COST_MOST_KEPT = 140 };
/* Instructions for a pixel, up to which three rows a turn, and two, are best on an H100. */
enum { COST_LITTLE_WORK = 100, COST_MUCH_WORK = 180 };
#define COST_FULL "the sums of both folds are more than registers hold"

/* A fold over rows, which keeps a partial result for every open row. */
typedef struct CostFold {
    IrExpr fold;
    double registers, sums, ops, time; /* see CostStage */
    double direct;                     /* more time in a kernel that reads each row from memory */
} CostFold;

/* What one stage reads and does. */
typedef struct CostStage {
    bool counted;
    Vec(IrId) reads; /* all nodes; images also in: */
    Vec(IrId) moved; /* those that are read at other pixels than the current one */
    double ops, halo, registers;
    double work; /* instructions, as far as some operators take many */
    double time; /* as ops, operators weighed by their type, too */
    Vec(CostFold) folds;
    bool known;
} CostStage;

typedef struct Cost {
    IrGraph *g;
    const IrSchedule *s;
    double ops_a_byte, ops_a_launch; /* the latter for each pixel of an image of middling size */
    CostStage *stages;               /* by node, counted when first asked for */
} Cost;

typedef struct CostKernel {
    double bytes, ops; /* a pixel */
    double halo;       /* rows (planes) computed in front of a strip */
    double registers;  /* of a work-item, for the folds over rows */
    double time, sums; /* see CostStage; registers of the partial results alone, weighed by their type */
    double direct;     /* more time where no row streams by */
    int folds, images; /* over rows; that are read beside the pixel */
    int columns;       /* stages of columns.c that are so */
    bool known;        /* the reach of all folds is, or follows from the parameters' defaults */
} CostKernel;

Cost cost_new(IrGraph *g, const PassContext *cx, const IrSchedule *s);
const CostStage *cost_stage(Cost *c, IrId id);
/* Of stages that are computed in one kernel; those that the schedule stores are written. */
CostKernel cost_kernel(Cost *c, const IrId *stages, int n);
/* Instructions for a pixel, columns that several work-items compute counted for each of them. */
double cost_ahead(Cost *c, const IrAhead *ahead);
double cost_time(const Cost *c, const CostKernel *k);
/* Whether registers hold the sums of the folds of both kernels in one: few enough, or no more than those of one alone, whose
 * folds the other one has, too. */
bool cost_has_room(const CostKernel *one, const CostKernel *two, const CostKernel *both);
/* Of as many bytes a pixel alone. */
double cost_bytes(const Cost *c, double bytes);
/* Of one more launch. */
double cost_launch(const Cost *c);
/* Of all steps of a plan, a pixel of the image: what `pass_search` compares plans by. */
double cost_plan(IrGraph *g, const PassContext *cx, const IrSchedule *s);
/* How many registers a partial result of a fold has: two in f64.  Where these are whole numbers of pixels of a file they are one
 * for bytes, which is known once the file is: measured with both. */
#define COST_WIDTH_OF_FILES 1.25
double cost_fold_width(IrGraph *g, IrExpr fold);
/* How often a row is computed with strips as long as the runtime makes them. */
double cost_strip_factor(double halo);
/* A host expression for the parameters' defaults and pixels of a tenth of a um; false: it depends on the image. */
bool cost_value(IrGraph *g, IrExpr e, double *value);

#endif
