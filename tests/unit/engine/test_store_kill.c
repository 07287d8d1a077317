/*
 * unit/engine/test_store_kill.c - a process that is killed at any moment loses no job that was admitted
 *
 * A child admits, finishes and replaces jobs, and writes to a pipe what each call has promised; the parent kills it after a
 * random time and opens the store.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "store_support.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WORKERS 2
#define MAX_JOBS 100000u

typedef struct promise {
    uint32_t job, state; /* of the call that returned; QUEUED: admitted */
} promise;

/* ---- the child ---- */

typedef struct worker {
    store *s;
    int pipe;
    uint32_t first;
} worker;

static void promised(const worker *w, uint32_t job, uint32_t state)
{
    promise p = {job, state};

    if (write(w->pipe, &p, sizeof p) != (ssize_t)sizeof p) _exit(3); /* whole: below PIPE_BUF */
}

static void must(cuzk_status st)
{
    if (st == CUZK_OK) return;
    fprintf(stderr, "child: %s\n", cuzk_last_error()->message);
    _exit(4);
}

static void *work(void *arg)
{
    const worker *w = arg;

    for (uint32_t k = w->first; k < MAX_JOBS; k += WORKERS) {
        char id[32];
        uint8_t b[5000];
        store_payload p;
        fill(b, sizeof b, k / 3);
        must(store_payload_write(w->s, &(cuzk_bytes){b, sizeof b}, 1, &p));
        store_job j = make_job(k, id, &p);
        must(store_admit(w->s, &j));
        promised(w, k, CUZK_JOB_QUEUED);
        store_partition_async(w->s, id, k % 3, text("part"));
        if (k % 2 == 0) {
            must(store_finish(w->s, id, CUZK_JOB_COMPLETED, 1000 + k, text("proof")));
            promised(w, k, CUZK_JOB_COMPLETED);
        }
    }
    return NULL;
}

static void child(env *e, int pipe, uint32_t first)
{
    cuzk_buffer moved = {0};
    worker w[WORKERS];
    pthread_t t;

    must(env_try_open(e, &w[0].s, &moved));
    if (moved.size != 0) _exit(5);
    for (uint32_t i = 0; i < WORKERS; i++) w[i] = (worker){w[0].s, pipe, first + i};
    if (pthread_create(&t, NULL, work, &w[1]) != 0) _exit(6);
    (void)work(&w[0]);
    _exit(7); /* it is killed long before */
}

/* ---- the parent ---- */

static uint8_t seen[MAX_JOBS]; /* 0: nothing promised; else state + 1 */
static loaded l;

static uint32_t read_promises(int fd)
{
    promise p;
    uint32_t next = 0;
    ssize_t n;

    while ((n = read(fd, &p, sizeof p)) == (ssize_t)sizeof p) {
        assert_true(p.job < MAX_JOBS);
        seen[p.job] = (uint8_t)(p.state + 1);
        if (p.job + 1 > next) next = p.job + 1;
    }
    assert_int_equal(n, 0);
    return next;
}

/** And, with forget, ends what there is. */
static void check_store(env *e, bool forget)
{
    store *s = env_open(e);

    assert_status_ok(load(s, &l));
    for (uint32_t k = 0; k < MAX_JOBS; k++) {
        char id[32];
        if (seen[k] == 0) continue;
        (void)snprintf(id, sizeof id, "job-%u", k);
        const struct loaded_job *j = find(&l, id);
        if (j == NULL) harness_fail("%s was admitted and is lost", id);
        if (seen[k] == CUZK_JOB_COMPLETED + 1) assert_int_equal(j->j.state, CUZK_JOB_COMPLETED);
    }
    for (size_t i = 0; i < l.n; i++) {
        const struct loaded_job *j = &l.job[i];
        if (j->j.state != CUZK_JOB_QUEUED) continue;
        if (!payload_is(s, &j->j.payload, (j->j.created_ms - 1000) / 3, 5000))
            harness_fail("the payload of %s is lost: %s", j->job_id, cuzk_last_error()->message);
    }
    for (size_t i = 0; forget && i < l.n; i++)
        if (l.job[i].j.state == CUZK_JOB_QUEUED)
            assert_status_ok(store_finish(s, l.job[i].job_id, CUZK_JOB_CANCELLED, 0, text("")));
    if (forget) memset(seen, 0, sizeof seen);
    store_purge_async(s, forget ? UINT64_MAX >> 1 : 0);
    store_close(s);
    if (forget) assert_int_equal(payload_files(e), 0);
}

static void test_kill(void **state)
{
    env e;
    size_t rounds = harness_iters(harness_level() == HARNESS_CHECK ? 12 : 60);
    uint32_t first = 0;

    (void)state;
    env_init(&e, "kill");
    for (size_t round = 0; round < rounds; round++) {
        int fd[2], status;
        assert_int_equal(pipe(fd), 0);
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            (void)close(fd[0]);
            child(&e, fd[1], first);
        }
        (void)close(fd[1]);
        struct pollfd pf = {.fd = fd[0], .events = POLLIN};
        /* some are killed while they open the store */
        if (round % 4 != 0) assert_int_equal(poll(&pf, 1, 120000), 1);
        struct timespec t = {0, (long)harness_random_below(60000000)};
        (void)nanosleep(&t, NULL);
        assert_int_equal(kill(pid, SIGKILL), 0);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        if (!WIFSIGNALED(status)) harness_fail("the child ended with %d", WEXITSTATUS(status));
        uint32_t next = read_promises(fd[0]);
        (void)close(fd[0]);
        if (next > first) first = next + WORKERS;
        check_store(&e, round % 4 == 3);
    }
    assert_int_equal(logged("store_corrupt"), 0);
    env_clear(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kill)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
