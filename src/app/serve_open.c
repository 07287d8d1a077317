/*
 * app/serve_open.c - the daemon's parts opened from its configuration, reloaded, and closed
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "app/serve.h"

#include "base/file.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define STOP_MS 1000 /* for answers that are under way when everything else has ended */

/* ---- configuration to what the parts take ---- */

#define MAX_DEVICE_NAMES 1024

/* The names of the devices to prove on, for cuzk_config. */
static cuzk_status write_devices(char out[MAX_DEVICE_NAMES], const config *c)
{
    const config_list *l = &c->gpu_devices;
    const char *cpu = c->cpu_device; /* auto, on, off */
    size_t at = 0;

#ifdef CUZK_CUDA
    bool gpus = l->n != 1 || strcmp(l->item[0], "none") != 0;
#else
    bool gpus = false; /* config.c has told */
#endif
    out[0] = 0;
    if (gpus && l->n == 0)
        at = (size_t)snprintf(out, MAX_DEVICE_NAMES, strcmp(cpu, "off") == 0 ? "cuda" : "auto");
    for (size_t i = 0; gpus && i < l->n && at < MAX_DEVICE_NAMES; i++)
        at += (size_t)snprintf(out + at, MAX_DEVICE_NAMES - at, "%scuda:%s", i == 0 ? "" : ",",
                               l->item[i]);
    if (at < MAX_DEVICE_NAMES && (!gpus || strcmp(cpu, "on") == 0))
        at += (size_t)snprintf(out + at, MAX_DEVICE_NAMES - at, "%scpu", at == 0 ? "" : ",");
    if (at >= MAX_DEVICE_NAMES)
        return FAIL(CUZK_EINVAL, "gpus.devices: %zu devices with names of more than %d characters",
                    l->n, MAX_DEVICE_NAMES);
    return CUZK_OK;
}

static cuzk_config engine_config(const config *c, const char *devices)
{
    return (cuzk_config){
        .threads = c->synthesis_threads,
        .device = devices,
        .all_gpus = true,
        .missing = strcmp(c->cpu_device, "off") == 0 ? CUZK_MISSING_WARNS : CUZK_MISSING_CPU,
        .device_memory = c->gpu_memory_limit,
        .cpu_table = strcmp(c->cpu_table, "auto") == 0 ? NULL : c->cpu_table,
        .derived = strcmp(c->derived, "auto") == 0,
    };
}

static cuzk_service_tunables tunables(const config *c)
{
    return (cuzk_service_tunables){
        .results_keep_ms = c->results_keep_ms,
        .store_max_size = c->store_max_size,
        .eviction_min_idle_ms = c->eviction_min_idle_ms,
        .cancel_orphans = c->cancel_orphans,
        .sort_by_type = c->sort_by_type,
        .retries = c->retries,
        .max_crashes = c->max_crashes,
        .decode_at_once = c->synthesis_concurrency,
        .synthesis_at_once = c->max_parallel_synthesis,
        .circuits = c->circuits,
        .n_circuits = c->n_circuits,
    };
}

static cuzk_service_config service_config(const daemon_state *d)
{
    const config *c = d->config;

    return (cuzk_service_config){
        .store = c->store_path,
        .params_dir = config_params_dir(c, d->env_params),
        .preload = c->preload.item,
        .n_preload = c->preload.n,
        .memory_total = c->total_budget,
        .memory_margin = c->safety_margin,
        .memory_critical = c->critical_reserve,
        .trace_keep_ms = c->tracing_keep_ms,
        .trace_ring = c->tracing_ring,
        .partitions_per_gpu = c->gpu_workers_per_device,
        .tunables = tunables(c),
        .log = logger_line,
        .log_ctx = d->log,
    };
}

static const char *file_of(const char *path)
{
    return path[0] == 0 ? NULL : path;
}

static access_config access_config_of(const config *c)
{
    return (access_config){
        .tokens_file = file_of(c->tokens_file),
        .plaintext_from = c->plaintext_from.item,
        .n_plaintext_from = c->plaintext_from.n,
    };
}

static rpc_config rpc_config_of(const daemon_state *d, const config *c)
{
    return (rpc_config){
        .listen = c->listen.item,
        .n_listen = c->listen.n,
        .tls_cert = file_of(c->tls_cert),
        .tls_key = file_of(c->tls_key),
        .tls_client_ca = file_of(c->tls_client_ca),
        .access = d->access,
        .max_message = c->max_message,
        .max_requests = c->max_requests,
        .max_inflight_bytes = c->max_inflight_bytes,
        .spans = cuzk_engine_spans(d->engine),
        .log = logger_line,
        .log_ctx = d->log,
    };
}

static void more_metrics(void *ctx, bytes_out *out)
{
    daemon_state *d = ctx;

    logger_metrics(d->log, out);
    rpc_metrics(d->rpc, out);
}

static http_config http_config_of(daemon_state *d, const config *c)
{
    return (http_config){
        .listen = c->status_listen.item,
        .n_listen = c->status_listen.n,
        .tls_cert = file_of(c->tls_cert),
        .tls_key = file_of(c->tls_key),
        .tls_client_ca = file_of(c->tls_client_ca),
        .access = d->access,
        .max_message = c->max_message,
        .max_requests = c->max_requests,
        .max_inflight_bytes = c->max_inflight_bytes,
        .cors_origins = c->cors_origins.item,
        .n_cors_origins = c->cors_origins.n,
        .host_names = c->host_names.item,
        .n_host_names = c->host_names.n,
        .spans = cuzk_engine_spans(d->engine),
        .log = logger_line,
        .log_ctx = d->log,
        .more_metrics = more_metrics,
        .metrics_ctx = d,
    };
}

/* ---- opening ---- */

/** Sockets, keys and the store need descriptors; the soft limit of many systems is 1024. */
static void raise_file_limit(void)
{
    struct rlimit r;

    if (getrlimit(RLIMIT_NOFILE, &r) != 0 || r.rlim_cur == r.rlim_max) return;
    r.rlim_cur = r.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &r); /* refused: as many as there were */
}

/** The folders of unix sockets. One that cannot be made is told by who binds there. */
static void make_socket_folders(const config_list *l)
{
    for (size_t i = 0; i < l->n; i++) {
        const char *path = l->item[i], *slash;
        char folder[256];

        if (strncmp(path, "unix://", 7) != 0) continue;
        path += 7;
        slash = strrchr(path, '/');
        if (slash == NULL || slash == path || (size_t)(slash - path) >= sizeof folder) continue;
        (void)snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
        if (!file_exists(folder) && file_make_dir(folder) != CUZK_OK) break;
    }
}

static void log_warnings(const daemon_state *d, const config *c)
{
    for (size_t i = 0; i < c->n_warnings; i++)
        logger_say(d->log, CUZK_LOG_WARN, "config_warning", "message", c->warning[i], NULL, 0);
    for (size_t i = 0; i < c->plaintext_from.n; i++) {
        char text[200];
        (void)snprintf(text, sizeof text,
                       "daemon.plaintext_from: whoever is in %.60s can submit and cancel proofs",
                       c->plaintext_from.item[i]);
        logger_say(d->log, CUZK_LOG_WARN, "config_warning", "message", text, NULL, 0);
    }
}

static cuzk_status open_log(daemon_state *d)
{
    logger_config c = {
        .fd = STDERR_FILENO,
        .json = strcmp(d->config->log_format, "json") == 0,
        .journal = d->env_journal != NULL,
        .level = logger_level(d->config->log_level),
        .rec = cuzk_engine_spans(d->engine),
    };

    return logger_open(&d->log, &c);
}

static void log_start(const daemon_state *d)
{
    const config *c = d->config;
    cuzk_log_field f[] = {
        {"version", cuzk_version(), 0},
        {"pid", NULL, (int64_t)getpid()},
        {"config", c->path == NULL ? "" : c->path, 0},
        {"store", c->store_path, 0},
        {"params", config_params_dir(c, d->env_params), 0},
    };

    logger_line(d->log, CUZK_LOG_INFO, "starting", f, sizeof f / sizeof f[0]);
    log_warnings(d, c);
}

cuzk_status daemon_open(daemon_state *d, daemon_starts_fn starts)
{
    char devices[MAX_DEVICE_NAMES];
    cuzk_config engine = engine_config(d->config, devices);
    access_config access = access_config_of(d->config);
    cuzk_service_config service;
    rpc_config grpc;
    http_config web;

    TRY(write_devices(devices, d->config));
    raise_file_limit();
    make_socket_folders(&d->config->listen);
    make_socket_folders(&d->config->status_listen);
    TRY(cuzk_engine_open(&d->engine, &engine));
    TRY(open_log(d));
    log_start(d);
    TRY(access_open(&d->access, &access));
    service = service_config(d);
    service.starts = starts;
    TRY(cuzk_service_open(&d->service, d->engine, &service));
    grpc = rpc_config_of(d, d->config);
    TRY(rpc_start(&d->rpc, &grpc, d->service));
    if (d->config->status_listen.n == 0) return CUZK_OK;
    web = http_config_of(d, d->config);
    return http_start(&d->http, &web, d->service);
}

/* ---- where it listens ---- */

void daemon_print_addresses(const daemon_state *d)
{
    const char *scheme = d->config->tls_cert[0] == 0 ? "http" : "https";
    const char *a;

    for (size_t i = 0; (a = rpc_address(d->rpc, i)) != NULL; i++) {
        printf("gRPC:  %s\n", a);
        logger_say(d->log, CUZK_LOG_INFO, "listening", "grpc", a, NULL, 0);
    }
    for (size_t i = 0; d->http != NULL && (a = http_address(d->http, i)) != NULL; i++) {
        if (strncmp(a, "unix:", 5) == 0)
            printf("HTTP:  %s\n", a);
        else
            printf("panel: %s://%s/\n", scheme, a);
        logger_say(d->log, CUZK_LOG_INFO, "listening", "http", a, NULL, 0);
    }
    (void)fflush(stdout); /* a pipe that has gone is no reason to end */
}

/* ---- reloading ---- */

static void say_not_reloadable(void *ctx, const char *key)
{
    const daemon_state *d = ctx;
    char text[128];

    (void)snprintf(text, sizeof text, "%s has changed: it is taken over by a restart", key);
    logger_say(d->log, CUZK_LOG_WARN, "reload_needs_restart", "message", text, NULL, 0);
}

/** In this order: what can fail comes before what cannot. */
static cuzk_status take_over(daemon_state *d, const config *next)
{
    access_config access = access_config_of(next);
    rpc_config grpc = rpc_config_of(d, next);
    http_config web = http_config_of(d, next);
    cuzk_service_tunables t = tunables(next);

    TRY(access_reload(d->access, &access));
    TRY(rpc_reload(d->rpc, &grpc));
    if (d->http != NULL) TRY(http_reload(d->http, &web));
    TRY(cuzk_service_tune(d->service, &t));
    logger_set(d->log, logger_level(next->log_level), strcmp(next->log_format, "json") == 0);
    return CUZK_OK;
}

void daemon_log_failure(const daemon_state *d, const char *event)
{
    const cuzk_error *e = cuzk_last_error();
    cuzk_log_field f[] = {{"class", cuzk_class_name(e->klass), 0},
                          {"where", e->where, 0},
                          {"message", e->message, 0}};

    logger_line(d->log, CUZK_LOG_ERROR, event, f, 3);
}

void daemon_reload(daemon_state *d)
{
    config *next = NULL;
    cuzk_status st = config_read(&next, &d->source);

    if (st == CUZK_OK) {
        st = take_over(d, next);
        if (st != CUZK_OK) {
            cuzk_error why = *cuzk_last_error();
            /* back to what was: it was taken over once already */
            cuzk_status back = take_over(d, d->config);
            if (back != CUZK_OK) daemon_log_failure(d, "reload_undo_failed");
            st = status_adopt(&why);
        }
    }
    if (st != CUZK_OK) {
        daemon_log_failure(d, "reload_failed");
        config_free(next);
        return;
    }
    config_not_reloadable(d->started, next, say_not_reloadable, d);
    log_warnings(d, next);
    if (d->config != d->started) config_free(d->config);
    d->config = next;
    logger_say(d->log, CUZK_LOG_INFO, "reloaded", "config", next->path == NULL ? "" : next->path,
               NULL, 0);
}

/* ---- closing ---- */

void daemon_close(daemon_state *d, bool at_once)
{
    uint64_t ms = at_once ? 0 : STOP_MS;

    http_stop(d->http, ms); /* first: /metrics asks the other */
    rpc_stop(d->rpc, ms);
    cuzk_service_close(d->service);
    access_close(d->access);
    if (d->log != NULL) logger_say(d->log, CUZK_LOG_INFO, "stopped", NULL, NULL, NULL, 0);
    logger_close(d->log);
    if (d->engine != NULL) cuzk_engine_close(d->engine);
    if (d->config != d->started) config_free(d->config);
    config_free(d->started);
    d->config = d->started = NULL;
}
