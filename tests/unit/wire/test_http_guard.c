/*
 * unit/wire/test_http_guard.c - who may do what, slow clients, rubbish, where the server listens
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "http_fixture.h"

#include <sys/stat.h>

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

/** Status of a GET that comes under this name; the answer's text into *text (at least 512 bytes) when it is not NULL. */
static unsigned named(const char *address, const char *target, const char *host, char *text)
{
    int fd = client_connect(address);
    client_answer a;
    unsigned status;

    client_printf(fd, "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", target, host);
    client_read(fd, &a, false);
    status = a.status;
    if (text != NULL) (void)snprintf(text, 512, "%s", (const char *)a.body);
    client_answer_clear(&a);
    (void)close(fd);
    return status;
}

/* DNS rebinding: a page of another site is at home under its own name, so the name is what gives it away. */
static void test_names(void **state)
{
    static const char *const listen[] = {"127.0.0.1:0"}, *const names[] = {"cuzk.example.org"};
    static const char *const origins[] = {"https://panel.example.org:8443"};
    static const char *const own[] = {"127.0.0.1", "127.0.0.1:9821", "10.1.2.3",   "localhost",
                                      "LOCALHOST", "localhost:1",    "[::1]:9821", "[fe80::1]"};
    static const char *const others[] = {"t",
                                         "evil.example:9821",
                                         "cuzk.example.org",
                                         "panel.example.org",
                                         "localhost.evil.example",
                                         "127.0.0.1.evil.example",
                                         "127.0.0.1/8",
                                         "1270.0.0.1"};
    char text[512];
    fixture f;

    (void)state;
    open_rules(&f);
    http_server_config c = config_of(&f, listen, 1);
    assert_status_ok(http_server_open(&f.s, &c));
    assert_status_ok(http_server_start(f.s));
    f.address = http_server_address(f.s, 0);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        assert_int_equal(named(f.address, "/slow", own[i], NULL), 200);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_int_equal(named(f.address, "/slow", others[i], text), 421);
        assert_non_null(strstr(text, others[i]));
        assert_non_null(strstr(text, "daemon.host_names"));
        assert_int_equal(named(f.address, "/events", others[i], NULL), 421);
        assert_int_equal(named(f.address, "/any", others[i], NULL), 200);
    }
    c.host_names = names;
    c.n_host_names = 1;
    c.cors_origins = origins;
    c.n_cors_origins = 1;
    assert_status_ok(http_server_reload(f.s, &c));
    assert_int_equal(named(f.address, "/slow", "cuzk.example.org:9821", NULL), 200);
    assert_int_equal(named(f.address, "/slow", "panel.example.org", NULL), 200);
    assert_int_equal(named(f.address, "/slow", "panel.example.or", NULL), 421);
    assert_int_equal(named(f.address, "/slow", "t", NULL), 421);
    stop(&f);
}

static void test_slow_clients(void **state)
{
    static const char *const listen[] = {"127.0.0.1:0"};
    unsigned served = 0;
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
    client_printf(head, "GET /quick HTTP/1.1\r\nHost: localhost\r\nX-A: b\r\n");
    client_printf(body, "POST /digest HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n");
    for (unsigned i = 0; i < 40; i++) {
        (void)usleep(50000);
        client_send(head, "X", 1);
        client_send(body, "x", 1);
    }
    assert_true(client_sees_end(silent));
    assert_true(client_sees_end(head));
    assert_true(client_sees_end(body));
    for (unsigned i = 0; i < 20 && served != 200;
         i++) { /* on a slow machine this one is slow too */
        client_answer a;

        client_ask(f.address, &a, "GET", "/quick", "", NULL, 0);
        served = a.status;
        client_answer_clear(&a);
    }
    assert_int_equal(served, 200);
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
        "POST /digest HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "GET /quick HTTP/1.1\r\n\r\n",
        "GET /quick HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nab"};
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
    client_printf(fd, " HTTP/1.1\r\nHost: localhost\r\n\r\n");
    client_read(fd, &a, false);
    assert_int_equal(a.status, 414);
    client_answer_clear(&a);
    (void)close(fd);
    fd = client_connect(f.address);
    client_printf(fd, "GET /quick HTTP/1.1\r\nHost: localhost\r\nX: ");
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
    const char *const bad_names[] = {"", "http://a", "a:1", "*.example.org", "a b"};
    for (size_t i = 0; i < sizeof bad_names / sizeof *bad_names; i++) {
        c = config_of(&g, listen, 1);
        c.host_names = &bad_names[i];
        c.n_host_names = 1;
        assert_status_is(http_server_open(&g.s, &c), CUZK_EINVAL);
        assert_error_mentions("daemon.host_names");
    }
    access_close(g.rules);
    http_server_close(NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_access), cmocka_unit_test(test_names),
                                       cmocka_unit_test(test_slow_clients),
                                       cmocka_unit_test(test_rubbish),
                                       cmocka_unit_test(test_listening)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
