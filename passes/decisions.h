/*
 * decisions: where the way in which stages share kernels is a matter of speed alone.
 *
 * Wherever more than one way is legal, a pass asks pass_decide and says what its rule would do.  Every answer gives the
 * same bits, so that a plan is a list of answers, and which plan is the fastest can be measured (`pipec tune`).  A
 * decision is known by its kind and the stages that it is about, whose numbers are the same each time a graph is made.
 */
#ifndef PASSES_DECISIONS_H
#define PASSES_DECISIONS_H

#include "../base/arena.h"
#include "../ir/ir.h"

#define DECISION_KINDS(D)                                         \
    D(INLINE, "inline", "compute %s where it is read")            \
    D(JOIN, "join", "keep %s in registers for its reader")        \
    D(SHARE, "share", "one kernel for %s and what reads with it") \
    D(BLOCKS, "blocks", "reduce %s in the kernel that stores it") \
    D(ROUNDS, "rounds", "compute several rounds of %s in one kernel")

typedef enum DecisionKind {
#define D(NAME, word, what) DECISION_##NAME,
    DECISION_KINDS(D)
#undef D
        DECISION_KIND_COUNT
} DecisionKind;

typedef struct Decision {
    DecisionKind kind;
    IrId a, b;        /* the stages; b is 0 where it is about one */
    bool rule, taken; /* what the rule says, and what is done */
    const char *name; /* of a */
} Decision;

typedef struct Decisions {
    const Decision *given; /* answers that differ from the rules; borrowed */
    int n_given;
    Arena *arena;        /* of what was asked for; NULL: nobody wants to know */
    Vec(Decision) asked; /* each once */
} Decisions;

struct PassContext;

/* What is to be done: what was given, else what the rule says. */
bool pass_decide(struct PassContext *cx, const IrGraph *g, DecisionKind kind, IrId a, IrId b, bool rule);
/* "inline" ... */
const char *decision_word(DecisionKind kind);
/* "compute blurred where it is read" */
char *decision_text(Arena *arena, const Decision *decision);

#endif
