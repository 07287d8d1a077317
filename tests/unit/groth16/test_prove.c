/*
 * unit/groth16/test_prove.c - proofs under snarkjs's keys equal the golden ones, on every CPU table
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "r1cs/circom.h"
#include "support.h"

static const char *const names[] = {"mult3", "hints",  "merkle5", "eddsa",
                                    "nopub", "allpub", "linear"};

typedef struct loaded {
    groth16_pk *pk;
    r1cs_assignment *w;
    file_map wtns;
} loaded;

static void load(loaded *l, rig *r, const char *curve_name, const char *name)
{
    memset(l, 0, sizeof *l);
    assert_status_ok(groth16_zkey_open(&l->pk, circom_case(curve_name, name, "circuit.zkey"),
                                       r->table, r->pool, r->m));
    assert_status_ok(file_map_open(&l->wtns, circom_case(curve_name, name, "witness.wtns")));
    assert_status_ok(circom_wtns_read(&l->w, l->wtns.data, l->wtns.size, l->pk->cv,
                                      l->pk->n_inputs + l->pk->n_aux, l->pk->n_inputs - 1, r->pool,
                                      r->m));
}

static void unload(loaded *l)
{
    r1cs_assignment_free(l->w);
    groth16_pk_free(l->pk);
    file_map_close(&l->wtns);
}

static void prove(rig *r, const loaded *l, const cuzk_fixed_rs *rs, groth16_proof *p, bool *valid)
{
    groth16_prove_args args = {.pk = l->pk, .w = l->w, .fixed = rs, .m = r->m};
    groth16_job *job;
    assert_status_ok(groth16_prove_start(&job, r->s, &args));
    assert_status_ok(groth16_prove_finish(p, job));
    assert_status_ok(
        groth16_verify(r->s, l->pk->vk, p, l->w->inputs + 1, l->w->n_inputs - 1, valid));
}

static void golden_case(rig *r, const char *curve_name, const char *name)
{
    golden g[GOLDEN_MAX];
    loaded l;
    bool valid;

    load(&l, r, curve_name, name);
    size_t n = golden_read(g, circom_case(curve_name, name, "golden.json"), l.pk->cv);
    assert_true(n >= 3);
    for (size_t i = 0; i < n; i++) {
        groth16_proof p;
        prove(r, &l, &g[i].rs, &p, &valid);
        assert_true(valid);
        assert_proof_equal(l.pk->cv, &p, &g[i].proof);
    }
    groth16_proof a, b; /* fresh randomness: valid, and different each time */
    prove(r, &l, NULL, &a, &valid);
    assert_true(valid);
    prove(r, &l, NULL, &b, &valid);
    assert_true(valid);
    assert_false(l.pk->cv->g1_eq(&a.a, &b.a));
    unload(&l);
}

static void golden_all(cpu_table t, unsigned threads)
{
    rig r;
    if (!cpu_table_supported(t)) harness_skip("no CPU feature %s", cpu_table_feature(t));
    rig_open(&r, t, threads);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        golden_case(&r, "bn128", names[i]);
        if (strcmp(names[i], "eddsa") != 0) golden_case(&r, "bls12381", names[i]);
    }
    rig_close(&r);
}

static void test_golden_generic(void **state)
{
    (void)state;
    golden_all(CPU_TABLE_GENERIC, 1);
}

static void test_golden_adx(void **state)
{
    (void)state;
    golden_all(CPU_TABLE_ADX, 2);
}

static void test_golden_ifma(void **state)
{
    (void)state;
    golden_all(CPU_TABLE_IFMA, 2);
}

static void test_unsatisfied(void **state)
{
    rig r;
    loaded l;
    groth16_proof p;
    bool valid;
    (void)state;

    rig_open(&r, cpu_table_best(), 2);
    load(&l, &r, "bn128", "mult3");
    l.pk->cv->fr_add(&l.w->elems[0], &l.w->elems[0], &l.pk->cv->fr_one);
    prove(&r, &l, NULL, &p, &valid);
    assert_false(valid);
    unload(&l);
    rig_close(&r);
}

static void test_wrong_sizes(void **state)
{
    rig r;
    loaded a, b;
    groth16_job *job;
    (void)state;

    rig_open(&r, cpu_table_best(), 1);
    load(&a, &r, "bn128", "mult3");
    load(&b, &r, "bn128", "merkle5");
    groth16_prove_args args = {.pk = a.pk, .w = b.w, .m = r.m};
    assert_status_is(groth16_prove_start(&job, r.s, &args), CUZK_EDATA);
    assert_error_class(CUZK_CLASS_SHAPE);
    unload(&a);
    unload(&b);
    rig_close(&r);
}

/** Every allocation fails once: a clean status, and nothing left behind (rig_close looks). */
static void test_allocation_faults(void **state)
{
    bool hit = true;
    (void)state;

    for (unsigned long k = 1; hit; k++) {
        rig r;
        loaded l;
        groth16_job *job = NULL;

        rig_open(&r, cpu_table_best(), 2);
        load(&l, &r, "bn128", "mult3");
        groth16_prove_args args = {.pk = l.pk, .w = l.w, .m = r.m};
        mem_inject_fault(r.m, k);
        cuzk_status st = groth16_prove_start(&job, r.s, &args);
        hit = mem_fault_hit(r.m);
        mem_inject_fault(r.m, 0);
        if (hit)
            assert_true(st == CUZK_ENOMEM || st == CUZK_EBUDGET);
        else
            assert_int_equal(st, CUZK_OK);
        groth16_job_free(st == CUZK_OK ? job : NULL);
        unload(&l);
        rig_close(&r);
        assert_true(hit || k > 5);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden_generic), cmocka_unit_test(test_golden_adx),
        cmocka_unit_test(test_golden_ifma),    cmocka_unit_test(test_unsatisfied),
        cmocka_unit_test(test_wrong_sizes),    cmocka_unit_test(test_allocation_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
