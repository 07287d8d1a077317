/*
 * wire/http_server.c - the HTTP server's threads, its opening, reload and end
 *
 * The net thread waits on one epoll: the daemons' own, the eventfd by which others wake it, and the sockets of
 * connections that sleep (so that a client's leaving is noticed). Then it does what others have asked for, and lets
 * each daemon do what its sockets are ready for.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "wire/http_int.h"

#include "base/clock.h"
#include "base/signals.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define EVENTS 64
#define SWEEP_NS UINT64_C(1000000000)
#define LAST_NS UINT64_C(1000000000)

/* ---- reaching the net thread ---- */

void http_wake(http_server *s)
{
    uint64_t one = 1;
    ssize_t n = write(s->wake_fd, &one, sizeof one);

    (void)n; /* full means that it is awake already */
}

void http_push_work_locked(http_server *s, http_work *w)
{
    atomic_fetch_add_explicit(&w->r->refs, 1, memory_order_relaxed);
    w->next = NULL;
    if (s->work_last == NULL)
        s->work_first = w;
    else
        s->work_last->next = w;
    s->work_last = w;
    (void)pthread_cond_signal(&s->work_cond);
}

void http_trouble(http_server *s, const char *text)
{
    uint64_t now = clock_ns();

    if (s->trouble == NULL || (s->trouble_ns != 0 && now - s->trouble_ns < SWEEP_NS)) return;
    s->trouble_ns = now;
    s->trouble(s->ctx, text);
}

void http_server_event(http_server *s, const char *text, size_t size)
{
    static const char before[] = "data: ", after[] = "\n\n";
    size_t whole = size + sizeof before + sizeof after - 2;

    (void)pthread_mutex_lock(&s->mu);
    if (whole <= HTTP_EVENT_BUFFER - s->events_size) {
        uint8_t *p = s->events + s->events_size;

        memcpy(p, before, sizeof before - 1);
        memcpy(p + sizeof before - 1, text, size);
        memcpy(p + sizeof before - 1 + size, after, sizeof after - 1);
        s->events_size += whole;
    } else {
        s->counts.events_dropped++;
    }
    (void)pthread_mutex_unlock(&s->mu);
    http_wake(s);
}

void http_server_counts(http_server *s, http_counts *out)
{
    (void)pthread_mutex_lock(&s->mu);
    *out = s->counts;
    (void)pthread_mutex_unlock(&s->mu);
}

const char *http_server_address(const http_server *s, size_t i)
{
    return i < s->n_addresses ? s->addresses[i] : NULL;
}

/* ---- workers ---- */

static void run_work(http_server *s, http_work *w)
{
    void (*fn)(void *) = NULL;
    void *ctx = NULL;

    if (!w->gone) {
        w->r->route->handle(s->ctx, w->r);
    } else {
        (void)pthread_mutex_lock(&s->mu);
        if (!w->r->gone_called) {
            fn = w->r->on_gone;
            ctx = w->r->gone_ctx;
            w->r->gone_called = fn != NULL;
        }
        (void)pthread_mutex_unlock(&s->mu);
        if (fn != NULL) fn(ctx);
    }
    http_request_unref(w->r);
}

static void *worker_main(void *server)
{
    http_server *s = server;
    char name[32];
    unsigned k;
    span idle;

    (void)pthread_mutex_lock(&s->mu);
    k = s->n_started++;
    (void)pthread_mutex_unlock(&s->mu);
    snprintf(name, sizeof name, "http worker %u", k);
    if (s->spans != NULL && span_attach(s->spans, name) != CUZK_OK) (void)0; /* goes unrecorded */
    for (;;) {
        idle = span_open(SPAN_IDLE);
        (void)pthread_mutex_lock(&s->mu);
        while (s->work_first == NULL && !s->stop_workers)
            (void)pthread_cond_wait(&s->work_cond, &s->mu);
        http_work *w = s->work_first;
        if (w != NULL) s->work_first = w->next;
        if (s->work_first == NULL) s->work_last = NULL;
        (void)pthread_mutex_unlock(&s->mu);
        span_close(&idle);
        if (w == NULL) break;
        run_work(s, w);
    }
    if (s->spans != NULL) span_detach();
    return NULL;
}

/* ---- the net thread ---- */

static void watch(http_server *s, http_listener *l)
{
    struct epoll_event e = {.events = EPOLLIN};

    if (epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, l->epoll_fd, &e) != 0)
        http_trouble(s, "a listener cannot be watched");
}

/** The client of a sleeping connection has gone. */
static void client_gone(http_server *s, http_request *r)
{
    if (r->stream != NULL) {
        r->stream->dead = true;
        http_unpark(r);
        return;
    }
    (void)pthread_mutex_lock(&s->mu);
    if (!r->gone && !r->replied) {
        r->gone = true;
        if (r->on_gone != NULL && !r->gone_called) http_push_work_locked(s, &r->leave);
    }
    (void)pthread_mutex_unlock(&s->mu);
}

static void retire(http_listener *l)
{
    if (l->retired) return;
    l->retired = true;
    (void)MHD_quiesce_daemon(l->daemon);
    (void)close(l->fd);
    l->fd = -1;
}

/** Listeners of a reload in place of those that there are. */
static void take_fresh(http_server *s)
{
    http_listener *fresh[HTTP_MAX_SOCKETS];
    size_t n;

    (void)pthread_mutex_lock(&s->mu);
    n = s->n_fresh;
    for (size_t i = 0; i < n; i++) fresh[i] = s->fresh[i];
    (void)pthread_mutex_unlock(&s->mu);
    if (n == 0) return;
    for (size_t i = 0; i < s->n_listeners; i++) retire(s->listeners[i]);
    for (size_t i = 0; i < n; i++) watch(s, fresh[i]);
    (void)pthread_mutex_lock(&s->mu);
    for (size_t i = 0; i < n; i++) s->listeners[s->n_listeners++] = fresh[i];
    s->n_fresh = 0;
    (void)pthread_cond_broadcast(&s->idle_cond);
    (void)pthread_mutex_unlock(&s->mu);
}

/** What others have asked for: answers to send, events, an end. */
static void do_asked(http_server *s)
{
    http_request *wake;
    size_t size;
    bool quiet, look;

    take_fresh(s);
    (void)pthread_mutex_lock(&s->mu);
    wake = s->wake_first;
    s->wake_first = NULL;
    size = s->events_size;
    if (size != 0) {
        uint8_t *swap = s->events;
        s->events = s->events_spare;
        s->events_spare = swap;
        s->events_size = 0;
    }
    quiet = s->stop_listening;
    look = s->look_at_streams;
    s->look_at_streams = false;
    s->counts.streams = s->n_streams;
    s->counts.connections = s->n_conns;
    (void)pthread_mutex_unlock(&s->mu);
    while (wake != NULL) {
        http_request *r = wake;

        wake = r->next_wake;
        http_unpark(r);
    }
    if (look) http_streams_close(s, false);
    http_streams_feed(s, s->events_spare, size);
    if (quiet && !s->quiet) {
        s->quiet = true;
        for (size_t i = 0; i < s->n_listeners; i++) retire(s->listeners[i]);
        http_streams_close(s, true);
    }
}

/** Connections that are silent for too long, and daemons that a reload has replaced, end. */
static void sweep(http_server *s, uint64_t now)
{
    uint64_t limit = (uint64_t)s->header_ms * 1000000;
    http_listener *over[HTTP_MAX_LISTENERS];
    size_t n = 0, n_over = 0;

    if (now - s->sweep_ns < SWEEP_NS && !s->quiet) return;
    s->sweep_ns = now;
    for (http_conn *c = s->conns; c != NULL; c = c->next)
        if (!c->busy && (s->quiet || now - c->since_ns > limit)) (void)shutdown(c->fd, SHUT_RDWR);
    (void)pthread_mutex_lock(&s->mu);
    for (size_t i = 0; i < s->n_listeners; i++) {
        http_listener *l = s->listeners[i];
        const union MHD_DaemonInfo *info =
            MHD_get_daemon_info(l->daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);

        if (l->retired && !s->quiet && info != NULL && info->num_connections == 0)
            over[n_over++] = l;
        else
            s->listeners[n++] = l;
    }
    s->n_listeners = n;
    (void)pthread_mutex_unlock(&s->mu);
    while (n_over > 0) http_listener_free(over[--n_over]);
}

static int wait_ms(const http_server *s)
{
    MHD_UNSIGNED_LONG_LONG ms, least = s->quiet ? 20 : 1000;

    for (size_t i = 0; i < s->n_listeners; i++)
        if (MHD_get_timeout(s->listeners[i]->daemon, &ms) == MHD_YES && ms < least) least = ms;
    return (int)least;
}

static void wait_for_events(http_server *s)
{
    struct epoll_event e[EVENTS];
    uint64_t count;
    span idle = span_open(SPAN_IDLE);
    int n = epoll_wait(s->epoll_fd, e, EVENTS, wait_ms(s));

    span_close(&idle);
    for (int i = 0; i < n; i++) {
        if (e[i].data.ptr == s) {
            ssize_t got = read(s->wake_fd, &count, sizeof count);
            (void)got; /* nothing there: woken twice */
        } else if (e[i].data.ptr != NULL) {
            client_gone(s, e[i].data.ptr);
        }
    }
}

static void *net_main(void *server)
{
    http_server *s = server;
    bool stop = false;

    if (s->spans != NULL && span_attach(s->spans, "http net") != CUZK_OK) (void)0;
    for (size_t i = 0; i < s->n_listeners; i++) watch(s, s->listeners[i]);
    s->ping_ns = s->sweep_ns = clock_ns();
    while (!stop) {
        span work;

        wait_for_events(s);
        work = span_open(s->n_receiving == 0 && s->n_sending != 0 ? SPAN_SEND : SPAN_RECEIVE);
        do_asked(s);
        for (size_t i = 0; i < s->n_listeners; i++) (void)MHD_run(s->listeners[i]->daemon);
        sweep(s, clock_ns());
        span_close(&work);
        (void)pthread_mutex_lock(&s->mu);
        stop = s->stop_net;
        (void)pthread_mutex_unlock(&s->mu);
    }
    /* Connections that sleep would keep libmicrohttpd from ending. */
    do_asked(s);
    http_streams_close(s, true);
    for (size_t i = 0; i < s->n_listeners; i++) (void)MHD_run(s->listeners[i]->daemon);
    if (s->spans != NULL) span_detach();
    return NULL;
}

/* ---- opening ---- */

static void free_texts(char **list, size_t n)
{
    for (size_t i = 0; list != NULL && i < n; i++) free(list[i]);
    free(list);
}

static cuzk_status copy_texts(char ***out, const char *const *from, size_t n,
                              cuzk_status (*check)(const char *))
{
    char **list = calloc(n + 1, sizeof *list);
    cuzk_status st = CUZK_OK;

    if (list == NULL) return FAIL(CUZK_ENOMEM, "HTTP server: out of memory");
    for (size_t i = 0; i < n; i++) {
        TRY_OUT(check(from[i]));
        list[i] = strdup(from[i]);
        if (list[i] == NULL) {
            st = FAIL(CUZK_ENOMEM, "HTTP server: out of memory");
            goto out;
        }
    }
    *out = list;
    list = NULL;
out:
    free_texts(list, n);
    return st;
}

/** Origins and names of c; *origins is NULL after a failure. */
static cuzk_status copy_lists(char ***origins, char ***names, const http_server_config *c)
{
    cuzk_status st;

    TRY(copy_texts(origins, c->cors_origins, c->n_cors_origins, http_origin_check));
    st = copy_texts(names, c->host_names, c->n_host_names, http_host_name_check);
    if (st == CUZK_OK) return CUZK_OK;
    free_texts(*origins, c->n_cors_origins);
    *origins = NULL;
    return st;
}

static void server_free(http_server *s)
{
    for (size_t i = 0; i < s->n_listeners; i++) {
        if (s->listeners[i]->is_unix) (void)unlink(s->listeners[i]->path);
        http_listener_free(s->listeners[i]);
    }
    (void)pthread_mutex_lock(&s->mu);
    while (s->n_live != 0)
        (void)pthread_cond_wait(&s->idle_cond, &s->mu); /* inside of http_reply */
    (void)pthread_mutex_unlock(&s->mu);
    if (s->epoll_fd >= 0) (void)close(s->epoll_fd);
    if (s->wake_fd >= 0) (void)close(s->wake_fd);
    free_texts(s->origins, s->n_origins);
    free_texts(s->names, s->n_names);
    free(s->events);
    free(s->events_spare);
    (void)pthread_cond_destroy(&s->work_cond);
    (void)pthread_cond_destroy(&s->idle_cond);
    (void)pthread_mutex_destroy(&s->mu);
    if (s->m != NULL) mem_close(s->m);
    free(s);
}

static cuzk_status server_new(http_server **out, const http_server_config *c)
{
    http_server *s = calloc(1, sizeof *s);
    pthread_condattr_t attr;

    if (s == NULL) return FAIL(CUZK_ENOMEM, "HTTP server: out of memory");
    *out = s;
    s->epoll_fd = s->wake_fd = -1;
    (void)pthread_mutex_init(&s->mu, NULL);
    (void)pthread_condattr_init(&attr);
    (void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&s->work_cond, &attr);
    (void)pthread_cond_init(&s->idle_cond, &attr);
    (void)pthread_condattr_destroy(&attr);
    s->routes = c->routes;
    s->n_routes = c->n_routes;
    s->ctx = c->ctx;
    s->done = c->done;
    s->trouble = c->trouble;
    s->spans = c->spans;
    s->rules = c->rules;
    s->max_body = c->max_body;
    s->min_rate = c->min_rate;
    s->header_ms = c->header_ms;
    s->max_streams = c->max_streams;
    s->n_workers = c->workers < HTTP_MAX_WORKERS ? c->workers : HTTP_MAX_WORKERS;
    s->max_requests = c->max_requests;
    s->max_inflight = c->max_inflight;
    if (gethostname(s->host_name, sizeof s->host_name - 1) != 0) s->host_name[0] = 0;
    TRY(mem_open(&s->m, "http", 0, NULL));
    TRY(copy_lists(&s->origins, &s->names, c));
    s->n_origins = c->n_cors_origins;
    s->n_names = c->n_host_names;
    s->events = malloc(HTTP_EVENT_BUFFER);
    s->events_spare = malloc(HTTP_EVENT_BUFFER);
    if (s->events == NULL || s->events_spare == NULL)
        return FAIL(CUZK_ENOMEM, "HTTP server: out of memory");
    s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    s->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = s};
    if (s->epoll_fd < 0 || s->wake_fd < 0 ||
        epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, s->wake_fd, &e) != 0)
        return status_fail(__FILE__, __LINE__, CUZK_EIO, CUZK_CLASS_RESOURCE, "",
                           "HTTP server: no file descriptors left");
    return http_listeners_open(s, c, s->listeners, HTTP_MAX_SOCKETS, &s->n_listeners);
}

static void join_workers(http_server *s, unsigned n)
{
    (void)pthread_mutex_lock(&s->mu);
    s->stop_workers = true;
    (void)pthread_cond_broadcast(&s->work_cond);
    (void)pthread_mutex_unlock(&s->mu);
    for (unsigned i = 0; i < n; i++) (void)pthread_join(s->workers[i], NULL);
}

static cuzk_status start_threads(http_server *s)
{
    sigset_t old;
    unsigned n = 0;
    int err = 0;

    signals_block(&old); /* signals are the program's own thread's */
    while (n < s->n_workers && err == 0) {
        err = pthread_create(&s->workers[n], NULL, worker_main, s);
        n += err == 0;
    }
    if (err == 0) err = pthread_create(&s->net, NULL, net_main, s);
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (err == 0) return CUZK_OK;
    join_workers(s, n);
    return FAIL(CUZK_ENOMEM, "HTTP server: cannot start a thread");
}

cuzk_status http_server_open(http_server **out, const http_server_config *config)
{
    http_server *s = NULL;
    cuzk_status st;

    TRY(http_library_load());
    st = server_new(&s, config);
    if (st == CUZK_OK)
        *out = s;
    else if (s != NULL)
        server_free(s);
    return st;
}

cuzk_status http_server_start(http_server *s)
{
    TRY(start_threads(s));
    s->started = true;
    return CUZK_OK;
}

/** The listeners in force, when there is room for as many more; listeners change only by a reload and at the end. */
static cuzk_status listeners_now(http_server *s, http_listener *out[HTTP_MAX_SOCKETS], size_t *n,
                                 bool *any_tls)
{
    bool room;

    *n = 0;
    *any_tls = false;
    (void)pthread_mutex_lock(&s->mu);
    for (size_t i = 0; i < s->n_listeners; i++) {
        if (s->listeners[i]->retired || *n == HTTP_MAX_SOCKETS) continue;
        out[(*n)++] = s->listeners[i];
        *any_tls = *any_tls || s->listeners[i]->tls;
    }
    room = s->n_listeners + *n <= HTTP_MAX_LISTENERS;
    (void)pthread_mutex_unlock(&s->mu);
    if (*any_tls && !room)
        return FAIL(CUZK_EBUDGET, "connections of too many earlier reloads stand");
    return CUZK_OK;
}

cuzk_status http_server_reload(http_server *s, const http_server_config *config)
{
    http_listener *now[HTTP_MAX_SOCKETS], *fresh[HTTP_MAX_SOCKETS];
    char **origins, **old_origins, **names, **old_names;
    size_t n_old, n_old_names, n;
    bool any_tls;
    cuzk_status st;

    TRY(listeners_now(s, now, &n, &any_tls));
    TRY(copy_lists(&origins, &names, config));
    st = any_tls ? http_listeners_renew(s, config, now, n, fresh) : CUZK_OK;
    if (st != CUZK_OK) {
        free_texts(origins, config->n_cors_origins);
        free_texts(names, config->n_host_names);
        return st;
    }
    (void)pthread_mutex_lock(&s->mu);
    old_origins = s->origins;
    n_old = s->n_origins;
    s->origins = origins;
    s->n_origins = config->n_cors_origins;
    old_names = s->names;
    n_old_names = s->n_names;
    s->names = names;
    s->n_names = config->n_host_names;
    s->max_requests = config->max_requests;
    s->max_inflight = config->max_inflight;
    s->look_at_streams = true;
    http_wake(s);
    if (any_tls) {
        s->fresh = fresh;
        s->n_fresh = n;
        while (s->n_fresh != 0) (void)pthread_cond_wait(&s->idle_cond, &s->mu);
    }
    (void)pthread_mutex_unlock(&s->mu);
    free_texts(old_origins, n_old);
    free_texts(old_names, n_old_names);
    return CUZK_OK;
}

/* ---- the end ---- */

/** Waits on idle_cond; false: until_ns has come. */
static bool wait_locked(http_server *s, uint64_t until_ns)
{
    struct timespec ts = {.tv_sec = (time_t)(until_ns / 1000000000),
                          .tv_nsec = (long)(until_ns % 1000000000)};

    return pthread_cond_timedwait(&s->idle_cond, &s->mu, &ts) != ETIMEDOUT;
}

void http_server_close(http_server *s, uint64_t timeout_ms)
{
    uint64_t until;

    if (s == NULL) return;
    if (!s->started) {
        server_free(s);
        return;
    }
    (void)pthread_mutex_lock(&s->mu);
    s->stop_listening = true;
    http_wake(s);
    until = clock_ns() + timeout_ms * 1000000;
    while (s->owing != NULL && wait_locked(s, until)) continue;
    for (http_request *r = s->owing; r != NULL; r = r->next) {
        r->closing = true;
        if (r->on_gone != NULL && !r->gone_called && !r->gone) http_push_work_locked(s, &r->leave);
        r->gone = true;
    }
    while (s->owing != NULL) (void)pthread_cond_wait(&s->idle_cond, &s->mu);
    /* Answers go out; whoever does not read his within a second has had his time. */
    until = clock_ns() + LAST_NS;
    while (s->n_live != 0 && wait_locked(s, until)) continue;
    s->stop_net = true;
    (void)pthread_mutex_unlock(&s->mu);
    http_wake(s);
    (void)pthread_join(s->net, NULL);
    join_workers(s, s->n_workers);
    server_free(s);
}
