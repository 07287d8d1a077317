/*
 * engine/service_gpus.c - GPUs of the service beside their proofs: the driver's view of them, and their own time
 *
 * What NVML says of a GPU that stands for no proof any more (an uncorrectable error of its memory, it has fallen off) retires it as an
 * error that sticks does.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <inttypes.h>

#include "base/json.h"
#include "engine/gpu_watch.h"
#include "engine/service.h"

#define MS 1e6
#define S 1e9

/* ---- watching ---- */

static void on_failed(void *ctx, unsigned gpu, const char *why)
{
    service *s = ctx;
    svc_device *v = &s->devices[s->watched[gpu]];

    (void)FAIL(CUZK_EDEVICE, "%s: %.160s", v->info.label, why); /* recorded, for the books */
    (void)svc_device_retire(s, v, NULL, cuzk_last_error());
}

static void on_note(void *ctx, const char *text)
{
    cuzk_log_field f[] = {{"message", text, 0}};

    svc_log(ctx, CUZK_LOG_INFO, "gpu_readings", f, 1);
}

cuzk_status svc_gpus_open(service *s, const char *library)
{
    gpu_watch_config c = {.library = library, .failed = on_failed, .note = on_note, .ctx = s};

    for (unsigned i = 0; i < s->n_devices && c.n < GPU_WATCH_MAX; i++) {
        svc_device *v = &s->devices[i];

        v->watch = -1;
        if (v->info.uuid[0] == 0) continue;
        s->watched[c.n] = i;
        v->watch = (int)c.n;
        c.uuids[c.n++] = v->info.uuid;
    }
    return c.n == 0 ? CUZK_OK : gpu_watch_open(&s->gpus, &c);
}

void svc_gpus_close(service *s)
{
    gpu_watch_close(s->gpus);
    s->gpus = NULL;
}

static void look(service *s, unsigned i, gpu_look *out)
{
    const svc_device *v = &s->devices[i];

    gpu_watch_look(v->watch < 0 ? NULL : s->gpus, v->watch < 0 ? 0 : (unsigned)v->watch, out);
}

/* ---- /status ---- */

/* "gpu: add pairs" and "gpu idle: host work" without what stands before. */
static const char *short_name(span_kind k)
{
    const char *name = span_name(k), *at = name;

    while (*at != 0 && *at != ':') at++;
    return *at == 0 ? name : at + 2;
}

static bool is_idle(span_kind k)
{
    return k >= SPAN_GPU_IDLE_HOST && k <= SPAN_GPU_IDLE_WORK;
}

static bool is_work(span_kind k)
{
    return k >= SPAN_GPU_COPY_IN && k < SPAN_GPU_IDLE_HOST;
}

static void put_kinds(bytes_out *o, const char *name, const dev_times *t, bool (*wanted)(span_kind))
{
    bool first = true;

    bytes_printf(o, ",\"%s\":[", name);
    for (span_kind k = 0; k < SPAN_KINDS; k++) {
        if (!wanted(k) || t->n[k] == 0) continue;
        bytes_printf(o, "%s{\"name\":\"%s\",\"times\":%" PRIu64 ",\"ms\":%.3f}", first ? "" : ",",
                     short_name(k), t->n[k], (double)t->ns[k] / MS);
        first = false;
    }
    bytes_printf(o, "]");
}

static void put_times(bytes_out *o, const dev_times *t)
{
    if (t->proofs == 0 && t->window_ns == 0) {
        bytes_printf(o, ",\"gpu_time\":null");
        return;
    }
    bytes_printf(o,
                 ",\"gpu_time\":{\"proofs\":%" PRIu64
                 ",\"window_ms\":%.3f,\"busy_ms\":%.3f,\"busy_percent\":%.2f,"
                 "\"return_gap_ms\":%.3f,\"return_gap_max_ms\":%.3f",
                 t->proofs, (double)t->window_ns / MS, (double)t->busy_ns / MS,
                 t->window_ns == 0 ? 0 : 100.0 * (double)t->busy_ns / (double)t->window_ns,
                 t->proofs == 0 ? 0 : (double)t->tail_ns / MS / (double)t->proofs,
                 (double)t->worst_tail_ns / MS);
    put_kinds(o, "work", t, is_work);
    put_kinds(o, "idle", t, is_idle);
    bytes_printf(o, "}");
}

void svc_put_gpu(service *s, bytes_out *o, unsigned i)
{
    dev_times t;
    gpu_look l;

    look(s, i, &l);
    dev_times_get(s->devices[i].d, &t);
    gpu_look_json(o, &l);
    put_times(o, &t);
}

/* ---- /metrics ---- */

typedef struct gpu_row {
    const char *label;
    dev_times t;
    gpu_look l;
} gpu_row;

static void head(bytes_out *o, const char *name, const char *type, const char *help)
{
    bytes_printf(o, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void put_seconds(bytes_out *o, const gpu_row *rows, unsigned n, size_t at, const char *name,
                        const char *help)
{
    head(o, name, "counter", help);
    for (unsigned i = 0; i < n; i++)
        bytes_printf(o, "%s{device=\"%s\"} %.9g\n", name, rows[i].label,
                     (double)*(const uint64_t *)(const void *)((const char *)&rows[i].t + at) / S);
}

static void put_kind_seconds(bytes_out *o, const gpu_row *rows, unsigned n, const char *name,
                             const char *label, const char *help, bool (*wanted)(span_kind))
{
    head(o, name, "counter", help);
    for (unsigned i = 0; i < n; i++)
        for (span_kind k = 0; k < SPAN_KINDS; k++)
            if (wanted(k) && rows[i].t.n[k] != 0)
                bytes_printf(o, "%s{device=\"%s\",%s=\"%s\"} %.9g\n", name, rows[i].label, label,
                             short_name(k), (double)rows[i].t.ns[k] / S);
}

static void put_all_times(bytes_out *o, const gpu_row *rows, unsigned n)
{
    head(o, "cuzk_gpu_proofs_total", "counter", "Proofs whose time the GPU measured.");
    for (unsigned i = 0; i < n; i++)
        bytes_printf(o, "cuzk_gpu_proofs_total{device=\"%s\"} %" PRIu64 "\n", rows[i].label,
                     rows[i].t.proofs);
    put_seconds(o, rows, n, offsetof(dev_times, busy_ns), "cuzk_gpu_busy_seconds_total",
                "A kernel or a copy of a proof at work, by the GPU's clock.");
    put_seconds(o, rows, n, offsetof(dev_times, window_ns), "cuzk_gpu_window_seconds_total",
                "From a proof's first kernel to its last.");
    put_seconds(o, rows, n, offsetof(dev_times, tail_ns), "cuzk_gpu_return_gap_seconds_total",
                "From a proof's last kernel to the end of its device step.");
    put_kind_seconds(o, rows, n, "cuzk_gpu_work_seconds_total", "work",
                     "The GPU's time by what it did.", is_work);
    put_kind_seconds(o, rows, n, "cuzk_gpu_idle_seconds_total", "cause",
                     "The GPU idle within a proof, by what the host was at.", is_idle);
}

/* One reading of all GPUs that have it; a stale one is not shown. */
static void put_reading(bytes_out *o, const gpu_row *rows, unsigned n, unsigned has, size_t at,
                        bool wide, double unit, const char *name, const char *help)
{
    bool first = true;

    for (unsigned i = 0; i < n; i++) {
        const char *p = (const char *)&rows[i].l.r + at;
        double v = wide ? (double)*(const uint64_t *)(const void *)p
                        : (double)*(const unsigned *)(const void *)p;

        if (!rows[i].l.known || rows[i].l.stale || (rows[i].l.r.has & has) == 0) continue;
        if (first) head(o, name, "gauge", help);
        first = false;
        bytes_printf(o, "%s{device=\"%s\"} %.12g\n", name, rows[i].label, v * unit);
    }
}

static void put_readings(bytes_out *o, const gpu_row *rows, unsigned n)
{
    static const struct {
        unsigned has;
        size_t at;
        bool wide;
        double unit;
        const char *name, *help;
    } all[] = {
#define R(has, field, wide, unit, name, help) \
    {has, offsetof(nvml_reading, field), wide, unit, name, help}
        R(NVML_HAS_LOAD, gpu_percent, false, 0.01, "cuzk_gpu_utilization_ratio",
          "Time with a kernel of anybody, as the driver says."),
        R(NVML_HAS_SM_CLOCK, sm_mhz, false, 1e6, "cuzk_gpu_sm_clock_hertz",
          "Clock of the multiprocessors."),
        R(NVML_HAS_MEMORY_CLOCK, memory_mhz, false, 1e6, "cuzk_gpu_memory_clock_hertz",
          "Clock of its memory."),
        R(NVML_HAS_POWER, power_mw, false, 1e-3, "cuzk_gpu_power_watts", "Power drawn."),
        R(NVML_HAS_POWER_LIMIT, power_limit_mw, false, 1e-3, "cuzk_gpu_power_limit_watts",
          "Power that may be drawn."),
        R(NVML_HAS_TEMPERATURE, celsius, false, 1, "cuzk_gpu_temperature_celsius",
          "Temperature of the chip."),
        R(NVML_HAS_MEMORY, memory_used, true, 1, "cuzk_gpu_memory_used_bytes",
          "Its memory used by all processes and the driver."),
        R(NVML_HAS_OTHERS, memory_others, true, 1, "cuzk_gpu_memory_others_bytes",
          "Of it, not this daemon's."),
        R(NVML_HAS_ECC, ecc_uncorrected, true, 1, "cuzk_gpu_ecc_uncorrected_errors",
          "Uncorrectable errors of its memory since the driver was loaded."),
        R(NVML_HAS_THROTTLE, throttle, true, 1, "cuzk_gpu_throttle_reasons",
          "NVML's bits of why clocks are lower than they could be."),
#undef R
    };

    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
        put_reading(o, rows, n, all[k].has, all[k].at, all[k].wide, all[k].unit, all[k].name,
                    all[k].help);
}

cuzk_status svc_put_gpu_metrics(service *s, bytes_out *o)
{
    gpu_row *rows = calloc(s->n_devices, sizeof *rows);
    unsigned n = 0;

    if (rows == NULL) return FAIL(CUZK_ENOMEM, "metrics: out of memory");
    for (unsigned i = 0; i < s->n_devices; i++) {
        gpu_row *r = &rows[n];

        if (s->devices[i].watch < 0) continue;
        r->label = s->devices[i].info.label;
        dev_times_get(s->devices[i].d, &r->t);
        look(s, i, &r->l);
        n++;
    }
    if (n != 0) {
        put_all_times(o, rows, n);
        put_readings(o, rows, n);
    }
    free(rows);
    return CUZK_OK;
}
