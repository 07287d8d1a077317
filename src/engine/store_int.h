/*
 * engine/store_int.h - what the store's files share: the thread's queue, and the payload files that there are
 *
 * Locks: `mu` is a leaf; no file is touched while it is held. `read_mu` is held while jobs are read back, and nothing else is
 * taken then but the locks of memory. An entry that is `busy` belongs to the thread that writes or
 * removes its file.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ENGINE_STORE_INT_H
#define ENGINE_STORE_INT_H

#include <pthread.h>

#include "engine/store_db.h"

#define STORE_KEY_TEXT 65 /* hex and NUL */
#define STORE_BUCKET_COUNT 1024u

/** A payload file. */
typedef struct store_file {
    struct store_file *next; /* in its bucket */
    uint8_t key[32];
    uint64_t size;
    bool busy;           /* being written or removed */
    bool there;          /* the file is complete */
    bool sound;          /* its bytes were compared with its name */
    bool named;          /* a job that has not ended names it */
    uint32_t claims;     /* written for a job that is not stored yet, and the last time of that */
    uint64_t claimed_ns; /* clock_ns */
} store_file;

struct store {
    /* fixed after init */
    char *path, *folder, *lock_path;
    mem *m;
    span_rec *rec;
    cuzk_log_fn log;
    void *log_ctx;
    int lock_fd;
    pthread_t thread;
    bool has_mu, has_read_mu, has_conds, has_thread;

    /* only the store thread (before it starts and after it ends: open and close) */
    store_db db;
    store_op *again; /* results that could not be stored yet, as they were asked for */

    /* guarded by read_mu */
    pthread_mutex_t read_mu;
    store_reader *reader;

    /* guarded by mu */
    pthread_mutex_t mu;
    pthread_cond_t work;  /* an operation came, or closing */
    pthread_cond_t ended; /* operations are done; an entry is no longer busy */
    store_op *first, **last;
    bool closing;
    uint64_t payload_bytes, db_bytes;
    store_stats stats;
    store_file *files[STORE_BUCKET_COUNT];
};

static inline void store_lock(store *s)
{
    (void)pthread_mutex_lock(&s->mu); /* cannot fail: a plain mutex, never held twice */
}
static inline void store_unlock(store *s)
{
    (void)pthread_mutex_unlock(&s->mu); /* cannot fail: this thread holds it */
}

/** One log line; the values are text, "" for none. The calling thread's last failure is added when failed. */
void store_log(const store *s, int level, const char *event, const char *key, const char *value,
               bool failed);
/** st as it came, and whether the disk is full is remembered. */
cuzk_status store_note(store *s, cuzk_status st);
/** CUZK_EIO class resource when the disk has too little left to take on new work. */
CUZK_STATUS store_check_space(store *s);
/** More than that is left: what failed for want of something wants memory or descriptors, not space. */
bool store_has_space(const store *s);
/** a, b and c in one; NULL: out of memory. free() it. */
char *store_join(const char *a, const char *b, const char *c);
/** Makes the entries of a folder safe. */
CUZK_STATUS store_sync_folder(const char *folder);

/** The store's thread; arg: the store. */
void *store_main(void *arg);

/* ---- payload files: store_payload.c ---- */

/** What lies in the folder becomes entries; leftovers of writing go. */
CUZK_STATUS store_files_scan(store *s);
void store_files_clear(store *s);
/** Is the payload of a job that is to be stored there? */
CUZK_STATUS store_files_check(store *s, const store_payload *p);
/** A job names it now (durably). */
void store_files_named(store *s, const store_payload *p);
/** Removes p if no job names it and nobody has claimed it. Only the store thread. */
void store_files_let_go(store *s, const store_payload *p);
/** All entries that no job names and whose claims are over; at_start: whatever their claims. Only the store thread. */
CUZK_STATUS store_files_sweep(store *s, bool at_start);

#endif
