/*
 * app/http_routes_jobs.c - circom circuits over HTTP: prove and wait, or ask later; jobs; cancelling
 *
 * POST /v1/circuits/NAME/prove submits, then waits on a suspended connection: the service calls job_ended from a thread of
 * its own. When the client goes first, or the server closes, client_left gives the wait back.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "app/http_routes_int.h"

#include "base/json.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define MAX_WAIT_S 3600

/* ---- failures ---- */

/** The HTTP status of a refused submission or a call that failed. */
static unsigned status_of_call(cuzk_status st, const cuzk_error *e)
{
    bool unknown = strcmp(e->where, "circuit") == 0 || strcmp(e->where, "job_id") == 0 ||
                   strcmp(e->where, "path") == 0;

    switch (st) {
    case CUZK_EINVAL: return unknown ? 404 : 400;
    case CUZK_EDATA: return e->klass == CUZK_CLASS_UNSATISFIED ? 422 : 400;
    case CUZK_EBUDGET: return e->klass == CUZK_CLASS_RESOURCE ? 413 : 429;
    case CUZK_ECANCELLED:
    case CUZK_EIO:
    case CUZK_ENOMEM: return 503;
    case CUZK_ETIMEOUT: return 504;
    case CUZK_OK:
    case CUZK_EDEVICE:
    case CUZK_EBUG: break;
    }
    return 500;
}

/** That of a job that has failed: the input's fault, or ours. */
static unsigned status_of_job(const cuzk_error *e)
{
    switch (e->klass) {
    case CUZK_CLASS_MALFORMED:
    case CUZK_CLASS_SHAPE: return 400;
    case CUZK_CLASS_LIMIT: return 413;
    case CUZK_CLASS_INCONSISTENT:
    case CUZK_CLASS_STATEMENT:
    case CUZK_CLASS_REDUNDANT:
    case CUZK_CLASS_UNSATISFIED: return 422;
    case CUZK_CLASS_NONE:
    case CUZK_CLASS_IO:
    case CUZK_CLASS_RESOURCE:
    case CUZK_CLASS_DEVICE:
    case CUZK_CLASS_BUG: break;
    }
    return e->status == CUZK_ETIMEOUT ? 504 : 500;
}

void http_reply_failure(http_request *r, cuzk_status st)
{
    const cuzk_error *e = cuzk_last_error();

    http_reply_error(r, status_of_call(st, e), e->klass, e->where, e->message);
}

/* ---- texts ---- */

/** id in a path or a header: what is not plain is percent-encoded. out: 3 bytes a byte, and one. */
static void write_encoded(char *out, const char *id)
{
    static const char digits[] = "0123456789ABCDEF";

    for (; *id != 0; id++) {
        uint8_t b = (uint8_t)*id;
        bool plain = (b >= '0' && b <= '9') || (b >= 'a' && b <= 'z') || (b >= 'A' && b <= 'Z') ||
                     b == '-' || b == '_' || b == '.' || b == '~';

        if (plain) {
            *out++ = (char)b;
        } else {
            *out++ = '%';
            *out++ = digits[b >> 4];
            *out++ = digits[b & 15];
        }
    }
    *out = 0;
}

static const char *state_name(cuzk_job_state state)
{
#define STATE_NAME(name, text, ended) text,
    static const char *const names[] = {CUZK_JOB_STATES(STATE_NAME)};
#undef STATE_NAME
    return (unsigned)state < sizeof names / sizeof *names ? names[state] : "unknown";
}

static void put_times(bytes_out *o, const cuzk_job_times *t)
{
    bytes_printf(o, ",\"times\":{\"queue_ms\":%llu,\"srs_load_ms\":%llu,\"synthesis_ms\":%llu,",
                 (unsigned long long)t->queue_ms, (unsigned long long)t->key_ms,
                 (unsigned long long)t->synthesis_ms);
    bytes_printf(o, "\"gpu_ms\":%llu,\"decode_ms\":%llu,\"verify_ms\":%llu,\"store_ms\":%llu,",
                 (unsigned long long)t->device_ms, (unsigned long long)t->decode_ms,
                 (unsigned long long)t->verify_ms, (unsigned long long)t->store_ms);
    bytes_printf(o, "\"rest_ms\":%llu,\"total_ms\":%llu}", (unsigned long long)t->rest_ms,
                 (unsigned long long)t->total_ms);
}

static void put_error(bytes_out *o, const cuzk_error *e)
{
    bytes_printf(o, "\"error\":{\"class\":\"%s\",\"where\":", cuzk_class_name(e->klass));
    json_put_string(o, e->where);
    bytes_printf(o, ",\"message\":");
    json_put_string(o, e->message);
    bytes_put(o, "}", 1);
}

/** "proof":...,"publicSignals":...[,"calldata":"..."] of a circuit's job, "proof_hex" of any other. */
static cuzk_status put_proof(bytes_out *o, const cuzk_job_result *j, bool calldata)
{
    if (j->proof_json.size == 0) {
        char *text = malloc(2 * j->proof.size + 1);

        if (text == NULL) return FAIL(CUZK_ENOMEM, "proof: out of memory");
        hex_encode(text, j->proof.data, j->proof.size);
        bytes_printf(o, "\"proof_hex\":\"%s\"", text);
        free(text);
        return CUZK_OK;
    }
    bytes_printf(o, "\"proof\":");
    bytes_put(o, j->proof_json.data, j->proof_json.size);
    bytes_printf(o, ",\"publicSignals\":");
    bytes_put(o, j->public_json.data, j->public_json.size);
    if (!calldata) return CUZK_OK;
    bytes_out text;
    bytes_out_init(&text, o->m);
    cuzk_status st = http_calldata_write(&text, j->proof_json, j->public_json);
    bytes_put_u8(&text, 0);
    if (st == CUZK_OK) st = bytes_out_status(&text);
    if (st == CUZK_OK) {
        bytes_printf(o, ",\"calldata\":");
        json_put_string(o, (const char *)text.data);
    }
    bytes_out_clear(&text);
    return st;
}

/* ---- waiting ---- */

/** In the request's scratch memory. */
typedef struct waiter {
    http *h;
    http_request *r;
    uint64_t wait;
    bool calldata, whole; /* whole: the job with its state and times, not the proof alone */
    atomic_bool answered; /* set before http_reply */
    char encoded[3 * CUZK_JOB_ID_MAX + 1];
    char job_id[CUZK_JOB_ID_MAX];
} waiter;

static void send_text(waiter *w, unsigned status, bytes_out *o)
{
    const http_pair pairs[] = {{"Cuzk-Job-Id", w->encoded}};

    atomic_store_explicit(&w->answered, true, memory_order_release); /* read in client_left */
    if (bytes_out_status(o) == CUZK_OK)
        http_reply(w->r, status, "application/json", o->data, o->size, pairs, 1);
    else
        http_reply_error(w->r, 500, CUZK_CLASS_RESOURCE, "answer", "out of memory");
}

/** GET /v1/jobs/ID: what is known of it. */
static void send_job(waiter *w, const cuzk_job_result *j)
{
    bytes_out o;

    bytes_out_init(&o, w->h->m);
    bytes_printf(&o, "{\"job_id\":");
    json_put_string(&o, w->job_id);
    bytes_printf(&o, ",\"state\":\"%s\"", state_name(j->state));
    put_times(&o, &j->times);
    if (j->end == CUZK_WAIT_ENDED && j->state == CUZK_JOB_COMPLETED) {
        size_t mark = o.size;

        bytes_put(&o, ",", 1);
        if (put_proof(&o, j, w->calldata) != CUZK_OK) {
            o.size = mark;
            bytes_put(&o, ",", 1);
            put_error(&o, cuzk_last_error());
        }
    } else if (j->end == CUZK_WAIT_ENDED && j->error != NULL) {
        bytes_put(&o, ",", 1);
        put_error(&o, j->error);
    }
    bytes_printf(&o, "}\n");
    send_text(w, 200, &o);
    bytes_out_clear(&o);
}

/** POST prove: the proof, or why there is none. */
static void send_proof(waiter *w, const cuzk_job_result *j)
{
    cuzk_error cancelled = {.status = CUZK_ECANCELLED, .message = "the job was cancelled"};
    const cuzk_error *e = j->error;
    unsigned status = 200;
    bytes_out o;

    bytes_out_init(&o, w->h->m);
    bytes_put(&o, "{", 1);
    if (j->state == CUZK_JOB_COMPLETED) {
        if (put_proof(&o, j, w->calldata) != CUZK_OK) {
            o.size = 1;
            e = cuzk_last_error();
            status = status_of_job(e);
            put_error(&o, e);
        }
    } else {
        if (j->state == CUZK_JOB_CANCELLED || e == NULL) e = &cancelled;
        status = e == &cancelled ? 409 : status_of_job(e);
        put_error(&o, e);
    }
    bytes_printf(&o, "}\n");
    send_text(w, status, &o);
    bytes_out_clear(&o);
}

static void send_stopping(waiter *w)
{
    atomic_store_explicit(&w->answered, true, memory_order_release); /* read in client_left */
    http_reply_error(w->r, 503, CUZK_CLASS_RESOURCE, w->job_id,
                     "the daemon is stopping; the job is kept and goes on after the restart");
}

/** On a thread of the service, or from within cuzk_job_wait. */
static void job_ended(void *ctx, const cuzk_job_result *j)
{
    waiter *w = ctx;

    if (w->whole)
        send_job(w, j);
    else if (j->end == CUZK_WAIT_ENDED)
        send_proof(w, j);
    else
        send_stopping(w);
}

/** The client has gone, or the server closes. Who only asked how a job does (whole) has no claim to give up. */
static void client_left(void *ctx)
{
    waiter *w = ctx;
    bool closing = http_request_closing(w->r);

    cuzk_job_unwait(w->h->service, w->wait, !closing && !w->whole);
    if (!atomic_load_explicit(&w->answered, memory_order_acquire)) send_stopping(w);
}

static void wait_for_job(waiter *w, uint64_t timeout_ms)
{
    write_encoded(w->encoded, w->job_id);
    cuzk_status st = cuzk_job_wait(w->h->service, w->job_id, timeout_ms, job_ended, w, &w->wait);
    if (st != CUZK_OK)
        http_reply_failure(w->r, st);
    else
        http_request_on_gone(w->r, client_left, w);
}

static waiter *new_waiter(http *h, http_request *r)
{
    waiter *w = http_request_scratch(r, sizeof *w);
    const char *calldata = http_request_query(r, "calldata");

    if (w == NULL) {
        http_reply_error(r, 503, CUZK_CLASS_RESOURCE, "request", "out of memory");
        return NULL;
    }
    w->h = h;
    w->r = r;
    w->calldata = calldata != NULL && strcmp(calldata, "0") != 0;
    return w;
}

/* ---- handlers ---- */

static bool is_json(const char *content_type)
{
    static const char json[] = "application/json";
    size_t n = sizeof json - 1;

    return content_type != NULL && strncasecmp(content_type, json, n) == 0 &&
           (content_type[n] == 0 || content_type[n] == ';' || content_type[n] == ' ');
}

static void send_accepted(http *h, http_request *r, const cuzk_ticket *t)
{
    char *location = malloc(3 * strlen(t->job_id) + 16);
    bytes_out o;

    bytes_out_init(&o, h->m);
    bytes_printf(&o, "{\"job_id\":");
    json_put_string(&o, t->job_id);
    bytes_printf(&o, ",\"queue_position\":%u,\"known\":%s,\"device\":", t->queue_position,
                 t->known ? "true" : "false");
    json_put_string(&o, t->device);
    bytes_printf(&o, "}\n");
    if (location != NULL && bytes_out_status(&o) == CUZK_OK) {
        const http_pair pairs[] = {{"Location", location}};

        memcpy(location, "/v1/jobs/", 10);
        write_encoded(location + 9, t->job_id);
        http_reply(r, 202, "application/json", o.data, o.size, pairs, 1);
    } else {
        http_reply_error(r, 500, CUZK_CLASS_RESOURCE, "answer", "out of memory");
    }
    free(location);
    bytes_out_clear(&o);
}

void http_prove_circuit(void *ctx, http_request *r)
{
    http *h = ctx;
    const char *key = http_request_header(r, "Idempotency-Key");
    const char *async = http_request_query(r, "async");
    bool later = async != NULL && strcmp(async, "0") != 0;
    cuzk_request q = {.request_id = key,
                      .kind = CUZK_GROTH16,
                      .circuit = http_request_part(r, 0),
                      .owner = http_request_owner(r)};
    cuzk_bytes body;
    cuzk_ticket *t;

    body.data = http_request_body(r, &body.size);
    if (body.size == 0) {
        http_reply_error(r, 400, CUZK_CLASS_MALFORMED, "body",
                         "empty; a .wtns file, or input.json as application/json, is wanted");
        return;
    }
    if (is_json(http_request_header(r, "Content-Type")))
        q.input_json = body;
    else
        q.witness = body;
    t = calloc(1, sizeof *t);
    waiter *w = t == NULL ? NULL : new_waiter(h, r);
    if (t == NULL) http_reply_error(r, 503, CUZK_CLASS_RESOURCE, "request", "out of memory");
    if (w == NULL) {
        free(t);
        return;
    }
    span s = span_open(SPAN_ADMIT);
    cuzk_status st = cuzk_job_submit(h->service, &q, t);
    span_close(&s);
    if (st != CUZK_OK) {
        http_reply_failure(r, st);
    } else if (later) {
        send_accepted(h, r, t);
    } else {
        memcpy(w->job_id, t->job_id, sizeof w->job_id);
        wait_for_job(w, 0);
    }
    free(t);
}

/** ?wait=SECONDS, 0 when it is not there. */
static bool read_wait(http_request *r, uint64_t *ms)
{
    const char *text = http_request_query(r, "wait");
    uint64_t v = 0;

    *ms = 0;
    if (text == NULL) return true;
    if (text[0] == 0 || strlen(text) > 4) return false;
    for (; *text != 0; text++) {
        if (*text < '0' || *text > '9') return false;
        v = v * 10 + (uint64_t)(*text - '0');
    }
    *ms = v * 1000;
    return v <= MAX_WAIT_S;
}

/** Whether the request may look after this job. */
static CUZK_STATUS may(http *h, const http_request *r, const char *id)
{
    const char *owner = http_request_confined(r);

    return owner == NULL ? CUZK_OK : cuzk_job_owned(h->service, id, owner);
}

void http_get_job(void *ctx, http_request *r)
{
    const char *id = http_request_part(r, 0);
    uint64_t ms;
    waiter *w;

    if (!read_wait(r, &ms)) {
        http_reply_error(r, 400, CUZK_CLASS_MALFORMED, "wait", "seconds, 0 to 3600");
        return;
    }
    if (strlen(id) >= CUZK_JOB_ID_MAX) {
        http_reply_error(r, 404, CUZK_CLASS_NONE, "job_id", "there is no such job");
        return;
    }
    if (may(ctx, r, id) != CUZK_OK) {
        http_reply_failure(r, cuzk_last_error()->status);
        return;
    }
    w = new_waiter(ctx, r);
    if (w == NULL) return;
    w->whole = true;
    memcpy(w->job_id, id, strlen(id) + 1);
    wait_for_job(w, ms == 0 ? 1 : ms);
}

void http_cancel_job(void *ctx, http_request *r)
{
    http *h = ctx;
    const char *id = http_request_part(r, 0);
    bool was_running = false;
    bytes_out o;
    cuzk_status st = may(h, r, id);

    if (st == CUZK_OK) st = cuzk_job_cancel(h->service, id, &was_running);
    if (st != CUZK_OK) {
        http_reply_failure(r, st);
        return;
    }
    bytes_out_init(&o, h->m);
    bytes_printf(&o, "{\"job_id\":");
    json_put_string(&o, id);
    bytes_printf(&o, ",\"was_running\":%s}\n", was_running ? "true" : "false");
    if (bytes_out_status(&o) == CUZK_OK)
        http_reply(r, 200, "application/json", o.data, o.size, NULL, 0);
    else
        http_reply_failure(r, CUZK_ENOMEM);
    bytes_out_clear(&o);
}
