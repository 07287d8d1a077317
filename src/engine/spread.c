/*
 * engine/spread.c - a job's work on all devices of an engine: items side by side, or one proof on several
 *
 * A worker for each device takes the next item: the calling thread for the first device, a helper's for each other one. A worker
 * whose device fails, or has no room, hands its item back and leaves; the last one's failure is the job's, but
 * where it had no room while others were at work it tries once more. One item alone is proved on one device, which the others help
 * (groth16_helper).
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <string.h>

#include "engine/engine.h"
#include "engine/helpers.h"
#include "engine/lanes.h"

#define MAX_HELPERS 7u /* that groth16 takes */

/* ---- one proof on several devices ---- */

static bool is_of_kind(const device *d, const device *of)
{
    return strcmp(device_name(d), device_name(of)) == 0;
}

bool engine_may_spread(const cuzk_engine *e)
{
    return e->helpers != NULL && (e->spread_cpus || strcmp(device_name(e->dev), "cpu") != 0);
}

bool engine_may_split(const cuzk_engine *e, const groth16_pk *pk)
{
    return engine_may_spread(e) && pk->log_n >= e->split_log;
}

/* All that can help and are free. */
static unsigned take_helpers(const job *j, const groth16_prove_args *args, helper **taken,
                             groth16_helper *out)
{
    cuzk_engine *e = j->e;
    unsigned n = 0;

    if (j->beside || !engine_may_split(e, args->pk)) return 0;
    for (unsigned i = 0; i < e->n_devices && n < MAX_HELPERS; i++) {
        device *d = e->devices[i];
        const groth16_pk *pk = j->pks != NULL ? j->pks[i] : NULL;

        if (d == dev_stream_device(j->s) || !is_of_kind(d, e->dev) || device_is_lost(d)) continue;
        taken[n] = helper_take(e->helpers, i, e->cancel, 0);
        if (taken[n] == NULL) continue;
        out[n] = helper_offer(taken[n], pk);
        n++;
    }
    return n;
}

static void warn_of(cuzk_engine *e, const cuzk_error *why)
{
    engine_warn(e, CUZK_CLASS_DEVICE, "device", why->message);
}

/* On one device: the job's own, where lanes are of the first, or another one of the engine's. */
static cuzk_status prove_in_lanes(groth16_job **out, const job *j, const groth16_prove_args *a)
{
    cuzk_engine *e = j->e;
    helpers *of = dev_stream_device(j->s) == e->dev ? e->lanes : NULL;
    lanes_taken lanes;
    cuzk_error why;

    lanes_take(&lanes, of, a->pk, e->cancel, 0);
    cuzk_status st = lanes_prove_start(out, j->s, a, &lanes, &why);
    if (why.status != CUZK_OK && st == CUZK_OK) warn_of(e, &why);
    return st;
}

cuzk_status engine_prove_start(groth16_job **out, const job *j, const groth16_prove_args *args)
{
    groth16_prove_args a = *args;
    helper *taken[MAX_HELPERS];
    groth16_helper offered[MAX_HELPERS];
    cuzk_error why;
    cuzk_status st;

    a.n_helpers = take_helpers(j, args, taken, offered);
    a.helpers = offered;
    if (a.n_helpers == 0) return prove_in_lanes(out, j, &a);
    st = groth16_prove_start(out, j->s, &a);
    for (size_t i = 0; i < a.n_helpers; i++) {
        cuzk_status failed = helper_put(taken[i], &why);

        if (failed != CUZK_OK && failed != CUZK_ECANCELLED && st == CUZK_OK) warn_of(j->e, &why);
    }
    return st;
}

/* ---- items side by side ---- */

typedef struct spread spread;

typedef struct worker {
    spread *all;
    unsigned device;
    helper *h;       /* NULL: the calling thread */
    job j;           /* what its items see */
    cuzk_error why;  /* it left; status CUZK_OK: it did not */
    unsigned beside; /* of its item: workers that had not left as it was taken */
} worker;

struct spread {
    /* fixed after init */
    cuzk_engine *e;
    spread_fn fn;
    void *ctx;
    size_t n;
    bool each; /* an item a worker, with its device's number */
    pthread_mutex_t mu;
    /* guarded by mu */
    pthread_cond_t changed;
    size_t next, ended, n_back; /* items: not yet taken, done, handed back */
    size_t back[ENGINE_MAX_DEVICES];
    unsigned at_work; /* workers that have not left */
    cuzk_error error; /* the job's failure; status CUZK_OK: none */
};

/* The next item, perhaps one that a device still at work hands back. False: none will come. */
static bool take_locked(spread *x, size_t *item)
{
    while (x->error.status == CUZK_OK && x->ended < x->n) {
        if (x->n_back != 0) {
            *item = x->back[--x->n_back];
            return true;
        }
        if (x->next < x->n) {
            *item = x->next++;
            return true;
        }
        (void)pthread_cond_wait(&x->changed, &x->mu);
    }
    return false;
}

static bool is_of_device(cuzk_status st)
{
    return st == CUZK_EDEVICE || st == CUZK_EBUDGET || st == CUZK_ENOMEM;
}

/* What others that have left since it was taken held is free now. */
static bool may_try_again_locked(const worker *w, cuzk_status st)
{
    const spread *x = w->all;

    return (st == CUZK_EBUDGET || st == CUZK_ENOMEM) && x->at_work == 1 && w->beside > 1 &&
           x->error.status == CUZK_OK;
}

/* False: the worker leaves. */
static bool settle_locked(worker *w, size_t item, cuzk_status st)
{
    spread *x = w->all;

    (void)pthread_cond_broadcast(&x->changed);
    if (st == CUZK_OK) {
        x->ended++;
        return true;
    }
    if (may_try_again_locked(w, st)) {
        x->back[x->n_back++] = item;
        return true;
    }
    if (is_of_device(st) && x->at_work > 1 && x->error.status == CUZK_OK) {
        x->back[x->n_back++] = item;
        w->why = *cuzk_last_error();
    } else if (x->error.status == CUZK_OK) {
        x->error = *cuzk_last_error();
    }
    x->at_work--;
    return false;
}

static void work_once(worker *w)
{
    spread *x = w->all;
    cuzk_status st = x->fn(x->ctx, &w->j, w->device);

    (void)pthread_mutex_lock(&x->mu);
    if (st == CUZK_OK)
        x->ended++;
    else if (x->error.status == CUZK_OK)
        x->error = *cuzk_last_error();
    (void)pthread_mutex_unlock(&x->mu);
}

static void work(worker *w)
{
    spread *x = w->all;
    size_t item;
    bool go = true;

    (void)pthread_mutex_lock(&x->mu);
    while (go && take_locked(x, &item)) {
        w->beside = x->at_work;
        (void)pthread_mutex_unlock(&x->mu);
        cuzk_status st = x->fn(x->ctx, &w->j, item);
        (void)pthread_mutex_lock(&x->mu);
        go = settle_locked(w, item, st);
    }
    (void)pthread_mutex_unlock(&x->mu);
}

/* On a helper's thread. What fails here is the worker's: the device had no item yet. */
static cuzk_status work_there(void *arg, dev_stream *s)
{
    worker *w = arg;
    span sp = span_open(SPAN_ALLOC);
    cuzk_status st = dev_stream_open(&w->j.host, w->j.e->host, w->j.e->cancel);

    span_close(&sp);
    TRY(st);
    w->j.s = s;
    if (w->all->each)
        work_once(w);
    else
        work(w);
    dev_stream_close(w->j.host);
    return CUZK_OK;
}

static void start_workers(spread *x, worker *w, const job *j)
{
    for (unsigned i = 0; i < x->e->n_devices; i++) {
        w[i] = (worker){.all = x, .device = i, .j = *j};
        w[i].j.beside = true;
        if (i == 0 || !is_of_kind(x->e->devices[i], x->e->dev)) continue;
        w[i].h = helper_take(x->e->helpers, i, x->e->cancel, 0);
        if (w[i].h != NULL) x->at_work++;
    }
    /* from here on they count each other */
    for (unsigned i = 1; i < x->e->n_devices; i++)
        if (w[i].h != NULL) helper_start(w[i].h, work_there, &w[i]);
}

static void end_workers(spread *x, worker *w)
{
    span sp = span_open(SPAN_DEVICE_WAIT);

    for (unsigned i = 1; i < x->e->n_devices; i++)
        if (w[i].h != NULL) helper_join(w[i].h);
    span_close(&sp);
    for (unsigned i = 0; i < x->e->n_devices; i++) {
        cuzk_error why = {0};

        if (w[i].h != NULL && helper_put(w[i].h, &why) != CUZK_OK) w[i].why = why;
        if (w[i].why.status != CUZK_OK && x->error.status == CUZK_OK) warn_of(x->e, &w[i].why);
    }
}

static cuzk_status run_each(spread *x, worker *w, const job *j)
{
    start_workers(x, w, j);
    x->n = x->at_work;
    work_once(&w[0]);
    end_workers(x, w);
    if (x->ended < x->n && x->error.status == CUZK_OK) /* its thread could not begin */
        return FAIL(CUZK_EDEVICE, "a device could not be worked with");
    return x->error.status == CUZK_OK ? CUZK_OK : status_adopt(&x->error);
}

static cuzk_status run_spread(spread *x, worker *w, const job *j)
{
    start_workers(x, w, j);
    work(&w[0]);
    end_workers(x, w);
    if (x->ended < x->n && x->error.status == CUZK_OK) { /* who was counted on has not come */
        x->at_work = 1;
        work(&w[0]);
    }
    return x->error.status == CUZK_OK ? CUZK_OK : status_adopt(&x->error);
}

static cuzk_status run(spread *x, const job *j)
{
    mem *m = x->e->m;
    cuzk_status st = CUZK_OK;
    worker *w = mem_new(m, x->e->n_devices, sizeof *w, &st);
    if (w == NULL) return st;
    if (pthread_mutex_init(&x->mu, NULL) == 0) {
        (void)pthread_cond_init(&x->changed, NULL); /* cannot fail in glibc and musl */
        st = x->each ? run_each(x, w, j) : run_spread(x, w, j);
        (void)pthread_cond_destroy(&x->changed);
        (void)pthread_mutex_destroy(&x->mu);
    } else {
        st = FAIL(CUZK_ENOMEM, "devices: no mutex");
    }
    mem_free(m, w);
    return st;
}

cuzk_status engine_spread(job *j, size_t n, spread_fn fn, void *ctx)
{
    spread x = {.e = j->e, .fn = fn, .ctx = ctx, .n = n, .at_work = 1};

    if (n > 1 && engine_may_spread(j->e)) return run(&x, j);
    for (size_t i = 0; i < n; i++) TRY(fn(ctx, j, i));
    return CUZK_OK;
}

cuzk_status engine_on_each(job *j, spread_fn fn, void *ctx)
{
    spread x = {.e = j->e, .fn = fn, .ctx = ctx, .each = true, .at_work = 1};

    return engine_may_spread(j->e) ? run(&x, j) : fn(ctx, j, 0);
}
