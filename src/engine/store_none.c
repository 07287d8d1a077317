/*
 * engine/store_none.c - the store of a build without SQLite: it cannot be opened, and says so
 *
 * No store ever exists here, so that the other functions have nothing to do.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "engine/store.h"

#include <string.h>

const double store_bucket_ms[STORE_BUCKETS - 1] = {0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000};

static cuzk_status none(void)
{
    return FAIL(CUZK_EINVAL, "this cuzk was built without a job store (SQLite)");
}

cuzk_status store_open(store **out, const store_config *c, cuzk_buffer *moved)
{
    (void)out;
    (void)c;
    (void)moved;
    return none();
}

void store_close(store *s)
{
    (void)s;
}

void store_set_max_size(store *s, uint64_t bytes)
{
    (void)s;
    (void)bytes;
}

cuzk_status store_payload_write(store *s, const cuzk_bytes *pieces, size_t n, store_payload *out)
{
    (void)s;
    (void)pieces;
    (void)n;
    (void)out;
    return none();
}

cuzk_status store_payload_map(store *s, const store_payload *p, file_map *out)
{
    (void)s;
    (void)p;
    (void)out;
    return none();
}

cuzk_status store_admit(store *s, const store_job *j)
{
    (void)s;
    (void)j;
    return none();
}

cuzk_status store_finish(store *s, const char *job_id, cuzk_job_state state, uint64_t ended_ms,
                         cuzk_bytes result)
{
    (void)s;
    (void)job_id;
    (void)state;
    (void)ended_ms;
    (void)result;
    return none();
}

void store_partition_async(store *s, const char *job_id, uint32_t partition, cuzk_bytes proof)
{
    (void)s;
    (void)job_id;
    (void)partition;
    (void)proof;
}

void store_priority_async(store *s, const char *job_id, uint32_t priority)
{
    (void)s;
    (void)job_id;
    (void)priority;
}

void store_purge_async(store *s, uint64_t before_ms)
{
    (void)s;
    (void)before_ms;
}

void store_flush(store *s)
{
    (void)s;
}

cuzk_status store_load(store *s, uint64_t n_ended, store_job_fn fn, void *ctx)
{
    (void)s;
    (void)n_ended;
    (void)fn;
    (void)ctx;
    return none();
}

cuzk_status store_find(store *s, const char *id, const uint8_t *hash, store_job_fn fn, void *ctx)
{
    (void)s;
    (void)id;
    (void)hash;
    (void)fn;
    (void)ctx;
    return none();
}

void store_stats_get(store *s, store_stats *out)
{
    (void)s;
    memset(out, 0, sizeof *out);
}
