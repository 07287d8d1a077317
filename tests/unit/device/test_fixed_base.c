/*
 * unit/device/test_fixed_base.c - many multiples of one point, against one multiplication each
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "unit/device/msm_support.h"

static cuzk_status multiples(const rig *r, uint8_t *out, point_enc enc, curve_id id, const group *g,
                             const any_point *base, const fr *k, size_t n, size_t *inf)
{
    return g->g2 ? dev_fixed_base_g2(r->s, out, enc, id, &base->g2, k, n, inf)
                 : dev_fixed_base_g1(r->s, out, enc, id, &base->g1, k, n, inf);
}

static void encode(const group *g, uint8_t *out, const any_point *p, point_enc enc)
{
    if (g->g2) {
        g->cv->g2_write(out, &p->g2, enc);
    } else {
        g->cv->g1_write(out, &p->g1, enc);
    }
}

/* Compares result i with one multiplication. */
static void check_one(const group *g, const uint8_t *out, point_enc enc, const any_point *base,
                      const fr *k, size_t i)
{
    size_t size = g->cv->point_size(g->g2, enc);
    any_point want = point_mul(g, base, &k[i]);
    uint8_t bytes[192];

    encode(g, bytes, &want, enc);
    assert_bytes_equal(out + i * size, bytes, size);
}

/* 0, +-1, +-2, +-2^k and their neighbours, (r + 1) / 2. */
static void edge_scalars(const curve *cv, fr *k, size_t n)
{
    fr power = cv->fr_one, two;

    random_frs(cv, k, n);
    for (size_t i = 0; i + 3 < n; i += 4) {
        k[i] = power;
        cv->fr_sub(&k[i + 1], &power, &cv->fr_one);
        cv->fr_neg(&k[i + 2], &power);
        cv->fr_add(&power, &power, &power);
    }
    cv->fr_from_u64(&two, 2);
    if (n > 3) cv->fr_inv(&k[3], &two);
}

static void sizes(const rig *r, curve_id id, const group *g)
{
    /* around a block of 512, and blocks that several threads share */
    static const size_t sizes_of[] = {0, 1, 2, 3, 17, 511, 512, 513, 4097};
    any_point gen = point_gen(g), base;
    fr b;

    do random_fr(g->cv, &b);
    while (g->cv->fr_is_zero(&b));
    base = point_mul(g, &gen, &b);
    for (size_t s = 0; s < sizeof sizes_of / sizeof *sizes_of - (g->g2 ? 1 : 0); s++) {
        size_t n = sizes_of[s], inf = 0, want_inf = SIZE_MAX;
        uint8_t *out = test_array(n, g->size);
        fr *k = test_array(n, sizeof *k);
        edge_scalars(g->cv, k, n);
        for (size_t i = n; i-- > 0;)
            if (g->cv->fr_is_zero(&k[i])) want_inf = i;
        assert_status_ok(multiples(r, out, POINT_LEM, id, g, &base, k, n, &inf));
        assert_true(inf == want_inf);
        for (size_t i = 0; i < n; i++) {
            if (n > 20 && i > 20 && i + 3 < n && harness_random_below(n) >= 20) continue;
            check_one(g, out, POINT_LEM, &base, k, i);
        }
        free(k);
        free(out);
    }
}

static void test_sizes(void **state)
{
    (void)state;
    for (unsigned t = 0; t < CPU_TABLES; t++) {
        if (!cpu_table_supported((cpu_table)t)) continue;
        for (unsigned threads = 1; threads <= 3; threads++) {
            rig r;
            rig_open(&r, (cpu_table)t, threads);
            for (unsigned id = 0; id < CURVE_IDS; id++) {
                for (int g2 = 0; g2 < 2; g2++) {
                    group g = group_of((curve_id)id, g2 == 1);
                    sizes(&r, (curve_id)id, &g);
                }
            }
            rig_close(&r);
        }
    }
}

/* One table, widest windows, for several calls; another device's stream is refused. */
static void test_table(void **state)
{
    const size_t n = 600;
    rig r, other;

    (void)state;
    rig_open(&r, cpu_table_best(), 2);
    rig_open(&other, cpu_table_best(), 1);
    for (int g2 = 0; g2 < 2; g2++) {
        group g = group_of(CURVE_ID_BLS12_381, g2 == 1);
        any_point gen = point_gen(&g);
        uint8_t *out = test_array(n, g.size);
        fr *k = test_array(n, sizeof *k);
        dev_fixed *f;
        size_t used = mem_used(r.m), inf, want;
        assert_status_ok(dev_fixed_new(&f, r.s, CURVE_ID_BLS12_381, g.g2, &gen, 5000000));
#ifndef RIG_DEVICE /* a GPU's table is in its own memory */
        assert_in_range(mem_used(r.m) - used, 64 << 20, 129 << 20);
#endif
        for (int round = 0; round < 2; round++) {
            if (round == 0) {
                edge_scalars(g.cv, k, n);
            } else {
                random_frs(g.cv, k, n);
            }
            assert_status_ok(dev_fixed_mul(r.s, out, POINT_LEM, f, k, n, &inf));
            want = SIZE_MAX;
            for (size_t i = n; i-- > 0;)
                if (g.cv->fr_is_zero(&k[i])) want = i;
            assert_true(inf == want);
            for (size_t i = 0; i < n; i += round == 0 ? 1 : 29)
                check_one(&g, out, POINT_LEM, &gen, k, i);
        }
        assert_status_is(dev_fixed_mul(other.s, out, POINT_LEM, f, k, n, &inf), CUZK_EINVAL);
        assert_status_is(dev_fixed_mul(r.s, out, POINT_LEM, NULL, k, n, &inf), CUZK_EINVAL);
        dev_fixed_free(f);
        assert_int_equal(mem_used(r.m), used);
        free(k);
        free(out);
    }
    dev_fixed_free(NULL);
    rig_close(&other);
    rig_close(&r);
}

static void test_encodings(void **state)
{
    const size_t n = 40;
    rig r;

    (void)state;
    rig_open(&r, cpu_table_best(), 2);
    for (int g2 = 0; g2 < 2; g2++) {
        for (unsigned enc = POINT_LEM; enc <= POINT_ZCASH_COMPRESSED; enc++) {
            group g = group_of(CURVE_ID_BLS12_381, g2 == 1);
            any_point gen = point_gen(&g);
            uint8_t *out = test_array(n, g.size);
            fr *k = test_array(n, sizeof *k);
            size_t inf;
            edge_scalars(g.cv, k, n);
            assert_status_ok(
                multiples(&r, out, (point_enc)enc, CURVE_ID_BLS12_381, &g, &gen, k, n, &inf));
            assert_int_equal(inf, 1);
            for (size_t i = 0; i < n; i++) check_one(&g, out, (point_enc)enc, &gen, k, i);
            free(k);
            free(out);
        }
    }
    rig_close(&r);
}

/* The lowest index is told, whichever block is done first; infinity as base gives nothing else. */
static void test_infinity_index(void **state)
{
    const size_t n = 5000;
    group g = group_of(CURVE_ID_BN254, false);
    any_point gen = point_gen(&g), none;
    uint8_t *out = test_array(n, g.size);
    fr *k = test_array(n, sizeof *k);
    size_t inf;
    rig r;

    (void)state;
    memset(&none, 0, sizeof none);
    rig_open(&r, cpu_table_best(), 3);
    for (size_t i = 0; i < n; i++) g.cv->fr_from_u64(&k[i], i + 1);
    assert_status_ok(multiples(&r, out, POINT_LEM, CURVE_ID_BN254, &g, &gen, k, n, &inf));
    assert_true(inf == SIZE_MAX);
    for (size_t i = 900; i < n; i += 3) k[i] = g.cv->fr_zero;
    for (int round = 0; round < 10; round++) {
        assert_status_ok(multiples(&r, out, POINT_LEM, CURVE_ID_BN254, &g, &gen, k, n, &inf));
        assert_int_equal(inf, 900);
    }
    assert_status_ok(multiples(&r, out, POINT_LEM, CURVE_ID_BN254, &g, &none, k, n, &inf));
    assert_int_equal(inf, 0);
    for (size_t i = 0; i < n; i++) assert_bytes_equal(out + i * g.size, &none, g.size);
    rig_close(&r);
    free(k);
    free(out);
}

static void test_faults_and_cancel(void **state)
{
    const size_t n = 700;
    group g = group_of(CURVE_ID_BLS12_381, true);
    any_point gen = point_gen(&g);
    uint8_t *out = test_array(n, g.size);
    fr *k = test_array(n, sizeof *k);
    unsigned long at = 1;
    size_t inf;
    cancel *c;
    dev_stream *stream;
    rig r;

    (void)state;
    rig_open(&r, cpu_table_best(), 2);
    random_frs(g.cv, k, n);
    for (;; at++) {
        size_t used = mem_used(r.m);
        cuzk_status st;
        bool hit;
        mem_inject_fault(r.m, at);
        st = multiples(&r, out, POINT_LEM, CURVE_ID_BLS12_381, &g, &gen, k, n, &inf);
        hit = mem_fault_hit(r.m);
        mem_inject_fault(r.m, 0);
        if (!hit) break;
        assert_int_equal(st, CUZK_ENOMEM);
        assert_int_equal(mem_used(r.m), used);
    }
    assert_in_range(at, 2, 20);
    assert_status_ok(cancel_new(&c));
    assert_status_ok(dev_stream_open(&stream, r.d, c));
    cancel_request(c);
    assert_status_is(
        dev_fixed_base_g2(stream, out, POINT_LEM, CURVE_ID_BLS12_381, &gen.g2, k, n, &inf),
        CUZK_ECANCELLED);
    dev_stream_close(stream);
    cancel_free(c);
    rig_close(&r);
    free(k);
    free(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_encodings),
        cmocka_unit_test(test_infinity_index),
        cmocka_unit_test(test_faults_and_cancel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
