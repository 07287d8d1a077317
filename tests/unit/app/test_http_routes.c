/*
 * unit/app/test_http_routes.c - the HTTP face over a service that the test plays
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "../wire/http_client.h"
#include "fake_service.h"

#include "app/http_routes.h"
#include "wire/access.h"

#include <unistd.h>

/* snarkjs's own example numbers are not needed: any below 2^256 will do */
static const char proof[] =
    "{\"pi_a\":[\"1\",\"255\",\"1\"],\"pi_b\":[[\"2\",\"3\"],[\"4\",\"5\"],[\"1\",\"0\"]],"
    "\"pi_c\":[\"16\","
    "\"115792089237316195423570985008687907853269984665640564039457584007913129639935\",\"1\"],"
    "\"protocol\":\"groth16\",\"curve\":\"bn128\"}";
static const char signals[] = "[\"33\",\"0\"]";
#define ZEROS60 "000000000000000000000000000000000000000000000000000000000000"

typedef struct fixture {
    cuzk_service service;
    access_list *rules;
    http *h;
    const char *address;
    unsigned n_lines;
} fixture;

static void on_log(void *ctx, int level, const char *event, const cuzk_log_field *f, size_t n)
{
    fixture *x = ctx;

    assert_true(level >= CUZK_LOG_ERROR && level <= CUZK_LOG_DEBUG);
    assert_non_null(event);
    for (size_t i = 0; i < n; i++) assert_non_null(f[i].key);
    x->n_lines++;
}

static void more_metrics(void *ctx, bytes_out *out)
{
    (void)ctx;
    bytes_printf(out, "more_of_it 1\n");
}

static void start(fixture *f)
{
    static const char *const listen[] = {"127.0.0.1:0"};
    const access_config none = {0};

    memset(f, 0, sizeof *f);
    fake_service_init(&f->service);
    f->service.result.proof_json = (cuzk_bytes){(const uint8_t *)proof, sizeof proof - 1};
    f->service.result.public_json = (cuzk_bytes){(const uint8_t *)signals, sizeof signals - 1};
    f->service.state = CUZK_JOB_COMPLETED;
    assert_status_ok(access_open(&f->rules, &none));
    const http_config c = {.listen = listen,
                           .n_listen = 1,
                           .access = f->rules,
                           .log = on_log,
                           .log_ctx = f,
                           .more_metrics = more_metrics};
    assert_status_ok(http_start(&f->h, &c, &f->service));
    f->address = http_address(f->h, 0);
}

static void stop(fixture *f)
{
    http_stop(f->h, 0);
    access_close(f->rules);
    assert_null(f->service.on_event);
    assert_true(f->n_lines > 0);
}

static client_answer ask(fixture *f, const char *method, const char *target, const char *lines,
                         const char *body)
{
    client_answer a;

    client_ask(f->address, &a, method, target, lines, body, body == NULL ? 0 : strlen(body));
    return a;
}

/** Asks, and the answer has this status and its body contains this text. */
static void expect(fixture *f, const char *method, const char *target, const char *body,
                   unsigned status, const char *text)
{
    client_answer a = ask(f, method, target, "", body);

    if (a.status != status || strstr((const char *)a.body, text) == NULL)
        harness_fail("%s %s: %u %s; wanted %u %s", method, target, a.status, (const char *)a.body,
                     status, text);
    client_answer_clear(&a);
}

static void test_documents(void **state)
{
    static const char *const paths[] = {"/status",          "/jobs?state=failed&limit=5",
                                        "/jobs/a%2Fb%20c",  "/timeline?since=400",
                                        "/trace?job=x%20y", "/metrics"};
    fixture f;
    client_answer a;

    (void)state;
    start(&f);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        expect(&f, "GET", paths[i], NULL, 200, "doc /");
        assert_string_equal(f.service.path, paths[i]);
    }
    a = ask(&f, "GET", "/metrics", "", NULL);
    assert_string_equal(client_header(&a, "Content-Type"), "text/plain; version=0.0.4");
    assert_non_null(strstr((const char *)a.body, "cuzk_http_requests_total "));
    assert_non_null(strstr((const char *)a.body, "more_of_it 1\n"));
    client_answer_clear(&a);
    expect(&f, "GET", "/v1/circuits", NULL, 200, "doc /circuits");
    expect(&f, "GET", "/jobs/none", NULL, 404, "no such job");
    expect(&f, "GET", "/healthz", NULL, 200, "ok");
    expect(&f, "GET", "/readyz", NULL, 200, "ready");
    f.service.draining = true;
    expect(&f, "GET", "/readyz", NULL, 503, "drains");
    f.service.draining = false;
    http_drain(f.h);
    expect(&f, "GET", "/readyz", NULL, 503, "drains");
    expect(&f, "GET", "/healthz", NULL, 200, "ok");
    stop(&f);
}

static void test_panel(void **state)
{
    static const char *const paths[] = {"/",
                                        "/panel.css",
                                        "/panel.js",
                                        "/panel-dom.js",
                                        "/panel-link.js",
                                        "/panel-timeline.js",
                                        "/panel-icon.svg"};
    fixture f;
    client_answer a;
    char lines[128];

    (void)state;
    start(&f);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        a = ask(&f, "GET", paths[i], "", NULL);
        assert_int_equal(a.status, 200);
        assert_true(a.size > 0);
        assert_non_null(strstr(client_header(&a, "Content-Security-Policy"), "default-src 'none'"));
        snprintf(lines, sizeof lines, "If-None-Match: %s\r\n", client_header(&a, "ETag"));
        client_answer_clear(&a);
        a = ask(&f, "GET", paths[i], lines, NULL);
        assert_int_equal(a.status, 304);
        client_answer_clear(&a);
    }
    expect(&f, "GET", "/panel.exe", NULL, 404, "nothing is here");
    stop(&f);
}

static void test_prove(void **state)
{
    fixture f;
    client_answer a;

    (void)state;
    start(&f);
    f.service.ends_at_once = true;
    a = ask(&f, "POST", "/v1/circuits/my%20one/prove", "Idempotency-Key: a b/c\r\n", "wtns");
    assert_int_equal(a.status, 200);
    assert_string_equal(client_header(&a, "Cuzk-Job-Id"), "a%20b%2Fc");
    assert_string_equal(f.service.circuit, "my one");
    assert_string_equal(f.service.request_id, "a b/c");
    assert_string_equal(f.service.body, "wtns");
    assert_false(f.service.json);
    char want[1024];
    snprintf(want, sizeof want, "{\"proof\":%s,\"publicSignals\":%s}\n", proof, signals);
    assert_string_equal((const char *)a.body, want);
    client_answer_clear(&a);
    a = ask(&f, "POST", "/v1/circuits/c/prove", "Content-Type: application/json; charset=utf-8\r\n",
            "{\"a\":1}");
    assert_int_equal(a.status, 200);
    assert_true(f.service.json);
    assert_string_equal(f.service.body, "{\"a\":1}");
    client_answer_clear(&a);
    expect(&f, "POST", "/v1/circuits/c/prove", "", 400, "empty");
    expect(&f, "GET", "/v1/circuits/c/prove", NULL, 405, "POST");
    /* call data, imaginary parts first */
    expect(&f, "POST", "/v1/circuits/c/prove?calldata=1", "w", 200,
           "\"calldata\":\"[\\\"0x" ZEROS60 "0001\\\", \\\"0x" ZEROS60 "00ff\\\"],[[\\\"0x" ZEROS60
           "0003\\\", \\\"0x" ZEROS60 "0002\\\"],[\\\"0x" ZEROS60 "0005\\\", \\\"0x" ZEROS60
           "0004\\\"]],[\\\"0x" ZEROS60 "0010\\\", \\\"0xffffffffffffffffffffffffffffffff"
           "ffffffffffffffffffffffffffffffff\\\"],[\\\"0x" ZEROS60 "0021\\\",\\\"0x" ZEROS60
           "0000\\\"]\"}");
    static const char other[] =
        "{\"pi_a\":[\"1\",\"2\",\"1\"],\"pi_b\":[[\"2\",\"3\"],[\"4\",\"5\"],[\"1\",\"0\"]],"
        "\"pi_c\":[\"1\",\"2\",\"1\"],\"curve\":\"bls12381\"}";
    f.service.result.proof_json = (cuzk_bytes){(const uint8_t *)other, sizeof other - 1};
    expect(&f, "POST", "/v1/circuits/c/prove?calldata=1", "w", 400, "bn128");
    expect(&f, "POST", "/v1/circuits/c/prove?calldata=0", "w", 200, "bls12381");
    stop(&f);
}

static void test_prove_later(void **state)
{
    fixture f;
    client_answer a;

    (void)state;
    start(&f);
    a = ask(&f, "POST", "/v1/circuits/c/prove?async=1", "Idempotency-Key: x y\r\n", "w");
    assert_int_equal(a.status, 202);
    assert_string_equal(client_header(&a, "Location"), "/v1/jobs/x%20y");
    assert_string_equal(
        (const char *)a.body,
        "{\"job_id\":\"x y\",\"queue_position\":3,\"known\":false,\"device\":\"cpu\"}\n");
    client_answer_clear(&a);
    f.service.state = CUZK_JOB_RUNNING;
    expect(&f, "GET", "/v1/jobs/x%20y", NULL, 200, "{\"job_id\":\"x y\",\"state\":\"running\"");
    assert_string_equal(f.service.request_id, "x y");
    assert_int_equal(f.service.timeout_ms, 1);
    expect(&f, "GET", "/v1/jobs/x?wait=20", NULL, 200, "\"total_ms\":0}");
    assert_int_equal(f.service.timeout_ms, 20000);
    expect(&f, "GET", "/v1/jobs/x?wait=3601", NULL, 400, "0 to 3600");
    expect(&f, "GET", "/v1/jobs/x?wait=-1", NULL, 400, "0 to 3600");
    f.service.ends_at_once = true;
    f.service.state = CUZK_JOB_COMPLETED;
    expect(&f, "GET", "/v1/jobs/x", NULL, 200, "\"proof\":{\"pi_a\"");
    expect(&f, "GET", "/v1/jobs/x?calldata=1", NULL, 200, "\"calldata\":");
    f.service.result.proof_json.size = 0;
    f.service.result.proof = (cuzk_bytes){(const uint8_t *)"\x01\xff", 2};
    expect(&f, "GET", "/v1/jobs/x", NULL, 200, "\"proof_hex\":\"01ff\"");
    f.service.state = CUZK_JOB_FAILED;
    snprintf(f.service.error.message, sizeof f.service.error.message, "row 3 does not hold");
    expect(&f, "GET", "/v1/jobs/x", NULL, 200, "\"message\":\"row 3 does not hold\"");
    f.service.wait = CUZK_EINVAL;
    snprintf(f.service.error.where, sizeof f.service.error.where, "job_id");
    expect(&f, "GET", "/v1/jobs/x", NULL, 404, "error");
    expect(&f, "DELETE", "/v1/jobs/x", NULL, 404, "error");
    f.service.wait = CUZK_OK;
    expect(&f, "DELETE", "/v1/jobs/x%2Fy", NULL, 200, "{\"job_id\":\"x/y\",\"was_running\":true}");
    expect(&f, "POST", "/v1/jobs/x%20z/cancel", "", 200, "{\"job_id\":\"x z\"");
    assert_int_equal(f.service.n_cancels, 3);
    stop(&f);
}

static void test_failures(void **state)
{
    static const struct {
        cuzk_status st;
        cuzk_class klass;
        const char *where;
        unsigned status;
    } calls[] = {{CUZK_EINVAL, CUZK_CLASS_NONE, "circuit", 404},
                 {CUZK_EINVAL, CUZK_CLASS_NONE, "request_id", 400},
                 {CUZK_EDATA, CUZK_CLASS_MALFORMED, "", 400},
                 {CUZK_EBUDGET, CUZK_CLASS_LIMIT, "queue", 429},
                 {CUZK_EBUDGET, CUZK_CLASS_RESOURCE, "memory", 413},
                 {CUZK_ECANCELLED, CUZK_CLASS_NONE, "", 503},
                 {CUZK_EIO, CUZK_CLASS_IO, "store", 503},
                 {CUZK_EBUG, CUZK_CLASS_BUG, "", 500}},
      jobs[] = {{CUZK_EDATA, CUZK_CLASS_MALFORMED, "", 400},
                {CUZK_EDATA, CUZK_CLASS_SHAPE, "", 400},
                {CUZK_EDATA, CUZK_CLASS_UNSATISFIED, "", 422},
                {CUZK_EDATA, CUZK_CLASS_LIMIT, "", 413},
                {CUZK_ETIMEOUT, CUZK_CLASS_NONE, "", 504},
                {CUZK_EDEVICE, CUZK_CLASS_DEVICE, "", 500}};
    fixture f;
    client_answer a;

    (void)state;
    start(&f);
    snprintf(f.service.error.message, sizeof f.service.error.message, "why it is so");
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        f.service.submit = calls[i].st;
        f.service.error.klass = calls[i].klass;
        snprintf(f.service.error.where, sizeof f.service.error.where, "%s", calls[i].where);
        a = ask(&f, "POST", "/v1/circuits/c/prove", "", "w");
        assert_int_equal(a.status, calls[i].status);
        assert_non_null(strstr((const char *)a.body, "why it is so"));
        assert_int_equal(client_header(&a, "Retry-After")[0] != 0,
                         calls[i].status == 429 || calls[i].status == 503);
        client_answer_clear(&a);
    }
    f.service.submit = CUZK_OK;
    f.service.ends_at_once = true;
    f.service.state = CUZK_JOB_FAILED;
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        f.service.error.status = jobs[i].st;
        f.service.error.klass = jobs[i].klass;
        expect(&f, "POST", "/v1/circuits/c/prove", "w", jobs[i].status, "why it is so");
    }
    f.service.state = CUZK_JOB_CANCELLED;
    expect(&f, "POST", "/v1/circuits/c/prove", "w", 409, "cancelled");
    stop(&f);
}

#define WAIT_FOR(cond) \
    do { \
        for (unsigned spins_ = 0; !(cond); spins_++) { \
            if (spins_ > 120000) harness_fail("waited in vain for %s", #cond); \
            (void)usleep(1000); \
        } \
    } while (0)

static int begin(fixture *f)
{
    int fd = client_connect(f->address);

    client_printf(
        fd, "POST /v1/circuits/c/prove HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\nw");
    WAIT_FOR(fake_service_waited_for(&f->service));
    return fd;
}

static void test_waiting(void **state)
{
    fixture f;
    client_answer a;

    (void)state;
    start(&f);
    int fd = begin(&f);
    fake_service_end(&f.service, CUZK_WAIT_ENDED);
    client_read(fd, &a, false);
    assert_int_equal(a.status, 200);
    client_answer_clear(&a);
    (void)close(fd);
    /* the client goes first */
    fd = begin(&f);
    (void)close(fd);
    WAIT_FOR(!fake_service_waited_for(&f.service)); /* n_unwaits and n_gone are set with it */
    assert_int_equal(f.service.n_unwaits, 1);
    assert_int_equal(f.service.n_gone, 1);
    /* the service closes first */
    fd = begin(&f);
    fake_service_end(&f.service, CUZK_WAIT_CLOSED);
    client_read(fd, &a, false);
    assert_int_equal(a.status, 503);
    assert_non_null(strstr((const char *)a.body, "the job is kept"));
    client_answer_clear(&a);
    (void)close(fd);
    /* the server closes first: the claim stays */
    fd = begin(&f);
    http_stop(f.h, 10);
    assert_int_equal(f.service.n_unwaits, 2);
    assert_int_equal(f.service.n_gone, 1);
    client_read(fd, &a, false);
    assert_int_equal(a.status, 503);
    client_answer_clear(&a);
    (void)close(fd);
    access_close(f.rules);
}

static void test_events(void **state)
{
    fixture f;

    (void)state;
    start(&f);
    int fd = client_connect(f.address);
    client_printf(fd, "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert_true(client_wait_for(fd, "retry: 1000\n"));
    f.service.on_event(f.service.event_ctx, "{\"seq\":5}", 9);
    assert_true(client_wait_for(fd, "data: {\"seq\":5}\n\n"));
    (void)close(fd);
    stop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_documents), cmocka_unit_test(test_panel),
        cmocka_unit_test(test_prove),     cmocka_unit_test(test_prove_later),
        cmocka_unit_test(test_failures),  cmocka_unit_test(test_waiting),
        cmocka_unit_test(test_events)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
