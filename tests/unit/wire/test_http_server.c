/*
 * unit/wire/test_http_server.c - routes, bodies, limits, late answers, leaving clients, events
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "http_fixture.h"

#include "base/hash.h"

#include <unistd.h>

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
        client_printf(fd, "GET /%s HTTP/1.1\r\nHost: localhost\r\n\r\n",
                      i % 2 == 0 ? "quick" : "slow");
        client_read(fd, &a, false);
        assert_int_equal(a.status, 200);
        client_answer_clear(&a);
    }
    /* Two at once: answers come in order. */
    client_printf(fd, "GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\nGET /quick HTTP/1.1\r\nHost: "
                      "localhost\r\n\r\n");
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
        client_printf(
            fd, "POST /digest HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n");
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
    client_printf(
        fd, "POST /digest HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n%zx\r\n",
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
    client_printf(fd, "POST /digest HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n"
                      "Expect: 100-continue\r\n\r\n");
    client_read(fd, &a, true);
    assert_int_equal(a.status, 100);
    client_answer_clear(&a);
    client_send(fd, "abc", 3);
    client_read(fd, &a, false);
    assert_int_equal(a.status, 200);
    client_answer_clear(&a);
    client_printf(fd, "POST /digest HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999\r\n"
                      "Expect: 100-continue\r\n\r\n");
    client_read(fd, &a, false);
    assert_int_equal(a.status, 413);
    client_answer_clear(&a);
    (void)close(fd);
    stop(&f);
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

/* Heads that promise much and send nothing hold nothing. */
static void test_silent_bodies(void **state)
{
    fixture f;
    client_answer a;
    int fd[2];
    http_counts c;

    (void)state;
    start(&f);
    const http_server_config limits = {.max_requests = 3, .max_inflight = 2 * MAX_BODY};
    assert_status_ok(http_server_reload(f.s, &limits));
    for (unsigned i = 0; i < 2; i++) {
        fd[i] = client_connect(f.address);
        client_printf(fd[i],
                      "POST /digest HTTP/1.1\r\nHost: localhost\r\nContent-Length: %u\r\n\r\n",
                      (unsigned)MAX_BODY);
    }
    WAIT_FOR((http_server_counts(f.s, &c), c.active == 2));
    assert_int_equal(c.inflight_bytes, 0);
    uint8_t *body = calloc(1, MAX_BODY);
    assert_non_null(body);
    client_ask(f.address, &a, "POST", "/digest", "", body, MAX_BODY);
    assert_int_equal(a.status, 200);
    client_answer_clear(&a);
    free(body);
    for (unsigned i = 0; i < 2; i++) (void)close(fd[i]);
    WAIT_FOR((http_server_counts(f.s, &c), c.active == 0));
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
    client_printf(fd,
                  "POST /digest HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\nabc");
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
        client_printf(fd[i], "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n");
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

/* Large answers that nobody reads count: so many and no more. */
static void test_large_answers(void **state)
{
    fixture f;
    client_answer a;
    http_counts c;
    int fd;

    (void)state;
    start(&f);
    const http_server_config limits = {.max_requests = 3, .max_inflight = BIG_ANSWER + MAX_BODY};
    assert_status_ok(http_server_reload(f.s, &limits));
    fd = client_connect(f.address);
    client_printf(fd, "GET /big HTTP/1.1\r\nHost: localhost\r\n\r\n");
    WAIT_FOR((http_server_counts(f.s, &c), c.inflight_bytes >= BIG_ANSWER));
    client_ask(f.address, &a, "GET", "/big", "", NULL, 0);
    assert_int_equal(a.status, 429);
    assert_non_null(strstr((const char *)a.body, "daemon.max_inflight_bytes"));
    client_answer_clear(&a);
    assert_int_equal(status_of(&f, "GET", "/slow", ""), 200);
    (void)close(fd);
    WAIT_FOR((http_server_counts(f.s, &c), c.inflight_bytes == 0));
    client_ask(f.address, &a, "GET", "/big", "", NULL, 0);
    assert_int_equal(a.status, 200);
    assert_int_equal(a.size, BIG_ANSWER);
    client_answer_clear(&a);
    WAIT_FOR((http_server_counts(f.s, &c), c.inflight_bytes == 0));
    stop(&f);
}

/* Who may have a stream is asked again when that may have changed. */
static void test_events_after_reload(void **state)
{
    static const char *const lines[] = {"Authorization: Bearer secret\r\n", ""};
    static const char *const listen[] = {"127.0.0.1:0"};
    static const char other[] =
        "0000000000000000000000000000000000000000000000000000000000000000 read x\n";
    const access_config rules = {.tokens_file = harness_temp_path("tokens")};
    fixture f;
    client_answer a;
    int fd[2];

    (void)state;
    start(&f);
    for (size_t i = 0; i < 2; i++) {
        fd[i] = client_connect(f.address);
        client_printf(fd[i], "GET /events HTTP/1.1\r\nHost: localhost\r\n%s\r\n", lines[i]);
        client_read(fd[i], &a, true);
        assert_int_equal(a.status, 200);
        client_answer_clear(&a);
    }
    const http_server_config c = config_of(&f, listen, 1);
    assert_status_ok(http_server_reload(f.s, &c));
    http_server_event(f.s, "{\"seq\":1}", 9);
    for (size_t i = 0; i < 2; i++) assert_true(client_wait_for(fd[i], "data: {\"seq\":1}\n\n"));
    harness_write_file(rules.tokens_file, other, sizeof other - 1);
    assert_status_ok(access_reload(f.rules, &rules));
    assert_status_ok(http_server_reload(f.s, &c));
    assert_true(client_wait_for(fd[0], "0\r\n\r\n")); /* the last chunk */
    http_server_event(f.s, "{\"seq\":2}", 9);
    assert_true(client_wait_for(fd[1], "data: {\"seq\":2}\n\n"));
    client_printf(fd[0], "GET /events HTTP/1.1\r\nHost: localhost\r\n%s\r\n", lines[0]);
    client_read(fd[0], &a, false);
    assert_int_equal(a.status, 401);
    client_answer_clear(&a);
    for (size_t i = 0; i < 2; i++) (void)close(fd[i]);
    stop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_routes),
                                       cmocka_unit_test(test_keep_alive),
                                       cmocka_unit_test(test_bodies),
                                       cmocka_unit_test(test_expect_continue),
                                       cmocka_unit_test(test_late_answers),
                                       cmocka_unit_test(test_bytes_in_flight),
                                       cmocka_unit_test(test_silent_bodies),
                                       cmocka_unit_test(test_client_leaves),
                                       cmocka_unit_test(test_close_while_waiting),
                                       cmocka_unit_test(test_events),
                                       cmocka_unit_test(test_events_after_reload),
                                       cmocka_unit_test(test_large_answers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
