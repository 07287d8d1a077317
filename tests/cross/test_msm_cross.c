/*
 * cross/test_msm_cross.c - sums of points and multiples of one point: every CPU table against the portable one
 *
 * Points as affine bytes, so equality is exact. Inputs are the random and the adversarial ones of the unit tests, at
 * sizes where every path runs: several windows, groups, slices and blocks.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "device/device.h"
#include "harness/harness.h"

#define N ((size_t)5000)

typedef struct subject {
    mem *m;
    pool *p;
    device *d;
    dev_stream *s;
} subject;

static void subject_open(subject *t, cpu_table table, unsigned threads)
{
    device_config config = {.name = "cpu", .table = table};

    assert_status_ok(mem_open(&t->m, "cross", 0, NULL));
    assert_status_ok(pool_open(&t->p, threads, NULL));
    config.pool = t->p;
    config.m = t->m;
    assert_status_ok(device_open(&t->d, &config));
    assert_status_ok(dev_stream_open(&t->s, t->d, NULL));
}

static void subject_close(subject *t)
{
    dev_stream_close(t->s);
    device_close(t->d);
    pool_close(t->p);
    mem_close(t->m);
}

static void random_element(const curve *cv, fr *out)
{
    scalar s;

    do harness_random_bytes(&s, sizeof s);
    while (!cv->fr_from_scalar(out, &s));
}

/* ---- inputs ---- */

typedef enum kind {
    UNIFORM,
    WITNESS, /* half 0 or 1, some small, some full */
    EQUAL,   /* one scalar */
    SIGNS,   /* 0, 1, -1 */
    KINDS
} kind;

static void make_scalars(const curve *cv, fr *k, size_t n, kind what)
{
    fr one;

    random_element(cv, &one);
    for (size_t i = 0; i < n; i++) {
        uint64_t x = harness_random_below(16);
        random_element(cv, &k[i]);
        switch (what) {
        case UNIFORM: break;
        case WITNESS:
            if (x < 8) cv->fr_from_u64(&k[i], x & 1);
            if (x >= 8 && x < 12) cv->fr_from_u64(&k[i], harness_random_u64() >> (4 * x));
            break;
        case EQUAL: k[i] = one; break;
        case SIGNS:
        case KINDS:
            cv->fr_from_u64(&k[i], x < 10 ? 1 : 0);
            if (x < 5) cv->fr_neg(&k[i], &k[i]);
            break;
        }
    }
}

/* Points that are equal, opposite or infinity now and then. */
static void disturb(const curve *cv, uint8_t *points, size_t n, bool g2)
{
    size_t size = g2 ? cv->g2_size : cv->g1_size;

    for (size_t i = 1; i < n; i++) {
        uint8_t *p = points + i * size;
        g2_any a = {{0}};
        switch (harness_random_below(20)) {
        case 0: memset(p, 0, size); break;
        case 1: memcpy(p, p - size, size); break;
        case 2:
            memcpy(&a, p - size, size);
            if (g2) {
                cv->g2_neg(&a, &a);
            } else {
                g1_any b;
                memcpy(&b, &a, sizeof b);
                cv->g1_neg(&b, &b);
                memcpy(&a, &b, sizeof b);
            }
            memcpy(p, &a, size);
            break;
        default: break;
        }
    }
}

static void multiples(const subject *t, uint8_t *out, curve_id id, bool g2, const fr *k, size_t n)
{
    const curve *cv = device_curve(t->d, id);

    if (g2) {
        assert_status_ok(dev_fixed_base_g2(t->s, out, POINT_LEM, id, &cv->g2_gen, k, n, NULL));
    } else {
        assert_status_ok(dev_fixed_base_g1(t->s, out, POINT_LEM, id, &cv->g1_gen, k, n, NULL));
    }
}

static void sum(const subject *t, g2_any *out, curve_id id, const dev_points *b,
                const dev_scalars *k)
{
    memset(out, 0, sizeof *out);
    if (b->g2) {
        assert_status_ok(dev_msm_g2(t->s, out, id, b, 0, k));
    } else {
        g1_any r;
        assert_status_ok(dev_msm_g1(t->s, &r, id, b, 0, k));
        memcpy(out, &r, sizeof r);
    }
}

/* ---- the comparison ---- */

static void compare(const subject *judge, const subject *t, curve_id id, bool g2)
{
    const curve *cv = device_curve(judge->d, id);
    size_t size = g2 ? cv->g2_size : cv->g1_size, n = g2 ? N / 3 : N;
    uint8_t *points = malloc(n * size), *again = malloc(n * size);
    fr *k = malloc(n * sizeof *k);

    assert_true(points != NULL && again != NULL && k != NULL);
    make_scalars(cv, k, n, UNIFORM);
    multiples(judge, points, id, g2, k, n);
    multiples(t, again, id, g2, k, n);
    assert_bytes_equal(again, points, n * size);
    disturb(cv, points, n, g2);
    for (unsigned what = 0; what < KINDS; what++) {
        size_t len = harness_random_below(n + 1);
        dev_points b = {.data = points, .n = n, .enc = POINT_LEM, .g2 = g2};
        dev_scalars s = {.n = what == UNIFORM ? n : len, .elems = k};
        g2_any want, got;
        make_scalars(cv, k, n, (kind)what);
        sum(judge, &want, id, &b, &s);
        sum(t, &got, id, &b, &s);
        assert_bytes_equal(&got, &want, size);
    }
    free(points);
    free(again);
    free(k);
}

static void test_tables(void **state)
{
    subject judge;
    unsigned compared = 0;

    (void)state;
    subject_open(&judge, CPU_TABLE_GENERIC, 1);
    for (unsigned table = 0; table < CPU_TABLES; table++) {
        subject t;
        if (!cpu_table_supported((cpu_table)table)) {
            print_message("not run on this machine: %s\n", cpu_table_name((cpu_table)table));
            continue;
        }
        subject_open(&t, (cpu_table)table, 2 + table); /* the portable one with other threads */
        for (unsigned id = 0; id < CURVE_IDS; id++)
            for (int g2 = 0; g2 < 2; g2++) compare(&judge, &t, (curve_id)id, g2 == 1);
        subject_close(&t);
        compared++;
    }
    subject_close(&judge);
    if (compared < CPU_TABLES) harness_skip("%u of %u tables", compared, (unsigned)CPU_TABLES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tables)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
