/*
 * wire/access.h - who may do what: bearer tokens with scopes, and networks that may come in plain
 *
 * One object for all listeners, gRPC and HTTP. A peer on a unix socket, on loopback or in a listed network needs no token and
 * has every scope; any other needs TLS and a token (or, where client certificates are asked for, one of those).
 * A token that is shown is checked wherever it comes from.
 *
 * The tokens file: wire/token.h. All functions may be called from several threads.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef WIRE_ACCESS_H
#define WIRE_ACCESS_H

#include "base/status.h"

enum { ACCESS_PROVE = 1, ACCESS_READ = 2, ACCESS_OPERATE = 4, ACCESS_ALL = 7 };

typedef struct access_list access_list; /* `access` is a function of unistd.h */

typedef struct access_config {
    const char *tokens_file;           /* NULL: no tokens */
    const char *const *plaintext_from; /* "10.0.0.0/8", "fd00::/8", "192.0.2.7" */
    size_t n_plaintext_from;
} access_config;

/** CUZK_EDATA: a line of the file or a network is malformed (where: file and line, or "daemon.plaintext_from"); CUZK_EIO. */
CUZK_STATUS access_open(access_list **out, const access_config *config);
/** Reads all again; a failure leaves all as it was. */
CUZK_STATUS access_reload(access_list *a, const access_config *config);
void access_close(access_list *a); /* NULL is fine */

/** There are tokens. */
bool access_has_tokens(access_list *a);
/** Scopes of a token (the part after "Bearer "); 0: unknown. Its time does not tell how much of a token was right. */
unsigned access_token_scopes(access_list *a, const char *text, size_t size);

struct sockaddr;
/** This peer may come without TLS and token: a unix socket, loopback, a listed network. */
bool access_is_plain(access_list *a, const struct sockaddr *peer);
struct net_peer;
bool access_is_plain_peer(access_list *a, const struct net_peer *peer);
/** Something besides loopback is listed. */
bool access_has_networks(access_list *a);

#define ACCESS_OWNER 80

/** What a request may do: the peer may come in plain or not, its connection has shown a client certificate or not, and the
 *  value of its "authorization" header (NULL: none). The scopes, or 0. owner: whose jobs it makes: the token's name (of one without,
 *  "sha256:" and what its hash begins with), "" without a token. */
unsigned access_scopes(access_list *a, bool plain_peer, bool certificate, const char *authorization,
                       size_t size, char owner[ACCESS_OWNER]);
/** Whose jobs alone such a request may look after; NULL: everybody's. */
static inline const char *access_confined(unsigned scopes, const char *owner)
{
    return owner[0] != 0 && (scopes & ACCESS_OPERATE) == 0 ? owner : NULL;
}

#endif
