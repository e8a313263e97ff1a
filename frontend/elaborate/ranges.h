/* ranges: the indices of a comprehension; private to fold.c and each.c. */
#ifndef FRONTEND_RANGES_H
#define FRONTEND_RANGES_H

#include "elab.h"

enum { MAX_INDICES = 8 };

typedef struct Ranges {
    Fold fold[MAX_INDICES];
    const AstFor *of[MAX_INDICES]; /* which one each is */
    int n;
    IrExpr where;         /* indices that count, where bounds depend on other indices; 0: all */
    bool staged;          /* a stage was made that depends on an index */
    bool sizes;           /* how large a window of pixels is depends on an index */
    struct Ranges *outer; /* of the comprehension around */
} Ranges;

/* What is folded: an expression of the indices where it can be one, else a choice by them. */
Val el_body(Elab *el, const AstExpr *e, Ranges *r);

#endif
