/*
 * engine/gpu_watch.c - the thread that reads NVML, and the last readings
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "engine/gpu_watch.h"

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/signals.h"

#define S ((uint64_t)1000000000)
#define STALE_AFTER 5u /* readings that did not come */
#define CLOSE_NS (2 * S)
#define MAX_UUID 64u

typedef struct seen {
    char uuid[MAX_UUID];
    /* the thread's alone */
    bool told, noted;
    /* guarded by mu */
    bool known, failing;
    bool has_before; /* errors were read once: perhaps not at the first reading */
    uint64_t at, ecc_before;
    nvml_reading r;
} seen;

struct gpu_watch {
    /* fixed after init */
    char *library;
    unsigned n;
    uint64_t every_ns;
    void (*failed)(void *ctx, unsigned gpu, const char *why);
    void (*note)(void *ctx, const char *text);
    void *ctx;
    pthread_t thread;
    pthread_mutex_t mu;
    /* guarded by mu */
    pthread_cond_t cond;
    bool quit, calling, ended, abandoned;
    seen gpus[GPU_WATCH_MAX];
};

static void destroy(gpu_watch *w)
{
    (void)pthread_cond_destroy(&w->cond);
    (void)pthread_mutex_destroy(&w->mu);
    free(w->library);
    free(w);
}

/* ---- the thread ---- */

/* Whether a call may be made: then end_call follows. */
static bool begin_call(gpu_watch *w)
{
    bool may;

    (void)pthread_mutex_lock(&w->mu);
    may = w->calling = !w->quit;
    (void)pthread_mutex_unlock(&w->mu);
    return may;
}

static void end_call(gpu_watch *w)
{
    (void)pthread_mutex_lock(&w->mu);
    w->calling = false;
    (void)pthread_cond_broadcast(&w->cond);
    (void)pthread_mutex_unlock(&w->mu);
}

static void tell(gpu_watch *w, const char *text)
{
    if (w->note == NULL || !begin_call(w)) return;
    w->note(w->ctx, text);
    end_call(w);
}

static void tell_failure(gpu_watch *w, unsigned i, const char *why)
{
    if (w->gpus[i].told) return;
    w->gpus[i].told = true;
    if (w->failed == NULL || !begin_call(w)) return;
    w->failed(w->ctx, i, why);
    end_call(w);
}

static void keep(gpu_watch *w, seen *g, const nvml_reading *r)
{
    (void)pthread_mutex_lock(&w->mu);
    g->failing = r == NULL;
    if (r != NULL) {
        g->known = true;
        g->at = clock_ns();
        if (!g->has_before && (r->has & NVML_HAS_ECC) != 0) {
            g->has_before = true;
            g->ecc_before = r->ecc_uncorrected;
        }
        g->r = *r;
    }
    (void)pthread_mutex_unlock(&w->mu);
}

static void read_one(gpu_watch *w, nvml *n, unsigned i)
{
    seen *g = &w->gpus[i];
    nvml_reading r;
    char why[160];
    bool lost;

    if (nvml_read(n, g->uuid, &r, &lost) != CUZK_OK) {
        keep(w, g, NULL);
        (void)snprintf(why, sizeof why, "%.150s", cuzk_last_error()->message);
        if (lost) tell_failure(w, i, why);
        if (!lost && !g->noted) tell(w, why);
        g->noted = true;
        return;
    }
    keep(w, g, &r);
    if ((r.has & NVML_HAS_ECC) == 0 || r.ecc_uncorrected <= g->ecc_before) return;
    (void)snprintf(why, sizeof why,
                   "%" PRIu64 " uncorrectable errors of its memory, %" PRIu64 " before",
                   r.ecc_uncorrected, g->ecc_before);
    tell_failure(w, i, why);
}

/* Until it is time again; false: to end. */
static bool pause_watch(gpu_watch *w)
{
    uint64_t until = clock_ns() + w->every_ns;
    struct timespec t = {(time_t)(until / S), (long)(until % S)};
    bool quit;

    (void)pthread_mutex_lock(&w->mu);
    while (!w->quit && clock_ns() < until) (void)pthread_cond_timedwait(&w->cond, &w->mu, &t);
    quit = w->quit;
    (void)pthread_mutex_unlock(&w->mu);
    return !quit;
}

static void *watch_main(void *arg)
{
    gpu_watch *w = arg;
    nvml *n = NULL;
    bool abandoned;

    (void)pthread_setname_np(pthread_self(), "gpu watch"); /* for top and gdb alone */
    if (nvml_open(&n, w->library) != CUZK_OK)
        tell(w, cuzk_last_error()->message);
    else
        do {
            for (unsigned i = 0; i < w->n; i++) read_one(w, n, i);
        } while (pause_watch(w));
    nvml_close(n);
    (void)pthread_mutex_lock(&w->mu);
    w->ended = true;
    abandoned = w->abandoned;
    (void)pthread_cond_broadcast(&w->cond);
    (void)pthread_mutex_unlock(&w->mu);
    if (abandoned) destroy(w);
    return NULL;
}

/* ---- from outside ---- */

static cuzk_status start_thread(gpu_watch *w)
{
    sigset_t old;
    int err;

    signals_block(&old); /* signals are the program's own thread's */
    err = pthread_create(&w->thread, NULL, watch_main, w);
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    return err == 0 ? CUZK_OK
                    : FAIL(CUZK_ENOMEM, "GPU watch: the thread does not start (error %d)", err);
}

cuzk_status gpu_watch_open(gpu_watch **out, const gpu_watch_config *c)
{
    gpu_watch *w = calloc(1, sizeof *w);
    pthread_condattr_t attr;
    cuzk_status st;

    if (w == NULL) return FAIL(CUZK_ENOMEM, "GPU watch: out of memory");
    w->n = c->n;
    w->every_ns = c->every_ns == 0 ? GPU_WATCH_EVERY : c->every_ns;
    w->failed = c->failed;
    w->note = c->note;
    w->ctx = c->ctx;
    w->library = c->library == NULL ? NULL : strdup(c->library);
    for (unsigned i = 0; i < c->n; i++)
        (void)snprintf(w->gpus[i].uuid, sizeof w->gpus[i].uuid, "%s", c->uuids[i]);
    (void)pthread_mutex_init(&w->mu, NULL); /* these cannot fail in glibc and musl */
    (void)pthread_condattr_init(&attr);
    (void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&w->cond, &attr);
    (void)pthread_condattr_destroy(&attr);
    if (c->library != NULL && w->library == NULL)
        st = FAIL(CUZK_ENOMEM, "GPU watch: out of memory");
    else
        st = start_thread(w);
    if (st != CUZK_OK) {
        destroy(w);
        return st;
    }
    *out = w;
    return CUZK_OK;
}

void gpu_watch_close(gpu_watch *w)
{
    uint64_t until = clock_ns() + CLOSE_NS;
    struct timespec t = {(time_t)(until / S), (long)(until % S)};
    pthread_t thread;
    bool ended;

    if (w == NULL) return;
    thread = w->thread;
    (void)pthread_mutex_lock(&w->mu);
    w->quit = true;
    (void)pthread_cond_broadcast(&w->cond);
    while (w->calling) (void)pthread_cond_wait(&w->cond, &w->mu);
    while (!w->ended && clock_ns() < until) (void)pthread_cond_timedwait(&w->cond, &w->mu, &t);
    ended = w->ended;
    w->abandoned = !ended;
    (void)pthread_mutex_unlock(&w->mu);
    if (ended) {
        (void)pthread_join(thread, NULL);
        destroy(w);
    } else {
        (void)pthread_detach(thread); /* w is its own now */
    }
}

void gpu_watch_look(gpu_watch *w, unsigned gpu, gpu_look *out)
{
    uint64_t now = clock_ns();
    const seen *g;

    *out = (gpu_look){0};
    if (w == NULL || gpu >= w->n) return;
    g = &w->gpus[gpu];
    (void)pthread_mutex_lock(&w->mu);
    if (g->known) {
        out->known = true;
        out->age_ns = now > g->at ? now - g->at : 0;
        out->stale = g->failing || out->age_ns > STALE_AFTER * w->every_ns;
        out->ecc_before = g->ecc_before;
        out->r = g->r;
    }
    (void)pthread_mutex_unlock(&w->mu);
}

/* ---- JSON ---- */

static void put_number(bytes_out *o, const char *name, bool has, uint64_t v)
{
    if (has)
        bytes_printf(o, ",\"%s\":%" PRIu64, name, v);
    else
        bytes_printf(o, ",\"%s\":null", name);
}

static void put_watts(bytes_out *o, const char *name, bool has, unsigned mw)
{
    if (has)
        bytes_printf(o, ",\"%s\":%.1f", name, mw / 1000.0);
    else
        bytes_printf(o, ",\"%s\":null", name);
}

void gpu_look_json(bytes_out *o, const gpu_look *l)
{
    const nvml_reading *r = &l->r;
    char text[NVML_THROTTLE_TEXT];

    if (!l->known) {
        bytes_printf(o, ",\"gpu\":null");
        return;
    }
    bytes_printf(o, ",\"gpu\":{\"age_ms\":%" PRIu64 ",\"stale\":%s", l->age_ns / 1000000,
                 l->stale ? "true" : "false");
    put_number(o, "utilization_percent", (r->has & NVML_HAS_LOAD) != 0, r->gpu_percent);
    put_number(o, "memory_utilization_percent", (r->has & NVML_HAS_LOAD) != 0, r->memory_percent);
    put_number(o, "sm_clock_mhz", (r->has & NVML_HAS_SM_CLOCK) != 0, r->sm_mhz);
    put_number(o, "memory_clock_mhz", (r->has & NVML_HAS_MEMORY_CLOCK) != 0, r->memory_mhz);
    put_watts(o, "power_watts", (r->has & NVML_HAS_POWER) != 0, r->power_mw);
    put_watts(o, "power_limit_watts", (r->has & NVML_HAS_POWER_LIMIT) != 0, r->power_limit_mw);
    put_number(o, "temperature_celsius", (r->has & NVML_HAS_TEMPERATURE) != 0, r->celsius);
    put_number(o, "memory_total_bytes", (r->has & NVML_HAS_MEMORY) != 0, r->memory_total);
    put_number(o, "memory_used_bytes", (r->has & NVML_HAS_MEMORY) != 0, r->memory_used);
    put_number(o, "memory_others_bytes", (r->has & NVML_HAS_OTHERS) != 0, r->memory_others);
    put_number(o, "ecc_uncorrected", (r->has & NVML_HAS_ECC) != 0, r->ecc_uncorrected);
    bytes_printf(o, ",\"throttle\":");
    nvml_throttle_text(text, r->throttle);
    if ((r->has & NVML_HAS_THROTTLE) != 0)
        json_put_string(o, text);
    else
        bytes_printf(o, "null");
    bytes_printf(o, "}");
}
