/*
 * cross/test_cuda_keys.c - a key's points on a GPU: kept as a whole, in part or not at all, by several keys, before they are wanted
 *
 * What is kept and what crosses the bus is as device/residency.h says, and every sum is that of the CPU. Skipped without a GPU.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <pthread.h>

#include "device/device.h"
#include "harness/harness.h"

#define N ((size_t)400000) /* points of a list */
#define DISTINCT ((size_t)5000)
#define LISTS 5u
#define LIMIT ((size_t)640 << 20)
#define LITTLE ((size_t)176 << 20) /* sums go chunk by chunk */

typedef struct rig {
    mem *m;
    pool *p;
    device *cpu, *gpu;
    dev_stream *cpu_s, *s;
    const curve *cv;
    uint8_t *points[POINT_ZCASH + 1]; /* the same in both forms */
    fr *k;
    g1_any want; /* of all points with k */
    size_t limit;
} rig;

/* Lists of one key, all of the same points. */
typedef struct key {
    dev_points list[LISTS];
    size_t size; /* bytes of a list on a device */
} key;

static void open_gpu(rig *t, size_t limit)
{
    device_config config = {.name = "cuda:0",
                            .table = cpu_table_best(),
                            .pool = t->p,
                            .m = t->m,
                            .device_memory = limit};
    cuzk_status st = device_open(&t->gpu, &config);

    t->limit = limit;
    if (st == CUZK_EINVAL || st == CUZK_EDEVICE) { /* not built, or no driver, or no GPU */
        const char *why = cuzk_last_error()->message;
        if (strstr(why, ": no ") != NULL) {
            pool_close(t->p);
            mem_close(t->m);
            harness_skip("no GPU: %s", why);
        }
    }
    assert_status_ok(st);
    assert_status_ok(dev_stream_open(&t->s, t->gpu, NULL));
}

static void close_gpu(rig *t)
{
    dev_stream_close(t->s);
    device_close(t->gpu);
    t->s = NULL;
    t->gpu = NULL;
}

static void random_fr(const curve *cv, fr *out)
{
    scalar s;

    do {
        harness_random_bytes(&s, sizeof s);
        s.b[31] &= 0x7f;
    } while (!cv->fr_from_scalar(out, &s));
}

static void make_points(rig *t)
{
    size_t size = t->cv->g1_size;

    t->k = malloc(N * sizeof *t->k);
    assert_non_null(t->k);
    for (size_t i = 0; i < N; i++) random_fr(t->cv, &t->k[i]);
    for (unsigned enc = 0; enc <= POINT_ZCASH; enc++) {
        uint8_t *p = malloc(N * size);

        assert_non_null(p);
        assert_status_ok(dev_fixed_base_g1(t->cpu_s, p, (point_enc)enc, t->cv->id, &t->cv->g1_gen,
                                           t->k, DISTINCT, NULL));
        for (size_t i = DISTINCT; i < N; i++) memcpy(p + i * size, p + i % DISTINCT * size, size);
        t->points[enc] = p;
    }
}

static void rig_open(rig *t, size_t limit)
{
    device_config config = {.name = "cpu", .table = cpu_table_best()};
    dev_points b = {.n = N, .enc = POINT_LEM, .trusted = true};
    dev_scalars all = {.n = N};

    memset(t, 0, sizeof *t);
    assert_status_ok(mem_open(&t->m, "keys", 0, NULL));
    assert_status_ok(pool_open(&t->p, 4, NULL));
    open_gpu(t, limit);
    config.pool = t->p;
    config.m = t->m;
    assert_status_ok(device_open(&t->cpu, &config));
    assert_status_ok(dev_stream_open(&t->cpu_s, t->cpu, NULL));
    t->cv = device_curve(t->cpu, CURVE_ID_BLS12_381);
    make_points(t);
    b.data = t->points[POINT_LEM];
    all.elems = t->k;
    assert_status_ok(dev_msm_g1(t->cpu_s, &t->want, t->cv->id, &b, 0, &all));
}

static void rig_close(rig *t)
{
    close_gpu(t);
    dev_stream_close(t->cpu_s);
    device_close(t->cpu);
    pool_close(t->p);
    free(t->k);
    for (unsigned enc = 0; enc <= POINT_ZCASH; enc++) free(t->points[enc]);
    assert_int_equal(mem_used(t->m), 0);
    mem_close(t->m);
}

/* Of which `room` bytes may stay: the rest is said to be wanted for buffers, and half of what these leave for sums. */
static key key_of(const rig *t, size_t room)
{
    dev_keeping keep = {.set = dev_points_id(), .longest = N, .during = t->limit - 2 * room};
    key x = {.size = N * t->cv->g1_size};

    for (unsigned i = 0; i < LISTS; i++) {
        point_enc enc = i % 2 == 0 ? POINT_ZCASH : POINT_LEM;

        x.list[i] = (dev_points){
            .data = t->points[enc], .n = N, .enc = enc, .id = dev_points_id(), .keep = keep};
    }
    return x;
}

static void expect_sum(const rig *t, const dev_points *b)
{
    dev_scalars all = {.n = N, .elems = t->k};
    g1_any got;

    memset(&got, 0, sizeof got);
    assert_status_ok(dev_msm_g1(t->s, &got, t->cv->id, b, 0, &all));
    assert_bytes_equal(&got, &t->want, t->cv->g1_size);
}

static uint64_t brought(const rig *t)
{
    device_info info;

    device_info_get(t->gpu, &info);
    return info.points_in;
}

/* A proof's sums; returns what crossed the bus for them. */
static uint64_t use(const rig *t, const key *x)
{
    uint64_t before = brought(t);

    dev_points_want(t->gpu, x->list[0].keep.set, DEV_WANT_NOW, true);
    for (unsigned i = 0; i < LISTS; i++) expect_sum(t, &x->list[i]);
    dev_points_want(t->gpu, x->list[0].keep.set, DEV_WANT_NOW, false);
    return brought(t) - before;
}

static uint64_t kept(const rig *t, const key *x)
{
    uint64_t n = 0;

    for (unsigned i = 0; i < LISTS; i++) n += dev_points_kept(t->gpu, x->list[i].id);
    return n;
}

static void forget(const rig *t, const key *x)
{
    for (unsigned i = 0; i < LISTS; i++) dev_points_forget(t->gpu, x->list[i].id);
    assert_int_equal(kept(t, x), 0);
}

/* ---- one key ---- */

/* Half lists of room: the front of the key stays, and the rest crosses the bus for each proof. */
static void test_parts(void **state)
{
    rig t;

    (void)state;
    rig_open(&t, LIMIT);
    for (size_t halves = 1; halves <= 2 * LISTS; halves++) {
        size_t size = t.cv->g1_size, points = halves * (N / 2), left = LISTS * N - points;
        key x = key_of(&t, points * size);

        assert_int_equal(use(&t, &x), LISTS * x.size);
        assert_int_equal(kept(&t, &x), points * size);
        assert_int_equal(dev_points_kept(t.gpu, x.list[0].id), (halves == 1 ? N / 2 : N) * size);
        assert_int_equal(use(&t, &x), left * size);
        assert_int_equal(kept(&t, &x), points * size);
        forget(&t, &x);
    }
    rig_close(&t);
}

static void test_none(void **state)
{
    rig t;
    key x;

    (void)state;
    rig_open(&t, LITTLE);
    x = key_of(&t, N / 64 * t.cv->g1_size); /* so few that they are not worth it */
    for (int round = 0; round < 2; round++) assert_int_equal(use(&t, &x), LISTS * x.size);
    assert_int_equal(kept(&t, &x), 0);
    for (unsigned i = 0; i < LISTS; i++) x.list[i].id = 0;
    assert_int_equal(use(&t, &x), LISTS * x.size);
    x = key_of(&t, N / 2 * t.cv->g1_size); /* a chunk that is partly there */
    (void)use(&t, &x);
    assert_int_equal(use(&t, &x), LISTS * x.size - N / 2 * t.cv->g1_size);
    rig_close(&t);
}

/* Another device's part of a list, then all of it. */
static void test_ranges(void **state)
{
    rig t;
    key x;
    dev_buf *k;
    dev_scalars half = {.n = N / 2};
    dev_points b = {.n = N, .enc = POINT_LEM, .trusted = true};
    g1_any want, got;
    uint64_t before;

    (void)state;
    rig_open(&t, LIMIT);
    before = brought(&t); /* by the start-up check */
    x = key_of(&t, LISTS * N * t.cv->g1_size);
    b.data = t.points[POINT_LEM];
    half.elems = t.k;
    assert_status_ok(dev_msm_g1(t.cpu_s, &want, t.cv->id, &b, N / 2, &half));
    assert_status_ok(dev_buf_new(&k, t.gpu, N / 2));
    assert_status_ok(dev_upload(t.s, k, 0, t.k, N / 2));
    for (int round = 0; round < 2; round++) {
        assert_status_ok(dev_msm_g1_buf(t.s, &got, t.cv->id, &x.list[0], N / 2, k, N / 2));
        assert_bytes_equal(&got, &want, t.cv->g1_size);
        assert_int_equal(kept(&t, &x), x.size / 2);
        assert_int_equal(brought(&t) - before, x.size / 2);
    }
    expect_sum(&t, &x.list[0]);
    assert_int_equal(kept(&t, &x), x.size);
    dev_buf_free(k);
    rig_close(&t);
}

static void test_malformed(void **state)
{
    rig t;
    key x;
    g1_any r;
    dev_scalars all = {.n = N};

    (void)state;
    rig_open(&t, LIMIT);
    all.elems = t.k;
    for (int keeps = 0; keeps < 2; keeps++) {
        x = key_of(&t, LISTS * N * t.cv->g1_size);
        x.list[0].id = keeps == 0 ? 0 : x.list[0].id;
        t.points[POINT_ZCASH][(N - 3) * t.cv->g1_size] |= 0x80;
        t.points[POINT_ZCASH][(N - 2) * t.cv->g1_size + 50] ^= 1;
        if (keeps != 0) {
            assert_status_is(dev_points_load(t.s, t.cv->id, &x.list[0]), CUZK_EDATA);
            assert_non_null(strstr(cuzk_last_error()->message, "point 399997:"));
        }
        assert_status_is(dev_msm_g1(t.s, &r, t.cv->id, &x.list[0], 0, &all), CUZK_EDATA);
        assert_non_null(strstr(cuzk_last_error()->message, "point 399997:"));
        t.points[POINT_ZCASH][(N - 3) * t.cv->g1_size] &= 0x7f;
        t.points[POINT_ZCASH][(N - 2) * t.cv->g1_size + 50] ^= 1;
        expect_sum(&t, &x.list[0]); /* what is good now is brought in now */
    }
    rig_close(&t);
}

/* ---- before it is wanted ---- */

typedef struct loader {
    const rig *t;
    const key *x;
} loader;

static void *load_all(void *ctx)
{
    const loader *l = ctx;
    dev_stream *s;
    cuzk_status st = dev_stream_open(&s, l->t->gpu, NULL);

    for (unsigned i = 0; i < LISTS && st == CUZK_OK; i++)
        st = dev_points_load(s, l->t->cv->id, &l->x->list[i]);
    dev_stream_close(s);
    return st == CUZK_OK ? NULL : ctx;
}

/* Sums are taken while the key comes: each byte crosses the bus once, whoever brings it. */
static void test_loaded_beside(void **state)
{
    rig t;

    (void)state;
    rig_open(&t, LIMIT);
    for (int round = 0; round < 4; round++) {
        key x = key_of(&t, LISTS * N * t.cv->g1_size);
        loader l = {&t, &x};
        uint64_t before = brought(&t);
        pthread_t thread;
        void *failed;

        assert_int_equal(pthread_create(&thread, NULL, load_all, &l), 0);
        (void)use(&t, &x);
        assert_int_equal(pthread_join(thread, &failed), 0);
        assert_null(failed);
        assert_int_equal(brought(&t) - before, LISTS * x.size);
        assert_int_equal(kept(&t, &x), LISTS * x.size);
        forget(&t, &x);
    }
    rig_close(&t);
}

/* ---- several keys ---- */

/* Buffers take what is said to be wanted for them, so that both keys do not fit: the one that is wanted stays as it is, whatever the
 * other's proofs do, and goes when it is wanted no more. */
static void test_two_keys(void **state)
{
    rig t;
    key a, b;
    dev_buf *buffers;
    uint64_t in_part;

    (void)state;
    rig_open(&t, LIMIT);
    a = key_of(&t, LISTS * N * t.cv->g1_size + (1 << 20));
    b = key_of(&t, LISTS * N * t.cv->g1_size + (1 << 20));
    assert_status_ok(dev_buf_new(&buffers, t.gpu, a.list[0].keep.during / sizeof(fr)));
    dev_points_want(t.gpu, a.list[0].keep.set, DEV_WANT_QUEUED, true);
    assert_int_equal(use(&t, &a), LISTS * a.size);
    assert_int_equal(kept(&t, &a), LISTS * a.size);
    for (int round = 0; round < 2; round++) {
        assert_int_equal(use(&t, &b), LISTS * b.size);
        assert_int_equal(use(&t, &a), 0);
        assert_int_equal(kept(&t, &b), 0);
    }
    dev_points_want(t.gpu, a.list[0].keep.set, DEV_WANT_QUEUED, false);
    (void)use(&t, &b);
    assert_int_equal(use(&t, &b), 0);
    assert_int_equal(kept(&t, &b), LISTS * b.size);
    in_part = kept(&t, &a);
    assert_true(in_part < LISTS * a.size); /* what there is room for */
    dev_buf_free(buffers);
    rig_close(&t);
}

/* WinningPoSt's: nothing displaces it, until it is forgotten. */
static void test_always(void **state)
{
    rig t;
    key a, b;
    dev_buf *buffers = NULL;

    (void)state;
    rig_open(&t, LIMIT);
    a = key_of(&t, LISTS * N * t.cv->g1_size);
    for (unsigned i = 0; i < LISTS; i++) a.list[i].keep.always = true;
    assert_int_equal(use(&t, &a), LISTS * a.size);
    b = key_of(&t, LISTS * N * t.cv->g1_size / 5 * 8);
    (void)use(&t, &b);
    assert_true(kept(&t, &b) != 0);
    assert_int_equal(kept(&t, &a), LISTS * a.size);
    assert_status_is(dev_buf_new(&buffers, t.gpu, (LIMIT - a.size) / sizeof(fr)), CUZK_EBUDGET);
    assert_int_equal(kept(&t, &a), LISTS * a.size);
    assert_int_equal(use(&t, &a), 0);
    forget(&t, &a);
    assert_status_ok(dev_buf_new(&buffers, t.gpu, (LIMIT - a.size) / sizeof(fr)));
    assert_int_equal(kept(&t, &b), 0);
    dev_buf_free(buffers);
    rig_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts),         cmocka_unit_test(test_none),
        cmocka_unit_test(test_ranges),        cmocka_unit_test(test_malformed),
        cmocka_unit_test(test_loaded_beside), cmocka_unit_test(test_two_keys),
        cmocka_unit_test(test_always)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
