/*
 * app/logger.c - the ring of lines, the thread that writes them, and how many lines an event may have
 *
 * A line is made by who logs, outside of any lock. The sink polls before it writes and writes no more than a pipe takes at once,
 * so that it sees when it has to give up, whatever the other end does.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "app/logger.h"

#include "app/logger_format.h"
#include "base/clock.h"
#include "base/fault.h"
#include "base/signals.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MAX_EVENTS 256u /* with a limit of their own; others share one */
#define EVENT_NAME 48
#define PATIENCE_NS \
    UINT64_C(1000000000) /* of close and flush, for a sink that does not take lines */

typedef struct event_limit {
    char name[EVENT_NAME];
    uint64_t window_ns; /* when it began */
    unsigned lines;
    uint64_t suppressed; /* in this window */
} event_limit;

struct logger {
    /* fixed after init */
    int fd;
    bool journal;
    span_rec *rec;
    pthread_t thread;

    /* only the sink thread */
    uint8_t chunk[PIPE_BUF];

    /* guarded by mu */
    pthread_mutex_t mu;
    pthread_cond_t work;  /* lines, or closing */
    pthread_cond_t ended; /* the ring is empty, and written */
    int level;
    bool json, closing, writing;
    uint64_t give_up_ns; /* after closing */
    uint64_t head, tail; /* bytes put and taken, of ring[x % LOGGER_RING] */
    event_limit events[MAX_EVENTS];
    unsigned n_events;
    uint64_t lines[CUZK_LOG_DEBUG + 1], suppressed, dropped, dropped_told, failed;
    uint8_t ring[LOGGER_RING];
};

static void lock(logger *l)
{
    (void)pthread_mutex_lock(&l->mu); /* cannot fail: a plain mutex, never held twice */
}
static void unlock(logger *l)
{
    (void)pthread_mutex_unlock(&l->mu); /* cannot fail: this thread holds it */
}

static int64_t unix_ms(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_REALTIME, &t); /* cannot fail: the clock is there */
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- the ring ---- */

/** Whole, or not at all. */
static bool put_locked(logger *l, const char *p, size_t n)
{
    size_t at = l->head % LOGGER_RING, first = n < LOGGER_RING - at ? n : LOGGER_RING - at;

    if (n > LOGGER_RING - (l->head - l->tail)) {
        l->dropped++;
        return false;
    }
    memcpy(l->ring + at, p, first);
    memcpy(l->ring, p + first, n - first);
    l->head += n;
    (void)pthread_cond_signal(&l->work);
    return true;
}

static size_t take_locked(logger *l)
{
    size_t at = l->tail % LOGGER_RING, n = (size_t)(l->head - l->tail);

    if (n > sizeof l->chunk) n = sizeof l->chunk;
    if (n > LOGGER_RING - at) n = LOGGER_RING - at;
    memcpy(l->chunk, l->ring + at, n);
    l->tail += n;
    return n;
}

/** A line of the logger's own, without a limit. */
static void tell_locked(logger *l, const char *event, const cuzk_log_field *f, size_t n)
{
    char text[LOGGER_LINE];
    log_style style = {l->json, l->journal};

    (void)put_locked(l, text, log_format(text, style, unix_ms(), CUZK_LOG_WARN, event, f, n));
}

/* ---- limits ---- */

static event_limit *limit_of_locked(logger *l, const char *event)
{
    event_limit *e;

    for (unsigned i = 0; i < l->n_events; i++)
        if (strncmp(l->events[i].name, event, EVENT_NAME - 1) == 0) return &l->events[i];
    if (l->n_events == MAX_EVENTS) return &l->events[MAX_EVENTS - 1];
    e = &l->events[l->n_events++];
    (void)snprintf(e->name, sizeof e->name, "%s", event);
    return e;
}

/** Ends the window of an event when its time is over, and tells what was held back in it. */
static void turn_locked(logger *l, event_limit *e, uint64_t now)
{
    cuzk_log_field f[2] = {{"of", e->name, 0}, {"lines", NULL, (int64_t)e->suppressed}};

    if (now - e->window_ns < (uint64_t)LOGGER_WINDOW_MS * 1000000) return;
    if (e->suppressed > 0) tell_locked(l, "log_suppressed", f, 2);
    e->window_ns = now;
    e->lines = 0;
    e->suppressed = 0;
}

static bool is_allowed_locked(logger *l, const char *event)
{
    event_limit *e = limit_of_locked(l, event);

    turn_locked(l, e, clock_ns());
    if (e->lines < LOGGER_BURST) {
        e->lines++;
        return true;
    }
    e->suppressed++;
    l->suppressed++;
    return false;
}

/** Now and then: what was held back or dropped is told, even when nothing else is logged. */
static void tell_rest_locked(logger *l)
{
    uint64_t now = clock_ns();
    cuzk_log_field f = {"lines", NULL, (int64_t)(l->dropped - l->dropped_told)};

    for (unsigned i = 0; i < l->n_events; i++)
        if (l->events[i].suppressed > 0) turn_locked(l, &l->events[i], now);
    if (f.number > 0 && l->head - l->tail < LOGGER_RING / 2) {
        l->dropped_told = l->dropped;
        tell_locked(l, "log_dropped", &f, 1);
    }
}

/* ---- the sink ---- */

/** False: the sink takes nothing and it is time to end, or it is gone. */
static bool write_chunk(logger *l, size_t n)
{
    size_t at = 0;

    fault_stall("log sink");
    while (at < n) {
        struct pollfd p = {.fd = l->fd, .events = POLLOUT};
        ssize_t got;
        if (poll(&p, 1, 100) <= 0) {
            lock(l);
            bool over = l->closing && clock_ns() > l->give_up_ns;
            unlock(l);
            if (over) return false;
            continue;
        }
        got = write(l->fd, l->chunk + at, n - at);
        if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (got <= 0) return false;
        at += (size_t)got;
    }
    return true;
}

/** Waits for lines; false: closing, and none are left. */
static bool wait_locked(logger *l)
{
    struct timespec until;

    while (l->head == l->tail && !l->closing) {
        (void)pthread_cond_broadcast(&l->ended);
        (void)clock_gettime(CLOCK_MONOTONIC, &until); /* cannot fail: the clock is there */
        until.tv_sec++;
        (void)pthread_cond_timedwait(&l->work, &l->mu, &until); /* either way: look again */
        tell_rest_locked(l);
    }
    if (l->head == l->tail) tell_rest_locked(l);
    return l->head != l->tail;
}

static void *sink_main(void *arg)
{
    logger *l = arg;
    /* without a track its spans are missing, and nothing else */
    bool attached = l->rec != NULL && span_attach(l->rec, "log") == CUZK_OK;

    for (;;) {
        span idle = span_open(SPAN_IDLE);
        lock(l);
        bool more = wait_locked(l);
        size_t n = more ? take_locked(l) : 0;
        l->writing = more;
        unlock(l);
        span_close(&idle);
        if (!more) break;
        span s = span_open(SPAN_LOG);
        bool done = write_chunk(l, n);
        span_close(&s);
        lock(l);
        l->writing = false;
        if (!done) {
            l->failed++;
            l->tail = l->head; /* nobody reads: what waits is old when somebody does */
        }
        unlock(l);
    }
    lock(l);
    (void)pthread_cond_broadcast(&l->ended);
    unlock(l);
    if (attached) span_detach();
    return NULL;
}

/* ---- opening, closing ---- */

static cuzk_status start(logger *l)
{
    sigset_t before;
    int err;

    signals_block(&before); /* signals are the program's own thread's */
    err = pthread_create(&l->thread, NULL, sink_main, l);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return err == 0 ? CUZK_OK : FAIL(CUZK_ENOMEM, "log: no thread");
}

static cuzk_status init_locks(logger *l)
{
    pthread_condattr_t a;

    /* glibc's never fail with these attributes; the check is for what might be elsewhere */
    if (pthread_condattr_init(&a) != 0 || pthread_condattr_setclock(&a, CLOCK_MONOTONIC) != 0 ||
        pthread_mutex_init(&l->mu, NULL) != 0 || pthread_cond_init(&l->work, &a) != 0 ||
        pthread_cond_init(&l->ended, &a) != 0)
        return FAIL(CUZK_ENOMEM, "log: no lock");
    (void)pthread_condattr_destroy(&a);
    return CUZK_OK;
}

cuzk_status logger_open(logger **out, const logger_config *c)
{
    cuzk_status st;
    logger *l = calloc(1, sizeof *l);

    if (l == NULL) return FAIL(CUZK_ENOMEM, "log: out of memory");
    l->fd = c->fd;
    l->journal = c->journal;
    l->rec = c->rec;
    l->level = c->level;
    l->json = c->json;
    st = init_locks(l);
    if (st == CUZK_OK) st = start(l);
    if (st != CUZK_OK)
        free(l);
    else
        *out = l;
    return st;
}

void logger_close(logger *l)
{
    if (l == NULL) return;
    lock(l);
    l->closing = true;
    l->give_up_ns = clock_ns() + PATIENCE_NS;
    (void)pthread_cond_signal(&l->work);
    unlock(l);
    (void)pthread_join(l->thread, NULL); /* cannot fail: it is ours, joined once */
    (void)pthread_cond_destroy(&l->work);
    (void)pthread_cond_destroy(&l->ended);
    (void)pthread_mutex_destroy(&l->mu);
    free(l);
}

void logger_flush(logger *l)
{
    struct timespec until;

    (void)clock_gettime(CLOCK_MONOTONIC, &until); /* cannot fail: the clock is there */
    until.tv_sec++;
    lock(l);
    while (l->head != l->tail || l->writing)
        if (pthread_cond_timedwait(&l->ended, &l->mu, &until) != 0) break;
    unlock(l);
}

void logger_set(logger *l, int level, bool json)
{
    lock(l);
    l->level = level;
    l->json = json;
    unlock(l);
}

/* ---- logging ---- */

void logger_line(void *ctx, int level, const char *event, const cuzk_log_field *f, size_t n)
{
    logger *l = ctx;
    char text[LOGGER_LINE];
    log_style style;
    bool wanted;
    size_t size;

    if (l == NULL) return;
    if (level < CUZK_LOG_ERROR || level > CUZK_LOG_DEBUG) level = CUZK_LOG_ERROR;
    lock(l);
    wanted = level <= l->level && is_allowed_locked(l, event);
    style = (log_style){l->json, l->journal};
    unlock(l);
    if (!wanted) return;
    size = log_format(text, style, unix_ms(), level, event, f, n);
    lock(l);
    if (put_locked(l, text, size)) l->lines[level]++;
    unlock(l);
}

void logger_say(logger *l, int level, const char *event, const char *key, const char *text,
                const char *number_key, int64_t number)
{
    cuzk_log_field f[2];
    size_t n = 0;

    if (key != NULL) f[n++] = (cuzk_log_field){key, text == NULL ? "" : text, 0};
    if (number_key != NULL) f[n++] = (cuzk_log_field){number_key, NULL, number};
    logger_line(l, level, event, f, n);
}

void logger_metrics(logger *l, bytes_out *out)
{
    uint64_t lines[CUZK_LOG_DEBUG + 1], suppressed, dropped, failed;

    lock(l);
    memcpy(lines, l->lines, sizeof lines);
    suppressed = l->suppressed;
    dropped = l->dropped;
    failed = l->failed;
    unlock(l);
    bytes_printf(out, "# HELP cuzk_log_lines_total Log lines by level.\n"
                      "# TYPE cuzk_log_lines_total counter\n");
    for (int i = CUZK_LOG_ERROR; i <= CUZK_LOG_DEBUG; i++)
        bytes_printf(out, "cuzk_log_lines_total{level=\"%s\"} %llu\n", log_level_name(i),
                     (unsigned long long)lines[i]);
    bytes_printf(
        out,
        "# HELP cuzk_log_suppressed_total Log lines held back since their event came too often.\n"
        "# TYPE cuzk_log_suppressed_total counter\ncuzk_log_suppressed_total %llu\n"
        "# HELP cuzk_log_dropped_total Log lines dropped since the sink was too slow.\n"
        "# TYPE cuzk_log_dropped_total counter\ncuzk_log_dropped_total %llu\n"
        "# HELP cuzk_log_write_failures_total Writes to the log that failed.\n"
        "# TYPE cuzk_log_write_failures_total counter\ncuzk_log_write_failures_total %llu\n",
        (unsigned long long)suppressed, (unsigned long long)dropped, (unsigned long long)failed);
}
