/*
 * program_state: a program in the making, for program.c and interface.c.
 */
#ifndef CODEGEN_PROGRAM_STATE_H
#define CODEGEN_PROGRAM_STATE_H

#include "kernel.h"

typedef struct CgBuild {
    CgShared cg;
    IrGraph *g;
    Arena *arena;
    const IrSchedule *sched;
    Program *program;
    Vec(ProgGrid) grids;
    Vec(ProgBuffer) buffers;
    Vec(ProgKernel) kernels;
    Vec(ProgStep) steps;
    Vec(ProgTable) tables;
    Vec(ProgNeed) needs;
    int *table_step; /* by node: the step that fills a table */
    int *channel;    /* by node: host expression: an input's only channel; -1: all */
} CgBuild;

/* The input, from 1, whose places labels are; 0: they have numbers of their own. */
int cg_ids_of(const CgBuild *b, IrId labels);
/* Finds the inputs of which one channel is read: these are inputs of one channel.  Before grids are numbered. */
void cg_choose_channels(CgBuild *b);
/* Inputs, params, outputs and notes, once buffers and tables have numbers. */
void cg_add_interface(CgBuild *b);

#endif
