/*
 * unit/algebra/test_field_consts.c - the generated constants, recomputed from the moduli alone; the moduli themselves
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "field_tests.h"

/* a - v, n words */
static void minus(uint64_t *r, const uint64_t *a, unsigned n, uint64_t v)
{
    for (unsigned i = 0; i < n; i++) {
        uint64_t x = a[i];
        r[i] = x - v;
        v = x < v ? 1 : 0;
    }
}

/* r = a * w + 1, n + 1 words */
static void times_plus_one(uint64_t *r, const uint64_t *a, unsigned n, uint64_t w)
{
    uint64_t carry = 1;
    for (unsigned i = 0; i < n; i++) { /* by halves of words */
        uint64_t al = a[i] & 0xffffffff, ah = a[i] >> 32, wl = w & 0xffffffff, wh = w >> 32;
        uint64_t ll = al * wl, lh = al * wh, hl = ah * wl, hh = ah * wh;
        uint64_t mid = (ll >> 32) + (lh & 0xffffffff) + (hl & 0xffffffff);
        uint64_t low = (ll & 0xffffffff) | mid << 32,
                 high = hh + (lh >> 32) + (hl >> 32) + (mid >> 32);
        r[i] = low + carry;
        carry = high + (r[i] < low ? 1 : 0);
    }
    r[n] = carry;
}

static void consts_of(const field_ops *o)
{
    uint64_t m[NMAX + 1] = {0}, x[NMAX + 1] = {0}, y[NMAX + 1];
    unsigned n = o->n, bits = 0, zeros = 0;

    memcpy(m, o->modulus, n * sizeof *m);
    for (unsigned i = 0; i < 64 * n; i++)
        if ((m[i / 64] >> (i % 64) & 1) != 0) bits = i + 1;
    assert_int_equal(o->bits, bits);
    assert_true(m[n - 1] < UINT64_MAX / 2); /* the bounds of mont_tmpl.h */
    assert_true((m[0] & 1) == 1);
    assert_true(m[0] * o->neg_inv == UINT64_MAX);
    assert_true((m[0] * o->inv62 & (((uint64_t)1 << 62) - 1)) == 1);
    assert_true(o->inv62 >> 62 == 0);

    model_pow2(o, x, 64 * n);
    assert_words(o, "mont_one", o->mont_one, x, n);
    model_pow2(o, x, 128 * n);
    assert_words(o, "mont_r2", o->mont_r2, x, n);
    model_pow2(o, x, 192 * n);
    assert_words(o, "mont_r3", o->mont_r3, x, n);
    model_shift(x, m, n, 1);
    assert_words(o, "half", o->half, x, n);
    minus(x, m, n, 2);
    assert_words(o, "exp_inv", o->exp_inv, x, n);

    assert_true(62 * o->n62 > 64 * n); /* room for values in (-2m, 2m) */
    for (unsigned i = 0; i < o->n62; i++) {
        model_shift(x, m, n, 62 * i);
        assert_true(o->modulus62[i] == (int64_t)(x[0] & (((uint64_t)1 << 62) - 1)));
    }

    assert_words(o, "adx: m", o->adx, m, n);
    times_plus_one(y, m, n, o->neg_inv);
    assert_true(y[0] == 0);
    assert_words(o, "adx: fold", o->adx + n, y + 1, n);
    assert_true(o->adx[2 * n] == o->neg_inv && o->adx[2 * n + 1] == 0);

    minus(x, m, n, 1);
    while ((x[zeros / 64] >> (zeros % 64) & 1) == 0) zeros++;
    assert_int_equal(o->two_adicity, zeros);
    if (o->exp_odd != NULL) {
        model_shift(x, x, n, zeros);
        assert_words(o, "exp_odd", o->exp_odd, x, n);
    }
    if (o->exp_sqrt != NULL) {
        assert_int_equal(m[0] & 3, 3);
        model_shift(x, m, n, 2);
        minus(x, x, n, UINT64_MAX); /* + 1, and a borrow */
        for (unsigned i = 1; i < n; i++) {
            if (++x[i] != 0) break;
        }
        assert_words(o, "exp_sqrt = (m + 1) / 4", o->exp_sqrt, x, n);
    }
}

static void test_consts(void **state)
{
    (void)state;
    for_each_field(consts_of);
}

/* The moduli as their standards print them. */
static void modulus_of(const field_ops *o)
{
    static const struct {
        const char *field, *hex;
    } known[] = {
        /* draft-irtf-cfrg-pairing-friendly-curves-11, section 4.2.1: p and r of BLS12-381 */
        {"bls12-381 fp", "1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f624"
                         "1eabfffeb153ffffb9feffffffffaaab"},
        {"bls12-381 fr", "73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001"},
        /* EIP-197: 21888242871839275222246405745257275088696311157297823662689037894645226208583 and
           21888242871839275222246405745257275088548364400416034343698204186575808495617 */
        {"bn254 fp", "30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47"},
        {"bn254 fr", "30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001"},
        {"tiny fp", "00000000000000000000000000000000000000000000000000000000000002d7"},
        {"tiny fr", "00000000000000000000000000000000000000000000000000000000000000f1"},
    };
    uint8_t be[8 * NMAX];
    unsigned found = 0;

    for (unsigned i = 0; i < 8 * o->n; i++)
        be[8 * o->n - 1 - i] = (uint8_t)(o->modulus[i / 8] >> (i % 8 * 8));
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        if (strcmp(known[k].field, o->name) != 0) continue;
        assert_hex_equal(be, 8 * o->n, known[k].hex);
        found++;
    }
    assert_int_equal(found, 1);
}

static void test_moduli(void **state)
{
    (void)state;
    for_each_field(modulus_of);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_consts),
        cmocka_unit_test(test_moduli),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
