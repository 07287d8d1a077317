/*
 * cross/test_cuda_cross.c - the CUDA backend against the CPU backend, bit for bit, at sizes where every path runs
 *
 * Sums with scalars and points that are random and adversarial, with all of the device's memory and with little, points
 * that stay on the device, transforms of every kind. Skipped without a GPU. The unit tests of device run on it too.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "base/clock.h"
#include "device/device.h"
#include "harness/harness.h"

#define LITTLE ((size_t)320 << 20) /* chunks and small groups at these sizes */

typedef struct pair {
    mem *m;
    pool *p;
    device *cpu, *gpu;
    dev_stream *cpu_s, *gpu_s;
} pair;

static void pair_close(pair *t)
{
    dev_stream_close(t->gpu_s);
    device_close(t->gpu);
    dev_stream_close(t->cpu_s);
    device_close(t->cpu);
    pool_close(t->p);
    assert_int_equal(mem_used(t->m), 0);
    mem_close(t->m);
}

static void pair_open(pair *t, size_t device_memory)
{
    device_config config = {.name = "cpu", .table = cpu_table_best()};
    cuzk_status st;

    memset(t, 0, sizeof *t);
    assert_status_ok(mem_open(&t->m, "cross", 0, NULL));
    assert_status_ok(pool_open(&t->p, 2, NULL));
    config.pool = t->p;
    config.m = t->m;
    assert_status_ok(device_open(&t->cpu, &config));
    assert_status_ok(dev_stream_open(&t->cpu_s, t->cpu, NULL));
    config.name = "cuda:0";
    config.device_memory = device_memory;
    st = device_open(&t->gpu, &config);
    if (st == CUZK_EINVAL || st == CUZK_EDEVICE) { /* not built, or no driver, or no GPU */
        const char *why = cuzk_last_error()->message;
        if (strstr(why, ": no ") != NULL) {
            pair_close(t);
            harness_skip("no GPU: %s", why);
        }
    }
    assert_status_ok(st);
    assert_status_ok(dev_stream_open(&t->gpu_s, t->gpu, NULL));
}

static void *array(size_t n, size_t size)
{
    void *p = calloc(n == 0 ? 1 : n, size);

    assert_non_null(p);
    return p;
}

static void random_fr(const curve *cv, fr *out)
{
    scalar s;

    do {
        harness_random_bytes(&s, sizeof s);
        s.b[31] &= 0x7f;
    } while (!cv->fr_from_scalar(out, &s));
}

/* ---- sums ---- */

typedef enum scalar_kind { UNIFORM, WITNESS, EQUAL, SIGNS, SMALL, TOP, KINDS } scalar_kind;

static void make_scalars(const curve *cv, fr *k, size_t n, scalar_kind what)
{
    fr one;

    random_fr(cv, &one);
    for (size_t i = 0; i < n; i++) {
        uint64_t x = harness_random_below(16);
        random_fr(cv, &k[i]);
        switch (what) {
        case WITNESS:
            if (x < 8) cv->fr_from_u64(&k[i], x & 1);
            if (x >= 8 && x < 12) cv->fr_from_u64(&k[i], harness_random_u64() >> (4 * x));
            break;
        case EQUAL: k[i] = one; break; /* each window in one bucket */
        case SIGNS:
            cv->fr_from_u64(&k[i], x < 10 ? 1 : 0);
            if (x < 5) cv->fr_neg(&k[i], &k[i]);
            break;
        case SMALL: cv->fr_from_u64(&k[i], x); break;
        case TOP: /* r - 1, (r - 1)/2 and their neighbours */
            cv->fr_from_u64(&k[i], x & 1);
            cv->fr_sub(&k[i], &k[i], &cv->fr_one);
            if (x >= 8) {
                fr half;
                cv->fr_from_u64(&half, 2);
                cv->fr_inv(&half, &half);
                cv->fr_mul(&k[i], &k[i], &half);
            }
            break;
        case UNIFORM:
        case KINDS: break;
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
        g1_any b = {{0}};
        switch (harness_random_below(20)) {
        case 0: memset(p, 0, size); break;
        case 1: memcpy(p, p - size, size); break;
        case 2:
            if (g2) {
                memcpy(&a, p - size, size);
                cv->g2_neg(&a, &a);
                memcpy(p, &a, size);
            } else {
                memcpy(&b, p - size, size);
                cv->g1_neg(&b, &b);
                memcpy(p, &b, size);
            }
            break;
        default: break;
        }
    }
}

static void sum(dev_stream *s, g2_any *out, curve_id id, const dev_points *b, const dev_scalars *k)
{
    g1_any r;

    memset(out, 0, sizeof *out);
    if (b->g2) {
        assert_status_ok(dev_msm_g2(s, out, id, b, 0, k));
        return;
    }
    memset(&r, 0, sizeof r);
    assert_status_ok(dev_msm_g1(s, &r, id, b, 0, k));
    memcpy(out, &r, sizeof r);
}

static void compare_sums(const pair *t, curve_id id, bool g2, size_t n)
{
    const curve *cv = device_curve(t->cpu, id);
    size_t size = g2 ? cv->g2_size : cv->g1_size;
    uint8_t *points = array(n, size);
    uint64_t *select = array(n / 64 + 1, 8);
    fr *k = array(n, sizeof *k);
    dev_points b = {.data = points, .n = n, .enc = POINT_LEM, .g2 = g2, .id = dev_points_id()};

    make_scalars(cv, k, n, UNIFORM);
    assert_status_ok(
        g2 ? dev_fixed_base_g2(t->cpu_s, points, POINT_LEM, id, &cv->g2_gen, k, n, NULL)
           : dev_fixed_base_g1(t->cpu_s, points, POINT_LEM, id, &cv->g1_gen, k, n, NULL));
    disturb(cv, points, n, g2);
    harness_random_bytes(select, n / 64 * 8);
    for (unsigned what = 0; what < KINDS; what++) {
        dev_scalars s = {.n = n, .elems = k, .select = what % 2 == 0 ? NULL : select};
        g2_any want, got;
        make_scalars(cv, k, n, (scalar_kind)what);
        sum(t->cpu_s, &want, id, &b, &s);
        sum(t->gpu_s, &got, id, &b, &s);
        assert_bytes_equal(&got, &want, size);
        b.id = what % 3 == 0 ? b.id : 0; /* kept, then not */
        sum(t->gpu_s, &got, id, &b, &s);
        assert_bytes_equal(&got, &want, size);
    }
    free(k);
    free(select);
    free(points);
}

static void test_sums(void **state)
{
    pair t;

    (void)state;
    pair_open(&t, 0);
    for (unsigned id = 0; id < CURVE_IDS; id++) {
        compare_sums(&t, (curve_id)id, false, 70000);
        compare_sums(&t, (curve_id)id, true, 9000);
    }
    pair_close(&t);
}

static void test_sums_in_little_memory(void **state)
{
    pair t;

    (void)state;
    pair_open(&t, LITTLE);
    for (unsigned id = 0; id < CURVE_IDS; id++) {
        compare_sums(&t, (curve_id)id, false, 150000);
        compare_sums(&t, (curve_id)id, true, 20000);
    }
    pair_close(&t);
}

/* ---- scalars that stay on the device ---- */

typedef struct packed {
    size_t n;
    uint64_t *is_elem, *bits, *select;
    uint32_t *rank64;
    fr *elems;
    dev_scalars k;
} packed;

/* One value in eight is an element; half of the positions take part. */
static void pack(packed *p, const curve *cv, size_t n, bool selected)
{
    size_t words = n / 64 + 1, elems = 0, taken = 0;

    *p = (packed){.n = n,
                  .is_elem = array(words, 8),
                  .bits = array(words, 8),
                  .select = array(words, 8),
                  .rank64 = array(words, 4),
                  .elems = array(n, sizeof(fr))};
    for (size_t i = 0; i < n; i++) {
        if (i % 64 == 0) p->rank64[i / 64] = (uint32_t)elems;
        if (harness_random_below(2) == 0) {
            p->select[i / 64] |= (uint64_t)1 << i % 64;
            taken++;
        }
        if (harness_random_below(8) != 0) continue;
        p->is_elem[i / 64] |= (uint64_t)1 << i % 64;
        random_fr(cv, &p->elems[elems++]);
    }
    harness_random_bytes(p->bits, words * 8);
    p->k = (dev_scalars){.n = n,
                         .elems = p->elems,
                         .bits = p->bits,
                         .is_elem = p->is_elem,
                         .rank64 = p->rank64,
                         .select = selected ? p->select : NULL,
                         .n_selected = selected ? taken : 0,
                         .id = dev_points_id(),
                         .layout_id = dev_points_id(),
                         .select_id = selected ? dev_points_id() : 0};
}

static void pack_free(packed *p)
{
    free(p->is_elem);
    free(p->bits);
    free(p->select);
    free(p->rank64);
    free(p->elems);
}

/* The same sum twice, then with other values in the same layout: what is kept is used, and only as long as it is valid. */
static void compare_kept(const pair *t, curve_id id, bool g2, size_t n, bool selected)
{
    const curve *cv = device_curve(t->cpu, id);
    size_t size = g2 ? cv->g2_size : cv->g1_size;
    uint8_t *points = array(n, size);
    fr *logs = array(n, sizeof *logs);
    dev_points b = {.data = points, .n = n, .enc = POINT_LEM, .g2 = g2, .id = dev_points_id()};
    g2_any want, got;
    packed p;

    for (size_t i = 0; i < n; i++) random_fr(cv, &logs[i]);
    assert_status_ok(
        g2 ? dev_fixed_base_g2(t->cpu_s, points, POINT_LEM, id, &cv->g2_gen, logs, n, NULL)
           : dev_fixed_base_g1(t->cpu_s, points, POINT_LEM, id, &cv->g1_gen, logs, n, NULL));
    pack(&p, cv, n, selected);
    for (int round = 0; round < 3; round++) {
        if (round == 2) {
            dev_forget(t->gpu, p.k.id);
            p.k.id = dev_points_id();
            harness_random_bytes(p.bits, n / 64 * 8);
            random_fr(cv, &p.elems[0]);
        }
        sum(t->cpu_s, &want, id, &b, &p.k);
        sum(t->gpu_s, &got, id, &b, &p.k);
        assert_bytes_equal(&got, &want, size);
    }
    dev_forget(t->gpu, p.k.id);
    pack_free(&p);
    free(logs);
    free(points);
}

static void test_kept_scalars(void **state)
{
    pair t;

    (void)state;
    for (int little = 0; little < 2; little++) {
        pair_open(&t, little != 0 ? LITTLE : 0);
        for (unsigned id = 0; id < CURVE_IDS; id++)
            for (int selected = 0; selected < 2; selected++) {
                compare_kept(&t, (curve_id)id, false, little != 0 ? 400001 : 70001, selected != 0);
                compare_kept(&t, (curve_id)id, true, 9000, selected != 0);
            }
        pair_close(&t);
    }
}

/* ---- multiples of one point ---- */

/* More than a chunk, zeros among them; to the host in a key's form, and to points that stay there and are summed. */
static void compare_fixed(const pair *t, curve_id id, bool g2, size_t n)
{
    const curve *cv = device_curve(t->cpu, id);
    point_enc enc = id == CURVE_ID_BLS12_381 ? POINT_ZCASH : POINT_LEM;
    size_t size = cv->point_size(g2, enc), lem = cv->point_size(g2, POINT_LEM), inf[2];
    const void *gen = g2 ? (const void *)&cv->g2_gen : (const void *)&cv->g1_gen;
    uint8_t *want = array(n, size), *got = array(n, size), *points = array(n, lem);
    fr *k = array(n, sizeof *k);
    dev_points home, host = {.data = points, .n = n, .enc = POINT_LEM, .g2 = g2};
    dev_scalars s = {.n = n, .elems = k};
    g2_any sums[2];
    dev_fixed *f[2];

    for (size_t i = 0; i < n; i++) random_fr(cv, &k[i]);
    assert_status_ok(dev_fixed_new(&f[0], t->cpu_s, id, g2, gen, n));
    assert_status_ok(dev_fixed_new(&f[1], t->gpu_s, id, g2, gen, n));
    for (int round = 0; round < 2; round++) {
        assert_status_ok(dev_fixed_mul(t->cpu_s, want, enc, f[0], k, n, &inf[0]));
        assert_status_ok(dev_fixed_mul(t->gpu_s, got, enc, f[1], k, n, &inf[1]));
        assert_int_equal(inf[0], inf[1]);
        assert_bytes_equal(got, want, n * size);
        k[n / 2] = k[n - 1] = cv->fr_zero;
    }
    assert_status_ok(dev_fixed_mul(t->cpu_s, points, POINT_LEM, f[0], k, n, NULL));
    assert_status_ok(dev_points_new(&home, t->gpu, id, g2, n));
    assert_status_is(dev_fixed_keep(t->gpu_s, &home, 1, f[1], k, n, NULL), CUZK_EINVAL);
    assert_status_ok(dev_fixed_keep(t->gpu_s, &home, 0, f[1], k, n / 3, &inf[1]));
    assert_true(inf[1] == SIZE_MAX);
    assert_status_ok(dev_fixed_keep(t->gpu_s, &home, n / 3, f[1], k + n / 3, n - n / 3, &inf[1]));
    assert_int_equal(inf[1], n / 2 - n / 3);
    sum(t->cpu_s, &sums[0], id, &host, &s);
    sum(t->gpu_s, &sums[1], id, &home, &s);
    assert_bytes_equal(&sums[1], &sums[0], lem);
    dev_points_free(&home);
    dev_fixed_free(f[0]);
    dev_fixed_free(f[1]);
    free(k);
    free(points);
    free(got);
    free(want);
}

static void test_fixed(void **state)
{
    pair t;

    (void)state;
    for (int little = 0; little < 2; little++) {
        pair_open(&t, little != 0 ? LITTLE : 0);
        for (unsigned id = 0; id < CURVE_IDS; id++) {
            compare_fixed(&t, (curve_id)id, false, little != 0 ? 100000 : 400000);
            compare_fixed(&t, (curve_id)id, true, 90000);
        }
        pair_close(&t);
    }
}

/* ---- transforms ---- */

static void compare_ntt(const pair *t, curve_id id, unsigned log_n, unsigned kind)
{
    const curve *cv = device_curve(t->cpu, id);
    size_t n = (size_t)1 << log_n;
    fr *x = array(n, sizeof *x), *want = array(n, sizeof *x), *got = array(n, sizeof *x), shift;
    device *const d[2] = {t->cpu, t->gpu};
    dev_stream *const s[2] = {t->cpu_s, t->gpu_s};

    for (size_t i = 0; i < n; i++) random_fr(cv, &x[i]);
    random_fr(cv, &shift);
    for (int k = 0; k < 2; k++) {
        ntt_domain *dom;
        dev_buf *b;
        assert_status_ok(ntt_domain_new(&dom, d[k], id, 5, log_n, &shift));
        assert_status_ok(dev_buf_new(&b, d[k], n));
        assert_status_ok(dev_upload(s[k], b, 0, x, n));
        assert_status_ok(dev_ntt(s[k], b, dom, (ntt_kind)kind));
        assert_status_ok(dev_download(s[k], k == 0 ? want : got, b, 0, n));
        dev_buf_free(b);
        ntt_domain_free(dom);
    }
    assert_bytes_equal(got, want, n * sizeof *x);
    free(x);
    free(want);
    free(got);
}

static void test_transforms(void **state)
{
    pair t;

    (void)state;
    pair_open(&t, 0);
    for (unsigned id = 0; id < CURVE_IDS; id++)
        for (unsigned log_n = 0; log_n <= 20; log_n++)
            for (unsigned kind = 0; kind <= NTT_TO_COSET; kind++)
                if (log_n < 15 || (log_n + kind) % 3 == 0)
                    compare_ntt(&t, (curve_id)id, log_n, kind);
    pair_close(&t);
}

/* ---- the device's own time ---- */

#define TIMED_LOG_N 18
#define TIMED 600 /* transforms in a proof: more marks than there is room for at once */

typedef struct seen_tracks {
    uint64_t from, to, n, ntt, last;
} seen_tracks;

/* Work of one stream comes in order, within the time in which it was asked for. */
static void see_work(void *ctx, const span_seen *s)
{
    seen_tracks *k = ctx;

    if (strcmp(s->track, "cuda:0") != 0) return;
    assert_true(s->start >= k->last && s->end > s->start && s->start >= k->from && s->end <= k->to);
    k->last = s->end;
    k->n++;
    k->ntt += s->kind == SPAN_GPU_NTT;
}

static void timed_proof(pair *t, ntt_domain *dom, dev_buf *b, const fr *in, unsigned n)
{
    dev_work_begin(t->gpu_s);
    assert_status_ok(dev_upload(t->gpu_s, b, 0, in, (size_t)1 << TIMED_LOG_N));
    for (unsigned i = 0; i < n; i++) assert_status_ok(dev_ntt(t->gpu_s, b, dom, NTT_TO_COSET));
    dev_work_end(t->gpu_s);
}

static void test_time(void **state)
{
    const size_t n = (size_t)1 << TIMED_LOG_N;
    span_rec *r = NULL;
    seen_tracks k = {0};
    ntt_domain *dom;
    dev_times s;
    dev_buf *b;
    pair t;
    fr *in, shift;

    (void)state;
    pair_open(&t, 0);
    in = array(n, sizeof *in); /* not before: without a GPU the test ends there */
    const curve *cv = device_curve(t.gpu, CURVE_ID_BLS12_381);
    assert_status_ok(span_rec_open(&r));
    assert_status_ok(span_attach(r, "main"));
    cv->fr_from_u64(&shift, 7);
    assert_status_ok(ntt_domain_new(&dom, t.gpu, cv->id, 7, TIMED_LOG_N, &shift));
    assert_status_ok(dev_buf_new(&b, t.gpu, n));
    assert_status_ok(dev_upload(t.gpu_s, b, 0, in, n)); /* of no proof */
    assert_status_ok(dev_sync(t.gpu_s));
    dev_times_get(t.gpu, &s);
    assert_int_equal(s.proofs, 0);
    k.from = clock_ns();
    timed_proof(&t, dom, b, in, 3);
    timed_proof(&t, dom, b, in, TIMED);
    k.to = clock_ns();
    dev_times_get(t.gpu, &s);
    assert_int_equal(s.proofs, 2);
    assert_int_equal(s.n[SPAN_GPU_NTT], 3 + TIMED);
    assert_true(s.n[SPAN_GPU_COPY_IN] >= 2);
    assert_true(s.busy_ns <= s.window_ns && s.window_ns + s.tail_ns <= k.to - k.from);
    assert_true(s.ns[SPAN_GPU_NTT] + s.ns[SPAN_GPU_COPY_IN] == s.busy_ns);
    assert_true(s.busy_ns >= (uint64_t)TIMED * 10000); /* less than any GPU takes for them */
    span_each(r, 0, see_work, &k);
    assert_int_equal(k.ntt, 3 + TIMED);
    assert_int_equal(k.n, s.n[SPAN_GPU_NTT] + s.n[SPAN_GPU_COPY_IN]);
    span_rec_close(r);
    dev_buf_free(b);
    ntt_domain_free(dom);
    free(in);
    pair_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums),         cmocka_unit_test(test_sums_in_little_memory),
        cmocka_unit_test(test_kept_scalars), cmocka_unit_test(test_fixed),
        cmocka_unit_test(test_transforms),   cmocka_unit_test(test_time)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
