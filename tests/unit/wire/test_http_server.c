/*
 * unit/wire/test_http_server.c - routes, limits, late answers, leaving clients, access, events
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "http_client.h"

#include "base/hash.h"
#include "wire/http_server.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_BODY ((size_t)1 << 20)

/** What a handler keeps until the test lets it answer. */
typedef struct waiting {
    http_request *r;
    atomic_bool here, gone, closing;
} waiting;

typedef struct fixture {
    http_server *s;
    access_list *rules;
    const char *address;
    waiting w[4];
    atomic_uint n_waiting, n_done;
    atomic_uint last_status;
} fixture;

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

static const http_route routes[] = {
    {"GET", "/quick", 0, HTTP_QUICK, quick},
    {"GET", "/quick/*", ACCESS_READ, HTTP_QUICK, quick},
    {"GET", "/two/*/of/*", ACCESS_READ, HTTP_QUICK, quick},
    {"GET", "/slow", ACCESS_READ, 0, slow},
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

static http_server_config config_of(fixture *f, const char *const *listen, size_t n_listen)
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

static void open_rules(fixture *f)
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

static void start(fixture *f)
{
    static const char *const listen[] = {"127.0.0.1:0"};

    open_rules(f);
    const http_server_config c = config_of(f, listen, 1);
    assert_status_ok(http_server_open(&f->s, &c));
    assert_status_ok(http_server_start(f->s));
    f->address = http_server_address(f->s, 0);
    assert_null(http_server_address(f->s, 1));
}

static void stop(fixture *f)
{
    http_server_close(f->s, 0);
    access_close(f->rules);
}

/** Spins until the condition holds: what is waited for comes from other threads. */
#define WAIT_FOR(cond) \
    do { \
        for (unsigned spins_ = 0; !(cond); spins_++) { \
            if (spins_ > 10000) harness_fail("waited in vain for %s", #cond); \
            (void)usleep(1000); \
        } \
    } while (0)

static unsigned status_of(fixture *f, const char *method, const char *target, const char *lines)
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

static void assert_answer(fixture *f, const char *target, const char *want)
{
    client_answer a;

    client_ask(f->address, &a, "GET", target, "", NULL, 0);
    assert_int_equal(a.status, 200);
    assert_string_equal((const char *)a.body, want);
    client_answer_clear(&a);
}

static void test_routes(void **state)
{
    fixture f;
    client_answer a;

    (void)state;
    start(&f);
    assert_answer(&f, "/quick", "||-|-|/quick");
    assert_answer(&f, "/quick/a%20b%2Fc", "a b/c||-|-|/quick/a%20b%2Fc");
    assert_answer(&f, "/quick/a/b?q=1+2%2b&p", "a/b||1 2+||/quick/a/b?q=1+2%2b&p");
    assert_answer(&f, "/quick?qq=3&p=%C3%A4&q=", "|||\xc3\xa4|/quick?qq=3&p=%C3%A4&q=");
    assert_answer(&f, "/quick?q=%ff", "||-|-|/quick?q=%ff");
    assert_answer(&f, "/two/x/of/y/z", "x|y/z|-|-|/two/x/of/y/z");
    assert_answer(&f, "/slow", "abc");
    client_ask(f.address, &a, "HEAD", "/quick", "", NULL, 0);
    assert_int_equal(a.status, 200);
    assert_string_equal(client_header(&a, "Content-Length"), "12");
    assert_string_equal(client_header(&a, "X-More"), "yes");
    assert_string_equal(client_header(&a, "Cache-Control"), "no-store");
    assert_string_equal(client_header(&a, "X-Content-Type-Options"), "nosniff");
    client_answer_clear(&a);
    assert_int_equal(status_of(&f, "GET", "/", ""), 404);
    assert_int_equal(status_of(&f, "GET", "/quick/", ""), 404);
    assert_int_equal(status_of(&f, "GET", "/quickly", ""), 404);
    assert_int_equal(status_of(&f, "GET", "/two/x/y/of/z", ""), 404);
    assert_int_equal(status_of(&f, "GET", "/quick/%zz", ""), 400);
    assert_int_equal(status_of(&f, "GET", "/quick/%00", ""), 400);
    assert_int_equal(status_of(&f, "GET", "/quick/%ff", ""), 400);
    assert_int_equal(status_of(&f, "GET", "http://x/quick", ""), 400);
    client_ask(f.address, &a, "PUT", "/later", "", NULL, 0);
    assert_int_equal(a.status, 405);
    assert_string_equal(client_header(&a, "Allow"), "POST, DELETE");
    client_answer_clear(&a);
    stop(&f);
}

static void test_keep_alive(void **state)
{
    fixture f;
    client_answer a;

    (void)state;
    start(&f);
    int fd = client_connect(f.address);
    for (unsigned i = 0; i < 50; i++) {
        client_printf(fd, "GET /%s HTTP/1.1\r\nHost: t\r\n\r\n", i % 2 == 0 ? "quick" : "slow");
        client_read(fd, &a, false);
        assert_int_equal(a.status, 200);
        client_answer_clear(&a);
    }
    /* Two at once: answers come in order. */
    client_printf(fd,
                  "GET /slow HTTP/1.1\r\nHost: t\r\n\r\nGET /quick HTTP/1.1\r\nHost: t\r\n\r\n");
    client_read(fd, &a, false);
    assert_string_equal((const char *)a.body, "abc");
    client_answer_clear(&a);
    client_read(fd, &a, false);
    assert_string_equal((const char *)a.body, "||-|-|/quick");
    client_answer_clear(&a);
    (void)close(fd);
    stop(&f);
}

static void test_bodies(void **state)
{
    static const size_t sizes[] = {0, 1, 1000, 65536, 65537, MAX_BODY - 1, MAX_BODY};
    uint8_t *body = malloc(MAX_BODY + 1), h[32];
    fixture f;
    client_answer a;
    char hex[65];

    (void)state;
    assert_non_null(body);
    harness_random_bytes(body, MAX_BODY + 1);
    start(&f);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        sha256(h, body, sizes[i]);
        hex_encode(hex, h, 32);
        client_ask(f.address, &a, "POST", "/digest", "", body, sizes[i]);
        assert_int_equal(a.status, 200);
        assert_string_equal((const char *)a.body, hex);
        client_answer_clear(&a);

        /* the same in chunks, whose sum is not told before */
        int fd = client_connect(f.address);
        client_printf(fd, "POST /digest HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n");
        for (size_t at = 0, n; at < sizes[i]; at += n) {
            n = sizes[i] - at < 50000 ? sizes[i] - at : 50000;
            client_printf(fd, "%zx\r\n", n);
            client_send(fd, body + at, n);
            client_printf(fd, "\r\n");
        }
        client_printf(fd, "0\r\n\r\n");
        client_read(fd, &a, false);
        assert_int_equal(a.status, 200);
        assert_string_equal((const char *)a.body, hex);
        client_answer_clear(&a);
        (void)close(fd);
    }
    client_ask(f.address, &a, "POST", "/digest", "", body, MAX_BODY + 1);
    assert_int_equal(a.status, 413);
    assert_non_null(strstr((const char *)a.body, "1048577 bytes, limit 1048576"));
    client_answer_clear(&a);
    int fd = client_connect(f.address);
    client_printf(fd,
                  "POST /digest HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n%zx\r\n",
                  MAX_BODY + 1);
    client_send(fd, body, MAX_BODY + 1);
    client_printf(fd, "\r\n0\r\n\r\n");
    client_read(fd, &a, false);
    assert_int_equal(a.status, 413);
    client_answer_clear(&a);
    (void)close(fd);
    /* a body where none belongs: read, refused, and the connection stands */
    client_ask(f.address, &a, "GET", "/quick", "", body, 1000);
    assert_int_equal(a.status, 400);
    client_answer_clear(&a);
    client_ask(f.address, &a, "POST", "/digest", "Content-Length: x\r\n", NULL, 0);
    assert_int_equal(a.status, 400);
    client_answer_clear(&a);
    http_counts c;
    WAIT_FOR((http_server_counts(f.s, &c), c.active == 0));
    assert_int_equal(c.inflight_bytes, 0);
    stop(&f);
    free(body);
}

static void test_expect_continue(void **state)
{
    fixture f;
    client_answer a;

    (void)state;
    start(&f);
    int fd = client_connect(f.address);
    client_printf(fd, "POST /digest HTTP/1.1\r\nHost: t\r\nContent-Length: 3\r\n"
                      "Expect: 100-continue\r\n\r\n");
    client_read(fd, &a, true);
    assert_int_equal(a.status, 100);
    client_answer_clear(&a);
    client_send(fd, "abc", 3);
    client_read(fd, &a, false);
    assert_int_equal(a.status, 200);
    client_answer_clear(&a);
    client_printf(fd, "POST /digest HTTP/1.1\r\nHost: t\r\nContent-Length: 99999999\r\n"
                      "Expect: 100-continue\r\n\r\n");
    client_read(fd, &a, false);
    assert_int_equal(a.status, 413);
    client_answer_clear(&a);
    (void)close(fd);
    stop(&f);
}

static int begin_later(fixture *f, size_t body)
{
    int fd = client_connect(f->address);
    uint8_t *p = calloc(1, body + 1);
    unsigned before = atomic_load(&f->n_waiting);

    assert_non_null(p);
    client_printf(fd, "POST /later HTTP/1.1\r\nHost: t\r\nContent-Length: %zu\r\n\r\n", body);
    client_send(fd, p, body);
    free(p);
    WAIT_FOR(atomic_load(&f->n_waiting) > before && atomic_load(&f->w[before].here));
    return fd;
}

static void test_late_answers(void **state)
{
    fixture f;
    client_answer a;
    int fd[3];

    (void)state;
    start(&f);
    for (size_t i = 0; i < 3; i++) fd[i] = begin_later(&f, 10);
    /* Three wait, more than there are workers; quick ones are served, others are not. */
    assert_int_equal(status_of(&f, "GET", "/quick", ""), 200);
    client_ask(f.address, &a, "GET", "/slow", "", NULL, 0);
    assert_int_equal(a.status, 429);
    assert_string_equal(client_header(&a, "Retry-After"), "1");
    assert_non_null(strstr((const char *)a.body, "limit 3 (daemon.max_requests)"));
    client_answer_clear(&a);
    for (size_t i = 3; i-- > 0;) {
        char text[8];

        snprintf(text, sizeof text, "n%zu", i);
        http_reply(f.w[i].r, 200, "text/plain", text, 2, NULL, 0);
        client_read(fd[i], &a, false);
        assert_int_equal(a.status, 200);
        assert_string_equal((const char *)a.body, text);
        client_answer_clear(&a);
        (void)close(fd[i]);
    }
    http_counts c;
    WAIT_FOR((http_server_counts(f.s, &c), c.active == 0));
    assert_int_equal(c.waiting, 0);
    assert_int_equal(c.inflight_bytes, 0);
    assert_int_equal(c.refused, 1);
    assert_false(atomic_load(&f.w[0].gone));
    stop(&f);
}

static void test_bytes_in_flight(void **state)
{
    fixture f;
    client_answer a;

    (void)state;
    start(&f);
    int one = begin_later(&f, MAX_BODY), two = begin_later(&f, MAX_BODY);
    uint8_t *body = calloc(1, MAX_BODY);
    assert_non_null(body);
    assert_int_equal(status_of(&f, "GET", "/slow", ""), 200); /* without a body there is room */
    http_counts c;
    WAIT_FOR((http_server_counts(f.s, &c), c.active == 2));
    assert_int_equal(c.inflight_bytes, 2 * MAX_BODY);
    const http_server_config less = {.max_requests = 3, .max_inflight = 3 * MAX_BODY - 1};
    assert_status_ok(http_server_reload(f.s, &less));
    client_ask(f.address, &a, "POST", "/digest", "", body, MAX_BODY);
    assert_int_equal(a.status, 429);
    assert_non_null(strstr((const char *)a.body, "daemon.max_inflight_bytes"));
    client_answer_clear(&a);
    (void)close(one);
    (void)close(two);
    WAIT_FOR(atomic_load(&f.w[0].gone) && atomic_load(&f.w[1].gone));
    WAIT_FOR((http_server_counts(f.s, &c), c.inflight_bytes == 0));
    client_ask(f.address, &a, "POST", "/digest", "", body, MAX_BODY);
    assert_int_equal(a.status, 200);
    client_answer_clear(&a);
    free(body);
    stop(&f);
}

static void test_client_leaves(void **state)
{
    fixture f;

    (void)state;
    start(&f);
    int fd = begin_later(&f, 1);
    unsigned before = atomic_load(&f.n_done);
    (void)close(fd);
    WAIT_FOR(atomic_load(&f.w[0].gone));
    assert_false(atomic_load(&f.w[0].closing));
    WAIT_FOR(atomic_load(&f.n_done) > before);
    /* in the middle of a body */
    fd = client_connect(f.address);
    client_printf(fd, "POST /digest HTTP/1.1\r\nHost: t\r\nContent-Length: 100000\r\n\r\nabc");
    http_counts c;
    WAIT_FOR((http_server_counts(f.s, &c), c.active == 1));
    (void)close(fd);
    WAIT_FOR((http_server_counts(f.s, &c), c.active == 0));
    assert_int_equal(c.inflight_bytes, 0);
    assert_int_equal(status_of(&f, "GET", "/slow", ""), 200);
    stop(&f);
}

static void test_close_while_waiting(void **state)
{
    fixture f;
    client_answer a;

    (void)state;
    start(&f);
    int fd = begin_later(&f, 1), idle = client_connect(f.address);
    http_server_close(f.s, 10);
    assert_true(atomic_load(&f.w[0].gone));
    assert_true(atomic_load(&f.w[0].closing));
    client_read(fd, &a, false);
    assert_int_equal(a.status, 503);
    assert_string_equal(client_header(&a, "Retry-After"), "10");
    client_answer_clear(&a);
    assert_true(client_sees_end(idle));
    (void)close(fd);
    (void)close(idle);
    access_close(f.rules);
}

static void test_access(void **state)
{
    static const char *const origins[] = {"https://panel.example.org"};
    fixture f;
    client_answer a;

    (void)state;
    start(&f);
    assert_int_equal(status_of(&f, "GET", "/quick/x", "Authorization: Bearer secret\r\n"), 200);
    assert_int_equal(status_of(&f, "GET", "/quick", "Authorization: Bearer wrong\r\n"), 200);
    assert_int_equal(status_of(&f, "GET", "/quick/x", "Authorization: Bearer wrong\r\n"), 401);
    assert_int_equal(status_of(&f, "DELETE", "/later", "Authorization: Bearer secret\r\n"), 403);
    assert_int_equal(status_of(&f, "DELETE", "/later", ""), 200);
    /* other sites' pages */
    assert_int_equal(status_of(&f, "DELETE", "/later", "Origin: http://evil.example\r\n"), 403);
    assert_int_equal(status_of(&f, "DELETE", "/later", "Origin: http://t\r\n"), 403);
    assert_int_equal(status_of(&f, "DELETE", "/later", "Origin: null\r\n"), 403);
    assert_int_equal(status_of(&f, "DELETE", "/later", "Sec-Fetch-Site: cross-site\r\n"), 403);
    assert_int_equal(status_of(&f, "DELETE", "/later", "Sec-Fetch-Site: same-origin\r\n"), 200);
    assert_int_equal(status_of(&f, "GET", "/quick", "Origin: http://evil.example\r\n"), 200);
    const char *const own[] = {"127.0.0.1:80", "localhost", "[::1]:9821"};
    for (size_t i = 0; i < 3; i++) {
        int fd = client_connect(f.address);
        client_printf(fd, "DELETE /later HTTP/1.1\r\nHost: %s\r\nOrigin: http://%s\r\n\r\n", own[i],
                      own[i]);
        client_read(fd, &a, false);
        assert_int_equal(a.status, 200);
        client_answer_clear(&a);
        (void)close(fd);
    }
    client_ask(f.address, &a, "GET", "/quick", "Origin: https://panel.example.org\r\n", NULL, 0);
    assert_string_equal(client_header(&a, "Access-Control-Allow-Origin"), "");
    client_answer_clear(&a);
    const http_server_config more = {
        .max_requests = 3, .max_inflight = MAX_BODY, .cors_origins = origins, .n_cors_origins = 1};
    assert_status_ok(http_server_reload(f.s, &more));
    client_ask(f.address, &a, "DELETE", "/later", "Origin: https://panel.example.org\r\n", NULL, 0);
    assert_int_equal(a.status, 200);
    assert_string_equal(client_header(&a, "Access-Control-Allow-Origin"),
                        "https://panel.example.org");
    assert_string_equal(client_header(&a, "Vary"), "Origin");
    client_answer_clear(&a);
    client_ask(f.address, &a, "OPTIONS", "/later",
               "Origin: https://panel.example.org\r\nAccess-Control-Request-Method: DELETE\r\n",
               NULL, 0);
    assert_int_equal(a.status, 204);
    assert_non_null(strstr(client_header(&a, "Access-Control-Allow-Methods"), "DELETE"));
    client_answer_clear(&a);
    assert_int_equal(status_of(&f, "OPTIONS", "/later",
                               "Origin: https://other.example.org\r\n"
                               "Access-Control-Request-Method: DELETE\r\n"),
                     405);
    stop(&f);
}

static void test_events(void **state)
{
    static char big[8192];
    fixture f;
    client_answer a;
    int fd[2];
    http_counts c;

    (void)state;
    start(&f);
    for (size_t i = 0; i < 2; i++) {
        fd[i] = client_connect(f.address);
        client_printf(fd[i], "GET /events HTTP/1.1\r\nHost: t\r\n\r\n");
        client_read(fd[i], &a, true);
        assert_int_equal(a.status, 200);
        assert_string_equal(client_header(&a, "Content-Type"), "text/event-stream");
        client_answer_clear(&a);
    }
    client_ask(f.address, &a, "GET", "/events", "", NULL, 0);
    assert_int_equal(a.status, 503);
    client_answer_clear(&a);
    http_server_event(f.s, "{\"seq\":1}", 9);
    for (size_t i = 0; i < 2; i++) assert_true(client_wait_for(fd[i], "data: {\"seq\":1}\n\n"));
    (void)usleep(20000); /* both sleep now */
    http_server_event(f.s, "{\"seq\":2}", 9);
    assert_true(client_wait_for(fd[0], "data: {\"seq\":2}\n\n"));
    /* One that does not read is ended and the other goes on. */
    memset(big, 'x', sizeof big);
    for (unsigned i = 0; i < 20000; i++) {
        http_server_counts(f.s, &c);
        if (c.streams_dropped != 0) break;
        http_server_event(f.s, big, sizeof big);
        char line[64];
        snprintf(line, sizeof line, "{\"big\":%u}", i);
        http_server_event(f.s, line, strlen(line));
        assert_true(client_wait_for(fd[0], line));
    }
    assert_int_equal(c.streams_dropped, 1);
    assert_true(client_sees_end(fd[1]));
    (void)close(fd[0]); /* one that leaves is noticed, and its place is free */
    WAIT_FOR((http_server_counts(f.s, &c), c.streams == 0));
    (void)close(fd[1]);
    stop(&f);
}

static void test_slow_clients(void **state)
{
    static const char *const listen[] = {"127.0.0.1:0"};
    fixture f;

    (void)state;
    open_rules(&f);
    http_server_config c = config_of(&f, listen, 1);
    c.header_ms = 300;
    c.min_rate = 1000000;
    assert_status_ok(http_server_open(&f.s, &c));
    assert_status_ok(http_server_start(f.s));
    f.address = http_server_address(f.s, 0);
    int silent = client_connect(f.address), head = client_connect(f.address);
    int body = client_connect(f.address);
    client_printf(head, "GET /quick HTTP/1.1\r\nHost: t\r\nX-A: b\r\n");
    client_printf(body, "POST /digest HTTP/1.1\r\nHost: t\r\nContent-Length: 1000\r\n\r\n");
    for (unsigned i = 0; i < 40; i++) {
        (void)usleep(50000);
        client_send(head, "X", 1);
        client_send(body, "x", 1);
    }
    assert_true(client_sees_end(silent));
    assert_true(client_sees_end(head));
    assert_true(client_sees_end(body));
    assert_int_equal(status_of(&f, "GET", "/quick", ""), 200);
    (void)close(silent);
    (void)close(head);
    (void)close(body);
    stop(&f);
}

static void test_rubbish(void **state)
{
    static const char *const text[] = {
        "\r\n\r\n",
        "GET\r\n\r\n",
        "GET / HTTP/9.9\r\n\r\n",
        "\x16\x03\x01\x02",
        "PRI * HTTP/2.0\r\n\r\n",
        "POST /digest HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "GET /quick HTTP/1.1\r\n\r\n",
        "GET /quick HTTP/1.1\r\nHost: t\r\nContent-Length: 5\r\n\r\nab"};
    char *big = malloc(300000);
    fixture f;
    client_answer a;

    (void)state;
    assert_non_null(big);
    start(&f);
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        int fd = client_connect(f.address);
        client_send(fd, text[i], strlen(text[i]));
        (void)close(fd);
        assert_int_equal(status_of(&f, "GET", "/quick", ""), 200);
    }
    memset(big, 'a', 300000);
    int fd = client_connect(f.address);
    client_printf(fd, "GET /");
    client_send(fd, big, 20000);
    client_printf(fd, " HTTP/1.1\r\nHost: t\r\n\r\n");
    client_read(fd, &a, false);
    assert_int_equal(a.status, 414);
    client_answer_clear(&a);
    (void)close(fd);
    fd = client_connect(f.address);
    client_printf(fd, "GET /quick HTTP/1.1\r\nHost: t\r\nX: ");
    client_send(fd, big, 300000);
    client_printf(fd, "\r\n\r\n");
    client_read(fd, &a, true);
    assert_true(a.status == 0 || a.status >= 400);
    client_answer_clear(&a);
    (void)close(fd);
    assert_int_equal(status_of(&f, "GET", "/quick", ""), 200);
    free(big);
    stop(&f);
}

static void test_listening(void **state)
{
    char address[256];
    const char *listen[] = {"127.0.0.1:0", address};
    fixture f, g;
    client_answer a;

    (void)state;
    snprintf(address, sizeof address, "unix://%s", harness_temp_path("http.sock"));
    open_rules(&f);
    http_server_config c = config_of(&f, listen, 2);
    assert_status_ok(http_server_open(&f.s, &c));
    assert_status_ok(http_server_start(f.s));
    client_ask(http_server_address(f.s, 1), &a, "GET", "/slow", "", NULL, 0);
    assert_int_equal(a.status, 200);
    client_answer_clear(&a);
    open_rules(&g);
    c = config_of(&g, listen + 1, 1);
    assert_status_is(http_server_open(&g.s, &c), CUZK_EIO); /* somebody listens there */
    assert_error_mentions("http.sock");
    const char *taken = http_server_address(f.s, 0);
    c = config_of(&g, &taken, 1);
    assert_status_is(http_server_open(&g.s, &c), CUZK_EIO);
    assert_error_mentions(taken);
    stop(&f);
    struct stat st;
    assert_int_not_equal(stat(address + 7, &st), 0); /* removed */
    harness_write_file(address + 7, "x", 1);
    c = config_of(&g, listen + 1, 1);
    assert_status_is(http_server_open(&g.s, &c),
                     CUZK_EIO); /* a file that is no socket is left alone */
    assert_int_equal(stat(address + 7, &st), 0);
    const char *const bad[] = {"127.0.0.1", "tls://127.0.0.1:0", "tcp://x", "unix://rel"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        c = config_of(&g, &bad[i], 1);
        assert_status_is(http_server_open(&g.s, &c), CUZK_EINVAL);
        assert_error_mentions(bad[i]);
    }
    const char *const bad_origins[] = {"panel.example.org", "https://", "https://a/b", "*"};
    for (size_t i = 0; i < sizeof bad_origins / sizeof *bad_origins; i++) {
        c = config_of(&g, listen, 1);
        c.cors_origins = &bad_origins[i];
        c.n_cors_origins = 1;
        assert_status_is(http_server_open(&g.s, &c), CUZK_EINVAL);
        assert_error_mentions("daemon.cors_origins");
    }
    access_close(g.rules);
    http_server_close(NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_routes),        cmocka_unit_test(test_keep_alive),
        cmocka_unit_test(test_bodies),        cmocka_unit_test(test_expect_continue),
        cmocka_unit_test(test_late_answers),  cmocka_unit_test(test_bytes_in_flight),
        cmocka_unit_test(test_client_leaves), cmocka_unit_test(test_close_while_waiting),
        cmocka_unit_test(test_access),        cmocka_unit_test(test_events),
        cmocka_unit_test(test_slow_clients),  cmocka_unit_test(test_rubbish),
        cmocka_unit_test(test_listening)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
