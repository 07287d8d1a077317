/*
 * unit/engine/store_support.h - what the store's tests share: opening one, made-up jobs, what is loaded
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ENGINE_STORE_SUPPORT_H
#define ENGINE_STORE_SUPPORT_H

#include "harness/harness.h"

#include "engine/store.h"

/** Lines that a store logged; the last of each event. Safe from several threads. */
unsigned logged(const char *event);
void log_reset(void);

typedef struct env {
    char dir[512], path[560];
    mem *m;
    span_rec *rec;
} env;

/** A fresh folder `name` in the test's own; nothing is opened yet. */
void env_init(env *e, const char *name);
void env_clear(env *e);
cuzk_status env_try_open(env *e, store **out, cuzk_buffer *moved);
/** Opens, and fails the test when that fails or something was moved aside. */
store *env_open(env *e);

/** Bytes that depend on the seed alone. */
void fill(uint8_t *p, size_t n, uint64_t seed);
cuzk_bytes text(const char *s);
/** Job "job-K" with a payload that was written (size 0: none). */
store_job make_job(uint64_t k, char id[32], const store_payload *p);
store_payload write_payload(store *s, uint64_t seed, size_t size);
bool payload_is(store *s, const store_payload *p, uint64_t seed, size_t size);
/** Files below STORE.d. */
size_t payload_files(const env *e);

/** What store_load tells, copied. */
#define LOADED_MAX 4096
typedef struct loaded {
    size_t n;
    struct loaded_job {
        char job_id[32], request_id[64];
        store_job j; /* strings and bytes of it are not to be used */
        char request[64], result[64];
        size_t n_partitions;
        uint32_t index[8];
        char proof[8][16];
    } job[LOADED_MAX];
} loaded;
/** Replaces *l. */
cuzk_status load(store *s, loaded *l);
cuzk_status load_latest(store *s, uint64_t n_ended, loaded *l);
/** What store_find tells. */
cuzk_status look_up(store *s, const char *id, const uint8_t *hash, loaded *l);
const struct loaded_job *find(const loaded *l, const char *job_id);

#endif
