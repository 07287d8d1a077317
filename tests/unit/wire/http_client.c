/*
 * unit/wire/http_client.c - a client for the tests of the HTTP server
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "http_client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

/* A process that was stopped and goes on has its waits broken off. */
static ssize_t receive(int fd, void *to, size_t size, int flags)
{
    ssize_t n;

    do {
        n = recv(fd, to, size, flags);
    } while (n < 0 && errno == EINTR);
    return n;
}

int client_connect(const char *address)
{
    const struct timeval patience = {.tv_sec = 120};
    int fd;

    if (strncmp(address, "unix://", 7) == 0) {
        struct sockaddr_un un = {.sun_family = AF_UNIX};

        snprintf(un.sun_path, sizeof un.sun_path, "%s", address + 7);
        fd = socket(AF_UNIX, SOCK_STREAM, 0);
        if (connect(fd, (const struct sockaddr *)&un, sizeof un) != 0)
            harness_fail("cannot connect to %s", address);
    } else {
        struct sockaddr_in in = {.sin_family = AF_INET};

        in.sin_port = htons((uint16_t)strtoul(strrchr(address, ':') + 1, NULL, 10));
        in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        fd = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(fd, (const struct sockaddr *)&in, sizeof in) != 0)
            harness_fail("cannot connect to %s", address);
    }
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience), 0);
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience), 0);
    return fd;
}

void client_send(int fd, const void *data, size_t size)
{
    const uint8_t *p = data;

    while (size > 0) {
        ssize_t n = send(fd, p, size, MSG_NOSIGNAL);

        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return; /* the answer, or its absence, tells */
        p += n;
        size -= (size_t)n;
    }
}

void client_printf(int fd, const char *fmt, ...)
{
    char text[8192];
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    client_send(fd, text, strlen(text));
}

void client_read(int fd, client_answer *out, bool no_body)
{
    size_t n = 0;
    char *end = NULL;

    memset(out, 0, sizeof *out);
    while (end == NULL && n < sizeof out->head - 1) {
        if (receive(fd, out->head + n, 1, 0) != 1) break;
        n++;
        if (n >= 4 && memcmp(out->head + n - 4, "\r\n\r\n", 4) == 0) end = out->head + n;
    }
    out->head[n] = 0;
    out->body = calloc(1, 1);
    if (end == NULL || strncmp(out->head, "HTTP/1.1 ", 9) != 0) return;
    out->status = (unsigned)strtoul(out->head + 9, NULL, 10);
    if (no_body) return;
    out->size = strtoul(client_header(out, "Content-Length"), NULL, 10);
    free(out->body);
    out->body = calloc(1, out->size + 1);
    assert_non_null(out->body);
    for (size_t got = 0; got < out->size;) {
        ssize_t k = receive(fd, out->body + got, out->size - got, 0);

        if (k <= 0) harness_fail("answer cut short: %zu of %zu bytes", got, out->size);
        got += (size_t)k;
    }
}

void client_answer_clear(client_answer *a)
{
    free(a->body);
    memset(a, 0, sizeof *a);
}

const char *client_header(const client_answer *a, const char *name)
{
    static char value[1024];
    size_t n = strlen(name);

    value[0] = 0;
    for (const char *p = strstr(a->head, "\r\n"); p != NULL; p = strstr(p + 2, "\r\n")) {
        const char *line = p + 2;

        if (strncasecmp(line, name, n) != 0 || line[n] != ':') continue;
        line += n + 1;
        line += strspn(line, " ");
        snprintf(value, sizeof value, "%.*s", (int)strcspn(line, "\r"), line);
        break;
    }
    return value;
}

void client_ask(const char *address, client_answer *out, const char *method, const char *target,
                const char *lines, const void *body, size_t size)
{
    char head[8192], length[64] = "";
    int fd = client_connect(address);

    if (body != NULL) snprintf(length, sizeof length, "Content-Length: %zu\r\n", size);
    int n = snprintf(head, sizeof head, "%s %s HTTP/1.1\r\nHost: localhost\r\n%s%s\r\n", method,
                     target, lines, length);
    assert_true(n > 0 && (size_t)n < sizeof head);
    client_send(fd, head, (size_t)n);
    if (body != NULL) client_send(fd, body, size);
    client_read(fd, out, strcmp(method, "HEAD") == 0);
    (void)close(fd);
}

bool client_wait_for(int fd, const char *text)
{
    char buf[8192]; /* what came last, shorter than text, and what is there now */
    size_t want = strlen(text), kept = 0;

    assert_true(want > 0 && want <= sizeof buf / 2);
    for (;;) {
        ssize_t n = receive(fd, buf + kept, sizeof buf / 2, MSG_PEEK);

        if (n <= 0) return false;
        const char *at = memmem(buf, kept + (size_t)n, text, want);
        size_t take = at == NULL ? (size_t)n : (size_t)(at - buf) + want - kept;
        if (receive(fd, buf + kept, take, 0) != (ssize_t)take) return false;
        if (at != NULL) return true;
        kept += take;
        if (kept >= want) {
            memmove(buf, buf + kept - (want - 1), want - 1);
            kept = want - 1;
        }
    }
}

bool client_sees_end(int fd)
{
    char buf[4096];
    ssize_t n;

    while ((n = receive(fd, buf, sizeof buf, 0)) > 0) continue;
    return n == 0 || errno == ECONNRESET;
}
