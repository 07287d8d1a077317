/*
 * unit/device/test_vec.c - element-wise operations against the curve's own arithmetic, at sizes around task borders
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "unit/device/support.h"

#include "device/cpu/cpu.h"

static const size_t sizes[] = {0, 1, 2, 5, 4095, 4096, 4097, 8193};
#define SIZES (sizeof sizes / sizeof *sizes)

typedef struct operands {
    size_t n;
    fr *a, *b, *c, *want;
    dev_buf *da, *db, *dc;
} operands;

static void operands_new(operands *o, rig *r, const curve *cv, size_t n)
{
    o->n = n;
    o->a = test_array(n, sizeof(fr));
    o->b = test_array(n, sizeof(fr));
    o->c = test_array(n, sizeof(fr));
    o->want = test_array(n, sizeof(fr));
    random_frs(cv, o->a, n);
    random_frs(cv, o->b, n);
    random_frs(cv, o->c, n);
    assert_status_ok(dev_buf_new(&o->da, r->d, n));
    assert_status_ok(dev_buf_new(&o->db, r->d, n));
    assert_status_ok(dev_buf_new(&o->dc, r->d, n));
    upload(r, o->da, o->a, n);
    upload(r, o->db, o->b, n);
    upload(r, o->dc, o->c, n);
}

static void operands_free(operands *o)
{
    dev_buf_free(o->da);
    dev_buf_free(o->db);
    dev_buf_free(o->dc);
    free(o->a);
    free(o->b);
    free(o->c);
    free(o->want);
}

static void check_buf(rig *r, const dev_buf *b, const fr *want, size_t n)
{
    fr *got = test_array(n, sizeof *got);

    download(r, got, b, n);
    assert_bytes_equal(got, want, n * sizeof *got);
    free(got);
}

static void check_size(rig *r, curve_id id, size_t n)
{
    const curve *cv = device_curve(r->d, id);
    operands o;
    fr k;

    operands_new(&o, r, cv, n);
    for (size_t i = 0; i < n; i++) cv->fr_mul(&o.want[i], &o.b[i], &o.c[i]);
    assert_status_ok(dev_mul(r->s, o.db, o.db, o.dc, n, id)); /* onto itself */
    check_buf(r, o.db, o.want, n);
    upload(r, o.db, o.b, n);

    for (size_t i = 0; i < n; i++) {
        cv->fr_mul(&o.want[i], &o.a[i], &o.b[i]);
        cv->fr_sub(&o.want[i], &o.want[i], &o.c[i]);
    }
    assert_status_ok(dev_quotient(r->s, o.da, o.db, o.dc, n, id, NULL));
    check_buf(r, o.da, o.want, n);

    upload(r, o.da, o.a, n);
    random_fr(cv, &k);
    for (size_t i = 0; i < n; i++) cv->fr_mul(&o.want[i], &o.want[i], &k);
    assert_status_ok(dev_quotient(r->s, o.da, o.db, o.dc, n, id, &k));
    check_buf(r, o.da, o.want, n);

    upload(r, o.da, o.a, n); /* all three the same: a^2 - a */
    for (size_t i = 0; i < n; i++) {
        cv->fr_mul(&o.want[i], &o.a[i], &o.a[i]);
        cv->fr_sub(&o.want[i], &o.want[i], &o.a[i]);
    }
    assert_status_ok(dev_quotient(r->s, o.da, o.da, o.da, n, id, NULL));
    check_buf(r, o.da, o.want, n);
    operands_free(&o);
}

static void test_products(void **state)
{
    (void)state;
    for (unsigned t = 0; t < CPU_TABLES; t++) {
        if (!cpu_table_supported((cpu_table)t)) continue;
        for (unsigned threads = 1; threads <= 3; threads++) {
            rig r;
            rig_open(&r, (cpu_table)t, threads);
            for (size_t i = 0; i < SIZES; i++) {
                check_size(&r, CURVE_ID_BN254, sizes[i]);
                check_size(&r, CURVE_ID_BLS12_381, sizes[i]);
            }
            rig_close(&r);
        }
    }
}

#ifndef RIG_DEVICE /* of the CPU backend alone */
static void test_powers(void **state)
{
    (void)state;
    for (unsigned t = 0; t < CPU_TABLES; t++) {
        rig r;
        if (!cpu_table_supported((cpu_table)t)) continue;
        rig_open(&r, (cpu_table)t, 1);
        for (unsigned id = 0; id < CURVE_IDS; id++) {
            const curve *cv = device_curve(r.d, (curve_id)id);
            const cpu_kernels *kern = cpu_kernels_of(r.d, (curve_id)id);
            fr start, step, p, x[11], y[11], want;

            random_fr(cv, &start);
            random_fr(cv, &step);
            random_frs(cv, y, 11);
            for (size_t n = 0; n <= 10; n++) {
                fr z[11];
                memcpy(z, y, sizeof z);
                memcpy(x, y, sizeof x);
                kern->powers(x, n, &start, &step);
                kern->mul_powers(z, n, &start, &step);
                p = start;
                for (size_t i = 0; i < n; i++) {
                    assert_bytes_equal(&x[i], &p, sizeof p);
                    cv->fr_mul(&want, &y[i], &p);
                    assert_bytes_equal(&z[i], &want, sizeof want);
                    cv->fr_mul(&p, &p, &step);
                }
                assert_bytes_equal(&x[n], &y[n], sizeof p);
                assert_bytes_equal(&z[n], &y[n], sizeof p);
            }
        }
        rig_close(&r);
    }
}
#endif

static void test_doors(void **state)
{
    rig r;
    dev_buf *a, *b;

    (void)state;
    rig_open(&r, CPU_TABLE_GENERIC, 1);
    assert_status_ok(dev_buf_new(&a, r.d, 4));
    assert_status_ok(dev_buf_new(&b, r.d, 3));
    assert_status_is(dev_mul(r.s, a, a, b, 4, CURVE_ID_BN254), CUZK_EINVAL);
    assert_error_mentions("elements 0 + 4 of a buffer of 3");
    assert_status_is(dev_mul(r.s, b, a, a, 4, CURVE_ID_BN254), CUZK_EINVAL);
    assert_status_is(dev_mul(r.s, a, b, a, 4, CURVE_ID_BN254), CUZK_EINVAL);
    assert_status_is(dev_mul(r.s, NULL, a, a, 1, CURVE_ID_BN254), CUZK_EINVAL);
    assert_status_is(dev_mul(r.s, a, a, a, 1, CURVE_IDS), CUZK_EINVAL);
    assert_status_is(dev_quotient(r.s, a, a, b, 4, CURVE_ID_BN254, NULL), CUZK_EINVAL);
    assert_status_is(dev_quotient(r.s, a, b, a, 4, CURVE_ID_BN254, NULL), CUZK_EINVAL);
    assert_status_is(dev_quotient(r.s, b, a, a, 4, CURVE_ID_BN254, NULL), CUZK_EINVAL);
    assert_status_is(dev_quotient(NULL, a, a, a, 4, CURVE_ID_BN254, NULL), CUZK_EINVAL);
    dev_buf_free(a);
    dev_buf_free(b);
    rig_close(&r);
}

static void test_cancel(void **state)
{
    rig r;
    dev_stream *s;
    dev_buf *a;
    cancel *c;

    (void)state;
    rig_open(&r, CPU_TABLE_GENERIC, 2);
    assert_status_ok(cancel_new(&c));
    assert_status_ok(dev_stream_open(&s, r.d, c));
    assert_status_ok(dev_buf_new(&a, r.d, 8192));
    cancel_request(c);
    assert_status_is(dev_mul(s, a, a, a, 8192, CURVE_ID_BN254), CUZK_ECANCELLED);
    assert_status_is(dev_quotient(s, a, a, a, 8192, CURVE_ID_BN254, NULL), CUZK_ECANCELLED);
    dev_buf_free(a);
    dev_stream_close(s);
    cancel_free(c);
    rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products),
        cmocka_unit_test(test_doors),
        cmocka_unit_test(test_cancel),
#ifndef RIG_DEVICE
        cmocka_unit_test(test_powers),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
