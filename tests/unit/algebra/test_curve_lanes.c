/*
 * unit/algebra/test_curve_lanes.c - points read, weighed and paired eight at a time, against the portable table point by point
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "algebra/curve_lanes.h"
#include "curve_tests.h"

#define N CURVE_LANES

static const curve *portable(void)
{
    return curve_get(CURVE_ID_BLS12_381, CPU_TABLE_GENERIC);
}

/** The table under test; a counted skip where the machine has none. */
static const curve *lanes_curve(void)
{
    if (!cpu_table_supported(CPU_TABLE_IFMA)) harness_skip("no CPU feature avx512ifma");
    return curve_get(CURVE_ID_BLS12_381, CPU_TABLE_IFMA);
}

static void test_who_has_lanes(void **state)
{
    (void)state;
    for (unsigned id = 0; id < CURVE_IDS; id++) {
        for (unsigned t = 0; t < CPU_TABLES; t++) {
            if (!cpu_table_supported((cpu_table)t)) continue;
            const curve_lanes *l = curve_lanes_of(curve_get((curve_id)id, (cpu_table)t));
            assert_int_equal(l != NULL, id == CURVE_ID_BLS12_381 && t == CPU_TABLE_IFMA);
        }
    }
}

/* ---- reading ---- */

/** A compressed point: in the subgroup, on the curve alone, off it, of small order, infinity, or with a bit changed. */
static void random_encoding(const curve *c, bool g2, uint8_t *out)
{
    size_t size = c->point_size(g2, POINT_ZCASH_COMPRESSED);
    uint64_t kind = harness_random_below(8);
    g1_any p;
    g2_any q;

    random_g1(c, &p);
    random_g2(c, &q);
    if (g2)
        c->g2_write(out, &q, POINT_ZCASH_COMPRESSED);
    else
        c->g1_write(out, &p, POINT_ZCASH_COMPRESSED);
    switch (kind) {
    case 0: /* some x: half are on the curve, hardly one is in the subgroup */
        harness_random_bytes(out + 1, size - 1);
        break;
    case 1: /* small x, among them points of small order: (0, 2) of G1 has order 3 */
        memset(out + 1, 0, size - 1);
        out[0] &= 0xa0;
        out[size - 1] = (uint8_t)harness_random_below(9);
        if (g2) out[size / 2 - 1] = (uint8_t)harness_random_below(3);
        break;
    case 2: out[0] ^= 0x20; break; /* the other y */
    case 3: out[harness_random_below(size)] ^= (uint8_t)(1u << harness_random_below(8)); break;
    case 4:
        memset(out, 0, size);
        out[0] = 0xc0;
        break;
    case 5: memset(out + 1, 0xff, size - 1); break;
    default: break;
    }
}

static void test_read_g1(void **state)
{
    const curve *c = lanes_curve(), *judge = portable();
    const curve_lanes *l = curve_lanes_of(c);
    unsigned taken = 0, refused = 0;

    (void)state;
    for (size_t round = 0; round < harness_iters(60); round++) {
        uint8_t bytes[N][48];
        const uint8_t *in[N];
        g1_any out[N], p;
        unsigned ok;

        for (unsigned i = 0; i < N; i++) {
            random_encoding(judge, false, bytes[i]);
            if (round == 0) judge->g1_write(bytes[i], &judge->g1_gen, POINT_ZCASH_COMPRESSED);
            in[i] = bytes[i];
        }
        memset(out, 0xee, sizeof out);
        ok = l->g1_read(out, in);
        for (unsigned i = 0; i < N; i++) {
            bool want = judge->g1_read(&p, in[i], POINT_ZCASH_COMPRESSED) == POINT_OK &&
                        !judge->g1_is_inf(&p) && judge->g1_in_subgroup_plain(&p);
            assert_int_equal(ok >> i & 1, want);
            if (!want) memset(&p, 0xee, sizeof p);
            assert_memory_equal(&out[i], &p, sizeof p);
            taken += want;
            refused += !want;
        }
    }
    assert_true(taken > 0 && refused > 0);
}

static void test_read_g2(void **state)
{
    const curve *c = lanes_curve(), *judge = portable();
    const curve_lanes *l = curve_lanes_of(c);
    unsigned taken = 0, refused = 0, untold = 0;

    (void)state;
    for (size_t round = 0; round < harness_iters(40); round++) {
        uint8_t bytes[N][96];
        const uint8_t *in[N];
        g2_any out[N], p;
        unsigned ok;

        for (unsigned i = 0; i < N; i++) {
            random_encoding(judge, true, bytes[i]);
            in[i] = bytes[i];
        }
        memset(out, 0xee, sizeof out);
        ok = l->g2_read(out, in);
        assert_true(ok < 1u << N);
        for (unsigned i = 0; i < N; i++) {
            bool got = ok >> i & 1;
            bool want = judge->g2_read(&p, in[i], POINT_ZCASH_COMPRESSED) == POINT_OK &&
                        !judge->g2_is_inf(&p) && judge->g2_in_subgroup_plain(&p);
            if (!want) assert_false(got);
            if (!got) memset(&p, 0xee, sizeof p);
            assert_memory_equal(&out[i], &p, sizeof p);
            taken += got;
            refused += !want;
            untold += want && !got; /* allowed, but not for points that anybody makes */
        }
    }
    assert_true(taken > 0 && refused > 0);
    assert_int_equal(untold, 0);
}

/* Points of the curve: of G1, of small order, of neither, and infinity. */
static void test_subgroup(void **state)
{
    const curve *c = lanes_curve(), *judge = portable();
    const curve_lanes *l = curve_lanes_of(c);
    unsigned in_group = 0;

    (void)state;
    for (size_t round = 0; round < harness_iters(40); round++) {
        g1_any p[N];
        unsigned ok;

        for (unsigned i = 0; i < N; i++) {
            uint8_t bytes[48];
            do {
                random_encoding(judge, false, bytes);
            } while (judge->g1_read(&p[i], bytes, POINT_ZCASH_COMPRESSED) != POINT_OK);
        }
        ok = l->g1_in_subgroup(p);
        assert_true(ok < 1u << N);
        for (unsigned i = 0; i < N; i++) {
            bool want = !judge->g1_is_inf(&p[i]) && judge->g1_in_subgroup_plain(&p[i]);
            assert_int_equal(ok >> i & 1, want);
            in_group += want;
        }
    }
    assert_true(in_group > 0);
}

/* ---- weights ---- */

/** Random halves; in the first rounds their edges, and points that are equal. */
static void make_weighed(const curve *judge, size_t round, g1_any p[N], uint64_t a[N],
                         uint64_t b[N])
{
    harness_random_bytes(a, N * sizeof *a);
    harness_random_bytes(b, N * sizeof *b);
    for (unsigned i = 0; i < N; i++) {
        random_g1(judge, &p[i]);
        if (round == 0) {
            a[i] = i & 1 ? UINT64_MAX : 0;
            b[i] = i & 2 ? UINT64_MAX : 0;
        } else if (round == 1) {
            p[i] = p[0];
            a[i] = i;
            b[i] = i / 2;
        }
    }
}

static void test_weigh(void **state)
{
    const curve *c = lanes_curve(), *judge = portable();
    const curve_lanes *l = curve_lanes_of(c);

    (void)state;
    for (size_t round = 0; round < harness_iters(12); round++) {
        uint64_t a[N], b[N];
        g1_any p[N], r[N], want;
        fr z;

        make_weighed(judge, round, p, a, b);
        l->g1_weigh(r, p, a, b);
        for (unsigned i = 0; i < N; i++) {
            l->g1_weight(&z, a[i], b[i]);
            assert_false(judge->fr_is_zero(&z));
            judge->g1_mul(&want, &p[i], &z);
            assert_true(judge->g1_eq(&r[i], &want));
        }
        l->g1_weigh(p, p, a, b); /* in place */
        for (unsigned i = 0; i < N; i++) assert_true(judge->g1_eq(&r[i], &p[i]));
    }
}

/** Weights of different (a, b) differ: they are a + b lambda for one lambda that is not small. */
static void test_weight(void **state)
{
    const curve *c = lanes_curve();
    const curve_lanes *l = curve_lanes_of(c);
    fr base, one, lambda, z, t, u;
    scalar s;
    bool large = false;

    (void)state;
    l->g1_weight(&base, 0, 0);
    l->g1_weight(&one, 1, 0);
    c->fr_sub(&one, &one, &base);
    assert_true(c->fr_eq(&one, &c->fr_one));
    l->g1_weight(&lambda, 0, 1);
    c->fr_sub(&lambda, &lambda, &base);
    c->fr_mul(&t, &lambda, &lambda); /* lambda^2 + lambda + 1 = 0 */
    c->fr_add(&t, &t, &lambda);
    c->fr_add(&t, &t, &c->fr_one);
    assert_true(c->fr_is_zero(&t));
    c->fr_to_scalar(&s, &lambda);
    for (size_t i = 16; i < 32; i++) large |= s.b[i] != 0;
    assert_true(large);
    for (size_t i = 0; i < harness_iters(50); i++) {
        uint64_t a, b;
        harness_random_bytes(&a, sizeof a);
        harness_random_bytes(&b, sizeof b);
        l->g1_weight(&z, a, b);
        c->fr_from_u64(&t, a);
        c->fr_from_u64(&u, b);
        c->fr_mul(&u, &u, &lambda);
        c->fr_add(&t, &t, &u);
        c->fr_add(&t, &t, &base);
        assert_true(c->fr_eq(&z, &t));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_who_has_lanes), cmocka_unit_test(test_read_g1),
        cmocka_unit_test(test_read_g2),       cmocka_unit_test(test_subgroup),
        cmocka_unit_test(test_weigh),         cmocka_unit_test(test_weight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
