/*
 * app/serve.c - `cuzk serve`: start, wait for signals, reload, drain, stop
 *
 * The main thread only waits: for signals, and for the time of the next watchdog ping, which it sends when the service has
 * answered. SIGTERM and SIGINT drain (what is on a device is finished, the rest stays in the store), a second one stops at the
 * next safe points, a third one ends the process. SIGHUP reloads.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "app/serve.h"

#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "app/commands.h"
#include "base/clock.h"
#include "base/fault.h"
#include "wire/net.h"

#define LOOK_MS 1000 /* without a watchdog */
#define DRAIN_STEP_MS 200
#define SAME_SIGNAL_NS \
    UINT64_C(300000000)    /* supervisors send one signal to a process and its group */
#define EXTEND_US 30000000 /* of systemd's patience, told again while draining */

/* ---- before anything is open ---- */

static int print_example(void)
{
    bytes_out o;
    mem *m;

    if (mem_open(&m, "example", 0, NULL) != CUZK_OK) return 4;
    bytes_out_init(&o, m);
    config_write_example(&o);
    bool done = bytes_out_status(&o) == CUZK_OK && fwrite(o.data, 1, o.size, stdout) == o.size &&
                fflush(stdout) == 0;
    bytes_out_clear(&o);
    mem_close(m);
    return done ? 0 : 4;
}

static cuzk_status check_addresses(const config_list *l, const char *key)
{
    for (size_t i = 0; i < l->n; i++) {
        net_address a;
        const char *text = l->item[i];
        if (strncmp(text, "tls://", 6) == 0 || strncmp(text, "tcp://", 6) == 0) text += 6;
        cuzk_status st = net_address_read(&a, text);
        if (st != CUZK_OK) {
            status_add_where("%s", key);
            return st;
        }
    }
    return CUZK_OK;
}

static cuzk_status check_config(const config *c)
{
    TRY(check_addresses(&c->listen, "daemon.listen"));
    return check_addresses(&c->status_listen, "daemon.status_listen");
}

static int check_only(const config *c)
{
    for (size_t i = 0; i < c->n_warnings; i++) fprintf(stderr, "warning: %s\n", c->warning[i]);
    printf("%s: ok\n", c->path == NULL ? "defaults" : c->path);
    return 0;
}

/* ---- signals ---- */

static cuzk_status catch_signals(daemon_state *d)
{
    sigset_t set;

    (void)sigemptyset(&set); /* these cannot fail with valid numbers */
    (void)sigaddset(&set, SIGTERM);
    (void)sigaddset(&set, SIGINT);
    (void)sigaddset(&set, SIGHUP);
    (void)pthread_sigmask(SIG_BLOCK, &set, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
    d->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return d->signals >= 0 ? CUZK_OK : FAIL(CUZK_EIO, "signalfd: errno %d", errno);
}

/** From here on a signal ends the process. */
static void let_signals_kill(void)
{
    sigset_t set;

    (void)signal(SIGTERM, SIG_DFL);
    (void)signal(SIGINT, SIG_DFL);
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGTERM);
    (void)sigaddset(&set, SIGINT);
    (void)pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

/* ---- faults ---- */

static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS};
#define N_FAULTS (sizeof faults / sizeof faults[0])
static const cuzk_service *watched; /* fixed while the handler is there */

/** Only what is safe here: it is written down, and the process ends as it would have. */
static void on_fault(int sig)
{
    cuzk_service_crashed(watched, sig);
    (void)signal(sig, SIG_DFL);
    (void)raise(sig);
}

/** From here on the next start knows a fault from a kill. A sanitizer's own handlers stay. */
static void watch_faults(void *ctx, const cuzk_service *s)
{
    struct sigaction old, ours = {.sa_handler = on_fault};

    (void)ctx;
    watched = s;
    (void)sigemptyset(&ours.sa_mask);
    for (size_t i = 0; i < N_FAULTS; i++)
        if (sigaction(faults[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
            (void)sigaction(faults[i], &ours, NULL); /* cannot fail: a valid signal */
}

/** The service is about to go. */
static void watch_no_faults(void)
{
    struct sigaction now;

    for (size_t i = 0; i < N_FAULTS; i++)
        if (sigaction(faults[i], NULL, &now) == 0 && now.sa_handler == on_fault)
            (void)signal(faults[i], SIG_DFL);
}

/** The next signal, or 0 after wait_ms. */
static int next_signal(const daemon_state *d, int wait_ms)
{
    struct pollfd p = {.fd = d->signals, .events = POLLIN};
    struct signalfd_siginfo info;

    if (poll(&p, 1, wait_ms) <= 0) return 0;
    if (read(d->signals, &info, sizeof info) != (ssize_t)sizeof info) return 0;
    return (int)info.ssi_signo;
}

/* ---- the loop ---- */

/** A ping, if the service answers: one that does not makes this thread wait, and no ping comes. */
static void ping(const daemon_state *d)
{
    cuzk_status_rows rows;

    if (d->notify.watchdog_ns == 0) return;
    if (cuzk_service_rows(d->service, &rows) != CUZK_OK) return;
    cuzk_status_rows_clear(&rows);
    notify_send(&d->notify, "WATCHDOG=1");
}

static void reload(daemon_state *d)
{
    notify_send(&d->notify, "RELOADING=1\nMONOTONIC_USEC=%llu",
                (unsigned long long)(clock_ns() / 1000));
    daemon_reload(d);
    notify_send(&d->notify, "READY=1");
}

/** Until it is asked to stop. */
static int run(daemon_state *d)
{
    uint64_t ms = d->notify.watchdog_ns / 2000000;
    int wait_ms = ms == 0 || ms > LOOK_MS ? LOOK_MS : (int)ms;

    for (;;) {
        int sig = next_signal(d, wait_ms);
        if (sig == SIGHUP) reload(d);
        if (sig == SIGTERM || sig == SIGINT) return sig;
        ping(d);
    }
}

/** True: drained, or the time is over. False: asked again to stop. */
static bool drain(daemon_state *d, int sig)
{
    uint64_t from = clock_ns(), limit = d->config->drain_timeout_ms;
    bool drained = false;

    logger_say(d->log, CUZK_LOG_INFO, "draining", "signal", sig == SIGINT ? "SIGINT" : "SIGTERM",
               "timeout_ms", (int64_t)limit);
    rpc_drain(d->rpc);
    if (d->http != NULL) http_drain(d->http);
    while (!drained && (clock_ns() - from) / 1000000 < limit) {
        notify_send(&d->notify, "STOPPING=1\nEXTEND_TIMEOUT_USEC=%d", EXTEND_US);
        cuzk_service_drain(d->service, DRAIN_STEP_MS, &drained);
        ping(d);
        int again = next_signal(d, 0);
        if ((again == SIGTERM || again == SIGINT) && clock_ns() - from > SAME_SIGNAL_NS) {
            logger_say(d->log, CUZK_LOG_WARN, "stopping_at_once", NULL, NULL, NULL, 0);
            return false;
        }
    }
    if (!drained) cuzk_service_drain(d->service, 0, &drained);
    logger_say(d->log, drained ? CUZK_LOG_INFO : CUZK_LOG_WARN,
               drained ? "drained" : "drain_timeout", NULL, NULL, "ms",
               (int64_t)((clock_ns() - from) / 1000000));
    return true;
}

/* A heap for each of thirty threads keeps what each once needed; and blocks that glibc does not map stay in them. Before any
   thread is started. */
static void keep_heap_small(void)
{
    (void)mallopt(M_ARENA_MAX,
                  2); /* these cannot fail with such values, and would only cost memory */
    (void)mallopt(M_MMAP_THRESHOLD, 256 << 10);
    (void)mallopt(M_TRIM_THRESHOLD, 1 << 20);
}

static int serve(report *r, daemon_state *d)
{
    cuzk_status st = catch_signals(d);
    bool patient;

    keep_heap_small();

    notify_open(&d->notify, d->env_notify, d->env_watchdog, d->env_watchdog_pid);
#ifdef CUZK_VERIFY
    fault_arm(d->env_stall);
#endif
    if (st == CUZK_OK) st = daemon_open(d, watch_faults);
    if (st != CUZK_OK) {
        cuzk_error why = *cuzk_last_error();
        watch_no_faults();
        daemon_log_failure(d, "start_failed");
        notify_send(&d->notify, "STATUS=%s", why.message);
        daemon_close(d, true);
        st = status_adopt(&why);
        notify_close(&d->notify);
        return report_failure(r, st);
    }
    daemon_print_addresses(d);
    notify_send(&d->notify, "READY=1\nSTATUS=serving");
    patient = drain(d, run(d));
    watch_no_faults();
    if (!patient) let_signals_kill();
    daemon_close(d, !patient);
    notify_close(&d->notify);
    return 0;
}

int command_serve(report *r)
{
    const options *o = r->o;
    daemon_state d = {.source = {.path = o->config,
                                 .listen = o->listen,
                                 .n_listen = o->n_listen,
                                 .log_level = o->log_level},
                      .signals = -1};
    cuzk_status st;
    int code;

    d.env_params = secure_getenv("FIL_PROOFS_PARAMETER_CACHE");
    d.env_journal = secure_getenv("JOURNAL_STREAM");
    d.env_notify = secure_getenv("NOTIFY_SOCKET");
    d.env_watchdog = secure_getenv("WATCHDOG_USEC");
    d.env_watchdog_pid = secure_getenv("WATCHDOG_PID");
    d.env_stall = secure_getenv("CUZK_FAULT_STALL");
    if (o->n_args != 0) return command_usage(r, "takes no arguments, only options");
    if (o->example) return print_example();
    st = config_read(&d.started, &d.source);
    if (st != CUZK_OK || d.started == NULL) return report_failure(r, st);
    d.config = d.started;
    st = check_config(d.config);
    if (st != CUZK_OK || o->check) {
        code = st != CUZK_OK ? report_failure(r, st) : check_only(d.config);
        config_free(d.config);
        return code;
    }
    code = serve(r, &d);
    if (d.signals >= 0) (void)close(d.signals);
    return code;
}
