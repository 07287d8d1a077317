/*
 * wire/http_guard.c - what a request may do, judged by its head: host, origin, route, access, limits
 *
 * A browser says in Host by which name it came, and in Origin from which page. Without TLS a page of another site can make its
 * own name point here (DNS rebinding) and is then at home: requests that come by a name which is none of the server's
 * are refused, whatever they want. Over TLS such a name has no certificate.
 * Pages of other sites may read answers, and change something, when their origin is listed.
 * Sources: RFC 9110 (statuses, Host), WHATWG Fetch (Origin, preflights).
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "wire/http_int.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#define MAX_ORIGIN 255
#define MAX_HOST 255

static const char *header_of(struct MHD_Connection *c, const char *name)
{
    return MHD_lookup_connection_value(c, MHD_HEADER_KIND, name);
}

__attribute__((format(printf, 5, 6))) static void refuse(http_refusal *out, unsigned status,
                                                         cuzk_class klass, const char *where,
                                                         const char *fmt, ...)
{
    va_list ap;

    out->status = status;
    out->klass = klass;
    out->where = where;
    va_start(ap, fmt);
    vsnprintf(out->message, sizeof out->message, fmt, ap);
    va_end(ap);
}

/* ---- origins ---- */

cuzk_status http_origin_check(const char *origin)
{
    const char *p = strstr(origin, "://");
    size_t n = strlen(origin);

    if ((strncmp(origin, "https://", 8) != 0 && strncmp(origin, "http://", 7) != 0) || p[3] == 0 ||
        strchr(p + 3, '/') != NULL || strpbrk(origin, " \t\r\n*") != NULL || n > MAX_ORIGIN)
        return status_fail(__FILE__, __LINE__, CUZK_EINVAL, CUZK_CLASS_MALFORMED,
                           "daemon.cors_origins",
                           "\"%.100s\" is no origin: http(s)://host[:port] wanted", origin);
    return CUZK_OK;
}

bool http_origin_listed(http_server *s, const char *origin)
{
    bool found = false;

    (void)pthread_mutex_lock(&s->mu);
    for (size_t i = 0; i < s->n_origins && !found; i++)
        found = strcasecmp(s->origins[i], origin) == 0;
    (void)pthread_mutex_unlock(&s->mu);
    return found;
}

cuzk_status http_host_name_check(const char *name)
{
    size_t n = strlen(name);

    if (n == 0 || n > MAX_HOST || strpbrk(name, ":/*[] \t\r\n") != NULL)
        return status_fail(__FILE__, __LINE__, CUZK_EINVAL, CUZK_CLASS_MALFORMED,
                           "daemon.host_names",
                           "\"%.100s\" is no host name: one without scheme and port wanted", name);
    return CUZK_OK;
}

/** A name that the configuration gives us: host_names, and of the pages in cors_origins, which a proxy may hand on as they came. */
static bool name_listed(http_server *s, const char *name)
{
    size_t n = strlen(name);
    bool found = false;

    (void)pthread_mutex_lock(&s->mu);
    for (size_t i = 0; i < s->n_names && !found; i++) found = strcasecmp(s->names[i], name) == 0;
    for (size_t i = 0; i < s->n_origins && !found; i++) {
        const char *host = strstr(s->origins[i], "://") + 3; /* there: http_origin_check */

        found = strncasecmp(host, name, n) == 0 && (host[n] == 0 || host[n] == ':');
    }
    (void)pthread_mutex_unlock(&s->mu);
    for (size_t i = 0; i < s->n_addresses && !found; i++)
        found = strcasecmp(s->listen_names[i], name) == 0;
    return found;
}

/** host[:port] names this machine in a way that no other site can have made up. */
static bool own_name(http_server *s, const char *host)
{
    char name[MAX_HOST + 1];
    size_t n = host[0] == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":");
    net_cidr ip;

    if (n == 0 || n >= sizeof name) return false;
    memcpy(name, host, n);
    name[n] = 0;
    if (name[0] == '[') return true; /* an IPv6 address: nothing else stands in brackets */
    if (strcasecmp(name, "localhost") == 0) return true;
    if (s->host_name[0] != 0 && strcasecmp(name, s->host_name) == 0) return true;
    if (strchr(name, '/') == NULL && net_cidr_read(&ip, name) == CUZK_OK) return true;
    return name_listed(s, name);
}

/* Not a browser's: a request without Host (HTTP/1.0), and one on a unix socket. */
static void check_host(http_request *r, struct MHD_Connection *c, http_refusal *out)
{
    const char *host = header_of(c, MHD_HTTP_HEADER_HOST);

    if (r->conn->l->tls || r->conn->l->is_unix || host == NULL || own_name(r->s, host)) return;
    refuse(
        out, MHD_HTTP_MISDIRECTED_REQUEST, CUZK_CLASS_NONE, "host",
        "\"%.80s\" is none of this server's names (daemon.host_names lists more; an IP address and "
        "localhost always do)",
        host);
}

static bool same_origin(const http_request *r, struct MHD_Connection *c, const char *origin)
{
    const char *host = header_of(c, MHD_HTTP_HEADER_HOST);
    const char *scheme = r->conn->l->tls ? "https://" : "http://";
    size_t n = strlen(scheme);

    return host != NULL && strncasecmp(origin, scheme, n) == 0 &&
           strcasecmp(origin + n, host) == 0 && own_name(r->s, host);
}

static void check_origin(http_request *r, struct MHD_Connection *c, http_refusal *out)
{
    const char *origin = header_of(c, "Origin"), *site = header_of(c, "Sec-Fetch-Site");
    bool listed =
        origin != NULL && strlen(origin) <= MAX_ORIGIN && http_origin_listed(r->s, origin);

    if (listed) memcpy(r->cors, origin, strlen(origin) + 1);
    if (!r->changes || listed) return;
    if ((origin != NULL && !same_origin(r, c, origin)) ||
        (origin == NULL && site != NULL && strcasecmp(site, "cross-site") == 0))
        refuse(out, MHD_HTTP_FORBIDDEN, CUZK_CLASS_NONE, "origin",
               "pages of other sites may not do this (daemon.cors_origins)");
}

bool http_preflight(http_request *r, struct MHD_Connection *c)
{
    static const http_pair pairs[] = {
        {"Access-Control-Allow-Methods", "GET, HEAD, POST, DELETE"},
        {"Access-Control-Allow-Headers", "Authorization, Content-Type, Idempotency-Key"},
        {"Access-Control-Max-Age", "600"}};
    const char *origin = header_of(c, "Origin");

    if (strcmp(r->method, MHD_HTTP_METHOD_OPTIONS) != 0 || origin == NULL ||
        strlen(origin) > MAX_ORIGIN || header_of(c, "Access-Control-Request-Method") == NULL ||
        !http_origin_listed(r->s, origin))
        return false;
    memcpy(r->cors, origin, strlen(origin) + 1);
    http_reply_static(r, MHD_HTTP_NO_CONTENT, NULL, "", 0, pairs, sizeof pairs / sizeof *pairs);
    return true;
}

/* ---- route ---- */

static void find_route(http_request *r, http_refusal *out)
{
    const char *method = r->is_head ? MHD_HTTP_METHOD_GET : r->method;
    bool bad_part = false, found = false;

    for (size_t i = 0; i < r->s->n_routes && r->route == NULL; i++) {
        const http_route *route = &r->s->routes[i];
        int fits = http_route_match(route, r);

        bad_part = bad_part || fits < 0;
        if (fits <= 0) continue;
        if (strcmp(route->method, method) == 0) {
            r->route = route;
            return;
        }
        http_parts_clear(r);
        size_t n = strlen(out->allow);
        snprintf(out->allow + n, sizeof out->allow - n, "%s%s", found ? ", " : "", route->method);
        found = true;
    }
    if (bad_part)
        refuse(out, MHD_HTTP_BAD_REQUEST, CUZK_CLASS_MALFORMED, "path",
               "a part of the path is not percent-encoded UTF-8");
    else if (found)
        refuse(out, MHD_HTTP_METHOD_NOT_ALLOWED, CUZK_CLASS_MALFORMED, "method",
               "%s is not for this path; %s is", r->method, out->allow);
    else
        refuse(out, MHD_HTTP_NOT_FOUND, CUZK_CLASS_NONE, "path", "nothing is here");
}

/* ---- access ---- */

static void check_access(http_request *r, struct MHD_Connection *c, http_refusal *out)
{
    const http_listener *l = r->conn->l;
    const union MHD_ConnectionInfo *i =
        MHD_get_connection_info(c, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    const struct sockaddr *sa = i == NULL ? NULL : i->client_addr;
    const char *authorization = header_of(c, MHD_HTTP_HEADER_AUTHORIZATION);
    bool plain = l->is_unix || access_is_plain(r->s->rules, sa);
    bool certified = l->wants_certificate && http_certified(c);
    unsigned scopes;

    if (!plain && !l->tls) {
        refuse(out, MHD_HTTP_FORBIDDEN, CUZK_CLASS_NONE, "peer",
               "without TLS only loopback and daemon.plaintext_from may come in");
        return;
    }
    if (!plain && l->wants_certificate && !certified) {
        refuse(out, MHD_HTTP_FORBIDDEN, CUZK_CLASS_NONE, "peer",
               "a client certificate is needed (daemon.tls_client_ca)");
        return;
    }
    if (r->route->scope == 0) return;
    scopes = access_scopes(r->s->rules, plain, certified, authorization,
                           authorization == NULL ? 0 : strlen(authorization), r->owner);
    r->scopes = scopes;
    if ((scopes & r->route->scope) != 0) return;
    if (scopes == 0)
        refuse(out, MHD_HTTP_UNAUTHORIZED, CUZK_CLASS_NONE, "authorization",
               authorization == NULL ? "a bearer token is needed" : "this token is not known");
    else
        refuse(out, MHD_HTTP_FORBIDDEN, CUZK_CLASS_NONE, "authorization",
               "the token's scopes do not include %s",
               r->route->scope == ACCESS_PROVE  ? "prove"
               : r->route->scope == ACCESS_READ ? "read"
                                                : "operate");
}

bool http_still_may(http_request *r)
{
    http_refusal no = {.status = 0};

    check_access(r, r->conn->c, &no);
    return no.status == 0;
}

/* ---- limits ---- */

/** Length of the body by the head: UINT64_MAX when it is not told (chunks), 0 when there is none. */
static bool body_length(struct MHD_Connection *c, uint64_t *out)
{
    const char *length = header_of(c, MHD_HTTP_HEADER_CONTENT_LENGTH);
    uint64_t v = 0;

    *out = header_of(c, MHD_HTTP_HEADER_TRANSFER_ENCODING) != NULL ? UINT64_MAX : 0;
    if (length == NULL || *out != 0) return true;
    if (length[0] == 0 || strlen(length) > 18) return false;
    for (const char *p = length; *p != 0; p++) {
        if (*p < '0' || *p > '9') return false;
        v = v * 10 + (uint64_t)(*p - '0');
    }
    *out = v;
    return true;
}

static void check_length(http_request *r, uint64_t length, http_refusal *out)
{
    if ((r->route->flags & HTTP_BODY) == 0) {
        if (length != 0)
            refuse(out, MHD_HTTP_BAD_REQUEST, CUZK_CLASS_MALFORMED, "body", "this takes no body");
    } else if (length != UINT64_MAX && length > r->s->max_body) {
        refuse(out, MHD_HTTP_CONTENT_TOO_LARGE, CUZK_CLASS_LIMIT, "body",
               "%llu bytes, limit %llu (daemon.max_message)", (unsigned long long)length,
               (unsigned long long)r->s->max_body);
    }
}

/** Takes a place among those that wait or run, when there is room for the body too; that is taken as its bytes come: a peer that
 *  sends none holds none. */
static void take_room(http_request *r, uint64_t length, http_refusal *out)
{
    http_server *s = r->s;
    uint64_t room = length == UINT64_MAX ? 0 : length;

    if ((r->route->flags & (HTTP_QUICK | HTTP_ALWAYS | HTTP_EVENTS)) != 0) return;
    (void)pthread_mutex_lock(&s->mu);
    if (s->stop_listening)
        refuse(out, MHD_HTTP_SERVICE_UNAVAILABLE, CUZK_CLASS_RESOURCE, "server",
               "the daemon is stopping");
    else if (s->counts.active >= s->max_requests)
        refuse(out, MHD_HTTP_TOO_MANY_REQUESTS, CUZK_CLASS_LIMIT, "requests",
               "%u requests wait already, limit %u (daemon.max_requests)", s->counts.active,
               s->max_requests);
    else if (s->counts.inflight_bytes + room > s->max_inflight)
        refuse(out, MHD_HTTP_TOO_MANY_REQUESTS, CUZK_CLASS_LIMIT, "requests",
               "%llu bytes of requests are held and %llu more asked for, limit %llu "
               "(daemon.max_inflight_bytes)",
               (unsigned long long)s->counts.inflight_bytes, (unsigned long long)room,
               (unsigned long long)s->max_inflight);
    if (out->status == 0) {
        s->counts.active++;
        r->want = (size_t)room;
        r->counted = true;
    } else {
        s->counts.refused++;
    }
    (void)pthread_mutex_unlock(&s->mu);
}

void http_guard(http_request *r, struct MHD_Connection *c, http_refusal *out)
{
    uint64_t length = 0;
    span t;

    memset(out, 0, sizeof *out);
    if (!http_target_split(r)) {
        refuse(out, MHD_HTTP_BAD_REQUEST, CUZK_CLASS_MALFORMED, "path", "it begins with /");
        return;
    }
    check_origin(r, c, out);
    if (out->status == 0) find_route(r, out);
    if (out->status == 0 && (r->route->flags & HTTP_ANY_HOST) == 0) check_host(r, c, out);
    if (out->status != 0) return;
    t = span_open(SPAN_AUTHENTICATE);
    check_access(r, c, out);
    span_close(&t);
    if (out->status == 0 && !body_length(c, &length))
        refuse(out, MHD_HTTP_BAD_REQUEST, CUZK_CLASS_MALFORMED, "content-length",
               "it is not a number");
    if (out->status == 0) check_length(r, length, out);
    if (out->status == 0) take_room(r, length, out);
}
