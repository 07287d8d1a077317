/*
 * unit/engine/test_gpu_watch.c - NVML and the thread that reads it, on a library that the test brings along
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "harness/harness.h"

#include <unistd.h>

#include "engine/gpu_watch.h"
#include "unit/device/fake_nvml.h"

static const char *const library = FAKE_NVML;

/* ---- reading ---- */

static void test_reading(void **state)
{
    fake_nvml *fake = fake_nvml_of(library);
    unsigned inits = atomic_load(&fake->inits), shutdowns = atomic_load(&fake->shutdowns);
    nvml_reading r;
    nvml *n = NULL;
    bool lost;

    (void)state;
    assert_status_ok(nvml_open(&n, library));
    assert_status_ok(nvml_read(n, fake->uuid, &r, &lost));
    assert_false(lost);
    assert_true(r.gpu_percent == 87 && r.memory_percent == 41);
    assert_true(r.sm_mhz == 1980 && r.memory_mhz == 3201);
    assert_true(r.power_mw == 612345 && r.power_limit_mw == 700000 && r.celsius == 63);
    assert_true(r.memory_total == 150000000000 && r.memory_used == 100000000000);
    assert_true(r.memory_others == 31000000000);
    assert_true(r.ecc_uncorrected == 0);
    assert_int_equal(r.has,
                     2 * NVML_HAS_THROTTLE - 1 - NVML_HAS_THROTTLE); /* it has no such call */

    atomic_store(&fake->hidden, true); /* as in a container */
    assert_status_ok(nvml_read(n, fake->uuid, &r, &lost));
    assert_int_equal(r.has & (NVML_HAS_OTHERS | NVML_HAS_MEMORY), NVML_HAS_MEMORY);
    atomic_store(&fake->hidden, false);

    assert_status_is(nvml_read(n, "GPU-another", &r, &lost), CUZK_EDEVICE);
    assert_error_mentions("GPU-another: Not Found");
    assert_false(lost);
    atomic_store(&fake->lost, true);
    assert_status_is(nvml_read(n, fake->uuid, &r, &lost), CUZK_EDEVICE);
    assert_error_mentions("GPU is lost");
    assert_true(lost);
    atomic_store(&fake->lost, false);
    atomic_store(&fake->lost_late, true); /* while it is read */
    assert_status_is(nvml_read(n, fake->uuid, &r, &lost), CUZK_EDEVICE);
    assert_error_mentions("GPU is lost");
    assert_true(lost);
    atomic_store(&fake->lost_late, false);
    nvml_close(n);
    nvml_close(NULL);
    assert_int_equal(atomic_load(&fake->inits), inits + 1);
    assert_int_equal(atomic_load(&fake->shutdowns), shutdowns + 1);
}

static void test_no_library(void **state)
{
    fake_nvml *fake = fake_nvml_of(library);
    nvml *n = NULL;

    (void)state;
    assert_status_is(nvml_open(&n, "/nowhere/libnvidia-ml.so.1"), CUZK_EDEVICE);
    assert_error_mentions("/nowhere/libnvidia-ml.so.1");
    assert_status_is(nvml_open(&n, "libm.so.6"), CUZK_EDEVICE); /* something else */
    assert_error_mentions("has no nvmlInit_v2");
    atomic_store(&fake->refuse, 1);
    assert_status_is(nvml_open(&n, library), CUZK_EDEVICE);
    assert_error_mentions("NVML does not start: Uninitialized");
    atomic_store(&fake->refuse, 0);
}

static void test_throttle_text(void **state)
{
    char text[NVML_THROTTLE_TEXT];

    (void)state;
    nvml_throttle_text(text, 0);
    assert_string_equal(text, "none");
    nvml_throttle_text(text, 1);
    assert_string_equal(text, "none");
    nvml_throttle_text(text, 4 | 64);
    assert_string_equal(text, "power cap, hardware heat");
    nvml_throttle_text(text, UINT64_MAX);
    assert_true(strlen(text) < sizeof text);
}

/* ---- watching ---- */

typedef struct told {
    _Atomic unsigned failed, notes;
    char why[200], note[200];
} told;

static void on_failed(void *ctx, unsigned gpu, const char *why)
{
    told *t = ctx;

    assert_int_equal(gpu, 0);
    (void)snprintf(t->why, sizeof t->why, "%s", why);
    atomic_fetch_add(&t->failed, 1);
}

static void on_note(void *ctx, const char *text)
{
    told *t = ctx;

    (void)snprintf(t->note, sizeof t->note, "%s", text);
    atomic_fetch_add(&t->notes, 1);
}

static gpu_watch *watch(const fake_nvml *fake, told *t)
{
    gpu_watch_config c = {.library = library,
                          .uuids = {fake->uuid, "GPU-another"},
                          .n = 2,
                          .every_ns = 1000000,
                          .failed = on_failed,
                          .note = on_note,
                          .ctx = t};
    gpu_watch *w = NULL;

    assert_status_ok(gpu_watch_open(&w, &c));
    return w;
}

static void wait_for_reads(fake_nvml *fake, unsigned n)
{
    unsigned from = atomic_load(&fake->reads);

    while (atomic_load(&fake->reads) - from < n) (void)usleep(1000);
}

static void wait_for(_Atomic unsigned *n)
{
    while (atomic_load(n) == 0) (void)usleep(1000);
}

/* An error that was there before is no reason; the next one is, once. */
static void test_ecc(void **state)
{
    fake_nvml *fake = fake_nvml_of(library);
    told t = {0};
    gpu_look l;
    gpu_watch *w;

    (void)state;
    atomic_store(&fake->ecc, 3);
    w = watch(fake, &t);
    wait_for_reads(fake, 6);
    gpu_watch_look(w, 0, &l);
    assert_true(l.known && l.ecc_before == 3 && l.r.ecc_uncorrected == 3);
    assert_int_equal(atomic_load(&t.failed), 0);
    gpu_watch_look(w, 1, &l); /* one that NVML does not know */
    assert_false(l.known);
    wait_for(&t.notes);
    assert_string_equal(t.note, "GPU-another: Not Found");
    gpu_watch_look(w, 2, &l);
    assert_false(l.known);
    atomic_store(&fake->ecc, 5);
    wait_for(&t.failed);
    assert_string_equal(t.why, "5 uncorrectable errors of its memory, 3 before");
    atomic_store(&fake->ecc, 7);
    wait_for_reads(fake, 6);
    gpu_watch_close(w);
    assert_int_equal(atomic_load(&t.failed), 1);
    assert_int_equal(atomic_load(&t.notes), 1);
    atomic_store(&fake->ecc, 0);
}

/* A first reading without that number is no base: errors that come to light after it may be old ones. */
static void test_ecc_late(void **state)
{
    fake_nvml *fake = fake_nvml_of(library);
    told t = {0};
    gpu_look l;
    gpu_watch *w;

    (void)state;
    atomic_store(&fake->ecc, 3);
    atomic_store(&fake->no_ecc, true);
    w = watch(fake, &t);
    wait_for_reads(fake, 6);
    gpu_watch_look(w, 0, &l);
    assert_true(l.known && (l.r.has & NVML_HAS_ECC) == 0);
    atomic_store(&fake->no_ecc, false);
    wait_for_reads(fake, 6);
    gpu_watch_look(w, 0, &l);
    assert_true(l.ecc_before == 3 && l.r.ecc_uncorrected == 3);
    assert_int_equal(atomic_load(&t.failed), 0);
    atomic_store(&fake->ecc, 4);
    wait_for(&t.failed);
    assert_string_equal(t.why, "4 uncorrectable errors of its memory, 3 before");
    gpu_watch_close(w);
    atomic_store(&fake->ecc, 0);
}

/* A GPU that falls off: told once; its last numbers stay, marked. */
static void test_lost(void **state)
{
    fake_nvml *fake = fake_nvml_of(library);
    told t = {0};
    gpu_watch *w = watch(fake, &t);
    gpu_look l;

    (void)state;
    do gpu_watch_look(w, 0, &l);
    while (!l.known);
    atomic_store(&fake->lost, true);
    wait_for(&t.failed);
    assert_non_null(strstr(t.why, "GPU is lost"));
    gpu_watch_look(w, 0, &l);
    assert_true(l.known && l.stale && l.r.celsius == 63);
    gpu_watch_close(w);
    assert_int_equal(atomic_load(&t.failed), 1);
    atomic_store(&fake->lost, false);
}

/* A driver that does not answer: who looks is answered, with an old reading; closing does not wait for it for long. */
static void test_hang(void **state)
{
    fake_nvml *fake = fake_nvml_of(library);
    unsigned shutdowns;
    told t = {0};
    gpu_watch *w = watch(fake, &t);
    gpu_look l;

    (void)state;
    do gpu_watch_look(w, 0, &l);
    while (!l.known);
    atomic_store(&fake->hang, true);
    while (!atomic_load(&fake->hung)) (void)usleep(1000);
    do gpu_watch_look(w, 0, &l);
    while (!l.stale);
    assert_true(l.known && l.r.sm_mhz == 1980 && l.age_ns >= 5000000);
    shutdowns = atomic_load(&fake->shutdowns);
    gpu_watch_close(w); /* given up */
    assert_int_equal(atomic_load(&fake->shutdowns), shutdowns);
    atomic_store(&fake->hang, false);
    while (atomic_load(&fake->shutdowns) == shutdowns) (void)usleep(1000); /* the thread goes on */
}

static void test_missing(void **state)
{
    told t = {0};
    gpu_watch_config c = {.library = "/nowhere/nvml.so",
                          .uuids = {"GPU-1"},
                          .n = 1,
                          .note = on_note,
                          .failed = on_failed,
                          .ctx = &t};
    gpu_watch *w = NULL;
    gpu_look l;

    (void)state;
    assert_status_ok(gpu_watch_open(&w, &c));
    wait_for(&t.notes);
    assert_non_null(strstr(t.note, "/nowhere/nvml.so"));
    gpu_watch_look(w, 0, &l);
    assert_false(l.known);
    gpu_watch_close(w);
    gpu_watch_close(NULL);
    gpu_watch_look(NULL, 0, &l);
    assert_false(l.known);
}

/* ---- as JSON ---- */

static void check_json(const gpu_look *l, const char *want)
{
    mem *m = NULL;
    bytes_out o;

    assert_status_ok(mem_open(&m, "t", 0, NULL));
    bytes_out_init(&o, m);
    gpu_look_json(&o, l);
    assert_int_equal(o.size, strlen(want));
    assert_memory_equal(o.data, want, o.size);
    bytes_out_clear(&o);
    mem_close(m);
}

static void test_json(void **state)
{
    gpu_look l = {0};

    (void)state;
    check_json(&l, ",\"gpu\":null");
    l.known = true;
    l.age_ns = 1500000000;
    check_json(&l, ",\"gpu\":{\"age_ms\":1500,\"stale\":false,\"utilization_percent\":null,"
                   "\"memory_utilization_percent\":null,\"sm_clock_mhz\":null,"
                   "\"memory_clock_mhz\":null,\"power_watts\":null,\"power_limit_watts\":null,"
                   "\"temperature_celsius\":null,\"memory_total_bytes\":null,"
                   "\"memory_used_bytes\":null,\"memory_others_bytes\":null,"
                   "\"ecc_uncorrected\":null,\"throttle\":null}");
    l.stale = true;
    l.r = (nvml_reading){.has = 2 * NVML_HAS_THROTTLE - 1,
                         .gpu_percent = 87,
                         .memory_percent = 41,
                         .sm_mhz = 1980,
                         .memory_mhz = 3201,
                         .power_mw = 612345,
                         .power_limit_mw = 700000,
                         .celsius = 63,
                         .memory_total = 3,
                         .memory_used = 2,
                         .memory_others = 1,
                         .ecc_uncorrected = 9,
                         .throttle = 4};
    check_json(&l, ",\"gpu\":{\"age_ms\":1500,\"stale\":true,\"utilization_percent\":87,"
                   "\"memory_utilization_percent\":41,\"sm_clock_mhz\":1980,"
                   "\"memory_clock_mhz\":3201,\"power_watts\":612.3,\"power_limit_watts\":700.0,"
                   "\"temperature_celsius\":63,\"memory_total_bytes\":3,\"memory_used_bytes\":2,"
                   "\"memory_others_bytes\":1,\"ecc_uncorrected\":9,\"throttle\":\"power cap\"}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reading),       cmocka_unit_test(test_no_library),
        cmocka_unit_test(test_throttle_text), cmocka_unit_test(test_ecc),
        cmocka_unit_test(test_lost),          cmocka_unit_test(test_hang),
        cmocka_unit_test(test_missing),       cmocka_unit_test(test_json),
        cmocka_unit_test(test_ecc_late),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
