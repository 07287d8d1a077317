/*
 * unit/engine/test_service_budget.c - a budget in which each of several circuits proves alone is enough for all at once
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "service_support.h"

#define N_CIRCUITS 6
#define MIB ((uint64_t)1 << 20)
#define PATIENCE_MS 600000

static cuzk_circuit circuits[N_CIRCUITS];

/* Of one key file: each is loaded for itself. */
static void name_circuits(void)
{
    static char zkey[512], names[N_CIRCUITS][8];

    (void)snprintf(zkey, sizeof zkey, "%s", harness_vector("circom/bn128/eddsa/circuit.zkey"));
    for (unsigned i = 0; i < N_CIRCUITS; i++) {
        (void)snprintf(names[i], sizeof names[i], "c%u", i);
        circuits[i] = (cuzk_circuit){.name = names[i], .zkey = zkey};
    }
}

static void start(test_service *t, uint64_t total)
{
    cuzk_service_config c = {.memory_total = total};

    name_circuits();
    c.tunables.circuits = circuits;
    c.tunables.n_circuits = N_CIRCUITS;
    c.tunables.eviction_min_idle_ms = 3600000; /* nothing waits for that */
    service_start_config(t, 2, &c);
}

static void request_eddsa(test_request *q)
{
    memset(q, 0, sizeof *q);
    q->r = (cuzk_request){.request_id = "", .kind = CUZK_GROTH16};
    q->files[0] =
        harness_read_file(harness_vector("circom/bn128/eddsa/witness.wtns"), &q->r.witness.size);
    q->r.witness.data = q->files[0];
}

/* The clock enters what the spans take: until then there is more room than there will be. */
static void wait_until_spans_are_charged(cuzk_service *s)
{
    for (unsigned tries = 0;; tries++) {
        char *doc = document(s, "/status");
        const char *at = strstr(doc, "{\"name\":\"spans\",");
        bool there;

        assert_non_null(at);
        there = json_number(at, "bytes") > 0;
        free(doc);
        if (there) return;
        if (tries == 6000) fail_msg("the spans are not in the books");
        service_pause(20);
    }
}

/* A job alone in this budget: proved, or refused with the numbers; never left to wait. */
static bool proves_alone(uint64_t total)
{
    test_service t;
    test_request q;
    cuzk_ticket k;
    told r;

    start(&t, total);
    request_eddsa(&q);
    q.r.circuit = "c0";
    wait_until_spans_are_charged(t.s);
    assert_status_ok(cuzk_job_submit(t.s, &q.r, &k));
    wait_for_job(t.s, k.job_id, PATIENCE_MS, &r);
    assert_int_equal(r.end, CUZK_WAIT_ENDED);
    if (r.state != CUZK_JOB_COMPLETED) {
        assert_int_equal(r.error.klass, CUZK_CLASS_RESOURCE);
        assert_non_null(strstr(r.error.message, "the budget is"));
    }
    request_clear(&q);
    service_stop(&t);
    return r.state == CUZK_JOB_COMPLETED;
}

static uint64_t least_budget(void)
{
    uint64_t no = 8 * MIB, yes = 128 * MIB;

    assert_false(proves_alone(no));
    assert_true(proves_alone(yes));
    while (yes - no > MIB / 2) {
        uint64_t mid = no + (yes - no) / 2;

        if (proves_alone(mid))
            yes = mid;
        else
            no = mid;
    }
    return yes;
}

static void test_all_at_once(void **state)
{
    test_service t;
    test_request q;
    cuzk_ticket k[N_CIRCUITS];
    uint64_t budget = least_budget() + MIB; /* what was said of more jobs is in memory, too */
    told r;

    (void)state;
    (void)printf("one proves in %llu KiB\n", (unsigned long long)budget >> 10);
    start(&t, budget);
    request_eddsa(&q);
    for (unsigned i = 0; i < N_CIRCUITS; i++) {
        q.r.circuit = circuits[i].name;
        assert_status_ok(cuzk_job_submit(t.s, &q.r, &k[i]));
    }
    for (unsigned i = 0; i < N_CIRCUITS; i++) {
        wait_for_job(t.s, k[i].job_id, PATIENCE_MS, &r);
        assert_int_equal(r.end, CUZK_WAIT_ENDED);
        if (r.state != CUZK_JOB_COMPLETED) fail_msg("%s: %s", r.error.where, r.error.message);
    }
    request_clear(&q);
    service_stop(&t);
}

/* An urgent job goes in beside as many lower ones as are let in, and one that waits to be let in can be cancelled. */
static void test_shut_out(void **state)
{
    enum { MANY = 40 };
    test_service t;
    test_request q;
    cuzk_ticket k[MANY], urgent;
    bool running;
    told r;

    (void)state;
    start(&t, 1024 * MIB);
    request_eddsa(&q);
    q.r.circuit = "c0";
    q.r.priority = CUZK_LOW;
    for (unsigned i = 0; i < MANY; i++) {
        char id[16];

        (void)snprintf(id, sizeof id, "low-%u", i);
        q.r.request_id = id;
        assert_status_ok(cuzk_job_submit(t.s, &q.r, &k[i]));
    }
    q.r.request_id = "urgent";
    q.r.circuit = "c1";
    q.r.priority = CUZK_HIGH;
    assert_status_ok(cuzk_job_submit(t.s, &q.r, &urgent));
    assert_status_ok(cuzk_job_cancel(t.s, k[MANY - 1].job_id, &running));
    wait_for_job(t.s, k[MANY - 1].job_id, PATIENCE_MS, &r);
    assert_int_equal(r.state, CUZK_JOB_CANCELLED);
    wait_for_job(t.s, urgent.job_id, PATIENCE_MS, &r);
    assert_int_equal(r.state, CUZK_JOB_COMPLETED);
    wait_for_job(t.s, k[MANY - 2].job_id, 1, &r);
    assert_int_equal(r.end, CUZK_WAIT_TIMEOUT); /* it was not last */
    for (unsigned i = 0; i < MANY - 1; i++) {
        wait_for_job(t.s, k[i].job_id, PATIENCE_MS, &r);
        assert_int_equal(r.state, CUZK_JOB_COMPLETED);
    }
    request_clear(&q);
    service_stop(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_at_once),
                                       cmocka_unit_test(test_shut_out)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
