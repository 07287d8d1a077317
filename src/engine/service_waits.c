/*
 * engine/service_waits.c - who waits for jobs: told once, when the job has ended or their time is up
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "engine/service.h"

/* The job's results do not change once it has ended, and it is kept while somebody is told. */
static void tell(const svc_wait *w, cuzk_wait_end end)
{
    const svc_job *j = w->job;
    cuzk_job_result r = {.job_id = j->job_id, .end = end, .state = w->state, .times = w->times};

    if (end == CUZK_WAIT_ENDED) {
        r.proof = (cuzk_bytes){j->proof, j->proof_size};
        r.proof_json = (cuzk_bytes){j->proof_json.data, j->proof_json.size};
        r.public_json = (cuzk_bytes){j->public_json.data, j->public_json.size};
        r.error = w->state == CUZK_JOB_FAILED ? &j->error : NULL;
    }
    w->fn(w->ctx, &r);
}

/* The next one to tell, marked so that svc_unwait waits for it. */
static svc_wait *next_locked(service *s, const svc_job *j, uint64_t now)
{
    for (svc_wait *w = s->waits; w != NULL; w = w->next) {
        if (w->firing) continue;
        if (j != NULL ? w->job != j : w->until == 0 || w->until > now) continue;
        if (j != NULL && !svc_job_ended(j)) continue; /* another attempt has begun */
        w->firing = true;
        w->state = w->job->state;
        w->times = w->job->times;
        if (!svc_job_ended(w->job)) job_clock_read(&w->job->clock, now, &w->times);
        return w;
    }
    return NULL;
}

static void unlink_locked(service *s, svc_wait *w)
{
    for (svc_wait **at = &s->waits; *at != NULL; at = &(*at)->next) {
        if (*at != w) continue;
        *at = w->next;
        break;
    }
    if (--w->job->n_waits == 0) (void)pthread_cond_broadcast(&s->calm);
    if (w->until != 0) s->n_timed--;
}

void svc_fire_waits(service *s, const svc_job *j, cuzk_wait_end end)
{
    for (;;) {
        svc_wait *w;

        cuzk_wait_end how = end;

        svc_lock(s);
        w = next_locked(s, j, clock_ns());
        /* its time is up, and just now it has ended: that is what is told */
        if (w != NULL && j == NULL && svc_job_ended(w->job))
            how = w->job->closing ? CUZK_WAIT_CLOSED : CUZK_WAIT_ENDED;
        svc_unlock(s);
        if (w == NULL) return;
        tell(w, how);
        svc_lock(s);
        unlink_locked(s, w);
        (void)pthread_cond_broadcast(&s->fired);
        svc_unlock(s);
        free(w);
    }
}

uint64_t svc_next_limit(const service *s)
{
    uint64_t next = UINT64_MAX;

    if (s->n_timed == 0) return next;
    for (const svc_wait *w = s->waits; w != NULL; w = w->next)
        if (!w->firing && w->until != 0 && w->until < next) next = w->until;
    for (const svc_job *j = s->newest; j != NULL; j = j->older)
        if (j->deadline != 0 && !j->stopping && j->deadline < next) next = j->deadline;
    return next;
}

/* ---- entry points ---- */

static cuzk_status no_such_job(const char *job_id)
{
    return status_fail(__FILE__, __LINE__, CUZK_EINVAL, CUZK_CLASS_NONE, "job_id",
                       "no job %.200s is known", job_id),
           CUZK_EINVAL;
}

cuzk_status cuzk_job_owned(cuzk_service *svc, const char *job_id, const char *owner)
{
    service *s = service_of(svc);
    const svc_job *j;
    bool own;

    TRY(svc_recall(s, job_id, NULL));
    svc_lock(s);
    j = svc_find_locked(s, job_id);
    own = j != NULL && strcmp(j->rq.owner, owner) == 0; /* fixed before it is found by its name */
    svc_unlock(s);
    return own ? CUZK_OK : no_such_job(job_id);
}

cuzk_status cuzk_job_wait(cuzk_service *svc, const char *job_id, uint64_t timeout_ms,
                          cuzk_wait_fn fn, void *ctx, uint64_t *wait)
{
    service *s = service_of(svc);
    svc_wait *w = calloc(1, sizeof *w);
    cuzk_wait_end end = CUZK_WAIT_ENDED;
    const svc_job *j;
    cuzk_status st;
    bool ended;

    if (w == NULL) return FAIL(CUZK_ENOMEM, "wait: out of memory");
    st = svc_recall(s, job_id, NULL);
    if (st != CUZK_OK) {
        free(w);
        return st;
    }
    w->fn = fn;
    w->ctx = ctx;
    if (timeout_ms != 0 && timeout_ms < UINT64_MAX / 2000000)
        w->until = clock_ns() + timeout_ms * 1000000;
    svc_lock(s);
    j = w->job = svc_find_born_locked(s, job_id);
    if (w->job == NULL) {
        svc_unlock(s);
        free(w);
        return no_such_job(job_id);
    }
    *wait = w->id = ++s->next_wait;
    ended = svc_job_ended(w->job);
    if (ended && w->job->closing) end = CUZK_WAIT_CLOSED;
    w->job->n_waits++;
    w->next = s->waits;
    s->waits = w;
    if (w->until != 0) {
        s->n_timed++;
        (void)pthread_cond_signal(&s->tick);
    }
    svc_unlock(s);
    /* w may be told and gone by now, by the clock: j is only compared with */
    if (ended) svc_fire_waits(s, j, end);
    return CUZK_OK;
}

static svc_wait *find_locked(const service *s, uint64_t id)
{
    svc_wait *w = s->waits;

    while (w != NULL && w->id != id) w = w->next;
    return w;
}

void cuzk_job_unwait(cuzk_service *svc, uint64_t wait, bool gone)
{
    service *s = service_of(svc);
    svc_job *orphan = NULL;
    svc_wait *w;

    svc_lock(s);
    while ((w = find_locked(s, wait)) != NULL && w->firing)
        (void)pthread_cond_wait(&s->fired, &s->mu);
    if (w != NULL) {
        unlink_locked(s, w);
        if (gone && s->tunables.cancel_orphans && w->job->n_waits == 0 && !svc_job_ended(w->job)) {
            orphan = w->job;
            orphan->out++;
        }
    }
    svc_unlock(s);
    free(w);
    if (orphan == NULL) return;
    svc_stop_job(orphan, CUZK_JOB_CANCELLED, NULL);
    svc_leave(orphan);
}

cuzk_status cuzk_job_cancel(cuzk_service *svc, const char *job_id, bool *was_running)
{
    service *s = service_of(svc);
    svc_job *j;
    bool live;

    TRY(svc_recall(s, job_id, NULL));
    svc_lock(s);
    j = svc_find_locked(s, job_id);
    while (j != NULL && j->at == JOB_ADMITTING) {
        (void)pthread_cond_wait(&s->durable, &s->mu);
        j = svc_find_locked(s, job_id);
    }
    live = j != NULL && !svc_job_ended(j) && !j->stopping && j->at != JOB_ENDING;
    if (live) j->out++;
    svc_unlock(s);
    if (j == NULL) return no_such_job(job_id);
    *was_running = live;
    if (!live) return CUZK_OK;
    svc_stop_job(j, CUZK_JOB_CANCELLED, NULL);
    svc_leave(j);
    return CUZK_OK;
}
