/*
 * unit/wire/http_fixture.c - a server with a few routes, for the tests of the HTTP server
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "http_fixture.h"

#include "base/hash.h"

static void quick(void *ctx, http_request *r)
{
    static const http_pair more[] = {{"X-More", "yes"}};
    const char *q = http_request_query(r, "q"), *p = http_request_query(r, "p");
    char text[256];

    (void)ctx;
    snprintf(text, sizeof text, "%s|%s|%s|%s|%s", http_request_part(r, 0), http_request_part(r, 1),
             q == NULL ? "-" : q, p == NULL ? "-" : p, http_request_target(r));
    http_reply(r, 200, "text/plain", text, strlen(text), more, 1);
}

/** Answers with the SHA-256 of the body. */
static void digest(void *ctx, http_request *r)
{
    size_t size;
    const uint8_t *body = http_request_body(r, &size);
    uint8_t h[32];
    char hex[65];

    (void)ctx;
    sha256(h, body, size);
    hex_encode(hex, h, 32);
    http_reply(r, 200, "text/plain", hex, 64, NULL, 0);
}

static void on_gone(void *ctx)
{
    waiting *w = ctx;

    atomic_store(&w->closing, http_request_closing(w->r));
    atomic_store(&w->gone, true);
    http_reply_error(w->r, 503, CUZK_CLASS_RESOURCE, "test", "gone");
}

static void later(void *ctx, http_request *r)
{
    fixture *f = ctx;
    waiting *w = &f->w[atomic_fetch_add(&f->n_waiting, 1)];

    w->r = r;
    http_request_on_gone(r, on_gone, w);
    atomic_store(&w->here, true);
}

static void slow(void *ctx, http_request *r)
{
    cuzk_buffer b = {malloc(4), 3};

    (void)ctx;
    assert_non_null(b.data);
    memcpy(b.data, "abc", 4);
    http_reply_buffer(r, 200, "text/plain", &b, NULL, 0);
    assert_null(b.data);
}

static void big(void *ctx, http_request *r)
{
    cuzk_buffer b = {calloc(1, BIG_ANSWER), BIG_ANSWER};

    (void)ctx;
    assert_non_null(b.data);
    http_reply_buffer(r, 200, "text/plain", &b, NULL, 0);
    assert_null(b.data);
}

static const http_route routes[] = {
    {"GET", "/quick", 0, HTTP_QUICK, quick},
    {"GET", "/any", 0, HTTP_QUICK | HTTP_ANY_HOST, quick},
    {"GET", "/quick/*", ACCESS_READ, HTTP_QUICK, quick},
    {"GET", "/two/*/of/*", ACCESS_READ, HTTP_QUICK, quick},
    {"GET", "/slow", ACCESS_READ, 0, slow},
    {"GET", "/big", ACCESS_READ, HTTP_ALWAYS, big},
    {"POST", "/digest", ACCESS_PROVE, HTTP_BODY, digest},
    {"POST", "/later", ACCESS_PROVE, HTTP_BODY, later},
    {"DELETE", "/later", ACCESS_OPERATE, 0, slow},
    {"GET", "/events", ACCESS_READ, HTTP_EVENTS, NULL},
};

static void on_done(void *ctx, const http_done *d)
{
    fixture *f = ctx;

    atomic_store(&f->last_status, d->status);
    atomic_fetch_add(&f->n_done, 1);
}

http_server_config config_of(fixture *f, const char *const *listen, size_t n_listen)
{
    http_server_config c = {.listen = listen,
                            .n_listen = n_listen,
                            .rules = f->rules,
                            .max_body = MAX_BODY,
                            .max_inflight = 3 * MAX_BODY,
                            .max_requests = 3,
                            .max_streams = 2,
                            .workers = 2,
                            .header_ms = 30000,
                            .min_rate = 65536,
                            .routes = routes,
                            .n_routes = sizeof routes / sizeof *routes,
                            .ctx = f,
                            .done = on_done};
    return c;
}

void open_rules(fixture *f)
{
    uint8_t h[32];
    char hex[65], text[128];

    memset(f, 0, sizeof *f);
    sha256(h, "secret", 6);
    hex_encode(hex, h, 32);
    snprintf(text, sizeof text, "%s read tests\n", hex);
    harness_write_file(harness_temp_path("tokens"), text, strlen(text));
    const access_config rules = {.tokens_file = harness_temp_path("tokens")};
    assert_status_ok(access_open(&f->rules, &rules));
}

void start(fixture *f)
{
    static const char *const listen[] = {"127.0.0.1:0"};

    open_rules(f);
    const http_server_config c = config_of(f, listen, 1);
    assert_status_ok(http_server_open(&f->s, &c));
    assert_status_ok(http_server_start(f->s));
    f->address = http_server_address(f->s, 0);
    assert_null(http_server_address(f->s, 1));
}

void stop(fixture *f)
{
    http_server_close(f->s, 0);
    access_close(f->rules);
}

unsigned status_of(fixture *f, const char *method, const char *target, const char *lines)
{
    client_answer a;

    client_ask(f->address, &a, method, target, lines, NULL, 0);
    unsigned status = a.status;
    if (status >= 400 && strcmp(method, "HEAD") != 0) {
        assert_non_null(strstr((const char *)a.body, "{\"error\":{\"class\":"));
        assert_string_equal(client_header(&a, "Content-Type"), "application/json");
    }
    client_answer_clear(&a);
    return status;
}

int begin_later(fixture *f, size_t body)
{
    int fd = client_connect(f->address);
    uint8_t *p = calloc(1, body + 1);
    unsigned before = atomic_load(&f->n_waiting);

    assert_non_null(p);
    client_printf(fd, "POST /later HTTP/1.1\r\nHost: localhost\r\nContent-Length: %zu\r\n\r\n",
                  body);
    client_send(fd, p, body);
    free(p);
    WAIT_FOR(atomic_load(&f->n_waiting) > before && atomic_load(&f->w[before].here));
    return fd;
}
