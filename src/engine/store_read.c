/*
 * engine/store_read.c - reading jobs back: those that a restart needs, or one by its id
 *
 * A connection of its own (the journal lets it read while the store's thread writes); one caller at a time.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "engine/store_db.h"

#include <sqlite3.h>
#include <string.h>

/* ids that service_submit.c gives to further jobs of a request id, as long as it counts */
#define NUMBERED "?1||'~2',?1||'~3',?1||'~4',?1||'~5',?1||'~6',?1||'~7',?1||'~8',?1||'~9'"

struct store_reader {
    sqlite3 *db;
    const char *path; /* borrowed */
    mem *m;
    sqlite3_stmt *all, *find, *partitions;
    bytes_out proofs, rows; /* of one job: bytes of its partitions, then store_partition */
};

static cuzk_bytes column_bytes(sqlite3_stmt *q, int at)
{
    const uint8_t *p = sqlite3_column_blob(q, at);

    return (cuzk_bytes){p, (size_t)sqlite3_column_bytes(q, at)};
}

static cuzk_status read_partitions(store_reader *r, int64_t seq, store_partition **out, size_t *n)
{
    int got = sqlite3_bind_int64(r->partitions, 1, seq);
    size_t at = 0;

    r->proofs.size = r->rows.size = 0;
    while (got == SQLITE_OK || got == SQLITE_ROW) {
        got = sqlite3_step(r->partitions);
        if (got != SQLITE_ROW) break;
        cuzk_bytes b = column_bytes(r->partitions, 1);
        store_partition p = {(uint32_t)sqlite3_column_int64(r->partitions, 0), {NULL, b.size}};
        bytes_put(&r->proofs, b.data, b.size);
        bytes_put(&r->rows, &p, sizeof p);
    }
    (void)sqlite3_reset(r->partitions);
    if (got != SQLITE_DONE) return store_db_fail(r->db, got, "read partitions", r->path);
    TRY(bytes_out_status(&r->proofs));
    TRY(bytes_out_status(&r->rows));
    *out = (store_partition *)(void *)r->rows.data; /* from mem_new: aligned */
    *n = r->rows.size / sizeof **out;
    for (size_t i = 0; i < *n; i++) {
        (*out)[i].proof.data = r->proofs.data + at;
        at += (*out)[i].proof.size;
    }
    return CUZK_OK;
}

static cuzk_status read_job(store_reader *r, sqlite3_stmt *q, store_job_fn fn, void *ctx)
{
    store_partition *p = NULL;
    store_job j = {0};
    size_t n = 0;

    j.job_id = (const char *)sqlite3_column_text(q, 1);
    j.request_id = (const char *)sqlite3_column_text(q, 2);
    if (j.job_id == NULL || j.request_id == NULL || sqlite3_column_bytes(q, 3) != 32)
        return FAIL(CUZK_EIO, "read %s: job %lld is not as it was written", r->path,
                    (long long)sqlite3_column_int64(q, 0));
    memcpy(j.payload_hash, sqlite3_column_blob(q, 3), 32);
    j.kind = (uint32_t)sqlite3_column_int64(q, 4);
    j.priority = (uint32_t)sqlite3_column_int64(q, 5);
    j.n_partitions = (uint32_t)sqlite3_column_int64(q, 6);
    j.state = (cuzk_job_state)sqlite3_column_int64(q, 7);
    j.created_ms = (uint64_t)sqlite3_column_int64(q, 8);
    j.deadline_ms = (uint64_t)sqlite3_column_int64(q, 9);
    j.ended_ms = (uint64_t)sqlite3_column_int64(q, 10);
    if (sqlite3_column_bytes(q, 11) == 32) {
        memcpy(j.payload.key, sqlite3_column_blob(q, 11), 32);
        j.payload.size = (uint64_t)sqlite3_column_int64(q, 12);
    }
    j.request = column_bytes(q, 13);
    j.result = column_bytes(q, 14);
    TRY(read_partitions(r, sqlite3_column_int64(q, 0), &p, &n));
    return fn(ctx, &j, p, n);
}

/* Every row of q, whose parameters are bound. */
static cuzk_status read_rows(store_reader *r, sqlite3_stmt *q, int bound, store_job_fn fn,
                             void *ctx)
{
    cuzk_status st = CUZK_OK;
    int got = bound;

    if (got == SQLITE_OK) got = sqlite3_exec(r->db, "BEGIN", NULL, NULL, NULL); /* one moment */
    if (got != SQLITE_OK) return store_db_fail(r->db, got, "read jobs", r->path);
    while (st == CUZK_OK && (got = sqlite3_step(q)) == SQLITE_ROW) st = read_job(r, q, fn, ctx);
    if (st == CUZK_OK && got != SQLITE_DONE) st = store_db_fail(r->db, got, "read jobs", r->path);
    (void)sqlite3_reset(q); /* tells again what the step told */
    (void)sqlite3_clear_bindings(q);
    (void)sqlite3_exec(r->db, "COMMIT", NULL, NULL, NULL); /* nothing was written */
    bytes_out_clear(&r->proofs);
    bytes_out_clear(&r->rows);
    return st;
}

cuzk_status store_reader_each(store_reader *r, uint64_t n_ended, store_job_fn fn, void *ctx)
{
    return read_rows(r, r->all, sqlite3_bind_int64(r->all, 1, (sqlite3_int64)n_ended), fn, ctx);
}

cuzk_status store_reader_find(store_reader *r, const char *id, const uint8_t *hash, store_job_fn fn,
                              void *ctx)
{
    int bound = sqlite3_bind_text(r->find, 1, id, -1, SQLITE_STATIC);

    if (bound == SQLITE_OK && hash != NULL) /* else NULL, which equals nothing */
        bound = sqlite3_bind_blob(r->find, 2, hash, 32, SQLITE_STATIC);
    return read_rows(r, r->find, bound, fn, ctx);
}

#define SELECT_JOBS "SELECT seq," STORE_JOB_COLUMNS " FROM jobs WHERE "
#define OLDEST_FIRST " ORDER BY created_ms,seq"

static int connect_reader(store_reader *r)
{
    int got = sqlite3_open_v2(r->path, &r->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);

    if (got == SQLITE_OK) got = sqlite3_busy_timeout(r->db, 5000);
    if (got == SQLITE_OK)
        got = sqlite3_exec(r->db, "PRAGMA cache_size=-512;PRAGMA trusted_schema=OFF", NULL, NULL,
                           NULL);
    if (got == SQLITE_OK)
        got =
            sqlite3_prepare_v2(r->db,
                               SELECT_JOBS "state=0 OR seq IN (SELECT seq FROM jobs WHERE state<>0 "
                                           "ORDER BY ended_ms DESC,seq DESC LIMIT ?1)" OLDEST_FIRST,
                               -1, &r->all, NULL);
    if (got == SQLITE_OK)
        got = sqlite3_prepare_v2(r->db,
                                 SELECT_JOBS
                                 "state<>0 AND (job_id=?1 OR (request_id=?1 AND payload_hash=?2) "
                                 "OR (?2 IS NOT NULL AND job_id IN (" NUMBERED ")))" OLDEST_FIRST,
                                 -1, &r->find, NULL);
    if (got == SQLITE_OK)
        got =
            sqlite3_prepare_v2(r->db, "SELECT idx,proof FROM partitions WHERE job=?1 ORDER BY idx",
                               -1, &r->partitions, NULL);
    return got;
}

cuzk_status store_reader_open(store_reader **out, const char *path, mem *m)
{
    cuzk_status st = CUZK_OK;
    store_reader *r = mem_new(m, 1, sizeof *r, &st);
    int got;

    if (r == NULL) return st;
    r->path = path;
    r->m = m;
    bytes_out_init(&r->proofs, m);
    bytes_out_init(&r->rows, m);
    got = connect_reader(r);
    if (got != SQLITE_OK) {
        st = store_db_fail(r->db, got, "open it for reading", path);
        store_reader_close(r);
        return st;
    }
    *out = r;
    return CUZK_OK;
}

void store_reader_close(store_reader *r)
{
    if (r == NULL) return;
    (void)sqlite3_finalize(r->all); /* only read from: what they say no longer matters */
    (void)sqlite3_finalize(r->find);
    (void)sqlite3_finalize(r->partitions);
    (void)sqlite3_close(r->db);
    mem_free(r->m, r);
}
