/*
 * engine/store.h - what outlives the process: jobs, their payloads, their results
 *
 * One SQLite file (WAL) holds the index; payloads are files of their own beside it (STORE.d/XX/...), named by the SHA-256 of
 * their bytes and stored once. One thread owns the connection; what others ask is done in the order asked, and what waits
 * together is one transaction with one sync (group commit). What a job's record means is the engine's: the store keeps
 * `request` and `result` as bytes.
 *
 * Failures: CUZK_EIO (SQLite or the disk; the record named), class resource for a full disk; CUZK_EBUDGET class limit for a
 * store that has reached max_size. After a failure the store goes on: the next operation tries anew.
 * Built without SQLite (CUZK_SERVICE=off): store_open fails with CUZK_EINVAL and says so.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ENGINE_STORE_H
#define ENGINE_STORE_H

#include "base/file.h"
#include "base/span.h"
#include "cuzk_service.h"

typedef struct store store;

typedef struct store_config {
    const char *path; /* of the SQLite file; its folder is made */
    mem *m;
    span_rec *rec;   /* the store's thread is track "store" */
    cuzk_log_fn log; /* may be NULL */
    void *log_ctx;
} store_config;

/** Locks PATH.lock for its life (another process has it: CUZK_EIO class inconsistent, with its pid). A database that
 *  PRAGMA quick_check finds at fault is moved to PATH.corrupt-YYYYMMDDTHHMMSSZ with its -wal, -shm and payload files, logged as
 *  event store_corrupt, and *moved (a cuzk_buffer text, empty: none) names it. Of a sound one whose rows are not all as they were
 *  written a copy of that name is made, and those rows are taken out: events store_damaged, and stored_job_damaged for each
 *  job. One that a later cuzk or another program wrote is left alone: CUZK_EIO. Leftovers of payloads that were being
 *  written, and payloads that no job names, are removed. */
CUZK_STATUS store_open(store **out, const store_config *c, cuzk_buffer *moved);
/** What was asked before is done first. NULL is fine. */
void store_close(store *s);

/** Limits for what is admitted from now on; 0: none. */
void store_set_max_size(store *s, uint64_t bytes);

typedef struct store_payload {
    uint8_t key[32]; /* SHA-256 of its bytes */
    uint64_t size;   /* 0: there is none */
} store_payload;

/** Writes a payload and waits until it is on the disk (fsync of file and folder). Any thread, at the same time too. It lives
 *  while a job names it; one that no job names within ten minutes goes. The pieces are joined. */
CUZK_STATUS store_payload_write(store *s, const cuzk_bytes *pieces, size_t n, store_payload *out);
/** Maps it. CUZK_EIO: it is not there, has another size, or (looked at once) other bytes. */
CUZK_STATUS store_payload_map(store *s, const store_payload *p, file_map *out);

/** A job as it is stored. Times are wall-clock milliseconds since 1970. Bytes and strings are borrowed during a call. */
typedef struct store_job {
    const char *job_id, *request_id;
    uint8_t payload_hash[32]; /* of the request: what makes two requests the same */
    uint32_t kind, priority, n_partitions;
    cuzk_job_state state; /* QUEUED while it has not ended */
    uint64_t created_ms, deadline_ms, ended_ms;
    store_payload payload;
    cuzk_bytes request; /* fields beside the payload */
    cuzk_bytes result;  /* when it has ended */
} store_job;

/** Stores a job, or in place of one of the same job_id, and waits until it is durable. A new attempt's old partitions go.
 *  CUZK_EINVAL: its payload is not in the store. With little room left on the disk (1/16, at most 64 MiB, is kept for results)
 *  it is refused as by a full one. */
CUZK_STATUS store_admit(store *s, const store_job *j);
/** Stores what became of it, and waits. The payload is let go: it goes when no other job names it. CUZK_EINVAL: no such job.
 *  Another failure is logged (store_failed), and the store keeps trying until it succeeds, the job is admitted anew, or it is
 *  closed: then the job is there as one that has not ended. */
CUZK_STATUS store_finish(store *s, const char *job_id, cuzk_job_state state, uint64_t ended_ms,
                         cuzk_bytes result);
/* These return at once; a failure is logged (event store_failed), and nothing is lost that was admitted. */
/** The proof of a partition, so that a restart need not prove it again. */
void store_partition_async(store *s, const char *job_id, uint32_t partition, cuzk_bytes proof);
void store_priority_async(store *s, const char *job_id, uint32_t priority);
/** Forgets ended jobs with ended_ms <= before_ms, and payloads that nothing names. */
void store_purge_async(store *s, uint64_t before_ms);
/** Everything asked so far is durable, or has failed. */
void store_flush(store *s);

typedef struct store_partition {
    uint32_t index;
    cuzk_bytes proof;
} store_partition;
/** A job with its partitions; borrowed during the call. The first failure ends the reading. */
typedef cuzk_status (*store_job_fn)(void *ctx, const store_job *j, const store_partition *p,
                                    size_t n);
/** Jobs that have not ended, and the n_ended latest of those that have; oldest first. */
CUZK_STATUS store_load(store *s, uint64_t n_ended, store_job_fn fn, void *ctx);
/** Ended jobs that are durable: the one whose job_id is id; and with a hash (32 bytes; NULL: none) those that were asked for as
 *  id with that payload_hash, and those whose job_id is one of id~2 to id~9. Oldest first. Any thread, the calling one reads;
 *  fn must not call the store. */
CUZK_STATUS store_find(store *s, const char *id, const uint8_t *hash, store_job_fn fn, void *ctx);

/** Bounds of the histogram of transactions' durations, in ms; the last is everything above. */
#define STORE_BUCKETS 12
extern const double store_bucket_ms[STORE_BUCKETS - 1];
typedef struct store_stats {
    uint64_t jobs, payloads, bytes, max_bytes; /* bytes: payload files and the database */
    uint64_t transactions, operations, failures;
    uint64_t sync_buckets[STORE_BUCKETS];
    uint64_t sync_ns; /* in all */
    uint64_t pending; /* operations that wait */
    bool full;        /* the last write failed for want of space */
} store_stats;
void store_stats_get(store *s, store_stats *out);

#endif
