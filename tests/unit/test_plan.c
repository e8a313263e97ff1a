/*
 * plan: plans are valid and, for few buffers, as small as brute force over all offsets finds them.
 */
#include "runtime/exec/plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { MANY = 40 };

static uint32_t seed = 1;

static int random_below(int n)
{
    seed = seed * 1664525u + 1013904223u;
    return (int)((seed >> 10) % (uint32_t)n);
}

static bool meet(const PlanBuffer *a, const PlanBuffer *b)
{
    for (int step = a->first; step <= a->last; step++) {
        if (step >= b->first && step <= b->last) {
            return true;
        }
    }
    return false;
}

static bool apart(const PlanBuffer *a, const PlanBuffer *b)
{
    return a->size == 0 || b->size == 0 || a->offset + a->size <= b->offset || b->offset + b->size <= a->offset;
}

static void check(const PlanBuffer *list, int n, uint64_t alignment, uint64_t segment, PlanResult result)
{
    uint64_t top = 0;
    for (int i = 0; i < n; i++) {
        const PlanBuffer *a = &list[i];
        assert_int_equal(a->offset % alignment, 0);
        top = a->size && a->offset + a->size > top ? a->offset + a->size : top;
        if (segment && a->size) {
            assert_int_equal(a->offset / segment, (a->offset + a->size - 1) / segment);
        }
        for (int j = 0; j < i; j++) {
            const PlanBuffer *b = &list[j];
            bool takes = (a->onto == j || b->onto == i) && a->offset == b->offset;
            assert_true(!meet(a, b) || takes || apart(a, b));
        }
    }
    assert_true(top <= result.peak);
    assert_true(result.load <= result.peak);
}

/* The smallest peak of all placements at multiples of 1, by trying them. */
static uint64_t brute(PlanBuffer *list, int n, int i, uint64_t peak, uint64_t best)
{
    if (peak >= best) {
        return best;
    }
    if (i == n) {
        return peak;
    }
    for (uint64_t at = 0; at + list[i].size < best; at++) {
        list[i].offset = at;
        bool fits = true;
        for (int j = 0; j < i; j++) {
            fits = fits && (!meet(&list[i], &list[j]) || apart(&list[i], &list[j]));
        }
        if (fits) {
            uint64_t top = at + list[i].size > peak ? at + list[i].size : peak;
            best = brute(list, n, i + 1, top, best);
        }
    }
    return best;
}

static PlanBuffer random_buffer(int sizes, int steps)
{
    int first = random_below(steps);
    return (PlanBuffer){.size = (uint64_t)random_below(sizes) + 1,
                        .first = first,
                        .last = first + random_below(steps - first),
                        .onto = -1};
}

static void small_plans_are_optimal(void **state)
{
    (void)state;
    for (int round = 0; round < 400; round++) {
        PlanBuffer list[6], copy[6];
        int n = 1 + random_below(6);
        uint64_t sum = 0;
        for (int i = 0; i < n; i++) {
            list[i] = random_buffer(5, 6);
            sum += list[i].size;
        }
        PlanResult result;
        Err err = {0};
        assert_true(plan_pack(list, n, 1, 0, &result, &err));
        check(list, n, 1, 0, result);
        memcpy(copy, list, sizeof list);
        assert_int_equal(result.peak, brute(copy, n, 0, 0, sum + 1));
    }
}

/* A lifetime that contains another is an overlap, whichever comes first. */
static void containment_is_overlap(void **state)
{
    (void)state;
    for (int swap = 0; swap < 2; swap++) {
        PlanBuffer list[2] = {{100, 3, 3, -1, 0}, {100, 0, 9, -1, 0}};
        PlanBuffer turned[2] = {list[1], list[0]};
        PlanResult result;
        Err err = {0};
        assert_true(plan_pack(swap ? turned : list, 2, 1, 0, &result, &err));
        assert_int_equal(result.peak, 200);
    }
}

static void large_plans_are_valid_and_near_the_bound(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {1, 2, 4, 4, 4, 12};
    int minimal = 0, rounds = 60;
    double worst = 1;
    for (int round = 0; round < rounds; round++) {
        PlanBuffer list[MANY], again[MANY];
        int n = 8 + random_below(MANY - 8);
        for (int i = 0; i < n; i++) {
            list[i] = random_buffer(1, n);
            int longest = list[i].first + random_below(6);
            list[i].last = list[i].last < longest ? list[i].last : longest;
            list[i].size = 1000 * sizes[random_below(6)];
        }
        memcpy(again, list, sizeof list);
        PlanResult result, second;
        Err err = {0};
        assert_true(plan_pack(list, n, 256, 0, &result, &err));
        check(list, n, 256, 0, result);
        assert_true(plan_pack(again, n, 256, 0, &second, &err));
        assert_memory_equal(list, again, sizeof *list * (size_t)n);
        minimal += result.peak == result.load;
        double ratio = (double)result.peak / (double)result.load;
        worst = ratio > worst ? ratio : worst;
    }
    assert_true(minimal >= rounds * 9 / 10);
    assert_true(worst < 1.1);
}

static void chains_share_one_place(void **state)
{
    (void)state;
    PlanBuffer list[4] = {{1000, 0, 1, -1, 0}, {1000, 1, 2, 0, 0}, {900, 2, 3, 1, 0}, {1000, 3, 4, 2, 0}};
    PlanResult result;
    Err err = {0};
    assert_true(plan_pack(list, 4, 256, 0, &result, &err));
    assert_int_equal(result.peak, 1024);
    check(list, 4, 256, 0, result);
}

/* What a loop puts in place of its carry is there as long as that, and lies where it lay. */
static void carries_and_what_they_become_share_one_place(void **state)
{
    (void)state;
    PlanBuffer list[4] = {{1000, -1, 1, -1, 0}, {1000, 1, 9, 0, 0}, {1000, 2, 9, 1, 0}, {500, 3, 4, -1, 0}};
    PlanResult result;
    Err err = {0};
    assert_true(plan_pack(list, 4, 4, 0, &result, &err));
    assert_int_equal(list[1].offset, list[0].offset);
    assert_int_equal(list[2].offset, list[0].offset);
    assert_int_equal(result.peak, 1500);
    assert_int_equal(result.load, 1500);
}

/* Only one buffer can take a place, only at the step where the other dies. */
static void impossible_places_are_not_taken(void **state)
{
    (void)state;
    PlanResult result;
    Err err = {0};
    PlanBuffer two[3] = {{100, 0, 1, -1, 0}, {100, 1, 2, 0, 0}, {100, 1, 2, 0, 0}};
    assert_true(plan_pack(two, 3, 1, 0, &result, &err));
    check(two, 3, 1, 0, result);
    assert_int_equal(result.peak, 200);
    PlanBuffer alive[2] = {{100, 0, 2, -1, 0}, {100, 1, 3, 0, 0}};
    assert_true(plan_pack(alive, 2, 1, 0, &result, &err));
    assert_int_equal(result.peak, 200);
}

static void aliases_hold_among_random_buffers(void **state)
{
    (void)state;
    for (int round = 0; round < 100; round++) {
        PlanBuffer list[12];
        int n = 12;
        for (int i = 0; i < n; i++) {
            list[i] = random_buffer(9, 10);
            for (int j = 0; j < i && random_below(2); j++) {
                if (list[j].last == list[i].first) {
                    list[i].onto = j;
                }
            }
        }
        PlanResult result;
        Err err = {0};
        assert_true(plan_pack(list, n, 4, 0, &result, &err));
        check(list, n, 4, 0, result);
    }
}

static void segments_are_not_crossed(void **state)
{
    (void)state;
    for (int round = 0; round < 100; round++) {
        PlanBuffer list[12];
        for (int i = 0; i < 12; i++) {
            list[i] = random_buffer(16, 8);
        }
        PlanResult result;
        Err err = {0};
        assert_true(plan_pack(list, 12, 4, 16, &result, &err));
        check(list, 12, 4, 16, result);
    }
    PlanBuffer large = {17, 0, 0, -1, 0};
    PlanResult result;
    Err err = {0};
    assert_false(plan_pack(&large, 1, 4, 16, &result, &err));
    assert_int_equal(err.code, CODE_MEMORY);
}

static void nothing_needs_nothing(void **state)
{
    (void)state;
    PlanBuffer empty = {0, 0, 3, -1, 7};
    PlanResult result;
    Err err = {0};
    assert_true(plan_pack(&empty, 1, 256, 0, &result, &err));
    assert_int_equal(result.peak, 0);
    assert_int_equal(empty.offset, 0);
    assert_true(plan_pack(NULL, 0, 256, 0, &result, &err));
    assert_int_equal(result.peak, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_plans_are_optimal),
        cmocka_unit_test(containment_is_overlap),
        cmocka_unit_test(large_plans_are_valid_and_near_the_bound),
        cmocka_unit_test(chains_share_one_place),
        cmocka_unit_test(carries_and_what_they_become_share_one_place),
        cmocka_unit_test(impossible_places_are_not_taken),
        cmocka_unit_test(aliases_hold_among_random_buffers),
        cmocka_unit_test(segments_are_not_crossed),
        cmocka_unit_test(nothing_needs_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
