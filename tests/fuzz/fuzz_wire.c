/*
 * fuzz/fuzz_wire.c - what servers read before anybody is known: addresses, networks, peers, tokens, targets of requests
 *
 * The first byte says which. What is accepted must hold what the headers promise.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#ifdef CUZK_HAS_SERVICE

#    include <stdio.h>
#    include <stdlib.h>
#    include <string.h>

#    include "base/utf8.h"
#    include "wire/http_int.h"
#    include "wire/token.h"

static void must(bool ok)
{
    if (!ok) abort();
}

static void check_address(const char *text)
{
    net_address a;

    if (net_address_read(&a, text) != CUZK_OK) return;
    if (a.is_unix)
        must(a.path[0] == '/' && strlen(a.path) < sizeof a.path);
    else
        must(a.host[0] != 0 && strstr(text, a.host) != NULL);
}

static void check_network(const char *text)
{
    net_peer p = {.known = true};
    net_cidr c;

    if (net_cidr_read(&c, text) != CUZK_OK) return;
    must(c.bits <= 128);
    memcpy(p.addr, c.addr, 16); /* a network holds its own address */
    must(net_is_in(&p, &c, 1));
    if (c.bits == 0) return;
    p.addr[(c.bits - 1) / 8] ^= (uint8_t)(0x80 >> ((c.bits - 1) % 8));
    must(!net_is_in(&p, &c, 1));
}

/** A peer that was read, written and read again is the same. */
static void check_peer(const char *text)
{
    char out[NET_PEER_TEXT], form[NET_PEER_TEXT + 8];
    net_peer p, q;

    net_peer_read(&p, text);
    net_peer_write(out, &p);
    must(strlen(out) < sizeof out);
    if (!p.known || p.is_unix) return;
    snprintf(form, sizeof form, "%s:%s", out[0] == '[' ? "ipv6" : "ipv4", out);
    net_peer_read(&q, form);
    must(q.known && memcmp(p.addr, q.addr, 16) == 0 && p.port == q.port);
}

static void check_tokens(const uint8_t *data, size_t size)
{
    token_set *s = NULL;

    if (token_set_read(&s, data, size, "file") != CUZK_OK) return;
    must(token_find(s, "", 0) == NULL);
    const token *t = token_find(s, "secret", 6);
    must(t == NULL || (t->scopes != 0 && (t->scopes & ~(unsigned)ACCESS_ALL) == 0));
    token_set_free(s);
}

static void check_target(char *text)
{
    static const http_route routes[] = {{"GET", "/jobs/*", 0, 0, NULL},
                                        {"GET", "/a/*/b/*/c", 0, 0, NULL},
                                        {"GET", "/*", 0, 0, NULL}};
    http_request r = {.target = text};
    const char *value;

    if (!http_target_split(&r)) return;
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++) {
        if (http_route_match(&routes[i], &r) == 1)
            for (unsigned k = 0; k < HTTP_MAX_PARTS; k++)
                for (const char *p = http_request_part(&r, k); *p != 0;) {
                    size_t n = utf8_sequence((const uint8_t *)p, strlen(p));

                    must(n != 0);
                    p += n;
                }
        http_parts_clear(&r);
    }
    for (unsigned i = 0; i < 3; i++) {
        value = http_request_query(&r, i == 0 ? "a" : i == 1 ? "wait" : "");
        must(value == NULL || strlen(value) <= strlen(text));
    }
    free(r.query_value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text;

    if (size == 0) return 0;
    text = malloc(size);
    if (text == NULL) return 0;
    memcpy(text, data + 1, size - 1);
    text[size - 1] = 0;
    switch (data[0] % 5) {
    case 0: check_address(text); break;
    case 1: check_network(text); break;
    case 2: check_peer(text); break;
    case 3: check_tokens(data + 1, size - 1); break;
    default: check_target(text); break;
    }
    free(text);
    return 0;
}

#else

/* Without the service there is no wire room to look at. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    (void)data;
    (void)size;
    return 0;
}

#endif
