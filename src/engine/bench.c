/*
 * engine/bench.c - `cuzk bench`: the heavy operations alone, on distinct uniform inputs
 *
 * Inputs are seeded, results are checked in the same run, nothing is cached between repetitions.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "engine/bench.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/u128.h"

#include <stdio.h>
#include <string.h>

#define FIELD_PRODUCTS 1000000u

typedef struct bench {
    job *j;
    const curve *cv;
    bool g2;
    bool base_field; /* else the scalar field */
    unsigned log_n;
    bench_row row;
} bench;

/** Uniform elements from SHA-256 of a counter; reduced by clearing the two top bits (both orders are above 2^253). */
void bench_random(const curve *cv, fr *out, size_t n, uint64_t seed)
{
    for (size_t i = 0; i < n; i++) {
        uint8_t in[16];
        scalar s;
        store_u64le(in, seed);
        store_u64le(in + 8, i);
        sha256(s.b, in, sizeof in);
        s.b[31] &= 0x1f;
        (void)cv->fr_from_scalar(&out[i], &s);
    }
}

/* ---- field ---- */

/** The same ring on the portable table must come to the same elements. */
static cuzk_status bench_field(bench *b)
{
    const curve *judge = curve_get(b->cv->id, CPU_TABLE_GENERIC);
    uint64_t ring[2][CURVE_RING_WORDS] = {{0}};
    bool base = b->base_field;

    b->row.n = FIELD_PRODUCTS;
    bench_random(b->cv, (fr *)(void *)ring[0], 16,
                 5); /* words below either modulus are elements of it */
    if (base)
        for (size_t i = 16; i-- > 0;)
            memmove(&ring[0][b->cv->fp_size / 8 * i], &ring[0][4 * i], 32);
    if (base && b->cv->fp_size == 48)
        for (size_t i = 0; i < 16; i++) ring[0][6 * i + 4] = ring[0][6 * i + 5] = i;
    memcpy(ring[1], ring[0], sizeof ring[0]);
    for (unsigned i = 0; i <= b->row.reps; i++) {
        uint64_t t = clock_ns();
        span sp = span_open(SPAN_FIELD);
        if (base)
            b->cv->fp_ring(ring[0], b->row.n);
        else
            b->cv->fr_ring((fr *)(void *)ring[0], b->row.n);
        span_close(&sp);
        if (i > 0) b->row.ns[i - 1] = clock_ns() - t;
    }
    span sp = span_open(SPAN_BENCH);
    for (unsigned i = 0; i <= b->row.reps; i++) {
        if (base)
            judge->fp_ring(ring[1], b->row.n);
        else
            judge->fr_ring((fr *)(void *)ring[1], b->row.n);
    }
    span_close(&sp);
    return memcmp(ring[0], ring[1], sizeof ring[0]) == 0
               ? CUZK_OK
               : FAIL(CUZK_EBUG, "field benchmark: products differ from the portable table's");
}

/* ---- msm ---- */

/** n points k * generator, encoded as in memory. */
static cuzk_status make_points(bench *b, uint8_t *pts, fr *k, size_t n)
{
    size_t inf;
    bench_random(b->cv, k, n, 1);
    return b->g2 ? dev_fixed_base_g2(job_setup_stream(b->j), pts, POINT_LEM, b->cv->id,
                                     &b->cv->g2_gen, k, n, &inf)
                 : dev_fixed_base_g1(job_setup_stream(b->j), pts, POINT_LEM, b->cv->id,
                                     &b->cv->g1_gen, k, n, &inf);
}

/** The sum is (sum of k_i s_i) * generator. */
static cuzk_status check_msm(const bench *b, const fr *k, const fr *s, size_t n, const g1_any *r1,
                             const g2_any *r2)
{
    const curve *cv = b->cv;
    g1_any w1;
    g2_any w2;
    fr sum;

    cv->fr_dot(&sum, k, s, n);
    cv->g1_mul(&w1, &cv->g1_gen, &sum);
    cv->g2_mul(&w2, &cv->g2_gen, &sum);
    return (b->g2 ? cv->g2_eq(&w2, r2) : cv->g1_eq(&w1, r1))
               ? CUZK_OK
               : FAIL(CUZK_EBUG, "msm benchmark: wrong sum");
}

static cuzk_status bench_msm(bench *b)
{
    mem *m = b->j->e->m;
    size_t n = (size_t)1 << b->log_n, size = b->g2 ? b->cv->g2_size : b->cv->g1_size;
    cuzk_status st = CUZK_OK;
    uint8_t *pts = NULL;
    fr *k = NULL, *s = NULL;
    g1_any r1;
    g2_any r2;
    span sp;

    pts = mem_new(m, n, size, &st);
    if (pts == NULL) goto out;
    k = mem_new(m, n, sizeof *k, &st);
    if (k == NULL) goto out;
    s = mem_new(m, n, sizeof *s, &st);
    if (s == NULL) goto out;
    sp = span_open(SPAN_BENCH);
    st = make_points(b, pts, k, n);
    bench_random(b->cv, s, n, 2);
    span_close(&sp);
    if (st != CUZK_OK) goto out;
    dev_points bases = {.data = pts, .n = n, .enc = POINT_LEM, .g2 = b->g2};
    dev_scalars sc = {.n = n, .elems = s};
    mem_reset_peak(m);
    size_t before = mem_used(m);
    dev_keep(b->j->s, true);                      /* as among the sums of a proof */
    for (unsigned i = 0; i <= b->row.reps; i++) { /* the first is warm-up */
        uint64_t t = clock_ns();
        sp = span_open(b->g2 ? SPAN_MSM_B2 : SPAN_MSM_A);
        st = b->g2 ? dev_msm_g2(b->j->s, &r2, b->cv->id, &bases, 0, &sc)
                   : dev_msm_g1(b->j->s, &r1, b->cv->id, &bases, 0, &sc);
        span_close(&sp);
        if (st != CUZK_OK) goto out;
        if (i > 0) b->row.ns[i - 1] = clock_ns() - t;
    }
    b->row.peak = mem_peak(m) - before;
    b->row.n = n;
    sp = span_open(SPAN_BENCH);
    st = check_msm(b, k, s, n, &r1, &r2);
    span_close(&sp);
out:
    sp = span_open(SPAN_FREE);
    dev_keep(b->j->s, false);
    mem_free(m, s);
    mem_free(m, k);
    mem_free(m, pts);
    span_close(&sp);
    return st;
}

/* ---- ntt ---- */

/** The buffer holds the transform of v; its inverse must be v. */
static cuzk_status check_ntt(bench *b, dev_buf *buf, const ntt_domain *dom, const fr *v, fr *back,
                             size_t n)
{
    TRY(dev_ntt(b->j->s, buf, dom, NTT_INVERSE));
    TRY(dev_download(b->j->s, back, buf, 0, n));
    return memcmp(v, back, n * sizeof *v) == 0
               ? CUZK_OK
               : FAIL(CUZK_EBUG, "ntt benchmark: the inverse does not give the input back");
}

static cuzk_status bench_ntt(bench *b)
{
    mem *m = b->j->e->m;
    size_t n = (size_t)1 << b->log_n;
    cuzk_status st = CUZK_OK;
    ntt_domain *dom = NULL;
    dev_buf *buf = NULL;
    fr shift, *v = NULL, *back = NULL;
    span sp = span_open(SPAN_BENCH);

    v = mem_new(m, n, sizeof *v, &st);
    if (v == NULL) goto out;
    back = mem_new(m, n, sizeof *back, &st);
    if (back == NULL) goto out;
    bench_random(b->cv, v, n, 3);
    b->cv->fr_from_u64(&shift, 7);
    TRY_OUT(ntt_domain_new(&dom, b->j->e->dev, b->cv->id, 7, b->log_n, &shift));
    TRY_OUT(dev_buf_new(&buf, b->j->e->dev, n));
    mem_reset_peak(m);
    size_t before = mem_used(m);
    for (unsigned i = 0; i <= b->row.reps; i++) {
        TRY_OUT(dev_upload(b->j->s, buf, 0, v, n));
        TRY_OUT(dev_sync(b->j->s));
        span_close(&sp);
        uint64_t t = clock_ns();
        span ntt = span_open(SPAN_NTT);
        st = dev_ntt(b->j->s, buf, dom, NTT_FORWARD);
        if (st == CUZK_OK) st = dev_sync(b->j->s);
        span_close(&ntt);
        if (i > 0) b->row.ns[i - 1] = clock_ns() - t;
        sp = span_open(SPAN_BENCH);
        if (st != CUZK_OK) goto out;
    }
    b->row.peak = mem_peak(m) - before;
    b->row.n = n;
    st = check_ntt(b, buf, dom, v, back, n);
out:
    dev_buf_free(buf);
    ntt_domain_free(dom);
    mem_free(m, back);
    mem_free(m, v);
    span_close(&sp);
    return st;
}

/* ---- pairing ---- */

static cuzk_status bench_pairing(bench *b)
{
    const curve *cv = b->cv;
    g1_any p[2];
    g2_any q[2];
    fr k;
    bool ok = true;

    span sp = span_open(SPAN_BENCH);
    bench_random(cv, &k, 1, 4);
    cv->g1_mul(&p[0], &cv->g1_gen, &k); /* e(kG, H) e(-G, kH) = 1 */
    q[0] = cv->g2_gen;
    cv->g1_neg(&p[1], &cv->g1_gen);
    cv->g2_mul(&q[1], &cv->g2_gen, &k);
    span_close(&sp);
    for (unsigned i = 0; i <= b->row.reps; i++) {
        uint64_t t = clock_ns();
        sp = span_open(SPAN_PAIRING);
        ok = cv->pairing_check(p, q, 2) && ok;
        span_close(&sp);
        if (i > 0) b->row.ns[i - 1] = clock_ns() - t;
    }
    b->row.n = 2;
    return ok ? CUZK_OK : FAIL(CUZK_EBUG, "pairing benchmark: the product is not 1");
}

/* ---- which ---- */

typedef struct bench_kind {
    const char *name;
    cuzk_status (*run)(bench *b);
    unsigned log_n, reps;    /* defaults */
    const char *variants[2]; /* of a curve: none, or two */
} bench_kind;

static const bench_kind kinds[] = {{"field", bench_field, 0, 20, {"fp", "fr"}},
                                   {"msm", bench_msm, 16, 5, {"g1", "g2"}},
                                   {"ntt", bench_ntt, 20, 5, {NULL, NULL}},
                                   {"pairing", bench_pairing, 0, 50, {NULL, NULL}}};

static cuzk_status pick(const cuzk_bench_args *a, curve_id *from, curve_id *to)
{
    *from = 0;
    *to = CURVE_IDS;
    if (a->curve != NULL) {
        if (!curve_id_from_name(from, a->curve))
            return FAIL(CUZK_EINVAL, "unknown curve %s; known: bn254, bls12-381", a->curve);
        *to = *from + 1;
    }
    if (a->group != NULL && strcmp(a->group, "g1") != 0 && strcmp(a->group, "g2") != 0)
        return FAIL(CUZK_EINVAL, "unknown group %s; known: g1, g2", a->group);
    if (a->log_n > 26) return FAIL(CUZK_EINVAL, "--log-n %u, limit 26", a->log_n);
    return CUZK_OK;
}

/** False: the arguments ask for the other group. */
static bool wanted(const bench_kind *k, unsigned variant, const char *group)
{
    return k->run != bench_msm || group == NULL || strcmp(group, k->variants[variant]) == 0;
}

static cuzk_status run_kind(job *j, const bench_kind *k, const cuzk_bench_args *a, bench_report *r)
{
    curve_id from, to;

    TRY(pick(a, &from, &to));
    for (curve_id id = from; id < to; id++) {
        for (unsigned v = 0; v < (k->variants[0] != NULL ? 2u : 1u); v++) {
            const char *variant = k->variants[v] == NULL ? "" : k->variants[v];
            bench b = {
                .j = j, .cv = curve_get(id, j->e->table), .g2 = v == 1, .base_field = v == 0};
            if (!wanted(k, v, a->group)) continue;
            b.log_n = a->log_n == 0 ? k->log_n : a->log_n;
            b.row.reps = a->reps == 0 ? k->reps : a->reps;
            snprintf(b.row.name, sizeof b.row.name, "%s %s%s%s", k->name, b.cv->name,
                     *variant == '\0' ? "" : " ", variant);
            TRY(k->run(&b));
            bench_report_row(r, &b.row);
            if (k->run == bench_field && !a->json)
                bytes_printf(r->o, "# %s: %.1f cycles a product, fastest run\n", b.row.name,
                             (double)b.row.ns[0] / (double)b.row.n * bench_clock_ghz());
        }
    }
    return CUZK_OK;
}

static cuzk_status run_kinds(job *j, const cuzk_bench_args *a, bench_report *r)
{
    bool known = a->name == NULL;

    if (a->circuit != NULL)
        return FAIL(CUZK_EINVAL, "a circuit (--circuit) is for bench synth and bench prove");
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (a->name != NULL && strcmp(a->name, kinds[i].name) != 0) continue;
        known = true;
        TRY(run_kind(j, &kinds[i], a, r));
    }
    return known ? CUZK_OK
                 : FAIL(CUZK_EINVAL,
                        "unknown benchmark %s; known: field, msm, ntt, pairing, synth, verify, "
                        "aggregate, prove",
                        a->name);
}

static cuzk_status run_all(job *j, const cuzk_bench_args *a, bytes_out *o)
{
    bench_report r = {.o = o, .json = a->json};

    if (a->reps > BENCH_MAX_REPS)
        return FAIL(CUZK_EINVAL, "--reps %u, limit %u", a->reps, BENCH_MAX_REPS);
    bench_report_begin(&r, j->e);
    if (a->name != NULL && strcmp(a->name, "synth") == 0)
        TRY(bench_synth(j, a, &r));
    else if (a->name != NULL && strcmp(a->name, "aggregate") == 0)
        TRY(bench_aggregate(j, a, &r));
    else if (a->name != NULL && strcmp(a->name, "prove") == 0)
        TRY(bench_prove(j, a, &r));
    else if (a->name != NULL && strcmp(a->name, "verify") == 0)
        TRY(bench_verify(j, a, &r));
    else
        TRY(run_kinds(j, a, &r));
    bench_report_end(&r);
    return CUZK_OK;
}

cuzk_status cuzk_bench(cuzk_engine *e, const cuzk_bench_args *args, cuzk_buffer *json)
{
    job j;
    bytes_out o;

    TRY(job_begin(&j, e));
    bytes_out_init(&o, e->m);
    cuzk_status st = run_all(&j, args, &o);
    if (st == CUZK_OK) st = buffer_from_out(json, &o);
    bytes_out_clear(&o);
    job_end(&j);
    return st;
}
