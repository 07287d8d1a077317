/*
 * engine/service_restore.c - the store's jobs: taken up after a restart, recalled when somebody asks for one that memory forgot
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "engine/service.h"

static cuzk_status restore_parts(svc_job *j, const store_partition *p, size_t n)
{
    j->kept = n == 0 ? NULL : calloc(n, sizeof *j->kept);
    if (n != 0 && j->kept == NULL) return FAIL(CUZK_ENOMEM, "stored partitions: out of memory");
    for (size_t i = 0; i < n; i++) {
        svc_kept *k = &j->kept[j->n_kept];

        k->proof = malloc(p[i].proof.size + 1);
        if (k->proof == NULL) return FAIL(CUZK_ENOMEM, "stored partition: out of memory");
        memcpy(k->proof, p[i].proof.data, p[i].proof.size);
        k->size = p[i].proof.size;
        k->index = p[i].index;
        j->n_kept++;
    }
    return CUZK_OK;
}

static cuzk_status restore(svc_job *j, const store_job *row, const store_partition *p, size_t n)
{
    TRY(svc_request_read(&j->rq, row->request.data, row->request.size));
    j->job_id = strdup(row->job_id);
    j->request_id = strdup(row->request_id);
    if (j->job_id == NULL || j->request_id == NULL)
        return FAIL(CUZK_ENOMEM, "stored job: out of memory");
    memcpy(j->hash, row->payload_hash, 32);
    j->priority = row->priority < CUZK_LOW || row->priority > CUZK_CRITICAL
                      ? svc_default_priority(row->kind)
                      : row->priority;
    j->state = row->state == CUZK_JOB_RUNNING ? CUZK_JOB_QUEUED : row->state;
    j->created_ms = row->created_ms;
    j->ended_ms = row->ended_ms;
    j->payload = row->payload;
    j->restored = true;
    job_clock_start(&j->clock, clock_ns());
    if (j->state == CUZK_JOB_QUEUED) return restore_parts(j, p, n);
    j->at = JOB_ENDED;
    j->stored = true;
    job_clock_end(&j->clock, clock_ns());
    return svc_result_read(j, row->result.data, row->result.size);
}

static void restore_deadline_locked(svc_job *j, uint64_t deadline_ms)
{
    uint64_t now = svc_wall_ms();

    if (deadline_ms == 0) return;
    j->deadline_ms = deadline_ms;
    j->deadline = clock_ns() + (deadline_ms > now ? (deadline_ms - now) * 1000000 : 1);
    j->s->n_timed++;
}

static cuzk_status restore_row(void *ctx, const store_job *row, const store_partition *p, size_t n)
{
    service *s = ctx;
    svc_job *j;
    cuzk_status st;

    TRY(svc_job_new(&j, s));
    st = restore(j, row, p, n);
    if (st ==
        CUZK_EDATA) { /* told, and left where it is: one bad row is not the end of the others */
        cuzk_log_field f[] = {{"job", row->job_id, 0}, {"message", cuzk_last_error()->message, 0}};

        svc_log(s, CUZK_LOG_ERROR, "stored_job_damaged", f, 2);
        svc_job_free(j);
        return CUZK_OK;
    }
    if (st == CUZK_OK) {
        svc_lock(s);
        if (svc_find_locked(s, j->job_id) != NULL) { /* another has recalled it, or it lives */
            svc_unlock(s);
            svc_job_free(j);
            return CUZK_OK;
        }
        j->number = ++s->next_number;
        st = svc_insert_locked(s, j);
        if (st == CUZK_OK && !svc_job_ended(j)) {
            s->n_live++;
            restore_deadline_locked(j, row->deadline_ms);
        }
        svc_unlock(s);
    }
    if (st != CUZK_OK) svc_job_free(j);
    return st;
}

/* The start fails: what was read so far goes again, for no stage would ever end it. */
static void drop_all(service *s)
{
    svc_lock(s);
    while (s->newest != NULL) {
        svc_job *j = s->newest;

        if (!svc_job_ended(j)) s->n_live--;
        if (j->deadline != 0) s->n_timed--;
        svc_remove_locked(s, j);
        svc_job_free(j);
    }
    svc_unlock(s);
}

/* Those that something is held against come first, while nothing else is there, the most urgent before the others. *n: how
 * many. */
static void take_up_held(service *s, unsigned *n)
{
    for (uint32_t p = CUZK_CRITICAL; p >= CUZK_LOW; p--)
        for (svc_job *j = s->oldest; j != NULL; j = j->newer) { /* nobody forgets one yet */
            cuzk_error why;
            bool goes_on;

            if (j->taken_up || svc_job_ended(j) || j->priority != p) continue;
            goes_on = svc_crash_judge(j, false, &why);
            if (goes_on && !j->held) continue;
            j->taken_up = true;
            (*n)++;
            if (goes_on)
                svc_job_queue(j);
            else
                svc_job_refuse(j, &why);
        }
}

cuzk_status svc_restore(service *s)
{
    unsigned n = 0;
    cuzk_status st;

    if (s->store == NULL) return CUZK_OK;
    st = store_load(s->store, s->c.ended_in_memory, restore_row, s);
    if (st != CUZK_OK) {
        drop_all(s);
        return st;
    }
    take_up_held(s, &n);
    for (svc_job *j = s->oldest; j != NULL; j = j->newer) {
        if (j->taken_up || svc_job_ended(j)) continue;
        n++;
        svc_job_queue(j);
    }
    if (n != 0) {
        cuzk_log_field f[] = {{"jobs", NULL, n}};

        svc_log(s, CUZK_LOG_INFO, "jobs_resumed", f, 1);
    }
    return CUZK_OK;
}

cuzk_status svc_recall(service *s, const char *id, const uint8_t hash[32])
{
    const svc_job *j;

    if (s->store == NULL) return CUZK_OK;
    svc_lock(s);
    j = hash == NULL ? svc_find_locked(s, id) : svc_find_request_locked(s, id, hash);
    svc_unlock(s);
    return j != NULL ? CUZK_OK : store_find(s->store, id, hash, restore_row, s);
}
