/*
 * wire/grpc_server.c - the gRPC server's life: start, threads, limits, stop
 *
 * One completion queue, a few threads on it. What one call goes through is in grpc_call.c, how connections come in grpc_listen.c.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "wire/grpc_server.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/signals.h"
#include "wire/grpc_internal.h"

#define DEFAULT_MAX_MESSAGE (256ull << 20)
#define DEFAULT_MAX_INFLIGHT (2ull << 30)
#define DEFAULT_MAX_REQUESTS 1024u
#define DEFAULT_THREADS 4u
#define MAX_METADATA (16 << 10)
#define MAX_FRAME \
    (1 \
     << 20) /* of a message: in frames of 16 KiB, 50 MB cost a tenth of a second's CPU more on both sides */
#define KEEPALIVE_MS 60000         /* a silent client is asked whether it is there */
#define KEEPALIVE_TIMEOUT_MS 20000 /* and is cut off when it does not say so */
#define HANDSHAKE_MS 20000

void gserver_say(gserver *s, int level, const char *event, const char *fmt, ...)
{
    char text[512];
    va_list args;

    if (s->log == NULL) return;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    s->log(s->log_ctx, level, event, text);
}

/* ---- threads ---- */

/** One operation that the library has finished. */
static void handle(gserver *s, const grpc_event *e)
{
    const gtag *t = e->tag;

    if (t->call != NULL) {
        gcall_event(t, e->success != 0);
        return;
    }
    (void)pthread_mutex_lock(&s->mu);
    s->shut_down = true;
    (void)pthread_cond_broadcast(&s->idle);
    (void)pthread_mutex_unlock(&s->mu);
}

static void *serve(void *arg)
{
    const gseat *seat = arg;
    gserver *s = seat->s;
    char name[32];
    cuzk_status st;

    (void)snprintf(name, sizeof name, "grpc %u", seat->index);
    st = s->spans == NULL ? CUZK_OK : span_attach(s->spans, name);
    if (st != CUZK_OK) gserver_say(s, GSERVER_WARN, "grpc_no_spans", "%s", name);
    for (;;) {
        span sp = span_open(SPAN_CLIENT_WAIT);
        grpc_event e = grpc_completion_queue_next(s->cq, gpr_inf_future(GPR_CLOCK_MONOTONIC), NULL);

        span_close(&sp);
        if (e.type == GRPC_QUEUE_SHUTDOWN) break;
        if (e.type == GRPC_OP_COMPLETE) handle(s, &e);
    }
    span_detach();
    return NULL;
}

/** Signals are the program's: they come to none of these threads. */
static CUZK_STATUS start_threads(gserver *s, unsigned n)
{
    sigset_t before;
    cuzk_status st = CUZK_OK;

    signals_block(&before); /* signals are the program's own thread's */
    while (s->n_threads < n && st == CUZK_OK) {
        gseat *seat = &s->seats[s->n_threads];

        *seat = (gseat){.s = s, .index = s->n_threads};
        if (pthread_create(&seat->thread, NULL, serve, seat) == 0)
            s->n_threads++;
        else
            st = FAIL(CUZK_ENOMEM, "gRPC server: thread %u of %u cannot be started", s->n_threads,
                      n);
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return st;
}

/* ---- start ---- */

static void library_log(gpr_log_func_args *args)
{
    (void)args; /* what matters comes as statuses and events of our own */
}

static grpc_arg integer(const char *key, int value)
{
    union {
        const char *in;
        char *out;
    } name = {key};
    return (grpc_arg){.type = GRPC_ARG_INTEGER, .key = name.out, .value.integer = value};
}

static CUZK_STATUS make_server(gserver *s, uint64_t max_inflight)
{
    grpc_resource_quota *quota = grpc_resource_quota_create("requests");
    grpc_arg args[14];
    size_t n = 0;
    union {
        const char *in;
        char *out;
    } key = {GRPC_ARG_RESOURCE_QUOTA};

    grpc_resource_quota_resize(quota, (size_t)max_inflight + s->max_message);
    args[n++] = (grpc_arg){.type = GRPC_ARG_POINTER,
                           .key = key.out,
                           .value.pointer = {quota, grpc_resource_quota_arg_vtable()}};
    args[n++] = integer(GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, (int)s->max_message);
    args[n++] = integer(GRPC_ARG_MAX_SEND_MESSAGE_LENGTH, -1);
    args[n++] = integer(GRPC_ARG_MAX_METADATA_SIZE, MAX_METADATA);
    args[n++] = integer(GRPC_ARG_KEEPALIVE_TIME_MS, KEEPALIVE_MS);
    args[n++] = integer(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, KEEPALIVE_TIMEOUT_MS);
    args[n++] = integer(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
    args[n++] = integer(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
    args[n++] = integer(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 5000);
    args[n++] = integer(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, HANDSHAKE_MS);
    args[n++] = integer(GRPC_ARG_ALLOW_REUSEPORT, 0);
    args[n++] = integer(GRPC_ARG_ENABLE_CHANNELZ, 0);
    args[n++] = integer(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0); /* grpc_message.c */
    args[n++] = integer(GRPC_ARG_HTTP2_MAX_FRAME_SIZE, MAX_FRAME);
    grpc_channel_args list = {n, args};
    s->server = grpc_server_create(&list, NULL);
    grpc_resource_quota_unref(quota);
    if (s->server == NULL) return FAIL(CUZK_ENOMEM, "gRPC server: cannot be made");
    s->cq = grpc_completion_queue_create_for_next(NULL);
    grpc_server_register_completion_queue(s->server, s->cq, NULL);
    return CUZK_OK;
}

static void set_limits(gserver *s, const gserver_config *config)
{
    atomic_store_explicit(&s->max_requests,
                          config->max_requests != 0 ? config->max_requests : DEFAULT_MAX_REQUESTS,
                          memory_order_relaxed);
    atomic_store_explicit(&s->max_inflight,
                          config->max_inflight_bytes != 0 ? config->max_inflight_bytes
                                                          : DEFAULT_MAX_INFLIGHT,
                          memory_order_relaxed);
}

static CUZK_STATUS open_parts(gserver *s, const gserver_config *config)
{
    TRY(mem_open(&s->requests, "requests", 0, NULL));
    TRY(make_server(s, atomic_load_explicit(&s->max_inflight, memory_order_relaxed)));
    TRY(glisten_open(&s->listen, s, config));
    grpc_server_start(s->server);
    for (unsigned i = 0; i < GSERVER_SLOTS; i++) gcall_ask(s);
    TRY(start_threads(s, config->threads != 0 ? config->threads : DEFAULT_THREADS));
    return glisten_start(s->listen);
}

cuzk_status gserver_open(gserver **out, const gserver_config *config)
{
    gserver *s;
    cuzk_status st;

    if (config->n_listen == 0 || config->n_listen > GSERVER_MAX_LISTEN)
        return FAIL(CUZK_EINVAL, "daemon.listen: %zu addresses, allowed 1..%d", config->n_listen,
                    GSERVER_MAX_LISTEN);
    if (config->max_message > INT32_MAX)
        return FAIL(CUZK_EINVAL, "daemon.max_message: %llu bytes, limit 2147483647",
                    (unsigned long long)config->max_message);
    if (config->threads > GSERVER_MAX_THREADS)
        return FAIL(CUZK_EINVAL, "gRPC server: %u threads, limit %d", config->threads,
                    GSERVER_MAX_THREADS);
    TRY(grpc_library_load());
    s = calloc(1, sizeof *s);
    if (s == NULL) return FAIL(CUZK_ENOMEM, "gRPC server: out of memory");
    s->methods = config->methods;
    s->n_methods = config->n_methods;
    s->access = config->access;
    s->spans = config->spans;
    s->log = config->log;
    s->call_ended = config->call_ended;
    s->log_ctx = config->log_ctx;
    s->max_message = config->max_message != 0 ? config->max_message : DEFAULT_MAX_MESSAGE;
    set_limits(s, config);
    if (pthread_mutex_init(&s->mu, NULL) != 0 || pthread_cond_init(&s->idle, NULL) != 0) {
        free(s);
        return FAIL(CUZK_ENOMEM, "gRPC server: no lock");
    }
    gpr_set_log_function(library_log);
    grpc_init();
    st = open_parts(s, config);
    if (st != CUZK_OK) {
        cuzk_error e = *cuzk_last_error();

        gserver_close(s, 0);
        return status_adopt(&e);
    }
    *out = s;
    return CUZK_OK;
}

cuzk_status gserver_reload(gserver *s, const gserver_config *config)
{
    TRY(glisten_reload_tls(s->listen, config));
    set_limits(s, config);
    return CUZK_OK;
}

const char *gserver_address(const gserver *s, size_t i)
{
    return glisten_address(s->listen, i);
}

void gserver_get_stats(gserver *s, gserver_stats *out)
{
    (void)pthread_mutex_lock(&s->mu);
    *out = s->stats;
    out->active = s->active;
    (void)pthread_mutex_unlock(&s->mu);
    out->inflight_bytes = mem_used(s->requests);
    out->connections = glisten_accepted(s->listen);
}

/* ---- stop ---- */

/** Until no call is left (or, with until_shut_down, the library has let go of all), or the time is over. */
static bool wait_idle(gserver *s, bool until_shut_down, uint64_t timeout_ms)
{
    struct timespec until;
    bool done;

    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += (time_t)(timeout_ms / 1000);
    until.tv_nsec += (long)(timeout_ms % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    (void)pthread_mutex_lock(&s->mu);
    for (;;) {
        done = until_shut_down ? s->shut_down && s->n_calls == 0 : s->active == 0;
        if (done || pthread_cond_timedwait(&s->idle, &s->mu, &until) != 0) break;
    }
    (void)pthread_mutex_unlock(&s->mu);
    return done;
}

static void shut_down(gserver *s, uint64_t timeout_ms)
{
    atomic_store_explicit(&s->stopping, true, memory_order_relaxed);
    grpc_server_shutdown_and_notify(s->server, s->cq, &s->tag_shutdown);
    (void)wait_idle(s, false, s->n_threads == 0 ? 0 : timeout_ms);
    grpc_server_cancel_all_calls(s->server);
    while (s->n_threads != 0 && !wait_idle(s, true, 10000))
        gserver_say(s, GSERVER_WARN, "grpc_calls_left", "waiting for calls to be ended");
    grpc_completion_queue_shutdown(s->cq);
}

/** A start that failed half-way: what the threads would have done. */
static void empty_queue(gserver *s)
{
    for (;;) {
        grpc_event e = grpc_completion_queue_next(s->cq, gpr_inf_future(GPR_CLOCK_MONOTONIC), NULL);

        if (e.type == GRPC_QUEUE_SHUTDOWN) return;
        if (e.type == GRPC_OP_COMPLETE) handle(s, &e);
    }
}

void gserver_close(gserver *s, uint64_t timeout_ms)
{
    if (s == NULL) return;
    if (s->listen != NULL) glisten_stop(s->listen);
    if (s->server != NULL) {
        shut_down(s, timeout_ms);
        if (s->n_threads == 0) empty_queue(s);
        for (unsigned i = 0; i < s->n_threads; i++) (void)pthread_join(s->seats[i].thread, NULL);
        grpc_server_destroy(s->server);
        grpc_completion_queue_destroy(s->cq);
    }
    glisten_close(s->listen);
    if (s->requests != NULL) mem_close(s->requests);
    (void)pthread_cond_destroy(&s->idle);
    (void)pthread_mutex_destroy(&s->mu);
    grpc_shutdown();
    free(s);
}
