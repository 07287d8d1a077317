/*
 * engine/service_metrics.c - /metrics: counters, gauges and histograms in Prometheus' text form
 *
 * Names of spec/proving-api.md section 4 are kept; what is ours begins with cuzk_ too. docs/operations.md explains them.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "engine/service.h"

#define S 1e9

static const char *const kinds[SVC_KINDS] = {"porep_c2",     "snap_update", "window_post",
                                             "winning_post", "groth16",     "aggregate"};

static void head(bytes_out *o, const char *name, const char *type, const char *help)
{
    bytes_printf(o, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void gauge(bytes_out *o, const char *name, const char *help, double v)
{
    head(o, name, "gauge", help);
    bytes_printf(o, "%s %.17g\n", name, v);
}

static void counter(bytes_out *o, const char *name, const char *help, uint64_t v)
{
    head(o, name, "counter", help);
    bytes_printf(o, "%s %" PRIu64 "\n", name, v);
}

static void histogram(bytes_out *o, const char *name, const char *label, const char *value,
                      const uint64_t buckets[SVC_BUCKETS], uint64_t count, double sum)
{
    uint64_t below = 0;

    for (unsigned b = 0; b < SVC_BUCKETS - 1; b++) {
        below += buckets[b];
        bytes_printf(o, "%s_bucket{%s=\"%s\",le=\"%g\"} %" PRIu64 "\n", name, label, value,
                     (double)svc_bucket_ms[b] / 1000, below);
    }
    bytes_printf(o, "%s_bucket{%s=\"%s\",le=\"+Inf\"} %" PRIu64 "\n", name, label, value, count);
    bytes_printf(o, "%s_sum{%s=\"%s\"} %.9g\n%s_count{%s=\"%s\"} %" PRIu64 "\n", name, label, value,
                 sum, name, label, value, count);
}

static void put_jobs(bytes_out *o, const svc_counts *c)
{
    uint64_t completed = 0, failed = 0, cancelled = 0;

    for (unsigned k = 0; k < SVC_KINDS; k++) {
        completed += c->completed[k];
        failed += c->failed[k];
        cancelled += c->cancelled[k];
    }
    counter(o, "cuzk_proofs_completed_total", "Jobs that ended with a verified proof.", completed);
    counter(o, "cuzk_proofs_failed_total", "Jobs that failed.", failed);
    counter(o, "cuzk_proofs_cancelled_total", "Jobs that were cancelled.", cancelled);
    head(o, "cuzk_proofs_completed", "counter", "Jobs that ended with a verified proof, by kind.");
    for (unsigned k = 0; k < SVC_KINDS; k++)
        bytes_printf(o, "cuzk_proofs_completed{proof_kind=\"%s\"} %" PRIu64 "\n", kinds[k],
                     c->completed[k]);
    head(o, "cuzk_proofs_failed", "counter", "Jobs that failed, by kind.");
    for (unsigned k = 0; k < SVC_KINDS; k++)
        bytes_printf(o, "cuzk_proofs_failed{proof_kind=\"%s\"} %" PRIu64 "\n", kinds[k],
                     c->failed[k]);
    head(o, "cuzk_proof_duration_seconds", "histogram", "From admission to the stored result.");
    for (unsigned k = 0; k < SVC_KINDS; k++)
        histogram(o, "cuzk_proof_duration_seconds", "proof_kind", kinds[k], c->duration_buckets[k],
                  c->duration_count[k], c->duration_sum[k]);
    head(o, "cuzk_phase_duration_seconds", "histogram",
         "Wall time of ended jobs by phase, without overlap.");
    for (job_phase p = 0; p < N_PHASES; p++)
        histogram(o, "cuzk_phase_duration_seconds", "phase", job_phase_name(p), c->phase_buckets[p],
                  c->phase_count[p], (double)c->phase_ns[p] / S);
    counter(o, "cuzk_partitions_total", "Partitions proved and verified.", c->partitions);
    counter(o, "cuzk_partition_retries_total", "Partitions proved again.", c->retries);
    counter(o, "cuzk_partitions_split_total", "Partitions that several devices proved together.",
            c->split);
    counter(o, "cuzk_self_check_failures_total",
            "Proofs that did not verify and were not given out.", c->self_check_failures);
    counter(o, "cuzk_jobs_admitted_total", "Jobs taken.", c->admitted);
    counter(o, "cuzk_jobs_duplicate_total", "Requests that were those of a job already known.",
            c->duplicates);
    counter(o, "cuzk_jobs_refused_total", "Jobs not taken: queue or store full.", c->refused);
    counter(o, "cuzk_jobs_given_up_total",
            "Jobs that failed because the daemon kept dying while they were at work.", c->given_up);
    head(o, "cuzk_device_idle_seconds_total", "counter",
         "Device idle while work was there, by cause.");
    for (idle_cause i = 0; i < N_IDLE_CAUSES; i++)
        bytes_printf(o, "cuzk_device_idle_seconds_total{cause=\"%s\"} %.9g\n", idle_cause_name(i),
                     (double)c->idle_ns[i] / S);
    gauge(o, "cuzk_memory_estimate_error_max",
          "Largest (measured - reserved) / reserved of a reservation.", c->estimate_error_max);
    gauge(o, "cuzk_memory_estimate_error_mean", "Mean of (measured - reserved) / reserved.",
          c->estimate_n == 0 ? 0 : c->estimate_error_sum / (double)c->estimate_n);
}

static void put_memory(service *s, bytes_out *o)
{
    ledger_state l;

    ledger_get(s->ledger, &l);
    gauge(o, "cuzk_memory_budget_bytes", "Host memory that may be used.", (double)l.total);
    gauge(o, "cuzk_memory_used_bytes", "Host memory reserved or charged.", (double)l.used);
    gauge(o, "cuzk_memory_waiting", "Reservations that wait.", l.waiting);
    head(o, "cuzk_memory_owner_bytes", "gauge", "Host memory by owner.");
    for (unsigned i = 0; i < LEDGER_N_OWNERS; i++)
        bytes_printf(o, "cuzk_memory_owner_bytes{owner=\"%s\"} %" PRIu64 "\n", ledger_owner_name(i),
                     l.owners[i]);
}

static void put_store(service *s, bytes_out *o)
{
    store_stats t;
    uint64_t below = 0;

    if (s->store == NULL) return;
    store_stats_get(s->store, &t);
    gauge(o, "cuzk_store_bytes", "Payloads and database.", (double)t.bytes);
    gauge(o, "cuzk_store_jobs", "Jobs in the store.", (double)t.jobs);
    gauge(o, "cuzk_store_pending", "Operations that wait for the store.", (double)t.pending);
    counter(o, "cuzk_store_failures_total", "Operations of the store that failed.", t.failures);
    gauge(o, "cuzk_store_full", "1: the last write found no space.", t.full);
    head(o, "cuzk_store_sync_seconds", "histogram", "Transactions of the store, with their sync.");
    for (unsigned b = 0; b < STORE_BUCKETS - 1; b++) {
        below += t.sync_buckets[b];
        bytes_printf(o, "cuzk_store_sync_seconds_bucket{le=\"%g\"} %" PRIu64 "\n",
                     store_bucket_ms[b] / 1000, below);
    }
    bytes_printf(o,
                 "cuzk_store_sync_seconds_bucket{le=\"+Inf\"} %" PRIu64
                 "\ncuzk_store_sync_seconds_sum %.9g\ncuzk_store_sync_seconds_count %" PRIu64 "\n",
                 t.transactions, (double)t.sync_ns / S, t.transactions);
}

#define MAX_KEYS 256

static void put_keys(service *s, bytes_out *o)
{
    static const char *const tiers[] = {"hot", "warm", "cold"};
    keys_row *rows = calloc(MAX_KEYS, sizeof *rows);
    uint64_t n_tier[3] = {0}, bytes[3] = {0};
    size_t n;

    if (rows == NULL) return;
    n = keys_rows(s->keys, rows, MAX_KEYS);
    for (size_t i = 0; i < n && i < MAX_KEYS; i++) {
        n_tier[rows[i].tier]++;
        bytes[rows[i].tier] += rows[i].bytes;
    }
    free(rows);
    head(o, "cuzk_keys", "gauge", "Proving keys by tier.");
    for (unsigned t = 0; t < 3; t++)
        bytes_printf(o, "cuzk_keys{tier=\"%s\"} %" PRIu64 "\n", tiers[t], n_tier[t]);
    head(o, "cuzk_key_bytes", "gauge", "Bytes of proving keys by tier.");
    for (unsigned t = 0; t < 3; t++)
        bytes_printf(o, "cuzk_key_bytes{tier=\"%s\"} %" PRIu64 "\n", tiers[t], bytes[t]);
}

static void put_stages(service *s, bytes_out *o)
{
    stage *const stages[] = {s->witness, s->decode, s->synthesis, s->device,
                             s->finish,  s->result, s->host};
    size_t n = s->host == NULL ? 6 : 7;

    head(o, "cuzk_stage_waiting", "gauge", "Items that wait before a stage.");
    for (size_t i = 0; i < n; i++) {
        stage_state st;

        stage_get(stages[i], &st);
        bytes_printf(o, "cuzk_stage_waiting{stage=\"%s\"} %u\n", st.name, st.waiting);
    }
    head(o, "cuzk_stage_active", "gauge", "Items in a stage.");
    for (size_t i = 0; i < n; i++) {
        stage_state st;

        stage_get(stages[i], &st);
        bytes_printf(o, "cuzk_stage_active{stage=\"%s\"} %u\n", st.name, st.active);
    }
}

typedef struct device_numbers {
    unsigned active;
    bool retired;
    uint64_t busy, partitions;
    device_info info;
} device_numbers;

static void put_per_device(bytes_out *o, const device_numbers *v, unsigned n)
{
    head(o, "cuzk_device_up", "gauge",
         "1: the device takes partitions. 0: it failed and is retired.");
    for (unsigned i = 0; i < n; i++)
        bytes_printf(o, "cuzk_device_up{device=\"%s\"} %d\n", v[i].info.label, !v[i].retired);
    head(o, "cuzk_device_partitions_total", "counter", "Partitions that a device was done with.");
    for (unsigned i = 0; i < n; i++)
        bytes_printf(o, "cuzk_device_partitions_total{device=\"%s\"} %" PRIu64 "\n",
                     v[i].info.label, v[i].partitions);
    head(o, "cuzk_device_busy_seconds_total", "counter", "Device busy.");
    for (unsigned i = 0; i < n; i++)
        bytes_printf(o, "cuzk_device_busy_seconds_total{device=\"%s\"} %.9g\n", v[i].info.label,
                     (double)v[i].busy / S);
    head(o, "cuzk_device_memory_bytes", "gauge", "Memory of a GPU that may be used; free of it.");
    for (unsigned i = 0; i < n; i++) {
        if (!v[i].info.gpu) continue;
        bytes_printf(o, "cuzk_device_memory_bytes{device=\"%s\",what=\"total\"} %" PRIu64 "\n",
                     v[i].info.label, v[i].info.memory_total);
        bytes_printf(o, "cuzk_device_memory_bytes{device=\"%s\",what=\"free\"} %" PRIu64 "\n",
                     v[i].info.label, v[i].info.memory_free);
    }
}

static void put_devices(service *s, bytes_out *o)
{
    device_numbers v[ENGINE_MAX_DEVICES];
    uint64_t now = clock_ns();
    unsigned active = 0, up = 0;

    svc_lock(s);
    for (unsigned i = 0; i < s->n_devices; i++) {
        const svc_device *d = &s->devices[i];

        v[i] = (device_numbers){.active = d->active,
                                .retired = d->retired,
                                .busy = svc_device_busy(d, now),
                                .partitions = d->partitions};
        active += d->active;
        up += !d->retired;
    }
    svc_unlock(s);
    for (unsigned i = 0; i < s->n_devices; i++) {
        device_info_get(s->devices[i].d, &v[i].info);
        memcpy(v[i].info.label, s->devices[i].info.label, sizeof v[i].info.label);
    }
    gauge(o, "cuzk_gpu_workers", "Devices that prove.", up);
    gauge(o, "cuzk_device_active", "Partitions on a device.", active);
    put_per_device(o, v, s->n_devices);
}

static void put_live(service *s, bytes_out *o)
{
    uint64_t now = clock_ns(), queued = 0, running = 0, suspected = 0, wall, attributed, total,
             rest, step, gaps;

    svc_lock(s);
    for (const svc_job *j = s->newest; j != NULL; j = j->older) {
        if (svc_job_ended(j)) continue;
        *(j->state == CUZK_JOB_RUNNING ? &running : &queued) += 1;
        suspected += j->suspect;
    }
    wall = s->worker_wall_ns;
    attributed = s->worker_attributed_ns;
    total = s->job_total_ns;
    rest = s->job_rest_ns;
    step = s->safe_point_max_ns;
    gaps = s->n_gaps;
    svc_unlock(s);
    gauge(o, "cuzk_uptime_seconds", "Since the service started.", (double)(now - s->epoch) / S);
    gauge(o, "cuzk_crashed_before",
          "1: the daemon before this one ended by a fault of its own, or for want of memory.",
          s->before.end > WORK_KILLED);
    gauge(o, "cuzk_jobs_suspected", "Jobs that run alone: the daemon died while they were at work.",
          (double)suspected);
    gauge(o, "cuzk_queue_depth", "Jobs that have not begun.", (double)queued);
    gauge(o, "cuzk_running_jobs", "Jobs that are being proved.", (double)running);
    head(o, "cuzk_attribution_coverage", "gauge", "Attributed time / wall time.");
    bytes_printf(o, "cuzk_attribution_coverage{of=\"workers\"} %.9g\n",
                 wall == 0 ? 1 : (double)attributed / (double)wall);
    bytes_printf(o, "cuzk_attribution_coverage{of=\"jobs\"} %.9g\n",
                 total == 0 ? 1 : (double)(total - rest) / (double)total);
    counter(o, "cuzk_gaps_total", "Gaps in attribution and idle devices that were reported.", gaps);
    gauge(o, "cuzk_safe_point_max_seconds",
          "Longest time between two safe points of work on the CPU.", (double)step / S);
    counter(o, "cuzk_spans_dropped_total", "Spans that are no longer kept.",
            span_dropped(s->e->rec));
}

cuzk_status svc_metrics_text(service *s, bytes_out *o)
{
    svc_counts *c = malloc(sizeof *c);

    if (c == NULL) return FAIL(CUZK_ENOMEM, "metrics: out of memory");
    svc_lock(s);
    *c = s->counts;
    svc_unlock(s);
    put_jobs(o, c);
    free(c);
    put_live(s, o);
    put_devices(s, o);
    TRY(svc_put_gpu_metrics(s, o));
    put_memory(s, o);
    put_stages(s, o);
    put_keys(s, o);
    put_store(s, o);
    return bytes_out_status(o);
}
