/*
 * unit/device/test_residency.c - which lists of points a device keeps, in the sizes of cards and of Filecoin's keys
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "device/residency.h"
#include "harness/harness.h"

#define GIB ((size_t)1 << 30)
#define G1 ((size_t)96)

/* a, b, c and twiddles of 2^27 rows; a and twiddles; the plan of the H sum of 2^27 points */
#define BESIDE (14 * GIB)
#define DURING (6 * GIB)
#define PLAN (20 * GIB)

static size_t stays(size_t limit, size_t others, size_t of_set, size_t n)
{
    residency_room r = {.limit = limit,
                        .others = others,
                        .of_set = of_set,
                        .beside = BESIDE,
                        .during = DURING,
                        .plan = PLAN};

    return residency_points(&r, n, G1);
}

static void test_hold(void **state)
{
    residency r = {0};

    (void)state;
    assert_int_equal(residency_hold_of(&r), RESIDENCY_IDLE);
    r.wanted = true;
    assert_int_equal(residency_hold_of(&r), RESIDENCY_WANTED);
    r.users = 1;
    assert_int_equal(residency_hold_of(&r), RESIDENCY_HELD);
    r = (residency){.always = true};
    assert_int_equal(residency_hold_of(&r), RESIDENCY_HELD);
}

/* Both ways round. */
static void expect_first(const residency *a, const residency *b)
{
    assert_true(residency_goes_before(a, b));
    assert_false(residency_goes_before(b, a));
}

static void test_order(void **state)
{
    residency alone = {.last_use = 5, .set_use = 5}, older = {.last_use = 4, .set_use = 4};
    residency h = {.set = 1, .last_use = 1, .set_use = 5, .size = 1};
    residency b2 = {.set = 1, .last_use = 5, .set_use = 5, .size = 1};
    residency other = {.set = 2, .last_use = 3, .set_use = 3, .size = 1};

    (void)state;
    expect_first(&older, &alone);
    expect_first(&other, &h); /* its set was used longer ago, though the list later */
    expect_first(&other, &b2);
    expect_first(&b2, &h); /* of a set the one that the next proof wants last */
    other.wanted = true;
    expect_first(&h, &other);
    expect_first(&b2, &other);
    h.wanted = true;
    expect_first(&other, &h);
    assert_false(residency_goes_before(&alone, &alone));
}

/* A card of 141 GB: a PoRep key (44 GiB) as a whole, and a Window key (57 GiB) that comes while it is wanted in part. */
static void test_large_card(void **state)
{
    size_t limit = 131 * GIB, list = 13 * GIB / G1, porep = 44 * GIB, last;

    (void)state;
    for (size_t have = 0; have < porep; have += 11 * GIB)
        assert_int_equal(stays(limit, 0, have, 11 * GIB / G1), 11 * GIB / G1);
    /* two proofs' work stays free */
    last = stays(limit, 0, 70 * GIB, list);
    assert_true(last == (131 - 52 - 70) * GIB / G1);
    /* beside another key that is wanted */
    assert_int_equal(stays(limit, porep, 0, list), list);
    assert_int_equal(stays(limit, porep, 26 * GIB, list), (131 - 52 - 44 - 26) * GIB / G1);
    assert_int_equal(stays(limit, porep, 35 * GIB, list), 0);
}

/* 80 GB: all of a PoRep key beside one proof's work. 24 GB: what the sums' half leaves. 16 GB: next to nothing. */
static void test_small_cards(void **state)
{
    size_t list = 13 * GIB / G1;

    (void)state;
    assert_int_equal(stays(74 * GIB, 0, 33 * GIB, list), list);
    assert_int_equal(stays(74 * GIB, 0, 44 * GIB, list), 4 * GIB / G1);
    assert_int_equal(stays(22 * GIB, 0, 0, list), 8 * GIB / G1);
    assert_int_equal(stays(22 * GIB, 0, 8 * GIB, list), 0);
    assert_int_equal(stays(15 * GIB, 0, 0, list), 1 * GIB / G1);
    assert_int_equal(stays(14 * GIB, 0, 0, list), 0);
    assert_int_equal(stays(14 * GIB + GIB / 2, 0, 0, list),
                     0); /* half a GiB of 13 is not worth it */
}

static void test_edges(void **state)
{
    residency_room r = {.limit = 1000};

    (void)state;
    assert_int_equal(residency_points(&r, 10, 100), 10);
    assert_int_equal(residency_points(&r, 11, 100), 10);
    assert_int_equal(residency_points(&r, 0, 100), 0);
    assert_int_equal(residency_points(&r, 176, 100), 0);
    r.others = SIZE_MAX - 1;
    r.of_set = 2;
    assert_int_equal(residency_points(&r, 1, 100), 0);
    r = (residency_room){.limit = 1000, .beside = 1000};
    assert_int_equal(residency_points(&r, 1, 1), 0);
    r = (residency_room){.limit = 1000, .during = 1000};
    assert_int_equal(residency_points(&r, 1, 1), 0);
    r = (residency_room){.limit = 1000, .plan = SIZE_MAX};
    assert_int_equal(residency_points(&r, 10, 100), 5);
    r = (residency_room){.limit = 1000, .plan = 100, .during = 100};
    assert_int_equal(residency_points(&r, 10, 100), 6);
    r = (residency_room){.limit = 1000, .plan = 100, .during = 100, .beside = 400};
    assert_int_equal(residency_points(&r, 10, 100), 6); /* the buffers before, once */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_hold), cmocka_unit_test(test_order),
                                       cmocka_unit_test(test_large_card),
                                       cmocka_unit_test(test_small_cards),
                                       cmocka_unit_test(test_edges)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
