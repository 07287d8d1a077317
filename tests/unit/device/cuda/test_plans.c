/*
 * unit/device/cuda/test_plans.c - the same sums and proofs in less and less device memory: other plans, the same bytes
 *
 * From memory in which a key stays and a sum is made at once down to the least that a device opens with, where points come chunk by
 * chunk and windows one by one. Without a GPU the runtime is played (play.h): then only how much memory is taken is judged.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "engine/engine.h"
#include "engine/filecoin.h"
#include "unit/device/cuda/play.h"
#include "unit/device/msm_support.h"

#define MIB ((size_t)1 << 20)

static const size_t limits[] = {16384, 2048, 512, 256, 192, 160, 144, 128}; /* MiB */
#define N_LIMITS (sizeof limits / sizeof *limits)

/* A device of some memory with all that it stands on. */
typedef struct small {
    mem *m;
    pool *p;
    device *d;
    dev_stream *s;
} small;

static void small_open(small *w, size_t limit)
{
    device_config config = {.name = "cuda", .table = CPU_TABLE_GENERIC, .device_memory = limit};

    *w = (small){0};
    assert_status_ok(mem_open(&w->m, "test", 0, NULL));
    assert_status_ok(pool_open(&w->p, 2, NULL));
    config.pool = w->p;
    config.m = w->m;
    assert_status_ok(device_open(&w->d, &config));
    assert_status_ok(dev_stream_open(&w->s, w->d, NULL));
}

static void small_close(small *w)
{
    play_counts c;

    dev_stream_close(w->s);
    device_close(w->d);
    pool_close(w->p);
    assert_int_equal(mem_used(w->m), 0);
    mem_close(w->m);
    c = play_count();
    assert_int_equal(c.blocks + c.pinned + c.streams + c.events + c.bad_frees, 0);
}

/* bases[i] = log[i] * generator, made on the device; where it computes nothing, infinity. */
static void make_bases(bases *b, const group *g, size_t n)
{
    any_point gen = point_gen(g);
    dev_fixed *f = NULL;
    small w;

    *b = (bases){.g = g, .n = n, .lem = test_array(n, g->size), .log = test_array(n, sizeof(fr))};
    random_frs(g->cv, b->log, n);
    if (!play_is_real()) return;
    small_open(&w, 0);
    assert_status_ok(dev_fixed_new(&f, w.s, g->cv->id, g->g2, &gen, n));
    assert_status_ok(dev_fixed_mul(w.s, b->lem, POINT_LEM, f, b->log, n, NULL));
    dev_fixed_free(f);
    small_close(&w);
}

static void make_values(values *v, const group *g, size_t n, bool packed)
{
    values_init(v, g->cv, n);
    for (size_t i = 0; packed && i < n; i++) {
        v->selected[i] = i % 7 != 3;
        v->is_bit[i] = i % 3 == 1;
        if (v->is_bit[i]) v->v[i] = i % 2 == 0 ? g->cv->fr_one : g->cv->fr_zero;
    }
    values_pack(v);
}

/* What is too little for the smallest plan is refused before a kernel starts. With so little that happens. */
static bool is_refused(const small *w, cuzk_status st, unsigned long launches)
{
    device_info info;

    device_info_get(w->d, &info);
    if (st != CUZK_EBUDGET || info.memory_total > 160 * MIB) {
        assert_status_ok(st);
        return false;
    }
    assert_error_mentions(" MiB at least, ");
    assert_int_equal(play_count().launches, launches);
    print_message("%s\n", cuzk_last_error()->message);
    return true;
}

static void sum_is(small *w, const bases *b, const values *v, uint64_t id, const any_point *want)
{
    unsigned long launches = play_count().launches;
    cuzk_status st;
    dev_points points = {.data = b->lem, .n = b->n, .enc = POINT_LEM, .g2 = b->g->g2, .id = id};
    any_point got;

    memset(&got, 0, sizeof got);
    if (b->g->g2)
        st = dev_msm_g2(w->s, &got.g2, b->g->cv->id, &points, 0, &v->packed);
    else
        st = dev_msm_g1(w->s, &got.g1, b->g->cv->id, &points, 0, &v->packed);
    if (!is_refused(w, st, launches) && play_is_real()) assert_points_equal(b->g, &got, want);
}

/* Scalars that are in a buffer there: memory that the plan has to do without. */
static void buf_sum_is(small *w, const bases *b, const values *v, uint64_t id,
                       const any_point *want)
{
    dev_points points = {.data = b->lem, .n = b->n, .enc = POINT_LEM, .id = id};
    unsigned long launches = play_count().launches;
    dev_buf *k = NULL;
    any_point got;
    cuzk_status st;

    memset(&got, 0, sizeof got);
    assert_status_ok(dev_buf_new(&k, w->d, v->n));
    assert_status_ok(dev_upload(w->s, k, 0, v->v, v->n));
    st = dev_msm_g1_buf(w->s, &got.g1, b->g->cv->id, &points, 0, k, v->n);
    if (!is_refused(w, st, launches) && play_is_real()) assert_points_equal(b->g, &got, want);
    dev_buf_free(k);
}

/* One list of points in every memory: kept as far as there is room, kept by then, and brought in for one sum. */
static void sums_in(const group *g, size_t n)
{
    unsigned long launches[N_LIMITS];
    any_point want, want_packed;
    values v, packed;
    bases b;

    play_heal();
    play_start_up_check(false);
    make_bases(&b, g, n);
    make_values(&v, g, n, false);
    make_values(&packed, g, n, true);
    want = expected_sum(&b, 0, &v);
    want_packed = expected_sum(&b, 0, &packed);
    for (size_t i = 0; i < N_LIMITS; i++) {
        size_t limit = limits[i] * MIB;
        uint64_t id = dev_points_id();
        small w;

        if (!play_is_real() && limits[i] > 2048) limit = 0;
        small_open(&w, limit);
        play_heal();
        sum_is(&w, &b, &v, 0, &want);
        launches[i] = play_count().launches;
        sum_is(&w, &b, &v, id, &want);
        sum_is(&w, &b, &packed, id, &want_packed);
        if (!g->g2) buf_sum_is(&w, &b, &v, id, &want);
        sum_is(&w, &b, &packed, 0, &want_packed);
        if (limit != 0 && play_count().peak > limit)
            harness_fail("limit %zu bytes, %zu were taken", limit, play_count().peak);
        print_message("%s %s, %zu points, limit %zu MiB: %lu launches, at most %zu MiB\n",
                      g->cv->name, g->g2 ? "G2" : "G1", n, limit / MIB, launches[i],
                      play_count().peak / MIB);
        small_close(&w);
    }
    assert_true(launches[N_LIMITS - 2] > 4 * launches[0]); /* it was another plan */
    bases_clear(&b);
    values_clear(&v);
    values_clear(&packed);
}

static void test_sums(void **state)
{
    size_t n = play_is_real() ? (size_t)1 << 18 : (size_t)1 << 16;
    group g;

    (void)state;
    g = group_of(CURVE_ID_BLS12_381, false);
    sums_in(&g, n + 17);
    g = group_of(CURVE_ID_BLS12_381, true);
    sums_in(&g, n / 2 + 1);
    g = group_of(CURVE_ID_BN254, false);
    sums_in(&g, 2 * n - 1);
}

/* ---- a whole proof of some size ---- */

static cuzk_buffer prove(const char *params, const char *name, size_t limit)
{
    const char *inputs[] = {harness_fixture("filecoin/2kib/window-v1_1-short/vanilla-0.bin")};
    static const cuzk_fixed_rs rs = {{7, 1, 2, 3}, {9, 4, 5, 6}};
    cuzk_filecoin_args args = {
        .kind = "window",
        .statement = harness_fixture("filecoin/2kib/window-v1_1-short/statement.json"),
        .inputs = inputs,
        .n_inputs = 1,
        .params_dir = params,
        .partition = -1,
        .fixed = &rs};
    cuzk_config c = {.threads = 4, .device = name, .device_memory = limit};
    cuzk_buffer proof = {0};
    cuzk_engine *e;

    assert_status_ok(cuzk_engine_open(&e, &c));
    assert_status_ok(cuzk_filecoin_prove(e, &args, &proof));
    cuzk_engine_close(e);
    return proof;
}

static void test_proofs(void **state)
{
    cuzk_config c = {.threads = 8, .device = "cpu"};
    cuzk_buffer want, got;
    cuzk_engine *e;

    (void)state;
    if (!play_is_real()) harness_skip("no GPU");
    play_heal();
    assert_status_ok(cuzk_engine_open(&e, &c));
    assert_status_ok(cuzk_filecoin_setup(e, "window-2k", harness_temp_dir(), NULL));
    cuzk_engine_close(e);
    want = prove(harness_temp_dir(), "cpu", 0);
    for (size_t i = 0; i < N_LIMITS; i++) {
        play_heal();
        got = prove(harness_temp_dir(), "cuda", limits[i] * MIB);
        print_message("window-2k, limit %zu MiB: %lu launches, at most %zu MiB\n", limits[i],
                      play_count().launches, play_count().peak / MIB);
        assert_int_equal(got.size, want.size);
        assert_bytes_equal(got.data, want.data, want.size);
        assert_true(play_count().peak <= limits[i] * MIB);
        cuzk_buffer_clear(&got);
    }
    cuzk_buffer_clear(&want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_proofs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
