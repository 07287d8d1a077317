/*
 * engine/service.c - opening and closing: the store's jobs taken up, the workers, the clock
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "engine/service.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/signals.h"
#include "base/span_memory.h"

#define S ((uint64_t)1000000000)
#define MS ((uint64_t)1000000)
#define TICK (1 * S)        /* the clock looks at least so often */
#define SCAN_EVERY (10 * S) /* key files */
#define FORGET_EVERY (30 * S)
#define ENDED_IN_MEMORY 1000      /* some 3 to 5 KiB each */
#define ENDED_WITHOUT_STORE 10000 /* or sooner, where results are kept for less */
#define STICKY (10 * S)           /* how much older another kind may be and still wait */
#define FINISHERS 2
#define COMMANDS 4 /* witness commands at once */
#define MAX_QUEUED 100000
#define MARGIN ((uint64_t)5 << 30)
#define KEEP_MS ((uint64_t)24 * 3600 * 1000)
#define TRACE_KEEP_MS ((uint64_t)30 * 60 * 1000)
#define TRACE_RING ((uint64_t)16 << 20) /* a thread */

/* ---- the clock ---- */

/* A job whose deadline has passed, held. */
static svc_job *late_job_locked(service *s, uint64_t now)
{
    for (svc_job *j = s->newest; j != NULL && s->n_timed != 0; j = j->older) {
        if (j->deadline == 0 || j->deadline > now || j->stopping || j->at == JOB_ENDING) continue;
        if (j->at == JOB_ADMITTING || svc_job_ended(j)) continue;
        j->out++;
        return j;
    }
    return NULL;
}

static void stop_late_jobs(service *s)
{
    for (;;) {
        svc_job *j;

        svc_lock(s);
        j = late_job_locked(s, clock_ns());
        svc_unlock(s);
        if (j == NULL) return;
        (void)FAIL(CUZK_ETIMEOUT, "the job's deadline has passed"); /* recorded, for the job */
        svc_stop_job(j, CUZK_JOB_FAILED, cuzk_last_error());
        svc_leave(j);
    }
}

static void charge_spans(service *s)
{
    uint64_t bytes = span_memory(s->e->rec);

    ledger_charge(s->ledger, LEDGER_SPANS, (int64_t)(bytes - s->span_bytes));
    s->span_bytes = bytes;
}

static void expire_spans(service *s, uint64_t now)
{
    uint64_t keep = (s->c.trace_keep_ms == 0 ? TRACE_KEEP_MS : s->c.trace_keep_ms) * MS;

    if (now > keep) span_expire(s->e->rec, now - keep);
}

static uint64_t look_at_wall_clock(service *s, uint64_t now, uint64_t keep)
{
    int64_t by;
    uint64_t wall = wall_watch_look(&s->wall, svc_wall_ms(), now, keep, &by);
    cuzk_log_field f[] = {{"by_ms", NULL, by}};

    if (by != 0) svc_log(s, CUZK_LOG_WARN, "clock_jumped", f, 1);
    return wall;
}

static void every_now_and_then(service *s, uint64_t now, uint64_t *scanned, uint64_t *forgotten)
{
    uint64_t keep, wall, step = gate_longest_step(s->gate);

    svc_lock(s);
    fault_stall("lock");
    if (step > s->safe_point_max_ns) s->safe_point_max_ns = step;
    keep = s->tunables.results_keep_ms;
    svc_unlock(s);
    wall = look_at_wall_clock(s, now, keep);
    expire_spans(s, now);
    charge_spans(s);
    svc_trim(s);
    ledger_poke(s->ledger); /* keys may have been idle for long enough */
    if (now - *scanned >= SCAN_EVERY) {
        keys_scan_later(s->keys);
        *scanned = now;
    }
    if (now - *forgotten >= (keep < FORGET_EVERY / MS ? keep * MS : FORGET_EVERY)) {
        svc_forget(s, wall > keep ? wall - keep : 0);
        *forgotten = now;
    }
}

static void *clock_main(void *arg)
{
    service *s = arg;
    uint64_t scanned = 0, forgotten = clock_ns(), looked = 0;

    (void)pthread_setname_np(pthread_self(), "clock"); /* for top and gdb alone */
    if (span_attach(s->e->rec, "clock") != CUZK_OK) span_detach();
    svc_lock(s);
    while (!s->clock_quit) {
        uint64_t now = clock_ns(), until = svc_next_limit(s);
        struct timespec t;

        if (until > now + TICK) until = now + TICK;
        if (until > now) {
            t = (struct timespec){(time_t)(until / S), (long)(until % S)};
            (void)pthread_cond_timedwait(&s->tick, &s->mu, &t);
        }
        svc_unlock(s);
        now = clock_ns();
        svc_fire_waits(s, NULL, CUZK_WAIT_TIMEOUT);
        stop_late_jobs(s);
        if (now - looked >= TICK) {
            every_now_and_then(s, now, &scanned, &forgotten);
            looked = now;
        }
        svc_lock(s);
    }
    svc_unlock(s);
    span_detach();
    return NULL;
}

/* ---- opening ---- */

static void note_progress(void *ctx, const char *step, uint64_t done, uint64_t total)
{
    (void)ctx;
    keys_progress(step, done, total);
}

static void note_warning(void *ctx, cuzk_class klass, const char *where, const char *message)
{
    cuzk_log_field f[] = {
        {"class", cuzk_class_name(klass), 0}, {"where", where, 0}, {"message", message, 0}};

    svc_log(ctx, CUZK_LOG_WARN, "warning", f, 3);
}

static cuzk_status init_locks(service *s)
{
    pthread_condattr_t attr;

    if (pthread_mutex_init(&s->mu, NULL) != 0) return FAIL(CUZK_ENOMEM, "service: no mutex");
    (void)pthread_condattr_init(&attr); /* these cannot fail in glibc and musl */
    (void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&s->durable, &attr);
    (void)pthread_cond_init(&s->calm, &attr);
    (void)pthread_cond_init(&s->fired, &attr);
    (void)pthread_cond_init(&s->tick, &attr);
    (void)pthread_condattr_destroy(&attr);
    return CUZK_OK;
}

static cuzk_status open_ledger(service *s)
{
    uint64_t machine, margin = s->c.memory_margin, total = s->c.memory_total;
    unsigned ahead = 1 + s->max_width + s->n_synthesis;

    if (total == 0) {
        TRY(ledger_machine_bytes(&machine));
        if (margin == UINT64_MAX) margin = machine / 10 < MARGIN ? machine / 10 : MARGIN;
        if (margin >= machine)
            return FAIL(CUZK_EINVAL,
                        "memory.safety_margin of %" PRIu64 " MiB, the machine has %" PRIu64 " MiB",
                        margin >> 20, machine >> 20);
        total = machine - margin;
    }
    ledger_config c = {.total = total,
                       .critical = s->c.memory_critical < total ? s->c.memory_critical : total / 2,
                       .max_claims = ahead,
                       .max_entries = 2 * ahead + s->n_decode};
    span_limit(s->e->rec, s->c.trace_ring == 0 ? TRACE_RING : s->c.trace_ring, total / 16);
    return ledger_open(&s->ledger, &c);
}

static cuzk_status open_store(service *s)
{
    cuzk_buffer moved = {0};
    store_config c = {
        .path = s->c.store, .m = s->m, .rec = s->e->rec, .log = s->c.log, .log_ctx = s->c.log_ctx};
    cuzk_status st;

    if (s->c.store == NULL) return CUZK_OK;
    st = store_open(&s->store, &c, &moved);
    if (st == CUZK_OK && moved.size != 0) {
        svc_lock(s);
        svc_error_row *r = &s->errors[s->n_errors++ % SVC_ERRORS];

        r->at = clock_ns();
        r->klass = CUZK_CLASS_IO;
        (void)snprintf(r->where, sizeof r->where, "store");
        (void)snprintf(r->message, sizeof r->message,
                       "the job store was corrupt and was moved to %.200s",
                       (const char *)moved.data);
        svc_unlock(s);
    }
    cuzk_buffer_clear(&moved);
    return st;
}

static cuzk_status open_keys(service *s)
{
    keys_config c = {.e = s->e,
                     .on_host = s->host_row >= 0,
                     .l = s->ledger,
                     .ps = s->ps,
                     .params_dir = s->c.params_dir,
                     .ephemeral = s->c.ephemeral_keys,
                     .changed = svc_event_key,
                     .ctx = s};
    ledger_config owner = {.reclaim = svc_reclaim, .overdrawn = svc_overdrawn, .ctx = s};

    TRY(poseidon_set_new(&s->ps, s->e->table, s->m));
    c.ps = s->ps;
    TRY(keys_open(&s->keys, &c));
    ledger_set_owner(s->ledger, &owner);
    keys_scan(s->keys);
    return CUZK_OK;
}

static cuzk_status open_stages(service *s)
{
    struct {
        stage **to;
        const char *name;
        unsigned width;
        stage_fn fn;
    } const list[] = {{&s->result, "result", FINISHERS, svc_conclude},
                      {&s->finish, "finish", FINISHERS, svc_finish},
                      {&s->device, "device", s->max_width, svc_prove},
                      {&s->synthesis, "synthesis", s->n_synthesis, svc_synthesise},
                      {&s->decode, "decode", s->n_decode, svc_decode},
                      {&s->witness, "witness", COMMANDS, svc_make_witness}};

    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        stage_config c = {list[i].name, list[i].width, s->e->rec, list[i].fn, s};

        TRY(stage_open(list[i].to, &c));
    }
    if (s->host_row < 0) {
        stage_config c = {"host", 1, s->e->rec, svc_prove, s};

        TRY(stage_open(&s->host, &c));
    }
    return CUZK_OK;
}

static cuzk_status start_clock(service *s)
{
    sigset_t old;
    int err;

    signals_block(&old); /* signals are the program's own thread's */
    err = pthread_create(&s->clock_thread, NULL, clock_main, s);
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (err != 0)
        return FAIL(CUZK_ENOMEM, "service: the clock's thread does not start (error %d)", err);
    s->has_clock = true;
    return CUZK_OK;
}

static void preload(service *s, const cuzk_service_config *c)
{
    for (size_t i = 0; i < c->n_preload; i++) {
        key_entry *k = keys_named(s->keys, c->preload[i]);
        cuzk_log_field f[] = {{"circuit", c->preload[i], 0},
                              {"message", cuzk_last_error()->message, 0}};

        if (k == NULL)
            svc_log(s, CUZK_LOG_WARN, "preload_failed", f, 2);
        else
            keys_preload(s->keys, k);
    }
}

static cuzk_status open_all(service *s, const cuzk_service_config *config)
{
    TRY(init_locks(s));
    TRY(svc_events_open(s));
    TRY(svc_tables_open(s));
    TRY(gate_new(&s->gate));
    TRY(svc_devices_open(s));
    TRY(open_ledger(s));
    TRY(open_store(s));
    svc_crash_open(s);
    TRY(open_keys(s));
    TRY(open_stages(s));
    TRY(cuzk_service_tune((cuzk_service *)(void *)s, &config->tunables));
    svc_devices_tell(s);
    TRY(svc_gpus_open(s, NULL));
    preload(s, config);
    if (config->starts != NULL)
        config->starts(config->starts_ctx, (const cuzk_service *)(const void *)s);
    TRY(svc_restore(s));
    return start_clock(s); /* from here on jobs may be forgotten */
}

static unsigned cores(const service *s)
{
    return pool_threads(s->e->pool);
}

cuzk_status cuzk_service_open(cuzk_service **out, cuzk_engine *e, const cuzk_service_config *config)
{
    service *s = calloc(1, sizeof *s);
    cuzk_status st = CUZK_OK;

    if (s == NULL) return FAIL(CUZK_ENOMEM, "service: out of memory");
    s->e = e;
    s->m = e->m;
    s->c = *config;
    s->c.preload = NULL; /* not kept */
    s->c.store = config->store == NULL ? NULL : strdup(config->store);
    s->c.params_dir = config->params_dir == NULL ? NULL : strdup(config->params_dir);
    if (s->c.max_queued == 0) s->c.max_queued = MAX_QUEUED;
    if (s->c.ended_in_memory == 0)
        s->c.ended_in_memory = s->c.store != NULL ? ENDED_IN_MEMORY : ENDED_WITHOUT_STORE;
    s->n_decode = cores(s) < 4 ? cores(s) : 4;
    s->n_synthesis = cores(s) < 18 ? cores(s) : 18;
    s->epoch = clock_ns();
    s->epoch_wall_ms = (int64_t)svc_wall_ms();
    e->progress = note_progress;
    e->warn = note_warning;
    e->ctx = s;
    if ((config->store != NULL && s->c.store == NULL) ||
        (config->params_dir != NULL && s->c.params_dir == NULL))
        st = FAIL(CUZK_ENOMEM, "service: out of memory");
    if (st == CUZK_OK) st = open_all(s, config);
    if (st != CUZK_OK) {
        cuzk_error why = *cuzk_last_error();

        cuzk_service_close((cuzk_service *)(void *)s);
        return status_adopt(&why);
    }
    *out = (cuzk_service *)(void *)s;
    return CUZK_OK;
}

cuzk_status cuzk_service_tune(cuzk_service *svc, const cuzk_service_tunables *t)
{
    service *s = service_of(svc);

    TRY(keys_set_circuits(s->keys, t->circuits, t->n_circuits));
    svc_lock(s);
    s->tunables = *t;
    s->tunables.circuits = NULL;
    s->tunables.n_circuits = 0;
    if (s->tunables.results_keep_ms == 0) s->tunables.results_keep_ms = KEEP_MS;
    svc_unlock(s);
    keys_set_min_idle(s->keys, t->eviction_min_idle_ms * MS);
    if (s->store != NULL) store_set_max_size(s->store, t->store_max_size);
    stage_set_width(s->decode, t->decode_at_once);
    stage_set_width(s->synthesis, t->synthesis_at_once);
    stage_set_sticky(s->synthesis, t->sort_by_type ? STICKY : 0);
    return CUZK_OK;
}

/* ---- draining and closing ---- */

static bool is_busy(service *s)
{
    stage *const stages[] = {s->device, s->host, s->finish, s->result};
    bool busy = false;

    for (size_t i = 0; i < 4; i++) {
        stage_state st;

        if (stages[i] == NULL) continue;
        stage_get(stages[i], &st);
        busy = busy || st.active != 0 || (i > 1 && st.waiting != 0);
    }
    return busy;
}

/* No new work; who waits for a key by hand is told. */
static void begin_to_drain(service *s, bool closing)
{
    svc_lock(s);
    s->draining = true;
    s->closing = s->closing || closing;
    (void)pthread_cond_broadcast(&s->calm);
    svc_unlock(s);
}

void cuzk_service_drain(cuzk_service *svc, uint64_t timeout_ms, bool *drained)
{
    service *s = service_of(svc);
    uint64_t until = clock_ns() + timeout_ms * MS;
    struct timespec pause = {0, (long)(10 * MS)};

    begin_to_drain(s, false);
    stage_hold(s->witness, true);
    stage_hold(s->decode, true);
    stage_hold(s->synthesis, true);
    stage_hold(s->device, true);
    if (s->host != NULL) stage_hold(s->host, true);
    while (is_busy(s) && clock_ns() < until)
        (void)nanosleep(&pause, NULL); /* a signal only makes it look sooner */
    *drained = !is_busy(s);
    if (s->store != NULL) store_flush(s->store);
}

bool cuzk_service_draining(const cuzk_service *svc)
{
    service *s = (service *)(uintptr_t)(const void *)svc;
    bool yes;

    svc_lock(s);
    yes = s->draining;
    svc_unlock(s);
    return yes;
}

static svc_job *live_job_locked(service *s)
{
    for (svc_job *j = s->newest; j != NULL; j = j->older)
        if (!svc_job_ended(j) && !j->stopping && j->at != JOB_ENDING) return j;
    return NULL;
}

/* Every job ends where it is; the store keeps it as it was. */
static void stop_jobs(service *s)
{
    begin_to_drain(s, true);
    for (;;) {
        svc_job *j;

        svc_lock(s);
        j = live_job_locked(s);
        if (j != NULL) {
            j->closing = true;
            j->out++;
        }
        svc_unlock(s);
        if (j == NULL) break;
        svc_stop_job(j, CUZK_JOB_CANCELLED, NULL);
        svc_leave(j);
    }
    /* what was on its way into a stage that a drain holds is stopped there, not left */
    stage_hold(s->witness, false);
    stage_hold(s->decode, false);
    stage_hold(s->synthesis, false);
    stage_hold(s->device, false);
    if (s->host != NULL) stage_hold(s->host, false);
    keys_stop(s->keys);
    svc_lock(s);
    while (s->n_live != 0) (void)pthread_cond_wait(&s->calm, &s->mu);
    svc_unlock(s);
    cancel_reset(s->e->cancel); /* the engine outlives the service */
}

static void stop_clock(service *s)
{
    if (!s->has_clock) return;
    svc_lock(s);
    s->clock_quit = true;
    (void)pthread_cond_signal(&s->tick);
    svc_unlock(s);
    (void)pthread_join(s->clock_thread, NULL);
}

void cuzk_service_close(cuzk_service *svc)
{
    service *s = svc == NULL ? NULL : service_of(svc);

    if (s == NULL) return;
    if (s->witness != NULL) stop_jobs(s); /* the last stage that is opened */
    stop_clock(s);
    svc_gpus_close(s);
    stage *const stages[] = {s->witness, s->decode, s->synthesis, s->device,
                             s->host,    s->finish, s->result};
    const size_t n_stages = sizeof stages / sizeof stages[0];
    for (size_t i = 0; i < n_stages; i++) stage_stop(stages[i]);
    store_close(s->store);
    at_work_close(s->at_work);
    svc_events_close(s);
    svc_tables_close(s);
    keys_close(s->keys);
    for (size_t i = 0; i < n_stages; i++) stage_free(stages[i]);
    ledger_close(s->ledger);
    svc_devices_close(s);
    device_close(s->portable);
    poseidon_set_free(s->ps);
    gate_free(s->gate);
    free((char *)(uintptr_t)s->c.store);
    free((char *)(uintptr_t)s->c.params_dir);
    free(s);
}

struct span_rec *cuzk_engine_spans(cuzk_engine *e)
{
    return e->rec;
}

/* ---- keys by hand ---- */

typedef struct key_wait {
    key_use use;
    service *s;
    /* guarded by the service's mu */
    bool done;
    cuzk_status st;
    cuzk_error error;
} key_wait;

static void key_is_ready(key_use *u, cuzk_status st)
{
    key_wait *w = (key_wait *)(void *)u;
    service *s = w->s;
    cuzk_error why = {0};

    if (st != CUZK_OK) why = *cuzk_last_error();
    svc_lock(s);
    w->st = st;
    w->error = why;
    w->done = true; /* w may be gone once the lock is free */
    (void)pthread_cond_broadcast(&s->calm);
    svc_unlock(s);
}

/* A service that drains does not make its caller wait for the load, which may take minutes. */
static void wait_for_key(service *s, key_wait *w)
{
    bool leaves;

    svc_lock(s);
    while (!w->done && !s->draining) (void)pthread_cond_wait(&s->calm, &s->mu);
    leaves = !w->done;
    svc_unlock(s);
    if (!leaves) return;
    if (key_abandon(s->keys, &w->use)) {
        w->st = FAIL(CUZK_ECANCELLED, "the service is draining: the key is not waited for");
        w->error = *cuzk_last_error();
        return;
    }
    svc_lock(s); /* it is being told */
    while (!w->done) (void)pthread_cond_wait(&s->calm, &s->mu);
    svc_unlock(s);
}

cuzk_status cuzk_key_preload(cuzk_service *svc, const char *circuit, bool *was_loaded, uint64_t *ms)
{
    service *s = service_of(svc);
    uint64_t from = clock_ns();
    key_entry *k = keys_named(s->keys, circuit);
    key_wait w = {.use = {.level = svc_level(CUZK_NORMAL), .ready = key_is_ready}, .s = s};

    if (k == NULL) return CUZK_EINVAL;
    *was_loaded = key_acquire(s->keys, &w.use, k);
    if (!*was_loaded) wait_for_key(s, &w);
    *ms = (clock_ns() - from) / MS;
    if (w.st != CUZK_OK) return status_adopt(&w.error);
    key_release(s->keys, &w.use);
    return CUZK_OK;
}

cuzk_status cuzk_key_evict(cuzk_service *svc, const char *circuit, bool *was_loaded,
                           uint64_t *freed_bytes)
{
    service *s = service_of(svc);
    key_entry *k = keys_named(s->keys, circuit);

    return k == NULL ? CUZK_EINVAL : keys_evict(s->keys, k, was_loaded, freed_bytes);
}
