/*
 * wire/access.c - who may do what: the rule, over the tokens and networks that are in force
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "wire/access.h"

#include "base/bytes.h"
#include "wire/net.h"
#include "wire/token.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#define MAX_NETWORKS 1024

/** What a reload replaces as a whole. */
typedef struct rules {
    token_set *tokens; /* NULL: none */
    net_cidr *networks;
    size_t n_networks;
} rules;

struct access_list {
    pthread_rwlock_t mu;
    /* guarded by mu */
    rules now;
};

static void rules_clear(rules *r)
{
    token_set_free(r->tokens);
    free(r->networks);
    memset(r, 0, sizeof *r);
}

static cuzk_status rules_load(rules *out, const access_config *c)
{
    cuzk_status st = CUZK_OK;
    rules r = {0};

    if (c->n_plaintext_from > MAX_NETWORKS)
        return FAIL_DATA(LIMIT, "daemon.plaintext_from", "%zu networks, limit %d",
                         c->n_plaintext_from, MAX_NETWORKS);
    r.networks = calloc(c->n_plaintext_from + 1, sizeof *r.networks);
    if (r.networks == NULL) return FAIL(CUZK_ENOMEM, "access rules: out of memory");
    for (size_t i = 0; i < c->n_plaintext_from; i++) {
        st = net_cidr_read(&r.networks[i], c->plaintext_from[i]);
        if (st != CUZK_OK) {
            status_add_where("daemon.plaintext_from");
            goto out;
        }
    }
    r.n_networks = c->n_plaintext_from;
    if (c->tokens_file != NULL && c->tokens_file[0] != 0)
        TRY_OUT(token_set_load(&r.tokens, c->tokens_file));
    *out = r;
    memset(&r, 0, sizeof r);
out:
    rules_clear(&r);
    return st;
}

cuzk_status access_open(access_list **out, const access_config *config)
{
    access_list *a = calloc(1, sizeof *a);

    if (a == NULL) return FAIL(CUZK_ENOMEM, "access rules: out of memory");
    cuzk_status st = rules_load(&a->now, config);
    if (st == CUZK_OK && pthread_rwlock_init(&a->mu, NULL) != 0) {
        rules_clear(&a->now);
        st = FAIL(CUZK_ENOMEM, "access rules: no lock");
    }
    if (st != CUZK_OK) {
        free(a);
        return st;
    }
    *out = a;
    return CUZK_OK;
}

cuzk_status access_reload(access_list *a, const access_config *config)
{
    rules fresh, old;

    TRY(rules_load(&fresh, config));
    pthread_rwlock_wrlock(&a->mu);
    old = a->now;
    a->now = fresh;
    pthread_rwlock_unlock(&a->mu);
    rules_clear(&old);
    return CUZK_OK;
}

void access_close(access_list *a)
{
    if (a == NULL) return;
    pthread_rwlock_destroy(&a->mu);
    rules_clear(&a->now);
    free(a);
}

bool access_has_tokens(access_list *a)
{
    pthread_rwlock_rdlock(&a->mu);
    bool has = a->now.tokens != NULL;
    pthread_rwlock_unlock(&a->mu);
    return has;
}

bool access_has_networks(access_list *a)
{
    pthread_rwlock_rdlock(&a->mu);
    bool has = a->now.n_networks != 0;
    pthread_rwlock_unlock(&a->mu);
    return has;
}

/** The token's name; of one without, what its hash begins with. */
static void write_owner(char owner[ACCESS_OWNER], const token *t)
{
    char hex[17];

    hex_encode(hex, t->hash, 8);
    if (t->name[0] != 0)
        (void)snprintf(owner, ACCESS_OWNER, "%s", t->name);
    else
        (void)snprintf(owner, ACCESS_OWNER, "sha256:%s", hex);
}

static unsigned token_scopes(access_list *a, const char *text, size_t size,
                             char owner[ACCESS_OWNER])
{
    unsigned scopes = 0;

    pthread_rwlock_rdlock(&a->mu);
    if (a->now.tokens != NULL) {
        const token *t = token_find(a->now.tokens, text, size);
        if (t != NULL) {
            scopes = t->scopes;
            write_owner(owner, t);
        }
    }
    pthread_rwlock_unlock(&a->mu);
    return scopes;
}

unsigned access_token_scopes(access_list *a, const char *text, size_t size)
{
    char owner[ACCESS_OWNER];

    return token_scopes(a, text, size, owner);
}

bool access_is_plain_peer(access_list *a, const net_peer *p)
{
    if (!p->known) return false;
    if (p->is_unix || net_is_loopback(p)) return true;
    pthread_rwlock_rdlock(&a->mu);
    bool listed = net_is_in(p, a->now.networks, a->now.n_networks);
    pthread_rwlock_unlock(&a->mu);
    return listed;
}

bool access_is_plain(access_list *a, const struct sockaddr *peer)
{
    net_peer p;

    net_peer_from(&p, peer,
                  peer != NULL && peer->sa_family == AF_UNIX ? sizeof peer->sa_family
                                                             : NET_SOCKADDR_MAX);
    return access_is_plain_peer(a, &p);
}

unsigned access_scopes(access_list *a, bool plain_peer, bool certificate, const char *authorization,
                       size_t size, char owner[ACCESS_OWNER])
{
    static const char scheme[] = "Bearer ";
    size_t n = sizeof scheme - 1;

    owner[0] = 0;
    if (authorization == NULL) return plain_peer || certificate ? ACCESS_ALL : 0;
    if (size < n || strncasecmp(authorization, scheme, n) != 0) return 0;
    while (n < size && authorization[n] == ' ') n++;
    return token_scopes(a, authorization + n, size - n, owner);
}
