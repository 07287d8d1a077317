/*
 * unit/device/test_multiples.c - sums over points whose multiples are kept, against one multiplication each and the device's own sum
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "unit/device/msm_support.h"

#define ENOUGH ((size_t)64 << 20)

static dev_points points_of(const bases *b)
{
    return (dev_points){.data = b->lem, .n = b->n, .enc = POINT_LEM, .trusted = true};
}

static dev_multiples *made(const rig *r, curve_id id, const bases *b, size_t max_bytes)
{
    dev_points points = points_of(b);
    dev_multiples *t = NULL;

    assert_status_ok(dev_multiples_new(&t, r->s, id, &points, max_bytes, r->m));
    return t;
}

/* The sum by t, and as the device takes it without. */
static void check_sum(const rig *r, curve_id id, const bases *b, const dev_multiples *t,
                      const values *v)
{
    any_point got = {0}, want = expected_sum(b, 0, v), plain = device_sum(r, id, b, 0, v);

    assert_status_ok(dev_multiples_sum(r->s, &got.g1, t, v->v));
    assert_points_equal(b->g, &got, &want);
    assert_points_equal(b->g, &plain, &want);
}

/* Scalars at the edges of digits and of signs. */
static void edges(values *v)
{
    const curve *cv = v->cv;
    fr power = cv->fr_one;

    for (size_t i = 0; i < v->n; i++) {
        switch (i % 6) {
        case 0: v->v[i] = cv->fr_zero; break;
        case 1: v->v[i] = power; break;
        case 2: cv->fr_neg(&v->v[i], &power); break;
        case 3: cv->fr_sub(&v->v[i], &power, &cv->fr_one); break;
        case 4: cv->fr_inv(&v->v[i], &power); break; /* halves: near r / 2 first */
        default: break;                              /* random */
        }
        if (i % 2 == 0) cv->fr_add(&power, &power, &power);
    }
    values_pack(v);
}

static void sums_with(const rig *r, curve_id id)
{
    static const size_t sizes[] = {1, 2, 7, 8, 9, 65, 328};
    group g = group_of(id, false);

    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        size_t n = sizes[k];
        bases b;
        values v;
        bases_init(&b, &g, n, n > 20 ? 13 : 0); /* with equal points among them */
        if (n > 2) {
            bases_set_inf(&b, 1);
            bases_set(&b, n - 1, &b, 0, true); /* opposite */
        }
        values_init(&v, g.cv, n);
        values_pack(&v);
        dev_multiples *t = made(r, id, &b, ENOUGH);
        assert_true(dev_multiples_fit(t, r->s));
        check_sum(r, id, &b, t, &v); /* random */
        edges(&v);
        check_sum(r, id, &b, t, &v);
        for (size_t i = 1; i < n; i++) v.v[i] = v.v[0]; /* 0 */
        values_pack(&v);
        check_sum(r, id, &b, t, &v);
        random_fr(g.cv, &v.v[0]);
        for (size_t i = 1; i < n; i++) v.v[i] = v.v[0]; /* all digits in few buckets */
        values_pack(&v);
        check_sum(r, id, &b, t, &v);
        dev_multiples_free(t);
        values_clear(&v);
        bases_clear(&b);
    }
}

static void for_each_rig(void (*f)(const rig *r, curve_id id))
{
    for (unsigned t = 0; t < CPU_TABLES; t++) {
        if (!cpu_table_supported((cpu_table)t)) continue;
        for (unsigned threads = 1; threads <= 3; threads += 2) {
            rig r;
            rig_open(&r, (cpu_table)t, threads);
            for (unsigned id = 0; id < CURVE_IDS; id++) f(&r, (curve_id)id);
            rig_close(&r);
        }
    }
}

static void test_sums(void **state)
{
    (void)state;
    for_each_rig(sums_with);
}

/* More points than a task doubles; and what one table made, all the others take. */
static void test_shared(void **state)
{
    group g = group_of(CURVE_ID_BLS12_381, false);
    dev_multiples *t;
    bases b;
    values v;
    rig r;

    (void)state;
    bases_init(&b, &g, 700, 0);
    values_init(&v, g.cv, 700);
    edges(&v);
    for (unsigned k = 0; k < CPU_TABLES; k++) {
        if (!cpu_table_supported((cpu_table)k)) continue;
        rig_open(&r, (cpu_table)k, 2);
        t = made(&r, g.cv->id, &b, ENOUGH);
        for (unsigned j = 0; j < CPU_TABLES; j++) {
            rig other;
            if (!cpu_table_supported((cpu_table)j)) continue;
            rig_open(&other, (cpu_table)j, 1);
            check_sum(&other, g.cv->id, &b, t, &v);
            rig_close(&other);
        }
        dev_multiples_free(t);
        rig_close(&r);
    }
    values_clear(&v);
    bases_clear(&b);
}

/* Too large is none; what cannot be is refused; nothing is left of one that could not be finished. */
static void test_limits(void **state)
{
    group g = group_of(CURVE_ID_BN254, false);
    dev_multiples *t = NULL;
    dev_points p;
    bases b;
    fr k = g.cv->fr_one;
    g1_any sum;
    size_t used;
    rig r;

    (void)state;
    rig_open(&r, CPU_TABLE_GENERIC, 1);
    bases_init(&b, &g, 40, 0);
    assert_null(made(&r, g.cv->id, &b, (size_t)40 * 64 * 10));
    assert_false(dev_multiples_fit(NULL, r.s));
    p = points_of(&b);
    p.trusted = false;
    assert_status_is(dev_multiples_new(&t, r.s, g.cv->id, &p, ENOUGH, r.m), CUZK_EINVAL);
    p = points_of(&b);
    p.n = 0;
    assert_status_is(dev_multiples_new(&t, r.s, g.cv->id, &p, ENOUGH, r.m), CUZK_EINVAL);
    assert_status_is(dev_multiples_sum(r.s, &sum, NULL, &k), CUZK_EINVAL);
    p = points_of(&b);
    used = mem_used(r.m);
    for (unsigned long fault = 1;; fault++) {
        cuzk_status st;
        mem_inject_fault(r.m, fault);
        st = dev_multiples_new(&t, r.s, g.cv->id, &p, ENOUGH, r.m);
        mem_inject_fault(r.m, 0);
        if (st == CUZK_OK) break;
        assert_status_is(st, CUZK_ENOMEM);
        assert_null(t);
        assert_true(mem_used(r.m) == used);
    }
    dev_multiples_free(t);
    dev_multiples_free(NULL);
    bases_clear(&b);
    rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_shared),
        cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
