/*
 * wire/grpc_call_life.c - a call's first and last moment: asked for, counted, freed with its last reference
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "wire/grpc_internal.h"

void gcall_ref(gcall *c)
{
    (void)atomic_fetch_add_explicit(&c->refs, 1, memory_order_relaxed);
}

void gcall_drop_queue(gcall *c)
{
    while (c->first != NULL) {
        gout *o = c->first;

        c->first = o->next;
        grpc_byte_buffer_destroy(o->message);
        free(o);
    }
    c->last = NULL;
    c->n_queued = 0;
}

/* -1: none. */
static int descriptor_of(const char *text)
{
    int fd = 0;

    if (*text == 0) return -1;
    for (; *text != 0; text++) {
        if (*text < '0' || *text > '9' || fd > 10000000) return -1;
        fd = 10 * fd + (*text - '0');
    }
    return fd;
}

/* Connections that we accepted are known to the library by their descriptor, "fd:17" (its name for a channel from one). */
void gcall_note_peer(gcall *c)
{
    char *text = grpc_call_get_peer(c->call);
    struct sockaddr_storage address;
    socklen_t size = sizeof address;

    if (strncmp(text, "fd:", 3) != 0)
        net_peer_read(&c->from, text);
    else if (getpeername(descriptor_of(text + 3), (struct sockaddr *)&address, &size) == 0)
        net_peer_from(&c->from, (const struct sockaddr *)&address, size);
    gpr_free(text);
    net_peer_write(c->peer, &c->from);
}

static uint64_t ms_of(const atomic_uint_fast64_t *ns)
{
    return atomic_load_explicit(ns, memory_order_relaxed) / 1000000;
}

static void tell_ended(const gcall *c)
{
    const gcall_record r = {
        .method = c->method->path[0] == 0 ? "unknown" : c->method->path,
        .peer = c->peer,
        .code = c->ended_ns == 0 ? GCODE_CANCELLED : c->end_code, /* 0: no status was sent */
        .ms = (clock_ns() - c->start_ns) / 1000000,
        .receive_ms = ms_of(&c->receive_ns),
        .send_ms = ms_of(&c->send_ns),
        .bytes_in = atomic_load_explicit(&c->bytes_in, memory_order_relaxed),
        .bytes_out = atomic_load_explicit(&c->bytes_out, memory_order_relaxed),
    };

    c->s->call_ended(c->s->log_ctx, &r);
}

static void destroy(gcall *c)
{
    gserver *s = c->s;

    if (c->counted && s->call_ended != NULL) tell_ended(c);
    gcall_drop_queue(c);
    mem_free(s->requests, c->request);
    if (c->incoming != NULL) grpc_byte_buffer_destroy(c->incoming);
    if (c->call != NULL) grpc_call_unref(c->call);
    grpc_call_details_destroy(&c->details);
    grpc_metadata_array_destroy(&c->metadata);
    free(c->end_text);
    if (c->method != NULL && !c->method->stream) free(c->state);
    (void)pthread_mutex_lock(&s->mu);
    s->n_calls--;
    if (c->counted) s->active--;
    (void)pthread_cond_broadcast(&s->idle);
    (void)pthread_mutex_unlock(&s->mu);
    (void)pthread_mutex_destroy(&c->mu);
    free(c);
}

void gcall_unref(gcall *c)
{
    if (atomic_fetch_sub_explicit(&c->refs, 1, memory_order_acq_rel) == 1) destroy(c);
}

void gcall_ask(gserver *s)
{
    gcall *c = calloc(1, sizeof *c);

    if (c == NULL || pthread_mutex_init(&c->mu, NULL) != 0) {
        free(c);
        gserver_say(s, GSERVER_ERROR, "grpc_no_memory", "one slot for calls less");
        return;
    }
    c->s = s;
    atomic_init(&c->refs, 1);
    c->tag_new = (gtag){GEVENT_NEW, c};
    c->tag_recv = (gtag){GEVENT_RECV, c};
    c->tag_close = (gtag){GEVENT_CLOSE, c};
    c->tag_send = (gtag){GEVENT_SEND, c};
    c->tag_finish = (gtag){GEVENT_FINISH, c};
    grpc_call_details_init(&c->details);
    grpc_metadata_array_init(&c->metadata);
    (void)pthread_mutex_lock(&s->mu);
    s->n_calls++;
    (void)pthread_mutex_unlock(&s->mu);
    if (grpc_server_request_call(s->server, &c->call, &c->details, &c->metadata, s->cq, s->cq,
                                 &c->tag_new) != GRPC_CALL_OK)
        gcall_unref(c);
}
