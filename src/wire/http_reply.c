/*
 * wire/http_reply.c - what a handler sees of a request, and its answer
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "wire/http_int.h"

#include "base/json.h"

#include <stdio.h>
#include <string.h>

const char *http_request_target(const http_request *r)
{
    return r->target;
}

const char *http_request_part(const http_request *r, unsigned i)
{
    return i < HTTP_MAX_PARTS && r->parts[i] != NULL ? r->parts[i] : "";
}

const char *http_request_header(http_request *r, const char *name)
{
    return MHD_lookup_connection_value(r->conn->c, MHD_HEADER_KIND, name);
}

const uint8_t *http_request_body(const http_request *r, size_t *size)
{
    *size = r->body_size;
    return r->body;
}

const char *http_request_owner(const http_request *r)
{
    return r->owner;
}

const char *http_request_confined(const http_request *r)
{
    return access_confined(r->scopes, r->owner);
}

bool http_request_closing(const http_request *r)
{
    (void)pthread_mutex_lock(&r->s->mu);
    bool closing = r->closing;
    (void)pthread_mutex_unlock(&r->s->mu);
    return closing;
}

void *http_request_scratch(http_request *r, size_t size)
{
    if (r->scratch == NULL) r->scratch = calloc(1, size);
    return r->scratch;
}

void http_request_on_gone(http_request *r, void (*fn)(void *ctx), void *ctx)
{
    http_server *s = r->s;
    bool now;

    (void)pthread_mutex_lock(&s->mu);
    now = (r->gone || r->closing) && !r->replied;
    r->gone_called = now;
    if (!now) {
        r->on_gone = fn;
        r->gone_ctx = ctx;
    }
    (void)pthread_mutex_unlock(&s->mu);
    if (now) fn(ctx);
}

/* ---- answers ---- */

static void add_headers(struct MHD_Response *m, const char *content_type, const http_pair *pairs,
                        size_t n_pairs)
{
    bool cache = false;

    if (content_type != NULL)
        (void)MHD_add_response_header(m, MHD_HTTP_HEADER_CONTENT_TYPE, content_type);
    (void)MHD_add_response_header(m, "X-Content-Type-Options", "nosniff");
    for (size_t i = 0; i < n_pairs; i++) {
        (void)MHD_add_response_header(m, pairs[i].name, pairs[i].value);
        cache = cache || strcmp(pairs[i].name, MHD_HTTP_HEADER_CACHE_CONTROL) == 0;
    }
    if (!cache) (void)MHD_add_response_header(m, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
}

/** m: NULL when there was no memory for it; moved. */
static void reply(http_request *r, unsigned status, struct MHD_Response *m, size_t size)
{
    http_server *s = r->s;
    bool wake = false, taken = false;

    if (m == NULL) {
        m = MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
        status = MHD_HTTP_INTERNAL_SERVER_ERROR;
        size = 0;
    }
    (void)pthread_mutex_lock(&s->mu);
    if (!r->replied) {
        r->replied = taken = true;
        r->response = m;
        r->reply_status = status;
        r->answer_size = size;
        if (r->owes) {
            *(r->prev == NULL ? &s->owing : &r->prev->next) = r->next;
            if (r->next != NULL) r->next->prev = r->prev;
            r->owes = false;
            s->counts.waiting--;
            (void)pthread_cond_broadcast(&s->idle_cond);
        }
        wake = r->waiting;
        if (wake) {
            r->next_wake = s->wake_first;
            s->wake_first = r;
        }
    }
    (void)pthread_mutex_unlock(&s->mu);
    VERIFY(taken); /* one answer a request */
    if (!taken) {
        MHD_destroy_response(m);
        return;
    }
    if (wake) http_wake(s);
    http_request_unref(r);
}

void http_reply_response(http_request *r, unsigned status, struct MHD_Response *m)
{
    reply(r, status, m, 0);
}

/* Bytes of an answer from which on it counts among those in flight: a few that nobody reads would fill the memory. */
#define LARGE ((size_t)1 << 20)

/** Counts a large answer until the request is freed. False: there is no room, and that was the answer. */
static bool take_room(http_request *r, size_t size)
{
    http_server *s = r->s;
    uint64_t held, limit;
    char text[160];
    bool room;

    if (size < LARGE) return true;
    (void)pthread_mutex_lock(&s->mu);
    held = s->counts.inflight_bytes;
    limit = s->max_inflight;
    room = held <= limit && size <= limit - held;
    if (room) {
        s->counts.inflight_bytes += size;
        r->answer_reserved = size;
    } else {
        s->counts.refused++;
    }
    (void)pthread_mutex_unlock(&s->mu);
    if (room) return true;
    snprintf(text, sizeof text,
             "%zu bytes, beside %llu of requests and answers that are held, limit %llu "
             "(daemon.max_inflight_bytes)",
             size, (unsigned long long)held, (unsigned long long)limit);
    http_reply_error(r, MHD_HTTP_TOO_MANY_REQUESTS, CUZK_CLASS_LIMIT, "answer", text);
    return false;
}

void http_reply(http_request *r, unsigned status, const char *content_type, const void *body,
                size_t size, const http_pair *pairs, size_t n_pairs)
{
    struct MHD_Response *m;

    if (!take_room(r, size)) return;
    m = MHD_create_response_from_buffer(size, (void *)(uintptr_t)body, MHD_RESPMEM_MUST_COPY);
    if (m != NULL) add_headers(m, content_type, pairs, n_pairs);
    reply(r, status, m, size);
}

static void free_buffer(void *data)
{
    cuzk_buffer b = {data, 0};

    cuzk_buffer_clear(&b);
}

void http_reply_buffer(http_request *r, unsigned status, const char *content_type,
                       cuzk_buffer *body, const http_pair *pairs, size_t n_pairs)
{
    size_t size = body->size;
    struct MHD_Response *m;

    if (!take_room(r, size)) {
        cuzk_buffer_clear(body);
        return;
    }
    m = MHD_create_response_from_buffer_with_free_callback(size, body->data, free_buffer);
    if (m == NULL) cuzk_buffer_clear(body);
    memset(body, 0, sizeof *body);
    if (m != NULL) add_headers(m, content_type, pairs, n_pairs);
    reply(r, status, m, size);
}

void http_reply_static(http_request *r, unsigned status, const char *content_type, const void *body,
                       size_t size, const http_pair *pairs, size_t n_pairs)
{
    struct MHD_Response *m =
        MHD_create_response_from_buffer(size, (void *)(uintptr_t)body, MHD_RESPMEM_PERSISTENT);

    if (m != NULL) add_headers(m, content_type, pairs, n_pairs);
    reply(r, status, m, size);
}

/** more: a further header, or NULL. */
static void reply_error(http_request *r, unsigned status, const cuzk_error *e,
                        const http_pair *more)
{
    http_pair pairs[2];
    size_t n = 0;
    bytes_out o;

    bytes_out_init(&o, r->s->m);
    bytes_printf(&o, "{\"error\":{\"class\":\"%s\",\"where\":", cuzk_class_name(e->klass));
    json_put_string(&o, e->where);
    bytes_printf(&o, ",\"message\":");
    json_put_string(&o, e->message);
    bytes_printf(&o, "}}\n");
    if (status == MHD_HTTP_UNAUTHORIZED)
        pairs[n++] = (http_pair){MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer realm=\"cuzk\""};
    if (status == MHD_HTTP_TOO_MANY_REQUESTS) pairs[n++] = (http_pair){"Retry-After", "1"};
    if (status == MHD_HTTP_SERVICE_UNAVAILABLE) pairs[n++] = (http_pair){"Retry-After", "10"};
    if (more != NULL) pairs[n++] = *more;
    if (bytes_out_status(&o) == CUZK_OK)
        http_reply(r, status, "application/json", o.data, o.size, pairs, n);
    else
        http_reply_static(r, status, "application/json", "{}\n", 3, pairs, n);
    bytes_out_clear(&o);
}

void http_reply_error(http_request *r, unsigned status, cuzk_class klass, const char *where,
                      const char *message)
{
    cuzk_error e = {.klass = klass};

    snprintf(e.where, sizeof e.where, "%s", where);
    snprintf(e.message, sizeof e.message, "%s", message);
    reply_error(r, status, &e, NULL);
}

void http_reply_refusal(http_request *r, const http_refusal *no)
{
    const http_pair allow = {MHD_HTTP_HEADER_ALLOW, no->allow};
    cuzk_error e = {.klass = no->klass};

    snprintf(e.where, sizeof e.where, "%s", no->where);
    memcpy(e.message, no->message, sizeof no->message);
    reply_error(r, no->status, &e, no->status == MHD_HTTP_METHOD_NOT_ALLOWED ? &allow : NULL);
}
