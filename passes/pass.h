/*
 * pass: what a pass is, and the one place that runs them.
 *
 * A pass is one file with one public function.  passes.def lists them in order; from that list
 * come the command line (--passes, --print-after), the runner and the tests that switch each one
 * off.  The comment in front of a pass ends with an example, which test_passes runs.  No pass
 * changes a bit of any output: the reference evaluator on the graph before and after gives the
 * same pixels.
 */
#ifndef PASSES_PASS_H
#define PASSES_PASS_H

#include "decisions.h"

#include "../ir/ir.h"
#include "../ir/schedule.h"

typedef enum PassFuse { FUSE_NONE, FUSE_POINTWISE, FUSE_ALL } PassFuse;

typedef struct PassContext PassContext;
typedef bool (*PassRun)(IrGraph *g, PassContext *cx); /* whether it changed anything */

struct PassContext {
    PassFuse fuse;
    const struct DeviceFigures *figures; /* what the plan is for; NULL: the table's first device */
    const char *only;                    /* comma-separated names of the passes to run; NULL: all */
    Decisions *decisions;                /* answers where there is a choice; NULL: the rules */
    bool verify;                         /* run the verifier after every pass */
    bool in_rounds;                      /* for runs in which images that are read anywhere do not fit (gathers.c) */
    /* Called after every pass that ran, with its name; may be NULL. */
    void (*after)(const IrGraph *g, const char *pass, void *user);
    void *user;
    Vec(IrRemark) remarks; /* of inlining; the grouping pass takes them into the schedule */
};

#define P(name, what) bool pass_##name(IrGraph *g, PassContext *cx);
#include "passes.def"
#undef P

/* Makes images of parts of expressions that read more of them than a kernel may: no pass that could be left out. */
bool pass_narrow(IrGraph *g);
/* The graph, with all passes done, has reads that `in_rounds` makes images of their own, or windows for whose ends it
 * makes larger ones. */
bool pass_wants_rounds(IrGraph *g);
bool pass_wants_wraps(const IrGraph *g);

typedef struct PassInfo {
    const char *name, *what;
    PassRun run;
} PassInfo;
extern const PassInfo PASSES[];
extern const int PASS_COUNT;

/* Runs the passes in order, then makes the schedule (group.c), which lives in g's arena. */
const IrSchedule *pass_run_all(IrGraph *g, PassContext *cx);
/* Groups stages into kernels and orders them. */
const IrSchedule *pass_group(IrGraph *g, PassContext *cx);

#endif
