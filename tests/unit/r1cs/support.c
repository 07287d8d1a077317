/*
 * unit/r1cs/support.c - what the tests of r1cs share
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "support.h"

const support_circuit support_circuits[] = {
    {CURVE_ID_BN254, "circom/bn128/mult3"},          {CURVE_ID_BN254, "circom/bn128/allpub"},
    {CURVE_ID_BN254, "circom/bn128/nopub"},          {CURVE_ID_BN254, "circom/bn128/linear"},
    {CURVE_ID_BN254, "circom/bn128/hints"},          {CURVE_ID_BN254, "circom/bn128/merkle5"},
    {CURVE_ID_BN254, "circom/bn128/eddsa"},          {CURVE_ID_BLS12_381, "circom/bls12381/mult3"},
    {CURVE_ID_BLS12_381, "circom/bls12381/allpub"},  {CURVE_ID_BLS12_381, "circom/bls12381/nopub"},
    {CURVE_ID_BLS12_381, "circom/bls12381/linear"},  {CURVE_ID_BLS12_381, "circom/bls12381/hints"},
    {CURVE_ID_BLS12_381, "circom/bls12381/merkle5"},
};
const size_t support_n_circuits = sizeof support_circuits / sizeof support_circuits[0];

mem *support_mem(void)
{
    mem *m = NULL;

    assert_status_ok(mem_open(&m, "test", 0, NULL));
    return m;
}

void support_close(mem *m)
{
    assert_int_equal(mem_used(m), 0);
    mem_close(m);
}

const curve *support_curve(curve_id id)
{
    return curve_get(id, cpu_table_best());
}

void support_random_fr(const curve *cv, fr *out)
{
    scalar s;

    do {
        harness_random_bytes(s.b, sizeof s.b);
        s.b[31] &= 0x7f;
    } while (!cv->fr_from_scalar(out, &s));
}

fr support_u64(const curve *cv, uint64_t v)
{
    fr r;

    cv->fr_from_u64(&r, v);
    return r;
}

fr support_neg(const curve *cv, uint64_t v)
{
    fr r = support_u64(cv, v);

    cv->fr_neg(&r, &r);
    return r;
}

uint8_t *support_read(const support_circuit *c, const char *name, size_t *size)
{
    char rel[128];

    (void)snprintf(rel, sizeof rel, "%s/%s", c->folder, name);
    return harness_read_file(harness_fixture(rel), size);
}

uint32_t gadget_bit(r1cs_builder *b, const curve *cv)
{
    fr minus_one = support_neg(cv, 1);
    uint32_t a = r1cs_alloc_bit(b);
    r1cs_lc *left = r1cs_lc_wire(b, 0);

    r1cs_lc_add(b, left, a, &minus_one);
    r1cs_enforce(b, left, r1cs_lc_wire(b, a), NULL);
    return a;
}

r1cs_lc *gadget_pack(r1cs_builder *b, const curve *cv, const uint32_t *bits, size_t n)
{
    r1cs_lc *sum = r1cs_lc_new(b);
    fr k = cv->fr_one;

    for (size_t i = 0; i < n; i++) {
        r1cs_lc_add(b, sum, bits[i], &k);
        cv->fr_add(&k, &k, &k);
    }
    return sum;
}
