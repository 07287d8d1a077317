/*
 * engine/store_rows.c - what each operation does to the tables
 *
 * Numbers are stored as SQLite's signed 64 bits; the cast back gives all 64 again.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "engine/store_db.h"

#include "base/hash.h"

#include <sqlite3.h>
#include <string.h>

/* ?1.. are the columns of STORE_JOB_COLUMNS, or in the order of the bind calls below */
const char *const store_sql_text[SQL_STATEMENTS] = {
    [SQL_BEGIN] = "BEGIN IMMEDIATE",
    [SQL_COMMIT] = "COMMIT",
    [SQL_ROLLBACK] = "ROLLBACK",
    [SQL_FIND_JOB] = "SELECT seq,payload,payload_size FROM jobs WHERE job_id=?1",
    [SQL_FORGET_PARTITIONS] = "DELETE FROM partitions WHERE job=?1",
    [SQL_FORGET_JOB] = "DELETE FROM jobs WHERE seq=?1",
    [SQL_ADMIT] =
        "INSERT INTO jobs(" STORE_JOB_COLUMNS ",sum) VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,"
        "?12,?13,?14,check_row(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14))",
    [SQL_FINISH] =
        "UPDATE jobs SET state=?2,ended_ms=?3,result=?4,payload=NULL,payload_size=0,"
        "sum=check_row(job_id,request_id,payload_hash,kind,priority,n_partitions,?2,created_ms,"
        "deadline_ms,?3,NULL,0,request,?4) WHERE seq=?1",
    [SQL_PARTITION] = "INSERT OR REPLACE INTO partitions(job,idx,proof,sum) SELECT seq,?2,?3,"
                      "check_row(seq,?2,?3) FROM jobs WHERE job_id=?1 AND state=0",
    [SQL_PRIORITY] =
        "UPDATE jobs SET priority=?2,sum=check_row(job_id,request_id,payload_hash,kind,?2,"
        "n_partitions,state,created_ms,deadline_ms,ended_ms,payload,payload_size,request,result) "
        "WHERE job_id=?1",
    [SQL_PURGE] = "DELETE FROM jobs WHERE state<>0 AND ended_ms<=?1",
    [SQL_NAMED] = "SELECT 1 FROM jobs WHERE payload=?1 LIMIT 1",
    [SQL_JOBS] = "SELECT count(*) FROM jobs",
    [SQL_PAGES] = "SELECT page_count-freelist_count,page_size FROM pragma_page_count,"
                  "pragma_freelist_count,pragma_page_size",
};

/* ---- the check number of a row ---- */

static void hash_value(blake2b_ctx *c, sqlite3_value *v)
{
    uint8_t head[9];
    int type = sqlite3_value_type(v);
    uint64_t n;

    head[0] = (uint8_t)type;
    if (type == SQLITE_INTEGER) {
        store_u64le(head + 1, (uint64_t)sqlite3_value_int64(v));
        blake2b_update(c, head, sizeof head);
        return;
    }
    const void *p = sqlite3_value_blob(v); /* text: its UTF-8 */
    n = (uint64_t)sqlite3_value_bytes(v);
    store_u64le(head + 1, n);
    blake2b_update(c, head, sizeof head);
    if (n != 0) blake2b_update(c, p, (size_t)n);
}

static void check_row(sqlite3_context *x, int n, sqlite3_value **v)
{
    blake2b_ctx c;
    uint8_t out[8];

    blake2b_init(&c, sizeof out, NULL, 0);
    for (int i = 0; i < n; i++) hash_value(&c, v[i]);
    blake2b_final(&c, out);
    sqlite3_result_int64(x, (sqlite3_int64)load_u64le(out));
}

int store_db_add_functions(sqlite3 *db)
{
    return sqlite3_create_function(db, "check_row", -1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL,
                                   check_row, NULL, NULL);
}

/* ---- running statements ---- */

static int bind_u64(sqlite3_stmt *q, int at, uint64_t v)
{
    return sqlite3_bind_int64(q, at, (sqlite3_int64)v);
}

static int bind_bytes(sqlite3_stmt *q, int at, const void *p, size_t n)
{
    return sqlite3_bind_blob64(q, at, n == 0 ? "" : p, n, SQLITE_STATIC);
}

static int bind_text(sqlite3_stmt *q, int at, const char *text)
{
    return sqlite3_bind_text(q, at, text == NULL ? "" : text, -1, SQLITE_STATIC);
}

/** Runs a statement of no rows. bound: what its binds came to. */
static cuzk_status run(store_db *d, store_sql which, int bound, const char *doing)
{
    sqlite3_stmt *q = d->stmt[which];
    cuzk_status st = CUZK_OK;

    if (bound == SQLITE_OK) bound = sqlite3_step(q);
    if (bound != SQLITE_DONE) st = store_db_fail(d->db, bound, doing, d->path);
    (void)sqlite3_reset(q); /* tells again what the step told */
    (void)sqlite3_clear_bindings(q);
    return st;
}

cuzk_status store_db_begin(store_db *d)
{
    return run(d, SQL_BEGIN, SQLITE_OK, "begin");
}

cuzk_status store_db_commit(store_db *d)
{
    return run(d, SQL_COMMIT, SQLITE_OK, "commit");
}

void store_db_rollback(store_db *d)
{
    cuzk_error kept = *cuzk_last_error();

    /* some failures have rolled back already */
    if (sqlite3_get_autocommit(d->db) == 0 && run(d, SQL_ROLLBACK, SQLITE_OK, "roll back") != 0)
        kept = *cuzk_last_error();
    if (kept.status != CUZK_OK) (void)status_adopt(&kept);
}

static cuzk_status find_job(store_db *d, const char *job_id, uint64_t *seq, store_payload *p)
{
    sqlite3_stmt *q = d->stmt[SQL_FIND_JOB];
    cuzk_status st = CUZK_OK;
    int got = bind_text(q, 1, job_id);

    *seq = 0;
    p->size = 0;
    if (got == SQLITE_OK) got = sqlite3_step(q);
    if (got == SQLITE_ROW) {
        *seq = (uint64_t)sqlite3_column_int64(q, 0);
        if (sqlite3_column_bytes(q, 1) == 32) {
            memcpy(p->key, sqlite3_column_blob(q, 1), 32);
            p->size = (uint64_t)sqlite3_column_int64(q, 2);
        }
    } else if (got != SQLITE_DONE) {
        st = store_db_fail(d->db, got, "look up a job", d->path);
    }
    (void)sqlite3_reset(q);
    (void)sqlite3_clear_bindings(q);
    return st;
}

static cuzk_status forget_partitions(store_db *d, uint64_t seq)
{
    return run(d, SQL_FORGET_PARTITIONS, bind_u64(d->stmt[SQL_FORGET_PARTITIONS], 1, seq),
               "forget partitions");
}

static cuzk_status insert_job(store_db *d, const store_job *j)
{
    sqlite3_stmt *q = d->stmt[SQL_ADMIT];
    bool ended = j->state >= CUZK_JOB_COMPLETED;
    bool has_payload = !ended && j->payload.size != 0; /* one that has ended lets it go */
    int bad = SQLITE_OK;

    bad |= bind_text(q, 1, j->job_id);
    bad |= bind_text(q, 2, j->request_id);
    bad |= bind_bytes(q, 3, j->payload_hash, 32);
    bad |= bind_u64(q, 4, j->kind);
    bad |= bind_u64(q, 5, j->priority);
    bad |= bind_u64(q, 6, j->n_partitions);
    bad |= bind_u64(q, 7, ended ? (uint64_t)j->state : CUZK_JOB_QUEUED);
    bad |= bind_u64(q, 8, j->created_ms);
    bad |= bind_u64(q, 9, j->deadline_ms);
    bad |= bind_u64(q, 10, j->ended_ms);
    bad |= has_payload ? bind_bytes(q, 11, j->payload.key, 32) : sqlite3_bind_null(q, 11);
    bad |= bind_u64(q, 12, has_payload ? j->payload.size : 0);
    bad |= bind_bytes(q, 13, j->request.data, j->request.size);
    bad |= bind_bytes(q, 14, j->result.data, ended ? j->result.size : 0);
    return run(d, SQL_ADMIT, bad, "store a job");
}

static cuzk_status admit(store_db *d, store_op *op)
{
    uint64_t seq;

    TRY(find_job(d, op->job->job_id, &seq, &op->let_go));
    if (seq != 0) {
        TRY(forget_partitions(d, seq));
        TRY(run(d, SQL_FORGET_JOB, bind_u64(d->stmt[SQL_FORGET_JOB], 1, seq), "replace a job"));
    }
    op->more_jobs = seq == 0 ? 1 : 0;
    return insert_job(d, op->job);
}

static cuzk_status finish(store_db *d, store_op *op)
{
    sqlite3_stmt *q = d->stmt[SQL_FINISH];
    uint64_t seq;
    int bad = SQLITE_OK;

    TRY(find_job(d, op->job_id, &seq, &op->let_go));
    if (seq == 0) return FAIL(CUZK_EINVAL, "job %s is not in the store", op->job_id);
    TRY(forget_partitions(d, seq));
    bad |= bind_u64(q, 1, seq);
    bad |= bind_u64(q, 2, op->number);
    bad |= bind_u64(q, 3, op->ms);
    bad |= bind_bytes(q, 4, op->bytes.data, op->bytes.size);
    return run(d, SQL_FINISH, bad, "store a result");
}

static cuzk_status set_partition(store_db *d, store_op *op)
{
    sqlite3_stmt *q = d->stmt[SQL_PARTITION];
    int bad = bind_text(q, 1, op->job_id);

    bad |= bind_u64(q, 2, op->number);
    bad |= bind_bytes(q, 3, op->bytes.data, op->bytes.size);
    return run(d, SQL_PARTITION, bad, "store a partition");
}

static cuzk_status set_priority(store_db *d, store_op *op)
{
    sqlite3_stmt *q = d->stmt[SQL_PRIORITY];
    int bad = bind_text(q, 1, op->job_id);

    bad |= bind_u64(q, 2, op->number);
    return run(d, SQL_PRIORITY, bad, "store a priority");
}

cuzk_status store_db_apply(store_db *d, store_op *op)
{
    op->let_go.size = 0;
    op->more_jobs = 0;
    switch (op->type) {
    case STORE_ADMIT: return admit(d, op);
    case STORE_FINISH: return finish(d, op);
    case STORE_PARTITION: return set_partition(d, op);
    case STORE_PRIORITY: return set_priority(d, op);
    case STORE_PURGE:
        TRY(run(d, SQL_PURGE, bind_u64(d->stmt[SQL_PURGE], 1, op->ms), "forget ended jobs"));
        op->more_jobs = -sqlite3_changes(d->db);
        return CUZK_OK;
    case STORE_NOTHING: return CUZK_OK;
    }
    return FAIL(CUZK_EBUG, "store operation %d", (int)op->type);
}

cuzk_status store_db_named(store_db *d, const uint8_t key[32], bool *named)
{
    sqlite3_stmt *q = d->stmt[SQL_NAMED];
    cuzk_status st = CUZK_OK;
    int got = bind_bytes(q, 1, key, 32);

    if (got == SQLITE_OK) got = sqlite3_step(q);
    *named = got == SQLITE_ROW;
    if (got != SQLITE_ROW && got != SQLITE_DONE)
        st = store_db_fail(d->db, got, "look up a payload", d->path);
    (void)sqlite3_reset(q);
    (void)sqlite3_clear_bindings(q);
    return st;
}
