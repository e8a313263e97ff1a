/*
 * owners: a swap is three: how much comes, or who has failed; whether all have room for it; the bytes.
 */
#include "owners.h"

#include <stdlib.h>
#include <string.h>

typedef struct Head {
    uint64_t bytes;
    int32_t code, transient; /* code: CODE_OK, or that of a failure */
    char text[sizeof((Err){0}.text)];
} Head;

/* A swap under way; arrays by owner. */
typedef struct Swap {
    Owners *owners;
    Head *given, *taken;
    OwnersPiece *give, *take; /* of heads */
} Swap;

static bool no_memory(Err *err)
{
    return err_set(err, CODE_MEMORY, "out of host memory for what the parts of a run tell each other");
}

static void put_failure(Head *head, const Err *why)
{
    *head = (Head){.code = why->code, .transient = why->transient};
    memcpy(head->text, why->text, sizeof head->text);
}

/* The first that has failed decides what all say. */
static bool swap_heads(const Swap *s, Err *err)
{
    Owners *owners = s->owners;
    owners->swap(owners->context, s->give, s->take);
    for (int i = 0; i < owners->n; i++) {
        if (s->taken[i].code != CODE_OK) {
            owners->ended = true;
            err_set(err, s->taken[i].code, "%s", s->taken[i].text);
            err->transient = s->taken[i].transient != 0;
            return false;
        }
    }
    return true;
}

/* False without memory. */
static bool begin(Swap *s, Owners *owners)
{
    size_t n = (size_t)owners->n;
    Head *heads = calloc(2 * n, sizeof *heads);
    OwnersPiece *pieces = calloc(2 * n, sizeof *pieces);
    *s = (Swap){owners, heads, heads + n, pieces, pieces + n};
    for (size_t i = 0; heads != NULL && pieces != NULL && i < n; i++) {
        s->give[i] = (OwnersPiece){&s->given[i], sizeof *heads};
        s->take[i] = (OwnersPiece){&s->taken[i], sizeof *heads};
    }
    return heads != NULL && pieces != NULL;
}

static void end(const Swap *s)
{
    free(s->given);
    free(s->give);
}

/* Room for what comes; where one has none, all end. */
static bool make_room(const Swap *s, OwnersPiece *take, Err *err)
{
    Err none = {0};
    bool ok = true;
    for (int i = 0; i < s->owners->n; i++) {
        take[i] = (OwnersPiece){malloc((size_t)s->taken[i].bytes + 1), s->taken[i].bytes};
        ok = ok && take[i].bytes != NULL;
    }
    for (int i = 0; i < s->owners->n && !ok; i++) {
        (void)no_memory(&none);
        put_failure(&s->given[i], &none);
    }
    return swap_heads(s, err);
}

bool owners_swap(Owners *owners, const OwnersPiece *give, OwnersPiece *take, Err *err)
{
    Swap s;
    memset(take, 0, (size_t)owners->n * sizeof *take);
    if (owners->ended) {
        return err_set(err, CODE_AGAIN, "another part of the run has failed");
    }
    bool ok = begin(&s, owners) || no_memory(err);
    for (int i = 0; ok && i < owners->n; i++) {
        s.given[i].bytes = give[i].n;
    }
    ok = ok && swap_heads(&s, err) && make_room(&s, take, err);
    if (ok) {
        owners->swap(owners->context, give, take);
    }
    end(&s);
    return ok;
}

bool owners_tell(Owners *owners, void *bytes, uint64_t n, OwnersPiece *take, Err *err)
{
    OwnersPiece *give = calloc((size_t)owners->n, sizeof *give);
    memset(take, 0, (size_t)owners->n * sizeof *take);
    if (give == NULL) {
        return no_memory(err);
    }
    for (int i = 0; i < owners->n; i++) {
        give[i] = (OwnersPiece){bytes, n};
    }
    bool ok = owners_swap(owners, give, take, err);
    free(give);
    return ok;
}

void owners_fail(Owners *owners, const Err *why)
{
    Swap s;
    Err same = {0};
    if (owners->ended) {
        return;
    }
    if (!begin(&s, owners)) {
        end(&s);
        abort(); /* nobody can be told, and all would wait */
    }
    for (int i = 0; i < owners->n; i++) {
        put_failure(&s.given[i], why);
    }
    (void)swap_heads(&s, &same);
    end(&s);
}

void owners_drop(const Owners *owners, OwnersPiece *pieces)
{
    for (int i = 0; i < owners->n; i++) {
        free(pieces[i].bytes);
        pieces[i] = (OwnersPiece){0};
    }
}
