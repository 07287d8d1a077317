/*
 * unit/groth16/test_qap_long.c - columns of the production circuits: memory stays small at 2^27 rows
 *
 * That columns are right is shown by test_qap.c and by the fixture keys; here, what a setup of these circuits takes, and
 * that ranges from anywhere can be had.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "circuit/filecoin/porep.h"
#include "circuit/filecoin/post.h"
#include "circuit/filecoin/update.h"
#include "groth16/qap.h"
#include "support.h"

#define RANGE ((size_t)1 << 17)

static void columns(const r1cs_system *sys, rig *r, size_t limit)
{
    size_t n = (size_t)sys->n_inputs + sys->n_aux, from[] = {0, n / 2, n - RANGE};
    fr *u[3], tau;
    qap *q;
    cuzk_status st;

    assert_true(sys->cv->fr_random(&tau));
    for (unsigned x = 0; x < 3; x++) u[x] = mem_new(r->m, RANGE, sizeof(fr), &st);
    assert_status_ok(qap_open(&q, sys, &tau, 7, r1cs_log_domain(sys, 0), r->pool, NULL, r->m));
    for (unsigned i = 0; i < 3; i++)
        assert_status_ok(qap_range(q, u[0], u[1], u[2], from[i], from[i] + RANGE));
    qap_close(q);
    for (unsigned x = 0; x < 3; x++) mem_free(r->m, u[x]);
    print_message("%s: %u rows, peak %zu MiB\n", sys->name, sys->n_rows, mem_peak(r->m) >> 20);
    assert_true(mem_peak(r->m) < limit);
}

static void production(fil_kind kind)
{
    const fil_size *s = fil_size_by_bytes((uint64_t)32 << 30);
    poseidon_set *ps;
    r1cs_system *sys = NULL;
    rig r;

    rig_open(&r, cpu_table_best(), 2);
    assert_status_ok(poseidon_set_new(&ps, cpu_table_best(), r.m));
    if (kind == FIL_POREP) {
        assert_status_ok(
            porep_system_new(&sys, ps, "porep", s, s->porep_layers, s->porep_challenges, r.m));
    } else if (kind == FIL_UPDATE) {
        assert_status_ok(update_system_of(&sys, ps, kind, s, r.m));
    } else {
        assert_status_ok(post_system_of(&sys, ps, kind, s, r.m));
    }
    columns(sys, &r, (size_t)4 << 30);
    r1cs_free(sys);
    poseidon_set_free(ps);
    rig_close(&r);
}

static void test_porep(void **state)
{
    (void)state;
    production(FIL_POREP);
}

static void test_window(void **state)
{
    (void)state;
    production(FIL_WINDOW);
}

static void test_update(void **state)
{
    (void)state;
    production(FIL_UPDATE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_porep),
        cmocka_unit_test(test_window),
        cmocka_unit_test(test_update),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
