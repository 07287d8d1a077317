/*
 * wire/http_request.c - one request: its body comes in, its handler runs, its answer goes out
 *
 * libmicrohttpd calls http_on_target when the first line is there, http_on_request when the head is there, for each piece
 * of the body, at its end, and once more when a suspended connection is resumed; http_on_completed in the end.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "wire/http_int.h"

#include "base/clock.h"

#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>

#define READ_ON \
    ((size_t)1 \
     << 20) /* bytes of a refused body that are read, so that the client gets to the answer */
#define FIRST_CAP ((size_t)64 << 10)

/* ---- life ---- */

/** Drops n references. */
static void drop(http_request *r, unsigned n)
{
    http_server *s = r->s;
    uint64_t answer;

    if (atomic_fetch_sub_explicit(&r->refs, n, memory_order_acq_rel) != n) return;
    answer = r->answer_reserved;
    if (r->response != NULL) MHD_destroy_response(r->response);
    http_parts_clear(r);
    mem_free(s->m, r->body);
    free(r->target);
    free(r->query_value);
    free(r->scratch);
    free(r);
    (void)pthread_mutex_lock(&s->mu);
    s->counts.inflight_bytes -= answer;
    s->n_live--; /* the server may go once there is none */
    (void)pthread_cond_broadcast(&s->idle_cond);
    (void)pthread_mutex_unlock(&s->mu);
}

void http_request_unref(http_request *r)
{
    drop(r, 1);
}

void *http_on_target(void *server, const char *target, struct MHD_Connection *c)
{
    http_server *s = server;
    const union MHD_ConnectionInfo *i =
        MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    http_conn *conn = i == NULL ? NULL : i->socket_context;
    http_request *r;

    if (conn == NULL || target == NULL) return NULL;
    r = calloc(1, sizeof *r);
    if (r == NULL) return NULL;
    atomic_init(&r->refs, 2); /* libmicrohttpd's, and the answer's */
    r->s = s;
    r->conn = conn;
    r->run.r = r->leave.r = r;
    r->leave.gone = true;
    r->start_ns = clock_ns();
    (void)pthread_mutex_lock(&s->mu);
    s->n_live++;
    (void)pthread_mutex_unlock(&s->mu);
    if (strlen(target) <= HTTP_MAX_TARGET) r->target = strdup(target); /* NULL: refused later */
    return r;
}

static void write_peer(http_request *r, struct MHD_Connection *c)
{
    const union MHD_ConnectionInfo *i =
        MHD_get_connection_info(c, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    net_peer p = {.known = true, .is_unix = r->conn->l->is_unix};

    if (!p.is_unix) net_peer_from(&p, i == NULL ? NULL : i->client_addr, NET_SOCKADDR_MAX);
    net_peer_write(r->peer, &p);
}

/** No longer among the active; its body's bytes are free again. */
static void give_room_back(http_request *r)
{
    http_server *s = r->s;

    (void)pthread_mutex_lock(&s->mu);
    s->counts.requests++;
    s->counts.bytes_in += r->received;
    s->counts.bytes_out += r->answer_size;
    if (r->counted) {
        s->counts.active--;
        s->counts.inflight_bytes -= r->reserved;
        r->counted = false;
        (void)pthread_cond_broadcast(&s->idle_cond);
    }
    (void)pthread_mutex_unlock(&s->mu);
}

static void say_done(const http_request *r, unsigned status)
{
    http_done d = {.method = r->method, .peer = r->peer, .status = status, .received = r->received};
    char path[160];
    size_t n = r->path_len < sizeof path - 1 ? r->path_len : sizeof path - 1;

    if (r->s->done == NULL || r->method[0] == 0) return;
    if (r->target != NULL) memcpy(path, r->target, n);
    path[r->target == NULL ? 0 : n] = 0;
    d.path = path;
    d.sent = r->answer_size;
    d.ms = (clock_ns() - r->start_ns) / 1000000;
    d.changes = r->changes;
    r->s->done(r->s->ctx, &d);
}

void http_on_completed(void *listener, struct MHD_Connection *c, void **request,
                       enum MHD_RequestTerminationCode why)
{
    http_request *r = *request;
    bool sent = why == MHD_REQUEST_TERMINATED_COMPLETED_OK;

    (void)listener;
    (void)c;
    if (r == NULL) return;
    *request = NULL;
    if (r->phase == HTTP_TAKING) r->s->n_receiving--;
    if (r->phase == HTTP_ANSWERED) r->s->n_sending--;
    if (r->stream != NULL) http_stream_end(r);
    give_room_back(r);
    say_done(r, sent ? r->status : 0);
    r->conn->busy = false;
    r->conn->since_ns = clock_ns();
    /* One that has not come to its handler: nobody will answer it. */
    drop(r, r->phase == HTTP_NEW || r->phase == HTTP_TAKING ? 2 : 1);
}

/* ---- suspending ---- */

void http_park(http_request *r)
{
    struct epoll_event e = {.events = EPOLLRDHUP | EPOLLONESHOT, .data.ptr = r};

    MHD_suspend_connection(r->conn->c);
    /* Not watched when this fails: the client's leaving is then noticed with the answer. */
    (void)epoll_ctl(r->s->epoll_fd, EPOLL_CTL_ADD, r->conn->fd, &e);
    r->parked = true;
}

void http_unpark(http_request *r)
{
    if (!r->parked) return;
    r->parked = false;
    (void)epoll_ctl(r->s->epoll_fd, EPOLL_CTL_DEL, r->conn->fd, NULL);
    MHD_resume_connection(r->conn->c);
}

/* ---- what libmicrohttpd calls ---- */

static enum MHD_Result answer(http_request *r, struct MHD_Connection *c)
{
    enum MHD_Result done;
    span t = span_open(SPAN_SEND);

    if (r->phase == HTTP_TAKING) r->s->n_receiving--;
    if (r->phase != HTTP_ANSWERED) r->s->n_sending++;
    r->phase = HTTP_ANSWERED;
    r->status = r->reply_status;
    if (r->cors[0] != 0) {
        (void)MHD_add_response_header(r->response, "Access-Control-Allow-Origin", r->cors);
        (void)MHD_add_response_header(r->response, MHD_HTTP_HEADER_VARY, "Origin");
    }
    done = MHD_queue_response(c, r->status, r->response);
    span_close(&t);
    return done;
}

/** Runs the handler here, or has a worker run it while the connection sleeps. */
static enum MHD_Result dispatch(http_request *r, struct MHD_Connection *c)
{
    http_server *s = r->s;

    if (r->phase == HTTP_TAKING) s->n_receiving--;
    r->phase = HTTP_RUNNING;
    if ((r->route->flags & HTTP_EVENTS) != 0) {
        if (http_stream_start(r, c) != CUZK_OK)
            http_reply_error(r, MHD_HTTP_SERVICE_UNAVAILABLE, CUZK_CLASS_LIMIT, "events",
                             "too many streams of events");
        if (r->replied) return answer(r, c);
        return MHD_YES;
    }
    if ((r->route->flags & HTTP_QUICK) != 0) {
        r->route->handle(s->ctx, r);
        return r->replied ? answer(r, c) : MHD_NO;
    }
    http_park(r);
    (void)pthread_mutex_lock(&s->mu);
    r->waiting = r->owes = true;
    r->prev = NULL;
    r->next = s->owing;
    if (s->owing != NULL) s->owing->prev = r;
    s->owing = r;
    s->counts.waiting++;
    http_push_work_locked(s, &r->run);
    (void)pthread_mutex_unlock(&s->mu);
    return MHD_YES;
}

/** The head is there. */
static enum MHD_Result begin(http_request *r, struct MHD_Connection *c, const char *method)
{
    http_refusal no;
    const char *length =
        MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH);
    const char *chunks =
        MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_TRANSFER_ENCODING);

    r->conn->busy = true;
    write_peer(r, c);
    snprintf(r->method, sizeof r->method, "%s", method);
    r->is_head = strcmp(method, MHD_HTTP_METHOD_HEAD) == 0;
    r->changes = !r->is_head && strcmp(method, MHD_HTTP_METHOD_GET) != 0 &&
                 strcmp(method, MHD_HTTP_METHOD_OPTIONS) != 0;
    if (r->target == NULL) {
        http_reply_error(r, MHD_HTTP_URI_TOO_LONG, CUZK_CLASS_LIMIT, "path", "longer than 16 KiB");
        return answer(r, c);
    }
    if (http_preflight(r, c)) return answer(r, c);
    http_guard(r, c, &no);
    if (no.status == 0) {
        r->phase = HTTP_TAKING;
        r->s->n_receiving++;
        return MHD_YES;
    }
    http_reply_refusal(r, &no);
    if (chunks == NULL && length != NULL && strlen(length) <= 7 && strcmp(length, "0") != 0) {
        r->s->n_sending++;
        r->phase = HTTP_ANSWERED; /* once its few bytes have been read */
        return MHD_YES;
    }
    return answer(r, c);
}

/** Room for n more bytes of a body: four times what has come at most, and never more than its head told. */
static bool grow(http_request *r, size_t n)
{
    http_server *s = r->s;
    size_t cap = r->cap == 0 ? FIRST_CAP : r->cap;
    cuzk_status st;
    uint8_t *p;
    bool room;

    if (r->cap != 0) cap *= r->want == 0 ? 2 : 4;
    while (cap < r->body_size + n) cap *= 2;
    if (cap > s->max_body) cap = s->max_body;
    if (r->want >= r->body_size + n && cap > r->want) cap = r->want;
    if (cap == r->cap) return true;
    (void)pthread_mutex_lock(&s->mu);
    room = s->counts.inflight_bytes + (cap - r->reserved) <= s->max_inflight;
    if (room) {
        s->counts.inflight_bytes += cap - r->reserved;
        r->reserved = cap;
    }
    (void)pthread_mutex_unlock(&s->mu);
    if (!room) return false;
    p = mem_new(s->m, 1, cap, &st);
    if (p == NULL) return false;
    if (r->body_size != 0) memcpy(p, r->body, r->body_size);
    mem_free(s->m, r->body);
    r->body = p;
    r->cap = cap;
    return true;
}

/** A piece of the body; false: the connection ends. */
static bool take(http_request *r, const char *p, size_t n)
{
    uint64_t ms = (clock_ns() - r->start_ns) / 1000000;

    r->received += n;
    if (r->phase == HTTP_ANSWERED) return r->received <= READ_ON * 10; /* refused */
    if (ms > r->s->header_ms + r->received * 1000 / r->s->min_rate) return false;
    if (n > r->s->max_body - r->body_size) r->too_long = true;
    if (!r->too_long && n > r->cap - r->body_size && !grow(r, n)) r->no_room = true;
    if (r->too_long || r->no_room) return r->received <= r->s->max_body + READ_ON;
    memcpy(r->body + r->body_size, p, n);
    r->body_size += n;
    return true;
}

enum MHD_Result http_on_request(void *listener, struct MHD_Connection *c, const char *url,
                                const char *method, const char *version, const char *upload,
                                size_t *upload_size, void **request)
{
    http_request *r = *request;

    (void)listener;
    (void)url; /* decoded in place by libmicrohttpd; r->target is what came */
    (void)version;
    if (r == NULL) return MHD_NO; /* no memory */
    if (r->phase == HTTP_NEW) return begin(r, c, method);
    if (*upload_size != 0) {
        size_t n = *upload_size;

        *upload_size = 0;
        return take(r, upload, n) ? MHD_YES : MHD_NO;
    }
    if (r->phase == HTTP_TAKING) {
        if (!r->too_long && !r->no_room) return dispatch(r, c);
        if (r->no_room)
            http_reply_error(r, MHD_HTTP_TOO_MANY_REQUESTS, CUZK_CLASS_LIMIT, "requests",
                             "no room for the body beside others (daemon.max_inflight_bytes)");
        else
            http_reply_error(r, MHD_HTTP_CONTENT_TOO_LARGE, CUZK_CLASS_LIMIT, "body",
                             "longer than daemon.max_message");
    }
    return r->replied ? answer(r, c) : MHD_YES;
}
