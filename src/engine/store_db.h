/*
 * engine/store_db.h - the index of the store: one SQLite connection, its statements, what each operation does in it
 *
 * One thread at a time. Every row carries a check number over its values (SQLite itself does not notice a changed byte).
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ENGINE_STORE_DB_H
#define ENGINE_STORE_DB_H

#include "engine/store.h"

typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;

typedef enum store_sql {
    SQL_BEGIN,
    SQL_COMMIT,
    SQL_ROLLBACK,
    SQL_FIND_JOB,
    SQL_FORGET_PARTITIONS,
    SQL_FORGET_JOB,
    SQL_ADMIT,
    SQL_FINISH,
    SQL_PARTITION,
    SQL_PRIORITY,
    SQL_PURGE,
    SQL_NAMED,
    SQL_JOBS,
    SQL_PAGES,
    SQL_STATEMENTS
} store_sql;

typedef struct store_db {
    sqlite3 *db;
    char *path; /* owned */
    sqlite3_stmt *stmt[SQL_STATEMENTS];
    int wal_pages;    /* after the last commit */
    int64_t bad_rows; /* found when it was opened: their check number is wrong */
} store_db;

/** Opens PATH, makes the tables in an empty file, and looks whether all is sound. *fault (at least 256 bytes) "": it is;
 *  else what is wrong with the file, CUZK_OK, and the connection is closed again. Rows at fault in a sound file are counted. A file of a newer cuzk, or of another
 *  program, is refused: CUZK_EIO. */
CUZK_STATUS store_db_open(store_db *d, const char *path, char *fault, size_t fault_size);
void store_db_close(store_db *d); /* twice is fine */
/** Takes the bad rows out, after all of it was copied to the file `copy`, which is not there yet. fn is told the id of each job
 *  among them, as far as it can be read. */
typedef void (*store_bad_fn)(void *ctx, const char *job_id);
CUZK_STATUS store_db_mend(store_db *d, const char *copy, store_bad_fn fn, void *ctx);

typedef enum store_op_type {
    STORE_ADMIT,
    STORE_FINISH,
    STORE_PARTITION,
    STORE_PRIORITY,
    STORE_PURGE,
    STORE_NOTHING
} store_op_type;

/** What somebody asked for. Lies on the stack of a caller that waits, or (async) is owned by the store's thread. */
typedef struct store_op {
    struct store_op *next;
    store_op_type type;
    bool async, done;     /* done: guarded by the store's mu */
    const store_job *job; /* ADMIT */
    const char *job_id;
    uint32_t number; /* partition, priority, state */
    uint64_t ms;
    cuzk_bytes bytes;
    /* out */
    store_payload let_go; /* a payload that this job named before and names no more */
    int64_t more_jobs;    /* in the store than before */
    cuzk_status st;
    cuzk_error error;
} store_op;

CUZK_STATUS store_db_begin(store_db *d);
/** In a transaction. CUZK_EINVAL (no such job): the transaction is as good as before; anything else: roll back. */
CUZK_STATUS store_db_apply(store_db *d, store_op *op);
CUZK_STATUS store_db_commit(store_db *d);
void store_db_rollback(store_db *d);
/** Does a job that has not ended name this payload? */
CUZK_STATUS store_db_named(store_db *d, const uint8_t key[32], bool *named);
/** How many jobs there are: reads all of them. */
CUZK_STATUS store_db_count(store_db *d, uint64_t *jobs);
/** Bytes in use of the file and its journal. */
CUZK_STATUS store_db_size(store_db *d, uint64_t *bytes);
/** Moves the journal into the file. */
CUZK_STATUS store_db_checkpoint(store_db *d);

/* ---- reading (store_read.c): a second connection; one caller at a time ---- */

typedef struct store_reader store_reader;
/** path is borrowed. The tables are there. */
CUZK_STATUS store_reader_open(store_reader **out, const char *path, mem *m);
void store_reader_close(store_reader *r); /* NULL is fine */
/** Jobs that have not ended, and the n_ended latest of those that have; oldest first. */
CUZK_STATUS store_reader_each(store_reader *r, uint64_t n_ended, store_job_fn fn, void *ctx);
/** As store_find. */
CUZK_STATUS store_reader_find(store_reader *r, const char *id, const uint8_t *hash, store_job_fn fn,
                              void *ctx);

/* ---- between store_db.c, store_rows.c and store_read.c ---- */

/** The last failure of the connection, with what was being done. */
cuzk_status store_db_fail(sqlite3 *db, int code, const char *doing, const char *path);
/** The SQL function check_row(...) that the statements use. */
int store_db_add_functions(sqlite3 *db);
extern const char *const store_sql_text[SQL_STATEMENTS];
/** Rows whose check number is wrong. */
#define STORE_SQL_BAD_ROWS \
    "SELECT (SELECT count(*) FROM jobs WHERE sum IS NOT check_row(" STORE_JOB_COLUMNS ")) + " \
    "(SELECT count(*) FROM partitions WHERE sum IS NOT check_row(job,idx,proof))"
#define STORE_JOB_COLUMNS \
    "job_id,request_id,payload_hash,kind,priority,n_partitions,state,created_ms,deadline_ms," \
    "ended_ms,payload,payload_size,request,result"

#endif
