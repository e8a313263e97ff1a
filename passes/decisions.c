/* decisions: the answers, and a list of what was asked. */
#include "decisions.h"

#include "pass.h"

#include <string.h>

static const char *const WORDS[] = {
#define D(NAME, word, what) word,
    DECISION_KINDS(D)
#undef D
};

static bool same(const Decision *d, DecisionKind kind, IrId a, IrId b)
{
    return d->kind == kind && d->a == a && d->b == b;
}

static Decision *find(const Decision *at, int n, DecisionKind kind, IrId a, IrId b)
{
    for (int i = 0; i < n; i++) {
        if (same(&at[i], kind, a, b)) {
            return (Decision *)&at[i];
        }
    }
    return NULL;
}

bool pass_decide(struct PassContext *cx, const IrGraph *g, DecisionKind kind, IrId a, IrId b, bool rule)
{
    Decisions *d = cx->decisions;
    if (d == NULL) {
        return rule;
    }
    const Decision *given = find(d->given, d->n_given, kind, a, b);
    if (d->arena == NULL) {
        return given != NULL ? given->taken : rule;
    }
    Decision *before = find(d->asked.at, d->asked.n, kind, a, b);
    const Decision now =
        {kind, a, b, rule, given != NULL ? given->taken : rule, arena_strdup(d->arena, ir_node(g, a)->name)};
    if (before != NULL) {
        *before = now;
    } else {
        vec_push(d->arena, &d->asked, now);
    }
    return now.taken;
}

const char *decision_word(DecisionKind kind)
{
    return WORDS[kind];
}

char *decision_text(Arena *arena, const Decision *decision)
{
    switch (decision->kind) {
#define D(NAME, word, what) \
    case DECISION_##NAME:   \
        return arena_printf(arena, what, decision->name);
        DECISION_KINDS(D)
#undef D
    default:
        return NULL;
    }
}
