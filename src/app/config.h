/*
 * app/config.h - the daemon's configuration: what the file says, checked, with defaults for the rest
 *
 * One table (config_keys.c) has every key: its type, default, whether SIGHUP takes it over, and what it means; reading, the example
 * file and the comparison of two configurations come from it.
 * Source: spec/config.md.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef APP_CONFIG_H
#define APP_CONFIG_H

#include "base/bytes.h"
#include "cuzk_service.h"

typedef struct config_list {
    const char *const *item;
    size_t n;
} config_list;

#define CONFIG_MAX_CIRCUITS 256u
#define CONFIG_MAX_WARNINGS 128u

/** Filled by config_read; strings and lists are the config's own until config_free. Text that is "" by default is never NULL. */
typedef struct config {
    char *path; /* of the file; NULL: there is none, all is default */

    config_list listen, status_listen, plaintext_from, cors_origins, host_names;
    const char *tls_cert, *tls_key, *tls_client_ca, *tokens_file; /* "": none */
    uint64_t max_message, max_inflight_bytes;                     /* bytes */
    unsigned max_requests;
    uint64_t drain_timeout_ms;

    const char *store_url;
    const char *store_path; /* of the SQLite file, within store_url */
    uint64_t results_keep_ms, store_max_size;

    bool cancel_orphans;
    unsigned retries, max_crashes;

    uint64_t total_budget;  /* 0: auto */
    uint64_t safety_margin; /* UINT64_MAX: 5 GiB or 10% */
    uint64_t critical_reserve, eviction_min_idle_ms;

    config_list gpu_devices; /* ordinals and UUIDs as text; "none" alone; empty: all */
    uint64_t gpu_memory_limit;
    unsigned gpu_workers_per_device, gpu_threads;

    const char *cpu_device; /* "auto", "on", "off" */
    const char *cpu_table;  /* "auto" or a name */
    const char *derived;    /* "auto", "off" */

    unsigned max_batch_size, max_batch_wait_ms;
    bool sort_by_type;
    unsigned synthesis_threads, synthesis_concurrency, max_parallel_synthesis;

    const char *param_cache; /* "": see config_params_dir */
    config_list preload;

    cuzk_circuit *circuits;
    size_t n_circuits;

    const char *log_level, *log_format;
    uint64_t tracing_ring, tracing_keep_ms;

    /* keys that are accepted and have no effect: "KEY: why" */
    const char *warning[CONFIG_MAX_WARNINGS];
    size_t n_warnings;

    mem *m;
    struct config_block *blocks;
} config;

typedef struct config_source {
    const char *path; /* NULL: the first of the default places that is there, else no file */
    const char *const *listen; /* added to daemon.listen */
    size_t n_listen;
    const char *log_level; /* in place of the file's; NULL: the file's */
} config_source;

/** CUZK_EDATA: where "FILE:LINE:COLUMN", message "KEY: reason"; CUZK_EIO: the file; CUZK_EINVAL: an option of the source. */
CUZK_STATUS config_read(config **out, const config_source *source);
/** The same from text, whose name is for messages. */
CUZK_STATUS config_read_text(config **out, const char *text, size_t size, const char *name,
                             const config_source *source);
void config_free(config *c); /* NULL is fine */

/** Calls fn with each key whose value differs and which SIGHUP does not take over. */
void config_not_reloadable(const config *now, const config *next,
                           void (*fn)(void *ctx, const char *key), void *ctx);
/** The folder of the keys: srs.param_cache; where it is not set, /data/zk/params if that is there, else from_env, else
 *  /var/tmp/filecoin-proof-parameters. */
const char *config_params_dir(const config *c, const char *from_env);
/** Every key with its meaning and default, as a TOML file. */
void config_write_example(bytes_out *o);
/** The default places, NULL at the end. */
extern const char *const config_places[];

#endif
