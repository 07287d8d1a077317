/*
 * unit/device/test_cuda_residency.c - how a GPU's backend brings in, keeps and gives up points, over a runtime of plain memory
 *
 * The files under test are those that decide and copy (cuda_points.c, cuda_kept.c, cuda_mem.c, cuda_copy.c); the CUDA runtime and the
 * one kernel are played here, in host memory, at once. Random parts of lists under random room, by several threads, and with each
 * call of the runtime failing in turn. Needs no GPU.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <cuda_runtime_api.h>
#include <stdatomic.h>

#include "device/cuda/cuda_msm.h"
#include "harness/harness.h"

#define SIZE ((size_t)96) /* of a point */
#define BAD 0xbad0bad0u   /* a point that begins so is malformed */

/* ---- a runtime of plain memory ---- */

static _Atomic long calls, fail_at; /* the fail_at-th call fails; 0: none */
static _Atomic long blocks;         /* that are out */

static cudaError_t call(void)
{
    long n = atomic_fetch_add(&calls, 1) + 1;

    return n == atomic_load(&fail_at) ? cudaErrorUnknown : cudaSuccess;
}

static cudaError_t new_block(void **p, size_t size)
{
    cudaError_t err = call();

    if (err != cudaSuccess) return err;
    *p = malloc(size);
    assert_non_null(*p);
    (void)atomic_fetch_add(&blocks, 1);
    return cudaSuccess;
}

static cudaError_t free_block(void *p)
{
    free(p);
    (void)atomic_fetch_sub(&blocks, 1);
    return cudaSuccess;
}

cudaError_t cudaMalloc(void **p, size_t size)
{
    return new_block(p, size);
}

cudaError_t cudaFree(void *p)
{
    return free_block(p);
}

cudaError_t cudaHostAlloc(void **p, size_t size, unsigned flags)
{
    (void)flags;
    return new_block(p, size);
}

cudaError_t cudaFreeHost(void *p)
{
    return free_block(p);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size, enum cudaMemcpyKind kind,
                            cudaStream_t s)
{
    cudaError_t err = call();

    (void)kind;
    (void)s;
    if (err == cudaSuccess) memcpy(to, from, size);
    return err;
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t size, cudaStream_t s)
{
    cudaError_t err = call();

    (void)s;
    if (err == cudaSuccess) memset(to, value, size);
    return err;
}

cudaError_t cudaMemset(void *to, int value, size_t size)
{
    return cudaMemsetAsync(to, value, size, NULL);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, unsigned flags)
{
    void *p = NULL;
    cudaError_t err = new_block(&p, 1);

    (void)flags;
    *s = p;
    return err;
}

cudaError_t cudaStreamDestroy(cudaStream_t s)
{
    return free_block(s);
}

cudaError_t cudaStreamSynchronize(cudaStream_t s)
{
    (void)s;
    return call();
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, unsigned flags)
{
    void *p = NULL;
    cudaError_t err = new_block(&p, 1);

    (void)flags;
    *e = p;
    return err;
}

cudaError_t cudaEventDestroy(cudaEvent_t e)
{
    return free_block(e);
}

cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s)
{
    (void)e;
    (void)s;
    return call();
}

cudaError_t cudaEventSynchronize(cudaEvent_t e)
{
    (void)e;
    return call();
}

cudaError_t cudaEventQuery(cudaEvent_t e)
{
    (void)e;
    return call();
}

cudaError_t cudaSetDevice(int i)
{
    (void)i;
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *left, size_t *total)
{
    *left = *total = SIZE_MAX / 2;
    return cudaSuccess;
}

cudaError_t cudaGetLastError(void)
{
    return cudaSuccess;
}

/* ---- what the files under test take from others of the backend ---- */

cuzk_status cu_fail(cu_device *cu, int err, const char *what, const char *file, int line)
{
    (void)cu;
    return status_fail(file, line, CUZK_EDEVICE, status_default_class(CUZK_EDEVICE), "", "%s: %d",
                       what, err);
}

cuzk_status cu_enter(cu_device *cu)
{
    (void)cu;
    return CUZK_OK;
}

void cu_domains_evict_locked(cu_device *cu)
{
    (void)cu;
}

/* A sum takes what there is. */
cuzk_status cu_msm_plan_make(cu_msm_plan *p, const cu_device *cu, const cu_group_ops *g,
                             const dev_scalars *k, unsigned fr_bits, size_t room,
                             size_t point_bytes, size_t elem_bytes)
{
    (void)cu;
    (void)g;
    (void)k;
    *p = (cu_msm_plan){.bytes = room + fr_bits + point_bytes + elem_bytes};
    return CUZK_OK;
}

void cu_mark(dev_stream *s, span_kind kind)
{
    (void)s;
    (void)kind;
}

void cu_host_was(dev_stream *s, span_kind idle, uint64_t from)
{
    (void)s;
    (void)idle;
    (void)from;
}

static int decode(cu_stream s, void *out, unsigned long long *bad, const uint8_t *in, size_t n,
                  size_t first, bool zcash, bool trusted)
{
    (void)s;
    assert_false(zcash || trusted);
    assert_ptr_equal(out, in);
    for (size_t i = n; i-- > 0;) {
        uint32_t word;

        memcpy(&word, in + i * SIZE, sizeof word);
        if (word == BAD) *bad = 4 * (first + i) + POINT_NOT_ON_CURVE;
    }
    return call() == cudaSuccess ? 0 : 1;
}

const cu_group_ops cu_g1_bls = {
    .fe_size = 48, .point_size = SIZE, .sum_size = 192, .pair_blocks = 4, .decode = decode};
const cu_group_ops cu_g2_bls, cu_g1_bn, cu_g2_bn;

/* ---- a device ---- */

typedef struct rig {
    pool *p;
    device d;
    cu_device cu;
} rig;

typedef struct queue {
    dev_stream s;
    cu_queue q;
    uint32_t words[64];
} queue;

static void rig_open(rig *t, size_t limit)
{
    memset(t, 0, sizeof *t);
    assert_status_ok(pool_open(&t->p, 3, NULL));
    t->d.pool = t->p;
    t->d.impl = &t->cu;
    t->d.curves[CURVE_ID_BLS12_381] = curve_get(CURVE_ID_BLS12_381, CPU_TABLE_GENERIC);
    t->cu.d = &t->d;
    t->cu.sms = 100;
    t->cu.full = t->cu.limit = limit;
    (void)pthread_mutex_init(&t->cu.mu, NULL);
    (void)pthread_cond_init(&t->cu.filled, NULL);
}

static void rig_close(rig *t)
{
    cu_kept_close(&t->cu);
    cu_porters_close(&t->cu);
    assert_int_equal(t->cu.used, 0);
    cu_mem_close(&t->cu);
    assert_int_equal(atomic_load(&blocks), 0);
    (void)pthread_cond_destroy(&t->cu.filled);
    (void)pthread_mutex_destroy(&t->cu.mu);
    pool_close(t->p);
}

static void queue_open(queue *q, rig *t)
{
    memset(q, 0, sizeof *q);
    q->q.cu = &t->cu;
    q->q.words = q->words;
    q->s.d = &t->d;
    q->s.impl = &q->q;
}

static uint64_t next_id(void)
{
    static _Atomic uint64_t last;
    return atomic_fetch_add(&last, 1) + 1;
}

/* n points of which `room` may stay; owned data. */
static dev_points list_of(const rig *t, size_t n, size_t room)
{
    uint8_t *data = malloc(n * SIZE);
    dev_points b = {.n = n, .enc = POINT_LEM, .id = next_id()};

    assert_non_null(data);
    harness_random_bytes(data, n * SIZE);
    for (size_t i = 0; i < n; i++) data[i * SIZE] = 0; /* none is bad */
    b.data = data;
    b.keep = (dev_keeping){.set = next_id(), .longest = n, .during = t->cu.limit - 2 * room * SIZE};
    return b;
}

static void list_free(dev_points *b)
{
    free((void *)(uintptr_t)b->data);
}

typedef struct count {
    _Atomic unsigned n;
} count;

static cuzk_status count_call(void *ctx)
{
    (void)atomic_fetch_add(&((count *)ctx)->n, 1);
    return CUZK_OK;
}

/* A part as a sum takes it: it holds what it should, and what runs beside it runs once. */
static cuzk_status try_part(queue *q, const dev_points *b, size_t from, size_t to)
{
    cu_device *cu = cu_of(q->s.d);
    count ran = {0};
    cu_points p;
    cu_part part;
    cuzk_status st;

    TRY(cu_points_open(&p, &q->s, CURVE_ID_BLS12_381, b, from, to));
    st = cu_part_ahead(&part, &q->s, &p, from, to, count_call, &ran);
    if (st == CUZK_OK) {
        assert_int_equal(atomic_load(&ran.n), 1);
        if (from != to) assert_memory_equal(part.data, b->data + from * SIZE, (to - from) * SIZE);
        cu_part_put(cu, &part);
    }
    cu_points_close(cu, &p);
    return st;
}

/* ---- tests ---- */

static void test_parts(void **state)
{
    rig t;
    queue q;

    (void)state;
    rig_open(&t, (size_t)64 << 20);
    queue_open(&q, &t);
    for (int list = 0; list < 12; list++) {
        size_t n = 1 + harness_random_below(60000), room = harness_random_below(n + n / 4 + 1);
        dev_points b = list_of(&t, n, room);

        for (int i = 0; i < 12; i++) {
            size_t from = i == 0 ? 0 : harness_random_below(n + 1);
            size_t to = i == 0 ? n : from + harness_random_below(n - from + 1);

            assert_status_ok(try_part(&q, &b, from, to));
        }
        cu_kept_drop(&t.cu, CU_KEPT_POINTS, b.id);
        list_free(&b);
    }
    rig_close(&t);
}

static uint64_t in_so_far(rig *t)
{
    (void)pthread_mutex_lock(&t->cu.mu);
    uint64_t n = t->cu.points_in;
    (void)pthread_mutex_unlock(&t->cu.mu);
    return n;
}

/* What is kept crosses once, what is not each time; a set does not displace itself. */
static void test_traffic(void **state)
{
    enum { LISTS = 4 };
    const size_t n = 40000;
    rig t;
    queue q;
    dev_points b[LISTS];

    (void)state;
    rig_open(&t, (size_t)64 << 20);
    queue_open(&q, &t);
    for (int i = 0; i < LISTS; i++) {
        b[i] = list_of(&t, n, n * 5 / 2);
        b[i].keep.set = b[0].keep.set;
    }
    cu_kept_want(&t.d, b[0].keep.set, DEV_WANT_NOW, true);
    for (int round = 0; round < 3; round++) {
        uint64_t before = in_so_far(&t);

        for (int i = 0; i < LISTS; i++) assert_status_ok(try_part(&q, &b[i], 0, n));
        assert_int_equal(in_so_far(&t) - before, (round == 0 ? 8u : 3u) * (n / 2) * SIZE);
    }
    cu_kept_want(&t.d, b[0].keep.set, DEV_WANT_NOW, false);
    for (int i = 0; i < LISTS; i++) list_free(&b[i]);
    rig_close(&t);
}

static void test_malformed(void **state)
{
    rig t;
    queue q;
    uint32_t bad = BAD, good = 0;

    (void)state;
    rig_open(&t, (size_t)64 << 20);
    queue_open(&q, &t);
    for (size_t room = 0; room <= 50000; room += 25000) {
        dev_points b = list_of(&t, 50000, room);
        uint8_t *data = (uint8_t *)(uintptr_t)b.data;

        memcpy(data + 40000 * SIZE, &bad, 4);
        memcpy(data + 20000 * SIZE, &bad, 4);
        assert_status_is(try_part(&q, &b, 0, 50000), CUZK_EDATA);
        assert_non_null(strstr(cuzk_last_error()->message, "point 20000:"));
        memcpy(data + 20000 * SIZE, &good, 4);
        assert_status_is(try_part(&q, &b, 30000, 50000), CUZK_EDATA);
        assert_non_null(strstr(cuzk_last_error()->message, "point 40000:"));
        memcpy(data + 40000 * SIZE, &good, 4);
        assert_status_ok(try_part(&q, &b, 0, 50000));
        list_free(&b);
    }
    rig_close(&t);
}

/* Of two keys: the one that is wanted keeps its place; the other's goes for it. */
static void test_keys(void **state)
{
    rig t;
    queue q;
    dev_points a, b, c;
    void *work;

    (void)state;
    rig_open(&t, (size_t)16 << 20);
    queue_open(&q, &t);
    a = list_of(&t, 40000, 50000);
    b = list_of(&t, 40000, 50000);
    c = list_of(&t, 10000, 50000);
    c.keep.always = true;
    assert_status_ok(cu_points_load(&q.s, CURVE_ID_BLS12_381, &c));
    cu_kept_want(&t.d, a.keep.set, DEV_WANT_QUEUED, true);
    assert_status_ok(cu_points_load(&q.s, CURVE_ID_BLS12_381, &a));
    assert_status_ok(cu_points_load(&q.s, CURVE_ID_BLS12_381, &b)); /* no room */
    assert_null(cu_kept_find(&t.cu, CU_KEPT_POINTS, b.id));
    cu_kept_want(&t.d, a.keep.set, DEV_WANT_QUEUED, false);
    assert_status_ok(cu_points_load(&q.s, CURVE_ID_BLS12_381, &b)); /* of that of a */
    cu_kept *k = cu_kept_find(&t.cu, CU_KEPT_POINTS, b.id);
    assert_true(k != NULL && k->n == b.n && k->arrived == b.n);
    cu_kept_put(&t.cu, k);
    /* work takes what is wanted too, but not beside another proof, and never what is there always */
    cu_kept_want(&t.d, b.keep.set, DEV_WANT_NOW, true);
    cu_kept_want(&t.d, a.keep.set, DEV_WANT_NOW, true);
    assert_status_is(cu_alloc(&t.cu, &work, (size_t)13 << 20), CUZK_EBUDGET);
    cu_kept_want(&t.d, a.keep.set, DEV_WANT_NOW, false);
    assert_status_ok(cu_alloc(&t.cu, &work, (size_t)13 << 20));
    cu_release(&t.cu, work);
    assert_null(cu_kept_find(&t.cu, CU_KEPT_POINTS, b.id));
    assert_status_is(cu_alloc(&t.cu, &work, (size_t)16 << 20), CUZK_EBUDGET);
    k = cu_kept_find(&t.cu, CU_KEPT_POINTS, c.id);
    assert_non_null(k);
    cu_kept_put(&t.cu, k);
    cu_kept_want(&t.d, b.keep.set, DEV_WANT_NOW, false);
    cu_kept_drop(&t.cu, CU_KEPT_POINTS, c.id);
    list_free(&a);
    list_free(&b);
    list_free(&c);
    rig_close(&t);
}

typedef struct user {
    rig *t;
    const dev_points *b;
    size_t seed;
    bool loads;
} user;

static void *use(void *ctx)
{
    const user *u = ctx;
    queue q;

    queue_open(&q, u->t);
    for (size_t i = 0; i < 6; i++) {
        const dev_points *b = &u->b[(i + u->seed) % 3];
        size_t from = b->n * (u->seed % 3) / 4;

        if (u->loads)
            assert_status_ok(cu_points_load(&q.s, CURVE_ID_BLS12_381, b));
        else
            assert_status_ok(try_part(&q, b, from, b->n));
    }
    return NULL;
}

/* Several at once: what is kept is brought in once. */
static void test_together(void **state)
{
    enum { USERS = 5 };

    (void)state;
    for (int round = 0; round < 3; round++) {
        user u[USERS];
        pthread_t thread[USERS];
        dev_points b[3];
        uint64_t all = 0;
        rig t;

        rig_open(&t, (size_t)96 << 20);
        for (int i = 0; i < 3; i++) {
            b[i] = list_of(&t, 30000 + 10000 * (size_t)i, 150000);
            b[i].keep.set = b[0].keep.set;
            all += b[i].n * SIZE;
        }
        cu_kept_want(&t.d, b[0].keep.set, DEV_WANT_QUEUED, true);
        for (size_t i = 0; i < USERS; i++) {
            u[i] = (user){&t, b, round == 0 ? 0 : i, i == 0};
            assert_int_equal(pthread_create(&thread[i], NULL, use, &u[i]), 0);
        }
        for (size_t i = 0; i < USERS; i++) assert_int_equal(pthread_join(thread[i], NULL), 0);
        if (round == 0) assert_int_equal(in_so_far(&t), all);
        cu_kept_want(&t.d, b[0].keep.set, DEV_WANT_QUEUED, false);
        for (int i = 0; i < 3; i++) list_free(&b[i]);
        rig_close(&t);
    }
}

/* The k-th call of the runtime fails, for every k: an error, and the next try is well. */
static void test_each_call_fails(void **state)
{
    bool more = true;

    (void)state;
    for (long k = 1; more; k++) {
        rig t;
        queue q;
        dev_points b;
        cuzk_status st;

        rig_open(&t, (size_t)16 << 20);
        queue_open(&q, &t);
        b = list_of(&t, 30000, 20000);
        atomic_store(&calls, 0);
        atomic_store(&fail_at, k);
        st = try_part(&q, &b, 0, 30000);
        more = atomic_load(&calls) >= k;
        atomic_store(&fail_at, 0);
        /* a look whether an event is done may fail unseen: waiting for it tells */
        if (!more) assert_status_ok(st);
        assert_true(st == CUZK_OK || st == CUZK_EDEVICE);
        assert_status_ok(try_part(&q, &b, 0, 30000));
        list_free(&b);
        rig_close(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts),     cmocka_unit_test(test_traffic),
        cmocka_unit_test(test_malformed), cmocka_unit_test(test_keys),
        cmocka_unit_test(test_together),  cmocka_unit_test(test_each_call_fails)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
