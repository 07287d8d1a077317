/*
 * unit/groth16/aggregate_support.c - the fixtures' proofs with their statements, and powers, for tests of aggregates
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "aggregate_support.h"

#include "base/hash.h"
#include "circuit/filecoin/porep.h"
#include "circuit/filecoin/update.h"

static void open_case(agg_case *c, rig *r, size_t n, size_t n_pub, const char *vk)
{
    cuzk_status st;
    size_t size;
    uint8_t *data = harness_read_file(harness_fixture(vk), &size);

    *c = (agg_case){.r = r, .n = n, .n_pub = n_pub};
    c->cv = curve_get(CURVE_ID_BLS12_381, r->table);
    assert_status_ok(groth16_vk_read(&c->vk, data, size, NULL, c->cv, r->m));
    assert_int_equal(c->vk->n_ic, n_pub + 1);
    free(data);
    c->proofs = mem_new(r->m, n, sizeof *c->proofs, &st);
    assert_non_null(c->proofs);
    c->pub = mem_new(r->m, n * n_pub, sizeof *c->pub, &st);
    assert_non_null(c->pub);
}

void agg_case_clear(agg_case *c)
{
    mem_free(c->r->m, c->pub);
    mem_free(c->r->m, c->proofs);
    groth16_vk_free(c->vk);
}

static void read_proof(agg_case *c, size_t i, const char *path, size_t at)
{
    size_t size;
    uint8_t *data = harness_read_file(harness_fixture(path), &size);

    assert_true(size >= (at + 1) * GROTH16_PROOF_BYTES);
    assert_status_ok(groth16_proof_read(&c->proofs[i], c->cv, data + at * GROTH16_PROOF_BYTES));
    free(data);
}

static void porep_of(porep_derived *d, const char *path)
{
    porep_statement s;
    size_t size;
    uint8_t *json = harness_read_file(harness_fixture(path), &size);

    assert_status_ok(porep_statement_read(&s, json, size));
    porep_derive(d, &s);
    free(json);
}

void agg_seals(agg_case *c, rig *r, size_t n)
{
    static porep_derived d;
    sha256_ctx h;

    porep_of(&d, "filecoin/2kib/porep-v1_1/statement.json");
    open_case(c, r, n, porep_n_public(&d), "filecoin/keys/porep-2kib.vk");
    sha256_init(&h);
    for (size_t i = 0; i < n; i++) {
        read_proof(c, i,
                   i % 2 == 0 ? "filecoin/2kib/porep-v1_1/proof-fixed-rs.bin"
                              : "filecoin/2kib/porep-v1_1/proof.bin",
                   0);
        assert_status_ok(porep_public_inputs(&d, 0, c->cv, c->pub + i * c->n_pub));
        sha256_update(&h, d.st.seed, 32);
        sha256_update(&h, d.st.comm_r, 32);
    }
    sha256_final(&h, c->statement);
}

void agg_updates(agg_case *c, rig *r, size_t n)
{
    update_statement s;
    size_t size;
    uint8_t *json =
        harness_read_file(harness_fixture("filecoin/2kib/update/statement.json"), &size);
    sha256_ctx h;

    assert_status_ok(update_statement_read(&s, json, size, FIL_UPDATE));
    free(json);
    open_case(c, r, n, UPDATE_N_PUBLIC, "filecoin/keys/update-2kib.vk");
    sha256_init(&h);
    for (size_t i = 0; i < n; i++) {
        uint8_t high = (uint8_t)s.shape.high[s.shape.high_choice];
        read_proof(c, i,
                   i % 2 == 0 ? "filecoin/2kib/update/proof-fixed-rs.bin"
                              : "filecoin/2kib/update/proof.bin",
                   0);
        assert_status_ok(update_public_inputs(&s, 0, c->cv, c->pub + i * c->n_pub));
        sha256_update(&h, &high, 1);
        sha256_update(&h, s.comm_r_old, 32);
        sha256_update(&h, s.comm_r_new, 32);
        sha256_update(&h, s.comm_d_new, 32);
    }
    sha256_final(&h, c->statement);
}

void agg_ni(agg_case *c, rig *r, size_t n)
{
    static porep_derived d;

    porep_of(&d, "filecoin/2kib/porep-ni/statement.json");
    open_case(c, r, n, porep_n_public(&d), "filecoin/keys/porep-2kib.vk");
    for (size_t i = 0; i < n; i++) {
        size_t k = i % d.n_partitions;
        read_proof(c, i, "filecoin/2kib/porep-ni/proof-fixed-rs.bin", k);
        assert_status_ok(porep_public_inputs(&d, k, c->cv, c->pub + i * c->n_pub));
    }
    sha256(c->statement, d.st.comm_r, 32);
}

void agg_fixture_srs(aggregate_srs **srs, const rig *r)
{
    assert_status_ok(aggregate_srs_open(srs, harness_fixture(AGG_DIR "srs-16.srs"),
                                        curve_get(CURVE_ID_BLS12_381, r->table), r->m));
}

void agg_made_srs(aggregate_srs **srs, const rig *r, uint32_t powers)
{
    const curve *cv = curve_get(CURVE_ID_BLS12_381, r->table);
    const char *path = harness_temp_path("made.srs");
    scalar s;
    fr tau[2];

    for (unsigned k = 0; k < 2; k++) {
        harness_from_hex(s.b, 32, k == 0 ? AGG_ALPHA : AGG_BETA);
        assert_true(cv->fr_from_scalar(&tau[k], &s));
    }
    assert_status_ok(aggregate_srs_make(r->s, path, cv, &tau[0], &tau[1], powers, r->m));
    assert_status_ok(aggregate_srs_open(srs, path, cv, r->m));
}

cuzk_status agg_prove(bytes_out *out, const agg_case *c, const aggregate_srs *srs,
                      aggregate_version v, aggregate_challenges *seen)
{
    aggregate_run run = {.s = c->r->s, .p = c->r->pool, .m = c->r->m};
    aggregate_key *key;
    cuzk_status st;

    bytes_out_init(out, c->r->m);
    st = aggregate_key_new(&key, srs, aggregate_padded(c->n), true, c->r->pool, NULL, c->r->m);
    if (st != CUZK_OK) return st;
    st = aggregate_prove(out, &run, key, c->proofs, c->n, c->statement, v, seen);
    aggregate_key_free(key);
    return st;
}

cuzk_status agg_verify(bool *valid, const agg_case *c, const aggregate_srs *srs,
                       aggregate_version v, const uint8_t *proof, size_t size,
                       aggregate_challenges *seen)
{
    aggregate_run run = {.s = c->r->s, .p = c->r->pool, .m = c->r->m};
    aggregate_vk key;
    aggregate_claim claim = {.key = &key,
                             .vk = c->vk,
                             .pub = c->pub,
                             .n = c->n,
                             .statement = c->statement,
                             .version = v};
    cuzk_status st = aggregate_vk_read(&key, srs);

    if (st != CUZK_OK) return st;
    return aggregate_verify(valid, &run, &claim, proof, size, seen);
}
