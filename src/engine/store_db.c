/*
 * engine/store_db.c - the store's connection: opening, tables, whether a file is sound, how its failures read
 *
 * Write-ahead log with synchronous=FULL: a commit is on the disk when it returns. The log is moved into the file after the
 * answer (store.c), not within a commit. At opening the whole log is moved and emptied: frames whose sync failed, and
 * which a process left behind, are then written anew before others follow them.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "engine/store_db.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define APPLICATION_ID 0x63757a6b /* "cuzk", in the file's header */
#define SCHEMA_VERSION 1

static const char schema[] =
    "BEGIN IMMEDIATE;"
    "CREATE TABLE jobs(seq INTEGER PRIMARY KEY,job_id TEXT NOT NULL UNIQUE,"
    "request_id TEXT NOT NULL,payload_hash BLOB NOT NULL,kind INTEGER NOT NULL,"
    "priority INTEGER NOT NULL,n_partitions INTEGER NOT NULL,state INTEGER NOT NULL,"
    "created_ms INTEGER NOT NULL,deadline_ms INTEGER NOT NULL,ended_ms INTEGER NOT NULL,"
    "payload BLOB,payload_size INTEGER NOT NULL,request BLOB NOT NULL,result BLOB NOT NULL,"
    "sum INTEGER NOT NULL) STRICT;"
    "CREATE INDEX jobs_payload ON jobs(payload) WHERE payload IS NOT NULL;"
    "CREATE INDEX jobs_ended ON jobs(ended_ms) WHERE state<>0;"
    "CREATE TABLE partitions(job INTEGER NOT NULL,idx INTEGER NOT NULL,proof BLOB NOT NULL,"
    "sum INTEGER NOT NULL,PRIMARY KEY(job,idx)) STRICT,WITHOUT ROWID;"
    "PRAGMA application_id=0x63757a6b;"
    "PRAGMA user_version=1;"
    "COMMIT";

/* ---- failures ---- */

static bool is_resource(sqlite3 *db, int code)
{
    int err = db == NULL ? 0 : sqlite3_system_errno(db);

    if ((code & 0xff) == SQLITE_FULL || (code & 0xff) == SQLITE_NOMEM) return true;
    if ((code & 0xff) != SQLITE_IOERR && (code & 0xff) != SQLITE_CANTOPEN) return false;
    return err == ENOSPC || err == EDQUOT || err == EMFILE || err == ENFILE || err == ENOMEM;
}

cuzk_status store_db_fail(sqlite3 *db, int code, const char *doing, const char *path)
{
    char os[96] = "", text[160] = "";
    int err = db == NULL ? 0 : sqlite3_system_errno(db);

    if (db != NULL) code = sqlite3_extended_errcode(db) != 0 ? sqlite3_extended_errcode(db) : code;
    if (err != 0 && (code & 0xff) != SQLITE_FULL)
        (void)snprintf(os, sizeof os, ": %s", strerror_r(err, text, sizeof text));
    return status_fail(__FILE__, __LINE__, CUZK_EIO,
                       is_resource(db, code) ? CUZK_CLASS_RESOURCE : CUZK_CLASS_IO, "",
                       "job store %s: cannot %s: %s (SQLite %d)%s", path, doing,
                       db == NULL ? sqlite3_errstr(code) : sqlite3_errmsg(db), code, os);
}

/* ---- is it sound ---- */

/** The failure code is about the contents, and not about reaching them. */
static bool is_fault(int code)
{
    code &= 0xff;
    return code == SQLITE_CORRUPT || code == SQLITE_NOTADB || code == SQLITE_ERROR ||
           code == SQLITE_FORMAT || code == SQLITE_CONSTRAINT || code == SQLITE_MISMATCH;
}

/** One statement, whose only value is a number. Returns SQLite's code, SQLITE_OK when *v is set. */
static int ask(sqlite3 *db, const char *sql, int64_t *v)
{
    sqlite3_stmt *q = NULL;
    int got = sqlite3_prepare_v2(db, sql, -1, &q, NULL);

    if (got == SQLITE_OK) got = sqlite3_step(q);
    if (got == SQLITE_ROW) {
        *v = sqlite3_column_int64(q, 0);
        got = SQLITE_OK;
    } else if (got == SQLITE_DONE) {
        got = SQLITE_CORRUPT; /* each of these has a row */
    }
    if (got == SQLITE_OK)
        got = sqlite3_finalize(q);
    else
        (void)sqlite3_finalize(q); /* tells the same again */
    return got;
}

typedef struct quick {
    char *out;
    size_t size;
} quick;

static int quick_row(void *ctx, int n, char **values, char **names)
{
    quick *q = ctx;

    (void)names;
    if (n < 1 || values[0] == NULL || strcmp(values[0], "ok") == 0) return 0;
    if (*q->out == 0) (void)snprintf(q->out, q->size, "%s", values[0]);
    for (char *c = q->out; *c != 0; c++)
        if (*c == '\n') *c = ' ';
    return 0;
}

/** quick_check tells of a page that could not be read as it tells of a bad one: the code in "... error code=N", else 0. */
static int unreadable(const char *fault)
{
    const char *at = strstr(fault, "error code=");
    int code = 0;

    for (at = at == NULL ? "" : at + 11; *at >= '0' && *at <= '9' && code < 1000000; at++)
        code = code * 10 + (*at - '0');
    return (code & 0xff) == SQLITE_IOERR || (code & 0xff) == SQLITE_NOMEM ? code : 0;
}

/** Indexes say nothing that the rows do not: those at fault are made again. */
static int check_indexes(sqlite3 *db)
{
    char found[256] = "";
    quick q = {found, sizeof found};
    int got = sqlite3_exec(db, "PRAGMA integrity_check(1)", quick_row, &q, NULL);

    if (got != SQLITE_OK || found[0] == 0) return got;
    return unreadable(found) != 0 ? unreadable(found)
                                  : sqlite3_exec(db, "REINDEX", NULL, NULL, NULL);
}

/** SQLite's own look at every page, *fault tells; then our check number of every row. */
static int check_contents(sqlite3 *db, char *fault, size_t size, int64_t *bad_rows)
{
    quick q = {fault, size};
    int got = sqlite3_exec(db, "PRAGMA quick_check(1)", quick_row, &q, NULL);

    if (got == SQLITE_OK && unreadable(fault) != 0) {
        got = unreadable(fault);
        *fault = 0;
    }
    if (got != SQLITE_OK || *fault != 0) return got;
    got = ask(db, STORE_SQL_BAD_ROWS, bad_rows);
    return got == SQLITE_OK ? check_indexes(db) : got;
}

/* ---- opening ---- */

static int wal_grew(void *ctx, sqlite3 *db, const char *name, int pages)
{
    store_db *d = ctx;

    (void)db;
    (void)name;
    d->wal_pages = pages;
    return SQLITE_OK;
}

static int connect_file(store_db *d)
{
    int got = sqlite3_open_v2(
        d->path, &d->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);

    if (got == SQLITE_OK) got = sqlite3_busy_timeout(d->db, 5000); /* a backup reads */
    if (got == SQLITE_OK) got = store_db_add_functions(d->db);
    if (got == SQLITE_OK)
        got = sqlite3_exec(d->db,
                           "PRAGMA synchronous=FULL;PRAGMA temp_store=MEMORY;"
                           "PRAGMA cache_size=-2048;PRAGMA journal_size_limit=16777216;"
                           "PRAGMA trusted_schema=OFF",
                           NULL, NULL, NULL);
    return got;
}

/** Not ours to touch: of another program, or of a later version. */
static cuzk_status check_owner(const store_db *d, int64_t app, int64_t version, int64_t tables)
{
    if (tables == 0) return CUZK_OK;
    if (app != APPLICATION_ID)
        return FAIL(CUZK_EIO, "job store %s: it is a database of another program", d->path);
    if (version > SCHEMA_VERSION)
        return FAIL(CUZK_EIO, "job store %s: written by a later cuzk (schema %lld, known up to %d)",
                    d->path, (long long)version, SCHEMA_VERSION);
    return CUZK_OK;
}

/** Code of SQLite; *st when the file is refused. */
static int prepare_file(store_db *d, char *fault, size_t size, cuzk_status *st)
{
    int64_t app = 0, version = 0, tables = 0, blocked = 0;
    int got = ask(d->db, "PRAGMA application_id", &app);

    if (got == SQLITE_OK) got = ask(d->db, "PRAGMA user_version", &version);
    if (got == SQLITE_OK) got = ask(d->db, "SELECT count(*) FROM sqlite_schema", &tables);
    if (got != SQLITE_OK) return got;
    *st = check_owner(d, app, version, tables);
    if (*st != CUZK_OK) return SQLITE_OK;
    got = sqlite3_exec(d->db, "PRAGMA journal_mode=WAL", NULL, NULL, NULL);
    if (got == SQLITE_OK && tables == 0) got = sqlite3_exec(d->db, schema, NULL, NULL, NULL);
    if (got == SQLITE_OK && tables != 0) got = check_contents(d->db, fault, size, &d->bad_rows);
    if (got == SQLITE_OK && *fault == 0)
        got = sqlite3_exec(d->db, "CREATE INDEX IF NOT EXISTS jobs_request ON jobs(request_id)",
                           NULL, NULL, NULL);
    for (unsigned i = 0; got == SQLITE_OK && *fault == 0 && i < SQL_STATEMENTS; i++)
        got = sqlite3_prepare_v3(d->db, store_sql_text[i], -1, SQLITE_PREPARE_PERSISTENT,
                                 &d->stmt[i], NULL);
    if (got == SQLITE_OK && *fault == 0)
        got = ask(d->db, "PRAGMA wal_checkpoint(TRUNCATE)", &blocked);
    if (got == SQLITE_OK && *fault == 0) {
        (void)sqlite3_wal_hook(d->db, wal_grew, d); /* instead of a checkpoint within commits */
        if (blocked != 0) got = SQLITE_BUSY;
    }
    return got;
}

cuzk_status store_db_open(store_db *d, const char *path, char *fault, size_t fault_size)
{
    cuzk_status st = CUZK_OK;
    int got;

    memset(d, 0, sizeof *d);
    fault[0] = 0;
    d->path = strdup(path);
    if (d->path == NULL) return FAIL(CUZK_ENOMEM, "job store %s: out of memory", path);
    got = connect_file(d);
    if (got == SQLITE_OK) got = prepare_file(d, fault, fault_size, &st);
    if (got != SQLITE_OK && is_fault(got))
        (void)snprintf(fault, fault_size, "%s", sqlite3_errmsg(d->db));
    else if (got != SQLITE_OK)
        st = store_db_fail(d->db, got, "open it", path);
    if (st != CUZK_OK || fault[0] != 0) {
        cuzk_error kept = *cuzk_last_error();
        /* as it was found, journal and all; only a hint to whoever looks at it */
        if (d->db != NULL)
            (void)sqlite3_db_config(d->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
        store_db_close(d);
        if (st != CUZK_OK) st = status_adopt(&kept);
    }
    return st;
}

#define BAD_JOBS "FROM jobs WHERE sum IS NOT check_row(" STORE_JOB_COLUMNS ")"

static int tell_bad(sqlite3 *db, store_bad_fn fn, void *ctx)
{
    sqlite3_stmt *q = NULL;
    int got = sqlite3_prepare_v2(db, "SELECT job_id " BAD_JOBS, -1, &q, NULL);

    while (got == SQLITE_OK && (got = sqlite3_step(q)) == SQLITE_ROW) {
        const char *id = (const char *)sqlite3_column_text(q, 0);

        fn(ctx, id == NULL ? "" : id);
        got = SQLITE_OK;
    }
    (void)sqlite3_finalize(q); /* only read from */
    return got == SQLITE_DONE ? SQLITE_OK : got;
}

cuzk_status store_db_mend(store_db *d, const char *copy, store_bad_fn fn, void *ctx)
{
    sqlite3_stmt *q = NULL;
    int got = sqlite3_prepare_v2(d->db, "VACUUM INTO ?1", -1, &q, NULL);

    if (got == SQLITE_OK) got = sqlite3_bind_text(q, 1, copy, -1, SQLITE_STATIC);
    if (got == SQLITE_OK) got = sqlite3_step(q);
    (void)sqlite3_finalize(q); /* tells again what the step told */
    if (got != SQLITE_DONE) return store_db_fail(d->db, got, "copy a damaged database", copy);
    got = tell_bad(d->db, fn, ctx);
    if (got == SQLITE_OK)
        got = sqlite3_exec(d->db,
                           "BEGIN IMMEDIATE;DELETE " BAD_JOBS ";"
                           "DELETE FROM partitions WHERE sum IS NOT check_row(job,idx,proof) OR "
                           "job NOT IN (SELECT seq FROM jobs);COMMIT",
                           NULL, NULL, NULL);
    if (got != SQLITE_OK) return store_db_fail(d->db, got, "take damaged rows out", d->path);
    d->bad_rows = 0;
    return CUZK_OK;
}

void store_db_close(store_db *d)
{
    for (unsigned i = 0; i < SQL_STATEMENTS; i++) {
        (void)sqlite3_finalize(d->stmt[i]); /* tells what the last step told */
        d->stmt[i] = NULL;
    }
    (void)sqlite3_close(d->db); /* no statement is left; what it cannot move stays in the log */
    d->db = NULL;
    free(d->path);
    d->path = NULL;
}

/* ---- size and upkeep ---- */

cuzk_status store_db_count(store_db *d, uint64_t *jobs)
{
    sqlite3_stmt *q = d->stmt[SQL_JOBS];
    int got = sqlite3_step(q);

    if (got == SQLITE_ROW) *jobs = (uint64_t)sqlite3_column_int64(q, 0);
    (void)sqlite3_reset(q);
    return got == SQLITE_ROW ? CUZK_OK : store_db_fail(d->db, got, "count the jobs", d->path);
}

cuzk_status store_db_size(store_db *d, uint64_t *bytes)
{
    sqlite3_stmt *q = d->stmt[SQL_PAGES];
    int got = sqlite3_step(q);
    struct stat s;
    char wal[4096 + 8];

    if (got == SQLITE_ROW)
        *bytes = (uint64_t)sqlite3_column_int64(q, 0) * (uint64_t)sqlite3_column_int64(q, 1);
    (void)sqlite3_reset(q);
    if (got != SQLITE_ROW) return store_db_fail(d->db, got, "count its pages", d->path);
    (void)snprintf(wal, sizeof wal, "%s-wal", d->path);
    if (stat(wal, &s) == 0) *bytes += (uint64_t)s.st_size;
    return CUZK_OK;
}

cuzk_status store_db_checkpoint(store_db *d)
{
    int got = sqlite3_wal_checkpoint_v2(d->db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);

    /* busy: somebody reads an old state; the next one moves it */
    if (got != SQLITE_OK && (got & 0xff) != SQLITE_BUSY)
        return store_db_fail(d->db, got, "move its journal", d->path);
    d->wal_pages = 0;
    return CUZK_OK;
}
