/*
 * unit/device/test_msm.c - sums of multiples of points: sizes, classes of scalars, points that repeat
 *
 * Bases are known multiples of the generator, so a sum of any length has one right answer that one multiplication
 * finds; short sums are also compared with double-and-add, term by term.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "unit/device/msm_support.h"

#include "device/cpu/msm_digits.h"

typedef void (*sum_test)(const rig *r, curve_id id, const group *g);

/* fn for both groups of both curves. */
static void on_groups(sum_test fn, cpu_table table, unsigned threads)
{
    rig r;

    rig_open(&r, table, threads);
    for (unsigned id = 0; id < CURVE_IDS; id++) {
        for (int g2 = 0; g2 < 2; g2++) {
            group g = group_of((curve_id)id, g2 == 1);
            fn(&r, (curve_id)id, &g);
        }
    }
    rig_close(&r);
}

/* On every table; the number of threads is another one for each. */
static void on_tables(sum_test fn)
{
    for (unsigned t = 0; t < CPU_TABLES; t++)
        if (cpu_table_supported((cpu_table)t)) on_groups(fn, (cpu_table)t, 2 - t % 2);
}

static void check_sum(const rig *r, curve_id id, const bases *b, size_t first, values *v)
{
    any_point want = expected_sum(b, first, v), got;

    values_pack(v);
    got = device_sum(r, id, b, first, v);
    assert_points_equal(b->g, &got, &want);
}

/* ---- sizes ---- */

static void sizes(const rig *r, curve_id id, const group *g)
{
    /* around a word, a range of positions, a block of points */
    static const size_t sizes_of[] = {0,    1,    2,    3,    5,    63,   64,  65,
                                      1023, 1024, 1025, 2047, 2048, 2049, 3001};
    size_t n_sizes = sizeof sizes_of / sizeof *sizes_of - (g->g2 ? 4 : 0);
    bases b;

    bases_init(&b, g, 3001, 0);
    for (size_t i = 0; i < n_sizes; i++) {
        values v;
        values_init(&v, g->cv, sizes_of[i]);
        check_sum(r, id, &b, 0, &v);
        values_clear(&v);
    }
    bases_clear(&b);
}

static void test_sizes(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 3; threads++) on_groups(sizes, cpu_table_best(), threads);
}

static void against_double_and_add(const rig *r, curve_id id, const group *g)
{
    bases b;

    bases_init(&b, g, 6, 0);
    for (size_t n = 0; n <= 6; n++) {
        any_point want, got;
        values v;
        memset(&want, 0, sizeof want);
        values_init(&v, g->cv, n);
        for (size_t i = 0; i < n; i++) {
            any_point p, t;
            memcpy(&p, b.lem + i * g->size, g->size);
            t = point_mul(g, &p, &v.v[i]);
            want = point_add(g, &want, &t);
        }
        values_pack(&v);
        got = device_sum(r, id, &b, 0, &v);
        assert_points_equal(g, &got, &want);
        values_clear(&v);
    }
    bases_clear(&b);
}

static void test_against_double_and_add(void **state)
{
    (void)state;
    on_tables(against_double_and_add);
}

/* One position more and less than a chunk (2^18 in place), nearly all scalars bits. */
static void test_chunk_borders(void **state)
{
    static const size_t sizes_of[] = {262143, 262144, 262145, 600001};
    group g = group_of(CURVE_ID_BN254, false);
    bases b;
    rig r;

    (void)state;
    rig_open(&r, cpu_table_best(), 2);
    bases_init(&b, &g, 600001, 500);
    for (size_t i = 0; i < sizeof sizes_of / sizeof *sizes_of; i++) {
        values v;
        values_init(&v, g.cv, sizes_of[i]);
        for (size_t k = 0; k < v.n; k++) {
            v.is_bit[k] = k % 1000 != 3 && k + 70 < v.n;
            if (v.is_bit[k]) v.v[k] = k % 7 == 0 ? g.cv->fr_one : g.cv->fr_zero;
        }
        check_sum(&r, CURVE_ID_BN254, &b, 0, &v);
        values_clear(&v);
    }
    bases_clear(&b);
    rig_close(&r);
}

/* ---- rows ---- */

/* Rows of lengths around that at which the lanes' rows are cut (63), in no order; each value is a digit of its own. */
static void row_lengths(const rig *r, curve_id id, const group *g)
{
    static const size_t lengths[] = {1, 127, 2, 64, 63, 65, 62, 126, 7, 128, 191, 8};
    const size_t n_rows = sizeof lengths / sizeof *lengths;
    size_t n = 0, at = 0;
    bases b;
    values v;

    for (size_t i = 0; i < n_rows; i++) n += lengths[i];
    bases_init(&b, g, n, 0);
    values_init(&v, g->cv, n);
    for (size_t k = 0; k < 191; k++)
        for (size_t i = 0; i < n_rows; i++)
            if (k < lengths[i]) g->cv->fr_from_u64(&v.v[at++], i + 2);
    assert_int_equal(at, n);
    check_sum(r, id, &b, 0, &v);
    values_clear(&v);
    bases_clear(&b);
}

static void test_row_lengths(void **state)
{
    (void)state;
    on_tables(row_lengths);
}

/* One row alone, of more points than a slice keeps pieces of; points repeat, also negated and as infinity. */
static void long_row(const rig *r, curve_id id, const group *g)
{
    const size_t n = 150001, period = 97;
    bases b;
    values v;

    if (g->g2) return;
    bases_init(&b, g, n, period);
    for (size_t i = period; i < n; i++) {
        if (i % 5 == 1) bases_set(&b, i, &b, i % period, true);
        if (i % 1001 == 3) bases_set_inf(&b, i);
    }
    values_init(&v, g->cv, n);
    for (size_t i = 0; i < n; i++) {
        v.is_bit[i] = true;
        v.v[i] = g->cv->fr_one;
    }
    check_sum(r, id, &b, 0, &v);
    values_clear(&v);
    bases_clear(&b);
}

static void test_long_row(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 2; threads++)
        on_groups(long_row, cpu_table_best(), threads);
}

/* ---- scalars ---- */

static void scalar_kinds(const rig *r, curve_id id, const group *g)
{
    const size_t n = g->g2 ? 700 : 2500;
    const curve *cv = g->cv;
    bases b;
    values v;
    fr minus, two, half, k;

    cv->fr_neg(&minus, &cv->fr_one);
    cv->fr_from_u64(&two, 2);
    cv->fr_inv(&half, &two); /* (r + 1) / 2: the smallest that is negated */
    bases_init(&b, g, n, 0);
    values_init(&v, cv, n);
    random_fr(cv, &k);
    const fr all[] = {cv->fr_zero, cv->fr_one, minus, two, half, k};
    for (size_t a = 0; a < sizeof all / sizeof *all; a++) {
        for (size_t i = 0; i < n; i++) v.v[i] = all[a];
        check_sum(r, id, &b, 0, &v);
    }
    for (size_t i = 0; i < n; i++) v.v[i] = all[i % (sizeof all / sizeof *all)];
    check_sum(r, id, &b, 0, &v);
    values_clear(&v);
    bases_clear(&b);
}

static void test_scalar_kinds(void **state)
{
    (void)state;
    on_tables(scalar_kinds);
}

/* v = low + 2^64 high */
static fr from_two_words(const curve *cv, uint64_t low, uint64_t high)
{
    fr r, t, two_32;

    cv->fr_from_u64(&r, high);
    cv->fr_from_u64(&two_32, UINT64_C(1) << 32);
    cv->fr_mul(&r, &r, &two_32);
    cv->fr_mul(&r, &r, &two_32);
    cv->fr_from_u64(&t, low);
    cv->fr_add(&r, &r, &t);
    return r;
}

/* Around powers of two, where digits carry and classes change, positive and negative. */
static void edge_values(const rig *r, curve_id id, const group *g)
{
    const curve *cv = g->cv;
    const size_t n = 6 * 254;
    bases b;
    values v;
    fr power = cv->fr_one;

    bases_init(&b, g, n, 0);
    values_init(&v, cv, n);
    for (size_t i = 0; i < n; i += 6) {
        fr *x = &v.v[i];
        x[0] = power;
        cv->fr_sub(&x[1], &power, &cv->fr_one);
        cv->fr_add(&x[2], &power, &cv->fr_one);
        for (int k = 0; k < 3; k++) cv->fr_neg(&x[k + 3], &x[k]);
        cv->fr_add(&power, &power, &power);
    }
    check_sum(r, id, &b, 0, &v);
    /* small ones alone: 62 bits and a little more */
    for (size_t i = 0; i < n; i++) {
        uint64_t low = harness_random_u64() >> harness_random_below(64);
        v.v[i] = from_two_words(cv, low, i % 16 == 0 ? harness_random_below(3) : 0);
        if (i % 3 == 0) cv->fr_neg(&v.v[i], &v.v[i]);
    }
    check_sum(r, id, &b, 0, &v);
    values_clear(&v);
    bases_clear(&b);
}

static void test_edge_values(void **state)
{
    (void)state;
    on_tables(edge_values);
}

/* Every window size: digits put together again give the value. */
static void test_digits(void **state)
{
    (void)state;
    for (unsigned id = 0; id < CURVE_IDS; id++) {
        const curve *cv = curve_get((curve_id)id, CPU_TABLE_GENERIC);
        for (unsigned c = MSM_MIN_C; c <= MSM_MAX_C; c++) {
            msm_digits d;
            msm_digits_init(&d, cv, c);
            assert_in_range(d.windows, 1, MSM_MAX_WINDOWS);
            for (size_t round = 0; round < harness_iters(200); round++) {
                fr k, sum = cv->fr_zero, digit, base;
                scalar s;
                uint64_t l[4];
                bool negative;
                random_fr(cv, &k);
                if (round % 4 == 0) k = from_two_words(cv, harness_random_u64() >> 2, 0);
                cv->fr_to_scalar(&s, &k);
                for (int i = 0; i < 4; i++) l[i] = load_u64le(s.b + 8 * i);
                negative = msm_take_sign(&d, l);
                msm_add_bias(&d, l, l);
                cv->fr_from_u64(&base, UINT64_C(1) << c);
                for (size_t w = d.windows; w-- > 0;) {
                    msm_window x = msm_window_at(&d, w);
                    int32_t v = msm_digit(&x, l);
                    assert_true(v >= -d.half && v <= d.half);
                    if (round % 4 == 0 && w >= d.small_windows) assert_int_equal(v, 0);
                    cv->fr_from_u64(&digit, (uint64_t)(v < 0 ? -v : v));
                    if (v < 0) cv->fr_neg(&digit, &digit);
                    cv->fr_mul(&sum, &sum, &base);
                    cv->fr_add(&sum, &sum, &digit);
                }
                if (negative) cv->fr_neg(&sum, &sum);
                assert_true(cv->fr_eq(&sum, &k));
            }
        }
    }
}

/* ---- points ---- */

static void point_kinds(const rig *r, curve_id id, const group *g)
{
    const size_t n = g->g2 ? 600 : 2100;
    bases b, one;
    values v;

    bases_init(&one, g, 2, 0);
    bases_init(&b, g, n, 0);
    for (int kind = 0; kind < 5; kind++) {
        for (size_t i = 0; i < n; i++) {
            switch (kind) {
            case 0: bases_set(&b, i, &one, 0, false); break;          /* all equal */
            case 1: bases_set(&b, i, &one, 0, i % 2 == 1); break;     /* P, -P, P, ... */
            case 2: bases_set(&b, i, &one, i & 1, i % 3 == 0); break; /* two points, both signs */
            case 3:
                if (i / 100 % 2 == 0) bases_set_inf(&b, i);
                break; /* runs of infinity */
            default: bases_set_inf(&b, i); break;
            }
        }
        values_init(&v, g->cv, n);
        check_sum(r, id, &b, 0, &v);
        for (size_t i = 0; i < n; i++) v.v[i] = v.v[0]; /* all in one bucket of each window */
        check_sum(r, id, &b, 0, &v);
        for (size_t i = 0; i < n; i++) {
            v.is_bit[i] = true;
            v.v[i] = g->cv->fr_one;
        }
        check_sum(r, id, &b, 0, &v);
        values_clear(&v);
    }
    bases_clear(&b);
    bases_clear(&one);
}

static void test_point_kinds(void **state)
{
    (void)state;
    on_tables(point_kinds);
}

/* (0, 2) is on BLS12-381's curve and has order 3: a coordinate that is zero is not infinity. */
static void test_zero_coordinate(void **state)
{
    group g = group_of(CURVE_ID_BLS12_381, false);
    const curve *cv = g.cv;
    any_point p, minus;
    const char *two[2] = {"0", "2"};
    size_t len[2] = {1, 1};

    (void)state;
    memset(&p, 0, sizeof p);
    assert_int_equal(cv->g1_from_dec(&p.g1, two, len), POINT_OK);
    minus = point_neg(&g, &p);
    for (unsigned t = 0; t < CPU_TABLES; t++) {
        if (!cpu_table_supported((cpu_table)t)) continue;
        for (size_t n = 1; n < 20; n++) {
            bases b;
            values v;
            any_point got, want;
            rig r;
            rig_open(&r, (cpu_table)t, 1);
            bases_init(&b, &g, n, 0);
            values_init(&v, cv, n);
            for (size_t i = 0; i < n; i++) {
                memcpy(b.lem + i * g.size, &p, g.size);
                v.is_bit[i] = true;
                v.v[i] = cv->fr_one;
            }
            values_pack(&v);
            memset(&want, 0, sizeof want);
            if (n % 3 == 1) want = p;
            if (n % 3 == 2) want = minus;
            got = device_sum(&r, CURVE_ID_BLS12_381, &b, 0, &v);
            assert_points_equal(&g, &got, &want);
            values_clear(&v);
            bases_clear(&b);
            rig_close(&r);
        }
    }
}

/* ---- packed scalars ---- */

/* Bits and elements mixed at every density, with holes, from some base on. */
static void mixtures(const rig *r, curve_id id, const group *g)
{
    const curve *cv = g->cv;
    const size_t n_bases = 2300;
    bases b;

    bases_init(&b, g, n_bases, 400);
    for (size_t round = 0; round < harness_iters(g->g2 ? 4 : 8); round++) {
        size_t first = harness_random_below(40);
        size_t n = round == 0 ? n_bases - first : harness_random_below(n_bases - first + 1);
        uint64_t bits = harness_random_below(65), ones = harness_random_below(65);
        uint64_t part = round % 2 == 0 ? 64 : harness_random_below(65);
        values v;
        values_init(&v, cv, n);
        for (size_t i = 0; i < n; i++) {
            v.selected[i] = harness_random_below(64) < part;
            v.is_bit[i] = harness_random_below(64) < bits;
            if (!v.is_bit[i]) continue;
            v.v[i] = harness_random_below(64) < ones ? cv->fr_one : cv->fr_zero;
        }
        check_sum(r, id, &b, first, &v);
        values_clear(&v);
    }
    bases_clear(&b);
}

static void test_mixtures(void **state)
{
    (void)state;
    on_tables(mixtures);
}

/* The H sum: scalars that lie in a device buffer. */
static void test_scalars_in_a_buffer(void **state)
{
    const size_t n = 300;
    group g = group_of(CURVE_ID_BN254, false);
    any_point want, got;
    bases b;
    values v;
    dev_buf *buf;
    rig r;

    (void)state;
    rig_open(&r, cpu_table_best(), 2);
    bases_init(&b, &g, n, 0);
    values_init(&v, g.cv, n);
    assert_status_ok(dev_buf_new(&buf, r.d, n));
    upload(&r, buf, v.v, n);
    want = expected_sum(&b, 0, &v);
    memset(&got, 0, sizeof got);
    dev_points points = {.data = b.lem, .n = n, .enc = POINT_LEM};
    assert_status_ok(dev_msm_g1_buf(r.s, &got.g1, CURVE_ID_BN254, &points, 0, buf, n));
    assert_points_equal(&g, &got, &want);
    upload(&r, buf, v.v + 64, n - 64); /* a range of it */
    any_point rest = {0}, first = {0};
    assert_status_ok(dev_msm_g1_buf(r.s, &rest.g1, CURVE_ID_BN254, &points, 64, buf, n - 64));
    upload(&r, buf, v.v, 64);
    assert_status_ok(dev_msm_g1_buf(r.s, &first.g1, CURVE_ID_BN254, &points, 0, buf, 64));
    g.cv->g1_add(&got.g1, &rest.g1, &first.g1);
    assert_points_equal(&g, &got, &want);
    dev_buf_free(buf);
    values_clear(&v);
    bases_clear(&b);
    rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),         cmocka_unit_test(test_against_double_and_add),
        cmocka_unit_test(test_chunk_borders), cmocka_unit_test(test_scalar_kinds),
        cmocka_unit_test(test_row_lengths),   cmocka_unit_test(test_long_row),
        cmocka_unit_test(test_edge_values),   cmocka_unit_test(test_digits),
        cmocka_unit_test(test_point_kinds),   cmocka_unit_test(test_zero_coordinate),
        cmocka_unit_test(test_mixtures),      cmocka_unit_test(test_scalars_in_a_buffer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
