/*
 * host: host expressions of the graph become HostNodes of the program.
 */
#ifndef CODEGEN_HOST_H
#define CODEGEN_HOST_H

#include "../ir/ir.h"
#include "../program/program.h"

typedef struct CgHost {
    IrGraph *g;
    Arena *arena;
    Vec(HostNode) nodes;
    int *memo; /* by expression: index + 1 */
    int memo_cap;
} CgHost;

void cg_host_init(CgHost *host, IrGraph *g);
/* The index of the host node that computes e (rank at most IR_INDEX). */
int cg_host(CgHost *host, IrExpr e);
/* The number 1. */
int cg_host_one(CgHost *host);
/* A node as given; an equal one is the same. */
int cg_host_node(CgHost *host, HostNode node);
/* The larger of two host nodes. */
int cg_host_max(CgHost *host, int a, int b);
/* The number of an INPUT node among the inputs. */
int cg_input_number(const IrGraph *g, IrId node);

#endif
