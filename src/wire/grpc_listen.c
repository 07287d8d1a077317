/*
 * wire/grpc_listen.c - how connections come to the gRPC server: addresses, sockets, who may connect in plain, TLS files
 *
 * Plain sockets (unix, TCP) are ours: a thread accepts, refuses peers that may not come in plain before they have sent a byte, keeps
 * descriptors free for the rest of the program, and hands connections to the library. TLS sockets are the library's own.
 * Source of the form of addresses: spec/config.md, daemon.listen; unix(7).
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/signals.h"
#include "wire/grpc_internal.h"

#define BACKLOG 512
#define SOCKET_MODE 0660
#define MAX_PEM (1 << 20)
#define PAUSE_MS 100       /* when there are no descriptors */
#define SAY_NS 10000000000 /* a refusal is logged at most so often */

typedef enum gform { FORM_UNIX, FORM_PLAIN, FORM_TLS } gform;

typedef struct gsocket {
    gform form;
    int fd;            /* -1: TLS, the library's */
    char address[400]; /* as given, then with the port that was bound */
    char path[108];    /* of a unix socket; "": none to remove */
    dev_t dev;         /* of that file: another's is not removed */
    ino_t ino;
    struct glisten *l;
    unsigned given; /* version of the TLS texts that the library has; guarded by l->mu */
} gsocket;

struct glisten {
    gserver *s;
    gsocket sockets[GSERVER_MAX_LISTEN];
    size_t n;
    grpc_server_credentials *plain;
    int wake; /* eventfd: stop */
    pthread_t thread;
    bool running;
    int max_fd;
    uint64_t said_ns;              /* only the acceptor */
    atomic_uint_fast64_t accepted; /* relaxed: a count */

    pthread_mutex_t mu;
    /* guarded by mu */
    char *cert, *key, *client_ca; /* PEM texts; NULL: none */
    unsigned version;             /* of them */
};

/* ---- TLS ---- */

static void wipe(char **text)
{
    if (*text != NULL) explicit_bzero(*text, strlen(*text));
    free(*text);
    *text = NULL;
}

static CUZK_STATUS read_pem(char **out, const char *path)
{
    file_map map;
    cuzk_status st = CUZK_OK;

    *out = NULL;
    if (path == NULL) return CUZK_OK;
    TRY(file_map_open(&map, path));
    if (map.size > MAX_PEM || memmem(map.data, map.size, "-----BEGIN ", 11) == NULL ||
        memchr(map.data, 0, map.size) != NULL) {
        st = FAIL_DATA(MALFORMED, path, "%s: not a PEM file of at most %d bytes", path, MAX_PEM);
    } else {
        *out = malloc(map.size + 1);
        if (*out == NULL) {
            st = FAIL(CUZK_ENOMEM, "%s: out of memory", path);
        } else {
            memcpy(*out, map.data, map.size);
            (*out)[map.size] = 0;
        }
    }
    file_map_close(&map);
    return st;
}

/** Asked by the library for each handshake: the texts, when it has not got these yet. */
static grpc_ssl_certificate_config_reload_status give_certificates(
    void *ctx, grpc_ssl_server_certificate_config **out)
{
    gsocket *k = ctx;
    struct glisten *l = k->l;
    grpc_ssl_certificate_config_reload_status st = GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_UNCHANGED;

    (void)pthread_mutex_lock(&l->mu);
    if (k->given != l->version) {
        grpc_ssl_pem_key_cert_pair pair = {l->key, l->cert};

        /* 1.51 aborts without roots, also where clients are not asked for certificates: then they are not looked at */
        *out = grpc_ssl_server_certificate_config_create(
            l->client_ca != NULL ? l->client_ca : l->cert, &pair, 1);
        st = GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_NEW;
        k->given = l->version;
    }
    (void)pthread_mutex_unlock(&l->mu);
    return st;
}

cuzk_status glisten_reload_tls(struct glisten *l, const gserver_config *config)
{
    char *cert = NULL, *key = NULL, *ca = NULL, *old[3];
    cuzk_status st = CUZK_OK;

    if ((config->tls_cert == NULL) != (config->tls_key == NULL))
        return FAIL(CUZK_EINVAL,
                    "daemon.tls_cert and daemon.tls_key: one is given without the other");
    if (l->n != 0 && ((config->tls_client_ca != NULL) != l->s->tls_asks_certificate ||
                      (config->tls_cert == NULL) != (l->cert == NULL)))
        return FAIL(
            CUZK_EINVAL,
            "daemon.tls_cert, daemon.tls_client_ca: to begin or end with them takes a restart");
    TRY_OUT(read_pem(&cert, config->tls_cert));
    TRY_OUT(read_pem(&key, config->tls_key));
    TRY_OUT(read_pem(&ca, config->tls_client_ca));
    (void)pthread_mutex_lock(&l->mu);
    old[0] = l->cert;
    old[1] = l->key;
    old[2] = l->client_ca;
    l->cert = cert;
    l->key = key;
    l->client_ca = ca;
    l->version++;
    (void)pthread_mutex_unlock(&l->mu);
    cert = old[0];
    key = old[1];
    ca = old[2];
out:
    wipe(&cert);
    wipe(&key);
    wipe(&ca);
    return st;
}

static CUZK_STATUS listen_tls(struct glisten *l, gsocket *k, const char *target)
{
    grpc_ssl_client_certificate_request_type ask =
        l->client_ca != NULL ? GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY
                             : GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE;
    grpc_ssl_server_credentials_options *o;
    grpc_server_credentials *creds;
    int port;

    if (l->cert == NULL)
        return FAIL(CUZK_EINVAL, "daemon.listen %s: TLS without daemon.tls_cert", k->address);
    o = grpc_ssl_server_credentials_create_options_using_config_fetcher(ask, give_certificates, k);
    creds = grpc_ssl_server_credentials_create_with_options(o);
    port = grpc_server_add_http2_port(l->s->server, target, creds);
    grpc_server_credentials_release(creds);
    if (port == 0)
        return FAIL(CUZK_EIO, "daemon.listen %s: cannot listen, or certificate and key do not fit",
                    k->address);
    const char *colon = strrchr(target, ':');
    (void)snprintf(k->address, sizeof k->address, "tls://%.*s:%d", (int)(colon - target), target,
                   port);
    return CUZK_OK;
}

/* ---- sockets ---- */

static CUZK_STATUS socket_failed(const gsocket *k, const char *what)
{
    char why[128];

    return FAIL(CUZK_EIO, "daemon.listen %s: %s: %s", k->address, what,
                strerror_r(errno, why, sizeof why));
}

/** A socket file that nobody listens on is removed; anything else there is a failure. */
static CUZK_STATUS make_room(const gsocket *k, const struct sockaddr_un *a)
{
    struct stat info;
    int fd, rc;

    if (lstat(k->path, &info) != 0) return errno == ENOENT ? CUZK_OK : socket_failed(k, k->path);
    if (!S_ISSOCK(info.st_mode))
        return FAIL(CUZK_EIO, "daemon.listen %s: something that is no socket is there", k->address);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return socket_failed(k, "socket");
    rc = connect(fd, (const struct sockaddr *)a, sizeof *a);
    int error = rc == 0 ? 0 : errno;
    (void)close(fd);
    if (error == ECONNREFUSED || error == ENOENT) return CUZK_OK;
    return FAIL_DATA(INCONSISTENT, k->address, "daemon.listen %s: another process listens there",
                     k->address);
}

/** Bound under another name, given its mode, then renamed: the socket never stands there with a wider mode. */
static CUZK_STATUS listen_unix(gsocket *k, const char *path)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX}, there = {.sun_family = AF_UNIX};
    struct stat info;
    size_t n = strlen(path);
    cuzk_status st = CUZK_OK;

    if (n + 5 > sizeof a.sun_path)
        return FAIL_DATA(LIMIT, k->address, "daemon.listen %s: path of %zu bytes, limit %zu",
                         k->address, n, sizeof a.sun_path - 5);
    memcpy(k->path, path, n + 1);
    memcpy(there.sun_path, path, n + 1);
    memcpy(a.sun_path, path, n);
    memcpy(a.sun_path + n, ".new", 5);
    st = make_room(k, &there);
    if (st != CUZK_OK) {
        k->path[0] = 0;
        return st;
    }
    k->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (k->fd < 0) return socket_failed(k, "socket");
    (void)unlink(a.sun_path);
    if (bind(k->fd, (const struct sockaddr *)&a, sizeof a) != 0) st = socket_failed(k, "bind");
    if (st == CUZK_OK && chmod(a.sun_path, SOCKET_MODE) != 0) st = socket_failed(k, "chmod");
    if (st == CUZK_OK && listen(k->fd, BACKLOG) != 0) st = socket_failed(k, "listen");
    if (st == CUZK_OK && (stat(a.sun_path, &info) != 0 || rename(a.sun_path, k->path) != 0))
        st = socket_failed(k, "rename");
    if (st != CUZK_OK) {
        (void)unlink(a.sun_path);
        k->path[0] = 0;
        return st;
    }
    k->dev = info.st_dev;
    k->ino = info.st_ino;
    return CUZK_OK;
}

static bool is_loopback(const struct sockaddr *a)
{
    if (a->sa_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)(const void *)a)->sin_addr.s_addr) >> 24 == 127;
    return a->sa_family == AF_INET6 &&
           IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)a)->sin6_addr);
}

static CUZK_STATUS listen_tcp(gsocket *k, const struct addrinfo *a)
{
    struct sockaddr_storage bound;
    socklen_t size = sizeof bound;
    char host[64], port[16];
    int on = 1;

    k->fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (k->fd < 0) return socket_failed(k, "socket");
    if (setsockopt(k->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0)
        return socket_failed(k, "SO_REUSEADDR");
    if (bind(k->fd, a->ai_addr, a->ai_addrlen) != 0) return socket_failed(k, "bind");
    if (listen(k->fd, BACKLOG) != 0) return socket_failed(k, "listen");
    if (getsockname(k->fd, (struct sockaddr *)&bound, &size) != 0 ||
        getnameinfo((const struct sockaddr *)&bound, size, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return socket_failed(k, "getsockname");
    (void)snprintf(k->address, sizeof k->address, a->ai_family == AF_INET6 ? "[%s]:%s" : "%s:%s",
                   host, port);
    return CUZK_OK;
}

static CUZK_STATUS resolve(const gsocket *k, const net_address *address, struct addrinfo **out)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    char port[8];

    (void)snprintf(port, sizeof port, "%u", address->port);
    int rc = getaddrinfo(address->host, port, &hints, out);
    if (rc != 0 || *out == NULL)
        return FAIL_DATA(MALFORMED, k->address, "daemon.listen %s: %s", k->address,
                         gai_strerror(rc));
    return CUZK_OK;
}

static CUZK_STATUS open_tcp(struct glisten *l, gsocket *k, const char *text,
                            const net_address *address)
{
    struct addrinfo *a;
    bool local = true;
    cuzk_status st;

    TRY(resolve(k, address, &a));
    for (const struct addrinfo *i = a; i != NULL; i = i->ai_next)
        local = local && is_loopback(i->ai_addr);
    if (k->form == FORM_TLS) {
        if (!local && !access_has_tokens(l->s->access) && l->client_ca == NULL)
            st = FAIL_DATA(
                INCONSISTENT, k->address,
                "daemon.listen %s: with neither daemon.tokens_file nor daemon.tls_client_ca "
                "anyone could come in",
                k->address);
        else
            st = listen_tls(l, k, text);
    } else {
        st = listen_tcp(k, a);
        if (st == CUZK_OK && !local && !access_has_networks(l->s->access))
            gserver_say(
                l->s, GSERVER_WARN, "grpc_loopback_only",
                "%s: connections from elsewhere are refused (daemon.plaintext_from is empty)",
                k->address);
        else if (st == CUZK_OK && !local)
            gserver_say(l->s, GSERVER_WARN, "grpc_plaintext",
                        "%s: networks of daemon.plaintext_from come in without TLS and token",
                        k->address);
    }
    freeaddrinfo(a);
    return st;
}

static CUZK_STATUS open_socket(struct glisten *l, const char *text)
{
    gsocket *k = &l->sockets[l->n++];
    bool tcp = strncmp(text, "tcp://", 6) == 0, tls = strncmp(text, "tls://", 6) == 0;
    const char *bare = tcp || tls ? text + 6 : text;
    net_address address;

    *k = (gsocket){.fd = -1, .l = l, .form = FORM_PLAIN};
    (void)snprintf(k->address, sizeof k->address, "%s", text);
    if (net_address_read(&address, bare) != CUZK_OK) {
        status_add_where("daemon.listen");
        return cuzk_last_error()->status;
    }
    if (address.is_unix) {
        k->form = FORM_UNIX;
        return listen_unix(k, address.path);
    }
    if (tls || (!tcp && l->cert != NULL)) k->form = FORM_TLS;
    return open_tcp(l, k, bare, &address);
}

/* ---- accepting ---- */

static void say_seldom(struct glisten *l, const char *event, const char *text)
{
    uint64_t now = clock_ns();

    if (l->said_ns != 0 && now - l->said_ns < SAY_NS) return;
    l->said_ns = now;
    gserver_say(l->s, GSERVER_WARN, event, "%s", text);
}

static void say_refused(struct glisten *l, const struct sockaddr *sa, socklen_t size)
{
    char text[NET_PEER_TEXT], whole[NET_PEER_TEXT + 64];
    net_peer peer;

    net_peer_from(&peer, sa, size);
    net_peer_write(text, &peer);
    (void)snprintf(whole, sizeof whole, "%s is not in daemon.plaintext_from", text);
    say_seldom(l, "grpc_peer_refused", whole);
}

/** False when there are no descriptors or no memory: time is wanted. */
static bool accept_one(struct glisten *l, const gsocket *k)
{
    struct sockaddr_storage peer;
    socklen_t size = sizeof peer;
    int on = 1, fd;

    memset(&peer, 0, sizeof peer);
    fd = accept4(k->fd, (struct sockaddr *)&peer, &size, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)) {
        say_seldom(l, "grpc_no_descriptors", k->address);
        return false;
    }
    if (fd < 0) return true; /* gone again, or taken */
    if (fd > l->max_fd) {
        say_seldom(l, "grpc_no_descriptors", "connections leave the last descriptors to files");
        (void)close(fd);
    } else if (k->form == FORM_PLAIN &&
               !access_is_plain(l->s->access, (const struct sockaddr *)&peer)) {
        say_refused(l, (const struct sockaddr *)&peer, size);
        (void)close(fd);
    } else {
        if (k->form == FORM_PLAIN) (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        (void)atomic_fetch_add_explicit(&l->accepted, 1, memory_order_relaxed);
        grpc_server_add_channel_from_fd(l->s->server, fd, l->plain);
    }
    return true;
}

static void *accept_all(void *arg)
{
    struct glisten *l = arg;
    struct pollfd fds[GSERVER_MAX_LISTEN + 1] = {{.fd = l->wake, .events = POLLIN}};
    const gsocket *of[GSERVER_MAX_LISTEN + 1] = {NULL};
    nfds_t n = 1;
    bool pause = false;

    for (size_t i = 0; i < l->n; i++) {
        if (l->sockets[i].fd < 0) continue;
        of[n] = &l->sockets[i];
        fds[n++] = (struct pollfd){.fd = l->sockets[i].fd, .events = POLLIN};
    }
    for (;;) {
        int rc = poll(fds, pause ? 1 : n, pause ? PAUSE_MS : -1);

        if (rc > 0 && fds[0].revents != 0) return NULL;
        for (nfds_t i = 1; !pause && rc > 0 && i < n; i++)
            if (fds[i].revents != 0 && !accept_one(l, of[i])) pause = true;
        if (rc == 0) pause = false;
    }
}

cuzk_status glisten_start(struct glisten *l)
{
    sigset_t before;
    int rc;

    signals_block(&before); /* signals are the program's own thread's */
    rc = pthread_create(&l->thread, NULL, accept_all, l);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (rc != 0) return FAIL(CUZK_ENOMEM, "gRPC server: no thread for connections");
    l->running = true;
    return CUZK_OK;
}

void glisten_stop(struct glisten *l)
{
    uint64_t one = 1;

    if (!l->running) return;
    l->running = false;
    if (write(l->wake, &one, sizeof one) == sizeof one) (void)pthread_join(l->thread, NULL);
}

cuzk_status glisten_open(struct glisten **out, gserver *s, const gserver_config *config)
{
    struct glisten *l = calloc(1, sizeof *l);

    if (l == NULL) return FAIL(CUZK_ENOMEM, "gRPC server: out of memory");
    *out = l; /* closed by the server, half-built or not */
    l->s = s;
    l->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    l->plain = grpc_insecure_server_credentials_create();
    if (l->wake < 0 || pthread_mutex_init(&l->mu, NULL) != 0)
        return FAIL(CUZK_EIO, "gRPC server: no event descriptor");
    l->max_fd = net_last_descriptor();
    TRY(glisten_reload_tls(l, config));
    s->tls_asks_certificate = l->client_ca != NULL;
    for (size_t i = 0; i < config->n_listen; i++) TRY(open_socket(l, config->listen[i]));
    return CUZK_OK;
}

void glisten_close(struct glisten *l)
{
    struct stat info;

    if (l == NULL) return;
    glisten_stop(l);
    for (size_t i = 0; i < l->n; i++) {
        const gsocket *k = &l->sockets[i];

        if (k->fd >= 0) (void)close(k->fd);
        if (k->path[0] != 0 && lstat(k->path, &info) == 0 && info.st_dev == k->dev &&
            info.st_ino == k->ino)
            (void)unlink(k->path);
    }
    if (l->plain != NULL) grpc_server_credentials_release(l->plain);
    if (l->wake >= 0) (void)close(l->wake);
    wipe(&l->cert);
    wipe(&l->key);
    wipe(&l->client_ca);
    (void)pthread_mutex_destroy(&l->mu);
    free(l);
}

const char *glisten_address(const struct glisten *l, size_t i)
{
    return i < l->n ? l->sockets[i].address : NULL;
}

uint64_t glisten_accepted(const struct glisten *l)
{
    return atomic_load_explicit(&l->accepted, memory_order_relaxed);
}
