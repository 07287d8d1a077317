/*
 * unit/engine/test_ledger.c - who is granted memory: by level and age, and what is held below a level is no reason to wait
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "harness/harness.h"

#include "engine/ledger.h"

#define MAX_CLAIMS 2

static unsigned n_granted;
static ledger_claim *last_granted;

static void granted(ledger_claim *c)
{
    n_granted++;
    last_granted = c;
}

static ledger_claim claim(unsigned level, uint64_t age, uint64_t bytes)
{
    ledger_claim c = {.level = level, .age = age, .granted = granted};

    c.bytes[LEDGER_PROVING] = bytes;
    return c;
}

static ledger *open_ledger(uint64_t total, uint64_t critical)
{
    ledger_config c = {.total = total, .critical = critical, .max_claims = MAX_CLAIMS};
    ledger *l;

    n_granted = 0;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_limit_of_claims_is_of_a_level),
        cmocka_unit_test(test_order_of_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
