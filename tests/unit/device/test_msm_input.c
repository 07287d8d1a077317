/*
 * unit/device/test_msm_input.c - points as keys hold them, bad points, memory, faults, cancelling
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "unit/device/msm_support.h"

#include <pthread.h>

#include "device/backend.h"
#include "device/cpu/msm.h"

/* A sum of points in any form. */
typedef struct sum {
    rig r;
    group g;
    curve_id id;
    bases b;
    values v;
    dev_points points;
} sum;

static void sum_open(sum *s, curve_id id, bool g2, size_t n, unsigned threads)
{
    rig_open(&s->r, cpu_table_best(), threads);
    s->g = group_of(id, g2);
    s->id = id;
    bases_init(&s->b, &s->g, n, 300);
    values_init(&s->v, s->g.cv, n);
    for (size_t i = 0; i < n; i++) {
        if (s->g.cv->fr_is_zero(&s->v.v[i])) s->v.v[i] = s->g.cv->fr_one; /* every point is read */
    }
    values_pack(&s->v);
    s->points = (dev_points){.data = s->b.lem, .n = n, .enc = POINT_LEM, .g2 = g2};
}

static void sum_close(sum *s)
{
    values_clear(&s->v);
    bases_clear(&s->b);
    rig_close(&s->r);
}

static cuzk_status sum_run(sum *s, any_point *out)
{
    return s->g.g2 ? dev_msm_g2(s->r.s, &out->g2, s->id, &s->points, 0, &s->v.packed)
                   : dev_msm_g1(s->r.s, &out->g1, s->id, &s->points, 0, &s->v.packed);
}

static void sum_right(sum *s)
{
    any_point want = expected_sum(&s->b, 0, &s->v), got;

    memset(&got, 0, sizeof got);
    assert_status_ok(sum_run(s, &got));
    assert_points_equal(&s->g, &got, &want);
}

/* ---- encodings ---- */

static void test_any_alignment(void **state)
{
    (void)state;
    for (unsigned id = 0; id < CURVE_IDS; id++) {
        for (int g2 = 0; g2 < 2; g2++) {
            sum s;
            sum_open(&s, (curve_id)id, g2 == 1, 130, 1);
            for (size_t shift = 0; shift < 8; shift++) {
                uint8_t *at = test_array(s.b.n * s.g.size + shift, 1);
                memcpy(at + shift, s.b.lem, s.b.n * s.g.size);
                s.points.data = at + shift;
                sum_right(&s);
                free(at);
            }
            sum_close(&s);
        }
    }
}

static void test_encodings(void **state)
{
    (void)state;
    for (int g2 = 0; g2 < 2; g2++) {
        for (unsigned enc = POINT_LEM; enc <= POINT_ZCASH_COMPRESSED; enc++) {
            sum s;
            uint8_t *data;
            sum_open(&s, CURVE_ID_BLS12_381, g2 == 1, 1500, 2);
            for (size_t i = 700; i < 720; i++) bases_set_inf(&s.b, i);
            data = bases_encode(&s.b, (point_enc)enc);
            s.points.data = data;
            s.points.enc = (point_enc)enc;
            sum_right(&s);
            s.points.trusted = true;
            sum_right(&s);
            free(data);
            sum_close(&s);
        }
    }
}

/* Decoded points are taken 2^17 positions at a time. */
static void test_decoded_chunks(void **state)
{
    static const size_t sizes[] = {131071, 131073, 300000};

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        sum s;
        uint8_t *data;
        sum_open(&s, CURVE_ID_BLS12_381, false, sizes[i], 2);
        for (size_t k = 0; k < sizes[i]; k++) {
            s.v.is_bit[k] = k % 500 != 1;
            s.v.selected[k] = k % 5 != 0;
            if (s.v.is_bit[k]) s.v.v[k] = k % 11 == 0 ? s.g.cv->fr_one : s.g.cv->fr_zero;
        }
        values_pack(&s.v);
        data = bases_encode(&s.b, POINT_ZCASH);
        s.points.data = data;
        s.points.enc = POINT_ZCASH;
        sum_right(&s);
        free(data);
        sum_close(&s);
    }
}

/* ---- bad points ---- */

static void expect_bad(sum *s, const char *mention, const char *why)
{
    any_point out, before;

    memset(&out, 0x5a, sizeof out);
    before = out;
    assert_status_is(sum_run(s, &out), CUZK_EDATA);
    assert_error_class(CUZK_CLASS_MALFORMED);
    assert_error_mentions(mention);
    assert_error_mentions(why);
    assert_bytes_equal(&out, &before, sizeof out);
}

/* x + p still fits its limbs on both curves, but is not what may be in a file. */
static void add_modulus(const curve *cv, uint8_t *coord)
{
    unsigned carry = 0;

    for (size_t i = 0; i < cv->fp_size; i++) {
        unsigned t = coord[i] + cv->p_le[i] + carry;
        coord[i] = (uint8_t)t;
        carry = t >> 8;
    }
    assert_int_equal(carry, 0);
}

static void test_bad_points(void **state)
{
    static const size_t at[] = {0, 1, 63, 64, 1023, 1024, 2999};

    (void)state;
    for (unsigned id = 0; id < CURVE_IDS; id++) {
        for (int g2 = 0; g2 < 2; g2++) {
            sum s;
            sum_open(&s, (curve_id)id, g2 == 1, 3000, 3);
            for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
                uint8_t *p = s.b.lem + at[i] * s.g.size, save[192];
                char name[32];
                (void)snprintf(name, sizeof name, "point %zu:", at[i]);
                memcpy(save, p, s.g.size);
                p[s.g.size - s.g.cv->fp_size] ^= 1;
                expect_bad(&s, name, point_err_text(POINT_NOT_ON_CURVE));
                memcpy(p, save, s.g.size);
                add_modulus(s.g.cv, p);
                expect_bad(&s, name, point_err_text(POINT_NOT_CANONICAL));
                memcpy(p, save, s.g.size);
            }
            sum_right(&s);
            sum_close(&s);
        }
    }
}

/* Of several bad points the first is named, whatever thread meets which. */
static void test_first_bad_point(void **state)
{
    sum s;

    (void)state;
    sum_open(&s, CURVE_ID_BN254, false, 9000, 3);
    for (size_t i = 5000; i < 9000; i += 400) s.b.lem[i * s.g.size + s.g.cv->fp_size] ^= 1;
    for (int round = 0; round < 20; round++)
        expect_bad(&s, "point 5000:", point_err_text(POINT_NOT_ON_CURVE));
    sum_close(&s);
}

static void test_bad_encodings(void **state)
{
    sum s;
    uint8_t *data;

    (void)state;
    sum_open(&s, CURVE_ID_BLS12_381, false, 200, 1);
    data = bases_encode(&s.b, POINT_ZCASH);
    s.points.data = data;
    s.points.enc = POINT_ZCASH;
    data[150 * 96] |= 0x20;
    expect_bad(&s, "point 150:", point_err_text(POINT_BAD_FLAGS));
    data[150 * 96] = 0xff & 0x1f;
    expect_bad(&s, "point 150:", point_err_text(POINT_NOT_CANONICAL));
    free(data);
    sum_close(&s);
}

#ifndef RIG_DEVICE /* of the CPU backend alone */
/* A point whose scalar is 0 is not read; one that does not take part is not either. */
static void test_unread_points(void **state)
{
    sum s;

    (void)state;
    sum_open(&s, CURVE_ID_BLS12_381, false, 400, 1);
    s.v.v[7] = s.g.cv->fr_zero;
    values_pack(&s.v);
    s.b.lem[7 * s.g.size] ^= 1;
    sum_right(&s);
    s.v.v[8] = s.g.cv->fr_one;
    values_pack(&s.v);
    s.b.lem[8 * s.g.size] ^= 1;
    expect_bad(&s, "point 8:", point_err_text(POINT_NOT_ON_CURVE));
    sum_close(&s);
}
#endif

/* ---- one row ---- */

/* A row so long that one thread's slice of it takes more cuts than it keeps at a time, and goes on from what it has. */
static void test_long_row(void **state)
{
    sum s;

    (void)state;
    sum_open(&s, CURVE_ID_BN254, false, ((size_t)1 << 17) + 700, 1);
    for (size_t i = 0; i < s.v.n; i++) {
        s.v.v[i] = s.g.cv->fr_one;
        s.v.is_bit[i] = i % 3 != 0;
    }
    values_pack(&s.v);
    sum_right(&s);
    sum_close(&s);
}

/* ---- memory ---- */

#ifndef RIG_DEVICE /* of the CPU backend alone */
/* The estimate holds for every mixture, and is not far off when all scalars are full. */
static void test_memory(void **state)
{
    static const size_t sizes[] = {0, 1, 100, 5000, 40000};

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (int kind = 0; kind < 4; kind++) {
            any_point out;
            size_t before, used, bound;
            sum s;
            sum_open(&s, CURVE_ID_BN254, i % 2 == 1, sizes[i], 2);
            for (size_t k = 0; k < sizes[i]; k++) {
                if (kind == 1) s.g.cv->fr_from_u64(&s.v.v[k], k % 50000);
                if (kind == 2 && k % 2 == 0) s.g.cv->fr_from_u64(&s.v.v[k], k);
                if (kind == 3 && k % 20 != 0) {
                    s.v.is_bit[k] = true;
                    s.v.v[k] = s.g.cv->fr_one;
                }
            }
            values_pack(&s.v);
            before = mem_used(s.r.m);
            mem_reset_peak(s.r.m);
            assert_status_ok(sum_run(&s, &out));
            assert_int_equal(mem_used(s.r.m), before);
            used = mem_peak(s.r.m) - before;
            bound = cpu_msm_memory(s.r.d, s.id, s.g.g2, POINT_LEM, sizes[i]);
            assert_in_range(used, 1, bound);
            if (kind == 0 && sizes[i] >= 5000) assert_in_range(bound, used, 2 * used);
            sum_close(&s);
        }
    }
}

/* Sums of all kinds one behind the other in the memory that the one before left: as dirty as it comes. */
static void test_kept_memory(void **state)
{
    static const size_t sizes[] = {3000, 5, 1, 200, 24, 25, 1500, 3000};
    rig r;
    size_t before, kept = 0;

    (void)state;
    rig_open(&r, cpu_table_best(), 2);
    before = mem_used(r.m);
    dev_keep(r.s, true);
    for (size_t i = 0; i < 3 * sizeof sizes / sizeof *sizes; i++) {
        group g = group_of(i % 3 == 0 ? CURVE_ID_BN254 : CURVE_ID_BLS12_381, i % 2 == 1);
        size_t n = sizes[i % (sizeof sizes / sizeof *sizes)], used;
        any_point want, got;
        bases b;
        values v;
        bases_init(&b, &g, n, i % 4 == 0 ? 7 : 0);
        values_init(&v, g.cv, n);
        for (size_t k = 0; k < n; k++) {
            v.is_bit[k] = i % 5 == 1 && k % 2 == 0;
            if (v.is_bit[k]) v.v[k] = g.cv->fr_one;
        }
        values_pack(&v);
        want = expected_sum(&b, 0, &v);
        got = device_sum(&r, i % 3 == 0 ? CURVE_ID_BN254 : CURVE_ID_BLS12_381, &b, 0, &v);
        assert_points_equal(&g, &got, &want);
        used = mem_used(r.m) - before;
        assert_in_range(used, kept > 1 ? kept : 1, SIZE_MAX); /* the largest so far */
        kept = used;
        values_clear(&v);
        bases_clear(&b);
    }
    dev_keep(r.s, false);
    assert_int_equal(mem_used(r.m), before);
    dev_keep(r.s, true); /* closing gives back as well: rig_close looks */
    {
        sum s;
        sum_open(&s, CURVE_ID_BN254, false, 100, 1);
        dev_keep(s.r.s, true);
        sum_right(&s);
        sum_close(&s);
    }
    dev_keep(NULL, true);
    rig_close(&r);
}

/* What a sum of 2^27 may take is fixed by its chunks and windows, not by its length. */
static void test_memory_is_bounded(void **state)
{
    rig r;

    (void)state;
    rig_open(&r, cpu_table_best(), 2);
    assert_in_range(cpu_msm_memory(r.d, CURVE_ID_BLS12_381, false, POINT_ZCASH, (size_t)1 << 27), 1,
                    (size_t)200 << 20);
    assert_in_range(cpu_msm_memory(r.d, CURVE_ID_BLS12_381, true, POINT_ZCASH, (size_t)1 << 27), 1,
                    (size_t)350 << 20);
    assert_in_range(cpu_msm_memory(r.d, CURVE_ID_BN254, false, POINT_LEM, (size_t)1 << 13), 1,
                    (size_t)9 << 20);
    rig_close(&r);
}
#endif

static void test_faults(void **state)
{
    sum s;
    unsigned long k = 1;

    (void)state;
    sum_open(&s, CURVE_ID_BLS12_381, false, 1200, 2);
    for (;; k++) {
        any_point out, before;
        size_t used = mem_used(s.r.m);
        cuzk_status st;
        bool hit;
        memset(&out, 0x5a, sizeof out);
        before = out;
        mem_inject_fault(s.r.m, k);
        st = sum_run(&s, &out);
        hit = mem_fault_hit(s.r.m);
        mem_inject_fault(s.r.m, 0);
        if (!hit) break;
        assert_int_equal(st, CUZK_ENOMEM);
        assert_int_equal(mem_used(s.r.m), used);
        assert_bytes_equal(&out, &before, sizeof out);
    }
#ifndef RIG_DEVICE              /* a GPU's records are its own */
    assert_in_range(k, 2, 100); /* one block, or more */
#endif
    sum_right(&s);
    sum_close(&s);
}

/* ---- cancelling ---- */

static void test_cancelled_before(void **state)
{
    sum s;
    cancel *c;
    dev_stream *stream;
    any_point out;

    (void)state;
    sum_open(&s, CURVE_ID_BN254, false, 100, 2);
    assert_status_ok(cancel_new(&c));
    assert_status_ok(dev_stream_open(&stream, s.r.d, c));
    assert_status_ok(dev_msm_g1(stream, &out.g1, s.id, &s.points, 0, &s.v.packed));
    cancel_request(c);
    assert_status_is(dev_msm_g1(stream, &out.g1, s.id, &s.points, 0, &s.v.packed), CUZK_ECANCELLED);
    dev_stream_close(stream);
    cancel_free(c);
    sum_close(&s);
}

static void *request(void *ctx)
{
    cancel_request(ctx);
    return NULL;
}

/* At whatever step another thread's request is seen: done or cancelled, and nothing left. */
static void test_cancelled_within(void **state)
{
    sum s;
    any_point want;

    (void)state;
    sum_open(&s, CURVE_ID_BLS12_381, false, 3000, 2);
    want = expected_sum(&s.b, 0, &s.v);
    for (size_t round = 0; round < harness_iters(20); round++) {
        cancel *c;
        dev_stream *stream;
        any_point out;
        pthread_t other;
        cuzk_status st;
        size_t used = mem_used(s.r.m);
        assert_status_ok(cancel_new(&c));
        assert_status_ok(dev_stream_open(&stream, s.r.d, c));
        assert_int_equal(pthread_create(&other, NULL, request, c), 0);
        do st = dev_msm_g1(stream, &out.g1, s.id, &s.points, 0, &s.v.packed);
        while (st == CUZK_OK && memcmp(&out, &want, s.g.size) == 0);
        assert_int_equal(st, CUZK_ECANCELLED);
        assert_int_equal(pthread_join(other, NULL), 0);
        dev_stream_close(stream);
        cancel_free(c);
        assert_int_equal(mem_used(s.r.m), used);
    }
    sum_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_alignment),   cmocka_unit_test(test_encodings),
        cmocka_unit_test(test_decoded_chunks),  cmocka_unit_test(test_bad_points),
        cmocka_unit_test(test_first_bad_point), cmocka_unit_test(test_bad_encodings),
        cmocka_unit_test(test_faults),          cmocka_unit_test(test_cancelled_before),
        cmocka_unit_test(test_long_row),        cmocka_unit_test(test_cancelled_within),
#ifndef RIG_DEVICE
        cmocka_unit_test(test_unread_points),   cmocka_unit_test(test_memory),
        cmocka_unit_test(test_kept_memory),     cmocka_unit_test(test_memory_is_bounded),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
