/*
 * wire/http_listen.c - sockets to listen on, and a libmicrohttpd daemon on each
 *
 * The sockets are ours and outlive a daemon: a reload puts a new one, with the TLS files of that moment, on the same socket.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "wire/http_int.h"

#include "base/clock.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 512
#define CONNECTION_MEMORY ((size_t)128 << 10) /* of one: head, and what is read at once of a body */
#define CONNECTION_STEP ((size_t)32 << 10)
#define PEM_MAX ((size_t)1 << 20)

static const char tls_versions[] = "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2";

static cuzk_status fail_socket(const char *where, const char *doing, int err)
{
    char buf[128];

    return status_fail(__FILE__, __LINE__, CUZK_EIO, CUZK_CLASS_IO, where, "cannot %s: %s", doing,
                       strerror_r(err, buf, sizeof buf));
}

/* ---- TLS files ---- */

typedef struct pem_files {
    char *cert, *key, *ca; /* NULL: none */
} pem_files;

static void pem_clear(pem_files *p)
{
    if (p->key != NULL) explicit_bzero(p->key, strlen(p->key));
    free(p->cert);
    free(p->key);
    free(p->ca);
    memset(p, 0, sizeof *p);
}

static cuzk_status pem_load(char **out, const char *path)
{
    file_map f = {0};
    cuzk_status st = CUZK_OK;

    TRY(file_map_open(&f, path));
    if (f.size == 0 || f.size > PEM_MAX) {
        st = status_fail(__FILE__, __LINE__, CUZK_EIO, CUZK_CLASS_MALFORMED, path,
                         "%zu bytes are no PEM file, limit %zu", f.size, PEM_MAX);
        goto out;
    }
    *out = strndup((const char *)f.data, f.size);
    if (*out == NULL) st = FAIL(CUZK_ENOMEM, "%s: out of memory", path);
out:
    file_map_close(&f);
    return st;
}

static bool given(const char *path)
{
    return path != NULL && path[0] != 0;
}

static cuzk_status pem_load_all(pem_files *out, const http_server_config *c)
{
    pem_files p = {0};
    cuzk_status st = CUZK_OK;

    if (!given(c->tls_cert)) {
        *out = p;
        return CUZK_OK;
    }
    if (!given(c->tls_key))
        return status_fail(__FILE__, __LINE__, CUZK_EINVAL, CUZK_CLASS_INCONSISTENT, c->tls_cert,
                           "a certificate needs its key");
    TRY_OUT(pem_load(&p.cert, c->tls_cert));
    TRY_OUT(pem_load(&p.key, c->tls_key));
    if (given(c->tls_client_ca)) TRY_OUT(pem_load(&p.ca, c->tls_client_ca));
    *out = p;
    memset(&p, 0, sizeof p);
out:
    pem_clear(&p);
    return st;
}

bool http_certified(struct MHD_Connection *c)
{
    const union MHD_ConnectionInfo *i =
        MHD_get_connection_info(c, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    unsigned status = 1;

    if (i == NULL || i->tls_session == NULL) return false;
    return gnutls_certificate_verify_peers2((gnutls_session_t)i->tls_session, &status) == 0 &&
           status == 0;
}

/* ---- a daemon on a socket ---- */

__attribute__((format(printf, 2, 0))) static void on_log(void *listener, const char *fmt,
                                                         va_list ap)
{
    http_listener *l = listener;
    char text[sizeof l->said];

    vsnprintf(text, sizeof text, fmt, ap);
    text[strcspn(text, "\n")] = 0;
    if (l->started)
        http_trouble(l->s, text);
    else
        memcpy(l->said, text, sizeof text);
}

static void on_connection(void *listener, struct MHD_Connection *c, void **context,
                          enum MHD_ConnectionNotificationCode what)
{
    http_listener *l = listener;
    http_server *s = l->s;
    http_conn *conn = *context;

    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *i =
            MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
        int on = 1;

        conn = calloc(1, sizeof *conn);
        *context = conn;
        if (conn == NULL) return; /* its requests are refused */
        conn->l = l;
        conn->c = c;
        conn->fd = i == NULL ? -1 : i->connect_fd;
        conn->since_ns = clock_ns();
        conn->next = s->conns;
        if (s->conns != NULL) s->conns->prev = conn;
        s->conns = conn;
        s->n_conns++;
        if (!l->is_unix) (void)setsockopt(conn->fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    } else if (conn != NULL) {
        *(conn->prev == NULL ? &s->conns : &conn->prev->next) = conn->next;
        if (conn->next != NULL) conn->next->prev = conn->prev;
        s->n_conns--;
        free(conn);
        *context = NULL;
    }
}

/* Before a connection is one: the last descriptors are left to files, as gRPC's acceptor does. The library does not tell the
   connection's own: the next free one is as good. */
static enum MHD_Result may_connect(void *listener, const struct sockaddr *sa, socklen_t size)
{
    http_listener *l = listener;
    int next = fcntl(l->fd, F_DUPFD_CLOEXEC, 0);
    bool yes = next >= 0 && next <= net_last_descriptor();

    (void)sa;
    (void)size;
    if (next >= 0) (void)close(next);
    if (!yes) http_trouble(l->s, "no descriptors: connections leave the last ones to files");
    return yes ? MHD_YES : MHD_NO;
}

static cuzk_status start_daemon(http_listener *l, const http_server_config *c, const pem_files *p)
{
    struct MHD_OptionItem tls[5];
    size_t n = 0;
    unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG;
    unsigned timeout = (c->header_ms + 999) / 1000;
    unsigned conns = c->max_requests + c->max_streams + 256;
    const union MHD_DaemonInfo *info;

    if (l->tls) {
        flags |= MHD_USE_TLS;
        tls[n++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_CERT, 0, p->cert};
        tls[n++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_KEY, 0, p->key};
        tls[n++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_PRIORITIES, 0,
                                           (void *)(uintptr_t)tls_versions};
        if (p->ca != NULL) tls[n++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_TRUST, 0, p->ca};
        l->wants_certificate = p->ca != NULL;
    }
    tls[n] = (struct MHD_OptionItem){MHD_OPTION_END, 0, NULL};
    l->daemon = MHD_start_daemon(
        flags, 0, may_connect, l, http_on_request, l, MHD_OPTION_EXTERNAL_LOGGER, on_log, l,
        MHD_OPTION_LISTEN_SOCKET, l->fd, MHD_OPTION_CONNECTION_MEMORY_LIMIT, CONNECTION_MEMORY,
        MHD_OPTION_CONNECTION_MEMORY_INCREMENT, CONNECTION_STEP, MHD_OPTION_CONNECTION_LIMIT, conns,
        MHD_OPTION_CONNECTION_TIMEOUT, timeout, MHD_OPTION_NOTIFY_COMPLETED, http_on_completed, l,
        MHD_OPTION_NOTIFY_CONNECTION, on_connection, l, MHD_OPTION_URI_LOG_CALLBACK, http_on_target,
        l->s, MHD_OPTION_ARRAY, tls, MHD_OPTION_END);
    if (l->daemon == NULL)
        return status_fail(__FILE__, __LINE__, CUZK_EIO, CUZK_CLASS_IO,
                           l->tls ? c->tls_cert : l->path, "cannot serve HTTP%s: %s",
                           l->tls ? " with this certificate and key" : "",
                           l->said[0] == 0 ? "no reason given" : l->said);
    info = MHD_get_daemon_info(l->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    l->epoll_fd = info == NULL ? -1 : info->epoll_fd;
    l->started = true;
    if (l->epoll_fd < 0) return FAIL(CUZK_EBUG, "libmicrohttpd without epoll");
    return CUZK_OK;
}

void http_listener_free(http_listener *l)
{
    if (l == NULL) return;
    if (l->daemon != NULL) {
        (void)MHD_quiesce_daemon(l->daemon); /* the socket stays ours */
        MHD_stop_daemon(l->daemon);
    }
    if (l->fd >= 0) (void)close(l->fd);
    free(l);
}

static cuzk_status new_listener(http_listener **out, http_server *s, int fd, bool tls, bool is_unix)
{
    http_listener *l = calloc(1, sizeof *l);

    if (l == NULL) return FAIL(CUZK_ENOMEM, "listener: out of memory");
    l->s = s;
    l->fd = fd;
    l->epoll_fd = -1;
    l->tls = tls;
    l->is_unix = is_unix;
    *out = l;
    return CUZK_OK;
}

/* ---- sockets ---- */

static cuzk_status listen_unix(int *out, const char *path, const char *text)
{
    struct sockaddr_un sa = {.sun_family = AF_UNIX};
    struct stat left;
    cuzk_status st = CUZK_OK;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0) return fail_socket(text, "make a socket", errno);
    memcpy(sa.sun_path, path, strlen(path) + 1);
    /* One that nobody listens on is left over from a process that was killed. */
    if (connect(fd, (const struct sockaddr *)&sa, sizeof sa) == 0) {
        st = fail_socket(text, "listen", EADDRINUSE);
        goto out;
    }
    if (errno == ECONNREFUSED && lstat(path, &left) == 0 && S_ISSOCK(left.st_mode))
        (void)unlink(path);
    (void)close(fd);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return fail_socket(text, "make a socket", errno);
    if (bind(fd, (const struct sockaddr *)&sa, sizeof sa) != 0) {
        st = fail_socket(text, "listen", errno);
        goto out;
    }
    if (chmod(path, 0660) != 0 || listen(fd, BACKLOG) != 0) {
        st = fail_socket(text, "listen", errno);
        goto out;
    }
    *out = fd;
    fd = -1;
out:
    if (fd >= 0) (void)close(fd);
    return st;
}

static cuzk_status listen_tcp(int *out, const struct addrinfo *ai, const char *text)
{
    int on = 1, err;
    int fd = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0) return fail_socket(text, "make a socket", errno);
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (ai->ai_family == AF_INET6) (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    if (bind(fd, ai->ai_addr, ai->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0) {
        *out = fd;
        return CUZK_OK;
    }
    err = errno;
    (void)close(fd);
    return fail_socket(text, "listen", err);
}

typedef struct opening {
    http_server *s;
    const http_server_config *c;
    const pem_files *pem;
    http_listener **out;
    size_t cap, n;
} opening;

/** The socket is the listener's from here on, whatever comes of it. */
static cuzk_status add_socket(opening *o, int fd, bool tls, const char *unix_path)
{
    http_listener *l;
    cuzk_status st;

    if (o->n == o->cap) {
        (void)close(fd);
        return FAIL(CUZK_EINVAL, "more than %zu sockets to listen on", o->cap);
    }
    st = new_listener(&l, o->s, fd, tls, unix_path != NULL);
    if (st != CUZK_OK) {
        (void)close(fd);
        return st;
    }
    if (unix_path != NULL) snprintf(l->path, sizeof l->path, "%s", unix_path);
    o->out[o->n++] = l;
    return start_daemon(l, o->c, o->pem);
}

/** What was bound, for http_server_address. */
static void write_bound(char out[300], int fd)
{
    struct sockaddr_storage ss = {0};
    socklen_t size = sizeof ss;
    net_peer p;

    if (getsockname(fd, (struct sockaddr *)&ss, &size) != 0) return;
    net_peer_from(&p, (const struct sockaddr *)&ss, size);
    net_peer_write(out, &p);
}

static cuzk_status open_tcp(opening *o, const net_address *a, const char *text, bool tls)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *list = NULL;
    cuzk_status st = CUZK_OK;
    char port[8];

    snprintf(port, sizeof port, "%u", (unsigned)a->port);
    int err = getaddrinfo(a->host, port, &hints, &list);
    if (err != 0)
        return status_fail(__FILE__, __LINE__, CUZK_EIO, CUZK_CLASS_IO, text,
                           "cannot find this host: %s", gai_strerror(err));
    for (const struct addrinfo *ai = list; ai != NULL; ai = ai->ai_next) {
        int fd = -1;

        TRY_OUT(listen_tcp(&fd, ai, text));
        if (ai == list) write_bound(o->s->addresses[o->s->n_addresses], fd);
        TRY_OUT(add_socket(o, fd, tls, NULL));
        if (a->port == 0) break; /* the kernel would choose another one for each */
    }
out:
    freeaddrinfo(list);
    return st;
}

static cuzk_status open_one(opening *o, const char *text)
{
    bool has_tls = given(o->c->tls_cert), tls = has_tls;
    const char *rest = text;
    net_address a;
    int fd = -1;

    if (strncmp(text, "tls://", 6) == 0) {
        if (!has_tls)
            return status_fail(__FILE__, __LINE__, CUZK_EINVAL, CUZK_CLASS_INCONSISTENT, text,
                               "tls:// needs daemon.tls_cert and daemon.tls_key");
        rest = text + 6;
    } else if (strncmp(text, "tcp://", 6) == 0) {
        rest = text + 6;
        tls = false;
    }
    if (net_address_read(&a, rest) != CUZK_OK) {
        const cuzk_error *e = cuzk_last_error();
        char why[sizeof e->message];

        memcpy(why, e->message, sizeof why);
        return status_fail(__FILE__, __LINE__, CUZK_EINVAL, CUZK_CLASS_MALFORMED, text, "%s", why);
    }
    if (!a.is_unix) {
        memcpy(o->s->listen_names[o->s->n_addresses], a.host, sizeof a.host);
        TRY(open_tcp(o, &a, text, tls));
    } else {
        TRY(listen_unix(&fd, a.path, text));
        snprintf(o->s->addresses[o->s->n_addresses], sizeof *o->s->addresses, "unix://%s", a.path);
        TRY(add_socket(o, fd, false, a.path));
    }
    o->s->n_addresses++;
    return CUZK_OK;
}

cuzk_status http_listeners_open(http_server *s, const http_server_config *c, http_listener **out,
                                size_t cap, size_t *n)
{
    pem_files pem = {0};
    opening o = {s, c, &pem, out, cap, 0};
    cuzk_status st = CUZK_OK;

    if (c->n_listen > HTTP_MAX_LISTEN)
        return FAIL(CUZK_EINVAL, "%zu addresses to listen on, limit %d", c->n_listen,
                    HTTP_MAX_LISTEN);
    TRY(pem_load_all(&pem, c));
    for (size_t i = 0; i < c->n_listen && st == CUZK_OK; i++) st = open_one(&o, c->listen[i]);
    pem_clear(&pem);
    *n = o.n; /* also after a failure: the caller frees them */
    return st;
}

cuzk_status http_listeners_renew(http_server *s, const http_server_config *c,
                                 http_listener *const *old, size_t n, http_listener **out)
{
    pem_files pem = {0};
    cuzk_status st = CUZK_OK;
    size_t made = 0;

    TRY(pem_load_all(&pem, c));
    for (; made < n; made++) {
        int fd = fcntl(old[made]->fd, F_DUPFD_CLOEXEC, 3);

        if (fd < 0) {
            st = fail_socket("daemon.tls_cert", "take over a socket", errno);
            goto out;
        }
        st = new_listener(&out[made], s, fd, old[made]->tls, old[made]->is_unix);
        if (st != CUZK_OK) {
            (void)close(fd);
            goto out;
        }
        memcpy(out[made]->path, old[made]->path, sizeof out[made]->path);
        if (old[made]->tls && pem.cert == NULL)
            st = FAIL(CUZK_EINVAL, "daemon.tls_cert: cannot be taken away without a restart");
        else
            st = start_daemon(out[made], c, &pem);
        if (st != CUZK_OK) {
            http_listener_free(out[made]);
            goto out;
        }
    }
out:
    pem_clear(&pem);
    while (st != CUZK_OK && made > 0) http_listener_free(out[--made]);
    return st;
}
