/*
 * unit/device/test_device.c - opening devices and streams, buffers, and what the door says to wrong sums of points
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "unit/device/support.h"

static void test_open(void **state)
{
    device *d;
    device_config config = {.name = "cpu", .table = CPU_TABLE_GENERIC};
    mem *m;

    (void)state;
    assert_status_ok(mem_open(&m, "test", 0, NULL));
    assert_status_is(device_open(&d, &config), CUZK_EINVAL); /* no memory */
    config.m = m;
    assert_status_is(device_open(NULL, &config), CUZK_EINVAL);
    assert_status_is(device_open(&d, NULL), CUZK_EINVAL);
    config.name = "abacus";
    assert_status_is(device_open(&d, &config), CUZK_EINVAL);
    assert_error_mentions("device abacus: no such backend");
    config.name = "cpu";
    config.table = CPU_TABLES;
    assert_status_is(device_open(&d, &config), CUZK_EINVAL);
    for (unsigned t = 0; t < CPU_TABLES; t++) {
        config.table = (cpu_table)t;
        if (!cpu_table_supported((cpu_table)t)) {
            assert_status_is(device_open(&d, &config), CUZK_EINVAL);
            assert_error_mentions("cannot run table");
            continue;
        }
        assert_status_ok(device_open(&d, &config));
        assert_string_equal(device_name(d), "cpu");
        assert_int_equal(device_curve(d, CURVE_ID_BN254)->id, CURVE_ID_BN254);
        assert_int_equal(device_curve(d, CURVE_ID_BLS12_381)->id, CURVE_ID_BLS12_381);
        assert_null(device_curve(d, CURVE_IDS));
        device_close(d);
    }
    device_close(NULL);
    assert_int_equal(mem_used(m), 0);
    mem_close(m);
}

static void test_open_faults(void **state)
{
    device_config config = {.name = "cpu", .table = CPU_TABLE_GENERIC};
    unsigned long k;

    (void)state;
    assert_status_ok(mem_open(&config.m, "test", 0, NULL));
    for (k = 1;; k++) {
        device *d = NULL;
        dev_stream *s = NULL;
        dev_buf *b = NULL;
        cuzk_status st;

        mem_inject_fault(config.m, k);
        st = device_open(&d, &config);
        if (st == CUZK_OK) st = dev_stream_open(&s, d, NULL);
        if (st == CUZK_OK) st = dev_buf_new(&b, d, 10);
        dev_buf_free(b);
        dev_stream_close(s);
        device_close(d);
        assert_int_equal(mem_used(config.m), 0);
        if (!mem_fault_hit(config.m)) {
            assert_int_equal(st, CUZK_OK);
            break;
        }
        assert_int_equal(st, CUZK_ENOMEM);
    }
    assert_true(k >= 6); /* device, its curves, stream, buffer, elements */
    mem_inject_fault(config.m, 0);
    mem_close(config.m);
}

/* A sum does not depend on its stream's level; one that is too high is the highest. */
static void test_levels(void **state)
{
    static const unsigned levels[] = {0, 1, DEV_LEVELS - 1, DEV_LEVELS, ~0u};
    rig r;
    g1_any want, got;
    fr k[2];

    (void)state;
    rig_open(&r, CPU_TABLE_GENERIC, 1);
    const curve *cv = device_curve(r.d, CURVE_ID_BN254);
    cv->fr_from_u64(&k[0], 3);
    cv->fr_from_u64(&k[1], 1000);
    uint8_t points[2 * sizeof(g1_any)];
    for (size_t i = 0; i < 2; i++) memcpy(points + i * cv->g1_size, &cv->g1_gen, cv->g1_size);
    dev_points b = {.data = points, .n = 2, .enc = POINT_LEM};
    dev_scalars sc = {.n = 2, .elems = k};
    cv->fr_add(&k[0], &k[0], &k[1]);
    cv->g1_mul(&want, &cv->g1_gen, &k[0]);
    cv->fr_sub(&k[0], &k[0], &k[1]);
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        dev_stream *s;

        assert_status_ok(dev_stream_open_at(&s, r.d, NULL, levels[i]));
        assert_status_ok(dev_msm_g1(s, &got, cv->id, &b, 0, &sc));
        assert_true(cv->g1_eq(&want, &got));
        dev_stream_close(s);
    }
    rig_close(&r);
}

static void test_without_pool(void **state)
{
    device_config config = {.name = "cpu", .table = CPU_TABLE_GENERIC};
    device *d;
    dev_stream *s;
    dev_buf *a;
    fr x[3], y[3];

    (void)state;
    assert_status_ok(mem_open(&config.m, "test", 0, NULL));
    assert_status_ok(device_open(&d, &config));
    assert_status_is(dev_stream_open(NULL, d, NULL), CUZK_EINVAL);
    assert_status_is(dev_stream_open(&s, NULL, NULL), CUZK_EINVAL);
    assert_status_ok(dev_stream_open(&s, d, NULL));
    assert_ptr_equal(dev_stream_device(s), d);
    assert_status_ok(dev_buf_new(&a, d, 3));
    random_frs(device_curve(d, CURVE_ID_BN254), x, 3);
    assert_status_ok(dev_upload(s, a, 0, x, 3));
    assert_status_ok(dev_mul(s, a, a, a, 3, CURVE_ID_BN254));
    assert_status_ok(dev_download(s, y, a, 0, 3));
    assert_status_ok(dev_sync(s));
    assert_status_is(dev_sync(NULL), CUZK_EINVAL);
    for (int i = 0; i < 3; i++) device_curve(d, CURVE_ID_BN254)->fr_mul(&x[i], &x[i], &x[i]);
    assert_bytes_equal(y, x, sizeof x);
    dev_buf_free(a);
    dev_stream_close(s);
    device_close(d);
    mem_close(config.m);
}

static void test_buffers(void **state)
{
    rig r, other;
    dev_buf *b, *empty, *foreign;
    fr x[4], y[4], zero[5] = {{{0}}};

    (void)state;
    rig_open(&r, CPU_TABLE_GENERIC, 1);
    rig_open(&other, CPU_TABLE_GENERIC, 1);
    assert_status_is(dev_buf_new(NULL, r.d, 5), CUZK_EINVAL);
    assert_status_is(dev_buf_new(&b, NULL, 5), CUZK_EINVAL);
    assert_status_is(dev_buf_new(&b, r.d, SIZE_MAX / 8), CUZK_ENOMEM);
    assert_status_ok(dev_buf_new(&b, r.d, 5));
    assert_status_ok(dev_buf_new(&empty, r.d, 0));
    assert_status_ok(dev_buf_new(&foreign, other.d, 5));
    assert_int_equal(dev_buf_len(b), 5);
    assert_bytes_equal(dev_buf_host(b), zero, sizeof zero);
    random_frs(device_curve(r.d, CURVE_ID_BN254), x, 4);
    assert_status_ok(dev_upload(r.s, b, 1, x, 4));
    assert_status_ok(dev_download(r.s, y, b, 1, 4));
    assert_bytes_equal(y, x, sizeof x);
    assert_status_is(dev_upload(r.s, b, 2, x, 4), CUZK_EINVAL);
    assert_error_mentions("upload: elements 2 + 4 of a buffer of 5");
    assert_status_is(dev_upload(r.s, b, 6, x, 0), CUZK_EINVAL);
    assert_status_is(dev_upload(r.s, b, 1, x, SIZE_MAX), CUZK_EINVAL);
    assert_status_is(dev_upload(r.s, b, 0, NULL, 1), CUZK_EINVAL);
    assert_status_is(dev_upload(r.s, foreign, 0, x, 1), CUZK_EINVAL);
    assert_status_is(dev_upload(NULL, b, 0, x, 1), CUZK_EINVAL);
    assert_status_is(dev_download(r.s, y, b, 2, 4), CUZK_EINVAL);
    assert_status_is(dev_download(r.s, NULL, b, 2, 1), CUZK_EINVAL);
    assert_status_is(dev_download(r.s, y, NULL, 0, 1), CUZK_EINVAL);
    assert_status_is(dev_download(NULL, y, b, 0, 1), CUZK_EINVAL);
    assert_status_ok(dev_upload(r.s, empty, 0, NULL, 0));
    assert_status_ok(dev_download(r.s, NULL, b, 5, 0));
    dev_buf_free(b);
    dev_buf_free(empty);
    dev_buf_free(foreign);
    dev_buf_free(NULL);
    dev_stream_close(NULL);
    rig_close(&r);
    rig_close(&other);
}

/* Everything that the door refuses before a backend sees it. */
static void test_point_doors(void **state)
{
    const curve_id bn = CURVE_ID_BN254;
    rig r;
    g1_any g1;
    g2_any g2;
    fr one[2];
    uint8_t data[256] = {0};
    uint64_t word = 1, select[2] = {UINT64_MAX, UINT64_MAX};
    uint32_t rank = 0;
    size_t inf;
    dev_points p = {.data = data, .n = 2, .enc = POINT_LEM};
    dev_scalars k = {.n = 2, .elems = one}, bits = {.n = 2, .bits = &word, .is_elem = &word};
    dev_buf *b;

    (void)state;
    rig_open(&r, CPU_TABLE_GENERIC, 1);
    one[0] = one[1] = device_curve(r.d, bn)->fr_one;
    assert_status_is(dev_msm_g1(NULL, &g1, bn, &p, 0, &k), CUZK_EINVAL);
    assert_status_is(dev_msm_g1(r.s, NULL, bn, &p, 0, &k), CUZK_EINVAL);
    assert_status_is(dev_msm_g1(r.s, &g1, CURVE_IDS, &p, 0, &k), CUZK_EINVAL);
    assert_status_is(dev_msm_g1(r.s, &g1, bn, NULL, 0, &k), CUZK_EINVAL);
    assert_status_is(dev_msm_g1(r.s, &g1, bn, &p, 0, NULL), CUZK_EINVAL);
    assert_status_is(dev_msm_g2(r.s, &g2, bn, &p, 0, &k), CUZK_EINVAL);
    assert_error_mentions("other group");
    assert_status_is(dev_msm_g1(r.s, &g1, bn, &p, 1, &k), CUZK_EINVAL);
    assert_error_mentions("2 scalars from base 1 on, but 2 bases");
    assert_status_is(dev_msm_g1(r.s, &g1, bn, &p, SIZE_MAX, &k), CUZK_EINVAL);
    p.enc = POINT_ZCASH;
    assert_status_is(dev_msm_g1(r.s, &g1, bn, &p, 0, &k), CUZK_EINVAL);
    p.enc = (point_enc)3;
    assert_status_is(dev_msm_g1(r.s, &g1, CURVE_ID_BLS12_381, &p, 0, &k), CUZK_EINVAL);
    p.enc = POINT_LEM;
    p.data = NULL;
    assert_status_is(dev_msm_g1(r.s, &g1, bn, &p, 0, &k), CUZK_EINVAL);
    p.data = data;

    assert_status_is(dev_msm_g1(r.s, &g1, bn, &p, 0, &bits), CUZK_EINVAL);
    assert_error_mentions("without ranks");
    bits.rank64 = &rank;
    assert_status_is(dev_msm_g1(r.s, &g1, bn, &p, 0, &bits), CUZK_EINVAL);
    assert_error_mentions("1 elements and 1 bits");
    bits.elems = one;
    bits.bits = NULL;
    assert_status_is(dev_msm_g1(r.s, &g1, bn, &p, 0, &bits), CUZK_EINVAL);
    k.n = (size_t)UINT32_MAX + 1;
    assert_status_is(dev_msm_g1(r.s, &g1, bn, &p, 0, &k), CUZK_EINVAL);

    /* 67 positions of which select leaves 66; bases for 65 */
    k.n = 67;
    k.select = select;
    select[0] = UINT64_MAX - 1;
    p.n = 65;
    assert_status_is(dev_msm_g1(r.s, &g1, bn, &p, 0, &k), CUZK_EINVAL);
    assert_error_mentions("66 scalars from base 0 on, but 65 bases");

    assert_status_ok(dev_buf_new(&b, r.d, 3));
    p.n = 2;
    assert_status_is(dev_msm_g1_buf(r.s, &g1, bn, &p, 0, b, 3), CUZK_EINVAL);
    assert_error_mentions("3 scalars from base 0 on, but 2 bases");
    assert_status_is(dev_msm_g1_buf(r.s, &g1, bn, &p, 1, b, 2), CUZK_EINVAL);
    assert_error_mentions("2 scalars from base 1 on, but 2 bases");
    assert_status_is(dev_msm_g1_buf(r.s, &g1, bn, &p, 3, b, 0), CUZK_EINVAL);
    assert_status_is(dev_msm_g1_buf(r.s, &g1, bn, &p, 0, b, 4), CUZK_EINVAL);
    assert_status_is(dev_msm_g1_buf(r.s, NULL, bn, &p, 0, b, 1), CUZK_EINVAL);
    dev_buf_free(b);

    memset(&g1, 0, sizeof g1);
    memset(&g2, 0, sizeof g2);
    assert_status_is(dev_fixed_base_g1(r.s, NULL, POINT_LEM, bn, &g1, one, 2, &inf), CUZK_EINVAL);
    assert_status_is(dev_fixed_base_g1(r.s, data, POINT_LEM, bn, NULL, one, 2, &inf), CUZK_EINVAL);
    assert_status_is(dev_fixed_base_g2(r.s, data, POINT_LEM, bn, &g2, NULL, 2, &inf), CUZK_EINVAL);
    assert_status_is(dev_fixed_base_g2(r.s, data, POINT_ZCASH, bn, &g2, one, 2, &inf), CUZK_EINVAL);
    assert_status_is(dev_fixed_base_g2(NULL, data, POINT_LEM, bn, &g2, one, 2, &inf), CUZK_EINVAL);
    rig_close(&r);
}

/* From one device's buffer to another's. */
static void test_copies(void **state)
{
    rig a, b;
    fr in[5], out[5];
    dev_buf *x, *y;
    cancel *c;
    dev_stream *s;

    (void)state;
    rig_open(&a, cpu_table_best(), 1);
    rig_open(&b, cpu_table_best(), 1);
    for (unsigned i = 0; i < 5; i++)
        device_curve(a.d, CURVE_ID_BN254)->fr_from_u64(&in[i], 1000 + i);
    assert_status_ok(dev_buf_new(&x, a.d, 5));
    assert_status_ok(dev_buf_new(&y, b.d, 4));
    assert_status_ok(dev_upload(a.s, x, 0, in, 5));
    assert_status_ok(dev_sync(a.s));
    assert_status_ok(dev_copy(b.s, y, 1, x, 2, 3));
    assert_status_ok(dev_copy(b.s, y, 4, x, 5, 0));
    assert_status_ok(dev_download(b.s, out, y, 0, 4));
    assert_memory_equal(out + 1, in + 2, 3 * sizeof *in);
    assert_true(device_curve(a.d, CURVE_ID_BN254)->fr_is_zero(&out[0]));
    assert_status_ok(dev_copy(b.s, y, 0, y, 3, 1)); /* of the same device */
    assert_status_ok(dev_download(b.s, out, y, 0, 1));
    assert_memory_equal(out, in + 4, sizeof *in);

    assert_status_is(dev_copy(NULL, y, 0, x, 0, 1), CUZK_EINVAL);
    assert_status_is(dev_copy(b.s, NULL, 0, x, 0, 1), CUZK_EINVAL);
    assert_status_is(dev_copy(b.s, y, 0, NULL, 0, 1), CUZK_EINVAL);
    assert_status_is(dev_copy(b.s, y, 2, x, 0, 3), CUZK_EINVAL);
    assert_status_is(dev_copy(b.s, y, 0, x, 3, 3), CUZK_EINVAL);
    assert_status_is(dev_copy(a.s, y, 0, x, 0, 1), CUZK_EINVAL); /* not the stream's */
    assert_status_ok(cancel_new(&c));
    assert_status_ok(dev_stream_open(&s, b.d, c));
    cancel_request(c);
    assert_status_is(dev_copy(s, y, 0, x, 0, 1), CUZK_ECANCELLED);
    dev_stream_close(s);
    cancel_free(c);
    dev_buf_free(x);
    dev_buf_free(y);
    rig_close(&b);
    rig_close(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_open),    cmocka_unit_test(test_open_faults),
        cmocka_unit_test(test_levels),  cmocka_unit_test(test_without_pool),
        cmocka_unit_test(test_buffers), cmocka_unit_test(test_point_doors),
        cmocka_unit_test(test_copies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
