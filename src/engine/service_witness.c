/*
 * engine/service_witness.c - witness commands: another program makes a .wtns of an input.json
 *
 * Started without a shell, input.json on its stdin, the witness on its stdout, its stderr's last line for the message when it
 * fails. It gets a bounded time, output and memory, no files of ours, and its own session so that all of it can be killed.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/service.h"

#define TIME_LIMIT_NS 300000000000u /* 5 minutes */
#define POLL_MS 100
#define FIRST_SIZE ((size_t)1 << 20)
#define MAX_OUTPUT ((uint64_t)1 << 30)
#define EXTRA_MEMORY ((uint64_t)8 << 30) /* address space: interpreters reserve a lot */

typedef struct command {
    const char *name;
    pid_t pid;
    int in, out, err; /* our ends; -1: closed */
    const uint8_t *input;
    size_t n, written;
    uint8_t *data;
    size_t size, cap;
    uint64_t max, until;
    char said[200]; /* the end of stderr */
    size_t n_said;
} command;

static void close_end(int *fd)
{
    if (*fd >= 0) (void)close(*fd); /* nothing to lose */
    *fd = -1;
}

/* ends[0] is read from, ends[1] written to; ours does not block. */
static cuzk_status make_pipe(int ends[2], int ours)
{
    if (pipe2(ends, O_CLOEXEC) != 0) return FAIL(CUZK_EIO, "no pipe: %s", strerror(errno));
    if (fcntl(ends[ours], F_SETFL, O_NONBLOCK) != 0)
        return FAIL(CUZK_EIO, "pipe: %s", strerror(errno));
    return CUZK_OK;
}

/* When memory runs out it goes before the daemon does. As good as nothing happens where that cannot be asked for. */
static void prefer_for_oom(pid_t pid)
{
    char path[64];
    int fd;

    (void)snprintf(path, sizeof path, "/proc/%ld/oom_score_adj", (long)pid);
    fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return;
    (void)(write(fd, "1000", 4) == 4);
    (void)close(fd);
}

static cuzk_status spawn(command *c, char *const *argv, const int theirs[3])
{
    static char path[] = "PATH=/usr/local/bin:/usr/bin:/bin", lang[] = "LANG=C.UTF-8";
    char *env[] = {path, lang, NULL};
    posix_spawn_file_actions_t fa;
    posix_spawnattr_t attr;
    sigset_t none, all;
    int err;

    (void)sigemptyset(&none);
    (void)sigfillset(&all);
    (void)posix_spawn_file_actions_init(
        &fa); /* these cannot fail in glibc but for memory, which spawn then tells */
    for (int k = 0; k < 3; k++) (void)posix_spawn_file_actions_adddup2(&fa, theirs[k], k);
    (void)posix_spawnattr_init(&attr);
    (void)posix_spawnattr_setsigmask(&attr, &none);
    (void)posix_spawnattr_setsigdefault(&attr, &all);
    (void)posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                              POSIX_SPAWN_SETSID);
    err = posix_spawnp(&c->pid, argv[0], &fa, &attr, argv, env);
    (void)posix_spawnattr_destroy(&attr);
    (void)posix_spawn_file_actions_destroy(&fa);
    if (err != 0)
        return FAIL(CUZK_EIO, "witness command %s does not start: %s", argv[0], strerror(err));
    prefer_for_oom(c->pid);
    struct rlimit l = {c->max + EXTRA_MEMORY, c->max + EXTRA_MEMORY};
    (void)prlimit(c->pid, RLIMIT_AS, &l, NULL); /* a child that has ended already needs none */
    return CUZK_OK;
}

static cuzk_status start(command *c, char *const *argv)
{
    int in[2] = {-1, -1}, out[2] = {-1, -1}, err[2] = {-1, -1};
    cuzk_status st = make_pipe(in, 1);

    if (st == CUZK_OK) st = make_pipe(out, 0);
    if (st == CUZK_OK) st = make_pipe(err, 0);
    if (st == CUZK_OK) st = spawn(c, argv, (const int[3]){in[0], out[1], err[1]});
    close_end(&in[0]);
    close_end(&out[1]);
    close_end(&err[1]);
    c->in = in[1];
    c->out = out[0];
    c->err = err[0];
    return st;
}

static void feed(command *c)
{
    ssize_t k = write(c->in, c->input + c->written, c->n - c->written);

    if (k > 0) c->written += (size_t)k;
    if ((k < 0 && errno != EAGAIN && errno != EINTR) || c->written == c->n) close_end(&c->in);
}

static cuzk_status drink(command *c)
{
    ssize_t k;

    if (c->size == c->cap) {
        size_t cap = c->cap == 0 ? FIRST_SIZE : 2 * c->cap;
        uint8_t *p = realloc(c->data, cap);

        if (p == NULL)
            return FAIL(CUZK_ENOMEM, "witness of more than %zu bytes: out of memory", c->cap);
        c->data = p;
        c->cap = cap;
    }
    k = read(c->out, c->data + c->size, c->cap - c->size);
    if (k > 0) c->size += (size_t)k;
    if (k == 0 || (k < 0 && errno != EAGAIN && errno != EINTR)) close_end(&c->out);
    if (c->size > c->max)
        return FAIL_DATA(LIMIT, "witness", "witness command %s wrote more than %" PRIu64 " bytes",
                         c->name, c->max);
    return CUZK_OK;
}

static void listen_to(command *c)
{
    char text[512];
    ssize_t k = read(c->err, text, sizeof text);

    if (k == 0 || (k < 0 && errno != EAGAIN && errno != EINTR)) close_end(&c->err);
    for (ssize_t i = 0; i < k; i++) {
        if (c->n_said == sizeof c->said - 1) memmove(c->said, c->said + 1, --c->n_said);
        c->said[c->n_said++] = text[i] >= ' ' && text[i] <= '~' ? text[i] : ' ';
    }
    c->said[c->n_said] = 0;
}

/* Not cancel_check: who waits for another program has no need to stand aside, and its time goes on. */
static cuzk_status may_go_on(const command *c, const cancel *stop)
{
    if (cancel_requested(stop)) return FAIL(CUZK_ECANCELLED, "cancelled");
    if (clock_ns() > c->until)
        return FAIL_DATA(LIMIT, "witness", "witness command %s took more than %u s", c->name,
                         (unsigned)(TIME_LIMIT_NS / 1000000000u));
    return CUZK_OK;
}

static cuzk_status talk(command *c, const cancel *stop)
{
    while (c->out >= 0 || c->err >= 0) {
        struct pollfd p[3] = {{c->in, POLLOUT, 0}, {c->out, POLLIN, 0}, {c->err, POLLIN, 0}};

        TRY(may_go_on(c, stop));
        if (poll(p, 3, POLL_MS) <= 0) continue;
        if (p[0].revents != 0) feed(c);
        if (p[1].revents != 0) TRY(drink(c));
        if (p[2].revents != 0) listen_to(c);
    }
    return CUZK_OK;
}

/* It may run on though it has closed its output. Most end at once: looked at soon, then less and less often. */
static cuzk_status wait_for_end(command *c, const cancel *stop, int *status)
{
    struct timespec pause = {0, 200000};

    for (;;) {
        pid_t ended = waitpid(c->pid, status, WNOHANG);

        if (ended == c->pid) return CUZK_OK;
        if (ended < 0 && errno != EINTR)
            return FAIL(CUZK_EIO, "witness command %s: %s", c->name, strerror(errno));
        TRY(may_go_on(c, stop));
        (void)nanosleep(&pause, NULL); /* a signal only makes it look sooner */
        if (pause.tv_nsec < POLL_MS * 1000000L / 2) pause.tv_nsec *= 2;
    }
}

/* With all of its session. */
static void kill_it(const command *c)
{
    int status;

    (void)kill(-c->pid, SIGKILL); /* it may have ended */
    (void)kill(c->pid, SIGKILL);
    while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
        ;
}

cuzk_status svc_run_witness_command(char *const *argv, const uint8_t *input, size_t n,
                                    uint64_t max_output, const cancel *stop, uint8_t **out,
                                    size_t *out_size)
{
    command c = {.name = argv[0], .in = -1, .out = -1, .err = -1, .input = input, .n = n};
    int status = 0;
    cuzk_status st;

    c.max = max_output == 0 || max_output > MAX_OUTPUT ? MAX_OUTPUT : max_output;
    c.until = clock_ns() + TIME_LIMIT_NS;
    st = start(&c, argv);
    if (st == CUZK_OK) {
        st = talk(&c, stop);
        if (st == CUZK_OK) st = wait_for_end(&c, stop, &status);
        if (st != CUZK_OK) kill_it(&c);
    }
    close_end(&c.in);
    close_end(&c.out);
    close_end(&c.err);
    if (st == CUZK_OK && (!WIFEXITED(status) || WEXITSTATUS(status) != 0))
        st = FAIL_DATA(MALFORMED, "input_json", "witness command %s ended with %s %d: %s", c.name,
                       WIFEXITED(status) ? "status" : "signal",
                       WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status), c.said);
    if (st == CUZK_OK && c.size == 0)
        st = FAIL_DATA(MALFORMED, "input_json", "witness command %s wrote no witness", c.name);
    if (st != CUZK_OK) {
        free(c.data);
        return st;
    }
    *out = c.data;
    *out_size = c.size;
    return CUZK_OK;
}
