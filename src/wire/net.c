/*
 * wire/net.c - addresses to listen on, networks, and who is at the other end
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "wire/net.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/socket.h>

/* ::ffff:0:0/96 holds IPv4 (RFC 4291, section 2.5.5.2) */
static const uint8_t v4_prefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

/** Decimal digits alone, text[0..n), at most max. */
static bool read_number(unsigned *out, const char *text, size_t n, unsigned max)
{
    unsigned v = 0;

    if (n == 0 || n > 5) return false;
    for (size_t i = 0; i < n; i++) {
        if (text[i] < '0' || text[i] > '9') return false;
        v = v * 10 + (unsigned)(text[i] - '0');
    }
    if (v > max) return false;
    *out = v;
    return true;
}

cuzk_status net_address_read(net_address *out, const char *text)
{
    static const char unix_scheme[] = "unix://";
    net_address a = {0};
    const char *colon = strrchr(text, ':'), *host = text;
    unsigned port;
    size_t n;

    if (strncmp(text, unix_scheme, sizeof unix_scheme - 1) == 0) {
        const char *path = text + sizeof unix_scheme - 1;

        if (path[0] != '/')
            return FAIL(CUZK_EDATA, "address \"%s\": unix:// needs an absolute path", text);
        if (strlen(path) >= sizeof a.path)
            return FAIL(CUZK_EDATA, "address \"%s\": path of %zu bytes, limit %zu", text,
                        strlen(path), sizeof a.path - 1);
        a.is_unix = true;
        memcpy(a.path, path, strlen(path) + 1);
        *out = a;
        return CUZK_OK;
    }
    if (colon == NULL || strncmp(text, "unix:", 5) == 0)
        return FAIL(CUZK_EDATA, "address \"%s\": host:port or unix:///path wanted", text);
    if (!read_number(&port, colon + 1, strlen(colon + 1), UINT16_MAX))
        return FAIL(CUZK_EDATA, "address \"%s\": port \"%s\" is not 0..65535", text, colon + 1);
    n = (size_t)(colon - text);
    if (n >= 2 && text[0] == '[' && text[n - 1] == ']') {
        host = text + 1;
        n -= 2;
    } else if (memchr(text, ':', n) != NULL) {
        return FAIL(CUZK_EDATA, "address \"%s\": an IPv6 address stands in brackets", text);
    }
    if (n == 0) return FAIL(CUZK_EDATA, "address \"%s\": no host before the port", text);
    if (n >= sizeof a.host)
        return FAIL(CUZK_EDATA, "address \"%s\": host of %zu bytes, limit %zu", text, n,
                    sizeof a.host - 1);
    memcpy(a.host, host, n);
    a.port = (uint16_t)port;
    *out = a;
    return CUZK_OK;
}

/** An IP address in its usual form, IPv4 mapped. */
static bool read_ip(uint8_t out[16], const char *text, bool *is_v4)
{
    uint8_t v4[4];

    *is_v4 = inet_pton(AF_INET, text, v4) == 1;
    if (!*is_v4) return inet_pton(AF_INET6, text, out) == 1;
    memcpy(out, v4_prefix, 12);
    memcpy(out + 12, v4, 4);
    return true;
}

/** Whether a[0..bits) = b[0..bits). */
static bool same_bits(const uint8_t *a, const uint8_t *b, unsigned bits)
{
    unsigned whole = bits / 8, rest = bits % 8;

    if (memcmp(a, b, whole) != 0) return false;
    return rest == 0 || ((a[whole] ^ b[whole]) >> (8 - rest)) == 0;
}

cuzk_status net_cidr_read(net_cidr *out, const char *text)
{
    char ip[INET6_ADDRSTRLEN];
    const char *slash = strchr(text, '/');
    size_t n = slash == NULL ? strlen(text) : (size_t)(slash - text);
    net_cidr c = {.bits = 128};
    bool is_v4;
    unsigned bits;

    if (n < sizeof ip) {
        memcpy(ip, text, n);
        ip[n] = 0;
    }
    if (n >= sizeof ip || !read_ip(c.addr, ip, &is_v4))
        return FAIL(CUZK_EDATA, "network \"%s\": not an IP address before the prefix length", text);
    if (slash != NULL) {
        unsigned max = is_v4 ? 32 : 128;

        if (!read_number(&bits, slash + 1, strlen(slash + 1), max))
            return FAIL(CUZK_EDATA, "network \"%s\": prefix length \"%s\" is not 0..%u", text,
                        slash + 1, max);
        c.bits = bits + 128 - max;
    }
    for (unsigned i = c.bits; i < 128; i++)
        if ((c.addr[i / 8] >> (7 - i % 8) & 1) != 0)
            return FAIL(CUZK_EDATA, "network \"%s\": the address has bits set beyond its prefix",
                        text);
    *out = c;
    return CUZK_OK;
}

void net_peer_from(net_peer *out, const struct sockaddr *sa, size_t size)
{
    memset(out, 0, sizeof *out);
    if (sa == NULL || size < sizeof sa->sa_family) return;
    if (sa->sa_family == AF_UNIX) {
        out->known = out->is_unix = true;
    } else if (sa->sa_family == AF_INET && size >= sizeof(struct sockaddr_in)) {
        struct sockaddr_in in;

        memcpy(&in, sa, sizeof in);
        memcpy(out->addr, v4_prefix, 12);
        memcpy(out->addr + 12, &in.sin_addr, 4);
        out->port = ntohs(in.sin_port);
        out->known = true;
    } else if (sa->sa_family == AF_INET6 && size >= sizeof(struct sockaddr_in6)) {
        struct sockaddr_in6 in;

        memcpy(&in, sa, sizeof in);
        memcpy(out->addr, &in.sin6_addr, 16);
        out->port = ntohs(in.sin6_port);
        out->known = true;
    }
}

/** The IP between "ipv6:" and the port: brackets, their percent-encoding and a zone are taken off. */
static bool strip_brackets(char out[INET6_ADDRSTRLEN], const char *text, size_t n)
{
    if (n >= 6 && strncasecmp(text, "%5B", 3) == 0 && strncasecmp(text + n - 3, "%5D", 3) == 0) {
        text += 3;
        n -= 6;
    } else if (n >= 2 && text[0] == '[' && text[n - 1] == ']') {
        text += 1;
        n -= 2;
    }
    const char *zone = memchr(text, '%', n);
    if (zone != NULL) n = (size_t)(zone - text);
    if (n == 0 || n >= INET6_ADDRSTRLEN) return false;
    memcpy(out, text, n);
    out[n] = 0;
    return true;
}

void net_peer_read(net_peer *out, const char *text)
{
    net_peer p = {0};
    char ip[INET6_ADDRSTRLEN];
    const char *colon = strrchr(text, ':');
    bool is_v4;
    unsigned port;

    if (strncmp(text, "unix:", 5) == 0 || strncmp(text, "unix-abstract:", 14) == 0) {
        p.known = p.is_unix = true;
    } else if ((strncmp(text, "ipv4:", 5) == 0 || strncmp(text, "ipv6:", 5) == 0) &&
               colon > text + 4 && read_number(&port, colon + 1, strlen(colon + 1), UINT16_MAX) &&
               strip_brackets(ip, text + 5, (size_t)(colon - text) - 5) &&
               read_ip(p.addr, ip, &is_v4)) {
        p.port = (uint16_t)port;
        p.known = true;
    }
    *out = p;
}

void net_peer_write(char out[NET_PEER_TEXT], const net_peer *p)
{
    char ip[INET6_ADDRSTRLEN] = "?";

    if (!p->known) {
        snprintf(out, NET_PEER_TEXT, "?");
    } else if (p->is_unix) {
        snprintf(out, NET_PEER_TEXT, "unix");
    } else if (memcmp(p->addr, v4_prefix, 12) == 0) {
        (void)inet_ntop(AF_INET, p->addr + 12, ip, sizeof ip);
        snprintf(out, NET_PEER_TEXT, "%s:%u", ip, (unsigned)p->port);
    } else {
        (void)inet_ntop(AF_INET6, p->addr, ip, sizeof ip);
        snprintf(out, NET_PEER_TEXT, "[%s]:%u", ip, (unsigned)p->port);
    }
}

bool net_is_loopback(const net_peer *p)
{
    static const uint8_t one[16] = {[15] = 1};

    if (!p->known || p->is_unix) return false;
    if (memcmp(p->addr, v4_prefix, 12) == 0) return p->addr[12] == 127;
    return memcmp(p->addr, one, 16) == 0;
}

bool net_is_in(const net_peer *p, const net_cidr *networks, size_t n)
{
    if (!p->known || p->is_unix) return false;
    for (size_t i = 0; i < n; i++)
        if (same_bits(p->addr, networks[i].addr, networks[i].bits)) return true;
    return false;
}

#define FD_RESERVE 64 /* descriptors that connections leave to files and devices */

int net_last_descriptor(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= INT32_MAX) return INT32_MAX;
    return (int)limit.rlim_cur - FD_RESERVE;
}
