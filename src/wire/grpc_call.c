/*
 * wire/grpc_call.c - one call of the gRPC server, from the library's first word of it to its last
 *
 * References: the call's owner (until it is ended), each operation under way, and whoever asks for one. Operations of the library
 * are started under the call's lock, which orders them as it demands; starting one never waits for the client.
 * A stream's next message is asked for when nothing waits to be sent: a client that does not read cannot make us write more.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <protobuf-c/protobuf-c.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/fault.h"
#include "wire/grpc_internal.h"
#include "wire/net.h"

/** Starts operations; on failure (the call is over) false. c->mu is held. */
static bool start_locked(gcall *c, const grpc_op *ops, size_t n, gtag *tag)
{
    gcall_ref(c);
    if (grpc_call_start_batch(c->call, ops, n, tag, NULL) == GRPC_CALL_OK) return true;
    (void)atomic_fetch_sub_explicit(&c->refs, 1, memory_order_relaxed); /* not the last: ours */
    return false;
}

/* ---- sending ---- */

/** A stall that a test asks for is the server's own, not that of whoever ends a call. */
static _Thread_local bool on_server_thread;

static void read_next_locked(gcall *c)
{
    grpc_op op = {.op = GRPC_OP_RECV_MESSAGE, .data.recv_message.recv_message = &c->incoming};

    c->read_wanted = false;
    c->reading = start_locked(c, &op, 1, &c->tag_recv);
}

static void send_locked(gcall *c)
{
    grpc_op ops[2] = {{.op = GRPC_OP_SEND_MESSAGE}, {.op = GRPC_OP_SEND_INITIAL_METADATA}};
    gout *o = c->first;

    ops[0].data.send_message.send_message = o->message;
    c->sending = start_locked(c, ops, c->metadata_sent ? 1 : 2, &c->tag_send);
    c->metadata_sent = true;
    c->first = o->next;
    if (c->first == NULL) c->last = NULL;
    c->n_queued--;
    grpc_byte_buffer_destroy(o->message); /* the operation has taken the slices */
    free(o);
}

/** The status, and the one message of a unary answer. */
static void finish_locked(gcall *c)
{
    grpc_op ops[3] = {{.op = GRPC_OP_SEND_STATUS_FROM_SERVER}};
    size_t n = 1;
    grpc_slice text = grpc_empty_slice();
    gout *o = c->first;

    ops[0].data.send_status_from_server.status = (grpc_status_code)c->end_code;
    if (c->end_text != NULL) {
        text = grpc_slice_from_copied_string(c->end_text);
        ops[0].data.send_status_from_server.status_details = &text;
    }
    if (!c->metadata_sent) ops[n++].op = GRPC_OP_SEND_INITIAL_METADATA;
    if (o != NULL) {
        ops[n].op = GRPC_OP_SEND_MESSAGE;
        ops[n++].data.send_message.send_message = o->message;
    }
    c->metadata_sent = true;
    c->ended_ns = clock_ns();
    (void)start_locked(c, ops, n, &c->tag_finish);
    grpc_slice_unref(text);
    gcall_drop_queue(c);
}

/** What is to happen next when nothing is being sent. */
static void pump_locked(gcall *c)
{
    if (c->gone) {
        gcall_drop_queue(c);
        return;
    }
    if (c->sending) return;
    if (c->ended && (c->first == NULL || !c->method->stream))
        finish_locked(c);
    else if (c->first != NULL)
        send_locked(c);
    else if (c->read_wanted && !c->reading)
        read_next_locked(c);
}

/** Queues a message; takes it over. */
static bool queue_locked(gcall *c, grpc_byte_buffer *b)
{
    gout *o = calloc(1, sizeof *o);

    if (o == NULL) {
        grpc_byte_buffer_destroy(b);
        return false;
    }
    o->message = b;
    if (c->last == NULL)
        c->first = o;
    else
        c->last->next = o;
    c->last = o;
    c->n_queued++;
    return true;
}

static grpc_byte_buffer *copied(const void *data, size_t size)
{
    grpc_slice slice = grpc_slice_from_copied_buffer(data, size);
    grpc_byte_buffer *b = grpc_raw_byte_buffer_create(&slice, 1);

    grpc_slice_unref(slice);
    return b;
}

/** Ends the call; b (may be NULL) is taken over, text too. */
static void end(gcall *c, gcode code, char *text, grpc_byte_buffer *b)
{
    span sp = span_open(SPAN_SEND);
    bool first;

    if (on_server_thread) fault_stall("slow client");
    (void)pthread_mutex_lock(&c->mu);
    first = !c->ended;
    VERIFY(first || c->gone);
    if (first) {
        c->ended = true;
        c->end_code = code;
        c->end_text = text;
        text = NULL;
        c->cancel_fn = NULL;
        if (b != NULL && !queue_locked(c, b)) c->end_code = GCODE_RESOURCE_EXHAUSTED;
        b = NULL;
        pump_locked(c);
    }
    (void)pthread_mutex_unlock(&c->mu);
    free(text);
    if (b != NULL) grpc_byte_buffer_destroy(b);
    span_close(&sp);
    if (first) gcall_unref(c); /* the owner's */
}

static void count_out(gcall *c, size_t size)
{
    gserver *s = c->s;

    (void)atomic_fetch_add_explicit(&c->bytes_out, size, memory_order_relaxed);
    (void)pthread_mutex_lock(&s->mu);
    s->stats.bytes_out += size;
    (void)pthread_mutex_unlock(&s->mu);
}

void gcall_reply(gcall *c, const void *data, size_t size, void (*release)(void *), void *arg)
{
    grpc_byte_buffer *b;

    count_out(c, size);
    if (release == NULL) {
        b = copied(data, size);
    } else {
        union {
            const void *in;
            void *out;
        } bytes = {data};
        grpc_slice slice = grpc_slice_new_with_user_data(bytes.out, size, release, arg);

        b = grpc_raw_byte_buffer_create(&slice, 1);
        grpc_slice_unref(slice);
    }
    end(c, GCODE_OK, NULL, b);
}

/** A message of gRPC's status: UTF-8, at most 2 KiB. */
__attribute__((format(printf, 1, 0))) static char *status_text(const char *fmt, va_list args)
{
    char text[2048];

    (void)vsnprintf(text, sizeof text, fmt, args);
    return strdup(text);
}

void gcall_fail(gcall *c, gcode code, const char *fmt, ...)
{
    gserver *s = c->s; /* c may be gone after its end */
    va_list args;

    (void)pthread_mutex_lock(&s->mu);
    s->stats.failed++;
    (void)pthread_mutex_unlock(&s->mu);
    va_start(args, fmt);
    end(c, code, status_text(fmt, args), NULL);
    va_end(args);
}

void gcall_end(gcall *c)
{
    end(c, GCODE_OK, NULL, NULL);
}

bool gcall_send(gcall *c, const void *data, size_t size)
{
    bool ok = false, slow = false;

    (void)pthread_mutex_lock(&c->mu);
    slow = c->n_queued >= GCALL_MAX_QUEUED;
    if (!c->ended && !c->gone && !slow) ok = queue_locked(c, copied(data, size));
    if (ok) pump_locked(c);
    (void)pthread_mutex_unlock(&c->mu);
    if (ok) count_out(c, size);
    if (slow)
        (void)grpc_call_cancel_with_status(c->call, GRPC_STATUS_RESOURCE_EXHAUSTED,
                                           "the client does not read", NULL);
    return ok;
}

/** The message packed, malloc'ed. */
static void *packed(const ProtobufCMessage *m, size_t *size)
{
    *size = protobuf_c_message_get_packed_size(m);
    uint8_t *data = malloc(*size + 1);
    if (data != NULL) (void)protobuf_c_message_pack(m, data);
    return data;
}

void gcall_reply_message(gcall *c, const ProtobufCMessage *m)
{
    size_t size;
    void *data = packed(m, &size);

    if (data == NULL)
        gcall_fail(c, GCODE_RESOURCE_EXHAUSTED, "no memory for an answer of %zu bytes", size);
    else
        gcall_reply(c, data, size, free, data);
}

bool gcall_send_message(gcall *c, const ProtobufCMessage *m)
{
    size_t size;
    void *data = packed(m, &size);
    bool ok = data != NULL && gcall_send(c, data, size);

    free(data);
    return ok;
}

/* ---- receiving ---- */

bytes_in gcall_request(gcall *c)
{
    return bytes_in_of(c->request, c->request_size);
}

void gcall_drop_request(gcall *c)
{
    mem_free(c->s->requests, c->request);
    c->request = NULL;
    c->request_size = 0;
}

void **gcall_state(gcall *c)
{
    return &c->state;
}

const char *gcall_owner(const gcall *c)
{
    return c->owner;
}

const char *gcall_confined(const gcall *c)
{
    return access_confined(c->scopes, c->owner);
}

bool gcall_stopping(const gcall *c)
{
    return atomic_load_explicit(&c->s->stopping, memory_order_relaxed);
}

void gcall_on_cancel(gcall *c, void (*fn)(void *ctx), void *ctx)
{
    bool now;

    (void)pthread_mutex_lock(&c->mu);
    now = c->gone && !c->ended;
    if (!now && !c->ended) {
        c->cancel_fn = fn;
        c->cancel_ctx = ctx;
    }
    (void)pthread_mutex_unlock(&c->mu);
    if (now) fn(ctx);
}

/** The message that has come, in one piece. False: the call was ended with the reason. */
static bool take_message(gcall *c)
{
    gserver *s = c->s;
    cuzk_status st = gmessage_read(s, c->incoming, &c->request, &c->request_size);

    if (st != CUZK_OK) {
        gcall_fail(c, st == CUZK_EDATA ? GCODE_INVALID_ARGUMENT : GCODE_RESOURCE_EXHAUSTED, "%s",
                   cuzk_last_error()->message);
        return false;
    }
    grpc_byte_buffer_destroy(c->incoming);
    c->incoming = NULL;
    uint64_t took = clock_ns() - c->start_ns;
    (void)atomic_fetch_add_explicit(&c->bytes_in, c->request_size, memory_order_relaxed);
    atomic_store_explicit(&c->receive_ns, took, memory_order_relaxed);
    (void)pthread_mutex_lock(&s->mu);
    s->stats.bytes_in += c->request_size;
    s->stats.receive_ns += took;
    (void)pthread_mutex_unlock(&s->mu);
    return true;
}

static void on_message(gcall *c, bool there)
{
    if (there) {
        span sp = span_open(SPAN_RECEIVE);
        bool taken = take_message(c);

        span_close(&sp);
        if (taken) c->method->message(c->method->ctx, c);
        if (taken && c->method->stream) gcall_drop_request(c);
    } else if (!c->method->stream) {
        gcall_fail(c, GCODE_INVALID_ARGUMENT, "no request message");
    } else if (c->method->done != NULL) {
        c->method->done(c->method->ctx, c);
    } else {
        gcall_end(c);
    }
}

static void after_closed(gcall *c, bool closed)
{
    if (closed && c->method->closed != NULL) c->method->closed(c->method->ctx, c);
}

static void on_recv(gcall *c, bool success)
{
    bool there = success && c->incoming != NULL, closed;

    on_message(c, there);
    (void)pthread_mutex_lock(&c->mu);
    c->reading = false;
    closed = c->method->stream && c->gone && !c->closed;
    if (closed) c->closed = true;
    if (c->method->stream && there && !c->ended) {
        c->read_wanted = true;
        pump_locked(c);
    }
    (void)pthread_mutex_unlock(&c->mu);
    after_closed(c, closed);
}

/** The call is over: its status is out, or the client has gone. */
static void on_close(gcall *c)
{
    void (*fn)(void *) = NULL;
    void *ctx = NULL;
    bool closed, owner = false, cancelled;

    (void)pthread_mutex_lock(&c->mu);
    c->gone = true;
    cancelled = !c->ended || c->was_cancelled != 0;
    if (!c->ended) {
        fn = c->cancel_fn;
        ctx = c->cancel_ctx;
        c->cancel_fn = NULL;
        owner = c->method->stream; /* nobody else ends a stream */
        if (owner) c->ended = true;
    }
    if (!c->sending) gcall_drop_queue(c);
    closed = c->method->stream && !c->reading && !c->closed;
    if (closed) c->closed = true;
    (void)pthread_mutex_unlock(&c->mu);
    if (cancelled) {
        (void)pthread_mutex_lock(&c->s->mu);
        c->s->stats.cancelled++;
        (void)pthread_mutex_unlock(&c->s->mu);
    }
    if (fn != NULL) fn(ctx);
    if (closed) after_closed(c, true);
    if (owner) gcall_unref(c);
}

static void on_finish(gcall *c)
{
    uint64_t took = clock_ns() - c->ended_ns;

    atomic_store_explicit(&c->send_ns, took, memory_order_relaxed);
    (void)pthread_mutex_lock(&c->s->mu);
    c->s->stats.send_ns += took;
    (void)pthread_mutex_unlock(&c->s->mu);
}

static void on_sent(gcall *c)
{
    (void)pthread_mutex_lock(&c->mu);
    c->sending = false;
    pump_locked(c);
    (void)pthread_mutex_unlock(&c->mu);
}

/* ---- a new call ---- */

static bool slice_is(const grpc_slice *s, const char *text)
{
    size_t n = strlen(text);

    return GRPC_SLICE_LENGTH(*s) == n && memcmp(GRPC_SLICE_START_PTR(*s), text, n) == 0;
}

static bool has_property(const grpc_auth_context *auth, const char *name, const char *value)
{
    grpc_auth_property_iterator it = grpc_auth_context_find_properties_by_name(auth, name);
    const grpc_auth_property *p = grpc_auth_property_iterator_next(&it);

    return p != NULL && p->value_length == strlen(value) &&
           memcmp(p->value, value, p->value_length) == 0;
}

/** What the client may do, into c. *stranger: it comes without TLS from where that is not allowed: the acceptor has seen to that once, but
 *  the connection may be older than the list that is in force now. */
static void find_scopes(gcall *c, bool *stranger)
{
    gserver *s = c->s;
    grpc_auth_context *auth = grpc_call_auth_context(c->call);
    bool tls = auth != NULL && has_property(auth, "transport_security_type", "ssl");
    bool plain = access_is_plain_peer(s->access, &c->from), certificate = false;
    const char *header = NULL;
    size_t size = 0;

    *stranger = !tls && !plain;
    if (tls)
        certificate = s->tls_asks_certificate && grpc_auth_context_peer_is_authenticated(auth) != 0;
    if (auth != NULL) grpc_auth_context_release(auth);
    for (size_t i = 0; i < c->metadata.count; i++) {
        const grpc_metadata *m = &c->metadata.metadata[i];

        if (!slice_is(&m->key, "authorization")) continue;
        header = (const char *)GRPC_SLICE_START_PTR(m->value);
        size = GRPC_SLICE_LENGTH(m->value);
    }
    c->scopes = access_scopes(s->access, plain, certificate, header, size, c->owner);
}

static const char *scope_name(unsigned scope)
{
    if ((scope & ACCESS_PROVE) != 0) return "prove";
    return (scope & ACCESS_READ) != 0 ? "read" : "operate";
}

#define ALWAYS_MORE 256u /* calls of methods that look, stop or check, beyond the limit */
static const gmethod unknown = {.path = ""}; /* of calls of no method that there is */

static const gmethod *find_method(const gcall *c)
{
    for (size_t i = 0; i < c->s->n_methods; i++)
        if (slice_is(&c->details.method, c->s->methods[i].path)) return &c->s->methods[i];
    return &unknown;
}

/** Whether the call may go on; if not, it has been ended with the reason. */
static bool admit(gcall *c)
{
    gserver *s = c->s;
    unsigned max = atomic_load_explicit(&s->max_requests, memory_order_relaxed);
    uint64_t active;
    bool stranger;

    (void)pthread_mutex_lock(&s->mu);
    active = ++s->active;
    s->stats.calls++;
    c->counted = true;
    (void)pthread_mutex_unlock(&s->mu);

    span sp = span_open(SPAN_AUTHENTICATE);
    find_scopes(c, &stranger);
    span_close(&sp);
    if (stranger)
        gcall_fail(c, GCODE_PERMISSION_DENIED, "%s is not in daemon.plaintext_from (any more)",
                   c->peer);
    else if (c->scopes == 0)
        gcall_fail(c, GCODE_UNAUTHENTICATED,
                   "a bearer token that this server knows is wanted (daemon.tokens_file)");
    else if (c->method == &unknown)
        gcall_fail(c, GCODE_UNIMPLEMENTED, "no such method");
    else if (c->method->scope != 0 && (c->scopes & c->method->scope) == 0)
        gcall_fail(c, GCODE_PERMISSION_DENIED, "the token lacks the scope `%s`",
                   scope_name(c->method->scope));
    else if (active > max + (c->method->always ? ALWAYS_MORE : 0))
        gcall_fail(c, GCODE_RESOURCE_EXHAUSTED,
                   "%llu requests at a time, limit %u (daemon.max_requests)",
                   (unsigned long long)active, max);
    else
        return true;
    (void)pthread_mutex_lock(&s->mu);
    s->stats.refused++;
    (void)pthread_mutex_unlock(&s->mu);
    return false;
}

static void on_new(gcall *c)
{
    grpc_op op = {.op = GRPC_OP_RECV_CLOSE_ON_SERVER,
                  .data.recv_close_on_server.cancelled = &c->was_cancelled};

    c->start_ns = clock_ns();
    c->method = find_method(c);
    gcall_note_peer(c);
    if (!atomic_load_explicit(&c->s->stopping, memory_order_relaxed)) gcall_ask(c->s);
    (void)pthread_mutex_lock(&c->mu);
    (void)start_locked(c, &op, 1, &c->tag_close);
    (void)pthread_mutex_unlock(&c->mu);
    if (!admit(c)) return;
    (void)pthread_mutex_lock(&c->mu);
    read_next_locked(c);
    bool reading = c->reading;
    (void)pthread_mutex_unlock(&c->mu);
    if (!reading) gcall_fail(c, GCODE_INTERNAL, "the request cannot be read");
}

/** The library orders what one thread has done with a call before it started an operation, and what another does when that has
 *  ended; by means that tools do not see. These locks, which both have held, say it again. */
static void order(gcall *c)
{
    (void)pthread_mutex_lock(&c->s->mu);
    (void)pthread_mutex_unlock(&c->s->mu);
    (void)pthread_mutex_lock(&c->mu);
    (void)pthread_mutex_unlock(&c->mu);
}

void gcall_event(const gtag *t, bool success)
{
    gcall *c = t->call;

    on_server_thread = true;
    order(c);
    switch (t->event) {
    case GEVENT_NEW:
        if (success) {
            gcall_ref(c); /* this event's; the first goes on as the owner's */
            on_new(c);
        }
        break;
    case GEVENT_RECV: on_recv(c, success); break;
    case GEVENT_CLOSE: on_close(c); break;
    case GEVENT_SEND: on_sent(c); break;
    case GEVENT_FINISH: on_finish(c); break;
    }
    gcall_unref(c);
}
