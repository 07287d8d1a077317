/*
 * device/cuda/cuda_check.c - the start-up check: products, formulas, a transform and sums on the device against algebra
 *
 * A device that gives one wrong bit is refused. Takes some milliseconds; the values are fixed.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <cuda_runtime_api.h>
#include <string.h>

#include "device/cuda/cuda_int.h"

#define POINTS 40u
#define LOG_N 10u
#define N ((size_t)1 << LOG_N)

typedef struct check_run {
    device *d;
    dev_stream *s;
    const curve *cv;
    fr *x, *y, *got; /* N each */
    uint8_t *points, *want, *back;
} check_run;

static cuzk_status wrong(const check_run *r, const char *what)
{
    return FAIL(CUZK_EDEVICE, "%s computes wrongly: %s of %s; it is not used", cu_of(r->d)->name,
                what, r->cv->name);
}

/* ---- groups ---- */

static void add(const check_run *r, bool g2, void *out, const void *a, const void *b)
{
    size_t size = g2 ? r->cv->g2_size : r->cv->g1_size;
    g1_any p, q;
    g2_any t, u;

    if (g2) {
        memcpy(&t, a, size);
        memcpy(&u, b, size);
        r->cv->g2_add(&t, &t, &u);
        memcpy(out, &t, size);
    } else {
        memcpy(&p, a, size);
        memcpy(&q, b, size);
        r->cv->g1_add(&p, &p, &q);
        memcpy(out, &p, size);
    }
}

/* points[i] = 3^i times the generator */
static void fill_points(check_run *r, bool g2)
{
    size_t size = g2 ? r->cv->g2_size : r->cv->g1_size;

    memcpy(r->points, g2 ? (const void *)&r->cv->g2_gen : (const void *)&r->cv->g1_gen, size);
    for (size_t i = 1; i < POINTS; i++) {
        uint8_t *p = r->points + i * size;
        add(r, g2, p, p - size, p - size);
        add(r, g2, p, p, p - size);
    }
}

/* Sums, doubles and longer sums of neighbours, as cu_group_ops.check makes them. */
static cuzk_status check_formulas(check_run *r, bool g2)
{
    cu_device *cu = cu_of(r->d);
    const cu_group_ops *g = cu_group_of(r->cv->id, g2);
    size_t size = g->point_size, n = 3 * (POINTS - 1);
    cuzk_status st = CUZK_OK;
    uint8_t *p = NULL;

    for (size_t i = 0; i + 1 < POINTS; i++) {
        const uint8_t *a = r->points + i * size, *b = a + size;
        uint8_t *want = r->want + 3 * i * size;
        add(r, g2, want, a, b);
        add(r, g2, want + size, a, a);
        add(r, g2, want + 2 * size, want + size, b);
    }
    TRY(cu_alloc(cu, (void **)&p, (POINTS + n) * size));
    CU_TRY_OUT(cu, cudaMemcpy(p, r->points, POINTS * size, cudaMemcpyHostToDevice));
    CU_TRY_OUT(cu, g->check(0, p + POINTS * size, p, POINTS));
    CU_TRY_OUT(cu, cudaMemcpy(r->back, p + POINTS * size, n * size, cudaMemcpyDeviceToHost));
    if (memcmp(r->back, r->want, n * size) != 0) st = wrong(r, g2 ? "G2" : "G1");
out:
    cu_release(cu, p);
    return st;
}

/* sum of x[i] 3^i G, once as a sum and once as a product */
static cuzk_status check_sum(check_run *r, bool g2)
{
    const curve *cv = r->cv;
    dev_points b = {.data = r->points, .n = POINTS, .enc = POINT_LEM, .g2 = g2};
    dev_scalars k = {.n = POINTS, .elems = r->x};
    g2_any got = {{0}}, want2;
    g1_any got1, want1;
    fr log = cv->fr_zero, three;

    cv->fr_from_u64(&three, 3);
    for (size_t i = POINTS; i-- > 0;) {
        cv->fr_mul(&log, &log, &three);
        cv->fr_add(&log, &log, &r->x[i]);
    }
    if (g2) {
        TRY(dev_msm_g2(r->s, &got, cv->id, &b, 0, &k));
        cv->g2_mul(&want2, &cv->g2_gen, &log);
        return cv->g2_eq(&got, &want2) ? CUZK_OK : wrong(r, "a sum in G2");
    }
    TRY(dev_msm_g1(r->s, &got1, cv->id, &b, 0, &k));
    cv->g1_mul(&want1, &cv->g1_gen, &log);
    return cv->g1_eq(&got1, &want1) ? CUZK_OK : wrong(r, "a sum in G1");
}

/* ---- the scalar field ---- */

static cuzk_status expect(check_run *r, const dev_buf *b, const fr *want, const char *what)
{
    TRY(dev_download(r->s, r->got, b, 0, N));
    return memcmp(r->got, want, N * sizeof *want) == 0 ? CUZK_OK : wrong(r, what);
}

/* x + y X has the values x + y w^i */
static cuzk_status check_ntt(check_run *r, dev_buf *a, const ntt_domain *dom)
{
    const curve *cv = r->cv;
    fr w, at = r->x[1];

    cv->fr_root(&w, 5, LOG_N);
    for (size_t i = 0; i < N; i++) {
        cv->fr_add(&r->y[i], &r->x[0], &at);
        cv->fr_mul(&at, &at, &w);
        r->got[i] = i < 2 ? r->x[i] : cv->fr_zero;
    }
    TRY(dev_upload(r->s, a, 0, r->got, N));
    TRY(dev_ntt(r->s, a, dom, NTT_FORWARD));
    TRY(expect(r, a, r->y, "a transform"));
    TRY(dev_upload(r->s, a, 0, r->x, N));
    TRY(dev_ntt(r->s, a, dom, NTT_TO_COSET));
    TRY(dev_ntt(r->s, a, dom, NTT_COSET_INVERSE));
    TRY(dev_ntt(r->s, a, dom, NTT_FORWARD));
    return expect(r, a, r->x, "a transform and its inverse");
}

static cuzk_status check_field(check_run *r)
{
    const curve *cv = r->cv;
    dev_buf *a = NULL;
    ntt_domain *dom = NULL;
    fr seed;
    cuzk_status st;

    cv->fr_from_u64(&seed, 0x9e3779b97f4a7c15u);
    cv->fr_inv(&seed, &seed);
    r->x[0] = seed;
    for (size_t i = 1; i < N; i++) cv->fr_mul(&r->x[i], &r->x[i - 1], &seed);
    cv->fr_neg(&r->x[5], &cv->fr_one);
    r->x[6] = cv->fr_zero;
    TRY_OUT(dev_buf_new(&a, r->d, N));
    TRY_OUT(dev_upload(r->s, a, 0, r->x, N));
    TRY_OUT(dev_mul(r->s, a, a, a, N, cv->id));
    for (size_t i = 0; i < N; i++) cv->fr_mul(&r->y[i], &r->x[i], &r->x[i]);
    TRY_OUT(expect(r, a, r->y, "a product"));
    TRY_OUT(ntt_domain_new(&dom, r->d, cv->id, 5, LOG_N, &seed));
    TRY_OUT(check_ntt(r, a, dom));
out:
    ntt_domain_free(dom);
    dev_buf_free(a);
    return st;
}

static cuzk_status check_curves(check_run *r)
{
    for (unsigned id = 0; id < CURVE_IDS; id++) {
        r->cv = r->d->curves[id];
        TRY(check_field(r));
        for (int g2 = 0; g2 < 2; g2++) {
            fill_points(r, g2 == 1);
            TRY(check_formulas(r, g2 == 1));
            TRY(check_sum(r, g2 == 1));
        }
    }
    return CUZK_OK;
}

cuzk_status cu_check_device(device *d)
{
    check_run r = {.d = d};
    size_t size = POINTS * sizeof(g2_any);
    cuzk_status st = CUZK_OK;
    uint8_t *memory = mem_new(d->m, 1, 3 * N * sizeof(fr) + 7 * size, &st);

    if (memory == NULL) return st;
    r.x = (fr *)(void *)memory;
    r.y = r.x + N;
    r.got = r.y + N;
    r.points = memory + 3 * N * sizeof(fr);
    r.want = r.points + size;
    r.back = r.want + 3 * size;
    st = dev_stream_open(&r.s, d, NULL);
    if (st == CUZK_OK) st = check_curves(&r);
    dev_stream_close(r.s);
    mem_free(d->m, memory);
    return st;
}
