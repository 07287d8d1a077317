/*
 * wire/http_stream.c - streams of server-sent events
 *
 * Lines come from anywhere into one buffer of the server; the net thread copies them into a ring of each stream. A stream
 * that has nothing to send sleeps; one whose ring is full is ended, and its client reads everything anew.
 * Source: WHATWG HTML, section 9.2 (event stream).
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "wire/http_int.h"

#include "base/clock.h"

#include <string.h>
#include <sys/socket.h>

#define BLOCK 16384

/** n bytes at the end of the ring; the stream is dead when they do not fit. */
static void put(http_stream *t, const void *p, size_t n)
{
    size_t at = (t->head + t->size) % HTTP_CLIENT_BUFFER, first = HTTP_CLIENT_BUFFER - at;

    if (n > HTTP_CLIENT_BUFFER - t->size) {
        t->dead = true;
        return;
    }
    if (first > n) first = n;
    memcpy(t->buf + at, p, first);
    memcpy(t->buf, (const uint8_t *)p + first, n - first);
    t->size += n;
}

/** libmicrohttpd wants up to max bytes; with none there the connection sleeps. */
static ssize_t on_read(void *stream, uint64_t pos, char *out, size_t max)
{
    http_stream *t = stream;
    size_t n = t->size < max ? t->size : max, first = HTTP_CLIENT_BUFFER - t->head;

    (void)pos;
    if (t->dead) return MHD_CONTENT_READER_END_OF_STREAM;
    if (n == 0) {
        if (!t->r->parked) http_park(t->r);
        return 0;
    }
    if (first > n) first = n;
    memcpy(out, t->buf + t->head, first);
    memcpy(out + first, t->buf, n - first);
    t->head = (t->head + n) % HTTP_CLIENT_BUFFER;
    t->size -= n;
    t->r->answer_size += n;
    return (ssize_t)n;
}

cuzk_status http_stream_start(http_request *r, struct MHD_Connection *c)
{
    static const char hello[] = "retry: 1000\n: cuzk\n\n";
    http_server *s = r->s;
    http_stream *t;
    struct MHD_Response *m;

    (void)c;
    if (s->n_streams >= s->max_streams || s->quiet)
        return FAIL(CUZK_EBUDGET, "%u streams of events, limit %u", s->n_streams, s->max_streams);
    t = calloc(1, sizeof *t);
    if (t == NULL) return FAIL(CUZK_ENOMEM, "event stream: out of memory");
    t->buf = malloc(HTTP_CLIENT_BUFFER);
    m = t->buf == NULL
            ? NULL
            : MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, on_read, t, NULL);
    if (m == NULL) {
        free(t->buf);
        free(t);
        return FAIL(CUZK_ENOMEM, "event stream: out of memory");
    }
    t->r = r;
    put(t, hello, sizeof hello - 1);
    t->next = s->streams;
    s->streams = t;
    s->n_streams++;
    r->stream = t;
    (void)MHD_add_response_header(m, MHD_HTTP_HEADER_CONTENT_TYPE, "text/event-stream");
    (void)MHD_add_response_header(m, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    (void)MHD_add_response_header(m, "X-Accel-Buffering", "no"); /* proxies pass it on at once */
    http_reply_response(r, MHD_HTTP_OK, m);
    return CUZK_OK;
}

void http_stream_end(http_request *r)
{
    http_server *s = r->s;
    http_stream **at = &s->streams;

    while (*at != NULL && *at != r->stream) at = &(*at)->next;
    if (*at != NULL) *at = r->stream->next;
    s->n_streams--;
    free(r->stream->buf);
    free(r->stream);
    r->stream = NULL;
}

static void feed(http_server *s, const void *text, size_t size)
{
    for (http_stream *t = s->streams; t != NULL; t = t->next) {
        bool was_dead = t->dead;

        if (!t->dead) put(t, text, size);
        if (t->dead && !was_dead) {
            (void)shutdown(t->r->conn->fd, SHUT_RDWR);
            (void)pthread_mutex_lock(&s->mu);
            s->counts.streams_dropped++;
            (void)pthread_mutex_unlock(&s->mu);
        }
        http_unpark(t->r);
    }
}

void http_streams_feed(http_server *s, const uint8_t *lines, size_t size)
{
    static const char ping[] = ": still here\n\n";
    uint64_t now = clock_ns();

    if (size != 0) {
        s->ping_ns = now;
        feed(s, lines, size);
    } else if (now - s->ping_ns > HTTP_PING_NS) {
        s->ping_ns = now;
        feed(s, ping, sizeof ping - 1);
    }
}

void http_streams_close(http_server *s, bool all)
{
    for (http_stream *t = s->streams; t != NULL; t = t->next) {
        if (!all && http_still_may(t->r)) continue;
        t->dead = true;
        http_unpark(t->r);
    }
}
