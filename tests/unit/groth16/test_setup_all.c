/*
 * unit/groth16/test_setup_all.c - setups of the larger fixture keys, to the byte, and how much memory they take
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <unistd.h>

#include "circuit/filecoin/porep.h"
#include "circuit/filecoin/post.h"
#include "circuit/filecoin/update.h"
#include "support.h"

static cuzk_status system_of(r1cs_system **out, const poseidon_set *ps, fil_kind kind,
                             const fil_size *s, mem *m)
{
    if (kind == FIL_POREP)
        return porep_system_new(out, ps, "porep", s, s->porep_layers, s->porep_challenges, m);
    if (kind == FIL_UPDATE) return update_system_of(out, ps, kind, s, m);
    return post_system_of(out, ps, kind, s, m);
}

static void key(fil_kind kind, uint64_t sector, const char *name)
{
    const curve *cv = curve_get(CURVE_ID_BLS12_381, cpu_table_best());
    const char *params = harness_temp_path("k.params"), *vk = harness_temp_path("k.vk");
    groth16_setup_opts o = {0};
    groth16_trapdoors t;
    cuzk_fixed_rs rs;
    poseidon_set *ps;
    r1cs_system *sys;
    rig r;

    rig_open(&r, cpu_table_best(), 2);
    fixture_trapdoors(&t, &rs, cv);
    assert_status_ok(poseidon_set_new(&ps, cpu_table_best(), r.m));
    assert_status_ok(system_of(&sys, ps, kind, fil_size_by_bytes(sector), r.m));
    assert_status_ok(groth16_setup_params(r.s, sys, &t, params, vk, &o, r.pool, r.m));
    assert_file_sha256(params, name, "params");
    assert_file_sha256(vk, name, "vk");
    assert_true(mem_peak(r.m) < (size_t)400 << 20);
    assert_int_equal(unlink(params), 0);
    r1cs_free(sys);
    poseidon_set_free(ps);
    rig_close(&r);
}

static void test_window(void **state)
{
    (void)state;
    key(FIL_WINDOW, 16 << 10, "window-16kib");
    key(FIL_WINDOW, 32 << 10, "window-32kib");
}

static void test_winning(void **state)
{
    (void)state;
    key(FIL_WINNING, (uint64_t)32 << 30, "winning-32gib");
}

static void test_porep(void **state)
{
    (void)state;
    key(FIL_POREP, 2 << 10, "porep-2kib");
}

static void test_update(void **state)
{
    (void)state;
    key(FIL_UPDATE, 2 << 10, "update-2kib");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_window),
        cmocka_unit_test(test_winning),
        cmocka_unit_test(test_porep),
        cmocka_unit_test(test_update),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
