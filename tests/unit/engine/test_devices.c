/*
 * unit/engine/test_devices.c - which devices an engine opens, and what it says of those that it cannot
 *
 * Runs everywhere: where the driver shows a GPU, what needs there to be none is skipped.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "engine/engine.h"
#include "harness/harness.h"

#include <stdio.h>
#include <string.h>

typedef struct told {
    unsigned n;
    cuzk_class klass;
    char message[512];
} told;

static void hear(void *ctx, cuzk_class klass, const char *where, const char *message)
{
    told *t = ctx;

    assert_string_equal(where, "device");
    t->n++;
    t->klass = klass;
    (void)snprintf(t->message, sizeof t->message, "%s", message);
}

static cuzk_status open_engine(cuzk_engine **e, const char *names, cuzk_missing_device missing,
                               told *t)
{
    cuzk_config c = {.threads = 1, .device = names, .missing = missing, .warn = hear, .ctx = t};

    *t = (told){0};
    return cuzk_engine_open(e, &c);
}

static bool has_gpus(void)
{
    unsigned n = 0;

    return device_count(&n, "cuda") != CUZK_OK || n != 0;
}

static void test_names(void **state)
{
    static const struct {
        const char *device, *message;
    } bad[] = {
        {"abacus", "unknown device abacus"},
        {"", "unknown device "},
        {"cpu,", "unknown device "},
        {"cpu,cudas", "unknown device cudas"},
        {"cpu:1", "unknown device cpu:1"},
        {"cpuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu", "too long"}};
    cuzk_engine *e;
    told t;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_status_is(open_engine(&e, bad[i].device, CUZK_MISSING_CPU, &t), CUZK_EINVAL);
        if (strstr(cuzk_last_error()->message, bad[i].message) == NULL)
            harness_fail("%s: %s", bad[i].device, cuzk_last_error()->message);
        assert_int_equal(t.n, 0);
    }
}

static void test_cpus(void **state)
{
    char many[4 * (ENGINE_MAX_DEVICES + 1)] = "cpu";
    device_info info;
    cuzk_engine *e;
    told t;

    (void)state;
    assert_status_ok(open_engine(&e, "cpu", CUZK_MISSING_FAILS, &t));
    assert_int_equal(e->n_devices, 1);
    assert_ptr_equal(e->host, e->dev); /* no second one beside it */
    device_info_get(e->dev, &info);
    assert_string_equal(info.label, "cpu");
    assert_false(info.gpu);
    assert_int_equal(info.memory_total, 0);
    assert_false(device_is_lost(e->dev));
    assert_true(device_has_fixed(e->dev));
    assert_int_equal(dev_points_kept(e->dev, dev_points_id()), 0);
    dev_points_forget(e->dev, dev_points_id()); /* it keeps none: nothing happens */
    cuzk_engine_close(e);

    assert_status_ok(open_engine(&e, "cpu,cpu", CUZK_MISSING_FAILS, &t));
    assert_int_equal(e->n_devices, 2);
    assert_ptr_not_equal(e->devices[0], e->devices[1]);
    cuzk_engine_close(e);

    for (unsigned i = 1; i <= ENGINE_MAX_DEVICES; i++) strcat(many, ",cpu");
    assert_status_is(open_engine(&e, many, CUZK_MISSING_FAILS, &t), CUZK_EINVAL);
    assert_non_null(strstr(cuzk_last_error()->message, "more than 32 devices"));
}

/* Nothing to prove on but the CPU: asked for, it is a failure with the reason; on its own it is no warning. */
static void test_no_gpu(void **state)
{
    const char *why = device_has_backend("cuda") ? "no NVIDIA driver" : "no CUDA backend";
    cuzk_engine *e;
    told t;

    (void)state;
    if (has_gpus()) harness_skip("the driver shows a GPU");
    assert_status_ok(open_engine(&e, NULL, CUZK_MISSING_FAILS, &t));
    assert_int_equal(t.n, 0);
    assert_string_equal(device_name(e->dev), "cpu");
    cuzk_engine_close(e);
    assert_status_ok(open_engine(&e, "auto,cpu", CUZK_MISSING_FAILS, &t));
    assert_int_equal(t.n + e->n_missing, 0);
    assert_int_equal(e->n_devices, 1);
    cuzk_engine_close(e);

    assert_status_is(open_engine(&e, "cuda", CUZK_MISSING_FAILS, &t), CUZK_EDEVICE);
    assert_non_null(strstr(cuzk_last_error()->message, why));
    assert_status_is(open_engine(&e, "cpu,cuda:3", CUZK_MISSING_FAILS, &t), CUZK_EDEVICE);
    assert_status_is(open_engine(&e, "cuda:0,cuda:1", CUZK_MISSING_WARNS, &t), CUZK_EDEVICE);
    assert_non_null(strstr(cuzk_last_error()->message, "none can be used"));
    assert_int_equal(t.n, 2);
    assert_int_equal(t.klass, CUZK_CLASS_DEVICE);

    assert_status_ok(open_engine(&e, "cuda:0,cpu", CUZK_MISSING_WARNS, &t));
    assert_int_equal(t.n, 1);
    assert_int_equal(e->n_devices, 1);
    cuzk_engine_close(e);
    assert_status_ok(open_engine(&e, "cuda:7", CUZK_MISSING_CPU, &t));
    assert_int_equal(t.n, 1);
    assert_non_null(strstr(t.message, why));
    assert_int_equal(e->n_missing, 1);
    assert_string_equal(e->missing[0], t.message);
    assert_string_equal(device_name(e->dev), "cpu");
    cuzk_engine_close(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_cpus),
        cmocka_unit_test(test_no_gpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
