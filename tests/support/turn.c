/* turn: see turn.h. */
#include "turn.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

bool turn_has(int i)
{
    const char *turn = getenv("PIPEC_TEST_TURN");
    int k = 0, n = 1;
    if (turn != NULL && (sscanf(turn, "%d/%d", &k, &n) != 2 || n < 1 || k < 0 || k >= n)) {
        fprintf(stderr, "PIPEC_TEST_TURN is %s, but must be k/n with k from 0 to n - 1\n", turn);
        exit(2);
    }
    return i % n == k;
}

void turn_or_skip(int i)
{
    if (!turn_has(i)) {
        skip();
    }
}
