/*
 * unit/wire/test_grpc_server.c - the gRPC server through our own client: limits, tokens, cancels, sockets, health, rubbish
 *
 * Other people's client: tests/e2e/grpc.sh.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/hash.h"
#include "harness/harness.h"
#include "wire/grpc_client.h"
#include "wire/grpc_health.h"
#include "wire/grpc_reflection.h"
#include "wire/grpc_server.h"
#include "wire/proto/health.pb-c.h"

#define LIMIT (1u << 20)

/* ---- a server with a few methods ---- */

static atomic_uint n_held, n_gone;

static void echo(void *ctx, gcall *c)
{
    bytes_in in = gcall_request(c);

    (void)ctx;
    gcall_reply(c, in.data, in.size, NULL, NULL);
}

static void size_of(void *ctx, gcall *c)
{
    char text[32];
    int n = snprintf(text, sizeof text, "%zu", gcall_request(c).size);

    (void)ctx;
    gcall_drop_request(c);
    gcall_reply(c, text, (size_t)n, NULL, NULL);
}

static void gone(void *ctx)
{
    gcall *c = ctx;

    atomic_fetch_add(&n_gone, 1);
    gcall_fail(c, GCODE_CANCELLED, "gone");
    gcall_unref(c);
}

/** Never answers by itself. */
static void hold(void *ctx, gcall *c)
{
    (void)ctx;
    gcall_ref(c);
    atomic_fetch_add(&n_held, 1);
    gcall_on_cancel(c, gone, c);
}

static void refuse(void *ctx, gcall *c)
{
    (void)ctx;
    gcall_fail(c, GCODE_FAILED_PRECONDITION, "in use: \"%s\" by %d", "key\n", 3);
}

typedef struct fixture {
    access_list *access;
    ghealth *health;
    gmethod methods[5 + GHEALTH_METHODS + GREFLECTION_METHODS];
    gserver *server;
    char address[200];
} fixture;

static void open_server(fixture *f, gserver_config *config)
{
    static const char *const services[] = {"t.Test"};
    const char *listen[2] = {f->address, "127.0.0.1:0"};
    access_config none = {0};

    if (f->access == NULL) assert_status_ok(access_open(&f->access, &none));
    assert_status_ok(ghealth_open(&f->health, services, 1));
    f->methods[0] = (gmethod){.path = "/t.Test/Echo", .scope = ACCESS_READ, .message = echo};
    f->methods[1] = (gmethod){.path = "/t.Test/Size", .scope = ACCESS_PROVE, .message = size_of};
    f->methods[2] = (gmethod){.path = "/t.Test/Hold", .message = hold};
    f->methods[3] = (gmethod){.path = "/t.Test/Fail", .message = refuse};
    f->methods[4] = (gmethod){.path = "/t.Test/Look", .message = echo, .always = true};
    ghealth_methods(f->health, f->methods + 5);
    greflection_methods(f->methods + 5 + GHEALTH_METHODS);
    (void)snprintf(f->address, sizeof f->address, "unix://%s", harness_temp_path("s.sock"));
    config->listen = listen;
    config->n_listen = 2;
    config->access = f->access;
    config->methods = f->methods;
    config->n_methods = sizeof f->methods / sizeof f->methods[0];
    config->max_message = LIMIT;
    assert_status_ok(gserver_open(&f->server, config));
    assert_string_equal(gserver_address(f->server, 0), f->address);
    assert_null(gserver_address(f->server, 2));
}

static void close_server(fixture *f)
{
    ghealth_end_watches(f->health);
    gserver_close(f->server, 1000);
    ghealth_close(f->health);
    access_close(f->access);
}

static gclient *client_of(const char *address, const char *token, bool gzip)
{
    gclient_config config = {.address = address, .token = token, .gzip = gzip};
    gclient *c;

    assert_status_ok(gclient_open(&c, &config));
    return c;
}

/** The code of a call with n bytes of data; the answer in *r. */
static gcode call(gclient *c, const char *path, const void *data, size_t n, greply *r)
{
    gcall_options o = {.timeout_ms = 300000};

    assert_status_ok(gclient_call(c, path, data, n, &o, r));
    return r->code;
}

/** Statistics once that many calls are left. */
static gserver_stats stats_with(gserver *s, uint64_t active)
{
    gserver_stats stats;

    for (unsigned i = 0; i < 120000; i++) {
        gserver_get_stats(s, &stats);
        if (stats.active == active) break;
        usleep(1000);
    }
    assert_int_equal(stats.active, active);
    return stats;
}

static void wait_for(const atomic_uint *value, unsigned want)
{
    for (unsigned i = 0; i < 120000 && atomic_load(value) < want; i++) usleep(1000);
    assert_int_equal(atomic_load(value), want);
}

/* ---- messages ---- */

static void test_carries_messages(void **state)
{
    fixture f = {0};
    gserver_config config = {0};
    uint8_t *data = malloc(LIMIT + 1);
    greply r;

    (void)state;
    assert_non_null(data);
    harness_random_bytes(data, LIMIT + 1);
    open_server(&f, &config);
    for (size_t i = 0; i < 2; i++) {
        gclient *c = client_of(gserver_address(f.server, i), NULL, i == 1);
        static const size_t sizes[] = {0, 1, 5, 16384, 65537, LIMIT};

        for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
            assert_int_equal(call(c, "/t.Test/Echo", data, sizes[k], &r), GCODE_OK);
            assert_int_equal(r.size, sizes[k]);
            assert_memory_equal(r.data, data, sizes[k]);
            greply_clear(&r);
        }
        assert_int_equal(call(c, "/t.Test/Size", data, LIMIT + 1, &r), GCODE_RESOURCE_EXHAUSTED);
        assert_non_null(strstr(r.text, "1048576"));
        assert_int_equal(call(c, "/t.Test/Nothing", data, 3, &r), GCODE_UNIMPLEMENTED);
        assert_int_equal(call(c, "/t.Test/Fail", data, 3, &r), GCODE_FAILED_PRECONDITION);
        assert_string_equal(r.text, "in use: \"key\n\" by 3");
        gclient_close(c);
    }
    gserver_stats stats = stats_with(f.server, 0);
    assert_int_equal(stats.calls, 18);
    assert_int_equal(stats.inflight_bytes, 0);
    assert_int_equal(stats.connections, 2);
    close_server(&f);
    free(data);
}

static void test_bomb_is_not_inflated(void **state)
{
    fixture f = {0};
    gserver_config config = {0};
    size_t n = 40u << 20;
    uint8_t *zeros = calloc(n, 1);
    greply r;

    (void)state;
    assert_non_null(zeros);
    open_server(&f, &config);
    gclient *c = client_of(f.address, NULL, true);
    assert_int_equal(call(c, "/t.Test/Size", zeros, LIMIT, &r), GCODE_OK);
    assert_string_equal((const char *)r.data, "1048576");
    greply_clear(&r);
    assert_int_equal(call(c, "/t.Test/Size", zeros, LIMIT + 1, &r), GCODE_RESOURCE_EXHAUSTED);
    assert_non_null(strstr(r.text, "daemon.max_message"));
    assert_int_equal(call(c, "/t.Test/Size", zeros, n, &r), GCODE_RESOURCE_EXHAUSTED);
    gclient_close(c);
    close_server(&f);
    free(zeros);
}

static void test_limits_bytes_in_flight(void **state)
{
    fixture f = {0};
    gserver_config config = {.max_inflight_bytes = 100000};
    uint8_t *data = calloc(LIMIT, 1);
    greply r;

    (void)state;
    assert_non_null(data);
    open_server(&f, &config);
    gclient *c = client_of(f.address, NULL, false);
    assert_int_equal(call(c, "/t.Test/Size", data, 90000, &r), GCODE_OK);
    greply_clear(&r);
    assert_int_equal(call(c, "/t.Test/Size", data, 100001, &r), GCODE_RESOURCE_EXHAUSTED);
    assert_non_null(strstr(r.text, "limit 100000 (daemon.max_inflight_bytes)"));
    config.max_inflight_bytes = 200000;
    assert_status_ok(gserver_reload(f.server, &config));
    assert_int_equal(call(c, "/t.Test/Size", data, 100001, &r), GCODE_OK);
    greply_clear(&r);
    gclient_close(c);
    close_server(&f);
    free(data);
}

/* ---- who may ---- */

static void test_checks_tokens(void **state)
{
    fixture f = {0};
    gserver_config config = {0};
    uint8_t digest[32];
    char line[200], hex[65];
    const char *path = harness_temp_path("tokens");
    access_config rules = {.tokens_file = path};
    greply r;

    (void)state;
    sha256(digest, "secret-1", 8);
    hex_encode(hex, digest, 32);
    int n = snprintf(line, sizeof line, "%s read panel\n", hex);
    harness_write_file(path, line, (size_t)n);
    assert_status_ok(access_open(&f.access, &rules));
    open_server(&f, &config);

    gclient *good = client_of(f.address, "secret-1", false);
    gclient *wrong = client_of(f.address, "secret-2", false);
    assert_int_equal(call(good, "/t.Test/Echo", "abc", 3, &r), GCODE_OK);
    greply_clear(&r);
    assert_int_equal(call(good, "/t.Test/Size", "abc", 3, &r), GCODE_PERMISSION_DENIED);
    assert_non_null(strstr(r.text, "`prove`"));
    assert_int_equal(call(wrong, "/t.Test/Echo", "abc", 3, &r), GCODE_UNAUTHENTICATED);
    assert_null(strstr(r.text, "secret"));
    gclient_close(good);
    gclient_close(wrong);
    close_server(&f);
}

/* ---- clients that go ---- */

typedef struct holder {
    const char *address;
    const char *path; /* NULL: Hold */
    uint64_t timeout_ms;
    atomic_bool leave;
    gcode code;
    cuzk_status st;
} holder;

static bool is_to_leave(void *ctx)
{
    return atomic_load((atomic_bool *)ctx);
}

static void *hold_one(void *arg)
{
    holder *h = arg;
    gclient *c = client_of(h->address, NULL, false);
    gcall_options o = {.timeout_ms = h->timeout_ms, .stop = is_to_leave, .ctx = &h->leave};
    greply r;

    h->st = gclient_call(c, h->path == NULL ? "/t.Test/Hold" : h->path, "", 0, &o, &r);
    h->code = r.code;
    greply_clear(&r);
    gclient_close(c);
    return NULL;
}

static bool at_once(void *ctx)
{
    (void)ctx;
    return atomic_load(&n_held) != 0;
}

static void test_tells_when_clients_go(void **state)
{
    fixture f = {0};
    gserver_config config = {.max_requests = 3};
    holder h[3];
    pthread_t t[3];
    unsigned before;
    greply r;

    (void)state;
    atomic_store(&n_held, 0);
    atomic_store(&n_gone, 0);
    open_server(&f, &config);
    gclient *c = client_of(f.address, NULL, false);
    gcall_options o = {.stop = at_once};
    assert_status_is(gclient_call(c, "/t.Test/Hold", "", 0, &o, &r), CUZK_ECANCELLED);
    wait_for(&n_gone, 1);

    o = (gcall_options){.timeout_ms = 500};
    assert_status_ok(gclient_call(c, "/t.Test/Hold", "", 0, &o, &r));
    assert_int_equal(r.code, GCODE_DEADLINE_EXCEEDED);
    greply_clear(&r);
    assert_int_equal(call(c, "/t.Test/Echo", "abc", 3, &r), GCODE_OK); /* behind it */
    greply_clear(&r);
    (void)stats_with(f.server, 0);
    wait_for(&n_gone, atomic_load(&n_held));
    before = atomic_load(&n_held);

    for (unsigned i = 0; i < 3; i++) {
        h[i] = (holder){.address = f.address, .timeout_ms = 600000};
        assert_int_equal(pthread_create(&t[i], NULL, hold_one, &h[i]), 0);
    }
    wait_for(&n_held, before + 3);
    assert_int_equal(call(c, "/t.Test/Echo", "abc", 3, &r), GCODE_RESOURCE_EXHAUSTED);
    assert_non_null(strstr(r.text, "limit 3 (daemon.max_requests)"));
    assert_int_equal(call(c, "/t.Test/Look", "", 0, &r), GCODE_OK); /* whoever else waits */
    greply_clear(&r);
    atomic_store(&h[0].leave, true);
    assert_int_equal(pthread_join(t[0], NULL), 0);
    assert_int_equal(h[0].st, CUZK_ECANCELLED);
    wait_for(&n_gone, before + 1);
    (void)stats_with(f.server, 2);
    assert_int_equal(call(c, "/t.Test/Echo", "abc", 3, &r), GCODE_OK);
    greply_clear(&r);
    gclient_close(c);

    close_server(&f); /* what is still held is told to go */
    for (unsigned i = 1; i < 3; i++) assert_int_equal(pthread_join(t[i], NULL), 0);
    assert_true(h[1].st == CUZK_EIO || h[1].code == GCODE_CANCELLED);
    assert_int_equal(atomic_load(&n_gone), before + 3);
}

/* ---- sockets ---- */

static void test_sockets(void **state)
{
    fixture f = {0};
    gserver_config config = {0}, second;
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    struct stat info;
    gserver *s;

    (void)state;
    /* one that a process that was killed has left is taken over */
    (void)snprintf(a.sun_path, sizeof a.sun_path, "%s", harness_temp_path("s.sock"));
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&a, sizeof a), 0);
    close(fd);
    open_server(&f, &config);
    assert_int_equal(stat(a.sun_path, &info), 0);
    assert_int_equal(info.st_mode & 07777, 0660);

    second = config;
    second.listen = (const char *const[]){f.address};
    second.n_listen = 1;
    assert_int_not_equal(gserver_open(&s, &second), CUZK_OK);
    assert_error_mentions("another process");
    static const char *const bad[] = {"unix:///nowhere/at/all/s.sock", "127.0.0.1", "host:99999",
                                      "tls://127.0.0.1:0", "192.0.2.1:1"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        second.listen = &bad[i];
        assert_int_not_equal(gserver_open(&s, &second), CUZK_OK);
        assert_error_mentions("daemon.listen");
    }
    harness_write_file(harness_temp_path("file"), "x", 1);
    char path[200];
    (void)snprintf(path, sizeof path, "unix://%s", harness_temp_path("file"));
    second.listen = (const char *const[]){path};
    assert_int_not_equal(gserver_open(&s, &second), CUZK_OK);
    assert_error_mentions("no socket");
    close_server(&f);
    assert_int_not_equal(stat(a.sun_path, &info), 0);
}

/** Rubbish, and clients that stop half-way, beside one that works. */
static void test_bears_rubbish(void **state)
{
    fixture f = {0};
    gserver_config config = {0};
    int fds[40];
    uint8_t noise[4000];
    greply r;

    (void)state;
    open_server(&f, &config);
    for (unsigned i = 0; i < 40; i++) {
        struct sockaddr_un a = {.sun_family = AF_UNIX};
        static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0";
        size_t n = 1 + harness_random_below(sizeof noise);

        harness_random_bytes(noise, sizeof noise);
        (void)snprintf(a.sun_path, sizeof a.sun_path, "%s", harness_temp_path("s.sock"));
        fds[i] = socket(AF_UNIX, SOCK_STREAM, 0);
        assert_int_equal(connect(fds[i], (const struct sockaddr *)&a, sizeof a), 0);
        if (i % 4 != 0) assert_true(send(fds[i], preface, sizeof preface - 1, MSG_NOSIGNAL) > 0);
        if (i % 4 >= 2) (void)send(fds[i], noise, n, MSG_NOSIGNAL);
    }
    gclient *c = client_of(f.address, NULL, false);
    for (size_t i = 0; i < 20; i++) {
        assert_int_equal(call(c, "/t.Test/Echo", noise, sizeof noise, &r), GCODE_OK);
        greply_clear(&r);
        close(fds[2 * i]);
    }
    /* messages that are no messages */
    assert_int_equal(call(c, "/grpc.health.v1.Health/Check", "\x0a\xff", 2, &r),
                     GCODE_INVALID_ARGUMENT);
    gclient_close(c);
    close_server(&f);
    for (size_t i = 0; i < 20; i++) close(fds[2 * i + 1]);
}

static int connect_to(void)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    (void)snprintf(a.sun_path, sizeof a.sun_path, "%s", harness_temp_path("s.sock"));
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&a, sizeof a) == 0) return fd;
    if (fd >= 0) close(fd);
    return -1;
}

/** Connections take descriptors until there are none to give: the server goes on, and takes new ones later. */
static void test_bears_a_lack_of_descriptors(void **state)
{
    fixture f = {0};
    gserver_config config = {0};
    struct rlimit before, few;
    int fds[300];
    size_t n = 0;
    greply r;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = (struct rlimit){.rlim_cur = 256, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    open_server(&f, &config);
    gclient *c = client_of(f.address, NULL, false);
    assert_int_equal(call(c, "/t.Test/Echo", "abc", 3, &r), GCODE_OK);
    greply_clear(&r);
    /* both ends are ours: each takes two, until even the connecting end finds none */
    while (n < 300 && (fds[n] = connect_to()) >= 0) n++;
    assert_true(n > 50 && n < 300);
    for (unsigned i = 0; i < 5; i++) {
        assert_int_equal(call(c, "/t.Test/Echo", "abc", 3, &r), GCODE_OK);
        greply_clear(&r);
    }
    while (n > 0) close(fds[--n]);
    gclient *later = client_of(f.address, NULL, false);
    assert_int_equal(call(later, "/t.Test/Echo", "abc", 3, &r), GCODE_OK);
    greply_clear(&r);
    gclient_close(later);
    gclient_close(c);
    close_server(&f);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

/** A client that is slow to take an answer: its thread's track says so, other calls go on. */
static void test_names_a_slow_client(void **state)
{
    (void)state;
#ifdef CUZK_VERIFY
    fixture f = {0};
    gserver_config config = {0};
    greply r;
    holder h;
    pthread_t t;
    mem *m;
    bytes_out trace;

    assert_status_ok(span_rec_open(&config.spans));
    open_server(&f, &config);
    gclient *c = client_of(f.address, NULL, false);
    fault_arm("slow client:600000");
    h = (holder){.address = f.address, .path = "/t.Test/Echo", .timeout_ms = 600000};
    assert_int_equal(pthread_create(&t, NULL, hold_one, &h), 0);
    while (!fault_held("slow client")) usleep(1000);
    assert_int_equal(call(c, "/t.Test/Echo", "abc", 3, &r), GCODE_OK);
    greply_clear(&r);
    assert_true(fault_held("slow client")); /* it is waited for by nobody else */
    usleep(400000);
    fault_arm(NULL);
    assert_int_equal(pthread_join(t, NULL), 0);
    assert_int_equal(h.code, GCODE_OK);
    gclient_close(c);
    close_server(&f);

    assert_status_ok(mem_open(&m, "trace", 0, NULL));
    bytes_out_init(&trace, m);
    assert_status_ok(span_write_trace(config.spans, &trace));
    bytes_put_u8(&trace, 0);
    assert_status_ok(bytes_out_status(&trace));
    const char *text = (const char *)trace.data, *at = text;
    bool named = false;
    assert_non_null(strstr(text, "grpc 0"));
    while ((at = strstr(at, "\"send response\"")) !=
           NULL) { /* ..."dur":400123.456... in microseconds, somewhere in its line */
        const char *end = strchr(at, '\n'), *dur = strstr(at, "\"dur\":");
        named =
            named || (dur != NULL && (end == NULL || dur < end) && strtod(dur + 6, NULL) >= 400000);
        at++;
    }
    assert_true(named);
    bytes_out_clear(&trace);
    mem_close(m);
    span_rec_close(config.spans);
#endif
}

static void test_health(void **state)
{
    fixture f = {0};
    gserver_config config = {0};
    greply r;
    static const struct {
        const char *request;
        size_t size;
        gcode code;
    } cases[] = {
        {"", 0, GCODE_OK}, {"\x0a\x06t.Test", 8, GCODE_OK}, {"\x0a\x05t.Tes", 7, GCODE_NOT_FOUND}};

    (void)state;
    open_server(&f, &config);
    gclient *c = client_of(f.address, NULL, false);
    for (unsigned serving = 0; serving < 2; serving++) {
        ghealth_set_serving(f.health, serving == 1);
        for (size_t i = 0; i < 3; i++) {
            assert_int_equal(
                call(c, "/grpc.health.v1.Health/Check", cases[i].request, cases[i].size, &r),
                cases[i].code);
            if (r.code == GCODE_OK) {
                assert_int_equal(r.size, 2);
                assert_memory_equal(r.data, serving == 1 ? "\x08\x01" : "\x08\x02", 2);
            }
            greply_clear(&r);
        }
    }
    gclient_close(c);
    close_server(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_carries_messages),
        cmocka_unit_test(test_bomb_is_not_inflated),
        cmocka_unit_test(test_limits_bytes_in_flight),
        cmocka_unit_test(test_checks_tokens),
        cmocka_unit_test(test_tells_when_clients_go),
        cmocka_unit_test(test_sockets),
        cmocka_unit_test(test_bears_rubbish),
        cmocka_unit_test(test_health),
        cmocka_unit_test(test_bears_a_lack_of_descriptors),
        cmocka_unit_test(test_names_a_slow_client),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
