/*
 * unit/wire/test_net.c - addresses, networks, peers
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "harness/harness.h"

#include "wire/net.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/un.h>

static void test_address(void **state)
{
    static const char *const bad[] = {
        "",     "host", ":1",   "[]:1",    "::1:80",   "h:",    "h:65536",  "h:-1",
        "h:1x", "h: 1", "h:+1", "unix://", "unix://a", "[::1]", "h:000001", "unix:/a"};
    net_address a;
    char longer[400];

    (void)state;
    assert_status_ok(net_address_read(&a, "127.0.0.1:9821"));
    assert_string_equal(a.host, "127.0.0.1");
    assert_int_equal(a.port, 9821);
    assert_false(a.is_unix);
    assert_status_ok(net_address_read(&a, "[::1]:0"));
    assert_string_equal(a.host, "::1");
    assert_int_equal(a.port, 0);
    assert_status_ok(net_address_read(&a, "unix:///run/curio/cuzk.sock"));
    assert_true(a.is_unix);
    assert_string_equal(a.path, "/run/curio/cuzk.sock");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_status_is(net_address_read(&a, bad[i]), CUZK_EDATA);
        assert_error_mentions(bad[i]);
    }
    assert_string_equal(a.path, "/run/curio/cuzk.sock"); /* outputs change only on success */
    memset(longer, 'a', sizeof longer - 1);
    longer[sizeof longer - 1] = 0;
    memcpy(longer, "unix:///", 8);
    assert_status_is(net_address_read(&a, longer), CUZK_EDATA);
    assert_error_mentions("limit 107");
    memcpy(longer + sizeof longer - 4, ":80", 3);
    memset(longer, 'a', 8);
    assert_status_is(net_address_read(&a, longer), CUZK_EDATA);
    assert_error_mentions("limit 255");
}

static net_peer peer_of(const char *ip)
{
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(4000)};
    struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_port = htons(4000)};
    net_peer p;

    if (inet_pton(AF_INET, ip, &in.sin_addr) == 1) {
        net_peer_from(&p, (const struct sockaddr *)&in, sizeof in);
    } else {
        assert_int_equal(inet_pton(AF_INET6, ip, &in6.sin6_addr), 1);
        net_peer_from(&p, (const struct sockaddr *)&in6, sizeof in6);
    }
    assert_true(p.known);
    return p;
}

static bool within(const char *ip, const char *network)
{
    net_peer p = peer_of(ip);
    net_cidr c;

    assert_status_ok(net_cidr_read(&c, network));
    return net_is_in(&p, &c, 1);
}

static void test_networks(void **state)
{
    static const char *const bad[] = {"",          "10.0.0.0/33", "10.0.0.1/8", "fd00::/129",
                                      "fd00::1/8", "10.0.0.0/",   "10.0.0/8",   "10.0.0.0/8/8",
                                      "host/8",    "10.0.0.0/-1", "/8",         "1.1.1.1/ 8"};
    net_cidr c;

    (void)state;
    assert_true(within("10.1.2.3", "10.0.0.0/8"));
    assert_false(within("11.1.2.3", "10.0.0.0/8"));
    assert_true(within("192.168.7.255", "192.168.6.0/23"));
    assert_false(within("192.168.8.0", "192.168.6.0/23"));
    assert_true(within("1.2.3.4", "0.0.0.0/0"));
    assert_false(within("::2", "0.0.0.0/0"));
    assert_true(within("1.2.3.4", "::/0"));
    assert_true(within("1.2.3.4", "1.2.3.4"));
    assert_false(within("1.2.3.5", "1.2.3.4"));
    assert_true(within("fd12::9", "fd00::/8"));
    assert_false(within("fe80::9", "fd00::/8"));
    assert_true(within("::ffff:10.9.9.9", "10.0.0.0/8"));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_status_is(net_cidr_read(&c, bad[i]), CUZK_EDATA);
        assert_error_mentions(bad[i]);
    }
}

static void test_peers(void **state)
{
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    struct sockaddr other = {.sa_family = AF_PACKET};
    char text[NET_PEER_TEXT];
    net_peer p;

    (void)state;
    p = peer_of("127.9.9.9");
    assert_true(net_is_loopback(&p));
    net_peer_write(text, &p);
    assert_string_equal(text, "127.9.9.9:4000");
    p = peer_of("::1");
    assert_true(net_is_loopback(&p));
    net_peer_write(text, &p);
    assert_string_equal(text, "[::1]:4000");
    p = peer_of("::ffff:127.0.0.1");
    assert_true(net_is_loopback(&p));
    p = peer_of("128.0.0.1");
    assert_false(net_is_loopback(&p));
    p = peer_of("::2");
    assert_false(net_is_loopback(&p));
    net_peer_from(&p, (const struct sockaddr *)&un, sizeof un);
    assert_true(p.known && p.is_unix);
    assert_false(net_is_loopback(&p));
    net_peer_from(&p, &other, sizeof other);
    assert_false(p.known);
    net_peer_from(&p, NULL, 0);
    assert_false(p.known);
    net_peer_write(text, &p);
    assert_string_equal(text, "?");
}

static void test_peers_of_grpc(void **state)
{
    static const char *const good[][2] = {{"ipv4:10.1.2.3:4000", "10.1.2.3:4000"},
                                          {"ipv6:[::1]:4000", "[::1]:4000"},
                                          {"ipv6:%5B::1%5D:4000", "[::1]:4000"},
                                          {"ipv6:%5bfe80::1%25eth0%5d:9", "[fe80::1]:9"},
                                          {"ipv6:[::ffff:10.0.0.1]:9", "10.0.0.1:9"},
                                          {"unix:/run/x.sock", "unix"},
                                          {"unix:", "unix"}};
    static const char *const bad[] = {
        "",          "ipv4:",      "ipv4:10.1.2.3",    "ipv4:10.1.2:1",
        "ipv6:[]:1", "dns:host:1", "ipv6:[::1]:70000", "10.1.2.3:4",
        "ipv4::1"};
    char text[NET_PEER_TEXT];
    net_peer p;

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        net_peer_read(&p, good[i][0]);
        assert_true(p.known);
        net_peer_write(text, &p);
        assert_string_equal(text, good[i][1]);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        net_peer_read(&p, bad[i]);
        assert_false(p.known);
        assert_false(net_is_loopback(&p));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_address), cmocka_unit_test(test_networks),
        cmocka_unit_test(test_peers), cmocka_unit_test(test_peers_of_grpc)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
