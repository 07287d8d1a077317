/*
 * unit/device/cuda/test_refused.c - machines that cannot be used, memory that is not there, GPUs that go away
 *
 * All machines are played (play.h), so this runs anywhere. Each refusal is read: it names the device and has the numbers.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <cuda_runtime_api.h>

#include "engine/engine.h"
#include "unit/device/cuda/play.h"
#include "unit/device/msm_support.h"

#define MIB ((size_t)1 << 20)

static const play_machine fine = {.driver = 13000, .gpus = 2, .major = 9, .total = 8192 * MIB};

typedef struct told {
    unsigned n;
    char message[512];
} told;

static void hear(void *ctx, cuzk_class klass, const char *where, const char *message)
{
    told *t = ctx;

    assert_int_equal(klass, CUZK_CLASS_DEVICE);
    assert_string_equal(where, "device");
    t->n++;
    (void)snprintf(t->message, sizeof t->message, "%s", message);
}

static cuzk_status open_engine(cuzk_engine **e, const char *names, cuzk_missing_device missing,
                               size_t device_memory, told *t)
{
    cuzk_config c = {.threads = 1,
                     .device = names,
                     .missing = missing,
                     .device_memory = device_memory,
                     .warn = hear,
                     .ctx = t};

    *t = (told){0};
    return cuzk_engine_open(e, &c);
}

/* "cuda" fails with this status and these words; left to itself the engine takes the CPU, and says why where there is something. */
static void assert_refused(const play_machine *m, const char *name, size_t device_memory,
                           cuzk_status want, const char *words, unsigned auto_warnings)
{
    cuzk_engine *e;
    told t;

    play_heal();
    play_fake(true, m);
    assert_status_is(open_engine(&e, name, CUZK_MISSING_FAILS, device_memory, &t), want);
    assert_error_mentions(words);
    assert_status_ok(open_engine(&e, name, CUZK_MISSING_CPU, device_memory, &t));
    assert_string_equal(device_name(e->dev), "cpu");
    assert_int_equal(t.n, 1);
    if (strstr(t.message, words) == NULL) harness_fail("the warning is: %s", t.message);
    cuzk_engine_close(e);
    if (strcmp(name, "cuda") == 0) {
        assert_status_ok(open_engine(&e, NULL, CUZK_MISSING_FAILS, device_memory, &t));
        assert_string_equal(device_name(e->dev), "cpu");
        assert_int_equal(t.n, auto_warnings);
        cuzk_engine_close(e);
    }
    play_counts c = play_count();
    assert_int_equal(c.blocks + c.pinned + c.streams + c.events + c.bad_frees, 0);
}

static void test_machines(void **state)
{
    play_machine m = fine;

    (void)state;
    m = (play_machine){.driver = 0};
    assert_refused(&m, "cuda", 0, CUZK_EDEVICE, "no NVIDIA driver on this machine", 0);
    m = (play_machine){.driver = 12040, .count_error = cudaErrorInsufficientDriver};
    assert_refused(&m, "cuda", 0, CUZK_EDEVICE,
                   "the driver is for CUDA 12.4, this build needs one for ", 1);
    m = (play_machine){.driver = 13000};
    assert_refused(&m, "cuda", 0, CUZK_EDEVICE, "no GPU (no CUDA-capable device is detected)", 1);
    m = fine;
    m.count_error = cudaErrorUnknown;
    assert_refused(&m, "cuda", 0, CUZK_EDEVICE, "no GPU (unknown error)", 1);
    m = fine;
    m.major = 7;
    assert_refused(&m, "cuda", 0, CUZK_EDEVICE,
                   "cuda:0 (played GPU): compute capability 7.0, 8.0 is needed", 2);
    m = fine;
    assert_refused(&m, "cuda:2", 0, CUZK_EDEVICE, "device cuda:2: there are 2 GPUs", 0);
    assert_refused(&m, "cuda:GPU-77", 0, CUZK_EDEVICE,
                   "device cuda:GPU-77: 0 of the 2 GPUs have a UUID that begins so", 0);
    m.context_error = cudaErrorDevicesUnavailable;
    assert_refused(&m, "cuda", 0, CUZK_EDEVICE, "cuda:0 (played GPU): ", 2);
}

/* A device that is found by a UUID, and one that computes wrongly: here all do. */
static void test_wrong_bits(void **state)
{
    (void)state;
    play_start_up_check(true);
    assert_refused(&fine, "cuda", 0, CUZK_EDEVICE, "cuda:0 (played GPU) computes wrongly: ", 2);
    assert_refused(&fine, "cuda:GPU-0202", 0, CUZK_EDEVICE,
                   "cuda:1 (played GPU) computes wrongly: ", 2);
    play_start_up_check(false);
}

static void test_no_memory_to_open(void **state)
{
    play_machine m = fine;

    (void)state;
    m.others = m.total - 600 * MIB;
    assert_refused(&m, "cuda", 0, CUZK_EBUDGET,
                   "cuda:0 (played GPU): 600 of its 8192 MiB are free, 640 are needed at least", 2);
    assert_refused(&m, "cuda", 1024 * MIB, CUZK_EBUDGET,
                   "1024 MiB of its memory wanted, 88 of 8192 are free", 2);
    m.others = 0;
    assert_refused(&m, "cuda", 100 * MIB, CUZK_EBUDGET,
                   "100 MiB of its memory allowed, 128 are needed at least", 2);
    assert_refused(&m, "cuda", 9000 * MIB, CUZK_EBUDGET,
                   "9000 MiB of its memory wanted, 7680 of 8192 are free", 2);
    m.context_error = cudaErrorMemoryAllocation;
    assert_refused(&m, "cuda", 0, CUZK_EBUDGET, "none of its 8192 MiB is free for a context", 2);
}

/* ---- a device that was fine when it was opened ---- */

typedef struct rig_of {
    mem *m;
    pool *p;
    device *d;
    dev_stream *s;
    group g;
    bases b;
    values k;
} rig_of;

static void open_rig(rig_of *r, size_t device_memory)
{
    device_config config = {
        .name = "cuda", .table = CPU_TABLE_GENERIC, .device_memory = device_memory};

    *r = (rig_of){0};
    play_heal();
    play_fake(true, &fine);
    assert_status_ok(mem_open(&r->m, "test", 0, NULL));
    assert_status_ok(pool_open(&r->p, 1, NULL));
    config.pool = r->p;
    config.m = r->m;
    assert_status_ok(device_open(&r->d, &config));
    assert_status_ok(dev_stream_open(&r->s, r->d, NULL));
    r->g = group_of(CURVE_ID_BN254, false);
    bases_init(&r->b, &r->g, 200, 0);
    values_init(&r->k, r->g.cv, 200);
    values_pack(&r->k);
}

static void close_rig(rig_of *r)
{
    bases_clear(&r->b);
    values_clear(&r->k);
    dev_stream_close(r->s);
    device_close(r->d);
    pool_close(r->p);
    assert_int_equal(mem_used(r->m), 0);
    mem_close(r->m);
    play_counts c = play_count();
    assert_int_equal(c.blocks + c.pinned + c.streams + c.events + c.bad_frees, 0);
}

static cuzk_status sum(rig_of *r)
{
    dev_points points = {.data = r->b.lem, .n = r->b.n, .enc = POINT_LEM};
    g1_any out;

    return dev_msm_g1(r->s, &out, r->g.cv->id, &points, 0, &r->k.packed);
}

/* What does not fit is refused before anything is launched. */
static void test_too_small(void **state)
{
    dev_points p = {0};
    device_info info;
    dev_buf *b = NULL;
    rig_of r;

    (void)state;
    open_rig(&r, 256 * MIB);
    device_info_get(r.d, &info);
    assert_int_equal(info.memory_total, 256 * MIB);
    play_fail(0, 0, false);
    assert_status_is(dev_buf_new(&b, r.d, (size_t)1 << 24), CUZK_EBUDGET);
    assert_error_mentions("cuda:0 (played GPU): 512 MiB wanted, 0 of 256 MiB in use");
    assert_status_is(dev_points_new(&p, r.d, CURVE_ID_BLS12_381, true, (size_t)1 << 22),
                     CUZK_EBUDGET);
    assert_error_mentions("cuda:0 (played GPU): 768 MiB wanted, 0 of 256 MiB in use");
    /* what is in use leaves no room for the smallest plan */
    assert_status_ok(dev_buf_new(&b, r.d, (size_t)6 << 20));
    assert_status_is(sum(&r), CUZK_EBUDGET);
    assert_error_mentions("cuda:0 (played GPU): a sum of 200 points takes ");
    assert_error_mentions(" MiB at least, 64 are left");
    assert_int_equal(play_count().launches, 0);
    dev_buf_free(b);
    assert_status_ok(sum(&r));
    assert_true(play_count().launches > 0);
    close_rig(&r);
}

/* Another process takes what was free: one failure, with the numbers; then plans of what there is; then all of it again. */
static void test_taken_by_others(void **state)
{
    play_machine m = fine;
    device_info info;
    dev_buf *b = NULL;
    rig_of r;

    (void)state;
    open_rig(&r, 0);
    assert_status_ok(sum(&r));
    m.others = 8000 * MIB;
    play_fake(true, &m);
    assert_status_is(dev_buf_new(&b, r.d, (size_t)16 << 20), CUZK_ENOMEM);
    assert_error_mentions("cuda:0 (played GPU): cudaMalloc: out of memory: 512 MiB wanted, 192 of "
                          "8192 MiB are free, 0 are ours");
    assert_false(device_is_lost(r.d));
    device_info_get(r.d, &info);
    assert_in_range(info.memory_free, 100 * MIB, 192 * MIB);
    assert_status_ok(sum(&r)); /* with a smaller plan */
    assert_status_is(dev_buf_new(&b, r.d, (size_t)16 << 20), CUZK_EBUDGET);
    play_fake(true, &fine);
    assert_status_ok(sum(&r)); /* looks again */
    device_info_get(r.d, &info);
    assert_int_equal(info.memory_total, 7680 * MIB);
    assert_true(info.memory_free > 7000 * MIB);
    assert_status_ok(dev_buf_new(&b, r.d, (size_t)16 << 20));
    dev_buf_free(b);
    close_rig(&r);
}

/* From some moment on every call fails. */
static void goes_away(int err, const char *words)
{
    cuzk_status st;
    rig_of r;

    open_rig(&r, 0);
    assert_status_ok(sum(&r));
    play_fail(20, err, true);
    assert_status_is(sum(&r), CUZK_EDEVICE);
    assert_error_mentions("cuda:0 (played GPU): ");
    assert_error_mentions(words);
    assert_error_class(CUZK_CLASS_DEVICE);
    assert_true(device_is_lost(r.d));
    play_heal(); /* it does not come back by itself */
    st = sum(&r);
    assert_int_equal(st, CUZK_EDEVICE);
    assert_error_mentions("cuda:0 (played GPU) failed before and is out of use: ");
    assert_error_mentions(words);
    close_rig(&r);
}

static void test_goes_away(void **state)
{
    (void)state;
    goes_away(cudaErrorECCUncorrectable, "uncorrectable ECC error encountered");
    goes_away(cudaErrorDevicesUnavailable, "CUDA-capable device(s) is/are busy or unavailable");
    goes_away(cudaErrorNoDevice, "no CUDA-capable device is detected");
    goes_away(cudaErrorLaunchFailure, "unspecified launch failure");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_machines),          cmocka_unit_test(test_wrong_bits),
        cmocka_unit_test(test_no_memory_to_open), cmocka_unit_test(test_too_small),
        cmocka_unit_test(test_taken_by_others),   cmocka_unit_test(test_goes_away),
    };
    play_start_up_check(false);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
