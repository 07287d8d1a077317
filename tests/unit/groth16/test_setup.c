/*
 * unit/groth16/test_setup.c - setups: bellperson's files from known secrets to the byte, and proofs with them; zkeys that prove
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "circuit/filecoin/post.h"
#include "r1cs/circom.h"
#include "support.h"

typedef struct post_rig {
    rig r;
    const curve *cv;
    poseidon_set *ps;
    r1cs_system *sys;
    groth16_pk *pk;
    cuzk_fixed_rs rs;
} post_rig;

/** Sets the key up from the trapdoors, checks its digests, opens it. */
static void post_open(post_rig *x, fil_kind kind, uint64_t sector, const char *name,
                      cpu_table table)
{
    groth16_trapdoors t;
    groth16_setup_opts o = {0};
    const char *params = harness_temp_path("k.params"), *vk = harness_temp_path("k.vk");

    rig_open(&x->r, table, 2);
    x->cv = curve_get(CURVE_ID_BLS12_381, table);
    fixture_trapdoors(&t, &x->rs, x->cv);
    assert_status_ok(poseidon_set_new(&x->ps, table, x->r.m));
    assert_status_ok(post_system_of(&x->sys, x->ps, kind, fil_size_by_bytes(sector), x->r.m));
    assert_status_ok(groth16_setup_params(x->r.s, x->sys, &t, params, vk, &o, x->r.pool, x->r.m));
    assert_file_sha256(params, name, "params");
    assert_file_sha256(vk, name, "vk");
    assert_status_ok(groth16_params_open(&x->pk, params, x->cv, x->sys, x->r.m));
}

static void post_close(post_rig *x)
{
    groth16_pk_free(x->pk);
    r1cs_free(x->sys);
    poseidon_set_free(x->ps);
    rig_close(&x->r);
}

static void prove_partition(post_rig *x, const post_statement *st, size_t k, const char *dir,
                            uint8_t out[192])
{
    post_input in[8];
    uint8_t *data[8];
    size_t first, n;
    post_vanilla *v;
    r1cs_assignment *w;
    groth16_job *job;
    groth16_proof p;
    bool valid;

    post_partition_sectors(st, k, &first, &n);
    assert_true(n <= 8);
    for (size_t i = 0; i < n; i++) {
        char rel[128];
        (void)snprintf(rel, sizeof rel, "%s/vanilla-%zu.bin", dir, first + i);
        data[i] = harness_read_file(harness_fixture(rel), &in[i].size);
        in[i].data = data[i];
    }
    assert_status_ok(post_vanilla_read(&v, st, k, in, n, x->ps, x->r.m));
    assert_status_ok(post_synthesize(&w, x->sys, v, x->r.pool, NULL, x->r.m));
    groth16_prove_args args = {.pk = x->pk, .sys = x->sys, .w = w, .fixed = &x->rs, .m = x->r.m};
    assert_status_ok(groth16_prove_start(&job, x->r.s, &args));
    assert_status_ok(groth16_prove_finish(&p, job));
    assert_status_ok(groth16_verify(x->r.s, x->pk->vk, &p, w->inputs + 1, w->n_inputs - 1, &valid));
    assert_true(valid);
    groth16_proof_write(out, x->cv, &p);
    r1cs_assignment_free(w);
    post_vanilla_free(v);
    for (size_t i = 0; i < n; i++) free(data[i]);
}

/** Proves every partition of a case; equals proof-fixed-rs.bin; the library's own proof.bin verifies. */
static void golden_case(post_rig *x, fil_kind kind, const char *dir)
{
    char rel[128];
    size_t size, parts;
    post_statement *st;
    bool valid;

    (void)snprintf(rel, sizeof rel, "%s/statement.json", dir);
    uint8_t *json = harness_read_file(harness_fixture(rel), &size);
    assert_status_ok(post_statement_read(&st, json, size, kind, x->r.m));
    free(json);
    parts = post_partitions(st);
    (void)snprintf(rel, sizeof rel, "%s/proof-fixed-rs.bin", dir);
    uint8_t *want = harness_read_file(harness_fixture(rel), &size);
    assert_int_equal(size, 192 * parts);
    (void)snprintf(rel, sizeof rel, "%s/proof.bin", dir);
    uint8_t *theirs = harness_read_file(harness_fixture(rel), &size);
    assert_int_equal(size, 192 * parts);
    fr *pub = mem_new(x->r.m, post_n_public(st), sizeof *pub, &(cuzk_status){0});
    for (size_t k = 0; k < parts; k++) {
        uint8_t got[192];
        groth16_proof p;
        prove_partition(x, st, k, dir, got);
        assert_memory_equal(got, want + 192 * k, 192);
        assert_status_ok(post_public_inputs(st, k, x->cv, pub));
        assert_status_ok(groth16_proof_read(&p, x->cv, theirs + 192 * k));
        assert_status_ok(groth16_verify(x->r.s, x->pk->vk, &p, pub, post_n_public(st), &valid));
        assert_true(valid);
        x->cv->fr_add(&pub[0], &pub[0], &x->cv->fr_one);
        assert_status_ok(groth16_verify(x->r.s, x->pk->vk, &p, pub, post_n_public(st), &valid));
        assert_false(valid);
    }
    mem_free(x->r.m, pub);
    free(want);
    free(theirs);
    post_statement_free(st);
}

/** From here on the same key, but made in the device's own memory. */
static void use_memory_key(post_rig *x)
{
    groth16_trapdoors t;
    groth16_setup_opts o = {0};
    cuzk_fixed_rs rs;
    uint64_t points = groth16_pk_points(x->pk);

    groth16_pk_free(x->pk);
    x->pk = NULL;
    fixture_trapdoors(&t, &rs, x->cv);
    assert_status_ok(groth16_setup_memory(&x->pk, x->r.s, x->sys, &t, &o, x->r.pool, x->r.m));
    assert_int_equal(groth16_pk_points(x->pk), points);
    assert_true(x->pk->h.home == x->r.dev && x->pk->b_g2.home == x->r.dev);
}

static void test_window(void **state)
{
    post_rig x;
    (void)state;

    post_open(&x, FIL_WINDOW, 2048, "window-2kib", cpu_table_best());
    golden_case(&x, FIL_WINDOW, "filecoin/2kib/window-v1_1");
    golden_case(&x, FIL_WINDOW, "filecoin/2kib/window-v1");
    use_memory_key(&x);
    golden_case(&x, FIL_WINDOW, "filecoin/2kib/window-v1_1-short");
    post_close(&x);
}

static void test_winning(void **state)
{
    post_rig x;
    (void)state;

    post_open(&x, FIL_WINNING, 2048, "winning-2kib", cpu_table_best());
    golden_case(&x, FIL_WINNING, "filecoin/2kib/winning");
    post_close(&x);
}

/** A key of another circuit, and one cut short, are refused at the door. */
static void test_params_bad(void **state)
{
    post_rig x;
    groth16_pk *pk;
    size_t size;
    (void)state;

    post_open(&x, FIL_WINDOW, 2048, "window-2kib", cpu_table_best());
    uint8_t *key = harness_read_file(harness_temp_path("k.params"), &size);
    const char *path = harness_temp_path("bad.params");
    r1cs_system *other;
    assert_status_ok(post_system_of(&other, x.ps, FIL_WINDOW, fil_size_by_bytes(4096), x.r.m));
    assert_status_is(groth16_params_open(&pk, harness_temp_path("k.params"), x.cv, other, x.r.m),
                     CUZK_EDATA);
    assert_error_class(CUZK_CLASS_SHAPE);
    r1cs_free(other);
    const size_t cuts[] = {0, 1, 867, 868, 3076, 3077, 3080, 1000000, size - 1};
    for (size_t i = 0; i < sizeof cuts / sizeof cuts[0]; i++) {
        harness_write_file(path, key, cuts[i]);
        assert_status_is(groth16_params_open(&pk, path, x.cv, x.sys, x.r.m), CUZK_EDATA);
    }
    key[3076] = 0x7f; /* 2^31 h points announced */
    harness_write_file(path, key, size);
    assert_status_is(groth16_params_open(&pk, path, x.cv, x.sys, x.r.m), CUZK_EDATA);
    assert_error_mentions("list h");
    free(key);
    post_close(&x);
}

static void zkey_case(rig *r, const char *curve_name, const char *name)
{
    groth16_trapdoors t;
    groth16_setup_opts o = {0};
    file_map f, wf;
    r1cs_system *sys;
    r1cs_assignment *w;
    groth16_pk *pk;
    groth16_job *job;
    groth16_proof p;
    bool valid;
    const char *zkey = harness_temp_path("made.zkey");

    assert_status_ok(file_map_open(&f, circom_case(curve_name, name, "circuit.r1cs")));
    assert_status_ok(circom_r1cs_read(&sys, f.data, f.size, r->table, r->m));
    assert_status_ok(groth16_trapdoors_random(&t, sys->cv));
    assert_status_ok(groth16_setup_zkey(r->s, sys, &t, zkey, &o, r->pool, r->m));
    assert_status_ok(groth16_zkey_open(&pk, zkey, r->table, r->pool, r->m));
    assert_status_ok(groth16_pk_check(pk, &(groth16_key_check){.subgroup = true}, r->pool));
    assert_status_ok(file_map_open(&wf, circom_case(curve_name, name, "witness.wtns")));
    assert_status_ok(circom_wtns_read(&w, wf.data, wf.size, pk->cv, pk->n_inputs + pk->n_aux,
                                      pk->n_inputs - 1, r->pool, r->m));
    groth16_prove_args args = {.pk = pk, .w = w, .m = r->m};
    assert_status_ok(groth16_prove_start(&job, r->s, &args));
    assert_status_ok(groth16_prove_finish(&p, job));
    assert_status_ok(groth16_verify(r->s, pk->vk, &p, w->inputs + 1, w->n_inputs - 1, &valid));
    assert_true(valid);
    r1cs_assignment_free(w);
    groth16_pk_free(pk);
    r1cs_free(sys);
    file_map_close(&wf);
    file_map_close(&f);
}

static void test_zkey(void **state)
{
    static const char *const names[] = {"mult3", "nopub", "allpub", "linear", "merkle5", "hints"};
    rig r;
    (void)state;

    rig_open(&r, cpu_table_best(), 2);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        zkey_case(&r, "bn128", names[i]);
        zkey_case(&r, "bls12381", names[i]);
    }
    rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_window),
        cmocka_unit_test(test_winning),
        cmocka_unit_test(test_params_bad),
        cmocka_unit_test(test_zkey),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
