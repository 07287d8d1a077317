/*
 * unit/device/test_ntt.c - transforms against the sum that defines them, against each other, on every table and pool
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "base/u128.h"
#include "device/backend.h"
#include "device/cpu/ntt.h"
#include "unit/device/support.h"

static const ntt_kind all_kinds[] = {NTT_FORWARD, NTT_INVERSE, NTT_COSET_FORWARD, NTT_COSET_INVERSE,
                                     NTT_TO_COSET};
#define KINDS (sizeof all_kinds / sizeof *all_kinds)

typedef struct params {
    curve_id id;
    unsigned gen;
    unsigned shift; /* 0: a root of order 2n, as snarkjs; else this number */
} params;

static const params all_params[] = {
    {CURVE_ID_BN254, 5, 0},     {CURVE_ID_BN254, 5, 1},     {CURVE_ID_BLS12_381, 5, 0},
    {CURVE_ID_BLS12_381, 7, 7}, {CURVE_ID_BLS12_381, 7, 0},
};
#define PARAMS (sizeof all_params / sizeof *all_params)

/* Limits that give one, two and three passes and local twiddles at small sizes; the first are the usual ones. */
static const ntt_limits all_limits[] = {{9, 22}, {0, 28}, {1, 2}, {28, 28}};
#define LIMITS (sizeof all_limits / sizeof *all_limits)

static ntt_domain *domain(rig *r, const params *p, unsigned log_n, ntt_limits limits)
{
    const curve *cv = device_curve(r->d, p->id);
    ntt_domain *dom;
    fr shift;

    if (p->shift == 0)
        cv->fr_root(&shift, p->gen, log_n + 1);
    else
        cv->fr_from_u64(&shift, p->shift);
    assert_status_ok(ntt_domain_new(&dom, r->d, p->id, p->gen, log_n, &shift));
#ifndef RIG_DEVICE /* the CPU backend's */
    if (limits.one_pass != all_limits[0].one_pass ||
        limits.two_passes != all_limits[0].two_passes) {
        r->d->be->domain_free(dom);
        assert_status_ok(ntt_domain_new_with(dom, limits));
    }
#else
    (void)limits;
#endif
    return dom;
}

/* The least size at which the limits leave every pass something to do. */
static unsigned least_log(ntt_limits limits)
{
    return limits.two_passes < 9 ? 3 : limits.one_pass < 9 ? 2 : 0;
}

static void transform(rig *r, const ntt_domain *dom, ntt_kind kind, fr *out, const fr *in)
{
    size_t n = (size_t)1 << dom->log_n;
    dev_buf *b;

    assert_status_ok(dev_buf_new(&b, r->d, n));
    upload(r, b, in, n);
    assert_status_ok(dev_ntt(r->s, b, dom, kind));
    download(r, out, b, n);
    dev_buf_free(b);
}

/* ---- the sums ---- */

/* out[i] = sum of in[j] (shift w^i)^j */
static void evaluate(const curve *cv, fr *out, const fr *in, size_t n, const fr *w, const fr *shift)
{
    fr point = *shift;

    for (size_t i = 0; i < n; i++) {
        fr sum = cv->fr_zero;
        for (size_t j = n; j-- > 0;) {
            cv->fr_mul(&sum, &sum, &point);
            cv->fr_add(&sum, &sum, &in[j]);
        }
        out[i] = sum;
        cv->fr_mul(&point, &point, w);
    }
}

/* out = the coefficients of the polynomial with value in[i] at shift w^i */
static void interpolate(const curve *cv, fr *out, const fr *in, size_t n, const fr *w,
                        const fr *shift)
{
    fr w_inv, s_inv, f;

    cv->fr_inv(&w_inv, w);
    cv->fr_inv(&s_inv, shift);
    evaluate(cv, out, in, n, &w_inv, &cv->fr_one);
    cv->fr_from_u64(&f, n);
    cv->fr_inv(&f, &f);
    for (size_t i = 0; i < n; i++) {
        cv->fr_mul(&out[i], &out[i], &f);
        cv->fr_mul(&f, &f, &s_inv);
    }
}

static void by_definition(const curve *cv, const ntt_domain *dom, ntt_kind kind, fr *out,
                          const fr *in)
{
    size_t n = (size_t)1 << dom->log_n;
    fr w, *tmp = test_array(n, sizeof *tmp);

    cv->fr_root(&w, dom->gen, dom->log_n);
    switch (kind) {
    case NTT_FORWARD: evaluate(cv, out, in, n, &w, &cv->fr_one); break;
    case NTT_INVERSE: interpolate(cv, out, in, n, &w, &cv->fr_one); break;
    case NTT_COSET_FORWARD: evaluate(cv, out, in, n, &w, &dom->shift); break;
    case NTT_COSET_INVERSE: interpolate(cv, out, in, n, &w, &dom->shift); break;
    case NTT_TO_COSET:
        interpolate(cv, tmp, in, n, &w, &cv->fr_one);
        evaluate(cv, out, tmp, n, &w, &dom->shift);
        break;
    default: harness_fail("kind %u", (unsigned)kind);
    }
    free(tmp);
}

static void check_definition(rig *r, const params *p, unsigned log_n, ntt_limits limits)
{
    const curve *cv = device_curve(r->d, p->id);
    size_t n = (size_t)1 << log_n;
    fr *in = test_array(n, sizeof *in), *want = test_array(n, sizeof *in);
    fr *got = test_array(n, sizeof *in);
    ntt_domain *dom = domain(r, p, log_n, limits);

    random_frs(cv, in, n);
    for (size_t k = 0; k < KINDS; k++) {
        by_definition(cv, dom, all_kinds[k], want, in);
        transform(r, dom, all_kinds[k], got, in);
        assert_bytes_equal(got, want, n * sizeof *got);
    }
    ntt_domain_free(dom);
    free(in);
    free(want);
    free(got);
}

static void test_definition(void **state)
{
    (void)state;
    for (unsigned t = 0; t < CPU_TABLES; t++) {
        rig r;
        if (!cpu_table_supported((cpu_table)t)) continue;
        rig_open(&r, (cpu_table)t, 1);
        for (size_t p = 0; p < PARAMS; p++)
            for (size_t l = 0; l < LIMITS; l++)
                for (unsigned log_n = least_log(all_limits[l]); log_n <= 7; log_n++)
                    check_definition(&r, &all_params[p], log_n, all_limits[l]);
        rig_close(&r);
    }
}

/* ---- larger sizes: values at single points, and laws ---- */

static void value_at(const curve *cv, fr *out, const fr *in, size_t n, const fr *point)
{
    fr sum = cv->fr_zero;

    for (size_t j = n; j-- > 0;) {
        cv->fr_mul(&sum, &sum, point);
        cv->fr_add(&sum, &sum, &in[j]);
    }
    *out = sum;
}

static void check_values(const curve *cv, const ntt_domain *dom, const fr *coeffs, const fr *values,
                         const fr *shift)
{
    size_t n = (size_t)1 << dom->log_n;
    fr w, point, want;

    cv->fr_root(&w, dom->gen, dom->log_n);
    for (int round = 0; round < 3; round++) {
        size_t i = round == 0 ? n - 1 : (size_t)harness_random_below(n);
        cv->fr_pow_var(&point, &w, i);
        cv->fr_mul(&point, &point, shift);
        value_at(cv, &want, coeffs, n, &point);
        assert_bytes_equal(&values[i], &want, sizeof want);
    }
}

static void check_laws(rig *r, const params *p, unsigned log_n, ntt_limits limits)
{
    const curve *cv = device_curve(r->d, p->id);
    size_t n = (size_t)1 << log_n;
    fr *in = test_array(n, sizeof *in), *x = test_array(n, sizeof *in);
    fr *y = test_array(n, sizeof *in);
    ntt_domain *dom = domain(r, p, log_n, limits);

    random_frs(cv, in, n);
    transform(r, dom, NTT_FORWARD, x, in);
    check_values(cv, dom, in, x, &cv->fr_one);
    transform(r, dom, NTT_COSET_FORWARD, y, in);
    check_values(cv, dom, in, y, &dom->shift);
    transform(r, dom, NTT_TO_COSET, x, x);
    assert_bytes_equal(x, y, n * sizeof *x);
    transform(r, dom, NTT_COSET_INVERSE, x, x);
    assert_bytes_equal(x, in, n * sizeof *x);
    transform(r, dom, NTT_INVERSE, x, x);
    transform(r, dom, NTT_FORWARD, x, x);
    assert_bytes_equal(x, in, n * sizeof *x);

    ntt_domain_free(dom);
    free(in);
    free(x);
    free(y);
}

static void test_laws(void **state)
{
    unsigned top = harness_level() == HARNESS_CHECK ? 13 : 16;
    rig r;

    (void)state;
    rig_open(&r, cpu_table_best(), 2);
    for (unsigned log_n = 8; log_n <= top; log_n++)
        for (size_t p = 0; p < PARAMS; p++)
            check_laws(&r, &all_params[p], log_n, all_limits[(log_n + p) % LIMITS]);
    rig_close(&r);
}

/* The default plan at sizes with two uneven passes, and with three and twiddles made by the last. */
static void test_large(void **state)
{
    static const unsigned logs[] = {19, 23, 20, 21, 22, 24};
    static const size_t how_many[] = {[HARNESS_CHECK] = 1, [HARNESS_ALL] = 2, [HARNESS_LONG] = 6};
    rig r;

    (void)state;
    rig_open(&r, cpu_table_best(), 2);
    for (size_t i = 0; i < how_many[harness_level()]; i++)
        check_laws(&r, &all_params[i % PARAMS], logs[i], all_limits[0]);
    rig_close(&r);
}

/* ---- every table and any number of threads give the same bits ---- */

static void test_tables_and_threads(void **state)
{
    static const unsigned logs[] = {0, 1, 4, 6, 7, 9, 10, 11, 13, 18};

    (void)state;
    for (size_t p = 0; p < PARAMS; p++) {
        for (size_t i = 0; i < sizeof logs / sizeof *logs; i++) {
            /* 2^18: three passes that eight lanes can do, with twiddles made by the last; once a curve */
            if (logs[i] > 13 && p > 0 && all_params[p].id == all_params[p - 1].id) continue;
            size_t n = (size_t)1 << logs[i];
            fr *in = test_array(n, sizeof *in), *got = test_array(n, sizeof *in);
            fr *want[KINDS] = {NULL};

            for (unsigned run = 0; run < 3 * CPU_TABLES; run++) {
                cpu_table t = (cpu_table)(run / 3);
                ntt_domain *dom;
                rig r;
                if (!cpu_table_supported(t)) continue;
                rig_open(&r, t, run % 3 + 1);
                if (run == 0) random_frs(device_curve(r.d, all_params[p].id), in, n);
                dom =
                    domain(&r, &all_params[p], logs[i], all_limits[run % 2 == 0 || n < 8 ? 0 : 2]);
                for (size_t k = 0; k < KINDS; k++) {
                    transform(&r, dom, all_kinds[k], got, in);
                    if (want[k] == NULL) {
                        want[k] = test_array(n, sizeof *in);
                        memcpy(want[k], got, n * sizeof *in);
                    }
                    assert_bytes_equal(got, want[k], n * sizeof *in);
                }
                ntt_domain_free(dom);
                rig_close(&r);
            }
            for (size_t k = 0; k < KINDS; k++) free(want[k]);
            free(in);
            free(got);
        }
    }
}

/* Values near the modulus, all equal, and zero: nothing overflows in lazy forms. */
static void test_edges(void **state)
{
    (void)state;
    for (unsigned t = 0; t < CPU_TABLES; t++) {
        rig r;
        if (!cpu_table_supported((cpu_table)t)) continue;
        rig_open(&r, (cpu_table)t, 1);
        for (size_t p = 0; p < PARAMS; p++) {
            const curve *cv = device_curve(r.d, all_params[p].id);
            ntt_domain *dom = domain(&r, &all_params[p], 6, all_limits[0]);
            fr in[64], got[64], want[64], minus_one;

            cv->fr_neg(&minus_one, &cv->fr_one);
            for (int shape = 0; shape < 4; shape++) {
                for (int i = 0; i < 64; i++) {
                    memcpy(&in[i], cv->r_le, sizeof in[i]); /* limbs of r - 1 */
                    in[i].l[0]--;
                    if (shape == 1 || (shape == 2 && i % 2 != 0)) in[i] = cv->fr_zero;
                    if (shape == 3 && i % 3 != 0) in[i] = minus_one;
                }
                for (size_t k = 0; k < KINDS; k++) {
                    by_definition(cv, dom, all_kinds[k], want, in);
                    transform(&r, dom, all_kinds[k], got, in);
                    assert_bytes_equal(got, want, sizeof got);
                }
            }
            ntt_domain_free(dom);
        }
        rig_close(&r);
    }
}

/* ---- doors, failures ---- */

static void test_doors(void **state)
{
    rig r;
    ntt_domain *dom;
    dev_buf *b;
    fr zero = {{0}}, two;

    (void)state;
    rig_open(&r, CPU_TABLE_GENERIC, 1);
    assert_status_is(ntt_domain_new(&dom, r.d, CURVE_ID_BN254, 5, 29, NULL), CUZK_EINVAL);
    assert_error_mentions("2^29 points, limit 2^28");
    assert_status_is(ntt_domain_new(&dom, r.d, CURVE_IDS, 5, 3, NULL), CUZK_EINVAL);
    assert_status_is(ntt_domain_new(&dom, r.d, CURVE_ID_BN254, 4, 3, NULL), CUZK_EINVAL);
    assert_error_mentions("4 is a square");
    assert_status_is(ntt_domain_new(&dom, r.d, CURVE_ID_BN254, 5, 3, &zero), CUZK_EINVAL);
    assert_status_is(ntt_domain_new(NULL, r.d, CURVE_ID_BN254, 5, 3, NULL), CUZK_EINVAL);
    device_curve(r.d, CURVE_ID_BN254)->fr_from_u64(&two, 2);
    assert_status_ok(ntt_domain_new(&dom, r.d, CURVE_ID_BN254, 5, 3, &two));
    assert_status_ok(dev_buf_new(&b, r.d, 7));
    assert_status_is(dev_ntt(r.s, b, dom, NTT_FORWARD), CUZK_EINVAL);
    assert_error_mentions("ntt: elements 0 + 8 of a buffer of 7");
    dev_buf_free(b);
    assert_status_ok(dev_buf_new(&b, r.d, 9));
    assert_status_is(dev_ntt(r.s, b, NULL, NTT_FORWARD), CUZK_EINVAL);
    assert_status_is(dev_ntt(NULL, b, dom, NTT_FORWARD), CUZK_EINVAL);
    assert_status_is(dev_ntt(r.s, b, dom, (ntt_kind)5), CUZK_EINVAL);
    assert_status_ok(dev_upload(r.s, b, 8, &two, 1));
    assert_status_ok(dev_ntt(r.s, b, dom, NTT_TO_COSET));
    assert_status_ok(dev_download(r.s, &zero, b, 8, 1));
    assert_bytes_equal(&zero, &two, sizeof two); /* beyond the size: not touched */
    dev_buf_free(b);
    ntt_domain_free(dom);
    ntt_domain_free(NULL);
    rig_close(&r);
}

static void test_no_shift_is_one(void **state)
{
    rig r;
    ntt_domain *dom;

    (void)state;
    rig_open(&r, CPU_TABLE_GENERIC, 1);
    assert_status_ok(ntt_domain_new(&dom, r.d, CURVE_ID_BN254, 5, 3, NULL));
    assert_memory_equal(&dom->shift, &device_curve(r.d, CURVE_ID_BN254)->fr_one, sizeof(fr));
    ntt_domain_free(dom);
    rig_close(&r);
}

static void test_allocation_faults(void **state)
{
    rig r;
    fr in[1024], out[1024];
    unsigned long k;

    (void)state;
    rig_open(&r, CPU_TABLE_GENERIC, 2);
    random_frs(device_curve(r.d, CURVE_ID_BN254), in, 1024);
    for (k = 1;; k++) {
        ntt_domain *dom = NULL;
        dev_buf *b = NULL;
        cuzk_status st;
        size_t before = mem_used(r.m);

        mem_inject_fault(r.m, k);
        st = ntt_domain_new(&dom, r.d, CURVE_ID_BN254, 5, 10, NULL);
        if (st == CUZK_OK) st = dev_buf_new(&b, r.d, 1024);
        if (st == CUZK_OK) st = dev_upload(r.s, b, 0, in, 1024);
        if (st == CUZK_OK) st = dev_ntt(r.s, b, dom, NTT_TO_COSET);
        if (st == CUZK_OK) st = dev_download(r.s, out, b, 0, 1024);
        dev_buf_free(b);
        ntt_domain_free(dom);
        assert_int_equal(mem_used(r.m), before);
        if (!mem_fault_hit(r.m)) {
            assert_int_equal(st, CUZK_OK);
            break;
        }
        assert_int_equal(st, CUZK_ENOMEM);
    }
    mem_inject_fault(r.m, 0);
#ifndef RIG_DEVICE
    assert_true(k > 10); /* domain, tables, buffer, scratch */
#endif
    assert_memory_equal(in, out, sizeof in); /* shift 1: nothing moves */
    rig_close(&r);
}

static void test_cancel(void **state)
{
    rig r;
    ntt_domain *dom;
    dev_stream *s;
    dev_buf *b;
    cancel *c;

    (void)state;
    rig_open(&r, CPU_TABLE_GENERIC, 2);
    assert_status_ok(cancel_new(&c));
    assert_status_ok(dev_stream_open(&s, r.d, c));
    assert_status_ok(ntt_domain_new(&dom, r.d, CURVE_ID_BN254, 5, 12, NULL));
    assert_status_ok(dev_buf_new(&b, r.d, 4096));
    assert_status_ok(dev_ntt(s, b, dom, NTT_FORWARD));
    cancel_request(c);
    for (size_t k = 0; k < KINDS; k++)
        assert_status_is(dev_ntt(s, b, dom, all_kinds[k]), CUZK_ECANCELLED);
    dev_buf_free(b);
    ntt_domain_free(dom);
    dev_stream_close(s);
    cancel_free(c);
    rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_definition),
        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_laws),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_tables_and_threads),
        cmocka_unit_test(test_doors),
        cmocka_unit_test(test_no_shift_is_one),
        cmocka_unit_test(test_allocation_faults),
        cmocka_unit_test(test_cancel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
