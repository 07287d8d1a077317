/*
 * unit/engine/test_service_clock.c - where a job's wall time goes: each instant to one phase, and the parts sum to the total
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "engine/service.h"
#include "harness/harness.h"

#define MS ((uint64_t)1000000)

/* Of two partitions, one on the device for 10..40 ms and one in synthesis for 0..30 ms: the device has what both have. */
static void test_precedence(void **state)
{
    job_clock c;
    cuzk_job_times t;

    (void)state;
    job_clock_start(&c, 1000 * MS);
    job_clock_enter(&c, PHASE_SYNTHESIS, 1000 * MS);
    job_clock_enter(&c, PHASE_DEVICE, 1010 * MS);
    job_clock_leave(&c, PHASE_SYNTHESIS, 1030 * MS);
    job_clock_leave(&c, PHASE_DEVICE, 1040 * MS);
    job_clock_end(&c, 1045 * MS);
    job_clock_read(&c, 1099 * MS, &t);
    assert_int_equal(t.device_ms, 30);
    assert_int_equal(t.synthesis_ms, 10);
    assert_int_equal(t.rest_ms, 5);
    assert_int_equal(t.total_ms, 45);
    assert_int_equal(c.worst_rest, 5 * MS);
    assert_int_equal(c.before_rest, PHASE_DEVICE);
}

/* The longest stretch of rest keeps its own neighbour, whatever comes after it. */
static void test_worst_rest(void **state)
{
    job_clock c;

    (void)state;
    job_clock_start(&c, 1000 * MS);
    job_clock_enter(&c, PHASE_STORE, 1002 * MS);
    assert_int_equal(c.worst_rest, 2 * MS);
    assert_int_equal(c.worst_from, 1000 * MS);
    assert_int_equal(c.before_rest, N_PHASES); /* nothing came before it */
    job_clock_leave(&c, PHASE_STORE, 1010 * MS);
    job_clock_enter(&c, PHASE_KEY, 1011 * MS);
    job_clock_leave(&c, PHASE_KEY, 1020 * MS);
    job_clock_enter(&c, PHASE_QUEUE, 1050 * MS);
    job_clock_leave(&c, PHASE_QUEUE, 1060 * MS);
    job_clock_enter(&c, PHASE_STORE, 1065 * MS);
    job_clock_leave(&c, PHASE_STORE, 1070 * MS);
    job_clock_end(&c, 1071 * MS);
    assert_int_equal(c.worst_rest, 30 * MS);
    assert_int_equal(c.worst_from, 1020 * MS);
    assert_int_equal(c.before_rest, PHASE_KEY);
    assert_int_equal(c.rest, 39 * MS);
}

/* Every pair of phases that are open together: the earlier one in the contract's order has the time, once. */
static void test_pairs(void **state)
{
    static const job_phase order[N_PHASES] = {PHASE_DEVICE, PHASE_SYNTHESIS, PHASE_KEY,
                                              PHASE_DECODE, PHASE_VERIFY,    PHASE_STORE,
                                              PHASE_QUEUE};

    (void)state;
    for (size_t a = 0; a < N_PHASES; a++)
        for (size_t b = a; b < N_PHASES; b++) {
            job_clock c;
            cuzk_job_times t;

            job_clock_start(&c, 1);
            job_clock_enter(&c, order[b], 1);
            job_clock_enter(&c, order[a], 1);
            job_clock_leave(&c, order[b], 1 + 7 * MS);
            job_clock_leave(&c, order[a], 1 + 7 * MS);
            job_clock_end(&c, 1 + 7 * MS);
            job_clock_read(&c, 0, &t);
            assert_int_equal(c.total[order[a]], 7 * MS);
            if (a != b) assert_int_equal(c.total[order[b]], 0);
            assert_int_equal(t.total_ms, 7);
            assert_int_equal(t.rest_ms, 0);
        }
}

/* Random walks against a count by the millisecond. */
static void test_any_walk(void **state)
{
    enum { STEPS = 300 };

    (void)state;
    for (int round = 0; round < 200; round++) {
        unsigned open[N_PHASES] = {0};
        uint64_t want[N_PHASES + 1] = {0}, now = 5 * MS, sum = 0;
        job_clock c;
        cuzk_job_times t;

        job_clock_start(&c, now);
        for (int i = 0; i < STEPS; i++) {
            uint64_t step = harness_random_below(4);
            job_phase p = (job_phase)harness_random_below(N_PHASES);
            unsigned first = 0;

            while (first < N_PHASES && open[first] == 0) first++;
            want[first] += step;
            now += step * MS;
            if (open[p] != 0 && harness_random_below(2) != 0) {
                open[p]--;
                job_clock_leave(&c, p, now);
            } else {
                open[p]++;
                job_clock_enter(&c, p, now);
            }
        }
        job_clock_end(&c, now);
        job_clock_read(&c, now + 100 * MS, &t);
        for (job_phase p = 0; p < N_PHASES; p++) assert_int_equal(c.total[p], want[p] * MS);
        sum = t.queue_ms + t.key_ms + t.synthesis_ms + t.device_ms + t.decode_ms + t.verify_ms +
              t.store_ms + t.rest_ms;
        assert_int_equal(sum, t.total_ms);
        assert_int_equal(t.rest_ms, want[N_PHASES]);
        assert_int_equal(t.total_ms, now / MS - 5);
    }
}

/* A clock that is read backwards, as by two threads, takes nothing away and counts nothing twice. */
static void test_out_of_order(void **state)
{
    job_clock c;
    cuzk_job_times t;

    (void)state;
    job_clock_start(&c, 100 * MS);
    job_clock_enter(&c, PHASE_QUEUE, 100 * MS);
    job_clock_leave(&c, PHASE_QUEUE, 120 * MS);
    job_clock_enter(&c, PHASE_DECODE, 119 * MS);
    job_clock_leave(&c, PHASE_DECODE, 130 * MS);
    job_clock_end(&c, 129 * MS);
    job_clock_read(&c, 0, &t);
    assert_int_equal(t.queue_ms, 20);
    assert_int_equal(t.decode_ms, 10);
    assert_int_equal(t.total_ms, 30);
}

/* The wall clock is set, forward and back: results do not expire for it, and do expire in their time. */
static void test_wall_clock_jumps(void **state)
{
    enum { KEEP = 60000, YEAR = 365 * 86400 };
    const uint64_t s = 1000000000, then = (uint64_t)1700000000 * 1000, year = (uint64_t)YEAR * 1000;
    wall_watch w = {0};
    int64_t by;
    uint64_t now = 50 * s, wall = then;

    (void)state;
    assert_int_equal(wall_watch_look(&w, wall, now, KEEP, &by), then); /* the first look: no jump */
    assert_int_equal(by, 0);
    assert_int_equal(wall_watch_look(&w, wall + 1900, now + s, KEEP, &by),
                     then + 1900); /* slewed */
    assert_int_equal(by, 0);
    /* a year forward: counted as before, for as long as results of before are kept */
    now += 2 * s;
    wall = then + 2900 + year;
    assert_int_equal(wall_watch_look(&w, wall, now, KEEP, &by), then + 2900);
    assert_int_equal(by, (int64_t)year);
    assert_int_equal(wall_watch_look(&w, wall + 59000, now + 59 * s, KEEP, &by), then + 61900);
    assert_int_equal(by, 0);
    assert_int_equal(wall_watch_look(&w, wall + 60000, now + 60 * s, KEEP, &by), wall + 60000);
    /* two years back: what has a time in the future stays */
    now += 61 * s;
    wall = wall + 61000 - 2 * year;
    assert_int_equal(wall_watch_look(&w, wall, now, KEEP, &by), wall);
    assert_int_equal(by, -2 * (int64_t)year);
    /* forward and at once back again: as if nothing had been */
    assert_int_equal(wall_watch_look(&w, wall + year, now + s, KEEP, &by), wall + 1000);
    assert_int_equal(wall_watch_look(&w, wall + 2000, now + 2 * s, KEEP, &by), wall + 2000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_precedence),   cmocka_unit_test(test_worst_rest),
        cmocka_unit_test(test_pairs),        cmocka_unit_test(test_any_walk),
        cmocka_unit_test(test_out_of_order), cmocka_unit_test(test_wall_clock_jumps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
