/*
 * engine/service_submit.c - admission: the same as one that is there, or a new job that is durable before the answer
 *
 * A job stands in the tables (service_table.c) from the moment its request was looked up, in place ADMITTING; who asks for the
 * same meanwhile waits until it is durable, or was not.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/hash.h"
#include "engine/service.h"

#define UUID_SIZE 37
#define NUMBERED 9u /* jobs of one request id whose ids are counted; store_read.c knows them */

/* ---- ids ---- */

static cuzk_status make_uuid(char out[UUID_SIZE])
{
    uint8_t b[16];
    char hex[33];

    if (os_random(b, sizeof b) != 0) return FAIL(CUZK_EIO, "the system gives no random bytes");
    b[6] = (uint8_t)((b[6] & 0x0f) | 0x40); /* version 4 */
    b[8] = (uint8_t)((b[8] & 0x3f) | 0x80); /* the variant of RFC 9562 */
    hex_encode(hex, b, sizeof b);
    (void)snprintf(out, UUID_SIZE, "%.8s-%.4s-%.4s-%.4s-%.12s", hex, hex + 8, hex + 12, hex + 16,
                   hex + 20);
    return CUZK_OK;
}

/* The request's own id where no other job has it, else with a number behind it: from 2, then any. */
static cuzk_status name_locked(service *s, svc_job *j)
{
    size_t size = strlen(j->request_id) + 24;

    j->job_id = malloc(size);
    if (j->job_id == NULL) return FAIL(CUZK_ENOMEM, "job: out of memory");
    (void)snprintf(j->job_id, size, "%s", j->request_id);
    for (uint32_t n = 2; svc_find_locked(s, j->job_id) != NULL; n++) {
        uint64_t tag =
            n; /* counted ones are looked for in the store too; another is met by no chance */

        if (n > NUMBERED && os_random(&tag, sizeof tag) != 0)
            return FAIL(CUZK_EIO, "the system gives no random bytes");
        (void)snprintf(j->job_id, size, "%s~%" PRIu64, j->request_id, tag);
    }
    return CUZK_OK;
}

/* ---- looking up ---- */

/* A failure that another attempt would meet again. */
static bool is_final(const svc_job *j)
{
    if (j->error.status == CUZK_EBUG) return false; /* it may have been the key or the machine */
    switch (j->error.klass) {
    case CUZK_CLASS_MALFORMED:
    case CUZK_CLASS_SHAPE:
    case CUZK_CLASS_INCONSISTENT:
    case CUZK_CLASS_STATEMENT:
    case CUZK_CLASS_UNSATISFIED: return true;
    case CUZK_CLASS_NONE:
    case CUZK_CLASS_REDUNDANT:
    case CUZK_CLASS_LIMIT:
    case CUZK_CLASS_IO:
    case CUZK_CLASS_RESOURCE:
    case CUZK_CLASS_DEVICE:
    case CUZK_CLASS_BUG: break;
    }
    return false;
}

static bool wants_attempt(const svc_job *j)
{
    if (!svc_job_ended(j) || j->state == CUZK_JOB_COMPLETED) return false;
    return j->state == CUZK_JOB_CANCELLED || !is_final(j);
}

static void fill_ticket_locked(const svc_job *j, cuzk_ticket *out, bool known)
{
    const service *s = j->s;

    memset(out, 0, sizeof *out);
    (void)snprintf(out->job_id, sizeof out->job_id, "%s", j->job_id);
    (void)snprintf(out->device, sizeof out->device, "%s", s->devices[0].info.label);
    out->known = known;
    if (svc_job_ended(j)) return;
    for (const svc_job *o = s->newest; o != NULL; o = o->older)
        if (o != j && !svc_job_ended(o) &&
            (o->priority > j->priority || (o->priority == j->priority && o->number < j->number)))
            out->queue_position++;
}

/* The job of the same request, when it is durable or being tried anew; NULL: there is none. */
static svc_job *find_same_locked(service *s, const char *request_id, const uint8_t hash[32])
{
    svc_job *j;

    for (;;) {
        j = svc_find_request_locked(s, request_id, hash);
        if (j == NULL) return NULL;
        if (j->at == JOB_ADMITTING) {
            (void)pthread_cond_wait(&s->durable, &s->mu);
        } else if (wants_attempt(j) && (j->out != 0 || j->n_waits != 0)) {
            (void)pthread_cond_wait(&s->calm, &s->mu); /* its end is still being told */
        } else {
            return j;
        }
    }
}

/* ---- making durable ---- */

static cuzk_status keep_in_memory(svc_job *j, const cuzk_bytes *pieces, size_t n)
{
    size_t size = 0, at = 0;

    for (size_t i = 0; i < n; i++) size += pieces[i].size;
    j->own = malloc(size + 1);
    if (j->own == NULL) return FAIL(CUZK_ENOMEM, "payload of %zu bytes: out of memory", size);
    for (size_t i = 0; i < n; i++) {
        if (pieces[i].size != 0) memcpy(j->own + at, pieces[i].data, pieces[i].size);
        at += pieces[i].size;
    }
    j->payload.size = size;
    return CUZK_OK;
}

/* A wait for the lock is the phase's. */
static void enter(svc_job *j, job_phase p)
{
    uint64_t now = clock_ns();

    svc_lock(j->s);
    job_clock_enter(&j->clock, p, now);
    svc_unlock(j->s);
}

static void leave(svc_job *j, job_phase p)
{
    svc_lock(j->s);
    job_clock_leave(&j->clock, p, clock_ns());
    svc_unlock(j->s);
}

static cuzk_status store_row(svc_job *j)
{
    service *s = j->s;
    bytes_out request, result;
    cuzk_status st;

    if (s->store == NULL) return CUZK_OK;
    bytes_out_init(&request, s->m);
    bytes_out_init(&result, s->m);
    svc_request_write(&request, &j->rq);
    if (j->state != CUZK_JOB_QUEUED) svc_result_write(&result, j);
    st = bytes_out_status(&request);
    if (st == CUZK_OK) st = bytes_out_status(&result);
    if (st == CUZK_OK) {
        store_job row = {.job_id = j->job_id,
                         .request_id = j->request_id,
                         .kind = j->rq.kind,
                         .priority = j->priority,
                         .state = j->state,
                         .created_ms = j->created_ms,
                         .deadline_ms = j->deadline_ms,
                         .ended_ms = j->ended_ms,
                         .payload = j->payload,
                         .request = {request.data, request.size},
                         .result = {result.data, result.size}};
        memcpy(row.payload_hash, j->hash, 32);
        span sp = span_open(SPAN_STORE_WAIT);
        st = store_admit(s->store, &row);
        span_close(&sp);
    }
    bytes_out_clear(&request);
    bytes_out_clear(&result);
    return st;
}

static cuzk_status write_payload(svc_job *j, const cuzk_bytes *pieces, size_t n)
{
    span sp;
    cuzk_status st;

    if (j->s->store == NULL) return keep_in_memory(j, pieces, n);
    sp = span_open(SPAN_PAYLOAD);
    fault_stall("payload");
    st = store_payload_write(j->s->store, pieces, n, &j->payload);
    span_close(&sp);
    return st;
}

/* CUZK_EDATA: the input is wrong, which is the job's failure and not the store's. */
static cuzk_status make_durable(svc_job *j, const cuzk_request *r)
{
    bytes_out scratch;
    cuzk_bytes *pieces = NULL;
    size_t n;
    cuzk_status st;
    span sp = span_open(SPAN_DECODE);

    enter(j, PHASE_DECODE);
    bytes_out_init(&scratch, j->m);
    svc_request_clear(&j->rq);
    st = svc_compact(j, r, &pieces, &n, &scratch);
    span_close(&sp);
    leave(j, PHASE_DECODE);
    enter(j, PHASE_STORE);
    if (st == CUZK_OK) st = write_payload(j, pieces, n);
    bytes_out_clear(&scratch);
    free(pieces);
    if (st == CUZK_OK) st = store_row(j);
    leave(j, PHASE_STORE);
    return st;
}

/* An input that cannot be decoded: a job that has failed. CUZK_OK: it is durable as that. */
static cuzk_status admit_failed(svc_job *j)
{
    service *s = j->s;
    uint64_t now;
    cuzk_status st;

    j->error = *cuzk_last_error();
    j->payload = (store_payload){0};
    j->ended_ms = svc_wall_ms();
    svc_lock(s);
    svc_move(j, CUZK_JOB_FAILED);
    svc_unlock(s);
    st = store_row(j);
    if (st != CUZK_OK) return st;
    svc_lock(s);
    now = clock_ns();
    job_clock_end(&j->clock, now);
    job_clock_read(&j->clock, now, &j->times);
    j->ended = now;
    j->at = JOB_ENDED;
    j->unborn = false;
    j->stored = s->store != NULL;
    if (j->deadline != 0) s->n_timed--;
    j->deadline = 0;
    s->counts.admitted++;
    s->counts.failed[svc_kind_index(j->rq.kind)]++;
    svc_note_error(s, j, &j->error);
    s->n_live--;
    (void)pthread_cond_broadcast(&s->durable);
    svc_unlock(s);
    svc_event_job(s, j);
    svc_fire_waits(s, j, CUZK_WAIT_ENDED);
    return CUZK_OK;
}

/* It could not be made durable: as if it had not been asked for. */
static cuzk_status take_away(svc_job *j, bool fresh)
{
    service *s = j->s;
    cuzk_error why = *cuzk_last_error();

    svc_lock(s);
    s->n_live--;
    s->counts.refused++;
    if (j->deadline != 0) s->n_timed--;
    j->deadline = 0;
    if (fresh) {
        while (j->out > 1) (void)pthread_cond_wait(&s->calm, &s->mu); /* somebody looks at it */
        svc_remove_locked(s, j);
    } else { /* an attempt: what was before stands */
        j->out--;
        j->at = JOB_ENDED;
        j->state = CUZK_JOB_FAILED;
        j->error = why;
        job_clock_end(&j->clock, clock_ns());
    }
    (void)pthread_cond_broadcast(&s->durable);
    svc_unlock(s);
    if (fresh)
        svc_job_free(j);
    else
        svc_fire_waits(s, j, CUZK_WAIT_ENDED);
    return status_adopt(&why);
}

/* ---- entry ---- */

static cuzk_status new_job(svc_job **out, service *s, const cuzk_request *r, const svc_request *rq,
                           const char *request_id)
{
    svc_job *j;

    TRY(svc_job_new(&j, s));
    j->rq = *rq;
    j->priority = r->priority != 0 ? r->priority : svc_default_priority(r->kind);
    j->request_id = strdup(request_id);
    if (j->request_id == NULL) {
        svc_job_free(j);
        return FAIL(CUZK_ENOMEM, "job: out of memory");
    }
    *out = j;
    return CUZK_OK;
}

/* Times and numbers of an attempt that begins now. */
static void begin_attempt_locked(svc_job *j, const cuzk_request *r)
{
    service *s = j->s;

    j->at = JOB_ADMITTING;
    j->created_ms = svc_wall_ms();
    j->ended_ms = 0;
    job_clock_start(&j->clock, clock_ns());
    j->deadline = j->deadline_ms = 0;
    if (r->deadline_ms != 0 && r->deadline_ms < UINT64_MAX / 2000000) {
        j->deadline = clock_ns() + r->deadline_ms * 1000000;
        j->deadline_ms = j->created_ms + r->deadline_ms;
        s->n_timed++;
        (void)pthread_cond_signal(&s->tick);
    }
    j->out++; /* until its ticket is written */
    s->n_live++;
}

/* An ended job, made as if it had not been tried. */
static void reset_locked(svc_job *j, uint32_t priority)
{
    svc_move(j, CUZK_JOB_QUEUED);
    cancel_reset(j->cancel); /* nobody works under it */
    j->stopping = j->closing = j->stored = false;
    j->error = (cuzk_error){0};
    j->priority = priority > j->priority ? priority : j->priority;
    svc_forget_parts(j);
    cuzk_buffer_clear(&j->proof_json);
    cuzk_buffer_clear(&j->public_json);
    free(j->proof);
    free(j->own);
    j->proof = j->own = NULL;
    j->proof_size = 0;
    j->key = (key_use){0};
}

/* The job of this request: there already (*known), or new and in place ADMITTING. */
static cuzk_status look_up(service *s, const cuzk_request *r, const svc_request *rq, const char *id,
                           const uint8_t hash[32], svc_job **out, bool *known, bool *fresh)
{
    svc_job *j, *made = NULL;
    cuzk_status st = new_job(&made, s, r, rq, id);

    TRY(st);
    svc_lock(s);
    j = find_same_locked(s, id, hash);
    *known = j != NULL && !wants_attempt(j);
    *fresh = j == NULL;
    if (*known) {
        s->counts.duplicates++;
        j->out++; /* nothing of it goes while it is answered */
    } else if (s->draining || s->closing) {
        st = FAIL(CUZK_ECANCELLED, "the service is draining: no new work is taken");
    } else if (s->n_live >= s->c.max_queued) {
        st = status_fail(__FILE__, __LINE__, CUZK_EBUDGET, CUZK_CLASS_LIMIT, "queue",
                         "%zu jobs have not ended, limit %u", s->n_live, s->c.max_queued);
        s->counts.refused++;
    } else if (j != NULL) {
        reset_locked(j, made->priority);
        begin_attempt_locked(j, r);
    } else {
        j = made;
        memcpy(j->hash, hash, 32);
        j->number = ++s->next_number;
        j->unborn = true;
        st = name_locked(s, j);
        if (st == CUZK_OK) st = svc_insert_locked(s, j);
        if (st == CUZK_OK) {
            begin_attempt_locked(j, r);
            made = NULL;
        }
    }
    svc_unlock(s);
    if (made != NULL) {
        made->rq.piece_sizes = NULL;
        svc_job_free(made);
    }
    *out = j;
    return st;
}

static cuzk_status check_circuit(service *s, const cuzk_request *r, const svc_request *rq)
{
    const fil_size *size;

    if (r->kind == CUZK_GROTH16)
        return keys_circom(s->keys, rq->circuit) == NULL ? CUZK_EINVAL : CUZK_OK;
    size = r->sector_size == 0 ? fil_size_by_registered((int)r->registered_proof)
                               : fil_size_by_bytes(r->sector_size);
    if (size == NULL)
        return status_fail(__FILE__, __LINE__, CUZK_EINVAL, CUZK_CLASS_MALFORMED,
                           "registered_proof", "registered proof %" PRIu64 " names no sector size",
                           r->registered_proof),
               CUZK_EINVAL;
    if ((int)(r->registered_proof % 5) != size->registered)
        return status_fail(__FILE__, __LINE__, CUZK_EINVAL, CUZK_CLASS_MALFORMED,
                           "registered_proof",
                           "registered proof %" PRIu64 " is not of sectors of %" PRIu64 " bytes",
                           r->registered_proof, size->bytes),
               CUZK_EINVAL;
    return svc_admit_aggregate(s, rq);
}

static cuzk_status admit(svc_job *j, const cuzk_request *r, bool fresh)
{
    svc_account account = svc_account_begin(j);
    cuzk_status st = make_durable(j, r);

    svc_account_end(j->s, "admit", &account);
    if (st == CUZK_EDATA) return admit_failed(j) == CUZK_OK ? CUZK_OK : take_away(j, fresh);
    if (st != CUZK_OK) return take_away(j, fresh);
    svc_lock(j->s);
    j->unborn = false;
    j->s->counts.admitted++;
    svc_unlock(j->s);
    (void)svc_crash_judge(j, true, NULL); /* asked for anew it is never refused */
    svc_job_queue(j);
    return CUZK_OK;
}

cuzk_status cuzk_job_submit(cuzk_service *svc, const cuzk_request *r, cuzk_ticket *out)
{
    service *s = service_of(svc);
    char uuid[UUID_SIZE];
    const char *id = r->request_id;
    svc_request rq;
    svc_job *j;
    uint8_t hash[32];
    bool known, fresh;
    span sp = span_open(SPAN_ADMIT);
    cuzk_status st = svc_request_from(&rq, r);

    if (st == CUZK_OK) st = check_circuit(s, r, &rq);
    if (st == CUZK_OK && (id == NULL || id[0] == 0)) {
        st = make_uuid(uuid);
        id = uuid;
    }
    if (st == CUZK_OK) {
        svc_request_hash(hash, r);
        if (id != uuid) st = svc_recall(s, id, hash);
    }
    if (st == CUZK_OK) st = look_up(s, r, &rq, id, hash, &j, &known, &fresh);
    span_close(&sp);
    TRY(st);
    if (known) {
        svc_raise(j, r->priority != 0 ? r->priority : svc_default_priority(r->kind));
    } else {
        TRY(admit(j, r, fresh));
    }
    svc_lock(s);
    fill_ticket_locked(j, out, known);
    svc_unlock(s);
    svc_leave(j);
    return CUZK_OK;
}
