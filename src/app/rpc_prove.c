/*
 * app/rpc_prove.c - routes of jobs: SubmitProof, AwaitProof, Prove, AggregateProofs, CancelProof
 *
 * A call that waits for a proof is kept without a thread: the service calls back. Of "the job has ended" and "the client has gone"
 * the first that sets `ended` ends the call and gives back the reference that the wait held.
 * Source: spec/proving-api.md section 2.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "app/rpc_int.h"
#include "wire/proto/proving.pb-c.h"

typedef Cuzk__V1__AwaitProofResponse await_response;
#define BULK ((size_t)1 << 20) /* bytes of a request; a WinningPoSt's are some 100 KiB */
#define AWAIT(x) CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__##x

/* ---- failures ---- */

static gcode code_of(cuzk_status st, const cuzk_error *e)
{
    bool unknown = strcmp(e->where, "job_id") == 0 || strcmp(e->where, "path") == 0 ||
                   strcmp(e->where, "circuit") == 0 || strcmp(e->where, "circuit_id") == 0;

    switch (st) {
    case CUZK_OK: break;
    case CUZK_EINVAL:
        if (strcmp(e->where, "srs") == 0) return GCODE_FAILED_PRECONDITION; /* the operator's */
        return unknown ? GCODE_NOT_FOUND : GCODE_INVALID_ARGUMENT;
    case CUZK_EDATA: return GCODE_INVALID_ARGUMENT;
    case CUZK_EBUDGET:
        return e->klass == CUZK_CLASS_INCONSISTENT ? GCODE_FAILED_PRECONDITION
                                                   : GCODE_RESOURCE_EXHAUSTED;
    case CUZK_ENOMEM: return GCODE_RESOURCE_EXHAUSTED;
    case CUZK_EIO:
    case CUZK_ECANCELLED: return GCODE_UNAVAILABLE;
    case CUZK_ETIMEOUT: return GCODE_DEADLINE_EXCEEDED;
    case CUZK_EDEVICE:
    case CUZK_EBUG: break;
    }
    return GCODE_INTERNAL;
}

void rpc_error_text(char *out, size_t size, const cuzk_error *e)
{
    bool named = e->where[0] != 0 && strstr(e->message, e->where) == NULL;

    (void)snprintf(out, size, "%s%s%s", named ? e->where : "", named ? ": " : "", e->message);
}

void rpc_fail(gcall *c, cuzk_status st)
{
    const cuzk_error *e = cuzk_last_error();
    char text[sizeof e->where + sizeof e->message + 4];

    rpc_error_text(text, sizeof text, e);
    gcall_fail(c, code_of(st, e), "%s", text);
}

bool rpc_is_request(gcall *c, const void *q, const char *what, const char *name)
{
    cuzk_status st;

    if (q == NULL) {
        gcall_fail(c, GCODE_INVALID_ARGUMENT, "not %s", what);
        return false;
    }
    st = rpc_text_check(gcall_request(c), name);
    if (st != CUZK_OK) rpc_fail(c, st);
    return st == CUZK_OK;
}

/* ---- a wait ---- */

typedef enum call_kind { CALL_AWAIT, CALL_PROVE, CALL_AGGREGATE } call_kind;

typedef struct waiting {
    cuzk_service *service;
    gcall *call;
    call_kind kind;
    uint64_t wait;     /* set before the call can be told that its client has gone */
    atomic_bool ended; /* acq_rel: who sets it ends the call */
} waiting;

static ProtobufCBinaryData binary(cuzk_bytes b)
{
    union {
        const uint8_t *in;
        uint8_t *out;
    } data = {b.data};
    return (ProtobufCBinaryData){b.size, data.out};
}

static Cuzk__V1__AwaitProofResponse__Status status_of(const cuzk_job_result *r)
{
    if (r->end == CUZK_WAIT_TIMEOUT) return AWAIT(TIMEOUT);
    switch (r->state) {
    case CUZK_JOB_COMPLETED: return AWAIT(COMPLETED);
    case CUZK_JOB_FAILED: return AWAIT(FAILED);
    case CUZK_JOB_CANCELLED: return AWAIT(CANCELLED);
    case CUZK_JOB_QUEUED:
    case CUZK_JOB_RUNNING: break;
    }
    return AWAIT(UNKNOWN);
}

static void fill_times(await_response *a, const cuzk_job_times *t)
{
    a->queue_wait_ms = t->queue_ms;
    a->srs_load_ms = t->key_ms;
    a->synthesis_ms = t->synthesis_ms;
    a->gpu_compute_ms = t->device_ms;
    a->total_ms = t->total_ms;
    a->rest_ms = t->rest_ms;
    a->decode_ms = t->decode_ms;
    a->verify_ms = t->verify_ms;
    a->store_ms = t->store_ms;
}

static void answer(const waiting *w, const cuzk_job_result *r)
{
    await_response a = CUZK__V1__AWAIT_PROOF_RESPONSE__INIT;
    Cuzk__V1__ProveResponse p = CUZK__V1__PROVE_RESPONSE__INIT;
    Cuzk__V1__AggregateProofsResponse g = CUZK__V1__AGGREGATE_PROOFS_RESPONSE__INIT;
    const ProtobufCMessage *const messages[] = {&a.base, &p.base, &g.base};
    char text[sizeof r->error->where + sizeof r->error->message + 4];
    union {
        const char *in;
        char *out;
    } id = {r->job_id};

    if (r->end == CUZK_WAIT_CLOSED) {
        gcall_fail(w->call, GCODE_UNAVAILABLE, "the service stops; the job is kept: %s", r->job_id);
        return;
    }
    a.job_id = id.out;
    a.status = status_of(r);
    a.proof = binary(r->proof);
    a.proof_json = binary(r->proof_json);
    a.public_json = binary(r->public_json);
    if (r->error != NULL) {
        rpc_error_text(text, sizeof text, r->error);
        a.error_message = text;
    }
    fill_times(&a, &r->times);
    p.result = g.result = &a;
    gcall_reply_message(w->call, messages[w->kind]);
}

static void on_ended(void *ctx, const cuzk_job_result *r)
{
    waiting *w = ctx;
    gcall *c = w->call;

    if (atomic_exchange_explicit(&w->ended, true, memory_order_acq_rel)) return;
    answer(w, r);
    gcall_unref(c); /* w may be gone with it */
}

/** The client of a job gave up (that of an AwaitProof may ask again), or the server stops: then the job is kept. */
static void on_gone(void *ctx)
{
    waiting *w = ctx;
    gcall *c = w->call;

    cuzk_job_unwait(w->service, w->wait, w->kind != CALL_AWAIT && !gcall_stopping(c));
    if (atomic_exchange_explicit(&w->ended, true, memory_order_acq_rel)) return;
    gcall_fail(c, GCODE_CANCELLED, "the client has gone");
    gcall_unref(c);
}

static void wait_for(rpc *r, gcall *c, const char *job_id, uint64_t timeout_ms, call_kind kind)
{
    waiting *w = calloc(1, sizeof *w);
    cuzk_status st;

    if (w == NULL) {
        gcall_fail(c, GCODE_RESOURCE_EXHAUSTED, "out of memory");
        return;
    }
    *gcall_state(c) = w; /* freed with the call */
    w->service = r->service;
    w->call = c;
    w->kind = kind;
    gcall_ref(c); /* the wait's */
    st = cuzk_job_wait(r->service, job_id, timeout_ms, on_ended, w, &w->wait);
    if (st == CUZK_OK) {
        gcall_on_cancel(c, on_gone, w);
        return;
    }
    rpc_fail(c, st);
    gcall_unref(c);
}

/* ---- routes ---- */

/** Reads and admits; *ticket is the caller's to free. False: the call was ended. */
static bool admit(const rpc *r, gcall *c, bool prove, cuzk_ticket **ticket)
{
    rpc_request q;
    cuzk_status st = rpc_request_read(&q, gcall_request(c), prove);
    cuzk_ticket *t = NULL;

    if (st == CUZK_OK && prove && !q.has_submit)
        st = FAIL_DATA(MALFORMED, "submit", "a ProveRequest without `submit`");
    if (st == CUZK_OK) {
        t = malloc(sizeof *t);
        q.r.owner = gcall_owner(c);
        if (t == NULL)
            st = FAIL(CUZK_ENOMEM, "out of memory");
        else
            st = cuzk_job_submit(r->service, &q.r, t);
    }
    if (st != CUZK_OK) rpc_fail(c, st);
    rpc_request_clear(&q);
    gcall_drop_request(c);
    if (st == CUZK_OK)
        *ticket = t;
    else
        free(t);
    return st == CUZK_OK;
}

static void submit(void *ctx, gcall *c)
{
    const rpc *r = ctx;
    cuzk_ticket *t;
    Cuzk__V1__SubmitProofResponse a = CUZK__V1__SUBMIT_PROOF_RESPONSE__INIT;

    if (!admit(r, c, false, &t)) return;
    a.job_id = t->job_id;
    a.queue_position = t->queue_position;
    a.assigned_gpu = t->device;
    gcall_reply_message(c, &a.base);
    free(t);
}

static void prove(void *ctx, gcall *c)
{
    rpc *r = ctx;
    cuzk_ticket *t;

    if (!admit(r, c, true, &t)) return;
    wait_for(r, c, t->job_id, 0, CALL_PROVE);
    free(t);
}

static void aggregate(void *ctx, gcall *c)
{
    rpc *r = ctx;
    rpc_aggregation q;
    cuzk_status st = rpc_aggregation_read(&q, gcall_request(c));
    uint64_t timeout_ms = q.timeout_ms;
    cuzk_ticket *t = malloc(sizeof *t);

    if (st == CUZK_OK && t == NULL) st = FAIL(CUZK_ENOMEM, "out of memory");
    q.r.owner = gcall_owner(c);
    if (st == CUZK_OK) st = cuzk_job_submit(r->service, &q.r, t);
    if (st != CUZK_OK) rpc_fail(c, st);
    rpc_aggregation_clear(&q);
    gcall_drop_request(c);
    if (st == CUZK_OK) wait_for(r, c, t->job_id, timeout_ms, CALL_AGGREGATE);
    free(t);
}

/** Whether the call may look after this job. */
static CUZK_STATUS may(const rpc *r, const gcall *c, const char *job_id)
{
    const char *owner = gcall_confined(c);

    return owner == NULL ? CUZK_OK : cuzk_job_owned(r->service, job_id, owner);
}

void rpc_await(void *ctx, gcall *c)
{
    rpc *r = ctx;
    bytes_in in = gcall_request(c);
    Cuzk__V1__AwaitProofRequest *q = cuzk__v1__await_proof_request__unpack(NULL, in.size, in.data);

    if (rpc_is_request(c, q, "an AwaitProofRequest", "job_id")) {
        cuzk_status st = may(r, c, q->job_id);

        if (st == CUZK_OK)
            wait_for(r, c, q->job_id, q->timeout_ms, CALL_AWAIT);
        else
            rpc_fail(c, st);
    }
    cuzk__v1__await_proof_request__free_unpacked(q, NULL);
}

void rpc_cancel(void *ctx, gcall *c)
{
    const rpc *r = ctx;
    bytes_in in = gcall_request(c);
    Cuzk__V1__CancelProofRequest *q =
        cuzk__v1__cancel_proof_request__unpack(NULL, in.size, in.data);
    Cuzk__V1__CancelProofResponse a = CUZK__V1__CANCEL_PROOF_RESPONSE__INIT;
    bool running = false;
    cuzk_status st;

    if (!rpc_is_request(c, q, "a CancelProofRequest", "job_id")) {
        cuzk__v1__cancel_proof_request__free_unpacked(q, NULL);
        return;
    }
    st = may(r, c, q->job_id);
    if (st == CUZK_OK) st = cuzk_job_cancel(r->service, q->job_id, &running);
    a.was_running = running;
    if (st == CUZK_OK)
        gcall_reply_message(c, &a.base);
    else
        rpc_fail(c, st);
    cuzk__v1__cancel_proof_request__free_unpacked(q, NULL);
}

/* ---- requests that are admitted ---- */

/** A large one takes its time to be decoded and stored. It has threads of its own: those of the server stay free for small ones,
 *  as a WinningPoSt's is. */
static void spread(rpc *r, gcall *c, gcall_fn fn)
{
    if (gcall_request(c).size > BULK)
        rpc_lane_put(r->bulk, fn, r, c);
    else
        fn(r, c);
}

void rpc_submit(void *ctx, gcall *c)
{
    spread(ctx, c, submit);
}

void rpc_prove(void *ctx, gcall *c)
{
    spread(ctx, c, prove);
}

void rpc_aggregate(void *ctx, gcall *c)
{
    spread(ctx, c, aggregate);
}
