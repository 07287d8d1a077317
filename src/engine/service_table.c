/*
 * engine/service_table.c - all jobs that are known: found by id or by request, forgotten when their time is over
 *
 * Two tables of chains: by job_id (unique), and by request_id (several requests of other content may share one). Guarded by mu.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <string.h>

#include "base/hash.h"
#include "engine/service.h"

#define FIRST_SLOTS 1024

static size_t slot_of(const service *s, const char *id)
{
    sha256_ctx c; /* keyed: ids come from outside */
    uint8_t h[32];

    sha256_init(&c);
    sha256_update(&c, s->seed, sizeof s->seed);
    sha256_update(&c, id, strlen(id));
    sha256_final(&c, h);
    return (size_t)load_u64le(h) & (s->n_slots - 1);
}

svc_job *svc_find_locked(service *s, const char *job_id)
{
    svc_job *j = s->ids[slot_of(s, job_id)];

    while (j != NULL && strcmp(j->job_id, job_id) != 0) j = j->by_id;
    return j;
}

svc_job *svc_find_born_locked(service *s, const char *job_id)
{
    svc_job *j = svc_find_locked(s, job_id);

    return j != NULL && !j->unborn ? j : NULL;
}

svc_job *svc_find_request_locked(service *s, const char *request_id, const uint8_t hash[32])
{
    svc_job *j = s->requests[slot_of(s, request_id)];

    while (j != NULL && (memcmp(j->hash, hash, 32) != 0 || strcmp(j->request_id, request_id) != 0))
        j = j->by_request;
    return j;
}

static void chain_locked(service *s, svc_job *j)
{
    svc_job **id = &s->ids[slot_of(s, j->job_id)], **rq = &s->requests[slot_of(s, j->request_id)];

    j->by_id = *id;
    *id = j;
    j->by_request = *rq;
    *rq = j;
}

static cuzk_status grow_locked(service *s)
{
    size_t n = 2 * s->n_slots;
    svc_job **ids, **requests;

    if (s->n_jobs < s->n_slots) return CUZK_OK;
    ids = calloc(n, sizeof *ids);
    requests = calloc(n, sizeof *requests);
    if (ids == NULL || requests == NULL) {
        free(ids);
        free(requests);
        return FAIL(CUZK_ENOMEM, "table of %zu jobs: out of memory", n);
    }
    free(s->ids);
    free(s->requests);
    s->ids = ids;
    s->requests = requests;
    s->n_slots = n;
    for (svc_job *j = s->newest; j != NULL; j = j->older) chain_locked(s, j);
    return CUZK_OK;
}

cuzk_status svc_insert_locked(service *s, svc_job *j)
{
    TRY(grow_locked(s));
    chain_locked(s, j);
    j->older = s->newest;
    *(s->newest == NULL ? &s->oldest : &s->newest->newer) = j;
    s->newest = j;
    s->n_jobs++;
    return CUZK_OK;
}

void svc_remove_locked(service *s, svc_job *j)
{
    svc_job **at = &s->ids[slot_of(s, j->job_id)];

    while (*at != j) at = &(*at)->by_id;
    *at = j->by_id;
    at = &s->requests[slot_of(s, j->request_id)];
    while (*at != j) at = &(*at)->by_request;
    *at = j->by_request;
    *(j->newer == NULL ? &s->newest : &j->newer->older) = j->older;
    *(j->older == NULL ? &s->oldest : &j->older->newer) = j->newer;
    s->n_jobs--;
}

cuzk_status svc_tables_open(service *s)
{
    if (os_random(s->seed, sizeof s->seed) != 0)
        return FAIL(CUZK_EIO, "the system gives no random bytes");
    s->n_slots = FIRST_SLOTS;
    s->ids = calloc(s->n_slots, sizeof *s->ids);
    s->requests = calloc(s->n_slots, sizeof *s->requests);
    return s->ids != NULL && s->requests != NULL
               ? CUZK_OK
               : FAIL(CUZK_ENOMEM, "table of jobs: out of memory");
}

void svc_tables_close(service *s)
{
    while (s->newest != NULL) {
        svc_job *j = s->newest;

        s->newest = j->older;
        svc_job_free(j);
    }
    free(s->ids);
    free(s->requests);
}

/* Nobody needs it in memory. */
static bool is_done_with_locked(const svc_job *j)
{
    return svc_job_ended(j) && j->out == 0 && j->n_waits == 0;
}

static void bury(svc_job *dead)
{
    while (dead != NULL) {
        svc_job *next = dead->older;

        svc_job_free(dead);
        dead = next;
    }
}

void svc_trim(service *s)
{
    svc_job *dead = NULL;
    size_t most = s->c.ended_in_memory;

    svc_lock(s);
    for (svc_job *j = s->oldest, *next; j != NULL && s->n_jobs - s->n_live > most; j = next) {
        next = j->newer;
        if (!is_done_with_locked(j) || (s->store != NULL && !j->stored)) continue;
        svc_remove_locked(s, j);
        j->older = dead;
        dead = j;
    }
    svc_unlock(s);
    bury(dead);
}

void svc_forget(service *s, uint64_t before_ms)
{
    svc_job *dead = NULL;

    svc_lock(s);
    for (svc_job *j = s->oldest, *next; j != NULL; j = next) {
        next = j->newer;
        if (!is_done_with_locked(j) || j->ended_ms > before_ms) continue;
        svc_remove_locked(s, j);
        j->older = dead;
        dead = j;
    }
    svc_unlock(s);
    bury(dead);
    if (s->store != NULL) store_purge_async(s->store, before_ms);
}
