/*
 * unit/engine/test_service_gpus.c - what NVML says of a service's devices: in its documents, and a device that it retires
 *
 * The device is the CPU with a name in NVML's stand-in: what is judged here needs no GPU.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "unit/engine/service_support.h"

#include "engine/service.h"
#include "unit/device/fake_nvml.h"

/* Waits until the document has this text. */
static char *document_with(cuzk_service *s, const char *path, const char *text)
{
    for (;;) {
        char *json = document(s, path);

        if (strstr(json, text) != NULL) return json;
        free(json);
        service_pause(5);
    }
}

static void watch(test_service *t, fake_nvml *fake)
{
    service *s = service_of(t->s);

    assert_null(s->gpus); /* nobody to watch: no thread */
    (void)snprintf(s->devices[0].info.uuid, sizeof s->devices[0].info.uuid, "%s", fake->uuid);
    assert_status_ok(svc_gpus_open(s, FAKE_NVML));
}

static void test_documents(void **state)
{
    fake_nvml *fake = fake_nvml_of(FAKE_NVML);
    test_service t;
    char *text;

    (void)state;
    service_devices = "cpu";
    service_start(&t, 1, NULL, &(cuzk_service_tunables){0});
    text = document(t.s, "/status");
    assert_non_null(strstr(text, "\"retired\":false,\"gpu\":null,\"gpu_time\":null}"));
    free(text);
    text = document(t.s, "/metrics");
    assert_null(strstr(text, "cuzk_gpu_proofs_total"));
    free(text);

    watch(&t, fake);
    text = document_with(t.s, "/status", "\"temperature_celsius\":63,");
    assert_non_null(strstr(text, "\"stale\":false,\"utilization_percent\":87,"));
    assert_non_null(strstr(text, "\"throttle\":null},\"gpu_time\":null}"));
    free(text);
    text = document(t.s, "/metrics");
    assert_non_null(strstr(text, "\ncuzk_gpu_utilization_ratio{device=\"cpu\"} 0.87\n"));
    assert_non_null(strstr(text, "\ncuzk_gpu_power_watts{device=\"cpu\"} 612.345\n"));
    assert_non_null(strstr(text, "\ncuzk_gpu_sm_clock_hertz{device=\"cpu\"} 1980000000\n"));
    assert_non_null(strstr(text, "\ncuzk_gpu_memory_others_bytes{device=\"cpu\"} 31000000000\n"));
    assert_non_null(strstr(text, "\ncuzk_gpu_ecc_uncorrected_errors{device=\"cpu\"} 0\n"));
    assert_non_null(strstr(text, "\ncuzk_gpu_busy_seconds_total{device=\"cpu\"} 0\n"));
    assert_null(strstr(text, "cuzk_gpu_throttle_reasons"));
    free(text);
    service_stop(&t);
    service_devices = NULL;
}

/* An uncorrectable error retires the device; the service lives, and proves elsewhere. */
static void test_ecc(void **state)
{
    fake_nvml *fake = fake_nvml_of(FAKE_NVML);
    test_service t;
    test_request q;
    cuzk_ticket k;
    told r;
    char *text;

    (void)state;
    service_devices = "cpu,cpu";
    service_start(&t, 1, NULL, &(cuzk_service_tunables){.retries = 2});
    watch(&t, fake);
    free(document_with(t.s, "/status", "\"ecc_uncorrected\":0,"));
    atomic_store(&fake->ecc, 1);
    text = document_with(t.s, "/status", "\"retired\":true");
    assert_non_null(strstr(text, "cpu: 1 uncorrectable errors of its memory, 0 before"));
    free(text);
    text = document(t.s, "/metrics");
    assert_non_null(strstr(text, "\ncuzk_device_up{device=\"cpu\"} 0\n"));
    assert_non_null(strstr(text, "\ncuzk_device_up{device=\"cpu:1\"} 1\n"));
    free(text);
    request_circom(&q, "after");
    assert_status_ok(cuzk_job_submit(t.s, &q.r, &k));
    wait_for_job(t.s, k.job_id, 0, &r);
    assert_int_equal(r.state, CUZK_JOB_COMPLETED);
    request_clear(&q);
    service_stop(&t);
    atomic_store(&fake->ecc, 0);
    service_devices = NULL;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_documents),
                                       cmocka_unit_test(test_ecc)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
