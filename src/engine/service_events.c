/*
 * engine/service_events.c - what happens, told: events to one subscriber, errors and gaps kept, log lines
 *
 * Events go through a bounded ring to a thread that calls the subscriber, so that nothing here waits for it; when the ring
 * is full the oldest go: who follows them reads /status again where numbers are missing.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/signals.h"
#include "engine/service.h"

#define RING 4096u

static void push(service *s, bytes_out *o)
{
    char *text = NULL;

    if (bytes_out_status(o) == CUZK_OK) text = malloc(o->size + 1);
    if (text != NULL) {
        memcpy(text, o->data, o->size);
        text[o->size] = 0;
    }
    bytes_out_clear(o);
    if (text == NULL) return; /* a lost event is no lost work */
    (void)pthread_mutex_lock(&s->events.mu);
    if (s->events.fn == NULL || s->events.quit) {
        (void)pthread_mutex_unlock(&s->events.mu);
        free(text);
        return;
    }
    if (s->events.head - s->events.tail == RING) free(s->events.ring[s->events.tail++ % RING]);
    s->events.ring[s->events.head++ % RING] = text;
    (void)pthread_cond_signal(&s->events.cond);
    (void)pthread_mutex_unlock(&s->events.mu);
}

static bool wanted(service *s)
{
    bool yes;

    (void)pthread_mutex_lock(&s->events.mu);
    yes = s->events.fn != NULL;
    (void)pthread_mutex_unlock(&s->events.mu);
    return yes;
}

static void open_event(service *s, bytes_out *o, const char *type)
{
    uint64_t seq;

    (void)pthread_mutex_lock(&s->events.mu);
    seq = ++s->events.seq;
    (void)pthread_mutex_unlock(&s->events.mu);
    bytes_out_init(o, s->m);
    bytes_printf(o, "{\"seq\":%" PRIu64 ",\"at_ms\":%" PRIu64 ",\"type\":\"%s\"", seq,
                 (clock_ns() - s->epoch) / 1000000, type);
}

void svc_event_job(service *s, const svc_job *j)
{
    bytes_out o;
    cuzk_job_state state;
    char message[256] = "";

    svc_lock(s);
    state = j->state;
    if (state == CUZK_JOB_FAILED)
        (void)snprintf(message, sizeof message, "%.255s", j->error.message);
    svc_unlock(s);
    svc_timeline_job(s, j, state);
    if (!wanted(s)) return;
    open_event(s, &o, "job");
    svc_put_text(&o, "job_id", j->job_id);
    svc_put_text(&o, "kind", cuzk_kind_name(j->rq.kind));
    svc_put_text(&o, "state", job_state_name(state));
    if (message[0] != 0) svc_put_text(&o, "error", message);
    bytes_printf(&o, "}");
    push(s, &o);
}

void svc_event_part(service *s, const svc_part *p, part_state state)
{
    bytes_out o;

    svc_timeline_part(s, p, state);
    if (!wanted(s)) return;
    open_event(s, &o, "partition");
    svc_put_text(&o, "job_id", p->job->job_id);
    bytes_printf(&o, ",\"index\":%" PRIu32, p->index);
    svc_put_text(&o, "state", part_state_name(state));
    bytes_printf(&o, "}");
    push(s, &o);
}

void svc_event_device(service *s, const svc_device *v, const char *state)
{
    bytes_out o;

    if (!wanted(s)) return;
    open_event(s, &o, "device");
    svc_put_text(&o, "name", v->info.label);
    svc_put_text(&o, "state", state);
    bytes_printf(&o, "}");
    push(s, &o);
}

void svc_event_key(void *ctx, const key_entry *k, const char *state, double progress)
{
    service *s = ctx;
    bytes_out o;

    if (!wanted(s)) return;
    open_event(s, &o, "key");
    svc_put_text(&o, "circuit", k->name);
    svc_put_text(&o, "state", state);
    bytes_printf(&o, ",\"progress\":%.3f}", progress);
    push(s, &o);
}

static void deliver(service *s)
{
    (void)pthread_mutex_lock(&s->events.mu);
    while (!s->events.quit) {
        cuzk_event_fn fn = s->events.fn;
        void *ctx = s->events.ctx;
        char *text;

        if (s->events.head == s->events.tail || fn == NULL) {
            (void)pthread_cond_wait(&s->events.cond, &s->events.mu);
            continue;
        }
        text = s->events.ring[s->events.tail++ % RING];
        s->events.calling = true;
        (void)pthread_mutex_unlock(&s->events.mu);
        fn(ctx, text, strlen(text));
        free(text);
        (void)pthread_mutex_lock(&s->events.mu);
        s->events.calling = false;
        (void)pthread_cond_broadcast(&s->events.cond);
    }
    (void)pthread_mutex_unlock(&s->events.mu);
}

static void *thread_main(void *arg)
{
    (void)pthread_setname_np(pthread_self(), "events"); /* for top and gdb alone */
    deliver(arg);
    return NULL;
}

cuzk_status svc_events_open(service *s)
{
    sigset_t old;
    int err;

    if (pthread_mutex_init(&s->events.mu, NULL) != 0) return FAIL(CUZK_ENOMEM, "events: no mutex");
    (void)pthread_cond_init(&s->events.cond, NULL); /* cannot fail in glibc and musl */
    s->events.ring = calloc(RING, sizeof *s->events.ring);
    if (s->events.ring == NULL) return FAIL(CUZK_ENOMEM, "events: out of memory");
    signals_block(&old); /* signals are the program's own thread's */
    err = pthread_create(&s->events.thread, NULL, thread_main, s);
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (err != 0) return FAIL(CUZK_ENOMEM, "events: thread does not start (error %d)", err);
    s->events.started = true;
    return CUZK_OK;
}

void svc_events_close(service *s)
{
    if (s->events.ring == NULL) return;
    (void)pthread_mutex_lock(&s->events.mu);
    s->events.quit = true;
    (void)pthread_cond_broadcast(&s->events.cond);
    (void)pthread_mutex_unlock(&s->events.mu);
    if (s->events.started) (void)pthread_join(s->events.thread, NULL);
    while (s->events.tail != s->events.head) free(s->events.ring[s->events.tail++ % RING]);
    free(s->events.ring);
    (void)pthread_cond_destroy(&s->events.cond);
    (void)pthread_mutex_destroy(&s->events.mu);
}

void cuzk_service_events(cuzk_service *svc, cuzk_event_fn fn, void *ctx)
{
    service *s = service_of(svc);

    (void)pthread_mutex_lock(&s->events.mu);
    while (s->events.calling) (void)pthread_cond_wait(&s->events.cond, &s->events.mu);
    s->events.fn = fn;
    s->events.ctx = ctx;
    (void)pthread_cond_broadcast(&s->events.cond);
    (void)pthread_mutex_unlock(&s->events.mu);
}

/* ---- kept for /status ---- */

void svc_note_error(service *s, const svc_job *j, const cuzk_error *e)
{
    svc_error_row *r = &s->errors[s->n_errors++ % SVC_ERRORS];

    r->at = clock_ns();
    r->klass = e->klass;
    (void)snprintf(r->job_id, sizeof r->job_id, "%s", j == NULL ? "" : j->job_id); /* cut is fine */
    (void)snprintf(r->where, sizeof r->where, "%s", e->where);
    (void)snprintf(r->message, sizeof r->message, "%.255s", e->message);
}

void svc_note_gap(service *s, const char *track, const char *job_id, uint64_t ns,
                  const char *between)
{
    svc_gap_row *r = &s->gaps[s->n_gaps++ % SVC_ERRORS];

    r->at = clock_ns();
    r->ns = ns;
    (void)snprintf(r->track, sizeof r->track, "%s", track); /* cut is fine */
    (void)snprintf(r->job_id, sizeof r->job_id, "%s", job_id);
    (void)snprintf(r->between, sizeof r->between, "%s", between);
}

void svc_log(service *s, int level, const char *event, const cuzk_log_field *f, size_t n)
{
    if (s->c.log != NULL) s->c.log(s->c.log_ctx, level, event, f, n);
}
