/*
 * unit/engine/test_ledger.c - who is granted memory: by level and age, jobs before their claims, and never nobody
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "harness/harness.h"

#include "engine/ledger.h"

#define MAX_CLAIMS 2
#define MAX_ENTRIES 3

static unsigned n_granted, n_refused;
static uint64_t idle_keys, n_pressed, overdrawn;
static ledger_claim *last_granted;

static void granted(ledger_claim *c)
{
    n_granted++;
    last_granted = c;
}

static void refused(ledger_claim *c)
{
    (void)c;
    n_refused++;
}

/* Idle keys that should stay for a while: they go only where nothing else helps. */
static uint64_t reclaim(void *ctx, uint64_t bytes, bool pressing)
{
    ledger *const *l = ctx;
    uint64_t gone = pressing ? idle_keys : 0;

    (void)bytes;
    n_pressed += pressing;
    idle_keys -= gone;
    if (gone != 0) ledger_charge(*l, LEDGER_KEYS, -(int64_t)gone);
    return gone;
}

static void note_overdrawn(void *ctx, uint64_t over)
{
    (void)ctx;
    overdrawn = over;
}

static ledger_claim claim(unsigned level, uint64_t age, uint64_t bytes)
{
    ledger_claim c = {.level = level, .age = age, .granted = granted, .refused = refused};

    c.bytes[LEDGER_PROVING] = bytes;
    return c;
}

static ledger_claim entry(uint64_t age, uint64_t request, ledger_outlook *o)
{
    ledger_claim c = {.level = 1, .age = age, .granted = granted, .entry = true, .outlook = o};

    c.bytes[LEDGER_REQUESTS] = request;
    return c;
}

static ledger_claim part_of(ledger_claim *way_in, uint64_t bytes)
{
    ledger_claim c = claim(way_in->level, way_in->age, bytes);

    c.way_in = way_in;
    return c;
}

static ledger *open_ledger(uint64_t total, uint64_t critical)
{
    ledger_config c = {
        .total = total, .critical = critical, .max_claims = MAX_CLAIMS, .max_entries = MAX_ENTRIES};
    static ledger *l;

    c.reclaim = reclaim;
    c.overdrawn = note_overdrawn;
    c.ctx = &l;
    n_granted = n_refused = 0;
    idle_keys = n_pressed = overdrawn = 0;
    last_granted = NULL;
    assert_status_ok(ledger_open(&l, &c));
    return l;
}

static void test_the_limit_of_claims_is_of_a_level(void **state)
{
    ledger *l = open_ledger(1000, 100);
    ledger_claim normal[3], high[3], critical = claim(3, 20, 1);

    (void)state;
    for (unsigned i = 0; i < 3; i++) normal[i] = claim(1, i, 1);
    for (unsigned i = 0; i < 3; i++) high[i] = claim(2, 10 + i, 1);
    assert_true(ledger_claim_now(l, &normal[0]));
    assert_true(ledger_claim_now(l, &normal[1]));
    assert_false(ledger_claim_now(l, &normal[2]));
    /* what is held below HIGH does not count against it */
    assert_true(ledger_claim_now(l, &high[0]));
    assert_true(ledger_claim_now(l, &high[1]));
    assert_false(ledger_claim_now(l, &high[2]));
    assert_true(ledger_claim_now(l, &critical));
    /* what is held above NORMAL does */
    ledger_release(l, &normal[0]);
    ledger_release(l, &normal[1]);
    ledger_release(l, &critical);
    assert_int_equal(n_granted, 0);
    ledger_release(l, &high[0]);
    assert_int_equal(n_granted, 1);
    assert_ptr_equal(last_granted, &high[2]);
    ledger_release(l, &high[1]);
    assert_int_equal(n_granted, 2);
    assert_ptr_equal(last_granted, &normal[2]);
    ledger_release(l, &high[2]);
    ledger_release(l, &normal[2]);
    ledger_close(l);
}

static void test_order_of_bytes(void **state)
{
    ledger *l = open_ledger(1000, 100);
    ledger_claim first = claim(1, 1, 800), wide = claim(1, 2, 200), narrow = claim(1, 3, 50),
                 urgent = claim(3, 4, 150);

    (void)state;
    assert_true(ledger_claim_now(l, &first));
    assert_false(ledger_claim_now(l, &wide));
    assert_false(ledger_claim_now(l, &narrow)); /* it would fit: nobody overtakes */
    assert_true(ledger_claim_now(l, &urgent));  /* but CRITICAL, into the reserve */
    assert_true(ledger_withdraw(l, &wide));
    assert_int_equal(n_granted, 0);
    ledger_release(l, &urgent);
    assert_int_equal(n_granted, 1);
    assert_ptr_equal(last_granted, &narrow);
    ledger_release(l, &first);
    ledger_release(l, &narrow);
    ledger_close(l);
}

/* Jobs are let in while there is room for their keys and for a claim of any of them, and so many at most. */
static void test_entries(void **state)
{
    ledger *l = open_ledger(1000, 0);
    ledger_outlook o = {100, 500};
    ledger_claim a = entry(1, 10, &o), b = entry(2, 10, &o), c = entry(3, 10, &o),
                 d = entry(4, 10, &o), p = part_of(&a, 500);
    ledger_state t;

    (void)state;
    assert_true(ledger_claim_now(l, &a));
    assert_int_equal(a.bytes[LEDGER_KEYS], 100);
    assert_true(ledger_claim_now(l, &p));
    assert_true(ledger_claim_now(l, &b));
    assert_true(ledger_claim_now(l, &c));
    assert_false(ledger_claim_now(l, &d)); /* there are three */
    ledger_settle(l, &a, LEDGER_KEYS, 300);
    ledger_release(l, &c);
    assert_int_equal(n_granted, 0); /* 530 with it, and 500 for whoever goes on */
    ledger_settle(l, &b, LEDGER_KEYS, 0);
    assert_int_equal(n_granted, 1);
    ledger_get(l, &t);
    assert_int_equal(t.in, 3);
    assert_int_equal(t.shut_out, 0);
    assert_int_equal(t.used, 10 + 300 + 500 + 10 + 10 + 100);
    ledger_release(l, &p);
    ledger_release(l, &a);
    ledger_release(l, &b);
    ledger_release(l, &d);
    ledger_close(l);
}

static void test_unknown_jobs_come_one_by_one(void **state)
{
    ledger *l = open_ledger(1000, 0);
    ledger_outlook x = {0, 0}, y = {0, 0}, z = {0, 50};
    ledger_claim a = entry(1, 10, &x), b = entry(2, 10, &y), c = entry(3, 10, &z);

    (void)state;
    assert_true(ledger_claim_now(l, &a));
    assert_false(ledger_claim_now(l, &b));
    assert_false(ledger_claim_now(l, &c)); /* not before b */
    atomic_store(&x.need, 50);             /* its key was loaded */
    ledger_settle(l, &a, LEDGER_KEYS, 0);
    assert_int_equal(n_granted, 2);
    ledger_release(l, &a);
    ledger_release(l, &b);
    ledger_release(l, &c);
    ledger_close(l);
}

/* One that is to be alone waits for who is there, and lets nobody of its level in; what is more urgent passes. */
static void test_alone(void **state)
{
    ledger *l = open_ledger(1000, 0);
    ledger_outlook o = {0, 50};
    ledger_claim a = entry(1, 10, &o), b = entry(2, 10, &o), c = entry(3, 10, &o),
                 low = entry(4, 10, &o), urgent = entry(5, 10, &o);

    (void)state;
    b.alone = true;
    low.level = 0;
    urgent.level = 3;
    assert_true(ledger_claim_now(l, &low));
    assert_true(ledger_claim_now(l, &a));
    assert_false(ledger_claim_now(l, &b));
    assert_false(ledger_claim_now(l, &c)); /* not before b */
    ledger_release(l, &a);
    assert_ptr_equal(last_granted, &b); /* what is of a lower level stands aside */
    assert_int_equal(n_granted, 1);
    assert_true(ledger_claim_now(l, &urgent));
    ledger_release(l, &urgent);
    assert_int_equal(n_granted, 1);
    ledger_release(l, &b);
    assert_ptr_equal(last_granted, &c);
    ledger_release(l, &c);
    ledger_release(l, &low);
    ledger_close(l);
}

/* Two jobs hold what each needs, and nothing runs: the first goes on all the same, once idle keys were asked in earnest. */
static void test_never_at_a_stop(void **state)
{
    ledger *l = open_ledger(1000, 0);
    ledger_outlook o = {0, 10};
    ledger_claim a = entry(1, 300, &o), b = entry(2, 300, &o);
    ledger_claim pa = part_of(&a, 500), pb = part_of(&b, 500);

    (void)state;
    assert_true(ledger_claim_now(l, &a));
    assert_true(ledger_claim_now(l, &b));
    assert_false(ledger_claim_now(l, &pb));
    assert_int_equal(n_granted, 0); /* a is decoded, or ends: it goes on by itself */
    assert_false(ledger_claim_now(l, &pa));
    assert_int_equal(n_granted, 1);
    assert_ptr_equal(last_granted, &pa);
    assert_int_equal(overdrawn, 100);
    assert_int_equal(n_pressed, 1);
    ledger_release(l, &pa);
    ledger_release(l, &a);
    assert_ptr_equal(last_granted, &pb);
    ledger_release(l, &pb);
    ledger_release(l, &b);
    /* a key that should stay for a while is given up before that */
    overdrawn = 0;
    idle_keys = 600;
    ledger_charge(l, LEDGER_KEYS, 600);
    assert_true(ledger_claim_now(l, &a));
    assert_false(ledger_claim_now(l, &pa));
    assert_int_equal(n_granted, 3);
    assert_ptr_equal(last_granted, &pa);
    assert_int_equal(overdrawn, 0);
    ledger_release(l, &pa);
    ledger_release(l, &a);
    ledger_close(l);
}

static void test_refused_when_it_never_fits(void **state)
{
    ledger *l = open_ledger(1000, 0);
    ledger_outlook o = {0, 10};
    ledger_claim a = entry(1, 100, &o), b = entry(2, 100, &o);
    ledger_claim pa = part_of(&a, 700), pb = part_of(&b, 10);

    (void)state;
    assert_true(ledger_claim_now(l, &a));
    assert_true(ledger_claim_now(l, &b));
    pa.beside = 100;
    assert_status_ok(ledger_can_ever(l, &pa));
    ledger_charge(l, LEDGER_SPANS, 201); /* since it was asked */
    assert_status_is(ledger_can_ever(l, &pa), CUZK_EBUDGET);
    assert_error_mentions("the budget is");
    assert_false(ledger_claim_now(l, &pa));
    assert_int_equal(n_refused, 0); /* b has not come to its claim yet */
    assert_false(ledger_claim_now(l, &pb));
    assert_int_equal(n_refused, 1);
    assert_ptr_equal(last_granted, &pb); /* what stood behind it goes on */
    ledger_release(l, &pb);
    ledger_release(l, &a);
    ledger_release(l, &b);
    ledger_charge(l, LEDGER_SPANS, -201);
    ledger_close(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_limit_of_claims_is_of_a_level),
        cmocka_unit_test(test_order_of_bytes),
        cmocka_unit_test(test_entries),
        cmocka_unit_test(test_unknown_jobs_come_one_by_one),
        cmocka_unit_test(test_alone),
        cmocka_unit_test(test_never_at_a_stop),
        cmocka_unit_test(test_refused_when_it_never_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
