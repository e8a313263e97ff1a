/*
 * verify: checks that a graph is what every pass may assume.  All findings are collected, the
 * graph is printed with them, and the process aborts: a broken graph is a bug of ours.
 */
#ifndef IR_VERIFY_H
#define IR_VERIFY_H

#include "ir.h"

/* Aborts with a report when something is wrong; `after` names the pass that ran last. */
void ir_verify(const IrGraph *g, const char *after);
/* The findings, one a line; empty when there are none. */
void ir_verify_report(const IrGraph *g, Str *out);

#endif
