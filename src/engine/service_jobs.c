/*
 * engine/service_jobs.c - a job's states: begun, stopped, ended; nothing else changes them
 *
 * `out` counts who works on a job or may still touch it: the job itself while it is in `decode` or waits for its key, each
 * partition that is somewhere, whoever stops it. The last one to leave sends it to `result`, where what became of it is
 * stored and told. So nothing of a job is freed under anybody's hands, and an end happens once.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/fault.h"
#include "engine/service.h"

#define PLACE_NAME(id, name) name,
#define STATE_NAME(id, name, ended) name,
static const char *const place_names[] = {JOB_PLACES(PLACE_NAME)};
static const char *const state_names[] = {CUZK_JOB_STATES(STATE_NAME)};
static const char *const part_names[] = {PART_STATES(PLACE_NAME)};
#undef PLACE_NAME
#undef STATE_NAME

const char *job_state_name(cuzk_job_state s)
{
    return state_names[s];
}

const char *job_at_name(job_at a)
{
    return place_names[a];
}

const char *part_state_name(part_state s)
{
    return part_names[s];
}

/* ---- the table of moves ---- */

#define BIT(s) (1u << (s))
static const unsigned moves[] = {
    [CUZK_JOB_QUEUED] = BIT(CUZK_JOB_RUNNING) | BIT(CUZK_JOB_FAILED) | BIT(CUZK_JOB_CANCELLED),
    [CUZK_JOB_RUNNING] = BIT(CUZK_JOB_COMPLETED) | BIT(CUZK_JOB_FAILED) | BIT(CUZK_JOB_CANCELLED),
    [CUZK_JOB_COMPLETED] = 0,
    [CUZK_JOB_FAILED] = BIT(CUZK_JOB_QUEUED), /* a new attempt under the same id */
    [CUZK_JOB_CANCELLED] = BIT(CUZK_JOB_QUEUED),
};

void svc_move(svc_job *j, cuzk_job_state to)
{
    if ((moves[j->state] & BIT(to)) == 0) {
        cuzk_log_field f[] = {{"job", j->job_id, 0},
                              {"from", job_state_name(j->state), 0},
                              {"to", job_state_name(to), 0}};

        VERIFY(false);
        svc_log(j->s, CUZK_LOG_ERROR, "illegal_move", f, 3);
        return;
    }
    j->state = to;
}

/* ---- birth and death ---- */

cuzk_status svc_job_new(svc_job **out, service *s)
{
    svc_job *j = calloc(1, sizeof *j);
    cuzk_status st;

    if (j == NULL) return FAIL(CUZK_ENOMEM, "job: out of memory");
    j->s = s;
    st = cancel_new(&j->cancel);
    if (st == CUZK_OK) st = mem_open(&j->m, "job", 0, s->m);
    if (st != CUZK_OK) {
        svc_job_free(j);
        return st;
    }
    j->env = (job_env){.m = j->m, .pool = s->e->pool, .cancel = j->cancel, .table = s->e->table};
    *out = j;
    return CUZK_OK;
}

void svc_job_free(svc_job *j)
{
    if (j == NULL) return;
    svc_forget_parts(j);
    svc_request_clear(&j->rq);
    cuzk_buffer_clear(&j->proof_json);
    cuzk_buffer_clear(&j->public_json);
    free(j->proof);
    free(j->own);
    free(j->made);
    free(j->job_id);
    free(j->request_id);
    cancel_free(j->cancel);
    mem_close(j->m);
    free(j);
}

/* ---- a job begins ---- */

void svc_job_queue(svc_job *j)
{
    service *s = j->s;
    uint64_t now = clock_ns();
    bool stopping, command;

    svc_lock(s);
    stopping = j->stopping; /* while it was made durable */
    command = svc_wants_command(j) && !j->suspect;
    cancel_set_gate(j->cancel, s->gate, svc_level(j->priority));
    j->at = command ? JOB_BEFORE_COMMAND : JOB_IN_DECODE;
    j->out++;
    j->attempts++;
    svc_order_entry_locked(j);
    j->queued_at = now;
    job_clock_enter(&j->clock, PHASE_QUEUE, now);
    (void)pthread_cond_broadcast(&s->durable);
    svc_unlock(s);
    svc_event_job(s, j);
    if (stopping)
        svc_leave(j);
    else if (command)
        svc_queue_command(j);
    else
        svc_enter(j);
}

void svc_job_refuse(svc_job *j, const cuzk_error *why)
{
    service *s = j->s;

    svc_lock(s);
    j->at = JOB_IN_DECODE; /* as if it waited to be let in */
    j->out++;
    j->queued_at = clock_ns();
    job_clock_enter(&j->clock, PHASE_QUEUE, j->queued_at);
    svc_unlock(s);
    svc_stop_job(j, CUZK_JOB_FAILED, why);
    svc_leave(j);
}

/* Whatever it waits in. n: its partitions, as far as they are begun. */
static void raise_all(svc_job *j, unsigned level, uint32_t n)
{
    service *s = j->s;

    stage_raise(s->witness, &j->item, level);
    ledger_raise(s->ledger, &j->entry, level);
    stage_raise(s->decode, &j->item, level);
    key_raise(s->keys, &j->key, level);
    for (uint32_t k = 0; k < n; k++) {
        svc_part *p = &j->parts[k];

        ledger_raise(s->ledger, &p->claim, level);
        stage_raise(s->synthesis, &p->item, level);
        stage_raise(s->device, &p->item, level);
        if (s->host != NULL) stage_raise(s->host, &p->item, level);
        stage_raise(s->finish, &p->item, level);
    }
}

void svc_raise(svc_job *j, uint32_t priority)
{
    service *s = j->s;
    unsigned level = svc_level(priority);
    uint32_t n;

    svc_lock(s);
    if (priority <= j->priority || j->at == JOB_ENDED) {
        svc_unlock(s);
        return;
    }
    j->priority = priority;
    j->out++; /* nothing of it goes while it is looked at */
    n = j->at == JOB_IN_PARTS ? j->n_parts : 0;
    svc_unlock(s);
    if (s->store != NULL) store_priority_async(s->store, j->job_id, priority);
    raise_all(j, level, n);
    svc_leave(j);
}

/* ---- a job is stopped ---- */

static bool take_back_part(service *s, svc_part *p)
{
    part_at at;

    svc_lock(s);
    at = p->at;
    svc_unlock(s);
    switch (at) {
    case AT_MEMORY: return ledger_withdraw(s->ledger, &p->claim);
    case AT_SYNTHESIS: return stage_remove(s->synthesis, &p->item);
    case AT_DEVICE:
        return stage_remove(s->device, &p->item) ||
               (s->host != NULL && stage_remove(s->host, &p->item));
    case AT_FINISH: /* soon done, and the finisher's to tell: of a lost device, of time taken */
    case AT_NOWHERE: break;
    }
    return false;
}

/* Takes back what waits; what runs stops at its next safe point and comes back by itself. */
static void take_back(svc_job *j, job_at at)
{
    service *s = j->s;

    if (at == JOB_BEFORE_COMMAND && stage_remove(s->witness, &j->item)) svc_leave(j);
    if (at == JOB_IN_DECODE && svc_shut_out(j)) svc_leave(j);
    if (at == JOB_IN_KEY && key_abandon(s->keys, &j->key)) svc_leave(j);
    if (at != JOB_IN_PARTS) return;
    for (uint32_t k = 0; k < j->n_parts; k++) {
        svc_part *p = &j->parts[k];

        if (take_back_part(s, p)) svc_part_end(p, PART_FAILED);
    }
}

void svc_stop_job(svc_job *j, cuzk_job_state state, const cuzk_error *error)
{
    service *s = j->s;
    cuzk_error why = error == NULL ? (cuzk_error){0} : *error;
    job_at at;

    svc_lock(s);
    if (j->stopping || j->at == JOB_ENDING || j->at == JOB_ENDED) {
        svc_unlock(s);
        return;
    }
    j->stopping = true;
    j->stop_state = state;
    j->error = why;
    j->out++;
    at = j->at;
    svc_unlock(s);
    cancel_request(j->cancel);
    take_back(j, at);
    svc_leave(j);
}

void svc_make_up(svc_job *j, unsigned level)
{
    service *s = j->s;
    bool stopping;
    unsigned now;
    uint32_t n;
    job_at at;

    svc_lock(s);
    stopping = j->stopping;
    now = svc_level(j->priority);
    at = j->at;
    n = at == JOB_IN_PARTS ? j->n_parts : 0;
    svc_unlock(s);
    if (stopping)
        take_back(j, at);
    else if (now > level)
        raise_all(j, now, n);
    svc_leave(j);
}

void svc_leave(svc_job *j)
{
    service *s = j->s;
    uint64_t now = clock_ns();
    bool last;

    svc_lock(s);
    VERIFY(j->out > 0);
    if (j->out <= 2) (void)pthread_cond_broadcast(&s->calm); /* nobody else, or nobody */
    last = --j->out == 0 && j->at != JOB_ADMITTING && j->at != JOB_ENDING && j->at != JOB_ENDED;
    if (last) {
        j->at = JOB_ENDING;
        stage_order(&j->item, svc_level(j->priority), j->number, 0, 0);
        job_clock_enter(&j->clock, PHASE_STORE, now);
    }
    svc_unlock(s);
    if (last && stage_push(s->result, &j->item) != CUZK_OK) svc_conclude(s, &j->item);
}

/* ---- a job ends ---- */

static cuzk_status join_proofs(svc_job *j)
{
    size_t size = 0;

    for (uint32_t k = 0; k < j->n_parts; k++) {
        if (j->parts[k].state != PART_DONE)
            return FAIL(CUZK_EBUG, "partition %" PRIu32 " of a job that ends has no proof", k);
        size += j->parts[k].proof_size;
    }
    j->proof = malloc(size + 1);
    if (j->proof == NULL) return FAIL(CUZK_ENOMEM, "proof of %zu bytes: out of memory", size);
    for (uint32_t k = 0; k < j->n_parts; k++) {
        const svc_part *p = &j->parts[k];

        memcpy(j->proof + j->proof_size, p->proof, p->proof_size);
        j->proof_size += p->proof_size;
    }
    return CUZK_OK;
}

static cuzk_status make_result(svc_job *j)
{
    uint32_t row;
    cuzk_status st;

    if (!svc_is_aggregate(j)) return join_proofs(j);
    row = at_work_begin(j->s->at_work, j->job_id, false);
    st = svc_aggregate(j);
    at_work_end(j->s->at_work, row);
    return st;
}

static void count_end_locked(svc_job *j, uint64_t now)
{
    service *s = j->s;
    unsigned kind = svc_kind_index(j->rq.kind);
    svc_counts *c = &s->counts;

    svc_count_times(s, j, now);
    if (j->state == CUZK_JOB_CANCELLED) c->cancelled[kind]++;
    if (j->state == CUZK_JOB_FAILED) {
        c->failed[kind]++;
        svc_note_error(s, j, &j->error);
    }
    if (j->state == CUZK_JOB_COMPLETED) c->completed[kind]++;
}

static void log_end(const svc_job *j)
{
    bool failed = j->state == CUZK_JOB_FAILED;
    cuzk_log_field f[] = {{"job", j->job_id, 0},
                          {"kind", cuzk_kind_name(j->rq.kind), 0},
                          {"state", job_state_name(j->state), 0},
                          {"total_ms", NULL, (int64_t)j->times.total_ms},
                          {"queue_ms", NULL, (int64_t)j->times.queue_ms},
                          {"synthesis_ms", NULL, (int64_t)j->times.synthesis_ms},
                          {"device_ms", NULL, (int64_t)j->times.device_ms},
                          {"class", cuzk_class_name(j->error.klass), 0},
                          {"where", j->error.where, 0},
                          {"message", j->error.message, 0}};

    svc_log(j->s, failed ? CUZK_LOG_WARN : CUZK_LOG_INFO, "job_ended", f, failed ? 10 : 7);
}

/* Stores it, and returns whether that is durable. A failure leaves the job to be proved again after a restart, and is told by
 * the store. */
static bool store_end(svc_job *j, cuzk_job_state state, uint64_t at_ms)
{
    service *s = j->s;
    bool stored;
    bytes_out o;

    if (s->store == NULL) return false;
    bytes_out_init(&o, s->m);
    svc_result_write(&o, j);
    stored =
        bytes_out_status(&o) == CUZK_OK &&
        store_finish(s->store, j->job_id, state, at_ms, (cuzk_bytes){o.data, o.size}) == CUZK_OK;
    bytes_out_clear(&o);
    return stored;
}

static void close_phases_locked(svc_job *j, uint64_t now)
{
    for (job_phase p = 0; p < N_PHASES; p++)
        while (j->clock.open[p] != 0) job_clock_leave(&j->clock, p, now);
}

void svc_conclude(void *ctx, stage_item *it)
{
    service *s = ctx;
    svc_job *j = (svc_job *)((char *)it - offsetof(svc_job, item));
    cuzk_job_state state;
    uint64_t now, at_ms = svc_wall_ms();
    cuzk_wait_end end = CUZK_WAIT_ENDED;
    svc_account account;
    bool stored = false;

    account = svc_account_begin(j);
    if (!j->stopping && make_result(j) != CUZK_OK) {
        j->error = *cuzk_last_error();
        j->stopping = true;
        j->stop_state = CUZK_JOB_FAILED;
    }
    state = j->stopping ? j->stop_state : CUZK_JOB_COMPLETED;
    at_work_end(s->at_work, j->at_work); /* it may not have come to its key */
    j->at_work = AT_WORK_NONE;
    svc_undecode(j);
    svc_drop_witness(j);
    free(j->own);
    j->own = NULL;
    if (j->key.held) key_release(s->keys, &j->key);
    if (j->entry.state == LEDGER_HELD) ledger_release(s->ledger, &j->entry);
    if (j->closing) {
        end = CUZK_WAIT_CLOSED;
    } else {
        svc_lock(s);
        job_clock_read(&j->clock, clock_ns(), &j->times);
        svc_unlock(s);
        span sp = span_open(SPAN_STORE_WAIT);
        fault_stall("store result");
        stored = store_end(j, state, at_ms);
        span_close(&sp);
        svc_crash_clear(j);
    }
    now = clock_ns();
    svc_lock(s);
    close_phases_locked(j, now);
    job_clock_end(&j->clock, now);
    job_clock_read(&j->clock, now, &j->times);
    if (!j->closing) svc_move(j, state);
    j->ended = now;
    j->ended_ms = at_ms;
    j->stored = stored;
    j->at = JOB_ENDED;
    j->out++; /* until it was told */
    if (j->deadline != 0) s->n_timed--;
    j->deadline = 0;
    s->n_live--;
    if (!j->closing) count_end_locked(j, now);
    svc_part *parts = svc_shed_parts_locked(j); /* nobody is at one of them */
    svc_unlock(s);
    free(parts);
    if (!j->closing) {
        log_end(j);
        svc_event_job(s, j);
    }
    svc_fire_waits(s, j, end);
    svc_leave(j);
    svc_account_end(s, "result", &account);
}

/* ---- what became of it, as bytes ---- */

#define RESULT_FORMAT 1

static void put_text(bytes_out *o, const char *s)
{
    size_t n = strlen(s);

    bytes_put_u32le(o, (uint32_t)n);
    bytes_put(o, s, n);
}

static void put_block(bytes_out *o, const uint8_t *p, size_t n)
{
    bytes_put_u64le(o, n);
    if (n != 0) bytes_put(o, p, n);
}

void svc_result_write(bytes_out *o, const svc_job *j)
{
    const cuzk_job_times *t = &j->times;
    const uint64_t times[] = {t->queue_ms,  t->key_ms,    t->synthesis_ms,
                              t->device_ms, t->decode_ms, t->verify_ms,
                              t->store_ms,  t->rest_ms,   t->total_ms};

    bytes_put_u8(o, RESULT_FORMAT);
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) bytes_put_u64le(o, times[i]);
    bytes_put_u32le(o, (uint32_t)j->error.status);
    bytes_put_u32le(o, (uint32_t)j->error.klass);
    put_text(o, j->error.where);
    put_text(o, j->error.message);
    put_block(o, j->proof, j->proof_size);
    put_block(o, j->proof_json.data, j->proof_json.size);
    put_block(o, j->public_json.data, j->public_json.size);
}

static cuzk_status get_text(bytes_in *in, char *out, size_t cap)
{
    uint32_t n;

    TRY(bytes_get_u32le(in, &n));
    if (n >= cap)
        return FAIL(CUZK_EDATA, "stored text of %" PRIu32 " bytes, limit %zu", n, cap - 1);
    TRY(bytes_get(in, out, n));
    out[n] = 0;
    return CUZK_OK;
}

static cuzk_status get_block(bytes_in *in, uint8_t **out, size_t *size)
{
    uint64_t n;
    uint8_t *p;

    TRY(bytes_get_u64le(in, &n));
    if (n > bytes_left(in)) return FAIL(CUZK_EDATA, "stored block of %" PRIu64 " bytes", n);
    p = malloc((size_t)n + 1);
    if (p == NULL) return FAIL(CUZK_ENOMEM, "stored block of %" PRIu64 " bytes: out of memory", n);
    *out = p;
    *size = (size_t)n;
    p[n] = 0;
    return bytes_get(in, p, (size_t)n);
}

cuzk_status svc_result_read(svc_job *j, const uint8_t *data, size_t size)
{
    cuzk_job_times *t = &j->times;
    uint64_t *const times[] = {&t->queue_ms,  &t->key_ms,    &t->synthesis_ms,
                               &t->device_ms, &t->decode_ms, &t->verify_ms,
                               &t->store_ms,  &t->rest_ms,   &t->total_ms};
    bytes_in in = bytes_in_of(data, size);
    uint8_t format;
    uint32_t status, klass;

    TRY(bytes_get_u8(&in, &format));
    if (format != RESULT_FORMAT)
        return FAIL(CUZK_EDATA, "stored result of format %u, known: %u", format, RESULT_FORMAT);
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) TRY(bytes_get_u64le(&in, times[i]));
    TRY(bytes_get_u32le(&in, &status));
    TRY(bytes_get_u32le(&in, &klass));
    if (status > CUZK_EBUG || klass > CUZK_CLASS_BUG)
        return FAIL(CUZK_EDATA, "stored status %" PRIu32 ", class %" PRIu32, status, klass);
    j->error.status = (cuzk_status)status;
    j->error.klass = (cuzk_class)klass;
    TRY(get_text(&in, j->error.where, sizeof j->error.where));
    TRY(get_text(&in, j->error.message, sizeof j->error.message));
    TRY(get_block(&in, &j->proof, &j->proof_size));
    TRY(get_block(&in, &j->proof_json.data, &j->proof_json.size));
    TRY(get_block(&in, &j->public_json.data, &j->public_json.size));
    return bytes_end(&in);
}
