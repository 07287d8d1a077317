/*
 * unit/device/test_msm_many.c - several sums at once: each is what it would be alone
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "unit/device/msm_support.h"

#include "device/cpu/msm.h"

#define SUMS 9

/* Sums over G1 and G2 of one curve, in the order in which they are asked for. */
typedef struct many {
    curve_id id;
    size_t n;
    group g[SUMS];
    bases b[SUMS];
    values v[SUMS];
    uint8_t *encoded[SUMS]; /* NULL: as they lie in memory */
    dev_points points[SUMS];
    dev_buf *buf; /* the first sum's scalars; NULL: as the others' */
    any_point got[SUMS];
    dev_sum sums[SUMS];
} many;

static void add(many *m, bool g2, size_t n, size_t first)
{
    size_t i = m->n++;

    m->g[i] = group_of(m->id, g2);
    bases_init(&m->b[i], &m->g[i], n + first, n > 2000 ? 500 : 0);
    values_init(&m->v[i], m->g[i].cv, n);
    m->points[i] = (dev_points){
        .data = m->b[i].lem, .n = n + first, .enc = POINT_LEM, .g2 = g2, .trusted = i % 2 == 0};
    m->sums[i] = (dev_sum){.kind = SPAN_MSM_A,
                           .r = &m->got[i],
                           .bases = &m->points[i],
                           .first_base = first,
                           .k = &m->v[i].packed};
}

/* As a key has them; of BLS12-381 alone. */
static void encode(many *m, size_t i)
{
    m->encoded[i] = bases_encode(&m->b[i], POINT_ZCASH);
    m->points[i].data = m->encoded[i];
    m->points[i].enc = POINT_ZCASH;
    m->points[i].trusted = false;
}

/* Some positions are bits, some take no part. */
static void mix(many *m, size_t i, uint64_t bits, uint64_t part)
{
    values *v = &m->v[i];

    for (size_t k = 0; k < v->n; k++) {
        v->selected[k] = harness_random_below(64) < part;
        v->is_bit[k] = harness_random_below(64) < bits;
        if (v->is_bit[k]) v->v[k] = harness_random_below(2) == 0 ? v->cv->fr_one : v->cv->fr_zero;
    }
}

static void use_buffer(many *m, rig *r)
{
    assert_status_ok(dev_buf_new(&m->buf, r->d, m->v[0].n));
    upload(r, m->buf, m->v[0].v, m->v[0].n);
    m->sums[0].first_base = 0;
    m->sums[0].buf = m->buf;
    m->sums[0].n = m->v[0].n;
    m->sums[0].k = NULL;
}

static void begin(many *m)
{
    memset(m->got, 0, sizeof m->got);
    for (size_t i = 0; i < m->n; i++) values_pack(&m->v[i]);
}

/* Sum j goes where sum i goes, i < j: both are added up. */
static void share(many *m, size_t i, size_t j)
{
    m->sums[j].r = m->sums[i].r;
}

static void check(const many *m)
{
    for (size_t i = 0; i < m->n; i++) {
        any_point want;

        if (m->sums[i].r != &m->got[i]) continue;
        memset(&want, 0, sizeof want);
        for (size_t j = i; j < m->n; j++) {
            any_point t = expected_sum(&m->b[j], m->sums[j].first_base, &m->v[j]);
            if (m->sums[j].r == m->sums[i].r) want = point_add(&m->g[i], &want, &t);
        }
        assert_points_equal(&m->g[i], &m->got[i], &want);
    }
}

static void many_clear(many *m)
{
    for (size_t i = 0; i < m->n; i++) {
        values_clear(&m->v[i]);
        bases_clear(&m->b[i]);
        free(m->encoded[i]);
    }
    dev_buf_free(m->buf);
}

static void on_curve(rig *r, curve_id id)
{
    many m = {.id = id};
    bool done = false;

    add(&m, false, 1500, 0);
    add(&m, false, 1, 0);
    add(&m, false, 1025, 7);
    add(&m, true, 900, 3);
    add(&m, true, 17, 1);
    add(&m, false, 0, 0);
    add(&m, false, 700, 0); /* bits alone: no windows */
    add(&m, false, 2100, 0);
    add(&m, true, 0, 2);
    mix(&m, 2, 20, 40);
    mix(&m, 3, 10, 50);
    mix(&m, 6, 64, 64);
    share(&m, 2, 6); /* of an encoded list and one in place */
    share(&m, 2, 7); /* of two that are encoded, and so made one */
    share(&m, 4, 8);
    if (id == CURVE_ID_BLS12_381) {
        encode(&m, 2);
        encode(&m, 3);
        encode(&m, 7);
    }
    use_buffer(&m, r);
    begin(&m);
    assert_status_ok(cpu_msm_many(r->s, id, m.sums, m.n, &done));
    assert_true(done); /* not one after the other */
    check(&m);
    many_clear(&m);
}

static void test_at_once(void **state)
{
    (void)state;
    for (unsigned t = 0; t < CPU_TABLES; t++) {
        for (unsigned threads = 1; threads <= 3; threads++) {
            rig r;
            if (!cpu_table_supported((cpu_table)t)) continue;
            if (threads != 2 && (cpu_table)t != cpu_table_best()) continue;
            rig_open(&r, (cpu_table)t, threads);
            on_curve(&r, CURVE_ID_BN254);
            on_curve(&r, CURVE_ID_BLS12_381);
            rig_close(&r);
        }
    }
}

/* Too many positions, or too few tasks for these threads: one after the other, and the same. */
static void alone(unsigned threads, size_t n)
{
    many m = {.id = CURVE_ID_BN254};
    bool done = true;
    rig r;

    rig_open(&r, cpu_table_best(), threads);
    add(&m, false, n, 0);
    add(&m, true, 40, 2);
    add(&m, true, 30, 0);
    add(&m, false, 20, 1);
    share(&m, 1, 2);
    share(&m, 0, 3);
    mix(&m, 0, 63, 64);
    begin(&m);
    assert_status_ok(cpu_msm_many(r.s, m.id, m.sums, m.n, &done));
    assert_false(done);
    assert_status_ok(dev_msm_many(r.s, m.id, m.sums, m.n));
    check(&m);
    many_clear(&m);
    rig_close(&r);
}

static void test_one_after_the_other(void **state)
{
    (void)state;
    alone(2, 70001);
    alone(64, 3000);
}

/* What a budget has no room for is not taken, which is no failure; without memory it is one. */
static void test_small_budget(void **state)
{
    many m = {.id = CURVE_ID_BN254};
    device_config config = {.name = "cpu", .table = cpu_table_best()};
    size_t peak;
    bool done = true;
    mem *small;
    device *d;
    dev_stream *s;
    rig r;

    (void)state;
    rig_open(&r, cpu_table_best(), 2);
    add(&m, false, 1500, 0);
    add(&m, true, 1100, 0);
    begin(&m);
    mem_inject_fault(r.m, 2);
    assert_status_is(cpu_msm_many(r.s, m.id, m.sums, m.n, &done), CUZK_ENOMEM);
    mem_inject_fault(r.m, 0);
    assert_false(done);
    mem_reset_peak(r.m);
    assert_status_ok(cpu_msm_many(r.s, m.id, m.sums, m.n, &done));
    assert_true(done);
    peak = mem_peak(r.m);

    assert_status_ok(mem_open(&small, "small", peak - 1, NULL));
    config.pool = r.p;
    config.m = small;
    assert_status_ok(device_open(&d, &config));
    assert_status_ok(dev_stream_open(&s, d, NULL));
    assert_status_ok(cpu_msm_many(s, m.id, m.sums, m.n, &done));
    assert_false(done);
    dev_stream_close(s);
    device_close(d);
    mem_close(small);
    many_clear(&m);
    rig_close(&r);
}

/* A bad point in one of them is told by its place, and nothing stays behind. */
static void test_bad_point(void **state)
{
    many m = {.id = CURVE_ID_BLS12_381};
    rig r;

    (void)state;
    rig_open(&r, cpu_table_best(), 2);
    add(&m, false, 1200, 0);
    add(&m, true, 1100, 0);
    add(&m, false, 1000, 0);
    encode(&m, 1);
    m.encoded[1][1050 * 192 + 191] ^= 1;
    begin(&m);
    assert_status_is(dev_msm_many(r.s, m.id, m.sums, m.n), CUZK_EDATA);
    assert_error_class(CUZK_CLASS_MALFORMED);
    assert_error_mentions("point 1050:");
    m.encoded[1][1050 * 192 + 191] ^= 1;
    assert_status_ok(dev_msm_many(r.s, m.id, m.sums, m.n));
    check(&m);
    many_clear(&m);
    rig_close(&r);
}

static void test_arguments(void **state)
{
    many m = {.id = CURVE_ID_BN254};
    rig r;

    (void)state;
    rig_open(&r, cpu_table_best(), 2);
    add(&m, false, 20, 0);
    add(&m, false, 20, 0);
    begin(&m);
    m.points[1].n = 19;
    assert_status_is(dev_msm_many(r.s, m.id, m.sums, m.n), CUZK_EINVAL);
    m.points[1].n = 20;
    m.sums[1].bases = NULL;
    assert_status_is(dev_msm_many(r.s, m.id, m.sums, m.n), CUZK_EINVAL);
    assert_status_ok(dev_msm_many(r.s, m.id, m.sums, 0));
    many_clear(&m);
    rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_at_once),      cmocka_unit_test(test_one_after_the_other),
        cmocka_unit_test(test_small_budget), cmocka_unit_test(test_bad_point),
        cmocka_unit_test(test_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
