/*
 * cross/test_fr_cross.c - transforms, vectors and a, b, c: every CPU table, with one and several threads, against the
 * portable one on one thread; equal elements, limb for limb
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "device/device.h"
#include "harness/harness.h"

#define LOG_N 12
#define N ((size_t)1 << LOG_N)
#define ROWS 3000u
#define TERMS 20u
#define COEFFS 50u

/* All that the operations take, and what the first subject made of it. */
typedef struct sample {
    fr x[3][N], coeffs[COEFFS], inputs[2], k, shift;
    uint64_t bits[N / 64], is_elem[N / 64];
    uint32_t rank64[N / 64], row_start[ROWS + 1], wire[ROWS * TERMS], coeff[ROWS * TERMS];
    fr ntt[5][N], vec[2][N], abc[3][N];
    bool made;
} sample;

static void random_element(const curve *cv, fr *out)
{
    scalar s;

    do harness_random_bytes(&s, sizeof s);
    while (!cv->fr_from_scalar(out, &s));
}

static void sample_fill(sample *t, const curve *cv)
{
    uint32_t elems = 0;

    memset(t, 0, sizeof *t);
    for (size_t k = 0; k < 3; k++)
        for (size_t i = 0; i < N; i++) random_element(cv, &t->x[k][i]);
    for (size_t i = 0; i < COEFFS; i++) random_element(cv, &t->coeffs[i]);
    t->coeffs[0] = cv->fr_one;
    cv->fr_neg(&t->coeffs[1], &cv->fr_one);
    t->inputs[0] = cv->fr_one;
    random_element(cv, &t->inputs[1]);
    random_element(cv, &t->k);
    random_element(cv, &t->shift);
    for (size_t i = 0; i < N / 64; i++) {
        t->bits[i] = harness_random_u64();
        t->is_elem[i] = harness_random_u64() & harness_random_u64();
        t->rank64[i] = elems;
        for (int b = 0; b < 64; b++) elems += (uint32_t)(t->is_elem[i] >> b & 1);
    }
    for (uint32_t i = 0; i < ROWS * TERMS; i++) {
        t->wire[i] = (uint32_t)harness_random_below(N + 2);
        t->coeff[i] = (uint32_t)harness_random_below(harness_random_below(2) == 0 ? 2 : COEFFS);
    }
    for (uint32_t r = 0; r < ROWS; r++)
        t->row_start[r + 1] = t->row_start[r] + (uint32_t)harness_random_below(TERMS + 1);
}

/* What stands in b is what the first subject got; or becomes it. */
static void settle(const sample *t, fr *first, dev_stream *s, const dev_buf *b)
{
    static fr got[N];

    assert_status_ok(dev_download(s, got, b, 0, N));
    if (t->made)
        assert_bytes_equal(got, first, sizeof got);
    else
        memcpy(first, got, sizeof got);
}

static void run_ntt(sample *t, device *d, dev_stream *s, curve_id id, dev_buf *const b[3])
{
    ntt_domain *dom;

    assert_status_ok(ntt_domain_new(&dom, d, id, 5, LOG_N, &t->shift));
    for (int kind = 0; kind < 5; kind++) {
        assert_status_ok(dev_upload(s, b[0], 0, t->x[0], N));
        assert_status_ok(dev_ntt(s, b[0], dom, (ntt_kind)kind));
        settle(t, t->ntt[kind], s, b[0]);
    }
    ntt_domain_free(dom);
}

static void run_vectors(sample *t, dev_stream *s, curve_id id, dev_buf *const b[3])
{
    for (int k = 0; k < 3; k++) assert_status_ok(dev_upload(s, b[k], 0, t->x[k], N));
    assert_status_ok(dev_quotient(s, b[0], b[1], b[2], N, id, &t->k));
    settle(t, t->vec[0], s, b[0]);
    assert_status_ok(dev_mul(s, b[0], b[1], b[2], N, id));
    settle(t, t->vec[1], s, b[0]);
}

/* Three times the same rows, shifted, so that A, B and C differ. */
static void run_abc(sample *t, dev_stream *s, curve_id id, dev_buf *const b[3])
{
    const dev_matrix m = {t->row_start, t->wire, t->coeff};
    const dev_matrix m1 = {t->row_start, t->wire + TERMS, t->coeff},
                     m2 = {t->row_start, t->wire, t->coeff + 1};
    const dev_template half = {
        .n_local = N / 2, .n_pub = 1, .n_rows = ROWS / 2, .a = m, .b = m1, .c = m2};
    dev_template tmpl = half;
    const dev_instance inst[2] = {{0, 0, 1, 0, 0}, {0, N / 2, 1, ROWS / 2, 0}};
    const dev_scalars aux = {
        .n = N, .elems = t->x[0], .bits = t->bits, .is_elem = t->is_elem, .rank64 = t->rank64};
    dev_system sys = {.id = id,
                      .n_inputs = 2,
                      .n_aux = N,
                      .n_rows = ROWS,
                      .input_rows = true,
                      .templates = &tmpl,
                      .n_templates = 1,
                      .instances = inst,
                      .n_instances = 2,
                      .coeffs = t->coeffs,
                      .n_coeffs = COEFFS};
    uint32_t wires = 1 + N / 2 + 1;

    for (uint32_t i = 0; i < ROWS * TERMS; i++) t->wire[i] %= wires;
    assert_status_ok(dev_abc(s, b[0], b[1], b[2], &sys, t->inputs, &aux));
    for (int k = 0; k < 3; k++) settle(t, t->abc[k], s, b[k]);
}

static void run(sample *t, curve_id id, cpu_table table, unsigned threads)
{
    device_config config = {.name = "cpu", .table = table};
    device *d;
    dev_stream *s;
    dev_buf *b[3];

    assert_status_ok(mem_open(&config.m, "cross", 0, NULL));
    assert_status_ok(pool_open(&config.pool, threads, NULL));
    assert_status_ok(device_open(&d, &config));
    assert_status_ok(dev_stream_open(&s, d, NULL));
    for (int k = 0; k < 3; k++) assert_status_ok(dev_buf_new(&b[k], d, N));
    run_ntt(t, d, s, id, b);
    run_vectors(t, s, id, b);
    run_abc(t, s, id, b);
    t->made = true;
    for (int k = 0; k < 3; k++) dev_buf_free(b[k]);
    dev_stream_close(s);
    device_close(d);
    pool_close(config.pool);
    mem_close(config.m);
}

static void test_all(void **state)
{
    static sample t;

    (void)state;
    for (unsigned id = 0; id < CURVE_IDS; id++) {
        sample_fill(&t, curve_get((curve_id)id, CPU_TABLE_GENERIC));
        for (unsigned table = 0; table < CPU_TABLES; table++) {
            if (!cpu_table_supported((cpu_table)table)) continue;
            for (unsigned threads = 1; threads <= 3; threads++)
                run(&t, (curve_id)id, (cpu_table)table, threads);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
