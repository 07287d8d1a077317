/*
 * engine/bench_beside.c - `cuzk bench prove --circuit porep-32g --beside winning-32g`: urgent jobs beside work that never ends
 *
 * A service without a store, keys made for the run, jobs as clients send them. Some jobs of `circuit` are always there. First their
 * partitions alone are timed, then jobs of `beside` come at random moments, at the priority of their kind, whether or not the one before
 * has ended; each is timed from the call that submits it to its proof, which the service has verified. What partitions take meanwhile is
 * the price. The slowest job's document (docs/formats/status.md) says where its time went.
 *
 * Locks: `mu` of this file, a leaf.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "engine/bench.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/signals.h"
#include "engine/bench_request.h"

#define REPS 100
#define ALONE_JOBS 5u   /* of `beside` before the others begin; the first is warm-up */
#define IN_FLIGHT 3u    /* jobs of `circuit` */
#define PARTITIONS 12u  /* timed alone; less where fewer jobs are asked for */
#define FIRST 2u        /* of them that are not timed */
#define LEAST_BESIDE 3u /* partitions timed beside */
#define GAP_MIN_MS 100u /* between two arrivals */
#define GAP_MAX_MS 500u
#define LOOK_NS 50000000 /* between two looks at the cancel token */
#define MAX_ENDS 4096u
#define MAIN_ID "main-"
#define ALONE_ID "alone-"
#define BESIDE_ID "beside-"

typedef struct beside beside;

/* A job of `beside`. */
typedef struct arrival {
    beside *b;
    char id[32];
    uint64_t from, to; /* clock_ns; to 0: it has not ended */
    cuzk_job_times times;
} arrival;

struct beside {
    job *j;
    const cuzk_bench_args *a;
    bench_report *r;
    cuzk_service *s;
    bench_request main, urgent;
    bench_row row;
    uint64_t alone_ns; /* of a partition */
    pthread_t feeder;
    bool feeds;
    arrival *arrivals;
    unsigned n_arrivals;
    pthread_mutex_t mu;
    pthread_cond_t cond;
    /* guarded by mu */
    unsigned running, started; /* jobs of `circuit` */
    bool stop;
    cuzk_error why;          /* of the first failure; CUZK_OK: none */
    uint64_t ends[MAX_ENDS]; /* clock_ns of partitions' ends */
    unsigned n_ends;
};

/* ---- what the service tells ---- */

static void lock(beside *b)
{
    (void)pthread_mutex_lock(&b->mu);
}

static void unlock(beside *b)
{
    (void)pthread_cond_broadcast(&b->cond);
    (void)pthread_mutex_unlock(&b->mu);
}

static void note_failure_locked(beside *b, const cuzk_error *why)
{
    if (b->why.status == CUZK_OK) b->why = *why;
}

/* A job that has not been proved, and not because it was stopped. */
static void note_end_locked(beside *b, const cuzk_job_result *r)
{
    cuzk_error why = {.status = CUZK_EBUG, .message = "a job of the benchmark did not end well"};

    if (b->stop || (r->end == CUZK_WAIT_ENDED && r->state == CUZK_JOB_COMPLETED)) return;
    note_failure_locked(b, r->error != NULL ? r->error : &why);
}

static void main_ended(void *ctx, const cuzk_job_result *r)
{
    beside *b = ctx;

    lock(b);
    b->running--;
    note_end_locked(b, r);
    unlock(b);
}

static void arrival_ended(void *ctx, const cuzk_job_result *r)
{
    arrival *a = ctx;
    beside *b = a->b;
    uint64_t now = clock_ns();

    lock(b);
    a->to = now;
    a->times = r->times;
    note_end_locked(b, r);
    unlock(b);
}

static void on_event(void *ctx, const char *json, size_t size)
{
    beside *b = ctx;
    uint64_t now = clock_ns();

    (void)size;
    if (strstr(json, "\"type\":\"partition\"") == NULL || strstr(json, "\"" MAIN_ID) == NULL ||
        strstr(json, "\"state\":\"done\"") == NULL)
        return;
    lock(b);
    if (b->n_ends < MAX_ENDS) b->ends[b->n_ends++] = now;
    unlock(b);
}

/* ---- jobs ---- */

static cuzk_status submit(beside *b, cuzk_request *r, const char *id, cuzk_wait_fn fn, void *ctx)
{
    cuzk_ticket *t = calloc(1, sizeof *t);
    uint64_t wait;
    cuzk_status st;

    if (t == NULL) return FAIL(CUZK_ENOMEM, "proving benchmark: out of memory");
    r->request_id = id;
    st = cuzk_job_submit(b->s, r, t);
    if (st == CUZK_OK) st = cuzk_job_wait(b->s, t->job_id, 0, fn, ctx, &wait);
    free(t);
    return st;
}

/* Keeps jobs of `circuit` in the service: a thread of its own, since a submission of a PoRep reads all of its input. */
static void *feed(void *arg)
{
    beside *b = arg;

    for (;;) {
        cuzk_request r = b->main.r;
        char id[32];
        cuzk_status st;

        lock(b);
        while (b->running >= IN_FLIGHT && !b->stop) (void)pthread_cond_wait(&b->cond, &b->mu);
        bool stop = b->stop || b->why.status != CUZK_OK;
        if (!stop) {
            b->running++;
            (void)snprintf(id, sizeof id, MAIN_ID "%u", b->started++);
        }
        unlock(b);
        if (stop) return NULL;
        st = submit(b, &r, id, main_ended, b);
        if (st == CUZK_OK) continue;
        lock(b);
        b->running--;
        note_failure_locked(b, cuzk_last_error());
        unlock(b);
        return NULL;
    }
}

static cuzk_status start_feeding(beside *b)
{
    sigset_t old;
    int err;

    signals_block(&old);
    err = pthread_create(&b->feeder, NULL, feed, b);
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    b->feeds = err == 0;
    return err == 0 ? CUZK_OK : FAIL(CUZK_ENOMEM, "proving benchmark: no thread (error %d)", err);
}

static void stop_feeding(beside *b)
{
    lock(b);
    b->stop = true;
    unlock(b);
    if (b->feeds) (void)pthread_join(b->feeder, NULL);
    b->feeds = false;
}

/* ---- waiting ---- */

static void pause_ns(uint64_t ns)
{
    struct timespec t = {.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};

    (void)nanosleep(&t, NULL);
}

/* Until `enough` says so; a failure of any job ends it, and so does the engine's token. */
static cuzk_status wait_until(beside *b, bool (*enough)(const beside *b, unsigned n), unsigned n)
{
    for (;;) {
        cuzk_error why;
        bool done;

        TRY(cancel_check(b->j->e->cancel));
        lock(b);
        why = b->why;
        done = enough(b, n);
        unlock(b);
        if (why.status != CUZK_OK) return status_adopt(&why);
        if (done) return CUZK_OK;
        span sp = span_open(SPAN_IDLE);
        pause_ns(LOOK_NS / 10);
        span_close(&sp);
    }
}

static bool have_ends(const beside *b, unsigned n)
{
    return b->n_ends >= n;
}

static bool arrivals_ended(const beside *b, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (b->arrivals[i].to == 0) return false;
    return true;
}

static unsigned ends_now(beside *b)
{
    unsigned n;

    lock(b);
    n = b->n_ends;
    unlock(b);
    return n;
}

/* ---- what is measured ---- */

/* Never the same id twice: the same request would be the same job. */
static cuzk_status arrive(beside *b, const char *id)
{
    arrival *a = &b->arrivals[b->n_arrivals];
    cuzk_request r = b->urgent.r;
    span sp = span_open(SPAN_BENCH);

    *a = (arrival){.b = b, .from = clock_ns()};
    (void)snprintf(a->id, sizeof a->id, "%s%u", id, b->n_arrivals);
    b->n_arrivals++;
    cuzk_status st = submit(b, &r, a->id, arrival_ended, a);
    span_close(&sp);
    return st;
}

/* A time for each of arrivals [from, n). */
static void fill_row(beside *b, const char *what, unsigned from)
{
    bench_row_begin(&b->row, b->a->beside, what, 1);
    for (unsigned i = from; i < b->n_arrivals; i++)
        b->row.ns[b->row.reps++] = b->arrivals[i].to - b->arrivals[i].from;
}

static cuzk_status beside_alone(beside *b)
{
    for (unsigned i = 0; i < ALONE_JOBS; i++) {
        TRY(arrive(b, ALONE_ID));
        TRY(wait_until(b, arrivals_ended, b->n_arrivals));
    }
    fill_row(b, "alone", 1);
    bench_report_row(b->r, &b->row);
    b->n_arrivals = 0;
    return CUZK_OK;
}

/* The mean time from end to end of partitions [from, to). */
static uint64_t mean_ns(beside *b, unsigned from, unsigned to)
{
    uint64_t ns;

    lock(b);
    ns = (b->ends[to - 1] - b->ends[from]) / (to - 1 - from);
    unlock(b);
    return ns;
}

static void tell_partitions(beside *b, const char *what, unsigned from, unsigned to)
{
    bench_row *row = &b->row;
    uint64_t ns = mean_ns(b, from, to);
    char name[64];

    (void)snprintf(name, sizeof name, "%.24s partition", b->a->circuit);
    bench_row_begin(row, name, what, 1);
    row->ns[row->reps++] = ns;
    bench_row_fact(row, "partitions", to - from - 1);
    if (b->alone_ns != 0)
        bench_row_fact(row, "slower_permille",
                       ns <= b->alone_ns ? 0 : (ns - b->alone_ns) * 1000 / b->alone_ns);
    bench_report_row(b->r, row);
    b->alone_ns = ns;
}

static cuzk_status circuit_alone(beside *b)
{
    unsigned n = b->a->reps == 0 || b->a->reps > PARTITIONS ? PARTITIONS : b->a->reps;

    TRY(start_feeding(b));
    TRY(wait_until(b, have_ends, FIRST)); /* the first ones bring in what stays */
    unsigned from = ends_now(b);
    TRY(wait_until(b, have_ends, from + n));
    tell_partitions(b, "alone", from - 1, from + n);
    return CUZK_OK;
}

static cuzk_status let_arrive(beside *b, unsigned n)
{
    uint64_t seed = 0x9e3779b97f4a7c15;

    for (unsigned i = 0; i < n; i++) {
        uint64_t gap;

        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
        gap = GAP_MIN_MS * UINT64_C(1000000) +
              (seed >> 33) % ((GAP_MAX_MS - GAP_MIN_MS) * UINT64_C(1000000));
        span sp = span_open(SPAN_IDLE);
        pause_ns(gap);
        span_close(&sp);
        TRY(wait_until(b, have_ends, 0)); /* nothing has failed */
        TRY(arrive(b, BESIDE_ID));
    }
    return wait_until(b, arrivals_ended, n);
}

static const arrival *slowest(const beside *b)
{
    const arrival *worst = &b->arrivals[0];

    for (unsigned i = 1; i < b->n_arrivals; i++)
        if (b->arrivals[i].to - b->arrivals[i].from > worst->to - worst->from)
            worst = &b->arrivals[i];
    return worst;
}

static void cut_line(cuzk_buffer *text)
{
    while (text->size != 0 && text->data[text->size - 1] == '\n') text->data[--text->size] = 0;
}

static cuzk_status tell_arrivals(beside *b)
{
    const arrival *w = slowest(b);
    cuzk_buffer doc = {0};
    const char *type;
    char what[64], path[64];

    (void)snprintf(what, sizeof what, "beside %.40s", b->a->circuit);
    (void)snprintf(path, sizeof path, "/jobs/%s", w->id);
    TRY(cuzk_service_document(b->s, path, &doc, &type));
    cut_line(&doc);
    fill_row(b, what, 0);
    bench_report_order(&b->row);
    bench_row_fact(&b->row, "p99_ns", b->row.ns[(b->row.reps - 1) * 99 / 100]);
    bench_row_fact(&b->row, "max_ns", b->row.ns[b->row.reps - 1]);
    bench_row_fact(&b->row, "slowest_queue_ms", w->times.queue_ms);
    bench_row_fact(&b->row, "slowest_decode_ms", w->times.decode_ms);
    bench_row_fact(&b->row, "slowest_synthesis_ms", w->times.synthesis_ms);
    bench_row_fact(&b->row, "slowest_device_ms", w->times.device_ms);
    bench_row_fact(&b->row, "slowest_verify_ms", w->times.verify_ms);
    bench_row_fact(&b->row, "slowest_rest_ms", w->times.rest_ms);
    b->row.detail = (const char *)doc.data;
    bench_report_row(b->r, &b->row);
    cuzk_buffer_clear(&doc);
    return CUZK_OK;
}

static cuzk_status both(beside *b, unsigned n)
{
    unsigned from = ends_now(b), to;

    TRY(let_arrive(b, n));
    TRY(wait_until(b, have_ends, from + LEAST_BESIDE));
    to = ends_now(b);
    TRY(tell_arrivals(b));
    char what[64];
    (void)snprintf(what, sizeof what, "beside %.40s", b->a->beside);
    tell_partitions(b, what, from == 0 ? 0 : from - 1, to);
    return CUZK_OK;
}

/* ---- what is done once ---- */

static cuzk_status make_inputs(beside *b, bench_request *q, const char *circuit)
{
    uint64_t from = clock_ns();

    bench_row_begin(&b->row, "inputs", circuit, 0);
    TRY(bench_request_open(q, b->j, circuit));
    bench_row_time(&b->row, from);
    b->row.n = q->in.input_bytes;
    bench_report_row(b->r, &b->row);
    return CUZK_OK;
}

static cuzk_status load_key(beside *b, const char *circuit)
{
    uint64_t from = clock_ns(), ms;
    bool loaded;
    span sp = span_open(SPAN_BENCH);
    cuzk_status st = cuzk_key_preload(b->s, circuit, &loaded, &ms);

    span_close(&sp);
    TRY(st);
    bench_row_begin(&b->row, b->a->params_dir == NULL ? "setup" : "open key", circuit, 1);
    bench_row_time(&b->row, from);
    bench_report_row(b->r, &b->row);
    return CUZK_OK;
}

static cuzk_status measure(beside *b)
{
    unsigned n = b->a->reps == 0 ? REPS : b->a->reps;
    cuzk_status st;

    b->arrivals = mem_new(b->j->e->m, n < ALONE_JOBS ? ALONE_JOBS : n, sizeof *b->arrivals, &st);
    if (b->arrivals == NULL) return st;
    TRY(load_key(b, b->a->circuit));
    TRY(load_key(b, b->a->beside));
    TRY(beside_alone(b));
    TRY(circuit_alone(b));
    return both(b, n);
}

static cuzk_status run(beside *b)
{
    cuzk_engine *e = b->j->e;
    cuzk_service_config c = {.params_dir = b->a->params_dir,
                             .ephemeral_keys = b->a->params_dir == NULL,
                             .memory_margin = UINT64_MAX};
    const cuzk_warn_fn warn = e->warn;
    const cuzk_progress_fn progress = e->progress;
    void *const ctx = e->ctx;

    TRY(make_inputs(b, &b->main, b->a->circuit));
    TRY(make_inputs(b, &b->urgent, b->a->beside));
    TRY(cuzk_service_open(&b->s, e, &c));
    cuzk_service_events(b->s, on_event, b);
    cuzk_status st = measure(b);
    cuzk_error why = *cuzk_last_error();
    stop_feeding(b);
    cuzk_service_events(b->s, NULL, NULL);
    span sp = span_open(SPAN_FREE);
    cuzk_service_close(b->s);
    span_close(&sp);
    e->warn = warn; /* the service had them */
    e->progress = progress;
    e->ctx = ctx;
    return st == CUZK_OK ? CUZK_OK : status_adopt(&why);
}

cuzk_status bench_beside(job *j, const cuzk_bench_args *a, bench_report *r)
{
    mem *m = j->e->m;
    cuzk_status st;
    beside *b;

    if (a->curve != NULL)
        return FAIL(CUZK_EINVAL,
                    "bench prove --beside takes no curve: the circuits are Filecoin's");
    b = mem_new(m, 1, sizeof *b, &st); /* rows hold many times */
    if (b == NULL) return st;
    b->j = j;
    b->a = a;
    b->r = r;
    (void)pthread_mutex_init(&b->mu, NULL); /* these two cannot fail in glibc and musl */
    (void)pthread_cond_init(&b->cond, NULL);
    st = run(b);
    span sp = span_open(SPAN_FREE);
    bench_request_close(&b->main);
    bench_request_close(&b->urgent);
    mem_free(m, b->arrivals);
    (void)pthread_cond_destroy(&b->cond);
    (void)pthread_mutex_destroy(&b->mu);
    mem_free(m, b);
    span_close(&sp);
    return st;
}
