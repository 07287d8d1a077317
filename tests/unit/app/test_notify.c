/*
 * unit/app/test_notify.c - messages to a service manager: path and abstract sockets, none at all, the watchdog's times
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "harness/harness.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "app/notify.h"

/** A manager's socket; name "@..." is abstract. */
static int manager(const char *name)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_DGRAM, 0);

    assert_true(fd >= 0 && strlen(name) < sizeof a.sun_path);
    memcpy(a.sun_path, name, strlen(name));
    if (name[0] == '@') a.sun_path[0] = 0;
    assert_int_equal(bind(fd, (struct sockaddr *)&a,
                          (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name))),
                     0);
    return fd;
}

static void check_one(const char *name)
{
    int fd = manager(name);
    char got[64] = "";
    notify n;

    notify_open(&n, name, NULL, NULL);
    assert_int_equal(n.watchdog_ns, 0);
    notify_send(&n, "READY=1\nSTATUS=%s %d", "serving", 3);
    assert_int_equal(recv(fd, got, sizeof got - 1, 0), 24);
    assert_string_equal(got, "READY=1\nSTATUS=serving 3");
    (void)close(fd);
    notify_send(&n, "gone"); /* nobody listens: nothing happens */
    notify_close(&n);
    notify_close(&n);
}

static void test_sockets(void **state)
{
    char name[64];

    (void)state;
    check_one(harness_temp_path("manager"));
    (void)snprintf(name, sizeof name, "@cuzk-test-%ld", (long)getpid());
    check_one(name);
}

static void test_none(void **state)
{
    static const char *const names[] = {NULL, "", "relative", "vsock:2:3"};
    notify n;

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        notify_open(&n, names[i], NULL, NULL);
        assert_int_equal(n.fd, -1);
        notify_send(&n, "READY=1");
        notify_close(&n);
    }
    char too_long[200];
    memset(too_long, 'x', sizeof too_long);
    too_long[0] = '/';
    too_long[sizeof too_long - 1] = 0;
    notify_open(&n, too_long, NULL, NULL);
    assert_int_equal(n.fd, -1);
}

/* A manager that does not read must not stop the service. */
static void test_full(void **state)
{
    const char *name = harness_temp_path("full");
    int fd = manager(name);
    notify n;

    (void)state;
    notify_open(&n, name, NULL, NULL);
    for (unsigned i = 0; i < 5000; i++) notify_send(&n, "WATCHDOG=1");
    notify_close(&n);
    (void)close(fd);
}

static void test_watchdog(void **state)
{
    char pid[24];
    notify n;

    (void)state;
    (void)snprintf(pid, sizeof pid, "%ld", (long)getpid());
    notify_open(&n, NULL, "30000000", NULL);
    assert_int_equal(n.watchdog_ns, UINT64_C(30000000000));
    notify_open(&n, NULL, "30000000", pid);
    assert_int_equal(n.watchdog_ns, UINT64_C(30000000000));
    notify_open(&n, NULL, "30000000", "1"); /* meant for another process */
    assert_int_equal(n.watchdog_ns, 0);
    notify_open(&n, NULL, "30s", NULL);
    assert_int_equal(n.watchdog_ns, 0);
    notify_open(&n, NULL, "99999999999999999999", NULL);
    assert_int_equal(n.watchdog_ns, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sockets), cmocka_unit_test(test_none),
                                       cmocka_unit_test(test_full),
                                       cmocka_unit_test(test_watchdog)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
