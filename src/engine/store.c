/*
 * engine/store.c - the store's thread: takes what waits as one transaction, answers, then tidies up
 *
 * A transaction that fails is tried again one operation at a time, so that one which cannot be done fails alone. Payload
 * files are removed only after the transaction that let them go is on the disk. Opening and moving aside: store_open.c.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "engine/store_int.h"

#include "base/clock.h"
#include "base/fault.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define MAX_GROUP 256u        /* operations of one transaction */
#define SWEEP_S 60            /* how often abandoned payloads are looked for */
#define AGAIN_S 2             /* how often results that could not be stored are tried again */
#define CHECKPOINT_PAGES 1000 /* of the journal: moved after the answer */
const double store_bucket_ms[STORE_BUCKETS - 1] = {0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000};

/* ---- what is said and remembered ---- */

void store_log(const store *s, int level, const char *event, const char *key, const char *value,
               bool failed)
{
    const cuzk_error *e = cuzk_last_error();
    cuzk_log_field f[3];
    size_t n = 0;

    if (s->log == NULL) return;
    if (key[0] != 0) f[n++] = (cuzk_log_field){key, value, 0};
    if (failed) f[n++] = (cuzk_log_field){"class", cuzk_class_name(e->klass), 0};
    if (failed) f[n++] = (cuzk_log_field){"message", e->message, 0};
    s->log(s->log_ctx, level, event, f, n);
}

cuzk_status store_note(store *s, cuzk_status st)
{
    bool full = st == CUZK_EIO && cuzk_last_error()->klass == CUZK_CLASS_RESOURCE;

    if (st != CUZK_OK && (!full || store_has_space(s))) return st; /* says nothing about space */
    store_lock(s);
    s->stats.full = full;
    store_unlock(s);
    return st;
}

/** Counts bytes anew. */
static void note_size(store *s)
{
    uint64_t bytes = 0;

    if (store_db_size(&s->db, &bytes) != CUZK_OK) return; /* as before; the next one tells */
    store_lock(s);
    s->db_bytes = bytes;
    store_unlock(s);
}

/** One transaction took so long. */
static void note_transaction(store *s, uint64_t ns)
{
    unsigned i = 0;

    while (i < STORE_BUCKETS - 1 && (double)ns > store_bucket_ms[i] * 1e6) i++;
    store_lock(s);
    s->stats.transactions++;
    s->stats.sync_buckets[i]++;
    s->stats.sync_ns += ns;
    store_unlock(s);
}

/* ---- transactions ---- */

static cuzk_status check_admit(store *s, const store_op *op)
{
    bool full;

    if (op->type != STORE_ADMIT) return CUZK_OK;
    TRY(store_check_space(s));
    store_lock(s);
    full = s->stats.max_bytes != 0 && s->payload_bytes + s->db_bytes > s->stats.max_bytes;
    store_unlock(s);
    if (full)
        return status_fail(__FILE__, __LINE__, CUZK_EBUDGET, CUZK_CLASS_LIMIT, "",
                           "job store is full: limit %llu bytes",
                           (unsigned long long)s->stats.max_bytes);
    if (op->job->state < CUZK_JOB_COMPLETED) return store_files_check(s, &op->job->payload);
    return CUZK_OK;
}

static void keep_failure(store_op *op, cuzk_status st)
{
    op->st = st;
    op->error = *cuzk_last_error();
}

/** The operations from `first` up to `end` (not in it) in one transaction. A failure is of the whole. */
static cuzk_status transact(store *s, store_op *first, const store_op *end)
{
    cuzk_status st = store_db_begin(&s->db);

    if (st != CUZK_OK) return st;
    for (store_op *op = first; op != end; op = op->next) {
        op->st = check_admit(s, op); /* fails this one alone, like a job that is not there */
        if (op->st == CUZK_OK) op->st = st = store_db_apply(&s->db, op);
        if (op->st != CUZK_OK) keep_failure(op, op->st);
        if (st != CUZK_OK && st != CUZK_EINVAL) goto out;
    }
    fault_stall("store sync");
    st = store_db_commit(&s->db);
out:
    if (st != CUZK_OK) store_db_rollback(&s->db);
    return st;
}

static void timed_transact(store *s, store_op *first, const store_op *end)
{
    span sp = span_open(SPAN_STORE);
    uint64_t from = clock_ns();
    cuzk_status st = store_note(s, transact(s, first, end));

    note_transaction(s, clock_ns() - from);
    span_close(&sp);
    if (st == CUZK_OK) return;
    if (first->next == end) {
        keep_failure(first, st);
        return;
    }
    for (store_op *op = first; op != end; op = op->next) timed_transact(s, op, op->next);
}

/* ---- results that could not be stored ---- */

/** A copy of the operation with its id and bytes, in one block; NULL and *st: no memory. */
static store_op *copy_op(store *s, const store_op *what, cuzk_status *st)
{
    size_t id = what->job_id == NULL ? 0 : strlen(what->job_id) + 1;
    store_op *op = mem_new(s->m, 1, sizeof *op + id + what->bytes.size, st);

    if (op == NULL) return NULL;
    char *tail = (char *)(op + 1);
    *op = *what;
    op->next = NULL;
    op->async = true;
    if (id != 0) {
        memcpy(tail, what->job_id, id);
        op->job_id = tail;
    }
    if (what->bytes.size != 0) {
        memcpy(tail + id, what->bytes.data, what->bytes.size);
        op->bytes.data = (const uint8_t *)tail + id;
    }
    return op;
}

/** Another word about this job came to the disk: what waits for it is void. */
static void forget_again(store *s, const char *job_id)
{
    for (store_op **at = &s->again; *at != NULL;) {
        store_op *op = *at;
        if (strcmp(op->job_id, job_id) != 0) {
            at = &op->next;
            continue;
        }
        *at = op->next;
        mem_free(s->m, op);
    }
}

static void keep_again(store *s, const store_op *failed)
{
    cuzk_status st = CUZK_OK;
    store_op *op = copy_op(s, failed, &st), **last = &s->again;

    if (op == NULL) return; /* the job is proved again after a restart */
    while (*last != NULL) last = &(*last)->next;
    *last = op;
}

static void try_again(store *s)
{
    while (s->again != NULL) {
        store_op *op = s->again, *rest = op->next;
        op->next = NULL;
        timed_transact(s, op, NULL);
        op->next = rest;
        if (op->st == CUZK_EIO) break; /* not yet */
        s->again = rest;
        if (op->st == CUZK_OK) store_files_let_go(s, &op->let_go);
        mem_free(s->m, op);
    }
}

static void give_up_again(store *s)
{
    while (s->again != NULL) {
        store_op *op = s->again;
        s->again = op->next;
        store_log(s, CUZK_LOG_WARN, "store_result_not_kept", "job", op->job_id, false);
        mem_free(s->m, op);
    }
}

/* ---- afterwards ---- */

/** Payloads named and let go: the files follow the tables. Returns how many of *gone are to be removed. */
static size_t follow(store *s, store_op *first, store_payload gone[MAX_GROUP])
{
    size_t n = 0;
    int64_t more = 0;

    for (store_op *op = first; op != NULL; op = op->next) {
        if (op->st != CUZK_OK) continue;
        more += op->more_jobs;
        if (op->type == STORE_ADMIT) forget_again(s, op->job->job_id);
        if (op->type == STORE_FINISH) forget_again(s, op->job_id);
        if (op->type == STORE_ADMIT && op->job->state < CUZK_JOB_COMPLETED)
            store_files_named(s, &op->job->payload);
        if (op->let_go.size != 0) gone[n++] = op->let_go;
    }
    store_lock(s);
    s->stats.jobs += (uint64_t)more;
    store_unlock(s);
    return n;
}

static const char *op_name(store_op_type t)
{
    static const char *const names[] = {"admit", "finish", "partition", "priority", "purge", ""};
    return names[t];
}

static void log_failure(const store *s, const store_op *op)
{
    (void)status_adopt(&op->error); /* recorded for the line */
    store_log(s, CUZK_LOG_ERROR, "store_failed", "what", op_name(op->type), true);
}

/** One of them failed for want of something. */
static bool is_short(const store_op *first)
{
    for (; first != NULL; first = first->next)
        if (first->st == CUZK_EIO && first->error.klass == CUZK_CLASS_RESOURCE) return true;
    return false;
}

/** Wakes who waits, ends what is ours. After this no operation is touched. */
static void answer(store *s, store_op *first)
{
    store_op *next, *ours = NULL;
    bool full = is_short(first) && !store_has_space(s);

    store_lock(s);
    if (full) s->stats.full = true;
    for (store_op *op = first; op != NULL; op = next) {
        next = op->next;
        s->stats.pending--;
        if (op->type != STORE_NOTHING) s->stats.operations++;
        if (op->st != CUZK_OK) s->stats.failures++;
        if (op->async) {
            op->next = ours;
            ours = op;
        } else {
            op->done = true;
        }
    }
    (void)pthread_cond_broadcast(&s->ended);
    store_unlock(s);
    for (store_op *op = ours; op != NULL; op = next) {
        next = op->next;
        if (op->st != CUZK_OK) log_failure(s, op);
        mem_free(s->m, op);
    }
}

/** One of this type, or (other) of another. */
static bool has(const store_op *first, store_op_type type, bool other)
{
    for (; first != NULL; first = first->next)
        if ((first->type == type) != other) return true;
    return false;
}

static void sweep(store *s)
{
    if (store_note(s, store_files_sweep(s, false)) != CUZK_OK)
        store_log(s, CUZK_LOG_WARN, "store_failed", "what", "remove payloads", true);
}

static void keep_results(store *s, const store_op *first)
{
    for (const store_op *op = first; op != NULL; op = op->next) {
        if (op->type != STORE_FINISH || op->st != CUZK_EIO) continue;
        log_failure(s, op);
        keep_again(s, op);
    }
}

static void work_group(store *s, store_op *first)
{
    store_payload gone[MAX_GROUP];
    bool purge = has(first, STORE_PURGE, false);
    size_t n = 0;

    if (has(first, STORE_NOTHING, true)) {
        timed_transact(s, first, NULL);
        n = follow(s, first, gone);
        keep_results(s, first);
        note_size(s);
    }
    answer(s, first);
    for (size_t i = 0; i < n; i++) store_files_let_go(s, &gone[i]);
    if (purge) sweep(s);
    try_again(s);
    if (s->db.wal_pages >= CHECKPOINT_PAGES) {
        if (store_note(s, store_db_checkpoint(&s->db)) != CUZK_OK)
            store_log(s, CUZK_LOG_WARN, "store_failed", "what", "checkpoint", true);
        note_size(s);
    }
}

/* ---- the thread ---- */

/** The next operations, MAX_GROUP at most; NULL: none came for a while, or (*quit) none will. */
static store_op *take(store *s, bool *quit)
{
    struct timespec until;
    store_op *first, *last;

    (void)clock_gettime(CLOCK_MONOTONIC, &until); /* cannot fail: the clock is there */
    until.tv_sec += s->again != NULL ? AGAIN_S : SWEEP_S;
    store_lock(s);
    while (s->first == NULL && !s->closing)
        if (pthread_cond_timedwait(&s->work, &s->mu, &until) != 0) break;
    first = last = s->first;
    for (unsigned n = 1; last != NULL && last->next != NULL && n < MAX_GROUP; n++)
        last = last->next;
    if (last != NULL) {
        s->first = last->next;
        last->next = NULL;
        if (s->first == NULL) s->last = &s->first;
    }
    *quit = first == NULL && s->closing;
    store_unlock(s);
    return first;
}

void *store_main(void *arg)
{
    store *s = arg;
    bool quit = false;
    /* without a track its spans are missing, and nothing else */
    bool attached = s->rec != NULL && span_attach(s->rec, "store") == CUZK_OK;

    while (!quit) {
        span sp = span_open(SPAN_IDLE);
        store_op *first = take(s, &quit);
        span_close(&sp);
        if (first != NULL) {
            work_group(s, first);
        } else {
            try_again(s);
            if (!quit) sweep(s);
        }
    }
    give_up_again(s);
    if (attached) span_detach();
    return NULL;
}

/* ---- asking ---- */

static void enqueue(store *s, store_op *op)
{
    store_lock(s);
    op->next = NULL;
    *s->last = op;
    s->last = &op->next;
    s->stats.pending++;
    (void)pthread_cond_signal(&s->work);
    store_unlock(s);
}

static cuzk_status ask(store *s, store_op *op)
{
    span sp = span_open(SPAN_STORE_WAIT);

    enqueue(s, op);
    store_lock(s);
    while (!op->done) (void)pthread_cond_wait(&s->ended, &s->mu);
    store_unlock(s);
    span_close(&sp);
    return op->st == CUZK_OK ? CUZK_OK : status_adopt(&op->error);
}

cuzk_status store_admit(store *s, const store_job *j)
{
    store_op op = {.type = STORE_ADMIT, .job = j};

    return ask(s, &op);
}

cuzk_status store_finish(store *s, const char *job_id, cuzk_job_state state, uint64_t ended_ms,
                         cuzk_bytes result)
{
    store_op op = {.type = STORE_FINISH,
                   .job_id = job_id,
                   .number = (uint32_t)state,
                   .ms = ended_ms,
                   .bytes = result};

    if (state < CUZK_JOB_COMPLETED)
        return FAIL(CUZK_EINVAL, "job %s: state %d is none that it ends in", job_id, (int)state);
    return ask(s, &op);
}

void store_flush(store *s)
{
    store_op op = {.type = STORE_NOTHING};

    (void)ask(s, &op); /* does nothing, so that what it says is of the others */
}

static void ask_async(store *s, const store_op *what)
{
    cuzk_status st = CUZK_OK;
    store_op *op = copy_op(s, what, &st);

    if (op == NULL) {
        store_op failed = {.type = what->type};
        keep_failure(&failed, st);
        log_failure(s, &failed);
        return;
    }
    enqueue(s, op);
}

void store_partition_async(store *s, const char *job_id, uint32_t partition, cuzk_bytes proof)
{
    ask_async(s,
              &(store_op){
                  .type = STORE_PARTITION, .job_id = job_id, .number = partition, .bytes = proof});
}

void store_priority_async(store *s, const char *job_id, uint32_t priority)
{
    ask_async(s, &(store_op){.type = STORE_PRIORITY, .job_id = job_id, .number = priority});
}

void store_purge_async(store *s, uint64_t before_ms)
{
    ask_async(s, &(store_op){.type = STORE_PURGE, .ms = before_ms});
}

cuzk_status store_load(store *s, uint64_t n_ended, store_job_fn fn, void *ctx)
{
    cuzk_status st;

    store_flush(s);
    (void)pthread_mutex_lock(&s->read_mu);
    st = store_reader_each(s->reader, n_ended, fn, ctx);
    (void)pthread_mutex_unlock(&s->read_mu);
    return st;
}

cuzk_status store_find(store *s, const char *id, const uint8_t *hash, store_job_fn fn, void *ctx)
{
    span sp = span_open(SPAN_STORE_WAIT);
    cuzk_status st;

    (void)pthread_mutex_lock(&s->read_mu);
    st = store_reader_find(s->reader, id, hash, fn, ctx);
    (void)pthread_mutex_unlock(&s->read_mu);
    span_close(&sp);
    return st;
}

void store_set_max_size(store *s, uint64_t bytes)
{
    store_lock(s);
    s->stats.max_bytes = bytes;
    store_unlock(s);
}

void store_stats_get(store *s, store_stats *out)
{
    store_lock(s);
    *out = s->stats;
    out->bytes = s->payload_bytes + s->db_bytes;
    store_unlock(s);
}
