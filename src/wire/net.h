/*
 * wire/net.h - addresses to listen on, networks, and who is at the other end
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef WIRE_NET_H
#define WIRE_NET_H

#include "base/status.h"

struct sockaddr;

/** "unix:///run/curio/cuzk.sock", "127.0.0.1:9821", "[::1]:9821", "localhost:0". */
typedef struct net_address {
    bool is_unix;
    char path[108]; /* of a unix socket, absolute */
    char host[256]; /* without brackets */
    uint16_t port;  /* 0: the kernel chooses */
} net_address;

/** CUZK_EDATA: not an address; the message says what is wrong with it. */
CUZK_STATUS net_address_read(net_address *out, const char *text);

/** IPv4 is kept as ::ffff:a.b.c.d, so that one comparison serves both. */
typedef struct net_cidr {
    uint8_t addr[16];
    unsigned bits; /* 0..128 */
} net_cidr;

/** "10.0.0.0/8", "fd00::/8", or one address. CUZK_EDATA; bits set beyond the prefix are an error too. */
CUZK_STATUS net_cidr_read(net_cidr *out, const char *text);

/** The other end of a connection. */
typedef struct net_peer {
    bool known, is_unix;
    uint8_t addr[16];
    uint16_t port;
} net_peer;

#define NET_PEER_TEXT 64

#define NET_SOCKADDR_MAX \
    128 /* bytes of the longest address: for net_peer_from of one that the system made */

/** size: bytes at sa. known is false for a family that is neither unix nor IP, or when there are too few bytes for it. */
void net_peer_from(net_peer *out, const struct sockaddr *sa, size_t size);
/** gRPC's form: "ipv4:10.1.2.3:4000", "ipv6:[::1]:4000" (also with %5B, %5D and a zone), "unix:..."; else not known. */
void net_peer_read(net_peer *out, const char *text);
/** For logs: "10.1.2.3:4000", "[::1]:4000", "unix". */
void net_peer_write(char out[NET_PEER_TEXT], const net_peer *p);
bool net_is_loopback(const net_peer *p);
bool net_is_in(const net_peer *p, const net_cidr *networks, size_t n);

/** The highest descriptor that a connection may have, by the process's limit: the others are for files and devices. */
int net_last_descriptor(void);

#endif
